-- race_suggest: parameters that suit public rows

-- numbers that look like random ones, the same everywhere
CREATE FUNCTION number(i int, j int) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT (sin(i * 12.9898 + j * 78.233) * 43758.5453) - floor(sin(i * 12.9898 + j * 78.233) * 43758.5453) $$;
CREATE FUNCTION normal(i int, j int) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT sqrt(-2 * ln(number(i, 2 * j) + 1e-9)) * cos(2 * pi() * number(i, 2 * j + 1)) $$;
-- the second and third column belong together; classes differ in their difference
CREATE TABLE people AS
SELECT i, i % 2 AS class,
       ARRAY[1000 * normal(i, 1), normal(i, 2), normal(i, 2) + 0.3 * normal(i, 3) + 0.8 * (i % 2)] AS x
FROM generate_series(1, 3000) i;

CREATE TABLE suggested AS
SELECT (race_suggest(1, 0, 10000, x, class ORDER BY i)).* FROM people WHERE i <= 400;
SELECT params::text::race_params = params AS text,
       score BETWEEN 0.7 AND 1 AS score, score_without_noise >= score - 0.01 AS noise_costs,
       prior IN ('uniform', 'counts') AS prior, rows IS NULL AND params::text LIKE '%sequence=grid%' AS grid,
       expression LIKE 'race_project(%x, ''{{%}}'', ''{%}''%)' AS projected FROM suggested;
-- it serves other rows, far better than one bandwidth for each column
CREATE FUNCTION record(expression text, x float8[]) RETURNS float8[] LANGUAGE plpgsql AS
$$ DECLARE result float8[]; BEGIN EXECUTE 'SELECT ' || expression || ' FROM (SELECT $1 AS x) v' INTO result USING x; RETURN result; END $$;
CREATE FUNCTION accuracy(p race_params, expression text) RETURNS float8 LANGUAGE sql AS $$
WITH c AS MATERIALIZED (SELECT class, race_build(p, record(expression, x)) AS s FROM people WHERE i BETWEEN 401 AND 2000 GROUP BY class)
SELECT avg((class = (SELECT race_classify(c.class, s, record(expression, x)) FROM c))::int) FROM people WHERE i > 2600 $$;
SELECT accuracy(params, expression) > 0.8 AS good,
       accuracy(params, expression) > accuracy(race_params('l2', 3, bandwidths => '{1000,1,1}', rows => 64), 'x') + 0.03 AS better FROM suggested;
-- more noise costs more, and asks for fewer rows
SELECT a.score > b.score AS costs FROM (SELECT (race_suggest(1, 0, 10000, x, class ORDER BY i)).* FROM people WHERE i <= 400) a,
     (SELECT (race_suggest(0.01, 0, 10000, x, class ORDER BY i)).* FROM people WHERE i <= 400) b;
SELECT a.score > b.score AS costs, a.rows > b.rows AS fewer FROM (SELECT (race_suggest(1, 0, 10000, x ORDER BY i)).* FROM people WHERE i <= 400) a,
     (SELECT (race_suggest(0.01, 0, 10000, x ORDER BY i)).* FROM people WHERE i <= 400) b;
-- labels of any type; with delta all rows are kept
SELECT abs((r).score - score) < 0.01 AS same FROM suggested,
       (SELECT race_suggest(1, 0, 10000, x::real[], 'class ' || class ORDER BY i) AS r FROM people WHERE i <= 400) v;
SELECT (r).rows, (r).params::text::race_params = (r).params AS text
FROM (SELECT race_suggest(1, 1e-6, 10000, x ORDER BY i) AS r FROM people WHERE i <= 400) v;

-- without labels: by likelihood, which columns that belong together raise when they are made white
SELECT prior, expression, params::text LIKE '%matrix=%' AS white, score < score_without_noise AS noise_costs
FROM (SELECT (race_suggest(1, 0, 10000, x ORDER BY i)).* FROM people WHERE i <= 400) r;
-- the logarithm of a density: of units that are a thousandth it is as much higher
SELECT abs((a).score - (b).score - ln(1000)) < 0.01 AS units
FROM (SELECT race_suggest(1, 0, 10000, ARRAY[x[1]] ORDER BY i) a, race_suggest(1, 0, 10000, ARRAY[x[1] * 1000] ORDER BY i) b
      FROM people WHERE i <= 200) v;
-- a normal distribution has a mean logarithm of -ln(deviation) - 1.42
SELECT round(((a).score_without_noise + ln(1000))::numeric, 1) BETWEEN -1.6 AND -1.3 AS normal
FROM (SELECT race_suggest(1, 0, 10000, ARRAY[x[1]] ORDER BY i) a FROM people WHERE i <= 1000) v;

