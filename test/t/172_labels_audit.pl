# The audit of race_release for a person with a record in each of several labels.
#
# Each label has a release of its own, with noise for all records that a person may have.  So all
# labels together cost her epsilon once (doc/privacy/procedures.md, "Labels").  170_release_audit.pl and others have
# a person in one label; here an attacker looks at all of her labels together.  The sum of what each
# label tells is the log-likelihood ratio of all, but for Wishart noise, of which he looks at the
# entry alone that her records change.  Each person of a release, and as many labels with
# nobody, is a trial.
#
# The control has the same rows without a unit, so that each label has noise for one record.
#
# False alarms: 1.4e-12 a run of this file (all tests: 030_audit.pl), 3 audits in 2 directions of 2
# bounds at 1e-13, and |z| < 7.5 once, 6.4e-14; what is left is for normal approximations.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(sum);
use Test::More;

use EpsilonBound;
use GaussianAudit;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 1.5,
	RECORDS => 32,				# of a person, one in each label
	PERSONS => 31,
	ALPHA_HERE => 1e-13,
	MAX_Z => 7.5,
	ONE => 8192,				# of moments, for 1
};
use constant LABELS => PERSONS * RECORDS;

my $sketch = q('l2(dims=1, rows=1, range=2)');

# A record changes one counter, and it changes moments in the constant alone, to the square of the norm.
sub moments {
	my ($name, $mechanism, $clip, $calls) = @_;
	return {name => $name, mechanism => $mechanism, calls => $calls, kind => 'moments', cell => 1, delta => 0, change => 0.49 * ONE**2,
		record => 'ARRAY[0,0]', params => "race_moment_params('{-1,-1}', '{1,1}', 0.7, targets => 0, clip => '$clip')"};
}
my $laplace = {name => 'Laplace', mechanism => 'discrete Laplace', calls => 10, kind => 'sketch', delta => 0, change => 1,
	record => 'ARRAY[40]', params => $sketch};
my $gaussian = {%$laplace, name => 'Gaussian', mechanism => 'discrete Gaussian', calls => 7, delta => 1e-6};
my @pure = ($laplace, moments('Laplace, moments', 'discrete Laplace', 'absolute', 10), moments('Wishart', 'Wishart', 'norm', 15));

# The counter that a record of a sketch is in
my $exact = decode(sql("SELECT encode(_race_sketch_send(race_add(race_sketch($sketch\::race_params), ARRAY[40])), 'hex')"));
($_->{cell}) = grep { $exact->[$_] } 1 .. $#$exact for $laplace, $gaussian;

sql(<<"END");
CREATE TABLE visits AS SELECT i / @{[RECORDS]} AS person, i AS label FROM generate_series(0, @{[LABELS - 1]}) i;
CREATE TABLE rows AS SELECT * FROM visits;
CALL race_protect('persons', 'visits', 1000000, 0.1, 'person', @{[RECORDS]}, accounting => 'zcdp');
CALL race_protect('rows', 'rows', 1000000, 0.1, accounting => 'zcdp');
END

# Releases of labels with persons, and of as many with nobody: [count, counter], RECORDS of them a trial
sub trials {
	my ($dataset, $release) = @_;
	return map {
		my @labels = map { [@$_[COUNT, $release->{cell}]] } @$_;
		[map { [splice @labels, 0, RECORDS] } 1 .. PERSONS * $release->{calls}];
	} label_sketches("$release->{name} $dataset", $release->{calls}, LABELS,
		"'$dataset', $release->{params}, '$release->{record}', @{[EPSILON]}, $release->{delta}, label => 'label'", 0);
}

