-- moments: sums and products of columns
\set ON_ERROR_STOP 0
CREATE TABLE points AS
SELECT i, i % 2 AS class, ARRAY[i % 7, i % 11 / 2.0, (i * i) % 13 - 3]::float8[] AS x FROM generate_series(1, 400) i;
\set params 'race_moment_params(\'{0,0,-4}\', \'{6,6,10}\', 2, targets => 0)'

-- parameters and their text
SELECT race_moment_params('{0,0,-4}', '{6,6,10}', 1.5);
SELECT race_moment_params('{0}', '{1}', 1, features => 8, targets => 0, bandwidth => 0.5, seed => 7);
SELECT race_moment_params('{0,0}', '{1,1}', features => 5)::text::race_params
		= race_moment_params('{0,0}', '{1,1}', features => 5) AS same,
	'moments(dims=2, lower={0,0}, upper={1,1}, norm=1, targets=1)'::race_params
		= race_moment_params('{0,0}', '{1,1}', 1) AS parsed,
	race_moment_params('{0,0}', '{1,1}', 1) = race_moment_params('{0,0}', '{1,1}', 1, 0, 1) AS targets_alone,
	race_moment_params(NULL, '{1}') IS NULL AS no_bounds \gx
SELECT race_moment_params('{0,0}', '{1}');
SELECT race_moment_params('{}', '{}');
SELECT race_moment_params('{0}', '{NULL}');
SELECT race_moment_params('{0}', '{0}');
SELECT race_moment_params('{0}', '{Infinity}');
SELECT race_moment_params('{-1e300}', '{1e300}');
SELECT race_moment_params('{0}', '{1e-320}');
SELECT race_moment_params('{0}', '{NaN}');
SELECT race_moment_params('{0}', '{1}', -1);
SELECT race_moment_params('{0}', '{1}', 'NaN');
SELECT race_moment_params('{0}', '{1}', 1, features => 1024);
SELECT race_moment_params('{0}', '{1}', 1, features => 4);
SELECT race_moment_params('{0,0}', '{1,1}', 1, features => 4, bandwidth => 0);
SELECT race_moment_params('{0,0}', '{1,1}', 1, bandwidth => 2);
SELECT race_moment_params('{0,0}', '{1,1}', 1, features => 4, sequence => 'grid');
SELECT race_moment_params(array_fill(0::float8, ARRAY[1024]), array_fill(1::float8, ARRAY[1024]));
SELECT 'moments'::race_params;
SELECT 'moments(dims=1)'::race_params;
SELECT 'moments(dims=1, lower={0}, upper={1}, norm=1, power=2)'::race_params;
SELECT 'moments(dims=1, lower={0}, upper={1}, norm=1, coarser=21)'::race_params;
SELECT 'moments(dims=1, lower={0}, upper={1}, norm=1, cells={4})'::race_params;
\pset format unaligned
SELECT race_moment_params('{0}', '{1}', 1, clip => 'absolute');
SELECT race_moment_params('{0}', '{1}', 1, clip => 'norm') = race_moment_params('{0}', '{1}', 1) AS same;
\pset format aligned
SELECT race_moment_params('{0}', '{1}', 1, clip => 'x');
SELECT 'moments(dims=1, lower={0}, upper={1}, norm=1, features=65536)'::race_params;
SELECT 'l2(dims=1, norm=1)'::race_params;
SELECT race_moment_params('{0}', '{1}') * 'l2(dims=1, rows=1, range=3)'::race_params;
SELECT 'l2(dims=1) * moments(dims=1, lower={0}, upper={1}, norm=1)'::race_params;

-- they are those of the table; here nothing is scaled down
CREATE TABLE states AS SELECT race_build(:params, x) AS m FROM points;
SELECT count,
	(SELECT array_agg(round(e::numeric, 3)) FROM unnest(means) e) AS means,
	(SELECT array_agg(round(e::numeric, 2)) FROM unnest(covariances) e) AS covariances,
	count_noise_stddev,
	noise_stddev
