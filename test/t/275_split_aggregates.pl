# Aggregates that run in parts, as Citus runs them: without expressions, with exact types only, and
# with states that travel.  The result has the bits of one server's.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use SplitAggregate;
use Test::More;

sql(split_module());
sql(<<'END');
CREATE TABLE t AS SELECT i AS id, i % 32 AS shard, i % 3 AS g, CASE WHEN i % 13 > 0 THEN ARRAY[i % 17, i % 23]::float8[] END AS x,
	ARRAY[i % 7, i % 11] AS s, ARRAY['a' || i % 5, CASE WHEN i % 6 > 0 THEN 'b' END] AS c
FROM generate_series(1, 5000) i;
END

my $records = "'race_build_records(race_params, bytea)'::regprocedure";

# The parts of so many shards, put together; within groups of g, or of all rows
sub whole {
	my ($params, $x, $shards, $binary) = @_;
	return "SELECT g, split_whole$binary($records, part, NULL::race_sketch) AS s FROM (SELECT g, split_part$binary($records, ROW($params, race_record($params, $x))) AS part"
		. " FROM t GROUP BY g, shard % $shards) parts GROUP BY g";
}

my $vectors = "'l2(dims=2, bandwidth=3, rows=16, range=32)'::race_params";
my @cases = (
	['vectors', $vectors, 'x'],
	['float4', $vectors, 'x::real[]'],
	['numeric', $vectors, 'x::numeric[]'],
	['vectors in bounds', "'l2(dims=2, bandwidth=3, rows=16, range=32, lower={3,4}, upper={9,9})'::race_params", 'x'],
	['a grid', "race_params('l2', 2, sequence => 'grid', cells => '{8,8}', lower => '{0,0}', upper => '{17,23}')", 'x'],
	['sets', "'jaccard(rows=16, range=32, seed=7)'::race_params", 's'],
	['rows of categories', "'match(dims=2, rows=16, range=32, nulls=different)'::race_params", 'c'],
	['a product', "'l2(dims=2, bandwidth=3, rows=16, range=32) * match(dims=2, nulls=category)'::race_params", 'ROW(x, c)']);
for my $case (@cases) {
	my ($title, $params, $x) = @$case;
	my $all = sql("SELECT count(*), bool_and(a.s::text = b.s::text) FROM (SELECT g, race_build($params, $x) AS s FROM t WHERE $x IS NOT NULL AND x IS NOT NULL GROUP BY g) a"
		  . " JOIN (" . whole($params, $x, 4, '') =~ s/FROM t/FROM t WHERE x IS NOT NULL/r . ") b USING (g)");
	is($all, '3|t', "$title: 4 parts in 3 groups have the bits of one");
}
my $moments = "race_moment_params('{0,0}', '{17,23}')";
is(sql("SELECT split_whole('race_build_records(race_params, bytea)'::regprocedure, part, NULL::race_sketch)::text = (SELECT race_build($moments, x)::text FROM t)"
	  . " FROM (SELECT split_part('race_build_records(race_params, bytea)'::regprocedure, ROW($moments, race_record($moments, x))) AS part FROM t GROUP BY shard) v"), 't', 'moments: 32 parts');
for my $shards (2, 4, 32) {
	for my $binary ('', '_binary') {
		is(sql("SELECT bool_and(a.s::text = b.s::text) FROM (SELECT g, race_build($vectors, x) AS s FROM t GROUP BY g) a JOIN (" . whole($vectors, 'x', $shards, $binary) . ') b USING (g)'),
			't', "$shards parts$binary, with records that are NULL");
	}
}
is(sql("SELECT split_whole('race_merge(race_sketch)'::regprocedure, part, NULL::race_sketch)::text = (SELECT race_build($vectors, x)::text FROM t)"
	  . " FROM (SELECT split_part('race_merge(race_sketch)'::regprocedure, s) AS part FROM (SELECT shard, race_build($vectors, x) AS s FROM t GROUP BY 1) v GROUP BY shard % 4) parts"),
	't', 'race_merge in parts');
is(sql("SELECT split_whole($records, NULL, NULL::race_sketch) IS NULL"), 't', 'no parts give NULL');

# ------------------------------------------------- types that cannot be known

for my $case (
	['race_build(race_params, "any")', "ROW($vectors, x)"],
	['race_fit(race_sketch, "any")', "ROW(race_sketch($vectors), x)"]) {
	my ($aggregate, $arguments) = @$case;
	like(sql_fails("SELECT split_part('$aggregate'::regprocedure, $arguments) FROM t WHERE x IS NOT NULL"), qr/not exactly of the declared type/, "control, $aggregate: Citus does not call it in parts");
	like(sql_fails("SELECT split_part_unchecked('$aggregate'::regprocedure, $arguments) FROM t WHERE x IS NOT NULL"),
		qr/\AERROR:  42804: could not determine the type of argument \d of _race_\w+\n.*race_build_records/s, "$aggregate: called so, it says what is missing");
}

# ------------------------------------------- queries over distributed tables

