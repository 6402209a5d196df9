-- race_typicality

\set p '''l2(dims=1, bandwidth=1, rows=1024, range=512)'''
\set g '''l2(dims=1, bandwidth=1, sequence=grid, lower={0}, upper={20})'''
CREATE TABLE t AS SELECT i, ARRAY[CASE WHEN i % 4 = 0 THEN 12 ELSE 5 END + sin(i)]::float8[] AS x
FROM generate_series(1, 400) i;
CREATE TABLE s AS SELECT race_build(:p, x) AS rows, race_build(:g, x) AS grid,
	race_build('l2(dims=1, bandwidth=1, rows=4096, range=16, rehash=multilinear)', x) AS rehashed FROM t;
-- the density over the mean density of other records at a record
CREATE TABLE truth AS
SELECT q, (SELECT avg(race_kernel('l2(bandwidth=1)'::race_params, x, ARRAY[q])) FROM t) / m AS typicality
FROM unnest('{0,5,8.5,12,20}'::float8[]) q,
     (SELECT avg(race_kernel('l2(bandwidth=1)'::race_params, a.x, b.x)) AS m FROM t a, t b WHERE a.i <> b.i) v;
SELECT q,
	abs((race_typicality(rows, ARRAY[q])).typicality - typicality) < 0.02 AS rows,
	abs((race_typicality(grid, ARRAY[q])).typicality - typicality) < 0.01 AS grid,
	abs((race_typicality(rehashed, ARRAY[q])).typicality - typicality) < 0.1 AS rehashed,
	abs((race_typicality(race_fit(rows, lower => '{0}', upper => '{20}'),
		ARRAY[q])).typicality - typicality) < 0.02 AS fitted
FROM truth, s ORDER BY q;
-- the average record has 1
SELECT abs(avg((race_typicality(rows, x)).typicality) - 1) < 0.02 AS one FROM t, s;
-- noise has no part in it: with many rows and range its share is ten times the whole
SELECT abs(avg((race_typicality(p, '{5}')).typicality) - min(typicality)) < 0.3 AS near, count(*)
FROM (SELECT race_privatize(rows, 50) AS p FROM s, generate_series(1, 20) OFFSET 0) v, truth WHERE q = 5;
-- NULLs, other records
SELECT race_typicality(NULL, '{5}'::float8[]) IS NULL AS a, race_typicality(rows, NULL::float8[]) IS NULL AS b FROM s;
SELECT (race_typicality(s, '{2}'::int[])).typicality > (race_typicality(s, '{9}'::int[])).typicality AS sets
FROM (SELECT race_build('jaccard(rows=512, range=64)', ARRAY[i % 3, 2]) AS s FROM generate_series(1, 20) i) v;
SELECT (race_typicality(s, ROW(ARRAY[1.0], ARRAY['a']))).typicality > 1 AS product
FROM (
	SELECT race_build('l2(dims=1, rows=512, range=64) * match(dims=1)',
		ROW(ARRAY[sin(i)], ARRAY[CASE WHEN i % 5 = 0 THEN 'b' ELSE 'a' END])) AS s
	FROM generate_series(1, 20) i
) v;

-- ------------------------------------------------------- few and no records
SELECT n,
	round((race_typicality(s, '{5}')).typicality::numeric, 6) AS at,
	round((race_typicality(s, '{400}')).typicality::numeric, 6) AS away
FROM (
	SELECT i AS n, (SELECT race_build(:p, '{5}'::float8[]) FROM generate_series(1, i)) AS s
	FROM generate_series(1, 3) i
	UNION ALL SELECT 0, race_sketch(:p::race_params)
) v ORDER BY n;
-- never a division by noise: the typical density is between 1 / n and 1
SELECT bool_and((race_typicality(p, '{5}')).typicality / nullif(race_kde(p, '{5}'), 0) BETWEEN 1
	- 1e-9 AND greatest(race_count(p), 1, 2 * (race_info(p)).count_noise_stddev) * (1 + 1e-9)) AS bounded
FROM (
	SELECT race_privatize(race_build('l2(dims=1, rows=16, range=64)', ARRAY[i]), e) AS p
	FROM unnest('{0.001,0.01,0.1,1}'::float8[]) e, generate_series(1, 50) i GROUP BY e, i % 5 OFFSET 0
) v;

-- --------------------------------------------- kept for a sketch, and no longer
CREATE TABLE two AS SELECT i, race_build('l2(dims=1, rows=64, range=64)', ARRAY[j % (i * 5)]::float8[]) AS s
FROM generate_series(1, 3) i, generate_series(1, 50) j GROUP BY i;
CREATE TABLE told AS SELECT i, (race_typicality(s, '{1}')).typicality AS typicality FROM two;
SELECT count(*)
FROM (SELECT (i + k) % 3 + 1 AS i, k FROM generate_series(1, 3) i, generate_series(1, 100) k) v JOIN two USING (i)
	JOIN told USING (i) WHERE (race_typicality(s, '{1}')).typicality <> typicality;
SET racepriv.cache_size = 0;
SELECT count(*)
FROM (SELECT (i + k) % 3 + 1 AS i, k FROM generate_series(1, 3) i, generate_series(1, 100) k) v JOIN two USING (i)
	JOIN told USING (i) WHERE (race_typicality(s, '{1}')).typicality <> typicality;
RESET racepriv.cache_size;
-- a sketch that grows in memory
DO $$
DECLARE s race_sketch; before float8; after float8;
BEGIN
	SELECT two.s INTO s FROM two WHERE i = 1;
	before := (race_typicality(s, '{1}'::float8[])).typicality;
	FOR k IN 1 .. 100 LOOP s := race_add(s, '{40}'::float8[]); END LOOP;
	after := (race_typicality(s, '{1}'::float8[])).typicality;
	RAISE NOTICE 'less typical: %', after < before / 2;
	RAISE NOTICE 'as stored: %',
		abs(after / (race_typicality(s::text::race_sketch, '{1}'::float8[])).typicality - 1) < 1e-12;
END $$;

-- -------------------------------------------------------------------- errors
\set VERBOSITY sqlstate
SELECT (race_typicality(rows, '{1,2}'::float8[])).typicality FROM s;
SELECT (race_typicality(rows, '{NaN}'::float8[])).typicality FROM s;
SELECT (race_typicality(rows, 'x'::text)).typicality FROM s;
SELECT (race_typicality(race_share(rows, 1, 1e-6, 3, 1, 0), '{1}'::float8[])).typicality FROM s;
\set VERBOSITY default
DROP TABLE t, s, truth, two, told;
