# Owner, curator and analyst can do what is theirs, and nothing else; nothing that a
# role makes stands in for what the ledger's functions mean; releases are sent to a
# database of analysts.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster qw(as);
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new(wal_level => 'logical');
$cluster->{database} = 'hospital';
$cluster->sql("CREATE ROLE $_ LOGIN") for qw(data_owner curator analyst stranger);
$cluster->run_here('createdb', $_) for qw(hospital analysis);
$cluster->sql(<<'END', 'hospital');
CREATE EXTENSION racepriv_release CASCADE;
CALL race_grant('data_owner', 'owner');
CALL race_grant('curator', 'curator');
CALL race_grant('analyst', 'analyst');
CREATE TABLE visits AS SELECT i AS id, i % 2 AS site, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;
CREATE TABLE hidden AS TABLE visits;
CREATE TABLE strangers AS TABLE visits;
ALTER TABLE visits OWNER TO data_owner;
ALTER TABLE hidden OWNER TO data_owner;
ALTER TABLE strangers OWNER TO stranger;
GRANT SELECT ON visits TO curator;
GRANT SELECT (id, site) ON hidden TO curator;
END

sub denied {
	my ($role, @statements) = @_;
	local $ENV{PGUSER} = $role;
	like($cluster->sql_fails($_, 'hospital'), qr/ERROR:  42501/, "$role cannot: $_") for @statements;
	return;
}

sub release {
	my ($name, $dataset, $epsilon) = @_;
	return "CALL race_release_sketch('$name', '$dataset', '$params', 'x', $epsilon)";
}

# ------------------------------------------------------------- what each may do

as('data_owner', "CALL race_protect('visits', 'visits', 3); CALL race_protect('hidden', 'hidden', 3); CALL race_budget_limit('visits', 4, 0)");
as('curator', release('people', 'visits', 1));
as('curator', "CALL race_release_sketch('sites', 'visits', '$params', 'x', 0.5, label => 'site', labels => '{0,1}')");
as('curator', "CALL race_release_next('people')");
is(as('curator', "SELECT race_refreshes_left('people'), epsilon_left FROM race_budget_status WHERE budget = 'visits'"), '1|1.5',
	'a curator releases, and sees what is left');
is(as('analyst', "SELECT race_count(race_released('people')) IS NOT NULL, race_kde(race_released('people'), '{3}') IS NOT NULL, race_posterior(label, sketch, '{3}') IS NOT NULL FROM race_latest_releases WHERE name = 'sites'"), 't|t|t',
	'an analyst asks');
is(as('analyst', "SELECT name, labels, columns FROM race_catalog ORDER BY 1"), "people||{1}\nsites|{0,1}|{1}", 'and sees what there is');
is(as('analyst', "SELECT count(*) FROM race_versions('people')"), 2, 'and how it went');
is(as('data_owner', "SELECT charged_by, string_agg(act, ' ' ORDER BY charged_at) FROM _racepriv.race_charges WHERE budget = 'visits' GROUP BY 1 ORDER BY 1"),
	"curator|release release release\ndata_owner|protect limit", 'an owner sees who did what');
is(as('analyst', 'SELECT DISTINCT (race_info(sketch)).status FROM _racepriv.race_releases'), 'private', 'what an analyst sees is private');

# --------------------------------------------------------- what nobody else may

my @tables = qw(_racepriv.race_budgets _racepriv.race_datasets _racepriv.race_budget_tables _racepriv.race_charges _racepriv.race_releases _racepriv.race_descriptions);
my @writes = map {
	("INSERT INTO $_ SELECT FROM generate_series(1, 0)", "UPDATE $_ SET " . (/budget|charge/ ? 'budget' : 'dataset') . ' = NULL', "DELETE FROM $_",
		"TRUNCATE $_", "BEGIN; LOCK TABLE $_", "COPY $_ FROM STDIN", "ALTER TABLE $_ DISABLE TRIGGER ALL", "DROP TABLE $_",
		"CREATE TRIGGER t BEFORE INSERT ON $_ EXECUTE FUNCTION _racepriv._race_refuse_change()")
} @tables;

