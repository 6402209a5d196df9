# Memory runs out at each step of a release.  Whatever the step, the ledger shows no
# less than what could have been revealed, nothing of a record is told, and the
# release can be made again.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use List::Util qw(max uniqnum);
use RaceCluster;
use Test::More;

$SIG{PIPE} = 'IGNORE';			# a session that is gone says so when it is read

# `hush` and 31337 are the secrets of one record.
my $secret = qr{hush|\b31337\b};
my $module = "$FindBin::Bin/../modules/fail_alloc";
my $cluster = RaceCluster->new;
$cluster->sql(<<"END");
CREATE EXTENSION racepriv_release CASCADE;
CREATE FUNCTION fail_alloc(bigint, bigint) RETURNS bigint LANGUAGE c AS '$module', 'fail_alloc';
CREATE TABLE visits AS SELECT i AS id, CASE WHEN i = 31337 THEN 'hush' ELSE (i % 10)::text END AS note, ARRAY[i % 10] AS x
FROM generate_series(31300, 31399) i;
CALL race_protect('visits', 'visits', 1000000);
END
$cluster->watch_ledger;
like($cluster->sql_fails('SELECT note::int FROM visits'), $secret, 'control: outside of a release a record is told');
like($cluster->log_text, $secret, 'control: and logged');
my $log_before = length $cluster->log_text;

# Who makes releases, and who looks at the ledger meanwhile
my ($session, $watcher, $backend);

sub connect_session {
	$session = $cluster->session;
	$session->ask('\set VERBOSITY verbose');
	$session->ask('SELECT fail_alloc(0, 0)');		# loads the module
	$backend = $session->ask('SELECT pg_backend_pid()');
	return;
}

# The server may restart: it knows when it has seen the end of the backend.
sub connect_both {
	for (1 .. 1200) {
		undef $session;
		undef $watcher;
		return if !($backend && kill 0, $backend) && eval { connect_session(); $watcher = $cluster->session; $watcher->ask('SELECT 1') };
		select undef, undef, undef, 0.05;
	}
	die 'the server does not come back';
}

sub release_statement {
	my ($name) = @_;
	return "CALL race_release_sketch('$name', 'visits', 'l2(dims=1, rows=16, range=16)', 'ARRAY[id % 10 + length(note)]', 1,"
		. " label => 'id % 2', labels => '{0,1}')";
}

# Charges and releases that there are more than before
sub growth {
	my ($before) = @_;
	my @before = split /\|/, $before;
	my @now = split /\|/, $watcher->ask('TABLE ledger');
	return map { $now[$_] - $before[$_] } 0, 1;
}

# --------------------------------------------------------------- one release

my $tries = 0;
my $restarts = 0;
my @wrong;						# what was not as it must be

# What a release tells while n allocations fail, the first-th and those after it
sub release_with_failures {
	my ($name, $first, $n) = @_;
	my $told = eval {
		$session->ask("SELECT fail_alloc($first, $n)");
		$session->ask(release_statement($name));
	} // $@;
	if (!eval { $session->ask('SELECT fail_alloc(0, 0)'); 1 }) {
		$restarts++;
		connect_both();
	}
	return $told;
}

# What may be told: that memory ran out (also for a setting, and from PostgreSQL 17 on for
# a hash table, which says XX000), that reading failed, that the session ended, or nothing,
# where a failure did no harm.  PostgreSQL warns when a commit breaks off.
sub may_be_told {
	my ($told, $releases) = @_;
	return 0 if $told =~ $secret;
	return $releases if $told eq '';
	$told =~ s/\A(WARNING:  01000: Abort\w+ while in \w+ state\nLOCATION: .*\n)+//;
	return $told =~ /\A(ERROR:  53200: |ERROR:  22023: invalid value for parameter|ERROR:  XX000: failed to initialize hash table |ERROR:  22000: the release failed while its data were read\n|the session is gone: )/;
}

# A session that had the memory to clean up goes on.
sub check_session {
	my ($wrong, $told, $releases) = @_;
	$wrong->("told: $told") unless may_be_told($told, $releases);
	$wrong->("the session says $_") for grep { $_ ne '1' } $session->ask('SELECT 1');
	$wrong->("locks: $_") for grep { $_ ne '' } $watcher->ask('SELECT locktype, mode FROM pg_locks WHERE pid <> pg_backend_pid()');
	return;
}

