-- ------------------------------------------------------------------------
-- Public domains of columns: from the schema, and from what their owner says

CREATE TABLE _racepriv.race_descriptions (
	dataset text NOT NULL,
	column_name name NOT NULL,
	revision int NOT NULL CHECK (revision >= 1),
	type text,
	lower float8,
	upper float8,
	step float8 CHECK (step > 0::float8),
	categories text[],
	unit text,
	description text,
	public_table text,
	described_by name NOT NULL,
	described_at timestamptz NOT NULL,
	epsilon float8,
	PRIMARY KEY (dataset, column_name, revision),
	CHECK ((lower IS NULL) = (upper IS NULL))
);
COMMENT ON TABLE _racepriv.race_descriptions IS
	'what owners have said of columns (race_describe), append-only: the last revision holds';
COMMENT ON COLUMN _racepriv.race_descriptions.dataset IS 'the dataset';
COMMENT ON COLUMN _racepriv.race_descriptions.column_name IS 'the column of its relation';
COMMENT ON COLUMN _racepriv.race_descriptions.revision IS '1, and one more for each time';
COMMENT ON COLUMN _racepriv.race_descriptions.type IS 'the type that the column had then, without SQL domains; NULL if nothing was said of its values';
COMMENT ON COLUMN _racepriv.race_descriptions.lower IS 'the least value: of dates days, of timestamps seconds since 2000-01-01 in UTC, of intervals seconds; NULL if the schema says it';
COMMENT ON COLUMN _racepriv.race_descriptions.upper IS 'the greatest value, in the same way';
COMMENT ON COLUMN _racepriv.race_descriptions.step IS 'the width of the cells that values are counted in; NULL if it follows from the bounds';
COMMENT ON COLUMN _racepriv.race_descriptions.categories IS 'the categories; NULL if the schema says them';
COMMENT ON COLUMN _racepriv.race_descriptions.unit IS 'what the values are measured in';
COMMENT ON COLUMN _racepriv.race_descriptions.description IS 'what the values mean';
COMMENT ON COLUMN _racepriv.race_descriptions.public_table IS 'the public table that the categories were read from; NULL for none';
COMMENT ON COLUMN _racepriv.race_descriptions.described_by IS 'the role that said it';
COMMENT ON COLUMN _racepriv.race_descriptions.described_at IS 'when';
COMMENT ON COLUMN _racepriv.race_descriptions.epsilon IS 'what bounds by noisy counts cost; NULL where the owner said them';
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON _racepriv.race_descriptions
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_descriptions', '');

CREATE FUNCTION _racepriv._race_domain(
	relation oid, column_number smallint, described_type text, described_lower float8, described_upper float8,
	described_step float8, described_categories text[],
	OUT type text, OUT domain jsonb, OUT kind text, OUT lower text, OUT upper text, OUT step text,
	OUT categories text[], OUT cells int, OUT source text, OUT reason text, OUT arguments text)
	RETURNS record AS 'MODULE_PATHNAME', 'race_domain' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
REVOKE EXECUTE ON FUNCTION _racepriv._race_domain(oid, smallint, text, float8, float8, float8, text[]) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_domain(oid, smallint, text, float8, float8, float8, text[]) IS
	'the domain of a column by CHECK constraints, types and a description; if it has none the reason, and what race_describe needs. Conditions are read, never evaluated';

