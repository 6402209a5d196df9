# Noise shares: what is merged of them has the noise that a single owner would have
# added, as race_info says, and protects from the colluders among the parties.
#
# Of n = 4 parties t = 1 colludes, and d = 1 may drop out: the shares of h = 2 honest
# ones are enough.  The noise of all four must be that of a discrete Gaussian of four
# times the variance of a share: in the mean, in the mean of its square, and in up to
# 30 cells of equal mass.  An attacker with a colluder's share takes that noise out
# again; what he then sees of a party with the table D or D' is held against the
# recorded rho, by the mean difference of the log-likelihood ratio (035_gaussian.pl).
#
# False alarms: 1.0e-11 a run of this file (all tests: 030_audit.pl): 65 numbers,
# |z| < 7.5, at 6.4e-14 each if they are normal; the cells of counts are binomial with a
# mean of 667, 4e-13.
#
# What a control has to catch lies 7 and more standard errors from its limit.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(max min sum);
use POSIX qw(ceil);
use Test::More;

use GaussianAudit;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 3,
	DELTA => 1e-6,
	RHO => 0.18506984065340148,	# by CKS 2020, with 40 digits
	PARTIES => 4,
	NEEDED => 3,
	HONEST => 2,
	ROWS => 512,				# and as many counters in each
	ROUNDS => 4,				# 2^22 draws
	COUNTS => 20_000,
	RELEASES => 8_000,
	CELLS => 30,
	MAX_Z => 7.5,
};

# The arguments of all parties, at that part of epsilon
sub federation {
	my ($part) = @_;
	return join ', ', EPSILON * $part, DELTA, PARTIES, 'colluders => 1, dropouts => 1';
}

# The smallest variances that suffice, from 4 on: 1/8 of rho for the count, the
# counters get what it leaves.  (Sums of such shares are discrete Gaussians to 15
# digits.)
sub due_variances {
	my ($rows) = @_;
	my $count = max(4, ceil(8 / 2 / RHO / HONEST));
	return (max(4, ceil($rows / 2 / HONEST / (RHO - 1 / 2 / HONEST / $count))), $count);
}

# --------------------------------------------------------- distributions

# Add to a tally how often each noise comes about.
sub tally {
	my ($tally, @noise) = @_;
	$tally->{$_}++ for @noise;
	return;
}

# A discrete Gaussian in cells: of each value, the cell; of each cell, the probability
sub cells {
	my ($variance) = @_;
	my $reach = ceil(12 * sqrt $variance);
	my %p = map { $_ => exp(-$_**2 / 2 / $variance) } -$reach .. $reach;
	my $all = sum(values %p);
	my $below = 0;
	my (%cell, @mass);
	for my $k (-$reach .. $reach) {
		$cell{$k} = min(int(CELLS * $below), CELLS - 1);	# rounding errors add up
		$mass[$cell{$k}] += $p{$k} / $all;
		$below += $p{$k} / $all;
	}
	return (\%cell, \@mass);
}

