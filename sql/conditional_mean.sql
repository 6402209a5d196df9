-- race_build_value, race_conditional_mean, and releases with a value
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA means;
SET search_path = means, public;
\set p '''l2(dims=1, bandwidth=2, power=4, rows=256, range=128)'''
\set g '''l2(dims=1, bandwidth=2, power=4, sequence=grid, lower={0}, upper={40})'''
CREATE TABLE t AS SELECT i AS id, (i % 40)::float8 AS x, 50 + 2 * (i % 40)::float8 AS y,
	(ARRAY['north', 'south'])[1 + i % 2] AS site FROM generate_series(1, 8000) i;
-- the mean that is asked for
CREATE FUNCTION truth(params race_params, q float8[]) RETURNS float8 LANGUAGE sql AS
	'SELECT sum(y * race_kernel(params, ARRAY[x], q)) / sum(race_kernel(params, ARRAY[x], q)) FROM t WHERE id <= 8000';

-- ------------------------------------------------------------- race_build_value
-- values at the bounds, and beyond: each record is whole in one half
CREATE TABLE sure AS SELECT race_build_value(:p, ARRAY[x],
	CASE WHEN x < 10 THEN 0 WHEN x < 20 THEN -1e300 WHEN x < 30 THEN 'Infinity'::float8 ELSE 1 END, 0, 1) AS r FROM t;
CREATE TABLE bounds AS SELECT race_build(:p, ARRAY[x]) FILTER (WHERE x < 20) AS below,
	race_build(:p, ARRAY[x]) FILTER (WHERE x >= 20) AS above FROM t;
SELECT bool_and(race_kernel_sum((r).lower, ARRAY[q]) = race_kernel_sum(below, ARRAY[q])) AS lower,
	bool_and(race_kernel_sum((r).upper, ARRAY[q]) = race_kernel_sum(above, ARRAY[q])) AS upper
FROM sure, bounds, generate_series(0, 39) q;
-- others are divided: both halves together are the sketch of all records
CREATE TABLE s AS SELECT race_build_value(:p, ARRAY[x], y, 0, 200) AS r FROM t;
SELECT ((r).lower + (r).upper)::text = (SELECT race_build(:p, ARRAY[x])::text FROM t) AS whole,
	abs(race_count((r).upper) - (SELECT sum(y) / 200 FROM t)) < 8 * sqrt(8000) / 2 AS mean,
	(race_info((r).upper)).status
FROM s;
-- a record goes up in its share of the rows, and of the first ones; of a grid in its share of the weights, and of
-- coarse ones
CREATE TABLE one AS SELECT p AS share, race_build_value(:p, '{5.25}'::float8[], p, 0, 1) AS rows,
	race_build_value(:g, '{5.25}'::float8[], p, 0, 1) AS grid FROM unnest('{0,0.2,0.5,0.77,1}'::float8[]) p GROUP BY p;
SELECT share,
	abs(race_kernel_sum((rows).upper, '{5.25}') - share) < 0.02 AS rows,
	race_kernel_sum((rows).upper, '{5.25}') + race_kernel_sum((rows).lower, '{5.25}') AS whole,
	abs(race_kernel_sum((grid).upper, '{5.25}') - share) < 0.04 AS grid,
	race_count((rows).upper) + race_count((rows).lower) AS count
FROM one ORDER BY share;
-- In n rows it goes up as often as a multiple of the golden ratio plus the offset lies in an arc as long as the
-- share, so n times the share is met but for the discrepancy of these n points, at most, for all offsets and shares.
-- It is 1 + max(i - n x) - min(i - n x), with x number i in their order: an arc from x j to x i has n (x i - x j),
-- and i - j + 1 of them; what is outside of it has the others.  The kernel sum takes a count in 128 off, and the rest
-- is 127 / 128 of it.
SELECT rows,
	round(discrepancy::numeric, 2) AS discrepancy,
	bool_and(abs((race_kernel_sum((r).upper, '{5.25}') * 127
		+ race_count((r).upper)) / 128 - share) * rows < discrepancy + 0.001) AS upper,
	bool_and(abs(race_kernel_sum((r).lower + (r).upper, '{5.25}') - 1) < 0.001) AS whole
