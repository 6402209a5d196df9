"""Which cells releases of grids choose: cells.py FOLDER REPORT [TABLE ...]

For each made table of cells_tables.py: the root mean square error of densities times 10⁴, of releases that choose
cells by a noisy look, of those of the best cells in hindsight (rows => 1, which has no look), and of a
noisy histogram with its best cells.  Pure epsilon .1 and 1; CELLS_SEEDS tables of each kind (5).
"""
import os
import sys

import numpy as np

from cells_tables import BANDWIDTH, TABLES, made
from gate import array, histogram, kernel_sums, rms
from server import Session, load

EPSILONS = (0.1, 1)
RELEASES = {1: 8, 2: 4, 3: 2}
SEEDS = int(os.environ.get('CELLS_SEEDS', '5'))


def errors(session, source, epsilon, rows, truth, releases):
    """Of releases of what `source` selects as s"""
    lines = session.run(
        f'WITH r AS MATERIALIZED (SELECT race_privatize(s, {epsilon}, 0, rows => {rows}, fit => true) AS s '
        f'FROM ({source}) e, generate_series(1, {releases})) SELECT a.* FROM r, LATERAL '
        '(SELECT array_agg(coalesce(density, 0) ORDER BY id) FROM q, race_estimate(r.s, q.x)) a')[0]
    return rms(np.array([line.strip('{}').split(',') for line in lines], float), truth).mean()


def measure(session, folder, name, seed):
    """For each epsilon: errors of chosen cells, of the best and of a histogram"""
    x, queries = made(name, seed)
    dims = x.shape[1]
    bandwidth, releases = BANDWIDTH[dims], RELEASES[dims]
    for table, rows in (('d', x), ('q', queries)):
        session.run(f'DROP TABLE IF EXISTS {table}')
        load(session, folder, table, rows)
    truth = kernel_sums(x / bandwidth, queries / bandwidth, np.ones((len(x), 1)))[:, 0] / len(x)

    def source(cells):
        return (f"SELECT race_build(race_params('l2', {dims}, {bandwidth}, sequence => 'grid', lower => {array([0] * dims)}, "
                f"upper => {array([1] * dims)}{cells}), x) AS s FROM d")
    session.run(f"DROP TABLE IF EXISTS e; CREATE TEMP TABLE e AS {source('')}")
    forced = [source(f", cells => {array([round(1 / bandwidth / step)] * dims)}") for step in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2)
              if (1 / bandwidth / step) ** dims < 1e6]
    return [(errors(session, 'SELECT s FROM e', epsilon, 'NULL', truth, releases),
             min(errors(session, of, epsilon, 1, truth, releases) for of in forced),
             histogram(x, queries, bandwidth, 1, truth, epsilon, 4)) for epsilon in EPSILONS]


def main():
    folder, report, *names = sys.argv[1:]
    lines = ['# Cells of grids', '', 'Written by `test/bench/run cells` (cells.py): errors of densities × 10⁴.', '',
             '| table | ε | chosen cells | best in hindsight | histogram |', '|---|---:|---:|---:|---:|']
    with Session() as session:
        session.run('SET client_min_messages = error')
        for name in names or TABLES:
            found = np.mean([measure(session, folder, name, seed) for seed in range(SEEDS)], axis=0)
            for epsilon, of in zip(EPSILONS, found):
                lines.append(f'| {name} | {epsilon:g} | ' + ' | '.join(f'{error:.2f}' for error in of) + ' |')
                print(lines[-1], flush=True)
    with open(report, 'w') as file:
        file.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
