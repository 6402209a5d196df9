-- Costs before a release, and after several
SELECT mechanism,
	rows,
	pure_epsilon = epsilon AS pure,
	round(epsilon::numeric, 3) AS cost,
	delta,
	round(rho::numeric, 3) AS rho,
	round(counter_noise_stddev::numeric, 3) AS counter,
	round(count_noise_stddev::numeric, 3) AS count,
	round(kernel_sum_noise_stddev::numeric, 3) AS noise,
	kernel_density_stddev
FROM race_privacy_cost('l2(dims=3)', 1, rows => 64) \gx
SELECT mechanism, rows, pure_epsilon IS NULL AS not_pure, round(epsilon::numeric, 3) AS cost, delta,
       round(rho::numeric, 5) AS rho, round(kernel_sum_noise_stddev::numeric, 3) AS noise
FROM race_privacy_cost('l2(dims=3)', 1, 1e-6, records => 100000);
-- what race_privatize records
SELECT c.epsilon = i.epsilon AND c.delta = i.delta AND c.rho = i.rho AND c.rows = i.rows AND
       c.counter_noise_stddev = i.counter_noise_stddev AND c.count_noise_stddev = i.count_noise_stddev AS same
FROM unnest('{0,1e-9}'::float8[]) d, unnest('{add_remove,substitute}'::text[]) n,
     race_privacy_cost('l2(dims=1, rows=16, range=8)', 0.7, d, 16, 3, n) c,
     race_info(race_privatize(race_sketch('l2(dims=1, rows=16, range=8)'::race_params), 0.7, d, 16, 3, n)) i;
-- more records, smaller error of a density
SELECT n,
	rows > lag(rows) OVER (ORDER BY n) AS more_rows,
	kernel_density_stddev < lag(kernel_density_stddev) OVER (ORDER BY n) AS smaller
FROM unnest('{100,10000,1000000}'::float8[]) n, race_privacy_cost('l2(dims=3)', 1, records => n);
SELECT race_privacy_cost('l2', 1);
SELECT race_privacy_cost('l2', 1, records => 0);
SELECT race_privacy_cost('l2', 0, rows => 8);
SELECT race_privacy_cost(NULL, 1, rows => 8) IS NULL AS of_null;

-- composition: the smaller account, never more than the sum
SELECT releases, accounting, round(epsilon::numeric, 3) AS cost, delta, round(rho::numeric, 3) AS rho,
       round(basic_epsilon::numeric, 3) AS basic, zcdp_epsilon
FROM (SELECT (race_compose(epsilon, delta, rho)).*
      FROM generate_series(1, 50), race_privacy_cost('l2(dims=3)', 0.1, rows => 16)) v;
SELECT releases, accounting, round(epsilon::numeric, 3) AS cost, delta, round(basic_epsilon::numeric, 3) AS basic
FROM (SELECT (race_compose(epsilon, delta, rho, 1e-6)).*
      FROM generate_series(1, 50), race_privacy_cost('l2(dims=3)', 0.1, rows => 16)) v;
SELECT releases,
	accounting,
	round(epsilon::numeric, 3) AS cost,
	round(delta::numeric, 9) AS delta,
	round(basic_epsilon::numeric, 3) AS basic
FROM (
	SELECT (race_compose(epsilon, delta, rho)).* FROM generate_series(1, 50), race_privacy_cost('l2(dims=3)', 0.1, 1e-8)
) v \gx
SELECT race_compose(1, 0, 0.5, d) FROM unnest('{1e-6,1e-7}'::float8[]) d;
SELECT race_compose(1, 1e-6, 0.5, 0);
SELECT race_compose(e, 0, 0) FROM unnest('{1,NULL}'::float8[]) e;
SELECT race_compose(-1, 0, 0);
SELECT race_compose(e, e, e) IS NULL AS of_none FROM (SELECT 1::float8 WHERE false) v (e);

-- the paper's bounds

-- median of means: near the mean, the same where there is one row a group
SELECT abs(race_kernel_sum(s, q, 24) / race_kernel_sum(s, q) - 1) < 0.1 AS near,
	race_kernel_sum(s, q, 1) = race_kernel_sum(s, q) AS one_group
FROM (
	SELECT race_build('l2(dims=1, bandwidth=10)', ARRAY[i % 50]) AS s, ARRAY[20] AS q FROM generate_series(1, 1000) i
) v;
SELECT race_kernel_sum(race_sketch('l2(dims=1)'::race_params), '{1}', 0);
