"""What fits are compared with, in NumPy: the paper's algorithm, histograms and random
Fourier features, each at the best of its settings in hindsight.

Histograms and features get a noisy count of the records like ours, for one of COUNT_SHARES of the
budget.  A histogram may do without and take the sum of its cells; the better one counts.
With δ noise may be Laplace as well as Gaussian: what is pure is private with δ, too.
"""
import ctypes
import itertools

import numpy as np

from accuracy_models import PAPER_ROWS, paper_errors
from accuracy_tasks import RANGE
from fit_tasks import APPROXIMATE, GRID_DIMS, PURE, SEEDS
from paper import Race

CELL_SIZES = 2 ** np.arange(-4, 1.25, 0.5)      # in bandwidths: 1/16 to 2
MOST_CELLS = 1_200_000
COUNT_SHARES = (1 / 20, 1 / 8)                  # of the budget
FEATURES = 2 ** np.arange(4, 12)                # pairs, 16 to 2048
TABLE_STEP = 1 / 4000                           # of a bandwidth
AT_ONCE = 2 ** 20                               # kernels, or features


class Kernel:
    """l2 of power 1 by distance in bandwidths, from a table"""
    distances = np.concatenate([[0], np.geomspace(1e-4, 1e6, 8000)])

    def __init__(self, library):
        exact = library.lsh.race_l2_kernel
        exact.restype, exact.argtypes = ctypes.c_double, [ctypes.c_double]
        self.values = np.array([exact(c) for c in self.distances])

    def __call__(self, distance):
        return np.interp(distance, self.distances, self.values)


class FastKernel:
    """l2 by distance in bandwidths, from a table with equal steps"""

    def __init__(self, library, farthest):
        self.values = Kernel(library)(np.arange(0, farthest + 1, TABLE_STEP)).astype(np.float32)

    def __call__(self, x, y):
        """[x, y] of points in bandwidths"""
        squares = (np.sum(x * x, axis=1)[:, None] + np.sum(y * y, axis=1)) - 2 * x @ y.T
        distances = np.sqrt(np.maximum(squares, 0, out=squares), out=squares)
        return self.values[(distances / TABLE_STEP + 0.5).astype(np.int32)]


class Noise:
    """Of one kind and epsilon: the scales of standard draws"""

    def __init__(self, kind, epsilon, rho):
        self.kind, self.epsilon, self.rho = kind, epsilon, rho

    def scale(self, share, l1=1, l2=1):
        """For a share of the budget, by the sensitivity"""
        if self.kind == 'Laplace':
            return l1 / (share * self.epsilon)
        return l2 / np.sqrt(2 * share * self.rho)


def noises(kind, epsilon, rho):
    yield Noise('Laplace', epsilon, rho)
    if kind == APPROXIMATE:
        yield Noise('Gaussian', epsilon, rho)


def draws(random, shape):
    """Standard noise of either kind, the same for every epsilon"""
    return {'Laplace': random.laplace(size=shape).astype(np.float32),
            'Gaussian': random.standard_normal(shape).astype(np.float32)}


class Best:
    """The least median error of each cell, and where it was"""

    def __init__(self):
        self.found = {}

    def offer(self, cell, error, setting):
        if cell not in self.found or error < self.found[cell][0]:
            self.found[cell] = error, setting


