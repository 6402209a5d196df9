"""answers.py FOLDER REPORT: counts, histograms, cross tables, means and rows of releases of Adult by columns, through SQL

Whether intervals hold what is true; errors beside those of noisy counts, and of noisy sums and counts, that get all of
epsilon; time.  FOLDER has space for files.  Appends to a report in Markdown.
"""
import gzip
import itertools
import json
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from server import Session, cpu_time

FOLDER, REPORT = sys.argv[1:3]
DATA = os.environ['RACEPRIV_DATA']
DELTAS = [0, 1e-9]
RELEASES = int(os.environ.get('RELEASES', 20))
FEWEST = 0.75    # at most so many intervals of a cell hold in .3 % of cells, if 95 % do
NUMBERS = ['age', 'fnlwgt', 'education_num', 'capital_gain', 'capital_loss', 'hours_per_week']
EDGES = {'age': '{0,1,8,17,28,33,48,85}', 'hours_per_week': '{0,10,20,39,40,41,60,99}', 'education_num': '{0,4,8,9,12,16}'}
PAIRS = [('relationship', 'sex'), ('marital_status', 'income'), ('race', 'native_country'), ('age', 'hours_per_week')]
MEANS = [('hours_per_week', 'sex'), ('age', 'income'), ('age', 'marital_status')]


def load(session):
    with open(f'{DATA}/adult-domain.json') as file:
        cells = {name.replace('-', '_').replace('>50K', ''): n for name, n in json.load(file).items()}
    with gzip.open(f'{DATA}/adult.csv.gz', 'rt') as source, open(f'{FOLDER}/adult.csv', 'w') as copy:
        names = [name.replace('-', '_').replace('>50K', '') for name in source.readline().strip().split(',')]
        copy.write(source.read())
    columns = ', '.join(f'{name} int NOT NULL CHECK ({name} BETWEEN 0 AND {cells[name] - 1})' if name in NUMBERS else
                        f"{name} text NOT NULL CHECK ({name} IN ({', '.join(repr(str(i)) for i in range(cells[name]))}))" for name in names)
    session.run('DROP EXTENSION IF EXISTS racepriv, racepriv_release CASCADE; DROP TABLE IF EXISTS adult; CREATE EXTENSION racepriv_release CASCADE; '
                f'CREATE TABLE adult ({columns})')
    session.run(f"\\copy adult FROM '{FOLDER}/adult.csv' (FORMAT csv)\n")
    session.run("CALL race_protect('adult', 'adult', 1e6, 0.1)")
    return list(cells)


TRUTH = {}


def answers(session, release, true, told, source):
    """What a release says, with what is true in the first column: true, told, lower, upper, and whether it is measured"""
    if source not in TRUTH:
        TRUTH[source] = numpy.array([float(x or 'nan') for x in session.run(f"SELECT {true} FROM {source.format(release)}")[0]])
    rows = [line.split('|') for line in session.run(f"SELECT {told}, lower, upper, source FROM {source.format(release)}")[0]]
    return numpy.array([[true] + [float(x or 'nan') for x in row[:3]] + [row[3] == 'measured'] for true, row in zip(TRUTH[source], rows)])


def questions():
    """Kind; what is true, what is told, and where from, with {} for the name of the release"""
    yield 'all records', '(SELECT count(*) FROM adult)', 'count', "race_count('{}')"
    true = '(SELECT count(*) FROM adult WHERE {})'
    for name in NAMES:
        yield 'each value of a column', true.format(f'{name}::text = value1'), 'count', f"race_crosstab('{{}}', '{name}')"
    for name, edges in EDGES.items():
        yield 'histogram of a column', true.format(f'{name} >= low AND {name} < high'), 'count', \
            f"race_histogram('{{}}', '{name}', '{{{edges}}}')"
    for first, second in PAIRS:
        both = '{0} = value{1}' if first not in NUMBERS else \
            "int4range({0}, {0}, '[]') <@ CASE WHEN value{1} LIKE '[%' THEN value{1}::int4range ELSE int4range(value{1}::int, value{1}::int, '[]') END"
        yield 'cells of two columns', true.format(f'{both.format(first, 1)} AND {both.format(second, 2)}'), 'count', \
            f"race_crosstab('{{}}', '{first}', '{second}')"
    for number, group in MEANS:
        yield 'mean by group', f'(SELECT avg({number}) FROM adult WHERE {group} = value1)', 'mean', f"race_mean('{{}}', '{number}', '{group}')"


