-- Releases that are calibrated, and race_classify and race_posterior by the name of a
-- release.  At an enormous epsilon there is next to no noise.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA classified;
SET search_path = classified, public;
-- of 10 records one is of class b; both classes overlap, and the kernel is flat
CREATE TABLE rows AS
SELECT i AS id, i / 2 AS person, CASE WHEN i % 10 = 0 THEN 'b' ELSE 'a' END AS class,
	ARRAY[(i * 7 % 100) / 100.0 + CASE WHEN i % 10 = 0 THEN 0.5 ELSE 0 END]::float8[] AS x
FROM generate_series(1, 3000) i;
INSERT INTO rows VALUES (0, 0, 'a', NULL), (0, 0, NULL, '{0.5}'), (0, 0, 'c', '{0.5}'), (0, 0, 'b', '{NaN}');
CALL race_protect('classified', 'rows', 10000000);
CALL race_protect('classified people', 'rows', 10000000, 0, 'person', 1);
CREATE TABLE zcdp AS TABLE rows;
CALL race_protect('classified zcdp', 'zcdp', 100, 1e-6, accounting => 'zcdp');
\set p '''l2(dims=1, bandwidth=1, rows=64, range=64)'''
\set labels 'label => ''class'', labels => ''{b,a}'''
CALL race_release_sketch('classified 1', 'classified', :p, 'x', 100000, rows => 64, :labels, calibrate => 0.1);
CALL race_release_sketch('classified 2', 'classified', :p, 'x', 100000, rows => 64, :labels);
SELECT part, label, race_count(sketch), race_count(scores),
	race_params(scores)
		= 'l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={1}, cells={16})' AS params
FROM _racepriv.race_releases WHERE name = 'classified 1' ORDER BY 1;
SELECT request ->> 'name' AS name, request -> 'calibrate' AS calibrate, epsilon
FROM _racepriv.race_charges WHERE dataset = 'classified' AND act = 'release' ORDER BY charged_at;
-- one record of ten is of class b at 0.7, and none at 0.1
SELECT q,
	race_classify('classified 1', ARRAY[q]) AS calibrated,
	race_classify('classified 2', ARRAY[q]) AS likely,
	(race_posterior('classified 1', ARRAY[q]) ->> 'b')::float8 < 0.2 AS rather_a,
	(race_posterior('classified 2', ARRAY[q]) ->> 'b')::float8 > 0.4 AS flat
FROM unnest('{0.1,0.7}'::float8[]) q ORDER BY 1;
-- what was private is met: around each node of the margin posteriors say how many records are of class b
SELECT format('SELECT _racepriv._race_score_of(%L, x)', array_agg(sketch ORDER BY part)) AS score
FROM _racepriv.race_releases WHERE name = 'classified 1' \gset
CREATE FUNCTION score(x float8[]) RETURNS float8 LANGUAGE sql STABLE AS :'score';
CREATE TABLE nodes AS SELECT node, sum(part) AS records, sum(part) FILTER (WHERE class = 'b') AS b,
	sum(part * posterior) AS said
FROM (
	SELECT class, score(x) AS score, (race_posterior('classified 1', x) ->> 'b')::float8 AS posterior
	FROM rows WHERE class IN ('a', 'b') AND race_is_record(:p, x) OFFSET 0
) scored, generate_series(0, 16) node, LATERAL (SELECT greatest(0, 1 - abs(score * 16 - node)) AS part) p WHERE part > 0
GROUP BY 1;
SELECT count(*) > 1 AS nodes, max(abs(said - coalesce(b, 0)) / (records + 50)) < 0.1 AS met FROM nodes;
-- without a calibration they are the likelihoods
SELECT race_posterior('classified 2', '{0.7}'::float8[]) = race_posterior(label, sketch, '{0.7}') AS same,
	race_classify('classified 2', '{0.7}'::float8[]) = race_classify(label, sketch, '{0.7}') AS class
FROM race_latest_releases WHERE name = 'classified 2';
-- the posterior says how often it is right
SELECT abs(avg((class = race_classify('classified 1', x))::int)
	- avg(greatest((p ->> 'a')::float8, (p ->> 'b')::float8))) < 0.05 AS calibrated
