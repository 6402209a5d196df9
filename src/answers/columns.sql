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
	value race_sketch, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_crosstab_result
	AS 'MODULE_PATHNAME', 'race_tables_crosstab' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;
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
	value race_sketch, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION race_mean(race_sketch, text, anycompatible, jsonb, float8) IS
	'the mean of a column of a value of tables, of all records or by each value of a column, or two: town, {town,age}, or an array. NULL where too little is known. Errors: 42703, 22023';

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
	value race_sketch, "column" text, by text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
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

CREATE FUNCTION race_correlation(value race_sketch, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_correlation_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_correlation(race_sketch, float8) IS
	'the correlation of each two columns of a value of tables that have numbers, with an interval; NULL if no measurement connects them. Errors: 22023';

CREATE FUNCTION race_regress(
	value race_sketch, target text, columns text[] DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT "column" text, OUT coefficient float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_regress_columns' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 5;
COMMENT ON FUNCTION race_regress(race_sketch, text, text[], float8) IS
	'the linear regression of a column of a value of tables on others, or all, from correlations; the intercept first. NULL: too little is known, or others may follow from each other. Errors: 42703, 22023';

CREATE FUNCTION race_synthesize(base anyelement, value race_sketch, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_synthesize' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 1000;
COMMENT ON FUNCTION race_synthesize(anyelement, race_sketch, bigint, bigint) IS
	'n synthetic rows of a value of tables, in the columns of a row type that it has. Other values are NULL, or categories in NOT NULL columns. Equal seeds: equal rows. Errors: 42703, 22023';
