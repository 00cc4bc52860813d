"""DataFrames in a checkpoint: each is written as Parquet beside it, once, and the checkpoint holds its number.

A DataFrame is a plan, which another process cannot take over; its rows can be. So what waits in a queue, what a node
keeps and what a sink has not written yet is computed when a checkpoint first meets it, in one job, and not again as
long as it waits. The jobs of one checkpoint begin together: where others have all cores, they have one after the other
the first that is free, and do not each wait for one. Rows that stand in a plan need no job. What its source can make
anew, as the rows of some files, is known by what it is made of, and is not computed. What no checkpoint holds any more
is removed after the next one is on the disk. What this process was started from stays until it ends, since plans made
of it may still read it.

The folder has to be one that driver and executors see under the same path.
"""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from progress.runtime.on_spark.connect import is_remote
from progress.runtime.on_spark.folders import as_it_is
from progress.runtime.on_spark.jobs.reasons import said
from progress.runtime.on_spark.jobs.threads import inheriting
from progress.runtime.on_spark.tables.few_rows import few_rows_of
from progress.runtime.on_spark.tables.schemas import columns_in
from progress.runtime.tables import is_of_spark

FOLDER, LOOKS = "frames", "looks"
FILE = "rows.parquet"
TURNS = threading.Semaphore(16)  # jobs of checkpoints that are begun at once


class NotComputed(Exception):
    """A DataFrame cannot be computed for a checkpoint: it fails, or the run was stopped and nothing new is to begin.

    `of` says whose it is.
    """

    def __init__(self, says: str, of: str) -> None:
        super().__init__(says)
        self.of = of


class Computed:
    """A DataFrame that is being written, by a thread whose jobs belong to the group and pool of the one that asks."""

    def __init__(self, part: Any, place: Path, of: str) -> None:
        self.part = part
        self.of = of
        self.error: BaseException | None = None
        self._place = place
        self._thread: threading.Thread | None = None
        if not is_remote(part.sparkSession):
            self._thread = inheriting(self._write, "checkpoint", is_daemon=True, failed=self._failed)
            self._thread.start()

    def finished(self) -> BaseException | None:
        """Wait until it is over; why it failed, if it did."""
        if self._thread is None:
            try:
                self._write()
            except BaseException as error:
                self._failed(error)
        else:
            self._thread.join()
        return self.error

    def _failed(self, error: BaseException) -> None:
        """Whatever it is: there is no such file, and no checkpoint may name it."""
        self.error = error

    def _write(self) -> None:
        with TURNS:
            file = few_rows_of(self.part)
            if file is None:
                self.part.write.mode("overwrite").parquet(str(self._place))
                return
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir(parents=True)
        (self._place / FILE).write_bytes(file)


class KeptFrames:
    """The DataFrames beside a checkpoint; implements `progress.runtime.durable.codec.Beside`."""

    def __init__(self, folder: Path) -> None:
        self._whole = folder.absolute()
        self._folder = self._whole / FOLDER
        self._numbers: WeakKeyDictionary[Any, tuple[int, str]] = WeakKeyDictionary()
        self._sources: dict[str, Callable[[Any], Any]] = {}
        self._made: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()  # by which source, of what
        self._of = "what waits"  # to what the next part belongs
        self._computed: list[Computed] = []  # for the checkpoint that is being taken
        self._held: set[int] = set()  # by the checkpoint that is being taken
        self._read: set[int] = set()  # by this process
        self._is_stopped = False
        self._next = 1 + max((int(path.name) for path in self._there()), default=-1)

    def takes(self, part: Any) -> bool:
        """Whether it is a DataFrame of Spark. Cost: a look at its class."""
        return is_of_spark(part)

    def file(self, name: str) -> Path:
        """A file beside the frames, of one source."""
        plain = re.sub(r"[^A-Za-z0-9_-]+", ".", name)
        return self._whole / LOOKS / f"{plain}~{sha256(name.encode()).hexdigest()[:8]}"

    def add_source(self, edge: str, make: Callable[[Any], Any]) -> None:
        """The source of an edge makes DataFrames anew."""
        self._sources[edge] = make

    def is_made_by(self, edge: str, part: Any, of: Any) -> None:
        """A DataFrame that the source of an edge can make anew."""
        self._made[part] = (edge, of)

    def begin(self) -> None:
        """A checkpoint is taken now."""
        self._held = set()

    def stop(self) -> None:
        """The run was stopped: from now on `NotComputed` where a job would be needed."""
        self._is_stopped = True

    def is_stopped(self, error: BaseException | None) -> bool:
        """Whether this says that a job would have been needed, or has failed."""
        return isinstance(error, NotComputed)

    def belongs_to(self, what: str) -> None:
        """What is written from now on belongs to this."""
        self._of = what

    def write(self, part: Any) -> tuple[Any, Any]:
        """Keep a DataFrame; its number and its columns. Cost: a job, the first time, which is over after `finish`.

        Of one that its source makes anew: the edge, and what it is made of. Cost: none.
        """
        made = self._made.get(part)
        if made is not None:
            return made
        known = self._numbers.get(part)
        if known is None:
            if self._is_stopped:
                raise NotComputed("the run was stopped", self._of)
            number, self._next = self._next, self._next + 1
            known = (number, json.dumps(part.schema.jsonValue()))
            self._computed.append(Computed(part, self._folder / str(number), self._of))
            self._numbers[part] = known
        self._held.add(known[0])
        return known

    def finish(self) -> None:
        """Wait until all that `write` was given is on the disk; `NotComputed` where it is not."""
        failed = [each for each in self._computed if each.finished() is not None]
        self._computed = []
        for each in failed:
            del self._numbers[each.part]
        if failed:
            from py4j.protocol import Py4JError  # type: ignore[import-untyped]
            from pyspark.errors import PySparkException

            error = failed[0].error
            assert error is not None
            if not isinstance(error, PySparkException | Py4JError):
                raise error
            raise NotComputed(said(error), failed[0].of) from error

    def read(self, name: tuple[Any, Any]) -> Any:
        """The DataFrame that was kept, to be read when it is used."""
        if isinstance(name[0], str):
            made = self._sources[name[0]](name[1])
            self._made[made] = name
            return made
        frame = self._at(*name)
        self._numbers[frame] = name
        self._read.add(name[0])
        self._held.add(name[0])
        return frame

    def as_kept(self, part: Any) -> Any:
        """A DataFrame as the last checkpoint has it, where it was computed for that; other things as they are."""
        known = self._numbers.get(part) if self.takes(part) else None
        return part if known is None else self._at(*known)

    def _at(self, number: int, columns: str) -> Any:
        from progress.runtime.on_spark.session import start_session

        if type(number) is not int:
            raise ValueError("a DataFrame was kept under another name")  # a path would lead out of the folder
        frames = start_session(graphframes=False).read.schema(columns_in(columns))
        return frames.parquet(as_it_is(str(self._folder / str(number))))

    def settle(self) -> None:
        """The checkpoint is on the disk, or was read: remove what is in none."""
        for path in self._there():
            if int(path.name) not in self._held | self._read:
                shutil.rmtree(path, ignore_errors=True)

    def _there(self) -> list[Path]:
        return [path for path in self._folder.glob("*") if path.name.isdigit()]
