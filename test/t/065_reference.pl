# doc/reference.md has every public object of the extension, with the signature and the
# comment that the catalog has, and nothing else.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RaceServer;
use Test::More;

my $doc = "$FindBin::Bin/../../doc";

sub reference {
	open my $file, '<', "$doc/reference.md" or die "reference.md: $!";
	local $/ = undef;
	my $text = readline $file;
	$text =~ s{\n\z}{};
	return $text;
}

# What doc/reference.pl makes of it, or its error
sub generated {
	my ($text) = run('', 'perl', "$doc/reference.pl");
	return $text;
}

my $reference = reference();
ok(generated() eq $reference, 'reference.md is what doc/make_reference makes') or diag 'run doc/make_reference';

# arguments of race_params have a row of a table each
my @unexplained = grep { $reference !~ /^\| [^|]*`$_`.*\|/m }
  split / /, sql(q{SELECT array_to_string(proargnames, ' ') FROM pg_proc WHERE proname = 'race_params' AND pronargs > 1});
is("@unexplained", '', 'the parameters of race_params are explained');

# longer texts stand in documents
my $long = q{SELECT count(*) FROM pg_description d JOIN pg_depend m ON m.classid = d.classoid AND m.objid = d.objoid AND m.deptype = 'e' }
	  . q{WHERE m.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv') AND array_length(regexp_split_to_array(trim(d.description), '\s+'), 1) > 40};
is(sql($long), '0', 'comments have at most 40 words');

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
sql('ALTER EXTENSION racepriv DROP FUNCTION race_new(); ALTER EXTENSION racepriv DROP FUNCTION race_suggest_rows(float8, float8, float8)');
like(generated(), qr/^there is no function race_suggest_rows/, 'control: a function that is gone');

# No document speaks of functions that there are not
my $names = sql(q{SELECT string_agg(proname, ' ') || ' ' || (SELECT string_agg(relname, ' ') FROM pg_class WHERE relname ~ '^race_')}
	  . q{ || ' ' || (SELECT string_agg(typname, ' ') FROM pg_type WHERE typname ~ '^race_') FROM pg_proc WHERE proname ~ '^_?race_'});
my %exists = map { $_ => 1 } split / /, $names;
for my $document (glob "$doc/*.md $doc/../README.md $doc/../CONTRIBUTING.md") {
	open my $file, '<', $document or die "$document: $!";
	my $text = do { local $/; <$file> };
	$text =~ s/```(?!sql).*?```//gs;
	my %unknown = map { $_ => 1 } grep { !$exists{$_} } $text =~ /\b(race_\w+)(?=\()/g;
	is(join(' ', sort keys %unknown), '', "$document: all functions that it names exist");
}

done_testing();
