# What is granted to owners and curators works on what is theirs.  On the dataset of
# someone else it is refused, with SQLSTATE 42501, nothing entered and no lock kept.
# Two owners never share a budget unless a role may act for both, and no call of one
# dataset stalls another.
use strict;
use warnings;
use lib 'test/t';
use RaceCluster qw(as fails);
use Test::More;

my $params = 'l2(dims=1, rows=16, range=16)';
my $cluster = RaceCluster->new;
$cluster->sql("CREATE ROLE $_ LOGIN") for qw(anna anna_curator bert bert_curator guardian);
$cluster->sql(<<"END");
CREATE EXTENSION racepriv_release CASCADE;
CREATE SCHEMA shared;
GRANT USAGE, CREATE ON SCHEMA shared TO anna, bert, guardian;
GRANT USAGE ON SCHEMA shared TO anna_curator, bert_curator;
GRANT anna, bert TO guardian;
END
$cluster->sql("CALL race_grant('$_', 'owner')") for qw(anna bert guardian);
$cluster->sql("CALL race_grant('$_', 'curator')") for qw(anna_curator bert_curator);

sub session {
	my ($role) = @_;
	local $ENV{PGUSER} = $role;
	return $cluster->session;
}

# A table of an owner, which her curator may read
sub make_table {
	my ($owner, $table) = @_;
	as($owner, "CREATE TABLE $table AS SELECT i AS id, ARRAY[i % 10] AS x FROM generate_series(1, 100) i;"
		. " GRANT SELECT ON $table TO ${owner}_curator");
}

sub release {
	my ($name, $dataset) = @_;
	return "CALL race_release_sketch('$name', '$dataset', '$params', 'x', 1)";
}

sub ledger {
	return $cluster->sql('SELECT (SELECT count(*) FROM _racepriv.race_charges), (SELECT count(*) FROM _racepriv.race_datasets),'
		  . ' (SELECT count(*) FROM _racepriv.race_releases), (SELECT count(*) FROM _racepriv.race_budget_tables),'
		  . ' (SELECT count(*) FROM _racepriv.race_descriptions), (SELECT sum(spent_epsilon) FROM _racepriv.race_budgets), (SELECT sum(epsilon_limit) FROM _racepriv.race_budgets)');
}

sub spent {
	my ($budget) = @_;
	return $cluster->sql("SELECT spent_epsilon FROM _racepriv.race_budgets WHERE budget = '$budget'");
}

make_table('anna', 'shared.visits');
make_table('bert', 'shared.stays');
as('anna', "CALL race_protect('anna', 'shared.visits', 10)");
as('bert', "CALL race_protect('bert', 'shared.stays', 10)");
as('anna_curator', release('of anna', 'anna'));
as('bert_curator', release('of bert', 'bert'));

# ------------------------------------------------------- the authority matrix

# What each part is granted, called on Anna's dataset
my %calls = (
	race_protect => "CALL race_protect('more', 'shared.visits', 10)",
	race_budget_limit => "CALL race_budget_limit('anna', 99, 0)",
	race_budget_adopt => "CALL race_budget_adopt('anna')",
	race_describe => "CALL race_describe('anna', 'id', 1, 100)",
	race_release => "CALL race_release('columns', 'anna', '{id}', 1)",
	race_release_sketch => release('more', 'anna'),
	race_release_next => "CALL race_release_next('of anna')",
	race_refreshes_left => "SELECT race_refreshes_left('of anna')");

sub granted {
	my ($role) = @_;
	return $cluster->sql(<<"END");
SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc
WHERE proname ~ '^_?race_' AND EXISTS (SELECT FROM aclexplode(proacl) a WHERE a.grantee NOT IN (0, proowner) AND pg_has_role('$role', a.grantee, 'USAGE'))
END
}

is(granted('bert'), 'race_budget_adopt race_budget_limit race_describe race_protect race_refreshes_left', 'what an owner is granted');
is(granted('bert_curator'), 'race_refreshes_left race_release race_release_next race_release_sketch', 'what a curator is granted');

# Nobody holds a row of the ledger or a table
sub nothing_is_locked {
	my ($what) = @_;
	is($cluster->sql("SELECT count(*) FROM pg_locks l WHERE pid <> pg_backend_pid() AND (l.relation IN (SELECT oid FROM pg_class WHERE relname LIKE 'race\\_%' OR relname IN ('visits', 'stays')) OR l.locktype = 'object')"),
		0, "$what: no lock is kept");
	$cluster->sql('BEGIN; SELECT FROM _racepriv.race_budgets FOR UPDATE NOWAIT; ROLLBACK');
}

