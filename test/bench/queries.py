"""Asking a sketch: within a statement, across statements, in a fresh session."""
import random
import statistics

from measure import BANDWIDTH, exact_sum, medians, params, timed
from paper import Race
from report import megabytes, microseconds, milliseconds, ratio
from server import time_of_fresh_session

POINTS = 10000
SESSIONS = 11
STATEMENTS = 500

# sketch table, table of records, dims, R
SKETCHES = [('sketch_1024', 'skin', 3, 1024),
            ('sketch_256', 'skin', 3, 256), ('sketch_4096', 'skin', 3, 4096),
            ('sketch_d1', 'normal_1', 1, 1024), ('sketch_d55', 'normal_55', 55, 1024),
            ('sketch_d256', 'normal_256', 256, 1024)]


def make_sketches(session):
    """Sketches in tables of one row, and points to ask about: records at random"""
    for sketch, table, dims, rows in SKETCHES:
        session.run(f'CREATE TABLE {sketch} AS SELECT race_build({params(dims, rows)}, x) '
                    f'AS s FROM {table}')
        session.run(f'CREATE TABLE points_{sketch} AS SELECT x FROM {table} '
                    f'ORDER BY hashint4(id), id LIMIT {POINTS}')
        session.run(f'CREATE TABLE release_{sketch} AS SELECT race_privatize(s, 1, '
                    f'rows => {rows}) AS s FROM {sketch}')
    session.run('VACUUM ANALYZE')


def within_statement(report, data):
    report.heading('Queries within one statement')
    report.write(f'Microseconds a query: one statement over {POINTS:,} points, divided by '
                 'them.  NumPy is the paper\'s Algorithm 2, in batches.\n')
    session = data.session
    lines = []
    for sketch, table, dims, rows in SKETCHES:
        points = data.records[table][:POINTS]
        race = Race(dims, rows, 1024, BANDWIDTH).build(data.records[table])

        def ask(function, source):
            return session.time(f'SELECT sum({function}) FROM {source}, points_{sketch}')

        t = medians({
            'kde': lambda: ask('race_kde(s, x)', sketch),
            'private': lambda: ask('race_kde(s, x)', f'release_{sketch}'),
            'estimate': lambda: ask('(race_estimate(s, x)).kernel_density', sketch),
            'paper': lambda: timed(lambda: race.query(points)),
            'scan': lambda: session.time(f'SELECT avg(x[1]) FROM points_{sketch}'),
            'sum': lambda: session.time(exact_sum(table, dims)),
        }, 5)
        per_query = {name: t[name] / (1 if name == 'sum' else POINTS) for name in t}
        lines.append((table, dims, rows, *map(microseconds, per_query.values()),
                      ratio(per_query['sum'] / per_query['kde'])))
        if sketch == SKETCHES[0][0]:
            report.at_most('3: a query within a statement, d = 3, R = 1024',
                           per_query['kde'] * 1e6, 15, ' µs')
            report.at_least('4: against the exact sum over skin, times faster',
                            per_query['sum'] / per_query['kde'], 2000)
    report.table(('table', 'd', 'R', 'race_kde', 'race_kde, private', 'race_estimate',
                  'NumPy', 'avg scan', 'exact sum', 'exact sum / race_kde'), lines)


def random_point():
    return '{' + ','.join(str(random.randrange(256)) for _ in range(3)) + '}'


def loop_of(sql):
    """A plpgsql loop that plans a statement anew each time; q is a point in it"""
    return f"""DO $$
    DECLARE answer float8;
    BEGIN
        FOR i IN 1..{STATEMENTS} LOOP
            EXECUTE {sql} INTO answer;
        END LOOP;
    END $$"""


def across_statements(report, session):
    """Statements of one row each, in turn: every one has another point"""
    texts = {'SELECT 1': lambda: 'SELECT 1',
             'race_kde': lambda:
                 f"SELECT race_kde(s, '{random_point()}') FROM sketch_1024",
             'race_kde, private': lambda:
                 f"SELECT race_kde(s, '{random_point()}') FROM release_sketch_1024"}
    medians_of = medians({name: lambda text=text: session.time(text())
                          for name, text in texts.items()}, STATEMENTS)
    loops = {'SELECT 1': "'SELECT 1'",
             'race_kde': "format('SELECT race_kde(s, %L) FROM sketch_1024', "
                         "ARRAY[i % 256, 100, 100])",
             'race_kde, private':
                 "format('SELECT race_kde(s, %L) FROM release_sketch_1024', "
                 "ARRAY[i % 256, 100, 100])"}
    looped = medians({name: lambda sql=sql: session.time(loop_of(sql)) / STATEMENTS
                      for name, sql in loops.items()}, 5)
    report.at_most('3: a statement of one query, beyond SELECT 1',
                   (medians_of['race_kde'] - medians_of['SELECT 1']) * 1e6, 100, ' µs')
    return medians_of, looped


