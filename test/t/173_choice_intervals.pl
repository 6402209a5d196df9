# Intervals of chosen categories, of which the numbers that passed are measurements: large noise passes more often.
#
# Of a made Zipf table, in 100 releases: intervals of 95 % hold .92 of all, and .85 of those whose number is within two deviations of the
# least that passes, and of words of fewer persons than that.
#
# Control: without the lower end of what passed, intervals of those words do not hold.
#
# The same of a table in which persons have words several times, whose numbers add up to those of records; its control are intervals
# half as wide.
#
# False alarms: noise of words is independent.  Intervals held .957 of 2,792, .988 of 866 and .980 of 320, and the control .384 of 320; of
# several records .963 of 1,881, .974 of 665 and .93 of 151: binomial distributions are beyond these limits in less than 1e-12 together.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceServer;

sql(<<'END');
CREATE TABLE zipf AS SELECT k * 1000 + p AS person, 'word ' || k AS word FROM generate_series(1, 120) k, generate_series(1, 600 / k) p;
CREATE UNIQUE INDEX ON zipf (person);
INSERT INTO zipf SELECT 1000000 + k * 1000 + p, $$few $$ || k FROM generate_series(1, 60) k, generate_series(1, 18) p;
CREATE TABLE several AS SELECT z.* FROM zipf z, generate_series(1, 1 + z.person % 5);
CREATE TABLE truth AS SELECT 'zipf' AS name, word, count(*) AS n, count(*) AS persons FROM zipf GROUP BY 2
	UNION ALL SELECT 'several', word, count(*), count(DISTINCT person) FROM several GROUP BY 2;
CALL race_protect('zipf', epsilon_limit => 100000, delta_limit => 0.9, unit_column => 'person', max_contributions => 1);
CALL race_protect('several', epsilon_limit => 100000, delta_limit => 0.9, unit_column => 'person', max_contributions => 5);
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		CALL race_release('zipf ' || i, 'zipf', '{word}', 0.5, 1e-5);
		CALL race_release('several ' || i, 'several', '{word}', 1.5, 1e-5);
	END LOOP;
END $$;
CREATE TABLE crosstabs AS SELECT r.name, c.value1 AS word, c.count, c.lower, c.upper FROM race_catalog r, race_crosstab(r.name, 'word') c;
CREATE TABLE answers AS SELECT t.name, c.name AS release, c.word, t.n, t.persons AS true_persons, c.count, c.lower, c.upper, (p.persons)::float8 AS persons,
	(domains->0->>'persons_least')::float8 AS least, (domains->0->>'persons_error')::float8 AS error
FROM race_catalog r, jsonb_array_elements_text(domains->0->'categories') WITH ORDINALITY l (word, place),
	jsonb_array_elements_text(domains->0->'persons') WITH ORDINALITY p (persons, place), crosstabs c, truth t
WHERE p.place = l.place AND c.name = r.name AND c.word = l.word AND t.word = l.word AND r.name LIKE t.name || ' %';
END
my ($all, $near, $few, $control, $alike) = split /\|/, sql(<<'END');
SELECT avg((n BETWEEN lower AND upper)::int), avg((n BETWEEN lower AND upper)::int) FILTER (WHERE persons < least + 2 * error),
	avg((n BETWEEN lower AND upper)::int) FILTER (WHERE n <= least - error),
	avg((n >= 2 * count - upper)::int) FILTER (WHERE n <= least - error),
	(SELECT bool_and(w.lower = a.lower) FROM answers a, race_count(a.release, jsonb_build_object('word', a.word)) w WHERE a.release IN ('zipf 1', 'zipf 2'))
FROM answers WHERE name = 'zipf'
END
cmp_ok($all, '>=', 0.92, sprintf 'intervals of chosen categories hold %.3f', $all);
cmp_ok($near, '>=', 0.85, sprintf '... near the least number that passes %.3f', $near);
cmp_ok($few, '>=', 0.85, sprintf '... of those of fewer persons %.3f', $few);
cmp_ok($control, '<', 0.85, sprintf 'control: without what passing tells %.3f', $control);
is($alike, 't', 'race_count answers as race_crosstab does');

($all, $near, $few, $control) = split /\|/, sql(<<'END');
SELECT avg((n BETWEEN lower AND upper)::int), avg((n BETWEEN lower AND upper)::int) FILTER (WHERE persons < least + 2 * error),
	avg((n BETWEEN lower AND upper)::int) FILTER (WHERE true_persons <= least - error),
	avg((n BETWEEN (count + lower) / 2 AND (count + upper) / 2)::int) FROM answers WHERE name = 'several'
END
cmp_ok($all, '>=', 0.92, sprintf 'several records of a word: intervals hold %.3f', $all);
cmp_ok($near, '>=', 0.85, sprintf '... near the least number that passes %.3f', $near);
cmp_ok($few, '>=', 0.70, sprintf '... of those of fewer persons %.3f', $few);
cmp_ok($control, '<', 0.85, sprintf 'control: intervals half as wide hold %.3f', $control);
done_testing();
