-- A fact about a column is an upper bound of what can be in it.
\set SHOW_CONTEXT never
CREATE SCHEMA facts;
SET search_path = facts, public;
SET client_min_messages = warning;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
-- a server without ICU has no collations that call different texts equal
SELECT count(*) > 0 AS icu FROM pg_collation WHERE collprovider = 'i' \gset
\if :icu
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
\else
CREATE COLLATION ignore_case FROM "C";
\endif

-- ------------------------------------------------------------ conditions
-- Whatever a condition is, each value that a table with it takes is one of what is read from it.  With how = wrong,
-- the control reads facts from another condition and must find values that they exclude.
CREATE TABLE conditions (type text, condition text);
INSERT INTO conditions
SELECT type, condition FROM (VALUES
	('text',
		'{"x IN (''a'',''b'',NULL)", "x IN (''a'',''b'')", "x = ''a'' OR x = NULL", "x = ''a'' OR NULL", "x = NULL", '
		'"NOT x IN (''a'',''b'')", "x = ANY (NULL::text[])", "x = ANY (''{}''::text[])", '
		'"x = ANY (''{{a,b},{c,NULL}}'')", "x = ANY (''{{a,b},{c,d}}'')", "x::bpchar IN (''a'',''b'')", '
		'"x::bpchar = ''a''", "x::char(1) IN (''a'',''b'')", "x IN (''a'', lower(''B''))", '
		'"x = ANY (ARRAY[''a'', NULL])", "x = ALL (''{a,b}'')", "x <> ALL (''{a,b}'')", '
		'"x IS NOT DISTINCT FROM ''a''", "(x = ''a'') IS TRUE", "(x = ''a'') IS NOT FALSE", '
		'"(x IN (''a'')) IS UNKNOWN OR true", "x COLLATE facts.ignore_case IN (''a'',''b'')", '
		'"x COLLATE facts.ignore_case = ''a''", "CASE WHEN x = ''a'' THEN true ELSE x = ''b'' END", '
		'"(x, 1) = (''a'', 1)", "(x, 1) <= (''a'', 1)", "x = ''a'' AND NULL", "x = ''a''::name", "x::name = ''a''", '
		'"x::varchar IN (''a'',''b'')", "x IN (''a'',''b'') OR x IS NULL", "x IS NOT NULL AND x IN (''a'',''b'')", '
		'"x::varchar(1) = ''a''", "coalesce(x, ''a'') = ''a''"}'),
	('varchar(4)',
		'{"x IN (''a'',''b'',NULL)", "x IN (''a'',''b'')", "x::bpchar IN (''a'',''b'')", "x = ''a'' OR x = ''b ''"}'),
	('char(3)',
		'{"x IN (''a'',''b'',NULL)", "x IN (''a'',''b'')", "x = ''a ''", "x::text IN (''a'',''b'')", '
			'"x = ANY (ARRAY[''a ''::text, ''b'']::bpchar[])"}'),
	('boolean',
		'{"x IN (true, NULL)", "x = true", "x", "NOT x", "x IS TRUE", "x IS NOT TRUE", "x = NULL", "x <= false", '
			'"x IS NOT NULL"}'),
	('mood',
		'{"x IN (''sad'', NULL)", "x IN (''sad'', ''ok'')", "x < ''happy''", "x::text = ''sad''", '
			'"x = ''sad'' OR x = NULL"}'),
	('uuid',
		'{"x = ''00000000-0000-0000-0000-000000000001''", "x IN (''00000000-0000-0000-0000-000000000001'', NULL)", '
			'"x <= ''00000000-0000-0000-0000-000000000001''"}'),
	('int',
		'{"x IN (1,2,NULL)", "x IN (1,2)", "x = 1 OR x = NULL", "x IN (1, 2.5)", "x IN (1, ''NaN''::numeric)", '
			'"x IN (1, 1e30)", "x::oid >= 5 AND x <= 100", "x::oid IN (1,2)", "x::oid <= 5", "x BETWEEN 0 AND 5", '
			'"NOT x BETWEEN 0 AND 5", "x < 5.00000000000000001 AND x > -5.00000000000000001", "x < 5.5 AND x > -5.5", '
			'"x <= 5.5::real AND x >= 0", "x::real <= 5 AND x >= 0", "x::float8 < 5.00000000000000001 AND x >= 0", '
			'"x::float8 IN (1.00000000000000001, 2)", "x::text = ''1''", "-x IN (1,2)", "x = ANY (''{1,2,NULL}'')", '
			'"x BETWEEN 0 AND NULL", "x BETWEEN SYMMETRIC 5 AND 0", "x < 5 OR x > 7", "x % 2 = 0", '
			'"x IN (1, 2, 3) AND x < 3", "x::smallint BETWEEN 0 AND 5", "x BETWEEN 0 AND 5 IS NOT FALSE", '
			'"x::boolean = true", "x = 1 OR x IS NULL", "x IS NULL"}'),
	('bigint',
		'{"x IN (1,2,9007199254740993)", "x::float8 IN (1,2,9007199254740993)", '
			'"x::float8 = 9007199254740993::bigint::float8", "x::float8 <= 9007199254740992 AND x >= 0", '
			'"x <= 9007199254740992 AND x >= 0", "x <= 9007199254740993 AND x >= 0", '
			'"x < 9007199254740993 AND x >= 0", "x < 9007199254740994.5 AND x >= 0", "x IN (9007199254740993.0, 1)", '
			'"x IN (1, NULL)", "x BETWEEN -9223372036854775808 AND 9223372036854775807", '
			'"x::real IN (1, 2, 16777217)", "x::real BETWEEN 0 AND 16777217", "x::numeric IN (1, 9007199254740993)"}'),
	('float8',
		'{"x IN (1,2,NULL)", "x IN (1,2)", "x IN (1, ''NaN'')", "x IN (1, ''infinity'')", "x >= 0 AND x <= 5", '
			'"x >= 0 AND x < ''NaN''", "x >= 0 AND x <= ''NaN''", "x >= 0 AND x < ''infinity''", '
			'"x <> ''NaN'' AND x >= 0", "x BETWEEN 0 AND 0.1", "x::real BETWEEN 0 AND 0.1", '
			'"x::numeric <= 0.1 AND x >= 0", "x <= 0.1::real AND x >= 0", "x = 0", "x::int BETWEEN 0 AND 5"}'),
	('real',
		'{"x BETWEEN 0 AND 0.1", "x BETWEEN 0 AND 0.1::real", "x <= 0.1::real AND x >= -0.1::real", '
			'"x IN (0.1::real, 0.2::real)", "x IN (0.5, 1.5)", "x IN (0.1, 0.2)", "x::float8 BETWEEN 0 AND 0.1", '
			'"x BETWEEN 0 AND 16777217::real", "x IN (1, NULL)", "x <= ''NaN'' AND x >= 0"}'),
	('numeric',
		'{"x BETWEEN 0 AND 0.1", "x BETWEEN 0 AND 9007199254740993", "x::float8 BETWEEN 0 AND 0.1", '
			'"x IN (1, 9007199254740993)", "x IN (1, ''NaN'')", "x IN (1, NULL)", "x BETWEEN 0 AND 1e400", '
			'"x <> ''NaN'' AND x BETWEEN 0 AND 5", "x <= ''NaN'' AND x >= 0", "x::real BETWEEN 0 AND 0.1"}'),
	('numeric(17)',
		'{"x BETWEEN 0 AND 5", "x < 5.00000000000000001 AND x > -5.00000000000000001", '
			'"x < 9007199254740993 AND x >= 0", "x < 5.5 AND x >= 0", "x IN (1, 2.5)", "x >= 0 AND x < ''NaN''"}'),
	('numeric(9,2)', '{"x BETWEEN 0 AND 5", "x < 5.005 AND x >= 0", "x IN (0.01, NULL)"}'),
	('date',
		'{"x IN (''2020-01-01'', ''infinity'')", "x IN (''2020-01-01'', NULL)", '
			'"x IN (''2020-01-01'', ''2020-02-01'')", "x BETWEEN ''2020-01-01'' AND ''infinity''", '
			'"x >= ''2020-01-01'' AND x < timestamp ''2020-01-02 00:00:00.000001''", '
			'"x >= ''2020-01-01'' AND x < timestamp ''9999-12-31 00:00:00.000001''", '
			'"x >= ''2020-01-01'' AND x <= timestamptz ''2020-01-02 00:00+00''", '
			'"x > timestamp ''-infinity'' AND x <= ''2020-01-01''", '
			'"x >= date ''2020-01-01'' AND x <= timestamp ''2020-01-01 23:59''", '
			'"x::timestamp BETWEEN ''2020-01-01'' AND ''2020-01-02''", '
			'"x IN (''2020-01-01'', timestamp ''2020-01-01 12:00'')"}'),
	('timestamp',
		'{"x BETWEEN date ''2020-01-01'' AND date ''2020-01-02''", "x BETWEEN ''2020-01-01'' AND ''2020-01-02''", '
			'"x >= ''2020-01-01'' AND x < date ''5000000-01-01''", '
			'"x::date BETWEEN ''2020-01-01'' AND ''2020-01-02''", "x BETWEEN ''2020-01-01'' AND timestamptz '
			'''2020-01-02 00:00+00''", "x IN (''2020-01-01'', ''infinity'')"}'),
	('timestamptz',
		'{"x BETWEEN ''2020-01-01 00:00+0'' AND ''2020-01-02 00:00+0''", '
			'"x BETWEEN date ''2020-01-01'' AND date ''2020-01-02''", '
			'"x AT TIME ZONE ''UTC'' BETWEEN ''2020-01-01'' AND ''2020-01-02''", '
			'"x IN (''2020-01-01 00:00+00'', NULL)"}'),
	('interval',
		'{"x BETWEEN ''0'' AND ''30 days''", "x IN (''1 mon'', ''1 day'')", "x IN (''1 mon'', NULL)", '
			'"x >= ''0'' AND x < ''1 mon''", "x BETWEEN ''0'' AND ''170000 years''"}')) v (type,
		list),
	unnest(list::text[]) condition
WHERE condition !~ 'ignore_case' OR :'icu';
CREATE TABLE candidates (type text, list text);
INSERT INTO candidates VALUES
	('text', '{a,b,c,A,B,"a ","b  ","",d,NULL}'), ('varchar(4)', '{a,b,c,A,"a ","b ",NULL}'),
	('char(3)', '{a,b,"a ",c,A,"",NULL}'), ('boolean', '{t,f,NULL}'), ('mood', '{sad,ok,happy,NULL}'),
	('uuid',
		'{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001,'
			'00000000-0000-0000-0000-000000000002,NULL}'),
	('int', '{-2147483648,-6,-5,-2,-1,0,1,2,3,4,5,6,7,8,100,2147483647,NULL}'),
	('bigint',
		'{-9223372036854775808,-1,0,1,2,3,16777215,16777216,16777217,16777218,9007199254740991,9007199254740992,'
			'9007199254740993,9007199254740994,9007199254740995,9223372036854775807,NULL}'),
	('float8',
		'{-infinity,-1,-0,0,1e-300,0.1,0.10000000000000002,0.10000000149011612,0.100000001490116,0.1000000000000001,1,'
			'2,4.9,5,5.4,6,1e300,infinity,NaN,NULL}'),
	('real', '{-infinity,-0.1,-0.10000001,0,0.1,0.10000001,0.2,0.5,1,1.5,16777216,16777218,infinity,NaN,NULL}'),
	('numeric',
		'{-1,0,0.1,0.10000000000000000001,0.1000000000000001,0.100000001,1,2,5,9007199254740991,9007199254740992,'
			'9007199254740993,9007199254740994,1e399,NaN,NULL}'),
	('numeric(17)',
		'{-6,-5,-1,0,1,2,4,5,6,9007199254740991,9007199254740992,9007199254740993,9007199254740994,NaN,NULL}'),
	('numeric(9,2)', '{-1,0,0.01,5,5.01,5.004,NaN,NULL}'),
	('date',
		'{-infinity,0001-01-01,2019-12-31,2020-01-01,2020-01-02,2020-01-03,2020-02-01,9999-12-31,10000-01-01,infinity,'
			'NULL}'),
	('timestamp',
		'{-infinity,2019-12-31 23:59:59.999999,2020-01-01,2020-01-01 12:00,2020-01-02,2020-01-02 '
			'00:00:00.000001,2020-01-02 23:00,200000-01-01,infinity,NULL}'),
	('timestamptz',
		'{-infinity,2019-12-31 12:00+00,2020-01-01 00:00+00,2020-01-02 00:00+00,2020-01-02 12:00+00,infinity,NULL}'),
	('interval',
		'{-1 day,0,1 day,29 days 23:59:59.999999,30 days,1 mon,720:00:00,1 mon -1 day 24:00,2 mons,178000000 '
			'years,177999999 years 12 mons,NULL}');

-- The values that a table with a condition takes, and how many of them are not what its domain has
CREATE FUNCTION excluded(type text, condition text, list text, how text DEFAULT 'right', OUT read text, OUT taken int,
	OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
	v text;
	d record;
BEGIN
	EXECUTE format('CREATE TABLE taker (x %s CHECK (%s))', type, condition);
	FOREACH v IN ARRAY list::text[] LOOP
		BEGIN
			EXECUTE format('INSERT INTO taker VALUES (%L)', v);
		EXCEPTION WHEN check_violation OR numeric_value_out_of_range OR string_data_right_truncation THEN
			NULL;
		END;
	END LOOP;
	IF how = 'wrong' THEN
		ALTER TABLE taker DROP CONSTRAINT taker_x_check;
		EXECUTE format('ALTER TABLE taker ADD CHECK (%s) NOT VALID', 'x = ''1''');
		UPDATE pg_constraint SET convalidated = true WHERE conname = 'taker_x_check';
	END IF;
	SELECT * INTO d FROM _racepriv._race_columns_of_dataset('', 'taker'::regclass, NULL);
	read := CASE WHEN d.kind IS NULL THEN '' ELSE coalesce(d.categories::text, d.lower || ' to ' || d.upper) END
		|| CASE WHEN d.kind IS NOT NULL AND NOT (d.domain->>'null')::boolean THEN ' not null' ELSE '' END;
	EXECUTE format('SELECT count(*), count(*) FILTER (WHERE CASE WHEN $1 IS NULL THEN false WHEN x IS NULL THEN $2 '
		'WHEN $1 = ''category'' THEN x::text <> ALL ($3) %s END) FROM taker',
		CASE WHEN d.lower IS NULL THEN ''
			WHEN type ~ 'real|float8|numeric'
				THEN 'WHEN x = ''NaN'' THEN $2 ELSE x::float8 NOT BETWEEN $4::float8 AND $5::float8'
			ELSE 'ELSE x NOT BETWEEN $4::' || type || ' AND $5::' || type END)
	INTO taken, wrong USING d.kind, NOT (d.domain->>'null')::boolean, d.categories, d.lower, d.upper;
	DROP TABLE taker;
END $$;
\pset format unaligned
SELECT type, condition, e.*
FROM conditions JOIN candidates USING (type) CROSS JOIN excluded(type, condition, list) e
WHERE e.wrong > 0 OR e.read <> '' ORDER BY type, condition COLLATE "C";
\pset format aligned
SELECT sum(e.wrong) > 0 AS control
FROM candidates CROSS JOIN excluded(type, 'x IS NULL OR true', list, 'wrong') e WHERE type IN ('int', 'float8', 'text');

-- ------------------------------------------------------------ what is refused before the charge, and why
RESET client_min_messages;
CREATE TABLE sites (site text NOT NULL CHECK (site IN ('north', 'south', NULL)), n numeric CHECK (n IN (0, 1, NULL)),
	at time, price money, shape point, code int);
INSERT INTO sites SELECT (ARRAY['north', 'south', 'east', 'west'])[1 + i % 4] FROM generate_series(1, 8000) i;
-- a key may have another type than the column: what is no value of the column must not fail after the charge
CREATE TABLE codes (code numeric PRIMARY KEY);
INSERT INTO codes VALUES (1), (2.0), (2.5);
ALTER TABLE sites ADD FOREIGN KEY (code) REFERENCES codes;
CALL race_protect('sites', epsilon_limit => 1e6, public_tables => '{codes}');
CALL race_release('sites', 'sites', '{site}', 10000);
CALL race_release('sites', 'sites', '{n}', 10000);
CALL race_release('sites', 'sites', '{at}', 10000);
CALL race_release('sites', 'sites', '{n,site,at}', 10000);
SELECT charges FROM race_budget_status WHERE budget = 'sites';
\pset format unaligned
SELECT column_name,
	split_part(reason, ': CALL', 1) AS reason
FROM race_columns WHERE dataset = 'sites';
\pset format aligned
CALL race_describe('sites', 'site', categories => '{north,south}');
CALL race_release('sites', 'sites', '{site}', 10000);
SELECT v, round((race_count('sites', jsonb_build_object('site', v))).count) AS count
FROM unnest('{north,south,other}'::text[]) v;
CALL race_describe('sites', 'code', public_table => 'codes');
DELETE FROM codes WHERE code <> 1;
CALL race_describe('sites', 'code', public_table => 'codes');
SELECT categories, nulls, others, source FROM race_columns WHERE dataset = 'sites' AND column_name = 'code';
-- types that have neither numbers nor categories
CALL race_describe('sites', 'at', '08:00', '17:00');
CALL race_describe('sites', 'price', categories => '{1}');
CALL race_describe('sites', 'price', bounds => 'private', epsilon => 0.1);
CALL race_describe('sites', 'shape', public_table => 'conditions');

-- ------------------------------------------------------------ NOT NULL that is not
SET client_min_messages = warning;
CREATE DOMAIN listed AS text CHECK (VALUE IN ('a', 'b', NULL));
CREATE DOMAIN relisted AS listed CHECK (VALUE IN ('a', 'b', 'c'));
CREATE TABLE listing (one listed, two relisted, many int[] CHECK (many = '{1}'), r conditions CHECK (r IS NOT NULL));
SELECT column_name,
	categories,
	reason
FROM _racepriv._race_columns_of_dataset('', 'listing'::regclass, NULL) \gx
CREATE DOMAIN known AS int NOT NULL CHECK (VALUE IS NOT NULL AND VALUE BETWEEN 0 AND 3);
CREATE TABLE parent (x int NOT NULL CHECK (x BETWEEN 0 AND 3), y int NOT NULL CHECK (y BETWEEN 0 AND 3),
	z int CHECK (z BETWEEN 0 AND 3 AND z IS NOT NULL), d known);
CREATE TABLE child () INHERITS (parent);
ALTER TABLE child ALTER x DROP NOT NULL;
CREATE TABLE grandchild () INHERITS (child);
CREATE TABLE whole (x int NOT NULL CHECK (x BETWEEN 0 AND 3), y int NOT NULL CHECK (y BETWEEN 0 AND 3))
PARTITION BY LIST (x);
CREATE TABLE part PARTITION OF whole DEFAULT;
-- from PostgreSQL 18 on a constraint may not have looked at all rows, and a column may be computed when it is read
SELECT current_setting('server_version_num')::int >= 180000 AS is_18 \gset
CREATE TABLE late (x int CHECK (x BETWEEN 0 AND 3));
INSERT INTO late VALUES (NULL);
\if :is_18
ALTER TABLE late ADD CONSTRAINT known NOT NULL x NOT VALID;
ALTER TABLE late ADD y int GENERATED ALWAYS AS (coalesce(x, 0)) VIRTUAL NOT NULL CHECK (y BETWEEN 0 AND 3);
\else
ALTER TABLE late ADD y int CHECK (y BETWEEN 0 AND 3);
\endif
CREATE TABLE of_domain (d known, n known NOT NULL);
INSERT INTO of_domain SELECT (SELECT d FROM of_domain WHERE d = 5), 1;
CREATE VIEW of_parent AS SELECT x, y, NULL::int AS made, d FROM parent;
CREATE VIEW outer_join AS SELECT w.x, p.n FROM whole w LEFT JOIN of_domain p ON w.x = p.n;
SELECT c.relname, d.column_name, d.nulls, coalesce(d.lower || ' to ' || d.upper, '') AS bounds
FROM pg_class c, _racepriv._race_columns_of_dataset('', c.oid, NULL) d
WHERE c.relname IN ('parent', 'child', 'grandchild', 'late', 'whole', 'part', 'of_domain', 'of_parent', 'outer_join')
	AND c.relnamespace = 'facts'::regnamespace ORDER BY 1, 2;
INSERT INTO parent SELECT i % 4, i % 4, i % 4, i % 4 FROM generate_series(1, 1000) i;
INSERT INTO child SELECT NULL, i % 4, i % 4, i % 4 FROM generate_series(1, 1000) i;
CALL race_protect('parent', epsilon_limit => 1e6);
CALL race_release('parent', 'parent', '{x,y}', 10000);
SELECT v, round((race_count('parent', jsonb_build_object('x', v))).count) AS count
FROM unnest('{0,1,2,3,NULL}'::int[]) v;
-- a notice of what a release may leave out, too
SET client_min_messages = notice;
CALL race_release_sketch('parent rows', 'parent', 'l2(dims=1, bandwidth=1, lower={0}, upper={3})', 'ARRAY[x]', 10000);
CALL race_release_sketch('parent rows of y', 'parent', 'l2(dims=1, bandwidth=1, lower={0}, upper={3})', 'ARRAY[y]',
	10000);
SET client_min_messages = warning;

-- ------------------------------------------------------------ NaN is a missing value
CREATE TABLE readings (kind boolean NOT NULL, f float8 NOT NULL, r real NOT NULL, n numeric NOT NULL CHECK (n > -1),
	bounded numeric NOT NULL CHECK (bounded BETWEEN 0 AND 10), told float8 NOT NULL CHECK (told <> 'NaN'),
	whole numeric(5) NOT NULL, i int NOT NULL);
INSERT INTO readings
SELECT i % 2 = 0, v, v, v, 3, 3, v, 3
FROM (SELECT i, CASE WHEN i % 2 = 0 THEN 'NaN'::numeric ELSE 3 END AS v FROM generate_series(1, 4000) i) v;
CALL race_protect('readings', epsilon_limit => 1e6,
	columns => '{"f": [0, 10], "r": [0, 10], "n": [0, 10], "told": [0, 10], "whole": [0, 10], "i": [0, 10]}');
SELECT column_name, nulls, cells FROM race_columns WHERE dataset = 'readings';
CALL race_release('readings', 'readings', '{kind,f,n,whole}', 100000);
SELECT c,
	round((race_count('readings', format('{%s: null}', to_json(c))::jsonb)).count) AS missing,
	round((race_count('readings', format('{%s: "[2,4)"}', to_json(c))::jsonb)).count) AS three
FROM unnest('{f,n,whole}'::text[]) c;
CALL race_release('means', 'readings', '{kind}', 100000, measure => 'f');
SELECT round(mean::numeric, 2) AS mean FROM race_mean('means', 'f');
CALL race_describe('readings', 'f', bounds => 'private', epsilon => 1000);
SELECT lower::float8 BETWEEN 2 AND 3 AS lower, upper::float8 BETWEEN 3 AND 5 AS upper
FROM race_columns WHERE dataset = 'readings' AND column_name = 'f';
-- as parts of a vector, and in a series
SELECT jsonb_build_array(domain || '{"vector": true}') AS vector,
	jsonb_build_array(domain || '{"measure": true, "group": 0, "single": 0, "cells": 3}') AS measure,
	jsonb_build_array(domain) AS cells
FROM _racepriv._race_columns_of_dataset('readings', 'readings'::regclass, '{r}') \gset
SELECT r,
	_racepriv._race_cells(:'vector', r) AS vector,
	_racepriv._race_cells(:'cells' || :'measure'::jsonb, r, r) AS measure
FROM unnest('{3,NaN,infinity,-infinity,NULL}'::real[]) r;
CREATE TABLE during (at date NOT NULL, f float8 NOT NULL);
INSERT INTO during
SELECT '2026-01-01'::date + i % 2, CASE WHEN i % 4 < 2 THEN 'NaN'::float8 ELSE 3 END
FROM generate_series(1, 400) i;
CALL race_protect('during', epsilon_limit => 1e6, columns => '{"f": [0, 10]}');
CALL race_release('during', 'during', '{f}', 10000,
	series => '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-03"}');
CALL race_release_next('during');
SELECT round((race_count('during', '{"f": null}')).count) AS missing,
	round((race_count('during', '{"f": "[2,4)"}')).count) AS three \gx

-- ------------------------------------------------------------ what is impossible counts where readers see it, or not
-- at all categories with and without cells of NULL and of others
SELECT n, o, v,
	_racepriv._race_cells(jsonb_build_array(format('{"name": "x", "type": "text", "kind": "category", '
		'"categories": ["a", "b"], "null": %s, "other": %s, "cells": %s, "group": 1, "single": %s}',
			to_json(n), to_json(o), 2 + n::int + o::int, n::int + o::int)::jsonb), v) AS cell
FROM unnest('{f,t}'::boolean[]) n, unnest('{f,t}'::boolean[]) o, unnest('{b,c,NULL}'::text[]) v ORDER BY n, o, v;
-- a catalog that lies: the record is left out, and in no end cell
CREATE TABLE lies (site text NOT NULL, x float8 NOT NULL, yes boolean NOT NULL);
INSERT INTO lies
SELECT (ARRAY['a', 'b', 'c', 'd'])[1 + i % 4], CASE WHEN i % 8 < 4 THEN 'NaN'::float8 ELSE 3 END, i % 2 = 0
FROM generate_series(1, 8000) i;
ALTER TABLE lies ADD CONSTRAINT one CHECK (site IN ('a', 'b')) NOT VALID,
	ADD CONSTRAINT two CHECK (x BETWEEN 0 AND 10) NOT VALID;
UPDATE pg_constraint SET convalidated = true WHERE conname IN ('one', 'two') AND conrelid = 'lies'::regclass;
CALL race_protect('lies', epsilon_limit => 1e6);
CALL race_release('lies', 'lies', '{site,yes}', 10000);
SELECT v, round((race_count('lies', jsonb_build_object('site', v))).count) AS count FROM unnest('{a,b}'::text[]) v;
CALL race_release('lies x', 'lies', '{x}', 10000);
SELECT round((race_count('lies x')).count) AS count, round((race_count('lies x', '{"x": "[9,10)"}')).count) AS last;
CALL race_release('lies m', 'lies', '{yes}', 10000, measure => 'x');
SELECT round(mean::numeric, 2) AS mean, round((race_count('lies m')).count) AS count FROM race_mean('lies m', 'x');

-- ------------------------------------------------------------ equal values are one unit
CREATE TYPE pair AS (a float8, b numeric);
CREATE TABLE units (f float8, n numeric, c char(3), i interval, t text COLLATE ignore_case, a float8[], p pair, j jsonb,
	x boolean NOT NULL);
INSERT INTO units SELECT v.*, true FROM (VALUES
	('-0'::float8, '1.0'::numeric, 'a', '1 mon'::interval, 'Ann', '{0}'::float8[], '(0,1.0)'::pair, '1.0'::jsonb),
	('0', '1.00', 'a ', '30 days', CASE WHEN :'icu' THEN 'ANN' ELSE 'Ann' END, '{-0}', '(-0,1)', '1.00')) v,
	generate_series(1, 50);
SELECT format('CREATE VIEW unit_%s AS SELECT %1$I AS unit, x, date ''2026-01-01'' AS at FROM units', attname)
FROM pg_attribute WHERE attrelid = 'units'::regclass AND attnum BETWEEN 1 AND 8 ORDER BY attnum \set ECHO none \gexec
\set ECHO all
SELECT format('CALL race_protect(%L, epsilon_limit => 1e6, unit_column => ''unit'', max_contributions => 1)',
	'unit_' || attname)
FROM pg_attribute WHERE attrelid = 'units'::regclass AND attnum BETWEEN 1 AND 8 ORDER BY attnum \set ECHO none \gexec
\set ECHO all
SELECT format('CALL race_release(%1$L, %1$L, ''{x}'', 10000)', 'unit_' || attname)
FROM pg_attribute WHERE attrelid = 'units'::regclass AND attnum BETWEEN 1 AND 8 ORDER BY attnum \set ECHO none \gexec
\set ECHO all
SELECT name, round((race_count(name)).count) AS count
FROM race_catalog WHERE name LIKE 'unit\_%' ORDER BY name COLLATE "C";
-- a series counts units by their texts, and refuses types of which equal values may have several
\set VERBOSITY sqlstate
SELECT format(E'CALL race_release(%L, %L, ''{x}'', 10000,\n\t'
		'series => ''{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-03"}'')',
	'series ' || attname, 'unit_' || attname)
FROM pg_attribute WHERE attrelid = 'units'::regclass AND attnum BETWEEN 1 AND 8 ORDER BY attnum \gexec
DROP SCHEMA facts CASCADE;
