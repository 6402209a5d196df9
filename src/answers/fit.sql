-- ------------------------------------------------------------------------
-- A fitted model: the distribution over points that explains a whole sketch best.  It is
-- computed from the sketch alone, so that of a private one it costs nothing.

CREATE FUNCTION race_fit(
	sketch race_sketch, points int DEFAULT NULL, seed bigint DEFAULT 0,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS race_sketch AS 'MODULE_PATHNAME', 'race_fit_points'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION race_fit(race_sketch, int, bigint, float8[], float8[]) IS
	'the sketch with a fitted model: points within public bounds (NULL: those of the parameters) whose weights explain all counters best. Questions answer more accurately, at no privacy cost. Kernels of vectors by themselves';

CREATE FUNCTION _racepriv._race_fit_step(internal, race_sketch, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_fit_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _racepriv._race_fit_final(internal) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_fit_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION _racepriv._race_fit_step(internal, race_sketch, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_fit_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_fit(sketch race_sketch, x "any") (
	SFUNC = _racepriv._race_fit_step, STYPE = internal, FINALFUNC = _racepriv._race_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_fit(race_sketch, "any") IS
	'the sketch with a fitted model whose points are some of the records x, which must be public or made up: at most 65536, and the same sketch in all rows. For every kernel and product';

-- generic plans: as a constant of a plan, an array of texts is walked through for each element
CREATE FUNCTION race_fit_categories(sketch race_sketch, categories jsonb) RETURNS race_sketch
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000000
	SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	most CONSTANT int := 4096;
	made CONSTANT int := 16384;
	info record;
	twice record;
	names text[];	-- all lists, one after the other
	sizes int[];
	starts int[];
	strides numeric[];
	n numeric := 1;
BEGIN
	IF jsonb_typeof(categories) <> 'array' OR categories = '[]' OR
		jsonb_path_exists(categories, 'strict $[*] ? (@.type() != "array" || @.size() == 0)') OR
		jsonb_path_exists(categories, 'strict $[*][*] ? (@.type() != "string" && @.type() != "null")')
	THEN
		RAISE EXCEPTION 'categories must be a list of lists of texts' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give one list for each column, as in [["f", "m"], ["north", "south", null]].';
	END IF;
	SELECT kernel, dims, sequence INTO info FROM _racepriv._race_info(sketch);
	IF info.kernel <> 'match' THEN
		RAISE EXCEPTION 'race_fit_categories is for kernel match by itself' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('The kernel is %s.', info.kernel),
			HINT = 'Use the aggregate: SELECT race_fit(sketch, x) over records that there might be.';
	END IF;
	IF jsonb_array_length(categories) <> info.dims THEN
		RAISE EXCEPTION 'expected % % of categories, found %', info.dims, CASE info.dims WHEN 1 THEN 'list' ELSE 'lists' END, jsonb_array_length(categories)
			USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give one list for each column, as in [["f", "m"], ["north", "south", null]].';
	END IF;
	SELECT j, category INTO twice
	FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j), jsonb_array_elements_text(l) category
	GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'list % has a category twice', twice.j USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('The category is %s.', left(coalesce(to_json(twice.category)::text, 'null'), 100));
	END IF;

	names := ARRAY(
		SELECT category FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j), jsonb_array_elements_text(l) WITH ORDINALITY e (category, k)
		ORDER BY j, k);
	sizes := ARRAY(SELECT jsonb_array_length(l) FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j) ORDER BY j);
	starts := ARRAY(SELECT 1 + sum(size) OVER (ORDER BY j) - size FROM unnest(sizes) WITH ORDINALITY s (size, j) ORDER BY j);
	strides := array_fill(n, ARRAY[cardinality(sizes)]);
	FOR j IN REVERSE cardinality(sizes)..1 LOOP
		strides[j] := n;
		n := least(n * sizes[j], 1e18);
	END LOOP;
	-- balanced rows are fitted to others that are made of these
	IF info.sequence = 'balanced' THEN
		n := made;
	ELSIF n > most THEN
		RAISE EXCEPTION 'a model can have at most % candidates', most USING ERRCODE = 'program_limit_exceeded',
			DETAIL = format('The lists make %s rows of categories.', CASE WHEN n < 1e18 THEN n::text ELSE '1e18 or more' END),
			HINT = 'Use the aggregate: SELECT race_fit(sketch, x) over a public sample of them.';
	END IF;
	RETURN (
		SELECT _racepriv._race_fit(sketch, ARRAY(
			SELECT names[starts[j] + CASE info.sequence
				WHEN 'balanced' THEN (hashint8extended(i, j) & 9223372036854775807) % sizes[j]
				ELSE div(i - 1, strides[j]) % sizes[j] END]
			FROM generate_series(1, cardinality(sizes)) j ORDER BY j))
		FROM generate_series(1, n::int) i);
END $$;
COMMENT ON FUNCTION race_fit_categories(race_sketch, jsonb) IS
	'the sketch with a fitted model whose points are the rows of categories that public lists make, a list of texts for each column, as in [["f", "m"], ["north", null]]. For the kernel match by itself';

CREATE TYPE race_points_result AS (x float8[], record text, weight float8);
COMMENT ON TYPE race_points_result IS 'a row of the result of race_points';
COMMENT ON COLUMN race_points_result.x IS 'the point, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_points_result.record IS 'the point as text, of other kernels, as PostgreSQL writes the record that race_fit was given; else NULL';
COMMENT ON COLUMN race_points_result.weight IS 'how many records the point stands for, above 0; all weights add up to the number of records';

CREATE FUNCTION race_points(sketch race_sketch) RETURNS SETOF race_points_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION race_points(race_sketch) IS
	'the points of a fitted model and their weights. They are not records: they lie where the records are dense';

CREATE FUNCTION _racepriv._race_model(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_model(race_sketch) IS
	'a sketch that has a model, or no bounds, as it is; any other fitted within the bounds of its parameters. A session keeps such fits';
