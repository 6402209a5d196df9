-- ------------------------------------------------------------------------
-- Answers from contingency tables, of a value and the domains of its columns

CREATE FUNCTION _racepriv._race_tables_count(
	sketch race_sketch, "where" jsonb, confidence float8,
	OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS record AS 'MODULE_PATHNAME', 'race_count_where' LANGUAGE C STABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _racepriv._race_tables_count(race_sketch, jsonb, float8) IS
	'race_count of a private sketch of tables';

CREATE FUNCTION _racepriv._race_tables_crosstab(
	sketch race_sketch, column1 text, column2 text, confidence float8,
	OUT value1 text, OUT value2 text, OUT count float8, OUT lower float8, OUT upper float8, OUT source text,
	OUT low1 float8, OUT high1 float8, OUT low2 float8, OUT high2 float8, OUT estimate float8, OUT standard_error float8)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_cross_table' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;
COMMENT ON FUNCTION _racepriv._race_tables_crosstab(race_sketch, text, text, float8) IS
	'race_crosstab of a private sketch of tables';

CREATE FUNCTION _racepriv._race_tables_histogram(
	sketch race_sketch, "column" text, edges text[], bins int, "where" jsonb, as_measured boolean, below boolean, confidence float8,
	OUT value text, OUT low float8, OUT high float8, OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_histogram' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION _racepriv._race_tables_histogram(race_sketch, text, text[], int, jsonb, boolean, boolean, float8) IS
	'race_histogram of a private sketch of tables; as_measured keeps bins to ranges that were measured; below counts all below the upper edge. No rows for NULL';

CREATE FUNCTION _racepriv._race_records(sketch race_sketch, OUT count float8, OUT standard_error float8)
	RETURNS record AS 'MODULE_PATHNAME', 'race_records' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_records(race_sketch) IS
	'the records of a sketch, which noise may bring below 0: of tables by the count and the sums of all columns, weighed by precision';

CREATE FUNCTION _racepriv._race_density(count float8, records float8, low float8, high float8, low2 float8 DEFAULT 0, high2 float8 DEFAULT 1) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_density' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION _racepriv._race_density(float8, float8, float8, float8, float8, float8) IS
	'the probability density of a range, or of a cell of two columns; NULL where it has no width, or no double is so large or so small';

CREATE FUNCTION _racepriv._race_number_text(type text, number float8, dated boolean DEFAULT false) RETURNS text
	AS 'MODULE_PATHNAME', 'race_number_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_number_text(text, float8, boolean) IS
	'a number of a release as text of the type of its column: dates are days and timestamps seconds since 2000-01-01; dated: NULL for other types';

CREATE FUNCTION _racepriv._race_normal_quantile(confidence float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_normal_quantile' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_normal_quantile(float8) IS
	'how many standard errors a confidence interval reaches to each side; error 22023 for no number between 0 and 1';

CREATE FUNCTION _racepriv._race_sum_p_value(sum float8, mean float8, deviation float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_sum_p_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_sum_p_value(float8, float8, float8) IS
	'the probability that a sum of squares with this mean and standard deviation is at least so large, by a gamma distribution';

-- Answers of a value, by names that no owner of another schema can take

CREATE FUNCTION _racepriv._race_mean(value race_sketch, "column" text, by text, "where" jsonb, confidence float8)
	RETURNS SETOF race_mean_result
	AS 'MODULE_PATHNAME', 'race_mean' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION _racepriv._race_mean(race_sketch, text, text, jsonb, float8) IS 'race_mean of a value';

CREATE FUNCTION _racepriv._race_trend(value race_sketch, "column" text, by text, "where" jsonb, confidence float8)
	RETURNS SETOF race_trend_result
	AS 'MODULE_PATHNAME', 'race_trend' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION _racepriv._race_trend(race_sketch, text, text, jsonb, float8) IS 'race_trend of a value';

CREATE TYPE _racepriv.race_report_result AS (
	topic text, "column" text, value float8, lower float8, upper float8, advice text);
COMMENT ON TYPE _racepriv.race_report_result IS 'a row of the result of race_report';
COMMENT ON COLUMN _racepriv.race_report_result.topic IS 'records; units; of a column missing, not in the list, not chosen, at a bound; of a measured table the error of a cell; connected columns, or one alone';
COMMENT ON COLUMN _racepriv.race_report_result."column" IS 'the column, or columns; NULL for all';
COMMENT ON COLUMN _racepriv.race_report_result.value IS 'a number of records or units, a share of records, the standard error of a count, a number of columns';
COMMENT ON COLUMN _racepriv.race_report_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_report_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_report_result.advice IS 'what to change, and the statement; NULL where nothing is wrong';

CREATE FUNCTION _racepriv._race_report(value race_sketch, confidence float8, dataset text, bounded boolean)
	RETURNS SETOF _racepriv.race_report_result
	AS 'MODULE_PATHNAME', 'race_report' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION _racepriv._race_report(race_sketch, float8, text, boolean) IS
	'race_report of a value, with the name of a dataset in statements; bounded: whether records of each unit were bounded, and have no weights';
