-- the front door: releases by columns, asked by names and plain values.  With so large an epsilon there is no noise.
\set SHOW_CONTEXT never
CREATE SCHEMA front;
SET search_path = front, public;
CREATE TABLE guests (
	age int CHECK (age BETWEEN 0 AND 99), town text CHECK (town IN ('Paris', 'Rome', 'Oslo')) NOT NULL, smoker boolean,
		pressure float8 CHECK (pressure BETWEEN 50 AND 250) NOT NULL,
	day date CHECK (day BETWEEN '2026-01-01' AND '2026-12-31') NOT NULL, rooms int CHECK (rooms IN (1, 2, 4)) NOT NULL);
INSERT INTO guests
SELECT CASE WHEN i % 50 > 0 THEN (i * 7) % 100 END, ('{Paris,Rome,Oslo}'::text[])[1 + (i * 7) % 100 / 20 % 3],
	CASE i % 10 WHEN 9 THEN NULL ELSE i % 10 < 3 END, 80 + (i * 7) % 100 + (i % 30), date '2026-01-01' + i % 365,
	CASE WHEN i % 2 = 0 THEN 1 ELSE 4 END
FROM generate_series(0, 19999) i;
CALL race_protect('guests', 'guests', 1e12);
SET client_min_messages = warning;
CALL race_release('guests all', 'guests', '{age,town,smoker,pressure,day,rooms}', 1e9);
CALL race_release('guests short', 'guests', '{age,town,pressure}', 1e9);
CALL race_release('guests dark', 'guests', '{age,town,smoker}', 1e-5);
CALL race_release_sketch('front age', 'guests', 'l2(dims=1, bandwidth=5, lower={0}, upper={100})', 'ARRAY[age]', 1000);
CALL race_release_sketch('front moments', 'guests', race_moment_params('{0,50}', '{100,250}', targets => 1),
	'ARRAY[age, pressure]', 1e6, columns => '{age,pressure}');
RESET client_min_messages;

-- means: of all, by a column, by two, of some.  Whole numbers of type float8 count as the middle of [x, x + 1).
SELECT m.value1,
	m.value2,
	abs(m.mean - t.mean) < 0.01 AS right,
	t.mean BETWEEN m.lower - 1e-3 AND m.upper + 1e-3 AS inside,
	round(m.count) AS count,
	m.source
FROM race_mean('guests all', 'age') m, (SELECT avg(age) AS mean FROM guests) t \gx
SELECT m.value1,
	abs(m.mean - t.mean) < 0.6 AS near,
	t.mean BETWEEN m.lower - 1e-3 AND m.upper + 1e-3 AS inside,
	round(m.count) AS count,
	m.source
FROM race_mean('guests short', 'pressure', 'town') m JOIN (
	SELECT town, avg(pressure) AS mean FROM guests GROUP BY town
) t ON t.town = m.value1 ORDER BY m.value1;
SELECT m.value1,
	abs(m.mean - t.mean) < 0.01 AS right,
	t.mean BETWEEN m.lower - 1e-3 AND m.upper + 1e-3 AS inside,
	round(m.count) AS count
FROM race_mean('guests all', 'smoker', 'town') m JOIN (
	SELECT town, avg(smoker::int) AS mean FROM guests GROUP BY town
) t ON t.town = m.value1 ORDER BY m.value1;
SELECT m.value1, m.value2, t.mean BETWEEN m.lower - 1e-3 AND m.upper + 1e-3 AS inside
FROM race_mean('guests all', 'pressure', '{smoker,rooms}') m JOIN (
	SELECT smoker, rooms, avg(pressure) AS mean FROM guests GROUP BY 1, 2
) t ON t.smoker IS NOT DISTINCT FROM m.value1::boolean AND t.rooms::text = m.value2 ORDER BY m.value1, m.value2;
SELECT count(*),
	count(mean),
	count(*) FILTER (WHERE t.n > 0) AS groups,
	bool_and(abs(mean - t.avg) < 2.5) AS near,
	bool_and(t.avg BETWEEN lower AND upper) AS inside
FROM race_mean('guests short', 'pressure', ARRAY['age'], '{"town": "Rome"}') m,
	LATERAL (
		SELECT count(*) AS n, avg(pressure)
		FROM guests
		WHERE town = 'Rome' AND age >= split_part(trim(value1, '[)'), ',', 1)::int
			AND age < split_part(trim(value1, '[)'), ',', 2)::int
	) t \gx
