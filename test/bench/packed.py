"""Exact sketches in transit: their size, and what building and merging 32 parts takes.

RACEPRIV_BEFORE, from the environment, may name the racepriv.so of an older version.  Then
it is measured in turns with the one that is installed.
"""
import base64
import os

from measure import medians
from report import milliseconds
from server import Session

PARTS = 32
BANDWIDTHS = [5, 10, 20, 30]
SHARE = .028            # of counters that are not zero, what was asked for
ROUNDS = 5


def kilobytes(size):
    return f'{int(size) / 1000:,.1f}'


def parts(bandwidth):
    return (f"SELECT id % {PARTS} AS part, race_build(race_params('l2', 3, {bandwidth}), x) AS s "
            'FROM skin GROUP BY 1')


def sizes_of(session, bandwidth):
    """Bytes of counters, of the whole on the wire and as text; of all parts as text"""
    return session.value(
        "SELECT concat_ws(',', i.counter_bytes * 1024 * 1024, octet_length(_racepriv._race_sketch_send(s)), "
        f"length(s::text), (SELECT sum(length(s::text)) FROM ({parts(bandwidth)}) p)) "
        f"FROM (SELECT race_build(race_params('l2', 3, {bandwidth}), x) AS s FROM skin) w, "
        'race_info(s) i').split(',')


def share_of(session, bandwidth):
    """The share of counters that are not zero: of packed ones, byte 146 on says how many they are"""
    text, _ = session.run(f"SELECT race_build(race_params('l2', 3, {bandwidth}), x) FROM skin")
    return int.from_bytes(base64.b64decode(text[0])[146:150], 'little') / 2 ** 20


def bandwidth_of_share(session, share):
    """Where at most this share of the counters is not zero: wider ones have fewer buckets"""
    low, high = 1, 100
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if share_of(session, middle) <= share else (middle, high)
    return high


def work(session, name, bandwidth):
    """What is timed in a session, by name"""
    session.run(f'DROP TABLE IF EXISTS parts, texts; CREATE TABLE parts AS {parts(bandwidth)}; '
                'CREATE TABLE texts AS SELECT s::text AS t FROM parts')
    statements = {
        'build': f'SELECT count(s::text IS NULL) FROM ({parts(bandwidth)}) p',
        'store': f'CREATE TEMP TABLE stored AS {parts(bandwidth)}; DROP TABLE stored',
        'merge': 'SELECT race_count(race_merge(s)) FROM parts',
        'merge texts': 'SELECT race_count(race_merge(t::race_sketch)) FROM texts'}
    return {(name, what): lambda sql=sql: session.time(sql)
            for what, sql in statements.items()}


def older_session():
    """A database whose functions are those of an older library"""
    library = os.environ.get('RACEPRIV_BEFORE')
    if library is None:
        return None
    with Session() as session:
        session.run('DROP DATABASE IF EXISTS before')
        session.run('CREATE DATABASE before')
    with Session('before') as session:
        session.run('CREATE EXTENSION racepriv; CREATE TABLE skin (id int, x float8[]); UPDATE pg_proc '
                    f"SET probin = '{library}' WHERE probin LIKE '%racepriv%'")
    return Session('before')    # a backend that has not loaded the newer one


def copy_skin(session, older):
    path = '/tmp/racepriv_skin.copy'
    session.run(f"\\copy (SELECT id, x FROM skin) TO '{path}' (FORMAT binary)\n")
    older.run(f"\\copy skin FROM '{path}' (FORMAT binary)\n")
    older.run('VACUUM ANALYZE skin')
    os.remove(path)


def packed_parts(report, session):
    report.heading('Exact sketches in transit')
    report.write('skin, R = W = 1024, in one sketch, and in 32 parts of every 32nd record.  Counters '
                 'are those of the whole, not packed; kB are 1,000 bytes.  Before, the text of the whole '
                 'took two characters a byte of its counters.\n')
    older = older_session()
    if older:
        copy_skin(session, older)
    lines = []
    times = []
    asked = bandwidth_of_share(session, SHARE)
    for bandwidth in sorted({*BANDWIDTHS, asked}):
        sizes = sizes_of(session, bandwidth)
        lines.append((bandwidth, f'{share_of(session, bandwidth) * 100:.1f} %', *map(kilobytes, sizes)))
        measures = work(session, 'now', bandwidth)
        if older:
            measures.update(work(older, 'before', bandwidth))
        t = medians(measures, ROUNDS)
        names = ['now', 'before'] if older else ['now']
        times += [(bandwidth, name, *(milliseconds(t[name, what])
                                      for what in ('build', 'store', 'merge', 'merge texts')))
                  for name in names]
        if bandwidth == asked:
            report.at_most(f'9: text of 245,057 records of skin, {SHARE * 100:.1f} % of counters not zero',
                           int(sizes[2]) / 1000, 150, ' kB')
            report.against(f'text of skin, {SHARE * 100:.1f} % of counters not zero', '4.2 MB of counters, in hex',
                           f'{int(sizes[2]) / 1000:.0f} kB', 'less than 150 kB')
        if older and bandwidth == 5:
            for what in 'store', 'merge':
                report.at_most(f'9: to {what} 32 parts, against the version before',
                               t['now', what] / t['before', what], 1)
    report.table(('bandwidth', 'not zero', 'counters, kB', 'on the wire, kB', 'as text, kB',
                  '32 parts as text, kB'), lines)
    report.table(('bandwidth', 'version', 'build 32 parts and print them, ms', 'build and store, ms',
                  'merge stored parts, ms', 'merge texts, ms'), times)
