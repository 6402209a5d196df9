# Of each unit no more records enter a release than it may have, across all labels
# and whatever joins made them, chosen at random and by no generator that
# someone can seed.  (170_release_audit.pl has what that is for: epsilon.)
#
# False alarms: below 1e-11 a run of this file (all tests: 030_audit.pl): 20 sums of
# 10,000 choices that are each made with probability 1/5, within 8 standard errors,
# 1e-13 each; two lists of such sums that are the same, 1e-19.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(max sum);
use RaceServer;
use Test::More;

use constant {
	PEOPLE => 10_000,
	LABELS => 10,
	BOUND => 2,
	MAX_Z => 8,
};
my $params = 'l2(dims=1, rows=16, range=16)';
my $all = join ',', 1 .. LABELS;

# Each person has a record of each label, in a table and through joins: with her
# doctors, and with herself.
sql(<<END);
CREATE TABLE people AS SELECT i AS id FROM generate_series(1, @{[PEOPLE]}) i;
CREATE TABLE records AS SELECT id AS person, l AS label, ARRAY[l] AS x FROM people, generate_series(1, @{[LABELS]}) l;
CREATE TABLE doctors AS SELECT id AS person, d AS doctor FROM people, generate_series(1, 3) d WHERE id <= 100;
CREATE VIEW joined AS SELECT id, label, x FROM people JOIN records ON person = id;
CREATE VIEW joined_thrice AS SELECT r.person, r.label, r.x
FROM records r JOIN doctors d ON r.person = d.person JOIN records o ON o.person = r.person;
ANALYZE;
CALL race_protect('records', 'records', 100000000, 0, 'person', @{[BOUND]});
CALL race_protect('whole', 'records', 100000000, 0, 'person', @{[LABELS]});
CALL race_protect('joined', 'joined', 100000000, 0, 'id', @{[BOUND]});
CALL race_protect('joined thrice', 'joined_thrice', 100000000, 0, 'person', @{[BOUND]});
END

# The counts of the labels of a release, at an epsilon that is next to no noise
sub counts {
	my ($dataset, $before) = @_;
	my $name = join ' ', 'release', sql('SELECT count(*) FROM _racepriv.race_charges');
	sql(($before // '') . "CALL race_release_sketch('$name', '$dataset', '$params', 'x', 1000000, label => 'label', labels => '{$all}')");
	return split /,/, sql("SELECT string_agg(race_count(sketch)::text, ',' ORDER BY label::int) FROM _racepriv.race_releases WHERE name = '$name'");
}

# How far the label is off that was chosen most or least often, in standard errors
sub largest_z {
	my $p = BOUND / LABELS;
	return max map { abs($_ - PEOPLE * $p) / sqrt(PEOPLE * $p * (1 - $p)) } @_;
}

my %counts = map { $_ => [counts($_)] } 'records', 'joined', 'joined thrice', 'whole';
is(sum(@{$counts{whole}}), PEOPLE * LABELS, 'control: who may have all records in, has');
is(sum(@{$counts{records}}), PEOPLE * BOUND, 'each person has as many records in as she may, all labels together');
is(sum(@{$counts{joined}}), PEOPLE * BOUND, 'and through a join');
is(sum(@{$counts{'joined thrice'}}), 100 * BOUND, 'and through joins that make thirty rows of each of her ten');
cmp_ok(largest_z(@{$counts{$_}}), '<', MAX_Z, "$_: each label is chosen as often as it should") for qw(records joined);
cmp_ok(largest_z(PEOPLE * BOUND, (0) x (LABELS - 1)), '>', MAX_Z, 'control: a choice of the first is seen');

my $seed = 'SET max_parallel_workers_per_gather = 0; SELECT FROM setseed(0.5);';
my $choice = 'SELECT string_agg(n::text, \',\' ORDER BY label) FROM (SELECT label, count(*) AS n FROM'
	. ' (SELECT label, row_number() OVER (PARTITION BY person ORDER BY random()) AS nth FROM records) r WHERE nth <= 2 GROUP BY label) c';
is(sql("$seed $choice"), sql("$seed $choice"), 'control: by random(), a seed decides the choice');
isnt(join(',', counts('records', $seed)), join(',', counts('records', $seed)), 'of a release it does not');

# What shares a budget are the datasets of a table, whoever the units are.
is(sql("SELECT count(DISTINCT budget), string_agg(DISTINCT budget, ',') FROM _racepriv.race_datasets"), '1|records',
	'views over a table share its budget');

done_testing();
