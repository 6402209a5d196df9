\echo Use "ALTER EXTENSION racepriv UPDATE" to load this file. \quit
-- Made by upgrade/make_upgrade: make upgrade-script

-- Checks of limits and costs compare numeric with numeric, so that no operator that somebody
-- has made in this schema is preferred.
-- covers: TABLE race_budgets epsilon_limit
-- covers: TABLE race_budgets delta_limit
-- covers: TABLE race_charges epsilon
-- covers: TABLE race_charges delta
-- covers: TABLE race_charges rho
ALTER TABLE race_budgets
	DROP CONSTRAINT race_budgets_epsilon_limit_check,
	DROP CONSTRAINT race_budgets_delta_limit_check,
	ADD CONSTRAINT race_budgets_epsilon_limit_check CHECK (epsilon_limit > 0.0 AND epsilon_limit <= 1e15),
	ADD CONSTRAINT race_budgets_delta_limit_check CHECK (delta_limit >= 0.0 AND delta_limit < 1.0);
ALTER TABLE race_charges
	DROP CONSTRAINT race_charges_epsilon_check,
	DROP CONSTRAINT race_charges_delta_check,
	DROP CONSTRAINT race_charges_rho_check,
	ADD CONSTRAINT race_charges_epsilon_check CHECK (epsilon >= 0.0),
	ADD CONSTRAINT race_charges_delta_check CHECK (delta >= 0.0),
	ADD CONSTRAINT race_charges_rho_check CHECK (rho >= 0.0);

CREATE TYPE race_preview_result AS (
	label int, x float8, truth float8, density float8, error float8,
	stderr float8, lower float8, upper float8);

COMMENT ON TYPE race_preview_result IS 'a row of the result of race_preview';

COMMENT ON COLUMN race_preview_result.label IS 'the number of the label, from 1 on';

COMMENT ON COLUMN race_preview_result.x IS 'where: the value of the column that axis names';

COMMENT ON COLUMN race_preview_result.truth IS 'the mean kernel value of the made-up records there';

COMMENT ON COLUMN race_preview_result.density IS 'what race_kde would answer';

COMMENT ON COLUMN race_preview_result.error IS 'density - truth';

COMMENT ON COLUMN race_preview_result.stderr IS 'the standard error that race_estimate would give';

COMMENT ON COLUMN race_preview_result.lower IS 'the lower end of its confidence interval';

COMMENT ON COLUMN race_preview_result.upper IS 'the upper end';

CREATE FUNCTION race_preview(
	params race_params, epsilon float8, delta float8 DEFAULT 0, records bigint DEFAULT 10000,
	rows int DEFAULT NULL, mixture float8[] DEFAULT NULL, public_rows float8[] DEFAULT NULL,
	axis int DEFAULT 1, steps int DEFAULT 25, labels int DEFAULT 1,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove',
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	confidence float8 DEFAULT 0.95, seed bigint DEFAULT 0)
	RETURNS SETOF race_preview_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000000 ROWS 25;

COMMENT ON FUNCTION race_preview(race_params, float8, float8, bigint, int, float8[], float8[], int, int, int, int, text, boolean, boolean, float8, bigint) IS
	'what race_release with these arguments would give, on made-up vectors: a curve of the density beside the truth, with errors and intervals. It reads no table and spends nothing; each call draws new noise. records: how many records to make up, of all labels together. mixture: rows {weight, means, standard deviations} of normals that they are drawn from; or public_rows, vectors that they are drawn from; else three normals between the bounds of the parameters. Give neither private numbers: the truth is shown. The curve has steps points along column number axis, between its bounds or else the least and the largest made-up value, and goes through the mean of the other columns. labels: so many sketches, among which the records are divided. rows, max_contributions, neighbors, grid and fit as in race_release and race_protect; confidence as in race_estimate; seed of the made-up vectors. No rows if an argument other than rows, mixture, public_rows, grid and fit is NULL. Errors: 22023 for what is outside its limits, for kernels of other records than vectors and for products, and without bounds, mixture or public_rows';

CREATE OR REPLACE VIEW race_budget_status AS
SELECT b.budget,
	(SELECT pg_catalog.array_agg(d.dataset ORDER BY d.dataset) FROM race_datasets d WHERE d.budget = b.budget) AS datasets,
	(SELECT pg_catalog.array_agg(DISTINCT t.table_name ORDER BY t.table_name) FROM race_budget_tables t WHERE t.budget = b.budget) AS tables,
	b.accounting, b.epsilon_limit, b.delta_limit, b.rho_limit,
	b.spent_epsilon, b.spent_delta, b.spent_rho,
	CASE WHEN b.delta_limit > 0.0 THEN _race_rho_epsilon(b.spent_rho::float8, b.delta_limit::float8) END AS spent_zcdp_epsilon,
	CASE b.accounting WHEN 'basic' THEN b.epsilon_limit - b.spent_epsilon END AS epsilon_left,
	CASE b.accounting WHEN 'basic' THEN b.delta_limit - b.spent_delta END AS delta_left,
	b.rho_limit - b.spent_rho AS rho_left,
	c.charges, c.charged_by AS last_charged_by, c.charged_at AS last_charged_at
