"""Made tables in one to three dimensions that the selection of cells is held to.

Each is drawn anew for each seed, with places and widths of its own, in the box [0, 1].  Half of the queries
are other draws of the same distribution, half are uniform in the box.  Constants of the extension are not to
be tuned to single ones: they are for comparing whole rules.
"""
import numpy as np

BANDWIDTH = {1: 0.02, 2: 0.04, 3: 0.06}
QUERIES = 400


def gamma(random, n):
    return random.gamma(random.uniform(1.5, 4), random.uniform(0.05, 0.1), n)


def narrow(random, n):
    """Nine in ten records within a fifth of a bandwidth"""
    x = random.uniform(0.2, 0.8) + random.uniform(0.002, 0.006) * random.standard_normal(n)
    return np.where(random.random(n) < 0.1, random.random(n), x)


def rounded(random, n):
    """Two significant digits, as prices have"""
    x = np.exp(random.normal(random.uniform(3, 4), random.uniform(0.5, 1), n))
    digits = 10 ** np.floor(np.log10(x))
    return np.round(x / digits, 1) * digits / 300


def spikes(random, n):
    """Half of the records at twenty places"""
    places = random.random(20)
    return np.where(random.random(n) < 0.5, random.choice(places, n, p=random.dirichlet(np.ones(20))), random.beta(2, 3, n))


def wages(random, n):
    """Nine in ten records at one of 150 wages, where small ones are shared by most"""
    places = random.beta(2, 4, 150)
    shares = random.permutation(1 / np.arange(1, 151))
    x = random.choice(places, n, p=shares / shares.sum())
    return np.where(random.random(n) < 0.1, random.beta(2, 4, n), x)


def steps(random, n):
    edges = np.sort(np.concatenate([[0, 1], random.random(7)]))
    block = random.choice(8, n, p=random.dirichlet(np.ones(8)))
    return edges[block] + random.random(n) * np.diff(edges)[block]


def ages(random, n):
    """Whole years of up to 100"""
    shape = np.exp(-((np.arange(101) - random.uniform(20, 50)) / random.uniform(20, 40)) ** 2)
    return random.choice(101, n, p=shape / shape.sum()) / 100


def normals(random, n):
    centers, widths = random.uniform(0.1, 0.9, 4), np.exp(random.uniform(np.log(0.008), np.log(0.12), 4))
    which = random.choice(4, n, p=random.dirichlet(2 * np.ones(4)))
    return centers[which] + widths[which] * random.standard_normal(n)


def uniform(random, n):
    return random.random(n)


def cross(random, n):
    """Two narrow bars along the axes"""
    along, off = random.random(n), random.uniform(0.003, 0.02) * random.standard_normal(n) + random.uniform(0.3, 0.7)
    return np.where((random.random(n) < 0.5)[:, None], np.column_stack([along, off]), np.column_stack([off, along]))


def blobs(random, n, dims=2):
    centers, widths = random.uniform(0.1, 0.9, (6, dims)), np.exp(random.uniform(np.log(0.01), np.log(0.12), 6))
    which = random.choice(6, n, p=random.dirichlet(2 * np.ones(6)))
    return centers[which] + widths[which, None] * random.standard_normal((n, dims))


def curve(random, n):
    along = random.random(n)
    off = random.uniform(0.002, 0.02) * random.standard_normal(n)
    return np.column_stack([along, 0.5 + random.uniform(0.1, 0.4) * np.sin(random.uniform(3, 12) * along) + off])


def places(random, n):
    """Three hundred towns, the first the largest"""
    shares = 1 / np.arange(1, 301)
    return random.random((300, 2))[random.choice(300, n, p=shares / shares.sum())]


def broad(random, n):
    return random.beta(*random.uniform(1.5, 4, (2, 2)), (n, 2))


def shell(random, n):
    x = random.standard_normal((n, 3))
    radius = random.uniform(0.2, 0.4) + random.uniform(0.005, 0.03) * random.standard_normal(n)
    return 0.5 + x / np.linalg.norm(x, axis=1, keepdims=True) * radius[:, None]


# name: records, and how they are drawn
TABLES = {
    'gamma': (20000, gamma),
    'narrow': (20000, narrow),
    'rounded': (20000, rounded),
    'spikes': (10000, spikes),
    'more spikes': (30000, spikes),
    'wages': (20000, wages),
    'steps': (20000, steps),
    'ages': (20000, ages),
    'normals': (20000, normals),
    'few normals': (2000, normals),
    'uniform': (20000, uniform),
    'cross': (20000, cross),
    'blobs': (20000, blobs),
    'curve': (20000, curve),
    'places': (20000, places),
    'broad': (20000, broad),
    'blobs in 3-d': (20000, lambda random, n: blobs(random, n, 3)),
    'shell': (20000, shell)}


def made(name, seed):
    """Records and queries; what a table fixes first (places, widths) is the same in both."""
    n, draw = TABLES[name]
    random = np.random.default_rng([seed, *name.encode()])
    half = QUERIES // 2
    x = draw(random, n + half)
    x = np.clip(x.reshape(n + half, -1), 0, 1)
    return x[:n], np.concatenate([x[n:], random.random((half, x.shape[1]))])
