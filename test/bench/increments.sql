-- Sparse increments: why there are none.
--
-- Each record would enter a block of 64 of the 1024 rows, chosen by a hash of its
-- id, which is 16 sketches of 64 rows over 16 random parts of the table; a kernel
-- sum is the sum of theirs.  Under pure epsilon the noise in it is the same,
-- 2 R / epsilon^2.  So what remains to compare is the sampling error, measured here
-- on salaries (bandwidth 5000, 200 points, 10 seeds; L2 error times 10^4), and time.
--
--	psql -f test/bench/increments.sql, RACEPRIV_DATA set, in an empty database
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE EXTENSION IF NOT EXISTS racepriv;
CREATE TEMP TABLE csv (salary float8);
\copy csv FROM PROGRAM 'zcat "$RACEPRIV_DATA"/salaries.csv.gz' (FORMAT csv, HEADER)
CREATE TEMP TABLE salaries AS SELECT row_number() OVER () AS id, ARRAY[salary] AS x FROM csv;
CREATE TEMP TABLE truth AS
SELECT v, avg(race_kernel('l2(bandwidth=5000)', x, ARRAY[v])) AS k
FROM salaries, generate_series(20000, 219000, 1000) v GROUP BY v;
CREATE TEMP TABLE kinds AS
SELECT * FROM unnest('{sobol,independent}'::text[]) sequence, generate_series(0, 9) seed;

CREATE TEMP TABLE sketches AS
SELECT 'dense' AS way, sequence, seed, 0 AS part, race_build(race_params('l2', 1, 5000, seed => seed, sequence => sequence), x) AS s
FROM kinds, salaries GROUP BY 2, 3
UNION ALL
SELECT 'sparse, 64 of 1024', sequence, seed, part,
       race_build(race_params('l2', 1, 5000, rows => 64, seed => 100 * seed + part, sequence => sequence), x)
FROM kinds, LATERAL (SELECT (hashint8extended(id, seed) & 15)::int AS part, x FROM salaries) r GROUP BY 2, 3, 4;
SELECT sequence, way, round(1e4 * sqrt(avg((f / n - k) ^ 2))) AS "L2 error * 10^4",
       round(1e4 * sqrt(avg((f / n - k) ^ 2 + 2 * 1024 / n ^ 2))) AS "with the noise of epsilon 1"
FROM (SELECT way, sequence, seed, v, k, sum(race_kernel_sum(s, ARRAY[v])) AS f, sum(race_count(s)) AS n
      FROM sketches, truth GROUP BY 1, 2, 3, 4, 5) u
GROUP BY 1, 2 ORDER BY 1, 2;

-- the same by the clock: all rows, and a sixteenth of them
\timing on
SELECT race_count(race_build('l2(dims=1, bandwidth=5000, rows=1024)', x)) AS dense FROM salaries, generate_series(1, 10);
SELECT race_count(race_build('l2(dims=1, bandwidth=5000, rows=64)', x)) AS sparse FROM salaries, generate_series(1, 10);