FROM states, race_moments_matrix(m) \gx
SELECT round(avg(x[1])::numeric, 3) AS m1,
	round(avg(x[2])::numeric, 3) AS m2,
	round(avg(x[3])::numeric, 3) AS m3,
	round(var_pop(x[1])::numeric, 2) AS v1,
	round(covar_pop(x[1], x[2])::numeric, 2) AS v12,
	round(var_pop(x[3])::numeric, 2) AS v3
FROM points \gx
SELECT kernel,
	dims,
	count,
	counter_bytes,
	storage_bytes,
	status
FROM states, race_info(m) \gx
-- values beyond the bounds are clipped, records beyond the norm are scaled down with their 1, and targets are scaled
-- to 8 / 3
\pset format unaligned
SELECT scaled::real[]
FROM race_moments_matrix(race_add(race_sketch(race_moment_params('{-1,-1}', '{1,1}', 1.25, targets => 0)),
	ARRAY[7, -1e300]));
SELECT scaled::real[],
	means
FROM race_moments_matrix(race_add(race_sketch(race_moment_params('{-1,-1}', '{1,1}', 3)), ARRAY[0.5, 0.5])) \gx
\pset format aligned
SELECT race_add(race_sketch(race_moment_params('{-1,-1}', '{1,1}', 2)), ARRAY[7, 0.5])::text =
       race_add(race_sketch(race_moment_params('{-1,-1}', '{1,1}', 2)), ARRAY[1, 0.5])::text AS clipped;
-- a small target counts as 0.35 when the factor is found, a large one as it is: 1 / (1 + 1 + (8 / 3)^2 * (0.35^2 or
-- 0.7^2))
SELECT round(scaled[1][1]::numeric, 3) AS weight
FROM unnest(ARRAY[0, -0.3, 0.7]) target,
	race_moments_matrix(race_add(race_sketch(race_moment_params('{-1,-1}', '{1,1}')), ARRAY[1, target]));
-- the norm of absolute values: of five ones it is sqrt((5 + 25) / 2)
SELECT scaled[1:1][2:5]
FROM race_moments_matrix(race_add(race_sketch(race_moment_params('{-1,-1,-1,-1}', '{1,1,1,1}', 1, targets => 0,
		clip => 'absolute')), ARRAY[1, -1, 1, 1]));
-- features: cosines; each has a mean square of half of its amplitude's
SELECT bool_and(scaled[i][i] BETWEEN 0 AND 400), abs(sum(scaled[i][i]) / 400 - 0.9 * sqrt(64)) < 0.9 AS mean_square
FROM (
	SELECT (race_moments_matrix(race_build(race_moment_params('{0,0,-4}', '{6,6,10}', 9, features => 64,
			bandwidth => 0.1), x))).scaled
	FROM points
) s, generate_series(2, 65) i;

-- the same bits in any order: merged, in a window, removed again, through text and binary
SELECT (
		SELECT race_merge(s) FROM (SELECT race_build(:params, x) AS s FROM points GROUP BY i % 5) v
	)::text = m::text AS merged,
	(SELECT race_build(:params, x ORDER BY i DESC) FROM points)::text = m::text AS sorted,
	(race_remove(race_add(m, ARRAY[1, 2, 3]), ARRAY[1, 2, 3]))::text = m::text AS removed,
	(m + m - m)::text = m::text AS sums,
	m::text::race_sketch::text = m::text AS text_form
FROM states \gx
SELECT count(*),
	bool_and(w::text = (
		SELECT race_build(:params, x) FROM points p WHERE p.i BETWEEN v.i - 20 AND v.i
	)::text) AS windows
