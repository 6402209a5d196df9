# A ledger moves to the next version of PostgreSQL by pg_dump and a restore.  test/version_upgrade runs this in a chroot of each
# suite, one after another; SHARED is a folder that all of them see, and STAGE what this one is called there.
#
# The first one makes a database with budgets, releases of columns and of sketches, and a series.  Each other one dumps that of
# the one before with its own pg_dump, in three ways, and restores it.  The ledger and all answers must be the same, the series
# must go on, and no table may have a fresh budget.  Roles have other OIDs there.  The server goes on until the next stage has
# dumped what this one has released, too.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceCluster;

my ($shared, $stage, $before) = @ENV{qw(SHARED STAGE BEFORE)};
plan(skip_all => 'test/version_upgrade runs this') unless defined $shared;
$ENV{TMPDIR} = $shared;
my $cluster = RaceCluster->new;
chmod 0755, $cluster->{home};		# the user of the next stage may have another number

sub content {
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!";
	local $/ = undef;
	return scalar readline $in;
}

sub write_file {
	my ($file, $text) = @_;
	open my $out, '>', "$file.new" or die "$file: $!";
	print $out $text;
	close $out;
	rename "$file.new", $file or die "$file: $!";
	return;
}

# What action returns at the server in a folder
sub at {
	my ($home, $action) = @_;
	local $ENV{PGHOST} = $home;
	local $ENV{PGDATABASE} = 'postgres';
	return $action->();
}

sub sql_at {
	my ($home, $database, $statements) = @_;
	return at($home, sub { local $ENV{PGDATABASE} = $database; RaceServer::sql($statements) });
}

# All rows of the ledger.  Some functions of libm round the last digits differently in each version of the C library.
my @tables = qw(race_budgets race_datasets race_budget_tables race_charges race_releases race_descriptions race_series_units);
my $ledger = join '', map { "SELECT '$_', md5(t::text), left(t::text, 200) FROM _racepriv.$_ t ORDER BY 2;\n" } @tables;
my @questions = ("race_count('r')", "race_count('r', '{\"x\": \"[2,5)\"}')", "race_quantiles('r', 'x', '{0.25,0.5}')", "race_mean('r of w', 'y', by => 'x')", "race_correlation('r of w')", "race_histogram('rows', 'x')",
	"race_modes('grid')", "race_regress('moments', 'y')", "race_estimate(race_released('grid'), '{3}')", "race_estimate(race_released('rows'), '{3,4}')", "race_classify('labeled', '{3}'::float8[])", "race_versions('times')", "race_catalog", "race_budget_status");
