-- ------------------------------------------------------------------------
-- The ledger: what may be spent, what was, and what for.  Rows are added by the
-- procedures below alone.
--
-- No foreign key is between its tables.  pg_restore loads each of them by itself, with several jobs
-- in any order, and a foreign key would refuse the rows that come before those that they refer to.
-- Releases are copied to databases of analysts, charges are not.  So _race_check_invariants() checks what
-- foreign keys would, and more, before each act on the ledger.
--
-- While this script runs, the schema of racepriv is in search_path.  It may belong to someone who makes functions and
-- operators there.  So what is called here without a schema is called with arguments of exactly the declared types:
-- nothing else can be preferred then.
-- A literal beside an operator has a type, as one without a type would take that of the other operand.

CREATE TYPE _racepriv.race_identity AS (system_identifier bigint, database oid, timeline int, ledger oid);
COMMENT ON TYPE _racepriv.race_identity IS
	'which of the copies that a database may have: the system identifier of the cluster, the OID of the database, the timeline, which a promotion changes, and the OID of the ledger, which a restore changes';
COMMENT ON COLUMN _racepriv.race_identity.system_identifier IS 'of the cluster';
COMMENT ON COLUMN _racepriv.race_identity.database IS 'the OID of the database';
COMMENT ON COLUMN _racepriv.race_identity.timeline IS 'a promotion makes a new one';
COMMENT ON COLUMN _racepriv.race_identity.ledger IS 'the OID of race_charges; a restore makes a new one';

CREATE FUNCTION _racepriv._race_identity() RETURNS _racepriv.race_identity
	AS 'MODULE_PATHNAME', 'race_identity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10;
REVOKE EXECUTE ON FUNCTION _racepriv._race_identity() FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_identity() IS
	'which copy of the database this is; a standby is the copy that it follows';

CREATE FUNCTION _racepriv._race_is_here(identity _racepriv.race_identity) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_is_here' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10;
REVOKE EXECUTE ON FUNCTION _racepriv._race_is_here(_racepriv.race_identity) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_is_here(_racepriv.race_identity) IS
	'whether OIDs that were recorded in a copy of the database mean the same in this one; a promotion changes none';

CREATE TABLE _racepriv.race_budgets (
	budget text PRIMARY KEY,
	accounting text NOT NULL CHECK (accounting IN ('basic', 'zcdp')),
	epsilon_limit numeric NOT NULL CHECK (epsilon_limit > 0.0 AND epsilon_limit <= 1e15),
	delta_limit numeric NOT NULL CHECK (delta_limit >= 0.0 AND delta_limit < 1.0),
	rho_limit numeric CHECK ((rho_limit IS NULL) = (accounting = 'basic')),
	spent_epsilon numeric NOT NULL DEFAULT 0,
	spent_delta numeric NOT NULL DEFAULT 0,
	spent_rho numeric NOT NULL DEFAULT 0,
	identity _racepriv.race_identity NOT NULL,
	CHECK (CASE accounting
		WHEN 'basic' THEN spent_epsilon <= epsilon_limit AND spent_delta <= delta_limit
		ELSE spent_rho <= rho_limit END)
);
COMMENT ON TABLE _racepriv.race_budgets IS
	'one row for each budget: limits of epsilon, delta and rho, the accounting, the sums of what was charged, and the copy of the database that may spend it';
COMMENT ON COLUMN _racepriv.race_budgets.budget IS 'its name: that of the first dataset';
COMMENT ON COLUMN _racepriv.race_budgets.accounting IS 'what charges are held to: basic (sums of epsilon and delta) or zcdp (the sum of rho)';
COMMENT ON COLUMN _racepriv.race_budgets.epsilon_limit IS 'what all releases together may cost in epsilon';
COMMENT ON COLUMN _racepriv.race_budgets.delta_limit IS 'and in delta';
COMMENT ON COLUMN _racepriv.race_budgets.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';
COMMENT ON COLUMN _racepriv.race_budgets.spent_epsilon IS 'the sum of the epsilons that were charged';
COMMENT ON COLUMN _racepriv.race_budgets.spent_delta IS 'the sum of the deltas';
COMMENT ON COLUMN _racepriv.race_budgets.spent_rho IS 'the sum of rho; a pure release counts as epsilon^2 / 2';
COMMENT ON COLUMN _racepriv.race_budgets.identity IS 'the copy of the database that it was last spent in';

