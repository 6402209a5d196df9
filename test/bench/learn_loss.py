"""Surrogate losses against least squares, AdaSSP and noisy sums of products.

learn_loss.py FOLDER RESULTS [PART ...]: a folder to work in, the file to write, and parts if
not all: coefficients records margin.  It needs a server with racepriv (PGHOST and so on).
test/bench/run learn-loss has it all.

The made tables were chosen before anybody had looked at a result on them.
"""
import sys
import time

import numpy as np

from report import Report
from server import Session, load

SEEDS = range(1, 11)
RECORDS = 200_000
TESTS = 20_000
DIMS = 5
EPSILON = 1
DELTAS = {1e-6: 1024, 0: 256}   # and rows
RADIUS = 2                      # of records [x, y] with coordinates within 1
MARGIN = (1, 4)               # radius and power of the margin loss
SIZES = (2000, 5000, 20_000)

INTRODUCTION = f"""# Surrogate losses

Least squares: the relative error of the coefficients, |theta - least squares| / |least squares|,
of {DIMS} columns, ε = {EPSILON}, {len(SEEDS)} seeds, each with its own table, row functions and noise. Columns and
values are within 1. racepriv: race_minimize(race_fit(sketch)), power 3, radius {RADIUS}, 1,024 rows
with δ = 1e-6, 256 rows without δ. AdaSSP
(Wang 2018) has δ = 1e-6; without δ, noisy sums of products with Laplace noise (SSP). Both get the
public bound of the norm of the columns, the root of {DIMS}.
"""


def uniform(random, n):
    return random.uniform(-1, 1, (n, DIMS))


def normal(random, n):
    return np.clip(random.standard_normal((n, DIMS)) / 3, -1, 1)


def correlated(random, n):
    at = np.arange(DIMS)
    root = np.linalg.cholesky(0.6 ** np.abs(at[:, None] - at))
    return np.clip(random.standard_normal((n, DIMS)) @ root.T / 3, -1, 1)


TABLES = {made.__name__: made for made in (uniform, normal, correlated)}


def regression(made, seed):
    """Columns and a value, of which the columns explain about two thirds"""
    random = np.random.default_rng([20261122, seed])
    x = TABLES[made](random, RECORDS)
    theta = random.choice([-1, 1], DIMS) * random.uniform(0.3, 1, DIMS)
    signal = x @ theta
    y = signal + random.normal(0, signal.std() / np.sqrt(2), RECORDS)
    return x, np.clip(y / 3, -1, 1)


def logistic(random, n):
    x = normal(random, n)
    odds = x @ random.standard_normal(DIMS)
    return x, np.where(random.random(n) < 1 / (1 + np.exp(-6 * odds)), 1, -1)


def shifted(random, n):
    """Two normal classes of the same size and covariance"""
    label = random.choice([-1, 1], n)
    x = random.standard_normal((n, DIMS)) + 0.6 * label[:, None] * random.standard_normal(DIMS)
    return np.clip(x / 4, -1, 1), label


def unbalanced(random, n):
    """The same with one class in ten, and a constant column"""
    label = np.where(random.random(n) < 0.1, 1, -1)
    x = random.standard_normal((n, DIMS)) + 1.2 * (label[:, None] > 0) * random.standard_normal(DIMS)
    return np.column_stack([np.clip(x / 4, -1, 1), np.full(n, 0.5)]), label


CLASSES = {made.__name__: made for made in (logistic, shifted, unbalanced)}


def least_squares(x, y):
    return np.linalg.lstsq(x, y, rcond=None)[0]


def symmetric(noise):
    upper = np.triu(noise)
    return upper + np.triu(upper, 1).T


def ada_ssp(x, y, epsilon, delta, random):
    """Wang 2018, algorithm 2, with a bound of |x| and 1 of |y|"""
    bound = np.sqrt(DIMS)
    scale = np.sqrt(np.log(6 / delta)) / (epsilon / 3)
    gram = x.T @ x
    least = np.linalg.eigvalsh(gram)[0]
    least = max(least + scale * bound ** 2 * (random.standard_normal() - np.sqrt(np.log(6 / delta))), 0)
    ridge = max(np.sqrt(DIMS * np.log(6 / delta) * np.log(2 * DIMS ** 2 / 0.05)) * bound ** 2
                / (epsilon / 3) - least, 0)
    gram = gram + scale * bound ** 2 * symmetric(random.standard_normal((DIMS, DIMS)))
    right = x.T @ y + scale * bound * random.standard_normal(DIMS)
    return np.linalg.solve(gram + ridge * np.eye(DIMS), right)


def ssp(x, y, epsilon, random):
    """Laplace noise for the sums of products of columns within 1"""
    scale = (DIMS * (DIMS + 1) / 2 + DIMS) / epsilon
    gram = x.T @ x + symmetric(random.laplace(0, scale, (DIMS, DIMS)))
    return np.linalg.solve(gram, x.T @ y + random.laplace(0, scale, DIMS))


def other(x, y, delta, seed):
    random = np.random.default_rng([1, seed])
    return ada_ssp(x, y, EPSILON, delta, random) if delta > 0 else ssp(x, y, EPSILON, random)


def params(kernel, dims, power, radius, rows, seed):
    return (f"race_params('{kernel}', {dims}, power => {power}, radius => {radius}, "
            f"rows => {rows}, seed => {seed})")


