-- What a kept sketch says: to questions that need no libm the same bits, to others twelve
-- digits.
SET extra_float_digits = 1;
CREATE FUNCTION answers(s race_sketch, q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	status text := (race_info(s)).status;
	fitted boolean := (race_info(s)).points IS NOT NULL;
	kernels boolean := race_params(s)::text ~ 'grid';
	result text := concat_ws(' ', race_params(s)::text, status);
BEGIN
	IF s::text::race_sketch::text <> s::text THEN
		RETURN 'another text';
	ELSIF status LIKE '%share%' THEN
		RETURN result;
	END IF;
	EXECUTE format('SELECT concat_ws('' '', $1, race_count(s), CASE WHEN $2 THEN left(race_kernel_sum(s, q)::numeric::text, 12) ELSE race_kernel_sum(s, q)::text END,
		left(race_kde(s, q)::numeric::text, 12), CASE WHEN $2 AND (race_info(s)).points IS NOT NULL THEN (SELECT md5(string_agg(p::text, '' '')) FROM race_points(s) p) END)
		FROM (SELECT $3 AS s, %s AS q) v', q)
	INTO result USING result, fitted OR kernels, s;
	RETURN result;
END $$;
