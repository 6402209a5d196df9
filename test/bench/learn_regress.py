"""Regressions and linear classifiers from race_moments against other private ones.

learn_regress.py FOLDER RESULTS [PART ...]: a folder to work in, the file to write, and
parts if not all (airfoil, pulsar, speed).  It needs a server with racepriv (PGHOST and so on), and
RACEPRIV_DATA.  test/bench/run learn-regress has it all.
"""
import gzip
import os
import sys
import time

import numpy as np

from learn_tables import pulsars
import private_logistic
from private_regression import METHODS, errors
from report import Report
from server import FLOAT8, Session, load

SEEDS = {'airfoil': 50, 'pulsar': 20}
DRAWS = 4               # of noise, of airfoil a split: ours has one setting, others 3 to 12
EPSILONS = (0.1, 1, 10)
TINY = 0.01
DELTA = 1e-6
TRAIN = {'airfoil': 1202, 'pulsar': 14318}
# public bounds of airfoil's columns, the last of which is the target
LOWER = (200, 0, 0.025, 31, 0, 103)
UPPER = (20000, 23, 0.305, 72, 0.06, 141)
FEATURES = {0.1: 30, 1: 30, 10: 120}    # chosen on made-up tables, as their bandwidth
FEATURES_PURE = 20
NORM = {10: 2.5}        # and else 1: of a sweep of nine tables, airfoil among them
TARGET_WEIGHT, TARGET_LEAST = 8192 / 3072, 0.35       # src/core/moment_sums.h
RIDGES = [0, *10.0 ** np.arange(-2, 3.1, 0.25)]       # tried in hindsight
# what it must show: linear, features, linear with pure noise
LIMITS = {0.1: (1.02, 1.02, 1.02), 1: (0.57, 0.60, 0.75), 10: (0.502, 0.40, 0.51)}
PULSAR = {0.1: (0.946, 0.96), 1: (0.973, 0.972)}        # accuracy, AUC


def numbers(values):
    return "'{" + ','.join(map(repr, map(float, values))) + "}'"


def read_airfoil():
    path = os.path.join(os.environ['RACEPRIV_DATA'], 'airfoil.csv.gz')
    with gzip.open(path, 'rt') as file:
        return np.loadtxt(file, delimiter=',', skiprows=1)


def split(session, folder, x, train, seed):
    """Tables train and test, of x in random order; which rows they are"""
    order = np.random.default_rng([20261122, seed]).permutation(len(x))
    for name, part in (('train', order[:train]), ('test', order[train:])):
        session.run(f'DROP TABLE IF EXISTS {name}')
        load(session, folder, name, x[part], FLOAT8)
    return order[:train], order[train:]


def privatized(params, moments, epsilon, delta):
    """Private moments as race_release_sketch makes them: it spends no delta where pure noise is less"""
    if delta:
        delta = (f'(SELECT CASE WHEN pure.counter_noise_stddev < asked.counter_noise_stddev THEN 0 ELSE {delta} END '
                 f'FROM race_privacy_cost({params}, {epsilon}) pure, race_privacy_cost({params}, {epsilon}, {delta}) asked)')
    return f'race_privatize({moments}, {epsilon}, {delta})'


# ---------------------------------------------------------------- airfoil

def moment_params(epsilon, features=0, seed=0):
    return (f'race_moment_params({numbers(LOWER)}, {numbers(UPPER)}, {NORM.get(epsilon, 1)}, '
            f'features => {features}, seed => {seed})')


def predictions(session, params, epsilon, delta):
    noise = privatized(params, 'm', epsilon, delta) if epsilon else 'm'
    lines, _ = session.run(
        f'WITH p AS MATERIALIZED (SELECT {noise} AS m FROM (SELECT race_build({params}, x) AS m '
        'FROM train) v) SELECT race_predict(m, 6, x[1:5]) FROM p, test ORDER BY id')
    return np.array(lines, float)


def our_error(session, truth, params, epsilon, delta):
    """The mean of some draws of noise"""
    return np.mean([(predictions(session, params, epsilon, delta) - truth) ** 2
                    for _ in range(DRAWS if epsilon else 1)]) / truth.var()


