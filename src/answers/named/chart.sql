-- ------------------------------------------------------------------------
-- What a chart draws, by the name of a release: rows of scalars, and plain types of
-- parameters, so that any client can prepare them.  They read race_releases with the
-- rights of whoever calls them.

CREATE FUNCTION _racepriv._race_column(release text, "column" text) RETURNS int
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	names text[];
	n int;
BEGIN
	SELECT r.columns, (SELECT count(*) FROM _racepriv._race_columns(r.sketch))
	INTO names, n
	FROM _racepriv.race_releases r WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		PERFORM _racepriv._race_released(release);		-- says that there is none
		RETURN NULL;
	END IF;
	IF array_position(names[:n], "column") IS NOT NULL THEN
		RETURN array_position(names[:n], "column");
	ELSIF "column" ~ '^ *0*[1-9][0-9]{0,8} *$' AND "column"::int <= n OR "column" IS NULL THEN
		RETURN "column"::int;
	END IF;
	RAISE EXCEPTION 'release "%" has no column "%"', left(release, 64), left("column", 64)
		USING ERRCODE = 'undefined_column',
			HINT = format('Its columns are %s.', coalesce(array_to_string(names[:n], ', '), '1 to ' || n));
END $$;
COMMENT ON FUNCTION _racepriv._race_column(text, text) IS
	'the number of a column of a release that is given by its name or number; errors: 42703 no such column, 42704 no such release';

CREATE TYPE _racepriv.race_curve_result AS (
	x float8, density float8, lower float8, upper float8, count_per_unit float8, label text, "text" text);
COMMENT ON TYPE _racepriv.race_curve_result IS 'a row of the result of race_curve';
COMMENT ON COLUMN _racepriv.race_curve_result.x IS 'a place of the column, from the lower bound to the upper one; dates are days and timestamps seconds since 2000-01-01, intervals seconds';
COMMENT ON COLUMN _racepriv.race_curve_result.density IS 'the probability density there, per unit of the column: from bound to bound it integrates to one; NULL where too little is known, or both bounds are equal';
COMMENT ON COLUMN _racepriv.race_curve_result.lower IS 'the lower end of the confidence interval; NULL where theory gives none';
COMMENT ON COLUMN _racepriv.race_curve_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_curve_result.count_per_unit IS 'how many records there are per unit of the column: the density times the noisy number of records';
COMMENT ON COLUMN _racepriv.race_curve_result.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN _racepriv.race_curve_result."text" IS 'x as text of the type of the column';

CREATE FUNCTION _racepriv._race_curve_of_sketches(
	release text, "column" text, steps int,
	lower float8, upper float8, label text,
	confidence float8, smoothing float8, "where" jsonb)
	RETURNS SETOF _racepriv.race_curve_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	number CONSTANT int := _racepriv._race_column(release, "column");
BEGIN
	RETURN QUERY SELECT c.x, c.density, c.low, c.high, c.density * greatest((_racepriv._race_info(s.sketch)).count::float8, 0), l.label, c.x::text
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
		CROSS JOIN LATERAL _racepriv._race_curve(s.sketch, number, steps, lower, upper, confidence, smoothing) c;
END $$;
COMMENT ON FUNCTION _racepriv._race_curve_of_sketches(text, text, int, float8, float8, text, float8, float8, jsonb) IS 'race_curve of a release of sketches';

CREATE FUNCTION @extschema@.race_curve(
	release text, "column" text DEFAULT '1', steps int DEFAULT 100,
	lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, label text DEFAULT NULL,
	confidence float8 DEFAULT 0.95, smoothing float8 DEFAULT NULL, "where" jsonb DEFAULT '{}')
	RETURNS SETOF _racepriv.race_curve_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION @extschema@.race_curve(text, text, int, float8, float8, text, float8, float8, jsonb) IS
	'the probability density of a column of a release, by name or number, at most at steps places. where as race_count. Errors: 42704 no such release or label, 42703 no such column, 22023 other arguments, 55000 no model';

CREATE TYPE _racepriv.race_heatmap_result AS (
	x1 float8, x2 float8, density float8, label text, lower float8, upper float8, text1 text, text2 text);
