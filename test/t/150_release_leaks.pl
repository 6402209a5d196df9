# Nothing of a record gets out beside the release: not by errors, notices or the
# server's log at its default settings, nor by when something was stored.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use Test::More;

# `hush` and 31337 are the secrets of one record.
my $secret = qr/hush|31337/i;
my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->sql(<<'END');
CREATE EXTENSION racepriv_release CASCADE;
CREATE TABLE visits (id int, note text, amount numeric, x float8[]);
INSERT INTO visits SELECT i, CASE WHEN i = 31337 THEN 'hush{' ELSE (i % 10)::text END, CASE WHEN i = 31337 THEN 31337e100 ELSE i % 10 END, ARRAY[i % 10]
FROM generate_series(31000, 33000) i;
ALTER TABLE visits SET (parallel_workers = 2);
ANALYZE visits;
CREATE VIEW by_unit AS SELECT CASE WHEN id > 0 THEN note::int END AS unit, x FROM visits;
CREATE VIEW by_condition AS SELECT id, x FROM visits WHERE CASE WHEN id > 0 THEN note::int END >= 0;
CREATE VIEW by_cast AS SELECT id, note::int AS number, x FROM visits;
CREATE DOMAIN small AS numeric CHECK (VALUE < 100);
CREATE FUNCTION says(level text, value int) RETURNS float8 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
BEGIN
	CASE level
		WHEN 'debug' THEN RAISE DEBUG 'hush %', value;
		WHEN 'log' THEN RAISE LOG 'hush %', value;
		WHEN 'notice' THEN RAISE NOTICE 'hush %', value;
		WHEN 'warning' THEN RAISE WARNING 'hush %', value USING DETAIL = 'hush', HINT = 'hush';
		WHEN 'error' THEN RAISE EXCEPTION 'hush %', value USING DETAIL = 'hush', HINT = 'hush', COLUMN = 'hush', ERRCODE = '31337';
		WHEN 'assert' THEN ASSERT value <> 31337, 'hush ' || value;
		WHEN 'cancel' THEN RAISE query_canceled USING MESSAGE = 'hush ' || value;
		WHEN 'internal' THEN RAISE internal_error USING MESSAGE = 'hush ' || value;
	END CASE;
	RETURN value % 10;
END $$;
CREATE FUNCTION casts(value text) RETURNS float8 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN value::float8; END';
CALL race_protect('visits', 'visits', 100000000);
CALL race_protect('by_unit', 'by_unit', 100000000, 0, 'unit', 1);
CALL race_protect('by_condition', 'by_condition', 100000000);
CALL race_protect('by_cast', 'by_cast', 100000000);
END

