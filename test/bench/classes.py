"""Classifiers of a table with labels, side by side, pure epsilon.

classes.py FOLDER [EPSILON ...] [--times N] [--tables NAME ...]: needs a server with racepriv (PGHOST and so on), and RACEPRIV_DATA
for real tables: any NAME.csv.gz there with a header, of which the last column is the label (0, 1, ...), and texts are categories.

Each of N splits has 500 public rows, 2,000 tests, up to 50,000 private rows, and one release.  Bounds are mean ± 4 standard
deviations, within the range.  Accuracy / area under the ROC curve (mean over classes against the others) / calibration error (of
the largest probability, in 10 bins; in brackets what 2,000 tests of true probabilities have by chance), in %; ± is the standard
error of the accuracy less that of objective perturbation.

- columns: race_release of all columns with label, asked by race_classify.
- moments: race_release_sketch of calibrated moments of the columns.
- public rows beside (prior): race_release_sketch of moments, asked by race_posterior beside exact moments of the public rows, prior counts.
- objective perturbation: the best of 12 settings in hindsight, for several classes each against the others with epsilon / k.
- public rows alone: scikit-learn's logistic regression of these, regularized by cross-validation.
- pool: moments and public rows alone, as doc/learn/classification.md says: probabilities multiplied, with a power of each.
"""
import argparse
import csv
import gzip
import itertools
import json
import os
import re
import sys
import time

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from learn_tables import MADE, load_table
from logistic import RADII, REGULARIZATIONS, calibration_error, clip, private_weights
from server import Session

NUMBERS_OF_ADULT = ['age', 'fnlwgt', 'education-num', 'capital-gain', 'capital-loss', 'hours-per-week']
PUBLIC, TESTS, PRIVATE = 500, 2000, 50000


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
    path = os.path.join(os.environ.get('RACEPRIV_DATA', ''), name + '.csv.gz')
    if name not in MADE and os.path.exists(path):
        with gzip.open(path, 'rt') as file:
            columns = np.array(list(csv.reader(file))[1:]).T
        is_number = np.array([re.fullmatch(r'[-+.0-9e]+', column[0]) is not None for column in columns[:-1]])
        codes = [np.unique(column, return_inverse=True)[1] for column in columns[:-1][~is_number]]
        return columns[:-1][is_number].T.astype(float), np.array(codes, int).reshape(len(codes), columns.shape[1]).T, \
            np.array([code.max() + 1 for code in codes], int), np.unique(columns[-1].astype(float), return_inverse=True)[1]
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


def logistic(x, weights, radius):
    """Probabilities of classes, of several in proportion to those of each against the others"""
    p = 1 / (1 + np.exp(-np.clip(2 * clip(x, radius) @ weights.T, -500, 500)))
    p = np.column_stack([1 - p, p]) if len(weights) == 1 else p
    return p / p.sum(axis=1, keepdims=True)


def public_rows(x, label, classes, tests):
    """scikit-learn's logistic regression, regularized by five folds: probabilities of tests, and of each fold by the others"""
    fold = np.arange(len(x)) % 5

    def fit(rows, strength, of):
        p, model = np.zeros((len(of), classes)), LogisticRegression(C=strength, max_iter=1000).fit(x[rows], label[rows])
        p[:, model.classes_] = model.predict_proba(of)
        return p

    def of_folds(strength):
        return np.concatenate([fit(fold != k, strength, x[fold == k]) for k in range(5)])[np.argsort(np.argsort(fold, kind='stable'))]
    strengths = np.logspace(-2, 2, 5)
    folds = [of_folds(strength) for strength in strengths]
    best = max(range(len(strengths)), key=lambda i: np.log(np.maximum(folds[i][np.arange(len(x)), label], 1e-9)).mean())
    return fit(fold >= 0, strengths[best], tests), folds[best]


def pool(known, label, asked):
    """Probabilities in proportion to products of powers of several ones, which are those of the least loss where the label is known"""
    def join(powers, several):
        logs = np.tensordot(powers, np.log(np.maximum(several, 1e-9)), 1)
        return logs - logsumexp(logs, axis=1, keepdims=True)

    def loss(powers):
        return -join(powers, known)[np.arange(len(label)), label].mean()
    return np.exp(join(minimize(loss, [0.5, 0.5], bounds=[(0, 3)] * 2).x, asked))


def area(is_class, p):
    """Below the ROC curve: how often a record of the class has the higher probability, equal ones half"""
    others = np.sort(p[~is_class])
    return np.mean(np.searchsorted(others, p[is_class]) + np.searchsorted(others, p[is_class], 'right')) / 2 / len(others)