COMMENT ON TYPE _racepriv.race_heatmap_result IS 'a row of the result of race_heatmap';
COMMENT ON COLUMN _racepriv.race_heatmap_result.x1 IS 'the middle of a cell, in the first column; dates are numbers as in race_curve';
COMMENT ON COLUMN _racepriv.race_heatmap_result.x2 IS 'and in the second';
COMMENT ON COLUMN _racepriv.race_heatmap_result.density IS 'the probability density there, per unit of both columns; NULL where too little is known, or where no double is so large or so small';
COMMENT ON COLUMN _racepriv.race_heatmap_result.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN _racepriv.race_heatmap_result.lower IS 'the lower end of the 95 % confidence interval; NULL where theory gives none';
COMMENT ON COLUMN _racepriv.race_heatmap_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_heatmap_result.text1 IS 'x1 as text of the type of the column';
COMMENT ON COLUMN _racepriv.race_heatmap_result.text2 IS 'and x2';

CREATE FUNCTION _racepriv._race_heatmap_of_sketches(
	release text, column1 text, column2 text, steps int,
	lower float8[], upper float8[], label text,
	smoothing float8)
	RETURNS SETOF _racepriv.race_heatmap_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 1600
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	z CONSTANT float8 := _racepriv._race_normal_quantile(0.95);
	number1 CONSTANT int := _racepriv._race_column(release, column1);
	number2 CONSTANT int := _racepriv._race_column(release, column2);
BEGIN
	RETURN QUERY SELECT c.x1, c.x2, c.density, l.label, greatest(c.density - z * c.standard_error, 0::float8), c.density + z * c.standard_error,
		c.x1::text, c.x2::text
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_heatmap(_racepriv._race_model(_racepriv._race_released(release, l.label)),
			number1, number2, steps, lower, upper, smoothing) c
	ORDER BY 4, 1, 2;
END $$;
COMMENT ON FUNCTION _racepriv._race_heatmap_of_sketches(text, text, text, int, float8[], float8[], text, float8) IS 'race_heatmap of a release of sketches';

CREATE FUNCTION @extschema@.race_heatmap(
	release text, column1 text DEFAULT '1', column2 text DEFAULT '2', steps int DEFAULT 40,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL, label text DEFAULT NULL,
	smoothing float8 DEFAULT NULL)
	RETURNS SETOF _racepriv.race_heatmap_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 1600;
COMMENT ON FUNCTION @extschema@.race_heatmap(text, text, text, int, float8[], float8[], text, float8) IS
	'the probability density of two columns of a release, in at most steps by steps cells (2 to 500) from lower to upper: two bounds each, NULL for those of the columns. Columns, labels, smoothing and errors as race_curve';

CREATE TYPE _racepriv.race_bins_result AS (
	value text, low float8, high float8, count float8, lower float8, upper float8, density float8, source text, label text);
COMMENT ON TYPE _racepriv.race_bins_result IS 'a row of the result of race_histogram';
COMMENT ON COLUMN _racepriv.race_bins_result.value IS 'the value, or the range [low,high), as text of the type of the column';
COMMENT ON COLUMN _racepriv.race_bins_result.low IS 'the lower edge of a range; dates are days and timestamps seconds since 2000-01-01, intervals seconds; NULL for categories';
COMMENT ON COLUMN _racepriv.race_bins_result.high IS 'the upper edge';
COMMENT ON COLUMN _racepriv.race_bins_result.count IS 'how many records have this value, or one in this range';
COMMENT ON COLUMN _racepriv.race_bins_result.lower IS 'the lower end of the confidence interval of the count; NULL where theory gives none';
COMMENT ON COLUMN _racepriv.race_bins_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_bins_result.density IS 'the probability density in the range, per unit of the column; the share of a category; NULL where too little is known';
COMMENT ON COLUMN _racepriv.race_bins_result.source IS 'measured, with known noise; model; or not measured, where no measurement connects the columns, and the value is NULL';
COMMENT ON COLUMN _racepriv.race_bins_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION _racepriv._race_histogram_of_sketches(
	release text, "column" text, edges anycompatible, "where" jsonb, bins int,
	label text, smoothing float8, confidence float8)
	RETURNS SETOF _racepriv.race_bins_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	list CONSTANT text := edges::text;
	number CONSTANT boolean := list ~ '^ *[0-9]{1,5} *$';
	bin_edges CONSTANT text[] := CASE WHEN list ~ '^([[][-0-9:]*[]]=)?[{].*[}]$' THEN list::text[] WHEN NOT number THEN ARRAY[list] END;
	bin_count CONSTANT int := CASE WHEN number THEN list::int ELSE bins END;
	column_number int;
