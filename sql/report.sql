-- race_report: what a release by columns shows of itself, and what to change
\set SHOW_CONTEXT never
CREATE SCHEMA report;
SET search_path = report, public;
CREATE FUNCTION sentences(text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace($1, '[.] ', E'.\n', 'g') $$;
SET client_min_messages = warning;
CREATE TABLE staff AS
SELECT i AS id, (array['Production', 'Production  ', 'Sales', 'M '])[1 + i % 4] AS dept, i * 7919 % 100 AS age,
	100 * (i % 10) AS salary, i % 2 = 0 AS "boss?", nullif(i % 5, 0) AS grade
FROM generate_series(1, 20000) i;
CALL race_protect('staff', epsilon_limit => 1e6, columns =>
	'{"dept": ["Production", "Sales", "M"], "age": [0, 50], "salary": [0, 1000], "grade": [1, 4]}');
RESET client_min_messages;

-- a list that misses texts with blanks, and a bound that half of the ages exceed; heaps of salaries are no such thing
CALL race_release('staff', 'staff', '{dept,age,salary,"boss?",grade}', 1e4);
SELECT topic, "column", round(value::numeric, 2) AS value, lower <= value AND value <= upper AS within,
	advice IS NOT NULL AS advised
FROM race_report('staff') WHERE topic <> 'error of a cell';
SELECT "column", sentences(advice) AS advice FROM race_report('staff') WHERE advice IS NOT NULL \gx
SELECT count(*) > 0 AS tables, bool_and(value > 0 AND lower IS NULL AND upper IS NULL) AS errors
FROM race_report('staff') WHERE topic = 'error of a cell';
-- what it says is true after the change
SET client_min_messages = warning;
CALL race_describe('staff', 'age', lower => 0, upper => 99);
CALL race_describe('staff', 'dept', categories => '{Production,"Production  ",Sales,"M "}');
RESET client_min_messages;
CALL race_release('staff anew', 'staff', '{dept,age}', 100);
SELECT count(*) FILTER (WHERE advice LIKE '%race_describe%') AS advised,
	count(*) FILTER (WHERE topic = 'not in the list') AS lists
FROM race_report('staff anew');

-- columns that nothing connects have no answer together, and the release that has one is named
SET client_min_messages = warning;
CREATE TABLE unconnected AS SELECT 'a' || i % 60 AS a, 'b' || i % 60 AS b, i % 7 AS c FROM generate_series(1, 60) i;
SELECT jsonb_build_object('a', jsonb_agg('a' || i), 'b', jsonb_agg('b' || i)) AS lists
FROM generate_series(0, 59) i \gset
-- no noise makes a table of 3,600 cells worth its own
CALL race_protect('unconnected', epsilon_limit => 10, unit_column => 'c', max_contributions => 4,
	columns => :'lists');
CALL race_release('unconnected', 'unconnected', '{a,b}', 0.001);
SELECT topic, "column", sentences(advice) AS advice
FROM race_report('unconnected') WHERE topic IN ('connected', 'alone') ORDER BY 2;
SELECT topic, value IS NULL AS unknown, sentences(advice) AS advice
FROM race_report('unconnected') WHERE topic IN ('records', 'units');

-- without a unit column, or with weights, the report counts no units
CALL race_release('weighted', 'unconnected', '{a}', 1, weight => 'c + 1', weight_max => 8, max_contributions => 2);
CREATE TABLE rows_alone AS SELECT i % 2 = 0 AS even FROM generate_series(1, 100) i;
CALL race_protect('rows_alone', epsilon_limit => 10, max_contributions => 3);
CALL race_release('rows alone', 'rows_alone', '{even}', 1);
SELECT name, topic, advice IS NULL AS good
FROM (VALUES ('weighted'), ('rows alone')) n (name), race_report(name) WHERE topic IN ('records', 'units') ORDER BY 1;

-- what has no columns has none
CALL race_release_sketch('no tables', 'staff', 'l2(dims=1)', 'ARRAY[age]', 1);
SELECT * FROM race_report('no tables');
SELECT * FROM race_report('nothing');
SELECT count(*) FROM race_report(NULL::text);
SELECT count(*) FROM race_report('staff', NULL);
SELECT count(*) FROM race_report('staff', 1);

RESET search_path;
DROP SCHEMA report CASCADE;
