-- ------------------------------------------------------------------------
-- Which label of a release is a query from?

CREATE FUNCTION @extschema@.race_classify(name text, q "any") RETURNS text
	AS 'MODULE_PATHNAME', 'race_classify_name' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION @extschema@.race_classify(text, "any") IS
	'the label that q is most likely from, by the latest version of a release with labels; of columns, q is a JSON object. Errors: 42704 for no such release, 22023 unless it has labels, others as in race_kde';

CREATE FUNCTION @extschema@.race_posterior(name text, q "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION @extschema@.race_posterior(text, "any") IS
	'the probability of each label given q, as {label: probability}, by the latest version of a release with labels. q and errors as in race_classify';
