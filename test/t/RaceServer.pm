# RaceServer.pm: a database of one's own on the server that test/run started.
package RaceServer;
use strict;
use warnings;
use Exporter 'import';
use File::Basename;
use IPC::Open3;

our @EXPORT = qw(sql sql_fails run wait_until wait_for_locks);

my $database = basename($0, '.pl') . "_$$";
# notices are for those who ask for them: each release has one
$ENV{PGOPTIONS} = '-c client_min_messages=warning';

# Run a program; its output, both channels, and whether it succeeded
sub run {
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
sub sql {
	my ($statements) = @_;
	my ($text, $good) = run($statements, qw(psql -XAtq -v ON_ERROR_STOP=1), $ENV{PGDATABASE});
	die "$text\nin: $statements\n" unless $good;
	return $text;
}

# The message of statements that must fail, with SQLSTATE, detail and hint
sub sql_fails {
	my ($statements) = @_;
	my ($text, $good) = run("\\set VERBOSITY verbose\n$statements",
		qw(psql -XAtq -v ON_ERROR_STOP=1), $ENV{PGDATABASE});
	return $good ? "no error: $text" : $text;
}

# Wait until what a query asks is true
sub wait_until {
	my ($query) = @_;
	for (1 .. 1500) {
		return 1 if sql($query) eq 't';
		select undef, undef, undef, 0.02;
	}
	die "this does not come true: $query\n";
}

# Wait until so many sessions in the database wait for locks that others hold
sub wait_for_locks {
	my ($n) = @_;
	return wait_until("SELECT count(*) = $n FROM pg_stat_activity"
		  . " WHERE datname = current_database() AND wait_event_type = 'Lock'");
}

run('', 'createdb', $database);
$ENV{PGDATABASE} = $database;
sql('CREATE EXTENSION racepriv_release CASCADE');

END {
	my $status = $?;
	$ENV{PGDATABASE} = 'postgres';
	run('', 'dropdb', '--if-exists', '--force', $database);
	$? = $status;
}

1;