my $before = ledger();
for my $role ('bert', 'bert_curator') {
	for my $function (split / /, granted($role)) {
		like(fails($role, $calls{$function}), qr/\AERROR:  42501: /, "$role, $function on the dataset of another: refused");
		# in a transaction that goes on
		my $session = session($role);
		my $told = $session->ask("BEGIN; SAVEPOINT a; $calls{$function};\nROLLBACK TO a;");
		like($told, qr/ERROR/, "$role, $function in a transaction: refused");
		nothing_is_locked("$role, $function");
		$session->ask('ROLLBACK');
	}
}
is(ledger(), $before, 'the ledger is as it was');
# controls: they work for whom they are
as('anna', "$calls{race_protect}; $calls{race_describe}; $calls{race_budget_limit}; $calls{race_budget_adopt}; CALL race_budget_limit('anna', 10, 0)");
as('anna_curator', "$calls{race_release_next}; $calls{race_refreshes_left}; $calls{race_release_sketch}; $calls{race_release}");
is(ledger(), '11|3|5|2|1|5|20', 'control: they work for those whose dataset it is');

# ------------------------------------------------------------ names of tables

# Whoever takes a name that has become free neither joins nor blocks its budget.
as('anna', 'ALTER TABLE shared.visits RENAME TO visits_of_old');
make_table('bert', 'shared.visits');
as('bert', "CALL race_protect('taken', 'shared.visits', 5)");
is($cluster->sql("SELECT budget FROM _racepriv.race_datasets WHERE dataset = 'taken'"), 'taken', 'a name that was taken has a budget of its own');
as('bert_curator', release('taken', 'taken'));
as('anna_curator', release('renamed', 'anna'));
is(spent('taken') . '|' . spent('anna'), '1|5', 'and each pays for itself');
like(fails('bert', "CALL race_budget_limit('anna', 99, 0)"), qr/42501/, 'nor has the taker any right on the budget');

# A dataset whose relation is gone does not fall to who takes the name.
make_table('anna', 'shared.gone');
as('anna', "CALL race_protect('gone', 'shared.gone', 10); DROP TABLE shared.gone");
make_table('bert', 'shared.gone');
as('bert', 'GRANT SELECT ON shared.gone TO anna_curator');
like(fails('anna_curator', release('gone', 'gone')), qr/ERROR:  42P01/, 'a table of another under the old name is not the dataset');
as('bert', 'DROP TABLE shared.gone');
make_table('anna', 'shared.gone');
as('anna_curator', release('gone', 'gone'));
is(spent('gone'), 1, 'a table that its owner makes anew is');
like(fails('anna', "CALL race_protect('anew', 'shared.gone', 99)"), qr/ERROR:  22023: the tables of this relation have a budget already/,
	'and has its budget');

# The same for views
as('anna', "CREATE VIEW shared.seen AS TABLE shared.gone; GRANT SELECT ON shared.seen TO anna_curator; CALL race_protect('seen', 'shared.seen', 10); DROP VIEW shared.seen");
as('anna', 'GRANT SELECT ON shared.gone TO bert');
as('bert', 'CREATE VIEW shared.seen AS SELECT id, ARRAY[5] AS x FROM shared.gone; GRANT SELECT ON shared.seen TO anna_curator');
like(fails('anna_curator', release('seen', 'seen')), qr/ERROR:  42P01/, 'nor is a view of another under the old name');
as('bert', 'DROP VIEW shared.seen');

# Tables of two owners share a budget if one role may act for both.
make_table('anna', 'shared.hers');
make_table('bert', 'shared.his');
as('anna', "CALL race_protect('hers', 'shared.hers', 7); GRANT SELECT ON shared.hers TO bert");
as('bert', 'CREATE VIEW shared.joint AS SELECT h.id, h.x FROM shared.hers h JOIN shared.his USING (id)');
like(fails('bert', "CALL race_protect('joint', 'shared.joint', 7, 0, 'id', 1)"), qr/ERROR:  42501: must be owner of relation "shared.hers"/,
	'an owner alone cannot join the budget of another');
as('guardian', "CALL race_protect('joint', 'shared.joint', 7, 0, 'id', 1)");
is($cluster->sql("SELECT budget FROM _racepriv.race_datasets WHERE dataset = 'joint'"), 'hers', 'who acts for both can');
like(fails('anna', "CALL race_budget_limit('hers', 9, 0)"), qr/ERROR:  42501: must be owner of relation "shared.his"/,
	'then neither changes the limits alone');
# nor does a table join by being given away
as('guardian', 'ALTER TABLE shared.hers OWNER TO bert');
like(fails('bert', "CALL race_budget_limit('joint', 9, 0)") , qr/no error/, 'a table that is given away takes its budget along');
make_table('anna', 'shared.hers_again');
as('bert', 'ALTER TABLE shared.hers RENAME TO was_hers');
as('anna', 'ALTER TABLE shared.hers_again RENAME TO hers');
as('anna', "CALL race_protect('hers again', 'shared.hers', 9)");
is($cluster->sql("SELECT budget FROM _racepriv.race_datasets WHERE dataset = 'hers again'"), 'hers again', 'a new table that its owner of before makes under its name has its own');

