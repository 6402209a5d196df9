"""Drift: how often race_distance tells that one half of a table was shifted; prints a table.

learn_distance.py FOLDER RESULTS: a folder to work in, the file to write.  It needs a server with racepriv (PGHOST and
so on) where accuracy.sql has run.  test/bench/run has it all.

Skin, in halves at random; the blue of one half is raised by parts of a bandwidth.  Beside it
stands a two-sample test on histograms with noise of the same epsilon, with the cells that
serve it best, in hindsight.
"""
import sys

import numpy as np

from accuracy_tasks import numbers
from report import Report
from server import Session

SEEDS = 10
EPSILONS = [0.1, 0.3, 1]
SHIFTS = [0, 0.03, 0.1]         # in bandwidths; none: false alarms
BANDWIDTH = 5
LEVEL = 0.01                    # of a test
CELLS = [5, 10, 20, 40]         # widths of the cells of histograms
UPPER = 256
BUILT = {'rows': "race_params('l2', 3, 5, seed => seed)",
         'grid': "race_params('l2', 3, 5, sequence => 'grid', lower => '{0,0,0}', "
                 "upper => '{256,256,256}')"}
RELEASES = [('rows', 'rows', ''), ('rows to fit', 'rows', ', fit => true'),
            ('16 rows', 'rows', ', rows => 16'), ('grid', 'grid', ', fit => true')]
CLAIMED = (1, 0.1)              # epsilon and shift


def build(session, shift):
    """Both halves, a line a seed"""
    session.run('DROP TABLE IF EXISTS halves')
    for name, params in BUILT.items():
        session.run(
            f"{'CREATE TEMP TABLE halves AS' if name == 'rows' else 'INSERT INTO halves'} "
            f"SELECT '{name}' AS kind, seed, half, (SELECT race_build({params}, CASE half WHEN 0 "
            f'THEN x ELSE ARRAY[x[1] + {shift * BANDWIDTH}, x[2], x[3]] END) FROM skin_halves '
            'WHERE (hashint8(id * 1000 + seed) & 1) = half) AS s '
            f'FROM generate_series(1, {SEEDS}) seed, generate_series(0, 1) half')


def p_values(session, kind, epsilon, options):
    lines, _ = session.run(
        'SELECT (race_distance(a, b)).p_value FROM (SELECT seed, '
        + ', '.join(f'(SELECT race_privatize(s, {epsilon}{options}) FROM halves h WHERE h.kind = '
                    f"'{kind}' AND h.seed = g.seed AND half = {half}) AS {name}"
                    for half, name in enumerate('ab'))
        + f' FROM generate_series(1, {SEEDS}) g (seed) OFFSET 0) v ORDER BY seed')
    return np.array(lines, float)


def histogram_p(a, b, width, epsilon, random):
    """The squared difference of noisy histograms, over what chance and noise make of it; its
    tail is taken for a normal one"""
    first = random.uniform(0, width, 3)         # where cells begin is public, and by chance
    edges = [np.arange(-start, UPPER + 2 * width, width) for start in first]
    counts = [np.histogramdd(x, edges)[0] + random.laplace(0, 1 / epsilon, [len(e) - 1 for e in edges])
              for x in (a, b)]
    parts = [c / c.sum() for c in counts]
    n = [len(a), len(b)]
    noise = sum(2 / epsilon ** 2 / m ** 2 for m in n)
    pooled = (counts[0] + counts[1]) / sum(n)
    chance = pooled * sum(1 / m for m in n)
    square = ((parts[0] - parts[1]) ** 2).sum() - pooled.size * noise - chance.sum()
    variance = (2 * chance ** 2).sum() + pooled.size * 3.5 * noise ** 2 + \
        4 * noise * np.maximum(chance, 0).sum()
    return _normal_tail(square / np.sqrt(variance))


def _normal_tail(z):
    from math import erfc, sqrt
    return 0.5 * erfc(z / sqrt(2))


def histogram_p_values(session, shift, epsilon, width):
    found = []
    for seed in range(1, SEEDS + 1):
        random = np.random.default_rng([seed, width])
        a, b = HALVES[seed]
        found.append(histogram_p(a, b + [shift * BANDWIDTH, 0, 0], width, epsilon, random))
    return np.array(found)


HALVES = {}


def load_halves(session):
    session.run('CREATE TEMP TABLE skin_halves AS SELECT id, ARRAY[b, g, r] AS x FROM skin_csv')
    lines, _ = session.run('SELECT id, b, g, r FROM skin_csv ORDER BY id')
    x = np.array([numbers(line.replace('|', ',')) for line in lines])
    for seed in range(1, SEEDS + 1):
        lines, _ = session.run(f'SELECT hashint8(id * 1000 + {seed}) & 1 FROM skin_halves ORDER BY id')
        second = np.array(lines, int) == 1
        HALVES[seed] = x[~second, 1:], x[second, 1:]


def shown(p):
    return f'{np.sum(p < LEVEL)} ({np.max(p):.1g})'


def main():
    report = Report()
    with Session() as session:
        session.run('SET client_min_messages = error')
        load_halves(session)
        report.write('# Drift: race_distance on halves of skin\n\n'
                     f'In how many of {SEEDS} seeds p is below {LEVEL}, and the largest p; pure ε for each '
                     'half.\nShifts in bandwidths; 0 shows false alarms.\n')
        lines = []
        for shift in SHIFTS:
            build(session, shift)
            for epsilon in EPSILONS:
                ours = {name: p_values(session, kind, epsilon, options)
                        for name, kind, options in RELEASES}
                theirs = {width: histogram_p_values(session, shift, epsilon, width)
                          for width in CELLS}
                best = min(CELLS, key=lambda width: np.max(theirs[width])) if shift > 0 else CELLS[0]
                lines.append((f'{shift:g}', f'{epsilon:g}', *map(shown, ours.values()),
                              f'{shown(theirs[best])} width {best}'))
                if (epsilon, shift) == CLAIMED:
                    for name, p in ours.items():
                        report.at_most(f'shift {shift:g}, ε = {epsilon:g}, {name}: largest p',
                                       np.max(p), LEVEL)
        report.table(('shift', 'ε', *(name for name, _, _ in RELEASES), 'histograms'), lines)
        report.conclude()
    with open(sys.argv[2], 'w') as file:
        file.write(report.text)


if __name__ == '__main__':
    main()
