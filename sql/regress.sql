-- regression, classes, covariances, components and transforms from moments
\set VERBOSITY terse

-- y = 3 + 2 x1 - x2 + noise; class b has x1 + 2
CREATE TABLE records AS SELECT i, CASE WHEN i % 3 = 0 THEN 'b' ELSE 'a' END AS label,
	x1 + CASE WHEN i % 3 = 0 THEN 2 ELSE 0 END AS x1, x2, 3 + 2 * x1 - x2 + 0.5 * sin(i * 1.7) AS y
FROM (SELECT i, 10 * (i * 0.618034 - floor(i * 0.618034)) AS x1, 5 * sin(i) AS x2 FROM generate_series(1, 3000) i) s;
\set params 'race_moment_params(\'{0,-5,-10}\', \'{12,5,40}\', norm => 3)'
CREATE TABLE whole AS SELECT race_build(:params, ARRAY[x1, x2, y]) AS m FROM records WHERE label = 'a';
CREATE TABLE classes AS SELECT label,
	race_build(race_moment_params('{0,-5}', '{12,5}', norm => 2, targets => 0), ARRAY[x1, x2]) AS m FROM records
GROUP BY label;

-- from exact moments it is least squares
SELECT "column",
	feature,
	round(coefficient::numeric, 2) AS coefficient,
	standard_error BETWEEN 0.001 AND 0.05 AS usual_error
FROM whole, race_regress(m, 3);
SELECT abs(coefficient - regr_slope) < 1e-3 AS slope
FROM whole, race_regress(m, 3, '{1}'), (SELECT regr_slope(y, x1) FROM records WHERE label = 'a') s WHERE "column" = 1;
SELECT abs(standard_error / usual - 1) < 0.01 AS usual_error
FROM whole, race_regress(m, 3, '{1}'),
	(
		SELECT sqrt((1 - corr(y, x1) ^ 2) * regr_syy(y, x1) / (regr_count(y, x1) - 2) / regr_sxx(y, x1)) AS usual
		FROM records WHERE label = 'a'
	) s WHERE "column" = 1;
SELECT round(race_predict(m, 3, '{5,1}')::numeric, 1) AS target_last,
	round(race_predict(m, 1, '{1,12}')::numeric, 1) AS target_first
FROM whole;
SELECT round(race_predict(m, 3, '{1000,-1000}')::numeric, 3) AS clipped,
	race_predict(m, 3, NULL) AS null_x,
	race_predict(m, NULL, '{1,1}') AS null_target
FROM whole \gx
-- a call site keeps its fit, and takes another one when it must
SELECT t, round(race_predict(m, t, '{5,1}', p)::numeric, 1)
FROM whole, (VALUES (3, NULL::int[]), (3, '{1}'), (1, NULL), (3, NULL)) v (t, p);
SELECT max(abs(race_predict(m, 3, ARRAY[x1, x2]) - (c[1] + c[2] * x1 + c[3] * x2))) < 1e-6 AS as_coefficients
FROM records, whole, (SELECT array_agg(coefficient ORDER BY "column") AS c FROM whole, race_regress(m, 3)) s
WHERE label = 'a';

-- features: a parabola, which no line fits
CREATE TABLE curve AS SELECT f,
	race_build(race_moment_params('{-1,-1}', '{1,1}', norm => 4, features => f,
			bandwidth => CASE WHEN f > 0 THEN 0.7 ELSE 1 END), ARRAY[x, x * x]) AS m
FROM generate_series(0, 30, 30) f, (SELECT i / 500.0 - 1 AS x FROM generate_series(0, 1000) i) s GROUP BY f;
SELECT f, count(*) AS terms, count("column") AS columns, count(feature) AS features
FROM curve, race_regress(m, 2) GROUP BY f ORDER BY f;
SELECT f, max(abs(race_predict(m, 2, ARRAY[x]) - x * x)) < 0.05 AS fits
FROM curve, generate_series(-0.9, 0.9, 0.1) x GROUP BY f ORDER BY f;

-- noise is in the standard errors: of so much noise they are more than without
SELECT bool_and(noisy.standard_error > 3 * exact.standard_error) AS more
FROM (SELECT race_privatize(m, 0.1, 1e-6) AS m FROM whole) p, race_regress(p.m, 3) noisy, whole w,
	race_regress(w.m, 3) exact WHERE noisy."column" = exact."column";
SELECT bool_and(abs(noisy.coefficient - exact.coefficient) < 30 * noisy.standard_error) AS near
FROM (SELECT race_privatize(m, 10, 1e-6) AS m FROM whole) p, race_regress(p.m, 3) noisy, whole w,
	race_regress(w.m, 3) exact WHERE noisy."column" = exact."column";

-- covariances and correlations
SELECT abs(c.value - covar_pop) < 1e-2 * covar_pop AS covariance,
	abs(r.value - corr) < 1e-3 AS correlation,
	r.lower < r.value AND r.value < r.upper AS inside,
	abs(r.upper - r.value - 2.5758 * r.standard_error) < 1e-4 AS confidence
