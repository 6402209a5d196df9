# What a hostile second reading of the release path found, each as a test: attacks by
# definitions, by other owners, by clients that do not listen, by settings and by size.
use strict;
use warnings;
use lib 'test/t';
use IO::Socket::UNIX;
use RaceCluster;
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE ROLE one LOGIN;
CREATE ROLE other LOGIN;
CREATE ROLE curator LOGIN;
CALL race_grant('one', 'owner');
CALL race_grant('other', 'owner');
CALL race_grant('other', 'curator');
CALL race_grant('curator', 'curator');
GRANT CREATE ON SCHEMA public TO one, other;
CREATE TABLE visits AS SELECT i AS id, 'hush ' || i AS note FROM generate_series(1, 100) i;
CREATE INDEX ON visits (id);
GRANT SELECT ON visits TO curator;
CALL race_protect('visits', 'visits', 1e9);
END

sub as {
	my ($role, $statements) = @_;
	local $ENV{PGUSER} = $role;
	return $cluster->session->ask("\\set VERBOSITY verbose\n$statements");
}

sub release {
	my ($name, $expression, $dataset) = @_;
	$dataset //= 'visits';
	return "CALL race_release_sketch('$name', '$dataset', '$params', '$expression', 1000)";
}

# ---------------------------------------------------------------- one person

# Each row is a person and someone she follows.  Tied by different columns in its two
# occurrences, her rows make records of everybody whom she follows.
$cluster->sql('CREATE TABLE follows (person int, followed int)');
$cluster->sql(<<'END');
CREATE VIEW followed AS SELECT a.person AS unit, a.person AS x FROM follows a JOIN follows b ON b.followed = a.person;
CREATE VIEW twice AS SELECT a.person AS unit, b.followed AS x FROM follows a JOIN follows b ON b.person = a.person;
END
$cluster->sql("CALL race_protect('twice', 'twice', 1e6, unit_column => 'unit', max_contributions => 1)");
like($cluster->sql_fails("CALL race_protect('followed', 'followed', 1e6, unit_column => 'unit', max_contributions => 1)"), qr/ERROR:  22023/,
	'a table that says the unit by one column here and by another there is refused');

# A default of an argument that comes before one that is named
$cluster->sql(<<'END');
CREATE FUNCTION looks() RETURNS int VOLATILE LANGUAGE sql AS 'SELECT count(*)::int FROM visits';
CREATE FUNCTION named(a int DEFAULT looks(), b int DEFAULT 0) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1000 * a + b; END';
CREATE TABLE rows AS SELECT 1 AS id, xml '<r><x>2000-01-01</x></r>' AS x;
CREATE VIEW with_named AS SELECT named(b => id) AS x FROM rows;
CREATE FUNCTION accepts(date) RETURNS boolean VOLATILE LANGUAGE sql AS 'SELECT count(*) > 0 FROM visits';
CREATE DOMAIN accepted AS date CHECK (accepts(VALUE));
CREATE VIEW with_xml AS SELECT id, day FROM rows, XMLTABLE('/r' PASSING x COLUMNS day accepted PATH 'x');
END
like($cluster->sql_fails(release('first default', 'ARRAY[named()]')), qr/ERROR:  22023/, 'control: a default that is not IMMUTABLE is seen');
like($cluster->sql_fails(release('named', 'ARRAY[named(b => id)]')), qr/ERROR:  22023/, 'a default before a named argument is seen, too');
like($cluster->sql_fails("CALL race_protect('named', 'with_named', 1)"), qr/ERROR:  22023/, 'in a view as well');
like($cluster->sql_fails("CALL race_protect('xml', 'with_xml', 1, unit_column => 'id', max_contributions => 1)"), qr/ERROR:  22023/, 'the checks of domains that XMLTABLE makes are seen');

# ------------------------------------------------------------- other owners

