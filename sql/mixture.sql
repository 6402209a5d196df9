-- Mixtures of kernels: rows of several bandwidths in one sketch

CREATE TABLE t AS SELECT i, ARRAY[(i * 37 % 101) / 10.0, (i * 53 % 89) / 10.0]::float8[] AS x FROM generate_series(1, 1000) i;
\set mixture '''{{0.25,1},{1,2},{6,3}}'''

-- --------------------------------------------------------------- parameters
SELECT race_params('l2', 2, 3, mixture => :mixture), race_params('l2', 2, 3, mixture => :mixture)::text::race_params = race_params('l2', 2, 3, mixture => :mixture) AS text,
       race_params('l2', 2, 3, mixture => :mixture) = race_params('l2', 2, 3) AS without, race_params('l2', 2, 3, mixture => :mixture) = race_params('l2', 2, 3, mixture => '{{1,2},{0.25,1},{6,3}}') AS otherwise;
SELECT 'l1(mixture={{0.5,1},{2,3}}, dims=1) * match(dims=1)'::race_params;
-- on the wire, as in the text of a sketch
SELECT race_params(race_sketch(p)::text::race_sketch) = p AS same, p
FROM (SELECT race_params('l1', 2, 3, 2, 10, 16, bandwidths => '{1,2}', lower => '{0,0}', mixture => :mixture) * race_params('l2', 1, rows => 10, range => 16, mixture => '{{1,7}}') AS p) v;

-- ------------------------------------------------------------------- values
-- the weighted mean of the kernels, each taken to the power
SELECT kernel, power, abs(race_kernel(race_params(kernel, 2, 3, power, mixture => :mixture), '{0,1}', '{2,4}') -
	(race_kernel(race_params(kernel, 2, 0.75, power), '{0,1}', '{2,4}') + 2 * race_kernel(race_params(kernel, 2, 3, power), '{0,1}', '{2,4}') + 3 * race_kernel(race_params(kernel, 2, 18, power), '{0,1}', '{2,4}')) / 6) < 1e-15 AS mean
FROM unnest('{l2,l1}'::text[]) kernel, generate_series(1, 3) power;

-- what rows answer: exact sketches with fixed seeds, so within some records of 1000 always; as a control, the kernel without a mixture is farther off
CREATE TABLE asked AS
SELECT sequence, kernel, power, rehash, race_params(kernel, 2, 1.5, power, 4096, 256, 5, sequence, rehash, lower => '{0,0}', upper => '{10,9}', mixture => :mixture) AS p
FROM (VALUES ('sobol', 'l2', 1, 'fold'), ('independent', 'l2', 1, 'fold'), ('orthogonal', 'l2', 2, 'auto'), ('sobol', 'l1', 2, 'auto'), ('independent', 'l1', 1, 'auto'), ('grid', 'l2', 1, 'auto'), ('grid', 'l1', 2, 'auto')) v (sequence, kernel, power, rehash);
SELECT sequence, kernel, power, abs(race_kernel_sum(s, '{5,4}') - sum) < CASE sequence WHEN 'independent' THEN 25 ELSE 10 END AS near, abs(sum - without) > 30 AS control
FROM asked, LATERAL (SELECT race_build(p, x) AS s, sum(race_kernel(p, x, '{5,4}')) AS sum, sum(race_kernel(race_params(kernel, 2, 1.5, power), x, '{5,4}')) AS without FROM t) v;
-- on average over seeds: 64 sketches of 64 rows, whose mean has a standard error of 1.5 records or so
SELECT abs(avg(race_kernel_sum(s, '{5,4}')) - avg(sum)) < 10 AS unbiased, abs(avg(sum) - avg(without)) > 30 AS control
FROM generate_series(1, 64) seed, LATERAL (SELECT race_build(q, x) AS s, sum(race_kernel(q, x, '{5,4}')) AS sum, sum(race_kernel('l2(bandwidth=1.5, power=2)', x, '{5,4}')) AS without FROM t,
	LATERAL (SELECT race_params('l2', 2, 1.5, 2, 64, 64, seed, mixture => :mixture) q) w) v;

-- a private sketch keeps the first rows, which have nearly the same shares
SELECT bool_and(abs((e).density - density) < 10 * (e).stderr) AS near, bool_and((e).stderr < 0.1) AS useful
FROM (SELECT race_privatize(race_build(p, x), 1, 1e-6, rows) AS s FROM t, asked, unnest('{128,512}'::int[]) rows WHERE sequence <> 'grid' GROUP BY p, rows OFFSET 0) v, LATERAL (SELECT avg(race_kernel(race_params(s), x, '{5,4}')) AS density FROM t) w, LATERAL (SELECT race_estimate(s, '{5,4}') AS e OFFSET 0) z;

