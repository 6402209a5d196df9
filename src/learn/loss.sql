-- ------------------------------------------------------------------------
-- Surrogate losses

CREATE FUNCTION race_loss(sketch race_sketch, theta float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_loss(race_sketch, float8[]) IS
	'the mean surrogate loss of the records for a linear model with coefficients theta (Coleman & Shrivastava 2021, section 4). Errors: 22023 kernels other than least_squares and margin, or a theta that is longer than query_radius allows';

CREATE FUNCTION race_loss(params race_params, theta float8[], record float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_loss_exact' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_loss(race_params, float8[], float8[]) IS
	'the exact surrogate loss of one record, whose mean race_loss of a sketch estimates. Errors 22023 as there, and for a record of another length';
