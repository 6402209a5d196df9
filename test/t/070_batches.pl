# Records are hashed and counted many at a time, in counters that widen as they
# fill: the bits of a sketch tell nothing of that, and its memory is small.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

# ------------------------------------------------------------ vector code

# Which vector code has this machine?
my (@codes, @lacking);
for my $code (qw(portable avx2 avx512 none)) {
	my $answer = sql_fails("LOAD 'racepriv'; SET racepriv.vector_code = '$code'; SHOW racepriv.vector_code");
	if ($answer eq "no error: $code") {
		push @codes, $code;
		next;
	}
	like($answer, qr/22023: .*"racepriv.vector_code": "$code".*no such vector code/s, "$code is refused");
	push @lacking, $code;
}
is($codes[0], 'portable', "there is portable code; here also: @codes[1 .. $#codes]");

# What came before the library was loaded, and turns out to be wrong, is not in force.
like(sql("SET racepriv.vector_code = '$lacking[0]'; SELECT race_count(race_build('l2(dims=1)', '{1}')); SHOW racepriv.vector_code"),
	qr/WARNING.*"$lacking[0]".*^1\nauto$/ms, 'a wrong setting from before is ignored with a warning');

# ---------------------------------------------------------------- batches

# A variable that is looked at after each record, in one way or another, is what
# the aggregate makes of the records so far; so is one that is not looked at.
sql(<<'END');
CREATE FUNCTION record(i int, dims int) RETURNS float8[] LANGUAGE sql IMMUTABLE AS
	'SELECT array_agg((i * (7 + d) % 31)::float8 ORDER BY d) FROM generate_series(1, dims) d';
