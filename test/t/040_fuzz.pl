# Bad input from outside: damaged values, and bad arguments to every function.
# Each must be an error of the right kind, and none may show a record.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Test::More;

use TestDatabase qw(create_database query attempt);

# Damage that needs none of this file's time to reproduce is in a seed.
use constant {
	SEED => 20211118,
	MUTATIONS => 10_000,
};

# ------------------------------------------------------------------- fuzz

# Sketches with counters of every width, exact and private, and parameters
sub make_samples {
	query(<<'END');
CREATE TABLE samples (type text, wire bytea, form text);
DO $$
DECLARE
	s race_sketch := race_add(race_sketch('l2(dims=2, rows=4, range=8)'::race_params), '{1,2}');
BEGIN
	FOR doubling IN 0 .. 40 LOOP
		IF doubling IN (3, 10, 20, 40) THEN
			INSERT INTO samples
			SELECT 'race_sketch', race_sketch_send(v), v
			FROM unnest(ARRAY[s, race_privatize(s, 1, rows => 4)]) v;
		END IF;
		s := s + s;
	END LOOP;
END $$;
INSERT INTO samples SELECT 'race_sketch', race_sketch_send(s), s
FROM race_build('l2(dims=3, power=2, rows=5, range=7, seed=-1)', '{1,2,3}') s;
INSERT INTO samples SELECT 'race_params', race_params_send(p), p
FROM unnest('{l2,"l2(dims=3, bandwidth=0.5, rows=16, range=8)","l2(dims=2, power=3, seed=7)",
	"l2(dims=30, rows=20, range=9)"}'::race_params[]) p;
END
	return;
}

# Why format.c and params.c refuse bytes: a fuzz test must find each.
my @reasons = (
	'Too short, or of an unknown format version.',
	'The checksum does not match.',
	'Reserved bytes are not zero.',
	'An exact sketch claims to carry noise.',
	'Unknown status.',
	'Unknown mechanism.',
	'Unknown kind of neighbours.',
	'A count of contributions or releases is out of range.',
	'A privacy cost or variance is out of range.',
	'A sketch does not state its dimensions.',
	'The size does not fit the parameters.',
	'A counter is out of range.',
	'Counters are wider than they need to be.',
	'A value of format version 1 has 64 bytes.',
	'invalid race_params: unknown kernel number',
	'invalid race_params: unknown row sequence number',
	'invalid race_params: unknown rehash number',
	'invalid race_params: dims must be',
	'invalid race_params: power must be',
	'invalid race_params: bandwidth must be',
	'invalid race_params: rows must be',
	'invalid race_params: range must be',
	'invalid race_params: rows times range must be',
	'invalid race_params: rows times power times (dims + 1) must be',
	'invalid race_params: sequence "sobol" needs',
	'invalid race_params: rehash "fold" needs',
);

sub test_mutations {
	make_samples();
	is(query(<<'END'), '1,2,4,8|exact|private', 'samples of every width');
SELECT string_agg(DISTINCT get_byte(wire, 1)::text, ','), min(i.status), max(i.status)
FROM samples, race_info(form::race_sketch) i WHERE type = 'race_sketch'
END

	my @command = ('test/fuzz/mutate', SEED, MUTATIONS);
	note "@command";
	open my $mutate, '-|', @command or die "could not run $command[0]: $!\n";
	my @output = <$mutate>;
	ok(close($mutate), 'every damaged value was refused, or is a proper value');
	chomp @output;
	(/VIOLATION|\tvalue/ ? diag($_) : note($_)) for @output;
	test_coverage(@output);
	return;
}

# Was there enough of everything?
sub test_coverage {
	my @output = @_;
	my $sent = 0;
	for (grep { /: sent / } @output) {
		my ($route, %n) = /^(.*): (sent) (\d+) (refused) (\d+) (unchanged) (\d+) (changed) (\d+) (asked) (\d+)/;
		$sent += $n{sent};
		cmp_ok($n{refused}, '>', $n{sent} / 4, "$route: many are refused");
		cmp_ok($n{asked}, '>', 50, "$route: many legal values are asked")
			if $route =~ /fresh|params/;
	}
	is($sent, MUTATIONS, 'all were sent');
	my $reasons = join "\n", grep { /^reason: / } @output;
	like($reasons, qr/\Q$_\E/, "refused because: $_") for @reasons;
	return;
}

# ------------------------------------------------------------- bad records

