# The server is killed at each step of a release.  After the restart the ledger
# shows no less than what could have been revealed, and the release can be made
# again.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

# A commit that is not flushed is lost with the server: nothing else writes the
# log meanwhile, neither the WAL writer nor snapshots for standbys.
my $cluster = RaceCluster->new(wal_writer_delay => '10s', wal_level => 'minimal',
	max_wal_senders => 0, bgwriter_lru_maxpages => 0);
my $params = 'l2(dims=1, rows=16, range=16)';
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE TABLE visits AS SELECT i AS id, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;
CREATE TABLE unflushed (id int);
CREATE FUNCTION gate(value int[]) RETURNS int[] IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN value; END';
CALL race_protect('visits', 'visits', 100);
END
$cluster->watch_ledger;

# Releases by a session that would not wait for any commit
sub release_statement {
	my ($name) = @_;
	return "SET synchronous_commit = off; CALL race_release_sketch('$name', 'visits', '$params', 'gate(x)', 1,"
		. " label => 'id % 2', labels => '{0,1}')";
}

# Where a release stops, what must be in the ledger after a crash there, and how
# other sessions make it stop.  Each starts the release and returns when it
# has stopped, with the sessions.
my %stop = (
	'before the charge' => sub {
		my ($name) = @_;
		my $budget = hold('SELECT FROM _racepriv.race_budgets FOR UPDATE');
		return (start_release($name), $budget);
	},
	# the request is checked again after the charge, which reads the datasets
	'between charge and read' => sub {
		my ($name) = @_;
		my $budget = hold('SELECT FROM _racepriv.race_budgets FOR UPDATE');
		my $release = start_release($name);
		my $datasets = hold('LOCK TABLE _racepriv.race_datasets');
		$budget->ask('COMMIT');
		$cluster->wait_until("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = '_racepriv.race_datasets'::regclass");
		return ($release, $datasets);
	},
	'while it is read' => sub {
		my ($name) = @_;
		my $gate = hold('SELECT pg_advisory_xact_lock(1)');
		return (start_release($name), $gate);
	},
	'between read and noise' => sub {
		my ($name) = @_;
		my $releases = hold('LOCK TABLE _racepriv.race_releases IN SHARE MODE');
		return (start_release($name), $releases);
	},
	# the index waits for a row of the same name that may yet be rolled back
	'between noise and the last commit' => sub {
		my ($name) = @_;
		my $row = hold("INSERT INTO _racepriv.race_releases VALUES ('$name', 1, 1, NULL, race_sketch('$params'::race_params),"
			  . " 'visits', gen_random_uuid(), now())");
		return (start_release($name), $row);
	});

sub hold {
	my ($statement) = @_;
	my $session = $cluster->session;
	die "cannot hold: $statement\n" if $session->ask("BEGIN; $statement") =~ /ERROR/;
	return $session;
}

sub start_release {
	my ($name) = @_;
	my $session = $cluster->session->start(release_statement($name));
	$cluster->wait_for_locks(1);
	return $session;
}

# Ways to end a release that has stopped
my %end = (
	'kill -9' => sub {
		$cluster->sql('SET synchronous_commit = off; INSERT INTO unflushed VALUES (1)');
		$cluster->crash->start;
		is($cluster->sql('SELECT count(*) FROM unflushed'), 0, 'control: a commit that is not flushed is lost');
	},
	'terminate' => sub { signal_release('pg_terminate_backend') },
	'cancel' => sub { signal_release('pg_cancel_backend') });

sub signal_release {
	my ($function) = @_;
	my $waits = "FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
	$cluster->sql("SELECT $function(pid) $waits");
	$cluster->wait_until("SELECT count(*) = 0 $waits");
	return;
}

# Charges and releases that there are more than before
sub growth {
	my ($before) = @_;
	my @before = split /\|/, $before;
	my @now = split /\|/, $cluster->sql('TABLE ledger');
	return join '|', map { $now[$_] - $before[$_] } 0, 1;
}

