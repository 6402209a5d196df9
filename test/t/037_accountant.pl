# A second accountant: what Gaussian noise costs, by convolution.
#
# A server says the variances of a release that costs (epsilon, delta).  A record adds 1 to a counter
# of each of R rows and to the count.  So the privacy loss of a release is that of R + 1 independent
# draws of discrete Gaussian noise,
#
#	loss = sum of (1 - 2 X) / (2 variance),
#
# and delta is the mean of max(1 - e^(epsilon - loss), 0).  Here it is added up over all
# outcomes but those of a probability below 1e-30.  No formula of src/privacy is used:
# neither zCDP, nor that of the Gaussian mechanism.  The other direction is the same, since noise is symmetric.
#
# It uses no random numbers, so that there are no false alarms.  The control is a release with less noise.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(sum);
use Test::More;

use RaceServer;

use constant REACH => 12;	# standard deviations
use constant LEAST => 1e-30;

# The probabilities of discrete Gaussian noise, from -n to n
sub noise {
	my ($variance) = @_;
	my $n = REACH * (int(sqrt $variance) + 1);
	my @p = map { exp(-$_ * $_ / 2 / $variance) } -$n .. $n;
	my $total = sum @p;
	return [map { $_ / $total } @p];
}

# Those of a sum of two, symmetric too; what is below LEAST at both ends is left out
sub sum_of {
	my ($x, $y) = @_;
	my @p = (0) x (@$x + @$y - 1);
	for my $i (0 .. $#$x) {
		my $at = $x->[$i];
		$p[$i + $_] += $at * $y->[$_] for 0 .. $#$y;
	}
	while ($p[0] < LEAST) { shift @p; pop @p }
	return \@p;
}

# Those of a sum of so many, by doubling
sub sum_of_many {
	my ($noise, $n) = @_;
	return $noise if $n == 1;
	my $half = sum_of_many($noise, int($n / 2));
	my $sum = sum_of($half, $half);
	return $n % 2 ? sum_of($sum, $noise) : $sum;
}

sub delta {
	my ($epsilon, $rows, $variance, $count_variance) = @_;
	my ($counters, $count) = (sum_of_many(noise($variance), $rows), noise($count_variance));
	my ($middle, $count_middle) = ($#$counters / 2, $#$count / 2);
	my $delta = 0;
	for my $i (0 .. $#$counters) {
		my $of_counters = ($rows - 2 * ($i - $middle)) / 2 / $variance;
		for my $j (0 .. $#$count) {
			my $loss = $of_counters + (1 - 2 * ($j - $count_middle)) / 2 / $count_variance;
			last if $loss <= $epsilon;
			$delta += $counters->[$i] * $count->[$j] * (1 - exp($epsilon - $loss));
		}
	}
	return $delta;
}

# What a release of so many rows plans: the squares of its standard deviations, and its rho
sub variances {
	my ($epsilon, $delta, $rows) = @_;
	return split /\|/, sql(<<"END");
SELECT round(counter_noise_stddev ^ 2), round(count_noise_stddev ^ 2), rho > _racepriv._race_rho_limit($epsilon, $delta)
FROM race_privacy_cost('l2(dims=1, rows=$rows, range=64)', $epsilon, $delta)
END
}

# How much of delta a release costs at least, where 4 more in each variance is not much
my @releases = ([1, 1e-6, 32, 0.85], [1, 1e-6, 4, 0.5], [0.5, 1e-3, 16, 0.9], [0.25, 1e-9, 2, 0.8], [2, 1e-5, 16, 0.4]);

for my $release (@releases) {
	my ($epsilon, $delta, $rows, $least) = @$release;
	my ($variance, $count_variance, $exact) = variances($epsilon, $delta, $rows);
	my $part = delta($epsilon, $rows, $variance, $count_variance) / $delta;
	is($exact, 't', "epsilon $epsilon, delta $delta, $rows rows: more rho than zCDP allows");
	cmp_ok($part, '<=', 1, sprintf 'it costs %.3f of delta', $part);
	cmp_ok($part, '>', $least, 'and that is not much less');
	cmp_ok(delta($epsilon, $rows, 0.85 * $variance, 0.85 * $count_variance), '>', $delta, 'control: .85 of the variances cost more')
}

# What does not fit the exact account stays in zCDP
my ($one, $substitute) = map { sql("SELECT rho <= _racepriv._race_rho_limit($_->[0], 1e-6) FROM race_privacy_cost('l2(dims=1, rows=64, range=64)', $_->[0], 1e-6, neighbors => '$_->[1]')") }
	[20, 'add_remove'], [1, 'substitute'];
is("$one $substitute", 't t', 'little noise and substitution stay in zCDP');
done_testing();
