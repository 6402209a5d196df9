-- ------------------------------------------------------------------------
-- A schema of fixed name for the ledger and for all that users do not call.  It belongs to the
-- superuser who installs.  The owner of another schema may rename it and make one of the old
-- name, so that bodies of functions name nothing but this schema and pg_catalog.

-- Patterns in what is run below have backslashes.
SET LOCAL standard_conforming_strings = on;

-- What belongs to the extension before this script: nothing, unless it is a part of an update
SELECT pg_catalog.set_config('racepriv_script.members', coalesce((
	SELECT pg_catalog.array_agg(ROW(d.classid, d.objid)::text) FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e
		ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'racepriv'
	WHERE d.deptype OPERATOR(pg_catalog.=) 'e' AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid)::text, '{}'), true);

CREATE SCHEMA _racepriv;
COMMENT ON SCHEMA _racepriv IS
	'the ledger of racepriv, and its internal routines';

