"""Modules beside a file that is loaded: its imports are looked for in its folder first, whatever was loaded before.

A process may load several files, one after the other: a notebook, a program that asks `load_pipeline`, the tests of a
team. Each may have a module `helper` beside it, and Python keeps one module a name. So what has a name that is in the
folder of a file, and came from beside another file, is forgotten before the file is run. Whoever has it keeps it, and
what only the file before has beside it can still be imported: its functions may do so when they are called.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

_FOLDERS: list[str] = []  # of files that were loaded, the last one at the end


def look_first_in(folder: Path) -> None:
    """From now on imports are looked for in this folder first. Cost: where another one was before it, a look at it."""
    place = str(folder.resolve())
    if place in _FOLDERS or place not in sys.path:  # whoever has it in `sys.path` otherwise has said where
        sys.path[:] = [place, *(each for each in sys.path if each != place)]
    others = {each for each in _FOLDERS if each != place}
    _FOLDERS[:] = [*(each for each in _FOLDERS if each != place), place]
    if not others:
        return
    there = {path.stem if path.suffix == ".py" else path.name for path in folder.iterdir()}
    stale = {name for name in there & sys.modules.keys() if _came_from(sys.modules[name]) in others}
    for name in [name for name in sys.modules if name.partition(".")[0] in stale]:
        del sys.modules[name]


def _came_from(module: ModuleType) -> str | None:
    """The folder in which a module was found; None of one that is no file or folder."""
    file = getattr(module, "__file__", None)
    inside = [*getattr(module, "__path__", ())]  # of a package, which may have no file
    found = inside[0] if inside else file
    return None if found is None else str(Path(found).resolve().parent)
