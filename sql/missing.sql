-- Missing values: NULLs in records

-- a NULL in a row of categories is an error that names the parameter to declare it by
CREATE TABLE people AS SELECT i,
	ARRAY[CASE WHEN i % 5 > 0 THEN 'town ' || i % 4 END, CASE WHEN i % 7 > 0 THEN 'job ' || i % 3 END, 'x'] AS c,
	ARRAY[sin(i), i % 2] AS x FROM generate_series(1, 2000) i;
SELECT race_build(race_params('match', 3), c) FROM people;
\pset format unaligned
SELECT race_params('match', 3, nulls => 'category');
SELECT regexp_split_to_table((race_params('match', 3, nulls => 'different') * race_params('l2', 2))::text, ' \* ')
	AS params;
\pset format aligned
SELECT p = p::text::race_params AS text, p = p2 AS same, race_params(race_sketch(p)) = p AS kept
FROM race_params('match', 3, nulls => 'different') p, CAST('match(nulls=different, dims=3)' AS race_params) p2;
SELECT race_params('match', 3, nulls => NULL) = race_params('match', 3) AS "not stated",
	race_params('match', 3, nulls => 'category') = race_params('match', 3) AS stated;
-- the binary form: byte 46
SELECT n, get_byte(_race_params_send(race_params('match', 3, nulls => n)), 46)
FROM unnest(ARRAY['different', 'category', NULL]) n;
-- what is no meaning, and kernels that have none
SELECT race_params('match', 3, nulls => 'auto');
SELECT race_params('match', 3, nulls => 'nothing');
SELECT race_params('l2', 3, nulls => 'category');
SELECT 'jaccard(nulls=different)'::race_params;
SELECT 'match(nulls=1)'::race_params;
SELECT 'match(nulls=category, nulls=category)'::race_params;

-- the exact kernel: a NULL is one more category, or equals nothing
SELECT x, y, race_kernel(race_params('match', 2, nulls => 'category'), x, y) AS category,
       race_kernel(race_params('match', 2, nulls => 'different'), x, y) AS different
FROM (VALUES (ARRAY['a', NULL], ARRAY['a', NULL]), (ARRAY['a', NULL], ARRAY['a', 'b']),
	(ARRAY['a', 'b'], ARRAY[NULL, 'b']),
             (ARRAY[NULL, NULL], ARRAY[NULL::text, NULL]), (ARRAY[NULL, 'NULL'], ARRAY['NULL', NULL])) v(x, y);
-- integers, uuids; NULLs at all places, in long rows and in short ones
SELECT race_kernel(race_params('match', 3, nulls => 'category'), ARRAY[NULL, 7, NULL],
		ARRAY[NULL::int, 7, NULL]) AS ints,
	race_kernel(race_params('match', 3, nulls => 'category'), ARRAY[NULL, 7, 8], ARRAY[7::bigint, NULL, 8]) AS shifted,
	race_kernel(race_params('match', 2, nulls => 'category'), ARRAY[NULL, '00000000-0000-0000-0000-000000000001'::uuid],
		ARRAY['00000000-0000-0000-0000-000000000001'::uuid, NULL]) AS uuids \gx
SELECT count(*) FILTER (WHERE category = 1 - 1 / 50.0 AND different = 1 - 3 / 50.0) AS good, count(*)
FROM (
	SELECT race_kernel(race_params('match', 50, nulls => 'category'), x, y) AS category,
		race_kernel(race_params('match', 50, nulls => 'different'), x, y) AS different
	FROM generate_series(3, 48) i,
		LATERAL (
			SELECT array_agg(CASE WHEN j IN (1, i, 50) THEN NULL ELSE 'v' || j END ORDER BY j) AS x,
				array_agg(CASE WHEN j IN (1, 50) THEN NULL ELSE 'v' || j END ORDER BY j) AS y
			FROM generate_series(1, 50) j
		) v
) k;

-- estimates are near the mean of the exact kernel, whichever is asked, with the power too
SELECT n, power, q, abs(race_kernel_sum(race_build(p, c), q) - sum(race_kernel(p, c, q))) < 100 AS near,
       round(sum(race_kernel(p, c, q))) AS exact
FROM people, unnest(ARRAY['category', 'different']) n, unnest(ARRAY[1, 2]) power,
	race_params('match', 3, power => power, nulls => n, rows => 4096) p,
     (VALUES (ARRAY['town 1', 'job 2', 'x']), (ARRAY[NULL, 'job 2', 'x']), (ARRAY[NULL::text, NULL, NULL])) v(q)
