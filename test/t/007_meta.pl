# META.json has what PGXN asks for (PGXN Meta Spec 1.0.0), all files that name the version
# name the same, each test has a number of its own, and documents name what is there.
use strict;
use warnings;
use Encode 'decode';
use FindBin;
use JSON::PP;
use Test::More;

my $top = "$FindBin::Bin/../..";
my $semver = qr/^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[a-zA-Z][-0-9A-Za-z]*)?$/;

sub slurp {
	my ($file) = @_;
	open my $in, '<', "$top/$file" or die "$file: $!";
	local $/ = undef;
	return scalar readline $in;
}

my $meta = decode_json(slurp('META.json'));
ok($meta->{$_}, "META.json has its $_") for qw(name version abstract maintainer license provides meta-spec release_status);
like($_, $semver, 'a version of three numbers') for $meta->{version}, map { $_->{version} } values %{ $meta->{provides} };
ok(-f "$top/$_", "$_, which it names, is there") for map { @{$_}{qw(file docfile)} } values %{ $meta->{provides} };
is((grep { slurp($_) =~ /example\.org/ } qw(META.json debian/control debian/control.in debian/changelog Dockerfile)), 0, 'no address is a placeholder');

my ($version) = slurp('racepriv.control') =~ /^default_version = '(.*)'$/m;
is($meta->{version}, $version, 'META.json has the version of the control file');
is($meta->{provides}{$_}{version}, $version, "and so has $_, which it provides") for qw(racepriv racepriv_release);
is((slurp('racepriv_release.control') =~ /^default_version = '(.*)'$/m)[0], $version, 'and the other control file');
is(join(' ', map { slurp("$_.control") =~ /^module_pathname = '(.*)'$/m } qw(racepriv racepriv_release)), '$libdir/racepriv $libdir/racepriv', 'both extensions have one library');
is((slurp('Makefile') =~ /^EXTVERSION = (.*)$/m)[0], $version, 'and the Makefile');
is((slurp('src/racepriv.c') =~ /\.version = "(.*)"/)[0], $version, 'and the library');
is((slurp('debian/changelog') =~ /^racepriv \((.*)-\d+\)/)[0], $version, "and Debian's package");
like(slurp('CHANGELOG.md'), qr/^## \Q$version\E /m, 'and there is a section of the changelog');

my %seen;
is(join(' ', grep { $seen{$_}++ } map { m{/(\d+)_\w+\.pl$} } glob "$top/test/t/*.pl"), '', 'no two tests have the same number');

# Regression tests are read at a glance: a line of them, and of what they expect, has at most 120 columns, where tabs have four
sub too_long {
	my ($text) = @_;
	return grep { length(s/\t/    /gr) > 120 } split /\n/, $text;
}
my @tests = map { s{.*/((?:sql|expected)/)}{$1}r } glob "$top/sql/*.sql $top/expected/*.out";
cmp_ok(scalar @tests, '>', 90, 'there are regression tests');
is(join("\n", map { my $file = $_; map { "$file: $_" } too_long(decode('UTF-8', slurp($file))) } @tests), '',
	'their lines have at most 120 columns');
is(scalar too_long('x' x 120 . "\n\t" . 'x' x 117), 1, 'control: one of two lines has more');

# So has a line of a message: errmsg, errdetail or errhint with what psql writes before it
my %before = (errmsg => 'ERROR:  ', errdetail => 'DETAIL:  ', errhint => 'HINT:  ');
sub messages {
	my ($text) = @_;
	my @lines;
	while ($text =~ /\b(errmsg|errdetail|errhint)(?:_internal)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)/g) {
		my ($part, $literals) = ($1, $2);
		push @lines, $before{$part} . join('', $literals =~ /"((?:[^"\\]|\\.)*)"/g) =~ s/\\"/"/gr;
	}
	return @lines;
}
my @messages = map { messages(slurp(s{.*/(src/)}{$1}r)) } glob "$top/src/*/*.c";
cmp_ok(scalar @messages, '>', 500, 'there are messages');
is(join("\n", too_long(join "\n", @messages)), '', 'their lines have at most 120 columns');
is(scalar too_long(join "\n", messages('(errmsg("' . 'x' x 60 . "\"\n\"" . 'y' x 60 . '"), errhint("' . 'z' x 113 . '"))')), 1, 'control: one of two lines has more');

