"""The plans of race_build … GROUP BY."""
import json
import statistics

from measure import params
from report import megabytes, milliseconds
from server import Session, peak_memory

GROUPS = [1, 10, 1000]
WORK_MEM = {'sorted': '64MB', 'hashed': '2GB', 'spilling': '4MB'}
ROUNDS = 3

# Scans the table and loads the extension: peak_memory()
WARM_UP = (f'SELECT avg(x[1]), race_count(race_build({params(3, 1, 2)}, x)) '
           'FROM skin_groups')


def settings(plan, workers):
    """What makes the planner choose a plan"""
    return (f"SET enable_hashagg = {'off' if plan == 'sorted' else 'on'}; "
            f"SET enable_sort = {'on' if plan == 'sorted' else 'off'}; "
            f"SET work_mem = '{WORK_MEM[plan]}'; SET hash_mem_multiplier = 1; "
            f'SET max_parallel_workers_per_gather = {workers}; '
            f'ALTER TABLE skin_groups SET (parallel_workers = {workers}); '
            'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
            'SET min_parallel_table_scan_size = 0')


def grouped(groups):
    """R = W = 256: a thousand hashed groups of the default shape take gigabytes"""
    return ('SELECT sum(race_count(s)) FROM (SELECT race_build('
            f'{params(3, 256, 256)}, x) AS s FROM skin_groups GROUP BY g{groups}) g')


def nodes(plan):
    yield plan
    for child in plan.get('Plans', ()):
        yield from nodes(child)


def describe(explained):
    """The nodes of a plan that aggregate, sort and gather, top down"""
    names = []
    for node in nodes(explained['Plan']):
        name = node['Node Type']
        if 'Strategy' in node and node['Strategy'] != 'Plain':
            stage = node['Partial Mode'].replace('Simple', '')
            name = ' '.join(filter(None, [
                stage, node['Strategy'],
                f"in {node['HashAgg Batches']} batches"
                if node.get('HashAgg Batches', 1) > 1 else '']))
        elif name in ('Sort', 'Gather', 'Gather Merge'):
            launched = node.get('Workers Launched')
            name += f' ({launched} workers)' if launched is not None else ''
        else:
            continue
        names.append(name)
    return ' < '.join(names)


def measure(plan, workers, groups):
    """The plan that was taken, median seconds, and peak memory"""
    sql = grouped(groups)
    with Session() as session:
        session.run(settings(plan, workers))
        explain = f'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}'
        explained = json.loads('\n'.join(session.run(explain)[0]))[0]
        seconds = statistics.median(session.time(sql) for _ in range(ROUNDS))
    with Session() as session:
        session.run(settings(plan, workers))
        session.run(WARM_UP)
        peak = peak_memory(session, sql)
    return describe(explained), seconds, peak


def group_plans(report, session):
    # columns, because the planner cannot know how many groups an expression makes
    columns = ', '.join(f'id % {groups} AS g{groups}' for groups in GROUPS)
    session.run(f'CREATE TABLE skin_groups AS SELECT {columns}, x FROM skin')
    session.run('VACUUM ANALYZE skin_groups')
    report.heading('GROUP BY')
    report.write('skin in groups, R = W = 256; work_mem is 64 MB to sort, 2 GB to hash, '
                 '4 MB to spill.  Memory is the peak of the leader; each worker of a '
                 'partial plan has sketches of its own besides.  Plans are read from the '
                 'top.\n')
    lines = []
    for groups in GROUPS:
        for plan in WORK_MEM:
            for workers in 0, 2:
                taken, seconds, peak = measure(plan, workers, groups)
                lines.append((groups, plan, workers, milliseconds(seconds),
                              megabytes(peak), taken))
    report.table(('groups', 'asked for', 'workers', 'ms', 'peak MB', 'plan'), lines)
