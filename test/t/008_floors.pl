# The floors of src/, in object files: each refers to those below it alone.  Within a floor, files refer to each
# other in no circle of more than two.  Exact counters are opaque outside of src/privacy.
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

# Without comments
sub code_of {
	my ($text) = @_;
	return $text =~ s{/\*.*?\*/}{}gsr;
}

# Bottom to top
my @floors = qw(privacy hash sketch choice release answers);
my %height = map { $floors[$_] => $_ } 0 .. $#floors;

# What files of a floor refer to, or include, above it, but what is allowed
sub strays {
	my (%allowed) = @_;
	my @strays;
	for my $object (sort keys %refers) {
		my ($own) = $object =~ m{^src/(\w+)/};
		push @strays, "$object: $_" for grep { $height{$floor{$_} // $own} > $height{$own} && !$allowed{$_} } sort @{$refers{$object}};
	}
	for my $file (glob 'src/*/*.[ch]') {
		my ($own) = $file =~ m{^src/(\w+)/};
		push @strays, "$file: $_" for grep { m{^(\w+)/} && ($height{$1} // -1) > $height{$own} } text($file) =~ m{^#include "(\w+/\w+\.h)"}mg;
	}
	return join "\n", @strays;
}

cmp_ok(scalar keys %refers, '>', 50, 'there are object files');
is_deeply([sort keys %{{map { m{^src/(\w+)/} ? ($1 => 1) : () } keys %refers}}], [sort @floors], 'of these floors');
is(strays(), '', 'no floor refers to one above it');
{
	local $height{privacy} = 9;
	isnt(strays(), '', 'control: the others refer to src/privacy');
}

# ---------------------------------------------------------------------- SQL

# SQL has floors, too: a part names only what is declared on its own floor or below.  Answers by name are above the others.
my @sql_floors = qw(privacy hash sketch choice release answers answers/named);
my %sql_height = map { $sql_floors[$_] => $_ } 0 .. $#sql_floors;
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

my %parts = map { m{^src/(.*)/\w+\.sql$} ? ($_ => [$sql_height{$1} // die("$_: no floor\n"), bare_sql(text($_))]) : () } glob 'src/*/*.sql src/*/*/*.sql';
cmp_ok(scalar(map { declared_in($_->[1]) } values %parts), '>', 200, 'SQL declares functions, types and tables');
is(upward(%parts), '', 'SQL names what is declared on its floor or below');
is(upward(%parts, 'src/release/more.sql' => [$sql_height{release}, bare_sql("SELECT _racepriv._race_normal_quantile(0.95), race_catalog.count, 'race_label' -- race_curve\n")]),
	"src/release/more.sql: _race_normal_quantile\nsrc/release/more.sql: race_catalog", 'control: a release that asks answers');

# C names SQL, too, in the statements that it runs and in what it looks up: a text that has a name with its arguments, its
# schema, or after a word as FROM, or that is a name.  What a message or a sentence names is advice.
my $literal = qr/"(?:[^"\\\n]|\\.)*"/;
my $parentheses = qr/(\((?:[^()"]++|$literal|(?-1))*+\))/;
sub sql_in_c {
	my ($text) = @_;
	my $code = code_of($text) =~ s/\b(?:err(?:msg|detail|hint)\w*|race_refuse_arguments)\s*$parentheses//gr;
	my %named;
	for (grep { !/^"[A-Z].*\."$/ } $code =~ /$literal/g) {
		$named{$_} = 1 for /(?:\.|\b(?:FROM|JOIN|INTO|UPDATE|CALL)\s+)(_?race_\w+)/g, /\b(_?race_\w+)\(/g, /^"(_?race_\w+)"$/;
	}
	return sort keys %named;
}
# Answers by name have their C in src/answers.
sub upward_in_c {
	my ($name, $text) = @_;
	my ($own) = $name =~ m{^src/(\w+)/};
	$own = 'answers/named' if $own eq 'answers';
	my %lowest;
	for my $part (values %parts) {
		for (declared_in($part->[1])) {
			$lowest{$_} = $part->[0] unless defined $lowest{$_} && $lowest{$_} <= $part->[0];
		}
	}
	return map { "$name: $_" } grep { ($lowest{$_} // -1) > $sql_height{$own} } sql_in_c($text);
}
is(join("\n", map { upward_in_c($_, text($_)) } glob 'src/*/*.[ch]'), '', 'C names SQL of its floor or below in its texts');
is(join(' ', upward_in_c('src/release/more.c', <<'END')), 'src/release/more.c: _race_period src/release/more.c: race_catalog src/release/more.c: race_released', 'control: a release that runs answers');
run("SELECT r.name FROM race_catalog r", "race_released"); /* "race_curve" */ run("x, " SCHEMA "._race_period($1)");
ereport(ERROR, (errmsg("no release \"%s\"", race_cut(name)), errhint("CALL race_count('%s').", name))); hint("Write race_synthesize(1).");
END
cmp_ok(scalar(map { sql_in_c(text($_)) } glob 'src/release/*.c'), '>', 40, 'statements were found');

# A function in C is called like its SQL function, without the underscore of internal ones.  Of several SQL functions of one
# name, one may have an argument of its own in the name, or the type of one.  What implements SQL functions of several
# names is called like none of them.
sub misnamed {
	my ($sql) = @_;
	my (@declared, %overloads, %names_of);
	while ($sql =~ /\bCREATE (?:FUNCTION|PROCEDURE) ([\w.\@]+)\s*(\((?:[^()]++|(?-1))*+\))((?:[^;']++|$string)*+)/g) {
		my ($name, $arguments, $rest) = ($1, $2, $3);
		$name =~ s/^.*\.//;
		$name =~ s/^_//;
		$overloads{$name}++;
		next if $rest !~ /\bLANGUAGE c\b/i;
		my $symbol = $rest =~ /\bAS 'MODULE_PATHNAME', '(\w+)'/ ? $1 : $name;
		push @declared, [$name, $symbol, $arguments];
		$names_of{$symbol}{$name} = 1;
	}
	my %called = map { $_->[0] => 1 } @declared;
	return map {
		my ($name, $symbol, $arguments) = @$_;
		my ($own) = $symbol =~ /^\Q$name\E_(\w+)$/;
		my $good = keys %{$names_of{$symbol}} > 1 ? !$called{$symbol}
			: $symbol eq $name || defined $own && $overloads{$name} > 1 && $arguments =~ /(?<!\w)(?:race_)?\Q$own\E(?!\w)/;
		$good ? () : "$name: $symbol"
	} @declared;
}
is(join("\n", misnamed(join "\n", map { text($_) =~ s/--[^\n]*//gr } grep { m{^src/} } keys %parts)), '', 'C functions are called like their SQL functions');
is(join(', ', misnamed(<<'END')), 'race_a: race_b, race_f: race_f_oid, race_g: race_x, race_x: race_x', 'control: others');
CREATE FUNCTION race_a(int) RETURNS int AS 'MODULE_PATHNAME', 'race_b' LANGUAGE C;
CREATE FUNCTION s._race_c(x int) RETURNS int AS 'MODULE_PATHNAME', 'race_c' LANGUAGE C;
CREATE FUNCTION race_d(x int) RETURNS int AS 'MODULE_PATHNAME', 'race_d_x' LANGUAGE C;
CREATE FUNCTION race_d(y int) RETURNS int AS 'MODULE_PATHNAME' LANGUAGE C;
CREATE FUNCTION race_e(x int) RETURNS int AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C;
CREATE FUNCTION race_f(x int) RETURNS int AS 'MODULE_PATHNAME', 'race_f_oid' LANGUAGE C;
CREATE FUNCTION race_f(x text) RETURNS int AS 'MODULE_PATHNAME', 'race_answer' LANGUAGE C;
CREATE FUNCTION race_g(x text) RETURNS int AS 'MODULE_PATHNAME', 'race_x' LANGUAGE C;
CREATE FUNCTION race_x(x text) RETURNS int AS 'MODULE_PATHNAME' LANGUAGE C;
END

# Whoever chooses holds no exact number: a file that is not of src/privacy names neither the fields of exact counters
# nor what reads them for the calls that pay
sub sees_exact {
	my ($name, $text) = @_;
	return map { "$name: $_" } $text =~ m{\b(exact_fields\.h|payment\.h|race_load_sums|race_pay\w*|race_draw(?:_all|_rounded)?\b|race_noisy|race_block_\w+)\b}g;
}
my @outside = grep { !m{^src/privacy/} } glob 'src/*/*.[ch]';
is(join("\n", map { sees_exact($_, code_of(text($_))) } @outside), '', 'exact counters are opaque outside of src/privacy');
is(scalar(my @seen = sees_exact('control', '#include "privacy/exact_fields.h"')), 1, 'control: a file that includes their fields');
# Nor does it change an account: fields are read by functions
sub names_account {
	my ($name, $text) = @_;
	return map { "$name: $_" } $text =~ m{\b((?:account|planned)(?:\.|->)[a-z]\w*)\b(?!\.?h?")}g;
}
is(join("\n", map { names_account($_, code_of(text($_)) =~ s/^#include.*//gmr) } @outside), '', 'accounts are opaque outside of src/privacy');
is(scalar(my @named = names_account('control', 'select->planned.cost = 0;')), 1, 'control: a field of one');

my %reads = map { $_ => 1 } grep { /^race_counters_(load|get|sum|norms|bounds)$/ } keys %floor;
is(join("\n", map { my $o = $_; map { "$o: $_" } grep { $reads{$_} } @{$refers{$o}} } grep { m{^src/choice/} } sort keys %refers), '', 'choices read no counters');
isnt(join(' ', grep { $reads{$_} } map { @{$refers{$_}} } grep { m{^src/answers/} } keys %refers), '', 'control: answers read private ones');

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
		$defined{$_} =~ m{^src/\w+/} && !$called{$_} && !/^pg_finfo_/ && !$defined{"pg_finfo_$_"} && $tests !~ /\b$_\b/
	} sort keys %defined;
}
is(join("\n", lone(join '', map { text($_) } glob 'test/unit/*.[ch]')), '', 'what one file uses is static');
ok((grep { /: race_wishart_square$/ } lone('')), 'control: not what unit tests alone call');

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
my %largest = map { $_ => 2 } @floors;
is(join("\n", large_circles($_, $largest{$_})), '', "no circle of more than $largest{$_} files is in $_") for sort keys %largest;
is(join('; ', circles({a => {b => 1}, b => {c => 1}, c => {a => 1, d => 1}, d => {e => 1}, e => {d => 1}, f => {a => 1}})), 'a b c; d e',
	'control: circles are found');
is(join('; ', circles({a => {b => 1, c => 1}, b => {c => 1}})), '', 'control: two ways to a file are no circle');

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
for my $file (glob 'src/*/*.sql src/*/*/*.sql') {
	$name{$_} = 1 for text($file) =~ s/--.*//gr =~ /\b(_?race_\w+)\b/g;
}
sub unknown_names {
	my ($text) = @_;
	return grep { !$name{$_} } map { /\b(_?race_\w+)\b/g, /\b(\w+)\(\)/g } $text =~ m{(/\*.*?\*/)}gs;
}
is(join(' ', map { my $file = $_; map { "$file: $_" } unknown_names(text($file)) } @code), '', 'comments name functions that exist');
is(join(' ', unknown_names('/* race_nothing and vanished() */')), 'race_nothing vanished', 'control: others');

# Benchmarks call functions of C, which no test runs.
my %in_code = map { $_ => 1 } map { code_of(text($_)) =~ /\brace_\w+/g } grep { m{^src/} } @code;
sub unknown_calls {
	my ($text) = @_;
	return grep { !$in_code{$_} } $text =~ /(?<![.\w'"\/])race_\w+(?=\()/g;
}
is(join(' ', unknown_calls(text('test/bench/bare.c') . text('test/bench/lsh.py'))), '', 'functions that benchmarks call are there');
is(join(' ', unknown_calls('race_vanished(1) race_rows_init(2)')), 'race_vanished', 'control: others');

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
