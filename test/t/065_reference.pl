# doc/reference.md has every public object of the extension, with the signature and the
# comment that the catalog has, and nothing else.  Documents name functions and files that there are, and
# doc/paper.md no less than all pieces of the paper.
use strict;
use warnings;
use Encode qw(decode_utf8);
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

my $doc = "$FindBin::Bin/../../doc";

sub slurp {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!";
	local $/ = undef;
	return scalar readline $file;
}

# What doc/reference.pl makes of it, or its error
sub generated {
	my ($text) = run('', 'perl', "$doc/reference.pl");
	return $text;
}

my $reference = slurp("$doc/reference.md") =~ s/\n\z//r;
ok(generated() eq $reference, 'reference.md is what doc/make_reference makes') or diag 'run doc/make_reference';
is(join("\n", grep { length > 160 } split /\n/, decode_utf8($reference)), '', 'its lines have at most 160 characters');

# arguments of race_params have a row of a table each
my @unexplained = grep { $reference !~ /^\| [^|]*`$_`.*\|/m }
  split / /, sql(q{SELECT array_to_string(proargnames, ' ') FROM pg_proc WHERE proname = 'race_params' AND pronargs > 1});
is("@unexplained", '', 'the parameters of race_params are explained');

# the front door has one order, of at most 30 routines
my @front = map { [/^(procedure|function|view)\s(\w+)/] } grep { !/^type/ } split /,\s/, ($reference =~ /^<!-- (procedure race_protect, .*?)\s-->$/ms)[0];
my ($list) = slurp("$doc/../README.md") =~ /\[The front door\](.*?)\[Examples\]/s;
is(join(' ', $list =~ /`(race_\w+)`/g), join(' ', map { $_->[1] } @front), 'the README lists the front door as the reference does');
cmp_ok(scalar(grep { $_->[0] ne 'view' } @front), '<=', 30, 'and it has at most 30 routines');
# a routine that takes a value or the name of a release is one to learn
cmp_ok(sql(q{SELECT count(DISTINCT proname) FROM pg_proc WHERE proname LIKE 'race\_%' AND pronamespace = 'public'::regnamespace}), '<=', 80, 'of at most 80 names');

# longer texts stand in documents
my $long = q{SELECT count(*) FROM pg_description d JOIN pg_depend m ON m.classid = d.classoid AND m.objid = d.objoid AND m.deptype = 'e' }
	  . q{WHERE m.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('racepriv', 'racepriv_release')) AND array_length(regexp_split_to_array(trim(d.description), '\s+'), 1) > 40};
is(sql($long), '0', 'comments have at most 40 words');

# psql's list of routines reads on a screen of 160 columns, where long arguments are wrapped
sub widest {
	my ($length) = sort { $b <=> $a } map { length } @_;
	return $length;
}
my ($listing) = run('', 'psql', '-XP', 'format=wrapped', '-P', 'columns=160', '-P', 'pager=off', '-c', '\df race_*');
my @lines = split /\n/, $listing;
cmp_ok(widest(@lines), '<=', 160, 'wrapped, the list is at most 160 columns wide');
cmp_ok(scalar @lines, '<=', 240, 'and 240 lines long');
is((grep { /^ public \| race_/ } @lines), sql(q{SELECT count(*) FROM pg_proc WHERE proname LIKE 'race\_%' AND pronamespace = 'public'::regnamespace}), 'with a line that begins for each routine');
($listing) = run('', 'psql', '-Xc', '\df race_*');
cmp_ok(widest(split /\n/, $listing), '>', 160, 'control: not wrapped it is wider');

# controls: what changes in the catalog is noticed
sql("COMMENT ON FUNCTION race_kde(race_sketch, \"any\") IS '" . 'word ' x 41 . "'");
is(sql($long), '1', 'control: one that has more');
sql("COMMENT ON FUNCTION race_count(race_sketch) IS 'something else'");
isnt(generated(), $reference, 'control: another comment');
sql('COMMENT ON FUNCTION race_count(race_sketch) IS NULL');
like(generated(), qr/^an object or a column has no comment: function race_count/, 'control: no comment');
sql('COMMENT ON FUNCTION race_count(race_sketch) IS $$number$$; COMMENT ON COLUMN race_info_result.rows IS NULL');
like(generated(), qr/^an object or a column has no comment: type race_info_result/, 'control: a column without one');
sql('COMMENT ON COLUMN race_info_result.rows IS $$number$$; CREATE FUNCTION race_new() RETURNS int LANGUAGE sql AS $$SELECT 1$$;'
	  . ' COMMENT ON FUNCTION race_new() IS $$new$$; ALTER EXTENSION racepriv ADD FUNCTION race_new()');
like(generated(), qr/^without a place in reference.md: function race_new/, 'control: another function');
sql('ALTER EXTENSION racepriv DROP FUNCTION race_new(); ALTER EXTENSION racepriv DROP FUNCTION race_pca(race_sketch, boolean)');
like(generated(), qr/^there is no function race_pca/, 'control: a function that is gone');

# No document speaks of functions that there are not
my $names = sql(q{SELECT string_agg(proname, ' ') || ' ' || (SELECT string_agg(relname, ' ') FROM pg_class WHERE relname ~ '^race_')}
	  . q{ || ' ' || (SELECT string_agg(typname, ' ') FROM pg_type WHERE typname ~ '^race_') FROM pg_proc WHERE proname ~ '^_?race_'});
my %exists = map { $_ => 1 } split / /, $names;
for my $document (glob "$doc/*.md $doc/*/*.md $doc/../README.md $doc/../CONTRIBUTING.md") {
	my $text = slurp($document);
	$text =~ s/```(?!sql).*?```//gs;
	my %unknown = map { $_ => 1 } grep { !$exists{$_} } $text =~ /\b(race_\w+)(?=\()/g;
	is(join(' ', sort keys %unknown), '', "$document: all functions that it names exist");
}

# ------------------------------------------------------------------ the paper

# Files and functions that a text names, of which there are none
sub missing {
	my ($text) = @_;
	my @files = grep { !-e "$doc/../$_" } $text =~ m{`([\w./-]+\.(?:c|h|pl|py|sql|md|svg)|test/bench/run)`}g;
	my @functions = grep { sql("SELECT count(*) FROM pg_proc WHERE proname = '$_'") == 0 } $text =~ /`(race_\w+)\(/g;
	return join ' ', @files, @functions;
}

my $text = slurp("$doc/paper.md");
is(missing($text), '', 'all files and functions exist');
is(missing('`src/sketch/nothing.c`, `race_nothing()`, `race_kde()`'), 'src/sketch/nothing.c race_nothing', 'control: others are found missing');

my @pieces = ((map { "Definition $_" } '2.1', '2.2', '2.4'), (map { "Theorem $_" } '2.3', '2.5', '3.2', '3.4'),
	'Lemma 3.1', 'Lemma 3.3', 'Corollary 3.5', 'Algorithm 1', 'Algorithm 2', (map { "Figure $_" } 1 .. 7), (map { "Table $_" } 1 .. 4),
	qw(1 2.1 2.2 2.3 2.4 3.1 3.2 3.3 4 5.1 6 7.1 7.2 7.3 8 9));
is(join(', ', grep { $text !~ /^\| \Q$_\E\b/m } @pieces), '', 'every piece of the paper has a line');
is(join(', ', grep { "| Lemma 3.1, x |\n" !~ /^\| \Q$_\E\b/m } 'Lemma 3.1', 'Lemma 3.3'), 'Lemma 3.3', 'control: a piece without one is noticed');

done_testing();
