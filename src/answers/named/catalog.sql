-- ------------------------------------------------------------------------
-- What releases there are, for tools that show all of whatever they may read: without
-- sketches

CREATE VIEW @extschema@.race_catalog AS
SELECT f.name, f.version, p.labels, f.description,
	coalesce(f.columns, c.numbers) AS columns,
	f.units,
	c.lower, c.upper, p.count, p.epsilon, p.delta, f.released_at, f.dataset, race_domains(f.sketch) AS domains, f.during,
	f.provenance->>'weight'::text AS weight, (f.provenance->>'weight_max'::text)::int AS weight_max,
	f.provenance->>'where'::text AS "where"
FROM _racepriv.race_releases f
CROSS JOIN LATERAL (
	SELECT pg_catalog.array_agg(c.number::text ORDER BY c.number), pg_catalog.array_agg(c.lower ORDER BY c.number),
		pg_catalog.array_agg(c.upper ORDER BY c.number)
	FROM _racepriv._race_columns(f.sketch) c) c (numbers, lower, upper)
CROSS JOIN LATERAL (
	SELECT pg_catalog.array_agg(r.label ORDER BY r.part) FILTER (WHERE r.label IS NOT NULL),
		pg_catalog.round(GREATEST(pg_catalog.sum(n.count), 0::float8))::numeric,
		pg_catalog.max(i.epsilon + coalesce(s.epsilon, 0)), pg_catalog.max(i.delta)
	FROM _racepriv.race_releases r CROSS JOIN LATERAL race_info(r.sketch) i
		CROSS JOIN LATERAL race_info(r.scores) s
		CROSS JOIN LATERAL _racepriv._race_records(r.sketch) n
	WHERE r.name = f.name AND r.version = f.version) p (labels, count, epsilon, delta)
WHERE f.part = 1 AND f.version = (SELECT pg_catalog.max(n.version) FROM _racepriv.race_releases n WHERE n.name = f.name);
COMMENT ON VIEW @extschema@.race_catalog IS
	'a row for each release: what its publisher says of it, and what its latest version is, without the sketch. Tools that read whole rows read this one, not race_releases';
COMMENT ON COLUMN @extschema@.race_catalog.name IS 'the name of the release';
COMMENT ON COLUMN @extschema@.race_catalog.version IS 'its latest version';
COMMENT ON COLUMN @extschema@.race_catalog.labels IS 'its labels; NULL in a release without labels';
COMMENT ON COLUMN @extschema@.race_catalog.description IS 'what the publisher says of it; NULL if nothing';
COMMENT ON COLUMN @extschema@.race_catalog.columns IS 'the names of the columns of a record; their numbers if the publisher gave no names';
COMMENT ON COLUMN @extschema@.race_catalog.units IS 'what the columns are measured in, NULL for what has no unit; NULL if the publisher did not say';
COMMENT ON COLUMN @extschema@.race_catalog.lower IS 'the lower bounds of the columns, NULL where there is none';
COMMENT ON COLUMN @extschema@.race_catalog.upper IS 'the upper bounds, in the same way';
COMMENT ON COLUMN @extschema@.race_catalog.count IS 'the noisy number of records, of all labels together: that of race_count, rounded';
COMMENT ON COLUMN @extschema@.race_catalog.epsilon IS 'the true epsilon of this version';
COMMENT ON COLUMN @extschema@.race_catalog.delta IS 'its delta';
COMMENT ON COLUMN @extschema@.race_catalog.released_at IS 'when it was charged, before its data were read';
COMMENT ON COLUMN @extschema@.race_catalog.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN @extschema@.race_catalog.domains IS 'of a release by columns, the domain of each column; NULL in others';
COMMENT ON COLUMN @extschema@.race_catalog.during IS 'of a series, the time of the records of its latest value, which count is of; NULL in others';
COMMENT ON COLUMN @extschema@.race_catalog.weight IS 'of records with weights, the expression of a weight; then count is the sum of weights. NULL in others';
COMMENT ON COLUMN @extschema@.race_catalog.weight_max IS 'the largest weight, above which weights are cut; NULL in others';
COMMENT ON COLUMN @extschema@.race_catalog."where" IS 'the condition of the rows that are counted; NULL if all are';

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW @extschema@.race_catalog SET (security_invoker = true);
	END IF;
END $$;
