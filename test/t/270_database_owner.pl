# The owner of a database, who is no superuser, creates the extension and works with it; and
# nothing that he makes in its schema is called with the rights of the ledger's owner, who is a
# superuser: neither what is there before CREATE EXTENSION nor what comes later.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceCluster;
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->sql("CREATE ROLE $_ LOGIN") for qw(dba doctor helper analyst stranger);
$cluster->sql("CREATE DATABASE $_ OWNER dba") for qw(clinic hostile updated);
# before 15, others may create in the schema public as well
$cluster->sql('GRANT CREATE ON SCHEMA public TO dba', $_) for qw(clinic hostile updated);
$cluster->sql('GRANT CREATE ON SCHEMA public TO doctor', 'clinic');

sub as
{
	my ($role, $statements, $database) = @_;
	local $ENV{PGUSER} = $role;
	return $cluster->sql($statements, $database // 'clinic');
}

sub denied
{
	my ($role, @statements) = @_;
	local $ENV{PGUSER} = $role;
	like($cluster->sql_fails($_, 'clinic'), qr/ERROR:  42501/, "$role cannot: $_") for @statements;
	return;
}

# ------------------------------------------------------------ what he may do

like(do { local $ENV{PGUSER} = 'stranger'; $cluster->sql_fails('CREATE EXTENSION racepriv', 'clinic') }, qr/ERROR:  42501/, 'a stranger cannot create the extension');
as('dba', 'CREATE EXTENSION racepriv');
as('dba', <<'END');
CREATE TABLE visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;
CALL race_protect('visits', 'visits', 9, 1e-6);
CALL race_budget_limit('visits', 10, 1e-6);
CALL race_grant('helper', 'curator');
CALL race_grant('analyst', 'analyst');
CALL race_grant('doctor', 'owner');
GRANT SELECT ON visits TO helper;
END
as('dba', "CALL race_release('people', 'visits', '$params', 'x', 1)");
as('dba', "CALL race_release_next('people')");
is(as('dba', "SELECT race_refreshes_left('people'), spent_epsilon, epsilon_left FROM race_budget_status"), '8|2|8', 'he protects and releases, and is charged');
is(as('dba', "SELECT status FROM race_info((SELECT race_privatize(race_build('$params', x), 1) FROM visits))"), 'private', 'he makes a private sketch of what he may read');
as('helper', "CALL race_release('sites', 'visits', '$params', 'x', 0.5, label => 'site', labels => '{0,1}')");
is(as('analyst', "SELECT count(*), bool_and(race_kde(sketch, '{3}'::int[]) IS NOT NULL) FROM race_latest_releases"), '3|t', 'those whom he grants it curate and ask');
as('doctor', "CREATE TABLE patients AS SELECT ARRAY[i % 10] AS x FROM generate_series(1, 100) i; CALL race_protect('patients', 'patients', 1)");

is(as('dba', 'SELECT DISTINCT p.proname FROM pg_proc p, aclexplode(p.proacl) a WHERE a.grantee <> p.proowner AND a.is_grantable ORDER BY 1'),
	join("\n", qw(race_budget_adopt race_budget_limit race_grant race_privatize race_protect race_refreshes_left race_release race_release_next race_share)),
	'what the owner of the database was given to do: each of these must have been looked at');

# ---------------------------------------------------------- and what he may not

denied('dba', 'TABLE patients', "SELECT race_build('$params', x) FROM patients", "CALL race_release('theirs', 'patients', '$params', 'x', 0.5)",
	"CALL race_budget_limit('patients', 9, 0)", "CALL race_budget_adopt('patients')", "CALL race_protect('mine', 'patients', 9)",
	(map { ("INSERT INTO $_ SELECT FROM generate_series(1, 0)", "DELETE FROM $_", "TRUNCATE $_", "ALTER TABLE $_ DISABLE TRIGGER ALL") }
		qw(_racepriv.race_budgets _racepriv.race_datasets _racepriv.race_budget_tables _racepriv.race_charges _racepriv.race_releases)),
	'UPDATE _racepriv.race_budgets SET spent_epsilon = 0', "SELECT _racepriv._race_charge('visits', 'x', 1, '{}', 1, 'visits', '{}', 'dba')",
	"SELECT _racepriv._race_budget_limit('doctor', 'patients', 9, 0)", "SELECT _racepriv._race_enter_act('dba', 'visits', 'visits', 'limit', '{}')",
	'ALTER EXTENSION racepriv DROP TABLE _racepriv.race_charges', 'ALTER FUNCTION race_count(race_sketch) COST 7',
	'CREATE TRIGGER t BEFORE INSERT ON _racepriv.race_charges EXECUTE FUNCTION _racepriv._race_refuse_change()', 'CREATE TABLE child () INHERITS (_racepriv.race_charges)',
	"CREATE OR REPLACE FUNCTION race_count(race_sketch) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'");
# the owner of a schema may drop what is in it, but not what belongs to an extension
like(do { local $ENV{PGUSER} = 'dba'; $cluster->sql_fails("DROP TABLE $_ CASCADE", 'clinic') }, qr/ERROR:  (42501|2BP01)/, "dba cannot drop $_")
  for qw(_racepriv.race_budgets _racepriv.race_charges _racepriv.race_releases);
like(do { local $ENV{PGUSER} = 'dba'; $cluster->sql_fails("CALL race_release('more', 'visits', '$params', 'x', 8)", 'clinic') }, qr/ERROR:  53400/, 'no more than the budget');
denied('stranger', 'TABLE _racepriv.race_releases', "CALL race_grant('stranger', 'curator')", "SELECT race_privatize(race_sketch('$params'::race_params), 1)");

# A function of his that he adds to the extension stands in for none of it.
as('dba', <<'END');
CREATE FUNCTION public.steal(race_sketch, race_params, int[]) RETURNS race_sketch LANGUAGE sql AS 'SELECT $1';
CREATE AGGREGATE public.race_build(race_params, int[]) (SFUNC = public.steal, STYPE = race_sketch);
ALTER EXTENSION racepriv ADD AGGREGATE public.race_build(race_params, int[]);
END
$cluster->sql('GRANT SELECT ON patients TO helper', 'clinic');
like(do { local $ENV{PGUSER} = 'helper'; $cluster->sql_fails("CALL race_release('theirs', 'patients', '$params', 'x', 0.5)", 'clinic') },
	qr/ERROR:  55000: .*stands in for one of racepriv/, 'a function that he adds to the extension is not called');

# What he drops is gone: the ledger with it, and all that there was to ask.
as('dba', 'DROP EXTENSION racepriv CASCADE');
is(as('dba', "SELECT count(*) FROM pg_class WHERE relname ~ '^race_'"), 0, 'he can drop the extension, and then nothing is left');

# ------------------------------------------------------------------ hostile

# Operators and functions that fit better than those of pg_catalog and of the extension; each
# of them says so when it is called.
my $cry = q(LANGUAGE plpgsql AS $f$BEGIN RAISE EXCEPTION ''hijacked by %%'', %L; END$f$);
my $operators = <<"END";
SET search_path = pg_catalog;
DO \$\$
DECLARE
	types CONSTANT text[] := '{numeric,int4,int8,float8,oid,regclass,regnamespace,text,name,jsonb,boolean,timestamptz,"text[]","oid[]","name[]","regclass[]"}';
	a text;
	b text;
	o text;
BEGIN
	FOREACH a IN ARRAY types LOOP
		FOREACH o IN ARRAY '{max,min,count,sum,array_agg,format,left,current_setting,set_config,pg_extension_config_dump,to_regclass,unnest,cardinality,jsonb_agg,to_jsonb}'::text[] LOOP
			EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS boolean $cry', o, a, o);
			EXECUTE format('CREATE FUNCTION public.%I(%s, text) RETURNS boolean $cry', o, a, o);
		END LOOP;
		FOREACH b IN ARRAY types LOOP
			EXECUTE format('CREATE FUNCTION public.compare(%s, %s) RETURNS boolean $cry', a, b, 'an operator');
			FOREACH o IN ARRAY '{=,<>,<,>,<=,>=,+,-,||,&&,~}'::text[] LOOP
				IF NOT EXISTS (SELECT FROM pg_operator WHERE oprname = o AND oprleft = a::regtype AND oprright = b::regtype) THEN
					EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.compare, LEFTARG = %s, RIGHTARG = %s)', o, a, b);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END \$\$;
