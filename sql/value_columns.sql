-- A value of a release by columns carries its columns
\set VERBOSITY default
SET client_min_messages = warning;
CREATE TABLE carried AS SELECT i AS person, CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' END AS letter, i % 10 AS digit,
	i % 2 = 0 AS even, i % 7 AS week FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX ON carried (person);
CALL race_protect('carried', epsilon_limit => 1000, unit_column => 'person', max_contributions => 1,
	columns => '{"letter": ["a", "b"], "digit": [0, 9], "week": [0, 6]}');
CALL race_release('carried all', 'carried', '{letter,digit,even}', epsilon => 10);
CALL race_release('carried some', 'carried', '{digit,week}', epsilon => 10);
CALL race_release_sketch('carried labels', 'carried', label => 'letter', epsilon => 10, columns => '{digit,even}');
CALL race_release_sketch('other labels', 'carried', label => 'letter', epsilon => 10, columns => '{digit}');
CALL race_release_sketch('carried sketch', 'carried', epsilon => 10, columns => '{digit}');
SELECT d->>'name' AS name, d->>'type' AS type, d->>'kind' AS kind, d->'categories' AS categories, d->'lower' AS lower,
	d->'upper' AS upper
FROM jsonb_array_elements(race_domains(race_released('carried all'))) d;
-- what a catalog shows is what the value says
SELECT name, domains = race_domains(race_released(name, labels[1])) AS same, jsonb_array_length(domains) AS n
FROM race_catalog WHERE name LIKE 'carried %' OR name = 'other labels' ORDER BY name;
SELECT race_domains(NULL) IS NULL, race_domains(race_released('carried sketch')) IS NULL,
	race_domains(race_build('l2(dims=1)', '{1}'::float8[])) IS NULL;
-- as a value, as text, and in variables, which hold it expanded
SELECT s::text::race_sketch::text = s::text AS text, race_domains(s::text::race_sketch) = race_domains(s) AS domains,
	race_params(s) = race_params(s::text::race_sketch) AS params
FROM race_released('carried all') s;
DO $$
DECLARE
	value race_sketch := race_released('carried labels', 'a');
	other race_sketch := race_released('carried labels', 'b');
BEGIN
	IF race_domains(value + other) IS DISTINCT FROM race_domains(value)
		OR race_domains((value + other)::text::race_sketch) IS DISTINCT FROM race_domains(value) THEN
		RAISE 'a sum lost its columns';
	END IF;
END $$;
-- a value is asked as its release is, whatever it was stored in
CREATE TABLE values_of AS SELECT v, v::text::race_sketch AS t FROM race_released('carried all') v;
CREATE TABLE synthetic_of (letter text, digit int, "even" boolean);
SELECT (SELECT array_agg(a::text) FROM race_crosstab(v, 'letter', '3') a)
		= (SELECT array_agg(a::text) FROM race_crosstab('carried all', 'letter', 'even') a) AS crosstab,
	(SELECT array_agg(a::text) FROM race_mean(v, 'digit', by => '{letter,even}', "where" => '{"digit": "[2,7)"}') a)
		= (SELECT array_agg(a::text)
			FROM race_mean('carried all', 'digit', ARRAY['letter', 'even'], '{"digit": "[2,7)"}') a) AS mean,
	(SELECT array_agg(a::text) FROM race_trend(t, 'digit', 'digit') a)
		= (SELECT array_agg(a::text) FROM race_trend('carried all', 'digit', 'digit') a) AS trend,
	(SELECT count(*) FROM race_correlation(t)) = (SELECT count(*) FROM race_correlation('carried all')) AS correlation,
	(SELECT array_agg(a::text) FROM race_synthesize(NULL::synthetic_of, t, 50, 7) a)
		= (SELECT array_agg(a::text) FROM race_synthesize(NULL::synthetic_of, 'carried all', 50, 7) a) AS synthesize
FROM values_of;
SELECT (SELECT a::text FROM race_count(t, '{"letter": "a", "digit": "[2,7)"}') a)
		= (SELECT a::text FROM race_count('carried all', '{"letter": "a", "digit": "[2,7)"}') a) AS count,
	(SELECT array_agg((a.value, a.count, a.density)::text) FROM race_histogram(t, 'digit', '{0,2,9}'::int[]) a)
		= (SELECT array_agg((a.value, a.count, a.density)::text)
			FROM race_histogram('carried all', 'digit', '{0,2,9}') a) AS histogram,
	(SELECT array_agg((a.x, a.density, a.lower, a.upper)::text)
			FROM race_curve(v, 'digit', "where" => '{"letter": "a"}') a)
		= (SELECT array_agg((a.x, a.density, a.lower, a.upper)::text)
			FROM race_curve('carried all', 'digit', "where" => '{"letter": "a"}') a) AS curve,
	(SELECT array_agg((a.p, a.value, a.lower, a.upper)::text) FROM race_quantiles(t, 'digit') a)
		= (SELECT array_agg((a.p, a.value, a.lower, a.upper)::text)
			FROM race_quantiles('carried all', 'digit') a) AS quantiles,
	(SELECT array_agg(a::text) FROM race_classify(t, 'letter', '{"even": true}'::jsonb) a)
		= (SELECT array_agg(a::text) FROM race_classify('carried all', 'letter', '{"even": true}') a) AS classify,
	(SELECT array_agg((a.x1, a.x2, a.density, a.lower, a.upper)::text)
			FROM race_heatmap(race_released('carried some'), 'week', 'digit', 3) a)
		= (SELECT array_agg((a.x1, a.x2, a.density, a.lower, a.upper)::text)
			FROM race_heatmap('carried some', 'week', 'digit', 3) a) AS heatmap,
	(SELECT array_agg((a.point, a.share, a.lower, a.upper)::text)
			FROM race_outliers(t, '[{"digit": 3}, {"letter": "a"}]'::jsonb) a)
		= (SELECT array_agg((a.point, a.share, a.lower, a.upper)::text)
			FROM race_outliers('carried all', '[{"digit": 3}, {"letter": "a"}]') a) AS outliers
FROM values_of;
SELECT count(*) FROM race_heatmap(NULL::race_sketch, 'digit', 'digit');
SELECT race_heatmap(v, 'digit', 'digit') FROM values_of;
SELECT count(*) FROM race_quantiles(NULL::race_sketch, 'digit');
SELECT race_quantiles(v, 'digit', '{2}') FROM values_of;
SELECT race_curve(v, 'letter') FROM values_of;
SELECT race_classify(v, 'letter', '{"digit": {"cell of": 3}}') FROM values_of;
SELECT count(*) FROM race_mean(NULL::race_sketch, 'digit');
SELECT race_mean(v, 'digits') FROM values_of;
SELECT race_trend(v, 'digit', 'letter') FROM values_of;
SELECT r."column" FROM values_of, race_regress(v, 'digit') r;
SELECT race_correlation(race_released('carried labels', 'a'));
SELECT race_crosstab(race_build('l2(dims=1)', '{1}'::float8[]), 'letter');
DROP TABLE values_of, synthetic_of;
-- values with other columns are not added
SELECT race_released('carried labels', 'a') + race_released('other labels', 'a');
SELECT race_merge(s) FROM (VALUES (race_released('carried labels', 'a')), (race_released('other labels', 'a'))) v (s);
DROP TABLE carried;
