# A restore in any order, with any number of jobs, of any part, gives the ledger that was dumped, or one that is refused, with
# the statement that repairs it.  In no case has a table a second budget.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(shuffle);
use RaceCluster;
use Test::More;

my $cluster = RaceCluster->new(wal_level => 'logical', max_worker_processes => 16);
my @tables = qw(race_budgets race_datasets race_budget_tables race_charges race_releases race_descriptions race_series_units);
my $dump = "$cluster->{home}/dump";
my $n = 0;

$cluster->run_here('createdb', 'ra');
$cluster->sql(<<'END', 'ra');
CREATE EXTENSION racepriv_release CASCADE;
CREATE TABLE v AS SELECT i AS p, i % 10 AS x, i % 7 AS y, timestamp '2026-01-01' + i * interval '1 hour' AS at FROM generate_series(1, 100) i;
ALTER TABLE v ALTER x SET NOT NULL, ADD CHECK (x BETWEEN 0 AND 9);
CREATE TABLE w AS TABLE v;
ALTER TABLE w ADD CHECK (x BETWEEN 0 AND 9);
CREATE VIEW seen AS SELECT p, x FROM v;
CALL race_protect('v', epsilon_limit => 10, unit_column => 'p', max_contributions => 1);
CALL race_protect('seen', epsilon_limit => 10, unit_column => 'p', max_contributions => 1);
CALL race_protect('w', epsilon_limit => 3, delta_limit => 1e-6, accounting => 'zcdp', columns => '{"y": [0, 6]}');
CALL race_describe('w', 'x', unit => 'pieces');
CALL race_describe('v', 'y', bounds => 'private', epsilon => 1);
CALL race_release('r', 'v', '{x}', 3);
CALL race_release('r of seen', 'seen', '{x}', 1);
CALL race_release('r of w', 'w', '{x,y}', .1, 1e-7);
CALL race_release_next('r of w');
CALL race_release('s', 'v', '{x}', 1, series => '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-04"}');
CALL race_release('later', 'v', '{x}', 1, series => '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-04"}');
CALL race_release_next('s');
CALL race_budget_limit('v', 9, 0);
END

# All rows of the ledger, as text
sub ledger {
	my ($name) = @_;
	return $cluster->sql(join('', map { "SELECT '$_', md5(t::text), left(t::text, 100) FROM _racepriv.$_ t ORDER BY 2;\n" } @tables), $name);
}

sub spent {
	my ($name) = @_;
	return $cluster->sql("SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'v'", $name) + 0;
}

# pg_restore, which may fail: its messages, and whether it succeeded
sub pg_restore {
	my ($name, @arguments) = @_;
	return $cluster->within(undef, sub { RaceServer::run('', 'pg_restore', '-d', $name, @arguments) });
}

sub new_database {
	my $name = 'rb' . ++$n;
	$cluster->run_here('createdb', $name);
	return $name;
}

my $before = ledger('ra');
cmp_ok(scalar(() = $before =~ /^race_/mg), '>', 20, 'control: there are rows');
is(spent('ra'), 7, 'control: what was spent: 1 + 3 + 1 + 1 + 1');

# What statements print in a session, errors with their SQLSTATE
sub answers {
	my ($name, @statements) = @_;
	my $session = $cluster->session($name);
	$session->ask('\set VERBOSITY verbose');
	return map { $session->ask($_) } @statements;
}

# The whole ledger is there, spends nothing before it is adopted, and then what was left; no table has a second budget.
sub is_whole {
	my ($what, $name) = @_;
	is(ledger($name), $before, "$what: the same ledger");
	my ($copy, @told) = answers($name, "CALL race_release('more', 'v', '{x}', 1)", (map { "CALL race_protect('fresh', '$_', 50)" } qw(v w seen)), (map { "CALL race_budget_adopt('$_')" } qw(v w)),
		"CALL race_release('more', 'v', '{x}', 2.1)", "CALL race_release('more', 'v', '{x}', 1.5); CALL race_release_next('r of w'); CALL race_release_next('later')");
	like($copy, qr/ERROR:  55000: .*another copy/, "$what: is another copy");
	like(shift @told, qr/ERROR:  22023: .*have a budget already/, "$what: no second budget for $_") for qw(v w seen);
	is(join('', splice @told, 0, 2), '', "$what: adopted");
	like(shift @told, qr/ERROR:  53400: .*\nDETAIL:  .*Left: epsilon 2,/, "$what: left is what was left");
	is(shift @told, '', "$what: and that can be released");
	is(spent($name), 8.5, "$what: what is released is charged");
	return;
}

