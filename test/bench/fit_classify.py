"""Pulsars: what race_classify says with fitted sketches of the classes.

Built is one half of the records (quarters 0 and 1 of accuracy.sql), the other half is
classified, with a uniform prior; of fitted sketches with the prior "counts", too, which
asks models alone.  The bandwidth is not searched for: 0.4 of each column's public range.
Or it is chosen on public rows, once for all epsilon: 500 records of the first half are
public, and race_suggest gets them with the smallest epsilon.  It chooses a projection, too.
"""
import dataclasses

import numpy as np

from fit_tasks import ROWS, ROWS_TO_FIT, SEEDS
from server import Session

BANDWIDTH = 0.4
EPSILONS = [0.1, 1, 10]
FIXED_ROWS = 64
PUBLIC = 500
SUGGESTED = 'race_suggest'
BOX = "lower => '{0,0,0,0,0,0,0,0}', upper => '{1,1,1,1,1,1,1,1}'"


@dataclasses.dataclass
class Classified:
    epsilon: float
    rows: str                   # as race_privatize is told
    chosen: bool                # are they what a user takes?
    raw: np.ndarray             # accuracy, [seed]
    fitted: np.ndarray
    by_counts: np.ndarray       # fitted, with the prior "counts"


def build(session):
    """Exact sketches of both classes, at the bandwidth and as public rows suggest"""
    make = f'CREATE TABLE {{}} AS SELECT seed, class, (SELECT race_build({{}}, {{}}) AS s FROM {{}} p ' \
        f'WHERE p.class = c.class) AS s FROM generate_series(1, {SEEDS}) seed, (VALUES (0), (1)) c (class)'
    session.run('CREATE TABLE halves AS SELECT id, class, x, quarter < 2 AS built, '
                'quarter < 2 AND row_number() OVER (PARTITION BY quarter < 2 ORDER BY hashint8(id)) '
                f'<= {PUBLIC} AS public FROM pulsars')
    session.run('CREATE TABLE suggested AS SELECT (race_suggest(x, class, '
                f'{EPSILONS[0]}, 0, (SELECT count(*) FROM halves WHERE built AND NOT public) ORDER BY id)).* '
                'FROM halves WHERE public')
    expression = session.value('SELECT expression FROM suggested')
    session.run('CREATE TABLE built AS SELECT id, class, x FROM halves WHERE built; '
                'CREATE TABLE asked AS SELECT id, class, x FROM halves WHERE NOT built; '
                f'CREATE TABLE built_{SUGGESTED} AS SELECT id, class, {expression} AS x FROM halves '
                'WHERE built AND NOT public; '
                f'CREATE TABLE asked_{SUGGESTED} AS SELECT id, class, {expression} AS x FROM halves WHERE NOT built')
    session.run(make.format('classes', f"race_params('l2', 8, {BANDWIDTH}, seed => seed)", 'x', 'built'))
    session.run(make.format(f'classes_{SUGGESTED}', '(SELECT params FROM suggested)', 'x',
                            f'built_{SUGGESTED}'))


def accuracies(session, table, asked, prior='uniform'):
    """[seed], one after the other: a session keeps few fitted sketches at hand"""
    return np.array([session.value(
        f'SELECT avg((says = class)::int) FROM {asked} p, '
        f"LATERAL (SELECT race_classify(class, s, x, '{prior}') AS says FROM {table} r "
        f'WHERE r.seed = {seed}) c') for seed in range(1, SEEDS + 1)], float)


def classify(epsilon, rows, chosen):
    suffix, fit = (f'_{SUGGESTED}', 'race_fit(s)') if rows == SUGGESTED else ('', f'race_fit(s, {BOX})')
    keep = 'rows => (SELECT rows FROM suggested), fit => true' if rows == SUGGESTED else rows
    with Session() as session:
        session.run('SET client_min_messages = error')
        session.run('CREATE TEMP TABLE releases AS SELECT seed, class, '
                    f'race_privatize(s, {epsilon}, 0, {keep}) AS s FROM classes{suffix}')
        session.run(f'CREATE TEMP TABLE fitted AS SELECT seed, class, {fit} AS s FROM releases')
        asked = f'asked{suffix}'
        return Classified(epsilon, rows, chosen, accuracies(session, 'releases', asked),
                          accuracies(session, 'fitted', asked),
                          accuracies(session, 'fitted', asked, 'counts'))


def settings(releases):
    """Arguments of classify: the rows that a user would take, and others to compare"""
    chosen = (ROWS_TO_FIT if ROWS_TO_FIT in releases else ROWS).rows
    for epsilon in EPSILONS:
        yield epsilon, chosen, True
        yield epsilon, SUGGESTED, True
    for epsilon in EPSILONS[:-1]:
        yield epsilon, f'rows => {FIXED_ROWS}', False


def report_classified(report, classified, larger, limits):
    """limits: the least accuracy by epsilon"""
    report.heading('Pulsar: accuracy of race_classify on the held-out half')
    report.write(f'Median, mean and worst over {SEEDS} seeds; pure ε, bandwidth {BANDWIDTH} of '
                 f'the range of each\ncolumn, a uniform prior; and the prior counts.  Always the larger class: {larger}.\n'
                 f'{SUGGESTED}: one bandwidth for all ε, and a projection, which {PUBLIC} public rows chose '
                 f'at ε = {EPSILONS[0]:g};\nthe private records are the others.\n')
    report.table(('ε', 'rows', 'raw', 'fitted', 'fitted, counts'),
                 [(f'{c.epsilon:g}', c.rows, *(
                     f'{np.median(of):.4f} / {of.mean():.4f} / {of.min():.4f}'
                     for of in (c.raw, c.fitted, c.by_counts))) for c in classified])
    for c in classified:
        if c.chosen and c.epsilon in limits:
            report.at_least(f'5 pulsar classes, ε = {c.epsilon:g}, {c.rows}, counts: median accuracy',
                            100 * np.median(c.by_counts), limits[c.epsilon], ' %')