BEGIN
	IF bin_count NOT BETWEEN 1 AND 10000 THEN
		RAISE EXCEPTION 'bins must be a number from 1 to 10000' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give edges that ascend, as in {0,10,20}, or the number of bins.';
	END IF;
	column_number := _racepriv._race_column(release, "column");
	RETURN QUERY SELECT format('[%s,%s)', c.lower, c.upper), c.lower, c.upper, c.count, greatest(c.count - z.z * c.standard_error, 0::float8), c.count + z.z * c.standard_error,
		_racepriv._race_density(c.share, 1, c.lower, c.upper), 'model', l.label
	FROM _racepriv._race_normal_quantile(confidence) z (z) CROSS JOIN _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
		CROSS JOIN LATERAL _racepriv._race_histogram(s.sketch, column_number, coalesce(bin_edges::float8[], (
			SELECT array_agg(b.lower + (b.upper - b.lower) * i / coalesce(bin_count, 20) ORDER BY i)
			FROM generate_series(0, coalesce(bin_count, 20)) i, _racepriv._race_columns(s.sketch) b
			WHERE b.number = column_number)), coalesce(smoothing, 0.1)) c;
END $$;
COMMENT ON FUNCTION _racepriv._race_histogram_of_sketches(text, text, anycompatible, jsonb, int, text, float8, float8) IS 'race_histogram of a release of sketches';

