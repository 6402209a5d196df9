CREATE TYPE race_difference_result AS (
	difference float8, standard_error float8, lower float8, upper float8);
COMMENT ON TYPE race_difference_result IS 'the result of race_difference';
COMMENT ON COLUMN race_difference_result.difference IS 'the kernel density of a at q less that of b, as race_kde';
COMMENT ON COLUMN race_difference_result.standard_error IS 'its standard error: of the row functions, and of the noise of both';
COMMENT ON COLUMN race_difference_result.lower IS 'the lower end of the confidence interval; -Infinity if there is none';
COMMENT ON COLUMN race_difference_result.upper IS 'the upper end; Infinity if there is none';

CREATE FUNCTION race_difference(
	a race_sketch, b race_sketch, q "any", confidence float8 DEFAULT 0.95)
	RETURNS race_difference_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_difference(race_sketch, race_sketch, "any", float8) IS
	'by how much the densities of two sketches with the same kernel and bandwidths differ at q, with a standard error and a confidence interval. Equal parameters: rows are subtracted one by one. Noises are taken to be independent';

-- ------------------------------------------------------------------------
-- Questions about sums and densities.  They work on exact and private sketches
-- alike; of a private one they may be asked without limit.

CREATE FUNCTION race_count(sketch race_sketch) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_count(race_sketch) IS
	'the number of records. Of a private sketch it is the noisy estimate, which may be negative';

CREATE FUNCTION race_kernel_sum(sketch race_sketch, q "any", groups int DEFAULT 1) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_kernel_sum(race_sketch, "any", int) IS
	'the unbiased estimate of f(q), the sum over all records x of race_kernel(params, x, q); it may be negative. More than one group of rows: the median of their means, without the model (Coleman & Shrivastava 2021, lemma 3.3)';

