"""Fitted sketches against raw ones and against others: prints tables, writes them to a file.

fit.py LIBRARY FOLDER RESULTS [TASK ...]: a shared library of the room lsh, a folder to
work in, the file to write, and tasks if not all.  It needs a server with racepriv (PGHOST
and so on) where accuracy.sql has run.  test/bench/run has it all.

A task takes a processor.  Times are measured in the end, when nothing else runs.
"""
import concurrent.futures
import dataclasses
import os
import sys
import time

import numpy as np

from accuracy_tasks import DEFAULT_ROWS
from fit_models import Models
from fit_report import report_all
from fit_tasks import ALL, FitAsked, available, load_mixtures
from lsh import Library
from report import Report
from server import Session


@dataclasses.dataclass
class Measured:
    """Of one task"""
    task: object
    truth: np.ndarray
    answers: dict       # [name of a release, cell]: Answers raw, and fitted
    models: dict        # [name, cell]: error and setting


def measure(task, library, releases):
    with Session() as session:
        session.run('SET client_min_messages = error')      # few rows warn of their intervals
        asked = FitAsked(session, task)
        serving = {cell: [release for release in releases if release.serves(task, cell[0])]
                   for cell in task.cells()}
        for sequence in {release.sequence for of in serving.values() for release in of}:
            asked.build(DEFAULT_ROWS, sequence)
        answers = {(release.name, cell): asked.ask_fitted(release, *cell)
                   for cell, of in serving.items() for release in of}
        return Measured(task, asked.truth, answers, Models(asked, library).found)


def most_work_first(tasks):
    return sorted(tasks, key=lambda task: (task.name != 'skin', -task.dims))


def main():
    path_of_library, folder, path, *names = sys.argv[1:]
    start = time.monotonic()
    library = Library(path_of_library)
    tasks = [task for task in ALL if not names or task.name in names]
    with Session() as session, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        load_mixtures(session, folder)
        releases, refusals = available(session)
        measured = {task.name: pool.submit(measure, task, library, releases)
                    for task in most_work_first(tasks)}
        results = [measured[task.name].result() for task in tasks]
        report = Report()
        report_all(report, results, refusals, session, releases)
    report.keep(path, start)


if __name__ == '__main__':
    main()
