# A build in another folder than the source: it installs the same files, its
# installcheck passes on the server of test/run, and it leaves the source alone.
use strict;
use warnings;
use File::Basename;
use File::Copy;
use File::Find;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

my $home = tempdir(CLEANUP => 1);
my ($source, $build) = ("$home/source", "$home/build");
my $make = "make -s with_llvm=no COPT=-O1 PG_CONFIG='$ENV{PG_CONFIG}'";
delete @ENV{'MAKEFLAGS', 'PGOPTIONS'};

# The files in a folder, by their paths in it
sub files {
	my ($folder) = @_;
	my @files;
	find(sub { push @files, $File::Find::name =~ s/^\Q$folder\E//r if -f }, $folder);
	return join "\n", sort @files;
}

sub shell {
	my ($folder, $script) = @_;
	my ($text, $good) = run("cd '$folder' && $script", 'sh');
	ok($good, $script) or diag $text;
	return $text;
}

# The objects of the build in the source, without those that are made here
sub copy_objects {
	my %first;
	for my $object (map { s{.*/(?=src/)}{}r } sort glob "$FindBin::Bin/../../src/*.o $FindBin::Bin/../../src/*/*.o") {
		make_path("$build/" . dirname $object);
		copy("$FindBin::Bin/../../$object", "$build/$object") if $first{dirname $object}++ && basename($object) ne 'release.o';
	}
	return;
}

mkdir $_ for $source, $build;
shell("$FindBin::Bin/../..", "tar --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude='./racepriv*--*.sql' --exclude='*_test'"
	. " --exclude=./results --exclude=./test/fuzz/mutate -cf - . | tar -C '$source' -xf -");
my $before = files($source);
# Objects are what the build in the source made, but for the first file of each folder and the one that has the commit:
# one rule makes them all.
copy_objects();
is(shell($build, "$make -f ../source/Makefile -j2"), '', 'the build says nothing');
shell($build, "$make -f ../source/Makefile test/unit/params_test test/fuzz/mutate");
like(shell($build, 'test/unit/params_test'), qr/^ok 1 /m, 'a unit test');
shell($build, "$make -f ../source/Makefile install DESTDIR='$home/installed'");
my $passed = shell($build, "$make -f ../source/Makefile installcheck REGRESS='00_api sketch'");
is(() = $passed =~ /^(?:ok \d+ |test .*\.\.\. ok)/mg, 2, 'two regression tests');
is(files($source), $before, 'the source is as it was');

# The build that test/run installed was in the source
shell("$FindBin::Bin/../..", "$make install DESTDIR='$home/there'");
is(files("$home/installed"), files("$home/there"), 'the same files are installed');
is((run('', 'cmp', "$home/installed$_", "$home/there$_"))[1], 1, "the same SQL: $_") for files("$home/there") =~ /^(.*--.*\.sql)$/mg;

# Where it cannot work it says so
shell($source, "$make racepriv--0.3.0.sql");
my ($text, $good) = run("cd '$build' && $make -f ../source/Makefile", 'sh');
like($text, qr/run make clean in \.\.\/source first/, 'a source that has been built');
shell($home, "cp -R source 'a b'");
($text, $good) = run("cd '$build' && $make -f '../a b/Makefile'", 'sh');
like($text, qr/make cannot build from a folder with spaces/, 'a path with spaces');
($text, $good) = run("cd '$source' && $make PG_CONFIG=/nowhere/pg_config", 'sh');
like($text, qr/server headers are missing/, 'no server headers');

done_testing();
