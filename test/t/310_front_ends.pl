# Every routine that answers, at the ends of each of its arguments, on five releases.  The values are looked at, too: by what
# holds whatever the noise is, and where epsilon leaves no noise, by what they are.
use strict;
use warnings;
use lib 'test/t';
use FrontDoor;
use RaceServer;
use Test::More;

make_releases(\&sql);

# No routine, and no argument of one, is left out.
my ($of_tables, $of_sketches, $calls, $makers) = front_routines();
my %maker = map { $_ => 1 } @$makers;
for (split /\n/, sql(q(SELECT p.proname, p.oid::regprocedure, l.lanname, (SELECT string_agg(a, ',') FROM unnest(p.proargnames[:p.pronargs]) a)
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e' JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = 'public'::regnamespace ORDER BY 2))) {
	my ($name, $signature, $language, $arguments) = split /\|/;
	if ($language eq 'racepriv' || $signature =~ /^race_released\(/) {
		my %asked = (%{$of_tables->{$name} // {}}, map { $_ => 1 } qw(release name));
		my @missing = grep { !$asked{$_} } split /,/, $arguments // '';
		is("@missing", '', "$signature: all arguments are asked at their ends");
		ok($of_tables->{$name}, "$signature: is asked");
	} elsif ($signature =~ /^(race_fit|race_params|race_classify|race_posterior)\(/ ? !$maker{$name} || $calls->{$signature} : !$maker{$name}) {
		ok($calls->{$signature}, "$signature: is asked");
	}
}

ask_all(\&sql);
sql('DO $f$ DECLARE c record; a record; BEGIN FOR c IN SELECT * FROM cases LOOP SELECT * INTO a FROM answer(c.call); UPDATE cases SET state = a.state, message = a.message, rows = a.rows WHERE n = c.n; COMMIT; END LOOP; END $f$');
sql(mistakes());
my %found;
push @{$found{(split /\|/)[0]}}, $_ for split /\n/, sql('SELECT * FROM mistakes ORDER BY 1, 2');
is(join("\n", splice @{$found{$_} // []}, 0, 20), '', "no answer has $_") for 'an error, or none', 'a number that is not finite', 'a value outside of its interval', 'a share outside of 0 to 1', 'a correlation outside of -1 to 1',
	'a negative number of records', 'a negative density', 'quantiles that are not one for each p', 'quantiles that do not ascend', 'a value beyond the bounds of its column', 'several numbers of records of a release';

# What answers are, where there is no noise
my %is = (
	q(SELECT round((race_count('mixed', '{"n": 5.5}')).count)) => 0, q(SELECT round((race_count('mixed', '{"n": 5}')).count)) => 300,
	q(SELECT round((race_count('mixed', '{"n": [0, 9]}')).count)) => 2700, q(SELECT round((race_count('mixed', '{"n": [0, 10]}')).count)) => 3000, q(SELECT round((race_count('mixed', '{"n": [9, null]}')).count)) => 300,
	q(SELECT round((race_count('mixed', '{"n": [0.5, 8.5]}')).count)) => 2400, q(SELECT round((race_count('mixed', '{"day": ["2026-01-01", "2026-12-31"]}')).count)) => 2992,
	q(SELECT round((race_count('mixed', '{"f": [0, 10]}')).count)) => 3000, q(SELECT count <= 1e-6 AND lower = 0 AND upper >= 29 FROM race_count('mixed', '{"f": [10, null]}')) => 't',
	q(SELECT round((race_count('mixed', '{"n": [3, null], "1": [null, 4]}')).count)) => 300,
	q(SELECT round((race_count('none')).count)) => 0, q(SELECT round((race_count('single')).count)) => 1,
	q(SELECT round((race_count('flat', '{"z": [0, 0.5]}')).count)) => 1000, q(SELECT round((race_count('flat', '{"z": [0.5, 1]}')).count)) => 0, q(SELECT round((race_count('flat', '{"z": [-1, 0]}')).count)) => 0,
	q(SELECT value || ' ' || round(count) || coalesce(' ' || density, '') FROM race_histogram('flat', 'z', bins => 3)) => '0 1000',
	q(SELECT string_agg(value::text, ',') FROM race_quantiles('flat', 'z', '{0,0.5,1}')) => '0,0,0', q(SELECT mean || ' ' || lower || ' ' || upper FROM race_mean('flat', 'z')) => '0 0 0',
	q(SELECT string_agg(value::text, ',') FROM race_quantiles('mixed', p => '{0,0.5,1}')) => '0,4,9', q(SELECT string_agg(text, ',') FROM race_quantiles('single', 'day', '{0,1}')) => '2026-01-02,2026-01-02',
	q(SELECT value FROM race_histogram('wide', 'late') ORDER BY low DESC LIMIT 1) => '[5850000-12-31,infinity)', q(SELECT count(*) FROM race_classify('mixed', 'day', '{"town": "Rome"}') c WHERE value < '2026-12-32') => 365,
	q(SELECT abs(mean) < 1e307 AND lower > -8e307 FROM race_mean('wide', 'e')) => 't', q(SELECT count(DISTINCT value) > 10 FROM race_histogram('many', 'f')) => 't',
	q(SELECT abs(sum(density * 16) * 1e306 * 1e307 - 1) < 2 FROM race_heatmap('wide', 'e', 'e2', 10)) => 't',
);
is(eval { sql($_) } // $@, $is{$_}, $_) for sort keys %is;
for my $release ('mixed', 'single', 'flat', 'wide', 'many') {
	is(sql("SELECT count(*) FROM race_catalog c, unnest(c.columns) n, LATERAL (SELECT sum(h.count) AS sum FROM race_histogram('$release', n) h) h WHERE c.name = '$release' AND abs(h.sum - c.count) > 1"), $release eq 'mixed' ? 1 : 0, "$release: histograms add up to all records (of mixed, one has NULL)");
}

done_testing();
