"""The gate: some 65 numbers of accuracy and speed, held to those that gate.txt records.

gate.py [--short] [--record TIMES] BARE LIBRARY FOLDER [TASK ...]: the program bare.c, a shared library of the
hash functions, a folder to work in, and tasks if not all.  It needs a server with racepriv (PGHOST and so on).
test/bench/run gate has it all.  With --short, made tables and no speed.  With --record, gate.txt
gets the measured tasks, each from TIMES as many releases.  Without RACEPRIV_DATA, no real data.

A number is a mean over releases with noise of their own; lower is better, unless its name begins with "+".  It is
worse if it is worse than the record by 5 % and by the three standard errors of both means (by Student's
t at the same level), and if so again in three more measurements of its task.  Where the record is the true
mean, that happens to a number in less than one run of 10^9, even if 5 % are much less than its standard error.
"""
import argparse
import math
import os
import sys
import time
import traceback

import numpy as np

import learn_others as others
import mixed_tables
from fit_mixtures import MIXTURES
from learn_tables import load_table
from logistic import best_objective_perturbation, calibration_error
from server import Session, cpu_time, load

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gate.txt')
MARGIN, ERRORS, MORE = 0.05, 3, 3
DELTA = 1e-6
QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9]
REAL_QUERIES = 300
DISTANCES = np.concatenate([np.linspace(0, 20, 20001), np.geomspace(20.01, 1e4, 20000)])


def exact_kernel(c):
    """l2 at a distance in bandwidths (Datar et al. 2004)"""
    if c == 0:
        return 1
    return math.erf(1 / c / math.sqrt(2)) + math.sqrt(2 / math.pi) * c * math.expm1(-1 / (2 * c * c))


KERNEL = np.array([exact_kernel(c) for c in DISTANCES])


def kernel_sums(points, queries, weights, power=1):
    """[query, column of weights], coordinates in bandwidths"""
    sums = np.zeros((len(queries), weights.shape[1]))
    for i, query in enumerate(queries):
        distances = np.sqrt(((points - query) ** 2).sum(axis=1))
        sums[i] = np.interp(distances, DISTANCES, KERNEL) ** power @ weights
    return sums


def array(values):
    return "'{" + ','.join(repr(float(value)) for value in np.atleast_1d(values)) + "}'"


def read(name):
    return np.loadtxt(os.path.join(os.environ['RACEPRIV_DATA'], name + '.csv.gz'), delimiter=',', skiprows=1)


def rms(densities, truth):
    """Of each release, times 10⁴"""
    return 1e4 * np.sqrt(np.mean((densities - truth) ** 2, axis=-1))


class Gate:
    """What tasks share: a session, and how many releases a number is the mean of"""

    def __init__(self, session, arguments, times):
        self.session, self.folder, self.arguments, self.times = session, arguments.folder, arguments, times

    def load(self, table, x):
        self.session.run(f'DROP TABLE IF EXISTS {table}')
        load(self.session, self.folder, table, x)

    def column(self, sql):
        return np.array(self.session.run(sql)[0], float)

    def arrays(self, sql):
        """A line of numbers for each row of answers: columns that are arrays or numbers"""
        return np.array([line.replace('{', '').replace('}', '').replace('|', ',').split(',')
                         for line in self.session.run(sql)[0]], float)

    def reps(self, n):
        return n * self.times


# ------------------------------------------------------------------ densities

def real_density(name):
    """Records, queries, bandwidth and upper bound"""
    x = read(name)
    random = np.random.default_rng(7)
    if name == 'salaries':
        return x[:, None], np.linspace(10000, 250000, 200)[:, None], 5000, 260000
    if name == 'pulsar':
        x = (x[:, :8] + [0, 0, 2, 2, 0, 0, 5, 5]) / [200, 100, 12, 72, 225, 112, 40, 1205]
    x = x[random.permutation(len(x))][:, :3 if name == 'skin' else 8]
    return x[REAL_QUERIES:], x[:REAL_QUERIES], *((5, 255) if name == 'skin' else (0.2, 1))


def made_density(name):
    mixture = next(m for m in MIXTURES if m.name == name)
    return *mixture.generate(), mixture.bandwidth, 1


