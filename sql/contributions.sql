-- how many rows of a person are counted: race_protect asks, releases may count fewer, owners correct it; and which rows
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA contributions;
SET search_path = contributions, public;
CREATE TABLE ratings AS
SELECT i % 1000 AS member, i % 20 AS movie, i % 3 = 0 AS online FROM generate_series(1, 20000) i;

-- the decision is the owner's, unless a unique index states it
CALL race_protect('ratings', epsilon_limit => 1e6, unit_column => 'member');
CREATE TABLE members (member int PRIMARY KEY, online boolean);
CALL race_protect('members', epsilon_limit => 1, unit_column => 'member');
CREATE TABLE partly (member int, online boolean);
CREATE UNIQUE INDEX ON partly (member) WHERE online;
CALL race_protect('partly', epsilon_limit => 1, unit_column => 'member');
CREATE TABLE monthly (member int, month int, UNIQUE (member, month));
CALL race_protect('monthly', epsilon_limit => 1, unit_column => 'member');
CREATE TABLE parents (member int UNIQUE);
CREATE TABLE children () INHERITS (parents);
CALL race_protect('parents', epsilon_limit => 1, unit_column => 'member');
CREATE TABLE divided (member int UNIQUE) PARTITION BY RANGE (member);
CALL race_protect('divided', epsilon_limit => 1, unit_column => 'member');
CREATE TABLE alone (online boolean);
CALL race_protect('alone', epsilon_limit => 1);
CALL race_protect('ratings', epsilon_limit => 1e6, unit_column => 'member', max_contributions => 5);
SELECT dataset, unit_column, max_contributions FROM _racepriv.race_datasets
WHERE relation_name LIKE 'contributions.%' ORDER BY dataset COLLATE "C";

-- a release counts so many, or as many as it says; after a correction more
CALL race_release('five', 'ratings', '{online}', 100);
CALL race_release('two', 'ratings', '{online}', 100, max_contributions => 2);
CALL race_release('six', 'ratings', '{online}', 100, max_contributions => 6);
CALL race_release('none', 'ratings', '{online}', 100, max_contributions => 0);
CALL race_release('alone', 'alone', '{online}', 1, max_contributions => 2);
CALL race_protect('ratings', max_contributions => 6, columns => '{"movie": [0, 19]}');
CALL race_release('six', 'ratings', '{online,movie}', 100, max_contributions => 6);
CALL race_release_sketch('sketch', 'ratings', 'l2(dims=1, bandwidth=3)', 'ARRAY[movie]', 1e5, max_contributions => 3);
SELECT name, round(count / 1000.0) AS rows
FROM race_latest_releases WHERE dataset = 'ratings' ORDER BY name COLLATE "C";
CALL race_release_next('two');
SELECT round(count / 1000) AS rows FROM race_count('two');
SELECT round(max(p.expected / s.expected)) AS times
FROM race_plan('ratings', '{online}', 1) p
	JOIN race_plan('ratings', '{online}', 1, max_contributions => 1) s USING (question)
WHERE question = 'count of one value of "online"';

-- nothing else is corrected, and not in silence
CALL race_protect('ratings');
CALL race_protect('ratings', unit_column => 'movie', max_contributions => 3);
CALL race_protect('ratings', relation => 'members', max_contributions => 3);
CALL race_protect('ratings', epsilon_limit => 7, max_contributions => 3);
CALL race_protect('ratings', neighbors => 'substitute', max_contributions => 3);
CALL race_protect('ratings', public_tables => '{members}', max_contributions => 3);
CALL race_protect('ratings', max_contributions => 0);
CREATE ROLE race_stranger;
GRANT USAGE ON SCHEMA contributions TO race_stranger;
CALL race_grant('race_stranger', 'owner');
SET ROLE race_stranger;
CALL race_protect('ratings', max_contributions => 3);
RESET ROLE;
UPDATE _racepriv.race_datasets SET unit_column = 'movie' WHERE dataset = 'ratings';
DELETE FROM _racepriv.race_datasets;
SELECT act, request->'max_contributions' AS now, request->'max_contributions_before' AS before
FROM _racepriv.race_charges WHERE dataset = 'ratings' AND act <> 'release' ORDER BY charged_at;

-- rows are filtered before they are bounded: 2,000 of two movies, of 100 members with 20 rows each
CALL race_release('of two', 'ratings', '{movie}', 100, "where" => 'movie IN (3, 4)', max_contributions => 2);
SELECT round(count / 100) AS hundreds, source FROM race_count('of two', '{"movie": "[3,5)"}');
SELECT round(count / 100) AS hundreds FROM race_count('of two', '{"movie": "[5,20)"}');
CALL race_release('of two', 'ratings', '{movie}', 100, "where" => 'movie BETWEEN 3 AND 4', max_contributions => 2);
CALL race_release_next('of two');
SELECT round(count / 100) AS hundreds FROM race_count('of two');
SELECT race_label('of two')->'racepriv'->'where' AS "where";
SELECT "where" FROM race_catalog WHERE name = 'of two';
CALL race_release_sketch('sketch of two', 'ratings', 'match(dims=1)', 'ARRAY[movie]', 1e5,
	"where" => 'movie IN (3, 4)');
SELECT round(count / 100.0) AS hundreds FROM race_latest_releases WHERE name = 'sketch of two';
-- a condition of one row, of IMMUTABLE functions
CALL race_release('wrong', 'ratings', '{movie}', 1, "where" => 'movie');
CALL race_release('wrong', 'ratings', '{movie}', 1, "where" => 'movie > (SELECT avg(movie) FROM ratings)');
CALL race_release('wrong', 'ratings', '{movie}', 1, "where" => 'random() < 0.5');
CALL race_release('wrong', 'ratings', '{movie}', 1, "where" => 'true) OR (true');
CALL race_release('wrong', 'ratings', '{movie}', 1, "where" => 'nobody = 1');

RESET search_path;
DROP SCHEMA contributions CASCADE;
DROP OWNED BY race_stranger;
DROP ROLE race_stranger;
