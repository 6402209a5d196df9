# Several servers: doc/several-servers.md as it is written, on a coordinator and four shards, each
# a cluster of its own.  Then merges of 2, 4 and 32 parts, of which the 32 are databases, eight on
# each shard; and shards that are killed, down, slow, or of another version.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceCluster;
use Test::More;

RaceCluster::need_contrib(qw(postgres_fdw plproxy pg_cron));
my @shards = map { RaceCluster->new } 0 .. 3;
my $coordinator = RaceCluster->new(shared_preload_libraries => 'pg_cron', wal_level => 'logical');
$coordinator->configure('cron.host' => $coordinator->{home})->stop('fast')->start;
my %home = (coordinator => $coordinator->{home}, map { ("shard$_" => $shards[$_]{home}) } 0 .. 3);
$shards[3]->run_here('createdb', 'analysis');

# -------------------------------------------------------------- the document

# Names of servers, as here
sub placed {
	my ($text) = @_;
	$text =~ s/host '(\w+)'/host '$home{$1}', port '$ENV{PGPORT}'/g;
	$text =~ s/host=(\w+)/host=$home{$1} port=$ENV{PGPORT}/g;
	return $text;
}

# A block of the document, where its first line says; what it prints
sub run_block {
	my ($block) = @_;
	my $text = placed($block);
	return $coordinator->sql($text) if $text =~ s/\A-- on the coordinator\n//;
	return $shards[3]->sql($text, 'analysis') if $text =~ s/\A-- in a database of analysts\n//;
	$text =~ s/\A-- on every shard\n// or die "where does this run? $block";
	$shards[$_]->sql("\\set shard $_\n$text") for 0 .. $#shards;
	return '';
}

open my $file, '<', "$FindBin::Bin/../../doc/several-servers.md" or die "several-servers.md: $!";
my $document = do { local $/; <$file> };
close $file;
my @printed = map { run_block($_) } $document =~ /^```sql\n(.*?)^```/msg;
my $p = "race_params('l2', 2, 5)";
my $whole = $shards[0]->sql("SELECT race_build($p, ARRAY[20 + i % 61, 90 + i % 97])::text FROM generate_series(1, 20000) i");
is(scalar(grep { $_ eq '20000' } @printed), 2, 'the document runs, and counts all records by postgres_fdw and by PL/Proxy');

# A job that pg_cron runs when the server has started, while the other tests run
$coordinator->sql(q{SELECT cron.schedule('now', '@reboot', $$ CALL race_release_next('visits') $$)});
$coordinator->stop('fast')->start;

# ------------------------------------------------------------------- merging