sub test_restore {
	my ($what, @arguments) = @_;
	my $name = new_database();
	my ($told, $good) = pg_restore($name, '-e', @arguments);
	ok($good, "$what: without an error") or diag $told;
	is_whole($what, $name);
	$cluster->run_here('dropdb', $name);
	return;
}

# ------------------------------------------------------- formats, jobs, orders

for my $format (qw(c d)) {
	my $file = "$dump.$format";
	$cluster->run_here('pg_dump', '--no-sync', "-F$format", '-f', $file, 'ra');
	test_restore("-F$format -j$_", "-j$_", $file) for $format eq 'c' ? (1, 2, 8) : (4, 8);
}
$cluster->run_here('pg_dump', '--no-sync', '-Ft', '-f', "$dump.t", 'ra');
test_restore('-Ft', "$dump.t");
$cluster->run_here('pg_dump', '--no-sync', '-f', "$dump.sql", 'ra');
{
	my $name = new_database();
	$cluster->run_here('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.sql", $name);
	is_whole('a dump in plain text', $name);
}

# A list of what is restored, with the data of the ledger in this order, before other data or after it
sub write_list {
	my ($last, @order) = @_;
	my @lines = split /\n/, $cluster->run_here('pg_restore', '-l', "$dump.c");
	my %ours = map { /TABLE DATA _racepriv (\w+)/ ? ($1 => $_) : () } @lines;
	my @data = grep { /TABLE DATA (?!_racepriv)/ } @lines;
	my @ours = map { $ours{$_} } @order;
	my ($first) = grep { $lines[$_] =~ /TABLE DATA/ } 0 .. $#lines;
	my @others = grep { !/TABLE DATA/ } @lines[$first .. $#lines];
	open my $list, '>', "$dump.list" or die "$dump.list: $!";
	print $list "$_\n" for @lines[0 .. $first - 1], $last ? (@data, @ours) : (@ours, @data), @others;
	close $list;
	return;
}

srand 48;
for my $i (1 .. 3) {
	my @order = shuffle @tables;
	write_list($i % 2, @order);
	test_restore("in the order @order", '-L', "$dump.list", "$dump.c");
}
write_list(0, reverse @tables);
test_restore('in the reverse order, with jobs', '-j4', '-L', "$dump.list", "$dump.c");

# ----------------------------------------------------------------- parts of it

{
	my $name = new_database();
	pg_restore($name, '--schema-only', "$dump.c");
	my ($told, $good) = pg_restore($name, '--data-only', '--disable-triggers', '-j4', "$dump.c");
	ok($good, 'data alone, without triggers') or diag $told;
	is_whole('data alone, without triggers', $name);

	# over what is there: errors, and the ledger stays
	my $kept = ledger($name);
	for my $arguments ([], ['-j4'], ['--data-only', '--disable-triggers'], ['--data-only', '--schema=_racepriv']) {
		(undef, $good) = pg_restore($name, @$arguments, "$dump.c");
		ok(!$good && ledger($name) eq $kept, "over what is there, with @$arguments: the ledger that is there stays");
	}
	$cluster->sql("CALL race_release('yet more', 'v', '{x}', 0.5)", $name);
	like($cluster->sql_fails("CALL race_release('too much', 'v', '{x}', 0.1)", $name), qr/ERROR:  53400/, 'and it is right');

	# what is there is dropped first
	($_, $good) = pg_restore($name, '--clean', '--if-exists', "$dump.c");
	ok($good, '--clean --if-exists') or diag $_;
	is_whole('--clean --if-exists', $name);
}
{
	my $name = new_database();
	$cluster->sql('CREATE EXTENSION racepriv_release CASCADE', $name);
	my ($told, $good) = pg_restore($name, '-n', '_racepriv', "$dump.c");
	ok($good, 'the schema of the ledger') or diag $told;
	is(ledger($name), $before, 'the schema of the ledger: the same ledger');
	like($cluster->sql_fails("CALL race_release('more', 'v', '{x}', 1)", $name), qr/ERROR:  42P01: relation "public.v" of dataset "v" does not exist/, 'without the tables');
	pg_restore($name, '-n', 'public', "$dump.c");
	is_whole('the schema of the ledger, then that of the tables', $name);

	$name = new_database();
	pg_restore($name, '-n', 'public', "$dump.c");
	like($cluster->sql_fails("CALL race_protect('v', epsilon_limit => 1)", $name), qr/ERROR:  42883/, 'the schema of the tables alone: there is no extension');
}

# A ledger that is there, of the same tables, and a restore over it: both are there, and no budget is used.
{
	my $name = new_database();
	$cluster->sql("CREATE EXTENSION racepriv_release CASCADE; CREATE TABLE v (p int, x int NOT NULL CHECK (x BETWEEN 0 AND 9), y int, at timestamp); CALL race_protect('v', epsilon_limit => 2, unit_column => 'p', max_contributions => 1)", $name);
	pg_restore($name, "$dump.c");
	like($cluster->sql_fails($_, $name), qr/ERROR:  55000: the ledger cannot be used/, "two ledgers in one: $_")
		for "CALL race_release('more', 'v', '{x}', 1)", "CALL race_protect('fresh', 'v', 2)", "CALL race_budget_adopt('v')";
}

# ------------------------------------------------------------- rows are missing

my @acts = ("CALL race_protect('fresh', 'v', 50)", "CALL race_protect('v', epsilon_limit => 50)", "CALL race_budget_adopt('v')", "CALL race_budget_limit('v', 50, 0)",
	"CALL race_describe('v', 'y', 0, 6)", "CALL race_describe('v', 'p', bounds => 'private', epsilon => 1)", "CALL race_release('more', 'v', '{x}', 1)", "CALL race_release_next('r')", "CALL race_release_next('later')",
	"SELECT race_refreshes_left('r')");
my $refused = qr/ERROR:  55000: the ledger cannot be used: its tables contradict each other\nDETAIL:  .*\nHINT:  A superuser restores .*: pg_restore (--data-only --schema=_racepriv) --dbname='(\w+)' DUMP/;

# Descriptions cost nothing, and releases that are no values of a series are charged anew, if they are lost.
sub test_loss {
	my (@lost) = @_;
	my %lost = map { $_ => 1 } @lost;
	my $name = new_database();
	write_list(0, grep { !$lost{$_} } @tables);
	pg_restore($name, '-e', '-L', "$dump.list", "$dump.c");
	my @told = answers($name, @acts);
	is(scalar(grep { /$refused/ } @told), scalar @acts, "without @lost: each act is refused") or diag @told;
	like($told[0], $refused, "without @lost: the hint");
	is($cluster->sql('SELECT count(*), sum(spent_epsilon) FROM _racepriv.race_budgets', $name), $lost{race_budgets} ? '0|' : '2|7.2', 'nothing is charged');
	my ($options, $database) = $told[0] =~ $refused;
	pg_restore($database, split(/ /, $options), "$dump.c");
	is_whole("without @lost, repaired as the hint says", $name);
	$cluster->run_here('dropdb', $name);
	return;
}
test_loss($_) for grep { $_ ne 'race_descriptions' } @tables;
# what foreign keys lost; and some pairs with the charges
test_loss(qw(race_charges race_datasets race_budget_tables race_descriptions));
test_loss('race_charges', $_) for qw(race_budgets race_releases race_series_units);

# Releases alone: a database of analysts, which answers.  A dataset of theirs has no budget in it.
{
	my $name = new_database();
	write_list(1, 'race_releases');
	pg_restore($name, '-e', '-L', "$dump.list", "$dump.c");
	cmp_ok($cluster->sql("SELECT race_count(race_released('r'))", $name), '>', 0, 'releases alone: answers');
	like($cluster->sql_fails($_, $name), qr/ERROR:  55000: there are releases of dataset "(?:v|seen)", whose charges are not in this ledger\nDETAIL:.*\nHINT:.*pg_restore --data-only --schema=_racepriv --dbname='$name' DUMP/, "releases alone: $_")
		for "CALL race_protect('v', epsilon_limit => 50)", "CALL race_protect('fresh', 'v', 50)", "CALL race_protect('fresh', 'seen', 50)";
	$cluster->sql("CREATE TABLE other (x int); CALL race_protect('other', epsilon_limit => 1)", $name);
}

# ------------------------------------------------- rows that a superuser changes

for my $change (
	["UPDATE _racepriv.race_budgets SET spent_epsilon = spent_epsilon - 1 WHERE budget = 'v'", 'Budget "v" has spent epsilon 6, delta 0, rho .*add up to 7,'],
	["UPDATE _racepriv.race_budgets SET spent_rho = spent_rho + 1e-20 WHERE budget = 'w'", 'Budget "w" has spent'],
	["DELETE FROM _racepriv.race_charges WHERE request->>'name' = 'r'", 'charge [-0-9a-f]+, which is not|Budget "v" has spent'],
	["UPDATE _racepriv.race_charges SET act = 'limit' WHERE request->>'name' = 'r'", 'A release of dataset "v" has charge'],
	["DELETE FROM _racepriv.race_charges WHERE act = 'protect' AND dataset = 'seen'", 'Dataset "seen" has no budget, or no charge'],
	["DELETE FROM _racepriv.race_datasets WHERE dataset = 'seen'", 'dataset "seen"|Dataset "seen" was protected'],
	["DELETE FROM _racepriv.race_budget_tables WHERE table_name = 'public.v'", 'race_budget_tables'],
	["UPDATE _racepriv.race_budget_tables SET budget = 'x' WHERE table_name = 'public.w'", 'Budget "w" has no row in race_budget_tables'],
	["INSERT INTO _racepriv.race_budget_tables SELECT 'public.z', 1, owner, 'z', identity FROM _racepriv.race_budget_tables LIMIT 1", 'Table public.z belongs to budget "z", which is not'],
	["UPDATE _racepriv.race_descriptions SET dataset = 'z' WHERE dataset = 'w'", 'Columns of dataset "z"'],
	["DELETE FROM _racepriv.race_series_units WHERE length = 0", 'Of series "s" 0 values were made'],
	["DELETE FROM _racepriv.race_releases WHERE name = 's' AND version = 3", 'Of series "s" 3 values were made: in race_releases there are 2'],
	["UPDATE _racepriv.race_series_units SET name = 'z'", 'Units of series "z"|Of series "s"'],
	["TRUNCATE _racepriv.race_charges", 'charge|Budget'],
	["TRUNCATE _racepriv.race_budgets", 'budget'])
{
	my ($statement, $detail) = @$change;
	$cluster->sql("CREATE DATABASE changed TEMPLATE ra");
	my ($adopted, $changed, $told) = answers('changed', "CALL race_budget_adopt('v')", "SET session_replication_role = replica; $statement; RESET session_replication_role", "CALL race_release('more', 'v', '{x}', 1)");
	is($adopted . $changed, '', $statement);
	like($told, qr/ERROR:  55000: the ledger cannot be used.*\nDETAIL:  .*(?:$detail)/, "refused: $statement");
	$cluster->run_here('dropdb', 'changed');
}

# One statement sees all at one time: no check of another session fails while charges are committed.
{
	my @sessions = map { $cluster->session('ra') } 1 .. 3;
	$sessions[0]->ask("CALL race_budget_limit('v', 1000, 0)");
	$sessions[$_]->start("DO \$\$ BEGIN FOR i IN 1 .. 15 LOOP CALL race_release('at once $_ ' || i, 'v', '{x}', 0.01); END LOOP; END \$\$;") for 0 .. 2;
	my $fails = 0;
	for (1 .. 30) {
		$fails++ if $cluster->sql_fails("SELECT race_refreshes_left('r') > 0", 'ra') !~ /^no error: t$/;
	}
	is(join('', map { $_->finish } @sessions), '', 'releases of several sessions are made');
	is($fails, 0, 'and no check fails meanwhile');
}

# ---------------------------------------------------------- logical replication

{
	my $name = new_database();
	$cluster->run_here('pg_restore', '--schema-only', '-d', $name, "$dump.c");
	$cluster->sql('CREATE PUBLICATION ledger FOR TABLE ' . join(', ', map { "_racepriv.$_" } @tables), 'ra');
	$cluster->sql("SELECT pg_create_logical_replication_slot('ledger', 'pgoutput')", 'ra');
	$cluster->sql("CREATE SUBSCRIPTION ledger CONNECTION 'host=$cluster->{home} port=$ENV{PGPORT} user=$ENV{PGUSER} dbname=ra' PUBLICATION ledger WITH (create_slot = false, slot_name = 'ledger')", $name);
	$cluster->wait_until("SELECT count(*) = 7 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel", $name);
	is(ledger($name), ledger('ra'), 'logical replication: the same ledger');
	like($cluster->sql_fails("CALL race_release('more', 'v', '{x}', 1)", $name), qr/ERROR:  55000: .*another copy/, 'logical replication: is another copy');
	$cluster->sql("CALL race_budget_adopt('v'); CALL race_release('here', 'v', '{x}', 1)", $name);
	$cluster->sql("CALL race_release('there', 'v', '{x}', 1)", 'ra');
	$cluster->wait_until("SELECT count(*) = 1 FROM _racepriv.race_charges WHERE request->>'name' = 'there'", $name);
	like($cluster->sql_fails("CALL race_release('more', 'v', '{x}', 1)", $name), qr/ERROR:  55000: the ledger cannot be used.*\nDETAIL:  Budget "v" has spent/, 'logical replication: a sum that was overwritten is noticed');
	$cluster->sql("ALTER SUBSCRIPTION ledger DISABLE; ALTER SUBSCRIPTION ledger SET (slot_name = NONE); DROP SUBSCRIPTION ledger", $name);
}

done_testing();
