"""A made-up table of numbers in [0, 1] and categories that depend on each other: (numbers, codes, sizes)."""
import itertools

import numpy as np

BINS = 10               # of numbers, for marginals


def five_columns(n=20_000):
    """Age and income, and categories that depend on them"""
    random = np.random.default_rng(20)
    sex = random.integers(2, size=n)
    town = random.choice(7, n, p=[0.3, 0.2, 0.15, 0.15, 0.1, 0.05, 0.05])
    age = np.clip(random.beta(2, 3, n) + 0.05 * (town % 3), 0, 1)
    school = np.clip(np.floor(4 * (0.6 * random.random(n) + 0.3 * (1 - age) + 0.02 * town)), 0, 3)
    income = np.clip(0.1 + 0.12 * school + 0.3 * age * (1 - age) * 2 + 0.05 * sex
                     + random.gamma(2, 0.05, n), 0, 1)
    return np.column_stack([age, income]), np.column_stack([sex, town, school]).astype(int), (2, 7, 4)


def coded(x, categories):
    """Codes of all columns: bins of numbers, then categories"""
    return np.column_stack([np.minimum((x * BINS).astype(int), BINS - 1), categories])


NUMBERS = itertools.count(1)


def release(session, table, sizes, epsilon):
    """Release columns of codes [x] of a table by pairs, with pure noise; the name of the release, and of its table"""
    name = f'{table}_{next(NUMBERS)}'
    columns = [f'c{j}' for j in range(len(sizes))]
    declared = ', '.join(f"{column} text NOT NULL CHECK ({column} IN ({', '.join(repr(str(code)) for code in range(size))}))"
                         for column, size in zip(columns, sizes))
    codes = ', '.join(f'x[{j + 1}]::int::text' for j in range(len(sizes)))
    session.run(f'SET client_min_messages = warning; DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({declared}); '
                f'INSERT INTO {name} SELECT {codes} FROM {table}; '
                f"CALL race_protect('{name}', '{name}', {epsilon}); "
                f"CALL race_release('{name}', '{name}', '{{{','.join(columns)}}}', {epsilon})")
    return name


def released_tables(session, name, sizes, pairs):
    """Counts of all pairs of columns of a release: where none was measured, those of independent columns"""
    tables = {}
    ones = [np.array([max(float(line.split('|')[1]), 0) for line in session.run(
        f"SELECT value1, count FROM race_crosstab('{name}', 'c{j}') ORDER BY value1::int")[0]]) for j in range(len(sizes))]
    for i, j in pairs:
        tables[i, j] = np.outer(ones[i], ones[j]) / max(ones[j].sum(), 1)
        for line in session.run(f"SELECT value1, value2, count FROM race_crosstab('{name}', 'c{i}', 'c{j}')")[0]:
            a, b, count = line.split('|')
            if count:
                tables[i, j][int(a), int(b)] = float(count)
    return tables
