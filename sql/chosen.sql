-- Labels and categories that nobody has listed: which are chosen, at which cost, and what later versions count.
-- At an enormous epsilon two persons pass, and one does not.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA chosen;
SET search_path = chosen, public;
CREATE TABLE visits AS
SELECT i AS person, i % 5 AS age, CASE WHEN i <= 600 THEN 'Paris' WHEN i <= 800 THEN 'Oslo' WHEN i <= 1200 THEN E'tab\t'
	WHEN i <= 1500 THEN repeat('x', 201) WHEN i <= 1800 THEN '<b>' WHEN i <= 2000 THEN 'other' END AS town,
	CASE WHEN i <= 800 THEN 'f' ELSE 'm' END::char(3) AS sex
FROM generate_series(1, 2400) i;
-- one person has many rows, and only as many towns as the bound says
INSERT INTO visits SELECT 0, 1, 'alone', 'f' FROM generate_series(1, 5);
INSERT INTO visits SELECT NULL, 1, 'nobody', 'f' FROM generate_series(1, 50);
CALL race_protect('chosen', 'visits', 1e9, 0.9, 'person', 1);
CALL race_describe('chosen', 'age', 0, 4);

-- never without a delta, nor where rows are no persons, nor from rho
CALL race_release('chosen columns', 'chosen', '{age,town}', 1e6);
\set p '''l2(dims=1, bandwidth=5, rows=16, range=32)'''
CALL race_release_sketch('chosen labels', 'chosen', :p, 'ARRAY[age]', 1e6, label => 'town');
CREATE TABLE rho AS SELECT * FROM visits;
CALL race_protect('chosen rho', 'rho', 1e6, 0.5, accounting => 'zcdp');
CALL race_release('of rho', 'chosen rho', '{town}', 1, 0.1);
CREATE TABLE rows AS SELECT * FROM visits;
CALL race_protect('chosen rows', 'rows', 1e6, 0.5, max_contributions => 2);
CALL race_release('of rows', 'chosen rows', '{town}', 1, 0.1);

SET client_min_messages = notice;
CALL race_release('chosen columns', 'chosen', '{age,town,sex}', 1e6, 0.1);
CALL race_release('chosen columns', 'chosen', '{age,town,sex}', 1e6, 0.1);
CALL race_release_sketch('chosen labels', 'chosen', :p, 'ARRAY[age]', 1e6, 0.1, label => 'town');
CALL race_release_sketch('chosen labels', 'chosen', :p, 'ARRAY[age]', 1e6, 0.1, label => 'town');
SET client_min_messages = warning;
SELECT jsonb_path_query_array(domains, '$[*].categories') AS categories,
	jsonb_path_query_array(domains, '$[*].cells') AS cells
FROM race_catalog WHERE name = 'chosen columns';
SELECT value1, round(count::numeric, -2) AS count FROM race_crosstab('chosen columns', 'town');
SELECT value1, value2, round(count::numeric, -2) AS count
FROM race_crosstab('chosen columns', 'town', 'sex') WHERE count > 50;
SELECT labels FROM race_catalog WHERE name = 'chosen labels';

-- later versions count what the first one chose: what vanished has no records, what is new is among the others
DELETE FROM visits WHERE town = 'Oslo';
INSERT INTO visits SELECT 10000 + i, 2, 'Bern', 'f' FROM generate_series(1, 900) i;
CALL race_release_next('chosen columns');
CALL race_release_next('chosen labels');
SELECT value1, round(count::numeric, -2) AS count FROM race_crosstab('chosen columns', 'town');
SELECT label, round(race_count(sketch)::numeric, -2) AS count
FROM race_latest_releases WHERE name = 'chosen labels' ORDER BY label;
SELECT request->'name' AS name,
	request->'version' AS version,
	round((request->>'chosen_delta')::numeric, 6) AS chosen_delta,
	epsilon,
	delta,
	rho > 1e8 AS of_choices
FROM _racepriv.race_charges WHERE dataset = 'chosen' AND act = 'release' ORDER BY charged_at;
SELECT spent_epsilon, spent_delta FROM race_budget_status WHERE budget = 'chosen';
CALL race_describe('chosen', 'town', categories => '{Paris}');
CALL race_release_next('chosen columns');

