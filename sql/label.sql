-- the label of a release: what a reviewer signs
\set SHOW_CONTEXT never
\set VERBOSITY default
SET client_min_messages = warning;
CREATE TABLE labelled_visits (person int NOT NULL, age int CHECK (age BETWEEN 0 AND 119), town text, day date,
	pay float8);
INSERT INTO labelled_visits
SELECT i / 2, i % 120, CASE WHEN i % 3 = 0 THEN 'Rome' ELSE 'Paris' END, '2026-01-01'::date + i % 50, i % 90
FROM generate_series(1, 2000) i;
CALL race_protect('labelled_visits', epsilon_limit => 10, delta_limit => 1e-6, unit_column => 'person',
	max_contributions => 2);
CALL race_describe('labelled_visits', 'pay', 0, 100, unit => 'euro');
CALL race_release('first label', 'labelled_visits', '{age,pay}', 0.5, description => 'ages and pay');
CALL race_release('second label', 'labelled_visits', '{age,town}', 2, 1e-7);
CALL race_release_next('first label');
CALL race_release_sketch('label of a grid', 'labelled_visits', 'l2(dims=1, bandwidth=5, lower={0}, upper={119})',
	'ARRAY[age]', 1, label => 'town', labels => '{Paris,Rome}');
-- one screen; the commit depends on the build, and the time on the clock
CREATE FUNCTION label_text(release text, version int DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(race_label(release, version)->>'text',
		'(library     racepriv [0-9.]+) \((?:unknown|[0-9a-f]{12}(?:-dirty)?)\)', '\1 (commit)'),
		'made        .* UTC', 'made        UTC')
$$;
\t
\pset format unaligned
SELECT label_text('first label');
SELECT label_text('first label', 1);
SELECT label_text('second label');
SELECT label_text('label of a grid');
\pset format aligned
\t
SELECT max(length(l)) <= 160 AS narrow, count(*) <= 24 AS one_screen
FROM regexp_split_to_table(label_text('second label'), '\n') l;
-- fields of the registry, and what it wants them to be
SELECT key,
	(SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(value) k) AS fields
FROM jsonb_each(race_label('second label')->'deployment') ORDER BY 1 \gx
SELECT l->'deployment'->'dp_variant'->>'variant_name' AS variant,
	l->'deployment'->'privacy_loss'->>'privacy_unit' AS unit,
	(
		SELECT string_agg(format('%s %s', key, trim_scale(round(value::numeric, 9))), ', ' ORDER BY key)
		FROM jsonb_each_text(l->'deployment'->'privacy_loss'->'privacy_parameters')
	) AS parameters,
	l->>'url_slug' AS slug,
	jsonb_pretty(l->'racepriv'->'columns') AS columns,
	l->'deployment'->'basic'->>'publication_date' = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today
FROM (VALUES ('first label'), ('second label'), ('label of a grid')) r (name), LATERAL race_label(r.name) l \gx
-- what all releases of the same people cost together is what the budget says
SELECT (l->'racepriv'->'budget'->>'spent_epsilon')::numeric = b.spent_epsilon AS epsilon,
	(l->'racepriv'->'budget'->>'charges')::int = b.charges AS charges
