# Code of the owner of a relation, of a type or of an index never runs with rights that its owner does not have: not in the
# session of a superuser, and not in that of a member of her role, whatever routine they call.  A release belongs to its dataset:
# it goes on when the role that made it is gone.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster qw(as fails);
use Test::More;

# ------------------------------------------------ one module switches users

my @switching;
for my $file (glob 'src/*.c src/*/*.[ch]') {
	open my $in, '<', $file or die "$file: $!\n";
	push @switching, $file if grep { /\bSetUserId(?:AndSecContext|AndContext)?\b|\bSetCurrentRoleId\b/ } readline $in;
}
is("@switching", 'src/sketch/authority.c', 'one module changes the current user');

# --------------------------------------------------------------- a trap

my $cluster = RaceCluster->new;
$cluster->sql("CREATE ROLE $_ LOGIN") for qw(own boss maker);
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE SCHEMA h AUTHORIZATION own;
GRANT own TO boss;
CREATE TABLE payroll (x int);
GRANT SELECT ON payroll TO boss;
CALL race_grant('own', 'owner'); CALL race_grant('boss', 'owner'); CALL race_grant('boss', 'curator'); CALL race_grant('maker', 'curator');
END
as('own', <<'END');
CREATE TABLE h.deeds (who name, what text);
GRANT USAGE ON SCHEMA h TO PUBLIC;
-- who has more rights than the owner says so by them
CREATE FUNCTION h.deed(what text) RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO h.deeds VALUES (current_user, what);
	IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE own SUPERUSER'; END IF;
	IF has_table_privilege('public.payroll', 'SELECT') THEN INSERT INTO h.deeds VALUES (current_user, 'payroll'); END IF;
	RETURN true; END $$;
