# packages.sh: finds what the scripts need, and installs what is missing.  cluster.sh
# sources this.
#
# Each piece is looked for itself.  A package may be there without the piece, and a
# piece may come from elsewhere than a package.

# Where Debian keeps its servers, in a folder for each version
POSTGRESQL_ROOT=${POSTGRESQL_ROOT:-/usr/lib/postgresql}
OLDEST_MAJOR=13

packages=		# those that are missing
as_root=		# the command that makes root run something
lists_updated=

die() {
	echo "$*" >&2
	exit 1
}

have() {
	command -v "$1" >/dev/null
}

##### which PostgreSQL

# What pg_config says, or nothing where there is none
pg_place() {
	[ -z "$PG_CONFIG" ] || "$PG_CONFIG" "$1" 2>/dev/null || true
}

makefile_global() {
	echo "$(dirname "$(dirname "$(pg_place --pgxs)")")/Makefile.global"
}

# The newest version in Debian's folder that has a server and its headers
complete_version() {
	for folder in "$POSTGRESQL_ROOT"/*/bin; do
		PG_CONFIG=$folder/pg_config
		[ ! -x "$folder/postgres" ] || [ ! -e "$(pg_place --includedir-server)/postgres.h" ] ||
			basename "$(dirname "$folder")"
	done | grep -E '^[0-9]+$' | sort -rn | head -n 1
}

# What the package postgresql depends on
newest_version() {
	apt-cache show --no-all-versions postgresql 2>/dev/null |
		sed -n 's/^Depends:.*postgresql-\([0-9][0-9]*\).*/\1/p' | head -n 1
}

# PG_CONFIG as it was given: a path, or the name of a program
resolve_pg_config() {
	case $PG_CONFIG in
	/*) ;;
	*/*) PG_CONFIG=${OLDPWD:-$(pwd)}/$PG_CONFIG ;;		# the scripts went to the top
	*) PG_CONFIG=$(command -v "$PG_CONFIG" || echo "$PG_CONFIG") ;;
	esac
	wanted=${PG_MAJOR:-}
	PG_MAJOR=$(pg_place --version | sed -n 's/^PostgreSQL \([0-9][0-9]*\).*/\1/p')
	if [ -z "$PG_MAJOR" ] && [ ! -e "$PG_CONFIG" ]; then
		PG_MAJOR=${PG_CONFIG#"$POSTGRESQL_ROOT"/}
		PG_MAJOR=${PG_MAJOR%/bin/pg_config}
	fi
	case $PG_MAJOR in
	'' | *[!0-9]*) die "PG_CONFIG is $PG_CONFIG: that is not a pg_config of PostgreSQL" ;;
	"${wanted:-$PG_MAJOR}") ;;
	*) die "PG_CONFIG is of PostgreSQL $PG_MAJOR, but PG_MAJOR is $wanted" ;;
	esac
}

# PG_MAJOR without any wish: the newest that is installed with its headers, else the newest
# that there is.  It stays empty if that is not known.
find_version() {
	PG_MAJOR=$(complete_version)
	[ -n "$PG_MAJOR" ] || ! may_install || update_lists
	[ -n "$PG_MAJOR" ] || PG_MAJOR=$(newest_version)
}

# Sets PG_CONFIG and PG_MAJOR
choose_postgresql() {
	PG_CONFIG=${PG_CONFIG:-}
	if [ -n "$PG_CONFIG" ]; then
		resolve_pg_config
	elif [ -z "${PG_MAJOR:-}" ]; then
		find_version
	fi
	if [ -z "$PG_CONFIG" ] && [ -n "$PG_MAJOR" ]; then
		PG_CONFIG=$POSTGRESQL_ROOT/$PG_MAJOR/bin/pg_config
	fi
	case $PG_MAJOR in
	'') ;;
	*[!0-9]*) die "PG_MAJOR is $PG_MAJOR: it should be a number like 17" ;;
	*) [ "$PG_MAJOR" -ge "$OLDEST_MAJOR" ] ||
		die "this is PostgreSQL $PG_MAJOR: racepriv needs $OLDEST_MAJOR or newer" ;;
	esac
	export PG_CONFIG PG_MAJOR
}

##### what is missing

# need PACKAGE TEST ...: the package is missing if the test fails
need() {
	package=$1
	shift
	case " $packages " in
	*" $package "*) ;;
	*) "$@" >/dev/null 2>&1 || packages="$packages $package" ;;
	esac
}

