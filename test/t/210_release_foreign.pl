# Releases of foreign tables: what the other server says of a record is not told, and
# a release that waits for it can be cancelled.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceCluster;
use Test::More;

# `hush` and 31337 are the secrets of one record.
my $secret = qr/hush|31337/;
RaceCluster::need_contrib(qw(postgres_fdw));
my $cluster = RaceCluster->new;
$cluster->run_here('createdb', 'far');
$cluster->sql(q{ALTER DATABASE far SET log_min_messages = 'panic'});		# another server has another log
$cluster->sql(<<'END', 'far');
CREATE TABLE visits AS SELECT i AS id, CASE WHEN i = 31337 THEN 'hush' ELSE (i % 10)::text END AS note, ARRAY[i % 10]::float8[] AS x
FROM generate_series(31300, 31399) i;
CREATE VIEW fails AS SELECT id, ARRAY[note::float8] AS x FROM visits;
CREATE FUNCTION says(note text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', note; RETURN note; END $$;
CREATE VIEW speaks AS SELECT id, says(note) AS note, x FROM visits;
CREATE FUNCTION gate(id int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN id; END $$;
CREATE VIEW waits AS SELECT gate(id) AS id, x FROM visits;
END
$cluster->sql(<<"END");
CREATE EXTENSION racepriv;
CREATE EXTENSION postgres_fdw;
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$cluster->{home}', port '$ENV{PGPORT}', dbname 'far',
	options '-c client_min_messages=error');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE FOREIGN TABLE visits (id int, note text, x float8[]) SERVER far;
CREATE FOREIGN TABLE fails (id int, x float8[]) SERVER far;
CREATE FOREIGN TABLE misread (id int, note int, x float8[]) SERVER far OPTIONS (table_name 'visits');
CREATE FOREIGN TABLE speaks (id int, note text, x float8[]) SERVER far;
CREATE FOREIGN TABLE waits (id int, x float8[]) SERVER far;
CREATE FOREIGN TABLE missing (id int, x float8[]) SERVER far;
CREATE TABLE months (id int, note text, x float8[]) PARTITION BY RANGE (id);
CREATE TABLE near PARTITION OF months FOR VALUES FROM (0) TO (31300);
CREATE FOREIGN TABLE past PARTITION OF months FOR VALUES FROM (31300) TO (31400) SERVER far OPTIONS (table_name 'visits');
INSERT INTO near SELECT i, 'near', ARRAY[i] FROM generate_series(1, 50) i;
END

sub release
{
	my ($dataset, $expression) = @_;
	return "CALL race_release('$dataset', '$dataset', 'l2(dims=1, rows=16, range=16)', '" . ($expression // 'x') . "', 100000)";
}

# Charges and stored releases of a name
sub made
{
	my ($name) = @_;
	return $cluster->sql("SELECT (SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = '$name'),"
		  . " (SELECT count(*) FROM _racepriv.race_releases WHERE name = '$name')");
}

# ------------------------------------------------------------------ what works

for my $case (['visits', 100], ['months', 150])
{
	my ($dataset, $count) = @$case;
	$cluster->sql("CALL race_protect('$dataset', '$dataset', 1000000);" . release($dataset));
	is($cluster->sql("SELECT race_count(race_released('$dataset'))"), $count, "$dataset: a release of all rows");
	$cluster->sql("CALL race_release_next('$dataset')");
	is(made($dataset), '2|2', "$dataset: and a refresh");
}

# ------------------------------------------------------- errors and warnings

sub told_and_logged
{
	my ($statements) = @_;
	my $before = length $cluster->log_text;
	my ($told) = $cluster->sql_fails($statements);
	return ($told, substr $cluster->log_text, $before);
}

for my $case (
	['fails', 'x', 'an error of the other server'],
	['misread', 'ARRAY[note]', 'a value that is no value of its column here'])
{
	my ($dataset, $expression, $title) = @$case;
	like($_, $secret, "control, $title: outside of a release it is told and logged") for told_and_logged("SELECT $expression FROM $dataset");
	$cluster->sql("CALL race_protect('$dataset', '$dataset', 1000000)");
	my ($told, $logged) = told_and_logged(release($dataset, $expression));
	like($told, qr/\AERROR:  22000: the release failed while its data were read\n/, "$title: a release fails");
	unlike($_, $secret, "$title: it tells and logs nothing of the record") for $told, $logged;
	is(made($dataset), '1|0', "$title: the charge stands");
}

# libpq writes what another server sends beside its answers to the log of this one,
# whatever the settings here.  An option of the server keeps it from sending.
$cluster->sql("CALL race_protect('speaks', 'speaks', 1000000)");
my ($told, $logged) = told_and_logged(release('speaks', 'ARRAY[length(note)]'));
is($told, 'no error: ', 'a warning of the other server is not told');
unlike($logged, $secret, 'nor logged, with client_min_messages among the options of the server');

# ---------------------------------------------------------------- interruptions

$cluster->sql("CALL race_protect('waits', 'waits', 1000000)");
my $holder = $cluster->session('far');
$holder->ask('SELECT pg_advisory_lock(1)');

# A release that waits for the other server, and what it tells when that is done
sub interrupt
{
	my ($statement, $database) = @_;
	my $session = $cluster->session;
	$session->ask('\set VERBOSITY verbose');
	$session->start(release('waits'));
	$cluster->wait_for_locks(1, 'far');
	$cluster->sql($statement, $database);
	my $told = $session->finish;
	is($session->ask('SELECT 1'), 1, 'an interrupted session goes on');
	return $told;
}

like(interrupt("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres' AND query ~ '^CALL race_release'"),
	qr/\AERROR:  57014: the release failed while its data were read\n/, 'a release that waits for another server can be cancelled');
is(made('waits'), '1|0', 'its charge stands');
$told = interrupt("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'far' AND application_name = 'postgres_fdw'");
like($told, qr/ERROR:  22000: the release failed while its data were read\n/, 'and fails if the other server goes away');
unlike($told, $secret, 'with nothing told');
is(made('waits'), '2|0', 'its charge stands, too');
$holder->ask('SELECT pg_advisory_unlock(1)');
$cluster->wait_for_locks(0, 'far');
$cluster->sql(release('waits'));
is(made('waits'), '3|1', 'then it is made, for a charge of its own');
is($cluster->sql("SELECT race_count(race_released('waits'))"), 100, 'of all rows');

done_testing();
