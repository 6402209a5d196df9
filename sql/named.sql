-- Questions to a release by its name answer as those to its sketch do.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA named;
SET search_path = named, public;
CREATE TABLE points AS
SELECT i AS id, (ARRAY['a', 'b'])[1 + i % 2] AS class, ARRAY[i % 50, i % 7 + 20 * (i % 2)]::float8[] AS x FROM generate_series(1, 1000) i;
CALL race_protect('named', 'points', 1000000);
CALL race_release('named one', 'named', 'l2(dims=2, bandwidth=5, rows=256, range=128)', 'x', 1000);
CALL race_release('named classes', 'named', 'l2(dims=2, bandwidth=5, rows=256, range=128)', 'x', 1000, rows => 256, label => 'class', labels => '{b,a}');
CREATE VIEW one AS SELECT sketch AS s FROM race_releases WHERE name = 'named one';

SELECT race_count('named one') = race_count(s) AS count, race_kde('named one', '{3,3}') = race_kde(s, '{3,3}') AS kde,
	race_kernel_sum('named one', ARRAY[3,3]) = race_kernel_sum(s, ARRAY[3,3]) AS sum,
	race_kernel_sum_mom('named one', ARRAY[3,3]::real[], 0.1) = race_kernel_sum_mom(s, ARRAY[3,3], 0.1) AS mom,
	race_estimate('named one', '{3,3}', 0.9) = race_estimate(s, '{3,3}', 0.9) AS estimate,
	race_info('named one'::text) = race_info(s) AS info
FROM one;
SELECT count(*) AS points, bool_and(a = b) AS same
FROM race_kde_grid('named one', '{0,0}', '{50,30}', '{5,3}') a JOIN one ON true JOIN race_kde_grid(s, '{0,0}', '{50,30}', '{5,3}') b USING (x);
SELECT count(*) FROM (SELECT race_kde_grid('named one', '{0,0}', '{50,30}', ARRAY[i, 3]) FROM generate_series(1, 3) i) v;
-- the latest version, for each name that comes by
SELECT i, race_count(CASE WHEN i % 2 = 0 THEN 'named one' ELSE 'named again' END) FROM generate_series(0, 2) i;
CALL race_release('named again', 'named', 'l2(dims=2, bandwidth=5, rows=16, range=128)', 'x', 100000);
DELETE FROM points WHERE id > 500;
CREATE FUNCTION counted() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN race_count('named again'); END $$;
SELECT counted(), race_count('named again');
CALL race_release_next('named again');
SELECT counted(), race_count('named again');
SELECT i, race_count(CASE WHEN i % 2 = 0 THEN 'named one' ELSE 'named again' END) > 700 AS older FROM generate_series(0, 3) i;
-- labels
SELECT race_classify('named classes', '{25,3}') AS a, race_classify('named classes', ARRAY[25,23]) AS b, pg_typeof(race_classify('named classes', '{25,3}'));
SELECT race_posterior('named classes', '{25,3}') = race_posterior(label, sketch, '{25,3}') AS posterior,
	race_classify('named classes', '{25,3}') = race_classify(label, sketch, '{25,3}') AS classify
FROM race_releases WHERE name = 'named classes';
-- errors, and NULL
SELECT race_kde('nothing', '{3,3}');
SELECT race_kde('named classes', '{3,3}');
SELECT race_classify('named one', '{3,3}');
SELECT race_kde('named one', '{3}');
SELECT race_kde('named one', 'north'::text);
SELECT race_kde(NULL::text, '{3}') IS NULL AS a, race_classify('named classes', NULL::int[]) IS NULL AS b;
-- the caller's rights
CREATE ROLE race_analyst;
SET ROLE race_analyst;
SELECT race_count('named again');
RESET ROLE;
CALL race_grant('race_analyst', 'analyst');
SET ROLE race_analyst;
SELECT race_count('named again');
RESET ROLE;
DROP OWNED BY race_analyst;
DROP ROLE race_analyst;
-- in workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(DISTINCT race_kde('named one', x)) > 10 AS many, sum(race_count('named again')) FROM points;
DROP SCHEMA named CASCADE;
