# The end-to-end audit of race_privatize: no attacker may learn more than the
# epsilon that a release records.
#
# The attacker knows two tables, D and D' = D and the records of one person, and
# guesses which of them a release was made from, by the exact log-likelihood
# ratio (LLR) of the release.  For any set E of releases privacy demands
#
#	ln P[release of D' in E] - ln P[release of D in E] <= epsilon
#
# and the same with D and D' exchanged.  E is "LLR at least t", with the t that
# looked worst in a pilot of releases of its own; Clopper-Pearson bounds of both
# probabilities then give a lower bound of the true epsilon.  Too little noise
# must be caught: those are the controls.
#
# False alarms: 4.6e-10 a run of this file,
#
#	audits	8 (4 pairs of tables, 2 directions) of 2 bounds at 2.5e-11	4.0e-10
#	size	8 means of 21,000 or more, |z| < 7.5, 1e-13 each		8.0e-13
#	bias	8 of the same							8.0e-13
#	signs	425 sums of products, Azuma's 2 exp(-7.8^2 / 2) each		5.3e-11
#	fresh	half of 1,024 noises equal by chance				< 1e-300
#
# and 9.9e-10, below 1e-9, a run of all tests: 3.4e-11 for grids (032_grid_audit.pl),
# 1.6e-12 for looks (033_look_audit.pl), 2e-13 for tables (034_tables_audit.pl), 1.4e-12 for several labels (172_labels_audit.pl),
# 1.0e-11 for what is chosen (174_choice_audit.pl), 4e-12 for weights (176_weights_audit.pl),
# 2.0e-11 for distances (090_distance.pl),
# 8.0e-11 for Gaussian noise (035_gaussian.pl), 1.0e-11 for noise shares (036_shares.pl),
# 1.0e-10, 1.0e-11 and 1.0e-11 for race_release (170_release_audit.pl,
# 160_release_bounds.pl, 252_release_scores_audit.pl), 1.2e-11 for
# moments (255_moments_audit.pl), 1.3e-10 for the samplers (unit tests: random_test 5.3e-11,
# laplace_test 2.6e-11, gaussian_test 4.6e-11).
#
# What a control has to catch lies 10 and more standard errors from its limit: half of the noise, and two thirds of it.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(max sum);
use POSIX qw(floor tanh);
use Test::More;

use ClopperPearson qw(probability_at_least probability_at_most);
use EpsilonBound;
use LaplaceAudit;
use RaceRelease;
use RaceServer;

use constant MAX_SIGN_Z => 7.8;

# ------------------------------------------------------------ independence

# The largest sum of products of signs of two noises, within a release or from
# one to the next, in standard errors.  Shared noise makes it sqrt(n).
sub largest_sign_z {
	my @signs = map { [map { $_ <=> 0 } @$_] } @_;
	my $n = $#signs;
	my @z;
	my $width = @{$signs[0]};
	for my $i (0 .. $width - 1) {
		for my $j ($i + 1 .. $width - 1) {
			push @z, sum map { $signs[$_][$i] * $signs[$_][$j] } 1 .. $n;
		}
		for my $j (0 .. $width - 1) {
			push @z, sum map { $signs[$_ - 1][$i] * $signs[$_][$j] } 1 .. $n;
		}
	}
	return max(map { abs } @z) / sqrt($n);
}