def scores(p, truth):
    """Accuracy, area under the ROC curve, calibration error, and that error where the probabilities are true, by chance alone"""
    best, highest = p.argmax(axis=1), p.max(axis=1)
    areas = [area(truth == k, p[:, k]) for k in range(p.shape[1]) if 0 < np.mean(truth == k) < 1]
    chance = [calibration_error(highest, draw < highest) for draw in np.random.default_rng(3).random((20, len(p)))]
    return [np.mean(best == truth), np.mean(areas), calibration_error(highest, best == truth), np.mean(chance)]


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
        self.params = f'race_moment_params({array([*lower, *[-1] * sum(sizes)])}, {array([*upper, *[1] * sum(sizes)])}, targets => 0)'

    def probabilities(self, query):
        lines = self.run(query)[0]
        p = np.full((len(lines), len(self.labels)), 1e-9)
        for i, line in enumerate(lines):
            for name, of in json.loads(line).items():
                if name in self.labels and of is not None:
                    p[i, int(name)] += of
        return p / p.sum(axis=1, keepdims=True)

    def by_columns(self, epsilon):
        name = f'{self.name} {time.monotonic_ns()}'
        self.run(f"CALL race_release('{name}', '{self.name}', '{{{self.columns},label}}', {epsilon}, label => 'label')")
        return self.probabilities(f"SELECT p FROM (SELECT id, {self.json} AS q FROM tests) t, LATERAL (SELECT jsonb_object_agg(value, probability) AS p "
                                  f"FROM race_classify('{name}', 'label', q)) c ORDER BY id")

    def beside_public_rows(self, epsilon):
        name = f'{self.name} {time.monotonic_ns()}'
        self.run(f"CALL race_release_sketch('{name}', '{self.name}', {self.params}, $x${self.x}$x$, {epsilon}, label => 'label', labels => '{{{','.join(self.labels)}}}')")
        self.run(f"DROP TABLE IF EXISTS moments; CREATE TABLE moments AS SELECT label, sketch FROM race_latest_releases WHERE name = '{name}' "
                 f"UNION ALL SELECT label, race_build({self.params}, {self.x}) FROM public GROUP BY label")
        return self.probabilities(f"SELECT (SELECT race_posterior(label, sketch, t.x, 'counts') FROM moments) FROM (SELECT id, {self.x} AS x FROM tests) t ORDER BY id")

    def by_moments(self, epsilon):
        name = f'{self.name} {time.monotonic_ns()}'
        self.run(f"CALL race_release_sketch('{name}', '{self.name}', epsilon => {epsilon}, columns => '{{{self.columns}}}', label => 'label', calibrate => 0.25)")
        return np.split(self.probabilities(f"SELECT race_posterior('{name}', {self.json}) FROM (TABLE public UNION ALL TABLE tests) q ORDER BY id"), [PUBLIC])


def split(x, codes, sizes, label, seed):
    """Shuffled, with bounds, and as standardized numbers and 0/1 columns for NumPy"""
    order = np.random.default_rng(seed).permutation(len(x))[:PUBLIC + TESTS + PRIVATE]
    centre, spread = x.mean(axis=0), x.std(axis=0)
    lower, upper = np.maximum(centre - 4 * spread, x.min(axis=0)), np.minimum(centre + 4 * spread, x.max(axis=0))
    x, codes, label = x[order], codes[order], label[order]
    both = np.column_stack([(np.clip(x, lower, upper) - centre) / spread, *[codes[:, [i]] == np.arange(size) for i, size in enumerate(sizes)]]).astype(float)
    return x, codes, label, lower, upper, both


def measure(session, folder, name, epsilons, times, methods):
    table = read(name)
    classes, sizes = table[3].max() + 1, table[2]
    found = {}
    for seed in range(times):
        x, codes, label, lower, upper, both = split(*table, seed)
        release = Release(session, folder, x, codes, sizes, label, lower, upper)
        public, tests, private = np.split(both, [PUBLIC, PUBLIC + TESTS])
        known, truth, of = np.split(label, [PUBLIC, PUBLIC + TESTS])
        random = np.random.default_rng([5, seed])
        alone, folds = public_rows(public, known, classes, tests)
        for epsilon in epsilons:
            def add(method, p):
                found.setdefault((epsilon, method), []).append(scores(p, truth))
            if 'columns' in methods:
                add('columns', release.by_columns(epsilon))
            if 'moments' in methods:
                of_public, of_tests = release.by_moments(epsilon)
                add('moments', of_tests)
                add('pool', pool([of_public, folds], known, [of_tests, alone]))
            if 'prior' in methods:
                add('prior', release.beside_public_rows(epsilon))
            for radius, r in itertools.product(RADII, REGULARIZATIONS) if 'objective' in methods else []:
                add((radius, r), logistic(tests, best_weights(private, of, classes, epsilon / (classes if classes > 2 else 1), random, radius, r), radius))
            add('public', alone)
    for epsilon in epsilons:
        rivals = [key for key in found if key[0] == epsilon and isinstance(key[1], tuple)]
        best = max(rivals, key=lambda key: np.mean(found[key], axis=0)[0], default=None)
        cells = []
        for method in ['columns', 'moments', 'prior', best and best[1], 'public', 'pool']:
            of = np.array(found.get((epsilon, method), []))
            if len(of) == 0:
                cells.append('–')
                continue
            cells.append('{:.1f} / {:.1f} / {:.1f} ({:.1f})'.format(*100 * of.mean(axis=0)))
            if best and method != best[1] and times > 1:
                cells[-1] += f' ±{100 * np.std(of[:, 0] - np.array(found[best])[:, 0], ddof=1) / times ** 0.5:.1f}'
        print(f'| {name} | {classes} | {epsilon:g} | ' + ' | '.join(cells) + ' |', flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('epsilon', nargs='*', type=float, default=[0.1, 1])
    parser.add_argument('--times', type=int, default=10)
    parser.add_argument('--tables', nargs='*')
    parser.add_argument('--methods', nargs='*', default=['columns', 'moments', 'prior', 'objective'])
    arguments = parser.parse_args()
    real = ['pulsar', 'adult'] if 'RACEPRIV_DATA' in os.environ else []
    print('| table | classes | ε | columns | moments | public rows beside | objective perturbation | public rows alone | pool |\n|---|---|---|---|---|---|---|---|---|')
    with Session() as session:
        session.run('SET client_min_messages = error; CREATE EXTENSION IF NOT EXISTS racepriv_release CASCADE')
        for name in arguments.tables or real + [*MADE, 'rare', 'seven', 'seven of 40']:
            measure(session, arguments.folder, name, arguments.epsilon, arguments.times, arguments.methods)


if __name__ == '__main__':
    sys.exit(main())
