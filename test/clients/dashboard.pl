# The dashboard of demo/dashboard, made from raw rows and looked at in a browser.
use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use IPC::Open2;
use lib "$FindBin::Bin/../t";
use RaceServer;
use Test::More;

my $dashboard = "$FindBin::Bin/../../demo/dashboard";
my $folder = tempdir(CLEANUP => 1);
$ENV{HOME} = $folder;					# npm, node and the browser write there

sub succeeds {
	my ($title, @command) = @_;
	my ($text, $good) = run('', @command);
	ok($good, $title) or diag $text;
	return $good;
}

sub forget {
	local $ENV{PGDATABASE} = 'postgres';
	run('', 'dropdb', '--if-exists', '--force', $_) for qw(clinic analysis);
	run('', 'dropuser', '--if-exists', $_) for qw(analyst curator);
}

forget();
run('', 'createdb', 'clinic');
succeeds('releases are made of raw rows, and copied',
	qw(psql -Xq -v ON_ERROR_STOP=1 -d clinic -f), "$dashboard/data.sql") or BAIL_OUT('no data');
@ENV{qw(RELEASES CLINIC)} = ('dbname=analysis user=analyst', 'dbname=clinic');
succeeds('the page is built', 'sh', "$dashboard/build.sh") or BAIL_OUT('no page');

my $pid = open2(my $address, my $nothing, 'node', "$dashboard/serve.js", "$dashboard/dist", 0);
my ($url) = readline($address) =~ m{^(http://127\.0\.0\.1:\d+/)$};
ok(defined $url, 'the page is served');
my ($text) = run('', 'node', "$FindBin::Bin/browser.js", $url, $folder);
kill 'TERM', $pid;
waitpid $pid, 0;
for (split /\n/, $text) {
	if (/^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
	elsif (!/^1\.\.\d+$/) { diag $_ }
}
like($text, qr/^1\.\.\d{2,}$/m, 'the browser came to its end');
ok(-s "$folder/$_.png", "there is a picture, $_") for qw(1440-light 1440-dark 390-light 390-dark);
forget();

done_testing();
