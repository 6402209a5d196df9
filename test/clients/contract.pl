# Clients other than psql ask the front door, as an analyst: statements with parameters and without casts.  Each must get
# what psql gets, which has the parameters as literals; directly, and by pgbouncer in transaction mode.
use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use lib "$FindBin::Bin/../t";
use RaceServer;
use Test::More;

# A parameter is a text, an integer, JSON, or a list of numbers
my @statements = (
	['SELECT count, lower, upper FROM race_count(?)', 's:clinic'],
	['SELECT count, lower, upper FROM race_count(?, ?)', 's:clinic', 'j:{"age": "[30,50)", "site": "north"}'],
	['SELECT value1, mean, lower, upper FROM race_mean(?, ?, ?)', 's:clinic', 's:pressure', 's:site'],
	['SELECT mean FROM race_mean(?, ?, ?, ?)', 's:clinic', 's:pressure', 's:site', 'j:{"smoker": true}'],
	['SELECT x, density, lower, upper FROM race_curve(?, ?, ?)', 's:clinic', 's:age', 'i:50'],
	['SELECT value, probability, prior FROM race_classify(?, ?, ?)', 's:clinic', 's:smoker', 'j:{"age": 57, "site": "south"}'],
	['SELECT avg(age), count(site), min(pressure) FROM race_synthesize(NULL::synthetic, ?, ?)', 's:clinic', 'i:500'],
	['SELECT value1, value2, count FROM race_crosstab(?, ?, ?)', 's:clinic', 's:site', 's:smoker'],
	['SELECT p, value, lower FROM race_quantiles(?, ?, ?)', 's:clinic', 's:age', 'n:0.25,0.5'],
	['SELECT count, lower, upper FROM race_histogram(?, ?, ?)', 's:clinic', 's:age', 'n:0,20,40.5'],
	['SELECT count(density), sum(density) FROM race_heatmap(?, ?, ?)', 's:clinic', 's:age', 's:pressure'],
	['SELECT version, epsilon, distance FROM race_versions(?)', 's:clinic'],
	['SELECT name, version, count, epsilon FROM race_catalog WHERE name = ?', 's:clinic'],
	['SELECT count FROM race_count(?)', 's:clinik'],
	['SELECT count FROM race_count(?, ?)', 's:clinic', 'j:{"agee": 1}']);

sub literal {
	my ($sql, @parameters) = @_;
	$sql =~ s{\?}{my ($type, $value) = (shift @parameters) =~ /^(.):(.*)/; $type eq 'i' ? $value : $type eq 'n' ? "'{$value}'" : "'$value'"}ge;
	return $sql;
}

# Six digits of each number, so that all clients write it alike
sub rounded {
	my ($text) = @_;
	$text =~ s{(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])}{sprintf '%.6g', $&}ge;
	return $text;
}

# What psql says: rows of values, or the SQLSTATE
sub answer_of_psql {
	my ($text, $good) = run("\\set VERBOSITY sqlstate\n" . literal(@_) . ";\n", qw(psql -XAtq -v ON_ERROR_STOP=1 -P null=null -F), ' ', '-R', ';');
	$text =~ s/.*ERROR:  (\w+).*/ERROR $1/s unless $good;
	return rounded($text);
}

my %known;

sub test_client {
	my ($title, @command) = @_;
	my ($text) = run(join('', map { join("\t", literal(@$_), @$_) . "\n" } @statements), @command);
	my @answers = split /\n/, $text;
	for my $i (0 .. $#statements) {
		my $expected = $known{$i} //= answer_of_psql(@{ $statements[$i] });
		$expected = $answers[$i] if $title =~ /evidence/ && $expected =~ /^ERROR/ && $answers[$i] =~ /^ERROR/;		# it loses the code
		is(rounded($answers[$i] // 'nothing'), $expected, "$title: $statements[$i][0]");
	}
	diag(join "\n", @answers[ @statements .. $#answers ]) if @answers > @statements;
	return;
}

sub test_clients {
	my ($how) = @_;
	test_client("$_$how", '/usr/bin/python3', "$FindBin::Bin/contract.py", $_) for qw(psycopg2 psycopg psycopg-binary sqlalchemy pandas);
	test_client("$_$how", 'node', "$FindBin::Bin/contract.js", $_) for qw(node-postgres evidence);
	return;
}

# A pool of two connections to the server that PGHOST and PGPORT name; its port
sub start_pgbouncer {
	my ($folder) = @_;
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die 'no free port';
	my $port = $socket->sockport;
	close $socket;
	open my $file, '>', "$folder/ini" or die "ini: $!";
	print $file <<"END";
[databases]
* = host=$ENV{PGHOST} port=$ENV{PGPORT} user=$ENV{PGUSER}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir = $folder
auth_type = any
pool_mode = transaction
default_pool_size = 2
ignore_startup_parameters = extra_float_digits,options
logfile = $folder/log
pidfile = $folder/pid
END
	close $file;
	my ($text, $good) = run('', '/usr/sbin/pgbouncer', '-d', '-q', "$folder/ini");
	die "pgbouncer: $text" unless $good;
	return $port;
}

sql(<<'END');
CREATE TYPE site AS ENUM ('north', 'south', 'island');
CREATE TABLE visits (age int NOT NULL CHECK (age BETWEEN 0 AND 99), pressure float8 CHECK (pressure BETWEEN 60 AND 220), site site NOT NULL, smoker boolean);
INSERT INTO visits SELECT i * 37 % 80, 100 + i * 53 % 60, (enum_range(NULL::site))[1 + i % 3], i % 4 = 0 FROM generate_series(1, 5000) i;
CREATE TABLE synthetic (LIKE visits);
CALL race_protect('visits', epsilon_limit => 2);
CALL race_release('clinic', 'visits', '{age,pressure,site,smoker}', epsilon => 1);
CALL race_release_next('clinic');
END
my ($owner, $role) = ($ENV{PGUSER}, "analyst_$$");
sql("CREATE ROLE $role LOGIN; CALL race_grant('$role', 'analyst')");
$ENV{PGUSER} = $role;
test_clients('');
my $folder = tempdir(CLEANUP => 1);
{
	local @ENV{qw(PGPORT PGHOST POOLED)} = (start_pgbouncer($folder), '127.0.0.1', 1);
	test_client('JDBC by pgbouncer', 'java', '-XX:TieredStopAtLevel=1', '-cp', '/usr/share/java/postgresql.jar', "$FindBin::Bin/Contract.java");
	test_clients(' by pgbouncer');
	open my $file, '<', "$folder/pid" or die "pid: $!";
	kill 'INT', readline $file;
}
$ENV{PGUSER} = $owner;
sql("DROP OWNED BY $role; DROP ROLE $role");
done_testing();