SELECT abs(mean - 2.5) < 0.01 AS right FROM race_mean('guests all', 'rooms');
SELECT count(*), bool_and(mean IS NULL OR upper - lower > 50) AS wide FROM race_mean('guests dark', 'age', 'town');

-- quantiles
SELECT q.p, q.value = t.value AS right, q.value BETWEEN q.lower AND q.upper AS inside, q.text
FROM race_quantiles('guests all', 'age') q,
	LATERAL (SELECT percentile_disc(q.p) WITHIN GROUP (ORDER BY age) AS value FROM guests) t;
SELECT abs(q.value - t.value) < 1 AS near, t.value BETWEEN q.lower AND q.upper AS inside
FROM race_quantiles('guests all', 'pressure', '{0.1,0.5,0.9}') q,
	LATERAL (SELECT percentile_cont(q.p) WITHIN GROUP (ORDER BY pressure) AS value FROM guests) t;
SELECT q.text, t.value BETWEEN date '2000-01-01' + q.lower::int AND date '2000-01-01' + q.upper::int AS inside
FROM race_quantiles('guests all', 'day', '{0.5}') q,
	LATERAL (SELECT percentile_disc(q.p) WITHIN GROUP (ORDER BY day) AS value FROM guests) t;
SELECT t.value BETWEEN q.lower AND q.upper AS inside
FROM race_quantiles('guests short', 'age', ARRAY[0.1, 0.5], '{"town": ["Rome", "Oslo"]}') q,
	LATERAL (SELECT percentile_disc(q.p) WITHIN GROUP (ORDER BY age) AS value FROM guests WHERE town <> 'Paris') t;
SELECT count(*), bool_and(value IS NULL OR upper - lower > 50) AS wide
FROM race_quantiles('guests dark', 'age', '{0.5,NULL}');
SELECT abs(value - 50) < 2 AS near FROM race_quantiles('front age', p => '{0.5}');
SELECT count BETWEEN lower AND upper AS inside, round(count / 100) AS hundreds, source FROM race_count('front age');
SELECT race_mean(NULL, NULL), race_quantiles(NULL), race_histogram(NULL, NULL), race_trend(NULL, NULL, NULL),
	race_correlation(NULL::text), race_classify(NULL, NULL, NULL::jsonb);

-- histograms: integers between integer edges are counted exactly
SELECT h.value,
	abs(h.count - t.n) < 0.5 AS right,
	t.n BETWEEN h.lower - 0.5 AND h.upper + 0.5 AS inside,
	abs(h.density - t.n / 19600.0 / (h.high - h.low)) < 1e-4 AS density,
	h.source
FROM race_histogram('guests all', 'age', '{0,18,20,65,100}') h,
	LATERAL (SELECT count(*) AS n FROM guests WHERE age >= h.low AND age < h.high) t;
SELECT bool_and(abs(h.count - t.n) < 0.5) AS right,
	count(*),
	min(low),
	max(high)
FROM race_histogram('guests all', 'age', bins => 7) h,
	LATERAL (SELECT count(*) AS n FROM guests WHERE age >= h.low AND age < h.high) t \gx
SELECT count(*), min(value), max(value), round(sum(count)) AS count FROM race_histogram('guests all', 'age');
SELECT count(*) FROM race_histogram('guests all', 'age', '10');
SELECT value, round(count) AS count, low, round(density::numeric, 4) AS share FROM race_histogram('guests all', 'town');
SELECT value, abs(h.count - t.n) < 0.5 AS right
FROM race_histogram('guests all', 'day', '{2026-03-01,2026-04-01,2026-06-15}') h,
	LATERAL (
		SELECT count(*) AS n
		FROM guests WHERE day >= date '2000-01-01' + low::int AND day < date '2000-01-01' + high::int
	) t;
SELECT bool_and(t.n BETWEEN h.lower - 0.5 AND h.upper + 0.5) AS inside
FROM race_histogram('guests all', 'pressure', ARRAY[80, 99.37, 130.01, 250]) h,
	LATERAL (SELECT count(*) AS n FROM guests WHERE pressure >= h.low AND pressure < h.high) t;
