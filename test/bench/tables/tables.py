"""tables.py FOLDER REPORT: private releases of columns, and rows that race_synthesize makes of them, beside others' methods

FOLDER has space for files, PGDATABASE the extension.  RACEPRIV_DATA has Adult, pulsars and, if you like, NAME.csv.gz
with NAME-domain.json in the same form: acs, br2000 and nltcs were of github caicre/PrivMRF.  Other tables are made.  Writes a
report in Markdown.  PGM names a checkout of private-pgm (rivals.py).  RESULTS names a file that keeps what was measured: a run
adds what is missing, of what ONLY, a regular expression, finds in "METHOD TABLE EPSILON SEED".
"""
import gzip
import itertools
import json
import os
import re
import sys
import time

import numpy

import rivals

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from server import Session, cpu_time

try:
    from sklearn.ensemble import HistGradientBoostingClassifier
except ImportError:
    HistGradientBoostingClassifier = None

FOLDER, REPORT = sys.argv[1:3]
DATA = os.environ['RACEPRIV_DATA']
RESULTS = os.environ.get('RESULTS', f'{FOLDER}/results')
ONLY = os.environ.get('ONLY', '')
DELTA = 1e-9
EPSILONS = [1, 0.1, 10]
METHODS = ['racepriv', 'racepriv, label', 'racepriv, δ = 0', *rivals.RIVALS]
SEEDS = int(os.environ.get('SEEDS', 5))
ORDERED = {'adult': [0, 2, 3, 9, 10, 11], 'br2000': [1, 2, 3, 4, 9, 10, 12]}
PULSAR = numpy.array([(0, 200), (20, 100), (-2, 9), (-2, 70), (0, 225), (0, 115), (-4, 35), (-3, 1200)])


# ------------------------------------------------------------------ tables: rows, cells, which columns are ordered

def public(name):
    """Values from 0 on, and how many each column has"""
    with open(f'{DATA}/{name}-domain.json') as file:
        domain = json.load(file)
    with gzip.open(f'{DATA}/{name}.csv.gz', 'rt') as file:
        names = file.readline().strip().split(',')
        rows = numpy.loadtxt(file, delimiter=',', dtype=numpy.uint32)
    rows = rows[:, [names.index(column) for column in domain]]
    return rows, list(domain.values()), [i in ORDERED.get(name, []) for i in range(len(domain))]


def pulsar():
    """Eight numbers in 20 cells each, and the class"""
    x = numpy.loadtxt(f'{DATA}/pulsar.csv.gz', delimiter=',', skiprows=1)
    lower, upper = PULSAR.T
    cells = numpy.clip((x[:, :8] - lower) / (upper - lower) * 20, 0, 19).astype(numpy.uint32)
    return numpy.column_stack([cells, x[:, 8].astype(numpy.uint32)]), [20] * 8 + [2], [True] * 8 + [False]


def network(seed, columns, n, least, most, parents, strength):
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


