"""Jaccard on the Slashdot graph: which range, how fast, how accurate, how private."""
import numpy as np

from accuracy_tasks import DELTA
from graph import HELD, NODES, ROWS, WITHOUT_END, count
from lsh import Sets
from measure import medians
from report import milliseconds

RANGES = [1024, 2048, 4096, 8192, 16384]
CHOSEN = RANGES[-1]             # the largest that 2,000 rows may have
PAPER_RANGE = 100000
PAPER_BUILD, PAPER_QUERY = 25, 157      # seconds on 90 threads, microseconds
PARTS, PART_ROWS = 6, 334       # one value has at most 335 rows of PAPER_RANGE counters
EPSILONS = [0.1, 1, 10]
FEWER_ROWS = [2 ** i for i in range(2, 11)]

INTRODUCTION = f"""Jaccard similarity of adjacency sets, R = {ROWS:,}, {HELD} nodes held out
of the build and asked about.  Computed outside the database, by the row functions of
src/core, as W = {PAPER_RANGE:,} is over the 256 MB that a sketch may have.

Cost is what collisions and their correction add to the error beyond an infinite W:
of the root mean square over all queries, and of the mean over queries of the standard
deviation, in which queries of small sums weigh more.  Let n(c) records have code c in
a row, and the query code b.  The corrected estimate of a row has variance
Var n(b) + (E Σ n(c)² - E n(b)²) / (W - 1): records with the same code fall together,
so that what counts is not N but Σ n(c)², the sum of the kernel over all pairs.
(Measured falls short of predicted where a few large codes rarely hit a query.)

The last line has no correction, as in the paper.  Relative errors are of sums of at
least 1 first; then the median and mean of all, of which many sums are near 0.
"""


def percent(value):
    return f'{value * 100:,.1f} %'


def cost(variances, without):
    """How much larger than without collisions errors are: the root of the mean square
    over queries, and the mean standard deviation"""
    return (np.sqrt(np.mean(variances) / np.mean(without)) - 1,
            np.mean(np.sqrt(variances)) / np.mean(np.sqrt(without)) - 1)


class Asked:
    """Sums of some of the sets, at queries among the nodes held out"""

    def __init__(self, graph, library, among, held):
        self.library = library
        self.exact = np.array([graph.exact_sum(node, among) for node in held])
        self.records = graph.sets(library, np.flatnonzero(among))
        self.queries = graph.sets(library, held)

    def count(self, range_):
        return count(self.library, self.records, self.queries, range_)

    def relative_error(self, estimates):
        """The mean of sums of at least 1"""
        large = self.exact >= 1
        return np.mean(np.abs(estimates[large] / self.exact[large] - 1))

    def errors(self, estimates):
        """Mean absolute error over N in 1e-5; mean relative error of sums of at least 1,
        its median over all sums, its mean over all"""
        relative = np.abs(estimates / self.exact - 1)
        return (f'{np.mean(np.abs(estimates - self.exact)) / self.records.length * 1e5:.2f}',
                percent(self.relative_error(estimates)), percent(np.median(relative)),
                percent(np.mean(relative)))


def line_of_range(asked, counted, without):
    predicted = cost(without.variances_at(counted.range), without.variances())
    measured = cost(counted.variances(), without.variances())
    return (*(percent(c) for pair in zip(predicted, measured) for c in pair),
            *asked.errors(counted.estimates()))


def choose_range(report, asked, what):
    """A table of errors by range; what was counted by range, and what collisions cost
    at the one that is chosen"""
    without = asked.count(WITHOUT_END)
    counted = {range_: asked.count(range_) for range_ in (*RANGES, PAPER_RANGE)}
    report.write(f'{what}: {asked.records.length:,} sets are built, '
                 f'{len(asked.exact)} asked about, of which {np.sum(asked.exact >= 1)} '
                 f'have a sum of 1 or more.  A row counts {without.pairs:,.0f} pairs of '
                 'records that share a code, each with itself too.\n')
    lines = [(f'{range_:,}', f'{ROWS * range_ * 8 / 2 ** 20:,.0f}',
              *line_of_range(asked, of, without)) for range_, of in counted.items()]
    lines.append(('no collisions', '', '', '', '', '', *asked.errors(without.estimates())))
    lines.append((f"{PAPER_RANGE:,}, the paper's", '', '', '', '', '',
                  *asked.errors(counted[PAPER_RANGE].uncorrected())))
    report.table(('W', 'MB at most', 'cost, rms, predicted', 'measured',
                  'cost, mean deviation, predicted', 'measured', '|error| / N, 10⁻⁵',
                  'relative, sums ≥ 1', 'median', 'mean, all'), lines)
    return counted, cost(counted[CHOSEN].variances(), without.variances())


