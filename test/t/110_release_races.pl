# Many sessions race for the last of a budget, or for one name.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

use constant SESSIONS => 20;
my $params = 'l2(dims=1, rows=16, range=16)';
my @levels = ('read uncommitted', 'read committed', 'repeatable read', 'serializable');
sql('CREATE TABLE visits AS SELECT i AS id, ARRAY[i % 10] AS x FROM generate_series(1, 100) i');
my @sessions = map { RaceSession->new } 1 .. SESSIONS;

# What each of the sessions is told of its statement, when all of them wait for a
# lock on the budgets before any goes on
sub race {
	my ($level, @statements) = @_;
	my $lock = RaceSession->new;
	$lock->ask('BEGIN; SELECT FROM _racepriv.race_budgets FOR UPDATE');
	for my $i (0 .. $#sessions) {
		$sessions[$i]->ask("SET default_transaction_isolation = '$level'");
		$sessions[$i]->start("\\set VERBOSITY verbose\n$statements[$i % @statements]");
	}
	wait_for_locks(SESSIONS);
	$lock->ask('COMMIT');
	return map { $_->finish } @sessions;
}

sub told {
	my ($what, @told) = @_;
	return scalar grep { /$what/ } @told;
}

sub release {
	my ($name, $dataset, $arguments) = @_;
	return "CALL race_release_sketch('$name', '$dataset', '$params', 'x', $arguments)";
}

# ------------------------------------------------------ the last of a budget

# Of what all sessions ask, only so many fit: what a budget is held to, its limits,
# what each asks, and how many fit
my @budgets = (
	['epsilon', '0.3', '0.1', 3],
	['delta', '100, 5e-9', '0.1, 1e-9', 5],
	['rho', "1, 1e-6, accounting => 'zcdp'", '0.1', sql('SELECT floor(_racepriv._race_rho_limit(1, 1e-6) / 0.005)')]);

# The sessions release from a table, and from a view of it, which share a budget.
sub test_last {
	my ($level, $what, $limits, $arguments, $fit) = @_;
	my $name = "$level, $what";
	sql(<<END);
CREATE TABLE "$name" AS TABLE visits;
CREATE VIEW "view, $name" AS TABLE "$name";
CALL race_protect('$name', '"$name"', $limits);
CALL race_protect('view, $name', '"view, $name"', $limits);
END
	my @told = race($level, map { release("$name $_", $_ % 2 ? $name : "view, $name", $arguments) } 1 .. SESSIONS);
	is(told(qr/^$/, @told), $fit, "$name: so many are granted");
	is(told(qr/ERROR:  53400.*\nDETAIL:.*\nHINT:  Ask for what is left, .*Nothing was read/, @told), SESSIONS - $fit, "$name: the others are refused");
	is(sql(<<END), "$fit|$fit|t", "$name: what was granted was charged and stored");
SELECT (SELECT count(*) FROM _racepriv.race_charges WHERE budget = b.budget AND act = 'release'),
	(SELECT count(*) FROM _racepriv.race_releases WHERE name LIKE '$name %'),
	(spent_epsilon, spent_delta, spent_rho) = (SELECT sum(epsilon), sum(delta), sum(rho) FROM _racepriv.race_charges c WHERE c.budget = b.budget)
FROM _racepriv.race_budgets b WHERE budget = '$name'
END
}

cmp_ok($budgets[2][3], '>', 0, 'some fit into rho');
cmp_ok($budgets[2][3], '<', SESSIONS, 'but not all');
for my $level (@levels) {
	test_last($level, @$_) for @budgets;
}

# ------------------------------------------------------------------ one name

sub charges {
	my ($name) = @_;
	return sql("SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = '$name'");
}

sub versions {
	my ($name) = @_;
	return sql("SELECT coalesce(string_agg(version::text, ' ' ORDER BY version), '') FROM _racepriv.race_releases WHERE name = '$name'");
}

sql("CALL race_protect('visits', 'visits', 100000)");
for my $level (@levels) {
	my $name = "name, $level";
	my @told = race($level, release($name, 'visits', 1));
	is(told(qr/^$/, @told), 1, "$level: of one name, one session stores it");
	is(told(qr/ERROR:  42710.*\nDETAIL:  The budget was charged and is not refunded/, @told), SESSIONS - 1, "$level: the others are told that they lost");
	is(charges($name), SESSIONS, "$level: and all have paid");
	is(versions($name), '1', "$level: there is one version");

	@told = map { $_->ask("SET client_min_messages = notice;\n" . release($name, 'visits', 1) . ";\nRESET client_min_messages") } @sessions;
	is(told(qr/NOTICE.*nothing is charged/, @told), SESSIONS, "$level: nobody pays for it again");
	is(charges($name), SESSIONS, "$level: truly");

	@told = race($level, "CALL race_release_next('$name')");
	is(told(qr/^$/, @told), 1, "$level: one session stores the next version");
	is(charges($name), 2 * SESSIONS, "$level: all have paid for it");
	is(versions($name), '1 2', "$level: there are two versions");

	@told = race($level, map { release("$name, mine", 'visits', $_) } 1 .. SESSIONS);
	is(told(qr/^$/, @told), 1, "$level: of different requests of a name, one is stored");
	is(charges("$name, mine"), SESSIONS, "$level: and all are paid");
	is(sql("SELECT count(*), bool_and((race_info(sketch)).epsilon <= epsilon) FROM _racepriv.race_releases JOIN _racepriv.race_charges USING (charge)"
		  . " WHERE name = '$name, mine'"), '1|t', "$level: with the noise that was paid for");
}

