-- race_release_sketch: what it accepts, charges and stores.  At an enormous epsilon there
\set SHOW_CONTEXT never
-- is no noise, so that counts can be compared.
SET client_min_messages = warning;
CREATE SCHEMA released;
SET search_path = released, public;
\set p '''l2(dims=2, bandwidth=5, rows=16, range=32)'''
CREATE TABLE visits AS
SELECT i AS id, i % 10 AS person, (ARRAY['north', 'south'])[1 + i % 2] AS site, ARRAY[i % 50, i % 7]::float8[] AS x
FROM generate_series(1, 100) i;
INSERT INTO visits VALUES (101, NULL, 'north', '{1,2}'), (102, 1, NULL, '{1,2}'), (103, 1, 'east', '{1,2}'),
	(104, 20, 'north', '{NaN,1}'), (105, 20, 'north', '{1}'), (106, 20, 'north', NULL), (107, 20, 'north', '{1,NULL}'),
	(108, 20, 'north', '{1,Infinity}'), (109, 20, 'north', '{{1,2}}'), (110, 20, 'north', '{}'),
	(111, 20, 'north', '{1,2}');
CREATE TABLE empty (LIKE visits);
CALL race_protect('released rows', 'visits', 1000000);
CALL race_protect('released people', 'visits', 1000000, 0, 'person', 2);
CALL race_protect('released empty', 'empty', 1000000);

-- bad records are left out before a unit's are chosen
CALL race_release_sketch('released 1', 'released rows', :p, 'x', 100000);
CALL race_release_sketch('released 2', 'released people', :p, 'x', 100000);
CALL race_release_sketch('released 3', 'released people', :p, 'ARRAY[id, 1]', 50000, label => 'site',
	labels => '{west,south,north}');
CALL race_release_sketch('released 4', 'released empty', :p, 'x', 100000);
CALL race_release_sketch('released 5', 'released empty', :p, 'x', 1, label => 'person % 2', labels => '{0,1}');
SELECT r.name, r.version, r.part, r.label, CASE WHEN i.epsilon > 2 THEN race_count(r.sketch) END AS records,
	i.max_contributions, i.status, r.dataset, r.released_at = c.charged_at AS at_charge
FROM _racepriv.race_releases r JOIN _racepriv.race_charges c USING (charge), race_info(r.sketch) i
WHERE name LIKE 'released _' ORDER BY 1, 2, 3;
SELECT jsonb_pretty(request) AS request,
	epsilon,
	delta,
	rho,
	charged_by = current_user AS by_me
FROM _racepriv.race_charges WHERE request->>'name' = 'released 3' \gx

-- the same request again costs nothing; another needs another name
SET client_min_messages = notice;
CALL race_release_sketch('released 1', 'released rows', :p, ' visits.x /* the same */ ', 100000);
CALL race_release_sketch('released 3', 'released people', :p, 'ARRAY[id, 1]', 50000, label => 'site',
	labels => '{north,south,west}');
CALL race_release_sketch('released 1', 'released rows', :p, 'x', 1);
CALL race_release_sketch('released 1', 'released people', :p, 'x', 100000);
-- versions
INSERT INTO empty SELECT * FROM visits WHERE id <= 10;
CALL race_release_next('released 4');
CALL race_release_next('released 9');
SELECT version, race_count(sketch) FROM _racepriv.race_releases WHERE name = 'released 4' ORDER BY 1;
SELECT race_refreshes_left('released 4'), race_refreshes_left('released 9') IS NULL AS none;
\pset format unaligned
SELECT budget, datasets, tables, spent_epsilon, epsilon_left, spent_delta, charges
FROM race_budget_status WHERE budget LIKE 'released %' ORDER BY 1;
\pset format aligned