# need_of_postgresql KIND FILE: the same for a file of PostgreSQL.  No package has what
# a PostgreSQL lacks that somebody built.
need_of_postgresql() {
	case $(pg_place --bindir) in
	'' | "$POSTGRESQL_ROOT"/*) ;;
	*) [ -e "$2" ] || die "the PostgreSQL of $PG_CONFIG lacks $2, and no package has it" ;;
	esac
	case $1-$PG_MAJOR in
	server-) package=postgresql ;;
	client-) package=postgresql-client ;;
	headers-) package=postgresql-server-dev-all ;;
	server-*) package=postgresql-$PG_MAJOR ;;
	client-*) package=postgresql-client-$PG_MAJOR ;;
	headers-*) package=postgresql-server-dev-$PG_MAJOR ;;
	esac
	need "$package" test -e "$2"
}

# The compiler that PostgreSQL was built with compiles extensions too
compiler() {
	name=$(pg_place --cc)
	name=${name%% *}
	echo "${name:-gcc}"
}

compiles() {
	echo "$1" | "$(compiler)" -x c -fsyntax-only -
}

need_build() {
	need make have make
	need "$(basename "$(compiler)")" have "$(compiler)"
	need libc6-dev compiles '#include <stdio.h>'
	need_of_postgresql client "$(pg_place --pgxs)"
	need_of_postgresql headers "$(pg_place --includedir-server)/postgres.h"
}

need_server() {
	for program in postgres initdb pg_ctl; do
		need_of_postgresql server "$(pg_place --bindir)/$program"
	done
	for program in psql createdb; do
		need_of_postgresql client "$(pg_place --bindir)/$program"
	done
}

# The modules that tests load, except their own
loads_modules() {
	modules=$(sed -n 's/^use \([A-Z][A-Za-z0-9:]*\).*/\1/p' test/t/*.p[lm] | sort -u)
	for module in $modules; do
		[ -e "test/t/$module.pm" ] || perl -M"$module" -e 1 || return 1
	done
}

# need_extension PACKAGE NAME: an extension that Debian may have for this version
need_extension() {
	case $(pg_place --bindir) in
	"$POSTGRESQL_ROOT"/*) [ -z "$(apt-cache madison "$1" 2>/dev/null)" ] || need "$1" test -e "$(pg_place --sharedir)/extension/$2.control" ;;
	esac
}

need_tests() {
	need perl have prove
	need perl loads_modules
	need python3 have /usr/bin/python3
	need_numpy
	need libpq-dev test -e "$(pg_place --includedir)/libpq-fe.h"
	need_of_postgresql client \
		"$(dirname "$(makefile_global)")/test/regress/pg_regress"
	need_of_postgresql server \
		"$(pg_place --sharedir)/extension/postgres_fdw.control"
	need_extension "postgresql-$PG_MAJOR-plproxy" plproxy
	need_extension "postgresql-$PG_MAJOR-cron" pg_cron
}

need_numpy() {
	need python3-numpy /usr/bin/python3 -c 'import numpy'
}

# Any BLAS has the header; the library itself is what is linked.
links() {
	echo 'int main(void) { return 0; }' | "$(compiler)" -x c -o /dev/null - "$1"
}

##### what clients need

OLDEST_NODE=18

node_is_new() {
	[ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$OLDEST_NODE" ]
}

need_node() {
	need nodejs node_is_new
	need npm have npm
}

need_client() {
	need postgresql-client have psql
}

need_clients() {
	need_node
	need chromium have "${CHROMIUM:-chromium}"
	for module in psycopg psycopg2 sqlalchemy pandas; do
		need "python3-$module" /usr/bin/python3 -c "import $module"
	done
	need python3-pip /usr/bin/python3 -m pip --version
	for module in setuptools wheel; do
		need "python3-$module" /usr/bin/python3 -c "import $module"
	done
	need default-jdk-headless have javac
	need libpostgresql-jdbc-java test -e /usr/share/java/postgresql.jar
	need pgbouncer test -x /usr/sbin/pgbouncer
}

# install_modules FOLDER: what its package-lock.json says, from the registry or the cache of
# npm.  A browser that a package would fetch is Debian's here.
install_modules() {
	(cd "$1" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --prefer-offline --no-audit --no-fund \
		--loglevel=error >"$WORK/npm.log" 2>&1) ||
		{ cat "$WORK/npm.log" >&2; die "npm could not install the modules of $1"; }
}

need_openblas() {
	need libopenblas-dev links -lopenblas
}

find_missing() {
	packages=
	choose_postgresql
	for kind in "$@"; do
		"need_$kind"
	done
	packages=${packages# }
}

##### how to install it

# Whether packages can be installed: by root, or by sudo without a password
may_install() {
	if [ "$(id -u)" != 0 ]; then
		as_root='sudo -n'
		have sudo && sudo -n true 2>/dev/null
	fi
}

apt_get() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
		-o DPkg::Lock::Timeout=120 "$@" >>"$WORK/apt.log" 2>&1
}

# Old lists may do, so that no network is no error here.
update_lists() {
	[ -n "$lists_updated" ] || apt_get update || true
	lists_updated=yes
}

no_rights() {
	die "
These packages are missing: $packages
Only root can install them.  As root, run

    apt-get update && apt-get install --no-install-recommends $packages

and then start this again."
}

install_packages() {
	have apt-get || die "
These are missing, by the names of Debian's packages: $packages
There is no apt-get here.  Install them as your system does it, and set PG_CONFIG."
	may_install || no_rights
	echo "Installing $packages ..."
	update_lists
	apt_get -y install --no-install-recommends $packages ||
		{ cat "$WORK/apt.log" >&2; die "could not install $packages"; }
}

# provide KIND ...: installs what is missing of build, server, client, tests, node, clients,
# numpy and openblas.  What PostgreSQL itself asks for is known when it is there, so that a
# second round may be needed.
provide() {
	for round in 1 2; do
		find_missing "$@"
		[ -n "$packages" ] || return 0
		install_packages
	done
	find_missing "$@"
	[ -z "$packages" ] ||
		die "What these packages should have is still not there: $packages"
}
