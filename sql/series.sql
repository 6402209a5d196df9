-- series: releases of intervals of time for one charge
SET client_min_messages = warning;
SET timezone = 'Asia/Tokyo';
\set VERBOSITY terse
CREATE TABLE stream (person int, made_at timestamptz, age int CHECK (age BETWEEN 0 AND 9),
	town text NOT NULL CHECK (town IN ('Rome', 'Oslo')), x real[]);
INSERT INTO stream
SELECT i % 50, timestamptz '2026-01-01 00:00+00' + i * interval '1 hour', i % 10,
	CASE WHEN i % 3 = 0 THEN 'Rome' ELSE 'Oslo' END, ARRAY[i % 10, i % 7]
FROM generate_series(0, 24 * 75 - 1) i;
CALL race_protect('stream', 'stream', 1e9, 1e-3);

-- the whole is charged once; the same request again costs nothing, and nothing is read
CALL race_release('days', 'stream', '{age,town}', 1e5,
	series => '{"by": "made_at", "every": "1 day", "starting": "2026-01-01", "until": "2026-12-31 12:00"}');
CALL race_release('days', 'stream', '{age,town}', 1e5,
	series => '{"by": "made_at", "every": "1 d", "starting": "Jan 1 2026", "until": "2026-12-31 12:00"}');
CALL race_release('days', 'stream', '{age,town}', 1e5,
	series => '{"by": "made_at", "every": "1 day", "starting": "2026-01-01", "until": "2027-12-31"}');
SELECT count(*),
	sum(epsilon) AS epsilon,
	min(jsonb_pretty((request->'series') - 'basis'::text)) AS series
FROM _racepriv.race_charges WHERE request->>'name' = 'days' \gx
SELECT count(*) FROM _racepriv.race_releases WHERE name = 'days';
BEGIN;
CALL race_release_next('days');
ROLLBACK;

-- a shorter one, all of whose intervals are over
CALL race_release('short', 'stream', '{age,town}', 1e5,
	series => '{"by": "made_at", "every": "1 day", "lengths": 9, "starting": "2026-01-01", "until": "2026-03-17"}');
CALL race_release_next('short');
CALL race_release_next('short');
SELECT upper(during) - lower(during) AS length,
	count(*),
	min(lower(during)),
	max(upper(during)),
	count(DISTINCT charge) AS charges
FROM _racepriv.race_releases WHERE name = 'short' GROUP BY 1 ORDER BY 1;

-- what a period has, and what it costs
SELECT p.period,
	abs(c.count - e.count) < 0.5 AS counted,
	abs(t.count - e.town) < 0.5 AS paired,
	abs(m.mean - e.mean) < 0.01 AS mean,
	e.count,
	i.epsilon <= 1e5 AND i.epsilon > 5e4 AS cost
FROM (VALUES ('short', '-infinity'::timestamptz, 'infinity'::timestamptz),
		('short[2026-01-05,2026-01-06)', '2026-01-05 00:00+00', '2026-01-06 00:00+00'),
		('short [2026-01-03,2026-02-11)', '2026-01-03 00:00+00', '2026-02-11 00:00+00'),
		('short[,2026-03-07)', '-infinity', '2026-03-07 00:00+00'),
		('short[2026-02-28,)', '2026-02-28 00:00+00', 'infinity')) p (period, low, high)
	CROSS JOIN LATERAL race_count(p.period) c
	CROSS JOIN LATERAL race_count(p.period, '{"age": "[3,7)", "town": "Rome"}') t
	CROSS JOIN LATERAL race_mean(p.period, 'age') m CROSS JOIN LATERAL race_info(p.period) i
	CROSS JOIN LATERAL (SELECT count(*),
		count(*) FILTER (WHERE age BETWEEN 3 AND 6 AND town = 'Rome') AS town,
		avg(age) AS mean
		FROM stream WHERE made_at >= p.low AND made_at < p.high) e;
SELECT count(*),
	min(value),
	max(value),
	round(sum(count)) AS records,
	round(avg(mean)::numeric, 1) AS mean
FROM race_trend('short[2026-01-05,2026-01-15)', 'age', 'during') \gx
SELECT x, value FROM race_trend('short[2026-01-05,2026-01-07)', 'age', 'during') ORDER BY 1;
SELECT version, time FROM race_versions('short[2026-01-05,2026-01-07)');
SELECT race_label('short[2026-01-05,2026-01-07)') = race_label('short') AS label;
SELECT count(*) FROM race_curve('short[2026-01-05,2026-01-15)', 'age');
SELECT value1, round(count) FROM race_crosstab('short[2026-01-05,2026-01-06)', 'town');
SELECT name, version, during, round(count) FROM race_catalog WHERE name = 'short';
SELECT race_count('short[2026-01-05,2026-03-18)');
SELECT race_count('short[2026-01-05 12:00,2026-03-07)');
SELECT race_count('short[2026-01-05,2026-01-06]');
SELECT race_count('short[2026-01-05,x)');
SELECT race_count('shorter[2026-01-05,2026-01-06)');
CALL race_release('once', 'stream', '{age,town}', 1e5);
SELECT race_trend('once', 'age', 'during');

