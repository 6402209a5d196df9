"""Conditional means of race_release_sketch against histograms of sums and two noisy channels.

learn_conditional.py FOLDER RESULTS [TASK ...]: a folder to work in, the file to
write, and tasks if not all.  It needs a server with racepriv (PGHOST and so on), and
RACEPRIV_DATA.  test/bench/run learn-conditional has it all.

What is asked is the mean of a value over all records, weighted by the kernel, at records of
the table.  All methods get the same epsilon, and the same bounds of columns and values.
"""
import dataclasses
import math
import os
import sys
import time

import numpy as np

from report import Report
from server import Session, load
from smoothing_oracle import oracle

SEEDS = 10
QUERIES = 100
DELTA = 1e-6
EPSILONS = (0.1, 1)
POWER = 4
CELLS = {1: (8, 16, 32, 64, 128, 256), 2: (8, 16, 32, 64), 3: (8, 16, 32)}    # of an axis
COVERAGE, HALF = 0.93, 0.5      # what it must show


INTRODUCTION = f"""# Conditional means

Root mean square error in thousandths of the range of the value, mean over {SEEDS} releases and
{QUERIES} queries. "rounding" is what would be left if each value were rounded at
random to one of its bounds, without noise; releases split records instead. A histogram has
noisy counts and noisy sums of what values are above the middle, with half of the budget each,
and its best cells (of an axis) in hindsight; "its median" is that of all cells that were tried,
which is nearer to what a user has who cannot look. It is asked with the kernel, as releases are,
and may leave out its δ. Two channels are a sketch of counts and one weighted by values, as they
would be without any error of rows; with δ 0 a histogram is as good. Regression is a line through
noisy moments (race_regress), which bends nowhere; the ratio is without it. The oracle
(smoothing_oracle.py) has the same nodes of a pure grid, but knows the true number of records at
each, and for each query which width of smoothing has the least error; its ratio says what is in reach.
"""


@dataclasses.dataclass
class Task:
    name: str
    file: str
    columns: tuple              # of the records
    value: int                  # the column of the value
    bandwidths: tuple
    lower: tuple                # public bounds
    upper: tuple
    bounds: tuple               # of the value

    @property
    def dims(self):
        return len(self.columns)


TASKS = [
    Task('skin: red by blue', 'skin', (0,), 2, (15,), (0,), (255,), (0, 255)),
    Task('pulsar: kurtosis by mean', 'pulsar', (0,), 2, (10,), (0,), (200,), (-2, 10)),
    Task('airfoil: level by frequency', 'airfoil', (0,), 5, (1500,), (0,), (20000,), (100, 145)),
    Task('skin: red by blue and green', 'skin', (0, 1), 2, (20, 20), (0, 0), (255, 255), (0, 255)),
    Task('skin: class by color', 'skin', (0, 1, 2), 3, (25, 25, 25), (0,) * 3, (255,) * 3, (1, 2)),
    Task('pulsar: class by mean and deviation', 'pulsar', (0, 1), 8, (15, 5), (0, 20), (200, 100), (0, 1)),
]


def exact_kernel(c):
    """The kernel at a distance in bandwidths (Datar et al. 2004)"""
    if c == 0:
        return 1
    return math.erf(1 / c / math.sqrt(2)) + math.sqrt(2 / math.pi) * c * math.expm1(-1 / (2 * c * c))


FAR = 1e3                       # beyond, the kernel to the power is below 1e-12
DISTANCES = np.concatenate([np.linspace(0, 20, 200001), np.geomspace(20.001, FAR, 20000)])
KERNEL = np.array([exact_kernel(c) for c in DISTANCES]) ** POWER


def kernel_at(c):
    return np.interp(c, DISTANCES, KERNEL, right=0)


def read(name):
    path = os.path.join(os.environ['RACEPRIV_DATA'], name + '.csv.gz')
    return np.loadtxt(path, delimiter=',', skiprows=1)


def array(values):
    return "'{" + ','.join(f'{value!r}' for value in map(float, values)) + "}'"


