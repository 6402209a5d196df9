"""cliffs.py FOLDER REPORT: releases of columns where one more column, fewer records or a tenth of epsilon may be a cliff

Of each table and budget: the mean error of correlations, and the mean total variation distance of pairs in 16 bins (of
categories: in their values) of synthetic rows, as many as there are records and at most 50,000; beside columns that are
independent and known exactly, and with delta beside a sketch of all columns that is fitted and sampled (numbers alone).  The
last columns are the tables of pairs that were measured, and seconds of the release and of its rows.

SEEDS releases each (3), ONLY is a regular expression of tables, BUDGETS a list of epsilon:delta.  RACEPRIV_DATA has pulsar; made
tables need nothing.  It needs a server with racepriv_release (PGHOST and so on).  FOLDER has space for files.
"""
import gzip
import os
import re
import sys

import numpy as np

from server import Session

FOLDER, REPORT = sys.argv[1:3]
SEEDS = int(os.environ.get('SEEDS', 3))
ONLY = os.environ.get('ONLY', '')
BUDGETS = [tuple(map(float, budget.split(':')))
           for budget in os.environ.get('BUDGETS', '0.1:0,1:0,10:0,0.1:1e-6,1:1e-6').split(',')]
BINS, MOST_ROWS = 16, 50_000


class Table:
    """Records, with bounds of numbers; of categories, their number, and NaN as bounds"""

    def __init__(self, x, lower, upper, categories=None):
        self.categories = np.zeros(x.shape[1], int) if categories is None else np.array(categories)
        self.lower = np.where(self.categories > 0, 0, lower)
        self.upper = np.where(self.categories > 0, self.categories, upper)
        self.x = np.clip(x, self.lower, self.upper)
        self.numbers = np.flatnonzero(self.categories == 0)
        self.bins = np.where(self.categories > 0, self.categories, BINS)
        self.pairs = self.tables(self.x)
        self.correlations = self.correlate(self.x)

    def places(self, x):
        return np.clip((x - self.lower) / (self.upper - self.lower) * self.bins, 0, self.bins - 1).astype(int)

    def tables(self, x):
        places, d = self.places(x), x.shape[1]
        return [np.bincount(places[:, i] * self.bins[j] + places[:, j], minlength=self.bins[i] * self.bins[j]) / len(x)
                for i in range(d) for j in range(i + 1, d)]

    def correlate(self, x):
        with np.errstate(invalid='ignore', divide='ignore'):
            r = np.corrcoef(x[:, self.numbers].T) if len(self.numbers) > 1 else np.ones((1, 1))
        return np.nan_to_num(r[np.triu_indices(len(r), 1)])

    def errors(self, x):
        off = np.abs(self.correlate(x) - self.correlations)
        return (off.mean() if len(off) else 0,
                np.mean([np.abs(a - b).sum() / 2 for a, b in zip(self.tables(x), self.pairs)]))

    def independent(self):
        ones = [np.bincount(p, minlength=k) / len(self.x) for p, k in zip(self.places(self.x).T, self.bins)]
        d = len(ones)
        return (np.abs(self.correlations).mean() if len(self.correlations) else 0,
                np.mean([np.abs(np.outer(ones[i], ones[j]).ravel() - pair).sum() / 2 for pair, (i, j)
                         in zip(self.pairs, ((i, j) for i in range(d) for j in range(i + 1, d)))]))


def factor(d, n, correlation):
    """Numbers of which each pair has this correlation"""
    random = np.random.default_rng(d + n)

    def bell(*shape):
        return random.random((*shape, 3)).sum(-1) - 1.5
    common = bell(n)
    x = np.stack([2 * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * bell(n)) for _ in range(d)], 1)
    return Table(x, np.full(d, -4.), np.full(d, 4.))


def rings(n=10_000):
    """Two rings in the first two of four columns: dependence without correlation"""
    random = np.random.default_rng(2)
    r = np.where(random.random(n) < .5, 1, 2.5) + .12 * random.normal(size=n)
    angle = random.random(n) * 2 * np.pi
    x = np.column_stack([r * np.cos(angle), r * np.sin(angle), random.normal(size=(n, 2))])
    return Table(x, np.full(4, -4.), np.full(4, 4.))


def blobs(n=10_000, d=4):
    random = np.random.default_rng(3)
    centers = random.uniform(-3, 3, (4, d))
    return Table(centers[random.integers(4, size=n)] + .4 * random.normal(size=(n, d)), np.full(d, -5.), np.full(d, 5.))


