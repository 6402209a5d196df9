"""Asks clients/python/racepriv.py what 290_format.pl compares: lines of fields from stdin, after the mode."""
import json
import sys
import uuid

import numpy as np
import racepriv


def build(name, empty, records, expected):
    records = eval(records, {'uuid': uuid})                 # the test itself wrote them
    built = racepriv.build(racepriv.read(empty).parts, records).to_text()
    print(name, 'same' if built == expected else 'different', sep='\t')


def ask(name, text, query, *answers):
    sketch = racepriv.read(text)
    query = eval(query)
    print(sketch.count, repr(float(sketch.kernel_sum(query))), repr(float(sketch.density(query))), sep='\t')


def status(text):
    sketch = racepriv.read(text)
    names = {racepriv.EXACT: 'exact', racepriv.SHARE: 'share', racepriv.PRIVATE: 'private'}
    print(names[sketch.status], repr(sketch.epsilon), f'{sketch.counter_variance:.6f}', f'{sketch.count_variance:.6f}', sep='\t')


def weighted(exact, private):
    exact, private = racepriv.read(exact), racepriv.read(private)
    print(exact.status, exact.count, exact.max_contributions, exact.counters.sum(), private.count, private.max_contributions)


def nodes(text):
    array = racepriv.read(text).nodes()
    print('x'.join(map(str, array.shape)), f'{array.sum():g}')


def tables(text):
    arrays = racepriv.read(text).tables()
    for columns, array in sorted(arrays.items()):
        print(','.join(map(str, columns)), 'x'.join(map(str, array.shape)), f'{array.sum():g}')
    print(f'cell 1: {arrays[0,][1]:g}')


def private(tables, moments):
    sketch = racepriv.read(tables)
    arrays = sketch.tables()
    print(sketch.counters.size - sum(array.size for array in arrays.values()) - len(sketch.signs()))
    print(max(abs(array.sum() - 300) for array in arrays.values()))
    print(*racepriv.read(moments).moments().ravel())


def signs(text):
    """Give tables signs of the columns 0 and 2, and a counter of this pair."""
    sketch = racepriv.read(text)
    part = sketch.parts[0]
    part.arrays['signs'] = np.array([2.5, 3, 0, 1])
    part.extra = *part.extra[:3], 4
    part.range += 1
    sketch.counters = np.append(sketch.counters, [[-77]], axis=1)
    print(sketch.to_text(), racepriv.read(sketch.to_text()).signs(), sep='\t')


def points(text):
    for weight, place in zip(*racepriv.read(text).points()):
        if weight > 0:
            print(repr(float(weight)), *map(float, place), sep='\t')


def log_linear(text):
    """How many numbers of a model of tables are no counter's, and how far its distribution is from the counters."""
    sketch = racepriv.read(text)
    numbers = np.frombuffer(sketch.model, '<f8')[4:]
    groups, factors = racepriv.split_tables(sketch.parts[0], numbers)
    every = np.indices([len(group) for group in groups])
    place = {columns: tuple(every[i] if len(columns) == 1 else groups[i][every[i]] for i in columns) for columns in factors}
    chances = np.exp(sum(table[place[columns]].sum(axis=-1) for columns, table in factors.items()))
    apart = 0
    for columns, table in sketch.tables().items():
        counts = np.zeros(table.shape)
        np.add.at(counts, place[columns], sketch.count * chances / chances.sum())
        apart = max(apart, abs(counts - table).max())
    print(len(numbers) + len(sketch.signs()) - sketch.counters.size, apart, sep='\t')


def columns(text):
    """The names of columns; and the value with columns of other names, with others of them, and with other JSON."""
    sketch = racepriv.read(text)
    domains = json.loads(sketch.columns)
    print(*(domain['name'] for domain in domains), sep=',')
    for changed in (sketch.columns.replace(b'"name": "a"', b'"name": "other"'), b'[' + sketch.columns[sketch.columns.index(b'}, ') + 3:],
                    sketch.columns[:-1], sketch.columns.replace(b', ', b','), sketch.columns.replace(b'"name"', b'"nam\0"')):
        sketch.columns = changed
        print(sketch.to_text())


def coarse(text):
    sketch = racepriv.read(text)
    print(sketch.parts[0].extra[3], *sketch.moments().ravel())


def shares(*texts):
    for text in texts:
        sketch = racepriv.read(text)
        print(sketch.status, sketch.parties, sketch.colluders, sketch.dropouts, sketch.releases, len(sketch.random_numbers), sep='\t')


def moments(text):
    sketch = racepriv.read(text)
    lower, upper = (sketch.parts[0].arrays[name] for name in ('lower', 'upper'))
    first = sketch.moments()[0]
    print(*((lower + upper) / 2 + first[1:] / first[0] * (upper - lower) / 2))


def damaged(text):
    whole = racepriv.read(text).to_bytes()
    changed = whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]
    for data in whole, changed, whole[:-1], whole + b'\0':
        try:
            racepriv.read(data)
            print('whole')
        except ValueError:
            print('refused')


for line in sys.stdin.read().splitlines():
    globals()[sys.argv[1]](*line.split('\t'))
