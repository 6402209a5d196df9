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
	AS 'MODULE_PATHNAME', 'race_histogram_column' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION race_histogram(race_sketch, text, anycompatible, jsonb, int, float8) IS
	'how many records of a value of tables lie in each range [low,high) of a column: between edges that ascend, an array, or in so many bins; or have each category. Errors: 42703, 22023';

CREATE TYPE race_curve_result AS (
	x float8, density float8, lower float8, upper float8, count_per_unit float8, "text" text);
COMMENT ON TYPE race_curve_result IS 'a row of the result of race_curve of a value';
COMMENT ON COLUMN race_curve_result.x IS 'a place of the column, from the lower bound to the upper one; dates are days and timestamps seconds since 2000-01-01, intervals seconds';
COMMENT ON COLUMN race_curve_result.density IS 'the probability density there, per unit of the column; NULL where too little is known, or both bounds are equal';
COMMENT ON COLUMN race_curve_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN race_curve_result.upper IS 'the upper end';
COMMENT ON COLUMN race_curve_result.count_per_unit IS 'how many records there are per unit of the column';
COMMENT ON COLUMN race_curve_result."text" IS 'x as text of the type of the column';

CREATE FUNCTION race_curve(
	sketch race_sketch, "column" text, steps int DEFAULT 100, lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_curve_result
	AS 'MODULE_PATHNAME', 'race_curve_column' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION race_curve(race_sketch, text, int, float8, float8, jsonb, float8) IS
	'the probability density of a column of a value of tables, at most at steps places from lower to upper, with an interval. Errors: 42703, 22023';

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
	AS 'MODULE_PATHNAME', 'race_quantiles_column' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_quantiles(race_sketch, text, float8[], jsonb, float8) IS
	'quantiles of a column of a value of tables, with intervals: the least value that so large a share of records does not exceed. Errors: 42703, 22023, 22003 for p below 0 or above 1';

CREATE FUNCTION race_classify(
	sketch race_sketch, label text, query anycompatible, confidence float8 DEFAULT 0.95,
	OUT value text, OUT probability float8, OUT lower float8, OUT upper float8, OUT prior float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_classify_query' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION race_classify(race_sketch, text, anycompatible, float8) IS
	'how likely each value of a column of a value of tables is for a record with these values of others, jsonb or its text; prior: among all records. The most likely one is first. Errors: 42703, 22023';

CREATE TYPE race_heatmap_result AS (
	x1 float8, x2 float8, density float8, lower float8, upper float8, text1 text, text2 text);
COMMENT ON TYPE race_heatmap_result IS 'a row of the result of race_heatmap of a value';
COMMENT ON COLUMN race_heatmap_result.x1 IS 'the middle of a cell, in the first column; dates are numbers as in race_curve';
COMMENT ON COLUMN race_heatmap_result.x2 IS 'and in the second';
COMMENT ON COLUMN race_heatmap_result.density IS 'the probability density there, per unit of both columns; NULL where too little is known';
COMMENT ON COLUMN race_heatmap_result.lower IS 'the lower end of the 95 % confidence interval';
COMMENT ON COLUMN race_heatmap_result.upper IS 'the upper end';
COMMENT ON COLUMN race_heatmap_result.text1 IS 'x1 as text of the type of the column';
COMMENT ON COLUMN race_heatmap_result.text2 IS 'and x2';

CREATE FUNCTION race_heatmap(
	sketch race_sketch, column1 text, column2 text, steps int DEFAULT 40, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS SETOF race_heatmap_result
	AS 'MODULE_PATHNAME', 'race_heatmap_column1' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 1600;
COMMENT ON FUNCTION race_heatmap(race_sketch, text, text, int, float8[], float8[]) IS
	'the probability density of two columns of a value of tables, in at most steps by steps cells (2 to 500) from lower to upper, with its 95 % interval. Errors: 42703, 22023';

CREATE FUNCTION race_outliers(
	sketch race_sketch, records anycompatible, confidence float8 DEFAULT 0.95,
	OUT point int, OUT typicality float8, OUT share float8, OUT frequency float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_outliers_records' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION race_outliers(race_sketch, anycompatible, float8) IS
	'how typical records are among those of a value of tables: {"age": 30, "town": "Rome"}, or an array of such, jsonb or its text. lower and upper are of share. Errors: 42703, 22023';

CREATE TYPE race_column_modes_result AS (
	mode int, "column" text, x float8, density float8, prominence float8, lower float8, upper float8,
	"text" text, lower_text text, upper_text text);
COMMENT ON TYPE race_column_modes_result IS 'a row of the result of race_modes of a column of a value';
COMMENT ON COLUMN race_column_modes_result.mode IS 'the number of the mode: 1 is the most prominent';
COMMENT ON COLUMN race_column_modes_result."column" IS 'the column';
COMMENT ON COLUMN race_column_modes_result.x IS 'where the mode is; NULL if none stands out. Dates are days and timestamps seconds since 2000-01-01, intervals seconds';
COMMENT ON COLUMN race_column_modes_result.density IS 'the probability density there, per unit of the column';
COMMENT ON COLUMN race_column_modes_result.prominence IS 'the density less that of the highest saddle on the way to a denser mode; of the densest mode that itself';
COMMENT ON COLUMN race_column_modes_result.lower IS 'where the mode begins';
COMMENT ON COLUMN race_column_modes_result.upper IS 'and where it ends';
COMMENT ON COLUMN race_column_modes_result."text" IS 'x as text of the type of the column';
COMMENT ON COLUMN race_column_modes_result.lower_text IS 'of a date, time or interval, lower as text; NULL for numbers';
COMMENT ON COLUMN race_column_modes_result.upper_text IS 'and upper';

CREATE FUNCTION race_modes(sketch race_sketch, max int, "column" text)
	RETURNS SETOF race_column_modes_result
	AS 'MODULE_PATHNAME', 'race_modes_column' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION race_modes(race_sketch, int, text) IS
	'where records of a value of tables are densest in a column of numbers, or in each if it is NULL: at most max modes that neither noise nor chance explains. Errors: 42703, 22023';
