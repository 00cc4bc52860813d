#!/bin/sh
# Makes .venv-adapters in the project's folder: the libraries whose graphs `pointstamp check --from` reads, in the versions
# of constraints-adapters.txt, and nothing of the project itself, which the tests put on the path. It is an environment of
# its own, so that what these libraries need binds nobody who does not use them. A stamp written at the very end tells a
# finished environment from an interrupted one, so a second run has nothing to do; two runs at once wait for each other.
set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd "$(dirname "$0")/.."

fail() {
    echo "set-up of adapters: $*" >&2
    exit 1
}

stamp=.venv-adapters/set-up-complete
fingerprint=$(pwd -P && cat constraints-adapters.txt scripts/set_up_adapters.sh | cksum)
is_there() {
    [ -x .venv-adapters/bin/python ] && [ "$(cat "$stamp" 2>/dev/null || true)" = "$fingerprint" ]
}
is_there && exit 0
[ -x .venv/bin/python ] || fail "there is no .venv; run make setup first"

# A folder is made by one process alone.
lock=.venv-adapters.lock
waited=0
until mkdir "$lock" 2>/dev/null; do
    owner=$(cat "$lock/owner" 2>/dev/null || true)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
        rm -rf "$lock" # left by a process that is gone
        continue
    fi
    if [ -z "$owner" ] && [ -n "$(find "$lock" -maxdepth 0 -mmin +1 2>/dev/null)" ]; then
        rm -rf "$lock" # left by a process that went before it had written who it is
        continue
    fi
    waited=$((waited + 1))
    [ "$waited" -lt 600 ] || fail "another set-up has run for ten minutes; remove $lock if there is none"
    sleep 1
done
echo $$ >"$lock/owner"
trap 'rm -rf "$lock"' EXIT
trap 'exit 130' INT TERM
is_there && exit 0

echo "set-up of adapters: making .venv-adapters; the first time fetches about 200 megabytes and takes a minute or two"
rm -rf .venv-adapters
said=$(.venv/bin/python -m venv .venv-adapters 2>&1) ||
    fail "$(pwd)/.venv/bin/python cannot make a virtual environment: $(printf '%s\n' "$said" | grep -v '^ *$' | tail -n 1)"
said=$(.venv-adapters/bin/python -I -m pip --disable-pip-version-check install --quiet --no-input --progress-bar off \
    --only-binary :all: --no-deps --requirement constraints-adapters.txt 2>&1) ||
    fail "pip could not install everything: $(printf '%s\n' "$said" | grep -v '^ *$' | tail -n 1)"
printf '%s\n' "$fingerprint" >"$stamp"
echo "set-up of adapters: done"