def table(out, head, rows):
    out += ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head), *('| ' + ' | '.join(row) + ' |' for row in rows), '']


def report_coverage(session, out):
    """Of all questions, by releases of all columns"""
    found = {}
    for delta in DELTAS:
        for i in range(RELEASES):
            name = f'all {delta} {i}'
            session.run(f"CALL race_release('{name}', 'adult', '{{{','.join(NAMES)}}}', 1, {delta})")
            for question, *of in questions():
                found.setdefault(question, {}).setdefault(delta, {}).setdefault(i, []).append(answers(session, name, *of))
    out += ['## Intervals', '', f'95 % intervals of {RELEASES} releases of the 14 columns of Adult, ε = 1. A value is measured if tables with known noise tell it. '
            f'Rarely held: the intervals of at most {FEWEST * RELEASES:.0f} releases hold the cell; of intervals that hold in 95 %, that are .3 % of cells.', '']
    rows = []
    for question, by_delta in found.items():
        rows.append([question])
        for by_release in by_delta.values():
            told = [numpy.concatenate(some) for some in by_release.values()]
            a = numpy.concatenate(told)
            a = a[~numpy.isnan(a).any(1)]
            held = (a[:, 0] >= a[:, 2] - 1e-6) & (a[:, 0] <= a[:, 3] + 1e-6)
            # cells are in the same order in all releases
            of_cells = [sum(t[0] >= t[2] - 1e-6 and t[0] <= t[3] + 1e-6 for t in cell) for cell in zip(*told) if not numpy.isnan(cell).any()]
            few = sum(n <= FEWEST * RELEASES for n in of_cells)
            rows[-1] += [f'{100 * held.mean():.1f}', f'{few} of {len(of_cells)}', f'{100 * a[:, 4].mean():.0f}',
                         f'{numpy.sqrt(numpy.mean((a[:, 1] - a[:, 0]) ** 2)):.3g}']
    table(out, ['question', *(f'{what}, δ = {delta:g}' for delta in DELTAS for what in ('hold, %', 'cells rarely held', 'measured, %', 'rms error'))], rows)


def geometric_error(epsilon):
    return numpy.sqrt(2 * numpy.exp(-epsilon)) / (1 - numpy.exp(-epsilon))


def report_errors(session, out, repeats=100, epsilon=1):
    """Of a release of one column alone, or one column and a measure, beside noise that gets all of epsilon"""
    rows, random = [], numpy.random.default_rng(1)
    for name in ('age', 'hours_per_week', 'occupation', 'sex'):
        errors = []
        for i in range(repeats):
            session.run(f"CALL race_release('{name} {i}', 'adult', '{{{name}}}', {epsilon})")
            told = answers(session, f'{name} {i}', f'(SELECT count(*) FROM adult WHERE {name}::text = value1)', 'count', f"race_crosstab('{{}}', '{name}')")
            errors.append((told[:, 0] - told[:, 1])[told[:, 0] > 30])
        ours = numpy.sqrt(numpy.mean(numpy.square(errors)))
        rows.append([f'count of each value of {name}', f'{ours:.3g}', f'{geometric_error(epsilon):.3g}', f'{ours / geometric_error(epsilon):.2f}'])
    for number, group, upper in (('hours_per_week', 'sex', 98), ('age', 'marital_status', 84), ('capital_gain', 'education_num', 99)):
        for i in range(repeats):
            session.run(f"CALL race_release('{group} {number} {i}', 'adult', '{{{group}}}', {epsilon}, measure => '{number}')")
        told = numpy.array([answers(session, f'{group} {number} {i}', f'(SELECT avg({number}) FROM adult WHERE {group}::text = value1)', 'mean',
                                    f"race_mean('{{}}', '{number}', '{group}')") for i in range(repeats)])
        counts = numpy.array([float(x) for x in session.run(f'SELECT count(*) FROM adult GROUP BY {group} ORDER BY {group}::int')[0]])
        mean, scale = told[0, :, 0], 2 / epsilon
        # sums of distances from the middle: half of epsilon each
        noise = lambda: random.laplace(0, scale, (10000, len(counts)))
        rival = (counts * (mean - upper / 2) + upper / 2 * noise()) / (counts + noise()) + upper / 2 - mean
        ours, theirs = (numpy.sqrt(numpy.median(e ** 2, 0)) for e in (told[:, :, 1] - told[:, :, 0], rival))
        held = numpy.mean((told[:, :, 2] <= mean) & (mean <= told[:, :, 3]))
        rows.append([f'mean of {number} by {group} (intervals hold {100 * held:.1f} %)', f'{numpy.mean(ours):.3g}', f'{numpy.mean(theirs):.3g}',
                     f'{numpy.exp(numpy.mean(numpy.log(ours / theirs))):.2f}'])
    out += ['## Errors', '', f'Pure ε = {epsilon}, {repeats} releases of one column (of means: of the column of groups, with the measure): root mean squared errors of counts above '
            '30, and medians of errors of means, averaged over groups. Beside a geometric histogram, and noisy sums of distances from the middle of the range with half of ε and counts with '
            'the other half: both get all of ε, ours has the count of all records besides.', '']
    table(out, ['question', 'racepriv', 'beside', 'ratio'], rows)