my $rounded = q(regexp_replace(t::text, '(\d\.\d{9})\d+', '\1', 'g'));
my $answers = join '', map { my $call = $_ =~ s/'/''/gr; "SELECT '$call', $rounded FROM $_ t ORDER BY 2;\n" } @questions;

# Some lines that only one of two texts has
sub other_lines {
	my @texts = map { { map { $_ => 1 } split /\n/ } } @_;
	my @others = map { my $i = $_; grep { !$texts[1 - $i]{$_} } sort keys %{$texts[$i]} } 0, 1;
	return join "\n", splice @others, 0, 10;
}

sub make_database {
	at($cluster->{home}, sub { RaceServer::run('', 'createdb', 'kept') });
	$cluster->sql(<<'END', 'kept');
CREATE ROLE curie LOGIN;
CREATE EXTENSION racepriv_release CASCADE;
GRANT CREATE ON SCHEMA public TO curie;
CREATE TABLE v AS SELECT i AS p, i % 10 AS x, i % 7 AS y, now() - interval '1 minute' + i * interval '1 second' AS at, CASE WHEN i % 3 = 0 THEN 'Rome' ELSE 'Paris' END AS town FROM generate_series(1, 100) i;
ALTER TABLE v ALTER x SET NOT NULL, ADD CHECK (x BETWEEN 0 AND 9);
CREATE VIEW seen AS SELECT p, x FROM v;
CALL race_grant('curie', 'owner');
CALL race_grant('curie', 'curator');
CALL race_protect('v', epsilon_limit => 30, unit_column => 'p', max_contributions => 1);
CALL race_protect('seen', epsilon_limit => 30, unit_column => 'p', max_contributions => 1);
CALL race_describe('v', 'y', bounds => 'private', epsilon => 1);
CALL race_release('r', 'v', '{x,y}', 3);
CALL race_release('r of seen', 'seen', '{x}', 1);
CALL race_release_sketch('grid', 'v', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[x]', 2, fit => true);
CALL race_release_sketch('rows', 'v', 'l2(dims=2, bandwidth=2, rows=64, range=64, lower={0,0}, upper={10,10})', 'ARRAY[x, y]', 2, fit => true, columns => '{x,y}');
CALL race_release_sketch('labeled', 'v', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[x]', 2, label => 'town', labels => '{Rome,Paris}');
CALL race_release_sketch('moments', 'v', race_moment_params('{0,0}', '{10,7}', targets => 1), 'ARRAY[x, y]', 2, columns => '{x,y}');
DO $$ BEGIN CALL race_release('times', 'v', '{x}', 1, series => jsonb_build_object('by', 'at', 'every', '10 seconds', 'starting', date_trunc('minute', now()) - interval '1 minute', 'until', now() + interval '1 day')); END $$;
CALL race_release_next('times');
SET ROLE curie;
CREATE TABLE w AS SELECT i AS x, i % 7 AS y FROM generate_series(0, 9) i, generate_series(1, 20);
ALTER TABLE w ALTER x SET NOT NULL, ADD CHECK (x BETWEEN 0 AND 9);
CALL race_protect('w', epsilon_limit => 3, delta_limit => 1e-6, accounting => 'zcdp', columns => '{"y": [0, 6]}');
CALL race_release('r of w', 'w', '{x,y}', .1, 1e-7);
END
	return;
}

# A release at the limit of what is left is made, and one above it refused; the series goes on.
sub go_on {
	my ($what, $name) = @_;
	my ($left, $values) = split /\|/, $cluster->sql("SELECT (SELECT epsilon_limit - spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'v'), (SELECT count(*) FROM race_versions('times'))", $name);
	like($cluster->sql_fails("CALL race_release('more', 'v', '{x}', 1)", $name), qr/ERROR:  55000: .*another copy/, "$what: is another copy");
	like($cluster->sql_fails("CALL race_protect('fresh', '$_', 50)", $name), qr/ERROR:  22023: .*have a budget already/, "$what: no second budget for $_") for qw(v w seen);
	$cluster->sql("CALL race_budget_adopt('v')", $name);
	$cluster->sql("SET ROLE curie; CALL race_budget_adopt('w'); CALL race_release_next('r of w')", $name);
	like($cluster->sql_fails("CALL race_release('too much of $stage', 'v', '{x}', $left + 0.1)", $name), qr/ERROR:  53400: /, "$what: no fresh budget");
	# an interval later
	$cluster->sql("SELECT pg_sleep(10); CALL race_release_next('times'); CALL race_release('more of $stage', 'v', '{x}', 1)", $name);
	is($cluster->sql("SELECT (SELECT epsilon_limit - spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'v'), (SELECT count(*) > $values FROM race_versions('times'))", $name),
		($left - 1) . '|t', "$what: the series goes on, and what is released is charged");
	return;
}

# Minor versions since November 2026 keep a number among the options of each column (pg_attver).  A pg_dump that is older, though of
# a newer version, dumps it, and its server refuses it.
sub without_numbers {
	my ($file) = @_;
	my $text = content($file) =~ s/^ALTER TABLE (?:ONLY )?\S+ ALTER COLUMN \S+ SET \(pg_attver=\d+\);\n//mgr;
	write_file($file, $text);
	return $file;
}

sub run_here {
	my ($what, @command) = @_;
	my ($text, $good) = at($cluster->{home}, sub { RaceServer::run('', @command) });
	ok($good && $text eq '', $what) or diag $text;
	return;
}

sub restore {
	my ($what, $name, $dump, $format, @jobs) = @_;
	my @psql = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $name, '-o', '/dev/null', '-f');
	my @pg_restore = ('pg_restore', '-e', @jobs, '-d', $name);
	my $has = "SELECT EXISTS (SELECT FROM pg_attribute WHERE attoptions::text LIKE '%pg_attver=%')";
	my $numbers = sql_at($before, 'kept', $has) eq 't' && $cluster->sql($has) eq 'f';
	if ($format eq '-Fp') {
		run_here("$what: restored", @psql, $numbers ? without_numbers($dump) : $dump);
	} elsif ($numbers) {
		run_here("$what: a script", 'pg_restore', '--section=pre-data', '-f', "$dump.sql", $dump);
		run_here("$what: restored", @psql, without_numbers("$dump.sql"));
		run_here("$what: $_", @pg_restore, "--section=$_", $dump) for qw(data post-data);
	} else {
		run_here("$what: restored", @pg_restore, $dump);
	}
	return;
}

# Dump what the stage before has with these options, and restore it
sub move {
	my ($what, $name, @options) = @_;
	my $dump = "$cluster->{home}/$name";
	my ($format) = grep { /^-F/ } @options;
	my @jobs = grep { /^-j/ } @options;
	my ($text, $good) = at($before, sub { RaceServer::run('', 'pg_dump', '--no-sync', @options, '-f', $dump, 'kept') });
	ok($good && $text eq '', "$what: pg_dump") or diag $text;
	$cluster->run_here('createdb', $name);
	restore($what, $name, $dump, $format, @jobs);
	is(other_lines($cluster->sql($ledger, $name), sql_at($before, 'kept', $ledger)), '', "$what: the same ledger");
	is(other_lines($cluster->sql($answers, $name), sql_at($before, 'kept', $answers)), '', "$what: the same answers");
	go_on($what, $name);
	return;
}

if (defined $before) {
	my $versions = sql_at($before, 'kept', 'SHOW server_version_num') . ' ' . $cluster->sql('SHOW server_version_num');
	note $versions;
	my ($old, $new) = split / /, $versions;
	cmp_ok($new, '>', $old, 'the version is newer');
	# roles have other OIDs, as where there are others
	$cluster->sql(join ';', map { "CREATE ROLE other_$_" } 1 .. 50);
	my ($roles, $good) = at($before, sub { RaceServer::run('', 'pg_dumpall', '--roles-only', '--no-sync') });
	$roles =~ s/^(?:CREATE|ALTER) ROLE (?:postgres|other_\d+)\b.*\n//mg;
	$cluster->sql($roles);
	move('plain', 'plain', '-Fp');
	move('-Fc', 'custom', '-Fc');
	move('-Fd -j4', 'kept', '-Fd', '-j4');
} else {
	make_database();
	cmp_ok($cluster->sql("SELECT count(*) FROM race_versions('times')", 'kept'), '>', 4, 'a series has begun');
	cmp_ok(scalar(() = $cluster->sql($answers, 'kept') =~ /\n/g), '>', 30, 'there are answers');
}
# what is released after adoption is in the next dump
write_file("$shared/$stage.ready", $cluster->{home});
sleep 1 until -e "$shared/$stage.stop";
done_testing();
