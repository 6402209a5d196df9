-- race_classify and race_posterior

CREATE TABLE classes AS
SELECT c AS label, race_build('l2(dims=1, bandwidth=1, rows=256, range=1024)', ARRAY[c * 10 + (i % 10) / 10.0]) AS s
FROM generate_series(1, 3) c, generate_series(1, 30 * c * c) i GROUP BY c;

SELECT q, race_classify(label, s, ARRAY[q]) AS ml, race_classify(label, s, ARRAY[q], 'counts') AS map
FROM classes, unnest('{10,20,31}'::float8[]) q GROUP BY q ORDER BY q;
-- the label comes back in its own type
SELECT race_classify('class ' || label, s, '{20}'), race_classify(label::numeric + 0.5, s, '{20}'),
       pg_typeof(race_classify(label::int2, s, '{20}')), race_classify(ARRAY[label], s, '{20}') FROM classes;
-- between two classes the prior decides
SELECT race_classify(label, s, '{15.45}', 'counts') AS map FROM classes;
-- where no class has anything, the largest wins; among equals the smaller label
SELECT race_classify(label, s, '{-100}'), race_classify(label, s, '{-100}', 'counts') FROM classes;
SELECT race_classify(label, race_sketch('l2(dims=1)'::race_params), '{0}') AS forward
FROM (SELECT generate_series(1, 5) AS label) v;
SELECT race_classify(label, race_sketch('l2(dims=1)'::race_params), '{0}') AS backward
FROM (SELECT generate_series(5, 1, -1) AS label) v;
-- without rows, with NULLs
SELECT race_classify(label, s, '{20}') IS NULL AS none FROM classes WHERE false;
SELECT race_classify(CASE WHEN label <> 2 THEN label END, s, '{20}') AS no_label,
	race_classify(label, CASE WHEN label <> 2 THEN s END, '{20}') AS no_sketch,
	race_classify(label, s, NULL::int[]) IS NULL AS no_query
FROM classes;
-- probabilities
SELECT (race_posterior(label, s, '{20}') ->> '2')::float8 > 0.8 AS certain,
	race_posterior(label, s, '{-100}') AS uniform,
	race_posterior(label, s, '{-100}', 'counts') AS counts
FROM classes \gx
SELECT q, abs(sum(p.value::float8) - 1) < 1e-9 AS sums_to_1, count(*)
FROM (
	SELECT q, race_posterior(label, s, ARRAY[q], 'counts') j
	FROM classes, unnest('{10,15,15.5,31}'::float8[]) q GROUP BY q
) v, jsonb_each_text(j) p GROUP BY q ORDER BY q;
SELECT race_posterior('quote " and \'::text, s, '{20}') FROM classes WHERE label = 1;
SELECT race_posterior(label, s, '{20}') IS NULL AS none FROM classes WHERE false;
-- errors
SELECT race_classify(label, s, '{20}', 'flat') FROM classes;
SELECT race_classify(1, race_sketch('l2(dims=1)'::race_params), '{1}', 1);
SELECT race_classify(1, race_sketch('l2(dims=1)'::race_params), '{1}', 'counts', 'counts');
SELECT race_classify(label, s, '{20}', CASE WHEN label = 1 THEN 'counts' ELSE 'uniform' END) FROM classes;
SELECT race_classify(label, s, '{20,1}') FROM classes;
SELECT race_classify(point(label, 0), s, '{20}') FROM classes;
SELECT race_posterior(0, s, '{20}') FROM classes;
SELECT race_classify(label, s, 'x'::text) FROM classes;
-- classes with parameters of their own
SELECT race_classify(label, s, '{20}') FROM (SELECT * FROM classes UNION ALL
	SELECT 4, race_build('l2(dims=1, bandwidth=7)', '{21}')) v;
-- as a window, and in groups
SELECT label, race_classify(label, s, '{31}') OVER (ORDER BY label) FROM classes ORDER BY label;
-- the best two labels and how far one is ahead, as one number: 2 * (number of the pair) + margin
CREATE FUNCTION score(q float8[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE score float8;
BEGIN
	EXECUTE format('SELECT _racepriv._race_score_of(%L, %L::float8[])',
		(SELECT array_agg(s ORDER BY label) FROM classes), q) INTO score;
	RETURN score;
END $$;
SELECT q, pair,
	CASE WHEN score < 2 * pair + 0.5 THEN ('{1,1,2}'::int[])[pair + 1] ELSE ('{2,3,3}'::int[])[pair + 1] END AS best,
	label
FROM (
	SELECT q,
		score(ARRAY[q]) AS score,
		floor(score(ARRAY[q]) / 2)::int AS pair,
		race_classify(label, s, ARRAY[q], 'counts') AS label
	FROM classes, unnest('{10,15,20,26,31}'::float8[]) q GROUP BY q
) s ORDER BY q;
SELECT score('{-100}') - floor(score('{-100}')) BETWEEN 0 AND 1 AS nothing_near,
	(SELECT min(abs(score(ARRAY[q])::numeric % 2 - 0.5)) < 0.1 FROM generate_series(10, 20, 0.05) q) AS unsure;
-- a flat kernel does not let the larger class win everywhere, by rows or by a fitted model
CREATE TABLE unequal AS
SELECT label,
	race_build(race_params('l2', 2, 1, rows => 64, lower => '{0,0}', upper => '{1,1}'),
		ARRAY[0.3 + 0.4 * label + 0.05 * sin(i), 0.5 + 0.05 * cos(i)]) AS s
FROM (VALUES (0, 2700), (1, 300)) c(label, n), generate_series(1, n) i GROUP BY label;
CREATE TABLE fitted AS SELECT label, race_fit(s, points => 200) AS f FROM unequal;
SELECT (SELECT race_classify(label, s, '{0.7,0.5}', 'counts') FROM unequal) AS raw,
	(SELECT race_classify(label, f, '{0.7,0.5}', 'counts') FROM fitted) AS fitted,
	(SELECT race_classify(label, f, '{0.3,0.5}', 'counts') FROM fitted) AS other;
-- nor by a grid
CREATE TABLE unequal_grids AS
SELECT label,
	race_build(race_params('l2', 2, 1, lower => '{0,0}', upper => '{1,1}', sequence => 'grid'),
		ARRAY[0.3 + 0.4 * label + 0.05 * sin(i), 0.5 + 0.05 * cos(i)]) AS s
FROM (VALUES (0, 2700), (1, 300)) c(label, n), generate_series(1, n) i GROUP BY label;
SELECT race_classify(label, s, '{0.7,0.5}', 'counts') AS near, race_classify(label, s, '{0.3,0.5}', 'counts') AS other,
       (race_posterior(label, s, '{0.7,0.5}', 'counts') ->> '1')::float8 > 0.9 AS sure FROM unequal_grids;
DROP TABLE classes, unequal, fitted, unequal_grids;
DROP FUNCTION score;
