-- What accuracy.py asks: records to build from, queries with their exact density,
-- and classifiers of pulsars.
CREATE EXTENSION racepriv_release CASCADE;

-- salaries: a grid of 200 points from 10,000 to 250,000 dollars
CREATE TABLE salaries_csv (salary float8);
\copy salaries_csv FROM PROGRAM 'zcat "$RACEPRIV_DATA"/salaries.csv.gz' (FORMAT csv, HEADER)
CREATE TABLE salaries AS SELECT ARRAY[salary] AS x FROM salaries_csv;
CREATE TABLE salaries_queries AS
SELECT i AS id, ARRAY[10000 + 240000 * i / 199.0]::float8[] AS x FROM generate_series(0, 199) i;

-- skin: every 490th row, the others built
CREATE TABLE skin_csv (id serial, b float8, g float8, r float8, class int);
\copy skin_csv (b, g, r, class) FROM PROGRAM 'zcat "$RACEPRIV_DATA"/skin.csv.gz' (FORMAT csv, HEADER)
CREATE TABLE skin AS SELECT ARRAY[b, g, r] AS x FROM skin_csv WHERE id % 490 <> 0;
CREATE TABLE skin_queries AS SELECT id, ARRAY[b, g, r] AS x FROM skin_csv WHERE id % 490 = 0;

-- pulsar: columns scaled to [0, 1] by bounds that are public; every 36th row, the
-- others built.  For classifiers, quarters at random.
CREATE TABLE pulsar_csv (id serial, x1 float8, x2 float8, x3 float8, x4 float8, x5 float8, x6 float8, x7 float8, x8 float8, class int);
\copy pulsar_csv (x1, x2, x3, x4, x5, x6, x7, x8, class) FROM PROGRAM 'zcat "$RACEPRIV_DATA"/pulsar.csv.gz' (FORMAT csv, HEADER)
CREATE TABLE pulsars AS
SELECT id, hashint4(id) & 3 AS quarter, class,
       ARRAY[x1 / 200, x2 / 100, (x3 + 2) / 12, (x4 + 2) / 72,
             x5 / 225, x6 / 112, (x7 + 5) / 40, (x8 + 5) / 1205] AS x
FROM pulsar_csv;
CREATE TABLE pulsar AS SELECT x FROM pulsars WHERE id % 36 <> 0;
CREATE TABLE pulsar_queries AS SELECT id, x FROM pulsars WHERE id % 36 = 0;

CREATE TABLE sketches (task text, sequence text, rows int, seed int, s race_sketch);
VACUUM ANALYZE;

-- sketches of the classes in some quarters, at a bandwidth
CREATE FUNCTION build_classes(quarters int[], bandwidth float8, seed bigint, epsilon float8, delta float8, rows int)
RETURNS race_sketch[] LANGUAGE sql VOLATILE AS $$
	SELECT array_agg(race_privatize(s, epsilon, delta, rows) ORDER BY class)
	FROM (SELECT class, race_build(race_params('l2', 8, bandwidth, seed => seed), x) AS s
	      FROM pulsars WHERE quarter = ANY (quarters) GROUP BY class) c
$$;
CREATE FUNCTION class_of(sketches race_sketch[], x float8[]) RETURNS bigint LANGUAGE sql STABLE AS $$
	SELECT race_classify(position, sketch, x) FROM unnest(sketches) WITH ORDINALITY c (sketch, position)
$$;
CREATE FUNCTION accuracy(sketches race_sketch[], quarters int[]) RETURNS float8 LANGUAGE sql STABLE AS $$
	SELECT avg((class_of(sketches, x) = class + 1)::int) FROM pulsars WHERE quarter = ANY (quarters)
$$;
