-- In a schema of its own, off the search_path
DROP EXTENSION racepriv, racepriv_release;
CREATE SCHEMA private;
CREATE EXTENSION racepriv_release SCHEMA private CASCADE;
SHOW search_path;
CREATE TABLE t AS SELECT private.race_build('l2(dims=1, rows=16, range=32)', ARRAY[i]) AS s
FROM generate_series(1, 50) i;
SELECT private.race_count(s), private.race_count(s OPERATOR(private.+) s), private.race_kde(s, '{25}') > 0 AS dense,
       private.race_count(private.race_privatize(s, 100000, rows => 8)),
       (SELECT count(*) FROM private.race_kde_grid(s, '{0}', '{9}', '{10}')) AS points
FROM t;
SELECT private.race_classify(1, s, '{25}'), private.race_count(private.race_merge(s)),
	private.race_params(min(s::text)::private.race_sketch)
FROM t;
SELECT count(*) FROM (SELECT DISTINCT private.race_params(s) FROM t) v;
CALL private.race_protect('elsewhere', 't', 300000);
CALL private.race_release_sketch('elsewhere', 'elsewhere', 'l2(dims=1, rows=16, range=32)', 'ARRAY[length(s::text)]',
	100000);
CALL private.race_release_next('elsewhere');
SELECT private.race_count(private.race_released('elsewhere')), private.race_refreshes_left('elsewhere'),
	(SELECT spent_epsilon FROM private.race_budget_status);
-- racepriv can be moved, and releases find it; they stay where they are
CREATE SCHEMA elsewhere;
ALTER EXTENSION racepriv SET SCHEMA elsewhere;
ALTER EXTENSION racepriv_release SET SCHEMA elsewhere;
CALL private.race_release_next('elsewhere');
SELECT elsewhere.race_count(private.race_released('elsewhere')), (private.race_count('elsewhere')).source, version
FROM private.race_latest_releases;
DROP TABLE t;
DROP EXTENSION racepriv, racepriv_release;
-- any schema will do
CREATE SCHEMA "100 % Private";
CREATE EXTENSION racepriv_release SCHEMA "100 % Private" CASCADE;
CREATE TABLE t AS SELECT i, (ARRAY['a', 'b'])[1 + i % 2] AS class FROM generate_series(1, 50) i;
CALL "100 % Private".race_protect('odd', 't', 200000, unit_column => 'i', max_contributions => 1);
CALL "100 % Private".race_release_sketch('odd', 'odd', 'l2(dims=1, rows=16, range=32)', 'ARRAY[i]', 100000,
	label => 'class', labels => '{a,b}');
SELECT "100 % Private".race_classify(label, sketch, '{25}') IS NOT NULL AS answers,
	"100 % Private".race_count("100 % Private".race_released('odd', 'b')) > 0 AS b
FROM "100 % Private".race_latest_releases;
SELECT label, "100 % Private".race_count(sketch) FROM _racepriv.race_releases ORDER BY 1;
CREATE ROLE race_curator;
CALL "100 % Private".race_grant('race_curator', 'curator');
DROP OWNED BY race_curator;
DROP ROLE race_curator;
DROP TABLE t;
DROP EXTENSION racepriv, racepriv_release;
DROP SCHEMA private, elsewhere, "100 % Private";