FROM rows, LATERAL (SELECT race_posterior('classified 1', x) AS p) p
WHERE class IN ('a', 'b') AND race_is_record(:p, x);
-- the scores are of as many records of a unit as the sketches: 1501 people have good records
CALL race_release_sketch('classified 3', 'classified people', :p, 'x', 100000, rows => 64, :labels, calibrate => 0.5);
SELECT sum(race_count(sketch)) AS sketches,
	sum(race_count(scores)) AS scores,
	max((race_info(scores)).max_contributions) AS bound
FROM race_latest_releases WHERE name = 'classified 3';
-- the same request costs nothing; a refresh has scores of its own
SET client_min_messages = notice;
CALL race_release_sketch('classified 1', 'classified', :p, 'x', 100000, rows => 64, :labels, calibrate => 0.1);
CALL race_release_sketch('classified 1', 'classified', :p, 'x', 100000, rows => 64, :labels, calibrate => 0.2);
CALL race_release_sketch('classified 1', 'classified', :p, 'x', 100000, rows => 64, :labels);
DELETE FROM rows WHERE id % 2 = 1;
CALL race_release_next('classified 1');
SELECT version, label, race_count(scores)
FROM _racepriv.race_releases WHERE name = 'classified 1' ORDER BY version, part;
SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'classified';
SET client_min_messages = warning;
-- scores have pure noise; both costs add up to what was asked, at most
CALL race_release_sketch('classified 4', 'classified zcdp', :p, 'x', 1, 1e-9, :labels, calibrate => 0.5);
SELECT label,
	round((i.epsilon)::numeric, 3) AS sketch,
	i.mechanism,
	i.delta,
	round((s.epsilon)::numeric, 3) AS scores,
	s.mechanism,
	s.delta,
	i.epsilon + s.epsilon <= 1 AS within
FROM race_latest_releases, race_info(sketch) i, race_info(scores) s WHERE name = 'classified 4' ORDER BY 1;
SELECT round(epsilon::numeric, 3) AS epsilon, labels FROM race_catalog WHERE name = 'classified 4';
SELECT rho > 0.125 AND rho < 0.14 AS rho,
	rho = (SELECT spent_rho FROM _racepriv.race_budgets WHERE budget = 'classified zcdp') AS charged
FROM _racepriv.race_charges WHERE dataset = 'classified zcdp' AND act = 'release';

-- what is refused
SELECT string_agg(i::text, ',') AS many FROM generate_series(1, 101) i \gset
\set r 'CALL race_release_sketch(''classified x'', ''classified'', ''l2(dims=1, rows=16, range=32)'', ''x'', 1,'
:r :labels, calibrate => 0);
:r :labels, calibrate => 1);
:r :labels, calibrate => 'NaN');
:r calibrate => 0.1);
:r label => 'class', labels => '{a}', calibrate => 0.1);
:r label => 'class', labels => regexp_split_to_array(:'many', ','), calibrate => 0.1);
:r :labels, calibrate => 1e-300);
CALL race_release_sketch('classified x', 'classified', 'l2(dims=1, rows=16384, range=1024)', 'x', 1, :labels,
	calibrate => 0.1);
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request ->> 'name' = 'classified x';
CALL race_release_sketch('classified 5', 'classified', :p, 'x', 1);
CALL race_release_sketch('classified 7', 'classified', race_moment_params(lower => '{0}', upper => '{2}'), 'x', 1,
	:labels);
SELECT race_classify('classified 5', '{1}'::float8[]);
SELECT race_posterior('classified 7', '{1}'::float8[]) = race_posterior(label, sketch, '{1}') AS moments
FROM race_latest_releases WHERE name = 'classified 7';
SELECT race_classify('classified 8', '{1}'::float8[]);
SELECT race_classify('classified 1', '{1,2}'::float8[]);
SELECT race_classify('classified 1', 'x'::text);
SELECT race_classify(NULL, '{1}'::float8[]) IS NULL AND race_posterior('classified 1', NULL::float8[]) IS NULL AS none;
-- what a statement has found stays for it; the next one finds the new version
SELECT count(DISTINCT race_classify(name, '{0.1}'::float8[])) AS names
FROM unnest('{classified 1,classified 2,classified 1}'::text[]) name;
-- whatever noise says, posteriors are probabilities, and of many classes, too
CALL race_release_sketch('classified 9', 'classified', :p, 'x', 0.01, rows => 64, label => 'class',
	labels => '{a,b,c,d,e,f}', calibrate => 0.5);
