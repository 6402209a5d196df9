-- race_privatize: what it accepts, what it records, what a private sketch may do
SET max_parallel_workers_per_gather = 0;

\set p '''l2(dims=1, bandwidth=1, rows=16, range=32)'''
CREATE TABLE private AS
SELECT e AS epsilon, race_privatize(s, e, rows => 8) AS s, s AS exact
FROM (SELECT race_build(:p, ARRAY[i % 50]) s FROM generate_series(1, 1000) i) v,
     unnest('{0.5,1,100000}'::float8[]) e;

-- the recorded cost is the true one: at most what was asked, and close to it
SELECT t.epsilon AS asked,
	i.rows,
	i.status,
	i.mechanism,
	i.epsilon <= t.epsilon AS within,
	i.epsilon > 0.99 * t.epsilon OR t.epsilon > 1000 AS close,
	i.delta,
	round(i.rho::numeric, 3) AS rho,
	i.max_contributions,
	i.neighbors,
	i.merged,
	round(i.counter_noise_stddev::numeric, 2) AS counter_noise,
	round(i.count_noise_stddev::numeric, 2) AS count_noise
FROM private t, race_info(s) i ORDER BY 1 \gx
SELECT i.epsilon > 2.99 AND i.epsilon <= 3 AS close,
	i.max_contributions,
	i.neighbors,
	round(i.counter_noise_stddev::numeric, 1) AS counter_noise,
	round(i.count_noise_stddev::numeric, 1) AS count_noise
FROM private t, race_info(race_privatize(exact, 3, 0, 16, 4, 'substitute')) i WHERE t.epsilon = 1 \gx

-- at an enormous epsilon there is no noise: the first rows remain, unchanged
SELECT race_count(s) = race_count(exact) AS count,
       (SELECT bool_and(race_kernel_sum(s, ARRAY[q]) = race_kernel_sum(first_rows, ARRAY[q]))
        FROM (SELECT race_build(race_params(private.s), ARRAY[i % 50]) AS first_rows FROM generate_series(1, 1000) i) v,
             generate_series(-10, 60) q) AS counters,
       race_params(s)
FROM private WHERE epsilon = 100000;
-- otherwise no two releases are alike
SELECT a::text <> b::text AS fresh_noise
FROM (SELECT race_privatize(exact, 1, rows => 16) a, race_privatize(exact, 1, rows => 16) b FROM private LIMIT 1) v;
-- noise for no records at all
SELECT (race_info(race_privatize(race_sketch(:p::race_params), 1, rows => 16))).status AS empty_release;

-- arguments
SELECT race_privatize(NULL::race_sketch, 1, rows => 8) IS NULL AS a, race_privatize(exact, NULL, rows => 8) IS NULL AS b
FROM private LIMIT 1;
SELECT race_privatize(exact, 0, rows => 8) FROM private;
SELECT race_privatize(exact, -1, rows => 8) FROM private;
SELECT race_privatize(exact, 'NaN', rows => 8) FROM private;
SELECT race_privatize(exact, 'Infinity', rows => 8) FROM private;
SELECT race_privatize(exact, 1e-9, rows => 16, max_contributions => 2147483647) FROM private;
SELECT race_privatize(exact, 1, rows => 0) FROM private;
SELECT race_privatize(exact, 1, rows => 3) FROM private;
SELECT race_privatize(exact, 1, rows => 32) FROM private;
SELECT race_privatize(exact, 1, rows => 8, max_contributions => 0) FROM private;
SELECT race_privatize(exact, 1, rows => 8, neighbors => 'friends') FROM private;
SELECT race_privatize(exact, 1, 1, 8) FROM private;
SELECT race_privatize(exact, 1, 1e-301, 8) FROM private;
-- all rows may be kept, whatever their number
SELECT (race_info(race_privatize(race_sketch('l2(dims=1, rows=20, range=8)'::race_params), 1, rows => 20))).rows;

-- delta > 0: Gaussian noise, and all rows
SELECT i.mechanism,
	i.rows,
	i.epsilon <= 1 AND i.epsilon > 0.99 AS close,
	i.delta,
	round(i.rho::numeric, 4) AS rho,
	round(i.counter_noise_stddev::numeric, 2) AS counter_noise,
	round(i.count_noise_stddev::numeric, 2) AS count_noise
FROM private t, unnest('{1,3}'::int[]) m, unnest('{add_remove,substitute}'::text[]) n,
	race_info(race_privatize(exact, 1, 1e-6, NULL, m, n)) i WHERE t.epsilon = 1;
-- rows chosen from epsilon and the noisy count: few for few records
SELECT e AS epsilon, i.rows = 1024 AS all, i.rows BETWEEN 32 AND 512 AND i.rows & (i.rows - 1) = 0 AS fewer
FROM (SELECT race_build('l2(dims=1, rows=1024, range=16)', ARRAY[i]) s FROM generate_series(1, 100000) i) v,
     unnest('{0.1,100}'::float8[]) e, race_info(race_privatize(s, e)) i;

-- a private sketch takes no more records and no more noise
SELECT race_privatize(s, 1, rows => 8) FROM private;
SELECT race_add(s, '{1}') FROM private;
SELECT race_remove(s, '{1}') FROM private;
SELECT s - s FROM private;
SELECT _race_build_step(s, race_params(s), '{1}'::int[]) FROM private;
CREATE AGGREGATE add_all(race_params, int[]) (SFUNC = _race_build_step, STYPE = race_sketch);
SELECT race_count(add_all('l2(dims=1)', ARRAY[i])) AS "an aggregate of a user's" FROM generate_series(1, 3) i;
DROP AGGREGATE add_all(race_params, int[]);
SELECT s + exact FROM private;
SELECT exact + s FROM private;
SELECT race_merge(v) FROM (SELECT s AS v FROM private UNION ALL SELECT exact FROM private) t;

