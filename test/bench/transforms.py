"""Pulsar: what transforms learned from public rows do for private classifiers.

Each transform gets its bandwidth and power from the public rows alone, by the same
procedure: each public row is classified by the others, with the exact kernel and the
noise that a release will have, and what scores best by the measure in question wins.
91 % of the records are of one class: accuracy by itself says little.
"""
import ctypes
import dataclasses

import numpy as np

from accuracy_tasks import DELTA, numbers
from logistic import best_objective_perturbation

PUBLIC = 1000
FEW = [50, 200, 500]
SEEDS = 11
DIMS = 8
EPSILON = 1
POWERS = [1, 2, 4]
FACTORS = np.array([1 / 4, 1 / 2, 1, 2, 4])     # bandwidths, of the median distance
DELTAS = [0, DELTA]
PRIVACY = ['pure', f'δ = {DELTA:g}']
MEASURES = ['accuracy', 'balanced', 'AUC']
DRAWS = 8           # of noise, to choose by
SCALED = 1          # the transform that others are held against: columns scaled
CLAIMED = [2, 4]    # those that are to raise accuracy: race_whiten, race_discriminant

COLUMNS = ', '.join(f'x{i + 1}' for i in range(DIMS))


@dataclasses.dataclass
class Transform:
    name: str
    matrix: np.ndarray          # as race_params applies it, but for the bandwidth
    argument: str = ''          # of race_params


def array_of(x):
    """As text, a float8[] or float8[][]"""
    return '{' + ','.join(map(repr, x.tolist()) if x.ndim == 1 else map(array_of, x)) + '}'


def map_of(name, matrix, origin):
    return Transform(name, matrix, f"transform => race_transform('{array_of(matrix)}', "
                                   f"'{array_of(origin)}')")


def covariance_within(x, is_pulsar):
    """Of the classes, weighted by their records"""
    parts = [np.cov(x[is_pulsar == c].T) * (np.sum(is_pulsar == c) - 1) for c in (0, 1)]
    return sum(parts) / (len(x) - 2)


def by_database(session, name, aggregate):
    matrix, origin = (numbers(session.value(
        f'SELECT array(SELECT unnest(({aggregate}).{field})) FROM split '
        "WHERE part = 'public'")) for field in ('matrix', '"offset"'))
    return map_of(f'{name}: {aggregate}', matrix.reshape(-1, DIMS), origin)


def fisher(x, is_pulsar):
    """The direction that tells classes apart, without shrinkage"""
    within = covariance_within(x, is_pulsar)
    apart = x[is_pulsar].mean(axis=0) - x[~is_pulsar].mean(axis=0)
    direction = np.linalg.solve(within, apart)
    return direction / np.sqrt(direction @ within @ direction)


def white_within(x, is_pulsar):
    return np.linalg.inv(np.linalg.cholesky(covariance_within(x, is_pulsar)))


def differing_directions(z, is_pulsar, n):
    """In which the classes vary most differently, of records white within classes"""
    a, b = (np.cov(z[is_pulsar == c].T) for c in (0, 1))
    values, vectors = np.linalg.eigh(b - a)
    return vectors[:, np.argsort(-np.abs(values))[:n]].T


def learn_by_database(session, x):
    """Transforms from public rows and, those of the last two, their labels"""
    yield Transform('none: one bandwidth', np.eye(DIMS))
    deviations = x.std(axis=0)
    yield Transform('columns scaled', np.diag(1 / deviations),
                    f"bandwidths => '{array_of(deviations)}'")
    yield by_database(session, 'whitened', 'race_whiten(x)')
    yield by_database(session, 'within classes', 'race_whiten(x, class)')
    yield by_database(session, 'Fisher', 'race_discriminant(class, x)')


