# What test/packages.sh asks for: with each piece missing in turn, of which version,
# and what it says to somebody who cannot install.  All programs that it looks for or
# calls are stubs in a folder of their own, which is the whole PATH.
use strict;
use warnings;
use File::Basename;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $home = tempdir(CLEANUP => 1);
my $system = "$home/system";		# what may be missing
my $tools = "$home/tools";		# what every Debian has
my $root = "$system/postgresql";
my $top = "$FindBin::Bin/../..";

sub contents
{
	my ($file) = @_;
	open my $in, '<', $file or return '';
	local $/;
	return scalar(<$in>) // '';
}

sub plant
{
	my ($file, $text) = @_;
	make_path(dirname($file));
	open my $out, '>', $file or die "$file: $!";
	print $out $text;
	close $out;
	chmod 0755, $file;
}

sub program
{
	my ($file, $script) = @_;
	plant($file, "#!$tools/sh\n$script\n");
}

# The pieces of one version, each in its file
sub pieces
{
	my ($major, $prefix) = @_;
	return (
		config => "$prefix/bin/pg_config", server => "$prefix/bin/postgres", initdb => "$prefix/bin/initdb",
		pg_ctl => "$prefix/bin/pg_ctl", psql => "$prefix/bin/psql", createdb => "$prefix/bin/createdb",
		headers => "$prefix/include/postgres.h", libpq => "$prefix/libpq/libpq-fe.h",
		pgxs => "$prefix/lib/pgxs/src/makefiles/pgxs.mk", makefile => "$prefix/lib/pgxs/src/Makefile.global",
		pg_regress => "$prefix/lib/pgxs/src/test/regress/pg_regress", fdw => "$prefix/share/extension/postgres_fdw.control");
}

# A PostgreSQL with these pieces; without names, with all
sub postgresql
{
	my ($major, $prefix, @names) = @_;
	my %file = pieces($major, $prefix);
	plant($file{$_}, '') for @names ? @names : keys %file;
	plant($file{makefile}, "with_llvm\t= yes\nCLANG = $system/bin/clang-99\nLLVM_BINPATH = $system/llvm-99/bin\n")
		if -e $file{makefile};
	program($file{config}, <<"END");
case \$1 in
--version) echo 'PostgreSQL $major.3 (Debian $major.3-1)' ;;
--bindir) echo $prefix/bin ;;
--includedir-server) echo $prefix/include ;;
--includedir) echo $prefix/libpq ;;
--pgxs) echo $prefix/lib/pgxs/src/makefiles/pgxs.mk ;;
--sharedir) echo $prefix/share ;;
--cc) echo gcc -m64 ;;
esac
END
}

# A fresh machine with these versions, complete, and what a build needs.  What apt-get
# installs comes from a copy of everything.
sub machine
{
	my (@majors) = @_;
	remove_tree($system, $tools, "$home/whole");
	make_path($tools);
	for my $tool (qw(sh sed basename dirname sort grep head cat env mktemp rm cp true))
	{
		my ($path) = grep { -x } map { "$_/$tool" } qw(/usr/bin /bin);
		symlink $path, "$tools/$tool" or die "$tool: $!";
	}
	program("$tools/id", "cat $home/uid");
	program("$tools/apt-cache", <<"END");
case \$1 in
madison) grep -qx "\$2" $home/offered && echo "\$2 | 1 | Packages" ;;
show) [ ! -s $home/newest ] || echo "Depends: debconf, postgresql-\$(cat $home/newest), postgresql-common (>= 2)" ;;
esac
END
	program("$tools/apt-get", <<"END");
echo "\$*" >>$home/asked
case "\$*" in
*' update') exec cat $home/network ;;
*install*) [ ! -e $home/broken ] || { echo 'E: no such package'; exit 100; }
	cp -R $home/whole/. $system ;;
esac
END
	program("$system/bin/$_", 'exit 0') for qw(make prove clang-99 perl);
	program("$system/bin/gcc", "while read -r words; do words=\${words#*<}; [ -e $system/include/\${words%>} ] || exit 1; done");
	program("$system/llvm-99/bin/llvm-lto", 'exit 0');
	plant("$system/include/stdio.h", '');
	postgresql($_, "$root/$_") for @majors;
	mkdir $root;
	unlink map { "$home/$_" } qw(asked broken);
	plant("$home/network", '');
	as_user(0);
	distribution(15, 13 .. 15);
}

# What the lists of packages say: the newest version, and all
sub distribution
{
	my ($newest, @majors) = @_;
	plant("$home/newest", $newest);
	plant("$home/offered", join '', map { "$_\n" } ($newest ? 'postgresql' : ()),
		map { ("postgresql-$_", "postgresql-client-$_", "postgresql-server-dev-$_") } @majors);
}

sub as_user
{
	plant("$home/uid", "$_[0]\n");
}