CREATE TABLE _racepriv.race_datasets (
	dataset text PRIMARY KEY,
	relation oid NOT NULL,
	relation_name text NOT NULL,
	owner name NOT NULL,
	unit_column name,
	max_contributions int NOT NULL CHECK (max_contributions >= 1),
	neighbors text NOT NULL,
	public_tables text[] NOT NULL,
	budget text NOT NULL,
	owner_id oid
);
COMMENT ON TABLE _racepriv.race_datasets IS
	'what race_protect registered: a table or view and its owner, whom a row is about, and the budget that its releases are charged to';
COMMENT ON COLUMN _racepriv.race_datasets.dataset IS 'its name';
COMMENT ON COLUMN _racepriv.race_datasets.relation IS 'the table or view that releases are made of: its OID, in the copy of the database where it was protected';
COMMENT ON COLUMN _racepriv.race_datasets.relation_name IS 'the name of the relation when it was protected, with its schema';
COMMENT ON COLUMN _racepriv.race_datasets.owner IS 'the owner of the relation when it was protected';
COMMENT ON COLUMN _racepriv.race_datasets.unit_column IS 'the column that says whom a row is about; NULL if each row is a unit';
COMMENT ON COLUMN _racepriv.race_datasets.max_contributions IS 'how many records of a unit enter a release, at most';
COMMENT ON COLUMN _racepriv.race_datasets.neighbors IS 'what a release hides: add_remove or substitute';
COMMENT ON COLUMN _racepriv.race_datasets.public_tables IS 'tables without private data';
COMMENT ON COLUMN _racepriv.race_datasets.budget IS 'the budget that its releases are charged to';
COMMENT ON COLUMN _racepriv.race_datasets.owner_id IS 'the OID of the owner, in the copy of the database where it was protected';

CREATE TABLE _racepriv.race_budget_tables (
	table_name text NOT NULL,
	relation oid NOT NULL,
	owner name NOT NULL,
	budget text NOT NULL,
	identity _racepriv.race_identity NOT NULL,
	owner_id oid,
	schema_id oid,
	PRIMARY KEY (table_name, relation, owner, identity)
);
CREATE INDEX race_budget_tables_relation ON _racepriv.race_budget_tables (relation);
COMMENT ON TABLE _racepriv.race_budget_tables IS
	'the private tables of datasets, as they were when a budget was given or charged. A table belongs to the budget of its OID, or of its name and owner';
COMMENT ON COLUMN _racepriv.race_budget_tables.table_name IS 'its name, with its schema';
COMMENT ON COLUMN _racepriv.race_budget_tables.relation IS 'its OID, in the copy of the database that identity names';
COMMENT ON COLUMN _racepriv.race_budget_tables.owner IS 'its owner';
COMMENT ON COLUMN _racepriv.race_budget_tables.budget IS 'the budget that it belongs to';
COMMENT ON COLUMN _racepriv.race_budget_tables.identity IS 'the copy of the database in which it was entered, and in which the OIDs hold';
COMMENT ON COLUMN _racepriv.race_budget_tables.owner_id IS 'the OID of its owner: a role that is renamed is the same, and one that takes its name is not';
COMMENT ON COLUMN _racepriv.race_budget_tables.schema_id IS 'the OID of its schema';

CREATE TABLE _racepriv.race_charges (
	charge uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget text NOT NULL,
	dataset text NOT NULL,
	act text NOT NULL CHECK (act IN ('protect', 'correct', 'limit', 'adopt', 'release')),
	request jsonb NOT NULL,
	epsilon numeric NOT NULL DEFAULT 0 CHECK (epsilon >= 0.0),
	delta numeric NOT NULL DEFAULT 0 CHECK (delta >= 0.0),
	rho numeric NOT NULL DEFAULT 0 CHECK (rho >= 0.0),
	charged_by name NOT NULL,
	charged_at timestamptz NOT NULL,
	identity _racepriv.race_identity NOT NULL,
	charged_by_id oid
);
-- what _race_check_invariants() reads, without requests
CREATE INDEX race_charges_budget ON _racepriv.race_charges (budget) INCLUDE (epsilon, delta, rho);
CREATE INDEX race_charges_dataset ON _racepriv.race_charges (dataset, act) INCLUDE (budget, charge);
CREATE INDEX race_charges_series ON _racepriv.race_charges ((request->>'name'::text)) WHERE request ? 'series'::text;
COMMENT ON TABLE _racepriv.race_charges IS
	'the ledger, append-only: every charge with its request and cost, and every other act on a budget; who, when, and in which copy of the database. A charge of a release is spent whether or not the release was stored';
