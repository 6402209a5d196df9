-- ------------------------------------------------------------------------
-- What is protected: datasets, and the budget that those of the same tables share

CREATE FUNCTION _racepriv._race_lock_tables(ledger regclass, tables regclass[], wait boolean) RETURNS regclass[]
	AS 'MODULE_PATHNAME', 'race_lock_tables' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
REVOKE EXECUTE ON FUNCTION _racepriv._race_lock_tables(regclass, regclass[], boolean) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_lock_tables(regclass, regclass[], boolean) IS
	'lets this transaction alone enter these tables into the ledger; if not to wait, returns those that no other transaction enters now';

CREATE FUNCTION _racepriv._race_with_parts(tables regclass[]) RETURNS regclass[]
	AS 'MODULE_PATHNAME', 'race_with_parts' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_with_parts(regclass[]) IS
	'tables with their partitions and the tables that inherit from them';

CREATE FUNCTION _racepriv._race_topmost(tables regclass[]) RETURNS regclass[]
	AS 'MODULE_PATHNAME', 'race_topmost' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_topmost(regclass[]) IS
	'the tables that these are partitions of, or inherit from; or themselves';

-- A name alone proves nothing: anyone who may create tables in a schema can take a name
-- that has become free.  Nor does it with its owner, if the table was given to another role.
-- Roles and schemas can be renamed, so that their OIDs count, too.  No OID means anything in
-- another copy of the database.
CREATE VIEW _racepriv._race_table_entries AS
SELECT e.relation, e.budget, e.entered, e.owner, e.owner_id, e.here, e.named,
	NOT e.named OR CASE WHEN e.here THEN e.owner_id = e.relowner AND coalesce(o.relowner = e.owner_id, true)
		ELSE e.owner = pg_catalog.pg_get_userbyid(e.relowner) AND NOT _racepriv._race_is_here(u.identity) END AS belongs
FROM (
	SELECT c.oid AS relation, c.relowner, b.budget, b.relation AS entered, b.owner, b.owner_id, true AS here, false AS named
	FROM pg_catalog.pg_class c JOIN _racepriv.race_budget_tables b ON b.relation = c.oid
	WHERE _racepriv._race_is_here(b.identity)
	UNION ALL
	SELECT c.oid, c.relowner, b.budget, b.relation, b.owner, b.owner_id, _racepriv._race_is_here(b.identity), true
	FROM pg_catalog.pg_class c JOIN _racepriv.race_budget_tables b ON b.table_name = c.oid::regclass::text
	UNION ALL
	SELECT c.oid, c.relowner, b.budget, b.relation, b.owner, b.owner_id, true, true
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
		JOIN _racepriv.race_budget_tables b ON b.schema_id = s.oid
			AND NOT pg_catalog.starts_with(b.table_name, pg_catalog.quote_ident(s.nspname::text) || '.'::text)
			AND (pg_catalog.parse_ident(b.table_name))[2] = c.relname::text
	WHERE _racepriv._race_is_here(b.identity)) e
JOIN _racepriv.race_budgets u ON u.budget = e.budget LEFT JOIN pg_catalog.pg_class o ON o.oid = e.entered AND e.here;
COMMENT ON VIEW _racepriv._race_table_entries IS
	'the rows of race_budget_tables that have the OID of a table, or its name (named): the name that was entered, and the one that it has in a schema that was renamed';
COMMENT ON COLUMN _racepriv._race_table_entries.relation IS 'the table as it is now';
COMMENT ON COLUMN _racepriv._race_table_entries.budget IS 'the budget that was entered';
COMMENT ON COLUMN _racepriv._race_table_entries.entered IS 'the OID that was entered';
COMMENT ON COLUMN _racepriv._race_table_entries.owner IS 'the owner that was entered';
COMMENT ON COLUMN _racepriv._race_table_entries.owner_id IS 'the OID of that owner';
COMMENT ON COLUMN _racepriv._race_table_entries.here IS 'whether it was entered in this copy of the database, where the OIDs hold';
COMMENT ON COLUMN _racepriv._race_table_entries.named IS 'whether the table has the name that was entered; else it has the OID';
COMMENT ON COLUMN _racepriv._race_table_entries.belongs IS 'whether the table belongs to the budget: by OID, in the copy of the database where it was entered; or by name and owner, unless the table that was entered has another owner now';

