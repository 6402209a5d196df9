# META.json is what PGXN accepts (PGXN Meta Spec 1.0.0), all files that name the version
# name the same, and each test has a number of its own.
use strict;
use warnings;
use FindBin;
use JSON::PP;
use Test::More;

my $top = "$FindBin::Bin/../..";
my $semver = qr/^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[a-zA-Z][-0-9A-Za-z]*)?$/;
my $term = qr{^[^\s/\\[:cntrl:]]{2,}$};
my $uri = qr{^[a-z][a-z0-9+.-]*://[^\s/]+\S*$};
my %licenses = map { $_ => 1 } qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3
	gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0 mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib
	open_source restricted unrestricted unknown);
my %known = map { $_ => 1 } qw(name version abstract maintainer license provides meta-spec description generated_by tags
	no_index prereqs release_status resources);

sub slurp {
	my ($file) = @_;
	open my $in, '<', "$top/$file" or die "$file: $!";
	local $/ = undef;
	return scalar readline $in;
}

sub is_text {
	my ($value) = @_;
	return defined $value && !ref $value && $value =~ /\S/;
}

# What PGXN would say against it
sub problems {
	my ($meta) = @_;
	my @problems = map { "$_ is missing" } grep { !defined $meta->{$_} } qw(name version abstract maintainer license provides meta-spec);
	push @problems, map { "unknown field $_" } grep { !$known{$_} && !/^x_/i } sort keys %$meta;
	push @problems, 'name' if ($meta->{name} // '') !~ $term;
	push @problems, 'version' if ($meta->{version} // '') !~ $semver;
	push @problems, 'abstract' if !is_text($meta->{abstract});
	push @problems, 'maintainer' if grep { !is_text($_) } ref $meta->{maintainer} ? @{ $meta->{maintainer} } : $meta->{maintainer};
	push @problems, 'license' if !ref $meta->{license} && !$licenses{ $meta->{license} // '' };
	push @problems, 'meta-spec' if ($meta->{'meta-spec'}{version} // '') !~ /^1\.0\.\d+$/;
	push @problems, 'release_status' if defined $meta->{release_status} && $meta->{release_status} !~ /^(?:stable|testing|unstable)$/;
	push @problems, "tag $_" for grep { !is_text($_) || length > 255 || m{[/\\[:cntrl:]]} } @{ $meta->{tags} // [] };
	return (@problems, provides_problems($meta->{provides}), prereqs_problems($meta->{prereqs}), resources_problems($meta->{resources}));
}

sub provides_problems {
	my ($provides) = @_;
	return 'provides' if ref $provides ne 'HASH' || !%$provides;
	return map {
		my ($name, $about) = ($_, $provides->{$_});
		(($name !~ $term) ? "provides $name" : (), ($about->{version} // '') !~ $semver ? "version of $name" : (),
			map { "$_ of $name" } grep { !is_text($about->{$_}) || !-f "$top/$about->{$_}" } 'file', grep { $_ eq 'docfile' } keys %$about)
	} sort keys %$provides;
}

sub prereqs_problems {
	my ($prereqs) = @_;
	my @problems;
	for my $phase (keys %{ $prereqs // {} }) {
		push @problems, "phase $phase" if $phase !~ /^(?:configure|build|test|runtime|develop|x_\w+)$/i;
		while (my ($relation, $needs) = each %{ $prereqs->{$phase} }) {
			push @problems, "relation $relation" if $relation !~ /^(?:requires|recommends|suggests|conflicts|x_\w+)$/i;
			push @problems, map { "prerequisite $_" } grep {
				$_ !~ $term || grep { !/^(?:[<>]=?|[!=]=)?\s*(\S+)$/ || $1 ne '0' && $1 !~ $semver } split /,\s*/, $needs->{$_}
			} keys %$needs;
		}
	}
	return @problems;
}

sub resources_problems {
	my ($resources) = @_;
	my %fields = (bugtracker => { web => $uri, mailto => qr/^\S+@\S+$/ }, repository => { web => $uri, url => $uri, type => qr/^[a-z]+$/ });
	my @problems;
	for my $name (keys %{ $resources // {} }) {
		my $about = $resources->{$name};
		if ($name eq 'homepage') {
			push @problems, $name if $about !~ $uri;
		}
		elsif (my $expected = $fields{$name}) {
			push @problems, map { "$name $_" } grep { !$expected->{$_} || $about->{$_} !~ $expected->{$_} } keys %$about;
		}
		elsif ($name !~ /^x_/i) {
			push @problems, "resource $name";
		}
	}
	return @problems;
}

my $text = slurp('META.json');
my $meta = decode_json($text);
is(join(', ', problems($meta)), '', 'META.json is valid');
ok($meta->{resources}{$_}, "and has its $_") for qw(homepage bugtracker repository);
ok($meta->{release_status}, 'and its release_status');
my @mutants = ([ 'version', '0.2' ], [ 'license', 'mine' ], [ 'release_status', 'new' ], [ 'abstract', undef ], [ 'name', 'a b' ], [ 'colour', 'red' ],
	[ 'provides', { racepriv => { version => '0.3.0', file => 'nowhere.sql' } } ], [ 'prereqs', { runtime => { requires => { PostgreSQL => '13' } } } ],
	[ 'resources', { repository => { type => 'Git' } } ], [ 'tags', ['a/b'] ]);
for my $mutant (@mutants) {
	isnt(join(', ', problems({ %{ decode_json($text) }, $mutant->[0] => $mutant->[1] })), '', "control: another $mutant->[0] is not");
}

my ($version) = slurp('racepriv.control') =~ /^default_version = '(.*)'$/m;
is($meta->{version}, $version, 'META.json has the version of the control file');
is($meta->{provides}{racepriv}{version}, $version, 'and so has what it provides');
is((slurp('Makefile') =~ /^EXTVERSION = (.*)$/m)[0], $version, 'and the Makefile');
is((slurp('src/racepriv.c') =~ /\.version = "(.*)"/)[0], $version, 'and the library');
is((slurp('debian/changelog') =~ /^racepriv \((.*)-\d+\)/)[0], $version, "and Debian's package");
like(slurp('CHANGELOG.md'), qr/^## \Q$version\E /m, 'and there is a section of the changelog');
my ($last) = slurp('Makefile') =~ /^LAST_VERSION = (.*)$/m;
ok(-f "$top/upgrade/racepriv--$last--$version.sql", 'and there is an upgrade to it');

my %seen;
is(join(' ', grep { $seen{$_}++ } map { m{/(\d+)_\w+\.pl$} } glob "$top/test/t/*.pl"), '', 'no two tests have the same number');

done_testing();