-- a value costs its part alone: noise is that of a release with half of epsilon, or of rho
CALL race_release_sketch('line', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 0.9, rows => 16,
	series => '{"by": "made_at", "every": "1 day", "lengths": 9, "starting": "2026-01-01", "until": "2026-01-26"}');
CALL race_release_sketch('half', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 0.45, rows => 16);
CALL race_release_sketch('gaussian', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 0.9, 1e-6, label => 'town',
	labels => '{Rome,Oslo}',
	series => '{"by": "made_at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-26"}');
CALL race_release_sketch('all', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 0.9, 1e-6);
CALL race_release_sketch('moments', 'stream', race_moment_params('{0,0}', '{9,6}'), 'x', 1e5,
	series => '{"by": "made_at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-26"}');
CALL race_release_sketch('grid', 'stream', 'l2(dims=1, lower={0}, upper={9}, bandwidth=2)', 'ARRAY[x[1]]', 1e5,
	series => '{"by": "made_at", "every": "1 day", "lengths": 1, "starting": "2026-01-01", "until": "2026-01-26"}');
CALL race_release_next('line');
CALL race_release_next('gaussian');
CALL race_release_next('moments');
CALL race_release_next('grid');
-- where a length costs epsilon, it has four values at least; rho, one.  With a delta, few counters get pure noise
CALL race_release('spared', 'stream', '{age}', 1, 1e-6,
	series => '{"by": "made_at", "every": "1 day", "starting": "2026-01-01", "until": "2026-03-17"}');
SELECT request->>'name' AS name,
	request->'series'->>'intervals' AS intervals,
	request->'series'->>'lengths' AS lengths,
	delta > 0 AS delta
FROM _racepriv.race_charges WHERE dataset = 'stream' AND request->'series' IS NOT NULL
ORDER BY request->>'name' COLLATE "C";
SELECT count(*),
	min(time),
	max(time),
	count(distance) AS distances,
	max(epsilon) <= 0.9 AS cost
FROM race_versions('line') \gx
SELECT race_refreshes_left('line'), race_refreshes_left('short');
SELECT name, count(DISTINCT version) FROM _racepriv.race_releases WHERE name IN ('line', 'grid') GROUP BY 1 ORDER BY 1;
SELECT abs((race_info(a.sketch)).counter_noise_stddev / i.counter_noise_stddev - 1) < 0.01 AS noise,
	(race_info(a.sketch)).epsilon / i.epsilon BETWEEN 1.99 AND 2.01 AS cost
FROM _racepriv.race_releases a, race_info('half') i WHERE a.name = 'line' AND a.version = 1;
SELECT (race_info(a.sketch)).counter_noise_stddev / i.counter_noise_stddev / sqrt(2) BETWEEN 0.99 AND 1.01 AS noise,
	(race_info(a.sketch)).rho / i.rho BETWEEN 0.99 AND 1.01 AS cost
FROM _racepriv.race_releases a, race_info('all') i WHERE a.name = 'gaussian' AND a.version = 1;
SELECT race_classify('gaussian[2026-01-05,2026-01-25)', ARRAY[1, 2]) IN ('Rome', 'Oslo') AS label;
SELECT abs((race_covariance(race_released('moments[2026-01-05,2026-01-25)'), 1,
		2)).value - (race_covariance(e.sketch, 1, 2)).value) < 0.01 AS covariance,
	abs(race_kde(race_released('grid[2026-01-05,2026-01-25)'), '{3}') - race_kde(e.line, '{3}')) < 0.01 AS density
FROM (
	SELECT race_build(race_moment_params('{0,0}', '{9,6}'), x),
		race_build('l2(dims=1, lower={0}, upper={9}, bandwidth=2, sequence=grid)', x[1:1])
	FROM stream WHERE made_at >= '2026-01-05 00:00+00' AND made_at < '2026-01-25 00:00+00'
) e (sketch, line);

-- with a unit column: so many rows of a person in the whole series, whatever becomes of the table
CREATE TABLE persons (person int NOT NULL, made_on date, v int);
INSERT INTO persons SELECT p, date '2026-01-01' + d, 1 FROM generate_series(1, 20) p, generate_series(0, 15) d;
INSERT INTO persons VALUES (99, '2026-01-07', 0);
CREATE VIEW kept AS SELECT extract(day FROM upper(during) - lower(during)) AS days, count(*),
	round(sum(race_count(sketch))) AS records
