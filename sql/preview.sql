-- race_preview: what a release would look like, on made-up data.  Noise is drawn anew for each
-- call: bounds of errors are a hundred standard errors away.

\set line 'race_params(''l2'', 1, 5, lower => ''{0}'', upper => ''{100}'')'
\set plane 'race_params(''l2'', 2, 5, lower => ''{0,0}'', upper => ''{100,50}'')'
SET client_min_messages = warning;

-- a curve beside the truth, from bound to bound
SELECT count(*), min(x), max(x), bool_and(abs(error) < 0.05) AS near, bool_and(error = density - truth) AS error,
	bool_and(lower < density AND density < upper) AS inside, max(truth) > 0.1 AS something
FROM race_preview(:line, 1);
-- the errors are those of the release that is asked for: more records or epsilon, less error
SELECT avg(stderr) FILTER (WHERE n = 1) > 5 * avg(stderr) FILTER (WHERE n = 2) AS records, avg(stderr) FILTER (WHERE n = 2) > 3 * avg(stderr) FILTER (WHERE n = 3) AS epsilon
FROM (SELECT 1 AS n, * FROM race_preview(:line, 1, records => 1000, fit => false, grid => true)
	UNION ALL SELECT 2, * FROM race_preview(:line, 1, records => 100000, fit => false, grid => true)
	UNION ALL SELECT 3, * FROM race_preview(:line, 100, records => 100000, fit => false, grid => true)) v;
-- labels share the records; delta; another axis; one step is the middle
SELECT label, count(*), min(x), max(x), bool_and(abs(error) < 0.3) AS near FROM race_preview(:plane, 1, 1e-6, 2000, labels => 3, axis => 2, steps => 5, fit => false) GROUP BY 1 ORDER BY 1;
SELECT x FROM race_preview(:plane, 1, steps => 1, fit => false);
-- any number of records
SELECT n, count(*) FILTER (WHERE abs(error) < 0.05) AS near FROM unnest('{1000000,1000000000000,100000000000000}'::bigint[]) n, race_preview(:line, 1, records => n, steps => 4) GROUP BY n ORDER BY n;
SELECT count(*), max(truth) FROM race_preview(:line, 1, records => 0, steps => 3);
SELECT bool_and(truth IN (0, 1) OR truth BETWEEN 0 AND 1) FROM race_preview(:line, 1, records => 1, steps => 3);
-- a mixture, without bounds; public rows
SELECT round(min(x)) BETWEEN -15 AND 5 AS "from", round(max(x)) BETWEEN 15 AND 35 AS "to", bool_and(abs(error) < 0.3) AS near
FROM race_preview(race_params('l1', 2, 4), 5, 1e-6, mixture => '{{1,10,0,3,1},{0,1e9,0,1,1}}');
SELECT x, round(truth::numeric, 3) AS truth, abs(error) < 0.3 AS near
FROM race_preview(race_params('l2', 1, 0.1), 5, 1e-6, public_rows => '{{1},{3}}', steps => 3);
SELECT bool_and(abs(error) < 0.3) AS near FROM race_preview(race_params('angular', 3, power => 2), 5, 1e-6, mixture => '{{1,1,1,1,1,1,1}}');
-- the same seed makes up the same data
SELECT count(DISTINCT truth) FROM (SELECT * FROM race_preview(:line, 1, steps => 1, seed => 7) UNION ALL SELECT * FROM race_preview(:line, 1, steps => 1, seed => 7) UNION ALL SELECT * FROM race_preview(:line, 1, steps => 1, seed => 8)) v;
-- prepared, with plain types
PREPARE p AS SELECT count(*) FROM race_preview($1, $2, $3, $4, steps => $5);
EXECUTE p('l2(dims=1, lower={0}, upper={9})', 1, 0, 100, 3);
-- nothing of nothing
SELECT count(*) FROM race_preview(NULL, 1);
SELECT count(*) FROM race_preview(:line, NULL);

-- what is refused
SELECT * FROM race_preview(:line, 0);
SELECT * FROM race_preview(:line, 'NaN');
SELECT * FROM race_preview(:line, 1, 2);
SELECT * FROM race_preview(:line, 1, records => -1);
SELECT * FROM race_preview(:line, 1, records => 100000000000001);
SELECT * FROM race_preview(:line, 1, rows => 0);
SELECT * FROM race_preview(:line, 1, axis => 2);
SELECT * FROM race_preview(:line, 1, steps => 0);
SELECT * FROM race_preview(:line, 1, labels => 1001);
SELECT * FROM race_preview(:line, 1, max_contributions => 0);
SELECT * FROM race_preview(:line, 1, neighbors => 'all');
SELECT * FROM race_preview(:line, 1, confidence => 1);
SELECT * FROM race_preview(:line, 1, mixture => '{{1,2}}');
SELECT * FROM race_preview(:line, 1, mixture => '{}');
SELECT * FROM race_preview(:line, 1, mixture => '{1,2,3}');
SELECT * FROM race_preview(:line, 1, mixture => '{{-1,2,3}}');
SELECT * FROM race_preview(:line, 1, mixture => '{{1,2,-3}}');
SELECT * FROM race_preview(:line, 1, mixture => '{{0,2,3}}');
SELECT * FROM race_preview(:line, 1, mixture => '{{1,NaN,3}}');
SELECT * FROM race_preview(:line, 1, mixture => '{{1,1e60,3}}');
SELECT * FROM race_preview(:line, 1, public_rows => '{{1},{NULL}}');
SELECT * FROM race_preview(:line, 1, public_rows => '{{1}}', mixture => '{{1,2,3}}');
SELECT * FROM race_preview('l2(dims=1)', 1);
SELECT * FROM race_preview('l2', 1);
SELECT * FROM race_preview('jaccard', 1);
SELECT * FROM race_preview('l2(dims=1) * match(dims=1)', 1);
SELECT * FROM race_preview('l2(dims=1)', 1, grid => true, mixture => '{{1,2,3}}');
SELECT * FROM race_preview('l2(dims=1)', 1, fit => true, mixture => '{{1,2,3}}');
