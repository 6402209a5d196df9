"""number_tables.py FOLDER REPORT: releases of one to three columns of numbers, beside grids of the same columns

Counts of boxes, shares of cells, and quantiles, at pure epsilon, of SEEDS releases (5).  RACEPRIV_DATA has the tables of others;
ONLY is a regular expression of tables, EPSILONS a list.  It needs a server with racepriv (PGHOST and so on).  FOLDER has space
for files.  Writes a report in Markdown.
"""
import gzip
import itertools
import os
import re
import sys

import numpy as np

from server import Session, load

FOLDER, REPORT = sys.argv[1:3]
SEEDS = int(os.environ.get('SEEDS', 5))
EPSILONS = [float(e) for e in os.environ.get('EPSILONS', '0.1,1,10').split(',')]
ONLY = os.environ.get('ONLY', '')
QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9]
BOXES = 300
CELLS = {1: 64, 2: 24, 3: 8}    # of each column
BANDWIDTH = 20                  # of the grid: this part of a range
ASKED = ('boxes', 'cells', 'quantiles')
NUMBERS = itertools.count()


def public(name, columns, bounds):
    with gzip.open(f"{os.environ['RACEPRIV_DATA']}/{name}.csv.gz", 'rt') as file:
        names = file.readline().strip().split(',')
        x = np.loadtxt(file, delimiter=',', usecols=[names.index(column) for column in columns], ndmin=2)
    return x, np.array(bounds, float)


def mixture(dims, n=20_000):
    """Five normal distributions"""
    random = np.random.default_rng(dims)
    centers, scales = random.uniform(0.2, 0.8, (5, dims)), random.uniform(0.02, 0.12, (5, dims))
    of = random.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    return centers[of] + scales[of] * random.normal(size=(n, dims)), np.array([(0, 1)] * dims, float)


def skewed(dims, n):
    random = np.random.default_rng(10 + dims)
    together = random.normal(size=(n, 1))
    return np.exp(0.8 * (0.6 * together + 0.8 * random.normal(size=(n, dims)))), np.array([(0, 10)] * dims, float)


SKIN, PULSAR = [(0, 255)] * 3, [(0, 200), (-2, 9), (20, 100)]
AIRFOIL = [(0, 20000), (100, 145), (0, 25)]
TABLES = {
    'salaries1': lambda: public('salaries', ['annual_salary'], [(0, 300000)]),
    'mix1': lambda: mixture(1), 'mix2': lambda: mixture(2), 'mix3': lambda: mixture(3),
    'skew1': lambda: skewed(1, 5_000), 'skew2': lambda: skewed(2, 5_000), 'skew3': lambda: skewed(3, 100_000)}
for d in (1, 2, 3):
    TABLES[f'skin{d}'] = lambda d=d: public('skin', ['b', 'g', 'r'][:d], SKIN[:d])
    TABLES[f'pulsar{d}'] = lambda d=d: public('pulsar', ['x1', 'x3', 'x2'][:d], PULSAR[:d])
    if d > 1:
        TABLES[f'airfoil{d}'] = lambda d=d: public('airfoil', ['frequency', 'sound_level', 'angle'][:d], AIRFOIL[:d])


