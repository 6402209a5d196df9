# A copy of the database has the whole ledger, and spends nothing before someone
# says that it, and no other, is to go on: dumps that are restored, templates, a
# standby that is promoted, pg_upgrade.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

my $database = 'hospital';
my $params = 'l2(dims=1, rows=16, range=16)';
my $primary = RaceCluster->new(wal_log_hints => 'on');
$primary->run_here('createdb', $database);
$primary->sql(<<END, $database);
CREATE EXTENSION racepriv_release CASCADE;
CREATE TABLE visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;
CREATE VIEW seen AS TABLE visits;
CREATE TABLE staff AS TABLE visits;
CALL race_protect('visits', 'visits', 4, 1e-6, 'id', 2);
CALL race_protect('seen', 'seen', 4, 1e-6);
CALL race_protect('staff', 'staff', 2, 1e-6, accounting => 'zcdp');
CALL race_release_sketch('sites', 'visits', '$params', 'x', 1, label => 'site', labels => '{0,1}');
CALL race_release_sketch('people', 'seen', '$params', 'x', 1, 1e-7);
CALL race_release_next('people');
CALL race_release_sketch('staff', 'staff', '$params', 'x', 0.5, 1e-7);
CALL race_budget_limit('staff', 1, 1e-6);
CALL race_describe('staff', 'id', 1, 100, unit => 'number');
CALL race_describe('staff', 'site', categories => '{0,1}');
CALL race_describe('staff', 'id', 1, 200, unit => 'number');
CALL race_release('columns', 'staff', '{id,site}', 0.1);
END

# All that must not get lost
sub ledger {
	my ($cluster, $name) = @_;
	return $cluster->sql(<<'END', $name);
SELECT budget, accounting, epsilon_limit, delta_limit, rho_limit, spent_epsilon, spent_delta, spent_rho FROM _racepriv.race_budgets ORDER BY 1;
SELECT charge, budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity FROM _racepriv.race_charges ORDER BY 1;
SELECT name, version, part, label, md5(sketch::text), dataset, charge, released_at, race_domains(sketch) FROM _racepriv.race_releases ORDER BY 1, 2, 3;
SELECT dataset, relation, relation_name, unit_column, max_contributions, neighbors, public_tables, budget FROM _racepriv.race_datasets ORDER BY 1;
SELECT table_name, relation, budget FROM _racepriv.race_budget_tables ORDER BY 1;
SELECT * FROM _racepriv.race_descriptions ORDER BY column_name, revision;
SELECT race_posterior(label, sketch, '{3}'), race_kde(race_released('people'), '{3}'), race_count(race_released('staff')) FROM race_latest_releases WHERE name = 'sites';
END
}

sub release {
	my ($name, $epsilon) = @_;
	return "CALL race_release_sketch('$name', 'visits', '$params', 'x', $epsilon)";
}

sub left {
	my ($cluster, $name) = @_;
	return $cluster->sql("SELECT epsilon_left FROM race_budget_status WHERE budget = 'visits'", $name);
}

my $before = ledger($primary, $database);
my $refused = qr/ERROR:  55000: .*another copy.*\nDETAIL:.*\nHINT:  .*race_budget_adopt/;

