# Every loop of the trusted code ends: each while, do and for that does not count up or down to a limit states its
# bound in a comment, /* bound: ... */, on its line or the one above.  And every function of costs is tried on a grid of all
# arguments with a limit of time (test/unit/costs_test.c).
use strict;
use warnings;
use Test::More;

sub text {
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	return scalar readline $in;
}

# The text with blanks for comments and strings, but for line ends
sub code {
	my ($text) = @_;
	my $blank = sub { my ($part) = @_; $part =~ s/[^\n]/ /g; return $part };
	$text =~ s{(/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')}{$blank->($1)}gse;
	return $text;
}

# What stands between the parentheses that begin here
sub in_parentheses {
	my ($code, $from) = @_;
	my $depth = 0;
	for my $i ($from .. length($code) - 1) {
		my $char = substr $code, $i, 1;
		$depth += $char eq '(' ? 1 : $char eq ')' ? -1 : 0;
		return substr $code, $from + 1, $i - $from - 1 if $depth == 0;
	}
	die "parentheses\n";
}

# Steps of a kind that ends: through the parts of parameters (race_params_problem() counts them), the bits of a set, a scan of a catalog,
# and down from a number
my $ends = qr/= race_params_next\(|\b(\w+) != 0;\s*\g{-1} &= \g{-1} - 1|= systable_getnext\(scan\)|\A\w+-- > 0\z/;

# Does a for loop compare a variable with something, and only add to it, or take from it, a step at a time?
sub counts {
	my ($header) = @_;
	my ($start, $condition, $step) = split /;/, $header, -1;
	return 1 if $condition =~ /\b(\w+)-- > /;
	for ($step =~ /^\s*([\w.>-]+?)(?:\+\+|--| [+-]= )|\+\+(\w+)/) {
		return 1 if defined && $condition =~ /(?<![\w.>])\Q$_\E\b[^&|]*?[<>]|[<>]=? *\Q$_\E\b/;
	}
	return 0;
}

# Loops of a text that count nothing and state no bound, as name:line
sub unbounded {
	my ($name, $text) = @_;
	my $code = code($text);
	my @lines = split /\n/, $text, -1;
	my @found;
	while ($code =~ /\b(while|do|for)\b/g) {
		my ($word, $at) = ($1, $-[0]);
		my $line = substr($code, 0, $at) =~ tr/\n//;
		my $rest = substr $code, $at;
		if ($word eq 'do') {
			next unless $rest =~ /\Ado[ \t\\]*[\n{]/;
			next if $rest =~ /\Ado \\?\s*\{(?:[^{}]|\{[^{}]*\})*\} while \(0\)/;
		}
		elsif ($word eq 'while') {
			next if $rest =~ /\Awhile \(0\)/;
			# the end of a do: its bound stands at the do
			next if substr($code, 0, $at) =~ /\} \z/ || ends_do($code, $at);
		}
		else {
			next if counts(in_parentheses($code, index $code, '(', $at));
		}
		next if $word ne 'do' && in_parentheses($code, index $code, '(', $at) =~ $ends;
		push @found, "$name:" . ($line + 1) unless grep { /bound: \w/ } $lines[$line], $line > 0 ? $lines[$line - 1] : '';
	}
	return @found;
}

# Is a while the end of a do without braces?
sub ends_do {
	my ($code, $at) = @_;
	return substr($code, 0, $at) =~ /\bdo[ \t]*\n[^;{}]*;\s*\z/;
}

my $core_and_release = [grep { !m{^src/answers/} } glob 'src/racepriv.c src/*/*.[ch]'];
is(join("\n", map { unbounded($_, text($_)) } @$core_and_release), '', 'every loop of the trusted code counts, or states its bound');
my $loops = () = map { text($_) =~ /bound: \w/g } @$core_and_release;
cmp_ok($loops, '>', 100, "control: many state one ($loops)");
my %control = (
	"while (left > 0)\n\tf();\n" => 1, "do\n\tf();\nwhile (g());\n" => 1, "do\n{\n\tf();\n} while (g());\n" => 1,
	"for (;;)\n\tf();\n" => 1, "if (x)\n{\n\tf();\n}\nwhile (left > 0)\n\tf();\n" => 1, "for (; x > 0; x = next(x))\n\tf();\n" => 1, "for (int i = 0; i < n; j++)\n\tf();\n" => 1,
	"for (double x = 1; x > y; x *= .999)\n\tf();\n" => 1,
	"/* bound: n */\nwhile (left > 0)\n\tf();\n" => 0, "do\t\t/* bound: n */\n\tf();\nwhile (g());\n" => 0, "for (int i = 0; i < n; i++)\n\tf();\n" => 0,
	"for (i = n; i-- > 0;)\n\tf();\n" => 0, "for (p->i = 0; p->i < n; p->i += 2)\n\tf();\n" => 0, "/* while (true) */\nf(\"while (1)\");\n" => 0,
	"while (n-- > 0)\n\tf();\n" => 0, "for (; set != 0; set &= set - 1)\n\tf();\n" => 0, "for (; set != 0; set &= other - 1)\n\tf();\n" => 1,
	"#define X \\\n\tdo { f(); } while (0)\n" => 0,
);
for my $text (sort keys %control) {
	(my $shown = $text) =~ s/\s+/ /g;
	is(scalar(my @found = unbounded('control', $text)), $control{$text}, "control: $shown");
}

# Functions that call themselves without a look at the stack.  Walkers of trees look at it, and macros call nothing.
sub unchecked_recursion {
	my ($name, $text) = @_;
	my $code = code($text);
	my @found;
	while ($code =~ /^(\w+)\([^;{}]*\)\n\{(.*?)^\}/gms) {
		my ($function, $body) = ($1, $2);
		push @found, "$name: $function" if $body =~ /(?<![\w>.])$function\(|\(.*\b$function, / && $body !~ /\bcheck_stack_depth\(\)|_walker\(|_mutator\(/;
	}
	return @found;
}
is(join("\n", map { unchecked_recursion($_, text($_)) } @$core_and_release), '', 'what calls itself checks the depth of the stack');
is(scalar(my @itself = unchecked_recursion('control', "static int\nf(int x)\n{\n\treturn f(x - 1);\n}\n")), 1, 'control: a function that does not');

# Functions of costs: those that take an epsilon, a delta or a rho, or what holds them
my $test = text('test/unit/costs_test.c');
my @functions;
for my $header (map { "src/$_.h" } qw(privacy/account privacy/budget privacy/cost privacy/look privacy/measure privacy/noise
		privacy/payment privacy/release_request privacy/score privacy/select privacy/series privacy/shares privacy/threshold privacy/wishart
		choice/choose_tables choice/choose_bounds choice/choose_categories choice/plan choice/release_kind choice/select_tables)) {
	my $code = code(text($header));
	while ($code =~ /^(?:extern|static inline) [^;{]*?\b(race_\w+)\(([^;{]*)\)[;{\s]/mg) {
		my ($name, $arguments) = ($1, $2);
		push @functions, $name if $arguments =~ /\b(double (epsilon|delta|rho|allowed|price)|RaceRequest \*request|RaceTotal)\b/;
	}
}
cmp_ok(scalar @functions, '>', 40, 'there are functions of costs');
is(join(' ', grep { $test !~ /\b$_\b/ } @functions), '', 'each is tried on a grid of all arguments');
isnt(join(' ', grep { $test !~ /\b$_\b/ } @functions, 'race_another'), '', 'control: another one is not');
done_testing();