class Questions:
    """What is asked of a table: boxes [box, column, 2], cells and quantiles, with what is true"""

    def __init__(self, x, bounds):
        low, span = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        random = np.random.default_rng(len(x))
        self.x, self.bounds, self.dims = np.clip(x, low, bounds[:, 1]), bounds, len(bounds)
        sides = np.sort(random.random((BOXES, self.dims, 2)), axis=2)
        self.boxes = low[:, None] + sides * span[:, None]
        edges = np.linspace(0, 1, CELLS[self.dims] + 1)
        places = np.indices((CELLS[self.dims],) * self.dims).reshape(self.dims, -1).T
        self.cells = low[:, None] + np.stack([edges[places], edges[places + 1]], 2) * span[:, None]
        self.of_boxes, self.of_cells = self.counts(self.x, np.ones(len(x)))
        self.of_quantiles = np.quantile(self.x, QUANTILES, axis=0, method='inverted_cdf').T

    def counts(self, points, weights):
        inside = [((points >= low) & (points < high)).all(1).sum() for low, high in self.boxes.transpose(0, 2, 1)]
        low, span = self.bounds[:, 0], self.bounds[:, 1] - self.bounds[:, 0]
        n = CELLS[self.dims]
        codes = np.clip((points - low) / span * n, 0, n - 1).astype(int)
        return np.array(inside), np.bincount(np.ravel_multi_index(codes.T, (n,) * self.dims), weights, n ** self.dims)

    def errors(self, boxes, cells, quantiles):
        cells = np.maximum(cells, 0)
        return (np.abs(boxes - self.of_boxes).mean(), 50 * np.abs(cells / cells.sum() - self.of_cells / len(self.x)).sum(),
                (np.abs(quantiles - self.of_quantiles) / np.diff(self.bounds)).mean())


def array(values):
    return '{' + ','.join(map(repr, np.asarray(values, float).ravel().tolist())) + '}'


def floats(session, sql):
    return np.array([[float(x) for x in line.split('|')] for line in session.run(sql)[0]])


def tables(session, name, questions, epsilon):
    """Of race_release"""
    columns = [f'c{j + 1}' for j in range(questions.dims)]
    release = f'{name} {next(NUMBERS)}'
    session.run(f"CALL race_release('{release}', '{name}', '{{{','.join(columns)}}}', {epsilon})")

    def counts(boxes):
        ends = questions.bounds[:, 1]
        where = ['{' + ', '.join(f'"{c}": [{low!r}, {"null" if high >= end else repr(high)}]'
                                 for c, (low, high), end in zip(columns, box.tolist(), ends)) + '}' for box in boxes]
        return floats(session, f"SELECT (race_count('{release}', w::jsonb)).count FROM unnest(ARRAY['" + "','".join(where) +
                      "']) WITH ORDINALITY w (w, i) ORDER BY i")[:, 0]
    quantiles = [floats(session, f"SELECT value FROM race_quantiles('{release}', '{c}', '{array(QUANTILES)}')")[:, 0] for c in columns]
    return counts(questions.boxes), counts(questions.cells), np.array(quantiles)


def spread(questions, points, weights):
    """Counts of boxes and cells of points that are spread over cells of the grid around them"""
    inside = [np.ones((len(points), len(of))) for of in (questions.boxes, questions.cells)]
    for j, (low, high) in enumerate(questions.bounds):
        places = np.unique(points[:, j])
        step = np.diff(places).min() if 1 < len(places) < len(points) / 2 else (high - low) / 1000
        from_, to = np.maximum(points[:, j] - step / 2, low)[:, None], np.minimum(points[:, j] + step / 2, high)[:, None]
        for shares, of in zip(inside, (questions.boxes, questions.cells)):
            shares *= np.clip((np.minimum(to, of[:, j, 1]) - np.maximum(from_, of[:, j, 0])) / (to - from_), 0, 1)
    return tuple(weights @ shares for shares in inside)


def grid(session, name, questions, epsilon):
    """Of a fitted grid, as race_release_sketch makes it"""
    bounds, widths = questions.bounds, (questions.bounds[:, 1] - questions.bounds[:, 0]) / BANDWIDTH
    params = f"race_params('l2', {questions.dims}, bandwidths => '{array(widths)}', sequence => 'grid', " \
        f"lower => '{array(bounds[:, 0])}', upper => '{array(bounds[:, 1])}')"
    session.run(f'CREATE TABLE IF NOT EXISTS {name}_grid AS SELECT race_build({params}, x) AS s FROM {name}_x')
    session.run(f'DROP TABLE IF EXISTS m; CREATE TEMP TABLE m AS SELECT race_fit(race_privatize(s, {epsilon}, 0, fit => true)) AS s FROM {name}_grid')
    points = floats(session, "SELECT weight, array_to_string(x, '|') FROM m, race_points(s)")
    quantiles = [floats(session, f"SELECT value FROM m, race_quantile(s, '{array(QUANTILES)}', {j + 1})")[:, 0]
                 for j in range(questions.dims)]
    return *spread(questions, points[:, 1:], points[:, 0]), np.array(quantiles)