COMMENT ON COLUMN _racepriv.race_charges.charge IS 'its identifier';
COMMENT ON COLUMN _racepriv.race_charges.budget IS 'the budget that was acted on';
COMMENT ON COLUMN _racepriv.race_charges.dataset IS 'the dataset that was named';
COMMENT ON COLUMN _racepriv.race_charges.act IS 'protect, correct, limit, adopt or release';
COMMENT ON COLUMN _racepriv.race_charges.request IS 'what was asked for; of corrections, limits and copies also what was before';
COMMENT ON COLUMN _racepriv.race_charges.epsilon IS 'what was charged in epsilon; 0 for acts other than a release';
COMMENT ON COLUMN _racepriv.race_charges.delta IS 'and in delta';
COMMENT ON COLUMN _racepriv.race_charges.rho IS 'and in rho';
COMMENT ON COLUMN _racepriv.race_charges.charged_by IS 'the role that did it';
COMMENT ON COLUMN _racepriv.race_charges.charged_at IS 'when it was asked for';
COMMENT ON COLUMN _racepriv.race_charges.identity IS 'the copy of the database that it was done in';
COMMENT ON COLUMN _racepriv.race_charges.charged_by_id IS 'the OID of the role, in that copy';

CREATE TABLE _racepriv.race_releases (
	name text NOT NULL,
	version int NOT NULL CHECK (version >= 1),
	part int NOT NULL CHECK (part >= 1),
	label text,
	sketch race_sketch NOT NULL,
	dataset text NOT NULL,
	charge uuid NOT NULL,
	released_at timestamptz NOT NULL,
	description text,
	columns text[],
	units text[],
	scores race_sketch,
	during tsrange,
	provenance jsonb,
	PRIMARY KEY (name, version, part)
);
-- one charge pays for one version, or for all values of a series
CREATE UNIQUE INDEX race_releases_charge ON _racepriv.race_releases (charge, part) WHERE during IS NULL;
CREATE INDEX race_releases_dataset ON _racepriv.race_releases (dataset, charge);
COMMENT ON TABLE _racepriv.race_releases IS
	'the releases, immutable: private sketches or moments by name, version and part (one for each label)';
COMMENT ON COLUMN _racepriv.race_releases.name IS 'the name of the release';
COMMENT ON COLUMN _racepriv.race_releases.version IS '1, and one more for each refresh';
COMMENT ON COLUMN _racepriv.race_releases.part IS '1, or one for each label, in the order of labels';
COMMENT ON COLUMN _racepriv.race_releases.label IS 'the label of the part; NULL in a release without labels';
COMMENT ON COLUMN _racepriv.race_releases.sketch IS 'the private sketch, or moments';
COMMENT ON COLUMN _racepriv.race_releases.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN _racepriv.race_releases.charge IS 'the charge that paid for it, in race_charges';
COMMENT ON COLUMN _racepriv.race_releases.released_at IS 'when it was charged, before its data were read';
COMMENT ON COLUMN _racepriv.race_releases.description IS 'what the publisher says of the release; NULL if nothing. The same in all parts, as the following';
COMMENT ON COLUMN _racepriv.race_releases.columns IS 'names of the columns of a record; NULL if they have none';
COMMENT ON COLUMN _racepriv.race_releases.units IS 'what the columns are measured in, NULL for what has no unit; NULL if nothing was said';
COMMENT ON COLUMN _racepriv.race_releases.scores IS 'of a release that is calibrated, a private sketch of the scores that the sketches or moments of all labels give the records of this label; NULL in others';
COMMENT ON COLUMN _racepriv.race_releases.during IS 'of a value of a series, the time of its records, in UTC; NULL in other releases';
COMMENT ON COLUMN _racepriv.race_releases.provenance IS 'in part 1, public facts when it was charged, for race_label: the library that drew the noise, the unit, where domains came from, the cost, and what the budget had spent';

CREATE FUNCTION _racepriv._race_refuse_change() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION 'cannot % table %: the ledger is append-only', lower(TG_OP), TG_TABLE_NAME
		USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'What has been spent stays spent.';
