-- ------------------------------------------------------------------------
-- Releases by name: the latest version that the caller may see

CREATE FUNCTION @extschema@.race_released(name text, label text DEFAULT NULL) RETURNS race_sketch
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION @extschema@.race_released(text, text) IS
	'the latest version of a release, or of one of its labels: a sketch for all functions that take one. Errors: 42704 for no such release or label, 22023';

CREATE FUNCTION _racepriv._race_released(name text, label text DEFAULT NULL) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_released' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _racepriv._race_released(text, text) IS 'race_released, for bodies of functions';

CREATE VIEW @extschema@.race_latest_releases AS
SELECT r.name, r.version, r.label, r.sketch, r.dataset,
	pg_catalog.round(GREATEST(n.count, 0::float8))::bigint AS count, i.epsilon, i.delta, r.released_at, r.scores
FROM _racepriv.race_releases r CROSS JOIN LATERAL race_info(r.sketch) i CROSS JOIN LATERAL _racepriv._race_records(r.sketch) n
WHERE r.version = (SELECT pg_catalog.max(n.version) FROM _racepriv.race_releases n WHERE n.name = r.name);
COMMENT ON VIEW @extschema@.race_latest_releases IS
	'the latest version of each release: a row for each label, or one row. count is the noisy number of records, epsilon and delta are the true cost of this sketch';
COMMENT ON COLUMN @extschema@.race_latest_releases.name IS 'the name of the release';
COMMENT ON COLUMN @extschema@.race_latest_releases.version IS 'its latest version';
COMMENT ON COLUMN @extschema@.race_latest_releases.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN @extschema@.race_latest_releases.sketch IS 'the private sketch: a large value, so name the columns that you want to see';
COMMENT ON COLUMN @extschema@.race_latest_releases.scores IS 'of a release that is calibrated, the private sketch of the scores of this label, which costs epsilon of its own; NULL in others';
COMMENT ON COLUMN @extschema@.race_latest_releases.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN @extschema@.race_latest_releases.count IS 'the noisy number of records of this row, as race_count, rounded';
COMMENT ON COLUMN @extschema@.race_latest_releases.epsilon IS 'the true epsilon of the sketch';
COMMENT ON COLUMN @extschema@.race_latest_releases.delta IS 'its delta';
COMMENT ON COLUMN @extschema@.race_latest_releases.released_at IS 'when it was charged, before its data were read';

-- The view shows what its user may see, where PostgreSQL can say so: from 15 on.
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW @extschema@.race_latest_releases SET (security_invoker = true);
	END IF;
END $$;
