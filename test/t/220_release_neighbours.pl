# What else goes on in a database does not break a release, nor get between its steps:
# event triggers, sessions of background jobs, and row-level security and rights that
# other sessions change meanwhile.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

RaceCluster::need_contrib(qw(dblink));
my $cluster = RaceCluster->new;
my $params = 'l2(dims=1, rows=16, range=16)';
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE EXTENSION dblink;
CREATE TABLE visits AS SELECT i AS id, ARRAY[i % 10]::float8[] AS x FROM generate_series(1, 100) i;
CALL race_protect('visits', 'visits', 100000000);
CREATE ROLE curator LOGIN;
CALL race_grant('curator', 'curator');
GRANT SELECT ON visits TO curator;
END

# A release next to no noise
sub release {
	my ($name, $expression) = @_;
	return "CALL race_release_sketch('$name', 'visits', '$params', '" . ($expression // 'x') . "', 100000)";
}

# --------------------------------------------------------------- event triggers

# One trigger for each event: it notes what it heard, or fails.
sub with_event_triggers {
	my ($function, @statements) = @_;
	my @events = qw(ddl_command_start ddl_command_end sql_drop table_rewrite);
	$cluster->sql(join ';', map { "CREATE EVENT TRIGGER on_$_ ON $_ EXECUTE FUNCTION $function()" } @events);
	my @told = map { [RaceServer::run("$_;", 'psql', '-XAtq', '-h', $cluster->{home}, 'postgres')]->[0] } @statements;
	$cluster->sql(join ';', map { "DROP EVENT TRIGGER on_$_" } @events);
	return @told;
}

$cluster->sql(<<'END');
CREATE TABLE heard (tag text);
CREATE FUNCTION hear() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO heard VALUES (tg_event || ' ' || tg_tag); END $$;
CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused: %', tg_tag; END $$;
END
is(join('', with_event_triggers('hear', release('heard'), q{CALL race_release_next('heard')})), '', 'event triggers do not hinder a release');
is($cluster->sql('SELECT count(*) FROM heard'), 0, 'nor hear of it');
is(join('', with_event_triggers('refuse', release('refused'), q{CALL race_release_next('refused')})), '', 'those that refuse everything do not, either');
is($cluster->made('heard') . ' ' . $cluster->made('refused'), '2|2 2|2', 'releases and refreshes are made');
like(join('', with_event_triggers('refuse', 'CREATE TABLE t ()')), qr/refused: CREATE TABLE/, 'control: they refuse what is an event');

# ----------------------------------------------------- sessions that others open

# As schedulers do it: a session that nobody looks at, opened by another session, which
# may be in a transaction, and may roll back.
my $link = "dblink_connect('job', 'host=$cluster->{home} port=$ENV{PGPORT} dbname=postgres user=curator')";
my $call = release('by a job') =~ s/'/''/gr;
$cluster->sql("BEGIN; SELECT FROM $link; SELECT FROM dblink_exec('job', '$call'); ROLLBACK");
is($cluster->made('by a job'), '1|1', 'a job of a session that rolls back is charged and made');
$cluster->sql("BEGIN; SELECT FROM $link; SELECT dblink_send_query('job', \$\$ CALL race_release_next('by a job') \$\$);"
	  . " SELECT FROM dblink_get_result('job') AS r (result text); ROLLBACK");
is($cluster->made('by a job'), '2|2', 'and so is one that is sent, to be waited for later');
like($cluster->sql_fails("SELECT FROM $link; SELECT FROM dblink_exec('job', \$\$ SELECT 1; CALL race_release_next('by a job') \$\$)"),
	qr/ERROR:  25001/, 'a job of several statements is refused');
is($cluster->made('by a job'), '2|2', 'at no charge');

# ------------------------------------------------- rights that others change

# What changes what the curator may see, from when she may see all of it
my $policy = 'CREATE POLICY p ON visits USING (id <= 10); ALTER TABLE visits ENABLE ROW LEVEL SECURITY';
my %changes = (
	'a policy' => ['', $policy],
	'BYPASSRLS revoked' => ["ALTER ROLE curator BYPASSRLS; $policy", 'ALTER ROLE curator NOBYPASSRLS'],
	'a policy for the owner, too' => ["ALTER TABLE visits OWNER TO curator; $policy", 'ALTER TABLE visits FORCE ROW LEVEL SECURITY'],
	'SELECT revoked' => ['', 'REVOKE SELECT ON visits FROM curator']);

sub undo_changes {
	$cluster->sql(<<'END');
DROP POLICY IF EXISTS p ON visits;
ALTER TABLE visits DISABLE ROW LEVEL SECURITY;
ALTER TABLE visits NO FORCE ROW LEVEL SECURITY;
ALTER TABLE visits OWNER TO CURRENT_USER;
GRANT SELECT ON visits TO curator;
ALTER ROLE curator NOBYPASSRLS;
END
}

my $curator = do { local $ENV{PGUSER} = 'curator'; $cluster->session };

sub hold {
	my ($statement) = @_;
	my $session = $cluster->session;
	$session->ask("BEGIN; $statement");
	return $session;
}

# When a change comes, and what is then charged and stored.  Each makes a release
# with the change, and gives what it told.
$cluster->sql(<<'END');
CREATE FUNCTION gate(value float8[]) RETURNS float8[] IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN value; END';
END
my %times = (
	'before a release' => [qr/^0\|0$/, sub {
		my ($name, $change) = @_;
		$cluster->sql($change);
		return $curator->ask(release($name));
	}],
	# The request is checked again after the charge, which reads the datasets.  What locks
	# the table waits until the release is made.
	'between charge and read' => [qr/^1\|[01]$/, sub {
		my ($name, $change) = @_;
		my $budget = hold('SELECT FROM _racepriv.race_budgets FOR UPDATE');
		$curator->start(release($name));
		$cluster->wait_for_locks(1);
		my $datasets = hold('LOCK TABLE _racepriv.race_datasets');
		$budget->ask('COMMIT');
		$cluster->wait_until("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = '_racepriv.race_datasets'::regclass");
		my $changer = $cluster->session->start("$change; SELECT FROM pg_notify('changed', '')");
		$cluster->wait_until("SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock' OR query ~ 'pg_notify' AND state = 'idle'");
		$datasets->ask('COMMIT');
		$changer->finish;
		my $told = $curator->finish;
		is($cluster->made($name), $change =~ /REVOKE|NOBYPASSRLS/ ? '1|0' : '1|1', "$name: rights are checked again, definitions stay");
		return $told;
	}],
	# whether it waits for the end of the read or not
	'during the read' => [qr/^1\|[01]$/, sub {
		my ($name, $change) = @_;
		my $gate = hold('SELECT pg_advisory_xact_lock(1)');
		$curator->start(release($name, 'gate(x)'));
		$cluster->wait_for_locks(1);
		my $changer = $cluster->session->start("$change; SELECT FROM pg_notify('changed', '')");
		$cluster->wait_until("SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock' OR query ~ 'pg_notify' AND state = 'idle'");
		$gate->ask('COMMIT');
		$changer->finish;
		return $curator->finish;
	}]);

# All of the rows, or nothing
sub is_whole {
	my ($name, $title) = @_;
	is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = '$name' AND race_count(sketch) <> 100"), 0, $title);
}

undo_changes();
$cluster->sql($policy);
is($curator->ask('SELECT count(*) FROM visits'), 10, 'control: with the policy the curator would read a part');

for my $what (sort keys %changes) {
	my ($begin, $change) = @{$changes{$what}};
	for my $when (sort keys %times) {
		my ($made, $with_change) = @{$times{$when}};
		my $name = "$what $when";
		undo_changes();
		$cluster->sql($begin) if $begin;
		$curator->ask(release("first $name"));
		is($cluster->made("first $name"), '1|1', "control, $name: without it the release is made");
		my $told = $with_change->($name, $change);
		like($cluster->made($name), $made, "$name: what is charged and made") or diag $told;
		is_whole($name, "$name: no part of the rows is released");
		like($curator->ask("CALL race_release_next('first $name')"), qr/ERROR/, "$name: no refresh, in the same session");
		is($cluster->made("first $name"), '1|1', "$name: which costs nothing");
		undo_changes();
		$curator->ask("CALL race_release_next('first $name')");
		is($cluster->made("first $name"), '2|2', "$name: when it is undone there is one");
		is_whole("first $name", "$name: of all rows");
	}
}

done_testing();
