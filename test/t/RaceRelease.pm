# Releases of small exact sketches, taken apart for audits.
package RaceRelease;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(sum);

use RaceServer;
use Test::More;

use constant COUNT => 0;			# where decode() puts the record count
use constant SHARE => 1;			# a status: ids of shares lie before the counters

our @EXPORT = qw(COUNT @table protect_persons pairs make_pair decode releases label_sketches make_sketch changed_cells
	count_noise counter_noise with_noise bias_z);

# Neighboring tables D and D' that are as far apart as they may be, with their
# sensitivity, in a row, in L1 and squared in L2, and the cells that differ
our @table = (1, 2, 2, 3, 5, 8);

sub pairs {
	return (
		{name => 'one row', rows => 1, sensitivity => 1, squared => 1, cells => 1,
			records => [@table, 40], call => ''},
		{name => 'two rows', rows => 2, sensitivity => 1, squared => 1, cells => 2,
			records => [@table, 40], call => ''},
		{name => 'three records of a person', rows => 2, sensitivity => 3, squared => 9,
			cells => 2, records => [@table, 40, 40, 40], call => ', max_contributions => 3'},
		# the last record becomes another: the counters move as far as they may
		{name => 'a record substituted', rows => 2, sensitivity => 2, squared => 2,
			cells => 4, records => [@table[0 .. $#table - 1], 40],
			call => q(, neighbors => 'substitute')});
}

# Datasets of persons who have so many joined rows each, of whom max_contributions lets in few:
# `bounded` knows persons, `unbounded` does not.  As many others have no rows.
sub protect_persons {
	my ($persons, $rows, $bound) = @_;
	my $all = 2 * $persons;
	sql(<<"END");
CREATE TABLE people AS SELECT i AS id FROM generate_series(1, $all) i;
CREATE TABLE visits AS
SELECT id AS person, 40 AS x FROM people, generate_series(1, $rows) WHERE id <= $persons;
CREATE VIEW joined AS SELECT id, x FROM people JOIN visits ON person = id;
CREATE TABLE unbounded AS SELECT * FROM joined;
CALL race_protect('bounded', 'joined', 1000000, 0, 'id', $bound);
CALL race_protect('unbounded', 'unbounded', 1000000, 0, NULL, $bound);
END
	return;
}

# Make the exact sketches of a pair, and see where they differ.
sub make_pair {
	my ($pair) = @_;
	$pair->{less} = make_sketch("$pair->{name} less", $pair->{rows}, @table);
	$pair->{more} = make_sketch("$pair->{name} more", $pair->{rows}, @{$pair->{records}});
	my @cells = changed_cells($pair->{less}, $pair->{more});
	is(scalar @cells, $pair->{cells}, "$pair->{name}: D and D' differ where they should");
	$pair->{cells} = \@cells;
	return;
}

# The wire format (src/sketch/sketch_format.c) as [count, counters ...]
sub decode {
	my ($hex) = @_;
	my $bytes = pack 'H*', $hex;
	my %counter = (1 => 'c', 2 => 's<', 4 => 'l<', 8 => 'q<');
	my ($width, $status, $half, $releases, $arrays) = unpack 'x C C x2 C x6 V x104 V', $bytes;
	my $skip = 120 + $arrays + ($half ? 8 : 0) + ($status == SHARE ? 8 * $releases : 0);
	return [unpack "x16 q< x$skip ($counter{$width})*", substr $bytes, 0, -4];
}

# n releases of the exact sketch of that name
sub releases {
	my ($exact, $arguments, $n) = @_;
	return map { decode($_) } split /\n/, sql(<<"END");
SELECT encode(_race_sketch_send(race_privatize(sketch, $arguments)), 'hex')
FROM exact, generate_series(1, $n) WHERE name = '$exact'
END
}

# So many calls of race_release_sketch with these arguments, after a name, and of labels whose first half are persons: the
# sketches of labels with nobody, and of those with a person
sub label_sketches {
	my ($name, $calls, $persons, $arguments, $first) = @_;
	$first //= 1;
	my $all = join ',', $first .. $first + 2 * $persons - 1;
	sql(<<"END");
DO \$\$
BEGIN
	FOR i IN 1 .. $calls LOOP
		CALL race_release_sketch('$name ' || i, $arguments, labels => '{$all}');
	END LOOP;
END \$\$
END
	return map {
		[map { decode($_) } split /\n/, sql(<<"END")]
SELECT encode(_race_sketch_send(sketch), 'hex') FROM _racepriv.race_releases
WHERE name LIKE '$name %' AND label::int $_ @{[$first + $persons]} ORDER BY released_at, part
END
	} '>=', '<';
}

# A sketch of records that are numbers, in the table `exact`
sub make_sketch {
	my ($name, $rows, @records) = @_;
	my $list = join ',', @records;
	sql(<<"END");
INSERT INTO exact
SELECT '$name', race_build(race_params('l2', 1, rows => $rows, range => 8), ARRAY[x])
FROM unnest('{$list}'::int[]) x
END
	return decode(sql(<<"END"));
SELECT encode(_race_sketch_send(sketch), 'hex') FROM exact WHERE name = '$name'
END
}

# Where two sketches differ, the count aside
sub changed_cells {
	my ($one, $other) = @_;
	return grep { $one->[$_] != $other->[$_] } 1 .. $#$one;
}

sub count_noise {
	my ($exact, $releases) = @_;
	return map { $_->[COUNT] - $exact->[COUNT] } @$releases;
}

sub counter_noise {
	my ($exact, $releases) = @_;
	return map {
		my $release = $_;
		map { $release->[$_] - $exact->[$_] } 1 .. $#$exact
	} @$releases;
}

# A sketch with noise that is given as a list: what a mutant would release
sub with_noise {
	my ($exact, @noise) = @_;
	return [map { $exact->[$_] + $noise[$_] } 0 .. $#$exact];
}

# The mean of noise of that standard deviation, in standard errors
sub bias_z {
	my ($deviation, @noise) = @_;
	return sum(@noise) / sqrt(@noise) / $deviation;
}

1;