# A copy: the ledger is whole, refuses, is adopted, and goes on with what was left
sub test_copy {
	my ($what, $cluster, $name) = @_;
	is(ledger($cluster, $name), $before, "$what: has the whole ledger");
	for my $dataset ('visits', 'seen', 'staff') {
		like($cluster->sql_fails(release('new', 0.1) =~ s/'visits'/'$dataset'/r, $name), $refused, "$what: refuses to release of $dataset");
	}
	like($cluster->sql_fails("CALL race_release_next('people')", $name), $refused, "$what: and to refresh");
	$cluster->sql("CALL race_release_sketch('people', 'seen', '$params', 'x', 1, 1e-7)", $name);
	is(ledger($cluster, $name), $before, "$what: nothing was charged");

	$cluster->sql("CALL race_budget_adopt('seen')", $name);
	is($cluster->sql(<<'END', $name), 'seen|t|t|t', "$what: the adoption is recorded");
SELECT dataset, (request->'identity_before') = to_jsonb(o.identity), a.identity <> o.identity, a.identity = b.identity
FROM _racepriv.race_charges a JOIN _racepriv.race_budgets b USING (budget),
	(SELECT identity FROM _racepriv.race_charges WHERE budget = 'visits' AND act = 'protect' LIMIT 1) o WHERE act = 'adopt'
END
	like($cluster->sql_fails(release('new', 1.1), $name), qr/ERROR:  53400.*\nDETAIL:.*Left: epsilon 1,/, "$what: no more is left than before");
	$cluster->sql(release('new', 0.75), $name);
	is(left($cluster, $name), 0.25, "$what: what is released is charged");
	like($cluster->sql_fails("CALL race_release_sketch('other', 'staff', '$params', 'x', 0.1)", $name), $refused, "$what: another budget is another matter");
	$cluster->sql(qq(CALL race_protect('again', 'visits', 4, 1e-6)), $name);
	is(left($cluster, $name), 0.25, "$what: nor is there more under another name");
}

# ------------------------------------------------------------------ databases

my $dump = "$primary->{home}/dump";
$primary->run_here('pg_dump', '--no-sync', '-Fc', '-f', $dump, $database);

sub restore {
	my ($cluster, $name) = @_;
	$cluster->run_here('createdb', $name);
	$cluster->run_here('pg_restore', '-e', '-d', $name, $dump);
}

restore($primary, 'restored');
test_copy('a restored dump', $primary, 'restored');

$primary->sql("CREATE DATABASE copied TEMPLATE $database");
test_copy('a copied database', $primary, 'copied');

