# An organization for some months: curators release and refresh, owners raise limits, a scheduler makes a series, while the
# server is killed, its disk is full and its clock jumps, and while it fails over, is restored, upgraded and canceled.  At
# the end every charge has its release or its reason, the sums agree with the second accountant, and nothing was refunded.
#
# The books are what the persons saw: which requests were made, what the server said, which values could be read.  They
# give bounds of the number of charges for each name.  The server never sees them.
#
#	MONTHS		of 30 days (0.7; test/run soak: 24)
#	RELEASES	that are asked for on a day (20; test/run soak: 200)
#	MINUTES		a day ends when its part of these is over, so that the whole takes about as long (no limit; test/run soak: 60)
#	SEED		of the choices of the organization, not of noise
#
# A day has an event; the first of each kind comes within eleven days.  There is no false alarm: nothing that is compared depends on noise.
use strict;
use warnings;
use lib 'test/t';
use Cwd qw(getcwd);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use IO::Select;
use RaceCluster;
use Test::More;
use Time::HiRes qw(time);

use constant CURATORS => 20;
my $days = 30 * ($ENV{MONTHS} // 0.7);
my $releases = $ENV{RELEASES} // 20;
my $seconds = 60 * ($ENV{MINUTES} // 0);
my $seed = $ENV{SEED} // 1;
srand $seed;
$SIG{PIPE} = 'IGNORE';			# of sessions that have ended

# ------------------------------------------------------------------ the machine

my $home = tempdir(CLEANUP => 1);
$ENV{RACE_MACHINE} = "$home/machine";
my $clock = 0;
set_machine(0);
my $top = getcwd();
$ENV{LD_PRELOAD} = "$top/test/modules/machine.so";
-e $ENV{LD_PRELOAD} or die "$ENV{LD_PRELOAD}: run make test-programs\n";

# Set the clock of the server, which then runs on, and whether its disk is full
sub set_machine {
	my ($full) = @_;
	open my $file, '+>>', $ENV{RACE_MACHINE} or die "$ENV{RACE_MACHINE}: $!";
	close $file;
	open $file, '+<:raw', $ENV{RACE_MACHINE} or die "$ENV{RACE_MACHINE}: $!";
	print $file pack 'qq', $clock, $full;
	close $file;
	return;
}

my $database = 'organization';
my $cluster = RaceCluster->new(autovacuum => 'on', max_connections => CURATORS + 10);

sub sql {
	my ($statements) = @_;
	return $cluster->sql($statements, $database);
}

# An old cluster is stopped, and its files are no longer needed
sub leave {
	my ($old) = @_;
	$old->stop('immediate');
	remove_tree($old->{home});
	return;
}

# ------------------------------------------------------------- the organization

my $rows = 'l2(dims=1, rows=4, range=8)';

sub found {
	$cluster->run_here('createdb', $database);
	sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE ROLE data_owner LOGIN;
CALL race_grant('data_owner', 'owner');
CREATE TABLE patients (person int NOT NULL, day date NOT NULL, age int CHECK (age BETWEEN 0 AND 99), town text CHECK (town IN ('Rome', 'Paris')), x real[] NOT NULL);
CREATE INDEX ON patients (day);
CREATE TABLE workers (LIKE patients INCLUDING ALL);
CREATE TABLE guests (LIKE patients INCLUDING ALL);
ALTER TABLE patients OWNER TO data_owner;
ALTER TABLE workers OWNER TO data_owner;
ALTER TABLE guests OWNER TO data_owner;
SET ROLE data_owner;
CALL race_protect('patients', 'patients', 1e6, 0.1, unit_column => 'person', max_contributions => 2);
CALL race_protect('workers', 'workers', 1e4, 1e-6, accounting => 'zcdp');
CALL race_protect('guests', 'guests', 3, 1e-4, unit_column => 'person', max_contributions => 1, neighbors => 'substitute');
END
	for my $role ('scheduler', map { "curator$_" } 1 .. CURATORS) {
		sql("CREATE ROLE $role LOGIN; CALL race_grant('$role', 'curator'); GRANT SELECT ON patients, workers, guests TO $role");
		sql("GRANT scheduler TO $role") if $role ne 'scheduler';
	}
	return;
}

# ------------------------------------------------------------------- the books

my %least;			# charges that there must be, by the name of a release
my %most;			# and that there may be
my %reasons;		# of them those that may lack a release
my %charges;		# that were seen: their cost
my %values;			# that were seen, by charge, version and part: their bits, and whether they may be gone after a crash
my %today;			# names that were asked for
my %done;			# on which days somebody was told of a charge
my $now = 0;		# the day
my %told;			# how many requests ended how
my @strange;		# what the server said that nobody expected
my %limits = (patients => 1e6, guests => 3);

# How a request ends that costs nothing; and one of which nobody knows whether it was charged
my $refused = qr/^(?:25001|42501|42704|53400|55000)$/;
my $broken = qr/^(?:gone|53100|57014|57P0\d|58030|XX\d+)$/;

# Enter what a curator was told of a request; undef, if the session is gone.  A server that ends may leave a warning (57P02)
# which psql prints in place of an answer, and then goes on.
sub enter {
	my ($request, $answer) = @_;
	my $name = $request->{name};
	my ($state) = ($answer // '') =~ /^(?:ERROR|FATAL|WARNING(?=:  57P0)):  (\w{5}):/m;
	my $end = !defined $answer ? 'gone' : !defined $state ? 'done' : $answer =~ /The charge stands|is not refunded/ ? 'failed' : $state;
	$today{$name} = 1;
	$done{$name} .= " $now" if $end =~ /^(?:done|failed)$/;
	$told{$end}++;
	push @strange, "$request->{sql}: $answer" unless $end =~ $refused || $end =~ $broken || $end =~ /^(?:done|failed)$/;
	return if $end =~ $refused || $request->{free};
	my @books = $end eq 'done' ? (\%least, \%most) : $end eq 'failed' ? (\%least, \%most, \%reasons) : (\%most, \%reasons);
	push @books, \%reasons if $end eq 'done' && $request->{careless};
	$_->{$name}++ for @books;
	return;
}

# What an auditor from elsewhere copies each day
sub copy_ledger {
	my $names = join ',', map { "'$_'" } keys %today;
	%today = ();
	return if $names eq '';
	for (split /\n/, sql("SELECT charge, epsilon, delta, rho FROM _racepriv.race_charges WHERE request->>'name' IN ($names)")) {
		my ($charge, $cost) = split /\|/, $_, 2;
		push @strange, "charge $charge was $charges{$charge} and is $cost" if ($charges{$charge} //= $cost) ne $cost;
	}
	for (split /\n/, sql("SELECT charge, version, part, md5(sketch::text) FROM _racepriv.race_releases WHERE name IN ($names)")) {
		my ($charge, $version, $part, $bits) = split /\|/;
		push @strange, "a value of charge $charge was drawn twice" if ($values{"$charge $version $part"} //= $bits) ne $bits;
	}
	return;
}

# Compare the ledger with the books: what is wrong
sub audit {
	my ($ask) = @_;
	my @wrong = map { "mistake: $_" } split /\n/, $ask->(<<'END');
SELECT 'a release without a charge: ' || name FROM _racepriv.race_releases r
	WHERE NOT EXISTS (SELECT FROM _racepriv.race_charges c WHERE c.charge = r.charge AND c.act = 'release')
UNION ALL
SELECT 'a charge for two versions: ' || charge FROM _racepriv.race_releases WHERE during IS NULL GROUP BY charge HAVING count(DISTINCT (name, version)) > 1
UNION ALL
SELECT 'a value that was made twice: ' || name FROM _racepriv.race_releases WHERE during IS NOT NULL GROUP BY name, part, label, during HAVING count(*) > 1
UNION ALL
SELECT 'a person with too many records in ' || name FROM _racepriv.race_series_units WHERE length > 0 AND records > 2
UNION ALL
SELECT 'a release that is not private: ' || name FROM _racepriv.race_releases WHERE (race_info(sketch)).status <> 'private'
UNION ALL
SELECT 'sums of ' || budget FROM _racepriv.race_budgets b WHERE (spent_epsilon, spent_delta, spent_rho) IS DISTINCT FROM
	(SELECT (sum(epsilon), sum(delta), sum(rho)) FROM _racepriv.race_charges c WHERE c.budget = b.budget)
UNION ALL
SELECT 'more than the limit of ' || budget FROM _racepriv.race_budgets WHERE accounting = 'basic' AND (spent_epsilon > epsilon_limit OR spent_delta > delta_limit) OR spent_rho > rho_limit;
END
	my %is_charge;
	my %count;
	for (split /\n/, $ask->("SELECT charge, epsilon, delta, rho, request->>'name' FROM _racepriv.race_charges WHERE act = 'release'")) {
		my ($charge, $epsilon, $delta, $rho, $name) = split /\|/;
		$is_charge{$charge} = "$epsilon|$delta|$rho";
		$count{$name}++;
	}
	my (%is_value, %stored);
	for (split /\n/, $ask->("SELECT charge, version, part, md5(sketch::text), name FROM _racepriv.race_releases")) {
		my ($charge, $version, $part, $bits, $name) = split /\|/;
		$is_value{"$charge $version $part"} = $bits;
		$stored{$name}{$charge} = 1;
	}
	push @wrong, map { "charge $_ is lost or has changed" } grep { ($is_charge{$_} // '') ne $charges{$_} } sort keys %charges;
	push @wrong, map { "value $_ has changed" } grep { ($is_value{$_} // $values{$_}) ne $values{$_} } sort keys %values;
	for my $name (sort keys %{ { %most, %count } }) {
		my ($n, $stored) = ($count{$name} // 0, scalar keys %{ $stored{$name} // {} });
		push @wrong, "$name: $n charges, but at least $least{$name}, on the days$done{$name}" if $n < ($least{$name} // 0);
		push @wrong, "$name: $n charges, but at most " . ($most{$name} // 0) if $n > ($most{$name} // 0);
		push @wrong, "$name: $n charges, $stored releases, and " . ($reasons{$name} // 0) . ' reasons' if $n - $stored > ($reasons{$name} // 0);
	}
	return @wrong;
}

# ------------------------------------------------------------------- curators

my $number = 0;
my @curators;		# each: his session, what he asked, and names of his releases, which he makes anew
my @names;			# names that everybody tries to make anew
my $series;			# the name of the one that is made now

sub connect_curator {
	my ($i) = @_;
	local $ENV{PGUSER} = 'curator' . ($i + 1);
	my $curator = $curators[$i] //= { names => [], careless => $i % 4 == 0 };
	$curator->{session} = $cluster->session($database);
	$curator->{session}->start('\set VERBOSITY verbose' . "\nSET synchronous_commit = " . ($curator->{careless} ? 'off' : 'on'));
	eval { $curator->{session}->finish };
	return;
}

sub pick {
	return $_[rand @_];
}

# What a curator asks next
sub request {
	my ($curator) = @_;
	my $n = ++$number;
	my $epsilon = pick(0.1, 0.25, 0.5);
	my $kind = rand;
	my $sketch = sub {
		my ($dataset, $expression, $rest) = @_;
		return { name => "rows $n", sql => "CALL race_release_sketch('rows $n', '$dataset', '$rows', '$expression', $epsilon, 1e-9$rest)" };
	};
	return { name => "columns $n", sql => "CALL race_release('columns $n', 'patients', '{town}', $epsilon)" } if $kind < 0.1;
	return { name => "labels $n", sql => "CALL race_release_sketch('labels $n', 'patients', '$rows', 'x', $epsilon, label => 'town', labels => '{Rome,Paris}')" } if $kind < 0.2;
	return { name => "choice $n", sql => "CALL race_release_sketch('choice $n', 'patients', '$rows', 'x', 2, 1e-6, label => 'town')" } if $kind < 0.22;
	if ($kind < 0.4 && (my $name = pick(@names, @{ $curator->{names} }))) {
		return { name => $name, sql => "CALL race_release_next('$name')" };
	}
	return { name => $series, sql => "CALL race_release_next('$series')", free => 1 } if $kind < 0.45;
	return $sketch->('patients', 'ARRAY[1 / (person - 7)]', '') if $kind < 0.5;					# fails while it is read
	my $request = $sketch->(pick('patients', 'workers'), 'x', '');
	if ($kind < 0.55) {
		$request->{sql} = "BEGIN;\n$request->{sql};\nROLLBACK";
	} elsif ($kind < 0.6) {
		$request->{sql} = 'SET statement_timeout = ' . int(2 + rand 20) . ";\n$request->{sql};\nRESET statement_timeout";
	} elsif ($kind < 0.65) {
		$request = $sketch->('guests', 'x', '');
	} elsif ($kind < 0.67) {
		$request = $sketch->('guests', 'x', '');
		$request->{sql} =~ s/, 1e-9/ + 1000000, 1e-9/;
	} else {
		push @{ rand() < 0.1 ? \@names : $curator->{names} }, $request->{name} if rand() < 0.1;
	}
	return $request;
}

# Take what a curator was told, if there is something, or wait for it
sub take {
	my ($curator) = @_;
	return unless $curator->{request};
	my $answer = eval { $curator->{session}->finish };
	enter($curator->{request}, $answer);
	$curator->{request} = undef;
	return $curator->{session} = undef unless defined $answer;
	return 1;
}

# Let the curators ask so many times, or until a time
sub work {
	my ($n, $end) = @_;
	while ($n > 0 && ($seconds == 0 || time < $end)) {
		for my $i (grep { !$curators[$_] || !$curators[$_]{session} } 0 .. CURATORS - 1) {
			connect_curator($i);
		}
		for my $curator (grep { !$_->{request} } @curators) {
			last if $n-- <= 0;
			$curator->{request} = { %{ request($curator) }, careless => $curator->{careless} };
			$curator->{session}->start($curator->{request}{sql});
		}
		my %of = map { $_->{session}{out} => $_ } grep { $_->{request} } @curators;
		take($of{$_}) for IO::Select->new(map { $_->{session}{out} } values %of)->can_read(1);
	}
	return;
}

# Wait for what was asked, and go
sub rest {
	take($_) for @curators;
	$_->{session} = undef for @curators;
	return;
}

# --------------------------------------------------------------------- events

sub adopt {
	my $refused = $cluster->sql_fails("CALL race_release_sketch('new', 'patients', '$rows', 'x', 0.1)", $database);
	push @strange, "a copy is not noticed: $refused" unless $refused =~ /ERROR:  55000: .*another copy/;
	sql("CALL race_budget_adopt('$_')") for qw(patients workers guests);
	return;
}

# Wait until the server answers: it recovers, or has given up and is started
sub recover {
	for (1 .. 300) {
		return if eval { $cluster->sql('SELECT 1') };
		$cluster->stop('immediate')->start if $@ =~ /No such file|Connection refused/;
		select undef, undef, undef, 0.1;
	}
	die "the server does not recover: $@\n" . $cluster->log_text;
}

my @events = (
	['kill -9' => sub {
		$cluster->crash;
		rest();
		$cluster->start;
	}],
	['kill -9 of a session' => sub {
		my $pid = sql("SELECT pid FROM pg_stat_activity WHERE usename LIKE 'curator%' ORDER BY random() LIMIT 1");
		kill 'KILL', $pid if $pid;
		rest();
		recover();
	}],
	['full disk' => sub {
		set_machine(1);
		work($releases / 4 + CURATORS, time + 5);
		set_machine(0);
		rest();
		recover();
	}],
	['restore' => sub {
		rest();
		my $dump = "$home/dump";
		$cluster->run_here('pg_dump', '--no-sync', '-Fc', '-f', $dump, $database);
		$cluster->run_here('createdb', 'restored');
		$cluster->run_here('pg_restore', '-e', '-d', 'restored', $dump);
		$cluster->run_here('dropdb', '--force', $database);
		$cluster->sql("ALTER DATABASE restored RENAME TO $database");
		adopt();
	}],
	['clock' => sub {
		$clock += pick(-40, -1, 1, 40) * 86400;
		set_machine(0);
	}],
	['failover' => sub {
		rest();
		my $standby = RaceCluster->standby($cluster);
		$cluster->sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
		$cluster->sql('SELECT pg_reload_conf()');
		$cluster->wait_until("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
		# commits wait for a standby once the checkpointer has read the setting, which it does before it begins a checkpoint
		$cluster->sql('CHECKPOINT');
		work($releases / 4 + CURATORS, time + 5);
		my $old = $cluster->crash;
		rest();
		$cluster = $standby;
		$cluster->run_here('pg_ctl', '-D', $cluster->data, '-w', 'promote');
		adopt();
		leave($old);
	}],
	['cancel' => sub {
		sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'curator%' AND state = 'active'");
	}],
	['limit' => sub {
		local $ENV{PGUSER} = 'data_owner';
		my $limit = sql("SELECT ceil(spent_epsilon) + 2 FROM race_budget_status WHERE budget = 'guests'");
		sql("CALL race_budget_limit('guests', $limit, 1e-4)");
	}],
	['terminate' => sub {
		sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'curator%' AND random() < 0.5");
	}],
	['upgrade' => sub {
		rest();
		my $old = $cluster->stop('fast');
		my $new = RaceCluster->new(autovacuum => 'on', max_connections => CURATORS + 10)->stop('fast');
		my $programs = RaceCluster::command('pg_config', '--bindir');
		chdir $new->{home};
		$new->run_here('pg_upgrade', '-U', $ENV{PGUSER}, '-b', $programs, '-B', $programs, '-s', $new->{home}, '-d', $old->data, '-D', $new->data);
		chdir $top;
		$cluster = $new->start;
		adopt();
		leave($old);
	}]);

# ----------------------------------------------------------------------- time

# The scheduler declares a series for two months.
sub declare_series {
	my ($day) = @_;
	$series = "series $day";
	my ($today, $until) = split /\|/, sql('SELECT current_date, current_date + 60');
	my $during = qq({"by": "day", "every": "1 day", "starting": "$today", "until": "$until"});
	local $ENV{PGUSER} = 'scheduler';
	my $answer = $cluster->sql_fails("CALL race_release('$series', 'patients', '{town}', 1, series => '$during')", $database);
	enter({ name => $series, sql => $during }, $answer =~ s/^(?:no error: |psql:\S+ )//r);
	return;
}

found();
$clock = 86400;
set_machine(0);
is(sql('SELECT round(extract(epoch FROM clock_timestamp()) / 86400 - ' . time / 86400 . ')'), 1, 'the clock of the server is a day ahead');
$clock = 0;
set_machine(1);
like($cluster->sql_fails('CREATE TABLE large AS SELECT i FROM generate_series(1, 100000) i', $database), qr/ERROR:  53100:/, 'and its disk is full');
set_machine(0);
my $start = time;
my %happened;
for my $day (0 .. $days - 1) {
	my $end = $start + ($day + 1) * $seconds / $days;
	$now = $day + 1;
	$clock += 86400;
	set_machine(0);
	declare_series($day) if $day % 60 == 0;
	sql("INSERT INTO $_ SELECT (random() * 300)::int + 8, current_date, random() * 99, (ARRAY['Rome', 'Paris'])[1 + i % 2], ARRAY[random() * 9] FROM generate_series(1, 5) i") for qw(patients workers guests);
	sql("INSERT INTO patients VALUES (7, current_date, 7, 'Rome', '{7}')");
	work($releases / 2, $end);
	my ($what, $event) = @{ $events[$day % @events] };
	$event->();
	$happened{$what}++;
	work($releases / 2, $end);
	rest();
	copy_ledger();
	note sprintf 'day %d, %s: %d charges, %d values, %.0f s', $day + 1, $what, scalar keys %charges, scalar keys %values, time - $start;
}

# ------------------------------------------------------------------------ audit

note "ends of requests: " . join ', ', map { "$_ $told{$_}" } sort keys %told;
is(scalar keys %happened, scalar @events, 'each event has happened: ' . join ', ', map { "$_ $happened{$_}" } sort keys %happened);
cmp_ok($told{$_} // 0, '>', 0, "some requests end with $_") for qw(done failed gone 53400 25001);
is(join("\n", @strange), '', 'nobody is told anything strange');
my $auditor = $cluster->session($database);
my $ask = sub { $auditor->ask($_[0]) };
is(join("\n", audit($ask)), '', scalar(keys %charges) . ' charges: each has its release or its reason, and those that were seen are as they were');

my ($asked) = RaceServer::run('', '/usr/bin/python3', "$top/test/accountant/accountant.py", 'ask', 1, 0, 'ledger');
my ($agrees) = RaceServer::run(sql($asked) . "\n", '/usr/bin/python3', "$top/test/accountant/accountant.py", 'check');
is($agrees, 'ledger 3 0', 'the second accountant agrees with all budgets');

# ---------------------------------------------------------------------- control

# Of a name whose charges are all known: one more of a request that ended without an answer may be its own.
my $known = join ',', map { "'$_'" } grep { /^rows/ && ($least{$_} // 0) == $most{$_} && !$reasons{$_} } keys %most;
my $some = "(SELECT charge FROM _racepriv.race_charges WHERE act = 'release' AND budget = 'patients' AND request->>'name' IN ($known) ORDER BY charge LIMIT 1)";
my $refund = "UPDATE _racepriv.race_budgets SET spent_epsilon = spent_epsilon - c.epsilon, spent_delta = spent_delta - c.delta, spent_rho = spent_rho - c.rho"
	. " FROM _racepriv.race_charges c WHERE c.charge = $some AND race_budgets.budget = c.budget";
my %tampered = (
	'a refund' => $refund,
	'a charge that is lost' => "DELETE FROM _racepriv.race_charges WHERE charge = $some",
	'a refund whose charge is lost' => "$refund; DELETE FROM _racepriv.race_releases WHERE charge = $some; DELETE FROM _racepriv.race_charges WHERE charge = $some",
	'noise that is drawn twice' => "UPDATE _racepriv.race_releases SET sketch = race_privatize(race_sketch('$rows'::race_params), 1) WHERE charge = (SELECT min(charge::text)::uuid FROM _racepriv.race_releases WHERE name LIKE 'rows%')",
	'a charge that nobody asked for' => "INSERT INTO _racepriv.race_charges (budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity)"
	. " SELECT budget, dataset, act, request, 0, 0, 0, charged_by, charged_at, identity FROM _racepriv.race_charges WHERE charge = $some");
for my $what (sort keys %tampered) {
	$auditor->ask("BEGIN; SET LOCAL session_replication_role = replica; $tampered{$what}");
	cmp_ok(scalar(audit($ask)), '>', 0, "control: $what is seen");
	$auditor->ask('ROLLBACK');
}
is(scalar(audit($ask)), 0, 'and without these nothing is');
done_testing();
