-- answers of releases by columns.  With so large an epsilon there is no noise: counts are exact.
\set SHOW_CONTEXT never
CREATE SCHEMA table_answers;
SET search_path = table_answers, public;
CREATE TYPE size AS ENUM ('small', 'large');
CREATE TABLE visits (
	age int CHECK (age BETWEEN 0 AND 120), town text CHECK (town IN ('Paris', 'Rome', 'Oslo')) NOT NULL, smoker boolean,
		pressure float8 CHECK (pressure BETWEEN 50 AND 250) NOT NULL,
	day date CHECK (day BETWEEN '2026-01-01' AND '2026-12-31') NOT NULL, size size NOT NULL, code text NOT NULL,
	note text);
INSERT INTO visits
SELECT CASE WHEN i % 50 > 0 THEN i % 100 END, ('{Paris,Rome,Oslo}'::text[])[1 + i % 3],
	CASE i % 10 WHEN 9 THEN NULL ELSE i % 10 < 3 END, 100 + i % 100 + (i % 2) * 30, date '2026-01-01' + i % 365,
	CASE WHEN i % 2 = 0 THEN 'small' ELSE 'large' END::size, chr(97 + i % 5), 'private'
FROM generate_series(0, 9999) i;
SET datestyle = 'ISO';
CALL race_protect('visits', 'visits', 1e12, 1e-3);
CALL race_describe('visits', 'code', categories => '{a,b,c}');
CALL race_release('answers all', 'visits', '{age,town,smoker,size,code}', 1e9);
CALL race_release('answers pressure', 'visits', '{pressure,size}', 1e9);
CALL race_release('answers day', 'visits', '{day,size}', 1e9);

-- counts
CREATE FUNCTION counted("where" jsonb, condition text, release text DEFAULT 'answers all') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	c record;
BEGIN
	EXECUTE 'SELECT count(*) FROM visits WHERE ' || condition INTO n;
	c := race_count(release, "where");
	RETURN format('%s: %s %s', n,
		CASE WHEN abs(c.count - n) < 1 THEN 'right' WHEN n BETWEEN c.lower AND c.upper THEN 'near'
			ELSE c.count::text END, c.source);
END $$;
SELECT counted('{}', 'true');
SELECT counted('{"age": "[30,40)"}', 'age >= 30 AND age < 40');
SELECT counted('{"age": "(,40)"}', 'age < 40'), counted('{"age": "[40,)"}', 'age >= 40'),
	counted('{"age": 7}', 'age = 7');
SELECT counted('{"age": null}', 'age IS NULL'), counted('{"smoker": null}', 'smoker IS NULL'),
	counted('{"smoker": [true, null]}', 'smoker IS NOT FALSE');
SELECT counted('{"smoker": true}', 'smoker'), counted('{"smoker": "false"}', 'NOT smoker');
SELECT counted('{"town": "Rome"}', 'town = ''Rome'''),
	counted('{"town": ["Rome", "Paris", "Rome"]}', 'town <> ''Oslo''');
SELECT counted('{"size": "large"}', 'size = ''large'''), counted('{"code": ["a", "c"]}', 'code IN (''a'', ''c'')');
SELECT counted('{"day": "[2026-03-01,2026-04-01)"}', 'day >= ''2026-03-01'' AND day < ''2026-04-01''',
		'answers day'), counted('{"day": "2026-12-31"}', 'day = ''2026-12-31''', 'answers day');
SELECT counted('{"size": "large", "pressure": "[150,250)"}', 'size = ''large'' AND pressure >= 150',
	'answers pressure');
SELECT counted('{"size": "large", "code": "b", "town": "Oslo"}',
	'size = ''large'' AND code = ''b'' AND town = ''Oslo''');
SELECT counted('{"age": "[200,300)"}', 'age >= 200'), counted('{"age": "[30,30)"}', 'false'),
	counted('{"town": []}', 'false');
SELECT counted('{"age": "[40,30)"}', 'false');

