"""Pulsars: what race_classify says with fitted sketches of the classes.

The bandwidth is not searched for: 0.4 of each column's public range.  Built is one half
of the records (quarters 0 and 1 of accuracy.sql), the other half is classified, with a
uniform prior; of fitted sketches with the prior "counts", too, which asks models alone.
"""
import dataclasses

import numpy as np

from fit_tasks import ROWS, ROWS_TO_FIT, SEEDS
from server import Session

BANDWIDTH = 0.4
EPSILONS = [0.1, 1, 10]
FIXED_ROWS = 64
BOX = "'{0,0,0,0,0,0,0,0}', '{1,1,1,1,1,1,1,1}'"


@dataclasses.dataclass
class Classified:
    epsilon: float
    rows: str                   # as race_privatize is told
    chosen: bool                # are they what a user takes?
    raw: np.ndarray             # accuracy, [seed]
    fitted: np.ndarray
    by_counts: np.ndarray       # fitted, with the prior "counts"


def build(session):
    """Exact sketches of both classes"""
    session.run(
        'CREATE TABLE classes AS SELECT seed, class, (SELECT race_build(race_params('
        f"'l2', 8, {BANDWIDTH}, seed => seed), x) FROM pulsars p "
        'WHERE quarter < 2 AND p.class = c.class) AS s '
        f'FROM generate_series(1, {SEEDS}) seed, (VALUES (0), (1)) c (class)')


def accuracies(session, table, prior='uniform'):
    """[seed]"""
    lines, _ = session.run(
        f'SELECT avg((says = class)::int) FROM generate_series(1, {SEEDS}) seed, pulsars p, '
        f"LATERAL (SELECT race_classify(class, s, x, '{prior}') AS says FROM {table} r "
        'WHERE r.seed = seed.seed) c WHERE quarter > 1 GROUP BY seed')
    return np.array(lines, float)


def classify(epsilon, rows, chosen):
    with Session() as session:
        session.run('SET client_min_messages = error')
        session.run('CREATE TEMP TABLE releases AS SELECT seed, class, '
                    f'race_privatize(s, {epsilon}, 0, {rows}) AS s FROM classes')
        session.run('CREATE TEMP TABLE fitted AS SELECT seed, class, '
                    f'race_fit(s, {BOX}) AS s FROM releases')
        return Classified(epsilon, rows, chosen, accuracies(session, 'releases'),
                          accuracies(session, 'fitted'),
                          accuracies(session, 'fitted', 'counts'))


def settings(releases):
    """Arguments of classify: the rows that a user would take, and others to compare"""
    chosen = (ROWS_TO_FIT if ROWS_TO_FIT in releases else ROWS).rows
    for epsilon in EPSILONS:
        yield epsilon, chosen, True
    for epsilon in EPSILONS[:-1]:
        yield epsilon, f'rows => {FIXED_ROWS}', False


def report_classified(report, classified, larger, limits):
    """limits: the least accuracy by epsilon"""
    report.heading('Pulsar: accuracy of race_classify on the held-out half')
    report.write(f'Median, mean and worst over {SEEDS} seeds; pure ε, bandwidth {BANDWIDTH} of '
                 f'the range of each\ncolumn, a uniform prior; and the prior counts.  Always the larger class: {larger}.\n'
                 'With public rows for all parameters: LEARN-CLASSIFY.md.\n')
    report.table(('ε', 'rows', 'raw', 'fitted', 'fitted, counts'),
                 [(f'{c.epsilon:g}', c.rows, *(
                     f'{np.median(of):.4f} / {of.mean():.4f} / {of.min():.4f}'
                     for of in (c.raw, c.fitted, c.by_counts))) for c in classified])
    for c in classified:
        if c.chosen and c.epsilon in limits:
            report.at_least(f'5 pulsar classes, ε = {c.epsilon:g}, {c.rows}, counts: median accuracy',
                            100 * np.median(c.by_counts), limits[c.epsilon], ' %')
