"""Other private synthetic tables: rows of numbers from 0 on, and how many values each column can have; then so many rows more

PrivBayes is written out here, in NumPy.  MST and AIM are their authors' programs (github ryan112358/private-pgm at 01f02f1), in a
folder that PGM names.  They use packages that Debian does not have, for one function each: these stand here.
"""
import itertools
import sys
import types

import numpy

USEFULNESS = 4          # of PrivBayes: the least mean number of records of a cell, in mean absolute noise
SELECTION = 0.3         # of PrivBayes: the share of the budget that finds parents
MOST_PARENTS = 4
MOST_CANDIDATES = 4000  # in a round, drawn at random: PrivBayes may look at more


def codes(rows, columns, cells):
    return numpy.ravel_multi_index(rows[:, columns].T, [cells[i] for i in columns]) if columns else numpy.zeros(len(rows), int)


def dependence(rows, cells, column, parents):
    """Half the distance in L1 between a table and what it would be, if the column did not depend on its parents"""
    table = numpy.bincount(codes(rows, [*parents, column], cells), minlength=cells[column] * size(cells, parents))
    table = table.reshape(-1, cells[column])
    return abs(table - numpy.outer(table.sum(1), table.sum(0) / len(rows))).sum() / 2


def size(cells, columns):
    return int(numpy.prod([cells[i] for i in columns], dtype=float))


def parent_sets(known, cells, most):
    """Sets of known columns with at most so many cells together, to which no further one could be added"""
    fitting = [set(s) for n in range(MOST_PARENTS + 1) for s in itertools.combinations(known, n) if size(cells, s) <= most]
    return [sorted(s) for s in fitting if len(s) == MOST_PARENTS or
            not any(size(cells, s | {i}) <= most for i in known if i not in s)]


def privbayes(rows, cells, epsilon, delta, random):
    """Zhang et al. (2017): a Bayesian network by the exponential mechanism, and its tables with Gaussian noise

    The paper has pure noise.  With the Gaussian one and the same delta as others it does better.
    """
    from mechanisms.cdp2adp import cdp_rho
    rho, columns = cdp_rho(epsilon, delta), len(cells)
    deviation = numpy.sqrt(columns / (2 * (1 - SELECTION) * rho))
    # a record changes the score by at most 2 (Zhang et al. 2021, PrivSyn, have 4 for twice the score)
    factor = numpy.sqrt(8 * SELECTION * rho / max(columns - 1, 1)) / (2 * 2)
    most = len(rows) / (USEFULNESS * deviation * numpy.sqrt(2 / numpy.pi))
    order = [(int(random.integers(columns)), [])]
    while len(order) < columns:
        known = [column for column, _ in order]
        candidates = [(column, parents) for column in range(columns) if column not in known
                      for parents in parent_sets(known, cells, most / cells[column])]
        if not candidates:      # columns of many values have no parents
            candidates = [(column, []) for column in range(columns) if column not in known]
        if len(candidates) > MOST_CANDIDATES:
            candidates = [candidates[i] for i in random.choice(len(candidates), MOST_CANDIDATES, replace=False)]
        scores = numpy.array([factor * dependence(rows, cells, *candidate) for candidate in candidates])
        chances = numpy.exp(scores - scores.max())
        order.append(candidates[random.choice(len(candidates), p=chances / chances.sum())])
    sample = numpy.zeros_like(rows)
    for column, parents in order:
        table = numpy.bincount(codes(rows, [*parents, column], cells), minlength=cells[column] * size(cells, parents))
        table = numpy.maximum(table + random.normal(0, deviation, table.size), 0).reshape(-1, cells[column])
        table[table.sum(1) == 0] = table.sum(0) + 1e-9
        below = (table.cumsum(1) / table.sum(1, keepdims=True))[codes(sample, parents, cells)] < random.random(len(rows))[:, None]
        sample[:, column] = numpy.minimum(below.sum(1), cells[column] - 1)
    return sample


def independent(rows, cells, epsilon, delta, random):
    """A noisy table of each column, which gets an equal share of epsilon"""
    sample = numpy.zeros_like(rows)
    for i, n in enumerate(cells):
        table = numpy.maximum(numpy.bincount(rows[:, i], minlength=n) + random.laplace(0, len(cells) / epsilon, n), 1e-9)
        sample[:, i] = random.choice(n, len(rows), p=table / table.sum())
    return sample


class DisjointSet:
    def __init__(self):
        self.parent = {}

    def find(self, x):
        while self.parent.setdefault(x, x) != x:
            x = self.parent[x]
        return x

    def union(self, a, b):
        self.parent[self.find(a)] = self.find(b)

    def connected(self, a, b):
        return self.find(a) == self.find(b)


def stand_in(name, **contents):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(contents)


def use_private_pgm(folder):
    """Make the modules of a checkout known."""
    import scipy.sparse
    sys.path[:0] = [f'{folder}/src', folder, f'{folder}/mechanisms']
    stand_in('disjoint_set', DisjointSet=DisjointSet)
    stand_in('hdmm')
    stand_in('hdmm.matrix', Identity=scipy.sparse.eye)
    stand_in('autodp', privacy_calibrator=None)
    stand_in('matplotlib')
    stand_in('matplotlib.pyplot')


def dataset(rows, cells):
    import pandas
    from mbi import Dataset, Domain
    names = [f'c{i}' for i in range(len(cells))]
    return Dataset(pandas.DataFrame(rows.astype(int), columns=names), Domain(names, [int(c) for c in cells]))


def mst(rows, cells, epsilon, delta, random):
    from mechanisms.mst import MST
    numpy.random.seed(random.integers(2 ** 31))
    return MST(dataset(rows, cells), epsilon, delta).df.values


def aim(rows, cells, epsilon, delta, random):
    """200 iterations instead of 1,000, which take half an hour for Adult"""
    from mechanisms.aim import AIM
    numpy.random.seed(random.integers(2 ** 31))
    data = dataset(rows, cells)
    pairs = [(pair, 1.0) for pair in itertools.combinations(data.domain, 2) if data.domain.size(pair) <= 10000]
    return AIM(epsilon, delta, prng=numpy.random, max_iters=200).run(data, pairs)[1].df.values


RIVALS = {'independent columns': independent, 'PrivBayes': privbayes, 'MST': mst, 'AIM': aim}