my @owner_acts = ("CALL race_protect('more', 'visits', 4)", "CALL race_budget_limit('visits', 9, 0)", "CALL race_budget_adopt('visits')", "CALL race_describe('visits', 'id', 1, 100)");
my @curator_acts = (release('more', 'visits', 0.1), "CALL race_release('more', 'visits', '{site}', 0.1)", "CALL race_release_next('people')", "SELECT race_refreshes_left('people')");
my @internal_acts = (
	"SELECT _racepriv._race_charge('visits', 'more', 1, '{}', 1, 'visits', '{}', 'curator')", "SELECT _racepriv._race_enter_act('data_owner', 'visits', 'visits', 'limit', '{}')",
	"SELECT _racepriv._race_enter_tables('{visits}', 'visits')", "SELECT _racepriv._race_budget_limit('data_owner', 'visits', 9, 0)", "SELECT _racepriv._race_budget_adopt('data_owner', 'visits')", "SELECT _racepriv._race_refreshes_left('curator', 'people')",
	"SELECT _racepriv._race_lock_tables('visits', '{visits}', true)",
	"SELECT _racepriv._race_dataset('visits')", "SELECT _racepriv._race_find_budget('{visits}', '{}')", "SELECT * FROM _racepriv._race_table_entries", "SELECT * FROM _racepriv._race_datasets_now", "SELECT * FROM _racepriv._race_datasets_meant", 'SELECT _racepriv._race_identity()',
	"SELECT _racepriv._race_check_owner('data_owner', '{visits}')");
my @noise = ("SELECT race_privatize(race_sketch('$params'::race_params), 1)", 'SELECT race_privatize(sketch, 1) FROM _racepriv.race_releases');

denied('analyst', @writes, @owner_acts, @curator_acts, @internal_acts, @noise,
	'TABLE visits', "SELECT race_build('$params', x) FROM visits", 'SELECT count(*) FROM visits',
	(map { "TABLE $_" } grep { $_ ne '_racepriv.race_releases' } @tables, 'race_budget_status'),
	"CALL race_grant('analyst', 'owner')");
denied('stranger', 'TABLE _racepriv.race_releases', "SELECT race_count(race_released('people'))", 'TABLE race_latest_releases', 'TABLE race_catalog', "SELECT race_curve('people')", "SELECT race_versions('people')", @owner_acts, @curator_acts, @internal_acts, @noise);
denied('curator', @writes, @owner_acts, @internal_acts, @noise, "CALL race_grant('curator', 'owner')",
	(map { "TABLE $_" } qw(_racepriv.race_budgets _racepriv.race_datasets _racepriv.race_budget_tables _racepriv.race_charges)));
denied('data_owner', @writes, @internal_acts, @noise, @curator_acts[0, 1], "CALL race_protect('theirs', 'strangers', 4)",
	"CALL race_grant('data_owner', 'curator')");
$cluster->sql("CALL race_protect('strangers', 'strangers', 3)", 'hospital');
denied('data_owner', "CALL race_budget_limit('strangers', 9, 0)", "CALL race_budget_adopt('strangers')");

# A curator releases what she may read; that she may not is known before the charge.
denied('curator', release('more', 'strangers', 0.1), release('more', 'hidden', 0.1));
as('curator', "CALL race_release_sketch('ids', 'hidden', '$params', 'ARRAY[id % 10]', 1)");
$cluster->sql('REVOKE SELECT ON visits FROM curator', 'hospital');
denied('curator', release('more', 'visits', 0.1), "CALL race_release_next('people')");
$cluster->sql('GRANT SELECT ON visits TO curator', 'hospital');
is($cluster->sql('SELECT budget, spent_epsilon FROM _racepriv.race_budgets ORDER BY 1', 'hospital'), "hidden|1\nstrangers|0\nvisits|2.5",
	'what was denied was not charged');

