-- domains of columns, and releases by columns
\set SHOW_CONTEXT never
CREATE SCHEMA columns;
SET search_path = columns, public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN percent AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN age AS positive CHECK (VALUE <= 120) NOT NULL;
CREATE TABLE towns (code char(3) PRIMARY KEY);
INSERT INTO towns VALUES ('par'), ('rom');

-- ------------------------------------------------------------ what schemas say
CREATE TABLE schemas (
	id bigint PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 120), age_of_domain age,
	small smallint CHECK (small >= 1) CHECK (6 > small), large bigint CHECK (large >= 0 AND large < 100000),
	aligned int CHECK (aligned BETWEEN 1950 AND 4050), few int CHECK (few IN (3, 1, 2)),
	within int CHECK (within IN (1, 5, 9) AND within < 9),
	pressure float8 CHECK (pressure >= 0 AND pressure <= 300), f4 real CHECK (f4 IS NULL OR f4 >= -1.5 AND f4 <= 2),
	two real CHECK (two IN (0.5, 1.5)),
	price numeric(6,2) CHECK (0 <= price AND price < 1000.5), whole numeric(5) CHECK (whole > 0.5 AND whole < 6),
	p percent,
	town text CHECK (town IN ('Paris', 'Rome')), v varchar(9) NOT NULL CHECK (v = 'x' OR v = 'y' OR v IN ('y', 'z')),
	c char(3) CHECK (c = ANY ('{a,b}')), one text CHECK (one = 'only'),
	code char(3) REFERENCES towns, m mood, some_m mood CHECK (some_m IN ('happy', 'sad')), yes boolean NOT NULL,
	not_null int CHECK (not_null IS NOT NULL AND not_null BETWEEN 1 AND 2),
	day date CHECK (day >= '2020-01-01' AND day <= '2020-12-31'),
	later date CHECK (later > '2020-01-01' AND later < 'infinity'),
	t timestamp CHECK (t BETWEEN '2020-01-01' AND date '2020-01-02'), tz timestamptz,
	i interval CHECK (i >= '0' AND i <= '1 day'),
	u uuid, place point, txt text, lower_only int CHECK (lower_only >= 0), none int CHECK (none > 5 AND none < 3),
	"we""ird é" int CHECK ("we""ird é" BETWEEN 1 AND 3));
CALL race_protect('schemas', 'schemas', 1000, public_tables => '{towns}');
\pset format unaligned
SELECT column_name, type, kind, coalesce(lower || ' to ' || upper || ' by ' || step, categories::text) AS domain, nulls,
	others, cells, source
FROM race_columns WHERE dataset = 'schemas' AND reason IS NULL;
SELECT column_name, reason FROM race_columns WHERE dataset = 'schemas' AND reason IS NOT NULL;
\pset format aligned

