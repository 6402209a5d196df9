# FrontDoor.pm: five releases, and for every routine that answers the ends of each of its arguments.
package FrontDoor;
use strict;
use warnings;
use Exporter 'import';
use RaceServer;

our @EXPORT = qw(make_releases make_listed_releases front_routines ask_all mistakes make_mistakes kinds_of_mistakes);

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
CREATE TABLE wide (e float8 NOT NULL CHECK (e BETWEEN -8e307 AND 8e307), e2 float8 NOT NULL CHECK (e2 BETWEEN 1e307 AND 1.7e308),
	tiny float8 NOT NULL CHECK (tiny BETWEEN 0 AND 1e-300), late date NOT NULL CHECK (late BETWEEN '5000000-01-01' AND '5874897-12-31'),
	early date NOT NULL CHECK (early BETWEEN '4714-11-24 BC' AND '0044-03-15 BC'), whole bigint NOT NULL CHECK (whole BETWEEN -4503599627370496 AND 4503599627370496), last timestamp NOT NULL CHECK (last BETWEEN '290000-01-01' AND '294276-12-31 23:59:59'),
	long interval NOT NULL CHECK (long BETWEEN '0' AND '170000000 years'));
INSERT INTO wide SELECT -8e307 + i % 161 * 1e306, 1e307 + i % 161 * 1e306, i % 101 * 1e-302, date '5000000-01-01' + i % 1000 * 319523, date '4714-11-24 BC' + i % 1000 * 1706, i,
	timestamp '290000-01-01' + i % 1000 * interval '1562 days', i % 1000 * interval '170000 years' FROM generate_series(1, 5000) i;