def ranges_of_graph(report, graph, library):
    report.heading('Slashdot: collisions')
    report.write(INTRODUCTION)
    asked = Asked(graph, library, graph.is_built, graph.held)
    counted, costs = choose_range(report, asked, 'All nodes')
    filled = graph.sizes > 0
    _, costs_filled = choose_range(
        report, Asked(graph, library, graph.is_built & filled,
                      graph.held[filled[graph.held]]),
        f'Without the {np.sum(~filled):,} nodes that point to none, whose sets are one '
        'large code and are better counted apart')
    claim = f'Slashdot: cost of collisions, W = {CHOSEN:,}, '
    report.at_most(claim + 'root mean square', costs[0] * 100, 10, ' %')
    report.at_most(claim + 'mean deviation', costs[1] * 100, 10, ' %')
    report.at_most(claim + 'mean deviation, without empty sets', costs_filled[1] * 100, 10,
                   ' %')
    report.at_most(f"Slashdot: relative error of sums ≥ 1, W = {CHOSEN:,}, over the paper's",
                   asked.relative_error(counted[CHOSEN].estimates())
                   / asked.relative_error(counted[PAPER_RANGE].uncorrected()), 1)
    return counted[CHOSEN]


# ------------------------------------------------------------ in the database

def params(range_):
    return f"'jaccard(rows={ROWS}, range={range_})'::race_params"


def load(session, graph):
    held = ','.join(map(str, graph.held))
    session.run('CREATE TABLE edges (node int, neighbor int)')
    session.run('\\copy edges FROM PROGRAM \'zcat "$RACEPRIV_DATA"/slashdot.csv.gz\' '
                '(FORMAT csv, HEADER)\n')
    session.run(f"CREATE TABLE slashdot AS SELECT id, coalesce(x, '{{}}') AS x, "
                f"id = ANY ('{{{held}}}') AS held FROM generate_series(0, {NODES - 1}) id "
                'LEFT JOIN (SELECT node, array_agg(neighbor) AS x FROM edges '
                'GROUP BY node) e ON node = id')
    session.run('CREATE TABLE asked AS SELECT id, x FROM slashdot WHERE held')
    session.run(f'CREATE TABLE sketch AS SELECT race_build({params(CHOSEN)}, x) AS s '
                'FROM slashdot WHERE NOT held')
    session.run('VACUUM ANALYZE')


def sums(session, sketch):
    lines, _ = session.run(f'SELECT race_kernel_sum(s, x) FROM {sketch}, asked ORDER BY id')
    return np.array(lines, float)


def speed(report, session, graph):
    report.heading('Slashdot: speed')
    report.write(f'One process, R = {ROWS:,}, all {NODES:,} sets in an int[] a row, those '
                 'without an element too.  A query: one statement over all nodes held out, '
                 f'divided by them.  The paper took {PAPER_BUILD} s with 90 threads to build and '
                 f'{PAPER_QUERY} µs a query, on another machine, with W = {PAPER_RANGE:,}.\n')

    def build(range_):
        return lambda: session.time(
            f'SELECT race_count(race_build({params(range_)}, x)) FROM slashdot')

    t = medians({'ask': lambda: session.time('SELECT sum(race_kernel_sum(s, x)) '
                                             'FROM sketch, asked'),
                 **{range_: build(range_) for range_ in RANGES}}, 5)
    report.table(('W', 'race_build of all, ms'),
                 [(f'{range_:,}', milliseconds(t[range_])) for range_ in RANGES])
    query = t['ask'] / len(graph.held) * 1e6
    report.write(f'A query of W = {CHOSEN:,}: {query:,.1f} µs.')
    report.at_most(f'Slashdot: build, W = {CHOSEN}', t[CHOSEN], 5, ' s')
    report.at_most("Slashdot: a query, against the paper's", query, PAPER_QUERY, ' µs')


