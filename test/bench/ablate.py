"""What each mechanism of src/answers brings: the same private values are asked with and without it.

ablate.py FOLDER BUILD [NAME ...]: a folder to work in, a copy of the tree that is built and installed in ../root, and the
ablations if not all.  test/bench/run ablate has it all (ABLATIONS: names); the results stand in doc/ablations.md.  An ablation is a
substitution in a file of src/answers.  Its line: a number with the mechanism, without it, and the change in %, with the standard error of the
mean over releases.  Values are made once, so noise is the same on both sides.  Without RACEPRIV_DATA, no real data.
"""
import os
import subprocess
import sys

import numpy as np

import gate
from gate import array
from server import Session, cpu_time, load

FOLDER, BUILD = sys.argv[1:3]
PLACES = 150


class Task:
    def run(self, session, sql):
        return np.array([line.replace('{', '').replace('}', '').replace('|', ',').split(',')
                         for line in session.run(sql)[0]], float)


class Density(Task):
    """Errors, coverage and widths of densities; of fitted ones, errors of samples, and the time of fits"""

    def __init__(self, name, epsilon, sequence='grid', delta=0, reps=6, real=False, fitted=False, bandwidth=None):
        self.x, q, self.h, upper = (gate.real_density if real else gate.made_density)(name)
        self.name, self.fitted, self.h2 = f'{name} ε={epsilon:g}{"" if sequence == "grid" else " rows"}', fitted, bandwidth
        self.q, dims, self.reps = q[:PLACES], self.x.shape[1], reps
        self.table = f'{name}{sequence}{epsilon:g}_{reps}'.replace('.', '').lower()
        box = f'lower => {array([0] * dims)}, upper => {array([upper] * dims)}'
        rows = "sequence => 'grid', " if sequence == 'grid' else 'rows => 1024, range => 1024, seed => i, '
        self.made = (f"SELECT i, race_privatize((SELECT race_build(race_params('l2', {dims}, {self.h}, {rows}{box}), x) FROM d), {epsilon}, {delta}, "
                     f"fit => true) AS s FROM generate_series(1, {reps}) i")

    def make(self, session):
        if session.value(f"SELECT to_regclass('r_{self.table}') IS NULL") == 't':
            session.run('DROP TABLE IF EXISTS d')
            load(session, FOLDER, 'd', self.x)
            load(session, FOLDER, 'q_' + self.table, self.q)
            session.run(f'CREATE TABLE r_{self.table} AS {self.made}')

    def ask(self, session):
        pid, r, found = session.value('SELECT pg_backend_pid()'), f'r_{self.table}', {}
        if self.fitted:
            start = cpu_time(pid)
            session.run(f'CREATE TEMP TABLE f AS SELECT i, race_fit(s) AS s FROM {r}')
            r, found['seconds of a fit'] = 'f', np.array([(cpu_time(pid) - start) / self.reps])
        more = '' if self.h2 is None else f', bandwidth => {self.h2 * self.h}'
        a = self.run(session, f'SELECT a.* FROM {r} r, LATERAL (SELECT array_agg(kernel_density ORDER BY id), array_agg(lower ORDER BY id), '
                     f'array_agg(upper ORDER BY id) FROM q_{self.table} q, race_estimate(r.s, q.x{more})) a ORDER BY i').reshape(self.reps, 3, -1)
        if self.h2 is None:
            truth = gate.kernel_sums(self.x / self.h, self.q / self.h, np.ones((len(self.x), 1)))[:, 0] / len(self.x)
        else:
            h = self.h2 * self.h
            a *= (h * np.sqrt(2 * np.pi)) ** self.x.shape[1]
            truth = np.array([np.exp(-((self.x - q) ** 2).sum(axis=1) / (2 * h * h)).mean() for q in self.q])
        held = 100 * np.mean((a[:, 1] <= truth) & (truth <= a[:, 2]), axis=1)
        found.update({'error': gate.rms(a[:, 0], truth), 'coverage %': held, 'coverage of the worst %': np.array([held.min()]),
                      'width': 1e4 * np.mean(a[:, 2] - a[:, 1], axis=1)})
        if not self.fitted:
            start = cpu_time(pid)
            session.run(f'SELECT sum(race_kde(s, x)) FROM {r}, q_{self.table}, generate_series(1, 20) WHERE i = 1')
            found['µs of a question'] = np.array([1e6 * (cpu_time(pid) - start) / 20 / len(self.q)])
            return found
        far, table = [], np.sort(self.x, axis=0)
        for i in range(1, self.reps + 1):
            y = self.run(session, f'SELECT v.x FROM f, race_sample(s, 5000, {i}) v (x, r) WHERE i = {i}')
            far.append([gate.wasserstein(table[:, k], y[:, k]) for k in range(table.shape[1])])
        found['samples, Wasserstein'] = 1e3 * np.mean(np.array(far) / table.std(axis=0), axis=1)
        return found


