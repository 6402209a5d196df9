# Nothing that runs with the rights of the ledger's owner, who is a superuser, is found by a name in
# a schema that somebody else owns: neither what its owner made there before CREATE EXTENSION, nor
# what he puts in its place after he has renamed it, before a call, in the same transaction, or in
# the middle of a release.  And who may not create the extension does not.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster qw(as fails);
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->{database} = 'clinic';
$cluster->sql("CREATE ROLE $_ LOGIN") for qw(dba helper analyst stranger);
$cluster->sql("CREATE DATABASE $_ OWNER dba") for qw(clinic hostile schema);
# before 15, the schema public does not belong to the owner of the database
$cluster->sql('ALTER SCHEMA public OWNER TO dba', $_) for qw(clinic hostile schema);

sub is_no_superuser {
	my ($what) = @_;
	is($cluster->sql("SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolsuper AND rolname !~ '^pg_'"), $ENV{PGUSER}, "$what: nobody has become superuser");
}

# --------------------------------------------------------- who creates it

like(fails($_, 'CREATE EXTENSION racepriv_release CASCADE'), qr/ERROR:  42501/, "$_ cannot create the extension") for qw(stranger dba);
is($cluster->sql("SELECT trusted FROM pg_available_extension_versions WHERE name = 'racepriv' AND version = (SELECT default_version FROM pg_available_extensions WHERE name = 'racepriv')"), 'f', 'it is not trusted');

# ------------------------------------------------- a schema that is renamed

# What becomes superuser if a superuser runs it, and says so
my $deed = q(LANGUAGE plpgsql AS $f$ BEGIN
	IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE dba SUPERUSER'; END IF;
	RAISE EXCEPTION 'hijacked by %%, as %%', %L, current_user; END $f$);
# In a new schema of the old name, everything that the extension has had there or has in its own
my $impostors = <<"END";
DO \$do\$
DECLARE
	f record;
BEGIN
	EXECUTE 'CREATE FUNCTION public.evil() RETURNS text ' || format(\$d\$$deed\$d\$, 'evil');
	EXECUTE 'CREATE FUNCTION public.evil_trigger() RETURNS trigger ' || format(\$d\$$deed\$d\$, 'a trigger');
	FOR f IN SELECT DISTINCT ON (p.proname, pg_get_function_identity_arguments(p.oid)) p.proname, p.prokind, p.proretset, p.prorettype::regtype AS result,
			pg_get_function_identity_arguments(p.oid) AS arguments
		FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
		WHERE d.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')) AND NOT p.proargtypes::oid[] && '{2275,2276,2281}' -- cstring, any, internal
			AND p.prorettype NOT IN ('internal'::regtype, 'cstring'::regtype, 'trigger'::regtype)
	LOOP
		EXECUTE format('CREATE %s public.%I(%s) %s ', CASE f.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, f.proname, f.arguments,
			CASE WHEN f.prokind = 'p' OR f.arguments ~ '(^|, )OUT ' THEN '' ELSE 'RETURNS ' || CASE WHEN f.proretset THEN 'SETOF ' ELSE '' END || f.result END)
			|| format(\$d\$$deed\$d\$, f.proname);
	END LOOP;
	-- one of them no role may read, so that LIKE is refused
	FOR f IN SELECT c.relname, string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum) AS columns
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = '_racepriv'::regnamespace AND c.relkind = 'r' GROUP BY 1 LOOP
		EXECUTE format('CREATE TABLE public.%I (%s)', f.relname, f.columns);
		EXECUTE format('CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON public.%I FOR EACH STATEMENT EXECUTE FUNCTION public.evil_trigger()', f.relname);
	END LOOP;
END \$do\$;
END
$cluster->sql("CREATE EXTENSION racepriv_release CASCADE; CALL race_grant('dba', 'owner'); CALL race_grant('dba', 'curator'); CALL race_grant('analyst', 'analyst')", 'clinic');
as('dba', 'CREATE SCHEMA kept; CREATE TABLE kept.visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10] AS x, i % 7 AS days FROM generate_series(1, 100) i;'
	. " CALL race_protect('visits', 'kept.visits', 90)");

