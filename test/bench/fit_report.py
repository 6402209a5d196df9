"""What fit.py says of what it measured, and the limits it is held to."""
import numpy as np

from accuracy_tasks import DEFAULT_ROWS, DELTA
from fit_tasks import (APPROXIMATE, MORE_DIMS, MORE_SEEDS, PURE, RELEASES, SEEDS,
                       coverage_of_releases, ours, width_over)
from fit_times import report_times

# the most that our error may be, in the unit of the task
LIMITS = {
    'salaries': {PURE: {0.01: 85, 0.1: 11, 1: 2.5}, APPROXIMATE: {0.01: 115, 0.1: 13, 1: 2.2}},
    'skin': {PURE: {0.1: 1.5, 1: 0.6}, APPROXIMATE: {0.1: 0.8, 1: 0.6}},
    'pulsar': {PURE: {}, APPROXIMATE: {0.1: 1.0, 1: 0.35}}}
OVER_OTHERS = 1.05          # of made-up tables
COVERAGE = 93
TIMES = {'salaries': (0.5, 3), 'skin': (4, 30)}

INTRODUCTION = f"""# Fits

Written by `test/bench/run fit`.

Medians over {SEEDS} seeds; of grids and histograms in at most {MORE_DIMS} dimensions over {MORE_SEEDS}.
Of {DEFAULT_ROWS} rows built, `rows => NULL`; pure is δ = 0, else
δ = {DELTA:g}.  The same release is asked raw and fitted, `race_fit` within public bounds; in
brackets its rows.  A grid is `sequence => 'grid'`, always pure.  In bold: what a user would take without
hindsight, which is what limits hold.

The others are NumPy at the best setting in hindsight, in brackets: the paper's Algorithms
1 and 2; a histogram whose cells are summed with the exact kernel (the size of a cell in
bandwidths), each record in one cell, or binned: split among the corners around it; random
Fourier features (pairs).  Theirs is the better of Laplace and Gaussian noise where δ > 0,
the better of a noisy count for 1/20 or 1/8 of the budget and the sum of cells.  None spends more than
the budget."""


def name_of(cell):
    kind, epsilon = cell
    return f'{kind}, ε = {epsilon:g}'


def error_of(m, answers):
    return answers.error(m.task, m.truth) / m.task.unit


def releases_of(m):
    return [release for release in RELEASES
            if any((release.name, cell) in m.answers for cell in m.task.cells())]


def our_answers(m, cell):
    """Raw, and fitted"""
    return m.answers[ours(releases_of(m), m.task, cell[0]).name, cell]


# ----------------------------------------------------------------------- errors

def shown_answers(m, release, cell):
    """Raw and fitted, for the table of errors"""
    if (release.name, cell) not in m.answers:
        return '', ''
    raw, fitted = m.answers[release.name, cell]
    mark = '**' if ours(releases_of(m), m.task, cell[0]) is release else ''
    return (f'{error_of(m, raw):.2f} ({np.median(raw.rows):.0f})',
            f'{mark}{error_of(m, fitted):.2f}{mark}')


def shown_model(m, name, cell):
    error, setting = m.models[name][cell]
    return f'{error / m.task.unit:.2f} ({setting})'


def best_of_others(m, cell):
    """The least error of raw rows and of others in NumPy but the paper's"""
    raw, _ = m.answers['rows', cell]
    return min(error_of(m, raw), *(found[cell][0] / m.task.unit for name, found
                                   in m.models.items() if name != 'paper'))


def report_errors(report, m):
    task = m.task
    report.heading(f'{task.name.capitalize()}, {task.dims}-d: {task.what}')
    releases = releases_of(m)
    report.table(
        ('', *(f'{release.name}, {what}' for release in releases for what in ('raw', 'fitted')),
         *m.models, 'ours over the best other'),
        [(name_of(cell), *(text for release in releases
                           for text in shown_answers(m, release, cell)),
          *(shown_model(m, name, cell) for name in m.models),
          f'{error_of(m, our_answers(m, cell)[1]) / best_of_others(m, cell):.2f}')
         for cell in task.cells()])


