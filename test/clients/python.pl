# The package in clients/python is installed by pip from its folder, without a network.  Then what its README says is run:
# its commands by sh, its examples with pandas by Python, and its statements by DuckDB.
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

open my $file, '<', "$client/README.md" or die "README.md: $!";
my $page = do { local $/; <$file> };
my %blocks;
push @{ $blocks{$1} }, $2 while $page =~ /^```(\w+)\n(.*?)^```/msg;

sub run_block {
	my ($language, $number, @command) = @_;
	my ($text, $is_good) = run($blocks{$language}[$number], @command);
	ok($is_good, "the page: $language $number") or diag $text;
	return split /\n/, $text;
}

# --------------------------------------------------------------- the files

sql(<<'END');
CREATE TABLE visits (site text, visited date, age int, pressure float8, smoker boolean);
INSERT INTO visits SELECT (ARRAY['north', 'south', 'island'])[1 + i % 3], date '2026-01-01' + i % 365, 20 + i % 3 * 20 + i % 10, 100 + i % 60, i % 4 = 0 FROM generate_series(1, 6000) i;
CALL race_protect('visits', epsilon_limit => 1e5, columns => '{"site": ["north", "south", "island"], "visited": ["2026-01-01", "2026-12-31"], "age": [0, 120], "pressure": [60, 220]}');
CALL race_release('visits 2026', 'visits', '{site,visited,age,pressure,smoker}', epsilon => 1e4);
END
mkdir "$folder/work";
chdir "$folder/work" or die $!;
$ENV{PYTHONPATH} = $folder;
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
run_block('sh', 0, 'sh', '-e');
ok(-s $_, $_) for qw(visits.txt export.csv);

# ------------------------------------------------------------ pandas, DuckDB

# So large an epsilon adds no noise to speak of
my @sites = run_block('python', 0, '/usr/bin/python3', '-');
is(join(' ', @sites[0 .. 3]), 'site,count 0,2000.0 1,2000.0 2,2000.0', 'pandas has the counts of the sites');

my ($header, @densities) = run_block('python', 1, '/usr/bin/python3', '-');
is($header, 'age,income,density', 'pandas has a column of densities');
my @wanted = split /\n/, sql("SELECT race_kde(s, ARRAY[30 + 10 * j, 2500 + 500 * j]::float8[]) FROM (SELECT race_build('l2(dims=2, bandwidths={5,400}, sequence=independent, rehash=multilinear)', ARRAY[30 + i % 20, 2500 + 5 * i]::float8[]) AS s FROM generate_series(0, 299) i) q, generate_series(0, 2) j ORDER BY j");
for my $i (0 .. 2) {
	my $got = (split /,/, $densities[$i])[2];
	cmp_ok(abs($got - $wanted[$i]), '<', 1e-9, "density $i is that of the server");
}

my @rows = run_block('sql', 0, 'node', "$FindBin::Bin/duckdb.js");
is(join(' ', @rows[0 .. 2]), 'island|200 north|17 south|25', 'DuckDB joins cells with a table');
is(join(' ', map { /^(\w+\|\d+)\|\d+$/ } @rows[3 .. $#rows]), 'false|4500 true|1500', 'and has counts with errors');
is(join(' ', @rows[-3 .. -1]), sql(q{SELECT string_agg(site || '|' || avg::float8, ' ' ORDER BY site) FROM (SELECT site, avg(age + 0.5) FROM visits GROUP BY site) v}), 'and means');
chdir '/';
done_testing();
