# No way of calling a release refunds its charge: where a rollback could follow it is
# refused.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

my $cluster = RaceCluster->new(max_prepared_transactions => 5);
my $params = 'l2(dims=1, rows=16, range=16)';
my $call = "CALL race_release_sketch('wrong', 'visits', '$params', 'x', 1)";
my $next = "CALL race_release_next('right')";
my $right = "CALL race_release_sketch('right', 'visits', '$params', 'x', 1)";
$cluster->sql(<<END);
CREATE EXTENSION racepriv_release CASCADE;
CREATE TABLE visits AS SELECT i AS id, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;
CALL race_protect('visits', 'visits', 1000);
$right;
CREATE FUNCTION by_function() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN $call; RETURN 1; END \$\$;
CREATE FUNCTION by_sql_function() RETURNS void LANGUAGE sql AS \$\$ $call \$\$;
CREATE FUNCTION next_by_function() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN $next; RETURN 1; END \$\$;
CREATE FUNCTION by_trigger() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN $call; RETURN NULL; END \$\$;
CREATE PROCEDURE by_exception() LANGUAGE plpgsql AS \$\$ BEGIN $call; EXCEPTION WHEN division_by_zero THEN NULL; END \$\$;
CREATE PROCEDURE by_definer() LANGUAGE plpgsql SECURITY DEFINER AS \$\$ BEGIN $call; END \$\$;
CREATE PROCEDURE by_setting() LANGUAGE plpgsql SET work_mem = '4MB' AS \$\$ BEGIN $call; END \$\$;
CREATE PROCEDURE by_procedure() LANGUAGE plpgsql AS \$\$ BEGIN PERFORM by_function(); END \$\$;
CREATE PROCEDURE by_sql_procedure() LANGUAGE sql AS \$\$ $call \$\$;
CREATE PROCEDURE by_execute() LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE \$a\$ DO \$b\$ BEGIN PERFORM by_function(); END \$b\$ \$a\$; END \$\$;
CREATE PROCEDURE plain() LANGUAGE plpgsql AS \$\$ BEGIN $call; END \$\$;
CREATE VIEW by_view AS SELECT by_function() AS f;
CREATE TABLE with_trigger (id int DEFAULT by_function(), CHECK (id > 0));
CREATE TRIGGER t AFTER INSERT ON with_trigger FOR EACH STATEMENT EXECUTE FUNCTION by_trigger();
END

sub ledger {
	return $cluster->sql('SELECT (SELECT count(*) FROM _racepriv.race_charges), (SELECT count(*) FROM _racepriv.race_releases), sum(spent_epsilon) FROM _racepriv.race_budgets');
}

# ------------------------------------------------------------ what is refused

my $before = ledger();
for my $statements (
	"BEGIN; $call; ROLLBACK",
	"BEGIN; $call; COMMIT",
	"BEGIN; $next; ROLLBACK",
	"BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY; $call; COMMIT",
	"BEGIN; SAVEPOINT a; $call; ROLLBACK TO a; COMMIT",
	"BEGIN; COMMIT AND CHAIN; $call; ROLLBACK",
	"BEGIN; $call; PREPARE TRANSACTION 'p'",
	"SELECT 1 \\; $call",
	"$call \\; SELECT 1/0",
	"$call \\; ROLLBACK",
	"CALL plain() \\; SELECT 1/0",
	"\\set AUTOCOMMIT off\n$call; ROLLBACK",
	"DO \$\$ BEGIN $call; EXCEPTION WHEN division_by_zero THEN NULL; END \$\$",
	"DO \$\$ BEGIN BEGIN $call; EXCEPTION WHEN division_by_zero THEN NULL; END; END \$\$",
	"DO \$\$ BEGIN PERFORM by_function(); END \$\$",
	"DO LANGUAGE plpgsql \$\$ BEGIN $next; EXCEPTION WHEN division_by_zero THEN NULL; END \$\$",
	"BEGIN; DO \$\$ BEGIN $call; END \$\$; ROLLBACK",
	'SELECT by_function()',
	'SELECT next_by_function()',
	'SELECT by_sql_function()',
	'TABLE by_view',
	'EXPLAIN ANALYZE TABLE by_view',
	'CREATE TABLE t AS TABLE by_view',
	'COPY (TABLE by_view) TO STDOUT',
	'BEGIN; DECLARE c SCROLL CURSOR FOR TABLE by_view; FETCH c; FETCH PRIOR c; FETCH c; ROLLBACK',
	'BEGIN; DECLARE c CURSOR WITH HOLD FOR TABLE by_view; COMMIT; FETCH c',
	'PREPARE p AS TABLE by_view; EXECUTE p',
	'INSERT INTO with_trigger DEFAULT VALUES',
	'INSERT INTO with_trigger VALUES (1)',
	'CALL by_exception()',
	'CALL by_definer()',
	'CALL by_setting()',
	'CALL by_procedure()',
	'CALL by_sql_procedure()',
	'CALL by_execute()',
	'BEGIN; CALL plain(); ROLLBACK')
{
	like($cluster->sql_fails($statements), qr/ERROR:  25001: .*\nDETAIL:.*\n(?:LINE.*\n.*\n)?HINT:  CALL it as a statement of its own/, "refused: $statements");
}
is(ledger(), $before, 'and nothing is charged');
like($cluster->sql_fails("SET default_transaction_read_only = on; $call"), qr/ERROR:  25006/, 'refused where nothing can be written');
like($cluster->sql_fails("SELECT race_release_sketch('wrong', 'visits', '$params', 'x', 1)"), qr/ERROR:  42809/, 'refused as a function');
is(ledger(), $before, 'at no charge');