def hold_to_limits(report, m):
    number = 3 if m.task.made_up else 1 if m.task.name == 'salaries' else 2
    for cell in m.task.cells():
        kind, epsilon = cell
        error = error_of(m, our_answers(m, cell)[1])
        claim = f'{number} {m.task.name}, {name_of(cell)}: error'
        if m.task.made_up:
            report.at_most(f'{claim} over the best other', error / best_of_others(m, cell),
                           OVER_OTHERS)
        elif epsilon in LIMITS[m.task.name][kind]:
            report.at_most(claim, error, LIMITS[m.task.name][kind][epsilon])


def report_harm(report, results):
    report.heading('Where a fit is worse than none')
    report.write('Median error of fitted over that of the same releases raw, if it is above 1.\n')
    lines = [(m.task.name, name_of(cell), name, f'{np.median(raw.rows):.0f}',
              f'{error_of(m, raw):.2f}', f'{error_of(m, fitted):.2f}',
              f'{error_of(m, fitted) / error_of(m, raw):.2f}')
             for m in results for (name, cell), (raw, fitted) in m.answers.items()
             if error_of(m, fitted) > error_of(m, raw)]
    report.table(('task', 'privacy', 'release', 'rows', 'raw', 'fitted', 'fitted over raw'),
                 lines or [('nowhere', *[''] * 6)])


# -------------------------------------------------------------------- intervals

def coverage_line(m, name):
    """Where intervals of fitted releases cover least, and how wide they are"""
    settings = [(coverage_of_releases(fitted, m.truth), name_of(cell),
                 width_over(fitted, m.answers['rows', cell][0]))
                for (release, cell), (_, fitted) in m.answers.items() if release == name]
    least, where, _ = min(settings, key=lambda setting: setting[0].mean())
    widths = [width for *_, width in settings]
    return (m.task.name, name, f'{least.mean():.1f}', where,
            f'{min(coverage.min() for coverage, *_ in settings):.1f}',
            f'{min(widths):.2f} to {max(widths):.2f}')


def report_intervals(report, results):
    report.heading('Intervals')
    report.write(
        'Coverage in % of the 95 % intervals of race_estimate by fitted sketches: the privacy with the least, over all its\n'
        'releases; the worst release of all; and mean widths over those of raw rows, where both are bounded.\n')
    report.table(('task', 'release', 'least of the settings', 'where', 'worst release', 'width'),
                 [coverage_line(m, release.name) for m in results for release in releases_of(m)])
    for m in results:
        hold_coverage(report, m)


def hold_coverage(report, m):
    """A claim for each cell that misses, and one for all others"""
    coverage = {f'{name}, {name_of(cell)}': coverage_of_releases(fitted, m.truth).mean()
                for (name, cell), (_, fitted) in m.answers.items()}
    misses = {what: value for what, value in coverage.items() if value < COVERAGE}
    for what, value in misses.items():
        report.at_least(f'4 {m.task.name}, {what}: coverage of fitted', value, COVERAGE, ' %')
    kept = [value for what, value in coverage.items() if what not in misses]
    if kept:
        report.at_least(f'4 {m.task.name}: least coverage in {len(kept)} '
                        f'{"other " if misses else ""}cells', min(kept), COVERAGE, ' %')


def report_all(report, results, refusals, session, releases):
    report.write(INTRODUCTION)
    for name, text in refusals.items():
        report.write(f'\nNot measured: {name} ({text}).')
    for m in results:
        report_errors(report, m)
        hold_to_limits(report, m)
    report_harm(report, results)
    report_intervals(report, results)
    report_times(report, session, [m.task for m in results], releases, TIMES)
    report.conclude()
