# The floors of src/, in object files: the core refers to nothing above it, releases to nothing of
# answers, and answers to no function of the core but those that core.h declares.
use strict;
use warnings;
use Test::More;

# Functions and variables by the object file that defines them, and what each file refers to
my (%floor, %refers);
for my $object (glob 'src/core/*.o src/release/*.o src/answers/*.o') {
	my ($floor) = $object =~ m{^src/(\w+)/};
	open my $nm, '-|', 'nm', $object or die "nm: $!\n";
	while (<$nm>) {
		my ($kind, $name) = /([A-Za-z]) (\w+)$/ or next;
		$floor{$name} = $floor if $kind =~ /[TDBRC]/;
		push @{$refers{$object}}, $name if $kind eq 'U';
	}
	close $nm or die "nm $object\n";
}

sub text {
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	return scalar readline $in;
}

# What core.h declares, through the headers that it includes, and those that these do
my (%declared, %seen);
my @headers = ('core.h');
while (defined(my $header = shift @headers)) {
	next if $seen{$header}++;
	next unless -f "src/core/$header";
	my $text = text("src/core/$header");
	push @headers, $text =~ /#include "(\w+\.h)"/g;
	$declared{$_} = 1 for $text =~ /\b(race_\w+)/g;
}

# References of a floor to another one that are not among those allowed
sub strays {
	my ($from, $to, $allowed) = @_;
	my @strays;
	for my $object (grep { m{^src/$from/} } sort keys %refers) {
		push @strays, "$object: $_" for grep { ($floor{$_} // '') eq $to && !$allowed->{$_} } sort @{$refers{$object}};
	}
	return join "\n", @strays;
}

cmp_ok(scalar keys %refers, '>', 50, 'there are object files');
is(strays('core', 'release', {}), '', 'the core refers to nothing of releases');
is(strays('core', 'answers', {}), '', 'the core refers to nothing of answers');
is(strays('release', 'answers', {}), '', 'releases refer to nothing of answers');
is(strays('answers', 'core', \%declared), '', 'answers refer to what core.h declares');
isnt(strays('answers', 'core', {}), '', 'control: they do refer to the core');
my @included = map { my $file = $_; map { "$file: $_" } grep { $_ ne 'core.h' } text($file) =~ m{#include "\.\./core/(\w+\.h)"}g } glob 'src/answers/*.[ch]';
is("@included", '', 'answers include one header of the core');

# ---------------------------------------------------------------------- SQL

# SQL has floors, too: a part names only what is declared on its own floor or below.  Answers by name are above the others.
my @sql_floors = qw(privacy hash sketch choice release answers answers/named);
my %height = map { $sql_floors[$_] => $_ } 0 .. $#sql_floors;
my $string = qr/E'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'/s;

# A text of SQL, bodies of functions included, without comments and strings
sub bare_sql {
	my ($text) = @_;
	return $text =~ s{--[^\n]*|$string}{''}gr;
}

sub declared_in {
	my ($sql) = @_;
	return $sql =~ /\bCREATE (?:FUNCTION|PROCEDURE|AGGREGATE|TYPE|TABLE|VIEW) (?:_racepriv\.|\@extschema\@\.)?(\w+)/g;
}

# Names that parts, each with its floor, take from a floor above; the lowest declaration of a name counts
sub upward {
	my %parts = @_;
	my (%lowest, @found);
	for my $part (keys %parts) {
		my ($floor, $sql) = @{$parts{$part}};
		for (declared_in($sql)) {
			$lowest{$_} = $floor unless defined $lowest{$_} && $lowest{$_} <= $floor;
		}
	}
	for my $part (sort keys %parts) {
		my ($floor, $sql) = @{$parts{$part}};
		my %named = map { $_ => 1 } $sql =~ /\b(_?race_\w+)/g;
		push @found, "$part: $_" for grep { ($lowest{$_} // -1) > $floor } sort keys %named;
	}
	return join "\n", @found;
}

my %parts = map { m{^src/(.*)/\w+\.sql$} ? ($_ => [$height{$1} // die("$_: no floor\n"), bare_sql(text($_))]) : () } glob 'src/*/*.sql src/*/*/*.sql';
cmp_ok(scalar(map { declared_in($_->[1]) } values %parts), '>', 200, 'SQL declares functions, types and tables');
is(upward(%parts), '', 'SQL names what is declared on its floor or below');
is(upward(%parts, 'src/release/more.sql' => [$height{release}, bare_sql("SELECT _racepriv._race_z(0.95), race_catalog.count, 'race_label' -- race_curve\n")]),
	"src/release/more.sql: _race_z\nsrc/release/more.sql: race_catalog", 'control: a release that asks answers');

# Comments name files that there are
my %file = map { m{([^/]+)$} ? ($1 => 1) : () } glob 'src/*.c src/*/*.[ch] test/unit/*.[ch]';
sub unknown_files {
	my ($text) = @_;
	return grep { !$file{$_} } map { /(?<![\w\/"<])([a-z_0-9]+\.[ch])\b/g } $text =~ m{(/\*.*?\*/)}gs;
}
# of PostgreSQL
$file{$_} = 1 for qw(postgres.h proc.h);
is(join(' ', map { my $name = $_; map { "$name: $_" } unknown_files(text($name)) } glob 'src/*.c src/*/*.[ch]'), '', 'comments name files that exist');
is(join(' ', unknown_files('/* see nothing.c */')), 'nothing.c', 'control: another name');
done_testing();
