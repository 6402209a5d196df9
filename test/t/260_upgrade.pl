# Upgrades: ALTER EXTENSION UPDATE makes what CREATE EXTENSION makes; values of each version
# that there was say what they said; a ledger, rights on it and views of users survive;
# dumps of an old version are restored by the new one.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use RaceCluster;
use Test::More;

my $fixtures = "$FindBin::Bin/../upgrade";
my @versions = map { m{--(.*)\.sql} } glob "$fixtures/racepriv--*.sql";
my $offered = sql("SELECT string_agg(version, ' ') FROM pg_available_extension_versions WHERE name = 'racepriv'");
for my $version (@versions)
{
	plan(skip_all => "$version is not there: make install-last-versions") unless grep { $_ eq $version } split / /, $offered;
}
my @roles = map { "upgrade_$_" } qw(curator owner analyst);
my $first = $ENV{PGDATABASE};
my $n = 0;

sub in_new_database
{
	my ($action) = @_;
	local $ENV{PGDATABASE} = "${first}_" . ++$n;
	run('', 'createdb', $ENV{PGDATABASE});
	my $result = $action->();
	run('', 'dropdb', '--force', $ENV{PGDATABASE});
	return $result;
}

sub slurp
{
	my ($file) = @_;
	open my $in, '<', "$fixtures/$file" or die "$file: $!";
	local $/ = undef;
	return scalar readline $in;
}

sub feed
{
	my ($input, @options) = @_;
	my ($text, $good) = run($input, qw(psql -XAtq -v ON_ERROR_STOP=1), @options);
	die "$text\n" unless $good;
	return $text;
}

# Facts of the catalog that are not those of a new installation
my $fresh = in_new_database(sub { sql('CREATE EXTENSION racepriv'); feed(slurp('catalog.sql')) });

sub differences
{
	my %is = map { $_ => 1 } split /\n/, feed(slurp('catalog.sql'));
	my %should = map { $_ => 1 } split /\n/, $fresh;
	return map { substr $_, 0, 300 } (map { "missing: $_" } grep { !$is{$_} } sort keys %should),
		map { "too much: $_" } grep { !$should{$_} } sort keys %is;
}

# Grids give other answers than in 0.1.0, from the same counters; all else that they say is the same.
sub without_answers
{
	my (%said) = @_;
	s/ (exact|private) (\S+) \S+ \S+/ $1 $2/ for @said{grep { / grid\|/ } keys %said};
	return %said;
}

# Grids that are not what this version builds of the same records, or whose answers are far from
# the sum of kernels, which is 44 or 70
sub wrong_grids
{
	my ($answer) = @_;
	return split /\n/, sql(<<"END");
SELECT kind || '|' || form
FROM kept, LATERAL (SELECT race_build(race_params(sketch), x)::text AS built, sum(race_kernel(race_params(sketch), x, '{5,4}')) AS kernels FROM t) v
WHERE kind ~ ' grid\$' AND (form = 'exact' AND sketch::text <> built OR abs($answer - kernels) > 1)
ORDER BY kind COLLATE "C", form COLLATE "C"
END
}

# Kinds of values of a version that say something else now
sub changed_values
{
	my ($version) = @_;
	my %before = without_answers(map { /^([^|]*\|[^|]*)\|.*\|(.*)$/ } split /\n/, slurp("values--$version.txt"));
	my %now = without_answers(map { split /\t/, $_, 2 } split /\n/, sql("SELECT kind || '|' || form || E'\\t' || answers(sketch, q) FROM kept"));
	return join ', ', 'of ' . scalar(keys %now), (grep { $before{$_} ne $now{$_} } sort keys %now), wrong_grids("race_kernel_sum(sketch, '{5,4}')");
}

sub load_values
{
	my ($version) = @_;
	sql('CREATE TABLE kept (kind text, form text, q text, sketch race_sketch, answer text)');
	feed(slurp('answers.sql'));
	sql(slurp('values.sql') =~ s/.*(CREATE TABLE t AS.*?;).*/$1/sr);
	feed(slurp("values--$version.txt") =~ s/\\/\\\\/gr, '-c', "COPY kept FROM STDIN DELIMITER '|'");
	return;
}

