"""Samples, modes and quantiles of private sketches, beside other methods: prints tables, writes them to a file.

learn_samples.py FOLDER RESULTS [PART ...]: a folder to work in, the file to write, and parts if
not all: salaries pulsar mixed modes times.  It needs a server with racepriv (PGHOST and so on)
where accuracy.sql has run.  test/bench/run learn-samples has it all.
"""
import sys
import time

import numpy as np

import learn_others as others
import mixed_tables
from accuracy_tasks import DELTA, numbers
from fit_tasks import BOUNDS, SEEDS
from report import Report
from server import Session, load

BANDWIDTHS = {'salaries': 5000, 'skin': 5, 'pulsar': 0.2}    # those of accuracy_tasks.py
QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9]
DRAWN = 100_000
MARGIN = 1.96
PUBLIC = 2000           # records of each class that fits may use
RADII = [2, 2.5, 3]     # that moments of [1, x] in [-1, 1] are clipped to

INTRODUCTION = f"""# Samples, modes and quantiles

Written by `test/bench/run learn-samples`.

{SEEDS} releases of each, bandwidths, bounds and tables as in the other benchmarks.  What is fitted
is fitted within public bounds.  Other methods are NumPy, at the best setting in hindsight (in
brackets), and are given bounds and counts of classes for nothing."""


def vectors(session, sql):
    return np.array([numbers(line) for line in session.run(sql)[0]])


def grid(task, dims):
    bounds = ["'{" + ','.join([f'{bound:g}'] * dims) + "}'" for bound in (0, BOUNDS[task])]
    return (f"race_params('l2', {dims}, {BANDWIDTHS[task]}, sequence => 'grid', "
            f'lower => {bounds[0]}, upper => {bounds[1]})')


def release(session, table, epsilon, params):
    """A table `fitted` of releases of a table, with a model"""
    session.run(f'DROP TABLE IF EXISTS fitted; CREATE TEMP TABLE fitted AS SELECT seed, race_fit('
                f'race_privatize(s, {epsilon}, 0, fit => true)) AS s FROM (SELECT race_build({params}, x) '
                f'AS s FROM {table}) b, generate_series(1, {SEEDS}) seed')


# ------------------------------------------------------------------- salaries

def wasserstein(x, y):
    """Between two sets of numbers"""
    both = np.sort(np.concatenate([x, y]))
    of_x, of_y = (np.searchsorted(np.sort(v), both[:-1], 'right') / len(v) for v in (x, y))
    return np.sum(np.abs(of_x - of_y) * np.diff(both))


def histogram_errors(truth, epsilon, cells):
    """Of the seeds: Wasserstein distance, and the largest relative error of a quantile in %"""
    upper = BOUNDS['salaries']
    errors = []
    for seed in range(SEEDS):
        random = np.random.default_rng(seed)
        p = others.noisy_histogram(truth, upper, cells, epsilon, random)
        quantiles = others.quantiles_of_histogram(p, upper, QUANTILES)
        errors.append((wasserstein(truth, others.sample_histogram(p, upper, DRAWN, random)),
                       100 * np.max(np.abs(quantiles / np.quantile(truth, QUANTILES) - 1))))
    return np.array(errors).T


def best_histogram(truth, epsilon, what):
    return min((np.median(histogram_errors(truth, epsilon, cells)[what]), cells)
               for cells in others.CELLS)


