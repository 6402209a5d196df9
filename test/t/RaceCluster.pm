# RaceCluster.pm: a cluster of one's own, for tests that need other settings than
# those of the server that test/run started, or that crash or copy it.
package RaceCluster;
use strict;
use warnings;
use Exporter 'import';
use Fcntl qw(:flock);
use File::Temp qw(tempdir);
use RaceServer ();
use RaceSession;
use Test::More ();

our @EXPORT_OK = qw(as fails);
my @started;
my $template = "$ENV{PGHOST}/template";			# a cluster that was never started
my $has_copied;
my $latest;						# the cluster that as() and fails() speak to
$SIG{INT} = $SIG{TERM} = sub { exit 1 };		# so that END stops them

sub initialize {
	my ($folder) = @_;
	command('initdb', '-N', '-D', $folder, '-A', 'trust', '-U', $ENV{PGUSER}, '--no-locale', '-E', 'UTF8', '--wal-segsize=1');
	return;
}

# To copy a cluster takes a twentieth of the time of initdb: the first file that needs one makes it for all.
sub copy_template {
	my ($folder) = @_;
	open my $lock, '>', "$template.lock" or die "$template.lock: $!";
	flock $lock, LOCK_EX or die "$template.lock: $!";
	unless (-d $template) {
		initialize("$template.new");
		rename "$template.new", $template or die "$template: $!";
	}
	close $lock;
	command('cp', '-a', $template, $folder);
	return;
}

# A new cluster with these settings, running.  Copies have the same system identifier, by which a ledger knows
# its cluster: the second cluster of a file has one of its own.
sub new {
	my ($class, %settings) = @_;
	my $self = $latest = bless { home => tempdir(CLEANUP => 1) }, $class;
	$has_copied++ ? initialize($self->data) : copy_template($self->data);
	return $self->configure(fsync => 'off', autovacuum => 'off', shared_buffers => '16MB', min_wal_size => '4MB', %settings)->start;
}

# A standby of a cluster, running
sub standby {
	my ($class, $primary) = @_;
	my $self = bless { home => tempdir(CLEANUP => 1) }, $class;
	command('pg_basebackup', '-h', $primary->{home}, '-D', $self->data, '-c', 'fast', '-R', '--no-sync');
	return $self->configure->start;
}

# Skip a file of tests where a server lacks modules of contrib, which Debian's has
sub need_contrib {
	my @modules = @_;
	my $folder = command('pg_config', '--pkglibdir');
	my @missing = grep { !-e "$folder/$_.so" } @modules;
	Test::More::plan(skip_all => "not installed: @missing") if @missing;
	return;
}

sub command {
	my ($text, $good) = RaceServer::run('', @_);
	die "@_: $text\n" unless $good;
	return $text;
}

sub data {
	my ($self) = @_;
	return "$self->{home}/data";
}

# Settings beside those that it has; it is reached in its home only
sub configure {
	my ($self, %settings) = @_;
	%settings = (%settings, listen_addresses => '', unix_socket_directories => $self->{home}, port => $ENV{PGPORT});
	open my $conf, '>>', $self->data . '/postgresql.conf' or die "postgresql.conf: $!";
	print $conf "$_ = '$settings{$_}'\n" for sort keys %settings;
	close $conf;
	return $self;
}

sub start {
	my ($self) = @_;
	delete local $ENV{PGOPTIONS};		# its own connections to others would have them
	my ($text, $good) = RaceServer::run('', 'pg_ctl', '-D', $self->data, '-w', '-l', "$self->{home}/log", 'start');
	die "the server did not start: $text\n" . $self->log_text unless $good;
	push @started, $self;
	return $self;
}

sub stop {
	my ($self, $mode) = @_;
	command('pg_ctl', '-D', $self->data, '-w', '-m', $mode, 'stop') if -e $self->data . '/postmaster.pid';
	@started = grep { $_ != $self } @started;
	return $self;
}

