# What releases of two neighboring tables say of the true epsilon: lower bounds.
package EpsilonBound;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(min);
use POSIX qw(asin);

use ClopperPearson qw(probability_at_least probability_at_most);

our @EXPORT = qw(ALPHA epsilon_bounds);

# How often each of the two probabilities of a bound may be wrong, if a test does not say
use constant ALPHA => 2.5e-11;
use constant PI => 4 * atan2(1, 1);

# The lower bound of epsilon from `guilty` of n hits in the one table, and
# `innocent` of n in the other
sub epsilon_bound {
	my ($guilty, $innocent, $n, $alpha) = @_;
	return 0 if $guilty == 0;
	return log(probability_at_least($guilty, $n, $alpha)
		/ probability_at_most($innocent, $n, $alpha));
}

# The t for which "LLR >= t" promises the largest bound from `later` releases, which then holds whatever t is.  Bounds
# are approximated: arcsines of roots of frequencies have the standard deviation 1 / (2 sqrt(n)), and here those
# frequencies are in doubt, too, by two of them.
sub best_threshold {
	my ($guilty, $innocent, $later, $alpha) = @_;
	my (%guilty, %innocent);
	$guilty{$_}++ for @$guilty;
	$innocent{$_}++ for @$innocent;
	my $n = @$guilty;
	my $z = sqrt(-log($alpha) / 2 / $later) + 1 / sqrt($n);
	my ($hits, $others, $best, $threshold) = (0, 0, -1);
	for my $t (sort { $b <=> $a } keys %{{%guilty, %innocent}}) {
		$hits += $guilty{$t} // 0;
		$others += $innocent{$t} // 0;
		my $least = asin(sqrt($hits / $n)) - $z;
		next if $least <= 0;
		my $most = asin(sqrt(min(1, ($others + 1) / $n))) + $z;
		my $ratio = sin($least) / ($most < PI / 2 ? sin $most : 1);
		($best, $threshold) = ($ratio, $t) if $ratio > $best;
	}
	return $threshold;
}

# The bound from LLRs of two tables, the pilot's first
sub bound_of {
	my ($guilty, $innocent, $pilot, $alpha) = @_;
	my @guilty = @$guilty;
	my @innocent = @$innocent;
	my $t = best_threshold([splice @guilty, 0, $pilot], [splice @innocent, 0, $pilot], @$guilty - $pilot, $alpha);
	return epsilon_bound(scalar(grep { $_ >= $t } @guilty),
		scalar(grep { $_ >= $t } @innocent), scalar @guilty, $alpha);
}

# In both directions, from LLRs of as many releases of D as of D'
sub epsilon_bounds {
	my ($less, $more, $pilot, $alpha) = @_;
	$alpha //= ALPHA;
	return (bound_of($more, $less, $pilot, $alpha),
		bound_of([map { -$_ } @$less], [map { -$_ } @$more], $pilot, $alpha));
}

1;
