# What releases of two neighboring tables say of the true epsilon: lower bounds.
package EpsilonBound;

use strict;
use warnings;

use Exporter 'import';

use ClopperPearson qw(probability_at_least probability_at_most);

our @EXPORT = qw(ALPHA epsilon_bounds);

# How often each of the two probabilities of a bound may be wrong, if a test does not say
use constant ALPHA => 2.5e-11;

# How many LLRs are how large: for each that occurs, how many are at least it
sub tail_counts {
	my %times;
	$times{$_}++ for @_;
	my ($total, %tail) = (0);
	$tail{$_} = $total += $times{$_} for sort { $b <=> $a } keys %times;
	return %tail;
}

# The lower bound of epsilon from `guilty` of n hits in the one table, and
# `innocent` of n in the other
sub epsilon_bound {
	my ($guilty, $innocent, $n, $alpha) = @_;
	return 0 if $guilty == 0;
	return log(probability_at_least($guilty, $n, $alpha)
		/ probability_at_most($innocent, $n, $alpha));
}

# The t for which "LLR >= t" gives the largest bound
sub best_threshold {
	my ($guilty, $innocent, $alpha) = @_;
	my %guilty = tail_counts(@$guilty);
	my ($best, $threshold) = (-1);
	for my $t (keys %guilty) {
		my $others = grep { $_ >= $t } @$innocent;
		my $bound = epsilon_bound($guilty{$t}, $others, scalar @$guilty, $alpha);
		($best, $threshold) = ($bound, $t) if $bound > $best;
	}
	return $threshold;
}

# The bound from LLRs of two tables, the pilot's first
sub bound_of {
	my ($guilty, $innocent, $pilot, $alpha) = @_;
	my @guilty = @$guilty;
	my @innocent = @$innocent;
	my $t = best_threshold([splice @guilty, 0, $pilot], [splice @innocent, 0, $pilot], $alpha);
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
