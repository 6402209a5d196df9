# The end-to-end audit of race_privatize with delta > 0: Gaussian noise.
#
# The attacker of 030_audit.pl, who knows two tables D and D' and looks at the
# log-likelihood ratio (LLR) of a release.  With Gaussian noise of the variances
# that are recorded the LLR is close to normal, with the same standard deviation s
# for releases of D and of D', and means that are s^2 apart: so mu, the difference
# of the means in standard deviations, is s.  Privacy of rho demands
# mu <= sqrt(2 rho).  (A bound of epsilon would not see noise of half the size.)
#
# False alarms: 8.0e-11 a run of this file (all tests: 030_audit.pl):
#
#	mu		4 pairs of tables, |z| < 7, 4e-12 each			1.6e-11
#	size, mean	of the noise of counters and of counts, 16 of the same	6.4e-11
#
# What a control has to catch lies 7 and more standard errors from its limit; for
# half the deviation it is 30.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(min);
use Test::More;

use GaussianAudit;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 3,
	DELTA => 1e-6,
	RHO => 0.18506984065340148,	# by CKS 2020, with 40 digits
	EXACT => 0.2097748292790294,	# by Balle & Wang 2018, with 400 digits
	ADDED => 4,	# to each variance of the exact account
	PARTS => 8,	# of rho, one of which is for the count
	RELEASES => 8_000,
	MAX_Z => 7,
};

# ------------------------------------------------------------------ noise

