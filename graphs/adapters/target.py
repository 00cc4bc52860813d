"""TARGET of `--from`: `module:attribute` or `path/to/file.py:attribute`, imported in this process.

Importing runs the user's code. What it prints goes to standard error, so that the answer stays one document; what it
raises is PS904, in one line with its place; an attribute that is not there is PS903. The folder of the file, or the
current folder, is where its imports are looked for first, as `python file.py` and `python -m module` do.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from progress.errors import PointstampError, brief, one_of

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = tuple(f"{ROOT / package}/" for package in ("pointstamp", "graphs", "recursion", "progress"))
STANDARD = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
_LOADED: dict[Path, ModuleType] = {}  # a file is run once, however many of its attributes are targets
_RIGHT = "module:attribute or file.py:attribute, like app:graph"


def load(target: str) -> Any:
    """The object that a target names. Cost: that of importing its module."""
    place, separator, attribute = target.rpartition(":")
    if not separator or not place or not attribute:
        raise PointstampError("PS903", f"{brief(target)} does not name an attribute", _RIGHT)
    found: Any = load_module(place)
    for name in attribute.split("."):
        if not hasattr(found, name):
            names = [each for each in vars(found) if not each.startswith("_")] if hasattr(found, "__dict__") else []
            raise PointstampError("PS903", f"{brief(place)} has no attribute {brief(attribute)}", one_of(name, names))
        with users_code(target):
            found = getattr(found, name)
    return found


def load_module(place: str) -> ModuleType:
    """A module, or a file, imported. Cost: that of importing it."""
    if place.endswith(".py") or "/" in place:
        path = Path(place)
        if not path.is_file():
            raise PointstampError("PS903", f"there is no file {brief(place)}", _RIGHT)
        known = _LOADED.get(path.resolve())
        if known is not None:
            return known
        name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"target_{len(_LOADED)}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise PointstampError("PS903", f"{brief(place)} is not a Python file", "a name that ends in .py")
        _look_in(str(path.resolve().parent))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with users_code(place):
                spec.loader.exec_module(module)
        except PointstampError:
            del sys.modules[name]
            raise
        _LOADED[path.resolve()] = module
        return module
    _look_in(str(Path.cwd()))
    try:
        there = all(part.isidentifier() for part in place.split(".")) and importlib.util.find_spec(place) is not None
    except ModuleNotFoundError:
        there = False
    except (ImportError, ValueError, AttributeError):
        there = True  # importing says what is wrong
    except Exception as error:  # the package that it is in failed
        raise _failed(place, error) from None
    if not there:
        raise PointstampError("PS903", f"there is no module {brief(place)}", _RIGHT)
    with users_code(place):
        return importlib.import_module(place)


def _look_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """Run code of the user's: what it prints goes to standard error, what it raises is PS904 with its place."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except PointstampError:
        raise
    except (Exception, SystemExit) as error:
        raise _failed(what, error) from None


def _failed(what: str, error: BaseException) -> PointstampError:
    says = " ".join(str(error).split())
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_theirs(frame.filename)]
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    if isinstance(error, SyntaxError) and error.filename:
        place = f" at {error.filename}:{error.lineno}"
    told = f"{type(error).__name__}: {says}" if says else type(error).__name__
    return PointstampError("PS904", f"{what} failed{place}: {told[:300]}", "mend it, then check again")


def _is_theirs(file: str) -> bool:
    """Whether a file is neither this project's, nor Python's, nor an installed library's."""
    installed = any(folder in file for folder in ("/site-packages/", "/dist-packages/"))
    return not installed and not file.startswith((*OURS, *STANDARD, "<frozen "))
