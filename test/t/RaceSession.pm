# RaceSession.pm: a connection that stays open between questions, so that tests
# can see what a session keeps, and what others do to it meanwhile.
package RaceSession;
use strict;
use warnings;
use IPC::Open3;

my $end = '-- end of answer';

# A session in a database, that of RaceServer unless named
sub new
{
	my ($class, $database) = @_;
	my $self = bless {}, $class;
	$self->{pid} = open3($self->{in}, $self->{out}, undef, qw(psql -XAtq), $database // $ENV{PGDATABASE});
	$self->{in}->autoflush(1);
	return $self;
}

# Begin statements, and do not wait for their end
sub start
{
	my ($self, $statements) = @_;
	print { $self->{in} } "$statements\n;\n\\echo $end\n";
	return $self;
}

# What the statements that were started last print, errors included
sub finish
{
	my ($self) = @_;
	my $text = '';
	while (defined(my $line = readline $self->{out}))
	{
		if ($line eq "$end\n")
		{
			chomp $text;
			return $text;
		}
		$text .= $line;
	}
	die "the session is gone: $text\n";
}

sub ask
{
	my ($self, $statements) = @_;
	return $self->start($statements)->finish;
}

sub DESTROY
{
	my ($self) = @_;
	local $? = $?;
	close $self->{in};
	waitpid($self->{pid}, 0);
	return;
}

1;
