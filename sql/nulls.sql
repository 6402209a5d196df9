-- Every function of the extension with one argument NULL and others that are not: none ends the session, and
-- none raises an internal error.
CREATE TABLE nulls (x int);
CREATE FUNCTION sample(type regtype) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN type IN ('float8'::regtype, 'real'::regtype, 'numeric'::regtype) THEN format('''0.5''::%s', type)
		WHEN type IN ('text'::regtype, 'name'::regtype, 'int'::regtype, 'bigint'::regtype, 'smallint'::regtype,
			'oid'::regtype) THEN format('''1''::%s', type)
		WHEN type = 'boolean'::regtype THEN 'true' WHEN type = 'jsonb'::regtype THEN '''{}''::jsonb'
			WHEN type = 'regclass'::regtype THEN '''nulls''::regclass'
		WHEN type = 'race_params'::regtype THEN '''l2(dims=1, bandwidth=1, rows=8, range=8)''::race_params'
		WHEN type
			= 'race_sketch'::regtype THEN '(SELECT race_privatize(race_build(''l2(dims=1, bandwidth=1, rows=8, '
				'range=8)'', ''{1}''::real[]), 1, rows => 1))'
		WHEN type IN ('"any"'::regtype, 'anynonarray'::regtype, 'anycompatible'::regtype) THEN '''{1}''::float8[]'
		WHEN type IN ('anyelement'::regtype) THEN 'NULL::nulls'
		WHEN type::text ~ '\[\]$' AND type <> 'race_sketch[]'::regtype
			AND type <> 'regclass[]'::regtype THEN format('''{1}''::%s', type)
		ELSE format('NULL::%s', CASE type WHEN 'anyarray'::regtype THEN 'int[]' ELSE type::text END) END
$$;
DO $$
DECLARE
	f record;
	state text;
BEGIN
	FOR f IN
		SELECT p.oid::regprocedure AS name, format('SELECT * FROM %s(%s)', p.oid::regproc, string_agg(
			CASE a.place WHEN n.place THEN CASE
				WHEN a.type IN ('"any"'::regtype, 'anynonarray'::regtype,
					'anycompatible'::regtype) THEN 'NULL::float8[]'
				WHEN a.type = 'anyelement'::regtype THEN 'NULL::nulls'
					WHEN a.type = 'anyarray'::regtype THEN 'NULL::int[]' ELSE 'NULL::' || a.type::regtype END
			ELSE sample(a.type) END, ', ' ORDER BY a.place)) AS call
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
				AND e.extname IN ('racepriv', 'racepriv_release'),
			generate_series(1, p.pronargs) n (place), unnest(p.proargtypes) WITH ORDINALITY a (type, place)
		WHERE p.prokind = 'f' AND 'internal'::regtype <> ALL (p.proargtypes)
			AND 'cstring'::regtype <> ALL (p.proargtypes)
			AND p.prorettype NOT IN ('internal'::regtype, 'trigger'::regtype)
		GROUP BY p.oid, n.place ORDER BY p.oid, n.place
	LOOP
		BEGIN
			EXECUTE f.call;
			RAISE 'undone' USING ERRCODE = 'P0001';
		EXCEPTION WHEN others THEN
			GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
			IF state LIKE 'XX%' THEN
				RAISE WARNING '%: %', f.name, SQLERRM;
			END IF;
		END;
	END LOOP;
END $$;
DROP FUNCTION sample(regtype);
DROP TABLE nulls;