# What a release should do: one part for the count, the others for the counters, of rho or of
# the exact account, whichever has less noise.
# `squared` is by how much a person changes the count, squared.
sub add_expected_noise {
	my ($pair) = @_;
	my $counters = $pair->{squared} * $pair->{rows};
	my $least = min($counters / (PARTS - 1), $pair->{squared}) * PARTS / 2;
	my $exact = ($pair->{call} // '') !~ /substitute/ && $least / EXACT + ADDED < $least / RHO;
	my ($allowed, $added) = $exact ? (EXACT, ADDED) : (RHO, 0);
	$pair->{counter_variance} = ceiling($counters * PARTS / (PARTS - 1) / 2 / $allowed) + $added;
	$pair->{count_variance} = ceiling($pair->{squared} * PARTS / 2 / $allowed) + $added;
	$pair->{rho} = $counters / 2 / $pair->{counter_variance}
		+ $pair->{squared} / 2 / $pair->{count_variance};
}

sub ceiling {
	my ($x) = @_;
	return int($x) + (int($x) < $x);
}

# How far off are size and mean of the noise: of the counters, of the count?
sub sizes {
	my ($pair, $releases) = @_;
	return (size_z($pair->{counter_variance}, counter_noise($pair->{less}, $releases)),
		size_z($pair->{count_variance}, count_noise($pair->{less}, $releases)));
}

sub biases {
	my ($pair, $releases) = @_;
	return (bias_z(sqrt $pair->{counter_variance}, counter_noise($pair->{less}, $releases)),
		bias_z(sqrt $pair->{count_variance}, count_noise($pair->{less}, $releases)));
}

# ------------------------------------------------------------------ audit

sub draw {
	my ($pair, $arguments) = @_;
	return map { [releases("$pair->{name} $_", "$arguments, rows => $pair->{rows}", RELEASES)] }
		qw(less more);
}

# ------------------------------------------------------------------ tests

my $budget = join ', ', EPSILON, DELTA;
my @pairs = pairs();

sub test_recorded {
	my ($pair) = @_;
	my $name = $pair->{name};
	my ($mechanism, $epsilon, $delta, $rho, @stddev) = split /\|/, sql(<<"END");
SELECT mechanism, epsilon, delta, rho, counter_noise_stddev, count_noise_stddev
FROM exact, race_info(race_privatize(sketch, $budget, rows => $pair->{rows}$pair->{call}))
WHERE name = '$name less'
END
	is("$mechanism $delta", 'discrete Gaussian ' . DELTA, "$name: Gaussian, at that delta");
	ok($stddev[0] == sqrt $pair->{counter_variance} && $stddev[1] == sqrt $pair->{count_variance},
		"$name: the recorded noise is that of the smallest variances that suffice");
	ok($rho >= $pair->{rho} * (1 - 1e-15) && $rho < $pair->{rho} * (1 + 1e-14) && $rho <= EXACT,
		"$name: the recorded rho is what they cost");
	ok($epsilon <= EPSILON && $epsilon > EPSILON * 0.85, "$name: the recorded epsilon is at most what was asked");
	$pair->{recorded} = $rho;
}

sub test_pair {
	my ($pair) = @_;
	my $name = $pair->{name};
	make_pair($pair);
	add_expected_noise($pair);
	test_recorded($pair);

	my $expected = expected_mu($pair);
	cmp_ok($expected**2 / 2, '<=', $pair->{recorded}, "$name: rho bounds what D and D' cost");
	my ($less, $more) = draw($pair, "$budget$pair->{call}");
	my $mu = mu($pair, $less, $more);
	my $z = mu_z($mu, $expected, RELEASES);
	cmp_ok(abs $z, '<', MAX_Z, sprintf '%s: mu is %.3f, z = %.1f', $name, $mu, $z);
	cmp_ok(abs, '<', MAX_Z, sprintf '%s: size of the noise, z = %.1f', $name, $_)
		for sizes($pair, $less);
	cmp_ok(abs, '<', MAX_Z, sprintf '%s: mean of the noise, z = %.1f', $name, $_)
		for biases($pair, $less);
	$pair->{releases} = {less => $less, more => $more};
}

# Less noise than what is recorded, which the audit must catch
sub caught {
	my ($pair, $what, $less, $more) = @_;
	my $mu = mu($pair, $less, $more);
	my $limit = sqrt(2 * $pair->{rho});
	my $z = mu_z($mu, $limit, RELEASES);
	cmp_ok($z, '>', MAX_Z, sprintf '%s: caught, mu is %.3f, z = %.1f', $what, $mu, $z);
	return;
}

sub size_caught {
	my ($what, @z) = @_;
	cmp_ok(abs, '>', MAX_Z, sprintf '%s: size is caught, z = %.1f', $what, $_) for @z;
}

# Releases of D and of D' by a mutant of race_privatize.  It makes its noise,
# [count, counters ...], of the true one, a draw of its own for each release.
sub mutants {
	my ($pair, $mutant, $source) = @_;
	$source //= $pair;
	return map {
		my ($exact, $its_exact, $its) = ($pair->{$_}, $source->{$_}, $source->{releases}{$_});
		my @noise = map { my $n = $_; [map { $n->[$_] - $its_exact->[$_] } 0 .. $#$n] } @$its;
		[map { with_noise($exact, $mutant->($noise[$_], $noise[$_ - 1])) } 0 .. $#noise]
	} qw(less more);
}

# The noise for one pair of tables, where that for another is due
sub test_control {
	my ($pair, $what, $source) = @_;
	my ($less, $more) = mutants($pair, sub { @{$_[0]} }, $source);
	caught($pair, "control, $what", $less, $more);
	size_caught("control, $what", sizes($pair, $less));
}

sub test_mutants {
	my ($one_row, $two_rows) = @_;
	my ($less, $more) = mutants($two_rows,
		sub { my ($noise, $other) = @_; (@$noise, @$other[1 .. $#$other]) }, $one_row);
	caught($two_rows, 'mutant, factor R left out', $less, $more);
	size_caught('mutant, factor R left out', (sizes($two_rows, $less))[0]);

	($less, $more) = mutants($one_row, sub { map { sprintf '%.0f', $_ / @table } @{$_[0]} });
	caught($one_row, 'mutant, noise divided by N', $less, $more);
	size_caught('mutant, noise divided by N', sizes($one_row, $less));

	($less) = mutants($one_row, sub { my ($noise) = @_; (0, @$noise[1 .. $#$noise]) });
	size_caught('mutant, count without noise', (sizes($one_row, $less))[1]);

	# k is rounded down if negative, and half of the zeros are
	my $zeros = 0;
	($less) = mutants($one_row, sub {
		map { $_ < 0 || ($_ == 0 && $zeros++ % 2) ? $_ - 1 : $_ } @{$_[0]};
	});
	my ($z) = biases($one_row, $less);
	cmp_ok(abs $z, '>', MAX_Z, sprintf 'mutant, rounded down: mean is caught, z = %.1f', $z);
}

# A record that is substituted leaves the sketch of one class for that of another.
# Both releases together, as race_merge_disjoint allows, cost all of rho.
sub test_moved_record {
	my ($pair) = @_;
	my %from = (%$pair, more => make_sketch('from', $pair->{rows}, @table[0 .. $#table - 1]));
	my %to = (%$pair, more => make_sketch('to', $pair->{rows}, @table, 40));
	$_->{cells} = [changed_cells($_->{less}, $_->{more})] for \%from, \%to;
	my $cost = (expected_mu(\%from)**2 + expected_mu(\%to)**2) / 2;
	cmp_ok(abs($cost / $pair->{recorded} - 1), '<', 1e-14,
		'a record that moves to another class costs rho');
}

sql('CREATE TABLE exact (name text, sketch race_sketch)');
test_pair($_) for @pairs;

# two records of a person need twice the deviation that one needs
my $half = {name => 'two records of a person', rows => 2, squared => 4, cells => 2,
	records => [@table, 40, 40]};
make_pair($half);
add_expected_noise($half);
test_control($half, 'half the deviation', $pairs[1]);
test_control($pairs[2], 'max_contributions left out', $pairs[1]);
test_control($pairs[3], 'add_remove where records are substituted', $pairs[1]);
test_mutants(@pairs[0, 1]);
test_moved_record($pairs[3]);
done_testing();
