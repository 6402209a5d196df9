# The audit of 170_release_audit.pl, of releases with a value: epsilon holds for both
# sketches of a label together, for a person with 10 joined rows, of whom
# max_contributions lets two in.
#
# Each record goes up in a share of the rows, and down in the others; an offset is drawn for
# it, and decides in which.  The attacker knows the share, and how likely each pattern of rows
# is.  So the likelihood of a pair is a mean over the patterns.
#
# What would break the promise: an offset that depends on other records, as that of a
# generator that all rows share; and halves that keep different rows.  That both halves
# together count each record once is tested in 240_release_values.pl: 5 % of epsilon more
# could not be seen here.
#
# False alarms: 1.0e-10 a run of this file (all tests: 030_audit.pl), 1 audit in 2
# directions of 2 bounds at 2.5e-11.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	BOUND => 2,
	ROWS => 10,
	PERSONS => 1000,
	CALLS => 36,
	PILOT => 12_000,
	UP => 0.6,			# the share of a record that goes up
	OTHERS => 40,
	N_ROWS => 2,
	GOLDEN => (sqrt(5) - 1) / 2,
	COUNT_ROW => 2 ** 32 - 1,
};
my $params = "'l2(dims=1, rows=@{[N_ROWS]}, range=2)'";
my $one_row = q('l2(dims=1, rows=1, range=2)');
my $epsilon = sprintf '%.17g', EPSILON;
my $value = "value => 'y', value_lower => 0, value_upper => 1";

sql(<<"END");
CREATE TABLE people AS SELECT i AS id FROM generate_series(1, @{[2 * PERSONS]}) i;
CREATE TABLE visits AS
SELECT id AS person, 40 AS x, @{[UP]} AS y FROM people, generate_series(1, @{[ROWS]}) WHERE id <= @{[PERSONS]};
CREATE VIEW joined AS SELECT id, x, y FROM people JOIN visits ON person = id;
CALL race_protect('joined', 'joined', 1000000, 0, 'id', @{[BOUND]});
END

# The buckets that the records of a person are in, one in each row
my $exact = decode(sql("SELECT encode(_race_sketch_send(race_add(race_sketch($params\::race_params), ARRAY[40])), 'hex')"));
my @cells = grep { $exact->[$_] } 1 .. $#$exact;
is(scalar @cells, N_ROWS, 'a record is in a bucket of each row');

# How often a record goes up where, as the chance of each [rows ..., count]
sub patterns {
	my %chance;
	for my $offset (map { ($_ + 0.5) / 10_000 } 0 .. 9_999) {
		my @up = map { my $x = $offset + $_ * GOLDEN; $x - int($x) < UP ? 1 : 0 } 0 .. N_ROWS - 1, COUNT_ROW;
		$chance{"@up"} += 1e-4;
	}
	return map { [$chance{$_}, split / /] } sort keys %chance;
}

