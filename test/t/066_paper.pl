# doc/paper.md names files and functions: all of them exist, and no piece of the paper is
# without a line.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

my $top = "$FindBin::Bin/../..";

sub slurp {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!";
	local $/ = undef;
	return scalar readline $file;
}

# Files and functions that a text names, of which there are none
sub missing {
	my ($text) = @_;
	my @files = grep { !-e "$top/$_" } $text =~ m{`([\w./-]+\.(?:c|h|pl|py|sql|md|svg)|test/bench/run)`}g;
	my @functions = grep { sql("SELECT count(*) FROM pg_proc WHERE proname = '$_'") == 0 } $text =~ /`(race_\w+)\(/g;
	return join ' ', @files, @functions;
}

my $text = slurp("$top/doc/paper.md");
is(missing($text), '', 'all files and functions exist');
is(missing('`src/core/nothing.c`, `race_nothing()`, `race_kde()`'), 'src/core/nothing.c race_nothing', 'control: others are found missing');

my @pieces = ((map { "Definition $_" } '2.1', '2.2', '2.4'), (map { "Theorem $_" } '2.3', '2.5', '3.2', '3.4'),
	'Lemma 3.1', 'Lemma 3.3', 'Corollary 3.5', 'Algorithm 1', 'Algorithm 2', (map { "Figure $_" } 1 .. 7), (map { "Table $_" } 1 .. 4),
	qw(1 2.1 2.2 2.3 2.4 3.1 3.2 3.3 4 5.1 6 7.1 7.2 7.3 8 9));
is(join(', ', grep { $text !~ /^\| \Q$_\E\b/m } @pieces), '', 'every piece of the paper has a line');
is(join(', ', grep { "| Lemma 3.1, x |\n" !~ /^\| \Q$_\E\b/m } 'Lemma 3.1', 'Lemma 3.3'), 'Lemma 3.3', 'control: a piece without one is noticed');

done_testing();
