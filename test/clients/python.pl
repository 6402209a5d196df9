# The package in clients/python is installed by pip from its folder, without a network, and its example runs: with pandas, and
# with rows in SQLite.  DuckDB takes the same statements; where it is installed, the example uses it.
use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../t";
use RaceServer;
use Test::More;

my $client = "$FindBin::Bin/../../clients/python";
my $folder = tempdir(CLEANUP => 1);
my ($said, $good) = run('', qw(/usr/bin/python3 -m pip install --no-index --no-build-isolation --no-deps --disable-pip-version-check --target), $folder, $client);
ok($good, 'pip installs the folder') or diag $said;
ok(-e "$folder/racepriv.py", 'as a module');

my $density = sql("SELECT race_privatize(race_build('l2(dims=2, bandwidths={5,400}, rows=256, range=64)', ARRAY[30 + i % 20, 2500 + 5 * i]::float8[]), 2) FROM generate_series(0, 299) i");
my $tables = sql("SELECT race_build('tables(dims=2, cells={3,4}, groups={{1,1},{0,0},{1,1}})', ARRAY[i % 3, i % 4]::float8[]) FROM generate_series(0, 299) i");
chdir '/';
$ENV{PYTHONPATH} = $folder;
($said, $good) = run('', '/usr/bin/python3', '-B', "$client/example.py", $density, $tables);
ok($good, 'its example runs') or diag $said;
my ($header, @lines) = split /\n/, $said;
is($header, 'age,income,density', 'with pandas');
my @wanted = split /\n/, sql("SELECT race_kde('$density'::race_sketch, ARRAY[30 + 10 * i, 2500 + 500 * i]::float8[]) FROM generate_series(0, 2) i");
for my $i (0 .. 2) {
	my $got = (split /,/, $lines[$i])[2];
	cmp_ok(abs($got - $wanted[$i]), '<', 1e-9, "density $i is that of the server");
}
is(join(' ', @lines[3 .. 5]), '0,100.0 1,100.0 2,100.0', 'and with rows in a database');
done_testing();