# What these wrap is a release elsewhere: the refusals are about the wrapping.
$cluster->sql($call =~ s/wrong/good/r);
$cluster->sql('DO $$ BEGIN ' . ($call =~ s/wrong/good by DO/r) . '; END $$');
$cluster->sql('CREATE OR REPLACE PROCEDURE plain() LANGUAGE plpgsql AS $$ BEGIN ' . ($call =~ s/wrong/good by CALL/r)
	. '; ' . ($call =~ s/wrong/good by CALL again/r) . '; END $$; CALL plain()');
is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases JOIN _racepriv.race_charges USING (charge) WHERE name LIKE 'good%'"), 4,
	'control: as a statement, in a DO block and in procedures it is made');

# ------------------------------------------------- other ways to send a statement

# pgbench has what psql lacks: the extended protocol, and pipelines, where statements
# are sent before the answers to those before them.
sub bench {
	my ($script, @options) = @_;
	my $file = "$cluster->{home}/script";
	open my $out, '>', $file or die "$file: $!";
	print $out $script;
	close $out;
	my ($text) = $cluster->within(undef, sub { RaceServer::run('', 'pgbench', '-n', '-f', $file, @options) });
	return $text;
}

for my $protocol (qw(simple extended prepared)) {
	my $bench = bench($call =~ s/wrong/$protocol/r, '-M', $protocol, '-t', 3);
	is($cluster->made($protocol), '1|1', "by the $protocol protocol, three times: charged once") or diag $bench;
}
SKIP: {
	skip 'this version has no pipelines', 2 if $cluster->sql('SHOW server_version_num') < 140000;
	for my $others ('SELECT 1/0;', 'ROLLBACK;') {
		my $name = "pipeline, $others";
		my $bench = bench("\\startpipeline\n" . ($call =~ s/wrong/$name/r) . ";\n$others\n\\endpipeline\n", qw(-M extended -t 1));
		like($cluster->made($name), qr/^(1\|1|1\|0|0\|0)$/, "in a pipeline with $others: no release without a charge") or diag $bench;
	}
}

is($cluster->sql('SELECT spent_epsilon - (SELECT sum(epsilon) FROM _racepriv.race_charges) FROM _racepriv.race_budgets'), 0,
	'in the end, what is spent is what was charged');
is($cluster->sql("SELECT count(*) FROM _racepriv.race_releases LEFT JOIN _racepriv.race_charges USING (charge) WHERE act IS DISTINCT FROM 'release'"), 0,
	'and there is no release without a charge');

# ---------------------------------------------------------------- the ledger

# Nobody's statement takes back what is in it, by accident.
for my $statement (
	'DELETE FROM _racepriv.race_charges', 'UPDATE _racepriv.race_charges SET epsilon = 0', 'TRUNCATE _racepriv.race_charges',
	'DELETE FROM _racepriv.race_releases', 'UPDATE _racepriv.race_releases SET sketch = sketch', 'TRUNCATE _racepriv.race_releases',
	'DELETE FROM _racepriv.race_budgets', 'UPDATE _racepriv.race_budgets SET spent_epsilon = 0', 'UPDATE _racepriv.race_budgets SET spent_rho = spent_rho - 0.1',
	'TRUNCATE _racepriv.race_budgets CASCADE', 'DELETE FROM _racepriv.race_datasets', "UPDATE _racepriv.race_datasets SET unit_column = 'other'", "UPDATE _racepriv.race_datasets SET neighbors = 'substitute', max_contributions = 1", 'DELETE FROM _racepriv.race_budget_tables')
{
	like($cluster->sql_fails($statement), qr/ERROR:  55000/, "refused: $statement");
}

done_testing();