def learn(session, x, is_pulsar):
    """The last one is what might be better yet"""
    yield from learn_by_database(session, x)
    origin, white = x.mean(axis=0), white_within(x, is_pulsar)
    directions = differing_directions((x - origin) @ white.T, is_pulsar, 2)
    apart = white @ (x[is_pulsar].mean(axis=0) - x[~is_pulsar].mean(axis=0))
    outputs = np.linalg.qr(np.vstack([apart, directions]).T)[0].T @ white
    yield map_of('Fisher and 2 of differing variance', outputs, origin)


def learn_of_few(session, x, is_pulsar):
    """The last ones are what shrinkage is held against"""
    yield from learn_by_database(session, x)
    origin = x.mean(axis=0)
    yield map_of('within classes, not shrunken', white_within(x, is_pulsar), origin)
    yield map_of('Fisher, not shrunken', fisher(x, is_pulsar)[None], origin)


# ---------------------------------------------------------------- how good it is

def posterior(densities):
    """Of the second class, a uniform prior; as race_posterior"""
    densities = np.maximum(densities, 0)
    total = densities.sum(axis=0)
    return np.where(total > 0, densities[1] / np.where(total > 0, total, 1), 0.5)


def balanced_accuracy(says, is_pulsar):
    return (np.mean(says[is_pulsar]) + np.mean(~says[~is_pulsar])) / 2


def auc(scores, is_pulsar):
    """The probability that a pulsar scores above another record, ties counted half"""
    _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    pulsars, others = np.sum(is_pulsar), np.sum(~is_pulsar)
    return (ranks[is_pulsar].sum() - pulsars * (pulsars + 1) / 2) / (pulsars * others)


def measures_of(says, scores, is_pulsar):
    """MEASURES, of what is said of each record and of its score"""
    return (np.mean(says == is_pulsar), balanced_accuracy(says, is_pulsar),
            auc(scores, is_pulsar))


# ------------------------------------------- bandwidth and power, by public rows

class Kernel:
    """l2 of power 1 by distance in bandwidths, from a table"""
    distances = np.concatenate([[0], np.geomspace(1e-4, 1e6, 8000)])

    def __init__(self, library):
        exact = library.lsh.race_l2_kernel
        exact.restype, exact.argtypes = ctypes.c_double, [ctypes.c_double]
        self.values = np.array([exact(c) for c in self.distances])

    def __call__(self, distance):
        return np.interp(distance, self.distances, self.values)


def distances_of(x):
    squares = np.sum(x * x, axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0))


def noise_of(delta, records):
    """The standard deviation, in records, of an estimate of a release at epsilon 1: of
    Laplace noise with the rows that race_privatize chooses, or of Gaussian noise"""
    rows = min(2 ** round(np.log2(0.19 * records ** 0.8)), 1024)
    return np.sqrt(2 * rows) / 0.95 if delta == 0 else 4.8


def left_out_densities(kernels, is_pulsar, built_by_public, delta):
    """[class, draw of noise, row]: from the other public rows"""
    kernels = kernels - np.eye(len(kernels))
    random = np.random.default_rng(1)
    densities = []
    for c in (0, 1):
        members = is_pulsar == c
        records = np.sum(members) * built_by_public
        noise = random.standard_normal((DRAWS, len(kernels))) * noise_of(delta, records)
        densities.append(kernels[:, members].sum(axis=1) / (np.sum(members) - members)
                         + noise / records)
    return np.array(densities)


def score(kernels, is_pulsar, built_by_public):
    """[delta, measure] of public rows, the mean over draws of noise"""
    draws = (left_out_densities(kernels, is_pulsar, built_by_public, delta).swapaxes(0, 1)
             for delta in DELTAS)
    return [np.mean([measures_of(draw[1] > draw[0], posterior(draw), is_pulsar)
                     for draw in of_delta], axis=0) for of_delta in draws]