def ours(session, truth, epsilon, seed):
    return {name: our_error(session, truth, moment_params(epsilon, features, seed), epsilon, delta)
            for name, features, delta in (
                ('linear', 0, DELTA), ('features', FEATURES[epsilon], DELTA),
                ('linear, pure', 0, 0), ('features, pure', FEATURES_PURE, 0))}


def scaled(table):
    low, high = np.array(LOWER), np.array(UPPER)
    table = 2 * (table - low) / (high - low) - 1
    return np.column_stack([np.ones(len(table)), table[:, :5]]), table[:, 5]


def others(train, test, epsilon, seed):
    """{method: errors of its settings}"""
    (v, y), (w, truth) = scaled(train), scaled(test)
    found = {}
    for name, (_, can_be_pure) in METHODS.items():
        for delta in (DELTA, 0)[:1 + can_be_pure]:
            if name == 'OPS' and delta > 0:
                continue
            found[name + (', pure' if delta == 0 else '')] = np.array(
                errors(name, v, y, w, truth, epsilon, delta, seed)) / truth.var()
    return found


def in_hindsight(train, test, epsilon, seed):
    """Errors of pure moments by NumPy with each of some ridges: what a better choice could gain"""
    (v, y), (w, truth) = scaled(train), scaled(test)
    u = np.column_stack([v, TARGET_WEIGHT * y])
    size = np.column_stack([np.abs(v), TARGET_WEIGHT * np.maximum(np.abs(y), TARGET_LEAST)])
    norm = NORM.get(epsilon, 1)
    u *= (norm / np.maximum(np.linalg.norm(size, axis=1), norm))[:, None]
    draws = np.random.default_rng([seed, 1]).normal(size=(2, u.shape[1], u.shape[1] + 1))
    m = u.T @ u + (draws[0] @ draws[0].T - draws[1] @ draws[1].T) / (2 * epsilon) * norm ** 2
    thetas = [np.linalg.solve(m[:-1, :-1] + ridge * np.eye(v.shape[1]), m[:-1, -1]) / TARGET_WEIGHT
              for ridge in RIDGES]
    return np.array([np.mean((np.clip(w @ theta, -1, 1) - truth) ** 2) for theta in thetas]) / truth.var()


def not_private(session, train, test, seed):
    (v, y), (w, truth) = scaled(train), scaled(test)
    theta = np.linalg.lstsq(v, y, rcond=None)[0]
    exact = {'least squares': np.mean((w @ theta - truth) ** 2) / truth.var()}
    for name, epsilon, features in (('exact moments', 1, 0), ('exact moments of the norm for ε = 10', 10, 0),
                                    ('exact moments, 120 features', 1, 120)):
        exact[name] = our_error(session, test[:, 5], moment_params(epsilon, features, seed), None, 0)
    return exact


def tiny(session, train, test):
    """Linear at an epsilon at which little can be known, and constants beside it: the middle of the
    bounds, the mean by all of epsilon, and the weighted mean of both with the least expected error"""
    truth = test[:, 5]
    y, z = (scaled(part)[1] for part in (train, test))
    bias, noise = y.mean() ** 2, 2 / (TINY * len(y)) ** 2
    around = np.mean((z - y.mean()) ** 2)
    return {**{name: our_error(session, truth, moment_params(TINY), TINY, delta)
               for name, delta in (('linear', DELTA), ('linear, pure', 0))},
            'the middle of the bounds': np.mean(z ** 2) / z.var(),
            'the mean, pure, all of epsilon': (around + noise) / z.var(),
            'the best weighted mean of these two': (around + bias * noise / (bias + noise)) / z.var()}


def measure_airfoil(session, folder):
    table = read_airfoil()
    results = {epsilon: [] for epsilon in (*EPSILONS, None, TINY)}
    for seed in range(SEEDS['airfoil']):
        train, test = (table[part] for part in split(session, folder, table, TRAIN['airfoil'], seed))
        results[None].append(not_private(session, train, test, seed))
        results[TINY].append(tiny(session, train, test))
        for epsilon in EPSILONS:
            results[epsilon].append({**ours(session, test[:, 5], epsilon, seed),
                                     'linear, pure, at the best ridge': in_hindsight(train, test, epsilon, seed),
                                     **others(train, test, epsilon, seed)})
    # the mean errors of settings, of which ours have one
    return {epsilon: {name: np.mean([line[name] for line in lines], axis=0) for name in lines[0]}
            for epsilon, lines in results.items()}