class Means(Task):
    """Conditional means of a smooth function, or of a step"""

    def __init__(self, what, epsilon, reps=8, rows=False):
        random = np.random.default_rng(3)
        self.x, self.h = random.beta(2, 3, (20000, 1)), 0.03 if what == 'step' else 0.06
        self.value = np.where(abs(self.x[:, 0] - 0.4) < 0.1, 0.8, 0.2) if what == 'step' else np.clip(
            0.5 + 0.3 * np.sin(9 * self.x[:, 0]) + 0.2 * random.standard_normal(20000), 0, 1)
        self.q, self.name, self.epsilon, self.reps = random.choice(self.x, 100, replace=False), f'means{" of rows" * rows}, {what} ε={epsilon:g}', epsilon, reps
        self.more = ', grid => false' if rows else ''
        self.delta = 1e-6 if rows else 0

    def make(self, session):
        if session.value(f"SELECT count(*) FROM _racepriv.race_releases WHERE name = '{self.name} 0'") == '0':
            load(session, FOLDER, f'"q {self.name}"', self.q)
            load(session, FOLDER, f'"{self.name}"', np.column_stack([self.x, self.value]))
            session.run(f"CALL race_protect('{self.name}', '\"{self.name}\"', 1e6, delta_limit => 0.01)")
            for i in range(self.reps):
                session.run(f"CALL race_release_sketch('{self.name} {i}', '{self.name}', race_params('l2', 1, {self.h}, power => 4, lower => '{{0}}', "
                            f"upper => '{{1}}'), 'x[1:1]', {self.epsilon}, {self.delta}, value => 'x[2]', value_lower => 0, value_upper => 1{self.more})")

    def ask(self, session):
        mass, sums = gate.kernel_sums(self.x / self.h, self.q / self.h, np.column_stack([np.ones(len(self.x)), self.value]), 4).T
        truth = sums / mass
        a = np.array([self.run(session, f"SELECT coalesce(mean, 0.5), m.lower, m.upper FROM \"q {self.name}\", race_released_mean('{self.name} {i}', x) m ORDER BY id").T
                      for i in range(self.reps)])
        return {'error': 1e3 * np.sqrt(np.mean((a[:, 0] - truth) ** 2, axis=1)), 'width': 1e3 * np.mean(a[:, 2] - a[:, 1], axis=1),
                'coverage %': 100 * np.mean((a[:, 1] <= truth) & (truth <= a[:, 2]), axis=1)}


class Distance(Task):
    """The power of a test for a shift, as in the gate"""

    def __init__(self, sequence, reps=24):
        self.name, self.table, self.reps = f'distance of {sequence}', f'p_{sequence}', reps
        self.more = ", sequence => 'grid', lower => '{0,0}', upper => '{1,1}'" if sequence == 'grid' else ', rows => 16, range => 1024'

    def make(self, session):
        if session.value(f"SELECT to_regclass('{self.table}') IS NULL") == 't':
            session.run('DROP TABLE IF EXISTS d')
            load(session, FOLDER, 'd', gate.made_density('ring')[0])
            half = ("race_privatize((SELECT race_build(race_params('l2', 2, 0.04{0}), ARRAY[x[1] + {1}, x[2]]) FROM d WHERE "
                    '(hashint8(id * 1000 + i) & 1) = {2}), 1, 0)')
            session.run(f'CREATE TABLE {self.table} AS SELECT i, {half.format(self.more, 0, 0)} AS a, {half.format(self.more, 0.003, 1)} AS b '
                        f'FROM generate_series(1, {self.reps}) i')

    def ask(self, session):
        return {'-log10 p': -np.log10(np.maximum(self.run(session, f'SELECT (race_distance(a, b)).p_value FROM {self.table} ORDER BY i')[:, 0], 1e-4))}