SELECT bool_and(sum BETWEEN 1 - 1e-9 AND 1 + 1e-9 AND least BETWEEN 0 AND 1) AS probabilities
FROM generate_series(0, 1.4, 0.1) q,
	LATERAL (
		SELECT sum(value::float8), min(value::float8) AS least
		FROM jsonb_each_text(race_posterior('classified 9', ARRAY[q]))
	) p;
-- the internal function takes constants only
DO $$ DECLARE s race_sketch[] := ARRAY[race_sketch('l2(dims=1)'::race_params)];
score float8;
BEGIN score := _racepriv._race_score_of(s, '{1}');
EXCEPTION WHEN feature_not_supported THEN RAISE WARNING '%', SQLERRM;
END $$;
SELECT _racepriv._race_score_of('{}', '{1}');
SELECT _racepriv._race_score_of('{NULL}', '{1}');
SELECT _racepriv._race_score_of(ARRAY[sketch], '{1}') FROM _racepriv.race_releases;

-- moments of seven labels, of which one is rare and none has the covariance of another: the release tells how often
-- each is, and how often it is right
CREATE TABLE points AS SELECT i, class, class::text AS label,
	ARRAY[least(greatest(cos(class) * 0.5 + (0.1 + class * 0.02) * cos(6.2831853 * u) * sqrt(-2 * ln(v)), -1), 1),
		least(greatest(sin(class) * 0.5 + 0.1 * sin(6.2831853 * u) * sqrt(-2 * ln(v)), -1), 1)] AS x
FROM (
	SELECT i,
		CASE WHEN i % 100 = 0 THEN 7 ELSE i % 6 END AS class,
		(i * 0.6180339887 - floor(i * 0.6180339887)) AS u,
		((i * 7919 % 20011) + 0.5) / 20011 AS v
	FROM generate_series(1, 12000) i
) s;
CALL race_protect('classified points', 'points', 10000000);
CALL race_release_sketch('points', 'classified points', race_moment_params('{-1,-1}', '{1,1}', targets => 0), 'x',
	100000, label => 'label', labels => '{0,1,2,3,4,5,7}', calibrate => 0.25);
SELECT count(*) AS labels,
	race_params(scores)
		= 'l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={41}, cells={328})' AS params
FROM race_latest_releases WHERE name = 'points' GROUP BY 2;
SELECT avg((says = label)::int) > 0.7 AS right,
	abs(avg((says = label)::int) - avg((p ->> says)::float8)) < 0.03 AS sure,
	abs(avg((p ->> '7')::float8) - 0.01) < 0.005 AS rare,
	avg((says = race_classify('points', x))::int) = 1 AS best
FROM (SELECT label, x, race_posterior('points', x) AS p FROM points WHERE i % 7 = 0) s,
	LATERAL (SELECT key AS says FROM jsonb_each_text(p) ORDER BY value::float8 DESC LIMIT 1) m;
-- where noise hides all, calibration changes nothing
CALL race_release_sketch('points in noise', 'classified points', race_moment_params('{-1,-1}', '{1,1}', targets => 0),
	'x', 0.0001, label => 'label', labels => '{0,1,2,3,4,5,7}', calibrate => 0.25);
SELECT bool_and(sum BETWEEN 1 - 1e-9 AND 1 + 1e-9 AND least BETWEEN 0 AND 1) AS probabilities
FROM points,
	LATERAL (
		SELECT sum(value::float8), min(value::float8) AS least
		FROM jsonb_each_text(race_posterior('points in noise', x))
	) p WHERE i <= 20;

-- moments of columns: domains say bounds and categories, so nobody writes a vector.  NULL and NaN have a number of
-- their own, and values that are no category have zeros.
CREATE TYPE shape AS ENUM ('round', 'long');
CREATE TABLE plants AS SELECT i AS id, shape, width, sown, CASE WHEN i % 9 = 0 THEN NULL ELSE wet END AS wet,
	CASE WHEN i % 11 = 0 THEN 'clay' WHEN i % 2 = 0 THEN 'sand' ELSE 'peat' END AS soil,
	CASE
		WHEN width + 3 * (shape = 'long')::int + (sown - date '2026-01-01') / 20.0 + 2 * wet::int + i % 3
			> 12 THEN 'tall' ELSE 'low' END AS class