# The share of counters with the same value in two releases, a line each
sub agreement {
	my ($one, $other) = map { decode($_) } split /\n/, join "\n", @_;
	return grep({ $one->[$_] == $other->[$_] } 1 .. $#$one) / $#$one;
}

# ------------------------------------------------------------------ tests

my @pairs = pairs();

sub test_pair {
	my ($pair) = @_;
	my $m = $pair->{sensitivity};
	make_pair($pair);
	add_expected_noise($pair, $m * $pair->{rows}, $m);
	$pair->{arguments} = ", rows => $pair->{rows}$pair->{call}";
	audit($pair);
}

# Less noise than what is recorded, which the audit must catch
sub test_control {
	my ($pair, $what, $arguments) = @_;
	my ($less, $more) = draw($pair, "$arguments, rows => $pair->{rows}");
	caught($pair, "control, $what", $less, $more);
	size_caught("control, $what", sizes($pair, $less));
}

# Mistakes that are easily made, on the smallest tables that show them
sub test_mutants {
	my ($one_row, $two_rows) = @_;
	my ($less, $more);
	srand 1;					# what is drawn here only has to be wrong

	# the size of both counters is that of one
	($less, $more) = mutants($two_rows,
		sub { my ($noise, $other) = @_; (@$noise, @$other[1 .. $#$other]) }, $one_row);
	caught($two_rows, 'mutant, factor R left out', $less, $more);
	size_caught('mutant, factor R left out', (sizes($two_rows, $less))[0]);

	($less, $more) = mutants($one_row,
		sub { map { sprintf '%.0f', $_ / @table } @{$_[0]} });
	caught($one_row, 'mutant, noise divided by N', $less, $more);
	size_caught('mutant, noise divided by N', sizes($one_row, $less));

	# a negative zero is kept: of all draws, P[0] / (1 + P[0]) more are zeros
	my @more_zeros = map { my $p = tanh(0.5 / $_); $p / (1 + $p) }
		$one_row->{b_count}, ($one_row->{b_counter}) x $#{$one_row->{less}};
	($less, $more) = mutants($one_row, sub {
		my ($noise) = @_;
		return map { rand() < $more_zeros[$_] ? 0 : $noise->[$_] } 0 .. $#$noise;
	});
	caught($one_row, 'mutant, zero counted twice', $less, $more);
	size_caught('mutant, zero counted twice', (sizes($one_row, $less))[0]);

	# it is as private as the true one, but wrong
	($less) = mutants($one_row, sub {
		return map { floor($_ * log((1 - rand()) / (1 - rand()))) } $one_row->{b_count},
			($one_row->{b_counter}) x $#{$one_row->{less}};
	});
	my ($z) = biases($one_row, $less);
	cmp_ok(abs $z, '>', MAX_Z,
		sprintf 'mutant, Laplace rounded down: mean is caught, z = %.1f', $z);

	# an attacker who looks at the count alone
	my $count = {%$one_row, cells => []};
	($less, $more) = mutants($one_row, sub { my ($noise) = @_; (0, @$noise[1 .. $#$noise]) });
	caught($count, 'mutant, count without noise', $less, $more);
	size_caught('mutant, count without noise', (sizes($one_row, $less))[1]);
}

sub test_independence {
	my ($exact, @releases) = @_;
	my @noise = noise_vectors($exact, @releases);
	my $z = largest_sign_z(@noise);
	cmp_ok($z, '<', MAX_SIGN_Z,
		sprintf 'noises of a release and of the next are unrelated, z = %.1f', $z);

	# a counter with the noise of the count, of its own release or the last one
	my @shared = map { [@$_[0 .. $#$_ - 1], $_->[COUNT]] } @noise;
	cmp_ok(largest_sign_z(@shared), '>', MAX_SIGN_Z, 'control: shared noise is caught');
	my @late = map { [@{$noise[$_]}[0 .. $#$exact - 1], $noise[$_ - 1][COUNT]] } 1 .. $#noise;
	cmp_ok(largest_sign_z(@late), '>', MAX_SIGN_Z, 'control: noise used again is caught');
}

sub test_fresh_noise {
	my $draw = q(SELECT encode(_race_sketch_send(race_privatize(sketch, 1, rows => 16)), 'hex')
		FROM exact WHERE name = 'fresh');
	sql(<<'END');
INSERT INTO exact
SELECT 'fresh', race_build(race_params('l2', 1, rows => 16, range => 64), ARRAY[i])
FROM generate_series(1, 100) i
END
	cmp_ok(agreement(sql("$draw UNION ALL $draw")), '<', 0.5, 'two calls draw two noises');
	cmp_ok(agreement(sql("PREPARE p AS $draw; EXECUTE p; EXECUTE p")), '<', 0.5,
		'and so do two executions of a plan');
	my $seeded = "SELECT FROM setseed(0.25); SET seed = 0.25; $draw";
	cmp_ok(agreement(map { sql($seeded) =~ /(\w+)$/ } 1, 2), '<', 0.5,
		'setseed() does not seed two sessions alike');
	is(sql(q(LOAD 'racepriv'; SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings WHERE name ~ '^race')),
		'racepriv.cache_size racepriv.progress', 'there is no setting that might');
}

sub test_parallel_noise {
	my @lines = split /\n/, sql(<<'END');
CREATE TABLE many AS SELECT generate_series(1, 2000) AS i;
ALTER TABLE many SET (parallel_workers = 2);
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;
CREATE VIEW draws AS SELECT race_privatize(sketch, 1, rows => 16)::text AS noise
	FROM exact, many WHERE name = 'fresh';
EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT * FROM draws;
SELECT count(DISTINCT noise) FROM draws;
END
	ok(grep({ /Workers Launched: 2/ } @lines), 'two workers draw');
	is($lines[-1], 2000, 'and never the same noise');
}

is(sprintf('%.4f %.4f', probability_at_least(10, 100, 0.025), probability_at_most(10, 100, 0.025)),
	'0.0490 0.1762', 'Clopper-Pearson bounds as in tables');
is(sprintf('%.9f', probability_at_most(0, RELEASES, ALPHA)),
	sprintf('%.9f', 1 - ALPHA**(1 / RELEASES)), 'and in closed form');

sql('CREATE TABLE exact (name text, sketch race_sketch)');
test_pair($_) for @pairs;
for my $pair (@pairs[0, 1]) {
	test_control($pair, "half the noise in $pair->{name}", 2 * EPSILON);
	test_control($pair, "two thirds of the noise in $pair->{name}", EPSILON * 3 / 2);
}
test_control($pairs[2], 'max_contributions left out', EPSILON);
test_control($pairs[3], 'add_remove where records are substituted', EPSILON);
test_mutants(@pairs[0, 1]);
test_independence($pairs[1]{less}, @{$pairs[1]{releases}{less}}[0 .. 9_999]);
test_fresh_noise();
test_parallel_noise();
done_testing();