FROM (
	SELECT share, n AS rows, discrepancy, race_privatize(o.rows, 1e6, rows => n) AS r
	FROM one o, unnest('{4,16,64,256}'::int[]) n,
		LATERAL (
			SELECT 1 + max(i - n * x) - min(i - n * x) AS discrepancy
			FROM (
				SELECT x, row_number() OVER (ORDER BY x) AS i
				FROM (
					SELECT r * golden - floor(r * golden) AS x
					FROM generate_series(0, n - 1) r, (SELECT (sqrt(5::float8) - 1) / 2 AS golden) g
				) points
			) ordered
		) d
) v GROUP BY rows, discrepancy ORDER BY rows;
-- each call anew, and so each record
SELECT count(DISTINCT (race_build_value).upper::text) = 5 AS different
FROM generate_series(1, 5) i, LATERAL (SELECT race_build_value(:p, ARRAY[x], y + 0 * i, 0, 200) FROM t) v;
SELECT race_count((r).upper) BETWEEN 100 AND 900 AS halves
FROM (SELECT race_build_value(:p, ARRAY[1], 0.5, 0, 1) AS r FROM generate_series(1, 1000)) v;
-- both columns of one call belong together
SELECT race_count((race_build_value(:p, ARRAY[x], y, 0, 200)).lower
	+ (race_build_value(:p, ARRAY[x], y, 0, 200)).upper) AS all
FROM t;
-- no records; records and values that are none
SELECT race_build_value(:p, ARRAY[x], y, 0, 200) IS NULL AS none FROM t WHERE false;
SELECT race_count((r).lower), race_count((r).upper) FROM (SELECT race_build_value(:p, x, y, 0, 1) AS r
	FROM (VALUES (ARRAY[1.0], NULL), (NULL, 1), ('{1}', 'NaN'::float8), ('{1}', 1), ('{2}', 0), ('{3}', 0)) v (x, y)) v;
SELECT race_count((r).lower), race_count((r).upper)
FROM (SELECT race_build_value(:p, NULL::float8[], NULL, 0, 1) AS r) v;
-- groups, sorted and hashed; workers; windows
SET enable_sort = off;
SELECT site, race_count((r).lower) + race_count((r).upper) AS records
FROM (SELECT site, race_build_value(:p, ARRAY[x], y, 0, 200) AS r FROM t GROUP BY site) v ORDER BY 1;
SET enable_sort = on;
SET enable_hashagg = off;
SELECT site, race_count((r).lower) + race_count((r).upper) AS records
FROM (SELECT site, race_build_value(:p, ARRAY[x], y, 0, 200) AS r FROM t GROUP BY site) v ORDER BY 1;
RESET enable_sort;
RESET enable_hashagg;
SELECT DISTINCT race_count((r).lower) + race_count((r).upper) AS records
FROM (SELECT race_build_value(:p, ARRAY[x], y, 0, 200) OVER (ORDER BY id ROWS 1 PRECEDING) AS r FROM t WHERE id <= 10) v
ORDER BY 1;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
CREATE FUNCTION is_parallel(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text; found boolean := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP found := found OR line ~ 'Partial Aggregate'; END LOOP;
	RETURN found;
END $$;
CREATE TABLE many AS SELECT t.* FROM t, generate_series(1, 10);
SELECT is_parallel('SELECT race_build_value(''l2(dims=1)'', ARRAY[x], y, 0, 200) FROM many');
SELECT ((r).lower + (r).upper)::text = (SELECT race_build(:p, ARRAY[x])::text FROM many) AS whole
FROM (SELECT race_build_value(:p, ARRAY[x], y, 0, 200) AS r FROM many) v;
SELECT ((r).lower + (r).upper)::text = (SELECT race_build(:g, ARRAY[x])::text FROM many) AS whole
FROM (SELECT race_build_value(:g, ARRAY[x], y, 0, 200) AS r FROM many) v;
COMMIT;
-- wrong
SELECT race_build_value(NULL, ARRAY[x], y, 0, 1) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, NULL, 1) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, 0, NULL) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, 1, 1) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, 2, 1) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, 'NaN', 1) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, 0, 'Infinity') FROM t;
SELECT race_build_value(:p, ARRAY[x], y, -1e308, 1e308) FROM t;
SELECT race_build_value(:p, ARRAY[x], y, 0, id) FROM t;
SELECT race_build_value(:p, ARRAY[x, x], y, 0, 1) FROM t;
SELECT race_build_value(:p, y, y, 0, 1) FROM t;
SELECT race_build_value('l2', ARRAY[x], y, 0, 1) FROM t;

-- -------------------------------------------------------- race_conditional_mean
-- exact, of rows and of a grid; private; and fitted.  Ten standard errors.  Nothing known has one of 58; of 2,000
-- private grids the largest was 9, and each 0.65 more was rarer by e: 25 is beyond 1e-9
CREATE TABLE asked AS
SELECT 'rows' AS what, (r).lower, (r).upper FROM s UNION ALL
SELECT 'grid', (r).lower, (r).upper FROM (SELECT race_build_value(:g, ARRAY[x], y, 0, 200) AS r FROM t) v;
INSERT INTO asked
SELECT 'private ' || what, (r).lower, (r).upper
FROM (SELECT what, race_privatize(ROW(lower, upper)::race_value_sketches, 1, 1e-6) AS r FROM asked) v;
INSERT INTO asked
SELECT 'pure grid', (r).lower, (r).upper
FROM (
	SELECT race_privatize(ROW(lower, upper)::race_value_sketches, 1, fit => true) AS r FROM asked WHERE what = 'grid'
) v;
INSERT INTO asked
SELECT 'fitted ' || what, race_fit(lower, lower => '{0}', upper => '{40}', points => 200),
	race_fit(upper, lower => '{0}', upper => '{40}', points => 200)