FROM (
	SELECT i,
		(ARRAY['round', 'long'])[1 + i % 2]::shape AS shape,
		i * 37 % 101 / 10.0 AS width,
		date '2026-01-01' + i * 31 % 100 AS sown,
		i * 7 % 5 < 2 AS wet
	FROM generate_series(1, 6000) i
) s;
INSERT INTO plants
VALUES (0, 'long', 'NaN', 'infinity', NULL, NULL, 'tall'), (0, NULL, -1e300, '-infinity', true, 'clay', 'low'),
	(0, 'round', 5, '2026-02-01', true, 'sand', NULL);
ALTER TABLE plants ALTER width TYPE numeric, ALTER class TYPE varchar(4);
CALL race_protect('classed plants', 'plants', 10000000,
	columns => '{"width": [0, 10], "sown": ["2026-01-01", "2026-04-10"], "soil": ["sand", "peat"], "class": ["low", '
		'"tall"]}');
CALL race_describe('classed plants', 'width', lower => 0, upper => 10, unit => 'cm');
SET client_min_messages = notice;
CALL race_release_sketch('plants', 'classed plants', epsilon => 100000, columns => '{shape,width,sown,wet,soil}',
	label => 'class', calibrate => 0.25);
CALL race_release_sketch('plants', 'classed plants', epsilon => 100000, columns => '{shape,width,sown,wet,soil}',
	label => 'class', calibrate => 0.25);
SET client_min_messages = warning;
\pset format unaligned
SELECT columns[:7],
	columns[8:],
	units,
	lower,
	upper,
	labels,
	round(count) AS count
FROM race_catalog WHERE name = 'plants' \gx
\pset format aligned
-- the same as by an expression
CALL race_release_sketch('plants by hand', 'classed plants',
	race_moment_params('{-1,-1,-1,0,-1,9497,-1,-1,-1,-1,-1,-1,-1}', '{1,1,1,10,1,9596,1,1,1,1,1,1,1}', targets => 0),
	$$ARRAY[coalesce((shape = 'round')::int, 0), coalesce((shape = 'long')::int, 0), (shape IS NULL)::int,
		CASE WHEN width IS NULL OR width = 'NaN' THEN 5 ELSE least(greatest(width, 0), 10)::float8 END,
		(width IS NULL OR width = 'NaN')::int,
		CASE WHEN sown IS NULL THEN 9546.5
			ELSE least(greatest(sown, date '2026-01-01'), date '2026-04-10') - date '2000-01-01' END,
		(sown IS NULL)::int,
		coalesce((NOT wet)::int, 0), coalesce(wet::int, 0), (wet IS NULL)::int, coalesce((soil = 'sand')::int, 0),
		coalesce((soil = 'peat')::int, 0), (soil IS NULL)::int]$$,
	100000, label => 'class', labels => '{low,tall}');
SELECT bool_and(abs(a - b) < 0.05) AS same
FROM (
	SELECT (race_moments_matrix(r.sketch)).scaled AS c, (race_moments_matrix(h.sketch)).scaled AS d
	FROM race_latest_releases r JOIN race_latest_releases h USING (label)
	WHERE r.name = 'plants' AND h.name = 'plants by hand'
) s, unnest(c, d) u (a, b);
SELECT avg((race_classify('plants', to_jsonb(p)) = class)::int) > 0.9 AS right FROM plants p WHERE id % 20 = 1;
SELECT race_classify('plants',
		'{"shape": "round", "width": 0.5, "sown": "2026-01-05", "wet": false, "soil": "sand"}') AS small,
	race_classify('plants',
		'{"shape": "long", "width": 9, "sown": "2026-04-05", "wet": true, "soil": "other", "more": 1}') AS large,
	race_posterior('plants',
		'{"shape": null, "width": null, "sown": null, "wet": null, "soil": null}') ? 'low' AS unknown \gx
