"""tables.py RELEASE FOLDER REPORT: private releases of tables of categories, and samples of their models

RELEASE is the program of release.c, FOLDER has space for files.  Adult is read from RACEPRIV_DATA, other tables are made.
Writes a report in Markdown.  OTHERS, a folder, may have samples of Adult by other methods: NAME-EPSILON-SEED.csv.
"""
import glob
import gzip
import itertools
import json
import os
import subprocess
import sys

import numpy

try:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder
except ImportError:
    OneHotEncoder = None

RELEASE, FOLDER, REPORT = sys.argv[1:4]
DATA = os.environ['RACEPRIV_DATA']
DELTA = '1e-9'
SEEDS = int(os.environ.get('SEEDS', 5))
ORDERED = {'age', 'fnlwgt', 'education-num', 'capital-gain', 'capital-loss', 'hours-per-week'}


def adult():
    with open(f'{DATA}/adult-domain.json') as file:
        domain = json.load(file)
    with gzip.open(f'{DATA}/adult.csv.gz', 'rt') as file:
        names = file.readline().strip().split(',')
        rows = numpy.loadtxt(file, delimiter=',', dtype=numpy.uint32)
    rows = rows[:, [names.index(name) for name in domain]]
    return rows, list(domain.values()), [name in ORDERED for name in domain]


def made(seed, columns, n, least, most, parents, strength):
    """Rows of a random Bayesian network: a column depends on up to so many earlier ones; half of the columns are smooth"""
    random = numpy.random.default_rng(seed)
    cells = numpy.exp(random.uniform(numpy.log(least), numpy.log(most + 1), columns)).astype(int)
    ordered = random.random(columns) < 0.5
    rows = numpy.zeros((n, columns), numpy.uint32)
    for i in range(columns):
        chosen = random.choice(i, min(i, random.integers(0, parents + 1)), replace=False) if i else numpy.array([], int)
        while len(chosen) and numpy.prod(cells[chosen]) > 2000:
            chosen = chosen[:-1]
        base = random.dirichlet(numpy.full(cells[i], 0.5))
        given = numpy.zeros(n, int)
        for j in chosen:
            given = given * cells[j] + rows[:, j]
        table = numpy.array([(1 - strength) * base + strength * random.dirichlet(numpy.full(cells[i], 0.3))
                             for _ in range(int(numpy.prod(cells[chosen])) if len(chosen) else 1)])
        if ordered[i]:
            places = numpy.arange(cells[i])
            table = table @ numpy.exp(-0.5 * (numpy.subtract.outer(places, places) / (cells[i] / 12)) ** 2)
            table /= table.sum(1, keepdims=True)
        below = table.cumsum(1)[given] < random.random(n)[:, None]
        rows[:, i] = numpy.minimum(below.sum(1), cells[i] - 1)
    return rows, cells, ordered


MADE = {
    '20,000 rows, 8 columns of 2 to 20 cells': (1, 8, 20000, 2, 20, 2, 0.6),
    '5,000 rows, 15 columns of 2 to 50 cells': (2, 15, 5000, 2, 50, 2, 0.5),
    '100,000 rows, 30 columns of 2 to 30 cells': (3, 30, 100000, 2, 30, 2, 0.5),
    '2,000 rows, 10 columns of 2 to 12 cells': (5, 10, 2000, 2, 12, 2, 0.7),
    '30,000 rows, 20 columns of 2 cells': (6, 20, 30000, 2, 2, 3, 0.6),
}


def write(name, table):
    rows, cells, ordered = table
    with open(f'{FOLDER}/{name}', 'wb') as file:
        for numbers in (rows.shape[::-1], cells, [c if o else 0 for c, o in zip(cells, ordered)], rows):
            file.write(numpy.ascontiguousarray(numbers, dtype=numpy.uint32).tobytes())