FROM whole, race_covariance(m, 1, 3) c, race_covariance(m, 1, 3, 0.99, standardize => true) r,
	(SELECT covar_pop(x1, y), corr(x1, y) FROM records WHERE label = 'a') s \gx
SELECT value, standard_error FROM whole, race_covariance(m, 2, 2, standardize => true);
SELECT abs(value - var_pop) < 1e-2 * var_pop AS variance
FROM whole, race_covariance(m, 1, 1), (SELECT var_pop(x1) FROM records WHERE label = 'a') s;
SELECT * FROM race_covariance(race_sketch(race_moment_params('{0,0}', '{1,1}')), 1, 2, standardize => true);

-- components
SELECT component,
	round(share::numeric, 3) AS share,
	round(vector[1]::numeric, 2) AS v1,
	round(vector[2]::numeric, 2) AS v2,
	round(vector[3]::numeric, 2) AS v3
FROM whole, race_pca(m);
SELECT round(sum(variance)::numeric, 3) AS columns FROM whole, race_pca(m, true);

-- classes
SELECT race_classify(label, m, '{1,0}'), race_classify(label, m, '{11,0}'), race_classify(label, m, '{6,0}', 'uniform'),
	pg_typeof(race_classify(length(label)::int2, m, '{6,0}'))
FROM classes;
SELECT round((p ->> 'a')::numeric, 1) AS a, round((p ->> 'a')::numeric + (p ->> 'b')::numeric, 6) AS both
FROM (SELECT race_posterior(label, m, '{6,0}', 'counts') AS p FROM classes) s;
SELECT race_posterior(label, m, '{6,0}') FROM classes WHERE label = 'a';
SELECT race_classify(label, m, '{6,0}') AS no_class FROM classes WHERE false;
SELECT race_classify(label, m, NULL) AS null_x FROM classes;
SELECT avg((says = label)::int) > 0.6 AS many_right
FROM (SELECT label, (SELECT race_classify(c.label, m, ARRAY[x1, x2]) FROM classes c) AS says FROM records) s;

-- exact moments beside private ones of a label are public rows: in any order, and of no harm; they say more than
-- private ones of a small epsilon
CREATE TABLE public_classes AS SELECT epsilon, label,
	race_privatize(race_build(params, ARRAY[x1, x2]), epsilon) AS private,
	race_build(params, ARRAY[x1, x2]) FILTER (WHERE i % 10 = 0) AS public
FROM records, (SELECT race_moment_params('{0,-5}', '{12,5}', targets => 0) AS params) p,
	unnest(ARRAY[0.01, 1e6]) epsilon GROUP BY epsilon, label, params;
CREATE TABLE public_rows AS SELECT epsilon, label, private AS m, 1 AS place FROM public_classes
UNION ALL SELECT epsilon, label, public, p FROM public_classes, unnest('{0,2}'::int[]) p;
SELECT race_posterior(label, m, '{6,0}' ORDER BY place) FILTER (WHERE place < 2)::text
		= race_posterior(label, m, '{6,0}' ORDER BY place) FILTER (WHERE place > 0)::text AS any_order,
	race_classify(label, m, '{6,0}') FILTER (WHERE place < 2) IN ('a', 'b') AS answered
FROM public_rows GROUP BY epsilon;
SELECT epsilon,
	avg((says = label)::int) > 0.5 AS many_right,
	abs(avg((says = label)::int) - avg((private = label)::int)) < 0.02 OR epsilon < 1 AS no_harm
FROM (
	SELECT epsilon,
		r.label,
		race_classify(p.label, m, ARRAY[x1, x2]) FILTER (WHERE place > 0) AS says,
		race_classify(p.label, m, ARRAY[x1, x2]) FILTER (WHERE place = 1) AS private
	FROM records r, public_rows p WHERE i < 1000 GROUP BY epsilon, i, r.label
) s GROUP BY epsilon ORDER BY epsilon;
SELECT race_classify(p.label, CASE WHEN place = 1 THEN p.m ELSE c.m END, '{6,0}')
FROM public_rows p JOIN classes c USING (label) WHERE epsilon = 0.01;

-- transforms that race_params accepts; of exact moments, columns get variance 1 and are uncorrelated
SELECT abs(var_samp(a) - 1) < 0.02 AS first,
	abs(var_samp(b) - 1) < 0.02 AS second,
	abs(corr(a, b)) < 0.1 AS uncorrelated
FROM (
	SELECT t.matrix[1][1] * (x1 - t."offset"[1]) AS a,
		t.matrix[2][1] * (x1 - t."offset"[1]) + t.matrix[2][2] * (x2 - t."offset"[2]) AS b
	FROM records r, (SELECT (race_transform(m)).* FROM classes WHERE label = 'a') t WHERE label = 'a'
) s \gx
SELECT array_dims((race_transform(m, 2)).matrix) AS pca, array_dims((race_transform(m)).matrix) AS white FROM whole;
SELECT array_dims((race_transform(race_build(race_moment_params('{0,0}', '{1,1}', norm => 2),
	ARRAY[i / 10.0, 0.5]))).matrix) AS constant_column
