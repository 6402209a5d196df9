-- ------------------------------------------------------------------------
-- Answers of releases by columns

CREATE FUNCTION _racepriv._race_domains_of(release text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.domains FROM _racepriv.race_releases r WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1
$$;
COMMENT ON FUNCTION _racepriv._race_domains_of(text) IS
	'the domains of the columns of the latest version of a release; NULL if it was not made by columns';

CREATE FUNCTION _racepriv._race_domains_needed(release text) RETURNS jsonb
	LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release);
BEGIN
	IF domains IS NULL THEN
		PERFORM _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l;		-- says that there is none
		RAISE EXCEPTION 'release "%" was not made by columns', left(release, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'This is asked of releases that race_release made, of columns of a dataset: race_catalog shows which these are.';
	END IF;
	RETURN domains;
END $$;
COMMENT ON FUNCTION _racepriv._race_domains_needed(text) IS
	'the same; errors: 42704 no such release, 22023 if it was not made by columns';

CREATE FUNCTION _racepriv._race_not_by_columns(release text, "where" jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF _racepriv._race_domains_of(release) IS NOT NULL THEN
		RETURN NULL;
	ELSIF "where" <> '{}' THEN
		PERFORM _racepriv._race_domains_needed(release);		-- says that it has none
	END IF;
	RETURN release;
END $$;
COMMENT ON FUNCTION _racepriv._race_not_by_columns(text, jsonb) IS
	'the name of a release that was not made by columns, else NULL; error 22023 if it is asked for a condition';

CREATE FUNCTION _racepriv._race_number_text(type text, number float8) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
	SELECT CASE WHEN type = 'date' THEN to_char('2000-01-01'::date + number::int, 'YYYY-MM-DD')
		WHEN type LIKE 'timestamp%' THEN to_char('2000-01-01'::timestamp + make_interval(secs => number), 'YYYY-MM-DD HH24:MI:SS')
		WHEN type = 'interval' THEN make_interval(secs => number)::text ELSE number::text END
$$;
COMMENT ON FUNCTION _racepriv._race_number_text(text, float8) IS
	'a number that stands for a value of a type, as its text';

CREATE FUNCTION race_count(
	release text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95,
	OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS record LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.* FROM _racepriv._race_tables_count(_racepriv._race_released(release, NULL),
		_racepriv._race_domains_needed(release), race_count."where", confidence) c
$$;
COMMENT ON FUNCTION race_count(text, jsonb, float8) IS
	'how many records of a release have these values, with an interval: {"age": [30, 40], "town": ["Rome", "Paris"]}. source: measured with known noise, or by the model. Errors: 42704, 42703, 22023';

CREATE FUNCTION race_crosstab(
	release text, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT value1 text, OUT value2 text, OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.* FROM _racepriv._race_tables_crosstab(_racepriv._race_released(release, NULL),
		_racepriv._race_domains_needed(release), column1, column2, confidence) c
$$;
COMMENT ON FUNCTION race_crosstab(text, text, text, float8) IS
	'how many records of a release have each value of a column, or each pair of values of two columns, with intervals; ranges [a,b) of numbers. source as race_count. Errors: 42704, 42703, 22023';

CREATE FUNCTION race_synthesize(base anyelement, release text, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT s FROM _racepriv._race_tables_rows(base, _racepriv._race_released(release, NULL),
		_racepriv._race_domains_needed(release), n, seed) s
$$;
COMMENT ON FUNCTION race_synthesize(anyelement, text, bigint, bigint) IS
	'n synthetic rows of a release, in the columns of a row type that have the names of its columns: race_synthesize(NULL::visits, ''visits 2026'', 1000). Equal seeds give equal rows. Errors: 42704, 42703, 22023';

-- ------------------------------------------------------------------------
-- Means

CREATE FUNCTION _racepriv._race_texts(list text) RETURNS text[]
	LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT CASE WHEN list LIKE '{%' THEN list::text[] WHEN list IS NOT NULL THEN ARRAY[list] END
$$;
COMMENT ON FUNCTION _racepriv._race_texts(text) IS
	'one text, or those of an array that is written as a text';

CREATE FUNCTION _racepriv._race_mean_of(release text, "column" text, by text[], "where" jsonb, confidence float8,
	OUT value1 text, OUT value2 text, OUT mean float8, OUT lower float8, OUT upper float8, OUT count float8, OUT source text)
	RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.value1, m.value2, m.mean, m.lower, m.upper, m.count, m.source
	FROM _racepriv._race_tables_mean(_racepriv._race_released(release, NULL),
		_racepriv._race_domains_needed(release), "column", by, _race_mean_of."where", confidence) m
$$;
COMMENT ON FUNCTION _racepriv._race_mean_of(text, text, text[], jsonb, float8) IS
	'race_mean';

CREATE FUNCTION race_mean(
	release text, "column" text, by text DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95,
	OUT value1 text, OUT value2 text, OUT mean float8, OUT lower float8, OUT upper float8, OUT count float8, OUT source text)
	RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM _racepriv._race_mean_of(release, "column", _racepriv._race_texts(by), race_mean."where", confidence)
$$;
COMMENT ON FUNCTION race_mean(text, text, text, jsonb, float8) IS
	'the mean of a column of a release, of all records or by each value of a column, or two: town, {town,age}. NULL where too little is known. where, source and errors as race_count';

CREATE FUNCTION race_mean(
	release text, "column" text, by text[], "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95,
	OUT value1 text, OUT value2 text, OUT mean float8, OUT lower float8, OUT upper float8, OUT count float8, OUT source text)
	RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM _racepriv._race_mean_of(release, "column", by, race_mean."where", confidence)
$$;
COMMENT ON FUNCTION race_mean(text, text, text[], jsonb, float8) IS
	'the same by an array of columns';