SELECT bool_and(t.n BETWEEN h.lower - 0.5 AND h.upper + 0.5) AS inside, count(*)
FROM race_histogram('guests short', 'age', '{17,23,38,41}', '{"town": "Rome"}') h,
	LATERAL (SELECT count(*) AS n FROM guests WHERE age >= h.low AND age < h.high AND town = 'Rome') t;
SELECT count(*), round(sum(count)) BETWEEN 19500 AND 19700 AS all FROM race_histogram('front age', '1', bins => 10);

-- charts: curves, heat maps, trends
SELECT abs(sum(density * width) - 1) < 1e-6 AS one, bool_and(density BETWEEN lower AND upper) AS inside, min(x), max(x)
FROM (SELECT *, coalesce(lead(x) OVER (ORDER BY x) - x, 1) AS width FROM race_curve('guests all', 'age', 200)) c;
SELECT count(*), abs(sum(count_per_unit * 200 / 40) - 20000) < 0.5 AS all FROM race_curve('guests all', 'pressure', 64);
SELECT count(*), bool_and(x BETWEEN 20 AND 60) AS inside FROM race_curve('guests all', 'age', lower => 20, upper => 60);
SELECT bool_and(density < 1e-6) AS nobody
FROM race_curve('guests short', 'age', "where" => '{"town": "Oslo"}') WHERE x > 60 OR x < 35;
SELECT count(*), abs(sum(density * 5) - 0.2 / (t.high - t.low)) < 1 AS sums
FROM race_heatmap('guests short', 'age', 'pressure') h, (VALUES (50, 55)) t (low, high) GROUP BY t.low, t.high;
SELECT count(*), bool_and(density > 0) AS dense
FROM race_heatmap('guests short', 'age', 'pressure') WHERE x2 BETWEEN 90 + x1 AND 100 + x1;
SELECT count(*) BETWEEN 9 AND 25 AS few,
	abs(sum(density * (h.width1 * h.width2)) - 1) < 0.2 AS all,
	bool_and(density BETWEEN lower - 1e-6 AND upper + 1e-6) AS inside
FROM race_heatmap('guests short', 'age', 'pressure', 5), (SELECT 20 AS width1, 43.75 AS width2) h \gx
SELECT count(*) > 0 AS some, bool_and(x1 BETWEEN 20 AND 60 AND x2 >= 100) AS inside
FROM race_heatmap('guests short', 'age', 'pressure', lower => '{20,100}', upper => '{60,250}');
SELECT count(*), count(mean), corr(mean, x) > 0.99 AS rises, min(value)
FROM race_trend('guests short', 'pressure', 'age');
SELECT count(*), min(value), max(value) FROM race_trend('guests all', 'age', 'day');
-- a year of dates has its months, numbers have round ranges
SELECT h.value, round(h.count) = t.n AS right, h.source
FROM race_histogram('guests all', 'day') h JOIN (
	SELECT date_trunc('month', day) AS month, count(*) AS n FROM guests GROUP BY 1
) t ON h.value LIKE to_char(t.month, '[YYYY-MM-DD,%') ORDER BY t.month;
SELECT count(*), min(high - low), max(high - low), bool_and(source = 'measured') AS measured
FROM race_histogram('guests all', 'pressure');

-- classes, correlations
SELECT c.value, abs(c.probability - t.p) < 0.01 AS right, abs(c.prior - t.prior) < 0.001 AS prior
FROM race_classify('guests all', 'town', '{"age": 70}') c JOIN (
	SELECT town, avg((age = 70)::int) / sum(avg((age = 70)::int)) OVER () AS p, count(*) / 20000.0 AS prior
	FROM guests GROUP BY town
) t ON t.town = c.value ORDER BY c.value COLLATE "C";
SELECT value,
	probability > prior AS surer,
	probability BETWEEN lower AND upper AS inside
FROM race_classify('guests short', 'town', jsonb '{"pressure": 106, "age": "[0,20)"}') LIMIT 1 \gx
SELECT count(*), abs(sum(probability) - 1) < 1e-9 AS one FROM race_classify('guests all', 'age', '{"smoker": true}');
SELECT column1,
	column2,
	abs(correlation - t.corr) < 0.03 AS near,
	t.corr BETWEEN lower AND upper AS inside
FROM race_correlation('guests short'), (SELECT corr(age, pressure) FROM guests) t \gx