FROM generate_series(1, 10) i;

-- with a transform of public rows it is the same regression, of any target; the transform is a lower triangle
CREATE TABLE white AS SELECT race_build(race_moment_params('{0,-5,-10}', '{12,5,40}', norm => 30, transform => t),
	ARRAY[x1, x2, y]) AS m
FROM records,
	(
		SELECT race_transform(race_build(race_moment_params('{0,-5,-10}', '{12,5,40}', norm => 2, targets => 0),
			ARRAY[x1, x2, y])) AS t
		FROM records WHERE i < 200
	) p WHERE label = 'a' GROUP BY t;
SELECT target,
	bool_and(abs(a.coefficient - b.coefficient) < 2e-3
		AND a.standard_error BETWEEN 0.98 * b.standard_error AND 1.02 * b.standard_error) AS same
FROM white,
	(
		SELECT race_build(race_moment_params('{0,-5,-10}', '{12,5,40}', norm => 30), ARRAY[x1, x2, y]) AS m
		FROM records WHERE label = 'a'
	) w, generate_series(1, 3) target, race_regress(white.m, target) a
	JOIN LATERAL race_regress(w.m, target) b USING ("column") GROUP BY target ORDER BY target;
SELECT abs(race_predict(white.m, 3, '{5,1}') - race_predict(whole.m, 3, '{5,1}')) < 0.1 AS same FROM white, whole;
SELECT bool_and(abs(c.coefficient - e.coefficient) < 0.2) AS with_noise
FROM white,
	race_regress(race_privatize(m, 1000),
		3) c JOIN (VALUES (1, 2.0), (2, -1.0)) e ("column", coefficient) USING ("column");
SELECT kernel, dims, count FROM white, race_info(m);
SELECT race_pca(m) FROM white;
SELECT race_covariance(m, 1, 2) FROM white;
SELECT race_moment_params('{0,0}', '{1,1}', features => 2, transform => ROW('{{1,0},{0,1}}', NULL)::race_transform);
SELECT race_moment_params('{0,0}', '{1,1}', transform => ROW('{{1,0.5},{0,1}}', NULL)::race_transform);
SELECT race_moment_params('{0,0}', '{1,1}', transform => ROW('{{1,0}}', NULL)::race_transform);
SELECT race_moment_params('{0,0}', '{1,1}', transform => ROW('{{1,0},{0,0}}', NULL)::race_transform);
SELECT race_moment_params('{0,0}', '{1,1}', transform => ROW(NULL, '{1,1}')::race_transform);

-- wrong input
SELECT race_regress(m, 4) FROM whole;
SELECT race_regress(m, 0) FROM whole;
SELECT race_regress(m, 3, '{1,1}') FROM whole;
SELECT race_regress(m, 3, '{3}') FROM whole;
SELECT race_regress(m, 3, '{NULL}') FROM whole;
SELECT count(*) FROM whole, race_regress(m, 3, '{}');
SELECT race_regress(race_sketch(race_moment_params('{0}', '{1}')), 1);
SELECT race_predict(m, 3, '{1}') FROM whole;
SELECT race_predict(m, 3, '{1,NULL}') FROM whole;
SELECT race_predict(m, 3, '{1,NaN}') FROM whole;
SELECT race_predict(m, 3, '{{1,1}}') FROM whole;
SELECT race_covariance(m, 1, 9, standardize => true) FROM whole;
SELECT race_covariance(m, 1, 2, 1) FROM whole;
SELECT race_pca(m) FROM curve WHERE f > 0;
SELECT race_transform(race_sketch(race_moment_params('{0}', '{1}')));
SELECT race_transform(m, 4) FROM whole;
SELECT race_classify(label, m, '{1}') FROM classes;
SELECT race_classify(label, m, '{1,0}', 'sure') FROM classes;
SELECT race_classify(label, m, ARRAY[x1, x2]) FROM classes JOIN records USING (label) WHERE i < 5;
SELECT race_classify(label, m, '{1,0}') FROM (SELECT * FROM classes UNION ALL SELECT 'c', m FROM whole) c;
SELECT race_posterior('one', m, '{1,0}') FROM classes;
SELECT race_classify(i, m, '{1,0}') FROM classes, generate_series(1, 60) i;
SELECT race_regress(race_share(m, 1, 1e-6, 3), 3) FROM whole;

-- parallel workers fit as the leader does
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SELECT round(avg(race_predict((SELECT m FROM whole), 3, ARRAY[x1, x2]))::numeric, 3) AS mean
FROM records WHERE label = 'a';
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
RESET parallel_leader_participation;
SELECT round(avg(race_predict((SELECT m FROM whole), 3, ARRAY[x1, x2]))::numeric, 3) AS mean
FROM records WHERE label = 'a';

DROP TABLE records, white, whole, classes, curve, public_classes, public_rows;