def report_airfoil(report, settings):
    means, medians = ({epsilon: {name: pick(errors) for name, errors in here.items()}
                       for epsilon, here in settings.items()} for pick in (np.min, np.median))
    report.heading('Regression: airfoil')
    report.write(f"""Test error over the variance of the target, means of {SEEDS['airfoil']} splits (1,202 and 301 records), of ours with {DRAWS} draws of noise each.  linear: race_predict from race_moments with the
public bounds of columns; features: random Fourier features beside the columns, another draw a split, {', '.join(f'{n} for ε = {e}' for e, n in FEATURES.items())}; {FEATURES_PURE} with pure noise.  The norm is {NORM[10]} for ε = 10, else 1: of a sweep of nine tables, airfoil among them; with 1, linear, pure had 0.493 at ε = 10.  δ = {DELTA}, or 0 where it says
pure; as race_release_sketch does, ours spend no δ where pure noise is less, which is so up to some 15 columns.  The other methods are at their best setting in hindsight; what they are without it, the second table tells.  At the best ridge: the same moments by NumPy without the shares of epsilon for the count and rounding, in hindsight, too.
""")
    names = [*means[EPSILONS[0]]]
    report.table(('method', *(f'ε = {e}' for e in EPSILONS)),
                 [(name, *(f'{means[e][name]:.3f}' for e in EPSILONS)) for name in names])
    report.table(('the median of settings', *(f'ε = {e}' for e in EPSILONS)),
                 [(name, *(f'{medians[e][name]:.3f}' for e in EPSILONS)) for name in names
                  if np.size(settings[1][name]) > 1])
    report.table(('not private', 'error'), [(name, f'{value:.3f}')
                                            for name, value in means[None].items()])
    report.write(f"At ε = {TINY} no constant that was tried is below 1.02 (the number of records taken as known):\n")
    report.table((f'ε = {TINY}', 'error'), [(name, f'{value:.3f}') for name, value in means[TINY].items()])
    for epsilon in EPSILONS:
        here = means[epsilon]
        for name, limit in zip(('linear', 'features', 'linear, pure'), LIMITS[epsilon]):
            report.claims.append((f'airfoil, ε = {epsilon}: {name}', f'{here[name]:.3f}',
                                  f'at most {limit}', here[name] <= limit))
        for pure in (False, True):
            best = min(value for name, value in here.items() if name.endswith(', pure') == pure and
                       not name.startswith(('linear', 'features')))
            name = 'linear, pure' if pure else 'linear'
            report.claims.append((f'airfoil, ε = {epsilon}: {name}, beside the best other',
                                  f'{here[name]:.3f}', f'at most {best:.3f}', here[name] <= best))


# ----------------------------------------------------------------- pulsar

def area(score, label):
    """Under the ROC curve; ties count half"""
    order = np.argsort(score)
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    _, group = np.unique(score, return_inverse=True)
    ranks = (np.bincount(group, ranks) / np.bincount(group))[group]
    ones = label.sum()
    return (ranks[label == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(label) - ones))


def pulsar_bounds(x):
    """The range, rounded outwards to two digits, as public bounds would be"""
    step = 10 ** (np.floor(np.log10(x.max(axis=0) - x.min(axis=0))) - 1)
    return np.floor(x.min(axis=0) / step) * step, np.ceil(x.max(axis=0) / step) * step


def posteriors(session, sql):
    lines, _ = session.run(sql)
    return np.array(lines, float)


def lda(session, params, epsilon, delta):
    moments = f'race_build({params}, x)'
    if epsilon is not None:
        moments = privatized(params, moments, epsilon, delta)
    session.run(f'DROP TABLE IF EXISTS classes; CREATE TABLE classes AS SELECT label, {moments} AS m '
                'FROM train JOIN labels USING (id) GROUP BY label')
    return posteriors(session, "SELECT (SELECT race_lda_posterior(label, m, x) ->> '1' FROM classes) "
                      'FROM test ORDER BY id')