SELECT r."column",
	abs(r.coefficient - t.c) < t.tolerance AS near,
	t.c BETWEEN r.lower AND r.upper AS inside,
	r.upper - r.lower < 100 * t.tolerance AS narrow
FROM race_regress('guests short', 'pressure', '{age}') r JOIN (
	SELECT 'age' AS name, regr_slope(pressure, age) AS c, 0.03 AS tolerance
	FROM guests
	UNION ALL SELECT 'intercept', regr_intercept(pressure, age), 2 FROM guests
) t ON t.name = r."column";
SELECT "column", coefficient IS NOT NULL AS known FROM race_regress('guests all', 'pressure');
SELECT r."column", abs(r.coefficient - t.c) < t.tolerance AS near, r.coefficient BETWEEN r.lower AND r.upper AS inside
FROM race_regress('front moments', 'pressure', '{age}') r JOIN (
	SELECT 'age' AS name, regr_slope(pressure, age) AS c, 0.03 AS tolerance
	FROM guests
	UNION ALL SELECT 'intercept', regr_intercept(pressure, age), 2 FROM guests
) t ON t.name = r."column";
SELECT count(*) AS columns, bool_and(coefficient IS NOT NULL) AS known FROM race_regress('front moments', '2');
SELECT race_regress('front age', '1');
SET client_min_messages = warning;
CALL race_release('guests noisy', 'guests', '{age,pressure}', 1);
RESET client_min_messages;
SELECT bool_and(a.upper - a.lower > b.upper - b.lower AND a.coefficient = b.coefficient) AS wider
FROM race_regress('guests noisy', 'pressure', '{age}', 0.999999) a
	JOIN race_regress('guests noisy', 'pressure', '{age}') b USING ("column");

-- dates, times and intervals are told as such beside their numbers
CREATE TABLE shifts (day date CHECK (day BETWEEN '2026-01-01' AND '2026-12-31') NOT NULL,
	"at" timestamptz NOT NULL CHECK ("at" BETWEEN '2026-05-01 00:00Z' AND '2026-05-03 00:00Z'),
	wait interval NOT NULL CHECK (wait BETWEEN '0' AND '60 hours'), size int NOT NULL CHECK (size BETWEEN 0 AND 9));
INSERT INTO shifts
SELECT date '2026-01-01' + i * i % 300, timestamptz '2026-05-01 10:00Z' + i % 2000 * interval '1 minute',
	i % 50 * interval '1 hour', i % 7
FROM generate_series(1, 5000) i;
SET client_min_messages = warning;
CALL race_protect('shifts', epsilon_limit => 1e12);
CALL race_release('shifts', 'shifts', '{day,at,wait,size}', 1e9);
RESET client_min_messages;
SET timezone = 'UTC';
SELECT count(*) > 10 AS places, bool_and(text::date = date '2000-01-01' + floor(x)::int) AS dates
FROM race_curve('shifts', 'day');
SELECT count(*) > 10 AS places,
	bool_and(abs(extract(epoch FROM text::timestamptz - '2000-01-01 00:00Z') - x::numeric) < 1e-3) AS times
FROM race_curve('shifts', 'at');
SELECT count(*) > 10 AS places, bool_and(abs(extract(epoch FROM text::interval) - x::numeric) < 1e-3) AS intervals
FROM race_curve('shifts', 'wait');
SELECT bool_and(text::float8 = x) AS numbers FROM race_curve('shifts', 'size');
SELECT bool_and(text::float8 = x AND x BETWEEN 10 AND 80) AS numbers FROM race_curve('front age', '1', 5, 10, 80);
SELECT count(*) > 10 AS cells,
	bool_and(text1::date = date '2000-01-01' + floor(x1)::int AND text2::float8 = x2) AS dates
FROM race_heatmap('shifts', 'day', 'size', 10);
SELECT bool_and(text::date = date '2000-01-01' + value::int AND lower_text::date = date '2000-01-01' + lower::int
	AND upper_text::date = date '2000-01-01' + upper::int) AS dates
FROM race_quantiles('shifts', 'day');
SELECT bool_and(text::float8 = value) AS numbers, count(lower_text) + count(upper_text) AS others
FROM race_quantiles('shifts', 'size');
SELECT bool_and(t.mean BETWEEN m.lower_text::interval - '1 s'::interval AND m.upper_text::interval
		+ '1 s'::interval) AS inside,
	bool_and(abs(extract(epoch FROM t.mean - m.text::interval)) < 2000) AS near
