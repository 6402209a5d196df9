"""Eight made-up tables in one to eight dimensions that fits are held to.

They were chosen before anybody had looked at a result on them, and are never changed:
constants of the extension must not be tuned to them.  Everything public is known without
the records: the box is [0, 1] in each dimension, and the bandwidth is 2 % of it for each
dimension.  Half of the queries are other draws of the same distribution, half are uniform
in the box.
"""
import dataclasses

import numpy as np

SEED = 20261121
QUERIES = 400


def spiky(random, n):
    """Three in five records have one of twelve values, as wages have"""
    values = np.round(random.random(12), 2)
    shares = 1 / np.arange(1, 13)
    x = random.gamma(4, 0.1, n)
    is_spike = random.random(n) < 0.6
    x[is_spike] = random.choice(values, is_spike.sum(), p=shares / shares.sum())
    return x[:, None]


def smooth(random, n):
    return random.beta(2, 5, (n, 1))


def heavy_tailed(random, n):
    return 0.3 + 0.02 * random.standard_cauchy((n, 1))


def line(random, n):
    """Nearly on a line across the box"""
    along = random.beta(2, 2, n)
    x = np.column_stack([0.1 + 0.8 * along, 0.9 - 0.6 * along])
    return x + 0.003 * random.standard_normal((n, 2))


def ring(random, n):
    angle = random.uniform(0, 2 * np.pi, n)
    radius = 0.3 + 0.02 * random.standard_normal(n)
    return 0.5 + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def clusters(random, n, dims, k, widths):
    """Normal clusters, the first the largest"""
    centers = random.uniform(0.1, 0.9, (k, dims))
    sizes = random.uniform(*widths, k)
    shares = 1 / np.arange(1, k + 1)
    which = random.choice(k, n, p=shares / shares.sum())
    return centers[which] + sizes[which, None] * random.standard_normal((n, dims))


def few_clusters(random, n):
    return clusters(random, n, 3, 10, (0.01, 0.08))


def correlated(random, n):
    """One normal distribution, in which neighboring columns correlate by 0.8"""
    at = np.arange(5)
    covariance = 0.12 ** 2 * 0.8 ** np.abs(at[:, None] - at)
    return 0.5 + random.standard_normal((n, 5)) @ np.linalg.cholesky(covariance).T


def sparse_clusters(random, n):
    return clusters(random, n, 8, 30, (0.01, 0.04))


@dataclasses.dataclass
class Mixture:
    name: str
    dims: int
    records: int
    draw: object            # a function of a generator and of a number of records

    @property
    def bandwidth(self):
        return round(0.02 * self.dims, 2)

    def generate(self):
        """Records and queries.  What draw() fixes first (values, centers) is the same in
        both: the same generator draws them together."""
        random = np.random.default_rng([SEED, MIXTURES.index(self)])
        half = QUERIES // 2
        drawn = np.clip(self.draw(random, self.records + half), 0, 1)
        records, others = drawn[:self.records], drawn[self.records:]
        return records, np.concatenate([others, random.random((half, self.dims))])


MIXTURES = [
    Mixture('spiky', 1, 20000, spiky),
    Mixture('smooth', 1, 50000, smooth),
    Mixture('heavy', 1, 10000, heavy_tailed),
    Mixture('line', 2, 20000, line),
    Mixture('ring', 2, 30000, ring),
    Mixture('clusters', 3, 20000, few_clusters),
    Mixture('correlated', 5, 30000, correlated),
    Mixture('sparse', 8, 5000, sparse_clusters)]
