# The largest inputs: each function can be canceled while it works on one, texts that
# are parsed have a limit, and messages cut what they quote.
use strict;
use warnings;
use lib 'test/t';
use RaceServer;
use RaceSession;
use Test::More;

# ---------------------------------------------------------------- canceling

my $worker = RaceSession->new;
$worker->ask('SET max_parallel_workers_per_gather = 0; SET jit = off');

sub ends_soon {
	return $worker->ends_soon(@_);
}

# Sets: of distinct elements, and of 80 million equal ones; numbers with many digits
sql(<<'END');
CREATE TABLE distinct_set (a int[]);
CREATE TABLE long_set (a int2[]);
CREATE TABLE long_numbers (a numeric[]);
ALTER TABLE distinct_set ALTER a SET STORAGE EXTERNAL;
ALTER TABLE long_set ALTER a SET STORAGE EXTERNAL;
INSERT INTO distinct_set SELECT array_agg(i) FROM generate_series(1, 10000000) i;
INSERT INTO long_set SELECT array_fill(7::int2, ARRAY[80000000]);
INSERT INTO long_numbers SELECT array_fill((repeat('1', 100) || '.' || repeat('3', 15000))::numeric, ARRAY[1000]);
END

my $sets = q(race_sketch('jaccard(rows=64, range=16)'::race_params));
ends_soon($_, "SELECT race_kernel('jaccard', a, a) FROM distinct_set") for 1, 2.5, 5;
ends_soon(1.5, "SELECT race_kernel('jaccard', '{1}'::int[], a) FROM long_set");
ends_soon(1.5, "SELECT race_is_record(race_params($sets), a) FROM long_set");
ends_soon(1.5, "SELECT race_build(race_params($sets), a) FROM long_set");
ends_soon(1.5, "SELECT race_add($sets, a)::text FROM long_set");
# while it reads the elements, and when it sorts them; texts are made before they are hashed
my $sorting = "SELECT race_kde($sets, a) FROM long_set";
my $texts = "SELECT race_kernel('jaccard', a, a) FROM (SELECT ARRAY[repeat(repeat('x', 1000), 100000)] AS a OFFSET 0) v";
for my $query ($sorting, $texts) {
	my $all = $worker->units_of($query);
	ends_soon($_ * $all, $query) for 0.1, 0.7;
}
ends_soon(1.5, "SELECT race_classify(i, race_sketch('l2(dims=1000, rows=1, range=2)'::race_params), a, 'uniform') FROM long_numbers, generate_series(1, 100) i");
ends_soon(1.5, "SELECT count(*) FROM race_kde_grid(race_sketch('l2(dims=2)'::race_params), ARRAY[0, 0], ARRAY[1, 1], ARRAY[46340, 46340])");
sql(<<'END');
CREATE TABLE large AS SELECT race_build('l2(dims=3, bandwidth=1, sequence=grid, lower={0,0,0}, upper={30,30,30}, cells={112,112,112})', ARRAY[i, i, i]) AS s
FROM generate_series(1, 20) i GROUP BY i % 2;
END
ends_soon(0.5, 'SELECT race_distance(a.s, b.s) FROM large a, large b');
ends_soon(1.5, "SELECT race_count(race_privatize(race_sketch('l2(dims=1, rows=16384, range=2000)'::race_params), 1, rows => 16384))");

# of releases by columns with many categories
sql(<<'END');
CREATE TABLE towns (town text, size int NOT NULL CHECK (size BETWEEN 1 AND 3));
CALL race_protect('towns', 'towns', 10);
DO $$
DECLARE
	towns text[] := ARRAY(SELECT 'town ' || i FROM generate_series(1, 100000) i);
BEGIN
	CALL race_describe('towns', 'town', categories => towns);
END $$;
CALL race_release('towns', 'towns', '{town,size}', 1);
CREATE TABLE many AS SELECT jsonb_build_object('town', jsonb_agg('town ' || 100001 - i)) AS places FROM generate_series(1, 100000) i;
END
ends_soon(1.5, "SELECT race_count('towns', places) FROM many");
is(sql("SELECT count(*) FROM race_crosstab('towns', 'size', 'town')"), 3 * 100002, 'a cross table of many categories ends');

