"""What fits are measured on, and every setting that is compared: the one list is RELEASES."""
import dataclasses

import numpy as np

from accuracy_tasks import DEFAULT_ROWS, DELTA, TASKS, Answers, Asked, Task, l2_error
from fit_mixtures import MIXTURES
from server import load

SEEDS = 10
MORE_SEEDS = 40             # of grids and histograms in few dimensions, where noise is all that is random
MORE_DIMS = 2
EPSILONS = {'salaries': [0.01, 0.1, 1]}         # and of all others:
USUAL_EPSILONS = [0.1, 1]
BOUNDS = {'salaries': 260000, 'skin': 255, 'pulsar': 1}     # upper; lower is 0
PURE, APPROXIMATE = 'pure', 'δ'                 # kinds of privacy
DELTAS = {PURE: 0, APPROXIMATE: DELTA}
GRID_DIMS = 3                                   # the most that a grid has
PURE_DIMS = 2                                   # where it is better although pure


@dataclasses.dataclass
class Release:
    """A way to make private sketches, which are asked raw and fitted"""
    name: str
    kinds: tuple                # of privacy
    sequence: str = 'sobol'
    rows: str = 'NULL'          # what race_privatize is told of them
    dims: int = 10 ** 6         # at most
    always_pure: bool = False   # what is pure is (ε, δ)-private, too
    probe: str = None           # SQL that fails where there is no such thing yet

    def serves(self, task, kind):
        return kind in self.kinds and task.dims <= self.dims


ROWS = Release('rows', (PURE, APPROXIMATE))
ROWS_TO_FIT = Release('rows to fit', (PURE, APPROXIMATE), rows='fit => true',
                      probe='SELECT race_privatize(NULL::race_sketch, 1, 0, fit => true)')
GRID = Release('grid', (PURE, APPROXIMATE), sequence='grid', rows='fit => true', dims=GRID_DIMS,
               always_pure=True,
               probe="SELECT race_params('l2', 1, 1, sequence => 'grid', lower => '{0}', "
                     "upper => '{9}')")
RELEASES = [ROWS, ROWS_TO_FIT, GRID]


@dataclasses.dataclass
class FitTask(Task):
    upper: float                # of each dimension; lower is 0
    epsilons: list
    made_up: bool

    def cells(self):
        """Kinds of privacy with an epsilon"""
        return [(kind, epsilon) for kind in DELTAS for epsilon in self.epsilons]

    def seeds(self):
        """Of grids and histograms"""
        return MORE_SEEDS if self.dims <= MORE_DIMS else SEEDS

    def bounds(self):
        """Lower and upper, as SQL"""
        return [f"{name} => '{{{','.join([f'{bound:g}'] * self.dims)}}}'" for name, bound in (('lower', 0), ('upper', self.upper))]


REAL = [FitTask(**vars(task), upper=BOUNDS[task.name], made_up=False,
                epsilons=EPSILONS.get(task.name, USUAL_EPSILONS)) for task in TASKS]
MADE_UP = [FitTask(mixture.name, mixture.dims, mixture.bandwidth, l2_error, 1e-4,
                   'root mean square error, times 10⁴', upper=1, made_up=True,
                   epsilons=USUAL_EPSILONS) for mixture in MIXTURES]
ALL = REAL + MADE_UP


def load_mixtures(session, folder):
    for mixture in MIXTURES:
        for name, x in zip((mixture.name, f'{mixture.name}_queries'), mixture.generate()):
            load(session, folder, name, x)


def refusal(session, probe):
    """What the server says against this SQL, or None"""
    quoted = probe.replace("'", "''")
    return session.value(f"SELECT coalesce(refusal('{quoted}'), '')") or None


def available(session):
    """The releases that the server can make, and what it says of the others"""
    session.run('CREATE FUNCTION refusal(query text) RETURNS text LANGUAGE plpgsql AS $$ '
                'BEGIN EXECUTE query; RETURN NULL; '
                "EXCEPTION WHEN OTHERS THEN RETURN replace(SQLERRM, E'\\n', ' '); END $$")
    refusals = {release.name: release.probe and refusal(session, release.probe)
                for release in RELEASES}
    return ([release for release in RELEASES if not refusals[release.name]],
            {name: text for name, text in refusals.items() if text})


def ours(releases, task, kind):
    """Of these releases the one that a user would take, without hindsight"""
    return [release for release in releases if release.serves(task, kind) and
            (kind == PURE or task.dims <= PURE_DIMS or not release.always_pure)][-1]


class FitAsked(Asked):
    """A task on the server, with fits"""

    def __init__(self, session, task):
        super().__init__(session, task, SEEDS)

    def build(self, rows, sequence='sobol'):
        self.seeds = self.task.seeds() if sequence == 'grid' else SEEDS
        super().build(rows, sequence)

    def params(self, seed, rows, sequence='sobol'):
        if sequence != 'grid':
            return super().params(seed, rows, sequence)
        lower, upper = self.task.bounds()
        return (f"race_params('l2', {self.task.dims}, {self.task.bandwidth}, seed => {seed}, "
                f"sequence => 'grid', lower => {lower}, upper => {upper})")

    def ask_fitted(self, release, kind, epsilon):
        """Answers of releases, and of the same with a model"""
        self.release(DEFAULT_ROWS, epsilon, 0 if release.always_pure else DELTAS[kind],
                     release.rows, release.sequence)
        self.session.run('CREATE TEMP TABLE fitted AS SELECT seed, '
                         f"race_fit(s, {', '.join(self.task.bounds())}) AS s FROM releases")
        answers = self.answers('releases'), self.answers('fitted')
        self.session.run('DROP TABLE releases, fitted')
        return answers

    def rho(self, epsilon):
        """Of zCDP, that a release with this epsilon and delta costs"""
        return float(self.session.value(
            f'SELECT rho FROM race_privacy_cost({self.params(0, DEFAULT_ROWS)}, '
            f'{epsilon}, {DELTA}, {DEFAULT_ROWS})'))


def coverage_of_releases(answers, truth):
    """In %, of the intervals of each release"""
    return 100 * np.mean((answers.lower <= truth) & (truth <= answers.upper), axis=1)


def width_over(answers: Answers, others: Answers):
    """Mean width of intervals over that of others, of the seeds of both, where both are bounded"""
    seeds = min(len(answers.lower), len(others.lower))
    widths = [(a.upper - a.lower)[:seeds] for a in (answers, others)]
    bounded = np.isfinite(widths[0]) & np.isfinite(widths[1])
    return np.mean(widths[0][bounded]) / np.mean(widths[1][bounded]) if bounded.any() else np.nan