-- other values have a cell, whose name is that of no category
SELECT counted('{"code": "other"}', 'code > ''c'''), counted('{"code": ["a", "other"]}', 'code NOT IN (''b'', ''c'')');
CREATE TABLE kinds AS SELECT (ARRAY['other', 'other', 'other', 'x', NULL, 'y', 'y'])[1 + i % 7] AS kind,
	i % 2 = 0 AS even FROM generate_series(0, 6999) i;
CALL race_protect('kinds', 'kinds', 1e12, 1e-3);
CALL race_describe('kinds', 'kind', categories => '{other,x}');
CALL race_release('answers kinds', 'kinds', '{kind,even}', 1e9);
SELECT value1, round(c.count) AS count, round(n.count) AS asked, e.count = c.count AS exported
FROM race_crosstab('answers kinds', 'kind') c
	JOIN race_export('answers kinds') e USING (value1),
		race_count('answers kinds', jsonb_build_object('kind', value1)) n WHERE e.number = 1;
SELECT value1, round(count) AS count FROM race_crosstab('answers kinds', 'kind', 'even') WHERE value2 = 'true';
SELECT kind, abs(count(*) - 3000) < 50 AS like_other, abs(count(*) - 1000) < 50 AS like_x
FROM race_synthesize(NULL::kinds, 'answers kinds', 7000) GROUP BY kind ORDER BY kind;
SELECT race_count('answers kinds', '{"kind": "y"}');

-- tables of three columns that are asked for: they answer questions about two of them, too, if there is no table of
-- these
CALL race_release('answers three', 'visits', '{age,town,smoker,size,code}', 1e9,
	workload => '{code*town * size, town*smoker}');
SELECT counted('{"size": "large", "code": "b", "town": "Oslo"}',
		'size = ''large'' AND code = ''b'' AND town = ''Oslo''', 'answers three'),
	counted('{"size": "large", "code": ["b", "c"], "town": ["Oslo", "Rome"]}',
		'size = ''large'' AND code IN (''b'', ''c'') AND town <> ''Paris''', 'answers three'),
	counted('{"size": "large", "smoker": true, "town": "Oslo"}', 'size = ''large'' AND smoker AND town = ''Oslo''',
		'answers three');
CREATE TABLE sums (a int NOT NULL CHECK (a BETWEEN 0 AND 15), b int NOT NULL CHECK (b BETWEEN 0 AND 15),
	c int NOT NULL CHECK (c BETWEEN 0 AND 15), d int CHECK (d BETWEEN 0 AND 1000));
INSERT INTO sums SELECT i % 16, i / 16 % 16, (i + i / 16) % 16, i % 1000 FROM generate_series(1, 40960) i;
CALL race_protect('sums', 'sums', 1e12, 1e-3);
CALL race_release('answers sums', 'sums', '{a,b,c}', 1000, 1e-9, measure => 'd', workload => '{a*b*c,a*b}');
SELECT bool_and(abs(x.count - 160 * (c = (a + b) % 16)::int) < 10 AND x.source = 'measured') AS right
FROM generate_series(0, 15, 5) a, generate_series(1, 15, 7) b, generate_series(0, 15) c,
	LATERAL race_count('answers sums', jsonb_build_object('a', a, 'b', b, 'c', c)) x;
SELECT bool_and(abs(count - 160) < 40 AND source = 'measured') AS right, count(*)
FROM race_crosstab('answers sums', 'c', 'a');
SELECT abs(mean - 8) < 0.2 AS near, source FROM race_mean('answers sums', 'c', "where" => '{"a": 3, "b": 5}');
SELECT abs(mean - 2) < 0.2 AS near,
	abs(count - 160) < 10 AS right,
	source
FROM race_mean('answers sums', 'a', "where" => '{"b": 3, "c": 5}') \gx
SELECT abs(m.mean - t.mean) < 10 AS near,
	abs(count - 160) < 10 AS right,
	source
FROM race_mean('answers sums', 'd', "where" => '{"a": 3, "b": 5, "c": 8}') m,
	(SELECT avg(d) AS mean FROM sums WHERE a = 3 AND b = 5) t \gx
