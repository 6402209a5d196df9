# Records of vectors, sets, categories and products that are none, or none any more: an
# error of the right kind that shows no value, and nothing else is lost.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

my $secret = 'Zyzzyva';
my $null = 'expected an array without nulls, found a null element';
my $no_set = 'is not a set or a row of categories';
my $nested = 'expected an array of one dimension, found one of';
my $no_vector = 'expected a vector of';
my $no_row = 'expected a row of';
my $no_record = 'expected a record of 2 values, found';
my $nan = 'expected finite numbers, found NaN';
my $infinity = 'expected finite numbers, found an infinity';
my $not_vector = 'is not a vector of numbers';

# ------------------------------------------------------- what is no record

# By kernel: a record that fits it; and of each bad one a name, its type, the value,
# SQLSTATE and message.  They are columns of a table, lest a message quote the statement.
my $vectors = 'l2(dims=2, rows=8, range=8)';
my %kernels = (
	$vectors => ['ARRAY[1, 2]', {
		nan => ['float8[]', '{31337.25,NaN}', '22023', $nan],
		infinity => ['float8[]', '{31337.25,Infinity}', '22023', $infinity],
		minus_infinity => ['float8[]', '{-Infinity,31337.25}', '22023', $infinity],
		real_nan => ['real[]', '{31337.25,NaN}', '22023', $nan],
		real_infinity => ['real[]', '{31337.25,Infinity}', '22023', $infinity],
		numeric_nan => ['numeric[]', '{31337.25,NaN}', '22023', $nan],
		numeric_infinity => ['numeric[]', '{31337.25,Infinity}', '22023', $infinity],
		numeric_overflow => ['numeric[]', '{31337.25,1e400}', '22023', $infinity],
		short => ['float8[]', '{31337.25}', '22023', "$no_vector 2 dimensions, found 1"],
		long => ['numeric[]', '{31337.25,1,2}', '22023', "$no_vector 2 dimensions, found 3"],
		empty => ['float8[]', '{}', '22023', "$no_vector 2 dimensions, found 0"],
		null_element => ['float8[]', '{31337.25,NULL}', '22023', $null],
		matrix => ['float8[]', '{{31337.25,1}}', '22023', "$nested 2"],
		texts => ['text[]', '{31337.25,1}', '42804', "type text[] $not_vector"],
		booleans => ['bool[]', '{true,false}', '42804', "type boolean[] $not_vector"],
		text => ['text', '{31337.25,1}', '42804', "type text $not_vector"],
		json => ['jsonb', '[31337.25,1]', '42804', "type jsonb $not_vector"],
		number => ['float8', '31337.25', '42804', "type double precision $not_vector"],
	}],
	'jaccard(rows=8, range=8)' => ["ARRAY['a']", {
		set_with_null => ['text[]', "{$secret,NULL}", '22023', $null],
		matrix => ['text[]', "{{$secret},{b}}", '22023', "$nested 2"],
		cube => ['uuid[]', '{{{00000000-0000-0000-0000-000000000001}}}', '22023', "$nested 3"],
		empty_texts => ['text[]', '{"","",NULL}', '22023', $null],
		text => ['text', $secret, '42804', "type text $no_set"],
		json => ['jsonb', "[\"$secret\"]", '42804', "type jsonb $no_set"],
		reals => ['float8[]', '{31337.25}', '42804', "type double precision[] $no_set"],
		chars => ['char(9)[]', "{$secret}", '42804', "type character[] $no_set"],
		names => ['name[]', "{$secret}", '42804', "type name[] $no_set"],
		dates => ['date[]', '{1931-01-01}', '42804', "type date[] $no_set"],
		codes => ['code[]', "{$secret}", '42804', "type code[] $no_set"],
	}],
	'match(dims=2, rows=8, range=8)' => ["ARRAY['a','b']", {
		short => ['text[]', "{$secret}", '22023', "$no_row 2 categories, found 1"],
		long => ['text[]', "{$secret,b,c}", '22023', "$no_row 2 categories, found 3"],
		none => ['text[]', '{}', '22023', "$no_row 2 categories, found 0"],
		row_with_null => ['tags', "{$secret,NULL}", '22023', $null],
		matrix => ['text[]', "{{$secret,b}}", '22023', "$nested 2"],
		flags => ['bool[]', '{t,f}', '42804', "type boolean[] $no_set"],
	}],
	'l2(dims=2, rows=8, range=8) * match(dims=1)' => ["ROW(ARRAY[1,2], ARRAY['a'])", {
		one_value => ['float8[]', '{31337,2}', '42804', "$no_record 1"],
		rows => ['two[]', "{\"(\\\"{1,2}\\\",{$secret})\"}", '42804', "$no_record 1"],
		few => ['one', "({$secret})", '42804', "$no_record 1"],
		many => ['three', "(\"{1,2}\",{$secret},{$secret})", '42804', "$no_record 3"],
		five => ['five', "(1,2,3,4,$secret)", '42804', "$no_record 5"],
		no_categories => ['two', '("{31337,2}",)', '22023', "$no_record a null", 'part'],
		no_numbers => ['two', "(,{$secret})", '22023', "$no_record a null", 'part'],
		nothing => ['two', '(,)', '22023', "$no_record a null", 'part'],
		wrong_order => ['owt', "({$secret},\"{1,2}\")", '42804', 'type text[] is not a vector of numbers'],
		no_array => ['no_array', "(\"{1,2}\",$secret)", '42804', "type text $no_set"],
		short_vector => ['two', "({31337},{$secret})", '22023', "$no_vector 2 dimensions, found 1"],
		long_row => ['two', "(\"{1,2}\",\"{$secret,b}\")", '22023', "$no_row 1 category, found 2"],
		domain => ['strict_two', "({31337},{$secret})", '22023', "$no_vector 2 dimensions, found 1"],
		nan => ['two', "(\"{31337,NaN}\",{$secret})", '22023', $nan],
		null_inside => ['two', "(\"{31337,NULL}\",{$secret})", '22023', $null],
		nested_row => ['nested', "(\"(\"\"{1,2}\"\",{$secret})\",{a})", '42804', 'type two is not a vector of numbers'],
	}]);

