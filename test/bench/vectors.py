"""Long vectors: structured rows beside dense ones.

vectors.py BARE LIBRARY FOLDER RESULTS: as speed.py.
"""
import itertools
import sys

import numpy as np

from data import Data
from lsh import Library, Rows, Vectors
from measure import Bare, medians
from report import Report, machine, microseconds, ratio
from server import FLOAT4, Session, time_of_fresh_session

ROWS = 1024
POWER = 8
RANGE = 2 ** POWER
RECORDS = 1000
SEQUENCES = 'structured', 'independent'
WANTED = {'build': 250, 'first': 500, 'after': 200}     # µs, structured, 1536 numbers
SEEDS = 10
SESSIONS = 11


def embeddings(random, n, dims):
    """Of length 1: mixtures of 20 topics, and noise"""
    topics = random.standard_normal((20, dims))
    x = random.dirichlet(np.full(20, .3), n) @ topics + .3 * random.standard_normal((n, dims))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def tags(random, n, dims):
    """Of length 1: eight numbers that are not 0, all the same"""
    x = np.zeros((n, dims))
    for row in x:
        row[random.choice(dims, 8, replace=False)] = 8 ** -.5
    return x


def sql(sequence, dims, seed=0):
    return (f"'angular(dims={dims}, power={POWER}, rows={ROWS}, range={RANGE}, seed={seed}, "
            f"sequence={sequence})'::race_params")


def build_times(report, data):
    report.heading('Building')
    report.write(f'Microseconds a record: `race_build` of {RECORDS:,} records, real[], angular, '
                 f'power {POWER}, R = {ROWS}, W = {RANGE}; hashing alone, without PostgreSQL; '
                 f'dgemm of one function, times {POWER}; and reading the table.  Row functions '
                 'were made before.\n')
    data.session.run("SET racepriv.cache_size = '200MB'")
    lines = []
    for dims in 128, 384, 768, 1536:
        table = f'embedded_{dims}'
        data.add(table, embeddings(np.random.default_rng(dims), RECORDS, dims), FLOAT4, '')
        measures = {'scan': lambda: data.session.time(f'SELECT count(x[1]) FROM {table}')}
        t = {}
        for sequence in SEQUENCES[:2]:
            params = data.bare.library.params('angular', power=POWER, dims=dims, rows=ROWS,
                                              range=RANGE, sequence=sequence)
            measures[sequence, 'build'] = lambda sequence=sequence: data.session.time(
                f'SELECT race_count(race_build({sql(sequence, dims)}, x)) FROM {table}')
            t[sequence, 'hash'] = data.bare.time_of('hash', [params], [table])
            measures[sequence, 'build']()
        t['dgemm'] = POWER * data.bare.time_of('dgemm', [params], [table])
        t.update(medians(measures, 5))
        t = {name: seconds / RECORDS for name, seconds in t.items()}
        lines.append((dims, *(microseconds(t[sequence, what]) for what in ('build', 'hash')
                              for sequence in SEQUENCES[:2]),
                      microseconds(t['dgemm']), microseconds(t['scan']),
                      ratio(t['dgemm'] / t['independent', 'hash'])))
    report.table(('d', 'structured', 'independent', 'hash, structured', 'hash, independent',
                  'dgemm', 'scan', 'dgemm / hash, independent'), lines)
    report.at_most('a structured record of 1536 numbers',
                   t['structured', 'build'] * 1e6, WANTED['build'], ' µs')


def ask(sequence, seed, point):
    return (f"SELECT race_kde(s, x) FROM sketches, embedded_1536 WHERE sequence = '{sequence}' "
            f'AND seed = {seed} AND id = {point}')


def make_sketches(session, sequence, seeds):
    """In a table, of the first records of embedded_1536"""
    for seed in range(seeds):
        session.run(f"INSERT INTO sketches SELECT '{sequence}', {seed}, "
                    f'race_build({sql(sequence, 1536, seed)}, x) FROM embedded_1536')


def first_and_after(sequence, cache, seeds, points, n):
    """Seconds of the first question of each sketch in a session, and of n others of the last"""
    with Session() as session:
        session.run(f"SET racepriv.cache_size = '{cache}'; SELECT race_kernel('l2', '{{1}}', '{{1}}')")
        first = [session.time(ask(sequence, seed, next(points))) for seed in range(seeds)]
        after = [session.time(ask(sequence, seeds - 1, next(points))) for _ in range(n)]
    return np.median(first[1:]), np.median(after)


def query_times(report, data):
    report.heading('Queries of 1,536 numbers')
    report.write('Microseconds, each a statement of its own, sent by psql.  Fresh: the first '
                 f'statement of a session, median of {SESSIONS}.  First: row functions are made '
                 'for it, in a session that has asked other sketches.  After: another point, in '
                 'the same session.  SELECT 1 takes the same ways.  Dense row functions take 97 MB: '
                 'with `racepriv.cache_size` as it is by default they are made again each time.\n')
    data.session.run('CREATE TABLE sketches (sequence text, seed int, s race_sketch)')
    points = itertools.count()
    for sequence, seeds in ('structured', SESSIONS), ('independent', 2):
        make_sketches(data.session, sequence, seeds)
    data.session.run('CREATE INDEX ON embedded_1536 (id); VACUUM ANALYZE embedded_1536')
    lines = [('SELECT 1', microseconds(np.median([time_of_fresh_session('SELECT 1')
                                                  for _ in range(SESSIONS)])),
              '', microseconds(np.median([data.session.time('SELECT 1') for _ in range(100)])))]
    for sequence, cache, seeds in (('structured', '64MB', SESSIONS), ('independent', '64MB', 2),
                                   ('independent', '200MB', 2)):
        first, after = first_and_after(sequence, cache, seeds, points,
                                       100 if sequence == 'structured' else 5)
        fresh = np.median([time_of_fresh_session(ask(sequence, 0, next(points)))
                           for _ in range(SESSIONS if sequence == 'structured' else 3)])
        lines.append((f'{sequence}, cache {cache}', *map(microseconds, (fresh, first, after))))
        if sequence == 'structured':
            report.at_most('a structured query, the first time', first * 1e6, WANTED['first'], ' µs')
            report.at_most('a structured query, after that', after * 1e6, WANTED['after'], ' µs')
    report.table(('', 'fresh', 'first', 'after'), lines)