# The reproduction of a review: in one transaction, and the acts of an owner
sub acts {
	my ($schema) = @_;
	return ("SELECT $schema.race_refreshes_left('y')", "CALL $schema.race_budget_limit('visits', 90, 0)", "CALL $schema.race_budget_adopt('visits')",
		"CALL $schema.race_protect('again ' || clock_timestamp(), 'kept.visits', 90)");
}
my $swap = "ALTER SCHEMA public RENAME TO hid; CREATE SCHEMA public; $impostors";
for my $act (acts('hid')) {
	like(fails('dba', "BEGIN; $swap $act; SELECT 1 / 0; ROLLBACK"), qr/^(?!.*hijacked).*ERROR:  22012/s, "renamed in the same transaction: $act");
}
is_no_superuser('renamed in the same transaction');

# In the middle of a release, while the expression waits in its gate
as('dba', 'CREATE FUNCTION kept.gate(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); PERFORM pg_advisory_unlock(1); RETURN $1; END $$');
for my $role ('dba', $ENV{PGUSER}) {
	my $holder = $cluster->session('clinic');
	$holder->ask('BEGIN; SELECT pg_advisory_xact_lock(1)');
	my $reader = do { local $ENV{PGUSER} = $role; $cluster->session('clinic') };
	$reader->start("CALL race_release_sketch('in the middle of $role', 'visits', '$params', 'ARRAY[kept.gate(id)]', 1)");
	$cluster->wait_until("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory'");
	as('dba', $swap);
	$holder->ask('COMMIT');
	like($reader->finish, qr/^(?:ERROR:  .*55000.*)?$|what the release is made of was changed/, "renamed in the middle of a release by $role: it is made, or refused");
	is($cluster->sql('SELECT count(*) FROM public.race_releases', 'clinic'), 0, 'and nothing is stored elsewhere');
	$cluster->sql('DROP SCHEMA public CASCADE', 'clinic');
	as('dba', 'ALTER SCHEMA hid RENAME TO public');
}
is_no_superuser('renamed in the middle of a release');

# Before: an honest user does not notice
as('dba', $swap);
as('dba', $_) for acts('hid');
as('dba', "CALL hid.race_release_sketch('people', 'visits', 'l2(dims=1, bandwidth=2, lower={0}, upper={10})', 'x', 1, columns => '{x}')");
as('dba', "CALL hid.race_release_sketch('sites', 'visits', '$params', 'x', 1, label => 'site', labels => '{0,1}')");
as('dba', "CALL hid.race_release_next('people'); ");
for my $question ("race_curve('people')", "race_histogram('people', 'x', '{0,5,10}'::float8[])", "race_quantiles('people', 'x', '{0.5}'::float8[])", "race_modes('people')", "race_outliers('people', '{1}')",
	"race_versions('people')", "race_released('people')", "race_classify('sites', '{3}'::int[])", "race_posterior('sites', '{3}'::int[])")
{
	cmp_ok(as('analyst', "SELECT count(*) FROM hid.$question"), '>', 0, "renamed before: $question answers");
	cmp_ok($cluster->sql("SET search_path = pg_catalog, hid; SELECT count(*) FROM $question", 'clinic'), '>', 0, "and a superuser");
}
$cluster->sql($_, 'clinic') for acts('hid'), "CALL hid.race_grant('helper', 'curator')", 'TABLE hid.race_budget_status', 'SELECT name FROM hid.race_catalog';
is_no_superuser('renamed before');
like(fails('dba', 'SELECT public.evil()'), qr/hijacked by evil, as dba/, 'control: what he has made can be called');
like(fails('dba', "SELECT public._race_with_parts('{kept.visits}')"), qr/hijacked by _race_with_parts, as dba/, 'control: there are impostors of internal functions');

# What belongs to others in the schema of the ledger, he cannot have
like(fails('dba', $_), qr/ERROR:  (?:42501|2BP01)/, "dba cannot: $_")
	for 'ALTER SCHEMA _racepriv RENAME TO mine', 'DROP SCHEMA _racepriv CASCADE', 'CREATE TABLE _racepriv.t ()', 'DROP INDEX _racepriv.race_charges_budget',
	'DROP INDEX _racepriv.race_budget_tables_relation', 'ALTER EXTENSION racepriv_release DROP SCHEMA _racepriv', 'DROP TABLE _racepriv.race_charges', "ALTER TABLE _racepriv.race_budgets SET SCHEMA public";

# A superuser who takes the schema away is told so.
like($cluster->sql_fails("BEGIN; ALTER SCHEMA _racepriv RENAME TO elsewhere; $_", 'clinic'), qr/ERROR:  (?:55000: the objects of extension racepriv|42P01|3F000)/, "without the schema: $_")
	for acts('hid'), "SELECT hid.race_released('people')";

