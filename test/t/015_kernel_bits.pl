# Every kernel and products, built in every way there is: the bits of the sketch are
# the same.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

my $serial = "SET max_parallel_workers_per_gather = 0;\n";
my $parallel = <<'END';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
END

# Numbers, numbers and texts as sets (some long, some empty), categories; and no record
sql(<<'END');
CREATE TABLE records AS
SELECT i AS id, i % 7 AS part, CASE WHEN i % 11 > 0 THEN ARRAY[i % 251, i * 7919 % 256, sqrt(i)] END::float8[] AS x,
       ARRAY(SELECT i % 50 + j * j FROM generate_series(1, i % 9 + CASE WHEN i % 500 = 0 THEN 300 ELSE 0 END) j) AS items,
       ARRAY(SELECT 'tag ' || (i * j) % 40 FROM generate_series(1, i % 5) j) AS tags,
       ARRAY['sex ' || i % 2, 'town ' || i % 17, CASE WHEN i % 13 = 0 THEN '' ELSE 'job' END] AS c
FROM generate_series(1, 10000) i;
ANALYZE records;
CREATE TABLE points100 AS SELECT id, x || array_fill(id % 19 + 0.25::float8, ARRAY[97]) AS y FROM records WHERE x IS NOT NULL;
END

# Name: parameters, and records, of rows that do not fill a block
my @kernels = (
	['l2', q(race_params('l2', 3, 5, rows => 256, range => 256)), 'x'],
	['l1', q(race_params('l1', 3, 50, rows => 130, range => 77)), 'x'],
	['l1, squared, bandwidths', q(race_params('l1', 3, 1, 2, 130, 64, bandwidths => '{50,20,3}')), 'x'],
	['l2, bounds and bandwidths', q(race_params('l2', 3, rows => 130, range => 77, bandwidths => '{9,20,3}', lower => '{10,-Infinity,0}', upper => '{200,200,90.5}')), 'x'],
	['l2, transform', q(race_params('l2', 3, 7, rows => 70, range => 64, transform => ROW('{{1,0.5,0},{0,1,-1},{2,0,0},{1,1,1}}', '{100,100,50}')::race_transform)), 'x'],
	['angular', q(race_params('angular', 3, power => 5, rows => 130, range => 32)), 'x'],
	['angular, rehashed, from a middle', q(race_params('angular', 3, power => 9, rows => 130, range => 77, transform => ROW(NULL, '{120,120,70}')::race_transform)), 'x'],
	['l2, structured', q(race_params('l2', 3, 50, rows => 1100, range => 77, sequence => 'structured')), 'x'],
	['angular, structured', q(race_params('angular', 3, power => 5, rows => 130, range => 32, sequence => 'structured')), 'x'],
	['jaccard of numbers', q(race_params('jaccard', rows => 130, range => 77)), 'items'],
	['jaccard of texts, cubed', q(race_params('jaccard', power => 3, rows => 70, range => 64)), 'tags'],
	['match', q(race_params('match', 3, rows => 130, range => 77)), 'c'],
	['match, squared', q(race_params('match', 3, power => 2, rows => 70, range => 64)), 'c'],
	['least_squares', q(race_params('least_squares', 3, power => 3, radius => 300, rows => 130)), 'x'],
	['margin', q(race_params('margin', 3, power => 5, radius => 200, rows => 70, lower => '{10,-Infinity,-5}')), 'x'],
	['l2 * match', q(race_params('l2', 3, 20, rows => 130, range => 77, lower => '{0,0,0}') * race_params('match', 3, rows => 130, range => 77)), 'x, c'],
	['l1 * angular * jaccard * match', q('l1(dims=3, bandwidth=90, rows=70, range=64) * angular(dims=3, power=2, offset={120,120,70}) * jaccard * match(dims=3)'::race_params), 'x, x, items, c']);

# ----------------------------------------------------------- ways to build

# Records as one value: a row when there are several
sub record_of {
	my ($values) = @_;
	return $values =~ /,/ ? "ROW($values)" : $values;
}