CREATE FUNCTION one_by_one(p race_params, dims int, skipped int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	counted race_sketch := race_sketch(p);
	read race_sketch := race_sketch(p);
	asked race_sketch := race_sketch(p);
	hidden race_sketch := race_sketch(p);
	built text;
	wrong text := '';
BEGIN
	FOR n IN 1 .. 130 LOOP
		IF n <> skipped THEN
			counted := race_add(counted, record(n, dims));
			read := race_add(read, record(n, dims));
			asked := race_add(asked, record(n, dims));
			hidden := race_add(hidden, record(n, dims));
		END IF;
		SELECT race_build(p, record(i, dims))::text INTO built FROM generate_series(1, n) i;
		IF race_count(counted) <> n OR read::text <> built OR
			race_kernel_sum(asked, record(n, dims)) <> race_kernel_sum(built::race_sketch, record(n, dims)) THEN
			wrong := wrong || n || ' ';
		END IF;
	END LOOP;
	IF counted::text <> built OR asked::text <> built OR hidden::text <> built THEN
		wrong := wrong || 'in the end';
	END IF;
	RETURN wrong;
END $$;
END
for my $shape (['rows=1, range=2', 1], ['rows=64, range=64', 2], ['rows=70, range=1000, power=2', 3], ['rows=3, range=7', 40]) {
	my ($params, $dims) = @$shape;
	is(sql("SELECT one_by_one('l2(dims=$dims, $params)', $dims, 0)"), '',
		"1 to 130 records of $dims dimensions, $params: one by one and in batches");
}
like(sql("SELECT one_by_one('l2(dims=2, rows=64, range=64)', 2, 100)"), qr/^100 101 .* 130 in the end$/,
	'control: without a record all is different');

# Counters that widen: n equal records are n in one counter of each row
my $p = "'l2(dims=2, bandwidth=3, rows=66, range=16)'";
my $asked = "race_count(s), race_kernel_sum(s, '{1,2}'), (race_info(s)).counter_bytes";
my @edges = (1, 127, 128, 129, 255, 256, 32767, 32768, 32769, 65536);
my @expected = map { $_ . "|$_|$_|" . ($_ <= 127 ? 1 : $_ <= 32767 ? 2 : 4) } @edges;
my $edges = join ', ', @edges;
is(sql("SELECT n, $asked FROM (SELECT n, race_build($p, ARRAY[1, 2]) AS s FROM unnest(ARRAY[$edges]) n, generate_series(1, n) GROUP BY n) v ORDER BY n"),
	join("\n", @expected), 'equal records at the edges of widths, built');
sql(<<END);
CREATE TABLE edges AS SELECT n, race_build($p, ARRAY[1, 2]) AS s FROM unnest(ARRAY[$edges]) n, generate_series(1, n - 1) GROUP BY n;
END
is(sql("SELECT n, $asked FROM (SELECT n, race_add(s, '{1,2}') AS s FROM edges) v ORDER BY n"),
	join("\n", @expected[1 .. $#expected]), 'stored one short of it, and one added');
is(sql("SELECT -n, race_count(s), race_kernel_sum(s, '{1,2}'), (race_info(s)).counter_bytes FROM "
	  . "(SELECT n, race_remove(race_sketch($p\::race_params) - s, '{1,2}') AS s FROM edges) v ORDER BY n"),
	join("\n", map { my $n = $edges[$_]; "-$n|-$n|-$n|" . ($n <= 128 ? 1 : $n <= 32768 ? 2 : 4) } 1 .. $#edges),
	'the same below zero');

# Up, down and up again, one by one
sql(<<END);
CREATE FUNCTION up_and_down() RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	s race_sketch := race_sketch($p\::race_params);
	n int := 0;
	delta int;
	wrong text := '';
BEGIN
	FOR step IN 1 .. 66500 LOOP
		delta := CASE WHEN step BETWEEN 301 AND 33500 THEN -1 ELSE 1 END;
		IF delta = 1 THEN
			s := race_add(s, '{1,2}');
		ELSE
			s := race_remove(s, '{1,2}');
		END IF;
		n := n + delta;
		IF (step % 1000 = 0 OR abs(n) IN (127, 128, 129, 130, 32767, 32768, 32769))
			AND (race_kernel_sum(s, '{1,2}'), race_count(s), (race_info(s)).counter_bytes) IS DISTINCT FROM
			(n::float8, n::float8, CASE WHEN n BETWEEN -128 AND 127 THEN 1 WHEN n BETWEEN -32768 AND 32767 THEN 2 ELSE 4 END) THEN
			wrong := wrong || format('%s: %s ', n, race_kernel_sum(s, '{1,2}'));
		END IF;
	END LOOP;
	RETURN wrong || n;
END \$\$;
END
is(sql('SELECT up_and_down()'), '100', 'to 300 records, down to -32900, and up to 100');

# Moving windows whose counters widen, and become narrow again as records leave
for my $frame (1, 63, 64, 65, 127, 128, 300) {
	is(sql(<<END), '0|t', "a window of $frame records moves over equal and other ones");
WITH records AS (
	SELECT id, CASE WHEN id % 700 < 350 THEN ARRAY[1, 2] ELSE ARRAY[id, id % 13] END AS x FROM generate_series(1, 1200) id),
moving AS (SELECT id, race_build($p, x) OVER (ORDER BY id ROWS $frame - 1 PRECEDING) AS s FROM records),
anew AS (
	SELECT f.id, race_build($p, r.x) AS s
	FROM (SELECT id FROM records WHERE id % 37 = 0 OR id % 350 < 3) f JOIN records r ON r.id BETWEEN f.id - $frame + 1 AND f.id
	GROUP BY f.id)
SELECT count(*) FILTER (WHERE moving.s::text <> anew.s::text), count(*) > 30 FROM moving JOIN anew USING (id)
END
}

# A bad record is refused, wherever in a batch it is; and nothing else is lost.
my %bad = (
	"'{NaN,1}'::float8[]" => 'expected finite numbers, found NaN',
	"'{1,-inf}'::float8[]" => 'expected finite numbers, found an infinity',
	"'{1,2,3}'::int[]" => 'expected a vector of 2 dimensions, found 3',
	"'{1,NULL}'::real[]" => 'expected an array without nulls, found a null element',
	"'{{1},{2}}'::numeric[]" => 'expected an array of one dimension, found one of 2');
for my $bad (sort keys %bad) {
	for my $at (1, 65, 130) {
		like(sql_fails("SELECT race_build($p, CASE WHEN i = $at THEN $bad\::float8[] ELSE ARRAY[i, 1] END) FROM generate_series(1, 130) i"),
			qr/22023: $bad{$bad}/, "$bad as record $at");
	}
	is(sql(<<END), "t|200|$bad{$bad}|$bad{$bad}", "$bad between good ones");
CREATE FUNCTION survive(OUT same bool, OUT records float8, OUT added text, OUT removed text) LANGUAGE plpgsql AS \$\$
DECLARE
	s race_sketch := race_sketch($p\::race_params);
	before text;
BEGIN
	FOR i IN 1 .. 200 LOOP
		BEGIN
			s := race_add(s, ARRAY[i, 1]);
			IF i % 3 = 0 THEN
				s := race_add(s, $bad);
			END IF;
		EXCEPTION WHEN invalid_parameter_value THEN
			added := SQLERRM;
		END;
		IF i % 7 = 0 THEN
			before := s::text;
			BEGIN
				s := race_remove(s, $bad);
			EXCEPTION WHEN invalid_parameter_value THEN
				removed := SQLERRM;
			END;
			IF s::text <> before THEN
				RAISE 'changed at %', i;
			END IF;
		END IF;
	END LOOP;
	records := race_count(s);
	SELECT race_build($p, ARRAY[i, 1])::text = s::text INTO same FROM generate_series(1, 200) i;
END \$\$;
SELECT * FROM survive();
DROP FUNCTION survive;
END
}

# ----------------------------------------------------------------- memory

# 13 does not tell its memory: there these tests see nothing
my $tells_memory = sql('SHOW server_version_num') >= 140000;
sql(q(CREATE VIEW pg_backend_memory_contexts AS SELECT ''::text AS name, 0::bigint AS total_bytes)) unless $tells_memory;
sql(<<'END');
CREATE TABLE marks (n int, pool bigint, total bigint);
CREATE FUNCTION watch(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO marks SELECT i, sum(total_bytes) FILTER (WHERE name = 'race_sketch pool'), sum(total_bytes)
	FROM pg_backend_memory_contexts;
	RETURN i;
END $$;
END

# 10,000 sketches at a time: work_mem is for the megabyte that the planner reckons
# with for each.  Counters of 64 bits would take 328 MB.
my $groups = <<'END';
SELECT count(s) FROM (
	SELECT i % 10000 AS g, race_build('l2(dims=2, rows=64, range=64)', ARRAY[CASE WHEN i = 200000 THEN watch(i) ELSE i END, 1]) AS s
	FROM generate_series(1, 200000) i GROUP BY 1) v
END
my $hashing = "SET max_parallel_workers_per_gather = 0; SET enable_sort = off; SET work_mem = '20GB';";
like(sql("$hashing EXPLAIN (COSTS OFF) $groups"), qr/HashAggregate/, 'groups are hashed');
is(sql("$hashing $groups"), 10_000, '10,000 groups at a time');
SKIP: {
	skip 'this version does not tell its memory', 2 unless $tells_memory;
	my $pool = sql('SELECT max(pool) FROM marks');
	cmp_ok($pool, '>', 10_000 * 64 * 64, 'which are in memory together');
	cmp_ok($pool, '<', 10_000 * 64 * 64 * 8 / 3, 'in a third of what counters of 64 bits would take');
}

# The private memory of a backend at its peak, beyond what it had before, as
# Linux tells it; shared memory is there before, because the table has been read.
sql(<<'END');
CREATE TABLE skin AS SELECT ARRAY[i % 5, i % 3, i % 2]::float8[] AS x FROM generate_series(1, 250000) i;
VACUUM ANALYZE skin;
END

sub status {
	my ($pid, $field) = @_;
	open my $status, '<', "/proc/$pid/status" or die "status of $pid: $!";
	my ($kilobytes) = map { /^$field:\s+(\d+) kB/ } <$status>;
	return 1024 * $kilobytes;
}

sub peak {
	my ($query) = @_;
	my $session = RaceSession->new;
	my $pid = $session->ask(<<'END');
SET max_parallel_workers_per_gather = 0;
DO $$ BEGIN PERFORM count(x), race_count(race_build('l2(dims=3)', x) FILTER (WHERE x[1] = 7)) FROM skin; END $$;
SELECT pg_backend_pid();
END
	open my $clear, '>', "/proc/$pid/clear_refs" or die "clear_refs of $pid: $!";
	print $clear 5;
	close $clear;
	my $before = status($pid, 'VmHWM');
	my $answer = $session->ask($query);
	return ($answer, status($pid, 'VmHWM') - $before);
}

my $large = "'l2(dims=3, bandwidth=5, rows=1024, range=1024)'";
my $width = sql("SELECT (i).counter_bytes FROM (SELECT race_info(race_build($large, x)) AS i FROM skin) v");
is($width, 4, 'a sketch with counters of 4 bytes');
my $bytes = $width * 1024 * 1024;
my ($count, $peak) = peak("SELECT race_count(race_build($large, x)) FROM skin");
is($count, 250_000, 'is made');
cmp_ok($peak, '<', 3 * $bytes, sprintf('in less than three times its size: %.1f MB for %.1f MB', $peak / 2**20, $bytes / 2**20));
cmp_ok($peak, '>', $bytes, 'and more than once: the peak is seen');
($count, $peak) = peak("SELECT race_count(race_build($large, x)), race_count(race_build($large, ARRAY[x[2], x[1], 0])), race_count(race_build($large, ARRAY[x[3], 0, 0])) FROM skin");
cmp_ok($peak, '>', 3 * $bytes, sprintf('control: three of them take more, %.1f MB', $peak / 2**20));

done_testing();
