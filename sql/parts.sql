-- Parts of a product: questions with a NULL for a part that may be anything

CREATE TABLE people AS SELECT i, ARRAY[(i * 37 % 101) / 10.0]::float8[] AS x, ARRAY['town ' || i * i % 5] AS c,
	ARRAY(SELECT i % 9 + j FROM generate_series(0, i % 3) j) AS items FROM generate_series(1, 1000) i;
CREATE TABLE s AS SELECT race_build('l2(dims=1, bandwidth=2, rows=1024, range=256) * match(dims=1)', ROW(x, c)) AS s
FROM people;
-- all that there may be, as is public: 21 places in 6 towns
CREATE TABLE f AS SELECT race_fit(s, ROW(ARRAY[a / 2.0], ARRAY['town ' || b])) AS f
FROM s, generate_series(0, 20) a, generate_series(0, 5) b;

-- --------------------------------------------------------------- answers
-- one column alone: what a table of this column has, and within the interval
SELECT x,
	abs((e).kernel_density - truth) < 0.03 AS near,
	truth BETWEEN (e).lower AND (e).upper AS within,
	(e).standard_error BETWEEN 1e-4 AND 0.05 AS some_error,
	race_kde(f, q) = (e).kernel_density AS kde,
	race_kernel_sum(f, q) = (e).kernel_sum AS sum,
	race_kernel_sum(f, q, 24) = (e).kernel_sum AS mom
FROM f,
	LATERAL (
		SELECT q.x,
			ROW(ARRAY[q.x], NULL::text[]) AS q,
			(SELECT avg(race_kernel('l2(bandwidth=2)', p.x, ARRAY[q.x])) FROM people p) AS truth
		FROM generate_series(1, 9, 4) q(x)
	) q, LATERAL (SELECT race_estimate(f, q) AS e OFFSET 0) v;
SELECT town, abs((e).kernel_density - truth) < 0.03 AS near, truth BETWEEN (e).lower AND (e).upper AS within
FROM f,
	LATERAL (
		SELECT town, (SELECT avg(race_kernel('match', p.c, ARRAY['town ' || town])) FROM people p) AS truth
		FROM generate_series(0, 5) town
	) q, LATERAL (SELECT race_estimate(f, ROW(NULL::float8[], ARRAY['town ' || town])) AS e OFFSET 0) v ORDER BY town;
-- NULLs need no type, and everything is all records
SELECT race_kde(f, ROW(ARRAY[5], NULL)) = race_kde(f, ROW(ARRAY[5], NULL::text[])) AS untyped,
	abs(race_kde(f, ROW(NULL, NULL)) - 1) < 1e-9 AS everything
FROM f;
-- what the model does not know, the rows do not know either
SELECT kernel_density = 0 AS none,
	0 BETWEEN lower AND upper AS within,
	standard_error BETWEEN 1e-5 AND 0.01 AS some_error
FROM f, race_estimate(f, ROW(NULL::float8[], ARRAY['nowhere'])) \gx
SELECT abs(race_kde(f, ROW(ARRAY[1e6], NULL::text[]))) < 0.001 AS far FROM f;
-- a question that leaves out parts and one that does not, in turn at one place
SELECT bool_and(k = CASE WHEN c IS NULL THEN race_kde(f, ROW(ARRAY[a], NULL::text[]))
	ELSE race_kde(f, ROW(ARRAY[a], c)) END) AS same
FROM f,
	LATERAL (
		SELECT a, c, race_kde(f, ROW(ARRAY[a], c)) AS k
		FROM (VALUES (1, ARRAY['town 1']), (1, NULL), (1, ARRAY['town 1']), (2, ARRAY['town 1']), (2, NULL), (1, NULL),
			(1, ARRAY['town 1'])) v (a, c)
	) w;
-- without a model: the sum over all categories
SELECT abs(sum(race_kde(s, ROW(ARRAY[5], ARRAY['town ' || b]))) - min(truth)) < 0.02 AS near
FROM s, generate_series(0, 4) b, (SELECT avg(race_kernel('l2(bandwidth=2)', x, ARRAY[5])) AS truth FROM people) t;
-- three parts, of which one is a set; candidates that are coarser than the bandwidth
CREATE TABLE f3 AS SELECT race_fit(s, ROW(ARRAY[a], i, ARRAY['town ' || b])) AS f
FROM (
	SELECT race_build('l1(dims=1, bandwidth=0.6, rows=1024, range=256) * jaccard * match(dims=1)',
		ROW(x, items, c)) AS s
	FROM people
) v, generate_series(0, 10, 2) a, (SELECT DISTINCT items AS i FROM people) w, generate_series(0, 4) b;
SELECT abs((a).kernel_density - t.x) < 0.05 AS x,
	t.x BETWEEN (a).lower AND (a).upper AS within,
	abs((b).kernel_density - t.i) < 0.1 AS items,
	t.i BETWEEN (b).lower AND (b).upper AS within,
	abs((c).kernel_density - t.xi) < 0.05 AS both,
	t.xi BETWEEN (c).lower AND (c).upper AS within
FROM f3,
	LATERAL (
		SELECT race_estimate(f, ROW(ARRAY[5], NULL::int[], NULL)) a,
			race_estimate(f, ROW(NULL::float8[], ARRAY[3,2,2], NULL::text[])) b,
			race_estimate(f, ROW(ARRAY[5], ARRAY[2,3], NULL::text[])) c OFFSET 0
	) v,
	(
		SELECT avg(race_kernel('l1(bandwidth=0.6)', x, ARRAY[5])) x, avg(race_kernel('jaccard', items, ARRAY[2,3])) i,
			avg(race_kernel('l1(bandwidth=0.6)', x, ARRAY[5]) * race_kernel('jaccard', items, ARRAY[2,3])) xi
		FROM people
	) t \gx