FROM race_label('label of a grid') l, race_budget_status b WHERE b.budget = 'labelled_visits';
-- all in one document
SELECT d->'racepriv'->>'release' AS release, d->'racepriv'->>'version' AS version, d ? 'text' AS text
FROM jsonb_array_elements(race_registry()->'deployments') d WHERE d->'racepriv'->>'dataset' = 'labelled_visits';
-- the library that drew the noise
SELECT DISTINCT provenance->>'library' ~ '^0\.3\.0 \((unknown|[0-9a-f]{12}(-dirty)?)\)$' AS library
FROM _racepriv.race_releases WHERE part = 1 AND dataset = 'labelled_visits';
SELECT count(*) AS other_parts
FROM _racepriv.race_releases WHERE part > 1 AND dataset = 'labelled_visits' AND provenance IS NOT NULL;
-- series, zCDP, and rows that are units
CREATE TABLE labelled_days (day date NOT NULL, age int CHECK (age BETWEEN 0 AND 119));
INSERT INTO labelled_days SELECT current_date - 3 + i % 3, i % 120 FROM generate_series(1, 900) i;
CALL race_protect('labelled_days', epsilon_limit => 10, delta_limit => 1e-6, accounting => 'zcdp');
SELECT format($$CALL race_release('days label', 'labelled_days', '{age}', 1, 1e-7,
		series => '{"by": "day", "every": "1 day", "starting": "%s", "until": "%s"}')$$,
	to_char(current_date - 3, 'YYYY-MM-DD'), to_char(current_date + 30, 'YYYY-MM-DD')) AS call \gset
:call;
CALL race_release_next('days label');
SELECT l->'deployment'->'dp_variant'->>'variant_name' AS variant,
	l->'deployment'->'privacy_loss'->>'privacy_unit' AS unit,
	l->'deployment'->'deployment_model'->>'release_type' AS type,
	l->'deployment'->'deployment_model'->>'data_source_type' AS source,
	jsonb_pretty(l->'racepriv'->'caveats') AS caveats
FROM race_label('days label') l \gx
SELECT count(*) AS of_series
FROM jsonb_array_elements(race_registry()->'deployments') d WHERE d->'racepriv'->>'release' = 'days label';
-- weights
CALL race_release('weighted label', 'labelled_visits', '{age}', 1, weight => 'pay', weight_max => 20);
\t
\pset format unaligned
SELECT label_text('weighted label');
\pset format aligned
\t
\pset format unaligned
SELECT l->'deployment'->'privacy_loss'->>'privacy_unit_details' AS details,
	l->'racepriv'->'weight' AS weight,
	l->'racepriv'->'weight_max' AS weight_max,
	c.weight,
	c.weight_max
FROM race_label('weighted label') l, race_catalog c WHERE c.name = 'weighted label' \gx
\pset format aligned
-- errors
SELECT race_label(NULL) IS NULL AS nothing;
SELECT race_label('first lable');
SELECT race_label('first label', 7);
-- an analyst sees labels by the right to see releases, without the ledger
CREATE ROLE regress_label_reader;
SET ROLE regress_label_reader;
SELECT race_label('first label');
RESET ROLE;
CALL race_grant('regress_label_reader', 'analyst');
SET ROLE regress_label_reader;
SELECT race_label('first label')->'deployment'->'privacy_loss'->>'privacy_unit' AS unit,
	jsonb_array_length(race_registry()->'deployments') > 3 AS all_releases;
SELECT count(*) FROM _racepriv.race_charges;
RESET ROLE;
-- a release that was made before 0.3.0, or was copied without its provenance
CREATE TABLE copied_releases AS SELECT * FROM _racepriv.race_releases WHERE name = 'second label';
INSERT INTO _racepriv.race_releases
SELECT 'third label', version, part, label, sketch, 'another_dataset', gen_random_uuid(), released_at,
	description, columns, units, scores
FROM copied_releases;
\t
SELECT regexp_replace(regexp_replace(label_text('third label'), 'rho [0-9.]+', 'rho R'), 'epsilon 0\.[0-9]+',
	'epsilon E');
\t
-- bounds of dates are dates
CALL race_describe('labelled_visits', 'day', '2026-01-01'::date, '2026-12-31'::date);
CALL race_release('label of days', 'labelled_visits', '{day,age}', 1);
SELECT substring(race_label('label of days')->>'text' FROM 'column      day[^\n]*');
DROP OWNED BY regress_label_reader;
DROP ROLE regress_label_reader;
DROP TABLE labelled_visits, labelled_days, copied_releases;
DROP FUNCTION label_text;