END
as('dba', $operators, 'hostile');
like(do { local $ENV{PGUSER} = 'dba'; $cluster->sql_fails('SELECT 1::numeric > 0', 'hostile') }, qr/hijacked by an operator/, 'control: PostgreSQL prefers what he has made');
as('dba', 'CREATE EXTENSION racepriv', 'hostile');
my $dependent = <<'END';
SET search_path = pg_catalog;
SELECT pg_describe_object(d.classid, d.objid, d.objsubid), pg_describe_object(d.refclassid, d.refobjid, 0) FROM pg_depend d
WHERE d.classid <> 'pg_operator'::regclass AND (d.refclassid = 'pg_operator'::regclass AND d.refobjid IN (SELECT oid FROM pg_operator WHERE oprowner = 'dba'::regrole)
	OR d.refclassid = 'pg_proc'::regclass AND d.refobjid IN (SELECT oid FROM pg_proc WHERE proowner = 'dba'::regrole));
END
is(as('dba', $dependent, 'hostile'), '', 'nothing of the extension depends on what was there before');

SKIP:
{
	skip 'make install-last-versions first', 1 if $cluster->sql("SELECT count(*) FROM pg_available_extension_versions WHERE name = 'racepriv' AND version = '0.1.0'") == 0;
	$cluster->sql("CREATE EXTENSION racepriv VERSION '0.1.0'", 'updated');
	as('dba', $operators, 'updated');
	$cluster->sql('SET search_path = pg_catalog, public; ALTER EXTENSION racepriv UPDATE', 'updated');
	is(as('dba', $dependent, 'updated'), '', 'nor does it after an update');
}