-- what an expression may be
\set r 'CALL race_release_sketch(''released x'', ''released rows'', ''l2(dims=2, rows=16, range=32)'','
:r 'x, id', 1);
:r 'x FROM visits', 1);
:r 'x; DROP TABLE visits', 1);
:r 'x AS y', 1);
:r '*', 1);
:r 'x) FROM visits --', 1);
:r '', 1);
:r 'DISTINCT x', 1);
:r 'nothing', 1);
:r 'ARRAY[id / (SELECT max(id) FROM visits), 1]', 1);
:r 'ARRAY[max(id), 1]', 1);
:r 'ARRAY[rank() OVER (), 1]', 1);
:r 'ARRAY[unnest(x), 1]', 1);
:r 'ARRAY[random(), 1]', 1);
-- what is not IMMUTABLE although it does not show: a default, the check of a domain, a cast
CREATE FUNCTION most() RETURNS float8 LANGUAGE sql STABLE SET search_path FROM CURRENT AS 'SELECT max(id) FROM visits';
CREATE FUNCTION scaled(float8, float8 DEFAULT most()) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1 / $2';
CREATE DOMAIN share AS float8 CHECK (VALUE <= most());
CREATE DOMAIN positive AS float8 CHECK (VALUE > 0);
CREATE TYPE vec AS (a float8, b float8);
CREATE FUNCTION vec_to_real(vec) RETURNS real[] LANGUAGE sql STABLE SET search_path
FROM CURRENT AS 'SELECT ARRAY[$1.a / most(), $1.b]::real[]';
CREATE CAST (vec AS real[]) WITH FUNCTION vec_to_real(vec) AS IMPLICIT;
:r 'ARRAY[scaled(id), 1]', 1);
:r 'ARRAY[id::share::float8, 1]', 1);
:r 'ARRAY[1, 1]::share[]::float8[]', 1);
:r 'ROW(id, 1)::vec', 1);
:r 'visits', 1);
CREATE VIEW defaulted AS SELECT ARRAY[scaled(id), 1] AS x FROM visits;
CREATE VIEW checked AS SELECT id::share AS id FROM visits;
CREATE VIEW fine AS SELECT scaled(id, 2) AS id, id::positive AS positive FROM visits;
CALL race_protect('released x', 'defaulted', 1000000);
CALL race_protect('released x', 'checked', 1000000);
CALL race_protect('released fine', 'fine', 1000000);
:r 'ARRAY[extract(epoch FROM now()), 1]', 1);
:r 'ARRAY[tableoid::int, 1]', 1);
:r 'ARRAY[(ctid::text::point)[0], 1]', 1);
:r 'ARRAY[$1, 1]', 1);
:r 'site', 1);
:r '''{1,2}''', 1);
-- and the other arguments
:r 'x', 1, label => 'site');
:r 'x', 1, labels => '{north}');
:r 'x', 1, label => 'site', labels => '{}');
:r 'x', 1, label => 'site', labels => '{north,north}');
:r 'x', 1, label => 'site', labels => '{north,NULL}');
:r 'x', 1, label => 'now()', labels => '{north}');
:r 'x', 1, label => '(SELECT 1)', labels => '{north}');
:r 'x', 0);
:r 'x', NULL);
:r 'x', 1, 1);
:r 'x', 1, rows => 3);
CALL race_release_sketch(NULL, 'released rows', :p, 'x', 1);
CALL race_release_sketch('released x', 'nothing', :p, 'x', 1);
CALL race_release_sketch('released x', 'released rows', 'l2', 'x', 1);
CALL race_release_sketch('released x', 'released rows', NULL, 'x', 1);
CALL race_release_sketch('released x', 'released rows', 'l2(dims=2, rows=16384, range=1024)', 'x', 1, label => 'id',
	labels => '{1,2,3,4,5,6,7,8}');
-- what is too long: names that no index takes, expressions that no parser lets go of
CALL race_release_sketch(repeat('n', 1001), 'released rows', :p, 'x', 1);
:r repeat('x || ', 60000) || 'x', 1);
:r 'x', 1, label => 'site', labels => array_fill('a'::text, '{100001}'));
CALL race_release_sketch('released x', repeat('long ', 1000), :p, 'x', 1);
CALL race_release_next(repeat('long ', 1000));
CALL race_protect(repeat('n', 1001), 'visits', 1);
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request->>'name' = 'released x';

-- where it may be called
BEGIN;
:r 'x', 1);
COMMIT;
CREATE PROCEDURE caller() LANGUAGE plpgsql AS $$ BEGIN CALL race_release_sketch('released 6', 'released rows',
	'l2(dims=2, rows=16, range=32)', 'x', 1);
END $$;
CREATE FUNCTION caller_function() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL caller(); END $$;
SELECT caller_function();
DO $$ BEGIN CALL caller(); EXCEPTION WHEN active_sql_transaction THEN RAISE NOTICE 'refused: %', SQLERRM; END $$;
SET lock_timeout = 0 \; CALL caller();
SELECT count(*) AS releases FROM _racepriv.race_releases WHERE name = 'released 6';
CALL caller();
DO $$ BEGIN CALL caller(); END $$;
SELECT count(*) AS releases FROM _racepriv.race_releases WHERE name = 'released 6';

-- an error while rows are read says nothing, and is paid for
SET client_min_messages = warning;
CREATE FUNCTION tell(value float8) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RAISE WARNING 'secret %', value;
	ASSERT value <> 30, 'secret ' || value;
	RETURN value;