# What is not granted to anyone is closed, but for what reads nothing and changes nothing.  The procedures of duties are open so
# that they can say which duty is missing, and do nothing else: neither a right of PUBLIC nor one that was taken away counts.
is($cluster->sql(<<'END', 'hospital'), join("\n", qw(race_budget_adopt race_budget_limit race_describe race_protect race_release race_release_next race_release_sketch)), 'no other function that has rights of its own or effects is open to all');
SELECT DISTINCT proname FROM pg_proc
WHERE oid IN (SELECT objid FROM pg_depend WHERE deptype = 'e' AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')))
	AND (prosecdef OR prokind = 'p' OR provolatile = 'v') AND NOT '{internal}'::regtype[]::oid[] && proargtypes::oid[]
	AND has_function_privilege('stranger', oid, 'EXECUTE')
	-- samples draw random numbers
	AND proname NOT IN ('_race_refuse_change', 'race_sample')
ORDER BY 1
END
{
	my $ledger = "SELECT (SELECT count(*) FROM _racepriv.race_charges), (SELECT count(*) FROM _racepriv.race_datasets), (SELECT sum(spent_epsilon) FROM _racepriv.race_budgets)";
	my $before = $cluster->sql($ledger, 'hospital');
	local $ENV{PGUSER} = 'stranger';
	like($cluster->sql_fails($_, 'hospital'), qr/\AERROR:  42501: permission denied for (?:procedure|function) race_\w+\nHINT:  .*race_grant\('stranger', 'owner'\)/, "which duty is missing: $_") for @owner_acts;
	like($cluster->sql_fails($_, 'hospital'), qr/\AERROR:  42501: permission denied for (?:procedure|function) race_\w+\nHINT:  .*race_grant\('stranger', 'curator'\)/, "which duty is missing: $_") for @curator_acts;
	delete local $ENV{PGUSER};
	is($cluster->sql($ledger, 'hospital'), $before, 'and nothing was done');
	# by a role that it is a member of, a right counts; of PUBLIC, not even one that was granted with an option, and no longer when it is revoked
	$cluster->sql('CREATE ROLE office; GRANT office TO stranger; GRANT EXECUTE ON FUNCTION race_refreshes_left TO office', 'hospital');
	is(do { local $ENV{PGUSER} = 'stranger'; $cluster->sql_fails("SELECT race_refreshes_left('people')", 'hospital') =~ /race_grant/ ? 'no' : 'yes' }, 'yes', 'control: a member of a role that has the duty passes');
	$cluster->sql('REVOKE EXECUTE ON FUNCTION race_refreshes_left FROM office', 'hospital');
	like(do { local $ENV{PGUSER} = 'stranger'; $cluster->sql_fails("SELECT race_refreshes_left('people')", 'hospital') }, qr/race_grant/, 'and not after it was taken away');
	$cluster->sql('DROP ROLE office', 'hospital');
}
is($cluster->sql(<<'END', 'hospital'), '', 'no function with rights of its own trusts a search_path');
SELECT oid::regprocedure FROM pg_proc
WHERE oid IN (SELECT objid FROM pg_depend WHERE deptype = 'e' AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')))
	AND prosecdef AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)
END

# ---------------------------------------------------------------- impostors

# A schema of impostors: all operators of common types, all functions that the
# extension may call, its own functions, and tables of its names; each of
# them raises an error when it is used.
$cluster->sql(<<'END', 'hospital');
CREATE SCHEMA impostors;
GRANT USAGE ON SCHEMA impostors TO PUBLIC;
CREATE FUNCTION public.make_impostor(name text, arguments text, result text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE FUNCTION impostors.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', name, arguments, result,
		format('BEGIN RAISE EXCEPTION %L; END', 'impostor ' || name));
	RETURN 1;
EXCEPTION WHEN OTHERS THEN
	RETURN 0;				-- of a type that such a function cannot have
END $$;
CREATE FUNCTION public.make_operator(o pg_operator) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	f text := 'operator_' || o.oid;
BEGIN
	PERFORM public.make_impostor(f, concat_ws(', ', nullif(o.oprleft, 0)::regtype, o.oprright::regtype), o.oprresult::regtype::text);
	EXECUTE format('CREATE OPERATOR impostors.%s (%s RIGHTARG = %s, FUNCTION = impostors.%I)', o.oprname,
		CASE WHEN o.oprleft <> 0 THEN format('LEFTARG = %s,', o.oprleft::regtype) END, o.oprright::regtype, f);
	RETURN 1;
EXCEPTION WHEN OTHERS THEN
	RETURN 0;
END $$;
SELECT sum(public.make_operator(o)) AS operators FROM pg_operator o
WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprright = ANY (
	'{text,name,bool,int2,int4,int8,float8,numeric,jsonb,uuid,oid,regclass,bytea,bit,timestamptz,anyarray,anyelement,anynonarray,anycompatible,anycompatiblearray,record,"char"}'::regtype[]::oid[]) \gset
SELECT sum(public.make_impostor(proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid))) AS functions FROM pg_proc p
WHERE prokind = 'f' AND (pronamespace = 'public'::regnamespace AND proname LIKE 'race%' OR pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (
	'{current_setting,set_config,format,left,unnest,cardinality,array_position,array_ndims,array_to_string,jsonb_build_object,jsonb_agg,
	jsonb_to_record,jsonb_array_elements_text,to_jsonb,row_number,gen_random_uuid,statement_timestamp,now,to_regclass,pg_has_role,current_database,
	pg_walfile_name,pg_current_wal_insert_lsn,pg_control_system,quote_ident,floor,numeric,text,int4,int8,float8}'::name[])) \gset
SELECT CASE WHEN :operators < 300 OR :functions < 60 THEN 1 / 0 END;
GRANT TEMPORARY ON DATABASE hospital TO PUBLIC;
END

# First in the path, and with tables, types and functions of the session's own
my $path = <<'END';
SET search_path = pg_temp, impostors, pg_catalog, public;
CREATE TEMPORARY TABLE race_budgets (wrong int);
CREATE TEMPORARY TABLE race_charges (wrong int);
CREATE TEMPORARY TABLE race_releases (wrong int);
CREATE TEMPORARY TABLE race_datasets (wrong int);
CREATE TEMPORARY TABLE race_budget_tables (wrong int);
CREATE TEMPORARY TABLE pg_class (wrong int);
CREATE TEMPORARY TABLE pg_roles (wrong int);
CREATE TEMPORARY TABLE visits (wrong int);
CREATE DOMAIN pg_temp.race_sketch AS text;
CREATE DOMAIN pg_temp.race_params AS text;
CREATE DOMAIN pg_temp.uuid AS text;
CREATE DOMAIN pg_temp.jsonb AS text;
CREATE DOMAIN pg_temp.numeric AS text;
END
{
	local $ENV{PGUSER} = 'curator';
	like($cluster->sql_fails("$path SELECT 1::pg_catalog.numeric + 1::pg_catalog.numeric", 'hospital'), qr/impostor/, 'control: impostors are used');
}
as('curator', "$path CALL public.race_release_sketch('true', 'visits', '$params'::public.race_params, 'x', 0.25::pg_catalog.float8)");
as('curator', "$path CALL public.race_release_sketch('true labels', 'visits', '$params'::public.race_params, 'x', 0.125::pg_catalog.float8, label => 'site', labels => '{0,1}')");
as('curator', "$path CALL public.race_release_next('true'); SELECT public.race_refreshes_left('true'); TABLE public.race_budget_status");
as('data_owner', "$path CALL public.race_budget_limit('visits', 5::pg_catalog.float8, 0::pg_catalog.float8); CALL public.race_budget_adopt('visits');"
	. "CALL public.race_protect('again', 'public.visits', 5::pg_catalog.float8)");
is(as('analyst', "$path SELECT public.race_count(public.race_released('true')) IS NOT NULL, public.race_posterior(label, sketch, '{3}') IS NOT NULL,"
	. " public.race_kde(public.race_released('true'), '{3}') IS NOT NULL, (public.race_info(public.race_released('true'))).status"
	. " FROM public.race_latest_releases WHERE name OPERATOR(pg_catalog.=) 'true labels'"), 't|t|t|private', 'an analyst is told of the true releases');
is($cluster->sql(<<'END', 'hospital'), '3.125|5|t', 'impostors are not asked: charges, limits and datasets are where they belong');
SELECT spent_epsilon, epsilon_limit, EXISTS (SELECT FROM _racepriv.race_datasets WHERE dataset = 'again' AND budget = 'visits') FROM _racepriv.race_budgets WHERE budget = 'visits'
END
is($cluster->sql(<<'END', 'hospital'), "true|1|t|t\ntrue|2|t|t\ntrue labels|1|t|t\ntrue labels|1|t|t", 'and releases have the noise that was charged');
SELECT name, version, i.status = 'private', i.epsilon BETWEEN 0.99 * c.epsilon AND c.epsilon
FROM _racepriv.race_releases JOIN _racepriv.race_charges c USING (charge), race_info(sketch) i WHERE name LIKE 'true%' ORDER BY 1, 2
END

# Nor do settings change what a name or a request is.
for my $setting ('quote_all_identifiers = on', 'standard_conforming_strings = off', 'extra_float_digits = -15', 'array_nulls = off',
	"DateStyle = 'German'", 'transform_null_equals = on', "bytea_output = 'escape'", "default_transaction_isolation = 'serializable'",
	'default_transaction_deferrable = on', "work_mem = '64kB'", "plan_cache_mode = 'force_generic_plan'")
{
	as('curator', "SET $setting; SET client_min_messages = error; CALL race_release_sketch('true', 'visits', '$params', 'x', 0.25)");
	# acts on budgets are READ COMMITTED
	my $protect = "CALL race_protect('" . ($setting =~ s/'//gr) . "', 'visits', 5)";
	$protect = "BEGIN ISOLATION LEVEL READ COMMITTED; $protect; COMMIT" if $setting =~ /isolation/;
	as('data_owner', "SET $setting; $protect");
}
is($cluster->sql("SELECT count(DISTINCT budget), (SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'visits') FROM _racepriv.race_datasets WHERE dataset ~ '='", 'hospital'),
	'1|3.125', 'with any settings it is the same request, and the same budget');
$cluster->sql('ALTER TABLE hidden RENAME TO old; CREATE TABLE hidden AS TABLE old; ALTER TABLE hidden OWNER TO data_owner', 'hospital');
as('data_owner', "SET quote_all_identifiers = on; CALL race_protect('made anew', 'hidden', 3)");
is($cluster->sql("SELECT budget FROM _racepriv.race_datasets WHERE dataset = 'made anew'", 'hospital'), 'hidden', 'and a table that was made anew has the budget of its name');

# ---------------------------------------------------- a database of analysts

my $ask = "SELECT race_count(race_released('people')), race_kde(race_released('people'), '{3}'), race_posterior(label, sketch, '{3}') FROM race_latest_releases WHERE name = 'sites'";
my $answer = $cluster->sql($ask, 'hospital');

sub analysts_have {
	my ($how) = @_;
	local $ENV{PGUSER} = 'analyst';
	is($cluster->sql($ask, 'analysis'), $answer, "$how: analysts ask by name, and get the same answers");
	is($cluster->sql('SELECT count(*) FROM _racepriv.race_releases', 'analysis'), as('analyst', 'SELECT count(*) FROM _racepriv.race_releases'), "$how: all releases are there");
	like($cluster->sql_fails(release('people', 'visits', 1), 'analysis'), qr/ERROR:  42501/, "$how: but nothing to release from");
}

sub empty_analysis {
	$cluster->run_here('dropdb', 'analysis');
	$cluster->run_here('createdb', 'analysis');
	$cluster->sql("CREATE EXTENSION racepriv_release CASCADE; CALL race_grant('analyst', 'analyst')", 'analysis');
}

SKIP: {
	skip 'postgres_fdw is not installed', 4
		if $cluster->sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 0;
	empty_analysis();
	my $fetch = 'INSERT INTO _racepriv.race_releases SELECT * FROM remote.race_releases ON CONFLICT DO NOTHING';
	$cluster->sql(<<END, 'analysis');
CREATE EXTENSION postgres_fdw;
CREATE SCHEMA remote;
CREATE SERVER hospital FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$cluster->{home}', port '$ENV{PGPORT}', dbname 'hospital');
CREATE USER MAPPING FOR CURRENT_USER SERVER hospital OPTIONS (user 'analyst');
IMPORT FOREIGN SCHEMA _racepriv LIMIT TO (race_releases) FROM SERVER hospital INTO remote;
$fetch;
END
	analysts_have('postgres_fdw');
	as('curator', release('fetched later', 'visits', 0.125));
	$cluster->sql($fetch, 'analysis');
	local $ENV{PGUSER} = 'analyst';
	is($cluster->sql("SELECT race_count(race_released('fetched later'))", 'analysis'), as('analyst', "SELECT race_count(race_released('fetched later'))"), 'postgres_fdw: later ones, too');
}

empty_analysis();
# within one cluster the slot must be there before the subscription
$cluster->sql("CREATE PUBLICATION releases FOR TABLE _racepriv.race_releases; SELECT pg_create_logical_replication_slot('releases', 'pgoutput')", 'hospital');
$cluster->sql(<<END, 'analysis');
CREATE SUBSCRIPTION releases CONNECTION 'host=$cluster->{home} port=$ENV{PGPORT} dbname=hospital' PUBLICATION releases
WITH (create_slot = false, slot_name = 'releases');
END
$cluster->wait_until("SELECT count(*) = 1 FROM pg_subscription_rel WHERE srsubstate = 'r'", 'analysis');
analysts_have('logical replication');
as('curator', release('sent later', 'visits', 0.125));
as('curator', "CALL race_release_next('people')");
$cluster->wait_until("SELECT EXISTS (SELECT FROM _racepriv.race_releases WHERE name = 'people' AND version = 3)", 'analysis');
$answer = $cluster->sql($ask, 'hospital');
analysts_have('logical replication of later ones');
$cluster->sql('DROP SUBSCRIPTION releases', 'analysis');

done_testing();