# A release, with failures and then again without.  How far it came at first: `none`,
# `charged` or `stored`, with `read` if it said that reading failed; or `good`.
sub try_failures {
	my ($first, $n) = @_;
	my $name = 'try ' . ++$tries;
	my $wrong = sub { push @wrong, "$n from allocation $first: $_[0]" };
	my $before = $watcher->ask('TABLE ledger');
	my $told = release_with_failures($name, $first, $n);
	my ($charges, $releases) = growth($before);
	my $far = {'0|0' => 'none', '1|0' => 'charged', '1|1' => 'stored'}->{"$charges|$releases"};

	$wrong->("$charges charges, $releases releases") unless defined $far;
	$wrong->("told a secret: $told") if $told =~ $secret;
	if ($n == 1) { check_session($wrong, $told, $releases) } else { connect_session() }
	my $again = $session->ask(release_statement($name));
	$wrong->("again: $again") unless $again eq '' || $releases && $again =~ /\ANOTICE: .*exists/;
	my ($more_charges, $more_releases) = growth($before);
	$wrong->("again: $more_charges charges, $more_releases releases")
		unless $more_releases == 1 && $more_charges == $charges + 1 - $releases;
	return $told eq '' ? 'good' : $told =~ /failed while its data were read/ ? "$far, read" : $far;
}

# What was found wrong since the last time.  A mistake in the ledger stays there, and its name tells the try.
sub nothing_wrong {
	my ($title) = @_;
	push @wrong, grep { $_ ne '' } $watcher->ask('TABLE mistakes');
	is(join("\n", splice @wrong), '', "$title: ledger, session, and what is told");
}

# ------------------------------------------------------------ all along a release

# How many allocations a release makes
sub allocations {
	my ($name) = @_;
	$session->ask('SELECT fail_alloc(0, 0)');
	$session->ask(release_statement($name));
	return $session->ask('SELECT fail_alloc(0, 0)');
}

# So many places from the first allocation to the last
sub places {
	my ($n, $total) = @_;
	return map { 1 + int(($total - 1) * $_ / $n) } 0 .. $n;
}

# The last place up to which a release comes as far as at $low, when at $high it
# comes further
sub last_alike {
	my ($low, $high, $come) = @_;
	while ($high - $low > 1) {
		my $middle = int(($low + $high) / 2);
		$come->{$middle} //= try_failures($middle, 1);
		if ($come->{$middle} eq $come->{$low}) { $low = $middle } else { $high = $middle }
	}
	return $low;
}

# Plans settle after some executions, and so does the number of allocations.
connect_both();
allocations("warm $_") for 1 .. 8;
my $total = allocations('counted');
my %come = map { $_ => try_failures($_, 1) } places(200, $total + 50);
# The ledger has grown, and what checks it makes more allocations now.
my $grown = allocations('grown');
note "$total allocations, then $grown";
$come{ $total + 50 + int(($grown + 250 - $total) * $_ / 40) } //= try_failures($total + 50 + int(($grown + 250 - $total) * $_ / 40), 1) for 1 .. 40;
nothing_wrong('a failure anywhere');

my @along = sort { $a <=> $b } keys %come;
for my $i (1 .. $#along) {
	my ($low, $high) = @along[$i - 1, $i];
	next if $come{$low} eq $come{$high};
	my $last = last_alike($low, $high, \%come);
	$come{$_} //= try_failures($_, 1) for max(1, $last - 30) .. $last + 30;
}
nothing_wrong('a failure at every place near those where it comes further');

my %seen = map { $_ => 1 } values %come;
ok($seen{$_}, "control: some come as far as: $_") for 'none', 'charged, read', 'stored', 'good';
ok($total > 1000, "control: there are many allocations to fail, $total");

# In a new session nothing is cached yet.
connect_session();
my $total_of_first = allocations('first of a session');
for my $place (places(30, $total_of_first)) {
	connect_session();
	try_failures($place, 1);
}
nothing_wrong('a failure in the first release of a session');

# What cleans up lacks memory, too: PostgreSQL may end the session, or no longer know
# which state it is in.
connect_session();
try_failures($_, 1000) for places(30, $total);
nothing_wrong('many failures in a row');

# one word after the other, which Perl finds in a long text fifty times as fast as one of both
my $log = substr($cluster->log_text, $log_before);
unlike($log, $_, "the log shows nothing of a record: $_") for qr{hush}, qr{\b31337\b};
note "$tries tries, $restarts restarts of the session";
done_testing();
