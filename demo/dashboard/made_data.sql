-- Pixels, made up, in the shape of UCI Skin Segmentation: a fifth is skin.
CREATE TABLE raw (id serial, b float8, g float8, r float8, class int);
DO $$ BEGIN PERFORM setseed(0.5); END $$;
CREATE FUNCTION pg_temp.near(mean float8, deviation float8) RETURNS float8 LANGUAGE sql VOLATILE AS
	'SELECT round(least(greatest(mean + deviation * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), 0), 255))';
INSERT INTO raw (b, g, r, class)
SELECT pg_temp.near(light * 0.62, 14), pg_temp.near(light * 0.76, 12), pg_temp.near(light, 10), 1
FROM (SELECT pg_temp.near(215, 28) AS light FROM generate_series(1, 50000)) v;
INSERT INTO raw (b, g, r, class)
SELECT pg_temp.near(light, 18), pg_temp.near(light * 0.98, 12), pg_temp.near(light * 0.9, 22), 2
FROM (SELECT CASE WHEN i % 5 < 3 THEN pg_temp.near(165, 20) ELSE pg_temp.near(60, 35) END AS light FROM generate_series(1, 195000) i) v;