-- of a label, those whose columns tell it together, and not each by itself
CREATE TABLE parities (a int NOT NULL CHECK (a BETWEEN 0 AND 15), b int NOT NULL CHECK (b BETWEEN 0 AND 15),
	c int NOT NULL CHECK (c BETWEEN 0 AND 15), odd boolean NOT NULL);
INSERT INTO parities SELECT i % 16, i / 16 % 16, i / 256 % 16, (i + i / 16) % 2 = 1 FROM generate_series(1, 40960) i;
CALL race_protect('parities', epsilon_limit => 1e6, delta_limit => 1e-3);
CALL race_release('answers parities', 'parities', '{a,b,c,odd}', 1000, 1e-9, label => 'odd');
CALL race_release('answers no label', 'parities', '{a,b,c,odd}', 1000, 1e-9);
SELECT release, bool_and(abs(x.count - 160 * (odd = ((a + b) % 2 = 1))::int) < 10) AS right
FROM unnest('{answers parities,answers no label}'::text[]) release, generate_series(0, 15, 5) a,
	generate_series(1, 15, 7) b, (VALUES (true), (false)) o (odd),
	LATERAL race_count(release, jsonb_build_object('a', a, 'b', b, 'odd', odd)) x GROUP BY release
ORDER BY release COLLATE "C";

-- an array is a set, of every column; a range is PostgreSQL's, with either end in it or not
SELECT counted('{"age": [30, 40]}', 'age IN (30, 40)'), counted('{"age": [7]}', 'age = 7'),
	counted('{"age": []}', 'false'), counted('{"age": ["[30,40]", 50]}', 'age BETWEEN 30 AND 40 OR age = 50');
SELECT counted('{"age": "[30,40]"}', 'age BETWEEN 30 AND 40'), counted('{"age": "(30,40)"}', 'age > 30 AND age < 40'),
	counted('{"age": "(,30]"}', 'age <= 30');
SELECT counted('{"age": "[30,30]"}', 'age = 30'), counted('{"age": "(30,31)"}', 'false'),
	counted('{"age": "[ 30 , 40 )"}', 'age >= 30 AND age < 40');
SELECT counted('{"day": "[2026-03-01,2026-03-31]"}', 'day BETWEEN ''2026-03-01'' AND ''2026-03-31''',
		'answers day'),
	counted('{"day": ["2026-03-01", "2026-03-31"]}', 'day IN (''2026-03-01'', ''2026-03-31'')', 'answers day'),
	counted('{"day": "(\"2026-03-01\",)"}', 'day > ''2026-03-01''', 'answers day');

-- what cannot be asked
SELECT race_count('nothing of the kind');
SELECT race_count('answers all', '{"agee": 1}');
SELECT race_count('answers all', '{"town": "Roma"}');
SELECT race_count('answers all', '{"town": {"a": 1}}');
SELECT race_count('answers all', '{"town": null}');
SELECT race_count('answers all', '{"code": "d"}');
SELECT race_count('answers all', '{"age": "x"}');
SELECT race_count('answers all', '{"age": "NaN"}');
SELECT race_count('answers all', '{"age": true}');
SELECT race_count('answers all', '{"age": [1, {"a": 2}]}');
SELECT race_count('answers all', '{"age": "[1,2"}');
SELECT race_count('answers all', '{"age": "[1;2)"}');
SELECT race_count('answers all', '{"age": "[1,2,3)"}');
SELECT race_count('answers all', '{"age": "[1,x)"}');
SELECT race_count('answers all', '{"age": "[2,1]"}');
SELECT race_count('answers pressure', '{"pressure": [150]}');
SELECT race_count('answers day', '{"day": "[2026-02-01,2026-01-01)"}');
SELECT race_count('answers all', '{"age": {}}');
SELECT race_count('answers pressure', '{"pressure": 100}');
SELECT race_count('answers pressure', '{"pressure": null}');
SELECT race_count('answers day', '{"day": ["tomorrow", "someday"]}');
SELECT race_count('answers all', '[]');
SELECT race_count('answers all', confidence => 1);
-- NULL, and releases that were not made by columns
SELECT race_crosstab(NULL, 'town');
SELECT race_crosstab('answers all', NULL);
SELECT race_crosstab('answers all', 'town', NULL, NULL);
SELECT race_synthesize(NULL::visits, NULL, 1);
SELECT race_synthesize(NULL::visits, 'answers all', NULL);
SELECT race_synthesize(NULL::visits, 'answers all', 1, NULL);
CALL race_release_sketch('answers plain', 'visits', 'tables(dims=1, cells={2}, groups={{1},{0},{1},{0}})',
	'ARRAY[smoker::int]', 1e6);