-- Conditions are read and not evaluated; what is not a constant, a validated constraint, an operator of
-- PostgreSQL or inherited says nothing.
CREATE FUNCTION trap(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'trap % was called', $1; END $$;
CREATE FUNCTION trap_less(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'trap was called';
END $$;
CREATE OPERATOR <= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap_less);
CREATE TABLE hostile (
	a int CHECK (a BETWEEN trap(0) AND trap(1)), b int CHECK (b OPERATOR(columns.<=) 5 AND b >= 0),
		c int CHECK (c BETWEEN 0 AND 5) NO INHERIT,
	d int CHECK (d >= e), e int CHECK (abs(e) < 5), f int CHECK (NOT f BETWEEN 0 AND 5),
	g int CHECK (g BETWEEN 0 AND 5 OR g IS NOT NULL),
	h int CHECK (h BETWEEN 0 AND 5 OR h BETWEEN 3 AND 9), i int CHECK (i <> ALL ('{1,2}')),
	j int CHECK (CASE WHEN j > 0 THEN true ELSE false END), k int);
ALTER TABLE hostile ADD CHECK (k BETWEEN 0 AND 5) NOT VALID, ADD l float8 CHECK (l BETWEEN -1e308 AND 1e308);
CALL race_protect('hostile', 'hostile', 1000);
SELECT column_name, lower, upper, source, split_part(reason, ':', 1) AS reason
FROM race_columns WHERE dataset = 'hostile';
ALTER TABLE hostile VALIDATE CONSTRAINT hostile_k_check;
SELECT column_name, lower, upper, source FROM race_columns WHERE dataset = 'hostile' AND column_name = 'k';
DROP OPERATOR columns.<= (int, int);

-- views, partitions and foreign tables
CREATE TABLE logs (site int NOT NULL CHECK (site BETWEEN 1 AND 4), level text CHECK (level IN ('low', 'high')))
PARTITION BY LIST (site);
CREATE TABLE logs1 PARTITION OF logs FOR VALUES IN (1);
CREATE VIEW of_logs AS SELECT level AS grade, l.site, l.site + 1 AS next, q.site AS again
FROM logs l LEFT JOIN (SELECT site, level FROM logs1) q USING (level);
CREATE VIEW of_view AS SELECT grade, site FROM of_logs;
CREATE VIEW plain AS SELECT site, level FROM logs;
CREATE VIEW of_union AS SELECT site, level FROM logs UNION ALL SELECT 9, 'none';
-- views that were replaced and read each other: an error for who asks them, not an endless search
CREATE TABLE turns (site int CHECK (site BETWEEN 1 AND 4));
CREATE VIEW turning AS SELECT site FROM turns;
CREATE VIEW turned AS SELECT site FROM turning;
CALL race_protect('turning', 'turning', 1000);
CREATE OR REPLACE VIEW turning AS SELECT site FROM turned;
SELECT column_name, lower, upper, nulls, source FROM race_columns WHERE dataset = 'turning';
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE far (site int NOT NULL CHECK (site BETWEEN 1 AND 4),
	level text CHECK (level IN ('low', 'high'))) SERVER nowhere;
CREATE TABLE partly_far (site int NOT NULL CHECK (site BETWEEN 1 AND 4), level text CHECK (level IN ('low', 'high')))
PARTITION BY LIST (site);
CREATE FOREIGN TABLE partly_far2 PARTITION OF partly_far FOR VALUES IN (2) SERVER nowhere;
SELECT c.relname, d.column_name, d.lower, d.upper, d.categories, d.nulls, d.others, d.source, d.reason
FROM pg_class c, _racepriv._race_columns_of_dataset('', c.oid, NULL) d
WHERE c.relname IN ('logs', 'of_logs', 'of_view', 'plain', 'far', 'partly_far', 'of_union') ORDER BY 1, 2;

-- ------------------------------------------------------------ what owners say
CALL race_describe('schemas', 'id', 1, 2000000, unit => 'number', description => 'given by the clinic');
CALL race_describe('schemas', 'pressure', lower => 0, upper => 299.5, step => 0.1, unit => 'mmHg');
CALL race_describe('schemas', 'day', step => 7);
CALL race_describe('schemas', 'later', date '2020-01-05', date '2021-01-03', step => '1 week');
CALL race_describe('schemas', 'tz', '2020-01-01 00:00+00', '2020-02-01 00:00+00', step => '1 hour');
CALL race_describe('schemas', 'i', '0', '36 hours', step => interval '90 minutes');
CALL race_describe('schemas', 'txt', categories => '{a,b,"c d",é}');
CALL race_describe('schemas', 'u', categories => '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}');
CALL race_describe('schemas', 'few', categories => '{+1,02}');
CALL race_describe('schemas', 'm', categories => '{happy}');
CALL race_describe('schemas', 'code', public_table => 'towns');
CALL race_describe('schemas', 'age', unit => 'years');
CALL race_describe('schemas', 'we"ird é', lower => 0, upper => 9);
\pset format unaligned
SELECT column_name, coalesce(lower || ' to ' || upper || ' by ' || step, categories::text) AS domain, nulls, others,
	cells, unit, description, source, reason
FROM race_columns
WHERE dataset = 'schemas' AND (source !~ 'check|domain|enum|boolean' OR unit IS NOT NULL OR column_name = 'day');
\pset format aligned
CALL race_describe('schemas', 'whole', 0.5, 5.5, step => 2);
SELECT lower, upper, step, cells FROM race_columns WHERE dataset = 'schemas' AND column_name = 'whole';
-- the last one holds; with nothing said the schema does again
CALL race_describe('schemas', 'we"ird é', lower => -1, upper => 1);
CALL race_describe('schemas', 'm');
SELECT column_name, lower, upper, categories, source
FROM race_columns WHERE column_name IN ('we"ird é', 'm') AND dataset = 'schemas';
SELECT column_name, revision, type, lower, upper, described_by = current_user AS mine
FROM _racepriv.race_descriptions WHERE column_name = 'we"ird é' ORDER BY revision;

-- what cannot be said, and what to type instead
CALL race_describe('schemas', 'nothing', 0, 1);
CALL race_describe('nothing', 'age', 0, 1);
CALL race_describe('schemas', NULL, 0, 1);
CALL race_describe('schemas', 'ctid', 0, 1);
CALL race_describe('schemas', 'age', lower => 0);
CALL race_describe('schemas', 'age', upper => '5');
CALL race_describe('schemas', 'age', 5, 1);
CALL race_describe('schemas', 'age', 0, 1, categories => '{1}');
CALL race_describe('schemas', 'age', 0.5, 1);
CALL race_describe('schemas', 'age', 'a', 'b');
CALL race_describe('schemas', 'pressure', 'NaN', '1');
CALL race_describe('schemas', 'pressure', '0', 'infinity');
CALL race_describe('schemas', 'pressure', 0, 1, step => 0);
CALL race_describe('schemas', 'pressure', 0, 1, step => '1 day');
CALL race_describe('schemas', 'pressure', 0, 1, step => 1e-7);
CALL race_describe('schemas', 'age', 0, 10, step => 1.5);
CALL race_describe('schemas', 'pressure', 0, 1, step => 0.00000100000050000025);
CALL race_describe('schemas', 'pressure', 1e17, 1e17 + 16, step => 0.00002);
CALL race_describe('schemas', 'pressure', 200, 200.0000000000004, step => 1e-14);
CALL race_describe('schemas', 'pressure', -1e308, 1e308);
CALL race_describe('schemas', 'pressure', -1e308, 1e308, step => 1e308);
CALL race_describe('schemas', 'id', 0, 9223372036854775807);
CALL race_describe('schemas', 'later', '2020-01-01', '2021-01-01', step => '1 month 3 days');
CALL race_describe('schemas', 'later', '2020-01-01', '2021-01-01', step => '-1 month');
CALL race_describe('schemas', 'i', '0', '1 year', step => '1 month');
CALL race_describe('schemas', 'later', '2020-01-01', 'infinity');
CALL race_describe('schemas', 'later', '2020-01-01', '5');
CALL race_describe('schemas', 'town', 0, 1);
CALL race_describe('schemas', 'town', step => 1);
CALL race_describe('schemas', 'txt', step => 1);
CALL race_describe('schemas', 'town', categories => '{}');
CALL race_describe('schemas', 'town', categories => '{a,a}');
CALL race_describe('schemas', 'town', categories => '{a,NULL}');
CALL race_describe('schemas', 'town', categories => E'{a,"b\x01"}');
CALL race_describe('schemas', 'town', categories => '{<b>}', unit => 'x');
CALL race_describe('schemas', 'town', unit => repeat('x', 201));
CALL race_describe('schemas', 'age', categories => '{a}');
CALL race_describe('schemas', 'm', categories => '{angry}');
CALL race_describe('schemas', 'yes', categories => '{true}');
CALL race_describe('schemas', 'price', categories => '{1}');
CALL race_describe('schemas', 'place', categories => '{1}');
CALL race_describe('schemas', 'place', '(0,0)', '(1,1)');
CALL race_describe('schemas', 'town', public_table => 'towns');
CALL race_describe('schemas', 'code', public_table => 'logs');
CALL race_describe('hostile', 'a', public_table => 'towns');

-- ------------------------------------------------------------ cells
-- as texts: numbers in the units of their type
CREATE FUNCTION domain_of(wanted name) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_array(domain)
	FROM _racepriv._race_columns_of_dataset('schemas', 'columns.schemas'::regclass, ARRAY[wanted::text])
$$;
SELECT jsonb_pretty(domain_of('age')) AS age;
SELECT jsonb_pretty(domain_of('later')) AS later;
SELECT jsonb_pretty(domain_of('txt')) AS txt;
SELECT jsonb_pretty(domain_of('tz')) AS tz;
SELECT v, _racepriv._race_cells(domain_of('age'), v)
FROM unnest('{-2147483648,-1,0,1,119,120,121,2147483647,NULL}'::int[]) v;
SELECT left(v::text, 9) AS v, _racepriv._race_cells(domain_of('price'), v)
FROM unnest('{-1e500,-0.01,0,4.99,5,999.99,1e500,NaN,NULL}'::numeric[]) v;
SELECT v, _racepriv._race_cells(domain_of('pressure'), v)
FROM unnest('{-inf,0,0.1,0.3,0.7,29.9,299.4,299.5,inf,NaN,NULL}'::float8[]) v;
SELECT v, _racepriv._race_cells(domain_of('later'), v)
FROM unnest('{-infinity,2020-01-05,2020-01-11,2020-01-12,2021-01-02,2021-01-03,infinity,NULL}'::date[]) v;
SET timezone = 'Asia/Tokyo';
SELECT v AT TIME ZONE 'UTC' AS v, _racepriv._race_cells(domain_of('tz'), v)
FROM unnest('{-infinity,2020-01-01 00:59:59.999999Z,2020-01-01 01:00Z,infinity,NULL}'::timestamptz[]) v;
RESET timezone;
SELECT v, _racepriv._race_cells(domain_of('i'), v)
FROM unnest('{-1 hour,89 minutes,90 minutes,1 day,36 hours,178000000 years,NULL}'::interval[]) v;
SELECT v, _racepriv._race_cells(domain_of('txt'), v) FROM unnest('{a,é,"c d",A,"a ","",NULL}'::text[]) v;
SELECT v, _racepriv._race_cells(domain_of('v'), v) FROM unnest('{x,z,w,NULL}'::varchar[]) v;
SELECT v, _racepriv._race_cells(domain_of('c'), v) FROM unnest('{a,"b  ",c,NULL}'::char(3)[]) v;
SELECT v, _racepriv._race_cells(domain_of('m'), v) FROM unnest('{sad,happy,NULL}'::mood[]) v;
SELECT v, _racepriv._race_cells(domain_of('few'), v) FROM unnest('{1,2,3,NULL}'::int[]) v;
SELECT v, _racepriv._race_cells(domain_of('yes'), v) FROM unnest('{f,t,NULL}'::boolean[]) v;
SELECT v, _racepriv._race_cells(domain_of('u'), v)
FROM unnest('{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,00000000-9c0b-4ef8-bb6d-6bb9bd380a11,NULL}'::uuid[]) v;
SELECT _racepriv._race_cells(domain_of('age') || domain_of('txt') || domain_of('p'), 7::age, 'b'::text, 50::percent);
-- domains that are no constants; what are no domains
SELECT _racepriv._race_cells(d, 3) FROM (VALUES (domain_of('age')), (domain_of('small'))) v (d);
SELECT _racepriv._race_cells(domain_of('age'), 'a'::text);
SELECT _racepriv._race_cells(domain_of('txt'), 1.5);
SELECT _racepriv._race_cells(domain_of('age'), 1, 2);
SELECT _racepriv._race_cells(domain_of('age'), VARIADIC '{1}'::int[]);
SELECT _racepriv._race_cells(NULL, 1);
CREATE FUNCTION refuses(domains jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	RETURN _racepriv._race_cells(domains, 1);
EXCEPTION WHEN invalid_parameter_value THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN detail;
END $$;
\pset format unaligned
SELECT d, refuses(CASE WHEN d LIKE '{%' THEN jsonb_build_array(domain_of('age')->0 || d::jsonb) ELSE d::jsonb END)
FROM unnest(ARRAY['1', '[]', '[1]', '[[]]', '[{}]', '{"kind": 1}', '{"kind": "x"}', '{"cells": 0}', '{"cells": 1}',
	'{"cells": 1.5}', '{"cells": 1e9}', '{"null": null}', '{"group": 0}', '{"group": 500}', '{"lower": 1e400}',
	'{"lower": 121}', '{"start": 5}', '{"width": 0}', '{"width": 1e308}', '{"whole": 1}', '{"months": 1}',
	'{"months": "a"}', '{"type": "date", "months": 1.5}', '{"type": "date", "months": 1, "start": -1}',
	'{"type": "date", "months": 1}',
	'{"kind": "category"}', '{"kind": "category", "cells": 3, "group": 1, "categories": ["a"]}',
	'{"kind": "category", "cells": 2, "group": 1, "categories": [1]}',
	'{"kind": "category", "cells": 2, "group": 1, "categories": {"a": 1}}']) d;
\pset format aligned

-- ------------------------------------------------------------ round steps
CREATE TABLE steps (
	half float8, fifths real, wide float8, cents numeric(5,2), many int,
	year date, century date, day timestamp, months timestamptz, weeks date, quarters timestamptz, odd date,
	hour interval);
CALL race_protect('steps', 'steps', 1, columns => '{"half": [0.1, 100], "fifths": [0, 0.7], "wide": [-1e9, 1e9],
	"cents": [0, 1.5], "many": [18, 50000], "year": ["2026-01-01", "2026-12-31"],
	"century": ["1925-02-03", "2024-12-31"], "day": ["2026-01-01", "2026-01-02"],
	"months": ["2020-01-15 12:00+00", "2025-01-01+00"],
	"weeks": {"lower": "2026-01-01", "upper": "2026-12-31", "step": "1 week"},
	"quarters": {"lower": "2020-02-01+00", "upper": "2025-12-31+00", "step": "3 months"},
	"odd": {"lower": "2020-01-05", "upper": "2020-12-31", "step": 10}, "hour": ["0", "1 hour"]}');
SELECT k.column_name, k.lower, k.upper, k.step, k.cells, k.domain->'start' AS start, k.domain->'group' AS "group"
FROM _racepriv._race_columns_of_dataset('steps', 'columns.steps'::regclass, NULL) k;
-- months and weeks begin where date_trunc says, in UTC, whatever the session's settings are
SET timezone = 'America/New_York';
SET datestyle = 'German, DMY';
SELECT c.column_name, count(DISTINCT c.cell) AS cells, count(DISTINCT date_trunc(c.field, c.v)) AS periods,
	count(DISTINCT (c.cell, date_trunc(c.field, c.v))) AS both
FROM (
	SELECT k.column_name, f.field, v AT TIME ZONE 'UTC' AS v, CASE k.type WHEN 'date'
		THEN _racepriv._race_cells(jsonb_build_array(k.domain), (v AT TIME ZONE 'UTC')::date)
		ELSE _racepriv._race_cells(jsonb_build_array(k.domain), v) END AS cell
	FROM _racepriv._race_columns_of_dataset('steps', 'columns.steps'::regclass, '{century,months,weeks,quarters}') k
	JOIN (
		VALUES ('century', 'quarter'), ('months', 'month'), ('weeks', 'week'), ('quarters', 'quarter')
	) f (name, field) ON f.name = k.column_name,
		LATERAL (SELECT left(k.lower, 10) || '+00' AS lower, left(k.upper, 10) || '+00' AS upper) b,
		generate_series(b.lower::timestamptz, b.upper::timestamptz, interval '23 hours 59 minutes') v
	WHERE k.column_name <> 'century' OR extract(day FROM v AT TIME ZONE 'UTC') IN (1, 28)
) c GROUP BY 1 ORDER BY 1;
RESET timezone;
RESET datestyle;
DROP TABLE steps;

-- ------------------------------------------------------------ releases by columns
-- At an enormous epsilon there is no noise to speak of.
\set vast 10000
CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 120), town text NOT NULL CHECK (town IN ('Paris', 'Rome')),
	pressure numeric, m mood, "we""ird é" int CHECK ("we""ird é" BETWEEN 1 AND 3));
