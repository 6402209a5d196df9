# Every routine that answers, at the ends of each of its arguments, on five releases.  The values are looked at, too: by what
# holds whatever the noise is, and where epsilon leaves no noise, by what they are.
use strict;
use warnings;
use lib 'test/t';
use FrontDoor;
use RaceServer;
use Test::More;

make_releases(\&sql);
make_listed_releases(\&sql);

# No routine, and no argument of one, is left out.
my ($of_tables, $of_sketches, $calls, $makers, $of_values) = front_routines();
my %maker = map { $_ => 1 } @$makers;
my %of_value = map { $_ => 1 } @$of_values;
for (split /\n/, sql(q(SELECT p.proname, p.oid::regprocedure, p.prosrc = 'race_answer', (SELECT string_agg(a, ',') FROM unnest(p.proargnames[:p.pronargs]) a)
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e' WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^race_' ORDER BY 2))) {
	my ($name, $signature, $by_name, $arguments) = split /\|/;
	if ($by_name eq 't' || $signature =~ /^race_released\(/) {
		my %asked = (%{$of_tables->{$name} // {}}, map { $_ => 1 } qw(release name));
		my @missing = grep { !$asked{$_} } split /,/, $arguments // '';
		is("@missing", '', "$signature: all arguments are asked at their ends");
		ok($of_tables->{$name}, "$signature: is asked");
	} elsif ($of_value{$name} && !$calls->{$signature} && $signature =~ /^\w+\((?:anyelement,)?race_sketch,(?!"any"|integer)/) {
		my %asked = (%{$of_tables->{$name}}, map { $_ => 1 } qw(sketch base));
		is(join(' ', grep { !$asked{$_} } split /,/, $arguments), '', "$signature: all arguments of a value are asked at their ends");
	} elsif ($signature =~ /^(race_fit|race_params|race_classify|race_posterior)\(/ ? !$maker{$name} || $calls->{$signature} : !$maker{$name}) {
		ok($calls->{$signature}, "$signature: is asked");
	}
}

ask_all(\&sql);
sql('DO $f$ DECLARE c record; a record; BEGIN FOR c IN SELECT * FROM cases LOOP SELECT * INTO a FROM answer(c.call); UPDATE cases SET state = a.state, message = a.message, rows = a.rows WHERE n = c.n; COMMIT; END LOOP; END $f$');
cmp_ok(sql('SELECT count(*) FROM cases'), '>', 5000, 'there are many calls');
sql('ANALYZE cases; ' . mistakes() . 'CALL find_mistakes()');
my %found;
push @{$found{(split /\|/)[0]}}, $_ for split /\n/, sql(q(SELECT what, left(call, 300), left(found, 300) FROM mistakes ORDER BY 1, 2));
is(join("\n", splice @{$found{$_} // []}, 0, 20), '', "no answer has $_") for kinds_of_mistakes();
make_mistakes(\&sql);
is(sql('SELECT DISTINCT what FROM mistakes ORDER BY 1'), join("\n", sort(kinds_of_mistakes())), 'control: each mistake is found where it is made');

# What answers are, where there is no noise
my %is = (
	# conditions: a single value, ranges without their ends, and at the bounds
	q(round(count) FROM race_count('mixed', '{"n": 5.5}')) => 0, q(round(count) FROM race_count('mixed', '{"n": 5}')) => 300, q~round(count) FROM race_count('mixed', '{"n": "[5.5,5.6)"}')~ => 0,
	q~round(count) FROM race_count('mixed', '{"n": "[0,9)"}')~ => 2700, q~round(count) FROM race_count('mixed', '{"n": "[0,10)"}')~ => 3000, q~round(count) FROM race_count('mixed', '{"n": "[9,)"}')~ => 300,
	q~round(count) FROM race_count('mixed', '{"n": "[0.5,8.5)"}')~ => 2400, q~round(count) FROM race_count('mixed', '{"n": "[3,)", "1": "(,4)"}')~ => 300,
	q~round(count) FROM race_count('mixed', '{"day": "[2026-01-01,2026-12-31)"}')~ => 2992, q~round(count) FROM race_count('mixed', '{"day": "[2026-01-01,infinity)"}')~ => 3000,
	q(round(count) FROM race_count('mixed', '{"town": "NULL"}')) => 1000, q~round(count) FROM race_count('mixed', '{"town": []}')~ => 0,
	q~round(count) FROM race_count('mixed', '{"f": "[0,10)"}')~ => 3000, q~count <= 1e-6, lower, upper >= 29 FROM race_count('mixed', '{"f": "[10,)"}')~ => 't|0|t',
	q(round(count) FROM race_count('none')) => 0, q(round(count) FROM race_count('single')) => 1,
	# sketches of many records, and of none: the density of a histogram sums up to one (of no model to none), its counts to race_count
	q(bool_and(density >= 0 AND lower >= 0), abs(sum(count) - sum(density) * 0.5 * (race_count('void dark')).count) < 1e-6 FROM race_histogram('void dark', '1')) => 't|t',
	q(abs(sum(density) * 0.5 - 1) < 1e-6, abs(sum(count) - 3000) < 1 FROM race_histogram('grid', '1')) => 't|t',
	# bounds that are equal
	q~round(count) FROM race_count('flat', '{"z": "[0,0.5)"}')~ => 1000, q~round(count) FROM race_count('flat', '{"z": "[0.5,1)"}')~ => 0, q~round(count) FROM race_count('flat', '{"z": "[-1,0)"}')~ => 0,
	q(value, round(count), density FROM race_histogram('flat', 'z', bins => 3)) => '0|1000|', q(string_agg(value::text, ',') FROM race_quantiles('flat', 'z', '{0,0.5,1}')) => '0,0,0', q(mean, lower, upper FROM race_mean('flat', 'z')) => '0|0|0',
	q(string_agg(text, ',') FROM race_quantiles('flat', 'd', '{0,0.5,1}')) => '2026-01-01,2026-01-01,2026-01-01', q(string_agg(text, ',') FROM race_quantiles('flat', 'w', '{0,1}')) => '1 days 00:00:00,1 days 00:00:00',
	# quantiles
	q(string_agg(value::text, ',') FROM race_quantiles('mixed', 'n', '{0,0.5,1}')) => '0,4,9', q(string_agg(text, ',') FROM race_quantiles('single', 'day', '{0,1}')) => '2026-01-02,2026-01-02',
	q(string_agg(text, ',') FROM race_quantiles('far', 'early', '{1}')) => '0047-12-31 BC',
	# as far out as there are numbers and dates
	q(value, round(sum(count) OVER ()) FROM race_histogram('wide', 'late') ORDER BY low DESC LIMIT 1) => '[5852000-01-01,infinity)|5000', q(value, round(count) FROM race_histogram('wide', 'late', '{5000000-01-01,infinity}'::date[])) => '[5000000-01-01,infinity)|5000',
	q(count(*) > 10, round(sum(probability)::numeric, 6) FROM race_classify('wide', 'late', '{}')) => 't|1.000000', q(abs(mean) < 1e307, lower > -8e307 FROM race_mean('wide', 'e')) => 't|t',
	q(bool_and(x1 BETWEEN -8e307 AND 8e307 AND x2 BETWEEN 0 AND 1e-300), sum(density) * (1.6e308 / 16) * (1e-300 / 16) BETWEEN 0.5 AND 2 FROM race_heatmap('wide', 'e', 'tiny', 16)) => 't|t',
	# a density that no double is small enough for is unknown, not 0
	q(count(*) FILTER (WHERE density IS NULL) BETWEEN 16 AND 46, min(density), max(density), count(*) BETWEEN 100 AND 256 FROM race_heatmap('wide', 'e', 'e2', 16)) => 't|0|0|t',
	q(count(DISTINCT value) > 10 FROM race_histogram('many', 'f')) => 't', q(count(*), round(sum(count)) FROM race_histogram('many', 'c') WHERE count >= 0.5) => '4095|5000',
	# what is synthesized obeys the checks of the types of its columns
	q(count(*), count(*) FILTER (WHERE price > 0), count(*) FILTER (WHERE tenth > 0 AND tenth < 0.1) FROM race_synthesize(NULL::mixed, 'tenth', 20000)) => '20000|20000|20000',
);
is(eval { sql("SELECT $_") } // $@, $is{$_}, $_) for sort keys %is;
for my $release ('mixed', 'single', 'flat', 'wide', 'many') {
	is(sql("SELECT string_agg(n, ',') FROM race_catalog c, unnest(c.columns) n, LATERAL (SELECT sum(h.count) AS sum FROM race_histogram('$release', n) h) h WHERE c.name = '$release' AND abs(h.sum - c.count) > 1"),
		$release eq 'mixed' ? 'm' : '', "$release: histograms add up to all records (without those that have NULL)");
}

# a cell that begins at 0, of a domain above it
sql(<<'END');
CREATE DOMAIN amount AS numeric(8,2) CHECK (VALUE > 0);
CREATE TABLE paid (a amount NOT NULL CHECK (a <= 10));
INSERT INTO paid SELECT 0.01 + i % 7 / 100.0 FROM generate_series(1, 500) i;
CALL race_protect('paid', epsilon_limit => 1e6, columns => '{"a": [0, 10]}');
DO $$ BEGIN FOR i IN 1 .. 20 LOOP CALL race_release('paid ' || i, 'paid', '{a}', 1); END LOOP; END $$;
END
is(sql(q(SELECT count(*), count(*) FILTER (WHERE a > 0) FROM generate_series(1, 20) i, LATERAL race_synthesize(NULL::paid, 'paid ' || i, 1000, i))), '20000|20000', 'a CHECK above 0 of a domain: 20 releases are synthesized, and all values obey it');

done_testing();
