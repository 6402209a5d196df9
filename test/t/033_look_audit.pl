# The audit of what a release looks at before it chooses: the sum of the norms of its rows, and
# what coarser cells of a grid lose.
#
# 030_audit.pl fixes the rows, and 032_grid_audit.pl has tables for which a release keeps the same
# cells whatever it sees.  Here two tables lie on either side of an edge between two choices, and the
# attacker sees the choice alone: how many rows or counters were kept.
#
# D and D' have as many records, since one is substituted.  The choice is a function of the noisy count,
# which then has the same distribution for both, and of the noisy look.  So the choice may tell
# D from D' by no more than the look does.  The look is one number with discrete Laplace noise of
# scale b, or two, and D and D' change it by a known amount, so that for any set E of choices
#
#	ln P[choice of D' in E] - ln P[choice of D in E] <= change / b
#
# and the same with D and D' exchanged.  b is what doc/privacy.md says: the look has 1/50 of epsilon
# (rows, grids in one dimension) or 1/20 (other grids), and a record that is substituted changes the
# look by at most 2 R for R rows, and by 2 * 61, 2 * 72 and 2 * (89 + 30) in grids of one, two and three dimensions.
#
# In three dimensions the look has two numbers, the detail and the spread.  There D and D' differ in
# the spread alone, but for 1 of the detail, so that the audit sees its noise, too, which pays for
# a quarter of the look.
#
# epsilon is so large that change / b is between 1 and 2: the noise of counters does not matter here.
#
# False alarms: 1.6e-12 a run of this file (all tests: 030_audit.pl), 4 audits in 2 directions of 2
# bounds at 1e-13.  The control claims four times the noise that there is.  test/mutants builds releases
# with a quarter of the noise and with none, and their bounds are beyond the limit.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(max);
use Test::More;

use EpsilonBound;
use RaceServer;

use constant ALPHA_HERE => 1e-13;

# n records at a place
sub copies {
	my ($n, $place) = @_;
	return ($place) x $n;
}

# A grid with so many cells along each axis, each one unit wide
sub grid {
	my ($dims, $cells, $bandwidth) = @_;
	my ($lower, $upper) = map { '{' . join(',', ($_) x $dims) . '}' } 0, $cells;
	return "race_params('l2', $dims, $bandwidth, sequence => 'grid', lower => '$lower', upper => '$upper', cells => '$upper')";
}

# The records that D and D' share, the one of D and the one of D'.  `change` is of the look, and `most`
# the most that one record can change it, once for each of 1 / `share`.
my @pairs = (
	# all three records in the same bucket of each row, or one of them in the other bucket
	{name => 'rows', kept => 'rows', epsilon => 100, change => 32, most => 32, share => 50,
		params => q(race_params('angular', 1, rows => 32, range => 2, sequence => 'independent')),
		both => [copies(2, '1')], less => '-1', more => '1', pilot => 2_000, releases => 8_000},
	# detail 117 and 188
	{name => 'detail in one dimension', kept => 'range', epsilon => 100, change => 71, most => 61, share => 50,
		params => grid(1, 16, 4), both => [copies(2, 4), map { $_ * 16 / 7 } 0 .. 6], less => 3, more => 4},
	# detail 230 and 307
	{name => 'detail in two dimensions', kept => 'range', epsilon => 40, change => 77, most => 72, share => 20,
		params => grid(2, 8, 2), both => [copies(5, '2,2'), map { $_ * 5 % 9 . ',' . $_ * 7 % 9 } 1 .. 14],
		less => '4,0', more => '2,2'},
	# spread 196 and 221; detail 392 and 391
	{name => 'spread in three dimensions', kept => 'range', epsilon => 300, change => 26, most => 119, share => 20,
		params => grid(3, 16, 3.9), both => [copies(7, '4,8,8'), copies(2, '0,8,8')], less => '0,16,12', more => '0,8,8'});

# What releases of D or D' keep, as numbers
sub choices {
	my ($pair, $which) = @_;
	my $records = join ',', map { "'{$_}'" } @{$pair->{both}}, $pair->{$which};
	my $n = ($pair->{pilot} // 1_000) + ($pair->{releases} // 4_000);
	return [split /\n/, sql(<<"END")];
WITH exact AS MATERIALIZED (SELECT race_build($pair->{params}, x::float8[]) AS sketch FROM unnest(ARRAY[$records]) x)
SELECT (race_info(race_privatize(sketch, $pair->{epsilon}, neighbors => 'substitute'))).$pair->{kept}
FROM exact, generate_series(1, $n)
END
}

for my $pair (@pairs) {
	my $limit = $pair->{change} / (2 * $pair->{most} * $pair->{share} / $pair->{epsilon});
	my @bounds = epsilon_bounds(choices($pair, 'less'), choices($pair, 'more'), $pair->{pilot} // 1_000, ALPHA_HERE);
	cmp_ok($_, '<=', $limit, sprintf '%s: the choice tells at least %.3f, of %.3f', $pair->{name}, $_, $limit) for @bounds;
	cmp_ok(max(@bounds), '>', $limit / 4, "$pair->{name}: control, with four times the noise it could not");
}
done_testing();
