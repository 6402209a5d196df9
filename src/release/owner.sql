-- ------------------------------------------------------------------------
-- The owner of the database may do and grant whatever is granted to anyone: the extension is
-- trusted, so that he can create it, but its objects belong to a superuser.  The tables of
-- the ledger he may only read.  Before PostgreSQL 14, which has no role for it, the one who
-- creates the extension is meant.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	grantee text;
	routine regprocedure;
	relation regclass;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	grantee := CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_database_owner') THEN 'pg_database_owner'
		ELSE (SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'racepriv') END;
	FOR routine IN SELECT p.oid FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
			AND p.proname !~ '^_' AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
		ORDER BY p.oid
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s WITH GRANT OPTION', routine, grantee);
	END LOOP;
	FOR relation IN SELECT c.oid FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv') AND c.relkind IN ('r', 'v')
		ORDER BY c.oid
	LOOP
		EXECUTE format('GRANT SELECT ON %s TO %s WITH GRANT OPTION', relation, grantee);
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;