def salaries(session, report):
    truth = vectors(session, 'SELECT x FROM salaries')[:, 0]
    report.heading('Salaries: samples and quantiles')
    report.write('A grid, pure ε.  Wasserstein distance in dollars; of quantiles '
                 f'{QUANTILES} the largest relative error in %: medians, and the largest.\n')
    lines = []
    for epsilon, most in ((0.1, 1700), (1, 430)):
        release(session, 'salaries', epsilon, grid('salaries', 1))
        distances, errors, covered = [], [], []
        for seed in range(1, SEEDS + 1):
            x = vectors(session, f'SELECT x FROM fitted, race_sample(s, {DRAWN}, {seed}) '
                                 f'f(x, r) WHERE seed = {seed}')[:, 0]
            distances.append(wasserstein(truth, x))
            found = np.array([line.split('|') for line in session.run(
                f'SELECT value, standard_error FROM fitted, race_quantile(s, ARRAY{QUANTILES}) '
                f'WHERE seed = {seed}')[0]], float)
            miss = np.abs(found[:, 0] - np.quantile(truth, QUANTILES))
            errors.append(100 * np.max(miss / np.quantile(truth, QUANTILES)))
            covered.append(np.mean(miss <= MARGIN * found[:, 1]))
        best = [best_histogram(truth, epsilon, what) for what in (0, 1)]
        lines.append((f'{epsilon:g}', f'{np.median(distances):,.0f} / {max(distances):,.0f}',
                      f'{best[0][0]:,.0f} ({best[0][1]})',
                      f'{np.median(errors):.2f} / {max(errors):.2f}',
                      f'{best[1][0]:.2f} ({best[1][1]})', f'{100 * np.mean(covered):.0f}'))
        report.at_most(f'salaries, ε = {epsilon:g}: Wasserstein distance, dollars',
                       np.median(distances), most)
        report.at_most(f'salaries, ε = {epsilon:g}: Wasserstein distance over the histogram',
                       np.median(distances) / best[0][0], 1)
    report.at_most('salaries, ε = 1: largest error of a quantile in all releases', max(errors), 1,
                   ' %')
    report.table(('ε', 'distance', 'histogram (cells)', 'quantiles', 'histogram (cells)',
                  'coverage of ± 1.96 standard errors, %'), lines)


# --------------------------------------------------------------------- pulsar

