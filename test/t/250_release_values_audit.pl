# The audit of 170_release_audit.pl, of releases with a value: epsilon holds for both
# sketches of a label together, for a person with 50 joined rows, of whom
# max_contributions lets two in.
#
# The attacker knows the person's value, and how likely each rounding of it is.  So the
# likelihood of a pair is a mean over the roundings.
#
# That rounding is random is no part of the promise: a rule that looks at the record alone,
# such as a hash of it, costs the same, and is only biased.  What would break the promise
# is a rounding that depends on other records, as that of a generator that all rows share.
#
# False alarms: 1.0e-10 a run of this file (all tests: 030_audit.pl), 1 audit in 2
# directions of 2 bounds at 2.5e-11.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	BOUND => 2,
	ROWS => 50,
	PERSONS => 1000,
	CALLS => 36,
	PILOT => 12_000,
	UP => 0.9,			# how often the value is rounded up
	OTHERS => 40,
};
my $params = q('l2(dims=1, rows=1, range=2)');
my $epsilon = sprintf '%.17g', EPSILON;
my $value = "value => 'y', value_lower => 0, value_upper => 1";

sql(<<"END");
CREATE TABLE people AS SELECT i AS id FROM generate_series(1, @{[2 * PERSONS]}) i;
CREATE TABLE visits AS
SELECT id AS person, 40 AS x, @{[UP]} AS y FROM people, generate_series(1, @{[ROWS]}) WHERE id <= @{[PERSONS]};
CREATE VIEW joined AS SELECT id, x, y FROM people JOIN visits ON person = id;
CALL race_protect('joined', 'joined', 1000000, 0, 'id', @{[BOUND]});
END

# The bucket that the records of a person are in
my $exact = decode(sql("SELECT encode(_race_sketch_send(race_add(race_sketch($params\::race_params), ARRAY[40])), 'hex')"));
my ($cell) = grep { $exact->[$_] } 1 .. $#$exact;

# By how much a sketch speaks for so many records more, in units of epsilon
sub speaks
{
	my ($sketch, $more) = @_;
	my $change = sub { abs($_[0]) - abs($_[0] - $more) };
	return (0.95 * $change->($sketch->[$cell]) + 0.05 * $change->($sketch->[COUNT])) / BOUND;
}

# The exact log-likelihood ratio of a pair, but for the rounding of scales
sub llr
{
	my ($lower, $upper) = @_;
	my @ways = (1, 2, 1);
	my $sum = 0;
	$sum += $ways[$_] * UP ** $_ * (1 - UP) ** (BOUND - $_)
		* exp(EPSILON * (speaks($lower, BOUND - $_) + speaks($upper, $_))) for 0 .. BOUND;
	return sprintf '%.9f', log $sum;
}

# Releases of all labels: the sketches of those with nobody, and of those with a person
sub trials
{
	my ($name, $arguments) = @_;
	my $all = join ',', 1 .. 2 * PERSONS;
	sql(<<"END");
DO \$\$
BEGIN
	FOR i IN 1 .. @{[CALLS]} LOOP
		CALL race_release('$name ' || i, 'joined', $params, 'ARRAY[x]', $epsilon, label => 'id', labels => '{$all}'$arguments);
	END LOOP;
END \$\$
END
	return map {
		[map { decode($_) } split /\n/, sql(<<"END")]
SELECT encode(_race_sketch_send(sketch), 'hex') FROM race_releases
WHERE name LIKE '$name %' AND label::int $_ @{[PERSONS]} ORDER BY released_at, part
END
	} '>', '<=';
}

# The sketches of a list in pairs: LLRs
sub llrs
{
	my ($halves) = @_;
	return [map { llr(@$halves[2 * $_, 2 * $_ + 1]) } 0 .. $#$halves / 2];
}

sub caught
{
	my ($what, $less, $more, $recorded) = @_;
	cmp_ok($_, '>', $recorded, sprintf 'mutant, %s: caught, epsilon is at least %.3f', $what, $_)
		for epsilon_bounds($less, $more, PILOT);
	return;
}

my @halves = trials('values', ", $value");
my @values = map { llrs($_) } @halves;
is(scalar @{$values[$_]}, PERSONS * CALLS, 'as many trials as labels') for 0, 1;
my $recorded = sql(q(SELECT max((race_info(sketch)).epsilon) FROM race_releases));
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');
cmp_ok($_, '<=', $recorded, sprintf 'a person with %d rows: epsilon is at least %.3f', ROWS, $_)
	for epsilon_bounds(@values, PILOT);
is(sql('SELECT spent_epsilon = ' . CALLS . " * _race_exact_decimal($epsilon) FROM race_budgets"), 't',
	'both sketches of all labels together cost its epsilon once');

# ------------------------------------------------------------------- mutants

# Each record is in both sketches: releases of all records, two of them as a pair
my @both = map {
	my $of = $_;
	[map { sprintf '%.9f', EPSILON * (speaks($of->[2 * $_], BOUND) + speaks($of->[2 * $_ + 1], BOUND)) } 0 .. $#$of / 2]
} trials('once', '');
caught('records in both sketches', @both, $recorded);

# The upper sketch has no noise: who finds a record in it knows.
my @bare = map { my $finds = $_; [map { rand() < $finds ? 1 : 0 } 1 .. PERSONS * CALLS] } 0, 1 - (1 - UP) ** BOUND;
cmp_ok((epsilon_bounds(@bare, PILOT))[0], '>', $recorded, 'mutant, one sketch without noise: caught');

# Values are rounded by a generator that all rows share, and whose seed is known: one more
# record in front gives every other record another rounding.
sub rounded
{
	my ($first) = @_;
	return <<"END";
SELECT race_build($params, CASE WHEN up THEN NULL ELSE ARRAY[40] END) AS lower, race_build($params, CASE WHEN up THEN ARRAY[40] END) AS upper
FROM (SELECT abs(hashint4(row_number() OVER (ORDER BY id)::int)) % 2 = (id % 2) AS up FROM generate_series($first, @{[OTHERS]}) id) v
END
}

sub counts
{
	my ($first) = @_;
	return split /\|/, sql("SELECT race_count(lower), race_count(upper) FROM (" . rounded($first) . ") v");
}
my @less = counts(1);
my @more = counts(0);
my @shared = map {
	my $first = $_;
	my @pairs = map { decode($_) } split /\n/, sql(<<"END");
SELECT encode(_race_sketch_send(race_privatize(s, $epsilon)), 'hex')
FROM (@{[rounded($first)]}) v, generate_series(1, @{[PERSONS * CALLS]}) i, LATERAL unnest(ARRAY[lower, upper]) WITH ORDINALITY u (s, half) ORDER BY i, half
END
	[map { my $n = $_; sprintf '%.9f', EPSILON * 0.95 * (abs($pairs[2 * $n][$cell] - $less[0]) - abs($pairs[2 * $n][$cell] - $more[0])
		+ abs($pairs[2 * $n + 1][$cell] - $less[1]) - abs($pairs[2 * $n + 1][$cell] - $more[1])) } 0 .. $#pairs / 2]
} 1, 0;
caught('rounding by a generator that rows share', @shared, $recorded);
done_testing();
