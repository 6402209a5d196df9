# Fitted sketches: dump and restore, caches, cancelling, memory, and models that are as
# large as they may be.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

my $has_memory = sql('SHOW server_version_num') >= 140000;

# Few rows will do here, whatever race_estimate thinks of their intervals.
$ENV{PGOPTIONS} = '-c client_min_messages=error';

# ------------------------------------------------------------ dump and restore

sql(<<'END');
CREATE TABLE r AS SELECT i, ARRAY[sin(i), cos(i)]::float8[] AS x, ARRAY['ü' || i % 3, E'\\ "' || i % 2] AS c, ARRAY[i % 5, i % 7] AS e
FROM generate_series(1, 40) i;
CREATE TABLE fitted (name text PRIMARY KEY, s race_sketch);
INSERT INTO fitted SELECT 'box', race_fit(race_build('l2(dims=2, rows=128, range=128)', x), lower => '{-1,-1}', upper => '{1,1}') FROM r;
INSERT INTO fitted SELECT 'private', race_fit(race_privatize(race_build('l1(dims=2, rows=128, range=128)', x), 1), lower => '{-1,-1}', upper => '{1,1}') FROM r;
INSERT INTO fitted SELECT 'match', race_fit(s, c) FROM (SELECT race_build('match(dims=2, rows=64, range=64)', c) AS s FROM r) v, (SELECT DISTINCT c FROM r) w;
INSERT INTO fitted SELECT 'jaccard', race_fit(s, e) FROM (SELECT race_build('jaccard(rows=64, range=64)', e) AS s FROM r) v, r;
INSERT INTO fitted SELECT 'product', race_fit(s, ROW(x, c, e)) FROM (SELECT race_build('l2(dims=2, rows=64, range=64) * match(dims=2) * jaccard', ROW(x, c, e)) AS s FROM r) v, r;
INSERT INTO fitted SELECT 'none', race_build('l2(dims=2, rows=64, range=64)', x) FROM r;
CREATE VIEW points AS SELECT name, p.* FROM fitted, race_points(s) p WHERE name <> 'none';
END
my $fingerprint = "SELECT md5(string_agg(name || s::text || race_info(s)::text, '' ORDER BY name)) || ' ' ||"
	. " (SELECT md5(string_agg(p::text, '' ORDER BY p::text COLLATE \"C\")) FROM points p) FROM fitted";
my $before = sql($fingerprint);
my $other = "$ENV{PGDATABASE}_restored";
for my $options ([], ['--inserts'], ['--column-inserts', '--quote-all-identifiers']) {
	my ($dump, $dumped) = run('', 'pg_dump', @$options, $ENV{PGDATABASE});
	ok($dumped, "pg_dump @$options");
	run('', 'createdb', $other);
	local $ENV{PGDATABASE} = $other;
	my ($log, $restored) = run($dump, qw(psql -Xq -v ON_ERROR_STOP=1));
	ok($restored, 'restore') or diag $log;
	is(sql($fingerprint), $before, 'the same bits, and the same points');
	local $ENV{PGDATABASE} = 'postgres';
	run('', 'dropdb', $other);
}

# --------------------------------------------------------- a stored sketch changes

# Sketches of two places, of equal counts and sizes: they answer 9 and 1, or the other way
sql(<<'END');
CREATE FUNCTION two(n int) RETURNS race_sketch LANGUAGE sql AS $$
	SELECT race_fit(race_build('l2(dims=1, rows=256, range=256)', ARRAY[CASE WHEN i <= n THEN 10 ELSE 20 END]), lower => '{10}', upper => '{20}', points => 50)
	FROM generate_series(1, 10) i
$$;
CREATE TABLE t (id int PRIMARY KEY, s race_sketch);
ALTER TABLE t ALTER s SET STORAGE EXTERNAL;
INSERT INTO t VALUES (1, two(9)), (2, two(1));
CREATE VIEW answers AS SELECT string_agg(round(race_kernel_sum(s, '{10}')::numeric) || '/' || round(race_kernel_sum(s, '{20}')::numeric), ' ' ORDER BY id) FROM t;
END
my @steps = (
	["BEGIN; COMMIT", '9/1 1/9'],
	["UPDATE t SET s = two(1) WHERE id = 1", '1/9 1/9'],
	["UPDATE t SET s = two(5)", '5/5 5/5'],
	["BEGIN; UPDATE t SET s = two(9) WHERE id = 1", '9/1 5/5'],
	["ROLLBACK", '5/5 5/5'],
	["DELETE FROM t; INSERT INTO t VALUES (1, two(1)), (2, two(9))", '1/9 9/1'],
	["UPDATE t SET s = (SELECT u.s FROM t u WHERE u.id = 3 - t.id)", '9/1 1/9'],
	["UPDATE t SET s = race_remove(race_add(s, '{20}'), '{10}') WHERE id = 1", '8/2 1/9'],
	["UPDATE t SET s = race_fit(s, lower => '{10}', upper => '{20}', points => 50, seed => 7) WHERE id = 1", '8/2 1/9'],
	["VACUUM FULL t", '8/2 1/9'],
	["TRUNCATE t; INSERT INTO t VALUES (1, two(9))", '9/1']);
