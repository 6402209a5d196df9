-- In a schema of its own, off the search_path, and moved to another
DROP EXTENSION racepriv;
CREATE SCHEMA private;
CREATE EXTENSION racepriv SCHEMA private;
SHOW search_path;
CREATE TABLE t AS SELECT private.race_build('l2(dims=1, rows=16, range=32)', ARRAY[i]) AS s FROM generate_series(1, 50) i;
SELECT private.race_count(s), private.race_count(s OPERATOR(private.+) s), private.race_kde(s, '{25}') > 0 AS dense,
       private.race_classify(ARRAY[s], '{25}'), private.race_count(private.race_privatize(s, 100000, rows => 8)),
       (SELECT count(*) FROM private.race_kde_grid(s, '{0}', '{9}', '{10}')) AS points
FROM t;
SELECT private.race_classify(1, s, '{25}'), private.race_count(private.race_merge(s)), private.race_params(min(s::text)::private.race_sketch) FROM t;
SELECT count(*) FROM (SELECT DISTINCT private.race_params(s) FROM t) v;
CREATE SCHEMA elsewhere;
ALTER EXTENSION racepriv SET SCHEMA elsewhere;
SELECT elsewhere.race_count(s) FROM t;
DROP TABLE t;
DROP EXTENSION racepriv;
DROP SCHEMA private, elsewhere;
