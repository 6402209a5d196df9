# The end-to-end audit of race_privatize for grids, by the attacker of 030_audit.pl.
#
# A record puts its unit M into each level that is kept, split over the nodes around it.
# So the attacker looks at all of these nodes, and at the count.  What is kept of a grid depends
# on the noisy count and on a noisy look at what coarser cells lose.  Here it is the same for counts up
# to 1,000 away, which noise of a count (scale 19) exceeds once in 1e22 draws, and whatever was seen.
#
# False alarms: 3.4e-11 a run of this file (all tests: 030_audit.pl):
#
#	audits	7 (pairs of tables, 2 directions) of 2 bounds at 1e-12		2.8e-11
#	size	14 means of 10,000 or more, |z| < 7.5, 2e-13 each		2.8e-12
#	bias	14 of the same							2.8e-12
#
# Choosing what to keep takes about a millisecond a release, so there are fewer of those.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use LaplaceAudit;
use RaceRelease;
use RaceServer;

use constant ALPHA => 1e-12;

# M, by the number of dims
my @unit = (undef, 2**12, 2**16);

# D has so many records between 0 and `size` along each axis, and D' one more, `record`;
# or D' has it in place of the record at 0.  `levels` has the cells of an axis in each level
# that a release keeps.
sub grid_pairs {
	my %chosen = (arguments => '', pilot => 2_000, draws => 10_000);
	my %line = (dims => 1, size => 4, bandwidth => 2, records => 50, levels => [4],
		arguments => ', rows => 1');
	my %square = (dims => 2, size => 8, bandwidth => 64, records => 3000, levels => [8, 2],
		look => 72, %chosen);
	return (
		{%line, name => '1-d, on a node', record => '{4}', cells => 1, pilot => 20_000, draws => 70_000},
		{%line, name => '1-d, in a cell', record => '{1.5}', cells => 2},
		{%line, name => '1-d, substituted', record => '{4}', cells => 2, factor => 2,
			arguments => q(, rows => 1, neighbors => 'substitute')},
		{%line, name => '1-d, two levels, coarser cells', size => 16, bandwidth => 16, records => 3000,
			record => '{7}', cells => 4, levels => [8, 2], look => 61, %chosen},
		{%square, name => '2-d, one level', levels => [8], record => '{1.5,2.5}', cells => 4,
			arguments => ', rows => 1', look => undef, pilot => PILOT, draws => PILOT + RELEASES},
		{%square, name => '2-d, two levels, on a node', record => '{8,8}', cells => 2},
		{%square, name => '2-d, two levels, coarser cells', size => 16, bandwidth => 128,
			record => '{16,15}', cells => 4});
}

# ------------------------------------------------------------------ tables

# Parameters with so many cells along each axis
sub params {
	my ($pair, $cells) = @_;
	my ($lower, $upper, $all) = map { '{' . join(',', ($_) x $pair->{dims}) . '}' }
		0, $pair->{size}, $cells;
	return "race_params('l2', $pair->{dims}, $pair->{bandwidth}, sequence => 'grid',"
		. " lower => '$lower', upper => '$upper', cells => '$all')";
}

# The sketch of D or D' with so many cells; a record substituted is the first one, at 0.
sub sketch {
	my ($pair, $which, $cells) = @_;
	my $params = params($pair, $cells);
	my $sum = "SELECT race_build($params, array_fill(i * 5 % 13 * $pair->{size} / 16.0,"
		. " ARRAY[$pair->{dims}])) AS s FROM generate_series(0, $pair->{records} - 1) i";
	return $sum if $which eq 'less';
	my $rest = $pair->{factor} ? "race_remove(s, '{0}'::float8[])" : 's';
	return "SELECT race_add($rest, '$pair->{record}'::float8[]) FROM ($sum) d";
}

# What a release keeps, without its noise: each level built by itself
sub kept {
	my ($pair, $which) = @_;
	my @levels = map {
		decode(sql("SELECT encode(_race_sketch_send(s), 'hex') FROM (@{[sketch($pair, $which, $_)]}) v (s)"))
	} @{$pair->{levels}};
	return [$levels[0][COUNT], map { @$_[1 .. $#$_] } @levels];
}

sub make_grids {
	my ($pair) = @_;
	for my $which (qw(less more)) {
		$pair->{$which} = kept($pair, $which);
		sql("INSERT INTO exact SELECT '$pair->{name} $which', s FROM ("
			. sketch($pair, $which, $pair->{size}) . ') v (s)');
	}
	my @cells = changed_cells($pair->{less}, $pair->{more});
	is(scalar @cells, $pair->{cells}, "$pair->{name}: D and D' differ where they should");
	$pair->{cells} = \@cells;
}

# ------------------------------------------------------------------ tests

sub change {
	my ($pair) = @_;
	my $sum = 0;
	$sum += abs($pair->{more}[$_] - $pair->{less}[$_]) for @{$pair->{cells}};
	return $sum;
}

sub test_pair {
	my ($pair) = @_;
	my $factor = $pair->{factor} // 1;
	my $unit = $pair->{unit} = $unit[$pair->{dims}];
	my $most = $factor * $unit * @{$pair->{levels}};
	make_grids($pair);
	is(change($pair), $most, "$pair->{name}: they differ as much as they may");
	add_expected_noise($pair, $most, $factor, $pair->{look}, $pair->{dims} == 1 ? 50 : 20);
	$pair->{alpha} = ALPHA;
	audit($pair);
}

# With less noise a release may keep something else, so that it is made of the true one.
sub test_half {
	my ($pair) = @_;
	my $what = "mutant, half the noise in $pair->{name}";
	my ($less, $more) = mutants($pair, sub { map { sprintf '%.0f', $_ / 2 } @{$_[0]} });
	caught($pair, $what, $less, $more);
	size_caught($what, sizes($pair, $less));
}

# The noise of both levels is that of one
sub test_level_left_out {
	my ($pair, $one_level) = @_;
	my $what = 'mutant, the second level left out';
	my $second = $#{$pair->{less}} - $#{$one_level->{less}};
	my ($less, $more) = mutants($pair,
		sub { my ($noise, $other) = @_; (@$noise, @$other[1 .. $second]) }, $one_level);
	caught($pair, $what, $less, $more);
	size_caught($what, (sizes($pair, $less))[0]);
}

# A record whose weights add up to a unit and a half: it is in two places
sub test_heavy_record {
	my ($pair, $elsewhere) = @_;
	my %heavy = (%$pair, more => [map {
		$pair->{more}[$_] + ($_ == COUNT ? 0 : ($elsewhere->{more}[$_] - $elsewhere->{less}[$_]) / 2)
	} 0 .. $#{$pair->{more}}]);
	$heavy{cells} = [changed_cells($heavy{less}, $heavy{more})];
	is(change(\%heavy), 1.5 * change($pair), 'mutant, a record of 1.5 units');
	caught(\%heavy, 'mutant, a record of 1.5 units',
		mutants(\%heavy, sub { @{$_[0]} }, $pair));
}

sql('CREATE TABLE exact (name text, sketch race_sketch)');
my ($node, $cell, $substituted, $coarser, $one_level, @two_levels) = grid_pairs();
test_pair($_) for $node, $cell, $substituted, $coarser, $one_level, @two_levels;
test_half($_) for $cell, $two_levels[0];
test_level_left_out($two_levels[0], $one_level);
test_heavy_record($node, $cell);
done_testing();
