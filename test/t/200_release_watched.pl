# Those who watch a server see no exact value of a release: neither who decodes its
# changes, nor who collects statements or plans, nor who reads a log that is set to
# tell everything.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster;
use MIME::Base64;
use Test::More;

RaceCluster::need_contrib(qw(test_decoding pg_stat_statements auto_explain));
my $cluster = RaceCluster->new(wal_level => 'logical', log_line_prefix => '',
	shared_preload_libraries => 'pg_stat_statements,auto_explain', 'pg_stat_statements.track' => 'all',
	'auto_explain.log_min_duration' => -1,
	'auto_explain.log_analyze' => 'on', 'auto_explain.log_nested_statements' => 'on',
	'auto_explain.log_verbose' => 'on');
my $params = 'l2(dims=1, rows=16, range=16)';

# 100001 rows, 91733 of them records, with 70001 and 21732 of each label.  No other
# number that is logged is one of these; the table is never analyzed.  What is
# called for each row may be called a few times more.
my $count = qr/(?<![\d.])(?:10000[1-5]|91733|70001|21732)(?:\.00)?(?![\d.])/;
$cluster->sql(<<"END");
CREATE EXTENSION racepriv_release CASCADE;
CREATE EXTENSION pg_stat_statements;
CREATE TABLE visits AS SELECT CASE WHEN i < 70001 THEN 'often' ELSE 'hush' END AS note,
	CASE WHEN i < 91733 THEN ARRAY[i % 10] END AS x
FROM generate_series(0, 100000) i;
CALL race_protect('visits', 'visits', 1000000);
CREATE FUNCTION echo(value anyarray) RETURNS anyarray LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN (SELECT value FROM (VALUES (1)) v); END';
END

sub release {
	my ($name, $expression) = @_;
	return "CALL race_release_sketch('$name', 'visits', '$params', '" . ($expression // 'x')
		. "', 1, label => 'note', labels => '{often,hush}')";
}

# The counters of a sketch, as hex digits, as in its text, and as the bytes that plans are
# printed with, which are broken into lines anywhere
sub forms {
	my ($hex) = @_;
	my $counters = substr $hex, 2 * 144, -8;
	my $bytes = pack 'H*', $counters;
	my $text = encode_base64(substr($bytes, 0, 3 * int(length($bytes) / 3)), '');
	return ($counters, quotemeta $text, map { join '', unpack $_, $bytes } 'c*', 'C*');
}

my @exact = split /\n/, $cluster->sql("SELECT encode(_race_sketch_send(race_build('$params', x)), 'hex') FROM visits GROUP BY note");
my $exact_sketch = join '|', map { forms($_) } @exact;

# What of a text is secret.  Random digits may look like a count: those of private
# sketches and of charges are left out.
sub secrets {
	my ($text) = @_;
	my @sketches = $text =~ s/\s+//gr =~ /$exact_sketch/g;
	$text =~ s{[A-Za-z0-9+/]{100,}=*}{}g;
	$text =~ s/\\x[0-9a-f]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}//g;
	my @lines = grep { $_ =~ $count } split /\n/, $text;
	return join "\n", (map { 'an exact sketch: ' . substr $_, 0, 20 } @sketches), map { substr $_, 0, 200 } @lines;
}

# What statements add to the log
sub logged {
	my ($statements) = @_;
	my $before = length $cluster->log_text;
	$cluster->sql($statements);
	return substr $cluster->log_text, $before;
}

# ------------------------------------------------------------ logical decoding

# Changes, from a slot, of some statements
sub decoded {
	my ($statements) = @_;
	$cluster->sql("SELECT pg_create_logical_replication_slot('slot', 'test_decoding'); $statements");
	my $changes = $cluster->sql("SELECT data FROM pg_logical_slot_get_changes('slot', NULL, NULL)");
	$cluster->sql("SELECT pg_drop_replication_slot('slot')");
	return $changes;
}

