# FrontDoor.pm: five releases, and for every routine that answers the ends of each of its arguments.
package FrontDoor;
use strict;
use warnings;
use Exporter 'import';
use RaceServer;

our @EXPORT = qw(make_releases front_routines front_arguments cases ask_all);

# Numbers, categories and dates; columns whose bounds are equal; the same table without rows, and with one; many
# categories, and numbers and dates as far out as there are.  Each without delta (so large an epsilon leaves no noise)
# and with it; and of some sketches, one of labels, one of a value, and moments.
my $longest = 'x' x 992 . ' δ';
sub make_releases {
	my ($ask) = @_;
	$ask->(<<"END");
CREATE DOMAIN price AS numeric(6,2) CHECK (VALUE > 0 AND VALUE < 0.3);
CREATE DOMAIN tenth AS real CHECK (VALUE > 0 AND VALUE < 0.1);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE mixed (
	n int NOT NULL CHECK (n BETWEEN 0 AND 9), m int CHECK (m BETWEEN 1 AND 100), f float8 NOT NULL CHECK (f BETWEEN 0 AND 10),
	price price NOT NULL, tenth tenth NOT NULL, day date NOT NULL CHECK (day BETWEEN '2026-01-01' AND '2026-12-31'),
	"at" timestamptz NOT NULL CHECK ("at" BETWEEN '2026-05-01 00:00Z' AND '2026-05-03 00:00Z'), wait interval NOT NULL CHECK (wait BETWEEN '-60 hours' AND '60 hours'),
	town text NOT NULL CHECK (town IN ('Rome', 'Paris', 'NULL')), flag boolean, mood mood NOT NULL);
CREATE TABLE none (LIKE mixed INCLUDING CONSTRAINTS);
CREATE TABLE single (LIKE mixed INCLUDING CONSTRAINTS);
INSERT INTO mixed SELECT i % 10, CASE WHEN i % 7 > 0 THEN 1 + i % 100 END, i % 101 / 10.0, 0.01 + i % 29 / 100.0, 0.001 + i % 98 / 1000.0, date '2026-01-01' + i % 365,
	timestamptz '2026-05-01 00:00Z' + i % 2881 * interval '1 minute', (i % 121 - 60) * interval '1 hour', ('{Rome,Paris,"NULL"}'::text[])[1 + i % 3],
	(ARRAY[true, false, NULL])[1 + i % 3], ('{sad,ok,happy}'::mood[])[1 + i % 3] FROM generate_series(1, 3000) i;
INSERT INTO single SELECT * FROM mixed LIMIT 1;
CREATE TABLE flat (z float8 NOT NULL CHECK (z BETWEEN 0 AND 0), i int NOT NULL CHECK (i BETWEEN 5 AND 5), d date NOT NULL CHECK (d BETWEEN '2026-01-01' AND '2026-01-01'),
	c text NOT NULL CHECK (c IN ('only')), w interval NOT NULL CHECK (w BETWEEN '1 day' AND '1 day'));
INSERT INTO flat SELECT 0, 5, '2026-01-01', 'only', '1 day' FROM generate_series(1, 1000);
CREATE TABLE wide (c text NOT NULL, e float8 NOT NULL CHECK (e BETWEEN -8e307 AND 8e307), e2 float8 NOT NULL CHECK (e2 BETWEEN 1e307 AND 1.7e308),
	tiny float8 NOT NULL CHECK (tiny BETWEEN 0 AND 1e-300), late date NOT NULL CHECK (late BETWEEN '5000000-01-01' AND '5874897-12-31'),
	early date NOT NULL CHECK (early BETWEEN '4714-11-24 BC' AND '0044-03-15 BC'), last timestamp NOT NULL CHECK (last BETWEEN '290000-01-01' AND '294276-12-31 23:59:59'),
	long interval NOT NULL CHECK (long BETWEEN '0' AND '170000000 years'));
INSERT INTO wide SELECT 'c' || i % 4095, -8e307 + i % 161 * 1e306, 1e307 + i % 161 * 1e306, i % 101 * 1e-302, date '5000000-01-01' + i % 1000 * 319523, date '4714-11-24 BC' + i % 1000 * 1706,
	timestamp '290000-01-01' + i % 1000 * interval '1562 days', i % 1000 * interval '170000 years' FROM generate_series(1, 5000) i;

CREATE TABLE other (town text);
CALL race_protect('mixed', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('none', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('single', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('flat', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('wide', epsilon_limit => 1e9, delta_limit => 1e-3);
SELECT array_agg('c' || i) AS categories FROM generate_series(0, 4094) i \\gset
CALL race_describe('wide', 'c', categories => :'categories');
DO \$\$
DECLARE
	d text;
	columns text[];
BEGIN
	FOREACH d IN ARRAY '{mixed,none,single,flat,wide}'::text[] LOOP
		columns := ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = d::regclass AND attnum > 0 ORDER BY attnum);
		CALL race_release(d, d, columns, 1e6);
		CALL race_release(CASE d WHEN 'mixed' THEN '$longest' ELSE d || ' delta' END, d, columns, 1e4, 1e-9);
		CALL race_release(d || ' dark', d, columns, 0.1);
	END LOOP;
END \$\$;
CALL race_release('measured', 'mixed', '{town}', 1e6, measure => 'f');
CALL race_release_sketch('grid', 'mixed', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, fit => true);
CALL race_release_sketch('plane', 'mixed', 'l2(dims=2, bandwidth=2, rows=64, range=64, lower={0,0}, upper={10,10})', 'ARRAY[f, n]', 1000, 1e-6, fit => true, columns => '{f,n}');
CALL race_release_sketch('valued', 'mixed', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, value => 'n', value_lower => 0, value_upper => 9);
CALL race_release_sketch('labeled', 'mixed', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, label => 'town', labels => '{Rome,Paris,"NULL"}', fit => true);
CALL race_release_sketch('moments', 'mixed', race_moment_params('{0,0}', '{10,9}', targets => 1), 'ARRAY[f, n]', 1000, columns => '{f,n}');
CALL race_release_sketch('loss', 'mixed', race_params('least_squares', 2, power => 4, rows => 64, radius => 20, query_radius => 10), 'ARRAY[f, n]', 1000);
CALL race_release_sketch('void', 'none', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, fit => true);
CALL race_release_next('mixed');
END
	return;
}
1;