# A series, a release that is none and a series of another dataset race for one name: whoever loses it, the ledger goes on.
sql(<<'END');
CREATE TABLE dated AS SELECT i AS id, i % 2 = 0 AS x, date '2026-01-01' + i % 2 AS d FROM generate_series(1, 100) i;
CREATE TABLE others AS TABLE dated;
CALL race_protect('dated', 'dated', 1000);
CALL race_protect('others', 'others', 1000);
END
my $series = q(series => '{"by": "d", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-03"}');
for my $kinds (['a series and a release', "'dated', '{x}', 1, $series", "'dated', '{x}', 1"], ['two series', "'dated', '{x}', 1, $series", "'others', '{x}', 1, $series"],
	['a series and a release of others', "'dated', '{x}', 1, $series", "'others', '{x}', 1"]) {
	my ($what, @arguments) = @$kinds;
	my @told = race('read committed', map { "CALL race_release('$what', $_)" } @arguments);
	is(charges($what), SESSIONS, "$what: all are charged");
	sql("CALL race_release_next('$what')");
	sql("CALL race_release('$_ after $what', '$_', '{x}', 1)") for qw(dated others);
	is(versions("$_ after $what"), '1', "$what: the ledger of $_ goes on") for qw(dated others);
}

# -------------------------------------------- limits and datasets, at the same time

# Whatever comes first, no budget is limited to less than is spent.  At the higher levels these
# acts are refused (272_ledger_authority.pl).
for my $level (@levels[0, 1]) {
	my $name = "limits, $level";
	sql(qq(CREATE TABLE "$name" AS TABLE visits; CALL race_protect('$name', '"$name"', 2)));
	my @told = race($level, (map { release("$name $_", $name, 0.1) } 1 .. SESSIONS / 2),
		map { "CALL race_budget_limit('$name', " . $_ / 10 . ', 0)' } 1 .. SESSIONS / 2);
	is(sql(<<END), 't|t|' . told(qr/^$/, @told), "$level: limits are changed while it is spent");
SELECT spent_epsilon <= epsilon_limit, spent_epsilon = coalesce(sum(c.epsilon), 0),
	count(*) FILTER (WHERE act IN ('limit', 'release'))
FROM _racepriv.race_budgets b JOIN _racepriv.race_charges c USING (budget) WHERE budget = '$name' GROUP BY b.budget
END

	$name = "datasets, $level";
	sql(qq(CREATE TABLE "$name" AS TABLE visits));
	my $lock = RaceSession->new;
	$lock->ask('BEGIN; LOCK TABLE _racepriv.race_budget_tables');
	$_->start("SET default_transaction_isolation = '$level'") for @sessions;
	$_->finish for @sessions;
	$sessions[$_]->start(qq(CALL race_protect('$name $_', '"$name"', 1))) for 0 .. $#sessions;
	wait_for_locks(SESSIONS);
	$lock->ask('COMMIT');
	$_->finish for @sessions;
	is(sql("SELECT count(*) > 0, count(DISTINCT budget) FROM _racepriv.race_datasets WHERE dataset LIKE '$name %'"), 't|1',
		"$level: datasets of one table that are made at the same time share a budget");
}

# A schema is renamed while race_protect waits for another session that has taken the name of the dataset: names of tables are
# entered once, so that the ledger goes on.
sql('CREATE SCHEMA moved; CREATE TABLE moved.private AS TABLE visits; CREATE VIEW "view of visits" AS TABLE visits');
{
	my ($holder, $session) = map { RaceSession->new } 1 .. 2;
	$holder->ask(q(BEGIN; CALL race_protect('moved', '"view of visits"', 100000)));
	$session->start("CALL race_protect('moved', 'moved.private', 1)");
	wait_for_locks(1);
	sql('ALTER SCHEMA moved RENAME TO "moved on"');
	$holder->ask('ROLLBACK');
	unlike($session->finish, qr/ERROR/, 'a dataset is made while its schema is renamed');
	sql("CALL race_release('after the move', 'dated', '{x}', 1)");
	is(versions('after the move'), '1', 'and the ledger goes on');
	is(sql("SELECT count(*) FROM _racepriv.race_charges c, jsonb_array_elements_text(request->'tables') t (n) JOIN _racepriv.race_budget_tables b ON b.table_name = t.n WHERE c.dataset = 'moved'"),
		1, 'as its tables are named by the same names');
}

done_testing();