def regression(session, params, epsilon, delta):
    """Least squares of a label of -1 and 1: a score without probabilities"""
    session.run('DROP TABLE IF EXISTS labelled; CREATE TABLE labelled AS SELECT '
                f"{privatized(params, f'race_build({params}, x || (2 * label - 1)::float8)', epsilon, delta)} AS m "
                'FROM train JOIN labels USING (id)')
    return posteriors(session, 'SELECT race_predict(m, 9, x) FROM labelled, test ORDER BY id')


def classified(session, parameters, epsilon, prior):
    session.run('DROP TABLE IF EXISTS sketches; CREATE TABLE sketches AS SELECT label, '
                f'race_privatize(race_build(t, x), {epsilon}, {DELTA / 2}) AS s FROM train '
                f'JOIN labels USING (id), (SELECT {parameters} AS t) p GROUP BY label')
    return posteriors(session, f"SELECT (SELECT race_posterior(label, s, x, '{prior}') ->> '1' FROM sketches) "
                      'FROM test ORDER BY id')


def through(session, transform, params, epsilon):
    """A private transform from a half of epsilon and delta, and race_classify with the rest.  The
    kernel is about half a standard deviation wide."""
    session.run('DROP TABLE IF EXISTS classes, learned; CREATE TABLE classes AS SELECT label, '
                f"{privatized(params, f'race_build({params}, x)', epsilon / 2, DELTA / 2)} AS m "
                'FROM train JOIN labels USING (id) GROUP BY label; '
                f'CREATE TABLE learned AS SELECT {transform} AS t FROM classes')
    return classified(session, "(SELECT race_params('l2', 8, 2, power => 4, transform => t) FROM learned)",
                      epsilon / 2, 'counts')


def alone(session, low, high, epsilon):
    """race_classify with columns scaled by their bounds"""
    scales = numbers(high - low)
    return classified(session, f"race_params('l2', 8, {0.15 * 8 ** 0.5}, bandwidths => {scales})", epsilon,
                      'uniform')


def logistic(v, sign, test, truth, epsilon, seed):
    """[(accuracy, AUC)] of each setting of objective perturbation, on columns in [-1, 1]"""
    found = []
    for norm in private_logistic.CLIPS:
        scale = norm * np.sqrt(v.shape[1] / 3)
        train, tests = (np.column_stack([part / scale, np.ones(len(part))]) / np.sqrt(2)
                        for part in (v, test))
        train /= np.maximum(np.linalg.norm(train, axis=1, keepdims=True), 1)
        for penalty in private_logistic.PENALTIES:
            score = tests @ private_logistic.fit(train, sign, epsilon, penalty,
                                                 np.random.default_rng([seed, len(found)]))
            found.append((np.mean((score > 0) == truth), area(score, truth)))
    return found


def lda_params(low, high):
    return f'race_moment_params({numbers(low)}, {numbers(high)}, targets => 0'


def private_scores(session, low, high, epsilon):
    """{method: (score, threshold)}"""
    params = lda_params(low, high)
    labelled = f'race_moment_params({numbers([*low, -1])}, {numbers([*high, 1])})'
    return {
        'race_lda': (lda(session, params + ')', epsilon, DELTA), 0.5),
        'race_lda, pure': (lda(session, params + ')', epsilon, 0), 0.5),
        'race_lda of 30 features': (lda(session, params + ', features => 30)', epsilon, DELTA), 0.5),
        'race_predict of labels': (regression(session, labelled, epsilon, DELTA), 0),
        'discriminant, then race_classify': (
            through(session, 'race_discriminant_moments(label, m)', params + ')', epsilon), 0.5),
        'race_classify alone': (alone(session, low, high, epsilon), 0.5)}