def parts_by_rows(report, session, graph):
    """Ranges beyond one value: a table of sketches with some of the rows each"""
    report.heading('Slashdot: ranges beyond one value')
    report.write(f'{PARTS} sketches of {PART_ROWS} rows with a seed each; an estimate is the mean of theirs.  '
                 'Counters of the whole take 8 bytes at most; stored are packed ones.  A relative '
                 'error is of sums of at least 1.\n')
    exact = np.array([graph.exact_sum(node, graph.is_built) for node in graph.held])
    large = exact >= 1
    lines = []
    for range_, rows, parts in ((CHOSEN, ROWS, 1), (CHOSEN, PART_ROWS, PARTS),
                                (PAPER_RANGE, PART_ROWS, PARTS)):
        session.run('DROP TABLE IF EXISTS by_rows')
        seconds = session.time(
            f"CREATE TABLE by_rows AS SELECT (SELECT race_build(race_params('jaccard', rows => {rows}, "
            f'range => {range_}, seed => seed), x) FROM slashdot WHERE NOT held) AS s '
            f'FROM generate_series(1, {parts}) seed')
        size = session.value('SELECT sum((race_info(s)).storage_bytes) FROM by_rows')
        answers = np.array(session.run('SELECT avg(race_kernel_sum(s, x)) FROM by_rows, asked '
                                       'GROUP BY id ORDER BY id')[0], float)
        error = np.mean(np.abs(answers[large] / exact[large] - 1))
        lines.append((f'{range_:,}', f'{parts} x {rows}',
                      f'{rows * parts * range_ * 8 / 2 ** 20:,.0f}', f'{int(size) / 2 ** 20:,.1f}',
                      milliseconds(seconds), percent(error)))
    report.table(('W', 'sketches x rows', 'MB at most', 'MB stored', 'build, ms', 'relative error'), lines)


def release(session, exact, epsilon, delta, rows='NULL'):
    """Mean absolute error over N of a release, and the rows that it kept"""
    session.run(f'CREATE TABLE release AS SELECT race_privatize(s, {epsilon}, {delta}, '
                f'{rows}) AS s FROM sketch')
    error = np.mean(np.abs(sums(session, 'release') - exact))
    kept = int(session.value('SELECT (race_info(s)).rows FROM release'))
    session.run('DROP TABLE release')
    return error, kept


def private(report, session, graph):
    report.heading('Slashdot: releases')
    report.write(f'Mean absolute error over N, in 10⁻⁵, of one release of R = {ROWS:,}, '
                 f'W = {CHOSEN:,}; in brackets the rows that it kept: all that race_privatize '
                 'chose, and for pure privacy (δ = 0) the best number in hindsight.  Gaussian '
                 f'is δ = {DELTA:g}.\n')
    exact = np.array([graph.exact_sum(node, graph.is_built) for node in graph.held])
    n = np.sum(graph.is_built)

    def shown(error, rows):
        return f'{error / n * 1e5:.2f} ({rows})'

    lines = []
    for epsilon in EPSILONS:
        best = min(release(session, exact, epsilon, 0, rows) for rows in FEWER_ROWS)
        lines.append((f'{epsilon:g}', shown(*release(session, exact, epsilon, 0)),
                      shown(*best), shown(*release(session, exact, epsilon, DELTA))))
    not_private = shown(np.mean(np.abs(sums(session, 'sketch') - exact)), ROWS)
    report.table(('ε', 'pure', 'pure, best rows', 'Gaussian'),
                 [*lines, ('not private', not_private, '', not_private)])


SIZES = [10, 100, 1000]
SEQUENCES = ['independent', 'grouped']


def evaluations(report, data):
    """What hashing an element for a row takes, by sequence and by the size of sets"""
    report.heading('Hashing sets')
    report.write(f'Nanoseconds for each element and row, R = {ROWS:,}, hashing alone, without PostgreSQL.  Rows '
                 'of sequence grouped share what they do with elements.\n')
    elements = np.random.default_rng(1).integers(0, 2 ** 63, 1000 * 200, dtype=np.uint64) * 2 + 1
    lines = []
    for size in SIZES:
        n = len(elements) // size
        data.bare.keep(f'sets_of_{size}', Sets(elements, np.arange(n + 1) * size))
        seconds = medians({sequence: lambda params=data.bare.library.params(
            'jaccard', rows=ROWS, range=CHOSEN, sequence=sequence):
            data.bare.time_of('hash', [params], [f'sets_of_{size}']) for sequence in SEQUENCES}, 3)
        lines.append((size, *(f'{seconds[s] / len(elements) / ROWS * 1e9:.3f}' for s in SEQUENCES)))
    report.table(('elements', *SEQUENCES), lines)
    report.against('an evaluation, sets of 10, 100 and 1,000', '0.27 ns',
                   '; '.join(f"{s} {', '.join(line[1 + i] for line in lines)} ns"
                             for i, s in enumerate(SEQUENCES)), 'less')


def slashdot(report, session, graph, library):
    counted = ranges_of_graph(report, graph, library)
    load(session, graph)
    inside = sums(session, 'sketch')
    if not np.allclose(inside, counted.estimates(), rtol=1e-9, atol=1e-6):
        raise RuntimeError('the database and its row functions outside do not agree')
    speed(report, session, graph)
    parts_by_rows(report, session, graph)
    private(report, session, graph)
