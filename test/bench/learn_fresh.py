"""More tables for classifiers, made before anybody had looked at a result on them.

The first half of them was looked at while methods were chosen, the second half was not: but for two
defects that were found there (learn_classify.py says which).
"""
import numpy as np


def normal(random, n, dims, factors=3):
    """Normal columns that share factors"""
    loads = random.standard_normal((dims, factors))
    x = random.standard_normal((n, factors)) @ loads.T + random.standard_normal((n, dims))
    return x / np.sqrt((loads ** 2).sum(axis=1) + 1)


def tails(random, n, freedom):
    """What makes a normal record t-distributed"""
    return np.sqrt(freedom / random.chisquare(freedom, n))[:, None]


# ------------------------------------------------------------- to look at

def outliers(random, n):
    """14 columns, 2 classes of 7 to 3: t-distributed with 3 degrees of freedom"""
    label = (random.random(n) < 0.3).astype(int)
    return normal(random, n, 14) * tails(random, n, 3) + 0.6 * label[:, None] * random.standard_normal(14), label


def irrelevant(random, n):
    """40 columns, of which 5 matter, 3 classes; a third of the columns are lognormal"""
    label = random.choice(3, n, p=[0.5, 0.3, 0.2])
    x = normal(random, n, 40)
    x[:, :5] += random.standard_normal((3, 5))[label]
    x[:, ::3] = np.exp(x[:, ::3])
    return x, label


def ordered(random, n):
    """24 skewed columns, 5 classes by thresholds of what one direction and some noise say"""
    x = normal(random, n, 24, 5)
    score = x @ random.standard_normal(24)
    score = score / score.std() + 0.4 * random.standard_normal(n)
    label = np.searchsorted(np.quantile(score, [0.35, 0.6, 0.8, 0.92]), score)
    return np.sinh(1.2 * x + 0.5), label


def rare(random, n):
    """10 columns, 4 classes, of which one has 5 %: clusters of different covariances"""
    label = random.choice(4, n, p=[0.5, 0.25, 0.2, 0.05])
    x = np.empty((n, 10))
    for c in range(4):
        at = label == c
        x[at] = normal(random, at.sum(), 10) * random.uniform(0.5, 1.5) + random.standard_normal(10)
    x[:, 5:] = np.exp(0.7 * x[:, 5:])
    return x, label


# ------------------------------------------------------------- not to look at

def wild(random, n):
    """20 columns, each t-distributed with 2.5 degrees of freedom, 3 classes"""
    label = random.choice(3, n, p=[0.6, 0.25, 0.15])
    x = random.standard_t(2.5, (n, 20)) @ np.linalg.qr(random.standard_normal((20, 20)))[0]
    return x + 0.8 * random.standard_normal((3, 20))[label], label


def needle(random, n):
    """50 columns, 2 classes of 3 to 1 by a logistic model of six of them, some lognormal"""
    x = normal(random, n, 50, 8)
    odds = x[:, :6] @ random.standard_normal(6)
    odds = 3 * odds / odds.std()
    label = (random.random(n) < 1 / (1 + np.exp(np.quantile(odds, 0.75) - odds))).astype(int)
    x[:, ::2] = np.exp(0.8 * x[:, ::2])
    return x, label


def six(random, n):
    """12 columns, 6 classes of unequal sizes and covariances"""
    shares = random.dirichlet(np.full(6, 2.0))
    label = random.choice(6, n, p=shares)
    x = np.empty((n, 12))
    for c in range(6):
        at = label == c
        x[at] = normal(random, at.sum(), 12) + 0.9 * random.standard_normal(12)
    return x, label


def waits(random, n):
    """30 gamma-distributed columns that share a factor, 2 classes of 3 to 2"""
    label = (random.random(n) < 0.4).astype(int)
    rates = np.exp(0.25 * random.standard_normal((2, 30)))[label]
    return random.gamma(1.5, rates * random.gamma(4, 0.25, (n, 1))), label


DEVELOPMENT = (outliers, irrelevant, ordered, rare)
HELD_OUT = (wild, needle, six, waits)
FRESH = {made.__name__: made for made in DEVELOPMENT + HELD_OUT}
