-- Weights: a row stands for as many records as its weight says
\set VERBOSITY terse
SET client_min_messages = warning;

CREATE TABLE surveyed (
	person int, town text CHECK (town IN ('Paris', 'Rome', 'Oslo')), age int CHECK (age BETWEEN 0 AND 99),
	income float8 CHECK (income BETWEEN 0 AND 100), w numeric, seen date DEFAULT '2026-01-01');
INSERT INTO surveyed
SELECT i, (ARRAY['Paris', 'Rome', 'Oslo'])[1 + i % 3], i * 7 % 100, i * 13 % 101, (i % 40) / 2.0
FROM generate_series(1, 600) i;
-- the same, in rows without weights, of twice as many
CREATE TABLE repeated AS
SELECT s.* FROM surveyed s, generate_series(1, (2 * s.w)::int);
ALTER TABLE repeated ADD CHECK (town IN ('Paris', 'Rome', 'Oslo')), ADD CHECK (age BETWEEN 0 AND 99),
	ADD CHECK (income BETWEEN 0 AND 100);
CALL race_protect('surveyed', 'surveyed', epsilon_limit => 1e15, delta_limit => 0.1);
CALL race_protect('repeated', 'repeated', epsilon_limit => 1e15, delta_limit => 0.1, max_contributions => 40);

-- so large an epsilon leaves no noise: half weights are exact, too
CALL race_release('by weight', 'surveyed', '{town,age}', epsilon => 1e12, measure => 'income', weight => 'w',
	weight_max => 20);
CALL race_release('by row', 'repeated', '{town,age}', epsilon => 1e12, measure => 'income');
SELECT (SELECT count::numeric(12, 3) FROM race_count('by weight')) AS weighted,
	(SELECT (count / 2)::numeric(12, 3) FROM race_count('by row')) AS halved,
	(SELECT sum(w) FROM surveyed) AS "true" \gx
SELECT w.value1, w.count::numeric(12, 3) AS weighted, (r.count / 2)::numeric(12, 3) AS halved
FROM race_crosstab('by weight', 'town') w JOIN race_crosstab('by row', 'town') r USING (value1) ORDER BY 1;
SELECT w.value1, w.mean::numeric(9, 4) AS weighted, r.mean::numeric(9, 4) AS repeated,
	(SELECT (sum(s.w * s.income) / sum(s.w))::numeric(9, 4) FROM surveyed s WHERE s.town = w.value1) AS "true"
FROM race_mean('by weight', 'income', by => 'town') w JOIN race_mean('by row', 'income', by => 'town') r USING (value1)
WHERE w.value1 IS NOT NULL ORDER BY 1;

-- rows, grids, labels, moments
CREATE FUNCTION pair(suffix text, sketched race_params, record text, more text) RETURNS TABLE (call text)
LANGUAGE sql AS $$
	SELECT format(E'CALL race_release_sketch(%L, %L,\n\t%L::race_params,\n\t%L, epsilon => 1e12, %s)', d || suffix, d,
		sketched, record,
		concat_ws(', ', more, CASE d WHEN 'surveyed' THEN 'weight => ''w'', weight_max => 20' END))
	FROM unnest('{surveyed,repeated}'::text[]) d
$$;
SELECT pair(' rows', race_params('l2', dims => 1, bandwidth => 20, rows => 64), 'ARRAY[age]',
	'rows => 64, fit => false') \set ECHO none \gexec
\set ECHO all
SELECT pair(' grid', race_params('l2', dims => 1, bandwidth => 20, lower => '{0}', upper => '{99}'), 'ARRAY[age]',
	'fit => false') \set ECHO none \gexec
\set ECHO all
SELECT pair(' towns', race_params('l2', dims => 1, bandwidth => 20, lower => '{0}', upper => '{99}'), 'ARRAY[age]',
	'label => ''town'', labels => ''{Oslo,Paris,Rome}'', calibrate => 0.5') \set ECHO none \gexec
\set ECHO all
SELECT pair(' moments', race_moment_params(lower => '{0,0}', upper => '{99,100}', norm => 2), 'ARRAY[age, income]',
	'delta => 0') \set ECHO none \gexec