# A row with a NULL inside is no record, so those are left out.
sub build {
	my ($params, $values) = @_;
	return "race_build($params, $values)" if $values !~ /,/ || $values =~ /^ROW/;
	return "race_build($params, CASE WHEN num_nulls($values) = 0 THEN ROW($values) END)";
}

sub is_whole {
	my ($name, $query, $settings) = @_;
	is(sql(($settings // $serial) . "SELECT (SELECT s::text FROM whole) = ($query)::text"), 't', $name);
	return;
}

sub by_rows {
	my ($params, $values) = @_;
	my $record = record_of($values);
	my @one = ("(SELECT $record FROM records WHERE id = 1)", "(SELECT $record FROM records WHERE id = 500)");
	sql(<<END);
CREATE OR REPLACE FUNCTION by_rows() RETURNS race_sketch LANGUAGE plpgsql AS \$\$
DECLARE
	s race_sketch := race_sketch($params);
	r records;
BEGIN
	FOR r IN SELECT * FROM records WHERE x IS NOT NULL OR '$values' !~ 'x' LOOP
		s := race_add(s, @{[ $record =~ s/\b(x|items|tags|c)\b/r.$1/gr ]});
	END LOOP;
	RETURN s;
END \$\$;
END
	is_whole("$params: by race_add, row by row", 'SELECT by_rows()');
	is_whole("$params: by race_remove of what was too much",
		"SELECT race_remove(race_remove(race_add(race_add(s, $one[0]), $one[1]), $one[0]), $one[1]) FROM whole");
	return;
}

sub moves {
	my ($name, $build) = @_;
	is(sql(<<END), '0|7|t', "$name: through a moving window");
WITH moving AS (SELECT id, $build OVER (ORDER BY id ROWS 299 PRECEDING) AS s FROM records WHERE id <= 1000),
anew AS (
	SELECT f.id, $build AS s FROM generate_series(310, 1000, 100) AS f(id), LATERAL (
		SELECT part, x, items, tags, c FROM records r WHERE r.id > f.id - 300 AND r.id <= f.id) r GROUP BY f.id)
SELECT count(*) FILTER (WHERE moving.s::text <> anew.s::text), count(*), count(DISTINCT moving.s::text) > 1 FROM moving JOIN anew USING (id)
END
}

my $plan = sql("$parallel EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT race_build($kernels[0][1], x) FROM records");
like($plan, qr/Partial Aggregate.*Workers Launched: 2|Workers Launched: 2.*Partial Aggregate/s, 'two workers are launched, and aggregate in part');
for my $kernel (@kernels) {
	my ($name, $params, $values) = @$kernel;
	my $build = build($params, $values);
	my $merged = "SELECT race_merge(s) FROM (SELECT $build AS s FROM records GROUP BY part) v";
	sql("$serial DROP TABLE IF EXISTS whole; CREATE TABLE whole AS SELECT $build AS s FROM records");
	is_whole("$name: by 2 parallel workers", "SELECT $build FROM records", $parallel);
	is_whole("$name: by race_merge over partitions", $merged);
	is_whole("$name: by workers and race_merge", $merged, $parallel);
	is_whole("$name: by + of two halves", "SELECT $build FILTER (WHERE id <= 4999) + $build FILTER (WHERE id > 4999) FROM records");
	is_whole("$name: in another order", "SELECT @{[ $build =~ s/\)$/ ORDER BY part, id DESC)/r ]} FROM records");
	is_whole("$name: as rows", 'SELECT ' . build($params, record_of($values)) . ' FROM records WHERE x IS NOT NULL')
		if $values =~ /^\w+, \w+$/;
	by_rows($params, $values);
	moves($name, $build);
	is(sql("SELECT s::text = (SELECT $build\::text FROM records WHERE id <> 503) FROM whole"), 'f', "$name: control: without one record the bits differ");
}

# ------------------------------------------------------------- vector code

# All kernels, and vectors of 100 dimensions, with one kind of code
sub digests {
	my ($code, $where) = @_;
	my $queries = "LOAD 'racepriv'; SET racepriv.vector_code = '$code'; $serial";
	$queries .= 'SELECT md5(' . build($_->[1], $_->[2]) . "::text) FROM records WHERE $where;\n" for @kernels;
	for my $wide ('l1(dims=100, bandwidth=900, rows=70)', 'angular(dims=100, power=6, rows=133, range=1000)', 'angular(dims=100, power=3, rows=64, sequence=independent)') {
		$queries .= "SELECT md5(race_build('$wide', y)::text) FROM points100 WHERE $where;\n";
	}
	return split /\n/, sql($queries);
}

my @codes = grep { sql_fails("LOAD 'racepriv'; SET racepriv.vector_code = '$_'") =~ /^no error/ } qw(avx2 avx512);
my @portable = digests('portable', 'true');
is(scalar(@portable), @kernels + 3, 'portable code makes all kernels');
for my $code (@codes, 'auto') {
	is_deeply([digests($code, 'true')], \@portable, "$code and portable code make the same sketches of all kernels");
}
my @other = digests('auto', 'id <> 503');
is(scalar(grep { $other[$_] eq $portable[$_] } 0 .. $#portable), 0, 'control: without one record all differ');

# ------------------------------------------------------- sets, where they lie

# Long sets: compressed, out of line, both; and what they are in memory
sql(<<'END');
CREATE TABLE lying (id int, plain text[], packed text[], outside text[], short text[]);
ALTER TABLE lying ALTER plain SET STORAGE PLAIN, ALTER packed SET STORAGE MAIN, ALTER outside SET STORAGE EXTERNAL;
INSERT INTO lying SELECT i, (array_agg('tag ' || j % 90))[1:300], array_agg('tag ' || j % 90), array_agg('tag ' || j), (array_agg('tag ' || j))[1:2]
FROM generate_series(1, 20) i, LATERAL (SELECT generate_series(i, 5000 + i) AS j) w GROUP BY i;
CREATE TABLE sizes AS SELECT avg(pg_column_size(packed)) AS packed, avg(pg_column_size(outside)) AS outside, max(pg_column_size(short)) AS short FROM lying;
END
is(sql('SELECT packed < 10000, outside > 50000, short < 127 FROM sizes'), 't|t|t', 'sets are compressed, out of line, and short');
for my $column (qw(plain packed outside short)) {
	is(sql(<<END), 't|t|1', "a column of sets that lie $column");
SELECT race_build(j, $column)::text = race_build(j, $column || '{}'::text[])::text,
	race_build(p, ROW(ARRAY[1], $column))::text = race_build(p, ROW(ARRAY[1], $column || '{}'::text[]))::text, min(race_kernel('jaccard', $column, $column || $column))
FROM lying, LATERAL (SELECT 'l2(dims=1, rows=64, range=64) * jaccard'::race_params AS p, 'jaccard(rows=64, range=64)'::race_params AS j) v
END
}

# Prepared statements, whose plan is made for each value or for all
sql(q(CREATE TABLE stored AS SELECT race_build('jaccard(rows=64, range=64)', items) AS j, race_build('match(dims=3, rows=64, range=64)', c) AS m FROM records));
for my $mode (qw(force_custom_plan force_generic_plan)) {
	my $session = RaceSession->new;
	$session->ask(<<END);
SET plan_cache_mode = $mode;
PREPARE numbers(int[]) AS SELECT race_kernel_sum(j, \$1) = race_kernel_sum(j, (\$1 || \$1)::bigint[]) FROM stored;
PREPARE categories(text[]) AS SELECT race_kernel_sum(m, \$1) FROM stored;
END
	is($session->ask("EXECUTE numbers('{3,4,5}'); EXECUTE numbers('{}'); EXECUTE numbers(NULL)"), "t\nt\n", "sets as parameters, $mode");
	my @answers = split /\n/, $session->ask(join ';', map { "EXECUTE categories('{sex 1,town $_,job}')" } 3, 4, 3);
	ok($answers[0] ne $answers[1] && $answers[0] eq $answers[2] && $answers[0] eq sql(q(SELECT race_kernel_sum(m, ARRAY['sex 1', 'town 3', 'job']) FROM stored)),
		"categories as parameters, $mode");
}

done_testing();