my $changes = decoded(release('decoded'));
is(() = $changes =~ /^table _racepriv\.race_charges: INSERT/mg, 1, 'a charge is decoded');
is(() = $changes =~ /^table _racepriv\.race_releases: INSERT/mg, 2, 'and two private sketches');
is(secrets($changes), '', 'and nothing that is exact');
unlike($changes, qr/^table public\.visits/m, 'nor any record');
like(secrets(decoded("CREATE TABLE copy AS SELECT note, race_build('$params', x) AS exact FROM visits GROUP BY note")),
	qr/an exact sketch/, 'control: without a release an exact sketch would be seen');

# ------------------------------------------------------- settings of the log

# Settings that print, log or trace, with values that tell the most
my %most = (log_statement => 'all', log_error_verbosity => 'verbose', log_min_messages => 'debug5', log_min_error_statement => 'debug5',
	log_parameter_max_length => -1, log_parameter_max_length_on_error => -1, log_statement_sample_rate => 1, log_transaction_sample_rate => 1);
my $settings = join '', map { "SET $_->[0] = '" . ($most{$_->[0]} // $_->[1]) . "';\n" } map { [split /\|/] } split /\n/, $cluster->sql(<<"END");
SELECT name, CASE vartype WHEN 'bool' THEN 'on' WHEN 'enum' THEN enumvals[cardinality(enumvals)] ELSE least(greatest(min_val::float8, 0), max_val::float8)::text END
FROM pg_settings WHERE name ~ '^(debug|log|trace)_' AND context IN ('user', 'superuser')
	AND vartype <> 'string' AND name <> 'log_statement_stats'
ORDER BY name
END
like($settings, qr/debug_print_plan = 'on'/, 'control: the settings that there are');
my $told_all = logged($settings . release('logged'));
like($told_all, qr/CALL race_release_sketch\('logged'/, 'control: they are at work');
is(secrets($told_all), '', 'with every setting of the log at its most, nothing exact is logged');
my $ask_exact = "DO \$\$ DECLARE exact race_sketch; BEGIN SELECT race_build('$params', x) INTO exact FROM visits WHERE note = 'often'; PERFORM format('%s', ARRAY[exact]); END \$\$";
like(secrets(logged("SET debug_print_plan = on; $ask_exact")), qr/an exact sketch/, 'control: a plan of another statement tells an exact sketch');
like(secrets(logged("DO \$\$ BEGIN RAISE LOG '%', (SELECT count(*) FROM visits); END \$\$")), $count, 'control: a count in the log is seen');

# ---------------------------------------- auto_explain, pg_stat_statements, functions

# The function runs a statement for each row.
my $explain = 'SET auto_explain.log_min_duration = 0;';
for my $expression ('x', 'echo(x)') {
	my $explained = logged($explain . release("explained $expression", $expression));
	like($explained, qr/Query Text: .*race_/, "control, $expression: auto_explain is at work");
	is(secrets($explained), '', "$expression: auto_explain of all nested statements tells nothing exact");
}
like(secrets(logged("$explain $ask_exact")), $_, 'control: outside of a release it does') for qr/an exact sketch/, qr/rows=70001/;

# What statistics hold of statements: all but their texts
sub statistics {
	my ($statements) = @_;
	$cluster->sql('SELECT FROM pg_stat_statements_reset(), pg_stat_reset()');
	$cluster->sql("SET track_functions = 'all'; $statements");
	# a session sends its statistics when it ends
	$cluster->wait_until("SELECT count(*) > 0 FROM pg_stat_user_functions WHERE funcname ~ 'race_'");
	return map { $cluster->sql($_) } 'SELECT to_jsonb(s) FROM pg_stat_user_functions s', <<'END';
SELECT to_jsonb(s) - 'query' || jsonb_build_object('starts', left(query, 100)) FROM pg_stat_statements s
END
}

for my $expression ('x', 'echo(x)') {
	my ($functions, $executed) = statistics(release("collected $expression", $expression));
	like($executed, qr/CALL race_release_sketch/, "control, $expression: pg_stat_statements is at work");
	is(secrets($executed), '', "$expression: pg_stat_statements tells no count");
	is(() = $executed =~ /race_build/g, 0, "$expression: it does not know the query that reads");
	is(secrets($functions), '', "$expression: statistics of functions tell no count");
}
like(secrets($_), $count, 'control: outside of a release they do') for statistics("SELECT count(race_is_record('$params', echo(x))) FROM visits");

done_testing();