as('one', 'CREATE TABLE ones AS SELECT i AS id FROM generate_series(1, 10) i; GRANT SELECT ON ones TO other');
as('other', <<'END');
CREATE TABLE others AS SELECT i AS id FROM generate_series(1, 10) i;
CREATE VIEW view AS SELECT o.id FROM others o;
CALL race_protect('view', 'view', 1e6, unit_column => 'id', max_contributions => 1);
CREATE OR REPLACE VIEW view AS SELECT o.id FROM others o JOIN ones USING (id);
END
like(as('other', release('squat', 'ARRAY[id]', 'view')), qr/ERROR:  (42501|55000|22023)/, "a view that gets another owner's table later is not released");
is($cluster->sql("SELECT count(*) FROM _racepriv.race_budget_tables WHERE table_name = 'public.ones'"), 0, "which does not bring it into the view's budget");
is(as('one', "CALL race_protect('ones', 'ones', 1)"), '', 'and its owner can still protect it');

# a table that all use as public
$cluster->sql('CREATE TABLE calendar AS SELECT i AS day FROM generate_series(1, 10) i; GRANT SELECT ON calendar TO PUBLIC');
as('one', <<'END');
CREATE TABLE days AS SELECT i AS id FROM generate_series(1, 10) i;
CREATE VIEW dated AS SELECT id FROM days JOIN calendar ON day = id;
CALL race_protect('dated', 'dated', 1e6, unit_column => 'id', max_contributions => 1, public_tables => '{calendar}');
GRANT SELECT ON dated TO curator;
END
is(as('curator', release('dated', 'ARRAY[id]', 'dated')), '', 'control: a view over a public table is released');
as('other', <<'END');
CREATE TABLE weeks AS TABLE others;
CREATE VIEW taking AS SELECT id FROM weeks;
CALL race_protect('taking', 'taking', 1e6, unit_column => 'id', max_contributions => 1);
CREATE OR REPLACE VIEW taking AS SELECT id FROM weeks JOIN calendar ON day = id;
END
as('other', release('taking', 'ARRAY[id]', 'taking'));
is(as('curator', "CALL race_release_next('dated')"), '', 'nobody else can end the releases over it');

as('one', "CREATE TABLE more AS SELECT 1 AS id; CALL race_protect('more', 'more', 1)");
as('other', <<'END');
CREATE FUNCTION helper() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN CALL race_budget_limit('more', 1e9, 0); RETURN 1; END $$;
CREATE VIEW report AS SELECT helper();
GRANT SELECT ON report TO one;
END
like(as('one', 'SELECT * FROM report'), qr/ERROR:  42501/, 'a function that runs as another role does not act for its caller');
is($cluster->sql("SELECT epsilon_limit FROM _racepriv.race_budgets WHERE budget = 'more'"), 1, 'and the limit is what it was');

# a copy, before it is adopted
$cluster->sql('CREATE DATABASE copy');
$cluster->sql(release('before the copy', 'ARRAY[id]'));
$cluster->run_here('sh', '-c', 'pg_dump postgres | psql -qX copy');
like($cluster->sql_fails("ALTER TABLE visits RENAME TO renamed; CALL race_protect('fresh', 'renamed', 1)", 'copy'), qr/ERROR:  55000: a table of the same owner is missing/,
	'in a copy, a table that was renamed gets no new budget');

# --------------------------------------------------------------- what is told

