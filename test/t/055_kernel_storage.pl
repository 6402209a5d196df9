# Parameters with arrays and of products in tables: defaults, constraints, indexes,
# dump and restore, COPY, and sketches whose parameters are long.
use strict;
use warnings;
use lib 'test/t';
use File::Temp qw(tempdir);
use RaceServer;
use RaceSession;
use Test::More;

my $dir = tempdir(CLEANUP => 1);
chmod 0777, $dir;

# ------------------------------------------------------- dump and restore

# A default that is an expression, one that is a literal, and what must equal it
my $left = q(race_params('l2', 2, 3, rows => 16, range => 32, lower => '{-1e300,0.1}', upper => '{Infinity,9}',
	transform => ROW('{{1,0.1},{0,2},{1e-100,-3}}', '{5,4.000000000000001}')::race_transform));
my $right = q(race_params('match', 3, rows => 16, range => 32));
my $literal = sql("SELECT $left * $right * 'jaccard(rows=16, range=32)'");
sql(<<END);
CREATE TABLE releases (
	id int PRIMARY KEY,
	p race_params DEFAULT $left * $right * 'jaccard(rows=16, range=32)' CHECK (p >= 'l2(dims=1)'
		AND race_kernel(p, ROW(ARRAY[1, 2], ARRAY['a', 'b', 'c'], ARRAY[1]), ROW(ARRAY[1, 2], ARRAY['a', 'b', 'c'], ARRAY[1])) = 1),
	q race_params DEFAULT '$literal' CHECK (q = '$literal'),
	s race_sketch,
	CHECK (s IS NULL OR race_params(s) = q));
END
sql(<<'END');
CREATE INDEX params_in_order ON releases (p);
CREATE INDEX params_hashed ON releases USING hash (q);
CREATE UNIQUE INDEX params_of_sketches ON releases (race_params(s), id);
CREATE INDEX of_one ON releases (id) WHERE q = 'jaccard(rows=16, range=32)';
INSERT INTO releases (id) VALUES (0);
INSERT INTO releases (id, s)
SELECT n, (SELECT race_build(q, ROW(ARRAY[i, i % 7], ARRAY['a', 'b', i::text], ARRAY[i, i * i])) FROM generate_series(1, n) i) FROM releases, unnest('{1,200,5000}'::int[]) n;
INSERT INTO releases (id, s) SELECT -id, race_privatize(s, 0.01, rows => 16) FROM releases WHERE id > 0;
CREATE VIEW answers AS SELECT id, race_kde(s, ROW(ARRAY[1, 2], ARRAY['a', 'b', '1'], ARRAY[1])) FROM releases;
CREATE VIEW kernels AS SELECT race_kernel(race_params('l1', 2, bandwidths => '{1,2.5}') * 'jaccard', ROW(ARRAY[id, 1], ARRAY[id]), ROW(ARRAY[1, 2], ARRAY[id])) FROM releases;
END

my $fingerprint = "SELECT md5(string_agg(id || p::text || q::text || coalesce(s::text, '') || coalesce(encode(_race_sketch_send(s), 'hex'), ''), '' ORDER BY id)) FROM releases";
my $before = sql($fingerprint);
is(sql('SELECT count(*), bool_and(p = q) FROM releases'), '7|t', 'a default by an expression and one by its text are equal');
is(sql("SET enable_seqscan = off; SELECT count(*) FROM releases WHERE p = '$literal'; SELECT count(*) FROM releases WHERE q = '$literal'; SELECT count(*) FROM releases WHERE race_params(s) = '$literal'"),
	"7\n7\n6", 'all are found by indexes');
like(sql_fails("INSERT INTO releases (id, q) SELECT 9, race_params('l2', 2)"), qr/23514/, 'control: a constraint refuses others');