# What is recorded: the cost, and the standard deviation of the noise of a count and of a counter
sub recorded {
	my ($dataset, $release) = @_;
	my $stddev = $release->{kind} eq 'moments' ? 'counter_noise_stddev * ' . ONE**2 : 'counter_noise_stddev';
	my ($mechanism, @recorded) = split /\|/, sql(<<"END");
SELECT DISTINCT mechanism, epsilon, rho, count_noise_stddev, $stddev
FROM _racepriv.race_releases, race_info(sketch) WHERE name LIKE '$release->{name} $dataset %'
END
	is($mechanism, $release->{mechanism}, "$release->{name}, $dataset: the mechanism");
	return @recorded;
}

# Logarithms of densities, but for a constant
my %log_density = (
	'discrete Laplace' => sub { my ($x, $stddev) = @_; -abs($x) / $stddev * sqrt(2) },
	'discrete Gaussian' => sub { my ($x, $stddev) = @_; -($x / $stddev)**2 / 2 },
	# of 3 counters, in units of twice the scale
	'Wishart' => sub { my ($x, $stddev) = @_; my $z = abs($x) / $stddev * sqrt(2); log(1 + $z) - $z });

# What all labels of a trial tell together
sub llrs {
	my ($release, $trials, @stddev) = @_;
	my @change = (1, $release->{change});
	my @log_density = @log_density{$release->{mechanism} eq 'discrete Gaussian' ? 'discrete Gaussian' : 'discrete Laplace', $release->{mechanism}};
	return [map {
		sprintf '%.2f', sum(map {
			my $label = $_;
			map { $log_density[$_]->($label->[$_] - $change[$_], $stddev[$_]) - $log_density[$_]->($label->[$_], $stddev[$_]) } 0, 1
		} @$_)
	} @$trials];
}

# Lower bounds of epsilon, and the epsilon that is recorded
sub bounds {
	my ($dataset, $release) = @_;
	my ($less, $more) = trials($dataset, $release);
	my ($epsilon, undef, @stddev) = recorded($dataset, $release);
	return ($epsilon, epsilon_bounds(llrs($release, $less, @stddev), llrs($release, $more, @stddev), 10 * $release->{calls}, ALPHA_HERE));
}

for my $release (@pure) {
	my ($recorded, @bounds) = bounds('persons', $release);
	cmp_ok($recorded, '<=', EPSILON, "$release->{name}: the recorded epsilon is at most what was asked");
	cmp_ok($_, '<=', $recorded, sprintf '%s: epsilon of all labels is at least %.3f', $release->{name}, $_) for @bounds;
	($recorded, @bounds) = bounds('rows', $release);
	cmp_ok($_, '>', $recorded, sprintf '%s, control, noise for one record: caught, epsilon is at least %.3f', $release->{name}, $_)
		for @bounds;
}

# mu of a normal log-likelihood ratio, and how far it is from what `records` labels should have
sub mu_of {
	my ($dataset, $records) = @_;
	my ($less, $more) = trials($dataset, $gaussian);
	my (undef, $rho, @stddev) = recorded($dataset, $gaussian);
	my @llrs = map { llrs($gaussian, $_, @stddev) } $less, $more;
	my $trials = @$less;
	my @mean = map { sum(@$_) / $trials } @llrs;
	my @variance = map { my $i = $_; sum(map { ($_ - $mean[$i])**2 } @{$llrs[$i]}) / ($trials - 1) } 0, 1;
	my $mu = ($mean[1] - $mean[0]) / sqrt(sum(@variance) / 2);
	return ($mu, map { mu_z($mu, $_, $trials) } sqrt(2 * $rho / $records), sqrt(2 * $rho));
}
# noise is for the square of all records, of which each label has one
my ($mu, $z) = mu_of('persons', RECORDS);
cmp_ok(abs $z, '<', MAX_Z, sprintf 'Gaussian: mu of all labels is %.3f, z = %.1f', $mu, $z);
(my $more, undef, $z) = mu_of('rows', 1);
cmp_ok($z, '>', MAX_Z, sprintf 'Gaussian, control, noise for one record: caught, mu is %.3f, z = %.1f', $more, $z);
done_testing();
