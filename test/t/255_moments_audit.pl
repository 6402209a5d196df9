# The audit of what race_release stores of moments: epsilon, and rho, hold for a person with
# 10 joined rows, of whom max_contributions lets two in.
#
# Each label of a release is a trial of its own, as in 170_release_audit.pl: it has a person
# or nobody.  Records are beyond the norm, so that they are scaled down to it, and change the sums
# as much as may be.  Pure noise is audited with columns in the middle of their bounds: of more
# counters that change, an attacker learns all of epsilon too rarely to be seen.  There are two: with one there
# is no Laplace noise; and Wishart noise along a record then has the density (1 + |z|) exp(-|z|), if z
# is in units of twice the scale.
# Noise with delta, of three columns beyond their bounds, is drawn in coarser integers.  Budgets are in zCDP,
# where releases do not spare the delta.
#
# The mutants are made of true noise: half of it; noise for the upper triangle alone, where
# products of two columns count once; and records that are not scaled down.
#
# False alarms: 1.2e-11 a run of this file (all tests: 030_audit.pl):
#
#	audit	2 in 2 directions of 2 bounds at 1e-12			8.0e-12
#	mu	|z| < 7.5, 6.4e-14, and size and mean of the noise,
#		34 of the same						2.3e-12
#	what is left is for normal approximations
#
# Of Wishart noise an attacker learns least.  With half the noise, P[LLR >= t] is .335 and .081 at the best t, whose
# logarithms differ by 1.414.  30,000 trials have a standard error of .021 there: that is 17 above epsilon, and a bound
# takes 11.  Half the Laplace noise is 42 above it, with 15,000 trials; a Gaussian without one triangle has z = 17.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(sum);
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	DELTA => 1e-6,
	DELTA_EPSILON => 3,
	BOUND => 2,
	ROWS => 10,
	PERSONS => 1000,
	PILOT => 6_000,
	ALPHA_HERE => 1e-12,
	MAX_Z => 7.5,
	ONE => 8192,
};
# Of each kind of noise: how many releases there are; what one costs; so many columns, of this value; and their norm, which is
# more without the bound
my %calls = (laplace => 21, wishart => 36, gaussian => 24);
my %delta = (laplace => 0, wishart => 0, gaussian => DELTA);
my %epsilon = (laplace => sprintf('%.17g', EPSILON), wishart => sprintf('%.17g', EPSILON), gaussian => DELTA_EPSILON);
my %columns = (laplace => 2, wishart => 2, gaussian => 3);
my %value = (laplace => 0, wishart => 0, gaussian => 7);
my %norm = (laplace => 0.7, wishart => 0.7, gaussian => 1.5);
my %unbounded_norm = (laplace => 1, wishart => 1, gaussian => 2);
my %clip = (laplace => 'absolute', wishart => 'norm', gaussian => 'norm');