sub test_stop {
	my ($way, $where, $charged) = @_;
	my $name = "$way $where";
	my $before = $cluster->sql('TABLE ledger');
	my @sessions = $stop{$where}->($name);
	$end{$way}->();
	undef @sessions;
	is(growth($before), "$charged|0", "$name: what is in the ledger");
	$cluster->wait_for_locks(0);
	$cluster->sql(release_statement($name));
	is(growth($before), 1 + $charged . '|1', "$name: again, for a charge of its own");
	$cluster->sql(release_statement($name));
	is(growth($before), 1 + $charged . '|1', "$name: and once more, for none");
	is($cluster->sql('TABLE mistakes'), '', "$name: the ledger is right");
}

for my $way ('kill -9', 'terminate', 'cancel') {
	test_stop($way, 'before the charge', 0);
	test_stop($way, 'between charge and read', 1);
	test_stop($way, 'while it is read', 1);
	test_stop($way, 'between read and noise', 1);
	test_stop($way, 'between noise and the last commit', 1);
}

# Bounds by noisy counts are charged before anything is read, and described once.
my $bounds = q(CALL race_describe('gated', 'n', bounds => 'private', epsilon => 5));
my $described = q(SELECT count(*) FROM _racepriv.race_descriptions WHERE dataset = 'gated');
$cluster->sql(<<'END');
CREATE FUNCTION gate(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN value; END';
CREATE VIEW gated AS SELECT id, gate(id) AS n FROM visits;
CALL race_protect('gated', epsilon_limit => 100);
END
my $before = $cluster->sql('TABLE ledger');
my $gate = hold('SELECT pg_advisory_xact_lock(1)');
my $session = $cluster->session->start("SET synchronous_commit = off; $bounds");
$cluster->wait_for_locks(1);
$end{'kill -9'}->();
undef $_ for $gate, $session;
is(growth($before) . ' ' . $cluster->sql($described), '1|0 0', 'bounds: charged, and not described');
$cluster->sql($bounds) for 1, 2;
is(growth($before) . ' ' . $cluster->sql($described), '2|0 1', 'bounds: again, for a charge of its own, and once more, for none');

# After the last commit, and again after each refresh: what was paid for is in
# the ledger, whether or not the release itself was lost.
for my $version (1 .. 3) {
	my $session = $cluster->session;
	my $before = $cluster->sql('TABLE ledger');
	$session->ask($version == 1 ? release_statement('done') : "SET synchronous_commit = off; CALL race_release_next('done')");
	like($session->ask("SELECT race_posterior(label, sketch, '{1}') FROM race_latest_releases WHERE name = 'done'"), qr/"0".*"1"/, "version $version is seen");
	$cluster->crash->start;
	like(growth($before), qr/^1\|[01]$/, 'after a crash its charge is in the ledger');
	is($cluster->sql('TABLE mistakes'), '', 'which is right');
	$cluster->sql(release_statement('done'));
	is($cluster->sql("SELECT count(*) > 0 FROM _racepriv.race_releases WHERE name = 'done'"), 't', 'it is there, or is made again');
}

# A series: each value is made once, whenever the server is killed, and whoever makes it.  Neither the noise nor
# what a person may have in all values is drawn or counted twice.
$cluster->sql(<<'END');
CREATE TABLE days AS SELECT p AS person, date '2026-01-01' + d AS on_day, ARRAY[1] AS x
	FROM generate_series(1, 10) p, generate_series(0, 8) d;
CALL race_protect('days', 'days', 1e9, unit_column => 'person', max_contributions => 4);
CREATE VIEW made AS SELECT name, count(DISTINCT version), max(version), round(sum(race_count(sketch)) FILTER (WHERE upper(during) - lower(during) = '1 day')) AS of_days,
	round(sum(race_count(sketch)) FILTER (WHERE upper(during) - lower(during) > '1 day')) AS longer FROM _racepriv.race_releases WHERE during IS NOT NULL GROUP BY name;
CREATE VIEW counted AS SELECT name, length, min(records), max(records), count(*) FROM _racepriv.race_series_units WHERE length > 0 GROUP BY 1, 2 ORDER BY 2;
END

sub declare {
	my ($name) = @_;
	$cluster->sql("CALL race_release_sketch('$name', 'days', 'l2(dims=1, rows=16, range=16)', 'gate(x)', 1e6, rows => 16, label => 'person % 2', labels => '{0,1}',"
		  . q( series => '{"by": "on_day", "every": "1 day", "lengths": 2, "starting": "2026-01-01", "until": "2026-01-10"}') . ')');
	return;
}

sub next_values {
	my ($name) = @_;
	return "SET synchronous_commit = off; CALL race_release_next('$name')";
}

sub is_whole {
	my ($name, $how) = @_;
	is($cluster->sql("SELECT * FROM made WHERE name = '$name'"), "$name|10|10|40|40", "$how: every value is there, and has its records");
	is($cluster->sql("SELECT * FROM counted WHERE name = '$name'"), "$name|1|4|4|10\n$name|8|4|4|10", "$how: so many records of each person");
	is($cluster->sql('TABLE mistakes'), '', "$how: the ledger is right");
}

# Where the making of a value stops, given the number of the value
my %stop_value = (
	'before it is locked' => sub {
		my ($name) = @_;
		return hold("SELECT FROM _racepriv.race_charges WHERE request->>'name' = '$name' FOR UPDATE");
	},
	'while it is read' => sub { return hold('SELECT pg_advisory_xact_lock(1)') },
	'before it is stored' => sub { return hold('LOCK TABLE _racepriv.race_releases IN SHARE MODE') },
	'before persons are counted' => sub { return hold('LOCK TABLE _racepriv.race_series_units IN SHARE MODE') });

for my $where (sort keys %stop_value) {
	for my $way ('kill -9', 'cancel') {
		my $name = "series $way $where";
		declare($name);
		for my $crash (1 .. 2) {
			my $holder = $stop_value{$where}->($name);
			my $series = $cluster->session->start(next_values($name));
			$cluster->wait_for_locks(1);
			is($cluster->sql("SELECT coalesce(max(version), 0) FROM _racepriv.race_releases WHERE name = '$name'"), 0, "$name: stopped");
			$end{$way}->();
			undef $holder;
			undef $series;
			$cluster->wait_for_locks(0);
		}
		$cluster->sql(next_values($name));
		is_whole($name, $name);
	}
}

# After some values, which stay as they are
declare('some');
my $late = hold("INSERT INTO _racepriv.race_releases (name, version, part, label, sketch, dataset, charge, released_at, during) VALUES ('some', 5, 1, NULL, race_sketch('$params'::race_params),"
	  . " 'days', gen_random_uuid(), now(), '[2026-01-05,2026-01-06)')");
my $stopped = $cluster->session->start(next_values('some'));
$cluster->wait_for_locks(1);
is($cluster->sql("SELECT max(version) FROM _racepriv.race_releases WHERE name = 'some'"), 4, 'four values are stored');
my $first = $cluster->sql("SELECT md5(string_agg(sketch::text, ',' ORDER BY version, part)) FROM _racepriv.race_releases WHERE name = 'some' AND version <= 4");
$end{'kill -9'}->();
undef $_ for $late, $stopped;

# Two schedulers at once
my $gate = hold('SELECT pg_advisory_xact_lock(1)');
my @schedulers = map { $cluster->session->start("CALL race_release_next('some')") } 1 .. 2;
$cluster->wait_for_locks(2);
$gate->ask('COMMIT');
unlike($_->finish, qr/ERROR/, 'a scheduler has no error') for @schedulers;
is_whole('some', 'two schedulers after a crash');
is($cluster->sql("SELECT md5(string_agg(sketch::text, ',' ORDER BY version, part)) FROM _racepriv.race_releases WHERE name = 'some' AND version <= 4"), $first,
	'the values before the crash are the same');
is($cluster->sql("SELECT count(*), sum(epsilon) FROM _racepriv.race_charges WHERE request->>'name' = 'some'"), '1|1000000', 'one charge for all');

done_testing();
