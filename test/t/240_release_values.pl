# Releases with a value: how records are split, that both sketches of a label share what
# a unit may have, that they are made and copied together, and who may ask them.
#
# False alarms: below 1e-12 a run of this file: 7 sums of 10,000 and more draws within
# 8 standard errors, 1e-14 each by the normal distribution; that 100 of such sums are the
# same, or 40 noises all 0, is less likely.
use strict;
use warnings;
use lib 'test/t';
use List::Util qw(sum);
use RaceServer;
use Test::More;

use constant {
	RECORDS => 10_000,
	MAX_Z => 8,
};
my $params = 'l2(dims=1, rows=16, range=16)';
my $value = "value => 'y', value_lower => 10, value_upper => 20";
my @shares = (0, 0.1, 0.5, 0.9, 1);

sql(<<"END");
CREATE TABLE visits AS SELECT i AS id, i % @{[scalar @shares]} AS kind, i % 100 AS hundredth, ARRAY[i % 10]::float8[] AS x,
	10 + 10 * ('{@{[join ',', @shares]}}'::float8[])[1 + i % @{[scalar @shares]}] AS y
FROM generate_series(1, @{[RECORDS * @shares]}) i;
CALL race_protect('visits', 'visits', 100000000);
END

# Counts of both sketches of each label, at an epsilon that is next to no noise
sub halves {
	my ($name) = @_;
	my @counts = split /,/, sql("SELECT string_agg(race_count(sketch)::text, ',' ORDER BY part) FROM _racepriv.race_releases r"
		  . " WHERE name = '$name' AND version = (SELECT max(version) FROM _racepriv.race_releases WHERE name = r.name)");
	return map { [@counts[2 * $_, 2 * $_ + 1]] } 0 .. $#counts / 2;
}

