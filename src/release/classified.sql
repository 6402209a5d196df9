-- ------------------------------------------------------------------------
-- Which label of a release is a query from?

CREATE FUNCTION race_classify(name text, q "any") RETURNS text
	AS 'MODULE_PATHNAME', 'race_classify_released' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_classify(text, "any") IS
	'the label that q is most likely from, by the latest version of a release with labels. Of a release that is calibrated, the label with most records of this score; of others, the label with the highest density (maximum likelihood). Errors: 42704 if there is no such release, 22023 unless it has a sketch for each label, and others as in race_kde';

CREATE FUNCTION race_posterior(name text, q "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_released' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_posterior(text, "any") IS
	'the probability of each label given q, as {label: probability}, by the latest version of a release with labels. Of a release that is calibrated, the shares of labels among the records of this score; of others, densities over their sum. Errors as in race_classify';
