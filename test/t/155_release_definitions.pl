# What was checked is what runs: neither names of the session's own nor definitions
# that change between the check, the charge and the read make a release run anything
# else.  It runs what was checked, or it fails.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE SCHEMA mine;
END
# 100 good records, in a table, a view of a view, and partitions
$cluster->sql(<<'END');
CREATE TABLE visits AS SELECT i AS id, 'note ' || i AS note FROM generate_series(1, 100) i;
CREATE TABLE alone AS TABLE visits;
CREATE VIEW inner_view AS TABLE visits;
CREATE VIEW outer_view AS TABLE inner_view;
CREATE TABLE parts (id int, note text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (1) TO (101);
CREATE TABLE part2 (id int, note text);
INSERT INTO parts TABLE visits;
INSERT INTO part2 SELECT i, 'x' FROM generate_series(101, 150) i;
CREATE FUNCTION f(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN value; END';
CREATE FUNCTION inlined(value int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT value';
CREATE FUNCTION with_default(value int, other int DEFAULT f(0)) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN value; END';
CREATE FUNCTION gate(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN f(value); END';
CREATE FUNCTION viewed(value int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN value > 0; END';
CREATE VIEW calling_view AS SELECT * FROM visits WHERE viewed(id);
CREATE DOMAIN small AS int CHECK (f(VALUE) < 1000);
CREATE FUNCTION strange() RETURNS float8 VOLATILE LANGUAGE sql AS 'SELECT random()';
CREATE FUNCTION nothing(anyelement) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT NULL::int';
CREATE ROLE reader LOGIN;
ALTER ROLE reader SET search_path = mine, public;
CALL race_grant('reader', 'curator');
GRANT USAGE, CREATE ON SCHEMA mine TO reader;
GRANT SELECT ON visits, alone, outer_view, calling_view, parts TO reader;
END
$cluster->sql("CALL race_protect('$_', '$_', 1e9)") for qw(visits alone outer_view calling_view parts part2);

sub release {
	my ($name, $expression, $dataset) = @_;
	$dataset //= 'visits';
	return "CALL race_release_sketch('$name', '$dataset', '$params', '$expression', 100000)";
}

# How many records a release has, or that there is none
sub records {
	my ($name) = @_;
	return $cluster->sql("SELECT coalesce((SELECT race_count(sketch)::text FROM _racepriv.race_releases WHERE name = '$name'), 'none')");
}

# -------------------------------------------------- names of the session's own

# Domains of the session that are called as the types of pg_catalog, found first
my $shadows = <<'END';
DO $$
BEGIN
	EXECUTE (SELECT string_agg(format('CREATE DOMAIN pg_temp.%I AS pg_catalog.%I', typname, CASE typname WHEN 'text' THEN 'varchar' ELSE 'text' END), ';')
		FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typname !~ '^_');
END $$;
END
# the overload that is checked is IMMUTABLE, the one of pg_catalog's type is not
my $overloads = <<'END';
CREATE FUNCTION mine.of(value pg_catalog.text) RETURNS pg_catalog.int4 VOLATILE LANGUAGE plpgsql AS 'BEGIN RAISE ''must not run''; END';
CREATE FUNCTION mine.of(value pg_temp.text) RETURNS pg_catalog.int4 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 5; END';
END
my $session = do { local $ENV{PGUSER} = 'reader'; $cluster->session };
is($session->ask($shadows . $overloads), '', 'a session with types and functions of its own');
my $quiet = "SET client_min_messages = warning;\n\\set VERBOSITY verbose\n";
is($session->ask("SELECT pg_typeof('a'::text)::pg_catalog.oid OPERATOR(pg_catalog.=) 25::pg_catalog.oid"), 'f', 'control: the types of the session are found first');
for my $expression ('ARRAY[of(note::text)]', 'ARRAY[of(note)]', 'ARRAY[length(note::text)]', 'ARRAY[id::int4]', 'ARRAY[id]::float8[]') {
	my $name = "shadowed $expression" =~ s/'//gr;
	my $told = $session->ask($quiet . release($name, $expression));
	like($told, qr/ERROR:  (22023|42\d\d\d|0A000)/, "types of the session: $expression is refused");
	is($cluster->charges($name) . records($name), '0none', 'at no charge');
}
is($session->ask($quiet . release('plain', 'ARRAY[id]')), '', 'types of the session: an expression that names no types is released');
is($session->ask($quiet . release('qualified', 'ARRAY[id::pg_catalog.int8]')), '', 'and one that qualifies them');
is($session->ask("${quiet}CALL race_release_next('plain'); CALL race_release_next('qualified')"), '', 'they are refreshed');
is(records($_ . "' AND version = '2"), 100, "$_: with all records") for qw(plain qualified);
$cluster->sql("CALL race_release_next('$_')") for qw(plain qualified);
is($cluster->sql("SELECT count(DISTINCT c.request - 'version') FROM _racepriv.race_charges c WHERE c.request->>'name' = 'qualified'"), 1,
	'and other sessions refresh the same request');
undef $session;
# functions of the session
like($cluster->sql_fails("CREATE FUNCTION pg_temp.g(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1'; " . release('temporary', 'ARRAY[pg_temp.g(id)]')),
	qr/ERROR:  22023: .*temporary/, 'a function of the session is refused');

# Whoever may create functions in the extension's schema
for my $impostor ('race_is_record(race_params, int[]) RETURNS boolean', 'race_is_record(race_params, float8[]) RETURNS boolean') {
	my ($signature) = $impostor =~ /^(.*\)) R/;
	$cluster->sql("CREATE FUNCTION public.$impostor IMMUTABLE LANGUAGE sql AS 'SELECT false'");
	my ($type) = $signature =~ /, (\w+)/;
	like($cluster->sql_fails(release("impostor $type", "ARRAY[id]::$type" . '[]')), qr/ERROR:  55000: function .* stands in for one of racepriv/, "an impostor, $signature, is noticed");
	is($cluster->charges("impostor $type"), 0, 'at no charge');
	$cluster->sql("DROP FUNCTION public.$signature");
}
$cluster->sql("CREATE AGGREGATE public.race_build(race_params, int[]) (SFUNC = _race_build_step, STYPE = race_sketch)");
like($cluster->sql_fails(release('impostor', 'ARRAY[id]')), qr/ERROR:  55000: function .* stands in for one of racepriv/, 'an aggregate of that kind is, too');
$cluster->sql('DROP AGGREGATE public.race_build(race_params, int[])');

# ------------------------------------------- definitions that change meanwhile

# What is done while a release waits: for the budget, or for the gate in its expression.
# It must fail after the charge, or release the 100 records that it would have had.
my %waits = (charge => 'SELECT FROM _racepriv.race_budgets FOR UPDATE', read => 'SELECT pg_advisory_xact_lock(1)');
my $n = 0;

sub change {
	my ($when, $dataset, $expression, $change, $expected, $undo) = @_;
	my $name = 'change ' . ++$n;
	my $what = "$change, while it waits for its $when";
	my $holder = $cluster->session;
	$holder->ask("BEGIN; $waits{$when}");
	my $reader = do { local $ENV{PGUSER} = 'reader'; $cluster->session };
	$reader->start("\\set VERBOSITY verbose\n" . release($name, $expression, $dataset));
	$cluster->wait_for_locks(1);
	my $changer = $cluster->session->start("SET client_min_messages = warning; SET application_name = 'changing $n';\n$change;\nSET application_name = 'changed $n'");
	$cluster->wait_until("SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'changed $n'"
		  . " OR application_name = 'changing $n' AND wait_event_type = 'Lock'");
	$holder->ask('COMMIT');
	my $told = $reader->finish;
	is($changer->finish, '', "$what: it is done");
	if ($expected eq 'released') {
		is($told, '', "$what: the release is made");
		is(records($name), 100, 'of what was checked');
	}
	else {
		like($told, qr/ERROR:  $expected: /, "$what: the release fails");
		is(records($name), 'none', 'and nothing is stored');
	}
	is($cluster->charges($name), 1, 'it is charged');
	$cluster->sql($undo) if defined $undo;
	is(($cluster->sql("SELECT count(*) FROM pg_locks WHERE mode <> 'ExclusiveLock' AND pid <> pg_backend_pid() AND relation = '$dataset'::regclass")), 0, 'no lock is left');
	return;
}

my $f = 'CREATE OR REPLACE FUNCTION f(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS';
my $old_f = "$f 'BEGIN RETURN value; END'";
my $changed = '55000';
for my $case (
	# relations: they stay as they are until the release is made
	['alone', 'ARRAY[id]', 'ALTER TABLE alone ALTER id TYPE bigint', 'released', 'ALTER TABLE alone ALTER id TYPE int'],
	['visits', 'ARRAY[id]', 'ALTER TABLE visits RENAME TO others', 'released', 'ALTER TABLE others RENAME TO visits'],
	['visits', 'ARRAY[id]', 'ALTER TABLE visits RENAME id TO number', 'released', 'ALTER TABLE visits RENAME number TO id'],
	['visits', 'ARRAY[id]', 'ALTER TABLE visits ENABLE ROW LEVEL SECURITY', 'released', 'ALTER TABLE visits DISABLE ROW LEVEL SECURITY'],
	['visits', 'ARRAY[id]', 'CREATE POLICY p ON visits USING (id < 3); ALTER TABLE visits ENABLE ROW LEVEL SECURITY', 'released',
		'ALTER TABLE visits DISABLE ROW LEVEL SECURITY; DROP POLICY p ON visits'],
	['outer_view', 'ARRAY[id]', 'CREATE OR REPLACE VIEW inner_view AS SELECT * FROM visits LIMIT 3', 'released', 'CREATE OR REPLACE VIEW inner_view AS TABLE visits'],
	['outer_view', 'ARRAY[id]', 'CREATE OR REPLACE VIEW outer_view AS SELECT * FROM visits WHERE id < 3', 'released', 'CREATE OR REPLACE VIEW outer_view AS TABLE inner_view'],
	# functions: nothing locks them
	['visits', 'ARRAY[f(id)]', "$f 'BEGIN RETURN nothing(value); END'", $changed, $old_f],
	['visits', 'ARRAY[f(id)]', 'ALTER FUNCTION f VOLATILE', '(22023|55000)', 'ALTER FUNCTION f IMMUTABLE'],
	['visits', 'ARRAY[inlined(id)]', "CREATE OR REPLACE FUNCTION inlined(value int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT NULL::int'", $changed,
		"CREATE OR REPLACE FUNCTION inlined(value int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT value'"],
	['visits', 'ARRAY[with_default(id)]', "$f 'BEGIN RETURN nothing(value); END'", $changed, $old_f],
	['visits', 'ARRAY[CASE WHEN id < 1000 THEN id::small END + 0]', "$f 'BEGIN RETURN nothing(value); END'", $changed, $old_f],
	['visits', 'ARRAY[CASE WHEN id < 1000 THEN id::small END + 0]', 'ALTER DOMAIN small ADD CONSTRAINT c CHECK (strange() < 2)', '(22023|55000)', 'ALTER DOMAIN small DROP CONSTRAINT c'],
	['visits', 'ARRAY[CASE WHEN id < 1000 THEN id::small END + 0]', 'ALTER DOMAIN small ADD CONSTRAINT c CHECK (viewed(VALUE))', $changed, 'ALTER DOMAIN small DROP CONSTRAINT c'],
	['calling_view', 'ARRAY[id]', "CREATE OR REPLACE FUNCTION viewed(value int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END'", $changed,
		"CREATE OR REPLACE FUNCTION viewed(value int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN value > 0; END'"],
	# names that come to mean something else
	['visits', 'ARRAY[f(id)]', "CREATE FUNCTION mine.f(value int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT NULL::int'; GRANT EXECUTE ON FUNCTION mine.f TO reader", $changed, 'DROP FUNCTION mine.f'],
	['visits', 'ARRAY[f(id)]', 'ALTER FUNCTION f(int) RENAME TO g', '(42883|55000)', 'ALTER FUNCTION g(int) RENAME TO f'],
	# rights
	['visits', 'ARRAY[id]', 'REVOKE SELECT ON visits FROM reader', '42501', 'GRANT SELECT ON visits TO reader'],
	['visits', 'ARRAY[f(id)]', 'REVOKE EXECUTE ON FUNCTION f FROM PUBLIC', '(42501|55000)', 'GRANT EXECUTE ON FUNCTION f TO PUBLIC'],
	# a partition that has another budget
	['parts', 'ARRAY[id]', 'ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (101) TO (200)', '(22023|55000)', 'ALTER TABLE parts DETACH PARTITION part2']) {
	change('charge', @$case);
}
change('read', 'visits', 'ARRAY[gate(id)]', "CREATE OR REPLACE FUNCTION gate(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", $changed,
	"CREATE OR REPLACE FUNCTION gate(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN f(value); END'");
change('read', 'alone', 'ARRAY[gate(id)]', 'ALTER TABLE alone ALTER id TYPE bigint', 'released');

# Tables that become children while the query is planned, after the second check.  A function of
# constants runs then, and waits: where data are read, nothing is logged, by which it knows the time.
$cluster->sql(<<'END');
CREATE FUNCTION planned(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	IF current_setting('log_min_messages') = 'panic' THEN
		PERFORM pg_advisory_xact_lock_shared(1);
		PERFORM FROM pg_description LIMIT 1;
	END IF;
	RETURN value;
END $$;
CREATE TABLE whole (id int, note text);
CREATE TABLE child () INHERITS (whole);
INSERT INTO child TABLE visits;
CREATE TABLE spent AS TABLE part2;
CREATE TABLE unspent AS TABLE part2;
GRANT SELECT ON whole TO reader;
CALL race_protect('whole', 'whole', 1e9);
CALL race_protect('spent', 'spent', 1);
END
change('read', 'whole', 'ARRAY[id + planned(0)]', "ALTER TABLE $_ INHERIT whole", $changed, "ALTER TABLE $_ NO INHERIT whole") for qw(spent unspent);
$cluster->sql("CALL race_protect('unspent', 'unspent', 1)");
is($cluster->sql("SELECT count(DISTINCT budget) FROM _racepriv.race_datasets WHERE dataset IN ('whole', 'spent', 'unspent')"), 3, 'and each has a budget of its own');
change('read', 'whole', 'ARRAY[id + planned(0)]', 'SELECT', 'released');

# The planner replaces a function in FROM by its body.  What that reads is known before the charge.
$cluster->sql(<<'END');
CREATE FUNCTION all_spent() RETURNS SETOF spent IMMUTABLE LANGUAGE sql AS 'SELECT * FROM spent';
CREATE VIEW inlined_view AS SELECT s.id FROM visits v JOIN all_spent() s ON v.id = s.id;
CALL race_protect('inlined_view', 'inlined_view', 1e9, unit_column => 'id', max_contributions => 1);
END
like($cluster->sql_fails(release('inlined', 'ARRAY[id]', 'inlined_view')), qr/\AERROR:  22023: relation "inlined_view" cannot be protected\nDETAIL:  A function that it calls reads table "spent"/, 'a table that a function reads is refused');
is($cluster->charges('inlined'), 0, 'at no charge');

# A collation may call different texts equal: then a constraint says nothing of texts.
SKIP: {
	skip 'there is no ICU', 1 if $cluster->sql("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") == 0;
	$cluster->sql(<<'END');
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE caseless (a text COLLATE caseless CHECK (a IN ('rome', 'paris')), b text CHECK (b COLLATE caseless = 'rome'), c text CHECK (c IN ('rome', 'paris')));
CALL race_protect('caseless', 'caseless', 1);
END
	is($cluster->sql("SELECT string_agg(column_name || coalesce(categories::text, ' none'), ' ') FROM race_columns WHERE dataset = 'caseless'"), 'a none b none c{rome,paris}', 'a collation that calls different texts equal says nothing of them');
}

done_testing();