# What Citus keeps, as far as racepriv looks at it
sql(<<'END');
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char");
END
sub plan_of {
	my ($query, $citus) = (@_, 'SET citus.shard_count = 32;');
	# Citus is preloaded, and racepriv after it
	return sql("$citus LOAD 'racepriv'; EXPLAIN (VERBOSE, COSTS off) $query");
}
my $build = "SELECT g, race_build($vectors, x) FILTER (WHERE id > 9) FROM t GROUP BY g";
my $expected = sql("SELECT string_agg(s::text, ',' ORDER BY g) FROM ($build) v(g, s)");
unlike(plan_of($build), qr/race_build_records/, 'a query over a table is as it is');
sql("INSERT INTO pg_dist_partition VALUES ('t', 'n')");
unlike(plan_of($build), qr/race_build_records/, 'and over a reference table');
sql("UPDATE pg_dist_partition SET partmethod = 'h'");
like(plan_of($build), qr/race_build_records\('l2\(.*?\)'::race_params, race_record\('l2\(.*?\)'::race_params, (t\.)?x\)\) FILTER/, 'over a distributed table race_build has arguments of exact types');
unlike(plan_of($build, ''), qr/race_build_records/, 'control: not where Citus is not loaded');
is(sql("SET citus.shard_count = 32; LOAD 'racepriv'; SELECT string_agg(s::text, ',' ORDER BY g) FROM ($build) v(g, s)"), $expected, 'with the same bits');
unlike(plan_of("SELECT race_build(DISTINCT $vectors, x) FROM t"), qr/race_build_records/, 'but not with DISTINCT, of which there are no parts');
like(sql_fails("SELECT race_build(NULL, x) FROM t"), qr/\AERROR:  22004: /, 'NULL parameters are refused as before');
sql("CALL race_protect('t', 't', 1000000); CALL race_release_sketch('t', 't', $vectors, 'x', 100000)");
is(sql("SELECT race_count(race_released('t')) = (SELECT count(x) FROM t)"), 't', 'a release of a distributed table');
my $question = "SELECT avg(race_kde(race_released('t'), x)) FROM t";
like(plan_of($question), qr/avg\(race_kde\((?:\$0|\(InitPlan 1\)\.col1), (t\.)?x\)\).*InitPlan 1.*Output: race_released\('t'/s, 'over a distributed table a release is looked up once');
unlike(plan_of("INSERT INTO t (id) VALUES (race_count(race_released('t')))"), qr/InitPlan/, 'of inserted values Citus does that itself');
unlike(plan_of("SELECT race_released('t')"), qr/InitPlan/, 'and a query by itself is as it is');
like(sql_fails("SELECT race_released('none')"), qr/\AERROR:  42704: there is no release "none"\nHINT:  race_catalog lists the releases\./, 'a name that there is not');
sql('SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition');

# ------------------------------------------------------------ hostile records

my $good = sql("SELECT race_record($vectors, ARRAY[1, 2])");
sub with {
	my ($at, $hex) = @_;
	my $text = $good;
	substr($text, 2 + 2 * $at, length $hex) = $hex;
	return $text;
}
for my $case (
	[with(0, '02'), 'another version'],
	[with(1, '00'), 'no parts'],
	[with(1, '05'), 'too many parts'],
	[with(1, '02'), 'a part less than it says'],
	[with(2, '01'), 'reserved bytes'],
	[with(8, '01'), 'a seed without elements'],
	[with(16, '03'), 'more numbers than there are'],
	[with(16, '01'), 'fewer numbers than there are'],
	[with(16, 'ffffffff'), 'far more numbers than there are'],
	[with(20, '07'), 'an unknown kind'],
	[with(24, '000000000000f87f'), 'NaN'],
	[with(24, '000000000000f07f'), 'an infinity'],
	["$good" . '00' x 8, 'bytes behind it'],
	[substr($good, 0, -2), 'half a number'],
	['\x', 'nothing'],
	['\x01', 'a byte']) {
	my ($text, $title) = @$case;
	like(sql_fails("SELECT race_build_records($vectors, '$text'::bytea)"), qr/\AERROR:  22P03: the bytes are not those of race_record\n/, "refused: $title");
}
my $other = qr/\AERROR:  22023: a race_record was made for other parameters\n/;
for my $case (
	['l2(dims=3)', 'ARRAY[1, 2, 3]'],
	['jaccard', 'ARRAY[1, 2]'],
	['match(dims=2)', 'ARRAY[1, 2]'],
	['l2(dims=2) * match(dims=2)', 'ROW(ARRAY[1, 2], ARRAY[1, 2])']) {
	my ($params, $x) = @$case;
	like(sql_fails("SELECT race_build_records($vectors, race_record('$params'::race_params, $x))"), $other, "refused: a record for $params");
}
like(sql_fails("SELECT race_build_records('jaccard(seed=1)'::race_params, race_record('jaccard(seed=2)'::race_params, ARRAY[1]))"), $other, 'refused: elements with another seed');
like(sql_fails("SELECT race_build_records(NULL, '$good')"), qr/\AERROR:  22004: /, 'refused: NULL parameters');
is(sql("SELECT race_build_records($vectors, NULL)::text = race_sketch($vectors)::text"), 't', 'NULL records give an empty sketch');
is(sql("SELECT race_count(race_build_records('jaccard'::race_params, race_record('jaccard'::race_params, '{}'::int[])))"), 1, 'an empty set');
is(sql("SELECT race_build_records('l2(dims=1, lower={0}, upper={1}, rows=4, range=8)'::race_params, race_record('l2(dims=1)'::race_params, ARRAY[1e300]))::text"
	  . " = race_build('l2(dims=1, lower={0}, upper={1}, rows=4, range=8)'::race_params, ARRAY[1e300])::text"), 't', 'numbers are clipped to the bounds of the sketch');

done_testing();
