# A database of its own for each test file, and psql in it.
package TestDatabase;

use strict;
use warnings;

use Exporter 'import';
use IPC::Open3;

our @EXPORT_OK = qw(create_database query attempt);

my $database;

# A new database with the extension, which every later psql connects to.  It
# goes when the test ends.
sub create_database {
	my ($subject) = @_;
	my $name = "racepriv_${subject}_$$";
	system('createdb', $name) == 0 or die "createdb $name failed\n";
	$database = $ENV{PGDATABASE} = $name;
	query('CREATE EXTENSION racepriv');
	return;
}

END {
	local $?;
	system('dropdb', $database) if defined $database;
}

# What psql prints, errors included, and its exit status
sub run_psql {
	my @arguments = @_;
	my $pid = open3(my $in, my $out, undef, 'psql', '-XAtq', @arguments);
	close $in;
	my @lines = <$out>;
	waitpid $pid, 0;
	chomp @lines;
	return ($? >> 8, @lines);
}

# The rows of a query, as lines; in scalar context the first.  Dies on an error.
sub query {
	my ($sql) = @_;
	my ($status, @lines) = run_psql('-v', 'ON_ERROR_STOP=1', '-c', $sql);
	die "$sql\n" . join("\n", @lines) . "\n" if $status != 0;
	return wantarray ? @lines : $lines[0];
}

# SQLSTATE of a statement, and all that was printed: message, detail, hint ...
sub attempt {
	my ($sql) = @_;
	my (undef, @lines) = run_psql('-v', 'VERBOSITY=verbose', '-c', $sql);
	my $text = join "\n", @lines;
	my ($state) = $text =~ /^(?:ERROR|FATAL|PANIC):  (\w{5}): /m;
	return ($state // '00000', $text);
}

1;
