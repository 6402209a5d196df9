-- ------------------------------------------------------------------------
-- Series: a release for each interval of time, and for 8, 64, ... of them together, for one charge.  What a series is
-- stands in the request of its charge; which intervals a value has follows from its number, the version (series.h).

CREATE TABLE _racepriv.race_series_units (
	name text NOT NULL,
	length int NOT NULL CHECK (length >= 0),
	unit uuid NOT NULL,
	records bigint NOT NULL CHECK (records >= 1),
	PRIMARY KEY (name, length, unit)
);
COMMENT ON TABLE _racepriv.race_series_units IS
	'private, and given to no role: how many records of each unit are in the values of a series that have this many intervals; the series bounds them. Length 0: how many values were made';
COMMENT ON COLUMN _racepriv.race_series_units.name IS 'the name of the series';
COMMENT ON COLUMN _racepriv.race_series_units.length IS 'how many intervals the values have; 0 in the one row that counts values, of any length';
COMMENT ON COLUMN _racepriv.race_series_units.unit IS 'a hash of the series and the unit (_race_series_unit); zeros with length 0';
COMMENT ON COLUMN _racepriv.race_series_units.records IS 'how many of its records they have together; with length 0 how many values there are';
CREATE TRIGGER race_no_removal BEFORE DELETE OR TRUNCATE ON _racepriv.race_series_units
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
CREATE TRIGGER race_no_refund BEFORE UPDATE ON _racepriv.race_series_units
	FOR EACH ROW WHEN (new.name <> old.name OR new.length <> old.length OR new.unit <> old.unit OR new.records < old.records)
	EXECUTE FUNCTION _racepriv._race_refuse_change();
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_series_units', '');

CREATE FUNCTION _racepriv._race_series_unit(series uuid, unit text) RETURNS uuid
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'race_series_unit';
COMMENT ON FUNCTION _racepriv._race_series_unit(uuid, text) IS
	'a hash of a unit of a series, which its charge identifies: 16 bytes, however long the text is';
CREATE FUNCTION _racepriv._race_series_take_state(state boolean, unit uuid) RETURNS boolean
	LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'race_series_take_state';
REVOKE EXECUTE ON FUNCTION _racepriv._race_series_take_state(boolean, uuid) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_series_take_state(boolean, uuid) IS
	'the transition function of _race_series_take';
CREATE AGGREGATE _racepriv._race_series_take(unit uuid) (
	SFUNC = _racepriv._race_series_take_state, STYPE = boolean, INITCOND = 'true', PARALLEL = UNSAFE);
COMMENT ON AGGREGATE _racepriv._race_series_take(uuid) IS
	'takes the units of the records of a value of a series, to be stored with it. Errors: 55000 in other queries';

CREATE FUNCTION _racepriv._race_series(series jsonb, by_type regtype, units_have_texts boolean) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET timezone = 'UTC' AS $$
DECLARE
	most_intervals CONSTANT int := 65536;
	keys CONSTANT text[] := '{by,every,starting,until,delay,lengths}';
	every interval;
	delay interval;
	starting timestamp;
	until timestamp;
	intervals int;
	forward boolean;
