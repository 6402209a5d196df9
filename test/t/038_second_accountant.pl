# A second accountant: costs of 20,000 random requests, as test/accountant/accountant.py computes them from doc/privacy.md
# with fractions and 50 digits.  It shares no code with the server.  Its first lines say what it holds answers to.
#
# Requests are of a fixed seed.  Noise is drawn for shares, tables and releases, but no comparison is off because of it, so
# that there are no false alarms.  The control: three other accountants, each with a mistake, must disagree.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceServer;

use constant PYTHON => 'test/accountant/accountant.py';
my %requests = (cost => 16_000, convert => 1_600, sum => 2_000, share => 300, tables => 300);
my %answers;

# What the accountant asks, and what the server answers
sub answers {
	my ($kind, $requests) = @_;
	my ($asked, $good) = run('', '/usr/bin/python3', PYTHON, 'ask', 1, $requests, $kind);
	die $asked unless $good;
	return sql($asked);
}

# How many answers of a kind there are, and how many of them are wrong
sub wrong {
	my ($answers, @mistake) = @_;
	my ($said, $good) = run("$answers\n", '/usr/bin/python3', PYTHON, 'check', @mistake);
	diag $said unless $good && $said =~ /^\w+ \d+ \d+$/;
	return $said =~ /^\w+ (\d+) (\d+)$/m;
}

for my $kind (sort keys %requests) {
	$answers{$kind} = answers($kind, $requests{$kind});
	is_deeply([wrong($answers{$kind})], [$requests{$kind}, 0], "$requests{$kind} answers about $kind are right");
}

# Both kinds of accounting and of neighbors, and all that is charged for
my $n = 0;
my $joint = 0;		# budgets whose choices and tables share an account
for my $accounting ('basic', 'zcdp') {
	for my $neighbors ('add_remove', 'substitute') {
		for my $m (1, 3) {
			$n++;
			sql(<<"END");
CREATE TABLE t$n (person int, age int CHECK (age BETWEEN 0 AND 99), town text, number float8, x real[], at timestamptz);
INSERT INTO t$n SELECT i / $m, i % 100, 'town' || i % 2, i, ARRAY[i % 10, i % 7], '2026-01-01 00:00+00'::timestamptz + i * interval '1 hour'
FROM generate_series(0, 999) i;
CALL race_protect('t$n', 't$n', 50, 1e-3, unit_column => 'person', neighbors => '$neighbors', max_contributions => $m, accounting => '$accounting');
CALL race_release('columns$n', 't$n', '{age}', 0.7);
CALL race_release('delta$n', 't$n', '{age}', 0.3, 1e-6);
CALL race_release_sketch('labels$n', 't$n', 'l2(dims=2, rows=8, range=16)', 'x', 0.9, 1e-5, label => 'town', labels => '{town0,town1}');
CALL race_release_sketch('rows$n', 't$n', 'l2(dims=2, rows=8, range=16)', 'x', 0.11);
CALL race_release_sketch('weights$n', 't$n', 'l2(dims=2, rows=8, range=16)', 'x', 0.2, 1e-6, weight => 'x[1]', weight_max => 7);
CALL race_release('series$n', 't$n', '{age}', 1.3, series => '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-03-01"}');
CALL race_describe('t$n', 'number', bounds => 'private', epsilon => 0.3);
CALL race_release_sketch('scores$n', 't$n', race_moment_params('{0,0}', '{9,6}', 1, targets => 0), 'x', 0.8, label => 'town', labels => '{town0,town1}', calibrate => 0.25);
END
			next if $accounting ne 'basic';
			$joint++;
			sql(<<"END");
CALL race_release_sketch('choice$n', 't$n', 'l2(dims=2, rows=8, range=16)', 'x', 2, 1e-6, label => 'town');
CREATE TABLE u$n (LIKE t$n INCLUDING ALL);
INSERT INTO u$n TABLE t$n;
CALL race_protect('u$n', 'u$n', 50, 1e-3, unit_column => 'person', neighbors => '$neighbors', max_contributions => 10);
CALL race_release('joint$n', 'u$n', '{town}', 2, 1e-6);
CALL race_release('joint two$n', 'u$n', '{town,age}', 0.3, 1e-4);
END
		}
	}
}
$answers{ledger} = answers('ledger', 0);
is_deeply([wrong($answers{ledger})], [$n + $joint, 0], 'charges are what was asked, and budgets are their sums');

# controls
for my $control (['cost', 'cheap', 0.5], ['cost', 'share', 0.9], ['sum', 'most', 0.8], ['ledger', 'most', 0.9], ['share', 'share', 0.9]) {
	my ($kind, $mistake, $part) = @$control;
	my ($answers, $wrong) = wrong($answers{$kind}, $mistake);
	cmp_ok($wrong, '>', $part * $answers, "control: of $kind an accountant that makes the mistake \"$mistake\" disagrees");
}
done_testing();
