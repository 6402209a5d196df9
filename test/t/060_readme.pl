# What the documents show runs as it is written: all SQL blocks of a document from top to
# bottom, in one session of a new database, which stops at the first error.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

my $top = "$FindBin::Bin/../..";
my @roles = qw(analyst curator data_owner);
my $n = 0;

# The SQL blocks of a document
sub blocks {
	my ($document) = @_;
	open my $file, '<', "$top/$document" or die "$document: $!";
	my $text = do { local $/; <$file> };
	return $text =~ /^```sql\n(.*?)^```/msg;
}

# Run statements in a new database; then what `$then` says of it
sub run_document {
	my ($document, $statements, $then) = @_;
	local $ENV{PGDATABASE} = "$ENV{PGDATABASE}_" . ++$n;
	run('', 'createdb', $ENV{PGDATABASE});
	sql('CREATE EXTENSION racepriv_release CASCADE');
	my ($output, $good) = run($statements, qw(psql -Xq -v ON_ERROR_STOP=1));
	ok($good, "$document runs") or diag substr $output, -2000;
	cmp_ok(length $output, '<', 16384, "$document prints no more than one can read");
	$then->() if defined $then;
	run('', 'dropdb', $ENV{PGDATABASE});
}

# Roles belong to the cluster, so they outlive the database
sub forget_roles {
	my ($role) = grep { sql("SELECT count(*) FROM pg_roles WHERE rolname = '$_'") } @roles or return;
	sql("DROP ROLE $role");
	return forget_roles();
}

# What the README says of its results, and who sees what
sub check_readme {
	is(sql(<<'END'), 't', 'its answers are near the truth');
SELECT abs(h.count - (SELECT count(*) FROM visits WHERE age BETWEEN 30 AND 39)) < 2000 FROM race_histogram('visits 2026', 'age', '{30,40}') h;
END
	is(sql('SELECT spent_epsilon, epsilon_left, charges FROM race_budget_status ORDER BY budget'), "1|2|1\n1|2|1", 'releases were charged');
	is(sql("SELECT string_agg(name || ' ' || version, ', ' ORDER BY released_at, part) FROM _racepriv.race_releases"),
		'visits 2026 1, stays 2026 1', 'and stored');
	is(sql('SELECT count(*) FROM synthetic'), 1000, 'and synthetic rows');
	like(sql_fails("SET ROLE analyst; SELECT * FROM $_"), qr/42501/, "the analyst cannot read $_") for qw(visits stays _racepriv.race_charges);
	like(sql_fails('SET ROLE analyst; SELECT race_privatize(sketch, 1) FROM _racepriv.race_releases'), qr/42501/, 'nor draw noise');
	like(sql_fails("SET ROLE analyst; CALL race_release_next('stays 2026')"), qr/42501/, 'nor make a release');
	is(sql("SET ROLE curator; SELECT race_refreshes_left('stays 2026')"), '2', 'the curator can, twice more');
	sql("DROP OWNED BY $_ CASCADE") for @roles;
	return;
}

# What doc/kernels.md says of its sketches
sub check_kernels {
	is(sql(<<'END'), 't|t', 'its answers are near the truth');
SELECT abs(race_count(s) - 20000) < 1000,
	abs(race_kde(s, ARRAY[45, 120]) - (SELECT avg(race_kernel('l2(bandwidth=5)', x, ARRAY[45, 120])) FROM stays)) < 0.02 FROM release;
END
	is(sql("SELECT string_agg(name || ' ' || version, ', ' ORDER BY released_at, part) FROM _racepriv.race_releases"), 'sites 1, sites 1, sites 1', 'and a release has its parts');
	like(sql_fails("SET ROLE analyst; CALL race_release_next('sites')"), qr/42501/, 'which the analyst cannot refresh');
	is(sql("SET ROLE curator; SELECT race_refreshes_left('sites')"), '2', 'and the curator can, twice more');
	sql("DROP OWNED BY $_ CASCADE") for qw(analyst curator);
	return;
}

my %checks = ('README.md' => \&check_readme, 'doc/kernels.md' => \&check_kernels);
is(sql('SELECT count(*) FROM pg_roles WHERE rolname IN (' . join(', ', map { "'$_'" } @roles) . ')'), 0, 'the cluster is fresh');
# 280_several_servers.pl runs doc/several-servers.md, 285_managed_clouds.pl doc/managed-clouds.md
my %documents = map { $_ => [blocks($_)] } 'README.md', map { s{.*/doc/}{doc/}r } grep { !/several-servers|managed-clouds/ } glob "$top/doc/*.md $top/doc/*/*.md";
is(join(' ', grep { @{ $documents{$_} } > 0 } sort keys %documents), 'README.md doc/acceptance.md doc/dashboards.md doc/examples.md doc/faq.md doc/kernels.md doc/learn/anomalies.md doc/learn/classification.md doc/learn/columns.md doc/learn/losses.md doc/learn/means.md doc/learn/records.md doc/learn/regression.md doc/learn/samples.md doc/learn/tables.md doc/operations.md doc/reference.md doc/series.md doc/sketches.md doc/trust.md doc/weights.md', 'the documents that show SQL');
for my $document (sort keys %documents) {
	next if !@{ $documents{$document} };
	run_document($document, join("\n", @{ $documents{$document} }), $checks{$document});
	forget_roles();
}
my (undef, $went_on) = run("SELECT 1 / 0;\nSELECT 2;\n", qw(psql -Xq -v ON_ERROR_STOP=1));
ok(!$went_on, 'control: an error stops a session');

done_testing();