FROM asked WHERE what ~ 'private rows|pure grid';
SELECT what,
	bool_and(abs(mean - truth(:p, ARRAY[q])) < 10 * standard_error) AS near,
	max(standard_error) < 25 AS precise,
	bool_and(m.lower < mean AND mean < m.upper AND m.lower >= 0 AND m.upper <= 200) AS ordered
FROM asked, generate_series(0, 35, 5) q, race_conditional_mean(asked.lower, asked.upper, ARRAY[q], 0, 200) m
GROUP BY what ORDER BY what;
-- it goes from 0 to 1 by default, and is linear in the bounds
SELECT bool_and(abs(200 * a.mean - 100 - b.mean) < 1e-9 AND abs(200 * a.standard_error - b.standard_error) < 1e-9
		AND abs(200 * a.lower - 100 - b.lower) < 1e-9) AS linear,
	bool_and(c.lower <= b.lower AND c.upper >= b.upper AND c.mean = b.mean) AS wider
FROM asked s, race_conditional_mean(s.lower, s.upper, '{7}') a,
	race_conditional_mean(s.lower, s.upper, '{7}', -100, 100) b,
	race_conditional_mean(s.lower, s.upper, '{7}', -100, 100, confidence => 0.99) c;
-- nothing is known where there are no records
SELECT what, m.mean, m.standard_error, m.lower, m.upper
FROM asked s, race_conditional_mean(s.lower, s.upper, '{1e6}', -1, 1) m WHERE what = 'rows';
SELECT race_conditional_mean(race_sketch(:p::race_params), race_sketch(:p::race_params), '{1}', 3, 4);
SELECT lower, upper
FROM race_conditional_mean(race_privatize(race_sketch(:g::race_params), 1, rows => 1),
	race_privatize(race_sketch(:g::race_params), 1, rows => 1), '{1}', 3, 4, 1 - 1e-14);
-- where all values are at a bound it is the bound, also of sketches of whole records
SELECT mean, lower FROM sure, race_conditional_mean((r).lower, (r).upper, '{5}');
SELECT mean = 1 AS one, upper FROM bounds, race_conditional_mean(race_sketch(:p::race_params), above, '{25}');
SELECT bool_and(m.mean = n.mean) AS same
FROM sure, bounds, generate_series(0, 35, 5) q, race_conditional_mean((r).lower, (r).upper, ARRAY[q]) m,
	race_conditional_mean(below, above, ARRAY[q]) n;
-- equal records are divided each in its own way: a thousand of them err less than one
SELECT max(abs(mean - 0.3)) < 0.01 AS near
FROM (
	SELECT race_build_value(params, '{5}'::float8[], 0.3, 0, 1) AS r
	FROM generate_series(1, 10000), (VALUES (:p::race_params), (:g)) v (params) GROUP BY params
) v, race_conditional_mean((r).lower, (r).upper, '{5}');
-- records of another kind
SELECT abs(mean - 0.25) < 0.2 AS near
FROM (
	SELECT race_build_value('match(dims=2, rows=128)', ARRAY['a', 'b'], 0.25, 0, 1) AS r FROM generate_series(1, 1000)
) v, race_conditional_mean((r).lower, (r).upper, ARRAY['a', 'b']);
SELECT abs(mean - 0.25) < 0.2 AS near
FROM (
	SELECT race_build_value('l2(dims=1, rows=128) * match(dims=1)', ROW(ARRAY[1], ARRAY['b']), 0.25, 0, 1) AS r
	FROM generate_series(1, 1000)
) v, race_conditional_mean((r).lower, (r).upper, ROW(ARRAY[1], ARRAY['b']));
-- the trend: records are told by those around them, too
CREATE TABLE few AS SELECT race_privatize(race_build_value(:g, ARRAY[i % 40], 0.2 + 0.6 * (i % 40) / 40, 0, 1), 10,
	rows => 1) AS r FROM generate_series(1, 3000) i;
SELECT bool_and(abs(m.mean - (0.2 + 0.6 * q / 40)) < 0.1) AS near,
	bool_and(m.upper - m.lower < 0.4) AS precise,
	count(m.mean)
