"""contract.py CLIENT: for each line of the input, a statement, its form with parameters, and these,
the rows that a client of Python gets from the database that PGDATABASE and others name, or the SQLSTATE."""
import os
import sys

import pandas
import psycopg
import psycopg2
import sqlalchemy

client = sys.argv[1]
pooled = "POOLED" in os.environ         # a prepared statement belongs to one server connection


def parameter(text):
    kind, value = text.split(":", 1)
    return {"s": str, "j": str, "i": int, "n": lambda v: [float(p) for p in v.split(",")]}[kind](value)


def written(value):
    if value is None or value != value:
        return "null"
    return {True: "t", False: "f"}[value] if isinstance(value, bool) else str(value)


def connect():
    if client == "psycopg2":
        connection = psycopg2.connect("")
        connection.autocommit = True
        return connection
    if client.startswith("psycopg"):
        connection = psycopg.connect(autocommit=True)
        connection.prepare_threshold = None if pooled else 0
        return connection
    return sqlalchemy.create_engine("postgresql+psycopg2://", isolation_level="AUTOCOMMIT").connect()


def ask(connection, sql, parameters):
    if client == "pandas":
        return pandas.read_sql_query(sql, connection, params=parameters).values.tolist()
    if client == "sqlalchemy":
        return connection.exec_driver_sql(sql, parameters).fetchall()
    cursor = connection.cursor(binary=True) if client == "psycopg-binary" else connection.cursor()
    cursor.execute(sql, parameters)
    return cursor.fetchall()


connection = connect()
for line in sys.stdin:
    _, sql, *parameters = line.rstrip("\n").split("\t")
    try:
        rows = ask(connection, sql.replace("?", "%s"), tuple(parameter(p) for p in parameters))
        print(";".join(" ".join(written(value) for value in row) for row in rows))
    except (psycopg.Error, psycopg2.Error, sqlalchemy.exc.DBAPIError) as error:
        error = getattr(error, "orig", error)
        print("ERROR", getattr(error, "sqlstate", None) or error.pgcode)