FROM race_mean('shifts', 'wait') m, (SELECT avg(wait) AS mean FROM shifts) t;
SELECT count(*), count(text) AS texts, count(lower_text) + count(upper_text) AS others FROM race_mean('shifts', 'size');
SELECT bool_and(text::timestamptz BETWEEN lower_text::timestamptz AND upper_text::timestamptz) AS times
FROM race_trend('shifts', 'at', 'day');
SELECT "column", bool_and(text IS NULL OR lower_text <= text AND text <= upper_text) AS dated
FROM race_modes('shifts') WHERE "column" IN ('day', 'at') GROUP BY 1 ORDER BY 1;
SELECT count(lower_text) FROM race_modes('shifts') WHERE "column" = 'size';
RESET timezone;

-- modes, unusual records, what a release is, and its export
SELECT m."column",
	m.mode,
	t.n AS records_there,
	m.x BETWEEN m.lower AND m.upper AS inside,
	m.prominence <= m.density AS less
FROM race_modes('guests all', 1) m,
	LATERAL (
		SELECT count(*) > 0 AS n
		FROM guests
		WHERE CASE m."column" WHEN 'age' THEN age BETWEEN m.lower AND m.upper
			WHEN 'rooms' THEN rooms BETWEEN m.lower AND m.upper WHEN 'day' THEN day = m.text::date
			ELSE pressure BETWEEN m.lower AND m.upper END
	) t;
CREATE TABLE humps (x float8 NOT NULL CHECK (x BETWEEN 0 AND 100), y float8 NOT NULL CHECK (y BETWEEN 0 AND 1));
INSERT INTO humps
SELECT CASE WHEN i % 3 = 0 THEN 25 ELSE 70 END + 12 * sin(i) * cos(i * 0.37), i % 1000 / 1000.0
FROM generate_series(1, 6000) i;
SET client_min_messages = warning;
CALL race_protect('humps', epsilon_limit => 1e12);
CALL race_release('humps', 'humps', '{x,y}', 1e9);
RESET client_min_messages;
SELECT "column",
	mode,
	abs(x - 70) < 3 AS upper_hump,
	abs(x - 25) < 3 AS lower_hump,
	round(density::numeric, 2) > 0.02 AS dense
FROM race_modes('humps');
SELECT o.point,
	abs(o.share - t.share) < 0.05 AS right,
	o.share BETWEEN o.lower AND o.upper AS inside,
	abs(o.frequency - t.frequency) < 0.02 AS frequency
FROM race_outliers('guests short', '[{"town": "Oslo"}, {"town": "Rome"}, {"town": "Paris"}]') o,
	LATERAL (SELECT ('{0,0.2,0.6}'::float8[])[o.point] AS share, ('{0.2,0.4,0.4}'::float8[])[o.point] AS frequency) t
WHERE o.point < 2 \gx
SELECT share < 0.01 AS unusual,
	typicality < 0.1 AS rare,
	upper < 0.05 AS surely
FROM race_outliers('guests short', jsonb '{"age": 5, "pressure": 240}') \gx
SELECT share > 0.01 AS usual FROM race_outliers('guests short', '{"age": 5, "pressure": 95}');
SELECT point, kernel_density > 0 AS dense FROM race_outliers('front age', ARRAY[50.0]);
SELECT kernel, status, count FROM race_info('guests short');
SELECT number, column1, column2, count(*), abs(sum(count) - 20000) < 1 AS all
FROM race_export('guests short') WHERE number < 5 GROUP BY 1, 2, 3 ORDER BY 1;
SELECT max(abs(e.count - t.n)) < 0.01 AS right
FROM race_export('guests short') e JOIN (SELECT town, count(*) AS n FROM guests GROUP BY 1) t ON e.value1 = t.town
	AND e.number = 2;
SELECT count(*) > 1 AS points,
	abs(sum(count) - 19600) < 50 AS all,
	min(column1) AS name
FROM race_export('front age', 'points') \gx
SELECT race_modes(NULL), race_outliers(NULL, '{}'), race_info(NULL::text), race_export(NULL);
SELECT count(*) FROM race_modes('guests dark');