class Asked:
    """A task with its records, its queries, and the true means"""

    def __init__(self, session, task, records):
        self.session = session
        self.task = task
        self.x = records[:, task.columns]
        low, high = task.bounds
        self.share = (np.clip(records[:, task.value], low, high) - low) / (high - low)
        self.queries = np.random.default_rng(1).choice(self.x, QUERIES, replace=False)
        self.mass = self.sums(self.x, np.ones(len(self.x)))
        self.truth = self.sums(self.x, self.share) / self.mass
        # the variance that rounding gives each mean
        self.rounding = np.array([self.kernel(self.x, query) ** 2 @ (self.share * (1 - self.share))
                                  for query in self.queries]) / self.mass ** 2

    def sums(self, points, *weights):
        """Sums of the kernel between points with weights and queries"""
        return np.squeeze([[self.kernel(points, query) @ weight for weight in weights]
                           for query in self.queries])

    def kernel(self, points, query):
        return kernel_at(np.linalg.norm((points - query) / self.task.bandwidths, axis=1))

    def release(self, epsilon, delta, seed):
        """Means, and the ends of their intervals, as shares; and the seconds of a release"""
        task = self.task
        name = f'{task.name} {epsilon} {delta} {seed}'
        columns = ', '.join(f'x[{column + 1}]' for column in task.columns)
        low, high = task.bounds
        seconds = self.session.time(
            f"CALL race_release_sketch('{name}', '{task.file}', race_params('l2', {task.dims}, "
            f"power => {POWER}, bandwidths => {array(task.bandwidths)}, seed => {seed}, "
            f"lower => {array(task.lower)}, upper => {array(task.upper)}), "
            f"'ARRAY[{columns}]', {epsilon}, {delta}, value => 'x[{task.value + 1}]', "
            f"value_lower => {low}, value_upper => {high})")
        queries = ', '.join(f'({i}, {array(query)}::float8[])' for i, query in enumerate(self.queries))
        lines = self.session.run(
            f"SELECT coalesce(mean, 'NaN'), m.lower, m.upper FROM (VALUES {queries}) v (i, q), "
            f"race_released_mean('{name}', q) m ORDER BY i")[0]
        answers = np.array([line.split('|') for line in lines], float)
        counts = self.session.run(f"SELECT race_count(sketch) FROM _racepriv.race_releases WHERE name = '{name}' ORDER BY part")[0]
        share = (answers - low) / (high - low)
        return fill(share[:, 0], *map(float, counts)), share[:, 1], share[:, 2], seconds

    def histogram(self, cells, noise, random):
        """Noisy counts and sums of values in cells, asked with the kernel at their centers"""
        task = self.task
        width = (np.array(task.upper) - task.lower) / cells
        places = np.clip((self.x - task.lower) / width, 0, cells - 1).astype(int)
        place = np.ravel_multi_index(places.T, (cells,) * task.dims)
        size = cells ** task.dims
        counts = np.bincount(place, minlength=size) + noise(random, 1, size)
        sums = np.bincount(place, self.share - 0.5, minlength=size) + noise(random, 0.5, size)
        centers = np.stack(np.unravel_index(np.arange(size), (cells,) * task.dims), 1) * width
        kernel = self.sums(centers + task.lower + width / 2, counts, sums)
        return fill(ratio(kernel[:, 1], kernel[:, 0]), counts.sum() / 2 - sums.sum(), counts.sum() / 2 + sums.sum())

    def channels(self, noise, random):
        """A sketch of counts and one weighted by values, if their rows had no error"""
        counts = self.mass + noise(random, 1, QUERIES)
        sums = self.mass * (self.truth - 0.5) + noise(random, 0.5, QUERIES)
        return fill(ratio(sums, counts), (1 - self.truth).sum(), self.truth.sum())

    def regression(self, epsilon, delta):
        """Shares by a line through noisy moments: race_regress"""
        task = self.task
        low, high = task.bounds
        columns = ', '.join(f'x[{column + 1}]' for column in (*task.columns, task.value))
        params = f"race_moment_params({array((*task.lower, low))}, {array((*task.upper, high))}" + \
            (", clip => 'absolute')" if delta == 0 else ')')
        queries = ', '.join(f'({i}, {array(query)}::float8[])' for i, query in enumerate(self.queries))
        lines = self.session.run(
            f'WITH m AS MATERIALIZED (SELECT race_privatize(race_build({params}, ARRAY[{columns}]), {epsilon}, {delta}) AS m '
            f'FROM {task.file}) SELECT race_predict(m, {task.dims + 1}, q) FROM m, (VALUES {queries}) v (i, q) ORDER BY i')[0]
        return np.clip((np.array(lines, float) - low) / (high - low), 0, 1)

    def error(self, shares):
        """Root mean square, in thousandths of the range of the value"""
        return 1e3 * np.sqrt(np.mean((shares - self.truth) ** 2))