def long_vectors(report, data):
    """For RESULTS.md: what a structured record and query of 1,536 numbers take"""
    report.heading('Long vectors')
    data.add('embedded_1536', embeddings(np.random.default_rng(1536), RECORDS, 1536), FLOAT4, '')
    data.session.run('CREATE TABLE sketches (sequence text, seed int, s race_sketch); '
                     'CREATE INDEX ON embedded_1536 (id)')
    make_sketches(data.session, 'structured', SESSIONS)
    data.session.run('VACUUM ANALYZE embedded_1536')
    record = np.median([data.session.time(f"SELECT race_count(race_build({sql('structured', 1536)}, x)) "
                                          'FROM embedded_1536') for _ in range(5)]) / RECORDS
    first, after = first_and_after('structured', '64MB', SESSIONS, itertools.count(), 100)
    report.write(f'1,536 numbers, angular, power {POWER}, R = {ROWS}, sequence structured: {record * 1e6:.0f} µs '
                 f'a record; a query {first * 1e6:.0f} µs the first time and {after * 1e6:.0f} µs after, each a '
                 'statement of its own.  VECTORS.md has more.')
    report.against('a record of 1,536 numbers', '7.0 ms', f'{record * 1e3:.2f} ms', 'at most 0.25 ms')
    report.against('a query of 1,536 numbers, the first time', '5 s', f'{first * 1e3:.2f} ms', 'at most 0.5 ms')
    report.against('the same after that', '5 s', f'{after * 1e3:.2f} ms', 'at most 0.2 ms')


def kernel_values(part, x, q):
    """Exact kernels, [query, record]"""
    if part['kernel'] == 'angular':
        return (1 - np.arccos(np.clip(q @ x.T, -1, 1)) / np.pi) ** part['power']
    from math import erf
    c = np.sqrt(np.maximum(2 - 2 * q @ x.T, 1e-18)) / part['bandwidth']
    return np.vectorize(erf)(1 / c / 2 ** .5) + (2 / np.pi) ** .5 * c * np.expm1(-.5 / c ** 2)


def errors(library, part, x, q):
    """Of densities over seeds, by sequence: root mean square, and how many intervals hold"""
    exact = kernel_values(part, x, q).mean(1)
    for sequence in SEQUENCES:
        off, held = [], []
        for seed in range(SEEDS):
            params = library.params(**part, dims=x.shape[1], rows=ROWS, range=RANGE,
                                    sequence=sequence, seed=seed)
            rows = Rows(library, params)
            same = (rows.cells(Vectors(q))[:, None] == rows.cells(Vectors(x))[None]).mean(1)
            blocks = same.reshape(len(q), 16, -1).mean(2)
            off.append(same.mean(1) - exact)
            held.append(abs(off[-1]) < 2.131 * blocks.std(1, ddof=1) / 4)
        yield np.sqrt(np.mean(np.square(off))), np.mean(held)


def accuracy(report, library):
    report.heading('Errors')
    report.write(f'Root mean square error of the density at 20 points among 500 records, over '
                 f'{SEEDS} seeds, R = {ROWS}, in thousandths; and the share of intervals of 95 %, '
                 'from 16 blocks of rows, that hold the truth.  Embeddings are mixtures of 20 topics '
                 'with noise; tags are eight equal numbers among zeros.\n')
    lines = []
    for make, dims in itertools.product((embeddings, tags), (384, 1536)):
        random = np.random.default_rng(dims)
        x, q = make(random, 500, dims), make(random, 20, dims)
        for part in (dict(kernel='angular', power=1), dict(kernel='angular', power=POWER),
                     dict(kernel='l2', power=1, bandwidth=1)):
            found = list(errors(library, part, x, q))
            lines.append((make.__name__, dims, part['kernel'], part['power'],
                          *(f'{error * 1e3:.2f}' for error, _ in found),
                          *(f'{held:.2f}' for _, held in found)))
    report.table(('records', 'd', 'kernel', 'power', *SEQUENCES,
                  *(f'held, {sequence}' for sequence in SEQUENCES)), lines)


def main():
    program, library, folder, results = sys.argv[1:]
    report = Report()
    report.write('# Long vectors\n')
    report.write('Written by `make bench`.  Medians of one run.\n')
    with Session() as session:
        session.run('CREATE EXTENSION racepriv')
        data = Data(session, Bare(program, Library(library), folder), folder)
        report.write(machine(session.value('SHOW server_version'),
                             data.bare.library.vector_code()) + '.')
        build_times(report, data)
        query_times(report, data)
        accuracy(report, data.bare.library)
    report.conclude()
    with open(results, 'w') as file:
        file.write(report.text)


if __name__ == '__main__':
    main()
