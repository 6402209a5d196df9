"""Graphs that are made, of the size of Google+ and a hundredth of Friendster.

Nobody gives us these graphs.  A node has a log-normal number of neighbors, which is what
Google+ was found to have (Gong et al., Evolution of Social-Attribute Networks, IMC 2012),
with the mean of the graph; the neighbors are uniform.  Building hashes elements, so its time
depends on how many there are, and in sets of which sizes: not on which.
"""
import os

import numpy as np

from server import Session

ROWS = 2000
RANGE = 16384
SEED = 20211119
SEQUENCES = ['independent', 'grouped']
WIDE = 334, 100000      # rows and range of a value of the paper's range
# name, nodes, edges, sigma of log(degree), largest degree, times the size of this one
GRAPHS = [('Google+', 72300, 13.7e6, 1.5, 20000, 1),
          ('Friendster', 656000, 18.06e6, 1.2, 5214, 100)]
PAPER_SECONDS, PAPER_THREADS = 31, 90       # Google+


def degrees(nodes, edges, sigma, largest):
    """Log-normal, cut off at the largest, with this sum"""
    rng = np.random.default_rng(SEED)
    shape = np.exp(sigma * rng.standard_normal(nodes))
    scale = edges / nodes / shape.mean()
    for _ in range(50):
        n = np.clip(np.rint(scale * shape), 1, largest).astype(int)
        scale *= edges / n.sum()
    return n


def make(session, name, nodes, edges, sigma, largest):
    n = degrees(nodes, edges, sigma, largest)
    rng = np.random.default_rng(SEED + 1)
    session.run(f'DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (x int[])')
    path = f'/tmp/{name}.copy'
    with open(path, 'w') as file:
        for size in n:
            neighbors = rng.choice(nodes, size, replace=False) if size > nodes // 10 else \
                rng.integers(0, nodes, size)
            file.write('{' + ','.join(map(str, neighbors)) + '}\n')
    session.run(f"\\copy {name} FROM '{path}'\n")
    os.remove(path)
    session.run(f'VACUUM ANALYZE {name}')
    return n


def user_seconds(sql):
    """User CPU of a backend during a statement: others may use the machine meanwhile"""
    def used(pid):
        with open(f'/proc/{pid}/stat') as stat:
            return int(stat.read().rsplit(') ', 1)[1].split()[11]) / os.sysconf('SC_CLK_TCK')

    with Session() as session:
        pid = session.value('SELECT pg_backend_pid()')
        session.run("SELECT race_count(race_build('jaccard(rows=64)', ARRAY[1]))")
        before = used(pid)
        session.run(sql)
        return used(pid) - before


def seconds_to_build(table, sequence, rows, range_):
    return min(user_seconds(
        f"SELECT race_count(race_build('jaccard(rows={rows}, range={range_}, sequence={sequence})', x)) "
        f'FROM {table}') for _ in range(2))


def tell(report, name, whole, wide):
    """What was asked for; seconds of the whole graph on a core, by sequence"""
    if name == 'Google+':
        best = min(whole, key=whole.get)
        report.at_most(f'Google+, made: build on 2 cores, {best}', whole[best] / 2, 5, ' s')
        report.against('Google+, made, 2,000 rows', f'{PAPER_SECONDS} s on {PAPER_THREADS} threads (paper)',
                       f'{whole[best] / 2:.1f} s on 2 cores', '5 s on 2 cores')
        return
    for sequence in 'independent', 'grouped':
        report.at_most(f'Friendster, made: the whole graph on one core, {sequence}', whole[sequence] / 60, 20, ' min')
    report.against('Friendster, made, 2,000 rows, on one core', '43 min', '; '.join(
        f'{sequence} {whole[sequence] / 60:.0f} min' for sequence in SEQUENCES) +
        f"; W = {WIDE[1]:,}, grouped {wide / 60:.0f} min", '20 min')


def made_graphs(report, session):
    report.heading('Large graphs, made')
    report.write(f'race_build of all sets, one process, without parallel workers.  Seconds are user CPU, because '
                 'others used the machine.  Two cores: half of that, and as many times as the graph is larger.  '
                 f'The last lines have a part of the rows, as the whole would be over 256 MB; their projections are for {ROWS:,}.  '
                 f'The paper took {PAPER_SECONDS} s with {PAPER_THREADS} threads for Google+.\n')
    lines = []
    for name, nodes, edges, sigma, largest, times in GRAPHS:
        table = name.lower().strip('+')
        n = make(session, table, nodes, edges, sigma, largest)
        whole = {}
        for sequence, rows, range_ in (*((s, ROWS, RANGE) for s in SEQUENCES), ('grouped', *WIDE)):
            seconds = seconds_to_build(table, sequence, rows, range_)
            all_rows = times * seconds * ROWS / rows
            whole[sequence, range_] = all_rows
            lines.append((name, f'{nodes:,}', f'{n.sum():,}', f'{np.median(n):.0f}', sequence, f'{rows:,}', f'{range_:,}',
                          f'{seconds:.1f}', f'{all_rows / 2:,.1f}', f'{all_rows / 60:,.1f}'))
        tell(report, name, {s: whole[s, RANGE] for s in SEQUENCES}, whole['grouped', WIDE[1]])
        session.run(f'DROP TABLE {table}')
    report.table(('graph', 'nodes', 'edges', 'median degree', 'sequence', 'R', 'W', 'user s',
                  'whole graph, 2 cores, s', 'one core, min'), lines)