END $$;
CREATE FUNCTION cancel(value float8) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'secret %', value USING ERRCODE = 'query_canceled';
END $$;
\set VERBOSITY terse
CALL race_release_sketch('released 7', 'released rows', :p, 'ARRAY[1 / (id - 7), 1]', 1);
CALL race_release_sketch('released 7', 'released rows', :p, 'ARRAY[site::int, 1]', 1);
CALL race_release_sketch('released 7', 'released rows', :p, 'ARRAY[tell(id), 1]', 1);
CALL race_release_sketch('released 7', 'released rows', :p, 'ARRAY[cancel(id), 1]', 1);
CALL race_release_sketch('released 7', 'released rows', :p, 'x', 1, label => '1 / (id - 7)', labels => '{0}');
SELECT count(*), sum(epsilon) AS charged FROM _racepriv.race_charges WHERE request->>'name' = 'released 7';
\set VERBOSITY default
CALL race_release_sketch('released 7', 'released rows', :p, 'x', 1);
-- exactly what fits: ten times 0.1 is 1
CREATE TABLE tenths AS SELECT * FROM visits;
CALL race_protect('released tenths', 'tenths', 1, 1e-6);
DO $$
BEGIN
	FOR i IN 1 .. 11 LOOP
		CALL race_release_sketch('released tenth ' || i, 'released tenths', 'l2(dims=2, rows=16, range=32)', 'x', 0.1);
	END LOOP;
END $$;
CALL race_release_sketch('released tenth', 'released tenths', 'l2(dims=2, rows=16, range=32)', 'x', 1e-9);
SELECT spent_epsilon, epsilon_left, charges FROM race_budget_status WHERE budget = 'released tenths';
CALL race_budget_limit('released tenths', 0.9, 1e-6);
CALL race_budget_limit('released tenths', 1.15, 1e-6);
CALL race_release_sketch('released tenth 11', 'released tenths', 'l2(dims=2, rows=16, range=32)', 'x', 0.1, 1e-7);
CALL race_release_sketch('released tenth', 'released tenths', 'l2(dims=2, rows=16, range=32)', 'x', 0.1, 1e-7);
CALL race_release_sketch('released tenth', 'released tenths', 'l2(dims=2, rows=16, range=32)', 'x', 0.01, 1e-6);
-- zCDP: many small releases cost less than their sum
CREATE TABLE many AS SELECT * FROM visits;
CALL race_protect('released many', 'many', 1, 1e-6, accounting => 'zcdp');
DO $$
BEGIN
	FOR i IN 1 .. 30 LOOP
		CALL race_release_sketch('released of many ' || i, 'released many', 'l2(dims=2, rows=16, range=32)', 'x',
			CASE WHEN i <= 3 THEN 0.1 ELSE 0.05 END, CASE WHEN i <= 20 THEN 1e-9 ELSE 0 END);
	END LOOP;
END $$;
-- (rho has as many digits as the machine gives it)
\set VERBOSITY terse
CALL race_release_sketch('released of many', 'released many', 'l2(dims=2, rows=16, range=32)', 'x', 0.5);
\set VERBOSITY default
SELECT spent_epsilon,
	spent_zcdp_epsilon < 1 AS within,
	round(spent_rho, 3) AS rho,
	round(rho_left, 3) AS rho_left,
	charges
FROM race_budget_status WHERE budget = 'released many' \gx
SELECT race_refreshes_left('released of many 30') AS pure, race_refreshes_left('released of many 1') AS gaussian;
CALL race_release_next(NULL);

-- what has changed under a dataset is seen
CREATE VIEW seen AS SELECT * FROM visits;
CALL race_protect('released seen', 'seen', 1000000);
DROP VIEW seen;
CALL race_release_sketch('released y', 'released seen', :p, 'x', 1);
CREATE VIEW seen AS SELECT * FROM visits LIMIT 3;
CALL race_release_sketch('released y', 'released seen', :p, 'x', 1);
CREATE OR REPLACE VIEW seen AS SELECT * FROM empty;
CALL race_release_sketch('released y', 'released seen', :p, 'x', 1);
CREATE OR REPLACE VIEW seen AS SELECT * FROM visits;
CALL race_release_sketch('released y', 'released seen', :p, 'x', 1);
-- nor do policies decide which rows there are
CREATE ROLE race_curator;
CALL race_grant('race_curator', 'curator');
GRANT USAGE ON SCHEMA released TO race_curator;
GRANT SELECT ON visits TO race_curator;
SET ROLE race_curator;
CALL race_release_sketch('released by curator', 'released people', :p, 'x', 1);
RESET ROLE;
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON visits USING (id < 10);
SET ROLE race_curator;
\set VERBOSITY terse
CALL race_release_sketch('released z', 'released people', :p, 'x', 1);
RESET ROLE;
ALTER TABLE visits DISABLE ROW LEVEL SECURITY;
REVOKE SELECT ON visits FROM race_curator;
SET ROLE race_curator;
CALL race_release_sketch('released z', 'released people', :p, 'x', 1);
\set VERBOSITY default
RESET ROLE;
SELECT r.name, c.charged_by
FROM _racepriv.race_releases r JOIN _racepriv.race_charges c USING (charge) WHERE name LIKE 'released by%';
DROP OWNED BY race_curator;
DROP ROLE race_curator;

