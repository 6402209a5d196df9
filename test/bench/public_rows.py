"""Regression with public rows: public_rows.py FOLDER [EPSILON ...] [--tables NAME ...] [--features K ...], with a server as gate.py has it.

R^2 of tests, the mean of splits with one release each, pure epsilon.  Ours: race_predict of moments by bounds, and by
race_transform of the public rows.  Beside them: least squares of the public rows alone; AdaSSP (Wang 2018) of private
rows, scaled by the public ones, delta 1e-6; Iterative Hessian Mixing (Lev et al. 2026, arXiv 2601.07545, three steps), the
same; objective perturbation (Kifer, Smith & Thakurta 2012) with the best of its
settings in hindsight; least squares of all private rows without noise.  Bounds are the range of the public rows, half
as wide again.  Tables are NAME.csv.gz, with the target in the last column.
"""
import argparse
import os
import sys

import numpy as np

from server import Session, load

DELTA = 1e-6


def collinear(random, small, n=12000, dims=14, factors=4):
    """Columns from a few factors and a little more, on which the target depends, too"""
    x = random.standard_normal((n, factors)) @ random.standard_normal((factors, dims))
    x += small * random.standard_normal((n, dims)) * np.linspace(0.5, 2, dims)
    y = x @ random.standard_normal(dims)
    return np.column_stack([x, 2 * y / y.std() + 0.9 * random.standard_normal(n)])


def read(name):
    return np.loadtxt(os.path.join(os.environ['RACEPRIV_DATA'], name + '.csv.gz'), delimiter=',', skiprows=1)


def tables(names):
    if names:
        return {name: read(name) for name in names}
    made = {f'collinear, {small:g}': collinear(np.random.default_rng(17), small) for small in (0.3, 0.03)}
    real = {'airfoil': read('airfoil'), 'pulsar': read('pulsar')[:, [0, 1, 3, 4, 5, 6, 7, 2]]} if 'RACEPRIV_DATA' in os.environ else {}
    return made | real


def constant(x):
    return np.column_stack([np.ones(len(x)), x])


def least_squares(x, y, tests):
    return constant(tests) @ np.linalg.lstsq(constant(x), y, rcond=None)[0]


def unit(x, y):
    """Records and targets in unit balls"""
    x = constant(x / 3) / np.sqrt(x.shape[1])
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1), np.clip(y / 3, -1, 1)


def adassp(x, y, tests, epsilon, random):
    x, y = unit(x, y)
    dims, share = x.shape[1], np.log(6 / DELTA)
    gram, scale = x.T @ x, np.sqrt(share) / (epsilon / 3)
    smallest = max(np.linalg.eigvalsh(gram)[0] + scale * random.standard_normal() - share / (epsilon / 3), 0)
    ridge = max(0, np.sqrt(dims * share * np.log(2 * dims ** 2 / 0.05)) / (epsilon / 3) - smallest)
    noise = np.triu(random.standard_normal((dims, dims)))
    theta = np.linalg.solve(gram + scale * (noise + np.triu(noise, 1).T) + ridge * np.eye(dims), x.T @ y + scale * random.standard_normal(dims))
    return 3 * constant(tests / 3) / np.sqrt(tests.shape[1]) @ theta


def sketch_noise(epsilon, delta, k, steps):
    """The smallest eigenvalue that k Gaussian sums of rows need, for so many steps: by Renyi's divergence"""
    def left(gamma):
        alpha = 1 + np.geomspace(1e-3, gamma - 1.0001, 2000)
        one = k / 2 / (alpha - 1) * (alpha * np.log1p(-1 / gamma) - np.log1p(-alpha / gamma))
        return min(steps * one + (np.log(1 / delta) + (alpha - 1) * np.log1p(-1 / alpha) - np.log(alpha)) / (alpha - 1)) + \
            np.sqrt(2 * np.log(1.25 / delta) * k) / gamma - epsilon
    low, high = 1.01, 1e9
    while high / low > 1.0001:
        low, high = (low, (low * high) ** 0.5) if left((low * high) ** 0.5) < 0 else ((low * high) ** 0.5, high)
    return high


def hessian_mixing(x, y, tests, epsilon, random, steps=3):
    """A half of epsilon for sketches of rows, a half for gradients, whose noise is that of classical Gaussian mechanisms"""
    x, y = unit(x, y)
    dims, failure, share = x.shape[1], DELTA / 10, DELTA / 4
    k = int(6 * max(dims, np.log(4 * steps / failure)))
    gamma = sketch_noise(epsilon / 2, share, k, steps)
    tail = np.sqrt(2 * np.log(max(4 / DELTA, 4 / failure)))
    smallest = max(0, np.linalg.eigvalsh(x.T @ x)[0] - gamma / np.sqrt(k) * (tail - random.standard_normal()))
    more, noise = np.sqrt(max(0, gamma - smallest)), np.sqrt(2 * steps * np.log(1.25 / share)) / (epsilon / 2)
    root, theta = np.linalg.cholesky(x.T @ x + 1e-9 * np.eye(dims)).T, np.zeros(dims)
    for _ in range(steps):
        mixed = random.standard_normal((k, dims)) @ root + more * random.standard_normal((k, dims))
        gradient = x.T @ np.clip(y - x @ theta, -1, 1) + noise * random.standard_normal(dims)
        theta += np.linalg.solve(mixed.T @ mixed / k, gradient)
    return 3 * constant(tests / 3) / np.sqrt(tests.shape[1]) @ theta