END $$;
COMMENT ON FUNCTION _racepriv._race_refuse_change() IS
	'trigger that refuses changes: a guard against accidents, since the owner of a table can disable its triggers';
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON _racepriv.race_charges
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON _racepriv.race_releases
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
CREATE TRIGGER race_no_removal BEFORE DELETE OR TRUNCATE ON _racepriv.race_datasets
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
-- how many records of a unit are counted may be corrected; what a unit is may not
CREATE TRIGGER race_no_change BEFORE UPDATE ON _racepriv.race_datasets
	FOR EACH ROW WHEN (pg_catalog.to_jsonb(new) - 'max_contributions'::text IS DISTINCT FROM pg_catalog.to_jsonb(old) - 'max_contributions'::text)
	EXECUTE FUNCTION _racepriv._race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON _racepriv.race_budget_tables
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
CREATE TRIGGER race_no_removal BEFORE DELETE OR TRUNCATE ON _racepriv.race_budgets
	FOR EACH STATEMENT EXECUTE FUNCTION _racepriv._race_refuse_change();
CREATE TRIGGER race_no_refund BEFORE UPDATE ON _racepriv.race_budgets
	FOR EACH ROW WHEN (new.budget <> old.budget OR new.spent_epsilon < old.spent_epsilon
		OR new.spent_delta < old.spent_delta OR new.spent_rho < old.spent_rho)
	EXECUTE FUNCTION _racepriv._race_refuse_change();

SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_budgets', '');
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_datasets', '');
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_budget_tables', '');
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_charges', '');
SELECT pg_catalog.pg_extension_config_dump('_racepriv.race_releases', '');

-- Whoever else may write to the ledger could raise its limits or forge a charge, and a trigger of
-- his would run with the rights of the owner.
CREATE FUNCTION _racepriv._race_check_ledger() RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	ledger CONSTANT regclass[] := '{_racepriv.race_budgets,_racepriv.race_datasets,_racepriv.race_budget_tables,_racepriv.race_charges,_racepriv.race_releases,_racepriv.race_descriptions,_racepriv.race_series_units}';
	place CONSTANT regnamespace := '_racepriv';
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
		FROM pg_trigger t WHERE t.tgrelid = ANY (ledger) AND t.tgfoid <> '_racepriv._race_refuse_change()'::regprocedure
		UNION ALL
		SELECT format('Rule %s is on table %s.', r.rulename, r.ev_class::regclass)
		FROM pg_rewrite r WHERE r.ev_class = ANY (ledger)
		UNION ALL
		SELECT format('Table %s belongs to role %s.', c.relname, c.relowner::regrole)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.oid = place AND c.relowner <> n.nspowner
		UNION ALL
		SELECT format('Function %s belongs to role %s.', p.oid::regprocedure, p.proowner::regrole)
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.oid = place AND p.proowner <> n.nspowner
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