FROM (SELECT i, race_build(:params, x) OVER (ORDER BY i ROWS 20 PRECEDING) AS w FROM points) v WHERE i % 50 = 0;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT race_build(:params, x)::text = (SELECT m::text FROM states) AS parallel FROM points;
RESET ALL;
SET racepriv.vector_code = 'portable';
SELECT race_build(:params, x)::text = (SELECT m::text FROM states) AS portable FROM points;
RESET racepriv.vector_code;
-- bits that must never change
SELECT md5(race_build(:params, x)::text) AS plain,
	md5(race_build(race_moment_params('{0,0,-4}', '{6,6,10}', 1), x)::text) AS clipped,
	md5(race_build(race_moment_params('{0,0,-4}', '{6,6,10}', 2, features => 70, bandwidth => 0.7, seed => 5),
		x)::text) AS features,
	md5(race_build(race_moment_params('{0,0,-4}', '{6,6,10}', 2, features => 7, sequence => 'sobol'), x)::text) AS sobol
FROM points \gx

-- what is no record
SELECT race_is_record(:params, ARRAY[1, 2, 3]), race_is_record(:params, ARRAY[1, 2]),
	race_is_record(:params, ARRAY[1, 2, 'NaN'::float8]), race_is_record(:params, ARRAY[1, 2, NULL]),
	race_is_record(:params, ARRAY[1, 2, 'Infinity'::float8]);
SELECT race_add(m, ARRAY[1, 2]) FROM states;
SELECT race_add(m, ARRAY[1, 2, NULL]) FROM states;
SELECT race_add(m, ARRAY[1, 2, 'NaN'::float8]) FROM states;
SELECT race_add(m, 'x'::text) FROM states;
SELECT (race_info(race_build(:params, NULL::int[]))).count, race_build(:params, x) IS NULL AS no_rows
FROM points WHERE i < 0 GROUP BY ();
SELECT race_build(NULL, x) FROM points;
-- what is asked of the other kind
SELECT race_kernel(:params, x, x) FROM points;
SELECT race_kde(m, ARRAY[1, 2, 3]) FROM states;
SELECT race_fit(m) FROM states;
SELECT race_count(m), race_params(m) = :params AS params FROM states;
SELECT race_moments_matrix(race_sketch('l2(dims=1, rows=1, range=2)'::race_params));
SELECT m + race_sketch('l2(dims=3, rows=1, range=2)'::race_params) FROM states;
SELECT (left(m::text, -2) || '00')::race_sketch FROM states;
SELECT m + race_sketch(race_moment_params('{0,0,-4}', '{6,6,10}', 1)) FROM states;

-- noise: large budgets leave the values as they are
SELECT mechanism, epsilon <= 1e6 AS within, delta, max_contributions, neighbors, merged AS releases, status
FROM states, race_info(race_privatize(m, 1e6));
SELECT round(count / 20) AS count, (SELECT array_agg(round(e::numeric, 1)) FROM unnest(means) e) AS means
FROM states, race_moments_matrix(race_privatize(m, 1e9, 1e-6, neighbors => 'substitute', max_contributions => 3));
-- and its size is known
\pset format unaligned
SELECT p.mechanism,
	p.epsilon = i.epsilon AS epsilon,
	p.rho = i.rho AS rho,
	p.counter_noise_stddev = i.counter_noise_stddev AS noise,
       p.count_noise_stddev = i.count_noise_stddev AS count_noise, p.kernel_sum_noise_stddev, p.kernel_density_stddev,
