-- The picture of the densities that density.sql made, as SVG: the first release of each
-- kind, over the exact density.
CREATE FUNCTION pg_temp.path(wanted text, wanted_epsilon float8) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('%s %s', round((56 + q / 96.0 * 420)::numeric, 1), round((250 - density * 1000)::numeric, 1)), 'L' ORDER BY q)
	FROM answers WHERE name = wanted AND epsilon IS NOT DISTINCT FROM wanted_epsilon AND nth = 1
$$;

CREATE FUNCTION pg_temp.curve(wanted text, wanted_epsilon float8, color text) RETURNS text LANGUAGE sql AS $$
	SELECT format('<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>', pg_temp.path(wanted, wanted_epsilon), color)
$$;

CREATE FUNCTION pg_temp.key(nth int, color text, what text) RETURNS text LANGUAGE sql AS $$
	SELECT format('<rect x="246" y="%s" width="18" height="4" fill="%s"/><text x="270" y="%s">%s</text>',
		36 + 17 * nth, color, 41 + 17 * nth, what)
$$;

SELECT '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 300" width="500" height="300" font-family="sans-serif" font-size="11" fill="#333">';
SELECT '<rect width="100%" height="100%" fill="#fff"/>';
SELECT '<text x="56" y="20" font-weight="bold" font-size="13">Ages of 50,000 visitors (made up)</text>';
SELECT format('<path d="M56 %s H476" stroke="#e4e4e4"/><text x="50" y="%s" text-anchor="end">%s</text>', 250 - y * 1000, 254 - y * 1000, y)
FROM unnest(ARRAY[0, 0.05, 0.1, 0.15]) y;
SELECT format('<text x="%s" y="266" text-anchor="middle">%s</text>', 56 + q / 96.0 * 420, q) FROM generate_series(0, 96, 16) q;
SELECT '<text x="266" y="286" text-anchor="middle">age; density with a bandwidth of 3 years</text>';
SELECT format('<path d="M56 250L%sL476 250Z" fill="#d5dbe1"/>', pg_temp.path('exact', NULL));
SELECT pg_temp.curve('racepriv, delta = 0', 0.1, '#b3410c');
SELECT pg_temp.curve('racepriv, delta = 1e-6, 4096 rows', 0.1, '#12805c');
SELECT pg_temp.key(0, '#d5dbe1', 'exact');
SELECT pg_temp.key(1, '#b3410c', 'private, ε = 0.1');
SELECT pg_temp.key(2, '#12805c', 'private, ε = 0.1, δ = 10⁻⁶, 4096 rows');
SELECT '</svg>';