-- One statement, so that all of it is seen at one time: a charge of another session is in both, the sum of its budget
-- and the charges, or in none of them.  A database of analysts has releases alone.
CREATE FUNCTION _racepriv._race_check_invariants() RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	problem text;
BEGIN
	WITH RECURSIVE sums AS MATERIALIZED (
		SELECT budget, sum(epsilon) AS epsilon, sum(delta) AS delta, sum(rho) AS rho FROM _racepriv.race_charges GROUP BY budget),
	protections AS MATERIALIZED (
		SELECT c.budget, c.dataset, c.request FROM _racepriv.race_charges c WHERE c.act = 'protect'),
	counted (name) AS (
		SELECT min(u.name) FROM _racepriv.race_series_units u
		UNION ALL
		SELECT (SELECT min(u.name) FROM _racepriv.race_series_units u WHERE u.name > n.name) FROM counted n WHERE n.name IS NOT NULL),
	series (name) AS (
		SELECT c.request->>'name' FROM _racepriv.race_charges c WHERE c.request ? 'series')
	SELECT f.what INTO problem FROM (
		SELECT format('Budget "%s" has spent epsilon %s, delta %s, rho %s; its charges add up to %s, %s, %s.', b.budget,
			b.spent_epsilon, b.spent_delta, b.spent_rho, coalesce(s.epsilon, 0), coalesce(s.delta, 0), coalesce(s.rho, 0))
		FROM _racepriv.race_budgets b LEFT JOIN sums s USING (budget)
		WHERE b.spent_epsilon <> coalesce(s.epsilon, 0) OR b.spent_delta <> coalesce(s.delta, 0) OR b.spent_rho <> coalesce(s.rho, 0)
		UNION ALL
		SELECT format('There are charges of budget "%s", which is not in race_budgets.', s.budget)
		FROM sums s WHERE NOT EXISTS (SELECT FROM _racepriv.race_budgets b WHERE b.budget = s.budget)
		UNION ALL
		SELECT format('Budget "%s" has no charge of act protect.', b.budget)
		FROM _racepriv.race_budgets b WHERE NOT EXISTS (SELECT FROM protections p WHERE p.budget = b.budget)
		UNION ALL
		SELECT format('Budget "%s" has no row in race_datasets.', b.budget)
		FROM _racepriv.race_budgets b WHERE NOT EXISTS (SELECT FROM _racepriv.race_datasets d WHERE d.budget = b.budget)
		UNION ALL
		SELECT format('Budget "%s" has no row in race_budget_tables.', b.budget)
		FROM _racepriv.race_budgets b WHERE NOT EXISTS (SELECT FROM _racepriv.race_budget_tables t WHERE t.budget = b.budget)
		UNION ALL
		SELECT format('Dataset "%s" has no budget, or no charge of act protect.', d.dataset)
		FROM _racepriv.race_datasets d
		WHERE NOT EXISTS (SELECT FROM protections p JOIN _racepriv.race_budgets b USING (budget) WHERE p.dataset = d.dataset AND p.budget = d.budget)
		UNION ALL
		SELECT format('Dataset "%s" was protected, and is not in race_datasets.', p.dataset)
		FROM protections p WHERE NOT EXISTS (SELECT FROM _racepriv.race_datasets d WHERE d.dataset = p.dataset AND d.budget = p.budget)
		UNION ALL
		SELECT format('Table %s of dataset "%s" is not in race_budget_tables.', e.table_name, p.dataset)
		FROM protections p CROSS JOIN LATERAL jsonb_array_elements_text(p.request->'tables') e (table_name)
		WHERE NOT EXISTS (SELECT FROM _racepriv.race_budget_tables t WHERE t.table_name = e.table_name AND t.budget = p.budget)
		UNION ALL
		SELECT format('Table %s belongs to budget "%s", which is not in race_budgets.', t.table_name, t.budget)
		FROM _racepriv.race_budget_tables t WHERE NOT EXISTS (SELECT FROM _racepriv.race_budgets b WHERE b.budget = t.budget)
		UNION ALL
		SELECT format('A release of dataset "%s" has charge %s, which is not in race_charges.', r.dataset, r.charge)
		FROM _racepriv.race_releases r JOIN _racepriv.race_datasets d USING (dataset)
		WHERE NOT EXISTS (SELECT FROM _racepriv.race_charges c WHERE c.charge = r.charge AND c.dataset = r.dataset AND c.act = 'release')
		UNION ALL
		SELECT format('Columns of dataset "%s" are described, which is not in race_datasets.', c.dataset)
		FROM _racepriv.race_descriptions c WHERE NOT EXISTS (SELECT FROM _racepriv.race_datasets d WHERE d.dataset = c.dataset)
		UNION ALL
		SELECT format('Units of series "%s" are counted, whose charge is not in race_charges.', n.name)
		FROM counted n WHERE n.name IS NOT NULL AND NOT EXISTS (SELECT FROM series s WHERE s.name = n.name)
		UNION ALL
		SELECT format('Of series "%s" %s values were made: in race_releases there are %s.', s.name, v.made, v.stored)
		FROM series s CROSS JOIN LATERAL (
			SELECT coalesce((SELECT u.records FROM _racepriv.race_series_units u WHERE u.name = s.name AND u.length = 0), 0),
				-- in a race for the name, another session may have stored a release that is no series
				coalesce((SELECT max(r.version) FROM _racepriv.race_releases r WHERE r.name = s.name AND r.during IS NOT NULL), 0)) v (made, stored)
		WHERE v.made <> v.stored
	) f (what) ORDER BY 1 LIMIT 1;
	IF problem IS NOT NULL THEN
		RAISE EXCEPTION 'the ledger cannot be used: its tables contradict each other' USING ERRCODE = 'object_not_in_prerequisite_state',
			DETAIL = problem,
			HINT = format('A superuser restores what a restore has left out: pg_restore --data-only --schema=_racepriv --dbname=%L DUMP. Tables that have their rows refuse them, with errors, and stay as they are.', current_database());
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_invariants() FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_invariants() IS
	'raises 55000 if the tables of the ledger contradict each other: a budget has spent the sum of its charges, each dataset has its budget and tables, each release its charge, each series its values';