-- classes of clusters, which no line divides, in more dimensions than a grid has
CREATE TABLE clusters AS
SELECT i, i % 2 AS class, ARRAY(SELECT normal(i, j) + CASE WHEN (i / 2 + j * (i % 2)) % 2 = 0 THEN 2 ELSE -2 END FROM generate_series(1, 6) j) AS x FROM generate_series(1, 1500) i;
CREATE TABLE rows_of AS SELECT (race_suggest(1, 0, 10000, x, class ORDER BY i)).* FROM clusters WHERE i <= 400;
SELECT rows BETWEEN 8 AND 1024 AS rows, prior, score > 0.7 AS score FROM rows_of;
WITH c AS MATERIALIZED (SELECT class, race_build(params, record(expression, x)) AS s FROM clusters, rows_of WHERE i BETWEEN 401 AND 1000 GROUP BY class)
SELECT avg((class = (SELECT race_classify(c.class, s, record(expression, x), prior) FROM c))::int) > 0.9 AS good FROM clusters, rows_of WHERE i > 1000;
-- a linear map
SELECT race_project('{3,4,5}', '{{1,0,0},{1,2,-1}}', '{1,1,1}') AS projected, race_project('{NaN,Infinity}', '{{1,0},{0,1}}', '{0,0}') AS odd,
	race_project('{1}', '{{1,2}}', '{0,0}') IS NULL AND race_project('{1,NULL}', '{{1,2}}', '{0,0}') IS NULL AND race_project('{{1,2}}', '{{1,2}}', '{0,0}') IS NULL
	AND race_project('{}', '{{1,2}}', '{0,0}') IS NULL AND race_project(NULL, '{{1,2}}', '{0,0}') IS NULL AS none;
SELECT race_project('{1,2}', '{{1,NULL}}', '{0,0}');
SELECT race_project('{1,2}', '{{1,Infinity}}', '{0,0}');
SELECT race_project('{1,2}', '{1,2}', '{0,0}');
SELECT race_project('{1,2}', '{{1,2}}', '{0}');
SELECT race_project('{1,2}', '{{1,2}}', '{0,NaN}');
-- columns that are constant, or sums of others; few rows; NULLs; more rows than are used
SELECT (r).score > 0.7 AS good FROM (SELECT race_suggest(1, 0, 10000, x || 5::float8 || x[2] + x[3], class ORDER BY i) AS r FROM people WHERE i <= 400) v;
SELECT (race_suggest(1, 0, 10000, x || 5::float8 ORDER BY i)).score IS NOT NULL AS constant FROM people WHERE i <= 100;
SELECT (race_suggest(1, 0, 100, ARRAY[i], i / 11 ORDER BY i)).prior IS NOT NULL AS few FROM generate_series(1, 20) i;
SELECT abs((a).score - (b).score) < 1e-9 AS nulls FROM (
       SELECT race_suggest(1, 0, 1000, x, class ORDER BY i) a, race_suggest(1, 0, 1000, x, class ORDER BY i) FILTER (WHERE x IS NOT NULL AND class IS NOT NULL) b
       FROM (SELECT i, CASE WHEN i % 7 > 0 THEN x END AS x, CASE WHEN i % 5 > 0 THEN class END AS class FROM people WHERE i <= 200) v) v;
SELECT (a).params = (b).params AS the_first FROM (
       SELECT race_suggest(1, 0, 1000, ARRAY[x[1]] ORDER BY i) a,
       race_suggest(1, 0, 1000, ARRAY[x[1]] ORDER BY i) FILTER (WHERE i <= 2000) b FROM people) v;
SELECT race_suggest(1, 0, 1000, x) IS NULL AS none FROM people WHERE false;
SELECT race_suggest(1, 0, 1000, NULL::int[]) IS NULL AS nothing;
SELECT class, (race_suggest(1, 0, 1000, x ORDER BY i)).prior FROM people WHERE i <= 100 GROUP BY class ORDER BY class;
SELECT (race_suggest(1, 0, 1000, x, class) OVER ()).score > 0 AS windowed FROM people WHERE i <= 60 LIMIT 1;

-- errors
SELECT race_suggest(1, 0, 1000, x) FROM people WHERE i <= 19;
SELECT race_suggest(1, 0, 1000, x, 1) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, x, i) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, ARRAY[1, 2]) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, array_fill(i, ARRAY[65])) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, CASE i WHEN 50 THEN ARRAY[1] ELSE ARRAY[i, 1] END) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, CASE i WHEN 50 THEN ARRAY['NaN'::float8] ELSE ARRAY[i] END) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, ARRAY[1e60 * i]) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 1000, 'x'::text);
SELECT race_suggest(0, 0, 1000, x) FROM people WHERE i <= 100;
SELECT race_suggest(1, 2, 1000, x) FROM people WHERE i <= 100;
SELECT race_suggest(1, 0, 0, x) FROM people WHERE i <= 100;
SELECT race_suggest(NULL, 0, 1000, x) FROM people WHERE i <= 100;
DROP TABLE people, suggested, clusters, rows_of;
DROP FUNCTION accuracy(race_params, text), record(text, float8[]), normal(int, int), number(int, int);