def histogram(x, queries, bandwidth, upper, truth, epsilon, reps):
    """The error of a noisy histogram that splits records among corners, with its best cells in hindsight"""
    random, best, dims = np.random.default_rng(1), math.inf, x.shape[1]
    for size in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2):
        side = int(np.ceil(upper / bandwidth / size)) + 1
        if side ** dims > 60_000:
            continue
        places = np.clip(x / bandwidth / size, 0, side - 1)
        low = np.minimum(places.astype(int), side - 2)
        counts = np.zeros(side ** dims)
        for corner in np.ndindex(*(2,) * dims):
            part = np.prod(np.where(corner, places - low, 1 - places + low), axis=1)
            counts += np.bincount(np.ravel_multi_index((low + corner).T, (side,) * dims), part, side ** dims)
        noisy = counts[:, None] + random.laplace(0, 1 / epsilon, (side ** dims, reps))
        centers = np.stack(np.unravel_index(np.arange(side ** dims), (side,) * dims), 1) * size
        sums = kernel_sums(centers, queries / bandwidth, noisy)
        best = min(best, rms((sums / np.maximum(noisy.sum(axis=0), 1)).T, truth).mean())
    return best


def fourier(x, queries, bandwidth, truth, epsilon, reps):
    """Random Fourier features with Laplace noise, the best number of them in hindsight"""
    best = math.inf
    for pairs in (32, 128, 512):
        found = []
        for seed in range(reps):
            random = np.random.default_rng(seed)
            t = np.empty(0)
            while len(t) < pairs:       # the density (1 - cos t) / (pi t^2), by rejection
                wide = random.random(2 * pairs) < 0.5
                of = np.where(wide, 2 / (1 - random.random(2 * pairs)), 2 * random.random(2 * pairs))
                high = np.where(wide, 2 / of ** 2, 0.5)
                t = np.append(t, of[random.random(2 * pairs) * high < (1 - np.cos(of)) / of ** 2])
            frequencies = random.standard_normal((x.shape[1], pairs)) * t[:pairs] / bandwidth
            totals = sum(np.concatenate([np.cos(part @ frequencies).sum(0), np.sin(part @ frequencies).sum(0)])
                         for part in np.array_split(x, len(x) // 4096 + 1))
            totals += random.laplace(0, np.sqrt(2) * pairs / epsilon, 2 * pairs)
            angles = queries @ frequencies
            found.append(rms(np.hstack([np.cos(angles), np.sin(angles)]) @ totals / pairs / len(x), truth))
        best = min(best, np.mean(found))
    return best


def density(gate, name, epsilon, sequence, delta=0, reps=10, fitted=True, interval=False, real=False):
    """Errors of releases raw and fitted; coverage and width of the intervals of the raw ones"""
    x, queries, bandwidth, upper = (real_density if real else made_density)(name)
    dims, reps = x.shape[1], gate.reps(reps)
    gate.load('d', x)
    gate.load('q', queries)
    truth = kernel_sums(x / bandwidth, queries / bandwidth, np.ones((len(x), 1)))[:, 0] / len(x)
    bounds = f'lower => {array([0] * dims)}, upper => {array([upper] * dims)}'
    grid = sequence == 'grid'
    box = f", sequence => 'grid', lower => {array([0] * dims)}, upper => {array([upper] * dims)}" if grid else ''
    seed = '0' if grid else 'seed'
    built = (f"race_build(race_params('l2', {dims}, {bandwidth}, rows => 1024, range => 1024, seed => {seed}{box}), x)"
             if not grid else f"race_build(race_params('l2', {dims}, {bandwidth}{box}), x)")
    exact = f'SELECT {built} AS s FROM d' if grid else \
        f'SELECT seed, (SELECT {built} FROM d) AS s FROM generate_series(1, {reps}) seed'
    joined = f'exact, generate_series(1, {reps}) i (seed)' if grid else 'exact'
    gate.session.run('DROP TABLE IF EXISTS exact, r, f; '
                     f'CREATE TEMP TABLE exact AS {exact}; CREATE TEMP TABLE r AS SELECT seed, '
                     f'race_privatize(s, {epsilon}, {delta}, fit => true) AS s FROM {joined}')
    asked = 'LATERAL (SELECT array_agg(kernel_density ORDER BY id), array_agg(lower ORDER BY id), array_agg(upper ORDER BY id) FROM q, race_estimate(s, q.x)) a'
    answers = gate.arrays(f'SELECT a.* FROM r, {asked} ORDER BY seed').reshape(reps, 3, -1)
    rival = fourier(x, queries, bandwidth, truth, epsilon, 3) if dims > 3 else \
        histogram(x, queries, bandwidth, upper, truth, epsilon, 20)
    what = f'{name} {dims}-d {sequence} {"pure" if delta == 0 else "δ"} ε={epsilon:g}'
    found = {f'{what} raw, rms error': (rms(answers[:, 0], truth), rival)}
    if fitted:
        gate.session.run(f'CREATE TEMP TABLE f AS SELECT seed, race_fit(s, {bounds}) AS s FROM r')
        fits = gate.arrays(f'SELECT a.* FROM f, {asked} ORDER BY seed').reshape(reps, 3, -1)
        found[f'{what} fitted, rms error'] = rms(fits[:, 0], truth), rival
        answers = answers if interval else fits
    if interval:
        covered = np.mean((answers[:, 1] <= truth) & (truth <= answers[:, 2]), axis=1)
        found[f'+{what} coverage, %'] = 100 * covered, 95
        found[f'{what} width of intervals'] = 1e4 * np.mean(answers[:, 2] - answers[:, 1], axis=1), None
    return found


# --------------------------------------------------------- samples, quantiles, counts

def wasserstein(x, y):
    both = np.sort(np.concatenate([x, y]))
    of_x, of_y = (np.searchsorted(np.sort(v), both[:-1], 'right') / len(v) for v in (x, y))
    return np.sum(np.abs(of_x - of_y) * np.diff(both))


def samples(gate, name='smooth', epsilon=0.1, reps=20, real=False):
    """Wasserstein distance of samples and quantiles, in thousandths of the box; the count"""
    x, _, bandwidth, upper = (real_density if real else made_density)(name)
    x, reps = x[:, 0], gate.reps(reps)
    gate.load('d', x[:, None])
    gate.session.run(
        'DROP TABLE IF EXISTS f; CREATE TEMP TABLE f AS SELECT i, race_fit(race_privatize(s, '
        f"{epsilon}, 0, fit => true)) AS s FROM (SELECT race_build(race_params('l2', 1, {bandwidth}, sequence => 'grid', "
        f"lower => '{{0}}', upper => '{{{upper}}}'), x) AS s FROM d) b, generate_series(1, {reps}) i")
    truth = np.quantile(x, QUANTILES)
    far, wrong = [], []
    for i in range(1, reps + 1):
        far.append(wasserstein(x, gate.column(f'SELECT v.x[1] FROM f, race_sample(s, 50000, {i}) v (x, r) WHERE i = {i}')))
        values = gate.column(f'SELECT value FROM f, race_quantile(s, ARRAY{QUANTILES}) WHERE i = {i}')
        wrong.append(np.max(np.abs(values - truth)))
    counts = gate.column('SELECT race_count(s) FROM f')
    rivals = []
    for cells in others.CELLS:
        of = []
        for seed in range(10):
            random = np.random.default_rng(seed)
            p = others.noisy_histogram(x, upper, cells, epsilon, random)
            of.append((wasserstein(x, others.sample_histogram(p, upper, 50000, random)),
                       np.max(np.abs(others.quantiles_of_histogram(p, upper, QUANTILES) - truth))))
        rivals.append(np.mean(of, axis=0))
    best = np.min(rivals, axis=0) / upper * 1e3
    what = f'{name} ε={epsilon:g}'
    return {f'{what} samples, Wasserstein': (np.array(far) / upper * 1e3, best[0]),
            f'{what} quantiles, largest error': (np.array(wrong) / upper * 1e3, best[1]),
            f'{what} count, error': (np.abs(counts - len(x)), 1 / epsilon)}


def tables(gate, epsilon, reps=6):
    """Mean total variation distance of all pairs of five columns, in %"""
    x, categories, sizes = mixed_tables.five_columns()
    codes = mixed_tables.coded(x, categories)
    sizes = (mixed_tables.BINS,) * x.shape[1] + sizes
    gate.load('d', codes.astype(float))
    pairs = [(i, j) for i in range(5) for j in range(i)]

    truth = {(i, j): others.positive(others.pair_table(codes, sizes, i, j)) for i, j in pairs}

    def error(found):
        return 100 * np.mean([np.abs(found[pair] - truth[pair]).sum() / 2 for pair in pairs])
    found = []
    for _ in range(gate.reps(reps)):
        name = mixed_tables.release(gate.session, 'd', sizes, epsilon)
        counts = mixed_tables.released_tables(gate.session, name, sizes, pairs)
        found.append(error({pair: others.positive(table) for pair, table in counts.items()}))
    random = np.random.default_rng(1)
    noisy = np.mean([error(others.all_pairs(codes, sizes, epsilon, random)) for _ in range(10)])

    def independent():
        one = [others.positive(np.bincount(codes[:, i], minlength=size) + random.laplace(0, 5 / epsilon, size))
               for i, size in enumerate(sizes)]
        return error({(i, j): np.outer(one[i], one[j]) for i, j in pairs})
    rival = min(noisy, np.mean([independent() for _ in range(10)]))
    return {f'tables of 5 columns ε={epsilon:g}, pairs off by, %': (np.array(found), rival)}


# ------------------------------------------------ classes, regression, means along columns

def split(gate, name, seed):
    """500 public rows, half of the others private, 2,000 tests: tables, and arrays"""
    x, label = load_table(name, seed)
    half = 500 + (len(x) - 500) // 2
    parts = {'public': slice(500), 'private': slice(500, half), 'test': slice(half, half + 2000)}
    for part, of in parts.items():
        gate.load(part, np.column_stack([x[of], label[of]]))
        gate.session.run(f'DROP TABLE IF EXISTS {part}_rows; CREATE TABLE {part}_rows AS SELECT id, x[1:{x.shape[1]}] AS x, '
                         f'x[{x.shape[1] + 1}]::int AS label, NULL::float8[] AS z FROM {part}')
    return [(x[of], label[of]) for of in parts.values()]


def classify(gate, name, epsilon=1, reps=3):
    """Errors in % of calibrated releases of moments and of kernel densities, and of race_classify of moments; calibration errors"""
    found = {'release of moments': [], 'release of densities': [], 'lda': [], 'calibration': [], 'rival': []}
    for seed in range(gate.reps(reps)):
        public, private, (tests, truth) = split(gate, name, 0)
        classes = int(truth.max()) + 1

        def wrong(says):
            return 100 * np.mean(says.astype(int) != truth)
        run = gate.session.run
        centre, spread = private[0].mean(axis=0), private[0].std(axis=0)
        lower, upper, dims = centre - 4 * spread, centre + 4 * spread, len(centre)
        moments = f'race_moment_params({array(lower)}, {array(upper)}, targets => 0)'
        kernel = (f"race_params('l2', {dims}, {0.15 * dims ** 0.5}, bandwidths => {array(upper - lower)}, "
                  f'lower => {array(lower)}, upper => {array(upper)})')
        for how, params, more in (('release of moments', moments, 'calibrate => 0.25'),
                                  ('release of densities', kernel, 'fit => false, calibrate => 0.1')):
            release = f'{name} {time.monotonic_ns()}'
            run(f"DO $$ BEGIN CALL race_protect('{release}', 'private_rows', 1e6); CALL race_release_sketch('{release}', '{release}', {params}, 'x', "
                f"{epsilon}, label => 'label', labels => '{{{','.join(map(str, range(classes)))}}}', {more}); END $$")
            says = gate.column(f"SELECT race_classify('{release}', x) FROM test_rows ORDER BY id")
            found[how].append(wrong(says))
            if how == 'release of moments':
                highest = gate.column(f"SELECT (SELECT max(value::float8) FROM jsonb_each_text(race_posterior('{release}', x))) FROM test_rows ORDER BY id")
                found['calibration'].append(100 * calibration_error(highest, says.astype(int) == truth))
        run(f'DROP TABLE IF EXISTS c; CREATE TABLE c AS SELECT label, race_privatize(race_build({moments}, x), {epsilon}) AS m FROM private_rows GROUP BY label')
        found['lda'].append(wrong(gate.column("SELECT (SELECT race_classify(label, m, x, 'counts') FROM c) FROM test_rows ORDER BY id")))
        if classes == 2 and seed < 3:
            scale = [(of - public[0].mean(axis=0)) / public[0].std(axis=0) for of in (private[0], tests)]
            found['rival'].append(100 - 100 * max(best_objective_perturbation(
                scale[0], private[1] == 1, scale[1], truth == 1, epsilon, seed)))
    rivals = found.pop('rival')
    rival = np.mean(rivals) if rivals else None
    return {f'{name} classes ε={epsilon:g} {how}, error %': (np.array(errors), rival)
            for how, errors in found.items()}


def regress(gate, real=False, epsilon=1, reps=20):
    """Test error over the variance of the target, in %; noisy sums of products are the rival"""
    random = np.random.default_rng(11)
    if real:
        x = read('airfoil')
        lower, upper = (np.array(v) for v in ((200, 0, 0.025, 31, 0, 103), (20000, 23, 0.305, 72, 0.06, 141)))
        x = 2 * (x - lower) / (upper - lower) - 1
    else:
        x = random.uniform(-1, 1, (3000, 5))
        y = x @ [0.4, -0.3, 0.2, 0.1, 0] + 0.2 * np.sin(3 * x[:, 0]) + 0.1 * random.standard_normal(3000)
        x = np.column_stack([x, np.clip(y, -1, 1)])
    x = x[random.permutation(len(x))]
    tests = x[:len(x) // 5]
    train = x[len(x) // 5:]
    gate.load('train', train)
    gate.load('test', tests)
    params = f'race_moment_params({array([-1] * 6)}, {array([1] * 6)})'

    def error(says):
        return 100 * np.mean((np.clip(says, -1, 1) - tests[:, 5]) ** 2) / np.var(tests[:, 5])
    found = [error(gate.column(
        f'WITH p AS MATERIALIZED (SELECT race_privatize(race_build({params}, x), {epsilon}) AS m FROM train) '
        'SELECT race_predict(m, 6, x[1:5]) FROM p, test ORDER BY id')) for _ in range(gate.reps(reps))]
    rivals = []
    for norm, ridge in ((n, r) for n in (1, 1.5, 2) for r in (0, 10, 30, 100, 300)):
        of = []
        for _ in range(20):
            v = np.column_stack([np.ones(len(train)), train[:, :5]])
            v *= np.minimum(1, norm / np.linalg.norm(v, axis=1, keepdims=True))
            upper = np.triu(random.laplace(0, 7 * norm ** 2 / epsilon, (6, 6)))
            theta = np.linalg.lstsq(v.T @ v + upper + np.triu(upper, 1).T + ridge * np.eye(6), v.T @ train[:, 5] + random.laplace(
                0, 2 * np.sqrt(6) * norm / epsilon, 6), rcond=None)[0]
            of.append(error(np.column_stack([np.ones(len(tests)), tests[:, :5]]) @ theta))
        rivals.append(np.mean(of))
    return {f'{"airfoil" if real else "made"} regression pure ε={epsilon:g}, error %': (np.array(found), min(rivals))}


def minimize(gate, reps=3):
    """Coefficients from a sketch of losses, relative error in %"""
    random = np.random.default_rng(5)
    x = random.uniform(-1, 1, (20000, 3))
    y = np.clip(x @ [0.5, -0.4, 0.2] + 0.1 * random.standard_normal(20000), -1, 1)
    truth = np.linalg.lstsq(x, y, rcond=None)[0]
    gate.load('d', np.column_stack([x, y]))
    found = []
    for seed in range(gate.reps(reps)):
        theta = np.array(gate.session.value(
            "SELECT m.x FROM (SELECT race_fit(race_privatize(race_build(race_params('least_squares', 4, power => 3, radius => 2, "
            f'rows => 512, seed => {seed}), x), 1, {DELTA}, rows => 512)) AS f FROM d) v, race_minimize(f) m').strip('{}').split(','), float)
        found.append(100 * np.linalg.norm(theta - truth) / np.linalg.norm(truth))
    rival = []
    for _ in range(20):
        gram = np.triu(random.laplace(0, 9, (3, 3)))
        rival.append(100 * np.linalg.norm(np.linalg.solve(x.T @ x + gram + np.triu(gram, 1).T, x.T @ y + random.laplace(0, 9, 3)) - truth)
                     / np.linalg.norm(truth))
    return {'least squares by race_minimize δ ε=1, error %': (np.array(found), np.mean(rival))}


def means_by_range(gate, release, dims):
    """Edges of all ranges [range, dim, 2], and of each range the mean, its interval, and the number of records"""
    asked = f"race_trend('{release}', 'v', 'x1')" if dims == 1 else f"race_mean('{release}', 'v', by => '{{x1,x2}}')"
    names = 'value' if dims == 1 else "value1 || value2"
    rows = [line.split('|') for line in gate.session.run(f"SELECT {names}, mean, lower, upper, count FROM {asked} WHERE {names} <> ''")[0]]
    edges = [[edge.split(',') for edge in row[0].strip('[)').split(')[')] for row in rows]
    return np.array(edges, float), np.array([[field or 'nan' for field in row[1:]] for row in rows], float)


def means(gate, what, epsilon=0.1, reps=8):
    """Error of means along columns in thousandths of the range, by steps of half a bandwidth; coverage; noisy means by bin are the rival"""
    random = np.random.default_rng(3)
    if what == 'made':
        x = random.beta(2, 3, (20000, 1))
        value = np.clip(0.5 + 0.3 * np.sin(9 * x[:, 0]) + 0.2 * random.standard_normal(20000), 0, 1)
        bandwidth, lower, upper = np.array([0.06]), np.zeros(1), np.ones(1)
    elif what == 'pulsar':
        table = read('pulsar')
        x, value = table[:, :1], np.clip((table[:, 2] + 2) / 12, 0, 1)
        bandwidth, lower, upper = np.array([10.]), np.zeros(1), np.array([200.])
    else:
        table = read('skin')
        x, value = table[:, :2], table[:, 2] / 255
        bandwidth, lower, upper = np.array([20., 20.]), np.zeros(2), np.array([255., 255.])
    dims, queries = x.shape[1], random.choice(x, 100, replace=False)
    mass, sums = kernel_sums(x / bandwidth, queries / bandwidth, np.column_stack([np.ones(len(x)), value]), 4).T
    truth = sums / mass
    gate.load('d', np.column_stack([x, value]))
    columns = [f'x{i + 1}' for i in range(dims)]
    run = gate.session.run
    run('DROP TABLE IF EXISTS along; CREATE TABLE along AS SELECT '
        + ', '.join(f'x[{i + 1}] AS {name}' for i, name in enumerate(columns + ['v'])) + ' FROM d')
    found, covered = [], []
    for seed in range(gate.reps(reps)):
        name = f'{what} {time.monotonic_ns()}'
        run(f"CALL race_protect('{name}', 'along', 1e6); CALL race_describe('{name}', 'v', 0, 1); "
            + '; '.join(f"CALL race_describe('{name}', '{column}', {lower[i]}, {upper[i]}, step => {bandwidth[i] / 2})" for i, column in enumerate(columns)))
        run(f"CALL race_release('{name}', '{name}', '{{{','.join(columns)}}}', {epsilon}, measure => 'v')")
        edges, answers = means_by_range(gate, name, dims)
        known = np.where(np.isnan(answers[:, 0]), 0, np.maximum(answers[:, 3], 0))
        centers = edges.mean(axis=2)
        asked = kernel_sums(centers / bandwidth, queries / bandwidth, np.column_stack([known, known * np.nan_to_num(answers[:, 0])]), 4)
        mean = np.where(asked[:, 0] > 0, asked[:, 1] / np.maximum(asked[:, 0], 1e-9), 0.5)
        found.append(1e3 * np.sqrt(np.mean((mean - truth) ** 2)))
        lows = [np.unique(edges[:, i, 0]) for i in range(dims)]
        sizes = [len(low) for low in lows]
        place, of_range = (np.ravel_multi_index([np.maximum(np.searchsorted(low, v[:, i], 'right') - 1, 0) for i, low in enumerate(lows)], sizes)
                           for v in (x, centers))
        records, totals = (np.bincount(place, weights, np.prod(sizes))[of_range] for weights in (None, value))
        low, high = np.nan_to_num(answers[:, 1]), np.where(np.isnan(answers[:, 2]), 1, answers[:, 2])
        exact = totals / np.maximum(records, 1)
        covered.append(100 * np.average((low <= exact + 1e-9) & (exact <= high + 1e-9), weights=records))
    rivals = []
    for cells in (4, 8, 16, 32, 64, 128)[:6 if dims == 1 else 4]:
        of = []
        place = np.clip((x - lower) / (upper - lower) * cells, 0, cells - 1).astype(int)
        place = np.ravel_multi_index(place.T, (cells,) * dims)
        centers = (np.stack(np.unravel_index(np.arange(cells ** dims), (cells,) * dims), 1) + 0.5) * (upper - lower) / cells + lower
        for _ in range(6):
            both = np.column_stack([np.bincount(place, weights, cells ** dims) + random.laplace(0, scale / epsilon, cells ** dims)
                                    for weights, scale in ((np.ones(len(x)), 2), (value - 0.5, 1))])
            asked = kernel_sums(centers / bandwidth, queries / bandwidth, both, 4)
            mean = np.clip(np.where(asked[:, 0] > 0, asked[:, 1] / np.maximum(asked[:, 0], 1e-9) + 0.5, 0.5), 0, 1)
            of.append(1e3 * np.sqrt(np.mean((mean - truth) ** 2)))
        rivals.append(np.mean(of))
    what = f'{what} means along columns ε={epsilon:g}'
    return {f'{what}, error': (np.array(found), min(rivals)), f'+{what}, coverage %': (np.array(covered), 95)}


def distance(gate, sequence, reps=24):
    """A shift of one half by a fourteenth of a bandwidth: the power, as the mean of -log10 of p up to 4; false alarms"""
    x = made_density('ring')[0]
    reps = gate.reps(reps)
    box = ", sequence => 'grid', lower => '{0,0}', upper => '{1,1}'" if sequence == 'grid' else ', rows => 16, range => 1024'
    gate.load('d', x)
    p = {}
    for shift in (0, 0.003):
        half = '(SELECT race_build(race_params(\'l2\', 2, 0.04{0}), ARRAY[x[1] + {1}, x[2]]) FROM d WHERE (hashint8(id * 1000 + i) & 1) = {2})'
        p[shift] = gate.column(f'SELECT (race_distance(race_privatize({half.format(box, 0, 0)}, 1, 0{", fit => true" if sequence == "grid" else ", rows => 16"}), '
                               f'race_privatize({half.format(box, shift, 1)}, 1, 0{", fit => true" if sequence == "grid" else ", rows => 16"}))).p_value '
                               f'FROM generate_series(1, {reps}) i')
    found = {f'+distance of {sequence}, ε=1, -log10 p': (-np.log10(np.maximum(p[0.003], 1e-4)), None),
             f'+distance of {sequence}, p of no change': (np.minimum(2 * p[0], 1), 1)}
    return found


# ---------------------------------------------------------------------- speed

def speed(gate, reps=3):
    """Processor time over that of the bare loop on the same records, ratios of the least of three turns"""
    from lsh import Library, Vectors
    from measure import Bare
    bare = Bare(gate.arguments.bare, Library(gate.arguments.library), gate.folder)
    x = np.random.default_rng(1).standard_normal((50000, 3)) * 30
    gate.load('speed', x)
    gate.load('few', x[:1000])
    bare.keep('speed', Vectors(x))
    bare.keep('few', Vectors(x[:1000]))
    run = gate.session.run
    pid = gate.session.value('SELECT pg_backend_pid()')

    def time_of(sql):
        start = cpu_time(pid)
        run(sql)
        return cpu_time(pid) - start
    run("DROP TABLE IF EXISTS k; CREATE TEMP TABLE k AS SELECT race_build('l2(dims=3, bandwidth=5, rows=1024, range=1024, sequence=sobol)', x) AS s FROM speed; "
        'ALTER TABLE k ADD r race_sketch, ADD f race_sketch, ADD g race_sketch; UPDATE k SET r = race_privatize(s, 1, 1e-6, 1024); '
        f"UPDATE k SET f = race_fit(r, lower => {array([-150] * 3)}, upper => {array([150] * 3)}), g = race_privatize((SELECT race_build(race_params('l2', 2, 5, "
        "sequence => 'grid', lower => '{-150,-150}', upper => '{150,150}'), x[1:2]) FROM speed), 1, 0, fit => true)")
    build, ask = ('build', 'speed', 3, 1024), ('hash', 'few', 3, 1024)
    grid = "race_params('l2', 2, 5, sequence => 'grid', lower => '{-150,-150}', upper => '{150,150}')"
    works = {'build of 1024 rows': ("SELECT race_count(race_build('l2(dims=3, bandwidth=5, rows=1024, range=1024, sequence=sobol)', x)) FROM speed", build),
             'build of a grid': (f'SELECT race_count(race_build({grid}, x[1:2])) FROM speed', build),
             'kde raw': ('SELECT sum(race_kde(r, x)) FROM few, k', ask),
             'estimate raw': ('SELECT sum((race_estimate(r, x)).kernel_density) FROM few, k', ask),
             'estimate fitted': ('SELECT sum((race_estimate(f, x)).kernel_density) FROM few, k', ask),
             'estimate of a grid': ('SELECT sum((race_estimate(g, x[1:2])).kernel_density) FROM few, k', ask),
             'race_fit': ('SELECT race_count(race_fit(r)) FROM (SELECT r FROM k) v'.replace('race_fit(r)', f'race_fit(r, lower => {array([-150] * 3)}, upper => {array([150] * 3)})'), build)}
    found = {}
    for name, (sql, of) in works.items():
        ratios = []
        for _ in range(gate.reps(reps)):
            turns = [(time_of(sql), bare.time(*of)) for _ in range(3)]
            ratios.append(min(t for t, _ in turns) / min(t for _, t in turns))
        found[f'speed: {name} over the bare {of[0]}'] = np.array(ratios), 1
    return found


# What each form measures: a name, and the number of releases follows from the task
MADE = {
    'spiky': lambda g: density(g, 'spiky', 1, 'grid', reps=20, interval=True),
    'smooth': lambda g: density(g, 'smooth', 0.1, 'grid', reps=20),
    'smooth, δ': lambda g: density(g, 'smooth', 1, 'grid', DELTA, reps=12, fitted=False),
    'heavy': lambda g: density(g, 'heavy', 1, 'grid', reps=20),
    'line': lambda g: density(g, 'line', 1, 'grid', reps=12, fitted=False),
    'ring': lambda g: density(g, 'ring', 1, 'grid', reps=12, fitted=False, interval=True),
    'samples': samples,
    'tables': lambda g: tables(g, 0.1),
    'regression': regress,
    'means': lambda g: means(g, 'made'),
    'distance': lambda g: distance(g, 'grid')}
LONG = {
    'ring, low': lambda g: density(g, 'ring', 0.1, 'grid', reps=12),
    'clusters': lambda g: density(g, 'clusters', 1, 'grid', reps=6, fitted=False),
    'clusters, rows': lambda g: density(g, 'clusters', 1, 'sobol', DELTA, reps=5),
    'sparse, rows': lambda g: density(g, 'sparse', 1, 'sobol', DELTA, reps=5, interval=True),
    'distance of rows': lambda g: distance(g, 'sobol'),
    'linear classes': lambda g: classify(g, 'linear'),
    'clustered classes': lambda g: classify(g, 'clustered'),
    'clustered classes, low': lambda g: classify(g, 'clustered', 0.1, reps=6),
    'losses': minimize}
REAL = {
    'salaries': lambda g: density(g, 'salaries', 1, 'grid', reps=20, real=True),
    'salary samples': lambda g: samples(g, 'salaries', 1, real=True),
    'skin': lambda g: density(g, 'skin', 1, 'grid', reps=5, fitted=False, real=True),
    'pulsar': lambda g: density(g, 'pulsar', 1, 'sobol', reps=5, real=True),
    'pulsar classes': lambda g: classify(g, 'pulsar', reps=4),
    'airfoil': lambda g: regress(g, real=True),
    'pulsar means': lambda g: means(g, 'pulsar'),
    'skin means': lambda g: means(g, 'skin', reps=5)}


def student(degrees):
    """What Student's t exceeds as rarely as a normal number three"""
    z, v = ERRORS, degrees
    return z + (z ** 3 + z) / 4 / v + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96 / v ** 2


def worse(name, mean, error, recorded, recorded_error):
    by = (recorded - mean) if name.startswith('+') else (mean - recorded)
    both = math.hypot(error, recorded_error)
    degrees = max(4, 5 * (both / error) ** 4) if error > both / 100 else math.inf
    return by > MARGIN * abs(recorded) and by > student(min(degrees, 1e6)) * both


def worse_again(number, recorded, again, measured):
    """In as many more measurements, which are made as long as it is; `again` has those of its task."""
    for i in range(MORE):
        if i == len(again):
            again.append(measured())
        if not worse(number, *again[i][number][:2], *recorded[number][:2]):
            return False
    return True


def summary(values):
    return values.mean(), values.std(ddof=1) / math.sqrt(len(values))


def read_record():
    try:
        with open(RECORD) as file:
            lines = [line.rstrip('\n').split('\t') for line in file if not line.startswith('#')]
        return {line[0]: tuple(float(v) if v != '-' else None for v in line[1:]) for line in lines}
    except FileNotFoundError:
        return {}


def measure(name, task, arguments, times):
    """{number: (mean, standard error, rival)} of a task; a failure fails the gate by name"""
    start, cpu = time.monotonic(), time.process_time()
    with Session() as session:
        session.run('SET client_min_messages = error')
        found = task(Gate(session, arguments, times))
        cpu = time.process_time() - cpu + cpu_time(session.value('SELECT pg_backend_pid()'))
    print(f'# {name}: {time.monotonic() - start:.0f} s, {cpu:.0f} of CPU', file=sys.stderr, flush=True)
    return {number: (*summary(values), rival) for number, (values, rival) in found.items()}


def show(value):
    return '-' if value is None else f'{value:.4g}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--short', action='store_true')
    parser.add_argument('--record', type=int)
    for name in ('bare', 'library', 'folder'):
        parser.add_argument(name)
    parser.add_argument('tasks', nargs='*')
    arguments = parser.parse_args()
    tasks = dict(MADE)
    if not arguments.short:
        tasks.update(LONG)
        tasks.update(REAL if os.environ.get('RACEPRIV_DATA') else {})
        tasks['speed'] = speed
    if arguments.tasks:
        tasks = {name: task for name, task in tasks.items() if name in arguments.tasks}
    recorded, kept, failed, passed = read_record(), {}, 0, 0
    print(f'{"number":58} {"now":>16} {"recorded":>16} {"rival":>8}  verdict')
    for name, task in tasks.items():
        try:
            found = measure(name, task, arguments, arguments.record or 1)
            again = []
            for number, (mean, error, rival) in found.items():
                kept[number] = mean, error, rival
                verdict = 'new'
                if number in recorded:
                    verdict = 'ok'
                    if worse(number, mean, error, *recorded[number][:2]):
                        verdict = 'WORSE' if worse_again(number, recorded, again, lambda: measure(
                            name, task, arguments, 1)) else 'ok when measured again'
                    elif worse('' if number.startswith('+') else '+', mean, error, *recorded[number][:2]):
                        verdict = 'better: record it'
                failed, passed = failed + (verdict == 'WORSE'), passed + (verdict != 'WORSE')
                of = recorded.get(number, (None, None))
                print(f'{number:58} {show(mean):>8} ±{show(error):>6} {show(of[0]):>8} ±{show(of[1]):>6} {show(rival):>8}  {verdict}', flush=True)
        except Exception:           # a task that breaks fails, and the others go on
            traceback.print_exc()
            print(f'{name:58} broke: WORSE', flush=True)
            failed += 1
    if arguments.record:
        with open(RECORD, 'w') as file:
            file.write('# number, mean, standard error, rival: written by gate.py --record\n')
            for number, line in (recorded | kept).items():
                file.write('\t'.join([number, *map(show, line)]) + '\n')
    print(f'gate: {passed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