# numeric has infinities from 14 on
delete $kernels{$vectors}[1]{numeric_infinity} if sql('SHOW server_version_num') < 140000;

# Whatever takes a record
my @takers = ('race_add(exact, %s)', 'race_remove(exact, %s)', 'race_build(race_params(exact), %s)',
	'race_build(race_params(exact), %s) OVER (ORDER BY 1 ROWS 1 PRECEDING)',
	'race_kernel(race_params(exact), %s, good)');
# What asks about a query: for a part of a product a NULL is no error of its own.
my @questions = ('race_kernel_sum(private, %s)', 'race_kde(private, %s)', 'race_estimate(private, %s)',
	'race_classify(1, private, %s)', 'race_posterior(1, private, %s)');
my @of_vectors = (q(race_classify('a'::text, private, %s, 'counts')), 'race_fit(private, %s)', 'race_typicality(private, %s)',
	'race_difference(private, private, %s)');
my $no_part = 'only a fitted sketch can be asked about a part of a product';

# A statement fails with this SQLSTATE and message, and does not show the secret.
sub fails {
	my ($statement, $state, $message, $name) = @_;
	my $text = sql_fails($statement);
	my $good = $text =~ /ERROR:  $state: \Q$message\E\n/ && $text !~ /$secret|31337/i;
	ok($good, $name) or diag(substr $text, 0, 1000);
}

sql(<<'END');
CREATE DOMAIN tags AS text[];
CREATE DOMAIN code AS text;
CREATE TYPE one AS (c text[]);
CREATE TYPE two AS (x float8[], c text[]);
CREATE TYPE owt AS (c text[], x float8[]);
CREATE TYPE no_array AS (x float8[], c text);
CREATE TYPE three AS (x float8[], c text[], d text[]);
CREATE TYPE five AS (a int, b int, c int, d int, e text);
CREATE TYPE nested AS (r two, c text[]);
CREATE DOMAIN strict_two AS two CHECK ((VALUE).c IS NOT NULL);
END

