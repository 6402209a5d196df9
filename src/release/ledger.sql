-- ------------------------------------------------------------------------
-- The ledger: what may be spent, what was, and what for.  Rows are added by the
-- procedures below alone.  No foreign key leads from a release to its charge:
-- releases are copied to databases of analysts, charges are not.
--
-- The schema may belong to someone else than the ledger, who may make functions and
-- operators in it.  So what is called here, and what functions call by @extschema@, is called
-- with arguments of exactly the declared types: nothing else can be preferred then.

CREATE TYPE race_identity AS (system_identifier bigint, database oid, timeline int, ledger oid);
COMMENT ON TYPE race_identity IS
	'which of the copies that a database may have: the system identifier of the cluster, the OID of the database, the timeline, which a promotion changes, and the OID of the ledger, which a restore changes';
COMMENT ON COLUMN race_identity.system_identifier IS 'of the cluster';
COMMENT ON COLUMN race_identity.database IS 'the OID of the database';
COMMENT ON COLUMN race_identity.timeline IS 'a promotion makes a new one';
COMMENT ON COLUMN race_identity.ledger IS 'the OID of race_charges; a restore makes a new one';

CREATE FUNCTION _race_identity() RETURNS @extschema@.race_identity
	LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT ROW(c.system_identifier, d.oid,
		('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
		to_regclass('@extschema@.race_charges')::oid)::@extschema@.race_identity
	FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
$$;
REVOKE EXECUTE ON FUNCTION _race_identity() FROM PUBLIC;
COMMENT ON FUNCTION _race_identity() IS
	'which copy of the database this is; error 55000 during recovery';

CREATE TABLE race_budgets (
	budget text PRIMARY KEY,
	accounting text NOT NULL CHECK (accounting IN ('basic', 'zcdp')),
	epsilon_limit numeric NOT NULL CHECK (epsilon_limit > 0.0 AND epsilon_limit <= 1e15),
	delta_limit numeric NOT NULL CHECK (delta_limit >= 0.0 AND delta_limit < 1.0),
	rho_limit numeric CHECK ((rho_limit IS NULL) = (accounting = 'basic')),
	spent_epsilon numeric NOT NULL DEFAULT 0,
	spent_delta numeric NOT NULL DEFAULT 0,
	spent_rho numeric NOT NULL DEFAULT 0,
	identity race_identity NOT NULL,
	CHECK (CASE accounting
		WHEN 'basic' THEN spent_epsilon <= epsilon_limit AND spent_delta <= delta_limit
		ELSE spent_rho <= rho_limit END)
);
COMMENT ON TABLE race_budgets IS
	'one row a budget, named after the dataset that it was made for: its limits, the accounting that charges are held to (rho_limit: what the limits allow in zCDP), the sums of what was charged, and the copy of the database it was last used in';
COMMENT ON COLUMN race_budgets.budget IS 'its name: that of the first dataset';
COMMENT ON COLUMN race_budgets.accounting IS 'what charges are held to: basic (sums of epsilon and delta) or zcdp (the sum of rho)';
COMMENT ON COLUMN race_budgets.epsilon_limit IS 'what all releases together may cost in epsilon';
COMMENT ON COLUMN race_budgets.delta_limit IS 'and in delta';
COMMENT ON COLUMN race_budgets.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';
COMMENT ON COLUMN race_budgets.spent_epsilon IS 'the sum of the epsilons that were charged';
COMMENT ON COLUMN race_budgets.spent_delta IS 'the sum of the deltas';
COMMENT ON COLUMN race_budgets.spent_rho IS 'the sum of rho; a pure release counts as epsilon^2 / 2';
COMMENT ON COLUMN race_budgets.identity IS 'the copy of the database that it was last spent in';

CREATE TABLE race_datasets (
	dataset text PRIMARY KEY,
	relation oid NOT NULL,
	relation_name text NOT NULL,
	owner name NOT NULL,
	unit_column name,
	max_contributions int NOT NULL CHECK (max_contributions >= 1),
	neighbors text NOT NULL,
	public_tables text[] NOT NULL,
	budget text NOT NULL REFERENCES race_budgets
);
COMMENT ON TABLE race_datasets IS
	'what race_protect registered: a table or view and its owner, whom a row is about, and the budget that its releases are charged to';
COMMENT ON COLUMN race_datasets.dataset IS 'its name';
COMMENT ON COLUMN race_datasets.relation IS 'the table or view that releases are made of: its OID, in the copy of the database where it was protected';
COMMENT ON COLUMN race_datasets.relation_name IS 'the name of the relation when it was protected, with its schema';
COMMENT ON COLUMN race_datasets.owner IS 'the owner of the relation when it was protected';
COMMENT ON COLUMN race_datasets.unit_column IS 'the column that says whom a row is about; NULL if each row is a unit';
COMMENT ON COLUMN race_datasets.max_contributions IS 'how many records of a unit enter a release';
COMMENT ON COLUMN race_datasets.neighbors IS 'what a release hides: add_remove or substitute';
COMMENT ON COLUMN race_datasets.public_tables IS 'tables without private data';
COMMENT ON COLUMN race_datasets.budget IS 'the budget that its releases are charged to';

CREATE TABLE race_budget_tables (
	table_name text NOT NULL,
	relation oid NOT NULL,
	owner name NOT NULL,
	budget text NOT NULL REFERENCES race_budgets,
	identity race_identity NOT NULL,
	PRIMARY KEY (table_name, relation, owner)
);
CREATE INDEX race_budget_tables_relation ON race_budget_tables (relation);
COMMENT ON TABLE race_budget_tables IS
	'the private tables of datasets: name, OID and owner when a budget was given or charged, and in which copy of the database. A table belongs to a budget by its OID, and by its name together with its owner: to rename it or to make it anew gives it no other budget, and a table that someone else makes under its name does not belong to it';
COMMENT ON COLUMN race_budget_tables.table_name IS 'its name, with its schema';
COMMENT ON COLUMN race_budget_tables.relation IS 'its OID, in the copy of the database that identity names';
COMMENT ON COLUMN race_budget_tables.owner IS 'its owner';
COMMENT ON COLUMN race_budget_tables.budget IS 'the budget that it belongs to';
COMMENT ON COLUMN race_budget_tables.identity IS 'the copy of the database in which it was entered';

CREATE TABLE race_charges (
	charge uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget text NOT NULL REFERENCES race_budgets,
	dataset text NOT NULL,
	act text NOT NULL CHECK (act IN ('protect', 'limit', 'adopt', 'release')),
	request jsonb NOT NULL,
	epsilon numeric NOT NULL DEFAULT 0 CHECK (epsilon >= 0.0),
	delta numeric NOT NULL DEFAULT 0 CHECK (delta >= 0.0),
	rho numeric NOT NULL DEFAULT 0 CHECK (rho >= 0.0),
	charged_by name NOT NULL,
	charged_at timestamptz NOT NULL,
	identity race_identity NOT NULL
);
CREATE INDEX race_charges_budget ON race_charges (budget);
CREATE INDEX race_charges_dataset ON race_charges (dataset);
COMMENT ON TABLE race_charges IS
	'the ledger, append-only: every charge with its request and cost, and every other act on a budget; who, when, and in which copy of the database. A charge of a release is spent whether or not the release was stored';
COMMENT ON COLUMN race_charges.charge IS 'its identifier';
COMMENT ON COLUMN race_charges.budget IS 'the budget that was acted on';
COMMENT ON COLUMN race_charges.dataset IS 'the dataset that was named';
COMMENT ON COLUMN race_charges.act IS 'protect, limit, adopt or release';
COMMENT ON COLUMN race_charges.request IS 'what was asked for; of limits and copies also what was before';
COMMENT ON COLUMN race_charges.epsilon IS 'what was charged in epsilon; 0 for acts other than a release';
COMMENT ON COLUMN race_charges.delta IS 'and in delta';
COMMENT ON COLUMN race_charges.rho IS 'and in rho';
COMMENT ON COLUMN race_charges.charged_by IS 'the role that did it';
COMMENT ON COLUMN race_charges.charged_at IS 'when it was asked for';
COMMENT ON COLUMN race_charges.identity IS 'the copy of the database that it was done in';

CREATE TABLE race_releases (
	name text NOT NULL,
	version int NOT NULL CHECK (version >= 1),
	part int NOT NULL CHECK (part >= 1),
	label text,
	sketch race_sketch,
	dataset text NOT NULL,
	charge uuid NOT NULL,
	released_at timestamptz NOT NULL,
	value_bound float8,
	moments race_moments,
	description text,
	columns text[],
	units text[],
	scores race_sketch,
	CHECK ((sketch IS NULL) <> (moments IS NULL)),
	PRIMARY KEY (name, version, part),
	UNIQUE (charge, part)
);
COMMENT ON TABLE race_releases IS
	'the releases, immutable: private sketches, or moments, by name, version (of a refresh), and part (1, or one for each label; of a release with a value two: of its lower bound, then of its upper). released_at is when the release was charged, before its data were read';
COMMENT ON COLUMN race_releases.name IS 'the name of the release';
COMMENT ON COLUMN race_releases.version IS '1, and one more for each refresh';
COMMENT ON COLUMN race_releases.part IS '1, or one for each label, in the order of labels; with a value twice as many';
COMMENT ON COLUMN race_releases.label IS 'the label of the part; NULL in a release without labels';
COMMENT ON COLUMN race_releases.sketch IS 'the private sketch; NULL in a release of moments';
COMMENT ON COLUMN race_releases.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN race_releases.charge IS 'the charge that paid for it, in race_charges';
COMMENT ON COLUMN race_releases.released_at IS 'when it was charged, before its data were read';
COMMENT ON COLUMN race_releases.value_bound IS 'of a release with a value, value_lower for the lower half and value_upper for the upper one (race_build_value); NULL in a release without a value';
COMMENT ON COLUMN race_releases.description IS 'what the publisher says of the release; NULL if nothing. The same in all parts, as the following';
COMMENT ON COLUMN race_releases.columns IS 'names of the columns of a record, and of the value after them; NULL if they have none';
COMMENT ON COLUMN race_releases.units IS 'what the columns are measured in, NULL for what has no unit; NULL if nothing was said';
COMMENT ON COLUMN race_releases.moments IS 'the private moments; NULL in a release of sketches';
COMMENT ON COLUMN race_releases.scores IS 'of a release that is calibrated, a private sketch of the scores (race_score) that the sketches of all labels give the records of this label; NULL in others';

CREATE FUNCTION _race_refuse_change() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION '% of % is refused: the ledger only grows', TG_OP, TG_TABLE_NAME
		USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'What has been spent stays spent.';
END $$;
COMMENT ON FUNCTION _race_refuse_change() IS
	'trigger that refuses changes: a guard against accidents, since the owner of a table can disable its triggers';
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_charges
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_releases
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_datasets
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_budget_tables
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_no_removal BEFORE DELETE OR TRUNCATE ON race_budgets
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_no_refund BEFORE UPDATE ON race_budgets
	FOR EACH ROW WHEN (new.budget <> old.budget OR new.spent_epsilon < old.spent_epsilon
		OR new.spent_delta < old.spent_delta OR new.spent_rho < old.spent_rho)
	EXECUTE FUNCTION _race_refuse_change();

SELECT pg_catalog.pg_extension_config_dump('race_budgets', '');
SELECT pg_catalog.pg_extension_config_dump('race_datasets', '');
SELECT pg_catalog.pg_extension_config_dump('race_budget_tables', '');
SELECT pg_catalog.pg_extension_config_dump('race_charges', '');
SELECT pg_catalog.pg_extension_config_dump('race_releases', '');

CREATE FUNCTION _race_rho_limit(epsilon float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_rho_limit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _race_rho_limit(float8, float8) IS
	'the largest rho of zCDP that is (epsilon, delta)-differentially private, rounded down (Canonne, Kamath & Steinke 2020, proposition 7); error 22023 for a delta of 0';

CREATE FUNCTION _race_rho_epsilon(rho float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_rho_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _race_rho_epsilon(float8, float8) IS
	'the smallest epsilon that rho of zCDP implies at delta, rounded up; error 22023 for a delta of 0';

CREATE VIEW race_budget_status AS
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
COMMENT ON VIEW race_budget_status IS
	'each budget: limits, what was spent by basic composition (sums of epsilon and delta) and by zCDP (the sum of rho, and the epsilon that it implies at delta_limit; pure releases count as epsilon^2 / 2), what is left by the accounting that charges are held to, and who charged it last';
COMMENT ON COLUMN race_budget_status.budget IS 'the name of the budget';
COMMENT ON COLUMN race_budget_status.datasets IS 'the datasets that share it';
COMMENT ON COLUMN race_budget_status.tables IS 'the private tables that belong to it, by all names that they have had';
COMMENT ON COLUMN race_budget_status.accounting IS 'what charges are held to: basic or zcdp';
COMMENT ON COLUMN race_budget_status.epsilon_limit IS 'what all releases together may cost in epsilon';
COMMENT ON COLUMN race_budget_status.delta_limit IS 'and in delta';
COMMENT ON COLUMN race_budget_status.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';
COMMENT ON COLUMN race_budget_status.spent_epsilon IS 'the sum of the epsilons that were charged';
COMMENT ON COLUMN race_budget_status.spent_delta IS 'the sum of the deltas';
COMMENT ON COLUMN race_budget_status.spent_rho IS 'the sum of rho';
COMMENT ON COLUMN race_budget_status.spent_zcdp_epsilon IS 'the epsilon that spent_rho implies at delta_limit; NULL if delta_limit is 0';
COMMENT ON COLUMN race_budget_status.epsilon_left IS 'what is left of epsilon; NULL with zcdp accounting';
COMMENT ON COLUMN race_budget_status.delta_left IS 'what is left of delta; NULL with zcdp accounting';
COMMENT ON COLUMN race_budget_status.rho_left IS 'what is left of rho; NULL with basic accounting';
COMMENT ON COLUMN race_budget_status.charges IS 'how many releases were charged';
COMMENT ON COLUMN race_budget_status.last_charged_by IS 'the role that charged it last';
COMMENT ON COLUMN race_budget_status.last_charged_at IS 'and when';
