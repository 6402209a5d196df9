# How many SQL statements a release runs, by what the server counts: those that functions run within it, too.  A statement
# that moves from C into a function of SQL, or into a loop, is counted as it was.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

RaceCluster::need_contrib(qw(pg_stat_statements));
my $cluster = RaceCluster->new(shared_preload_libraries => 'pg_stat_statements', 'pg_stat_statements.track' => 'all');
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE EXTENSION pg_stat_statements;
CREATE TABLE visits (person int, age int CHECK (age BETWEEN 0 AND 120), town text CHECK (town IN ('Paris', 'Rome')), pressure float8, visited_on date);
INSERT INTO visits SELECT i, i % 100, CASE WHEN i % 2 = 0 THEN 'Paris' ELSE 'Rome' END, i, current_date - i % 10 FROM generate_series(1, 1000) i;
CALL race_protect('visits', epsilon_limit => 100, unit_column => 'person');
END

# How many statements were counted while a statement ran, with itself
sub statements {
	my ($statement) = @_;
	$cluster->sql('SELECT pg_stat_statements_reset()');
	$cluster->sql($statement);
	return $cluster->sql("SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'");
}

sub at_most {
	my ($limit, $statement, $name) = @_;
	my $n = statements($statement);
	cmp_ok($n, '<=', $limit, "$name: $n statements");
	return;
}

at_most(30, "CALL race_release('by columns', 'visits', '{age,town}', epsilon => 1)", 'a release of two columns');
at_most(15, "CALL race_release('by columns', 'visits', '{age,town}', epsilon => 1)", 'the same again, which costs nothing');
at_most(32, "CALL race_release_next('by columns')", 'its next version');
at_most(30, "CALL race_release_sketch('by sketch', 'visits', 'l2(dims=1, bandwidth=5, lower={0}, upper={120})', 'ARRAY[age]', 1)", 'a release of a sketch');
at_most(10, "CALL race_describe('visits', 'pressure', 0::float8, 1000::float8)", 'race_describe');
at_most(30, "CALL race_describe('visits', 'pressure', bounds => 'private', epsilon => 0.1)", 'race_describe by noisy counts');

at_most(10, 'SELECT * FROM race_columns', 'race_columns');

# Values that are over are made one after the other: two calls say what one more value takes.  This year is in the middle of
# an interval, so that none ends meanwhile.
my $year = $cluster->sql("SELECT extract(year FROM now() AT TIME ZONE 'UTC')");
my @taken = map {
	my ($from, $to) = ($year - 2 - 4 * $_->[1], $year + 10);
	my $series = "{\"by\": \"visited_on\", \"every\": \"4 years\", \"starting\": \"$from-01-01\", \"until\": \"$to-01-01\", \"lengths\": \"1\"}";
	$cluster->sql("CALL race_release('$_->[0]', 'visits', '{age,town}', epsilon => 1, series => '$series')");
	my $n = statements("CALL race_release_next('$_->[0]')");
	is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = '$_->[0]'"), $_->[1], "$_->[0]: values that were made");
	$n
} ['one value', 1], ['two values', 2];
cmp_ok($taken[0], '<=', 45, "the first value of a series: $taken[0] statements");
cmp_ok($taken[1] - $taken[0], '<=', 30, 'one more value: ' . ($taken[1] - $taken[0]) . ' statements');

cmp_ok(statements('DO $$ BEGIN FOR i IN 1 .. 40 LOOP PERFORM count(*) FROM visits WHERE age = i; END LOOP; END $$'), '>', 40,
	'control: statements within a function are counted');
done_testing();
