# SplitAggregate.pm: aggregates that run in parts, as Citus runs them (test/modules/split_aggregate.c)
package SplitAggregate;
use strict;
use warnings;
use Exporter 'import';
use FindBin;

our @EXPORT = qw(split_module);

# Statements that create the module's aggregates
sub split_module {
	my $file = "$FindBin::Bin/../modules/split_aggregate";
	my $text = '';
	$text .= "CREATE FUNCTION $_ LANGUAGE c;\n" for map { my ($signature, $symbol) = @$_; "$signature AS '$file', '$symbol'" } (
		['part_step(internal, regprocedure, anyelement) RETURNS internal', 'split_part_step'],
		['part_unchecked_step(internal, regprocedure, anyelement) RETURNS internal', 'split_part_unchecked_step'],
		['part_text(internal) RETURNS text', 'split_part_text'],
		['part_binary(internal) RETURNS bytea', 'split_part_binary'],
		['whole_step(internal, regprocedure, text, anyelement) RETURNS internal', 'split_whole_step'],
		['whole_binary_step(internal, regprocedure, bytea, anyelement) RETURNS internal', 'split_whole_binary_step'],
		['whole_final(internal, regprocedure, text, anyelement) RETURNS anyelement', 'split_whole_final'],
		['whole_binary_final(internal, regprocedure, bytea, anyelement) RETURNS anyelement', 'split_whole_final']);
	return $text . <<'END';
CREATE AGGREGATE split_part(regprocedure, anyelement) (SFUNC = part_step, STYPE = internal, FINALFUNC = part_text);
CREATE AGGREGATE split_part_binary(regprocedure, anyelement) (SFUNC = part_step, STYPE = internal, FINALFUNC = part_binary);
CREATE AGGREGATE split_part_unchecked(regprocedure, anyelement) (SFUNC = part_unchecked_step, STYPE = internal, FINALFUNC = part_text);
CREATE AGGREGATE split_whole(regprocedure, text, anyelement) (SFUNC = whole_step, STYPE = internal, FINALFUNC = whole_final, FINALFUNC_EXTRA);
CREATE AGGREGATE split_whole_binary(regprocedure, bytea, anyelement) (SFUNC = whole_binary_step, STYPE = internal, FINALFUNC = whole_binary_final, FINALFUNC_EXTRA);
END
}

1;