INSERT INTO visits
SELECT nullif(i % 97, 0), (ARRAY['Paris', 'Rome'])[1 + i % 2],
	CASE i % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN 1e500 ELSE 10 * (i % 7) END, 'ok', 1 + i % 3
FROM generate_series(1, 1000) i;
CALL race_protect('visited', 'visits', 1e9);
-- refused before the charge
CALL race_release(NULL, 'visited', '{age}', 1);
CALL race_release('r', NULL, '{age}', 1);
CALL race_release('r', 'visited', NULL, 1);
CALL race_release('r', 'visited', '{age}', NULL);
CALL race_release('r', 'nothing', '{age}', 1);
CALL race_release(' ', 'visited', '{age}', 1);
CALL race_release('r', 'visited', '{}', 1);
CALL race_release('r', 'visited', '{age,age}', 1);
CALL race_release('r', 'visited', '{age,NULL}', 1);
CALL race_release('r', 'visited', '{{age,town}}', 1);
CALL race_release('r', 'visited', '{age,toun}', 1);
CALL race_release('r', 'visited', '{AGE}', 1);
CALL race_release('r', 'visited', '{age,ctid}', 1);
CALL race_release('r', 'visited', '{age,pressure,town}', 1);
CALL race_release('r', 'visited', '{age}', -1);
CALL race_release('r', 'visited', '{age}', 1, description => '<b>');
SELECT charges, spent_epsilon FROM race_budget_status WHERE budget = 'visited';
CALL race_describe('visited', 'pressure', 0, 200, step => 10, unit => 'mmHg');
CALL race_release('r', 'visited', '{age,town,pressure,m,"we\"ird é"}', :vast, description => 'All of it');
-- the same again costs nothing
CALL race_release('r', 'visited', '{age,town,pressure,m,"we\"ird é"}', :vast, description => 'All of it');
CALL race_release('r', 'visited', '{age,town}', :vast);
SELECT name,
	version,
	columns,
	units,
	description,
	round(race_count(sketch)) AS count,
	substring(race_params(sketch)::text, 'cells=[0-9,{}]* groups=[0-9,{}]*') AS params
