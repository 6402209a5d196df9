# The audit of scores, by which a release of contingency tables chooses the pairs of columns that it measures.
#
# D and D' lie at the edge between two choices: with a table of both columns, or without.  The attacker sees this
# choice alone: how many counters the release has.  In D' a person's records (0, 1) and (1, 0) are (0, 0) and (1, 1).
# So both tables have as many records, and the same tables of one column, whose noise tells nothing.
# The table of both columns changes by 4 in L1, and so does each score, which is what neighbors => 'substitute' and
# max_contributions 2 allow.  So for any choice E
#
#	ln P[choice of D' in E] - ln P[choice of D in E] <= 4 (1 / b1 + 1 / b2)
#
# and the same with D and D' exchanged, for two rounds of scores with noise of scales b1 and b2.  doc/privacy.md
# says what that is: the scores' part of epsilon, if all of it is attained.
#
# Which tables are at the edge depends on all noise.  So the first releases, which do not count later, find a
# correlation from which on fewer releases than before have no table of both columns.
#
# False alarms: 2e-13 a run of this file (all tests: 030_audit.pl): two bounds of two probabilities each, at 5e-14.
# The control claims four times the noise that there is.  test/mutants builds releases with a quarter of the noise and with none.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(max);
use Test::More;

use EpsilonBound;
use RaceServer;

use constant {
	EPSILON => 20,
	# at most, of epsilon: the count leaves .95, tables of columns .682 of that if all pairs are not measured anyway, as
	# they are from 41 records on, and each of two rounds takes a tenth of what is left
	SCORES => 0.95 * 0.682 * (0.1 + 0.9 * 0.1),
	PILOT => 8_000,
	RELEASES => 30_000,
	ALPHA_HERE => 5e-14
};

my $params = 'tables(dims=2, cells={2,2}, groups={{1,1},{0,0},{1,1},{0,0}})';

# 1 for each of n releases that measured the pair, else 0; `k` records more in the cells where both columns agree
sub choices {
	my ($k, $n) = @_;
	return [split /\n/, sql(<<"END")];
WITH exact AS MATERIALIZED (
	SELECT race_build('$params'::race_params, ARRAY[a, b]::float8[]) AS sketch
	FROM generate_series(0, 1) a, generate_series(0, 1) b, generate_series(1, 6 + CASE WHEN a = b THEN $k ELSE -$k END))
SELECT CASE WHEN (race_info(race_privatize(sketch, @{[EPSILON]}, max_contributions => 2, neighbors => 'substitute'))).range > 4
	THEN 1 ELSE 0 END
FROM exact, generate_series(1, $n)
END
}

# How many of these first releases have no table of both columns, for each correlation; where the next one has fewer, in doubt
my @without = map { my $k = $_; scalar grep { $_ == 0 } @{choices($k, 1_000)} } 0 .. 5;
my ($edge, $most) = (0, 0);
for my $k (0 .. 4) {
	my ($here, $next) = @without[$k, $k + 1];
	my $ratio = ($here - 2 * sqrt $here) / ($next + 2 * sqrt($next) + 3);
	($edge, $most) = ($k, $ratio) if $ratio > $most;
}
note "edge at $edge";

my @bounds = epsilon_bounds(choices($edge, PILOT + RELEASES), choices($edge + 1, PILOT + RELEASES), PILOT, ALPHA_HERE);
my $limit = EPSILON * SCORES;
cmp_ok($_, '<=', $limit, sprintf 'the choice tells at least %.3f, of %.3f', $_, $limit) for @bounds;
cmp_ok(max(@bounds), '>', $limit / 4, 'control: with four times the noise it could not');
done_testing();
