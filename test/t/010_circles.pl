# Circles in object files: no floor has a circle of more than two files.  Two may need each other; of three, none can be
# read by itself.
use strict;
use warnings;
use Test::More;

# The edges of a floor: which object file refers to a function or variable that another one defines
sub edges {
	my ($floor) = @_;
	my (%defined_in, %refers, %edges);
	for my $object (glob "src/$floor/*.o") {
		open my $nm, '-|', 'nm', $object or die "nm: $!\n";
		while (<$nm>) {
			my ($kind, $name) = /([A-Za-z]) (\w+)$/ or next;
			$defined_in{$name} = $object if $kind =~ /[TDBRC]/;
			push @{$refers{$object}}, $name if $kind eq 'U';
		}
		close $nm or die "nm $object\n";
	}
	for my $object (keys %refers) {
		$edges{$object}{$_} = 1 for grep { $_ ne $object } map { $defined_in{$_} // () } @{$refers{$object}};
	}
	return \%edges;
}

# What can be reached from a file
sub reachable {
	my ($edges, $from) = @_;
	my %seen;
	my @next = keys %{$edges->{$from}};
	while (defined(my $file = shift @next)) {
		push @next, keys %{$edges->{$file}} unless $seen{$file}++;
	}
	return \%seen;
}

# Circles of more than two files, each as its files in order
sub circles {
	my ($edges) = @_;
	my %reached = map { $_ => reachable($edges, $_) } keys %$edges;
	my %circle;
	for my $file (keys %reached) {
		my @others = sort grep { $reached{$_} && $reached{$_}{$file} } keys %{$reached{$file}};
		$circle{join ' ', map { m{([^/]+)\.o$} } @others} = 1 if @others > 2;
	}
	return join "\n", sort keys %circle;
}

for my $floor (qw(hash sketch)) {
	my $edges = edges($floor);
	cmp_ok(scalar keys %$edges, '>', 10, "there are object files of $floor");
	is(circles($edges), '', "no circle of more than two files in $floor");
}
my %three = (map { ("$_->[0].o" => {"$_->[1].o" => 1}) } ['a', 'b'], ['b', 'c'], ['c', 'a']);
is(circles(\%three), 'a b c', 'control: a circle of three files');
done_testing();