FROM _racepriv.race_releases WHERE name = 'persons' GROUP BY 1;
CREATE VIEW counted AS SELECT length, min(records), max(records), count(*), sum(records)
FROM _racepriv.race_series_units WHERE length > 0 GROUP BY 1;
CALL race_protect('persons', 'persons', 1e9, unit_column => 'person', max_contributions => 5);
CALL race_release_sketch('persons', 'persons', 'l2(dims=1, lower={0}, upper={2}, bandwidth=1)', 'ARRAY[1 / v]', 1e5,
	series => '{"by": "made_on", "every": "1 day", "lengths": 2, "starting": "2026-01-01", "until": "2026-01-17"}');
-- a value that cannot be made stops the series; what was made stays
CALL race_release_next('persons');
SELECT * FROM kept ORDER BY days;
SELECT *
FROM counted ORDER BY length \gx
-- rows that were counted go, late ones come, and others take their place: nobody has more than 5 in the days, nor in
-- 8 days
DELETE FROM persons WHERE v = 0 OR made_on < '2026-01-04';
INSERT INTO persons SELECT p, '2026-01-01', 1 FROM generate_series(1, 20) p, generate_series(1, 9);
UPDATE persons SET made_on = made_on + 5 WHERE made_on BETWEEN '2026-01-04' AND '2026-01-06';
CALL race_release_next('persons');
SELECT * FROM kept ORDER BY days;
SELECT * FROM counted ORDER BY length;
DELETE FROM _racepriv.race_series_units;
UPDATE _racepriv.race_series_units SET records = 1;

-- values wait for late rows
CALL race_release('waits', 'stream', '{age,town}', 1e5,
	series => '{"by": "made_at", "every": "1 day", "starting": "2026-01-01", "until": "2026-03-17", '
		'"delay": "1000 years"}');
SET client_min_messages = notice;
CALL race_release_next('waits');
SET client_min_messages = warning;

-- errors before the charge
CALL race_release_sketch('bad', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 1,
	series => '{"by": "made_at", "every": "1 day", "until": "2099-01-01"}');
CALL race_release_sketch('bad', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 1, 1e-6, fit => true,
	series => '{"by": "made_at", "every": "1 day", "until": "2026-03-17"}');
CALL race_release('bad', 'stream', '{age}', 1, series => '{"by": "town", "every": "1 day", "until": "2099-01-01"}');
CALL race_release('bad', 'stream', '{age}', 1, series => '{"by": "nothing", "every": "1 day", "until": "2099-01-01"}');
CALL race_release('bad', 'stream', '{age}', 1, series => '{"by": "made_at", "each": "1 day", "until": "2099-01-01"}');
CALL race_release('bad', 'stream', '{age}', 1, series => '{"by": "made_at", "every": "0 days", "until": "2099-01-01"}');
CALL race_release('bad', 'stream', '{age}', 1,
	series => '{"by": "made_at", "every": "1 mon -30 days", "starting": "2026-01-01", "until": "2026-03-17"}');
CALL race_release('bad', 'stream', '{age}', 1,
	series => '{"by": "made_at", "every": "1 minute", "until": "2099-01-01"}');
CALL race_release('bad', 'persons', '{kind}', 1,
	series => '{"by": "made_on", "every": "1 hour", "until": "2099-01-01"}');
CALL race_release('bad', 'stream', '{age}', 1, series => '[]');
-- epsilon and delta are swapped, or too near, or there is too little of epsilon: no value could be private at a part
-- of it
CALL race_release('bad', 'stream', '{age}', 1e-6, 0.01,
	series => '{"by": "made_at", "every": "1 day", "until": "2027-01-01", "starting": "2026-01-01"}');
CALL race_release('bad', 'stream', '{age}', 0.3, 0.3,
	series => '{"by": "made_at", "every": "1 day", "until": "2027-01-01", "starting": "2026-01-01"}');
CALL race_release('bad', 'stream', '{age}', 1e-9,
	series => '{"by": "made_at", "every": "1 day", "until": "2027-01-01", "starting": "2026-01-01"}');
CALL race_release_sketch('bad', 'stream', 'l2(dims=2, rows=16, range=16)', 'x', 1e-300, 1e-6,
	series => '{"by": "made_at", "every": "1 day", "until": "2027-01-01", "starting": "2026-01-01"}');
CALL race_release_sketch('bad', 'stream', race_moment_params('{0,0}', '{9,6}'), 'x', 1e-6, 1e-5,
	series => '{"by": "made_at", "every": "1 day", "until": "2027-01-01", "starting": "2026-01-01"}');
CALL race_release('short[2026-01-05,2026-01-06)', 'stream', '{age}', 1);
CALL race_release('short (north, 2026)', 'stream', '{age}', 1);
SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = 'bad';
DROP VIEW kept, counted;