# A copy of a copy, with two adoptions behind it
$primary->run_here('pg_dump', '--no-sync', '-f', "$dump.sql", 'copied');
$primary->run_here('createdb', 'twice');
$primary->run_here('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.sql", 'twice');
is(ledger($primary, 'twice'), ledger($primary, 'copied'), 'a dump of a copy: has the whole ledger');
like($primary->sql_fails(release('newer', 0.1), 'twice'), $refused, 'a dump of a copy: refuses');

# An old dump that replaces the database: what was spent since then is not in it,
# so that someone has to answer for it.
restore($primary, 'replaced');
$primary->sql("CALL race_budget_adopt('visits')", 'replaced');
$primary->run_here('pg_dump', '--no-sync', '-Fc', '-f', "$dump.old", 'replaced');
$primary->sql(release('forgotten', 1), 'replaced');
$primary->sql('DROP EXTENSION racepriv, racepriv_release CASCADE; DROP TABLE visits, staff CASCADE', 'replaced');
$primary->run_here('pg_restore', '-e', '-d', 'replaced', "$dump.old");
is(left($primary, 'replaced'), 1, 'an old dump in place of the database: has what was left then');
like($primary->sql_fails(release('remembered', 1), 'replaced'), $refused, 'an old dump in place of the database: refuses');

$primary->run_here('dropdb', $_) for qw(restored copied twice replaced);

# ------------------------------------------------------------------- clusters

my $standby = RaceCluster->standby($primary);
is(ledger($standby, $database), $before, 'a standby: has the whole ledger, and answers by name');
for my $statement (release('new', 1), "CALL race_release_next('people')") {
	like($standby->sql_fails($statement, $database), qr/ERROR:  25006: .*recovery\n(?:DETAIL.*\n)?HINT:/, "a standby: refuses $statement");
}
for my $statement ("CALL race_budget_adopt('visits')", "CALL race_budget_limit('visits', 9, 0)", "CALL race_protect('again', 'visits', 4, 1e-6)") {
	like($standby->sql_fails($statement, $database), qr/ERROR:  (25006|55000)/, "a standby: refuses $statement");
}

# Right after the promotion, when no checkpoint has made the new timeline known yet
my $checkpointer = $standby->sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
kill 'STOP', $checkpointer;
$standby->run_here('pg_ctl', '-D', $standby->data, '-w', 'promote');
test_copy('a promoted standby', $standby, $database);
is($standby->sql('SELECT timeline_id FROM pg_control_checkpoint()'), 1, 'control: the last checkpoint was before the promotion');
kill 'CONT', $checkpointer;
$standby->stop('fast');

my $other = RaceCluster->new;
restore($other, $database);
test_copy('a dump in another cluster', $other, $database);
$other->stop('fast');

# What was copied goes on where it was.
is(ledger($primary, $database), $before, 'the original is as it was');
$primary->sql("CALL race_release_sketch('original', 'staff', '$params', 'x', 0.01)", $database);
is($primary->sql("SELECT count(*) FROM _racepriv.race_charges WHERE act = 'adopt'", $database), 0, 'and goes on, without adoption');

# A cancel ends the wait for a standby, and the standby lacks the charge: no rows are read for it
my $second = RaceCluster->standby($primary);
$primary->sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
$primary->sql('SELECT pg_reload_conf()');
$primary->wait_until("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
$primary->sql('CHECKPOINT');
$primary->sql("CREATE TABLE guests AS TABLE visits; CALL race_protect('guests', epsilon_limit => 1)", $database);

# Reading writes WAL, too, hints here, for which no commit waits
$primary->sql('CHECKPOINT');
$primary->sql("CALL race_release_sketch('hints', 'guests', '$params', 'x', 0.01)", $database);
is($primary->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = 'hints'", $database), 1, 'a commit that waits for no standby is no error');

my $receiver = $second->sql('SELECT pid FROM pg_stat_wal_receiver');
my $curator = $primary->session($database);
my $of_curator = 'FROM pg_stat_activity WHERE pid = ' . $curator->ask('SELECT pg_backend_pid()');
kill 'STOP', $receiver;
$curator->start('\\set VERBOSITY verbose' . "\nCALL race_release_sketch('canceled', 'guests', '$params', 'x', 0.01);");
$primary->wait_until("SELECT wait_event = 'SyncRep' $of_curator");
$primary->wait_until("SELECT bool_or(state = 'idle') AND count(CASE WHEN wait_event = 'SyncRep' THEN pg_cancel_backend(pid) END) >= 0 $of_curator");
like($curator->finish, qr/ERROR:  57014: a commit of the release may not be on a standby\nDETAIL:.*\nHINT:/, 'a cancel while a charge is not on the standby is an error');
is($curator->ask("SELECT count(*) FROM _racepriv.race_releases WHERE name = 'canceled'"), 0, 'and nothing is released');
is($second->sql("SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = 'canceled'", $database), 0, 'control: the standby has no charge');
kill 'CONT', $receiver;
$primary->sql("CALL race_release_sketch('canceled', 'guests', '$params', 'x', 0.01)", $database);
is($second->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = 'canceled'", $database), 1, 'with the standby, it is');
undef $curator;
$second->stop('fast');
$primary->sql('ALTER SYSTEM RESET synchronous_standby_names');
$primary->sql('SELECT pg_reload_conf()');

$before = ledger($primary, $database);
$primary->stop('fast');
my $upgraded = RaceCluster->new->stop('fast');
my $programs = RaceCluster::command('pg_config', '--bindir');
chdir $upgraded->{home};
$upgraded->run_here('pg_upgrade', '-U', $ENV{PGUSER}, '-b', $programs, '-B', $programs, '-s', $upgraded->{home},
	'-d', $primary->data, '-D', $upgraded->data);
chdir '/';
$upgraded->start;
test_copy('an upgraded cluster', $upgraded, $database);

done_testing();