for my $kernel (sort keys %kernels) {
	my ($good, $bad) = @{ $kernels{$kernel} };
	my $columns = join ', ', map { "\$\$$bad->{$_}[1]\$\$::$bad->{$_}[0] AS $_" } sort keys %$bad;
	sql(<<END);
DROP TABLE IF EXISTS sketches, bad;
CREATE TABLE bad AS SELECT $columns;
CREATE TABLE sketches AS SELECT exact, race_privatize(exact, 1, rows => 8) AS private
FROM race_sketch('$kernel'::race_params) exact;
END
	for my $name (sort keys %$bad) {
		my (undef, undef, $state, $message, $is_part) = @{ $bad->{$name} };
		my $from = "FROM sketches, bad, (SELECT $good AS good) g";
		fails('SELECT ' . sprintf($_, $name) . " $from", $state, $message, "$kernel, $name: $_") for @takers;
		fails('SELECT ' . sprintf($_, $name) . " $from", $is_part ? ('55000', $no_part) : ($state, $message),
			"$kernel, $name: $_") for @questions, $kernel eq $vectors ? @of_vectors : ();
		fails("SELECT race_kernel(race_params(exact), good, $name) $from", $state, $message,
			"$kernel, $name: second of race_kernel") unless $is_part;
	}
	next if $kernel ne $vectors;
	# plpgsql adds a context, a constraint may add the row
	fails('DO $$ DECLARE b bad; BEGIN SELECT * INTO b FROM bad; PERFORM race_add(exact, b.nan) FROM sketches; END $$', '22023', $nan, 'in plpgsql');
	sql(q(CREATE TABLE checked_vectors (x float8[] CHECK (race_kernel('l2', x, x) = 1))));
	fails('INSERT INTO checked_vectors SELECT nan FROM bad', '22023', $nan, 'in a constraint');
}
fails("SELECT race_build('l2(dims=1) * match(dims=1)', ROW(ARRAY[31337], ARRAY[i]::float8[])) FROM generate_series(1, 2) i",
	'42804', "type double precision[] $no_set", 'two values, one of the wrong type');
fails("SELECT race_build('l2(dims=1) * match(dims=1) * jaccard', ROW(ARRAY[31337], ARRAY[i])) FROM generate_series(1, 2) i",
	'42804', 'expected a record of 3 values, found 2', 'two values for three parts');

# A constraint that fails on a record may show the row: it is PostgreSQL that does, and
# only when the constraint is false.  When it is an error, nothing of the row is shown.
sql(q(CREATE TABLE checked (c text[] CHECK (race_kernel('match', c, ARRAY['a']) = 1))));
fails("INSERT INTO checked SELECT ARRAY['Zyz' || 'zyva', 'b']", '22023', "$no_row 2 categories, found 1", 'in a constraint');

# ---------------------------------------------- rows whose type is altered

# The row's type changes between two calls from one place in a function.
my $product = q('l2(dims=1, rows=64, range=64) * jaccard'::race_params);
sql(<<END);
CREATE TYPE changing AS (x float8[], c uuid[]);
CREATE FUNCTION asked(s race_sketch, r record) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN RETURN race_kernel_sum(s, r); END';
CREATE FUNCTION change() RETURNS SETOF text LANGUAGE plpgsql AS \$\$
DECLARE
	s race_sketch := race_add(race_sketch($product), ROW(ARRAY[1.5], ARRAY[1, 2, 3]));
	uuids text := 'ARRAY[1.5]::float8[], array_fill(''00000000-0000-0000-0000-000000000001''::uuid, ARRAY[3])';
	numbers text := 'ARRAY[1.5]::float8[], ARRAY[1, 2, 3]';
	answer float8;
	step record;
BEGIN
	FOR step IN SELECT * FROM (VALUES (uuids, 'ALTER TYPE changing DROP ATTRIBUTE c, ADD ATTRIBUTE c int[]'),
		(numbers, 'ALTER TYPE changing ADD ATTRIBUTE d text'), (numbers || ', ''$secret''', 'ALTER TYPE changing DROP ATTRIBUTE d'),
		(numbers, 'ALTER TYPE changing DROP ATTRIBUTE c')) AS steps(record, change) LOOP
		FOR i IN 1 .. 2 LOOP
			BEGIN
				EXECUTE format('SELECT asked(\$1, ROW(%s)::changing)', step.record) INTO answer USING s;
				RETURN NEXT CASE WHEN answer = 1 THEN 'found' WHEN abs(answer) < 0.1 THEN 'not found' ELSE answer::text END;
			EXCEPTION WHEN OTHERS THEN
				RETURN NEXT SQLERRM;
			END;
		END LOOP;
		EXECUTE step.change;
	END LOOP;
	EXECUTE 'SELECT asked(\$1, ROW(ARRAY[1.5])::changing)' INTO answer USING s;
EXCEPTION WHEN OTHERS THEN
	RETURN NEXT SQLERRM;
