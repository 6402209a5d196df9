# Who may change the ledger, and whose table and whose function something is.  Default privileges give
# nothing of the extension away, and nothing is charged while others than its owner may write to the
# ledger.  A refresh runs with the rights of the role that made the release.  Roles and schemas that are renamed are the same, and
# who takes a name is another.  A table that the ledger names is not free, and its budget is adopted.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster qw(as fails);
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->sql("CREATE ROLE $_ LOGIN") for qw(app anna bert curator other_curator);

sub release {
	my ($name, $dataset, $expression) = @_;
	return "CALL race_release_sketch('$name', '$dataset', '$params', '" . ($expression // 'x') . "', 1)";
}

sub table {
	my ($name) = @_;
	return "CREATE TABLE $name AS SELECT i AS id, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;";
}

sub superusers {
	return $cluster->sql("SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolsuper AND rolname !~ '^pg_'");
}

# ---------------------------------------------------------- default privileges

my $kinds = join '; ', map { "ALTER DEFAULT PRIVILEGES $_ TO app" } 'IN SCHEMA public GRANT ALL ON TABLES', 'IN SCHEMA public GRANT ALL ON FUNCTIONS',
	'GRANT ALL ON TABLES', 'GRANT ALL ON FUNCTIONS', 'GRANT ALL ON TYPES', 'GRANT ALL ON SCHEMAS', 'GRANT ALL ON SEQUENCES';
$cluster->sql("$kinds; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC; ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC");
$cluster->sql('GRANT CREATE ON SCHEMA public TO app, anna, bert, curator');
my $rights = <<'END';
SELECT pg_describe_object(d.classid, d.objid, 0), a.grantee::regrole, a.privilege_type FROM pg_depend d
	LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
	LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid LEFT JOIN pg_namespace n ON d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
	CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, p.proacl, t.typacl, n.nspacl)) a
WHERE d.deptype = 'e' AND d.refobjid IN (SELECT oid FROM pg_extension WHERE extname = 'racepriv_release')
	AND (a.grantee NOT IN (0, 10) OR a.grantee = 0 AND a.privilege_type NOT IN ('EXECUTE', 'USAGE')) ORDER BY 1, 2, 3
END
$cluster->sql('CREATE EXTENSION racepriv_release CASCADE');
is($cluster->sql($rights), '', 'default privileges give nothing of releases to others');
$cluster->sql('DROP EXTENSION racepriv, racepriv_release; DO $$ BEGIN EXECUTE \'CREATE EXTENSION racepriv_release CASCADE\'; EXCEPTION WHEN duplicate_object THEN NULL; END $$');
is($cluster->sql($rights), '', 'nor do they in a subtransaction');
$cluster->sql("DROP EXTENSION racepriv, racepriv_release; CREATE EXTENSION racepriv; CREATE EXTENSION racepriv_release VERSION '0.0.1'; CALL race_grant('curator', 'curator'); ALTER EXTENSION racepriv_release UPDATE");
my $held = "SELECT string_agg(DISTINCT a.grantee::regrole::text, ' ') FROM pg_proc p, aclexplode(p.proacl) a WHERE p.proname IN ('race_release', '_race_charge') AND a.grantee NOT IN (0, p.proowner)";
is($cluster->sql($held), 'curator', 'an update takes what default privileges have given, and leaves what was granted');
is($cluster->sql($rights =~ s/AND \(a.grantee NOT IN.*?\)( ORDER)/AND a.grantee = 'app'::regrole AND (d.classid <> 'pg_proc'::regclass OR NOT has_function_privilege('public', d.objid, 'EXECUTE')) AND d.classid <> 'pg_type'::regclass$1/sr), '', 'of tables, and of what not everybody may call');
$cluster->sql('DROP EXTENSION racepriv, racepriv_release; CREATE EXTENSION racepriv_release CASCADE');
$cluster->sql('DROP OWNED BY curator');
$cluster->sql('GRANT CREATE ON SCHEMA public TO curator');
$cluster->sql("$kinds; " =~ s/GRANT/REVOKE/gr =~ s/ TO app/ FROM app/gr . 'ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC; ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM PUBLIC');
$cluster->sql("CALL race_grant('$_', 'owner')") for qw(app anna bert);
$cluster->sql("CALL race_grant('$_', 'curator')") for qw(app anna bert curator other_curator);
as('anna', table('visits') . "CALL race_protect('visits', 'visits', 90); GRANT SELECT ON visits TO app, curator, other_curator");
like(fails('app', $_), qr/ERROR:  42501/, "app cannot: $_") for 'UPDATE _racepriv.race_budgets SET epsilon_limit = 100',
	'INSERT INTO _racepriv.race_releases SELECT * FROM _racepriv.race_releases', "SELECT _racepriv._race_enter_act('anna', 'visits', 'visits', 'adopt', '{}')", 'CREATE TABLE _racepriv.t ()';
