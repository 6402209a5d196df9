-- ------------------------------------------------------------------------
-- A release: checked, charged, committed; then read, given noise, stored, committed.
-- The procedures do all of it in C (release.c).  The functions here say what is entered
-- into the ledger; they run with the rights of its owner.

-- A relation that was made anew goes by its old name, if its owner is the same: others may have
-- taken the name.  In another copy of the database an OID may have come to mean something else,
-- until the budget is adopted there.
CREATE VIEW _racepriv._race_datasets_now AS
SELECT d.dataset, coalesce(c.oid, CASE WHEN CASE WHEN e.relation IS NULL THEN pg_catalog.pg_get_userbyid(n.relowner) = d.owner
		ELSE n.relowner = e.owner_id END THEN n.oid END) AS relation, coalesce(c.oid, n.oid) AS any_relation,
	d.relation_name, d.owner, d.unit_column, d.max_contributions, d.neighbors, d.public_tables, d.budget
FROM _racepriv.race_datasets d
LEFT JOIN LATERAL (
	SELECT CASE c.act WHEN 'protect'::text THEN d.relation ELSE (c.request->'relations'::text->d.dataset->>'relation'::text)::oid END AS relation,
		CASE c.act WHEN 'protect'::text THEN d.owner_id ELSE (c.request->'relations'::text->d.dataset->>'owner'::text)::oid END AS owner_id
	FROM _racepriv.race_charges c
	WHERE c.budget = d.budget AND _racepriv._race_is_here(c.identity)
		AND (c.act = 'protect'::text AND c.dataset = d.dataset OR c.act = 'adopt'::text AND c.request->'relations'::text ? d.dataset)
	ORDER BY c.charged_at DESC, c.act LIMIT 1) e ON true
LEFT JOIN pg_catalog.pg_class c ON c.oid = e.relation
LEFT JOIN pg_catalog.pg_class n ON n.oid = pg_catalog.to_regclass(d.relation_name)::oid;
COMMENT ON VIEW _racepriv._race_datasets_now IS
	'race_datasets with their relations as they are now: by OID, or by name and owner';
COMMENT ON COLUMN _racepriv._race_datasets_now.dataset IS 'the name of the dataset';
COMMENT ON COLUMN _racepriv._race_datasets_now.relation IS 'its relation: by its OID, or by its name and owner; NULL if there is none';
COMMENT ON COLUMN _racepriv._race_datasets_now.any_relation IS 'its relation by its OID, or by its name alone';
COMMENT ON COLUMN _racepriv._race_datasets_now.relation_name IS 'as in race_datasets, and the following';
COMMENT ON COLUMN _racepriv._race_datasets_now.owner IS 'the owner when it was protected';
COMMENT ON COLUMN _racepriv._race_datasets_now.unit_column IS 'the column that says whom a row is about';
COMMENT ON COLUMN _racepriv._race_datasets_now.max_contributions IS 'how many records of a unit enter a release';
COMMENT ON COLUMN _racepriv._race_datasets_now.neighbors IS 'what a release hides';
COMMENT ON COLUMN _racepriv._race_datasets_now.public_tables IS 'tables without private data';
COMMENT ON COLUMN _racepriv._race_datasets_now.budget IS 'its budget';

CREATE FUNCTION _racepriv._race_dataset(dataset text, any_owner boolean DEFAULT false) RETURNS _racepriv._race_datasets_now
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d _racepriv._race_datasets_now;
	found_name oid;
BEGIN
	SELECT * INTO d FROM _racepriv._race_datasets_now n WHERE n.dataset = _race_dataset.dataset;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no dataset "%"', left(dataset, 64) USING ERRCODE = 'undefined_object',
			HINT = 'race_protect makes one.';
	END IF;
	found_name := to_regclass(d.relation_name);
	IF any_owner THEN
		d.relation := d.any_relation;
	END IF;
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

-- In the copy of the database where it was protected or adopted last, columns and tables go by their OIDs.  A public table may be
-- made anew, when the one that was declared is gone, with the same columns, by its owner, who could have changed its rows as well, by
-- that of the relation, or by a superuser.  But a private table may have been renamed: race_budget_adopt accepts it, and no release
-- does.  In another copy, the owner alone must be one of these.
CREATE VIEW _racepriv._race_datasets_meant AS
SELECT d.dataset,
	coalesce(p.here AND (p.meant->>'relation'::text)::oid = d.relation AND a.attnum IS NOT NULL
		AND (p.meant->>'unit'::text)::int2 IS DISTINCT FROM a.attnum, false) AS unit_changed,
	t.changed AS public_changed, t.remade AS public_remade, p.meant
FROM _racepriv._race_datasets_now d
LEFT JOIN LATERAL (
	SELECT c.request->'meant'::text, _racepriv._race_is_here(c.identity) FROM _racepriv.race_charges c
	WHERE c.dataset = d.dataset AND c.act = ANY ('{protect,adopt}'::text[]) AND c.request ? 'meant'::text
	ORDER BY c.charged_at DESC LIMIT 1) p (meant, here) ON true
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.relation AND a.attname = d.unit_column AND a.attnum > 0::smallint AND NOT a.attisdropped
LEFT JOIN LATERAL (
	SELECT pg_catalog.min(n.name) FILTER (WHERE NOT (n.owners AND (NOT n.here OR n.same))), pg_catalog.min(n.name) FILTER (WHERE n.owners AND n.here AND n.same)
	FROM (
		SELECT t.name, coalesce(p.here, false),
			coalesce(t.relowner = r.relowner OR o.rolsuper
				OR CASE WHEN p.here THEN b.before->'owner_id'::text = b.now->'owner_id'::text ELSE b.before->'owner'::text = b.now->'owner'::text END, false),
			coalesce(gone.oid IS NULL AND b.before->'kind'::text = b.now->'kind'::text AND b.before->'columns'::text = b.now->'columns'::text, false)
		FROM (
				SELECT c.oid, c.oid::regclass::text, c.relowner
				FROM pg_catalog.unnest(d.public_tables) u (name) JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(u.name)::oid) t (oid, name, relowner)
			JOIN pg_catalog.pg_class r ON r.oid = d.relation JOIN pg_catalog.pg_roles o ON o.oid = t.relowner
			CROSS JOIN LATERAL (SELECT p.meant->'public'::text->t.name,
				_racepriv._race_meant(d.relation, NULL::name, ARRAY[t.oid::regclass])->'public'::text->t.name) b (before, now)
			LEFT JOIN pg_catalog.pg_class gone ON gone.oid = (b.before->>'relation'::text)::oid
		WHERE NOT coalesce(p.here AND (b.before->>'relation'::text)::oid = t.oid, false)) n (name, here, owners, same)) t (changed, remade) ON true;