sub params {
	my ($kind, $norm) = @_;
	my ($lower, $upper) = map { '{' . join(',', ($_) x $columns{$kind}) . '}' } -1, 1;
	return "race_moment_params('$lower', '$upper', " . ($norm // $norm{$kind}) . ", targets => 0, clip => '$clip{$kind}')";
}

sub record { my ($kind) = @_; return 'ARRAY[' . join(',', ($value{$kind}) x $columns{$kind}) . ']' }

# The entries that there are counters of
sub triangle {
	my ($kind) = @_;
	my $n = $columns{$kind};
	return map { my $i = $_; map { [$i, $_] } $i .. $n } 0 .. $n;
}

sql(<<"END");
CREATE TABLE people AS SELECT i AS id FROM generate_series(1, @{[2 * PERSONS]}) i;
CREATE TABLE visits AS
SELECT id AS person FROM people, generate_series(1, @{[ROWS]}) WHERE id <= @{[PERSONS]};
CREATE VIEW joined AS SELECT id FROM people JOIN visits ON person = id;
CREATE TABLE unbounded AS SELECT * FROM joined;
CALL race_protect('bounded', 'joined', 1000000, 0.1, 'id', @{[BOUND]}, accounting => 'zcdp');
CALL race_protect('unbounded', 'unbounded', 1000000, 0.1, NULL, @{[BOUND]}, accounting => 'zcdp');
END

# What so many records of a person add: [count, counters ...]
sub exact {
	my ($kind, $n, $norm) = @_;
	my $empty = "race_sketch(@{[params($kind, $norm)]})";
	return decode(sql(<<"END"));
SELECT encode(_race_sketch_send(race_merge(race_add($empty, @{[record($kind)]}))), 'hex') FROM generate_series(1, $n)
END
}

# The sums that a person changes; none; and those without the norm
sub person {
	my ($kind) = @_;
	my @triangle = triangle($kind);
	my $person = exact($kind, BOUND);
	my $squares = sum(map { $person->[1 + $_] / BOUND / ONE**2 * ($triangle[$_][0] == $triangle[$_][1]) } 0 .. $#triangle);
	cmp_ok(abs($squares / $norm{$kind}**2 - 1), '<', 1e-3, 'a record is scaled down to the norm');
	return ($person, [(0) x @$person], exact($kind, BOUND, $unbounded_norm{$kind}));
}

# The releases of labels with nobody, and with a person
sub trials {
	my ($dataset, $kind) = @_;
	return label_sketches("$dataset $kind", $calls{$kind}, PERSONS, "'$dataset', @{[params($kind)]}, \$x\$@{[record($kind)]}\$x\$, $epsilon{$kind}, $delta{$kind}, label => 'id'");
}

# What is recorded of releases: the standard deviation of entries and of the count, and a cost
sub recorded {
	my ($dataset, $kind, $cost) = @_;
	return split /\|/, sql(<<"END");
SELECT min(counter_noise_stddev), min(count_noise_stddev), max($cost), min(mechanism)
FROM _racepriv.race_releases, race_info(sketch) WHERE name LIKE '$dataset $kind %'
END
}

# Noise of releases, [count, counters ...], and releases of other records with it, so large
sub noise_of {
	my ($exact, $releases) = @_;
	return [map { my $release = $_; [map { $release->[$_] - $exact->[$_] } 0 .. $#$exact] } @$releases];
}

sub with {
	my ($exact, $noise, $factor) = @_;
	return [map { my $draw = $_; [map { $exact->[$_] + $factor * $draw->[$_] } 0 .. $#$exact] } @$noise];
}

# -------------------------------------------------------------- Laplace noise

my ($person, $nobody, $unclipped) = person('laplace');
my @pure = trials('bounded', 'laplace');
is(scalar @{$pure[$_]}, PERSONS * $calls{laplace}, 'as many trials as labels') for 0, 1;
my ($deviation, $count_deviation, $recorded, $mechanism) = recorded('bounded', 'laplace', 'epsilon');
is($mechanism, 'discrete Laplace', 'Laplace noise');
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');

# The largest change of the sums in L1, times two records: what the scale must be
my $l1 = BOUND * $norm{laplace}**2;
my $b = $deviation / sqrt(2);
my $b_count = $count_deviation / sqrt(2);
cmp_ok(abs($b * 0.95 * EPSILON / $l1 - 1), '<', 1e-3, 'the scale is that of the largest change');

# ln P[release | person] / P[release | nobody], if the release has the person of these sums
sub laplace_llrs {
	my ($releases, $changes) = @_;
	return [map {
		my $release = $_;
		my $speaks = sub { my ($i) = @_; abs($release->[$i]) - abs($release->[$i] - $changes->[$i]) };
		sprintf '%.2f', sum(map { $speaks->($_) } 1 .. $#$changes) / $b / ONE**2 + $speaks->(COUNT) / $b_count;
	} @$releases];
}

sub bounds {
	my ($less, $more, $changes) = @_;
	return epsilon_bounds(laplace_llrs($less, $changes), laplace_llrs($more, $changes), PILOT, ALPHA_HERE);
}
cmp_ok($_, '<=', $recorded, sprintf 'a person with %d rows: epsilon is at least %.3f', ROWS, $_)
	for bounds(@pure, $person);

my $pure_noise = [noise_of($nobody, $pure[0]), noise_of($person, $pure[1])];
sub caught {
	my ($what, $changes, $factor) = @_;
	cmp_ok($_, '>', $recorded, sprintf 'mutant, %s: caught, epsilon is at least %.3f', $what, $_)
		for bounds(with($nobody, $pure_noise->[0], $factor), with($changes, $pure_noise->[1], $factor), $changes);
	return;
}
caught('half the noise', $person, 1 / 2);
caught('clipping left out', $unclipped, 1);
cmp_ok($_, '>', $recorded, sprintf 'control, rows without a unit: caught, epsilon is at least %.3f', $_)
	for bounds(trials('unbounded', 'laplace'), $person);

# -------------------------------------------------------------- Wishart noise

($person, $nobody, $unclipped) = person('wishart');
@pure = trials('bounded', 'wishart');
($deviation, $count_deviation, $recorded, $mechanism) = recorded('bounded', 'wishart', 'epsilon');
is($mechanism, 'Wishart', 'Wishart noise');
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');

# Of 3 counters and so 4 degrees of freedom the variance is 8 times the square of the scale.
my $scale = $deviation / sqrt(8);
$b_count = $count_deviation / sqrt(2);
my $trace = BOUND * $norm{wishart}**2;
cmp_ok(abs($scale * 2 * EPSILON * 298 / 320 / $trace - 1), '<', 2e-3, 'the scale is that of the largest trace');

# The record has nothing but the constant.
sub wishart_llrs {
	my ($releases, $changes) = @_;
	my $log_density = sub { my $z = abs($_[0]) / 2 / $scale / ONE**2; log(1 + $z) - $z };
	return [map {
		my $release = $_;
		my $count = abs($release->[COUNT]) - abs($release->[COUNT] - $changes->[COUNT]);
		sprintf '%.2f', $log_density->($release->[1] - $changes->[1]) - $log_density->($release->[1]) + $count / $b_count;
	} @$releases];
}

sub wishart_bounds {
	my ($less, $more, $changes) = @_;
	return epsilon_bounds(wishart_llrs($less, $changes), wishart_llrs($more, $changes), PILOT, ALPHA_HERE);
}
cmp_ok($_, '<=', $recorded, sprintf 'a person with %d rows, Wishart: epsilon is at least %.3f', ROWS, $_)
	for wishart_bounds(@pure, $person);

$pure_noise = [noise_of($nobody, $pure[0]), noise_of($person, $pure[1])];
sub wishart_caught {
	my ($what, $changes, $factor) = @_;
	cmp_ok($_, '>', $recorded, sprintf 'mutant, Wishart, %s: caught, epsilon is at least %.3f', $what, $_)
		for wishart_bounds(with($nobody, $pure_noise->[0], $factor), with($changes, $pure_noise->[1], $factor), $changes);
}
wishart_caught('half the noise', $person, 1 / 2);
wishart_caught('clipping left out', $unclipped, 1);

# no entry has a kurtosis above 6
my @entries = triangle('wishart');
for my $i (0 .. $#entries) {
	my @noise = map { $_->[1 + $i] } map { @$_ } @$pure_noise;
	my $variance = $deviation**2 * ONE**4 * ($entries[$i][0] == $entries[$i][1] ? 2 : 1);
	my $size = (sum(map { $_**2 } @noise) / @noise / $variance - 1) * sqrt(@noise / 5);
	my $mean = sum(@noise) / sqrt(@noise * $variance);
	cmp_ok(abs $_, '<', MAX_Z, sprintf 'Wishart noise of entry (@{$entries[$i]}), z = %.1f', $_) for $size, $mean;
}

# ------------------------------------------------------------- Gaussian noise

($person, $nobody, $unclipped) = person('gaussian');
my @triangle = triangle('gaussian');
my @gaussian = trials('bounded', 'gaussian');
my $rho;
($deviation, $count_deviation, $rho) = recorded('bounded', 'gaussian', 'rho');
my @variance = ($count_deviation**2,
	map { $deviation**2 * ONE**4 * ($_->[0] == $_->[1] ? 2 : 1) } @triangle);

# half of the square of |v|^2, since the diagonal has twice the variance
my $squared = $norm{gaussian}**4 / 2;
cmp_ok(abs($deviation**2 * 2 * $rho * 0.95 / $squared / BOUND**2 - 1), '<', 1e-3,
	'the variance is that of the largest change');

# The standard deviation of the log-likelihood ratio: what it should be, and what it is
sub expected_mu {
	my ($changes) = @_;
	return sqrt(sum(map { $changes->[$_]**2 / $variance[$_] } 0 .. $#variance));
}

sub mu {
	my ($less, $more, $changes) = @_;
	my @llrs = map { [map { my $r = $_; sum(map { ($r->[$_] - $changes->[$_] / 2) * $changes->[$_] / $variance[$_] } 0 .. $#variance) } @$_] } $less, $more;
	my @mean = map { sum(@$_) / @$_ } @llrs;
	my @spread = map { my $i = $_; sum(map { ($_ - $mean[$i])**2 } @{$llrs[$i]}) / @{$llrs[$i]} } 0, 1;
	return ($mean[1] - $mean[0]) / sqrt(($spread[0] + $spread[1]) / 2);
}

# In standard errors
sub mu_z {
	my ($mu, $expected) = @_;
	return ($mu - $expected) / sqrt((2 + $expected**2 / 4) / PERSONS / $calls{gaussian});
}
my $limit = sqrt(2 * $rho);
my $expected = expected_mu($person);
cmp_ok($expected, '<=', $limit, 'rho bounds what a person costs');
cmp_ok($expected, '>', 0.9 * $limit, 'and the record is almost the worst');
my $z = mu_z(mu(@gaussian, $person), $expected);
cmp_ok(abs $z, '<', MAX_Z, sprintf 'mu is %.4f, of at most %.4f, z = %.1f', mu(@gaussian, $person), $limit, $z);

my $gaussian_noise = [noise_of($nobody, $gaussian[0]), noise_of($person, $gaussian[1])];
for my $i (0 .. $#variance) {
	my @noise = map { $_->[$i] } map { @$_ } @$gaussian_noise;
	my $size = (sum(map { $_**2 } @noise) / @noise / $variance[$i] - 1) * sqrt(@noise / 2);
	my $mean = sum(@noise) / sqrt(@noise * $variance[$i]);
	my $name = $i == 0 ? 'the count' : "entry (@{$triangle[$i - 1]})";
	cmp_ok(abs $_, '<', MAX_Z, sprintf 'noise of %s, z = %.1f', $name, $_) for $size, $mean;
}

sub mu_caught {
	my ($what, $changes, $factor) = @_;
	my $mu = mu(with($nobody, $gaussian_noise->[0], $factor), with($changes, $gaussian_noise->[1], $factor), $changes);
	my $z = mu_z($mu, $limit);
	cmp_ok($z, '>', MAX_Z, sprintf 'mutant, %s: caught, mu is %.4f, z = %.1f', $what, $mu, $z);
}
# products of two columns counted once: half of the square of |v|^2, and half of the diagonal's
my $once = ($norm{gaussian}**4 + $norm{gaussian}**4 / (1 + $columns{gaussian})) / 4;
mu_caught('half the noise', $person, 1 / 2);
mu_caught('one triangle forgotten', $person, sqrt($once / $squared));
mu_caught('clipping left out', $unclipped, 1);
is(sql("SELECT spent_epsilon = @{[$calls{laplace} + $calls{wishart}]} * ($epsilon{laplace})::float8::text::numeric + @{[$calls{gaussian} * $epsilon{gaussian}]} FROM _racepriv.race_budgets WHERE budget = 'bounded'"), 't',
	'all labels of a release together cost its epsilon once');
done_testing();