my $other = "$ENV{PGDATABASE}_restored";
my ($dump, $dumped) = run('', 'pg_dump', $ENV{PGDATABASE});
ok($dumped, 'pg_dump');
run('', 'createdb', $other);
{
	local $ENV{PGDATABASE} = $other;
	my ($log, $restored) = run($dump, qw(psql -Xq -v ON_ERROR_STOP=1));
	ok($restored, 'restore') or diag $log;
	is(sql($fingerprint), $before, 'the same bits after dump and restore');
	is(sql('SELECT count(*) FROM answers; SELECT count(race_kernel) FROM kernels'), "7\n7", 'views are restored');
	is(sql('INSERT INTO releases (id) VALUES (8); SELECT p = q AND p::text = q::text FROM releases WHERE id = 8'), 't', 'so are defaults');
	my ($again) = run('', 'pg_dump', $other);
	my $schema = sub { join "\n", grep { !/restrict|^INSERT/ } split /\n/, (shift =~ s/^COPY.*?^\\\.$//gmsr) };
	ok($schema->($again) eq $schema->($dump), 'and another dump tells the same');
}
run('', 'dropdb', $other);

for my $format (qw(binary text csv)) {
	sql(<<END);
COPY releases TO '$dir/copy.$format' (FORMAT $format);
CREATE TABLE copied (LIKE releases INCLUDING ALL);
COPY copied FROM '$dir/copy.$format' (FORMAT $format);
ALTER TABLE releases RENAME TO kept;
ALTER TABLE copied RENAME TO releases;
END
	is(sql($fingerprint), $before, "the same bits after COPY, $format");
	sql('DROP TABLE releases; ALTER TABLE kept RENAME TO releases');
}

# -------------------------------------------------------- long parameters

# Parameters of 80 kB, which are compressed, or not because they are all different
for my $case (['equal', '2'], ['different', '1 + i / 7.0']) {
	my ($name, $number) = @$case;
	sql(<<END);
CREATE TABLE long_$name (id int PRIMARY KEY, p race_params, s race_sketch);
INSERT INTO long_$name
SELECT 1, p, race_add(race_sketch(p), array_fill(1, ARRAY[10000]))
FROM (SELECT array_agg($number) AS w FROM generate_series(1, 10000) i) v,
	race_params('l2', 10000, rows => 64, range => 8192, sequence => 'independent', bandwidths => w) p;
END
	my $session = RaceSession->new;
	my $ask = "SELECT race_count(s), race_kernel_sum(s, array_fill(1, ARRAY[10000])) FROM long_$name";
	is($session->ask($ask), '1|1', "$name numbers: a question");
	is($session->ask("SELECT p = race_params(s), length(p::text) > 20000, p = p::text::race_params, p = (SELECT race_params(s::text::race_sketch)) FROM long_$name"),
		't|t|t|t', "$name numbers: parameters out and in");
	is($session->ask("SELECT (i).dims, (i).rows, (i).range, (i).storage_bytes > 80000, (i).status FROM (SELECT race_info(s) AS i FROM long_$name) v"),
		'10000|64|8192|t|exact', "$name numbers: race_info");
	sql("UPDATE long_$name SET s = s + s");
	is($session->ask($ask), '2|2', "$name numbers: the session sees a change by another");
	sql("UPDATE long_$name SET p = race_params('l2', 10000, 3, rows => 64, range => 8192), s = race_sketch(race_params('l2', 10000, 3, rows => 64, range => 8192))");
	is($session->ask($ask), '0|0', "$name numbers: and of parameters to short ones");
	is($session->ask("BEGIN; UPDATE long_$name SET s = race_add(s, array_fill(2, ARRAY[10000])); SELECT race_kernel_sum(s, array_fill(2, ARRAY[10000])) FROM long_$name; ROLLBACK; $ask"),
		"1\n0|0", "$name numbers: its own, until they are rolled back");
}
for my $column (qw(storage_extended storage_main)) {
	my ($storage) = $column =~ /_(.*)/;
	sql(<<END);
CREATE TABLE $column (s race_sketch);
ALTER TABLE $column ALTER s SET STORAGE $storage;
INSERT INTO $column SELECT race_add(race_sketch(race_params('l1', 10000, rows => 8, range => 64, lower => w)), w)
FROM (SELECT array_agg(i) AS w FROM generate_series(1, 10000) i) v;
END
	is(sql("SELECT race_count(s), race_kernel_sum(s, w), (race_info(s)).dims, pg_column_size(s) < (race_info(s)).storage_bytes FROM $column, (SELECT array_agg(i) AS w FROM generate_series(1, 10000) i) v"),
		'1|1|10000|t', "with storage $storage, compressed");
}
like(sql_fails(<<'END'), qr/54000/, 'parameters too long for an index are refused');
UPDATE long_different SET p = race_params('l2', 10000, rows => 64, bandwidths => (SELECT array_agg(1 + random()) FROM generate_series(1, 10000)));
CREATE INDEX ON long_different (p);
END

done_testing();
