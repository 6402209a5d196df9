# doc/managed-clouds.md as it is written, on two clusters: one without the extension, which has the
# table, and one beside it, which releases it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceCluster;
use Test::More;

RaceCluster::need_contrib(qw(postgres_fdw));
my %cluster = ('on the managed server' => RaceCluster->new, 'beside it' => RaceCluster->new);
my ($managed, $beside) = @cluster{ 'on the managed server', 'beside it' };
open my $file, '<', "$FindBin::Bin/../../doc/managed-clouds.md" or die "managed-clouds.md: $!";
my $text = do { local $/ = undef; readline $file };
my @blocks = $text =~ /^```sql\n-- (.*?)^```$/msg;
cmp_ok(scalar @blocks, '>=', 5, 'the document has statements');
# the image of the compose file has run its script
open my $script, '<', "$FindBin::Bin/../../packaging/docker/10-racepriv.sql" or die "10-racepriv.sql: $!";
$beside->sql(do { local $/ = undef; readline $script });
my $told = '';
for my $block (@blocks) {
	my ($where, $statements) = $block =~ /\A(.*?)\n(.*)\z/s;
	$statements =~ s/host 'managed'/host '$managed->{home}', port '$ENV{PGPORT}'/;
	$told = $cluster{$where}->sql($statements);
	pass("statements $where run");
}
my ($seniors, $error) = $told =~ /\A([\d.]+)\|([\d.]+)\n/;
my $true = $managed->sql('SELECT count(*) FROM visits WHERE age >= 65');
cmp_ok(abs($seniors - $true), '<', 16 * $error, 'sums of exported counts are within their noise');
is($managed->sql("SELECT count(*) FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')"), 0, 'without the extension on the managed server');
is($managed->sql('SELECT count(*), count(DISTINCT site) FROM synthetic_visits'), '1000|3', 'synthetic rows are there');
$managed->sql("INSERT INTO published SELECT 'true', 0, 'site', site, NULL, NULL, NULL, NULL, NULL, NULL, count(*), 0, NULL FROM visits GROUP BY site");
is($managed->sql("SELECT bool_and(abs(p.count - t.count) < 16 * p.standard_error) FROM published p JOIN published t ON t.release = 'true' AND t.value1 = p.value1"
	. " WHERE p.release <> 'true' AND p.column1 = 'site' AND p.column2 IS NULL"), 't', 'counts of values, too');

# a managed server that does not answer costs nothing
$managed->stop('immediate');
like($beside->sql_fails("CALL race_release('again', 'managed.visits', '{site}', epsilon => 1)"),
	qr/\AERROR:  08\w+: .*nothing is charged/s, 'a server that is down is known before the charge');
is($beside->sql('SELECT spent_epsilon FROM race_budget_status'), 1, 'and nothing is charged');

done_testing();
