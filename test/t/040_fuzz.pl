# Bad input from outside: damaged values, values with hostile fields, alone and in
# pairs, and bad arguments to every function.  Each must be an error of the right
# kind.  (045_bad_records.pl has bad records.)
#
# FUZZ_INPUTS, from the environment, is how many inputs each fuzzer sends.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use Test::More;

use constant {
	SEED => 20211119,
	MUTATIONS => $ENV{FUZZ_INPUTS} // 16_000,
	PAIRS => $ENV{FUZZ_INPUTS} // 16_000,
};

# ------------------------------------------------------------------- fuzz

# Sketches with counters of every width, exact and private, of every kernel; and
# parameters, with arrays and of products
sub make_samples {
	sql(<<'END');
CREATE TABLE samples (type text, wire bytea, form text);
DO $$
DECLARE
	p race_params;
	s race_sketch;
BEGIN
	FOREACH p IN ARRAY '{"l2(dims=2, rows=4, range=8)",
		"l2(dims=1, rows=1, range=2, sequence=independent)"}'::race_params[] LOOP
		s := race_add(race_sketch(p), array_fill(1, ARRAY[(race_info(race_sketch(p))).dims]));
		FOR doubling IN 1 .. 40 LOOP
			s := s + s;
			IF doubling IN (3, 10, 20, 40) THEN
				INSERT INTO samples
				SELECT 'race_sketch', _race_sketch_send(v), v
				FROM unnest(ARRAY[s, race_privatize(s, 1, rows => (race_info(s)).rows)]) v;
			END IF;
		END LOOP;
	END LOOP;
END $$;
INSERT INTO samples SELECT 'race_sketch', _race_sketch_send(s), s
FROM (SELECT race_build('l2(dims=3, power=2, rows=5, range=7, seed=-1)', '{1,2,3}') s) v;
CREATE TABLE kernels (p race_params, x float8[], c text[]);
INSERT INTO kernels VALUES
('l1(dims=2, rows=4, range=8, bandwidths={1,2}, lower={0,0})', '{1,2}', NULL),
('l2(dims=2, rows=4, range=8, bandwidths={1,2})', '{1,2}', NULL),
('l2(dims=2, rows=4, range=8, lower={-Infinity,0}, upper={1,Infinity})', '{1,2}', NULL),
('l2(dims=2, rows=4, range=8, matrix={{1,2},{3,4},{5,6}}, offset={1,0})', '{1,2}', NULL),
('angular(dims=2, power=2, rows=4, range=8, matrix={{1,2}})', '{1,2}', NULL),
('jaccard(rows=4, range=8)', NULL, '{a,b}'),
('match(dims=2, rows=4, range=8, nulls=different)', NULL, '{a,NULL}'),
('l2(dims=2, rows=4, range=8, offset={1,2}) * match(dims=2)', '{1,2}', '{a,b}'),
('angular(dims=2, rows=4, range=8) * jaccard(power=2)', '{1,2}', '{a,b}');
INSERT INTO samples SELECT 'race_params', _race_params_send(p), p FROM kernels;
INSERT INTO samples SELECT 'race_sketch', _race_sketch_send(s), s
FROM (SELECT CASE WHEN x IS NULL THEN race_add(race_sketch(p), c) WHEN c IS NULL THEN race_add(race_sketch(p), x)
	ELSE race_build(p, ROW(x, c)) FILTER (WHERE x IS NOT NULL AND c IS NOT NULL) END AS s FROM kernels GROUP BY p, x, c ORDER BY p) v;