def sums(n=30000, columns=12):
    """Half of the columns are uniform; each other one is the sum of two of these, modulo its cells, in 4 of 5 rows. No pair depends on each other"""
    random = numpy.random.default_rng(7)
    rows = random.integers(4, size=(n, columns), dtype=numpy.uint32)
    cells = [4] * (columns - 1) + [2]
    for i in range(columns // 2, columns):
        a, b = random.choice(columns // 2, 2, replace=False)
        rows[:, i] = numpy.where(random.random(n) < 0.8, rows[:, a] + rows[:, b], rows[:, i]) % cells[i]
    return rows, cells, [False] * columns


TABLES = {
    'adult': lambda: public('adult'), 'acs': lambda: public('acs'), 'br2000': lambda: public('br2000'),
    'nltcs': lambda: public('nltcs'), 'pulsar': pulsar, 'sums': sums,
    'network-8': lambda: network(1, 8, 20000, 2, 20, 2, 0.6), 'network-15': lambda: network(2, 15, 5000, 2, 50, 2, 0.5),
    'network-30': lambda: network(3, 30, 100000, 2, 30, 2, 0.5), 'network-10': lambda: network(5, 10, 2000, 2, 12, 2, 0.7),
    'network-20': lambda: network(6, 20, 30000, 2, 2, 3, 0.6),
}
LABELLED = {'adult', 'acs', 'br2000', 'nltcs', 'pulsar', 'sums'}     # the last column has two values, which models tell apart; it is the label


# ------------------------------------------------------------------ methods

def load(session, name, table):
    """The rows as a dataset that is called like them: ordered columns are numbers, others categories"""
    rows, cells, ordered = table
    numpy.savetxt(f'{FOLDER}/{name}.csv', rows, fmt='%d', delimiter=',')
    columns = ', '.join(f'c{i} int NOT NULL CHECK (c{i} BETWEEN 0 AND {n - 1})' if is_number else
                        f"c{i} text NOT NULL CHECK (c{i} IN ({', '.join(repr(str(x)) for x in range(n))}))"
                        for i, (n, is_number) in enumerate(zip(cells, ordered)))
    session.run(f'CREATE TABLE "{name}" ({columns})')
    session.run(f"\\copy \"{name}\" FROM '{FOLDER}/{name}.csv' (FORMAT csv)\n")
    session.run(f"CALL race_protect('\"{name}\"', epsilon_limit => 1e6, delta_limit => 0.1)")


LOADED = set()


def release(method, name, table, epsilon, seed):
    """Synthetic rows, and processor seconds of the release.  The noise has no seed"""
    if name not in LOADED:
        load(SESSION, name, table)
    LOADED.add(name)
    pid, called = SESSION.value('SELECT pg_backend_pid()'), f'{method} {name} {epsilon:g} {seed}'
    columns = ','.join(f'c{i}' for i in range(len(table[1])))
    start = cpu_time(pid)
    label = f", label => 'c{len(table[1]) - 1}'" if 'label' in method else ''
    SESSION.run(f"CALL race_release('{called}', '\"{name}\"', '{{{columns}}}', "
                f"{epsilon}, {0 if 'δ = 0' in method else DELTA}{label})")
    released = cpu_time(pid)
    SESSION.run(f"\\copy (SELECT * FROM race_synthesize(NULL::\"{name}\", '{called}', {len(table[0])})) TO '{FOLDER}/sample' (FORMAT csv)\n")
    return numpy.loadtxt(f'{FOLDER}/sample', delimiter=',', dtype=numpy.uint32), {'seconds': released - start}


def synthesize(method, name, table, epsilon, seed):
    if method not in rivals.RIVALS:
        return release(method, name, table, epsilon, seed)
    start = time.process_time()
    sample = rivals.RIVALS[method](table[0], table[1], epsilon, DELTA, numpy.random.default_rng(seed))
    return sample, {'seconds': time.process_time() - start}


# ------------------------------------------------------------------ measures

def distance(a, b, cells, number, most=100):
    """Mean total variation distance over the tables of so many columns; of more than `most` triples, at even steps"""
    sets = list(itertools.combinations(range(len(cells)), number))
    distances = []
    for columns in sets[::max(1, len(sets) // most) if number > 2 else 1]:
        counts = [numpy.bincount(rivals.codes(rows, columns, cells), minlength=rivals.size(cells, columns)) / len(rows)
                  for rows in (a, b)]
        distances.append(abs(counts[0] - counts[1]).sum() / 2)
    return numpy.mean(distances)


def test_rows(rows):
    return numpy.random.default_rng(1).random(len(rows)) < 0.2


def accuracy(train, test):
    """Of gradient boosting: the mean over classes, at the threshold of the classes' shares"""
    label = train[:, -1]
    if len(set(label)) < 2:
        return 0.5
    upper = HistGradientBoostingClassifier(random_state=1).fit(train[:, :-1], label).predict_proba(test[:, :-1])[:, 1]
    return numpy.mean([((upper > label.mean()) == k)[test[:, -1] == k].mean() for k in (0, 1)])


def measure(method, name, table, epsilon, seed):
    rows, cells, _ = table
    if method == 'rows that are not tested on':
        sample, found = rows[~test_rows(rows)], {}
    else:
        sample, found = synthesize(method, name, table, epsilon, seed)
        found.update(pairs=distance(rows, sample, cells, 2), triples=distance(rows, sample, cells, 3))
    if epsilon == 1 and name in LABELLED and HistGradientBoostingClassifier:
        found['accuracy'] = accuracy(sample, rows[test_rows(rows)])
    return {key: round(float(value), 5) for key, value in found.items()}


def run_all(results):
    methods = METHODS if 'PGM' in os.environ else METHODS[:4]
    for name, load in TABLES.items():
        table = None
        for epsilon, seed, method in itertools.product(EPSILONS, range(1, SEEDS + 1), ['rows that are not tested on', *methods]):
            key = f'{method} {name} {epsilon:g} {seed}'
            real = method not in methods
            if key in results or not re.search(ONLY, key) or ('label' in method and name not in LABELLED) or (real and (seed > 1 or epsilon != 1 or name not in LABELLED)):
                continue
            table = table or load()
            results[key] = measure(method, name, table, epsilon, seed)
            with open(RESULTS, 'a') as file:
                file.write(json.dumps([key, results[key]], ensure_ascii=False) + '\n')
            print(key, results[key], flush=True)


# ------------------------------------------------------------------ report

def lines(out, head, rows):
    out += ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head), *('| ' + ' | '.join(row) + ' |' for row in rows), '']


def of(results, method, name, epsilon, what):
    if what == 'errors of boosting':
        return [1 - x for x in of(results, method, name, epsilon, 'accuracy')]
    return [results[key][what] for key in (f'{method} {name} {epsilon:g} {seed}' for seed in range(1, 100))
            if key in results and what in results[key]]


def mean(results, method, name, epsilon, what, form):
    found = of(results, method, name, epsilon, what)
    return format(numpy.mean(found), form) if found else ''


def report_sizes(out):
    shapes = []
    for name, load in TABLES.items():
        rows, cells, _ = load()
        shapes.append([name, f'{len(rows):,}', f'{len(numpy.unique(rows, axis=0)):,}', str(len(cells)), f'{min(cells)} to {max(cells)}'])
    lines(out, ['table', 'rows', 'distinct rows', 'columns', 'cells of a column'], shapes)


def report_methods(out, results, what, form, epsilons):
    lines(out, ['table', 'ε', *METHODS],
          [[name, f'{epsilon:g}', *(mean(results, method, name, epsilon, what, form) or '–' for method in METHODS)]
           for name in TABLES for epsilon in epsilons if of(results, 'racepriv', name, epsilon, what)])


def report_models(out, results):
    labelled = [name for name in TABLES if name in LABELLED]
    lines(out, ['trained on', *labelled],
          [[method, *(f'{100 * numpy.mean(found):.1f}' if (found := of(results, method, name, 1, 'accuracy')) else '–' for name in labelled)]
           for method in ['rows that are not tested on', *METHODS]])


def report_losses(out, results):
    """Where a rival is better than racepriv by more than 5 %"""
    losses = []
    for name, epsilon, what in itertools.product(TABLES, sorted(EPSILONS), ('pairs', 'triples', 'errors of boosting')):
        ours = of(results, 'racepriv, label' if what == 'errors of boosting' else 'racepriv', name, epsilon, what)
        best, rival = min(((numpy.mean(found), method) for method in METHODS if not method.startswith('racepriv')
                           and (found := of(results, method, name, epsilon, what))), default=(9, ''))
        if ours and numpy.mean(ours) > 1.05 * best:
            losses.append([name, f'{epsilon:g}', what, f'{numpy.mean(ours):.4f}', rival, f'{best:.4f}',
                           f'{100 * numpy.mean(ours) / best - 100:.0f} %'])
    out += ['## Where racepriv is worse', '', 'By more than 5 % than the best other method. Errors of boosting: one less the mean accuracy of both classes; ours with the label.', '']
    lines(out, ['table', 'ε', 'of', 'racepriv', 'best other', 'has', 'worse by'], losses)


def main():
    results = {}
    SESSION.run('DROP EXTENSION IF EXISTS racepriv, racepriv_release CASCADE; CREATE EXTENSION racepriv_release CASCADE')
    if os.path.exists(RESULTS):
        with open(RESULTS) as file:
            results = dict(map(json.loads, file))
    if 'PGM' in os.environ:
        rivals.use_private_pgm(os.environ['PGM'])
    for name in [name for name in ('acs', 'br2000', 'nltcs') if not os.path.exists(f'{DATA}/{name}.csv.gz')]:
        del TABLES[name]
    run_all(results)
    out = ['# Tables of columns', '',
           'Made by `PGM=folder RACEPRIV_DATA=folder test/bench/run tables`. Means of so many runs with seeds of their own. Distance: mean total variation distance '
           f'between the rows and as many sampled ones, over all pairs of columns, or of 100 triples. δ = {DELTA:g}, unless it says otherwise. MST and AIM are their authors\' '
           'programs (private-pgm at 01f02f1), AIM with 200 iterations; PrivBayes is written for this, with Gaussian noise (rivals.py). acs, br2000 and nltcs are the tables of '
           'github caicre/PrivMRF; sums and networks are made (tables.py). What was not run has a –.', '']
    report_sizes(out)
    out += ['## Pairs', '']
    report_methods(out, results, 'pairs', '.4f', sorted(EPSILONS))
    out += ['## Processor seconds of a release', '']
    report_methods(out, results, 'seconds', '.1f', [1])
    out += ['## Models of the last column', '', 'Gradient boosting, ε = 1: mean accuracy of both classes, in %.', '']
    report_models(out, results)
    report_losses(out, results)
    with open(REPORT, 'w') as file:
        file.write('\n'.join(out).rstrip() + '\n')


with Session() as SESSION:
    main()