END \$\$;
END
is(sql('SELECT * FROM change()'), join("\n", 'not found', 'not found', 'found', 'found',
		("$no_record 3") x 2, 'found', 'found', "$no_record 1"),
	'a row is read as what its type is now');

# Rows of tables, whose columns come and go
sql(<<'END');
CREATE TABLE people (id int, x float8[], old text, c text[]);
INSERT INTO people SELECT i, ARRAY[i], 'old', ARRAY['a', i::text] FROM generate_series(1, 100) i;
CREATE TABLE expected AS SELECT race_build('l2(dims=1, rows=8, range=8) * match(dims=2)', ROW(x, c)) AS s FROM people;
END
my $session = RaceSession->new;
$session->ask(q(PREPARE build AS SELECT s::text = (SELECT race_build('l2(dims=1, rows=8, range=8) * match(dims=2)', p)::text FROM people p) FROM expected));
is($session->ask('EXECUTE build'), 'ERROR:  expected a record of 2 values, found 4
HINT:  The kernel is a product: pass a row, as in ROW(ARRAY[1.5, 2], ARRAY[\'a\', \'b\']).', 'a table with other columns too');
sql('ALTER TABLE people DROP COLUMN old, DROP COLUMN id');
is($session->ask('EXECUTE build'), 't', 'dropped columns do not count, under a cached plan');
sql(q(ALTER TABLE people DROP COLUMN c, ADD COLUMN c text[] DEFAULT '{a,1}'));
is($session->ask("SELECT race_kernel_sum(race_build('l2(dims=1, rows=8, range=8) * match(dims=2)', p), ROW(ARRAY[i], ARRAY['a', '1'])) > 0 FROM people p, generate_series(1, 1) i GROUP BY i"),
	't', 'columns that rows on disk lack have their default');
sql('ALTER TABLE people ALTER COLUMN c DROP DEFAULT, ALTER COLUMN c TYPE int[] USING ARRAY[1, 2]');
is($session->ask("SELECT race_count(race_build('l2(dims=1, rows=8, range=8) * match(dims=2)', p)) FROM people p"), '100', 'a column of another type');

# One place that meets products and single kernels: a type that is a row and has a cast
sql(<<'END');
CREATE TYPE vec AS (a real[], b text[]);
CREATE FUNCTION vec_to_real(vec, int, boolean) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ($1).a';
CREATE CAST (vec AS real[]) WITH FUNCTION vec_to_real(vec, int, boolean) AS IMPLICIT;
END
is(sql(<<'END'), '1|1|1|1|1', 'a row, or by its cast a vector, in turn');
SELECT string_agg(race_kernel(p, v, v)::text, '|') FROM (SELECT ROW(ARRAY[3, 4], '{a}')::vec AS v OFFSET 0) w,
	unnest('{l2(dims=2) * match(dims=1),l2(dims=2),l2 * jaccard,angular,l1(dims=2) * match(dims=1)}'::race_params[]) p
END

# ---------------------------------------------------------------- extremes

is(sql(<<'END'), '1|1|0', 'texts of 7 MB and of nothing');
SELECT race_kernel('match', ARRAY[t, ''], ARRAY[t, '']), race_kernel('jaccard', ARRAY[t, ''], ARRAY['', t, t]), race_kernel('match', ARRAY[t], ARRAY[t || 'x'])
FROM (SELECT repeat('Zyzzyva', 1000000) AS t OFFSET 0) v
END
fails("SELECT race_kernel('match', ARRAY[t, t], ARRAY[t]) FROM (SELECT repeat('Zyz' || 'zyva', 100000) AS t OFFSET 0) v",
	'22023', "$no_row 2 categories, found 1", 'a long text is not shown');
is(sql(<<'END'), '1|0|f', 'the empty text is an element');
SELECT race_kernel('jaccard', ARRAY[''], ARRAY['', '']), race_kernel('jaccard', ARRAY[''], '{}'::text[]),
	race_add(s, ARRAY[''])::text = race_add(s, '{}'::text[])::text FROM race_sketch('jaccard(rows=8)'::race_params) s;
END
is(sql(<<'END'), 't|1', 'sets of a million elements');
SELECT race_add(s, a)::text = race_add(s, b)::text, race_kernel('jaccard', a, b)
FROM (SELECT array_agg(i) AS a, array_agg(1000001 - i) || array_agg(i) AS b FROM generate_series(1, 1000000) i OFFSET 0) v,
	race_sketch('jaccard(rows=64, range=64)'::race_params) s
END

done_testing();
