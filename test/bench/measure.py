"""How things are timed, and the work that is measured in more than one place."""
import os
import statistics
import subprocess
import time

import numpy as np

BANDWIDTH = 5       # that of bare.c


def medians(measures, rounds):
    """Median seconds of each named measure.  Each round takes every one of them,
    so that a machine that is busy for a while slows all alike."""
    seconds = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            seconds[name].append(measure())
    return {name: statistics.median(s) for name, s in seconds.items()}


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def params(dims, rows=1024, range_=1024):
    return (f"'l2(dims={dims}, bandwidth={BANDWIDTH}, rows={rows}, "
            f"range={range_})'::race_params")


def build_sql(table, dims, rows=1024, range_=1024):
    return f'SELECT race_count(race_build({params(dims, rows, range_)}, x)) FROM {table}'


def exact_sum(table, dims):
    point = ','.join(['100' if dims == 3 else '0'] * dims)
    return (f"SELECT avg(race_kernel('l2(bandwidth={BANDWIDTH})', x, "
            f"'{{{point}}}'::float8[])) FROM {table}")


class Bare:
    """bare.c, on records in files of its format"""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def keep(self, name, x):
        np.ascontiguousarray(x, float).tofile(os.path.join(self.folder, name))

    def time(self, work, name, dims, rows, range_=1024):
        return float(self.output(work, str(dims), str(rows), str(range_),
                                 os.path.join(self.folder, name)))

    def output(self, *arguments):
        return subprocess.run([self.program, *arguments], text=True, check=True,
                              stdout=subprocess.PIPE).stdout.strip()
