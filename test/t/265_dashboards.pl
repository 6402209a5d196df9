# Every query of doc/dashboards.md, as the analyst asks it in the database of analysts; and
# what the functions for charts cost there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

open my $file, '<', "$FindBin::Bin/../../doc/dashboards.md" or die "dashboards.md: $!";
my $document = do { local $/; <$file> };
my @setup = $document =~ /^```sql\n(.*?)^```/msg;
my @queries = $document =~ /^```sql analyst\n(.*?)^```/msg;
cmp_ok(scalar @queries, '>=', 15, 'the document has queries');
is(scalar(() = $document =~ /^```sql/mg), @setup + @queries, 'and no other SQL');

# The data, and a copy of the releases alone, as an analyst may read them.  Roles outlive
# the databases.
my ($data, $owner, $role) = ($ENV{PGDATABASE}, $ENV{PGUSER}, "analyst_$$");
my $analysis = "${data}_analysis";
sql(join '', @setup);
run('', 'createdb', $analysis);
my $releases = sql('COPY _racepriv.race_releases TO STDOUT');
$ENV{PGDATABASE} = $analysis;
sql("CREATE EXTENSION racepriv_release CASCADE; CREATE ROLE $role LOGIN; CALL race_grant('$role', 'analyst');"
	  . "ALTER ROLE $role SET default_transaction_read_only = on");
run("COPY _racepriv.race_releases FROM STDIN;\n$releases\n\\.\n", qw(psql -Xq -v ON_ERROR_STOP=1));
$ENV{PGUSER} = $role;

# What a tool puts into a query before it asks
sub filled {
	my ($query) = @_;
	$query =~ s/;\s*\z//;
	$query =~ s/\$__timeFilter\((.*?)\)/$1 BETWEEN now() - interval '1 hour' AND now()/g;
	$query =~ s/\{\{release\}\}/'visits'/g;
	return $query;
}

for my $query (map { filled($_) } @queries) {
	my $name = $query =~ s/\s+/ /gr;
	my ($answer, $good) = run("SELECT count(*) FROM ($query) q;", qw(psql -XAtq -v ON_ERROR_STOP=1));
	ok($good && $answer =~ /^[1-9]\d*$/, "as a subquery: $name") or diag $answer;
	my ($types) = run("$query \\gdesc", qw(psql -XAt));
	unlike($types, qr/ERROR|\[\]|race_/, 'rows of scalars') or diag $types;
	my ($rows, $fetched) = run("BEGIN; DECLARE c CURSOR FOR $query; FETCH 2 FROM c; FETCH ALL FROM c; COMMIT;", qw(psql -XAtq -v ON_ERROR_STOP=1));
	ok($fetched && length $rows, 'by a cursor') or diag $rows;
}

# the analyst has nothing else there
like(sql_fails($_), qr/42501/, "refused: $_")
	for 'SELECT * FROM _racepriv.race_charges', 'SELECT * FROM race_budget_status', 'SELECT race_privatize(sketch, 1) FROM _racepriv.race_releases', "CALL race_release_next('visits')";
like(sql_fails("SELECT * FROM race_curve('nothing')"), qr/42704/, 'control: a query that fails is noticed');

# one row is small, without the sketch
cmp_ok(sql('SELECT max(pg_column_size(c.*)) FROM race_catalog c'), '<', 2000, 'a row of the catalog is small');
cmp_ok(sql('SELECT max(pg_column_size(sketch)) FROM _racepriv.race_releases'), '>', 2000, 'control: a row with a sketch is not');

$ENV{PGUSER} = $owner;
$ENV{PGDATABASE} = $data;
run('', 'dropdb', '--force', $analysis);
sql("DROP ROLE $role");
done_testing();
