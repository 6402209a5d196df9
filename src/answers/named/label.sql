-- ------------------------------------------------------------------------
-- What a reviewer signs: a label for each release, in the fields of the registry of deployments of differential privacy
-- (registry.opendp.org, schema of July 2026), and all labels in one document.  Whoever may see a release may see its label.

CREATE FUNCTION _racepriv._race_label(release text, version int) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000
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
	domains jsonb;
	chosen boolean;
	series boolean;
	weighted text;
	caveats text[];
BEGIN
	SELECT p.* INTO r FROM _racepriv.race_releases p
	WHERE p.name = (SELECT q.name FROM _racepriv._race_period(release) q) AND (wanted IS NULL OR p.version = wanted) ORDER BY p.version DESC, p.part LIMIT 1;
	IF NOT FOUND THEN
		PERFORM _racepriv._race_released(release, l.label) FROM _racepriv._race_labels(release, NULL) l;		-- says that there is none
		IF release IS NOT NULL THEN
			RAISE EXCEPTION 'release "%" has no version %', left(release, 64), wanted USING ERRCODE = 'undefined_object',
				HINT = 'race_versions shows which there are.';
		END IF;
		RETURN NULL;
	END IF;
	facts := coalesce(r.provenance, '{}');
	domains := _racepriv._race_domains(r.sketch);
	SELECT string_agg(DISTINCT i.mechanism, ', ' ORDER BY i.mechanism) AS mechanisms, max(i.epsilon + coalesce(s.epsilon, 0)) AS epsilon,
		max(i.delta) AS delta, max(i.rho + coalesce(s.rho, 0)) AS rho, max(i.max_contributions) / coalesce((facts->>'weight_max')::int, 1) AS contributions, max(i.neighbors) AS neighbors,
		round(greatest(sum(n.count), 0::float8))::numeric AS records, count(DISTINCT p.label) AS labels INTO parts
	FROM _racepriv.race_releases p CROSS JOIN LATERAL _racepriv._race_info(p.sketch) i CROSS JOIN LATERAL _racepriv._race_records(p.sketch) n LEFT JOIN LATERAL _racepriv._race_info(p.scores) s ON true
	WHERE p.name = r.name AND p.version = r.version;

	-- where bounds and categories come from
	IF domains IS NOT NULL THEN
		SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', d->>'name', 'type', d->>'type', 'source', CASE
				WHEN d ? 'chosen' THEN 'chosen by this release, under its epsilon and delta' ELSE coalesce(facts->'sources'->>(d->>'name'), 'not recorded') END,
			'measure', d->'measure', 'categories', jsonb_array_length(d->'categories'), 'lower', d->'lower', 'upper', d->'upper', 'cells', d->'cells'))
			ORDER BY n) INTO columns FROM jsonb_array_elements(domains) WITH ORDINALITY e (d, n);
	ELSE
		SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', coalesce(r.columns[c.number], c.number::text), 'type', c.kind,
			'source', 'stated by whoever made the release', 'lower', c.lower, 'upper', c.upper)) ORDER BY c.number) INTO columns
		FROM _racepriv._race_columns(r.sketch) c;
	END IF;

	chosen := coalesce(facts->>'labels' = 'chosen' OR jsonb_path_exists(domains, '$[*].chosen'), false);
	series := r.during IS NOT NULL;
	weighted := CASE WHEN facts ? 'weight' THEN format(', of weight %s, from 0 to %s', facts->>'weight', facts->>'weight_max') ELSE '' END;
	neighbors := CASE parts.neighbors WHEN 'substitute' THEN 'the records of one unit are replaced' ELSE 'the records of one unit are added or removed' END;
	unit := CASE WHEN r.provenance IS NULL THEN 'not recorded' WHEN facts ? 'unit_column' THEN format('user: a value of column "%s"', facts->>'unit_column')
		ELSE 'event: a row of the table' END;
	variant := CASE WHEN facts->>'accounting' = 'zcdp' THEN 'Zero-concentrated DP' WHEN parts.delta > 0 OR (facts->>'delta')::numeric > 0 OR chosen THEN 'Approximate DP' ELSE 'Pure DP' END;
	cost := format('epsilon %s, delta %s, rho %s', coalesce((facts->>'epsilon')::numeric, parts.epsilon::numeric),
		coalesce((facts->>'delta')::numeric, parts.delta::numeric), round(coalesce((facts->>'rho')::numeric, parts.rho::numeric), 6));
	together := CASE WHEN facts ? 'budget' THEN format('releases of these people: %s, at %s (budget "%s")', facts->>'charges',
		CASE facts->>'accounting' WHEN 'zcdp' THEN format('rho %s of %s', round((facts->>'spent_rho')::numeric, 6), round((facts->>'rho_limit')::numeric, 6))
			ELSE format('epsilon %s of %s, delta %s of %s', facts->>'spent_epsilon', facts->>'epsilon_limit', facts->>'spent_delta', facts->>'delta_limit') END,
		facts->>'budget') ELSE 'not recorded' END;
	caveats := array_remove(ARRAY[
		CASE WHEN r.provenance IS NULL THEN 'Made by a version that recorded no more than the values themselves tell.' END,
		CASE WHEN r.provenance IS NOT NULL AND NOT facts ? 'unit_column' THEN 'A person with several rows is protected row by row, not as a person.' END,
		CASE WHEN facts ? 'unit_column' THEN format('Of each unit at most %s records are counted; persons who share a value of the unit column are one unit.', parts.contributions) END,
		CASE WHEN facts ? 'where' THEN format('Rows are counted where %s.', facts->>'where') END,
		CASE WHEN facts ? 'weight' THEN 'What a person changes in the weights of others, if they are calibrated to the sample, is not protected.' END,
		CASE WHEN chosen THEN 'Values that few persons have are counted together with others.' END,
		CASE WHEN series THEN 'One charge pays for all values of the series.' END,
		CASE WHEN facts->>'accounting' = 'basic' AND (facts->>'charges')::int > 1 THEN 'Costs are added: a bound, not the least one.' END,
		CASE WHEN columns::text LIKE '%"described"%' OR domains IS NULL THEN 'Bounds and categories that people state must not have been read from the data.' END,
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
				'privacy_unit_details', format('Adjacent tables: %s; at most %s count%s.', neighbors, parts.contributions, weighted),
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
			'columns', columns, 'library', facts->'library', 'extension', (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'racepriv_release'),
			'weight', facts->'weight', 'weight_max', facts->'weight_max', 'where', facts->'where',
			'budget', facts - '{library,weight,weight_max,where,unit_column,max_contributions,neighbors,public_tables,sources,labels,epsilon,delta,rho}'::text[],
			'public_tables', facts->'public_tables', 'caveats', to_jsonb(caveats)),
		'text', format(E'Privacy label of release "%s", version %s\nmade        %s UTC, of dataset "%s"\nprotects    %s\nneighbors   %s, at most %s each%s\ncost        %s (%s)\ntogether    %s\nmechanism   %s\nlibrary     racepriv %s\n',
				r.name, r.version, to_char(r.released_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), r.dataset, unit, neighbors, parts.contributions, weighted,
				cost, variant, together, parts.mechanisms, coalesce(facts->>'library', 'of a version that is not recorded'))
			|| (SELECT string_agg(rpad('column', 12) || format('%s: %s%s, %s', c->>'name', CASE WHEN c ? 'measure' THEN 'means of ' ELSE '' END,
				CASE WHEN c ? 'categories' THEN (c->>'categories') || ' categories' WHEN c ? 'lower' THEN (
					SELECT string_agg(coalesce(_racepriv._race_number_text(c->>'type', (c->>bound)::float8, true), c->>bound), ' to ' ORDER BY bound)
					FROM unnest('{lower,upper}'::text[]) bound) ELSE c->>'type' END,
				c->>'source'), E'\n' ORDER BY n) FROM jsonb_array_elements(columns) WITH ORDINALITY e (c, n) WHERE n <= 8)
			|| CASE WHEN jsonb_array_length(columns) > 8 THEN format(E'\n            and %s more columns', jsonb_array_length(columns) - 8) ELSE '' END
			|| E'\npublic      names, types, bounds, categories, declared labels, parameters, costs, time\n'
			|| (SELECT string_agg('caveat      ' || c, E'\n' ORDER BY n) FROM unnest(caveats) WITH ORDINALITY e (c, n)));
