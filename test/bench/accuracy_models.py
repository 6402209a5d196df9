"""Releases in NumPy: the paper's, and ours with the same noise for every R′."""
import numpy as np

from accuracy_tasks import EPSILONS, RANGE
from lsh import Rows, Vectors

PAPER_ROWS = [2 ** i for i in range(4, 12)]     # 16 to 2048
COUNT_SHARE = 0.05                              # of epsilon, for the count


def our_cells(library, task, seed, rows, q):
    """As Race.cells() of paper.py, by the extension's own row functions"""
    params = library.params('l2', dims=task.dims, bandwidth=task.bandwidth, seed=seed,
                            rows=rows, range=RANGE)
    return Rows(library, params).cells(Vectors(q))


def paper_errors(asked, counters, cells, random, epsilons=EPSILONS):
    """Algorithms 1 and 2 on counters of some seed: errors [epsilon, R]"""
    noise = random.laplace(size=(PAPER_ROWS[-1], RANGE))
    errors = np.empty((len(epsilons), len(PAPER_ROWS)))
    for i, epsilon in enumerate(epsilons):
        for j, rows in enumerate(PAPER_ROWS):
            noisy = np.floor(counters[:rows] + noise[:rows] * (rows / epsilon))
            n = max(noisy.sum() / rows, 1)
            density = noisy.ravel()[cells[:, :rows]].mean(axis=1) / n
            errors[i, j] = asked.task.error(density, asked.truth)
    return errors


def our_errors(asked, counters, cells, random):
    """race_privatize with Laplace noise on the first R′ rows, R′ = 1, 2, 4 …, all from
    the same draws: errors [epsilon, log₂ R′].  (Continuous noise: that of the
    extension is discrete.)"""
    noise = random.laplace(size=counters.shape)
    count_noise = random.laplace()
    rows = 2 ** np.arange(len(counters).bit_length())
    means = [(np.cumsum(of.ravel()[cells], axis=1)[:, rows - 1] / rows).T
             for of in (counters, noise)]
    errors = []
    for epsilon in EPSILONS:
        n = max(len(asked.records) + count_noise / (COUNT_SHARE * epsilon), 1)
        scale = rows[:, None] / ((1 - COUNT_SHARE) * epsilon)
        errors.append(asked.task.error((means[0] + scale * means[1]) / n, asked.truth))
    return np.array(errors)
