-- Kernels beside l2: estimates of every kind against exact sums in SQL

SET client_min_messages = warning;
-- made tables, the same everywhere: numbers, directions, sets, categories
CREATE TABLE people AS
SELECT i, ARRAY[(i * 37 % 101) / 10.0, (i * 53 % 89) / 10.0]::float8[] AS x,
       ARRAY[sin(i), cos(i * 0.7), sin(i * 0.3) + 1]::real[] AS direction,
       ARRAY(SELECT i % 20 + j * (1 + i % 3) FROM generate_series(0, i % 7) j) AS items,
       ARRAY['sex ' || i % 2, 'town ' || i % 5, 'job ' || i * i % 7] AS c
FROM generate_series(1, 2000) i;
CREATE TABLE asked (kernel text, params race_params, x text, q text);
INSERT INTO asked VALUES
('l1', race_params('l1', 2, 3, rows => 4096, range => 256), 'x', '''{5,4}'''),
('l1, a bandwidth a column', race_params('l1', 2, rows => 4096, range => 256, bandwidths => '{2,5}'), 'x', '''{5,4}'''),
('l2, a bandwidth a column', race_params('l2', 2, rows => 4096, range => 256, bandwidths => '{2,5}'), 'x', '''{5,4}'''),
('l2 within bounds', race_params('l2', 2, 3, rows => 4096, range => 256, lower => '{2,2}', upper => '{6,Infinity}'),
	'x', '''{9,1}'''),
('l2 of a transform',
	race_params('l2', 2, 3, rows => 4096, range => 256,
		transform => ROW('{{1,0.5},{0,2},{-1,1}}', '{5,4}')::race_transform), 'x', '''{5,4}'''),
('angular', race_params('angular', 3, power => 4, rows => 4096, range => 16), 'direction', '''{1,0.5,2}'''),
('angular, from a middle',
	race_params('angular', 3, power => 2, rows => 4096, range => 16, transform => ROW(NULL, '{0,0,1}')::race_transform),
	'direction', '''{1,0.5,2}'''),
('angular, rehashed', race_params('angular', 3, power => 4, rows => 4096, range => 10), 'direction', '''{1,0.5,2}'''),
('jaccard', race_params('jaccard', rows => 4096, range => 256), 'items', 'ARRAY[3,4,5,6,7]'),
('jaccard, squared', race_params('jaccard', power => 2, rows => 4096, range => 256), 'items', 'ARRAY[3,4,5,6,7]'),
('match', race_params('match', 3, rows => 4096, range => 256), 'c', 'ARRAY[''sex 1'',''town 3'',''job 2'']'),
('match, cubed', race_params('match', 3, power => 3, rows => 4096, range => 256), 'c',
	'ARRAY[''sex 1'',''town 3'',''job 2'']'),
('l2 * match',
	race_params('l2', 2, 3, rows => 4096, range => 256) * race_params('match', 3, rows => 4096, range => 256),
 'ROW(x, c)', 'ROW(ARRAY[5,4], ARRAY[''sex 1'',''town 3'',''job 2''])'),
('l1 * jaccard * match', 'l1(dims=2, bandwidth=9, rows=4096, range=256) * jaccard * match(dims=3)',
 'ROW(x, items, c)', 'ROW(ARRAY[5,4], ARRAY[3,4,5], ARRAY[''sex 1'',''town 3'',''job 2''])');

-- Exact sketches: sampling error alone, measured 0 to 5 records of 2000; seeds are
-- fixed, so 20 never fails by chance.  Private ones, epsilon 1, delta 1e-6: Gaussian
-- noise of 4.9 records more, so 8 of that (1e-15 a line) and 20.
CREATE FUNCTION estimates(params race_params, x text, q text, OUT exact float8, OUT sketched float8, OUT private float8)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT sum(race_kernel($1, %1$s, %2$s)), race_kernel_sum(race_build($1, %1$s), %2$s),
		race_kernel_sum(race_privatize(race_build($1, %1$s), 1, 1e-6), %2$s) FROM people', x, q)
	INTO exact, sketched, private USING params;
END $$;
SELECT kernel, abs(sketched - exact) < 20 AS sketched, abs(private - exact) < 20 + 8 * 4.9 AS private
FROM asked, estimates(params, x, q);