GROUP BY n, power, q, p ORDER BY n, power, q;
-- a record changes one counter in each row, and can be removed; sketches merge; neither with others' meaning
SELECT race_remove(race_add(race_sketch(p), ARRAY[NULL, 'a']),
		ARRAY[NULL, 'a'])::text = race_sketch(p)::text AS removed,
	race_kernel_sum(race_add(race_sketch(p), ARRAY[NULL, 'a']) + race_add(race_sketch(p), ARRAY[NULL, 'b']),
		ARRAY['c', 'b']) BETWEEN 0.4 AND 0.6 AS merged
FROM unnest(ARRAY['category', 'different']) n, race_params('match', 2, nulls => n) p;
SELECT race_sketch(race_params('match', 2, nulls => 'category'))
	+ race_sketch(race_params('match', 2, nulls => 'different'));
SELECT race_sketch(race_params('match', 2, nulls => 'category')) + race_sketch(race_params('match', 2));
-- a NULL for the whole row is no record
SELECT race_count(race_build(race_params('match', 2, nulls => 'category'), NULL::text[]));
SELECT race_build('match(dims=1, nulls=category) * match(dims=1, nulls=category)'::race_params,
	ROW(ARRAY['a'], NULL::text[]));

-- in a product each kernel has a meaning of its own
SELECT race_kernel(p, ROW(ARRAY[NULL, 'a'], ARRAY[NULL, 1]), ROW(ARRAY[NULL, 'a'], ARRAY[NULL, 1])) AS itself
FROM (VALUES (race_params('match', 2, nulls => 'category') * race_params('match', 2, nulls => 'different'))) v(p);
SELECT race_kernel(race_params('match', 2, nulls => 'category') * race_params('l2', 2),
	ROW(ARRAY[NULL, 'a'], ARRAY[NULL, 1]), ROW(ARRAY[NULL, 'a'], ARRAY[NULL, 1]));
SELECT race_kernel(race_params('match', 2, nulls => 'category') * race_params('match', 2),
	ROW(ARRAY[NULL, 'a'], ARRAY[NULL, 1]), ROW(ARRAY[NULL, 'a'], ARRAY[NULL, 1]));

-- numbers and sets: how to fill them
SELECT race_build(race_params('l2', 2), ARRAY[i, NULL]) FROM people;
SELECT race_build(race_params('l2', 2), ARRAY[i, coalesce(NULL, 0)]) IS NOT NULL AS filled FROM people;
SELECT race_build(race_params('jaccard'), ARRAY['a', NULL]);
SELECT race_build(race_params('jaccard'), array_remove(ARRAY['a', NULL], NULL)) IS NOT NULL AS removed;
SELECT race_kde(race_build(race_params('l2', 2), x), ARRAY[NULL, 1]) FROM people;

-- race_is_record says what race_build takes
\pset format unaligned
SELECT p, x, race_is_record(p, x) AS is_record
FROM (VALUES (race_params('match', 2)), (race_params('match', 2, nulls => 'category')),
	(race_params('match', 2, nulls => 'different'))) p(p),
(VALUES (ARRAY['a', 'b']), (ARRAY['a', NULL]), (ARRAY[NULL::text, NULL]), (ARRAY['a', NULL, 'b']), (NULL)) v(x)
ORDER BY p::text COLLATE "C", x;
\pset format aligned
SELECT race_is_record(race_params('l2', 2), ARRAY[1, NULL]) AS l2,
	race_is_record(race_params('jaccard'), ARRAY[1, NULL]) AS jaccard;

-- a fit takes them, too
SELECT n, q, abs(race_kde(f, q) - (SELECT avg(race_kernel(p, c, q)) FROM people)) < 0.05 AS near
FROM unnest(ARRAY['category', 'different']) n, race_params('match', 3, nulls => n) p,
LATERAL (
	SELECT race_fit(s, c) AS f FROM (SELECT race_build(p, c) AS s FROM people) b, (SELECT DISTINCT c FROM people) d
) f,
     (VALUES (ARRAY['town 1', 'job 2', 'x']), (ARRAY[NULL, 'job 2', 'x'])) v(q) ORDER BY n, q;
DROP TABLE people;