CREATE FUNCTION h.trap(what text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN h.deed(what); END $$;
CREATE FUNCTION h.seen(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM h.deed('view'); RETURN x; END $$;
CREATE FUNCTION h.added(a int, b int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM h.deed('operator'); RETURN a + b; END $$;
CREATE OPERATOR h.|+| (FUNCTION = h.added, LEFTARG = int, RIGHTARG = int);
CREATE DOMAIN h.checked AS int CHECK (h.trap('domain'));
CREATE DOMAIN h.town AS text CHECK (h.trap('domain of text') AND VALUE <> 'Oslo');
CREATE DOMAIN h.high AS int CHECK (h.trap('domain of numbers') AND VALUE > 4);
CREATE TYPE h.pair AS (x h.checked);
CREATE TABLE h.t AS SELECT i AS id, i % 10 AS x, (CASE WHEN i % 3 = 0 THEN 'Rome' ELSE 'Oslo' END)::text AS town, '{1}'::int[] AS list, timestamp '2026-01-01' AS at FROM generate_series(1, 300) i;
CREATE INDEX ON h.t ((x + CASE WHEN h.trap('index') THEN 1 ELSE 0 END));
ALTER TABLE h.t ADD CHECK (x + CASE WHEN h.trap('check') THEN 1 ELSE 0 END > 0), ALTER list TYPE h.checked[];
CREATE VIEW h.v AS SELECT id, h.seen(x) + h.seen(0) AS x, town, list, at FROM h.t WHERE x OPERATOR(h.|+|) 1 > 0 AND h.trap('condition');
GRANT SELECT ON h.t, h.v TO maker;
CREATE TYPE h.code AS ENUM ('Rome', 'Oslo');
CREATE FUNCTION h.as_text(h.code) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM h.deed('cast'); RETURN 'Rome'; END $$;
CREATE CAST (h.code AS text) WITH FUNCTION h.as_text(h.code);
CREATE TABLE h.codes (c h.code PRIMARY KEY);
INSERT INTO h.codes VALUES ('Rome');
CREATE TABLE h.coded (c h.code REFERENCES h.codes);
CREATE TABLE h.rows (x h.high, town h.town);
CREATE TYPE h.row AS (x int, town text);
CREATE DOMAIN h.checked_row AS h.row CHECK (h.trap('domain of rows') AND (VALUE).x > 6);
TRUNCATE h.deeds;
END

# Deeds that were done by others than the owner, and whether she has gained anything
sub caught {
	return $cluster->sql("SELECT string_agg(DISTINCT who || ' ' || what, ', ') FROM h.deeds WHERE who <> 'own' OR what = 'payroll'") . ($cluster->sql("SELECT rolsuper FROM pg_roles WHERE rolname = 'own'") eq 't' ? ' superuser' : '');
}

my $days = '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-03"}';
for my $caller ($ENV{PGUSER}, 'boss') {
	my %done;
	for my $dataset ("v $caller", "t $caller") {
		my $relation = 'h.' . substr $dataset, 0, 1;
		my $params = 'l2(dims=1, lower={0}, upper={9}, bandwidth=1)';
		for my $call (
			"CALL race_protect('$dataset', '$relation', 1e6, unit_column => 'id', max_contributions => 1)",
			"SELECT count(*) FROM race_columns", "SELECT count(*) FROM race_catalog",
			"CALL race_describe('$dataset', 'x', bounds => 'private', epsilon => 50)",
			"CALL race_describe('$dataset', 'x', 0, 9); CALL race_describe('$dataset', 'town', categories => '{Rome,Oslo}')",
			"SELECT count(*) FROM race_plan('$dataset', '{x,town}', 1)",
			"CALL race_release('$dataset', '$dataset', '{x,town}', 1e5)",
			"CALL race_release('$dataset chosen', '$dataset', '{x,town}', 100, 1e-6, label => 'town')",
			"CALL race_release('$dataset weighted', '$dataset', '{x}', 100, weight => 'x', weight_max => 9)",
			"CALL race_release_sketch('$dataset sketch', '$dataset', '$params', 'ARRAY[x OPERATOR(h.|+|) 0]', 100, label => 'town', labels => '{Rome,Oslo}')",
			"CALL race_release_sketch('$dataset literal', '$dataset', '$params', 'ARRAY[x + cardinality(list || ''{1}'')]', 100)",
			"CALL race_release_sketch('$dataset cast', '$dataset', '$params', 'ARRAY[x + ((''(1)''::h.pair).x)::int]', 100)",
			"CALL race_release('$dataset days', '$dataset', '{x}', 100, series => '$days')",
			"CALL race_release_next('$dataset'); CALL race_release_next('$dataset sketch'); CALL race_release_next('$dataset days')",
			"SELECT race_refreshes_left('$dataset'); SELECT race_label('$dataset') IS NOT NULL",
			"SELECT count(*) FROM race_count('$dataset', '{\"x\": \"[2,5)\"}')",
			"CALL race_budget_limit('$dataset', 2e6, 1e-3); CALL race_budget_limit('$dataset', 1e6, 0)",
			"SELECT count(*) FROM race_synthesize(NULL::h.rows, '$dataset', 100)") {
			my $told = do { local $ENV{PGUSER} = $caller; $cluster->sql_fails($call) };
			$done{$call =~ /(race_\w+)/ ? $1 : ''}++ if $told !~ /ERROR/;
		}
	}
	is(caught(), '', "$caller: nothing of the owner's ran with rights of others");
	is(join(' ', sort keys %done), 'race_budget_limit race_catalog race_columns race_count race_describe race_plan race_protect race_refreshes_left race_release race_release_next race_release_sketch race_synthesize',
		"$caller: every routine was done");
	is($cluster->sql("SELECT string_agg(DISTINCT what, ', ' ORDER BY what) FROM h.deeds WHERE what IN ('view', 'index', 'condition', 'operator', 'domain', 'domain of text', 'domain of numbers')"),
		'condition, domain, domain of numbers, domain of text, index, operator, view', "$caller: and the traps were sprung");
	$cluster->sql("CALL race_protect('coded $caller', 'h.coded', 1, public_tables => '{h.codes}')");
	fails($caller, "CALL race_describe('coded $caller', 'c', public_table => 'h.codes')");
	is($cluster->sql("SELECT count(*) > 0 FROM h.deeds WHERE what = 'cast'") . caught(), 't', "$caller: a public table");
	$cluster->sql('TRUNCATE h.deeds');
}
as('boss', 'SELECT count(*) FROM h.v');
is($cluster->sql("SELECT string_agg(DISTINCT what, ', ') FROM h.deeds WHERE who = 'boss' AND what = 'payroll'"), 'payroll', 'control: who reads the view herself runs its functions');
$cluster->sql('TRUNCATE h.deeds');


# ----------------------------------------------- rows of types with constraints

$cluster->sql("GRANT SELECT ON _racepriv.race_releases TO own");
my $of = "FROM race_synthesize(NULL::h.rows, 't boss', 2000)";
is(as('own', "SELECT min(x) >= 5, max(x), count(*), count(x) > 1900, count(DISTINCT town) $of"), 't|9|2000|t|1', 'values of SQL domains are drawn until their constraints hold');
is(as('own', "SELECT min((s).x) >= 7, count(DISTINCT (s).town), count(*) FROM (SELECT race_synthesize(NULL::h.checked_row, 't boss', 500)) r (s)"), 't|2|500', 'and rows of a SQL domain');
is(as('own', "SELECT count(*), count(DISTINCT x) FROM race_synthesize(NULL::h.row, 't boss', 2000)"), '2000|10', 'control: without constraints all values are there');
as('own', "CREATE DOMAIN h.much AS int CHECK (VALUE > 1000); CREATE DOMAIN h.some AS text CHECK (VALUE IS NOT NULL); CREATE TYPE h.too_much AS (x h.much); CREATE TYPE h.given AS (town h.some);"
	. ' CREATE DOMAIN h.never AS h.row CHECK ((VALUE).x > 1000); CREATE DOMAIN h.above AS numeric(5,2) CHECK (VALUE > 0); CREATE TYPE h.measured AS (x h.above)');
like(fails('own', "SELECT * FROM race_synthesize(NULL::h.too_much, 't boss', 5)"), qr/ERROR:  23514: no value of column "x" was found that the constraints of type h\.much allow\nDETAIL.*\nHINT/, 'of numbers that none allows it is said');
like(fails('own', "SELECT race_synthesize(NULL::h.never, 't boss', 5)"), qr/ERROR:  23514: no row was found that the constraints of type h\.never allow/, 'and of rows');
is(as('own', "SELECT count(*), count(town) FROM race_synthesize(NULL::h.given, 't boss', 500)"), '500|500', 'a domain that allows no NULL has none');
is(as('own', "SELECT count(*), min(x) > 0 FROM race_synthesize(NULL::h.measured, 't boss', 500)"), '500|t', 'numbers with fractions are above 0');

# ------------------------------------------------------------------ taking over

as('own', "GRANT USAGE ON SCHEMA h TO maker; CALL race_protect('own', 'h.t', 1e6, unit_column => 'id', max_contributions => 1); CALL race_describe('own', 'town', categories => '{Rome,Oslo}'); GRANT INSERT ON h.deeds TO maker");
$cluster->sql("GRANT SELECT ON h.t TO maker");
as('maker', "CALL race_release('hers', 'own', '{town}', 1, series => '{\"by\": \"at\", \"every\": \"1 day\", \"starting\": \"2026-01-01\", \"until\": \"2026-01-03\"}')");
as('maker', "CALL race_release('hers too', 'own', '{town}', 1)");
$cluster->sql("CREATE ROLE other LOGIN; CALL race_grant('other', 'curator'); GRANT USAGE ON SCHEMA h TO other; GRANT SELECT ON h.t TO other");
like(fails('other', "CALL race_release_next('$_')"), qr/ERROR:  42501: .*\nDETAIL:  .*role "maker".*\nHINT:  Role own, the relation's owner or a superuser can CALL race_release_next\('$_'\)/, "$_: another curator does not go on with it") for 'hers', 'hers too';
$cluster->sql('DROP OWNED BY maker; DROP ROLE maker');
like(fails('other', "CALL race_release_next('hers')"), qr/ERROR:  42501: .*\nDETAIL:  The role that made its last version does not exist in this database.\nHINT:  Role own, the relation's owner/, 'nor when its maker is gone');
is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = 'hers'"), 0, 'nothing was made');
$cluster->sql('TRUNCATE h.deeds');
$cluster->sql("CALL race_release_next('hers')");
is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases WHERE name = 'hers'"), 2, 'a superuser goes on with a series whose maker is gone');
like(fails('own', "CALL race_release_next('hers too')"), qr/ERROR:  42501: permission denied for procedure race_release_next\nHINT:  .*race_grant\('own', 'curator'\)/, 'the owner needs the duty of a curator');
$cluster->sql("CALL race_grant('own', 'curator')");
as('own', "CALL race_release_next('hers too')");
is($cluster->sql("SELECT string_agg(charged_by, ' ' ORDER BY charged_at) FROM _racepriv.race_charges WHERE request->>'name' = 'hers too'"), 'maker own', 'and the next version is hers');
as('boss', "CALL race_release_next('hers too')");
is($cluster->sql("SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = 'hers too'"), 3, 'which who acts for her refreshes');
is(caught(), '', 'with the rights of the owner');

# Expressions of others run with the rights of who takes a release over: functions in them must not be of others.
$cluster->sql(<<'END');
CREATE ROLE mal LOGIN;
CALL race_grant('mal', 'curator');
CREATE SCHEMA m AUTHORIZATION mal;
GRANT USAGE ON SCHEMA m TO PUBLIC;
GRANT USAGE ON SCHEMA h TO mal;
GRANT SELECT ON h.t TO mal;
GRANT INSERT ON h.deeds TO mal;
END
as('mal', <<'END');
CREATE TABLE m.loot (who text);
GRANT INSERT ON m.loot TO PUBLIC;
CREATE SEQUENCE m.by_own;
GRANT USAGE ON SEQUENCE m.by_own TO PUBLIC;
-- no rollback takes the sequence back
CREATE FUNCTION m.loots() RETURNS void LANGUAGE plpgsql VOLATILE AS $$ BEGIN
	IF current_user = 'own' THEN PERFORM nextval('m.by_own'); END IF;
	INSERT INTO m.loot VALUES (current_user); END $$;
CREATE FUNCTION m.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.loots(); RETURN $1; END $$;
CREATE FUNCTION m.adds(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT m.f($1) + $2';
CREATE OPERATOR m.@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = m.adds);
CREATE DOMAIN m.dom AS int CHECK (m.f(VALUE) >= 0);
CREATE TYPE m.pair AS (x m.dom);
END
my %expressions = ('a function' => 'ARRAY[m.f(id)]', 'an operator' => 'ARRAY[id OPERATOR(m.@@) 1]', 'a domain' => 'ARRAY[CASE WHEN id > 0 THEN id::m.dom END]', 'a constant' => 'ARRAY[id, m.f(1)]',
	'a row' => q(ARRAY[id, (''(1)''::m.pair).x]), 'an array' => q(ARRAY[id, cardinality(''{1}''::m.dom[])]), 'rows' => q(ARRAY[id, cardinality(''{"(1)"}''::m.pair[])]));
my $boxed = 'l2(dims=%d, bandwidth=2, rows=16, lower={%s}, upper={%s})';
for my $what (sort keys %expressions) {
	my $dims = $expressions{$what} =~ /^ARRAY\[id, / ? 2 : 1;
	as('mal', sprintf("CALL race_release_sketch('%s', 'own', '$boxed', '%s', 1)", $what, $dims, join(',', (0) x $dims), join(',', (9) x $dims), $expressions{$what}));
	$cluster->sql('TRUNCATE m.loot');
	like(fails('own', "CALL race_release_next('$what')"), qr/ERROR:  42501: release "$what" calls (?:function m\.\w+\(.*\)|type m\.\w+), which would run with the rights of role "own"\nDETAIL:  .*Nothing was read and nothing charged\.\nHINT:  .*ALTER (?:FUNCTION m\.\w+\(.*\)|TYPE m\.\w+) OWNER TO own/, "$what of the maker: the owner does not run it");
	is($cluster->sql('SELECT is_called FROM m.by_own'), 'f', "$what: nothing ran");
	as('mal', "CALL race_release_next('$what')");
	is($cluster->sql('SELECT string_agg(DISTINCT who, $$ $$) FROM m.loot'), 'mal', "$what: control: the maker does");
}
$cluster->sql('GRANT CREATE ON SCHEMA m TO own; ALTER FUNCTION m.f(int) OWNER TO own; TRUNCATE m.loot');
as('own', "CALL race_release_next('a function')");
is($cluster->sql("SELECT string_agg(DISTINCT who, ' '), (SELECT is_called FROM m.by_own) FROM m.loot"), 'own|t', 'control: what is her own runs');
as('mal', 'DROP FUNCTION m.f(int) CASCADE; CREATE FUNCTION m.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.loots(); RETURN $1; END $$');
like(fails('own', "CALL race_release_next('a function')"), qr/ERROR:  42501: release "a function" calls function m\.f/, 'and another of its name does not, when the last version was hers');
$cluster->sql('REVOKE CREATE ON SCHEMA m FROM own');

# ------------------------------------------------------------- what is dropped meanwhile

# while a release waits for the lock, the table or the view under it goes
as('own', 'CREATE TABLE h.going AS SELECT 1 AS id, 1 AS x; CREATE VIEW h.over AS TABLE h.going');
as('own', "CALL race_protect('$_', 'h.$_', 10, unit_column => 'id', max_contributions => 1); CALL race_describe('$_', 'x', 0, 9)") for qw(going over);
$cluster->sql("CALL race_release('$_', '$_', '{x}', 1)") for qw(going over);
for my $case (['going', "CALL race_release('new', 'going', '{x}', 1)"], ['going', "CALL race_release_next('going')"], ['going', "CALL race_describe('going', 'x', bounds => 'private', epsilon => 0.5)"],
	['over', "CALL race_release_sketch('new', 'over', 'l2(dims=1, rows=16, range=16)', 'ARRAY[x]', 1)"], ['over', "CALL race_release_next('over')"]) {
	my ($dataset, $call) = @$case;
	my $holder = $cluster->session;
	$holder->ask('BEGIN; DROP TABLE h.going CASCADE');
	my $session = $cluster->session->start("\\set VERBOSITY verbose\n$call");
	$cluster->wait_for_locks(1);
	$holder->ask('COMMIT');
	like($session->finish, qr/ERROR:  (42P01|42703|55000): /, "$call: an error of what was dropped");
	as('own', 'CREATE TABLE h.going AS SELECT 1 AS id, 1 AS x; CREATE VIEW h.over AS TABLE h.going');
}

done_testing();
