-- ------------------------------------------------------------------------
-- From the values of a row to cells of public domains

CREATE FUNCTION _racepriv._race_cells(domains jsonb, VARIADIC "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'race_cells' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_cells(jsonb, "any") IS
	'cells of the values of a row by their domains, or the row as a vector; NULL if a value has no cell. No value raises an error. Errors: 22004, 22023 for invalid domains, 42804 for values of other types';

CREATE FUNCTION _racepriv._race_domains(sketch race_sketch) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_domains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_domains(race_sketch) IS 'race_domains, for bodies of functions';
