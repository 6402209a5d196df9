#!/usr/bin/perl
# doc/reference.pl: prints doc/reference.md with all generated sections made anew, from
# the extension in the database that the environment names (PGDATABASE and others).
#
# A generated section stands between two markers:
#
#	<!-- function race_kde, function race_count -->
#	<!-- end -->
#
# and so does the table of all names, with the version that brought them, after <!-- index -->.
#
# It fails unless each public object has its place in one section, and each object and
# column has a comment.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use FindBin;
use JSON::PP;

sub read_all
{
	my ($handle) = @_;
	local $/ = undef;
	return scalar readline $handle;
}

open my $psql, '-|', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', "$FindBin::Bin/reference.sql" or die "psql: $!";
my %entries;
while (my $line = <$psql>)
{
	my $object = JSON::PP->new->decode($line);
	die "an object or a column has no comment: $object->{name}\n" if ($object->{entry} // ': .') =~ /: (\.|\n|\z)/;
	$entries{ $object->{name} } = $object->{entry};
}
close $psql or die "psql failed\n";

my %seen;

sub entry
{
	my ($name) = @_;
	die "there is no $name\n" unless exists $entries{$name};
	die "$name has two places\n" if $seen{$name}++;
	return $entries{$name};
}

sub index_of_names
{
	my @rows = map { [split / /] } grep { !/^(?:operator|type race_\w+_result$)/ } keys %entries;
	return join '', "| name | kind |\n|---|---|\n", map { "| `$_->[1]` | $_->[0] |\n" } sort { $a->[1] cmp $b->[1] || $a->[0] cmp $b->[0] } @rows;
}

# Lines are short enough to be read, but for tables and code, which must be one line.
use constant WIDTH => 160;
my $in_code = 0;

sub wrapped
{
	my ($line) = @_;
	$in_code = !$in_code if $line =~ /^```/;
	return $line if $in_code || $line =~ /^\|/ || length $line <= WIDTH + 1;
	my ($indent) = $line =~ /^(\s*(?:- )?)/;
	my $at = rindex $line, ' ', WIDTH;
	return $line if $at <= length $indent;
	return substr($line, 0, $at) . "\n" . wrapped(' ' x length($indent) . substr $line, $at + 1);
}

open my $file, '<', "$FindBin::Bin/reference.md" or die "reference.md: $!";
my $text = read_all($file);
$text =~ s{^(<!-- (\w+\s\S+(?:,\s\w+\s\S+)*)\s-->\n).*?^(<!-- end -->)}
	{"$1\n" . join("\n", map { entry($_) } split(/, /, $2 =~ tr/\n/ /r)) . "\n\n$3"}emsg;
$text =~ s{^(<!-- index -->\n).*?^(<!-- end -->)}{"$1\n" . index_of_names() . "\n$2"}emsg or die "reference.md has no index\n";
my @missing = grep { !$seen{$_} } sort keys %entries;
die "without a place in reference.md: @missing\n" if @missing;
print map { wrapped($_) } split /^/, $text;