BEGIN
	IF jsonb_typeof(series) <> 'object' OR series - keys <> '{}' OR jsonb_path_exists(series - 'lengths'::text, '$.* ? (@.type() != "string")')
		OR series ? 'lengths' AND series->>'lengths' !~ '^[1-9]$'
		OR series->>'by' IS NULL OR series->>'every' IS NULL OR series->>'until' IS NULL
	THEN
		RAISE EXCEPTION 'a series needs by, every and until, and may have starting and delay, which are texts, and lengths from 1 to 9' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'For example series => ''{"by": "visited_on", "every": "1 day", "starting": "2026-01-01", "until": "2027-01-01"}''.';
	ELSIF by_type IS NULL THEN
		RAISE EXCEPTION 'there is no column "%"', left(series->>'by', 64) USING ERRCODE = 'undefined_column',
			HINT = 'A series needs a column that says when a record was made.';
	ELSIF by_type NOT IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) THEN
		RAISE EXCEPTION 'column "%" of a series is of type %', left(series->>'by', 64), by_type USING ERRCODE = 'datatype_mismatch',
			HINT = 'It must be a date or a timestamp.';
	ELSIF NOT units_have_texts THEN
		RAISE EXCEPTION 'the unit column of a series must be an integer, a uuid, or a text of a deterministic collation' USING ERRCODE = 'datatype_mismatch';
	END IF;
	every := series->>'every';
	delay := coalesce(series->>'delay', '0');
	until := series->>'until';
	starting := coalesce((series->>'starting')::timestamp, date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC'));
	IF NOT isfinite(starting) OR NOT isfinite(until) OR starting + every <= starting OR starting >= until OR delay < '0'
		OR by_type = 'date'::regtype AND (every <> date_trunc('day', every) OR starting <> date_trunc('day', starting))
	THEN
		RAISE EXCEPTION 'a series needs every above 0, delay not below 0, and starting before until; of dates whole days' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT n.n, (SELECT bool_and(starting + i * every > starting + (i - 1) * every) FROM generate_series(1, n.n) i) INTO intervals, forward
	FROM (SELECT min(i) FROM generate_series(1, most_intervals) i WHERE starting + i * every >= until) n (n);
	IF intervals IS NULL THEN
		RAISE EXCEPTION 'a series can have at most % intervals', most_intervals USING ERRCODE = 'program_limit_exceeded';
	ELSIF NOT forward THEN
		-- months are not equally long
		RAISE EXCEPTION 'interval "%" of a series does not always lead forward', every USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN jsonb_strip_nulls(jsonb_build_object('by', series->>'by', 'type', by_type::text, 'every', every::text, 'delay', delay::text,
		'lengths', (series->>'lengths')::int, 'starting', starting::text, 'until', (starting + intervals * every)::text, 'intervals', intervals));
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_series(jsonb, regtype, boolean) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_series(jsonb, regtype, boolean) IS
	'what is asked of a series, with all that follows from it, in UTC. Errors: 22023, 42703, 42804, 54000';

-- What is counted once must not be counted again as another unit: the bound of all values together holds as long as the unit
-- of a row is computed alike.  Without a unit column, a row must stay in its interval.
CREATE FUNCTION _racepriv._race_series_basis(source jsonb, "column" text, unit boolean, max_contributions int, neighbors text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT (source - 'calls'::text) || jsonb_build_object('column', "column", 'unit', unit, 'max_contributions', max_contributions, 'neighbors', neighbors,
		'copy', (SELECT format('%s %s %s', i.system_identifier, i.database, i.ledger) FROM _racepriv._race_identity() i),
		'of', (SELECT coalesce(jsonb_agg(CASE WHEN a.attfdwoptions IS NULL THEN o.origin ELSE o.origin || jsonb_build_object('options', a.attfdwoptions) END ORDER BY o.n), '[]')
			FROM jsonb_array_elements(source->'of') WITH ORDINALITY o (origin, n)
				LEFT JOIN pg_attribute a ON a.attrelid = (o.origin->>'relation')::oid AND a.attnum = (o.origin->>'number')::smallint),
		'functions', (SELECT coalesce(jsonb_object_agg(p.oid::regprocedure::text, md5(concat_ws(' ', l.lanname, p.provolatile, p.proisstrict, p.probin, p.proconfig, p.prosrc,
				CASE WHEN p.prosrc = '' THEN pg_get_functiondef(p.oid) END))), '{}')	-- a body of SQL that is no text
			FROM jsonb_array_elements_text(source->'calls') f (id) JOIN pg_proc p ON p.oid = f.id::oid JOIN pg_language l ON l.oid = p.prolang))
$$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_series_basis(jsonb, text, boolean, int, text) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_series_basis(jsonb, text, boolean, int, text) IS
	'what the bound of a series depends on: the records of a unit, and how the column is computed (column_source.h), with definitions of functions';

-- The same column: in this copy of the database by its OIDs, where a name may have passed to another one; else by its names.
CREATE FUNCTION _racepriv._race_series_change(before jsonb, after jsonb) RETURNS text
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	names CONSTANT text[] := '{relation,number,table,column}';
	change text;
BEGIN
	SELECT c.change INTO change FROM (
		SELECT 1, k.n, k.key, format('%s of column "%s" was %s, and is %s now.', upper(left(k.what, 1)) || substr(k.what, 2), before->>'column', before->>k.key, coalesce(after->>k.key, 'none'))
		FROM (VALUES (1, 'type', 'the type'), (2, 'collation', 'the collation'), (3, 'expression', 'the expression')) k (n, key, what)
		WHERE before->k.key IS DISTINCT FROM after->k.key
		UNION ALL
		SELECT 2, n, '', CASE WHEN s.same_column THEN format('Column "%s" of %s was %s, and is %s now.', b.origin->>'column', b.origin->>'table', b.origin - names, a.origin - names)
			ELSE format('It was computed from %s, and is from %s now.', s.was, CASE WHEN s.was = s.is_now THEN 'another column of this name' ELSE s.is_now END) END
		FROM jsonb_array_elements(before->'of') WITH ORDINALITY b (origin, n)
			FULL JOIN jsonb_array_elements(after->'of') WITH ORDINALITY a (origin, n) USING (n)
			CROSS JOIN LATERAL (SELECT CASE
					WHEN before->'copy' = after->'copy' AND EXISTS (SELECT FROM pg_class c WHERE c.oid = (b.origin->>'relation')::oid)
						THEN b.origin->'relation' = a.origin->'relation' AND b.origin->'number' = a.origin->'number'
					ELSE (b.origin->'table', b.origin->'column') IS NOT DISTINCT FROM (a.origin->'table', a.origin->'column') END,
				format('%s.%s', b.origin->>'table', b.origin->>'column'), format('%s.%s', a.origin->>'table', a.origin->>'column')) s (same_column, was, is_now)
		WHERE NOT coalesce(s.same_column, false) OR b.origin - names IS DISTINCT FROM a.origin - names
		UNION ALL
		SELECT 3, 0, key, format('Function %s was defined anew.', key)
		FROM jsonb_each(before->'functions') b FULL JOIN jsonb_each(after->'functions') a USING (key)
		WHERE b.value IS DISTINCT FROM a.value
		UNION ALL
		SELECT 4, k.n, k.key, format('%s was %s, and is %s now.', k.key, before->>k.key, after->>k.key)
		FROM unnest('{unit,max_contributions,neighbors}'::text[]) WITH ORDINALITY k (key, n)
		WHERE before->k.key IS DISTINCT FROM after->k.key) c (kind, n, key, change)
	ORDER BY c.kind, c.n, c.key LIMIT 1;
	RETURN change;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_series_change(jsonb, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_series_change(jsonb, jsonb) IS
	'what differs between two results of _race_series_basis, as a sentence; NULL if nothing does';

CREATE FUNCTION _racepriv._race_check_series(name text, series jsonb, basis jsonb, by_type regtype, units_have_texts boolean) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	follows CONSTANT text[] := '{type,intervals,basis}';	-- from the rest
	change text;
	now jsonb;
BEGIN
	IF series->'basis' IS DISTINCT FROM basis THEN
		change := _racepriv._race_series_change(series->'basis', basis);
	END IF;
	IF change IS NULL THEN
		now := _racepriv._race_series(series - follows, by_type, units_have_texts);
	END IF;
	IF change IS NULL AND NOT now @> (series - 'basis'::text) THEN
		SELECT format('%s was %s, and is %s now.', k.key, k.value, coalesce(now->>k.key, 'none')) INTO change
		FROM jsonb_each_text(series - 'basis'::text) k WHERE now->>k.key IS DISTINCT FROM k.value ORDER BY k.key LIMIT 1;
	END IF;
	IF change IS NOT NULL THEN
		RAISE EXCEPTION 'what series "%" counts by has changed', left(name, 64) USING ERRCODE = 'object_not_in_prerequisite_state',
			DETAIL = change || ' Records that were counted could be counted again. Nothing was read.',
			HINT = 'Put it back as it was, or make a series of another name.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_series(text, jsonb, jsonb, regtype, boolean) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_series(text, jsonb, jsonb, regtype, boolean) IS
	'asks all conditions of the creation of a series again. Errors: 55000 if what it counts by has changed, and those of _race_series';
