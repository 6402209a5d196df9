# clients/python/racepriv.py, which follows doc/format.md, builds the same bits as the server, reads
# its values, and gives the same answers.  format_cases.py beside this file asks it.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use Test::More;

$ENV{PYTHONPATH} = 'clients/python';

# What the script prints for lines of fields
sub client {
	my ($mode, $lines) = @_;
	my ($text, $good) = run("$lines\n", '/usr/bin/python3', '-B', 'test/t/format_cases.py', $mode);
	$good or diag $text;
	return $text;
}

# --------------------------------------------------------------- the same bits

# Each line: name, empty value, records as Python writes them, the value with the records
my $cases = sql(<<'END');
\pset fieldsep '\t'
CREATE TEMP TABLE cases (name text, params race_params, record text, py text);
INSERT INTO cases VALUES
('l2 struct off', 'l2(dims=2, bandwidth=0.7, rows=1100, range=8, seed=3, sequence=structured, offset={5,7})', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('v1', 'l2(dims=2, rows=4, range=8, seed=1, sequence=independent)', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('l2 fold sobol p1', 'l2(dims=2, bandwidth=0.7, rows=70, range=8, seed=-5, sequence=sobol)', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('l2 huge', 'l2(dims=2, bandwidth=0.7, rows=70, range=8, seed=-5, sequence=sobol)', '{1e300,-1.25e-300}', '[[1e300,-1.25e-300]]'),
('l2 nan', 'l2(dims=2, bandwidth=1e-100, rows=70, range=8, seed=-5, sequence=independent)', '{1e300,-1e-300}', '[[1e300,-1e-300]]'),
('l2 bw', 'l2(dims=25, bandwidth=0.7, rows=70, range=8, seed=-5, sequence=independent, bandwidths={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25})', '{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,250}', '[list(range(1,25))+[250]]'),
('l2 transform', 'l2(dims=2, bandwidth=0.7, rows=70, range=8, seed=9223372036854775807, sequence=sobol, matrix={{1,2},{0,3},{-1,0.3}}, offset={5,7})', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('l2 struct offset bw', 'l2(dims=2, bandwidth=0.7, rows=1100, range=8, seed=3, sequence=structured, bandwidths={3,0.1}, power=3, rehash=multilinear)', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('l2 struct', 'l2(dims=2, bandwidth=0.7, rows=1100, range=80, seed=3, sequence=structured, bandwidths={3,0.1}, lower={1,-Infinity})', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('ang', 'angular(dims=2, rows=1100, range=8, seed=3, sequence=sobol, offset={5,7}, power=3, rehash=multilinear)', '{0.5,-1.25}', '[[0.5,-1.25]]'),
('ang zero', 'angular(dims=2, rows=1100, range=8, seed=3, sequence=sobol, power=3)', '{0,0}', '[[0,0]]'),
('l1', 'l1(dims=3, bandwidth=0.7, rows=70, range=8, seed=3, sequence=sobol, power=3, rehash=multilinear, upper={1,2,3})', '{0.5,-1.25,1000}', '[[0.5,-1.25,1000]]'),
('ls', 'least_squares(dims=3, power=3, radius=2, rows=70, range=8)', '{0.5,-1.25,1000}', '[[0.5,-1.25,1000]]'),
('ls2', 'least_squares(dims=3, power=3, radius=2, rows=70, range=8, lower={1,1,1})', '{0.5,-1.25,1}', '[[0.5,-1.25,1]]'),
('margin', 'margin(dims=3, power=3, rows=70, range=8, seed=1, sequence=sobol, radius=2, query_radius=3)', '{1,0.5,-1}', '[[1,0.5,-1]]'),
('margin long', 'margin(dims=3, power=3, rows=70, range=8, seed=1, sequence=independent, radius=0.1)', '{1,1e308,1}', '[[1,1e308,1]]'),
('grid1', 'l2(dims=1, cells={9}, lower={-1}, upper={1e3}, sequence=grid)', '{0.5}', '[[0.5]]'),
('grid2', 'l2(dims=2, cells={16,12}, lower={-1,0}, upper={1e3,7}, sequence=grid)', '{0.5,9}', '[[0.5,9]]'),
('grid3', 'l1(dims=3, bandwidth=2, cells={64,32,32}, lower={-1,0,0}, upper={1e3,7,9}, sequence=grid)', '{777,6.2,5}', '[[777,6.2,5]]'),
('gridbig', 'l2(dims=1, cells={4096}, lower={-1}, upper={1e3}, sequence=grid)', '{0.5}', '[[0.5]]'),
('moments0', race_moment_params('{0,-5}', '{10,5}', targets => 0), '{1,7}', '[[1,7]]'),
('moments norm', race_moment_params('{0,-5}', '{10,5}', targets => 0, norm=>1), '{1,7}', '[[1,7]]'),
('moments1', race_moment_params('{0,-5,3}', '{10,5,4}', targets => 1, features=>5, seed=>7), '{1,2,3.3}', '[[1,2,3.3]]'),
('moments1i', race_moment_params('{0,-5,3}', '{10,5,4}', targets => 1, features=>5, seed=>7, sequence=>'independent', bandwidth=>0.3), '{1,2,3.3}', '[[1,2,3.3]]'),
('moments abs', race_moment_params('{0,-5,3}', '{10,5,4}', targets => 1, clip=>'absolute',norm=>1.1), '{1,2,3.3}', '[[1,2,3.3]]'),
('moments transform', race_moment_params('{-4,-4}', '{4,4}', targets => 0, transform => race_transform((SELECT race_build(race_moment_params('{0,-30}', '{100,150}', targets => 0), ARRAY[i * 0.25, i % 7 - 30]::float8[]) FROM generate_series(0, 299) i))), '{50,-20}', '[[50,-20]]'),
('tables', 'tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,2},{0,1,2}})', '{1,2,5}', '[[1,2,5]]'),
('tables m2', 'tables(dims=3, cells={4,7,2}, groups={{1,2,0},{0,1,0},{1,1,1},{0,1,0}})', '{1,2,1000.7}', '[[1,2,1000.7]]'),
('tables m3', 'tables(dims=3, cells={4,7,3}, groups={{1,2,0},{0,1,0},{1,1,1},{0,1,0}})', '{1,2,4097}', '[[1,2,4097]]'),
('tables m3b', 'tables(dims=3, cells={4,7,3}, groups={{1,2,0},{0,1,0},{1,1,1},{0,1,0}})', '{1,2,4096}', '[[1,2,4096]]');
SELECT name, race_sketch(params), py, race_add(race_sketch(params), record::float8[]) FROM cases;
SELECT 'jaccard', race_sketch(p), '[[1,-2,2**40]]', race_add(race_sketch(p), ARRAY[1,-2,1099511627776]::bigint[]) FROM race_params('jaccard', rows=>70, range=>9, power=>2) p;
SELECT 'jaccard empty', race_sketch(p), '[[]]', race_add(race_sketch(p), '{}'::bigint[]) FROM race_params('jaccard', rows=>70, range=>9, power=>2) p;
SELECT 'jaccard texts', race_sketch(p), '[["a", "bc", "größer als acht"]]', race_add(race_sketch(p), ARRAY['a', 'bc', 'größer als acht']) FROM race_params('jaccard', rows=>200, range=>9, sequence=>'grouped') p;
SELECT 'jaccard independent', race_sketch(p), '[[7, 8]]', race_add(race_sketch(p), ARRAY[7, 8]::bigint[]) FROM race_params('jaccard', rows=>70, range=>9, sequence=>'independent') p;
SELECT 'match null', race_sketch(p), '[["", None, "größer als acht"]]', race_add(race_sketch(p), ARRAY['',NULL,'größer als acht']) FROM race_params('match', 3, rows=>70, range=>9, power=>2, nulls=>'category') p;
SELECT 'match uuid', race_sketch(p), '[[uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), None]]', race_add(race_sketch(p), ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',NULL]::uuid[]) FROM race_params('match', 2, rows=>70, range=>9, power=>2, nulls=>'different') p;
SELECT 'product', race_sketch(p), '[([1,2],[1,2],["a","b"],["x","y","z"])]', race_add(race_sketch(p), ROW('{1,2}'::float8[],'{1,2}'::float8[],ARRAY['a','b'],ARRAY['x','y','z'])) FROM CAST('l1(dims=2, bandwidth=3, rows=70, range=64, power=2) * angular(dims=2, power=2, offset={1,2}) * jaccard * match(dims=3)' AS race_params) p;
SELECT 'product2', race_sketch(p), '[([1,2],[1,2,3])]', race_add(race_sketch(p), ROW('{1,2}'::float8[],'{1,2,3}'::float8[])) FROM CAST('l2(dims=2, bandwidth=3, rows=70, range=64, power=2, matrix={{1,2},{3,4},{5,6}}) * l2(dims=3, power=2, sequence=independent, lower={2,2,2})' AS race_params) p;
SELECT 'product3', race_sketch(p), '[([1,2],[1,2,3])]', race_add(race_sketch(p), ROW('{1,2}'::float8[],'{1,2,3}'::float8[])) FROM CAST('l2(dims=2, bandwidth=3, rows=70, range=64, power=2, sequence=independent) * l2(dims=3, power=2, sequence=sobol) * ' || 'l1(dims=2, sequence=sobol)' AS text) t, LATERAL (SELECT split_part(t,' * l1',1)::race_params p) x;
SELECT 'l2 of 300', race_sketch(p), '[[i * 0.25, i * 0.5 - 30] for i in range(300)]', race_build(p, ARRAY[i * 0.25, i * 0.5 - 30]::float8[]) FROM generate_series(0, 299) i, race_params('l2', 2, 9, rows => 64, range => 32, sequence => 'sobol') p GROUP BY p;
SELECT 'match of 300', race_sketch(p), '[[i % 7, i % 11] for i in range(300)]', race_build(p, ARRAY[i % 7, i % 11]::bigint[]) FROM generate_series(0, 299) i, race_params('match', 2, rows => 64, range => 32) p GROUP BY p;
END
my @cases = split /\n/, $cases;
cmp_ok(scalar @cases, '>=', 41, 'cases of all kernels and sequences');
my %built = map { split /\t/ } split /\n/, client('build', $cases);
for (@cases) {
	my ($name) = split /\t/;
	is($built{$name}, 'same', "$name: the same bits");
}
my $other = sql(<<'END');
\pset fieldsep '\t'
SELECT 'seed', race_sketch(race_params('l2', 2, rows => 70, range => 8, seed => 1)), '[[1, 2]]', race_add(race_sketch(race_params('l2', 2, rows => 70, range => 8, seed => 2)), '{1,2}'::float8[])
END
is(client('build', $other), "seed\tdifferent", 'control: another seed has other bits');

# ----------------------------------------------------------------- the same answers

# Each line: name, value, query as Python writes it, count, kernel sum and density
my $answers = sql(<<'END');
\pset fieldsep '\t'
SELECT 'l2 fold', s, '[20.5, 11]', race_count(s), race_kernel_sum(s, '{20.5,11}'::float8[]), race_kde(s, '{20.5,11}'::float8[]) FROM (SELECT race_build('l2(dims=2, bandwidth=9, rows=64, range=32, rehash=fold)', ARRAY[i * 0.25, i * 0.5 - 30]::float8[]) s FROM generate_series(0, 299) i) q;
SELECT 'l2 multilinear', s, '[20.5, 11]', race_count(s), race_kernel_sum(s, '{20.5,11}'::float8[]), race_kde(s, '{20.5,11}'::float8[]) FROM (SELECT race_build('l2(dims=2, bandwidth=9, power=2, rows=64, range=32, rehash=multilinear)', ARRAY[i * 0.25, i * 0.5 - 30]::float8[]) s FROM generate_series(0, 299) i) q;
SELECT 'match', s, '[3, 4]', race_count(s), race_kernel_sum(s, '{3,4}'::bigint[]), race_kde(s, '{3,4}'::bigint[]) FROM (SELECT race_build('match(dims=2, rows=64, range=32)', ARRAY[i % 7, i % 11]::bigint[]) s FROM generate_series(0, 299) i) q;
SELECT 'private', s, '[20.5, 11]', race_count(s), race_kernel_sum(s, '{20.5,11}'::float8[]), race_kde(s, '{20.5,11}'::float8[]) FROM (SELECT race_privatize(race_build('l2(dims=2, bandwidth=9, power=2, rows=64, range=32, rehash=multilinear)', ARRAY[i * 0.25, i * 0.5 - 30]::float8[]), 2) s FROM generate_series(0, 299) i) q;
END
for (split /\n/, $answers) {
	my ($name, undef, undef, $count, $sum, $density) = split /\t/;
	my ($got_count, $got_sum, $got_density) = split /\t/, client('ask', $_);
	is($got_count, $count, "$name: count");
	cmp_ok(abs($got_sum - $sum), '<=', 1e-9 * (1 + abs $sum), "$name: the sum of the kernel");
	cmp_ok(abs($got_density - $density), '<=', 1e-9 * (1 + abs $density), "$name: the density");
}

my ($private) = map { (split /\t/)[1] } grep { /^private/ } split /\n/, $answers;
is(client('status', $private),
	sql("SELECT status, epsilon, (counter_noise_stddev ^ 2)::numeric(20,6), (count_noise_stddev ^ 2)::numeric(20,6) FROM race_info('$private'::race_sketch)") =~ tr/|/\t/r,
	'status, epsilon and variances of a private value');

my $grid = sql("SELECT race_build('l2(dims=2, cells={16,12}, lower={0,-30}, upper={100,150}, sequence=grid)', ARRAY[i * 0.25, i * 0.5 - 30]::float8[]) FROM generate_series(0, 299) i");
is(client('nodes', $grid), '17x13 300', 'the nodes of a grid add up to the count');
like(client('nodes', sql("SELECT race_privatize('$grid'::race_sketch, 1e6)")), qr/^17x13 (?:299\.9|300)/, 'and those of a private one, which has two levels');
my $tables = sql("SELECT race_build('tables(dims=3, cells={4,3,6}, groups={{1,1,2},{0,0,1},{1,1,1},{0,0,1}}, workload={{0,257,2},{0,1,2}})', ARRAY[i % 4, i % 3, i % 6]::float8[]) FROM generate_series(0, 299) i");
is(client('tables', $tables), "0 4 300\n0,1 4x3 300\n0,1,2 4x3x4 300\n0,2 4x4 300\n1 3 300\n1,2 3x4 300\n2 6 300\ncell 1: 75", 'each table has all records, and a cell has its own');
# chosen categories: those have less noise than the cell of others, which the first number of the row states
sql(<<'END');
CREATE TABLE chosen AS SELECT i AS person, 'town ' || i % 3 AS town FROM generate_series(1, 300) i;
CREATE UNIQUE INDEX ON chosen (person);
CALL race_protect('chosen', epsilon_limit => 10000, delta_limit => 0.1, unit_column => 'person', max_contributions => 1);
CALL race_release('chosen', 'chosen', '{town}', 1000, 1e-3);
END
like(client('tables', sql("SELECT race_released('chosen')")), qr/^0 5 (?:29[0-9]|30[0-9])(?:\.\d+)?\n/, 'a table of one column whose last cells have another variance');
my $moments = sql("SELECT race_build(race_moment_params('{0,-30}', '{100,150}', targets => 0), ARRAY[i * 0.25, i * 0.5 - 30]::float8[]) FROM generate_series(0, 299) i");
my @means = split ' ', client('moments', $moments);
my @wanted = split ' ', sql("SELECT means[1] || ' ' || means[2] FROM race_moments_matrix('$moments')");
cmp_ok(abs($means[$_] - $wanted[$_]), '<', 1e-9 * (1 + abs $wanted[$_]), 'a mean of moments') for 0, 1;

# With so large an epsilon the noise of each sum is far below 30: no false alarm in practice
my ($lacking, $of_tables, $of_moments) = split /\n/, client('private', join "\t", my @private = map { sql("SELECT race_privatize('$_'::race_sketch, 1000)") } $tables, $moments);
is($lacking, 0, 'the tables of a private value take all its counters');
cmp_ok($of_tables, '<', 30, 'and each has all records but for the noise');
my ($with_signs, $signs) = split /\t/, client('signs', $private[0]) =~ s/\n//r;
is($signs, '{(0, 2): -77.0}', 'signs of a pair of columns have their counter after those of tables');
is(sql("SELECT '$with_signs'::race_sketch::text = '$with_signs', substring(race_params('$with_signs'::race_sketch)::text FROM 'signs=.*')"),
	't|signs={{2.5,3,0,1}})', 'and the server reads and writes them');
my @scaled = split ' ', sql("SELECT array_to_string(scaled, ' ') FROM race_moments_matrix('$private[1]')");
my @got = split ' ', $of_moments;
is(scalar @got, 9, 'private moments of two columns');
cmp_ok(abs($got[$_] - $scaled[$_]), '<', 1e-9 * (1 + abs $scaled[$_]), "entry $_ is that of the server") for 0 .. 8;

# ------------------------------------------------------- models, shares, bounds

my $made = "race_build('l2(dims=2, bandwidth=9, rows=64, range=32, rehash=multilinear)', ARRAY[i * 0.25, i * 0.5 - 30]::float8[])";
my $fitted = sql("SELECT race_fit($made, lower => '{0,-30}', upper => '{100,150}') FROM generate_series(0, 299) i");
my @points = map { [split /\t/] } split /\n/, client('points', $fitted);
my @asked = split /\n/, sql(<<"END");
SELECT count(*), sum(weight), sum(weight * x[1]), sum(weight * x[2]) FROM race_points('$fitted')
END
my @sums = (scalar(@points), map { my $i = $_; eval join '+', map { $_->[0] * ($i ? $_->[$i] : 1) } @points } 0 .. 2);
my @server = split /\|/, $asked[0];
cmp_ok($server[0], '>', 1, 'a model has points');
cmp_ok(abs($sums[$_] - $server[$_]), '<=', 1e-9 * (1 + abs $server[$_]), "a model: $_ is that of race_points") for 0 .. 3;
unlike(client('points', $fitted), qr/Error/, 'and its bytes are read');

sql(<<'END');
CREATE TABLE letters AS SELECT (ARRAY['x','y','z'])[1 + i % 3] AS a, i * i % 4 AS b, i / 7 % 2 = 0 AS c FROM generate_series(0, 2999) i;
CALL race_protect('letters', epsilon_limit => 1e4, columns => '{"a": ["x", "y", "z"], "b": [0, 3]}');
CALL race_release('letters', 'letters', '{a,b,c}', epsilon => 1000);
END
my ($numbers, $apart) = split /\t/, client('log_linear', sql("SELECT race_released('letters')"));
is($numbers, 0, 'a model of tables has a number for each counter');
cmp_ok($apart, '<', 1, 'and its distribution has the counts of each table');

# columns: public, and checked as they come in
my ($names, @changed) = split /\n/, client('columns', sql("SELECT race_released('letters')"));
is($names, 'a,b,c', 'a value carries the names of its columns');
is(sql("SELECT d->>'name', d->'categories' FROM jsonb_array_elements(race_domains('$changed[0]'::race_sketch)) d LIMIT 1"), 'other|["x", "y", "z"]',
	'another name is another value');
my @refusals = map { sql_fails("SELECT '$_'::race_sketch") =~ /DETAIL:\s+(.*)/ } @changed[1 .. $#changed];
is_deeply(\@refusals, ['The columns are not those of the counters.', 'The columns are not domains.',
	'The columns are not written as a release writes them.', 'The text of the columns is not valid in the encoding of the database.'],
	'columns that a release cannot have are refused');

# So many columns that shares of moments count in coarser units
sql(<<'END');
CREATE TABLE wide AS SELECT race_build(race_moment_params(array_fill(0::float8, '{40}'), array_fill(1::float8, '{40}'), targets => 0, norm => 6.4), ARRAY(SELECT i * j % 7 / 7.0 FROM generate_series(1, 40) j)::float8[]) AS m FROM generate_series(1, 100) i;
CREATE TABLE coarse AS SELECT race_merge(race_share(m, 1e9, 1e-6, 3)) AS s FROM wide, generate_series(1, 3);
END
my ($coarser, @coarse) = split ' ', client('coarse', sql('SELECT s FROM coarse'));
cmp_ok($coarser, '>', 0, 'coarser units');
@wanted = split ' ', sql("SELECT array_to_string(scaled, ' ') FROM coarse, race_moments_matrix(s)");
is(scalar @coarse, 41 * 41, 'of 40 columns');
is(scalar(grep { abs($coarse[$_] - $wanted[$_]) > 1e-9 * (1 + abs $wanted[$_]) } 0 .. $#coarse), 0, 'each entry is that of the server');

my $share = "race_share(s, 1, 1e-6, parties => 3, colluders => 1, dropouts => 1)";
is(client('shares', sql("\\pset fieldsep '\t'\nSELECT $share, $share + $share FROM (SELECT $made AS s FROM generate_series(0, 299) i) q")),
	"1\t3\t1\t1\t1\t1\n1\t3\t1\t1\t2\t2", 'noise shares, and a sum of two');

# Weights: 3, and 20 above the largest one, in quarters; the release of both rows rounds them to records
sql(<<'END');
CREATE TABLE weighted_rows AS SELECT unnest('{3,20}'::numeric[]) AS w;
CALL race_protect('weighted_rows', epsilon_limit => 1e15, max_contributions => 2);
CALL race_release_sketch('weighted rows', 'weighted_rows', 'l2(dims=1, rows=1, range=2)', 'ARRAY[1]', epsilon => 1e12, weight => 'w', weight_max => 4);
END
is(client('weighted', join "\t", sql("SELECT _racepriv._race_build_weighted('l2(dims=1, rows=1, range=2)', ARRAY[1], w, 4, 2) FROM weighted_rows"),
		sql("SELECT race_released('weighted rows')")), '0 28 16 28 7 8', 'of records with weights, K in an exact value, and the records of a person in a private one');

# ---------------------------------------------------------------- damaged bytes

is(client('damaged', $private), "whole\nrefused\nrefused\nrefused", 'a bit that has changed, bytes that lack or are too many are refused');

done_testing();
