"""The code of a pipeline at the workers of Spark: what its functions need there, and nothing has to be installed.

A function reaches a worker as a pickle. One of the pipeline's own module goes by value, with what it uses of the
module: the file itself is not run again, which would make another dataflow. The modules and packages beside the file go
as one archive, once for a session, and are imported from there like any others; so their classes are the same classes
in every function, and what a function imports only when it is called is there as well.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from progress.runtime.on_spark.connect import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLE = "POINTSTAMP_CODE"  # of a worker: whose modules it imports
NEVER = (1980, 1, 1, 0, 0, 0)  # the same files are the same archive


def ship_beside(session: SparkSession, file: Path) -> None:
    """Give workers what can be imported from the folder of a pipeline. Cost: that of reading it; once for a session."""
    folder = file.resolve().parent
    found = dict(_modules(folder, "", frozenset()))
    mark = sha256(repr(sorted(found.items())).encode()).hexdigest()[:12]
    archive = _kept() / f"{file.stem}-{mark}.zip"
    if not found:
        return
    if not _is_shipped(session, archive.name):
        _ship(session, archive, found)
    if not is_remote(session):
        _let_come_alone(session.sparkContext, archive.name)


def _ship(session: SparkSession, archive: Path, found: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for name, text in sorted(found.items()):
            written.writestr(zipfile.ZipInfo(name, NEVER), text)
    path = list(sys.path)
    if is_remote(session):
        session.addArtifacts(str(archive), pyfile=True)
    else:
        session.sparkContext.addPyFile(str(archive))
    sys.path[:] = path  # here they are imported from where they are


def _let_come_alone(context: Any, archive: str) -> None:
    """Functions that are made from now on find this archive, and not those of other pipelines.

    And in processes of its own: one that has served another pipeline has imported what that has beside it. Spark gives
    a process only what has the same environment.
    """
    context.environment[VARIABLE] = archive
    ours = {path.name for path in _kept().iterdir()}
    shipped: list[str] = context._python_includes
    shipped[:] = [*(each for each in shipped if each not in ours), archive]


def _is_shipped(session: SparkSession, name: str) -> bool:
    """Whether a session has this archive already; a server of Spark Connect passes over what it has."""
    return not is_remote(session) and any(shipped.endswith(f"/{name}") for shipped in session.sparkContext.listFiles)


def ship_by_value(module: ModuleType) -> None:
    """From now on functions and classes of this module are pickled by value."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _modules(folder: Path, inside: str, above: frozenset[Path]) -> Iterator[tuple[str, bytes]]:
    """What can be imported from a folder, by its name in there: modules, packages, and folders that hold modules."""
    above |= {folder.resolve()}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name.isidentifier() and _holds_modules(path) and path.resolve() not in above:
                yield from _modules(path, f"{inside}{path.name}/", above)
        elif path.suffix == ".py" and path.is_file():
            with suppress(OSError):  # what nobody may read, nobody can import
                yield f"{inside}{path.name}", path.read_bytes()


def _holds_modules(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK) and any(folder.glob("*.py")) and not (folder / "pyvenv.cfg").exists()


@cache
def _kept() -> Path:
    """A folder that is there as long as this process: sessions serve workers from it, those that come later too."""
    folder = Path(tempfile.mkdtemp(prefix="pointstamp-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