END $$;
COMMENT ON FUNCTION _racepriv._race_label(text, int) IS 'the body of race_label';

CREATE FUNCTION @extschema@.race_label(release text, version int DEFAULT NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION @extschema@.race_label(text, int) IS
	'the label of a release, or of one version: unit, cost, accounting, mechanism, origin of bounds, caveats, in the fields of the registry of deployments; text is one screen. Public facts alone. Error 42704';

CREATE FUNCTION _racepriv._race_registry() RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN (SELECT jsonb_build_object('schema', 'opendp/deployments-registry-data, July 2026', 'deployments',
			coalesce(jsonb_agg(_racepriv._race_label(r.name, r.version) - 'text'::text ORDER BY r.name COLLATE "C", r.version), '[]'))
		FROM _racepriv.race_releases r
		-- of a series its latest value
		WHERE r.part = 1 AND (r.during IS NULL OR NOT EXISTS (
			SELECT FROM _racepriv.race_releases n WHERE n.name = r.name AND n.version > r.version)));
END $$;
COMMENT ON FUNCTION _racepriv._race_registry() IS 'the body of race_registry';

CREATE FUNCTION @extschema@.race_registry() RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C STABLE PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION @extschema@.race_registry() IS
	'the labels of all releases that the caller may see, without their texts, in one document; of a series that of its latest value';
