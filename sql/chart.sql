-- What charts draw of releases: race_catalog and the set-returning functions by name.  At an
-- enormous epsilon there is no noise, so that all is near the truth.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA charted;
SET search_path = charted, public;
CREATE TABLE people AS
SELECT i AS id, (ARRAY['north', 'south'])[1 + i % 2] AS site, 20 + 60 * ((i * 7919) % 1000) / 1000.0 AS age,
	100 + (i * 104729) % 80 AS pressure, 2 * (20 + 60 * ((i * 7919) % 1000) / 1000.0) AS cost
FROM generate_series(1, 2000) i;
CALL race_protect('charted', 'people', 1e9, 0.1);
\set line '''l2(dims=1, bandwidth=4, lower={0}, upper={100})'''
\set plane '''l2(dims=2, bandwidth=20, lower={0,80}, upper={100,200})'''
CALL race_release_sketch('chart age', 'charted', :line, 'ARRAY[age]', 1e6, description => 'ages', columns => '{age}',
	units => '{years}');
CALL race_release_sketch('chart sites', 'charted', :line, 'ARRAY[age]', 1e6, label => 'site', labels => '{south,north}',
	columns => '{age}');
CALL race_release_sketch('chart both', 'charted', :plane, 'ARRAY[age, pressure]', 1e6,
	columns => '{age,blood pressure}', units => '{years,NULL}');
CALL race_release_sketch('chart rows', 'charted',
	'l2(dims=1, bandwidth=4, lower={0}, upper={100}, rows=256, range=256)', 'ARRAY[age]', 1e6, rows => 256,
	grid => false, fit => false);
CALL race_release_sketch('chart words', 'charted', 'jaccard(rows=16, range=16)', 'ARRAY[site]', 1e6);
CALL race_release_sketch('chart words and age', 'charted', 'match(dims=1, rows=16, range=16) * l2(dims=1, bandwidth=4)',
	'ROW(ARRAY[site], ARRAY[age])', 1e6);

-- the catalog: no sketch, and all that is public
\pset format unaligned
SELECT name,
	version,
	labels,
	description,
	columns,
	units,
	lower,
	upper,
	round(count) AS count,
	round(delta) AS delta,
	dataset,
	released_at IS NOT NULL AS released
FROM race_catalog WHERE name LIKE 'chart %' ORDER BY name COLLATE "C";
\pset format aligned
SELECT count(*) AS sketches
FROM information_schema.columns WHERE table_name = 'race_catalog' AND udt_name = 'race_sketch';

-- what is said is part of the request, and of all versions
SET client_min_messages = notice;
CALL race_release_sketch('chart age', 'charted', :line, 'ARRAY[age]', 1e6, description => 'ages', columns => '{age}',
	units => '{years}');
CALL race_release_sketch('chart age', 'charted', :line, 'ARRAY[age]', 1e6, columns => '{age}', units => '{years}');
CALL race_release_sketch('chart age', 'charted', :line, 'ARRAY[age]', 1e6, description => 'ages', columns => '{years}',
	units => '{years}');
CALL race_release_next('chart age');
SELECT version, description, columns, units FROM _racepriv.race_releases WHERE name = 'chart age' ORDER BY 1;
SELECT jsonb_pretty(request - '{params,expression}'::text[]) AS request
FROM _racepriv.race_charges WHERE request->>'name' IN ('chart both', 'chart words')
ORDER BY request->>'name' COLLATE "C";

-- a density of probability
SELECT label,
	count(*),
	min(x),
	max(x),
	round(avg(density * 100)::numeric, 2) AS integral,
	round(avg(count_per_unit * 100)::numeric, -1) AS records,
	bool_and(lower <= density AND density <= upper) AS band,
	bool_and(abs(density - CASE WHEN x BETWEEN 23 AND 77 THEN 1 / 60.0 WHEN x BETWEEN 17 AND 83 THEN density
		ELSE 0 END) < 0.001) AS near
FROM race_curve('chart sites', 'age', 1001) GROUP BY label ORDER BY label;
SELECT round(avg(density * 100)::numeric, 2) AS integral, bool_and(lower <= density) AS band
FROM race_curve('chart rows', '1', 1001);
SELECT round(avg(density * 120)::numeric, 2) AS integral, min(x), max(x)
FROM race_curve('chart both', 'blood pressure', 1001);
SELECT round(avg(density * 100)::numeric, 2) AS mirrored FROM race_curve('chart age', steps => 101, smoothing => 50);
SELECT count(*), min(x), max(x) FROM race_curve('chart sites', '1', 3, 40, 60, 'south');
-- a normal distribution around each point where bounds are far
SELECT bool_and(abs(density - (
	SELECT sum(weight * exp(-least(((c.x - p.x[1]) / w) ^ 2 / 2, 700))) / sum(weight) / w / sqrt(2 * pi())
	FROM race_points(race_released('chart age')) p
)) < 1e-9) AS same
FROM race_curve('chart age', 'age', 11, 30, 70) c,
	LATERAL (SELECT 0.25 * bandwidth AS w FROM race_info(race_released('chart age'))) i;