-- everything else a sketch does, of each kernel: one to remove, halves to merge,
-- windows, storage, text and binary; equal sketches are equal bytes
CREATE FUNCTION same_sketches(params race_params, x text, OUT removed bool, OUT merged bool, OUT moved bool,
	OUT copied bool)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH whole AS (SELECT race_build($1, %1$s) s FROM people WHERE i <= 100),
		longer AS (SELECT race_build($1, %1$s) s FROM people WHERE i <= 101),
		parts AS (SELECT race_build($1, %1$s) s FROM people WHERE i <= 100 GROUP BY i %% 3)
		SELECT (SELECT race_remove(s, (SELECT %1$s FROM people WHERE i = 101))::text FROM longer) = s::text,
			(SELECT race_merge(s)::text FROM parts) = s::text,
			(SELECT w::text
				FROM (SELECT i, race_build($1, %1$s) OVER (ORDER BY i ROWS 99 PRECEDING) w FROM people WHERE i <= 120) v
				WHERE i = 100) = s::text
			AND (SELECT w::text
				FROM (SELECT i, race_build($1, %1$s) OVER (ORDER BY i ROWS 99 PRECEDING) w FROM people WHERE i <= 120) v
				WHERE i = 120)
				= (SELECT race_build($1, %1$s)::text FROM people WHERE i BETWEEN 21 AND 120),
			s::text::race_sketch::text = s::text
		FROM whole', x) INTO removed, merged, moved, copied USING params;
END $$;
UPDATE asked SET params = (regexp_replace(params::text, 'rows=4096', 'rows=100'))::race_params;
SELECT kernel, same_sketches(params, x) FROM asked;
\pset format unaligned
SELECT params::text::race_params = params AS text,
	regexp_split_to_table(replace(params::text, ', seed=0, sequence=sobol', ''), ' \* ') AS params
FROM asked;
\pset format aligned
-- parallel workers count the same
ALTER TABLE people SET (parallel_workers = 2);
CREATE TABLE alone AS SELECT race_build('jaccard(rows=100)', items) AS j, race_build('match(dims=3, rows=100)', c) AS m,
	race_build('l2(dims=2, rows=100) * match(dims=3)', ROW(x, c)) AS p FROM people;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT a.j::text = alone.j::text AS jaccard, a.m::text = alone.m::text AS match, a.p::text = alone.p::text AS product
FROM alone, (SELECT race_build('jaccard(rows=100)', items) AS j, race_build('match(dims=3, rows=100)', c) AS m,
	race_build('l2(dims=2, rows=100) * match(dims=3)', ROW(x, c)) AS p FROM people) a;
RESET ALL;
SET client_min_messages = warning;

-- sets: order and repetition do not matter, and types of integers neither; none is like none
SELECT race_kernel('jaccard', ARRAY[1,2,3], ARRAY[3,2,2,1]) AS same,
	race_kernel('jaccard', ARRAY[1,2], ARRAY[2,3]::bigint[]) AS third,
	race_kernel('jaccard', '{}'::int[], '{}'::text[]) AS none,
	race_kernel('jaccard', '{}'::int[], ARRAY[1]) AS nothing,
	race_kernel('jaccard', ARRAY['1'], ARRAY[1]) AS "text is no number",
	race_kernel('jaccard(power=2)', ARRAY['a','b'], ARRAY['b','c']::varchar[]) AS ninth,
	race_kernel('jaccard', ARRAY['00000000-0000-0000-0000-000000000001']::uuid[],
		ARRAY['00000000-0000-0000-0000-000000000001']::uuid[]) AS uuids \gx
SELECT race_add(e, ARRAY[1,2,3])::text = race_add(e, ARRAY[3,1,2,2,1]::smallint[])::text AS order,
	race_kernel_sum(race_add(e, '{}'::int[]), '{}'::text[]) > 0.99 AS empty,
	abs(race_kernel_sum(race_add(e, '{}'::int[]), ARRAY[1])) < 0.1 AS apart
