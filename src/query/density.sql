CREATE FUNCTION race_probability_density(
	sketch race_sketch, q "any", smoothing float8 DEFAULT 0.25)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_probability_density(race_sketch, "any", float8) IS
	'the probability density at q of a fitted sketch, per unit of the columns: it integrates to one, as race_kde, a mean kernel value, does not. Each point of the model stands for a normal distribution around it, whose standard deviation is smoothing times the bandwidth. Kernels l2 and l1 by themselves, without a transform. Errors: 22023 for others, 55000 for a sketch without a model';