FROM race_budgets b LEFT JOIN LATERAL (
	SELECT count(*) AS charges, max(charged_at) AS charged_at,
		(pg_catalog.array_agg(charged_by ORDER BY charged_at DESC))[1] AS charged_by
	FROM race_charges WHERE budget = b.budget AND act = 'release') c ON true;

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_latest_releases SET (security_invoker = true);
	END IF;
END $$;

CREATE OR REPLACE FUNCTION _race_entries_of(tables regclass[])
	RETURNS TABLE (relation regclass, budget text)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.oid::regclass, b.budget
	FROM pg_class c CROSS JOIN LATERAL @extschema@._race_relation_name(c.oid::regclass) n (name)
		CROSS JOIN @extschema@._race_identity() i
		JOIN @extschema@.race_budget_tables b ON b.relation = c.oid OR b.table_name = n.name
		CROSS JOIN LATERAL (SELECT (b.identity).system_identifier = i.system_identifier
			AND (b.identity).database = i.database) h (here)
	WHERE c.oid = ANY (tables) AND (b.relation = c.oid AND h.here
		OR b.table_name = n.name AND b.owner = pg_get_userbyid(c.relowner) AND NOT (h.here AND EXISTS (
			SELECT FROM pg_class o WHERE o.oid = b.relation AND pg_get_userbyid(o.relowner) <> b.owner)))
$$;

CREATE OR REPLACE FUNCTION _race_enter_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO @extschema@.race_budget_tables (table_name, relation, owner, budget, identity)
	SELECT @extschema@._race_relation_name(c.oid::regclass), c.oid, pg_get_userbyid(c.relowner), budget, @extschema@._race_identity()
	FROM pg_class c WHERE c.oid = ANY (tables)
	ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION _race_enter_new_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	new_ones regclass[] := ARRAY(
		SELECT c.oid FROM pg_class c
		WHERE c.oid = ANY (@extschema@._race_with_parts(@extschema@._race_topmost(tables)))
			AND NOT EXISTS (SELECT FROM @extschema@.race_budget_tables b
				WHERE b.table_name = @extschema@._race_relation_name(c.oid::regclass) AND b.relation = c.oid
					AND b.owner = pg_get_userbyid(c.relowner)));
BEGIN
	PERFORM @extschema@._race_enter_tables(
		@extschema@._race_lock_tables('@extschema@.race_budget_tables'::regclass, new_ones, false), budget);
END $$;

CREATE OR REPLACE FUNCTION _race_protect(
	actor name,
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8,
	unit_column name, max_contributions int,
	neighbors text, accounting text,
	public_tables regclass[], tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	limits record := @extschema@._race_check_limits(epsilon_limit, delta_limit, accounting);
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
	PERFORM @extschema@._race_check_unit(max_contributions, neighbors);
	tables := @extschema@._race_topmost(tables);
	PERFORM @extschema@._race_check_owner(actor, tables);
	parts := @extschema@._race_lock_tables('@extschema@.race_budget_tables'::regclass, @extschema@._race_with_parts(tables), true);
	IF EXISTS (SELECT FROM @extschema@.race_datasets d WHERE d.dataset = _race_protect.dataset) THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			HINT = 'race_budget_limit changes the limits of its budget.';
	END IF;

	shared := @extschema@._race_find_budget(tables, public_tables);
	IF shared IS NULL THEN
		PERFORM @extschema@._race_check_missing(tables);
		INSERT INTO @extschema@.race_budgets (budget, accounting, epsilon_limit, delta_limit, rho_limit, identity)
		VALUES (dataset, accounting, limits.epsilon, limits.delta, limits.rho, @extschema@._race_identity());
	ELSE
		PERFORM @extschema@._race_check_budget_owner(actor, shared);
		PERFORM @extschema@._race_check_shared(shared, limits.epsilon, limits.delta, accounting);
	END IF;
	PERFORM @extschema@._race_enter_tables(parts, coalesce(shared, dataset));
	INSERT INTO @extschema@.race_datasets
	SELECT dataset, relation, @extschema@._race_relation_name(relation), pg_get_userbyid(c.relowner),
		unit_column, max_contributions, neighbors,
		ARRAY(SELECT @extschema@._race_relation_name(t) FROM unnest(public_tables) t), coalesce(shared, dataset)
	FROM pg_class c WHERE c.oid = relation;
	PERFORM @extschema@._race_enter_act(actor, coalesce(shared, dataset), dataset, 'protect', jsonb_build_object(
		'relation', @extschema@._race_relation_name(relation), 'unit_column', unit_column, 'max_contributions', max_contributions,
		'neighbors', neighbors, 'public_tables', public_tables::text[], 'accounting', accounting,
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta));
END $$;

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
	keepers := ARRAY(SELECT 0::oid UNION SELECT relowner FROM pg_class WHERE oid = '@extschema@.race_charges'::regclass
		UNION SELECT oid FROM pg_roles WHERE rolname = 'pg_database_owner'
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
