# Two extensions of one library: racepriv alone has sketches, in any schema, and racepriv_release stands on it, in any other
# schema.  racepriv can be moved under it, both can be dumped and restored, and neither takes a name of another owner's schema.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster qw(as fails);
use Test::More;

my $cluster = RaceCluster->new;
$cluster->{database} = 'sketches';
$cluster->run_here('createdb', $_) for qw(sketches sketches_restored both both_restored hostile);
my $version = $cluster->sql("SELECT default_version FROM pg_available_extensions WHERE name = 'racepriv'");

# ------------------------------------------------------------ racepriv alone

# The install script of an extension
sub script {
	my ($extension) = @_;
	open my $file, '<', RaceCluster::command('pg_config', '--sharedir') . "/extension/$extension--$version.sql" or die "install script: $!\n";
	local $/;
	return scalar readline $file;
}

# 950 lines, and what a value of columns is asked
cmp_ok(scalar(() = script('racepriv') =~ /\n/g), '<=', 950, 'the script of racepriv is short');
my $more = qr/\$\$|\@extschema|\b_racepriv\b|^CREATE (?:SCHEMA|TABLE|VIEW|ROLE|LANGUAGE|TRIGGER)|^(?:DO|SELECT|GRANT)\b/m;
unlike(script('racepriv'), $more, 'it has no bodies, tables, schemas, blocks and grants');
like(script('racepriv_release'), $more, 'control: the other one has');

# What an extension is made of, and how often
sub members {
	my ($extension, $database) = @_;
	return $cluster->sql("SELECT i.type, count(*) FROM pg_depend d, pg_identify_object(d.classid, d.objid, 0) i"
		  . " WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = '$extension') GROUP BY 1 ORDER BY 1", $database);
}

$cluster->sql(<<'END', 'sketches');
DROP EXTENSION plpgsql;
CREATE ROLE owner_of_database LOGIN;
CREATE ROLE anybody LOGIN;
ALTER DATABASE sketches OWNER TO owner_of_database;
CREATE SCHEMA a;
CREATE SCHEMA "b c";
GRANT USAGE ON SCHEMA a, "b c" TO anybody;
END
like(fails('owner_of_database', 'CREATE EXTENSION racepriv'), qr/ERROR:  42501: permission denied to create extension "racepriv"/, 'the owner of a database cannot install functions in C');
$cluster->sql('CREATE EXTENSION racepriv SCHEMA a', 'sketches');
my $members = members('racepriv', 'sketches');
diag('CREATE EXTENSION racepriv makes ' . join ', ', map { s/(.*)\|(.*)/$2 of type $1/r } split /\n/, $members);
is(join(' ', sort map { /^(.*)\|/ } split /\n/, $members), 'aggregate function operator operator class operator family type', 'racepriv has routines, types and operators alone');
is($cluster->sql("SELECT DISTINCT l.lanname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'"
		  . " WHERE p.prokind = 'f' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')", 'sketches'), 'c', 'its functions are in C');