def release(name, shape, epsilon, delta, seed, *options):
    """Mean distance over pairs, pairs measured, seconds to release and to sample; the sample"""
    printed = subprocess.run([RELEASE, f'{FOLDER}/{name}', f'{FOLDER}/sample', str(epsilon), delta, str(seed), *options],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
    return [float(x) for x in printed.split()], numpy.fromfile(f'{FOLDER}/sample', numpy.uint32).reshape(shape)


def distance(a, b, cells, size):
    """Mean total variation distance over the tables of so many columns (at most 100 of them, at even steps)"""
    sets = list(itertools.combinations(range(a.shape[1]), size))
    distances = []
    for columns in sets[::max(1, len(sets) // 100)]:
        codes = [numpy.ravel_multi_index(rows[:, columns].T, [cells[i] for i in columns]) for rows in (a, b)]
        values, inverse = numpy.unique(numpy.concatenate(codes), return_inverse=True)
        counts = [numpy.bincount(part, minlength=len(values)) / len(part)
                  for part in (inverse[:len(a)], inverse[len(a):])]
        distances.append(abs(counts[0] - counts[1]).sum() / 2)
    return numpy.mean(distances)


def distinct(rows):
    return len(numpy.unique(rows, axis=0))


def accuracies(train, test, cells, label):
    """Of logistic regression and of gradient boosting, which were trained on some rows: balanced over classes"""
    def balanced(model, inputs):
        found = model.predict(inputs)
        return numpy.mean([(found[test[:, label] == k] == k).mean() for k in (0, 1)])
    if len(set(train[:, label])) < 2:
        return 0.5, 0.5
    inputs = [numpy.delete(rows, label, 1) for rows in (train, test)]
    encoder = OneHotEncoder(categories=[range(c) for i, c in enumerate(cells) if i != label])
    codes = [encoder.fit_transform(x) for x in inputs]
    logistic = LogisticRegression(solver='liblinear', class_weight='balanced').fit(codes[0], train[:, label])
    weights = numpy.where(train[:, label] == 1, 1 / train[:, label].mean(), 1 / (1 - train[:, label].mean()))
    boosting = HistGradientBoostingClassifier(random_state=1).fit(inputs[0], train[:, label], sample_weight=weights)
    return balanced(logistic, codes[1]), balanced(boosting, inputs[1])


def table(out, head, lines):
    out.append('| ' + ' | '.join(head) + ' |')
    out.append('|' + '---|' * len(head))
    out.extend('| ' + ' | '.join(line) + ' |' for line in lines)
    out.append('')


def others():
    """Samples of Adult by other methods: (name, epsilon, rows)"""
    for path in sorted(glob.glob(os.environ.get('OTHERS', '/nowhere') + '/*-*-*.csv')):
        name, epsilon, _ = os.path.basename(path).rsplit('-', 2)
        yield name, float(epsilon), numpy.loadtxt(path, delimiter=',', dtype=numpy.uint32, skiprows=1)


def report_adult(out):
    rows, cells, ordered = data = adult()
    write('adult', data)
    lines = []
    samples = {}
    for epsilon in (0.1, 1, 10):
        for delta, options in ((DELTA, ()), ('0', ()), (DELTA, ('independent',))):
            results = []
            for seed in range(1, SEEDS + 1):
                numbers, sample = release('adult', rows.shape, epsilon, delta, seed, *options)
                results.append(numbers + [distance(rows, sample, cells, 3), distinct(sample)])
                if seed == 1:
                    samples[epsilon, options or delta] = sample
            mean = numpy.mean(results, 0)
            lines.append([f'{epsilon:g}', 'independent columns' if options else 'racepriv', delta, f'{mean[0]:.4f}',
                          f'{mean[4]:.3f}', f'{mean[5]:,.0f}', f'{mean[1]:.0f}', f'{mean[2]:.1f}', f'{mean[3]:.2f}'])
        for name, its, sample in others():
            if its == epsilon:
                lines.append([f'{epsilon:g}', name, DELTA, f'{distance(rows, sample, cells, 2):.4f}',
                              f'{distance(rows, sample, cells, 3):.3f}', f'{distinct(sample):,}', '', '', ''])
                samples[epsilon, name] = sample
    out += ['## Adult', '',
            f'48,842 rows, 14 columns of 2 to 100 cells; means of {SEEDS} releases. Distance: mean total variation distance '
            f'between the rows and as many sampled ones, over all pairs of columns, and over 100 triples. The rows have '
            f'{distinct(rows):,} distinct ones. Seconds of processor time. Other methods, if there are any: one sample of '
            'their authors\' programs each.', '']
    table(out, ['ε', 'method', 'δ', 'pairs', 'triples', 'distinct rows', 'pairs measured', 'release, s', 'sample, s'], lines)
    if OneHotEncoder is None:
        return
    test = numpy.random.default_rng(1).random(len(rows)) < 0.2
    scores = [['rows that are not tested on', '', *(f'{x:.3f}' for x in accuracies(rows[~test], rows[test], cells, 13))]]
    for (epsilon, method), sample in samples.items():
        if epsilon == 1:
            name = {DELTA: 'racepriv', '0': 'racepriv, δ = 0', ('independent',): 'independent columns'}.get(method, method)
            scores.append([name, '1', *(f'{x:.3f}' for x in accuracies(sample, rows[test], cells, 13))])
    out += ['Models of income that were trained on a sample, on a fifth of the rows: balanced accuracy.', '']
    table(out, ['trained on', 'ε', 'logistic regression', 'gradient boosting'], scores)


def report_made(out):
    lines = []
    for number, (name, arguments) in enumerate(MADE.items()):
        rows, cells, ordered = data = made(*arguments)
        write('made', data)
        for epsilon in (0.1, 1):
            line = [name, f'{epsilon:g}']
            for delta, options in ((DELTA, ()), (DELTA, ('independent',)), ('0', ()), ('0', ('independent',))):
                line.append(f"{numpy.mean([release('made', rows.shape, epsilon, delta, seed, *options)[0][0] for seed in range(1, SEEDS + 1)]):.4f}")
            lines.append(line)
    out += ['## Made tables', '', 'Rows of random Bayesian networks: the mean distance over pairs of columns.', '']
    table(out, ['table', 'ε', f'δ = {DELTA}', 'independent', 'δ = 0', 'independent'], lines)


out = ['# Tables of columns', '', 'Made by `make bench` (test/bench/tables).', '']
report_adult(out)
report_made(out)
with open(REPORT, 'w') as file:
    file.write('\n'.join(out).rstrip() + '\n')
print('\n'.join(out))
