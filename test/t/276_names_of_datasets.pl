# A dataset names its unit column and its public tables.  Where such a name has passed to another column or table since, a
# release is refused with 55000, and nothing is charged: it would protect somebody else, or read a private table as a public one.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceServer;

sql(<<'END');
CREATE TABLE visits AS SELECT i AS person, i % 3 AS other, i % 10 AS x FROM generate_series(1, 300) i;
CREATE TABLE names AS SELECT i AS k, i AS w FROM generate_series(0, 9) i;
CREATE VIEW seen AS SELECT person, other, x, w FROM visits JOIN names ON names.k = visits.x;
CALL race_protect('visits', epsilon_limit => 100, unit_column => 'person', columns => '{"x": [0, 9]}');
CALL race_protect('seen', epsilon_limit => 100, unit_column => 'person', public_tables => '{names}', columns => '{"x": [0, 9]}');
CALL race_release('visits', 'visits', '{x}', 1);
CALL race_release('seen', 'seen', '{x}', 1);
END
my $spent = 'SELECT sum(spent_epsilon) FROM _racepriv.race_budgets';
is(sql($spent), 2, 'two releases');

sub refused {
	my ($what, $change, $undo, $message, @calls) = @_;
	sql($change);
	like(sql_fails($_), qr/ERROR:  55000: $message.*\nDETAIL:  .*Nothing was read and nothing charged\.\nHINT:  /, "$what: $_") for @calls;
	sql($undo);
	return;
}

my $column = qr/unit column "person" of dataset "\w+" is another column now/;
refused('columns of a table', 'ALTER TABLE visits RENAME person TO was; ALTER TABLE visits RENAME other TO person', 'ALTER TABLE visits RENAME person TO other; ALTER TABLE visits RENAME was TO person', $column,
	"CALL race_release_next('visits')", "CALL race_release('more', 'visits', '{x}', 1)", "CALL race_describe('visits', 'x', bounds => 'private', epsilon => 1)");
refused('a public table', 'ALTER TABLE names RENAME TO old_names; CREATE TABLE names AS TABLE old_names; CREATE OR REPLACE VIEW seen AS SELECT person, other, x, w FROM visits JOIN names ON names.k = visits.x',
	'CREATE OR REPLACE VIEW seen AS SELECT person, other, x, w FROM visits JOIN old_names ON old_names.k = visits.x; DROP TABLE names; ALTER TABLE old_names RENAME TO names',
	qr/public table "public.names" of dataset "seen" is another table now/, "CALL race_release_next('seen')", "CALL race_release('more', 'seen', '{x}', 1)");
is(sql($spent), 2, 'nothing was charged');
sql("CALL race_release_next('visits'); CALL race_release_next('seen')");
is(sql($spent), 4, 'put back, releases go on');

# what keeps its meaning
sql('ALTER TABLE visits RENAME other TO another; ALTER TABLE visits ADD z int; ALTER TABLE visits RENAME TO calls');
sql("CALL race_release_next('visits'); CALL race_release_next('seen')");
is(sql($spent), 6, 'a table that is renamed, and other columns');
done_testing();