FROM _racepriv.race_releases WHERE name = 'r' \gx
SELECT jsonb_pretty(domains) FROM race_catalog WHERE name = 'r';
SELECT charges, spent_epsilon FROM race_budget_status WHERE budget = 'visited';
CALL race_release_next('r');
-- one column
CALL race_release('one', 'visited', '{age}', :vast);
SELECT columns, round(race_count(sketch)) AS count FROM _racepriv.race_releases WHERE name = 'one';

-- a domain that changes between versions; only what it is, not what is said of it
CALL race_describe('visited', 'age', unit => 'years', description => 'at the visit');
CALL race_release_next('r');
CALL race_describe('visited', 'pressure', 0, 250, step => 10);
CALL race_release_next('r');
CALL race_describe('visited', 'pressure', 0, 200, step => 10);
ALTER TYPE mood ADD VALUE 'glad';
CALL race_release_next('r');
ALTER TABLE visits ALTER m TYPE text, ALTER age TYPE bigint;
CALL race_release_next('r');
ALTER TABLE visits DROP CONSTRAINT visits_age_check;
CALL race_release_next('r');
ALTER TABLE visits DROP age;
CALL race_release_next('r');
CALL race_release_next('one');
SELECT charges, spent_epsilon FROM race_budget_status WHERE budget = 'visited';
SELECT version, round(race_count(race_released('r'))) FROM race_latest_releases WHERE name = 'r';