def logistic(x, y):
    """A classifier: logistic regression with a little ridge, by Newton's method"""
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.column_stack([(x - mean) / spread, np.ones(len(x))])
    ridge = 1e-3 * np.eye(z.shape[1])
    ridge[-1, -1] = 1e-9
    w = np.zeros(z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        hessian = (z * (p * (1 - p))[:, None]).T @ z / len(y) + ridge
        w -= np.linalg.solve(hessian, z.T @ (p - y) / len(y) + ridge @ w)
    return lambda q: np.column_stack([(q - mean) / spread, np.ones(len(q))]) @ w > 0


def correlation_error(x, y, real):
    """The largest difference of correlations, of columns and class"""
    return np.max(np.abs(np.corrcoef(np.column_stack([x, y]).T) - real))


def release_classes(session, seed, epsilon):
    """A table of sketches, one for each class"""
    bounds = ["'{" + ','.join([bound] * 8) + "}'" for bound in '01']
    session.run('DROP TABLE IF EXISTS classes; CREATE TEMP TABLE classes AS SELECT class, '
                f'race_privatize(s, {epsilon}, {DELTA}) AS s FROM (SELECT class, '
                f"race_build(race_params('l2', 8, {BANDWIDTHS['pulsar']}, seed => {seed}, "
                f'lower => {bounds[0]}, upper => {bounds[1]}), x) AS s FROM pulsars '
                'WHERE quarter < 2 GROUP BY class) c')


FITS = {'race_sample': 'race_fit(s) FROM classes',
        'race_sample, fitted to public records':
            'race_fit(s, x) FROM classes JOIN (SELECT class, x, row_number() OVER (PARTITION BY class '
            f'ORDER BY id) AS i FROM pulsars WHERE quarter = 2) p USING (class) WHERE i <= {PUBLIC} '
            'GROUP BY class'}


def sample_classes(session, seed, fit):
    """Records of both classes, as many as each noisily has"""
    session.run(f'DROP TABLE IF EXISTS fitted; CREATE TEMP TABLE fitted (class, s) AS SELECT class, {fit}')
    lines = session.run('SELECT class, v.x FROM fitted, LATERAL race_sample(s, '
                        f'greatest(race_count(s), 1)::int, {seed}) v')[0]
    classes, x = zip(*(line.split('|') for line in lines))
    return np.array([numbers(text) for text in x]), np.array(classes, int)


def sample_gaussians(x, y, radius, seed):
    random = np.random.default_rng(seed)
    classes = [others.sample_gaussian(x[y == c], radius, 1, random) for c in (0, 1)]
    return np.concatenate(classes), np.repeat([0, 1], [len(of) for of in classes])


def made_classes(session, x, y, seed):
    """Samples of each method: records and their classes"""
    release_classes(session, seed, 1)
    for name, fit in FITS.items():
        yield name, sample_classes(session, seed, fit)
    for radius in RADII:
        yield f'Gaussian of each class, radius {radius:g}', sample_gaussians(x, y, radius, seed)


def pulsar(session, report):
    lines = session.run('SELECT quarter, class, x FROM pulsars ORDER BY id')[0]
    quarter, y, x = (np.array(column) for column in zip(*(line.split('|') for line in lines)))
    x, y = np.array([numbers(text) for text in x]), y.astype(int)
    built, tested = quarter.astype(int) < 2, quarter == '3'
    real = np.corrcoef(np.column_stack([x[built], y[built]]).T)

    def score(of_x, of_y):
        return (100 * np.mean(logistic(of_x, of_y)(x[tested]) == y[tested]),
                correlation_error(of_x, of_y, real))
    found = {}
    for seed in range(1, SEEDS + 1):
        for name, samples in made_classes(session, x[built], y[built], seed):
            found.setdefault(name, []).append(score(*samples))
    accuracy = score(x[built], y[built])[0]
    report.heading('Pulsar: a model trained on samples')
    report.write(f'A sketch for each class of half of the records, ε = 1, δ = {DELTA:g}; logistic regression '
                 'tested on a quarter, in %:\ntrained on the real half '
                 f'{accuracy:.2f}.  And the largest difference of correlations, of columns and class.  Median and '
                 f'worst.\nPublic records, at most {PUBLIC} of each class, are those of the other quarter.\n')
    report.table(('samples of', 'accuracy', 'correlations'),
                 [(name, f'{np.median(scores):.2f} / {min(scores):.2f}',
                   f'{np.median(differences):.3f} / {max(differences):.3f}')
                  for name, of in found.items() for scores, differences in [zip(*of)]])
    for name in FITS:
        scores, differences = np.array(found[name]).T
        report.at_most(f'pulsar, {name}: points lost by training on samples',
                       accuracy - np.median(scores), 0.5)
        report.at_most(f'pulsar, {name}: largest difference of correlations',
                       np.median(differences), 0.1)


# ---------------------------------------------------------------- mixed tables

CANDIDATES = 20_000     # records made up at random, of which the fit of a product chooses its points
MIXED_BANDWIDTH = 0.125
PAIRS = 'race_crosstab'
SAMPLES = 'race_synthesize'
PRODUCT = 'race_sample, l2 * match'
MOMENTS = 'race_moments of indicators'
PRODUCT_OF = '5 columns'        # the table that it is tried on


def load_product(session, folder, x, categories, sizes):
    load(session, folder, 'mixed_numbers', x)
    load(session, folder, 'mixed_codes', categories.astype(float))
    session.run('CREATE TABLE mixed AS SELECT n.x, c.x::int[] AS c FROM mixed_numbers n '
                'JOIN mixed_codes c USING (id)')
    codes = ', '.join(f'floor({size} * random())' for size in sizes)
    session.run('SET seed = 0.5; CREATE TABLE mixed_candidates AS SELECT ARRAY[random(), random()] AS x, '
                f'ARRAY[{codes}]::int[] AS c FROM generate_series(1, {CANDIDATES}); '
                'CREATE TYPE mixed_row AS (age float8, income float8, sex int, town int, school int)')


def sample_product(session, epsilon, seed):
    """The power is so that all categories count together"""
    session.run('DROP TABLE IF EXISTS released, fitted; CREATE TEMP TABLE released AS SELECT race_privatize('
                f"race_build(race_params('l2', 2, {MIXED_BANDWIDTH}, seed => {seed}, lower => '{{0,0}}', "
                f"upper => '{{1,1}}') * race_params('match', 3, power => 3, seed => {seed}), ROW(x, c)), "
                f'{epsilon}, fit => true) AS s FROM mixed; '
                'CREATE TEMP TABLE fitted AS SELECT race_fit(s, ROW(x, c)) AS s FROM released, mixed_candidates')
    lines = session.run(f'SELECT v.* FROM fitted, LATERAL race_sample(NULL::mixed_row, s, {DRAWN}, {seed}) v')[0]
    values = np.array([line.split('|') for line in lines], float)
    return mixed_tables.coded(values[:, :2], values[:, 2:].astype(int))


def load_indicators(session, folder, table, codes, sizes):
    """A column for each category and each bin, 1 in records that have it"""
    first = np.concatenate([[0], np.cumsum(sizes)])
    x = np.zeros((len(codes), first[-1]))
    for j in range(len(sizes)):
        x[np.arange(len(codes)), first[j] + codes[:, j]] = 1
    load(session, folder, table, x)


def marginals_of_moments(session, table, epsilon, sizes, pairs):
    """Private moments of indicators are counts of pairs.  Records all have the same norm, which
    is that of `clip => 'absolute'`, for pure noise; by it nothing is clipped."""
    ones = 1 + len(sizes)
    width = sum(sizes)
    line = session.value(
        'SELECT (race_moments_matrix(race_privatize(race_sketch(race_moment_params('
        f"array_fill(-1::float8, ARRAY[{width}]), array_fill(1::float8, ARRAY[{width}]), norm => "
        f"sqrt({ones * (ones + 1) // 2}), targets => 0, clip => 'absolute'), x), {epsilon}))).scaled "
        f'FROM {table}')
    counts = np.array(line.replace('{', '').replace('}', '').split(','), float)
    counts = counts.reshape(1 + width, 1 + width)[1:, 1:]
    first = np.concatenate([[0], np.cumsum(sizes)])
    return {(i, j): others.positive(counts[first[i]:first[i + 1], first[j]:first[j + 1]])
            for i, j in pairs}


def marginals_of(codes, sizes, pairs):
    return {(i, j): others.positive(others.pair_table(codes, sizes, i, j)) for i, j in pairs}


def marginal_error(marginals, truth):
    """Mean total variation distance of all two-way marginals"""
    return np.mean([np.abs(marginals[pair] - truth[pair]).sum() / 2 for pair in truth])


def independence(truth):
    """The marginals that independent columns with the true distributions would have"""
    return {pair: np.outer(table.sum(1), table.sum(0)) for pair, table in truth.items()}


def made_marginals(session, name, codes, sizes, pairs, epsilon, seed):
    """Two-way marginals of each method; samples have the same number of records"""
    random = np.random.default_rng(seed)
    released = mixed_tables.release(session, f'codes_{len(sizes)}', sizes, epsilon)
    counts = mixed_tables.released_tables(session, released, sizes, pairs)
    yield PAIRS, {pair: others.positive(table) for pair, table in counts.items()}
    yield SAMPLES, marginals_of(mixed_tables.synthetic_codes(session, released, DRAWN, seed), sizes, pairs)
    if name == PRODUCT_OF:
        yield PRODUCT, marginals_of(sample_product(session, epsilon, seed), sizes, pairs)
    yield MOMENTS, marginals_of_moments(session, f'indicators_{len(sizes)}', epsilon, sizes, pairs)
    yield 'PrivBayes, one parent', marginals_of(
        others.bayes_network(codes, sizes, epsilon, random, DRAWN), sizes, pairs)
    yield 'all pairs, Laplace', others.all_pairs(codes, sizes, epsilon, random)


def mixed_table(session, report, folder, name, make):
    """Lines of the table of results, for each epsilon"""
    x, categories, of_categories = make()
    codes = mixed_tables.coded(x, categories)
    sizes = [mixed_tables.BINS] * x.shape[1] + list(of_categories)
    truth = marginals_of(codes, sizes, [(i, j) for i in range(len(sizes)) for j in range(i)])
    load(session, folder, f'codes_{len(sizes)}', codes.astype(float))
    load_indicators(session, folder, f'indicators_{len(sizes)}', codes, sizes)
    if name == PRODUCT_OF:
        load_product(session, folder, x, categories, of_categories)
    for epsilon in (0.1, 1):
        found = {}
        for seed in range(1, SEEDS + 1):
            for method, marginals in made_marginals(session, name, codes, sizes, truth, epsilon, seed):
                found.setdefault(method, []).append(marginal_error(marginals, truth))
        better = min(np.median(of) for method, of in found.items() if not method.startswith('race'))
        for method in (PAIRS, SAMPLES):
            report.at_most(f'mixed, {name}, ε = {epsilon:g}: two-way marginals of {method}, over the better other',
                           np.median(found[method]) / better, 1)
        yield (name, f'{epsilon:g}', *(f'{np.median(found[m]):.3f} / {max(found[m]):.3f}' if m in found else ''
                                       for m in METHODS), f'{marginal_error(independence(truth), truth):.3f}')


METHODS = (PAIRS, SAMPLES, PRODUCT, MOMENTS, 'PrivBayes, one parent', 'all pairs, Laplace')


def mixed(session, report, folder):
    report.heading('Mixed tables: two-way marginals of samples')
    report.write(f'Made-up records of numbers, in {mixed_tables.BINS} bins, and categories (mixed_tables.py).  Mean total variation distance of all pairs '
                 'of columns,\npure ε: median and worst.  race_crosstab and race_synthesize ask a release by columns.  '
                 f'Samples are {DRAWN:,} records, of all methods.  "l2 * match" is fitted to '
                 f'{CANDIDATES:,} records made up at\nrandom.  "independent": the true columns, as if they were independent.  '
                 'Methods were chosen on the first three tables.\n')
    lines = []
    for name, make in mixed_tables.TABLES.items():
        lines += mixed_table(session, report, folder, name, make)
    report.table(('table', 'ε', *METHODS, 'independent'), lines)


# ---------------------------------------------------------------------- modes

def exact_mode(session):
    """Of skin: from the densest of the commonest colours, in ever smaller steps"""
    kernel = f"'l2(bandwidth={BANDWIDTHS['skin']})'"

    def densities(places):
        values = ', '.join(f"({i}, '{{{','.join(map(str, x))}}}'::float8[])" for i, x in enumerate(places))
        return np.array(session.run(
            f'SELECT sum(n * race_kernel({kernel}, x, q)) / sum(n) FROM colours, (VALUES {values}) p (i, q) '
            'GROUP BY i ORDER BY i')[0], float)
    session.run('CREATE TEMP TABLE colours AS SELECT x, count(*) AS n FROM skin GROUP BY x')
    common = vectors(session, 'SELECT x FROM colours ORDER BY n DESC, x LIMIT 300')
    x = common[densities(common).argmax()]
    step = BANDWIDTHS['skin'] / 2
    best = densities([x])[0]
    while step > 0.02:
        around = [x + step * axis for axis in np.vstack([np.eye(3), -np.eye(3)])]
        of = densities(around)
        if of.max() > best:
            x, best = around[of.argmax()], of.max()
        else:
            step /= 2
    return x, best, densities


def modes(session, report):
    x, best, densities = exact_mode(session)
    records = vectors(session, 'SELECT x FROM skin')
    found = {}
    for name, fit in (('race_modes, fitted', 'race_fit'), ('race_modes, without a fit', '')):
        release(session, 'skin', 0.1, grid('skin', 3)) if fit else session.run(
            'CREATE TEMP TABLE raw AS SELECT seed, race_privatize(s, 0.1, 0, fit => true) AS s FROM (SELECT '
            f"race_build({grid('skin', 3)}, x) AS s FROM skin) b, generate_series(1, {SEEDS}) seed")
        found[name] = vectors(session, f"SELECT x FROM {'fitted' if fit else 'raw'}, LATERAL "
                                       '(SELECT x FROM race_modes(s, 1)) m ORDER BY seed')
    for side in (16, 32, 64, 128):
        found[f'histogram, {side}³ cells'] = np.array([
            others.mode_of_histogram(records, 256, side, 0.1, np.random.default_rng(seed))
            for seed in range(SEEDS)])
    report.heading('Skin: the mode')
    report.write(f'Pure ε = 0.1.  The distance of the most prominent mode from the exact one ({np.round(x, 1)}), in '
                 'bandwidths,\nand the exact density there over the highest: median and worst.\n')
    lines = []
    for name, places in found.items():
        distances = np.linalg.norm(places - x, axis=1) / BANDWIDTHS['skin']
        ratios = 100 * densities(places) / best
        lines.append((name, f'{np.median(distances):.2f} / {distances.max():.2f}',
                      f'{np.median(ratios):.2f} / {ratios.min():.2f}'))
        if name.startswith('race_modes'):
            report.at_most(f'skin, {name}: distance of the mode, every release', distances.max(), 0.3)
            report.at_least(f'skin, {name}: density at the mode, every release', ratios.min(), 98, ' %')
    report.table(('method', 'distance', 'density, %'), lines)


# ---------------------------------------------------------------------- times

def times(session, report):
    session.run('DROP TABLE IF EXISTS pulsar_model; CREATE TEMP TABLE pulsar_model AS SELECT race_fit(race_build('
                f"race_params('l2', 8, {BANDWIDTHS['pulsar']}), x), lower => '{{0,0,0,0,0,0,0,0}}', "
                "upper => '{1,1,1,1,1,1,1,1}') AS s FROM pulsar")
    session.run('DROP TABLE IF EXISTS salary_model; CREATE TEMP TABLE salary_model AS SELECT race_fit(race_build('
                f"{grid('salaries', 1)}, x)) AS s FROM salaries")
    session.run('DROP TYPE IF EXISTS eight; CREATE TYPE eight AS (a float8, b float8, c float8, d float8, e float8, f float8, g float8, h float8)')
    report.heading('Time')
    lines = []
    for name, base, model in (('salaries, 1-d', '', 'salary_model'), ('pulsar, 8-d', '', 'pulsar_model'),
                              ('pulsar, as a table', 'NULL::eight, ', 'pulsar_model')):
        seconds = [min(session.time(f'SELECT count(*) FROM {model}, race_sample({base}s, {n}, 1)')
                       for _ in range(3)) for n in (1000, DRAWN)]
        lines.append((name, *(f'{1000 * s:.1f}' for s in seconds)))
        report.at_most(f'{name}: seconds for {DRAWN:,} records', seconds[1], 2)
    report.table(('records of', '1,000, ms', f'{DRAWN:,}, ms'), lines)


PARTS = {'salaries': salaries, 'pulsar': pulsar, 'mixed': mixed, 'modes': modes, 'times': times}


def main():
    folder, path, *names = sys.argv[1:]
    start = time.monotonic()
    report = Report()
    report.write(INTRODUCTION)
    with Session() as session:
        session.run('SET client_min_messages = error')
        for name, part in PARTS.items():
            if not names or name in names:
                part(session, report, *([folder] if name == 'mixed' else []))
    report.conclude()
    report.keep(path, start)


if __name__ == '__main__':
    main()
