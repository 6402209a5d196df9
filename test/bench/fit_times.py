"""What a fit costs: time to fit and to ask, and bytes."""
from accuracy_tasks import DEFAULT_ROWS
from fit_tasks import GRID, ROWS
from measure import medians
from report import megabytes, microseconds

POINTS = 20000          # that are asked in a statement
ROUNDS = 3
EPSILON = 1


def sources(tasks, releases):
    """Tasks, with the name, the sequence and the rows of a release that is timed"""
    for task in tasks:
        yield task, ROWS.name, ROWS.sequence, f'rows => {DEFAULT_ROWS}'
        if GRID in releases:
            yield task, GRID.name, GRID.sequence, GRID.rows


def time_of(session, task, sequence, rows):
    """Seconds to fit, of a query raw and fitted, and bytes raw and fitted"""
    name = task.name
    fit = f"race_fit(s, {', '.join(task.bounds())})"
    session.run(f'CREATE TEMP TABLE timed AS SELECT race_privatize(s, {EPSILON}, 0, {rows}) '
                f"AS s FROM sketches WHERE task = '{name}' "
                f"AND sequence = '{sequence}' AND seed = 1")
    session.run(f'CREATE TEMP TABLE timed_fitted AS SELECT {fit} AS s FROM timed')
    session.run(f'CREATE TEMP TABLE points AS SELECT x FROM {name} '
                f'ORDER BY hashfloat8(x[1]), ctid LIMIT {POINTS}')
    ask = 'SELECT sum(race_kde(s, x)) FROM {}, points'
    seconds = medians({
        'fit': lambda: session.time(f'SELECT race_count({fit}) FROM timed'),
        'raw': lambda: session.time(ask.format('timed')),
        'fitted': lambda: session.time(ask.format('timed_fitted'))}, ROUNDS)
    sizes = [int(session.value(f'SELECT (race_info(s)).storage_bytes FROM {table}'))
             for table in ('timed', 'timed_fitted')]
    session.run('DROP TABLE timed, timed_fitted, points')
    return seconds['fit'], seconds['raw'] / POINTS, seconds['fitted'] / POINTS, *sizes


def report_times(report, session, tasks, releases, limits):
    """limits: the most seconds of a fit and microseconds of a query, by task"""
    report.heading('Time and size')
    report.write(f'A release of {DEFAULT_ROWS} rows, or a grid, at ε = {EPSILON}: medians of '
                 f'{ROUNDS}.  A query is one of\n{POINTS:,} in a statement, which makes the model '
                 'ready, too.\n')
    lines = []
    limited = [task for task in tasks if task.name in limits]
    for task, name, sequence, rows in sources(limited, releases):
        fit, raw, fitted, *sizes = time_of(session, task, sequence, rows)
        lines.append((f'{task.name}, {task.dims}-d', name, f'{fit:.2f}', microseconds(raw),
                      microseconds(fitted), *map(megabytes, sizes)))
        most = limits[task.name]
        report.at_most(f'7 {task.name}, {name}: seconds to fit', fit, most[0])
        report.at_most(f'7 {task.name}, {name}: µs a query', fitted * 1e6, most[1])
    report.table(('task', 'release', 'race_fit, s', 'raw query, µs', 'fitted query, µs',
                  'raw, MB', 'fitted, MB'), lines)
