# Stored values that were damaged on disk, or have an unknown version: errors and nothing worse.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use Test::More;

plan skip_all => 'the values are of a little-endian machine' if unpack('C', pack('S', 1)) != 1;

# Any bytes as a stored sketch, and back
sql(<<'END');
SET client_min_messages = warning;
CREATE TYPE raw;
CREATE FUNCTION raw_in(cstring) RETURNS raw LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION raw_out(raw) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
CREATE TYPE raw (INPUT = raw_in, OUTPUT = raw_out, LIKE = race_sketch);
CREATE CAST (raw AS race_sketch) WITHOUT FUNCTION;
CREATE CAST (race_sketch AS raw) WITHOUT FUNCTION;
CREATE TABLE now AS
SELECT race_build('l2(dims=2, bandwidth=2, rows=2, range=16, seed=1)', ARRAY[i, i % 3]) AS s FROM generate_series(1, 9) i;
END

# A private sketch of rows that says it has the noise of moments: written with its checksum, it is not read
like(sql_fails(<<'END'), qr/\AERROR:  22P03: .*Noise of Wishart matrices is for moments/s, 'sketches of rows do not have noise of Wishart matrices');
SELECT overlay(race_privatize(s, 1)::raw::text PLACING '04' FROM 3 + 2 * 5)::raw::race_sketch::text::race_sketch FROM now;
END

# Values of an unknown version are refused
like(sql_fails(q{SELECT overlay(s::raw::text PLACING '02' FROM 3)::raw::race_sketch::text FROM now}),
	qr/\AERROR:  XX001: race_sketch value of unknown format/, 'stored values of version 2 are refused');

# Damage each byte of counters, and those that say how they are stored; look how many
# uses are refused.  The values are read as they are, so the session survives by itself.
my $ends = sql(<<'END');
CREATE FUNCTION use_damaged(hex text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s race_sketch := ('\x' || hex)::raw::race_sketch;
BEGIN
	PERFORM race_kernel_sum(s, '{1,2}'), race_count(s + s), race_count(race_add(s, '{1,2}')), race_info(s);
	PERFORM s::text;
	RETURN 'used';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
WITH good (hex, size) AS (SELECT substr(s::raw::text, 3), length(s::raw::text) / 2 - 1 FROM now),
damaged AS (
	SELECT use_damaged(overlay(hex PLACING lpad(to_hex(get_byte(decode(hex, 'hex'), i) # x), 2, '0') FROM 2 * i + 1 FOR 2)) AS ended
	FROM good, generate_series(0, size - 1) i, unnest('{1,2,16,128,255}'::int[]) x
	WHERE i < 2 OR i BETWEEN 76 AND 87 OR i >= 156)
SELECT count(*) > 100, count(*) FILTER (WHERE ended = 'XX001') > 20, string_agg(DISTINCT ended, ',' ORDER BY ended) FROM damaged;
END
is($ends, 't|t|XX001,used', 'damaged values are errors of class XX001, or sketches of something else');

done_testing();
