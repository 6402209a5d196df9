-- What a release leaves out: told where rows may be, refused before the charge where all would be.
\set SHOW_CONTEXT never
CREATE SCHEMA excluded;
SET search_path = excluded, public;
-- as pgvector has it, with a length
CREATE TYPE vector;
SET client_min_messages = warning;
CREATE FUNCTION vector_in(cstring) RETURNS vector LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION vector_out(vector) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
CREATE FUNCTION vector_typmod(cstring[]) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'bittypmodin';
CREATE FUNCTION vector_typmod_out(int) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'bittypmodout';
CREATE TYPE vector (INPUT = vector_in, OUTPUT = vector_out, TYPMOD_IN = vector_typmod, TYPMOD_OUT = vector_typmod_out);
RESET client_min_messages;
CREATE DOMAIN three AS vector(3);
CREATE TABLE visits (person int, age int NOT NULL, score float8 NOT NULL, days numeric, sick boolean, site text,
	x float8[] NOT NULL, n int[], v vector(2), w vector, d three, c text[]);
CALL race_protect('excluded', 'visits', 1e9);
CALL race_protect('excluded people', 'visits', 1e9, unit_column => 'person', max_contributions => 1);
CALL race_protect('excluded ages', 'visits', 1e9, unit_column => 'age', max_contributions => 1);
CREATE FUNCTION twice(a int, b float8) RETURNS float8[] LANGUAGE sql IMMUTABLE AS 'SELECT ARRAY[$1, $1 * $2]';
\set two '''l2(dims=2, rows=16, range=16)'', '
\set bounded '''l2(dims=2, rows=16, range=16, lower={0,0}, upper={9,9})'', '
\set r 'CALL race_release_sketch(''excluded'', ''excluded'', '
\set rest ', 1);'

-- no row can give a record
:r :two 'ARRAY[age]' :rest
:r :two 'ARRAY[age, age, days]' :rest
:r :two 'ARRAY[age, age, days]::real[]' :rest
:r :two 'ARRAY[]::float8[]' :rest
:r :two 'ARRAY[ARRAY[age, age], ARRAY[age, age]]' :rest
:r :two 'ARRAY[age, NULL]' :rest
:r :two '''{1,2,3}''::float8[]' :rest
:r :two '''{1,NaN}''::float8[]' :rest
:r :two '''{{1,2}}''::int[]' :rest
:r :two 'NULL::float8[]' :rest
:r :two 'd' :rest
:r :two 'w::vector(3)' :rest
:r race_moment_params('{0,0}', '{1,1}', targets => 1), 'ARRAY[age, age, days]' :rest
:r 'match(dims=2)', 'ARRAY[site]' :rest
:r 'match(dims=2)', 'ARRAY[site, NULL]' :rest
:r 'jaccard', 'ARRAY[site, NULL]' :rest
:r 'l2(dims=2) * match(dims=2)', 'ROW(x, ARRAY[site])' :rest
:r 'l2(dims=2) * match(dims=2)', 'ROW(''{1}'', c)' :rest
:r :two 'x', 1, label => '''a''', labels => '{b,c}');
:r :two 'x', 1, label => 'NULL', labels => '{b,c}');
:r :two 'x', 1, label => 'sick', labels => '{0,1}');
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request->>'name' = 'excluded';

-- some may give none
CALL race_release_sketch('excluded 1', 'excluded', :two 'x' :rest
CALL race_release_sketch('excluded 2', 'excluded', :bounded 'x', 1, fit => false);
CALL race_release_sketch('excluded 3', 'excluded', :two 'n' :rest
CALL race_release_sketch('excluded 4', 'excluded', :two 'v' :rest
CALL race_release_sketch('excluded 5', 'excluded', :two 'ARRAY[age, score]' :rest
CALL race_release_sketch('excluded 6', 'excluded', :bounded 'ARRAY[age, days]', 1, fit => false);
CALL race_release_sketch('excluded 7', 'excluded', :two 'ARRAY[age, coalesce(person, 0)]' :rest
CALL race_release_sketch('excluded 8', 'excluded', :two 'twice(age, score)' :rest
CALL race_release_sketch('excluded 9', 'excluded', 'match(dims=2, rows=16, range=16, nulls=category)',
	'ARRAY[site, sick::text]' :rest
CALL race_release_sketch('excluded 10', 'excluded', 'match(dims=2, rows=16, range=16)', 'c' :rest
CALL race_release_sketch('excluded 11', 'excluded', 'jaccard(rows=16, range=16)', 'c' :rest
CALL race_release_sketch('excluded 12', 'excluded', 'l2(dims=2, rows=16, range=16) * match(dims=2)', 'ROW(x, c)' :rest
CALL race_release_sketch('excluded 13', 'excluded', :two 'ARRAY[age, age]', 1, label => 'site', labels => '{a,b}');
CALL race_release_sketch('excluded 14', 'excluded', :two 'ARRAY[age, age]', 1, label => '''a''', labels => '{a,b}');
CALL race_release_sketch('excluded 16', 'excluded people', :two 'ARRAY[age, age]' :rest
CALL race_release_sketch('excluded 17', 'excluded ages', :two 'ARRAY[age, age]' :rest
-- and a refresh tells nothing
CALL race_release_next('excluded 1');
SELECT count(*) AS charged FROM _racepriv.race_charges WHERE request->>'name' ~ '^excluded .';
-- by columns every row is a record, but of a unit
CALL race_describe('excluded people', 'age', 0, 100);
CALL race_release('excluded columns', 'excluded people', '{age}', 1);
CALL race_release('no columns excluded', 'excluded ages', '{sick}', 1);
SET client_min_messages = warning;
DROP SCHEMA excluded CASCADE;