SELECT race_count('answers plain');
SELECT race_crosstab('answers plain', 'town');
SELECT race_synthesize(NULL::visits, 'answers plain', 1);
SELECT race_count(NULL) IS NULL, race_count('answers all', NULL) IS NULL;
SELECT count(*)
FROM race_synthesize(NULL::visits, NULL, 5)
UNION ALL SELECT count(*) FROM race_synthesize(NULL::visits, 'answers all', NULL)
UNION ALL SELECT count(*) FROM race_crosstab(NULL, NULL);
SELECT race_crosstab('answers all', 'none');
SELECT race_crosstab('answers all', 'town', 'none');
SELECT race_crosstab('answers all', 'town', 'size', 'NaN');
SELECT race_kde(race_released('answers all'), '{1,2,3,4,5}'::float8[]);
SELECT race_count('answers all', '{}') IS NOT NULL, race_count(race_released('answers all')) = 10000;

-- tables of one and two columns
SELECT value1, value2, round(count) AS count, source FROM race_crosstab('answers all', 'town');
SELECT value1, value2, round(count) AS count, source FROM race_crosstab('answers all', 'smoker', 'size');
SELECT value1, value2, round(count) AS count, source FROM race_crosstab('answers all', 'size', 'smoker');
SELECT value1, round(count) AS count FROM race_crosstab('answers all', 'code');
SELECT value1, round(count) AS count
FROM race_crosstab('answers all', 'age') WHERE count > 100.5 OR value1 IS NULL OR value1 LIKE '12%';
SELECT count(*), sum(count)::int, min(value1), max(value1)
FROM race_crosstab('answers pressure', 'pressure') WHERE count > 0.5;
SELECT count(*), count(*) FILTER (WHERE abs(x.count - t.n) > 5) AS wrong
FROM race_crosstab('answers pressure', 'pressure', 'size') x,
	LATERAL (
		SELECT count(*) AS n
		FROM visits
		WHERE size::text = value2 AND pressure >= split_part(trim(value1, '[)'), ',', 1)::float8
			AND pressure < split_part(trim(value1, '[)'), ',', 2)::float8
	) t;
SELECT count(*) FILTER (WHERE value1 LIKE '[%' AND abs(x.count - t.n) > 1) AS wrong, count(*)
FROM race_crosstab('answers day', 'day', 'size') x,
	LATERAL (
		SELECT count(*) AS n
		FROM visits
		WHERE size::text = value2 AND day::text >= substr(value1, 2, 10) AND day::text < substr(value1, 13, 10)
	) t;
SELECT count(*) FROM race_crosstab('answers all', 'town', 'town');

-- synthetic rows
CREATE TABLE synthetic AS SELECT * FROM race_synthesize(NULL::visits, 'answers all', 10000);
SELECT count(*),
	count(note) AS notes,
	count(DISTINCT town) AS towns,
	avg(age) BETWEEN 49 AND 52 AS ages,
	count(day) AS days,
	abs(count(*) FILTER (WHERE size = 'large') - 5000) < 50 AS large,
	abs(count(*) FILTER (WHERE smoker) - 3000) < 50 AS smokers,
	abs(count(*) FILTER (WHERE age IS NULL) - 200) < 50 AS nulls,
	count(code) AS codes,
	abs(count(*) FILTER (WHERE code = 'a') - 3333) < 250 AS a
FROM synthetic \gx
SELECT abs(avg(pressure) FILTER (WHERE size = 'large') - (
		SELECT avg(pressure) FROM visits WHERE size = 'large'
	)) < 2 AS means,
	avg(pressure) BETWEEN 162 AND 167 AS pressures
