"""Classifiers of a table with labels, side by side: accuracy in %, means of releases, pure epsilon.

classes.py FOLDER [EPSILON ...] [--times N] [--tables NAME ...]: needs a server with racepriv (PGHOST and so on), and RACEPRIV_DATA
for real tables.  500 rows are public, 1,000 are tests; bounds are mean ± 4 standard deviations, within the range.

- columns: race_release of all columns with label, asked by race_classify.
- moments: race_release_sketch of calibrated moments, each category a 0/1 column with the bounds -1 and 1.
- transform: the same with the transform of the public rows (of tables without categories).
- objective perturbation: the best of 12 settings in hindsight, for several classes each against the others with epsilon / k.
- public rows: logistic regression of these alone, regularized by cross-validation.
"""
import argparse
import json
import os
import sys
import time

import numpy as np

from learn_tables import MADE, load_table
from logistic import RADII, REGULARIZATIONS, clip, private_weights
from server import Session

NUMBERS_OF_ADULT = ['age', 'fnlwgt', 'education-num', 'capital-gain', 'capital-loss', 'hours-per-week']
PUBLIC, TESTS = 500, 1000


def clusters(random, shares, dims, apart, n=40000):
    """A normal class around each of random centers"""
    label = random.choice(len(shares), n, p=shares)
    return apart * random.standard_normal((len(shares), dims))[label] + random.standard_normal((n, dims)), label


def read(name):
    """Numbers, codes of categories, their sizes, and labels"""
    random = np.random.default_rng(7)
    seven = np.array([40, 25, 15, 10, 5, 3, 2]) / 100
    if name == 'adult':
        x = np.loadtxt(os.environ['RACEPRIV_DATA'] + '/adult.csv.gz', delimiter=',', skiprows=1).astype(int)
        with open(os.environ['RACEPRIV_DATA'] + '/adult-domain.json') as file:
            sizes = json.load(file)
        is_number = np.array([column in NUMBERS_OF_ADULT for column in sizes])
        is_code = ~is_number & (np.arange(len(sizes)) < len(sizes) - 1)
        return x[:, is_number].astype(float), x[:, is_code], np.array(list(sizes.values()))[is_code], x[:, -1]
    made = {'rare': (np.array([0.98, 0.02]), 8, 1), 'seven': (seven, 12, 1.2), 'seven of 40': (seven, 40, 0.6)}
    if name in made:
        x, label = clusters(random, *made[name])
    else:
        x, label = load_table(name, 0)
    return x, np.empty((len(x), 0), int), np.empty(0, int), label


def array(numbers):
    return "'{" + ','.join(map(str, numbers)) + "}'"


def best_weights(x, label, classes, epsilon, random, radius, regularization):
    """Weights of each class against the others"""
    return np.array([private_weights(clip(x, radius), np.where(label == k, 1, -1), epsilon, regularization, random)
                     for k in (range(classes) if classes > 2 else [1])])


def says(x, weights, radius):
    score = clip(x, radius) @ weights.T
    return score.argmax(axis=1) if len(weights) > 1 else (score[:, 0] > 0).astype(int)


def public_rows(x, label, classes, tests):
    """Logistic regression without noise, regularized by five folds"""
    fold, random = np.arange(len(x)) % 5, np.random.default_rng(1)
    right = {(radius, r): np.mean([np.mean(says(x[fold == k], best_weights(x[fold != k], label[fold != k], classes, np.inf, random, radius, r), radius) ==
                                           label[fold == k]) for k in range(5)]) for radius in (4, 16) for r in (1e-5, 1e-4, 1e-3, 1e-2)}
    radius, r = max(right, key=right.get)
    return says(tests, best_weights(x, label, classes, np.inf, random, radius, r), radius)