# ------------------------------------------------------------------- limits

# The error of a query without its place, or what it answered
sub answer_of {
	my ($query) = @_;
	my $answer = sql_fails($query);
	$answer =~ s/\n(LINE|LOCATION).*//s;
	$answer =~ s/^psql:\S+ //;
	return $answer;
}

my $limit = 16 * 1024 * 1024;
sub padded {
	my ($size) = @_;
	return "('l2(dims=1' || repeat(' ', $size - 10) || ')')";
}

like(answer_of("SELECT length(" . padded($limit) . "), (" . padded($limit) . "::race_params)::text"),
	qr/no error: $limit\|l2\(dims=1, /, 'parameters as long as they can be');
like(answer_of("SELECT " . padded($limit + 1) . "::race_params"),
	qr/ERROR:  54000: the text of race_params is too long\nDETAIL:  It can have at most $limit bytes/, 'longer ones');
like(answer_of("SELECT repeat(repeat(' ', 1000), 500000)::race_params"), qr/ERROR:  54000/, 'half a gigabyte of spaces');
like(answer_of("SELECT repeat(repeat('0', 1000), 700000)::race_sketch"),
	qr/ERROR:  54000: the text of race_sketch is too long/, 'a sketch that is longer than any can be');
like(answer_of(<<"END"), qr/ERROR:  54000: the text of an array is too long/, 'an array in a literal');
DO \$\$ BEGIN
	EXECUTE 'SELECT race_kernel(''l2'', ''{1}'', ''' || repeat(' ', $limit) || '{1}'')';
END \$\$
END
my $wide = 'array_fill(1::int2, ARRAY[16001])';
like(answer_of("SELECT race_kernel('l2', $wide, $wide)"),
	qr/ERROR:  22023: expected a vector of up to 16000 dimensions, found 16001/, 'a vector of parameters without dims');
my $posterior = q(SELECT race_posterior(i, s, ARRAY[1]) IS NOT NULL FROM (SELECT race_sketch('l2(dims=1, rows=1, range=2)'::race_params) AS s) v);
is(answer_of("$posterior, generate_series(1, 100000) i"), 'no error: t', '100,000 classes');
like(answer_of("$posterior, generate_series(1, 100001) i"), qr/ERROR:  54000: the posterior is too large/, 'and one more');
like(answer_of("$posterior, repeat('x', $limit + 1) i"), qr/ERROR:  54000: the posterior is too large/, 'a long label');

# ----------------------------------------------------------------- messages

# In each place where a message quotes a word, one of a megabyte
my $word = q(repeat('x', 1000000));
my $cut = 'x' x 64 . '...';
my $empty = q(race_sketch('l2(dims=1)'::race_params));
for my $case (
	["race_params($word)", "unknown kernel \"$cut\""],
	["race_params('l2', 1, sequence => $word)", "unknown row sequence \"$cut\""],
	["race_params('l2', 1, rehash => $word)", "unknown rehash \"$cut\""],
	["$word\::race_params", "unknown kernel \"$cut\""],
	["('l2(sequence=' || $word || ')')::race_params", "unknown row sequence \"$cut\""],
	["('l2(rows=' || $word || ')')::race_params", "\"$cut\" is not a value for rows"],
	["('l2(' || $word || '=1)')::race_params", "There is no parameter \"$cut\""],
	["race_privatize($empty, 1, neighbors => $word)", "unknown neighbors \"$cut\""],
	["race_classify(1, $empty, ARRAY[1], $word)", "unknown prior \"$cut\""],
	["race_posterior($word, $empty, ARRAY[1]) FROM generate_series(1, 2)", "label \"$cut\" stands for"],
	["race_params(repeat('é', 50))", 'unknown kernel "' . 'é' x 32 . '..."'],
	["race_params('x' || repeat('é', 50))", 'unknown kernel "x' . 'é' x 31 . '..."'],
	["race_params(repeat('x', 64))", 'unknown kernel "' . 'x' x 64 . '"']) {
	my ($expression, $message) = @$case;
	my $answer = answer_of("SELECT $expression");
	like(substr($answer, 0, 1000), qr/\Q$message\E/, $expression);
	cmp_ok(length $answer, '<', 1000, 'and no more');
}

done_testing();
