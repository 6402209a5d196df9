# The audit of what is chosen from private data: labels that nobody has listed, and bounds that nobody knows.
#
# Each label of a release is a trial, that it passes or not.  Labels have one, two or three persons, and each of these one
# label; other persons have ten labels each that nobody else has, of which max_contributions lets four in.  The share of
# epsilon and delta that a choice has makes the bounds almost equalities: one person more costs e^(epsilon / 4) and
# delta / 4 in each of four labels.
#
# Six or seven persons have a number far beyond all others.  The last of three readings for bounds, with three quarters of
# epsilon, counts them, and the upper bound tells whether they are more than noise.  (The others see all numbers near 0.)
#
# False alarms: 5 bounds of 2 probabilities at 1e-12 each, 1e-11 a run of this file (all tests: 030_audit.pl).
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use ClopperPearson qw(probability_at_least probability_at_most);
use RaceServer;

use constant {
	ALPHA => 1e-12,
	CONTRIBUTIONS => 4,
	EPSILON => 8,				# of the choice: a fifth of that of the release
	DELTA => 0.0585,			# half of it
	OWN => 60,					# persons with labels of their own
	LABELS => 130,				# of each other kind
	TABLES => 4,				# each has a budget, of a delta below 1
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
		CALL race_release_sketch('visits ' || i, 'visits' || i % @{[TABLES]}, 'l2(dims=1, rows=1, range=2)', 'ARRAY[1]', 5 * @{[EPSILON]}, 2 * @{[DELTA]}, label => 'label');
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

# How often bounds reach out to so many persons
sub reached {
	my ($persons) = @_;
	sql(<<"END");
CREATE TABLE far$persons AS SELECT i AS person, CASE WHEN i <= $persons THEN 2.0 ^ 40 ELSE i % 10 END AS x
FROM generate_series(1, 150) i;
INSERT INTO far$persons SELECT f.* FROM far$persons f;
CALL race_protect('far$persons', epsilon_limit => 100000, unit_column => 'person');
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
cmp_ok(reach_bound(6, 7), '>', REACH / 3, 'bounds: she costs a third of it at least, so the audit sees what it should');
done_testing();