def perturbed(x, y, tests, epsilon, ridge, radius, random):
    """Least squares with |theta| at most radius: each loss has gradients of at most 1 + radius, and a curvature of 1"""
    x, y = unit(x, y)
    dims = x.shape[1]
    ridge = max(ridge, 2 / epsilon)
    noise = random.standard_normal(dims)
    noise *= random.gamma(dims, 2 * 2 * (1 + radius) / epsilon) / np.linalg.norm(noise)
    theta = np.linalg.solve(x.T @ x + ridge * np.eye(dims), x.T @ y - noise)
    theta *= min(1, radius / np.linalg.norm(theta))
    return 3 * constant(tests / 3) / np.sqrt(tests.shape[1]) @ theta


def array(numbers):
    return "'{" + ','.join(repr(float(number)) for number in numbers) + "}'"


def ours(session, folder, public, private, tests, epsilon, features=None):
    """Predictions of moments by bounds, and of those with a transform; or by bounds with numbers of features"""
    dims = public.shape[1]
    for name, x in (('p', public), ('d', private), ('t', tests)):
        session.run(f'DROP TABLE IF EXISTS {name}')
        load(session, folder, name, x)
    lower, upper = public.min(axis=0), public.max(axis=0)
    lower, upper = array(lower - (upper - lower) / 4), array(upper + (upper - lower) / 4)
    transform = f'(SELECT race_transform(race_build(race_moment_params({lower}, {upper}, norm => {dims + 1} ^ .5, targets => 0), x)) FROM p)'
    found = []
    more = ['', f', transform => {transform}'] if features is None else [f', features => {k}' for k in features]
    for params in (f'race_moment_params({lower}, {upper}{argument})' for argument in more):
        lines = session.run(f'WITH m AS MATERIALIZED (SELECT race_privatize(race_build(params, x), {epsilon}) AS m FROM d, '
                            f'(SELECT {params} AS params) v) SELECT race_predict(m, {dims}, x[1:{dims - 1}]) FROM m, t ORDER BY id')[0]
        found.append(np.array(lines, float))
    return found


def measure(session, folder, table, public, epsilon, times):
    random = np.random.default_rng(3)
    found = {}
    for _ in range(times):
        x = random.permutation(table)
        tests, known, x = np.split(x, [len(x) // 5, len(x) // 5 + public])
        middle, deviation = known.mean(axis=0), known.std(axis=0)
        a, b, c = ((of - middle) / deviation for of in (tests, known, x))

        def score(name, says):
            found.setdefault(name, []).append(1 - np.mean((says - a[:, -1]) ** 2) / np.var(a[:, -1]))
        for name, says in zip(('by bounds', 'by public rows'), ours(session, folder, known, x, tests, epsilon)):
            score(name, (says - middle[-1]) / deviation[-1])
        score('public rows alone', least_squares(b[:, :-1], b[:, -1], a[:, :-1]))
        score('AdaSSP', adassp(c[:, :-1], c[:, -1], a[:, :-1], epsilon, random))
        score('IHM', hessian_mixing(c[:, :-1], c[:, -1], a[:, :-1], epsilon, random))
        for setting in ((ridge, radius) for ridge in (0, 10, 100) for radius in (1, 4, 16)):
            score(setting, perturbed(c[:, :-1], c[:, -1], a[:, :-1], epsilon, *setting, random))
        score('no noise', least_squares(c[:, :-1], c[:, -1], a[:, :-1]))
    found = {name: np.mean(scores) for name, scores in found.items()}
    best = max(found[name] for name in found if isinstance(name, tuple))
    return [found['by bounds'], found['by public rows'], found['public rows alone'], found['AdaSSP'], found['IHM'], best, found['no noise']]


def measure_features(session, folder, table, epsilon, times, numbers):
    """Moments by bounds with so many random features"""
    random, found = np.random.default_rng(3), []
    for _ in range(times):
        tests, x = np.split(random.permutation(table), [min(len(table) // 5, 2000)])
        says = ours(session, folder, x, x, tests, epsilon, numbers)
        found.append([1 - np.mean((of - tests[:, -1]) ** 2) / np.var(tests[:, -1]) for of in says])
    return [len(x), *np.mean(found, axis=0)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('epsilon', nargs='*', type=float, default=[0.1, 1])
    parser.add_argument('--times', type=int, default=6)
    parser.add_argument('--tables', nargs='*')
    parser.add_argument('--features', nargs='*', type=int)
    arguments = parser.parse_args()
    if arguments.features:
        print('| table | records | ε |' + ''.join(f' {k} |' for k in arguments.features) + '\n|' + '---|' * (len(arguments.features) + 3))
        with Session() as session:
            session.run('SET client_min_messages = error')
            for name, table in tables(arguments.tables).items():
                for epsilon in arguments.epsilon:
                    n, *scores = measure_features(session, arguments.folder, table, epsilon, arguments.times, arguments.features)
                    print(f'| {name} | {n} | {epsilon:g} | ' + ' | '.join(f'{score:.3f}' for score in scores) + ' |', flush=True)
        return
    print('| table | public rows | ε | moments by bounds | by public rows | public rows alone | AdaSSP | IHM | objective perturbation | no noise |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    with Session() as session:
        session.run('SET client_min_messages = error')
        for name, table in tables(arguments.tables).items():
            for public in (40, 500) if len(table) > 5000 else (40, 200):
                for epsilon in arguments.epsilon:
                    scores = measure(session, arguments.folder, table, public, epsilon, arguments.times)
                    print(f'| {name} | {public} | {epsilon:g} | ' + ' | '.join(f'{score:.3f}' for score in scores) + ' |', flush=True)


if __name__ == '__main__':
    sys.exit(main())
