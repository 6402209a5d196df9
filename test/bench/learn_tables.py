"""Tables for classifiers, of those in CLASSES.md: pulsars, and made-up ones.

Made-up ones were chosen before anybody had looked at a result on them, and are never changed.
Columns have units of their own.
"""
import os

import numpy as np

RECORDS = 20000


def correlated(random, n, dims, correlation):
    at = np.arange(dims)
    root = np.linalg.cholesky(correlation ** np.abs(at[:, None] - at))
    return random.standard_normal((n, dims)) @ root.T


def linear(random, n):
    """8 columns, 2 classes: normal, with one covariance"""
    label = (random.random(n) < 0.5).astype(int)
    return correlated(random, n, 8, 0.6) + 0.9 * label[:, None] * random.standard_normal(8), label


def clustered(random, n):
    """10 columns, 4 classes of two clusters each, which no line divides"""
    label = random.integers(4, size=n)
    centers = 1.1 * random.standard_normal((4, 2, 10))
    return centers[label, random.integers(2, size=n)] + correlated(random, n, 10, 0.4), label


MADE = {'linear': (1, linear), 'clustered': (4, clustered)}   # and their numbers, for the seeds


def load_table(name, seed):
    """Vectors and labels, in random order"""
    number, make = MADE.get(name, (0, None))
    random = np.random.default_rng([20261122, seed, number])
    if name == 'pulsar':
        table = np.loadtxt(os.path.join(os.environ['RACEPRIV_DATA'], 'pulsar.csv.gz'), delimiter=',', skiprows=1)
        x, label = table[:, :8], table[:, 8].astype(int)
    else:
        x, label = make(random, RECORDS)
        x = x * 10 ** random.uniform(-1, 2, x.shape[1]) + random.uniform(-5, 5, x.shape[1])
    order = random.permutation(len(x))
    return x[order], label[order]