as('curator', release('people', 'visits'));

# ------------------------------------------------- rights that somebody gives later

as('app', 'CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE \'ALTER ROLE app SUPERUSER\'; RETURN new; END $$');
as('app', table('theirs') . "CALL race_protect('theirs', 'theirs', 90)");
my $n = 0;
for my $change (
	(map { my $right = $_; map { ["GRANT $right ON _racepriv.$_ TO app", "REVOKE $right ON _racepriv.$_ FROM app"] } qw(race_budgets race_charges) } qw(INSERT UPDATE DELETE TRUNCATE TRIGGER REFERENCES)),
	['GRANT UPDATE (epsilon_limit) ON _racepriv.race_budgets TO PUBLIC', 'REVOKE UPDATE (epsilon_limit) ON _racepriv.race_budgets FROM PUBLIC'],
	['GRANT ALL ON ALL TABLES IN SCHEMA _racepriv TO app', 'REVOKE ALL ON ALL TABLES IN SCHEMA _racepriv FROM app'],
	['GRANT CREATE ON SCHEMA _racepriv TO app', 'REVOKE CREATE ON SCHEMA _racepriv FROM app'],
	['GRANT pg_write_all_data TO app', 'REVOKE pg_write_all_data FROM app'],
	['GRANT TRIGGER ON _racepriv.race_budgets TO app; SET ROLE app; CREATE TRIGGER evil AFTER UPDATE ON _racepriv.race_budgets FOR EACH ROW EXECUTE FUNCTION evil(); RESET ROLE; REVOKE TRIGGER ON _racepriv.race_budgets FROM app',
		'DROP TRIGGER evil ON _racepriv.race_budgets'],
	['CREATE RULE r AS ON INSERT TO _racepriv.race_charges DO ALSO SELECT 1', 'DROP RULE r ON _racepriv.race_charges'],
	['GRANT REFERENCES ON _racepriv.race_budgets TO app; SET ROLE app; CREATE TABLE referring (budget text REFERENCES _racepriv.race_budgets ON UPDATE CASCADE); RESET ROLE; REVOKE REFERENCES ON _racepriv.race_budgets FROM app',
		'DROP TABLE referring'],
	['ALTER TABLE _racepriv.race_releases OWNER TO app', 'ALTER TABLE _racepriv.race_releases OWNER TO CURRENT_USER'],
	['ALTER FUNCTION _racepriv._race_identity() OWNER TO app', 'ALTER FUNCTION _racepriv._race_identity() OWNER TO CURRENT_USER'],
	['GRANT EXECUTE ON ALL ROUTINES IN SCHEMA _racepriv TO app', 'REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA _racepriv FROM app']) {
	my ($give, $take) = @$change;
	next if $give =~ /pg_write_all_data/ && $cluster->sql("SELECT count(*) FROM pg_roles WHERE rolname = 'pg_write_all_data'") == 0;
	$n++;
	my $before = $cluster->sql('SELECT count(*), sum(epsilon) FROM _racepriv.race_charges');
	$cluster->sql($give);
	like(fails(@$_), qr/ERROR:  55000: others than its owner can change the ledger\nDETAIL:  .*\nHINT:/, "$give: refused: $_->[1]")
		for ['curator', release("given $n", 'visits')], ['curator', "CALL race_release_next('people')"], ['anna', "CALL race_budget_limit('visits', 91, 0)"],
			['anna', "CALL race_budget_adopt('visits')"], ['app', "CALL race_protect('more', 'theirs', 90)"];
	is($cluster->sql('SELECT count(*), sum(epsilon) FROM _racepriv.race_charges'), $before, 'at no charge');
	$cluster->sql($take);
}
is(superusers(), $ENV{PGUSER}, 'nobody has become superuser');
$cluster->sql('CREATE ROLE admin SUPERUSER; GRANT ALL ON ALL TABLES IN SCHEMA _racepriv TO admin');
as('curator', release('taken back', 'visits'));
$cluster->sql('DROP OWNED BY admin; DROP ROLE admin');
like(fails('anna', "BEGIN ISOLATION LEVEL REPEATABLE READ; $_"), qr/ERROR:  25001: .*isolation level/, "an old snapshot shows no rights of others: $_")
	for "CALL race_budget_limit('visits', 90, 0)", "CALL race_budget_adopt('visits')", "CALL race_protect('more', 'visits', 90)";
