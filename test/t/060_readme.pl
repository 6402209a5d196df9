# The README's session runs as it is written.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

open my $readme, '<', "$FindBin::Bin/../../README.md" or die "README.md: $!";
my $text = do { local $/; <$readme> };
my @blocks = $text =~ /^```sql\n(.*?)^```/msg;
cmp_ok(scalar @blocks, '>=', 5, 'the README shows a session in SQL');

my $role = 'analyst';
my @roles = ($role, 'curator', 'data_owner');
my $had_roles = sql('SELECT count(*) FROM pg_roles WHERE rolname IN (' . join(', ', map { "'$_'" } @roles) . ')');
is($had_roles, 0, 'the cluster is fresh');
for my $i (0 .. $#blocks)
{
	my ($output, $good) = run($blocks[$i], qw(psql -Xq -v ON_ERROR_STOP=1));
	ok($good, 'block ' . ($i + 1)) or diag "$blocks[$i]\n$output";
}

# What it says of its result
my $answers = sql(<<'END');
SELECT race_count(exact) = 20000, abs(race_kde(exact, ARRAY[45, 120]) - (SELECT avg(race_kernel('l2(bandwidth=5)', x, ARRAY[45, 120])) FROM visits)) < 0.02 FROM sketch;
SELECT abs(race_count(s) - 20000) < 1000, race_kde(s, ARRAY[45, 120]) BETWEEN 0.1 AND 0.3 FROM release;
SELECT abs(race_count(s) - 20000) < 1000, race_kde(s, ARRAY[45, 120]) BETWEEN 0.1 AND 0.3 FROM together;
END
is($answers, "t|t\nt|t\nt|t", 'the answers are near the truth');

# An analyst sees releases only, and cannot make one
like(sql_fails("SET ROLE $role; SELECT * FROM visits"), qr/42501/, 'the analyst cannot read the table');
like(sql_fails("SET ROLE $role; SELECT * FROM sketch"), qr/42501/, 'nor the exact sketch');
like(sql_fails("SET ROLE $role; SELECT race_privatize(s, 1, rows => 1) FROM release"), qr/42501/, 'nor draw noise');
is(sql("SET ROLE $role; SELECT race_count(s) IS NOT NULL FROM release"), 't', 'but ask the release');

# What the ledger says of it
is(sql('SELECT spent_epsilon, epsilon_left, charges FROM race_budget_status'), '2.5|0.5|3', 'releases were charged');
is(sql("SELECT string_agg(name || ' ' || version, ', ' ORDER BY released_at, part) FROM race_releases"),
	'age and pressure 1, sites 1, sites 1, age and pressure 2', 'and stored');
like(sql_fails("SET ROLE $role; SELECT * FROM race_charges"), qr/42501/, 'the analyst does not see the ledger');
like(sql_fails("SET ROLE $role; CALL race_release_next('sites')"), qr/42501/, 'nor makes a release');
sql("REASSIGN OWNED BY $_ TO CURRENT_USER; DROP OWNED BY $_; DROP ROLE $_") for @roles;

done_testing();
