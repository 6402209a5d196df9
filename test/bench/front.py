"""front.py FOLDER REPORT: every answer by the name of a release, beside what is true, on four public tables and a made one at epsilon 1

FOLDER has space for files, and taxis.csv and seaice.csv of https://github.com/mwaskom/seaborn-data; RACEPRIV_DATA has skin
and adult.  Tables of numbers (skin), categories (adult), both with NULLs (taxis), dates (seaice), and of 20,000 made normal numbers.  For each
answer: which share of 95 % intervals holds what is true, over all rows of RELEASES releases (20), and how far off the
answers are.  Writes a report in Markdown.  QUESTIONS chooses answers by parts of their names, and ONLY tables by name, with semicolons between, EPSILON another epsilon.
"""
import gzip
import os
import sys

import numpy

from server import Session

FOLDER, REPORT = sys.argv[1:3]
RELEASE = 'the name of a release'
RELEASES = int(os.environ.get('RELEASES', 20))
QUESTIONS = os.environ.get('QUESTIONS', '').split(';')
EPSILON = os.environ.get('EPSILON', '1')
ONLY = os.environ.get('ONLY', '').split(';')


def texts(name, *values):
    return f"{name} text NOT NULL CHECK ({name} IN ({', '.join(repr(str(value)) for value in values)}))"


def codes(name, n):
    return texts(name, *range(n))


def whole(name, upper):
    return f'{name} int NOT NULL CHECK ({name} BETWEEN 0 AND {upper})'


# Columns of the CSV files, and those that are released: numbers that are charted, a category to group by, conditions
TABLES = {
    'skin': dict(columns=f"{whole('b', 255)}, {whole('g', 255)}, {whole('r', 255)}, {texts('class', 1, 2)}", release='b,g,r,class', number='r', other='g', group='class',
                 where='{"r": "[100,200)"}', condition='r BETWEEN 100 AND 199', query='{"class": "1"}', edges='{0,50,100,150,256}', types={}, share=0.1, third='b'),
    'adult': dict(columns=', '.join([whole('age', 84), codes('workclass', 9), whole('weight', 99), whole('education', 15), codes('marital', 7), codes('occupation', 15), codes('relationship', 6),
                                     codes('race', 5), codes('sex', 2), whole('gain', 99), whole('loss', 99), whole('hours', 98), codes('country', 42), codes('income', 2)]),
                  release='age,marital,sex,education,hours,income', number='age', other='hours', group='income', where='{"sex": "1"}', condition="sex = '1'", query='{"sex": "0"}',
                  edges='{0,10,20,40,85}', types={}, third='education'),
    'taxis': dict(columns="pickup timestamp NOT NULL CHECK (pickup BETWEEN '2019-02-28' AND '2019-04-01'), dropoff timestamp, passengers int NOT NULL CHECK (passengers BETWEEN 0 AND 6), "
                  "distance float8 NOT NULL CHECK (distance BETWEEN 0 AND 40), fare float8 NOT NULL CHECK (fare BETWEEN 0 AND 150), tip float8, tolls float8, total float8, "
                  "color text NOT NULL CHECK (color IN ('yellow', 'green')), payment text CHECK (payment IN ('cash', 'credit card')), pickup_zone text, dropoff_zone text, pickup_borough text, dropoff_borough text",
                  release='distance,fare,passengers,color,payment', number='fare', other='distance', group='payment', where='{"color": "yellow"}', condition="color = 'yellow'",
                  query='{"color": "green"}', edges='{0,5,10,20,50,150}', types={}, third='passengers'),
    'seaice': dict(columns="day date NOT NULL CHECK (day BETWEEN '1980-01-01' AND '2019-12-31'), extent float8 NOT NULL CHECK (extent BETWEEN 0 AND 20)", release='day,extent', number='day',
                   other='extent', group=None, where='{"extent": "[10,12.5)"}', condition='extent >= 10 AND extent < 12.5', query=None, edges='{1980-01-01,1990-01-01,2000-01-01,2020-01-01}', types={'day': 'date'}),
    'made': dict(columns=', '.join(f"{name} float8 NOT NULL CHECK ({name} BETWEEN -8 AND 8)" for name in ('east', 'north', 'height')) + f", {texts('side', 'left', 'right')}", release='east,north,height,side', number='east', other='height', group='side',
                 where='{"east": "[0,1)"}', condition='east >= 0 AND east < 1', query='{"side": "left"}', edges='{-8,-2,0,1,8}', types={}, third='north'),
}

TABLES = {name: table for name, table in TABLES.items() if ONLY == [''] or name in ONLY}


