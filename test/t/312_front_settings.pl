# No answer depends on a setting of the session: the bytes of all answers, under settings that change how PostgreSQL writes and
# reads texts, or how it plans; and no release depends on one.
use strict;
use warnings;
use lib 'test/t';
use FrontDoor;
use RaceServer;
use Test::More;

make_releases(\&sql);
ask_all(\&sql);
# of each routine all good ends that can have texts in them, of some releases; none that computes for long
sql(<<'END');
DELETE FROM cases WHERE wanted <> '' OR release NOT IN ('', 'mixed', 'times', 'flat', 'single', 'far', 'tenth', 'grid', 'labeled', 'valued', 'moments', 'loss') AND function <> 'race_heatmap'
	OR release = 'mixed' AND argument <> '' OR release ~ '^(wide|many)' OR call ~ '''listed' OR argument NOT IN ('', 'where', 'column', 'edges', 'p', 'records', 'by', 'query', 'label', 'target')
	OR call LIKE '%,NULL}%' OR call ~ '10000|500' OR function IN ('race_outliers', 'race_export') AND release IN ('mixed', 'times', '') OR function LIKE 'race_fit(%' OR function = 'race_synthesize' OR function LIKE 'race_sample%' AND call ~ 'NULL, NULL';
END
# what depends on settings where they are believed
sql(<<'END');
INSERT INTO cases (function, call) VALUES ('race_synthesize', 'race_synthesize(NULL::mixed, ''times'', 50, 1)'), ('race_synthesize', 'race_synthesize(NULL::wide, ''far'', 50, 1)');
INSERT INTO cases (function, call) SELECT 'texts', c FROM unnest(ARRAY[
	'race_count(''times'', ''{"at": "[2026-05-01,2026-05-02 12:00)"}'')', 'race_count(''times'', ''{"wait": "[-1 days 02:00,1 day)"}'')', 'race_histogram(''times'', ''at'', ''{2026-05-01 01:00,2026-05-02}''::text)',
	'race_histogram(''mixed'', ''day'', ''{2026-03-04,2026-05-06}''::text)', 'race_histogram(''times'', ''wait'', ''{-30:00,-1 day +01:00,02:00}''::text)', 'race_count(''mixed'', ''{"day": "[2026-03-04,2026-05-06)"}'')',
	'race_count(''times'', ''{"mood": "ok", "flag": true}'')', 'race_mean(''mixed'', ''f'', ''{town,NULL}''::text)', 'race_versions(''mixed'')', 'race_quantiles(''grid'')', 'race_fit(race_released(''grid''), 16, 1)',
	'race_count(''mixed[2026-01-01,)'')', 'race_outliers(''far'', ''{"early": "4000-01-01 BC"}''::jsonb)', 'race_quantiles(''far'', ''early'', ''{0,0.5,1}'')']) c;
END
my @default = split /\n/, sql(q(SELECT n, bytes(call) FROM cases ORDER BY n));
cmp_ok(scalar @default, '>', 300, 'there are many answers');
my %function = map { split /\|/, $_, 2 } split /\n/, sql(q(SELECT n, function FROM cases));
my %call = map { split /\|/, $_, 2 } split /\n/, sql(q(SELECT n, replace(call, E'\n', ' ') FROM cases));
my %answered = map { $function{(split /\|/)[0]} => 1 } grep { /\|[0-9a-f]{32}$/ } @default;
my ($of_tables, $of_sketches, $calls, $makers) = front_routines();
is(join(' ', grep { !$answered{$_} && !/^race_fit\(/ } sort keys %$of_tables, keys %$of_sketches, keys %$calls), '', 'every routine answers here');

# Answers that are other ones under a setting
sub others {
	my ($setting, $which) = @_;
	my %is = map { my ($n, $bytes) = split /\|/, $_, 2; $n => $bytes } @default;
	return map { my ($n, $bytes) = split /\|/, $_, 2; $bytes eq $is{$n} ? () : "$call{$n}: $bytes" } split /\n/, sql("SET $setting; SELECT n, bytes(call) FROM cases WHERE $which ORDER BY n");
}

# control: what PostgreSQL itself writes is another text
sql(q(INSERT INTO cases (function, call) VALUES ('control', '(SELECT concat(timestamptz ''2026-05-01 00:00Z'', 0.1::float8 + 0.2, interval ''1 day 2:00'', ''a''::bytea) AS text)')));
my $control = sql(q(SELECT n FROM cases WHERE function = 'control'));
my $control_is = sql(q(SELECT bytes(call) FROM cases WHERE function = 'control'));
push @default, "$control|$control_is";
$call{$control} = 'control';
is(scalar(others($_, "n = $control")), 1, "control: SET $_ changes what PostgreSQL writes") for 'DateStyle = "SQL, DMY"', 'IntervalStyle = iso_8601', 'extra_float_digits = -15', 'bytea_output = escape', 'TimeZone = "Asia/Kathmandu"';
sql(q(DELETE FROM cases WHERE function = 'control'));

# Settings of texts, several at once: all answers, under three sets of them.  Of a set that changes one, the setting is looked for.
my @of_texts = map { [split / \| /] } 'DateStyle = "SQL, DMY" | IntervalStyle = sql_standard | extra_float_digits = -15 | bytea_output = escape | TimeZone = "Asia/Kathmandu" | quote_all_identifiers = on | array_nulls = off',
	q(DateStyle = "German" | IntervalStyle = iso_8601 | search_path = pg_catalog, public | standard_conforming_strings = off | escape_string_warning = off | transform_null_equals = on | timezone_abbreviations = 'India'),
	'DateStyle = "Postgres, MDY" | extra_float_digits = 0 | backslash_quote = off | xmloption = document | lc_numeric = "C" | TimeZone = "America/St_Johns"';
# a call of each routine
my $of_each = 'n IN (SELECT min(n) FROM cases GROUP BY function)';

sub same_under {
	my ($which, @settings) = @_;
	my @other = others(join('; SET ', @settings), $which);
	is(join("\n", splice @other, 0, 10), '', 'SET ' . join(', ', @settings) . ': all answers are the same')
		or diag map { my @of_this = others($_, $which); @of_this ? "SET $_: $of_this[0]\n" : () } @settings;
	return;
}
same_under('true', @$_) for @of_texts;

# what PostgreSQL plans, and what PL/pgSQL believes
my $planner = join '; SET ', map { "enable_$_ = off" } qw(bitmapscan hashagg hashjoin indexscan material mergejoin nestloop seqscan sort);
my $parallel = sql('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
same_under($of_each, @$_) for ['row_security = off', 'default_transaction_read_only = on', 'default_transaction_isolation = serializable', 'plan_cache_mode = force_generic_plan', 'work_mem = "64kB"', $planner], ['jit = on; SET jit_above_cost = 0', "$parallel = on"],
	[q(work_mem = '4MB'; LOAD 'plpgsql'; SET plpgsql.variable_conflict = use_variable; SET plpgsql.extra_errors = 'all')];

# what a release is that is made under settings of texts
my $release = 0;
for my $settings (['work_mem = "4MB"'], @of_texts) {
	my $all = join '; SET ', @$settings;
	sql("SET $all; CALL race_release('under $release', 'mixed', '{n,f,price,day,at,wait,town,flag,mood}', 1e6); CALL race_release('far $release', 'wide', '{early,late,last,long,tiny}', 1e6)");
	is(sql("SELECT count(DISTINCT race_domains(sketch)), count(DISTINCT columns) FROM _racepriv.race_releases WHERE name IN ('under 0', 'under $release', 'far 0', 'far $release')"), '2|2',
		"SET $all: a release that is made so has the same columns, bounds and categories");
	$release++;
}

# the extension can be created where backslashes escape
run('', 'createdb', "$ENV{PGDATABASE}_other");
{
	local $ENV{PGDATABASE} = "$ENV{PGDATABASE}_other";
	local $ENV{PGOPTIONS} = '-c client_min_messages=warning -c standard_conforming_strings=off';
	is(eval { sql(q(CREATE EXTENSION racepriv_release CASCADE; SELECT count(*) > 50 FROM pg_proc WHERE pronamespace = '_racepriv'::regnamespace)) } // $@, 't', 'CREATE EXTENSION under standard_conforming_strings = off');
}
run('', 'dropdb', "$ENV{PGDATABASE}_other");

done_testing();