sub release {
	my ($name, $dataset, $more) = @_;
	return "CALL race_release_sketch('$name', '$dataset', '$params', 'x', 1000000, $value" . ($more // '') . ')';
}

# ----------------------------------------------------------------- splitting

sql(release('kinds', 'visits', ", label => 'kind', labels => '{0,1,2,3,4}'"));
my @kinds = halves('kinds');
for my $kind (0 .. $#shares) {
	my ($p, $lower, $upper) = ($shares[$kind], @{ $kinds[$kind] });
	is($lower + $upper, RECORDS, "a share of $p: one of both sketches counts each record");
	cmp_ok(abs($upper - RECORDS * $p), '<=', MAX_Z * sqrt(RECORDS * $p * (1 - $p)), 'and as often in the upper one as it should be');
}

# Each release draws anew who is counted where, and nobody's seed decides how.
my $hundred = ", label => 'hundredth', labels => '{" . join(',', 0 .. 99) . "}'";
my @drawn = map {
	my $call = $_;
	sql("SELECT setseed(0.5);\n$call");
	join ' ', map { $_->[1] } halves('hundred')
} release('hundred', 'visits', $hundred), ("CALL race_release_next('hundred')") x 2;
isnt($drawn[0], $drawn[$_], 'a version draws anew, also with the same seed') for 1, 2;
isnt($drawn[1], $drawn[2], 'each of them');

# --------------------------------------------------------------------- units

sql(<<"END");
CREATE TABLE people AS SELECT i % 5000 AS person, ARRAY[i % 10]::float8[] AS x, 15::float8 AS y FROM generate_series(0, 49999) i;
INSERT INTO people SELECT i % 5000, '{1}', 'NaN' FROM generate_series(0, 499999) i;
INSERT INTO people SELECT i % 5000, '{1}', NULL FROM generate_series(0, 49999) i;
ANALYZE people;
CALL race_protect('people', 'people', 100000000, 0, 'person', 2);
END
sql(release('people', 'people'));
my ($people) = halves('people');
is(sum(@$people), 10_000, 'both sketches together have as many records of each unit as it may have, good ones');
cmp_ok(abs($people->[1] - 5000), '<=', MAX_Z * sqrt(10_000) / 2, 'drawn for each by itself');

# --------------------------------------------------------- what shows of data

# All values at one bound: the other sketch is empty, and gets noise like any other.
sql("CREATE TABLE low AS SELECT id, hundredth, x, 10::float8 AS y FROM visits");
sql("CALL race_protect('low', 'low', 1000)");
sql("CALL race_release_sketch('low', 'low', '$params', 'x', 1, rows => 16, $value, label => 'id % 20', labels => '{" . join(',', 0 .. 19) . "}')");
my @low = halves('low');
is(scalar @low, 20, 'there are both sketches of each label');
isnt(join('', map { $_->[1] } @low), '0' x 20, 'empty ones have noise');
cmp_ok(abs(sum(map { $_->[1] } @low)), '<', 20 * 28 * MAX_Z, 'and no records');
is(sql("SELECT count(DISTINCT (i.rows, i.range, i.mechanism, i.epsilon, i.status)) FROM _racepriv.race_releases, race_info(sketch) i WHERE name = 'low'"), 1,
	'what else they say is as public');
is(sql("SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = 'low'"), 1, 'both cost what one costs');

# -------------------------------------------------------------------- rights

sql(<<"END");
CREATE ROLE value_curator;
CREATE ROLE value_analyst;
CALL race_grant('value_curator', 'curator');
CALL race_grant('value_analyst', 'analyst');
GRANT SELECT (id, x) ON low TO value_curator;
END
my $as_curator = "SET ROLE value_curator;\n";
like(sql_fails($as_curator . release('secret', 'low')), qr/42501: permission denied for table low/, 'who may not read the value may not release it');
sql('GRANT SELECT (y) ON low TO value_curator');
sql("$as_curator CALL race_release_sketch('allowed', 'low', '$params', 'x', 1, $value)");
my $ask = "SELECT array_agg(round(m.mean::numeric, 9) ORDER BY i), array_agg(round(m.upper::numeric, 9) ORDER BY i) FROM generate_series(0, 9) i,"
	. " race_released_mean('kinds', ARRAY[i], (i % 5)::text) m";
is(sql("SET ROLE value_analyst;\n$ask"), sql($ask), 'an analyst asks by the name of a release');
like(sql_fails("SET ROLE value_analyst;\n" . release('mine', 'low')), qr/42501/, 'and makes none');

# Whoever may create functions beside ours cannot have them called with the records.
sql(<<"END");
CREATE FUNCTION own_step(race_value_sketches, race_params, float8[], float8, float8, float8) RETURNS race_value_sketches LANGUAGE sql AS 'SELECT \$1';
CREATE AGGREGATE race_build_value(race_params, float8[], float8, float8, float8) (SFUNC = own_step, STYPE = race_value_sketches);
END
like(sql_fails(release('impostor', 'low')), qr/55000: function race_build_value\(.*\) stands in for one of racepriv/, 'an impostor is refused');
sql('DROP AGGREGATE race_build_value(race_params, float8[], float8, float8, float8)');

# -------------------------------------------------------------------- copies

my $here = $ENV{PGDATABASE};
my $answers = sql($ask);
for my $copy ("${here}_dump", "${here}_analysts") {
	run('', 'createdb', $copy);
	run('', 'sh', '-c', $copy =~ /dump/ ? "pg_dump $here | psql -Xq -v ON_ERROR_STOP=1 $copy" :
		"psql -Xq -c 'CREATE EXTENSION racepriv_release CASCADE' $copy && psql -Xq -c '\\copy _racepriv.race_releases TO STDOUT' $here | psql -Xq -c '\\copy _racepriv.race_releases FROM STDIN' $copy");
	local $ENV{PGDATABASE} = $copy;
	is(sql($ask), $answers, "$copy answers alike");
	next if $copy !~ /dump/;
	like(sql_fails("CALL race_release_next('kinds')"), qr/55000/, 'a restored dump refuses a new version');
	sql("CALL race_budget_adopt('visits')");
	sql("CALL race_release_next('kinds')");
	is(sql("SELECT string_agg(value_bound::text, ' ' ORDER BY part) FROM _racepriv.race_releases WHERE name = 'kinds' AND version = 2"), join(' ', (10, 20) x 5),
		'and makes it, with the same bounds, when it is adopted');
	is(sql("SELECT count(DISTINCT request - 'version') FROM _racepriv.race_charges WHERE request->>'name' = 'kinds'"), 1, 'by the same request');
}
for my $copy ("${here}_dump", "${here}_analysts") {
	run('', 'dropdb', $copy);
}
sql("DROP OWNED BY $_; DROP ROLE $_") for qw(value_curator value_analyst);

done_testing();