-- and with fitted models
INSERT INTO samples SELECT 'race_sketch', _race_sketch_send(s), s FROM (VALUES
((SELECT race_fit(race_build('l2(dims=2, rows=4, range=8)', ARRAY[i, 1]), lower => '{0,0}', upper => '{4,2}', points => 5) FROM generate_series(1, 3) i)),
((SELECT race_fit(race_privatize(race_add(race_sketch('l1(dims=1, rows=8, range=8, lower={0}, upper={1})'::race_params), '{1}'), 1, rows => 8), points => 4))),
((SELECT race_fit(s, x) FROM (SELECT race_build('jaccard(rows=8, range=8)', ARRAY[i, i + 1]) AS s FROM generate_series(1, 3) i) v, unnest('{1,2,3}'::int[]) i, LATERAL (SELECT ARRAY[i, i + 1, 7] AS x) w)),
((SELECT race_fit(s, x) FROM (SELECT race_build('match(dims=2, rows=8, range=8)', ARRAY['a', 'b']) AS s FROM generate_series(1, 3) i) v, (VALUES (ARRAY['a', 'b']), (ARRAY['b', 'ü'])) w (x))),
((SELECT race_fit(s, x) FROM (SELECT race_build('l2(dims=1, rows=8, range=8) * match(dims=1) * jaccard', ROW('{1}'::int[], '{a}'::text[], '{1,2}'::int[])) AS s FROM generate_series(1, 3) i) v, (VALUES (ROW('{1}'::int[], '{a}'::text[], '{1,2}'::int[])), (ROW('{2}'::int[], '{b}'::text[], '{}'::int[]))) w (x)))) v (s);
-- and with columns
CREATE TABLE fuzzed AS SELECT i AS person, i % 2 = 0 AS a, i % 4 AS b FROM generate_series(1, 40) i;
CREATE UNIQUE INDEX ON fuzzed (person);
CALL race_protect('fuzzed', epsilon_limit => 10, unit_column => 'person', max_contributions => 1, columns => '{"b": [0, 3]}');
CALL race_release('fuzzed', 'fuzzed', '{a,b}', epsilon => 1);
INSERT INTO samples SELECT 'race_sketch', _race_sketch_send(s), s FROM race_released('fuzzed') s, generate_series(1, 5);
INSERT INTO samples SELECT 'race_moments', _race_sketch_send(m), m
FROM unnest('{"moments(dims=2, lower={0,0}, upper={1,2}, norm=1)",
	"moments(dims=3, lower={-1,0,-9}, upper={1,2,9}, norm=0.5, features=4, targets=1, bandwidth=2, clip=absolute)"}'::race_params[]) p,
	LATERAL (SELECT race_build(p, array_fill(i, ARRAY[(p::text ~ 'dims=3')::int + 2])) AS s FROM generate_series(0, 3) i) v,
	LATERAL unnest(ARRAY[s, race_privatize(s, 1), race_share(s, 1, 1e-6, 2)]) m;
INSERT INTO samples SELECT 'race_params', _race_params_send(p), p
FROM unnest('{"moments(dims=2, lower={0,0}, upper={1,2}, norm=1, features=3, targets=1)"}'::race_params[]) p;
INSERT INTO samples SELECT 'race_params', _race_params_send(p), p FROM unnest('{
	"l2(dims=2, rows=4, range=8, matrix={{1,2},{3,4},{5,6},{7,8}})",
	"angular(dims=3, rows=4, range=8, offset={1,2,3})",
	"match(dims=2, rows=4, range=8) * l1(dims=1, lower={0}, upper={1}) * jaccard * angular(dims=1)",
	"jaccard(rows=4, range=8) * jaccard * jaccard * jaccard"}'::race_params[]) p;
INSERT INTO samples SELECT 'race_params', _race_params_send(p), p
FROM unnest('{"l2(rows=8, range=8)","l2(dims=3, bandwidth=0.5, rows=16, range=8)",
	"l2(dims=2, power=3, rows=4, range=4, seed=7)",
	"l2(dims=3, power=1000, rows=8, range=8)"}'::race_params[]) p;
END
}

# Why sketch_format.c and params_wire.c refuse bytes, up to a number: one of the two fuzzers meets each of
# these.  What both meet only now and then is left to params_test.c: folds without room, too many row functions,
# bounds that are out of order, bandwidths and sequences of other kernels.
my @reasons = (
	'Too short, or of an unknown format version.',
	'The checksum does not match.',
	'Reserved bytes are not zero.',
	'An exact sketch claims to carry noise.',
	'Unknown status.',
	'Unknown mechanism.',
	'Unknown kind of neighbors.',
	'A count of contributions or releases is out of range.',
	'A privacy cost or variance is out of range.',
	'A sketch does not state its dimensions.',
	'The size does not fit the parameters.',
	'A counter is out of range.',
	'Counters are wider than they need to be, or not wide enough.',
	'A value of format version ',
	'Its parts do not fit its size, or reserved bytes are not zero.',
	'The size of a model is wrong.',
	'The size of a model does not fit its points.',
	'A number of a model is out of range.',
	'A point of a model is not a record.',
	'The texts of a model are cut off.',
	'The columns are not domains.',
	(map { "invalid race_params: $_" }
		'unknown kernel number ', 'unknown row sequence number ', 'unknown rehash number ',
		'only the first kernel of a product states what all share',
		'a product can have up to ',
		'dims must be between ', 'power must be between ', 'rows must be at least ',
		'range must be at least ', 'bandwidth must be a number between ',
		'kernel jaccard has no dims',
		'kernel jaccard has no bandwidth', 'kernel match has no bandwidth', 'kernel angular has no bandwidth',
		'bandwidths, bounds and transforms need dims', 'a matrix must have between ',
		'bandwidths must be numbers between ', 'moments have no bandwidths', 'unknown kind number ',
		'matrix must be numbers between -', 'offset must be numbers between -',
		'lower must be numbers between -inf and ', 'upper must be numbers between -',
		'unknown meaning of nulls number ', 'kernel jaccard has no nulls',
		'rows times range must be at most ',
		'sequence "sobol" needs dims, and at most ',
		'sequence "grouped" is for kernel jaccard',
		'rehash "fold" needs power ')
);

