-- Contingency tables: building, merging, noise, and what refuses them.  Answers: table_answers.sql.
\set VERBOSITY default
CREATE TABLE tables_people (id serial, a float8, b float8, c float8);
INSERT INTO tables_people (a, b, c) SELECT i % 4, i % 3, (i * i) % 5 FROM generate_series(0, 299) i;
CREATE FUNCTION three() RETURNS race_params LANGUAGE sql IMMUTABLE AS
	$$SELECT 'tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,2},{0,1,2}})'
		::race_params$$;
CREATE TABLE tables_exact AS SELECT race_build(three(), ARRAY[a, b, c]) AS sketch FROM tables_people;

-- parameters: text form, and what they must be
\pset format unaligned
SELECT regexp_split_to_table(three()::text, ', ') AS three;
\pset format aligned
CREATE FUNCTION problem(params text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN regexp_replace('valid: ' || params::race_params, ', (groups|measured)', E',\n\t\t\\1', 'g');
EXCEPTION WHEN others THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
\pset format unaligned
SELECT params || E'\n\t' || problem(params)
	AS problem FROM (VALUES
	('tables'), ('tables(dims=2)'), ('tables(dims=2, cells={4,3})'),
	('tables(dims=2, cells={4}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,0}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,2.5}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,NaN}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,1e300}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,4}, groups={{1,0},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,0},{0,1},{1,1},{0,0}})'),
	('tables(dims=2, cells={2,3}, groups={{0,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=1, cells={2}, groups={{0},{0},{1},{0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,101},{0,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{NaN,1},{0,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,4},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,-1},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1}})'),
	('tables(dims=2, cells={100000,100000}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={131000,200}, groups={{1,1},{0,0},{1,1},{0,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, joined={{0,1,2,3,0,1,2}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, joined={{0,1}}, measured={{0,0,1},{1,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, joined={{0,2,1,1,0,0,1}},
		measured={{0,0,1},{1,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{1,1,1},{0,0,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,0}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1},{1,0,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1},{0,2,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1},{0,1,1},{0,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,2},{1,1},{0,0}}, ends={4,0})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,2},{1,1},{0,0}}, ends={4,1})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, ends={4})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, ends={.5,1})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, ends={101,1})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, ends={NaN,1})'),
	('tables(dims=2, cells={4,3}, groups={{1,0},{0,0},{1,1},{0,0}}, ends={1,0})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,2},{1,1},{0,0}},
		measured={{0,0,1},{1,1,1}}, ends={.5,0})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}},
		measured={{0,0,1},{1,1,1}}, ends={-1,0})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, signs={{1,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,1,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{0,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{NaN,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,0,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,4,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,1.5,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,-1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}},
		measured={{0,0,1},{1,1,1}}, signs={{1,1,1},{1,1,1}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, measured={{0,0,1},{1,1,1}}, signs={{1,3,2}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}},
		measured={{0,0,1},{1,1,1},{0,1,1}}, signs={{1,3,2}})'),
	('tables(dims=3, cells={4,3,3}, groups={{1,1,0},{0,0,0},{1,1,1},{0,0,0}},
		measured={{0,0,1},{1,1,1}}, signs={{1,3,2,1}})'),
	('tables(dims=3, cells={4,3,3}, groups={{1,1,0},{0,0,0},{1,1,1},{0,0,0}},
		measured={{0,0,1},{1,1,1}}, signs={{1,3,2}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,2,1},{1,1,1},{0,0,1}},
		measured={{0,0,1},{1,1,1},{2,2,1}}, signs={{1,3,1,2}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,2,1},{1,1,1},{0,0,1}},
		measured={{0,0,1},{1,1,1},{2,2,1}}, signs={{1,3,0,2}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,4},{1,2,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,4}},
		measured={{0,0,1},{1,1,1},{2,2,1},{0,257,1},{0,1,1}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}},
		measured={{0,0,1},{1,1,1},{2,2,1},{0,258,1}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{1,2,4},{0,257,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{1,2,4},{1,2,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,385,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,130,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{1,1,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{1,2,0}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{NaN,Infinity,4}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{1,2}})'),
	('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{1,2,4},{0,1,4}},
		bandwidths={1,2,3})'),
	('tables(dims=3, cells={900,900,900}, groups={{1,1,1},{0,0,0},{1,1,1},{0,0,0}}, workload={{0,257,4}})'),
	('tables(dims=4, cells={2,3,2,9}, groups={{1,1,1,1},{0,0,0,0},{1,1,1,1},{0,0,0,0}}, searched={1,1,1,0})'),
	('tables(dims=4, cells={2,3,2,9}, groups={{1,1,1,1},{0,0,0,0},{1,1,1,1},{0,0,0,0}}, searched={1,1,1,1})'),
	('tables(dims=3, cells={4,3,2}, groups={{1,1,1},{0,0,0},{1,1,1},{0,0,0}}, searched={1,2,1})'),
	('tables(dims=3, cells={4,3,2}, groups={{1,1,1},{0,0,0},{1,1,1},{0,0,0}}, searched={1,1})'),
	('tables(dims=3, cells={4,3,2}, groups={{1,1,1},{0,0,0},{1,1,1},{0,0,0}}, searched={1,1,NaN})'),
	('l1(dims=3, workload={{1,2,4}})'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, seed=1)'),
	('tables(dims=2, cells={4,3}, groups={{1,1},{0,0},{1,1},{0,0}}, bandwidth=2)'),
	('tables(dims=129)'),
	('l2(dims=2, groups={{1,1},{0,0},{1,1},{0,0}})'), ('l2(dims=2, measured={{0,0,1},{1,1,1}})'),
	('l2(dims=2, signs={{1,1,1}})'), ('l2(dims=2, ends={1,1})')
	) v(params);
\pset format aligned

-- counting: clipped to the cells of a column, a group for each table
SELECT (i).rows, (i).range, (i).count, (i).status FROM (SELECT race_info(sketch) AS i FROM tables_exact) x;
SELECT race_build(three(), ARRAY[-5, 1.99, 1e300])::text
	= race_build(three(), ARRAY[0, 1, 5]::float8[])::text AS clipped;
SELECT race_build(three(), ARRAY[0, 1]::float8[]);
SELECT race_build(three(), ARRAY[0, 1, 'NaN']::float8[]);
SELECT race_build(three(), ARRAY[0, 1, NULL]::float8[]);

-- equal bits: in any order, merged, added one by one, in a moving window
SELECT count(DISTINCT sketch::text)
FROM (
	SELECT sketch
	FROM tables_exact
	UNION ALL SELECT race_build(three(), ARRAY[a, b, c] ORDER BY id DESC) FROM tables_people
	UNION ALL SELECT race_merge(part)
	FROM (SELECT race_build(three(), ARRAY[a, b, c]) AS part FROM tables_people GROUP BY id % 7) p
	UNION ALL SELECT race_remove(race_add(sketch, ARRAY[1, 1, 1]::float8[]), ARRAY[1, 1, 1]::float8[]) FROM tables_exact
	UNION ALL SELECT sketch::text::race_sketch FROM tables_exact
	UNION ALL SELECT sketch + sketch - sketch FROM tables_exact
) s;
SELECT bool_and(moving::text = (
	SELECT race_build(three(), ARRAY[o.a, o.b, o.c])::text FROM tables_people o WHERE o.id BETWEEN w.id - 20 AND w.id
)) AS windows
FROM (
	SELECT id, race_build(three(), ARRAY[a, b, c]) OVER (ORDER BY id ROWS 20 PRECEDING) AS moving FROM tables_people
) w WHERE id % 37 = 0;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
ALTER TABLE tables_people SET (parallel_workers = 2);
SELECT race_build(three(), ARRAY[a, b, c])::text = (SELECT sketch::text FROM tables_exact) AS parallel
FROM tables_people;
COMMIT;

-- noise, so little that it is none: the first tables are of columns
CREATE TABLE tables_private AS SELECT race_privatize(sketch, 1e12) AS sketch FROM tables_exact;
SELECT (i).kernel,
	(i).count,
	(i).status,
	(i).mechanism,
	(i).epsilon <= 1e12 AS within
FROM (SELECT race_info(sketch) AS i FROM tables_private) x \gx
\pset format unaligned
SELECT regexp_split_to_table(regexp_replace(race_params(sketch)::text, '\d+\.\d+(e-\d+)?', 'v', 'g'), ', ') AS params
FROM tables_private;
\pset format aligned
SELECT sketch::text::race_sketch::text = sketch::text AS same FROM tables_private;
SELECT mechanism, rows, epsilon, delta FROM race_privacy_cost(three(), 1);
SELECT mechanism, rows, epsilon <= 1 AS within, delta
FROM race_privacy_cost(three(), 1, 1e-6, max_contributions => 3, neighbors => 'substitute');
SELECT race_privacy_cost(three(), 1e-9, max_contributions => 2000000000);
SELECT race_privatize(sketch, 1e-9, max_contributions => 2000000000) FROM tables_exact;

-- tables that were chosen one by one are not added up; shares are
SELECT race_merge(sketch)::text = (SELECT sketch::text FROM tables_private) AS one FROM tables_private;
SELECT race_merge(s)
FROM (SELECT sketch AS s FROM tables_private UNION ALL SELECT race_privatize(sketch, 1e12) FROM tables_exact) x;
SELECT sketch + sketch FROM tables_private;
SELECT sketch - sketch FROM tables_private;
SELECT p.sketch + e.sketch FROM tables_private p, tables_exact e;
SELECT (i).count > 0 AS counted,
	(i).range,
	(i).status,
	(i).epsilon <= 1e9 AS within
FROM (
	SELECT race_info(race_merge(race_share(sketch, 1e9, 1e-6, 3, 0))) AS i FROM tables_exact, generate_series(1, 3)
) x \gx
SELECT race_add(sketch, ARRAY[1, 1, 1]::float8[]) FROM tables_private;
SELECT race_remove(sketch, ARRAY[1, 1, 1]::float8[]) FROM tables_private;
SELECT race_privatize(sketch, 1) FROM tables_private;
SELECT race_build(race_params(sketch), ARRAY[1, 1, 1]::float8[]) FROM tables_private;
SELECT race_sketch(race_params(sketch)) FROM tables_private;

-- functions of other sketches
CREATE FUNCTION refusal(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s race_sketch := (SELECT sketch FROM tables_exact);
	p race_sketch := (SELECT sketch FROM tables_private);
	answer text;
BEGIN
	EXECUTE 'SELECT (' || call || ')::text FROM (SELECT $1 AS s, $2 AS p) x' USING s, p INTO answer;
	RETURN 'answered';
EXCEPTION WHEN others THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
\pset format unaligned
SELECT call, refusal(call)
FROM unnest(ARRAY['race_classify(''a''::text, p, ARRAY[1,1,1]::float8[])',
	'race_covariance(p, 1, 2)', 'race_difference(p, p, ARRAY[1,1,1]::float8[])', 'race_distance(p, p)',
	'race_distance(s, s)', 'race_estimate(p, ARRAY[1,1,1]::float8[])', 'race_fit(p)', 'race_fit(s)',
	'race_fit(p, points => 10)', 'race_fit(p, ARRAY[1,1,1]::float8[])', 'race_kde(p, ARRAY[1,1,1]::float8[])',
	'race_kde(p, 1)', 'race_kde_grid(p, ''{0,0,0}'', ''{1,1,1}'', ''{2,2,2}'')',
	'race_kernel_sum(p, ARRAY[1,1,1]::float8[])', 'race_classify(''a''::text, p, ARRAY[1,1,1]::float8[])',
	'race_loss(p, ARRAY[1,1,1]::float8[])', 'race_minimize(p)', 'race_modes(p)', 'race_moments_matrix(p)',
	'race_pca(p)', 'race_points(p)', 'race_posterior(''a''::text, p, ARRAY[1,1,1]::float8[])',
	'race_predict(p, 1, ARRAY[1,1,1]::float8[])', 'race_quantile(p, ''{0.5}'')', 'race_regress(p, 1)',
	'race_sample(p, 5)', 'race_sample(s, 5)', 'race_typicality(p, ARRAY[1,1,1]::float8[])', 'race_transform(p)',
	'race_count(p)', 'race_merge_disjoint(p)']) call;
\pset format aligned
DROP TABLE tables_people, tables_exact, tables_private;
DROP FUNCTION three, problem, refusal;
-- with a measure: a value beyond the upper bound is NULL where that has a part, else clipped
CREATE TABLE tables_measure AS SELECT x, params, race_build(params::race_params, ARRAY[1, x]) AS sketch
FROM (VALUES (-3), (0), (1024), (1024.4), (4096), (9999)) v (x),
	(VALUES ('tables(dims=2, cells={3,2}, groups={{1,0},{0,0},{1,1},{0,0}})'),
		('tables(dims=2, cells={3,3}, groups={{1,0},{0,0},{1,1},{0,0}})')) p (params)
GROUP BY 1, 2;
SELECT a.params, string_agg(a.x || '=' || b.x, ' ' ORDER BY a.x, b.x)
FROM tables_measure a JOIN tables_measure b USING (params) WHERE a.sketch::text = b.sketch::text AND a.x < b.x
GROUP BY 1 ORDER BY 1;
SELECT race_merge(sketch)::text = race_build('tables(dims=2, cells={3,3}, groups={{1,0},{0,0},{1,1},{0,0}})',
	ARRAY[1, x])::text AS same
FROM tables_measure WHERE params LIKE '%cells={3,3}%';
DROP TABLE tables_measure;
