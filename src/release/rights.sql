-- ------------------------------------------------------------------------
-- Rights.  Default privileges may have given some on what was just made to other roles.

DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	held record;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR held IN
		WITH made AS (
			SELECT d.classid, d.objid FROM pg_depend d
			WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
				AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv_release')
				AND ROW(d.classid, d.objid)::text <> ALL (current_setting('racepriv_script.members')::text[]))
		SELECT DISTINCT CASE o.type WHEN 'ROUTINE' THEN objid::regprocedure::text WHEN 'TYPE' THEN objid::regtype::text
				WHEN 'SCHEMA' THEN objid::regnamespace::text ELSE objid::regclass::text END AS name,
			o.type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
		FROM made m JOIN LATERAL (
			SELECT 'TABLE', relacl, relowner FROM pg_class WHERE m.classid = 'pg_class'::regclass AND oid = m.objid
			UNION ALL SELECT 'ROUTINE', proacl, proowner FROM pg_proc WHERE m.classid = 'pg_proc'::regclass AND oid = m.objid
			UNION ALL SELECT 'TYPE', typacl, typowner FROM pg_type WHERE m.classid = 'pg_type'::regclass AND oid = m.objid
			UNION ALL SELECT 'SCHEMA', nspacl, nspowner FROM pg_namespace WHERE m.classid = 'pg_namespace'::regclass AND oid = m.objid
		) o (type, acl, owner) ON true CROSS JOIN LATERAL aclexplode(o.acl) a
		-- what PUBLIC may do with routines and types, the statements above have said
		WHERE a.grantee <> o.owner AND (a.grantee <> 0 OR o.type IN ('TABLE', 'SCHEMA'))
	LOOP
		EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', held.type, held.name, held.grantee);
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;

GRANT USAGE ON SCHEMA _racepriv TO PUBLIC;