-- where nothing passes there is no category, and all is counted together; of too many the most frequent ones are kept
CREATE TABLE many AS SELECT i AS person, 'c' || i / 2 AS town FROM generate_series(2, 2101) i
UNION ALL SELECT 3000 + i, 'often ' || i / 40 FROM generate_series(0, 79) i;
CALL race_protect('chosen many', 'many', 1e9, 0.9, 'person', 1);
CALL race_release('chosen many', 'chosen many', '{town}', 1e6, 0.1);
SELECT jsonb_array_length(domains->0->'categories') AS categories,
	domains->0->'categories' @> '["often 0", "often 1"]' AS often,
	domains->0->'group' AS group
FROM race_catalog WHERE name = 'chosen many' \gx
DELETE FROM many WHERE person >= 2;
CALL race_release('chosen none', 'chosen many', '{town}', 1, 1e-6);
SELECT domains->0->'categories' AS categories, domains->0->'persons' AS persons
FROM race_catalog WHERE name = 'chosen none';
-- a sixteenth of epsilon is left for these cells, which are off by more in one of 10^10 runs
SELECT value1, count < 400 AS few FROM race_crosstab('chosen none', 'town') ORDER BY 1;
SELECT count < 400 AS few FROM race_count('chosen none', '{"town": "often 0"}');
SELECT count < 800 AS few FROM race_count('chosen none');
SELECT count(*) AS synthetic, count(s.town) AS towns FROM race_synthesize(NULL::many, 'chosen none', 10) s;
-- choices had 60 of 64 parts of epsilon, and all of delta: later versions have all for their tables
CALL race_release_next('chosen none');
SELECT version, epsilon BETWEEN 0.062 AND 0.0625 AS first, epsilon BETWEEN 0.99 AND 1 AS later, delta
FROM _racepriv.race_releases, race_info(sketch) WHERE name = 'chosen none' ORDER BY 1;
SELECT question, expected
FROM race_plan('chosen many', '{town}', 1, 1e-6) WHERE unit = 'persons' OR question LIKE 'count of one value%';

-- the noisy numbers of a choice are published, and are measurements where persons are as many as records: a unique
-- index says so
CREATE TABLE words (author int, word text, PRIMARY KEY (author, word));
INSERT INTO words SELECT i % 1000, 'w' || i / 1000 FROM generate_series(0, 4999) i;
INSERT INTO words SELECT i, 'some' FROM generate_series(1, 300) i;
CREATE TABLE loose AS TABLE words;
CREATE TABLE parent (LIKE words INCLUDING ALL);
CREATE TABLE child (LIKE words) INHERITS (parent);
CREATE TABLE partial (LIKE words);
CREATE UNIQUE INDEX ON partial (author, word) WHERE author > 5;
CREATE TABLE other_index (LIKE words, x int);
CREATE UNIQUE INDEX ON other_index (author, word, x);
CREATE TABLE upper_index (LIKE words);
CREATE UNIQUE INDEX ON upper_index (author, upper(word));
CREATE TABLE including (LIKE words, x int);
CREATE UNIQUE INDEX ON including (word, author) INCLUDE (x);
CREATE TABLE alone (LIKE words);
CREATE UNIQUE INDEX ON alone (author);
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY '{words,loose,parent,partial,other_index,upper_index,including,alone}'::text[] LOOP
		CALL race_protect('chosen ' || t, t, epsilon_limit => 1000, delta_limit => 0.5, unit_column => 'author',
			max_contributions => 10);
	END LOOP;
END $$;
SELECT t AS table, expected < 25 AS measured, expected < 45 AS summed
FROM unnest('{words,loose,parent,partial,other_index,upper_index,including,alone}'::text[]) t,
	LATERAL (
		SELECT expected FROM race_plan('chosen ' || t, '{word}', 3, 1e-5) WHERE question LIKE 'count of one value%'
	) p;
