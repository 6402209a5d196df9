-- ------------------------------------------------------------------------
-- Answers from contingency tables, of a value and the domains of its columns

CREATE FUNCTION _racepriv._race_tables_count(
	sketch race_sketch, domains jsonb, "where" jsonb, confidence float8,
	OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS record AS 'MODULE_PATHNAME', 'race_tables_count' LANGUAGE C STABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _racepriv._race_tables_count(race_sketch, jsonb, jsonb, float8) IS
	'race_count of a private sketch of tables with the domains of its columns';

CREATE FUNCTION _racepriv._race_tables_crosstab(
	sketch race_sketch, domains jsonb, column1 text, column2 text, confidence float8,
	OUT value1 text, OUT value2 text, OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_crosstab' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;
COMMENT ON FUNCTION _racepriv._race_tables_crosstab(race_sketch, jsonb, text, text, float8) IS
	'race_crosstab of a private sketch of tables with the domains of its columns';

CREATE FUNCTION _racepriv._race_tables_rows(base anyelement, sketch race_sketch, domains jsonb, n bigint, seed bigint)
	RETURNS SETOF anyelement AS 'MODULE_PATHNAME', 'race_tables_rows' LANGUAGE C STABLE PARALLEL SAFE COST 100 ROWS 1000;
COMMENT ON FUNCTION _racepriv._race_tables_rows(anyelement, race_sketch, jsonb, bigint, bigint) IS
	'race_synthesize of a private sketch of tables with the domains of its columns';
