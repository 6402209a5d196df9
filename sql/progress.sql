-- racepriv.progress: how far a release or a fit is, told to the client alone

CREATE TABLE progress_visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;
CALL race_protect('progress', 'progress_visits', 100);
CALL race_release_sketch('silent', 'progress', 'l2(dims=1, rows=16, range=16)', 'x', 1);
SET racepriv.progress = on;
CALL race_release_sketch('told', 'progress', 'l2(dims=1, rows=16, range=16)', 'x', 1);
CALL race_release_sketch('told of models', 'progress', 'l2(dims=1, rows=16, range=16, lower={0}, upper={10})', 'x', 1,
	rows => 16, label => 'site', labels => '{0,1}');
CALL race_release_next('told');
-- whatever is wanted of other messages
SET client_min_messages = error;
CALL race_release_next('told');
SELECT (race_info(race_fit(race_build('l2(dims=1, rows=512, range=16)', x), lower => '{0}', upper => '{10}',
	points => 5))).points > 0 AS fitted
FROM progress_visits;
SET racepriv.progress = off;
CALL race_release_next('told');
DROP TABLE progress_visits;
