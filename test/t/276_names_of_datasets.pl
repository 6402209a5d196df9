# A dataset names its unit column and its public tables.  Where such a name has passed to another column or table since, a
# release is refused with 55000, and nothing is charged: it would protect somebody else, or read a private table as a public one.
# A public table that its owner has made anew with the same columns is public when she says so: a private table may have been renamed.
# Then a series that was paid for goes on.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceServer;

sql(<<'END');
CREATE TABLE visits AS SELECT i AS person, i % 3 AS other, i % 10 AS x, date '2026-01-01' + i % 2 AS day FROM generate_series(1, 300) i;
CREATE TABLE names AS SELECT i AS k, i AS w FROM generate_series(0, 9) i;
CREATE VIEW seen AS SELECT person, other, x, w, day FROM visits JOIN names ON names.k = visits.x;
CALL race_protect('visits', epsilon_limit => 100, unit_column => 'person', max_contributions => 1, columns => '{"x": [0, 9]}');
CALL race_protect('seen', epsilon_limit => 100, unit_column => 'person', max_contributions => 1, public_tables => '{names}', columns => '{"x": [0, 9]}');
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
refused('a public table', 'ALTER TABLE names RENAME TO old_names; CREATE TABLE names AS TABLE old_names; CREATE OR REPLACE VIEW seen AS SELECT person, other, x, w, day FROM visits JOIN names ON names.k = visits.x',
	'CREATE OR REPLACE VIEW seen AS SELECT person, other, x, w, day FROM visits JOIN old_names ON old_names.k = visits.x; DROP TABLE names; ALTER TABLE old_names RENAME TO names',
	qr/public table "public.names" of dataset "seen" is another table now/, "CALL race_release_next('seen')", "CALL race_release('more', 'seen', '{x}', 1)");
is(sql($spent), 2, 'nothing was charged');
sql("CALL race_release_next('visits'); CALL race_release_next('seen')");
is(sql($spent), 4, 'put back, releases go on');

# what keeps its meaning
sql('ALTER TABLE visits RENAME other TO another; ALTER TABLE visits ADD z int; ALTER TABLE visits RENAME TO calls');
sql("CALL race_release_next('visits'); CALL race_release_next('seen')");
is(sql($spent), 6, 'a table that is renamed, and other columns');

# ------------------------------------------------- a public table is made anew

sql(q(CALL race_release('days', 'seen', '{x}', 1, series => '{"by": "day", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-03"}')));
my $stranger = "stranger_$$";
my $made = 'AS SELECT i AS k, i AS w FROM generate_series(0, 9) i';
my $table = quotemeta 'public table "public.names" of dataset "seen" is another table now';
# while there is none, the view reads none
sub remake {
	my (@statements) = @_;
	return join '; ', 'CREATE OR REPLACE VIEW seen AS SELECT person, another AS other, x, NULL::int AS w, day FROM calls; DROP TABLE names', @statements, 'CREATE OR REPLACE VIEW seen AS SELECT person, another AS other, x, w, day FROM calls JOIN names ON names.k = calls.x';
}
my @calls = ("CALL race_release_next('days')", "CALL race_release_next('seen')", "CALL race_release('more', 'seen', '{x}', 1)");
# a function of a policy of hers must not run with the rights of the owner
sql("CREATE ROLE $stranger; CREATE SEQUENCE runs; GRANT USAGE ON SEQUENCE runs TO PUBLIC; GRANT CREATE ON SCHEMA public TO $stranger");
refused('a public table of others', remake("SET ROLE $stranger", "CREATE TABLE names $made",
		q(CREATE FUNCTION deed() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM nextval($$runs$$); RETURN true; END'),
		'ALTER TABLE names ENABLE ROW LEVEL SECURITY', 'ALTER TABLE names FORCE ROW LEVEL SECURITY', 'CREATE POLICY p ON names USING (deed())', 'GRANT SELECT ON names TO PUBLIC', 'RESET ROLE'),
	'SELECT 1', $table, @calls);
is(sql('SELECT is_called FROM runs'), 'f', 'nothing of hers ran');
refused('another table', remake("CREATE TABLE names (k int, w text)") =~ s/x, w, day/x, w::int, day/r, 'SELECT 1', $table, @calls);
refused('another column', remake("CREATE TABLE names (k int, w int, note text)"), 'SELECT 1', $table, @calls);
is(sql($spent), 7, 'nothing was charged');
sql("CREATE TABLE kept $made; CALL race_protect('kept', 'kept', epsilon_limit => 1)");
sql(remake('ALTER TABLE kept RENAME TO names'));
like(sql_fails($_), qr/ERROR:  22023: a table that has a budget cannot be public/, "a table that has a budget: $_") for @calls;
for my $remade ("CREATE TABLE names $made", "CREATE TABLE hidden $made; ALTER TABLE hidden RENAME TO names") {
	sql(remake($remade));
	like(sql_fails($_), qr/ERROR:  55000: $table\nDETAIL:  .*has the same columns.*\nHINT:  .*CALL race_budget_adopt\('seen'\)\.|ERROR:  55000: .*\nHINT:  .*CALL race_budget_adopt\('days'\)/, "$remade: $_") for @calls;
}
is(sql($spent), 7, 'nothing was charged');
like(sql_fails("SET client_min_messages = notice; CALL race_budget_adopt('seen')"), qr/NOTICE: .*public table "public.names" was made anew/, 'its owner says that it is public');
sql($_) for @calls;
is(sql('SELECT count(*) FROM race_versions($$days$$)'), 2, 'then a series that was paid for goes on');
is(sql($spent), 9, 'and other releases do');
sql('ALTER TABLE calls RENAME person TO was; ALTER TABLE calls RENAME another TO person');
refused('adopting does not change the unit column', "CALL race_budget_adopt('seen')", 'ALTER TABLE calls RENAME person TO another; ALTER TABLE calls RENAME was TO person', qr/unit column "person"/, "CALL race_release_next('visits')");
sql("DROP OWNED BY $stranger; DROP ROLE $stranger");
done_testing();
