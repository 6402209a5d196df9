-- Values of each kernel and kind, small, and what they answer.  test/t/260_upgrade.pl reads
-- what a version kept of this (values--VERSION.txt).  To keep those of another version:
-- psql -XAtq -f test/upgrade/values.sql, in a new database of that version.
SET client_min_messages = error;
CREATE EXTENSION racepriv;
CREATE TABLE t AS
SELECT i, ARRAY[(i * 37 % 101) / 10.0, (i * 53 % 89) / 10.0]::float8[] AS x,
	ARRAY(SELECT i % 20 + j * (1 + i % 3) FROM generate_series(0, i % 7) j) AS items,
	ARRAY['town ' || i % 5, 'job ' || i * i % 7] AS c
FROM generate_series(1, 200) i;
CREATE TABLE kinds (kind text, params text, x text, q text);
INSERT INTO kinds VALUES
('l2', 'l2(dims=2, bandwidth=3, rows=16, range=16)', 'x', 'ARRAY[5,4]'),
('l2 independent', 'l2(dims=2, bandwidth=3, rows=16, range=16, sequence=independent, rehash=multilinear)', 'x', 'ARRAY[5,4]'),
('l2 within bounds', 'l2(dims=2, bandwidths={2,5}, rows=16, range=16, lower={0,0}, upper={10,9})', 'x', 'ARRAY[5,4]'),
('l2 grid', 'l2(dims=2, bandwidth=3, sequence=grid, lower={0,0}, upper={10,9}, cells={6,6})', 'x', 'ARRAY[5,4]'),
('l1', 'l1(dims=2, bandwidth=3, rows=16, range=16, lower={0,0}, upper={10,9})', 'x', 'ARRAY[5,4]'),
('l1 grid', 'l1(dims=2, bandwidth=3, sequence=grid, lower={0,0}, upper={10,9}, cells={5,5})', 'x', 'ARRAY[5,4]'),
('angular', 'angular(dims=2, power=3, rows=16, range=8)', 'x', 'ARRAY[5,4]'),
('jaccard', 'jaccard(rows=16, range=16)', 'items', 'ARRAY[3,4,5,6,7]'),
('match', 'match(dims=2, rows=16, range=16)', 'c', 'ARRAY[''town 3'',''job 2'']'),
('match with NULLs', 'match(dims=2, nulls=different, rows=16, range=16)', 'c', 'ARRAY[''town 3'',NULL]'),
('product', 'l2(dims=2, bandwidth=3, rows=16, range=16) * match(dims=2)', 'ROW(x, c)', 'ROW(ARRAY[5,4], ARRAY[''town 3'',''job 2''])'),
('product of three', 'l1(dims=2, bandwidth=9, rows=16, range=16) * jaccard * match(dims=2)', 'ROW(x, items, c)', 'ROW(ARRAY[5,4], ARRAY[3,4,5], ARRAY[''town 3'',''job 2''])');
CREATE TABLE made (kind text, form text, sketch race_sketch, q text);
DO $$
DECLARE
	k kinds;
BEGIN
	FOR k IN TABLE kinds LOOP
		EXECUTE format('INSERT INTO made SELECT $1, f.form, f.sketch, $2
			FROM (SELECT race_build($3::race_params, %s) AS s FROM t) v
				CROSS JOIN LATERAL (VALUES (''exact'', s), (''laplace'', race_privatize(s, 4)),
					(''gaussian'', race_privatize(s, 4, 1e-6))) f (form, sketch)
			WHERE f.form = ''exact'' OR $1 NOT LIKE ''%% grid'' OR f.form = ''laplace''', k.x)
		USING k.kind, k.q, k.params;
	END LOOP;
	INSERT INTO made SELECT kind, form || ' fitted', race_fit(sketch, 12, lower => '{0,0}', upper => '{10,9}'), q
	FROM made WHERE kind IN ('l2', 'l2 within bounds', 'l2 grid', 'l1 grid');
	INSERT INTO made SELECT kind, form || ' fitted', race_fit(sketch, c), q
	FROM made, (SELECT DISTINCT c FROM t WHERE i <= 10) v WHERE kind = 'match' GROUP BY kind, form, q;
	INSERT INTO made SELECT m.kind, 'share', race_share(sketch, 1, 1e-6, 3), q
	FROM made m WHERE m.kind = 'l2' AND form = 'exact';
END $$;
\ir answers.sql
SELECT kind, form, q, sketch, answers(sketch, q) FROM made ORDER BY kind, form;
