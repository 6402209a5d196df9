# The audit of 170_release_audit.pl, of the scores of releases that are calibrated: their
# share of epsilon holds for a person with 10 joined rows, of whom max_contributions lets
# two in, also when the rows are read for the second time.
#
# The attacker knows the moments that were released with the scores, and so the score of the
# person's records.  All that follows is conditional on these moments: then the noises of
# the labels are independent.  Scores differ from release to release, and so does the chance
# of a hit; but the tails of a number of hits are within those of a binomial one with the mean
# chance (Hoeffding 1956), and privacy bounds the ratio of the means if it bounds each ratio.
#
# False alarms: 1.0e-11 a run of this file (all tests: 030_audit.pl), 1 audit in 2
# directions of 2 bounds at 2.5e-12.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use EpsilonBound;
use RaceRelease;
use RaceServer;

use constant {
	EPSILON => 20 / 19,		# of the scores
	FALSE_ALARM => 2.5e-12,
	BOUND => 2,
	ROWS => 10,
	PERSONS => 5,
	CELLS => 8,				# of a margin
	CALLS => 800,
	PILOT => 1000,
};
my $labels = join ',', 1 .. 2 * PERSONS;

protect_persons(PERSONS, ROWS, BOUND);

# What a record adds to a grid
my $unit = sql("SELECT encode(_race_sketch_send(race_build('l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={3}, cells={15})', ARRAY[0])), 'hex')");
$unit = (grep { $_ } @{ decode($unit) }[1 .. 16])[0];

# The exact log-likelihood ratio of the scores of a label, but for the rounding of scales
sub llr {
	my ($score, $scores) = @_;
	my $change = sub { abs($_[0]) - abs($_[0] - $_[1]) };
	my $place = $score * CELLS;
	my $share = $place - int $place;
	my $sum = 0.05 * $change->($scores->[COUNT], BOUND);
	$sum += 0.95 * $change->(($scores->[1 + int($place) + $_->[0]] // 0) / $unit, BOUND * $_->[1]) for [0, 1 - $share], [1, $share];
	return sprintf '%.9f', EPSILON / BOUND * $sum;
}

# The function takes constants only.
sql(<<'END');
CREATE FUNCTION score_of(sketches race_sketch[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE score float8;
BEGIN
	EXECUTE format('SELECT _racepriv._race_score_of(%L, ARRAY[40])', sketches) INTO score;
	RETURN score;
END $$
END

# LLRs of labels with nobody, and of those with a person
sub trials {
	my ($dataset, $epsilon, $share) = @_;
	sql(sprintf <<"END", $epsilon, $share);
DO \$\$
BEGIN
	FOR i IN 1 .. @{[CALLS]} LOOP
		CALL race_release_sketch('$dataset %1\$.17g ' || i, '$dataset', race_moment_params('{0}', '{100}', targets => 0), 'ARRAY[x]', %1\$.17g, label => 'id', labels => '{$labels}',
			calibrate => %2\$.17g);
	END LOOP;
END \$\$
END
	return map {
		[map { my ($score, $hex) = split /\|/; llr($score, decode($hex)) } split /\n/, sql(sprintf <<"END", $epsilon)]
WITH r AS (SELECT * FROM _racepriv.race_releases WHERE name LIKE '$dataset %.17g %%'),
s AS MATERIALIZED (SELECT name, score_of(array_agg(sketch ORDER BY part)) AS score FROM r GROUP BY name)
SELECT score, encode(_race_sketch_send(scores), 'hex') FROM r JOIN s USING (name)
WHERE label::int $_ @{[PERSONS]} ORDER BY released_at, part
END
	} '>', '<=';
}

my @bounded = trials('bounded', 2 * EPSILON, 0.5);
is(scalar @{$bounded[$_]}, PERSONS * CALLS, 'as many trials as labels') for 0, 1;
my $recorded = sql(q(SELECT max((race_info(scores)).epsilon) FROM _racepriv.race_releases WHERE dataset = 'bounded'));
cmp_ok($recorded, '<=', EPSILON, 'the recorded epsilon is at most the share');
cmp_ok(sql(q(SELECT max((race_info(sketch)).epsilon + (race_info(scores)).epsilon) FROM _racepriv.race_releases)), '<=', 2 * EPSILON,
	'both together are at most what was asked');
is(sql(sprintf "SELECT spent_epsilon = %d * (%.17g)::float8::text::numeric FROM _racepriv.race_budgets WHERE budget = 'bounded'", CALLS, 2 * EPSILON), 't',
	'and what was asked is charged');
cmp_ok($_, '<=', $recorded, sprintf 'a person with %d rows: epsilon is at least %.3f', ROWS, $_)
	for epsilon_bounds(@bounded, PILOT, FALSE_ALARM);
cmp_ok($_, '>', $recorded, sprintf 'control, rows without a unit: caught, epsilon is at least %.3f', $_)
	for epsilon_bounds(trials('unbounded', 2 * EPSILON, 0.5), PILOT, FALSE_ALARM);
cmp_ok($_, '>', $recorded, sprintf 'mutant, scores with a third of the noise: caught, epsilon is at least %.3f', $_)
	for epsilon_bounds(trials('bounded', 4 * EPSILON, 0.75), PILOT, FALSE_ALARM);
done_testing();