-- classes
SELECT race_classify(label, f, ROW(ARRAY[10], NULL)) AS x,
	race_classify(label, f, ROW(ARRAY[1], NULL)) AS other,
	race_classify(label, f, ROW(NULL, ARRAY['a'])) AS c,
	(race_posterior(label, f, ROW(NULL::float8[], ARRAY['b']), 'counts') ->> '1')::float8 > 0.7 AS posterior
FROM (
	SELECT label, race_fit(s, ROW(ARRAY[a], ARRAY[b])) f
	FROM (
		SELECT i % 2 AS label,
			race_build('l2(dims=1, rows=256, range=64) * match(dims=1)',
				ROW(ARRAY[i % 2 * 10], CASE WHEN i % 2 = 1 OR i % 10 = 0 THEN ARRAY['b'] ELSE ARRAY['a'] END)) s
		FROM generate_series(1, 200) i GROUP BY 1
	) v, generate_series(0, 10, 5) a, unnest('{a,b}'::text[]) b GROUP BY label
) w \gx
-- private: the intervals hold the truth; the noise is that of epsilon 1, and 10 standard errors never fail by chance
CREATE TABLE p AS SELECT race_privatize(s, 1, 1e-6) AS p FROM s;
SELECT bool_and(abs((e).kernel_density - truth) < 10 * (e).standard_error) AS within,
	bool_and((e).standard_error < 0.1) AS useful
FROM (
	SELECT race_fit(p, ROW(ARRAY[a / 2.0], ARRAY['town ' || b])) AS f
	FROM p, generate_series(0, 20) a, generate_series(0, 4) b
) w,
	LATERAL (
		SELECT q.x, (SELECT avg(race_kernel('l2(bandwidth=2)', p.x, ARRAY[q.x])) FROM people p) AS truth
		FROM generate_series(0, 10) q(x)
	) q, LATERAL (SELECT race_estimate(f, ROW(ARRAY[q.x], NULL::text[])) AS e OFFSET 0) x;
-- one row alone cannot tell what a model misses
SELECT standard_error, lower, upper
FROM (
	SELECT race_fit(s, ROW(ARRAY[a], ARRAY['a'])) AS f
	FROM (
		SELECT race_build('l2(dims=1, rows=1, range=64) * match(dims=1)', ROW(ARRAY[i % 3], ARRAY['a'])) AS s
		FROM generate_series(1, 9) i
	) v, generate_series(0, 2) a
) w, race_estimate(f, ROW(ARRAY[1], NULL::text[]));

-- ------------------------------------------------------------- race_kernel
SELECT race_kernel('l2(bandwidth=2) * match', ROW(ARRAY[1], ARRAY['a', 'b']), ROW(ARRAY[1], NULL::text[])) AS one,
       race_kernel('l2 * match', ROW(ARRAY[1], ARRAY['a', 'b']), ROW(NULL::int[], ARRAY['a', 'c'])) AS half,
       race_kernel('l2 * match', ROW(ARRAY[1], ARRAY['a', 'b']), ROW(NULL, NULL)) AS everything,
       race_kernel('jaccard * jaccard', ROW(ARRAY[1, 2], ARRAY[3]), ROW(NULL::int[], ARRAY[4, 3])) AS half;

-- ------------------------------------------------------------------ errors
-- without a model
SELECT race_kde(s, ROW(ARRAY[5], NULL::text[])) FROM s;
\set VERBOSITY terse
SELECT race_estimate(s, ROW(NULL::float8[], ARRAY['town 1'])) FROM s;
SELECT race_kernel_sum(race_sketch('match(dims=1) * jaccard * l2(dims=1)'::race_params),
	ROW(NULL::text[], ARRAY[1], ARRAY[2]));
SELECT race_kde(race_sketch('l2(dims=1) * match(dims=2)'::race_params), ROW(ARRAY[1], NULL::text[]));
SELECT race_kde(race_sketch('l2(dims=1) * match(dims=1) * match(dims=1)'::race_params),
	ROW(ARRAY[1], NULL::text[], NULL::text[]));
SELECT race_classify(1, s, ROW(ARRAY[5], NULL::text[])) FROM s;
\set VERBOSITY default
-- a record that is built or fitted has all parts, and so has the first record of race_kernel
SELECT race_build('l2(dims=1) * match(dims=1)', ROW(ARRAY[1], NULL::text[]));
SELECT race_add(s, ROW(NULL::float8[], ARRAY['a'])) FROM s;
SELECT race_fit(s, ROW(ARRAY[1], NULL::text[])) FROM s;
SELECT race_is_record('l2(dims=1) * match(dims=1)', ROW(ARRAY[1], NULL::text[])) AS is_record;
SELECT race_kernel('l2 * match', ROW(ARRAY[1], NULL::text[]), ROW(ARRAY[1], ARRAY['a']));
-- a kernel by itself has no parts, and what is not left out is checked
SELECT race_kde(race_sketch('l2(dims=1)'::race_params), ROW(NULL::float8[]));
SELECT race_kde(race_sketch('l2(dims=1)'::race_params), '{NULL}');
SELECT race_kde(f, ROW(ARRAY[1, 2], NULL::text[])) FROM f;
SELECT race_kde(f, ROW(NULL::float8[], ARRAY[NULL::text])) FROM f;
SELECT race_kde(f, ROW(ARRAY['a'], NULL)) FROM f;
SELECT race_kde(f, ROW(NULL, '{a}')) FROM f;
SELECT race_kde(f, ROW(ARRAY[1])) FROM f;
-- all of it is no query
SELECT race_kde(f, NULL::record) IS NULL AS nothing FROM f;
DROP TABLE people, s, f, f3, p;