-- what is hostile
CREATE TABLE hostiles (many text, constant int NOT NULL CHECK (constant = 5),
	nothing int CHECK (nothing BETWEEN 0 AND 3), outside int,
	wide1 int CHECK (wide1 BETWEEN 0 AND 1000), wide2 int CHECK (wide2 BETWEEN 0 AND 1000), "a,b}" boolean,
	"$1" boolean, "--'" boolean, select_ boolean, "SELECT" boolean);
CALL race_protect('hostiles', 'hostiles', 1e9);
CALL race_release('empty', 'hostiles', '{nothing,constant}', 0.001);
INSERT INTO hostiles SELECT 'item ' || i * 53 % 120000, 5, NULL, 1000000 * i FROM generate_series(1, 2000) i;
DO $$
DECLARE
	items text[] := ARRAY(SELECT 'item ' || i FROM generate_series(1, 100000) i);
BEGIN
	CALL race_describe('hostiles', 'many', categories => items);
END $$;
CALL race_describe('hostiles', 'outside', 0, 9);
CALL race_release('many', 'hostiles', '{many,constant,nothing,outside}', :vast);
CALL race_release('odd names', 'hostiles', '{"a,b}",$1,--'',select_,SELECT}', :vast);
SELECT name,
	round(race_count(sketch)) AS count,
	(SELECT string_agg((d->>'cells') || '/' || (d->>'group'), ' ')
		FROM jsonb_array_elements(race_domains(sketch)) d) AS cells
