# The audit of 170_release_audit.pl, of a series: epsilon holds for all values together, for a person with 10 rows in the first
# interval, of whom max_contributions lets two in.  These are in the value of that interval and in one of eight intervals.
#
# The likelihood ratio adds up both values.  Values that had noise for epsilon each would tell twice as much: the control
# is a series at twice the epsilon.
#
# False alarms: 4e-12 a run of this file (all tests: 030_audit.pl), 1 audit in 2 directions of 2 bounds at 1e-12.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(sum);
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,
	FALSE_ALARM => 1e-12,
	RECORDS => 2,
	LENGTHS => 2,
	PERSONS => 1000,
	CALLS => 6,
	PILOT => 1_500,
};
my $params = q('l2(dims=1, rows=1, range=2)');
my $start = sql(q(SELECT timezone('UTC', now())::date - 8));
my $all = 2 * PERSONS;

sql(<<"END");
CREATE TABLE stream AS SELECT i AS id, timestamp '$start 12:00' AS made_at, 40 AS x
FROM generate_series(1, @{[PERSONS]}) i, generate_series(1, 10);
CALL race_protect('stream', epsilon_limit => 1000000, unit_column => 'id', max_contributions => @{[RECORDS]});
END

# The bucket that the records of a person are in
my $exact = decode(sql("SELECT encode(_race_sketch_send(race_add(race_sketch($params\::race_params), ARRAY[40])), 'hex')"));
my ($cell) = grep { $exact->[$_] } 1 .. $#$exact;

# The exact log-likelihood ratio of both values, but for the rounding of scales
sub llr {
	my $change = sub { abs($_[0]) - abs($_[0] - RECORDS) };
	return sprintf '%.9f', EPSILON / LENGTHS / RECORDS *
		sum(map { 0.95 * $change->($_->[$cell]) + 0.05 * $change->($_->[COUNT]) } @_);
}

# LLRs of labels with nobody, and of those with a person
sub trials {
	my ($epsilon) = @_;
	my $labels = join ',', 1 .. $all;
	sql(<<"END");
DO \$\$
BEGIN
	FOR i IN 1 .. @{[CALLS]} LOOP
		CALL race_release_sketch('$epsilon ' || i, 'stream', $params, 'ARRAY[x]', $epsilon, rows => 1, label => 'id', labels => '{$labels}',
			series => jsonb_build_object('by', 'made_at', 'every', '1 day', 'starting', '$start', 'until', date '$start' + 32));
		CALL race_release_next('$epsilon ' || i);
	END LOOP;
END \$\$
END
	return map {
		[map { llr(map { decode($_) } split ' ') } split /\n/, sql(<<"END")]
SELECT string_agg(encode(_race_sketch_send(sketch), 'hex'), ' ' ORDER BY upper(during)) FROM _racepriv.race_releases
WHERE name LIKE '$epsilon %' AND label::int $_ @{[PERSONS]} AND lower(during) = '$start' GROUP BY name, label ORDER BY name, label::int
END
	} '>', '<=';
}

my @values = trials(sprintf '%.17g', EPSILON);
is(scalar @{$values[$_]}, PERSONS * CALLS, 'as many trials as labels') for 0, 1;
is(sql(q(SELECT string_agg(DISTINCT (upper(during) - lower(during))::text, ', ') FROM _racepriv.race_releases)), '1 day, 8 days', 'values have both lengths');
my $recorded = sql(q(SELECT max((race_info(sketch)).epsilon) FROM _racepriv.race_releases));
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most what was asked');
my @bounds = epsilon_bounds(@values, PILOT, FALSE_ALARM);
cmp_ok($_, '<=', $recorded, sprintf 'epsilon is at least %.3f', $_) for @bounds;
cmp_ok($_, '>', $recorded / 3, sprintf 'and more than a third of it: %.3f', $_) for @bounds;
cmp_ok($_, '>', $recorded, sprintf 'control, half the noise: caught, epsilon is at least %.3f', $_)
	for epsilon_bounds(trials(sprintf '%.17g', 2 * EPSILON), PILOT, FALSE_ALARM);
done_testing();
