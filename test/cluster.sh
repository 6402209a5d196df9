# cluster.sh: sourced by test/run, test/bench/run and demo/run from the top of the
# tree.  Installs what is missing, builds the extension, and runs a throw-away
# PostgreSQL with it.
#
# Nothing outside $WORK changes: the server is a copy of the installed one, with
# the extension added, owned and run by an unprivileged user.  PostgreSQL finds
# its files relative to its binary, so that a copy works.

set -eu
export LC_ALL=C.UTF-8
. test/packages.sh

# The unprivileged owner of the cluster: ourselves, or if we are root the user that
# Debian's package made
owner() {
	if [ "$(id -u)" != 0 ]; then
		id -un
	elif id postgres >/dev/null 2>&1; then
		echo postgres
	else
		echo nobody
	fi
}

as_owner() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u "$(owner)" -- env PATH="$PATH" "$@"
	else
		"$@"
	fi
}

# make_build AS MAKE_ARGUMENTS ...: make in the copy of the tree, run by as_owner or
# env.  What an outer make was told about the tree itself does not hold there.
make_build() {
	runner=$1
	shift
	"$runner" make -s -C "$WORK/build" PG_CONFIG="$PG_CONFIG" VPATH= "$@"
}

# build MAKE_ARGUMENTS ...: in a copy of the tree, so that this one stays clean
build() {
	mkdir -p "$WORK/build"
	tar -C "$TOP" --exclude=./.git --exclude='*.o' --exclude='*.bc' \
		--exclude='*.so' -cf - . | tar -C "$WORK/build" -xf -
	make_build env -j2 "$@" all >"$WORK/build.log" 2>&1 ||
		{ cat "$WORK/build.log" >&2; die "the build failed"; }
	[ ! -s "$WORK/build.log" ] || cat "$WORK/build.log"
}

# A copy of the installed server with the extension in it.  PGXS cannot install bitcode
# to a path with spaces; seen from the build, the path has none.
install_copy() {
	for dir in --bindir --pkglibdir --sharedir; do
		path=$("$PG_CONFIG" $dir)
		mkdir -p "$WORK/root$path"
		tar -C "$path" --exclude=./bitcode --exclude=./pgxs -chf - . |
			tar -C "$WORK/root$path" -xf -
	done
	make_build env "$@" install install-older DESTDIR=../root \
		>"$WORK/install.log" 2>&1 ||
		{ cat "$WORK/install.log" >&2; die "the installation failed"; }
	PATH="$WORK/root$("$PG_CONFIG" --bindir):$PATH"
	export PATH
}

# start_cluster [VARIABLE=VALUE ...]: in the environment of the server alone
start_cluster() {
	mkdir "$WORK/cluster"
	cd "$WORK/cluster"		# the owner may not be able to enter $TOP
	chmod 755 "$WORK"
	[ "$(id -u)" != 0 ] || chown "$(owner)" "$WORK/cluster"
	as_owner test -w "$WORK/cluster" ||
		die "the user $(owner) cannot write to $WORK/cluster: set TMPDIR to a folder that everybody may enter"
	as_owner initdb -D "$WORK/cluster/data" -E UTF8 --locale=C.UTF-8 -A trust \
		-U postgres >"$WORK/initdb.log" 2>&1 ||
		{ cat "$WORK/initdb.log" >&2; die "initdb failed"; }
	cat >>"$WORK/cluster/data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$WORK/cluster'
		fsync = off
		shared_buffers = 256MB
		max_wal_size = 4GB
		log_min_messages = fatal
	END
	as_owner env "$@" pg_ctl -D "$WORK/cluster/data" -w -l "$WORK/cluster/log" start \
		>/dev/null || { cat "$WORK/cluster/log" >&2; die "the server did not start"; }
	export PGHOST="$WORK/cluster" PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# Stop the server, if there is one, and remove what build and the rest have made.
remove_cluster() {
	cd /
	if [ -f "$WORK/cluster/data/postmaster.pid" ]; then
		as_owner pg_ctl -D "$WORK/cluster/data" -m immediate stop >/dev/null || true
	fi
	rm -rf "$WORK/build" "$WORK/root" "$WORK/cluster"
}

clean_up() {
	status=${1:-$?}
	trap - EXIT
	remove_cluster
	rm -rf "$WORK"
	exit $status
}

TOP=$(pwd)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/racepriv.XXXXXX")
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
