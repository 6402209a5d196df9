# Sketches in tables and in memory: dump and restore, COPY, long loops, many
# groups.
use strict;
use warnings;
use lib 'test/t';
use File::Temp qw(tempdir);
use RaceServer;
use RaceSession;
use Test::More;

my $dir = tempdir(CLEANUP => 1);
my $params = "'l2(dims=2, bandwidth=3, rows=64, range=64)'";

my $session = RaceSession->new;

# 13 does not tell its memory: there these tests look at the time alone
sql('CREATE VIEW pg_backend_memory_contexts AS SELECT 0::bigint AS total_bytes')
	if sql('SHOW server_version_num') < 140000;

sql(<<END);
CREATE TABLE sketches (id int PRIMARY KEY, p race_params, s race_sketch);
INSERT INTO sketches
SELECT n, race_params(s), s FROM (
	SELECT n, race_build($params, CASE WHEN i > 0 THEN ARRAY[i % 97, i % 89] END) AS s
	FROM unnest('{0,1,200,50000}'::int[]) n LEFT JOIN generate_series(1, 50000) i ON i <= n GROUP BY n) v;
INSERT INTO sketches SELECT -id, p, race_privatize(s, 0.001, rows => 16) FROM sketches WHERE id > 0;
INSERT INTO sketches VALUES (99, NULL, NULL);
CREATE INDEX ON sketches (p);
CREATE INDEX ON sketches USING hash (p);
CREATE VIEW answers AS SELECT id, race_kde(s, ARRAY[1, 2]) FROM sketches;
END

my $fingerprint = "SELECT md5(string_agg(id || p::text || s::text || encode(_racepriv._race_sketch_send(s), 'hex'), '' ORDER BY id)) FROM sketches";
my $before = sql($fingerprint);

# pg_dump and restore into another database
my $other = "$ENV{PGDATABASE}_restored";
my ($dump, $dumped) = run('', 'pg_dump', $ENV{PGDATABASE});
ok($dumped, 'pg_dump');
run('', 'createdb', $other);
{
	local $ENV{PGDATABASE} = $other;
	my ($log, $restored) = run($dump, qw(psql -Xq -v ON_ERROR_STOP=1));
	ok($restored, 'restore') or diag $log;
	is(sql($fingerprint), $before, 'the same bits after dump and restore');
	is(sql('SELECT count(*) FROM answers'), 8, 'views over sketches are restored');
}
run('', 'dropdb', $other);

# COPY BINARY and text, out and in
for my $format (qw(binary text csv)) {
	sql(<<END);
COPY sketches TO '$dir/copy.$format' (FORMAT $format);
CREATE TEMP TABLE copied (LIKE sketches);
COPY copied FROM '$dir/copy.$format' (FORMAT $format);
ALTER TABLE sketches RENAME TO kept;
CREATE TABLE sketches AS SELECT * FROM copied;
END
	is(sql($fingerprint), $before, "the same bits after COPY, $format");
	sql('DROP TABLE sketches; ALTER TABLE kept RENAME TO sketches');
}

# What is stored is not compressed (a toasted value lacks 4 bytes of header)
is(sql('SELECT bool_and((race_info(s)).storage_bytes - pg_column_size(s) BETWEEN 0 AND 4) FROM sketches WHERE s IS NOT NULL'),
	't', 'race_info tells the bytes that are stored');

# plpgsql: a million times race_add on a variable, in constant memory and linear processor
# time.  They take ten times as long as 100,000; forty times are allowed.  A quadratic loop
# takes a hundred times.
sql(<<'END');
CREATE TABLE marks (n int, bytes bigint);
CREATE FUNCTION add_many(n int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	s race_sketch := race_sketch('l2(dims=3, rows=64, range=64)'::race_params);
BEGIN
	FOR i IN 1 .. n LOOP
		s := race_add(s, ARRAY[i % 10, i % 7, i % 3]);
		IF i IN (n / 10, n) THEN
			INSERT INTO marks SELECT i, sum(total_bytes) FROM pg_backend_memory_contexts;
		END IF;
	END LOOP;
	RETURN race_count(s);
END $$;
END
is($session->ask('SELECT add_many(1000)'), 1000, 'a loop of race_add');
my $few = $session->time_of('SELECT add_many(100000)');
my $many = $session->time_of('DELETE FROM marks; SELECT add_many(1000000)');
cmp_ok($many, '<', 40 * $few, sprintf('one of a million takes linear time: %.2f s, %.2f s of 100,000', $many, $few));
is(sql('SELECT max(bytes) - min(bytes) < 200000 FROM marks'), 't', 'and constant memory');

# A million rows leave nothing behind: the aggregate's memory does not grow
sql(<<'END');
CREATE TABLE million AS SELECT i AS id, i % 80000 AS g, ARRAY[i % 10, i % 7]::int[] AS x FROM generate_series(1, 1000000) i;
ANALYZE million;
CREATE FUNCTION watch(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF i IN (100000, 1000000) THEN
		INSERT INTO marks SELECT i, sum(total_bytes) FROM pg_backend_memory_contexts;
	END IF;
	RETURN i;
END $$;
END
for my $call (
	"race_build('l2(dims=2, rows=16, range=16)', ARRAY[watch(id), x[1]])",
	"race_build('l2(dims=2, rows=16, range=16)', ARRAY[watch(id), x[1]]::numeric[])",
	"race_merge(race_add(race_sketch('l2(dims=2, rows=16, range=16)'::race_params), ARRAY[watch(id), x[1]]))",
	"sum(race_kde(race_sketch('l2(dims=2, rows=16, range=16)'::race_params), ARRAY[watch(id), x[1]]))")
{
	my $grown = sql(<<END);
SET max_parallel_workers_per_gather = 0;
DELETE FROM marks;
SELECT ($call) IS NOT NULL FROM million;
SELECT b.bytes - a.bytes FROM marks a, marks b WHERE a.n = 100000 AND b.n = 1000000;
END
	cmp_ok((split /\n/, $grown)[-1], '<', 100_000, "no growth over a million rows: $call");
}

# 80,000 groups in about the processor time of a sort.  The recipe without a pool takes a
# hundred times as long; 8 times a sort of the same rows leaves room for noise.
$session->ask("SET max_parallel_workers_per_gather = 0; SET work_mem = '1GB'");
my $sort = $session->time_of('SELECT count(a) FROM (SELECT g, array_agg(x ORDER BY x) AS a FROM million GROUP BY g) v');
for my $way ('enable_sort', 'enable_hashagg') {
	my $build = $session->time_of("SET $way = off; SELECT count(s) FROM "
		  . "(SELECT g, race_build('l2(dims=2, rows=16, range=16)', x) AS s FROM million GROUP BY g) v; RESET $way");
	cmp_ok($build, '<', 8 * $sort,
		sprintf('80,000 groups with %s off: %.2f s, a sort %.2f s', $way, $build, $sort));
}

done_testing();