my @parts = map { "SELECT race_build($p, x) AS s FROM visits_$_" } 0 .. 3;
my $parts = join ' UNION ALL ', @parts;
like($coordinator->sql("EXPLAIN (VERBOSE, COSTS off) SELECT race_merge(s) FROM ($parts) v"),
	qr/(Async Foreign Scan.*?Relations: Aggregate on .*?Remote SQL: SELECT public\.race_build\(.*?){4}/s, 'postgres_fdw builds on each server, at the same time');
is($coordinator->sql("SELECT race_merge(s)::text FROM ($parts) v"), $whole, '4 parts on 4 servers have the bits of one');
is($coordinator->sql("SELECT race_merge(s)::text FROM build_visits($p) s"), $whole, 'and by PL/Proxy');
is($coordinator->sql("SELECT race_build($p, x)::text FROM visits"), $whole, 'and where rows come here');
is($coordinator->sql("SELECT race_merge(s)::text FROM ($parts[1] UNION ALL $parts[3]) v"),
	$shards[0]->sql("SELECT race_build($p, ARRAY[20 + i % 61, 90 + i % 97])::text FROM generate_series(1, 20000) i WHERE i % 2 = 1"), '2 parts on 2 servers');

my @databases;
for my $shard (0 .. 3) {
	# not of the database that it is connected to
	$shards[$shard]->sql(join("\n", map { 'CREATE DATABASE part' . (4 * $_ + $shard) . ' TEMPLATE postgres;' } 0 .. 7), 'template1');
}
for my $i (0 .. 31) {
	my ($shard, $name) = ($i % 4, "part$i");
	$shards[$shard]->sql("DELETE FROM visits WHERE id / 4 % 8 <> " . int($i / 4), $name);
	push @databases, placed("CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard$shard', dbname '$name', extensions 'racepriv', async_capable 'true');")
	  . "CREATE USER MAPPING FOR CURRENT_USER SERVER $name; CREATE FOREIGN TABLE $name (x float8[]) SERVER $name OPTIONS (table_name 'visits');";
}
$coordinator->sql(join "\n", @databases);
is($coordinator->sql('SELECT race_merge(s)::text FROM (' . join(' UNION ALL ', map { "SELECT race_build($p, x) AS s FROM part$_" } 0 .. 31) . ') v'), $whole, '32 parts in 32 databases');

# ------------------------------------------------------------------ releases

# What the servers were asked for by a release, after the charge
sub asked_by {
	my ($statement) = @_;
	my @before = map { length $_->log_text } @shards;
	$_->sql("ALTER SYSTEM SET log_statement = 'all'; SELECT pg_reload_conf()") for @shards;
	$coordinator->sql($statement);
	my @asked = map { join "\n", grep { !/LIMIT 0/ } substr($shards[$_]->log_text, $before[$_]) =~ /execute .*?: DECLARE .*? FOR\n\s*(.*)/g } 0 .. $#shards;
	$_->sql("ALTER SYSTEM RESET log_statement; SELECT pg_reload_conf()") for @shards;
	return @asked;
}

$coordinator->sql("CALL race_budget_limit('visits', 1000, 0)");
like($_, qr/\ASELECT NULL::text, public\.race_build_records\(/, 'a release of a partitioned table asks a server for a sketch')
	for asked_by("CALL race_release_sketch('built there', 'visits', $p, 'x', 0.1)");
unlike($_, qr/race_build/, 'of two records of a person it asks for rows') for grep { $_ ne '' } asked_by("CALL race_release_sketch('labels', 'visits', $p, 'x', 0.1, label => 'hospital', labels => '{0,1,2,3}')");

# The right to read the whole is enough, and needed, and policies on the whole count.
$coordinator->sql("CREATE ROLE curator LOGIN; CALL race_grant('curator', 'curator'); GRANT USAGE ON FOREIGN SERVER " . join(', ', map { "shard$_" } 0 .. 3) . ' TO curator');
$coordinator->sql("CREATE USER MAPPING FOR curator SERVER shard$_ OPTIONS (user '$ENV{PGUSER}', password_required 'false')") for 0 .. 3;
my $as_curator = "SET SESSION AUTHORIZATION curator; CALL race_release_sketch('of the curator', 'visits', $p, 'x', 0.1)";
like($coordinator->sql_fails($as_curator), qr/\AERROR:  42501: permission denied for table visits\n/, 'who may not read the table releases nothing');
$coordinator->sql('GRANT SELECT ON visits_0, visits_1, visits_2, visits_3 TO curator');
like($coordinator->sql_fails($as_curator), qr/\AERROR:  42501: permission denied for table visits\n/, 'nor who may read its partitions alone');
$coordinator->sql('REVOKE SELECT ON visits_0, visits_1, visits_2, visits_3 FROM curator; GRANT SELECT ON visits TO curator; ALTER TABLE visits ENABLE ROW LEVEL SECURITY');
like($coordinator->sql_fails($as_curator), qr/\AERROR:  42501: query would be affected by row-level security policy/, 'nor whom a policy keeps from rows');
is($coordinator->made('of the curator'), '0|0', 'and no charge');
$coordinator->sql('ALTER TABLE visits DISABLE ROW LEVEL SECURITY');
like($_, qr/race_build_records/, 'who may read the table has it built there') for asked_by($as_curator);
is($coordinator->made('of the curator'), '1|1', 'for one charge');

# Partitions with columns in another order, or a local one
$coordinator->sql("CREATE TABLE local (x float8[], id bigint, hospital int); INSERT INTO local SELECT ARRAY[1, 1], i, 9 FROM generate_series(1, 5000) i; ALTER TABLE visits ATTACH PARTITION local FOR VALUES IN (9)");
unlike($_, qr/race_build/, 'partitions with other columns: rows come here') for asked_by("CALL race_release_sketch('with others', 'visits', $p, 'x', 1)");
$coordinator->sql("ALTER TABLE visits DETACH PARTITION local; CREATE TABLE near PARTITION OF visits FOR VALUES IN (8); INSERT INTO near SELECT 8, i, ARRAY[1, 1] FROM generate_series(1, 5000) i");
like($_, qr/race_build_records/, 'a partition that is here is added') for asked_by("CALL race_release_sketch('and here', 'visits', $p, 'visits.x', 1)");
is($coordinator->sql("SELECT abs(race_count(race_released('$_')) - 25000) < 1000"), 't', "$_: all rows") for 'with others', 'and here';
# Rows of a partition are of a type of their own, for which there may be another function.  It
# would add 4300 to the sum; the noise has a standard deviation of 0.5.
$coordinator->sql("CREATE FUNCTION place(visits) RETURNS float8[] IMMUTABLE LANGUAGE sql AS 'SELECT (\$1).x'; CREATE FUNCTION place(near) RETURNS float8[] IMMUTABLE LANGUAGE sql AS 'SELECT ''{-9,-9}''::float8[]'");
unlike($_, qr/race_build/, 'another function for rows of a partition: rows come here') for asked_by("CALL race_release_sketch('by row', 'visits', $p, 'place(visits)', 100)");
is($coordinator->sql("SELECT abs(race_kernel_sum(race_released('by row'), '{-9,-9}') - race_kernel_sum(race_build($p, x), '{-9,-9}')) < 10 FROM visits"), 't', 'and the function is that of the table');
$coordinator->sql('DROP TABLE near CASCADE; DROP FUNCTION place(visits)');

# ------------------------------------------------------------------ failures

my $release = "CALL race_release_sketch('failing', 'visits', $p, 'x', 0.1)";
my $failed = qr/\AERROR:  22000: the release failed while its data were read\nDETAIL:  What happened may depend on private data, so it is not told. The charge stands./;

# a shard that waits, so that there is time to kill it, or to be slow
$shards[1]->sql(<<'END');
ALTER TABLE visits RENAME TO all_visits;
CREATE FUNCTION gate(id bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); RETURN id; END $$;
CREATE VIEW visits AS SELECT hospital, id, x FROM all_visits WHERE CASE WHEN id = 5 THEN gate(id) = 5 ELSE true END;
END
my $holder = $shards[1]->session('postgres');
$holder->ask('SELECT pg_advisory_lock(1)');
$coordinator->sql("ALTER SERVER shard1 OPTIONS (SET options '-c lock_timeout=200ms')");
like($coordinator->sql_fails("SELECT race_merge(s) FROM ($parts) v"), qr/\AERROR:  55P03: canceling statement due to lock timeout\n.*remote SQL command/s, 'a slow shard: the error names the timeout');
like($coordinator->sql_fails($release), $failed, 'a release fails');
is($coordinator->made('failing'), '1|0', 'with one charge, and nothing stored');
$coordinator->sql("ALTER SERVER shard1 OPTIONS (DROP options)");

my $session = $coordinator->session;
$session->ask('\set VERBOSITY verbose');
$session->start($release);
$shards[1]->wait_for_locks(1, 'postgres');
$shards[1]->crash;
like($session->finish, $failed, 'kill -9 of a shard during a release: the release fails');
is($coordinator->made('failing'), '2|0', 'with a charge of its own, and nothing stored');
like($coordinator->sql_fails("SELECT race_merge(s) FROM ($parts) v"), qr/\AERROR:  08001: could not connect to server "shard1"\n/, 'a shard that is down: the error names it');
like($coordinator->sql_fails("SELECT race_merge(s) FROM build_visits($p) s"), qr/\AERROR:  \w+: PL\/Proxy function public.build_visits.* failed: /, 'and by PL/Proxy');
like($coordinator->sql_fails($release), qr/\AERROR:  08001: could not connect to server "shard1"\n.*CONTEXT:  probe of foreign table "visits_1" of server "shard1" before the charge: nothing is charged\n/s, 'a release names it, too');
is($coordinator->made('failing'), '2|0', 'before its charge');
$shards[1]->start;
$coordinator->sql($release);
is($coordinator->made('failing'), '3|1', 'when the shard is back, a release is made, for one charge');
is($coordinator->sql("SELECT abs(race_count(race_released('failing')) - 20000) < 10000"), 't', 'of all rows');

# another version: its sketches say so in their first byte
$shards[2]->sql("CREATE VIEW newer AS SELECT overlay((_race_sketch_send(race_build($p, x))) PLACING '\\x63' FROM 1 FOR 1) AS s FROM visits");
$coordinator->sql("CREATE FOREIGN TABLE newer (s race_sketch) SERVER shard2");
like($coordinator->sql_fails("SELECT race_merge(s) FROM ($parts[0] UNION ALL SELECT s FROM newer) v"), qr/\AERROR:  22P0\d: invalid/, 'a sketch of another version is refused');
$shards[2]->sql('DROP EXTENSION racepriv CASCADE');
like($coordinator->sql_fails("SELECT race_merge(s) FROM ($parts) v"), qr/\AERROR:  42704: type "public.race_params" does not exist\n.*remote SQL command/s, 'a shard without the extension: the error says what it lacks');
like($coordinator->sql_fails($release =~ s/failing/lacking/r), qr/\AERROR:  42704: type "public.race_params" does not exist\n.*probe of foreign table "visits_2" of server "shard2" before the charge: nothing is charged\n/s, 'of a release before its charge');
is($coordinator->made('lacking'), '0|0', 'which is not made');

# ---------------------------------------------------- refreshes, and copies

$coordinator->wait_until("SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed') AND command ~ 'next'");
is($coordinator->sql("SELECT status, return_message FROM cron.job_run_details ORDER BY runid LIMIT 1"), 'succeeded|CALL', 'pg_cron has refreshed a release');
is($coordinator->sql("SELECT cron.unschedule(jobid) FROM cron.job WHERE jobname = 'now'"), 't', 'once');
is($coordinator->sql("SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = 'visits'"), $coordinator->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = 'visits'"), 'each charge has its release');
$shards[3]->wait_until("SELECT count(*) >= 3 FROM _racepriv.race_releases", 'analysis');
is($shards[3]->sql("SELECT race_released('visits')::text", 'analysis'), $coordinator->sql("SELECT race_released('visits')::text"), 'and analysts have the latest version, by replication');
is($shards[3]->sql('SELECT count(*) FROM _racepriv.race_charges', 'analysis'), 0, 'without charges');
$shards[3]->sql('ALTER SUBSCRIPTION releases DISABLE; ALTER SUBSCRIPTION releases SET (slot_name = NONE); DROP SUBSCRIPTION releases', 'analysis');

done_testing();