# ------------------------------------------------------------------- stalls

# In an open transaction, what anyone may leave open
make_table('anna', 'shared.' . $_) for qw(open1 open2 calm);
as('anna', "CALL race_protect('calm', 'shared.calm', 10)");
for my $open ("CALL race_protect('open1', 'shared.open1', 10)", "CALL race_budget_limit('gone', 20, 0)", "CALL race_budget_adopt('gone')") {
	my $session = session('anna');
	is($session->ask("BEGIN; $open"), '', "open: $open");
	my $patience = "SET lock_timeout = '20s'";
	as('anna_curator', "$patience; CALL race_release_sketch('calm $open', 'calm', '$params', 'x', 1)" =~ s/calm CALL race_(\w+).*?', 'calm'/calm $1', 'calm'/r);
	as('bert', "$patience; CREATE TABLE shared.bert_$_ (id int); CALL race_protect('bert $_', 'shared.bert_$_', 1)") for $open =~ /race_(\w+)/;
	as('anna', "$patience; CALL race_budget_limit('calm', 11, 0); CALL race_budget_adopt('calm')");
	is($session->ask('ROLLBACK'), '', 'and nothing else waits for it');
}
# who protects the same table waits, and shares the budget
my $first = session('anna');
$first->ask("BEGIN; CALL race_protect('open2', 'shared.open2', 3)");
my $second = session('anna')->start("CALL race_protect('open2 too', 'shared.open2', 3)");
$cluster->wait_for_locks(1);
$first->ask('COMMIT');
is($second->finish, '', 'control: who protects the same table waits');
is($cluster->sql("SELECT DISTINCT budget FROM _racepriv.race_datasets WHERE dataset LIKE 'open2%'"), 'open2', 'and shares its budget');
# an uncommitted partition of a dataset does not stall its releases
as('anna', "CREATE TABLE shared.years (id int, x int[]) PARTITION BY LIST (id); GRANT SELECT ON shared.years TO anna_curator; CALL race_protect('years', 'shared.years', 10);"
	. ' CREATE TABLE shared.years1 PARTITION OF shared.years FOR VALUES IN (1)');
$first->ask("BEGIN; CALL race_protect('years1', 'shared.years1', 10)");
as('anna_curator', "SET lock_timeout = '20s'; " . release('years', 'years'));
is($first->ask('COMMIT'), '', 'a partition that is protected in an open transaction does not stall the whole');
as('anna', 'ALTER TABLE shared.years DETACH PARTITION shared.years1');
is($cluster->sql("SELECT DISTINCT budget FROM _racepriv.race_budget_tables WHERE table_name LIKE 'shared.years%'"), 'years', 'and it has the budget of the whole');

# ------------------------------------------- code that runs in sessions of others

# Bert makes the server run his code in a session of Anna or of a superuser: what she may do
# on her budget, it may not.
make_table('anna', 'shared.kept');
as('anna', "ALTER TABLE shared.kept ADD PRIMARY KEY (id); CALL race_protect('kept', 'shared.kept', 1); GRANT REFERENCES ON shared.kept TO bert");
as('bert', <<'END');
CREATE FUNCTION shared.act() RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION shared.trap(value int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM shared.act(); RETURN value; END';
CREATE TABLE shared.trapped (id int);
CREATE INDEX trap ON shared.trapped (shared.trap(id));
INSERT INTO shared.trapped VALUES (1);
CREATE FUNCTION shared.snare() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM shared.act(); RETURN old; END';
CREATE TABLE shared.referring (id int REFERENCES shared.kept ON DELETE CASCADE);
CREATE TRIGGER snare BEFORE DELETE ON shared.referring FOR EACH ROW EXECUTE FUNCTION shared.snare();
INSERT INTO shared.referring VALUES (1);
CREATE OR REPLACE FUNCTION shared.act() RETURNS void LANGUAGE plpgsql AS 'BEGIN CALL public.race_budget_limit(''kept'', 99, 0); END';
END
like($cluster->sql_fails($_), qr/ERROR:  42501: budgets cannot be used while the server acts/, "$_ by a superuser: refused")
  for 'REINDEX TABLE shared.trapped', 'ANALYZE shared.trapped';
like(fails('anna', 'DELETE FROM shared.kept WHERE id = 1'), qr/ERROR:  42501: budgets cannot be used while the server acts/, 'a trigger behind a foreign key: refused');
is($cluster->sql("SELECT epsilon_limit FROM _racepriv.race_budgets WHERE budget = 'kept'"), 1, 'the limit is as it was');
as('anna', 'SELECT shared.trap(1)');
is($cluster->sql("SELECT epsilon_limit FROM _racepriv.race_budgets WHERE budget = 'kept'"), 99, 'control: called by herself it works');

done_testing();
