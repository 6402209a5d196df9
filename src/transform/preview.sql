-- ------------------------------------------------------------------------
-- What a release would look like, before any budget is spent

CREATE TYPE race_preview_result AS (
	label int, x float8, truth float8, density float8, error float8,
	stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_preview_result IS 'a row of the result of race_preview';
COMMENT ON COLUMN race_preview_result.label IS 'the number of the label, from 1 on';
COMMENT ON COLUMN race_preview_result.x IS 'where: the value of the column that axis names';
COMMENT ON COLUMN race_preview_result.truth IS 'the mean kernel value of the made-up records there';
COMMENT ON COLUMN race_preview_result.density IS 'what race_kde would answer';
COMMENT ON COLUMN race_preview_result.error IS 'density - truth';
COMMENT ON COLUMN race_preview_result.stderr IS 'the standard error that race_estimate would give';
COMMENT ON COLUMN race_preview_result.lower IS 'the lower end of its confidence interval';
COMMENT ON COLUMN race_preview_result.upper IS 'the upper end';

CREATE FUNCTION race_preview(
	params race_params, epsilon float8, delta float8 DEFAULT 0, records bigint DEFAULT 10000,
	rows int DEFAULT NULL, mixture float8[] DEFAULT NULL, public_rows float8[] DEFAULT NULL,
	axis int DEFAULT 1, steps int DEFAULT 25, labels int DEFAULT 1,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove',
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	confidence float8 DEFAULT 0.95, seed bigint DEFAULT 0)
	RETURNS SETOF race_preview_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000000 ROWS 25;
COMMENT ON FUNCTION race_preview(race_params, float8, float8, bigint, int, float8[], float8[], int, int, int, int, text, boolean, boolean, float8, bigint) IS
	'what race_release with these arguments would give, on made-up vectors: a curve of the density beside the truth, with errors and intervals. It reads no table and spends nothing; each call draws new noise. records: how many records to make up, of all labels together. mixture: rows {weight, means, standard deviations} of normals that they are drawn from; or public_rows, vectors that they are drawn from; else three normals between the bounds of the parameters. Neither may be private: the truth is shown. The curve has steps points along column number axis, between its bounds or else the least and the largest made-up value, and goes through the mean of the other columns. labels: so many sketches, among which the records are divided. rows, max_contributions, neighbors, grid and fit as in race_release and race_protect; confidence as in race_estimate; seed of the made-up vectors. No rows if an argument other than rows, mixture, public_rows, grid and fit is NULL. Errors: 22023 for what is outside its limits, for kernels of other records than vectors and for products, and without bounds, mixture or public_rows';