# One argument of another type, or fewer arguments.  Those that a release calls with the rights
# of its caller are refused (above), and are left out.
cmp_ok(as('dba', <<"END", 'hostile'), '>', 5000, 'he makes functions beside those of the extension');
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
		WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv') AND p.proname NOT IN ('race_build', 'race_build_value', 'race_moments', 'race_is_record')
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
	"CALL public.race_protect('visits'::text, 'visits'::regclass, 4::float8, 1e-6::float8, 'id'::name, 2::int, 'add_remove'::text, 'basic'::text, '{}'::regclass[])",
	release('people', $params, '16::int', 'NULL::text, NULL::text[], false, false, NULL::text, NULL::float8, NULL::float8', "'visits'::text, '{x}'::text[], '{m}'::text[]"),
	release('sites', $params, '16::int', "'site'::text, '{0,1}'::text[], false, false, 'days'::text, 0::float8, 7::float8", "NULL::text, '{x,days}'::text[], '{m,d}'::text[]"),
	release('sums', 'moments(dims=1, lower={0}, upper={10}, norm=1, targets=1)', 'NULL::int',
		'NULL::text, NULL::text[], NULL::boolean, NULL::boolean, NULL::text, NULL::float8, NULL::float8', 'NULL::text, NULL::text[], NULL::text[]'),
	"CALL public.race_release_next('people'::text)", "SELECT public.race_refreshes_left('people'::text)",
	"CALL public.race_budget_limit('visits'::text, 5::float8, 1e-6::float8)", "CALL public.race_budget_adopt('visits'::text)",
	"CALL public.race_grant('helper'::regrole, 'owner'::text)", 'TABLE public.race_budget_status', 'SELECT name FROM public.race_latest_releases',
	'TABLE public.race_catalog')
{
	my (undef, $good) = $cluster->within('hostile', sub { RaceServer::run("SET search_path = pg_catalog, public;\n$statement", qw(psql -XAtq -v ON_ERROR_STOP=1)) });
	ok($good, "no function of his is called by: $statement") or diag $cluster->sql_fails("SET search_path = pg_catalog, public;\n$statement", 'hostile');
}

sub release
{
	my ($name, $of, $rows, $parts, $described) = @_;
	return "CALL public.race_release('$name'::text, 'visits'::text, '$of'::race_params, 'x'::text, 0.8::float8, 0::float8, $rows, $parts, $described, NULL::float8)";
}

is($cluster->sql('SET search_path = pg_catalog, public; SELECT count(*) FROM _racepriv.race_releases', 'hostile'), 7, 'and the releases are there');
like($cluster->sql_fails("SET search_path = pg_catalog, public; SELECT race_refreshes_left('people'::name)", 'hostile'), qr/hijacked by race_refreshes_left/,
	'control: a call with another type goes to his');

done_testing();
