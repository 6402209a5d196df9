# The audit of 030_audit.pl, of what race_release stores: epsilon holds for a person
# with 10 joined rows, of whom max_contributions lets two in.
#
# Each label of a release is a trial of its own: it has a person with all of his rows, or
# nobody.  So a few releases are many trials.
#
# False alarms: 1.0e-10 a run of this file (all tests: 030_audit.pl), 1 audit in 2
# directions of 2 bounds at 2.5e-11.
#
# Half the noise would tell 2.0 in place of 1.05, with a standard error of .022 in 15,000 trials; three quarters
# of it 1.33, with .016.  A bound takes 8 of these.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	BOUND => 2,
	ROWS => 10,
	PERSONS => 1000,
	CALLS => 20,
	PILOT => 5_000,
};
my $params = q('l2(dims=1, rows=1, range=2)');
my $epsilon = sprintf '%.17g', EPSILON;

protect_persons(PERSONS, ROWS, BOUND);

# The bucket that the records of a person are in
my $exact = decode(sql("SELECT encode(_race_sketch_send(race_add(race_sketch($params\::race_params), ARRAY[40])), 'hex')"));
my ($cell) = grep { $exact->[$_] } 1 .. $#$exact;

# The exact log-likelihood ratio of a release, but for the rounding of scales
sub llr {
	my ($release) = @_;
	my $change = sub { abs($_[0]) - abs($_[0] - BOUND) };
	return sprintf '%.9f', EPSILON / BOUND *
		(0.95 * $change->($release->[$cell]) + 0.05 * $change->($release->[COUNT]));
}

# LLRs of labels with nobody, and of those with a person
sub trials {
	my ($dataset) = @_;
	return map { [map { llr($_) } @$_] } label_sketches($dataset, CALLS, PERSONS, "'$dataset', $params, 'ARRAY[x]', $epsilon, label => 'id'");
}

my @bounded = trials('bounded');
is(scalar @{$bounded[$_]}, PERSONS * CALLS, 'as many trials as labels') for 0, 1;
my $recorded = sql(q(SELECT max((race_info(sketch)).epsilon) FROM _racepriv.race_releases WHERE dataset = 'bounded'));
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');
cmp_ok($_, '<=', $recorded, sprintf 'a person with %d rows: epsilon is at least %.3f', ROWS, $_)
	for epsilon_bounds(@bounded, PILOT);
cmp_ok($_, '>', $recorded, sprintf 'control, rows without a unit: caught, epsilon is at least %.3f', $_)
	for epsilon_bounds(trials('unbounded'), PILOT);
is(sql('SELECT DISTINCT spent_epsilon = ' . CALLS . " * ($epsilon)::float8::text::numeric FROM _racepriv.race_budgets"), 't',
	'all labels of a release together cost its epsilon once');
done_testing();
