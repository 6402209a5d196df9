-- ------------------------------------------------------------------------
-- What is protected: datasets, and the budget that those of the same tables share

CREATE FUNCTION race_private_tables(relation regclass, unit_column name, public_tables regclass[])
	RETURNS regclass[] AS 'MODULE_PATHNAME'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
REVOKE EXECUTE ON FUNCTION race_private_tables(regclass, name, regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION race_private_tables(regclass, name, regclass[]) IS
	'the base tables of a table or view that are not among the public ones. Error 22023 if its rows do not depend on one row of each table and, where there is more than one thing in FROM, if they are not tied to the unit column by equalities of inner joins';

CREATE FUNCTION race_exact_decimal(value float8) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
	SELECT value::text::numeric
$$;
COMMENT ON FUNCTION race_exact_decimal(float8) IS
	'the shortest decimal that stands for a number: what was written, so that ten times 0.1 is 1';

CREATE FUNCTION race_relation_name(relation regclass) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 10
	SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT format('%I.%I', n.nspname, c.relname)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation
$$;
COMMENT ON FUNCTION race_relation_name(regclass) IS
	'the name of a relation with its schema, the same under all settings';

CREATE FUNCTION race_with_parts(tables regclass[]) RETURNS regclass[]
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	WITH RECURSIVE parts AS (
		SELECT unnest(tables)::oid AS part
		UNION SELECT i.inhrelid FROM parts JOIN pg_inherits i ON i.inhparent = part)
	SELECT coalesce(array_agg(part::regclass), '{}') FROM parts
$$;
COMMENT ON FUNCTION race_with_parts(regclass[]) IS
	'tables with their partitions and the tables that inherit from them';

CREATE FUNCTION race_topmost(tables regclass[]) RETURNS regclass[]
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	WITH RECURSIVE wholes AS (
		SELECT unnest(tables)::oid AS whole
		UNION SELECT i.inhparent FROM wholes JOIN pg_inherits i ON i.inhrelid = whole)
	SELECT coalesce(array_agg(whole::regclass), '{}') FROM wholes
	WHERE NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = whole)
$$;
COMMENT ON FUNCTION race_topmost(regclass[]) IS
	'the tables that these are partitions of, or inherit from; or themselves';

CREATE FUNCTION race_budgets_of(tables regclass[]) RETURNS text[]
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(array_agg(DISTINCT b.budget), '{}')
	FROM @extschema@.race_budget_tables b
	WHERE b.relation = ANY (tables)
		OR b.table_name IN (SELECT @extschema@.race_relation_name(t) FROM unnest(tables) t)
