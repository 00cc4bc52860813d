#!/bin/sh
# Builds the wheel, installs it into an environment of its own, and asks it something away from the sources: the command,
# the compiled kernel, an example graph, a pipeline. Nothing of the project's folder is on the import path.
set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${PYTHON:-python3}
"$python" -m venv "$folder/build"
"$folder/build/bin/python" -m pip install --quiet --disable-pip-version-check build
git archive --format=tar HEAD 2>/dev/null | tar -x -C "$folder" --one-top-level=sources
"$folder/build/bin/python" -m build --wheel --outdir "$folder/wheel" "$folder/sources" >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    exit 1
}
cp examples/loop.yaml examples/broken_loop.yaml "$folder"
rm -rf "$folder/sources"
"$python" -m venv "$folder/use"
"$folder/use/bin/python" -m pip install --quiet --disable-pip-version-check "$folder"/wheel/*.whl
cd "$folder"
use/bin/pointstamp check loop.yaml
if use/bin/pointstamp check broken_loop.yaml >/dev/null; then
    echo "try_wheel: broken_loop.yaml was not refused" >&2
    exit 1
fi
use/bin/python -c '
import pathlib, sys
import graphs, pointstamp, progress
from progress.kernel import BUILT
assert BUILT, "the compiled kernel is not in the wheel"
assert all(pathlib.Path(each.__file__).is_relative_to(sys.prefix) for each in (graphs, pointstamp, progress))
'
echo "try_wheel: the wheel works away from its sources"
