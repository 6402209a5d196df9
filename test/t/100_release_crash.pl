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
CREATE EXTENSION racepriv;
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

done_testing();
