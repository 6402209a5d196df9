# The audit of what is chosen from private data: labels that nobody has listed, and bounds that nobody knows.
#
# Each label of a release is a trial, that it passes or not.  Labels have one, two or three persons, and each of these one
# label; other persons have ten labels each that nobody else has, of which max_contributions lets four in.  The share of
# epsilon and delta that a choice has makes the bounds almost equalities: one person more costs e^(epsilon / 4) and
# delta / 4 in each of four labels.
#
# Where a person may have many labels, noise is Gaussian, and the noisy numbers of labels that pass are published.  The audit
# looks at their deviation, which must be what is recorded, and at how often labels of one person pass; the control is how often
# labels do that have as many persons as the threshold.
#
# Where persons have several records of a label, 16 numbers of persons with noise add up to that of records.  Their sum is combined
# with a table, which has much more noise, so the variance is 16 times that of a number, or less by a part; the control is one time.
#
# Six or seven persons have three numbers each far beyond all others, of which two count.  The last of three readings for bounds,
# with three quarters of epsilon, counts them, and the upper bound tells whether they are more than noise.  (The others see all
# numbers near 0.)
#
# False alarms: 7 bounds of 2 probabilities at 1e-12 each, and |z| < 7.5 three times, 2e-13: 1.5e-11 a run of this file (all tests: 030_audit.pl).
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use ClopperPearson qw(probability_at_least probability_at_most);
use RaceServer;

use constant {
	ALPHA => 1e-12,
	CONTRIBUTIONS => 4,
	EPSILON => 8,				# of the choice: half of that of the release
	DELTA => 0.0585,			# half of it
	OWN => 60,					# persons with labels of their own
	LABELS => 130,				# of each other kind
	TABLES => 4,				# each has a budget, of a delta below 1
	GAUSSIAN_EPSILON => 1,
	GAUSSIAN_DELTA => 0.02,
	GAUSSIAN_CALLS => 40,
	CALLS => 28,				# of all tables
	SEARCHES => 400,
	REACH => 3,					# epsilon of the last reading
};

sql(<<"END");
CREATE TABLE labels AS
SELECT i AS person, 'own ' || i || ' ' || k AS label FROM generate_series(1, @{[OWN]}) i, generate_series(1, 10) k
UNION ALL SELECT n * 10000 + i * 10 + p, n || ' ' || i
FROM generate_series(1, 3) n, generate_series(1, @{[LABELS]}) i, generate_series(1, n) p, generate_series(1, 5);
DO \$\$
BEGIN
	FOR t IN 0 .. @{[TABLES - 1]} LOOP
		EXECUTE format('CREATE TABLE visits%s AS SELECT * FROM labels', t);
		CALL race_protect('visits' || t, epsilon_limit => 100000, delta_limit => 0.99, unit_column => 'person', max_contributions => @{[CONTRIBUTIONS]});
	END LOOP;
	COMMIT;
	FOR i IN 1 .. @{[CALLS]} LOOP
		CALL race_release_sketch('visits ' || i, 'visits' || i % @{[TABLES]}, 'l2(dims=1, rows=1, range=2)', 'ARRAY[1]', 2 * @{[EPSILON]}, 2 * @{[DELTA]}, label => 'label');
	END LOOP;
END \$\$
END

# How many labels with so many persons pass, in all releases
my %passed = map { $_ => sql("SELECT count(*) FROM _racepriv.race_releases WHERE label LIKE '$_ %'") } 1 .. 3;
# persons of whose own labels at least one passes, in each release
my $own = sql("SELECT count(DISTINCT name || split_part(label, ' ', 2)) FROM _racepriv.race_releases WHERE label LIKE 'own %'");

sub at_least { return probability_at_least($_[0], LABELS * CALLS, ALPHA) }
sub at_most { return probability_at_most($_[0], LABELS * CALLS, ALPHA) }

# The most that a label may pass with one person more
sub allowed {
	my ($passed) = @_;
	return exp(EPSILON / CONTRIBUTIONS) * at_most($passed) + DELTA / CONTRIBUTIONS;
}

cmp_ok(probability_at_least($own, OWN * CALLS, ALPHA), '<=', DELTA, "labels of one person pass, one of four, at most with delta: $own");
cmp_ok(at_least($passed{2}), '<=', allowed($passed{1}), "the second person costs at most epsilon and delta: $passed{1}, $passed{2}");
cmp_ok(at_least($passed{3}), '<=', allowed($passed{2}), "so does the third: $passed{3}");
cmp_ok(at_least($passed{3}), '>', allowed($passed{1}), 'control: two more persons cost more');

# Gaussian noise: labels of 300 persons, of as many as the threshold, and of one, of whom each has 16
sql(<<"END");
CREATE TABLE often AS SELECT p AS person, 'many ' || k AS label FROM generate_series(1, 300) p, generate_series(1, 16) k
UNION ALL SELECT 1000 + p, 'own ' || p || ' ' || k FROM generate_series(1, @{[OWN]}) p, generate_series(1, 16) k;
CREATE UNIQUE INDEX ON often (person, label);
CALL race_protect('often', epsilon_limit => 100000, delta_limit => 0.99, unit_column => 'person', max_contributions => 16);
END
my $least = sql("SELECT expected FROM race_plan('often', '{label}', @{[GAUSSIAN_EPSILON]}, @{[GAUSSIAN_DELTA]}) WHERE unit = 'persons'");
sql(<<"END");
INSERT INTO often SELECT 10000 * k + p, 'half ' || k FROM generate_series(1, 16) k, generate_series(1, $least) p;
DO \$\$
BEGIN
	FOR i IN 1 .. @{[GAUSSIAN_CALLS]} LOOP
		CALL race_release('often ' || i, 'often', '{label}', @{[GAUSSIAN_EPSILON]}, @{[GAUSSIAN_DELTA]});
	END LOOP;
