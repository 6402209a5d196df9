-- A picture of three answers of one release, as SVG: each has its 95 % interval, beside the truth of the made-up table.
SET client_min_messages = error;
CREATE TABLE visits (person int NOT NULL, site text CHECK (site IN ('north', 'south', 'island')), age int CHECK (age BETWEEN 0 AND 99),
	pressure float8 CHECK (pressure BETWEEN 60 AND 220));
INSERT INTO visits SELECT i, CASE WHEN i % 20 = 0 THEN 'island' WHEN i % 3 = 0 THEN 'south' ELSE 'north' END, 40 + 20 * sin(i) + 5 * (i % 3),
	115 + 9 * cos(i * 0.7) + 0.2 * (40 + 20 * sin(i)) + 4 * (i % 3) FROM generate_series(1, 2000) i;
CALL race_protect('visits', epsilon_limit => 1, unit_column => 'person', max_contributions => 1);
CALL race_release('visits', 'visits', '{site,age,pressure}', epsilon => 1);

-- answers: the number of the panel, the place in it, its label, and the height of the answer, its interval and the truth
CREATE TEMP TABLE bars (panel int, place int, label text, answer float8, low float8, high float8, truth float8);
INSERT INTO bars SELECT 0, n, h.low::int || '–', count, lower, upper, (SELECT count(*) FROM visits WHERE age >= 10 * n + 10 AND age < 10 * n + 20)
FROM (SELECT row_number() OVER (ORDER BY low) - 1 AS n, * FROM race_histogram('visits', 'age', '{10,20,30,40,50,60,70,80}')) h;
INSERT INTO bars SELECT 1, row_number() OVER (ORDER BY value1) - 1, value1, mean, lower, upper, (SELECT avg(pressure) FROM visits WHERE site = value1)
FROM race_mean('visits', 'pressure', by => 'site') WHERE value1 IS NOT NULL;
INSERT INTO bars SELECT 2, row_number() OVER (ORDER BY p) - 1, p::text, value, lower, upper, (SELECT percentile_cont(p) WITHIN GROUP (ORDER BY age) FROM visits)
FROM race_quantiles('visits', 'age', p => '{0.1,0.25,0.5,0.75,0.9}');

CREATE TEMP TABLE panels AS SELECT *, 190 / top AS scale FROM (VALUES (0, 46, 34, 'race_histogram: persons by age', 600.0), (1, 350, 48, 'race_mean: pressure by site', 160.0),
	(2, 560, 34, 'race_quantiles: age', 80.0)) p (panel, x, width, title, top);
SELECT '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 280" width="760" height="280" font-family="sans-serif" font-size="11" fill="#333"><rect width="100%" height="100%" fill="#fff"/>';
SELECT format('<text x="%s" y="18" font-weight="bold" font-size="12">%s</text><path d="M%1$s 230 h%s" stroke="#999"/>', x, title, width * (SELECT count(*) FROM bars b WHERE b.panel = p.panel)) FROM panels p;
SELECT format('<rect x="%s" y="%s" width="%s" height="%s" fill="#b9cfe4"/><path d="M%s %s V%s" stroke="#b3410c" stroke-width="2"/><path d="M%s %s h%s" stroke="#000"/><text x="%s" y="246" text-anchor="middle">%s</text>',
	x + width * place + 4, round((230 - answer * scale)::numeric, 1), width - 8, round((answer * scale)::numeric, 1),
	x + width * place + width / 2, round((230 - greatest(low, 0) * scale)::numeric, 1), round((230 - least(high, top) * scale)::numeric, 1),
	x + width * place + 6, round((230 - truth * scale)::numeric, 1), width - 12, x + width * place + width / 2, label)
FROM bars JOIN panels USING (panel) ORDER BY panel, place;
SELECT '<text x="46" y="270">2,000 made-up persons, one release at ε = 1: bars are answers, lines 95 % intervals, black marks the truth.</text></svg>';