{
	local $ENV{PGUSER} = 'curator';
	my ($told) = RaceServer::run("SET exit_on_error = on;\n" . release('exit', 'ARRAY[CASE WHEN id > 0 THEN note::int END]') . ";\n", qw(psql -XAtq -h), $cluster->{home}, 'postgres');
	unlike($told, qr/hush/, 'with exit_on_error the client is told nothing of a record');
	unlike($cluster->log_text, qr/hush/, 'nor is the log');
}
$cluster->sql(<<'END');
CREATE FUNCTION keeps(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF value = 5 THEN PERFORM set_config('application_name', 'hush ' || value, false); END IF;
	RETURN value;
END $$;
END
unlike(as('curator', release('keeps', 'ARRAY[keeps(id)]') . ';SHOW application_name'), qr/hush/, 'what functions set while rows are read is undone');

# the condition of a view, by an index
$cluster->sql(<<'END');
CREATE TABLE many AS SELECT i AS id, i % 37 = 0 AS rare FROM generate_series(1, 20000) i;
CREATE INDEX many_rare ON many (rare);
VACUUM ANALYZE many;
CREATE VIEW rare AS SELECT id FROM many WHERE rare;
CALL race_protect('rare', 'rare', 1e6);
END
my $fetched = "SELECT coalesce(pg_stat_get_tuples_returned('many_rare'::regclass), 0)";
my $counting = $cluster->session;
my $before = $counting->ask($fetched);
$counting->ask(release('rare', 'ARRAY[id]', 'rare'));
undef $counting;
is($cluster->sql($fetched), $before, 'statistics do not show how many rows a release read');

# ------------------------------------------------------ charges that are stuck

# A client that has everything told to it, and does not listen
sub message {
	my ($text) = @_;
	return pack 'a N a*', 'Q', length($text) + 5, "$text\0";
}

sub deaf_client {
	my ($name, $hears) = @_;
	my $client = IO::Socket::UNIX->new(Peer => "$cluster->{home}/.s.PGSQL.$ENV{PGPORT}") or die "socket: $!";
	my $start = "user\0curator\0database\0postgres\0\0";
	$client->syswrite(pack 'N N a*', length($start) + 8, 196608, $start);
	$client->syswrite(message("SET client_min_messages = log; SET debug_print_plan = on; SET debug_print_rewritten = on; SELECT 'started'"));
	$client->syswrite(message(release($name, 'ARRAY[id]')));
	my $told = '';
	while (length $told < $hears) {
		last unless sysread $client, $told, $hears - length $told, length $told;
		last if $told =~ /started.*CALL\0Z/s;
	}
	return $client;
}

for my $hears (map { $_ * 50_000 } 1 .. 26) {
	my $client = deaf_client("deaf $hears", $hears);
	# until it is told no more, or has been told everything
	$cluster->wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'curator' AND state = 'active' AND wait_event IS DISTINCT FROM 'ClientWrite')");
	my ($told) = RaceServer::run('', qw(psql -XAtq -h), $cluster->{home}, '-c', "SELECT 'free' FROM _racepriv.race_budgets WHERE budget = 'visits' FOR NO KEY UPDATE NOWAIT", 'postgres');
	next if $told eq 'free' && $hears < 1_300_000;
	is($told, 'free', 'a client that does not listen does not keep a budget locked');
	last;
}

# ------------------------------------------------------------------- sizes

# Views that are joined to themselves, again and again
as('other', <<'END');
CREATE TABLE base (id int);
CREATE VIEW twice0 AS SELECT id FROM base;
DO $$ BEGIN FOR i IN 1 .. 20 LOOP EXECUTE format('CREATE VIEW twice%s AS SELECT a.id FROM twice%s a JOIN twice%s b USING (id)', i, i - 1, i - 1); END LOOP; END $$;
END
my $refused = as('other', "CALL race_protect('deep', 'twice20', 1, unit_column => 'id', max_contributions => 1)");
like($refused, qr/ERROR:  54000/, 'a view of a million tables is refused');
unlike($refused, qr/CONTEXT:  SQL function/, 'while it is looked at, not after');

for my $case (['dataset', "CALL race_release_sketch(''n'', repeat(''x'', 100000), ''$params'', ''ARRAY[id]'', 1)"],
	['expression', "CALL race_release_sketch(''n'', ''visits'', ''$params'', ''ARRAY['' || repeat(''x'', 100000) || '']'', 1)"],
	['release', "CALL race_release_next(repeat(''x'', 100000))"]) {
	my ($what, $call) = @$case;
	cmp_ok(length as('curator', "DO 'BEGIN $call; END'"), '<', 10000, "a message cuts a long $what");
}
my $name = $cluster->sql("SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i");
like(as('curator', release($name, 'ARRAY[id]')), qr/ERROR/, 'a name that is too long to be stored is refused');
is($cluster->sql("SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = '$name'"), 0, 'at no charge');

# ------------------------------------------------- the ledger's rights, and others'