# The ledger, what a user's view says of it, and answers by name.  OIDs are not for a
# comparison of two databases.
sub ledger
{
	return sql(<<'LEDGER') =~ s/\b\d{5,}\b//gr;
SELECT budget, datasets, tables, accounting, epsilon_limit, delta_limit, rho_limit, spent_epsilon, spent_delta, spent_rho, charges, last_charged_at FROM race_budget_status ORDER BY 1;
SELECT charge, budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity FROM _racepriv.race_charges ORDER BY 1;
SELECT name, version, part, label, md5(sketch::text), dataset, charge, released_at, value_bound FROM _racepriv.race_releases ORDER BY 1, 2, 3;
SELECT dataset, relation, relation_name, owner, unit_column, max_contributions, neighbors, public_tables, budget FROM _racepriv.race_datasets ORDER BY 1;
SELECT table_name, relation, owner, budget, identity FROM _racepriv.race_budget_tables ORDER BY 1, 2;
SELECT * FROM means ORDER BY 1, 2, 3;
SELECT race_count(race_released('people')), race_released_mean('days', '{3}'::float8[]);
LEDGER
}

sub rights
{
	return sql(<<'RIGHTS');
SELECT proname, a.grantee::regrole, a.is_grantable FROM pg_proc, aclexplode(proacl) a WHERE a.grantee::regrole::text ~ '^upgrade_' ORDER BY 1, 2;
SELECT relname, a.grantee::regrole, a.privilege_type FROM pg_class, aclexplode(relacl) a WHERE a.grantee::regrole::text ~ '^upgrade_' ORDER BY 1, 2;
RIGHTS
}

sub test_restored
{
	my ($what, $dump) = @_;
	feed($dump);
	my $ledger = ledger();
	my $spent = "SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'visits'";
	my $before = sql($spent);
	like(sql_fails("CALL race_release_next('people')"), qr/ERROR:  55000: .*another copy/, "$what: is a copy");
	sql("CALL race_budget_adopt('seen'); CALL race_release_next('people')");
	is(sql($spent) - $before, 1, "$what: goes on, and is charged");
	return $ledger;
}

sub test_update
{
	my ($version) = @_;
	sql("CREATE EXTENSION racepriv VERSION '$version'");
	feed(slurp("ledger--$version.sql"));
	for my $role (@roles)
	{
		sql("CREATE ROLE $role; CALL race_grant('$role', '" . ($role =~ s/.*_//r) . "')");
	}
	load_values($version);
	is(changed_values($version), 'of 54', "values of $version: the new library says the same before the update");
	my ($ledger, $rights) = (ledger(), rights());
	sql('ALTER EXTENSION racepriv UPDATE');
	is(changed_values($version), 'of 54', "values of $version: the same after the update");
	is(join(', ', wrong_grids(q{(regexp_match(answer, ' (?:exact|private) \S+ (\S+)'))[1]::float8})),
		'l1 grid|exact, l1 grid|exact fitted, l1 grid|laplace, l1 grid|laplace fitted', 'control: the answers that 0.1.0 gave are too far off') if $version eq '0.1.0';
	sql("UPDATE kept SET sketch = (SELECT sketch FROM kept WHERE kind = 'l2' AND form = 'laplace') WHERE kind = 'l2' AND form = 'exact'");
	is(changed_values($version), 'of 54, l2|exact', 'control: another value is noticed');
	is(ledger(), $ledger, "a ledger of $version, and a view on it, survive the update");
	is(rights(), $rights, 'and the rights on it');

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
sub test_pg_upgrade
{
	my ($version) = @_;
	my $old = RaceCluster->new;
	$old->within(undef, sub { sql("CREATE EXTENSION racepriv VERSION '$version'"); feed(slurp("ledger--$version.sql")) });
	my $ledger = $old->within(undef, \&ledger);
	$old->stop('fast');
	my $new = RaceCluster->new->stop('fast');
	my $programs = RaceCluster::command('pg_config', '--bindir');
	chdir $new->{home};
	$new->run_here('pg_upgrade', '-U', $ENV{PGUSER}, '-b', $programs, '-B', $programs, '-s', $new->{home}, '-d', $old->data, '-D', $new->data);
	chdir '/';
	$new->start;
	is($new->within(undef, \&ledger), $ledger, "pg_upgrade of $version: the ledger is there, and is asked before the update");
	$new->sql('ALTER EXTENSION racepriv UPDATE');
	is($new->within(undef, \&ledger), $ledger, "pg_upgrade of $version: and after it");
	is($new->within(undef, sub { join "\n", differences() }), '', 'which makes what is created anew');
	$new->stop('fast');
	return;
}

cmp_ok(scalar(split /\n/, $fresh), '>', 600, 'the catalog is looked at');
for my $version (@versions)
{
	my $dump = slurp("ledger--$version.sql");
	is(in_new_database(sub { test_update($version) }),
		in_new_database(sub { test_restored("a dump of $version in this version", $dump) }),
		"a dump of $version is restored as it was");
	test_pg_upgrade($version);
}

done_testing();
