-- wrong inputs: what the message says, its SQLSTATE, and what its hint says to type instead; nothing is charged
\set SHOW_CONTEXT never
CREATE SCHEMA refused;
SET search_path = refused, public;
CREATE TABLE callers (person int NOT NULL, age int CHECK (age BETWEEN 0 AND 120),
	site text CHECK (site IN ('north', 'south')), weight float8, note text);
INSERT INTO callers SELECT i, i % 100, (ARRAY['north', 'south'])[1 + i % 2], 70, 'a' FROM generate_series(1, 2000) i;
SET client_min_messages = warning;
CALL race_protect('callers', epsilon_limit => 3, unit_column => 'person', max_contributions => 1);
CALL race_release('callers 2026', 'callers', '{age,site}', epsilon => 1);

-- tables
CALL race_protect('caller', epsilon_limit => 1); \echo :SQLSTATE
CALL race_protect('others', 'callers', epsilon_limit => 0); \echo :SQLSTATE
CALL race_protect('others', 'callers', epsilon_limit => 1, unit_column => 'persons'); \echo :SQLSTATE
CALL race_protect('others', 'callers', epsilon_limit => 1, max_contributions => 0); \echo :SQLSTATE
CALL race_protect('others', 'callers', epsilon_limit => 1, accounting => 'renyi'); \echo :SQLSTATE
CALL race_protect('others', 'callers', epsilon_limit => 1, neighbors => 'rows'); \echo :SQLSTATE
CALL race_protect('other', 'callers', epsilon_limit => 9); \echo :SQLSTATE

-- columns
CALL race_describe('callers', 'ag', lower => 0, upper => 120); \echo :SQLSTATE
CALL race_describe('callers', 'weight', lower => 0); \echo :SQLSTATE
CALL race_describe('callers', 'note', categories => '{a,a}'); \echo :SQLSTATE
CALL race_describe('caller', 'age', lower => 0, upper => 120); \echo :SQLSTATE

-- plans and releases
SELECT * FROM race_plan('callers', '{age}'); \echo :SQLSTATE
SELECT * FROM race_plan('callers', '{age}', epsilon => -1); \echo :SQLSTATE
CALL race_release('new', 'callers', '{age,note}', epsilon => 1); \echo :SQLSTATE
CALL race_release('new', 'callers', '{}', epsilon => 1); \echo :SQLSTATE
CALL race_release('new', 'callers', '{age}', epsilon => 0); \echo :SQLSTATE
CALL race_release('new', 'callers', '{age}', epsilon => 9); \echo :SQLSTATE
CALL race_release('new', 'callers', '{age}', epsilon => 1, delta => 1); \echo :SQLSTATE
CALL race_release('callers 2026', 'callers', '{age}', epsilon => 1); \echo :SQLSTATE
CALL race_release_next('callers 2027'); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'gauss', 'ARRAY[age]', epsilon => 1); \echo :SQLSTATE
CALL race_release_sketch('other', 'callers', 'l2(dims=2)', 'ARRAY[age]', epsilon => 1); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'l2(dims=1)', 'ARRAY[ag]', epsilon => 1); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'l2(dims=1)', 'ARRAY[random()]', epsilon => 1); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'l2(dims=1)', 'ARRAY[age]', epsilon => 1, labels => '{a}'); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'l2(dims=1, lower={0})', 'ARRAY[age]', epsilon => 1); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'l2(dims=1, bandwidth=200, lower={0}, upper={120})',
	'ARRAY[age]', epsilon => 1); \echo :SQLSTATE
CALL race_release_sketch('new', 'callers', 'l2(dims=1)', 'ARRAY[note::float8]', epsilon => 1); \echo :SQLSTATE

-- answers
SELECT * FROM race_count('callers 2027'); \echo :SQLSTATE
SELECT * FROM race_count('callers 2026', '{"ag": 3}'); \echo :SQLSTATE
SELECT * FROM race_count('callers 2026', '{"site": "east"}'); \echo :SQLSTATE
SELECT * FROM race_mean('callers 2026', 'site'); \echo :SQLSTATE
SELECT * FROM race_quantiles('callers 2026', 'age', p => '{50}'); \echo :SQLSTATE
SELECT * FROM race_histogram('callers 2026', 'age', '{30,20}'); \echo :SQLSTATE
SELECT * FROM race_classify('callers 2026', 'weight', '{"age": 3}'); \echo :SQLSTATE
SELECT * FROM race_synthesize(NULL::callers, 'callers 2026', -1); \echo :SQLSTATE
SELECT race_privatize(race_build('l2', ARRAY[age]), 1) FROM callers; \echo :SQLSTATE
SELECT race_kde(race_released('callers 2026'), ARRAY[3]); \echo :SQLSTATE
SELECT race_params('l2', 0); \echo :SQLSTATE
SELECT race_params('l2', 2, bandwidth => -1); \echo :SQLSTATE

-- changes
DELETE FROM _racepriv.race_charges; \echo :SQLSTATE
UPDATE _racepriv.race_releases SET name = 'old'; \echo :SQLSTATE
CALL race_grant('pg_monitor', 'reader'); \echo :SQLSTATE

-- nothing was charged
SELECT spent_epsilon, charges FROM race_budget_status WHERE budget = 'callers';
DROP SCHEMA refused CASCADE;
