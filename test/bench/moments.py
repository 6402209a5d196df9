"""Speed of moments beside BLAS: prints a table, and writes it to a file.

moments.py PROGRAM FOLDER RESULTS: the program moments.c, a folder to work in, and the file to
write.  It needs a server with racepriv (PGHOST and so on), scipy, and OPENBLAS_NUM_THREADS=1.
test/bench/run has it all.

The same matrix, row by row, goes to dsyrk, which has sums of products of doubles; to the
extension's own code, which also scales, clips and rounds; and as a table to the aggregate.
They take turns; what stands in the table is the least time of each.
"""
import subprocess
import sys
import time

import numpy as np
from scipy.linalg.blas import dsyrk

from report import Report, machine, milliseconds, ratio
from server import Session, load

SHAPES = [(245_000, 3), (50_000, 55)]
TURNS = 7
REPEATS = 5


def time_dsyrk(x):
    least = float('inf')
    for _ in range(REPEATS):
        start = time.perf_counter()
        dsyrk(1.0, x.T)
        least = min(least, time.perf_counter() - start)
    return least


def time_program(program, x):
    """Seconds, and the largest error of a mean of products"""
    answer = subprocess.run([program, *map(str, x.shape), str(REPEATS)], check=True,
                            input=x.tobytes(), capture_output=True).stdout
    milliseconds_taken, error = map(float, answer.split())
    return milliseconds_taken / 1e3, error


def time_aggregate(session, table, columns):
    bounds = ', '.join(f"array_fill({bound}::float8, ARRAY[{columns}])" for bound in (-1, 1))
    _, seconds = session.run(f'SELECT race_build(race_moment_params({bounds}), x) IS NULL FROM {table}')
    return seconds[-1]


def measure(session, program, folder, rows, columns):
    x = np.random.default_rng(1).uniform(-1, 1, (rows, columns))
    table = f'matrix_{columns}'
    load(session, folder, table, x)
    times = np.array([[time_dsyrk(x), time_program(program, x)[0], time_aggregate(session, table, columns)]
                      for _ in range(TURNS)])
    return [*times.min(axis=0), time_program(program, x)[1]]


def main():
    program, folder, results = sys.argv[1:]
    report = Report()
    with Session() as session:
        session.run('CREATE EXTENSION racepriv')
        report.write('# Speed of moments\n')
        report.write('Written by `test/bench/run moments`.\n')
        report.write(machine(session.value('SHOW server_version'), 'auto') + '.\n')
        report.write('Milliseconds, the least of 7 turns, on one thread. dsyrk is that of OpenBLAS. In memory: the '
                     'extension\'s own code on the same matrix, with scaling, clipping and rounding. Aggregate: '
                     'race_moments in SQL, on a table of float8[], scan and all.\n')
        rows = []
        for shape in SHAPES:
            blas, memory, aggregate, error = measure(session, program, folder, *shape)
            report.at_least(f'{shape[1]} columns: speed of dsyrk', blas / memory, 0.5, ' times')
            rows.append([f'{shape[0]:,} × {shape[1]}', milliseconds(blas), milliseconds(memory),
                         ratio(blas / memory), milliseconds(aggregate), f'{error:.1g}'])
        report.table(['matrix', 'dsyrk', 'in memory', 'times dsyrk\'s speed', 'aggregate',
                      'largest error of a mean'], rows)
        report.conclude()
    with open(results, 'w', encoding='utf-8') as file:
        file.write(report.text)


if __name__ == '__main__':
    main()