CALL race_release('chosen words', 'chosen words', '{word}', 3, 1e-5);
CALL race_release('chosen loose', 'chosen loose', '{word}', 3, 1e-5);
SELECT name,
	domains->0->'categories' AS categories,
	abs((domains->0->'persons'->>1)::int - 1000) < 100 AS persons,
	(domains->0->>'persons_error')::float8 BETWEEN 4 AND 8 AS error,
	(domains->0->>'persons_least')::int BETWEEN 20 AND 40 AS passes
FROM race_catalog WHERE name IN ('chosen words', 'chosen loose') ORDER BY 1 DESC;
-- 16 standard errors
SELECT value1, upper - lower < 30 AS narrow, abs(count - CASE value1 WHEN 'some' THEN 300 ELSE 1000 END) < 100 AS near
FROM race_crosstab('chosen words', 'word') WHERE value1 <> 'other' ORDER BY 1;
-- of several records of a word, numbers of persons add up to those of records: 16 standard errors
SELECT value1,
	upper - lower BETWEEN 50 AND 80 AS wider,
	abs(count - CASE value1 WHEN 'some' THEN 300 ELSE 1000 END) < 260 AS near
FROM race_crosstab('chosen loose', 'word') WHERE value1 <> 'other' ORDER BY 1;
INSERT INTO loose SELECT i, 'often' FROM generate_series(1, 100) i, generate_series(1, 3);
INSERT INTO loose
SELECT 2000 + i / 40, CASE WHEN i % 40 < 30 THEN 'talk' ELSE 'rare ' || i % 10 END
FROM generate_series(0, 7999) i;
CALL race_release('chosen often', 'chosen loose', '{word}', 300, 1e-5);
-- a person keeps ten rows, with different words first: 200 persons have eleven words, and keep all but one of these
SELECT value1,
	count BETWEEN CASE value1 WHEN 'rare 3' THEN 140 ELSE 280 END AND CASE value1 WHEN 'rare 3' THEN 220
		ELSE 320 END AS near
FROM race_crosstab('chosen often', 'word') WHERE value1 IN ('often', 'rare 3', 'some') ORDER BY 1;
SELECT count BETWEEN 140 AND 220 AS talk FROM race_count('chosen often', '{"word": "talk"}');
SELECT domains->0->'persons_summed' AS summed,
	domains->0->'categories'->>0 AS category,
	(domains->0->'persons'->>0)::int BETWEEN 95 AND 105 AS persons
FROM race_catalog WHERE name = 'chosen often';
-- later versions keep the same rows
CALL race_release_next('chosen often');
SELECT value1,
	count BETWEEN CASE value1 WHEN 'rare 3' THEN 140 ELSE 280 END AND CASE value1 WHEN 'rare 3' THEN 220
		ELSE 320 END AS near
FROM race_crosstab('chosen often', 'word') WHERE value1 IN ('often', 'rare 3', 'some') ORDER BY 1;
SELECT count BETWEEN 140 AND 220 AS talk FROM race_count('chosen often', '{"word": "talk"}');
-- not beside other columns, whose records are those of the same rows
CALL race_describe('chosen other_index', 'x', 0, 4);
SELECT columns, expected < 35 AS summed
FROM unnest('{word,"word,x"}'::text[]) columns,
	LATERAL race_plan('chosen other_index', string_to_array(columns, ','), 3, 1e-5)
WHERE question = 'count of one value of "word"' ORDER BY 1;

-- at m = 1, 10 and 30, thresholds are those by all of epsilon, 5, 24 and 43 persons, or 5 % more; of 30 values of more
-- persons none is missed but in one of 4 * 10^9 runs: Laplace noise reaches 4 at most, the standard deviations of
-- Gaussian noise are 4.8 and 8.5
CREATE TABLE frequent AS SELECT m, m * 10000 + i AS author, 'w' || i / n AS word
FROM (VALUES (1, 9), (10, 58), (30, 102)) v (m, n), generate_series(0, 10 * n - 1) i;
DO $$
DECLARE m int;
BEGIN
	FOREACH m IN ARRAY '{1,10,30}'::int[] LOOP
		EXECUTE format('CREATE VIEW frequent_%s AS SELECT author, word FROM frequent WHERE m = %1$s', m);
		CALL race_protect('frequent_' || m, epsilon_limit => 1000, delta_limit => 0.5, unit_column => 'author',
			max_contributions => m);
		CALL race_release('frequent ' || m, 'frequent_' || m, '{word}', 3, 1e-5);
	END LOOP;
