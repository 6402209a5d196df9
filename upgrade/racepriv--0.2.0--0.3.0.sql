\echo Use "ALTER EXTENSION racepriv UPDATE" to load this file. \quit
-- Made by upgrade/make_upgrade: make upgrade-script

CREATE SCHEMA _racepriv;

ALTER FUNCTION _race_params_in(cstring) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_out(race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_recv(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_send(race_params) SET SCHEMA _racepriv;
ALTER FUNCTION _race_params_counters(race_params) SET SCHEMA _racepriv;
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
ALTER FUNCTION _race_record_in(cstring) SET SCHEMA _racepriv;
ALTER FUNCTION _race_record_out(race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_record_recv(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_record_send(race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_in(cstring) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_out(race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_recv(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_sketch_send(race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_update_support(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_plus(race_sketch, race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_step(race_sketch, race_params, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_undo(race_sketch, race_params, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_step(race_sketch, race_params, race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_undo(race_sketch, race_params, race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_plus_disjoint(race_sketch, race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_minus(race_sketch, race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_in(cstring) SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_out(race_moments) SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_recv(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_send(race_moments) SET SCHEMA _racepriv;
ALTER FUNCTION _race_plus(race_moments, race_moments) SET SCHEMA _racepriv;
ALTER FUNCTION _race_plus_disjoint(race_moments, race_moments) SET SCHEMA _racepriv;
ALTER FUNCTION _race_minus(race_moments, race_moments) SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_step(race_moments, race_params, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_undo(race_moments, race_params, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_step(race_moments, race_params, race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_moments_undo(race_moments, race_params, race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_compose_step(internal, float8, float8, float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_compose_step(internal, float8, float8, float8, float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_compose_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_combine(internal, internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_serialize(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_deserialize(bytea, internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_build_value_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_fit_step(internal, race_sketch, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_fit_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_model(sketch race_sketch) SET SCHEMA _racepriv;
ALTER FUNCTION _race_columns(params race_params, OUT number int, OUT kind text, OUT lower float8, OUT upper float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_curve(sketch race_sketch, "column" int, steps int, lower float8, upper float8, confidence float8, smoothing float8, OUT x float8, OUT density float8, OUT low float8, OUT high float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_heatmap(sketch race_sketch, column1 int, column2 int, steps int, lower float8[], upper float8[], smoothing float8, OUT x1 float8, OUT x2 float8, OUT density float8, OUT stderr float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_histogram(sketch race_sketch, "column" int, edges float8[], smoothing float8, OUT lower float8, OUT upper float8, OUT count float8, OUT stderr float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any", text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any", text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any", text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_score_final(internal, anyelement, race_sketch, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_score_final(internal, anyelement, race_sketch, "any", text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_score_of(sketches race_sketch[], q "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_score_params(classes int, cells int) SET SCHEMA _racepriv;
ALTER FUNCTION _race_scatter_combine(internal, internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_scatter_serialize(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_scatter_deserialize(bytea, internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_scatter_combine(bytea, bytea) SET SCHEMA _racepriv;
ALTER FUNCTION _race_discriminant_step(internal, "any", "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_discriminant_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_discriminant_step(bytea, text, race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_discriminant_final(bytea) SET SCHEMA _racepriv;
ALTER FUNCTION _race_suggest_step(internal, "any", float8, float8, bigint) SET SCHEMA _racepriv;
ALTER FUNCTION _race_suggest_step(internal, "any", "any", float8, float8, bigint) SET SCHEMA _racepriv;
ALTER FUNCTION _race_suggest_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_suggest_kernel_step(internal, race_params, "any", "any", float8, float8, bigint) SET SCHEMA _racepriv;
ALTER FUNCTION _race_suggest_kernel_step(internal, "any", "any", float8, float8, bigint) SET SCHEMA _racepriv;
ALTER FUNCTION _race_suggest_kernel_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_whiten_step(internal, "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_whiten_step(internal, "any", "any") SET SCHEMA _racepriv;
ALTER FUNCTION _race_whiten_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_whiten_step(bytea, race_record) SET SCHEMA _racepriv;
ALTER FUNCTION _race_whiten_step(bytea, race_record, text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_whiten_final(bytea) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lda_step(internal, anyelement, race_moments, float8[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lda_step(internal, anyelement, race_moments, float8[], text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lda_final(internal, anyelement, race_moments, float8[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lda_final(internal, anyelement, race_moments, float8[], text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lda_posterior_final(internal, anyelement, race_moments, float8[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lda_posterior_final(internal, anyelement, race_moments, float8[], text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_discriminant_moments_step(internal, anyelement, race_moments) SET SCHEMA _racepriv;
ALTER FUNCTION _race_discriminant_moments_final(internal) SET SCHEMA _racepriv;
ALTER FUNCTION _race_identity() SET SCHEMA _racepriv;
ALTER FUNCTION _race_refuse_change() SET SCHEMA _racepriv;
ALTER FUNCTION _race_rho_limit(epsilon float8, delta float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_rho_epsilon(rho float8, delta float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_private_tables(relation regclass, unit_column name, public_tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_unit(max_contributions int, neighbors text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_lock_tables(ledger regclass, tables regclass[], wait boolean) SET SCHEMA _racepriv;
ALTER FUNCTION _race_exact_decimal(value float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_relation_name(relation regclass) SET SCHEMA _racepriv;
ALTER FUNCTION _race_with_parts(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_topmost(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_entries_of(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_owner(actor name, relations regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_budget_owner(actor name, budget text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_find_budget(tables regclass[], public_tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_enter_tables(tables regclass[], budget text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_enter_new_tables(tables regclass[], budget text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_missing(tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_enter_act(actor name, budget text, dataset text, act text, request jsonb) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_limits(epsilon_limit float8, delta_limit float8, accounting text, OUT epsilon numeric, OUT delta numeric, OUT rho numeric) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_shared(budget text, epsilon_limit numeric, delta_limit numeric, accounting text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_protect(actor name, dataset text, relation regclass, epsilon_limit float8, delta_limit float8, unit_column name, max_contributions int, neighbors text, accounting text, public_tables regclass[], tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_own_budget(actor name, dataset text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_budget_limit(actor name, dataset text, epsilon_limit float8, delta_limit float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_budget_adopt(actor name, dataset text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_budget(dataset text, budget text, tables regclass[], public_tables regclass[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_ordered_labels(params race_params, label text, labels text[], sketches int) SET SCHEMA _racepriv;
ALTER FUNCTION _race_request(dataset text, params race_params, expression text, epsilon float8, delta float8, rows int, label text, labels text[], fit boolean, value text, value_lower float8, value_upper float8, description text, columns text[], units text[], calibrate float8) SET SCHEMA _racepriv;
ALTER FUNCTION _race_release_exists(name text, request jsonb) SET SCHEMA _racepriv;
ALTER FUNCTION _race_check_identity(budget race_budgets) SET SCHEMA _racepriv;
ALTER FUNCTION _race_refuse_charge(dataset text, b race_budgets, epsilon numeric, delta numeric, rho numeric) SET SCHEMA _racepriv;
ALTER FUNCTION _race_charge(dataset text, name text, version int, request jsonb, rho float8, budget text, tables regclass[], charged_by name, OUT charge uuid, OUT charged_at timestamptz) SET SCHEMA _racepriv;
ALTER FUNCTION _race_refreshes_left(actor name, name text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_labels(release text, label text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_column(release text, "column" text) SET SCHEMA _racepriv;
ALTER FUNCTION _race_points(params race_params, points float8[]) SET SCHEMA _racepriv;
ALTER FUNCTION _race_line(release text, "column" text, steps int, lower float8, upper float8, at float8[]) SET SCHEMA _racepriv;
ALTER TYPE race_identity SET SCHEMA _racepriv;
ALTER TABLE race_budgets SET SCHEMA _racepriv;
ALTER TABLE race_datasets SET SCHEMA _racepriv;
ALTER TABLE race_budget_tables SET SCHEMA _racepriv;
ALTER TABLE race_charges SET SCHEMA _racepriv;
ALTER TABLE race_releases SET SCHEMA _racepriv;

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
	UPDATE _racepriv.race_budget_tables b SET
		owner_id = coalesce((SELECT relowner FROM pg_class WHERE oid = b.relation), to_regrole(quote_ident(b.owner))),
		schema_id = coalesce((SELECT relnamespace FROM pg_class WHERE oid = b.relation),
			to_regnamespace(quote_ident((parse_ident(b.table_name))[1])));
	UPDATE _racepriv.race_datasets d SET
		owner_id = coalesce((SELECT relowner FROM pg_class WHERE oid = d.relation), to_regrole(quote_ident(d.owner)));
	UPDATE _racepriv.race_charges c SET charged_by_id = to_regrole(quote_ident(c.charged_by));
	PERFORM set_config('search_path', path, true);
END $$;
ALTER TABLE _racepriv.race_budget_tables ENABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_datasets ENABLE TRIGGER race_append_only;
ALTER TABLE _racepriv.race_charges ENABLE TRIGGER race_append_only;

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
		WHERE p.pronamespace = '@extschema@'::regnamespace AND p.proname IN ('_race_check_description', '_race_dataset', '_race_last_request')
			AND a.grantee NOT IN (0, p.proowner)), true);
	PERFORM set_config('search_path', path, true);
END $$;
DROP FUNCTION _race_last_request(name text, OUT version int, OUT dataset text, OUT params race_params, OUT expression text, OUT epsilon float8, OUT delta float8, OUT rows int, OUT label text, OUT labels text[], OUT fit boolean, OUT value text, OUT value_lower float8, OUT value_upper float8, OUT description text, OUT columns text[], OUT units text[], OUT calibrate float8);
DROP FUNCTION _race_check_description(params race_params, has_value boolean, description text, columns text[], units text[]);
DROP FUNCTION _race_dataset(dataset text);

SELECT pg_catalog.set_config('racepriv_script.members', coalesce((
	SELECT pg_catalog.array_agg(ROW(d.classid, d.objid)::text) FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e
		ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'racepriv'
	WHERE d.deptype OPERATOR(pg_catalog.=) 'e' AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid)::text, '{}'), true);

COMMENT ON SCHEMA _racepriv IS
	'the ledger of racepriv, and its internal routines';

COMMENT ON OPERATOR + (race_sketch, race_sketch) IS
	'the sketch of the records of both. Private sketches add noise and costs, and keep the fewer rows or cells. Errors: 22023 for different parameters, and for halves of different calls; 55000 for an exact and a private one';

COMMENT ON OPERATOR - (race_sketch, race_sketch) IS
	'an exact sketch without the records of another one, which must be among its own. Errors: 22023 for different parameters, 55000 for private sketches and halves of race_build_value';

COMMENT ON FUNCTION race_share(race_sketch, float8, float8, int, int, int, int, int, text) IS
	'the exact sketch of one party with its share of discrete Gaussian noise. Only the race_merge of at least parties - dropouts shares can be asked. max_contributions: of one person, at all parties. rows: NULL keeps all. Errors: 22023, 55000';

CREATE OR REPLACE FUNCTION _racepriv._race_build_value_final(internal) RETURNS race_value_sketches
	AS 'MODULE_PATHNAME', 'race_build_value_final' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_privatize(race_value_sketches, float8, float8, int, int, text, boolean) IS
	'both halves of race_build_value made private with the same rows and noise, which costs (epsilon, delta) once. Call it in a subquery with OFFSET 0: (race_privatize(pair, epsilon)).* runs twice, and nothing accepts its halves. Errors as for a sketch';

CREATE OR REPLACE FUNCTION race_fit_categories(sketch race_sketch, categories jsonb) RETURNS race_sketch
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000000
	SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	most CONSTANT int := 4096;
	made CONSTANT int := 16384;
	info record;
	twice record;
	names text[];	-- all lists, one after the other
	sizes int[];
	starts int[];
	strides numeric[];
	n numeric := 1;
BEGIN
	IF jsonb_typeof(categories) <> 'array' OR categories = '[]' OR
		jsonb_path_exists(categories, 'strict $[*] ? (@.type() != "array" || @.size() == 0)') OR
		jsonb_path_exists(categories, 'strict $[*][*] ? (@.type() != "string" && @.type() != "null")')
	THEN
		RAISE EXCEPTION 'categories must be a list of lists of texts' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give one list for each column, as in [["f", "m"], ["north", "south", null]].';
	END IF;
	SELECT kernel, dims, sequence INTO info FROM _racepriv._race_info(sketch);
	IF info.kernel <> 'match' THEN
		RAISE EXCEPTION 'race_fit_categories is for kernel match by itself' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('The kernel is %s.', info.kernel),
			HINT = 'Use the aggregate: SELECT race_fit(sketch, x) over records that there might be.';
	END IF;
	IF jsonb_array_length(categories) <> info.dims THEN
		RAISE EXCEPTION 'expected % % of categories, found %', info.dims, CASE info.dims WHEN 1 THEN 'list' ELSE 'lists' END, jsonb_array_length(categories)
			USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give one list for each column, as in [["f", "m"], ["north", "south", null]].';
	END IF;
	SELECT j, category INTO twice
	FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j), jsonb_array_elements_text(l) category
	GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'list % has a category twice', twice.j USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('The category is %s.', left(coalesce(to_json(twice.category)::text, 'null'), 100));
	END IF;

	names := ARRAY(
		SELECT category FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j), jsonb_array_elements_text(l) WITH ORDINALITY e (category, k)
		ORDER BY j, k);
	sizes := ARRAY(SELECT jsonb_array_length(l) FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j) ORDER BY j);
	starts := ARRAY(SELECT 1 + sum(size) OVER (ORDER BY j) - size FROM unnest(sizes) WITH ORDINALITY s (size, j) ORDER BY j);
	strides := array_fill(n, ARRAY[cardinality(sizes)]);
	FOR j IN REVERSE cardinality(sizes)..1 LOOP
		strides[j] := n;
		n := least(n * sizes[j], 1e18);
	END LOOP;
	-- balanced rows are fitted to others that are made of these
	IF info.sequence = 'balanced' THEN
		n := made;
	ELSIF n > most THEN
		RAISE EXCEPTION 'a model can have at most % candidates', most USING ERRCODE = 'program_limit_exceeded',
			DETAIL = format('The lists make %s rows of categories.', CASE WHEN n < 1e18 THEN n::text ELSE '1e18 or more' END),
			HINT = 'Use the aggregate: SELECT race_fit(sketch, x) over a public sample of them.';
	END IF;
	RETURN (
		SELECT _racepriv._race_fit(sketch, ARRAY(
			SELECT names[starts[j] + CASE info.sequence
				WHEN 'balanced' THEN (hashint8extended(i, j) & 9223372036854775807) % sizes[j]
				ELSE div(i - 1, strides[j]) % sizes[j] END]
			FROM generate_series(1, cardinality(sizes)) j ORDER BY j))
		FROM generate_series(1, n::int) i);
END $$;

CREATE OR REPLACE FUNCTION race_bandwidth(distance float8, power int, kernel text DEFAULT 'l2') RETURNS float8
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	least float8 := 0;		-- between these, in bandwidths
	most float8 := 1;
	steps CONSTANT int := 60;
	middle float8;
BEGIN
	IF kernel NOT IN ('l2', 'l1') OR power < 1 OR NOT (distance > 0.0 AND distance < 'infinity') THEN
		RAISE EXCEPTION 'a bandwidth is of kernel l2 or l1, a power of at least 1, and a positive distance'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	FOR i IN 1 .. steps LOOP
		middle := (least + most) / 2;
		IF _racepriv._race_kernel(_racepriv._race_params_in(textout(kernel)), '{0}'::float8[], ARRAY[middle]) >
			_racepriv._race_kernel(_racepriv._race_params_in(textout(kernel)), '{0}'::float8[], '{1}'::float8[]) ^ (1.0::float8 / power) THEN
			least := middle;
		ELSE
			most := middle;
		END IF;
	END LOOP;
	RETURN distance / most;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_score_params(classes int, cells int) RETURNS race_params
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	most CONSTANT int := 100;
BEGIN
	IF classes < 2 OR classes > most THEN
		RAISE EXCEPTION 'scores are of 2 to % classes', most USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN _racepriv._race_params_in(textout(format('l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={%s}, cells={%s})',
		2 * classes - 1, cells * (2 * classes - 1))));
END $$;

CREATE OR REPLACE FUNCTION race_score_params(classes int) RETURNS race_params
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT _racepriv._race_score_params(classes, CASE WHEN classes > 4 THEN 10 ELSE 20 END)
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_identity() RETURNS _racepriv.race_identity
	LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT ROW(c.system_identifier, d.oid,
		('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
		to_regclass('_racepriv.race_charges')::oid)::_racepriv.race_identity
	FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
$$;

COMMENT ON COLUMN _racepriv.race_datasets.owner_id IS 'the OID of the owner, in the copy of the database where it was protected';

COMMENT ON TABLE _racepriv.race_budget_tables IS
	'the private tables of datasets, as they were when a budget was given or charged: a table belongs to the budget of its OID, or of its name and owner if it was made anew. No other table may take a name that stands here';

COMMENT ON COLUMN _racepriv.race_budget_tables.identity IS 'the copy of the database in which it was entered, and in which the OIDs hold';

COMMENT ON COLUMN _racepriv.race_budget_tables.owner_id IS 'the OID of its owner: a role that is renamed is the same, and one that takes its name is not';

COMMENT ON COLUMN _racepriv.race_budget_tables.schema_id IS 'the OID of its schema';

COMMENT ON COLUMN _racepriv.race_charges.charged_by_id IS 'the OID of the role, in that copy';

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
	ledger CONSTANT regclass[] := '{_racepriv.race_budgets,_racepriv.race_datasets,_racepriv.race_budget_tables,_racepriv.race_charges,_racepriv.race_releases}';
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

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_latest_releases SET (security_invoker = true);
	END IF;
END $$;

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
		SELECT c.oid, _racepriv._race_relation_name(c.oid::regclass) AS name FROM pg_class c WHERE c.oid = ANY (tables))
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

CREATE FUNCTION _racepriv._race_check_names(tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	taken record;
BEGIN
	SELECT _racepriv._race_relation_name(e.relation) AS name, e.owner, e.budget, b.epsilon_limit INTO taken
	FROM _racepriv._race_rows_naming(tables) e JOIN _racepriv.race_budgets b USING (budget)
	WHERE e.named AND NOT (e.here AND EXISTS (SELECT FROM pg_class o WHERE o.oid = e.entered AND o.oid <> e.relation))
	ORDER BY 1, 2 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'the ledger names table % already', taken.name
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('A table of this name and of role "%s" belongs to budget "%s", whose epsilon_limit is %s.', taken.owner, taken.budget, taken.epsilon_limit),
				HINT = format('If it is the same table, restored or made anew for another owner, a superuser can CALL race_budget_adopt(%L). If it is another one, rename it.', taken.budget);
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_check_names(regclass[]) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_check_names(regclass[]) IS
	'raises 55000 if rows of race_budget_tables name one of these tables, unless the table that they were entered for exists under another name';

CREATE OR REPLACE FUNCTION _racepriv._race_check_owner(actor name, relations regclass[]) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	foreign_one text;
BEGIN
	SELECT _racepriv._race_relation_name(c.oid::regclass) INTO foreign_one FROM pg_class c
	WHERE c.oid = ANY (relations) AND NOT pg_has_role(actor, c.relowner, 'USAGE')
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'must be owner of relation "%"', foreign_one USING ERRCODE = 'insufficient_privilege';
	END IF;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_check_budget_owner(actor name, budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT _racepriv._race_check_owner(actor, _racepriv._race_topmost(array_agg(e.relation)))
	FROM _racepriv._race_entries_of(ARRAY(
		SELECT c.oid::regclass FROM pg_class c, _racepriv.race_budget_tables b
		WHERE b.budget = _race_check_budget_owner.budget
			AND (c.oid = b.relation OR c.oid = to_regclass(b.table_name)))) e
	WHERE e.budget = _race_check_budget_owner.budget
$$;

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
	SELECT _racepriv._race_relation_name(c.oid::regclass), c.oid, pg_get_userbyid(c.relowner), budget, _racepriv._race_identity(),
		c.relowner, c.relnamespace
	FROM pg_class c WHERE c.oid = ANY (tables)
	ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_enter_new_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	new_ones regclass[] := ARRAY(
		SELECT c.oid FROM pg_class c
		WHERE c.oid = ANY (_racepriv._race_with_parts(_racepriv._race_topmost(tables)))
			AND NOT EXISTS (SELECT FROM _racepriv.race_budget_tables b
				WHERE b.table_name = _racepriv._race_relation_name(c.oid::regclass) AND b.relation = c.oid
					AND b.owner_id = c.relowner AND b.schema_id = c.relnamespace AND _racepriv._race_is_here(b.identity)));
BEGIN
	PERFORM _racepriv._race_enter_tables(
		_racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass, new_ones, false), budget);
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_check_missing(tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	missing record;
BEGIN
	SELECT t.table_name, b.budget INTO missing
	FROM _racepriv.race_budget_tables t JOIN _racepriv.race_budgets b USING (budget)
	WHERE NOT _racepriv._race_is_here(b.identity)
		AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(t.table_name) AND pg_get_userbyid(c.relowner) = t.owner)
		AND t.owner IN (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = ANY (tables))
	ORDER BY 1, 2 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'a table of the same owner is missing in this copy of the database'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('Table %s has budget "%s".', missing.table_name, missing.budget),
				HINT = 'If the table was renamed here, give it its name back. CALL race_budget_adopt for the budget first.';
	END IF;
END $$;

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
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF accounting IS NULL OR accounting NOT IN ('basic', 'zcdp') THEN
		RAISE EXCEPTION 'unknown accounting "%"', left(accounting, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use basic (sums of epsilon and delta) or zcdp (the sum of rho).';
	END IF;
	IF NOT coalesce(epsilon_limit > 0 AND epsilon_limit <= 1e15 AND delta_limit >= 0 AND delta_limit < 1, false) THEN
		RAISE EXCEPTION 'epsilon_limit must be above 0 and at most 1e15, delta_limit at least 0 and below 1'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	epsilon := _racepriv._race_exact_decimal(epsilon_limit);
	delta := _racepriv._race_exact_decimal(delta_limit);
	IF accounting = 'zcdp' THEN
		rho := _racepriv._race_exact_decimal(_racepriv._race_rho_limit(epsilon_limit, delta_limit));
	END IF;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_check_shared(budget text, epsilon_limit numeric, delta_limit numeric, accounting text)
	RETURNS void LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b _racepriv.race_budgets;
BEGIN
	SELECT * INTO b FROM _racepriv.race_budgets s WHERE s.budget = _race_check_shared.budget;
	IF (b.accounting, b.epsilon_limit, b.delta_limit) IS DISTINCT FROM (accounting, epsilon_limit, delta_limit) THEN
		RAISE EXCEPTION 'the tables of this relation have a budget already' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Budget "%s" has epsilon_limit %s, delta_limit %s, accounting %s.',
				b.budget, b.epsilon_limit, b.delta_limit, b.accounting),
			HINT = 'Give the same limits to share it; race_budget_limit changes them.';
	END IF;
END $$;

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
	PERFORM _racepriv._race_check_unit(max_contributions, neighbors);
	tables := _racepriv._race_topmost(tables);
	PERFORM _racepriv._race_check_owner(actor, tables);
	parts := _racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass, _racepriv._race_with_parts(tables), true);
	IF EXISTS (SELECT FROM _racepriv.race_datasets d WHERE d.dataset = _race_protect.dataset) THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			HINT = 'race_budget_limit changes the limits of its budget.';
	END IF;

	shared := _racepriv._race_find_budget(tables, public_tables);
	IF shared IS NULL THEN
		PERFORM _racepriv._race_check_names(parts);
		PERFORM _racepriv._race_check_missing(tables);
		INSERT INTO _racepriv.race_budgets (budget, accounting, epsilon_limit, delta_limit, rho_limit, identity)
		VALUES (dataset, accounting, limits.epsilon, limits.delta, limits.rho, _racepriv._race_identity());
	ELSE
		PERFORM _racepriv._race_check_budget_owner(actor, shared);
		PERFORM _racepriv._race_check_shared(shared, limits.epsilon, limits.delta, accounting);
	END IF;
	PERFORM _racepriv._race_enter_tables(parts, coalesce(shared, dataset));
	INSERT INTO _racepriv.race_datasets
	SELECT dataset, relation, _racepriv._race_relation_name(relation), pg_get_userbyid(c.relowner),
		unit_column, max_contributions, neighbors,
		ARRAY(SELECT _racepriv._race_relation_name(t) FROM unnest(public_tables) t), coalesce(shared, dataset), c.relowner
	FROM pg_class c WHERE c.oid = relation;
	PERFORM _racepriv._race_enter_act(actor, coalesce(shared, dataset), dataset, 'protect', jsonb_build_object(
		'relation', _racepriv._race_relation_name(relation), 'unit_column', unit_column, 'max_contributions', max_contributions,
		'neighbors', neighbors, 'public_tables', public_tables::text[], 'accounting', accounting,
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta));
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_own_budget(actor name, dataset text) RETURNS _racepriv.race_budgets
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d _racepriv.race_datasets := _racepriv._race_dataset(dataset);
	b _racepriv.race_budgets;
BEGIN
	PERFORM _racepriv._race_check_owner(actor, ARRAY[d.relation::regclass]);
	PERFORM _racepriv._race_check_budget_owner(actor, d.budget);
	SELECT * INTO b FROM _racepriv.race_budgets WHERE budget = d.budget FOR UPDATE;
	RETURN b;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_budget_limit(
	actor name, dataset text, epsilon_limit float8, delta_limit float8) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b _racepriv.race_budgets := _racepriv._race_own_budget(actor, dataset);
	limits record := _racepriv._race_check_limits(epsilon_limit, delta_limit, b.accounting);
BEGIN
	IF b.spent_rho > limits.rho OR b.accounting = 'basic' AND
		(b.spent_epsilon > limits.epsilon OR b.spent_delta > limits.delta)
	THEN
		RAISE EXCEPTION 'a budget cannot be limited to less than what is spent' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Spent: epsilon %s, delta %s, rho %s.', b.spent_epsilon, b.spent_delta, b.spent_rho);
	END IF;
	UPDATE _racepriv.race_budgets
	SET epsilon_limit = limits.epsilon, delta_limit = limits.delta, rho_limit = limits.rho WHERE budget = b.budget;
	PERFORM _racepriv._race_enter_act(actor, b.budget, dataset, 'limit', jsonb_build_object(
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta,
		'epsilon_limit_before', b.epsilon_limit, 'delta_limit_before', b.delta_limit));
END $$;

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
		string_agg(format('%s of role "%s" (before "%s")', _racepriv._race_relation_name(c.oid::regclass), pg_get_userbyid(c.relowner), o.owner), ', ')
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

CREATE OR REPLACE PROCEDURE race_grant(grantee regrole, duty text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner_may CONSTANT text[] := '{race_protect,race_budget_limit,race_budget_adopt,race_refreshes_left}';
	curator_may CONSTANT text[] := '{race_release,race_release_next,race_refreshes_left}';
	analyst_sees CONSTANT text[] := '{race_releases,race_latest_releases,race_catalog}';
	curator_sees CONSTANT text[] := analyst_sees || '{race_budget_status}';
	owner_sees CONSTANT text[] := curator_sees || '{race_budgets,race_datasets,race_budget_tables,race_charges}';
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

CREATE OR REPLACE FUNCTION _racepriv._race_check_budget(dataset text, budget text, tables regclass[], public_tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF _racepriv._race_find_budget(tables, public_tables) IS DISTINCT FROM budget OR EXISTS (
		SELECT FROM unnest(_racepriv._race_topmost(tables)) t
		WHERE NOT EXISTS (SELECT FROM _racepriv._race_entries_of(ARRAY[t])))
	THEN
		RAISE EXCEPTION 'the tables of dataset "%" are not those of its budget any more', dataset
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Protect its relation under another name: what has a budget keeps it.';
	END IF;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_ordered_labels(params race_params, label text, labels text[], sketches int) RETURNS text[]
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	-- all private sketches of a release are in memory at once
	most CONSTANT bigint := 1000000000;
	most_labels CONSTANT int := 100000;
BEGIN
	IF (label IS NULL) <> (labels IS NULL) THEN
		RAISE EXCEPTION 'label and labels go together' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'The list of labels is declared, because which labels occur is private.';
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
	IF _racepriv._race_params_counters(params) * 8 > most / cardinality(labels) / sketches THEN
		RAISE EXCEPTION 'sketches of so many labels could be larger than 1 GB together' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	RETURN ARRAY(SELECT l COLLATE "C" FROM unnest(labels) l ORDER BY 1);
END $$;

CREATE FUNCTION _racepriv._race_check_shown(what text, texts text[]) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF EXISTS (SELECT FROM unnest(texts) t WHERE t ~ '[\u0001-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]|<[A-Za-z/!?]') THEN
		RAISE EXCEPTION '% must not contain control characters or markup', what USING ERRCODE = 'invalid_parameter_value',
			HINT = 'After "<" there must be no letter and none of "/", "!" and "?". A description may have several lines.';
	END IF;
END $$;

COMMENT ON FUNCTION _racepriv._race_check_shown(text, text[]) IS
	'raises 22023 for control characters, characters that change the direction of text, and the beginning of an HTML tag';

CREATE FUNCTION _racepriv._race_check_description(
	params race_params, has_value boolean, name text, labels text[], description text, columns text[], units text[]) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	most_bytes CONSTANT int := 200;		-- of a name or a unit
	most_description CONSTANT int := 10000;
	n CONSTANT int := (SELECT count(*) FROM _racepriv._race_columns(params)) + has_value::int;
BEGIN
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

COMMENT ON FUNCTION _racepriv._race_check_description(race_params, boolean, text, text[], text, text[], text[]) IS
	'raises 54000 or 22023 for texts that cannot be shown, and unless there is one name and one unit, or none at all, for each column of a record and for the value';

CREATE OR REPLACE FUNCTION _racepriv._race_request(
	dataset text, params race_params, expression text, epsilon float8, delta float8,
	rows int, label text, labels text[], fit boolean,
	value text, value_lower float8, value_upper float8,
	description text, columns text[], units text[], calibrate float8)
	RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('dataset', dataset, 'params', params::text, 'expression', expression,
		'epsilon', _racepriv._race_exact_decimal(epsilon), 'delta', _racepriv._race_exact_decimal(delta),
		'rows', rows, 'label', label, 'labels', to_jsonb(labels), 'fit', fit) ||
		CASE WHEN value IS NULL THEN '{}' ELSE
			jsonb_build_object('value', value, 'value_lower', value_lower, 'value_upper', value_upper) END ||
		jsonb_strip_nulls(jsonb_build_object('description', description)) ||
		CASE WHEN columns IS NULL THEN '{}' ELSE jsonb_build_object('columns', columns, 'units', units) END ||
		jsonb_strip_nulls(jsonb_build_object('calibrate', calibrate))
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_release_exists(name text, request jsonb) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
BEGIN
	SELECT c.request - '{name,version}'::text[] AS request INTO last
	FROM _racepriv.race_releases r LEFT JOIN _racepriv.race_charges c ON c.charge = r.charge
	WHERE r.name = _race_release_exists.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		RETURN false;
	ELSIF last.request IS DISTINCT FROM _race_release_exists.request THEN
		RAISE EXCEPTION 'release "%" exists, with another request', name USING ERRCODE = 'duplicate_object',
			HINT = 'Choose another name, or race_release_next for a new version of the same request.';
	END IF;
	RAISE NOTICE 'release "%" exists: nothing is charged', name;
	RETURN true;
END $$;

CREATE FUNCTION _racepriv._race_last_request(
	name text, OUT version int, OUT dataset text, OUT params race_params, OUT expression text,
	OUT epsilon float8, OUT delta float8, OUT rows int, OUT label text, OUT labels text[], OUT fit boolean,
	OUT value text, OUT value_lower float8, OUT value_upper float8,
	OUT description text, OUT columns text[], OUT units text[], OUT calibrate float8, OUT role oid)
	RETURNS record LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	SELECT r.version, q.dataset, q.params, q.expression, q.epsilon, q.delta, q.rows, q.label, q.labels, q.fit,
		q.value, q.value_lower, q.value_upper, q.description, q.columns, q.units, q.calibrate,
		CASE WHEN _racepriv._race_is_here(c.identity) THEN c.charged_by_id ELSE to_regrole(quote_ident(c.charged_by)) END
	INTO version, dataset, params, expression, epsilon, delta, rows, label, labels, fit,
		value, value_lower, value_upper, description, columns, units, calibrate, role
	FROM _racepriv.race_releases r JOIN _racepriv.race_charges c ON c.charge = r.charge,
		jsonb_to_record(c.request) q (dataset text, params text, expression text,
			epsilon float8, delta float8, rows int, label text, labels text[], fit boolean,
			value text, value_lower float8, value_upper float8,
			description text, columns text[], units text[], calibrate float8)
	WHERE r.name = _race_last_request.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF version IS NULL THEN
		RAISE EXCEPTION 'there is no release "%"', left(name, 64) USING ERRCODE = 'undefined_object';
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _racepriv._race_last_request(text) FROM PUBLIC;

COMMENT ON FUNCTION _racepriv._race_last_request(text) IS
	'the latest version of a release, the request that all versions share, and the role that made it, in another copy of the database by its name; error 42704 if there is none';

CREATE OR REPLACE FUNCTION _racepriv._race_check_identity(budget _racepriv.race_budgets) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF budget.identity IS DISTINCT FROM _racepriv._race_identity() THEN
		RAISE EXCEPTION 'budget "%" was last spent in another copy of this database', budget.budget
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('It was %s, this is %s (system identifier, database, timeline, ledger).',
					budget.identity, _racepriv._race_identity()),
				HINT = 'If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).';
	END IF;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_charge(
	dataset text, name text, version int, request jsonb, rho float8, budget text, tables regclass[],
	charged_by name, OUT charge uuid, OUT charged_at timestamptz)
	RETURNS record LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	asked_epsilon numeric := (request->>'epsilon')::numeric;
	asked_delta numeric := (request->>'delta')::numeric;
	asked_rho numeric := _racepriv._race_exact_decimal(rho);
	b _racepriv.race_budgets;
BEGIN
	UPDATE _racepriv.race_budgets u
	SET spent_epsilon = spent_epsilon + asked_epsilon, spent_delta = spent_delta + asked_delta, spent_rho = spent_rho + asked_rho
	WHERE u.budget = _race_charge.budget AND CASE accounting
		WHEN 'basic' THEN spent_epsilon + asked_epsilon <= epsilon_limit AND spent_delta + asked_delta <= delta_limit
		ELSE spent_rho + asked_rho <= rho_limit END
	RETURNING u.* INTO b;
	IF FOUND THEN
		PERFORM _racepriv._race_check_identity(b);
	ELSE
		SELECT * INTO b FROM _racepriv.race_budgets u WHERE u.budget = _race_charge.budget;
		PERFORM _racepriv._race_check_identity(b);
		PERFORM _racepriv._race_refuse_charge(dataset, b, asked_epsilon, asked_delta, asked_rho);
	END IF;
	PERFORM _racepriv._race_enter_new_tables(tables, budget);

	INSERT INTO _racepriv.race_charges AS c
		(budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity, charged_by_id)
	VALUES (budget, dataset, 'release', request || jsonb_build_object('name', name, 'version', version),
		asked_epsilon, asked_delta, asked_rho, charged_by, statement_timestamp(), b.identity, to_regrole(quote_ident(charged_by)))
	RETURNING c.charge, c.charged_at INTO charge, charged_at;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_refreshes_left(actor name, name text) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
	d _racepriv.race_datasets;
BEGIN
	SELECT c.dataset, c.epsilon, c.delta, c.rho, c.budget INTO last
	FROM _racepriv.race_releases r JOIN _racepriv.race_charges c ON c.charge = r.charge
	WHERE r.name = _race_refreshes_left.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	d := _racepriv._race_dataset(last.dataset);
	IF NOT has_any_column_privilege(actor, d.relation, 'SELECT') THEN
		RAISE EXCEPTION 'permission denied for dataset "%"', d.dataset USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN (SELECT least(9223372036854775807, floor(CASE b.accounting
		WHEN 'zcdp' THEN (b.rho_limit - b.spent_rho) / last.rho
		ELSE least((b.epsilon_limit - b.spent_epsilon) / last.epsilon, (b.delta_limit - b.spent_delta) / nullif(last.delta, 0)) END))::bigint
	FROM _racepriv.race_budgets b WHERE b.budget = last.budget);
END $$;

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_catalog SET (security_invoker = true);
	END IF;
END $$;

CREATE OR REPLACE FUNCTION _racepriv._race_labels(release text, label text) RETURNS TABLE (label text)
	LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(_race_labels.label, l.label)
	FROM (VALUES (1)) one LEFT JOIN LATERAL (
		SELECT r.label, min(r.part) AS part FROM _racepriv.race_releases r
		WHERE r.name = release AND _race_labels.label IS NULL
			AND r.version = (SELECT max(n.version) FROM _racepriv.race_releases n WHERE n.name = release)
		GROUP BY r.label) l ON true
	WHERE release IS NOT NULL ORDER BY l.part
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_column(release text, "column" text) RETURNS int
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	names text[];
	n int;
BEGIN
	SELECT r.columns, (SELECT count(*) FROM _racepriv._race_columns(
		coalesce(_racepriv._race_params(r.sketch), _racepriv._race_params(r.moments))))
	INTO names, n
	FROM _racepriv.race_releases r WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1;
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

CREATE OR REPLACE FUNCTION race_curve(
	release text, "column" text DEFAULT '1', steps int DEFAULT 100,
	lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, label text DEFAULT NULL,
	confidence float8 DEFAULT 0.95, smoothing float8 DEFAULT NULL)
	RETURNS SETOF race_curve_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.x, c.density, c.low, c.high, c.density * greatest(_racepriv._race_count(s.sketch), 0), l.label
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_model(_racepriv._race_released(release, l.label)) s (sketch)
		CROSS JOIN LATERAL _racepriv._race_curve(s.sketch, _racepriv._race_column(release, "column"), steps,
			lower, upper, confidence, smoothing) c
$$;

CREATE OR REPLACE FUNCTION race_heatmap(
	release text, column1 text DEFAULT '1', column2 text DEFAULT '2', steps int DEFAULT 40,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL, label text DEFAULT NULL,
	smoothing float8 DEFAULT NULL)
	RETURNS SETOF race_heatmap_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 1600
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.x1, c.x2, c.density, c.stderr, l.label
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_heatmap(_racepriv._race_model(_racepriv._race_released(release, l.label)),
			_racepriv._race_column(release, column1), _racepriv._race_column(release, column2), steps,
			lower, upper, smoothing) c
$$;

CREATE OR REPLACE FUNCTION race_histogram(
	release text, "column" text, edges float8[], label text DEFAULT NULL, smoothing float8 DEFAULT 0.1)
	RETURNS SETOF race_histogram_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.lower, c.upper, c.count, c.stderr, l.label
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_histogram(_racepriv._race_model(_racepriv._race_released(release, l.label)),
			_racepriv._race_column(release, "column"), edges, smoothing) c
$$;

CREATE OR REPLACE FUNCTION race_quantiles(
	release text, "column" text DEFAULT '1', p float8[] DEFAULT '{0.05,0.25,0.5,0.75,0.95}', label text DEFAULT NULL)
	RETURNS SETOF race_quantiles_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT q.p, q.value, q.standard_error, l.label
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_quantile(_racepriv._race_model(_racepriv._race_released(release, l.label)),
			race_quantiles.p, _racepriv._race_column(release, "column")) q
$$;

CREATE OR REPLACE FUNCTION race_modes(release text, max int DEFAULT 10, label text DEFAULT NULL)
	RETURNS SETOF race_release_modes_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 10000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.mode::int, coalesce(c.columns[x.i], x.i::text), x.x, m.record, m.density, m.prominence, l.label
	FROM (SELECT r.columns FROM _racepriv.race_releases r
			WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1) c
		RIGHT JOIN _racepriv._race_labels(release, label) l ON true
		CROSS JOIN LATERAL _racepriv._race_modes(_racepriv._race_model(_racepriv._race_released(release, l.label)), max)
			WITH ORDINALITY m (at, record, density, prominence, mode)
		LEFT JOIN LATERAL unnest(m.at) WITH ORDINALITY x (x, i) ON true
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_points(params race_params, points float8[]) RETURNS TABLE (point int, x float8[])
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	dims int := (SELECT count(*) FROM _racepriv._race_columns(params));
BEGIN
	IF cardinality(points) % dims <> 0 OR array_ndims(points) > 2
		OR array_ndims(points) = 2 AND array_length(points, 2) <> dims
	THEN
		RAISE EXCEPTION 'points must be an array of % numbers for each point', dims
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN QUERY SELECT ((n.n - 1) / dims + 1)::int, array_agg(n.x ORDER BY n.n)
	FROM unnest(points) WITH ORDINALITY n (x, n) GROUP BY 1 ORDER BY 1;
END $$;

CREATE OR REPLACE FUNCTION race_outliers(release text, points float8[], label text DEFAULT NULL)
	RETURNS SETOF race_outliers_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.point, _racepriv._race_typicality(s.sketch, p.x),
		CASE WHEN s.fitted THEN _racepriv._race_typicality_share(s.sketch, p.x) END,
		_racepriv._race_kde(s.sketch, p.x), l.label
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL (
			SELECT m.sketch, (_racepriv._race_info(m.sketch)).points IS NOT NULL
			FROM _racepriv._race_model(_racepriv._race_released(release, l.label)) m (sketch) OFFSET 0) s (sketch, fitted)
		CROSS JOIN LATERAL _racepriv._race_points(_racepriv._race_params(s.sketch), points) p
	ORDER BY p.point, l.label COLLATE "C"
$$;

CREATE OR REPLACE FUNCTION _racepriv._race_line(release text, "column" text, steps int, lower float8, upper float8, at float8[])
	RETURNS TABLE (x float8, q float8[])
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	n int := _racepriv._race_column(release, "column");
	dims int;
	first float8;
	last float8;
BEGIN
	SELECT count(*), max(c.lower) FILTER (WHERE c.number = n), max(c.upper) FILTER (WHERE c.number = n)
	INTO dims, first, last
	FROM _racepriv._race_columns((
		SELECT coalesce(_racepriv._race_params(r.sketch), _racepriv._race_params(r.moments)) FROM _racepriv.race_releases r
		WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1)) c;
	first := coalesce(_race_line.lower, first);
	last := coalesce(_race_line.upper, last);
	IF coalesce(cardinality(at), CASE dims WHEN 1 THEN 1 ELSE 0 END) <> dims OR array_ndims(at) <> 1 THEN
		RAISE EXCEPTION 'at must be % numbers', dims USING ERRCODE = 'invalid_parameter_value',
			HINT = 'They say where the other columns are.';
	END IF;
	IF steps IS NULL OR steps NOT BETWEEN 2 AND 10000 THEN
		RAISE EXCEPTION 'steps must be between 2 and 10000' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF NOT coalesce(first < last AND last - first < 'Infinity' AND first > '-Infinity', false) THEN
		RAISE EXCEPTION 'the lower bound of a chart must be below the upper one' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give lower and upper where the column has no bounds.';
	END IF;
	RETURN QUERY SELECT v.v, coalesce(at[:n - 1], '{}') || v.v || coalesce(at[n + 1:], '{}')
	FROM generate_series(0, steps - 1) i, LATERAL (SELECT CASE i WHEN steps - 1 THEN last
		ELSE first + (last - first) * i / (steps - 1) END) v (v);
END $$;

CREATE OR REPLACE FUNCTION race_mean_curve(
	release text, "column" text DEFAULT '1', steps int DEFAULT 100,
	lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, at float8[] DEFAULT NULL,
	label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_mean_curve_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.x, m.mean, m.stderr, m.lower, m.upper, l.label
	FROM _racepriv._race_labels(release, label) l
		CROSS JOIN LATERAL _racepriv._race_line(release, "column", steps, lower, upper, at) p
		CROSS JOIN LATERAL _racepriv._race_released_mean(release, p.q, l.label, confidence) m
$$;

CREATE OR REPLACE FUNCTION race_trend(release text, label text DEFAULT NULL)
	RETURNS SETOF race_trend_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 1000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	WITH versions AS (
		SELECT r.version, r.label, r.released_at,
			_racepriv._race_merge_disjoint(r.sketch) AS sketch,
			_racepriv._race_info(_racepriv._race_merge_disjoint(r.moments)) AS moments
		FROM _racepriv.race_releases r
		WHERE r.name = release AND (race_trend.label IS NULL OR r.label = race_trend.label)
		GROUP BY r.version, r.label, r.released_at)
	SELECT v.released_at, v.version, coalesce(_racepriv._race_count(v.sketch), (v.moments).count),
		coalesce((_racepriv._race_info(v.sketch)).epsilon, (v.moments).epsilon),
		d.distance, d.squared, d.standard_error, d.p_value, v.label
	FROM versions v LEFT JOIN versions before
		ON before.version = v.version - 1 AND before.label IS NOT DISTINCT FROM v.label
		LEFT JOIN LATERAL _racepriv._race_distance(v.sketch, before.sketch) d ON true
	ORDER BY v.label COLLATE "C", v.version
$$;

CREATE AGGREGATE _racepriv._race_merge_disjoint(sketch race_sketch) (
	SFUNC = _racepriv._race_plus_disjoint, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _racepriv._race_plus_disjoint, PARALLEL = SAFE
);

COMMENT ON AGGREGATE _racepriv._race_merge_disjoint(race_sketch) IS 'race_merge_disjoint, for bodies of functions';

CREATE AGGREGATE _racepriv._race_merge_disjoint(moments race_moments) (
	SFUNC = _racepriv._race_plus_disjoint, STYPE = race_moments, SSPACE = 1048576,
	COMBINEFUNC = _racepriv._race_plus_disjoint, PARALLEL = SAFE
);

COMMENT ON AGGREGATE _racepriv._race_merge_disjoint(race_moments) IS 'race_merge_disjoint, for bodies of functions';

CREATE AGGREGATE _racepriv._race_fit(sketch race_sketch, x "any") (
	SFUNC = _racepriv._race_fit_step, STYPE = internal, FINALFUNC = _racepriv._race_fit_final, PARALLEL = SAFE
);

COMMENT ON AGGREGATE _racepriv._race_fit(race_sketch, "any") IS 'race_fit, for bodies of functions';

DO $$
DECLARE
	called CONSTANT name[] := '{race_info,race_kernel,race_count,race_released,race_released_mean,race_quantile,race_modes,race_kde,race_typicality,race_typicality_share,race_distance,race_params}';
	path CONSTANT text := pg_catalog.current_setting('search_path');
	f record;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR f IN SELECT p.oid, p.proname, pg_get_function_identity_arguments(p.oid) AS arguments
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'racepriv' AND e.extnamespace = p.pronamespace
			JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
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
