-- Accuracy on skin and pulsar: ten seeds each, mean, best and worst seed.
\pset footer off
CREATE EXTENSION racepriv;
CREATE TABLE skin_csv (b float8, g float8, r float8, class int);
\copy skin_csv FROM PROGRAM 'zcat "$RACEPRIV_DATA"/skin.csv.gz' (FORMAT csv, HEADER)
CREATE TABLE skin AS SELECT row_number() OVER () AS id, ARRAY[b, g, r] AS x FROM skin_csv;
CREATE TABLE pulsar_csv (x1 float8, x2 float8, x3 float8, x4 float8, x5 float8, x6 float8, x7 float8, x8 float8, class int);
\copy pulsar_csv FROM PROGRAM 'zcat "$RACEPRIV_DATA"/pulsar.csv.gz' (FORMAT csv, HEADER)
-- columns scaled to [0, 1] by bounds that are public; quarters at random
CREATE TABLE pulsar AS
SELECT hashint4(row_number() OVER ()::int) & 3 AS quarter, class,
       ARRAY[x1 / 200, x2 / 100, (x3 + 2) / 12, (x4 + 2) / 72,
             x5 / 225, x6 / 112, (x7 + 5) / 40, (x8 + 5) / 1205] AS x
FROM pulsar_csv;
VACUUM ANALYZE;

\echo 'Skin: mean relative error of race_kde at every 490th row, the others built; l2, bandwidth 5, rows 1024, range 1024'
CREATE TABLE truth AS
SELECT q.x, avg(race_kernel('l2(bandwidth=5)', s.x, q.x)) AS k
FROM skin q, skin s WHERE q.id % 490 = 0 AND s.id % 490 <> 0 GROUP BY q.x;
CREATE TABLE sketches AS
SELECT sequence, seed,
       (SELECT race_build(race_params('l2', 3, 5, seed => seed, sequence => sequence), x) FROM skin WHERE id % 490 <> 0) AS s
FROM unnest('{sobol,independent}'::text[]) sequence, generate_series(0, 9) seed;
CREATE TABLE released AS
SELECT sequence, seed, epsilon, CASE WHEN epsilon IS NULL THEN s ELSE race_privatize(s, epsilon, rows => 1024) END AS s
FROM sketches, unnest('{NULL,10,1,0.1}'::float8[]) epsilon;
SELECT sequence, coalesce(epsilon::text, 'exact') AS epsilon, to_char(100 * avg(e), '990.00 %') AS mean,
       to_char(100 * min(e), '990.00 %') AS best, to_char(100 * max(e), '990.00 %') AS worst
FROM (SELECT sequence, seed, epsilon, avg(abs(race_kde(s, x) / k - 1)) AS e
      FROM released, truth GROUP BY 1, 2, 3) v
GROUP BY sequence, v.epsilon ORDER BY 1, v.epsilon DESC NULLS FIRST;

\echo 'Pulsar: accuracy of race_classify on the held-out half'
-- sketches of the classes in some quarters, at a bandwidth
CREATE FUNCTION build_classes(quarters int[], bandwidth float8, seed bigint, epsilon float8, rows int)
RETURNS race_sketch[] LANGUAGE sql VOLATILE AS $$
	SELECT array_agg(race_privatize(s, epsilon, rows => $5) ORDER BY class)
	FROM (SELECT class, race_build(race_params('l2', 8, bandwidth, rows => $5, seed => seed), x) AS s
	      FROM pulsar WHERE quarter = ANY (quarters) GROUP BY class) c
$$;
CREATE FUNCTION accuracy(sketches race_sketch[], quarters int[]) RETURNS float8 LANGUAGE sql STABLE AS $$
	SELECT avg((race_classify(sketches, x) = class + 1)::int) FROM pulsar WHERE quarter = ANY (quarters)
$$;
-- the bandwidth is chosen once on the first half: built on one quarter, asked
-- about the other, at epsilon 1
CREATE TABLE choice AS
SELECT bandwidth, avg(accuracy(build_classes('{0}', bandwidth, seed, 1, 64), '{1}')) AS accuracy
FROM unnest('{0.05,0.1,0.2,0.3,0.4,0.6}'::float8[]) bandwidth, generate_series(100, 102) seed GROUP BY bandwidth;
SELECT bandwidth, round(accuracy::numeric, 4) AS "accuracy within the first half" FROM choice ORDER BY 1;
SELECT bandwidth FROM choice ORDER BY accuracy DESC, bandwidth LIMIT 1 \gset
SELECT epsilon, rows, :bandwidth AS bandwidth, round(avg(a)::numeric, 4) AS mean,
       round(min(a)::numeric, 4) AS worst, round(max(a)::numeric, 4) AS best
FROM unnest('{1,10}'::float8[]) epsilon, unnest('{64,256}'::int[]) rows, generate_series(0, 9) seed,
     LATERAL (SELECT accuracy(build_classes('{0,1}', :bandwidth, seed, epsilon, rows), '{2,3}') AS a) v
GROUP BY epsilon, rows ORDER BY 1, 2;
SELECT round(avg((class = 0)::int), 4) AS "always the larger class" FROM pulsar WHERE quarter > 1;