TASKS = {'spiky': lambda: Density('spiky', 1), 'smooth': lambda: Density('smooth', 0.1), 'heavy': lambda: Density('heavy', 1),
         'fine': lambda: Density('spiky', 10), 'ring': lambda: Density('ring', 1), 'line': lambda: Density('line', 1),
         'clusters': lambda: Density('clusters', 1, reps=3), 'narrow': lambda: Density('line', 1, bandwidth=0.5),
         'fit': lambda: Density('spiky', 1, fitted=True), 'plane': lambda: Density('ring', 1, fitted=True, reps=3),
         'rows': lambda: Density('clusters', 1, 'sobol', 1e-6, 3, fitted=True),
         'few rows': lambda: Density('line', 0.1, 'sobol', 0, 3, fitted=True),
         'means': lambda: Means('made', 0.1), 'step': lambda: Means('step', 1), 'means of rows': lambda: Means('made', 0.1, 4, True),
         'distance': lambda: Distance('grid'), 'distance of rows': lambda: Distance('sobol')}
RELEASES = [f'{name} {epsilon:g}' for name in ('spiky', 'smooth', 'heavy') for epsilon in (0.1, 1, 10)]
TASKS.update({task: lambda task=task: Density(task.split()[0], float(task.split()[1]), 'sobol', 1e-6, 20, fitted=True) for task in RELEASES})
if os.environ.get('RACEPRIV_DATA'):
    TASKS['salaries'] = lambda: Density('salaries', 10, real=True)
    TASKS['pulsar'] = lambda: Density('pulsar', 1, 'sobol', 0, 3, real=True, fitted=True)

