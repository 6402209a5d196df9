"""How things are timed, and the work that is measured in more than one place."""
import os
import statistics
import subprocess
import threading
import time

BANDWIDTH = 5


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


def dense(dims):
    """The sequence that has a number for each element"""
    return 'sobol' if dims <= 20 else 'structured'


def params(dims, rows=1024, range_=1024):
    return (f"'l2(dims={dims}, bandwidth={BANDWIDTH}, rows={rows}, "
            f"range={range_}, sequence={dense(dims)})'::race_params")


def build_sql(table, dims, rows=1024, range_=1024):
    return f'SELECT race_count(race_build({params(dims, rows, range_)}, x)) FROM {table}'


def exact_sum(table, dims):
    point = ','.join(['100' if dims == 3 else '0'] * dims)
    return (f"SELECT avg(race_kernel('l2(bandwidth={BANDWIDTH})', x, "
            f"'{{{point}}}'::float8[])) FROM {table}")


class Bare:
    """bare.c, on records in files of its format"""

    def __init__(self, program, library, folder):
        self.program = program
        self.library = library
        self.folder = folder

    def keep(self, name, records):
        records.tofile(os.path.join(self.folder, name))

    def time(self, work, name, dims, rows, range_=1024):
        params = self.library.params('l2', BANDWIDTH, dims=dims, rows=rows, range=range_,
                                     sequence=dense(dims))
        return self.time_of(work, [params], [name])

    def time_of(self, work, parts, names):
        """parts: the parameters of a kernel, or of a product's; names of their records"""
        path = os.path.join(self.folder, f'params_{threading.get_ident()}')
        with open(path, 'wb') as file:
            file.write(self.library.product(*parts))
        paths = [path, *(os.path.join(self.folder, name) for name in names)]
        return float(subprocess.run([self.program, work, *paths], text=True, check=True,
                                    stdout=subprocess.PIPE).stdout)