i.counter_noise_stddev = x.noise_stddev AS same, round((square_noise_stddev / x.noise_stddev)::numeric, 4) AS squares
FROM states, (VALUES (0.1, 0), (1, 0), (0.01, 1e-6), (1, 1e-6), (1, 1e-9)) b (e, d), race_privacy_cost(:params, e, d) p,
LATERAL (SELECT race_privatize(m, e, d) AS private OFFSET 0) v, race_info(private) i, race_moments_matrix(private) x;
\pset format aligned
-- and follows from the norm: |v|^2 is 4.  A Wishart matrix of four columns has 5 degrees of freedom
SELECT abs(counter_noise_stddev ^ 2 * 2 * rho * 19 / 20 / (4 ^ 2 / 2.0) - 1) < 1e-3 AS gaussian
FROM states, race_info(race_privatize(m, 1, 1e-6));
SELECT mechanism, abs(counter_noise_stddev / sqrt(2 * 5) / (4 / (2 * 298.0 / 320)) - 1) < 1e-2 AS wishart
FROM states, race_info(race_privatize(m, 1));
SELECT race_privatize(m, 1)::text::race_sketch IS NOT NULL AS read FROM states;
-- of more than 255 columns there is Laplace noise
SELECT mechanism
FROM generate_series(255, 256) n,
	race_privacy_cost(race_moment_params(array_fill(0, ARRAY[n])::float8[], array_fill(1, ARRAY[n])::float8[], 1,
			targets => 0), 1);
-- and of sums of absolute values: a record that has but a 1 counts for as much as in the norm
SELECT mechanism, abs(counter_noise_stddev / sqrt(2) * 0.95 - 1) < 1e-2 AS laplace
FROM race_info(race_privatize(race_sketch(race_moment_params('{0,0,0,0}', '{1,1,1,1}', 1, targets => 0,
		clip => 'absolute')), 1));
SELECT (race_info(race_privatize(m, 1, 1e-6) + race_privatize(m, 2))).mechanism,
	(race_info(race_privatize(m, 1, 1e-6) + race_privatize(m, 0.1, 1e-6))).merged
FROM states;
SELECT (race_info(s)).epsilon < 2 AS disjoint
FROM (SELECT race_merge_disjoint(race_privatize(m, 1)) AS s FROM states, generate_series(1, 3)) v;
SELECT race_privatize(m, NULL) IS NULL, race_privatize(NULL::race_sketch, 1) IS NULL FROM states;
SELECT race_privatize(m, 0) FROM states;
SELECT race_privatize(m, 1, 1) FROM states;
SELECT race_privatize(m, 1, max_contributions => 0) FROM states;
SELECT race_privatize(m, 1, neighbors => 'x') FROM states;
SELECT race_privatize(m, 1e-9, max_contributions => 2147483647) FROM states;
SELECT race_privatize(m, 1, rows => 2) FROM states;
SELECT race_privatize(race_privatize(m, 1), 1) FROM states;
SELECT race_add(race_privatize(m, 1), ARRAY[1, 2, 3]) FROM states;
SELECT race_privatize(m, 1) - race_privatize(m, 1) FROM states;
SELECT race_privatize(m, 1) + m FROM states;

-- noise shares
CREATE TABLE parties AS SELECT race_share(m, 1e4, 1e-6, 3, 0) AS share FROM states, generate_series(1, 3);
SELECT DISTINCT status,
	count,
	merged AS releases,
	race_params(share)::text LIKE '%coarser=%' AS coarser
FROM parties, race_info(share) \gx
SELECT round(count / 100) AS count,
	(SELECT array_agg(round(e::numeric, 1)) FROM unnest(means) e) AS means,
	(race_info(s)).epsilon <= 1e4 AS within
FROM (SELECT race_merge(share) AS s FROM parties) v, race_moments_matrix(s) \gx
SELECT race_moments_matrix(share) FROM parties LIMIT 1;
SELECT race_sketch(race_params(share)) FROM (SELECT race_share(m, 1, 1e-6, 3) AS share FROM states) v;
SELECT race_share(m, 1, 0, 3) FROM states;

-- releases
CALL race_protect('moment points', 'points', 1e7, 1e-3, 'i', 1);
CALL race_release_sketch('moments of all', 'moment points', race_moment_params('{0,0,-4}', '{6,6,10}', 2, targets => 0),
	'x', 1e5);
SELECT race_moments_matrix(race_released('no such'));
CALL race_release_sketch('moments of all', 'moment points', race_moment_params('{0,0,-4}', '{6,6,10}', 2, targets => 0),
	'x', 1e5);
