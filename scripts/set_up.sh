#!/bin/sh
# Makes .venv in the project's folder with the versions of constraints.txt: the project itself (editable), the command
# `pointstamp`, and all extras. `set_up.sh core` leaves the extras out, and what belongs to the system: neither Spark nor
# Java nor a compiler nor a browser is fetched, and what needs them says so when it is used. A stamp written at the very end tells a
# finished .venv from an interrupted one; it holds the folder's path (a .venv cannot be moved) and a checksum of what
# decides the content, so a second run has nothing to do. Where there is everything, there is the core as well.
set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd "$(dirname "$0")/.."

part=${1:-all}
stamp=.venv/set-up-complete
fingerprint=$(pwd -P && cat pyproject.toml setup.py constraints.txt scripts/set_up.sh scripts/fetch_kafka.py progress/kernel/*.* | cksum)
if [ -x .venv/bin/python ]; then
    there=$(cat "$stamp" 2>/dev/null || true)
    [ "$there" != "$fingerprint all" ] || exit 0
    [ "$there" != "$fingerprint $part" ] || exit 0
fi

fail() {
    echo "set-up: $*" >&2
    exit 1
}
case $part in
core | all) ;;
*) fail "no part is called $part: core or all" ;;
esac

# The first of these that runs and is new enough. python3.11 comes first, because constraints.txt was made with it.
choose_python() {
    found=
    for candidate in ${PYTHON:-python3.11 python3 python3.12 python3.13 python3.14}; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            # Not the interpreter of an activated .venv, which is about to go, but the one that it was made with.
            python=$("$candidate" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))')
            return
        fi
        found="$found $candidate is $version;"
    done
    fail "Python 3.11 or newer is needed;${found:- none was found;} install one or name it: make setup PYTHON=/path/to/python3.11"
}

# Debian and its relatives keep a part of Python that venv needs in a package of its own.
has_venv() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null
}
require_venv() {
    has_venv && return
    package=python$version-venv
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        fail "$python cannot make virtual environments (no ensurepip); install the package $package, then run again"
    fi
    echo "set-up: $python lacks ensurepip; installing the package $package"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get install -qq -y "$package" || { apt-get update -qq && apt-get install -qq -y "$package"; }; } >/dev/null 2>&1 </dev/null || true
    has_venv || fail "$python still lacks ensurepip; install the package $package by hand, then run again"
}

# The kernel needs a C compiler and Python's headers, which Debian keeps in packages of their own.
has_compiler() {
    include=$("$1" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
    echo '#include <Python.h>' | ${CC:-cc} -E -I "$include" - >/dev/null 2>&1
}
want_compiler() {
    has_compiler "$1" && return
    if [ "$part" = all ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        headers=$("$1" -c 'import sys; print("python%d.%d-dev" % sys.version_info[:2])')
        echo "set-up: no C compiler with Python's headers; installing the packages gcc, libc6-dev and $headers"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get install -qq -y gcc libc6-dev "$headers" || { apt-get update -qq && apt-get install -qq -y gcc libc6-dev "$headers"; }; } >/dev/null 2>&1 </dev/null || true
    fi
    has_compiler "$1" || echo "set-up: going on without a C compiler: all works, but the engine runs in plain Python, slower"
}

# Spark needs Java, and fetches GraphFrames when it starts for the first time; so it does Delta Lake and Iceberg for tests. Whoever has no use for it says
# WITHOUT_SPARK=1; all else works without, and only where CI is set is it an error that one of the two cannot be had.
has_java() {
    "$1" -c 'from progress.runtime.on_spark.jvm import check_java; check_java()' >/dev/null 2>&1
}
want_spark() {
    [ "$part" = all ] && [ -z "${WITHOUT_SPARK:-}" ] || return 0
    if ! has_java "$1" && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "set-up: no Java 17; installing the package openjdk-17-jre-headless"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get install -qq -y openjdk-17-jre-headless || { apt-get update -qq && apt-get install -qq -y openjdk-17-jre-headless; }; } >/dev/null 2>&1 </dev/null || true
    fi
    echo "set-up: starting Spark once, so that it has what it needs"
    said=$("$1" -c 'from progress.runtime.on_spark.session import DELTA, ICEBERG, start_session
start_session(packages=[DELTA, ICEBERG]).stop()' 2>&1) && return
    said=$(printf '%s\n' "$said" | tail -n 1)
    [ -z "${CI:-}" ] || fail "Spark does not start: $said"
    echo "set-up: going on without Spark, whose tests will fail: $said"
}

# The pages that a run serves are tested in a browser, which is Debian's. Whoever has no use for it says
# WITHOUT_CHROMIUM=1; those tests fail then.
want_chromium() {
    [ "$part" = all ] && [ -z "${WITHOUT_CHROMIUM:-}" ] || return 0
    ! command -v chromium >/dev/null || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "set-up: no Chromium; installing the package chromium"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get install -qq -y --no-install-recommends chromium || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; }; } >/dev/null 2>&1 </dev/null || true
    fi
    ! command -v chromium >/dev/null || return 0
    [ -z "${CI:-}" ] || fail "no Chromium, in which pages are tested; install the package chromium"
    echo "set-up: going on without Chromium: the tests of pages in a browser will fail"
}

# What is drawn for Graphviz is read by it in the tests, and pictures are measured beside its own.
want_graphviz() {
    [ "$part" = all ] && ! command -v dot >/dev/null || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "set-up: no Graphviz; installing the package graphviz"
        export DEBIAN_FRONTEND=noninteractive
        { apt-get install -qq -y --no-install-recommends graphviz || { apt-get update -qq && apt-get install -qq -y --no-install-recommends graphviz; }; } >/dev/null 2>&1 </dev/null || true
    fi
    ! command -v dot >/dev/null || return 0
    [ -z "${CI:-}" ] || fail "no Graphviz, which reads what is drawn for it; install the package graphviz"
    echo "set-up: going on without Graphviz: the tests that draw for it fail"
}

# Tables of PostgreSQL are tested with a server of its own, which the tests start and stop. The package may not start another.
has_postgresql() {
    command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}
want_postgresql() {
    [ "$part" = all ] && ! has_postgresql || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "set-up: no PostgreSQL; installing the package postgresql"
        export DEBIAN_FRONTEND=noninteractive
        mkdir -p /etc/postgresql-common/createcluster.d
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/no-cluster.conf
        { apt-get install -qq -y --no-install-recommends postgresql || { apt-get update -qq && apt-get install -qq -y --no-install-recommends postgresql; }; } >/dev/null 2>&1 </dev/null || true
    fi
    ! has_postgresql || return 0
    [ -z "${CI:-}" ] || fail "no PostgreSQL, with which its sink is tested; install the package postgresql"
    echo "set-up: going on without PostgreSQL: the tests of its sink fail"
}

# Topics of Kafka are tested with a broker of its own, whose jars come as those of Spark do.
want_kafka() {
    [ "$part" = all ] && [ -z "${WITHOUT_SPARK:-}" ] || return 0
    said=$("$1" scripts/fetch_kafka.py 2>&1) && return
    said=$(printf '%s\n' "$said" | tail -n 1)
    [ -z "${CI:-}" ] || fail "no broker of Kafka, with which its sink is tested: $said"
    echo "set-up: going on without a broker of Kafka, whose tests will fail: $said"
}

install() {
    .venv/bin/python -I -m pip --disable-pip-version-check install --quiet --no-input --progress-bar off --constraint constraints.txt "$@" ||
        fail "pip could not install everything (its words are above); run make setup again when that is mended"
}

if [ -x .venv/bin/python ] && [ "$(head -n 1 "$stamp" 2>/dev/null)" = "$(pwd -P)" ]; then
    echo "set-up: bringing .venv up to date"
    rm -f "$stamp"
else
    choose_python
    require_venv
    size="about half a gigabyte"
    [ "$part" = all ] || size="a few megabytes"
    echo "set-up: making .venv with $python ($version); the first time fetches $size"
    rm -rf .venv
    "$python" -m venv .venv
fi
want_compiler .venv/bin/python
# setuptools first: with it in place nothing is built in an environment of unpinned versions.
install pip setuptools
if [ "$part" = all ]; then
    install --no-build-isolation --editable '.[all]'
else
    install --no-build-isolation --editable .
fi
want_spark .venv/bin/python
want_chromium
want_graphviz
want_postgresql
want_kafka .venv/bin/python
printf '%s %s\n' "$fingerprint" "$part" >"$stamp"
echo "set-up: done; try .venv/bin/pointstamp --help"
