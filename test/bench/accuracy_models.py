"""Releases in NumPy: the paper's, and ours with the same noise for every R′."""
import ctypes

import numpy as np

from accuracy_tasks import EPSILONS, RANGE

PAPER_ROWS = [2 ** i for i in range(4, 12)]     # 16 to 2048
COUNT_SHARE = 0.05                              # of epsilon, for the count


class Params(ctypes.Structure):
    """RaceParams of lsh.h: an l2 kernel of power 1 whose codes are folded"""
    _fields_ = [('kernel', ctypes.c_uint8), ('sequence', ctypes.c_uint8),
                ('rehash', ctypes.c_uint8), ('reserved8', ctypes.c_uint8),
                ('dims', ctypes.c_uint32), ('seed', ctypes.c_int64),
                ('bandwidth', ctypes.c_double), ('power', ctypes.c_uint32),
                ('rows', ctypes.c_uint32), ('range', ctypes.c_uint32),
                ('reserved32', ctypes.c_uint32), ('reserved64', ctypes.c_uint64 * 3)]


class Hash:
    """The extension's own hash functions, from a library of its room lsh"""

    def __init__(self, path):
        self.lsh = ctypes.CDLL(path)
        self.lsh.race_rows_size.restype = ctypes.c_size_t

    def cells(self, task, seed, rows, q):
        """As Race.cells() of paper.py"""
        sobol = self.lsh.race_sequence_by_name(b'sobol')
        params = Params(kernel=self.lsh.race_kernel_by_name(b'l2'), sequence=sobol,
                        rehash=self.lsh.race_rehash_by_name(b'fold'), dims=task.dims, seed=seed,
                        bandwidth=task.bandwidth, power=1, rows=rows, range=RANGE)
        made = ctypes.create_string_buffer(self.lsh.race_rows_size(ctypes.byref(params)))
        self.lsh.race_rows_init(made, ctypes.byref(params))
        self.lsh.race_rows_generate_all(made)
        buckets = np.empty((len(q), rows), np.uint32)
        for x, out in zip(np.ascontiguousarray(q, float), buckets):
            self.lsh.race_rows_hash_one(made, rows, x.ctypes.data_as(ctypes.c_void_p),
                                        out.ctypes.data_as(ctypes.c_void_p))
        return buckets + np.arange(rows) * RANGE


def paper_errors(asked, counters, cells, random):
    """Algorithms 1 and 2 on counters of some seed: errors [epsilon, R]"""
    noise = random.laplace(size=(PAPER_ROWS[-1], RANGE))
    errors = np.empty((len(EPSILONS), len(PAPER_ROWS)))
    for i, epsilon in enumerate(EPSILONS):
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
