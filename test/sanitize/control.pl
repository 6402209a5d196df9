# Do the sanitizers report what they should?  Each mistake of control.c must stop the
# program, or the backend, and leave a report, which is taken away again.
# AddressSanitizer writes into files, UndefinedBehaviorSanitizer to standard error.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t";
use RaceServer;
use Test::More;

my ($reports) = $ENV{ASAN_OPTIONS} =~ m{log_path=(.*)/} or die "no log_path in ASAN_OPTIONS\n";

my %expected = (
	stack => qr/stack-buffer-overflow/,
	heap => qr/heap-buffer-overflow/,
	overflow => qr/signed integer overflow/,
	cast => qr/outside the range of representable values/,
);

# What reports there are, and the server's log; they are removed.
sub take_reports {
	my $text = '';
	for my $file (glob "$reports/*") {
		$text .= contents($file);
		unlink $file or die "$file: $!\n";
	}
	$text .= contents("$ENV{PGHOST}/log");
	truncate "$ENV{PGHOST}/log", 0 or die "log: $!\n";
	return $text;
}

sub contents {
	my ($name) = @_;
	open my $file, '<', $name or die "$name: $!\n";
	local $/ = undef;
	return readline($file) // '';
}

sub test_mistake {
	my ($where, $kind, $expected, @command) = @_;
	my ($text, $good) = run('', @command);
	ok(!$good, "$where: $kind stops it") or diag($text);
	like($text . take_reports(), $expected, "$where: $kind is reported");
}

sub server_is_back {
	for (1 .. 600) {
		return 1 if (run('', qw(psql -XAtqc), 'SELECT 1'))[1];
		select undef, undef, undef, 0.1;
	}
	return 0;
}

my ($text, $good) = run('', 'test/sanitize/control');
ok($good, 'a program without a mistake runs') or diag($text);
test_mistake('program', $_, $expected{$_}, 'test/sanitize/control', $_) for sort keys %expected;
{
	local $ENV{ASAN_OPTIONS} = "$ENV{ASAN_OPTIONS}:detect_leaks=1";
	test_mistake('program', 'leak', qr/detected memory leaks/, 'test/sanitize/control', 'leak');
}

sql(qq(CREATE FUNCTION control(text) RETURNS int AS '$FindBin::Bin/control.so' LANGUAGE C STRICT));
is(sql(q(SELECT control('none'))), '0', 'a server without a mistake goes on');
for my $kind (sort keys %expected) {
	test_mistake('server', $kind, $expected{$kind}, qw(psql -XAtqc), "SELECT control('$kind')");
	ok(server_is_back(), "server: it is back after $kind");
}
unlike(take_reports(), qr/Sanitizer|runtime error/, 'no other report');
done_testing();
