# Clopper-Pearson bounds: what a number of hits says of their probability.
package ClopperPearson;

use strict;
use warnings;

use Exporter 'import';
use POSIX qw(lgamma);

our @EXPORT_OK = qw(probability_at_least probability_at_most);

# The continued fraction of the incomplete beta function, by Lentz's method
sub beta_fraction {
	my ($a, $b, $x) = @_;
	my $nonzero = sub { abs($_[0]) < 1e-300 ? 1e-300 : $_[0] };
	my $c = 1;
	my $d = 1 / $nonzero->(1 - ($a + $b) * $x / ($a + 1));
	my $fraction = $d;

	for my $m (1 .. 100_000) {
		my $even = $m * ($b - $m) * $x / (($a + 2 * $m - 1) * ($a + 2 * $m));
		my $odd = -($a + $m) * ($a + $b + $m) * $x
			/ (($a + 2 * $m) * ($a + 2 * $m + 1));
		my $step;

		for my $term ($even, $odd) {
			$d = 1 / $nonzero->(1 + $term * $d);
			$c = $nonzero->(1 + $term / $c);
			$step = $c * $d;
			$fraction *= $step;
		}
		return $fraction if abs($step - 1) < 1e-14;
	}
	die "the continued fraction does not converge\n";
}

# The regularized incomplete beta function I_x(a, b), 0 < x < 1
sub incomplete_beta {
	my ($a, $b, $x) = @_;
	my $front = exp(lgamma($a + $b) - lgamma($a) - lgamma($b)
		+ $a * log($x) + $b * log(1 - $x));

	return $front * beta_fraction($a, $b, $x) / $a
		if $x < ($a + 1) / ($a + $b + 2);
	return 1 - $front * beta_fraction($b, $a, 1 - $x) / $b;
}

# A lower bound of the probability of what was seen in `hits` of n trials; wrong
# at most once in 1/alpha times.  P[Binomial(n, p) >= hits] = I_p(hits, n - hits
# + 1), and the bound is the p where that is alpha.
sub probability_at_least {
	my ($hits, $n, $alpha) = @_;
	return 0 if $hits == 0;
	my ($low, $high) = (0, $hits / $n);
	for (1 .. 50) {
		my $middle = ($low + $high) / 2;
		if (incomplete_beta($hits, $n - $hits + 1, $middle) < $alpha) {
			$low = $middle;
		}
		else {
			$high = $middle;
		}
	}
	return $low;
}

# An upper bound, in the same way
sub probability_at_most {
	my ($hits, $n, $alpha) = @_;
	return 1 - probability_at_least($n - $hits, $n, $alpha);
}

1;
