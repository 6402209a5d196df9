"""Accuracy: prints tables and writes them to a file, with curves beside it.

accuracy.py LIBRARY FOLDER RESULTS: a shared library of the room lsh, a folder to
work in, and the file to write.  It needs a server with racepriv (PGHOST and so on)
where accuracy.sql has run.  test/bench/run has it all.

Ours are real releases by race_privatize, asked through race_estimate; the paper's
are NumPy.  A task takes a processor.
"""
import concurrent.futures
import dataclasses
import os
import sys
import time

import numpy as np

from accuracy_models import PAPER_ROWS, our_cells, our_errors, paper_errors
from accuracy_report import GAUSSIAN, GAUSSIAN_MANY, LIMITS, PURE, PURE_MANY, report_all
from accuracy_tasks import DEFAULT_ROWS, DELTA, EPSILONS, MANY_ROWS, RANGE, SEEDS, TASKS, Asked
from lsh import Library
from paper import Race
from report import Report
from server import Session

FIXED_ROWS = [128, 256, 512]    # that intervals are looked at with, beside the automatic


@dataclasses.dataclass
class Measured:
    """Of one task"""
    task: object
    truth: np.ndarray
    answers: dict               # Answers of each setting and epsilon
    sequences: dict             # median errors of sequence and epsilon; None is exact
    paper: np.ndarray           # errors [seed, epsilon, R], on rows of its own
    paper_on_ours: np.ndarray
    hindsight: np.ndarray       # our errors [seed, epsilon, log₂ R′], the same noise


def settings(task):
    """The arguments of Asked.ask() for each setting"""
    yield PURE, dict(built=DEFAULT_ROWS)
    yield PURE_MANY, dict(built=MANY_ROWS)
    yield GAUSSIAN, dict(built=DEFAULT_ROWS, delta=DELTA)
    if GAUSSIAN_MANY in LIMITS[task.name]:
        yield GAUSSIAN_MANY, dict(built=MANY_ROWS, delta=DELTA)
    for rows in FIXED_ROWS:
        yield f'pure, rows => {rows}', dict(built=DEFAULT_ROWS, rows=rows)
        yield f'Gaussian, rows => {rows}', dict(built=DEFAULT_ROWS, rows=rows, delta=DELTA)


def ask_all(asked):
    return {(name, epsilon): asked.ask(epsilon=epsilon, **arguments)
            for name, arguments in settings(asked.task) for epsilon in EPSILONS}


def compare_sequences(asked):
    """Gaussian noise does not grow with the rows, so it hides them least"""
    return {(sequence, epsilon): asked.ask(DEFAULT_ROWS, epsilon, DELTA, sequence=sequence)
            .error(asked.task, asked.truth)
            for sequence in ('independent', 'sobol') for epsilon in (None, 1)}


def model_all(asked, library, folder):
    """The paper's errors, the same on our rows, and ours at every R′"""
    task = asked.task
    results = [], [], []
    for seed in range(1, SEEDS + 1):
        race = Race(task.dims, PAPER_ROWS[-1], RANGE, task.bandwidth, seed)
        race.build_in_blocks(asked.records)
        ours = (asked.counters(folder, seed, MANY_ROWS),
                our_cells(library, task, seed, MANY_ROWS, asked.queries))
        for result, model, sketch in zip(
                results, (paper_errors, paper_errors, our_errors),
                ((race.counters, race.cells(asked.queries)), ours, ours)):
            result.append(model(asked, *sketch, np.random.default_rng(seed)))
    return [np.array(result) for result in results]


def measure(task, library, folder):
    with Session() as session:
        asked = Asked(session, task)
        for rows in DEFAULT_ROWS, MANY_ROWS:
            asked.build(rows)
        asked.build(DEFAULT_ROWS, 'independent')
        return Measured(task, asked.truth, ask_all(asked), compare_sequences(asked),
                        *model_all(asked, library, folder))


def main():
    path_of_library, folder, path = sys.argv[1:]
    start = time.monotonic()
    library = Library(path_of_library)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(lambda task: measure(task, library, folder), TASKS))
    report = Report()
    with Session() as session:
        report_all(report, results, session)
    report.keep(path, start)


if __name__ == '__main__':
    main()