# The largest difference of a cell, in standard errors
sub cells_z {
	my ($variance, $tally) = @_;
	my ($cell, $mass) = cells($variance);
	my $n = sum(values %$tally);
	my @hits = (0) x @$mass;
	$hits[$cell->{$_}] += $tally->{$_} for keys %$tally;
	return max(map { abs($hits[$_] - $n * $mass->[$_]) / sqrt($n * $mass->[$_] * (1 - $mass->[$_])) }
		grep { $mass->[$_] } 0 .. $#$mass);
}

# How far off is the size of the noise?
sub tally_z {
	my ($variance, $tally) = @_;
	return square_z($variance, sum(map { $_**2 * $tally->{$_} } keys %$tally), sum(values %$tally));
}

sub test_distribution {
	my ($what, $variance, $tally) = @_;
	my $n = sum(values %$tally);
	my $bias = sum(map { $_ * $tally->{$_} } keys %$tally) / sqrt($n * $variance);
	my $size = tally_z($variance, $tally);
	my $cells = cells_z($variance, $tally);
	cmp_ok(abs $bias, '<', MAX_Z, sprintf '%s: mean of %d, z = %.1f', $what, $n, $bias);
	cmp_ok(abs $size, '<', MAX_Z, sprintf '%s: size, z = %.1f', $what, $size);
	cmp_ok($cells, '<', MAX_Z, sprintf '%s: cells, z = %.1f', $what, $cells);
}

sub size_caught {
	my ($what, $variance, $tally) = @_;
	my $size = tally_z($variance, $tally);
	cmp_ok(abs $size, '>', MAX_Z, sprintf 'control, %s: size is caught, z = %.1f', $what, $size);
}

sub cells_caught {
	my ($what, $variance, $tally) = @_;
	my $cells = cells_z($variance, $tally);
	cmp_ok($cells, '>', MAX_Z, sprintf 'control, %s: cells are caught, z = %.1f', $what, $cells);
}

# A sketch that a query yields, taken apart
sub fetch {
	my ($query) = @_;
	return decode(sql("SELECT encode(_race_sketch_send(s), 'hex') FROM ($query) v (s)"));
}

# Noise in the counters of merged shares of those rounds
sub merged_noise {
	my ($where, @rounds) = @_;
	my $exact = fetch("SELECT race_merge(exact) FROM large WHERE $where");
	my %tally;
	tally(\%tally, counter_noise($exact, [fetch("SELECT race_merge(share) FROM shares WHERE round = $_ AND $where")]))
		for @rounds;
	return \%tally;
}

# Shares of parties with and without records
sub make_shares {
	my $side = ROWS;
	my ($rounds, $parties) = (ROUNDS, PARTIES);
	my ($due, $other) = (federation(1), federation(0.97));
	sql(<<"END");
CREATE TABLE large AS
SELECT party, race_build(race_params('l2', 1, rows => $side, range => $side),
	CASE WHEN i <= 300 * (party % 2) THEN ARRAY[i] END) AS exact
FROM generate_series(1, $parties) party, generate_series(1, 300) i GROUP BY party;
CREATE TABLE shares AS
SELECT round, party, race_share(exact, $due) AS share FROM large, generate_series(1, $rounds) round
UNION ALL SELECT round, party, race_share(exact, $other) FROM large, generate_series(-2, -1) round
END
}

# What race_info says of the first n shares of a round
sub info {
	my ($round, $n) = @_;
	return split /\|/, sql(<<"END");
SELECT counter_noise_stddev, count_noise_stddev, status
FROM (SELECT race_merge(share) AS s FROM shares WHERE round = $round AND party <= $n) v, race_info(s)
END
}

sub test_recorded {
	my ($counter_variance, $count_variance) = due_variances(ROWS);
	for my $n (1 .. PARTIES) {
		my ($counter, $count, $status) = info(1, $n);
		ok($counter == sqrt($n * $counter_variance) && $count == sqrt($n * $count_variance),
			"$n shares: the recorded noise is that of the smallest variances that suffice");
		is($status, $n < NEEDED ? 'share' : 'private', "their sum is $status");

		my $query = "SELECT race_count(race_merge(share)) IS NOT NULL FROM shares WHERE round = 1 AND party <= $n";
		if ($n < NEEDED) {
			like(sql_fails($query), qr/55000/, 'that cannot be asked');
		}
		else {
			is(sql($query), 't', 'that can be asked');
		}
	}
}

sub test_counters {
	my ($variance) = due_variances(ROWS);
	test_distribution('counters', PARTIES * $variance, merged_noise('true', 1 .. ROUNDS));

	my $fewer = merged_noise('party > 1', 1);
	size_caught('counters, a share fewer', PARTIES * $variance, $fewer);
	cells_caught('counters, a share fewer', PARTIES * $variance, $fewer);

	my ($other) = info(-1, 1);
	my $scale = $other / sqrt $variance;
	ok($scale > 1.02 && $scale < 1.03, sprintf 'shares for another epsilon are %.4f times as noisy', $scale);
	size_caught('counters, shares for another epsilon', PARTIES * $variance, merged_noise('true', -2, -1));
}

# The count of a sketch is one draw: many sketches of two counters
sub test_counts {
	my (undef, $variance) = due_variances(1);
	my ($parties, $counts, $due) = (PARTIES, COUNTS, federation(1));
	my (%all, %fewer);
	for (split /\n/, sql(<<"END")) {
WITH draws AS MATERIALIZED (
	SELECT i, party, race_share(race_sketch('l2(dims=1, rows=1, range=2)'::race_params), $due) AS s
	FROM generate_series(1, $counts) i, generate_series(1, $parties) party)
SELECT race_count(race_merge(s)), race_count(race_merge(s) FILTER (WHERE party > 1)) FROM draws GROUP BY i
END
		my ($of_all, $of_fewer) = split /\|/;
		tally(\%all, $of_all);
		tally(\%fewer, $of_fewer);
	}
	test_distribution('counts', PARTIES * $variance, \%all);
	size_caught('counts, a share fewer', PARTIES * $variance, \%fewer);
	cells_caught('counts, a share fewer', PARTIES * $variance, \%fewer);
}

# ----------------------------------------------------------------- audit

# A list without the parts of others, number by number
sub without {
	my ($list, @others) = @_;
	my @left = @$list;
	for my $other (@others) {
		$left[$_] -= $other->[$_] for 0 .. $#left;
	}
	return \@left;
}

# What those who know everything but one party's table, and the noise in the shares of
# the first colluders, make of a merge: that table's sketch with the noise that is left
sub attacked {
	my ($pair, $colluders, $merged, @shares) = @_;
	my $left = without($merged, map { $pair->{known}[$_] } $colluders .. NEEDED - 2);
	return without($left, @shares[0 .. $colluders - 1]);
}

# Merges with the share of the party that has D or D', and the shares of the others
sub draw {
	my ($pair, $which) = @_;
	my ($due, $n) = (federation(1), RELEASES);
	return map { [map { decode($_) } split /\|/] } split /\n/, sql(<<"END");
WITH draws AS MATERIALIZED (
	SELECT i, name, race_share(sketch, $due) AS s
	FROM generate_series(1, $n) i, exact WHERE name IN ('1', '2', '$pair->{name} $which'))
SELECT encode(_race_sketch_send(race_merge(s)), 'hex'),
	string_agg(encode(_race_sketch_send(s), 'hex'), '|' ORDER BY name) FILTER (WHERE name IN ('1', '2'))
FROM draws GROUP BY i
END
}

# What a merge of as many shares as are needed records
sub recorded_rho {
	my ($pair) = @_;
	my $due = federation(1);
	return sql(<<"END");
SELECT rho FROM (SELECT race_merge(race_share(sketch, $due)) AS s
	FROM exact WHERE name IN ('1', '2', '$pair->{name} less')) v, race_info(s)
END
}

sub test_colluders {
	my ($pair) = @_;
	make_pair($pair);
	$pair->{known} = [map { make_sketch($_, $pair->{rows}, $_ .. 7) } 1 .. NEEDED - 1];
	my ($counter, $count) = due_variances($pair->{rows});
	$pair->{counter_variance} = HONEST * $counter;
	$pair->{count_variance} = HONEST * $count;

	my $expected = expected_mu($pair);
	my $rho = recorded_rho($pair);
	ok($rho >= $expected**2 / 2 && $rho < $expected**2 / 2 * (1 + 1e-13) && $rho <= RHO,
		'the recorded rho is what D and D\' cost with the noise of honest shares');

	my %draws = map { $_ => [draw($pair, $_)] } qw(less more);
	my @mu = map {
		my $colluders = $_;
		mu($pair, map { [map { attacked($pair, $colluders, @$_) } @{$draws{$_}}] } qw(less more))
	} 1, 2;
	my @z = map { mu_z($_, sqrt(2 * $rho), RELEASES) } @mu;
	cmp_ok(abs $z[0], '<', MAX_Z, sprintf 'a colluder learns no more: mu is %.3f, z = %.1f', $mu[0], $z[0]);
	cmp_ok($z[1], '>', MAX_Z,
		sprintf 'control: two, where one is accounted for, are caught: mu is %.3f, z = %.1f', $mu[1], $z[1]);
}

sql('CREATE TABLE exact (name text, sketch race_sketch)');
make_shares();
test_recorded();
test_counters();
test_counts();
test_colluders((pairs())[1]);
done_testing();