CALL race_release_next('plants');
SELECT version, count(*) FROM race_versions('plants') GROUP BY 1 ORDER BY 1;
-- without labels: a regression by names
CALL race_release_sketch('widths', 'classed plants', epsilon => 100000, columns => '{width,shape,wet}');
SELECT "column" FROM race_regress('widths', 'width');
SELECT race_count('widths') IS NOT NULL AS counted, race_label('plants') #>> '{racepriv,columns,1,source}' AS source;
-- what is refused, all before the charge
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, columns => '{shape,class}', label => 'class');
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, columns => '{id,shape}', label => 'class');
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, columns => '{shape,size}', label => 'class');
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, columns => '{shape,wet}', label => 'id::text');
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, delta => 1e-6, columns => '{shape,wet}',
	label => 'id');
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, label => 'class');
CALL race_release_sketch('plants 2', 'classed plants', :p, epsilon => 1, columns => '{shape,wet}', label => 'class');
CALL race_release_sketch('plants 2', 'classed plants', epsilon => 1, columns => '{shape,wet}', label => 'class',
	rows => 4);
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request ->> 'name' = 'plants 2';
SELECT race_classify('plants', '{"shape": "long", "width": 9, "wet": true, "soil": "peat"}');
SELECT race_classify('plants', '{"shape": "flat", "width": 9, "sown": "2026-04-05", "wet": true, "soil": "peat"}');
SELECT race_classify('plants', '{"shape": "long", "width": [1, 2], "sown": "2026-04-05", "wet": true, "soil": "peat"}');
SELECT race_classify('plants', '{"shape": "long", "width": "wide", "sown": "2026-04-05", "wet": true, "soil": "peat"}');
SELECT race_classify('plants', '[1]');
SELECT race_classify('plants', 'long');
SELECT race_classify('plants', 'class', '{"width": 9}');
SELECT race_crosstab('plants', 'shape');
SELECT race_crosstab('widths', 'shape');
CALL race_release('plants by tables', 'classed plants', '{shape,wet}', epsilon => 1);
SELECT race_classify('plants by tables', '{"shape": null, "wet": null}');
-- the owner's description has changed meanwhile
CALL race_describe('classed plants', 'width', lower => 0, upper => 20);
CALL race_release_next('plants');
-- a label whose name differs by case from another column, enums as labels, char(n), and numbers that are close
-- together but far from 0
CREATE TYPE mark AS ENUM ('it''s', 'a "b"', '\');
CREATE DOMAIN marked AS mark;
CREATE TABLE marks AS SELECT i AS id, date '2026-01-01' + i % 10 AS day, 1700000000 + i % 101 AS epoch,
	CASE WHEN i % 101 < 50 THEN 'a' ELSE 'b' END::char(3) AS code, 5 AS same,
	(enum_range(NULL::mark))[1 + i % 3]::marked AS "Mark", 'x' AS mark, i % 101 AS many FROM generate_series(1, 3030) i;
SELECT array_agg(i::text) AS many FROM generate_series(0, 1022) i \gset
CALL race_protect('classified marks', 'marks', 10000000,
	columns => '{"epoch": [1700000000, 1700000100], "code": ["a", "b"], "mark": ["x"], "same": [5, 5]}');
CALL race_describe('classified marks', 'many', categories => :'many');
CALL race_release_sketch('marks', 'classified marks', epsilon => 100000, columns => '{epoch,code}', label => 'Mark');
SELECT label, race_count(sketch), sqrt((race_moments_matrix(sketch)).covariances[1][1]) BETWEEN 20 AND 32 AS deviation
FROM race_latest_releases WHERE name = 'marks' ORDER BY label;
SELECT race_classify('marks', to_jsonb(m)) IS NOT NULL AS asked FROM marks m LIMIT 1;
CALL race_release_next('marks');
CALL race_release_sketch('marks by day', 'classified marks', epsilon => 100000, columns => '{epoch,code}',
	series => '{"by": "day", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-11"}');
CALL race_release_next('marks by day');
SELECT count(*) AS coefficients FROM race_regress('marks by day[2026-01-02,2026-01-05)', 'epoch');
CALL race_release_sketch('marks 2', 'classified marks', epsilon => 1, columns => '{epoch,same}');
CALL race_release_sketch('marks 2', 'classified marks', epsilon => 1, columns => '{epoch,many}');
CALL race_release_sketch('marks 2', 'classified marks', epsilon => 1, columns => '{epoch}', label => 'many');
CALL race_release_sketch('marks 2', 'classified marks', epsilon => 1, columns => '{epoch}', units => '{s}');
CALL race_release_sketch('marks 2', 'classified marks', columns => '{epoch}');
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request ->> 'name' = 'marks 2';
DROP SCHEMA classified CASCADE;
