# What gives away Gaussian noise that is not as large as it should be: its size, and
# the mean difference of the log-likelihood ratio.  A pair of tables knows its exact
# sketches, the cells in which they differ, and the variances that are due.
package GaussianAudit;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(sum);

use RaceRelease;

our @EXPORT = qw(square_z size_z expected_mu mu mu_z);

# Mean of noise^2 against the variance, in standard errors, from the sum of n
sub square_z {
	my ($variance, $squares, $n) = @_;
	return ($squares / $n / $variance - 1) * sqrt($n / 2);
}

# The same of a list of noise
sub size_z {
	my ($variance, @noise) = @_;
	return square_z($variance, sum(map { $_**2 } @noise), scalar @noise);
}

# ln P[release | D'] / P[release | D]; what is the same in D and D' cancels
sub llr {
	my ($pair, $release) = @_;
	my ($less, $more) = @$pair{qw(less more)};
	my $counters = 0;
	$counters += ($release->[$_] - $less->[$_])**2 - ($release->[$_] - $more->[$_])**2
		for @{$pair->{cells}};
	my $count = ($release->[COUNT] - $less->[COUNT])**2
		- ($release->[COUNT] - $more->[COUNT])**2;
	return $counters / 2 / $pair->{counter_variance} + $count / 2 / $pair->{count_variance};
}

# The mu that D and D' should have
sub expected_mu {
	my ($pair) = @_;
	my ($less, $more) = @$pair{qw(less more)};
	return sqrt(sum(map { ($less->[$_] - $more->[$_])**2 } @{$pair->{cells}})
		/ $pair->{counter_variance}
		+ ($less->[COUNT] - $more->[COUNT])**2 / $pair->{count_variance});
}

sub mean_and_variance {
	my $mean = sum(@_) / @_;
	return ($mean, sum(map { ($_ - $mean)**2 } @_) / $#_);
}

# mu as releases of D and D' have it
sub mu {
	my ($pair, $less, $more) = @_;
	my ($low, $low_variance) = mean_and_variance(map { llr($pair, $_) } @$less);
	my ($high, $high_variance) = mean_and_variance(map { llr($pair, $_) } @$more);
	return ($high - $low) / sqrt(($low_variance + $high_variance) / 2);
}

# How far it is from what it should be, in standard errors (Hedges & Olkin 1985);
# there are so many releases of each table
sub mu_z {
	my ($mu, $expected, $releases) = @_;
	return ($mu - $expected) / sqrt((2 + $expected**2 / 4) / $releases);
}

1;