CALL race_release_sketch('moments of classes', 'moment points', :params, 'CASE WHEN i < 300 THEN x END', 1e5, 1e-6,
	label => 'class', labels => '{1,0,2}');
CALL race_release_next('moments of classes');
-- pure noise is less for these columns, so no delta is spent; but in zCDP it would cost more
CREATE TABLE points_in_zcdp AS TABLE points;
CALL race_protect('points in zCDP', 'points_in_zcdp', 1e7, 1e-3, 'i', 1, accounting => 'zcdp');
CALL race_release_sketch('moments in zCDP', 'points in zCDP',
	race_moment_params('{0,0,-4}', '{6,6,10}', 2, targets => 0), 'x', 1, 1e-6);
SELECT c.delta FROM _racepriv.race_releases JOIN _racepriv.race_charges c USING (charge) WHERE name = 'moments in zCDP';
SELECT name,
	version,
	label,
	abs(round(count / 10.0)) AS count,
	epsilon <= 1e5 AS within,
	delta,
	(race_info(sketch)).kernel
FROM race_latest_releases WHERE dataset = 'moment points' ORDER BY name, label;
SELECT (SELECT array_agg(round(e::numeric, 1)) FROM unnest(means) e) AS means
FROM race_moments_matrix(race_released('moments of all'));
SELECT round(count / 10) AS count FROM race_moments_matrix(race_released('moments of classes', '1'));
SELECT race_params(race_released('moments of all'))::text LIKE '%clip%' AS pure,
	race_params(race_released('moments of classes', '1'))::text LIKE '%clip%' AS gaussian;
SELECT race_released('moments of classes');
SELECT race_released('moments of classes', '9');
SELECT race_released(NULL) IS NULL AS null_name;
-- tools see them; charts say what they are not
SELECT name, version, labels, columns, lower, upper, round(count / 100) AS count, epsilon <= 1e5 AS within, delta
FROM race_catalog WHERE dataset = 'moment points' ORDER BY name;
SELECT version, label, abs(round(count / 10)) AS count, epsilon <= 1e5 AS within, distance
FROM race_versions('moments of classes') WHERE label <> '2';
SELECT count(*) FROM race_curve('moments of all');
SELECT count(*) FROM race_outliers('moments of all', '{1,2,3}');
CALL race_release_sketch('refused', 'moment points', :params, 'x', 1, rows => 1);
CALL race_release_sketch('refused', 'moment points', :params, 'x', 1, fit => false);
CALL race_release_sketch('refused', 'moment points', :params, 'x', 1, grid => true);
CALL race_release_sketch('refused', 'moment points', :params, 'i', 1);
-- what goes wrong while records are read is not told, and no transaction takes a release back
CALL race_release_sketch('refused', 'moment points', :params, 'ARRAY[1, 2, 1 / (i - 7)]', 1);
BEGIN;
CALL race_release_sketch('refused', 'moment points', :params, 'x', 1);
ROLLBACK;
-- a table without records is noise alone
CREATE TABLE nothing (x float8[]);
CALL race_protect('moments of nothing', 'nothing', 10, 1e-5);
CALL race_release_sketch('moments of nothing', 'moments of nothing', :params, 'x', 1, 1e-6);
SELECT abs(count) < 1000 AS count,
	noise_stddev > 0 AS noise,
	scaled <> array_fill(0::float8, ARRAY[4, 4]) AS noisy
FROM race_moments_matrix(race_released('moments of nothing')) \gx
SELECT sketch::text::race_sketch::text = sketch::text AS text_form
FROM _racepriv.race_releases WHERE name = 'moments of nothing';
DROP TABLE nothing;
CALL race_release_sketch('moments of sketch', 'moment points', 'l2(dims=3)', 'x', 1);
SELECT race_moments_matrix(race_released('moments of sketch'));
SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'moment points';

DROP TABLE points, states, parties;