CREATE FUNCTION race_kde(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_kde(race_sketch, "any") IS
	'the kernel density at q: race_kernel_sum over the number of records (at least 1), which estimates the mean of the kernel. It is not clamped to [0, 1]. Of no records it is 0';

CREATE TYPE race_estimate_result AS (
	kernel_sum float8, kernel_density float8, standard_error float8, lower float8, upper float8);
COMMENT ON TYPE race_estimate_result IS 'the result of race_estimate';
COMMENT ON COLUMN race_estimate_result.kernel_sum IS 'the estimate of the sum over all records x of k(x, q), as race_kernel_sum';
COMMENT ON COLUMN race_estimate_result.kernel_density IS 'kernel_sum over the number of records, as race_kde';
COMMENT ON COLUMN race_estimate_result.standard_error IS 'the standard error of the kernel density: of the row functions, and of the noise';
COMMENT ON COLUMN race_estimate_result.lower IS 'the lower end of the confidence interval of the kernel density; -Infinity if there is none';
COMMENT ON COLUMN race_estimate_result.upper IS 'the upper end; Infinity if there is none';

CREATE FUNCTION race_estimate(
	sketch race_sketch, q "any", confidence float8 DEFAULT 0.95, bandwidth float8 DEFAULT NULL)
	RETURNS race_estimate_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_estimate(race_sketch, "any", float8, float8) IS
	'the kernel sum and kernel density at q, with standard error and interval, unbounded where too little is known. With a bandwidth, of a normal density of this standard deviation times bandwidths: a grid or a model answers';

CREATE TYPE race_kde_grid_result AS (x float8[], kernel_density float8, standard_error float8);
COMMENT ON TYPE race_kde_grid_result IS 'a row of the result of race_kde_grid';
COMMENT ON COLUMN race_kde_grid_result.x IS 'the point of the grid';
COMMENT ON COLUMN race_kde_grid_result.kernel_density IS 'the kernel density there, as race_kde';
COMMENT ON COLUMN race_kde_grid_result.standard_error IS 'its standard error, as race_estimate';

CREATE FUNCTION race_kde_grid(
	sketch race_sketch, lower float8[], upper float8[], steps int[])
	RETURNS SETOF race_kde_grid_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_kde_grid(race_sketch, float8[], float8[], int[]) IS
	'the kernel density and its standard error at the points of a grid: steps[i] points along axis i from lower[i] to upper[i], both included. The last axis runs fastest';

CREATE FUNCTION race_kernel(params race_params, x "any", y "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_kernel(race_params, "any", "any") IS
	'the exact kernel value k(x, y), between 0 and 1, taken to the power: what estimates are estimates of. Errors as in race_add';

CREATE TYPE race_info_result AS (
	kernel text, dims int, bandwidth float8, power int,
	rows int, range int, seed bigint, sequence text, rehash text,
	count bigint, counter_bytes int, storage_bytes bigint,
	status text, mechanism text,
	epsilon float8, delta float8, rho float8,
	max_contributions int, neighbors text, merged int,
	counter_noise_stddev float8, count_noise_stddev float8,
	points int, misfit float8);
COMMENT ON TYPE race_info_result IS 'the result of race_info';
COMMENT ON COLUMN race_info_result.kernel IS 'the kernel, or moments; of a product the kernels, with * between them';
COMMENT ON COLUMN race_info_result.dims IS 'the length of a record; NULL for sets and products';
COMMENT ON COLUMN race_info_result.bandwidth IS 'the bandwidth; NULL for kernels without one and for products';
COMMENT ON COLUMN race_info_result.power IS 'the power of the kernel; NULL for products and moments';
COMMENT ON COLUMN race_info_result.rows IS 'R: how many rows it has';
COMMENT ON COLUMN race_info_result.range IS 'W: how many counters a row has';
COMMENT ON COLUMN race_info_result.seed IS 'the seed of the row functions';
COMMENT ON COLUMN race_info_result.sequence IS 'how rows share the work: sobol, structured, grouped, independent or grid; NULL for products';
COMMENT ON COLUMN race_info_result.rehash IS 'how codes become buckets: fold or multilinear';
COMMENT ON COLUMN race_info_result.count IS 'the number of records, as race_count; noisy in a private sketch, NULL in a share';
COMMENT ON COLUMN race_info_result.counter_bytes IS 'bytes of a counter: 1, 2, 4 or 8';
COMMENT ON COLUMN race_info_result.storage_bytes IS 'bytes of the whole value, stored';
COMMENT ON COLUMN race_info_result.status IS 'exact, private, or share (noise shares of which there are not enough yet)';
COMMENT ON COLUMN race_info_result.mechanism IS 'the noise: discrete Laplace, discrete Gaussian, Wishart (of moments), or several; this and all further columns are NULL in an exact sketch';
COMMENT ON COLUMN race_info_result.epsilon IS 'the true epsilon, rounded up';
COMMENT ON COLUMN race_info_result.delta IS 'the delta; 0 for pure differential privacy';
COMMENT ON COLUMN race_info_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_info_result.max_contributions IS 'how many records of one person it protects, with weights by the largest one';
COMMENT ON COLUMN race_info_result.neighbors IS 'what it hides: add_remove or substitute';
COMMENT ON COLUMN race_info_result.merged IS 'how many private sketches or shares were merged into it';
COMMENT ON COLUMN race_info_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records; of moments, of each sum or product of scaled columns, and sqrt(2) times as much in a square unless it is Laplace noise';
COMMENT ON COLUMN race_info_result.count_noise_stddev IS 'the standard deviation of the noise in count';
COMMENT ON COLUMN race_info_result.points IS 'how many points the fitted model has; NULL without a model';
COMMENT ON COLUMN race_info_result.misfit IS
	'what share of an answer the model misses (root mean square), as each half of the rows tells of a model from the other; 1000000: nobody can tell, and questions do not ask the model. NULL without a model';

CREATE FUNCTION race_info(sketch race_sketch)
	RETURNS race_info_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_info(race_sketch) IS
	'what a sketch is: its parameters, the count of records, bytes, status, and of a private sketch its noise and true cost. Of a share, the cost is that of the sum that it is made for';
