# Stored values whose counters are not packed, as 0.1.0 wrote them, and packed ones that
# were damaged on disk: the first are read, the second are errors and nothing worse.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
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

# What 0.1.0 stored of these records; fitted by race_fit(s, lower => '{0,0}', upper => '{9,3}', points => 3)
my %old = (
	plain => '01010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
		. '0000000000000000000000000900000000000000f0323c6d00000000000000000000000001020100020000000100000000000000000000000000004001000000'
		. '02000000100000000000000000000000000000000000000000000000000000000000000000000000000000000201000201010101090000000000000000000000'
		. '00000000',
	fitted => '01010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
		. '00000000000000000000000009000000000000002dc8176c80000000000000000000000001020100020000000100000000000000000000000000004001000000'
		. '02000000100000000000000000000000000000000000000000000000000000000000000000000000000000000201000201010101090000000000000000000000'
		. '00000000030000000000000000000000000000000000000080842e410000000000a8fe3fffffffffffff13400000000000000040000000000000004000000000'
		. '000008400000000000000840000000000000084030f57e4b9e1212404fe35542c2faf63fd414ea9180db16400dc61bbeeddff63fd5db608b77e51240dd9a3b5b'
		. 'fb96f73f');

for my $what (sort keys %old)
{
	sql("DROP TABLE IF EXISTS old; CREATE TABLE old AS SELECT '\\x$old{$what}'::raw::race_sketch AS s");
	is(sql('SELECT length(s::raw::text) FROM old'), 2 + length $old{$what}, "$what: an old value stays as it was");
	my ($same, $merged, $text, $points) = split /\|/, sql(<<'END');
SELECT (SELECT bool_and(race_kernel_sum(race_merge, ARRAY[i, 1]) = race_kernel_sum(now.s, ARRAY[i, 1])) FROM (SELECT race_merge(s) FROM old) v, generate_series(0, 9) i),
	_racepriv._race_sketch_send(old.s + now.s) = _racepriv._race_sketch_send(now.s + now.s),
	_racepriv._race_sketch_send(old.s::text::race_sketch) = _racepriv._race_sketch_send(old.s) AND left(old.s::text, 2) = 'Ag',
	(race_info(old.s)).points
FROM old, now
END
	is($same, 't', "$what: its answers are the same");
	is($merged, 't', "$what: it is merged");
	is($text, 't', "$what: it is written packed");
	is($points, $what eq 'fitted' ? 3 : '', "$what: with its model");
}

# Halves without an id belong to none: as they were stored before there were ids
like(sql_fails(<<'END'), qr/\AERROR:  22023: these halves do not belong together/, 'halves without an id are not joined');
WITH made (r) AS (SELECT race_build_value('l2(dims=1, rows=2, range=16)', ARRAY[i], 0.5, 0, 1) FROM generate_series(1, 9) i)
SELECT race_merge(overlay(h::raw::text PLACING repeat('0', 16) FROM 3 + 2 * 68)::raw::race_sketch) FROM made, unnest(ARRAY[(r).lower, (r).upper]) h;
END

# A private sketch of rows that says it has the noise of moments: written with its checksum, it is not read
like(sql_fails(<<'END'), qr/\AERROR:  22P03: .*Noise of Wishart matrices is for moments/s, 'sketches of rows do not have noise of Wishart matrices');
SELECT overlay(race_privatize(s, 1)::raw::text PLACING '04' FROM 3 + 2 * 5)::raw::race_sketch::text::race_sketch FROM now;
END

# Damage each byte of packed counters, and those that say how they are stored; look how many
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
	WHERE i < 2 OR i BETWEEN 84 AND 95 OR i >= 164)
SELECT count(*) > 100, count(*) FILTER (WHERE ended = 'XX001') > 20, string_agg(DISTINCT ended, ',' ORDER BY ended) FROM damaged;
END
is($ends, 't|t|XX001,used', 'damaged values are errors of class XX001, or sketches of something else');

done_testing();
