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

sub contents {
	my ($file) = @_;
	open my $in, '<', $file or return '';
	local $/;
	return scalar(<$in>) // '';
}

sub plant {
	my ($file, $text) = @_;
	make_path(dirname($file));
	open my $out, '>', $file or die "$file: $!";
	print $out $text;
	close $out;
	chmod 0755, $file;
}

sub program {
	my ($file, $script) = @_;
	plant($file, "#!$tools/sh\n$script\n");
}

# The pieces of one version, each in its file
sub pieces {
	my ($major, $prefix) = @_;
	return (
		config => "$prefix/bin/pg_config", server => "$prefix/bin/postgres", initdb => "$prefix/bin/initdb",
		pg_ctl => "$prefix/bin/pg_ctl", psql => "$prefix/bin/psql", createdb => "$prefix/bin/createdb",
		headers => "$prefix/include/postgres.h", libpq => "$prefix/libpq/libpq-fe.h",
		pgxs => "$prefix/lib/pgxs/src/makefiles/pgxs.mk", makefile => "$prefix/lib/pgxs/src/Makefile.global",
		pg_regress => "$prefix/lib/pgxs/src/test/regress/pg_regress", fdw => "$prefix/share/extension/postgres_fdw.control");
}

# A PostgreSQL with these pieces; without names, with all
sub postgresql {
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
sub machine {
	my (@majors) = @_;
	remove_tree($system, $tools, "$home/whole");
	make_path($tools);
	for my $tool (qw(sh sed basename dirname sort grep head cat env mktemp rm cp true)) {
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
sub distribution {
	my ($newest, @majors) = @_;
	plant("$home/newest", $newest);
	plant("$home/offered", join '', map { "$_\n" } ($newest ? 'postgresql' : ()),
		map { ("postgresql-$_", "postgresql-client-$_", "postgresql-server-dev-$_") } @majors);
}

sub as_user {
	plant("$home/uid", "$_[0]\n");
}

# Run a script; what it prints, and whether it succeeded
sub shell {
	my ($script, %environment) = @_;
	local %ENV = (PATH => "$system/bin:$tools", POSTGRESQL_ROOT => $root, TMPDIR => $home, WORK => $home, %environment);
	unlink "$home/apt.log", "$home/asked";
	plant("$home/script", $script);
	my $text = qx(cd '$top' && '$tools/sh' '$home/script' 2>&1 </dev/null);
	return ($text, $? == 0);
}

# Provide these kinds; the version that was chosen, and the packages that were installed
sub provided {
	my ($kinds, %environment) = @_;
	my ($text, $good) = shell("set -eu\n. test/packages.sh\nprovide $kinds\necho \"version \$PG_MAJOR of \$PG_CONFIG\"", %environment);
	my ($version) = $text =~ /^version (\d+) of \S+$/m;
	my ($packages) = contents("$home/asked") =~ /install --no-install-recommends (.*)/;
	return $good ? "$version: " . ($packages // 'nothing') : "failed: $text";
}

my $all = 'build server tests';
my $copy = "cp -R $system $home/whole";
my %file = pieces(15, "$root/15");

# What is missing
machine(15);
is(provided($all), '15: nothing', 'where all is there nothing is installed');
is(contents("$home/asked"), '', 'nor asked for');
my %package = (
	$file{server} => 'postgresql-15', $file{pgxs} => 'postgresql-client-15',
	$file{headers} => 'postgresql-server-dev-15', $file{libpq} => 'libpq-dev',
	"$system/bin/gcc" => 'gcc libc6-dev', "$system/bin/clang-99" => 'clang-99', "$system/bin/prove" => 'perl');
for my $file (sort keys %package) {
	machine(15);
	system $copy;
	unlink $file or die "$file: $!";
	is(provided($all, PG_MAJOR => 15), "15: $package{$file}", 'without ' . $file =~ s/^\Q$system\E//r);
	is(provided($all), '15: nothing', 'and then it is there');
}

# Which version
my $everything = sub { my ($major) = @_; "postgresql-client-$major postgresql-server-dev-$major postgresql-$major" };
machine(18);
system $copy;
remove_tree("$root/18");
distribution(18, 13 .. 18);
is(provided('build server'), '18: ' . $everything->(18), 'without any, the newest that there is');
machine(15, 17);
is(provided($all), '17: nothing', 'of two that are installed the newer');
is(provided($all, PG_MAJOR => 15), '15: nothing', 'PG_MAJOR says which');
is(provided($all, PG_CONFIG => "$root/15/bin/pg_config"), '15: nothing', 'so does PG_CONFIG');
like(provided($all, PG_CONFIG => "$root/15/bin/pg_config", PG_MAJOR => 17), qr/^failed: PG_CONFIG is of PostgreSQL 15, but PG_MAJOR is 17$/m, 'not both');
unlink { pieces(17, "$root/17") }->{headers};
is(provided($all), '15: nothing', 'but the older if only that has its headers');
like(provided($all, PG_MAJOR => 12), qr/^failed: this is PostgreSQL 12: racepriv needs 13 or newer$/m, 'one that is too old');
machine();
postgresql(16, "$system/own");
is(provided($all, PG_CONFIG => "$system/own/bin/pg_config"), '16: nothing', 'a PostgreSQL that was not a package');
unlink { pieces(16, "$system/own") }->{headers};
like(provided($all, PG_CONFIG => "$system/own/bin/pg_config"), qr{^failed: the PostgreSQL of .*/pg_config lacks .*/postgres\.h, and no package has it$}m, 'which lacks its headers');

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
is(provided($all, PG_MAJOR => 15), "failed: $message", 'a user without sudo is told what to do');
is(contents("$home/asked"), '', 'and apt-get is not tried');
program("$system/bin/sudo", "echo \"sudo \$*\" >>$home/asked; [ \$1 = -n ] && shift && exec \"\$@\"");
is(provided($all, PG_MAJOR => 15), '15: gcc libc6-dev postgresql-server-dev-15', 'sudo without a password installs');
like(contents("$home/asked"), qr/^sudo -n env .* install /m, 'through sudo');

# Where apt-get fails
machine(15);
system $copy;
unlink $file{headers};
plant("$home/broken", '');
like(provided('build server', PG_MAJOR => 15), qr/^failed: Installing .*^E: no such package\n.*^could not install postgresql-server-dev-15$/sm, 'apt-get says why');
unlink "$tools/apt-get";
like(provided('build server', PG_MAJOR => 15), qr/^These are missing, by the names of Debian's packages: postgresql-server-dev-15\nThere is no apt-get here\./m, 'another system');

done_testing();
