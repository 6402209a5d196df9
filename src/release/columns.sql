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
	step_months int CHECK (step_months > 0),
	epsilon float8,
	PRIMARY KEY (dataset, column_name, revision),
	CHECK ((lower IS NULL) = (upper IS NULL)),
	CHECK (step IS NULL OR step_months IS NULL)
);
COMMENT ON TABLE _racepriv.race_descriptions IS
	'what owners have said of columns (race_describe), append-only: the last revision holds';
COMMENT ON COLUMN _racepriv.race_descriptions.dataset IS 'the dataset';
COMMENT ON COLUMN _racepriv.race_descriptions.column_name IS 'the column of its relation';
COMMENT ON COLUMN _racepriv.race_descriptions.revision IS '1, and one more for each time';
COMMENT ON COLUMN _racepriv.race_descriptions.type IS 'the type that the column had then, without SQL domains; NULL if nothing was said of its values';
COMMENT ON COLUMN _racepriv.race_descriptions.lower IS 'the least value: of dates days, of timestamps seconds since 2000-01-01 in UTC, of intervals seconds; NULL if the schema says it';
COMMENT ON COLUMN _racepriv.race_descriptions.upper IS 'the greatest value, in the same way';
COMMENT ON COLUMN _racepriv.race_descriptions.step IS 'the width of the cells that values are counted in; NULL if it follows from the bounds, or is of months';
COMMENT ON COLUMN _racepriv.race_descriptions.categories IS 'the categories; NULL if the schema says them';
COMMENT ON COLUMN _racepriv.race_descriptions.unit IS 'what the values are measured in';
COMMENT ON COLUMN _racepriv.race_descriptions.description IS 'what the values mean';
COMMENT ON COLUMN _racepriv.race_descriptions.public_table IS 'the public table that the categories were read from; NULL for none';
COMMENT ON COLUMN _racepriv.race_descriptions.described_by IS 'the role that said it';
COMMENT ON COLUMN _racepriv.race_descriptions.described_at IS 'when';
COMMENT ON COLUMN _racepriv.race_descriptions.epsilon IS 'what bounds by noisy counts cost; NULL where the owner said them';
COMMENT ON COLUMN _racepriv.race_descriptions.step_months IS 'the calendar months of a cell, in place of a width';
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON _racepriv.race_descriptions
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_descriptions', '');

CREATE FUNCTION _racepriv._race_columns_of_dataset(dataset text, relation oid, columns text[])
	RETURNS TABLE (column_name name, type text, kind text, lower text, upper text, step text, categories text[],
		nulls boolean, others boolean, cells int, unit text, description text, source text, reason text, hint text, domain jsonb)
	AS 'MODULE_PATHNAME', 'race_columns_of_dataset' LANGUAGE C STABLE PARALLEL UNSAFE COST 10000;
REVOKE EXECUTE ON FUNCTION _racepriv._race_columns_of_dataset(text, oid, text[]) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_columns_of_dataset(text, oid, text[]) IS
	'what is known of some columns, or all, of the relation of a dataset; where nothing is, the reason, and the statement that helps. Conditions are read, never evaluated';

CREATE FUNCTION _racepriv._race_columns_seen()
	RETURNS TABLE (dataset text, column_name name, type text, kind text, lower text, upper text, step text, categories text[],
		nulls boolean, others boolean, cells int, unit text, description text, source text, reason text)
	AS 'MODULE_PATHNAME', 'race_columns_seen' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_columns_seen() IS
	'the rows of race_columns: of datasets whose relation the caller may read';

CREATE VIEW @extschema@.race_columns AS
SELECT dataset, column_name, type, kind, lower, upper, step, categories, nulls, others, cells, unit, description, source,
	nullif(reason, ''::text) AS reason
FROM _racepriv._race_columns_seen();
COMMENT ON VIEW @extschema@.race_columns IS
	'the columns of the datasets whose relation you may read, and which values each is counted by: what the schema says, or its owner (race_describe)';
COMMENT ON COLUMN @extschema@.race_columns.dataset IS 'the dataset';
COMMENT ON COLUMN @extschema@.race_columns.column_name IS 'the column of its relation';
COMMENT ON COLUMN @extschema@.race_columns.type IS 'its type, without SQL domains';
COMMENT ON COLUMN @extschema@.race_columns.kind IS 'number or category; NULL if no domain is known';
COMMENT ON COLUMN @extschema@.race_columns.lower IS 'the least number; smaller ones are counted as this one';
COMMENT ON COLUMN @extschema@.race_columns.upper IS 'the greatest number; larger ones are counted as this one';
COMMENT ON COLUMN @extschema@.race_columns.step IS 'the width of the cells that numbers are counted in';
COMMENT ON COLUMN @extschema@.race_columns.categories IS 'the categories';
COMMENT ON COLUMN @extschema@.race_columns.nulls IS 'whether missing values, NULL and NaN, are counted for themselves: unless the schema excludes both';
COMMENT ON COLUMN @extschema@.race_columns.others IS 'whether values that are no category are counted, together: where the schema does not exclude them';
COMMENT ON COLUMN @extschema@.race_columns.cells IS 'how many counters a table of this column has';
COMMENT ON COLUMN @extschema@.race_columns.unit IS 'what the values are measured in';
COMMENT ON COLUMN @extschema@.race_columns.description IS 'what the values mean';
COMMENT ON COLUMN @extschema@.race_columns.source IS 'what says so: boolean, enum, check, domain (a SQL domain), described, noisy counts, or a public table';
COMMENT ON COLUMN @extschema@.race_columns.reason IS 'why the column has no domain, and the statement that gives it one; NULL if it has one';