is($cluster->sql(q(SELECT DISTINCT n.nspname FROM pg_depend d, pg_identify_object(d.classid, d.objid, 0) i JOIN pg_namespace n ON true WHERE d.deptype = 'e' AND i.schema = n.nspname
		AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')), 'sketches'), 'a', 'all in one schema');

# Build, merge, privatize and ask
$cluster->sql(<<'END', 'sketches');
SET search_path = a;
CREATE TABLE visits AS SELECT i % 3 AS day, ARRAY[20 + i % 61, 90 + i % 97]::real[] AS x FROM generate_series(1, 3000) i;
CREATE TABLE daily AS SELECT day, race_build('l2(dims=2, bandwidth=20, rows=128, range=64, lower={0,0}, upper={120,200})', x) AS s FROM visits GROUP BY day;
CREATE TABLE private AS SELECT race_fit(race_privatize(race_merge(s), 1000)) AS s FROM daily;
CREATE VIEW density AS SELECT race_kde(s, ARRAY[45, 120]) AS kde, race_count(s) AS n, race_params(s) AS p FROM private;
GRANT SELECT ON daily, private, density TO anybody;
END
is($cluster->sql('SELECT kde BETWEEN 0 AND 1, round(n) FROM a.density', 'sketches'), 't|3000', 'a sketch is built, merged, made private, fitted and asked');
is($cluster->sql(q(SELECT a.race_classify(day, s, ARRAY[45, 120]) IN (0, 1, 2), count(*) FROM a.daily), 'sketches'), 't|3', 'and classifies');
is(as('anybody', q(SET search_path = a; SELECT (race_estimate(s, ARRAY[45, 120])).kernel_density > 0, (race_info(s)).status FROM private)), 't|private', 'anybody may ask one that he may read');
for ('race_privatize(s, 1)', 'race_share(s, 1, 1e-6, 2)') {
	like(fails('anybody', "SET search_path = a; SELECT $_ FROM daily"), qr/ERROR:  42501: permission denied for function/, "but not $_");
}
$cluster->sql('GRANT EXECUTE ON FUNCTION a.race_privatize(a.race_sketch, float8, float8, int, int, text, boolean) TO anybody', 'sketches');
is(as('anybody', q(SET search_path = a; SELECT DISTINCT (race_info(race_privatize(s, 1))).status FROM daily)), 'private', 'unless he was given that');

# Moved, and dumped and restored
my $before = $cluster->sql('TABLE a.density', 'sketches');
$cluster->sql('ALTER EXTENSION racepriv SET SCHEMA "b c"', 'sketches');
is($cluster->sql('TABLE a.density', 'sketches'), $before, 'in another schema views answer as before');
is($cluster->sql(q(SET search_path = "b c"; SELECT race_count(race_merge(s)), race_count(min(s::text)::race_sketch), count(DISTINCT race_params(s)) FROM a.daily), 'sketches'), '3000|1000|1', 'and all functions are there');

# Dump a database in the format for several jobs, and restore it.
sub restore {
	my ($from, $to) = @_;
	my $dump = "$cluster->{home}/$from.dump";
	$cluster->run_here('pg_dump', '--no-sync', '-Fd', '-j', 2, '-f', $dump, $from);
	$cluster->run_here('pg_restore', '-e', '-j', 2, '-d', $to, $dump);
	return;
}

restore('sketches', 'sketches_restored');
is($cluster->sql('TABLE a.density', 'sketches_restored'), $before, 'a dump restores sketches, by two jobs');
is($cluster->sql(q(SELECT e.extname, e.extnamespace::regnamespace FROM pg_extension e WHERE e.extname ~ 'racepriv'), 'sketches_restored'), 'racepriv|"b c"', 'and the extension where it was');
is($cluster->sql("SELECT count(*) FROM pg_namespace WHERE nspname = '_racepriv'", 'sketches_restored'), 0, 'without another schema');

# --------------------------------------------------- racepriv_release upon it

like($cluster->sql_fails('CREATE EXTENSION racepriv_release', 'both'), qr/ERROR:  42704: required extension "racepriv" is not installed\nHINT:  .*CASCADE/, 'racepriv_release needs racepriv');
$cluster->sql(<<'END', 'both');
CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE SCHEMA c;
CREATE EXTENSION racepriv SCHEMA a;
CREATE EXTENSION racepriv_release SCHEMA b;
CREATE ROLE analyst LOGIN;
CALL b.race_grant('analyst', 'analyst');
CREATE TABLE visits (person int NOT NULL CHECK (person BETWEEN 1 AND 3000), at date NOT NULL, age int NOT NULL CHECK (age BETWEEN 0 AND 99), town text NOT NULL CHECK (town IN ('Paris', 'Rome')),
	weight float8 NOT NULL);
INSERT INTO visits SELECT i, date '2026-01-01' + i % 5, i % 100, (ARRAY['Paris', 'Rome'])[1 + i % 2], 1 FROM generate_series(1, 3000) i;
CALL b.race_protect('visits', epsilon_limit => 1e9, unit_column => 'person', max_contributions => 1);
END

# A release of each kind, by procedures and functions in b, of types and functions wherever racepriv is; all that are asked
my @kinds = (
	q(CALL b.race_release('columns N', 'visits', '{age,town}', 1000)), q(CALL b.race_release('weights N', 'visits', '{age}', 1000, weight => 'weight', weight_max => 1)),
	q(CALL b.race_release('series N', 'visits', '{age}', 1000, series => '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-06"}')),
	q(CALL b.race_release_next('series N')), q(CALL b.race_release_next('columns N')),
	q(CALL b.race_release_sketch('sketch N', 'visits', 'l2(dims=1, bandwidth=9, rows=128, range=64, lower={0}, upper={99})', 'ARRAY[age]', 1000, fit => true)),
	q(CALL b.race_release_sketch('labels N', 'visits', 'l2(dims=1, bandwidth=9, rows=128, range=64)', 'ARRAY[age]', 1000, label => 'town', labels => '{Paris,Rome}', calibrate => 0.3)),
	q(CALL b.race_release_sketch('heavy N', 'visits', 'l2(dims=1, bandwidth=9, rows=128, range=64)', 'ARRAY[age]', 1000, weight => 'weight', weight_max => 1)),
	q(CALL b.race_release_sketch('moments N', 'visits', epsilon => 1000, columns => '{age,person}')));
my %answers = (
	q(SELECT round(count) FROM b.race_count('columns N', '{"town": "Rome"}')) => 1500, q(SELECT round(mean) FROM b.race_mean('columns N', 'age')) => 50,
	q(SELECT round(count) FROM b.race_count('weights N')) => 3000, q(SELECT round(count) FROM b.race_count('series N')) => 3000,
	q(SELECT count(*) > 10 FROM b.race_curve('sketch N')) => 't', q(SELECT (A.race_kde(b.race_released('sketch N'), ARRAY[50])) > 0) => 't',
	q(SELECT b.race_classify('labels N', ARRAY[50]) IN ('Paris', 'Rome')) => 't',
	q(SELECT count(*) FROM b.race_regress('moments N', 'age')) => 2, q(SELECT count(*) FROM b.race_info('labels N')) => 2,
	q(SELECT version, round(distance) FROM b.race_versions('columns N') ORDER BY 1) => "1|\n2|0", q(SELECT count(*) FROM b.race_latest_releases WHERE name ~ 'N$') => 8,
	q(SELECT count(*) FROM b.race_catalog WHERE name ~ 'N$') => 7, q(SELECT b.race_label('columns N') IS NOT NULL) => 't');

sub try_all {
	my ($n, $place, $database, $what) = @_;
	$cluster->sql(join(";\n", map { s/N'/$n'/r } @kinds), $database);
	for (sort keys %answers) {
		my $asked = s/\bN(?=['\$])/$n/gr =~ s/\bA\./$place./gr;
		local $ENV{PGUSER} = 'analyst';
		is($cluster->sql($asked, $database), $answers{$_}, "$what: $asked");
	}
	return;
}

try_all(1, 'a', 'both', 'racepriv in a, racepriv_release in b');
$cluster->sql('ALTER EXTENSION racepriv SET SCHEMA c; GRANT USAGE ON SCHEMA c TO analyst', 'both');
try_all(2, 'c', 'both', 'racepriv moved to c');
my $ledger = 'SELECT count(*), sum(epsilon) FROM _racepriv.race_charges';
my $charged = $cluster->sql($ledger, 'both');
like($cluster->sql_fails('ALTER EXTENSION racepriv_release SET SCHEMA c', 'both'), qr/ERROR:  0A000: .*does not support SET SCHEMA/, 'racepriv_release stays where it is');

restore('both', 'both_restored');
is($cluster->sql(q(SELECT e.extname, e.extnamespace::regnamespace FROM pg_extension e WHERE e.extname ~ 'racepriv' ORDER BY 1), 'both_restored'), "racepriv|c\nracepriv_release|b", 'a dump restores both, where they were');
is($cluster->sql($ledger, 'both_restored'), $charged, 'with the ledger');
$cluster->sql("CALL b.race_budget_adopt('visits')", 'both_restored');
try_all(3, 'c', 'both_restored', 'restored');

# ---------------------------------------------------------------- and dropped

like($cluster->sql_fails('DROP EXTENSION racepriv', 'both'), qr/ERROR:  2BP01: .*\nDETAIL:  extension racepriv_release depends on extension racepriv/, 'racepriv cannot be dropped from under it');
$cluster->sql('CREATE TABLE kept AS SELECT sketch FROM b.race_latest_releases; DROP EXTENSION racepriv_release', 'both');
is($cluster->sql('SELECT count(*) > 0, bool_and(c.race_count(sketch) > 0) FROM kept', 'both'), 't|t', 'sketches outlive racepriv_release');
$cluster->sql('CREATE EXTENSION racepriv_release SCHEMA b; DROP EXTENSION racepriv CASCADE', 'both');
is($cluster->sql("SELECT count(*) FROM pg_extension WHERE extname ~ 'racepriv'", 'both'), 0, 'CASCADE drops both');

# ------------------------------------------ names in the schema of another role

# Its owner has made types and functions there, with the names and arguments of those of racepriv.
$cluster->sql(<<'END', 'hostile');
CREATE ROLE mallory LOGIN;
CREATE SCHEMA hers AUTHORIZATION mallory;
CREATE EXTENSION racepriv;
SET ROLE mallory;
CREATE TYPE hers.race_sketch AS (x int);
CREATE TYPE hers.race_params AS (x int);
CREATE TYPE hers.race_info_result AS (x int);
CREATE FUNCTION hers.race_info(public.race_sketch) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION hers._race_plus(public.race_sketch, public.race_sketch) RETURNS public.race_sketch LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION hers.eq(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR hers.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hers.eq);
RESET ROLE;
CREATE EXTENSION racepriv_release SCHEMA hers;
END
my $taken = q(SELECT DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0) FROM pg_depend d, pg_identify_object(d.refclassid, d.refobjid, 0) i
	WHERE i.schema = 'hers' AND d.deptype = 'n' AND NOT EXISTS (SELECT FROM pg_depend m WHERE m.classid = d.refclassid AND m.objid = d.refobjid AND m.deptype = 'e')
	AND d.objid NOT IN (SELECT oid FROM pg_operator WHERE oprnamespace = 'hers'::regnamespace));
is($cluster->sql($taken, 'hostile'), '', 'racepriv_release takes nothing of the owner of its schema');
$cluster->sql('CREATE VIEW hers.taken AS SELECT hers.race_info(NULL::public.race_sketch)', 'hostile');
like($cluster->sql($taken, 'hostile'), qr/^function hers\.race_info\(race_sketch\)$/m, 'control: a view that does');
done_testing();