END $$;
SELECT name, jsonb_array_length(domains->0->'categories') AS categories, (domains->0->>'persons_least')::int AS least
FROM race_catalog WHERE name LIKE 'frequent %' ORDER BY 1;

-- ------------------------------------------------------------ bounds by noisy counts
CREATE TABLE sizes AS SELECT i AS person, 1e6 + i % 7 AS far, (i % 40 - 10) AS n, i % 11 * 10.0 AS above,
	date '2020-01-01' + i % 20 AS day, timestamp '2020-01-01' + i % 20 * interval '1 day' AS at,
	i % 3 * interval '1 hour' AS long, 5 AS same, 'NaN'::float8 AS none, 'a'::text AS name
FROM generate_series(1, 2000) i;
-- one person has many large numbers, of which one counts
INSERT INTO sizes
SELECT 0, 1e6, 1000 * 2 ^ k, 1, '2020-01-01', '2020-01-01', '1 hour', 5, 'Infinity', 'a'
FROM generate_series(1, 20) k;
ALTER TABLE sizes ADD CHECK (above >= 0);
CALL race_protect('chosen sizes', 'sizes', 1e9, 0, 'person', 1);
SET client_min_messages = notice;
CALL race_describe('chosen sizes', 'above', bounds => 'private', epsilon => 1e6, unit => 'm');
CALL race_describe('chosen sizes', 'above', bounds => 'private', epsilon => 0.5);
CALL race_describe('chosen sizes', 'none', bounds => 'private', epsilon => 1e6);
-- what must not be told, or asked
CALL race_describe('chosen sizes', 'name', bounds => 'private', epsilon => 1);
CALL race_describe('chosen sizes', 'n', bounds => 'public', epsilon => 1);
CALL race_describe('chosen sizes', 'n', bounds => 'private');
CALL race_describe('chosen sizes', 'n', bounds => 'private', epsilon => 0);
CALL race_describe('chosen sizes', 'n', bounds => 'private', epsilon => 1e10);
CALL race_describe('chosen sizes', 'n', 1, 2, bounds => 'private', epsilon => 1);
CALL race_describe('chosen sizes', 'n', bounds => 'private', epsilon => 1, step => 1);
CALL race_describe('chosen sizes', 'n', epsilon => 1);
CALL race_describe('chosen', 'n', bounds => 'private', epsilon => 1);
SET client_min_messages = warning;
DO $$
DECLARE c name;
BEGIN
	FOREACH c IN ARRAY '{far,n,day,at,long,same}'::name[] LOOP
		CALL race_describe('chosen sizes', c, bounds => 'private', epsilon => 1e6);
	END LOOP;
END $$;
SELECT column_name, lower, upper, unit, source
FROM race_columns WHERE dataset = 'chosen sizes' AND column_name NOT IN ('n', 'name', 'person', 'none');
-- the person's number is one of twenty
SELECT lower, upper::int > 1000 AND upper::int < 2.1e9 AS one
FROM race_columns WHERE dataset = 'chosen sizes' AND column_name = 'n';
SELECT jsonb_pretty(request - 'version'::text) AS request,
	epsilon,
	rho
FROM _racepriv.race_charges WHERE dataset = 'chosen sizes' AND act = 'release' ORDER BY request->>'name' COLLATE "C" \gx
SELECT column_name, revision, epsilon FROM _racepriv.race_descriptions WHERE dataset = 'chosen sizes' ORDER BY 1, 2;
CALL race_describe('chosen sizes', 'far');
CALL race_describe('chosen sizes', 'far', bounds => 'private', epsilon => 1e6);
SELECT spent_epsilon FROM race_budget_status WHERE budget = 'chosen sizes';
DROP SCHEMA chosen CASCADE;