FROM race_synthesize(NULL::visits, 'answers pressure', 10000);
SELECT min(day), max(day) FROM race_synthesize(NULL::visits, 'answers day', 10000);
SELECT bool_and(a = b) AS same
FROM race_synthesize(NULL::visits, 'answers all', 10, 7) WITH ORDINALITY a (age, town, smoker, pressure, day, size,
	code, note, i)
	JOIN race_synthesize(NULL::visits, 'answers all', 10, 7) WITH ORDINALITY b (age, town, smoker, pressure, day, size,
		code, note, i) USING (i);
CREATE TYPE other_types AS (age numeric, town varchar(2), day timestamp, pressure int);
SELECT count(*), count(day) FROM race_synthesize(NULL::other_types, 'answers day', 10);
CREATE TYPE narrow AS (age smallint, pressure real, day text, nothing int);
SELECT count(*), count(nothing), min(length(day)) FROM race_synthesize(NULL::narrow, 'answers day', 10);
CREATE TYPE too_narrow AS (pressure real, day smallint);
CREATE TYPE no_day AS (town date);
\set VERBOSITY sqlstate
SELECT race_synthesize(NULL::too_narrow, 'answers day', 10);
SELECT race_synthesize(NULL::no_day, 'answers all', 10);
\set VERBOSITY default
CREATE TABLE larger (n int CHECK (n BETWEEN 0 AND 100000));
CALL race_protect('larger', 'larger', 1e9);
CALL race_release('answers larger', 'larger', '{n}', 1);
CREATE TYPE smaller AS (n smallint);
SELECT race_synthesize(NULL::smaller, 'answers larger', 10);
CREATE TYPE no_columns AS (x int);
SELECT race_synthesize(NULL::no_columns, 'answers all', 10);
SELECT race_synthesize(1, 'answers all', 10);
SELECT race_synthesize(NULL::visits, 'answers all', -1);
SELECT count(*) FROM race_synthesize(NULL::visits, 'answers all', 0);

-- one column; no rows; no noise that could be larger
CALL race_release('answers one', 'visits', '{town}', 1e9);
SELECT value1, round(count) AS count, source FROM race_crosstab('answers one', 'town');
SELECT round(count) AS count, source FROM race_count('answers one');
SELECT count(*) FROM race_synthesize(NULL::visits, 'answers one', 5);
CREATE TABLE nobody (LIKE visits INCLUDING ALL);
CALL race_protect('nobody', 'nobody', 1e12);
CALL race_release('answers nobody', 'nobody', '{age,town,smoker}', 1e9);
SELECT round(count) AS count,
	lower,
	round(upper) AS upper
FROM race_count('answers nobody', '{"town": "Rome", "smoker": true}') \gx
SELECT count(*) FROM race_synthesize(NULL::visits, 'answers nobody', 5);
CALL race_release('answers dark', 'visits', '{age,town,smoker}', 1e-3);
SELECT count_noise_stddev > 20000 AND counter_noise_stddev > 1000 AS noisy
FROM race_info(race_released('answers dark'));
-- of few tables, noise without a delta is less
CREATE TABLE flags AS SELECT i % 2 = 0 AS a, i % 3 = 0 AS b, i % 5 = 0 AS c, i % 7 = 0 AS d, i % 11 = 0 AS e,
	i % 13 = 0 AS f, i % 17 = 0 AS g, i % 19 = 0 AS h, i % 23 = 0 AS i, i % 29 = 0 AS j FROM generate_series(1, 9000) i;
CALL race_protect('flags', epsilon_limit => 100, delta_limit => 1e-3);
CALL race_release('answers delta', 'flags', '{a,b,c,d,e,f,g,h,i,j}', 10, 1e-9);
CALL race_release('answers pure', 'flags', '{a,b}', 10, 1e-9);
SELECT name, delta FROM race_catalog WHERE name IN ('answers delta', 'answers pure') ORDER BY name;
SELECT abs(count - 3000) < 200 AS right, source FROM race_count('answers delta', '{"b": true}');
SELECT bool_and(p.expected = q.expected) AS same
FROM race_plan('flags', '{a,b}', 1, 1e-9) p JOIN race_plan('flags', '{a,b}', 1) q USING (question);
SELECT bool_and(p.expected < q.expected) AS less
FROM race_plan('flags', '{a,b,c,d,e,f,g,h,i,j}', 1, 1e-9) p
	JOIN race_plan('flags', '{a,b,c,d,e,f,g,h,i,j}', 1) q USING (question) WHERE question LIKE 'count of one cell%';

