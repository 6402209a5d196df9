# racepriv: private RACE sketches in PostgreSQL
#
# make, make install    the usual PGXS targets
# make demo             see it work, on a throw-away cluster
# make dashboard        see it in a browser; the same, until you stop it
# make check            all tests, on a throw-away cluster
# make dist             the archive for PGXN, of what is committed
# make sbom             racepriv-VERSION.spdx.json: a software bill of materials (SPDX 2.3)
# make extension-image  the layout of an image volume for CloudNativePG, in the folder IMAGE
# make bench            accuracy, speed and tables on real data, in the folder RACEPRIV_DATA
# make bench-accuracy   the first alone
# make gate             accuracy and speed against test/bench/gate.txt; without RACEPRIV_DATA on made tables
# make gate-short       the same on made tables, without speed: 3 minutes

DISTNAME = racepriv
EXTENSION = racepriv racepriv_release
EXTVERSION = 0.3.0

PG_CONFIG ?= pg_config

# The folder of this file: another one than the current in a VPATH build
# (mkdir build && cd build && make -f ../Makefile).
SOURCE := $(or $(VPATH:%/=%),$(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST)))))
ifeq ($(wildcard $(SOURCE)/$(DISTNAME).control),)
$(error make cannot build from a folder with spaces in its path: run make in that folder itself)
endif

ifneq ($(filter check demo dashboard bench bench-accuracy gate gate-short format,$(MAKECMDGOALS)),)
# These install what they need first, PGXS included.  The last line that is
# printed is theirs.
MAKEFLAGS += --no-print-directory
check:
	$(SOURCE)/test/run
demo:
	$(SOURCE)/demo/run
dashboard:
	$(SOURCE)/demo/dashboard/run
bench:
	$(SOURCE)/test/bench/run
bench-accuracy:
	$(SOURCE)/test/bench/run accuracy
gate gate-short:
	$(SOURCE)/test/bench/run $@
format:
	$(SOURCE)/test/format
.PHONY: check demo dashboard bench bench-accuracy gate gate-short format
else ifeq ($(MAKECMDGOALS),dist)
dist:
	cd $(SOURCE) && git archive --format=zip --prefix=$(DISTNAME)-$(EXTVERSION)/ \
		-o $(DISTNAME)-$(EXTVERSION).zip HEAD
.PHONY: dist
else

# The files of the source that match patterns, by their names in it
files_of = $(patsubst $(SOURCE)/%,%,$(wildcard $(addprefix $(SOURCE)/,$(1))))

# The floors of src/, bottom to top: each uses those below it.
FLOORS = privacy hash sketch choice release answers

