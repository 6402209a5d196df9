"""The tasks, and what the server says to them: exact densities, and estimates of
real releases."""
import dataclasses
import os

import numpy as np

SEEDS = 15
RANGE = 1024
DEFAULT_ROWS = 1024
MANY_ROWS = 4096
DELTA = 1e-6
EPSILONS = [0.01, 0.1, 1, 10]
MARGIN = 1.96               # of a 95 % interval, in standard deviations


def l2_error(density, truth):
    return np.sqrt(np.mean((density - truth) ** 2, axis=-1))


def relative_error(density, truth):
    return np.mean(np.abs(density / truth - 1), axis=-1)


@dataclasses.dataclass
class Task:
    name: str
    dims: int
    bandwidth: float
    error: object           # l2_error or relative_error
    unit: float             # that errors are printed in
    what: str               # the unit in words


TASKS = [
    Task('salaries', 1, 5000, l2_error, 1e-4, 'root mean square error over the grid, times 10⁴'),
    Task('skin', 3, 5, relative_error, 1e-2, 'mean relative error in %'),
    Task('pulsar', 8, 0.2, relative_error, 1e-2, 'mean relative error in %')]


def numbers(text):
    """A float8[] as psql prints it"""
    return np.array(text.strip('{}').split(','), float)


@dataclasses.dataclass
class Answers:
    """Of one setting, a line a seed"""
    rows: np.ndarray        # R′, [seed]
    density: np.ndarray     # [seed, query], as lower and upper
    lower: np.ndarray
    upper: np.ndarray

    def error(self, task, truth):
        """The median over seeds"""
        return np.median(task.error(self.density, truth))

    def coverage(self, truth):
        return np.mean((self.lower <= truth) & (truth <= self.upper))

    def width(self):
        """Mean width of bounded intervals, relative to those by the true standard
        deviation"""
        ideal = 2 * MARGIN * np.std(self.density, axis=0, ddof=1)
        width = self.upper - self.lower
        return np.mean(width[np.isfinite(width)]) / np.mean(ideal)


class Asked:
    """A task on the server"""

    def __init__(self, session, task, seeds=SEEDS):
        self.session = session
        self.task = task
        self.seeds = seeds
        name = task.name
        self.truth = self.column(
            f"SELECT avg(race_kernel('l2(bandwidth={task.bandwidth})', r.x, q.x)) "
            f'FROM {name}_queries q, {name} r GROUP BY q.id ORDER BY q.id')
        self.records = self.vectors(f'SELECT x FROM {name}')
        self.queries = self.vectors(f'SELECT x FROM {name}_queries ORDER BY id')

    def column(self, sql):
        return np.array(self.session.run(sql)[0], float)

    def vectors(self, sql):
        return np.array([numbers(line) for line in self.session.run(sql)[0]])

    def params(self, seed, rows, sequence='sobol'):
        return (f"race_params('l2', {self.task.dims}, {self.task.bandwidth}, rows => {rows}, "
                f"range => {RANGE}, seed => {seed}, sequence => '{sequence}')")

    def build(self, rows, sequence='sobol'):
        name = self.task.name
        self.session.run(
            f"INSERT INTO sketches SELECT '{name}', '{sequence}', {rows}, seed, (SELECT race_build("
            f"{self.params('seed', rows, sequence)}, x) FROM {name}) "
            f'FROM generate_series(1, {self.seeds}) seed')

    def sketches(self, rows, sequence):
        return (f"sketches WHERE task = '{self.task.name}' AND sequence = '{sequence}' "
                f'AND rows = {rows}')

    def release(self, built, epsilon=None, delta=0, rows='NULL', sequence='sobol'):
        """A table of releases with fresh noise, or without epsilon of exact sketches.
        They are stored, so that every query sees the same noise."""
        released = 's' if epsilon is None else f'race_privatize(s, {epsilon}, {delta}, {rows})'
        self.session.run(f'CREATE TEMP TABLE releases AS SELECT seed, {released} AS s '
                         f'FROM {self.sketches(built, sequence)}')

    def answers(self, table):
        """What the sketches of a table say.  The subquery sees to it that all queries go
        to one sketch before the next."""
        lines, _ = self.session.run(
            f'SELECT (race_info(s)).rows, a.* FROM {table} r, LATERAL (SELECT '
            'array_agg(kernel_density ORDER BY id), array_agg(lower ORDER BY id), '
            f'array_agg(upper ORDER BY id) FROM {self.task.name}_queries q, '
            'race_estimate(r.s, q.x)) a ORDER BY seed')
        columns = zip(*(line.split('|') for line in lines))
        return Answers(np.array(next(columns), int),
                       *(np.array([numbers(text) for text in column]) for column in columns))

    def ask(self, *release, **arguments):
        """Answers of the releases that release() makes"""
        self.release(*release, **arguments)
        answers = self.answers('releases')
        self.session.run('DROP TABLE releases')
        return answers

    def counters(self, folder, seed, rows, sequence='sobol'):
        """The counters of an exact sketch (sketch_format.c), which follow 144 bytes"""
        path = os.path.join(folder, self.task.name)
        self.session.run(f'\\copy (SELECT _race_sketch_send(s) FROM {self.sketches(rows, sequence)} '
                         f"AND seed = {seed}) TO '{path}' (FORMAT binary)\n")
        with open(path, 'rb') as file:
            wire = file.read()[25:]     # after what COPY puts before a value
        os.remove(path)
        width = wire[1]
        return np.frombuffer(wire, f'<i{width}', rows * RANGE, 144).reshape(rows, RANGE)
