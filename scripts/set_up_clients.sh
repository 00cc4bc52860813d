#!/bin/sh
# Sees to it that the examples in examples/clients can be run: Node.js, Go and rustc, where they are missing from the
# packages of Debian and its relatives. It says in one line what is missing where it cannot be had.
set -eu

find_missing() {
    missing=
    for each in node:nodejs go:golang-go rustc:rustc; do
        command -v "${each%%:*}" >/dev/null 2>&1 || missing="$missing ${each##*:}"
    done
}
fail() {
    echo "set-up of clients: $*" >&2
    exit 1
}

find_missing
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    fail "missing:$missing; install these packages, then run again"
fi
echo "set-up of clients: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# The names of packages are words.
# shellcheck disable=SC2086
{ apt-get install -qq -y --no-install-recommends $missing || { apt-get update -qq && apt-get install -qq -y --no-install-recommends $missing; }; } \
    >/dev/null 2>&1 </dev/null || fail "apt-get could not install$missing"
find_missing
[ -z "$missing" ] || fail "apt-get says that it has installed$missing, which cannot be found"
