"""Made-up tables of numbers in [0, 1] and categories that depend on each other: (numbers, codes, sizes)."""
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


def four_columns(n=12_000):
    """A skewed number, and a category that follows Zipf's law"""
    random = np.random.default_rng(101)
    a = random.choice(3, n, p=[0.6, 0.3, 0.1])
    zipf = 1 / np.arange(1, 13)
    b = (random.choice(12, n, p=zipf / zipf.sum()) + 3 * a * (random.random(n) < 0.5)) % 12
    x = np.clip(random.lognormal(-2.2 + 0.5 * a, 0.7, n), 0, 1)
    c = np.clip(np.floor(5 * (0.5 * random.random(n) + 0.6 * np.sqrt(x))), 0, 4).astype(int)
    return x[:, None], np.column_stack([a, b, c]), (3, 12, 5)


def eight_columns(n=30_000):
    """Three numbers, and five categories of up to 20 values"""
    random = np.random.default_rng(102)
    z = random.normal(size=(n, 3))
    x = np.column_stack([np.exp(0.6 * z[:, 0] - 2), 0.5 + 0.15 * z[:, 0] + 0.1 * z[:, 1],
                         random.beta(1, 6, n)])
    a = (z[:, 1] + random.normal(size=n) > 0).astype(int)
    b = random.choice(20, n, p=random.dirichlet(np.ones(20) * 0.7))
    c = np.clip(np.floor(3 + 1.2 * z[:, 2] + 0.8 * z[:, 0]), 0, 5).astype(int)
    d = np.where(random.random(n) < 0.6, b % 4, random.integers(4, size=n))
    e = np.where(random.random(n) < 0.7, a, 2 * (x[:, 2] > 0.15)).astype(int)
    return np.clip(x, 0, 1), np.column_stack([a, b, c, d, e]), (2, 20, 6, 4, 3)


def ten_columns(n=15_000):
    """Groups that four numbers and five categories depend on; not looked at before methods were chosen"""
    random = np.random.default_rng(103)
    group = random.choice(4, n, p=[0.45, 0.3, 0.15, 0.1])
    x = np.column_stack([random.gamma(1.5 + group, 0.06), random.beta(2 + group, 5, n)])
    x = np.column_stack([x, 0.8 - 0.5 * x[:, 0] + 0.1 * random.normal(size=n), random.random(n) ** 3])
    x = np.clip(x, 0, 1)

    def follows(size, other, share):
        of_other = random.integers(size, size=BINS)
        usual = random.choice(size, n, p=random.dirichlet(np.ones(size)))
        return np.where(random.random(n) < share, of_other[other], usual)
    bins = coded(x, group[:, None])
    sizes = (4, 15, 2, 8, 3, 5)
    categories = [group] + [follows(size, other, share) for size, other, share in
                            zip(sizes[1:], (group, bins[:, 0], bins[:, 1], group, bins[:, 3]),
                                (0.5, 0.6, 0.5, 0.2, 0.4))]
    return x, np.column_stack(categories), sizes


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
    """Counts of all pairs of columns of a release"""
    tables = {}
    for i, j in pairs:
        tables[i, j] = np.zeros((sizes[i], sizes[j]))
        for line in session.run(f"SELECT value1, value2, count FROM race_crosstab('{name}', 'c{i}', 'c{j}')")[0]:
            a, b, count = line.split('|')
            tables[i, j][int(a), int(b)] = float(count)
    return tables


def synthetic_codes(session, name, n, seed):
    lines = session.run(f"SELECT * FROM race_synthesize(NULL::{name}, '{name}', {n}, {seed})")[0]
    return np.array([line.split('|') for line in lines], int)


TABLES = {'5 columns': five_columns, '4 columns': four_columns, '8 columns': eight_columns,
          '10 columns': ten_columns}