MODULE_big = $(DISTNAME)
OBJS = src/racepriv.o \
	$(patsubst %.c,%.o,$(sort $(foreach floor,$(FLOORS),$(call files_of,src/$(floor)/*.c))))

# The install scripts are made of the SQL beside the C, in this order.
RACEPRIV_SQL = $(addprefix src/, sketch/params.sql sketch/sketch.sql release/privatize.sql sketch/moments.sql \
	$(patsubst %,answers/%.sql,fit estimate classify models moments_answers columns))
RACEPRIV_RELEASE_SQL = $(addprefix src/, release/schema.sql sketch/domain.sql \
	$(patsubst %,release/%.sql,weighted ledger series protect release columns models) \
	$(patsubst %,answers/%.sql,sketch_answers table_answers) \
	$(patsubst %,answers/named/%.sql,period released classified catalog tables chart label) release/rights.sql)
EXTENSION_SQL = $(EXTENSION:%=%--$(EXTVERSION).sql)
DATA_built = $(EXTENSION_SQL)
EXTRA_CLEAN = *.spdx.json image test/unit/*_test $(FUZZERS) $(SANITIZER_CONTROLS) test/modules/*.so results

FUZZERS = test/fuzz/mutate test/fuzz/structure
SANITIZER_CONTROLS = test/sanitize/control test/sanitize/control.so \
	test/sanitize/first.so

REGRESS = $(sort $(patsubst sql/%.sql,%,$(call files_of,sql/*.sql)))

# The same bits everywhere, in JIT bitcode too: no contraction to fused
# multiply-add but where the code says fma.
PG_CPPFLAGS = -ffp-contract=off -I$(SOURCE)/src

# The same library, whatever the folder is that it is built in
PG_CPPFLAGS += -ffile-prefix-map=$(realpath .)=. -ffile-prefix-map=$(realpath $(SOURCE))=.
SHLIB_LINK = -lm

# Warnings are about our code, not about the server's headers.
SERVER_HEADERS := $(shell $(PG_CONFIG) --includedir-server)
ifeq ($(wildcard $(SERVER_HEADERS)/postgres.h),)
$(error PostgreSQL's server headers are missing: install them (on Debian a package postgresql-server-dev-VERSION), or set PG_CONFIG to the pg_config of another installation)
endif
PG_CPPFLAGS += -isystem $(SERVER_HEADERS)

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Calls within the library are bound when it is linked.  Else each session looks up hundreds
# of names when it loads it.
ifeq ($(PORTNAME), linux)
SHLIB_LINK += -Wl,-Bsymbolic-functions
endif

# Loops over counters, Gram matrices and distances are written for vectors; roots of sums of
# squares need no errno.
src/privacy/counters.o src/answers/solver.o src/answers/graphical_model.o src/answers/graphical_fit.o: CFLAGS += -ftree-vectorize $(HOT)
src/answers/radial.o src/hash/moment_sums.o src/privacy/products.o: CFLAGS += -ftree-vectorize -fno-math-errno $(HOT)
# The vector code has short loops, which gcc unrolls from -O2 on.  Sanitizers, which are used with -O1, set HOT to that:
# without it this code is eight times slower.
src/hash/hash_portable.o src/hash/hash_avx2.o src/hash/hash_avx512.o: CFLAGS += $(HOT)

# What the ledger records of the library that drew noise: its version and commit, which is unknown outside of a repository
# of its own.  The file changes with the commit alone, so that equal sources give equal bits; and whoever installs what
# somebody else has built, and may not read that repository, takes the commit that it was built from.
COMMIT := $(shell cd $(SOURCE) && if [ "$$(git rev-parse --show-toplevel 2>/dev/null)" = "$$(pwd -P)" ]; \
	then git describe --always --dirty --exclude='*' --abbrev=12; else echo unknown; fi)
src/release/commit.tmp: FORCE
	@mkdir -p $(@D); text='#define RACE_COMMIT "$(COMMIT)"'; \
	if [ ! -f $@ ] || { [ '$(COMMIT)' != unknown ] && [ "$$(cat $@)" != "$$text" ]; }; then echo "$$text" > $@; fi
FORCE:
.PHONY: FORCE
src/release/release.o src/release/release.bc: src/release/commit.tmp
src/release/release.o src/release/release.bc: override CPPFLAGS += -include src/release/commit.tmp -DRACE_VERSION='"$(EXTVERSION)"'
EXTRA_CLEAN += src/release/commit.tmp

HEADERS = $(call files_of,src/*/*.h)
$(OBJS): $(HEADERS)
$(OBJS:.o=.bc): $(HEADERS)

# What tests run: programs of the pure C rooms alone, clients of the server, and a
# module that they load into a server of theirs.
UNIT_TESTS = $(patsubst %.c,%,$(call files_of,test/unit/*_test.c))
test-programs: $(UNIT_TESTS) $(FUZZERS) test/modules/fail_alloc.so
PURE = privacy/% hash/% choice/% \
	$(addprefix answers/,factor graphical% particles% lbfgs margins copula period radial distributions solver point_masses moments_psd)
PURE_OBJS = $(filter $(PURE:%=src/%.o),$(OBJS))
list-pure-core:
	@printf '%s\n' $(filter src/privacy/% src/hash/% src/choice/%,$(PURE_OBJS))
.PHONY: list-pure-core
# Tests that have their own race_noisy(), which notes what it is given; and those that note selections
test/unit/choice_test: REPLACED = -Wl,--wrap=race_noisy
test/unit/greybox_test test/unit/greybox_tables_test test/unit/greybox_series_test test/unit/privacy_test: \
	REPLACED = -Wl,--wrap=race_noisy,--wrap=race_noisy_best
$(UNIT_TESTS): %: %.c $(call files_of,test/unit/*.h) $(PURE_OBJS)
	$(CC) $(CFLAGS) $(PG_CPPFLAGS) -o $@ $< $(PURE_OBJS) $(REPLACED) -lm
FUZZED_OBJS = src/privacy/counters.o
$(FUZZERS): %: %.c test/fuzz/fuzz.c test/fuzz/fuzz.h $(FUZZED_OBJS)
	$(CC) $(CFLAGS) -I$(SOURCE)/src -I$(shell $(PG_CONFIG) --includedir) -o $@ $(filter %.c %.o,$^) \
		-L$(shell $(PG_CONFIG) --libdir) -lpq -lm
test-programs: test/modules/split_aggregate.so test/modules/machine.so
test/modules/fail_alloc.so test/modules/split_aggregate.so test/modules/machine.so: %.so: %.c
	$(CC) $(CPPFLAGS) $(CFLAGS) $(CFLAGS_SL) -shared -o $@ $<

# What test/run sanitize needs beside these.
sanitizer-controls: $(SANITIZER_CONTROLS)
test/sanitize/control: test/sanitize/control.c
	$(CC) $(CFLAGS) -o $@ $<
test/sanitize/control.so: test/sanitize/control.c
	$(CC) $(CFLAGS) $(CPPFLAGS) -DCONTROL_IN_SERVER -fPIC -shared -o $@ $<
test/sanitize/first.so: test/sanitize/first.c
	$(CC) -shared -fPIC -Wl,-z,initfirst -o $@ $<
.PHONY: test-programs sanitizer-controls

racepriv--$(EXTVERSION).sql: $(RACEPRIV_SQL)
racepriv_release--$(EXTVERSION).sql: $(RACEPRIV_RELEASE_SQL)
$(EXTENSION_SQL): Makefile
	{ printf '%s\n' '\echo Use "CREATE EXTENSION $(@:%--$(EXTVERSION).sql=%)" to load this file. \quit'; \
	  cat $(filter %.sql,$^); } > $@

# A made-up older version, and the step from it to this one, for the test of upgrades
OLDER = 0.0.1
install-older: $(EXTENSION_SQL)
	$(MKDIR_P) '$(DESTDIR)$(datadir)/extension'
	set -e; for name in $(EXTENSION); do \
		$(SOURCE)/test/upgrade/make_older $$name < $$name--$(EXTVERSION).sql > older.tmp; \
		$(SOURCE)/packaging/make_upgrade older.tmp $$name--$(EXTVERSION).sql > upgrade.tmp; \
		$(INSTALL_DATA) older.tmp '$(DESTDIR)$(datadir)/extension/'$$name--$(OLDER).sql; \
		$(INSTALL_DATA) upgrade.tmp '$(DESTDIR)$(datadir)/extension/'$$name--$(OLDER)--$(EXTVERSION).sql; \
	done
	rm older.tmp upgrade.tmp
.PHONY: install-older

sbom: $(DISTNAME)-$(EXTVERSION).spdx.json
$(DISTNAME)-$(EXTVERSION).spdx.json: $(EXTENSION_SQL) $(SOURCE)/packaging/make_sbom
	cd $(SOURCE) && packaging/make_sbom $(EXTVERSION) $(RACEPRIV_SQL) $(RACEPRIV_RELEASE_SQL) $(call files_of,src/*.c) $(call files_of,src/*/*.[ch]) \
		$(EXTENSION:%=%.control) Makefile LICENSE > $(abspath $@)

# lib and share/extension are where dynamic_library_path and extension_control_path of
# PostgreSQL 18 look for an extension that CloudNativePG mounts.
IMAGE ?= image
extension-image: all
	$(MKDIR_P) '$(IMAGE)/lib' '$(IMAGE)/share/extension' '$(IMAGE)/licenses'
	$(INSTALL_SHLIB) $(DISTNAME)$(DLSUFFIX) '$(IMAGE)/lib/'
	$(INSTALL_DATA) $(EXTENSION:%=$(SOURCE)/%.control) $(EXTENSION_SQL) '$(IMAGE)/share/extension/'
	$(INSTALL_DATA) $(SOURCE)/LICENSE '$(IMAGE)/licenses/'
.PHONY: sbom extension-image

# In a VPATH build make takes what was built in the source for its own, and it does not
# make folders.
ifneq ($(realpath $(SOURCE)),$(realpath .))
ifneq ($(call files_of,$(EXTENSION_SQL) src/*.o),)
$(error run make clean in $(SOURCE) first: it has been built there)
endif
$(shell mkdir -p $(sort $(dir $(OBJS) $(UNIT_TESTS))) test/fuzz)
endif
endif
