-- race_sketch: text form, adding, removing, + and -

\set p '''l2(dims=2, bandwidth=1, rows=4, range=8, seed=1, sequence=independent)'''

-- golden codes: these bits are the same on every machine and in every version
SELECT race_add(race_sketch(:p::race_params), ARRAY[0.5, -1.25])::text = g::race_sketch::text AS golden,
	length(g::race_sketch::text)
FROM (VALUES ('AwEAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
	'AAADAQEBAgAAAAEAAAAEAAAACAAAAAAAAAABAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAQAAAAAAAAEAAA'
	'AAAAAAAAAAAAAAAAGjcHg9')) v (g);
SELECT race_add(race_sketch('l2(dims=2, bandwidth=1, rows=4, range=8, seed=1, sequence=sobol)'::race_params),
	ARRAY[0.5, -1.25])::text = g::race_sketch::text AS golden
FROM (VALUES ('AwEAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
	'AAADAQIBAgAAAAEAAAAEAAAACAAAAAAAAAABAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAAAAA'
	'AAAAABAAABAAAAAADlS726')) v (g);
SELECT race_add(race_sketch('l2(dims=2, bandwidth=1, power=2, rows=4, range=8, seed=1)'::race_params),
	ARRAY[0.5, -1.25])::text = g::race_sketch::text AS golden
FROM (VALUES ('AwEAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
	'AAADAQICAgAAAAIAAAAEAAAACAAAAAAAAAABAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAQAAAA'
	'EAAAAAAAEAAAAAAADZ110Y')) v (g);

-- round trips
CREATE TABLE sketches (id int PRIMARY KEY, s race_sketch);
INSERT INTO sketches
SELECT n, race_build(:p, ARRAY[i, i % 7]) FROM unnest('{1,100,1000,100000}'::int[]) n, generate_series(1, n) i
GROUP BY n;
SELECT id, length(s::text), (race_info(s)).counter_bytes, s::text::race_sketch::text = s::text AS text_same
FROM sketches ORDER BY id;

-- add and remove, every element type
SELECT bool_and(race_add(race_sketch(:p::race_params), x)::text = race_add(race_sketch(:p::race_params), '{3,4}')::text)
FROM (SELECT race_sketch(:p::race_params) s, ARRAY[3, 4]::float8[] x) t;
SELECT t, race_add(s, x2)::text = r AS i2, race_add(s, x4)::text = r AS i4, race_add(s, x8)::text = r AS i8,
       race_add(s, f4)::text = r AS f4, race_add(s, f8)::text = r AS f8, race_add(s, num)::text = r AS num
FROM (SELECT 'all the same' t, race_sketch(:p::race_params) s,
             ARRAY[3, 4]::int2[] x2, ARRAY[3, 4]::int4[] x4, ARRAY[3, 4]::int8[] x8,
             ARRAY[3, 4]::float4[] f4, ARRAY[3, 4]::float8[] f8, ARRAY[3, 4]::numeric[] num,
             race_add(race_sketch(:p::race_params), '{3,4}')::text r) v;
CREATE DOMAIN point2 AS float8[] CHECK (array_length(VALUE, 1) = 2);
SELECT race_count(race_add(race_sketch(:p::race_params), ARRAY[1, 2]::point2));
-- a type of its own with an implicit cast to real[], as pgvector's vector has
CREATE TYPE vec AS (a real[]);
CREATE FUNCTION vec_to_real(vec, int, boolean) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ($1).a';
CREATE CAST (vec AS real[]) WITH FUNCTION vec_to_real(vec, int, boolean) AS IMPLICIT;
SELECT race_add(race_sketch(:p::race_params), ROW(ARRAY[3, 4]::real[])::vec)::text
     = race_add(race_sketch(:p::race_params), '{3,4}')::text AS same;
-- the cast is run by those only who may
CREATE ROLE race_other;
REVOKE EXECUTE ON FUNCTION vec_to_real(vec, int, boolean) FROM PUBLIC;
SET ROLE race_other;
SELECT race_kernel('l2', ROW(ARRAY[3, 4]::real[])::vec, '{3,4}');
RESET ROLE;
DROP ROLE race_other;
SELECT race_remove(race_add(s, '{1,2}'), '{1,2}')::text = s::text AS back FROM sketches;
SELECT race_count(race_remove(race_sketch(:p::race_params), '{1,2}')) AS "one less than none";
SELECT race_add(NULL, '{1,2}') IS NULL AS a, race_add(race_sketch(:p::race_params), NULL::int[]) IS NULL AS b;

-- widths: 127 records fit a byte, 128 do not; taking one away gives a byte again
SELECT n, (race_info(race_build(:p, '{0,0}'))).counter_bytes, race_count(race_build(:p, '{0,0}'))
FROM unnest('{127,128,32767,32768}'::int[]) n, generate_series(1, n) GROUP BY n ORDER BY n;
SELECT (race_info(race_remove(race_build(:p, '{0,0}'), '{0,0}'))).counter_bytes FROM generate_series(1, 128);

-- + and - are inverse, and + commutes
SELECT (a.s + b.s)::text = (b.s + a.s)::text AS commutes, ((a.s + b.s) - b.s)::text = a.s::text AS inverse,
       race_count(a.s + b.s), race_count(a.s - b.s)
FROM sketches a, sketches b WHERE a.id = 1000 AND b.id = 100000;
SELECT race_sketch(:p::race_params) + race_sketch('l2(dims=2, bandwidth=2, rows=4, range=8, seed=1)'::race_params);
SELECT race_sketch(:p::race_params) - race_sketch('l2(dims=2, bandwidth=1, rows=8, range=8, seed=1)'::race_params);

-- doubling reaches the largest counter, and stops there with an error
DO $$
DECLARE
	s race_sketch := race_add(race_sketch('l2(dims=1, rows=1, range=2)'::race_params), '{1}');
BEGIN
	FOR i IN 1 .. 62 LOOP
		s := s + s;
	END LOOP;
	RAISE NOTICE '% records, text round trip %', race_count(s), s::text::race_sketch::text = s::text;
	BEGIN
		s := race_add(s, '{1}');
	EXCEPTION WHEN numeric_value_out_of_range THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	s := s + s;
END $$;

-- dims must be known by now
SELECT race_sketch('l2'::race_params);
-- the cast that a literal would be
SELECT race_sketch('l2(dims=3)');

-- constants and variables, flat and expanded, give the same
CREATE FUNCTION loop_add(p race_params, n int) RETURNS race_sketch LANGUAGE plpgsql AS $$
DECLARE
	s race_sketch := race_sketch(p);
	before race_sketch;
BEGIN
	FOR i IN 1 .. n LOOP
		before := s;
		s := race_add(s, ARRAY[i, i % 7]);
		IF race_count(before) <> i - 1 THEN
			RAISE 'a copy has changed';
		END IF;
	END LOOP;
	RETURN s;
END $$;
SELECT id, loop_add(:p, id)::text = s::text AS same FROM sketches WHERE id <= 1000 ORDER BY id;

DROP TABLE sketches;
DROP FUNCTION loop_add;
DROP CAST (vec AS real[]);
DROP FUNCTION vec_to_real;
DROP TYPE vec;
DROP DOMAIN point2;
