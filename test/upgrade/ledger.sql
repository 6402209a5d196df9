-- A small ledger: two budgets, releases of each kind, and a dump of it that
-- test/t/260_upgrade.pl restores (ledger--VERSION.sql).  To make that of another version:
-- psql -f test/upgrade/ledger.sql, and pg_dump --no-owner, in a database of that version.
SET client_min_messages = error;
CREATE EXTENSION racepriv;
CREATE TABLE visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10] AS x, i % 7 AS days FROM generate_series(1, 100) i;
CREATE VIEW seen AS TABLE visits;
CREATE TABLE staff AS TABLE visits;
CALL race_protect('visits', 'visits', 4, 1e-6, 'id', 2);
CALL race_protect('seen', 'seen', 4, 1e-6);
CALL race_protect('staff', 'staff', 2, 1e-6, accounting => 'zcdp');
CALL race_release('sites', 'visits', 'l2(dims=1, rows=16, range=16)', 'x', 1, label => 'site', labels => '{0,1}');
CALL race_release('people', 'seen', 'l2(dims=1, rows=16, range=16)', 'x', 1, 1e-7);
CALL race_release_next('people');
CALL race_release('staff', 'staff', 'l2(dims=1, bandwidth=2, rows=16, range=16, lower={0}, upper={10})', 'x', 0.5, 1e-7);
CALL race_budget_limit('staff', 3, 1e-6);
CREATE VIEW means AS
SELECT name, version, label, count, race_kde(sketch, '{3}'::float8[]) AS density FROM race_latest_releases;
