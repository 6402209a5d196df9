# Upgrades: what packaging/make_upgrade makes of a made-up older version (test/upgrade/make_older) and this one, ALTER
# EXTENSION UPDATE turns into what CREATE EXTENSION makes, of racepriv and of racepriv_release.  Values, rights and views of users survive.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

my $older = '0.0.1';
my $catalog = do { local (@ARGV, $/) = "$FindBin::Bin/../upgrade/catalog.sql"; <> };

# Facts of the catalog of the extension
sub facts {
	return map { $_ => 1 } split /\n/, sql($catalog);
}

my %fresh = facts();
sql('DROP EXTENSION racepriv, racepriv_release');

# Facts that are not those of a new installation
sub differences {
	my %is = facts();
	return map { substr $_, 0, 300 } (map { "missing: $_" } grep { !$is{$_} } sort keys %fresh),
		map { "too much: $_" } grep { !$fresh{$_} } sort keys %is;
}

cmp_ok(scalar(keys %fresh), '>', 600, 'the catalog is looked at');

sql("CREATE EXTENSION $_ VERSION '$older'") for qw(racepriv racepriv_release);
cmp_ok(scalar(my @then = differences()), '>=', 10, 'control: the older version is another one');
sql(<<'END');
CREATE ROLE upgrade_analyst;
CREATE ROLE upgrade_curator;
CALL race_grant('upgrade_curator', 'curator');
GRANT EXECUTE ON FUNCTION race_kernel_sum(race_sketch, "any") TO upgrade_analyst WITH GRANT OPTION;
CREATE TABLE visits AS SELECT i AS person, i % 10 AS x FROM generate_series(1, 1000) i;
ALTER TABLE visits ALTER x SET NOT NULL, ADD CHECK (x BETWEEN 0 AND 9);
CREATE TABLE kept AS SELECT race_build('l2(dims=1, rows=16, range=16)', ARRAY[x]) AS s FROM visits;
CREATE VIEW densities AS SELECT race_kde(s, ARRAY[x]) FROM kept, generate_series(0, 9) x;
CREATE VIEW sums AS SELECT race_kernel_sum(s, ARRAY[5]) FROM kept;
CREATE TABLE before AS SELECT * FROM densities;
END

like(sql_fails('ALTER EXTENSION racepriv UPDATE'), qr/ERROR:  2BP01: .*view sums depends on function race_kernel_sum/s,
	'a view of a user on a function that gets another argument stops the update');
sql('DROP VIEW sums; ALTER EXTENSION racepriv UPDATE; ALTER EXTENSION racepriv_release UPDATE');
is(sql("SELECT string_agg(DISTINCT a.grantee::regrole || ' ' || p.proname || ' ' || a.is_grantable, ', ') FROM pg_proc p, aclexplode(p.proacl) a
	WHERE a.grantee IN ('upgrade_analyst'::regrole, 'upgrade_curator'::regrole) AND proname ~ '^race_(kernel_sum|release)\$'"),
	'upgrade_analyst race_kernel_sum true, upgrade_curator race_release false', 'the rights on functions survive');
is(sql('SELECT count(*) FROM (SELECT * FROM densities EXCEPT SELECT * FROM before) d'), 0, 'a view of a user has the same densities');
run("CALL race_protect('visits', epsilon_limit => 1e6);\nCALL race_release('visits 1', 'visits', '{x}', epsilon => 100)", qw(psql -XAtq -v ON_ERROR_STOP=1));
is(sql("SELECT round(count) FROM race_count('visits 1', '{\"x\": 3}')"), 100, 'releases can be made and asked');
is(sql('SELECT (race_registry()->\'deployments\') IS NOT NULL AND race_kernel_sum(s, ARRAY[5], 2) > 0 FROM kept'), 't', 'by what is new, too');

sql('DROP OWNED BY upgrade_analyst, upgrade_curator; DROP ROLE upgrade_analyst, upgrade_curator');
is(join("\n", differences()), '', 'what is updated is what is created anew');
sql('ALTER FUNCTION race_count(race_sketch) COST 7');
is(scalar(my @two = differences()), 2, 'control: another cost is noticed');

done_testing();
