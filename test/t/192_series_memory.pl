# Memory of race_release_next of a series does not depend on how many values it makes, nor on how many units they have, nor on how
# long the texts of units are.  What is measured is the peak of a backend of its own (VmHWM).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceCluster;
use Test::More;

use constant {
	UNITS => 6_000,
	MOST => 16_000,				# kB: four times work_mem
};

my $cluster = RaceCluster->new(jit => 'off', wal_level => 'minimal', max_wal_senders => 0);
$cluster->sql('CREATE EXTENSION racepriv_release CASCADE');

# A series of so many values, each with a record of all units, whose texts are so long; a label may tell which half a unit is in
sub make_series {
	my ($name, $values, $length, $arguments) = @_;
	my $until = sprintf '2026-01-01 00:%02d:%02d', int($values / 60), $values % 60;
	$cluster->sql(<<"END");
CREATE TABLE $name (person text NOT NULL, at timestamp NOT NULL, x int NOT NULL CHECK (x BETWEEN 0 AND 9));
INSERT INTO $name SELECT lpad(i::text, $length, 'u'), timestamp '2026-01-01' + v * interval '1 second', i % 10
FROM generate_series(0, $values - 1) v, generate_series(1, @{[UNITS]}) i;
CREATE INDEX ON $name (at);
CALL race_protect('$name', epsilon_limit => 1e9, unit_column => 'person', max_contributions => 100);
CALL race_release('$name', '$name', '{x}', 1e5,
	series => '{"by": "at", "every": "1 second", "starting": "2026-01-01", "until": "$until", "lengths": 1}');
END
	return;
}

# The peak of a backend, in kB, that runs these statements
sub peak {
	my ($statements) = @_;
	my $session = $cluster->session;
	my $backend = $session->ask('SELECT pg_backend_pid()');
	my $told = $session->ask($statements);
	open my $status, '<', "/proc/$backend/status" or die "status: $!";
	my ($peak) = map { /^VmHWM:\s+(\d+) kB/ } <$status>;
	return wantarray ? ($peak, $told) : $peak;
}

sub records {
	my ($name) = @_;
	return $cluster->sql("SELECT count(*), round(min(race_count(sketch))), round(max(race_count(sketch))) FROM _racepriv.race_releases WHERE name = '$name'");
}

make_series('few', 2, 36);
make_series('many', 24, 36);
make_series('long', 4, 2000);
my $few = peak("CALL race_release_next('few')");
my $many = peak("CALL race_release_next('many')");
my $long = peak("CALL race_release_next('long')");
is(records('few'), '2|' . UNITS . '|' . UNITS, 'all records of two values');
is(records('many'), '24|' . UNITS . '|' . UNITS, 'and of 24 values');
is(records('long'), '4|' . UNITS . '|' . UNITS, 'and where units have long texts');
is($cluster->sql('SELECT name, count(*), min(records), max(records) FROM _racepriv.race_series_units WHERE length > 0 GROUP BY 1 ORDER BY 1'),
	'few|' . UNITS . "|2|2\nlong|" . UNITS . "|4|4\nmany|" . UNITS . '|24|24', 'the ledger has each unit once');
cmp_ok($many - $few, '<', MOST, "22 values more take no more memory ($few, $many kB)");
cmp_ok($long - $few, '<', MOST, "long texts take no more memory ($long kB)");
my ($collected) = peak("SELECT cardinality(array_agg(person)) FROM long");
cmp_ok($collected - $few, '>', MOST, "control: who collects them takes more ($collected kB)");

# ------------------------------------------------- other loops of this kind

# A series without a unit column, of many values
$cluster->sql(<<'END');
CREATE TABLE points AS SELECT timestamp '2026-01-01' + i % 120 * interval '1 second' AS at, i % 10 AS x FROM generate_series(1, 1200) i;
ALTER TABLE points ADD CHECK (x BETWEEN 0 AND 9), ALTER x SET NOT NULL, ALTER at SET NOT NULL;
CALL race_protect('points', epsilon_limit => 1e9);
CALL race_release('points', 'points', '{x}', 1e5, series => '{"by": "at", "every": "1 second", "starting": "2026-01-01", "until": "2026-01-01 00:02", "lengths": 1}');
CALL race_release('fewer', 'points', '{x}', 1e5, series => '{"by": "at", "every": "1 second", "starting": "2026-01-01", "until": "2026-01-01 00:00:05", "lengths": 1}');
END
my $fewer = peak("CALL race_release_next('fewer')");
my $points = peak("CALL race_release_next('points')");
cmp_ok($points - $fewer, '<', MOST / 4, "120 values take as much as 5 ($fewer, $points kB)");

# Versions of a release in one session, without the models that it caches
$cluster->sql("CALL race_release('versions', 'points', '{x}', 1)");
my ($once, $often) = map { scalar peak(join ";\n", 'SET racepriv.cache_size = 0', ("CALL race_release_next('versions')") x $_) } 5, 25;
cmp_ok($often - $once, '<', MOST / 4, "25 versions take as much as 5 ($once, $often kB)");

# ----------------------------------------------------------------- the hash

is($cluster->sql(<<'END'), 't', 'a unit is half of SHA-256 of the series and of SHA-256 of the text');
SELECT uuid_send(_racepriv._race_series_unit('00000000-0000-0000-0000-0000000000ff', 'ada'))
	= substring(sha256(decode('000000000000000000000000000000ff', 'hex') || sha256('ada')) FOR 16)
END
isnt($cluster->sql("SELECT _racepriv._race_series_unit('00000000-0000-0000-0000-000000000001', 'ada')"),
	$cluster->sql("SELECT _racepriv._race_series_unit('00000000-0000-0000-0000-000000000002', 'ada')"), 'another one in another series');
like($cluster->sql_fails("SELECT _racepriv._race_series_take('00000000-0000-0000-0000-000000000001')"), qr/55000: only a value of a series/,
	'nothing else takes units');
like($cluster->sql_fails(<<'END'), qr/55000: only a value of a series/, 'nor a transition table of that name');
CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM _racepriv._race_series_take(md5(x::text)::uuid) FROM race_taken_units;
	RETURN NULL;
END $$;
CREATE TRIGGER take AFTER INSERT ON points REFERENCING NEW TABLE AS race_taken_units FOR EACH STATEMENT EXECUTE FUNCTION take();
INSERT INTO points VALUES ('2027-01-01', 1);
END
done_testing();