-- sums of private sketches: costs and variances add, the fewer rows remain
SELECT i.rows, i.merged, i.epsilon = a.e + b.e OR i.epsilon - (a.e + b.e) BETWEEN 0 AND 1e-15 AS costs_add,
       abs(i.counter_noise_stddev ^ 2 / (a.v + b.v) - 1) < 1e-12 AS variances_add
FROM (SELECT race_privatize(exact, 1, rows => 16) x, s y FROM private t WHERE t.epsilon = 0.5) v,
     LATERAL (SELECT epsilon e, counter_noise_stddev ^ 2 v FROM race_info(x)) a,
     LATERAL (SELECT epsilon e, counter_noise_stddev ^ 2 v FROM race_info(y)) b,
     race_info(x + y) i;
SELECT round(max(i.epsilon)::numeric, 1) AS sum,
	round(max(j.epsilon)::numeric, 1) AS disjoint,
	max(i.merged) AS releases
FROM (SELECT race_merge(s) a, race_merge_disjoint(s) b FROM private t WHERE t.epsilon <= 1) v, race_info(a) i,
	race_info(b) j \gx
SELECT race_privatize(exact, 1, rows => 8) + race_privatize(exact, 1, rows => 8, max_contributions => 2) FROM private;
-- a substituted record that moves between parts costs half of each: not of epsilon and rho
SELECT round((race_info(race_merge_disjoint(s))).epsilon::numeric, 1) AS alike
FROM (
	SELECT race_privatize(exact, 1, d, 8, 1, 'substitute') AS s
	FROM private t, unnest('{0,0}'::float8[]) d WHERE t.epsilon = 1
) v;
SELECT round((race_info(race_merge_disjoint(s))).epsilon::numeric, 1) AS added_or_removed
FROM (SELECT race_privatize(exact, 1, d, 8) AS s FROM private t, unnest('{0,1e-6}'::float8[]) d WHERE t.epsilon = 1) v;
SELECT i.mechanism,
	i.epsilon BETWEEN 0.99 AND 1.00001 AS larger,
	i.delta
FROM (
	SELECT race_merge_disjoint(race_privatize(exact, e, e * 1e-6, 8, 1, 'substitute')) AS s
	FROM private t, unnest('{0.5,1,1}'::float8[]) e WHERE t.epsilon = 1
) v, race_info(s) i \gx
SELECT race_merge_disjoint(s)
FROM (
	SELECT race_privatize(exact, 1, d, 8, 1, 'substitute') AS s
	FROM private t, unnest('{0,1e-6}'::float8[]) d WHERE t.epsilon = 1
) v;
-- both kinds of noise together
SELECT i.mechanism, i.rows, round(i.epsilon::numeric, 1) AS epsilon, i.delta
FROM private t, race_info(race_privatize(exact, 1, 1e-6) + race_privatize(exact, 1, rows => 8)) i WHERE t.epsilon = 1;
DO $$
DECLARE
	s race_sketch := race_privatize(race_sketch('l2(dims=1, rows=1, range=2)'::race_params), 1, rows => 1);
BEGIN
	FOR i IN 1 .. 30 LOOP
		s := s + s;
	END LOOP;
	RAISE NOTICE '% releases, round trip %', (race_info(s)).merged, s::text::race_sketch::text = s::text;
	s := s + s;
END $$;
-- windows over private sketches start anew instead of subtracting noise
SELECT epsilon, (race_info(race_merge(s) OVER (ORDER BY epsilon ROWS 1 PRECEDING))).merged,
	round((race_info(race_merge(s) OVER (ORDER BY epsilon ROWS 1 PRECEDING))).epsilon::numeric,
		1) < epsilon * 2 AS epsilon_of_two
FROM private ORDER BY 1;

-- how many rows are kept follows how dense the records lie, which a noisy sum of norms tells:
-- of as many records, far apart or all alike.  An accident takes noise of 40 times its scale.
SELECT spread, rows <= 256 AS few, rows >= 512 AS many, epsilon <= 20 AS within, epsilon > 19.9 AS all_of_it
FROM (VALUES ('apart', 1000), ('alike', 0)) v (spread, step), LATERAL (
	SELECT race_privatize(race_build(race_params('l2', 1, 1), ARRAY[i * step]), 20) AS s
	FROM generate_series(1, 20000) i OFFSET 0) r, race_info(s) ORDER BY spread;
-- a look at the rows is paid for where there is a choice
SELECT v.rows AS asked, v.delta, round(count_noise_stddev::numeric, 1) AS count_noise
FROM (VALUES (NULL, 0), (8, 0), (NULL, 1e-6)) v (rows, delta), LATERAL
race_privacy_cost(race_params('l2', 1, 1), 1, delta, v.rows, records => 1000);
-- and only there it limits contributions
SELECT rows, epsilon > 0.99 AS epsilon FROM race_privacy_cost('l2(dims=1, rows=1048576, range=2)', 1, 0, 1, 2147483647);

-- nobody but the owner draws noise
CREATE ROLE race_analyst;
SET ROLE race_analyst;
SELECT race_privatize(race_sketch('l2(dims=1)'::race_params), 1, rows => 8);
SELECT race_count(race_sketch('l2(dims=1)'::race_params));
RESET ROLE;
DROP ROLE race_analyst;
DROP TABLE private;
