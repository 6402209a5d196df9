-- Data for the demo, made up: ages of visitors, and laboratory values of
-- patients with and without a condition.  Tables: density_source (x),
-- density_plan, class_source (x, label), class_plan.
DO $$ BEGIN PERFORM setseed(0.5); END $$;

CREATE FUNCTION pg_temp.normal() RETURNS float8 LANGUAGE sql VOLATILE AS
	'SELECT sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())';

CREATE TABLE density_source AS
SELECT ARRAY[CASE WHEN i % 5 < 2 THEN 28 + 6 * pg_temp.normal()
                  WHEN i % 5 < 4 THEN 63 + 9 * pg_temp.normal()
                  ELSE 90 * random() END] AS x
FROM generate_series(1, 50000) i;
CREATE TABLE density_plan AS
SELECT 'ages of 50,000 visitors (made up)' AS title, 'years' AS unit, 3.0 AS bandwidth, 0 AS low, 96 AS high;

CREATE TABLE class_source AS
SELECT CASE WHEN sick THEN 'condition' ELSE 'healthy' END AS label,
       ARRAY[0.5 + 0.1 * pg_temp.normal() + sick::int * 0.25,
             0.4 + 0.1 * pg_temp.normal() + sick::int * 0.15,
             0.6 + 0.1 * pg_temp.normal() - sick::int * 0.2] AS x
FROM (SELECT random() < 0.2 AS sick FROM generate_series(1, 20000)) v;
CREATE TABLE class_plan AS
SELECT '20,000 patients, 3 laboratory values (made up)' AS title, 3 AS dims, 0.15 AS bandwidth;