CREATE FUNCTION _racepriv._race_columns_of_dataset(dataset text, relation oid, columns text[])
	RETURNS TABLE (column_name name, type text, kind text, lower text, upper text, step text, categories text[],
		nulls boolean, others boolean, cells int, unit text, description text, source text, reason text, hint text, domain jsonb)
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT a.attname, d.type, d.kind, d.lower, d.upper, d.step, d.categories,
		CASE WHEN d.reason IS NULL THEN (d.domain->>'null')::boolean END, CASE WHEN d.reason IS NULL THEN (d.domain->>'other')::boolean END, d.cells, s.unit, s.description,
		CASE WHEN s.public_table IS NOT NULL AND d.source = 'described' THEN 'public table ' || s.public_table
			WHEN s.epsilon IS NOT NULL AND d.source = 'described' THEN 'noisy counts' ELSE d.source END,
		d.reason, CASE WHEN d.arguments IS NOT NULL THEN format('CALL race_describe(%L, %L, %s)', _race_columns_of_dataset.dataset, a.attname,
			coalesce('public_table => ' || quote_literal(f.name), d.arguments)) END, d.domain
	FROM pg_attribute a
	LEFT JOIN LATERAL (
		SELECT * FROM _racepriv.race_descriptions r
		WHERE r.dataset = _race_columns_of_dataset.dataset AND r.column_name = a.attname
		ORDER BY r.revision DESC LIMIT 1) s ON true
	CROSS JOIN LATERAL _racepriv._race_domain(relation, a.attnum, s.type, s.lower, s.upper, s.step, s.categories) d
	LEFT JOIN LATERAL (
		SELECT c.confrelid::regclass::text AS name
		FROM pg_constraint c JOIN _racepriv.race_datasets p ON p.dataset = _race_columns_of_dataset.dataset
		WHERE d.arguments LIKE 'categories%' AND c.contype = 'f' AND c.conrelid = relation AND c.conkey = ARRAY[a.attnum]
			AND c.confrelid::regclass::text = ANY (p.public_tables) LIMIT 1) f ON true
	WHERE a.attrelid = relation AND a.attnum > 0::smallint AND NOT a.attisdropped AND (columns IS NULL OR a.attname::text COLLATE "C" = ANY (columns))
	ORDER BY a.attnum
$$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_columns_of_dataset(text, oid, text[]) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_columns_of_dataset(text, oid, text[]) IS
	'what is known of some columns, or all, of the relation of a dataset; where nothing is, the reason, and the statement that helps';

CREATE FUNCTION _racepriv._race_columns_seen()
	RETURNS TABLE (dataset text, column_name name, type text, kind text, lower text, upper text, step text, categories text[],
		nulls boolean, others boolean, cells int, unit text, description text, source text, reason text)
	AS 'MODULE_PATHNAME', 'race_columns_seen' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_columns_seen() IS
	'the rows of race_columns: of datasets whose relation the caller may read';

CREATE VIEW race_columns AS
SELECT dataset, column_name, type, kind, lower, upper, step, categories, nulls, others, cells, unit, description, source,
	nullif(reason, ''::text) AS reason
FROM _racepriv._race_columns_seen();
COMMENT ON VIEW race_columns IS
	'the columns of the datasets whose relation you may read, and which values each is counted by: what the schema says, or its owner (race_describe)';
COMMENT ON COLUMN race_columns.dataset IS 'the dataset';
COMMENT ON COLUMN race_columns.column_name IS 'the column of its relation';
COMMENT ON COLUMN race_columns.type IS 'its type, without SQL domains';
COMMENT ON COLUMN race_columns.kind IS 'number or category; NULL if no domain is known';
COMMENT ON COLUMN race_columns.lower IS 'the least number; smaller ones are counted as this one';
COMMENT ON COLUMN race_columns.upper IS 'the greatest number; larger ones are counted as this one';
COMMENT ON COLUMN race_columns.step IS 'the width of the cells that numbers are counted in';
COMMENT ON COLUMN race_columns.categories IS 'the categories';
COMMENT ON COLUMN race_columns.nulls IS 'whether missing values, NULL and NaN, are counted for themselves: unless the schema excludes both';
COMMENT ON COLUMN race_columns.others IS 'whether values that are no category are counted, together: where the schema does not exclude them';
COMMENT ON COLUMN race_columns.cells IS 'how many counters a table of this column has';
COMMENT ON COLUMN race_columns.unit IS 'what the values are measured in';
COMMENT ON COLUMN race_columns.description IS 'what the values mean';
COMMENT ON COLUMN race_columns.source IS 'what says so: boolean, enum, check, domain (a SQL domain), described, noisy counts, or a public table';
COMMENT ON COLUMN race_columns.reason IS 'why the column has no domain, and the statement that gives it one; NULL if it has one';

