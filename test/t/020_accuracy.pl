# Estimates against exact sums in SQL, on data that this test makes: three
# clusters of byte values in three columns, and two classes.
#
# Seeds are fixed and the exact sketch has no noise, so its errors are what they
# are.  Errors of private estimates are averages over thousands of noisy
# counters; the bounds lie far above what was measured (in brackets), more than
# 10 standard deviations of such an average, so that a false alarm is out of
# the question at 1e-9 a run.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use Test::More;

sql(<<'END');
CREATE TABLE records AS
SELECT id, ARRAY[c * 60 + 12 * n1, 200 - c * 50 + 15 * n2, c * 20 + 9 * n3]::float8[] AS x
FROM (SELECT i AS id, i % 3 AS c,
             sin(i * 0.917) + sin(i * 0.331) AS n1, sin(i * 0.543) + cos(i * 0.729) AS n2,
             cos(i * 0.411) + sin(i * 1.313) AS n3
      FROM generate_series(1, 60000) i) v;
CREATE TABLE queries AS SELECT * FROM records WHERE id % 600 = 0;
DELETE FROM records WHERE id % 600 = 0;
CREATE TABLE truth AS
SELECT q.id, q.x, avg(race_kernel('l2(bandwidth=5)', r.x, q.x)) AS k
FROM queries q, records r GROUP BY q.id, q.x;
CREATE TABLE sketches AS
SELECT sequence, seed, (SELECT race_build(race_params('l2', 3, 5, sequence => sequence, seed => seed), x) FROM records) AS s
FROM unnest('{sobol,independent}'::text[]) sequence, generate_series(1, 4) seed;
END

sub error_of {
	my ($sequence, $sketch) = @_;
	return sql("SELECT avg(abs(race_kde(s, x) / k - 1)) FROM truth, (SELECT $sketch AS s "
		  . "FROM sketches WHERE sequence = '$sequence' OFFSET 0) v");
}

my %bound = (
	sobol => [0.015, 0.030],    # [0.008, 0.016]
	independent => [0.040, 0.050]);    # [0.027, 0.030]
for my $sequence (sort keys %bound) {
	my ($exact, $private) = @{ $bound{$sequence} };
	cmp_ok(error_of($sequence, 's'), '<', $exact, "$sequence rows, exact: mean relative error");
	cmp_ok(error_of($sequence, 'race_privatize(s, 1, rows => 1024)'),
		'<', $private, "$sequence rows, epsilon 1: mean relative error");
	cmp_ok(error_of($sequence, 'race_privatize(s, 0.01, rows => 1024)'),
		'>', 2 * $private, "$sequence rows, a control: epsilon 0.01 is much worse");
}

# Intervals hold the truth about as often as they say: the measured coverage of
# 95 % intervals is 0.95 to 0.99, so below 0.85 they would be wrong.
my $coverage = sql(<<'END');
SELECT avg((k BETWEEN (e).lower AND (e).upper)::int)
FROM truth, (SELECT race_privatize(s, 1, rows => 512) AS p FROM sketches OFFSET 0) v, LATERAL (SELECT race_estimate(p, x) AS e OFFSET 0) w
END
cmp_ok($coverage, '>', 0.85, 'coverage of 95 % intervals');
my $narrow = sql(<<'END');
SELECT avg((k BETWEEN (e).lower AND (e).upper)::int)
FROM truth, (SELECT race_privatize(s, 1, rows => 512) AS p FROM sketches OFFSET 0) v, LATERAL (SELECT race_estimate(p, x, 0.1) AS e OFFSET 0) w
END
cmp_ok($narrow, '<', 0.4, 'a control: 10 % intervals cover less');

# Power 2 goes through the rehash and its correction
is(sql(<<'END'), 't', 'power 2: rehashed and corrected');
SELECT avg(abs(race_kde(s, x) / k - 1)) < 0.1
FROM (SELECT race_build('l2(dims=3, bandwidth=10, power=2, range=64)', x) AS s FROM records) v,
     (SELECT q.x, avg(race_kernel('l2(bandwidth=10, power=2)', r.x, q.x)) AS k
      FROM queries q, records r WHERE q.id % 6000 = 0 GROUP BY q.x) t
END

# A classifier: clusters 0 and 2 against cluster 1
sql(<<'END');
CREATE TABLE classes AS
SELECT id % 3 = 1 AS label, race_privatize(race_build('l2(dims=3, bandwidth=20)', x), 1, rows => 64) AS s
FROM records GROUP BY 1;
END
my $accuracy = sql(<<'END');
SELECT avg((winner = (id % 3 = 1))::int) FROM (
	SELECT id, race_classify(label, s, x) AS winner FROM queries, classes GROUP BY id) v
END
cmp_ok($accuracy, '>', 0.95, 'private classifier at epsilon 1: accuracy');

done_testing();
