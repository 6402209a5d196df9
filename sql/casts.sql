-- A type of its own with an implicit cast to real[], as pgvector's vector has, wherever
-- a vector is: by itself and in the row of a product

CREATE TYPE vec AS (a real[]);
CREATE FUNCTION vec_to_real(vec, int, boolean) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ($1).a';
CREATE CAST (vec AS real[]) WITH FUNCTION vec_to_real(vec, int, boolean) AS IMPLICIT;
CREATE DOMAIN vec_domain AS vec;
CREATE TABLE embedded AS
SELECT i, a, ROW(a)::vec AS v, ROW(a)::vec::vec_domain AS d, ARRAY['tag ' || i % 3] AS c
FROM generate_series(1, 200) i, LATERAL (SELECT ARRAY[sin(i), cos(i * 0.7), sin(i * 0.3) + 1]::real[] AS a) w;
CREATE TABLE kernels (p race_params);
INSERT INTO kernels
VALUES ('l2(dims=3, rows=128, range=64)'), ('l1(dims=3, rows=128, range=64)'),
	('angular(dims=3, power=3, rows=128, range=64)'),
	('l2(dims=3, rows=128, range=64, lower={0,0,0}, matrix={{1,2,3}}, offset={1,0,1})');

SELECT left(p::text, 2) AS kernel,
	p::text ~ 'matrix' AS transform,
	race_build(p, v)::text = race_build(p, a)::text AS build,
	race_build(p, d)::text = race_build(p, a)::text AS domain,
	sum(race_kernel(p, v, ROW(ARRAY[1, 0.5, 2])::vec)) = sum(race_kernel(p, a, ARRAY[1, 0.5, 2])) AS kernel,
	min(race_kernel(p, v, a)) > 0.999999 AS mixed
FROM embedded, kernels GROUP BY p ORDER BY p::text;
SELECT bool_and(race_kde(s, v) = race_kde(s, a)) AS kde,
	bool_and(race_kernel_sum(s, v) = race_kernel_sum(s, a)) AS sum,
	bool_and(race_estimate(s, v) = race_estimate(s, a)) AS estimate,
	bool_and(race_kde(r, v) = race_kde(r, a)) AS private,
	bool_and(race_remove(race_add(s, v), a)::text = s::text) AS back
FROM embedded,
	(
		SELECT s, race_privatize(s, 1, rows => 128) AS r
		FROM (SELECT race_build(p, v) AS s FROM embedded, kernels GROUP BY p) w
	) x \gx
SELECT bool_and(w = x) AS classify, bool_and(y = z) AS posterior
FROM (
	SELECT race_classify(class, s, v) w, race_classify(class, s, a) x, race_posterior(class, s, v) y,
		race_posterior(class, s, a) z
	FROM embedded, (SELECT c, race_build('angular(dims=3, rows=128)', v) s FROM embedded GROUP BY c) t(class, s)
	GROUP BY i
) u;
-- in a product, as arguments and in rows, with and without names, from a table
SELECT race_build(p, ROW(e.v, e.c))::text = race_build(p, ROW(a, e.c))::text AS rows,
	race_build(p, t)::text = race_build(p, ROW(a, e.c))::text AS "table",
	min(race_kernel(p, ROW(e.v, e.c), ROW(a, e.c))) > 0.999999 AS same
FROM embedded e, LATERAL (SELECT e.v, e.c) t,
	unnest('{"l2(dims=3, rows=128) * match(dims=1)","angular(dims=3, rows=128) * jaccard"}'::race_params[]) p
GROUP BY p;
SELECT bool_and(race_kde(s, ROW(v, c)) = race_kde(s, ROW(a, c))) AS kde,
	bool_and(race_kde(s, ROW(d, c)) = race_kde(s, ROW(a, c))) AS domain
FROM embedded, (SELECT race_build('angular(dims=3, rows=128) * match(dims=1)', ROW(v, c)) s FROM embedded) w;
-- the one who asks must be allowed to cast there as well; and no set is made by a cast
CREATE ROLE race_other;
REVOKE EXECUTE ON FUNCTION vec_to_real(vec, int, boolean) FROM PUBLIC;
SET ROLE race_other;
SELECT race_kernel('l2 * match', ROW(ROW(ARRAY[3, 4]::real[])::vec, ARRAY['a']), ROW(ARRAY[3, 4], ARRAY['a']));
RESET ROLE;
DROP ROLE race_other;
SELECT race_kernel('match', ROW(ARRAY[3, 4]::real[])::vec, ARRAY[3, 4]);
-- a cast may give NULL
SELECT race_kernel('l2', ROW(NULL::real[])::vec, ARRAY[3, 4]);
DROP TABLE embedded, kernels;
DROP DOMAIN vec_domain;
DROP CAST (vec AS real[]);
DROP FUNCTION vec_to_real;
DROP TYPE vec;