COMMENT ON VIEW _racepriv._race_datasets_meant IS
	'whether the unit column and the public tables of a dataset are those that were protected';
COMMENT ON COLUMN _racepriv._race_datasets_meant.dataset IS 'the name of the dataset';
COMMENT ON COLUMN _racepriv._race_datasets_meant.unit_changed IS 'whether the unit column is another column now';
COMMENT ON COLUMN _racepriv._race_datasets_meant.public_changed IS 'a public table that is another table now; NULL if there is none';
COMMENT ON COLUMN _racepriv._race_datasets_meant.public_remade IS 'a public table that seems to have been made anew; NULL if there is none';
COMMENT ON COLUMN _racepriv._race_datasets_meant.meant IS 'the column and the public tables that were protected or adopted last';

CREATE FUNCTION _racepriv._race_is_shown(shown text, name boolean) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_is_shown' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_is_shown(text, boolean) IS
	'is a text without control characters, characters that are not seen or change the direction of text, and the beginning of an HTML tag; and a name without blanks at its ends, and blanks other than spaces?';

CREATE FUNCTION _racepriv._race_check_shown(what text, texts text[], names boolean) RETURNS void
	AS 'MODULE_PATHNAME', 'race_check_shown' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _racepriv._race_check_shown(text, text[], boolean) IS
	'raises 22023 for texts, or names, that are not shown as they are';

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
		SELECT c.oid FROM unnest(_racepriv._race_with_parts(_racepriv._race_topmost(tables))) t (relation) JOIN pg_class c ON c.oid = t.relation
		WHERE NOT EXISTS (SELECT FROM _racepriv.race_budget_tables e
			WHERE e.table_name = c.oid::regclass::text AND e.relation = c.oid
				AND e.owner_id = c.relowner AND e.schema_id = c.relnamespace AND _racepriv._race_is_here(e.identity)));
	IF new_ones <> '{}' THEN
		PERFORM _racepriv._race_enter_tables(
			_racepriv._race_lock_tables('_racepriv.race_budget_tables'::regclass, new_ones, false), budget);
	END IF;

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
CREATE FUNCTION _racepriv._race_provenance(charge uuid, sources jsonb, library text) RETURNS jsonb
	LANGUAGE sql STABLE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_strip_nulls(jsonb_build_object('library', library, 'unit_column', d.unit_column, 'public_tables', nullif(d.public_tables, '{}'),
		'sources', sources,
		'labels', CASE WHEN c.request ? 'label' THEN CASE WHEN c.request ? 'labels' THEN 'listed' ELSE 'chosen' END END,
		'weight', c.request->'weight', 'weight_max', c.request->'weight_max', 'where', c.request->'where',
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

CREATE PROCEDURE @extschema@.race_release_sketch(
	name text, dataset text, params race_params DEFAULT NULL, expression text DEFAULT NULL,
	epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0, rows int DEFAULT NULL,
	label text DEFAULT NULL, labels text[] DEFAULT NULL,
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	description text DEFAULT NULL, columns text[] DEFAULT NULL, units text[] DEFAULT NULL,
	calibrate float8 DEFAULT NULL, series jsonb DEFAULT NULL,
	weight text DEFAULT NULL, weight_max int DEFAULT NULL, "where" text DEFAULT NULL, max_contributions int DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE @extschema@.race_release_sketch(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, text[], text[], float8, jsonb, text, int, text, int) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_release_sketch(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, text[], text[], float8, jsonb, text, int, text, int) IS
	'charges the budget of a dataset, then stores a private sketch of an expression over its rows; without params and expression, moments of columns. Arguments: doc/reference.md. The same request again costs nothing. Errors before the charge: 42501, 22023, 42704, 55000';

CREATE PROCEDURE @extschema@.race_release_next(name text)
	AS 'MODULE_PATHNAME' LANGUAGE C;
GRANT EXECUTE ON PROCEDURE @extschema@.race_release_next(text) TO PUBLIC;
COMMENT ON PROCEDURE @extschema@.race_release_next(text) IS
	'releases a new version of a release, of its data as they are now, at the same cost; of a series what is over, which is paid. Errors as race_release, and 42704 if there is no such release';

CREATE FUNCTION _racepriv._race_refreshes_left(actor name, name text) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
	d _racepriv._race_datasets_now;
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

CREATE FUNCTION @extschema@.race_refreshes_left(name text) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 10000;
GRANT EXECUTE ON FUNCTION @extschema@.race_refreshes_left(text) TO PUBLIC;
COMMENT ON FUNCTION @extschema@.race_refreshes_left(text) IS
	'how many times race_release_next of this release fits what is left of the budget; of a series, intervals that are left; NULL without such a release; error 42501 unless the caller may SELECT from the relation of its dataset';
