-- ------------------------------------------------------------------------
-- A schema of fixed name for the ledger and for all that users do not call.  It belongs to the
-- superuser who installs.  The owner of another schema may rename it and make one of the old
-- name, so that bodies of functions name nothing but this schema and pg_catalog.

-- Patterns in what is run below have backslashes.
SET LOCAL standard_conforming_strings = on;

-- What belongs to the extension before this script: nothing, unless it is a part of an update
SELECT pg_catalog.set_config('racepriv_script.members', coalesce((
	SELECT pg_catalog.array_agg(ROW(d.classid, d.objid)::text) FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e
		ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'racepriv_release'
	WHERE d.deptype OPERATOR(pg_catalog.=) 'e' AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid)::text, '{}'), true);

-- The schema that this extension is created in may belong to someone who makes types and functions of our names there: names
-- without a schema are those of racepriv.
SELECT pg_catalog.set_config('search_path', pg_catalog.format('%I, pg_temp', n.nspname), true)
FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
WHERE e.extname OPERATOR(pg_catalog.=) 'racepriv';

CREATE SCHEMA _racepriv;
COMMENT ON SCHEMA _racepriv IS
	'the ledger of racepriv, and its internal routines';