# -------------------------------------------- what was there before the script

# A schema of that name that somebody else has made
as('dba', 'CREATE SCHEMA _racepriv; CREATE FUNCTION _racepriv._race_identity() RETURNS int LANGUAGE sql AS \'SELECT 1\'', 'schema');
like($cluster->sql_fails('CREATE EXTENSION racepriv_release CASCADE', 'schema'), qr/ERROR:  42P06/, 'a schema of this name that was there before is refused');

# Operators and functions that fit better than those of pg_catalog and of the extension; each
# of them says so when it is called.  Their names are all that the install script has of pg_catalog, their arguments
# have all types of its columns, and there is a type that these become by themselves.
my $cry = q(LANGUAGE plpgsql AS $f$BEGIN RAISE EXCEPTION ''hijacked by %%'', %L; END$f$);
my ($version) = $cluster->sql("SELECT default_version FROM pg_available_extensions WHERE name = 'racepriv'");
my $script = join '', map {
	open my $file, '<', RaceCluster::command('pg_config', '--sharedir') . "/extension/$_--$version.sql" or die "install script: $!";
	local $/ = undef;
	my $text = readline $file;
	$text =~ s/^\s*--.*$//mgr =~ s/^COMMENT ON.*?';$//msgr;
} qw(racepriv racepriv_release);
my $functions = join ',', sort keys %{{ map { $_ => 1 } $script =~ /\b([a-z_0-9]+) ?\(/g }};
my $signs = join ' ', sort keys %{{ map { $_ => 1 } '=', '~~', '!~~', $script =~ m{(?<![-+*/<>=~!@#%^&|`?])([-+*/<>=~!@#%^&|`?]{1,3})(?![-+*/<>=~!@#%^&|`?])}g }};
my $operators = <<"END";
SET search_path = pg_catalog;
CREATE TYPE public.drawn AS (t text);
DO \$\$
DECLARE
	types CONSTANT text[] := '{numeric,int2,int4,int8,float8,oid,regclass,regtype,regprocedure,regnamespace,text,name,"\\"char\\"",jsonb,boolean,timestamptz,timestamp,interval,uuid,tsrange,"text[]","oid[]","name[]","regclass[]","float8[]","aclitem[]",anyelement,anyarray,public.drawn}';
	second CONSTANT text[] := '{int4,text,jsonb,"text[]",anyelement}';
	a text;
	b text;
	o text;
BEGIN
	FOREACH a IN ARRAY '{text,name,jsonb,int4,int8,numeric,oid,regclass}'::text[] LOOP
		EXECUTE format('CREATE FUNCTION public.draw(%s) RETURNS public.drawn $cry', a, 'a cast');
		EXECUTE format('CREATE CAST (%s AS public.drawn) WITH FUNCTION public.draw(%s) AS IMPLICIT', a, a);
	END LOOP;
	FOREACH a IN ARRAY types LOOP
		FOR o IN SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a') AND proname::text = ANY (string_to_array('$functions', ',')) LOOP
			EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS boolean $cry', o, a, o);
			FOREACH b IN ARRAY second LOOP
				EXECUTE format('CREATE FUNCTION public.%I(%s, %s) RETURNS boolean $cry', o, a, b, o);
			END LOOP;
		END LOOP;
		FOREACH b IN ARRAY types LOOP
			EXECUTE format('CREATE FUNCTION public.compare(%s, %s) RETURNS boolean $cry', a, b, 'an operator');
			FOR o IN SELECT DISTINCT oprname FROM pg_operator WHERE oprname::text = ANY (string_to_array(\$s\$$signs\$s\$, ' ')) LOOP
				IF NOT EXISTS (SELECT FROM pg_operator WHERE oprname = o AND oprleft = a::regtype AND oprright = b::regtype) THEN
					EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.compare, LEFTARG = %s, RIGHTARG = %s)', o, a, b);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END \$\$;
END
# All that is made, and what it depends on, as text
my $catalog = <<'END';
SET search_path = pg_catalog;
WITH members AS (
	SELECT classid, objid, pg_describe_object(classid, objid, 0) AS name FROM pg_depend
	WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')))
SELECT name, 'on', pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid) FROM members m JOIN pg_depend d USING (classid, objid)
UNION ALL SELECT name, 'view', pg_get_viewdef(objid) FROM members WHERE classid = 'pg_class'::regclass AND (SELECT relkind = 'v' FROM pg_class WHERE oid = objid)
UNION ALL SELECT name, 'index', pg_get_indexdef(i.indexrelid) FROM members JOIN pg_index i ON i.indrelid = objid WHERE classid = 'pg_class'::regclass
UNION ALL SELECT name, 'check', pg_get_constraintdef(c.oid) FROM members JOIN pg_constraint c ON c.conrelid = objid WHERE classid = 'pg_class'::regclass
UNION ALL SELECT name, 'trigger', pg_get_triggerdef(t.oid) FROM members JOIN pg_trigger t ON t.tgrelid = objid WHERE classid = 'pg_class'::regclass AND NOT tgisinternal
UNION ALL SELECT name, 'default', pg_get_expr(a.adbin, a.adrelid) FROM members JOIN pg_attrdef a ON a.adrelid = objid WHERE classid = 'pg_class'::regclass
UNION ALL SELECT name, 'function', pg_get_functiondef(objid) FROM members JOIN pg_proc p ON p.oid = objid WHERE classid = 'pg_proc'::regclass AND prokind <> 'a'
ORDER BY 1, 2, 3
END
cmp_ok($cluster->sql("SELECT count(*) FROM pg_operator WHERE oprname::text = ANY (string_to_array(\$s\$$signs\$s\$, ' '))"), '>', 100, 'control: there are operators in the script');
as('dba', $operators, 'hostile');
cmp_ok(as('dba', "SET search_path = pg_catalog; SELECT count(*) FROM pg_operator WHERE oprnamespace = 'public'::regnamespace AND oprname = '->>'", 'hostile'), '>', 100, 'control: he makes operators of JSON');
cmp_ok(as('dba', "SET search_path = pg_catalog; SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace", 'hostile'), '>', 10_000, 'control: he makes functions');
like(do { local $ENV{PGUSER} = 'dba'; $cluster->sql_fails('SELECT 1::numeric > 0', 'hostile') }, qr/hijacked by an operator/, 'control: PostgreSQL prefers what he has made');
$cluster->sql('CREATE EXTENSION racepriv_release CASCADE', 'hostile');
is($cluster->sql($catalog, 'hostile'), $cluster->sql($catalog, 'clinic') =~ s/\bhid\b/public/gr, 'the extension is the same as without them');

# One argument of another type, or fewer arguments.  Those that a release calls with the rights
# of its caller are refused (above), and are left out.
cmp_ok(as('dba', <<"END", 'hostile'), '>', 2000, 'he makes functions beside those of the extension');
SET search_path = pg_catalog;
DO \$\$
DECLARE
	types CONSTANT text[] := '{text,name,oid,regclass,int4,int8,numeric,float8,jsonb,boolean,record,regclass[],oid[],text[],anyelement,anyarray}';
	f record;
	n int;
	i int;
	t text;
	arguments text;
	result text;
BEGIN
	FOR f IN SELECT p.oid, p.proname, p.prokind, p.pronargs, p.pronargdefaults, p.proargtypes::oid[]::regtype[]::text[] AS argtypes, p.proretset, p.prorettype::regtype::text AS rettype
		FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
		WHERE d.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')) AND p.pronamespace = 'public'::regnamespace AND p.proname NOT IN ('race_build', 'race_is_record')
	LOOP
		CONTINUE WHEN f.argtypes && '{internal,cstring}' OR f.rettype IN ('internal', 'cstring');
		result := CASE WHEN f.prokind = 'p' THEN '' ELSE 'RETURNS ' || CASE WHEN f.proretset THEN 'SETOF ' ELSE '' END
			|| CASE WHEN f.rettype IN ('record', 'anyelement') THEN 'text' ELSE f.rettype END END;
		FOR n IN f.pronargs - f.pronargdefaults .. f.pronargs LOOP
			FOR i IN 0 .. n - 1 LOOP
				FOREACH t IN ARRAY types LOOP
					arguments := (SELECT string_agg(CASE WHEN j = i THEN t WHEN f.argtypes[j] = '"any"' THEN 'float8[]' ELSE f.argtypes[j] END, ', ' ORDER BY j)
						FROM generate_series(0, n - 1) j);
					BEGIN
						EXECUTE format('CREATE %s public.%I(%s) %s $cry', CASE f.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, f.proname, arguments, result, f.proname);
					EXCEPTION WHEN duplicate_function OR invalid_function_definition OR feature_not_supported THEN
						NULL;
					END;
				END LOOP;
			END LOOP;
		END LOOP;
	END LOOP;
END \$\$;
SELECT count(*) FROM pg_proc WHERE proname ~ '^_?race_' AND proowner = 'dba'::regrole;
END

# Statements of a superuser, whose own calls have the very types as well
for my $statement ('CREATE TABLE public.visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10]::float8[] AS x, i % 7 AS days FROM generate_series(1, 100) i',
	"CALL public.race_protect('visits'::text, 'visits'::regclass, 4::float8, 1e-6::float8, 'id'::name, 2::int, 'add_remove'::text, 'basic'::text, '{}'::regclass[], NULL::jsonb)",
	release('people', $params, '16::int', 'NULL::text, NULL::text[], false, false', "'visits'::text, '{x}'::text[], '{m}'::text[]"),
	release('sites', $params, '16::int', "'site'::text, '{0,1}'::text[], false, false", "NULL::text, '{x}'::text[], '{m}'::text[]"),
	release('sums', 'moments(dims=1, lower={0}, upper={10}, norm=1, targets=1)', 'NULL::int',
		'NULL::text, NULL::text[], NULL::boolean, NULL::boolean', 'NULL::text, NULL::text[], NULL::text[]'),
	"CALL public.race_release_next('people'::text)", "SELECT public.race_refreshes_left('people'::text)",
	"CALL public.race_budget_limit('visits'::text, 5::float8, 1e-6::float8)", "CALL public.race_budget_adopt('visits'::text)",
	"CALL public.race_grant('helper'::regrole, 'owner'::text)", 'TABLE public.race_budget_status', 'SELECT name FROM public.race_latest_releases',
	'TABLE public.race_catalog')
{
	my (undef, $good) = $cluster->within('hostile', sub { RaceServer::run("SET search_path = pg_catalog, public;\n$statement", qw(psql -XAtq -v ON_ERROR_STOP=1)) });
	ok($good, "no function of his is called by: $statement") or diag $cluster->sql_fails("SET search_path = pg_catalog, public;\n$statement", 'hostile');
}

sub release {
	my ($name, $of, $rows, $parts, $described) = @_;
	return "CALL public.race_release_sketch('$name'::text, 'visits'::text, '$of'::race_params, 'x'::text, 0.8::float8, 0::float8, $rows, $parts, $described, NULL::float8, NULL::jsonb, NULL::text, NULL::int, NULL::text, NULL::int)";
}

is($cluster->sql('SET search_path = pg_catalog, public; SELECT count(*) FROM _racepriv.race_releases', 'hostile'), 5, 'and the releases are there');
like($cluster->sql_fails("SET search_path = pg_catalog, public; SELECT race_refreshes_left('people'::name)", 'hostile'), qr/hijacked by race_refreshes_left/,
	'control: a call with another type goes to his');

# ------------------------------------------------------- a schema of its own

# Who is given a duty may use the schema of the extension.
$cluster->run_here('createdb', 'extended');
$cluster->sql('CREATE SCHEMA "of its own"; CREATE EXTENSION racepriv_release SCHEMA "of its own" CASCADE; REVOKE ALL ON SCHEMA "of its own" FROM PUBLIC; CREATE TABLE public.t (x int NOT NULL CHECK (x BETWEEN 0 AND 9));'
	. ' ALTER TABLE public.t OWNER TO dba; GRANT SELECT ON public.t TO helper', 'extended');
$cluster->sql('SET search_path = "of its own", public; ' . "CALL race_grant('dba', 'owner'); CALL race_grant('helper', 'curator'); CALL race_grant('analyst', 'analyst')", 'extended');
my $path = 'SET search_path = "of its own", public;';
as('dba', "$path CALL race_protect('t', epsilon_limit => 1)", 'extended');
as('helper', "$path CALL race_release('r', 't', '{x}', 1)", 'extended');
is(as('analyst', "$path SELECT name FROM race_catalog WHERE race_count(race_released('r')) IS NOT NULL", 'extended'), 'r', 'in a schema of its own, each duty can be done');
like(fails('stranger', "$path CALL race_release('r', 't', '{x}', 1)", 'extended'), qr/ERROR:  42883/, 'and who has none does not see it');

done_testing();
