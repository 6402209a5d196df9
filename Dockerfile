# racepriv on the official image of PostgreSQL:
#   docker build --build-arg PG_MAJOR=17 -t racepriv .
#   docker run -e POSTGRES_PASSWORD=secret racepriv
# A new database has the extension: packaging/docker has the script that makes it.
ARG PG_MAJOR=17
FROM postgres:${PG_MAJOR}
ARG PG_MAJOR

COPY . /tmp/racepriv
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential postgresql-server-dev-${PG_MAJOR} \
 && make -C /tmp/racepriv -j2 with_llvm=no PG_CONFIG=/usr/lib/postgresql/${PG_MAJOR}/bin/pg_config install \
 && install -m 644 /tmp/racepriv/packaging/docker/10-racepriv.sql /docker-entrypoint-initdb.d/ \
 && install -D -t /usr/share/doc/racepriv /tmp/racepriv/LICENSE /tmp/racepriv/README.md /tmp/racepriv/doc/*.md \
 && rm -rf /tmp/racepriv \
 && apt-get purge -y --auto-remove build-essential postgresql-server-dev-${PG_MAJOR} \
 && rm -rf /var/lib/apt/lists/*
