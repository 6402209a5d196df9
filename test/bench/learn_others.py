"""What samples are compared with, in NumPy: other private ways to make synthetic records.

Noise has the same epsilon (and delta) as ours; what a method needs to know beside (bounds,
bins, counts of classes) it is given for nothing.
"""
import numpy as np

from accuracy_tasks import DELTA

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


def mode_of_histogram(x, upper, side, epsilon, random):
    """The middle of the cell of a cube with most records after noise"""
    width = upper / side
    counts, edges = np.histogramdd(x, [side] * x.shape[1], [(0, upper)] * x.shape[1])
    counts += random.laplace(0, 1 / epsilon, counts.shape)
    return (np.array(np.unravel_index(counts.argmax(), counts.shape)) + 0.5) * width


# ------------------------------------------------------------- class Gaussians

def zcdp(epsilon, delta):
    """The rho that the usual conversion gives to (epsilon, delta)"""
    root = np.sqrt(np.log(1 / delta) + epsilon) - np.sqrt(np.log(1 / delta))
    return root ** 2


def sample_gaussian(x, radius, epsilon, random):
    """Records of a class from its noisy moments, x in [0, 1]^d, clipped to a radius around the
    middle; its count is given"""
    n, d = x.shape
    v = np.column_stack([np.ones(n), 2 * x - 1])
    v /= np.maximum(np.linalg.norm(v, axis=1) / radius, 1)[:, None]
    noise = random.standard_normal((d + 1, d + 1)) * radius ** 2 / np.sqrt(2 * zcdp(epsilon, DELTA))
    moments = v.T @ v + np.triu(noise) + np.triu(noise, 1).T
    mean = moments[0, 1:] / n
    values, vectors = np.linalg.eigh(moments[1:, 1:] / n - np.outer(mean, mean))
    root = vectors * np.sqrt(np.maximum(values, 1e-6))
    return np.clip((mean + random.standard_normal((n, d)) @ root.T + 1) / 2, 0, 1)


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


def information(table):
    p = table / table.sum()
    independent = p.sum(1, keepdims=True) * p.sum(0)
    return np.sum(p[p > 0] * np.log2(p[p > 0] / independent[p > 0]))


def bayes_network(codes, sizes, epsilon, random, drawn):
    """PrivBayes (Zhang et al. 2014) with one parent each: half of epsilon for the tree, by the
    exponential mechanism, half for its tables; so many records of it"""
    n, d = codes.shape
    most = 2 / n * np.log2((n + 1) / 2) + (n - 1) / n * np.log2((n + 1) / (n - 1))
    root = random.integers(d)
    order, parents = [root], {}
    while len(order) < d:
        edges = [(i, j) for i in range(d) if i not in order for j in order]
        scores = np.array([information(pair_table(codes, sizes, *edge)) for edge in edges])
        scores *= epsilon / 2 / (d - 1) / (2 * most)
        p = np.exp(scores - scores.max())
        i, j = edges[random.choice(len(edges), p=p / p.sum())]
        parents[i] = j
        order.append(i)
    scale = (d - 1) * 2 / epsilon
    tables = {i: positive(pair_table(codes, sizes, i, j) +
                          random.laplace(0, scale, (sizes[i], sizes[j])))
              for i, j in parents.items()}
    out = np.zeros((drawn, d), int)
    first = tables[order[1]].sum(0)             # the root is the parent of the second
    out[:, root] = random.choice(sizes[root], drawn, p=first)
    for i in order[1:]:
        for value in range(sizes[parents[i]]):
            of = out[:, parents[i]] == value
            p = positive(tables[i][:, value])
            out[of, i] = random.choice(sizes[i], of.sum(), p=p)
    return out