FROM few, generate_series(2, 36, 2) q, race_conditional_mean((r).lower, (r).upper, ARRAY[q]) m;
-- the same in two columns of which one says nothing, and of fitted rows
CREATE TABLE two AS SELECT race_privatize(race_build_value(params, ARRAY[i % 40, i % 7], 0.2 + 0.6 * (i % 40) / 40, 0,
		1), 10, delta) AS r
FROM generate_series(1, 3000) i,
	(VALUES ('l2(dims=2, bandwidth=4, power=4, sequence=grid, lower={0,0}, upper={40,8})'::race_params, 0),
		('l2(dims=2, bandwidth=4, rows=256, range=128)', 1e-6)) v (params, delta) GROUP BY params, delta;
CREATE TABLE fitted AS SELECT 'grid' AS sequence, (r).lower AS l, (r).upper AS u FROM two
WHERE (race_info((r).lower)).sequence = 'grid';
INSERT INTO fitted
SELECT 'sobol', race_fit((r).lower, lower => '{0,0}', upper => '{40,8}', points => 200),
	race_fit((r).upper, lower => '{0,0}', upper => '{40,8}', points => 200)
FROM two WHERE (race_info((r).lower)).sequence = 'sobol';
SELECT sequence,
	bool_and(abs(m.mean - (0.2 + 0.6 * q / 40)) < 0.15) AS near,
	bool_and(m.upper - m.lower < 0.6) AS precise
FROM fitted, generate_series(4, 36, 4) q, race_conditional_mean(l, u, ARRAY[q, 3]) m GROUP BY 1 ORDER BY 1;
-- one sketch in two pairs: each pair has a trend of its own
CREATE TABLE wholes AS SELECT race_privatize(s, 10, rows => 1) AS s, race_privatize(s, 10, rows => 1) AS same,
	race_privatize(s + s + s, 10, rows => 1) AS thrice
FROM (SELECT race_build(:g, ARRAY[i % 40]) AS s FROM generate_series(1, 3000) i) v;
SELECT bool_and(abs(m.mean - 0.5) < 0.1) AS half, bool_and(abs(n.mean - 0.75) < 0.1) AS three_quarters
FROM wholes, generate_series(10, 30, 10) q, race_conditional_mean(s, same, ARRAY[q]) m,
	race_conditional_mean(s, thrice, ARRAY[q]) n;
-- NULL, and wrong
SELECT race_conditional_mean((r).lower, NULL, '{1}') IS NULL AS a,
	race_conditional_mean((r).lower, (r).upper, NULL::int[]) IS NULL AS b
FROM s;
SELECT race_conditional_mean((r).lower, race_sketch('l2(dims=1, bandwidth=3, range=128)'::race_params), '{1}')
FROM s;
SELECT race_conditional_mean((r).lower, race_sketch(:g::race_params), '{1}') FROM s;
SELECT race_conditional_mean((r).lower, (r).upper, '{1,2}') FROM s;
SELECT race_conditional_mean((r).lower, (r).upper, '{NaN}') FROM s;
SELECT race_conditional_mean((r).lower, (r).upper, '{1}', 1, 0) FROM s;
SELECT race_conditional_mean((r).lower, (r).upper, '{1}', 0, 'NaN') FROM s;
SELECT race_conditional_mean((r).lower, (r).upper, '{1}', 0, 1, 1) FROM s;
SELECT race_conditional_mean((r).upper, (r).lower, '{1}') FROM s;
SELECT race_conditional_mean((p).lower, (q).upper, '{1}')
FROM (SELECT race_privatize(r, 1, rows => 16) AS p, race_privatize(r, 1, rows => 32) AS q FROM s) v;

-- ---------------------------------------------------------- halves belong together
-- both get the same rows or cells and the same noise; also where the noisy count chooses them
SELECT what, lower = upper AS same, rows > 0 AS some
FROM (
	SELECT what,
		(i.rows, i.range, i.mechanism, i.epsilon, i.delta, i.status) AS lower,
		(j.rows, j.range, j.mechanism, j.epsilon, j.delta, j.status) AS upper,
		i.rows
	FROM (
		SELECT 'rows' AS what, race_privatize(r, 1) AS r
		FROM s
		UNION ALL SELECT 'delta', race_privatize(r, 1, 1e-6, max_contributions => 3, neighbors => 'substitute') FROM s
		UNION ALL SELECT 'grid', race_privatize(race_build_value(:g, ARRAY[x], y, 0, 200), 0.1) FROM t
	) v, race_info((r).lower) i, race_info((r).upper) j
) v ORDER BY what;
-- a half by itself gets no noise, and halves stay halves in all that is made of them
SELECT race_privatize((r).lower, 1) FROM s;
SELECT race_privatize((r).upper, 1, rows => 16) FROM s;
SELECT race_share((r).lower, 1, 1e-6, 10) FROM s;
SELECT race_privatize((r).lower::text::race_sketch, 1) FROM s;
SELECT race_privatize(race_merge((r).lower), 1) FROM s;
SELECT race_add((r).lower, '{1}') FROM s;
SELECT race_remove((r).upper, '{1}') FROM s;
SELECT (r).lower - (r).lower FROM s;
SELECT (race_info(race_privatize((r).lower + (r).upper, 1))).status FROM s;
SELECT (r).lower + race_sketch(:p::race_params) FROM s;
SELECT (r).lower - (r).upper FROM s;
SELECT race_merge(h) FROM s, unnest(ARRAY[race_sketch(:p::race_params), (r).lower]) h;
SELECT race_merge_disjoint(h)
FROM (SELECT race_privatize(r, 1, rows => 16) AS r FROM s) s,
	unnest(ARRAY[race_privatize(race_sketch(:p::race_params), 1, rows => 16), (r).lower]) h;
