-- Kernels beside l2: estimates of every kind against exact sums in SQL

-- made tables, the same everywhere: numbers, directions, sets, categories
CREATE TABLE people AS
SELECT i, ARRAY[(i * 37 % 101) / 10.0, (i * 53 % 89) / 10.0]::float8[] AS x,
       ARRAY[sin(i), cos(i * 0.7), sin(i * 0.3) + 1]::real[] AS direction,
       ARRAY(SELECT i % 20 + j * (1 + i % 3) FROM generate_series(0, i % 7) j) AS items,
       ARRAY['sex ' || i % 2, 'town ' || i % 5, 'job ' || i * i % 7] AS c
FROM generate_series(1, 2000) i;
CREATE TABLE asked (kernel text, params race_params, x text, q text);
INSERT INTO asked VALUES
('l1', race_params('l1', 2, 3, rows => 4096, range => 256), 'x', '''{5,4}'''),
('l1, a bandwidth a column', race_params('l1', 2, rows => 4096, range => 256, bandwidths => '{2,5}'), 'x', '''{5,4}'''),
('l2, a bandwidth a column', race_params('l2', 2, rows => 4096, range => 256, bandwidths => '{2,5}'), 'x', '''{5,4}'''),
('l2 within bounds', race_params('l2', 2, 3, rows => 4096, range => 256, lower => '{2,2}', upper => '{6,Infinity}'), 'x', '''{9,1}'''),
('l2 of a transform', race_params('l2', 2, 3, rows => 4096, range => 256, transform => race_transform('{{1,0.5},{0,2},{-1,1}}', '{5,4}')), 'x', '''{5,4}'''),
('angular', race_params('angular', 3, power => 4, rows => 4096, range => 16), 'direction', '''{1,0.5,2}'''),
('angular, from a middle', race_params('angular', 3, power => 2, rows => 4096, range => 16, transform => race_transform(NULL, '{0,0,1}')), 'direction', '''{1,0.5,2}'''),
('angular, rehashed', race_params('angular', 3, power => 4, rows => 4096, range => 10), 'direction', '''{1,0.5,2}'''),
('jaccard', race_params('jaccard', rows => 4096, range => 256), 'items', 'ARRAY[3,4,5,6,7]'),
('jaccard, squared', race_params('jaccard', power => 2, rows => 4096, range => 256), 'items', 'ARRAY[3,4,5,6,7]'),
('match', race_params('match', 3, rows => 4096, range => 256), 'c', 'ARRAY[''sex 1'',''town 3'',''job 2'']'),
('match, cubed', race_params('match', 3, power => 3, rows => 4096, range => 256), 'c', 'ARRAY[''sex 1'',''town 3'',''job 2'']'),
('l2 * match', race_params('l2', 2, 3, rows => 4096, range => 256) * race_params('match', 3, rows => 4096, range => 256),
 'ROW(x, c)', 'ROW(ARRAY[5,4], ARRAY[''sex 1'',''town 3'',''job 2''])'),
('l1 * jaccard * match', 'l1(dims=2, bandwidth=9, rows=4096, range=256) * jaccard * match(dims=3)',
 'ROW(x, items, c)', 'ROW(ARRAY[5,4], ARRAY[3,4,5], ARRAY[''sex 1'',''town 3'',''job 2''])');

-- Exact sketches: sampling error alone, measured 0 to 5 records of 2000; seeds are
-- fixed, so 20 never fails by chance.  Private ones, epsilon 1, delta 1e-6: Gaussian
-- noise of 4.9 records more, so 8 of that (1e-15 a line) and 20.
CREATE FUNCTION estimates(params race_params, x text, q text, OUT exact float8, OUT sketched float8, OUT private float8)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT sum(race_kernel($1, %1$s, %2$s)), race_kernel_sum(race_build($1, %1$s), %2$s),
		race_kernel_sum(race_privatize(race_build($1, %1$s), 1, 1e-6), %2$s) FROM people', x, q)
	INTO exact, sketched, private USING params;
END $$;
SELECT kernel, abs(sketched - exact) < 20 AS sketched, abs(private - exact) < 20 + 8 * 4.9 AS private
FROM asked, estimates(params, x, q);
