# Upgrades: ALTER EXTENSION UPDATE makes what CREATE EXTENSION makes; values of each version
# that there was say what they said; a ledger, rights on it and views of users survive;
# whatever an old catalog declares answers with the new library, or says what to do.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use RaceCluster;
use Test::More;

my $fixtures = "$FindBin::Bin/../upgrade";
my @versions = map { m{--(.*)\.sql} } glob "$fixtures/racepriv--*.sql.gz";
my $offered = sql("SELECT string_agg(version, ' ') FROM pg_available_extension_versions WHERE name = 'racepriv'");
for my $version (@versions) {
	plan(skip_all => "$version is not there: make install-last-versions") unless grep { $_ eq $version } split / /, $offered;
}
my @roles = map { "upgrade_$_" } qw(curator owner analyst);
my $first = $ENV{PGDATABASE};
my $n = 0;

sub in_new_database {
	my ($action) = @_;
	local $ENV{PGDATABASE} = "${first}_" . ++$n;
	run('', 'createdb', $ENV{PGDATABASE});
	my $result = $action->();
	run('', 'dropdb', '--force', $ENV{PGDATABASE});
	return $result;
}

sub slurp {
	my ($file) = @_;
	my ($mode, @command) = $file =~ /\.gz$/ ? ('-|', 'gzip', '-dc') : ('<');
	open my $in, $mode, @command, "$fixtures/$file" or die "$file: $!";
	local $/ = undef;
	return scalar readline $in;
}

sub feed {
	my ($input, @options) = @_;
	my ($text, $good) = run($input, qw(psql -XAtq -v ON_ERROR_STOP=1), @options);
	die "$text\n" unless $good;
	return $text;
}

# Facts of the catalog that are not those of a new installation
my $fresh = in_new_database(sub { sql('CREATE EXTENSION racepriv'); feed(slurp('catalog.sql')) });

sub differences {
	my %is = map { $_ => 1 } split /\n/, feed(slurp('catalog.sql'));
	my %should = map { $_ => 1 } split /\n/, $fresh;
	return map { substr $_, 0, 300 } (map { "missing: $_" } grep { !$is{$_} } sort keys %should),
		map { "too much: $_" } grep { !$should{$_} } sort keys %is;
}

# Kinds of values of a version that say something else now
sub changed_values {
	my ($version) = @_;
	my %before = map { /^([^|]*\|[^|]*)\|.*\|(.*)$/ } split /\n/, slurp("values--$version.txt");
	my %now = map { split /\t/, $_, 2 } split /\n/, sql("SELECT kind || '|' || form || E'\\t' || answers(sketch, q) FROM kept");
	return join ', ', 'of ' . scalar(keys %now), grep { $before{$_} ne $now{$_} } sort keys %now;
}

sub load_values {
	my ($version) = @_;
	sql('CREATE TABLE kept (kind text, form text, q text, sketch race_sketch, answer text)');
	feed(slurp('answers.sql'));
	sql(slurp('values.sql') =~ s/.*(CREATE TABLE t AS.*?;).*/$1/sr);
	feed(slurp("values--$version.txt") =~ s/\\/\\\\/gr, '-c', "COPY kept FROM STDIN DELIMITER '|'");
}

# The ledger, and what a user's view says of it, wherever its tables are.  OIDs are not for a
# comparison of two databases.
sub ledger {
	return sql(<<'LEDGER') =~ s/\b\d{5,}\b//gr;
SET search_path = public, _racepriv;
SELECT budget, datasets, tables, accounting, epsilon_limit, delta_limit, rho_limit, spent_epsilon, spent_delta, spent_rho, charges, last_charged_at FROM race_budget_status ORDER BY 1;
SELECT charge, budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity FROM race_charges ORDER BY 1;
SELECT name, version, part, label, md5(sketch::text), dataset, charge, released_at, value_bound FROM race_releases ORDER BY 1, 2, 3;
SELECT dataset, relation, relation_name, owner, unit_column, max_contributions, neighbors, public_tables, budget FROM race_datasets ORDER BY 1;
SELECT table_name, relation, owner, budget, identity FROM race_budget_tables ORDER BY 1, 2;
SELECT * FROM means ORDER BY 1, 2, 3;
LEDGER
}

