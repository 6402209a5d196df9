-- releases of numbers: signs of pairs, a copula, and records that have all that was measured
CREATE TABLE waves (a float8 NOT NULL CHECK (a BETWEEN 0 AND 100), b float8 NOT NULL CHECK (b BETWEEN 0 AND 100),
	c float8 CHECK (c BETWEEN 0 AND 100), d float8 NOT NULL CHECK (d BETWEEN 0 AND 100));
-- a and b rise together, c falls as they rise or is NULL, d is a ring with a
INSERT INTO waves
SELECT x, x / 2 + 20 + 20 * sin(i * 1.7), CASE WHEN i % 10 = 0 THEN NULL ELSE 90 - x / 2 - 10 * sin(i * 2.3) END,
	50 + (CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END) * sqrt(greatest(2500 - (x - 50) ^ 2, 0)) * 0.9
FROM (SELECT i, 100 * ((i * 0.61803398875) % 1) AS x FROM generate_series(1, 20000) i) v;
CALL race_protect('waves', epsilon_limit => 1e6, delta_limit => 0.1);
SELECT question, expected = 6 AS all_pairs, unit FROM race_plan('waves', '{a,b,c,d}', 10, records => 20000)
WHERE question LIKE 'pairs %' OR question = 'tables of two columns' ORDER BY question COLLATE "C";
CALL race_release('waves', 'waves', '{a,b,c,d}', 1000);
CALL race_release('few waves', 'waves', '{a,b,c,d}', 0.2);
CALL race_release('waves by delta', 'waves', '{a,b,c,d}', 10, 1e-6);
SELECT release, race_params(_racepriv._race_released(release))::text ~ 'signs=' AS signs
FROM unnest('{few waves,waves by delta}'::text[]) release;
-- correlations are those of the records: noise moves them by less than .01
SELECT release, bool_and(abs(r.correlation - t.r) < 0.1) AS near
FROM unnest('{waves,waves by delta}'::text[]) release, race_correlation(release) r,
	(SELECT corr(a, b), corr(a, c), corr(b, c) FROM waves) e (ab, ac, bc),
	LATERAL (SELECT CASE column1 || column2 WHEN 'ab' THEN ab WHEN 'ac' THEN ac WHEN 'bc' THEN bc END) t (r)
WHERE column1 || column2 IN ('ab', 'ac', 'bc') GROUP BY release ORDER BY release COLLATE "C";
-- and so are counts, means, and dependence without correlation
SELECT abs(m.count - t.n) < 300 AS near, m.source
FROM race_count('waves by delta', '{"a": "[20,40)", "d": "[50,100)", "b": "[0,60)"}') m,
	(SELECT count(*) FROM waves WHERE a >= 20 AND a < 40 AND d >= 50 AND b < 60) t (n);
SELECT abs(m.mean - t.mean) < 2 AS near, m.source
FROM race_mean('waves by delta', 'b', "where" => '{"a": "[60,80)", "d": "[0,50)"}') m,
	(SELECT avg(b) FROM waves WHERE a >= 60 AND a < 80 AND d < 50) t (mean);
SELECT abs(count(*) FILTER (WHERE c IS NULL) - 2000) < 100 AS nulls,
	abs(corr(a, b) - (SELECT corr(a, b) FROM waves)) < 0.05 AS correlation,
	count(*) FILTER (WHERE abs((a - 50) ^ 2 + ((d - 50) / 0.9) ^ 2 - 2500) < 600) > 18000 AS ring
FROM race_synthesize(NULL::waves, 'waves by delta', 20000);
-- the same rows again, and from a value that came through text
CREATE TABLE copied AS SELECT _racepriv._race_released('waves by delta')::text::race_sketch AS s;
SELECT count(*) FROM (
	(SELECT * FROM race_synthesize(NULL::waves, 'waves by delta', 100, 7))
	EXCEPT (SELECT * FROM race_synthesize(NULL::waves, 'waves by delta', 100, 7))
) v;
SELECT s::text = _racepriv._race_released('waves by delta')::text AS same FROM copied;
DROP TABLE copied;
-- what is usual, and what is not: of two, three and four columns
SELECT o.share > 0.1 AS usual, record
FROM (VALUES ('{"a": 51, "b": 64}'::jsonb), ('{"a": 50, "b": 45, "d": 94}'), ('{"a": 50, "b": 45, "c": 65, "d": 94}'),
		('{"a": 1, "b": 95}'), ('{"a": 50, "b": 45, "d": 50}'), ('{"a": 99, "b": 2, "c": 99, "d": 94}')) r (record),
	race_outliers('waves by delta', record) o;

-- what no measurement connects is NULL, and its bounds are those of each column
CREATE TABLE apart (x text NOT NULL CHECK (x IN ('a', 'b', 'c')), y text NOT NULL CHECK (y IN ('d', 'e')),
	z int NOT NULL CHECK (z BETWEEN 0 AND 9));
INSERT INTO apart
SELECT (ARRAY['a', 'b', 'c'])[1 + i % 3], (ARRAY['d', 'e'])[1 + i % 2], i % 10 FROM generate_series(1, 100) i;
CALL race_protect('apart', epsilon_limit => 1);
CALL race_release('apart', 'apart', '{x,y,z}', 0.01);
SELECT count IS NULL AS none, lower >= 0 AND lower <= upper AS bounds, source
FROM race_count('apart', '{"x": "a", "y": "d"}');
SELECT count IS NOT NULL AS counted, source FROM race_count('apart', '{"x": "a"}');
SELECT count(*), count(count) AS counted, min(source), max(source) FROM race_crosstab('apart', 'x', 'z');
SELECT mean IS NULL AS none, source FROM race_mean('apart', 'z', "where" => '{"x": "a"}');
