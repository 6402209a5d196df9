"""Means and sums of one column alone beside direct noise: writes SUMS.md.

	test/bench/run sums
	PGDATABASE=bench python3 -B test/bench/sums.py SUMS.md [REPEATS]

A direct sum is the sum of clipped numbers with Laplace noise and all of epsilon, a direct mean that of a sum and of a count with half of
epsilon each: what is stated is their standard deviation.  Histograms and prefixes, sums of its bins from the left, have 64 bins.  Tables
are made, the same each time; noise is not.  With RACEPRIV_DATA, columns of public tables come besides.
"""
import csv
import gzip
import math
import os
import random
import subprocess
import sys

REPORT = sys.argv[1]
REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
EPSILONS = (0.1, 1, 10)
BINS = 64
WORKLOADS = {'default': 'NULL', 'sum(x)': "'{sum(x)}'"}


def made():
    some = random.Random(1)
    yield 'even', 0, 100, [some.uniform(0, 100) for _ in range(10000)]
    yield 'skewed', 0, 100, [some.expovariate(1 / 8) for _ in range(10000)]
    yield 'signs', -50, 50, [some.gauss(5, 12) for _ in range(10000)]
    yield 'few', 0, 100, [some.gauss(30, 10) for _ in range(1000)]


def public():
    folder = os.environ.get('RACEPRIV_DATA')
    for name, column, lower, upper in (('pulsar', 'x1', 0, 200), ('pulsar', 'x3', -5, 10), ('salaries', 'annual_salary', 0, 300000)):
        if folder:
            with gzip.open(f'{folder}/{name}.csv.gz', 'rt') as file:
                yield f'{name} {column}', lower, upper, [float(row[column]) for row in csv.DictReader(file)]


def psql(text, *arguments):
    run = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-F', '\t', *arguments], input=text, stdout=subprocess.PIPE, text=True,
                         check=True)
    return [line.split('\t') for line in run.stdout.splitlines()]


def root_mean_square(numbers):
    numbers = list(numbers)
    return math.sqrt(sum(x * x for x in numbers) / len(numbers))


def measure(number, lower, upper, x, epsilon, workload):
    """Errors of the mean and the sum, which of their intervals hold, and errors of bins and prefixes"""
    name = f'{number} {epsilon} {workload}'
    psql(''.join(f"CALL race_release($${name} {i}$$, 't{number}', '{{x}}', {epsilon}, workload => {workload});" for i in range(REPEATS)))
    x = [min(max(value, lower), upper) for value in x]
    answers = psql(f"SELECT m.mean, m.lower, m.upper, s.sum, s.lower, s.upper FROM generate_series(0, {REPEATS - 1}) i, "
                   f"race_mean($${name} $$ || i, 'x') m, race_sum($${name} $$ || i, 'x') s")
    bins = psql(f"SELECT i, h.low, h.count FROM generate_series(0, {REPEATS - 1}) i, race_histogram($${name} $$ || i, 'x', bins => {BINS}) h "
                "ORDER BY 1, 2")
    answers = [[float(field) for field in row] for row in answers]
    truth = [0] * BINS
    for value in x:
        truth[min(int((value - lower) * BINS / (upper - lower)), BINS - 1)] += 1
    off = [float(row[2]) - truth[k % BINS] for k, row in enumerate(bins)]
    prefixes = [sum(off[k - k % BINS:k + 1]) for k in range(len(off))]
    mean, total = sum(x) / len(x), sum(x)
    held = [row[1] <= mean <= row[2] for row in answers] + [row[4] <= total <= row[5] for row in answers]
    return (root_mean_square(row[0] - mean for row in answers), root_mean_square(row[3] - total for row in answers),
            sum(held) / len(held), root_mean_square(off), root_mean_square(prefixes))


def main():
    lines = [__doc__.split('\n')[0].replace('writes SUMS.md.', f'{REPEATS} releases each. `test/bench/run sums` writes this page.'), '',
             '| column | ε | workload | mean: error / direct | sum: error / direct | intervals that hold | bin of a histogram | prefix |',
             '|---|---|---|---|---|---|---|---|']
    for number, (name, lower, upper, x) in enumerate([*made(), *public()]):
        psql(f"CREATE TABLE t{number} (x float8 NOT NULL CHECK (x BETWEEN {lower} AND {upper})); SET client_min_messages = warning;"
             f"CALL race_protect('t{number}', epsilon_limit => 1e9);")
        psql('\n'.join(repr(min(max(value, lower), upper)) for value in x) + '\n', '-c', f'COPY t{number} FROM STDIN')
        most = max(abs(lower), abs(upper))
        for epsilon in EPSILONS:
            direct = math.sqrt(2) * most / epsilon
            # of a sum and a count, each with half of epsilon
            of_mean = 2 * math.sqrt(2) / epsilon * math.hypot(most, sum(x) / len(x)) / len(x)
            for label, workload in WORKLOADS.items():
                mean, total, held, of_bin, of_prefix = measure(number, lower, upper, x, epsilon, workload)
                lines.append(f'| {name} | {epsilon} | {label} | {mean / of_mean:.2f} | {total / direct:.2f} | {held:.0%} | '
                             f'{of_bin:.3g} | {of_prefix:.3g} |')
                print(lines[-1], flush=True)
    with open(REPORT, 'w') as file:
        file.write('\n'.join(lines) + '\n')


main()
