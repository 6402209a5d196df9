-- dependence of three columns that nobody names: c12 is the parity of c1 and c2, and no pair depends on each other
CREATE TABLE coins AS
SELECT i AS id, i & 1 = 1 AS c1, i & 2 > 0 AS c2, i & 4 > 0 AS c3, i & 8 > 0 AS c4, i & 16 > 0 AS c5, i & 32 > 0 AS c6,
	i & 64 > 0 AS c7, i & 128 > 0 AS c8, (i & 1 = 1) <> (i & 2 > 0) AS c12,
	(i * 0.61803398875) % 1 * 100 AS x, ((i * 0.61803398875) % 1 + (i * 0.41421356237) % 1) * 50 AS y
FROM generate_series(0, 16383) i;
ALTER TABLE coins ADD PRIMARY KEY (id), ADD CHECK (x BETWEEN 0 AND 100), ADD CHECK (y BETWEEN 0 AND 100);
DO $$
BEGIN
	FOR k IN 1 .. 9 LOOP
		EXECUTE format('ALTER TABLE coins ALTER c%s SET NOT NULL', CASE k WHEN 9 THEN 12 ELSE k END);
	END LOOP;
END $$;
CALL race_protect('coins', epsilon_limit => 1e6, delta_limit => 0.1, unit_column => 'id', max_contributions => 1);
-- 84 sets of three among 9 columns; with too few records for ε none would be found, so none is looked for
SELECT records, expected, unit
FROM unnest('{16384,100}'::bigint[]) records,
	race_plan('coins', '{c1,c2,c3,c4,c5,c6,c7,c8,c12}', 2, records => records)
WHERE question = 'sets of three columns that are looked at' ORDER BY records;
CALL race_release('coins', 'coins', '{c1,c2,c3,c4,c5,c6,c7,c8,c12}', 2);
CALL race_release('coins by delta', 'coins', '{c1,c2,c3,c4,c5,c6,c7,c8,c12}', 2, 1e-6);
CALL race_release('coins with label', 'coins', '{c1,c2,c3,c4,c5,c6,c7,c8,c12}', 2, label => 'c12');
-- with numbers that have signs, too
CALL race_release('coins and numbers', 'coins', '{c1,c2,x,y,c12}', 2, 1e-6);
SELECT race_params(_racepriv._race_released('coins and numbers'))::text ~ 'signs=' AS signs;
-- noise leaves the parity to 95 % of rows, or more: a count would have to be off by 60 deviations
SELECT release, parity.share > 0.95 AS parity, abs(m.count) < 400 AS none, m.source,
	abs(n.count - 4096) < 400 AS all, n.source
FROM unnest('{coins,coins by delta,coins with label,coins and numbers}'::text[]) release,
	LATERAL (SELECT avg(((c1 <> c2) = c12)::int) FROM race_synthesize(NULL::coins, release, 5000)) parity (share),
	race_count(release, '{"c1": true, "c2": true, "c12": true}') m,
	race_count(release, '{"c1": true, "c2": false, "c12": true}') n
ORDER BY release COLLATE "C";
-- a parity that is not there: of other columns rows have both, and no table of three is measured
SELECT abs(avg(((c3 <> c4) = c5)::int) - 0.5) < 0.1 AS no_parity FROM race_synthesize(NULL::coins, 'coins', 5000);
DROP TABLE coins;
