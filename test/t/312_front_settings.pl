# No answer depends on a setting of the session: the bytes of all answers, under settings that change how PostgreSQL writes and
# reads texts, or how it plans.
use strict;
use warnings;
use lib 'test/t';
use FrontDoor;
use RaceServer;
use Test::More;

make_releases(\&sql);
ask_all(\&sql);
# one call of each routine, of each release and good value that can have texts in it
sql(q(DELETE FROM cases WHERE wanted <> '' OR function ~ 'race_fit' OR release NOT IN ('', 'times', 'flat', 'single', 'grid', 'labeled', 'moments')
	OR argument NOT IN ('', 'where', 'column', 'edges', 'p', 'records', 'by') OR call LIKE '%,NULL}%'));
# what depends on settings where they are believed
sql(<<'END');
INSERT INTO cases (function, call) SELECT 'texts', c FROM unnest(ARRAY[
	'race_count(''times'', ''{"at": ["2026-05-01", "2026-05-02 12:00"]}'')', 'race_count(''times'', ''{"wait": ["-1 days 02:00", "1 day"]}'')', 'race_histogram(''times'', ''at'', ''{2026-05-01 01:00Z,2026-05-02 00:00Z}''::timestamptz[])',
	'race_histogram(''times'', ''at'', ''{2026-05-01 01:00,2026-05-02}''::text)', 'race_histogram(''mixed'', ''day'', ''{2026-03-04,2026-05-06}''::date[])', 'race_histogram(''times'', ''wait'', ''{-30:00,-1 day +01:00,02:00}''::text)',
	'race_count(''mixed'', ''{"day": ["2026-03-04", "2026-05-06"]}'')', 'race_count(''times'', ''{"mood": "ok", "flag": true}'')', 'race_mean(''mixed'', ''f'', ''{town,NULL}''::text)', 'race_versions(''mixed'')', 'race_quantiles(''grid'')',
	'race_synthesize(NULL::mixed, ''times'', 50)', 'race_count(''mixed[2026-01-01,)'')', 'race_outliers(''times'', ''{"at": "2026-05-01 10:00", "wait": "-1 days 02:00"}''::jsonb)']) c;
END
my @default = split /\n/, sql(q(SELECT n, bytes(call) FROM cases ORDER BY n));
cmp_ok(scalar @default, '>', 200, 'there are many answers');
my %call = map { my ($n, $call) = split /\|/, $_, 2; $n => $call } split /\n/, sql(q(SELECT n, replace(call, E'\n', ' ') FROM cases));
my $planner = join ' ', map { "SET enable_$_ = off;" } qw(hashagg hashjoin indexscan material mergejoin nestloop seqscan sort);
for my $setting ('DateStyle = "SQL, DMY"', 'DateStyle = "German"', 'DateStyle = "Postgres, MDY"', 'IntervalStyle = sql_standard', 'IntervalStyle = iso_8601', 'extra_float_digits = -15', 'bytea_output = escape', 'TimeZone = "Asia/Kathmandu"', 'quote_all_identifiers = on',
	'search_path = pg_catalog, public', 'lc_numeric = "C"', 'standard_conforming_strings = off; SET escape_string_warning = off', 'backslash_quote = off', 'row_security = off', 'default_transaction_read_only = on', 'default_transaction_isolation = serializable', 'xmloption = document', 'array_nulls = off',
	'transform_null_equals = on', 'jit = on; SET jit_above_cost = 0', 'plan_cache_mode = force_generic_plan', 'work_mem = "64kB"', 'timezone_abbreviations = India', 'work_mem = "128kB"; LOAD \'plpgsql\'; SET plpgsql.variable_conflict = use_variable', 'work_mem = "256kB"; LOAD \'plpgsql\'; SET plpgsql.extra_errors = "all"',
	(sql('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on', 'enable_bitmapscan = off; ' . $planner =~ s/;$//r) {
	my @found = split /\n/, sql("SET $setting; SELECT n, bytes(call) FROM cases ORDER BY n");
	my @other = map { "$call{(split /\|/)[0]}: $_" } map { $found[$_] } grep { $found[$_] ne $default[$_] } 0 .. $#default;
	is(join("\n", splice @other, 0, 10), '', "SET $setting: all answers are the same");
}

done_testing();