FROM _racepriv.race_releases WHERE name IN ('many', 'odd names') ORDER BY name;
SELECT jsonb_build_array(race_domains(sketch)->0) AS domains FROM _racepriv.race_releases WHERE name = 'many' \gset
SELECT count(*) FILTER (WHERE cell = 100000) AS nulls,
	count(*) FILTER (WHERE cell = 100001) AS others,
	count(DISTINCT cell) AS cells,
	bool_and(cell = 100001 OR 'item ' || cell + 1 = many) AS right
FROM (SELECT many, (_racepriv._race_cells(:'domains', many))[1] AS cell FROM hostiles) c \gx
-- too large, and how large
CALL race_describe('hostiles', 'wide1', 0, 999999, step => 1);
CALL race_describe('hostiles', 'wide1', 0, 999998, step => 1);
DO $$ BEGIN
	FOR i IN 1..50 LOOP
		EXECUTE format('ALTER TABLE hostiles ADD c%s int CHECK (c%1$s BETWEEN 1 AND 900000), '
			'ADD k%1$s int NOT NULL DEFAULT 5 CHECK (k%1$s = 5)',
			i);
		CALL race_describe('hostiles', ('c' || i)::name, step => 1);
	END LOOP;
END $$;
SELECT 'CALL race_release(''large'', ''hostiles'', ''{' || string_agg(format('%s%s', t, i), ',') || '}'', 1)'
FROM unnest('{c,k}'::text[]) t, generate_series(1, 40) i \set ECHO none \gexec
\set ECHO all
SELECT 'CALL race_release(''forty'', ''hostiles'', ''{' || string_agg(format('k%s', i), ',') || '}'', 1)'
FROM generate_series(1, 40) i \set ECHO none \gexec
\set ECHO all
SELECT 'CALL race_release(''hundred'', ''hostiles'', ''{' || string_agg(format('%s%s', t, i), ',') || '}'', 1)'
FROM unnest('{c,k}'::text[]) t, generate_series(1, 50) i \set ECHO none \gexec
\set ECHO all
-- what readers are shown of a type
CREATE TYPE "<img src=x>" AS ENUM ('a');
CREATE TABLE marked_up (m "<img src=x>");
CALL race_protect('marked_up', 'marked_up', 1);
CALL race_release('marked_up', 'marked_up', '{m}', 1);
-- views and partitions
CALL race_protect('plain', 'plain', 1e9);
INSERT INTO logs SELECT 1, (ARRAY['low', 'high', NULL])[1 + i % 3] FROM generate_series(1, 900) i;
CALL race_release('plain', 'plain', '{level,site}', :vast);
CALL race_protect('logs', 'logs', 1e9);
CALL race_release('logs', 'logs', '{site,level}', :vast);
CALL race_protect('by unit', 'hostiles', 1e9, unit_column => 'constant', max_contributions => 7);
CALL race_release('by unit', 'by unit', '{constant,nothing}', :vast);
SELECT n,
	round(race_count(race_released(n))) AS count