def make(path):
    """A CSV file of normal numbers: two with a correlation of .6, one that follows from both and noise; and the sign of the second"""
    normal = numpy.random.default_rng(1).normal(size=(20000, 3))
    x, y = normal[:, 0], 0.6 * normal[:, 0] + 0.8 * normal[:, 1]
    z = x - 0.5 * y + normal[:, 2]
    numpy.savetxt(path, numpy.column_stack([numpy.clip(column, -8, 8) for column in (x, y, z)] + [y > 0]), fmt=['%.17g', '%.17g', '%.17g', '%d'], delimiter=',', header='east,north,height,side', comments='')
    with open(path) as file:
        lines = file.read().replace(',1\n', ',right\n').replace(',0\n', ',left\n')
    with open(path, 'w') as file:
        file.write(lines)


def load(session, name, table):
    session.run(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({table['columns']})")
    path = f'{FOLDER}/{name}.csv'
    if name == 'made':
        make(path)
    elif not os.path.exists(path):
        packed = f"{os.environ['RACEPRIV_DATA']}/{name}.csv.gz"
        if not os.path.exists(packed):
            sys.exit(f'{path} is missing: it is in https://github.com/mwaskom/seaborn-data')
        with gzip.open(packed, 'rt') as source, open(path, 'w') as copy:
            copy.write(source.read())
    session.run(f"\\copy {name} FROM '{path}' (FORMAT csv, HEADER)\n")
    session.run(f"SELECT setseed(0.5); DELETE FROM {name} WHERE random() > {table.get('share', 1)}; VACUUM FULL {name}")
    session.run(f"CALL race_protect('{name}', epsilon_limit => 1e10)")


def questions(name, t):
    """Name; statement that gives, for each row, what is true, what is told, and the bounds of the interval"""
    number, other, group, where, condition = t['number'], t['other'], t['group'], t['where'], t['condition']
    x = {column: f"({column} - date '2000-01-01')" if t['types'].get(column) == 'date' else column for column in (number, other)}
    records = f'(SELECT count(*)::float8 FROM {name})'
    inside = f"{x[number]} >= low AND {x[number]} < high"
    # a range or a value of a column of a table, as race_mean and race_crosstab write it
    ranged = lambda column, value: (f"CASE WHEN {value} LIKE '[%' THEN {column}::numeric <@ replace({value}, ' ', '')::numrange ELSE {column}::text = {value} END" if t['types'].get(column) != 'date'
                                    else f'{column} <@ {value}::daterange')
    yield 'count of all', f"SELECT {records}, count, lower, upper FROM race_count('{RELEASE}')"
    yield 'count, where', f"SELECT (SELECT count(*) FROM {name} WHERE {condition}), count, lower, upper FROM race_count('{RELEASE}', '{where}')"
    yield 'crosstab of a column', f"SELECT (SELECT count(*) FROM {name} WHERE {ranged(number, 'value1')}), count, lower, upper FROM race_crosstab('{RELEASE}', '{number}')"
    if group:
        yield 'crosstab of two', (f"SELECT (SELECT count(*) FROM {name} WHERE {ranged(number, 'value1')} AND {group} IS NOT DISTINCT FROM value2), count, lower, upper "
                                  f"FROM race_crosstab('{RELEASE}', '{number}', '{group}')")
        yield 'mean by group', f"SELECT (SELECT avg({number}) FROM {name} WHERE {group} IS NOT DISTINCT FROM value1), mean, lower, upper FROM race_mean('{RELEASE}', '{number}', '{group}')"
        yield 'mean by group, where', (f"SELECT (SELECT avg({other}) FROM {name} WHERE {group} IS NOT DISTINCT FROM value1 AND {condition}), mean, lower, upper "
                                       f"FROM race_mean('{RELEASE}', '{other}', '{group}', '{where}')")
        yield 'histogram of categories', f"SELECT (SELECT count(*) FROM {name} WHERE {group} IS NOT DISTINCT FROM value), count, lower, upper FROM race_histogram('{RELEASE}', '{group}')"
        yield 'classify', (f"SELECT (SELECT avg(({group} IS NOT DISTINCT FROM value)::int) FROM {name} WHERE "
                           + ' AND '.join(f'{column} = {value!r}' for column, value in eval(t['query']).items()) + f"), probability, lower, upper FROM race_classify('{RELEASE}', '{group}', '{t['query']}')")
        yield 'outliers: share', (f"WITH n AS (SELECT {group}, count(*) AS n FROM {name} GROUP BY 1) SELECT (SELECT sum(m.n) FROM n m WHERE m.n < n.n) / {records}, share, lower, upper "
                                  f"FROM n, race_outliers('{RELEASE}', jsonb_build_object('{group}', {group})) WHERE {group} IS NOT NULL")
    yield 'mean', f"SELECT (SELECT avg({x[number]}) FROM {name}), mean, lower, upper FROM race_mean('{RELEASE}', '{number}')"
    yield 'mean, where', f"SELECT (SELECT avg({x[number]}) FROM {name} WHERE {condition}), mean, lower, upper FROM race_mean('{RELEASE}', '{number}', NULL, '{where}')"
    yield 'quantiles', (f"SELECT (SELECT percentile_disc(p) WITHIN GROUP (ORDER BY {x[number]}) FROM {name}), value, lower, upper FROM race_quantiles('{RELEASE}', '{number}', '{{0.1,0.25,0.5,0.75,0.9}}')")
    yield 'quantiles, where', (f"SELECT (SELECT percentile_disc(p) WITHIN GROUP (ORDER BY {x[number]}) FROM {name} WHERE {condition}), value, lower, upper "
                               f"FROM race_quantiles('{RELEASE}', '{number}', '{{0.1,0.25,0.5,0.75,0.9}}', '{where}')")
    for what, how in (('edges', "'" + t['edges'] + "'"), ('bins', 'bins => 12')):
        yield f'histogram, {what}', f"SELECT (SELECT count(*) FROM {name} WHERE {inside}), count, lower, upper FROM race_histogram('{RELEASE}', '{number}', {how})"
    yield 'histogram, where', f"SELECT (SELECT count(*) FROM {name} WHERE {inside} AND {condition}), count, lower, upper FROM race_histogram('{RELEASE}', '{number}', bins => 8, \"where\" => '{where}')"
    # a place of a curve stands for the range around it
    yield 'curve', (f"WITH c AS (SELECT *, (lead(x, 1) OVER (ORDER BY x) - x) AS up, x - lag(x, 1) OVER (ORDER BY x) AS down FROM race_curve('{RELEASE}', '{number}', 50)) "
                    f"SELECT (SELECT count(*) FROM {name} WHERE {x[number]} >= x - up / 2 AND {x[number]} < x + up / 2) / {records} / up, density, lower, upper FROM c WHERE abs(up - down) < 1e-6")
    yield 'heatmap', (f"WITH c AS MATERIALIZED (SELECT * FROM race_heatmap('{RELEASE}', '{number}', '{other}')), "
                      f"d AS (SELECT min(x1) AS first1, min(x2) AS first2, max(x1) AS last1, max(x2) AS last2, "
                      f"(SELECT mode() WITHIN GROUP (ORDER BY round(d::numeric, 6)) FROM (SELECT lead(x1) OVER (ORDER BY x1) - x1 AS d FROM c GROUP BY x1) s) AS w1, (SELECT mode() WITHIN GROUP (ORDER BY round(d::numeric, 6)) FROM (SELECT lead(x2) OVER (ORDER BY x2) - x2 AS d FROM c GROUP BY x2) s) AS w2 FROM c), "
                      f"t AS (SELECT floor(({x[number]} - first1) / w1 + 0.5 + 1e-9) AS i, floor(({x[other]} - first2) / w2 + 0.5 + 1e-9) AS j, count(*) FROM {name}, d GROUP BY 1, 2) "
                      f"SELECT coalesce(t.count, 0) / {records} / w1 / w2, density, lower, upper FROM c CROSS JOIN d "
                      f"LEFT JOIN t ON i = round((x1 - first1) / w1) AND j = round((x2 - first2) / w2) WHERE x1 < last1 AND x2 < last2")
    yield 'trend', f"SELECT (SELECT avg({other}) FROM {name} WHERE {ranged(number, 'value')}), mean, lower, upper FROM race_trend('{RELEASE}', '{other}', '{number}')"
    yield 'modes', (f"SELECT (SELECT {x[number]} FROM {name} WHERE {x[number]} BETWEEN lower AND upper LIMIT 1), x, lower, upper FROM race_modes('{RELEASE}', 3) WHERE \"column\" = '{number}'")
    yield 'correlation', (f"SELECT (SELECT corr({x[number]}, {x[other]}) FROM {name}), correlation, lower, upper FROM race_correlation('{RELEASE}') "
                          f"WHERE (column1, column2) IN (('{number}', '{other}'), ('{other}', '{number}'))")
    yield 'regress: slope', (f"SELECT (SELECT regr_slope({x[other]}, {x[number]}) FROM {name}), coefficient, lower, upper FROM race_regress('{RELEASE}', '{other}', '{{{number}}}') WHERE \"column\" = '{number}'")
    if 'third' in t:
        third = t['third']
        yield 'regress: of two', (f"WITH r AS (SELECT corr({other}, {number}) AS a, corr({other}, {third}) AS b, corr({number}, {third}) AS c, stddev_pop({other}) AS s, "
                                  f"stddev_pop({number}) AS s1, stddev_pop({third}) AS s2, avg({other}) AS m, avg({number}) AS m1, avg({third}) AS m2 FROM {name}), "
                                  f"f AS (SELECT (a - b * c) / (1 - c * c) * s / s1 AS f1, (b - a * c) / (1 - c * c) * s / s2 AS f2, m, m1, m2 FROM r) "
                                  f"SELECT CASE \"column\" WHEN '{number}' THEN f1 WHEN '{third}' THEN f2 ELSE m - f1 * m1 - f2 * m2 END, CASE WHEN lower IS NOT NULL THEN coefficient END, lower, upper "
                                  f"FROM f, race_regress('{RELEASE}', '{other}', '{{{number},{third}}}')")
    yield 'synthesize: counts', (f"WITH s AS MATERIALIZED (SELECT * FROM race_synthesize(NULL::{name}, '{RELEASE}', (SELECT count(*) FROM {name}))), h AS (SELECT generate_series(0, 9) AS i), "
                                 f"r AS (SELECT min({x[number]})::float8 AS low, (max({x[number]}) - min({x[number]}))::float8 / 10 AS w FROM {name}) "
                                 f"SELECT (SELECT count(*) FROM {name} WHERE {x[number]} >= low + w * i AND {x[number]} < low + w * (i + 1)), "
                                 f"(SELECT count(*) FROM s WHERE {x[number]} >= low + w * i AND {x[number]} < low + w * (i + 1)), NULL, NULL FROM h, r")


def main():
    out = ['# Every answer of the front door beside what is true', '',
           f'`test/bench/front.py`: {RELEASES} releases of each table at pure ε = {EPSILON}. skin: 24,500 rows of numbers, a tenth of it; adult: 48,842 of categories and numbers; taxis: 6,433 of both, with NULLs; '
           'seaice: 13,175 of a date and a number; made: 20,000 normal numbers. Of all rows of an answer: how many, which share of 95 % intervals holds what is true, which share is NULL because too little is known, and the '
           'mean absolute error in percent of the mean of what is true (of its absolute values).', '']
    found = {}
    with Session() as session:
        session.run('SET client_min_messages = error; DROP EXTENSION IF EXISTS racepriv, racepriv_release CASCADE; CREATE EXTENSION racepriv_release CASCADE')
        for name, table in TABLES.items():
            load(session, name, table)
            for i in range(RELEASES):
                release = f'{name} {i}'
                session.run(f"CALL race_release('{release}', '{name}', '{{{table['release']}}}', {EPSILON})")
                for question, sql in questions(name, table):
                    if not any(part in question for part in QUESTIONS):
                        continue
                    rows = [[float(cell or 'nan') for cell in line.split('|')] for line in session.run(sql.replace(RELEASE, release))[0]]
                    found.setdefault(question, {}).setdefault(name, []).extend(rows)
            print(name, 'done', flush=True)
    out += ['| answer | ' + ' | '.join(f'{name}: rows, hold %, NULL %, error %' for name in TABLES) + ' |', '|' + '---|' * (1 + len(TABLES))]
    for question, tables in found.items():
        cells = []
        for name in TABLES:
            a = numpy.array(tables.get(name, []), float).reshape(-1, 4)
            a = a[~numpy.isnan(a[:, 0])]
            known = ~numpy.isnan(a[:, 2])
            told = ~numpy.isnan(a[:, 1])
            slack = 1e-6 * (1 + numpy.abs(a[known, 0]))
            held = numpy.mean((a[known, 0] >= a[known, 2] - slack) & (a[known, 0] <= a[known, 3] + slack)) if known.any() else numpy.nan
            error = numpy.mean(numpy.abs(a[told, 1] - a[told, 0])) / max(numpy.mean(numpy.abs(a[told, 0])), 1e-300) if told.any() else numpy.nan
            cells.append(f"{len(a)}, {'–' if numpy.isnan(held) else f'{100 * held:.1f}'}, {100 * (1 - told.mean()):.0f}, {100 * error:.2g}" if len(a) else '')
        out.append(f"| {question} | {' | '.join(cells)} |")
    with open(REPORT, 'w', encoding='utf8') as report:
        report.write('\n'.join(out) + '\n')
    print('\n'.join(out))


main()