# A session would like parallel workers, and would like to be told.
my $parallel = $cluster->sql('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
my $wishes = <<"END";
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SET $parallel = on;
END

# What statements tell the client, and what they add to the log
sub told_and_logged {
	my ($statements) = @_;
	return $cluster->told_and_logged("$wishes $statements");
}

# A release of an expression, at an epsilon that is next to no noise
sub release {
	my ($name, $dataset, $expression, $more) = @_;
	$expression =~ s/'/''/g;
	return "CALL race_release_sketch('$name', '$dataset', '$params', '$expression', 100000" . ($more // '') . ')';
}

my ($told, $logged) = told_and_logged('DO $$ BEGIN PERFORM FROM by_condition; EXCEPTION WHEN OTHERS THEN NULL; END $$');
like($logged, $secret, 'control: a parallel worker logs what it choked on, although its leader catches the error');
($told, $logged) = told_and_logged("SELECT race_build('$params', ARRAY[note::float8]) FROM visits");
like($_, $secret, 'control: without a release, client and log are told') for $told, $logged;

# ------------------------------------------------------- errors while it is read

# Each fails on one record.
my $failed = qr/\AERROR:  22000: the release failed while its data were read\nDETAIL:  What happened may depend on private data/;
for my $case (
	['a cast', 'visits', 'ARRAY[CASE WHEN id > 0 THEN note::float8 END]'],
	['a cast in a function', 'visits', 'ARRAY[casts(note)]'],
	['an overflow', 'visits', 'ARRAY[CASE WHEN id > 0 THEN amount::int8 END]'],
	['a domain', 'visits', 'ARRAY[CASE WHEN id > 0 THEN amount::small END::float8]'],
	['a division', 'visits', 'ARRAY[1 / (id - 31000 - 337)]'],
	['a pattern', 'visits', q{ARRAY[length(substring('1' from note || '('))]}],
	['an exception', 'visits', q{ARRAY[says('error', id)]}],
	['an assertion', 'visits', q{ARRAY[says('assert', id)]}],
	['an internal error', 'visits', q{ARRAY[says('internal', id)]}],
	['a label', 'visits', 'ARRAY[id % 10]', ", label => 'CASE WHEN id > 0 THEN note::int END', labels => '{0,1}'", 'CASE WHEN id > 0 THEN note::int END'],
	['a unit', 'by_unit', 'x', '', 'unit'],
	['a condition', 'by_condition', 'x']) {
	my ($name, $dataset, $expression, $more, $fails) = @$case;
	$fails //= $expression;
	unlike($cluster->sql_fails("SELECT $fails FROM $dataset"), qr/^no error/, "control, $name: it does fail");
	my ($told, $logged) = told_and_logged(release($name, $dataset, $expression, $more));
	like($told, $failed, "$name: fails, with nothing said");
	unlike($told, $secret, "$name: nor in context");
	unlike($logged, $secret, "$name: nor in the log");
	is($cluster->charges($name), 1, "$name: the charge stands");
}

# These do not fail, but speak of every record.
for my $level (qw(warning notice log debug)) {
	my ($told, $logged) = told_and_logged(release($level, 'visits', "ARRAY[says('$level', id)]"));
	is($told, 'no error: ', "$level: nothing is told");
	unlike($logged, $secret, "$level: nor logged");
	($told, $logged) = told_and_logged("SET client_min_messages = debug1; SELECT says('$level', id) FROM visits WHERE id = 31337");
	like("$told $logged", $secret, "control, $level: outside of a release it is");
}

# A cancellation tells that there was one, and no more.
my ($cancelled, $cancelled_log) = told_and_logged(release('cancel', 'visits', "ARRAY[says('cancel', id)]"));
like($cancelled, qr/\AERROR:  57014: the release failed while its data were read/, 'a cancellation is one');
unlike($_, $secret, 'and says nothing else') for $cancelled, $cancelled_log;

# What is wrong with an expression for any record is said, at no charge.
for my $expression ('ARRAY[nothing]', 'ARRAY[id, now()]', 'ARRAY[id]::float8[', 'note::nothing') {
	my $name = "wrong: $expression";
	like($cluster->sql_fails(release($name, 'visits', $expression)), qr/\AERROR:  (42|22023)/, "$expression is refused");
	is($cluster->charges($name), 0, "$expression is not charged");
}

# Nor is a cast charged that can fail on a row, unless a CASE guards it; what is not read does no harm.
for my $case (['visits', 'ARRAY[note::float8]'], ['visits', 'ARRAY[amount::int8]'], ['visits', 'ARRAY[amount::small::float8]'], ['visits', q{ARRAY[id, ('{"a": 1}'::jsonb -> note)::int]}],
	['visits', q{string_to_array(note, ',')::float8[]}], ['by_cast', 'ARRAY[number]']) {
	my $name = $case->[1] =~ s/'//gr;
	like($cluster->sql_fails(release($name, @$case)), qr/\AERROR:  22023: a cast from \S.* to .* can fail while rows of "$case->[0]" are read\n.*Nothing was read and nothing charged/s,
		"$case->[1] is refused");
	is($cluster->charges($name), 0, "$case->[1] is not charged");
}
is($cluster->sql(release('guarded', 'by_cast', q{ARRAY[id]})), '', 'a column of a view that is not asked for may have a cast');

# ------------------------------------------------------------------- bad records

# Ten good records, and all kinds of bad ones: they are left out alike, whatever
# the type, before the bound on contributions, with and without labels.
sub bad_records {
	my ($type, @bad) = @_;
	my $table = "bad $type";
	my $values = join ', ', map { "(1, 'a', " . (defined $_ ? "'$_'" : 'NULL') . "::$type)" } @bad;
	$cluster->sql(<<END);
CREATE TABLE "$table" (person int, label text, x $type);
INSERT INTO "$table" VALUES $values, (NULL, 'a', '{1}');
INSERT INTO "$table" SELECT (i + 1) / 2, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, ARRAY[i]::$type FROM generate_series(1, 10) i;
CALL race_protect('$table', '"$table"', 100000000);
CALL race_protect('$table by person', '"$table"', 100000000, 0, 'person', 2);
END
	for my $case ([$table, '11 6 5 0'], ["$table by person", '10 5 5 0']) {
		my ($dataset, $counts) = @$case;
		my ($told, $logged) = told_and_logged(release($dataset, $dataset, 'x')
			  . ';' . release("$dataset, labels", $dataset, 'x', ", label => 'label', labels => '{a,b,c}'"));
		is($told, 'no error: ', "$dataset: bad records are no errors");
		unlike($logged, qr/ERROR|WARNING|bad/, "$dataset: nor logged");
		is($cluster->sql("SELECT string_agg(race_count(sketch)::text, ' ' ORDER BY name, part) FROM _racepriv.race_releases WHERE dataset = '$dataset'"),
			$counts, "$dataset: they are left out");
	}
}

my @bad = ('{1,2}', '{}', '{{1}}', '{NULL}', undef);
bad_records('float8[]', @bad, '{NaN}', '{Infinity}', '{-Infinity}');
bad_records('real[]', @bad, '{NaN}', '{Infinity}');
bad_records('numeric[]', @bad, '{NaN}', '{1e1000}');
bad_records($_, @bad) for 'int[]', 'bigint[]', 'smallint[]';

# ---------------------------------------------------------------------- injection

# Names and texts that try to be something else
$cluster->sql(<<'END');
CREATE SCHEMA "s'; DROP TABLE visits; --";
CREATE TABLE "s'; DROP TABLE visits; --"."good"" kept" ("u""'; --" int, "x'y"")" float8[], label text, unit int, x float8[], nth int, "$1" int);
INSERT INTO "s'; DROP TABLE visits; --"."good"" kept" SELECT i % 5, ARRAY[i], 'l', 7, ARRAY[-i], 9, i FROM generate_series(1, 20) i;
CALL race_protect('d"''; --', '"s''; DROP TABLE visits; --"."good"" kept"', 100000000, 0, 'u"''; --', 3);
CALL race_release_sketch('n"''; --', 'd"''; --', 'l2(dims=2, rows=16, range=16)', '"x''y"")" || "$1"::float8', 100000,
	label => 'CASE WHEN unit = 7 THEN label || ''\"{},%s%I$1'' ELSE ''a'' END', labels => ARRAY['l\"{},%s%I$1', 'a', '"', $q$', '$q$]);
END
is($cluster->sql(q{SELECT string_agg(label || ' ' || race_count(sketch), ' ' ORDER BY part) FROM _racepriv.race_releases WHERE name = 'n"''; --'}),
	q{" 0 ', ' 0 a 0 l\"{},%s%I$1 15}, 'names that look like statements are names');
my $state = 'SELECT (SELECT count(*) FROM visits), (SELECT count(*) FROM _racepriv.race_charges), count(*) FROM _racepriv.race_releases';
my $before = $cluster->sql($state);
for my $expression ('x) FROM visits; DROP TABLE visits; --', 'x; DROP TABLE visits', q{x', 1); DROP TABLE visits; --}, 'x AS x, note', 'x FROM visits',
	'(SELECT x)', 'x) s UNION ALL SELECT (x', 'ARRAY[1]) OR (true', 'x /*', '$1', '$2', 'x INTO TEMP t', 'x ORDER BY 1', '*', 'visits.*', 'DISTINCT x',
	q{ARRAY[length(query_to_xml('DELETE FROM visits', true, true, '')::text)]}, q{ARRAY[nextval('s')]}, q{ARRAY[length(set_config('a.b', 'c', false))]})
{
	like($cluster->sql_fails(release('injected', 'visits', $expression)), qr/\AERROR:  (42|22023|0A000)/, "refused: $expression");
	my $label = $expression =~ s/'/''/gr;
	like($cluster->sql_fails(release('injected', 'visits', 'x', ", label => '$label', labels => '{a}'")),
		qr/\AERROR:  (42|22023|0A000)/, "refused as a label: $expression");
}
is($cluster->sql($state), $before, 'and nothing of it was done or charged');

# ---------------------------------------------------------------------- times

# What is stored says when the release was asked for, not when its read was done.
$cluster->sql(<<'END');
CREATE FUNCTION gate(value float8[]) RETURNS float8[] IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN value; END';
END
my $holder = $cluster->session;
$holder->ask('SELECT pg_advisory_lock(1)');
my $slow = $cluster->session->start(release('slow', 'visits', 'gate(x)'));
$cluster->wait_for_locks(1);
my $during = $cluster->sql('SELECT clock_timestamp()');
$holder->ask('SELECT pg_advisory_unlock(1)');
is($slow->finish, '', 'a release whose read takes long');
is($cluster->sql("SELECT released_at < '$during', released_at = charged_at FROM _racepriv.race_releases JOIN _racepriv.race_charges USING (charge) WHERE name = 'slow'"), 't|t',
	'has the time of its charge');

done_testing();
