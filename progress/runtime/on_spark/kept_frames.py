"""DataFrames in a checkpoint: each is written as Parquet beside it, once, and the checkpoint holds its number.

A DataFrame is a plan, which another process cannot take over; its rows can be. So what waits in a queue, what a node
keeps and what a sink has not written yet is computed when a checkpoint first meets it, in one job, and not again as
long as it waits. What no checkpoint holds any more is removed after the next one is on the disk. What this process was
started from stays until it ends, since plans made of it may still read it.

The folder has to be one that driver and executors see under the same path.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from progress.runtime.on_spark.folders import as_it_is
from progress.runtime.on_spark.said import said

FOLDER = "frames"


class NotComputed(Exception):
    """A DataFrame cannot be computed for a checkpoint: it fails, or the run was stopped and nothing new is to begin."""


class KeptFrames:
    """The DataFrames beside a checkpoint; implements `progress.runtime.checkpoint.Beside`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute() / FOLDER
        self._numbers: WeakKeyDictionary[Any, tuple[int, str]] = WeakKeyDictionary()
        self._held: set[int] = set()  # by the checkpoint that is being taken
        self._read: set[int] = set()  # by this process
        self._is_stopped = False
        self._next = 1 + max((int(path.name) for path in self._there()), default=-1)

    def takes(self, part: Any) -> bool:
        """Whether it is a DataFrame of Spark. Cost: a look at its class."""
        kind = type(part)
        return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")

    def begin(self) -> None:
        """A checkpoint is taken now."""
        self._held = set()

    def stop(self) -> None:
        """The run was stopped: from now on `NotComputed` where a job would be needed."""
        self._is_stopped = True

    def write(self, part: Any) -> tuple[int, str]:
        """Keep a DataFrame; its number and its columns. Cost: a job, the first time."""
        known = self._numbers.get(part)
        if known is None:
            if self._is_stopped:
                raise NotComputed("the run was stopped")
            number, self._next = self._next, self._next + 1
            self._compute(part, str(self._folder / str(number)))
            known = self._numbers[part] = (number, json.dumps(part.schema.jsonValue()))
        self._held.add(known[0])
        return known

    def _compute(self, part: Any, place: str) -> None:
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        try:
            part.write.mode("overwrite").parquet(place)
        except (PySparkException, Py4JError) as error:
            raise NotComputed(said(error)) from error

    def read(self, name: tuple[int, str]) -> Any:
        """The DataFrame that was kept, to be read when it is used."""
        from pyspark.sql.types import StructType

        from progress.spark_session import start_session

        number, columns = name
        frames = start_session(graphframes=False).read.schema(StructType.fromJson(json.loads(columns)))
        frame = frames.parquet(as_it_is(str(self._folder / str(number))))
        self._numbers[frame] = name
        self._read.add(number)
        self._held.add(number)
        return frame

    def settle(self) -> None:
        """The checkpoint is on the disk, or was read: remove what is in none."""
        for path in self._there():
            if int(path.name) not in self._held | self._read:
                shutil.rmtree(path, ignore_errors=True)

    def _there(self) -> list[Path]:
        return [path for path in self._folder.glob("*") if path.name.isdigit()]
