"""Values of racepriv in pandas, and in DuckDB or SQLite.

    example.py DENSITY TABLES

DENSITY is the text of a sketch of (age, income), TABLES that of a value of tables. Both come from SELECT sketch::text, and need no server
any more. It prints the densities at some records, and counts by an SQL database that has the first table as rows.
"""
import sqlite3
import sys

import numpy
import pandas

import racepriv


def add_density(frame, sketch):
    """A column with the density at each row of a data frame, whose columns are those of the sketch."""
    frame['density'] = [sketch.density(row) for row in frame.to_numpy()]
    return frame


def load_table(connection, name, array):
    """Store an array of counts as rows, a column for each axis. DuckDB and SQLite take the same statements."""
    axes = ', '.join(f'axis{i} INTEGER' for i in range(array.ndim))
    connection.execute(f'CREATE TABLE {name} ({axes}, count DOUBLE)')
    rows = [(*map(int, cell), float(array[cell])) for cell in numpy.ndindex(array.shape)]
    connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * (array.ndim + 1))})", rows)


def main(density, tables):
    frame = add_density(pandas.DataFrame({'age': [30, 40, 50], 'income': [2500.0, 3000.0, 3500.0]}), racepriv.read(density))
    print(frame.to_csv(index=False), end='')
    try:
        import duckdb
        connection = duckdb.connect()
    except ImportError:
        connection = sqlite3.connect(':memory:')
    load_table(connection, 'pairs', racepriv.read(tables).tables()[0, 1])
    for row in connection.execute('SELECT axis0, sum(count) FROM pairs GROUP BY axis0 ORDER BY axis0').fetchall():
        print(*row, sep=',')


if __name__ == '__main__':
    main(*sys.argv[1:])
