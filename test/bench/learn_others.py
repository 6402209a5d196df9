"""What samples are compared with, in NumPy: other private ways to make synthetic records.

Noise has the same epsilon (and delta) as ours; what a method needs to know beside (bounds,
bins, counts of classes) it is given for nothing.
"""
import numpy as np

CELLS = [10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000]


# ------------------------------------------------------------------ histograms

def noisy_histogram(x, upper, cells, epsilon, random):
    """Probabilities of equal cells of [0, upper], with Laplace noise and none below 0"""
    counts, _ = np.histogram(np.clip(x, 0, upper), cells, (0, upper))
    counts = np.maximum(counts + random.laplace(0, 1 / epsilon, cells), 0)
    return counts / counts.sum()


def sample_histogram(p, upper, n, random):
    return (random.choice(len(p), n, p=p) + random.random(n)) * upper / len(p)


def quantiles_of_histogram(p, upper, at):
    return np.interp(at, np.concatenate([[0], np.cumsum(p)]), np.linspace(0, upper, len(p) + 1))


# ------------------------------------------------------------------- marginals

def pair_table(codes, sizes, i, j, weights=None):
    return np.bincount(codes[:, i] * sizes[j] + codes[:, j], weights,
                       minlength=sizes[i] * sizes[j]).reshape(sizes[i], sizes[j]).astype(float)


def positive(counts):
    counts = np.maximum(counts, 0)
    return counts / counts.sum() if counts.sum() > 0 else np.full(counts.shape, 1 / counts.size)


def all_pairs(codes, sizes, epsilon, random):
    """Two-way marginals themselves, each for its part of epsilon: {(i, j): probabilities}"""
    d = len(sizes)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    return {(i, j): positive(pair_table(codes, sizes, i, j) +
                             random.laplace(0, len(pairs) / epsilon, (sizes[i], sizes[j])))
            for i, j in pairs}