SELECT round((avg(density) * 100 * 120)::numeric, 2) AS integral, count(*), min(x1), max(x2)
FROM race_heatmap('chart both', 'age', '2', 50);
SELECT count(*), min(x1), max(x2) FROM race_heatmap('chart both', 'blood pressure', 'age', 2, '{100,0}', '{180,100}');

-- smoother where there is noise, unless that is asked for
CALL race_release_sketch('chart noisy', 'charted', :line, 'ARRAY[age]', 0.02);
SELECT sum(abs(d)) FILTER (WHERE NOT asked) < sum(abs(d)) FILTER (WHERE asked) AS smoother FROM (
	SELECT asked, density - lag(density) OVER (PARTITION BY asked ORDER BY x) AS d
	FROM (VALUES (true, 0.25), (false, NULL)) v (asked, smoothing),
		race_curve('chart noisy', steps => 501, smoothing => v.smoothing)) v;
-- counts, quantiles, modes, outliers
SELECT h.low,
	h.high,
	abs(h.count - (SELECT count(*) FROM people WHERE age >= h.low AND age < h.high)) < 25 AS near,
	upper - lower BETWEEN 0 AND 80 AS error
FROM race_histogram('chart age', 'age', '{0,20,35,50,80,100}') h;
-- edges where the density is steep, and cells that are wide: their error is part of the interval
CREATE TABLE peak AS SELECT least(greatest(50 + 4 * ln((i - 0.5) / (20000.5 - i)), 0), 100) AS x
FROM generate_series(1, 20000) i;
CALL race_protect('peak', epsilon_limit => 1e9);
CALL race_release_sketch('chart peak', 'peak',
	'l2(dims=1, bandwidth=10, sequence=grid, lower={0}, upper={100}, cells={16})', 'ARRAY[x]', 1e6);
SELECT count(*) FILTER (WHERE t.n BETWEEN lower AND upper) >= 17 AS inside, max(upper - lower) < 800 AS narrow
FROM race_histogram('chart peak', '1', bins => 20) h,
	LATERAL (SELECT count(*) AS n FROM peak WHERE x >= h.low AND x < h.high) t;
DROP TABLE peak;
SELECT round(sum(count)) AS all FROM race_histogram('chart rows', '1', '{-1000,50,1000}');
SELECT label, p, abs(value - (20 + 60 * p)) < 1 AS near, value BETWEEN lower AND upper AS inside
FROM race_quantiles('chart sites', p => '{0.1,0.5,NULL}') ORDER BY label, p;
SELECT p, abs(value - (100 + 80 * p)) < 8 AS near, lower FROM race_quantiles('chart both', 'blood pressure');
SELECT mode, "column", x BETWEEN 0 AND 200 AS inside, kernel_density > 0 AS dense, label
FROM race_modes('chart both', 1);
SELECT mode, "column", x BETWEEN 20 AND 80 AS inside, label FROM race_modes('chart sites', 1, 'south');
SELECT point, typicality < 0.9 AS far, share < 0.01 AS anomaly, label FROM race_outliers('chart sites', '{50,99,-7}');
SELECT point, round(typicality::numeric, 1) AS typicality, share < 0.01 AS anomaly, label
FROM race_outliers('chart both', '{{50,140},{99,199}}');
SELECT a = b AS same
FROM (SELECT array_agg(o::text) FROM race_outliers('chart both', '{{50,140},{99,199}}') o) a (a),
	(SELECT array_agg(o::text) FROM race_outliers('chart both', '{50,140,99,199}') o) b (b);
SELECT point, typicality > 0.9 AND share > 0.01 AS usual FROM race_outliers('chart rows', '{50}');

-- versions
SELECT version,
	round(count) AS count,
	distance IS NULL AS first,
	squared < 1e-4 AS same,
	p_value > 0.01 AS unchanged,
	label,
	pg_typeof("time")
FROM race_versions('chart age');
UPDATE people SET age = age / 2;
CALL race_release_next('chart age');
SELECT version, p_value < 0.01 AS changed FROM race_versions('chart age');
SELECT version, label, distance FROM race_versions('chart sites') ORDER BY label;

