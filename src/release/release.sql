-- ------------------------------------------------------------------------
-- A release: checked, charged, committed; then read, given noise, stored, committed.
-- The procedures that commit can have neither SET clauses nor rights of their own,
-- so they only call; whatever writes the ledger is a function that has both.

CREATE FUNCTION race_check_context() RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10;
COMMENT ON FUNCTION race_check_context() IS
	'raises 25001 where the calling procedure cannot commit, 25006 during recovery';

CREATE FUNCTION race_charge_rho(
	params race_params, epsilon float8, delta float8, rows int, max_contributions int, neighbours text)
	RETURNS float8 AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION race_charge_rho(race_params, float8, float8, int, int, text) IS
	'rho of zCDP that a release costs at most, whatever rows it keeps; errors as race_privatize, and 22023 if the parameters do not state dims';

CREATE FUNCTION race_row_expression(relation regclass, expression text, path text, as_text boolean)
	RETURNS text AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
REVOKE EXECUTE ON FUNCTION race_row_expression(regclass, text, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_row_expression(regclass, text, text, boolean) IS
	'an expression over one row of a relation, as PostgreSQL understands it under a search_path, all names qualified; errors: 42601 not one expression, 22023 not of one row alone (subqueries, aggregates, windows, sets, system columns, functions that are not IMMUTABLE), and what PostgreSQL says of it';

CREATE FUNCTION race_read_sketches(query text, params race_params, labels text[], path text, run boolean)
	RETURNS race_sketch[] AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
REVOKE EXECUTE ON FUNCTION race_read_sketches(text, race_params, text[], text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_read_sketches(text, race_params, text[], text, boolean) IS
	'exact sketches that a query gives, in the order of the labels: run without parallel workers, and with nothing said below an error; if not run, it is planned and rights are checked';

CREATE FUNCTION race_ticket_hold(charge uuid) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10;
REVOKE EXECUTE ON FUNCTION race_ticket_hold(uuid) FROM PUBLIC;
COMMENT ON FUNCTION race_ticket_hold(uuid) IS
	'notes in the memory of this process that a charge was made, and may be used once its transaction is over';

CREATE FUNCTION race_ticket_use(charge uuid) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10;
REVOKE EXECUTE ON FUNCTION race_ticket_use(uuid) FROM PUBLIC;
COMMENT ON FUNCTION race_ticket_use(uuid) IS
	'whether this process made that charge, last and in an earlier transaction, and did not use it; no rollback makes it unused again';

CREATE FUNCTION race_dataset(dataset text) RETURNS @extschema@.race_datasets
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets;
BEGIN
	SELECT * INTO d FROM @extschema@.race_datasets s WHERE s.dataset = race_dataset.dataset;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no dataset "%"', dataset USING ERRCODE = 'undefined_object',
			HINT = 'race_protect makes one.';
	END IF;
	-- Made anew, a relation goes by its old name.  In another copy of the database an
	-- OID may have come to mean something else.
	IF NOT EXISTS (SELECT FROM pg_class WHERE oid = d.relation) OR NOT EXISTS (
		SELECT FROM @extschema@.race_charges c, @extschema@.race_identity() i
		WHERE c.dataset = d.dataset AND c.act = 'protect'
			AND (c.identity).system_identifier = i.system_identifier AND (c.identity).database = i.database)
	THEN
		d.relation := to_regclass(d.relation_name);
	END IF;
	IF d.relation IS NULL THEN
		RAISE EXCEPTION 'relation "%" of dataset "%" does not exist', d.relation_name, dataset
			USING ERRCODE = 'undefined_table';
	END IF;
	RETURN d;
END $$;
REVOKE EXECUTE ON FUNCTION race_dataset(text) FROM PUBLIC;
COMMENT ON FUNCTION race_dataset(text) IS
	'what is registered of a dataset, and its relation as it is now; errors: 42704 no such dataset, 42P01 no such relation';

-- What views are made of can change after they were protected.
CREATE FUNCTION race_checked_dataset(dataset text) RETURNS @extschema@.race_datasets
	LANGUAGE plpgsql VOLATILE SECURITY DEFINER PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets := @extschema@.race_dataset(dataset);
	mine record := @extschema@.race_find_budget(d.relation, d.unit_column, d.public_tables);
BEGIN
	IF mine.budget IS DISTINCT FROM d.budget THEN
		RAISE EXCEPTION 'the tables of dataset "%" are not those of its budget any more', dataset
			USING ERRCODE = 'object_not_in_prerequisite_state';
	END IF;
	RETURN d;
END $$;
REVOKE EXECUTE ON FUNCTION race_checked_dataset(text) FROM PUBLIC;
COMMENT ON FUNCTION race_checked_dataset(text) IS
	'race_dataset, if its relation can still be protected, by the same budget; errors as race_dataset and race_protect, 55000 if its tables are of another budget or none. The relation stays as it is until the transaction ends';

CREATE FUNCTION race_check_labels(params race_params, label text, labels text[]) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	-- a list of exact sketches is one value of at most 1 GB; how large they are in
	-- truth depends on data, so the most is what counts
	most CONSTANT bigint := 1000000000;
	i record;
BEGIN
	IF (label IS NULL) <> (labels IS NULL) THEN
		RAISE EXCEPTION 'label and labels go together' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'The list of labels is declared, because which labels occur is private.';
	END IF;
	IF labels IS NULL THEN
		RETURN;
	END IF;
	IF array_position(labels, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'a label must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF cardinality(labels) = 0 OR array_ndims(labels) <> 1 OR
		cardinality(labels) <> (SELECT count(DISTINCT l COLLATE "C") FROM unnest(labels) l)
	THEN
		RAISE EXCEPTION 'labels must be a list of different labels' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT * INTO i FROM @extschema@.race_info(@extschema@.race_sketch(params));
	IF i.rows::bigint * i.range * 8 > most / cardinality(labels) THEN
		RAISE EXCEPTION 'sketches of so many labels could be larger than 1 GB together' USING ERRCODE = 'program_limit_exceeded';
	END IF;
END $$;
COMMENT ON FUNCTION race_check_labels(race_params, text, text[]) IS
	'raises 22023 or 22004 unless labels is a list of different labels, or there is neither label nor labels; 54000 if there are too many';

CREATE FUNCTION race_request_labels(request jsonb) RETURNS text[]
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT array_agg(l ORDER BY l COLLATE "C")
	FROM jsonb_array_elements_text(nullif(request->'labels', 'null')) l
$$;
COMMENT ON FUNCTION race_request_labels(jsonb) IS
	'the labels of a request in their order; NULL if there are none';

-- The request in a form in which equal requests are equal
CREATE FUNCTION race_release_request(
	dataset text, params race_params, expression text, epsilon float8, delta float8,
	rows int, label text, labels text[], path text)
	RETURNS jsonb LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets := @extschema@.race_checked_dataset(dataset);
	request jsonb;
BEGIN
	IF params IS NULL OR expression IS NULL OR epsilon IS NULL OR delta IS NULL THEN
		RAISE EXCEPTION 'params, expression, epsilon and delta must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	PERFORM @extschema@.race_charge_rho(params, epsilon, delta, rows, d.max_contributions, d.neighbours);
	PERFORM @extschema@.race_check_labels(params, label, labels);
	request := jsonb_build_object('dataset', dataset, 'params', params::text,
		'expression', @extschema@.race_row_expression(d.relation, expression, path, false),
		'epsilon', @extschema@.race_exact_decimal(epsilon), 'delta', @extschema@.race_exact_decimal(delta),
		'rows', rows, 'label', @extschema@.race_row_expression(d.relation, label, path, true),
		'labels', (SELECT jsonb_agg(l ORDER BY l COLLATE "C") FROM unnest(labels) l));
	PERFORM @extschema@.race_release_sketches(request, path, false);
	RETURN request;
END $$;
REVOKE EXECUTE ON FUNCTION race_release_request(text, race_params, text, float8, float8, int, text, text[], text) FROM PUBLIC;
COMMENT ON FUNCTION race_release_request(text, race_params, text, float8, float8, int, text, text[], text) IS
	'the arguments of race_release, checked as far as can be without reading data, in a form in which equal requests are equal';

-- ROW(x, c) shows its types only when it is evaluated: for a row of NULLs, which is
-- nobody's.  Whatever else fails on that row may be well for rows that there are.
CREATE FUNCTION race_check_row_type(relation regclass, expression text, params race_params) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
BEGIN
	EXECUTE (SELECT format('SELECT %1$s.race_is_record($1, (%2$s)) FROM (SELECT (NULL::%3$I.%4$I).*) AS %4$I',
			'@extschema@', expression, n.nspname, c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation)
	USING params;
EXCEPTION
	WHEN datatype_mismatch THEN
		RAISE;
	WHEN assert_failure OR OTHERS THEN
		NULL;
END $$;
REVOKE EXECUTE ON FUNCTION race_check_row_type(regclass, text, race_params) FROM PUBLIC;
COMMENT ON FUNCTION race_check_row_type(regclass, text, race_params) IS
	'raises 42804 if an expression gives rows of other values than the kernels of params compare';

-- Bad records and NULL units go first, then each unit keeps as many as it may.  The
-- choice is by strong random numbers: from a generator that someone can
-- seed, one person's rows would decide which rows of others are chosen.
CREATE FUNCTION race_release_sketches(request jsonb, path text, run boolean) RETURNS race_sketch[]
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000
	SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
	d @extschema@.race_datasets := @extschema@.race_checked_dataset(request->>'dataset');
	params @extschema@.race_params := request->>'params';
	source text;
	query text;
BEGIN
	SELECT format('SELECT %s AS unit, (%s) AS x, (%s)::text COLLATE "C" AS label FROM %I.%I AS %I',
		coalesce(quote_ident(d.unit_column), 'NULL'), request->>'expression', coalesce(request->>'label', 'NULL'),
		n.nspname, c.relname, c.relname)
	INTO source FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = d.relation;
	IF NOT run THEN
		-- the type of the expression, without reading a row
		EXECUTE format('SELECT %s.race_is_record($1, (SELECT x FROM (%s) s WHERE false))', '@extschema@', source) USING params;
		IF params::text LIKE '%) * %' THEN
			PERFORM @extschema@.race_check_row_type(d.relation, request->>'expression', params);
		END IF;
	END IF;
	query := format('SELECT kept.label, %1$s.race_build($1, kept.x)
		FROM (SELECT good.x, good.label, %2$s AS nth
			FROM (%3$s OFFSET 0) good
			WHERE %4$s AND %1$s.race_is_record($1, good.x)
				AND ($2 IS NULL OR good.label = ANY ($2))) kept
		WHERE kept.nth <= %5$s GROUP BY kept.label',
		'@extschema@',
		CASE WHEN d.unit_column IS NULL THEN '1' ELSE 'row_number() OVER (PARTITION BY good.unit ORDER BY gen_random_uuid())' END,
		source,
		CASE WHEN d.unit_column IS NULL THEN 'true' ELSE 'good.unit IS NOT NULL' END,
		d.max_contributions);
	RETURN @extschema@.race_read_sketches(query, params,
		@extschema@.race_request_labels(request),
		path, run);
END $$;
REVOKE EXECUTE ON FUNCTION race_release_sketches(jsonb, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_release_sketches(jsonb, text, boolean) IS
	'the exact sketches of a request, one for each label in their order; if not run, the query for them is planned and rights are checked';

CREATE FUNCTION race_release_last(name text, OUT version int, OUT request jsonb)
	RETURNS record LANGUAGE sql STABLE SECURITY DEFINER PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.version, c.request - '{name,version}'::text[]
	FROM @extschema@.race_releases r LEFT JOIN @extschema@.race_charges c ON c.charge = r.charge
	WHERE r.name = race_release_last.name ORDER BY r.version DESC, r.part LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION race_release_last(text) FROM PUBLIC;
COMMENT ON FUNCTION race_release_last(text) IS
	'the latest version of a release, and the request that all versions share; NULLs if there is none';

CREATE FUNCTION race_release_exists(name text, request jsonb) RETURNS boolean
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
BEGIN
	SELECT * INTO last FROM @extschema@.race_release_last(name);
	IF name IS NULL THEN
		RAISE EXCEPTION 'a release needs a name' USING ERRCODE = 'null_value_not_allowed';
	ELSIF last.version IS NULL THEN
		RETURN false;
	ELSIF last.request IS DISTINCT FROM request THEN
		RAISE EXCEPTION 'release "%" exists, with another request', name USING ERRCODE = 'duplicate_object',
			HINT = 'Choose another name, or race_release_next for a new version of the same request.';
	END IF;
	RAISE NOTICE 'release "%" exists: nothing is charged', name;
	RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION race_release_exists(text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION race_release_exists(text, jsonb) IS
	'whether there is a release of that name and request; error 42710 if it has another request';

CREATE FUNCTION race_check_identity(budget race_budgets) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF budget.identity IS DISTINCT FROM @extschema@.race_identity() THEN
		RAISE EXCEPTION 'budget "%" was last spent in another copy of this database', budget.budget
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('It was %s, this is %s (system identifier, database, timeline, ledger).',
					budget.identity, @extschema@.race_identity()),
				HINT = 'If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION race_check_identity(race_budgets) FROM PUBLIC;
COMMENT ON FUNCTION race_check_identity(race_budgets) IS
	'raises 55000 unless the budget was last spent in this copy of the database';

CREATE FUNCTION race_refuse_charge(d race_datasets, epsilon numeric, delta numeric, rho numeric) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets;
BEGIN
	SELECT * INTO b FROM @extschema@.race_budgets WHERE budget = d.budget;
	PERFORM @extschema@.race_check_identity(b);
	RAISE EXCEPTION 'the budget of dataset "%" does not allow this release', d.dataset
		USING ERRCODE = 'configuration_limit_exceeded',
			DETAIL = CASE b.accounting
				WHEN 'basic' THEN format('Asked: epsilon %s, delta %s. Left: epsilon %s, delta %s.', epsilon, delta,
					b.epsilon_limit - b.spent_epsilon, b.delta_limit - b.spent_delta)
				ELSE format('Asked: rho %s. Left: rho %s.', rho, b.rho_limit - b.spent_rho) END,
			HINT = 'Nothing was read and nothing charged.';
END $$;
REVOKE EXECUTE ON FUNCTION race_refuse_charge(race_datasets, numeric, numeric, numeric) FROM PUBLIC;
COMMENT ON FUNCTION race_refuse_charge(race_datasets, numeric, numeric, numeric) IS
	'raises 53400 with what was asked and what is left, or 55000 if the budget belongs to another copy of the database';

CREATE FUNCTION race_check_version(name text, version int, request jsonb) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
BEGIN
	SELECT * INTO last FROM @extschema@.race_release_last(name);
	IF version <> coalesce(last.version, 0) + 1 OR last.version > 0 AND last.request IS DISTINCT FROM request THEN
		RAISE EXCEPTION 'this is not the next version of release "%", or has another request', name
			USING ERRCODE = 'duplicate_object';
	END IF;
	PERFORM @extschema@.race_check_labels((request->>'params')::@extschema@.race_params, request->>'label',
		@extschema@.race_request_labels(request));
END $$;
REVOKE EXECUTE ON FUNCTION race_check_version(text, int, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION race_check_version(text, int, jsonb) IS
	'raises 42710 unless a request can be the next version of a release, and as race_check_labels';

-- One UPDATE checks and charges, so that two sessions cannot both have the last of
-- a budget.  What the caller says is not trusted: the cost is computed anew.
CREATE FUNCTION race_release_charge(
	name text, version int, request jsonb)
	RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets := @extschema@.race_checked_dataset(request->>'dataset');
	asked_epsilon numeric := @extschema@.race_exact_decimal((request->>'epsilon')::float8);
	asked_delta numeric := @extschema@.race_exact_decimal((request->>'delta')::float8);
	asked_rho numeric := @extschema@.race_exact_decimal(@extschema@.race_charge_rho(
		(request->>'params')::@extschema@.race_params, asked_epsilon::float8, asked_delta::float8,
		(request->>'rows')::int, d.max_contributions, d.neighbours));
	tables regclass[] := (@extschema@.race_find_budget(d.relation, d.unit_column, d.public_tables)).tables;
	b @extschema@.race_budgets;
	entered uuid;
BEGIN
	IF name IS NULL OR version IS NULL OR asked_rho IS NULL THEN
		RAISE EXCEPTION 'a charge needs a name, a version and a request' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	PERFORM @extschema@.race_check_version(name, version, request);
	PERFORM @extschema@.race_enter_tables(tables, d.budget);

	UPDATE @extschema@.race_budgets u
	SET spent_epsilon = spent_epsilon + asked_epsilon, spent_delta = spent_delta + asked_delta, spent_rho = spent_rho + asked_rho
	WHERE u.budget = d.budget AND CASE accounting
		WHEN 'basic' THEN spent_epsilon + asked_epsilon <= epsilon_limit AND spent_delta + asked_delta <= delta_limit
		ELSE spent_rho + asked_rho <= rho_limit END
	RETURNING u.* INTO b;
	IF NOT FOUND THEN
		PERFORM @extschema@.race_refuse_charge(d, asked_epsilon, asked_delta, asked_rho);
	END IF;
	PERFORM @extschema@.race_check_identity(b);

	INSERT INTO @extschema@.race_charges
		(budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity)
	VALUES (d.budget, d.dataset, 'release', request || jsonb_build_object('name', name, 'version', version),
		asked_epsilon, asked_delta, asked_rho, @extschema@.race_acting_role(), statement_timestamp(), b.identity)
	RETURNING charge INTO entered;
	PERFORM @extschema@.race_ticket_hold(entered);
	-- a crash must not lose it after the release was seen
	IF current_setting('synchronous_commit') IN ('off', 'local') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	RETURN entered;
END $$;
REVOKE EXECUTE ON FUNCTION race_release_charge(text, int, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION race_release_charge(text, int, jsonb) IS
	'charges a release to the budget of its dataset; race_release_store can use the charge when this transaction is over; the commit of this transaction will be durable. Errors: 53400 what does not fit, 42710 not the next version or another request, 55000 a budget that belongs to another copy of the database';

-- What an error says, and where, can depend on the records; so nothing of it is
-- passed on.  That there was one is a bit of the data: the charge pays for it.
CREATE FUNCTION race_release_read(request jsonb, path text) RETURNS race_sketch[]
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	code text := 'data_exception';
BEGIN
	BEGIN
		RETURN @extschema@.race_release_sketches(request, path, true);
	EXCEPTION
		WHEN query_canceled THEN
			code := 'query_canceled';
		WHEN assert_failure OR OTHERS THEN
			NULL;
	END;
	RAISE EXCEPTION 'the release failed while its data were read' USING ERRCODE = code,
		DETAIL = 'What happened may depend on private data, so it is not told. The charge stands.',
		HINT = 'See that the expression works on every row that there could be.';
END $$;
REVOKE EXECUTE ON FUNCTION race_release_read(jsonb, text) FROM PUBLIC;
COMMENT ON FUNCTION race_release_read(jsonb, text) IS
	'race_release_sketches, run, with one error for all: 22000 (57014 if cancelled)';

CREATE FUNCTION race_release_store(charge uuid, sketches race_sketch[]) RETURNS void
	LANGUAGE plpgsql VOLATILE SECURITY DEFINER PARALLEL UNSAFE COST 1000000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	c @extschema@.race_charges;
	d @extschema@.race_datasets;
	r record;
	labels text[];
BEGIN
	SELECT * INTO c FROM @extschema@.race_charges s WHERE s.charge = race_release_store.charge FOR UPDATE;
	IF NOT FOUND OR c.charged_by <> @extschema@.race_acting_role()
		OR EXISTS (SELECT FROM @extschema@.race_releases s WHERE s.charge = c.charge)
		OR NOT @extschema@.race_ticket_use(c.charge)
	THEN
		RAISE EXCEPTION 'this charge cannot be used' USING ERRCODE = 'object_not_in_prerequisite_state',
			DETAIL = 'It must have been made by this session in an earlier transaction, be its last, and not have been used, not even in a transaction that was rolled back.';
	END IF;
	SELECT * INTO d FROM @extschema@.race_datasets s WHERE s.dataset = c.dataset;
	SELECT q.name, q.version, q.epsilon, q.delta, q.rows, q.params INTO r
	FROM jsonb_to_record(c.request) q (name text, version int, epsilon float8, delta float8, rows int, params text);
	labels := @extschema@.race_request_labels(c.request);
	IF cardinality(sketches) IS DISTINCT FROM coalesce(cardinality(labels), 1) OR EXISTS (
		SELECT FROM unnest(sketches) s WHERE NOT coalesce(@extschema@.race_params(s) OPERATOR(@extschema@.=) r.params::@extschema@.race_params, false))
	THEN
		RAISE EXCEPTION 'these are not the sketches that were asked for' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	INSERT INTO @extschema@.race_releases (name, version, part, label, sketch, dataset, charge, released_at)
	SELECT r.name, r.version, s.part, labels[s.part],
		@extschema@.race_privatize(s.sketch, r.epsilon, r.delta, r.rows, d.max_contributions, d.neighbours),
		c.dataset, c.charge, c.charged_at
	FROM unnest(sketches) WITH ORDINALITY s (sketch, part);
EXCEPTION WHEN unique_violation THEN
	RAISE EXCEPTION 'another session has stored release "%" meanwhile', r.name USING ERRCODE = 'duplicate_object',
		DETAIL = 'This charge is lost.';
END $$;
REVOKE EXECUTE ON FUNCTION race_release_store(uuid, race_sketch[]) FROM PUBLIC;
COMMENT ON FUNCTION race_release_store(uuid, race_sketch[]) IS
	'draws the noise that was charged for, and stores the release; it needs an unused charge of the same role and session, made in an earlier transaction. Errors: 55000 without one, 42710 if another session was faster';

CREATE PROCEDURE race_release_run(name text, version int, request jsonb, path text)
	LANGUAGE plpgsql AS $$
DECLARE
	charge pg_catalog.uuid;
	sketches @extschema@.race_sketch[];
BEGIN
	PERFORM @extschema@.race_check_context();
	COMMIT;
	-- at a higher level those who wait for the budget would fail instead, and others
	-- would lose what they were charged
	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	charge := @extschema@.race_release_charge(name, version, request);
	COMMIT;
	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	sketches := @extschema@.race_release_read(request, path);
	PERFORM @extschema@.race_release_store(charge, sketches);
	COMMIT;
END $$;
REVOKE EXECUTE ON PROCEDURE race_release_run(text, int, jsonb, text) FROM PUBLIC;
COMMENT ON PROCEDURE race_release_run(text, int, jsonb, text) IS
	'charges, commits, reads, draws noise, stores and commits what race_release and race_release_next have checked';

CREATE PROCEDURE race_release(
	name text, dataset text, params race_params, expression text,
	epsilon float8, delta float8 DEFAULT 0, rows int DEFAULT NULL,
	label text DEFAULT NULL, labels text[] DEFAULT NULL)
	LANGUAGE plpgsql AS $$
DECLARE
	path pg_catalog.text := pg_catalog.current_setting('search_path');
	request pg_catalog.jsonb;
BEGIN
	PERFORM @extschema@.race_check_context();
	request := @extschema@.race_release_request(dataset, params, expression, epsilon, delta, rows, label, labels, path);
	IF NOT @extschema@.race_release_exists(name, request) THEN
		CALL @extschema@.race_release_run(name, 1, request, path);
	END IF;
END $$;
REVOKE EXECUTE ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[]) FROM PUBLIC;
COMMENT ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[]) IS
	'charges the budget of a dataset, and then stores a private sketch of it in race_releases. expression, over the columns of the relation, gives the records; what is no record is left out. label, another expression, and labels, the list of all that there may be, make a release for each label, at the cost of one. The same request under the same name charges nothing. It commits, so it must be a statement of its own. Errors before anything is read: 25001 inside a transaction block or function, 53400 over budget, 42710 another request of that name, 55000 a copy of the database, 22023, 42601 and others for arguments; after the charge 22000, with no more said';

CREATE PROCEDURE race_release_next(name text)
	LANGUAGE plpgsql AS $$
DECLARE
	version pg_catalog.int4;
	request pg_catalog.jsonb;
	path pg_catalog.text := pg_catalog.current_setting('search_path');
BEGIN
	PERFORM @extschema@.race_check_context();
	SELECT n.version, n.request INTO version, request FROM @extschema@.race_release_again(name) AS n;
	CALL @extschema@.race_release_run(name, version, request, path);
END $$;
REVOKE EXECUTE ON PROCEDURE race_release_next(text) FROM PUBLIC;
COMMENT ON PROCEDURE race_release_next(text) IS
	'releases a new version of a release, of its data as they are now, with the same request and at the same cost; errors as race_release, and 42704 if there is no such release';

-- Names were qualified when it was first asked for, so that no path matters now.
CREATE FUNCTION race_release_again(name text, OUT version int, OUT request jsonb)
	RETURNS record LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
BEGIN
	SELECT * INTO last FROM @extschema@.race_release_last(name);
	IF last.request IS NULL THEN
		RAISE EXCEPTION 'there is no release "%"', name USING ERRCODE = 'undefined_object';
	END IF;
	SELECT last.version + 1, @extschema@.race_release_request(q.dataset, q.params::@extschema@.race_params, q.expression,
		q.epsilon, q.delta, q.rows, q.label, q.labels, 'pg_catalog, pg_temp')
	INTO version, request
	FROM jsonb_to_record(last.request) q (dataset text, params text, expression text,
		epsilon float8, delta float8, rows int, label text, labels text[]);
END $$;
REVOKE EXECUTE ON FUNCTION race_release_again(text) FROM PUBLIC;
COMMENT ON FUNCTION race_release_again(text) IS
	'the next version of a release and its request, checked anew; error 42704 if there is no such release';

CREATE FUNCTION race_refreshes_left(name text) RETURNS bigint
	LANGUAGE sql STABLE STRICT SECURITY DEFINER PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT least(9223372036854775807, floor(CASE b.accounting
		WHEN 'zcdp' THEN (b.rho_limit - b.spent_rho) / c.rho
		ELSE least((b.epsilon_limit - b.spent_epsilon) / c.epsilon, (b.delta_limit - b.spent_delta) / nullif(c.delta, 0)) END))::bigint
	FROM @extschema@.race_releases r
		JOIN @extschema@.race_charges c ON c.charge = r.charge
		JOIN @extschema@.race_budgets b ON b.budget = c.budget
	WHERE r.name = race_refreshes_left.name ORDER BY r.version DESC, r.part LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION race_refreshes_left(text) FROM PUBLIC;
COMMENT ON FUNCTION race_refreshes_left(text) IS
	'how many times race_release_next of this release fits what is left of the budget; NULL if there is no such release';