# The state and the parent of a process, or nothing if it is gone
sub process {
	my ($pid) = @_;
	open my $stat, '<', "/proc/$pid/stat" or return;
	return (readline($stat) // '') =~ /\) (\S) (\d+)/;
}

# kill -9 of all its processes at once, as when the machine stops: none of them
# has time to notice that another is gone.
sub crash {
	my ($self) = @_;
	open my $file, '<', $self->data . '/postmaster.pid' or die "postmaster.pid: $!";
	chomp(my $postmaster = readline $file);
	kill 'STOP', $postmaster;
	my @all = ($postmaster, grep { ((process($_))[1] // 0) == $postmaster } map { m{(\d+)} } glob '/proc/[0-9]*');
	kill 'KILL', @all;
	for my $pid (@all) {
		select undef, undef, undef, 0.01 while ((process($pid))[0] // 'Z') ne 'Z';
	}
	# nobody may have asked for the status of the dead yet, so that they look alive
	unlink $self->data . '/postmaster.pid', "$self->{home}/.s.PGSQL.$ENV{PGPORT}.lock";
	@started = grep { $_ != $self } @started;
	return $self;
}

# What RaceServer does, here
sub within {
	my ($self, $database, $action) = @_;
	local $ENV{PGHOST} = $self->{home};
	local $ENV{PGDATABASE} = $database // 'postgres';
	return $action->();
}

sub sql {
	my ($self, $statements, $database) = @_;
	return $self->within($database, sub { RaceServer::sql($statements) });
}

sub sql_fails {
	my ($self, $statements, $database) = @_;
	return $self->within($database, sub { RaceServer::sql_fails($statements) });
}

# Statements by a role that has logged in, to the cluster that was made last: in its `database`, if none is named
sub as {
	my ($role, $statements, $database) = @_;
	local $ENV{PGUSER} = $role;
	return $latest->sql($statements, $database // $latest->{database});
}

sub fails {
	my ($role, $statements, $database) = @_;
	local $ENV{PGUSER} = $role;
	return $latest->sql_fails($statements, $database // $latest->{database});
}

# How many charges of a name there are, and releases
sub made {
	my ($self, $name) = @_;
	return $self->sql("SELECT (SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = '$name'),"
		  . " (SELECT count(*) FROM _racepriv.race_releases WHERE name = '$name')");
}

sub charges {
	my ($self, $name) = @_;
	return $self->sql("SELECT count(*) FROM _racepriv.race_charges WHERE request->>'name' = '$name'");
}

# What statements that may fail tell, and what they add to the log
sub told_and_logged {
	my ($self, $statements) = @_;
	my $before = length $self->log_text;
	my $told = $self->sql_fails($statements);
	return ($told, substr $self->log_text, $before);
}

sub session {
	my ($self, $database) = @_;
	return $self->within($database, sub { RaceSession->new });
}

sub run_here {
	my ($self, @command) = @_;
	return $self->within(undef, sub { command(@command) });
}

# Views: ledger, the charges and the releases that there are; mistakes, what must not be where each release has two parts
sub watch_ledger {
	my ($self) = @_;
	return $self->sql(<<'END');
CREATE VIEW ledger AS
SELECT (SELECT count(*) FROM _racepriv.race_charges WHERE act = 'release') AS charges,
	(SELECT count(DISTINCT (name, version)) FROM _racepriv.race_releases) AS releases;
CREATE VIEW mistakes AS
SELECT 'a release without a charge' FROM _racepriv.race_releases LEFT JOIN _racepriv.race_charges USING (charge)
	WHERE act IS DISTINCT FROM 'release'
UNION ALL
SELECT 'a sum that is wrong' FROM _racepriv.race_budgets
	WHERE spent_epsilon <> (SELECT coalesce(sum(epsilon), 0) FROM _racepriv.race_charges c WHERE c.budget = race_budgets.budget)
UNION ALL
SELECT 'a release with too few parts' FROM _racepriv.race_releases GROUP BY name, version HAVING count(*) <> 2
UNION ALL
SELECT 'a release that is not private' FROM _racepriv.race_releases WHERE (race_info(sketch)).status <> 'private';
END
}

sub log_text {
	my ($self) = @_;
	open my $log, '<', "$self->{home}/log" or die "log: $!";
	local $/ = undef;
	return scalar readline $log;
}

sub wait_until {
	my ($self, $query, $database) = @_;
	return $self->within($database, sub { RaceServer::wait_until($query) });
}

sub wait_for_locks {
	my ($self, $n, $database) = @_;
	return $self->within($database, sub { RaceServer::wait_for_locks($n) });
}

END {
	my $status = $?;
	$_->stop('immediate') for my @left = @started;
	$? = $status;
}

1;
