-- What the dashboard shows, from raw rows to a database of analysts.  Table raw (b, g, r,
-- class) is there, of real or made-up pixels.
\set QUIET on
CREATE EXTENSION racepriv;
CREATE ROLE analyst LOGIN;
CREATE ROLE curator LOGIN;
CALL race_grant('analyst', 'analyst');
CALL race_grant('curator', 'curator');

-- The data grow between versions; what comes last is something else.
CREATE TABLE pixels AS
SELECT r AS red, g AS green, b AS blue, CASE class WHEN 1 THEN 'skin' ELSE 'other' END AS kind FROM raw WHERE id % 3 = 0;
CALL race_protect('pixels', 'pixels', epsilon_limit => 1);
GRANT SELECT ON pixels TO curator;

\set line '''l2(dims=1, bandwidth=12, lower={0}, upper={255})'''
\set units '''{of 255,of 255}'''
SET ROLE curator;
CALL race_release_sketch('colours', 'pixels', 'l2(dims=2, bandwidth=24, lower={0,0}, upper={255,255})', 'ARRAY[red, green]',
	epsilon => 0.5, description => 'Red and green of each pixel.', columns => '{red,green}', units => :units);
CALL race_release_sketch('red by kind', 'pixels', :line, 'ARRAY[red]', epsilon => 0.05, label => 'kind', labels => '{skin,other}',
	description => 'Red, of skin and of other things.', columns => '{red}', units => '{of 255}');
CALL race_release_sketch('blue by red', 'pixels', :line, 'ARRAY[red]', epsilon => 0.05, value => 'blue', value_lower => 0, value_upper => 255,
	description => 'The mean of blue by red.', columns => '{red,blue}', units => :units);
CALL race_release_sketch('red', 'pixels', :line, 'ARRAY[red]', epsilon => 0.02,
	description => 'Pixels of photographs of faces and of other things.', columns => '{red}', units => '{of 255}');
RESET ROLE;
INSERT INTO pixels SELECT r, g, b, CASE class WHEN 1 THEN 'skin' ELSE 'other' END FROM raw WHERE id % 3 = 1;
SET ROLE curator;
CALL race_release_next('red');
RESET ROLE;
INSERT INTO pixels SELECT r, g, b, CASE class WHEN 1 THEN 'skin' ELSE 'other' END FROM raw WHERE id % 3 = 2 AND r > 128;
SET ROLE curator;
CALL race_release_next('red');
RESET ROLE;
INSERT INTO pixels SELECT r, g, b, CASE class WHEN 1 THEN 'skin' ELSE 'other' END FROM raw WHERE id % 3 = 2 AND r > 160 AND class = 1;
SET ROLE curator;
CALL race_release_next('red');
RESET ROLE;

-- Releases go to another database; charges and data stay where they are.
CREATE DATABASE analysis;
\c analysis
CREATE EXTENSION racepriv;
CALL race_grant('analyst', 'analyst');
\! psql -Xq -d camera -c 'COPY _racepriv.race_releases TO STDOUT' | psql -Xq -d analysis -c 'COPY _racepriv.race_releases FROM STDIN'
