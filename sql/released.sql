-- race_released and race_latest_releases: releases by name
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA released_by_name;
SET search_path = released_by_name, public;
CREATE TABLE points AS SELECT i AS id, (ARRAY['a', 'b'])[1 + i % 2] AS class,
	ARRAY[i % 50, i % 7 + 20 * (i % 2)]::float8[] AS x FROM generate_series(1, 1000) i;
CALL race_protect('named', 'points', 1000000);
CALL race_release_sketch('named one', 'named', 'l2(dims=2, bandwidth=5, rows=256, range=128)', 'x', 1000);
CALL race_release_sketch('named classes', 'named', 'l2(dims=2, bandwidth=5, rows=256, range=128)', 'x', 1000,
	rows => 256, label => 'class', labels => '{b,a}');

-- everything that takes a sketch takes it
SELECT race_count(race_released('named one')) = race_count(sketch) AS count,
	race_kde(race_released('named one'), '{3,3}') = race_kde(sketch, '{3,3}') AS kde,
	race_estimate(race_released('named one'), '{3,3}', 0.9) = race_estimate(sketch, '{3,3}', 0.9) AS estimate,
	race_info(race_released(name)) = race_info(sketch) AS info,
	race_released(name)::text = sketch::text AS same
FROM _racepriv.race_releases WHERE name = 'named one' \gx
SELECT count(*) AS points, bool_and(a.kernel_density = race_kde(race_released('named one'), a.x)) AS same
FROM race_kde_grid(race_released('named one'), '{0,0}', '{50,30}', '{5,3}') a;
SELECT i, count(*)
FROM generate_series(1, 3) i, LATERAL race_kde_grid(race_released('named one'), '{0,0}', '{50,30}', ARRAY[i, 3]) g
GROUP BY i ORDER BY i;
CREATE TABLE kept AS SELECT race_released('named one') AS sketch;
SELECT race_kde(sketch, '{3,3}') = race_kde(race_released('named one'), '{3,3}') AS kept FROM kept;
-- the latest version, for each name that comes by
SELECT i, race_count(race_released(CASE WHEN i % 2 = 0 THEN 'named one' ELSE 'named again' END))
FROM generate_series(0, 2) i;
CALL race_release_sketch('named again', 'named', 'l2(dims=2, bandwidth=5, rows=16, range=128)', 'x', 100000);
DELETE FROM points WHERE id > 500;
CREATE FUNCTION counted() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN race_count(race_released('named again'));
END $$;
SELECT counted(), race_count(race_released('named again'));
CALL race_release_next('named again');
SELECT counted(), race_count(race_released('named again'));
SELECT i, race_count(race_released(CASE WHEN i % 2 = 0 THEN 'named one' ELSE 'named again' END)) > 700 AS older
FROM generate_series(0, 3) i;
-- labels
SELECT label, race_count(race_released('named classes', label)) = race_count(sketch) AS same
FROM _racepriv.race_releases WHERE name = 'named classes' ORDER BY 1;
SELECT race_classify(label, sketch, '{25,3}') AS a, race_classify(label, sketch, '{25,23}') AS b
FROM race_latest_releases WHERE name = 'named classes';
SELECT name,
	version,
	label,
	dataset,
	count = race_count(sketch) AS counts,
	epsilon > 0 AS costs,
	delta,
	released_at <= now() AS at
FROM race_latest_releases WHERE name LIKE 'named %' ORDER BY name, label;
-- errors, and NULL
SELECT race_released('nothing');
SELECT race_released('nothing', 'a');
SELECT race_released('named classes');
SELECT race_released('named classes', 'c');
SELECT race_released('named one', 'a');
SELECT race_kde(race_released('named one'), '{3}');
SELECT race_released(repeat('long ', 1000));
SELECT race_released(NULL) IS NULL AS a,
	race_released(NULL, 'a') IS NULL AS b,
	race_kde(race_released('named one'), NULL::int[]) IS NULL AS c \gx
-- the caller's rights
CREATE ROLE race_analyst;
SET ROLE race_analyst;
SELECT race_count(race_released('named again'));
SELECT name FROM race_latest_releases;
RESET ROLE;
CALL race_grant('race_analyst', 'analyst');
SET ROLE race_analyst;
SELECT race_count(race_released('named again')),
	(SELECT count(*) FROM race_latest_releases WHERE name LIKE 'named %') AS releases;
RESET ROLE;
DROP OWNED BY race_analyst;
DROP ROLE race_analyst;
-- in workers, in prepared statements and cursors
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(DISTINCT race_kde(race_released('named one'), x)) > 10 AS many,
	sum(race_count(race_released('named again')))
FROM points;
PREPARE ask(text, float8[]) AS SELECT race_kde(race_released($1), $2) IS NOT NULL AS answer;
EXECUTE ask('named one', '{3,3}');
EXECUTE ask('named again', '{3,3}');
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT race_count(race_released('named again')) FROM generate_series(1, 3);
COMMIT;
CALL race_release_next('named again');
FETCH 2 FROM held;
DROP SCHEMA released_by_name CASCADE;
