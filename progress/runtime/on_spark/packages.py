"""Packages of Maven that a session names: whether Ivy has kept them, and who fetches them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

IVY_FOLDER = "~/.ivy2.5.2"  # Spark's own default
LOCK = "pointstamp.lock"


def is_kept(coordinate: str, settings: Mapping[str, str]) -> bool:
    """Whether Ivy has kept a package since an earlier start."""
    name = "{}_{}-{}.jar".format(*coordinate.split(":")) if coordinate.count(":") == 2 else coordinate
    return (_folder(settings) / "jars" / name).is_file()


@contextmanager
def fetched_by_one(settings: Mapping[str, str]) -> Iterator[None]:
    """While packages are fetched for the first time no other process fetches any.

    Two that fetch the same one at the same time can both be told that no repository has it. Where all are kept, or the
    folder of Ivy cannot be written, nobody waits.
    """
    wanted = [each for each in settings.get("spark.jars.packages", "").split(",") if each]
    with ExitStack() as stack:
        if not all(is_kept(each, settings) for each in wanted):
            with suppress(ImportError, OSError):
                import fcntl

                folder = _folder(settings)
                folder.mkdir(parents=True, exist_ok=True)
                fcntl.flock(stack.enter_context((folder / LOCK).open("w")), fcntl.LOCK_EX)
        yield


def _folder(settings: Mapping[str, str]) -> Path:
    return Path(settings.get("spark.jars.ivy", IVY_FOLDER)).expanduser()
