-- Questions: counts, sums, densities, intervals, grids, exact kernels

CREATE TABLE s AS
SELECT race_build('l2(dims=1, bandwidth=2, rows=1024, range=256)', x) AS s
FROM (SELECT ARRAY[i / 100.0] AS x FROM generate_series(1, 1000) i) v;
CREATE TABLE t AS SELECT ARRAY[i / 100.0]::float8[] AS x FROM generate_series(1, 1000) i;

SELECT race_count(s) FROM s;
-- estimates are near the truth, for every way to pass the query
SELECT q, round((race_kde(s, q) - k)::numeric, 1) AS error, race_kernel_sum(s, q) = 1000 * race_kde(s, q) AS sum,
k BETWEEN (e).lower AND (e).upper AS covered, (e).standard_error < 0.02 AS sharp,
(e).kernel_density = race_kde(s, q) AS same
FROM s,
	(
		SELECT q, avg(race_kernel('l2(bandwidth=2)', x, q)) k
		FROM t, (VALUES (ARRAY[0.0]), ('{5}'), ('{9.5}'), ('{20}')) v(q) GROUP BY q
	) v,
     LATERAL (SELECT race_estimate(s, q) e) w ORDER BY q;
SELECT race_kde(s, ARRAY[5]) = race_kde(s, '{5}') AS a,
	race_kde(s, ARRAY[5::real]) = race_kde(s, ARRAY[5::numeric]) AS b
FROM s \gx

-- where densities are large a release has few independent errors, and intervals reach further: 2.13 standard errors
-- of 16 blocks at 0
SELECT q[1] AS q,
	round(kernel_density::numeric, 2) AS density,
	round(((e.upper - e.lower) / 2 / e.standard_error)::numeric, 2) AS reach,
       round(((difference - d.lower) / d.standard_error)::numeric, 2) AS of_difference
FROM s, (VALUES ('{5}'::float8[]), ('{20}'), ('{400}')) v(q), race_estimate(s, q) e,
	race_difference(s, race_sketch(race_params(s)), q) d;

-- rehashed codes: collisions are corrected, so that far away the sum is near 0
SELECT rehash,
	range,
	abs(race_kernel_sum(b, '{50000}')) < 5 AS corrected,
	abs(race_kernel_sum(b, '{5}') - 1000 * k) < 25 AS near
FROM unnest('{2,3,8,100}'::int[]) range, unnest('{multilinear}'::text[]) rehash,
	LATERAL (SELECT race_build(race_params('l2', 1, 2, rows => 16384, range => range, rehash => rehash), x) b FROM t) v,
	(SELECT avg(race_kernel('l2(bandwidth=2)', x, '{5}')) k FROM t) w;
SELECT power, abs(race_kernel_sum(b, '{5}') - 1000 * k) < 15 AS near
FROM unnest('{1,2,4}'::int[]) power,
     LATERAL (SELECT race_build(race_params('l2', 1, 2, power, rows => 8192, range => 256), x) b,
                     avg(race_kernel(race_params('l2', 1, 2, power), x, '{5}')) k FROM t) v;

-- empty: a defined answer
SELECT race_count(e), race_kernel_sum(e, '{1}'), race_kde(e, '{1}'), race_estimate(e, '{1}')
FROM race_sketch('l2(dims=1)'::race_params) e;
SELECT * FROM race_estimate(race_sketch('l2(dims=1, power=2)'::race_params), '{1}');
-- one row tells nothing of its error
SELECT kernel_density, standard_error, lower, upper
FROM race_estimate(race_sketch('l2(dims=1, rows=1)'::race_params), '{1}');
-- a count within its noise of zero: nothing can be said of a ratio
SELECT lower, upper
FROM race_estimate(race_privatize(race_sketch('l2(dims=1)'::race_params), 0.0001, rows => 1024), '{1}', 0.999999999999);
SELECT race_estimate(s, '{1}', 0) FROM s;
SELECT race_estimate(s, '{1}', 1) FROM s;
SELECT race_estimate(s, '{1}', 'NaN') FROM s;
SELECT race_kde(NULL, '{1}'), race_kde(s, NULL::int[]), race_count(NULL), race_estimate(s, '{1}', NULL) FROM s;

-- grids
SELECT x, kernel_density = race_kde(s, x) AS same FROM s, race_kde_grid(s, '{0}', '{10}', '{5}');
SELECT x FROM race_kde_grid(race_sketch('l2(dims=2)'::race_params), '{0,-1}', '{1,1}', '{2,3}');
SELECT x FROM race_kde_grid(race_sketch('l2(dims=2)'::race_params), '{0,5}', '{1,5}', '{1,1}');
-- ends are exact
SELECT count(*) AS grids, bool_and(lo = least(a, b) / 7.0 AND hi = greatest(a, b) / 7.0) AS exact
FROM generate_series(-20, 20) a, generate_series(-20, 20) b, generate_series(2, 9) n,
	LATERAL (
		SELECT min(x[1]) lo, max(x[1]) hi
		FROM race_kde_grid(race_sketch('l2(dims=1, rows=1, range=2)'::race_params), ARRAY[least(a, b) / 7.0]::float8[],
			ARRAY[greatest(a, b) / 7.0]::float8[], ARRAY[n])
	) g;
SELECT count(*) FROM (SELECT race_kde_grid(s, '{0}', '{10}', '{1000000}') FROM s LIMIT 3) v;
SELECT race_kde_grid(s, '{0,1}', '{10}', '{5}') FROM s;
SELECT race_kde_grid(s, '{0}', '{10}', '{0}') FROM s;
SELECT race_kde_grid(s, '{0}', '{10}', '{NULL}') FROM s;
SELECT race_kde_grid(s, '{10}', '{0}', '{5}') FROM s;
SELECT race_kde_grid(s, '{-1e300}', '{1e300}', '{5}') FROM s;
SELECT race_kde_grid(race_sketch('l2(dims=2)'::race_params), '{0,0}', '{1,1}', '{1000000,1000000}');

-- the exact kernel, with and without dims in the parameters
SELECT round(race_kernel('l2(dims=2, bandwidth=5)', '{0,0}', '{3,4}')::numeric, 12) AS c1,
       round(race_kernel('l2(bandwidth=5, power=3)', '{0,0}', ARRAY[3, 4])::numeric, 12) AS cubed,
       race_kernel('l2', '{1}', ARRAY[1]) AS same, race_kernel('l2', '{1e308}', '{-1e308}') AS far;
SELECT race_kernel('l2(dims=2)', '{0,0,0}', '{3,4}');
SELECT race_kernel('l2', '{0,0,0}', '{3,4}');
SELECT race_kernel('l2', '{}', '{}');
SELECT race_kernel('l2', 'x'::text, '{}');

-- wrong queries
SELECT race_kde(s, '{1,2}') FROM s;
SELECT race_kde(s, '{NaN}') FROM s;
SELECT race_kde(s, ARRAY['Infinity'::float8]) FROM s;
SELECT race_kde(s, ARRAY[NULL::float8]) FROM s;
SELECT race_kde(s, '{{1}}') FROM s;
SELECT race_kde(s, '{}') FROM s;
SELECT race_kde(s, 1) FROM s;
SELECT race_kde(s, ARRAY[true]) FROM s;

-- prepared statements pass the query with a type
PREPARE ask(real[]) AS SELECT round(race_kde(s, $1)::numeric, 1) FROM s;
EXECUTE ask('{5}');
EXECUTE ask('{200}');
SELECT * FROM race_info((SELECT s FROM s)) \gx
DROP TABLE s, t;