-- a column may have the name of a variable; records without a value do not narrow the bounds of a mean.  In the event
-- f is 0.05, which no pair of columns tells
CREATE TABLE letters (s boolean NOT NULL, t text CHECK (t = 'a'), f float8 CHECK (f BETWEEN 0 AND 1));
INSERT INTO letters SELECT s, t, CASE WHEN i % 10 = 0 THEN CASE WHEN s = (t IS NULL) THEN 0.05 ELSE 0.95 END END
FROM generate_series(1, 5000) i, (VALUES (true), (false)) a (s), (VALUES ('a'), (NULL)) b (t);
CALL race_protect('letters', 'letters', 1e12);
CALL race_release('answers letters', 'letters', '{s,t,f}', 1e9);
SELECT m.value1, mean BETWEEN lower AND upper AS ordered, lower <= 0.05 AND upper >= 0.95 AS wide, source
FROM race_mean('answers letters', 'f', 't', '{"s": true}') m;
SELECT count(*), count(s) AS known FROM race_synthesize(NULL::letters, 'answers letters', 100);

-- the same counters whatever the plan
CREATE TABLE counted AS SELECT race_build('tables(dims=2, cells={5,7}, groups={{1,2},{0,1},{1,1},{0,1}})',
	ARRAY[i % 5, i % 7]) AS s FROM generate_series(1, 10000) i;
SELECT race_merge(p)::text = (SELECT s::text FROM counted) AS same
FROM (
	SELECT race_build('tables(dims=2, cells={5,7}, groups={{1,2},{0,1},{1,1},{0,1}})', ARRAY[i % 5, i % 7]) AS p
	FROM generate_series(1, 10000) i GROUP BY i % 11
) g;
-- ------------------------------------------------------------ blocks of cells
-- Of even numbers and little epsilon, 4 of 200 cells are one block; a look says otherwise in less than one of 10,000
-- releases, and of four of them less than once in 10^16.  With much epsilon there is no look.
CREATE TABLE even (x float8 NOT NULL CHECK (x BETWEEN 0 AND 1), n int NOT NULL CHECK (n BETWEEN 0 AND 99));
INSERT INTO even SELECT (i % 200 + 0.5) / 200, i % 100 FROM generate_series(0, 1999) i;
CALL race_protect('even', 'even', 1e6);
DO $$ BEGIN
	FOR i IN 1 .. 4 LOOP
		CALL race_release('even ' || i, 'even', '{x}', 0.1);
	END LOOP;
END $$;
CALL race_release('even, much', 'even', '{x,n}', 1e4);
SELECT min(c.ranges) AS blocks, (SELECT count(*) FROM race_crosstab('even, much', 'x')) AS cells
FROM generate_series(1, 4) i, LATERAL (SELECT count(*) AS ranges FROM race_crosstab('even ' || i, 'x')) c;
-- a part of a block is not measured; quantiles and curves are of blocks
SELECT w."where",
	bool_or(c.source = 'measured') AS measured,
	bool_and(c.lower <= c.count AND c.count <= c.upper) AS within
FROM unnest('{"{\"x\": \"[0.12,0.5)\"}","{\"x\": \"[0.12,0.501)\"}"}'::jsonb[]) w ("where"), generate_series(1, 4) i,
	LATERAL race_count('even ' || i, w."where") c WHERE (SELECT count(*) FROM race_crosstab('even ' || i, 'x')) = 50
GROUP BY 1 ORDER BY 1;
SELECT min(q.n) AS quantiles, min(k.n) AS places FROM generate_series(1, 4) i,
	LATERAL (SELECT count(*) AS n FROM race_quantiles('even ' || i, 'x') WHERE lower <= value AND value <= upper) q,
	LATERAL (SELECT count(*) AS n FROM race_curve('even ' || i, 'x')) k;