-- plain types: what is prepared needs no casts
PREPARE curve AS SELECT count(*) FROM race_curve($1, $2, $3, $4, $5, $6);
EXECUTE curve('chart sites', 'age', 10, 0, 100, NULL);
PREPARE modes AS SELECT count(*) FROM race_modes($1, $2);
EXECUTE modes('chart age', 1);
PREPARE one AS SELECT count(*) > 0 FROM race_modes($1);
EXECUTE one('chart age');
PREPARE others AS SELECT (SELECT count(*) FROM race_heatmap($1, $2, $3, $4)),
	(SELECT count(*) FROM race_histogram($1, $2, $5)), (SELECT count(*) FROM race_quantiles($1, $2, $6)),
	(SELECT count(*) FROM race_outliers($1, $7)), (SELECT count(*) FROM race_versions($1));
EXECUTE others('chart both', 'age', '2', 3, '{0,50,100}', '{0.5}', '{1,2}');
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'others';
DEALLOCATE ALL;
-- in a parallel plan
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM people, race_curve('chart age', 'age', 2) WHERE id <= 3;
RESET ALL;
SET search_path = charted, public;

-- NULLs
SELECT count(*) FROM race_curve(NULL);
SELECT count(*) FROM race_curve('chart age', steps => NULL);
SELECT count(*) FROM race_curve('chart age', NULL);
SELECT count(*) FROM race_heatmap(NULL);
SELECT count(*) FROM race_histogram('chart age', 'age', NULL);
SELECT count(*) FROM race_quantiles('chart age', 'age', NULL);
SELECT count(*) FROM race_outliers('chart age', NULL);
SELECT count(*) FROM race_versions(NULL);
-- names
SELECT count(*) FROM race_curve('chart nothing');
SELECT count(*) FROM race_curve('chart sites', label => 'east');
SELECT count(*) FROM race_curve('chart both', 'cost');
SELECT count(*) FROM race_curve('chart both', '3');
SELECT count(*) FROM race_curve('chart both', '-1');
SELECT count(*) FROM race_modes('chart nothing');
SELECT count(*) FROM race_versions('chart nothing');
SELECT count(*) FROM race_outliers('chart nothing', '{1}');
-- limits
SELECT count(*) FROM race_curve('chart age', 'age', 1);
SELECT count(*) FROM race_curve('chart age', 'age', 10001);
SELECT count(*) FROM race_curve('chart age', 'age', 10, 5, 5);
SELECT count(*) FROM race_curve('chart age', 'age', 10, 'NaN', 5);
SELECT count(*) FROM race_curve('chart age', 'age', 10, -1e308, 1e308);
SELECT count(*) FROM race_curve('chart age', confidence => 1);
SELECT count(*) FROM race_curve('chart age', smoothing => 0);
SELECT count(*) FROM race_heatmap('chart both', 'age', 'age');
SELECT count(*) FROM race_heatmap('chart both', steps => 501);
SELECT count(*) FROM race_heatmap('chart both', lower => '{1}');
SELECT count(*) FROM race_heatmap('chart both', lower => '{1,NULL}');
SELECT count(*) FROM race_histogram('chart age', 'age', '{1}');
SELECT count(*) FROM race_histogram('chart age', 'age', '{1,1}');
SELECT count(*) FROM race_histogram('chart age', 'age', '{1,NaN}');
SELECT count(*) FROM race_histogram('chart age', 'age', '{1,NULL}');
SELECT count(*) FROM race_quantiles('chart age', 'age', '{2}');
SELECT count(*) FROM race_outliers('chart both', '{1,2,3}');
SELECT count(*) FROM race_outliers('chart both', '{{1},{2}}');
SELECT count(*) FROM race_outliers('chart both', '{1,NaN}');
SELECT count(*) FROM race_modes('chart age', 0);
-- other kernels
SELECT count(*) FROM race_curve('chart words');
SELECT count(*) FROM race_curve('chart words and age', '1');
SELECT count(*) FROM race_curve('chart words and age', '2');

-- what may be said of a release
\set r 'CALL race_release_sketch(''charted x'', ''charted'', '
\set r :r '''l2(dims=2, rows=16, range=32)'', ''ARRAY[age, pressure]'', 1, '
:r columns => '{a}');
:r columns => '{a,b,c}');
:r columns => '{}');
:r columns => '{{a},{b}}');
:r columns => '[0:1]={a,b}');
:r columns => '{a,NULL}');
:r columns => '{a,a}');
:r columns => '{a,2}');
:r columns => '{a,""}');
:r columns => E'{a,"b\n"}');
:r units => '{a,b}');
:r columns => '{a,b}', units => '{a}');
:r columns => ARRAY['a', repeat('b', 201)]);
:r description => repeat('b', 10001));
SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = 'charted x';

DROP SCHEMA charted CASCADE;
