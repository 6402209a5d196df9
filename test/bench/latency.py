"""latency.py FOLDER REPORT: how long answers and releases by columns take, as processor time of the backend and by the clock

FOLDER has space for a file of pgbench, RACEPRIV_DATA skin.csv.gz.  Needs a server without assertions, and pgbench.  Writes a
report in Markdown.
"""
import gzip
import os
import statistics
import subprocess
import sys
import time

from server import Session, cpu_time, time_of_fresh_session

FOLDER, REPORT = sys.argv[1:3]
CLIENTS, SECONDS, TIMES = 20, 20, 21
ASKED = {
    'race_curve': "SELECT * FROM race_curve('people', 'age')",
    'race_crosstab': "SELECT * FROM race_crosstab('people', 'town', 'age')",
    'race_mean': "SELECT * FROM race_mean('people', 'income', by => 'town')",
    'race_heatmap': "SELECT * FROM race_heatmap('people', 'age', 'income')",
}
TABLES = '''
DROP EXTENSION IF EXISTS racepriv, racepriv_release CASCADE; CREATE EXTENSION racepriv_release CASCADE; DROP TABLE IF EXISTS people, skin;
CREATE TABLE people (age int NOT NULL CHECK (age BETWEEN 0 AND 99), income int NOT NULL CHECK (income BETWEEN 0 AND 9999),
    weight float8 NOT NULL CHECK (weight BETWEEN 0 AND 200), height float8 NOT NULL CHECK (height BETWEEN 0 AND 250),
    town text NOT NULL CHECK (town IN ('Paris', 'Rome', 'Oslo', 'Bonn')), smoker boolean NOT NULL);
SELECT setseed(0.5);
INSERT INTO people SELECT a, least(1000 + a * 50 * random(), 9999), 40 + 60 * random(), 140 + 60 * random(), (ARRAY['Paris', 'Rome', 'Oslo', 'Bonn'])[1 + i % 4], random() < 0.3
FROM generate_series(1, 1000000) i, LATERAL (SELECT (99 * sqrt(random()))::int AS a WHERE i > 0) s;
CREATE TABLE skin (b int NOT NULL CHECK (b BETWEEN 0 AND 255), g int NOT NULL CHECK (g BETWEEN 0 AND 255), r int NOT NULL CHECK (r BETWEEN 0 AND 255), class int)'''
RELEASED = [
    ('1,000,000 rows × 2 numbers with fractions', 'people', 'weight,height', 'SELECT floor(weight), floor(height), count(*) FROM people GROUP BY 1, 2'),
    ('1,000,000 rows × 2 whole numbers', 'people', 'age,income', 'SELECT age, income, count(*) FROM people GROUP BY 1, 2'),
    ('1,000,000 rows × 2, a text and a number', 'people', 'town,age', 'SELECT town, age, count(*) FROM people GROUP BY 1, 2'),
    ('245,057 rows × 3 numbers (skin)', 'skin', 'b,g,r', 'SELECT b, g, r, count(*) FROM skin GROUP BY 1, 2, 3'),
]


def measured(session, sql):
    """Seconds of the backend's processor, and by the clock"""
    pid = session.value('SELECT pg_backend_pid()')
    before, start = cpu_time(pid), time.time()
    session.run(sql)
    return cpu_time(pid) - before, time.time() - start


def main():
    out = ['# How long answers and releases take', '',
           f'`test/bench/latency.py FOLDER REPORT`, on {os.cpu_count()} cores that others used, too (load {os.getloadavg()[0]:.0f}): processor time of the backend is what counts, the clock says what it was then.', '']
    with Session() as session:
        session.run('SET client_min_messages = error')
        session.run(TABLES)
        packed = f"{os.environ['RACEPRIV_DATA']}/skin.csv.gz"
        with gzip.open(packed, 'rt') as source, open(f'{FOLDER}/skin.csv', 'w', encoding='utf8') as copy:
            copy.write(source.read())
        session.run(f"\\copy skin FROM '{FOLDER}/skin.csv' (FORMAT csv, HEADER)\n")
        session.run('VACUUM ANALYZE people; VACUUM ANALYZE skin')
        for table in ('people', 'skin'):
            session.run(f"CALL race_protect('{table}', epsilon_limit => 1e9)")
        out += ['| release, ε = 1 | processor, s | clock, s | GROUP BY of the same, one core: processor, s | times |', '|---|---|---|---|---|']
        for i, (name, table, columns, sql) in enumerate(RELEASED):
            session.run(f'SELECT count(*) FROM ({sql}) q')
            groups = [measured(session, f'SELECT count(*) FROM ({sql}) q')[0] for _ in range(3)]
            releases = [measured(session, f"CALL race_release('{i} {j}', '{table}', '{{{columns}}}', 1)") for j in range(3)]
            cpu, clock, group = statistics.median(r[0] for r in releases), statistics.median(r[1] for r in releases), statistics.median(groups)
            out.append(f'| {name} | {cpu:.2f} | {clock:.2f} | {group:.2f} | {cpu / group:.1f} |')
        session.run("CALL race_release('people', 'people', '{age,income,town,smoker}', 1)")
        out += ['', '| answer | rows | warm session: processor, ms | clock, ms | new session: processor with its start, ms | clock of the statement, ms |', '|---|---|---|---|---|---|']
        for name, sql in ASKED.items():
            rows = len(session.run(sql)[0])
            warm = [measured(session, sql) for _ in range(TIMES)]
            new = []
            for _ in range(TIMES):
                with Session() as fresh:
                    measured(fresh, sql)
                    new.append(cpu_time(fresh.value('SELECT pg_backend_pid()')))
            clock = statistics.median(time_of_fresh_session(sql) for _ in range(TIMES))
            out.append(f'| `{name}` | {rows} | {1e3 * statistics.median(w[0] for w in warm):.1f} | {1e3 * statistics.median(w[1] for w in warm):.1f} | {1e3 * statistics.median(new):.1f} | {1e3 * clock:.1f} |')
    scripts = []
    for name, sql in ASKED.items():
        scripts += ['-f', f'{FOLDER}/{name}.sql']
        with open(scripts[-1], 'w', encoding='utf8') as file:
            file.write(sql + ';\n')
    told = subprocess.run(['pgbench', '-n', '-c', str(CLIENTS), '-j', '2', '-T', str(SECONDS), *scripts], text=True, stdout=subprocess.PIPE, check=True).stdout
    rate = next(line.split()[2] for line in told.splitlines() if line.startswith('tps'))
    mean = next(line.split()[3] for line in told.splitlines() if line.startswith('latency average'))
    out += ['', f'{CLIENTS} clients of pgbench for {SECONDS} s, these four answers in turn: {float(rate):.0f} a second, {float(mean):.0f} ms each, at load {os.getloadavg()[0]:.0f}.']
    with open(REPORT, 'w', encoding='utf8') as report:
        report.write('\n'.join(out) + '\n')
    print('\n'.join(out))


main()
