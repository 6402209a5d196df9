-- The public surface.  A signature that changes unnoticed changes this output.
CREATE EXTENSION racepriv_release CASCADE;

-- how many objects each extension has; from 16 on, array types and row types of tables belong to it, too
SELECT e.extname, count(*) AS objects, string_agg(DISTINCT o.type, ', ' ORDER BY o.type) AS types
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass,
     pg_identify_object(d.classid, d.objid, 0) o
WHERE e.extname IN ('racepriv', 'racepriv_release') AND d.deptype = 'e'
	AND NOT EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
		WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid AND (t.typcategory = 'A' OR c.relkind <> 'c'))
GROUP BY e.extname ORDER BY e.extname;

-- unaligned, and folded after commas
CREATE FUNCTION pg_temp.folded(text) RETURNS text LANGUAGE sql AS
	$$ SELECT regexp_replace($1, '(.{50,}?,)( |(?! ))', E'\\1\n\t', 'g') $$;
\pset format unaligned
SELECT pg_temp.folded(p.oid::regprocedure::text) AS signature,
       p.prorettype::regtype AS result,
       p.prokind AS kind, p.provolatile AS volatile, p.proparallel AS parallel,
       p.proisstrict AS strict
FROM pg_proc p
JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname IN ('racepriv', 'racepriv_release') AND p.proname NOT LIKE '\_race\_%'
ORDER BY p.proname COLLATE "C", p.oid::regprocedure::text COLLATE "C";

-- names and defaults of what people call
SELECT p.proname, pg_temp.folded(regexp_replace(pg_get_function_arguments(p.oid), '\mIN ', '', 'g')) AS arguments
FROM pg_proc p
JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname IN ('racepriv', 'racepriv_release') AND p.proargnames IS NOT NULL AND p.proname NOT LIKE '\_race\_%'
ORDER BY p.proname COLLATE "C", pg_get_function_arguments(p.oid) COLLATE "C";

-- columns of what they return and see
SELECT c.relname,
	pg_temp.folded(string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum))
		AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relname LIKE 'race\_%' AND c.relkind IN ('c', 'r', 'v') GROUP BY c.relname, c.relnamespace
ORDER BY c.relname COLLATE "C";

-- and what only the extension itself calls
SELECT pg_temp.folded(p.oid::regprocedure::text) AS internal, p.prorettype::regtype AS result
FROM pg_proc p
JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname IN ('racepriv', 'racepriv_release') AND p.proname LIKE '\_race\_%'
ORDER BY p.proname COLLATE "C", p.oid::regprocedure::text COLLATE "C";

-- everything has a comment
SELECT pg_describe_object(d.classid, d.objid, 0) AS without_comment
FROM pg_depend d
JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname IN ('racepriv', 'racepriv_release') AND d.deptype = 'e'
  AND obj_description(d.objid, d.classid::regclass::name) IS NULL
  AND pg_describe_object(d.classid, d.objid, 0) NOT LIKE 'type %[]'
  AND NOT EXISTS (SELECT FROM pg_class c WHERE c.reltype = d.objid AND c.relkind IN ('r', 'v'))
ORDER BY 1;

-- what only those may call who answer for releases
SELECT pg_temp.folded(p.oid::regprocedure::text) AS oid FROM pg_proc p
WHERE p.proname ~ '^_?race_' AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
ORDER BY p.oid::regprocedure::text COLLATE "C";
\pset format aligned

-- whatever is called with NULLs alone answers or raises an error
DO $$
DECLARE
	f record;
	arguments text;
