-- Noise shares: each party adds its part, and enough parts together are private

SET client_min_messages = warning;
-- which of two errors comes first must not depend on the plan
SET max_parallel_workers_per_gather = 0;
CREATE TABLE hospitals AS
SELECT party, race_build('l2(dims=1, rows=64, range=64)', ARRAY[i % 100]) AS exact
FROM generate_series(1, 5) party, generate_series(1, 1000) i GROUP BY party;
CREATE TABLE shares AS
SELECT party, race_share(exact, 1, 1e-6, parties => 5, colluders => 1, dropouts => 1) AS s FROM hospitals;

-- what one of them is: half the noise, and nothing to be asked
SELECT status, count, mechanism, delta, max_contributions, i.merged, epsilon BETWEEN 0.99 AND 1 AS cost
FROM shares, race_info(s) i WHERE party = 1;
SELECT round((c.counter_noise_stddev ^ 2 / 2 / i.counter_noise_stddev ^ 2)::numeric, 2) AS "shares needed"
FROM shares, race_info(s) i, race_privacy_cost('l2(dims=1, rows=64, range=64)', 1, 1e-6, neighbors => 'substitute') c
WHERE party = 1;
SELECT race_count(s) FROM shares WHERE party = 1;
SELECT race_kde(s, '{5}') FROM shares WHERE party = 1;
SELECT race_estimate(s, '{5}') FROM shares WHERE party = 1;
SELECT race_kde_grid(s, '{5}', '{6}', '{2}') FROM shares WHERE party = 1;
SELECT race_classify(party, s, '{5}') FROM shares;
SELECT race_classify(party, s, '{5}') FROM shares;
SELECT race_privatize(s, 1) FROM shares WHERE party = 1;
SELECT race_share(s, 1, 1e-6, 5) FROM shares WHERE party = 1;
SELECT race_add(s, '{5}') FROM shares WHERE party = 1;
SELECT s - s FROM shares WHERE party = 1;

-- too few, enough, all
SELECT race_count(race_merge(s)) FROM shares WHERE party <= 3;
CREATE TABLE merged AS
SELECT n, race_merge(s) AS s FROM generate_series(1, 5) n JOIN shares ON party <= n GROUP BY n;
SELECT n, status, i.merged, count IS NOT NULL AS asked, abs(count - n * 1000) < 300 AS near,
	epsilon <= 1 AS affordable, epsilon < lag(epsilon) OVER (ORDER BY n) AS cheaper
FROM merged m, race_info(s) i ORDER BY n;
-- noise of 6.1 records in all, the false alarm of 60 is 1e-22
SELECT n, abs(race_kernel_sum(s, '{50}') - n * race_kernel_sum(exact, '{50}')) < 60 AS near
FROM merged, hospitals WHERE n >= 4 AND party = 1 ORDER BY n;
SELECT (SELECT s::text FROM merged WHERE n = 4) = (
		SELECT race_merge(s ORDER BY party DESC)::text FROM shares WHERE party <= 4
	) AS "in any order",
	(SELECT s::text::race_sketch::text = s::text FROM merged WHERE n = 4) AS stored;

-- none twice, and only what belongs together
SELECT s + s FROM shares WHERE party = 1;
SELECT merged.s + shares.s FROM merged, shares WHERE n = 3 AND party = 2;
SELECT race_merge(s) FROM (SELECT s FROM shares UNION ALL SELECT s FROM shares WHERE party = 1) v;
SELECT s + exact FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT s + race_privatize(exact, 1, 1e-6) FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT race_merge_disjoint(s) FROM shares;
SELECT s + race_share(exact, 1, 1e-6, 5) FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT s + race_share(exact, 2, 1e-6, 5, 1, 1) FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT s + race_share(exact, 1, 1e-7, 5, 1, 1) FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT s + race_share(exact, 1, 1e-6, 5, 1, 1, max_contributions => 2)
FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT s + race_share(exact, 1, 1e-6, 5, 1, 1, rows => 32)
FROM shares, hospitals WHERE shares.party = 1 AND hospitals.party = 2;
SELECT race_merge(race_share(exact, 1, 1e-6, 2, 0)) FROM hospitals;

-- rows: all, or as many as are asked for
SELECT rows FROM hospitals, race_info(race_share(exact, 1, 1e-6, 5, rows => 32)) WHERE party = 1;
-- in a window every frame is made anew
SELECT party, status
FROM (SELECT party, race_merge(s) OVER (ORDER BY party ROWS 3 PRECEDING) AS s FROM shares) v, race_info(s)
ORDER BY party;

-- limits
SELECT race_share(exact, 1, 0, 5) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1, 1e-6, 0) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1, 1e-6, 5, 3, 2) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1, 1e-6, 5, -1) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1, 1e-6, 10001) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1e-9, 1e-6, 5, max_contributions => 2147483647) FROM hospitals WHERE party = 1;
-- the variances of all shares add up exactly, or there are none
SELECT s::text::race_sketch::text = s::text AS stored, merged
FROM (SELECT race_merge(race_share(exact, 1e-4, 1e-6, 7, max_contributions => 100, rows => 1)) AS s
	FROM hospitals, generate_series(1, 7) WHERE party = 1) v, race_info(s);
SELECT race_share(exact, 1e-4, 1e-6, 7, max_contributions => 2000, rows => 1) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1, 1e-6, 5, rows => 3) FROM hospitals WHERE party = 1;
SELECT race_share(exact, 1, 1e-6, NULL), race_share(NULL, 1, 1e-6, 5), race_share(exact, NULL, 1e-6, 5)
FROM hospitals WHERE party = 1;
-- with a delta near 1 epsilon can be 0, for as many shares and for one release
SELECT epsilon FROM (SELECT race_merge(race_share(exact, 1e-6, 0.99999999, 5, 1, 1)) AS s FROM hospitals) v,
	race_info(s::text::race_sketch);
SELECT epsilon FROM hospitals, race_info(race_privatize(exact, 1e-6, 0.99999999)::text::race_sketch) WHERE party = 1;
-- shares that claim to cost different things, of which one lies: both orders are one sum
SELECT merged, epsilon, rho, (a + b)::text = (b + a)::text AS same
FROM (VALUES
	('AwEBAgEAAAABAAAAAQAAAAAAAAAAAAAAAAAAAAAA8D+N7bWg98awPgAAAAAAAMA/AAAAAAAAEEAAAAAAAAAQQAMAAAAAAAAAAAAAAAAAAAADAQECA'
		'QAAAAEAAAABAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAa2MEA='
		::race_sketch,
	'AwEBAgEAAAABAAAAAQAAAAAAAAAAAAAAAAAAAAAAAECN7bWg98awPgAAAAAAAOA/AAAAAAAAEEAAAAAAAAAQQAMAAAAAAAAAAAAAAAAAAAADAQECAQ'
		'AAAAEAAAABAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAAAI2MkQA='
		::race_sketch))
		v (a,
		b), race_info(a + b);
DROP TABLE hospitals, shares, merged;