# What a fuzzer says when it has sent so many inputs
sub fuzz {
	my ($program, $inputs) = @_;
	my @command = ("test/fuzz/$program", SEED, $inputs);
	note "@command";
	# few rows will do, whatever race_estimate thinks of their intervals
	local $ENV{PGOPTIONS} = '-c client_min_messages=error';
	open my $fuzzer, '-|', @command or die "could not run $command[0]: $!\n";
	my @output = <$fuzzer>;
	ok(close($fuzzer), "$program: no violation");
	chomp @output;
	(/VIOLATION|\tvalue/ ? diag($_) : note($_)) for @output;
	return @output;
}

# Were values refused for all these reasons?
sub test_reasons {
	my ($output, @expected) = @_;
	my %met = map { $_ => 1 } @$output;
	ok($met{"reason: $_"}, "refused because: $_") for @expected;
}

sub test_mutations {
	make_samples();
	is(sql(<<'END'), '1,2,4,8|exact|private', 'samples of every width');
SELECT string_agg(DISTINCT get_byte(wire, 1)::text, ','), min(i.status), max(i.status)
FROM samples, race_info(form::race_sketch) i WHERE type = 'race_sketch'
END

	my @output = fuzz('mutate', MUTATIONS);
	test_coverage(@output);
	return @output;
}

# Was there enough of everything?
sub test_coverage {
	my @output = @_;
	my $sent = 0;
	for (grep { /: sent / } @output) {
		my ($route, %n) = /^(.*): (sent) (\d+) (refused) (\d+) (unchanged) (\d+) (changed) (\d+) (asked) (\d+)/;
		$sent += $n{sent};
		cmp_ok($n{refused}, '>', $n{sent} / 4, "$route: many are refused");
		cmp_ok($n{asked}, '>', 50, "$route: many are legal, and asked")
			if $route =~ /fresh|params/;
	}
	is($sent, MUTATIONS, 'all were sent');
}

# What only a value with a valid checksum gets to
my @reasons_of_structure = (
	'Numbers of parties are out of range.',
	'Only private tables are measured ones.',
	'invalid race_params: tables have no row functions',
	'The size of a model does not fit its tables.',
	'Shares are not in order, or there twice.',
	'The text of a point is not valid in the encoding of the database.',
);