# Vectors that are none, as columns of a table so that no message can show them
# by quoting the statement: type, value, SQLSTATE, message
my $secret = '31337.25';
my %bad = (
	nan => ['float8[]', "{$secret,NaN}", '22023', 'expected finite numbers, found NaN'],
	infinity => ['float8[]', "{$secret,Infinity}", '22023', 'expected finite numbers, found an infinity'],
	minus_infinity => ['float8[]', "{-Infinity,$secret}", '22023', 'expected finite numbers, found an infinity'],
	real_nan => ['real[]', "{$secret,NaN}", '22023', 'expected finite numbers, found NaN'],
	real_infinity => ['real[]', "{$secret,Infinity}", '22023', 'expected finite numbers, found an infinity'],
	numeric_nan => ['numeric[]', "{$secret,NaN}", '22023', 'expected finite numbers, found NaN'],
	numeric_overflow => ['numeric[]', "{$secret,1e400}", '22023', 'expected finite numbers, found an infinity'],
	short => ['float8[]', "{$secret}", '22023', 'expected a vector of 2 dimensions, found 1'],
	long => ['numeric[]', "{$secret,1,2}", '22023', 'expected a vector of 2 dimensions, found 3'],
	empty => ['float8[]', '{}', '22023', 'expected a vector of 2 dimensions, found 0'],
	null_element => ['float8[]', "{$secret,NULL}", '22023', 'expected a vector of numbers, found a null element'],
	matrix => ['float8[]', "{{$secret,1}}", '22023', 'expected a vector, found an array of 2 dimensions'],
	texts => ['text[]', "{$secret,1}", '42804', 'type text[] is not a vector of numbers'],
	booleans => ['bool[]', '{true,false}', '42804', 'type boolean[] is not a vector of numbers'],
	text => ['text', "{$secret,1}", '42804', 'type text is not a vector of numbers'],
	json => ['jsonb', "[$secret,1]", '42804', 'type jsonb is not a vector of numbers'],
	number => ['float8', $secret, '42804', 'type double precision is not a vector of numbers'],
);

# Whatever takes a vector
my @takers = (
	'race_add(exact, %s)',
	'race_remove(exact, %s)',
	q(race_build('l2(dims=2, rows=16, range=8)', %s)),
	'race_build(race_params(exact), %s) OVER (ORDER BY 1 ROWS 1 PRECEDING)',
	'race_kernel_sum(private, %s)',
	'race_kde(private, %s)',
	'race_estimate(private, %s)',
	'race_classify(1, private, %s)',
	q(race_classify('a', private, %s, 'counts')),
	'race_classify(ARRAY[private], %s)',
	'race_posterior(1, private, %s)',
	'race_kernel(race_params(exact), %s, ARRAY[1, 2])',
	'race_kernel(race_params(exact), ARRAY[1, 2], %s)',
);

sub make_sketches {
	query(<<'END');
CREATE TABLE sketches AS
SELECT exact, race_privatize(exact, 1, rows => 16) AS private
FROM race_build('l2(dims=2, rows=16, range=8)', '{1,2}') exact
END
	my $columns = join ', ', map { "'$bad{$_}[1]'::$bad{$_}[0] AS $_" } sort keys %bad;
	query("CREATE TABLE bad AS SELECT $columns");
	return;
}

# A statement fails with this SQLSTATE and message, and does not show the secret.
sub fails {
	my ($statement, $state, $message) = @_;
	my ($found, $text) = attempt($statement);
	my $good = $found eq $state && $text =~ /$message/ && $text !~ /31337/;
	ok($good, "$state for $statement") or diag("found $found: $text");
	return;
}

sub test_bad_records {
	for my $name (sort keys %bad) {
		my (undef, undef, $state, $message) = @{$bad{$name}};
		for my $taker (@takers) {
			fails('SELECT ' . sprintf($taker, $name) . ' FROM sketches, bad',
				$state, qr/: \Q$message\E\n/);
		}
	}

	# inside plpgsql there is a context, and inside COPY a line
	fails('DO $$ DECLARE b bad; BEGIN SELECT * INTO b FROM bad; PERFORM race_add(exact, b.nan) FROM sketches; END $$',
		'22023', qr/CONTEXT/);
	query(q(CREATE TABLE checked (x float8[] CHECK (race_kernel('l2', x, x) = 1))));
	fails('INSERT INTO checked SELECT nan FROM bad', '22023', qr/found NaN/);
	return;
}

# ----------------------------------------------------------- bad arguments

