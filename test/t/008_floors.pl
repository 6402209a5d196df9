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

# What no other object file refers to is static, but what SQL or a unit test calls
my (%defined, %called);
for my $object (glob 'src/*.o src/*/*.o') {
	open my $nm, '-|', 'nm', $object or die "nm: $!\n";
	while (<$nm>) {
		my ($kind, $name) = /([A-Za-z]) (\w+)$/ or next;
		$defined{$name} = $object if $kind =~ /[TDBRC]/;
		$called{$name} = 1 if $kind eq 'U';
	}
	close $nm or die "nm $object\n";
}
sub lone {
	my ($tests) = @_;
	return map { "$defined{$_}: $_" } grep {
		$defined{$_} =~ m{^src/(?!release)\w+/} && !$called{$_} && !/^pg_finfo_/ && !$defined{"pg_finfo_$_"} && $tests !~ /\b$_\b/
	} sort keys %defined;
}
is(join("\n", lone(join '', map { text($_) } glob 'test/unit/*.[ch]')), '', 'what one file uses is static');
ok((grep { /: race_rows_key$/ } lone('')), 'control: not what unit tests alone call');

# Comments name files, functions and headlines that there are
my %file = map { m{([^/]+)$} ? ($1 => 1) : () } glob 'src/*.c src/*/*.[ch] test/unit/*.[ch]';
sub unknown_files {
	my ($text) = @_;
	return grep { !$file{$_} } map { /(?<![\w\/"<])([a-z_0-9]+\.[ch])\b/g } $text =~ m{(/\*.*?\*/)}gs;
}
# of PostgreSQL
$file{$_} = 1 for qw(postgres.h proc.h);
is(join(' ', map { my $name = $_; map { "$name: $_" } unknown_files(text($name)) } glob 'src/*.c src/*/*.[ch]'), '', 'comments name files that exist');
is(join(' ', unknown_files('/* see nothing.c */')), 'nothing.c', 'control: another name');

my @code = glob 'src/*.[ch] src/*/*.[ch] test/unit/*.[ch] test/modules/*.c test/fuzz/*.[ch]';
my %name = map { $_ => 1 } qw(numeric_in);    # of PostgreSQL
for my $file (@code) {
	$name{$_} = 1 for text($file) =~ s{/\*.*?\*/}{}gsr =~ /\b(\w+)\b/g;
}
for my $file (glob 'src/*.sql src/*/*.sql') {
	$name{$_} = 1 for text($file) =~ s/--.*//gr =~ /\b(_?race_\w+)\b/g;
}
sub unknown_names {
	my ($text) = @_;
	return grep { !$name{$_} } map { /\b(_?race_\w+)\b/g, /\b(\w+)\(\)/g } $text =~ m{(/\*.*?\*/)}gs;
}
is(join(' ', map { my $file = $_; map { "$file: $_" } unknown_names(text($file)) } @code), '', 'comments name functions that exist');
is(join(' ', unknown_names('/* race_nothing and vanished() */')), 'race_nothing vanished', 'control: others');

# Pages, and the headlines in quotation marks behind them
my @documents = glob '*.md doc/*.md doc/*/*.md test/*/*.md demo/*/*/*.md';
my %page = map { m{([^/]+)$} ? ($1 => text($_)) : () } @documents;
sub unknown_pages {
	my ($text) = @_;
	my @unknown;
	while ($text =~ /\b([\w-]+\.md)\b(?:[`)]*, "([^"\n]+)")?/g) {
		push @unknown, $1 unless defined $page{$1};
		push @unknown, "$1, $2" if defined $page{$1} && defined $2 && $page{$1} !~ /^(?:#+ |\*\*)\Q$2\E/m;
	}
	return @unknown;
}
my @naming = grep { !m{^test/t/008_floors} } @documents, @code, glob 'src/*.sql src/*/*.sql test/t/*.p[lm] test/bench/*.py test/bench/run test/bench/*/*.py sql/*.sql';
is(join(' ', map { my $file = $_; map { "$file: $_" } unknown_pages(text($file) =~ s/\brelation\.md\b//gr) } @naming), '', 'pages and headlines that are named are there');
is(join(' ', unknown_pages('nothing.md and CONTRIBUTING.md, "Nothing"')), 'nothing.md CONTRIBUTING.md, Nothing', 'control: others');
done_testing();
