"""A folder of any file system that Spark writes to, by Hadoop's own interface: this machine's, HDFS, a store."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ON_THIS_MACHINE = re.compile(r"file:(//)?(?=/)")
TEMPORARY = ("_", ".")  # how names begin that Spark does not read
IN_PATTERNS = re.compile(r"[\[\]{}*?\\]")


def whole(path: str | os.PathLike[str]) -> str:
    """A path from the root on: on this machine a relative one is below the folder of this process."""
    text = os.fspath(path)
    return text if "://" in text or text.startswith("file:") else os.path.normpath(Path(text).absolute())


def as_it_is(path: str) -> str:
    """A path for Spark's readers, which take every path for a pattern: this one for what has this very name."""
    return IN_PATTERNS.sub(r"\\\g<0>", path)


class Folder:
    """A folder. Cost of every call but `files`: a few calls of the JVM, about a millisecond each, and the store's own.

    Parameters
    ----------
    session : whose file systems are meant
    path : as Spark reads it; on this machine a relative one is below the folder of this process
    """

    def __init__(self, session: SparkSession, path: str | os.PathLike[str]) -> None:
        jvm: Any = session._jvm
        text = whole(path)
        self._path = jvm.org.apache.hadoop.fs.Path
        root = self._path(text)
        self._system = root.getFileSystem(session._jsc.hadoopConfiguration())
        self._jvm = jvm
        self.session = session
        self.path: str = text
        self.is_here = self._system.getScheme() == "file"

    def place(self, name: str) -> str:
        """The path of what has this name in the folder."""
        return f"{self.path}/{name}" if name else self.path

    def exists(self, name: str = "") -> bool:
        """Whether there is something of this name; the folder itself without one."""
        return bool(self._system.exists(self._path(self.place(name))))

    def names(self, name: str = "") -> list[str]:
        """What is directly in a folder of this name, in order; nothing where there is none."""
        if not self.exists(name):
            return []
        found = self._system.listStatus(self._path(self.place(name)))
        return sorted(status.getPath().getName() for status in found)

    def files(self) -> list[str]:
        """The names of all files below, with the folders that they are in. Cost: O(files); a call each if elsewhere."""
        if self.is_here:
            root = Path(ON_THIS_MACHINE.sub("", self.path))
            return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        if not self.exists():
            return []
        start = len(self._system.makeQualified(self._path(self.path)).toUri().getPath()) + 1
        found, walk = [], self._system.listFiles(self._path(self.path), True)
        while walk.hasNext():
            found.append(walk.next().getPath().toUri().getPath()[start:])
        return sorted(found)

    def read(self, name: str) -> str:
        """The text of a file."""
        stream = self._system.open(self._path(self.place(name)))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """A file that is there as a whole or not at all: written under another name, and renamed."""
        folder, _, last = name.rpartition("/")
        fresh = f"{folder}/.{last}-{uuid4().hex}"
        stream = self._system.create(self._path(self.place(fresh)), True)
        try:
            stream.write(bytearray(text.encode()))
            stream.hsync()
        finally:
            stream.close()
        self.move(fresh, name)

    def move(self, name: str, to: str) -> None:
        """Rename, in one step where the file system has one; what is there already under that name goes before."""
        target = self._path(self.place(to))
        self._system.mkdirs(target.getParent())
        self.delete(to)
        if not self._system.rename(self._path(self.place(name)), target):
            raise OSError(f"{self.place(name)} cannot be renamed to {self.place(to)}")

    def delete(self, name: str) -> None:
        """Remove what has this name, with all that is in it, if it is there."""
        self._system.delete(self._path(self.place(name)), True)
