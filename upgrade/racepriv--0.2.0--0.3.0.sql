\echo Use "ALTER EXTENSION racepriv UPDATE" to load this file. \quit
-- Made by upgrade/make_upgrade: make upgrade-script

CREATE SCHEMA _racepriv;

ALTER FUNCTION _race_params_in(cstring) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_out(race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_recv(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_send(race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_multiply(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_eq(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_ne(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_lt(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_le(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_gt(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_ge(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_cmp(race_params, race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_hash(race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_hash_extended(race_params, bigint) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_in(cstring) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_out(race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_recv(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_send(race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_update_support(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_plus(race_sketch, race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_step(race_sketch, race_params, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_undo(race_sketch, race_params, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_plus_disjoint(race_sketch, race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_minus(race_sketch, race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_compose_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_combine(internal, internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_serialize(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_deserialize(bytea, internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_fit_step(internal, race_sketch, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_fit_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_model(sketch race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_score_of(sketches race_sketch[], q "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_curve(sketch race_sketch, "column" int, steps int, lower float8, upper float8, confidence float8, smoothing float8, OUT x float8, OUT density float8, OUT low float8, OUT high float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_identity() SET SCHEMA _racepriv;
ALTER FUNCTION _race_refuse_change() SET SCHEMA _racepriv;
ALTER FUNCTION _race_rho_limit(epsilon float8, delta float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lock_tables(ledger regclass, tables regclass[], wait boolean) SET SCHEMA _racepriv;
ALTER FUNCTION _race_with_parts(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_topmost(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_entries_of(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_find_budget(tables regclass[], public_tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_enter_tables(tables regclass[], budget text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_enter_act(actor name, budget text, dataset text, act text, request jsonb) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_limits(epsilon_limit float8, delta_limit float8, accounting text, OUT epsilon numeric, OUT delta numeric, OUT rho numeric) SET SCHEMA _racepriv;
ALTER FUNCTION _race_protect(actor name, dataset text, relation regclass, epsilon_limit float8, delta_limit float8, unit_column name, max_contributions int, neighbors text, accounting text, public_tables regclass[], tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_budget_limit(actor name, dataset text, epsilon_limit float8, delta_limit float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_budget_adopt(actor name, dataset text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_charge(dataset text, name text, version int, request jsonb, rho float8, budget text, tables regclass[], charged_by name, OUT charge uuid, OUT charged_at timestamptz) SET SCHEMA _racepriv;
ALTER FUNCTION _race_refreshes_left(actor name, name text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_labels(release text, label text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_column(release text, "column" text) SET SCHEMA _racepriv;
ALTER TYPE race_privacy_cost_result SET SCHEMA _racepriv;
ALTER TYPE race_compose_result SET SCHEMA _racepriv;
ALTER TYPE race_moments_matrix_result SET SCHEMA _racepriv;
ALTER TYPE race_points_result SET SCHEMA _racepriv;
ALTER TYPE race_difference_result SET SCHEMA _racepriv;
ALTER TYPE race_estimate_result SET SCHEMA _racepriv;
ALTER TYPE race_kde_grid_result SET SCHEMA _racepriv;
ALTER TYPE race_info_result SET SCHEMA _racepriv;
ALTER TYPE race_conditional_mean_result SET SCHEMA _racepriv;
ALTER TYPE race_distance_result SET SCHEMA _racepriv;
ALTER TYPE race_minimize_result SET SCHEMA _racepriv;
ALTER TYPE race_modes_result SET SCHEMA _racepriv;
ALTER TYPE race_quantile_result SET SCHEMA _racepriv;
ALTER TYPE race_sample_result SET SCHEMA _racepriv;
ALTER TYPE race_measured_result SET SCHEMA _racepriv;
ALTER TYPE race_pca_result SET SCHEMA _racepriv;
ALTER TYPE race_regress_result SET SCHEMA _racepriv;
ALTER TYPE race_identity SET SCHEMA _racepriv;
ALTER TABLE race_budgets SET SCHEMA _racepriv;
ALTER TABLE race_datasets SET SCHEMA _racepriv;
ALTER TABLE race_budget_tables SET SCHEMA _racepriv;
ALTER TABLE race_charges SET SCHEMA _racepriv;
ALTER TABLE race_releases SET SCHEMA _racepriv;
ALTER TYPE race_curve_result SET SCHEMA _racepriv;
ALTER TYPE race_heatmap_result SET SCHEMA _racepriv;
ALTER TYPE race_release_modes_result SET SCHEMA _racepriv;
ALTER TYPE race_outliers_result SET SCHEMA _racepriv;

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

-- These are dropped, and made anew with other arguments or results.  What roles may do with
-- them is kept.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	PERFORM set_config('racepriv_upgrade.rights', (
		SELECT coalesce(jsonb_agg(jsonb_build_object('name', p.proname, 'grantee', a.grantee::regrole::text,
			'option', a.is_grantable)), '[]')::text
		FROM pg_proc p, aclexplode(p.proacl) a
		WHERE p.pronamespace = '@extschema@'::regnamespace AND p.proname IN ('_race_build_step', '_race_build_undo', '_race_check_budget', '_race_check_budget_owner', '_race_check_description', '_race_check_identity', '_race_check_missing', '_race_check_owner', '_race_check_shared', '_race_check_unit', '_race_classify_final', '_race_classify_step', '_race_columns', '_race_compose_step', '_race_dataset', '_race_discriminant_final', '_race_discriminant_moments_final', '_race_discriminant_moments_step', '_race_discriminant_step', '_race_enter_new_tables', '_race_exact_decimal', '_race_heatmap', '_race_histogram', '_race_last_request', '_race_lda_final', '_race_lda_posterior_final', '_race_lda_step', '_race_line', '_race_minus', '_race_moments_in', '_race_moments_out', '_race_moments_recv', '_race_moments_send', '_race_moments_step', '_race_moments_undo', '_race_ordered_labels', '_race_own_budget', '_race_params_counters', '_race_plus', '_race_plus_disjoint', '_race_points', '_race_posterior_final', '_race_private_tables', '_race_record_in', '_race_record_out', '_race_record_recv', '_race_record_send', '_race_refuse_charge', '_race_relation_name', '_race_release_exists', '_race_request', '_race_rho_epsilon', '_race_scatter_combine', '_race_scatter_deserialize', '_race_scatter_serialize', '_race_score_final', '_race_score_params', '_race_suggest_final', '_race_suggest_kernel_final', '_race_suggest_kernel_step', '_race_suggest_step', '_race_whiten_final', '_race_whiten_step', 'race_add', 'race_bandwidth', 'race_build_records', 'race_classify', 'race_compose', 'race_correlation', 'race_covariance', 'race_curve', 'race_discriminant', 'race_discriminant_moments', 'race_discriminant_records', 'race_error_bound', 'race_estimate', 'race_fit', 'race_fit_categories', 'race_histogram', 'race_info', 'race_kernel_sum', 'race_kernel_sum_mom', 'race_lda', 'race_lda_posterior', 'race_loss', 'race_mean_curve', 'race_merge', 'race_merge_disjoint', 'race_minimize', 'race_moment_params', 'race_moments', 'race_moments_matrix', 'race_moments_records', 'race_outliers', 'race_params', 'race_pca', 'race_pca_transform', 'race_posterior', 'race_predict', 'race_preview', 'race_privatize', 'race_probability_density', 'race_project', 'race_protect', 'race_quantiles', 'race_record', 'race_regress', 'race_release', 'race_released_moments', 'race_remove', 'race_score', 'race_score_params', 'race_share', 'race_similarity', 'race_suggest', 'race_suggest_kernel', 'race_suggest_rows', 'race_transform', 'race_trend', 'race_typicality', 'race_typicality_share', 'race_warp', 'race_whiten', 'race_whiten_moments', 'race_whiten_records')
			AND a.grantee NOT IN (0, p.proowner)), true);
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_record'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_record, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_record CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_moments'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_moments, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_moments CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_moments_info_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_moments_info_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_moments_info_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_preview_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_preview_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_preview_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_suggest_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_suggest_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_suggest_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_histogram_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_histogram_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_histogram_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_quantiles_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_quantiles_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_quantiles_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_mean_curve_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_mean_curve_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_mean_curve_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	type CONSTANT oid := '@extschema@.race_trend_result'::regtype;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	IF EXISTS (
		WITH RECURSIVE dependent (classid, objid) AS (
			SELECT 'pg_type'::regclass::oid, type
			UNION SELECT d.classid, d.objid FROM pg_depend d JOIN dependent ON d.refclassid = dependent.classid AND d.refobjid = dependent.objid
			WHERE d.deptype IN ('n', 'a', 'i')
		)
		SELECT FROM dependent d LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		WHERE t.typcategory IS DISTINCT FROM 'A' AND (d.classid, d.objid) <> ('pg_class'::regclass, (SELECT typrelid FROM pg_type WHERE oid = type))
			AND NOT EXISTS (SELECT FROM pg_depend m JOIN pg_extension e ON e.oid = m.refobjid
			WHERE m.classid = d.classid AND m.objid = d.objid AND m.deptype = 'e' AND e.extname = 'racepriv')) THEN
		RAISE EXCEPTION 'objects that are not of the extension depend on type race_trend_result, which goes' USING
			ERRCODE = 'dependent_objects_still_exist', HINT = 'Before the update, drop them, or change the type of their columns to text; moments as text are read as sketches after it.';
	END IF;
	DROP TYPE @extschema@.race_trend_result CASCADE;
	PERFORM set_config('search_path', path, true);
END $$;
DROP FUNCTION race_outliers(release text, points float8[], label text);
DROP FUNCTION race_curve(release text, "column" text, steps int, lower float8, upper float8, label text, confidence float8, smoothing float8);
DROP PROCEDURE race_release(name text, dataset text, params race_params, expression text, epsilon float8, delta float8, rows int, label text, labels text[], grid boolean, fit boolean, value text, value_lower float8, value_upper float8, description text, columns text[], units text[], calibrate float8);
DROP FUNCTION _race_check_description(params race_params, has_value boolean, description text, columns text[], units text[]);
DROP FUNCTION _race_ordered_labels(params race_params, label text, labels text[], sketches int);
DROP FUNCTION _race_dataset(dataset text);
DROP PROCEDURE race_protect(dataset text, relation regclass, epsilon_limit float8, delta_limit float8, unit_column name, max_contributions int, neighbors text, accounting text, public_tables regclass[]);
DROP FUNCTION _race_check_owner(actor name, relations regclass[]);
DROP AGGREGATE race_whiten(x "any", label "any");
DROP AGGREGATE race_whiten(x "any");
DROP AGGREGATE race_discriminant(label "any", x "any");
DROP FUNCTION race_typicality(sketch race_sketch, q "any");
DROP FUNCTION race_minimize(sketch race_sketch, lower float8[], upper float8[], question regprocedure, maximize boolean, evaluations int);
DROP FUNCTION race_loss(params race_params, theta float8[], record float8[]);
DROP AGGREGATE race_score(label anyelement, sketch race_sketch, q "any", prior text);
DROP AGGREGATE race_score(label anyelement, sketch race_sketch, q "any");
DROP AGGREGATE race_posterior(label anyelement, sketch race_sketch, q "any", prior text);
DROP AGGREGATE race_posterior(label anyelement, sketch race_sketch, q "any");
DROP AGGREGATE race_classify(label anyelement, sketch race_sketch, q "any", prior text);
DROP AGGREGATE race_classify(label anyelement, sketch race_sketch, q "any");
DROP FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any", text);
DROP FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any");
DROP FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any", text);
DROP FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any");
DROP FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any", text);
DROP FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any");
DROP FUNCTION _race_histogram(sketch race_sketch, "column" int, edges float8[], smoothing float8, OUT lower float8, OUT upper float8, OUT count float8, OUT stderr float8);
DROP FUNCTION _race_heatmap(sketch race_sketch, column1 int, column2 int, steps int, lower float8[], upper float8[], smoothing float8, OUT x1 float8, OUT x2 float8, OUT density float8, OUT stderr float8);
DROP FUNCTION _race_columns(params race_params, OUT number int, OUT kind text, OUT lower float8, OUT upper float8);
DROP FUNCTION race_estimate(sketch race_sketch, q "any", confidence float8);
DROP FUNCTION race_kernel_sum(sketch race_sketch, q "any");
DROP FUNCTION race_fit(sketch race_sketch, lower float8[], upper float8[], points int, seed bigint);
DROP FUNCTION race_fit(sketch race_sketch);
DROP FUNCTION race_privatize(pair race_value_sketches, epsilon float8, delta float8, rows int, max_contributions int, neighbors text, fit boolean);
DROP FUNCTION race_privatize(sketch race_sketch, epsilon float8, delta float8, rows int, max_contributions int, neighbors text, fit boolean);
DROP AGGREGATE race_compose(epsilon float8, delta float8, rho float8, at_delta float8);
DROP AGGREGATE race_compose(epsilon float8, delta float8, rho float8);
DROP FUNCTION _race_compose_step(internal, float8, float8, float8, float8);
DROP FUNCTION _race_compose_step(internal, float8, float8, float8);
DROP FUNCTION race_moment_params(lower float8[], upper float8[], norm float8, features int, targets int, bandwidth float8, seed bigint, sequence text, clip text);
DROP FUNCTION race_params(kernel text, dims int, bandwidth float8, power int, rows int, range int, seed bigint, sequence text, rehash text, bandwidths float8[], lower float8[], upper float8[], transform race_transform, cells float8[], nulls text, mixture float8[], radius float8, query_radius float8);
DROP FUNCTION race_transform(matrix float8[], "offset" float8[]);

SELECT pg_catalog.set_config('racepriv_script.members', coalesce((
	SELECT pg_catalog.array_agg(ROW(d.classid, d.objid)::text) FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e
		ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'racepriv'
	WHERE d.deptype OPERATOR(pg_catalog.=) 'e' AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid)::text, '{}'), true);

COMMENT ON SCHEMA _racepriv IS
	'the ledger of racepriv, and its internal routines';

COMMENT ON TYPE race_transform IS
	'a linear map of vectors for race_params, g(x) = M (x - o): vectors are compared by g(x) instead of x. Write ROW(M, o)::race_transform; both are public, because parameters are shown to all';

CREATE FUNCTION race_params(
	kernel text, dims int DEFAULT NULL, bandwidth float8 DEFAULT 1,
	power int DEFAULT 1, rows int DEFAULT 1024, range int DEFAULT 1024,
	seed bigint DEFAULT 0, sequence text DEFAULT 'auto',
	rehash text DEFAULT 'auto', bandwidths float8[] DEFAULT NULL,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	transform race_transform DEFAULT NULL, cells float8[] DEFAULT NULL,
	nulls text DEFAULT NULL,
	radius float8 DEFAULT NULL, query_radius float8 DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME', 'race_params_new'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION race_params(text, int, float8, int, int, int, bigint, text, text, float8[], float8[], float8[], race_transform, float8[], text, float8, float8) IS
	'the parameters of a sketch: kernel, length and bandwidth of records, rows and range of counters, public bounds and transforms. Each is described in doc/reference.md. Error 22023 for values that do not go together';

COMMENT ON OPERATOR * (race_params, race_params) IS
	'the product of up to 4 kernels, for records ROW(x, c) with a value for each. Both sides have the same rows, range and seed (22023). Multiply from left to right';

CREATE FUNCTION race_moment_params(
	lower float8[], upper float8[], norm float8 DEFAULT 0, features int DEFAULT 0,
	targets int DEFAULT 1, bandwidth float8 DEFAULT 1, seed bigint DEFAULT 0,
	sequence text DEFAULT 'auto', clip text DEFAULT 'auto',
	transform race_transform DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, text, race_transform) IS
	'parameters of moments for race_build, race_sketch and race_release_sketch: public bounds of each column, the largest norm of a record, random features, targets, and a transform from public rows. Each is described in doc/reference.md. Error 22023';

CREATE FUNCTION _racepriv._race_cells(domains jsonb, VARIADIC "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'race_cells' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;

COMMENT ON FUNCTION _racepriv._race_cells(jsonb, "any") IS
	'the cells of the values of a row by their domains, or the row as a vector; no value raises an error. Errors: 22004, 22023 for what are no domains, 42804 for values of other types';

CREATE FUNCTION _racepriv._race_number(numeric) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_number' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION _racepriv._race_number(numeric) IS
	'the nearest float8, an infinity or 0 where a cast raises an error';

COMMENT ON TYPE race_sketch IS
	'a RACE sketch of records (Coleman & Shrivastava, CCS 2021), or moments of columns; exact while it is built, private after race_privatize. The text form is base64';

COMMENT ON FUNCTION race_params(race_sketch) IS
	'the parameters of a sketch. rows is the number of rows that race_privatize kept';

COMMENT ON FUNCTION race_add(race_sketch, "any") IS
	'an exact sketch with one more record: an array of numbers, a set, a row of categories, or ROW(x, c) for a product. Errors: 42804 for another type, 22023 for another value, 55000 for a private sketch';

COMMENT ON FUNCTION race_remove(race_sketch, "any") IS
	'an exact sketch with one record less. The record must have been added before. Errors as in race_add';

COMMENT ON FUNCTION race_is_record(race_params, "any") IS
	'whether race_add takes x with these parameters; false for NULL, and for values that raise 22023. Errors: 42804 for a type that has no records, 22023 if parameters do not state dims';

CREATE FUNCTION race_record(params race_params, x "any") RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_record_make' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION race_record(race_params, "any") IS
	'x as it is hashed, for race_build_records: numbers, and elements as 64 bits each, so that Citus and others push aggregates down. It is as private as x. Errors as in race_add, and 54000 beyond 256 MB';

COMMENT ON FUNCTION _racepriv._race_plus(race_sketch, race_sketch) IS 'implementation of + operator';

COMMENT ON FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any") IS
	'aggregate transition function';

COMMENT ON FUNCTION _racepriv._race_build_undo(race_sketch, race_params, "any") IS
	'aggregate inverse transition function';

CREATE FUNCTION _racepriv._race_build_step(race_sketch, race_params, bytea) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _racepriv._race_build_step(race_sketch, race_params, bytea) IS
	'aggregate transition function';

CREATE FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any", "any", int, int) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 100;

REVOKE EXECUTE ON FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any", "any", int, int) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any", "any", int, int) IS
	'aggregate transition function';

CREATE AGGREGATE _racepriv._race_build_weighted(params race_params, x "any", weight "any", weight_max int, weight_bits int) (
	SFUNC = _racepriv._race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _racepriv._race_plus,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE _racepriv._race_build_weighted(race_params, "any", "any", int, int) IS
	'race_build of a release with weights: each record counts as often as its weight says, from 0 to weight_max';

CREATE AGGREGATE race_build_records(params race_params, record bytea) (
	SFUNC = _racepriv._race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _racepriv._race_plus,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_build_records(race_params, bytea) IS
	'race_build of records that race_record has read with the same parameters. All types are exact, so that Citus builds where rows are. Errors: 22004 for NULL params, 22023 for other parameters, 22P03 for other bytes';

COMMENT ON FUNCTION _racepriv._race_plus_disjoint(race_sketch, race_sketch) IS
	'aggregate transition function';

COMMENT ON FUNCTION _racepriv._race_minus(race_sketch, race_sketch) IS 'implementation of - operator';

COMMENT ON OPERATOR + (race_sketch, race_sketch) IS
	'the sketch of the records of both. Private sketches add noise and costs, and keep the fewer rows or cells. Errors: 22023 for different parameters, and for halves of different calls; 55000 for an exact and a private one';

COMMENT ON OPERATOR - (race_sketch, race_sketch) IS
	'an exact sketch without the records of another one, which must be among its own. Errors: 22023 for different parameters, 55000 for private sketches and halves of race_build_value';

COMMENT ON AGGREGATE race_merge(race_sketch) IS
	'the sum of all sketches, which are all exact or all private. Private ones add their privacy costs (basic composition). NULLs are ignored. Errors as in +';

COMMENT ON AGGREGATE race_merge_disjoint(race_sketch) IS
	'race_merge of private sketches when no person is in more than one: the cost is the largest of theirs. Errors as in +, 22023 for Laplace with Gaussian noise when neighbors is substitute';

COMMENT ON COLUMN _racepriv.race_privacy_cost_result.kernel_density_stddev IS 'the standard deviation to expect of a kernel density, if the number of records is given';

COMMENT ON FUNCTION race_privacy_cost(race_params, float8, float8, int, int, text, float8, boolean) IS
	'what race_privatize with these arguments would cost: true cost, noise, and the expected error of a kernel density. It looks at no data. Errors: 22023 where rows would be chosen from data, others as in race_privatize';

CREATE FUNCTION _racepriv._race_compose_step(internal, VARIADIC float8[]) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_compose_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _racepriv._race_compose_step(internal, float8[]) IS 'aggregate transition function';

CREATE AGGREGATE race_compose(VARIADIC costs float8[]) (
	SFUNC = _racepriv._race_compose_step, STYPE = internal, FINALFUNC = _racepriv._race_compose_final,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_compose(float8[]) IS
	'upper bounds of what releases cost together, of (epsilon, delta, rho [, at_delta]): by basic composition and by zCDP (Bun & Steinke 2016) at at_delta, or the sum of deltas. Errors: 22004, 22023 for other costs';

CREATE FUNCTION race_privatize(
	sketch anyelement, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', fit boolean DEFAULT false)
	RETURNS anyelement AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;

REVOKE EXECUTE ON FUNCTION
	race_privatize(anyelement, float8, float8, int, int, text, boolean) FROM PUBLIC;

COMMENT ON FUNCTION race_privatize(anyelement, float8, float8, int, int, text, boolean) IS
	'an exact race_sketch made private, or both halves of race_value_sketches with the same noise: discrete Laplace noise for delta 0, discrete Gaussian noise above. Arguments: doc/reference.md. Errors: 55000 unless exact, 42804, 22023';

REVOKE EXECUTE ON FUNCTION
	race_share(race_sketch, float8, float8, int, int, int, int, int, text) FROM PUBLIC;

COMMENT ON FUNCTION race_share(race_sketch, float8, float8, int, int, int, int, int, text) IS
	'the exact sketch of one party with its share of discrete Gaussian noise. Only the race_merge of at least parties - dropouts shares can be asked. max_contributions: of one person, at all parties. rows: NULL keeps all. Errors: 22023, 55000';

CREATE OR REPLACE FUNCTION _racepriv._race_build_value_final(internal) RETURNS race_value_sketches
	AS 'MODULE_PATHNAME', 'race_build_value_final' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000;

CREATE FUNCTION _racepriv._race_build_value_step(internal, race_params, "any", float8, float8, float8, "any", int, int) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 100;

REVOKE EXECUTE ON FUNCTION
	_racepriv._race_build_value_step(internal, race_params, "any", float8, float8, float8, "any", int, int) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_build_value_step(internal, race_params, "any", float8, float8, float8, "any", int, int) IS 'aggregate transition function';

CREATE AGGREGATE _racepriv._race_build_value_weighted(
	params race_params, x "any", value float8, value_lower float8, value_upper float8, weight "any", weight_max int, weight_bits int) (
	SFUNC = _racepriv._race_build_value_step, STYPE = internal, SSPACE = 2097152,
	FINALFUNC = _racepriv._race_build_value_final,
	COMBINEFUNC = _racepriv._race_build_value_combine,
	SERIALFUNC = _racepriv._race_build_value_serialize, DESERIALFUNC = _racepriv._race_build_value_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE _racepriv._race_build_value_weighted(race_params, "any", float8, float8, float8, "any", int, int) IS
	'race_build_value of a release with weights';

COMMENT ON AGGREGATE race_build_value(race_params, "any", float8, float8, float8) IS
	'two exact halves of the sketch of all records, for race_conditional_mean: a value within public bounds divides each record among them at random. Errors as in race_build, 22023 for other bounds';

CREATE FUNCTION race_moments_matrix(moments race_sketch) RETURNS _racepriv.race_moments_matrix_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_moments_matrix(race_sketch) IS
	'the contents of moments as plain arrays. Records count as they were clipped, to bounds and norm. Error 55000 for noise shares of which there are too few';

CREATE FUNCTION race_fit(
	sketch race_sketch, points int DEFAULT NULL, seed bigint DEFAULT 0,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS race_sketch AS 'MODULE_PATHNAME', 'race_fit_points'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;

COMMENT ON FUNCTION race_fit(race_sketch, int, bigint, float8[], float8[]) IS
	'the sketch with a fitted model: points within public bounds (NULL: those of the parameters) whose weights explain all counters best. Questions answer more accurately, at no privacy cost. Kernels of vectors by themselves';

COMMENT ON AGGREGATE race_fit(race_sketch, "any") IS
	'the sketch with a fitted model whose points are some of the records x, which must be public or made up: at most 65536, and the same sketch in all rows. For every kernel and product';

COMMENT ON FUNCTION race_points(race_sketch) IS
	'the points of a fitted model and their weights. They are not records: they lie where the records are dense';

CREATE FUNCTION _racepriv._race_tables_count(
	sketch race_sketch, domains jsonb, "where" jsonb, confidence float8,
	OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS record AS 'MODULE_PATHNAME', 'race_tables_count' LANGUAGE C STABLE PARALLEL SAFE COST 10000;

COMMENT ON FUNCTION _racepriv._race_tables_count(race_sketch, jsonb, jsonb, float8) IS
	'race_count of a private sketch of tables with the domains of its columns';

CREATE FUNCTION _racepriv._race_tables_crosstab(
	sketch race_sketch, domains jsonb, column1 text, column2 text, confidence float8,
	OUT value1 text, OUT value2 text, OUT count float8, OUT lower float8, OUT upper float8, OUT source text,
	OUT low1 float8, OUT high1 float8, OUT low2 float8, OUT high2 float8, OUT estimate float8, OUT standard_error float8)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_crosstab' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 100;

COMMENT ON FUNCTION _racepriv._race_tables_crosstab(race_sketch, jsonb, text, text, float8) IS
	'race_crosstab of a private sketch of tables with the domains of its columns';

CREATE FUNCTION _racepriv._race_tables_rows(base anyelement, sketch race_sketch, domains jsonb, n bigint, seed bigint)
	RETURNS SETOF anyelement AS 'MODULE_PATHNAME', 'race_tables_rows' LANGUAGE C STABLE PARALLEL SAFE COST 100 ROWS 1000;

COMMENT ON FUNCTION _racepriv._race_tables_rows(anyelement, race_sketch, jsonb, bigint, bigint) IS
	'race_synthesize of a private sketch of tables with the domains of its columns';

CREATE FUNCTION _racepriv._race_tables_mean(
	sketch race_sketch, domains jsonb, "column" text, by text[], "where" jsonb, confidence float8,
	OUT value1 text, OUT value2 text, OUT x float8, OUT mean float8, OUT lower float8, OUT upper float8, OUT count float8, OUT source text)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_mean' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;

COMMENT ON FUNCTION _racepriv._race_tables_mean(race_sketch, jsonb, text, text[], jsonb, float8) IS
	'race_mean of a private sketch of tables with the domains of its columns: for each value of up to two others; x is the number in the middle of the first. No rows for NULL';

CREATE FUNCTION _racepriv._race_tables_histogram(
	sketch race_sketch, domains jsonb, "column" text, edges text[], bins int, "where" jsonb, as_measured boolean, below boolean, confidence float8,
	OUT value text, OUT low float8, OUT high float8, OUT count float8, OUT lower float8, OUT upper float8, OUT source text)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_histogram' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 20;

COMMENT ON FUNCTION _racepriv._race_tables_histogram(race_sketch, jsonb, text, text[], int, jsonb, boolean, boolean, float8) IS
	'race_histogram of a private sketch of tables with the domains of its columns; as_measured keeps bins to ranges that were measured; below counts all below the upper edge. No rows for NULL';

CREATE FUNCTION _racepriv._race_text(type text, number float8, dated boolean DEFAULT false) RETURNS text
	AS 'MODULE_PATHNAME', 'race_number_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION _racepriv._race_text(text, float8, boolean) IS
	'a number of a release as text of the type of its column: dates are days and timestamps seconds since 2000-01-01; dated: NULL for other types';

CREATE FUNCTION _racepriv._race_z(confidence float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_normal_quantile' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION _racepriv._race_z(float8) IS
	'how many standard errors a confidence interval reaches to each side; error 22023 for no number between 0 and 1';

CREATE FUNCTION _racepriv._race_sum_p_value(sum float8, mean float8, deviation float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_sum_p_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION _racepriv._race_sum_p_value(float8, float8, float8) IS
	'the probability that a sum of squares with this mean and standard deviation is at least so large, by a gamma distribution';

CREATE FUNCTION _racepriv._race_tables_correlation(
	sketch race_sketch, domains jsonb, confidence float8,
	OUT column1 text, OUT column2 text, OUT correlation float8, OUT lower float8, OUT upper float8, OUT source text,
	OUT mean1 float8, OUT deviation1 float8, OUT mean2 float8, OUT deviation2 float8)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_correlation' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10000 ROWS 10;

COMMENT ON FUNCTION _racepriv._race_tables_correlation(race_sketch, jsonb, float8) IS
	'race_correlation of a private sketch of tables with the domains of its columns, and their means and standard deviations';

CREATE FUNCTION _racepriv._race_tables_modes(
	sketch race_sketch, domains jsonb, max int, confidence float8,
	OUT mode int, OUT "column" text, OUT x float8, OUT density float8, OUT prominence float8, OUT lower float8, OUT upper float8, OUT "text" text)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_tables_modes' LANGUAGE C STABLE PARALLEL SAFE COST 10000 ROWS 10;

COMMENT ON FUNCTION _racepriv._race_tables_modes(race_sketch, jsonb, int, float8) IS
	'race_modes of a private sketch of tables with the domains of its columns. No rows for NULL';

CREATE FUNCTION _racepriv._race_tables_rank(
	sketch race_sketch, domains jsonb, record jsonb, confidence float8,
	OUT typicality float8, OUT share float8, OUT frequency float8, OUT lower float8, OUT upper float8)
	RETURNS record AS 'MODULE_PATHNAME', 'race_tables_rank' LANGUAGE C STABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION _racepriv._race_tables_rank(race_sketch, jsonb, jsonb, float8) IS
	'race_outliers of a private sketch of tables with the domains of its columns, for one record';

COMMENT ON COLUMN _racepriv.race_difference_result.difference IS 'the kernel density of a at q less that of b, as race_kde';

COMMENT ON COLUMN _racepriv.race_difference_result.standard_error IS 'its standard error: of the row functions, and of the noise of both';

COMMENT ON FUNCTION race_difference(race_sketch, race_sketch, "any", float8) IS
	'by how much the densities of two sketches with the same kernel and bandwidths differ at q, with a standard error and a confidence interval. Equal parameters: rows are subtracted one by one. Noises are taken to be independent';

CREATE FUNCTION race_kernel_sum(sketch race_sketch, q "any", groups int DEFAULT 1) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION race_kernel_sum(race_sketch, "any", int) IS
	'the unbiased estimate of f(q), the sum over all records x of race_kernel(params, x, q); it may be negative. More than one group of rows: the median of their means, without the model (Coleman & Shrivastava 2021, lemma 3.3)';

COMMENT ON FUNCTION race_kde(race_sketch, "any") IS
	'the kernel density at q: race_kernel_sum over the number of records (at least 1), which estimates the mean of the kernel. It is not clamped to [0, 1]. Of no records it is 0';

COMMENT ON COLUMN _racepriv.race_estimate_result.kernel_density IS 'kernel_sum over the number of records, as race_kde';

COMMENT ON COLUMN _racepriv.race_estimate_result.standard_error IS 'the standard error of the kernel density: of the row functions, and of the noise';

COMMENT ON COLUMN _racepriv.race_estimate_result.lower IS 'the lower end of the confidence interval of the kernel density; -Infinity if there is none';

CREATE FUNCTION race_estimate(
	sketch race_sketch, q "any", confidence float8 DEFAULT 0.95, bandwidth float8 DEFAULT NULL)
	RETURNS _racepriv.race_estimate_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION race_estimate(race_sketch, "any", float8, float8) IS
	'the kernel sum and kernel density at q, with standard error and interval, unbounded where too little is known. With a bandwidth, of a normal density of this standard deviation times bandwidths: a grid or a model answers';

COMMENT ON COLUMN _racepriv.race_kde_grid_result.kernel_density IS 'the kernel density there, as race_kde';

COMMENT ON COLUMN _racepriv.race_kde_grid_result.standard_error IS 'its standard error, as race_estimate';

COMMENT ON FUNCTION race_kde_grid(race_sketch, float8[], float8[], int[]) IS
	'the kernel density and its standard error at the points of a grid: steps[i] points along axis i from lower[i] to upper[i], both included. The last axis runs fastest';

COMMENT ON FUNCTION race_kernel(race_params, "any", "any") IS
	'the exact kernel value k(x, y), between 0 and 1, taken to the power: what estimates are estimates of. Errors as in race_add';

COMMENT ON COLUMN _racepriv.race_info_result.kernel IS 'the kernel, or moments; of a product the kernels, with * between them';

COMMENT ON COLUMN _racepriv.race_info_result.power IS 'the power of the kernel; NULL for products and moments';

COMMENT ON COLUMN _racepriv.race_info_result.sequence IS 'how rows share the work: sobol, structured, grouped, independent or grid; NULL for products';

COMMENT ON COLUMN _racepriv.race_info_result.counter_bytes IS 'bytes of a counter: 1, 2, 4 or 8';

COMMENT ON COLUMN _racepriv.race_info_result.max_contributions IS 'how many records of one person it protects, with weights by the largest one';

COMMENT ON COLUMN _racepriv.race_info_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records; of moments, of each sum or product of scaled columns, and sqrt(2) times as much in a square unless it is Laplace noise';

COMMENT ON COLUMN _racepriv.race_info_result.misfit IS
	'what share of an answer the model misses (root mean square), as each half of the rows tells of a model from the other; 1000000: nobody can tell, and questions do not ask the model. NULL without a model';

COMMENT ON FUNCTION race_info(race_sketch) IS
	'what a sketch is: its parameters, the count of records, bytes, status, and of a private sketch its noise and true cost. Of a share, the cost is that of the sum that it is made for';

CREATE FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, "any") IS 'aggregate transition function';

CREATE FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, VARIADIC "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';

CREATE FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, VARIADIC "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, VARIADIC "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any") IS
	'the label of the most likely class at q, over rows (label, sketch, q [, prior]), one for each class. prior: uniform (default) or counts. Exact moments beside private ones of a label are of public rows';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, VARIADIC "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any") IS
	'the probability of each class given q as {label: probability}, over rows (label, sketch, q [, prior]), with the priors of race_classify. Where all densities are zero, it is the prior';

COMMENT ON FUNCTION _racepriv._race_score_of(race_sketch[], "any") IS
	'the score of q by classes in the order of a constant array, with prior counts: 2 times the number of the likeliest pair of classes, and from 0 to 1 how far the second is ahead';

CREATE FUNCTION _racepriv._race_columns(sketch race_sketch, OUT number int, OUT kind text, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_sketch_columns' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 3;

COMMENT ON FUNCTION _racepriv._race_columns(race_sketch) IS
	'the columns of a record of a sketch: their numbers, what they are (number, category or set), and their bounds, NULL without';

CREATE FUNCTION _racepriv._race_heatmap(
	sketch race_sketch, column1 int, column2 int, steps int, lower float8[], upper float8[], smoothing float8,
	OUT x1 float8, OUT x2 float8, OUT density float8, OUT standard_error float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_heatmap' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 1600;

COMMENT ON FUNCTION _racepriv._race_heatmap(race_sketch, int, int, int, float8[], float8[], float8) IS
	'race_heatmap of a sketch with a model';

CREATE FUNCTION _racepriv._race_histogram(
	sketch race_sketch, "column" int, edges float8[], smoothing float8,
	OUT lower float8, OUT upper float8, OUT count float8, OUT standard_error float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_histogram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 20;

COMMENT ON FUNCTION _racepriv._race_histogram(race_sketch, int, float8[], float8) IS
	'race_histogram of a sketch with a model';

COMMENT ON COLUMN _racepriv.race_conditional_mean_result.standard_error IS 'its standard error: of the row functions, of splitting, of the noise, and of the trend; NULL with the mean';

COMMENT ON FUNCTION race_conditional_mean(race_sketch, race_sketch, "any", float8, float8, float8) IS
	'the mean of a value at q, weighted by the kernel, from the two halves of race_build_value, with standard error and confidence interval. Error 55000 for halves of different calls';

ALTER TYPE _racepriv.race_distance_result ADD ATTRIBUTE similarity float8;

COMMENT ON COLUMN _racepriv.race_distance_result.p_value IS 'the probability of such a distance or more if both are drawn from one population; 1 where a count is within its noise, or below 2';

COMMENT ON COLUMN _racepriv.race_distance_result.similarity IS 'the mean kernel of a record of a and one of b, over all pairs';

COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy of two sketches with noise of their own, and a test of whether both are drawn from one population (Gretton et al. 2012). Errors: 22023 different parameters, 55000 an exact and a private sketch';

COMMENT ON FUNCTION race_loss(race_sketch, float8[]) IS
	'the mean surrogate loss of the records for a linear model with coefficients theta (Coleman & Shrivastava 2021, section 4). Errors: 22023 kernels other than least_squares and margin, or a theta that is longer than query_radius allows';

COMMENT ON COLUMN _racepriv.race_minimize_result.x IS 'the coefficients theta';

COMMENT ON COLUMN _racepriv.race_minimize_result.value IS 'race_loss there';

CREATE FUNCTION race_minimize(sketch race_sketch) RETURNS _racepriv.race_minimize_result
	AS 'MODULE_PATHNAME', 'race_minimize_loss' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000000;

COMMENT ON FUNCTION race_minimize(race_sketch) IS
	'the coefficients theta of the least race_loss, by a search without derivatives (Hooke & Jeeves 1961) within query_radius. Ask a fitted sketch. Error 22023 for kernels other than least_squares and margin';

COMMENT ON COLUMN _racepriv.race_modes_result.kernel_density IS 'the kernel density there, as race_kde';

COMMENT ON COLUMN _racepriv.race_modes_result.prominence IS 'the kernel density less that of the highest saddle on the way to a denser mode; of the densest mode its kernel density';

COMMENT ON FUNCTION race_modes(race_sketch, int, float8[], float8[]) IS
	'local maxima of the kernel density between lower and upper (NULL: those of the parameters or model), the most prominent first, at most max (1 to 100). Errors: 22023 for bounds or max, 55000 without a model';

COMMENT ON COLUMN _racepriv.race_quantile_result.standard_error IS 'of the value, for a grid in one dimension, from the noise of the counts of records before nodes; NULL for others';

COMMENT ON FUNCTION race_quantile(race_sketch, float8[], int) IS
	'quantiles of a column of the records, which is counted from 1 on, from the fitted model, in the order of p. Errors: 22003 p outside of 0 to 1, 22023 a column that is no number, 55000 no model';

COMMENT ON FUNCTION race_sample(race_sketch, int, bigint) IS
	'n records drawn from the fitted model of a sketch, moved at random by at most half a bandwidth. The same seed gives the same records; NULL others each time. Errors: 55000 no model, 22023 a negative n';

COMMENT ON FUNCTION race_sample(anyelement, race_sketch, int, bigint) IS
	'race_sample as rows of the type of base, as in race_sample(NULL::patients, sketch, 1000); further columns are those of base. Errors: 42804 no row type or too few columns, others as race_sample and the input functions of the types';

CREATE TYPE _racepriv.race_typicality_result AS (typicality float8, share float8, kernel_density float8);

COMMENT ON TYPE _racepriv.race_typicality_result IS 'the result of race_typicality';

COMMENT ON COLUMN _racepriv.race_typicality_result.typicality IS 'the kernel density at q over its mean at the records, each without its own share: 1 is as typical as the average record, near 0 an anomaly (Luo & Shrivastava 2018)';

COMMENT ON COLUMN _racepriv.race_typicality_result.share IS 'the share of records whose kernel density is below that at q, from 0 (less typical than all) to 1, by the points of the fitted model; NULL without a model';

COMMENT ON COLUMN _racepriv.race_typicality_result.kernel_density IS 'the kernel density at q, as race_kde';

CREATE FUNCTION race_typicality(sketch race_sketch, q "any") RETURNS _racepriv.race_typicality_result
	AS 'MODULE_PATHNAME', 'race_typicality_row' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;

COMMENT ON FUNCTION race_typicality(race_sketch, "any") IS
	'how typical a record q is among those of the sketch: an anomaly has a small share or typicality. Errors as in race_kde';

COMMENT ON TYPE _racepriv.race_measured_result IS 'the result of race_covariance';

CREATE FUNCTION race_covariance(
	moments race_sketch, "column" int, other int, confidence float8 DEFAULT 0.95, standardize boolean DEFAULT false)
	RETURNS _racepriv.race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_covariance(race_sketch, int, int, float8, boolean) IS
	'the covariance of two columns of moments, or the variance of one, or with standardize their correlation, with an interval. Records count as clipped. NULL where noise hides it. Errors: 22023, 55000 for too few noise shares';

CREATE FUNCTION race_pca(moments race_sketch, standardize boolean DEFAULT false)
	RETURNS SETOF _racepriv.race_pca_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION race_pca(race_sketch, boolean) IS
	'principal components of the columns of moments, with standardize in units of standard deviations. Components within a few standard errors are those of noise. Errors: 22023 for features, 55000 for too few noise shares';

CREATE FUNCTION race_regress(moments race_sketch, target int, predictors int[] DEFAULT NULL)
	RETURNS SETOF _racepriv.race_regress_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION race_regress(race_sketch, int, int[]) IS
	'the linear regression of column target on predictors, or on all other columns (NULL), from moments: the intercept first, with standard errors. Errors: 22023 for other columns, 55000 for too few noise shares';

CREATE FUNCTION _racepriv._race_regress(moments race_sketch, target int, predictors int[]) RETURNS SETOF _racepriv.race_regress_result
	AS 'MODULE_PATHNAME', 'race_regress' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION _racepriv._race_regress(race_sketch, int, int[]) IS 'race_regress of moments, for the one by the name of a release';

CREATE FUNCTION race_predict(moments race_sketch, target int, x float8[], predictors int[] DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;

COMMENT ON FUNCTION race_predict(race_sketch, int, float8[], int[]) IS
	'what race_regress says of a record x, which has all columns but the target, in their order. Clipped to the bounds. Errors: 22023 for another number of elements or NULL ones';

CREATE FUNCTION race_transform(moments race_sketch, components int DEFAULT NULL, standardize boolean DEFAULT false)
	RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_moments_transform' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION race_transform(race_sketch, int, boolean) IS
	'the transform for race_params that gives columns of moments mean 0 and covariance 1; or that to their first principal components (race_pca). Private if the moments are. Errors: 22023, 55000 if no column varies';

CREATE OR REPLACE FUNCTION _racepriv._race_identity() RETURNS _racepriv.race_identity
	LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT ROW(c.system_identifier, d.oid,
		('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
		to_regclass('_racepriv.race_charges')::oid)::_racepriv.race_identity
	FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
$$;

COMMENT ON TABLE _racepriv.race_budgets IS
	'one row for each budget: limits of epsilon, delta and rho, the accounting, the sums of what was charged, and the copy of the database that may spend it';

COMMENT ON COLUMN _racepriv.race_datasets.owner_id IS 'the OID of the owner, in the copy of the database where it was protected';

COMMENT ON TABLE _racepriv.race_budget_tables IS
	'the private tables of datasets, as they were when a budget was given or charged. A table belongs to the budget of its OID, or of its name and owner';

COMMENT ON COLUMN _racepriv.race_budget_tables.identity IS 'the copy of the database in which it was entered, and in which the OIDs hold';

COMMENT ON COLUMN _racepriv.race_budget_tables.owner_id IS 'the OID of its owner: a role that is renamed is the same, and one that takes its name is not';

COMMENT ON COLUMN _racepriv.race_budget_tables.schema_id IS 'the OID of its schema';

COMMENT ON COLUMN _racepriv.race_charges.charged_by_id IS 'the OID of the role, in that copy';

ALTER TABLE _racepriv.race_releases ADD COLUMN domains jsonb;

ALTER TABLE _racepriv.race_releases ADD COLUMN during tsrange;

ALTER TABLE _racepriv.race_releases ADD COLUMN provenance jsonb;

CREATE UNIQUE INDEX race_releases_charge ON _racepriv.race_releases (charge, part) WHERE during IS NULL;

COMMENT ON TABLE _racepriv.race_releases IS
	'the releases, immutable: private sketches or moments by name, version and part (one for each label, and for each half of a value)';

COMMENT ON COLUMN _racepriv.race_releases.sketch IS 'the private sketch, or moments';

COMMENT ON COLUMN _racepriv.race_releases.scores IS 'of a release that is calibrated, a private sketch of the scores that the sketches or moments of all labels give the records of this label; NULL in others';

COMMENT ON COLUMN _racepriv.race_releases.domains IS 'of a release by columns, the public domain of each column, with its cells; NULL in others';

COMMENT ON COLUMN _racepriv.race_releases.during IS 'of a value of a series, the time of its records, in UTC; NULL in other releases';

COMMENT ON COLUMN _racepriv.race_releases.provenance IS 'in part 1, public facts when it was charged, for race_label: the library that drew the noise, the unit, where domains came from, the cost, and what the budget had spent; NULL before version 0.3.0';

CREATE OR REPLACE FUNCTION _racepriv._race_refuse_change() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION 'cannot % table %: the ledger is append-only', lower(TG_OP), TG_TABLE_NAME
		USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'What has been spent stays spent.';
END $$;

CREATE FUNCTION _racepriv._race_check_ledger() RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	ledger CONSTANT regclass[] := '{_racepriv.race_budgets,_racepriv.race_datasets,_racepriv.race_budget_tables,_racepriv.race_charges,_racepriv.race_releases,_racepriv.race_descriptions,_racepriv.race_series_units}';
	place CONSTANT regnamespace := '_racepriv';
	keeper CONSTANT oid := (SELECT nspowner FROM pg_namespace WHERE oid = place);
	problem text;
BEGIN
	SELECT f.what INTO problem FROM (
		SELECT format('Role %s may %s on table %s.', CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, a.privilege_type, c.relname)
		FROM pg_class c CROSS JOIN LATERAL (
			SELECT c.relacl UNION ALL SELECT attacl FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL) l (acl)
			CROSS JOIN LATERAL aclexplode(l.acl) a
		WHERE c.oid = ANY (ledger) AND a.grantee <> c.relowner AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = a.grantee AND r.rolsuper)
			AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER')
		UNION ALL
		SELECT format('Role %s may write to all tables: it is a member of pg_write_all_data.', m.rolname)
		FROM pg_roles w JOIN pg_auth_members g ON g.roleid = w.oid JOIN pg_roles m ON m.oid = g.member
		WHERE w.rolname = 'pg_write_all_data' AND NOT m.rolsuper
		UNION ALL
		SELECT format('Role %s may create objects in schema %s.', CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, n.nspname)
		FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
		WHERE n.oid = place AND a.grantee <> n.nspowner AND a.privilege_type = 'CREATE' AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = a.grantee AND r.rolsuper)
		UNION ALL
		SELECT format('Role %s may call function %s.', a.grantee::regrole, p.oid::regprocedure)
		FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) a
		WHERE p.pronamespace = place AND a.grantee NOT IN (0, p.proowner) AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = a.grantee AND r.rolsuper)
		UNION ALL
		SELECT format('Trigger %s is on table %s.', t.tgname, t.tgrelid::regclass)
		FROM pg_trigger t LEFT JOIN pg_constraint k ON k.oid = t.tgconstraint
		WHERE t.tgrelid = ANY (ledger) AND CASE WHEN t.tgisinternal THEN k.conrelid <> ALL (ledger)
			ELSE t.tgfoid <> '_racepriv._race_refuse_change()'::regprocedure END
		UNION ALL
		SELECT format('Rule %s is on table %s.', r.rulename, r.ev_class::regclass)
		FROM pg_rewrite r WHERE r.ev_class = ANY (ledger)
		UNION ALL
		SELECT format('Table %s belongs to role %s.', c.relname, c.relowner::regrole)
		FROM pg_class c WHERE c.relnamespace = place AND c.relowner <> keeper
		UNION ALL
		SELECT format('Function %s belongs to role %s.', p.oid::regprocedure, p.proowner::regrole)
		FROM pg_proc p WHERE p.pronamespace = place AND p.proowner <> keeper
	) f (what) ORDER BY 1 LIMIT 1;
	IF problem IS NOT NULL THEN
		RAISE EXCEPTION 'others than its owner can change the ledger' USING ERRCODE = 'object_not_in_prerequisite_state',
			DETAIL = problem,
			HINT = 'As the owner of the extension, REVOKE the right, or DROP what is not of racepriv.';
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_check_ledger() FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_check_ledger() IS
	'raises 55000 if another role than its owner may write to the ledger, or if triggers or rules of others are on it';

CREATE OR REPLACE VIEW race_budget_status AS
SELECT b.budget,
	(SELECT pg_catalog.array_agg(d.dataset ORDER BY d.dataset) FROM _racepriv.race_datasets d WHERE d.budget = b.budget) AS datasets,
	CASE b.accounting WHEN 'basic' THEN b.epsilon_limit - b.spent_epsilon END AS epsilon_left, b.epsilon_limit,
	CASE b.accounting WHEN 'basic' THEN b.delta_limit - b.spent_delta END AS delta_left, b.delta_limit,
	b.rho_limit - b.spent_rho AS rho_left, b.rho_limit, c.charges, b.accounting, b.spent_epsilon, b.spent_delta, b.spent_rho,
	CASE WHEN b.delta_limit > c.chosen_delta THEN (
		SELECT (race_compose(VARIADIC ARRAY[0, 0, s.rho, s.delta]::float8[])).zcdp_epsilon
		FROM (VALUES (b.spent_rho, b.delta_limit - c.chosen_delta)) s (rho, delta)) END AS spent_zcdp_epsilon,
	(SELECT pg_catalog.array_agg(DISTINCT t.table_name ORDER BY t.table_name) FROM _racepriv.race_budget_tables t WHERE t.budget = b.budget) AS tables,
	c.charged_by AS last_charged_by, c.charged_at AS last_charged_at
FROM _racepriv.race_budgets b LEFT JOIN LATERAL (
	SELECT count(*) AS charges, max(charged_at) AS charged_at, coalesce(sum((request->>'chosen_delta')::numeric), 0.0) AS chosen_delta,
		(pg_catalog.array_agg(charged_by ORDER BY charged_at DESC))[1] AS charged_by
	FROM _racepriv.race_charges WHERE budget = b.budget AND act = 'release') c ON true;

COMMENT ON VIEW race_budget_status IS
	'each budget: what it protects, what is left by its accounting, its limits, what was spent by basic composition and by zCDP, and who charged it last';

COMMENT ON COLUMN race_budget_status.budget IS 'the name of the budget';

COMMENT ON COLUMN race_budget_status.datasets IS 'the datasets that share it';

COMMENT ON COLUMN race_budget_status.epsilon_left IS 'what is left of epsilon; NULL with zcdp accounting';

COMMENT ON COLUMN race_budget_status.epsilon_limit IS 'what all releases together may cost in epsilon';

COMMENT ON COLUMN race_budget_status.delta_left IS 'what is left of delta; NULL with zcdp accounting';

COMMENT ON COLUMN race_budget_status.delta_limit IS 'what they may cost in delta';

COMMENT ON COLUMN race_budget_status.rho_left IS 'what is left of rho; NULL with basic accounting';

COMMENT ON COLUMN race_budget_status.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';

COMMENT ON COLUMN race_budget_status.charges IS 'how many releases were charged';

COMMENT ON COLUMN race_budget_status.accounting IS 'what charges are held to: basic or zcdp';

COMMENT ON COLUMN race_budget_status.spent_epsilon IS 'the sum of the epsilons that were charged';

COMMENT ON COLUMN race_budget_status.spent_delta IS 'the sum of the deltas';

COMMENT ON COLUMN race_budget_status.spent_rho IS 'the sum of rho';

COMMENT ON COLUMN race_budget_status.spent_zcdp_epsilon IS 'the epsilon that spent_rho implies at delta_limit, less the delta that choices of labels and categories took; NULL if none is left';

COMMENT ON COLUMN race_budget_status.tables IS 'the private tables that belong to it, by all names that they have had';

COMMENT ON COLUMN race_budget_status.last_charged_by IS 'the role that charged it last';

COMMENT ON COLUMN race_budget_status.last_charged_at IS 'and when';

CREATE TABLE _racepriv.race_series_units (
	name text NOT NULL,
	length int NOT NULL,
	unit text NOT NULL,
	records bigint NOT NULL CHECK (records >= 1),
	PRIMARY KEY (name, length, unit)
);

COMMENT ON TABLE _racepriv.race_series_units IS
	'private: how many records of each unit are in the values of a series that have so many intervals. No role is given it; no value of these lengths may have more of them than the series allows';

COMMENT ON COLUMN _racepriv.race_series_units.name IS 'the name of the series';

COMMENT ON COLUMN _racepriv.race_series_units.length IS 'how many intervals the values have';

COMMENT ON COLUMN _racepriv.race_series_units.unit IS 'the unit, as text';

COMMENT ON COLUMN _racepriv.race_series_units.records IS 'how many of its records they have together';

CREATE TRIGGER race_no_removal BEFORE DELETE OR TRUNCATE ON _racepriv.race_series_units
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();

CREATE TRIGGER race_no_refund BEFORE UPDATE ON _racepriv.race_series_units
	FOR EACH ROW WHEN (new.name <> old.name OR new.length <> old.length OR new.unit <> old.unit OR new.records < old.records)
	EXECUTE FUNCTION _racepriv._race_refuse_change();

SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_series_units', '');

CREATE FUNCTION _racepriv._race_series(relation oid, unit_column name, series jsonb) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET timezone = 'UTC' AS $$
DECLARE
	most_intervals CONSTANT int := 65536;
	keys CONSTANT text[] := '{by,every,starting,until,delay,lengths}';
	by_type CONSTANT regtype := (SELECT a.atttypid FROM pg_attribute a
		WHERE a.attrelid = relation AND a.attname = series->>'by' AND a.attnum > 0 AND NOT a.attisdropped);
	every interval;
	delay interval;
	starting timestamp;
	until timestamp;
	intervals int;
BEGIN
	IF jsonb_typeof(series) <> 'object' OR series - keys <> '{}' OR jsonb_path_exists(series - 'lengths'::text, '$.* ? (@.type() != "string")')
		OR series ? 'lengths' AND series->>'lengths' !~ '^[1-9]$'
		OR series->>'by' IS NULL OR series->>'every' IS NULL OR series->>'until' IS NULL
	THEN
		RAISE EXCEPTION 'a series needs by, every and until, and may have starting and delay, which are texts, and lengths from 1 to 9' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'For example series => ''{"by": "visited_on", "every": "1 day", "starting": "2026-01-01", "until": "2027-01-01"}''.';
	ELSIF by_type IS NULL THEN
		RAISE EXCEPTION 'there is no column "%"', left(series->>'by', 64) USING ERRCODE = 'undefined_column',
			HINT = 'A series needs a column that says when a record was made.';
	ELSIF by_type NOT IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype) THEN
		RAISE EXCEPTION 'column "%" of a series is of type %', left(series->>'by', 64), by_type USING ERRCODE = 'datatype_mismatch',
			HINT = 'It must be a date or a timestamp.';
	ELSIF unit_column IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute a LEFT JOIN pg_collation l ON l.oid = a.attcollation
		WHERE a.attrelid = relation AND a.attname = unit_column AND coalesce(l.collisdeterministic, true)
			AND a.atttypid IN ('smallint'::regtype, 'int'::regtype, 'bigint'::regtype, 'uuid'::regtype, 'text'::regtype, 'varchar'::regtype))
	THEN
		-- units are counted by their texts: equal units must have equal ones
		RAISE EXCEPTION 'the unit column of a series must be an integer, a uuid, or a text of a deterministic collation' USING ERRCODE = 'datatype_mismatch';
	END IF;
	every := series->>'every';
	delay := coalesce(series->>'delay', '0');
	until := series->>'until';
	starting := coalesce((series->>'starting')::timestamp, date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC'));
	IF NOT isfinite(starting) OR NOT isfinite(until) OR starting + every <= starting OR starting >= until OR delay < '0'
		OR by_type = 'date'::regtype AND (every <> date_trunc('day', every) OR starting <> date_trunc('day', starting))
	THEN
		RAISE EXCEPTION 'a series needs every above 0, delay not below 0, and starting before until; of dates whole days' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT min(i) INTO intervals FROM generate_series(1, most_intervals) i WHERE starting + i * every >= until;
	IF intervals IS NULL THEN
		RAISE EXCEPTION 'a series can have at most % intervals', most_intervals USING ERRCODE = 'program_limit_exceeded';
	ELSIF EXISTS (SELECT FROM generate_series(1, intervals) i WHERE starting + i * every <= starting + (i - 1) * every) THEN
		-- months are not equally long
		RAISE EXCEPTION 'interval "%" of a series does not always lead forward', every USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN jsonb_strip_nulls(jsonb_build_object('by', series->>'by', 'type', by_type::text, 'every', every::text, 'delay', delay::text,
		'lengths', (series->>'lengths')::int, 'starting', starting::text, 'until', (starting + intervals * every)::text, 'intervals', intervals));
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_series(oid, name, jsonb) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_series(oid, name, jsonb) IS
	'what is asked of a series, with all that follows from it, in UTC. Errors: 22023, 42703, 42804, 54000';

CREATE FUNCTION _racepriv._race_period(
	release text, OUT name text, OUT "values" int, OUT levels int, OUT first int, OUT after int)
	RETURNS record LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' AS $$
DECLARE
	form CONSTANT text := '^(.*?) *(\[[^][(),]*,[^][(),]*[])])$';
	period tsrange := '(,)';
	closed tsrange;
	length interval;
BEGIN
	name := release;
	IF release ~ form AND NOT EXISTS (SELECT FROM _racepriv.race_releases r WHERE r.name = release)
		AND EXISTS (SELECT FROM _racepriv.race_releases r WHERE r.name = (regexp_match(release, form))[1])
	THEN
		name := (regexp_match(release, form))[1];
		period := (regexp_match(release, form))[2];
	END IF;
	SELECT r.version INTO "values" FROM _racepriv.race_releases r
	WHERE r.name = _race_period.name AND r.during IS NOT NULL ORDER BY r.version DESC LIMIT 1;
	IF "values" IS NULL AND name <> release THEN
		RAISE EXCEPTION 'release "%" is no series', left(name, 64) USING ERRCODE = 'invalid_parameter_value';
	ELSIF "values" IS NULL THEN
		RETURN;
	END IF;
	SELECT max(c.n) INTO levels FROM (SELECT count(*) FROM _racepriv.race_releases r
		WHERE r.name = _race_period.name AND r.part = 1 GROUP BY upper(r.during)) c (n);
	-- the shortest value that begins at a time is one interval
	SELECT tsrange(min(l.low), max(l.high)), min(l.high) - min(l.low),
		count(*) FILTER (WHERE l.low < lower(period)), count(*) FILTER (WHERE upper_inf(period) OR l.high <= upper(period))
	INTO closed, length, first, after
	FROM (SELECT lower(r.during), min(upper(r.during)) FROM _racepriv.race_releases r
		WHERE r.name = _race_period.name AND r.part = 1 GROUP BY 1) l (low, high);
	IF isempty(period) OR upper_inc(period) OR first >= after
		OR lower(period) > lower(closed) AND NOT EXISTS (
			SELECT FROM _racepriv.race_releases r WHERE r.name = _race_period.name AND lower(r.during) = lower(period))
		OR NOT upper_inf(period) AND NOT EXISTS (
			SELECT FROM _racepriv.race_releases r WHERE r.name = _race_period.name AND upper(r.during) = upper(period))
	THEN
		RAISE EXCEPTION 'the period is not made of intervals of series "%" that are closed', left(name, 64) USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Closed is %s, in intervals of %s.', closed, length),
			HINT = 'A period is written [from,to), without the time to; [,to) is from the beginning on, and [from,) up to the last interval that is closed.';
	END IF;
END $$;

COMMENT ON FUNCTION _racepriv._race_period(text) IS
	'what the name of a release stands for: of a series its values, their lengths, the first interval of the period, from 0 on, and the one after it; else the name alone. Errors: 22023, 22007';

CREATE FUNCTION _racepriv._race_handler() RETURNS language_handler
	AS 'MODULE_PATHNAME', 'race_handler' LANGUAGE C;

REVOKE EXECUTE ON FUNCTION _racepriv._race_handler() FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_handler() IS 'the handler of language racepriv';

CREATE LANGUAGE racepriv HANDLER _racepriv._race_handler;

COMMENT ON LANGUAGE racepriv IS
	'PL/pgSQL, for answers by the name of a release: an error is shown without the statements and lines that led to it';

COMMENT ON FUNCTION race_released(text, text, text) IS
	'the latest version of a release, or of one of its labels, or of one bound of its value: a sketch for all functions that take one. Errors: 42704 for no such release or label, 22023';

COMMENT ON FUNCTION race_released_mean(text, "any", text, float8) IS
	'race_conditional_mean of the latest version of a release with a value, and of one label if it has labels. Errors as in race_released, 22023 if it has no value';

CREATE OR REPLACE VIEW race_latest_releases AS
SELECT r.name, r.version, r.label, r.value_bound, r.sketch, r.dataset,
	race_count(r.sketch) AS count, i.epsilon, i.delta, r.released_at, r.scores
FROM _racepriv.race_releases r CROSS JOIN LATERAL race_info(r.sketch) i
WHERE r.version = (SELECT pg_catalog.max(n.version) FROM _racepriv.race_releases n WHERE n.name = r.name);

COMMENT ON VIEW race_latest_releases IS
	'the latest version of each release: a row for each label, or one row; of a release with a value twice as many. count is the noisy number of records, epsilon and delta are the true cost of this sketch';

COMMENT ON COLUMN race_latest_releases.name IS 'the name of the release';

COMMENT ON COLUMN race_latest_releases.version IS 'its latest version';

COMMENT ON COLUMN race_latest_releases.label IS 'the label; NULL in a release without labels';

COMMENT ON COLUMN race_latest_releases.value_bound IS 'of a release with a value, value_lower for the lower half and value_upper for the upper one (race_build_value); NULL in a release without a value. With a value, a sketch has a part of each record: race_released adds both up';

COMMENT ON COLUMN race_latest_releases.sketch IS 'the private sketch: a large value, so name the columns that you want to see';

COMMENT ON COLUMN race_latest_releases.scores IS 'of a release that is calibrated, the private sketch of the scores of this label, which costs epsilon of its own; NULL in others';

COMMENT ON COLUMN race_latest_releases.dataset IS 'the dataset that it was made of';

COMMENT ON COLUMN race_latest_releases.count IS 'the noisy number of records, as race_count';

COMMENT ON COLUMN race_latest_releases.epsilon IS 'the true epsilon of the sketch';

COMMENT ON COLUMN race_latest_releases.delta IS 'its delta';

COMMENT ON COLUMN race_latest_releases.released_at IS 'when it was charged, before its data were read';

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_latest_releases SET (security_invoker = true);
	END IF;
END $$;

COMMENT ON FUNCTION race_classify(text, "any") IS
	'the label that q is most likely from, by the latest version of a release with labels; of columns, q is a JSON object. Errors: 42704 for no such release, 22023 unless it has labels, others as in race_kde';

COMMENT ON FUNCTION race_posterior(text, "any") IS
	'the probability of each label given q, as {label: probability}, by the latest version of a release with labels. q and errors as in race_classify';

CREATE FUNCTION _racepriv._race_is_here(identity _racepriv.race_identity) RETURNS boolean
	LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT (identity).system_identifier = i.system_identifier AND (identity).database = i.database
		AND (identity).ledger = i.ledger
	FROM _racepriv._race_identity() i
$$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_is_here(_racepriv.race_identity) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_is_here(_racepriv.race_identity) IS
	'whether OIDs that were recorded in a copy of the database mean the same in this one; a promotion changes none';

CREATE FUNCTION _racepriv._race_rows_naming(tables regclass[])
	RETURNS TABLE (relation regclass, budget text, entered oid, owner name, owner_id oid, here boolean, named boolean)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	WITH entries AS MATERIALIZED (
		SELECT b.*, h.here, CASE WHEN NOT starts_with(b.table_name, quote_ident(s.nspname) || '.')
			THEN format('%I.%I', s.nspname, (parse_ident(b.table_name))[2]) END AS present_name
		FROM _racepriv.race_budget_tables b CROSS JOIN _racepriv._race_identity() i
			CROSS JOIN LATERAL (SELECT (b.identity).system_identifier = i.system_identifier
				AND (b.identity).database = i.database AND (b.identity).ledger = i.ledger) h (here)
			LEFT JOIN pg_namespace s ON s.oid = b.schema_id AND h.here),
	present AS MATERIALIZED (
		SELECT c.oid, c.oid::regclass::text AS name FROM pg_class c WHERE c.oid = ANY (tables))
	SELECT p.oid::regclass, e.budget, e.relation, e.owner, e.owner_id, e.here, false
	FROM present p JOIN entries e ON e.relation = p.oid AND e.here
	UNION ALL
	SELECT p.oid::regclass, e.budget, e.relation, e.owner, e.owner_id, e.here, true
	FROM present p JOIN entries e ON e.table_name = p.name
	UNION ALL
	SELECT p.oid::regclass, e.budget, e.relation, e.owner, e.owner_id, e.here, true
	FROM present p JOIN entries e ON e.present_name = p.name
$$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_rows_naming(regclass[]) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_rows_naming(regclass[]) IS
	'the rows of race_budget_tables that have the OID of a table, or its name (named): the name that was entered, and the one that it has in a schema that was renamed';

CREATE OR REPLACE FUNCTION _racepriv._race_entries_of(tables regclass[])
	RETURNS TABLE (relation regclass, budget text)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.relation, e.budget
	FROM _racepriv._race_rows_naming(tables) e JOIN pg_class c ON c.oid = e.relation
		JOIN _racepriv.race_budgets b ON b.budget = e.budget
		LEFT JOIN pg_class o ON o.oid = e.entered AND e.here
	WHERE NOT e.named OR CASE WHEN e.here THEN e.owner_id = c.relowner AND coalesce(o.relowner = e.owner_id, true)
		ELSE e.owner = pg_get_userbyid(c.relowner) AND NOT _racepriv._race_is_here(b.identity) END
$$;

CREATE FUNCTION _racepriv._race_check_owner(actor name, relations regclass[], budget text DEFAULT NULL) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	entered CONSTANT regclass[] := ARRAY(
		SELECT e.relation FROM _racepriv._race_entries_of(ARRAY(
			SELECT c.oid::regclass FROM pg_class c, _racepriv.race_budget_tables b
			WHERE b.budget = _race_check_owner.budget AND (c.oid = b.relation OR c.oid = to_regclass(b.table_name)))) e
		WHERE e.budget = _race_check_owner.budget);
	foreign_one text;
BEGIN
	SELECT c.oid::regclass::text INTO foreign_one FROM pg_class c
	WHERE c.oid = ANY (relations || _racepriv._race_topmost(entered)) AND NOT pg_has_role(actor, c.relowner, 'USAGE')
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'must be owner of relation "%"', foreign_one USING ERRCODE = 'insufficient_privilege';
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_check_owner(name, regclass[], text) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_check_owner(name, regclass[], text) IS
	'raises 42501 unless a role owns the relations, and all tables of a budget if one is named, as far as they exist';

CREATE OR REPLACE FUNCTION _racepriv._race_find_budget(tables regclass[], public_tables regclass[]) RETURNS text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	budgets text[];
BEGIN
	IF EXISTS (SELECT FROM pg_class WHERE oid = ANY (public_tables) AND relkind NOT IN ('r', 'p', 'f')) THEN
		RAISE EXCEPTION 'public_tables must be tables' USING ERRCODE = 'wrong_object_type',
			HINT = 'Name the tables that a view is made of.';
	END IF;
	IF EXISTS (SELECT FROM _racepriv._race_entries_of(
			_racepriv._race_with_parts(_racepriv._race_topmost(public_tables)))) THEN
		RAISE EXCEPTION 'a table that has a budget cannot be public' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	budgets := ARRAY(SELECT DISTINCT e.budget FROM _racepriv._race_entries_of(
		_racepriv._race_with_parts(_racepriv._race_topmost(tables))) e ORDER BY 1);
	IF cardinality(budgets) > 1 THEN
		RAISE EXCEPTION 'the tables of this relation belong to different budgets'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('They belong to "%s".', array_to_string(budgets, '", "')),
				HINT = 'Protect a relation over all of them first; what is protected then shares its budget.';
	END IF;
	RETURN budgets[1];
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_enter_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO _racepriv.race_budget_tables (table_name, relation, owner, budget, identity, owner_id, schema_id)
	SELECT c.oid::regclass::text, c.oid, pg_get_userbyid(c.relowner), budget, _racepriv._race_identity(),
		c.relowner, c.relnamespace
	FROM pg_class c WHERE c.oid = ANY (tables)
	ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_enter_act(actor name, budget text, dataset text, act text, request jsonb) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO _racepriv.race_charges (budget, dataset, act, request, charged_by, charged_at, identity, charged_by_id)
	VALUES (budget, dataset, act, request, actor, statement_timestamp(), _racepriv._race_identity(), to_regrole(quote_ident(actor)))
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_check_limits(
	epsilon_limit float8, delta_limit float8, accounting text,
	OUT epsilon numeric, OUT delta numeric, OUT rho numeric)
	RETURNS record LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
BEGIN
	IF accounting IS NULL OR accounting NOT IN ('basic', 'zcdp') THEN
		RAISE EXCEPTION 'unknown accounting "%"', left(accounting, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use basic (sums of epsilon and delta) or zcdp (the sum of rho).';
	END IF;
	IF NOT coalesce(epsilon_limit > 0 AND epsilon_limit <= 1e15 AND delta_limit >= 0 AND delta_limit < 1, false) THEN
		RAISE EXCEPTION 'epsilon_limit must be above 0 and at most 1e15, delta_limit at least 0 and below 1'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'For example epsilon_limit => 3, delta_limit => 1e-5.';
	END IF;
	epsilon := epsilon_limit::text::numeric;
	delta := delta_limit::text::numeric;
	IF accounting = 'zcdp' THEN
		rho := _racepriv._race_rho_limit(epsilon_limit, delta_limit)::text::numeric;
	END IF;
END $$;

COMMENT ON FUNCTION _racepriv._race_check_limits(float8, float8, text) IS
	'limits of a budget as the shortest decimals that stand for them, so that ten times 0.1 is 1, and the rho that they allow if it is held to zCDP; error 22023 if they are none';

CREATE OR REPLACE FUNCTION _racepriv._race_protect(
	actor name,
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8,
	unit_column name, max_contributions int,
	neighbors text, accounting text,
	public_tables regclass[], tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	limits record := _racepriv._race_check_limits(epsilon_limit, delta_limit, accounting);
	parts regclass[];
	shared text;
	taken record;
	missing record;
	b _racepriv.race_budgets;
BEGIN
	IF dataset IS NULL OR relation IS NULL OR max_contributions IS NULL OR neighbors IS NULL
		OR public_tables IS NULL OR array_position(public_tables, NULL) IS NOT NULL
	THEN
		RAISE EXCEPTION 'dataset, relation, max_contributions, neighbors and public_tables must not be NULL'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF octet_length(dataset) > 1000 THEN
		RAISE EXCEPTION 'the name of a dataset can have at most 1000 bytes' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	PERFORM _racepriv._race_check_shown('the name of a dataset', ARRAY[dataset]);
	tables := _racepriv._race_topmost(tables);
	PERFORM _racepriv._race_check_owner(actor, tables);
	parts := _racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass, _racepriv._race_with_parts(tables), true);
	IF EXISTS (SELECT FROM _racepriv.race_datasets d WHERE d.dataset = _race_protect.dataset) THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			HINT = 'race_budget_limit changes the limits of its budget.';
	END IF;

	shared := _racepriv._race_find_budget(tables, public_tables);
	IF shared IS NULL THEN
		-- What was dropped, or was restored without its owner, may be there again under its name.  In a copy of
		-- the database a table goes by its name, and one that was renamed there looks new.
		SELECT e.relation::text AS name, e.owner, e.budget, s.epsilon_limit INTO taken
		FROM _racepriv._race_rows_naming(parts) e JOIN _racepriv.race_budgets s USING (budget)
		WHERE e.named AND NOT (e.here AND EXISTS (SELECT FROM pg_class o WHERE o.oid = e.entered AND o.oid <> e.relation))
		ORDER BY 1, 2 LIMIT 1;
		IF FOUND THEN
			RAISE EXCEPTION 'the ledger names table % already', taken.name
				USING ERRCODE = 'object_not_in_prerequisite_state',
					DETAIL = format('A table of this name and of role "%s" belongs to budget "%s", whose epsilon_limit is %s.', taken.owner, taken.budget, taken.epsilon_limit),
					HINT = format('If it is the same table, restored or made anew for another owner, a superuser can CALL race_budget_adopt(%L). If it is another one, rename it.', taken.budget);
		END IF;
		SELECT t.table_name, t.budget INTO missing
		FROM _racepriv.race_budget_tables t JOIN _racepriv.race_budgets s USING (budget)
		WHERE NOT _racepriv._race_is_here(s.identity)
			AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(t.table_name) AND pg_get_userbyid(c.relowner) = t.owner)
			AND t.owner IN (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = ANY (tables))
		ORDER BY 1, 2 LIMIT 1;
		IF FOUND THEN
			RAISE EXCEPTION 'a table of the same owner is missing in this copy of the database'
				USING ERRCODE = 'object_not_in_prerequisite_state',
					DETAIL = format('Table %s has budget "%s".', missing.table_name, missing.budget),
					HINT = 'If the table was renamed here, give it its name back. CALL race_budget_adopt for the budget first.';
		END IF;
		INSERT INTO _racepriv.race_budgets (budget, accounting, epsilon_limit, delta_limit, rho_limit, identity)
		VALUES (dataset, accounting, limits.epsilon, limits.delta, limits.rho, _racepriv._race_identity());
	ELSE
		PERFORM _racepriv._race_check_owner(actor, '{}', shared);
		-- whoever joins a budget must know what it is
		SELECT * INTO b FROM _racepriv.race_budgets s WHERE s.budget = shared;
		IF (b.accounting, b.epsilon_limit, b.delta_limit) IS DISTINCT FROM (accounting, limits.epsilon, limits.delta) THEN
			RAISE EXCEPTION 'the tables of this relation have a budget already' USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('Budget "%s" has epsilon_limit %s, delta_limit %s, accounting %s.',
					b.budget, b.epsilon_limit, b.delta_limit, b.accounting),
				HINT = 'Give the same limits to share it; race_budget_limit changes them.';
		END IF;
	END IF;
	PERFORM _racepriv._race_enter_tables(parts, coalesce(shared, dataset));
	INSERT INTO _racepriv.race_datasets
	SELECT dataset, relation, relation::text, pg_get_userbyid(c.relowner),
		unit_column, max_contributions, neighbors,
		ARRAY(SELECT t::text FROM unnest(public_tables) t), coalesce(shared, dataset), c.relowner
	FROM pg_class c WHERE c.oid = relation;
	PERFORM _racepriv._race_enter_act(actor, coalesce(shared, dataset), dataset, 'protect', jsonb_build_object(
		'relation', relation::text, 'unit_column', unit_column, 'max_contributions', max_contributions,
		'neighbors', neighbors, 'public_tables', public_tables::text[], 'accounting', accounting,
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta));
END $$;

CREATE PROCEDURE race_protect(
	dataset text, relation regclass DEFAULT NULL, epsilon_limit float8 DEFAULT NULL, delta_limit float8 DEFAULT 0,
	unit_column name DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', accounting text DEFAULT 'basic',
	public_tables regclass[] DEFAULT '{}', columns jsonb DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;

GRANT EXECUTE ON PROCEDURE race_protect(text, regclass, float8, float8, name, int, text, text, regclass[], jsonb) TO PUBLIC;

COMMENT ON PROCEDURE race_protect(text, regclass, float8, float8, name, int, text, text, regclass[], jsonb) IS
	'registers a table or view, with a budget, as a dataset that is called like it. unit_column: whom privacy protects; without it each row is a unit. columns: values that the schema does not say. Errors: 42501, 22023';

CREATE OR REPLACE FUNCTION _racepriv._race_budget_limit(
	actor name, dataset text, epsilon_limit float8, delta_limit float8) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	b _racepriv.race_budgets;
	limits record;
BEGIN
	PERFORM _racepriv._race_check_owner(actor, ARRAY[d.relation::regclass], d.budget);
	SELECT * INTO b FROM _racepriv.race_budgets WHERE budget = d.budget FOR UPDATE;
	limits := _racepriv._race_check_limits(epsilon_limit, delta_limit, b.accounting);
	IF b.spent_rho > limits.rho OR b.accounting = 'basic' AND
		(b.spent_epsilon > limits.epsilon OR b.spent_delta > limits.delta)
	THEN
		RAISE EXCEPTION 'a budget cannot be limited to less than what is spent' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Spent: epsilon %s, delta %s, rho %s.', b.spent_epsilon, b.spent_delta, b.spent_rho),
			HINT = 'With the limits at what is spent, nothing more is released.';
	END IF;
	UPDATE _racepriv.race_budgets
	SET epsilon_limit = limits.epsilon, delta_limit = limits.delta, rho_limit = limits.rho WHERE budget = b.budget;
	PERFORM _racepriv._race_enter_act(actor, b.budget, dataset, 'limit', jsonb_build_object(
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta,
		'epsilon_limit_before', b.epsilon_limit, 'delta_limit_before', b.delta_limit));
END $$;

GRANT EXECUTE ON PROCEDURE race_budget_limit(text, float8, float8) TO PUBLIC;

CREATE OR REPLACE FUNCTION _racepriv._race_budget_adopt(actor name, dataset text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	super CONSTANT boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = actor);
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset, super);
	b _racepriv.race_budgets;
	tables regclass[];
	relations jsonb;
	others text;
BEGIN
	PERFORM _racepriv._race_check_owner(actor, ARRAY[d.relation::regclass]);
	SELECT * INTO b FROM _racepriv.race_budgets WHERE budget = d.budget FOR UPDATE;
	SELECT coalesce(array_agg(DISTINCT c.oid), '{}') INTO tables
	FROM _racepriv.race_budget_tables t CROSS JOIN LATERAL _racepriv._race_is_here(t.identity) h (here)
		LEFT JOIN pg_class o ON o.oid = t.relation AND h.here
		JOIN pg_class c ON c.oid = coalesce(o.oid, to_regclass(t.table_name)) AND (o.oid IS NOT NULL
			OR CASE WHEN h.here THEN t.owner_id = c.relowner ELSE t.owner = pg_get_userbyid(c.relowner) END
			OR super AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = d.relation))
	WHERE t.budget = b.budget;
	tables := _racepriv._race_topmost(tables);
	PERFORM _racepriv._race_check_owner(actor, tables);
	IF _racepriv._race_find_budget(tables, '{}') <> b.budget THEN
		RAISE EXCEPTION 'tables of budget "%" belong to another budget', b.budget
			USING ERRCODE = 'object_not_in_prerequisite_state';
	END IF;
	PERFORM _racepriv._race_enter_tables(_racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass,
		_racepriv._race_with_parts(tables), true), b.budget);
	SELECT jsonb_object_agg(o.dataset, jsonb_build_object('relation', c.oid, 'owner', c.relowner)),
		string_agg(format('%s of role "%s" (before "%s")', c.oid::regclass::text, pg_get_userbyid(c.relowner), o.owner), ', ')
			FILTER (WHERE pg_get_userbyid(c.relowner) <> o.owner)
	INTO relations, others
	FROM _racepriv.race_datasets o CROSS JOIN LATERAL _racepriv._race_relation_of(o, super) r (relation)
		JOIN pg_class c ON c.oid = r.relation AND pg_has_role(actor, c.relowner, 'USAGE')
			AND (pg_get_userbyid(c.relowner) = o.owner OR c.relowner = (SELECT relowner FROM pg_class WHERE oid = d.relation))
	WHERE o.budget = b.budget;
	IF others IS NOT NULL THEN
		RAISE NOTICE 'adopted from other owners: %', others;
	END IF;
	UPDATE _racepriv.race_budgets SET identity = _racepriv._race_identity() WHERE budget = b.budget;
	PERFORM _racepriv._race_enter_act(actor, b.budget, dataset, 'adopt',
		jsonb_build_object('identity_before', to_jsonb(b.identity), 'relations', relations));
END $$;

GRANT EXECUTE ON PROCEDURE race_budget_adopt(text) TO PUBLIC;

COMMENT ON PROCEDURE race_budget_adopt(text) IS
	'declares that this copy of the database spends the budget of a dataset from now on, after a restore or a copy. Let no other copy spend it. Error 42501 unless you own its relation and tables';

CREATE OR REPLACE PROCEDURE race_grant(grantee regrole, duty text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner_may CONSTANT text[] := '{race_protect,race_describe,race_budget_limit,race_budget_adopt,race_refreshes_left}';
	curator_may CONSTANT text[] := '{race_release,race_release_sketch,race_release_next,race_refreshes_left}';
	analyst_sees CONSTANT text[] := '{race_releases,race_latest_releases,race_catalog}';
	curator_sees CONSTANT text[] := analyst_sees || '{race_budget_status,race_columns}';
	owner_sees CONSTANT text[] := curator_sees || '{race_budgets,race_datasets,race_budget_tables,race_charges,race_descriptions}';
	f regprocedure;
	t regclass;
BEGIN
	IF grantee IS NULL THEN
		RAISE EXCEPTION 'grantee must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF duty IS NULL OR duty NOT IN ('owner', 'curator', 'analyst') THEN
		RAISE EXCEPTION 'unknown duty "%"', left(duty, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'A role is an owner, a curator or an analyst.';
	END IF;
	FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
		AND p.proname = ANY (CASE duty WHEN 'owner' THEN owner_may WHEN 'curator' THEN curator_may END)
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', f, grantee);
	END LOOP;
	FOR t IN SELECT c.oid FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
		AND c.relname = ANY (CASE duty WHEN 'owner' THEN owner_sees WHEN 'curator' THEN curator_sees ELSE analyst_sees END)
	LOOP
		EXECUTE format('GRANT SELECT ON %s TO %s', t, grantee);
	END LOOP;
END $$;

CREATE FUNCTION _racepriv._race_relation_of(d _racepriv.race_datasets, any_owner boolean) RETURNS oid
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	WITH entered AS (
		SELECT CASE c.act WHEN 'protect' THEN d.relation ELSE (c.request->'relations'->d.dataset->>'relation')::oid END AS relation,
			CASE c.act WHEN 'protect' THEN d.owner_id ELSE (c.request->'relations'->d.dataset->>'owner')::oid END AS owner_id
		FROM _racepriv.race_charges c
		WHERE c.budget = d.budget AND _racepriv._race_is_here(c.identity)
			AND (c.act = 'protect' AND c.dataset = d.dataset OR c.act = 'adopt' AND c.request->'relations' ? d.dataset)
		ORDER BY c.charged_at DESC, c.act LIMIT 1)
	SELECT coalesce((SELECT c.oid FROM pg_class c JOIN entered e ON c.oid = e.relation),
		(SELECT c.oid FROM pg_class c LEFT JOIN entered e ON true
		WHERE c.oid = to_regclass(d.relation_name) AND (any_owner OR CASE
			WHEN e.relation IS NULL THEN pg_get_userbyid(c.relowner) = d.owner ELSE c.relowner = e.owner_id END)))
$$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_relation_of(_racepriv.race_datasets, boolean) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_relation_of(_racepriv.race_datasets, boolean) IS
	'the relation of a dataset as it is now: by its OID, or by its name and owner, or by its name alone; NULL if there is none';

CREATE FUNCTION _racepriv._race_dataset(dataset text, any_owner boolean DEFAULT false) RETURNS _racepriv.race_datasets
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d _racepriv.race_datasets;
	found_name oid;
BEGIN
	SELECT * INTO d FROM _racepriv.race_datasets s WHERE s.dataset = _race_dataset.dataset;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no dataset "%"', left(dataset, 64) USING ERRCODE = 'undefined_object',
			HINT = 'race_protect makes one.';
	END IF;
	found_name := to_regclass(d.relation_name);
	d.relation := _racepriv._race_relation_of(d, any_owner);
	IF d.relation IS NULL AND found_name IS NULL THEN
		RAISE EXCEPTION 'relation "%" of dataset "%" does not exist', d.relation_name, dataset
			USING ERRCODE = 'undefined_table',
				HINT = 'If it was renamed before a restore, protect it under another name with the same limits, and adopt that.';
	ELSIF d.relation IS NULL THEN
		RAISE EXCEPTION 'relation "%" is not that of dataset "%"', d.relation_name, dataset
			USING ERRCODE = 'undefined_table',
				DETAIL = format('It belongs to role "%s"; that of the dataset belonged to role "%s", or to another role of this name.',
					(SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = found_name), d.owner),
				HINT = format('If it is the same relation, restored or made anew for another owner, a superuser can CALL race_budget_adopt(%L).', dataset);
	END IF;
	RETURN d;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_dataset(text, boolean) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_dataset(text, boolean) IS
	'what is registered of a dataset, and its relation as it is now, of any owner where asked for; errors: 42704 no such dataset, 42P01 no such relation';

CREATE FUNCTION _racepriv._race_ordered_labels(label text, labels text[], bytes bigint, delta float8) RETURNS text[]
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	-- all private sketches of a release are in memory at once
	most_bytes CONSTANT bigint := 1000000000;
	most_labels CONSTANT int := 100000;
BEGIN
	IF label IS NULL AND labels IS NOT NULL THEN
		RAISE EXCEPTION 'labels need a label' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'label is the expression that gives the label of a row: label => ''town''.';
	END IF;
	IF label IS NOT NULL AND labels IS NULL AND delta = 0.0::float8 THEN
		RAISE EXCEPTION 'labels that are not listed need a delta' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = 'Which labels occur is private. With a delta, those are released that enough persons have.',
			HINT = 'Write labels => ''{north,south}'' if the list is public, or else delta => 1e-6.';
	END IF;
	IF label IS NOT NULL AND labels IS NULL AND bytes > most_bytes / 2 THEN
		RAISE EXCEPTION 'sketches of two labels could be larger than 1 GB together' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF labels IS NULL THEN
		RETURN NULL;
	END IF;
	IF cardinality(labels) > most_labels THEN
		RAISE EXCEPTION 'a release can have at most % labels', most_labels USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF array_position(labels, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'a label must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF cardinality(labels) = 0 OR array_ndims(labels) <> 1 OR
		cardinality(labels) <> (SELECT count(DISTINCT l COLLATE "C") FROM unnest(labels) l)
	THEN
		RAISE EXCEPTION 'labels must be a list of different labels' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF bytes > most_bytes / cardinality(labels) THEN
		RAISE EXCEPTION 'sketches of so many labels could be larger than 1 GB together' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	RETURN ARRAY(SELECT l COLLATE "C" FROM unnest(labels) l ORDER BY 1);
END $$;

COMMENT ON FUNCTION _racepriv._race_ordered_labels(text, text[], bigint, float8) IS
	'the declared labels, whose sketches have so many bytes, as parts are ordered; NULL if they are to be chosen; errors: 22023 or 22004 unless they are different labels, or without them and a delta; 54000 for too many';

CREATE FUNCTION _racepriv._race_is_shown(shown text) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
	SELECT shown OPERATOR(pg_catalog.!~) '[\u0001-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]|<[A-Za-z/!?]'
$$;

COMMENT ON FUNCTION _racepriv._race_is_shown(text) IS
	'is a text without control characters, characters that change the direction of text, and the beginning of an HTML tag?';

CREATE FUNCTION _racepriv._race_check_shown(what text, texts text[]) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF EXISTS (SELECT FROM unnest(texts) t WHERE NOT _racepriv._race_is_shown(t)) THEN
		RAISE EXCEPTION '% must not contain control characters or markup', what USING ERRCODE = 'invalid_parameter_value',
			HINT = 'After "<" there must be no letter and none of "/", "!" and "?". A description may have several lines.';
	END IF;
END $$;

COMMENT ON FUNCTION _racepriv._race_check_shown(text, text[]) IS
	'raises 22023 for control characters, characters that change the direction of text, and the beginning of an HTML tag';

CREATE FUNCTION _racepriv._race_check_description(
	n int, name text, labels text[], description text, columns text[], units text[]) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	most_bytes CONSTANT int := 200;		-- of a name or a unit
	most_description CONSTANT int := 10000;
BEGIN
	IF name ~ '^\s*$' THEN
		RAISE EXCEPTION 'a release needs a name' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Answers are asked by it, as in race_count(''visits 2026'').';
	ELSIF name ~ '\[[^][(),]*,[^][(),]*[])]$' THEN
		RAISE EXCEPTION 'the name of a release must not end like a period of a series' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Readers of a series would take it for one: leave out [from,to).';
	END IF;
	IF octet_length(description) > most_description THEN
		RAISE EXCEPTION 'a description can have at most % bytes', most_description USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF units IS NOT NULL AND columns IS NULL THEN
		RAISE EXCEPTION 'units need columns' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF array_ndims(columns) <> 1 OR array_lower(columns, 1) <> 1 OR cardinality(columns) <> n
		OR array_ndims(units) <> 1 OR array_lower(units, 1) <> 1 OR cardinality(units) <> n
	THEN
		RAISE EXCEPTION 'columns and units must be lists of % texts', n USING ERRCODE = 'invalid_parameter_value',
			HINT = 'There is one for each column of a record, and one more for the value if there is one.';
	END IF;
	IF EXISTS (SELECT FROM unnest(columns || units) t WHERE octet_length(t) > most_bytes) THEN
		RAISE EXCEPTION 'the name or the unit of a column can have at most % bytes', most_bytes USING ERRCODE = 'program_limit_exceeded';
	END IF;
	PERFORM _racepriv._race_check_shown('a name, a label, a column or a unit', name || labels || columns || units);
	PERFORM _racepriv._race_check_shown('a description', ARRAY[translate(description, E'\n\t', '')]);
	IF EXISTS (SELECT FROM unnest(columns) t WHERE t IS NULL OR t ~ '^ *-?[0-9]* *$')
		OR cardinality(columns) <> (SELECT count(DISTINCT t COLLATE "C") FROM unnest(columns) t)
	THEN
		RAISE EXCEPTION 'the names of columns must be different texts, and no numbers'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
END $$;

COMMENT ON FUNCTION _racepriv._race_check_description(int, text, text[], text, text[], text[]) IS
	'raises 54000 or 22023 for texts that cannot be shown, and unless there is a name and a unit, or none at all, for each of n columns of a record and its value';

CREATE OR REPLACE FUNCTION _racepriv._race_charge(
	dataset text, name text, version int, request jsonb, rho float8, budget text, tables regclass[],
	charged_by name, OUT charge uuid, OUT charged_at timestamptz)
	RETURNS record LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
DECLARE
	asked_epsilon numeric := (request->>'epsilon')::numeric;
	asked_delta numeric := (request->>'delta')::numeric;
	asked_rho numeric := rho::text::numeric;
	b _racepriv.race_budgets;
	fits boolean;
	new_ones regclass[];
BEGIN
	UPDATE _racepriv.race_budgets u
	SET spent_epsilon = spent_epsilon + asked_epsilon, spent_delta = spent_delta + asked_delta, spent_rho = spent_rho + asked_rho
	WHERE u.budget = _race_charge.budget AND CASE accounting
		WHEN 'basic' THEN spent_epsilon + asked_epsilon <= epsilon_limit AND spent_delta + asked_delta <= delta_limit
		ELSE spent_rho + asked_rho <= rho_limit END
	RETURNING u.* INTO b;
	fits := FOUND;
	IF NOT fits THEN
		SELECT * INTO b FROM _racepriv.race_budgets u WHERE u.budget = _race_charge.budget;
	END IF;
	IF b.identity IS DISTINCT FROM _racepriv._race_identity() THEN
		RAISE EXCEPTION 'budget "%" was last spent in another copy of this database', b.budget
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('It was %s, this is %s (system identifier, database, timeline, ledger).',
					b.identity, _racepriv._race_identity()),
				HINT = 'If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).';
	ELSIF NOT fits THEN
		RAISE EXCEPTION 'the budget of dataset "%" does not allow this release', dataset
			USING ERRCODE = 'configuration_limit_exceeded',
				DETAIL = CASE b.accounting
					WHEN 'basic' THEN format('Asked: epsilon %s, delta %s. Left: epsilon %s, delta %s.', asked_epsilon, asked_delta,
						b.epsilon_limit - b.spent_epsilon, b.delta_limit - b.spent_delta)
					ELSE format('Asked: rho %s. Left: rho %s.', asked_rho, b.rho_limit - b.spent_rho) END,
				HINT = 'Ask for what is left, or its owner for more: race_budget_limit. Nothing was read and nothing charged.';
	END IF;
	-- New partitions, names and owners of its tables.  A charge does not wait for others: whoever enters
	-- these now gives them to the same budget, which their lineage leads to.
	new_ones := ARRAY(
		SELECT c.oid FROM pg_class c
		WHERE c.oid = ANY (_racepriv._race_with_parts(_racepriv._race_topmost(tables)))
			AND NOT EXISTS (SELECT FROM _racepriv.race_budget_tables e
				WHERE e.table_name = c.oid::regclass::text AND e.relation = c.oid
					AND e.owner_id = c.relowner AND e.schema_id = c.relnamespace AND _racepriv._race_is_here(e.identity)));
	PERFORM _racepriv._race_enter_tables(
		_racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass, new_ones, false), budget);

	INSERT INTO _racepriv.race_charges AS c
		(budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity, charged_by_id)
	VALUES (budget, dataset, 'release', request || jsonb_build_object('name', name, 'version', version),
		asked_epsilon, asked_delta, asked_rho, charged_by, statement_timestamp(), b.identity, to_regrole(quote_ident(charged_by)))
	RETURNING c.charge, c.charged_at INTO charge, charged_at;
END $$;

CREATE FUNCTION _racepriv._race_provenance(charge uuid, domains jsonb, library text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_strip_nulls(jsonb_build_object('library', library, 'unit_column', d.unit_column, 'public_tables', nullif(d.public_tables, '{}'),
		'sources', (SELECT jsonb_object_agg(k.column_name, k.source) FROM _racepriv._race_columns_of_dataset(d.dataset,
			_racepriv._race_relation_of(d, false), ARRAY(SELECT e->>'name' FROM jsonb_array_elements(domains) e)) k WHERE k.source IS NOT NULL),
		'labels', CASE WHEN c.request ? 'label' THEN CASE WHEN c.request ? 'labels' THEN 'listed' ELSE 'chosen' END END,
		'weight', c.request->'weight', 'weight_max', c.request->'weight_max',
		'epsilon', c.epsilon, 'delta', c.delta, 'rho', c.rho, 'budget', b.budget, 'accounting', b.accounting,
		'epsilon_limit', b.epsilon_limit, 'delta_limit', b.delta_limit, 'rho_limit', b.rho_limit,
		'spent_epsilon', b.spent_epsilon, 'spent_delta', b.spent_delta, 'spent_rho', b.spent_rho,
		'charges', (SELECT count(*) FROM _racepriv.race_charges o WHERE o.budget = b.budget AND o.act = 'release')))
	FROM _racepriv.race_charges c JOIN _racepriv.race_datasets d ON d.dataset = c.dataset JOIN _racepriv.race_budgets b ON b.budget = c.budget
	WHERE c.charge = _race_provenance.charge
$$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_provenance(uuid, jsonb, text) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_provenance(uuid, jsonb, text) IS
	'public facts of a release that was charged, for its label; none depends on data';

CREATE PROCEDURE race_release_sketch(
	name text, dataset text, params race_params DEFAULT NULL, expression text DEFAULT NULL,
	epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, rows int DEFAULT NULL,
	label text DEFAULT NULL, labels text[] DEFAULT NULL,
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	value text DEFAULT NULL, value_lower float8 DEFAULT NULL, value_upper float8 DEFAULT NULL,
	description text DEFAULT NULL, columns text[] DEFAULT NULL, units text[] DEFAULT NULL,
	calibrate float8 DEFAULT NULL, series jsonb DEFAULT NULL,
	weight text DEFAULT NULL, weight_max int DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'race_release' LANGUAGE C;

GRANT EXECUTE ON PROCEDURE race_release_sketch(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8, text, text[], text[], float8, jsonb, text, int) TO PUBLIC;

COMMENT ON PROCEDURE race_release_sketch(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8, text, text[], text[], float8, jsonb, text, int) IS
	'charges the budget of a dataset, then stores a private sketch of an expression over its rows; without params and expression, moments of columns. Arguments: doc/reference.md. The same request again costs nothing. Errors before the charge: 42501, 22023, 42704, 55000';

GRANT EXECUTE ON PROCEDURE race_release_next(text) TO PUBLIC;

COMMENT ON PROCEDURE race_release_next(text) IS
	'releases a new version of a release, of its data as they are now, at the same cost; of a series what is over, which is paid. Errors as race_release, and 42704 if there is no such release';

CREATE OR REPLACE FUNCTION _racepriv._race_refreshes_left(actor name, name text) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
	d _racepriv.race_datasets;
BEGIN
	SELECT c.dataset, c.epsilon, c.delta, c.rho, c.budget, (c.request->'series'->>'intervals')::int AS intervals INTO last
	FROM _racepriv.race_releases r JOIN _racepriv.race_charges c ON c.charge = r.charge
	WHERE r.name = _race_refreshes_left.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	d := _racepriv._race_dataset(last.dataset);
	IF NOT has_any_column_privilege(actor, d.relation, 'SELECT') THEN
		RAISE EXCEPTION 'permission denied for dataset "%"', d.dataset USING ERRCODE = 'insufficient_privilege';
	END IF;
	IF last.intervals IS NOT NULL THEN
		RETURN last.intervals - (SELECT count(DISTINCT lower(r.during)) FROM _racepriv.race_releases r WHERE r.name = _race_refreshes_left.name);
	END IF;
	RETURN (SELECT least(9223372036854775807, floor(CASE b.accounting
		WHEN 'zcdp' THEN (b.rho_limit - b.spent_rho) / last.rho
		ELSE least((b.epsilon_limit - b.spent_epsilon) / last.epsilon, (b.delta_limit - b.spent_delta) / nullif(last.delta, 0)) END))::bigint
	FROM _racepriv.race_budgets b WHERE b.budget = last.budget);
END $$;

GRANT EXECUTE ON FUNCTION race_refreshes_left(text) TO PUBLIC;

COMMENT ON FUNCTION race_refreshes_left(text) IS
	'how many times race_release_next of this release fits what is left of the budget; of a series, intervals that are left; NULL without such a release; error 42501 unless the caller may SELECT from the relation of its dataset';

CREATE TABLE _racepriv.race_descriptions (
	dataset text NOT NULL REFERENCES _racepriv.race_datasets,
	column_name name NOT NULL,
	revision int NOT NULL CHECK (revision >= 1),
	type text,
	lower float8,
	upper float8,
	step float8 CHECK (step > 0::float8),
	categories text[],
	unit text,
	description text,
	public_table text,
	described_by name NOT NULL,
	described_at timestamptz NOT NULL,
	epsilon float8,
	PRIMARY KEY (dataset, column_name, revision),
	CHECK ((lower IS NULL) = (upper IS NULL))
);

COMMENT ON TABLE _racepriv.race_descriptions IS
	'what owners have said of columns (race_describe), append-only: the last revision holds';

COMMENT ON COLUMN _racepriv.race_descriptions.dataset IS 'the dataset';

COMMENT ON COLUMN _racepriv.race_descriptions.column_name IS 'the column of its relation';

COMMENT ON COLUMN _racepriv.race_descriptions.revision IS '1, and one more for each time';

COMMENT ON COLUMN _racepriv.race_descriptions.type IS 'the type that the column had then, without SQL domains; NULL if nothing was said of its values';

COMMENT ON COLUMN _racepriv.race_descriptions.lower IS 'the least value: of dates days, of timestamps seconds since 2000-01-01 in UTC, of intervals seconds; NULL if the schema says it';

COMMENT ON COLUMN _racepriv.race_descriptions.upper IS 'the greatest value, in the same way';

COMMENT ON COLUMN _racepriv.race_descriptions.step IS 'the width of the cells that values are counted in; NULL if it follows from the bounds';

COMMENT ON COLUMN _racepriv.race_descriptions.categories IS 'the categories; NULL if the schema says them';

COMMENT ON COLUMN _racepriv.race_descriptions.unit IS 'what the values are measured in';

COMMENT ON COLUMN _racepriv.race_descriptions.description IS 'what the values mean';

COMMENT ON COLUMN _racepriv.race_descriptions.public_table IS 'the public table that the categories were read from; NULL for none';

COMMENT ON COLUMN _racepriv.race_descriptions.described_by IS 'the role that said it';

COMMENT ON COLUMN _racepriv.race_descriptions.described_at IS 'when';

COMMENT ON COLUMN _racepriv.race_descriptions.epsilon IS 'what bounds by noisy counts cost; NULL where the owner said them';

CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON _racepriv.race_descriptions
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();

SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_descriptions', '');

CREATE FUNCTION _racepriv._race_domain(
	relation oid, column_number smallint, described_type text, described_lower float8, described_upper float8,
	described_step float8, described_categories text[],
	OUT type text, OUT domain jsonb, OUT kind text, OUT lower text, OUT upper text, OUT step text,
	OUT categories text[], OUT cells int, OUT source text, OUT reason text, OUT arguments text)
	RETURNS record AS 'MODULE_PATHNAME', 'race_domain' LANGUAGE C STABLE PARALLEL SAFE COST 1000;

REVOKE EXECUTE ON FUNCTION _racepriv._race_domain(oid, smallint, text, float8, float8, float8, text[]) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_domain(oid, smallint, text, float8, float8, float8, text[]) IS
	'the domain of a column by CHECK constraints, types and a description; if it has none the reason, and what race_describe needs. Conditions are read, never evaluated';

CREATE FUNCTION _racepriv._race_columns_of_dataset(dataset text, relation oid, columns text[])
	RETURNS TABLE (column_name name, type text, kind text, lower text, upper text, step text, categories text[],
		nulls boolean, others boolean, cells int, unit text, description text, source text, reason text, hint text, domain jsonb)
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT a.attname, d.type, d.kind, d.lower, d.upper, d.step, d.categories,
		CASE WHEN d.reason IS NULL THEN (d.domain->>'null')::boolean END, CASE WHEN d.reason IS NULL THEN (d.domain->>'other')::boolean END, d.cells, s.unit, s.description,
		CASE WHEN s.public_table IS NOT NULL AND d.source = 'described' THEN 'public table ' || s.public_table
			WHEN s.epsilon IS NOT NULL AND d.source = 'described' THEN 'noisy counts' ELSE d.source END,
		d.reason, CASE WHEN d.arguments IS NOT NULL THEN format('CALL race_describe(%L, %L, %s)', _race_columns_of_dataset.dataset, a.attname,
			coalesce('public_table => ' || quote_literal(f.name), d.arguments)) END, d.domain
	FROM pg_attribute a
	LEFT JOIN LATERAL (
		SELECT * FROM _racepriv.race_descriptions r
		WHERE r.dataset = _race_columns_of_dataset.dataset AND r.column_name = a.attname
		ORDER BY r.revision DESC LIMIT 1) s ON true
	CROSS JOIN LATERAL _racepriv._race_domain(relation, a.attnum, s.type, s.lower, s.upper, s.step, s.categories) d
	LEFT JOIN LATERAL (
		SELECT c.confrelid::regclass::text AS name
		FROM pg_constraint c JOIN _racepriv.race_datasets p ON p.dataset = _race_columns_of_dataset.dataset
		WHERE d.arguments LIKE 'categories%' AND c.contype = 'f' AND c.conrelid = relation AND c.conkey = ARRAY[a.attnum]
			AND c.confrelid::regclass::text = ANY (p.public_tables) LIMIT 1) f ON true
	WHERE a.attrelid = relation AND a.attnum > 0::smallint AND NOT a.attisdropped AND (columns IS NULL OR a.attname::text COLLATE "C" = ANY (columns))
	ORDER BY a.attnum
$$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_columns_of_dataset(text, oid, text[]) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_columns_of_dataset(text, oid, text[]) IS
	'what is known of some columns, or all, of the relation of a dataset; where nothing is, the reason, and the statement that helps';

CREATE FUNCTION _racepriv._race_columns_seen()
	RETURNS TABLE (dataset text, column_name name, type text, kind text, lower text, upper text, step text, categories text[],
		nulls boolean, others boolean, cells int, unit text, description text, source text, reason text)
	AS 'MODULE_PATHNAME', 'race_columns_seen' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000;

COMMENT ON FUNCTION _racepriv._race_columns_seen() IS
	'the rows of race_columns: of datasets whose relation the caller may read';

CREATE VIEW race_columns AS
SELECT dataset, column_name, type, kind, lower, upper, step, categories, nulls, others, cells, unit, description, source,
	nullif(reason, ''::text) AS reason
FROM _racepriv._race_columns_seen();

COMMENT ON VIEW race_columns IS
	'the columns of the datasets whose relation you may read, and which values each is counted by: what the schema says, or its owner (race_describe)';

COMMENT ON COLUMN race_columns.dataset IS 'the dataset';

COMMENT ON COLUMN race_columns.column_name IS 'the column of its relation';

COMMENT ON COLUMN race_columns.type IS 'its type, without SQL domains';

COMMENT ON COLUMN race_columns.kind IS 'number or category; NULL if no domain is known';

COMMENT ON COLUMN race_columns.lower IS 'the least number; smaller ones are counted as this one';

COMMENT ON COLUMN race_columns.upper IS 'the greatest number; larger ones are counted as this one';

COMMENT ON COLUMN race_columns.step IS 'the width of the cells that numbers are counted in';

COMMENT ON COLUMN race_columns.categories IS 'the categories';

COMMENT ON COLUMN race_columns.nulls IS 'whether NULL is counted for itself: unless the column is NOT NULL';

COMMENT ON COLUMN race_columns.others IS 'whether values that are no category are counted, together: where the schema does not exclude them';

COMMENT ON COLUMN race_columns.cells IS 'how many counters a table of this column has';

COMMENT ON COLUMN race_columns.unit IS 'what the values are measured in';

COMMENT ON COLUMN race_columns.description IS 'what the values mean';

COMMENT ON COLUMN race_columns.source IS 'what says so: boolean, enum, check, domain (a SQL domain), described, noisy counts, or a public table';

COMMENT ON COLUMN race_columns.reason IS 'why the column has no domain, and the statement that gives it one; NULL if it has one';

CREATE FUNCTION _racepriv._race_describe(
	actor name, dataset text, column_name name, lower float8, upper float8, step float8, categories text[],
	unit text, description text, public_table regclass, epsilon float8) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
	most_bytes CONSTANT int := 200;		-- of a unit or a category
	most_description CONSTANT int := 10000;
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	told CONSTANT boolean := lower IS NOT NULL OR step IS NOT NULL OR categories IS NOT NULL;
	known record;
BEGIN
	PERFORM _racepriv._race_check_owner(actor, ARRAY[d.relation::regclass]);
	IF octet_length(unit) > most_bytes OR EXISTS (SELECT FROM unnest(categories) c WHERE octet_length(c) > most_bytes) THEN
		RAISE EXCEPTION 'a unit or a category can have at most % bytes', most_bytes USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF octet_length(description) > most_description THEN
		RAISE EXCEPTION 'a description can have at most % bytes', most_description USING ERRCODE = 'program_limit_exceeded';
	END IF;
	PERFORM _racepriv._race_check_shown('a unit or a category', unit || categories);
	PERFORM _racepriv._race_check_shown('a description', ARRAY[translate(description, E'\n\t', '')]);
	IF cardinality(categories) = 0 OR array_ndims(categories) <> 1
		OR cardinality(categories) <> (SELECT count(DISTINCT c COLLATE "C") FROM unnest(categories) c)
	THEN
		RAISE EXCEPTION 'categories must be a list of different texts' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'For example categories => ''{north,south}''.';
	END IF;
	PERFORM _racepriv._race_lock_tables('_racepriv.race_descriptions'::regclass, ARRAY[d.relation::regclass], true);
	INSERT INTO _racepriv.race_descriptions
	SELECT dataset, column_name, coalesce((SELECT max(r.revision) FROM _racepriv.race_descriptions r
			WHERE r.dataset = _race_describe.dataset AND r.column_name = _race_describe.column_name), 0) + 1,
		CASE WHEN told THEN k.type END, lower, upper, step, categories, unit, description,
		public_table::text, actor, clock_timestamp(), epsilon
	FROM _racepriv._race_columns_of_dataset(dataset, d.relation, ARRAY[column_name::text]) k;
	SELECT k.reason, k.hint INTO known
	FROM _racepriv._race_columns_of_dataset(dataset, d.relation, ARRAY[column_name::text]) k;
	IF told AND known.reason IS NOT NULL THEN
		RAISE EXCEPTION 'column "%" has no domain so: %', column_name, known.reason USING ERRCODE = 'invalid_parameter_value',
			HINT = coalesce(known.hint, CASE WHEN lower > upper THEN 'The lower bound comes first.' ELSE 'Describe it otherwise.' END);
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_describe(name, text, name, float8, float8, float8, text[], text, text, regclass, float8) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_describe(name, text, name, float8, float8, float8, text[], text, text, regclass, float8) IS
	'race_describe for a role that owns the relation';

CREATE PROCEDURE race_describe(
	dataset text, column_name name, lower anycompatible DEFAULT NULL, upper anycompatible DEFAULT NULL,
	categories text[] DEFAULT NULL, unit text DEFAULT NULL, step "any" DEFAULT NULL,
	description text DEFAULT NULL, public_table regclass DEFAULT NULL, bounds text DEFAULT NULL, epsilon float8 DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;

GRANT EXECUTE ON PROCEDURE race_describe(text, name, anycompatible, anycompatible, text[], text, "any", text, regclass, text, float8) TO PUBLIC;

COMMENT ON PROCEDURE race_describe(text, name, anycompatible, anycompatible, text[], text, "any", text, regclass, text, float8) IS
	'says which values a column has, where its schema does not: bounds and a step, or categories, none depending on the data, or bounds by noisy counts. Replaces what was said. Errors: 42501 unless you own the relation, 22023';

CREATE FUNCTION _racepriv._race_release_domains(
	dataset text, columns text[], measure text, delta float8, vector boolean,
	OUT domains jsonb, OUT units text[], OUT names text[], OUT params text)
	RETURNS record LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
DECLARE
	most_columns CONSTANT int := 99;
	most_numbers CONSTANT int := 1023;		-- of moments,
	most_bound CONSTANT float8 := 1e100;	-- and their bounds
	most_fine CONSTANT int := 50;	-- more columns have groups of numbers that are twice as wide: a quarter of the counters
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	c record;
	flags text[];		-- names of the numbers of a column that are 0 or 1,
	lower float8[];		-- and bounds of all
	upper float8[];
BEGIN
	IF cardinality(columns) = 0 OR array_ndims(columns) <> 1
		OR EXISTS (SELECT FROM unnest(columns) n GROUP BY n COLLATE "C" HAVING count(*) > 1)
	THEN
		RAISE EXCEPTION 'columns must be a list of different names' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'For example columns => ''{age,town}''; race_columns shows which there are.';
	END IF;
	IF array_position(columns, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'the name of a column must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF cardinality(columns) + (measure IS NOT NULL)::int > most_columns THEN
		RAISE EXCEPTION 'a release can have at most % columns, with a measure', most_columns USING ERRCODE = 'program_limit_exceeded';
	END IF;
	domains := '[]';
	FOR c IN SELECT n.name, n.place > cardinality(columns) AS is_measure, k.*
		FROM unnest(columns || measure) WITH ORDINALITY n (name, place)
		LEFT JOIN _racepriv._race_columns_of_dataset(dataset, d.relation, columns || measure) k
			ON k.column_name::text COLLATE "C" = n.name
		WHERE n.name IS NOT NULL
		ORDER BY n.place
	LOOP
		IF c.column_name IS NULL THEN
			RAISE EXCEPTION 'dataset "%" has no column "%"', dataset, left(c.name, 64) USING ERRCODE = 'undefined_column',
				HINT = 'race_columns shows which there are.';
		ELSIF c.reason IS NOT NULL AND (c.domain IS NULL OR delta = 0.0::float8) THEN
			RAISE EXCEPTION 'column "%" of dataset "%" has no public domain', c.name, dataset USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('%s%s. Nothing was read and nothing charged.', upper(left(c.reason, 1)), substr(c.reason, 2)),
				HINT = coalesce('Its owner can say it: ' || c.hint || CASE WHEN c.domain IS NOT NULL THEN
					'; or write delta => 1e-6, and the release chooses the categories that enough persons have'
					WHEN c.hint LIKE '%upper%' THEN '; or find them by noisy counts: bounds => ''private'', epsilon => 0.05' ELSE '' END,
					'Leave it out, or protect a view in which it is of another type.');
		END IF;
		IF c.is_measure AND c.kind <> 'number' THEN
			RAISE EXCEPTION 'measure "%" of dataset "%" is no number', c.name, dataset USING ERRCODE = 'datatype_mismatch',
				DETAIL = 'A measure is a number whose mean is wanted, for the values of columns. Nothing was read and nothing charged.',
				HINT = 'race_columns shows the kind of each column.';
		END IF;
		IF vector AND c.kind = 'number' AND ((c.domain->>'lower')::float8 = (c.domain->>'upper')::float8
			OR greatest(abs((c.domain->>'lower')::float8), abs((c.domain->>'upper')::float8)) > most_bound) THEN
			RAISE EXCEPTION 'moments cannot have column "%" of dataset "%", which is from % to %', c.name, dataset, c.lower, c.upper
				USING ERRCODE = 'invalid_parameter_value',
					DETAIL = format('Its bounds must differ, and lie between -%1$s and %1$s. Nothing was read and nothing charged.', most_bound),
					HINT = 'Leave it out, or describe it by other bounds (race_describe).';
		END IF;
		PERFORM _racepriv._race_check_shown(format('a category or the type of column "%s"', c.name), c.categories || c.type);
		domains := domains || jsonb_build_array(CASE WHEN c.is_measure THEN
			c.domain || jsonb_build_object('measure', true, 'group', 0, 'single', 0, 'cells', 2 + c.nulls::int)	-- parts of cells (contingency.h)
			WHEN vector THEN c.domain || '{"vector": true}' ELSE c.domain END);
		IF NOT vector OR c.kind = 'number' THEN
			names := names || CASE WHEN c.is_measure THEN 'mean of ' || c.name ELSE c.name END;
			units := units || c.unit;
			lower := lower || (c.domain->>'lower')::float8;
			upper := upper || (c.domain->>'upper')::float8;
		END IF;
		IF vector THEN
			flags := array_remove(ARRAY(SELECT c.name || ' = ' || v FROM unnest(c.categories) v)
				|| CASE WHEN c.nulls THEN c.name || ' is null' END, NULL);
			names := names || flags;
			units := units || array_fill(NULL::text, ARRAY[cardinality(flags)]);
			-- 0 and 1 from -1 to 1: a record has few numbers that are not 0, and less noise beside them
			lower := lower || array_fill(-1::float8, ARRAY[cardinality(flags)]);
			upper := upper || array_fill(1::float8, ARRAY[cardinality(flags)]);
		END IF;
	END LOOP;
	IF vector AND cardinality(names) > most_numbers THEN
		RAISE EXCEPTION 'moments can be of at most % numbers, and these columns have %', most_numbers, cardinality(names)
			USING ERRCODE = 'program_limit_exceeded',
				DETAIL = 'A column has a number for each category, and one for NULL. Nothing was read and nothing charged.',
				HINT = 'Leave out columns of many categories, or release tables of them: CALL race_release.';
	END IF;
	params := format('moments(dims=%s, targets=0, lower=%s, upper=%s)', cardinality(names), lower, upper);
	IF cardinality(columns) > most_fine THEN
		SELECT jsonb_agg(CASE WHEN e.domain->>'kind' = 'number' AND (e.domain->>'group')::int > 1 THEN
			e.domain || jsonb_build_object('group', 2 * (e.domain->>'group')::int) ELSE e.domain END ORDER BY e.place)
		INTO domains FROM jsonb_array_elements(domains) WITH ORDINALITY e (domain, place);
	END IF;
	IF array_remove(units, NULL) = '{}' THEN
		units := NULL;
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_release_domains(text, text[], text, float8, boolean) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_release_domains(text, text[], text, float8, boolean) IS
	'domains and units of columns, and of a measure after them, or of a vector with its parameters; with a delta, texts may have no categories yet. Errors: 42703 for no such column, 22023 for a column without a domain';

CREATE FUNCTION _racepriv._race_state_categories(domains jsonb, categories text[]) RETURNS jsonb
	LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_set(domains, ARRAY[(d.place - 1)::text], d.domain || jsonb_build_object('categories', c.list,
		'cells', cardinality(c.list) + (d.domain->>'single')::int, 'group', (cardinality(c.list) + 127) / 128))	-- groups as in columns.c
	FROM jsonb_array_elements(domains) WITH ORDINALITY d (domain, place),
		(SELECT coalesce(array_agg(n COLLATE "C" ORDER BY n COLLATE "C"), '{""}') FROM unnest(categories) n) c (list)
	WHERE d.domain ? 'chosen' AND NOT d.domain ? 'categories'
	ORDER BY d.place LIMIT 1
$$;

COMMENT ON FUNCTION _racepriv._race_state_categories(jsonb, text[]) IS
	'domains with the categories of the first column whose categories are still to be chosen; of none, an empty text';

CREATE FUNCTION _racepriv._race_check_domains(name text, dataset text, domains jsonb) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	of_cells CONSTANT text[] := '{categories,cells,group,single}';		-- which are chosen, and of which a measure has none
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	c record;
BEGIN
	SELECT o.domain->>'name' AS column_name, o.domain AS before, k.domain AS now, coalesce(k.reason, 'the column does not exist') AS reason INTO c
	FROM jsonb_array_elements(domains) WITH ORDINALITY o (domain, place)
		LEFT JOIN _racepriv._race_columns_of_dataset(dataset, d.relation,
			(SELECT array_agg(e->>'name') FROM jsonb_array_elements(domains) e)) k ON k.column_name::text COLLATE "C" = o.domain->>'name'
	-- groups follow from the other columns, too
	WHERE CASE WHEN o.domain ? 'measure' OR (o.domain ? 'chosen' AND k.domain ? 'chosen')
		THEN (k.domain - of_cells) IS DISTINCT FROM (o.domain - 'measure'::text - of_cells)
		ELSE k.domain - 'group'::text IS DISTINCT FROM o.domain - '{group,vector}'::text[] END
	ORDER BY o.place LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'the domain of column "%" is not that of release "%" any more', c.column_name, left(name, 64)
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = CASE WHEN c.now IS NULL THEN format('It has none now: %s.', c.reason)
					ELSE (SELECT format('It was %s; it is %s.', left(string_agg(format('%s %s', b.key, b.value), ', ' ORDER BY b.key), 500),
						left(string_agg(format('%s %s', b.key, coalesce(c.now->>b.key, 'false')), ', ' ORDER BY b.key), 500))
						FROM jsonb_each_text(c.before) b
						WHERE b.key <> ALL ('{cells,group,single,start,measure,vector}') AND b.value IS DISTINCT FROM c.now->>b.key) END
					|| ' Nothing was read and nothing charged.',
				HINT = 'Describe the column as it was (race_describe), or make a release of another name.';
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_check_domains(text, text, jsonb) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_check_domains(text, text, jsonb) IS
	'raises 55000 if a column has another domain than when a release was made';

CREATE PROCEDURE race_release(
	name text, dataset text, columns text[] DEFAULT NULL, epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, description text DEFAULT NULL,
	measure text DEFAULT NULL, label text DEFAULT NULL, workload text[] DEFAULT NULL, series jsonb DEFAULT NULL,
	weight text DEFAULT NULL, weight_max int DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'race_release_columns' LANGUAGE C;

GRANT EXECUTE ON PROCEDURE race_release(text, text, text[], float8, float8, text, text, text, text[], jsonb, text, int) TO PUBLIC;

COMMENT ON PROCEDURE race_release(text, text, text[], float8, float8, text, text, text, text[], jsonb, text, int) IS
	'charges a dataset''s budget, then stores noisy counts of columns and pairs. measure: a number whose means are wanted; label: what matters most; workload: sets that do; series: intervals of time; weight: of rows. Errors: 42501, 42703, 22023, 42704, 55000';

CREATE FUNCTION race_plan(
	dataset text, columns text[], epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, error float8 DEFAULT NULL, records bigint DEFAULT 10000,
	measure text DEFAULT NULL, label text DEFAULT NULL, workload text[] DEFAULT NULL, weight_max int DEFAULT NULL, OUT question text, OUT expected float8, OUT unit text)
	RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 10000 ROWS 20;

COMMENT ON FUNCTION race_plan(text, text[], float8, float8, float8, bigint, text, text, text[], int) IS
	'which errors a release of these columns would have, with 95 % confidence, of so many records; or the epsilon for an error of one value''s count. Others as race_release. Reads no data. Errors: 42501, 42703, 42704, 22023, 54000';

CREATE OR REPLACE VIEW race_catalog AS
SELECT f.name, f.version, p.labels, f.description,
	coalesce(f.columns, CASE WHEN f.value_bound IS NULL THEN c.numbers ELSE pg_catalog.array_append(c.numbers, 'value'::text) END) AS columns,
	f.units,
	CASE WHEN f.value_bound IS NULL THEN c.lower ELSE pg_catalog.array_append(c.lower, p.value_lower) END AS lower,
	CASE WHEN f.value_bound IS NULL THEN c.upper ELSE pg_catalog.array_append(c.upper, p.value_upper) END AS upper,
	p.count, p.epsilon, p.delta, f.released_at, f.dataset, f.domains, f.during,
	f.provenance->>'weight' AS weight, (f.provenance->>'weight_max')::int AS weight_max
FROM _racepriv.race_releases f
CROSS JOIN LATERAL (
	SELECT pg_catalog.array_agg(c.number::text ORDER BY c.number), pg_catalog.array_agg(c.lower ORDER BY c.number),
		pg_catalog.array_agg(c.upper ORDER BY c.number)
	FROM _racepriv._race_columns(f.sketch) c) c (numbers, lower, upper)
CROSS JOIN LATERAL (
	SELECT pg_catalog.array_agg(r.label ORDER BY r.part) FILTER (WHERE r.label IS NOT NULL AND r.value_bound IS NOT DISTINCT FROM f.value_bound),
		pg_catalog.min(r.value_bound), pg_catalog.max(r.value_bound),
		pg_catalog.sum(race_count(r.sketch)),
		pg_catalog.max(i.epsilon + coalesce(s.epsilon, 0)), pg_catalog.max(i.delta)
	FROM _racepriv.race_releases r CROSS JOIN LATERAL race_info(r.sketch) i
		CROSS JOIN LATERAL race_info(r.scores) s
	WHERE r.name = f.name AND r.version = f.version) p (labels, value_lower, value_upper, count, epsilon, delta)
WHERE f.part = 1 AND f.version = (SELECT pg_catalog.max(n.version) FROM _racepriv.race_releases n WHERE n.name = f.name);

COMMENT ON VIEW race_catalog IS
	'a row for each release: what its publisher says of it, and what its latest version is, without the sketch. Tools that read whole rows read this one, not race_releases';

COMMENT ON COLUMN race_catalog.name IS 'the name of the release';

COMMENT ON COLUMN race_catalog.version IS 'its latest version';

COMMENT ON COLUMN race_catalog.labels IS 'its labels; NULL in a release without labels';

COMMENT ON COLUMN race_catalog.description IS 'what the publisher says of it; NULL if nothing';

COMMENT ON COLUMN race_catalog.columns IS 'the names of the columns of a record, and of the value after them; their numbers, and value, if the publisher gave no names';

COMMENT ON COLUMN race_catalog.units IS 'what the columns are measured in, NULL for what has no unit; NULL if the publisher did not say';

COMMENT ON COLUMN race_catalog.lower IS 'the lower bounds of the columns, NULL where there is none; of a value value_lower';

COMMENT ON COLUMN race_catalog.upper IS 'the upper bounds, in the same way';

COMMENT ON COLUMN race_catalog.count IS 'the noisy number of records, of all labels together';

COMMENT ON COLUMN race_catalog.epsilon IS 'the true epsilon of this version';

COMMENT ON COLUMN race_catalog.delta IS 'its delta';

COMMENT ON COLUMN race_catalog.released_at IS 'when it was charged, before its data were read';

COMMENT ON COLUMN race_catalog.dataset IS 'the dataset that it was made of';

COMMENT ON COLUMN race_catalog.domains IS 'of a release by columns, the domain of each column; NULL in others';

COMMENT ON COLUMN race_catalog.during IS 'of a series, the time of the records of its latest value, which count is of; NULL in others';

COMMENT ON COLUMN race_catalog.weight IS 'of records with weights, the expression of a weight; then count is the sum of weights. NULL in others';

COMMENT ON COLUMN race_catalog.weight_max IS 'the largest weight, above which weights are cut; NULL in others';

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_catalog SET (security_invoker = true);
	END IF;
END $$;

CREATE FUNCTION _racepriv._race_domains_of(release text, needed boolean, label text DEFAULT NULL, smoothing float8 DEFAULT NULL) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := (SELECT r.domains FROM _racepriv.race_releases r
		WHERE r.name = (_racepriv._race_period(release)).name AND NOT r.domains->0 ? 'vector' ORDER BY r.version DESC, r.part LIMIT 1);
BEGIN
	IF domains IS NULL AND needed AND release IS NOT NULL THEN
		PERFORM _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l;		-- says that there is none
		RAISE EXCEPTION 'release "%" has no tables of columns', left(release, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'This is asked of releases that race_release made, of columns of a dataset: race_catalog shows which these are.';
	ELSIF domains IS NOT NULL AND label IS NOT NULL THEN
		RAISE EXCEPTION 'release "%" has no label "%"', left(release, 64), left(label, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = format('It was made by columns. Where there is a condition, it says which records: "where" => ''{"column": "%s"}''.', left(label, 64));
	ELSIF domains IS NOT NULL AND smoothing IS NOT NULL THEN
		RAISE EXCEPTION 'release "%" was made by columns, whose values are counted: it has no smoothing', left(release, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Leave smoothing out; with fewer steps or bins there is less noise in each.';
	END IF;
	RETURN domains;
END $$;

COMMENT ON FUNCTION _racepriv._race_domains_of(text, boolean, text, float8) IS
	'the domains of the columns of the latest version of a release; NULL if it was not made by columns. Errors: 42704, 22023 if they are needed; 22023 for a label or smoothing of a release by columns';

CREATE OR REPLACE FUNCTION _racepriv._race_labels(release text, label text) RETURNS TABLE (label text)
	LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(_race_labels.label, l.label)
	FROM (VALUES (1)) one LEFT JOIN LATERAL (
		SELECT r.label, min(r.part) AS part FROM _racepriv.race_releases r
		WHERE r.name = (_racepriv._race_period(release)).name AND _race_labels.label IS NULL
			AND r.version = (SELECT max(n.version) FROM _racepriv.race_releases n WHERE n.name = (_racepriv._race_period(release)).name)
		GROUP BY r.label) l ON true
	WHERE release IS NOT NULL ORDER BY l.part
$$;

CREATE TYPE _racepriv.race_count_result AS (
	count float8, lower float8, upper float8, source text);

COMMENT ON TYPE _racepriv.race_count_result IS 'the result of race_count';

COMMENT ON COLUMN _racepriv.race_count_result.count IS 'how many records there are';

COMMENT ON COLUMN _racepriv.race_count_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN _racepriv.race_count_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_count_result.source IS 'measured, with known noise, or by the model';

CREATE FUNCTION race_count(
	release text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS _racepriv.race_count_result LANGUAGE racepriv STABLE STRICT PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, "where" <> '{}');
	result _racepriv.race_count_result;
BEGIN
	IF domains IS NOT NULL THEN
		SELECT c.* INTO result FROM _racepriv._race_tables_count(_racepriv._race_released(release), domains, "where", confidence) c;
	ELSE
		SELECT n.count, greatest(n.count - z.z * n.error, 0::float8), n.count + z.z * n.error, 'measured' INTO result
		FROM _racepriv._race_z(confidence) z (z) CROSS JOIN (
			SELECT sum(i.count::float8) AS count, sqrt(sum(coalesce(i.count_noise_stddev, 0::float8) ^ 2::float8)) AS error
			FROM _racepriv._race_labels(release, NULL) l CROSS JOIN LATERAL _racepriv._race_info(_racepriv._race_released(release, l.label)) i) n;
	END IF;
	RETURN result;
END $$;

COMMENT ON FUNCTION race_count(text, jsonb, float8) IS
	'how many records of a release have these values, with an interval: {"age": [30, 40], "town": ["Rome", "Paris"]}. source: measured with known noise, or by the model. Errors: 42704, 42703, 22023';

CREATE TYPE _racepriv.race_crosstab_result AS (
	value1 text, value2 text, count float8, lower float8, upper float8, source text);

COMMENT ON TYPE _racepriv.race_crosstab_result IS 'a row of the result of race_crosstab';

COMMENT ON COLUMN _racepriv.race_crosstab_result.value1 IS 'the value of the first column, or the range [a,b)';

COMMENT ON COLUMN _racepriv.race_crosstab_result.value2 IS 'that of the second; NULL too if only one is asked for';

COMMENT ON COLUMN _racepriv.race_crosstab_result.count IS 'how many records have both';

COMMENT ON COLUMN _racepriv.race_crosstab_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN _racepriv.race_crosstab_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_crosstab_result.source IS 'measured, with known noise, or by the model';

CREATE FUNCTION race_crosstab(
	release text, column1 text, column2 text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_crosstab_result LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT c.value1, c.value2, c.count, c.lower, c.upper, c.source FROM _racepriv._race_tables_crosstab(
		_racepriv._race_released(release), _racepriv._race_domains_of(release, true), column1, column2, confidence) c;
END $$;

COMMENT ON FUNCTION race_crosstab(text, text, text, float8) IS
	'how many records of a release have each value of a column, or each pair of values of two columns, with intervals; ranges [a,b) of numbers. source as race_count. Errors: 42704, 42703, 22023';

CREATE FUNCTION race_synthesize(base anyelement, release text, n bigint, seed bigint DEFAULT 0)
	RETURNS SETOF anyelement LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000 ROWS 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT * FROM _racepriv._race_tables_rows(base, _racepriv._race_released(release),
		_racepriv._race_domains_of(release, true), n, seed);
END $$;

COMMENT ON FUNCTION race_synthesize(anyelement, text, bigint, bigint) IS
	'n synthetic rows of a release, in the columns of a row type that it has: race_synthesize(NULL::visits, ''visits 2026'', 1000). Other values are NULL, or categories in NOT NULL columns. Equal seeds: equal rows. Errors: 42704, 42703, 22023';

CREATE TYPE _racepriv.race_mean_result AS (
	value1 text, value2 text, mean float8, lower float8, upper float8, count float8, source text,
	"text" text, lower_text text, upper_text text);

COMMENT ON TYPE _racepriv.race_mean_result IS 'a row of the result of race_mean';

COMMENT ON COLUMN _racepriv.race_mean_result.value1 IS 'the value of the first column of by, or the range [a,b)';

COMMENT ON COLUMN _racepriv.race_mean_result.value2 IS 'that of the second';

COMMENT ON COLUMN _racepriv.race_mean_result.mean IS 'the mean of the column; dates are days and timestamps seconds since 2000-01-01, intervals seconds. NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_mean_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN _racepriv.race_mean_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_mean_result.count IS 'how many records it is of';

COMMENT ON COLUMN _racepriv.race_mean_result.source IS 'measured, with known noise, or by the model';

COMMENT ON COLUMN _racepriv.race_mean_result."text" IS 'of a date, time or interval, the mean as text; NULL for numbers';

COMMENT ON COLUMN _racepriv.race_mean_result.lower_text IS 'and lower';

COMMENT ON COLUMN _racepriv.race_mean_result.upper_text IS 'and upper';

CREATE FUNCTION race_mean(
	release text, "column" text, by anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_mean_result LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	list CONSTANT text := by::text;
	columns CONSTANT text[] := CASE WHEN list LIKE '{%}' THEN list::text[] WHEN list IS NOT NULL THEN ARRAY[list] END;
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, true);
	type CONSTANT text := (SELECT d->>'type' FROM jsonb_array_elements(domains) d WHERE d->>'name' = "column" LIMIT 1);
BEGIN
	RETURN QUERY SELECT m.value1, m.value2, m.mean, m.lower, m.upper, m.count, m.source,
		_racepriv._race_text(type, m.mean, true), _racepriv._race_text(type, m.lower, true), _racepriv._race_text(type, m.upper, true)
	FROM _racepriv._race_tables_mean(_racepriv._race_released(release), domains, "column", columns, "where", confidence) m;
END $$;

COMMENT ON FUNCTION race_mean(text, text, anycompatible, jsonb, float8) IS
	'the mean of a column of a release, of all records or by each value of a column, or two: town, {town,age}, or an array. NULL where too little is known. where, source and errors as race_count';

CREATE FUNCTION _racepriv._race_some(domains jsonb, "column" text, "where" jsonb) RETURNS jsonb
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF EXISTS (SELECT FROM jsonb_array_elements(domains) d WHERE d->>'name' = "column" AND d->'categories' IS NOT NULL) THEN
		RAISE EXCEPTION 'column "%" of the release has categories, no numbers', left("column", 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_crosstab counts its values, race_mean has means by them.';
	END IF;
	RETURN CASE WHEN "where" ? "column" THEN "where" ELSE "where" || jsonb_build_object("column", '[null, null]'::jsonb) END;
END $$;

COMMENT ON FUNCTION _racepriv._race_some(jsonb, text, jsonb) IS
	'a condition, and that a column of numbers is not NULL; error 22023 if it has categories';

CREATE TYPE _racepriv.race_trend_means_result AS (
	x float8, value text, mean float8, lower float8, upper float8, count float8, source text,
	"text" text, lower_text text, upper_text text);

COMMENT ON TYPE _racepriv.race_trend_means_result IS 'a row of the result of race_trend';

COMMENT ON COLUMN _racepriv.race_trend_means_result.x IS 'the middle of the range; dates are days and timestamps seconds since 2000-01-01';

COMMENT ON COLUMN _racepriv.race_trend_means_result.value IS 'the range [a,b) as text of the type of the column';

COMMENT ON COLUMN _racepriv.race_trend_means_result.mean IS 'the mean of the other column there; NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_trend_means_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN _racepriv.race_trend_means_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_trend_means_result.count IS 'how many records it is of';

COMMENT ON COLUMN _racepriv.race_trend_means_result.source IS 'measured, with known noise, or by the model';

COMMENT ON COLUMN _racepriv.race_trend_means_result."text" IS 'of a date, time or interval, the mean as text; NULL for numbers';

COMMENT ON COLUMN _racepriv.race_trend_means_result.lower_text IS 'and lower';

COMMENT ON COLUMN _racepriv.race_trend_means_result.upper_text IS 'and upper';

CREATE FUNCTION race_trend(
	release text, "column" text, by text, "where" jsonb DEFAULT '{}', confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_trend_means_result LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, true);
	type CONSTANT text := (SELECT d->>'type' FROM jsonb_array_elements(domains) d WHERE d->>'name' = "column" LIMIT 1);
BEGIN
	IF by IS DISTINCT FROM 'during' THEN
		PERFORM _racepriv._race_some(domains, by, '{}');
		RETURN QUERY SELECT m.x, m.value1, m.mean, m.lower, m.upper, m.count, m.source,
			_racepriv._race_text(type, m.mean, true), _racepriv._race_text(type, m.lower, true), _racepriv._race_text(type, m.upper, true)
		FROM _racepriv._race_tables_mean(_racepriv._race_released(release), domains, "column", ARRAY[by], "where", confidence) m
		WHERE m.x IS NOT NULL ORDER BY 1;
	ELSE
		IF (_racepriv._race_period(release))."values" IS NULL AND release IS NOT NULL THEN
			RAISE EXCEPTION 'release "%" is no series', left(release, 64) USING ERRCODE = 'invalid_parameter_value';
		END IF;
		RETURN QUERY SELECT date_part('epoch', i.low + (i.high - i.low) / 2 - '2000-01-01'::timestamp), i.value, m.mean, m.lower, m.upper, m.count, m.source,
			_racepriv._race_text(type, m.mean, true), _racepriv._race_text(type, m.lower, true), _racepriv._race_text(type, m.upper, true)
		FROM _racepriv._race_period(release) p CROSS JOIN LATERAL (
				SELECT lower(r.during) AS low, min(upper(r.during)) AS high, format('[%s,%s)', to_char(lower(r.during), 'YYYY-MM-DD HH24:MI:SS'),
					to_char(min(upper(r.during)), 'YYYY-MM-DD HH24:MI:SS')) AS value
				FROM _racepriv.race_releases r WHERE r.name = p.name AND r.part = 1 AND r.during IS NOT NULL
				GROUP BY 1 ORDER BY 1 OFFSET p.first LIMIT p.after - p.first) i
			CROSS JOIN LATERAL _racepriv._race_tables_mean(_racepriv._race_released(p.name || i.value), domains, "column", NULL,
				"where", confidence) m
		ORDER BY 1;
	END IF;
END $$;

COMMENT ON FUNCTION race_trend(text, text, text, jsonb, float8) IS
	'the mean of a column of a release along another one, of numbers or dates: x is the middle of a range; value says it; or "during", each interval of a series. NULL: too little known. where, source, errors: race_count';

CREATE FUNCTION _racepriv._race_query(domains jsonb, query jsonb) RETURNS jsonb
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT CASE WHEN jsonb_typeof(query) <> 'object' THEN query ELSE (
		SELECT coalesce(jsonb_object_agg(q.key, CASE
			WHEN d.domain->>'whole' = 'false' AND jsonb_typeof(q.value) = 'number' THEN (
				SELECT jsonb_build_array(v.v, v.v + b.width) FROM (SELECT (d.domain->>'width')::float8 / 1000, (d.domain->>'upper')::float8,
						(d.domain->>'lower')::float8) b (width, upper, lower),
					LATERAL (SELECT least(greatest((q.value)::text::float8, b.lower), b.upper - b.width)) v (v))
			ELSE q.value END), '{}')
		FROM jsonb_each(query) q LEFT JOIN LATERAL (
			SELECT d AS domain FROM jsonb_array_elements(domains) d WHERE d->>'name' = q.key) d ON true) END
$$;

COMMENT ON FUNCTION _racepriv._race_query(jsonb, jsonb) IS
	'a condition that may have single numbers of columns with fractions';

CREATE TYPE _racepriv.race_classify_result AS (
	value text, probability float8, lower float8, upper float8, prior float8);

COMMENT ON TYPE _racepriv.race_classify_result IS 'a row of the result of race_classify';

COMMENT ON COLUMN _racepriv.race_classify_result.value IS 'a value of the column';

COMMENT ON COLUMN _racepriv.race_classify_result.probability IS 'how likely it is, given the query; NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_classify_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN _racepriv.race_classify_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_classify_result.prior IS 'its share of all records';

CREATE FUNCTION race_classify(
	release text, label text, query anycompatible, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_classify_result LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	sketch CONSTANT _racepriv.race_releases.sketch%TYPE := _racepriv._race_released(release);
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, true);
BEGIN
	RETURN QUERY
	WITH given AS MATERIALIZED (
		SELECT h.* FROM _racepriv._race_tables_histogram(sketch, domains, label, NULL, NULL,
			_racepriv._race_query(domains, query::text::jsonb), false, false, confidence) WITH ORDINALITY h
	), edges AS (
		SELECT CASE WHEN count(g.low) > 0 THEN array_agg(g.low::text ORDER BY g.low) || max(g.high)::text END AS edges FROM given g
	)
	SELECT g.value, CASE WHEN sum(p.lower) OVER all_values > 0::float8 THEN g.count / nullif(sum(g.count) OVER all_values, 0::float8) END,
		coalesce(g.lower / nullif(g.lower + sum(g.upper) OVER all_values - g.upper, 0::float8), 0::float8),
		coalesce(g.upper / nullif(g.upper + sum(g.lower) OVER all_values - g.lower, 0::float8), 1::float8),
		CASE WHEN sum(p.lower) OVER all_values > 0::float8 THEN p.count / sum(p.count) OVER all_values END
	FROM edges e CROSS JOIN _racepriv._race_tables_histogram(sketch, domains, label, e.edges, NULL,
			'{}', false, false, confidence) WITH ORDINALITY p JOIN given g USING (ordinality)
	WINDOW all_values AS () ORDER BY 2 DESC NULLS LAST, ordinality;
END $$;

COMMENT ON FUNCTION race_classify(text, text, anycompatible, float8) IS
	'how likely each value of a column of a release is for a record with these values of others, jsonb or its text, with an interval; prior: among all records. The most likely one is first. Errors as race_count';

CREATE TYPE _racepriv.race_correlation_result AS (
	column1 text, column2 text, correlation float8, lower float8, upper float8, source text);

COMMENT ON TYPE _racepriv.race_correlation_result IS 'a row of the result of race_correlation';

COMMENT ON COLUMN _racepriv.race_correlation_result.column1 IS 'a column';

COMMENT ON COLUMN _racepriv.race_correlation_result.column2 IS 'another one';

COMMENT ON COLUMN _racepriv.race_correlation_result.correlation IS 'their correlation';

COMMENT ON COLUMN _racepriv.race_correlation_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN _racepriv.race_correlation_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_correlation_result.source IS 'measured, with known noise, or by the model';

CREATE FUNCTION race_correlation(
	release text, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_correlation_result LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT c.column1, c.column2, c.correlation, c.lower, c.upper, c.source FROM _racepriv._race_tables_correlation(
		_racepriv._race_released(release), _racepriv._race_domains_of(release, true), confidence) c;
END $$;

COMMENT ON FUNCTION race_correlation(text, float8) IS
	'the correlation of each two columns of a release that have numbers, with an interval; -1 to 1 if they were not measured together. Errors: 42704, 22023';

CREATE FUNCTION race_regress(
	release text, target text, columns text[] DEFAULT NULL, confidence float8 DEFAULT 0.95,
	OUT "column" text, OUT coefficient float8, OUT lower float8, OUT upper float8)
	RETURNS SETOF record LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 5
	SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, false);
	sketch CONSTANT _racepriv.race_releases.sketch%TYPE := _racepriv._race_released(release);
	names text[] := target || columns;
	unknown CONSTANT text := (SELECT n FROM unnest(names) n WHERE n NOT IN (SELECT d->>'name' FROM jsonb_array_elements(domains) d) LIMIT 1);
	k int;
	means float8[];
	deviations float8[];
	correlations float8[];		-- [k][k]; the target is the first
	errors float8[];			-- [k][k]: how far off those may be
	rows float8[];				-- [k][2k], to be reduced: correlations of the others, and the identity
	betas float8[];
	slopes float8[];			-- [k][k]: what the right sides of the equations add to each coefficient
	squares float8[];			-- of the radii of intervals
	ratio float8;
	solvable boolean;
	c record;
BEGIN
	IF release IS NULL OR target IS NULL OR confidence IS NULL THEN
		RETURN;
	ELSIF domains IS NULL THEN
		RETURN QUERY SELECT CASE r."column" WHEN 0 THEN 'intercept' ELSE coalesce(k.columns[r."column"], r."column"::text, 'feature ' || r.feature) END,
			r.coefficient, r.coefficient - z.z * r.standard_error, r.coefficient + z.z * r.standard_error
		FROM _racepriv._race_z(confidence) z (z) CROSS JOIN (SELECT r.columns FROM _racepriv.race_releases r WHERE r.name = (_racepriv._race_period(release)).name ORDER BY r.version DESC LIMIT 1) k
			CROSS JOIN LATERAL _racepriv._race_regress(sketch, _racepriv._race_column(release, target),
				CASE WHEN columns IS NOT NULL THEN ARRAY(SELECT _racepriv._race_column(release, n) FROM unnest(columns) n) END) r;
		RETURN;
	ELSIF unknown IS NOT NULL THEN
		RAISE EXCEPTION 'the release has no column "%"', left(unknown, 64) USING ERRCODE = 'undefined_column',
			HINT = format('Its columns are %s.', (SELECT string_agg(d->>'name', ', ') FROM jsonb_array_elements(domains) d));
	END IF;
	IF columns IS NULL THEN
		names := target || ARRAY(SELECT t.n FROM _racepriv._race_tables_correlation(sketch, domains, confidence) p,
			LATERAL (VALUES (p.column1), (p.column2)) t (n) WHERE t.n <> target GROUP BY t.n ORDER BY t.n);
	END IF;
	k := cardinality(names);
	means := array_fill(NULL::float8, ARRAY[k]);
	deviations := means;
	correlations := array_fill(1::float8, ARRAY[k, k]);
	errors := array_fill(0::float8, ARRAY[k, k]);
	slopes := errors;
	rows := array_fill(0::float8, ARRAY[k, 2 * k]);
	FOR c IN SELECT array_position(names, p.column1) AS i, array_position(names, p.column2) AS j, p.correlation AS r,
			greatest(p.upper - p.correlation, p.correlation - p.lower) AS error, p.mean1, p.mean2, p.deviation1, p.deviation2
		FROM _racepriv._race_tables_correlation(sketch, domains, confidence) p
		WHERE p.column1 = ANY (names) AND p.column2 = ANY (names)
	LOOP
		means[c.i] := c.mean1; means[c.j] := c.mean2;
		deviations[c.i] := c.deviation1; deviations[c.j] := c.deviation2;
		correlations[c.i][c.j] := c.r; correlations[c.j][c.i] := c.r;
		errors[c.i][c.j] := c.error; errors[c.j][c.i] := c.error;
	END LOOP;
	IF k < 2 OR k > (SELECT count(DISTINCT n) FROM unnest(names) n) OR array_position(means, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'a regression needs two different columns that have numbers, or more' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_correlation shows which columns have numbers.';
	END IF;
	FOR i IN 2 .. k LOOP
		FOR j IN 2 .. k LOOP
			rows[i][j] := correlations[i][j];
			rows[i][k + j] := (i = j)::int;
		END LOOP;
	END LOOP;
	FOR p IN 2 .. k LOOP
		IF correlations[1][p] IS NULL OR NOT coalesce(rows[p][p] > 1e-6, false) THEN
			-- noise decides it, so it is no error
			RETURN QUERY SELECT CASE n.i WHEN 1 THEN 'intercept' ELSE n.name END, NULL::float8, NULL::float8, NULL::float8
			FROM unnest(names) WITH ORDINALITY n (name, i);
			RETURN;
		END IF;
		FOR i IN 2 .. k LOOP
			ratio := rows[i][p] / rows[p][p];
			FOR j IN p .. 2 * k LOOP
				IF i <> p THEN
					rows[i][j] := rows[i][j] - ratio * rows[p][j];
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	betas := -1::float8 || ARRAY(SELECT sum(rows[i][k + j] / rows[i][i] * correlations[1][j])
		FROM generate_series(2, k) i, generate_series(2, k) j GROUP BY i ORDER BY i);
	FOR i IN 2 .. k LOOP
		FOR j IN 2 .. k LOOP
			slopes[i][j] := rows[i][k + j] / rows[i][i] * deviations[1] / deviations[i];
			slopes[1][j] := slopes[1][j] - means[i] * slopes[i][j];
		END LOOP;
	END LOOP;
	-- The first derivatives of coefficients, times how far off each correlation may be, and for the intercept each mean.
	-- Correlations between columns so far off may be a matrix that has no inverse: then there is no interval.
	squares := ARRAY(SELECT sum(((slopes[i][p] * betas[q] + slopes[i][q] * betas[p]) * errors[p][q]) ^ 2)
		FROM generate_series(1, k) i, generate_series(1, k) p, generate_series(p + 1, k) q GROUP BY i ORDER BY i);
	squares[1] := squares[1] + (SELECT sum((betas[i] * deviations[1] / deviations[i] * (m.upper - m.lower) / 2) ^ 2)
		FROM generate_series(1, k) i CROSS JOIN LATERAL _racepriv._race_tables_mean(sketch, domains, names[i], NULL, '{}', confidence) m);
	solvable := (SELECT max(s.sum) < 1 FROM (SELECT sum(abs(rows[i][k + p] / rows[i][i]) * errors[p][q])
		FROM generate_series(2, k) i, generate_series(2, k) p, generate_series(2, k) q GROUP BY i) s (sum));
	FOR i IN 1 .. k LOOP
		"column" := CASE i WHEN 1 THEN 'intercept' ELSE names[i] END;
		coefficient := CASE i WHEN 1 THEN means[1] - (SELECT sum(betas[j] * deviations[1] / deviations[j] * means[j]) FROM generate_series(2, k) j)
			ELSE betas[i] * deviations[1] / deviations[i] END;
		IF solvable THEN
			lower := coefficient - sqrt(squares[i]);
			upper := coefficient + sqrt(squares[i]);
		END IF;
		RETURN NEXT;
	END LOOP;
END $$;

COMMENT ON FUNCTION race_regress(text, text, text[], float8) IS
	'the linear regression of a column of a release on others, or all, from correlations, or moments, which clip records; the intercept first. NULL: too little is known, or others may follow from each other. Errors: 42704, 42703, 22023';

CREATE FUNCTION race_info(release text) RETURNS SETOF _racepriv.race_info_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 1000 ROWS 1
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY SELECT i.* FROM _racepriv._race_labels(release, NULL) l
		CROSS JOIN LATERAL _racepriv._race_info(_racepriv._race_released(release, l.label)) i;
END $$;

COMMENT ON FUNCTION race_info(text) IS
	'race_info of the latest version of a release, of each of its labels. Error 42704';

CREATE TYPE _racepriv.race_export_result AS (
	number int, column1 text, value1 text, low1 float8, high1 float8, column2 text, value2 text, low2 float8, high2 float8,
	count float8, standard_error float8, label text);

COMMENT ON TYPE _racepriv.race_export_result IS 'a row of the result of race_export';

COMMENT ON COLUMN _racepriv.race_export_result.number IS 'of a table, 0 for all records; of a point';

COMMENT ON COLUMN _racepriv.race_export_result.column1 IS 'a column';

COMMENT ON COLUMN _racepriv.race_export_result.value1 IS 'its value, or the range [a,b)';

COMMENT ON COLUMN _racepriv.race_export_result.low1 IS 'the lower end of the range, NULL for categories; where a point is';

COMMENT ON COLUMN _racepriv.race_export_result.high1 IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_export_result.column2 IS 'another column, of a measured pair';

COMMENT ON COLUMN _racepriv.race_export_result.value2 IS 'its value';

COMMENT ON COLUMN _racepriv.race_export_result.low2 IS 'the lower end of its range';

COMMENT ON COLUMN _racepriv.race_export_result.high2 IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_export_result.count IS 'the noisy count; of a point its weight';

COMMENT ON COLUMN _racepriv.race_export_result.standard_error IS 'the standard error of the count; NULL where the model fills in';

COMMENT ON COLUMN _racepriv.race_export_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_export(release text, format text DEFAULT NULL)
	RETURNS SETOF _racepriv.race_export_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 1000000 ROWS 1000
	SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, format = 'tables');
BEGIN
	IF release IS NULL THEN
		RETURN;
	ELSIF format NOT IN ('tables', 'points') THEN
		RAISE EXCEPTION 'unknown format "%"', left(format, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use tables, of a release by columns, or points, of another release.';
	ELSIF domains IS NOT NULL AND format = 'points' THEN
		RAISE EXCEPTION 'a release by columns has tables, no points' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_synthesize makes rows like its records.';
	ELSIF format = 'tables' OR domains IS NOT NULL THEN
		RETURN QUERY
		WITH names AS (
			SELECT d.domain->>'name' AS name, d.place
			FROM jsonb_array_elements(domains) WITH ORDINALITY d (domain, place)
			WHERE NOT d.domain ? 'measure')
		SELECT 0, NULL::text, NULL::text, NULL::float8, NULL::float8, NULL::text, NULL::text, NULL::float8, NULL::float8, c.count, (c.upper - c.count) / _racepriv._race_z(0.95), NULL::text
		FROM _racepriv._race_tables_count(_racepriv._race_released(release, NULL), domains, '{}', 0.95) c
		UNION ALL (
			SELECT (dense_rank() OVER (ORDER BY c.name2 IS NOT NULL, c.place1, c.place2))::int, c.name1, c.value1, c.low1, c.high1,
				c.name2, c.value2, c.low2, c.high2, c.estimate, c.standard_error, NULL::text
			FROM (
				SELECT a.name AS name1, a.place AS place1, b.name AS name2, b.place AS place2, c.*,
					count(c.standard_error) OVER (PARTITION BY a.place, b.place) > 0 AS measured
				FROM names a CROSS JOIN LATERAL (
						SELECT NULL::text AS name, 0::bigint AS place UNION ALL SELECT n.name, n.place FROM names n WHERE n.place > a.place) b
					CROSS JOIN LATERAL _racepriv._race_tables_crosstab(_racepriv._race_released(release, NULL), domains, a.name, b.name, 0.95)
						WITH ORDINALITY c) c
			WHERE c.measured ORDER BY c.name2 IS NOT NULL, c.place1, c.place2, c.ordinality);
	ELSE
		RETURN QUERY
		SELECT p.number::int, coalesce(n.columns[x.i], x.i::text), coalesce(x.x::text, p.record), x.x, x.x,
			NULL::text, NULL::text, NULL::float8, NULL::float8, p.weight, NULL::float8, l.label
		FROM (SELECT r.columns FROM _racepriv.race_releases r WHERE r.name = (_racepriv._race_period(release)).name ORDER BY r.version DESC LIMIT 1) n
			RIGHT JOIN _racepriv._race_labels(release, NULL) l ON true
			CROSS JOIN LATERAL _racepriv._race_points(_racepriv._race_model(_racepriv._race_released(release, l.label)))
				WITH ORDINALITY p (x, record, weight, number)
			LEFT JOIN LATERAL unnest(p.x) WITH ORDINALITY x (x, i) ON true;
	END IF;
END $$;

COMMENT ON FUNCTION race_export(text, text) IS
	'what a release knows, as rows for any database. tables: noisy counts of values and measured pairs, standard_error NULL where the model fills in, number 0 for all records; points: those of a model, weights as count';

CREATE OR REPLACE FUNCTION _racepriv._race_column(release text, "column" text) RETURNS int
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	names text[];
	n int;
BEGIN
	SELECT r.columns, (SELECT count(*) FROM _racepriv._race_columns(r.sketch))
	INTO names, n
	FROM _racepriv.race_releases r WHERE r.name = (_racepriv._race_period(release)).name ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		PERFORM _racepriv._race_released(release);		-- says that there is none
		RETURN NULL;
	END IF;
	IF array_position(names[:n], "column") IS NOT NULL THEN
		RETURN array_position(names[:n], "column");
	ELSIF "column" ~ '^ *0*[1-9][0-9]{0,8} *$' AND "column"::int <= n OR "column" IS NULL THEN
		RETURN "column"::int;
	END IF;
	RAISE EXCEPTION 'release "%" has no column "%"', left(release, 64), left("column", 64)
		USING ERRCODE = 'undefined_column',
			HINT = format('Its columns are %s.', coalesce(array_to_string(names[:n], ', '), '1 to ' || n));
END $$;

ALTER TYPE _racepriv.race_curve_result ADD ATTRIBUTE "text" text;

COMMENT ON COLUMN _racepriv.race_curve_result.x IS 'a place of the column, from the lower bound to the upper one; dates are days and timestamps seconds since 2000-01-01, intervals seconds';

COMMENT ON COLUMN _racepriv.race_curve_result.density IS 'the probability density there, per unit of the column: from bound to bound it integrates to one; NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_curve_result."text" IS 'x as text of the type of the column';

CREATE FUNCTION race_curve(
	release text, "column" text DEFAULT '1', steps int DEFAULT 100,
	lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, label text DEFAULT NULL,
	confidence float8 DEFAULT 0.95, smoothing float8 DEFAULT NULL, "where" jsonb DEFAULT '{}')
	RETURNS SETOF _racepriv.race_curve_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, "where" <> '{}', label, smoothing);
	present CONSTANT jsonb := _racepriv._race_some(domains, "column", "where");
	type CONSTANT text := (SELECT d->>'type' FROM jsonb_array_elements(domains) d WHERE d->>'name' = "column" AND NOT d ? 'measure');
BEGIN
	IF domains IS NOT NULL THEN
		RETURN QUERY SELECT m.x, h.count / n.count / (h.high - h.low), h.lower / n.count / (h.high - h.low), h.upper / n.count / (h.high - h.low),
			h.count / (h.high - h.low), NULL::text, _racepriv._race_text(type, m.x)
		FROM _racepriv._race_released(release) s (sketch)
			CROSS JOIN LATERAL _racepriv._race_tables_histogram(s.sketch, domains, "column", NULL, steps, "where", true, false, confidence) h
			CROSS JOIN LATERAL (SELECT CASE WHEN h.value LIKE '[%' THEN (h.low + h.high) / 2 ELSE h.low END) m (x)
			CROSS JOIN LATERAL (SELECT CASE WHEN c.lower > 0::float8 OR c.source = 'model' THEN nullif(c.count, 0::float8) END
				FROM _racepriv._race_tables_count(s.sketch, domains, present, confidence) c) n (count)
		WHERE m.x >= coalesce(race_curve.lower, m.x) AND m.x <= coalesce(race_curve.upper, m.x);
	ELSE
		RETURN QUERY SELECT c.x, c.density, c.low, c.high, c.density * greatest((_racepriv._race_info(s.sketch)).count::float8, 0), l.label, c.x::text
		FROM _racepriv._race_labels(release, label) l
			CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
			CROSS JOIN LATERAL _racepriv._race_curve(s.sketch, _racepriv._race_column(release, "column"), steps,
				lower, upper, confidence, smoothing) c;
	END IF;
END $$;

COMMENT ON FUNCTION race_curve(text, text, int, float8, float8, text, float8, float8, jsonb) IS
	'the probability density of a column of a release, by name or number, at most at steps places. where as race_count. Errors: 42704 no such release or label, 42703 no such column, 22023 other arguments, 55000 no model';

ALTER TYPE _racepriv.race_heatmap_result ADD ATTRIBUTE lower float8;

ALTER TYPE _racepriv.race_heatmap_result ADD ATTRIBUTE upper float8;

ALTER TYPE _racepriv.race_heatmap_result ADD ATTRIBUTE text1 text;

ALTER TYPE _racepriv.race_heatmap_result ADD ATTRIBUTE text2 text;

COMMENT ON COLUMN _racepriv.race_heatmap_result.x1 IS 'the middle of a cell, in the first column; dates are numbers as in race_curve';

COMMENT ON COLUMN _racepriv.race_heatmap_result.density IS 'the probability density there, per unit of both columns; NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_heatmap_result.lower IS 'the lower end of the 95 % confidence interval; NULL where theory gives none';

COMMENT ON COLUMN _racepriv.race_heatmap_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_heatmap_result.text1 IS 'x1 as text of the type of the column';

COMMENT ON COLUMN _racepriv.race_heatmap_result.text2 IS 'and x2';

CREATE OR REPLACE FUNCTION race_heatmap(
	release text, column1 text DEFAULT '1', column2 text DEFAULT '2', steps int DEFAULT 40,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL, label text DEFAULT NULL,
	smoothing float8 DEFAULT NULL)
	RETURNS SETOF _racepriv.race_heatmap_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 1600
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, false, label, smoothing);
	present CONSTANT jsonb := _racepriv._race_some(domains, column1, _racepriv._race_some(domains, column2, '{}'));
	type1 CONSTANT text := (SELECT d->>'type' FROM jsonb_array_elements(domains) d WHERE d->>'name' = column1 AND NOT d ? 'measure');
	type2 CONSTANT text := (SELECT d->>'type' FROM jsonb_array_elements(domains) d WHERE d->>'name' = column2 AND NOT d ? 'measure');
	confidence CONSTANT float8 := 0.95;
	z CONSTANT float8 := _racepriv._race_z(confidence);
BEGIN
	IF domains IS NOT NULL AND steps NOT BETWEEN 2 AND 500 THEN
		RAISE EXCEPTION 'steps must be between 2 and 500' USING ERRCODE = 'invalid_parameter_value';
	ELSIF domains IS NOT NULL AND column1 = column2 THEN
		RAISE EXCEPTION 'both columns are "%"', left(column1, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'race_curve and race_histogram are of one column.';
	ELSIF domains IS NOT NULL THEN
		RETURN QUERY SELECT m.x1, m.x2, c.count / a.area, NULL::text, c.lower / a.area, c.upper / a.area,
			_racepriv._race_text(type1, m.x1), _racepriv._race_text(type2, m.x2)
		FROM _racepriv._race_released(release) s (sketch)
			CROSS JOIN LATERAL (SELECT CASE WHEN c.lower > 0::float8 OR c.source = 'model' THEN nullif(c.count, 0::float8) END
				FROM _racepriv._race_tables_count(s.sketch, domains, present, confidence) c) n (count)
			CROSS JOIN LATERAL (
				-- neighboring ranges are joined, so that there are at most so many; their noise is independent where it is known
				SELECT min(t.low1) AS low1, max(t.high1) AS high1, min(t.low2) AS low2, max(t.high2) AS high2, sum(t.count) AS count,
					CASE WHEN count(*) = 1 OR count(t.standard_error) < count(*) THEN sum(t.lower)
						ELSE greatest(sum(t.estimate) - z * sqrt(sum(t.standard_error ^ 2)), 0::float8) END AS lower,
					CASE WHEN count(*) = 1 OR count(t.standard_error) < count(*) THEN sum(t.upper)
						ELSE greatest(sum(t.estimate) + z * sqrt(sum(t.standard_error ^ 2)), 0::float8) END AS upper
				FROM (SELECT r.*, max(r.i) OVER () / nullif(steps, 0) + 1 AS width1, max(r.j) OVER () / nullif(steps, 0) + 1 AS width2
					FROM (SELECT c.*, dense_rank() OVER (ORDER BY c.low1) - 1 AS i, dense_rank() OVER (ORDER BY c.low2) - 1 AS j
						FROM _racepriv._race_tables_crosstab(s.sketch, domains, column1, column2, confidence) c
						WHERE c.low1 IS NOT NULL AND c.low2 IS NOT NULL) r) t
				GROUP BY t.i / t.width1, t.j / t.width2) c
			CROSS JOIN LATERAL (SELECT n.count * (c.high1 - c.low1) * (c.high2 - c.low2)) a (area)
			CROSS JOIN LATERAL (SELECT (c.low1 + c.high1) / 2, (c.low2 + c.high2) / 2) m (x1, x2)
		WHERE m.x1 >= coalesce(race_heatmap.lower[1], '-infinity') AND m.x1 <= coalesce(race_heatmap.upper[1], 'infinity')
			AND m.x2 >= coalesce(race_heatmap.lower[2], '-infinity') AND m.x2 <= coalesce(race_heatmap.upper[2], 'infinity')
		ORDER BY 1, 2;
	ELSE
		RETURN QUERY SELECT c.x1, c.x2, c.density, l.label, greatest(c.density - z * c.standard_error, 0::float8), c.density + z * c.standard_error,
			c.x1::text, c.x2::text
		FROM _racepriv._race_labels(release, label) l
			CROSS JOIN LATERAL _racepriv._race_heatmap(_racepriv._race_model(_racepriv._race_released(release, l.label)),
				_racepriv._race_column(release, column1), _racepriv._race_column(release, column2), steps,
				lower, upper, smoothing) c
		ORDER BY 4, 1, 2;
	END IF;
END $$;

COMMENT ON FUNCTION race_heatmap(text, text, text, int, float8[], float8[], text, float8) IS
	'the probability density of two columns of a release, in at most steps by steps cells (2 to 500) from lower to upper: two bounds each, NULL for those of the columns. Columns, labels, smoothing and errors as race_curve';

CREATE TYPE _racepriv.race_bins_result AS (
	value text, low float8, high float8, count float8, lower float8, upper float8, density float8, source text, label text);

COMMENT ON TYPE _racepriv.race_bins_result IS 'a row of the result of race_histogram';

COMMENT ON COLUMN _racepriv.race_bins_result.value IS 'the value, or the range [low,high), as text of the type of the column';

COMMENT ON COLUMN _racepriv.race_bins_result.low IS 'the lower edge of a range; dates are days and timestamps seconds since 2000-01-01, intervals seconds; NULL for categories';

COMMENT ON COLUMN _racepriv.race_bins_result.high IS 'the upper edge';

COMMENT ON COLUMN _racepriv.race_bins_result.count IS 'how many records have this value, or one in this range';

COMMENT ON COLUMN _racepriv.race_bins_result.lower IS 'the lower end of the confidence interval of the count; NULL where theory gives none';

COMMENT ON COLUMN _racepriv.race_bins_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_bins_result.density IS 'the probability density in the range, per unit of the column; the share of a category; NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_bins_result.source IS 'measured, with known noise, or by the model';

COMMENT ON COLUMN _racepriv.race_bins_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_histogram(
	release text, "column" text, edges anycompatible DEFAULT NULL, "where" jsonb DEFAULT '{}', bins int DEFAULT NULL,
	label text DEFAULT NULL, smoothing float8 DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_bins_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 20
	SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' AS $$
DECLARE
	list CONSTANT text := edges::text;
	number CONSTANT boolean := list ~ '^ *[0-9]{1,5} *$';
	bin_edges CONSTANT text[] := CASE WHEN list LIKE '{%}' THEN list::text[] WHEN NOT number THEN ARRAY[list] END;
	bin_count CONSTANT int := CASE WHEN number THEN list::int ELSE bins END;
	domains jsonb;
	present jsonb := "where";
BEGIN
	domains := _racepriv._race_domains_of(release, "where" <> '{}', label, smoothing);
	IF NOT jsonb_path_exists(domains, '$[*] ? (@.name == $name).categories', jsonb_build_object('name', "column")) THEN
		present := _racepriv._race_some(domains, "column", "where");
	END IF;
	IF domains IS NOT NULL THEN
		RETURN QUERY SELECT h.value, h.low, h.high, h.count, h.lower, h.upper,
			h.count / n.count / coalesce(h.high - h.low, 1), h.source, NULL::text
		FROM _racepriv._race_released(release) s (sketch)
			CROSS JOIN LATERAL _racepriv._race_tables_histogram(s.sketch, domains, "column", bin_edges, bin_count, "where", false, false, confidence) h
			CROSS JOIN LATERAL (SELECT CASE WHEN c.lower > 0::float8 OR c.source = 'model' THEN nullif(c.count, 0::float8) END
				FROM _racepriv._race_tables_count(s.sketch, domains, present, confidence) c) n (count);
	ELSE
		RETURN QUERY SELECT format('[%s,%s)', c.lower, c.upper), c.lower, c.upper, c.count, c.count - z.z * c.standard_error, c.count + z.z * c.standard_error,
			c.count / nullif((_racepriv._race_info(s.sketch)).count::float8, 0::float8) / (c.upper - c.lower), 'model', l.label
		FROM _racepriv._race_z(confidence) z (z) CROSS JOIN _racepriv._race_labels(release, label) l
			CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
			CROSS JOIN LATERAL _racepriv._race_column(release, "column") n (n)
			CROSS JOIN LATERAL _racepriv._race_histogram(s.sketch, n.n, coalesce(bin_edges::float8[], (
				SELECT array_agg(b.lower + (b.upper - b.lower) * i / coalesce(bin_count, 20) ORDER BY i)
				FROM generate_series(0, coalesce(bin_count, 20)) i, _racepriv._race_columns(s.sketch) b
				WHERE b.number = n.n)), coalesce(smoothing, 0.1)) c;
	END IF;
END $$;

COMMENT ON FUNCTION race_histogram(text, text, anycompatible, jsonb, int, text, float8, float8) IS
	'how many records lie in each range [low,high) of a column: between edges that ascend, an array, or in so many bins; or have each category. Not of columns: label, smoothing. where and errors as race_count';

CREATE TYPE _racepriv.race_percentiles_result AS (
	p float8, value float8, lower float8, upper float8, "text" text, label text, lower_text text, upper_text text);

COMMENT ON TYPE _racepriv.race_percentiles_result IS 'a row of the result of race_quantiles';

COMMENT ON COLUMN _racepriv.race_percentiles_result.p IS 'the share of records that are below the value';

COMMENT ON COLUMN _racepriv.race_percentiles_result.value IS 'the quantile; dates are days and timestamps seconds since 2000-01-01, intervals seconds. NULL where too little is known';

COMMENT ON COLUMN _racepriv.race_percentiles_result.lower IS 'the lower end of the confidence interval; NULL where theory gives none';

COMMENT ON COLUMN _racepriv.race_percentiles_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_percentiles_result."text" IS 'the quantile as text of the type of the column';

COMMENT ON COLUMN _racepriv.race_percentiles_result.label IS 'the label; NULL in a release without labels';

COMMENT ON COLUMN _racepriv.race_percentiles_result.lower_text IS 'of a date, time or interval, lower as text; NULL for numbers';

COMMENT ON COLUMN _racepriv.race_percentiles_result.upper_text IS 'and upper';

CREATE FUNCTION race_quantiles(
	release text, "column" text DEFAULT '1', p float8[] DEFAULT '{0.05,0.25,0.5,0.75,0.95}', "where" jsonb DEFAULT '{}',
	label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_percentiles_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, "where" <> '{}', label);
	domain CONSTANT jsonb := (SELECT d FROM jsonb_array_elements(domains) d WHERE d->>'name' = "column" AND NOT d ? 'measure');
	whole CONSTANT boolean := domain->>'whole';
	type CONSTANT text := domain->>'type';
BEGIN
	IF domains IS NULL THEN
		RETURN QUERY SELECT q.p, q.value, q.value - z.z * q.standard_error, q.value + z.z * q.standard_error, q.value::text, l.label, NULL::text, NULL::text
		FROM _racepriv._race_z(confidence) z (z) CROSS JOIN _racepriv._race_labels(release, label) l
			CROSS JOIN LATERAL _racepriv._race_quantile(_racepriv._race_model(_racepriv._race_released(release, l.label)),
				race_quantiles.p, _racepriv._race_column(release, "column")) q;
		RETURN;
	ELSIF (SELECT bool_or(NOT q BETWEEN 0 AND 1) FROM unnest(p) q) THEN
		RAISE EXCEPTION 'p must be numbers between 0 and 1' USING ERRCODE = 'numeric_value_out_of_range',
			HINT = 'The median is 0.5.';
	END IF;
	RETURN QUERY
	WITH ranges AS MATERIALIZED (
		SELECT h.low, h.high, h.lower, h.upper, h.ordinality AS i,
			-- noise is taken out of the order: counts ascend
			(max(h.count) OVER up + min(h.count) OVER down) / 2 AS count
		FROM _racepriv._race_tables_histogram(_racepriv._race_released(release), domains, "column", NULL, NULL, "where", true, true,
			confidence) WITH ORDINALITY h
		WINDOW up AS (ORDER BY h.ordinality), down AS (ORDER BY h.ordinality DESC)
	), total AS (
		SELECT r.count, r.lower, r.upper FROM ranges r ORDER BY r.i DESC LIMIT 1
	)
	SELECT q.p, v.v, i.lower, i.upper, _racepriv._race_text(type, v.v), NULL::text,
		_racepriv._race_text(type, i.lower, true), _racepriv._race_text(type, i.upper, true)
	FROM unnest(race_quantiles.p) WITH ORDINALITY q (p, place) CROSS JOIN total t
	LEFT JOIN LATERAL (
		SELECT r.low, r.high, r.count, lag(r.count, 1, 0::float8) OVER (ORDER BY r.i) AS before, r.i FROM ranges r ORDER BY r.i
	) r ON r.count >= q.p * t.count AND r.before < greatest(q.p * t.count, 1e-9) AND t.lower > 0::float8
	LEFT JOIN LATERAL (
		SELECT r.low + (r.high - r.low) * (greatest(q.p * t.count, 1e-9) - r.before) / (r.count - r.before) AS x) x ON true
	LEFT JOIN LATERAL (SELECT CASE WHEN whole THEN least(floor(x.x), r.high - 1::float8) ELSE x.x END AS v) v ON true
	LEFT JOIN LATERAL (SELECT r.low FROM ranges r WHERE r.upper >= q.p * t.lower ORDER BY r.i LIMIT 1) a ON true
	LEFT JOIN LATERAL (SELECT r.high - CASE WHEN whole THEN 1::float8 ELSE 0::float8 END AS high FROM ranges r
		WHERE r.lower >= q.p * t.upper OR r.high >= (domain->>'upper')::float8 ORDER BY r.i LIMIT 1) b ON true
	CROSS JOIN LATERAL (SELECT least(coalesce(a.low, v.v), v.v), greatest(coalesce(b.high, v.v), v.v)) i (lower, upper)
	ORDER BY q.place;
END $$;

COMMENT ON FUNCTION race_quantiles(text, text, float8[], jsonb, text, float8) IS
	'quantiles of a column of a release, with intervals: the least value that so large a share of records does not exceed. where and errors as race_count, 22003 for p below 0 or above 1';

ALTER TYPE _racepriv.race_release_modes_result ADD ATTRIBUTE lower float8;

ALTER TYPE _racepriv.race_release_modes_result ADD ATTRIBUTE upper float8;

ALTER TYPE _racepriv.race_release_modes_result ADD ATTRIBUTE "text" text;

ALTER TYPE _racepriv.race_release_modes_result ADD ATTRIBUTE kernel_density float8;

ALTER TYPE _racepriv.race_release_modes_result ADD ATTRIBUTE lower_text text;

ALTER TYPE _racepriv.race_release_modes_result ADD ATTRIBUTE upper_text text;

COMMENT ON COLUMN _racepriv.race_release_modes_result."column" IS 'a column, by its name in race_catalog';

COMMENT ON COLUMN _racepriv.race_release_modes_result.density IS 'of a release by columns, the probability density there, per unit of the column';

COMMENT ON COLUMN _racepriv.race_release_modes_result.prominence IS 'the density, or kernel density, less that of the highest saddle on the way to a denser mode; of the densest mode that itself';

COMMENT ON COLUMN _racepriv.race_release_modes_result.lower IS 'of a release by columns, where the mode begins; dates are numbers as in race_quantiles';

COMMENT ON COLUMN _racepriv.race_release_modes_result.upper IS 'and where it ends';

COMMENT ON COLUMN _racepriv.race_release_modes_result."text" IS 'x as text of the type of the column';

COMMENT ON COLUMN _racepriv.race_release_modes_result.kernel_density IS 'of a release of a sketch, the kernel density there, as race_kde';

COMMENT ON COLUMN _racepriv.race_release_modes_result.lower_text IS 'of a date, time or interval, lower as text; NULL for numbers';

COMMENT ON COLUMN _racepriv.race_release_modes_result.upper_text IS 'and upper';

CREATE OR REPLACE FUNCTION race_modes(release text, max int DEFAULT 10, label text DEFAULT NULL)
	RETURNS SETOF _racepriv.race_release_modes_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, false, label);
BEGIN
	IF domains IS NOT NULL THEN
		RETURN QUERY SELECT m.mode, m."column", m.x, m.density, m.prominence, NULL::text, m.lower, m.upper, m."text", NULL::float8,
			_racepriv._race_text(d.type, m.lower, true), _racepriv._race_text(d.type, m.upper, true)
		FROM _racepriv._race_tables_modes(_racepriv._race_released(release), domains, max, 0.95) m
			CROSS JOIN LATERAL (SELECT d->>'type' FROM jsonb_array_elements(domains) d WHERE d->>'name' = m."column" LIMIT 1) d (type);
	ELSE
		RETURN QUERY SELECT m.mode::int, coalesce(c.columns[x.i], x.i::text), x.x, NULL::float8, m.prominence, l.label, NULL::float8, NULL::float8, x.x::text, m.kernel_density,
			NULL::text, NULL::text
		FROM (SELECT r.columns FROM _racepriv.race_releases r
				WHERE r.name = (_racepriv._race_period(release)).name ORDER BY r.version DESC, r.part LIMIT 1) c
			RIGHT JOIN _racepriv._race_labels(release, label) l ON true
			CROSS JOIN LATERAL _racepriv._race_modes(_racepriv._race_model(_racepriv._race_released(release, l.label)), max)
				WITH ORDINALITY m (at, kernel_density, prominence, mode)
			LEFT JOIN LATERAL unnest(m.at) WITH ORDINALITY x (x, i) ON true;
	END IF;
END $$;

COMMENT ON FUNCTION race_modes(text, int, text) IS
	'where records are densest. Of a release by columns, modes of each number that neither noise nor chance explains, x NULL if none; of others, a row for each column of each mode, of all labels or one';

ALTER TYPE _racepriv.race_outliers_result ADD ATTRIBUTE lower float8;

ALTER TYPE _racepriv.race_outliers_result ADD ATTRIBUTE upper float8;

ALTER TYPE _racepriv.race_outliers_result ADD ATTRIBUTE frequency float8;

COMMENT ON COLUMN _racepriv.race_outliers_result.typicality IS 'the frequency, or kernel density, over that of the average record, as race_typicality: near 0 is an anomaly';

COMMENT ON COLUMN _racepriv.race_outliers_result.share IS 'the share of records that are less typical: compare it with a threshold such as 0.01. NULL without a model';

COMMENT ON COLUMN _racepriv.race_outliers_result.kernel_density IS 'of a release of a sketch, the kernel density there, as race_kde';

COMMENT ON COLUMN _racepriv.race_outliers_result.lower IS 'of a release by columns, the lower end of the confidence interval of share';

COMMENT ON COLUMN _racepriv.race_outliers_result.upper IS 'the upper end';

COMMENT ON COLUMN _racepriv.race_outliers_result.frequency IS 'of a release by columns, the share of records that have these values, numbers as in race_crosstab';

CREATE FUNCTION race_outliers(release text, records anycompatible, label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF _racepriv.race_outliers_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	domains CONSTANT jsonb := _racepriv._race_domains_of(release, false, label);
	points float8[];
	dims int;
BEGIN
	IF domains IS NOT NULL THEN
		RETURN QUERY SELECT q.n::int, r.typicality, r.share, NULL::float8, NULL::text, r.lower, r.upper, r.frequency
		FROM _racepriv._race_released(release) s (sketch) CROSS JOIN (SELECT records::text::jsonb) d (records)
			CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(d.records) WHEN 'array' THEN d.records ELSE jsonb_build_array(d.records) END)
				WITH ORDINALITY q (record, n)
			CROSS JOIN LATERAL _racepriv._race_tables_rank(s.sketch, domains, _racepriv._race_query(domains, q.record), confidence) r
		WHERE d.records IS NOT NULL ORDER BY 1;
		RETURN;
	END IF;
	-- a release that is not there is told before what is wrong with points
	SELECT count(*), CASE WHEN count(*) > 0 THEN records::text END::float8[] INTO dims, points
	FROM (SELECT _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, label) l LIMIT 1) s (sketch)
		CROSS JOIN LATERAL _racepriv._race_columns(s.sketch);
	IF cardinality(points) % nullif(dims, 0) <> 0 OR array_ndims(points) > 2
		OR array_ndims(points) = 2 AND array_length(points, 2) <> dims
	THEN
		RAISE EXCEPTION 'points must be an array of % numbers for each point', dims
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN QUERY SELECT p.point, t.typicality, t.share, t.kernel_density, l.label, NULL::float8, NULL::float8, NULL::float8
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
		CROSS JOIN (SELECT ((n.n - 1) / dims + 1)::int, array_agg(n.x ORDER BY n.n)
			FROM unnest(points) WITH ORDINALITY n (x, n) GROUP BY 1) p (point, x)
		CROSS JOIN LATERAL _racepriv._race_typicality(s.sketch, p.x) t
	ORDER BY p.point, l.label COLLATE "C";
END $$;

COMMENT ON FUNCTION race_outliers(text, anycompatible, text, float8) IS
	'how typical records are among those of a release: {"age": 30, "town": "Rome"}, or an array of such; of a sketch {{1,2},{3,4}}, or all numbers in a row. Errors as race_count, 22023 for points of another length';

CREATE TYPE _racepriv.race_versions_result AS (
	"time" timestamptz, version int, count float8, epsilon float8,
	distance float8, squared float8, standard_error float8, p_value float8, label text);

COMMENT ON TYPE _racepriv.race_versions_result IS 'a row of the result of race_versions';

COMMENT ON COLUMN _racepriv.race_versions_result."time" IS 'when the version was charged, before its data were read';

COMMENT ON COLUMN _racepriv.race_versions_result.version IS 'the version';

COMMENT ON COLUMN _racepriv.race_versions_result.count IS 'its noisy number of records';

COMMENT ON COLUMN _racepriv.race_versions_result.epsilon IS 'its true epsilon';

COMMENT ON COLUMN _racepriv.race_versions_result.distance IS 'the distance to the version before, as race_distance; NULL for the first';

COMMENT ON COLUMN _racepriv.race_versions_result.squared IS 'the squared distance, an unbiased estimate, which may be negative; of a release by columns at most that';

COMMENT ON COLUMN _racepriv.race_versions_result.standard_error IS 'the standard error of squared';

COMMENT ON COLUMN _racepriv.race_versions_result.p_value IS 'the probability of such a distance or more if nothing has changed. Versions with records in common differ less than it supposes: then it is too high';

COMMENT ON COLUMN _racepriv.race_versions_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_versions(release text, label text DEFAULT NULL)
	RETURNS SETOF _racepriv.race_versions_result
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 1000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM _racepriv._race_released(race_versions.release, l.label) FROM _racepriv._race_labels(release, label) l;		-- says if there is none
	RETURN QUERY
	WITH versions AS (
		SELECT r.version, r.label, coalesce(upper(r.during) AT TIME ZONE 'UTC', r.released_at) AS released_at,
			dense_rank() OVER (ORDER BY r.version) AS place,
			CASE WHEN r.value_bound IS NULL THEN r.sketch ELSE _racepriv._race_plus_disjoint(r.sketch, upper.sketch) END AS sketch, CASE WHEN NOT r.domains->0 ? 'vector' THEN r.domains END AS domains,
			p.first, p.after
		FROM _racepriv._race_period(release) p JOIN _racepriv.race_releases r ON r.name = p.name
			LEFT JOIN _racepriv.race_releases upper ON upper.name = r.name AND upper.version = r.version
			AND upper.label IS NOT DISTINCT FROM r.label AND upper.value_bound > r.value_bound
		WHERE (race_versions.label IS NULL OR r.label = race_versions.label)
			AND (r.value_bound IS NULL OR upper.value_bound IS NOT NULL)
			-- of a series, single intervals
			AND NOT EXISTS (SELECT FROM _racepriv.race_releases s WHERE s.name = r.name
				AND lower(s.during) = lower(r.during) AND upper(s.during) < upper(r.during)))
	SELECT v.released_at, v.version, i.count::float8, i.epsilon, d.distance, d.squared, d.standard_error, d.p_value, v.label
	FROM versions v CROSS JOIN LATERAL _racepriv._race_info(v.sketch) i LEFT JOIN versions before
		ON before.place = v.place - 1 AND before.label IS NOT DISTINCT FROM v.label
		LEFT JOIN LATERAL (
			SELECT m.distance, m.squared, m.standard_error, m.p_value
			FROM _racepriv._race_distance(CASE WHEN i.kernel <> 'moments' AND v.domains IS NULL THEN v.sketch END, before.sketch) m
			WHERE v.domains IS NULL
			UNION ALL
			-- the kernel is the share of columns whose values are in the same category, or twentieth of the range.  A difference of
			-- shares has the variance of noise and, if nothing has changed, that of two samples: h p (1 - p).  Columns may depend
			-- on each other, so that the errors of their sums are added.
			SELECT sqrt(greatest(s.sum - s.mean, 0::float8)), s.sum - s.mean, s.error, _racepriv._race_sum_p_value(s.sum, s.mean, s.error)
			FROM _racepriv._race_tables_count(v.sketch, v.domains, '{}', 0.95) n
				CROSS JOIN LATERAL _racepriv._race_tables_count(before.sketch, v.domains, '{}', 0.95) m
				CROSS JOIN LATERAL (SELECT 1 / n.count + 1 / m.count AS h) k
				CROSS JOIN LATERAL (
					SELECT avg(c.sum) AS sum, avg(c.mean) AS mean, avg(c.error) AS error
					FROM jsonb_array_elements(v.domains) d
						CROSS JOIN LATERAL (SELECT CASE WHEN d->>'kind' = 'number' THEN 20 END AS bins) b
						CROSS JOIN LATERAL (
						SELECT sum(x.d ^ 2) AS sum, sum(x.v - k.h * x.p ^ 2) AS mean,
							sqrt(2 * (sum(x.v ^ 2) - 2 * k.h * sum(x.v * x.p ^ 2) + (k.h * sum(x.p ^ 2)) ^ 2)) AS error
						FROM _racepriv._race_tables_histogram(v.sketch, v.domains, d->>'name', NULL, b.bins, '{}', b.bins IS NOT NULL, false, 0.95) f
							JOIN _racepriv._race_tables_histogram(before.sketch, v.domains, d->>'name', NULL, b.bins, '{}', b.bins IS NOT NULL, false, 0.95) g
								ON g.value IS NOT DISTINCT FROM f.value
							CROSS JOIN LATERAL (SELECT f.count / n.count - g.count / m.count AS d, (f.count + g.count) / (n.count + m.count) AS p) s
							CROSS JOIN LATERAL (SELECT s.d, s.p, k.h * s.p + (((f.upper - f.count) / n.count) ^ 2
								+ ((g.upper - g.count) / m.count) ^ 2) / _racepriv._race_z(0.95) ^ 2 AS v) x) c
					WHERE NOT d ? 'measure') s
			WHERE n.count > 0 AND m.count > 0) d ON true
	WHERE v.first IS NULL OR v.place > v.first AND v.place <= v.after
	ORDER BY v.label COLLATE "C", v.version;
END $$;

COMMENT ON FUNCTION race_versions(text, text) IS
	'a row for each version of a release and label, or interval of a series, whose end is the time: records, and the distance to the one before. Moments have counts alone. Errors: 42704';

CREATE FUNCTION race_label(release text, version int DEFAULT NULL) RETURNS jsonb
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	wanted CONSTANT int := version;
	r _racepriv.race_releases;
	parts record;
	facts jsonb;
	unit text;
	neighbors text;
	variant text;
	cost text;
	together text;
	columns jsonb;
	chosen boolean;
	series boolean;
	weighted text;
	caveats text[];
BEGIN
	SELECT p.* INTO r FROM _racepriv.race_releases p
	WHERE p.name = (_racepriv._race_period(release)).name AND (wanted IS NULL OR p.version = wanted) ORDER BY p.version DESC, p.part LIMIT 1;
	IF NOT FOUND THEN
		PERFORM _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l;		-- says that there is none
		IF release IS NOT NULL THEN
			RAISE EXCEPTION 'release "%" has no version %', left(release, 64), wanted USING ERRCODE = 'undefined_object',
				HINT = 'race_versions shows which there are.';
		END IF;
		RETURN NULL;
	END IF;
	facts := coalesce(r.provenance, '{}');
	SELECT string_agg(DISTINCT i.mechanism, ', ' ORDER BY i.mechanism) AS mechanisms, max(i.epsilon + coalesce(s.epsilon, 0)) AS epsilon,
		max(i.delta) AS delta, max(i.rho + coalesce(s.rho, 0)) AS rho, max(i.max_contributions) / coalesce((facts->>'weight_max')::int, 1) AS contributions, max(i.neighbors) AS neighbors,
		round(sum(i.count)) AS records, count(DISTINCT p.label) AS labels INTO parts
	FROM _racepriv.race_releases p CROSS JOIN LATERAL _racepriv._race_info(p.sketch) i LEFT JOIN LATERAL _racepriv._race_info(p.scores) s ON true
	WHERE p.name = r.name AND p.version = r.version;

	-- where bounds and categories come from
	IF r.domains IS NOT NULL THEN
		SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', d->>'name', 'type', d->>'type', 'source', CASE
				WHEN d ? 'chosen' THEN 'chosen by this release, under its epsilon and delta' ELSE coalesce(facts->'sources'->>(d->>'name'), 'not recorded') END,
			'measure', d->'measure', 'categories', jsonb_array_length(d->'categories'), 'lower', d->'lower', 'upper', d->'upper', 'cells', d->'cells'))
			ORDER BY n) INTO columns FROM jsonb_array_elements(r.domains) WITH ORDINALITY e (d, n);
	ELSE
		SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', coalesce(r.columns[c.number], c.number::text), 'type', c.kind,
			'source', 'stated by whoever made the release', 'lower', c.lower, 'upper', c.upper)) ORDER BY c.number) INTO columns
		FROM _racepriv._race_columns(r.sketch) c;
	END IF;

	chosen := coalesce(facts->>'labels' = 'chosen' OR jsonb_path_exists(r.domains, '$[*].chosen'), false);
	series := r.during IS NOT NULL;
	weighted := CASE WHEN facts ? 'weight' THEN format(', of weight %s, from 0 to %s', facts->>'weight', facts->>'weight_max') ELSE '' END;
	neighbors := CASE parts.neighbors WHEN 'substitute' THEN 'the records of one unit are replaced' ELSE 'the records of one unit are added or removed' END;
	unit := CASE WHEN r.provenance IS NULL THEN 'not recorded' WHEN facts ? 'unit_column' THEN format('user: a value of column "%s"', facts->>'unit_column')
		ELSE 'event: a row of the table' END;
	variant := CASE WHEN facts->>'accounting' = 'zcdp' THEN 'Zero-concentrated DP' WHEN parts.delta > 0 OR (facts->>'delta')::numeric > 0 THEN 'Approximate DP' ELSE 'Pure DP' END;
	cost := format('epsilon %s, delta %s, rho %s', coalesce((facts->>'epsilon')::numeric, parts.epsilon::numeric),
		coalesce((facts->>'delta')::numeric, parts.delta::numeric), round(coalesce((facts->>'rho')::numeric, parts.rho::numeric), 6));
	together := CASE WHEN facts ? 'budget' THEN format('releases of the same people until then: %s, for %s of budget "%s"', facts->>'charges',
		CASE facts->>'accounting' WHEN 'zcdp' THEN format('rho %s of %s', round((facts->>'spent_rho')::numeric, 6), round((facts->>'rho_limit')::numeric, 6))
			ELSE format('epsilon %s of %s and delta %s of %s', facts->>'spent_epsilon', facts->>'epsilon_limit', facts->>'spent_delta', facts->>'delta_limit') END,
		facts->>'budget') ELSE 'not recorded' END;
	caveats := array_remove(ARRAY[
		CASE WHEN r.provenance IS NULL THEN 'Made by a version that recorded no more than the values themselves tell.' END,
		CASE WHEN r.provenance IS NOT NULL AND NOT facts ? 'unit_column' THEN 'A person with several rows is protected row by row, not as a person.' END,
		CASE WHEN facts ? 'unit_column' THEN format('Of each unit at most %s records are counted; persons who share a value of the unit column are one unit.', parts.contributions) END,
		CASE WHEN facts ? 'weight' THEN 'What a person changes in the weights of others is not protected: weights that are calibrated to the sample depend on it.' END,
		CASE WHEN chosen THEN 'Values that few persons have are counted together with others.' END,
		CASE WHEN series THEN 'One charge pays for all values of the series.' END,
		CASE WHEN facts->>'accounting' = 'basic' AND (facts->>'charges')::int > 1 THEN 'Costs are added: a bound, not the least one.' END,
		CASE WHEN columns::text LIKE '%"described"%' OR r.domains IS NULL THEN 'Bounds and categories that people state must not have been read from the data.' END,
		'How long the release took, and sizes that the catalog of its database shows, are not protected.'], NULL);

	RETURN jsonb_build_object(
		'url_slug', trim(BOTH '-' FROM regexp_replace(lower(r.name), '[^a-z0-9]+', '-', 'g')) || '-' || r.version, 'status', 'Draft', 'tier', 3,
		'deployment', jsonb_build_object(
			'basic', jsonb_build_object('name', r.name, 'data_curators', jsonb_build_array('to be stated'), 'intended_use', 'to be stated',
				'data_product_type', 'Summary statistics', 'data_product_region', 'to be stated', 'description', coalesce(r.description, 'to be stated'),
				'publication_date', to_char(r.released_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')),
			'dp_variant', jsonb_build_object('variant_name', variant,
				'data_domain', format('Tables with the columns of dataset "%s" that any persons could have: %s.', r.dataset,
					(SELECT string_agg(format('%s (%s)', c->>'name', c->>'type'), ', ') FROM jsonb_array_elements(columns) c)),
				'unprotected_quantities', 'Names, types, bounds, categories and cells of columns, parameters, declared labels, public tables, costs, and when the release was made.'),
			'privacy_loss', jsonb_build_object('privacy_unit', unit,
				'privacy_unit_details', format('Two tables are adjacent if %s: at most %s of them count%s.', neighbors, parts.contributions, weighted),
				'privacy_parameters', jsonb_strip_nulls(jsonb_build_object('epsilon', coalesce(facts->'epsilon', to_jsonb(parts.epsilon)),
					'delta', coalesce(facts->'delta', to_jsonb(parts.delta)), 'rho', coalesce(facts->'rho', to_jsonb(parts.rho)))),
				'privacy_parameters_details', 'Charged before any data were read, and not refunded. rho is the cost in zCDP; epsilon and delta are rounded up.'),
			'deployment_model', jsonb_build_object('model_name', 'Central',
				'actors', 'The owner of the table and administrators of its database see the records; curators and analysts see what was released.',
				'release_type', CASE WHEN series OR r.version > 1 THEN 'Many releases' ELSE 'One release' END, 'release_type_details', together,
				'data_source_type', CASE WHEN series THEN 'Dynamic' ELSE 'Static' END, 'access_type', 'Non-interactive'),
			'accounting', jsonb_build_object('post_processing', 'Whatever is asked of the release, and models that are fitted to it, are computed from the private value alone.',
				'composition', format('%s; %s', CASE facts->>'accounting' WHEN 'zcdp' THEN 'Sums of rho, zero-concentrated differential privacy'
					WHEN 'basic' THEN 'Sums of epsilon and delta, basic composition' ELSE 'Not recorded' END, together)),
			'implementation', jsonb_build_object(
				'preprocessing_and_hyperparameter_tuning', (SELECT string_agg(format('%s: %s', c->>'name', c->>'source'), '; ') FROM jsonb_array_elements(columns) c),
				'mechanisms', format('%s noise, drawn exactly from integers by racepriv %s.', parts.mechanisms, coalesce(facts->>'library', 'of a version that is not recorded'))),
			'administrative', jsonb_build_object('registry_authors', jsonb_build_array('to be stated'), 'sources', 'doc/privacy.md and doc/trust.md of racepriv')),
		'racepriv', jsonb_build_object('release', r.name, 'version', r.version, 'dataset', r.dataset, 'labels', parts.labels, 'records', parts.records,
			'columns', columns, 'library', facts->'library', 'extension', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'racepriv'),
			'weight', facts->'weight', 'weight_max', facts->'weight_max',
			'budget', facts - '{library,weight,weight_max,unit_column,max_contributions,neighbors,public_tables,sources,labels,epsilon,delta,rho}'::text[],
			'public_tables', facts->'public_tables', 'caveats', to_jsonb(caveats)),
		'text', format(E'Privacy label of release "%s", version %s\nmade        %s UTC, of dataset "%s"\nprotects    %s\nneighbors   %s, at most %s each%s\ncost        %s (%s)\ntogether    %s\nmechanism   %s\nlibrary     racepriv %s\n',
				r.name, r.version, to_char(r.released_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), r.dataset, unit, neighbors, parts.contributions, weighted,
				cost, variant, together, parts.mechanisms, coalesce(facts->>'library', 'of a version that is not recorded'))
			|| (SELECT string_agg(rpad('column', 12) || format('%s: %s%s, %s', c->>'name', CASE WHEN c ? 'measure' THEN 'means of ' ELSE '' END,
				CASE WHEN c ? 'categories' THEN (c->>'categories') || ' categories' WHEN c ? 'lower' THEN (
					SELECT string_agg(coalesce(_racepriv._race_text(c->>'type', (c->>bound)::float8, true), c->>bound), ' to ' ORDER BY bound)
					FROM unnest('{lower,upper}'::text[]) bound) ELSE c->>'type' END,
				c->>'source'), E'\n' ORDER BY n) FROM jsonb_array_elements(columns) WITH ORDINALITY e (c, n) WHERE n <= 8)
			|| CASE WHEN jsonb_array_length(columns) > 8 THEN format(E'\n            and %s more columns', jsonb_array_length(columns) - 8) ELSE '' END
			|| E'\npublic      names, types, bounds, categories, declared labels, parameters, costs, time\n'
			|| (SELECT string_agg('caveat      ' || c, E'\n' ORDER BY n) FROM unnest(caveats) WITH ORDINALITY e (c, n)));
END $$;

COMMENT ON FUNCTION race_label(text, int) IS
	'the label of a release, or of one version: unit, cost, accounting, mechanism, origin of bounds, caveats, in the fields of the registry of deployments; text is one screen. Public facts alone. Error 42704';

CREATE FUNCTION race_registry() RETURNS jsonb
	LANGUAGE racepriv STABLE PARALLEL SAFE COST 1000000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN (SELECT jsonb_build_object('schema', 'opendp/deployments-registry-data, July 2026', 'deployments',
			coalesce(jsonb_agg(_racepriv._race_label(r.name, r.version) - 'text'::text ORDER BY r.name COLLATE "C", r.version), '[]'))
		FROM _racepriv.race_releases r
		-- of a series its latest value
		WHERE r.part = 1 AND (r.during IS NULL OR NOT EXISTS (
			SELECT FROM _racepriv.race_releases n WHERE n.name = r.name AND n.version > r.version)));
END $$;

COMMENT ON FUNCTION race_registry() IS
	'the labels of all releases that the caller may see, without their texts, in one document; of a series that of its latest value';

DO $$
DECLARE
	called CONSTANT name[] := '{race_info,race_released,race_quantile,race_modes,race_points,race_typicality,race_distance,race_label}';
	path CONSTANT text := pg_catalog.current_setting('search_path');
	f record;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR f IN SELECT p.oid, p.proname, pg_get_function_identity_arguments(p.oid) AS arguments
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'racepriv' AND e.extnamespace = p.pronamespace
			JOIN pg_language l ON l.oid = p.prolang AND (l.lanname = 'c' OR p.proname = 'race_label')
		WHERE d.refclassid = 'pg_extension'::regclass AND p.proname = ANY (called)
		ORDER BY p.oid
	LOOP
		EXECUTE regexp_replace(pg_get_functiondef(f.oid), '^(.*?)FUNCTION .*?\(', format('\1FUNCTION _racepriv.%I(', '_' || f.proname));
		EXECUTE format('COMMENT ON FUNCTION _racepriv.%I(%s) IS %L', '_' || f.proname, f.arguments, f.proname || ', for bodies of functions');
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;

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
				AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
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

DROP FUNCTION _race_line(release text, "column" text, steps int, lower float8, upper float8, at float8[]);
DROP FUNCTION _race_points(params race_params, points float8[]);
DROP FUNCTION _race_refuse_charge(dataset text, b _racepriv.race_budgets, epsilon numeric, delta numeric, rho numeric);
DROP FUNCTION _race_check_identity(budget _racepriv.race_budgets);
DROP FUNCTION _race_last_request(name text, OUT version int, OUT dataset text, OUT params race_params, OUT expression text, OUT epsilon float8, OUT delta float8, OUT rows int, OUT label text, OUT labels text[], OUT fit boolean, OUT value text, OUT value_lower float8, OUT value_upper float8, OUT description text, OUT columns text[], OUT units text[], OUT calibrate float8);
DROP FUNCTION _race_release_exists(name text, request jsonb);
DROP FUNCTION _race_request(dataset text, params race_params, expression text, epsilon float8, delta float8, rows int, label text, labels text[], fit boolean, value text, value_lower float8, value_upper float8, description text, columns text[], units text[], calibrate float8);
DROP FUNCTION _race_check_budget(dataset text, budget text, tables regclass[], public_tables regclass[]);
DROP FUNCTION _race_own_budget(actor name, dataset text);
DROP FUNCTION _race_check_shared(budget text, epsilon_limit numeric, delta_limit numeric, accounting text);
DROP FUNCTION _race_check_missing(tables regclass[]);
DROP FUNCTION _race_enter_new_tables(tables regclass[], budget text);
DROP FUNCTION _race_check_budget_owner(actor name, budget text);
DROP FUNCTION _race_relation_name(relation regclass);
DROP FUNCTION _race_exact_decimal(value float8);
DROP FUNCTION _race_check_unit(max_contributions int, neighbors text);
DROP FUNCTION _race_private_tables(relation regclass, unit_column name, public_tables regclass[]);
DROP FUNCTION _race_rho_epsilon(rho float8, delta float8);
DROP FUNCTION _race_discriminant_moments_final(internal);
DROP FUNCTION _race_whiten_final(bytea);
DROP FUNCTION _race_whiten_final(internal);
DROP FUNCTION _race_whiten_step(internal, "any", "any");
DROP FUNCTION _race_whiten_step(internal, "any");
DROP FUNCTION race_warp(x float8[], knots float8[]);
DROP FUNCTION _race_suggest_kernel_step(internal, "any", "any", float8, float8, bigint);
DROP FUNCTION _race_suggest_kernel_step(internal, race_params, "any", "any", float8, float8, bigint);
DROP FUNCTION _race_suggest_step(internal, "any", "any", float8, float8, bigint);
DROP FUNCTION _race_suggest_step(internal, "any", float8, float8, bigint);
DROP FUNCTION race_project(x float8[], matrix float8[], "offset" float8[], radius float8);
DROP FUNCTION _race_discriminant_final(bytea);
DROP FUNCTION _race_discriminant_final(internal);
DROP FUNCTION _race_discriminant_step(internal, "any", "any");
DROP FUNCTION _race_scatter_combine(bytea, bytea);
DROP FUNCTION _race_scatter_deserialize(bytea, internal);
DROP FUNCTION _race_scatter_serialize(internal);
DROP FUNCTION _race_scatter_combine(internal, internal);
DROP FUNCTION race_typicality_share(sketch race_sketch, q "any");
DROP FUNCTION race_similarity(a race_sketch, b race_sketch);
DROP FUNCTION race_score_params(classes int);
DROP FUNCTION _race_score_params(classes int, cells int);
DROP FUNCTION _race_score_final(internal, anyelement, race_sketch, "any", text);
DROP FUNCTION _race_score_final(internal, anyelement, race_sketch, "any");
DROP FUNCTION race_bandwidth(distance float8, power int, kernel text);
DROP FUNCTION race_kernel_sum_mom(sketch race_sketch, q "any", failure_probability float8);
DROP FUNCTION race_probability_density(sketch race_sketch, q "any", smoothing float8);
DROP FUNCTION race_fit_categories(sketch race_sketch, categories jsonb);
DROP FUNCTION race_suggest_rows(records float8, epsilon float8, kernel_mass float8);
DROP FUNCTION race_error_bound(rows int, epsilon float8, records float8, kernel_mass float8, failure_probability float8);
DROP FUNCTION _race_params_counters(race_params);
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	held record;
	routine regprocedure;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR held IN SELECT * FROM jsonb_to_recordset(current_setting('racepriv_upgrade.rights')::jsonb)
			h (name name, grantee text, option boolean)
	LOOP
		FOR routine IN SELECT p.oid FROM pg_proc p
			WHERE p.pronamespace = '@extschema@'::regnamespace AND p.proname = held.name
		LOOP
			EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s%s', routine, held.grantee,
				CASE WHEN held.option THEN ' WITH GRANT OPTION' END);
		END LOOP;
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;
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


-- A GRANT in the script of an extension takes all rights on its object for initial ones, which
-- pg_dump leaves out.  Those that were granted to other roles are not.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	ours oid[];
	keepers oid[];
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	ours := ARRAY(SELECT objid FROM pg_depend WHERE deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv'));
	keepers := ARRAY(SELECT 0::oid UNION SELECT relowner FROM pg_class WHERE oid = '_racepriv.race_charges'::regclass
		UNION SELECT extowner FROM pg_extension WHERE extname = 'racepriv');
	UPDATE pg_init_privs i SET initprivs = ARRAY(SELECT item FROM unnest(i.initprivs) item
			WHERE NOT EXISTS (SELECT FROM aclexplode(ARRAY[item]) a WHERE a.grantee <> ALL (keepers)))
		WHERE i.classoid IN ('pg_class'::regclass, 'pg_proc'::regclass) AND i.objoid = ANY (ours);
	-- from PostgreSQL 17 on, what they are depends on these roles
	DELETE FROM pg_shdepend WHERE deptype = 'i' AND objid = ANY (ours) AND refobjid <> ALL (keepers)
		AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass)
		AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
	PERFORM set_config('search_path', path, true);
END $$;