def heaped(n=30_000):
    """Two pressures that are multiples of ten, most of them"""
    random = np.random.default_rng(4)
    upper = 125 + 18 * random.normal(size=n)
    both = np.column_stack([upper, .5 * upper + 18 + 8 * random.normal(size=n)])
    return Table(np.where(random.random((n, 1)) < .9, np.round(both, -1), np.round(both)), np.array([60., 30]), np.array([252., 158]))


def mixed(n=10_000):
    """Four numbers, three columns of categories, and one that depends on most of them"""
    random = np.random.default_rng(11)
    a, b = random.integers(5, size=n), random.integers(8, size=n)
    c = np.where(random.random(n) < .6, (a + b) % 4, random.integers(4, size=n))
    x = random.normal(0, 1, (5, 4))[a] + random.normal(size=(n, 4))
    x[:, 1] += .8 * x[:, 0]
    y = random.random(n) < 1 / (1 + np.exp(-(1.5 * x[:, 0] - x[:, 2] + 2 * (c == 1) - 1.5 * np.abs(x[:, 3]))))
    return Table(np.column_stack([x, a, b, c, y]), np.full(8, -6.), np.full(8, 6.), [0] * 4 + [5, 8, 4, 2])


def pulsar():
    with gzip.open(f"{os.environ['RACEPRIV_DATA']}/pulsar.csv.gz", 'rt') as file:
        x = np.loadtxt(file, delimiter=',', skiprows=1, usecols=range(8))
    return Table(x, np.array([0, 0, -2, -2, 0, 0, -4, -3.]), np.array([200, 100, 9, 70, 230, 120, 40, 1200.]))


def coins(d, numbers=0, n=20_000):
    """Fair coins, the last of which is the parity of the first two, and numbers that depend on each other between them"""
    random = np.random.default_rng(d)
    x = np.column_stack([random.integers(2, size=(n, d - numbers)), np.zeros((n, numbers))])
    if numbers > 0:
        x[:, 2:2 + numbers] = random.normal(size=(n, numbers)) + random.normal(size=(n, 1))
    x[:, -1] = x[:, 0] != x[:, 1]
    categories = np.full(d, 2)
    categories[2:2 + numbers] = 0
    return Table(x, np.full(d, -6.), np.full(d, 6.), categories)


PARITIES = {f'parity_{d}': lambda d=d: coins(d) for d in (3, 4, 6, 8, 12, 20)}
PARITIES['parity_8_numbers'] = lambda: coins(11, 8)
TABLES = {f'numbers_{d}': lambda d=d: factor(d, 10_000, .5) for d in (2, 3, 4, 8, 12, 32)}
TABLES |= {f'numbers_8_{n // 1000}k': lambda n=n: factor(8, n, .5) for n in (3_000, 100_000)}
TABLES |= {f'numbers_8_r{r:g}'.replace('.', '_'): lambda r=r: factor(8, 10_000, r) for r in (.1, .9)}
TABLES |= {'rings': rings, 'blobs': blobs, 'heaped': heaped, 'mixed': mixed, 'mixed_100k': lambda: mixed(100_000)}
if os.environ.get('RACEPRIV_DATA'):
    TABLES['pulsar'] = pulsar


def prepare(session, name, table):
    columns = [f'c{j}' for j in range(table.x.shape[1])]
    session.run(f'CREATE TABLE {name} (' + ', '.join(
        f'{c} int NOT NULL CHECK ({c} IN ({",".join(map(str, range(k)))}))' if k else
        f"{c} float8 NOT NULL CHECK ({c} BETWEEN {low:g} AND {high:g} AND {c} <> 'NaN')"
        for c, k, low, high in zip(columns, table.categories, table.lower, table.upper)) + ')')
    path = f'{FOLDER}/{name}.copy'
    with open(path, 'w', encoding='ascii') as file:
        for row in table.x:
            file.write('\t'.join(str(int(v)) if k else repr(float(v)) for v, k in zip(row, table.categories)) + '\n')
    session.run(f"\\copy {name} FROM '{path}'\n")
    session.run(f"CALL race_protect('{name}', epsilon_limit => 1e6, delta_limit => 0.5)")
    return columns


def read(session, sql):
    rows, seconds = session.run(sql)
    return np.array([[float(v) for v in row.split('|')] for row in rows]), sum(seconds)