FROM unnest('{plain,logs,by unit}'::text[]) n \gx
-- casts that can fail on a row are refused before the charge, also in views of views: those to types without room for
-- all values
CREATE DOMAIN hundredths AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE wages (id int NOT NULL, whole int, large bigint, small smallint, number numeric, cents numeric(8, 2),
	ratio float8, said text, hundredths hundredths,
	at timestamp, double bigint GENERATED ALWAYS AS (whole::bigint * 2) STORED);
INSERT INTO wages SELECT i, i, i, i, i, i, i, i, i, '2026-01-01' FROM generate_series(1, 99) i;
CREATE VIEW cast_wages AS SELECT id, whole::smallint AS r1, large::int AS r2, number::int AS r3,
	number::numeric(5,2) AS r4, ratio::int AS r5, cents::numeric(7,2) AS r6, large::numeric(5,0) AS r7, said::int AS r8,
	whole::hundredths AS r9, round(number)::int AS r10,
	small::int AS a1, cents::int AS a2, cents::numeric(9,1) AS a3, hundredths::smallint AS a4, number::float8 AS a5,
	CASE WHEN number < 1000 THEN number::int END AS a6, extract(year FROM at) AS a7, double AS a8,
	whole::numeric(12,2) AS a9, ratio::numeric AS a10, ratio::real AS a11 FROM wages;