\set ECHO all
SELECT w.label,
	round(w.count) AS weighted,
	round(r.count / 2) AS halved,
	abs(race_kde(w.sketch, ARRAY[40]) - race_kde(r.sketch, ARRAY[40])) < 0.001 AS same_density
FROM race_latest_releases w
	JOIN race_latest_releases r ON r.name = replace(w.name, 'surveyed', 'repeated')
		AND r.label IS NOT DISTINCT FROM w.label WHERE w.name IN ('surveyed rows', 'surveyed grid', 'surveyed towns')
ORDER BY w.name, w.label;
SELECT round(w.count) AS weighted,
	round(r.count / 2) AS halved,
	abs((race_covariance(w.sketch, 1, 2)).value - (race_covariance(r.sketch, 1, 2)).value) < 0.1 AS same_covariance
FROM race_latest_releases w, race_latest_releases r
WHERE w.name = 'surveyed moments' AND r.name = 'repeated moments' \gx

-- the same counters as of rows that are repeated, bit by bit, and the same count; weights of 1 wait in a batch,
-- others do not
CREATE FUNCTION counted(sketch race_sketch) RETURNS text LANGUAGE sql AS $$
	SELECT race_count(sketch) || ' ' || encode(substr(b, 81, length(b) - 84), 'hex') FROM _race_sketch_send(sketch) b
$$;
SELECT format($$SELECT %L AS kind,
	counted(_racepriv._race_build_weighted(%L, %s, i %% 4, 4, 0)) = (
		SELECT counted(race_build(%2$L, %3$s))
		FROM generate_series(0, 299) i, generate_series(1, i %% 4)
	) AS same,
	counted(_racepriv._race_build_weighted(%2$L, %3$s, i %% 4, 4, 0))
		= counted(race_build(%2$L, %3$s)) AS control
FROM generate_series(0, 299) i$$, kind, params, x)
FROM (VALUES ('rows', 'l2(dims=2, rows=70, range=8)', 'ARRAY[i % 7, i % 11]::float8[]'),
	('sets', 'jaccard(rows=70, range=8)', 'ARRAY[i, i % 7, i % 11]::int[]'),
	('large sets', 'jaccard(rows=8, range=8)', 'ARRAY(SELECT generate_series(i, i + 700))'),
	('categories', 'match(dims=2, rows=70, range=8)', $$ARRAY['a' || i % 7, 'b' || i % 11]$$),
	('product', 'l2(dims=1, rows=70, range=8) * match(dims=1)', $$ROW(ARRAY[i % 7]::float8[], ARRAY['a' || i % 11])$$),
	('grid', 'l2(dims=2, cells={16,12}, lower={0,0}, upper={9,9}, sequence=grid)', 'ARRAY[i % 7, i % 11]::float8[]'),
	('moments', race_moment_params('{0,0}', '{9,9}')::text, 'ARRAY[i % 7, i % 11]::float8[]'),
	('tables', 'tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,2}})',
		'ARRAY[i % 4, i % 3, i % 6]::float8[]'),
	('measure', 'tables(dims=2, cells={4,2}, groups={{1,0},{0,0},{1,1},{0,0}})',
		'ARRAY[i % 4, i % 4000]::float8[]')) k (kind, params, x) \set ECHO none \gexec
\set ECHO all

-- and the same noise in records, wherever weights have fewer digits to that end; with rows no noisy look chooses cells
SELECT format(E'CALL race_release_sketch(%L, %L, %s,\n\tepsilon => %s, delta => %s%s)', concat(d, kind, e, ' ', delta),
	d, sketched, e, delta, CASE d WHEN 'surveyed' THEN ', weight => ''w'', weight_max => 40' END)
FROM unnest('{surveyed,repeated}'::text[]) d, unnest('{0.01,1}'::text[]) e, unnest('{0,1e-6}'::text[]) delta,
	(VALUES (' noise of moments ', $$race_moment_params('{0}', '{100}', norm => 2, targets => 0), 'ARRAY[income]'$$),
		(' noise of a grid ', $$race_params('l2', 1, 10, lower => '{0}', upper => '{99}'), 'ARRAY[age]',
			rows => 1$$)) k (kind, sketched) \set ECHO none \gexec