def choose(kernel, transform, x, is_pulsar, built_by_public):
    """The bandwidths and powers that serve public rows best: [delta][measure]"""
    distances = distances_of((x - x.mean(axis=0)) @ transform.matrix.T)
    choices, scores = [], []
    for bandwidth in np.median(distances) * FACTORS:
        kernels = kernel(distances / bandwidth)
        for power in POWERS:
            choices.append((float(bandwidth), power))
            scores.append(score(kernels ** power, is_pulsar, built_by_public))
    return [[choices[i] for i in best] for best in np.argmax(scores, axis=0)]


# ------------------------------------------------------------------ the database

def load(session):
    session.run('CREATE TABLE pulsar_csv (id serial, '
                + ''.join(f'x{i + 1} float8, ' for i in range(DIMS)) + 'class int)')
    session.run(f'\\copy pulsar_csv ({COLUMNS}, class) FROM PROGRAM '
                '\'zcat "$RACEPRIV_DATA"/pulsar.csv.gz\' (FORMAT csv, HEADER)\n')


def split(session, seed, public):
    """Public rows at random, and of the others half to build from, half to test"""
    session.run(f'CREATE TABLE split AS SELECT class, ARRAY[{COLUMNS}] AS x, '
                f"CASE WHEN place <= {public} THEN 'public' WHEN place % 2 = 0 THEN 'build' "
                "ELSE 'test' END AS part FROM (SELECT *, row_number() OVER "
                f'(ORDER BY hashint8extended(id, {seed}), id) AS place FROM pulsar_csv) p')
    session.run('ANALYZE split')
    lines, _ = session.run("SELECT class, x FROM split WHERE part = 'public'")
    classes, vectors = zip(*(line.split('|') for line in lines))
    return np.array([numbers(vector) for vector in vectors]), np.array(classes) == '1'


def test(session, transform, bandwidth, power, delta, seed):
    """MEASURES of private sketches of the classes"""
    argument = f', {transform.argument}' if transform.argument else ''
    params = (f"race_params('l2', {DIMS}, {bandwidth!r}, {power}, seed => {seed}{argument})")
    session.run('CREATE TABLE released AS SELECT s[1] AS others, s[2] AS pulsars FROM '
                f'(SELECT array_agg(race_privatize(s, {EPSILON}, {delta}) ORDER BY class) AS s '
                f"FROM (SELECT class, race_build({params}, x) AS s FROM split "
                "WHERE part = 'build' GROUP BY class) c) released")
    lines, _ = session.run(
        'SELECT class, (SELECT race_classify(i, sketch, x) FROM (VALUES (1, others), (2, pulsars)) '
        'c (i, sketch)), race_kde(others, x), race_kde(pulsars, x) '
        "FROM released, split WHERE part = 'test'")
    session.run('DROP TABLE released')
    classes, says, *densities = np.array([line.split('|') for line in lines], float).T
    return measures_of(says == 2, posterior(np.array(densities)), classes == 1)


def test_best(session, transform, choices, seed):
    """[delta, measure], each with the bandwidth and power chosen for it"""
    results = []
    for delta, best in zip(DELTAS, choices):
        tested = {choice: test(session, transform, *choice, delta, seed)
                  for choice in set(best)}
        results.append([tested[choice][i] for i, choice in enumerate(best)])
    return results


def measure(session, kernel, seed, public, transforms):
    """The names of the transforms, and [transform, delta, measure] of one split"""
    x, is_pulsar = split(session, seed, public)
    records = int(session.value("SELECT count(*) FROM split WHERE part = 'build'"))
    results = []
    for transform in transforms(session, x, is_pulsar):
        choices = choose(kernel, transform, x, is_pulsar, records / public)
        results.append((transform.name, test_best(session, transform, choices, seed)))
    session.run('DROP TABLE split')
    return zip(*results)


def measure_all(session, kernel, public, transforms):
    """The names, and [split, transform, delta, measure] in %"""
    names, measures = zip(*(measure(session, kernel, seed, public, transforms)
                            for seed in seeds(session, public)))
    return names[0], np.array(measures) * 100


