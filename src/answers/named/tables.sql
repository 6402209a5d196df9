-- ------------------------------------------------------------------------
-- Answers of releases by columns

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

CREATE FUNCTION _racepriv._race_count_of_sketches(
	release text, "where" jsonb, confidence float8)
	RETURNS _racepriv.race_count_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	result _racepriv.race_count_result;
BEGIN
	SELECT greatest(n.count, 0::float8), greatest(n.count - z.z * n.error, 0::float8), greatest(n.count, 0::float8) + z.z * n.error, 'measured' INTO result
	FROM _racepriv._race_normal_quantile(confidence) z (z) CROSS JOIN (
		SELECT sum(r.count) AS count, sqrt(sum(r.standard_error ^ 2::float8)) AS error
		FROM _racepriv._race_labels(release, NULL) l CROSS JOIN LATERAL _racepriv._race_records(_racepriv._race_released(release, l.label)) r) n;
	RETURN result;
END $$;
COMMENT ON FUNCTION _racepriv._race_count_of_sketches(text, jsonb, float8) IS 'race_count of a release of sketches';

CREATE FUNCTION @extschema@.race_count(
	release text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS _racepriv.race_count_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION @extschema@.race_count(text, jsonb, float8) IS
	'how many records of a release have these values, with an interval: {"age": "[30,40)", "town": ["Rome", "Paris"]}. source: measured with known noise, by the model, or not measured, and then NULL. Errors: 42704, 42703, 22023';

CREATE FUNCTION @extschema@.race_crosstab(
	release text, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_crosstab_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;
COMMENT ON FUNCTION @extschema@.race_crosstab(text, text, text, float8) IS
	'how many records of a release have each value of a column, or each pair of values of two columns, with intervals; ranges [a,b) of numbers. source as race_count. Errors: 42704, 42703, 22023';

CREATE FUNCTION @extschema@.race_synthesize(base anyelement, release text, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.race_synthesize(anyelement, text, bigint, bigint) IS
	'n synthetic rows of a release, in the columns of a row type that it has: race_synthesize(NULL::visits, ''visits 2026'', 1000). Other values are NULL, or categories in NOT NULL columns. Equal seeds: equal rows. Errors: 42704, 42703, 22023';

-- ------------------------------------------------------------------------
-- Means

CREATE FUNCTION @extschema@.race_mean(
	release text, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_mean_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_mean(text, text, anycompatible, jsonb, float8) IS
	'the mean of a column of a release, of all records or by each value of a column, or two: town, {town,age}, or an array. NULL where too little is known. where, source and errors as race_count';

CREATE FUNCTION @extschema@.race_sum(
	release text, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_sum_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_sum(text, text, anycompatible, jsonb, float8) IS
	'the sum of a column of a release, of all records or by each value of a column, or two, as race_mean. A workload of sum(column) gives it a larger part of epsilon. where, source and errors as race_count';

CREATE FUNCTION _racepriv._race_trend(
	release text, "column" text, by text, "where" jsonb, confidence float8)
	RETURNS SETOF race_trend_result LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF by IS DISTINCT FROM 'during' THEN
		RETURN QUERY SELECT * FROM _racepriv._race_trend(_racepriv._race_released(release), "column", by, "where", confidence);
	ELSE
		IF (_racepriv._race_period(release))."values" IS NULL AND release IS NOT NULL THEN
			RAISE EXCEPTION 'release "%" is no series', left(release, 64) USING ERRCODE = 'invalid_parameter_value';
		END IF;
		RETURN QUERY SELECT date_part('epoch', i.low + (i.high - i.low) / 2 - '2000-01-01'::timestamp), i.value, m.mean, m.lower, m.upper, m.count, m.source,
			m."text", m.lower_text, m.upper_text
		FROM _racepriv._race_period(release) p CROSS JOIN LATERAL (
				SELECT lower(r.during) AS low, min(upper(r.during)) AS high, format('[%s,%s)', to_char(lower(r.during), 'YYYY-MM-DD HH24:MI:SS'),
					to_char(min(upper(r.during)), 'YYYY-MM-DD HH24:MI:SS')) AS value
				FROM _racepriv.race_releases r WHERE r.name = p.name AND r.part = 1 AND r.during IS NOT NULL
				GROUP BY 1 ORDER BY 1 OFFSET p.first LIMIT p.after - p.first) i
			CROSS JOIN LATERAL _racepriv._race_mean(_racepriv._race_released(p.name || i.value), "column", NULL::text,
				"where", confidence) m
		ORDER BY 1;
	END IF;
END $$;
COMMENT ON FUNCTION _racepriv._race_trend(text, text, text, jsonb, float8) IS 'the body of race_trend';

CREATE FUNCTION @extschema@.race_trend(
	release text, "column" text, by text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_trend_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION @extschema@.race_trend(text, text, text, jsonb, float8) IS
	'the mean of a column of a release along another one, of numbers or dates: x is the middle of a range; value says it; or "during", each interval of a series. NULL: too little known. where, source, errors: race_count';

-- ------------------------------------------------------------------------
-- Classes and correlations

CREATE FUNCTION @extschema@.race_classify(
	release text, label text, query anycompatible, confidence float8 DEFAULT 0.95,
	OUT value text, OUT probability float8, OUT lower float8, OUT upper float8, OUT prior float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_classify(text, text, anycompatible, float8) IS
	'how likely each value of a column of a release is for a record with these values of others, jsonb or its text, with an interval; prior: among all records. The most likely one is first. Errors as race_count';

CREATE FUNCTION _racepriv._race_report(release text, confidence float8)
	RETURNS SETOF _racepriv.race_report_result LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.* FROM (SELECT p.dataset, coalesce(p.provenance ? 'unit_column' AND NOT p.provenance ? 'weight', false) AS bounded
			FROM _racepriv.race_releases p WHERE p.name = (SELECT q.name FROM _racepriv._race_period(release) q) AND p.part = 1
			ORDER BY p.version DESC LIMIT 1) l
		RIGHT JOIN (SELECT _racepriv._race_released(release) AS value) v ON true
		CROSS JOIN LATERAL _racepriv._race_report(v.value, confidence, l.dataset, l.bounded) r
$$;
COMMENT ON FUNCTION _racepriv._race_report(text, float8) IS 'the body of race_report';

CREATE FUNCTION @extschema@.race_report(release text, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_report_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION @extschema@.race_report(text, float8) IS
	'what a release by columns shows of itself, at no cost: shares missing, not in a list or at bounds, errors of measured tables, columns without answers together, and statements that change it. Errors: 42704, 22023';

CREATE FUNCTION @extschema@.race_correlation(
	release text, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_correlation_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_correlation(text, float8) IS
	'the correlation of each two columns of a release that have numbers, with an interval; -1 to 1 if they were not measured together. Errors: 42704, 22023';

CREATE FUNCTION _racepriv._race_regress_of_sketches(
	release text, target text, columns text[], confidence float8,
	OUT "column" text, OUT coefficient float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 5
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	value CONSTANT _racepriv.race_releases.sketch%TYPE := _racepriv._race_released(release);
BEGIN
	RETURN QUERY SELECT CASE r."column" WHEN 0 THEN 'intercept' ELSE coalesce(k.columns[r."column"], r."column"::text, 'feature ' || r.feature) END,
		r.coefficient, r.coefficient - z.z * r.standard_error, r.coefficient + z.z * r.standard_error
	FROM _racepriv._race_normal_quantile(confidence) z (z) CROSS JOIN (SELECT r.columns FROM _racepriv.race_releases r WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC LIMIT 1) k
		CROSS JOIN LATERAL _racepriv._race_regress(value, _racepriv._race_column(release, target),
			CASE WHEN _race_regress_of_sketches.columns IS NOT NULL THEN ARRAY(SELECT _racepriv._race_column(release, n) FROM unnest(_race_regress_of_sketches.columns) n) END) r;
END $$;
COMMENT ON FUNCTION _racepriv._race_regress_of_sketches(text, text, text[], float8) IS 'race_regress of a release of moments';

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
	domains CONSTANT jsonb := (SELECT CASE WHEN NOT d.domains->0 ? 'vector' THEN d.domains END
		FROM (SELECT _racepriv._race_domains(r.sketch) AS domains FROM _racepriv.race_releases r
			WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC, r.part LIMIT 1) d);
BEGIN
	IF release IS NULL THEN
		RETURN;
	ELSIF format NOT IN ('tables', 'points') THEN
		RAISE EXCEPTION 'unknown format "%"', left(format, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use tables, of a release by columns, or points, of another release.';
	ELSIF domains IS NULL AND format = 'tables' THEN
		PERFORM _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l;		-- says that there is none
		RAISE EXCEPTION 'release "%" has no tables of columns', left(release, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'This is asked of releases that race_release made, of columns of a dataset: race_catalog shows which these are.';
	ELSIF domains IS NOT NULL AND format = 'points' THEN
		RAISE EXCEPTION 'a release by columns has tables, no points' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_synthesize makes rows like its records.';
	ELSIF domains IS NOT NULL THEN
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