\set ECHO all
SELECT split_part(w.name, ' ', 4) AS of,
	n.mechanism,
	count(*),
	min(round((n.counter_noise_stddev / m.counter_noise_stddev)::numeric, 2)) AS least,
	max(round((n.counter_noise_stddev / m.counter_noise_stddev)::numeric, 2)) AS most
FROM race_latest_releases w
	JOIN race_latest_releases r ON r.name = replace(w.name, 'surveyed', 'repeated'), race_info(w.sketch) n,
		race_info(r.sketch) m WHERE w.name LIKE 'surveyed noise%' GROUP BY 1, 2 ORDER BY 1, 2;

-- what is no weight counts as none, what is too large as the largest
CREATE TABLE odd (w float8);
INSERT INTO odd VALUES (NULL), ('NaN'), (-5), ('-Infinity'), (0), ('Infinity'), (1e300), (20), (21), (0.25);
CALL race_protect('odd', 'odd', epsilon_limit => 1e15);
CALL race_release_sketch('odd', 'odd', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1e12, rows => 1, weight => 'w',
	weight_max => 20);
SELECT count FROM race_latest_releases WHERE name = 'odd';

-- the cost is stated for the largest weight, the noise in records
CALL race_release_sketch('with noise', 'odd', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, rows => 1, weight => 'w',
	weight_max => 20);
SELECT noise.epsilon,
	noise.max_contributions,
	round(noise.count_noise_stddev) AS count_noise,
	round(noise.counter_noise_stddev::numeric, 1) AS counter_noise
FROM race_latest_releases, race_info(sketch) noise WHERE name = 'with noise' \gx

-- the ledger has the request, which is the same only with the same weights
SELECT request->>'weight' AS weight, request->>'weight_max' AS weight_max
FROM _racepriv.race_charges WHERE request->>'name' = 'by weight';
SET client_min_messages = notice;
CALL race_release('by weight', 'surveyed', '{town,age}', epsilon => 1e12, measure => 'income', weight => 'w',
	weight_max => 20);
CALL race_release('by weight', 'surveyed', '{town,age}', epsilon => 1e12, measure => 'income', weight => 'w',
	weight_max => 30);
SET client_min_messages = warning;
-- of each type of number, also beyond float8
CREATE DOMAIN weight_in_survey AS numeric CHECK (VALUE < 1e401);
CREATE TABLE typed (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, d weight_in_survey);
INSERT INTO typed
VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL), (-3, -3, -3, -3, -3, -3, -3), (2, 2, 2, 2.5, 2.5, 2.5, 2.5),
	(0, 0, 0, 'NaN', 'NaN', 'NaN', 0),
	(32767, 2147483647, 9223372036854775807, 3e38, 1e308, 1e400::numeric, 1e400::numeric),
	(0, 0, 0, 1e-40::float8, 5e-324, 1e-400::numeric, 1e-400::numeric),
	(0, 0, 0, 'Infinity', 'Infinity', -1e400::numeric, -1e400::numeric), (0, 0, 0, '-Infinity', '-Infinity', 0, 0);
CALL race_protect('typed', 'typed', epsilon_limit => 1e15);
SELECT format(E'CALL race_release_sketch(%L, %L, %L, %L,\n\tepsilon => 1e12, rows => 1, weight => %L, weight_max => 4)',
	'of ' || w, 'typed', 'l2(dims=1)', 'ARRAY[1]', w)
FROM unnest('{i2,i4,i8,f4,f8,n,d}'::text[]) w \set ECHO none \gexec
\set ECHO all
SELECT name, count FROM race_latest_releases WHERE dataset = 'typed' AND name LIKE 'of %' ORDER BY name;
-- no weights at all are an empty release
UPDATE typed SET n = NULL;
CALL race_release_next('of n');
SELECT version, count FROM race_latest_releases WHERE name = 'of n';
UPDATE odd SET w = 1;
CALL race_release_next('odd');
SELECT version, count FROM race_latest_releases WHERE name = 'odd';