my $p = q(race_params('l2', 2);
my $limits = qr/invalid race_params: /;
my $syntax = qr/invalid input syntax for type race_params/;

my @bad_params = (
	[q(race_params('l3', 2)), '22023', qr/unknown kernel "l3"/],
	[q(race_params('l2', 0)), '22023', $limits],
	[q(race_params('l2', -1)), '22023', $limits],
	[q(race_params('l2', 16001)), '22023', $limits],
	(map { ["$p, $_)", '22023', $limits] } (
		(map { "bandwidth => $_" } qw(0 -1 1e-101 1e101 'NaN' 'Infinity' '-Infinity')),
		(map { "power => $_" } qw(0 -1 1025 2147483647)),
		(map { "rows => $_" } qw(0 -1 -2147483648 2147483647)),
		(map { "range => $_" } qw(0 1 -1 2147483647)),
		'rows => 65536, range => 512',
		'rows => 2147483647, range => 2147483647',
		'rows => 1000000, range => 2, power => 1024',
		q(power => 2, rehash => 'fold'),
		q(power => 1024, sequence => 'sobol'),
	)),
	["$p, rehash => 'md5')", '22023', qr/unknown rehash "md5"/],
	["$p, sequence => 'halton')", '22023', qr/unknown row sequence "halton"/],
	[q(race_sketch('l2'::race_params)), '22023', qr/do not state the number of dimensions/],
	(map { ["'$_'::race_params", '22P02', $syntax] } (
		'', '()', 'l2(', 'l2)', 'l2(dims', 'l2(dims=', 'l2(dims=3', 'l2(dims=3,)', 'l2(,dims=3)',
		'l2(dims=3, dims=3)', 'l2(dims=3) x', 'l2(dims=3))', 'l2(dims=3; rows=4)', 'l2(width=3)',
		'l2(dims=three)', 'l2(dims=3.5)', 'l2(dims=99999999999999999999)', 'l2(bandwidth=1e)',
		'l2(seed=9223372036854775808)',
	)),
	(map { ["'$_'::race_params", '22023', $limits] } (
		'l2(dims=0)', 'l2(dims=-3)', 'l2(dims=4294967297)', 'l2(rows=4294967297)',
		'l2(range=-1)', 'l2(power=4294967297)', 'l2(bandwidth=nan)', 'l2(bandwidth=inf)',
		'l2(bandwidth=-0)', 'l2(bandwidth=1e999)', 'l2(bandwidth=1e-999)',
	)),
	[q('l3(dims=3)'::race_params), '22023', qr/unknown kernel "l3"/],
);

my @bad_sketches = (
	(map { ["'$_'::race_sketch", '22P02', qr/invalid input syntax for type race_sketch/] }
		'', 'l2(dims=2)', '\\', '\\x0', '\\xzz', '0101', '\\x01 ', ' \\x01'),
	(map { ["'$_'::race_sketch", '22P03', qr/invalid binary representation of type race_sketch/] }
		'\\x', '\\x01', '\\x' . '00' x 148, '\\x' . 'ff' x 148, '\\x01' . '00' x 1000),
);

my $number = qr/must be a number between/;

my @bad_arguments = (
	# race_privatize
	(map { ["race_privatize(exact, $_, rows => 16)", '22023', qr/epsilon $number/] }
		qw(0 -1 'NaN' 'Infinity' '-Infinity' 1e-10 1e16)),
	(map { ["race_privatize(exact, 1, rows => $_)", '22023', qr/rows must be/] } qw(0 -1 3 12 17 32)),
	(map { ["race_privatize(exact, 1, $_, 16)", '22023', qr/delta must be/] } qw(-1e-9 1 2 'NaN' 'Infinity')),
	['race_privatize(exact, 1, 1e-6, 16)', '0A000', qr/delta > 0 is not supported/],
	['race_privatize(exact, 1)', '0A000', qr/choosing the number of rows is not supported/],
	['race_privatize(exact, 1, rows => NULL)', '0A000', qr/choosing the number of rows is not supported/],
	(map { ["race_privatize(exact, 1, rows => 16, max_contributions => $_)", '22023', qr/max_contributions must be/] } qw(0 -1)),
	['race_privatize(exact, 1e-9, rows => 16, max_contributions => 2147483647)', '22023', qr/noise would be too large/],
	[q(race_privatize(exact, 1, rows => 16, neighbours => 'friends')), '22023', qr/unknown neighbours/],
	['race_privatize(private, 1, rows => 16)', '55000', qr/a private sketch cannot be made private again/],

	# exact and private ones, and different parameters
	['race_add(private, ARRAY[1, 2])', '55000', qr/a private sketch cannot be/],
	['race_remove(private, ARRAY[1, 2])', '55000', qr/a private sketch cannot be/],
	['private - private', '55000', qr/a private sketch cannot be/],
	['exact + private', '55000', qr/One side is exact, the other is private/],
	['private + exact', '55000', qr/One side is private, the other is exact/],
	['race_merge(s) FROM unnest((SELECT ARRAY[exact, private] FROM sketches)) s', '55000', qr/One side is exact/],
	['private + race_privatize(exact, 1, rows => 16, max_contributions => 2)', '22023',
		qr/max_contributions 1 and neighbours add_remove, the other 2 and add_remove/],
	[q(private + race_privatize(exact, 1, rows => 16, neighbours => 'substitute')), '22023',
		qr/max_contributions 1 and neighbours add_remove, the other 1 and substitute/],
	['race_build(NULL, ARRAY[1, 2])', '22004', qr/race_build needs parameters, found NULL/],
	(map { [$_, '22023', qr/One side has l2\(.*seed=0.*, the other has l2\(.*seed=1/] } (
		q(exact + race_sketch('l2(dims=2, rows=16, range=8, seed=1)'::race_params)),
		q(exact - race_sketch('l2(dims=2, rows=16, range=8, seed=1)'::race_params)),
		q(race_merge(s) FROM unnest((SELECT ARRAY[exact,
			race_sketch('l2(dims=2, rows=16, range=8, seed=1)'::race_params)] FROM sketches)) s),
		q(race_build(race_params('l2', 2, seed => i), ARRAY[1, 2]) FROM generate_series(0, 1) i),
	)),
	['private + race_privatize(race_sketch(race_params(\'l2\', 2)), 1, rows => 16)', '22023', qr/range=8.*range=1024/],

	# questions
	(map { ["race_estimate(private, ARRAY[1, 2], $_)", '22023', qr/confidence must be between 0 and 1/] }
		qw(0 1 -1 2 'NaN' 'Infinity')),
	[q(race_classify(1, private, ARRAY[1, 2], 'flat')), '22023', qr/unknown prior "flat"/],
	[q(race_posterior(1, private, ARRAY[1, 2], 'flat')), '22023', qr/unknown prior "flat"/],
	[q(race_classify(ARRAY[private], ARRAY[1, 2], 'flat')), '22023', qr/unknown prior "flat"/],
	['race_classify(ARRAY[[private], [private]], ARRAY[1, 2])', '22023', qr/expected a list of sketches/],
	['race_classify(point(1, 2), s, ARRAY[1, 2]) FROM unnest((SELECT ARRAY[exact, exact] FROM sketches)) s',
		'42883', qr/could not identify a comparison function/],
	(map { ["race_kde_grid(private, $_)", '22023', qr/./] } (
		q('{0}', '{1,1}', '{2,2}'), q('{0,0}', '{1}', '{2,2}'), q('{0,0}', '{1,1}', '{2}'),
		q('{0,NaN}', '{1,1}', '{2,2}'), q('{0,0}', '{1,Infinity}', '{2,2}'),
		q('{0,NULL}', '{1,1}', '{2,2}'), q('{0,0}', '{1,1}', '{2,NULL}'),
		q('{0,0}', '{1,1}', '{0,2}'), q('{0,0}', '{1,1}', '{2,-2}'),
		q('{0,2}', '{1,1}', '{2,2}'), q('{-1e308,0}', '{1e308,1}', '{2,2}'),
		q('{0,0}', '{1,1}', '{2147483647,2147483647}'), q('{{0,0}}', '{1,1}', '{2,2}'),
		q('{}', '{}', '{}'),
	)),
	[q(race_kernel('l2', '{}', '{}')), '22023', qr/found an empty array/],
	[q(race_kernel('l2', ARRAY[1], ARRAY[1, 2])), '22023', qr/expected a vector of 1 dimensions, found 2/],
);

sub test_bad_arguments {
	for my $case (@bad_params, @bad_sketches, @bad_arguments) {
		my ($expression, $state, $message) = @$case;
		my $from = $expression =~ / FROM / ? '' : ' FROM sketches';
		fails("SELECT $expression$from", $state, $message);
	}
	return;
}

# ------------------------------------------------------------------- tests

create_database('fuzz');
my $started = query('SELECT pg_postmaster_start_time()');
test_mutations();
make_sketches();
test_bad_records();
test_bad_arguments();
is(scalar query('SELECT pg_postmaster_start_time()'), $started, 'the server has not started anew');
done_testing();
