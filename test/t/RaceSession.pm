# RaceSession.pm: a connection that stays open between questions, so that tests
# can see what a session keeps, and what others do to it meanwhile.
package RaceSession;
use strict;
use warnings;
use IO::Select;
use IPC::Open3;
use List::Util qw(max);
use POSIX ();
use Test::More ();

my $end = '-- end of answer';

# A session in a database, that of RaceServer unless named
sub new {
	my ($class, $database) = @_;
	my $self = bless {}, $class;
	$self->{pid} = open3($self->{in}, $self->{out}, undef, qw(psql -XAtq), $database // $ENV{PGDATABASE});
	$self->{in}->autoflush(1);
	return $self;
}

# Begin statements, and do not wait for their end
sub start {
	my ($self, $statements) = @_;
	print { $self->{in} } "$statements\n;\n\\echo $end\n";
	return $self;
}

# What the statements that were started last print, errors included
sub finish {
	my ($self) = @_;
	my $text = '';
	while (defined(my $line = readline $self->{out})) {
		if ($line eq "$end\n") {
			chomp $text;
			return $text;
		}
		$text .= $line;
	}
	die "the session is gone: $text\n";
}

sub ask {
	my ($self, $statements) = @_;
	return $self->start($statements)->finish;
}

# ---------------------------------------------------------------- time
#
# Time is the processor time of the backend, and its unit is what a piece of work takes there:
# a fifth of a second or so where nothing else runs.  So tests do not depend on how fast the
# machine is, nor on what else it does.

my $work = 'SELECT count(*) FROM generate_series(1, 2000000)';
my $soon = 5;			# units that a function may work on after it was canceled
my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());

# Seconds of processor time that the backend has used
sub processor_time {
	my ($self) = @_;
	($self->{backend}) = $self->ask('SELECT pg_backend_pid()') =~ /(\d+)$/ unless $self->{backend};
	open my $file, '<', "/proc/$self->{backend}/stat" or die "/proc/$self->{backend}/stat: $!";
	my ($after_name) = readline($file) =~ /\) (.*)/;
	my @fields = split / /, $after_name;
	return ($fields[11] + $fields[12]) / $ticks;
}

# The processor time that statements take
sub time_of {
	my ($self, $statements) = @_;
	my $start = $self->processor_time;
	$self->ask($statements);
	return $self->processor_time - $start;
}

# The same in units
sub units_of {
	my ($self, $statements) = @_;
	return $self->time_of($statements) / $self->time_of($work);
}

# Cancel a query after it has used so many units; how many it used after that, and what it
# answered
sub cancel_after {
	my ($self, $units, $query) = @_;
	my $unit = $self->time_of($work);
	my $answers = IO::Select->new($self->{out});
	my $start = $self->processor_time;
	$self->start($query);
	until ($self->processor_time - $start >= $units * $unit || $answers->can_read(0.01)) { }
	my $canceled = $self->processor_time;
	kill 'INT', $self->{backend};
	my $answer = $self->finish;
	my $rest = $self->processor_time - $canceled;
	return ($rest / max($unit, $self->time_of($work)), $answer);
}

# Test that a query which is canceled after so many units ends soon.
sub ends_soon {
	my ($self, $units, $query, $name) = @_;
	my ($rest, $answer) = $self->cancel_after($units, $query);
	# a query that has ended before it was canceled is canceled earlier
	for (1 .. 4) {
		last if $answer =~ /canceling statement/;
		$units *= 0.6;
		($rest, $answer) = $self->cancel_after($units, $query);
	}
	$name //= length $query > 70 ? substr($query, 0, 67) . '...' : $query;
	Test::More::like(substr($answer, 0, 300), qr/canceling statement due to user request/, sprintf('canceled after %.1f units: %s', $units, $name));
	Test::More::cmp_ok($rest, '<', $soon, sprintf('at once: %.2f units', $rest));
	return;
}

sub DESTROY {
	my ($self) = @_;
	local $? = $?;
	close $self->{in};
	waitpid($self->{pid}, 0);
	return;
}

1;
