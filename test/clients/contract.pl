# What clients other than psql make of the functions for charts, as an analyst: those of
# doc/dashboards.md, whose releases they ask.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use RaceServer;
use Test::More;

open my $file, '<', "$FindBin::Bin/../../doc/dashboards.md" or die "dashboards.md: $!";
my $document = do { local $/; <$file> };
sql(join '', $document =~ /^```sql\n(.*?)^```/msg);
my ($owner, $role) = ($ENV{PGUSER}, "analyst_$$");
sql("CREATE ROLE $role LOGIN; CALL race_grant('$role', 'analyst')");
$ENV{PGUSER} = $role;

for (['node', "$FindBin::Bin/contract.js"], ['/usr/bin/python3', "$FindBin::Bin/contract.py"]) {
	my ($text) = run('', @$_);
	my $client = $_->[0] =~ s{.*/}{}r;
	for (split /\n/, $text) {
		if (/^(not )?ok \d+ - (.*)/) { ok(!$1, "$client: $2") }
		elsif (!/^1\.\.\d+$/) { diag $_ }
	}
	like($text, qr/^1\.\.\d{2,}$/m, "$client came to its end");
}

$ENV{PGUSER} = $owner;
sql("DROP OWNED BY $role; DROP ROLE $role");
done_testing();