def statements(report, session):
    report.heading('Queries as statements of their own')
    report.write(f'Microseconds, a sketch of R = W = 1024.  Fresh: the first statement of '
                 f'a new session, median of {SESSIONS}.  Across: one after the other in a '
                 f'session, median of {STATEMENTS}, each with another point and sent by '
                 'psql.  Loop: EXECUTE in plpgsql, which has no way to the client.  Slices of '
                 'the 4 MB are one counter a row: they need no memory for the whole, but the next '
                 'question would have to fetch others.\n')
    point = "'{100,100,100}'"
    # what any value of this size costs: reading and putting together its pieces
    session.run('CREATE TABLE bytes (b bytea); '
                'ALTER TABLE bytes ALTER COLUMN b SET STORAGE EXTERNAL; '
                "INSERT INTO bytes SELECT decode(repeat('00', 4194452), 'hex')")
    fresh = medians({
        'SELECT 1': lambda: time_of_fresh_session('SELECT 1'),
        'a row of a table': lambda: time_of_fresh_session(
            'SELECT x FROM points_sketch_1024 LIMIT 1'),
        '4 MB of bytea': lambda: time_of_fresh_session(
            'SELECT get_byte(b, 1000000) FROM bytes'),
        '1,024 slices of the same': lambda: time_of_fresh_session(
            'SELECT sum(length(substr(b, 4096 * i + 17, 4))) FROM bytes, generate_series(0, 1023) i'),
        'race_kernel': lambda: time_of_fresh_session(
            f"SELECT race_kernel('l2', {point}, {point})"),
        'race_kde, R = 1024, W = 2': lambda: time_of_fresh_session(
            f'SELECT race_kde(race_sketch({params(3, 1024, 2)}), {point})'),
        'race_kde': lambda: time_of_fresh_session(
            f'SELECT race_kde(s, {point}) FROM sketch_1024'),
        'race_kde, private': lambda: time_of_fresh_session(
            f'SELECT race_kde(s, {point}) FROM release_sketch_1024'),
    }, SESSIONS)
    across, loop = across_statements(report, session)
    report.table(('statement', 'fresh', 'across', 'loop'),
                 [(name, *(microseconds(t[name]) if name in t else '–'
                           for t in (fresh, across, loop))) for name in fresh])
    report.at_most('3: first query of a fresh session, 4 MB sketch',
                   fresh['race_kde, private'] * 1e3, 3, ' ms')


def sizes(report, session):
    report.heading('Sizes on disk, and releases')
    report.write('MB of skin and its sketches, W = 1024; milliseconds to release with '
                 'ε = 1 all rows, which draws a sample for each counter.\n')
    lines = [('skin, the table', *[megabytes(int(session.value(
        "SELECT pg_total_relation_size('skin')")))] * 2, '', '')]
    for sketch, _, _, rows in SKETCHES[:3]:
        for table, what in (sketch, 'exact'), (f'release_{sketch}', 'private'):
            value, relation = (int(session.value(sql)) for sql in (
                f'SELECT pg_column_size(s) FROM {table}',
                f"SELECT pg_total_relation_size('{table}')"))
            release = statistics.median(session.time(
                f'SELECT race_count(race_privatize(s, 1, rows => {rows})) FROM {sketch}')
                for _ in range(5)) if what == 'private' else None
            lines.append((f'R = {rows}, {what}', megabytes(value), megabytes(relation),
                          milliseconds(release) if release else '',
                          f'{rows * 1024 / release / 1e6:.1f}' if release else ''))
            if release and rows == 1024:
                report.at_most('6: race_privatize of a million counters', release * 1e3,
                               500, ' ms')
    report.table(('', 'value', 'table', 'race_privatize', 'million samples / s'), lines)
