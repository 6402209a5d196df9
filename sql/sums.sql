-- Sums of columns: measured by ends, which the workload may ask for; of events, groups and measures
SET client_min_messages = warning;
CREATE TABLE sums_bills (id int PRIMARY KEY, amount float8 CHECK (amount BETWEEN 0 AND 100),
	tip int NOT NULL CHECK (tip BETWEEN -20 AND 20),
	town text NOT NULL CHECK (town IN ('Paris', 'Rome')),
	day date NOT NULL CHECK (day BETWEEN '2026-01-01' AND '2026-12-31'),
	stay interval NOT NULL CHECK (stay BETWEEN '0' AND '10 hours'), open boolean NOT NULL);
INSERT INTO sums_bills SELECT i, CASE WHEN i % 10 > 0 THEN i * 7919 % 251 * 100 / 256.0 + 0.2 END, i % 41 - 20,
	CASE WHEN i % 4 = 0 THEN 'Paris' ELSE 'Rome' END, '2026-01-01'::date + i % 365,
	i % 600 * interval '1 minute', i % 3 = 0
FROM generate_series(1, 20000) i;
CALL race_protect('sums_bills', epsilon_limit => 10000);

-- which columns have ends: of many cells, or those whose sum is asked for
CALL race_release('sums amount', 'sums_bills', '{amount}', epsilon => 1);
CALL race_release('sums tip', 'sums_bills', '{tip}', epsilon => 1);
CALL race_release('sums asked', 'sums_bills', '{tip}', epsilon => 1, workload => '{sum(tip)}');
CALL race_release('sums precise', 'sums_bills', '{amount}', epsilon => 20);
SELECT name, race_params(race_released(name))::text ~ 'ends=' AS ends
FROM unnest('{sums amount,sums tip,sums asked,sums precise}'::text[]) name;

-- sums of all, of events and of groups
CALL race_release('sums', 'sums_bills', '{amount,tip,town,stay,open}', epsilon => 1000,
	workload => '{amount*town,tip*town,sum(amount)}');
SELECT abs(s.sum - t.sum) < 20000 AS near, t.sum BETWEEN s.lower AND s.upper AS within,
	round(s.count / 1000) AS count, source
FROM race_sum('sums', 'amount') s, (SELECT sum(amount) FROM sums_bills) t;
SELECT value1, round(s.sum / 100000) = round(t.sum / 100000) AS near,
	t.sum BETWEEN s.lower AND s.upper AS within, source
FROM race_sum('sums', 'amount', by => 'town') s
	JOIN (SELECT town, sum(amount) FROM sums_bills GROUP BY 1) t ON t.town = value1 ORDER BY 1;
SELECT round(sum / 10000) AS sum, source FROM race_sum('sums', 'tip', "where" => '{"tip": "[0,)"}');
SELECT round(sum / 86400 / 1000) AS thousand_days, source FROM race_sum('sums', 'stay');
SELECT round(sum / 1000) AS thousands, source FROM race_sum('sums', 'open');

-- a measure's sums by values
CALL race_release('sums measure', 'sums_bills', '{town}', epsilon => 1000, measure => 'amount');
SELECT value1, round(s.sum / 1000) = round(t.sum / 1000) AS near, source
FROM race_sum('sums measure', 'amount', by => 'town') s
	JOIN (SELECT town, sum(amount) FROM sums_bills GROUP BY 1) t ON t.town = value1 ORDER BY 1;

-- plans have them
SELECT question FROM race_plan('sums_bills', '{tip,day,town}', epsilon => 1) WHERE question LIKE 'sum%';
SELECT (SELECT expected FROM race_plan('sums_bills', '{tip}', epsilon => 1, workload => '{sum(tip)}')
	WHERE question LIKE 'sum%') <
	(SELECT expected FROM race_plan('sums_bills', '{tip}', epsilon => 1) WHERE question LIKE 'sum%') * 0.8 AS smaller;

-- what has no sum, and what cannot be asked for
CALL race_release('sums days', 'sums_bills', '{day,town}', epsilon => 1);
SELECT * FROM race_sum('sums days', 'day');
SELECT * FROM race_sum('sums days', 'town');
SELECT * FROM race_sum('sums days', 'tip');
CALL race_release('sums wrong', 'sums_bills', '{tip,town}', epsilon => 1, workload => '{sum(town)}');
CALL race_release('sums wrong', 'sums_bills', '{tip,town}', epsilon => 1, workload => '{sum(amount)}');
CALL race_release('sums wrong', 'sums_bills', '{tip,town}', epsilon => 1, workload => '{sum(tip}');
CALL race_release('sums wrong', 'sums_bills', '{tip}', epsilon => 1, measure => 'amount', workload => '{sum(tip)}');
DROP TABLE sums_bills;
