"""Tables for classifiers: pulsars, and made-up tables.

The made-up ones were chosen before anybody had looked at a result on them, and are never
changed.  Columns have units of their own.
"""
import gzip
import os

import numpy as np

from learn_fresh import FRESH

RECORDS = 20000


def correlated(random, n, dims, correlation):
    at = np.arange(dims)
    root = np.linalg.cholesky(correlation ** np.abs(at[:, None] - at))
    return random.standard_normal((n, dims)) @ root.T


def linear(random, n):
    """8 columns, 2 classes: normal, with one covariance"""
    label = (random.random(n) < 0.5).astype(int)
    return correlated(random, n, 8, 0.6) + 0.9 * label[:, None] * random.standard_normal(8), label


def skewed(random, n):
    """20 columns, 2 classes of 4 to 1: lognormal, with different covariances"""
    label = (random.random(n) < 0.2).astype(int)
    x = np.where(label[:, None] == 1, 1.2 * correlated(random, n, 20, 0.3),
                 correlated(random, n, 20, 0.7))
    return np.exp(0.5 * (x + 0.5 * label[:, None] * random.standard_normal(20))), label


def wide(random, n):
    """50 columns, 2 classes by a logistic model of ten columns"""
    x = correlated(random, n, 50, 0.5)
    weights = np.zeros(50)
    weights[random.choice(50, 10, replace=False)] = random.standard_normal(10)
    odds = x @ weights
    return x, (random.random(n) < 1 / (1 + np.exp(-4 * odds / odds.std()))).astype(int)


def clustered(random, n):
    """10 columns, 4 classes of two clusters each, which no line divides"""
    label = random.integers(4, size=n)
    centers = 1.1 * random.standard_normal((4, 2, 10))
    return centers[label, random.integers(2, size=n)] + correlated(random, n, 10, 0.4), label


def seven(random, n):
    """16 columns, 7 classes of sizes 1 to 1/7"""
    shares = 1 / np.arange(1, 8)
    label = random.choice(7, n, p=shares / shares.sum())
    return random.standard_normal((7, 16))[label] * 0.8 + correlated(random, n, 16, 0.5), label


def three(random, n):
    """12 columns, 3 classes: half of the columns gamma-distributed, half of them counts"""
    label = random.choice(3, n, p=[0.5, 0.3, 0.2])
    rates = np.exp(0.5 * random.standard_normal((3, 12)))[label]
    return np.column_stack([random.gamma(2, rates[:, :6]), random.poisson(3 * rates[:, 6:])]), label


MADE = {made.__name__: made for made in (linear, skewed, wide, clustered, seven, three)} | FRESH


def pulsars():
    path = os.path.join(os.environ['RACEPRIV_DATA'], 'pulsar.csv.gz')
    with gzip.open(path, 'rt') as file:
        table = np.loadtxt(file, delimiter=',', skiprows=1)
    return table[:, :8], table[:, 8].astype(int)


def load_table(name, seed):
    """Vectors and labels, in random order"""
    random = np.random.default_rng([20261122, seed, list(['pulsar', *MADE]).index(name)])
    if name == 'pulsar':
        x, label = pulsars()
    else:
        x, label = MADE[name](random, RECORDS)
        x = x * 10 ** random.uniform(-1, 2, x.shape[1]) + random.uniform(-5, 5, x.shape[1])
    order = random.permutation(len(x))
    return x[order], label[order]
