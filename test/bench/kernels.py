"""Every kernel: what a record costs to build, with and without PostgreSQL, and a query."""
import dataclasses
import os

import numpy as np

from lsh import Categories, Sets
from measure import BANDWIDTH, medians

ROWS = 1024
RANGE = 1024            # but where a case says otherwise
POINTS = 1000
SETS = 20000            # and rows of categories
CHOICE = 10000          # distinct elements
VALUES = 10             # of a category

VECTORS = {3: 'skin', 55: 'normal_55', 256: 'normal_256'}


@dataclasses.dataclass
class Case:
    """Some kernel on some records"""
    what: str               # records in words
    parts: list             # what Library.params() is told of each part
    tables: list            # records of each part: names of files for bare.c
    source: str             # what follows FROM; columns are x and c
    range: int = RANGE

    def functions(self):
        return sum(part.get('power', 1) for part in self.parts)

    def sql(self):
        """The parameters"""
        def text(kernel, **others):
            return f"{kernel}({', '.join(f'{key}={value}' for key, value in others.items())})"

        shared = dict(rows=ROWS, range=self.range)
        first, *others = self.parts
        texts = [text(**first, **shared), *(text(**part) for part in others)]
        return f"'{' * '.join(texts)}'::race_params"

    def record(self):
        return 'ROW(x, c)' if len(self.parts) > 1 else 'x'


def vector_cases():
    for dims in 3, 55:
        for kernel in 'l2', 'l1':
            yield Case(f'{dims} numbers', [dict(kernel=kernel, dims=dims, bandwidth=BANDWIDTH)],
                       [VECTORS[dims]], VECTORS[dims])
    for dims in 55, 256:
        for power in 1, 8:
            for range_ in RANGE, 2 ** power:
                yield Case(f'{dims} numbers', [dict(kernel='angular', dims=dims, power=power)],
                           [VECTORS[dims]], VECTORS[dims], range_)


def element_cases():
    for n in 10, 100:
        for kind in 'int', 'text':
            yield Case(f'{n} elements, {kind}[]', [dict(kernel='jaccard')],
                       [f'sets_{n}'], f'sets_{n}_{kind}')
    for n in 5, 20:
        for kind in 'int', 'text':
            yield Case(f'{n} columns, {kind}[]', [dict(kernel='match', dims=n)],
                       [f'categories_{n}'], f'categories_{n}_{kind}')
    yield Case('3 numbers, 5 columns, text[]',
               [dict(kernel='l2', dims=3, bandwidth=BANDWIDTH), dict(kernel='match', dims=5)],
               ['normal_mixed', 'categories_5'], 'mixed')


def add_elements(data, name, values, records):
    """Records of elements: as integers, and as texts that are a little longer"""
    data.bare.keep(name, records)
    path = os.path.join(data.folder, 'elements')
    for kind, prefix in ('int', ''), ('text', 'item '):
        with open(path, 'w') as file:
            for i, row in enumerate(values):
                file.write(f"{i}\t{{{','.join(f'{prefix}{value}' for value in row)}}}\n")
        data.session.run(f'CREATE TABLE {name}_{kind} (id int, x {kind}[])')
        data.session.run(f"\\copy {name}_{kind} FROM '{path}'\n")
        data.session.run(f'VACUUM ANALYZE {name}_{kind}')


def add_records(data):
    random = np.random.default_rng(1)
    library = data.bare.library
    for n in 10, 100:
        values = random.integers(CHOICE, size=(SETS, n))
        sets = Sets(library.elements(values).ravel(), np.arange(SETS + 1) * n)
        add_elements(data, f'sets_{n}', values, sets)
    for n in 5, 20:
        values = random.integers(VALUES, size=(SETS, n))
        add_elements(data, f'categories_{n}', values, Categories(library.elements(values)))
    data.add('normal_mixed', data.records['normal_100000'][:SETS])
    data.session.run('CREATE TABLE mixed AS SELECT id, n.x, c.x AS c '
                     'FROM normal_mixed n JOIN categories_5_text c USING (id)')
    data.session.run('VACUUM ANALYZE mixed')


def measure(data, case):
    """Seconds to build, to build and to hash without PostgreSQL, and to ask of POINTS"""
    session = data.session
    parts = [data.bare.library.params(**part, rows=ROWS, range=case.range)
             for part in case.parts]
    session.run(f'CREATE TABLE built AS SELECT race_build({case.sql()}, {case.record()}) '
                f'AS s FROM {case.source}')
    session.run(f'CREATE TABLE points AS SELECT * FROM {case.source} '
                f'ORDER BY hashint4(id), id LIMIT {POINTS}')
    t = medians({
        'build': lambda: session.time(
            f'SELECT race_count(race_build({case.sql()}, {case.record()})) '
            f'FROM {case.source}'),
        'bare': lambda: data.bare.time_of('build', parts, case.tables),
        'hash': lambda: data.bare.time_of('hash', parts, case.tables),
        'ask': lambda: session.time(
            f'SELECT sum(race_kde(s, {case.record()})) FROM built, points'),
    }, 3)
    session.run('DROP TABLE built, points')
    return t


def line_of(data, case):
    t = measure(data, case)
    n = int(data.session.value(f'SELECT count(*) FROM {case.source}'))
    kernel = ' * '.join(part['kernel'] for part in case.parts)
    power = case.parts[0].get('power', 1)
    build, bare, hashing = (t[name] / n * 1e9 for name in ('build', 'bare', 'hash'))
    evaluations = ROWS * case.functions()
    return (kernel, case.what, power, case.range, f'{n:,}', f'{build:,.0f}', f'{bare:,.0f}',
            f'{hashing:,.0f}', f'{bare / build:.2f}', f'{evaluations / build * 1e3:,.0f}',
            f'{evaluations / hashing * 1e3:,.0f}', f"{t['ask'] / POINTS * 1e6:,.1f}")


def throughput_of_kernels(report, data):
    report.heading('Kernels')
    report.write('One process, R = 1024.  Nanoseconds a record: `race_build`; the same '
                 'without PostgreSQL (bare), of which hashing.  Of all, and of hashing '
                 'alone, millions of functions evaluated a second: R times power, of each '
                 f'part.  Microseconds a query: one statement over {POINTS:,} points, '
                 'divided by them.\n')
    add_records(data)
    report.table(('kernel', 'records', 'power', 'W', 'N', 'race_build, ns', 'bare, ns',
                  'hash, ns', 'speed / bare', 'million functions / s', 'of hashing',
                  'race_kde, µs'),
                 [line_of(data, case) for case in (*vector_cases(), *element_cases())])