-- a person with several rows, labels that nobody has listed, and a series
CREATE TABLE trips AS SELECT i % 50 AS person, 'zone ' || i % 3 AS zone, 5.0::float8 AS w,
	date '2026-01-01' + i % 4 AS day FROM generate_series(1, 400) i;
CALL race_protect('trips', 'trips', epsilon_limit => 1e15, delta_limit => 0.1, unit_column => 'person',
	max_contributions => 4);
CALL race_release_sketch('zones', 'trips', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1e6, delta => 0.01, rows => 1,
	label => 'zone', weight => 'w', weight_max => 10);
SELECT round(sum(r.count)) AS records, min(noise.max_contributions) AS max_contributions
FROM race_latest_releases r, race_info(sketch) noise WHERE name = 'zones';
CALL race_release_sketch('days of trips', 'trips', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1e6, rows => 1, weight => 'w',
	weight_max => 10,
	series => '{"by": "day", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-05"}');
CALL race_release_next('days of trips');
SELECT round((race_info(race_released('days of trips[2026-01-02,2026-01-04)'))).count);

-- the plan: noise is as many times as large as the largest weight
SELECT p.question, round((w.expected / p.expected)::numeric, 2) AS times
FROM race_plan('surveyed', '{town,age}', 1, measure => 'income') p
	JOIN race_plan('surveyed', '{town,age}', 1, measure => 'income', records => 200000,
		weight_max => 20) w USING (question) WHERE p.question LIKE 'count %' ORDER BY 1;
SELECT round((w.expected / p.expected)::numeric, 1) AS times
FROM race_plan('surveyed', '{town}', error => 1000, weight_max => 20) w,
	race_plan('surveyed', '{town}', error => 1000) p WHERE w.unit = 'the whole release' AND p.unit = w.unit;
SELECT * FROM race_plan('surveyed', '{town}', 1, weight_max => 0);
SELECT * FROM race_plan('surveyed', '{town}', 1, weight_max => 2000000000);

-- errors come before the charge
CALL race_release_sketch('bad', 'odd', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => 'w');
CALL race_release_sketch('bad', 'odd', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight_max => 20);
CALL race_release_sketch('bad', 'odd', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => 'w', weight_max => 0);
CALL race_release_sketch('bad', 'repeated', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => 'w',
	weight_max => 2000000000);
CALL race_release_sketch('bad', 'surveyed', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => 'town', weight_max => 20);
CALL race_release_sketch('bad', 'surveyed', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => 'seen', weight_max => 20);
CALL race_release_sketch('bad', 'surveyed', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => '''2''',
	weight_max => 20);
CALL race_release_sketch('bad', 'odd', 'l2(dims=1)', 'ARRAY[1]', epsilon => 1, weight => 'max(w)', weight_max => 20);
SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = 'bad';

-- an exact sketch of records with weights knows it, so that it cannot get noise that is too small
CREATE TABLE exact AS SELECT _racepriv._race_build_weighted('l2(dims=1)', ARRAY[1], 3, 4, 2) AS sketch;
SELECT race_privatize(sketch, 1) FROM exact;
SELECT race_privatize(_racepriv._race_build_weighted('l2(dims=1)', NULL::float8[], 3, 4, 2), 1);
SELECT _racepriv._race_build_weighted('l2(dims=1)', ARRAY[1], 3, -4, 2);
SELECT _racepriv._race_build_weighted('l2(dims=1)', ARRAY[1], 3, 4, 40);
SELECT _racepriv._race_build_weighted('l2(dims=1)', ARRAY[1], 3, 4, NULL);
SELECT race_share(sketch, 1, 1e-6, 3) FROM exact;
SELECT sketch + (SELECT race_build('l2(dims=1)', ARRAY[1])) FROM exact;
SELECT (race_info(sketch + sketch)).count,
	(sketch + sketch)::text = (sketch + sketch)::text::race_sketch::text AS round_trip
FROM exact;

DROP FUNCTION pair, counted;
DROP TABLE surveyed, repeated, odd, trips, exact, typed;
DROP DOMAIN weight_in_survey;
