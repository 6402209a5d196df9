# The floors of src/, in object files: the core refers to nothing above it, releases to nothing of
# answers, and answers to no function of the core but those that core.h declares.  Within a floor, files refer to each
# other in no circle of more than so many.
use strict;
use warnings;
use Test::More;

# Functions and variables by the object file that defines them, and what each file refers to
my (%floor, %object, %refers);
for my $object (glob 'src/*/*.o') {
	my ($floor) = $object =~ m{^src/(\w+)/};
	open my $nm, '-|', 'nm', $object or die "nm: $!\n";
	while (<$nm>) {
		my ($kind, $name) = /([A-Za-z]) (\w+)$/ or next;
		($floor{$name}, $object{$name}) = ($floor, $object) if $kind =~ /[TDBRC]/;
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

# Circles in a graph, {node => {node => 1}}: nodes that lead to each other, as "a b c"
sub circles {
	my ($graph) = @_;
	my %leads;
	for my $node (keys %$graph) {
		my @next = $node;
		while (defined(my $from = pop @next)) {
			push @next, grep { !$leads{$node}{$_}++ } keys %{$graph->{$from} // {}};
		}
	}
	my %circle;
	for my $node (keys %leads) {
		my @members = grep { $leads{$node}{$_} && $leads{$_}{$node} } sort keys %leads;
		$circle{"@members"} = @members if @members > 1;
	}
	return sort keys %circle;
}

# The circles of object files of a floor that have more files than the limit
sub large_circles {
	my ($floor, $limit) = @_;
	my %graph;
	for my $from (grep { m{^src/$floor/} } keys %refers) {
		$graph{$from}{$_} = 1 for grep { $_ ne $from && m{^src/$floor/} } map { $object{$_} // '' } @{$refers{$from}};
	}
	return grep { split(/ /) > $limit } circles(\%graph);
}

# Files of the largest circle that a floor may have
my %largest = (release => 2);
is(join("\n", large_circles($_, $largest{$_})), '', "no circle of more than $largest{$_} files is in $_") for sort keys %largest;
is(join('; ', circles({a => {b => 1}, b => {c => 1}, c => {a => 1, d => 1}, d => {e => 1}, e => {d => 1}, f => {a => 1}})), 'a b c; d e',
	'control: circles are found');
is(join('; ', circles({a => {b => 1, c => 1}, b => {c => 1}})), '', 'control: two ways to a file are no circle');

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