-- A view alone does not make one answer for the tables under it.  Two owners share a budget only if one
-- role may act for both.
CREATE FUNCTION _racepriv._race_check_owner(actor name, relations regclass[], budget text DEFAULT NULL) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	foreign_one text;
BEGIN
	SELECT c.oid::regclass::text INTO foreign_one
	FROM unnest(relations || _racepriv._race_topmost(ARRAY(
			SELECT e.relation::regclass FROM _racepriv._race_table_entries e
			WHERE e.belongs AND e.budget = _race_check_owner.budget AND e.relation = ANY (ARRAY(
				SELECT k.oid FROM pg_class k, _racepriv.race_budget_tables b
				WHERE b.budget = _race_check_owner.budget AND (k.oid = b.relation OR k.oid = to_regclass(b.table_name))))))) t (relation)
		JOIN pg_class c ON c.oid = t.relation
	WHERE NOT pg_has_role(actor, c.relowner, 'USAGE')
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'must be owner of relation "%"', foreign_one USING ERRCODE = 'insufficient_privilege';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_owner(name, regclass[], text) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_owner(name, regclass[], text) IS
	'raises 42501 unless a role owns the relations, and all tables of a budget if one is named, as far as they exist';

CREATE FUNCTION _racepriv._race_find_budget(tables regclass[], public_tables regclass[]) RETURNS text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	private_parts CONSTANT oid[] := _racepriv._race_with_parts(_racepriv._race_topmost(tables));
	public_parts CONSTANT oid[] := _racepriv._race_with_parts(_racepriv._race_topmost(public_tables));
	budgets text[];
	taken boolean;