CREATE FUNCTION @extschema@.race_histogram(
	release text, "column" text, edges anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', bins int DEFAULT NULL,
	label text DEFAULT NULL, smoothing float8 DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_bins_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION @extschema@.race_histogram(text, text, anycompatible, jsonb, int, text, float8, float8) IS
	'how many records lie in each range [low,high) of a column: between edges that ascend, an array, or in so many bins; or have each category. Not of columns: label, smoothing. where and errors as race_count';

CREATE TYPE _racepriv.race_percentiles_result AS (
	p float8, value float8, lower float8, upper float8, "text" text, label text, lower_text text, upper_text text);
COMMENT ON TYPE _racepriv.race_percentiles_result IS 'a row of the result of race_quantiles';
COMMENT ON COLUMN _racepriv.race_percentiles_result.p IS 'the share of records that are below the value';
COMMENT ON COLUMN _racepriv.race_percentiles_result.value IS 'the quantile; dates are days and timestamps seconds since 2000-01-01, intervals seconds. NULL where too little is known';
COMMENT ON COLUMN _racepriv.race_percentiles_result.lower IS 'the lower end of the confidence interval; NULL where theory gives none';
COMMENT ON COLUMN _racepriv.race_percentiles_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_percentiles_result."text" IS 'the quantile as text of the type of the column';
COMMENT ON COLUMN _racepriv.race_percentiles_result.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN _racepriv.race_percentiles_result.lower_text IS 'of a date, time or interval, lower as text; NULL for numbers';
COMMENT ON COLUMN _racepriv.race_percentiles_result.upper_text IS 'and upper';

CREATE FUNCTION _racepriv._race_quantiles_of_sketches(
	release text, "column" text, p float8[], "where" jsonb,
	label text, confidence float8)
	RETURNS SETOF _racepriv.race_percentiles_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	column_number CONSTANT int := _racepriv._race_column(release, "column");
BEGIN
	RETURN QUERY SELECT q.p, q.value, q.value - z.z * q.standard_error, q.value + z.z * q.standard_error, q.value::text, l.label, NULL::text, NULL::text
	FROM _racepriv._race_normal_quantile(confidence) z (z) CROSS JOIN _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_quantile(_racepriv._race_model(_racepriv._race_released(release, l.label)),
			_race_quantiles_of_sketches.p, column_number) q;
END $$;
COMMENT ON FUNCTION _racepriv._race_quantiles_of_sketches(text, text, float8[], jsonb, text, float8) IS 'race_quantiles of a release of sketches';

CREATE FUNCTION @extschema@.race_quantiles(
	release text, "column" text DEFAULT '1', p float8[] DEFAULT '{0.05,0.25,0.5,0.75,0.95}', "where" jsonb DEFAULT '{}',
	label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_percentiles_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_quantiles(text, text, float8[], jsonb, text, float8) IS
	'quantiles of a column of a release, with intervals: the least value that so large a share of records does not exceed. where and errors as race_count, 22003 for p below 0 or above 1';

CREATE TYPE _racepriv.race_release_modes_result AS (
	mode int, "column" text, x float8, density float8, prominence float8, label text, lower float8, upper float8, "text" text, kernel_density float8,
	lower_text text, upper_text text);
COMMENT ON TYPE _racepriv.race_release_modes_result IS 'a row of the result of race_modes by the name of a release';
COMMENT ON COLUMN _racepriv.race_release_modes_result.mode IS 'the number of the mode: 1 is the most prominent';
COMMENT ON COLUMN _racepriv.race_release_modes_result."column" IS 'a column, by its name in race_catalog';
COMMENT ON COLUMN _racepriv.race_release_modes_result.x IS 'where the mode is in this column';
COMMENT ON COLUMN _racepriv.race_release_modes_result.density IS 'of a release by columns, the probability density there, per unit of the column';
COMMENT ON COLUMN _racepriv.race_release_modes_result.prominence IS 'the density, or kernel density, less that of the highest saddle on the way to a denser mode; of the densest mode that itself';
COMMENT ON COLUMN _racepriv.race_release_modes_result.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN _racepriv.race_release_modes_result.lower IS 'of a release by columns, where the mode begins; dates are numbers as in race_quantiles';
COMMENT ON COLUMN _racepriv.race_release_modes_result.upper IS 'and where it ends';
COMMENT ON COLUMN _racepriv.race_release_modes_result."text" IS 'x as text of the type of the column';
COMMENT ON COLUMN _racepriv.race_release_modes_result.kernel_density IS 'of a release of a sketch, the kernel density there, as race_kde';
COMMENT ON COLUMN _racepriv.race_release_modes_result.lower_text IS 'of a date, time or interval, lower as text; NULL for numbers';
COMMENT ON COLUMN _racepriv.race_release_modes_result.upper_text IS 'and upper';

CREATE FUNCTION _racepriv._race_modes_of_sketches(release text, max int, label text, "column" text)
	RETURNS SETOF _racepriv.race_release_modes_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT m.mode::int, coalesce(c.columns[x.i], x.i::text), x.x, NULL::float8, m.prominence, l.label, NULL::float8, NULL::float8, x.x::text, m.kernel_density,
		NULL::text, NULL::text
	FROM (SELECT r.columns FROM _racepriv.race_releases r
			WHERE r.name = (SELECT p.name FROM _racepriv._race_period(release) p) ORDER BY r.version DESC, r.part LIMIT 1) c
		RIGHT JOIN _racepriv._race_labels(release, label) l ON true
		CROSS JOIN LATERAL _racepriv._race_modes(_racepriv._race_model(_racepriv._race_released(release, l.label)), max)
			WITH ORDINALITY m (at, kernel_density, prominence, mode)
		LEFT JOIN LATERAL unnest(m.at) WITH ORDINALITY x (x, i) ON true
	WHERE "column" IS NULL OR x.i = _racepriv._race_column(release, "column");
END $$;
COMMENT ON FUNCTION _racepriv._race_modes_of_sketches(text, int, text, text) IS 'race_modes of a release of sketches';

CREATE FUNCTION @extschema@.race_modes(release text, max int DEFAULT 10, label text DEFAULT NULL, "column" text DEFAULT NULL)
	RETURNS SETOF _racepriv.race_release_modes_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_modes(text, int, text, text) IS
	'where records are densest. Of a release by columns, modes of each number or a column that neither noise nor chance explains, x NULL if none; of others, a row for each column of a mode, by label';

CREATE TYPE _racepriv.race_outliers_result AS (point int, typicality float8, share float8, kernel_density float8, label text, lower float8, upper float8, frequency float8);
COMMENT ON TYPE _racepriv.race_outliers_result IS 'a row of the result of race_outliers';
COMMENT ON COLUMN _racepriv.race_outliers_result.point IS 'the number of the point, from 1 on';
COMMENT ON COLUMN _racepriv.race_outliers_result.typicality IS 'the frequency, or kernel density, over that of the average record, as race_typicality: near 0 is an anomaly';
COMMENT ON COLUMN _racepriv.race_outliers_result.share IS 'the share of records that are less typical: compare it with a threshold such as 0.01. NULL without a model';
COMMENT ON COLUMN _racepriv.race_outliers_result.kernel_density IS 'of a release of a sketch, the kernel density there, as race_kde';
COMMENT ON COLUMN _racepriv.race_outliers_result.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN _racepriv.race_outliers_result.lower IS 'of a release by columns, the lower end of the confidence interval of share';
COMMENT ON COLUMN _racepriv.race_outliers_result.upper IS 'the upper end';
COMMENT ON COLUMN _racepriv.race_outliers_result.frequency IS 'of a release by columns, the share of records that have these values, numbers as in race_crosstab';

CREATE FUNCTION _racepriv._race_outliers_of_sketches(release text, records anycompatible, label text, confidence float8)
	RETURNS SETOF _racepriv.race_outliers_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	points float8[];
	dims int;
BEGIN
	-- a release that is not there is told before what is wrong with points
	SELECT count(*), CASE WHEN count(*) > 0 THEN records::text END::float8[] INTO dims, points
	FROM (SELECT _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, label) l LIMIT 1) s (sketch)
		CROSS JOIN LATERAL _racepriv._race_columns(s.sketch);
	IF cardinality(points) % nullif(dims, 0) <> 0 OR array_ndims(points) > 2
		OR array_ndims(points) = 2 AND array_length(points, 2) <> dims
	THEN
		RAISE EXCEPTION 'points must be an array of % numbers for each point', dims
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN QUERY SELECT p.point, t.typicality, t.share, t.kernel_density, l.label, NULL::float8, NULL::float8, NULL::float8
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
		CROSS JOIN (SELECT ((n.n - 1) / dims + 1)::int, array_agg(n.x ORDER BY n.n)
			FROM unnest(points) WITH ORDINALITY n (x, n) GROUP BY 1) p (point, x)
		CROSS JOIN LATERAL _racepriv._race_typicality(s.sketch, p.x) t
	ORDER BY p.point, l.label COLLATE "C";
END $$;
COMMENT ON FUNCTION _racepriv._race_outliers_of_sketches(text, anycompatible, text, float8) IS 'race_outliers of a release of sketches';

CREATE FUNCTION @extschema@.race_outliers(release text, records anycompatible, label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_outliers_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION @extschema@.race_outliers(text, anycompatible, text, float8) IS
	'how typical records are among those of a release: {"age": 30, "town": "Rome"}, or an array of such; of a sketch {{1,2},{3,4}}, or all numbers in a row. Errors as race_count, 22023 for points of another length';

CREATE TYPE _racepriv.race_versions_result AS (
	"time" timestamptz, version int, count float8, epsilon float8,
	distance float8, squared float8, standard_error float8, p_value float8, label text);
COMMENT ON TYPE _racepriv.race_versions_result IS 'a row of the result of race_versions';
COMMENT ON COLUMN _racepriv.race_versions_result."time" IS 'when the version was charged, before its data were read';
COMMENT ON COLUMN _racepriv.race_versions_result.version IS 'the version';
COMMENT ON COLUMN _racepriv.race_versions_result.count IS 'its noisy number of records';
COMMENT ON COLUMN _racepriv.race_versions_result.epsilon IS 'its true epsilon';
COMMENT ON COLUMN _racepriv.race_versions_result.distance IS 'the distance to the version before, as race_distance; NULL for the first';
COMMENT ON COLUMN _racepriv.race_versions_result.squared IS 'the squared distance, an unbiased estimate, which may be negative; of a release by columns at most that';
COMMENT ON COLUMN _racepriv.race_versions_result.standard_error IS 'the standard error of squared';
COMMENT ON COLUMN _racepriv.race_versions_result.p_value IS 'the probability of such a distance or more if nothing has changed. Versions with records in common differ less than it supposes: then it is too high';
COMMENT ON COLUMN _racepriv.race_versions_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION _racepriv._race_versions(release text, label text)
	RETURNS SETOF _racepriv.race_versions_result
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM _racepriv._race_released(_race_versions.release, l.label) FROM _racepriv._race_labels(release, label) l;		-- says if there is none
	RETURN QUERY
	WITH versions AS (
		SELECT r.version, r.label, coalesce(upper(r.during) AT TIME ZONE 'UTC', r.released_at) AS released_at,
			dense_rank() OVER (ORDER BY r.version) AS place,
			r.sketch, CASE WHEN NOT d.domains->0 ? 'vector' THEN d.domains END AS domains,
			p.first, p.after
		FROM _racepriv._race_period(release) p JOIN _racepriv.race_releases r ON r.name = p.name
			CROSS JOIN LATERAL _racepriv._race_domains(r.sketch) d (domains)
		WHERE (_race_versions.label IS NULL OR r.label = _race_versions.label)
			-- of a series, single intervals
			AND (r.during IS NULL OR NOT EXISTS (SELECT FROM _racepriv.race_releases s WHERE s.name = r.name
				AND lower(s.during) = lower(r.during) AND upper(s.during) < upper(r.during)))
	), compared AS (
		SELECT v.*, CASE WHEN lag(v.place) OVER w = v.place - 1 THEN lag(v.sketch) OVER w END AS before
		FROM versions v WINDOW w AS (PARTITION BY v.label ORDER BY v.place))
	SELECT v.released_at, v.version, greatest((_racepriv._race_records(v.sketch)).count, 0::float8), i.epsilon, d.distance, d.squared, d.standard_error, d.p_value, v.label
	FROM compared v CROSS JOIN LATERAL _racepriv._race_info(v.sketch) i
		LEFT JOIN LATERAL (
			SELECT m.distance, m.squared, m.standard_error, m.p_value
			FROM _racepriv._race_distance(CASE WHEN i.kernel <> 'moments' AND v.domains IS NULL THEN v.sketch END, v.before) m
			WHERE v.domains IS NULL
			UNION ALL
			-- the kernel is the share of columns whose values are in the same category, or twentieth of the range.  A difference of
			-- shares has the variance of noise and, if nothing has changed, that of two samples: h p (1 - p).  Columns may depend
			-- on each other, so that the errors of their sums are added.
			SELECT sqrt(greatest(s.sum - s.mean, 0::float8)), s.sum - s.mean, s.error, _racepriv._race_sum_p_value(s.sum, s.mean, s.error)
			FROM _racepriv._race_tables_count(CASE WHEN v.domains IS NOT NULL THEN v.sketch END, '{}', 0.95) n
				CROSS JOIN LATERAL _racepriv._race_tables_count(CASE WHEN v.domains IS NOT NULL THEN v.before END, '{}', 0.95) m
				CROSS JOIN LATERAL (SELECT 1 / n.count + 1 / m.count AS h) k
				CROSS JOIN LATERAL (
					SELECT avg(c.sum) AS sum, avg(c.mean) AS mean, avg(c.error) AS error
					FROM jsonb_array_elements(v.domains) d
						CROSS JOIN LATERAL (SELECT CASE WHEN d->>'kind' = 'number' THEN 20 END AS bins) b
						CROSS JOIN LATERAL (
						SELECT sum(x.d ^ 2) AS sum, sum(x.v - k.h * x.p ^ 2) AS mean,
							sqrt(2 * (sum(x.v ^ 2) - 2 * k.h * sum(x.v * x.p ^ 2) + (k.h * sum(x.p ^ 2)) ^ 2)) AS error
						FROM _racepriv._race_tables_histogram(v.sketch, d->>'name', NULL, b.bins, '{}', b.bins IS NOT NULL, false, 0.95) f
							JOIN _racepriv._race_tables_histogram(v.before, d->>'name', NULL, b.bins, '{}', b.bins IS NOT NULL, false, 0.95) g
								ON g.value IS NOT DISTINCT FROM f.value
							CROSS JOIN LATERAL (SELECT f.count / n.count - g.count / m.count AS d, (f.count + g.count) / (n.count + m.count) AS p) s
							CROSS JOIN LATERAL (SELECT s.d, s.p, k.h * s.p + (((f.upper - f.count) / n.count) ^ 2
								+ ((g.upper - g.count) / m.count) ^ 2) / _racepriv._race_normal_quantile(0.95) ^ 2 AS v) x) c
					WHERE NOT d ? 'measure') s
			WHERE n.count > 0 AND m.count > 0) d ON true
	WHERE v.first IS NULL OR v.place > v.first AND v.place <= v.after
	ORDER BY v.label COLLATE "C", v.version;
END $$;
COMMENT ON FUNCTION _racepriv._race_versions(text, text) IS 'the body of race_versions';

CREATE FUNCTION @extschema@.race_versions(release text, label text DEFAULT NULL)
	RETURNS SETOF _racepriv.race_versions_result
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION @extschema@.race_versions(text, text) IS
	'a row for each version of a release and label, or interval of a series, whose end is the time: records, and the distance to the one before. Moments have counts alone. Errors: 42704';