-- ------------------------------------------------------------ values of a known step are points
CREATE TABLE prices (
	p numeric(4,2) NOT NULL CHECK (p BETWEEN 0 AND 1), q numeric(5,2) NOT NULL CHECK (q BETWEEN 0 AND 100));
INSERT INTO prices SELECT (i % 101 * (i % 3)) % 101 / 100.0, i % 5000 / 50.0 FROM generate_series(1, 10000) i;
CALL race_protect('prices', 'prices', 1e12);
CALL race_release('prices', 'prices', '{p,q}', 1e9);
SELECT abs(m.mean - t.mean) < 1e-4 AS right, m.upper - m.lower < 1e-3 AS narrow
FROM race_mean('prices', 'p') m, (SELECT avg(p) AS mean FROM prices) t;
-- where cells have several, their middle
SELECT abs(m.mean - t.mean) < 0.01 AS right, m.upper - t.mean > 0.2 AND t.mean - m.lower > 0.2 AS wide
FROM race_mean('prices', 'q') m, (SELECT round(avg(q), 3) AS mean FROM prices) t;
SELECT q.value = t.value AS right, q.lower = q.value AND q.upper = q.value AS one
FROM race_quantiles('prices', 'p', '{0.1,0.5,0.9}') q,
	LATERAL (SELECT percentile_disc(q.p) WITHIN GROUP (ORDER BY p) AS value FROM prices) t;
SELECT round(c.count) = t.n AS right, c.source FROM race_count('prices', '{"p": 0.29}') c,
	(SELECT count(*) AS n FROM prices WHERE p = 0.29) t;
SELECT round(c.count) = t.n AS right, c.source FROM race_count('prices', '{"p": "[0.285,0.575)"}') c,
	(SELECT count(*) AS n FROM prices WHERE p BETWEEN 0.285 AND 0.575) t;
SELECT count FROM race_count('prices', '{"p": 0.295}');
SELECT min(value1), max(value1), count(*) FROM race_crosstab('prices', 'p');
SELECT value, source FROM race_histogram('prices', 'p', bins => 3);
SELECT bool_and(x::numeric = round(x::numeric, 2)) AS multiples FROM race_curve('prices', 'p', 200);
CREATE TABLE synthetic_prices (p float8, q float8);
SELECT bool_and(p::numeric = round(p::numeric, 2)) AS multiples, max(p), count(DISTINCT p)
FROM race_synthesize(NULL::synthetic_prices, 'prices', 10000);
-- whole degrees in cells of a half are at the edges of cells, others are anywhere in them
CREATE TABLE degrees (
	whole float8 NOT NULL CHECK (whole BETWEEN -40 AND 60), other float8 NOT NULL CHECK (other BETWEEN -40 AND 60));
INSERT INTO degrees SELECT i % 40 - 10, (i % 1000) / 10.0 - 40 + 0.05 FROM generate_series(1, 10000) i;
CALL race_protect('degrees', 'degrees', 1e12);
CALL race_release('degrees', 'degrees', '{whole,other}', 1e9);
SELECT c AS "column", abs(m.mean - t.mean) < 0.01 AS right, m.lower < t.mean AND t.mean < m.upper AS inside
FROM (SELECT avg(whole) AS whole, avg(other) AS other FROM degrees) a, LATERAL (
	VALUES ('whole', a.whole), ('other', a.other)
) t (c, mean), race_mean('degrees', t.c) m;
CREATE TABLE synthetic_degrees (whole float8, other float8);
SELECT avg((whole = floor(whole))::int) > 0.95 AS whole, avg((other = floor(other * 2) / 2)::int) < 0.1 AS other
FROM race_synthesize(NULL::synthetic_degrees, 'degrees', 1000);
-- ranges of whole numbers are of the whole numbers between their ends
SELECT round(a.count) = round(b.count) AS same
FROM race_count('even, much', '{"n": "[9.5,19.5)"}') a, race_count('even, much', '{"n": "[10,20)"}') b;
DROP SCHEMA table_answers CASCADE;
