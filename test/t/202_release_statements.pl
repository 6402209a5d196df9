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
CREATE TABLE visits (person int, age int CHECK (age BETWEEN 0 AND 120), town text CHECK (town IN ('Paris', 'Rome')),
	street text, doctor text, pressure float8, visited_on date);
INSERT INTO visits SELECT i, i % 100, CASE WHEN i % 2 = 0 THEN 'Paris' ELSE 'Rome' END, 's' || i % 3, 'd' || i % 2, i, current_date - i % 10
	FROM generate_series(1, 1000) i;
CREATE TABLE others (id int PRIMARY KEY);
CALL race_protect('visits', epsilon_limit => 100, delta_limit => 0.5, unit_column => 'person', max_contributions => 1);
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

my $limit = 30;
my $params = 'l2(dims=1, bandwidth=5, lower={0}, upper={120})';

# A release of columns: repeated, its next version, with categories that nobody has listed
at_most($limit, "CALL race_release('by columns', 'visits', '{age,town}', epsilon => 1)", 'a release of two columns');
at_most(15, "CALL race_release('by columns', 'visits', '{age,town}', epsilon => 1)", 'the same again, which costs nothing');
at_most($limit, "CALL race_release_next('by columns')", 'its next version');
at_most($limit, "CALL race_release('chosen', 'visits', '{age,street,doctor}', epsilon => 1, delta => 1e-4)", 'a release that chooses categories of two columns');
at_most($limit, "CALL race_release_next('chosen')", 'its next version');

# A release of sketches, of moments
at_most($limit, "CALL race_release_sketch('by sketch', 'visits', '$params', 'ARRAY[age]', 1)", 'a release of a sketch');
at_most($limit, "CALL race_release_next('by sketch')", 'its next version');
at_most($limit, "CALL race_release_sketch('labels', 'visits', '$params', 'ARRAY[age]', 1, label => 'town', labels => '{Paris,Rome}')", 'a release with labels');
at_most($limit, "CALL race_release_sketch('calibrated', 'visits', '$params', 'ARRAY[age]', 1, label => 'town', labels => '{Paris,Rome}', calibrate => 0.2)",
	'a release that is calibrated');
at_most($limit, "CALL race_release_sketch('unknown labels', 'visits', '$params', 'ARRAY[age]', 1, 1e-4, label => 'street')", 'a release that chooses labels');
at_most($limit, "CALL race_release_next('unknown labels')", 'its next version');
at_most(10, "CALL race_describe('visits', 'pressure', 0::float8, 1000::float8)", 'race_describe');
at_most($limit, "CALL race_release_sketch('moments', 'visits', columns => '{age,pressure}', label => 'town', epsilon => 1)", 'a release of moments');
at_most($limit, "CALL race_describe('visits', 'pressure', bounds => 'private', epsilon => 0.1)", 'race_describe by noisy counts');

# Many labels, stated or chosen, calibrated, in a series: all parts are stored by one statement
$cluster->sql(<<'END');
CREATE TABLE many (id int PRIMARY KEY, x int, label text, at date);
INSERT INTO many SELECT i, i % 100, 'l' || i % 300, current_date - 1500 - i % 10 FROM generate_series(1, 30000) i;
CALL race_protect('many', epsilon_limit => 1e6, delta_limit => 0.5);
END
my $small = 'l2(dims=1, bandwidth=20, rows=4, range=16, lower={0}, upper={100})';
my $labels = "label => 'label', labels => '{" . join(',', map { "l$_" } 0 .. 299) . "}'";
my $classes = "label => 'label', labels => '{" . join(',', map { "l$_" } 0 .. 99) . "}'";
my ($from, $to) = map { $cluster->sql("SELECT extract(year FROM now() AT TIME ZONE 'UTC')") + $_ } -6, 10;
my $series = "{\"by\": \"at\", \"every\": \"4 years\", \"starting\": \"$from-01-01\", \"until\": \"$to-01-01\", \"lengths\": \"1\"}";
my %labels = ('stated' => 300, 'unlisted' => 301, 'scored' => 100, 'serial' => 300);
at_most($limit, "CALL race_release_sketch('stated', 'many', '$small', 'ARRAY[x]', 1000, $labels, grid => false)", '300 labels');
at_most($limit, "CALL race_release_next('stated')", 'their next version');
at_most($limit, "CALL race_release_sketch('unlisted', 'many', '$small', 'ARRAY[x]', 1000, 1e-4, label => 'label', grid => false)", 'chosen labels');
at_most($limit, "CALL race_release_sketch('scored', 'many', '$small', 'ARRAY[x]', 1000, $classes, calibrate => 0.2)", '100 labels that are calibrated');
at_most($limit, "CALL race_release_sketch('serial', 'many', '$small', 'ARRAY[x]', 1000, $labels, grid => false, rows => 4, series => '$series')", 'a series of 300 labels');
at_most($limit, "CALL race_release_next('serial')", 'its first value');
for my $name (sort keys %labels) {
	is($cluster->sql("SELECT count(*) || ' ' || count(provenance) || ' ' || count(DISTINCT label) FROM _racepriv.race_releases WHERE name = '$name' AND version = 1"),
		"$labels{$name} 1 $labels{$name}", "$name: parts, one of which has the provenance, and labels");
}

at_most(10, 'SELECT * FROM race_columns', 'race_columns');
at_most($limit, "CALL race_protect('others', epsilon_limit => 1)", 'race_protect');
at_most($limit, "CALL race_budget_adopt('others')", 'race_budget_adopt');

# Values that are over are made one after the other: two calls say what one more value takes.  This year is in the middle of
# an interval, so that none ends meanwhile.  A value counts its units without statistics, as they are exact (race_set_quiet).
my $year = $cluster->sql("SELECT extract(year FROM now() AT TIME ZONE 'UTC')");
for my $kind (['columns', 'race_release', "'{age,town}'"], ['a sketch', 'race_release_sketch', "'$params', 'ARRAY[age]'"]) {
	my ($of, $procedure, $what) = @$kind;
	my @taken;
	for my $values (1, 2) {
		my ($from, $to) = ($year - 2 - 4 * $values, $year + 10);
		my $series = "{\"by\": \"visited_on\", \"every\": \"4 years\", \"starting\": \"$from-01-01\", \"until\": \"$to-01-01\", \"lengths\": \"1\"}";
		at_most($limit, "CALL $procedure('$of $values', 'visits', $what, epsilon => 1, series => '$series')", "a series of $of");
		push @taken, statements("CALL race_release_next('$of $values')");
		is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = '$of $values'"), $values, "$of: values that were made: $values");
	}
	cmp_ok($taken[0], '<=', $limit, "the first value of a series of $of: $taken[0] statements");
	cmp_ok($taken[1] - $taken[0], '<=', $limit, 'one more value: ' . ($taken[1] - $taken[0]) . ' statements');
}

cmp_ok(statements('DO $$ BEGIN FOR i IN 1 .. 40 LOOP PERFORM count(*) FROM visits WHERE age = i; END LOOP; END $$'), '>', 40,
	'control: statements within a function are counted');
done_testing();
