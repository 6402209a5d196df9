# What a series counts by is compared with what it was when the series was made, each time it is used: a person whose text became
# another would be counted again.  A change is refused with 55000 before anything is read; what changes no unit is not refused,
# and what is put back goes on.
use strict;
use warnings;
use lib 'test/t';
use Test::More;

use RaceServer;

sql(<<'END');
CREATE COLLATION blurred (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FUNCTION called(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION of_sql(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE DOMAIN holder AS int CHECK (called(VALUE) > 0);
END

my $days = '{"by": "at", "every": "1 day", "starting": "2026-01-01", "until": "2026-01-09"}';
my $table = 'person int, at timestamptz NOT NULL, x int NOT NULL CHECK (x BETWEEN 0 AND 9), other int';
my $n = 0;

# A series of what some statements make, asked for its values after a change, after it was undone, and again: in $t for a name
sub changes {
	my ($what, $make, $change, $undo, $refused, $unit) = @_;
	my $t = 'people' . ++$n;
	s/\$t/$t/g for $make, $change, $undo // ();
	sql("$make; INSERT INTO ${t}_base (person, at, x) SELECT i, '2026-01-01 12:00+00', i % 10 FROM generate_series(1, 100) i; CALL race_protect('$t', '$t', 1e6"
		. ($unit // ", unit_column => 'person', max_contributions => 1") . ')');
	sql("CALL race_release('$t', '$t', '{x}', 1e5, series => '$days')");
	sql($change);
	my $values = "SELECT count(*) FROM _racepriv.race_releases WHERE name = '$t'";
	if ($refused) {
		like(sql_fails("CALL race_release_next('$t')"), qr/ERROR:  55000: what series "$t" counts by has changed\nDETAIL:  .*$refused.*Nothing was read\.\nHINT:  Put it back/,
			"$what: refused");
		is(sql($values), 0, "$what: no value is made");
		return unless defined $undo;
		sql($undo);
	}
	sql("CALL race_release_next('$t')");
	is(sql($values), 8, $refused ? "$what: put back, it goes on" : "$what: goes on");
	is(sql("SELECT sum(records) FROM _racepriv.race_series_units WHERE name = '$t' AND length = 1"), 100, "$what: each person is counted once") unless defined $unit;
	return;
}

my $plain = "CREATE TABLE \$t_base ($table); CREATE VIEW \$t AS TABLE \$t_base";
my $itself = "CREATE TABLE \$t ($table); CREATE VIEW \$t_base AS TABLE \$t";
my $alter = 'DROP VIEW $t_base; ALTER TABLE $t ALTER person TYPE';
# a base that is written to under this name
my $again = '; CREATE VIEW $t_base AS TABLE $t';

# types
changes('int to numeric', $itself, "$alter numeric(10,2)$again", "$alter int$again", qr/type of column "person" was integer, and is numeric\(10,2\) now/);
changes('int to text', $itself, "$alter text USING '0' || person$again", "$alter int USING person::int$again", qr/was integer, and is text now/);
changes('a column under a cast', 'CREATE TABLE $t_base (' . ($table =~ s/int/numeric/r) . '); CREATE VIEW $t AS SELECT person::text AS person, at, x FROM $t_base',
	'DROP VIEW $t; ALTER TABLE $t_base ALTER person TYPE numeric(10,2); CREATE VIEW $t AS SELECT person::text AS person, at, x FROM $t_base', undef, qr/numeric/);
changes('a collation that equals other texts', 'CREATE TABLE $t (' . ($table =~ s/int/text/r) . '); CREATE VIEW $t_base AS TABLE $t', "$alter text COLLATE blurred$again", "$alter text COLLATE \"default\"$again",
	qr/collation of column "person" was "?default"?, and is (public\.)?blurred now/);

# columns
changes('a column under the name of another', $plain,
	'ALTER TABLE $t_base RENAME person TO was; ALTER TABLE $t_base RENAME other TO person; CREATE OR REPLACE VIEW $t AS SELECT person, at, x, was AS other FROM $t_base',
	'CREATE OR REPLACE VIEW $t AS SELECT was AS person, at, x, person AS other FROM $t_base', qr/from .*_base\.person, and is from another column of this name now/);
changes('names of a table that are swapped', $itself, 'ALTER TABLE $t RENAME person TO was; ALTER TABLE $t RENAME other TO person', 'ALTER TABLE $t RENAME person TO other; ALTER TABLE $t RENAME was TO person',
	qr/another column of this name/);
changes('names of a view that are swapped', $plain, 'ALTER VIEW $t RENAME person TO was; ALTER VIEW $t RENAME other TO person', 'ALTER VIEW $t RENAME person TO other; ALTER VIEW $t RENAME was TO person', qr/from .*_base\.other now/);
changes('a table of the same names', $plain, "ALTER TABLE \$t_base RENAME TO \$t_old; CREATE TABLE \$t_base ($table); CALL race_protect('\$t_new', '\$t_base', 1e6); CREATE OR REPLACE VIEW \$t AS TABLE \$t_old",
	undef, undef);
changes('a table that is renamed', $plain, 'ALTER TABLE $t_base RENAME TO $t_renamed; CREATE VIEW $t_base AS TABLE $t_renamed', undef, undef);
changes('another column that changes', $plain, 'DROP VIEW $t; ALTER TABLE $t_base ALTER other TYPE text; CREATE VIEW $t AS TABLE $t_base', undef, undef);
changes('a view between', $plain, 'CREATE VIEW $t_between AS SELECT person AS whose, at, x, other FROM $t_base; CREATE OR REPLACE VIEW $t AS SELECT whose AS person, at, x, other FROM $t_between WHERE x >= 0', undef, undef);
changes('a generated column', "CREATE TABLE \$t_base ($table, who int GENERATED ALWAYS AS (called(person)) STORED); CREATE VIEW \$t AS SELECT who AS person, at, x FROM \$t_base",
	'DROP VIEW $t; ALTER TABLE $t_base DROP who, ADD who int GENERATED ALWAYS AS (person + 1000) STORED; CREATE VIEW $t AS SELECT who AS person, at, x FROM $t_base', undef, qr/called|another column/);

# expressions
changes('an expression', 'CREATE TABLE $t_base (' . $table . '); CREATE VIEW $t AS SELECT person, at, x FROM $t_base', 'CREATE OR REPLACE VIEW $t AS SELECT person + 1000000 AS person, at, x FROM $t_base',
	'CREATE OR REPLACE VIEW $t AS SELECT person, at, x FROM $t_base', qr/expression of column "person" was \$1, and is \(\$1 \+ 1000000\) now/);
changes('an expression in a subquery', "CREATE TABLE \$t_base ($table); CREATE VIEW \$t AS SELECT s.p AS person, at, x FROM (SELECT person + 0 AS p, at, x FROM \$t_base) s",
	'CREATE OR REPLACE VIEW $t AS SELECT s.p AS person, at, x FROM (SELECT person + 7 AS p, at, x FROM $t_base) s', 'CREATE OR REPLACE VIEW $t AS SELECT person + 0 AS person, at, x FROM $t_base',
	qr/\(\$1 \+ 0\), and is \(\$1 \+ 7\) now/);

# functions
for my $case (['plpgsql', 'called', 'plpgsql AS \'BEGIN RETURN $1 + 1000; END\'', 'plpgsql AS \'BEGIN RETURN $1; END\''], ['sql', 'of_sql', 'sql AS \'SELECT $1 + 1000\'', 'sql AS \'SELECT $1\'']) {
	my ($language, $f, $new, $old) = @$case;
	my $define = "CREATE OR REPLACE FUNCTION $f(int) RETURNS int IMMUTABLE LANGUAGE";
	changes("a function in $language", "CREATE TABLE \$t_base ($table); CREATE VIEW \$t AS SELECT $f(person) AS person, at, x FROM \$t_base", "$define $new", "$define $old", qr/Function public\.$f\(integer\) was defined anew/);
}
changes('the check of a SQL domain', "CREATE TABLE \$t_base ($table); CREATE VIEW \$t AS SELECT CASE WHEN person > 0 THEN person::holder END::int AS person, at, x FROM \$t_base",
	'CREATE OR REPLACE FUNCTION called(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS \'BEGIN RETURN $1 + 1; END\'', 'CREATE OR REPLACE FUNCTION called(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS \'BEGIN RETURN $1; END\'',
	qr/Function public\.called\(integer\) was defined anew/);

# the time: where each row is a unit, it must stay in its interval
changes('a type of the time', $itself, 'DROP VIEW $t_base; ALTER TABLE $t ALTER at TYPE date' . $again, 'DROP VIEW $t_base; ALTER TABLE $t ALTER at TYPE timestamptz USING at + interval \'12 hours\'' . $again, qr/type was timestamp with time zone, and is date now/);
my $utc = "at AT TIME ZONE 'UTC'";
my $timed = "CREATE TABLE \$t_base ($table); CREATE VIEW \$t AS SELECT person, $utc AS at, x FROM \$t_base";
my $later = "CREATE OR REPLACE VIEW \$t AS SELECT person, ($utc) + interval '1 day' AS at, x FROM \$t_base";
changes('the time of rows that are units', $timed, $later, "CREATE OR REPLACE VIEW \$t AS SELECT person, $utc AS at, x FROM \$t_base", qr/expression of column "at"/, '');
changes('the time of rows of persons', $timed, $later, undef, undef);
done_testing();
