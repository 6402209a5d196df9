"""What psycopg makes of the functions for charts, in the database that PGDATABASE and others
name: prepared statements, binary results, cursors on the server, cancel.  Writes TAP."""
import datetime
import math
import sys
import threading

import psycopg

ENDLESS = ("SELECT sum(density) FROM generate_series(1, 1000000) i,"
           " LATERAL race_heatmap('age and pressure', '1', '2', 400 + i % 2)")
results = []


def ok(good, title, detail=None):
    results.append(bool(good))
    print(f"{'' if good else 'not '}ok {len(results)} - {title}")
    if not good and detail is not None:
        print(f"# {detail}")


def code(connection, query, parameters=None):
    try:
        connection.execute(query, parameters)
        return "no error"
    except psycopg.Error as error:
        return error.sqlstate


def floats(row, names):
    return all(isinstance(row[name], (int, float)) and math.isfinite(row[name]) for name in names.split())


QUERIES = [
    ("race_curve(%s, %s, %s, %s, %s, %s)", ("age", "age", 50, None, None, None), "x density lower upper count_per_unit"),
    ("race_curve(%s, %s, %s, %s, %s, %s)", ("age by site", "1", 10, 0, 60.5, "north"), "x density lower upper"),
    ("race_heatmap(%s, %s, %s, %s)", ("age and pressure", "age", "pressure", 5), "x1 x2 density stderr"),
    ("race_histogram(%s, %s, %s)", ("age", "age", [0, 20, 40]), "low high count lower"),
    ("race_histogram(%s, %s, %s)", ("age", "age", [0.5, 20.5]), "low high count lower"),
    ("race_quantiles(%s, %s, %s)", ("age", "age", [0.25, 0.5]), "p value lower"),
    ("race_modes(%s, %s)", ("age", 2), "mode x density prominence"),
    ("race_outliers(%s, %s)", ("age and pressure", [[30.0, 120.0], [99.0, 199.0]]), "point typicality share density"),
    ("race_mean_curve(%s, %s, %s)", ("cost by age", "age", 5), "x lower upper"),
    ("race_trend(%s)", ("age",), "version count epsilon"),
]

with psycopg.connect(autocommit=True, row_factory=psycopg.rows.dict_row) as connection:
    for binary in (False, True):
        form = "binary" if binary else "text"
        for call, parameters, names in QUERIES:
            for time in ("once", "again"):
                rows = connection.execute(f"SELECT * FROM {call}", parameters, prepare=True, binary=binary).fetchall()
                ok(rows and all(floats(row, names) for row in rows), f"{call}, {form}, prepared, {time}", rows[:1])
        row = connection.execute("SELECT * FROM race_catalog WHERE name = 'age by site'", binary=binary).fetchone()
        ok((row["labels"], row["units"], row["lower"], row["description"]) == (["north", "south"], ["years"], [0.0], None),
           f"the catalog has lists, {form}", row)
        rows = connection.execute("SELECT * FROM race_trend('age')", binary=binary).fetchall()
        ok(isinstance(rows[0]["time"], datetime.datetime) and rows[0]["time"].tzinfo is not None and rows[0]["distance"] is None,
           f"time is a datetime with its zone, {form}", rows[0])
        rows = connection.execute("SELECT * FROM race_quantiles(%s, %s, %s)", ("age", "age", [0.5, None]), binary=binary).fetchall()
        ok([row["value"] is None for row in rows] == [False, True], f"a NULL in a list gives a row of None, {form}")
    ok(connection.execute("SELECT race_kde(race_released(%s), %s) AS density", ("age", [40.0])).fetchone()["density"] > 0,
       "race_kde needs no cast: psycopg says that a list of floats is float8[]")

    with connection.transaction(), connection.cursor("chart") as cursor:
        cursor.execute("SELECT x FROM race_curve(%s, %s, %s)", ("age", "age", 1000))
        ok(len(cursor.fetchmany(10)) == 10 and len(cursor.fetchall()) == 990, "a cursor on the server gives rows in portions")

    for query, expected in (("SELECT * FROM race_curve('nothing')", "42704"), ("SELECT * FROM race_curve('age', 'nothing')", "42703"),
                            ("CALL race_release_next('age')", "42501")):
        ok(code(connection, query) == expected, f"{expected}: {query}")
    with connection.transaction(force_rollback=True):
        with psycopg.connect(autocommit=True) as watcher:
            pid = connection.info.backend_pid

            def cancel():
                while watcher.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'", (pid,)).fetchone() == (0,):
                    pass
                connection.cancel()

            thread = threading.Thread(target=cancel)
            thread.start()
            ok(code(connection, ENDLESS) == "57014", "a query in a transaction can be canceled")
            thread.join()
    connection.execute("SET statement_timeout = '1s'")
    ok(code(connection, ENDLESS) == "57014", "statement_timeout ends one")
    connection.execute("RESET statement_timeout")
    ok(len(connection.execute("SELECT * FROM race_curve('age', '1', 3)").fetchall()) == 3, "and the connection goes on")

print(f"1..{len(results)}")
sys.exit(not all(results))