# A domain's check is planned when the domain is first looked at: by whom?
as('other', <<'END');
CREATE TABLE checked (id int);
CREATE FUNCTION acts_as() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;
CREATE DOMAIN watched AS int CHECK (VALUE > 0 OR acts_as());
CREATE VIEW watching AS SELECT id::watched AS x FROM checked;
END
unlike(as('other', "CALL race_protect('watching', 'watching', 1)"), qr/ran as postgres/,
	'the check of a domain does not run with the rights of the owner of the ledger');

# what a call site keeps is for the role that asked
$cluster->sql(<<'END');
CREATE ROLE nobody_else LOGIN;
CREATE FUNCTION latest(name text) RETURNS float8 STABLE LANGUAGE plpgsql AS 'BEGIN RETURN race_count(race_released(name)); END';
CREATE FUNCTION for_me() RETURNS text STABLE SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN PERFORM latest('before the copy'); RETURN 'done'; END $$;
END
like(as('nobody_else', "SELECT latest('before the copy')"), qr/ERROR:  42501/, 'control: who may not read releases gets none');
like(as('nobody_else', "SELECT for_me(), latest('before the copy')"), qr/ERROR:  42501/, 'nor what a call site has from another role');

# a table that was given away, and a new one of its old name
as('one', "CREATE TABLE gift AS SELECT 1 AS id; CALL race_protect('gift', 'gift', 1)");
$cluster->sql('ALTER TABLE gift RENAME TO given; ALTER TABLE given OWNER TO other');
is(as('other', "CALL race_budget_limit('gift', 2, 0)"), '', 'control: the new owner of a table answers for its budget');
as('one', 'CREATE TABLE gift AS SELECT 1 AS id');
is(as('other', "CALL race_budget_limit('gift', 3, 0)"), '', 'also when the owner of before makes a table of its old name');

# -------------------------------------------------------- rows in two tables

as('other', <<'END');
CREATE TABLE mother (person int, followed int);
CREATE TABLE father (person int, followed int);
CREATE TABLE child () INHERITS (mother, father);
CREATE VIEW family AS SELECT a.person AS unit FROM mother a JOIN father b ON b.followed = a.person;
CREATE TABLE daily (person int, followed int, day int) PARTITION BY LIST (day);
CREATE TABLE monday PARTITION OF daily FOR VALUES IN (1);
CREATE TABLE tuesday PARTITION OF daily FOR VALUES IN (2);
CREATE VIEW siblings AS SELECT a.person AS unit FROM monday a JOIN tuesday b ON b.followed = a.person;
END
like(as('other', "CALL race_protect('family', 'family', 1, unit_column => 'unit', max_contributions => 1)"), qr/ERROR:  22023/, 'two tables with a part in common, by different columns, are refused');
like(as('other', "CALL race_protect('siblings', 'siblings', 1, unit_column => 'unit', max_contributions => 1)"), qr/ERROR:  22023/, 'two partitions of one table, by different columns, as well');

# -------------------------------------------------------------- a partial copy

$cluster->sql('CREATE TABLE scratch AS SELECT 1 AS id');
$cluster->sql("CALL race_protect('scratch', 'scratch', 1)");
$cluster->sql('CREATE DATABASE partial');
$cluster->run_here('sh', '-c', 'pg_dump --exclude-table=scratch postgres | psql -qX partial 2>&1');
like($cluster->sql_fails("CALL race_protect('fresh', 'visits', 1)", 'partial'), qr/ERROR:  22023: the tables of this relation have a budget/,
	'a copy without one of the tables keeps the budgets of the others');

# defaults of defaults, twice at each level
as('other', <<'END');
CREATE FUNCTION deep0() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
DO $$ BEGIN FOR i IN 1 .. 24 LOOP EXECUTE format('CREATE FUNCTION deep%s(a int DEFAULT deep%s(), b int DEFAULT deep%s()) RETURNS int IMMUTABLE LANGUAGE plpgsql AS ''BEGIN RETURN 1; END''', i, i - 1, i - 1); END LOOP; END $$;
CREATE TABLE defaulted (id int);
CREATE VIEW many_defaults AS SELECT id, deep24() AS x FROM defaulted;
END
like(as('other', "CALL race_protect('defaults', 'many_defaults', 1)"), qr/ERROR:  54000/, 'defaults of defaults are refused, long before all are read');

done_testing();
