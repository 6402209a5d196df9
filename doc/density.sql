-- The density of ages: exact, from private sketches, and from a histogram with noise.
-- Makes the table answers (name, epsilon, nth release, q, density) for the picture,
-- and prints root mean square errors over the grid.
CREATE EXTENSION racepriv;

CREATE TABLE answers AS
SELECT 'exact' AS name, NULL::float8 AS epsilon, 1 AS nth, q,
       avg(race_kernel('l2(bandwidth=3)', x, ARRAY[q])) AS density
FROM density_source, generate_series(0, 96, 2) q GROUP BY q;

-- racepriv: pure (delta = 0) as it comes by default, and with delta and 4096 rows
CREATE TABLE sketches AS
SELECT rows, race_build(race_params('l2', 1, 3, rows => rows), x) AS exact
FROM density_source, (VALUES (1024), (4096)) v (rows) GROUP BY rows;

INSERT INTO answers
SELECT setting.name, epsilon, nth, grid.x[1], grid.kernel_density
FROM (VALUES ('racepriv, delta = 0', 1024, 0), ('racepriv, delta = 1e-6, 4096 rows', 4096, 1e-6)) setting (name, rows, delta)
     JOIN sketches USING (rows), unnest(ARRAY[0.01, 0.1, 1]) epsilon, generate_series(1, 45) nth,
     LATERAL (SELECT race_privatize(exact, epsilon, delta) AS private OFFSET 0) release,
     race_kde_grid(private, '{0}', '{96}', '{49}') grid;

-- The histogram: one cell for each year.  A person changes one cell by one, so Laplace
-- noise of scale 1 / epsilon makes it private in the same sense as the pure sketch.  (For
-- a comparison only: this noise is made of floating-point numbers, which leak.)  The
-- density is the kernel's mean over cells.
CREATE TABLE histogram AS
SELECT cell, count(x) AS n
FROM generate_series(0, 99) cell LEFT JOIN density_source ON width_bucket(x[1], 0, 100, 100) - 1 = cell GROUP BY cell;

CREATE TABLE noisy_histogram AS
SELECT epsilon, nth, cell, n + (CASE WHEN random() < 0.5 THEN -1 ELSE 1 END) * -ln(1 - random()) / epsilon AS n
FROM histogram, unnest(ARRAY[0.01, 0.1, 1]) epsilon, generate_series(1, 45) nth;

INSERT INTO answers
SELECT 'histogram', epsilon, nth, q, sum(n * race_kernel('l2(bandwidth=3)', ARRAY[cell + 0.5], ARRAY[q])) / sum(n)
FROM noisy_histogram, generate_series(0, 96, 2) q GROUP BY epsilon, nth, q;

\echo 'Root mean square error of densities, times 10^4: the median of 45 releases'
SELECT name, epsilon, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY error) * 1e4)::numeric, 2) AS error
FROM (SELECT a.name, a.epsilon, a.nth, sqrt(avg((a.density - e.density) ^ 2)) AS error
      FROM answers a JOIN answers e ON e.q = a.q AND e.name = 'exact'
      WHERE a.name <> 'exact' GROUP BY a.name, a.epsilon, a.nth) v
GROUP BY name, epsilon ORDER BY epsilon, name;
