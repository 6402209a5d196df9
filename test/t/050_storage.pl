# Sketches in tables and in memory: what is stored, long loops, many groups.  (055_kernel_storage.pl dumps and
# restores them.)
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

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
END

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