# Values made field by field, and what is done with two of them
sub test_structure {
	my @output = fuzz('structure', PAIRS);
	my %accepted = map { /^(race_\w+): sent (\d+) accepted (\d+)$/ ? ($1 => [$2, $3]) : () } @output;
	for my $type (qw(race_params race_sketch race_moments race_tables)) {
		my ($sent, $accepted) = @{$accepted{$type} // [0, 0]};
		cmp_ok($accepted, '>', $sent / 4, "$type: many are accepted");
		cmp_ok($sent - $accepted, '>', $sent / 16, "$type: many are refused");
	}
	my @operations = grep { /: asked / } @output;
	is(scalar @operations, 30, 'every operation was tried');
	for (@operations) {
		my ($operation, $asked, $answered) = /^(.*): asked (\d+) answered (\d+)$/;
		cmp_ok($answered, '>', PAIRS / 500, "$operation: many pairs are answered");
	}
	return @output;
}

sub make_sketches {
	sql(<<'END');
CREATE TABLE sketches AS
SELECT exact, race_privatize(exact, 1, rows => 16) AS private
FROM (SELECT race_build('l2(dims=2, rows=16, range=8)', '{1,2}') AS exact) v
END
}

# A statement fails with this SQLSTATE and message.
sub fails {
	my ($statement, $state, $message) = @_;
	my $text = sql_fails($statement);
	my $good = $text =~ /^ERROR:  $state: / && $text =~ /$message/;
	ok($good, "$state for $statement") or diag($text);
}

# ----------------------------------------------------------- bad arguments

# "f(<1 | 2>)" is f(1) and f(2); a choice may be empty.
sub alternatives {
	my ($text) = @_;
	my ($before, $list, $after) = $text =~ /^(.*?)<([^<>]*)>(.*)$/ or return $text;
	return map { alternatives($before . $_ . $after) } split / \| /, $list, -1;
}

# Lines of DATA: SQLSTATE, expressions, ~, part of the message
sub test_bad_arguments {
	while (<DATA>) {
		next if /^(#|$)/;
		my ($state, $expressions, $message) = /^(\w{5})\s+(.*?)\s+~ (.*)$/ or die "not a case: $_";
		for my $expression (alternatives($expressions)) {
			my $from = $expression =~ / FROM / ? '' : ' FROM sketches';
			fails("SELECT $expression$from", $state, qr/$message/);
		}
	}
}

# ------------------------------------------------------------------- tests

my $started = sql('SELECT pg_postmaster_start_time()');
my @output = (test_mutations(), test_structure());
test_reasons(\@output, @reasons, @reasons_of_structure);
make_sketches();
test_bad_arguments();
is(sql('SELECT pg_postmaster_start_time()'), $started, 'the server has not started anew');
done_testing();

__DATA__
# limits of parameters
22023 race_params('l3', 2)                               ~ unknown kernel "l3"
22023 race_params('l2', <0 | -1 | 16001 | -2147483648>)  ~ dims must be between
22023 race_params('l2', 2, <0 | -1 | 1e-101 | 1e101 | 'NaN' | 'Infinity' | '-Infinity'>)  ~ bandwidth must be
22023 race_params('l2', 2, power => <0 | -1 | 1025 | 2147483647>)  ~ power must be between
22023 race_params('l2', 2, rows => <0 | -1 | -2147483648>)  ~ rows must be
22023 race_params('l2', 2, range => <0 | 1 | -1>)        ~ range must be
22023 race_params('l2', 2, rows => 65536, range => <512 | 2147483647>)  ~ rows times range
22023 race_params('l2', 2, rows => 2147483647, range => <2 | 2147483647>)  ~ rows times range
22023 race_params('l2', 2, rows => 1000000, range => 2, power => 1024)  ~ rows times power times
22023 race_params('l2', 2, power => 2, rehash => 'fold')  ~ "fold" needs power 1
22023 race_params('l2', 2, power => 1024, sequence => 'sobol')  ~ "sobol" needs
22023 race_params('l2', 2, rehash => 'md5')              ~ unknown rehash "md5"
22023 race_params('l2', 2, sequence => 'halton')         ~ unknown row sequence "halton"
22023 race_sketch('l2'::race_params)                     ~ do not state the number of dimensions

# text of parameters
22023 'l3(dims=3)'::race_params                          ~ unknown kernel "l3"
22P02 '< | () | l2( | l2) | l2(dims | l2(dims= | l2(dims=3>'::race_params  ~ invalid input syntax
22P02 'l2(<dims=3, | ,dims=3 | dims=3, dims=3 | dims=3) x | dims=3) | dims=3; rows=4>)'::race_params  ~ invalid input syntax
22P02 'l2(<width=3 | dims=three | dims=3.5 | dims=99999999999999999999>)'::race_params  ~ invalid input syntax
22P02 'l2(<bandwidth=1e | seed=9223372036854775808 | rows=>)'::race_params  ~ invalid input syntax
22023 'l2(<dims=0 | dims=-3 | dims=4294967297>)'::race_params  ~ dims must be
22023 'l2(<rows=4294967297 | range=-1 | power=4294967297>)'::race_params  ~ must be
22023 'l2(bandwidth=<nan | inf | -0 | 1e999 | 1e-999>)'::race_params  ~ bandwidth must be

# text of sketches
22P02 '< | l2(dims=2) | \ | \x0 | \xzz | 0101 | \x 01 | \X01 | A | AQE | AQ= | AQ==AQ== | AR== | AQEA AQE | =AQE | A===>'::race_sketch  ~ is no sketch
22P03 '<AQ== | AgAA | AAAA>'::race_sketch             ~ invalid binary representation
22P02 '\x<01 | 00000000 | 0144332211>'::race_sketch      ~ is no sketch
22P02 ('\x01' || repeat('00', 147))::race_sketch         ~ invalid input syntax
22P03 ('AwAA' || repeat('AAAA', 49))::race_sketch        ~ The checksum does not match
22P03 ('AwAA' || repeat('AAAA', 33333))::race_sketch     ~ The checksum does not match

# noise
22023 race_privatize(exact, <0 | -1 | 'NaN' | 'Infinity' | '-Infinity' | 1e-10 | 1e16>, rows => 16)  ~ epsilon must be
22023 race_privatize(exact, 1, rows => <0 | -1 | 3 | 12 | 17 | 32>)  ~ rows must be
22023 race_privatize(exact, 1, <-1e-9 | 1 | 2 | 'NaN' | 'Infinity'>, 16)  ~ delta must be
22023 race_privatize(exact, 1, 1e-301, 16)               ~ delta must be
22023 race_privatize(exact, 1e-9, <0 | 1e-9>, max_contributions => 2147483647)  ~ noise would be too large
22023 race_privatize(exact, 1, rows => 16, max_contributions => <0 | -1>)  ~ max_contributions must be
22023 race_privatize(exact, 1e-9, rows => 16, max_contributions => 2147483647)  ~ noise would be too large
22023 race_privatize(exact, 1, rows => 16, neighbors => 'friends')  ~ unknown neighbors
55000 race_privatize(private, 1, rows => 16)             ~ a private sketch cannot be made private again

# exact and private sketches do not mix
55000 race_<add | remove>(private, ARRAY[1, 2])          ~ a private sketch cannot be
55000 private - private                                  ~ a private sketch cannot be
55000 exact + private                                    ~ One side is exact, the other is private
55000 private + exact                                    ~ One side is private, the other is exact
55000 race_merge(s) FROM unnest((SELECT ARRAY[exact, private] FROM sketches)) s  ~ One side is exact
22023 private + race_privatize(exact, 1, rows => 16, max_contributions => 2)  ~ 1 and neighbors add_remove, the other 2 and add_remove
22023 private + race_privatize(exact, 1, rows => 16, neighbors => 'substitute')  ~ 1 and neighbors add_remove, the other 1 and substitute

# nor do parameters: the message names both sides
22004 race_build(NULL, ARRAY[1, 2])                      ~ race_build needs parameters, found NULL
22023 exact <+ | -> race_sketch('l2(dims=2, rows=16, range=8, seed=1)'::race_params)  ~ They differ: seed 0 and 1
22023 private + race_privatize(race_sketch('l2(dims=2)'::race_params), 1, rows => 16)  ~ They differ: .*range 8 and 1024
22023 race_build(race_params('l2', 2, seed => i), ARRAY[1, 2]) FROM generate_series(0, 1) i  ~ They differ: seed 0 and 1
22023 race_merge(race_sketch(race_params('l2', 2, seed => i))) FROM generate_series(0, 1) i  ~ They differ: seed 0 and 1

# questions
22023 race_estimate(private, ARRAY[1, 2], <0 | 1 | -1 | 2 | 'NaN' | 'Infinity'>)  ~ confidence must be between 0 and 1
22023 race_<classify | posterior>(1, private, ARRAY[1, 2], 'flat')  ~ unknown prior "flat"
22023 race_classify(1, private, ARRAY[1, 2], 'flat')  ~ unknown prior "flat"
42883 race_classify(point(1, 2), s, ARRAY[1, 2]) FROM unnest((SELECT ARRAY[exact, exact] FROM sketches)) s  ~ could not identify a comparison function
22023 race_posterior(1, s, ARRAY[1, 2]) FROM unnest((SELECT ARRAY[exact, exact] FROM sketches)) s  ~ more than one class
22023 race_kde_grid(private, '{<0 | 0,NaN | 0,NULL | 0,Infinity | {0,0} | >}', '{1,1}', '{2,2}')  ~ expected
22023 race_kde_grid(private, '{0,0}', '{<1 | 1,NaN | 1,NULL | 1,Infinity | {1,1} | >}', '{2,2}')  ~ expected
22023 race_kde_grid(private, '{0,0}', '{1,1}', '{<2 | 2,NULL | {2,2} | >}')  ~ expected
22023 race_kde_grid(private, '{0,0}', '{1,1}', '{<0,2 | 2,-2>}')  ~ at least 1 step
22023 race_kde_grid(private, '{<0,2 | -1e308,0>}', '{1e308,1}', '{2,2}')  ~ the lower bound of a grid
22023 race_kde_grid(private, '{0,0}', '{1,1}', '{2147483647,2147483647}')  ~ at most 2147483647 points
22023 race_kernel('l2', '{}', '{}')                      ~ found an empty array
22023 race_kernel('l2', ARRAY[1], ARRAY[1, 2])           ~ expected a vector of 1 dimensions, found 2