CREATE TABLE many (k int NOT NULL CHECK (k BETWEEN 0 AND 1), d date NOT NULL CHECK (d BETWEEN '2026-01-01' AND '2026-01-09'), f float8 NOT NULL CHECK (f BETWEEN 0 AND 1), c text NOT NULL);
INSERT INTO many SELECT i % 2, date '2026-01-01' + i % 9, i % 11 / 10.0, 'c' || i % 4095 FROM generate_series(1, 5000) i;
CREATE TABLE other (town text);
CALL race_protect('mixed', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('none', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('single', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('flat', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('wide', epsilon_limit => 1e9, delta_limit => 1e-3);
CALL race_protect('many', epsilon_limit => 1e9, delta_limit => 1e-3);
SELECT array_agg('c' || i) AS categories FROM generate_series(0, 4094) i \\gset
CALL race_describe('many', 'c', categories => :'categories');
DO \$\$
DECLARE
	d text;
	columns text[];
BEGIN
	FOREACH d IN ARRAY '{mixed,none,single,flat,wide,many}'::text[] LOOP
		columns := ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = d::regclass AND attnum > 0 AND attname <> ALL ('{at,wait,flag,mood,early,tenth}') ORDER BY attnum);
		CALL race_release(d, d, columns, 1e6);
		CALL race_release(CASE d WHEN 'mixed' THEN '$longest' ELSE d || ' delta' END, d, columns, 1e4, 1e-9);
		CALL race_release(d || ' dark', d, columns, 0.1);
	END LOOP;
END \$\$;
CALL race_release('times', 'mixed', '{n,at,wait,flag,mood}', 1e6);
CALL race_release('far', 'wide', '{early,tiny}', 1e6);
CALL race_release('tenth', 'mixed', '{tenth,price}', 1e6);
CALL race_release('measured', 'mixed', '{town}', 1e6, measure => 'f');
CALL race_release_sketch('grid', 'mixed', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, fit => true);
CALL race_release_sketch('plane', 'mixed', 'l2(dims=2, bandwidth=2, rows=64, range=64, lower={0,0}, upper={10,10})', 'ARRAY[f, n]', 1000, 1e-6, fit => true, columns => '{f,n}');
CALL race_release_sketch('labeled', 'mixed', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, label => 'town', labels => '{Rome,Paris,"NULL"}', fit => true);
CALL race_release_sketch('moments', 'mixed', race_moment_params('{0,0}', '{10,9}', targets => 1), 'ARRAY[f, n]', 1000, columns => '{f,n}');
CALL race_release_sketch('loss', 'mixed', race_params('least_squares', 2, power => 4, rows => 64, radius => 20, query_radius => 10), 'ARRAY[f, n]', 1000);
CALL race_release_sketch('void', 'none', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1000, fit => true);
CALL race_release_sketch('void dark', 'none', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 0.1, fit => true);
CALL race_release_next('mixed');
END
	return;
}

# And releases of 4,095 categories and labels, which take as long as all others: for the routines whose ends are asked
sub make_listed_releases {
	my ($ask) = @_;
	$ask->(<<'END');
SELECT array_agg('c' || i) AS categories FROM generate_series(0, 4094) i \gset
CALL race_release('listed', 'many', '{c,k}', 1e6);
CALL race_release_sketch('listed labels', 'many', 'l2(dims=1, bandwidth=0.5, lower={0}, upper={1}, cells={16}, sequence=grid)', 'ARRAY[f]', 1000, label => 'c', labels => :'categories', fit => true);
CALL race_release_sketch('listed rows', 'many', 'l2(dims=2, bandwidth=0.5, rows=8, range=16, lower={0,0}, upper={1,1})', 'ARRAY[f, k]', 1000, label => 'c', labels => :'categories', columns => '{f,k}');
END
	return;
}

# Releases by columns, with a column of numbers, one of whole ones, one of dates and one of categories; and those of sketches
my %tables = map { my ($name, @columns) = @$_; $name => {number => $columns[0], whole => $columns[1], date => $columns[2], category => $columns[3], type => $columns[4], edges => $columns[5]} } (
	(map { [$_, qw(f n day town mixed), '{0,5,10}'] } 'mixed', $longest, 'mixed dark', 'none', 'none delta', 'none dark', 'single', 'single delta', 'single dark'),
	(map { [$_, qw(z i d c flat), '{0,1}'] } 'flat', 'flat delta', 'flat dark'),
	['wide', qw(e whole late - wide), '{-8e307,0,8e307}'], ['wide delta', qw(e2 late last - wide), '{1e307,1.7e308}'], ['wide dark', qw(tiny whole long - wide), '{0,5e-301,1e-300}'],
	(map { [$_, qw(f k d c many), '{0,0.5,1}'] } 'many', 'many delta', 'many dark'), ['times', qw(wait n at mood mixed), '{-60:00,1 day,60:00}']);
my @sketches = ('grid', 'plane', 'void', 'void dark', 'labeled');

sub quoted { return join ', ', map { defined ? "'" . s/'/''/gr . "'" : 'NULL' } @_ }

# Ends of arguments that many routines have: good ones, and refused ones with their SQLSTATE
my @confidences = (['0.95', '1e-300', '0.9999999999999999', 'NULL'], {map { $_ => '22023' } '0', '1', '-1', "'NaN'", "'Infinity'"});
my @wheres = ([map { quoted($_) } '{}', '{"%N": "(,)"}', '{"%N": "[0,0)"}', '{"%N": "[-1e300,1e300)"}', '{"%W": "(,)"}', '{"%D": "[-infinity,infinity)"}', '{"%D": "[2026-01-01,5874897-12-31)"}',
	'{"%D": "[4714-11-24 BC,2026-12-31)"}', '{"%C": []}', '{"%N": []}', '{"%N": ["(,0)", "[0,)"]}', '{"%N": "(0,1]"}', '{"1": "(,)"}', undef],
	{(map { quoted($_) => '22023' } '[]', '1', 'null', '{"%N": "[1,0)"}', '{"%N": "[1,2"}', '{"%N": "[1;2)"}', '{"%N": "[1,2,3)"}', '{"%N": "("}', '{"%N": {}}', '{"%N": [1, "x"]}', '{"%C": "no such"}', '{"%C": {}}', '{"%C": null}', '{"%N": [[1, 2], 3]}'),
		(map { quoted($_) => '42703' } '{"no such": 1}', '{"": 1}', '{"0": 1}', '{"99": 1}')});
my @few = ([map { quoted($_) } '{}', '{"%N": "[0,0)"}', '{"%W": "(,)"}', undef], {quoted('[]') => '22023', quoted('{"%W": "[1,0)"}') => '22023', quoted('{"no such": 1}') => '42703'});
my @labels = (['NULL'], {"'x'" => '22023'});
my @smoothings = (['NULL'], {'1' => '22023'});
my @seeds = ['0', '-9223372036854775808', '9223372036854775807', 'NULL'];
my %none = (quoted('no such') => '42704', "''" => '42704');
my $no_column = sub { return map { quoted($_) => '42703' } 'no such', '', '0', '99', '1e0', ' ' };

# Of each routine by the name of a release by columns the arguments: [values that are answered, {value that is refused => SQLSTATE}].
# %N, %W, %D, %C are the columns of the release, and %T its type.
my %of_tables = (
	race_count => {where => \@wheres, confidence => \@confidences},
	race_crosstab => {column1 => [[map { quoted($_) } '%N', '%W', '%D', '%C', '1', undef], {$no_column->()}], column2 => [[quoted('%W'), quoted('%N'), 'NULL'], {$no_column->()}], confidence => \@confidences},
	race_curve => {column => [[map { quoted($_) } '%N', '%W', '%D', '1', undef], {$no_column->(), quoted('%C') => '22023'}], steps => [['1', '2', '10000', 'NULL'], {'0' => '22023', '-1' => '22023', '10001' => '22023'}],
		lower => [['NULL', '0', '8e307', "'-Infinity'", "'NaN'"]], upper => [['NULL', '0', '-8e307', "'Infinity'"]], label => \@labels, confidence => \@confidences, smoothing => \@smoothings, where => \@few},
	race_heatmap => {column1 => [[map { quoted($_) } '%W', '%D'], {$no_column->(), quoted('%C') => '22023', quoted('%N') => '22023'}], column2 => [[map { quoted($_) } '%N'], {$no_column->(), quoted('%C') => '22023'}],
		steps => [['2', '500'], {map { $_ => '22023' } '0', '-1', '1', '501'}], lower => [['NULL', "'{}'", "'{NULL,NULL}'", "'{0,0}'", "'{-Infinity,-8e307}'", "'{0}'"]],
		upper => [['NULL', "'{}'", "'{NULL,0}'", "'{8e307,Infinity}'"]], label => \@labels, smoothing => \@smoothings},
	race_histogram => {column => [[map { quoted($_) } '%N', '%W', '%D', '%C', '1', undef], {$no_column->()}],
		edges => [['NULL::text', '3', '1', '10000', "' 7 '::text", "'%E'::text", "'%E'::text[]"],
			{map { $_ => '22023' } "'{}'::text[]", "'{0,NULL}'::text[]", "'{0,0}'::text[]", '0', '99999', '2.5'}],
		where => \@few, bins => [['NULL', '1', '2', '3', '10000'], {map { $_ => '22023' } '0', '-1', '10001'}], label => \@labels, smoothing => \@smoothings, confidence => \@confidences},
	race_quantiles => {column => [[map { quoted($_) } '%N', '%W', '%D', '1', undef], {$no_column->(), quoted('%C') => '22023'}],
		p => [["'{0,5e-324,0.5,1}'", "'{0,0,1,1,NULL}'", "'{1,0.9999999999999999,0}'", "'{}'", "'{{0,0.25},{0.5,1}}'", 'NULL'], {map { $_ => '22003' } "'{-1}'", "'{1.0000000000000002}'", "'{NaN}'", "'{Infinity}'", "'{-5e-324}'"}],
		where => \@few, label => \@labels, confidence => \@confidences},
	race_mean => {column => [[map { quoted($_) } '%N', '%W', '%D', '1', undef], {$no_column->(), quoted('%C') => '22023'}],
		by => [['NULL::text', quoted('%N'), quoted('%W'), quoted('%D'), "'{%W,%D}'::text[]", "'{}'::text[]"], {"'{%N,%W,%D}'::text[]" => '22023', "'{NULL}'::text[]" => '42703', "'no such'" => '42703', "''" => '42703'}], where => \@few, confidence => \@confidences},
	race_sum => {column => [[map { quoted($_) } '%N', '1', undef], {$no_column->(), quoted('%C') => '22023'}],
		by => [['NULL::text', quoted('%N'), quoted('%W'), quoted('%D'), "'{%W,%D}'::text[]", "'{}'::text[]"], {"'{%N,%W,%D}'::text[]" => '22023', "'{NULL}'::text[]" => '42703', "'no such'" => '42703', "''" => '42703'}], where => \@few, confidence => \@confidences},
	race_trend => {column => [[map { quoted($_) } '%N', '%W', '%D', '1', undef], {$no_column->(), quoted('%C') => '22023'}], by => [[map { quoted($_) } '%N', '%W', '%D', '1'], {$no_column->(), 'NULL' => '42703', quoted('%C') => '22023', quoted('during') => '22023'}],
		where => \@few, confidence => \@confidences},
	race_classify => {label => [[map { quoted($_) } '%W', '%C', '%D', '%N', undef], {$no_column->()}],
		query => [[map { quoted($_) . '::jsonb' } '{}', '{"%N": 0}', '{"%N": -1e300}', '{"%N": 1e300}', '{"%N": "(,0)"}', undef],
			{(map { quoted($_) . '::jsonb' => '22023' } '[]', '1', 'null', '{"%N": {}}'), quoted('{"no such": 1}') . '::jsonb' => '42703', "''::text" => '22P02', '3' => '22023'}], confidence => \@confidences},
	race_correlation => {confidence => \@confidences},
	race_report => {confidence => \@confidences},
	race_regress => {target => [[map { quoted($_) } '%W', '%D', undef], {quoted('no such') => '42703', "''" => '42703', quoted('%C') => '22023', quoted('%N') => '22023'}],
		columns => [["'{%N}'"], {"'{}'" => '22023', "'{NULL}'" => '22023', "'{%N,%N}'" => '22023', "'{%W}'" => '22023', "'{no such}'" => '42703', "'{%C}'" => '22023'}], confidence => \@confidences},
	race_modes => {max => [['1', '100', 'NULL'], {map { $_ => '22023' } '0', '-1', '101'}], label => \@labels,
		column => [['NULL', map { quoted($_) } '%N', '%W', '%D'], {$no_column->(), quoted('%C') => '22023'}]},
	race_outliers => {records => [[map { quoted($_) . '::jsonb' } '{"%N": 0}', '{"%N": -1e300}', '{"%N": 1e300}', '[]', '[{"%N": 0}, {"%N": 1}]', '{}', undef],
			{(map { quoted($_) . '::jsonb' => '22023' } '1', 'null', '[1]', '[[]]', '{"%N": {}}'), quoted('{"no such": 1}') . '::jsonb' => '42703', "''::text" => '22P02'}],
		label => \@labels, confidence => \@confidences},
	race_synthesize => {base => [['NULL::%T'], {'1' => '42804', "'x'::text" => '42804', 'NULL::point1' => '42703'}], n => [['0', '1', '1000', 'NULL'], {'-1' => '22023', '1000000001' => '22023', '-9223372036854775808' => '22023'}], seed => \@seeds},
	race_export => {format => [["'tables'", 'NULL'], {"'points'" => '22023', "''" => '22023', "'TABLES'" => '22023'}]},
	race_label => {version => [['NULL', '1'], {map { $_ => '42704' } '0', '-1', '2147483647'}]},
	race_info => {}, race_registry => {},
	race_versions => {label => [['NULL'], {"'x'" => '42704'}]},
	race_released => {label => [['NULL'], {"''" => '42704', "'x'" => '42704'}]},
);

# The same of releases of sketches: [releases, {argument => ...}]
my %of_sketches = (
	race_count => [[@sketches, 'moments', 'loss'], {confidence => \@confidences}],
	race_curve => [[@sketches], {column => [["'1'", 'NULL'], {$no_column->()}], steps => [['2', '3', '10000', 'NULL'], {map { $_ => '22023' } '0', '1', '10001'}],
		lower => [['NULL', '0', '5'], {map { $_ => '22023' } '10', "'Infinity'", "'NaN'", '8e307'}], upper => [['NULL', '10', '8e307'], {map { $_ => '22023' } '0', "'-Infinity'"}], confidence => \@confidences,
		smoothing => [['NULL', '1e-6', '100'], {map { $_ => '22023' } '0', '-1', '1e-300', '101', "'NaN'"}]}],
	race_heatmap => [['plane'], {steps => [['2', '100'], {map { $_ => '22023' } '0', '1', '501'}], lower => [['NULL', "'{0,0}'"], {"'{}'" => '22023', "'{0}'" => '22023', "'{0,NULL}'" => '22023'}], upper => [['NULL', "'{10,10}'"], {"'{0,0}'" => '22023'}], column2 => [["'2'", "'n'"], {"'1'" => '22023', "'f'" => '22023'}]}],
	race_histogram => [[@sketches], {column => [["'1'"], {$no_column->()}], edges => [['NULL::text', "'{0,5,10}'::float8[]", "'{-8e307,8e307}'::float8[]", '3'], {"'{}'::float8[]" => '22023', "'{1,0}'::float8[]" => '22023', "'{0,NULL}'::float8[]" => '22023', '0' => '22023'}],
		bins => [['1', '10000'], {map { $_ => '22023' } '0', '-1', '10001'}], smoothing => [['NULL', '100'], {'0' => '22023'}], confidence => \@confidences}],
	race_quantiles => [[@sketches], {column => [["'1'"], {$no_column->()}], p => [["'{0,0.5,1}'", "'{0,0,1,1,NULL}'", "'{1,0.9999999999999999,0}'", "'{}'", 'NULL'], {map { $_ => '22003' } "'{-1}'", "'{1.0000000000000002}'", "'{NaN}'"}], confidence => \@confidences}],
	race_modes => [[@sketches], {max => [['1', '100', 'NULL'], {map { $_ => '22023' } '0', '-1', '101'}], column => [["'1'", 'NULL'], {$no_column->()}]}],
	race_outliers => [['grid', 'void', 'labeled'], {records => [["'{0,5,10}'::float8[]", "'{{5}}'::float8[]", "'{}'::float8[]", 'NULL::float8[]', "'{8e307}'::float8[]"], {"'{{1,2}}'::float8[]" => '22023', "'{NaN}'::float8[]" => '22023'}]}],
	race_export => [['grid', 'plane', 'labeled'], {format => [["'points'", 'NULL'], {"'tables'" => '22023', "'x'" => '22023'}]}],
	race_regress => [['moments'], {target => [["'n'", "'2'", 'NULL'], {"'no such'" => '42703', "'0'" => '42703'}], columns => [["'{f}'", "'{}'", 'NULL'], {"'{n}'" => '22023', "'{no such}'" => '42703'}], confidence => \@confidences}],
	race_info => [[@sketches, 'moments', 'loss'], {}], race_label => [[@sketches, 'moments', 'loss'], {}], race_versions => [[@sketches, 'moments', 'loss'], {}],
	race_released => [['grid'], {}],
);

# Of other routines that answer the calls themselves, good ones and refused ones
my ($grid, $plane, $moments, $loss, $void) = map { "race_released('$_')" } qw(grid plane moments loss void);
my %calls = (
	'race_kde(race_sketch,"any")' => [["race_kde($grid, '{0}'::float8[])", "race_kde($grid, '{10}'::float8[])", "race_kde($grid, '{8e307}'::float8[])", "race_kde($void, '{5}'::float8[])", "race_kde($plane, '{0,10}'::float8[])", "race_kde($grid, NULL::float8[])"],
		{"race_kde($grid, '{}'::float8[])" => '22023', "race_kde($grid, '{1,2}'::float8[])" => '22023', "race_kde($grid, '{NaN}'::float8[])" => '22023', "race_kde($grid, '{NULL}'::float8[])" => '22023'}],
	'race_kernel_sum(race_sketch,"any",integer)' => [["race_kernel_sum($grid, '{0}'::float8[])", "race_kernel_sum($plane, '{0,10}'::float8[], 2147483647)"], {map { ("race_kernel_sum($plane, '{0,10}'::float8[], $_)" => '22023') } 0, -1}],
	'race_kde_grid(race_sketch,double precision[],double precision[],integer[])' => [["race_kde_grid($grid, '{0}', '{10}', '{2}')", "race_kde_grid($plane, '{0,0}', '{10,10}', '{2,2}')"],
		{(map { ("race_kde_grid($grid, '{0}', '{10}', '{$_}')" => '22023') } 0, -1), "race_kde_grid($grid, '{10}', '{0}', '{2}')" => '22023', "race_kde_grid($grid, '{NaN}', '{10}', '{2}')" => '22023', "race_kde_grid($grid, '{}', '{}', '{}')" => '22023'}],
	'race_estimate(race_sketch,"any",double precision,double precision)' => [[map { "race_estimate($_)" } "$grid, '{0}'::float8[]", "$grid, '{10}'::float8[], 0.5", "$plane, '{0,10}'::float8[]", "$void, '{5}'::float8[]"], {map { ("race_estimate($grid, '{0}'::float8[], $_)" => '22023') } '0', '1', "'NaN'"}],
	'race_difference(race_sketch,race_sketch,"any",double precision)' => [["race_difference($grid, $void, '{0}'::float8[])"], {map { ("race_difference($grid, $void, '{0}'::float8[], $_)" => '22023') } '0', '1'}],
	'race_distance(race_sketch,race_sketch)' => [["race_distance($grid, race_released('labeled', 'Rome'))"], {}],
	'race_typicality(race_sketch,"any")' => [["race_typicality($grid, '{0}'::float8[])", "race_typicality($grid, '{8e307}'::float8[])", "race_typicality($void, '{5}'::float8[])"], {}],
	'race_classify(text,"any")' => [["race_classify('labeled', '{0}'::float8[])", "race_classify('labeled', '{10}'::float8[])", "race_classify('labeled', '{8e307}'::float8[])"], {"race_classify('grid', '{0}'::float8[])" => '22023', "race_classify('no such', '{0}'::float8[])" => '42704', "race_classify('labeled', '{}'::float8[])" => '22023'}],
	'race_posterior(text,"any")' => [["race_posterior('labeled', '{0}'::float8[])", "race_posterior('labeled', '{8e307}'::float8[])"], {"race_posterior('grid', '{0}'::float8[])" => '22023', "race_posterior('no such', '{0}'::float8[])" => '42704'}],
	'race_quantile(race_sketch,double precision[],integer)' => [["race_quantile($grid, '{0,0.5,1,NULL}')", "race_quantile($grid, '{}')", "race_quantile($plane, '{0,1}', 2)", "race_quantile($void, '{0,0.5,1}')"], {"race_quantile($grid, '{-1}')" => '22003', "race_quantile($grid, '{NaN}')" => '22003', "race_quantile($grid, '{0}', 0)" => '22023', "race_quantile($grid, '{0}', 2)" => '22023'}],
	'race_sample(race_sketch,integer,bigint)' => [["race_sample($grid, 0, 1)", "race_sample($grid, 10, -1)", "race_sample($plane, 10, 1)", "race_sample($void, 10, 1)"], {"race_sample($grid, -1, 1)" => '22023'}],
	'race_sample(anyelement,race_sketch,integer,bigint)' => [["race_sample(NULL::point1, $grid, 10, 1)", "race_sample(NULL::point1, $grid, 0, 1)"], {"race_sample(1, $grid, 10, 1)" => '42804'}],
	'race_points(race_sketch)' => [["race_points($grid)", "race_points($void)"], {"race_points($moments)" => '22023'}],
	'race_modes(race_sketch,integer,text)' => [["race_modes(race_released('times'), 1, 'n')", "race_modes(race_released('times'), 100, NULL)"], {"race_modes(race_released('times'), 10, 'no such')" => '42703', "race_modes(race_released('times'), 0, 'n')" => '22023', "race_modes($grid, 10, 'n')" => '22023'}],
	'race_modes(race_sketch,integer,double precision[],double precision[])' => [["race_modes($grid, 1)", "race_modes($grid, 100, '{0}', '{10}')", "race_modes($void)"], {(map { ("race_modes($grid, $_)" => '22023') } 0, -1, 101), "race_modes($grid, 1, '{10}', '{0}')" => '22023', "race_modes($grid, 1, '{}', '{}')" => '22023'}],
	'race_fit(race_sketch,integer,bigint,double precision[],double precision[])' => [["race_fit($grid)", "race_fit($plane, 16)"], {(map { ("race_fit($plane, $_)" => '22023') } 0, -1), "race_fit($plane, lower => '{10,10}', upper => '{0,0}')" => '22023'}],
	'race_loss(race_sketch,double precision[])' => [["race_loss($loss, '{0}')"], {"race_loss($loss, '{}')" => '22023', "race_loss($loss, '{8e307}')" => '22023', "race_loss($grid, '{0}')" => '22023'}],
	'race_minimize(race_sketch)' => [["race_minimize($loss)"], {"race_minimize($grid)" => '22023'}],
	'race_domains(race_sketch)' => [[map { "race_domains($_)" } "race_released('mixed')", $moments, $grid], {}],
	'race_count(race_sketch)' => [["race_count($grid)", "race_count($void)"], {}],
	'race_info(race_sketch)' => [["race_info($grid)", "race_info($void)"], {}],
	'race_params(race_sketch)' => [["race_params($grid)", "race_params($moments)"], {}],
	'race_covariance(race_sketch,integer,integer,double precision,boolean)' => [["race_covariance($moments, 1, 2)", "race_covariance($moments, 1, 1, 0.5, true)"], {"race_covariance($moments, 0, 1)" => '22023', "race_covariance($moments, 1, 3)" => '22023', "race_covariance($moments, 1, 2, 1)" => '22023', "race_covariance($grid, 1, 1)" => '22023'}],
	'race_moments_matrix(race_sketch)' => [["race_moments_matrix($moments)"], {"race_moments_matrix($grid)" => '22023'}],
	'race_pca(race_sketch,boolean)' => [["race_pca($moments)", "race_pca($moments, true)"], {"race_pca($grid)" => '22023'}],
	'race_transform(race_sketch,integer,boolean)' => [["race_transform($moments)", "race_transform($moments, 1)"], {map { ("race_transform($moments, $_)" => '22023') } 0, 3}],
	'race_predict(race_sketch,integer,double precision[],integer[])' => [["race_predict($moments, 2, '{0}')", "race_predict($moments, 2, '{10}', '{1}')"], {"race_predict($moments, 0, '{0}')" => '22023', "race_predict($moments, 2, '{}')" => '22023', "race_predict($moments, 2, '{0}', '{2}')" => '22023'}],
	'race_regress(race_sketch,integer,integer[])' => [["race_regress($moments, 2)", "race_regress($moments, 2, '{1}')", "race_regress($moments, 2, '{}')"], {"race_regress($moments, 0)" => '22023', "race_regress($moments, 2, '{2}')" => '22023'}],
	'race_classify(anyelement,race_sketch,"any")' => [["(SELECT race_classify(label, sketch, '{5}'::float8[]) FROM race_latest_releases WHERE name = 'labeled')"], {}],
	'race_posterior(anyelement,race_sketch,"any")' => [["(SELECT race_posterior(label, sketch, '{5}'::float8[]) FROM race_latest_releases WHERE name = 'labeled')"], {}],
	'race_plan(text,text[],double precision,double precision,double precision,bigint,text,text,text[],integer,integer)' => [["race_plan('mixed', '{n}', 1)", "race_plan('mixed', '{n}', 1, max_contributions => 1)", "race_plan('flat', '{z,c}', 1e-3, 1e-9)", "race_plan('wide', '{whole,e}', 1)", "race_plan('mixed', '{n}', error => 10)", "race_plan('mixed', '{n}', 1, records => 1)"],
		{"race_plan('no such', '{n}', 1)" => '42704', "race_plan('mixed', '{}', 1)" => '22023', "race_plan('mixed', '{no such}', 1)" => '42703', "race_plan('mixed', '{n}', 0)" => '22023', "race_plan('mixed', '{n}', 1, records => 0)" => '22023', "race_plan('mixed', '{n}', 1, max_contributions => 2)" => '22023'}],
	'race_refreshes_left(text)' => [["race_refreshes_left('mixed')", "race_refreshes_left('no such')"], {}],
);

# Routines that take a value in place of the name of a release
my @of_values = qw(race_classify race_correlation race_count race_crosstab race_curve race_heatmap race_histogram race_mean race_outliers race_quantiles race_regress race_sum race_synthesize race_trend);

# Further calls of routines that answer by the name of a release: [function, call, SQLSTATE]
my @further = (
	(map { ['race_histogram', "race_histogram($_)", ''] } "'mixed', 'day', '{2026-01-01,2026-07-01,2026-12-31}'::date[]", "'wide', 'late', '{5000000-01-01,5874897-12-31}'::date[]",
		"'wide', 'late', '{5000000-01-01,infinity}'::date[]", "'far', 'early', '{4714-11-24 BC,0044-03-15 BC}'::date[]", "'wide', 'whole', '{-9223372036854775808,9223372036854775807}'::bigint[]", "'wide', 'last', bins => 10000"),
	['race_histogram', "race_histogram('mixed', 'day', '{2026-01-01,infinity}'::date[])", '22023'], ['race_histogram', "race_histogram('mixed', 'town', 3)", '22023'],
	['race_heatmap', "(SELECT count(*) FROM race_heatmap('plane', steps => 500))", ''], ['race_heatmap', "race_heatmap('wide', 'e', 'e2', 16)", ''],
	# 4,095 categories, for every routine
	(map { [/^(race_\w+)/, $_, ''] } "race_count('listed', '{\"c\": [\"c0\", \"c4094\"]}')", "race_crosstab('listed', 'c', 'k')", "race_curve('listed', 'k', \"where\" => '{\"c\": \"c7\"}')", "race_histogram('listed', 'c')", "race_histogram('listed', 'c', \"where\" => '{\"k\": 1}')",
		"race_quantiles('listed', 'k', \"where\" => '{\"c\": \"c7\"}')", "race_mean('listed', 'k', 'c')", "race_trend('listed', 'k', 'k', \"where\" => '{\"c\": \"c7\"}')", "race_classify('listed', 'c', '{\"k\": 1}'::jsonb)", "race_classify('listed', 'k', '{\"c\": \"c7\"}'::jsonb)",
		"race_correlation('listed')", "race_modes('listed')", "race_outliers('listed', '{\"c\": \"c7\", \"k\": 1}'::jsonb)", "race_synthesize(NULL::many, 'listed', 1000)", "race_export('listed')", "race_label('listed')", "race_info('listed')", "race_versions('listed')",
		"race_released('listed')", "race_plan('many', '{c,k}', 1)",
		# and as many labels of sketches
		(map { ("race_count('$_')", "race_info('$_')", "race_label('$_')", "race_versions('$_')", "race_released('$_', 'c4094')") } 'listed labels', 'listed rows'), "race_histogram('listed labels', '1')", "race_quantiles('listed labels')", "race_curve('listed labels', steps => 10)",
		"race_modes('listed labels')", "race_outliers('listed labels', '{0.5}'::float8[])", "race_export('listed labels')", "race_classify('listed labels', '{0.5}'::float8[])", "race_posterior('listed labels', '{0.5}'::float8[])",
		"race_classify('listed rows', '{0.5,1}'::float8[])", "race_posterior('listed rows', '{0.5,1}'::float8[])"), ['race_heatmap', "race_heatmap('listed', 'c', 'k')", '22023'], ['race_regress', "race_regress('listed', 'k', '{c}')", '22023'], ['race_sum', "race_sum('mixed', 'day')", '22023'], ['race_sum', "race_sum('times', 'at')", '22023'],
	(map { ['race_synthesize', "race_synthesize(NULL::mixed, '$_', 1000)", ''] } 'mixed', 'tenth', 'none'), ['race_quantiles', "race_quantiles('far', 'early', '{0,0.5,1}')", ''],
);

# Routines that make parameters, sketches, private values and releases, and views that show what there is
my @makers = qw(race_add race_budget_adopt race_budget_limit race_build race_build_records race_compose race_describe race_fit race_grant race_is_record race_kernel race_merge race_merge_disjoint
	race_moment_params race_params race_privacy_cost race_privatize race_protect race_record race_release race_release_next race_release_sketch race_remove race_share race_sketch);
my @views = ('race_catalog', 'race_columns', 'race_latest_releases', 'race_budget_status');

sub front_routines { return (\%of_tables, \%of_sketches, \%calls, \@makers, \@of_values) }

sub call_of {
	my ($function, $release, $given) = @_;
	my %given = %$given;
	my $base = delete $given{base};
	my $label = delete $given{label};
	return "$function(" . join(', ', (defined $base ? "base => $base" : ()), ($function eq 'race_registry' ? () : (($function eq 'race_released' ? 'name' : 'release') . ' => ' . quoted($release))),
		(defined $label ? "label => $label" : ()), map { qq("$_" => $given{$_}) } sort keys %given) . ')';
}

# All calls, each [function, argument, release, call, SQLSTATE wanted or '']
sub cases {
	my @cases;
	my $add = sub {
		my ($function, $release, $arguments, $columns) = @_;
		my $fill = sub { my ($text) = @_; $text =~ s/%N/$columns->{number}/g; $text =~ s/%W/$columns->{whole}/g; $text =~ s/%D/$columns->{date}/g; $text =~ s/%C/$columns->{category}/g; $text =~ s/%T/$columns->{type}/g; $text =~ s/%E/$columns->{edges}/g; return $text };
		my %first = map { $_ => $fill->($arguments->{$_}[0][0]) } grep { $arguments->{$_}[0][0] ne 'NULL' } keys %$arguments;
		push @cases, [$function, '', $release, call_of($function, $release, \%first), ''];
		for my $argument (sort keys %$arguments) {
			# what depends on noise, of each release; what doesn't, of those without it
			next if $release =~ /dark|delta|δ|times/ && $argument !~ /^(column|p|edges|bins|n|target)$/;
			# what takes long for many cells is asked at its ends where there are few; the longest answers are those of two releases
			next if $function =~ /^race_outliers$/ && $release !~ /^(flat|many|single)/;
			next if $argument eq 'confidence' && $function =~ /^race_(correlation|regress|trend)$/ && $release =~ /^wide/;
			my ($good, $bad) = @{$arguments->{$argument}};
			my %refused = %{$bad // {}};
			my %given = map { $fill->($_) => $refused{$_} // '' } grep { (($columns->{category} // '') ne '-' || !/%C/) && ($_ ne '10000' || $release =~ /^(mixed|grid)$/) } @$good, keys %refused;
			push @cases, [$function, $argument, $release, call_of($function, $release, {%first, $argument => $_}), $given{$_}] for sort keys %given;
		}
	};
	for my $release (sort keys %tables) {
		for my $function (sort keys %of_tables) {
			# all tables of these have a million rows; 4,095 categories are exported and looked at alone (below)
			next if $function =~ /^race_(export|outliers)$/ && $release =~ /^(mixed|many|times|wide)(?! dark)/ || "$function $release" eq 'race_export many dark';
			$add->($function, $release, $of_tables{$function}, $tables{$release});
		}
	}
	# the same of values, where these have the argument, and are no series
	my %of_values = map { $_ => 1 } @of_values;
	push @cases, map { [@$_[0, 1], '', $_->[3] =~ s/\brelease => ('(?:[^']|'')*')/sketch => race_released($1)/r, $_->[4]] }
	  grep { $of_values{$_->[0]} && $_->[2] =~ /^(?:flat|single)$/ && $_->[1] !~ /^(?:label|smoothing)$/ && $_->[3] !~ /'during'/ } @cases;
	for my $function (sort keys %of_sketches) {
		$add->($function, $_, $of_sketches{$function}[1], {}) for @{$of_sketches{$function}[0]};
	}
	for my $function (sort keys %of_tables) {
		next if $function eq 'race_registry';
		my %first = map { $_ => $of_tables{$function}{$_}[0][0] =~ s/%T/mixed/r =~ s/%N/n/r =~ s/%W/n/r =~ s/%C/town/r =~ s/%D/day/r } grep { $of_tables{$function}{$_}[0][0] ne 'NULL' } keys %{$of_tables{$function}};
		push @cases, [$function, 'release', 'no such', call_of($function, $_, \%first), defined $_ ? '42704' : ''] for 'no such', '', $longest . 'x', undef;
	}
	for my $function (sort keys %calls) {
		my ($good, $bad) = @{$calls{$function}};
		push @cases, [$function, '', '', $_, ''] for @$good;
		push @cases, [$function, '', '', $_, $bad->{$_}] for sort keys %$bad;
	}
	push @cases, [$_->[0], '', '', $_->[1], $_->[2]] for @further;
	push @cases, [$_, '', '', $_, ''] for @views;
	return @cases;
}

# Functions of SQL that call, and keep the rows: as jsonb, and in binary, which no setting changes
sub asking {
	return <<'END';
CREATE TABLE cases (n serial, function text, argument text, release text, call text, wanted text, state text, message text, rows jsonb, bytes text);
CREATE FUNCTION answer(call text, OUT state text, OUT message text, OUT rows jsonb) LANGUAGE plpgsql AS $f$
BEGIN
	EXECUTE 'SELECT coalesce(jsonb_agg(to_jsonb(row(t))->''f1''), ''[]'') FROM ' || CASE WHEN call LIKE '(%' OR call NOT LIKE '%(%' THEN call || ' t' ELSE 'ROWS FROM (' || call || ') t' END INTO rows;
	state := '';
EXCEPTION WHEN others THEN
	state := SQLSTATE;
	message := SQLERRM;
END $f$;
CREATE FUNCTION bytes(call text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
	result text;
BEGIN
	-- the rows of a view have no order
	EXECUTE 'SELECT md5(string_agg(encode(record_send(ROW(t)), ''hex''), ''/''' || CASE WHEN call NOT LIKE '%(%' THEN ' ORDER BY encode(record_send(ROW(t)), ''hex'')' ELSE '' END || ')) FROM ' || CASE WHEN call LIKE '(%' OR call NOT LIKE '%(%' THEN call || ' t' ELSE 'ROWS FROM (' || call || ') t' END INTO result;
	RETURN result;
EXCEPTION WHEN others THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $f$;
END
}

# What holds of every answer, whatever the noise: the view `mistakes` shows what doesn't once find_mistakes() has read `cases`.
sub mistakes {
	return <<'END';
CREATE TABLE answers (n int, function text, release text, call text, row int, text text, count float8, lower text, upper text, value text, mean float8, sum float8, density float8, probability float8, prior float8, correlation float8,
	coefficient float8, share float8, frequency float8, p_value float8, estimate float8, count_per_unit float8, p float8, label text, "column" text);
CREATE TABLE numbers (name text, source text, count numeric);
CREATE PROCEDURE find_mistakes() LANGUAGE sql AS $f$
	TRUNCATE answers;
	INSERT INTO answers SELECT c.n, c.function, c.release, c.call, r.row, r.answer::text, x.*, substring(c.call FROM '"column" => ''([^'']*)''')
		FROM cases c CROSS JOIN LATERAL jsonb_array_elements(c.rows) WITH ORDINALITY r (answer, row)
			CROSS JOIN LATERAL jsonb_to_record(CASE jsonb_typeof(r.answer) WHEN 'object' THEN r.answer ELSE jsonb_build_object('value', r.answer) END) x (count float8, lower text, upper text, value text, mean float8, sum float8, density float8,
				probability float8, prior float8, correlation float8, coefficient float8, share float8, frequency float8, p_value float8, estimate float8, count_per_unit float8, p float8, label text)
		WHERE c.function NOT IN ('race_fit(race_sketch,integer,bigint,double precision[],double precision[])', 'race_label', 'race_registry', 'race_columns', 'race_released');
$f$;
CREATE VIEW intervals AS SELECT call, what, x, lower::float8 AS lower, upper::float8 AS upper FROM answers a CROSS JOIN LATERAL (VALUES
		('count', CASE WHEN function NOT IN ('race_mean', 'race_sum', 'race_trend', 'race_catalog', 'race_latest_releases', 'race_modes', 'race_outliers', 'race_classify') THEN count END), ('mean', mean), ('sum', sum),
		('density', CASE WHEN function NOT IN ('race_histogram', 'race_modes') THEN density END), ('value', CASE WHEN function = 'race_quantiles' THEN value::float8 END),
		('probability', probability), ('correlation', correlation), ('coefficient', coefficient), ('share', share), ('estimate', estimate)) v (what, x)
	WHERE x IS NOT NULL AND lower IS NOT NULL AND upper IS NOT NULL AND function NOT LIKE 'race_modes%';
CREATE VIEW mistakes AS
SELECT 'an error, or none' AS what, call, format('%s %s', state, message) AS found FROM cases WHERE state IS DISTINCT FROM wanted
UNION ALL SELECT 'a number that is not finite', call, text FROM answers
	WHERE text ~ '"(-?Infinity|NaN)"' AND NOT (function LIKE 'race_distance%' OR function = 'race_versions' AND text LIKE '%"standard_error": "Infinity"%')
UNION ALL SELECT 'a value outside of its interval', call, format('%s %s [%s, %s]', what, x, lower, upper) FROM intervals
	WHERE x < lower AND x - lower < -1e-9 * greatest(abs(lower), 1e-290) OR x > upper AND x - upper > 1e-9 * greatest(abs(upper), 1e-290) OR lower > upper
UNION ALL SELECT 'a share outside of 0 to 1', call, text FROM answers WHERE least(probability, prior, share, frequency, p_value) < 0 OR greatest(probability, prior, share, frequency, p_value) > 1 + 1e-9
UNION ALL SELECT 'a correlation outside of -1 to 1', call, text FROM answers WHERE function = 'race_correlation' AND greatest(abs(correlation), abs(lower::float8), abs(upper::float8)) > 1
UNION ALL SELECT 'a negative number of records', call, text FROM answers WHERE count < 0 AND function NOT IN ('race_export', 'race_count(race_sketch)', 'race_info(race_sketch)')
UNION ALL SELECT 'a negative density', call, text FROM answers WHERE least(density, count_per_unit) < 0
UNION ALL SELECT 'quantiles that are not one for each p', call, format('%s rows', jsonb_array_length(rows)) FROM cases
	WHERE function = 'race_quantiles' AND state = '' AND call ~ '"p" => ''[{]' AND release <> 'labeled' AND call !~ 'release => NULL|"(confidence|where|column)" => NULL'
		AND jsonb_array_length(rows) <> cardinality(substring(call FROM '"p" => ''([^'']*)''')::float8[])
UNION ALL SELECT 'quantiles that do not ascend', call, format('%s at %s, %s at %s', before, before_p, value, p)
	FROM (SELECT call, p, value::float8, lag(p) OVER w AS before_p, lag(value::float8) OVER w AS before FROM answers
		WHERE function = 'race_quantiles' WINDOW w AS (PARTITION BY n, label ORDER BY p, value::float8)) a WHERE before > value
UNION ALL SELECT 'a value beyond the bounds of its column', call, text
	FROM answers a JOIN _racepriv.race_releases f ON f.name = a.release AND f.version = 1 AND f.part = 1 JOIN jsonb_array_elements(race_domains(f.sketch)) d (domain) ON d.domain->>'name' = a."column"
	WHERE a.function IN ('race_quantiles', 'race_mean') AND (least(mean, lower::float8, upper::float8, CASE WHEN function = 'race_quantiles' THEN value::float8 END) < (d.domain->>'lower')::float8
		OR greatest(mean, lower::float8, upper::float8, CASE WHEN function = 'race_quantiles' THEN value::float8 END) > (d.domain->>'upper')::float8)
UNION ALL SELECT 'several numbers of records of a release', name, string_agg(source || ' ' || count, ', ') FROM numbers GROUP BY name HAVING count(DISTINCT count) > 1;
-- a release has one number of records wherever it is shown
INSERT INTO numbers SELECT name, 'race_catalog', round(count::numeric) FROM race_catalog UNION ALL SELECT name, 'race_count', round((race_count(name)).count::numeric) FROM race_catalog
	UNION ALL SELECT name, 'race_label', (race_label(name)->'racepriv'->>'records')::numeric FROM race_catalog
	UNION ALL SELECT c.name, 'race_info', (SELECT i.count FROM race_info(c.name) i) FROM race_catalog c WHERE labels IS NULL
	UNION ALL SELECT c.name, 'race_versions', (SELECT round(v.count::numeric) FROM race_versions(c.name) v ORDER BY v.version DESC LIMIT 1) FROM race_catalog c WHERE labels IS NULL;
END
}

# All mistakes that the view finds, each with an answer that has it: its control
my @wrong = (
	['an error, or none', 'race_count', "race_count('x')", '[]', '22012'],
	['a number that is not finite', 'race_count', "race_count('x')", '[{"count": 1, "upper": "Infinity"}]'],
	['a value outside of its interval', 'race_count', "race_count('x')", '[{"count": 1, "lower": 2, "upper": 3}]'],
	['a share outside of 0 to 1', 'race_classify', "race_classify('x')", '[{"probability": 1.1}]'],
	['a correlation outside of -1 to 1', 'race_correlation', "race_correlation('x')", '[{"correlation": 0, "lower": -1.1, "upper": 0}]'],
	['a negative number of records', 'race_count', "race_count('x')", '[{"count": -1}]'],
	['a negative density', 'race_curve', "race_curve('x')", '[{"density": -1}]'],
	['quantiles that are not one for each p', 'race_quantiles', q(race_quantiles(release => 'mixed', "column" => 'n', "p" => '{0,0.5,1}')), '[{"p": 0, "value": 1}, {"p": 0.5, "value": 1}]'],
	['quantiles that do not ascend', 'race_quantiles', q(race_quantiles(release => 'mixed', "column" => 'n', "p" => '{0,1}')), '[{"p": 0, "value": 2}, {"p": 1, "value": 1}]'],
	['a value beyond the bounds of its column', 'race_quantiles', q(race_quantiles(release => 'mixed', "column" => 'n', "p" => '{0}')), '[{"p": 0, "value": 9.5}]'],
);
my $several = 'several numbers of records of a release';
sub kinds_of_mistakes { return (map({ $_->[0] } @wrong), $several) }

# Statements that put these answers in the place of all others
sub make_mistakes {
	my ($ask) = @_;
	$ask->(join '', 'TRUNCATE cases; ', (map { 'INSERT INTO cases (function, release, call, wanted, rows, state) VALUES (' . quoted($_->[1], 'mixed', $_->[2], '', $_->[3], $_->[4] // '') . '); ' } @wrong),
		"UPDATE numbers SET count = count + 1 WHERE name = 'mixed' AND source = 'race_info'; CALL find_mistakes()");
	return;
}

sub ask_all {
	my ($ask) = @_;
	$ask->(asking() . "CREATE TYPE point1 AS (x float8);\n" . join '', map { 'INSERT INTO cases (function, argument, release, call, wanted) VALUES (' . quoted(@$_) . ");\n" } cases());
	return;
}

1;