# The same of all records of a person, each of which has its own offset: sums
sub sums_of_patterns {
	my %chance;
	for my $a (patterns()) {
		for my $b (patterns()) {
			$chance{join ' ', map { $a->[$_] + $b->[$_] } 1 .. $#$a} += $a->[0] * $b->[0];
		}
	}
	return map { [$chance{$_}, split / /] } sort keys %chance;
}
my @sums = sums_of_patterns();

# By how much a sketch speaks for so many records more, in its rows and its count, in units
# of epsilon
sub speaks {
	my ($sketch, $count, @rows) = @_;
	my $change = sub { abs($_[0]) - abs($_[0] - $_[1]) };
	my $sum = 0;
	$sum += $change->($sketch->[$cells[$_]], $rows[$_]) for 0 .. $#rows;
	return (0.95 * $sum / @rows + 0.05 * $change->($sketch->[COUNT], $count)) / BOUND;
}

# The log-likelihood ratio of a pair, but for the rounding of scales
sub llr {
	my ($lower, $upper) = @_;
	my $sum = 0;
	for (@sums) {
		my ($chance, @up) = @$_;
		my $count = pop @up;
		$sum += $chance * exp(EPSILON * (speaks($upper, $count, @up) + speaks($lower, BOUND - $count, map { BOUND - $_ } @up)));
	}
	return sprintf '%.9f', log $sum;
}

# Releases of all labels: the sketches of those with nobody, and of those with a person
sub trials {
	return label_sketches('values', CALLS, PERSONS, "'joined', $params, 'ARRAY[x]', $epsilon, label => 'id', rows => @{[N_ROWS]}, $value");
}

# The sketches of a list in pairs: LLRs
sub llrs {
	my ($halves) = @_;
	return [map { llr(@$halves[2 * $_, 2 * $_ + 1]) } 0 .. $#$halves / 2];
}

sub caught {
	my ($what, $less, $more, $recorded) = @_;
	cmp_ok($_, '>', $recorded, sprintf 'mutant, %s: caught, epsilon is at least %.3f', $what, $_)
		for epsilon_bounds($less, $more, PILOT);
	return;
}

my @halves = trials();
my @values = map { llrs($_) } @halves;
is(scalar @{$values[$_]}, PERSONS * CALLS, 'as many trials as labels') for 0, 1;
my $recorded = sql(q(SELECT max((race_info(sketch)).epsilon) FROM _racepriv.race_releases));
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');
cmp_ok($_, '<=', $recorded, sprintf 'a person with %d rows: epsilon is at least %.3f', ROWS, $_)
	for epsilon_bounds(@values, PILOT);
is(sql('SELECT spent_epsilon = ' . CALLS . " * ($epsilon)::float8::text::numeric FROM _racepriv.race_budgets"), 't',
	'both sketches of all labels together cost its epsilon once');

# ------------------------------------------------------------------- mutants

# Each record is in both sketches: a sketch of one row and all records, released twice as a pair.  In more
# rows it would be harder to see.
my @both = map {
	my @of = map { decode($_) } split /\n/, sql(<<"END");
SELECT encode(_race_sketch_send(race_privatize(s, $epsilon, max_contributions => @{[BOUND]})), 'hex')
FROM (SELECT race_build($one_row, CASE WHEN $_ > 0 THEN ARRAY[40] END) AS s FROM generate_series(1, @{[BOUND]}) OFFSET 0) v,
	generate_series(1, @{[2 * PERSONS * CALLS]})
END
	[map { sprintf '%.9f', EPSILON * (speaks($of[2 * $_], BOUND, BOUND) + speaks($of[2 * $_ + 1], BOUND, BOUND)) } 0 .. $#of / 2]
} 0, 1;
caught('records in both sketches', @both, $recorded);

# The upper half has no noise: who finds a record in it knows.
my ($nothing) = map { $_->[0] } grep { my (undef, @up) = @$_; !grep { $_ } @up } @sums;
my @bare = map { my $finds = $_; [map { rand() < $finds ? 1 : 0 } 1 .. PERSONS * CALLS] } 0, 1 - ($nothing // 0);
cmp_ok((epsilon_bounds(@bare, PILOT))[0], '>', $recorded, 'mutant, one half without noise: caught');

# The lower half keeps one row, and the upper half two: with the first row down and the
# second one up, a record costs all of epsilon here, and half of it there.  They are halves of
# two releases, which nothing that asks sketches takes together.
sql(<<"END");
CREATE TABLE person AS SELECT race_build_value($params, ARRAY[40], 0.5, 0, 1) AS pair FROM generate_series(1, 1000) i, generate_series(1, @{[BOUND]}) GROUP BY i;
CREATE TABLE nobody AS SELECT race_build_value($params, NULL::int[], 0, 0, 1) AS pair;
END
sub fewer_rows {
	my ($of) = @_;
	my @pairs = map { decode($_) } split /\n/, sql(<<"END");
SELECT encode(_race_sketch_send(CASE half WHEN 1 THEN (release).lower ELSE (release).upper END), 'hex')
FROM (SELECT i, half, race_privatize(pair, $epsilon, rows => half, max_contributions => @{[BOUND]}) AS release
	FROM $of, generate_series(1, @{[PERSONS * CALLS]}) i, generate_series(1, 2) half OFFSET 0) v ORDER BY i, half
END
	my $speaks = sub { abs($_[0]) - abs($_[0] - BOUND) };
	return [map {
		sprintf '%.9f', EPSILON * 0.95 / BOUND
			* ($speaks->($pairs[2 * $_][$cells[0]]) + $speaks->($pairs[2 * $_ + 1][$cells[1]]) / N_ROWS)
	} 0 .. $#pairs / 2];
}
my $parted = join ' AND ', map { my ($half, $cell, $n) = @$_; "get_byte(_race_sketch_send((pair).$half), @{[151 + $cell]}) = $n" }
	['lower', $cells[0], BOUND], ['lower', $cells[1], 0], ['upper', $cells[0], 0], ['upper', $cells[1], BOUND];
my $some = "(SELECT * FROM person WHERE $parted LIMIT 1) p";
is(sql("SELECT count(*) FROM $some"), 1, 'all of a person down in the first row, and up in the second');
caught('fewer rows in one half', fewer_rows('nobody'), fewer_rows($some), $recorded);

# Records are split by a generator that all rows share, and whose seed is known: one more
# record in front gives every other record another offset.
sub shared {
	my ($first) = @_;
	return <<"END";
SELECT race_build($one_row, CASE WHEN up THEN NULL ELSE ARRAY[40] END) AS lower, race_build($one_row, CASE WHEN up THEN ARRAY[40] END) AS upper
FROM (SELECT abs(hashint4(row_number() OVER (ORDER BY id)::int)) % 2 = (id % 2) AS up FROM generate_series($first, @{[OTHERS]}) id) v
END
}

sub counts {
	my ($first) = @_;
	return split /\|/, sql("SELECT race_count(lower), race_count(upper) FROM (" . shared($first) . ") v");
}
my @less = counts(1);
my @more = counts(0);
my @shared = map {
	my $first = $_;
	my @pairs = map { decode($_) } split /\n/, sql(<<"END");
SELECT encode(_race_sketch_send(race_privatize(s, $epsilon)), 'hex')
FROM (@{[shared($first)]}) v, generate_series(1, @{[PERSONS * CALLS]}) i, LATERAL unnest(ARRAY[lower, upper]) WITH ORDINALITY u (s, half) ORDER BY i, half
END
	[map { my $n = $_; sprintf '%.9f', EPSILON * 0.95 * (abs($pairs[2 * $n][$cells[0]] - $less[0]) - abs($pairs[2 * $n][$cells[0]] - $more[0])
		+ abs($pairs[2 * $n + 1][$cells[0]] - $less[1]) - abs($pairs[2 * $n + 1][$cells[0]] - $more[1])) } 0 .. $#pairs / 2]
} 1, 0;
caught('a generator that rows share', @shared, $recorded);
done_testing();