def minimum(session, private, params, records=RECORDS):
    """theta, and the seconds of the fit and of the search"""
    session.run(f'CREATE TEMP TABLE s AS SELECT race_build({params}, x) AS s FROM t WHERE id < {records}')
    fit = session.time(f'CREATE TEMP TABLE f AS SELECT race_fit({private}) AS f FROM s')
    session.run('CREATE TEMP TABLE m AS SELECT m.* FROM f, race_minimize(f) m')
    theta = np.array(session.value('SELECT x FROM m').strip('{}').split(','), float)
    session.run('DROP TABLE s, f, m')
    return theta, fit


def private(delta):
    return f'race_privatize(s, {EPSILON}, {delta}, rows => {DELTAS[delta]})'


def apart(theta, truth):
    return np.linalg.norm(theta - truth) / np.linalg.norm(truth)


def show(errors):
    return f'{100 * np.mean(errors):.1f} ({100 * np.max(errors):.1f})'


def add_coefficients(session, folder, report):
    report.heading('Coefficients of 200,000 records: relative error in %, mean of all seeds (largest)')
    rows = []
    for made in TABLES:
        ours = {delta: [] for delta in DELTAS}
        others = {delta: [] for delta in DELTAS}
        for seed in SEEDS:
            x, y = regression(made, seed)
            truth = least_squares(x, y)
            load(session, folder, 't', np.column_stack([x, y]))
            for delta in ours:
                theta, seconds = minimum(session, private(delta), params(
                    'least_squares', DIMS + 1, 3, RADIUS, DELTAS[delta], seed))
                ours[delta].append(apart(theta, truth))
                others[delta].append(apart(other(x, y, delta, seed), truth))
            print(made, seed, *(f'{100 * found[-1]:.1f}' for found in ours.values()), flush=True)
            session.run('DROP TABLE t')
        rows.append((made, *(show(ours[delta]) for delta in ours), *(show(others[delta]) for delta in DELTAS),
                     f'{seconds:.1f}'))
        for delta in DELTAS:
            report.at_most(f'coefficients, {made}, δ {delta:g}: mean relative error', 100 * np.mean(ours[delta]), 5, ' %')
    report.table(('table', 'racepriv, δ 1e-06', 'racepriv, δ 0', 'AdaSSP, δ 1e-06', 'SSP, δ 0', 's, a fit'), rows)


def add_sizes(session, folder, report):
    report.heading('From how many records on: the same for fewer, table uniform')
    rows = []
    for records in SIZES:
        ours = {delta: [] for delta in DELTAS}
        others = {delta: [] for delta in DELTAS}
        for seed in SEEDS:
            x, y = (part[:records] for part in regression('uniform', seed))
            truth = least_squares(x, y)
            load(session, folder, 't', np.column_stack([x, y]))
            for delta in DELTAS:
                theta, _ = minimum(session, private(delta), params(
                    'least_squares', DIMS + 1, 3, RADIUS, DELTAS[delta], seed), records)
                ours[delta].append(apart(theta, truth))
                others[delta].append(apart(other(x, y, delta, seed), truth))
            print(records, seed, *(f'{100 * found[-1]:.1f}' for found in ours.values()), flush=True)
            session.run('DROP TABLE t')
        rows.append((f'{records:,}', *(show(found[delta]) for delta in DELTAS for found in (ours, others))))
    report.table(('records', 'racepriv, δ 1e-06', 'AdaSSP', 'racepriv, δ 0', 'SSP'), rows)


def add_margin(session, folder, report):
    report.heading('Margin loss: accuracy in % on 20,000 other records, mean of all seeds')
    rows = []
    for made in CLASSES:
        found = {delta: [] for delta in DELTAS}
        linear = []
        larger = []
        for seed in SEEDS:
            x, label = CLASSES[made](np.random.default_rng([20261122, seed]), RECORDS + TESTS)

            def accuracy(theta):
                return 100 * np.mean((x[RECORDS:] @ theta > 0) == (label[RECORDS:] > 0))
            linear.append(accuracy(least_squares(x[:RECORDS], label[:RECORDS])))
            larger.append(100 * max(np.mean(label > 0), np.mean(label < 0)))
            load(session, folder, 't', np.column_stack([x, label])[:RECORDS])
            for delta in DELTAS:
                theta, _ = minimum(session, private(delta), params(
                    'margin', x.shape[1] + 1, MARGIN[1], MARGIN[0], DELTAS[delta], seed))
                found[delta].append(accuracy(theta))
            print(made, seed, linear[-1], *(found[delta][-1] for delta in DELTAS), flush=True)
            session.run('DROP TABLE t')
        rows.append((made, f'{np.mean(linear):.1f}', *(f'{np.mean(found[delta]):.1f}' for delta in DELTAS),
                     f'{np.mean(larger):.1f}'))
        for delta in DELTAS:
            report.at_most(f'margin, {made}, δ {delta:g}: points below least squares', np.mean(linear) - np.mean(found[delta]), 1)
    report.table(('table', 'least squares', 'margin, δ 1e-06', 'margin, δ 0', 'larger class'), rows)


PARTS = {'coefficients': add_coefficients, 'records': add_sizes, 'margin': add_margin}


def main():
    folder, path, *names = sys.argv[1:]
    start = time.monotonic()
    report = Report()
    report.write(INTRODUCTION)
    with Session() as session:
        session.run('SET client_min_messages = error; SET statement_timeout = 0')
        for name in names or PARTS:
            PARTS[name](session, folder, report)
    report.conclude()
    report.keep(path, start)


if __name__ == '__main__':
    main()