def cpu(session, sql):
    """Seconds of the backend"""
    pid = session.value('SELECT pg_backend_pid()')
    before = cpu_time(pid)
    session.run(sql)
    return cpu_time(pid) - before


def pairs_off(session, first, second):
    """Total variation distance of the tables of all pairs of columns, of two tables of as many rows"""
    sums = [f"(SELECT sum(abs(coalesce(a.n, 0) - coalesce(b.n, 0))) FROM (SELECT {i}, {j}, count(*) AS n FROM {first} GROUP BY 1, 2) a "
            f"FULL JOIN (SELECT {i}, {j}, count(*) AS n FROM {second} GROUP BY 1, 2) b USING ({i}, {j}))" for i, j in itertools.combinations(NAMES, 2)]
    return float(session.value(f"SELECT ({' + '.join(sums)}) / (2.0 * {len(sums)} * (SELECT count(*) FROM {first}))"))


def report_rows(session, out):
    """Synthetic rows, and time"""
    rows = []
    for epsilon in (0.1, 1, 10):
        seconds = cpu(session, f"CALL race_release('rows {epsilon}', 'adult', '{{{','.join(NAMES)}}}', {epsilon}, 1e-9)")
        sampling = cpu(session, f"DROP TABLE IF EXISTS synthetic; CREATE TABLE synthetic AS SELECT * FROM race_synthesize(NULL::adult, 'rows {epsilon}', 48842)")
        many = cpu(session, f"SELECT count(*) FROM race_synthesize(NULL::adult, 'rows {epsilon}', 100000)")
        rows.append([f'{epsilon:g}', f"{pairs_off(session, 'adult', 'synthetic'):.4f}", f'{seconds:.2f}', f'{sampling:.2f}', f'{many:.2f}'])
    out += ['## Through SQL', '', 'One release of the 14 columns of Adult, δ = 1e-9: distance of the 91 pairs; seconds of processor time.', '']
    table(out, ['ε', 'pairs', 'release, fitted', '48,842 rows into a table', '100,000 rows counted'], rows)
    for n, columns, values in ((1000000, 10, 20), (100000, 40, 20)):
        names = [f'c{i}' for i in range(columns)]
        session.run(f"DROP TABLE IF EXISTS wide; CREATE TABLE wide ({', '.join(f'{c} int NOT NULL CHECK ({c} BETWEEN 0 AND {values - 1})' for c in names)}); "
                    f"INSERT INTO wide SELECT {', '.join(f'(i * {2 * k + 1} / {k + 1}) % {values}' for k in range(columns))} FROM generate_series(1, {n}) i; "
                    f"VACUUM ANALYZE wide; CALL race_protect('wide {columns}', 'wide', 1e6, 0.1)")
        seconds = cpu(session, f"CALL race_release('wide {columns}', 'wide {columns}', '{{{','.join(names)}}}', 1, 1e-9)")
        out += [f'{n:,} rows of {columns} columns of {values} values: a release takes {seconds:.2f} s, {1e6 * seconds / n / columns:.2f} µs a row and column.', '']


with Session() as session_:
    NAMES = load(session_)
    out_ = []
    report_errors(session_, out_)
    report_coverage(session_, out_)
    report_rows(session_, out_)
with open(REPORT, 'a') as report_:
    report_.write('\n' + '\n'.join(out_).rstrip() + '\n')
print('\n'.join(out_))
