# Releases of foreign tables: what the other server says of a record is not told, and
# a release that waits for it can be cancelled.
use strict;
use warnings;
use lib 'test/t';
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
CREATE EXTENSION racepriv_release CASCADE;
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

sub release {
	my ($dataset, $expression) = @_;
	return "CALL race_release_sketch('$dataset', '$dataset', 'l2(dims=1, rows=16, range=16)', '" . ($expression // 'x') . "', 100000)";
}

# ------------------------------------------------------------------ what works

for my $case (['visits', 100], ['months', 150]) {
	my ($dataset, $count) = @$case;
	$cluster->sql("CALL race_protect('$dataset', '$dataset', 1000000);" . release($dataset));
	is($cluster->sql("SELECT race_count(race_released('$dataset'))"), $count, "$dataset: a release of all rows");
	$cluster->sql("CALL race_release_next('$dataset')");
	is($cluster->made($dataset), '2|2', "$dataset: and a refresh");
}

# ------------------------------------------------------- errors and warnings

for my $case (
	['fails', 'x', 'an error of the other server'],
	['misread', 'ARRAY[note]', 'a value that is no value of its column here']) {
	my ($dataset, $expression, $title) = @$case;
	like($_, $secret, "control, $title: outside of a release it is told and logged") for $cluster->told_and_logged("SELECT $expression FROM $dataset");
	$cluster->sql("CALL race_protect('$dataset', '$dataset', 1000000)");
	my ($told, $logged) = $cluster->told_and_logged(release($dataset, $expression));
	like($told, qr/\AERROR:  22000: the release failed while its data were read\n.*\nHINT:  .*expression.* servers /, "$title: a release fails");
	unlike($_, $secret, "$title: it tells and logs nothing of the record") for $told, $logged;
	is($cluster->made($dataset), '1|0', "$title: the charge stands");
}

# libpq writes what another server sends beside its answers to the log of this one,
# whatever the settings here.  An option of the server keeps it from sending.
$cluster->sql("CALL race_protect('speaks', 'speaks', 1000000)");
my ($told, $logged) = $cluster->told_and_logged(release('speaks', 'ARRAY[length(note)]'));
is($told, 'no error: ', 'a warning of the other server is not told');
unlike($logged, $secret, 'nor logged, with client_min_messages among the options of the server');

# ---------------------------------------------------- servers that do not answer

# What a server lacks is known before the charge: it is asked for the tables, without their rows.
$cluster->run_here('createdb', 'elsewhere');
$cluster->sql("CREATE TABLE visits (id int, note text, x float8[]); CREATE ROLE stranger LOGIN", 'elsewhere');
$cluster->sql(<<"END");
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$cluster->{home}', port '$ENV{PGPORT}', dbname 'elsewhere');
CREATE USER MAPPING FOR CURRENT_USER SERVER elsewhere;
CREATE TABLE two (id int, note text, x float8[]) PARTITION BY LIST (id);
CREATE FOREIGN TABLE first PARTITION OF two FOR VALUES IN (1) SERVER far OPTIONS (table_name 'visits');
CREATE FOREIGN TABLE second PARTITION OF two FOR VALUES IN (2) SERVER elsewhere OPTIONS (table_name 'visits');
CREATE TABLE parent (id int, note text, x float8[]);
CREATE FOREIGN TABLE heir () INHERITS (parent) SERVER elsewhere OPTIONS (table_name 'visits');
CREATE FOREIGN TABLE people (id int, note text, x float8[]) SERVER far OPTIONS (table_name 'visits');
CREATE FOREIGN TABLE rooms (id int, note text, x float8[]) SERVER elsewhere OPTIONS (table_name 'visits');
CREATE VIEW viewed AS SELECT r.id, r.x FROM people p JOIN rooms r ON p.id = r.id;
CREATE FOREIGN TABLE single (id int, note text, x float8[]) SERVER elsewhere OPTIONS (table_name 'visits');
CALL race_protect('by two', 'two', 1000000);
CALL race_protect('two', 'two', 1000000, unit_column => 'id', max_contributions => 1);
CALL race_protect('parent', 'parent', 1000000);
CALL race_protect('viewed', 'viewed', 1000000, unit_column => 'id', max_contributions => 1);
CALL race_protect('single', 'single', 1000000);
END
my @all = ('two', 'by two', 'parent', 'viewed', 'single');
$cluster->sql(release($_)) for @all;
is($cluster->made($_), '1|1', "$_: a release of all servers") for @all;
# of one row by estimate, fewer rows need not be asked for
$cluster->sql("INSERT INTO visits VALUES (7, 'one', '{1}')", 'elsewhere');
$cluster->sql('ANALYZE single');
like($cluster->sql('EXPLAIN SELECT FROM single LIMIT 0'), qr/\ALimit/, 'control: a table of which LIMIT 0 is not asked');

# All ways to release, and what a refusal tells: the server's own message, and which table it was
sub refused {
	my ($title, $message, $context) = @_;
	for my $dataset (@all) {
		my $before = $cluster->made($dataset);
		my $told = $cluster->sql_fails("CALL race_release_next('$dataset')");
		like($told, qr/\AERROR:  $message/, "$title, $dataset: refused");
		my $table = {two => 'second', 'by two' => 'second', parent => 'heir', viewed => 'rooms', single => 'single'}->{$dataset};
		like($told, qr/^(CONTEXT:  |\s*)probe of foreign table "$table" of server "elsewhere" before the charge: nothing is charged$/m, 'it says which table of which server');
		is($cluster->made($dataset), $before, 'and nothing is charged');
	}
	return;
}

$cluster->sql("ALTER USER MAPPING FOR CURRENT_USER SERVER elsewhere OPTIONS (user 'stranger')");
refused('no right', '42501: permission denied for table visits\n');
$cluster->sql('GRANT SELECT (id, note) ON visits TO stranger', 'elsewhere');
refused('no right to a column', '42501: permission denied for table visits\n');
$cluster->sql("ALTER USER MAPPING FOR CURRENT_USER SERVER elsewhere OPTIONS (DROP user)");
$cluster->sql('ALTER TABLE visits RENAME x TO y', 'elsewhere');
refused('no column', '42703: column "x" does not exist\n');
$cluster->sql('ALTER TABLE visits RENAME y TO x; ALTER TABLE visits RENAME TO others', 'elsewhere');
refused('no table', '42P01: relation "public.visits" does not exist\n');
$cluster->sql('ALTER TABLE others RENAME TO visits', 'elsewhere');
$cluster->sql("ALTER SERVER elsewhere OPTIONS (SET host '$cluster->{home}/nowhere')");
refused('no server', '08001: could not connect to server "elsewhere"\n');
like($cluster->sql_fails(release('two') =~ s/two/down/r), qr/\AERROR:  08001: /, 'no server: a first release');
is($cluster->made('down'), '0|0', 'and nothing is charged');
is($cluster->sql(release('two')), '', 'no server: none is asked for a release that there is');

# A view reads as its owner, who has the account there.
$cluster->sql("ALTER SERVER elsewhere OPTIONS (SET host '$cluster->{home}'); CREATE ROLE reader LOGIN; CALL race_grant('reader', 'curator'); GRANT SELECT ON viewed, single TO reader");
is($cluster->sql("SET ROLE reader; " . release('viewed') =~ s/viewed/as owner/r), '', 'a view is read, and asked for, with the account of its owner');
like($cluster->sql_fails("SET ROLE reader; " . release('single') =~ s/single/as reader/r), qr/\AERROR:  42704: user mapping not found for (?:user )?"reader".*probe of foreign table "single"/s, 'a table with that of the reader');
is($cluster->made('as reader'), '0|0', 'and nothing is charged');

# ---------------------------------------------------------------- interruptions

$cluster->sql("CALL race_protect('waits', 'waits', 1000000)");
my $holder = $cluster->session('far');
$holder->ask('SELECT pg_advisory_lock(1)');

# A release that waits for the other server, and what it tells when that is done
sub interrupt {
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

like(interrupt("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres' AND query ~ '^CALL race_release_sketch'"),
	qr/\AERROR:  57014: the release failed while its data were read\n/, 'a release that waits for another server can be cancelled');
is($cluster->made('waits'), '1|0', 'its charge stands');
$told = interrupt("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'far' AND application_name = 'postgres_fdw'");
like($told, qr/ERROR:  22000: the release failed while its data were read\n/, 'and fails if the other server goes away');
unlike($told, $secret, 'with nothing told');
is($cluster->made('waits'), '2|0', 'its charge stands, too');
$holder->ask('SELECT pg_advisory_unlock(1)');
$cluster->wait_for_locks(0, 'far');
$cluster->sql(release('waits'));
is($cluster->made('waits'), '3|1', 'then it is made, for a charge of its own');
is($cluster->sql("SELECT race_count(race_released('waits'))"), 100, 'of all rows');

# a server that is asked to build, and lacks the extension
$cluster->sql("ALTER SERVER far OPTIONS (ADD extensions 'racepriv, racepriv_release')");
$cluster->sql("CREATE FOREIGN TABLE lacking (id int CHECK (id BETWEEN 1 AND 9), x float8[]) SERVER far OPTIONS (table_name 'visits'); CALL race_protect('lacking', 'lacking', 1e9)");
like($cluster->sql_fails($_), qr/\AERROR:  (42704|3F000): .*does not exist\n.*probe of foreign table "lacking" of server "far" before the charge: nothing is charged\n/s, 'a server without the extension is known before the charge')
	for release('lacking'), "CALL race_release('lacking', 'lacking', '{id}', 1)";
is($cluster->made('lacking'), '0|0', 'nothing is charged');
$cluster->sql('CREATE EXTENSION racepriv_release CASCADE', 'far');
$cluster->sql(release('lacking'));
is($cluster->made('lacking'), '1|1', 'with it the release is made');

# a server does not enforce CHECKs of a foreign table: what they exclude is in no cell of a value
$cluster->sql(<<'END', 'far');
CREATE TABLE unchecked (id int, k int, f float8, at date, town text);
INSERT INTO unchecked SELECT i, CASE WHEN i <= 100 THEN 5 WHEN i <= 300 THEN 77 ELSE -1 END, CASE WHEN i <= 100 THEN .5 WHEN i <= 300 THEN 'Infinity' ELSE -1e9 END,
	date '2026-01-01' + CASE WHEN i <= 100 THEN 1 WHEN i <= 300 THEN 400 ELSE -400 END, CASE WHEN i <= 100 THEN 'Rome' ELSE 'Paris' END FROM generate_series(1, 1000) i;
END
$cluster->sql(<<'END');
CREATE FOREIGN TABLE unchecked (id int, k int NOT NULL CHECK (k BETWEEN 0 AND 9), f float8 NOT NULL CHECK (f >= 0 AND f <= 1), at date NOT NULL CHECK (at BETWEEN '2026-01-01' AND '2026-01-09'), town text NOT NULL CHECK (town IN ('Rome', 'Oslo'))) SERVER far;
CREATE VIEW described AS TABLE unchecked;
CALL race_protect('unchecked', 'unchecked', 1e9);
CALL race_protect('described', 'described', 1e9);
CALL race_describe('described', 'k', 0, 9);
CALL race_release('unchecked', 'unchecked', '{k,f,at,town}', 1e5);
CALL race_release('described', 'described', '{k}', 1e5);
END
is($cluster->sql("SELECT round((race_count('unchecked')).count), round((race_count('unchecked', '{\"$_\": null}')).count)"), '1000|900', "what a CHECK of $_ excludes is missing") for qw(k f at);
is($cluster->sql("SELECT round((race_count('unchecked', '{\"k\": \"[0,9)\"}')).count), round((race_count('unchecked', '{\"town\": \"other\"}')).count)"), '100|900', 'as among categories it is another one');
is($cluster->sql("SELECT round((race_count('described', '{\"k\": 9}')).count)"), 200, 'control: beyond bounds that the owner stated, it counts as the bound');

done_testing();
