-- What was given to others when the extension was created, by default privileges or as the owner of
-- the database while it was trusted, goes, with what they have granted to others.  And the
-- extension belongs to whom its objects belong to: its owner could add objects of his own.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	held record;
	keeper oid;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR held IN
		SELECT DISTINCT o.type, o.name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
		FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
			JOIN pg_init_privs i ON i.classoid = d.classid AND i.objoid = d.objid AND i.objsubid = 0
			JOIN LATERAL (
				SELECT 'TABLE', c.oid::regclass::text, c.relowner FROM pg_class c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid
				UNION ALL SELECT 'ROUTINE', p.oid::regprocedure::text, p.proowner FROM pg_proc p WHERE d.classid = 'pg_proc'::regclass AND p.oid = d.objid
			) o (type, name, owner) ON true CROSS JOIN LATERAL aclexplode(i.initprivs) a
		WHERE e.extname = 'racepriv' AND a.grantee <> o.owner AND (a.grantee <> 0 OR o.type = 'TABLE')
	LOOP
		EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', held.type, held.name, held.grantee);
	END LOOP;
	SELECT relowner INTO keeper FROM pg_class WHERE oid = '_racepriv.race_charges'::regclass;
	UPDATE pg_extension SET extowner = keeper WHERE extname = 'racepriv';
	UPDATE pg_shdepend SET refobjid = keeper WHERE deptype = 'o' AND classid = 'pg_extension'::regclass
		AND objid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
		AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
	-- objects of the bootstrap superuser have no such rows
	IF keeper = 10 THEN
		DELETE FROM pg_shdepend WHERE deptype = 'o' AND classid = 'pg_extension'::regclass
			AND objid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
			AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
	END IF;
	EXECUTE format('ALTER SCHEMA _racepriv OWNER TO %s', keeper::regrole);
	PERFORM set_config('search_path', path, true);
END $$;
-- Roles and schemas go by their OIDs, beside their names.  Who charged stays NULL, unknown: the name
-- may be another role's by now.
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
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	UPDATE _racepriv.race_budget_tables b SET
		owner_id = coalesce((SELECT relowner FROM pg_class WHERE oid = b.relation), to_regrole(quote_ident(b.owner))),
		schema_id = coalesce((SELECT relnamespace FROM pg_class WHERE oid = b.relation),
			to_regnamespace(quote_ident((parse_ident(b.table_name))[1])));
	UPDATE _racepriv.race_datasets d SET
		owner_id = coalesce((SELECT relowner FROM pg_class WHERE oid = d.relation), to_regrole(quote_ident(d.owner)));
	PERFORM set_config('search_path', path, true);
END $$;
ALTER TABLE _racepriv.race_budget_tables ENABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_datasets ENABLE TRIGGER race_append_only;
-- Moments are sketches, with the same bits: the column of their releases goes.
-- covers: TYPE race_sketch
-- covers: TABLE race_releases CHECK
-- covers: TABLE race_releases moments
-- covers: TABLE race_releases sketch
CREATE CAST (race_moments AS race_sketch) WITHOUT FUNCTION;
ALTER TABLE _racepriv.race_releases DISABLE TRIGGER race_append_only;
UPDATE _racepriv.race_releases SET sketch = moments::race_sketch WHERE sketch IS NULL;
ALTER TABLE _racepriv.race_releases ENABLE TRIGGER race_append_only;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	PERFORM set_config('racepriv_upgrade.views', (
		SELECT coalesce(jsonb_agg(jsonb_build_object('view', c.relname, 'grantee', CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
			'privilege', a.privilege_type, 'option', a.is_grantable)), '[]')::text
		FROM pg_class c, aclexplode(c.relacl) a
		WHERE c.oid IN ('@extschema@.race_latest_releases'::regclass, '@extschema@.race_catalog'::regclass, '@extschema@.race_budget_status'::regclass) AND a.grantee <> c.relowner), true);
	PERFORM set_config('racepriv_upgrade.curators', (
		SELECT coalesce(jsonb_agg(jsonb_build_object('grantee', CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
			'option', a.is_grantable)), '[]')::text
		FROM pg_proc p, aclexplode(p.proacl) a
		WHERE p.proname = 'race_release' AND p.pronamespace = '@extschema@'::regnamespace AND a.grantee <> p.proowner), true);
	UPDATE pg_type SET typcategory = 'U', typispreferred = false WHERE oid = '@extschema@.race_sketch'::regtype;
	PERFORM set_config('search_path', path, true);