class Release:
    """A table on the server, by columns n0, ... and c0, ..."""

    def __init__(self, session, folder, x, codes, sizes, label, lower, upper):
        self.run, self.name = session.run, f'classes {time.monotonic_ns()}'
        self.labels = list(map(str, range(label.max() + 1)))
        numbers = [f'n{i}' for i in range(x.shape[1])]
        categories = [f'c{i}' for i in range(codes.shape[1])]
        declared = [f'{n} float8 NOT NULL' for n in numbers] + [f'{c} text NOT NULL' for c in categories]
        parts = {'public': slice(PUBLIC), 'tests': slice(PUBLIC, PUBLIC + TESTS), 'private': slice(PUBLIC + TESTS, None)}
        for part, rows in parts.items():
            self.run(f'DROP TABLE IF EXISTS {part} CASCADE; CREATE TABLE {part} (id int, {", ".join(declared)}, label text NOT NULL)')
            of = np.column_stack([np.arange(len(x))[rows], np.clip(x, lower, upper)[rows], codes[rows], label[rows]])
            np.savetxt(f'{folder}/classes.csv', of, ['%d'] + ['%.9g'] * len(numbers) + ['%d'] * (len(categories) + 1), ',')
            self.run(f"\\copy {part} FROM '{folder}/classes.csv' (FORMAT csv)\n")
        domains = {n: [float(a), float(b)] for n, a, b in zip(numbers, lower, upper)} | {'label': self.labels} | \
            {c: list(map(str, range(size))) for c, size in zip(categories, sizes)}
        self.run(f"CALL race_protect('{self.name}', 'private', 1e6, columns => '{json.dumps(domains)}')")
        self.columns = ','.join(numbers + categories)
        self.json = 'jsonb_build_object(' + ', '.join(f"'{c}', {c}" for c in numbers + categories) + ')'
        self.x = 'ARRAY[' + ', '.join(numbers + [f"({c} = '{i}')::int" for c, size in zip(categories, sizes) for i in range(size)]) + ']::float8[]'
        self.bounds = [array([*lower, *[-1] * sum(sizes)]), array([*upper, *[1] * sum(sizes)])]
        dims = len(lower)
        self.transform = '' if len(sizes) else (f', transform => (SELECT race_transform(race_build(race_moment_params({", ".join(self.bounds)}, '
                                                f'norm => {dims + 1} ^ .5, targets => 0), {self.x})) FROM public)')

    def by_columns(self, epsilon):
        name = f'{self.name} {time.monotonic_ns()}'
        self.run(f"CALL race_release('{name}', '{self.name}', '{{{self.columns},label}}', {epsilon}, label => 'label')")
        return self.run(f"SELECT value FROM (SELECT id, {self.json} AS q FROM tests) t, LATERAL (SELECT value FROM race_classify('{name}', 'label', q) "
                        "WHERE value <> 'other' LIMIT 1) c ORDER BY id")[0]

    def by_moments(self, epsilon, more=''):
        name = f'{self.name} {time.monotonic_ns()}'
        params = self.run(f'SELECT race_moment_params({", ".join(self.bounds)}, targets => 0{more})')[0][0]
        self.run(f"CALL race_release_sketch('{name}', '{self.name}', '{params}', $x${self.x}$x$, {epsilon}, label => 'label', "
                 f"labels => '{{{','.join(self.labels)}}}', calibrate => 0.25)")
        return self.run(f"SELECT race_classify('{name}', {self.x}) FROM tests ORDER BY id")[0]


def measure(session, folder, name, epsilons, times):
    x, codes, sizes, label = read(name)
    order = np.random.default_rng(11).permutation(len(x))
    x, codes, label = x[order], codes[order], label[order]
    centre, spread, classes = x.mean(axis=0), x.std(axis=0), label.max() + 1
    lower, upper = np.maximum(centre - 4 * spread, x.min(axis=0)), np.minimum(centre + 4 * spread, x.max(axis=0))
    release = Release(session, folder, x, codes, sizes, label, lower, upper)
    # by NumPy: standardized numbers, and 0/1 columns
    both = np.column_stack([(np.clip(x, lower, upper) - centre) / spread, *[codes[:, [i]] == np.arange(size) for i, size in enumerate(sizes)]]).astype(float)
    public, tests, private = np.split(both, [PUBLIC, PUBLIC + TESTS])
    known, truth, of = np.split(label, [PUBLIC, PUBLIC + TESTS])
    alone = np.mean(public_rows(public, known, classes, tests) == truth)
    random = np.random.default_rng(5)

    def accuracy(found):
        return np.mean(np.array(found, int) == truth)
    for epsilon in epsilons:
        rival = max(np.mean([accuracy(says(tests, best_weights(private, of, classes, epsilon / (classes if classes > 2 else 1), random, radius, r), radius))
                             for _ in range(2)]) for radius in RADII for r in REGULARIZATIONS)
        row = [np.mean([accuracy(release.by_columns(epsilon)) for _ in range(times)]),
               np.mean([accuracy(release.by_moments(epsilon)) for _ in range(times)]),
               np.mean([accuracy(release.by_moments(epsilon, release.transform)) for _ in range(times)]) if release.transform else np.nan, rival, alone]
        print(f'| {name} | {classes} | {epsilon:g} | ' + ' | '.join('–' if np.isnan(of_all) else f'{100 * of_all:.1f}' for of_all in row) + ' |', flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('epsilon', nargs='*', type=float, default=[0.1, 1])
    parser.add_argument('--times', type=int, default=4)
    parser.add_argument('--tables', nargs='*')
    arguments = parser.parse_args()
    real = ['pulsar', 'adult'] if 'RACEPRIV_DATA' in os.environ else []
    print('| table | classes | ε | columns | moments | transform | objective perturbation | public rows |\n|---|---|---|---|---|---|---|---|')
    with Session() as session:
        session.run('SET client_min_messages = error; CREATE EXTENSION IF NOT EXISTS racepriv')
        for name in arguments.tables or real + [*MADE, 'rare', 'seven', 'seven of 40']:
            measure(session, arguments.folder, name, arguments.epsilon, arguments.times)


if __name__ == '__main__':
    sys.exit(main())