END \$\$
END
my ($n, $mean, $square, $error, $half, $alone) = split /\|/, sql(<<'END');
WITH numbers AS (SELECT name, c.label, p.persons::float8 AS persons, (domains->0->>'persons_error')::float8 AS error
	FROM race_catalog, jsonb_array_elements_text(domains->0->'categories') WITH ORDINALITY c (label, place),
		jsonb_array_elements_text(domains->0->'persons') WITH ORDINALITY p (persons, place)
	WHERE name LIKE 'often %' AND c.place = p.place)
SELECT count(*) FILTER (WHERE label LIKE 'many %'), avg(persons - 300) FILTER (WHERE label LIKE 'many %'), avg((persons - 300) ^ 2) FILTER (WHERE label LIKE 'many %'),
	max(error), count(*) FILTER (WHERE label LIKE 'half %'), count(DISTINCT name || split_part(label, ' ', 2)) FILTER (WHERE label LIKE 'own %') FROM numbers
END
my $trials = 16 * GAUSSIAN_CALLS;
is($n, $trials, 'Gaussian: labels of many persons pass');
cmp_ok(abs($mean) / $error * sqrt($trials), '<', 7.5, sprintf 'their numbers are noisy by %.2f in the mean', $mean);
cmp_ok(abs($square / $error**2 - 1) * sqrt($trials / 2), '<', 7.5, sprintf 'the variance of the noise is as recorded: %.2f, %.2f', $square, $error**2);
cmp_ok(abs(2 * $square / $error**2 - 1) * sqrt($trials / 2), '>', 7.5, 'control: half of the variance is seen');
cmp_ok(probability_at_least($alone, OWN * GAUSSIAN_CALLS, ALPHA), '<=', GAUSSIAN_DELTA / 2, "labels of one person pass, one of 16, at most with half of delta: $alone");
cmp_ok(probability_at_least($half, $trials, ALPHA), '>', GAUSSIAN_DELTA, "control: labels with as many persons as the threshold pass: $half");

# The same of 8 labels of which each person has two records
sql(<<"END");
CREATE TABLE several AS SELECT p AS person, 'many ' || k / 2 AS label FROM generate_series(1, 300) p, generate_series(0, 15) k;
CALL race_protect('several', epsilon_limit => 100000, delta_limit => 0.99, unit_column => 'person', max_contributions => 16);
DO \$\$
BEGIN
	FOR i IN 1 .. @{[GAUSSIAN_CALLS]} LOOP
		CALL race_release('several ' || i, 'several', '{label}', @{[GAUSSIAN_EPSILON]}, @{[GAUSSIAN_DELTA]});
	END LOOP;
END \$\$
END
($n, $mean, $square, $error) = split /\|/, sql(<<'END');
SELECT count(*), avg(c.count - 600), avg((c.count - 600) ^ 2), max((domains->0->>'persons_error')::float8)
FROM race_catalog r, race_crosstab(r.name, 'label') c WHERE r.name LIKE 'several %' AND c.value1 LIKE 'many %'
END
is($n, $trials / 2, 'several records: labels of many persons pass');
cmp_ok(abs($mean) / $error / 4 * sqrt($trials / 2), '<', 7.5, sprintf 'numbers of records are noisy by %.2f in the mean', $mean);
my $part = $square / $error**2 / 16;
cmp_ok($part, '<', 1 + 7.5 * sqrt(4 / $trials), sprintf 'their variance is at most that of 16 numbers: %.2f of it', $part);
cmp_ok($part, '>', 0.8 * (1 - 7.5 * sqrt(4 / $trials)), '... and not much less');
cmp_ok($part * 16, '>', 1 + 7.5 * sqrt(4 / $trials), 'control: that of one number is less');

# How often bounds reach out to so many persons
sub reached {
	my ($persons) = @_;
	sql(<<"END");
CREATE TABLE far$persons AS SELECT i AS person, CASE WHEN i <= $persons THEN 2.0 ^ 40 ELSE i % 10 END AS x
FROM generate_series(1, 150) i;
INSERT INTO far$persons SELECT f.* FROM far$persons f, generate_series(1, 2);
CALL race_protect('far$persons', epsilon_limit => 100000, unit_column => 'person', max_contributions => 2);
DO \$\$
BEGIN
	FOR i IN 1 .. @{[SEARCHES]} LOOP
		CALL race_describe('far$persons', 'x', bounds => 'private', epsilon => @{[REACH * 4 / 3]});
		CALL race_describe('far$persons', 'x');
	END LOOP;
END \$\$
END
	return sql("SELECT count(*) FROM _racepriv.race_descriptions WHERE dataset = 'far$persons' AND upper > 2 ^ 39");
}

my %reached = map { $_ => reached($_) } 6, 7;
sub reach_bound {
	my ($less, $more) = @_;
	return log(probability_at_least($reached{$more}, SEARCHES, ALPHA) / probability_at_most($reached{$less}, SEARCHES, ALPHA));
}
cmp_ok(reach_bound(6, 7), '<=', REACH, "bounds: the seventh person costs at most epsilon: $reached{6}, $reached{7}");
cmp_ok(reach_bound(6, 7), '>', REACH / 5, 'bounds: she costs a fifth of it at least, so the audit sees what it should');
done_testing();