# Run a script; what it prints, and whether it succeeded
sub shell
{
	my ($script, %environment) = @_;
	local %ENV = (PATH => "$system/bin:$tools", POSTGRESQL_ROOT => $root, TMPDIR => $home, WORK => $home, %environment);
	unlink "$home/apt.log", "$home/asked";
	plant("$home/script", $script);
	my $text = qx(cd '$top' && '$tools/sh' '$home/script' 2>&1 </dev/null);
	return ($text, $? == 0);
}

# Provide these kinds; the version that was chosen, and the packages that were installed
sub provided
{
	my ($kinds, %environment) = @_;
	my ($text, $good) = shell("set -eu\n. test/packages.sh\nprovide $kinds\necho \"version \$PG_MAJOR of \$PG_CONFIG\"", %environment);
	my ($version) = $text =~ /^version (\d+) of \S+$/m;
	my ($packages) = contents("$home/asked") =~ /install --no-install-recommends (.*)/;
	return $good ? "$version: " . ($packages // 'nothing') : "failed: $text";
}

my $all = 'build server tests';
my $copy = "cp -R $system $home/whole";

# Each piece in turn
machine(15);
is(provided($all), '15: nothing', 'where all is there nothing is installed');
is(contents("$home/asked"), '', 'nor asked for');
my %file = pieces(15, "$root/15");
my %package = (
	(map { $file{$_} => 'postgresql-15' } qw(server initdb pg_ctl fdw)),
	(map { $file{$_} => 'postgresql-client-15' } qw(psql createdb pgxs pg_regress)),
	$file{headers} => 'postgresql-server-dev-15', $file{libpq} => 'libpq-dev',
	"$system/bin/make" => 'make', "$system/bin/gcc" => 'gcc libc6-dev', "$system/include/stdio.h" => 'libc6-dev',
	"$system/bin/clang-99" => 'clang-99', "$system/llvm-99/bin/llvm-lto" => 'llvm-99',
	"$system/bin/prove" => 'perl', "$system/bin/perl" => 'perl');
my %for_tests = map { $_ => 1 } $file{fdw}, $file{libpq}, $file{pg_regress}, "$system/bin/clang-99",
	"$system/llvm-99/bin/llvm-lto", "$system/bin/prove", "$system/bin/perl";
for my $file (sort keys %package)
{
	my $name = $file =~ s/^\Q$system\E//r;
	machine(15);
	system $copy;
	unlink $file or die "$file: $!";
	is(provided('build server'), $for_tests{$file} ? '15: nothing' : "15: $package{$file}", "make demo without $name");
	machine(15);
	system $copy;
	unlink $file;
	is(provided($all), "15: $package{$file}", "make check without $name");
	is(provided($all), '15: nothing', 'and then it is there');
}
machine(15);
system $copy;
program("$system/bin/perl", 'case $1 in -MTest::More) exit 2 ;; esac');
is(provided($all), '15: perl', 'a perl that lacks a module that tests load');

# Extensions that tests of several servers use, where the distribution has them
machine(15);
plant("$root/15/share/extension/pg_cron.control", '');
system $copy;
unlink "$root/15/share/extension/pg_cron.control";
is(provided($all), '15: nothing', 'an extension that is not offered is not needed');
plant("$home/offered", contents("$home/offered") . "postgresql-15-cron\n");
is(provided($all), '15: postgresql-15-cron', 'and one that is, is');

# Which version
my $everything = sub { my ($major) = @_; "postgresql-client-$major postgresql-server-dev-$major postgresql-$major" };
for ([15, 13 .. 15], [17, 17], [18, 13 .. 18])
{
	my ($newest) = @$_;
	machine($newest);
	system $copy;
	remove_tree("$root/$newest");
	distribution(@$_);
	is(provided('build server'), "$newest: " . $everything->($newest), "without any, the newest that there is: $newest");
}
machine(15, 17);
is(provided($all), '17: nothing', 'of two that are installed the newer');
unlink { pieces(17, "$root/17") }->{headers};
is(provided($all), '15: nothing', 'but the older if only that has its headers');
is(provided($all, PG_MAJOR => 15), '15: nothing', 'PG_MAJOR says which');
machine(15, 17);
is(provided($all, PG_MAJOR => 15), '15: nothing', 'PG_MAJOR says which, though there is a newer one');
is(provided($all, PG_CONFIG => "$root/15/bin/pg_config"), '15: nothing', 'so does PG_CONFIG');
like(provided($all, PG_CONFIG => "$root/15/bin/pg_config", PG_MAJOR => 17), qr/^failed: PG_CONFIG is of PostgreSQL 15, but PG_MAJOR is 17$/m, 'not both');
machine(9, 12);
system $copy;
postgresql(15, "$home/whole/postgresql/15");
is(provided('build'), '15: postgresql-client-15 postgresql-server-dev-15', 'those that are too old do not count')
	or diag contents("$home/asked");
like(provided($all, PG_MAJOR => 12), qr/^failed: this is PostgreSQL 12: racepriv needs 13 or newer$/m, 'and cannot be asked for');
machine(15);
system $copy;
unlink $file{headers};
distribution(17, 15, 17);
is(provided($all), '15: postgresql-server-dev-15', 'a server without headers gets them, though there is a newer one');
machine(15, 17);
system $copy;
unlink $file{headers};
remove_tree("$root/17");
distribution(17, 17);
is(provided('build server'), '17: ' . $everything->(17), 'if its headers are not to be had any more, the newest');
machine(15);
system $copy;
unlink @file{qw(server initdb pg_ctl)};
distribution(17, 15, 17);
is(provided('build server'), '15: postgresql-15', 'headers without a server get it');
machine(16);
system $copy;
remove_tree("$root/16");
is(provided('build server', PG_CONFIG => "$root/16/bin/pg_config"), '16: ' . $everything->(16), 'PG_CONFIG of what is not installed yet');
like(provided($all, PG_CONFIG => '/nowhere/pg_config'), qr{^failed: PG_CONFIG is /nowhere/pg_config: that is not a pg_config of PostgreSQL$}m, 'PG_CONFIG of nothing');

# What somebody built
machine();
postgresql(16, "$system/own");
is(provided($all, PG_CONFIG => "$system/own/bin/pg_config"), '16: nothing', 'a PostgreSQL that was not a package');
symlink "$system/own/bin/pg_config", "$system/bin/pg_config";
is(provided($all), '16: nothing', 'or in the PATH');
is(provided($all, PG_CONFIG => 'pg_config'), '16: nothing', 'by its name');
unlink { pieces(16, "$system/own") }->{headers};
like(provided($all, PG_CONFIG => 'pg_config'), qr{^failed: the PostgreSQL of .*/pg_config lacks .*/postgres\.h, and no package has it$}m, 'which lacks its headers');

# Who may install
my $message = <<'END';

These packages are missing: gcc libc6-dev postgresql-server-dev-15
Only root can install them.  As root, run

    apt-get update && apt-get install --no-install-recommends gcc libc6-dev postgresql-server-dev-15

and then start this again.
END
machine(15);
system $copy;
unlink $file{headers}, "$system/bin/gcc";
as_user(1000);
is(provided($all), "failed: $message", 'a user without sudo is told what to do');
is(contents("$home/asked"), '', 'and apt-get is not tried');
is_deeply([shell("exec $tools/sh demo/run")], [$message, ''], 'demo/run says the same, and nothing else');
program("$system/bin/sudo", 'echo "sudo: a password is required" >&2; exit 1');
is(provided($all), "failed: $message", 'so is a user whose sudo wants a password, without a terminal');
program("$system/bin/sudo", "echo \"sudo \$*\" >>$home/asked; [ \$1 = -n ] && shift && exec \"\$@\"");
is(provided($all), '15: gcc libc6-dev postgresql-server-dev-15', 'sudo without a password installs');
like(contents("$home/asked"), qr/^sudo -n env .* install /m, 'through sudo');
SKIP: {
	skip 'script makes a terminal', 2 unless -x '/usr/bin/script';
	my $in_terminal = "exec /usr/bin/script -qec '$tools/sh -c \". test/packages.sh; provide build server\"' /dev/null";
	program("$system/bin/sudo", "echo \"sudo \$*\" >>$home/asked; case \$1 in -n) exit 1 ;; -v) exit 0 ;; esac; exec \"\$@\"");
	unlink $file{headers};
	shell($in_terminal, SHELL => "$tools/sh");
	like(contents("$home/asked"), qr/^sudo -n true\nsudo -v\nsudo env .*apt-get.* update\n.*install --no-install-recommends .*postgresql-server-dev-15\n/s,
		'in a terminal sudo asks for the password');
	program("$system/bin/sudo", 'exit 1');
	unlink $file{headers};
	like((shell($in_terminal, SHELL => "$tools/sh"))[0], qr/Only root can install them/, 'and if it refuses, the user is told what to do');
}

# Without lists of packages, without network, without apt-get
machine();
distribution('');
as_user(1000);
like(provided('build server'), qr/^    apt-get update && apt-get install --no-install-recommends postgresql-client postgresql-server-dev-all postgresql$/m,
	'where the version cannot be known the packages have none');
machine(15);
system $copy;
remove_tree("$root/15");
unlink "$home/network";
is(provided('build server'), '15: ' . $everything->(15), 'without network what is there in old lists and the cache will do');
remove_tree("$root/15");
plant("$home/broken", '');
like(provided('build server'), qr/^failed: Installing .*^E: no such package\n.*^could not install postgresql-client-15 /sm, 'and if not, apt-get says why');
machine(15);
unlink $file{headers};
system $copy;
like(provided('build server'), qr/^What these packages should have is still not there: postgresql-server-dev-15$/m, 'a package without the piece');
unlink "$tools/apt-get";
like(provided('build server'), qr/^These are missing, by the names of Debian's packages: postgresql-server-dev-15\nThere is no apt-get here\./m, 'another system');

done_testing();