END $$;
DROP CAST (race_moments AS race_sketch);
-- What was computed of another question is not told any more.  Modes are those of vectors.
-- covers: TYPE race_minimize_result evaluations
-- covers: TYPE race_modes_result record
-- covers: TYPE race_release_modes_result record
-- covers: TYPE race_heatmap_result stderr
-- covers: TYPE race_difference_result stderr
-- covers: TYPE race_difference_result standard_error
-- covers: TYPE race_estimate_result stderr
-- covers: TYPE race_estimate_result standard_error
-- covers: TYPE race_kde_grid_result stderr
-- covers: TYPE race_kde_grid_result standard_error
-- covers: TYPE race_estimate_result density
-- covers: TYPE race_estimate_result kernel_density
-- covers: TYPE race_kde_grid_result density
-- covers: TYPE race_kde_grid_result kernel_density
-- covers: TYPE race_modes_result density
-- covers: TYPE race_modes_result kernel_density
-- covers: TYPE race_outliers_result density
-- covers: TYPE race_outliers_result kernel_density
-- covers: TYPE race_privacy_cost_result density_stddev
-- covers: TYPE race_privacy_cost_result kernel_density_stddev
-- covers: TYPE race_conditional_mean_result stderr
-- covers: TYPE race_conditional_mean_result standard_error
ALTER TYPE _racepriv.race_minimize_result DROP ATTRIBUTE evaluations;
ALTER TYPE _racepriv.race_modes_result DROP ATTRIBUTE record;
ALTER TYPE _racepriv.race_release_modes_result DROP ATTRIBUTE record;
ALTER TYPE _racepriv.race_heatmap_result DROP ATTRIBUTE stderr;
ALTER TYPE _racepriv.race_difference_result RENAME ATTRIBUTE stderr TO standard_error;
ALTER TYPE _racepriv.race_estimate_result RENAME ATTRIBUTE stderr TO standard_error;
ALTER TYPE _racepriv.race_kde_grid_result RENAME ATTRIBUTE stderr TO standard_error;
ALTER TYPE _racepriv.race_estimate_result RENAME ATTRIBUTE density TO kernel_density;
ALTER TYPE _racepriv.race_kde_grid_result RENAME ATTRIBUTE density TO kernel_density;
ALTER TYPE _racepriv.race_modes_result RENAME ATTRIBUTE density TO kernel_density;
ALTER TYPE _racepriv.race_outliers_result RENAME ATTRIBUTE density TO kernel_density;
ALTER TYPE _racepriv.race_privacy_cost_result RENAME ATTRIBUTE density_stddev TO kernel_density_stddev;
ALTER TYPE _racepriv.race_conditional_mean_result RENAME ATTRIBUTE stderr TO standard_error;
-- A view of a user on these stops the update, and he makes it anew himself: what the update made for
-- him, his functions could do with the rights of the superuser.
-- made anew: VIEW race_catalog
-- made anew: VIEW race_latest_releases
-- made anew: VIEW race_budget_status
DROP VIEW race_catalog, race_latest_releases, race_budget_status;
ALTER TABLE _racepriv.race_releases DROP COLUMN moments, ALTER COLUMN sketch SET NOT NULL;
-- One charge of a series pays for all of its values; an index takes the place of the constraint.
-- covers: TABLE race_releases UNIQUE
ALTER TABLE _racepriv.race_releases DROP CONSTRAINT race_releases_charge_part_key;
-- The procedures of duties are granted to PUBLIC, and tell who has no duty so.
-- covers: REVOKE EXECUTE ON PROCEDURE race_budget_limit(text, float8, float8) FROM PUBLIC
-- covers: REVOKE EXECUTE ON PROCEDURE race_budget_adopt(text) FROM PUBLIC
-- covers: REVOKE EXECUTE ON PROCEDURE race_release_next(text) FROM PUBLIC
-- covers: REVOKE EXECUTE ON FUNCTION race_refreshes_left(text) FROM PUBLIC
-- at the end:
DO $$
DECLARE
	held record;
BEGIN
	FOR held IN SELECT * FROM pg_catalog.jsonb_to_recordset(pg_catalog.current_setting('racepriv_upgrade.views')::pg_catalog.jsonb)
			h (view pg_catalog.name, grantee pg_catalog.text, privilege pg_catalog.text, option pg_catalog.bool)
	LOOP
		EXECUTE pg_catalog.format('GRANT %s ON @extschema@.%I TO %s%s', held.privilege, held.view, held.grantee,
			CASE WHEN held.option THEN ' WITH GRANT OPTION' END);
	END LOOP;
	-- who released by the old race_release may release by both that take its place
	FOR held IN SELECT * FROM pg_catalog.jsonb_to_recordset(pg_catalog.current_setting('racepriv_upgrade.curators')::pg_catalog.jsonb)
			h (grantee pg_catalog.text, option pg_catalog.bool)
	LOOP
		EXECUTE pg_catalog.format('GRANT EXECUTE ON PROCEDURE @extschema@.race_release, @extschema@.race_release_sketch TO %s%s', held.grantee,
			CASE WHEN held.option THEN ' WITH GRANT OPTION' END);
	END LOOP;
END $$;
