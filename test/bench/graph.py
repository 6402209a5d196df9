"""The Slashdot graph: each node the set of those it points to, under Jaccard.

Sums are estimated outside the database as well, by the row functions of src/core: at
ranges that a sketch may not have, and with what the rows say one by one.
"""
import dataclasses
import os

import numpy as np

from lsh import Rows, Sets

NODES = 82168
HELD = 500              # nodes that are asked about, and not built
SEED = 1                # that chooses them
ROWS = 2000
WITHOUT_END = 2 ** 31   # a range at which next to nothing collides


def take(starts, values, chosen):
    """Of values[starts[i]:starts[i + 1]] for each i, those of some i"""
    sizes = np.diff(starts)[chosen]
    new_starts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(starts[:-1][chosen] - new_starts[:-1], sizes)
    return new_starts, values[places + np.arange(new_starts[-1])]


def group(keys, values, n):
    """The values of each key below n, as starts and all values"""
    order = np.argsort(keys, kind='stable')
    return np.searchsorted(keys[order], np.arange(n + 1)), values[order]


class Graph:
    """Nodes that are built, and nodes that are held out to be asked about"""

    def __init__(self, nodes, neighbors):
        self.starts, self.neighbors = group(nodes, neighbors, NODES)
        self.inverse = group(neighbors, nodes, NODES)
        self.held = np.sort(np.random.default_rng(SEED).choice(NODES, HELD, replace=False))
        self.is_built = np.ones(NODES, bool)
        self.is_built[self.held] = False
        self.sizes = np.diff(self.starts)

    def exact_sum(self, node, among):
        """The sum of the Jaccard similarities of a node's set to those of others"""
        size = self.sizes[node]
        if size == 0:
            return float(np.sum(among & (self.sizes == 0)))
        neighbors = self.neighbors[self.starts[node]:self.starts[node + 1]]
        shared = np.bincount(take(*self.inverse, neighbors)[1], minlength=NODES)
        return np.sum((shared / np.maximum(self.sizes + size - shared, 1))[among])

    def sets(self, library, chosen):
        starts, neighbors = take(self.starts, self.neighbors, chosen)
        return Sets(library.elements(neighbors), starts)


def read_graph():
    path = os.path.join(os.environ['RACEPRIV_DATA'], 'slashdot.csv.gz')
    edges = np.loadtxt(path, delimiter=',', skiprows=1, dtype=np.int64)
    return Graph(edges[:, 0], edges[:, 1])


@dataclasses.dataclass
class Counted:
    """What the rows of a sketch of some range say of each query"""
    range: int
    records: int
    counters: np.ndarray    # [row, query]
    pairs: float            # that share a bucket, mean over rows: the sum of squares

    def estimates(self):
        """The sum of kernel values, collisions corrected"""
        return ((self.range * self.counters.mean(axis=0) - self.records)
                / (self.range - 1))

    def uncorrected(self):
        return self.counters.mean(axis=0)

    def variances(self):
        """Of a row's estimate, measured"""
        return self.counters.var(axis=0) * (self.range / (self.range - 1)) ** 2

    def variances_at(self, range_):
        """The same predicted for a smaller range.

        Let n(c) records have code c, and the query code b.  Its counter is n(b) + the
        sum of n(c) over the other codes that fall into its bucket, each with
        probability 1 / W.  With f for the mean of n(b), the corrected estimate has
        variance Var n(b) + (E sum of n(c)^2 - E n(b)^2) / (W - 1).  Records that share
        a code fall together: what counts is not N but the sum of n(c)^2, that is of
        the kernel over all pairs of records."""
        others = self.pairs - np.mean(self.counters ** 2, axis=0)
        return self.counters.var(axis=0) + others / (range_ - 1)


def count(library, records, queries, range_):
    """Build outside the database, and look only where queries do"""
    rows = Rows(library, library.params('jaccard', rows=ROWS, range=range_))
    counters = []
    pairs = 0
    for block in rows.blocks():
        for built, asked in zip(rows.buckets(records, block).T,
                                rows.buckets(queries, block).T):
            built = np.sort(built)
            counters.append(np.searchsorted(built, asked, 'right')
                            - np.searchsorted(built, asked, 'left'))
            ends = np.flatnonzero(np.diff(built, append=WITHOUT_END + 1))
            pairs += np.sum(np.diff(ends, prepend=-1) ** 2)
    return Counted(range_, records.length, np.array(counters, float), pairs / ROWS)