like(fails('anna', "CALL race_protect('none', 999999::regclass, 1)"), qr/ERROR:  42P01/, 'a relation that does not exist');

# ------------------------------------------------------------------ refreshing

as('curator', <<'END');
CREATE FUNCTION deed() RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN
	IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE curator SUPERUSER'; END IF; RETURN 0; END $$;
CREATE FUNCTION harmless(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.deed(); RETURN $1; END $$;
CREATE FUNCTION both_of(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.deed(); RETURN $1 + $2; END $$;
CREATE OPERATOR |+| (FUNCTION = both_of, LEFTARG = int, RIGHTARG = int);
CREATE DOMAIN checked AS int CHECK (harmless(value) IS NOT NULL);
CREATE TYPE wrapped AS ENUM ('1');
CREATE FUNCTION unwrap(wrapped) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.deed(); RETURN 1; END $$;
CREATE CAST (wrapped AS int) WITH FUNCTION unwrap(wrapped);
CREATE FUNCTION with_default(int, int DEFAULT harmless(1)) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
END
as('anna', 'CREATE FUNCTION anna_adds(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)'
	. q( THEN EXECUTE 'ALTER ROLE anna SUPERUSER'; END IF; RETURN $1 + 1; END $$; CREATE VIEW seen AS SELECT id, anna_adds(id) AS y FROM visits; CREATE INDEX ON visits ((id + anna_adds(1))); )
	. "CALL race_protect('seen', 'seen', 90); GRANT SELECT ON seen TO curator, other_curator");
as('curator', <<'END');
CREATE FUNCTION holds(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.deed(); RETURN true; END $$;
CREATE DOMAIN literal AS int CHECK (holds(value));
CREATE TYPE holder AS (f literal);
CREATE FUNCTION differs(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.deed(); RETURN $1 <> $2; END $$;
CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int, NEGATOR = OPERATOR(public.!==));
CREATE OPERATOR !== (FUNCTION = differs, LEFTARG = int, RIGHTARG = int, NEGATOR = OPERATOR(public.===));
CREATE DOMAIN later AS int;
CREATE FUNCTION peeks(int, int) RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT $1 < (SELECT max(id) FROM visits)';
CREATE OPERATOR =#= (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int, NEGATOR = OPERATOR(public.<#>));
CREATE OPERATOR <#> (FUNCTION = peeks, LEFTARG = int, RIGHTARG = int, NEGATOR = OPERATOR(public.=#=));
END
my %expressions = (called => 'ARRAY[harmless(id)]', folded => 'ARRAY[id + harmless(1)]', operator => 'ARRAY[id |+| 1]', domain => 'ARRAY[(CASE WHEN id > 0 THEN 1::checked END)::int + id]',
	cast => "ARRAY[id + (''1''::wrapped)::int]", default => 'ARRAY[with_default(id)]', literal => "ARRAY[id + ((''(1)''::holder).f)::int]",
	negator => 'ARRAY[(NOT (id === 1))::int]', later => 'ARRAY[id + (CASE WHEN id > 0 THEN id::later END)::int]');
as('curator', release($_, 'visits', $expressions{$_})) for sort keys %expressions;
as('curator', release('view', 'seen', 'ARRAY[y]'));
like(fails('curator', release('peeks', 'visits', 'ARRAY[(NOT (id =#= 1))::int]')), qr/ERROR:  22023: .*not IMMUTABLE/, 'a negator that is not immutable is refused');
for my $name (sort keys %expressions, 'view') {
	like(fails('other_curator', "CALL race_release_next('$name')"), qr/ERROR:  42501: .*\nDETAIL:  .*role "curator".*\nHINT:/, "$name: another curator does not refresh it");
	$cluster->sql("CALL race_release_next('$name')");
	as('curator', "ALTER DOMAIN later ADD CHECK (holds(value))") if $name eq 'later';
	$cluster->sql("CALL race_release_next('$name')");
	as('curator', "CALL race_release_next('$name')");
}
is(superusers(), $ENV{PGUSER}, 'a superuser refreshes with the rights of the curator: nobody has become superuser');

# a superuser describes a column for its owner, whose cast reads the public table
as('anna', <<'END');
CREATE TYPE code AS ENUM ('a', 'b');
CREATE FUNCTION grasping(code) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
	IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE anna SUPERUSER'; END IF;
	RETURN 'code ' || chr(96 + length(quote_nullable($1)) / 3); END $$;
CREATE CAST (code AS text) WITH FUNCTION grasping(code);
CREATE TABLE codes (c code PRIMARY KEY);
INSERT INTO codes VALUES ('a');
CREATE TABLE coded (c code REFERENCES codes);
CALL race_protect('coded', 'coded', 1, public_tables => '{codes}');
END
$cluster->sql_fails("CALL race_describe('coded', 'c', public_table => 'codes')");
is(superusers(), $ENV{PGUSER}, 'a public table is read with the rights of the owner of the relation');
# settings that a function of the curator leaves behind, in the session of a superuser
as('curator', q(CREATE FUNCTION settle(int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM set_config('search_path', 'public, pg_catalog', false);
	PERFORM set_config('check_function_bodies', 'off', false); PERFORM set_config('row_security', 'off', false); RETURN $1; END $$;
	CREATE FUNCTION settled(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public.settle($1); END $$));
as('curator', release('settings', 'visits', 'ARRAY[settled(id), settled(1)]') =~ s/dims=1/dims=2/r);
my $settings = "SELECT md5(string_agg(name || '=' || setting, ' ' ORDER BY name)) FROM pg_settings WHERE name !~ '[.]' AND name <> 'transaction_isolation'";
my @settings = split /\n/, $cluster->sql("$settings;\nCALL race_release_next('settings');\n$settings;\nSET check_function_bodies = off;\n$settings");
is($settings[1], $settings[0], 'nor are settings changed in his session');
isnt($settings[2], $settings[0], 'control: a setting is noticed');
is($cluster->sql("SELECT DISTINCT charged_by FROM _racepriv.race_charges WHERE request->>'name' = 'called'"), 'curator', 'and the release is hers');
is($cluster->sql("SELECT session_user = current_user, current_setting('role')"), 't|none', 'the session is as it was');
$cluster->sql('CREATE ROLE deputy LOGIN IN ROLE curator');
as('deputy', "CALL race_release_next('called')");
$cluster->sql('REVOKE EXECUTE ON PROCEDURE race_release_next(text) FROM curator');
like($cluster->sql_fails("CALL race_release_next('called')"), qr/ERROR:  42501/, 'who is no curator any more has nothing refreshed');
$cluster->sql("CALL race_grant('curator', 'curator')");
$cluster->sql('ALTER ROLE curator RENAME TO curator_before; CREATE ROLE curator LOGIN; GRANT SELECT ON visits TO curator');
$cluster->sql("CALL race_grant('curator', 'curator')");
like(fails('curator', "CALL race_release_next('called')"), qr/ERROR:  42501: .*\nDETAIL:  .*role "curator_before"/, 'who takes the name of the curator is another');
as('curator_before', "CALL race_release_next('called')");

# ------------------------------------------------------- roles and schemas renamed

sub budget {
	my ($dataset, $database) = @_;
	return $cluster->sql("SELECT budget FROM _racepriv.race_datasets WHERE dataset = '$dataset'", $database);
}

sub reload {
	my ($role, $table) = @_;
	my ($name) = $table =~ /(\w+)$/;
	as($role, "DROP TABLE $table; " . table("${table}_new") . " ALTER TABLE ${table}_new RENAME TO $name");
}

as('anna', table('public.pat'));
as('anna', "CALL race_protect('pat', 'public.pat', 1)");
as('anna', release('pat 1', 'pat'));
$cluster->sql('ALTER ROLE anna RENAME TO anna_maria');
reload('anna_maria', 'public.pat');
like(fails('anna_maria', "CALL race_protect('pat again', 'public.pat', 2)"), qr/ERROR:  22023: .*have a budget already/, 'a role that was renamed has her budget');
like(fails('anna_maria', release('pat 2', 'pat')), qr/ERROR:  53400/, 'and no more than that');
as('anna_maria', 'DROP TABLE public.pat');
$cluster->sql('CREATE ROLE anna LOGIN; GRANT CREATE ON SCHEMA public TO anna');
$cluster->sql("CALL race_grant('anna', 'owner')");
as('anna', table('public.pat'));
like(fails('anna', "CALL race_protect('pat of another', 'public.pat', $_)"), qr/ERROR:  55000: the ledger names table public.pat already\nDETAIL:.*\nHINT:/, "who takes her name does not join, nor is the table's name free: $_") for 1, 50;
like(fails('anna', "CALL $_"), qr/ERROR:  42P01/, "nor does he act on it: $_") for "race_budget_limit('pat', 50, 0)", "race_budget_adopt('pat')";
is($cluster->sql("SELECT epsilon_limit FROM _racepriv.race_budgets WHERE budget = 'pat'"), 1, 'the limit is as it was');
$cluster->sql("CALL race_budget_adopt('pat')");
is(as('anna', "CALL race_protect('pat of another', 'public.pat', 1)") . budget('pat of another'), 'pat', 'a superuser says that it is the same table');
like(fails('anna', release('pat 3', 'pat')), qr/ERROR:  (?:53400|42501)/, 'and what is spent stays spent');

$cluster->sql('CREATE SCHEMA sa; GRANT ALL ON SCHEMA sa TO bert');
as('bert', table('sa.beds'));
as('bert', "CALL race_protect('beds', 'sa.beds', 1)");
as('bert', release('beds 1', 'beds'));
$cluster->sql('ALTER SCHEMA sa RENAME TO sb');
reload('bert', 'sb.beds');
like(fails('bert', "CALL race_protect('beds again', 'sb.beds', 2)"), qr/ERROR:  22023: .*have a budget already/, 'a table in a schema that was renamed has its budget');
$cluster->sql('CREATE SCHEMA sa; GRANT ALL ON SCHEMA sa TO bert');
as('bert', table('sa.beds'));
like(fails('bert', "CALL race_protect('beds again', 'sa.beds', 2)"), qr/ERROR:  22023: .*have a budget already/, 'and so has one under the old name');
# a table of another that lives on under another name leaves its name free
as('bert', 'DROP TABLE sa.beds; ' . table('sa.rooms'));
as('bert', "CALL race_protect('rooms', 'sa.rooms', 1); ALTER TABLE sa.rooms RENAME TO chambers");
$cluster->sql('GRANT ALL ON SCHEMA sa TO app');
as('app', table('sa.rooms'));
as('app', "CALL race_protect('other rooms', 'sa.rooms', 3)");
is(budget('other rooms'), 'other rooms', 'a table of another that lives on under another name leaves its name free');

# -------------------------------------------------------------------- restores

sub test_restore {
	my ($what, $owner, @options) = @_;
	$cluster->run_here('createdb', 'restored');
	$cluster->run_here('pg_restore', '-e', @options, '-d', 'restored', "$cluster->{home}/dump");
	$cluster->sql("ALTER TABLE public.housing OWNER TO $owner; ALTER VIEW public.flats OWNER TO $owner; GRANT ALL ON SCHEMA public TO $owner", 'restored');
	$cluster->sql("CALL race_grant('$owner', '$_')", 'restored') for qw(owner curator);
	like(fails($owner, "CALL race_protect('fresh', 'public.housing', 5)", 'restored'), qr/ERROR:  (?:55000: the ledger names table public.housing already\nDETAIL:.*\nHINT:  .*race_budget_adopt\('housing'\)|22023: .*have a budget already)/,
		"$what: the same table has no other budget");
	like(fails($owner, release('more', $_), 'restored'), qr/ERROR:  (?:42P01|55000).*\n(?:DETAIL.*\n)?HINT:  .*race_budget_adopt\(/, "$what: a release of $_ says how it is adopted") for 'housing', 'flats';
	like(fails($owner, "CALL race_budget_adopt('flats')", 'restored'), qr/ERROR:  42P01.*\n(?:DETAIL.*\n)?HINT:  .*a superuser can CALL race_budget_adopt\('flats'\)/, "$what: its new owner does not take it by the name") if $owner ne 'bert';
	$owner eq 'bert' ? as($owner, "CALL race_budget_adopt('flats')", 'restored') : $cluster->sql("CALL race_budget_adopt('flats')", 'restored');
	as($owner, release("more of $_", $_) =~ s/, 1\)$/, 0.5)/r, 'restored') for 'housing', 'flats';
	is($cluster->sql("SELECT epsilon_left FROM race_budget_status WHERE budget = 'housing'", 'restored') + 0, 1, "$what: it goes on with what was left");
	like(fails($owner, "CALL race_protect('fresh', 'public.housing', 5)", 'restored'), qr/ERROR:  22023: .*have a budget already/, "$what: and the table belongs to it");
	as($owner, "CALL race_budget_limit('housing', 4, 0)", 'restored');
	as($owner, 'DROP TABLE public.housing CASCADE; ' . table('public.housing'), 'restored');
	as($owner, release('anew', 'housing') =~ s/, 1\)$/, 0.5)/r, 'restored');
	is($cluster->sql("SELECT epsilon_left FROM race_budget_status WHERE budget = 'housing'", 'restored'), 1.5, "$what: also if the table is made anew");
	$cluster->run_here('dropdb', 'restored');
}

$cluster->run_here('createdb', 'home');
$cluster->sql("CREATE EXTENSION racepriv_release CASCADE; CALL race_grant('bert', 'owner'); CALL race_grant('bert', 'curator'); GRANT ALL ON SCHEMA public TO bert", 'home');
as('bert', table('public.housing') . 'CREATE VIEW public.flats AS TABLE public.housing', 'home');
as('bert', "CALL race_protect('housing', 'public.housing', 3); CALL race_protect('flats', 'public.flats', 3)", 'home');
as('bert', release('first', 'housing'), 'home');
$cluster->run_here('pg_dump', '--no-sync', '-Fc', '-f', "$cluster->{home}/dump", 'home');
test_restore('with its owner', 'bert');
test_restore('without owners, given to another', 'app', '--no-owner', '--no-privileges');
test_restore('without owners, given to the same', 'bert', '--no-owner', '--no-privileges');

# ------------------------------------------------------------- texts and locks

$cluster->sql('ALTER ROLE anna_maria RENAME TO maria');
$cluster->sql('GRANT SELECT ON visits TO maria');
for my $texts ("E'a\\x01'", "E'two\\nlines'", "'<script>alert(1)</script>'", "U&'\\202Eabc'", "E'\\e]0;pwn\\x07'") {
	my $call = "CALL race_release_sketch($texts, 'visits', '$params', 'x', 0.1)";
	like(fails('maria', $call), qr/ERROR:  22023: .*control characters or markup/, "$call is refused");
	like(fails('maria', "CALL race_release_sketch('shown', 'visits', '$params', 'x', 0.1, label => 'id', labels => ARRAY[$texts])"), qr/ERROR:  22023/, "as a label: $texts") ;
	like(fails('maria', "CALL race_protect($texts, 'visits', 90)"), qr/ERROR:  22023/, "as a dataset: $texts");
}
$cluster->sql("CREATE TABLE public.words (word text); CALL race_protect('words', 'public.words', 1)");
# names that look like others; categories and labels are values of a table, and may have blanks at their ends
for my $text (map({ "U&'vis\\+$_" . "its'" } qw(00200b 00061c 00feff 0000ad 0e0041 002060 00034f 003164 000085)), map({ "U&'vis\\+$_" . "its'" } qw(0000a0 003000 00200d 00fe0f)), "' visits'", "'visits '") {
	my $name = $text =~ /\+(?:0000a0|003000|00200d|00fe0f)|^' | '$/;
	like($cluster->sql_fails($_), qr/ERROR:  22023: .*(?:invisible or control characters|blank)/, "refused: $_")
		for "CALL race_protect($text, 'visits', 90)", "CALL race_release_sketch($text, 'visits', '$params', 'x', 0.1)", "CALL race_describe('visits', 'id', 0, 9, unit => $text)",
		$name ? () : ("CALL race_describe('words', 'word', categories => ARRAY[$text])", "CALL race_describe('visits', 'id', 0, 9, description => 'about ' || $text || '.')");
}
$cluster->sql("CALL race_describe('words', 'word', categories => '{\"M \",F,Stra\xc3\x9fe}', unit => '\xe2\x82\xac'); CALL race_release('of words', 'words', '{word}', 1)");
is($cluster->sql("SELECT domains->0->'categories' FROM race_catalog WHERE name = 'of words'"), qq(["M ", "F", "Stra\xc3\x9fe"]), 'categories keep their blanks');
like($cluster->sql_fails("SELECT race_count($_)"), qr/ERROR:  42704: there is no release "[^"]*"\nDETAIL:  It differs from the name of a release in blanks, or in characters that may not be shown\.\nHINT:  Perhaps you meant "of words"\./, "a name that looks alike: $_")
	for "'of words '", "'ofwords'", "U&'of words\\200b'", "U&'of\\00a0words'";
like($cluster->sql_fails("SELECT race_count('quite another')"), qr/ERROR:  42704: there is no release "quite another"\nHINT:  race_catalog lists the releases\.\n/, 'a name that is like none speaks of no other servers');
is($cluster->sql("SELECT bool_and(_racepriv._race_is_shown(t, true)) FROM unnest(ARRAY['visits 2026', '\xe8\xa8\xaa\xe5\x95\x8f', '\xf0\x9f\x98\x80', U&'\\0645\\06CC\\200C\\062E', 'Stra\xc3\x9fe', 'a < b', 'x<', '5%']) t"), 't', 'names of other scripts');
# bytes that have no encoding, or another one
for my $encoding (qw(SQL_ASCII WIN1252 LATIN1)) {
	$cluster->run_here('createdb', '-E', $encoding, '-T', 'template0', 'encoded');
	my $bytes = $encoding eq 'SQL_ASCII' ? "E'Stra\\xc3\\x9fe'" : "E'Stra\\xdfe'";
	$cluster->sql("SET client_encoding = $encoding; CREATE EXTENSION racepriv_release CASCADE; CREATE TABLE t (x int); CALL race_protect($bytes, 't', 1)", 'encoded');
	like($cluster->sql_fails("CALL race_protect(E'a\\x1bb', 't', 1)", 'encoded'), qr/ERROR:  22023: .*control/, "$encoding: control characters");
	$cluster->run_here('dropdb', 'encoded');
}
like(fails('maria', "CALL race_release_sketch('shown', 'visits', '$params', 'x', 0.1, description => $_)"), qr/ERROR:  22023/, "description => $_") for "'<img src=x>'", "E'\\x02'";
as('maria', "CALL race_release_sketch('shown, 3 < 4', 'visits', '$params', 'x', 0.1, description => E'two lines:\\n1 < 2, a <- b')");

# What another session drops while this one waits for it is no internal error.
$cluster->sql('CREATE TABLE public.seen_once (id int, x int NOT NULL CHECK (x BETWEEN 0 AND 9)); CREATE TABLE public.coded_once (c text PRIMARY KEY);'
	. "INSERT INTO public.coded_once VALUES ('a'); ALTER TABLE public.seen_once ADD c text REFERENCES public.coded_once; CREATE VIEW public.seen_twice AS TABLE public.seen_once");
for my $act ("CALL race_protect('seen_once', epsilon_limit => 1)", "CALL race_protect('seen_twice', epsilon_limit => 1)", "CALL race_release('once', 'dropped', '{x}', 1)", "CALL race_release_next('before')",
	"CALL race_describe('dropped', 'x', bounds => 'private', epsilon => 1)", "CALL race_describe('dropped', 'c', public_table => 'coded_once')", "SELECT * FROM race_plan('dropped', '{x}', 1)", "SELECT count(*) FROM race_columns WHERE dataset = 'dropped'")
{
	$cluster->sql("CREATE DATABASE dropping TEMPLATE postgres");
	$cluster->sql("CALL race_protect('dropped', " . ($act =~ /public_table/ ? "'seen_once'" : "'seen_twice'") . ", 9, public_tables => '{coded_once}'); CALL race_release('before', 'dropped', '{x}', 1)", 'dropping') if $act !~ /race_protect/;
	my ($dropper, $waiter) = map { $cluster->session('dropping') } 1, 2;
	$dropper->ask('BEGIN; DROP TABLE public.seen_once, public.coded_once CASCADE');
	my $pid = $waiter->ask('SELECT pg_backend_pid()');
	$waiter->start("\\set VERBOSITY verbose\n$act;");
	$cluster->wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid AND (query ~ 'pg_backend_pid' OR state = 'active' AND wait_event_type IS DISTINCT FROM 'Lock'))");
	$dropper->ask('COMMIT');
	unlike($waiter->finish, qr/XX000/, "dropped meanwhile: $act");
	undef $_ for $dropper, $waiter;
	$cluster->wait_until("SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'dropping'");
	$cluster->run_here('dropdb', 'dropping');
}

my $prepared = RaceCluster->new;
$prepared->run_here('psql', '-Xqc', 'ALTER SYSTEM SET max_prepared_transactions = 2');
$prepared->stop('fast');
$prepared->start;
$prepared->sql('CREATE EXTENSION racepriv_release CASCADE; ' . table('visits') . "CALL race_protect('visits', 'visits', 1)");
like($prepared->sql_fails("BEGIN; $_; PREPARE TRANSACTION 'p'"), qr/ERROR:  0A000: cannot PREPARE/, "cannot be prepared: $_")
	for "CALL race_budget_limit('visits', 2, 0)", "CALL race_budget_adopt('visits')", "CALL race_protect('more', 'visits', 1)";
$prepared->sql("BEGIN; CALL race_budget_limit('visits', 2, 0); COMMIT; BEGIN; CREATE TABLE t (); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'");
is($prepared->sql("SELECT count(*) FROM pg_prepared_xacts"), 0, 'other transactions can');

done_testing();