def measure_pulsar(session, folder):
    x, label = pulsars()
    low, high = pulsar_bounds(x)
    columns = 2 * (x - low) / (high - low) - 1
    results = {epsilon: [] for epsilon in PULSAR}
    for seed in range(SEEDS['pulsar']):
        train, test = split(session, folder, x, TRAIN['pulsar'], seed)
        session.run('DROP TABLE IF EXISTS label_arrays, labels')
        load(session, folder, 'label_arrays', label[train][:, None], FLOAT8)
        session.run('CREATE TABLE labels AS SELECT id, x[1]::int AS label FROM label_arrays; ANALYZE labels')
        truth, sign = label[test], 2 * label[train] - 1
        exact = logistic(columns[train], sign, columns[test], truth, np.inf, seed)
        score = lda(session, lda_params(low, high) + ')', None, 0)
        exact_lda = [(np.mean((score > 0.5) == truth), area(score, truth))]
        for epsilon in PULSAR:
            line = {name: [(np.mean((score > threshold) == truth), area(score, truth))]
                    for name, (score, threshold) in private_scores(session, low, high, epsilon).items()}
            line['objective perturbation, pure'] = logistic(columns[train], sign, columns[test], truth, epsilon, seed)
            line['logistic regression, not private'] = exact
            line['race_lda, exact moments'] = exact_lda
            results[epsilon].append(line)
    best = {}
    for epsilon, lines in results.items():
        means = {name: np.mean([line[name] for line in lines], axis=0) for name in lines[0]}
        best[epsilon] = {name: mean[np.argmax(mean[:, 0])] for name, mean in means.items()}
    return best


def report_pulsar(report, means):
    report.heading('Classification: pulsars, without public rows')
    report.write(f"""Accuracy and the area under the ROC curve, means of {SEEDS['pulsar']} splits (14,318 and 3,580 records).  Public bounds of the columns, δ = {DELTA}, or 0 where it
says pure.  discriminant, then race_classify: race_discriminant_moments for a half of ε and δ, sketches of both classes along it for the rest.  Logistic regression by objective
perturbation is at its best of 20 settings in hindsight, not private ones too.
""")
    report.table(('method', *(f'{what}, ε = {e}' for e in PULSAR for what in ('accuracy', 'AUC'))),
                 [(name, *(f'{value:.4f}' for e in PULSAR for value in means[e][name]))
                  for name in means[1]])
    for epsilon, limits in PULSAR.items():
        for name in ('race_lda', 'race_lda, pure'):
            for what, value, limit in zip(('accuracy', 'AUC'), means[epsilon][name], limits):
                report.claims.append((f'pulsar, ε = {epsilon}: {what} of {name}', f'{value:.4f}',
                                      f'at least {limit}', value >= limit))
        both = means[epsilon]['discriminant, then race_classify'][0]
        for name in ('race_lda', 'race_classify alone'):
            report.claims.append((f'pulsar, ε = {epsilon}: accuracy with a private transform, beside {name}',
                                  f'{both:.4f}', f'at least {means[epsilon][name][0]:.4f}',
                                  both >= means[epsilon][name][0]))


# ------------------------------------------------------------------ speed

def report_speed(report, session, folder):
    report.heading('Speed')
    session.run('DROP TABLE IF EXISTS records, wide')
    load(session, folder, 'records', np.random.default_rng(1).random((50000, 55)), FLOAT8)
    session.run('CREATE TABLE wide AS SELECT race_privatize(race_build('
                f'race_moment_params({numbers([0] * 55)}, {numbers([1] * 55)}), x), 1, 1e-6) AS m FROM records')
    rows = [(what, 1e3 * np.median([session.time(sql) for _ in range(15)])) for what, sql in (
        ('race_regress', 'SELECT count(*) FROM wide, race_regress(m, 55)'),
        ('race_pca', 'SELECT count(*) FROM wide, race_pca(m)'),
        ('race_lda of two classes', "SELECT race_lda(l, m, array_fill(0.5::float8, '{55}')) FROM wide, generate_series(1, 2) l"))]
    report.table(('55 columns', 'milliseconds'), [(what, f'{value:.1f}') for what, value in rows])
    report.at_most('a fit of 55 columns', rows[0][1], 20, ' ms')


PARTS = {'airfoil': (measure_airfoil, report_airfoil), 'pulsar': (measure_pulsar, report_pulsar)}


def main():
    folder, path, *parts = sys.argv[1:]
    start = time.monotonic()
    report = Report()
    report.write('# Regression and linear classification\n\nWritten by `test/bench/run learn-regress`.')
    with Session() as session:
        session.run('SET client_min_messages = error')
        for part in parts or [*PARTS, 'speed']:
            if part == 'speed':
                report_speed(report, session, folder)
            else:
                measure, tell = PARTS[part]
                tell(report, measure(session, folder))
    report.conclude()
    report.keep(path, start)


if __name__ == '__main__':
    main()