BEGIN
	FOR f IN SELECT p.oid::regprocedure::text AS signature, p.oid::regproc::text AS name, p.proargtypes AS types
		FROM pg_proc p
		JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
		JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
		WHERE e.extname IN ('racepriv', 'racepriv_release')
			AND NOT ARRAY['internal', 'cstring']::regtype[] && p.proargtypes::oid[]::regtype[]
		ORDER BY p.oid
	LOOP
		SELECT string_agg('NULL::'
			|| CASE WHEN t IN ('"any"'::regtype, 'anyelement'::regtype) THEN 'int[]' ELSE t::text END, ', ' ORDER BY i)
		INTO arguments FROM unnest(f.types::oid[]::regtype[]) WITH ORDINALITY v(t, i);
		BEGIN
			EXECUTE format('SELECT %s(%s)', f.name, arguments);
		EXCEPTION WHEN OTHERS THEN
			RAISE NOTICE E'%:\n\t%', regexp_replace(f.signature, '\(.*', ''),
				regexp_replace(SQLERRM, '\(.*\) is a procedure', ' is a procedure');
		END;
	END LOOP;
END $$;

-- so does each function of an aggregate that is called by itself, with NULLs and with values: no
-- internal error, and each transition names its aggregate
CREATE FUNCTION state_of(call text, OUT state text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE call;
	state := 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, hint = PG_EXCEPTION_HINT;
	-- until 15.18; later versions have no such function
	IF SQLERRM = 'cannot accept a value of type internal' THEN
		state := '42883';
	END IF;
END $$;
WITH functions AS (
	SELECT DISTINCT f.kind, p.oid, p.proname, p.proargtypes::oid[]::regtype[] AS types
	FROM pg_aggregate a
	JOIN pg_depend d ON d.objid = a.aggfnoid AND d.classid = 'pg_proc'::regclass
	JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass,
	LATERAL (VALUES ('transition', aggtransfn), ('transition', aggmtransfn), ('transition', aggminvtransfn),
		('final', aggfinalfn), ('final', aggmfinalfn),
		('combine', aggcombinefn), ('serialize', aggserialfn), ('deserialize', aggdeserialfn)) f (kind, oid)
	JOIN pg_proc p ON p.oid = f.oid
	WHERE e.extname IN ('racepriv', 'racepriv_release')
), calls AS (
	SELECT kind, proname, format('SELECT %s(%s)', oid::regproc,
		string_agg(CASE type WHEN 'internal'::regtype THEN 'NULL' ELSE format('%L::%s', value,
			CASE WHEN type = ANY ('{"\"any\"",anyelement}'::regtype[]) THEN 'int[]' ELSE type::text END)
		END, ', ' ORDER BY i)) AS call
	FROM functions, unnest(types) WITH ORDINALITY t(type, i), (VALUES (false), (true)) v (with_values),
	LATERAL (SELECT CASE WHEN with_values THEN CASE type::text
		WHEN 'bytea' THEN '' WHEN 'race_params' THEN 'l2(dims=1)' WHEN 'text' THEN 'x'
		WHEN 'double precision' THEN '0.5' WHEN 'bigint' THEN '1'
		WHEN 'race_sketch' THEN race_sketch('l2(dims=1)'::race_params)::text
		ELSE '{1}' END END AS value) w
	GROUP BY kind, proname, oid, with_values
)
SELECT kind,
	proname,
	string_agg(DISTINCT s.state, ', ' ORDER BY s.state) AS states,
	string_agg(DISTINCT s.hint, ', ' ORDER BY s.hint) FILTER (WHERE s.hint LIKE 'Call%') AS hints
FROM calls, state_of(call) s GROUP BY kind, proname ORDER BY kind COLLATE "C", proname COLLATE "C";
DROP FUNCTION state_of;

-- types: no equality for sketches, and storage that does not compress noise
SELECT typname, typalign, typstorage FROM pg_type
WHERE typname IN ('race_params', 'race_sketch') ORDER BY 1;
SELECT s = s FROM race_sketch('l2(dims=1)'::race_params) s;

-- so has every column of what is seen and returned
SELECT c.relname, a.attname AS without_comment
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relname ~ '^_?race_' AND c.relkind IN ('c', 'r', 'v', 'p', 'm') AND col_description(c.oid, a.attnum) IS NULL
ORDER BY 1, 2;
