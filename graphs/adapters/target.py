"""TARGET of `--from`: `module:attribute` or `path/to/file.py:attribute`, imported in this process.

Importing runs the user's code. What it prints goes to standard error, so that the answer stays one document; what it
raises is PS904, in one line with its place; an attribute that is not there is PS903. The folder of the file, or the
current folder, is where its imports are looked for first, as `python file.py` and `python -m module` do.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from graphs.beside import look_first_in
from progress.errors import PointstampError, brief, one_of

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = tuple(f"{ROOT / package}/" for package in ("pointstamp", "graphs", "recursion", "progress"))
STANDARD = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))
_LOADED: dict[Path, ModuleType] = {}  # a file is run once, however many of its attributes are targets
_RIGHT = "module:attribute or file.py:attribute, like app:graph"


def load(target: str) -> Any:
    """The object that a target names. Cost: that of importing its module.

    Returns
    -------
    The object.

    Raises
    ------
    PointstampError
        PS903 where the target does not name one, PS904 where its module raises.

    Examples
    --------
    >>> from graphs.adapters.target import load
    >>> load("math:pi") > 3
    True
    """
    place, separator, attribute = target.rpartition(":")
    if not separator or not place or not attribute:
        raise PointstampError("PS903", f"{brief(target)} does not name an attribute", _RIGHT)
    found: Any = load_module(place)
    for name in attribute.split("."):
        with users_code(target):
            found = _attribute(found, name, f"{brief(place)} has no attribute {brief(attribute)}")
    return found


def _attribute(found: Any, name: str, missing: str) -> Any:
    """What `getattr` gives, which may be code of the user's; PS903 where there is no such attribute."""
    try:
        return getattr(found, name)
    except AttributeError:
        if inspect.getattr_static(found, name, None) is not None:
            raise  # it is there, and fails itself
    names = [each for each in getattr(found, "__dict__", ()) if not each.startswith("_")]
    raise PointstampError("PS903", missing, one_of(name, names))


def load_module(place: str) -> ModuleType:
    """A module, or a file, imported. Cost: that of importing it."""
    if place.endswith(".py") or "/" in place:
        path = Path(place)
        if not path.is_file():
            raise PointstampError("PS903", f"there is no file {brief(place)}", _RIGHT)
        known = _LOADED.get(path.resolve())
        if known is not None:
            return known
        look_first_in(path.resolve().parent)
        name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"target_{len(_LOADED)}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise PointstampError("PS903", f"{brief(place)} is not a Python file", "a name that ends in .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with users_code(place):
                spec.loader.exec_module(module)
        except PointstampError:
            sys.modules.pop(name, None)
            raise
        _LOADED[path.resolve()] = module
        return module
    _look_in(str(Path.cwd()))
    with users_code(place):  # looking for a module imports the packages that it is in
        if not all(part.isidentifier() for part in place.split(".")) or not _is_there(place):
            raise PointstampError("PS903", f"there is no module {brief(place)}", _RIGHT)
        return importlib.import_module(place)


def _is_there(place: str) -> bool:
    """Whether there is a module of this name."""
    try:
        return importlib.util.find_spec(place) is not None
    except ModuleNotFoundError as error:
        return not f"{place}.".startswith(f"{error.name}.")  # a package needs another one: importing says which
    except (ImportError, ValueError, AttributeError):
        return True  # importing says what is wrong


def _look_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


@contextmanager
def users_code(what: str) -> Iterator[None]:
    """Run code of the user's: what it prints goes to standard error, what it raises is PS904 with its place."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (PointstampError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit as well, and what is no Exception
        raise failed(what, error) from None


def is_theirs(error: BaseException) -> bool:
    """Whether code of the user's was under way when that was raised."""
    return any(_is_theirs(frame.filename) for frame in traceback.extract_tb(error.__traceback__))


def failed(what: str, error: BaseException) -> PointstampError:
    """What is said of an error in code of the user's: PS904, in one line with its place."""
    try:
        says = " ".join(str(error).split())
    except Exception:  # its own text fails
        says = ""
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