sub rights {
	return sql(<<'RIGHTS');
SELECT proname, a.grantee::regrole, a.is_grantable FROM pg_proc, aclexplode(proacl) a WHERE a.grantee::regrole::text ~ '^upgrade_' ORDER BY 1, 2;
SELECT relname, a.grantee::regrole, a.privilege_type FROM pg_class, aclexplode(relacl) a WHERE a.grantee::regrole::text ~ '^upgrade_' ORDER BY 1, 2;
RIGHTS
}

# A view of a user on a view that is made anew stops the update: he drops it, and makes it again.  The
# update makes nothing that is a user's, since his functions would run with the rights of a superuser.
sub update {
	my ($what) = @_;
	my $view = "CREATE VIEW means AS " . sql("SELECT pg_get_viewdef('means'::regclass)");
	like(sql_fails('ALTER EXTENSION racepriv UPDATE'), qr/ERROR:  2BP01: .*view means depends on view race_latest_releases/s, "$what: a view of a user stops the update");
	sql('DROP VIEW means');
	sql("CREATE TABLE of_moments (m race_moments)");
	like(sql_fails('ALTER EXTENSION racepriv UPDATE'), qr/ERROR:  2BP01: .*depend on type race_moments/s, "$what: so does a column of moments");
	sql("ALTER TABLE of_moments ALTER m TYPE text USING m::text; ALTER EXTENSION racepriv UPDATE; ALTER TABLE of_moments ALTER m TYPE race_sketch USING m::race_sketch; DROP TABLE of_moments");
	sql($view);
	return;
}

sub test_restored {
	my ($what, $dump) = @_;
	feed($dump);
	my $ledger = ledger();
	$what =~ /after the update/ ? sql('ALTER EXTENSION racepriv UPDATE') : update($what);
	my $spent = "SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'visits'";
	my $before = sql($spent);
	like(sql_fails("CALL race_release_next('people')"), qr/ERROR:  55000: .*another copy/, "$what: is a copy");
	sql("CALL race_budget_adopt('seen'); CALL race_release_next('people')");
	is(sql($spent) - $before, 1, "$what: goes on, and is charged");
	return $ledger;
}