def release(session, name, columns, table, budget, seed):
    full = f'{name} {budget[0]:g} {budget[1]:g} {seed}'
    seconds = session.time(f"CALL race_release('{full}', '{name}', '{{{','.join(columns)}}}', {budget[0]!r}, {budget[1]!r})")
    rows, more = read(session, f"SELECT * FROM race_synthesize(NULL::{name}, '{full}', {min(len(table.x), MOST_ROWS)})")
    measured = session.value("SELECT count(*) - %d FROM _racepriv.race_releases r, regexp_matches(substring("
                             "race_params(r.sketch)::text FROM 'measured=[^=]*'), '[{][0-9]', 'g') m WHERE r.name = '%s'"
                             % (len(columns), full))
    return *table.errors(rows), float(measured), seconds, more


def parity(session, name, columns, table, budget, label, seed):
    """The part of synthetic rows whose last column is the parity of the first two, and seconds of the release"""
    full = f'{name} {label} {budget[0]:g} {budget[1]:g} {seed}'
    seconds = session.time(f"CALL race_release('{full}', '{name}', '{{{','.join(columns)}}}', {budget[0]!r}, {budget[1]!r}"
                           + (f", label => '{columns[-1]}')" if label else ')'))
    part = session.value(f"SELECT avg((({columns[0]} <> {columns[1]}) = ({columns[-1]} = 1))::int) "
                         f"FROM race_synthesize(NULL::{name}, '{full}', {len(table.x)})")
    return float(part), seconds


def parities(session):
    lines = ['| table | ε | δ | parity, without a label | with it | mean of both | release, s |', '|---|---|---|---|---|---|---|']
    for name in filter(lambda name: re.search(ONLY, name), PARITIES):
        table = PARITIES[name]()
        columns = prepare(session, name, table)
        for budget in BUDGETS:
            ours = np.array([[parity(session, name, columns, table, budget, label, s) for s in range(SEEDS)] for label in (False, True)])
            lines.append('| %s | %g | %g | **%.4f** | **%.4f** | %.4f | %.1f |' % (
                name, *budget, *ours[:, :, 0].min(1), ours[:, :, 0].mean(), ours[:, :, 1].mean()))
            print(lines[-1], flush=True)
    return lines


def sketch(session, name, columns, table, budget, seed):
    """Of a sketch of ranks: each column divided by its range"""
    d, span = len(columns), table.upper - table.lower
    x = ', '.join(f'({c} - {low:g}) / {s:g}' for c, low, s in zip(columns, table.lower, span))
    zeros, ones = '{' + ','.join('0' * d) + '}', '{' + ','.join('1' * d) + '}'
    points, _ = read(session, f"SELECT array_to_string(x, '|') FROM (SELECT race_fit(race_privatize(race_build(race_params('l2', {d}, 0.3, "
                              f"rows => 1024, seed => {seed}, lower => '{zeros}', upper => '{ones}'), ARRAY[{x}]), {budget[0]!r}, "
                              f"{budget[1]!r}, fit => true)) s FROM {name}) f, race_sample(s, 20000)")
    return table.errors(table.lower + points * span)


def main():
    lines = ['| table | ε | δ | release: correlation / distance | independent | sketch | pairs measured | release, s | rows, s |',
             '|---|---|---|---|---|---|---|---|---|']
    with Session() as session:
        for name in filter(lambda name: re.search(ONLY, name), TABLES):
            table = TABLES[name]()
            columns = prepare(session, name, table)
            for budget in BUDGETS:
                ours = np.mean([release(session, name, columns, table, budget, s) for s in range(SEEDS)], 0)
                beside = '–'
                if budget[1] > 0 and 2 < len(table.numbers) == len(columns) <= 8:
                    beside = '%.3f / %.3f' % tuple(np.mean([sketch(session, name, columns, table, budget, s) for s in range(SEEDS)], 0))
                lines.append('| %s | %g | %g | **%.3f / %.3f** | %.3f / %.3f | %s | %.1f | %.1f | %.1f |' % (
                    name, *budget, *ours[:2], *table.independent(), beside, *ours[2:]))
                print(lines[-1], flush=True)
        coins_too = parities(session)
    with open(REPORT, 'w', encoding='utf-8') as file:
        file.write('# Releases of columns, where there may be cliffs\n\nWritten by `test/bench/run cliffs`: errors of correlations, and '
                   f'total variation distances of pairs, of {SEEDS} releases each (the head of cliffs.py). Seconds are beside other work.\n\n'
                   + '\n'.join(lines) + '\n\n## Parities\n\nOf fair coins the last one is the parity of the first two, which nobody '
                   'names; 20,000 records. The part of synthetic rows where it is, the least of all releases.\n\n' + '\n'.join(coins_too) + '\n')


main()
