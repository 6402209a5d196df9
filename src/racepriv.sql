-- ------------------------------------------------------------------------
-- A schema of fixed name for the ledger and for all that users do not call.  It belongs to the
-- superuser who installs.  The owner of another schema may rename it and make one of the old
-- name, so that bodies of functions name nothing but this schema and pg_catalog.

CREATE SCHEMA _racepriv;
COMMENT ON SCHEMA _racepriv IS
	'the ledger of racepriv, and its internal routines';