for my $size ('64MB', '0', '300kB') {
	my $session = RaceSession->new;
	$session->ask("SET racepriv.cache_size = '$size'; PREPARE ask AS TABLE answers");
	my @told = map { [$_->[0], $session->ask("$_->[0]; EXECUTE ask")] } @steps;
	is_deeply(\@told, \@steps, "a session is told of changes, with a cache of $size");
	sql('TRUNCATE t; INSERT INTO t VALUES (1, two(9)), (2, two(1))');
}
# sketches with the same counters, and other models
is(sql(<<'END'), 't|t|t|t', 'a model is not taken for another one of the same sketch');
SELECT a <> b, a = c, b = d, a <> plain FROM
(SELECT two(5) AS s, race_fit(two(5), lower => '{0}', upper => '{40}', points => 7) AS other) v,
LATERAL (SELECT race_kernel_sum(s, '{11}') AS a, race_kernel_sum(other, '{11}') AS b) w,
LATERAL (SELECT race_kernel_sum(s::text::race_sketch, '{11}') AS c, race_kernel_sum(other::text::race_sketch, '{11}') AS d,
	race_kernel_sum(s - race_sketch(race_params(s)), '{11}') AS plain) u
END

# ----------------------------------------------------------------------- memory

SKIP: {
	skip 'this version does not tell its memory', 8 unless $has_memory;
	my $memory = "SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts WHERE ident = 'evaluator'";
	my $total = "SELECT sum(total_bytes) FROM pg_backend_memory_contexts";
	sql(<<'END');
CREATE TABLE many AS SELECT i, race_fit(race_build('l2(dims=2, rows=256, range=256)', ARRAY[i, j]), lower => '{0,0}', upper => '{60,60}', points => 40) AS s
FROM generate_series(1, 50) i, generate_series(1, 5) j GROUP BY i;
END
	# each takes 256 kB for its counters, and some kB besides
	my $all = "SELECT count(race_kernel_sum(s, ARRAY[i, 0])) FROM many";
	for my $case (['0', 0, 0], ['2MB', 1, 4], ['64MB', 12, 40]) {
		my ($size, $least, $most) = @$case;
		my $session = RaceSession->new;
		$session->ask("SET racepriv.cache_size = '$size'; $all");
		my $kept = ($session->ask($memory) =~ /(\d+)$/)[0];
		cmp_ok($kept, '>=', $least * 2**20, "a cache of $size keeps $kept bytes of fitted sketches");
		cmp_ok($kept, '<=', $most * 2**20, 'and no more than it may');
		next if $size ne '2MB';

		# a thousand questions of alternating sketches, in one statement and in many
		my $alternating = "SELECT count(race_kde(s, ARRAY[j, 0])) FROM generate_series(1, %d) j JOIN many ON i = j %% 50 + 1";
		$session->ask(sprintf($alternating, 100));
		my $before = ($session->ask($total) =~ /(\d+)$/)[0];
		is($session->ask(sprintf($alternating, 1000)), 1000, 'questions of alternating sketches');
		$session->ask("DO \$\$ BEGIN FOR k IN 1 .. 1000 LOOP PERFORM race_estimate(s, ARRAY[k, 0]) FROM many WHERE i = k % 50 + 1; END LOOP; END \$\$");
		my $after = ($session->ask($total) =~ /(\d+)$/)[0];
		cmp_ok($after - $before, '<', 2**20, 'take no more memory');
		# errors on the way
		$session->ask("SELECT count(race_kde(s, CASE WHEN i < 40 THEN ARRAY[i, 0] END)), count(race_kde(s, CASE WHEN i < 40 THEN ARRAY[1.0] END)) FROM many") for 1 .. 20;
		cmp_ok(($session->ask($total) =~ /(\d+)$/)[0] - $before, '<', 2**20, 'nor do those that fail');
	}

	# a fit gives back what it took
	my $session = RaceSession->new;
	my $fit = "SELECT count(race_fit(s, lower => '{0,0}', upper => '{60,60}', points => 100)) FROM many WHERE i <= 5";
	$session->ask($fit);
	my $before = ($session->ask($total) =~ /(\d+)$/)[0];
	is($session->ask("$fit; $fit; $fit"), "5\n5\n5", 'sketches are fitted');
	$session->ask("SELECT count(race_fit(s, lower => '{0,0}', upper => ARRAY[60, 60 / (i - 5)], points => 100)) FROM many WHERE i <= 5");
	$session->ask("SELECT race_fit(s, ARRAY[i, 1.0]) FROM many");
	cmp_ok(($session->ask($total) =~ /(\d+)$/)[0] - $before, '<', 2**20, 'and give back their memory, errors too');

	# a question with a large set
	$session = RaceSession->new;
	$session->ask("SET racepriv.cache_size = '1MB'; CREATE TEMP TABLE big AS SELECT array_agg(i) AS a FROM generate_series(1, 2000000) i");
	$session->ask("SELECT count(race_kernel_sum(s, a)) FROM fitted, big WHERE name = 'jaccard'");
	my $kept = ($session->ask($memory) =~ /(\d+)$/)[0];
	cmp_ok($kept, '<', 3 * 2**20, "a set of millions of elements is not kept: $kept bytes");

	# points that are measured in many more dimensions than they have
	$session = RaceSession->new;
	$session->ask(<<'END');
SET racepriv.cache_size = '1MB';
CREATE TEMP TABLE tall AS SELECT race_fit(s, lower => '{0}', upper => '{10}', points => 1000) AS s FROM (
	SELECT race_add(race_sketch(('l2(dims=1, bandwidth=500, rows=64, range=64, matrix={' || string_agg('{' || j / 1000.0 || '}', ',') || '})')::race_params), '{5}') AS s
	FROM generate_series(1, 1000) j) v;
SELECT race_kernel_sum(s, '{5}') FROM tall;
END
	$kept = ($session->ask($memory) =~ /(\d+)$/)[0];
	cmp_ok($kept, '<', 3 * 2**20, "a tall transform is counted for what it takes: $kept bytes");
}

