# The audit of 170_release_audit.pl, of records with weights: epsilon holds for a person with 10 rows of weight 40, of whom
# max_contributions lets two in, and of each of these weight_max lets 20 count.
#
# Noise hides 2 x 20 records.  A release whose noise hid two records, or which let 40 count, would tell much more: the control
# is a release at twice the epsilon, which has half of the noise.
#
# False alarms: 4e-12 a run of this file (all tests: 030_audit.pl), 1 audit in 2 directions of 2 bounds at 1e-12.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	FALSE_ALARM => 1e-12,
	ROWS => 10,
	RECORDS => 2,
	WEIGHT => 20,
	PERSONS => 1000,
	CALLS => 15,
	PILOT => 4_000,
};
my $params = q('l2(dims=1, rows=1, range=2)');

protect_persons(PERSONS, ROWS, RECORDS);

# The bucket that the records of a person are in
my $exact = decode(sql("SELECT encode(_race_sketch_send(race_add(race_sketch($params\::race_params), ARRAY[40])), 'hex')"));
my ($cell) = grep { $exact->[$_] } 1 .. $#$exact;

# The exact log-likelihood ratio of a release, but for the rounding of scales and of noisy numbers
sub llr {
	my ($release) = @_;
	my $change = sub { abs($_[0]) - abs($_[0] - RECORDS * WEIGHT) };
	return sprintf '%.9f', EPSILON / (RECORDS * WEIGHT) *
		(0.95 * $change->($release->[$cell]) + 0.05 * $change->($release->[COUNT]));
}

# LLRs of labels with nobody, and of those with a person
sub trials {
	my ($epsilon) = @_;
	return map { [map { llr($_) } @$_] }
		label_sketches($epsilon, CALLS, PERSONS, "'bounded', $params, 'ARRAY[x]', $epsilon, label => 'id', weight => 'x', weight_max => @{[WEIGHT]}");
}

my @weighted = trials(sprintf '%.17g', EPSILON);
is(scalar @{$weighted[$_]}, PERSONS * CALLS, 'as many trials as labels') for 0, 1;
my $recorded = sql(q(SELECT max((race_info(sketch)).epsilon) FROM _racepriv.race_releases));
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');
my @bounds = epsilon_bounds(@weighted, PILOT, FALSE_ALARM);
cmp_ok($_, '<=', $recorded, sprintf 'epsilon is at least %.3f', $_) for @bounds;
cmp_ok($_, '>', $recorded / 2, sprintf 'and more than half of it: %.3f', $_) for @bounds;
cmp_ok($_, '>', $recorded, sprintf 'control, half the noise: caught, epsilon is at least %.3f', $_)
	for epsilon_bounds(trials(sprintf '%.17g', 2 * EPSILON), PILOT, FALSE_ALARM);
done_testing();
