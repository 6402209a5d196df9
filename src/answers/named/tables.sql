-- ------------------------------------------------------------------------
-- Answers of releases by columns

CREATE FUNCTION _racepriv._race_domains_of(release text, needed boolean, label text DEFAULT NULL, smoothing float8 DEFAULT NULL) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := (SELECT CASE WHEN NOT d.domains->0 ? 'vector' THEN d.domains END
		FROM (SELECT _racepriv._race_domains(r.sketch) AS domains FROM _racepriv.race_releases r
			WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC, r.part LIMIT 1) d);
BEGIN
	IF domains IS NULL AND needed AND release IS NOT NULL THEN
		PERFORM _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l;		-- says that there is none
		RAISE EXCEPTION 'release "%" has no tables of columns', left(release, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'This is asked of releases that race_release made, of columns of a dataset: race_catalog shows which these are.';
	ELSIF domains IS NOT NULL AND label IS NOT NULL THEN
		RAISE EXCEPTION 'release "%" has no label "%"', left(release, 64), left(label, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = format('It was made by columns. Where there is a condition, it says which records: "where" => ''{"column": "%s"}''.', left(label, 64));
	ELSIF domains IS NOT NULL AND smoothing IS NOT NULL THEN
		RAISE EXCEPTION 'release "%" counts columns: it has no smoothing', left(release, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Leave smoothing out; with fewer steps or bins there is less noise in each.';
	END IF;
	RETURN domains;
END $$;
COMMENT ON FUNCTION _racepriv._race_domains_of(text, boolean, text, float8) IS
	'the domains of the columns of the latest version of a release; NULL if it was not made by columns. Errors: 42704, 22023 if they are needed; 22023 for a label or smoothing of a release by columns';

CREATE FUNCTION _racepriv._race_domain_named(domains jsonb, "column" text) RETURNS jsonb
	LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT d.domain FROM jsonb_array_elements(domains) WITH ORDINALITY d (domain, place)
	WHERE NOT d.domain ? 'measure' AND (d.domain->>'name' = "column" OR "column" ~ '^[0-9]{1,2}$' AND d.place = "column"::int)
	ORDER BY d.domain->>'name' = "column" DESC LIMIT 1
$$;
COMMENT ON FUNCTION _racepriv._race_domain_named(jsonb, text) IS
	'the domain of a column that is given by its name, or else its number; NULL if there is none';

CREATE FUNCTION _racepriv._race_labels(release text, label text) RETURNS TABLE (label text)
	LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(_race_labels.label, l.label)
	FROM (VALUES (1)) one LEFT JOIN LATERAL (
		SELECT r.label, min(r.part) AS part FROM _racepriv.race_releases r
		WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) AND _race_labels.label IS NULL
			AND r.version = (SELECT max(n.version) FROM _racepriv.race_releases n WHERE n.name = (SELECT p.name FROM _racepriv._race_period(release) p))
		GROUP BY r.label) l ON true
	WHERE release IS NOT NULL ORDER BY l.part
$$;
COMMENT ON FUNCTION _racepriv._race_labels(text, text) IS
	'the labels of a release in their order, or the one that is given; one NULL if there are none, or no such release, so that race_released tells which';

CREATE TYPE _racepriv.race_count_result AS (
	count float8, lower float8, upper float8, source text);
COMMENT ON TYPE _racepriv.race_count_result IS 'the result of race_count';
COMMENT ON COLUMN _racepriv.race_count_result.count IS 'how many records there are';
COMMENT ON COLUMN _racepriv.race_count_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_count_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_count_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';

CREATE FUNCTION _racepriv._race_count(
	release text, "where" jsonb, confidence float8)
	RETURNS _racepriv.race_count_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, "where" <> '{}');
	result _racepriv.race_count_result;
BEGIN
	IF domains IS NOT NULL THEN
		SELECT c.* INTO result FROM _racepriv._race_tables_count(_racepriv._race_released(release), "where", confidence) c;
	ELSE
		SELECT greatest(n.count, 0::float8), greatest(n.count - z.z * n.error, 0::float8), greatest(n.count, 0::float8) + z.z * n.error, 'measured' INTO result
		FROM _racepriv._race_normal_quantile(confidence) z (z) CROSS JOIN (
			SELECT sum(r.count) AS count, sqrt(sum(r.standard_error ^ 2::float8)) AS error
			FROM _racepriv._race_labels(release, NULL) l CROSS JOIN LATERAL _racepriv._race_records(_racepriv._race_released(release, l.label)) r) n;
	END IF;
	RETURN result;
END $$;
COMMENT ON FUNCTION _racepriv._race_count(text, jsonb, float8) IS 'the body of race_count';

CREATE FUNCTION @extschema@.race_count(
	release text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS _racepriv.race_count_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION @extschema@.race_count(text, jsonb, float8) IS
	'how many records of a release have these values, with an interval: {"age": [30, 40], "town": ["Rome", "Paris"]}. source: measured with known noise, by the model, or not measured, and then NULL. Errors: 42704, 42703, 22023';

CREATE TYPE _racepriv.race_crosstab_result AS (
	value1 text, value2 text, count float8, lower float8, upper float8, source text);
COMMENT ON TYPE _racepriv.race_crosstab_result IS 'a row of the result of race_crosstab';
COMMENT ON COLUMN _racepriv.race_crosstab_result.value1 IS 'the value of the first column, or the range [a,b)';
COMMENT ON COLUMN _racepriv.race_crosstab_result.value2 IS 'that of the second; NULL too if only one is asked for';
COMMENT ON COLUMN _racepriv.race_crosstab_result.count IS 'how many records have both';
COMMENT ON COLUMN _racepriv.race_crosstab_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_crosstab_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_crosstab_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';

CREATE FUNCTION _racepriv._race_crosstab(
	release text, column1 text, column2 text, confidence float8)
	RETURNS SETOF _racepriv.race_crosstab_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT c.value1, c.value2, c.count, c.lower, c.upper, c.source FROM _racepriv._race_tables_crosstab(
		_racepriv._race_released(release), column1, column2, confidence) c;
END $$;
COMMENT ON FUNCTION _racepriv._race_crosstab(text, text, text, float8) IS 'the body of race_crosstab';

CREATE FUNCTION @extschema@.race_crosstab(
	release text, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_crosstab_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;
COMMENT ON FUNCTION @extschema@.race_crosstab(text, text, text, float8) IS
	'how many records of a release have each value of a column, or each pair of values of two columns, with intervals; ranges [a,b) of numbers. source as race_count. Errors: 42704, 42703, 22023';

CREATE FUNCTION _racepriv._race_synthesize(base anyelement, release text, n bigint, seed bigint)
	RETURNS SETOF anyelement LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT * FROM _racepriv._race_tables_rows(base, _racepriv._race_released(release), n, seed);
END $$;
COMMENT ON FUNCTION _racepriv._race_synthesize(anyelement, text, bigint, bigint) IS 'the body of race_synthesize';

CREATE FUNCTION @extschema@.race_synthesize(base anyelement, release text, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.race_synthesize(anyelement, text, bigint, bigint) IS
	'n synthetic rows of a release, in the columns of a row type that it has: race_synthesize(NULL::visits, ''visits 2026'', 1000). Other values are NULL, or categories in NOT NULL columns. Equal seeds: equal rows. Errors: 42704, 42703, 22023';

-- ------------------------------------------------------------------------
-- Means

CREATE TYPE _racepriv.race_mean_result AS (
	value1 text, value2 text, mean float8, lower float8, upper float8, count float8, source text,
	"text" text, lower_text text, upper_text text);
COMMENT ON TYPE _racepriv.race_mean_result IS 'a row of the result of race_mean';
COMMENT ON COLUMN _racepriv.race_mean_result.value1 IS 'the value of the first column of by, or the range [a,b)';
COMMENT ON COLUMN _racepriv.race_mean_result.value2 IS 'that of the second';
COMMENT ON COLUMN _racepriv.race_mean_result.mean IS 'the mean of the column; dates are days and timestamps seconds since 2000-01-01, intervals seconds. NULL where too little is known';
COMMENT ON COLUMN _racepriv.race_mean_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_mean_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_mean_result.count IS 'how many records it is of';
COMMENT ON COLUMN _racepriv.race_mean_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';
COMMENT ON COLUMN _racepriv.race_mean_result."text" IS 'of a date, time or interval, the mean as text; NULL for numbers';
COMMENT ON COLUMN _racepriv.race_mean_result.lower_text IS 'and lower';
COMMENT ON COLUMN _racepriv.race_mean_result.upper_text IS 'and upper';

CREATE FUNCTION _racepriv._race_mean(
	release text, "column" text, by anycompatible, "where" jsonb, confidence float8)
	RETURNS SETOF _racepriv.race_mean_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	list CONSTANT text := by::text;
	columns CONSTANT text[] := CASE WHEN list LIKE '{%}' THEN list::text[] WHEN list IS NOT NULL THEN ARRAY[list] END;
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, true);
	type CONSTANT text := coalesce(_racepriv._race_domain_named(domains, "column"), domains->-1)->>'type';		-- a measure is the last one
BEGIN
	RETURN QUERY SELECT m.value1, m.value2, m.mean, m.lower, m.upper, m.count, m.source,
		_racepriv._race_number_text(type, m.mean, true), _racepriv._race_number_text(type, m.lower, true), _racepriv._race_number_text(type, m.upper, true)
	FROM _racepriv._race_tables_mean(_racepriv._race_released(release), "column", columns, "where", confidence) m;
END $$;
COMMENT ON FUNCTION _racepriv._race_mean(text, text, anycompatible, jsonb, float8) IS 'the body of race_mean';

CREATE FUNCTION @extschema@.race_mean(
	release text, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_mean_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_mean(text, text, anycompatible, jsonb, float8) IS
	'the mean of a column of a release, of all records or by each value of a column, or two: town, {town,age}, or an array. NULL where too little is known. where, source and errors as race_count';

CREATE FUNCTION _racepriv._race_some(domains jsonb, "column" text, "where" jsonb) RETURNS jsonb
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF _racepriv._race_domain_named(domains, "column") ? 'categories' THEN
		RAISE EXCEPTION 'column "%" of the release has categories, no numbers', left("column", 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_crosstab counts its values, race_mean has means by them.';
	END IF;
	RETURN CASE WHEN "where" ? "column" THEN "where" ELSE "where" || jsonb_build_object("column", '[null, null]'::jsonb) END;
END $$;
COMMENT ON FUNCTION _racepriv._race_some(jsonb, text, jsonb) IS
	'a condition, and that a column of numbers is not NULL; error 22023 if it has categories';

CREATE TYPE _racepriv.race_trend_means_result AS (
	x float8, value text, mean float8, lower float8, upper float8, count float8, source text,
	"text" text, lower_text text, upper_text text);
COMMENT ON TYPE _racepriv.race_trend_means_result IS 'a row of the result of race_trend';
COMMENT ON COLUMN _racepriv.race_trend_means_result.x IS 'the middle of the range; dates are days and timestamps seconds since 2000-01-01';
COMMENT ON COLUMN _racepriv.race_trend_means_result.value IS 'the range [a,b) as text of the type of the column';
COMMENT ON COLUMN _racepriv.race_trend_means_result.mean IS 'the mean of the other column there; NULL where too little is known';
COMMENT ON COLUMN _racepriv.race_trend_means_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_trend_means_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_trend_means_result.count IS 'how many records it is of';
COMMENT ON COLUMN _racepriv.race_trend_means_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';
COMMENT ON COLUMN _racepriv.race_trend_means_result."text" IS 'of a date, time or interval, the mean as text; NULL for numbers';
COMMENT ON COLUMN _racepriv.race_trend_means_result.lower_text IS 'and lower';
COMMENT ON COLUMN _racepriv.race_trend_means_result.upper_text IS 'and upper';

CREATE FUNCTION _racepriv._race_trend(
	release text, "column" text, by text, "where" jsonb, confidence float8)
	RETURNS SETOF _racepriv.race_trend_means_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, true);
	type CONSTANT text := coalesce(_racepriv._race_domain_named(domains, "column"), domains->-1)->>'type';		-- a measure is the last one
BEGIN
	IF by IS DISTINCT FROM 'during' THEN
		PERFORM _racepriv._race_some(domains, by, '{}');
		RETURN QUERY SELECT m.x, m.value1, m.mean, m.lower, m.upper, m.count, m.source,
			_racepriv._race_number_text(type, m.mean, true), _racepriv._race_number_text(type, m.lower, true), _racepriv._race_number_text(type, m.upper, true)
		FROM _racepriv._race_tables_mean(_racepriv._race_released(release), "column", ARRAY[by], "where", confidence) m
		WHERE m.x IS NOT NULL ORDER BY 1;
	ELSE
		IF (_racepriv._race_period(release))."values" IS NULL AND release IS NOT NULL THEN
			RAISE EXCEPTION 'release "%" is no series', left(release, 64) USING ERRCODE = 'invalid_parameter_value';
		END IF;
		RETURN QUERY SELECT date_part('epoch', i.low + (i.high - i.low) / 2 - '2000-01-01'::timestamp), i.value, m.mean, m.lower, m.upper, m.count, m.source,
			_racepriv._race_number_text(type, m.mean, true), _racepriv._race_number_text(type, m.lower, true), _racepriv._race_number_text(type, m.upper, true)
		FROM _racepriv._race_period(release) p CROSS JOIN LATERAL (
				SELECT lower(r.during) AS low, min(upper(r.during)) AS high, format('[%s,%s)', to_char(lower(r.during), 'YYYY-MM-DD HH24:MI:SS'),
					to_char(min(upper(r.during)), 'YYYY-MM-DD HH24:MI:SS')) AS value
				FROM _racepriv.race_releases r WHERE r.name = p.name AND r.part = 1 AND r.during IS NOT NULL
				GROUP BY 1 ORDER BY 1 OFFSET p.first LIMIT p.after - p.first) i
			CROSS JOIN LATERAL _racepriv._race_tables_mean(_racepriv._race_released(p.name || i.value), "column", NULL,
				"where", confidence) m
		ORDER BY 1;
	END IF;
END $$;
COMMENT ON FUNCTION _racepriv._race_trend(text, text, text, jsonb, float8) IS 'the body of race_trend';

CREATE FUNCTION @extschema@.race_trend(
	release text, "column" text, by text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_trend_means_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION @extschema@.race_trend(text, text, text, jsonb, float8) IS
	'the mean of a column of a release along another one, of numbers or dates: x is the middle of a range; value says it; or "during", each interval of a series. NULL: too little known. where, source, errors: race_count';

-- ------------------------------------------------------------------------
-- Classes and correlations

-- Of a number with fractions, its cell stands for a single one.
CREATE FUNCTION _racepriv._race_query(domains jsonb, query jsonb) RETURNS jsonb
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT CASE WHEN jsonb_typeof(query) <> 'object' THEN query ELSE (
		SELECT coalesce(jsonb_object_agg(q.key, CASE
			WHEN _racepriv._race_domain_named(domains, q.key)->>'whole' = 'false' AND jsonb_typeof(q.value) IN ('number', 'string')
				THEN jsonb_build_object('cell of', q.value)
			ELSE q.value END), '{}')
		FROM jsonb_each(query) q) END
$$;
COMMENT ON FUNCTION _racepriv._race_query(jsonb, jsonb) IS
	'a condition that may have single numbers of columns with fractions';


CREATE TYPE _racepriv.race_classify_result AS (
	value text, probability float8, lower float8, upper float8, prior float8);
COMMENT ON TYPE _racepriv.race_classify_result IS 'a row of the result of race_classify';
COMMENT ON COLUMN _racepriv.race_classify_result.value IS 'a value of the column';
COMMENT ON COLUMN _racepriv.race_classify_result.probability IS 'how likely it is, given the query; NULL where too little is known';
COMMENT ON COLUMN _racepriv.race_classify_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_classify_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_classify_result.prior IS 'its share of all records';

CREATE FUNCTION _racepriv._race_classify(
	release text, label text, query anycompatible, confidence float8)
	RETURNS SETOF _racepriv.race_classify_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	sketch CONSTANT _racepriv.race_releases.sketch%TYPE := _racepriv._race_released(release);
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, true);
	type CONSTANT text := _racepriv._race_domain_named(domains, label)->>'type';
BEGIN
	RETURN QUERY
	WITH given AS MATERIALIZED (
		SELECT h.* FROM _racepriv._race_tables_histogram(sketch, label, NULL, NULL,
			_racepriv._race_query(domains, query::text::jsonb), false, false, confidence) WITH ORDINALITY h
	), edges AS (
		-- those of the ranges that the condition left; a column whose bounds are equal has one value
		SELECT CASE WHEN min(g.low) < max(g.high) THEN array_agg(_racepriv._race_number_text(type, g.low) ORDER BY g.low) || _racepriv._race_number_text(type, max(g.high)) END AS edges FROM given g
	)
	SELECT g.value, CASE WHEN sum(p.lower) OVER all_values > 0::float8 THEN _racepriv._race_quotient(g.count, sum(g.count) OVER all_values) END,
		coalesce(_racepriv._race_quotient(g.lower, g.lower + greatest(sum(g.upper) OVER all_values - g.upper, 0::float8)), 0::float8),
		coalesce(_racepriv._race_quotient(g.upper, g.upper + greatest(sum(g.lower) OVER all_values - g.lower, 0::float8)), 1::float8),
		CASE WHEN sum(p.lower) OVER all_values > 0::float8 THEN _racepriv._race_quotient(p.count, sum(p.count) OVER all_values) END
	FROM edges e CROSS JOIN _racepriv._race_tables_histogram(sketch, label, e.edges, NULL,
			'{}', false, false, confidence) WITH ORDINALITY p JOIN given g USING (ordinality)
	WINDOW all_values AS () ORDER BY 2 DESC NULLS LAST, ordinality;
END $$;
COMMENT ON FUNCTION _racepriv._race_classify(text, text, anycompatible, float8) IS 'the body of race_classify';

CREATE FUNCTION @extschema@.race_classify(
	release text, label text, query anycompatible, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_classify_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_classify(text, text, anycompatible, float8) IS
	'how likely each value of a column of a release is for a record with these values of others, jsonb or its text, with an interval; prior: among all records. The most likely one is first. Errors as race_count';

CREATE TYPE _racepriv.race_correlation_result AS (
	column1 text, column2 text, correlation float8, lower float8, upper float8, source text);
COMMENT ON TYPE _racepriv.race_correlation_result IS 'a row of the result of race_correlation';
COMMENT ON COLUMN _racepriv.race_correlation_result.column1 IS 'a column';
COMMENT ON COLUMN _racepriv.race_correlation_result.column2 IS 'another one';
COMMENT ON COLUMN _racepriv.race_correlation_result.correlation IS 'their correlation';
COMMENT ON COLUMN _racepriv.race_correlation_result.lower IS 'the lower end of the confidence interval';
COMMENT ON COLUMN _racepriv.race_correlation_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_correlation_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';

CREATE FUNCTION _racepriv._race_correlation(
	release text, confidence float8)
	RETURNS SETOF _racepriv.race_correlation_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT c.column1, c.column2, c.correlation, c.lower, c.upper, c.source FROM _racepriv._race_tables_correlation(
		_racepriv._race_released(release), confidence) c;
END $$;
COMMENT ON FUNCTION _racepriv._race_correlation(text, float8) IS 'the body of race_correlation';

CREATE FUNCTION @extschema@.race_correlation(
	release text, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_correlation_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_correlation(text, float8) IS
	'the correlation of each two columns of a release that have numbers, with an interval; -1 to 1 if they were not measured together. Errors: 42704, 22023';

CREATE FUNCTION _racepriv._race_regress(
	release text, target text, columns text[], confidence float8,
	OUT "column" text, OUT coefficient float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 5
	SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, false);
	sketch CONSTANT _racepriv.race_releases.sketch%TYPE := _racepriv._race_released(release);
	names text[] := target || columns;
	unknown CONSTANT text := (SELECT n FROM unnest(names) n WHERE n NOT IN (SELECT d->>'name' FROM jsonb_array_elements(domains) d) LIMIT 1);
	k int;
	means float8[];
	deviations float8[];
	correlations float8[];		-- [k][k]; the target is the first
	errors float8[];			-- [k][k]: how far off those may be
	rows float8[];				-- [k][2k], to be reduced: correlations of the others, and the identity
	betas float8[];
	slopes float8[];			-- [k][k]: what the right sides of the equations add to each coefficient
	squares float8[];			-- of the radii of intervals
	ratios float8[];			-- means in standard deviations
	ratio float8;
	scale float8;				-- a coefficient is this times that of columns whose standard deviation is 1
	standard float8;
	solvable boolean;
	c record;
BEGIN
	IF release IS NULL OR target IS NULL OR confidence IS NULL THEN
		RETURN;
	ELSIF domains IS NULL THEN
		RETURN QUERY SELECT CASE r."column" WHEN 0 THEN 'intercept' ELSE coalesce(k.columns[r."column"], r."column"::text, 'feature ' || r.feature) END,
			r.coefficient, r.coefficient - z.z * r.standard_error, r.coefficient + z.z * r.standard_error
		FROM _racepriv._race_normal_quantile(confidence) z (z) CROSS JOIN (SELECT r.columns FROM _racepriv.race_releases r WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC LIMIT 1) k
			CROSS JOIN LATERAL _racepriv._race_regress(sketch, _racepriv._race_column(release, target),
				CASE WHEN columns IS NOT NULL THEN ARRAY(SELECT _racepriv._race_column(release, n) FROM unnest(columns) n) END) r;
		RETURN;
	ELSIF unknown IS NOT NULL THEN
		RAISE EXCEPTION 'the release has no column "%"', left(unknown, 64) USING ERRCODE = 'undefined_column',
			HINT = format('Its columns are %s.', (SELECT string_agg(d->>'name', ', ') FROM jsonb_array_elements(domains) d));
	END IF;
	IF columns IS NULL THEN
		names := target || ARRAY(SELECT t.n FROM _racepriv._race_tables_correlation(sketch, confidence) p,
			LATERAL (VALUES (p.column1), (p.column2)) t (n) WHERE t.n <> target GROUP BY t.n ORDER BY t.n);
	END IF;
	k := cardinality(names);
	means := array_fill(NULL::float8, ARRAY[k]);
	deviations := means;
	correlations := array_fill(1::float8, ARRAY[k, k]);
	errors := array_fill(0::float8, ARRAY[k, k]);
	slopes := errors;
	rows := array_fill(0::float8, ARRAY[k, 2 * k]);
	FOR c IN SELECT array_position(names, p.column1) AS i, array_position(names, p.column2) AS j, p.correlation AS r,
			greatest(p.upper - p.correlation, p.correlation - p.lower) AS error, p.mean1, p.mean2, p.deviation1, p.deviation2
		FROM _racepriv._race_tables_correlation(sketch, confidence) p
		WHERE p.column1 = ANY (names) AND p.column2 = ANY (names)
	LOOP
		means[c.i] := c.mean1; means[c.j] := c.mean2;
		deviations[c.i] := c.deviation1; deviations[c.j] := c.deviation2;
		correlations[c.i][c.j] := c.r; correlations[c.j][c.i] := c.r;
		errors[c.i][c.j] := c.error; errors[c.j][c.i] := c.error;
	END LOOP;
	IF k < 2 OR k > (SELECT count(DISTINCT n) FROM unnest(names) n) OR array_position(means, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'a regression needs two or more different columns of numbers' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_correlation shows which columns have numbers.';
	END IF;
	ratios := ARRAY(SELECT coalesce(_racepriv._race_quotient(means[i], deviations[i]), 0::float8) FROM generate_series(1, k) i ORDER BY i);
	FOR i IN 2 .. k LOOP
		FOR j IN 2 .. k LOOP
			rows[i][j] := correlations[i][j];
			rows[i][k + j] := (i = j)::int;
		END LOOP;
	END LOOP;
	FOR p IN 2 .. k LOOP
		IF correlations[1][p] IS NULL OR NOT coalesce(rows[p][p] > 1e-6, false) THEN
			-- noise decides it, so it is no error
			RETURN QUERY SELECT CASE n.i WHEN 1 THEN 'intercept' ELSE n.name END, NULL::float8, NULL::float8, NULL::float8
			FROM unnest(names) WITH ORDINALITY n (name, i);
			RETURN;
		END IF;
		FOR i IN 2 .. k LOOP
			ratio := rows[i][p] / rows[p][p];
			FOR j IN p .. 2 * k LOOP
				IF i <> p THEN
					rows[i][j] := rows[i][j] - ratio * rows[p][j];
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	betas := -1::float8 || ARRAY(SELECT sum(rows[i][k + j] / rows[i][i] * correlations[1][j])
		FROM generate_series(2, k) i, generate_series(2, k) j GROUP BY i ORDER BY i);
	FOR i IN 2 .. k LOOP
		FOR j IN 2 .. k LOOP
			slopes[i][j] := rows[i][k + j] / rows[i][i];
			slopes[1][j] := slopes[1][j] - ratios[i] * slopes[i][j];
		END LOOP;
	END LOOP;
	-- The first derivatives of coefficients, times how far off each correlation may be, and for the intercept each mean.
	-- Correlations between columns so far off may be a matrix that has no inverse: then there is no interval.
	squares := ARRAY(SELECT sum(((slopes[i][p] * betas[q] + slopes[i][q] * betas[p]) * errors[p][q]) ^ 2)
		FROM generate_series(1, k) i, generate_series(1, k) p, generate_series(p + 1, k) q GROUP BY i ORDER BY i);
	squares[1] := squares[1] + (SELECT sum((betas[i] * _racepriv._race_quotient(m.upper - m.lower, deviations[i]) / 2) ^ 2)
		FROM generate_series(1, k) i CROSS JOIN LATERAL _racepriv._race_tables_mean(sketch, names[i], NULL, '{}', confidence) m);
	solvable := (SELECT max(s.sum) < 1 FROM (SELECT sum(abs(rows[i][k + p] / rows[i][i]) * errors[p][q])
		FROM generate_series(2, k) i, generate_series(2, k) p, generate_series(2, k) q GROUP BY i) s (sum));
	FOR i IN 1 .. k LOOP
		"column" := CASE i WHEN 1 THEN 'intercept' ELSE names[i] END;
		scale := CASE i WHEN 1 THEN deviations[1] ELSE _racepriv._race_quotient(deviations[1], deviations[i]) END;
		standard := CASE i WHEN 1 THEN ratios[1] - (SELECT sum(betas[j] * ratios[j]) FROM generate_series(2, k) j) ELSE betas[i] END;
		coefficient := _racepriv._race_product(scale, standard);
		IF solvable THEN
			lower := _racepriv._race_product(scale, standard - sqrt(squares[i]));
			upper := _racepriv._race_product(scale, standard + sqrt(squares[i]));
		END IF;
		RETURN NEXT;
	END LOOP;
END $$;
COMMENT ON FUNCTION _racepriv._race_regress(text, text, text[], float8) IS 'the body of race_regress';

CREATE FUNCTION @extschema@.race_regress(
	release text, target text, columns text[] DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT "column" text, OUT coefficient float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 5;
COMMENT ON FUNCTION @extschema@.race_regress(text, text, text[], float8) IS
	'the linear regression of a column of a release on others, or all, from correlations, or moments, which clip records; the intercept first. NULL: too little is known, or others may follow from each other. Errors: 42704, 42703, 22023';

CREATE FUNCTION _racepriv._race_info(release text) RETURNS SETOF race_info_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 1
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	info record;
	sketch _racepriv.race_releases.sketch%TYPE;
BEGIN
	FOR sketch IN SELECT _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l LOOP
		info := _racepriv._race_info(sketch);
		-- the number that race_count has
		SELECT round(greatest(r.count, 0::float8)), r.standard_error INTO info.count, info.count_noise_stddev FROM _racepriv._race_records(sketch) r;
		RETURN NEXT info;
	END LOOP;
END $$;
COMMENT ON FUNCTION _racepriv._race_info(text) IS 'the body of race_info';

CREATE FUNCTION @extschema@.race_info(release text) RETURNS SETOF race_info_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 1000 ROWS 1;
COMMENT ON FUNCTION @extschema@.race_info(text) IS
	'race_info of the latest version of a release, of each of its labels; the count is that of race_count, rounded. Error 42704';

CREATE TYPE _racepriv.race_export_result AS (
	number int, column1 text, value1 text, low1 float8, high1 float8, column2 text, value2 text, low2 float8, high2 float8,
	count float8, standard_error float8, label text);
COMMENT ON TYPE _racepriv.race_export_result IS 'a row of the result of race_export';
COMMENT ON COLUMN _racepriv.race_export_result.number IS 'of a table, 0 for all records; of a point';
COMMENT ON COLUMN _racepriv.race_export_result.column1 IS 'a column';
COMMENT ON COLUMN _racepriv.race_export_result.value1 IS 'its value, or the range [a,b)';
COMMENT ON COLUMN _racepriv.race_export_result.low1 IS 'the lower end of the range, NULL for categories; where a point is';
COMMENT ON COLUMN _racepriv.race_export_result.high1 IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_export_result.column2 IS 'another column, of a measured pair';
COMMENT ON COLUMN _racepriv.race_export_result.value2 IS 'its value';
COMMENT ON COLUMN _racepriv.race_export_result.low2 IS 'the lower end of its range';
COMMENT ON COLUMN _racepriv.race_export_result.high2 IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_export_result.count IS 'the noisy count; of a point its weight';
COMMENT ON COLUMN _racepriv.race_export_result.standard_error IS 'the standard error of the count; NULL where the model fills in';
COMMENT ON COLUMN _racepriv.race_export_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION _racepriv._race_export(release text, format text)
	RETURNS SETOF _racepriv.race_export_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000000 ROWS 1000
	SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, format = 'tables');
BEGIN
	IF release IS NULL THEN
		RETURN;
	ELSIF format NOT IN ('tables', 'points') THEN
		RAISE EXCEPTION 'unknown format "%"', left(format, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use tables, of a release by columns, or points, of another release.';
	ELSIF domains IS NOT NULL AND format = 'points' THEN
		RAISE EXCEPTION 'a release by columns has tables, no points' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_synthesize makes rows like its records.';
	ELSIF format = 'tables' OR domains IS NOT NULL THEN
		RETURN QUERY
		WITH names AS (
			SELECT d.domain->>'name' AS name, d.place
			FROM jsonb_array_elements(domains) WITH ORDINALITY d (domain, place)
			WHERE NOT d.domain ? 'measure')
		SELECT 0, NULL::text, NULL::text, NULL::float8, NULL::float8, NULL::text, NULL::text, NULL::float8, NULL::float8, c.count, (c.upper - c.count) / _racepriv._race_normal_quantile(0.95), NULL::text
		FROM _racepriv._race_tables_count(_racepriv._race_released(release, NULL), '{}', 0.95) c
		UNION ALL (
			SELECT (dense_rank() OVER (ORDER BY c.name2 IS NOT NULL, c.place1, c.place2))::int, c.name1, c.value1, c.low1, c.high1,
				c.name2, c.value2, c.low2, c.high2, c.estimate, c.standard_error, NULL::text
			FROM (
				SELECT a.name AS name1, a.place AS place1, b.name AS name2, b.place AS place2, c.*,
					count(c.standard_error) OVER (PARTITION BY a.place, b.place) > 0 AS measured
				FROM names a CROSS JOIN LATERAL (
						SELECT NULL::text AS name, 0::bigint AS place UNION ALL SELECT n.name, n.place FROM names n WHERE n.place > a.place) b
					CROSS JOIN LATERAL _racepriv._race_tables_crosstab(_racepriv._race_released(release, NULL), a.name, b.name, 0.95)
						WITH ORDINALITY c) c
			WHERE c.measured ORDER BY c.name2 IS NOT NULL, c.place1, c.place2, c.ordinality);
	ELSE
		RETURN QUERY
		SELECT p.number::int, coalesce(n.columns[x.i], x.i::text), coalesce(x.x::text, p.record), x.x, x.x,
			NULL::text, NULL::text, NULL::float8, NULL::float8, p.weight, NULL::float8, l.label
		FROM (SELECT r.columns FROM _racepriv.race_releases r WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC LIMIT 1) n
			RIGHT JOIN _racepriv._race_labels(release, NULL) l ON true
			CROSS JOIN LATERAL _racepriv._race_points(_racepriv._race_model(_racepriv._race_released(release, l.label)))
				WITH ORDINALITY p (x, record, weight, number)
			LEFT JOIN LATERAL unnest(p.x) WITH ORDINALITY x (x, i) ON true;
	END IF;
END $$;
COMMENT ON FUNCTION _racepriv._race_export(text, text) IS 'the body of race_export';

CREATE FUNCTION @extschema@.race_export(release text, format text DEFAULT NULL)
	RETURNS SETOF _racepriv.race_export_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.race_export(text, text) IS
	'what a release knows, as rows for any database. tables: noisy counts of values and measured pairs, standard_error NULL where the model fills in, number 0 for all records; points: those of a model, weights as count';
