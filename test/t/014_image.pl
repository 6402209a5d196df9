# What the images and the bill of materials have: the layout of a volume of CloudNativePG, the
# script of the Dockerfile, and a document of SPDX whose checksums are those of the files.
use strict;
use warnings;
use Digest::SHA;
use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use RaceServer;
use Test::More;

my $home = tempdir(CLEANUP => 1);
my $top = "$FindBin::Bin/../..";
my $make = "make -s with_llvm=no COPT=-O0 PG_CONFIG='$ENV{PG_CONFIG}'";
delete @ENV{'MAKEFLAGS', 'PGOPTIONS'};

sub shell {
	my ($script) = @_;
	my ($text, $good) = run("cd '$home/source' && $script", 'sh');
	ok($good, $script) or diag $text;
	return $text;
}

mkdir "$home/source";
shell("(cd '$top' && tar --exclude='*_test' --exclude=./results -cf - .) | tar -xf -");
shell("$make IMAGE='$home/image' extension-image");
my $version = (shell('cat racepriv.control') =~ /^default_version = '(.*)'$/m)[0];
my @files = split /\n/, shell("cd '$home/image' && find . -type f | sort");
for my $file ('./lib/racepriv.so', (map { ("./share/extension/$_.control", "./share/extension/$_--$version.sql") } qw(racepriv racepriv_release)), './licenses/LICENSE') {
	ok((grep { $_ eq $file } @files), "the image has $file");
}
is((grep { !m{^\./(?:lib/racepriv\.so|licenses/LICENSE|share/extension/racepriv(?:_release)?(?:--.*\.sql|\.control))$} } @files), 0, 'and nothing else');
my $dockerfile = shell('cat Dockerfile packaging/cnpg/Dockerfile');
for my $named ($dockerfile =~ m{/tmp/racepriv/([\w./-]+\.\w+)}g) {
	ok(-e "$home/source/$named", "Dockerfiles name $named, which is there");
}
like($dockerfile, qr/extension-image/, 'the image is made by make');
like(shell('cat packaging/cnpg/cluster.yaml'), qr/racepriv-extension:\Q$version\E$/m, 'the cluster names the version');

# The script of the image, in the database of this test
is(sql('DROP EXTENSION racepriv, racepriv_release; ' . shell('cat packaging/docker/10-racepriv.sql')), '', 'the script of the image makes the extension');
is(sql("SELECT extversion FROM pg_extension WHERE extname = 'racepriv'"), $version, 'of this version');

my $document = do { local $ENV{SOURCE_DATE_EPOCH} = 0; shell("$make sbom && cat racepriv-$version.spdx.json") };
my $sbom = decode_json($document);
is($sbom->{spdxVersion}, 'SPDX-2.3', 'a bill of materials in SPDX 2.3');
is($sbom->{creationInfo}{created}, '1970-01-01T00:00:00Z', 'of the time that SOURCE_DATE_EPOCH says');
my $wrong = grep { $_->{checksums}[1]{checksumValue} ne Digest::SHA->new(256)->addfile("$home/source/$_->{fileName}", 'b')->hexdigest } @{ $sbom->{files} };
is($wrong, 0, scalar(@{ $sbom->{files} }) . ' files have the checksums that it says');
my %known = map { $_->{SPDXID} => 1 } @{ $sbom->{files} }, @{ $sbom->{packages} }, $sbom;
is((grep { !$known{ $_->{spdxElementId} } || !$known{ $_->{relatedSpdxElement} } } @{ $sbom->{relationships} }), 0, 'relationships are of what it has');
is(scalar(keys %known), 1 + @{ $sbom->{files} } + @{ $sbom->{packages} }, 'and names are different');

done_testing();
