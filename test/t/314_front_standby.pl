# All questions are answered on a standby, as on the primary server.
use strict;
use warnings;
use lib 'test/t';
use FrontDoor;
use RaceCluster;
use Test::More;

my $primary = RaceCluster->new(max_connections => 20);
$primary->sql('CREATE EXTENSION racepriv_release CASCADE');
make_releases(sub { $primary->sql(@_) });
ask_all(sub { $primary->sql(@_) });
# one call of each routine and release
$primary->sql(q(DELETE FROM cases WHERE (argument <> '' OR wanted <> '' OR release ~ '^(many|wide).*(dark|delta)') AND function <> 'race_plan' OR call ~ '500|10000|''listed' OR function = 'race_heatmap' AND release = ''));
my $standby = RaceCluster->standby($primary);
$standby->wait_until('SELECT pg_is_in_recovery()');
my $query = 'SELECT n, bytes(call) FROM cases ORDER BY n';
my @here = split /\n/, $primary->sql($query);
my @there = split /\n/, $standby->sql($query);
cmp_ok(scalar @here, '>', 200, 'there are many answers');
is(join("\n", map { $there[$_] } grep { $there[$_] ne $here[$_] } 0 .. $#here), '', 'a standby: all answers are those of the primary server');
is(join("\n", grep { !/\|(?:[0-9a-f]{32})?$/ } @here), '', 'control: none of them is an error');
like($standby->sql_fails($_), qr/ERROR:  25006: /, "a standby: refused, with a clear error: $_") for q(CALL race_release('late', 'mixed', '{n}', 1)), q(CALL race_release_next('mixed')), q(CALL race_protect('other', epsilon_limit => 1)),
	q(CALL race_release_sketch('late', 'mixed', 'l2(dims=1, bandwidth=1, lower={0}, upper={10})', 'ARRAY[f]', 1)), q(CALL race_describe('mixed', 'n', description => 'x')), q(CALL race_grant('postgres', 'analyst')), q(CALL race_budget_adopt('mixed')), q(CALL race_budget_limit('mixed', 1e9, 0));
is($standby->sql('SELECT _racepriv._race_identity()'), $primary->sql('SELECT _racepriv._race_identity()'), 'a standby is the copy that it follows');
$standby->run_here('pg_ctl', '-D', $standby->data, '-w', 'promote');
isnt($standby->sql('SELECT _racepriv._race_identity()'), $primary->sql('SELECT _racepriv._race_identity()'), 'control: promoted, it is another');

done_testing();
