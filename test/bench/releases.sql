-- What a release costs over what it is made of, and what a question by name costs over one
-- to a sketch that is stored:
--
--	psql -f test/bench/releases.sql		in an empty database, with racepriv installed
--
-- Each way is run 15 times in turn; the median of each is shown, in milliseconds, and
-- ratios within this run are what counts.
\set QUIET on
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS racepriv;
CREATE TABLE small AS SELECT i AS id, ARRAY[i % 97, i % 13]::float8[] AS x FROM generate_series(1, 1000) i;
CREATE TABLE large AS SELECT i AS id, ARRAY[i % 97, i % 13]::float8[] AS x FROM generate_series(1, 200000) i;
CREATE TABLE points AS SELECT ARRAY[i % 97, i % 13]::float8[] AS x FROM generate_series(1, 20000) i;
VACUUM ANALYZE;
CALL race_protect('small', 'small', 1000000);
CALL race_protect('large', 'large', 1000000, 0, 'id');
CREATE TABLE made (name text, sketch race_sketch);
CREATE TABLE times (what text, way text, round int, ms float8);
CREATE PROCEDURE measure(what text, way text, round int, statement text) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	EXECUTE statement;
	INSERT INTO times VALUES (what, way, round, 1000 * extract(epoch FROM clock_timestamp() - began));
	COMMIT;
END $$;
DO $$
DECLARE
	p CONSTANT text := 'l2(dims=2, bandwidth=5, rows=256, range=256)';
	began timestamptz;
BEGIN
	FOR round IN 1 .. 15 LOOP
		CALL measure('small, 1,000 rows', 'race_build, race_privatize, INSERT', round,
			format('INSERT INTO made SELECT %L, race_privatize(race_build(%L, x), 1) FROM small', round, p));
		CALL measure('large, 200,000 rows', 'race_build, race_privatize, INSERT', round,
			format('INSERT INTO made SELECT %L, race_privatize(race_build(%L, x), 1) FROM large', round, p));
		began := clock_timestamp();
		CALL race_release_sketch('small ' || round, 'small', p::race_params, 'x', 1);
		INSERT INTO times VALUES ('small, 1,000 rows', 'race_release_sketch', round, 1000 * extract(epoch FROM clock_timestamp() - began));
		began := clock_timestamp();
		CALL race_release_sketch('large ' || round, 'large', p::race_params, 'x', 1);
		INSERT INTO times VALUES ('large, 200,000 rows', 'race_release_sketch, at most one record a unit', round, 1000 * extract(epoch FROM clock_timestamp() - began));
	END LOOP;
END $$;
CREATE TABLE stored AS SELECT sketch FROM _racepriv.race_releases WHERE name = 'large 1';
DO $$
BEGIN
	FOR round IN 1 .. 15 LOOP
		CALL measure('20,000 questions', 'a stored sketch', round, 'SELECT sum(race_kde(sketch, x)) FROM points, stored');
		CALL measure('20,000 questions', 'race_released', round, 'SELECT sum(race_kde(race_released(''large 1''), x)) FROM points');
		CALL measure('one question', 'a stored sketch', round, 'SELECT race_kde(sketch, ''{1,1}'') FROM stored');
		CALL measure('one question', 'race_released', round, 'SELECT race_kde(race_released(''large 1''), ''{1,1}'')');
	END LOOP;
END $$;
SELECT what, way, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) AS ms FROM times GROUP BY what, way ORDER BY what, min(ctid);
