# The audit of releases with discrete Laplace noise: lower bounds of epsilon, and size
# and mean of the noise.  A pair of tables knows its exact sketches, `less` and `more`, the
# `cells` in which they differ, what it costs, and the arguments of its releases.
package LaplaceAudit;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(sum);
use Math::BigInt;
use POSIX qw(frexp);
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	RELEASES => 15_000,
	PILOT => 6_000,
	MAX_Z => 7.5,
};

our @EXPORT = qw(EPSILON RELEASES PILOT MAX_Z $epsilon add_expected_noise draw sizes biases
	audit caught size_caught noise_vectors mutants);

our $epsilon = sprintf '%.17g', EPSILON;

# ------------------------------------------------------------------ noise

# The scale b = ceil(256 * sensitivity * share / epsilon) / 256, exactly
sub scale {
	my ($sensitivity, $multiplier, $divisor, $of) = @_;
	my ($fraction, $exponent) = frexp($of // EPSILON);
	my $below = Math::BigInt->new(sprintf '%d', $fraction * 2**53)->bmul($divisor);
	my $above = Math::BigInt->new(256 * $sensitivity * $multiplier)->blsft(53 - $exponent);
	return $above->badd($below)->bsub(1)->bdiv($below)->numify / 256;
}

# What a release should do: a share of epsilon may go to a look, 1/20 of the rest to the count, and what is left to
# the counters.  A person changes them by so much.
sub add_expected_noise {
	my ($pair, $counters, $count, $look, $share) = @_;
	my $look_price = $look ? EPSILON / $share : 0;
	my $count_price = (EPSILON - $look_price) / 20;
	my $paid = POSIX::nextafter($count_price, 2);
	$paid = POSIX::nextafter($paid + $look_price, 2) if $look;
	$pair->{b_counter} = scale($counters, 1, 1, POSIX::nextafter(EPSILON - $paid, 0));	# rounded down
	$pair->{b_count} = scale($count, 1, 1, $count_price);
	$pair->{expected} = $counters / $pair->{b_counter} + $count / $pair->{b_count}
		+ ($look ? $look / scale($look, $share, 1) : 0);
	return;
}

sub standard_deviation {
	my ($b) = @_;
	my $q = exp(-1 / $b);
	return sqrt(2 * $q) / (1 - $q);
}

# Mean of |noise| against that of discrete Laplace noise, in standard errors
sub size_z {
	my ($b, @noise) = @_;
	my $q = exp(-1 / $b);
	my $mean = 2 * $q / (1 - $q**2);
	my $error = sqrt(standard_deviation($b)**2 - $mean**2);
	return (sum(map { abs } @noise) / @noise - $mean) / $error * sqrt(@noise);
}

# How far off is the size of the counters' noise, and of the count's?
sub sizes {
	my ($pair, $releases) = @_;
	return (size_z($pair->{b_counter}, counter_noise($pair->{less}, $releases)),
		size_z($pair->{b_count}, count_noise($pair->{less}, $releases)));
}

# How far off from 0 are their means?
sub biases {
	my ($pair, $releases) = @_;
	return (bias_z(standard_deviation($pair->{b_counter}),
			counter_noise($pair->{less}, $releases)),
		bias_z(standard_deviation($pair->{b_count}),
			count_noise($pair->{less}, $releases)));
}

# ------------------------------------------------------------------ audit

# ln P[release | D'] / P[release | D]; what is the same in D and D' cancels.
# Rounded: what is computed from it is an attack, too, and there are few thresholds to try.
sub llr {
	my ($pair, $release) = @_;
	my $counters = 0;
	$counters += abs($release->[$_] - $pair->{less}[$_]) - abs($release->[$_] - $pair->{more}[$_])
		for @{$pair->{cells}};
	my $count = abs($release->[COUNT] - $pair->{less}[COUNT])
		- abs($release->[COUNT] - $pair->{more}[COUNT]);
	return sprintf '%.2f', $counters / $pair->{b_counter} + $count / $pair->{b_count};
}

# Lower bounds of epsilon in both directions, from releases of D and of D'
sub bounds {
	my ($pair, $less, $more) = @_;
	return epsilon_bounds([map { llr($pair, $_) } @$less], [map { llr($pair, $_) } @$more],
		$pair->{pilot} // PILOT, $pair->{alpha});
}

# Releases of D, and of D'
sub draw {
	my ($pair, $arguments) = @_;
	my $n = $pair->{draws} // PILOT + RELEASES;
	return map { [releases("$pair->{name} $_", $arguments, $n)] } qw(less more);
}

# What must hold of a pair; its releases are kept.
sub audit {
	my ($pair) = @_;
	my $name = $pair->{name};
	my $arguments = "$epsilon$pair->{arguments}";
	my ($recorded, @stddev) = split /\|/, sql(<<"END");
SELECT epsilon, counter_noise_stddev, count_noise_stddev FROM exact,
	race_info(race_privatize(sketch, $arguments)) WHERE name = '$name less'
END
	ok($recorded <= EPSILON && abs($recorded / $pair->{expected} - 1) < 1e-14,
		"$name: the recorded epsilon is what the scales cost");
	my $counter_deviation = standard_deviation($pair->{b_counter}) / ($pair->{unit} // 1);
	ok(abs($stddev[0] / $counter_deviation - 1) < 1e-9
		&& abs($stddev[1] / standard_deviation($pair->{b_count}) - 1) < 1e-9,
		"$name: the recorded noise is that of the scales");
	$pair->{recorded} = $recorded;

	my ($less, $more) = draw($pair, $arguments);
	cmp_ok($_, '<=', $recorded, sprintf '%s: epsilon is at least %.3f', $name, $_)
		for bounds($pair, $less, $more);
	cmp_ok(abs, '<', MAX_Z, sprintf '%s: size of the noise, z = %.1f', $name, $_)
		for sizes($pair, $less);
	cmp_ok(abs, '<', MAX_Z, sprintf '%s: mean of the noise, z = %.1f', $name, $_)
		for biases($pair, $less);
	$pair->{releases} = {less => $less, more => $more};
	return;
}

# --------------------------------------------------------------- controls

sub caught {
	my ($pair, $what, $less, $more) = @_;
	cmp_ok($_, '>', $pair->{recorded}, sprintf '%s: caught, epsilon is at least %.3f', $what, $_)
		for bounds($pair, $less, $more);
	return;
}

sub size_caught {
	my ($what, @z) = @_;
	cmp_ok(abs, '>', MAX_Z, sprintf '%s: size is caught, z = %.1f', $what, $_) for @z;
	return;
}

sub noise_vectors {
	my ($exact, @releases) = @_;
	return map {
		my $release = $_;
		[map { $release->[$_] - $exact->[$_] } 0 .. $#$exact]
	} @releases;
}

# Releases of D and of D' by a mutant of race_privatize.  It makes its noise,
# [count, counters ...], of the true one, a draw of its own for each release.
sub mutants {
	my ($pair, $mutant, $source) = @_;
	$source //= $pair;
	return map {
		my $exact = $pair->{$_};
		my @noise = noise_vectors($source->{$_}, @{$source->{releases}{$_}});
		[map { with_noise($exact, $mutant->($noise[$_], $noise[$_ - 1])) } 0 .. $#noise]
	} qw(less more);
}

1;