# Whoever reviews the proofs follows these names.  Names with capital letters stand for others.
my %files = map { m{([^/]+)$} => 1 } map { glob "$top/$_" } qw(*/* */*/* */*/*/* */*/*/*/*);
my @documents = (qw(README.md CONTRIBUTING.md clients/python/README.md), map { s{.*/(doc/)}{$1}r } glob "$top/doc/*.md $top/doc/*/*.md");
for my $document (@documents) {
	my @named = slurp($document) =~ m{`(?:[\w./-]*/)?([a-z0-9_]+\.(?:c|h|pl|py))`}g;
	is(join(' ', grep { !$files{$_} } @named), '', "the files that $document names are there");
}
# A report of test/bench holds what a command prints that is there.
sub commands {
	my ($text) = @_;
	return grep { /^make bench/ || -f "$top/test/bench/$_" } map { m{(?:test/bench/)?(run|[\w/]+\.py)\b} ? $1 : $_ } $text =~ /`((?:\w+=\S+ )*(?:make bench|test\/bench\/|\w+\.py)[^`]*)`/g;
}
is(join(' ', grep { !commands(slurp(s{.*/(test/)}{$1}r)) } glob "$top/test/bench/*.md"), '', 'reports name the command that prints them');
is(commands('Made by `test/bench/run_away nothing`, `nothing.py`'), 0, 'control: others');
my %mutants = map { $_ => 1 } slurp('test/mutants/table.sh') =~ /^mutant ([\w-]+)/mg;
my @claimed = slurp('doc/limitations.md') =~ /`([a-z]+-(?:[\w-]+|\*))`/g;
is(join(' ', grep { my $name = qr/^\Q$_\E$/ =~ s/\\\*/.*/r; !grep { /$name/ } keys %mutants } @claimed), '', 'the mutants that doc/limitations.md names are there');
my $source = join '', map { slurp(s{.*/(src/)}{$1}r) } glob "$top/src/*/*.{c,h,sql} $top/src/*/*/*.sql";
for my $document ('doc/privacy.md', map { s{.*/(doc/)}{$1}r } glob "$top/doc/privacy/*.md") {
	is(join(' ', grep { $source !~ /\b$_\b/ } slurp($document) =~ /`(race_\w+)`/g), '', "and the functions that $document names");
}

# Lines of the floors, as CONTRIBUTING.md and doc/review.md state them
sub lines_of {
	my ($floor) = @_;
	return scalar(() = join('', map { slurp(s{.*/(src/)}{$1}r) } glob "$top/src/$floor/*.[ch]") =~ /\n/g);
}
my %stated = slurp('CONTRIBUTING.md') =~ /^\| `(\w+)` \|.*\| ([\d,]+) \|$/mg;
is(join(' ', sort keys %stated), 'answers choice hash privacy release sketch', 'CONTRIBUTING.md has the lines of each floor');
($stated{review}) = slurp('doc/review.md') =~ /plain C, ([\d,]+) lines/;
for my $floor (sort keys %stated) {
	my $lines = lines_of($floor eq 'review' ? 'privacy' : $floor);
	cmp_ok(abs($stated{$floor} =~ s/,//r - $lines), '<', 0.05 * $lines, "... of $floor, within a twentieth");
}

# Where a link goes there is a file, and a headline if it names one.  Pages but the reference and the changelog have at most 1,500 words.
sub anchors {
	my ($text) = @_;
	my @heads = $text =~ s/^```.*?^```//msgr =~ /^#+ (.*)$/mg;
	return map { lc(s/\[([^]]*)\]\([^)]*\)/$1/gr) =~ s/[^\w\- \x80-\xff]//gr =~ tr/ /-/r } @heads;
}
my %long = map { $_ => 1 } 'doc/reference.md';
for my $document (@documents) {
	my $text = slurp($document) =~ s/^```.*?^```//msgr;
	my ($folder) = $document =~ m{^(.*/)?[^/]+$};
	my @dead = grep {
		my ($path, $anchor) = /^([^#]*)(?:#(.*))?$/;
		my $target = $path eq '' ? "$top/$document" : "$top/" . ($folder // '') . $path;
		!-e $target || defined $anchor && !grep { $_ eq $anchor } anchors(slurp($target =~ s{^\Q$top\E/}{}r));
	} grep { !/^\w+:/ } $text =~ /\]\(([^)\s]+)\)/g;
	is(join(' ', @dead), '', "the links of $document lead somewhere");
	my $words = () = slurp($document) =~ /\S+/g;
	cmp_ok($words, '<=', 1500, "$document has at most 1,500 words") unless $long{$document};
}

done_testing();
