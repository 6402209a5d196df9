-- The bytes of a sketch follow from its content, however it came to be.

CREATE TABLE parts AS
SELECT i % 4 AS part, race_build('l2(dims=2, bandwidth=0.5, rows=64, range=256)', ARRAY[sqrt(i), i % 7]) AS s
FROM generate_series(1, 4000) i GROUP BY 1;
CREATE TABLE whole AS SELECT race_build('l2(dims=2, bandwidth=0.5, rows=64, range=256)', ARRAY[sqrt(i), i % 7]) AS s
FROM generate_series(1, 4000) i;

-- sizes: counters as narrow as they fit, whatever they were before
SELECT octet_length(_race_sketch_send(s)) - 64 * 256 * i.counter_bytes AS wire,
	i.storage_bytes - 64 * 256 * i.counter_bytes AS told,
	i.counter_bytes
FROM whole, race_info(s) i \gx

-- the bytes depend on the content alone
SELECT _race_sketch_send((SELECT race_merge(s) FROM parts)) = _race_sketch_send(s) AS merged,
	_race_sketch_send((
		SELECT race_merge(s) FROM (SELECT s::text::race_sketch FROM parts) v (s)
	)) = _race_sketch_send(s) AS by_text,
	_race_sketch_send(s + p - p) = _race_sketch_send(s) AS back,
	_race_sketch_send(race_remove(race_add(s, '{9,9}'), '{9,9}')) = _race_sketch_send(s) AS removed,
	s::text::race_sketch::text = s::text AS text
FROM whole, (SELECT s FROM parts LIMIT 1) v (p) \gx
SELECT _race_sketch_send(race_merge(s) OVER (ORDER BY part ROWS 1 PRECEDING)) =
       _race_sketch_send(s + coalesce(lag(s) OVER (ORDER BY part), race_sketch(race_params(s)))) AS window FROM parts;
-- with negative counters, and counters of every width
SELECT n, race_count(s), _race_sketch_send(s::text::race_sketch) = _race_sketch_send(s) AS same,
       _race_sketch_send((s + w) - w) = _race_sketch_send(s) AS back, (race_info(s)).counter_bytes
FROM (WITH RECURSIVE r (n, s, w) AS (
	SELECT 1, race_sketch(race_params(s)) - s, s FROM whole
	UNION ALL SELECT n + 1, s + s, w FROM r WHERE n < 48) SELECT * FROM r) v WHERE n IN (1, 10, 30, 48);
-- asked the same, stored, as a constant, and in memory
SELECT bool_and(race_kde(s, q) = race_kde((SELECT race_merge(s) FROM parts), q)) AS merged,
       bool_and(race_kde(s, q) = race_kde(race_add(race_remove(s, '{1,1}'), '{1,1}'), q)) AS in_memory,
       count(DISTINCT race_kde(s, q)) > 50 AS answers
FROM whole, LATERAL (SELECT ARRAY[i, i % 7] AS q FROM generate_series(0, 99) i) v;
DO $$
DECLARE
	difference float8;
BEGIN
	EXECUTE format('SELECT sum(abs(race_kde(%L::race_sketch, ARRAY[i, 3]) - race_kde(s, ARRAY[i, 3]))) FROM whole, '
		'generate_series(0, 50) i',
				   (SELECT s FROM whole)) INTO difference;
	RAISE NOTICE 'difference %', difference;
END $$;
-- several at one place, one after the other
SELECT part,
	sum(race_kernel_sum(s, ARRAY[i, 3])) = (
		SELECT sum(race_kernel_sum(s, ARRAY[i, 3]))
		FROM (SELECT s FROM parts p WHERE p.part = o.part) v, generate_series(0, 9) i
	) AS same
FROM parts o, generate_series(0, 9) i GROUP BY part, s::text ORDER BY part;
SELECT race_fit(s, lower => '{0,0}', upper => '{64,7}', points => 50) IS NOT NULL AS fits,
	race_kde(race_fit(s, lower => '{0,0}', upper => '{64,7}', points => 50), '{30,3}')::numeric(6,3)
		= race_kde(race_fit(s, lower => '{0,0}', upper => '{64,7}', points => 50)::text::race_sketch,
			'{30,3}')::numeric(6,3) AS with_model
FROM whole;

-- sketches of an unknown version are refused
SELECT 'AgEAAAAAAAAAAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAQI'
	'BAgAAAAEAAAAEAAAAQAAAAAAAAAABAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAGAAAARBRFa0h/CIxguKM='
		::race_sketch
	;

DROP TABLE parts, whole;
