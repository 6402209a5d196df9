-- What the dashboard shows, from made-up tables of persons to a database of analysts
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION racepriv_release CASCADE;
CREATE ROLE analyst LOGIN;
CREATE ROLE curator LOGIN;
CALL race_grant('analyst', 'analyst');
CALL race_grant('curator', 'curator');

CREATE FUNCTION normal(mean float8, deviation float8) RETURNS float8 LANGUAGE sql VOLATILE AS
	'SELECT mean + deviation * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())';
SELECT setseed(0.5) \g /dev/null

-- Visits of a clinic at three sites
CREATE TYPE site AS ENUM ('north', 'south', 'island');
CREATE TYPE reason AS ENUM ('check-up', 'injury', 'infection', 'chronic');
CREATE TABLE visits (
	person   int NOT NULL,
	site     site NOT NULL,
	reason   reason NOT NULL,
	visited  date NOT NULL CHECK (visited BETWEEN '2026-01-01' AND '2026-12-31'),
	age      int NOT NULL CHECK (age BETWEEN 0 AND 99),
	pressure float8 CHECK (pressure BETWEEN 60 AND 220),
	wait     int NOT NULL,
	smoker   boolean);

-- a quarter's visits, with an outbreak of infections at a site or without
CREATE PROCEDURE visit(quarter int, visits int, outbreak text DEFAULT NULL) LANGUAGE sql AS $$
	INSERT INTO visits
	SELECT quarter * 100000 + i, s.site::site, r.reason::reason, date '2026-01-01' + 91 * (quarter - 1) + i % 91, a.age,
		CASE WHEN i % 12 > 0 THEN least(greatest(normal(104 + 0.45 * a.age + CASE r.reason WHEN 'chronic' THEN 12 ELSE 0 END, 11), 60), 220) END,
		round(CASE r.reason WHEN 'injury' THEN 12 ELSE 25 END * -ln(1 - random()) * CASE s.site WHEN 'island' THEN 2.5 ELSE 1 END),
		CASE WHEN i % 9 > 0 THEN random() < CASE WHEN a.age BETWEEN 18 AND 60 THEN 0.3 WHEN a.age > 60 THEN 0.12 ELSE 0 END END
	FROM generate_series(1, visits) i
		CROSS JOIN LATERAL (SELECT random() AS u, random() AS v WHERE i > 0) w
		CROSS JOIN LATERAL (SELECT CASE WHEN outbreak IS NOT NULL AND w.u < 0.4 THEN outbreak
			WHEN w.u < 0.55 THEN 'north' WHEN w.u < 0.92 THEN 'south' ELSE 'island' END AS site) s
		CROSS JOIN LATERAL (SELECT CASE WHEN outbreak = s.site AND w.v < 0.7 THEN 'infection'
			WHEN w.v < 0.3 THEN 'check-up' WHEN w.v < 0.5 THEN 'injury' WHEN w.v < 0.7 THEN 'infection' ELSE 'chronic' END AS reason) r
		CROSS JOIN LATERAL (SELECT least(abs(round(CASE r.reason WHEN 'chronic' THEN normal(66, 10)
			WHEN 'injury' THEN normal(27, 11) ELSE normal(i % 2 * 34 + 8, 11) END)), 99)::int AS age) a
$$;

-- Households of a city
CREATE TABLE households (
	household int PRIMARY KEY,
	district  text NOT NULL CHECK (district IN ('centre', 'harbour', 'hills', 'new town', 'outskirts')),
	tenure    text NOT NULL CHECK (tenure IN ('owner', 'tenant')),
	persons   int NOT NULL CHECK (persons BETWEEN 1 AND 8),
	income    numeric NOT NULL,
	rooms     int NOT NULL CHECK (rooms BETWEEN 1 AND 10));
INSERT INTO households
SELECT i, d.district, t.tenure, p.persons, round(exp(normal(7.6 + 0.13 * p.persons + d.rich + CASE t.tenure WHEN 'owner' THEN 0.35 ELSE 0 END, 0.45))::numeric, 2),
	least(greatest(round(normal(1.6 + 0.7 * p.persons + CASE t.tenure WHEN 'owner' THEN 1.2 ELSE 0 END, 0.8)), 1), 10)
FROM generate_series(1, 40000) i
	CROSS JOIN LATERAL (SELECT random() AS v, ceil(5 * sqrt(random()))::int AS place, ceil(-2.2 * ln(1 - random()))::int AS persons WHERE i > 0) w
	JOIN (VALUES (1, 'centre', 0.25, 0.3), (2, 'harbour', -0.2, 0.2), (3, 'hills', 0.5, 0.7), (4, 'new town', 0, 0.45), (5, 'outskirts', -0.1, 0.5))
		d (place, district, rich, owners) ON d.place = w.place
	CROSS JOIN LATERAL (SELECT CASE WHEN w.v < d.owners THEN 'owner' ELSE 'tenant' END AS tenure) t
	CROSS JOIN LATERAL (SELECT least(greatest(w.persons, 1), 8) AS persons) p;

CALL race_protect('visits', epsilon_limit => 6, unit_column => 'person', max_contributions => 1);
CALL race_describe('visits', 'wait', lower => 0, upper => 90, unit => 'minutes');
CALL race_describe('visits', 'age', unit => 'years');
CALL race_describe('visits', 'pressure', unit => 'mmHg');
CALL race_protect('households', epsilon_limit => 2, unit_column => 'household', max_contributions => 1);
CALL race_describe('households', 'income', lower => 0, upper => 10000, unit => 'EUR a month');
GRANT SELECT ON visits, households TO curator;

CALL visit(1, 9000);
SET ROLE curator;
CALL race_release('visits', 'visits', '{age,pressure,wait,site,reason,smoker}', epsilon => 1,
	description => 'Visits of a clinic at three sites, made up. A version a quarter.');
CALL race_release('households', 'households', '{income,rooms,persons,district,tenure}', epsilon => 1,
	description => 'Households of a city, made up.');
RESET ROLE;
CALL visit(2, 9000);
SET ROLE curator;
CALL race_release_next('visits');
RESET ROLE;
CALL visit(3, 9000, 'island');
SET ROLE curator;
CALL race_release_next('visits');
RESET ROLE;
CALL visit(4, 9000);
SET ROLE curator;
CALL race_release_next('visits');
CALL race_release('visits by day', 'visits', '{visited,site,reason}', epsilon => 0.5,
	description => 'When patients came, and why: the same visits, made up.');
RESET ROLE;

-- Releases go to another database; charges and data stay where they are.  Their dates are made up, too: a
-- quarter from version to version.
CREATE DATABASE analysis;
\c analysis
SET client_min_messages = warning;
CREATE EXTENSION racepriv_release CASCADE;
CALL race_grant('analyst', 'analyst');
CREATE TEMPORARY TABLE copied (LIKE _racepriv.race_releases);
\copy copied FROM PROGRAM 'psql -Xq -d clinic -c "COPY _racepriv.race_releases TO STDOUT"'
UPDATE copied SET released_at = timestamptz '2027-01-04 08:00' - (CASE name WHEN 'visits' THEN 4 - version ELSE 0 END) * interval '3 months';
INSERT INTO _racepriv.race_releases SELECT * FROM copied;