FROM race_sketch('jaccard(rows=1024)'::race_params) e \gx
CREATE DOMAIN tags AS text[];
SELECT race_kernel('jaccard', ARRAY['a','b']::tags, ARRAY['b']);
-- rows of categories
SELECT race_kernel('match', ARRAY['a','b','c'], ARRAY['a','x','c']) AS two_thirds,
	race_kernel('match(power=2)', ARRAY[1,2], ARRAY[1,3]) AS quarter;
-- angles
SELECT race_kernel('angular', '{1,0}', '{0,3}') AS right,
	race_kernel('angular', '{1,1}', '{-2,-2}') AS opposite,
	race_kernel('angular', '{1,1}', '{5,5}') AS same,
	race_kernel('angular', '{0,0}', '{1,0}') AS zero,
	race_kernel('angular', '{0,0}', '{0,0}') AS zeros,
	round(race_kernel('angular', '{1,0}', '{1,1}')::numeric, 12) AS eighth \gx
-- bounds: what lies beyond counts as if it lay there, infinities too
SELECT race_add(e, '{1e300,-Infinity}')::text = race_add(e, '{6,2}')::text AS clipped,
	race_kernel(race_params(e), '{100,3}', '{6,3}') AS same
FROM race_sketch(race_params('l2', 2, lower => '{2,2}', upper => '{6,Infinity}')) e;
SELECT race_add(race_sketch(race_params('l2', 2, lower => '{2,2}', upper => '{6,Infinity}')), '{1,Infinity}');
SELECT race_add(race_sketch(race_params('l2', 2, lower => '{2,2}', upper => '{6,Infinity}')), '{1,NaN}');

-- classes of mixed records
SELECT sex, race_classify(sex, s, ROW(ARRAY[5,4], ARRAY['sex ' || sex, 'town 3', 'job 2'])) AS winner
FROM (VALUES (0), (1)) AS sexes(sex),
(
	SELECT i % 2 AS class, race_build(race_params('l2', 2, 3) * race_params('match', 3), ROW(x, c)) s
	FROM people GROUP BY 1
) v(class, s),
     LATERAL (SELECT class) w(label)
GROUP BY sex ORDER BY sex;

-- what does not fit
SELECT race_kde(race_sketch('jaccard'::race_params), '{1,2}');
SELECT race_kde(race_sketch('jaccard'::race_params), ARRAY[1.5]);
SELECT race_kde(race_sketch('jaccard'::race_params), ARRAY[1, NULL]);
SELECT race_kde(race_sketch('jaccard'::race_params), ARRAY[[1, 2]]);
SELECT race_kde(race_sketch('match(dims=2)'::race_params), ARRAY[1]);
SELECT race_kde(race_sketch('l2(dims=1)'::race_params), ARRAY['a']);
SELECT race_kde(race_sketch('l2(dims=1) * match(dims=1)'::race_params), ARRAY[1]);
SELECT race_kde(race_sketch('l2(dims=1) * match(dims=1)'::race_params), ROW(ARRAY[1]));
SELECT race_kde(race_sketch('l2(dims=1) * match(dims=1)'::race_params), ROW(ARRAY[1], NULL::int[]));
SELECT race_kde(race_sketch('l2(dims=1) * match(dims=1)'::race_params), ROW(ARRAY[1], ARRAY[1, 2]));
SELECT race_build('l2(dims=1)', ROW(ARRAY[1], ARRAY['a']));
SELECT race_build('l2(dims=1) * match(dims=1)', ROW(ARRAY[i], CASE i WHEN 1 THEN ARRAY['a'] END))
FROM generate_series(1, 2) i;
SELECT race_kde_grid(race_sketch('jaccard'::race_params), '{0}', '{1}', '{2}');
SELECT race_kde_grid(race_sketch('l2(dims=1) * match(dims=1)'::race_params), '{0}', '{1}', '{2}');
SELECT count(*) FROM race_kde_grid(race_sketch('angular(dims=2)'::race_params), '{0,0}', '{1,1}', '{2,2}');
-- points of a grid are clipped as other queries are
SELECT x, kernel_density = race_kde(s, x) AS same, kernel_density = 1 AS clipped
FROM (
	SELECT race_add(race_sketch(race_params('l2', 2, rows => 64, lower => '{0,0}', upper => '{1,Infinity}')), '{0,0}')
) v(s), race_kde_grid(s, '{-5,-5}', '{2,2}', '{2,2}');
SELECT race_sketch('match'::race_params);
SELECT race_sketch('l2(dims=2) * match'::race_params);
SELECT race_params('jaccard', 3);
SELECT race_params('jaccard', bandwidth => 2);
SELECT race_params('match', 3, sequence => 'structured');
SELECT race_params('match', 3, rehash => 'fold');
SELECT race_params('l1', 3, rehash => 'fold');
SELECT race_params('angular', 3, power => 11, rehash => 'fold');
SELECT race_params('l2', 2, bandwidths => '{1,2,3}');
SELECT race_params('l2', 2, bandwidths => '{1,0}');
SELECT race_params('l2', 2, lower => '{1,2}', upper => '{2,1}');
SELECT race_params('l2', 2, lower => '{NaN,2}');
SELECT race_params('jaccard', lower => '{1}');
SELECT race_params('l2', 2, rows => 10) * race_params('match', 2);
SELECT race_params('l2', 2) * race_params('l2', 2) * race_params('l2', 2) * race_params('l2', 2) * race_params('l2', 2);
\pset format unaligned
SELECT regexp_split_to_table((race_params('l2', 6, 5, 2) * race_params('l2', 6, 5, 2))::text, ' \* ') AS params;
\pset format aligned
SELECT 'l2(dims=1) * match(dims=2, rows=5)'::race_params;
SELECT 'l2(dims=1) *'::race_params;
SELECT 'l2(dims=2, lower={1,2)'::race_params;
SELECT 'l2(dims=2, lower={1,x})'::race_params;
SELECT 'l2(dims=2, matrix={{1,2},{1}})'::race_params;
SELECT 'l2(dims=2, matrix={1,2})'::race_params;
SELECT 'l2(dims=2, lower={{1,2}})'::race_params;
SELECT 'l2(dims=2, upper={1,2,3})'::race_params;
SELECT kernel, dims, bandwidth, power, sequence, rehash
FROM race_info(race_sketch('l2(dims=1) * match(dims=2)'::race_params))
UNION ALL SELECT kernel, dims, bandwidth, power, sequence, rehash FROM race_info(race_sketch('jaccard'::race_params));

