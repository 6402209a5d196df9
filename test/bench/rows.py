"""How many rows a pure release keeps, beside the best number in hindsight: prints a table, writes it to a file.

rows.py LIBRARY FOLDER RESULTS: liblsh, a folder to work in, the file to write.  It needs a server
with racepriv (PGHOST and so on) where accuracy.sql has run.  test/bench/run rows has it all.
"""
import sys
import time

import numpy as np

from accuracy_tasks import TASKS
from fit_mixtures import MIXTURES
from lsh import Library
from report import Report
from server import Session, load
from transforms import Kernel

SEEDS = 10
EPSILONS = [0.1, 1, 10]
ROWS = 2 ** np.arange(11)
LIMIT = 1.25
GRAPH_ROWS, GRAPH_RANGE = 8192, 4000        # of the exact sums of sets
NODES, HELD = 82168, 500

INTRODUCTION = f"""# Rows of pure releases

Written by `test/bench/run rows`.

`race_privatize(sketch, epsilon)` chooses how many of 1024 rows it keeps, by what it pays for in ε itself; and the
same sketches with each power of two of rows, `rows => …`, of which the best in hindsight is shown.
Root mean square error of kernel sums, in records, over {SEEDS} releases, of as many sketches with
other row functions, and all queries, without a fit."""


class Table:
    """A table on the server, its parameters, and the true kernel sums of its queries"""

    def __init__(self, name, params, queries, truth):
        self.name, self.params, self.queries, self.truth = name, params, queries, truth

    def error(self, session, epsilon, rows='NULL'):
        """With the numbers of rows that releases kept"""
        session.run('DROP TABLE IF EXISTS releases; CREATE TEMP TABLE releases AS SELECT seed, race_privatize('
                    f's, {epsilon}, 0, {rows}) AS s FROM exact')
        lines = session.run(f'SELECT race_kernel_sum(s, x) FROM releases, {self.queries} q ORDER BY seed, q.id')[0]
        kept = session.run('SELECT (race_info(s)).rows FROM releases')[0]
        sums = np.array(lines, float).reshape(SEEDS, -1)
        return np.sqrt(np.mean((sums - self.truth) ** 2)), np.median(np.array(kept, int))

    def compare(self, session, report, lines):
        session.run('DROP TABLE IF EXISTS exact; CREATE TEMP TABLE exact AS SELECT seed, s FROM '
                    f'generate_series(1, {SEEDS}) seed, LATERAL (SELECT race_build({self.params}, x) AS s '
                    f'FROM {self.name}) b')
        for epsilon in EPSILONS:
            chosen, kept = self.error(session, epsilon)
            errors = [self.error(session, epsilon, rows)[0] for rows in ROWS]
            best = int(np.argmin(errors))
            over = chosen / errors[best]
            lines.append((self.name, epsilon, f'{chosen:.1f}', f'{kept:.0f}', f'{errors[best]:.1f}', ROWS[best],
                          f'{over:.2f}'))
            report.at_most(f'{self.name}, ε = {epsilon:g}: error over the best', over, LIMIT)


def real(session):
    for task in TASKS:
        params = f"race_params('l2', {task.dims}, {task.bandwidth}, seed => seed)"
        kernel = f"race_params('l2', {task.dims}, {task.bandwidth})"
        truth = session.run(f'SELECT (SELECT sum(race_kernel({kernel}, t.x, q.x)) FROM {task.name} t) '
                            f'FROM {task.name}_queries q ORDER BY id')[0]
        yield Table(task.name, params, f'{task.name}_queries', np.array(truth, float))


def made_up(session, folder, library):
    kernel = Kernel(library)
    for mixture in MIXTURES:
        x, queries = mixture.generate()
        load(session, folder, mixture.name, x)
        load(session, folder, f'{mixture.name}_queries', queries)
        truth = [np.sum(kernel(np.sqrt(np.sum((x - q) ** 2, axis=1)) / mixture.bandwidth)) for q in queries]
        yield Table(mixture.name, f"race_params('l2', {mixture.dims}, {mixture.bandwidth}, seed => seed)",
                    f'{mixture.name}_queries', np.array(truth))


def graph(session):
    """Sets of neighbors, whose kernel sums are low; true sums by many more rows"""
    session.run('CREATE TABLE edges (node int, neighbor int)')
    session.run('\\copy edges FROM PROGRAM \'zcat "$RACEPRIV_DATA"/slashdot.csv.gz\' (FORMAT csv, HEADER)\n')
    session.run("CREATE TABLE nodes AS SELECT id, coalesce(x, '{}') AS x FROM "
                f'generate_series(0, {NODES - 1}) id LEFT JOIN (SELECT node, array_agg(neighbor) AS x FROM edges '
                f'GROUP BY node) e ON node = id; CREATE VIEW slashdot AS SELECT * FROM nodes WHERE id % {HELD} <> 7; '
                f'CREATE VIEW slashdot_queries AS SELECT * FROM nodes WHERE id % {HELD} = 7')
    truth = session.run(f"SELECT race_kernel_sum(s, x) FROM (SELECT race_build('jaccard(rows={GRAPH_ROWS}, "
                        f"range={GRAPH_RANGE})'::race_params, x) AS s FROM slashdot OFFSET 0) b, slashdot_queries "
                        'ORDER BY id')[0]
    return Table('slashdot', "race_params('jaccard', rows => 1024, range => 4096, seed => seed)", 'slashdot_queries',
                 np.array(truth, float))


def main():
    library, folder, path = sys.argv[1:]
    start = time.monotonic()
    report = Report()
    report.write(INTRODUCTION)
    lines = []
    with Session() as session:
        session.run('SET client_min_messages = error')
        for table in [*real(session), *made_up(session, folder, Library(library)), graph(session)]:
            table.compare(session, report, lines)
    report.heading('Error in records')
    report.table(('table', 'ε', 'chosen', 'rows', 'best', 'rows', 'chosen over best'), lines)
    report.conclude()
    report.keep(path, start)


if __name__ == '__main__':
    main()