-- models, and products
SELECT sequence, kernel, power, abs(race_kde(f, '{5,4}') - density) < 0.02 AS near, abs(race_kde(f, '{1,1}') - other) < 0.02 AS corner
FROM (SELECT sequence, kernel, power, race_fit(race_build(p, x), points => 300) AS f, avg(race_kernel(p, x, '{5,4}')) AS density, avg(race_kernel(p, x, '{1,1}')) AS other
	FROM t, asked WHERE sequence <> 'grid' OR kernel <> 'l1' GROUP BY sequence, kernel, power, p OFFSET 0) v ORDER BY 1, 2, 3;
-- a mixture so wide that no table has it
SELECT abs(race_kde(race_fit(race_build(p, x), points => 200), '{5,4}') - avg(race_kernel(p, x, '{5,4}'))) < 0.02 AS near
FROM t, (SELECT race_params('l2', 2, 100, rows => 1024, lower => '{0,0}', upper => '{10,9}', mixture => '{{0.01,1},{1,1}}') AS p) v GROUP BY p;
SELECT p, abs(race_kde(race_build(p, ROW(x, x)), ROW(ARRAY[5, 4], ARRAY[6, 3])) - avg(race_kernel(p, ROW(x, x), ROW(ARRAY[5, 4], ARRAY[6, 3])))) < 0.02 AS near
FROM t, (SELECT race_params('l2', 2, 2, rows => 4096, range => 256, mixture => :mixture) * race_params('l1', 2, 2, rows => 4096, range => 256, mixture => '{{0.5,1},{3,1}}') AS p) v GROUP BY p;

-- a mixture of one: the same counters as without
SELECT sequence, bool_and(race_kernel_sum(a, ARRAY[i, j]) = race_kernel_sum(b, ARRAY[i, j])) AS same
FROM (SELECT sequence, race_build(race_params('l2', 2, 1.5, rows => 64, range => 64, sequence => sequence, mixture => '{{1,3}}'), x) AS a,
	race_build(race_params('l2', 2, 1.5, rows => 64, range => 64, sequence => sequence), x) AS b FROM t, unnest('{sobol,independent,orthogonal}'::text[]) sequence GROUP BY sequence) v, generate_series(1, 10) i, generate_series(1, 9) j
GROUP BY sequence ORDER BY sequence;
-- sketches of different mixtures do not mix
SELECT race_sketch(race_params('l2', 2, mixture => :mixture)) + race_sketch(race_params('l2', 2));
SELECT race_difference(race_sketch(race_params('l2', 2, mixture => :mixture)), race_sketch(race_params('l2', 2)), '{1,1}');

-- ------------------------------------------------------------------- errors
SELECT race_params('angular', 2, mixture => '{{1,1}}');
SELECT race_params('match', 2, mixture => '{{1,1}}');
SELECT race_params('l2', mixture => '{{1,1}}');
SELECT race_params('l2', 2, mixture => '{1,1}');
SELECT race_params('l2', 2, mixture => '{{1,1,1}}');
SELECT race_params('l2', 2, mixture => '{}');
SELECT race_params('l2', 2, mixture => '{{1,NULL}}');
SELECT race_params('l2', 2, mixture => '{{0,1}}');
SELECT race_params('l2', 2, mixture => '{{NaN,1}}');
SELECT race_params('l2', 2, mixture => '{{1,0}}');
SELECT race_params('l2', 2, mixture => '{{1,-1}}');
SELECT race_params('l2', 2, mixture => '{{1,Infinity}}');
SELECT race_params('l2', 2, mixture => ARRAY(SELECT ARRAY[1, i] FROM generate_series(1, 17) i));
SELECT race_params('l2', 10, power => 2, sequence => 'sobol', mixture => '{{1,1},{2,1}}');
SELECT race_params('l2', 1, sequence => 'grid', lower => '{0}', upper => '{1}', mixture => '{{0.01,1},{1,1}}');
SELECT 'l2(dims=1, mixture={1,1})'::race_params;
SELECT 'l2(dims=1, mixture={{1,1,1}})'::race_params;
SELECT 'l2(dims=1, mixture={{1,1},{1}})'::race_params;
SELECT 'l2(dims=1, mixture={{1,1}}, mixture={{1,1}})'::race_params;
SELECT 'l2(dims=1, mixture={{0,1}}, sequence=grid, lower={0}, upper={1})'::race_params;
DROP TABLE t, asked;