CREATE PROCEDURE @extschema@.race_describe(
	dataset text, column_name name, lower anycompatible DEFAULT NULL, upper anycompatible DEFAULT NULL,
	categories text[] DEFAULT NULL, unit text DEFAULT NULL, step "any" DEFAULT NULL,
	description text DEFAULT NULL, public_table regclass DEFAULT NULL, bounds text DEFAULT NULL, epsilon float8 DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE @extschema@.race_describe(text, name, anycompatible, anycompatible, text[], text, "any", text, regclass, text, float8) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_describe(text, name, anycompatible, anycompatible, text[], text, "any", text, regclass, text, float8) IS
	'says which values a column has, where its schema does not: bounds and a step, or categories, none depending on the data, or bounds by noisy counts. Replaces what was said. Errors: 42501 unless you own the relation, 22023';

-- A version that counted other cells could not be compared with those before.
CREATE FUNCTION _racepriv._race_check_domains(name text, domains jsonb, present jsonb) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	of_cells CONSTANT text[] := '{categories,cells,group,single,persons,persons_error,persons_least,persons_summed}';		-- which are chosen, and of which a measure has none
	c record;
BEGIN
	SELECT o.domain->>'name' AS column_name, o.domain AS before, k.domain AS now, coalesce(k.reason, 'the column does not exist') AS reason INTO c
	FROM jsonb_array_elements(domains) WITH ORDINALITY o (domain, place)
		LEFT JOIN jsonb_to_recordset(present) k (name text, domain jsonb, reason text) ON k.name COLLATE "C" = o.domain->>'name'
	-- groups follow from the other columns, too
	WHERE CASE WHEN o.domain ? 'measure' OR (o.domain ? 'chosen' AND k.domain ? 'chosen')
		THEN (k.domain - of_cells) IS DISTINCT FROM (o.domain - 'measure'::text - of_cells)
		ELSE k.domain - 'group'::text IS DISTINCT FROM o.domain - '{group,vector}'::text[] END
	ORDER BY o.place LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'the domain of column "%" is not that of release "%" any more', c.column_name, left(name, 64)
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = CASE WHEN c.now IS NULL THEN format('It has none now: %s.', c.reason)
					ELSE (SELECT format('It had %s; now %s.', left(string_agg(format('%s %s', b.key, b.value), ', ' ORDER BY b.key), 500),
						left(string_agg(format('%s %s', b.key, coalesce(c.now->>b.key, 'false')), ', ' ORDER BY b.key), 500))
						FROM jsonb_each_text(c.before) b
						WHERE b.key <> ALL ('{cells,group,single,start,measure,vector,persons,persons_error,persons_least,persons_summed}') AND b.value IS DISTINCT FROM c.now->>b.key) END
					|| ' Nothing was charged.',
				HINT = 'Describe the column as it was (race_describe), or make a release of another name.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_domains(text, jsonb, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_domains(text, jsonb, jsonb) IS
	'raises 55000 if a column has another domain than when a release was made';

CREATE PROCEDURE @extschema@.race_release(
	name text, dataset text, columns text[] DEFAULT NULL, epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, description text DEFAULT NULL,
	measure text DEFAULT NULL, label text DEFAULT NULL, workload text[] DEFAULT NULL, series jsonb DEFAULT NULL,
	weight text DEFAULT NULL, weight_max int DEFAULT NULL, "where" text DEFAULT NULL, max_contributions int DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE @extschema@.race_release(text, text, text[], float8, float8, text, text, text, text[], jsonb, text, int, text, int) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_release(text, text, text[], float8, float8, text, text, text, text[], jsonb, text, int, text, int) IS
	'charges a dataset''s budget, then stores noisy counts of columns and pairs. measure: whose means are wanted; label: what matters most; workload: sets that do; series: of intervals; weight: of rows; where: which rows. Errors: 42501, 42703, 22023, 42704, 55000';

CREATE FUNCTION @extschema@.race_plan(
	dataset text, columns text[], epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, error float8 DEFAULT NULL, records bigint DEFAULT 10000,
	measure text DEFAULT NULL, label text DEFAULT NULL, workload text[] DEFAULT NULL, weight_max int DEFAULT NULL, max_contributions int DEFAULT NULL, OUT question text, OUT expected float8, OUT unit text)
	RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 10000 ROWS 20;
COMMENT ON FUNCTION @extschema@.race_plan(text, text[], float8, float8, float8, bigint, text, text, text[], int, int) IS
	'which errors a release of these columns would have, with 95 % confidence, of so many records; or the epsilon for an error of one value''s count. Others as race_release. Reads no data. Errors: 42501, 42703, 42704, 22023, 54000';