def ratio(sums, counts):
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.clip(np.where(counts > 0, sums / counts + 0.5, np.nan), 0, 1)


def fill(shares, lower, upper):
    """Where nothing is known, the mean of all"""
    lower, upper = max(lower, 0), max(upper, 0)
    return np.where(np.isnan(shares), upper / max(lower + upper, 1), shares)


def noise_of(session, epsilon, delta):
    """Noise for a half of the budget, of a vector that changes by `sensitivity`"""
    if delta == 0:
        return lambda random, sensitivity, n: random.laplace(0, 2 * sensitivity / epsilon, n)
    rho = float(session.value(f'SELECT _racepriv._race_rho_limit({epsilon}, {delta})'))
    return lambda random, sensitivity, n: random.normal(0, sensitivity / np.sqrt(rho), n)


def measure(asked, epsilon, delta):
    noise = noise_of(asked.session, epsilon, delta)
    noises = [noise, noise_of(asked.session, epsilon, 0)] if delta > 0 else [noise]
    ours = [asked.release(epsilon, delta, seed) for seed in range(1, SEEDS + 1)]
    covered = np.mean([(low <= asked.truth) & (asked.truth <= high) for _, low, high, _ in ours])

    def mean_error(method):
        return np.mean([asked.error(method(np.random.default_rng(seed))) for seed in range(SEEDS)])
    histograms = {cells: min(mean_error(lambda random: asked.histogram(cells, noise, random)) for noise in noises)
                  for cells in CELLS[asked.task.dims]}
    best = min(histograms, key=histograms.get)
    channels = mean_error(lambda random: asked.channels(noise, random)) if delta > 0 else None
    return dict(error=np.mean([asked.error(shares) for shares, *_ in ours]), covered=covered,
                width=1e3 * np.mean([high - low for _, low, high, _ in ours]),
                histogram=histograms[best], cells=best, median=np.median(list(histograms.values())),
                channels=channels,
                oracle=1e3 * min(oracle(asked, epsilon, cells, kernel_at) for cells in CELLS[asked.task.dims]),
                regression=np.mean([asked.error(asked.regression(epsilon, delta)) for _ in range(SEEDS)]),
                rounding=asked.error(asked.truth + np.sqrt(asked.rounding)),
                seconds=np.median([seconds for *_, seconds in ours]))


def add(report, task, epsilon, delta, found):
    """What was found, as a row; and what it says of the claims"""
    other = min(found['histogram'], found['channels'] or math.inf)
    cell = f'{task.name}, δ {delta:g}, ε {epsilon:g}'
    report.at_least(f'{cell}: coverage of 95 % intervals', found['covered'], COVERAGE)
    report.at_most(f'{cell}: error over that of the better other (of the oracle: {found["oracle"] / other:.2f})',
                   found['error'] / other, HALF)
    return (task.name, f'{delta:g}', f'{epsilon:g}', f"{found['error']:.1f}", f"{found['rounding']:.1f}",
            f"{found['histogram']:.1f} ({found['cells']})", f"{found['median']:.1f}",
            f"{found['channels']:.1f}" if found['channels'] else '', f"{found['regression']:.1f}",
            f"{found['error'] / other:.2f}", f"{found['oracle']:.1f}", f"{found['oracle'] / other:.2f}",
            f"{found['covered']:.1%}", f"{found['width']:.0f}", f"{found['seconds']:.1f}")


def main():
    folder, path, *names = sys.argv[1:]
    start = time.monotonic()
    report = Report()
    report.write(INTRODUCTION)
    with Session() as session:
        session.run('SET client_min_messages = error; SET statement_timeout = 0')
        rows = []
        tables = {}
        for task in TASKS:
            if names and task.name not in names:
                continue
            if task.file not in tables:
                tables[task.file] = read(task.file)
                load(session, folder, task.file, tables[task.file])
                session.run(f"CALL race_protect('{task.file}', '{task.file}', 1e6, 0.1)")
            asked = Asked(session, task, tables[task.file])
            for delta in (0, DELTA):
                for epsilon in EPSILONS:
                    rows.append(add(report, task, epsilon, delta, measure(asked, epsilon, delta)))
                    print(*rows[-1], sep=' | ', flush=True)
    report.table(('task', 'δ', 'ε', 'error', 'rounding', 'histogram (cells)', 'its median', 'two channels',
                  'regression', 'ratio', 'oracle', 'its ratio', 'covered', 'width', 's'), rows)
    report.conclude()
    report.keep(path, start)


if __name__ == '__main__':
    main()
