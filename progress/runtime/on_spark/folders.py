"""A folder of any file system that Spark writes to, by Hadoop's own interface: this machine's, HDFS, a store."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from progress.errors import brief
from progress.runtime.on_spark.connect import beyond_reach, is_remote
from progress.runtime.on_spark.connect import is_here as is_server_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ON_THIS_MACHINE = re.compile(r"file:(//)?(?=/)")
TEMPORARY = ("_", ".")  # how names begin that Spark does not read
SETTLED = 2_000_000_000  # nanoseconds after which a folder that changes again has another time of change
IN_PATTERNS = re.compile(r"[\[\]{}*?\\]")


def whole(path: str | os.PathLike[str]) -> str:
    """A path from the root on: on this machine a relative one is below the folder of this process."""
    text = os.fspath(path)
    return text if "://" in text or text.startswith("file:") else os.path.normpath(Path(text).absolute())


def as_it_is(path: str) -> str:
    """A path for Spark's readers, which take every path for a pattern: this one for what has this very name."""
    return IN_PATTERNS.sub(r"\\\g<0>", path)


class Listing:
    """The files below a folder of this machine, looked at again and again.

    A folder whose own time of change is as before, and lies back, has no new file: it is not listed again. Cost of a
    look: O(folders), and O(files) in those that have changed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[int, list[str], list[str]]] = {}  # when it changed, its files, its folders

    def files(self) -> list[str]:
        """The names of all files, with the folders that they are in."""
        found: list[str] = []
        left = [""]
        while left:
            folder = left.pop()
            try:
                files, folders = self._in(folder)
            except FileNotFoundError:  # removed meanwhile
                continue
            found += files
            left += folders
        return sorted(found)

    def _in(self, folder: str) -> tuple[list[str], list[str]]:
        place = self._root / folder
        changed = place.stat().st_mtime_ns
        known = self._known.get(folder)
        if known is not None and known[0] == changed:
            return known[1], known[2]
        files, folders = [], []
        with os.scandir(place) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif entry.is_file():
                    files.append(name)
        if time_ns() - changed > SETTLED:  # what changes again within the clock's step would look the same
            self._known[folder] = changed, files, folders
        return files, folders


class Folder:
    """A folder. Cost of every call but `files`: on this machine that of the system's, elsewhere a few calls of the JVM,
    about a millisecond each, and the store's own.

    Parameters
    ----------
    session : whose file systems are meant; None for that of this machine
    path : as Spark reads it; on this machine a relative one is below the folder of this process
    """

    def __init__(self, session: SparkSession | None, path: str | os.PathLike[str]) -> None:
        self.path = text = whole(path)
        self._listing: Listing | None = None
        self.is_here = session is None
        if session is None:
            return
        self.session = session
        if is_remote(session):
            self.is_here = is_server_here(session) and (text.startswith("file:") or "://" not in text)
            if not self.is_here:
                raise beyond_reach(f"looking at the folder {brief(text)}")
            return
        jvm: Any = session._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        root = self._path(text)
        self._system = root.getFileSystem(session._jsc.hadoopConfiguration())
        self._jvm = jvm
        self.is_here = self._system.getScheme() == "file"

    def place(self, name: str) -> str:
        """The path of what has this name in the folder."""
        return f"{self.path}/{name}" if name else self.path

    def exists(self, name: str = "") -> bool:
        """Whether there is something of this name; the folder itself without one."""
        if self.is_here:
            return self.here(name).exists()
        return bool(self._system.exists(self._path(self.place(name))))

    def names(self, name: str = "") -> list[str]:
        """What is directly in a folder of this name, in order; nothing where there is none."""
        if not self.exists(name):
            return []
        if self.is_here:
            return sorted(path.name for path in self.here(name).iterdir())
        found = self._system.listStatus(self._path(self.place(name)))
        return sorted(status.getPath().getName() for status in found)

    def data(self, name: str) -> list[str]:
        """What of it Spark reads."""
        return [each for each in self.names(name) if not each.startswith(TEMPORARY)]

    def files(self) -> list[str]:
        """The names of all files below, with the folders that they are in.

        Cost: that of `Listing`; elsewhere one listing, and some ten calls of the JVM however many files there are.
        """
        if self.is_here:
            if self._listing is None:
                self._listing = Listing(Path(ON_THIS_MACHINE.sub("", self.path)))
            return self._listing.files()
        return self._files_elsewhere() if self.exists() else []

    def _files_elsewhere(self) -> list[str]:
        """One listing, which a store answers in pages, handed over as one text: a call of the JVM for each file would
        take longer than the listing. Where a path ends is where the next one begins: no name has a colon in it.
        """
        jvm, hadoop = self._jvm, self._jvm.org.apache.hadoop
        listed = hadoop.util.functional.RemoteIterators.toList(
            self._system.listFiles(self._path(self.path), True)
        ).toArray()
        kind = jvm.java.lang.Class.forName("[Lorg.apache.hadoop.fs.FileStatus;")
        paths = hadoop.fs.FileUtil.stat2Paths(jvm.java.util.Arrays.copyOf(listed, len(listed), kind))
        text = str(jvm.org.apache.commons.lang3.ArrayUtils.toString(paths))[1:-1]  # between braces
        root = str(self._system.makeQualified(self._path(self.path)).toString()).rstrip("/")
        found = f",{text}".split(f",{root}/")[1:]
        assert len(found) == len(paths), f"a listing of {root} has other paths"
        return sorted(found)

    def read(self, name: str) -> str:
        """The text of a file."""
        if self.is_here:
            return self.here(name).read_text("utf-8")
        stream = self._system.open(self._path(self.place(name)))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """A file that is there as a whole or not at all: written under another name, and renamed."""
        folder, _, last = name.rpartition("/")
        fresh = f"{folder}/.{last}-{uuid4().hex}"
        if self.is_here:
            with self.here(fresh).open("wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            self.here(fresh).replace(self.here(name))
            return
        stream = self._system.create(self._path(self.place(fresh)), True)
        try:
            stream.write(bytearray(text.encode()))
            stream.hsync()
        finally:
            stream.close()
        self.move(fresh, name)

    def write_bytes(self, name: str, content: bytes) -> None:
        """A file, under its own name at once: for what nobody reads before a commit names it."""
        if self.is_here:
            self.here(name).write_bytes(content)
            return
        stream = self._system.create(self._path(self.place(name)), True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def write_new(self, name: str, text: str) -> bool:
        """A file that is there as a whole, and by this call; False where there is one of this name already.

        Of two at once one is told False, where renaming to a name that is taken fails (not in an object store).
        """
        if self.exists(name):
            return False
        folder, _, last = name.rpartition("/")
        fresh = f"{folder}/.{last}-{uuid4().hex}"
        self.write(fresh, text)
        try:
            if self.is_here:
                os.link(self.here(fresh), self.here(name))
                return True
            return bool(self._system.rename(self._path(self.place(fresh)), self._path(self.place(name))))
        except FileExistsError:
            return False
        finally:
            self.delete(fresh)

    def size(self, name: str) -> int:
        """How many bytes a file has."""
        if self.is_here:
            return self.here(name).stat().st_size
        return int(self._system.getFileStatus(self._path(self.place(name))).getLen())

    def delete_if_empty(self, name: str) -> None:
        """Remove a folder in which there is nothing."""
        if self.is_here:
            with suppress(OSError):
                self.here(name).rmdir()
        elif not self.names(name):
            self._system.delete(self._path(self.place(name)), False)

    def move(self, name: str, to: str) -> None:
        """Rename, in one step where the file system has one; what is there already under that name goes before."""
        if self.is_here:
            self._move_here(self.here(name), self.here(to))
            return
        target = self._path(self.place(to))
        self._system.mkdirs(target.getParent())
        self.delete(to)
        if not self._system.rename(self._path(self.place(name)), target):
            raise OSError(f"{self.place(name)} cannot be renamed to {self.place(to)}")

    def delete(self, name: str) -> None:
        """Remove what has this name, with all that is in it, if it is there."""
        if self.is_here:
            place = self.here(name)
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)
            return
        self._system.delete(self._path(self.place(name)), True)

    def make(self, name: str) -> None:
        """A folder of this name, if there is none."""
        if self.is_here:
            self.here(name).mkdir(parents=True, exist_ok=True)
        else:
            self._system.mkdirs(self._path(self.place(name)))

    def here(self, name: str) -> Path:
        """The path of what has this name, in a folder of this machine."""
        return Path(ON_THIS_MACHINE.sub("", self.place(name)))

    def _move_here(self, place: Path, to: Path) -> None:
        while True:
            to.parent.mkdir(parents=True, exist_ok=True)
            if to.is_dir():
                shutil.rmtree(to)
            try:
                place.replace(to)
                return
            except FileNotFoundError:  # somebody has removed the folder because it was empty
                if not place.exists():
                    raise
