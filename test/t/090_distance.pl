# race_distance on halves of a table: p-values are uniform, estimates are not biased by noise,
# and a shift is found.  Then memory.
#
# Halves and exact sketches are the same in each run; only noise is not.  A sample of 400
# uniform p-values is farther than 0.19 from uniform (Kolmogorov-Smirnov) with probability
# 2 exp(-2 * 400 * 0.19^2) < 6e-13 (Massart 1990).  Where noise decides (epsilon 1), p-values
# are uniform up to 0.06; where records do (epsilon 10), up to 0.15.  So the limits are 0.25 and 0.35.
# The mean of 400 estimates is held to 10 standard errors; 3 of them may be the halves' own, and
# the rest is noise, whose mean exceeds 7 with probability 3e-12.  There are 12 and 4 such tests:
# 2.0e-11 a run of this file (all tests: 030_audit.pl).
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

my $n = 400;

sql(<<'END');
CREATE TABLE records AS
SELECT i AS id, ARRAY[(i % 3) * 4 + sin(i * 0.917) + cos(i * 0.331), 1.5 * (sin(i * 0.543) + sin(i * 1.71)), cos(i * 1.313) + cos(i * 2.11)]::float8[] AS x
FROM generate_series(1, 1000) i;
CREATE TABLE settings (name text, dims int, params race_params);
INSERT INTO settings VALUES
	('rows, 1-d', 1, 'l2(dims=1, bandwidth=1, rows=16, range=64)'),
	('rows, 3-d', 3, 'l2(dims=3, bandwidth=3, rows=16, range=64)'),
	('grid, 1-d', 1, 'l2(dims=1, bandwidth=1, sequence=grid, lower={-4.3}, upper={12}, cells={32})'),
	('grid, 3-d', 3, 'l2(dims=3, bandwidth=3, sequence=grid, lower={-4.3,-4.1,-4.6}, upper={12,12,12}, cells={12,12,12})');
-- the second half is shifted by a part of a bandwidth
CREATE FUNCTION exact_halves(setting text, simulations int, shift float8) RETURNS TABLE (simulation int, a race_sketch, b race_sketch) LANGUAGE sql AS $$
	SELECT simulation, race_build(params, x[1:dims]) FILTER (WHERE NOT second),
		race_build(params, (ARRAY[x[1] + shift * (CASE WHEN dims = 1 THEN 1 ELSE 3 END), x[2], x[3]])[1:dims]) FILTER (WHERE second)
	FROM settings, generate_series(1, simulations) simulation, records, LATERAL (SELECT hashint8(id * 100000 + simulation) & 1 = 1 AS second) v
	WHERE name = setting GROUP BY simulation
$$;
CREATE TABLE halves AS SELECT name AS setting, shift, h.* FROM settings, unnest('{0,1}'::float8[]) shift, exact_halves(name, CASE shift WHEN 0 THEN 400 ELSE 40 END, shift) h;
ANALYZE halves;
END

# [squared, p] of halves with noise; without epsilon, of exact ones
sub distances {
	my ($setting, $shift, $noise) = @_;
	my @of = map { defined $noise ? "race_privatize($_, $noise)" : $_ } 'a', 'b';
	return map { [split /\|/] } split /\n/, sql("SELECT squared, p_value FROM (SELECT $of[0] AS a, $of[1] AS b FROM halves "
		  . "WHERE setting = '$setting' AND shift = $shift OFFSET 0) v, race_distance(a, b)");
}

# The largest distance of the distribution of numbers from the uniform one
sub from_uniform {
	my @p = sort { $a <=> $b } @_;
	my $most = 0;
	for my $i (0 .. $#p) {
		for my $d ($p[$i] - $i / @p, ($i + 1) / @p - $p[$i]) {
			$most = $d if $d > $most;
		}
	}
	return $most;
}

sub mean_and_error {
	my @x = @_;
	my ($sum, $squares) = (0, 0);
	$sum += $_ for @x;
	$squares += ($_ - $sum / @x)**2 for @x;
	return ($sum / @x, sqrt($squares / @x / (@x - 1)));
}

for my $setting ('rows, 1-d', 'rows, 3-d', 'grid, 1-d', 'grid, 3-d') {
	for my $noise ('1, rows => 1', '10, rows => 1', '1, 1e-6, rows => 1') {
		(my $asked = $noise) =~ s/rows => 1/$setting =~ m{rows} ? 'rows => 16' : 'fit => true'/e;
		my @found = distances($setting, 0, $asked);
		is(scalar @found, $n, "$setting, $asked: all halves");
		my $distance = from_uniform(map { $_->[1] } @found);
		cmp_ok($distance, '<', $noise =~ /^10,/ ? 0.35 : 0.25, sprintf 'p-values are %.3f from uniform', $distance);
		next unless $noise eq '10, rows => 1';
		my ($mean, $error) = mean_and_error(map { $_->[0] } @found);
		cmp_ok(abs $mean, '<', 10 * $error, sprintf 'no bias: %.3g +- %.3g', $mean, $error);
	}
	# exact halves are the same in each run
	my @exact = distances($setting, 0, undef);
	my $few = (grep { $_->[1] < 0.05 } @exact) / @exact;
	cmp_ok($few, '<', 0.08, sprintf '%s, exact: %.3f of all p-values are below 0.05', $setting, $few);

	# a control: a shift by a bandwidth is found, and its size is not biased by noise
	my @shifted = distances($setting, 1, '100');
	cmp_ok(from_uniform(map { $_->[1] } @shifted), '>', 0.9, 'a control: a shift by a bandwidth is found');
	my ($mean, $error) = mean_and_error(map { $_->[0] } @shifted);
	my ($right) = mean_and_error(map { $_->[0] } distances($setting, 1, undef));
	cmp_ok(abs($mean - $right), '<', 0.1 * $right, sprintf 'and measured: %.3g, without noise %.3g', $mean, $right);
}

# -------------------------------------------------------------- memory

sub memory {
	my ($session) = @_;
	return ($session->ask('SELECT sum(total_bytes) FROM pg_backend_memory_contexts') =~ /(\d+)$/)[0];
}

SKIP: {
	skip 'this version does not tell its memory', 2 if sql("SELECT current_setting('server_version_num')::int < 140000") eq 't';
	my $session = RaceSession->new;
	my $ask = "SELECT count(race_distance(a, b)), count((race_distance(a, b)).similarity), count(race_typicality(a, x[1:dims])) FROM halves JOIN settings ON name = setting, "
	  . "LATERAL (SELECT x FROM records WHERE id = simulation) v WHERE shift = 1";
	$session->ask("SET racepriv.cache_size = '64kB'; $ask");
	my $before = memory($session);
	is($session->ask("$ask; $ask"), "160|160|160\n160|160|160", 'many questions');
	$session->ask("SELECT race_distance(a, race_privatize(b, 1)) FROM halves") for 1 .. 10;
	cmp_ok(memory($session) - $before, '<', 2**20, 'take no memory with them, errors neither');
}

done_testing();
