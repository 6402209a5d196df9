-- The main job: raw rows, one sketch, one private release, any number of answers.
\pset footer off
\set QUIET on
CREATE EXTENSION racepriv_release CASCADE;
SELECT title, unit, bandwidth, low, high FROM density_plan \gset
\echo
\echo '1. The density of one column:' :title
\echo
\echo '   race_build makes a sketch of all rows; race_privatize adds noise, once, at epsilon = 1.'

CREATE TABLE release AS
SELECT exact, race_privatize(exact, epsilon => 1, rows => 256) AS private
FROM (SELECT race_build(race_params('l2', dims => 1, bandwidth => :bandwidth, rows => 256), x) AS exact
      FROM density_source) v;

CREATE FUNCTION pg_temp.bar(share float8, width int) RETURNS text LANGUAGE sql AS
	$$SELECT rpad(repeat('█', round(greatest(share, 0) * width)::int), width)$$;

\echo
SELECT e.x[1] AS :"unit",
       pg_temp.bar(e.kernel_density / max(e.kernel_density) OVER (), 30) AS "exact",
       pg_temp.bar(p.kernel_density / max(e.kernel_density) OVER (), 30) AS "private, epsilon = 1",
       to_char(100 * (p.kernel_density / e.kernel_density - 1), 'SG990.0 %') AS "differs by"
FROM release,
     race_kde_grid(exact, ARRAY[:low], ARRAY[:high], ARRAY[25]) e,
     race_kde_grid(private, ARRAY[:low], ARRAY[:high], ARRAY[25]) p
WHERE p.x = e.x ORDER BY e.x;

\echo '   What the private one is, and what it cost:'
\echo
SELECT to_char(round(race_count(exact)), '999,999') AS "rows in the table",
       to_char(round(race_count(private)), '999,999') AS "private count",
       i.mechanism, round(i.epsilon::numeric, 4) AS epsilon, pg_size_pretty(i.storage_bytes) AS size
FROM release, race_info(private) i;

SELECT title, dims, bandwidth FROM class_plan \gset
\echo '2. A classifier:' :title
\echo
\echo '   One private sketch a class, from every second row, at epsilon = 1; asked about the others.'
CREATE TABLE numbered AS SELECT row_number() OVER () AS id, label, x FROM class_source;
CREATE TABLE classes AS
SELECT label, race_build(race_params('l2', dims => :dims, bandwidth => :bandwidth, rows => 64), x) AS exact
FROM numbered WHERE id % 2 = 0 GROUP BY label;
ALTER TABLE classes ADD private race_sketch;
UPDATE classes SET private = race_privatize(exact, epsilon => 1, rows => 64);

CREATE TABLE answers AS
SELECT id, n.label, race_classify(c.label, exact, n.x) AS exact, race_classify(c.label, private, n.x) AS private
FROM numbered n, classes c WHERE id % 4 = 1 GROUP BY id, n.label;

\echo
SELECT count(*) AS "rows asked about",
       to_char(100 * avg((label = exact)::int), '990.0 %') AS "right, exact sketches",
       to_char(100 * avg((label = private)::int), '990.0 %') AS "right, private sketches",
       (SELECT to_char(100.0 * count(*) / sum(count(*)) OVER (), '990.0 %') FROM answers
        GROUP BY label ORDER BY count(*) DESC LIMIT 1) AS "right, always the largest class"
FROM answers;
