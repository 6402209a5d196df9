-- ------------------------------------------------------------------------
-- Parameters of moments

CREATE FUNCTION race_moment_params(
	lower float8[], upper float8[], norm float8 DEFAULT 0, features int DEFAULT 0,
	targets int DEFAULT 1, bandwidth float8 DEFAULT 1, seed bigint DEFAULT 0,
	sequence text DEFAULT 'auto', clip text DEFAULT 'auto')
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, text) IS
	'parameters for race_moments: records are arrays of as many numbers as there are bounds. lower, upper: public bounds of each column, which values are clipped to, and which are scaled to -1 and 1. norm: the scaled record is clipped to it; the smaller, the less noise, the more is clipped; 0 takes sqrt(columns / 3), the norm of columns that are spread evenly; sqrt(columns) clips nothing. features: that many random Fourier features in place of all columns but the last ones, the targets, for regressions that are not linear (Rahimi & Recht 2007); bandwidth: that of their Gaussian kernel, in scaled columns; seed and sequence (independent, sobol, orthogonal, auto): how they are drawn. targets and bandwidth mean nothing without features. clip: norm, or absolute, which clips the sum of absolute values of a scaled record, too, to 0.8 to 1 of what the norm allows: then pure noise (delta 0) is less, by a fifth or so; auto is norm, but absolute in race_release with delta 0. Error 22023 outside the limits';
