"""What parallel workers gain."""
from concurrent.futures import ThreadPoolExecutor

from measure import build_sql, medians
from report import milliseconds, ratio


def set_workers(session, table, workers, leader):
    session.run(f'ALTER TABLE {table} SET (parallel_workers = {workers}); '
                f'SET max_parallel_workers_per_gather = {workers}; '
                f'SET parallel_leader_participation = {leader}; '
                'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
                'SET min_parallel_table_scan_size = 0')


def with_workers(session, table, workers, leader, sql):
    def run():
        set_workers(session, table, workers, leader)
        seconds = session.time(sql)
        set_workers(session, table, 0, 'on')
        return seconds
    return run


def two_at_once(bare):
    """How much two bare loops get done in the time of one: all that the machine
    gives to a second process, while others use it too"""
    def build(_):
        return bare.time('build', 'skin', 3, 1024)

    with ThreadPoolExecutor(2) as pool:
        return 2 * build(0) / max(pool.map(build, range(2)))


def worker_gains(report, data):
    report.heading('Workers')
    report.write('Milliseconds and, behind, the speed against one process, R = W = 1024.  '
                 'skin4 is skin four times.  The table of 10,000 shows what '
                 'starting workers costs.  "leader" is parallel_leader_participation: on '
                 'two cores, two workers and a leader that works too are one process '
                 'more than there are cores; the claim takes the better of both.  Two '
                 'bare loops at once get done '
                 f'{ratio(two_at_once(data.bare))} times what one does.\n')
    session = data.session
    session.run('CREATE TABLE skin4 AS SELECT id, x FROM skin, generate_series(1, 4)')
    session.run('VACUUM ANALYZE skin4')
    plans = [(0, 'on'), (1, 'on'), (2, 'on'), (2, 'off')]
    work = [(table, name, sql)
            for table in ('normal_10000', 'skin', 'skin4')
            for name, sql in (('race_build', build_sql(table, 3)),
                              ('avg', f'SELECT avg(x[1]) FROM {table}'))]
    t = medians({(table, name, plan): with_workers(session, table, *plan, sql)
                 for table, name, sql in work for plan in plans}, 7)
    lines = []
    for table, name, _ in work:
        one = t[table, name, (0, 'on')]
        lines.append((table, name, *(
            f'{milliseconds(t[table, name, plan])} ({ratio(one / t[table, name, plan])})'
            for plan in plans)))
    report.table(('table', '', 'no workers', '1 worker', '2 workers', '2, leader off'), lines)
    for table in 'skin', 'skin4':
        seconds = [t[table, 'race_build', plan] for plan in plans]
        report.at_least(f'1: race_build with 2 workers against one process, {table}',
                        seconds[0] / min(seconds[2:]), 1.8)
