-- ------------------------------------------------------------------------
-- Answers of releases by columns

CREATE FUNCTION _racepriv._race_domains_of(release text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.domains FROM _racepriv.race_releases r WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1
$$;
COMMENT ON FUNCTION _racepriv._race_domains_of(text) IS
	'the domains of the columns of the latest version of a release; NULL if it was not made by columns';

CREATE FUNCTION race_count(
	release text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95,
	OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS record LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.* FROM _racepriv._race_tables_count(_racepriv._race_released(release, NULL),
		_racepriv._race_domains_of(release), race_count."where", confidence) c
$$;
COMMENT ON FUNCTION race_count(text, jsonb, float8) IS
	'how many records of a release have these values, with an interval: {"age": [30, 40], "town": ["Rome", "Paris"]}. source: measured with known noise, or by the model. Errors: 42704, 42703, 22023';

CREATE FUNCTION race_crosstab(
	release text, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT value1 text, OUT value2 text, OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.* FROM _racepriv._race_tables_crosstab(_racepriv._race_released(release, NULL),
		_racepriv._race_domains_of(release), column1, column2, confidence) c
$$;
COMMENT ON FUNCTION race_crosstab(text, text, text, float8) IS
	'how many records of a release have each value of a column, or each pair of values of two columns, with intervals; ranges [a,b) of numbers. source as race_count. Errors: 42704, 42703, 22023';

CREATE FUNCTION race_synthesize(base anyelement, release text, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT s FROM _racepriv._race_tables_rows(base, _racepriv._race_released(release, NULL),
		_racepriv._race_domains_of(release), n, seed) s
$$;
COMMENT ON FUNCTION race_synthesize(anyelement, text, bigint, bigint) IS
	'n synthetic rows of a release, in the columns of a row type that have the names of its columns: race_synthesize(NULL::visits, ''visits 2026'', 1000). Equal seeds give equal rows. Errors: 42704, 42703, 22023';
