"""The paper's Algorithms 1 and 2 in NumPy, as a good NumPy programmer has them.

Records are taken in batches: a matrix product projects a batch, floor and modulus
work in place, and one np.bincount over row * range + bucket counts it.  On the
machine of RESULTS.md that takes 4 to 8 ns a record and row at R = 1024; row by
row it takes as long at best, and np.add.at 38.

build() does so for all rows at once, in batches of 1024 records.
build_in_blocks() goes on to what only those who know caches would write: 16 rows
at a time, 4096 records a batch.  It is faster in few dimensions, and slower in
many.  No noise is added: what is compared is counting and asking.
"""
import numpy as np

BATCH = 1024


class Race:
    def __init__(self, dims, rows, range_, bandwidth, seed=1):
        random = np.random.default_rng(seed)
        self.projections = random.standard_normal((dims, rows)) / bandwidth
        self.offsets = random.random(rows)
        self.range = range_
        self.counters = np.zeros((rows, range_), np.int64)

    def cells(self, x, rows=slice(None)):
        """Where each record is counted in each of these rows, as an index into
        all counters of them"""
        codes = x @ self.projections[:, rows]
        codes += self.offsets[rows]
        np.floor(codes, out=codes)
        cells = codes.astype(np.int64)
        if self.range & (self.range - 1) == 0:
            cells &= self.range - 1     # faster than the modulus
        else:
            cells %= self.range
        cells += np.arange(cells.shape[1]) * self.range
        return cells

    def build(self, x, rows=slice(None), batch=BATCH):
        """Algorithm 1"""
        counters = self.counters[rows].reshape(-1)
        for i in range(0, len(x), batch):
            cells = self.cells(x[i:i + batch], rows)
            counters += np.bincount(cells.ravel(), minlength=len(counters))
        return self

    def build_in_blocks(self, x):
        for row in range(0, len(self.counters), 16):
            self.build(x, slice(row, row + 16), 4096)
        return self

    def query(self, q):
        """Algorithm 2 for each of the points q"""
        n = self.counters.sum() / len(self.counters)
        counters = self.counters.reshape(-1)
        sums = [counters[self.cells(q[i:i + BATCH])].mean(axis=1)
                for i in range(0, len(q), BATCH)]
        return np.concatenate(sums) / n
