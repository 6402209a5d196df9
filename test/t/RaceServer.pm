# RaceServer.pm: a database of one's own on the server that test/run started.
package RaceServer;
use strict;
use warnings;
use Exporter 'import';
use File::Basename;
use IPC::Open3;

our @EXPORT = qw(sql sql_fails run);

my $database = basename($0, '.pl') . "_$$";

# Run a program; its output, both channels, and whether it succeeded
sub run
{
	my ($input, @command) = @_;
	my $pid = open3(my $in, my $out, undef, @command);
	print $in $input;
	close $in;
	my $text = do { local $/; <$out> };
	waitpid($pid, 0);
	chomp $text;
	return ($text, $? == 0);
}

# What psql prints for these statements, unaligned and without headers
sub sql
{
	my ($statements) = @_;
	my ($text, $good) = run($statements, qw(psql -XAtq -v ON_ERROR_STOP=1), $ENV{PGDATABASE});
	die "$text\nin: $statements\n" unless $good;
	return $text;
}

# The message of statements that must fail, with SQLSTATE, detail and hint
sub sql_fails
{
	my ($statements) = @_;
	my ($text, $good) = run("\\set VERBOSITY verbose\n$statements",
		qw(psql -XAtq -v ON_ERROR_STOP=1), $ENV{PGDATABASE});
	return $good ? "no error: $text" : $text;
}

run('', 'createdb', $database);
$ENV{PGDATABASE} = $database;
sql('CREATE EXTENSION racepriv');

END
{
	my $status = $?;
	$ENV{PGDATABASE} = 'postgres';
	run('', 'dropdb', '--if-exists', '--force', $database);
	$? = $status;
}

1;
