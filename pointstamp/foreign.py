"""Whether the packages that Pointstamp installs are still its own.

Their names are ordinary words, and other distributions use them, too: the library of progress bars that is installed
as `progress` puts its package of that name in the same place, or in front of this one. What is imported then is a part
of each, and fails somewhere deep.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("progress", "recursion", "graphs")
MARK = b'"""Pointstamp'  # what the first line of each one's __init__.py begins with


@cache
def foreign_package() -> str | None:
    """What to say, in one line, where one of the packages is somebody else's; looked at once, without importing it."""
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            return f"the package {name!r} is missing or damaged; install Pointstamp again"
        if spec.origin.endswith(".py") and not _begins_with_the_mark(spec.origin):
            own = _of_the_program(Path(spec.origin))
            if own is not None:
                return f"{own} stands in front of Pointstamp's package {name!r}; give it another name"
            return (
                f"the package {name!r} in {Path(spec.origin).parent} is not Pointstamp's: {_owner(name)} has put its "
                f"own there; run python -m pip uninstall {name}, then install Pointstamp again, or give it a virtual "
                "environment of its own"
            )
    return None


def _of_the_program(origin: Path) -> Path | None:
    """The module or package as a file or folder of whoever runs this, and not of a distribution: beside the program."""
    is_module = origin.name != "__init__.py"
    found = origin if is_module else origin.parent
    is_beside = found.parent == Path(sys.path[0] or ".").resolve() != Path(__file__).resolve().parent.parent
    return found if is_module or is_beside else None


def _begins_with_the_mark(file: str) -> bool:
    try:
        with Path(file).open("rb") as opened:
            return opened.read(len(MARK)) == MARK
    except OSError:
        return True  # no file of its own, as in an archive: nothing to see


def _owner(package: str) -> str:
    from importlib.metadata import packages_distributions

    others = sorted(set(packages_distributions().get(package, ())) - {"pointstamp"})
    return f"the distribution {others[0]!r}" if others else "another distribution"