-- versions: the same table, then one in which a column is another
SET client_min_messages = warning;
CALL race_release_next('guests short');
CREATE TABLE moved AS SELECT count(*) / 20000.0 AS share FROM guests WHERE town = 'Rome' AND age > 50;
UPDATE guests SET town = 'Oslo' WHERE town = 'Rome' AND age > 50;
CALL race_release_next('guests short');
RESET client_min_messages;
SELECT version,
	round(count) AS count,
	abs(distance) < 1e-3 AS same,
	p_value < 0.001 AS changed,
	abs(distance - sqrt(2 * share ^ 2 / 3)) < 1e-3 AS right
FROM race_versions('guests short'), moved;

-- what the schema does not say is said when the table is protected, or nothing of it is
CREATE TABLE told (age int, town text, day date NOT NULL);
CALL race_protect('told', epsilon_limit => 1, columns => '[1]');
CALL race_protect('told', epsilon_limit => 1, columns => '{"age": 5}');
CALL race_protect('told', epsilon_limit => 1, columns => '{"age": [0, 99], "twon": ["Rome"]}');
CALL race_protect('told', epsilon_limit => 1, columns => '{"age": [99, 0]}');
SELECT count(*) FROM race_columns WHERE dataset = 'told';
CALL race_protect('told', epsilon_limit => 1,
	columns => '{"age": [0, 99], "town": ["Rome", "Paris"], "day": ["2026-01-01", "2026-12-31"]}');
SELECT column_name, kind, lower, upper, categories, source FROM race_columns WHERE dataset = 'told';

-- plans, which read no data
SELECT question, expected > 0 AS known, unit FROM race_plan('guests', '{age,town,pressure}', 1);
SELECT abs(max(expected) FILTER (WHERE question LIKE 'count of one value%') - 20) < 0.1 AS as_asked
FROM race_plan('guests', '{age,town}', error => 20);
SELECT bool_and(p.expected > q.expected) AS less
FROM race_plan('guests', '{age,town}', 1) p JOIN race_plan('guests', '{age,town}', 2) q USING (question)
WHERE p.unit = 'records';
SELECT count(*) FROM race_plan(NULL, '{age}', 1);
SELECT question, expected > 0 AS known, unit
FROM race_plan('guests', '{age,town,smoker}', 1, measure => 'pressure', workload => '{age*town*smoker,age*town}')
WHERE question ~ 'three|pressure|smoker';
SELECT question
FROM race_plan('guests', '{age,town,smoker}', 1, label => 'smoker') p
	JOIN race_plan('guests', '{age,town,smoker}', 1) q USING (question) WHERE question LIKE 'count of one value%'
ORDER BY p.expected / q.expected LIMIT 1;
SELECT question, expected, unit
FROM race_plan('guests', '{age,town,smoker}', 1, measure => 'pressure', workload => '{age*town*smoker,smoker*age*town}')
WHERE question IN ('counters', 'memory');
CALL race_release('guests planned', 'guests', '{age,town,smoker}', 1, measure => 'pressure',
	workload => '{age*town*smoker}');

