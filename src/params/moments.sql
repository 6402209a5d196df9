-- ------------------------------------------------------------------------
-- Parameters of moments

CREATE FUNCTION race_moment_params(
	lower float8[], upper float8[], norm float8 DEFAULT 0, features int DEFAULT 0,
	targets int DEFAULT 1, bandwidth float8 DEFAULT 1, seed bigint DEFAULT 0,
	sequence text DEFAULT 'auto', clip text DEFAULT 'auto')
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, text) IS
	'parameters for race_moments: records are arrays of as many numbers as there are bounds. lower, upper: public bounds of each column, which values are clipped to, and which are scaled to -1 and 1. norm: a record, which is 1 and its scaled columns, is multiplied by a factor so that its norm is at most this: it weighs less, and there is less noise; 0 stands for 1, the norm of the 1 alone, so that all records have the same norm, which is best for regressions; with the root of columns + 1, and targets 0, no record changes, so that means and covariances are those of the table. features: that many random Fourier features of all columns but the targets, beside the columns, for regressions that are not linear (Rahimi & Recht 2007); bandwidth: that of their Gaussian kernel, in scaled columns; seed and sequence (independent, sobol, auto): how they are drawn. These three are for features only. targets: that many last columns are scaled to 2 2/3 times as much, because regressions that explain them have less noise then; to find its factor, a record counts as if its targets were 0.35 of that at least. clip: norm, the Euclidean one, or absolute, the root of half of the sum of squares and the square of the sum of absolute values of a record, for Laplace noise: with more than 255 columns it halves pure noise (delta 0), and makes other noise larger; auto is norm, but absolute in race_release where there is Laplace noise. Error 22023 outside the limits';