def prepare(session, name, x, bounds):
    """A table of columns with CHECKs, and one of arrays"""
    whole = (x == np.floor(x)).all(0) & (bounds == np.floor(bounds)).all(1)
    load(session, FOLDER, f'{name}_x', np.clip(x, *bounds.T))
    columns = [f'c{j + 1} {"int" if w else "float8"} NOT NULL CHECK (c{j + 1} BETWEEN {low:g} AND {high:g})'
               for j, (w, (low, high)) in enumerate(zip(whole, bounds))]
    session.run(f"CREATE TABLE {name} ({', '.join(columns)}); INSERT INTO {name} SELECT "
                + ', '.join(f'x[{j + 1}]{"::int" if w else ""}' for j, w in enumerate(whole)) + f' FROM {name}_x; '
                f"CALL race_protect('{name}', '{name}', 1e6)")


def measure(session):
    """{(table, epsilon): [method, question]}, means of all releases"""
    found = {}
    for name in filter(re.compile(ONLY).search, sorted(TABLES, key=lambda name: (name[-1], name))):
        x, bounds = TABLES[name]()
        questions = Questions(x, bounds)
        prepare(session, name, x, bounds)
        for epsilon in EPSILONS:
            found[name, epsilon] = np.array([np.mean([questions.errors(*method(session, name, questions, epsilon))
                                                      for _ in range(SEEDS)], axis=0) for method in (tables, grid)])
            print(name, epsilon, found[name, epsilon].round(6).tolist(), flush=True)
    return found


def report(found):
    yield f"""# Releases of one to three numbers: tables beside grids

Pure ε, means of {SEEDS} releases (`test/bench/run numbers`). `race_release` makes tables: counts of each column and of pairs of columns. The rival is a fitted grid, as `race_release_sketch` makes it, of kernel l2 with a bandwidth of a {BANDWIDTH}th of each range; its points in up to two columns are spread over the cells of the
grid around them. Tables of one to three columns: skin (b, g, r), pulsar (x1, x3, x2), airfoil (frequency, sound level, angle), salaries, a made mixture of five normal distributions (20,000 records), and made log-normal ones (5,000, of three columns 100,000).

Errors of tables over those of grids, geometric means over five tables: counts of {BOXES} random boxes (mean absolute error); {', '.join(f'{n}{"²³"[d - 2] if d > 1 else ""}' for d, n in CELLS.items())} cells (total variation distance), which are densities, histograms and heat maps; five quantiles of each column. Below 1 tables are better; a ratio counts for .01 at least.
"""
    yield '| columns | ε | boxes | cells | quantiles |\n|---|---|---|---|---|'
    for dims in CELLS:
        for epsilon in EPSILONS:
            # what is exact is no less than a hundredth of what the grid is off by
            ratios = [np.maximum(ours / grids, 0.01) for (name, e), (ours, grids) in found.items() if (name[-1], e) == (str(dims), epsilon)]
            if ratios:
                yield f'| {dims} | {epsilon:g} | ' + ' | '.join(f'{r:.2f}' for r in np.exp(np.log(ratios).mean(0))) + ' |'


def main():
    with Session() as session:
        session.run('SET client_min_messages = warning; DROP EXTENSION IF EXISTS racepriv, racepriv_release CASCADE; DROP SCHEMA public CASCADE; '
                    'CREATE SCHEMA public; CREATE EXTENSION racepriv_release CASCADE')
        found = measure(session)
    with open(REPORT, 'w') as file:
        file.write('\n'.join(report(found)) + '\n')


if __name__ == '__main__':
    main()
