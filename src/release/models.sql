-- ------------------------------------------------------------------------
-- Scores of the records of a release that is calibrated

CREATE FUNCTION _racepriv._race_score_of(sketches race_sketch[], q "any") RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_score_of(race_sketch[], "any") IS
	'the score of q by classes in the order of a constant array, with prior counts: 2 times the number of the likeliest pair of classes, and from 0 to 1 how far the second is ahead';