-- rows that share the elements of a set: estimates are as good as with independent ones
SELECT sequence, bool_and(abs(race_kernel_sum(s, q) - truth) < 0.03 * 200) AS near, count(*)
FROM (
	SELECT sequence, race_build(race_params('jaccard', rows => 4096, range => 1024, sequence => sequence), x) AS s
	FROM unnest('{independent,grouped}'::text[]) sequence,
		(SELECT array_agg(e) AS x FROM generate_series(1, 200) i, generate_series(i, i * 2 + i % 7 * 30) e GROUP BY i) v
	GROUP BY 1
) w,
	LATERAL (
		SELECT q, sum(race_kernel('jaccard', x, q)) AS truth
		FROM (SELECT array_agg(e) AS q FROM generate_series(1, 20) i, generate_series(5 * i, 20 * i) e GROUP BY i) u,
			(
				SELECT array_agg(e) AS x
				FROM generate_series(1, 200) i, generate_series(i, i * 2 + i % 7 * 30) e GROUP BY i
			) v GROUP BY q
	) t GROUP BY 1 ORDER BY 1;
SELECT 'l2(dims=2, sequence=partition)'::race_params;
-- a sum of kernels is one of sketches with rows in proportion to the weights
CREATE TABLE summed AS SELECT ARRAY[i % 100 / 10.0] AS x FROM generate_series(1, 1000) i;
SELECT abs(0.25 * race_kde(race_build('l2(dims=1, bandwidth=0.5, rows=1024)', x), '{5}') + 0.75
	* race_kde(race_build('l2(dims=1, bandwidth=4, rows=3072)', x), '{5}')
	- avg(0.25 * race_kernel('l2(bandwidth=0.5)', x, '{5}') + 0.75
		* race_kernel('l2(bandwidth=4)', x, '{5}'))) < 0.005 AS near
FROM summed;
DROP TABLE summed;
SELECT 'match(dims=2, sequence=grouped)'::race_params;
DROP TABLE people, asked, alone;
DROP FUNCTION estimates, same_sketches;
DROP DOMAIN tags;