BEGIN
	IF public_parts <> '{}' THEN
		IF EXISTS (SELECT FROM pg_class WHERE oid = ANY (public_tables) AND relkind NOT IN ('r', 'p', 'f')) THEN
			RAISE EXCEPTION 'public_tables must be tables' USING ERRCODE = 'wrong_object_type',
				HINT = 'Name the tables that a view is made of.';
		END IF;
	END IF;
	SELECT bool_or(e.relation = ANY (public_parts)), array_agg(DISTINCT e.budget ORDER BY e.budget) FILTER (WHERE e.relation = ANY (private_parts))
	INTO taken, budgets
	FROM _racepriv._race_table_entries e WHERE e.relation = ANY (private_parts || public_parts) AND e.belongs;
	IF taken THEN
		RAISE EXCEPTION 'a table that has a budget cannot be public' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF cardinality(budgets) > 1 THEN
		RAISE EXCEPTION 'the tables of this relation belong to different budgets'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('They belong to "%s".', array_to_string(budgets, '", "')),
				HINT = 'Protect a relation over all of them first; what is protected then shares its budget.';
	END IF;
	RETURN budgets[1];
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_find_budget(regclass[], regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_find_budget(regclass[], regclass[]) IS
	'the one budget that private tables belong to, or NULL; error 22023 if there are several, or if a public table has one';

-- A name that a table had before stays with its budget, and so does a partition
-- that is detached.
CREATE FUNCTION _racepriv._race_enter_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO _racepriv.race_budget_tables (table_name, relation, owner, budget, identity, owner_id, schema_id)
	SELECT c.oid::regclass::text, c.oid, pg_get_userbyid(c.relowner), budget, _racepriv._race_identity(),
		c.relowner, c.relnamespace
	FROM pg_class c WHERE c.oid = ANY (tables)
	ON CONFLICT DO NOTHING
$$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_enter_tables(regclass[], text) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_enter_tables(regclass[], text) IS
	'gives tables, by the names and owners that they have now, to a budget; their locks must be held';

CREATE FUNCTION _racepriv._race_enter_act(actor name, budget text, dataset text, act text, request jsonb) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO _racepriv.race_charges (budget, dataset, act, request, charged_by, charged_at, identity, charged_by_id)
	VALUES (budget, dataset, act, request, actor, statement_timestamp(), _racepriv._race_identity(), to_regrole(quote_ident(actor)))
$$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_enter_act(name, text, text, text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_enter_act(name, text, text, text, jsonb) IS
	'records an act on a budget that costs nothing';

CREATE FUNCTION _racepriv._race_check_limits(
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

-- Where the whole ledger was lost but for releases, a new one would have a new budget for the same table.
CREATE FUNCTION _racepriv._race_check_unreleased(dataset text, relations regclass[]) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	released text;
BEGIN
	SELECT min(r.dataset) INTO released FROM _racepriv.race_releases r
	WHERE (r.dataset = _race_check_unreleased.dataset OR r.dataset IN (
			SELECT n.name FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace CROSS JOIN LATERAL unnest(ARRAY[
				c.relname::text, quote_ident(c.relname), s.nspname || '.' || c.relname, format('%I.%I', s.nspname, c.relname)]) n (name)
			WHERE c.oid = ANY (relations)))
		AND NOT EXISTS (SELECT FROM _racepriv.race_charges c WHERE c.charge = r.charge);
	IF released IS NOT NULL THEN
		RAISE EXCEPTION 'there are releases of dataset "%", whose charges are not in this ledger', released
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = 'They were copied from another database, or a restore has left the charges out.',
				HINT = format('If they were made of this table, a superuser restores its ledger: pg_restore --data-only --schema=_racepriv --dbname=%L DUMP. Releases of other databases belong in a database of analysts.', current_database());
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_unreleased(text, regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_unreleased(text, regclass[]) IS
	'raises 55000 if a release without a charge is of a dataset of this name, or of the name of one of these relations';

-- A dataset names its unit column and its public tables.  A name can pass to another column or table.
CREATE FUNCTION _racepriv._race_meant(relation oid, unit_column name, public_tables regclass[]) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('relation', relation, 'unit', (SELECT a.attnum FROM pg_attribute a
			WHERE a.attrelid = relation AND a.attname = unit_column AND a.attnum > 0 AND NOT a.attisdropped),
		'public', (SELECT coalesce(jsonb_object_agg(c.oid::regclass::text, jsonb_build_object('relation', c.oid, 'owner', pg_get_userbyid(c.relowner), 'owner_id', c.relowner, 'kind', c.relkind,
				'columns', (SELECT jsonb_object_agg(a.attname, jsonb_build_array(a.atttypid, a.atttypmod, a.attcollation)) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped))), '{}')
			FROM pg_class c WHERE c.oid = ANY (public_tables)))
$$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_meant(oid, name, regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_meant(oid, name, regclass[]) IS
	'which column and which public tables the names of a dataset mean now';

CREATE FUNCTION _racepriv._race_protect(
	actor name,
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8,
	unit_column name, max_contributions int,
	neighbors text, accounting text,
	public_tables regclass[], tables regclass[], one_row boolean) RETURNS void
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
	IF dataset IS NULL OR relation IS NULL OR neighbors IS NULL OR public_tables IS NULL OR array_position(public_tables, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'dataset, relation, neighbors and public_tables must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF octet_length(dataset) > 1000 THEN
		RAISE EXCEPTION 'the name of a dataset can have at most 1000 bytes' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	PERFORM _racepriv._race_check_shown('the name of a dataset', ARRAY[dataset], true);
	tables := _racepriv._race_topmost(tables);
	PERFORM _racepriv._race_check_owner(actor, tables);
	parts := _racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass, _racepriv._race_with_parts(tables), true);
	IF EXISTS (SELECT FROM _racepriv.race_datasets d WHERE d.dataset = _race_protect.dataset) THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			HINT = E'CALL race_protect with max_contributions or columns to correct it, race_budget_limit for its limits.\n'
				|| 'Under another name the relation can have another unit, and shares the budget.';
	END IF;

	shared := _racepriv._race_find_budget(tables, public_tables);
	PERFORM _racepriv._race_check_unreleased(dataset, parts || relation);
	IF shared IS NULL THEN
		-- What was dropped, or was restored without its owner, may be there again under its name.  In a copy of
		-- the database a table goes by its name, and one that was renamed there looks new.
		SELECT e.relation::regclass::text AS name, e.owner, e.budget, s.epsilon_limit INTO taken
		FROM _racepriv._race_table_entries e JOIN _racepriv.race_budgets s USING (budget)
		WHERE e.relation = ANY (parts) AND e.named AND NOT (e.here AND EXISTS (SELECT FROM pg_class o WHERE o.oid = e.entered AND o.oid <> e.relation))
		ORDER BY 1, 2 LIMIT 1;
		IF FOUND THEN
			RAISE EXCEPTION 'the ledger names table % already', taken.name
				USING ERRCODE = 'object_not_in_prerequisite_state',
					DETAIL = format('A table of this name and of role "%s" belongs to budget "%s", whose epsilon_limit is %s.', taken.owner, taken.budget, taken.epsilon_limit),
					HINT = format('A superuser can CALL race_budget_adopt(%L), and the table is charged to that budget.', taken.budget);
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
	IF max_contributions IS NULL AND NOT one_row THEN
		RAISE EXCEPTION 'race_protect needs max_contributions, the number of rows of one "%" that are counted', unit_column
			USING ERRCODE = 'null_value_not_allowed',
				DETAIL = format('No unique index states that each "%s" has one row in %s.', unit_column, relation),
				HINT = E'Rows beyond it are left out, and noise grows with it. Write 1 if each has one row,\n'
					|| 'else a number that few exceed, from public knowledge and not from the table. The owner can correct it.';
	END IF;
	max_contributions := coalesce(max_contributions, 1);
	PERFORM _racepriv._race_enter_tables(parts, coalesce(shared, dataset));
	INSERT INTO _racepriv.race_datasets
	SELECT dataset, relation, relation::text, pg_get_userbyid(c.relowner),
		unit_column, max_contributions, neighbors,
		ARRAY(SELECT t::text FROM unnest(public_tables) t), coalesce(shared, dataset), c.relowner
	FROM pg_class c WHERE c.oid = relation;
	-- tables as they were entered: their schemas may be renamed meanwhile
	PERFORM _racepriv._race_enter_act(actor, coalesce(shared, dataset), dataset, 'protect', jsonb_build_object(
		'relation', relation::text, 'tables', ARRAY(SELECT DISTINCT t.table_name FROM _racepriv.race_budget_tables t
			WHERE t.relation = ANY (tables) AND t.budget = coalesce(shared, dataset) AND _racepriv._race_is_here(t.identity) ORDER BY 1),
		'unit_column', unit_column, 'max_contributions', max_contributions,
		'neighbors', neighbors, 'public_tables', public_tables::text[], 'accounting', accounting,
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta)
		|| jsonb_build_object('meant', _racepriv._race_meant(relation, unit_column, public_tables)));
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_protect(name, text, regclass, float8, float8, name, int, text, text, regclass[], regclass[], boolean) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_protect(name, text, regclass, float8, float8, name, int, text, text, regclass[], regclass[], boolean) IS
	'race_protect of a new dataset, for a role that owns the relation; tables are the private tables that it is made of, one_row whether each unit is known to have one row';

CREATE FUNCTION _racepriv._race_correct(
	actor name,
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8,
	unit_column name, max_contributions int,
	neighbors text, accounting text,
	public_tables regclass[], columns boolean) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
DECLARE
	d _racepriv._race_datasets_now := _racepriv._race_dataset(dataset);
	b _racepriv.race_budgets;
	other text;
BEGIN
	PERFORM _racepriv._race_check_owner(actor, ARRAY[d.relation::regclass], d.budget);
	SELECT * INTO b FROM _racepriv.race_budgets s WHERE s.budget = d.budget;
	-- a default is not stated
	other := CASE WHEN relation <> d.relation THEN 'relation'
		WHEN unit_column IS DISTINCT FROM d.unit_column AND unit_column IS NOT NULL THEN 'unit_column'
		WHEN neighbors NOT IN (d.neighbors, 'add_remove') THEN 'neighbors'
		WHEN accounting NOT IN (b.accounting, 'basic') THEN 'accounting'
		WHEN public_tables <> '{}' AND ARRAY(SELECT t::text FROM unnest(public_tables) t) <> d.public_tables THEN 'public_tables'
		WHEN epsilon_limit::text::numeric <> b.epsilon_limit OR delta_limit > 0 AND delta_limit::text::numeric <> b.delta_limit THEN 'epsilon_limit and delta_limit' END;
	IF other IS NOT NULL OR coalesce(max_contributions, d.max_contributions) = d.max_contributions AND NOT columns THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			DETAIL = CASE WHEN other IS NULL THEN 'Nothing is to be corrected.' ELSE format('It has another %s.', other) END,
			HINT = E'CALL race_protect with max_contributions or columns to correct it, race_budget_limit for its limits.\n'
				|| 'Under another name the relation can have another unit, and shares the budget.';
	END IF;
	IF max_contributions <> d.max_contributions THEN
		UPDATE _racepriv.race_datasets u SET max_contributions = _race_correct.max_contributions WHERE u.dataset = d.dataset;
		PERFORM _racepriv._race_enter_act(actor, d.budget, d.dataset, 'correct',
			jsonb_build_object('max_contributions', max_contributions, 'max_contributions_before', d.max_contributions));
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_correct(name, text, regclass, float8, float8, name, int, text, text, regclass[], boolean) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_correct(name, text, regclass, float8, float8, name, int, text, text, regclass[], boolean) IS
	'race_protect of a dataset that exists, for a role: changes max_contributions; columns says whether columns are described, too. Error 42710 if other arguments differ from what was protected';

CREATE PROCEDURE @extschema@.race_protect(
	dataset text, relation regclass DEFAULT NULL, epsilon_limit float8 DEFAULT NULL, delta_limit float8 DEFAULT 0,
	unit_column name DEFAULT NULL, max_contributions int DEFAULT NULL,
	neighbors text DEFAULT 'add_remove', accounting text DEFAULT 'basic',
	public_tables regclass[] DEFAULT '{}', columns jsonb DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
-- Everybody may call the procedures of duties, which then say what is missing.  The right counts that race_grant gives to
-- roles by their names; what PUBLIC is given does not (race_check_duty).
GRANT EXECUTE ON PROCEDURE @extschema@.race_protect(text, regclass, float8, float8, name, int, text, text, regclass[], jsonb) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_protect(text, regclass, float8, float8, name, int, text, text, regclass[], jsonb) IS
	'registers a table or view, with a budget, as a dataset. unit_column: whom privacy protects, of whose rows max_contributions are counted. columns: values that the schema does not state. Again: corrects the last two. Errors: 42501, 22023, 42710';

CREATE FUNCTION _racepriv._race_budget_limit(
	actor name, dataset text, epsilon_limit float8, delta_limit float8) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d _racepriv._race_datasets_now := _racepriv._race_dataset(dataset);
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
REVOKE EXECUTE ON FUNCTION _racepriv._race_budget_limit(name, text, float8, float8) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_budget_limit(name, text, float8, float8) IS
	'race_budget_limit for a role';

CREATE PROCEDURE @extschema@.race_budget_limit(dataset text, epsilon_limit float8, delta_limit float8)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE @extschema@.race_budget_limit(text, float8, float8) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_budget_limit(text, float8, float8) IS
	'changes the limits of the budget of a dataset, which is recorded in race_charges; errors: 22023 below what is spent, 42501 unless you own the relation and the tables of the budget';

-- After a restore without owners, tables and views go by their names alone, and anybody may have
-- taken a name: only a superuser can say that it is the same table.
CREATE FUNCTION _racepriv._race_budget_adopt(actor name, dataset text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	super CONSTANT boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = actor);
	d _racepriv._race_datasets_now := _racepriv._race_dataset(dataset, super);
	b _racepriv.race_budgets;
	tables regclass[];
	relations jsonb;
	others text;
	m _racepriv._race_datasets_meant;
	public_now CONSTANT regclass[] := ARRAY(SELECT to_regclass(t) FROM unnest(d.public_tables) t WHERE to_regclass(t) IS NOT NULL);
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
	IF _racepriv._race_find_budget(tables, public_now) <> b.budget THEN
		RAISE EXCEPTION 'tables of budget "%" belong to another budget', b.budget
			USING ERRCODE = 'object_not_in_prerequisite_state';
	END IF;
	PERFORM _racepriv._race_enter_tables(_racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass,
		_racepriv._race_with_parts(tables), true), b.budget);
	SELECT jsonb_object_agg(o.dataset, jsonb_build_object('relation', c.oid, 'owner', c.relowner)),
		string_agg(format('%s of role "%s" (before "%s")', c.oid::regclass::text, pg_get_userbyid(c.relowner), o.owner), ', ')
			FILTER (WHERE pg_get_userbyid(c.relowner) <> o.owner)
	INTO relations, others
	FROM _racepriv._race_datasets_now o
		JOIN pg_class c ON c.oid = CASE WHEN super THEN o.any_relation ELSE o.relation END AND pg_has_role(actor, c.relowner, 'USAGE')
			AND (pg_get_userbyid(c.relowner) = o.owner OR c.relowner = (SELECT relowner FROM pg_class WHERE oid = d.relation))
	WHERE o.budget = b.budget;
	IF others IS NOT NULL THEN
		RAISE NOTICE 'adopted from other owners: %', others;
	END IF;
	SELECT * INTO m FROM _racepriv._race_datasets_meant n WHERE n.dataset = d.dataset;
	IF m.public_remade IS NOT NULL THEN
		RAISE NOTICE 'public table "%" was made anew: this one is public from now on', m.public_remade;
	END IF;
	UPDATE _racepriv.race_budgets SET identity = _racepriv._race_identity() WHERE budget = b.budget;
	-- the unit column that was protected stays
	PERFORM _racepriv._race_enter_act(actor, b.budget, dataset, 'adopt',
		jsonb_build_object('identity_before', to_jsonb(b.identity), 'relations', relations)
		|| CASE WHEN m.unit_changed OR m.public_changed IS NOT NULL THEN '{}'
			ELSE jsonb_build_object('meant', _racepriv._race_meant(d.relation, d.unit_column, public_now)) END);
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_budget_adopt(name, text) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_budget_adopt(name, text) IS
	'race_budget_adopt for a role';

CREATE PROCEDURE @extschema@.race_budget_adopt(dataset text)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE @extschema@.race_budget_adopt(text) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_budget_adopt(text) IS
	'declares that this copy of the database spends the budget of a dataset from now on, and that public tables made anew are public. Let no other copy spend it. Error 42501 unless you own its relation and tables';

CREATE PROCEDURE @extschema@.race_grant(grantee regrole, duty text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner_may CONSTANT text[] := '{race_protect,race_describe,race_budget_limit,race_budget_adopt,race_refreshes_left}';
	curator_may CONSTANT text[] := '{race_release,race_release_sketch,race_release_next,race_refreshes_left}';
	curator_sees CONSTANT text[] := '{race_budget_status,race_columns}';
	owner_sees CONSTANT text[] := curator_sees || '{race_budgets,race_datasets,race_budget_tables,race_charges,race_descriptions}';
	f regprocedure;
	t regclass;
	place regnamespace;
BEGIN
	IF grantee IS NULL THEN
		RAISE EXCEPTION 'grantee must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF duty IS NULL OR duty NOT IN ('owner', 'curator', 'analyst') THEN
		RAISE EXCEPTION 'unknown duty "%"', left(duty, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'A role is an owner, a curator or an analyst.';
	END IF;
	FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv_release')
		AND p.proname = ANY (CASE duty WHEN 'owner' THEN owner_may WHEN 'curator' THEN curator_may END)
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', f, grantee);
	END LOOP;
	-- every duty sees releases, and all other views: they are of releases, too
	FOR t IN SELECT c.oid FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv_release')
		AND (c.relname = 'race_releases' OR c.relname = ANY (CASE duty WHEN 'owner' THEN owner_sees WHEN 'curator' THEN curator_sees END)
			OR c.relkind = 'v' AND c.relname !~ '^_' AND c.relname <> ALL (owner_sees))
	LOOP
		EXECUTE format('GRANT SELECT ON %s TO %s', t, grantee);
	END LOOP;
	-- those of both extensions, which may be their own
	FOR place IN SELECT DISTINCT extnamespace FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release') ORDER BY 1 LOOP
		IF NOT has_schema_privilege(grantee, place, 'USAGE') THEN
			EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', place, grantee);
		END IF;
	END LOOP;
END $$;
REVOKE EXECUTE ON PROCEDURE @extschema@.race_grant(regrole, text) FROM PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_grant(regrole, text) IS
	'lets a role be an owner (protect tables and answer for budgets), a curator (make releases of relations that it may read) or an analyst (see releases); to be called by the owner of the extension';
