# Intervals of chosen categories, of which the numbers that passed are measurements: large noise passes more often.
#
# Of a made Zipf table, in 100 releases: intervals of 95 % hold .93 of all, and .85 of those whose number is within two deviations of the
# least that passes, and of words of fewer persons than that.
#
# Control: without the lower end of what passed, intervals of those words do not hold.
#
# False alarms: noise of words is independent.  Intervals held .969 of 3,263, .996 of 1,093 and .975 of 571, and the control .699 of 571:
# limits are 10 deviations of a binomial distribution off for all, 7.9 for the control, more for others; below 1e-9.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceServer;

sql(<<'END');
CREATE TABLE zipf AS SELECT k * 1000 + p AS person, 'word ' || k AS word FROM generate_series(1, 120) k, generate_series(1, 600 / k) p;
CREATE UNIQUE INDEX ON zipf (person);
INSERT INTO zipf SELECT 1000000 + k * 1000 + p, $$few $$ || k FROM generate_series(1, 60) k, generate_series(1, 18) p;
CREATE TABLE truth AS SELECT word, count(*) AS n FROM zipf GROUP BY 1;
CALL race_protect('zipf', epsilon_limit => 100000, delta_limit => 0.9, unit_column => 'person');
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		CALL race_release('zipf ' || i, 'zipf', '{word}', 0.5, 1e-5);
	END LOOP;
END $$;
CREATE TABLE crosstabs AS SELECT r.name, c.value1 AS word, c.count, c.lower, c.upper FROM race_catalog r, race_crosstab(r.name, 'word') c;
CREATE TABLE answers AS SELECT c.*, t.n, (p.persons)::float8 AS persons, (domains->0->>'persons_least')::float8 AS least, (domains->0->>'persons_error')::float8 AS error
FROM race_catalog r, jsonb_array_elements_text(domains->0->'categories') WITH ORDINALITY l (word, place),
	jsonb_array_elements_text(domains->0->'persons') WITH ORDINALITY p (persons, place), crosstabs c, truth t
WHERE p.place = l.place AND c.name = r.name AND c.word = l.word AND t.word = l.word;
END
my ($all, $near, $few, $control, $alike) = split /\|/, sql(<<'END');
SELECT avg((n BETWEEN lower AND upper)::int), avg((n BETWEEN lower AND upper)::int) FILTER (WHERE persons < least + 2 * error),
	avg((n BETWEEN lower AND upper)::int) FILTER (WHERE n <= least - error),
	avg((n >= 2 * count - upper)::int) FILTER (WHERE n <= least - error), (SELECT bool_and(w.lower = a.lower) FROM answers a, race_count(a.name, jsonb_build_object('word', a.word)) w WHERE a.name IN ('zipf 1', 'zipf 2')) FROM answers
END
cmp_ok($all, '>=', 0.93, sprintf 'intervals of chosen categories hold %.3f', $all);
cmp_ok($near, '>=', 0.85, sprintf '... near the least number that passes %.3f', $near);
cmp_ok($few, '>=', 0.85, sprintf '... of those of fewer persons %.3f', $few);
cmp_ok($control, '<', 0.85, sprintf 'control: without what passing tells %.3f', $control);
is($alike, 't', 'race_count answers as race_crosstab does');
done_testing();