CREATE FUNCTION _racepriv._race_rho_limit(epsilon float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_rho_limit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _racepriv._race_rho_limit(float8, float8) IS
	'the largest rho of zCDP that is (epsilon, delta)-differentially private, rounded down (Canonne, Kamath & Steinke 2020, proposition 7); error 22023 for a delta of 0';

CREATE VIEW @extschema@.race_budget_status AS
SELECT b.budget,
	(SELECT pg_catalog.array_agg(d.dataset ORDER BY d.dataset) FROM _racepriv.race_datasets d WHERE d.budget = b.budget) AS datasets,
	CASE b.accounting WHEN 'basic'::text THEN b.epsilon_limit - b.spent_epsilon END AS epsilon_left, b.epsilon_limit,
	CASE b.accounting WHEN 'basic'::text THEN b.delta_limit - b.spent_delta END AS delta_left, b.delta_limit,
	b.rho_limit - b.spent_rho AS rho_left, b.rho_limit, c.charges, b.accounting, b.spent_epsilon, b.spent_delta, b.spent_rho,
	CASE WHEN b.delta_limit > c.chosen_delta THEN (
		SELECT (race_compose(VARIADIC ARRAY[0, 0, s.rho, s.delta]::float8[])).zcdp_epsilon
		FROM (VALUES (b.spent_rho, b.delta_limit - c.chosen_delta)) s (rho, delta)) END AS spent_zcdp_epsilon,
	(SELECT pg_catalog.array_agg(DISTINCT t.table_name ORDER BY t.table_name) FROM _racepriv.race_budget_tables t WHERE t.budget = b.budget) AS tables,
	c.charged_by AS last_charged_by, c.charged_at AS last_charged_at
FROM _racepriv.race_budgets b LEFT JOIN LATERAL (
	SELECT count(*) AS charges, max(charged_at) AS charged_at, coalesce(sum((request->>'chosen_delta'::text)::numeric), 0.0) AS chosen_delta,
		(pg_catalog.array_agg(charged_by ORDER BY charged_at DESC))[1] AS charged_by
	FROM _racepriv.race_charges WHERE budget = b.budget AND act = 'release'::text) c ON true;
COMMENT ON VIEW @extschema@.race_budget_status IS
	'each budget: what it protects, what is left by its accounting, its limits, what was spent by basic composition and by zCDP, and who charged it last';
COMMENT ON COLUMN @extschema@.race_budget_status.budget IS 'the name of the budget';
COMMENT ON COLUMN @extschema@.race_budget_status.datasets IS 'the datasets that share it';
COMMENT ON COLUMN @extschema@.race_budget_status.epsilon_left IS 'what is left of epsilon; NULL with zcdp accounting';
COMMENT ON COLUMN @extschema@.race_budget_status.epsilon_limit IS 'what all releases together may cost in epsilon';
COMMENT ON COLUMN @extschema@.race_budget_status.delta_left IS 'what is left of delta; NULL with zcdp accounting';
COMMENT ON COLUMN @extschema@.race_budget_status.delta_limit IS 'what they may cost in delta';
COMMENT ON COLUMN @extschema@.race_budget_status.rho_left IS 'what is left of rho; NULL with basic accounting';
COMMENT ON COLUMN @extschema@.race_budget_status.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';
COMMENT ON COLUMN @extschema@.race_budget_status.charges IS 'how many releases were charged';
COMMENT ON COLUMN @extschema@.race_budget_status.accounting IS 'what charges are held to: basic or zcdp';
COMMENT ON COLUMN @extschema@.race_budget_status.spent_epsilon IS 'the sum of the epsilons that were charged';
COMMENT ON COLUMN @extschema@.race_budget_status.spent_delta IS 'the sum of the deltas';
COMMENT ON COLUMN @extschema@.race_budget_status.spent_rho IS 'the sum of rho';
COMMENT ON COLUMN @extschema@.race_budget_status.spent_zcdp_epsilon IS 'the epsilon that spent_rho implies at delta_limit, less the delta that choices of labels and categories took; NULL if none is left';
COMMENT ON COLUMN @extschema@.race_budget_status.tables IS 'the private tables that belong to it, by all names that they have had';
COMMENT ON COLUMN @extschema@.race_budget_status.last_charged_by IS 'the role that charged it last';
COMMENT ON COLUMN @extschema@.race_budget_status.last_charged_at IS 'and when';
