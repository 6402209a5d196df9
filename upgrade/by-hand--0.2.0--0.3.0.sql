-- What the owner of the database was given, while the extension was trusted, goes, with what he has
-- granted to others.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	held record;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR held IN
		SELECT o.type, o.name, r.oid::regrole::text AS grantee
		FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
			JOIN LATERAL (
				SELECT 'TABLE', c.oid::regclass::text, c.relacl FROM pg_class c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid
				UNION ALL SELECT 'ROUTINE', p.oid::regprocedure::text, p.proacl FROM pg_proc p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid
			) o (type, name, acl) ON true JOIN pg_roles r ON r.rolname = 'pg_database_owner'
		WHERE e.extname = 'racepriv' AND EXISTS (SELECT FROM aclexplode(o.acl) a WHERE a.grantee = r.oid)
	LOOP
		EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', held.type, held.name, held.grantee);
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;
-- Roles and schemas go by their OIDs, beside their names.
-- covers: TABLE race_budget_tables PRIMARY
-- covers: TABLE race_budget_tables owner_id
-- covers: TABLE race_budget_tables schema_id
-- covers: TABLE race_datasets owner_id
-- covers: TABLE race_charges charged_by_id
ALTER TABLE _racepriv.race_budget_tables
	ADD COLUMN owner_id oid, ADD COLUMN schema_id oid,
	DROP CONSTRAINT race_budget_tables_pkey, ADD PRIMARY KEY (table_name, relation, owner, identity);
ALTER TABLE _racepriv.race_datasets ADD COLUMN owner_id oid;
ALTER TABLE _racepriv.race_charges ADD COLUMN charged_by_id oid;
ALTER TABLE _racepriv.race_budget_tables DISABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_datasets DISABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_charges DISABLE TRIGGER race_append_only;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	UPDATE _racepriv.race_budget_tables b SET owner_id = to_regrole(quote_ident(b.owner)),
		schema_id = coalesce((SELECT relnamespace FROM pg_class WHERE oid = b.relation),
			to_regnamespace(quote_ident((parse_ident(b.table_name))[1])));
	UPDATE _racepriv.race_datasets d SET owner_id = to_regrole(quote_ident(d.owner));
	UPDATE _racepriv.race_charges c SET charged_by_id = to_regrole(quote_ident(c.charged_by));
	PERFORM set_config('search_path', path, true);
END $$;
ALTER TABLE _racepriv.race_budget_tables ENABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_datasets ENABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_charges ENABLE TRIGGER race_append_only;