CREATE FUNCTION _racepriv._race_describe(
	actor name, dataset text, column_name name, lower float8, upper float8, step float8, categories text[],
	unit text, description text, public_table regclass, epsilon float8) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
	most_bytes CONSTANT int := 200;		-- of a unit or a category
	most_description CONSTANT int := 10000;
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	told CONSTANT boolean := lower IS NOT NULL OR step IS NOT NULL OR categories IS NOT NULL;
	known record;
BEGIN
	PERFORM _racepriv._race_check_owner(actor, ARRAY[d.relation::regclass]);
	IF octet_length(unit) > most_bytes OR EXISTS (SELECT FROM unnest(categories) c WHERE octet_length(c) > most_bytes) THEN
		RAISE EXCEPTION 'a unit or a category can have at most % bytes', most_bytes USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF octet_length(description) > most_description THEN
		RAISE EXCEPTION 'a description can have at most % bytes', most_description USING ERRCODE = 'program_limit_exceeded';
	END IF;
	PERFORM _racepriv._race_check_shown('a unit', ARRAY[unit], true);
	PERFORM _racepriv._race_check_shown('a category', categories, false);
	PERFORM _racepriv._race_check_shown('a description', ARRAY[translate(description, E'\n\t', '')], false);
	IF cardinality(categories) = 0 OR array_ndims(categories) <> 1
		OR cardinality(categories) <> (SELECT count(DISTINCT c COLLATE "C") FROM unnest(categories) c)
	THEN
		RAISE EXCEPTION 'categories must be a list of different texts' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'For example categories => ''{north,south}''.';
	END IF;
	PERFORM _racepriv._race_lock_tables('_racepriv.race_descriptions'::regclass, ARRAY[d.relation::regclass], true);
	INSERT INTO _racepriv.race_descriptions
	SELECT dataset, column_name, coalesce((SELECT max(r.revision) FROM _racepriv.race_descriptions r
			WHERE r.dataset = _race_describe.dataset AND r.column_name = _race_describe.column_name), 0) + 1,
		CASE WHEN told THEN k.type END, lower, upper, step, categories, unit, description,
		public_table::text, actor, clock_timestamp(), epsilon
	FROM _racepriv._race_columns_of_dataset(dataset, d.relation, ARRAY[column_name::text]) k;
	SELECT k.reason, k.hint INTO known
	FROM _racepriv._race_columns_of_dataset(dataset, d.relation, ARRAY[column_name::text]) k;
	IF told AND known.reason IS NOT NULL THEN
		RAISE EXCEPTION 'column "%" has no domain so: %', column_name, known.reason USING ERRCODE = 'invalid_parameter_value',
			HINT = coalesce(known.hint, CASE WHEN lower > upper THEN 'The lower bound comes first.' ELSE 'Describe it otherwise.' END);
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_describe(name, text, name, float8, float8, float8, text[], text, text, regclass, float8) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_describe(name, text, name, float8, float8, float8, text[], text, text, regclass, float8) IS
	'race_describe for a role that owns the relation';

