-- ------------------------------------------------------------------------
-- A name that ends with a range of time stands for this period of a series

CREATE FUNCTION _racepriv._race_period(
	release text, OUT name text, OUT "values" int, OUT levels int, OUT first int, OUT after int)
	RETURNS record LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' AS $$
DECLARE
	form CONSTANT text := '^(.*?) *([[][^][(),]*,[^][(),]*[])])$';	-- without backslashes, which standard_conforming_strings changes
	period tsrange := '(,)';
	closed tsrange;
	length interval;
BEGIN
	name := release;
	IF release ~ form AND NOT EXISTS (SELECT FROM _racepriv.race_releases r WHERE r.name = release)
		AND EXISTS (SELECT FROM _racepriv.race_releases r WHERE r.name = (regexp_match(release, form))[1])
	THEN
		name := (regexp_match(release, form))[1];
		period := (regexp_match(release, form))[2];
	END IF;
	SELECT r.version INTO "values" FROM _racepriv.race_releases r
	WHERE r.name = _race_period.name AND r.during IS NOT NULL ORDER BY r.version DESC LIMIT 1;
	IF "values" IS NULL AND name <> release THEN
		RAISE EXCEPTION 'release "%" is no series', left(name, 64) USING ERRCODE = 'invalid_parameter_value';
	ELSIF "values" IS NULL THEN
		RETURN;
	END IF;
	SELECT max(c.n) INTO levels FROM (SELECT count(*) FROM _racepriv.race_releases r
		WHERE r.name = _race_period.name AND r.part = 1 GROUP BY upper(r.during)) c (n);
	-- the shortest value that begins at a time is one interval
	SELECT tsrange(min(l.low), max(l.high)), min(l.high) - min(l.low),
		count(*) FILTER (WHERE l.low < lower(period)), count(*) FILTER (WHERE upper_inf(period) OR l.high <= upper(period))
	INTO closed, length, first, after
	FROM (SELECT lower(r.during), min(upper(r.during)) FROM _racepriv.race_releases r
		WHERE r.name = _race_period.name AND r.part = 1 GROUP BY 1) l (low, high);
	IF isempty(period) OR upper_inc(period) OR first >= after
		OR lower(period) > lower(closed) AND NOT EXISTS (
			SELECT FROM _racepriv.race_releases r WHERE r.name = _race_period.name AND lower(r.during) = lower(period))
		OR NOT upper_inf(period) AND NOT EXISTS (
			SELECT FROM _racepriv.race_releases r WHERE r.name = _race_period.name AND upper(r.during) = upper(period))
	THEN
		RAISE EXCEPTION 'the period is not made of intervals of series "%" that are closed', left(name, 64) USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Closed is %s, in intervals of %s.', closed, length),
			HINT = 'A period is written [from,to), without the time to; [,to) is from the beginning on, and [from,) up to the last interval that is closed.';
	END IF;
END $$;
COMMENT ON FUNCTION _racepriv._race_period(text) IS
	'what the name of a release stands for: of a series its values, their lengths, the first interval of the period, from 0 on, and the one after it; else the name alone. Errors: 22023, 22007';