-- forty wrong inputs, and what is answered
CREATE FUNCTION answered(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
BEGIN
	EXECUTE call;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || ' ' || message || E'\n' || hint;
END $$;
\pset format unaligned
SELECT i.input, answered('SELECT * FROM ' || i.input) FROM unnest(ARRAY[
	$$race_count('guest all')$$, $$race_count('Guests All')$$, $$race_mean('guests alll', 'age')$$,
	$$race_curve('guests al', 'age')$$, $$race_synthesize(NULL::guests, 'guest all', 5)$$,
	$$race_count('nothing like any of them')$$, $$race_mean('guests all', 'agee')$$,
	$$race_mean('guests all', 'age', 'twon')$$, $$race_mean('guests all', 'town')$$,
	$$race_mean('guests all', 'age', '{town,smoker,rooms}')$$,
	$$race_mean('guests all', 'age', '{town')$$, $$race_mean('guests all', 'age', 'town', '{"town": "Berlin"}')$$,
	$$race_mean('guests all', 'age', NULL, '{"citty": "Rome"}')$$, $$race_mean('front age', 'age')$$,
	$$race_mean('guests all', 'age', confidence => 95)$$,
	$$race_count('guests all', '{"age": "thirty"}')$$, $$race_count('guests all', '{"age": [40, "x"]}')$$,
	$$race_count('guests all', '{"smoker": "maybe"}')$$, $$race_count('guests all', '{"pressure": 120}')$$,
	$$race_count('guests all', '["town"]')$$,
	$$race_count('guests all', 'town = Rome')$$, $$race_count('front age', '{"age": 3}')$$,
	$$race_crosstab('guests all', 'town', 'smokers')$$, $$race_crosstab('front age', 'age')$$,
	$$race_quantiles('guests all', 'town')$$, $$race_quantiles('guests all', '7')$$,
	$$race_quantiles('guests all', 'age', '{50}')$$, $$race_quantiles('front age', '1', '{0.5}', '{"age": 3}')$$,
	$$race_histogram('guests all', 'age', '{10}')$$, $$race_histogram('guests all', 'age', '{20,10}')$$,
	$$race_histogram('guests all', 'age', '{a,b}')$$, $$race_histogram('guests all', 'town', '{1,2}')$$,
	$$race_histogram('guests all', 'age', bins => 0)$$,
	$$race_histogram('guests all', 'age', '{1,2}', bins => 3)$$,
	$$race_histogram('guests all', 'day', '{someday,2027-01-01}')$$,
	$$race_histogram('front age', '1', '{1,2}', '{"age": 3}')$$,
	$$race_curve('guests all', 'town')$$, $$race_curve('guests all', 'age', 0)$$,
	$$race_heatmap('guests all', 'age', 'town')$$, $$race_heatmap('guests all', 'age', 'weight')$$,
	$$race_trend('guests all', 'age', 'town')$$, $$race_trend('guests all', 'town', 'age')$$,
	$$race_classify('guests all', 'town', '{"age": "x"}')$$, $$race_classify('guests all', 'nothing', '{"age": 3}')$$,
	$$race_classify('guests all', 'town', '{age: 3}')$$,
	$$race_plan('guests', '{age}')$$, $$race_plan('guests', '{age}', 0)$$,
	$$race_plan('guests', '{age}', error => -1)$$, $$race_plan('guests', '{agee}', 1)$$,
	$$race_plan('guest', '{age}', 1)$$, $$race_plan('guests', '{note}', 1, records => 0)$$,
	$$race_plan('guests', '{age}', 1, label => 'town')$$,
	$$race_plan('guests', '{age,town}', 1, workload => '{age*twon}')$$,
	$$race_plan('guests', '{age,town}', 1, workload => '{age}')$$,
	$$race_plan('guests', '{age}', 1, measure => 'town')$$,
	$$race_modes('guests al')$$, $$race_modes('guests all', 0)$$, $$race_modes('guests all', label => 'Rome')$$,
	$$race_curve('guests all', 'age', smoothing => 1)$$, $$race_heatmap('guests all', 'age', 'pressure', 1)$$,
	$$race_versions('guest all')$$, $$race_kde('guests all', '{1}')$$, $$race_outliers('guests all', '{"agee": 3}')$$,
	$$race_outliers('guests all', '{"age": "[30,70)"}')$$, $$race_outliers('guests all', 'Rome')$$,
	$$race_info('guests al')$$, $$race_export('guests al')$$, $$race_export('guests all', 'csv')$$,
	$$race_export('guests all', 'points')$$, $$race_export('front age', 'tables')$$,
	$$race_correlation('front age')$$, $$race_regress('guests all', 'pressure', '{town}')$$,
	$$race_regress('guests all', 'pressure', '{agee}')$$, $$race_regress('guests all', 'age', '{age}')$$,
	$$race_synthesize(1, 'guests all', 5)$$,
	$$race_synthesize(NULL::guests, 'guests all', -5)$$]) WITH ORDINALITY i (input, place) ORDER BY i.place;
\pset format aligned

-- no lines of the extension's own beside an error, and those of the caller
\set SHOW_CONTEXT always
SELECT race_count('guest all');
SELECT race_curve('guests all', 'town');
SELECT race_regress('guests all', 'agee');
SELECT race_quantiles('guests all', 'age', '{5}');
DO $$ BEGIN PERFORM race_mean('guests all', 'agee'); END $$;
\set SHOW_CONTEXT never

DROP SCHEMA front CASCADE;
-- a measure: means from the parts of cells, where it is NULL too
CREATE TABLE measured (town text NOT NULL CHECK (town IN ('Paris', 'Rome')),
	age int NOT NULL CHECK (age BETWEEN 0 AND 99),
	pressure float8 CHECK (pressure BETWEEN 80 AND 200));
INSERT INTO measured SELECT CASE WHEN i % 3 = 0 THEN 'Paris' ELSE 'Rome' END, i % 100,
	CASE WHEN i % 11 > 0 THEN 100 + i % 40 + i % 3 * 5 END FROM generate_series(1, 3300) i;
CALL race_protect('measured', epsilon_limit => 1e12);
CALL race_release('no number', 'measured', '{town}', 1, measure => 'town');
CALL race_release('no column', 'measured', '{town}', 1, measure => 'pulse');
CALL race_release('no label', 'measured', '{town}', 1, measure => 'pressure', label => 'age');
CALL race_release('measured', 'measured', '{town,age}', 1e9, measure => 'pressure', label => 'town');
CALL race_release('both', 'measured', '{town,age,pressure}', 1e9, measure => 'pressure');
SELECT m.value1,
	abs(m.mean - e.mean) < 0.02 AND m.lower <= m.mean AND m.mean <= m.upper AS right,
	round(m.count) = e.count AS counted,
	source
FROM race_mean('measured', 'pressure', 'town') m JOIN (
	SELECT town, avg(pressure) AS mean, count(*) FROM measured GROUP BY 1
) e ON e.town = m.value1 ORDER BY 1;
SELECT abs(m.mean - (SELECT avg(pressure) FROM measured)) < 0.02 AS all,
	(
		SELECT count(*)
		FROM race_mean('measured', 'pressure', '{town,age}') t JOIN (
			SELECT town, format('[%s,%s)', age / 2 * 2, age / 2 * 2 + 2) AS ages, avg(pressure) AS mean
			FROM measured GROUP BY 1, 2
		) e ON e.town = t.value1 AND e.ages = t.value2 AND abs(e.mean - t.mean) < 0.02 AND t.source = 'measured'
	) AS both
FROM race_mean('measured', 'pressure') m;
SELECT abs(mean - (SELECT avg(pressure) FROM measured WHERE pressure >= 100 AND pressure < 120)) < 0.5 AS right
FROM race_mean('both', 'pressure', "where" => '{"pressure": "[100,120)"}');
SELECT count(*) AS quantiles FROM race_quantiles('both', 'pressure');
SELECT count(*) > 0 AS places FROM race_curve('both', 'pressure');
SELECT race_histogram('measured', 'pressure');
CALL race_release_next('measured');
ALTER TABLE measured DROP CONSTRAINT measured_pressure_check;
CALL race_release_next('measured');
DROP TABLE measured;

-- what says too little, or nothing, is told so; at this confidence noise alone says something in 1e-13 of runs
CREATE TABLE scarce (x int CHECK (x BETWEEN 5 AND 5), y float8 CHECK (y BETWEEN 0 AND 1), site int NOT NULL);
CALL race_protect('scarce', 'scarce', 1e12, 1e-3);
CALL race_describe('scarce', 'site', categories => '{1,2}');
CALL race_release('scarce empty', 'scarce', '{x,y,site}', 1);
INSERT INTO scarce SELECT 5, i % 10 / 10.0, i % 4 FROM generate_series(0, 9999) i;
CALL race_release('scarce', 'scarce', '{x,y,site}', 1e6);
SELECT count(*) > 0 AS places, count(density) AS known FROM race_curve('scarce empty', 'y', confidence => 1 - 1e-13);
SELECT count(*) AS values, count(probability) AS known, count(prior) AS priors
FROM race_classify('scarce empty', 'site', '{"y": 0.5}', confidence => 1 - 1e-13);
SELECT column1, column2, correlation FROM race_correlation('scarce') WHERE column1 = 'x';
SELECT race_regress('scarce', 'y', '{x}');
SELECT race_heatmap('scarce', 'y', 'y');
-- other values of a NOT NULL column become its categories, each as often as it is
CREATE TABLE scarce_rows (LIKE scarce);
INSERT INTO scarce_rows SELECT * FROM race_synthesize(NULL::scarce_rows, 'scarce', 8000);
SELECT site, abs(count(*) - 4000) < 400 AS half FROM scarce_rows GROUP BY site ORDER BY site;
DROP TABLE scarce, scarce_rows;