class Models:
    """Of one task: found[model][kind, epsilon] = (error, setting)"""

    def __init__(self, asked, library):
        self.asked, self.task = asked, asked.task
        self.library = library
        self.records, self.weights = np.unique(asked.records, axis=0, return_counts=True)
        self.rho = {epsilon: asked.rho(epsilon) for epsilon in self.task.epsilons}
        self.found = {'paper': self.paper(), 'Fourier': self.fourier()}
        if self.task.dims <= GRID_DIMS:
            self.found.update(self.histograms())

    def offer(self, best, setting, sums, noise, counts, features=None):
        """Of each cell the median error of sums with noise, [seed, query]"""
        n = self.weights.sum()
        for (kind, epsilon), share in itertools.product(self.task.cells(), COUNT_SHARES):
            for of in noises(kind, epsilon, self.rho[epsilon]):
                if features is None:
                    scale = of.scale(1 - share)
                else:
                    scale = of.scale(1 - share, np.sqrt(2) * features, np.sqrt(features))
                count = n + of.scale(share) * counts[of.kind]
                self.offer_densities(best, (kind, epsilon), setting,
                                     sums + scale * noise[of.kind], count)

    def offer_densities(self, best, cell, setting, sums, count):
        densities = sums / np.maximum(count, 1)[:, None]
        best.offer(cell, np.median(self.task.error(densities, self.asked.truth)), setting)

    # ------------------------------------------------------------------ paper

    def paper(self):
        errors = []
        for seed in range(1, SEEDS + 1):
            race = Race(self.task.dims, PAPER_ROWS[-1], RANGE, self.task.bandwidth, seed)
            race.build_in_blocks(self.asked.records)
            errors.append(paper_errors(self.asked, race.counters, race.cells(self.asked.queries),
                                       np.random.default_rng(seed), self.task.epsilons))
        best = Best()
        for kind in PURE, APPROXIMATE:
            for i, epsilon in enumerate(self.task.epsilons):
                for rows, error in zip(PAPER_ROWS, np.median(errors, axis=0)[i]):
                    best.offer((kind, epsilon), error, f'R {rows}')
        return best.found

    # ------------------------------------------------------------- histograms

    def histograms(self):
        kernel = FastKernel(self.library, np.sqrt(self.task.dims)
                            * (self.task.upper / self.task.bandwidth + 2 * CELL_SIZES[-1]))
        found = {'histogram': Best(), 'binned': Best()}
        for name, best in found.items():
            for size in CELL_SIZES:
                self.histogram(best, kernel, size, name == 'binned')
        return {name: best.found for name, best in found.items()}

    def histogram(self, best, kernel, size, linear):
        """Cells of one size, given in bandwidths; all positions are"""
        side = int(np.ceil(self.task.upper / self.task.bandwidth / size)) + linear
        shape = (side,) * self.task.dims
        if np.prod(shape, dtype=float) > MOST_CELLS:
            return
        places = self.records / self.task.bandwidth / size
        counts = count_linearly(places, self.weights, shape) if linear else \
            count(places, self.weights, shape)
        random = np.random.default_rng(1)
        seeds = self.task.seeds()
        noise = draws(random, (len(counts), seeds))
        sums = self.sum_of_cells(kernel, shape, size, 0 if linear else 0.5,
                                 np.column_stack([counts.astype(np.float32), *noise.values()]))
        noise = dict(zip(noise, (sums[:, 1:seeds + 1].T, sums[:, seeds + 1:].T)))
        of_queries = {kind: of[:, :-1] for kind, of in noise.items()}
        setting = f'{size:.2g}'
        self.offer(best, setting, sums[:-1, 0], of_queries, draws(random, seeds))
        for kind, epsilon in self.task.cells():     # without a count
            for of in noises(kind, epsilon, self.rho[epsilon]):
                noisy = sums[:, 0] + of.scale(1) * noise[of.kind]
                self.offer_densities(best, (kind, epsilon), setting, noisy[:, :-1], noisy[:, -1])

    def sum_of_cells(self, kernel, shape, size, offset, columns):
        """Kernel sums of columns [cell, column] at the queries; last, the sums of all cells"""
        queries = self.asked.queries / self.task.bandwidth
        sums = np.zeros((len(queries) + 1, columns.shape[1]))
        together = AT_ONCE // len(queries)
        for start in range(0, len(columns), together):
            some = columns[start:start + together]
            index = np.unravel_index(np.arange(start, start + len(some)), shape)
            centers = (np.column_stack(index) + offset) * size
            sums[:-1] += kernel(queries, centers) @ some
            sums[-1] += some.sum(axis=0)
        return sums

    # ---------------------------------------------------------------- Fourier

    def fourier(self):
        sums, noise = [], []
        for seed in range(1, SEEDS + 1):
            random = np.random.default_rng(seed)
            frequencies = draw_frequencies(random, self.task.dims, FEATURES[-1])
            of_seed = self.fourier_sums(frequencies / self.task.bandwidth, random)
            sums.append(of_seed[0])
            noise.append(of_seed[1:])
        counts = draws(np.random.default_rng(0), SEEDS)
        best = Best()
        for i, features in enumerate(FEATURES):
            of_size = {kind: np.array([of_seed[j][:, i] for of_seed in noise])
                       for j, kind in enumerate(counts)}
            self.offer(best, f'F {features}', np.array(sums)[:, :, i], of_size, counts, features)
        return best.found

    def fourier_sums(self, frequencies, random):
        """Of records, of Laplace and of Gaussian noise: the mean over the first pairs of
        features, [query, FEATURES]"""
        totals = 0
        together = AT_ONCE // len(frequencies.T)
        for start in range(0, len(self.records), together):
            features = features_of(self.records[start:start + together], frequencies)
            totals += self.weights[start:start + together] @ features
        of_queries = features_of(self.asked.queries, frequencies)
        return [means_of_first(of_queries * columns)
                for columns in (totals, *draws(random, len(totals)).values())]


def count(places, weights, shape):
    cells = np.minimum(np.floor(places).astype(int), np.array(shape) - 1)
    return np.bincount(np.ravel_multi_index(cells.T, shape), weights, np.prod(shape))


def count_linearly(places, weights, shape):
    """Each record is split among the corners around it.  It still adds up to 1."""
    low = np.minimum(np.floor(places).astype(int), np.array(shape) - 2)
    counts = 0
    for corner in itertools.product((0, 1), repeat=len(shape)):
        parts = np.prod(np.where(corner, places - low, 1 - places + low), axis=1)
        counts = counts + np.bincount(np.ravel_multi_index((low + corner).T, shape),
                                      weights * parts, np.prod(shape))
    return counts


def draw_frequencies(random, dims, n):
    """[dims, n] of the spectral measure of l2 with bandwidth 1, which is the mean over
    normal vectors a of the triangle 1 - |a (x - y)|: a times t, where t has the density
    (1 - cos t) / (pi t^2)"""
    kept = np.empty(0)
    while len(kept) < n:
        wide = random.random(2 * n) < 0.5
        t = np.where(wide, 2 / (1 - random.random(2 * n)), 2 * random.random(2 * n))
        highest = np.where(wide, 2 / t ** 2, 0.5)
        kept = np.append(kept, t[random.random(2 * n) * highest < (1 - np.cos(t)) / t ** 2])
    return random.standard_normal((dims, n)) * kept[:n]


def features_of(x, frequencies):
    """[record, cosines and then sines]"""
    angles = (x @ frequencies).astype(np.float32)
    return np.hstack([np.cos(angles), np.sin(angles)])


def means_of_first(terms):
    cosines, sines = np.hsplit(terms, 2)
    return np.cumsum(cosines + sines, axis=1, dtype=float)[:, FEATURES - 1] / FEATURES