CREATE PROCEDURE race_describe(
	dataset text, column_name name, lower anycompatible DEFAULT NULL, upper anycompatible DEFAULT NULL,
	categories text[] DEFAULT NULL, unit text DEFAULT NULL, step "any" DEFAULT NULL,
	description text DEFAULT NULL, public_table regclass DEFAULT NULL, bounds text DEFAULT NULL, epsilon float8 DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE race_describe(text, name, anycompatible, anycompatible, text[], text, "any", text, regclass, text, float8) TO PUBLIC;
COMMENT ON PROCEDURE race_describe(text, name, anycompatible, anycompatible, text[], text, "any", text, regclass, text, float8) IS
	'says which values a column has, where its schema does not: bounds and a step, or categories, none depending on the data, or bounds by noisy counts. Replaces what was said. Errors: 42501 unless you own the relation, 22023';

-- What a release by columns needs to know
CREATE FUNCTION _racepriv._race_release_domains(
	dataset text, columns text[], measure text, delta float8, vector boolean,
	OUT domains jsonb, OUT units text[], OUT names text[], OUT params text)
	RETURNS record LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
DECLARE
	most_columns CONSTANT int := 99;
	most_numbers CONSTANT int := 1023;		-- of moments,
	most_bound CONSTANT float8 := 1e100;	-- and their bounds
	most_fine CONSTANT int := 50;	-- more columns have groups of numbers that are twice as wide: a quarter of the counters
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	c record;
	flags text[];		-- names of the numbers of a column that are 0 or 1,
	lower float8[];		-- and bounds of all
	upper float8[];
BEGIN
	IF cardinality(columns) = 0 OR array_ndims(columns) <> 1
		OR EXISTS (SELECT FROM unnest(columns) n GROUP BY n COLLATE "C" HAVING count(*) > 1)
	THEN
		RAISE EXCEPTION 'columns must be a list of different names' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'For example columns => ''{age,town}''; race_columns shows which there are.';
	END IF;
	IF array_position(columns, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'the name of a column must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF cardinality(columns) + (measure IS NOT NULL)::int > most_columns THEN
		RAISE EXCEPTION 'a release can have at most % columns, with a measure', most_columns USING ERRCODE = 'program_limit_exceeded';
	END IF;
	domains := '[]';
	FOR c IN SELECT n.name, n.place > cardinality(columns) AS is_measure, k.*
		FROM unnest(columns || measure) WITH ORDINALITY n (name, place)
		LEFT JOIN _racepriv._race_columns_of_dataset(dataset, d.relation, columns || measure) k
			ON k.column_name::text COLLATE "C" = n.name
		WHERE n.name IS NOT NULL
		ORDER BY n.place
	LOOP
		IF c.column_name IS NULL THEN
			RAISE EXCEPTION 'dataset "%" has no column "%"', dataset, left(c.name, 64) USING ERRCODE = 'undefined_column',
				HINT = 'race_columns shows which there are.';
		ELSIF c.reason IS NOT NULL AND (c.domain IS NULL OR delta = 0.0::float8) THEN
			RAISE EXCEPTION 'column "%" of dataset "%" has no public domain', c.name, dataset USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('%s%s. Nothing was read and nothing charged.', upper(left(c.reason, 1)), substr(c.reason, 2)),
				HINT = coalesce('Its owner can say it: ' || c.hint || CASE WHEN c.domain IS NOT NULL THEN
					'; or write delta => 1e-6, and the release chooses the categories that enough persons have'
					WHEN c.hint LIKE '%upper%' THEN '; or find them by noisy counts: bounds => ''private'', epsilon => 0.05' ELSE '' END,
					'Leave it out, or protect a view in which it is of another type.');
		END IF;
		IF c.is_measure AND c.kind <> 'number' THEN
			RAISE EXCEPTION 'measure "%" of dataset "%" is no number', c.name, dataset USING ERRCODE = 'datatype_mismatch',
				DETAIL = 'A measure is a number whose mean is wanted, for the values of columns. Nothing was read and nothing charged.',
				HINT = 'race_columns shows the kind of each column.';
		END IF;
		IF vector AND c.kind = 'number' AND ((c.domain->>'lower')::float8 = (c.domain->>'upper')::float8
			OR greatest(abs((c.domain->>'lower')::float8), abs((c.domain->>'upper')::float8)) > most_bound) THEN
			RAISE EXCEPTION 'moments cannot have column "%" of dataset "%", which is from % to %', c.name, dataset, c.lower, c.upper
				USING ERRCODE = 'invalid_parameter_value',
					DETAIL = format('Its bounds must differ, and lie between -%1$s and %1$s. Nothing was read and nothing charged.', most_bound),
					HINT = 'Leave it out, or describe it by other bounds (race_describe).';
		END IF;
		PERFORM _racepriv._race_check_shown(format('a category or the type of column "%s"', c.name), c.categories || c.type, false);
		domains := domains || jsonb_build_array(CASE WHEN c.is_measure THEN
			c.domain || jsonb_build_object('measure', true, 'group', 0, 'single', 0, 'cells', 2 + c.nulls::int)	-- parts of cells (contingency.h)
			WHEN vector THEN c.domain || '{"vector": true}' ELSE c.domain END);
		IF NOT vector OR c.kind = 'number' THEN
			names := names || CASE WHEN c.is_measure THEN 'mean of ' || c.name ELSE c.name END;
			units := units || c.unit;
			lower := lower || (c.domain->>'lower')::float8;
			upper := upper || (c.domain->>'upper')::float8;
		END IF;
		IF vector THEN
			flags := array_remove(ARRAY(SELECT c.name || ' = ' || v FROM unnest(c.categories) v)
				|| CASE WHEN c.nulls THEN c.name || ' is null' END, NULL);
			names := names || flags;
			units := units || array_fill(NULL::text, ARRAY[cardinality(flags)]);
			-- 0 and 1 from -1 to 1: a record has few numbers that are not 0, and less noise beside them
			lower := lower || array_fill(-1::float8, ARRAY[cardinality(flags)]);
			upper := upper || array_fill(1::float8, ARRAY[cardinality(flags)]);
		END IF;
	END LOOP;
	IF vector AND cardinality(names) > most_numbers THEN
		RAISE EXCEPTION 'moments can be of at most % numbers, and these columns have %', most_numbers, cardinality(names)
			USING ERRCODE = 'program_limit_exceeded',
				DETAIL = 'A column has a number for each category, and one for NULL. Nothing was read and nothing charged.',
				HINT = 'Leave out columns of many categories, or release tables of them: CALL race_release.';
	END IF;
	params := format('moments(dims=%s, targets=0, lower=%s, upper=%s)', cardinality(names), lower, upper);
	IF cardinality(columns) > most_fine THEN
		SELECT jsonb_agg(CASE WHEN e.domain->>'kind' = 'number' AND (e.domain->>'group')::int > 1 THEN
			e.domain || jsonb_build_object('group', 2 * (e.domain->>'group')::int) ELSE e.domain END ORDER BY e.place)
		INTO domains FROM jsonb_array_elements(domains) WITH ORDINALITY e (domain, place);
	END IF;
	IF array_remove(units, NULL) = '{}' THEN
		units := NULL;
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_release_domains(text, text[], text, float8, boolean) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_release_domains(text, text[], text, float8, boolean) IS
	'domains and units of columns, and of a measure after them, or of a vector with its parameters; with a delta, texts may have no categories yet. Errors: 42703 for no such column, 22023 for a column without a domain';

CREATE FUNCTION _racepriv._race_state_categories(
	domains jsonb, categories text[], persons bigint[], error float8, passes bigint, summed bigint, OUT stated jsonb, OUT place int)
	LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_set($1, ARRAY[(d.place - 1)::text], d.domain || jsonb_build_object('categories', coalesce($2, '{}'),
		'cells', cardinality($2) + (d.domain->>'single')::int, 'group', greatest((cardinality($2) + 127) / 128, 1),	-- groups as in columns.c
		'persons', $3, 'persons_error', $4, 'persons_least', $5)
		|| CASE WHEN $6 IS NULL THEN '{}' ELSE jsonb_build_object('persons_summed', $6) END), d.place::int
	FROM jsonb_array_elements($1) WITH ORDINALITY d (domain, place)
	WHERE d.domain ? 'chosen' AND NOT d.domain ? 'categories'
	ORDER BY d.place LIMIT 1
$$;
COMMENT ON FUNCTION _racepriv._race_state_categories(jsonb, text[], bigint[], float8, bigint, bigint) IS
	'domains with the categories of the first column whose categories are still to be chosen: noisy numbers of persons, their standard deviation, the least that passes, how many add up to one of records; and the column';

-- A version that counted other cells could not be compared with those before.
CREATE FUNCTION _racepriv._race_check_domains(name text, dataset text, domains jsonb) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	of_cells CONSTANT text[] := '{categories,cells,group,single,persons,persons_error,persons_least,persons_summed}';		-- which are chosen, and of which a measure has none
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	c record;
BEGIN
	SELECT o.domain->>'name' AS column_name, o.domain AS before, k.domain AS now, coalesce(k.reason, 'the column does not exist') AS reason INTO c
	FROM jsonb_array_elements(domains) WITH ORDINALITY o (domain, place)
		LEFT JOIN _racepriv._race_columns_of_dataset(dataset, d.relation,
			(SELECT array_agg(e->>'name') FROM jsonb_array_elements(domains) e)) k ON k.column_name::text COLLATE "C" = o.domain->>'name'
	-- groups follow from the other columns, too
	WHERE CASE WHEN o.domain ? 'measure' OR (o.domain ? 'chosen' AND k.domain ? 'chosen')
		THEN (k.domain - of_cells) IS DISTINCT FROM (o.domain - 'measure'::text - of_cells)
		ELSE k.domain - 'group'::text IS DISTINCT FROM o.domain - '{group,vector}'::text[] END
	ORDER BY o.place LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'the domain of column "%" is not that of release "%" any more', c.column_name, left(name, 64)
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = CASE WHEN c.now IS NULL THEN format('It has none now: %s.', c.reason)
					ELSE (SELECT format('It was %s; it is %s.', left(string_agg(format('%s %s', b.key, b.value), ', ' ORDER BY b.key), 500),
						left(string_agg(format('%s %s', b.key, coalesce(c.now->>b.key, 'false')), ', ' ORDER BY b.key), 500))
						FROM jsonb_each_text(c.before) b
						WHERE b.key <> ALL ('{cells,group,single,start,measure,vector,persons,persons_error,persons_least,persons_summed}') AND b.value IS DISTINCT FROM c.now->>b.key) END
					|| ' Nothing was read and nothing charged.',
				HINT = 'Describe the column as it was (race_describe), or make a release of another name.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_domains(text, text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_domains(text, text, jsonb) IS
	'raises 55000 if a column has another domain than when a release was made';

CREATE PROCEDURE race_release(
	name text, dataset text, columns text[] DEFAULT NULL, epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, description text DEFAULT NULL,
	measure text DEFAULT NULL, label text DEFAULT NULL, workload text[] DEFAULT NULL, series jsonb DEFAULT NULL,
	weight text DEFAULT NULL, weight_max int DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'race_release_columns' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE race_release(text, text, text[], float8, float8, text, text, text, text[], jsonb, text, int) TO PUBLIC;
COMMENT ON PROCEDURE race_release(text, text, text[], float8, float8, text, text, text, text[], jsonb, text, int) IS
	'charges a dataset''s budget, then stores noisy counts of columns and pairs. measure: a number whose means are wanted; label: what matters most; workload: sets that do; series: intervals of time; weight: of rows. Errors: 42501, 42703, 22023, 42704, 55000';

CREATE FUNCTION race_plan(
	dataset text, columns text[], epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, error float8 DEFAULT NULL, records bigint DEFAULT 10000,
	measure text DEFAULT NULL, label text DEFAULT NULL, workload text[] DEFAULT NULL, weight_max int DEFAULT NULL, OUT question text, OUT expected float8, OUT unit text)
	RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION race_plan(text, text[], float8, float8, float8, bigint, text, text, text[], int) IS
	'which errors a release of these columns would have, with 95 % confidence, of so many records; or the epsilon for an error of one value''s count. Others as race_release. Reads no data. Errors: 42501, 42703, 42704, 22023, 54000';
