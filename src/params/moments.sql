-- ------------------------------------------------------------------------
-- Parameters of moments

CREATE FUNCTION race_moment_params(
	lower float8[], upper float8[], norm float8 DEFAULT 0, features int DEFAULT 0,
	targets int DEFAULT 1, bandwidth float8 DEFAULT 1, seed bigint DEFAULT 0,
	sequence text DEFAULT 'auto', pure boolean DEFAULT false)
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, boolean) IS
	'parameters for race_moments: records are arrays of as many numbers as there are bounds. lower, upper: public bounds of each column, which values are clipped to, and which are scaled to -1 and 1. norm: a record, which is 1 and its scaled columns, is multiplied by a factor so that its norm is at most this: it weighs less, the less noise there is; 0 takes 1, the norm of the 1, so that all records have the same norm, which is best for regressions; the root of columns + 1 changes nothing, so that means and covariances are those of the table. targets: that many last columns weigh twice, because regressions that explain them then have less noise. features: that many random Fourier features in place of all columns but the targets, for regressions that are not linear (Rahimi & Recht 2007); bandwidth: that of their Gaussian kernel, in scaled columns; seed and sequence (independent, sobol, orthogonal, auto): how they are drawn. pure: the norm is one that fits Laplace noise (delta = 0), which then has about half as much noise; its unit is the same. bandwidth means nothing without features. Error 22023 outside the limits';