CREATE VIEW of_wages AS SELECT * FROM cast_wages;
SELECT format('{%s}', string_agg(format('"%s": [0, 3000]', attname), ',' ORDER BY attnum)) AS bounds
FROM pg_attribute WHERE attrelid = 'of_wages'::regclass AND attnum > 1 \gset
CALL race_protect('of_wages', epsilon_limit => 1000, unit_column => 'id', max_contributions => 1, columns => :'bounds');
SET client_min_messages = warning;
SELECT format('CALL race_release(%L, ''of_wages'', ''{%s}'', 1)', 'cast ' || attname, attname)
FROM pg_attribute WHERE attrelid = 'of_wages'::regclass AND attnum > 1 ORDER BY attnum \gexec
RESET client_min_messages;
SELECT left(name, 6) AS kind, count(*) FROM race_catalog WHERE name LIKE 'cast %' GROUP BY 1;
SELECT spent_epsilon = 11 AS charged FROM race_budget_status WHERE budget = 'of_wages';
-- bounds whose difference is no double
CREATE TABLE farthest (x numeric(400,0) NOT NULL CHECK (x BETWEEN -1e308 AND 1e308),
	y float8 NOT NULL CHECK (y BETWEEN -1e308 AND 1e308));
CALL race_protect('farthest', epsilon_limit => 1);
CALL race_release('farthest', 'farthest', '{x}', 0.1);
-- beyond 50 columns, groups of numbers are twice as wide where there are more than 32: 64 values, and 65
SET client_min_messages = warning;
DO $$
DECLARE
	n int;
	columns text;
BEGIN
	FOREACH n IN ARRAY '{32,64,65}'::int[] LOOP
		SELECT string_agg(format('c%s int NOT NULL CHECK (c%s BETWEEN 1 AND %s)', i, i, n), ', ') INTO columns
		FROM generate_series(1, 51) i;
		EXECUTE format('CREATE TABLE many_%s (%s)', n, columns);
	END LOOP;
END $$;
CALL race_protect('many_32', epsilon_limit => 1);
CALL race_protect('many_64', epsilon_limit => 1);
CALL race_protect('many_65', epsilon_limit => 1);
SELECT n AS values, sqrt((expected - c * n) / (c * (c - 1) / 2)) AS groups, c AS columns
FROM unnest('{32,64,65}'::int[]) n, unnest('{50,51}'::int[]) c,
	LATERAL race_plan('many_' || n, (SELECT array_agg('c' || i) FROM generate_series(1, c) i), 1) p
WHERE question = 'counters' ORDER BY c, n;
DROP TABLE many_32, many_64, many_65;
RESET client_min_messages;
DROP SCHEMA columns CASCADE;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