# ----------------------------------------------------------------------- cancel

# A fit that is canceled after so many units ends soon, and leaves nothing behind.
sub test_cancel {
	my ($what, $setup, $statement, $units) = @_;
	my $session = RaceSession->new;
	$session->ask("$setup; SELECT race_fit(race_build('l2(dims=1, rows=64, range=64)', '{1}'::int[]), lower => '{0}', upper => '{1}') IS NOT NULL");
	my $memory = $has_memory ? "SELECT sum(total_bytes) FROM pg_backend_memory_contexts" : 'SELECT 0';
	my $before = ($session->ask($memory) =~ /(\d+)$/)[0];
	$session->ask('SET racepriv.cache_size = 0');
	$session->ends_soon($units, $statement, $what);
	my $after = ($session->ask($memory) =~ /(\d+)$/)[0];
	cmp_ok($after - $before, '<', 2**20, 'nothing is left');
}
my $sketch = "CREATE TEMP TABLE one AS SELECT race_build('%s', %s) AS s FROM generate_series(1, 10) i";
for my $units (0.5, 3.5, 10) {
	test_cancel('a fit of many dimensions', sprintf($sketch, 'l2(dims=200, rows=1024, range=64)', 'array_fill(i / 10.0, ARRAY[200])'),
		"SELECT race_fit(s, lower => array_fill(0, ARRAY[200]), upper => array_fill(1, ARRAY[200]), points => 4096) FROM one", $units);
}
test_cancel('a fit of 16000 dimensions', sprintf($sketch, 'l2(dims=16000, rows=64, range=16)', 'array_fill(i / 10.0, ARRAY[16000])'),
	"SELECT race_fit(s, lower => array_fill(0, ARRAY[16000]), upper => array_fill(1, ARRAY[16000])) FROM one", 1.5);
test_cancel('a fit of a million rows', sprintf($sketch, 'l2(dims=1, rows=2000000, range=2)', 'ARRAY[i / 10.0]'),
	"SELECT race_fit(s, lower => '{0}', upper => '{1}', points => 4096) FROM one", 1.5);
test_cancel('a fit of large power', sprintf($sketch, 'l2(dims=16, power=1024, rows=1024, range=64)', 'array_fill(i, ARRAY[16])'),
	"SELECT race_fit(s, lower => array_fill(0, ARRAY[16]), upper => array_fill(1, ARRAY[16])) FROM one", 2.5);
test_cancel('4096 candidates', sprintf($sketch, 'l2(dims=1, rows=128, range=16)', 'ARRAY[i]'),
	"SELECT race_fit(s, ARRAY[j]) FROM one, generate_series(1, 4096) j", 5);
test_cancel('a fit of sets', sprintf($sketch, 'jaccard(rows=1024, range=64)', 'ARRAY[i]'),
	"SELECT race_fit(s, a) FROM one, (SELECT j, array_agg(j * k) AS a FROM generate_series(1, 1000) j, generate_series(1, 1000) k GROUP BY j) v", 15);

# ------------------------------------------------------------------- large models

# 2000 points of so many dimensions would take 256 MB.
sql("CREATE TABLE wide AS SELECT race_build('l2(dims=16000, rows=64, range=16)', array_fill(i / 10.0, ARRAY[16000])) AS s FROM generate_series(1, 3) i");
is(sql("SELECT points BETWEEN 1 AND 100, (SELECT count(*) FROM race_points(f)) = points FROM (SELECT race_fit(s, lower => array_fill(0, ARRAY[16000]), upper => array_fill(1, ARRAY[16000]), points => 100) AS f FROM wide) v, race_info(f)"),
	't|t', 'a model of many dimensions');
done_testing();