# file, texts and their substitutes, and tasks
ABLATIONS = {
    'point-masses': ('evaluator.c', ['if (params->dims != 1 ||', 'if (params->dims >= 1 ||'], ['spiky', 'fine', 'salaries']),
    'projection': ('evaluator.c', ['for (Size i = 0; i < stride; i++)\n\t\t\t\tproject_line', 'for (Size i = 0; i < 0; i++)\n\t\t\t\tproject_line',
                                   'convolve_kernel(grid, kernel, level->kernel);', '*level->kernel = *kernel;'], ['smooth', 'heavy', 'ring', 'line']),
    'blurred-kernels': ('evaluator.c', ['if (at < NEAR_DISTANCES)', 'if (at < 0)', 'race_radial_value(kernel, distance - move)',
                                        'race_radial_value(kernel, fabs(distance - move))'], ['smooth', 'heavy', 'ring']),
    'levels-for-speed': ('evaluator.c', ['while (gridded->n_levels < RACE_MOST_LEVELS &&', 'while (gridded->n_levels < 0 &&'], ['fine', 'clusters']),
    'table-by-squares': ('evaluator.c', ['if (!level->kernel->euclidean ||', 'if (level->kernel != NULL ||'], ['ring', 'clusters']),
    'count-from-nodes': ('evaluator.c', ['if (count.variance > 0 && node_variance > 0)', 'if (count.variance < 0)'], ['smooth', 'ring']),
    'cells-compared': ('evaluator.c', ['if (view->params->dims == COMPARED_DIMS)', 'if (view->params->dims > RACE_GRID_DIMS)'], ['line', 'ring']),
    'weight-of-rows': ('estimate.c', ['terms.weight = !isfinite(e) ? 1 : e > 0 ? e / (e + v) : 0;', 'terms.weight = e < 0;'], ['rows', 'pulsar']),
    'doubts-of-few-rows': ('estimate.c', ['if (params->rows < (in_plane', 'if (params->rows < 0 * (in_plane'], ['few rows']),
    'few-errors-of-a-release': ('estimate.c', ['if (hashed && density > 0)', 'if (hashed && density < 0)'], RELEASES),
    'points-of-each-half': ('fit.c', ['else if (moved >= 2 &&', 'else if (moved < 2 &&'], ['rows', 'pulsar']),
    'flow-of-points': ('fit.c', ['if (!race_flow_can(fit->view->params))', 'if (fit->view != NULL)'], ['rows', 'pulsar']),
    'rounds-of-points': ('fit.c', ['for (int round = 1; round < RACE_FIT_ROUNDS; round++)', 'for (int round = RACE_FIT_ROUNDS; round < RACE_FIT_ROUNDS; round++)'], ['rows', 'pulsar']),
    'misfit-of-answers': ('fit.c', ['improve_weights(fit, RACE_MISFIT_ANSWERS, ANSWER_ITERATIONS, weights);', ';'], ['fit', 'rows']),
    'Fourier-transforms': ('fit.c', ['if (fit->points->n > 0 && fit->gridded != NULL)', 'if (fit->points->n > RACE_MAX_POINTS)'], ['plane']),
    'even-draws': ('sample.c', ['bits_of(draws, 0, 2) + shuffled(draws, i) * GOLDEN_RATIO', 'bits_of(draws, i + 0 * shuffled(draws, i) * (uint32) GOLDEN_RATIO, 3)'], ['fit', 'plane']),
    'moves-to-neighbors': ('sample.c', ['\tfor (uint32 j = 0; j < near->n; j++)\n\t{\n\t\tif (j % 2 == 0)', '\t((Near *) near)->n = 0;\n\tfor (uint32 j = 0; j < near->n; j++)\n\t{\n\t\tif (j % 2 == 0)'], ['plane']),
    'regression-of-means': ('proportion.c', ['if (lower->header->noise.counter_variance > 0)', 'if (lower->header->noise.counter_variance < 0)'], ['means', 'step']),
    'nugget': ('proportion.c', ['proportion->nugget = estimate_nugget(proportion, &observations);', '(void) estimate_nugget;'], ['means', 'step']),
    'regression-of-rows': ('proportion.c', ['upper->model != NULL && upper->model->misfit < RACE_UNTESTED)', 'upper->model == NULL)'], ['means of rows']),
    'square-of-the-kernel': ('mmd.c', ['products->kernel_square = Max(Min(square, products->kernel), products->kernel * products->kernel);', '(void) square;'], ['distance', 'distance of rows'])}


def install():
    subprocess.run(['make', '-s', '-C', BUILD, f'PG_CONFIG={os.environ.get("PG_CONFIG", "pg_config")}', 'VPATH=', 'with_llvm=no', 'install',
                    'DESTDIR=../root'], check=True, stdout=subprocess.DEVNULL)


def asked(task):
    with Session() as session:
        session.run('SET client_min_messages = error')
        task.make(session)
        return task.ask(session)


def main():
    tasks, before = {}, {}
    print(f'{"without":22} {"number":46} {"with":>9} {"without":>9}  change, %', flush=True)
    for name, (file, texts, on) in ABLATIONS.items():
        on = [task for task in on if task in TASKS]
        if sys.argv[3:] and name not in sys.argv[3:]:
            continue
        for task in on:
            if task not in tasks:
                tasks[task] = TASKS[task]()
                before[task] = asked(tasks[task])
        path = os.path.join(BUILD, 'src', 'answers', file)
        with open(path) as source:
            true = source.read()
        changed = true
        for text, substitute in zip(texts[::2], texts[1::2]):
            assert true.count(text) == 1, (name, true.count(text))
            changed = changed.replace(text, substitute)
        with open(path, 'w') as source:
            source.write(changed)
        try:
            install()
            for task in on:
                for number, values in asked(tasks[task]).items():
                    was = before[task][number]
                    change = 100 * (values - was) / was.mean()
                    error = change.std(ddof=1) / len(change) ** 0.5 if len(change) > 1 else np.nan
                    print(f'{name:22} {tasks[task].name + ": " + number:46} {was.mean():9.4g} {values.mean():9.4g} {change.mean():+9.1f} ± {error:.1f}', flush=True)
        finally:
            with open(path, 'w') as source:
                source.write(true)
            install()


if __name__ == '__main__':
    main()
