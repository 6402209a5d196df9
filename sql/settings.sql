-- settings: what they are without anyone's doing, and what they refuse
LOAD 'racepriv';

SHOW racepriv.cache_size;
SHOW racepriv.vector_code;
SELECT name, vartype, context, boot_val, unit FROM pg_settings WHERE name LIKE 'racepriv.%' ORDER BY 1;

-- units
SET racepriv.cache_size = '3MB';
SHOW racepriv.cache_size;
SET racepriv.cache_size = 100;
SHOW racepriv.cache_size;
SET racepriv.cache_size = 0;
SHOW racepriv.cache_size;
-- the message for numbers out of range is not the same in all versions
\set VERBOSITY sqlstate
SET racepriv.cache_size = -1;
SET racepriv.cache_size = '100TB';
SET racepriv.cache_size = 'much';
SET racepriv.vector_code = 'sse';
\set VERBOSITY default
SET racepriv.cache_size = 'much';
SET racepriv.cache_size = '3 bottles';
SET racepriv.vector_code = 'sse';
SET racepriv.vector_code = '';
SET racepriv.vector_code = 'AUTO';
SHOW racepriv.cache_size;
SHOW racepriv.vector_code;
RESET racepriv.cache_size;
SHOW racepriv.cache_size;

-- every machine has portable code, and it hashes like the rest
CREATE TABLE t AS SELECT race_build('l2(dims=3, rows=70, range=100)', ARRAY[i % 7, i % 11, i]) AS s
FROM generate_series(1, 1000) i;
SET racepriv.vector_code = 'portable';
SHOW racepriv.vector_code;
SELECT race_build('l2(dims=3, rows=70, range=100)', ARRAY[i % 7, i % 11, i])::text = min(s::text) AS same
FROM t, generate_series(1, 1000) i;
-- until the end of a transaction
RESET racepriv.vector_code;
BEGIN;
SET LOCAL racepriv.vector_code = 'portable';
SET LOCAL racepriv.cache_size = '1GB';
ROLLBACK;
SHOW racepriv.vector_code;
SHOW racepriv.cache_size;
DROP TABLE t;
