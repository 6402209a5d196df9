"""Building a sketch: throughput, scaling, wide records."""
import numpy as np

from data import SIZES, normal_records
from measure import BANDWIDTH, build_sql, exact_sum, medians, timed
from paper import Race
from report import milliseconds, ratio
from server import FLOAT4

# table, dims, R, rounds: skin in the middle, and one axis after the other
POINTS = [('skin', 3, 1024, 7),
          ('skin', 3, 256, 3), ('skin', 3, 4096, 3),
          ('normal_1', 1, 1024, 3), ('normal_55', 55, 1024, 3),
          ('normal_256', 256, 1024, 3),
          ('normal_10000', 3, 1024, 3), ('normal_100000', 3, 1024, 3),
          ('normal_1000000', 3, 1024, 3)]


def builder(data, table, dims, rows=1024):
    return lambda: data.session.time(build_sql(table, dims, rows))


def bare_builder(data, table, dims, rows):
    return lambda: data.bare.time('build', table, dims, rows)


def scanner(data, table):
    return lambda: data.session.time(f'SELECT avg(x[1]) FROM {table}')


def contestants(data, table, dims, rows):
    x = data.records[table]
    return {
        'ours': builder(data, table, dims, rows),
        'bare': bare_builder(data, table, dims, rows),
        'hash': lambda: data.bare.time('hash', table, dims, rows),
        'dgemm': lambda: data.bare.time('dgemm', table, dims, rows),
        'paper': lambda: timed(lambda: Race(dims, rows, 1024, BANDWIDTH).build(x)),
        'blocks': lambda: timed(
            lambda: Race(dims, rows, 1024, BANDWIDTH).build_in_blocks(x)),
        'sum': lambda: data.session.time(exact_sum(table, dims)),
        'scan': scanner(data, table),
    }


def throughput(report, data):
    report.heading('Building a sketch')
    report.write('Milliseconds, one process, W = 1024: `race_build` in SQL; the same code '
                 'without PostgreSQL (bare, of which hashing); dgemm for the projections '
                 'alone; the paper\'s Algorithm 1 in NumPy, and that in blocks of rows that '
                 'fit into caches; one query by the exact sum in SQL; `avg(x[1])` of the '
                 'same table.  Arrays are float8[], inline.\n')
    lines = []
    results = {}
    for table, dims, rows, rounds in POINTS:
        t = medians(contestants(data, table, dims, rows), rounds)
        results[table, rows] = t
        lines.append((table, f'{len(data.records[table]):,}', dims, rows,
                      *map(milliseconds, t.values()),
                      ratio(t['bare'] / t['ours']), ratio(t['paper'] / t['ours']),
                      ratio(t['blocks'] / t['ours']),
                      ratio(t['dgemm'] / t['hash']), ratio(t['ours'] / t['scan'])))
    report.table(('table', 'N', 'd', 'R', 'race_build', 'bare', 'hash', 'dgemm', 'NumPy',
                  'in blocks', 'exact sum', 'avg', 'speed / bare', 'speed / NumPy',
                  'speed / in blocks', 'hash / dgemm', 'time / avg'), lines)
    skin = results['skin', 1024]
    report.at_least('1: throughput of race_build, skin, R = 1024, against the bare loop',
                    skin['bare'] / skin['ours'], 0.7)
    report.at_least('1: the same against NumPy', skin['paper'] / skin['ours'], 6)
    report.at_least('1: the same against NumPy in blocks of rows (not asked for)',
                    skin['blocks'] / skin['ours'], 6)
    for dims in 55, 256:
        t = results[f'normal_{dims}', 1024]
        report.at_least(f'2: projection, d = {dims}, against dgemm',
                        t['dgemm'] / t['hash'], 0.6)


def exponent(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def scaling(report, data):
    report.heading('How cost grows')
    report.write('Exponents fitted to medians, over a decade of each.  The bare loop '
                 'beside.  A record costs a constant for counting, and a multiple of d '
                 'for hashing: where d is small the constant shows.\n')
    axes = {
        'N': [(n, f'normal_{n}', 3, 1024) for n in SIZES if n >= 100000],
        'R': [(rows, 'normal_100000', 3, rows) for rows in (400, 1000, 2000, 4000)],
        'd from 25': [(dims, f'wide_{dims}', dims, 1024) for dims in (25, 80, 256)],
        'd from 100': [(dims, f'wide_{dims}', dims, 1024) for dims in (100, 316, 1000)],
    }
    for dims in 25, 80, 256, 100, 316, 1000:
        data.add(f'wide_{dims}', normal_records(10000, dims))
    lines = []
    for axis, points in axes.items():
        sizes = [point[0] for point in points]
        measures = {}
        for size, table, dims, rows in points:
            measures['ours', size] = builder(data, table, dims, rows)
            measures['bare', size] = bare_builder(data, table, dims, rows)
        t = medians(measures, 5)
        ours, bare = ([t[who, size] for size in sizes] for who in ('ours', 'bare'))
        lines.append((axis, ', '.join(f'{size:,}' for size in sizes),
                      ', '.join(map(milliseconds, ours)),
                      ', '.join(map(milliseconds, bare)),
                      ratio(exponent(sizes, ours)), ratio(exponent(sizes, bare))))
        report.at_most(f'5: exponent of cost in {axis}, distance from 1',
                       abs(exponent(sizes, ours) - 1), 0.1)
    report.table(('axis', 'values', 'race_build, ms', 'bare, ms', 'exponent',
                  'exponent, bare'), lines)


def toast(report, data):
    report.heading('Wide records')
    report.write('20,000 records of 256 numbers.  A float8[] of 256 is longer than '
                 '2 KB: PostgreSQL moves it out of the row (toast), and each record costs '
                 'an index lookup more, unless the table\'s `toast_tuple_target` is raised. '
                 'A real[] is shorter.\n')
    x = data.records['normal_256']
    data.add('wide_toasted', x, options='')
    data.add('wide_inline', x)
    data.add('wide_real', x, oid=FLOAT4)
    names = {'float8[], toasted': 'wide_toasted', 'float8[], inline': 'wide_inline',
             'real[]': 'wide_real'}
    measures = {}
    for name, table in names.items():
        measures[name, 'build'] = builder(data, table, 256)
        measures[name, 'scan'] = scanner(data, table)
    t = medians(measures, 5)
    report.table(('array', 'race_build, ms', 'avg, ms'),
                 [(name, milliseconds(t[name, 'build']), milliseconds(t[name, 'scan']))
                  for name in names])
