-- The entry of each public object of the extension in doc/reference.md, as the catalog
-- tells it: one row (kind and name, text).  doc/make_reference and the test
-- 065_reference.pl read it, as JSON lines.
LOAD 'racepriv';
SET search_path = public;
WITH members AS (
	SELECT classid, objid FROM pg_depend
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release'))
), -- as PostgreSQL writes it, but for the casts of defaults
routines AS (
	SELECT p.oid, p.proname, regexp_replace(
			regexp_replace(pg_get_function_arguments(p.oid), '(DEFAULT (NULL|''[^'']*''))::[a-z_ ]+(\[\])?', '\1', 'g'), '\mIN ', '', 'g') AS arguments,
		CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END AS kind,
		CASE WHEN p.prokind <> 'p' THEN ' → ' || pg_get_function_result(p.oid) ELSE '' END AS result
	FROM pg_proc p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid WHERE p.proname !~ '^_race_'
), columns AS (
	SELECT attrelid AS class, string_agg(format(E'\n  - `%s %s`: %s', attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum)), '' ORDER BY attnum) AS lines
	FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped GROUP BY attrelid
), entries AS (
	SELECT proname AS name, kind, format(E'- `%s(%s)%s`  \n  %s: %s.', proname, arguments, result, initcap(kind), obj_description(oid, 'pg_proc')) AS entry
	FROM routines
	UNION ALL
	SELECT t.typname, 'type', format(E'- `%s`  \n  Type: %s.%s', t.typname, obj_description(t.oid, 'pg_type'), lines)
	FROM pg_type t JOIN members ON classid = 'pg_type'::regclass AND objid = t.oid
		LEFT JOIN pg_class c ON c.oid = t.typrelid LEFT JOIN columns ON class = c.oid
	WHERE t.typtype IN ('b', 'c') AND t.typelem = 0 AND c.relkind IS DISTINCT FROM 'r' AND c.relkind IS DISTINCT FROM 'v'
	UNION ALL
	SELECT o.oprname, 'operator', format(E'- `%s %s %s → %s`  \n  Operator: %s.', o.oprleft::regtype, o.oprname, o.oprright::regtype, o.oprresult::regtype, obj_description(o.oid, 'pg_operator'))
	FROM pg_operator o JOIN members ON classid = 'pg_operator'::regclass AND objid = o.oid
	UNION ALL
	SELECT c.relname, k.kind, format(E'- `%s`  \n  %s: %s.%s', CASE c.relnamespace WHEN '_racepriv'::regnamespace THEN '_racepriv.' ELSE '' END || c.relname, initcap(k.kind), obj_description(c.oid, 'pg_class'), lines)
	FROM pg_class c JOIN members ON classid = 'pg_class'::regclass AND objid = c.oid
		JOIN (VALUES ('r', 'table'), ('v', 'view')) k (relkind, kind) ON k.relkind = c.relkind LEFT JOIN columns ON class = c.oid
	WHERE c.relname !~ '^_race_'
	UNION ALL
	SELECT name, 'setting', format(E'- `%s`, by default `%s%s`  \n  Setting: %s %s', name, boot_val, unit, short_desc, extra_desc)
	FROM pg_settings WHERE name LIKE 'racepriv.%'
)
SELECT jsonb_build_object('name', kind || ' ' || name, 'entry', string_agg(entry, E'\n' ORDER BY length(entry), entry COLLATE "C"))
FROM entries GROUP BY kind, name ORDER BY kind, name COLLATE "C";