# Calls each routine of an old catalog: with NULLs, and what acts on the ledger with arguments as
# well.  Nothing may end the session, or raise an internal error.
sub test_old_catalog {
	my ($version) = @_;
	my @calls = split /\n/, sql(<<'CALLS');
SELECT CASE p.prokind WHEN 'p' THEN 'CALL ' ELSE 'SELECT ' END || p.oid::regproc || '(' || coalesce((
	SELECT string_agg('NULL::' || CASE WHEN t IN ('"any"'::regtype, 'anyelement'::regtype) THEN 'int[]' ELSE t::text END, ', ' ORDER BY i)
	FROM unnest(p.proargtypes::oid[]::regtype[]) WITH ORDINALITY v (t, i)), '') || ')'
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname = 'racepriv' AND NOT ARRAY['internal', 'cstring']::regtype[] && p.proargtypes::oid[]::regtype[]
ORDER BY p.oid;
CALLS
	my @acts = ("CALL race_protect('more', 'visits', 1)", "CALL race_budget_limit('visits', 5, 0)", "CALL race_budget_adopt('visits')",
		"CALL race_release('more', 'visits', 'l2(dims=1, rows=16, range=16)', 'x', 0.1)", "CALL race_release_next('people')",
		"SELECT race_refreshes_left('people')", "SELECT race_released('people')",
		"SELECT race_released('people')", "SELECT race_classify('sites', '{3}'::int[])", "SELECT race_posterior('sites', '{3}'::int[])");
	my $n = 0;
	my $said = feed(join('', "\\set VERBOSITY verbose\n", map { "\\echo call " . $n++ . "\n$_;\n" } @calls, @acts) . "\\echo call $n\n", '-v', 'ON_ERROR_STOP=0');
	my @said = split /^call \d+\n?/m, $said, -1;
	cmp_ok(scalar(@calls), '>', 200, "$version: the routines of its catalog");
	is(scalar(@said), @calls + @acts + 2, 'are called by one session');
	is(join("\n", map { "$calls[$_]: $said[$_ + 1]" } grep { $said[$_ + 1] =~ /XX000/ } 0 .. $#calls), '', 'without an internal error');
	like($said[@calls + 1 + $_], qr/ERROR:  55000: .*HINT:  ALTER EXTENSION racepriv UPDATE/s, "$acts[$_] says that the extension must be updated") for 0 .. $#acts;
}

sub test_update {
	my ($version) = @_;
	sql("CREATE EXTENSION racepriv VERSION '$version'");
	feed(slurp("ledger--$version.sql.gz"));
	for my $role (@roles) {
		sql("CREATE ROLE $role; CALL race_grant('$role', '" . ($role =~ s/.*_//r) . "')");
	}
	load_values($version);
	is(changed_values($version), 'of 31', "values of $version: the new library says the same before the update");
	my ($ledger, $rights) = (ledger(), rights());
	test_old_catalog($version);
	update($version);
	is(changed_values($version), 'of 31', "values of $version: the same after the update");
	is(sql('SELECT count(*) > 0, count(charged_by_id) FROM _racepriv.race_charges'), 't|0', 'who charged is unknown: a role may have taken the name');
	sql(<<'OLD');
ALTER TABLE _racepriv.race_charges DISABLE TRIGGER race_append_only;
CREATE TABLE charged AS SELECT charge, identity FROM _racepriv.race_charges;
UPDATE _racepriv.race_charges SET identity = _racepriv._race_identity();
OLD
	like(sql_fails("CALL race_release_next('people')"), qr/ERROR:  42501: .*is not known in this database/s, 'so that nobody refreshes a release that was made here');
	sql(<<'OLD');
UPDATE _racepriv.race_charges c SET identity = o.identity FROM charged o WHERE o.charge = c.charge;
DROP TABLE charged;
ALTER TABLE _racepriv.race_charges ENABLE TRIGGER race_append_only;
OLD
	sql("UPDATE kept SET sketch = (SELECT sketch FROM kept WHERE kind = 'l2' AND form = 'laplace') WHERE kind = 'l2' AND form = 'gaussian'");
	is(changed_values($version), 'of 31, l2|gaussian', 'control: another value is noticed');
	is(ledger(), $ledger, "a ledger of $version, and a view on it, survive the update");
	is(rights(), $rights =~ s/^(race_release_next\|.*\n)/$1race_release_sketch|upgrade_curator|f\n/mr, 'and the rights on it');

	sql("DROP OWNED BY $_; DROP ROLE $_") for @roles;
	sql('DROP TABLE kept, t; DROP FUNCTION answers');
	is(join("\n", differences()), '', "$version, updated, is what is created anew")
	  or diag 'make upgrade-script makes the script of the update';
	my ($dump) = run('', 'pg_dump', '--no-owner');
	is(in_new_database(sub { test_restored("a dump of $version after the update", $dump) }), $ledger, 'and its dump has the whole ledger');
	sql('ALTER FUNCTION race_count(race_sketch) COST 7');
	is(scalar(my @two = differences()), 2, 'control: another cost is noticed');
	return $ledger;
}

# pg_upgrade makes the old catalog anew, with the new library
sub test_pg_upgrade {
	my ($version) = @_;
	my $old = RaceCluster->new;
	$old->within(undef, sub { sql("CREATE EXTENSION racepriv VERSION '$version'"); feed(slurp("ledger--$version.sql.gz")) });
	my $ledger = $old->within(undef, \&ledger);
	$old->stop('fast');
	my $new = RaceCluster->new->stop('fast');
	my $programs = RaceCluster::command('pg_config', '--bindir');
	chdir $new->{home};
	$new->run_here('pg_upgrade', '-U', $ENV{PGUSER}, '-b', $programs, '-B', $programs, '-s', $new->{home}, '-d', $old->data, '-D', $new->data);
	chdir '/';
	$new->start;
	is($new->within(undef, \&ledger), $ledger, "pg_upgrade of $version: the ledger is there, and before the update");
	$new->within(undef, sub { update("pg_upgrade of $version") });
	is($new->within(undef, \&ledger), $ledger, "pg_upgrade of $version: and after it");
	is($new->sql("SELECT race_count(race_released('people')) > 0"), 't', 'and releases are asked by their names');
	is($new->within(undef, sub { join "\n", differences() }), '', 'which makes what is created anew');
	$new->stop('fast');
}

cmp_ok(scalar(split /\n/, $fresh), '>', 600, 'the catalog is looked at');
for my $version (@versions) {
	my $dump = slurp("ledger--$version.sql.gz") =~ s/(CREATE EXTENSION IF NOT EXISTS racepriv[^;]*)/$1 VERSION '$version'/r;
	is(in_new_database(sub { test_update($version) }),
		in_new_database(sub { test_restored("a dump of $version, updated", $dump) }),
		"a dump of $version has the same ledger");
	test_pg_upgrade($version);
}

done_testing();
