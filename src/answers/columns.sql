-- ------------------------------------------------------------------------
-- Answers from the tables of columns: of a value, and by the names of its columns

CREATE TYPE race_crosstab_result AS (
	value1 text, value2 text, count float8, lower float8, upper float8, source text);
COMMENT ON TYPE race_crosstab_result IS 'a row of the result of race_crosstab';
COMMENT ON COLUMN race_crosstab_result.value1 IS 'the value of the first column, or the range [a,b)';
COMMENT ON COLUMN race_crosstab_result.value2 IS 'that of the second; NULL too if only one is asked for';
COMMENT ON COLUMN race_crosstab_result.count IS 'how many records have both';
COMMENT ON COLUMN race_crosstab_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_crosstab_result.upper IS 'the upper end';
COMMENT ON COLUMN race_crosstab_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';

CREATE FUNCTION race_crosstab(
	sketch race_sketch, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_crosstab_result
	AS 'MODULE_PATHNAME', 'race_cross_table' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;
COMMENT ON FUNCTION race_crosstab(race_sketch, text, text, float8) IS
	'how many records of a value of tables have each value of a column, or each pair of values of two columns, with intervals; ranges [a,b) of numbers. Errors: 42703, 22023';

CREATE TYPE race_mean_result AS (
	value1 text, value2 text, mean float8, lower float8, upper float8, count float8, source text,
	"text" text, lower_text text, upper_text text);
COMMENT ON TYPE race_mean_result IS 'a row of the result of race_mean';
COMMENT ON COLUMN race_mean_result.value1 IS 'the value of the first column of by, or the range [a,b)';
COMMENT ON COLUMN race_mean_result.value2 IS 'that of the second';
COMMENT ON COLUMN race_mean_result.mean IS 'the mean of the column; dates are days and timestamps seconds since 2000-01-01, intervals seconds. NULL where too little is known';
COMMENT ON COLUMN race_mean_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_mean_result.upper IS 'the upper end';
COMMENT ON COLUMN race_mean_result.count IS 'how many records it is of';
COMMENT ON COLUMN race_mean_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';
COMMENT ON COLUMN race_mean_result."text" IS 'of a date, time or interval, the mean as text; NULL for numbers';
COMMENT ON COLUMN race_mean_result.lower_text IS 'and lower';
COMMENT ON COLUMN race_mean_result.upper_text IS 'and upper';

CREATE FUNCTION race_mean(
	sketch race_sketch, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION race_mean(race_sketch, text, anycompatible, jsonb, float8) IS
	'the mean of a column of a value of tables, of all records or by each value of a column, or two: town, {town,age}, or an array. NULL where too little is known. Errors: 42703, 22023';

CREATE TYPE race_sum_result AS (
	value1 text, value2 text, sum float8, lower float8, upper float8, count float8, source text);
COMMENT ON TYPE race_sum_result IS 'a row of the result of race_sum';
COMMENT ON COLUMN race_sum_result.value1 IS 'the value of the first column of by, or the range [a,b)';
COMMENT ON COLUMN race_sum_result.value2 IS 'that of the second';
COMMENT ON COLUMN race_sum_result.sum IS 'the sum of the column, without NULL; intervals are seconds. NULL where too little is known, or beyond the largest number';
COMMENT ON COLUMN race_sum_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_sum_result.upper IS 'the upper end';
COMMENT ON COLUMN race_sum_result.count IS 'how many records it is of';
COMMENT ON COLUMN race_sum_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';

CREATE FUNCTION race_sum(
	sketch race_sketch, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_sum_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION race_sum(race_sketch, text, anycompatible, jsonb, float8) IS
	'the sum of a column of a value of tables, of all records or by each value of a column, or two, as race_mean. Dates have none. Errors: 42703, 22023';

CREATE TYPE race_trend_result AS (
	x float8, value text, mean float8, lower float8, upper float8, count float8, source text,
	"text" text, lower_text text, upper_text text);
COMMENT ON TYPE race_trend_result IS 'a row of the result of race_trend';
COMMENT ON COLUMN race_trend_result.x IS 'the middle of the range; dates are days and timestamps seconds since 2000-01-01';
COMMENT ON COLUMN race_trend_result.value IS 'the range [a,b) as text of the type of the column';
COMMENT ON COLUMN race_trend_result.mean IS 'the mean of the other column there; NULL where too little is known';
COMMENT ON COLUMN race_trend_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_trend_result.upper IS 'the upper end';
COMMENT ON COLUMN race_trend_result.count IS 'how many records it is of';
COMMENT ON COLUMN race_trend_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';
COMMENT ON COLUMN race_trend_result."text" IS 'of a date, time or interval, the mean as text; NULL for numbers';
COMMENT ON COLUMN race_trend_result.lower_text IS 'and lower';
COMMENT ON COLUMN race_trend_result.upper_text IS 'and upper';

CREATE FUNCTION race_trend(
	sketch race_sketch, "column" text, by text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_trend_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION race_trend(race_sketch, text, text, jsonb, float8) IS
	'the mean of a column of a value of tables along another one, of numbers or dates: x is the middle of a range. NULL where too little is known. Errors: 42703, 22023';

CREATE TYPE race_correlation_result AS (
	column1 text, column2 text, correlation float8, lower float8, upper float8, source text);
COMMENT ON TYPE race_correlation_result IS 'a row of the result of race_correlation';
COMMENT ON COLUMN race_correlation_result.column1 IS 'a column';
COMMENT ON COLUMN race_correlation_result.column2 IS 'another one';
COMMENT ON COLUMN race_correlation_result.correlation IS 'their correlation';
COMMENT ON COLUMN race_correlation_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_correlation_result.upper IS 'the upper end';
COMMENT ON COLUMN race_correlation_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';

CREATE FUNCTION race_correlation(sketch race_sketch, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_correlation_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_correlation(race_sketch, float8) IS
	'the correlation of each two columns of a value of tables that have numbers, with an interval; NULL if no measurement connects them. Errors: 22023';

CREATE FUNCTION race_regress(
	sketch race_sketch, target text, columns text[] DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT "column" text, OUT coefficient float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_regress_columns' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 5;
COMMENT ON FUNCTION race_regress(race_sketch, text, text[], float8) IS
	'the linear regression of a column of a value of tables on others, or all, from correlations; the intercept first. NULL: too little is known, or others may follow from each other. Errors: 42703, 22023';

CREATE FUNCTION race_synthesize(base anyelement, sketch race_sketch, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_synthesize' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 1000;
COMMENT ON FUNCTION race_synthesize(anyelement, race_sketch, bigint, bigint) IS
	'n synthetic rows of a value of tables, in the columns of a row type that it has. Other values are NULL, or categories in NOT NULL columns. Equal seeds: equal rows. Errors: 42703, 22023';

CREATE FUNCTION race_count(
	sketch race_sketch, "where" jsonb, confidence float8 DEFAULT 0.95,
	OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS record
	AS 'MODULE_PATHNAME', 'race_count_where' LANGUAGE C STABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION race_count(race_sketch, jsonb, float8) IS
	'how many records of a value of tables have these values, with an interval: {"age": "[30,40)", "town": ["Rome", "Paris"]}. source: measured with known noise, by the model, or not measured, and then NULL. Errors: 42703, 22023';

CREATE FUNCTION race_histogram(
	sketch race_sketch, "column" text, edges anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', bins int DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT value text, OUT low float8, OUT high float8, OUT count float8, OUT lower float8, OUT upper float8, OUT density float8, OUT source text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_histogram_columns' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION race_histogram(race_sketch, text, anycompatible, jsonb, int, float8) IS
	'how many records of a value of tables lie in each range [low,high) of a column: between edges that ascend, an array, or in so many bins; or have each category. Errors: 42703, 22023';

CREATE FUNCTION race_curve(
	sketch race_sketch, "column" text, steps int DEFAULT 100, lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95,
	OUT x float8, OUT density float8, OUT low float8, OUT high float8, OUT count_per_unit float8, OUT "text" text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_curve_columns' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION race_curve(race_sketch, text, int, float8, float8, jsonb, float8) IS
	'the probability density of a column of a value of tables, at most at steps places from lower to upper, and its interval from low to high. Errors: 42703, 22023';

CREATE TYPE race_quantiles_result AS (
	p float8, value float8, lower float8, upper float8, "text" text, lower_text text, upper_text text);
COMMENT ON TYPE race_quantiles_result IS 'a row of the result of race_quantiles of a value';
COMMENT ON COLUMN race_quantiles_result.p IS 'the share of records that are not above the value';
COMMENT ON COLUMN race_quantiles_result.value IS 'the quantile; dates are days and timestamps seconds since 2000-01-01, intervals seconds';
COMMENT ON COLUMN race_quantiles_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_quantiles_result.upper IS 'the upper end';
COMMENT ON COLUMN race_quantiles_result."text" IS 'of a date, time or interval, the value as text; NULL for numbers';
COMMENT ON COLUMN race_quantiles_result.lower_text IS 'and lower';
COMMENT ON COLUMN race_quantiles_result.upper_text IS 'and upper';

CREATE FUNCTION race_quantiles(
	sketch race_sketch, "column" text, p float8[] DEFAULT '{0.05,0.25,0.5,0.75,0.95}', "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_quantiles_result
	AS 'MODULE_PATHNAME', 'race_quantiles_columns' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_quantiles(race_sketch, text, float8[], jsonb, float8) IS
	'quantiles of a column of a value of tables, with intervals: the least value that so large a share of records does not exceed. Errors: 42703, 22023, 22003 for p below 0 or above 1';

CREATE FUNCTION race_classify(
	sketch race_sketch, label text, query anycompatible, confidence float8 DEFAULT 0.95,
	OUT value text, OUT probability float8, OUT lower float8, OUT upper float8, OUT prior float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_classify_query' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION race_classify(race_sketch, text, anycompatible, float8) IS
	'how likely each value of a column of a value of tables is for a record with these values of others, jsonb or its text; prior: among all records. The most likely one is first. Errors: 42703, 22023';

CREATE FUNCTION race_heatmap(
	sketch race_sketch, column1 text, column2 text, steps int DEFAULT 40, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	OUT x1 float8, OUT x2 float8, OUT density float8, OUT low float8, OUT high float8, OUT text1 text, OUT text2 text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_heatmap_columns' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 1600;
COMMENT ON FUNCTION race_heatmap(race_sketch, text, text, int, float8[], float8[]) IS
	'the probability density of two columns of a value of tables, in at most steps by steps cells (2 to 500) from lower to upper, and its 95 % interval from low to high. Errors: 42703, 22023';

CREATE FUNCTION race_outliers(
	sketch race_sketch, records anycompatible, confidence float8 DEFAULT 0.95,
	OUT point int, OUT typicality float8, OUT share float8, OUT frequency float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_outliers_records' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION race_outliers(race_sketch, anycompatible, float8) IS
	'how typical records are among those of a value of tables: {"age": 30, "town": "Rome"}, or an array of such, jsonb or its text. lower and upper are of share. Errors: 42703, 22023';

CREATE TYPE race_report_result AS (
	topic text, "column" text, value float8, lower float8, upper float8, advice text);
COMMENT ON TYPE race_report_result IS 'a row of the result of race_report';
COMMENT ON COLUMN race_report_result.topic IS 'records; units; of a column the share that is missing, not in the list, not chosen, or at a bound; of a measured table the error of a cell; the number of columns that are connected, or alone';
COMMENT ON COLUMN race_report_result."column" IS 'the column, or columns; NULL for all';
COMMENT ON COLUMN race_report_result.value IS 'a number of records or units, a share of records, the standard error of a count, a number of columns';
COMMENT ON COLUMN race_report_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_report_result.upper IS 'the upper end';
COMMENT ON COLUMN race_report_result.advice IS 'what to change, and the statement; NULL where nothing is wrong';

CREATE FUNCTION race_report(sketch race_sketch, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_report_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION race_report(race_sketch, float8) IS
	'what a value of tables shows of itself: shares of each column that are missing, not in its list or at its bounds, which tables were measured, which columns have answers together, and what to change. Errors: 22023';