def seeds(session, public):
    """Of the first splits with three public pulsars"""
    seed = found = 0
    while found < SEEDS:
        if np.sum(split(session, seed, public)[1]) >= 3:
            found += 1
            session.run('DROP TABLE split')
            yield seed
        else:
            session.run('DROP TABLE split')
        seed += 1


def standard_error(values):
    return np.std(values, ddof=1, axis=0) / np.sqrt(len(values))


def learned_transforms(report, session, library):
    report.heading('Pulsar: transforms learned from public rows')
    report.write(f"""{PUBLIC:,} rows are taken as public; of the others half are built from, a private sketch
a class at ε = {EPSILON}, and half are classified by race_classify with a uniform prior.  Means
over {SEEDS} splits, in %, of accuracy, of balanced accuracy (the mean over both classes) and
of the area under the ROC curve; in brackets what that is above columns scaled one by one,
with the standard error of the difference.  R = W = 1024 are built, `rows => NULL` kept.
Bandwidth and power are chosen on the public rows alone, for each transform alike, each
privacy and each measure: each public row is classified by the others, with the noise that
a release will have.  The last three transforms use the labels of public rows; those with
a name of SQL are computed by the database.
""")
    kernel = Kernel(library)
    load(session)
    names, measures = measure_all(session, kernel, PUBLIC, learn)
    show(report, names, measures)
    claim_gains(report, names, measures)
    few_rows(report, session, kernel)


def few_rows(report, session, kernel):
    for public in FEW:
        report.heading(f'Pulsar: transforms learned from {public} public rows')
        names, measures = measure_all(session, kernel, public, learn_of_few)
        show(report, names, measures)
        for j, noise in enumerate(PRIVACY):
            report.at_least(f'Pulsar, {public} public rows: {names[4]}: accuracy in %, {noise}',
                            measures[:, 4, j, 0].mean(), 97.5)
    report.write(f"""Splits have three public pulsars at least.  Beside: logistic regression by objective
perturbation (Chaudhuri, Monteleoni & Sarwate 2011), pure ε = {EPSILON}, columns scaled by the
last number of public rows, at its best regularization and radius in hindsight: accuracy in % """
                 f'{objective_perturbation(session):.2f}.\n')


def objective_perturbation(session):
    """The accuracy of the best other method, mean over splits"""
    def of_split(seed):
        public, _ = split(session, seed, FEW[-1])
        parts = {}
        for part in 'build', 'test':
            lines, _ = session.run(f"SELECT class, x FROM split WHERE part = '{part}'")
            classes, vectors = zip(*(line.split('|') for line in lines))
            parts[part] = (np.array([numbers(vector) for vector in vectors]),
                           np.array(classes) == '1')
        session.run('DROP TABLE split')
        scaled = {part: ((x - public.mean(axis=0)) / public.std(axis=0), y)
                  for part, (x, y) in parts.items()}
        return best_objective_perturbation(*scaled['build'], *scaled['test'], EPSILON, seed)
    return 100 * np.max(np.mean([of_split(seed) for seed in range(SEEDS)], axis=0))


def show(report, names, measures):
    """measures: [split, transform, delta, measure]"""
    above = measures - measures[:, SCALED:SCALED + 1]
    means, gains, errors = measures.mean(axis=0), above.mean(axis=0), standard_error(above)
    lines = [(name, *(f'{mean:.2f} ({gain:+.2f} ± {error:.2f})' for mean, gain, error
                      in zip(*(values[i].ravel() for values in (means, gains, errors)))))
             for i, name in enumerate(names)]
    report.table(('transform', *(f'{what}, {noise}' for noise in PRIVACY
                                 for what in MEASURES)), lines)


def claim_gains(report, names, measures):
    gains = (measures - measures[:, SCALED:SCALED + 1]).mean(axis=0)
    for i in CLAIMED:
        for j, noise in enumerate(PRIVACY):
            report.at_least(f'Pulsar: {names[i]}: accuracy, points above columns scaled, '
                            f'{noise}', gains[i, j, 0], 0)