-- halves of parts of a table
SELECT race_count(l + u) AS all,
	(l + u)::text = (SELECT race_build(:p, ARRAY[x])::text FROM t) AS whole,
	race_count((race_privatize(ROW(l, u)::race_value_sketches, 1e6, rows => 16)).upper) > 0 AS private
FROM (
	SELECT race_merge((r).lower) AS l, race_merge((r).upper) AS u
	FROM (SELECT race_build_value(:p, ARRAY[x], y, 0, 200) AS r FROM t GROUP BY site) v
) v;
-- halves of two calls do not belong together, whatever is in them: no records, one, or many.  Totals of rows and
-- counts are often right there
SET client_min_messages = error;
CREATE FUNCTION refused(query text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN false;
EXCEPTION WHEN invalid_parameter_value OR object_not_in_prerequisite_state THEN
	RETURN SQLERRM = 'these halves do not belong together';
END $$;
CREATE FUNCTION refusals(l race_sketch, u race_sketch, OUT pair boolean, OUT sum boolean, OUT merged boolean,
	OUT mean boolean) LANGUAGE sql AS $$
	SELECT refused(format('SELECT race_privatize(ROW(%L, %L)::race_value_sketches, 1)', l, u)),
		refused(format('SELECT %L::race_sketch + %L::race_sketch', u, l)),
		refused(format('SELECT race_merge(h) FROM unnest(%L::race_sketch[]) h', ARRAY[l, u])),
		refused(format('SELECT race_conditional_mean(%L, %L, ''{1}''::int[])', l, u)) $$;
CREATE TABLE calls AS SELECT kind, call, n, (r).lower, (r).upper FROM (
	SELECT kind, call, n, race_build_value(params, CASE WHEN n > 0 THEN ARRAY[i] END, 0.5, 0, 1) AS r
	FROM (VALUES ('rows', 'l2(dims=1, rows=2, range=16)'::race_params), ('grid', :g)) k (kind, params),
		generate_series(0, 12) call, unnest('{0,1,20}'::int[]) n, generate_series(1, greatest(n, 1)) i
	GROUP BY kind, params, call, n) v;
SELECT kind,
	n,
	b.call = a.call AS "one call",
	count(*) AS pairs,
	count(*) FILTER (WHERE pair) AS pair,
	count(*) FILTER (WHERE sum) AS sum,
	count(*) FILTER (WHERE merged) AS merged,
	count(*) FILTER (WHERE mean) AS mean
FROM calls a JOIN calls b USING (kind, n), refusals(a.lower, b.upper) WHERE b.call = a.call OR b.call = a.call + 1
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT race_privatize(ROW(a.lower, b.upper)::race_value_sketches, 1)
FROM calls a JOIN calls b USING (kind, n) WHERE (a.call, b.call, kind, n) = (1, 2, 'rows', 20);
SELECT race_privatize(a.lower + b.upper, 1)
FROM calls a JOIN calls b USING (kind, n) WHERE (a.call, b.call, kind, n) = (1, 2, 'rows', 20);
-- sums of halves of the same calls do, in any order, in windows and in workers; others do not
CREATE TABLE parts AS SELECT * FROM calls WHERE kind = 'grid' AND n = 20;
SELECT race_count(l + u) AS records,
	r.*
FROM (SELECT race_merge(lower ORDER BY call) AS l, race_merge(upper ORDER BY -call) AS u FROM parts) v,
	refusals(l, u) r \gx
SELECT r.*
FROM (
	SELECT race_merge(lower) FILTER (WHERE call > 0) AS l, race_merge(upper) FILTER (WHERE call < 12) AS u FROM parts
) v, refusals(l, u) r \gx
SELECT bool_and(race_count(l + u) = 20 * least(call + 1, 3)) AS whole
FROM (
	SELECT call, race_merge(lower) OVER w AS l, race_merge(upper) OVER w AS u
	FROM parts WINDOW w AS (ORDER BY call ROWS 2 PRECEDING)
) v;
SELECT count(*), bool_and(sum) AS refused
FROM (
	SELECT lag((r).lower) OVER w AS l, (r).upper AS u
	FROM (SELECT i, race_build_value(:g, ARRAY[i], 0.5, 0, 1) OVER (ORDER BY i) AS r FROM generate_series(1, 9) i) v
	WINDOW w AS (ORDER BY i)
) w, refusals(l, u) WHERE l IS NOT NULL;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT is_parallel('SELECT race_merge(lower), race_merge(upper) FROM parts');
SELECT race_count(l + u) AS records,
	r.*
FROM (SELECT race_merge(lower) AS l, race_merge(upper) AS u FROM parts) v, refusals(l, u) r \gx
SELECT race_count((a).lower + (a).upper) AS records,
	r.*
FROM (SELECT race_build_value(:p, ARRAY[x], y, 0, 200) AS a FROM many) v,
	(SELECT race_build_value(:p, ARRAY[x], y, 0, 200) AS b FROM many) w, refusals((a).lower, (b).upper) r \gx
COMMIT;
-- each call of race_privatize makes another pair, and .* calls it for each column
CREATE TABLE twice AS SELECT (race_privatize(ROW(lower, upper)::race_value_sketches, 1, rows => 1)).* FROM parts;
CREATE TABLE once AS SELECT (p).*
FROM (SELECT race_privatize(ROW(lower, upper)::race_value_sketches, 1, rows => 1) AS p FROM parts OFFSET 0) v;
SELECT count(*), bool_and(r.sum AND r.merged AND r.mean) AS twice FROM twice, refusals(lower, upper) r;
SELECT count(*), bool_or(r.sum OR r.merged OR r.mean) AS once FROM once, refusals(lower, upper) r;
SELECT r.sum, r.mean FROM (SELECT race_merge(lower) AS l, race_merge(upper) AS u FROM once) v, refusals(l, u) r;
SELECT race_conditional_mean(lower, upper, '{1}') FROM twice LIMIT 1;
SET client_min_messages = warning;
-- what is no pair
SELECT race_privatize(ROW((r).upper, (r).lower)::race_value_sketches, 1) FROM s;
SELECT race_privatize(ROW((r).lower, (r).lower)::race_value_sketches, 1) FROM s;
SELECT race_privatize(ROW((r).lower, race_sketch(:p::race_params))::race_value_sketches, 1) FROM s;
SELECT race_privatize(ROW((r).lower, (v).upper)::race_value_sketches, 1)
FROM s, (SELECT race_build_value(:g, ARRAY[x], y, 0, 200) AS v FROM t) v;
SELECT race_privatize(race_privatize(r, 1), 1) FROM s;
SELECT race_privatize(r, -1) FROM s;
SELECT race_privatize(ROW((r).lower, NULL)::race_value_sketches, 1) IS NULL AS a,
	race_privatize(NULL::race_value_sketches, 1) IS NULL AS b,
	race_privatize(r, NULL) IS NULL AS c
FROM s \gx
SELECT race_privatize(ROW(1, 2)::race_value_sketches, 1);

-- ---------------------------------------------------------------- race_release_sketch
-- next to no noise, so that records can be counted
INSERT INTO t
VALUES (8001, 1, NULL, 'north'), (8002, 1, 'NaN', 'north'), (8003, NULL, 1, 'north'), (8004, 'NaN', 1, 'north');
CALL race_protect('means', 't', 1e7);
CALL race_protect('means by x', 't', 1e7, 0, 'x', 3);
\set v ', value => ''y'', value_lower => 0, value_upper => 200'
CALL race_release_sketch('mean', 'means', :p, 'ARRAY[x]', 100000, rows => 256 :v);
CALL race_release_sketch('mean by x', 'means by x', :p, 'ARRAY[x]', 100000 :v);
CALL race_release_sketch('mean by site', 'means', :p, 'ARRAY[x]', 100000, label => 'site',
	labels => '{west,south,north}' :v);
CALL race_release_sketch('mean on grid', 'means', 'l2(dims=1, bandwidth=2, power=4, lower={0}, upper={40})', 'ARRAY[x]',
	1 :v);
CALL race_release_sketch('mean of none', 'means', :p, 'x || ARRAY[x]', 1 :v);
SELECT name,
	part,
	label,
	value_bound,
	(i.points IS NOT NULL) AS fitted,
	i.status,
	r.released_at = c.charged_at AS "at charge",
	CASE WHEN i.epsilon > 2 AND label = 'west' THEN i.count END AS count
FROM _racepriv.race_releases r JOIN _racepriv.race_charges c USING (charge), race_info(sketch) i WHERE name LIKE 'mean%'
ORDER BY 1, 2;
SELECT name, sum(race_count(sketch)) AS records, count(DISTINCT (race_info(sketch)).range) AS cells
FROM _racepriv.race_releases
WHERE name IN ('mean', 'mean by x', 'mean by site', 'mean on grid') AND (race_info(sketch)).epsilon > 2 GROUP BY name
ORDER BY 1;
SELECT count(DISTINCT (race_info(sketch)).range) AS "sizes of a grid"
FROM _racepriv.race_releases WHERE name = 'mean on grid';
\pset format unaligned
SELECT jsonb_pretty(request) AS request,
	epsilon
FROM _racepriv.race_charges WHERE request->>'name' = 'mean by site' \gx
\pset format aligned
SELECT epsilon FROM _racepriv.race_charges WHERE request->>'name' = 'mean on grid';
-- the same request costs nothing, and a version costs the same
SET client_min_messages = notice;
CALL race_release_sketch('mean', 'means', :p, 'ARRAY[x]', 100000, rows => 256, value => ' t.y ', value_lower => 0,
	value_upper => 200);
CALL race_release_sketch('mean', 'means', :p, 'ARRAY[x]', 100000, rows => 256, value => 'y', value_lower => 0,
	value_upper => 100);
CALL race_release_sketch('mean', 'means', :p, 'ARRAY[x]', 100000, rows => 256);
SET client_min_messages = warning;
CALL race_release_next('mean by site');
SELECT version, count(*), string_agg(DISTINCT value_bound::text, ' ' ORDER BY value_bound::text) AS bounds
FROM _racepriv.race_releases WHERE name = 'mean by site' GROUP BY version ORDER BY 1;
SELECT count(*) AS charges, count(DISTINCT request - 'version') AS requests, max(epsilon) AS epsilon
FROM _racepriv.race_charges WHERE request->>'name' = 'mean by site';
-- by name
SELECT bool_and(abs(mean - truth(:p, ARRAY[q])) < 10 * standard_error) AS near, max(standard_error) < 12 AS precise
FROM generate_series(0, 35, 5) q, race_released_mean('mean on grid', ARRAY[q]);
SELECT site, bool_and(abs(mean - truth(:p, ARRAY[q])) < 10 * standard_error + 5) AS near
FROM unnest('{north,south}'::text[]) site, generate_series(0, 35, 5) q,
	race_released_mean('mean by site', ARRAY[q], site) GROUP BY site ORDER BY 1;
SELECT bool_and(race_released_mean('mean', ARRAY[q], confidence => 0.9) = race_conditional_mean(race_released('mean',
		bound => 'lower'), race_released('mean', bound => 'upper'), ARRAY[q], 0, 200, 0.9)) AS same,
	bool_and(race_released_mean(name, ARRAY[q], label) = race_conditional_mean(race_released(name, label, 'lower'),
		race_released(name, label, 'upper'), ARRAY[q], 0, 200)) AS "by label"
FROM generate_series(0, 35, 5) q,
	(VALUES ('mean', NULL), ('mean by site', 'north'), ('mean by site', 'south')) v (name, label);
-- the name alone stands for all records
SELECT race_count(race_released('mean')) AS all,
	race_count(race_released('mean by site', 'north')) AS north,
	race_count(race_released('mean', bound => 'lower')) < 8000 AS a_part,
	race_released('mean')::text = (
		SELECT race_merge_disjoint(sketch)::text FROM _racepriv.race_releases WHERE name = 'mean'
	) AS merged,
	race_count(race_released('mean by site', 'west')) AS none,
	(race_info(race_released('mean'))).epsilon = (
		SELECT max((race_info(sketch)).epsilon) FROM _racepriv.race_releases WHERE name = 'mean'
	) AS epsilon \gx
SELECT abs(race_kde(race_released('mean on grid'), '{7}') - race_kde(race_build(:g, ARRAY[x]), '{7}')) < 0.01 AS near
FROM t WHERE x <> 'NaN';
SELECT name, label, value_bound, count > 0 AS some
FROM race_latest_releases WHERE name LIKE 'mean by%' AND label IS DISTINCT FROM 'west' ORDER BY 1, 2, 3;
SELECT race_released('mean', bound => 'middle');
SELECT race_released_mean('nothing', '{1}');
SELECT race_released_mean('mean by site', '{1}');
SELECT race_released_mean('mean by site', '{1}', 'east');
SELECT race_released_mean('mean', '{1,2}');
SELECT race_released_mean('mean', '{1}', confidence => 0);
SELECT race_released_mean(NULL::text, '{1}') IS NULL AS a, race_released_mean('mean', NULL::int[]) IS NULL AS b;
CALL race_release_sketch('mean without', 'means', :p, 'ARRAY[x]', 1);
SELECT race_released_mean('mean without', '{1}');
SELECT race_released('mean without', bound => 'lower');
-- in workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count((race_released_mean('mean', ARRAY[x])).mean) AS means FROM t WHERE x <> 'NaN';
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- a delta is spared where a grid with pure noise is better, and charged where rows are: narrow and wide kernels
SET client_min_messages = error;
\set narrow '''l2(dims=2, bandwidth=2, power=4, rows=16, range=32, lower={0,0}, upper={40,40})'''
\set wide '''l2(dims=3, bandwidth=4, rows=1024, range=64, lower={0,0,0}, upper={40,40,40})'''
CREATE TABLE u AS SELECT id, x, y FROM t WHERE x <> 'NaN' AND y <> 'NaN';
CREATE TABLE w AS TABLE u;
CALL race_protect('spared', 'u', 100, 0.1);
CALL race_protect('spared in zCDP', 'w', 100, 0.1, accounting => 'zcdp');
CALL race_release_sketch('spared by default', 'spared', :narrow, 'ARRAY[x, x]', 1, 1e-6 :v);
CALL race_release_sketch('spared by default', 'spared', :narrow, 'ARRAY[x, x]', 1, 1e-6 :v);
CALL race_release_next('spared by default');
CALL race_release_sketch('spared on a grid', 'spared', :wide, 'ARRAY[x, x, x]', 1, 1e-6, grid => true :v);
CALL race_release_sketch('charged for rows', 'spared', :narrow, 'ARRAY[x, x]', 1, 1e-6, rows => 16, fit => false :v);
CALL race_release_sketch('charged for no grid', 'spared', :narrow, 'ARRAY[x, x]', 1, 1e-6, grid => false,
	fit => false :v);
CALL race_release_sketch('charged for wide', 'spared', :wide, 'ARRAY[x, x, x]', 1, 1e-6, fit => false :v);
CALL race_release_sketch('charged for no value', 'spared', :narrow, 'ARRAY[x, x]', 1, 1e-6, fit => false);
CALL race_release_sketch('charged in zCDP', 'spared in zCDP', :narrow, 'ARRAY[x, x]', 1, 1e-6, fit => false :v);
SELECT name, version, c.delta, i.delta AS "of the sketch", i.mechanism, i.sequence, i.epsilon > 0.99 AS "all of epsilon"
FROM _racepriv.race_releases r JOIN _racepriv.race_charges c USING (charge), race_info(sketch) i
WHERE name ~ '^(spared|charged)' AND part = 1 ORDER BY 1, 2;
SELECT spent_epsilon, spent_delta FROM _racepriv.race_budgets WHERE budget = 'spared';
-- cells of halves in two columns have one halving more
SELECT (regexp_match(request->>'params', 'cells=\{(\d+)'))[1]::int % 32 AS rest
FROM _racepriv.race_charges WHERE request->>'name' = 'spared by default' AND request->>'version' = '1';
-- without a ledger the noise is what was asked for, since nobody knows how costs are added up
SELECT i.mechanism, i.delta
FROM (SELECT race_privatize(race_build_value(:g, ARRAY[x], y, 0, 200), 1, 1e-6) AS r FROM u) p,
	race_info((p.r).upper) i;
SET client_min_messages = warning;
-- what a value may be
\set means 'CALL race_release_sketch(''mean x'', ''means'', ''l2(dims=1, rows=16, range=32)'', ''ARRAY[x]'', 1, '
\set r :means 'value_lower => 0, value_upper => 1, value =>'
:r 'site');
:r 'x > 3');
:r 'now()');
:r 'y / (SELECT max(y) FROM t)');
:r 'avg(y)');
:r 'y, x');
:r '');
:r 'ctid');
:r 'nothing');
:r NULL);
\set r :means 'value => ''y'','
:r value_lower => 0);
:r value_upper => 0);
:r value_lower => 1, value_upper => 0);
:r value_lower => 0, value_upper => 'Infinity');
:r value_lower => 0, value_upper => 1, label => 'id', labels => array_fill('a'::text, '{100001}'));
CALL race_release_sketch('mean x', 'means', 'l2(dims=1, rows=16384, range=1024)', 'ARRAY[x]', 1, label => 'id',
	labels => '{1,2,3,4}', value => 'y', value_lower => 0, value_upper => 1);
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request->>'name' = 'mean x';
-- an error while values are read says nothing, and is paid for
CALL race_release_sketch('mean x', 'means', :p, 'ARRAY[x]', 1, value => '1 / (id - 7)', value_lower => 0,
	value_upper => 1);
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request->>'name' = 'mean x';
DROP SCHEMA means CASCADE;
