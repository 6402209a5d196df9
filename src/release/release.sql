-- ------------------------------------------------------------------------
-- A release: checked, charged, committed; then read, given noise, stored, committed.
-- The procedures do all of it in C (release.c).  The functions here say what is entered
-- into the ledger; they run with the rights of its owner.

-- A relation that was made anew goes by its old name, if its owner is the same: others may have
-- taken the name.  In another copy of the database an OID may have come to mean something else,
-- until the budget is adopted there.
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
				HINT = 'If it was renamed before a restore, give it its name back.';
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

-- In the copy of the database where it was protected, columns and tables go by their OIDs.  A public table may be made anew: when
-- the one that was declared is gone, with the same columns, by its owner, who could have changed its rows as well, by that of the
-- relation, or by a superuser.  In another copy, the owner alone must be one of these.
CREATE FUNCTION _racepriv._race_check_meant(dataset text, relation oid) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d _racepriv.race_datasets;
	before jsonb;
	now jsonb;
	here boolean;
	other text;
BEGIN
	SELECT * INTO d FROM _racepriv.race_datasets s WHERE s.dataset = _race_check_meant.dataset;
	SELECT c.request->'meant', _racepriv._race_is_here(c.identity) INTO before, here FROM _racepriv.race_charges c
	WHERE c.dataset = d.dataset AND c.act = 'protect' ORDER BY c.charged_at DESC LIMIT 1;
	now := _racepriv._race_meant(relation, d.unit_column, ARRAY(SELECT to_regclass(t) FROM unnest(d.public_tables) t));
	IF here AND before->'relation' = now->'relation' AND before->'unit' IS DISTINCT FROM now->'unit' AND now->>'unit' IS NOT NULL THEN
		RAISE EXCEPTION 'unit column "%" of dataset "%" is another column now', d.unit_column, left(dataset, 64)
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = 'The column that was protected has another name. Nothing was read and nothing charged.',
				HINT = 'Rename the columns as they were, or protect the relation under another name, with the same limits: it shares the budget.';
	END IF;
	SELECT n.key INTO other FROM jsonb_each(now->'public') n CROSS JOIN LATERAL (SELECT before->'public'->n.key) b (value)
		JOIN pg_class c ON c.oid = (n.value->>'relation')::oid JOIN pg_roles o ON o.oid = c.relowner
		JOIN pg_class r ON r.oid = _race_check_meant.relation LEFT JOIN pg_class gone ON gone.oid = (b.value->>'relation')::oid
	WHERE NOT coalesce(here AND n.value->'relation' = b.value->'relation', false)
		AND NOT coalesce((c.relowner = r.relowner OR o.rolsuper OR CASE WHEN here THEN n.value->'owner_id' = b.value->'owner_id' ELSE n.value->'owner' = b.value->'owner' END)
			AND (NOT here OR gone.oid IS NULL AND n.value->'kind' = b.value->'kind' AND n.value->'columns' = b.value->'columns'), false)
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'public table "%" of dataset "%" is another table now', other, left(dataset, 64)
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = 'The table that was declared public has another name now; or it was dropped, and this one has another owner or other columns. Nothing was read and nothing charged.',
				HINT = 'If this one is public, too, protect the relation under another name, with the same limits and public_tables: it shares the budget.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _racepriv._race_check_meant(text, oid) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_check_meant(text, oid) IS
	'raises 55000 if the unit column or a public table of a dataset is not what it was when it was protected';

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

CREATE FUNCTION _racepriv._race_is_shown(shown text, name boolean) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_is_shown' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_is_shown(text, boolean) IS
	'is a text without control characters, characters that are not seen or change the direction of text, and the beginning of an HTML tag; and a name without blanks at its ends, and blanks other than spaces?';

CREATE FUNCTION _racepriv._race_check_shown(what text, texts text[], names boolean) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF EXISTS (SELECT FROM unnest(texts) t WHERE NOT _racepriv._race_is_shown(t, false)) THEN
		RAISE EXCEPTION '% must not contain invisible or control characters or markup', what USING ERRCODE = 'invalid_parameter_value',
			HINT = 'After "<" there must be no letter and none of "/", "!" and "?". A description may have several lines.';
	ELSIF names AND EXISTS (SELECT FROM unnest(texts) t WHERE NOT _racepriv._race_is_shown(t, true)) THEN
		RAISE EXCEPTION '% must not begin or end with a blank, or contain a blank that is no space', what USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Type it anew: names that look alike would be different ones.';
	END IF;
END $$;
COMMENT ON FUNCTION _racepriv._race_check_shown(text, text[], boolean) IS
	'raises 22023 for texts, or names, that are not shown as they are';

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
	PERFORM _racepriv._race_check_shown('a name or a unit', name || units, true);
	PERFORM _racepriv._race_check_shown('a label or a column', labels || columns, false);
	PERFORM _racepriv._race_check_shown('a description', ARRAY[translate(description, E'\n\t', '')], false);
	IF EXISTS (SELECT FROM unnest(columns) t WHERE t IS NULL OR t ~ '^ *-?[0-9]* *$')
		OR cardinality(columns) <> (SELECT count(DISTINCT t COLLATE "C") FROM unnest(columns) t)
	THEN
		RAISE EXCEPTION 'the names of columns must be different texts, and no numbers'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
END $$;
COMMENT ON FUNCTION _racepriv._race_check_description(int, text, text[], text, text[], text[]) IS
	'raises 54000 or 22023 for texts that cannot be shown, and unless there is a name and a unit, or none at all, for each of n columns of a record and its value';

-- One UPDATE checks and charges, so that two sessions cannot both have the last of
-- a budget.
CREATE FUNCTION _racepriv._race_charge(
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
REVOKE EXECUTE ON FUNCTION _racepriv._race_charge(text, text, int, jsonb, float8, text, regclass[], name) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_charge(text, text, int, jsonb, float8, text, regclass[], name) IS
	'charges a request that was checked to a budget. Errors: 53400 what does not fit, 55000 a budget that belongs to another copy of the database';

-- A label tells these facts wherever the release is copied to: as they were, and without the ledger.
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

CREATE PROCEDURE race_release_next(name text)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE race_release_next(text) TO PUBLIC;
COMMENT ON PROCEDURE race_release_next(text) IS
	'releases a new version of a release, of its data as they are now, at the same cost; of a series what is over, which is paid. Errors as race_release, and 42704 if there is no such release';

CREATE FUNCTION _racepriv._race_refreshes_left(actor name, name text) RETURNS bigint
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
REVOKE EXECUTE ON FUNCTION _racepriv._race_refreshes_left(name, text) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_refreshes_left(name, text) IS
	'race_refreshes_left for a role';

CREATE FUNCTION race_refreshes_left(name text) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 10000;
GRANT EXECUTE ON FUNCTION race_refreshes_left(text) TO PUBLIC;
COMMENT ON FUNCTION race_refreshes_left(text) IS
	'how many times race_release_next of this release fits what is left of the budget; of a series, intervals that are left; NULL without such a release; error 42501 unless the caller may SELECT from the relation of its dataset';
