# One table, built in every way there is: the bits of the sketch are the same.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use Test::More;

my $params = "'l2(dims=3, bandwidth=5, rows=256, range=256)'";
my $parallel = <<'END';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
END

sql(<<END);
CREATE TABLE records AS
SELECT i AS id, i % 7 AS part,
       CASE WHEN i % 11 > 0 THEN ARRAY[i % 251, i * 7919 % 256, sqrt(i)] END::float8[] AS x
FROM generate_series(1, 100000) i;
ANALYZE records;
CREATE TABLE whole AS SELECT race_build($params, x) AS s FROM records;
END

sub is_whole {
	my ($name, $query, $settings) = @_;
	is(sql(($settings // '') . "SELECT (SELECT s::text FROM whole) = ($query)::text"),
		't', $name);
}

# What EXPLAIN ANALYZE says of a query: did workers really take part?
my $plan = sql("$parallel EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "
	  . "SELECT race_build($params, x) FROM records");
like($plan, qr/Workers Launched: 2/, 'two workers are launched');
like($plan, qr/Partial Aggregate/, 'and aggregate in part');

is_whole('by 2 parallel workers', "SELECT race_build($params, x) FROM records", $parallel);
is_whole('by 2 parallel workers, in groups that are merged',
	"SELECT race_merge(s) FROM (SELECT race_build($params, x) AS s FROM records GROUP BY part) v",
	$parallel);
is_whole('by race_merge over partitions',
	"SELECT race_merge(s) FROM (SELECT race_build($params, x) AS s FROM records GROUP BY part) v");
is_whole('by + of two halves',
	"SELECT race_build($params, x) FILTER (WHERE id <= 50000) + "
	  . "race_build($params, x) FILTER (WHERE id > 50000) FROM records");
is_whole('in another order', "SELECT race_build($params, x ORDER BY part, id DESC) FROM records");

sql(<<END);
CREATE FUNCTION by_rows() RETURNS race_sketch LANGUAGE plpgsql AS \$\$
DECLARE
	s race_sketch := race_sketch($params\::race_params);
	r record;
BEGIN
	FOR r IN SELECT x FROM records WHERE x IS NOT NULL LOOP
		s := race_add(s, r.x);
	END LOOP;
	RETURN s;
END \$\$;
END
is_whole('by race_add, row by row', 'SELECT by_rows()');
is_whole('by race_remove of what was too much', <<END);
SELECT race_remove(race_remove(race_add(race_add(s, '{1,2,3}'), '{9,9,9}'), '{1,2,3}'), '{9,9,9}') FROM whole
END

# Every frame of a window that moves over other records before it ends
is(sql(<<END), '0|3000', 'through a moving window, each frame');
WITH moving AS (
	SELECT id, race_build($params, x) OVER (ORDER BY id ROWS 1999 PRECEDING) AS s
	FROM records WHERE id <= 5000),
anew AS (
	SELECT f.id, race_build($params, r.x) AS s
	FROM generate_series(2001, 5000, 250) AS f(id), records r WHERE r.id > f.id - 2000 AND r.id <= f.id
	GROUP BY f.id)
SELECT (SELECT count(*) FROM moving JOIN anew USING (id) WHERE moving.s::text <> anew.s::text),
       (SELECT count(*) FROM moving WHERE id > 2000 AND race_count(s) BETWEEN 1818 AND 1819)
END

# A control: one record less is not the same
is(sql("SELECT s::text = (SELECT race_build($params, x)::text FROM records WHERE id <> 500) FROM whole"),
	'f', 'a control: without one record the bits differ');

done_testing();