-- sets, categories and products: types are known before anything is charged
CREATE TABLE mixed AS SELECT i AS id, ARRAY[i % 50, i % 7]::float8[] AS x,
	ARRAY['sex ' || i % 2, 'town ' || i % 5] AS c, ARRAY(SELECT i % j FROM generate_series(2, 9) j) AS items
FROM generate_series(1, 2000) i;
INSERT INTO mixed
VALUES (0, '{1,NaN}', '{a,b}', '{1}'), (0, '{1,2}', '{a,NULL}', '{NULL}'), (0, '{1,2}', '{a}', NULL),
	(0, NULL, '{a,b}', '{{1}}');
CALL race_protect('released mixed', 'mixed', 1000000);
CALL race_release_sketch('released product', 'released mixed',
	'l2(dims=2, bandwidth=5, rows=64, range=256) * match(dims=2)', 'ROW(x, c)', 100000);
CALL race_release_sketch('released sets', 'released mixed', 'jaccard(rows=64, range=256)', 'items', 100000);
CALL race_release_sketch('released x', 'released mixed', 'l2(dims=2) * match(dims=2)', 'ROW(c, x)', 1);
CALL race_release_sketch('released x', 'released mixed', 'l2(dims=2) * match(dims=2)', 'ROW(x, c, id)', 1);
CALL race_release_sketch('released x', 'released mixed', 'l2(dims=2) * match(dims=2)', 'x', 1);
CALL race_release_sketch('released x', 'released mixed', 'jaccard', 'x', 1);
SELECT race_count(race_released('released product')) AS "good records",
	abs(race_kde(race_released('released product'), ROW(ARRAY[10, 3], ARRAY['sex 1', 'town 3']))
		- avg(race_kernel('l2(bandwidth=5) * match',
		ROW(x, c), ROW(ARRAY[10, 3], ARRAY['sex 1', 'town 3'])))) < 0.05 AS near
FROM mixed WHERE id > 0;
SELECT race_count(race_released('released sets')) AS "good records",
	abs(race_kde(race_released('released sets'), ARRAY[1, 2])
		- avg(race_kernel('jaccard', items, ARRAY[1, 2]))) < 0.05 AS near
FROM mixed WHERE id > 0;
SELECT spent_epsilon FROM race_budget_status WHERE budget = 'released mixed';
-- missing categories are records where the parameters declare them
CALL race_release_sketch('released undeclared', 'released mixed', 'match(dims=2, rows=64, range=256)', 'c', 100000);
CALL race_release_sketch('released declared', 'released mixed', 'match(dims=2, rows=64, range=256, nulls=different)',
	'c', 100000);
SELECT race_count(race_released('released undeclared')) AS undeclared,
	race_count(race_released('released declared')) AS declared,
	race_params(race_released('released declared')) \gx

-- the caller's path decides what names mean, and functions run under it
CREATE SCHEMA other;
CREATE FUNCTION other.inner_one(value int) RETURNS float8 IMMUTABLE LANGUAGE sql AS 'SELECT 1.0::float8';
CREATE FUNCTION other.outer_one(value int) RETURNS float8 IMMUTABLE
LANGUAGE plpgsql AS 'BEGIN RETURN inner_one(value); END';
SET search_path = other, public;
CALL race_release_sketch('released path', 'released rows', :p, 'ARRAY[outer_one(id), 1]', 100000);
SET search_path = released, public;
SELECT c.request->>'expression' AS expression, race_count(r.sketch)
FROM _racepriv.race_releases r JOIN _racepriv.race_charges c USING (charge) WHERE r.name = 'released path';
-- what a request says does not depend on how a session writes
CREATE TABLE plain AS SELECT DATE '2020-02-01' + i AS day, i AS "day of year" FROM generate_series(1, 20) i;
CALL race_protect('released plain', 'plain', 1000000);
SET datestyle = german;
SET quote_all_identifiers = on;
SET standard_conforming_strings = off;
SET extra_float_digits = -5;
\set e 'ARRAY[day - ''02.02.2020''::date, 0.1234567890123456::float8 + length(''\\'')]'
CALL race_release_sketch('released plain', 'released plain', :p, :'e', 100000);
RESET ALL;
SET search_path = released, public;
CALL race_release_next('released plain');
\pset format unaligned
SELECT version,
	race_count(sketch),
	replace(c.request->>'expression', '::double precision', '::float8') AS expression
FROM _racepriv.race_releases JOIN _racepriv.race_charges c USING (charge) WHERE name = 'released plain' ORDER BY 1 \gx
\pset format aligned
SET client_min_messages = warning;
DROP SCHEMA released, other CASCADE;
