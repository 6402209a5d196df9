-- race_protect: what can be protected, and which budget it gets
\set SHOW_CONTEXT never
CREATE SCHEMA protect;
SET search_path = protect, public;
CREATE TABLE people (id int, x float8[], region int);
CREATE TABLE stays (person int, days float8);
CREATE TABLE letters (person bigint, pages float8);
CREATE TABLE regions (region int, name text);
CREATE TABLE logs (id int, x float8[]) PARTITION BY RANGE (id);
CREATE TABLE logs1 PARTITION OF logs FOR VALUES FROM (0) TO (100);
CREATE TABLE codes (code text, id int);
CREATE TABLE aliases (code varchar(9));
CREATE DOMAIN code AS text;
CREATE TABLE typed (code code);
CREATE VIEW nested AS SELECT id + 0 AS sum, id AS who, s.days FROM people JOIN stays s ON s.person = id;
CREATE VIEW copy AS SELECT * FROM people;
CREATE MATERIALIZED VIEW filled AS SELECT * FROM people;

-- the private tables of a view, or why it has none
CREATE DOMAIN pg_temp.passing_int AS int;
CREATE FUNCTION tables_of(definition text, unit name, public_tables regclass[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	why text;
BEGIN
	EXECUTE 'CREATE VIEW tried AS ' || definition;
	BEGIN
		CALL race_protect('tried', 'tried', 1, unit_column => unit, max_contributions => 1,
			public_tables => public_tables);
		SELECT array_agg(t.relation::regclass ORDER BY t.relation)::text INTO answer FROM _racepriv.race_budget_tables t
		WHERE t.budget = 'tried' AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = t.relation);
		RAISE EXCEPTION USING ERRCODE = 'UNDO0';
	EXCEPTION WHEN SQLSTATE 'UNDO0' THEN NULL;
	WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
		answer := SQLSTATE || ' ' || regexp_replace(why, '(: (each|it|only)|, the same|, whose) .*', '');
	END;
	DROP VIEW tried;
	RETURN answer;
END $$;
SET client_min_messages = warning;
\t on
\pset format unaligned
SELECT format(E'%s%s%s\n  -> %s', definition, E'\n  unit ' || unit, E'\n  public ' || public_tables::text,
	tables_of(definition, unit, coalesce(public_tables, '{}')))
FROM (VALUES
	(1, 'SELECT * FROM people', NULL::name, NULL::regclass[]),
	(2, 'SELECT DISTINCT id FROM people', NULL, NULL),
	(3, 'SELECT DISTINCT ON (region) id FROM people', NULL, NULL),
	(4, 'SELECT id, count(*) FROM people GROUP BY id', NULL, NULL),
	(5, 'SELECT id FROM people GROUP BY id', NULL, NULL),
	(6, 'SELECT 1 FROM people HAVING true', NULL, NULL),
	(7, 'SELECT id, count(*) OVER () FROM people', NULL, NULL),
	(8, 'SELECT id FROM people LIMIT 3', NULL, NULL),
	(9, 'SELECT id FROM people OFFSET 3', NULL, NULL),
	(10, 'SELECT id FROM people UNION ALL SELECT person FROM stays', NULL, NULL),
	(11, 'SELECT id, (SELECT max(days) FROM stays) FROM people', NULL, NULL),
	(12, 'SELECT id FROM people WHERE id IN (SELECT person FROM stays)', NULL, NULL),
	(13, 'SELECT id, unnest(x) FROM people', NULL, NULL),
	(14, 'SELECT id, random() FROM people', NULL, NULL),
	(15, 'SELECT id, now() FROM people', NULL, NULL),
	(16, 'SELECT id FROM people TABLESAMPLE system (10)', NULL, NULL),
	(17, 'SELECT id FROM people FOR UPDATE', NULL, NULL),
	(18, 'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT p.* FROM people p, t',
		'id', NULL),
	(19, 'WITH q AS (SELECT * FROM people) SELECT * FROM q', NULL, NULL),
	(20, 'WITH q AS (SELECT * FROM people) SELECT q.* FROM q JOIN q r ON q.id = r.id', 'id', NULL),
	(21, 'WITH q AS (SELECT * FROM people) SELECT q.* FROM q JOIN q r ON q.region = r.region', 'id', NULL),
	(22, 'SELECT p.* FROM people p JOIN stays ON person = id', NULL, NULL),
	(23, 'SELECT p.* FROM people p JOIN stays ON person = id', 'id', NULL),
	(24, 'SELECT p.*, days FROM people p, stays WHERE person = id AND days > 0', 'id', NULL),
	(25, 'SELECT p.*, days FROM people p, stays WHERE person = id OR days > 0', 'id', NULL),
	(26, 'SELECT p.*, days FROM people p, stays WHERE person <= id', 'id', NULL),
	(27, 'SELECT p.*, pages FROM people p JOIN letters ON person = id', 'id', NULL),
	(28, 'SELECT p.*, days FROM people p LEFT JOIN stays ON person = id', 'id', NULL),
	(29, 'SELECT p.*, r.name FROM people p LEFT JOIN regions r USING (region)', 'id', '{regions}'),
	(30, 'SELECT p.*, r.name FROM people p LEFT JOIN regions r USING (region)', 'id', NULL),
	(31, 'SELECT p.*, r.name FROM people p LEFT JOIN regions r USING (region)', 'name', '{regions}'),
	(32, 'SELECT r.region, p.x FROM people p LEFT JOIN regions r ON r.region = p.region', 'region', '{regions}'),
	(33, 'SELECT r.region, p.x FROM people p JOIN regions r ON r.region = p.region', 'region', '{regions}'),
	(34, 'SELECT p.id FROM people p RIGHT JOIN regions r USING (region)', 'id', '{regions}'),
	(35, 'SELECT p.id FROM people p FULL JOIN regions r USING (region)', 'id', '{regions}'),
	(36, 'SELECT id, y FROM people, unnest(x) y', NULL, NULL),
	(37, 'SELECT id, y FROM people, unnest(x) y', 'id', NULL),
	(38,
		'SELECT s.id, t.days FROM (SELECT id FROM people WHERE id > 3) s JOIN (SELECT person AS q, '
			'days FROM stays) t ON q = s.id',
		'id', NULL),
	(39, 'SELECT s.id FROM (SELECT id FROM people LIMIT 1) s', 'id', NULL),
	(40, 'SELECT p.id, s.days FROM people p, LATERAL (SELECT * FROM stays WHERE person = p.id) s', 'id', NULL),
	(41, 'SELECT id + 1 AS id FROM people', 'id', NULL),
	(42, 'SELECT id + 1 AS id FROM people, regions', 'id', '{regions}'),
	(43, 'SELECT id FROM logs1', NULL, NULL),
	(44, 'SELECT id FROM copy', NULL, NULL),
	(45, 'SELECT * FROM regions', NULL, '{regions}'),
	(46, 'SELECT 1 AS id', NULL, NULL),
	(47, 'SELECT who, pages FROM nested JOIN letters ON who = person', 'who', NULL),
	(48, 'SELECT sum, pages FROM nested JOIN letters ON sum = person', 'sum', NULL),
	(49, 'SELECT c.* FROM codes c JOIN aliases a ON c.code = a.code', 'code', NULL),
	(50, 'SELECT c.* FROM codes c JOIN typed t USING (code)', 'code', NULL),
	(51, 'SELECT a.* FROM (codes c JOIN aliases a USING (code)) JOIN typed t USING (code)', 'code', NULL),
	(52,
		'SELECT p.id, p.x FROM people p JOIN (regions r LEFT JOIN regions q ON r.region = q.region) '
			'ON p.region = q.region',
		'id', '{regions}'),
	(53, 'SELECT p.id, p.x FROM people p LEFT JOIN (regions r JOIN stays s ON s.person = r.region) ON p.id = s.person',
		'id', '{regions}'),
	-- where and when a row was written depends on other rows
	(54, 'SELECT id, array[((ctid::text::point)[1]::int + id) % 2 * 1000] AS x FROM people', NULL, NULL),
	(55, 'SELECT id FROM people WHERE ctid <= ''(0,10)''', NULL, NULL),
	(56, 'SELECT id, xmin FROM people', NULL, NULL),
	(57, 'SELECT id FROM logs WHERE tableoid = 0', NULL, NULL),
	(58, 'SELECT p.id FROM people p JOIN stays s ON person = id AND s.ctid = p.ctid', 'id', NULL),
	(59, 'WITH q AS (SELECT id, cmax AS c FROM people) SELECT id FROM q', NULL, NULL),
	(60, 'SELECT id FROM (SELECT id, xmax AS m FROM people) q', NULL, NULL),
	(61, 'SELECT p.id FROM people p LEFT JOIN regions r ON r.region = p.region AND r.xmin::text = ''1''', 'id',
		'{regions}'),
	(62, 'SELECT p.id, s.c FROM people p, LATERAL (SELECT p.ctid::text AS c) s', 'id', NULL),
	(63, 'SELECT id, people::text AS whole FROM people', NULL, NULL),
	(64, 'SELECT id, p AS composite FROM people p', NULL, NULL),
	-- what a materialized view holds was made in the past
	(65, 'SELECT id FROM filled', NULL, NULL),
	(66, 'SELECT p.id FROM people p JOIN filled f USING (id)', 'id', NULL),
	-- what lasts no longer than a session
	(67, 'SELECT id::pg_temp.passing_int AS id FROM people', NULL, NULL)
) v(i, definition, unit, public_tables) ORDER BY i;
\pset format aligned
\t off
RESET client_min_messages;
CALL race_protect('people', unit_column => 'age', max_contributions => 1, epsilon_limit => 1);
CREATE TEMP TABLE passing (id int);
CALL race_protect('passing', epsilon_limit => 1);
CALL race_protect('pg_class', epsilon_limit => 1);
CREATE SEQUENCE numbers;
CALL race_protect('numbers', epsilon_limit => 1);

-- arguments
CALL race_protect(NULL, 'people', 1);
CALL race_protect('p', 'people', 0);
CALL race_protect('p', 'people', 'NaN');
CALL race_protect('p', 'people', 1, 1);
CALL race_protect('p', 'people', 1, max_contributions => 0);
CALL race_protect('p', 'people', 1, neighbors => 'friends');
CALL race_protect('p', 'people', 1, accounting => 'renyi');
CALL race_protect('p', 'people', 1, accounting => 'zcdp');
CALL race_protect('p', 'copy', 1, public_tables => '{copy}');

-- what is of the same tables shares a budget
CALL race_protect('protect people', 'people', 2, 1e-6, 'id', 3);
CALL race_protect('protect people', 'people', 2, 1e-6, 'id', 3);
CALL race_protect('protect copy', 'copy', 1);
CALL race_protect('protect copy', 'copy', 2, 1e-6);
CALL race_protect('protect logs', 'logs', 1, 1e-6, accounting => 'zcdp');
CALL race_protect('protect part', 'logs1', 1, 1e-6, accounting => 'zcdp');
CREATE VIEW both_tables AS SELECT people.* FROM people JOIN logs USING (id);
CALL race_protect('protect both', 'both_tables', 1, 0, 'id');
CALL race_protect('protect both', 'both_tables', 2, 1e-6, 'id', public_tables => '{logs}');
ALTER TABLE people RENAME TO humans;
CREATE TABLE people (id int);
CALL race_protect('protect renamed', 'humans', 2, 1e-6);
CALL race_protect('protect anew', 'people', 2, 1e-6);
SELECT budget,
	datasets,
	tables,
	accounting,
	epsilon_limit,
	delta_limit,
	round(rho_limit, 4) AS rho_limit,
	epsilon_left,
	delta_left,
	round(rho_left, 4) AS rho_left,
	charges
FROM race_budget_status WHERE budget LIKE 'protect %' ORDER BY 1 \gx
-- a partition that is detached keeps the budget
CREATE TABLE years (id int, x float8[], year int) PARTITION BY LIST (year);
CREATE TABLE years1 PARTITION OF years FOR VALUES IN (1);
CALL race_protect('protect years', 'years', 1);
ALTER TABLE years DETACH PARTITION years1;
CALL race_protect('protect years1', 'years1', 9);
-- and so does a table that is made anew, protected again, and then renamed
DROP TABLE years;
CREATE TABLE years (id int);
CALL race_protect('protect years anew', 'years', 1);
ALTER TABLE years RENAME TO decades;
CALL race_protect('protect decades', 'decades', 9);
SELECT tables FROM race_budget_status WHERE budget = 'protect years';

-- limits
CALL race_budget_limit('protect copy', 3, 0.00001);
CALL race_budget_limit('protect logs', 2, 0);
CALL race_budget_limit('nothing', 2, 0);
SELECT dataset,
	act,
	jsonb_pretty(request - '{relation,public_tables,meant}'::text[]) AS request
FROM _racepriv.race_charges WHERE budget = 'protect people' ORDER BY dataset, act \gx
-- who may
CREATE ROLE race_stranger;
GRANT USAGE, CREATE ON SCHEMA protect TO race_stranger;
GRANT SELECT ON letters, stays TO race_stranger;
SET ROLE race_stranger;
CALL race_protect('p', 'stays', 1);
RESET ROLE;
CALL race_grant('race_stranger', 'king');
CALL race_grant('race_stranger', 'owner');
SET ROLE race_stranger;
CALL race_protect('p', 'stays', 1);
CALL race_budget_limit('protect copy', 30, 0);
-- a view of one's own is not enough
CREATE VIEW mine AS SELECT * FROM letters;
CALL race_protect('p', 'mine', 1);
CALL race_budget_adopt('protect copy');
RESET ROLE;
CREATE TABLE theirs (id int);
ALTER TABLE theirs OWNER TO race_stranger;
SET ROLE race_stranger;
CALL race_protect('protect theirs', 'theirs', 1);
CALL race_budget_limit('protect theirs', 2, 0);
RESET ROLE;
CREATE VIEW joint AS SELECT stays.* FROM stays JOIN theirs ON id = person;
ALTER VIEW joint OWNER TO race_stranger;
CALL race_protect('protect joint', 'joint', 2, 0, 'person', 1);
SET ROLE race_stranger;
CALL race_budget_limit('protect theirs', 30, 0);
RESET ROLE;
-- nor is a view whose table was renamed
CREATE TABLE renamed (id int);
CREATE VIEW of_renamed AS SELECT * FROM renamed;
CALL race_protect('protect renamed view', 'of_renamed', 1);
ALTER VIEW of_renamed OWNER TO race_stranger;
ALTER TABLE renamed RENAME TO renamed_since;
SET ROLE race_stranger;
CALL race_budget_limit('protect renamed view', 30, 0);
-- the server calls functions of indexes as their owner, in sessions of others
CREATE FUNCTION raise_limit() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CALL race_budget_limit('protect copy', 30, 0);
END $$;
CREATE FUNCTION indexed(int) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$
BEGIN
	IF current_user <> session_user THEN
		PERFORM raise_limit();
	END IF;
	RETURN $1;
END $$;
RESET ROLE;
INSERT INTO theirs VALUES (1);
CREATE INDEX ON theirs (indexed(id));
SELECT epsilon_limit FROM race_budget_status WHERE budget = 'protect people';
DROP OWNED BY race_stranger;
DROP ROLE race_stranger;

-- the ledger only grows
UPDATE _racepriv.race_charges SET epsilon = 0;
DELETE FROM _racepriv.race_releases;
TRUNCATE _racepriv.race_releases;
DELETE FROM _racepriv.race_budgets;
UPDATE _racepriv.race_datasets SET budget = NULL;
DELETE FROM _racepriv.race_budget_tables;
SET client_min_messages = warning;
DROP SCHEMA protect CASCADE;