$$;
REVOKE EXECUTE ON FUNCTION race_budgets_of(regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION race_budgets_of(regclass[]) IS
	'the budgets that tables belong to, by OID or by name';

-- A view alone does not make one answer for the tables under it.
CREATE FUNCTION race_check_owner(relations regclass[]) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	foreign_one text;
BEGIN
	SELECT @extschema@.race_relation_name(c.oid::regclass) INTO foreign_one FROM pg_class c
	WHERE c.oid = ANY (relations) AND NOT pg_has_role(@extschema@.race_acting_role(), c.relowner, 'USAGE')
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'must be owner of relation "%"', foreign_one USING ERRCODE = 'insufficient_privilege';
	END IF;
END $$;
COMMENT ON FUNCTION race_check_owner(regclass[]) IS
	'raises 42501 unless the acting role owns the relations, as far as they exist';

CREATE FUNCTION race_find_budget(
	relation regclass, unit_column name, public_tables regclass[],
	OUT tables regclass[], OUT budget text)
	RETURNS record LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	budgets text[];
BEGIN
	IF EXISTS (SELECT FROM pg_class WHERE oid = ANY (public_tables) AND relkind NOT IN ('r', 'p', 'f')) THEN
		RAISE EXCEPTION 'public_tables must be tables' USING ERRCODE = 'wrong_object_type',
			HINT = 'Name the tables that a view is made of.';
	END IF;
	IF @extschema@.race_budgets_of(@extschema@.race_with_parts(@extschema@.race_topmost(public_tables))) <> '{}' THEN
		RAISE EXCEPTION 'a table that has a budget cannot be public' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	tables := @extschema@.race_topmost(@extschema@.race_private_tables(
		relation, unit_column, @extschema@.race_with_parts(public_tables)));
	budgets := @extschema@.race_budgets_of(@extschema@.race_with_parts(tables));
	IF cardinality(budgets) > 1 THEN
		RAISE EXCEPTION 'the tables of relation "%" belong to different budgets', relation
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('They belong to "%s".', array_to_string(budgets, '", "')),
				HINT = 'Protect a relation over all of them first; what is protected then shares its budget.';
	END IF;
	budget := budgets[1];
END $$;
REVOKE EXECUTE ON FUNCTION race_find_budget(regclass, name, regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION race_find_budget(regclass, name, regclass[]) IS
	'the private tables of a relation, and the one budget that they belong to, or NULL; errors: 22023 if there are several, if a public table has one, and as race_private_tables';

-- A name that a table had before stays with its budget, and so does a partition
-- that is detached.
CREATE FUNCTION race_enter_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO @extschema@.race_budget_tables (table_name, relation, budget)
	SELECT @extschema@.race_relation_name(t), t, budget FROM unnest(@extschema@.race_with_parts(tables)) t
	ON CONFLICT DO NOTHING
$$;
REVOKE EXECUTE ON FUNCTION race_enter_tables(regclass[], text) FROM PUBLIC;
COMMENT ON FUNCTION race_enter_tables(regclass[], text) IS
	'gives tables, with their partitions, by the names that they have now, to a budget';

CREATE FUNCTION race_enter_act(budget text, dataset text, act text, request jsonb) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO @extschema@.race_charges (budget, dataset, act, request, charged_by, charged_at, identity)
	VALUES (budget, dataset, act, request, @extschema@.race_acting_role(), statement_timestamp(), @extschema@.race_identity())
$$;
REVOKE EXECUTE ON FUNCTION race_enter_act(text, text, text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION race_enter_act(text, text, text, jsonb) IS
	'records an act on a budget that costs nothing';

CREATE FUNCTION race_check_limits(
	epsilon_limit float8, delta_limit float8, accounting text,
	OUT epsilon numeric, OUT delta numeric, OUT rho numeric)
	RETURNS record LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF accounting IS NULL OR accounting NOT IN ('basic', 'zcdp') THEN
		RAISE EXCEPTION 'unknown accounting "%"', accounting USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use basic (sums of epsilon and delta) or zcdp (the sum of rho).';
	END IF;
	IF NOT coalesce(epsilon_limit > 0 AND epsilon_limit <= 1e15 AND delta_limit >= 0 AND delta_limit < 1, false) THEN
		RAISE EXCEPTION 'epsilon_limit must be above 0 and at most 1e15, delta_limit at least 0 and below 1'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	epsilon := @extschema@.race_exact_decimal(epsilon_limit);
	delta := @extschema@.race_exact_decimal(delta_limit);
	IF accounting = 'zcdp' THEN
		rho := @extschema@.race_exact_decimal(@extschema@.race_rho_limit(epsilon_limit, delta_limit));
	END IF;
END $$;
COMMENT ON FUNCTION race_check_limits(float8, float8, text) IS
	'limits of a budget as exact decimals, and the rho that they allow if it is held to zCDP; error 22023 if they are none';

-- Whoever joins a budget must know what it is.
CREATE FUNCTION race_check_shared(budget text, epsilon_limit numeric, delta_limit numeric, accounting text)
	RETURNS void LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets;
BEGIN
	SELECT * INTO b FROM @extschema@.race_budgets s WHERE s.budget = race_check_shared.budget;
	IF (b.accounting, b.epsilon_limit, b.delta_limit) IS DISTINCT FROM (accounting, epsilon_limit, delta_limit) THEN
		RAISE EXCEPTION 'the tables of this relation have a budget already' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Budget "%s" has epsilon_limit %s, delta_limit %s, accounting %s.',
				b.budget, b.epsilon_limit, b.delta_limit, b.accounting),
			HINT = 'Give the same limits to share it; race_budget_limit changes them.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION race_check_shared(text, numeric, numeric, text) FROM PUBLIC;
COMMENT ON FUNCTION race_check_shared(text, numeric, numeric, text) IS
	'raises 22023 unless the budget has these limits and this accounting';

CREATE PROCEDURE race_protect(
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8 DEFAULT 0,
	unit_column name DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbours text DEFAULT 'add_remove', accounting text DEFAULT 'basic',
	public_tables regclass[] DEFAULT '{}')
	LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	limits record := @extschema@.race_check_limits(epsilon_limit, delta_limit, accounting);
	mine record;
BEGIN
	IF dataset IS NULL OR relation IS NULL OR max_contributions IS NULL OR neighbours IS NULL
		OR public_tables IS NULL OR array_position(public_tables, NULL) IS NOT NULL
	THEN
		RAISE EXCEPTION 'dataset, relation, max_contributions, neighbours and public_tables must not be NULL'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	-- raises what is wrong with the last two
	PERFORM @extschema@.race_charge_rho('l2(dims=1, rows=1, range=2)'::@extschema@.race_params, 1::float8, 0::float8, 1, max_contributions, neighbours);
	PERFORM @extschema@.race_check_owner(ARRAY[relation]);
	LOCK TABLE @extschema@.race_budget_tables IN SHARE ROW EXCLUSIVE MODE;
	IF EXISTS (SELECT FROM @extschema@.race_datasets d WHERE d.dataset = race_protect.dataset) THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			HINT = 'race_budget_limit changes the limits of its budget.';
	END IF;

	mine := @extschema@.race_find_budget(relation, unit_column, public_tables);
	PERFORM @extschema@.race_check_owner(mine.tables);
	IF mine.budget IS NULL THEN
		mine.budget := dataset;
		INSERT INTO @extschema@.race_budgets (budget, accounting, epsilon_limit, delta_limit, rho_limit, identity)
		VALUES (dataset, accounting, limits.epsilon, limits.delta, limits.rho, @extschema@.race_identity());
	ELSE
		PERFORM @extschema@.race_check_shared(mine.budget, limits.epsilon, limits.delta, accounting);
	END IF;
	PERFORM @extschema@.race_enter_tables(mine.tables, mine.budget);
	INSERT INTO @extschema@.race_datasets
	VALUES (dataset, relation, @extschema@.race_relation_name(relation), unit_column, max_contributions, neighbours, public_tables, mine.budget);
	PERFORM @extschema@.race_enter_act(mine.budget, dataset, 'protect', jsonb_build_object(
		'relation', @extschema@.race_relation_name(relation), 'unit_column', unit_column, 'max_contributions', max_contributions,
		'neighbours', neighbours, 'public_tables', public_tables::text[], 'accounting', accounting,
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta));
END $$;
REVOKE EXECUTE ON PROCEDURE race_protect(text, regclass, float8, float8, name, int, text, text, regclass[]) FROM PUBLIC;
COMMENT ON PROCEDURE race_protect(text, regclass, float8, float8, name, int, text, text, regclass[]) IS
	'registers a table or view that releases may be made of, and the budget that they are charged to: limits of epsilon and delta, and the accounting, basic (their sums) or zcdp (the sum of rho), that charges are held to. With a unit_column, at most max_contributions records of each of its values enter a release, chosen at random; without one each row is a unit, and that nobody has more than max_contributions rows is your promise. public_tables hold no private data. Datasets over the same tables share one budget. Errors: 42501 unless you own the relation and its private tables; 42710 a dataset of that name; 22023 limits that there cannot be, other limits than those of the budget that is shared, or a view whose rows may depend on more than one unit';

-- The budget of a dataset that its caller owns, locked
CREATE FUNCTION race_own_budget(dataset text) RETURNS @extschema@.race_budgets
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets := @extschema@.race_dataset(dataset);
	b @extschema@.race_budgets;
BEGIN
	-- by OID too: a table that was renamed has the same owner still
	PERFORM @extschema@.race_check_owner(array_agg(t.relation) || array_agg(to_regclass(t.table_name)) || d.relation)
	FROM @extschema@.race_budget_tables t WHERE t.budget = d.budget;
	SELECT * INTO b FROM @extschema@.race_budgets WHERE budget = d.budget FOR UPDATE;
	RETURN b;
END $$;
REVOKE EXECUTE ON FUNCTION race_own_budget(text) FROM PUBLIC;
COMMENT ON FUNCTION race_own_budget(text) IS
	'the budget of a dataset, locked; errors: 42704 no such dataset, 42501 unless the acting role owns its relation and the tables of the budget';

CREATE PROCEDURE race_budget_limit(dataset text, epsilon_limit float8, delta_limit float8)
	LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets := @extschema@.race_own_budget(dataset);
	limits record := @extschema@.race_check_limits(epsilon_limit, delta_limit, b.accounting);
BEGIN
	IF b.spent_rho > limits.rho OR b.accounting = 'basic' AND
		(b.spent_epsilon > limits.epsilon OR b.spent_delta > limits.delta)
	THEN
		RAISE EXCEPTION 'a budget cannot be limited to less than what is spent' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Spent: epsilon %s, delta %s, rho %s.', b.spent_epsilon, b.spent_delta, b.spent_rho);
	END IF;
	UPDATE @extschema@.race_budgets
	SET epsilon_limit = limits.epsilon, delta_limit = limits.delta, rho_limit = limits.rho WHERE budget = b.budget;
	PERFORM @extschema@.race_enter_act(b.budget, dataset, 'limit', jsonb_build_object(
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta,
		'epsilon_limit_before', b.epsilon_limit, 'delta_limit_before', b.delta_limit));
END $$;
REVOKE EXECUTE ON PROCEDURE race_budget_limit(text, float8, float8) FROM PUBLIC;
COMMENT ON PROCEDURE race_budget_limit(text, float8, float8) IS
	'changes the limits of the budget of a dataset, which is recorded in race_charges; errors: 22023 below what is spent, 42501 unless you own the relation and the tables of the budget';

CREATE PROCEDURE race_budget_adopt(dataset text)
	LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets := @extschema@.race_own_budget(dataset);
BEGIN
	UPDATE @extschema@.race_budgets SET identity = @extschema@.race_identity() WHERE budget = b.budget;
	PERFORM @extschema@.race_enter_act(b.budget, dataset, 'adopt',
		jsonb_build_object('identity_before', to_jsonb(b.identity)));
END $$;
REVOKE EXECUTE ON PROCEDURE race_budget_adopt(text) FROM PUBLIC;
COMMENT ON PROCEDURE race_budget_adopt(text) IS
	'declares that this copy of the database is the one that the budget of a dataset is spent in from now on, after a restore, a copy, pg_upgrade or a promotion; recorded in race_charges. See to it that no other copy goes on spending it. Error 42501 unless you own the relation and the tables of the budget';

CREATE PROCEDURE race_grant(role regrole, part text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner_may CONSTANT text[] := '{race_protect,race_budget_limit,race_budget_adopt,race_refreshes_left}';
	curator_may CONSTANT text[] := '{race_release,race_release_next,race_refreshes_left,race_checked_dataset,
		race_row_expression,race_release_request,race_release_exists,race_release_last,race_release_again,
		race_release_run,race_release_charge,race_release_read,race_release_sketches,race_check_row_type,race_read_sketches,
		race_release_store}';
	analyst_sees CONSTANT text[] := '{race_releases}';
	curator_sees CONSTANT text[] := analyst_sees || '{race_budget_status}';
	owner_sees CONSTANT text[] := curator_sees || '{race_budgets,race_datasets,race_budget_tables,race_charges}';
	f regprocedure;
	t regclass;
BEGIN
	IF part IS NULL OR part NOT IN ('owner', 'curator', 'analyst') THEN
		RAISE EXCEPTION 'unknown part "%"', part USING ERRCODE = 'invalid_parameter_value',
			HINT = 'A role is an owner, a curator or an analyst.';
	END IF;
	FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = '@extschema@'::regnamespace
		AND proname = ANY (CASE part WHEN 'owner' THEN owner_may WHEN 'curator' THEN curator_may END)
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', f, role);
	END LOOP;
	FOR t IN SELECT oid FROM pg_class WHERE relnamespace = '@extschema@'::regnamespace
		AND relname = ANY (CASE part WHEN 'owner' THEN owner_sees WHEN 'curator' THEN curator_sees ELSE analyst_sees END)
	LOOP
		EXECUTE format('GRANT SELECT ON %s TO %s', t, role);
	END LOOP;
END $$;
REVOKE EXECUTE ON PROCEDURE race_grant(regrole, text) FROM PUBLIC;
COMMENT ON PROCEDURE race_grant(regrole, text) IS
	'lets a role be an owner (protect tables and answer for budgets), a curator (make releases of relations that it may read) or an analyst (see releases); to be called by the owner of the extension';
