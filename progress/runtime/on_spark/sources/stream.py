"""A stream of Structured Streaming as a source: each of its batches is written down before it enters the run.

Spark hands a batch to `foreachBatch` at least once: again, under the same number, if it was killed before it had noted
that the batch was done. Here a batch is done when its rows are in the source's folder, under its number; what is there
already is not written again. The run reads the batches from that folder, in the order of their numbers, and how far it
has read stands in its checkpoint. So the two need not be in step, and a kill at any instant loses and repeats nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.runtime.on_spark.connect import beyond_reach, is_remote
from progress.runtime.on_spark.folders import Folder, as_it_is
from progress.runtime.on_spark.jobs.reasons import said
from progress.runtime.on_spark.sources.positions import Keyed, Positioned
from progress.runtime.on_spark.sources.times import (
    Reading,
    found_in,
    frame_of,
    rows_by_time,
    split,
    time_column,
    times_seen,
)
from progress.runtime.sink import Sink
from progress.runtime.source import SILENT, Aside, Complete, Messages

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from progress.runtime.on_spark.sources.times import TimeColumn

OFTEN = 0.2  # seconds between looks at whether the stream has ended
BATCHES, FRESH, CHECKPOINT = "batches", "_new", "_stream"


class StreamSource:
    """The rows of a streaming DataFrame, as its batches come, by time.

    Parameters
    ----------
    frame : the streaming DataFrame, or a function that makes it when the run begins
    time : the column that holds the time, or an expression of Spark for it
    folder : where the batches are written, and Spark's own checkpoint of the stream; it belongs to this source alone
    to, aside : as those of `FrameSource`
    complete : what is said, when rows of a time have come, of the times that still come; without it times are complete
        when the stream ends
    live : whether the stream goes on; otherwise it ends with what was there when it began (`availableNow`)
    every : what Spark waits between two batches, "1 second" for instance

    Cost of a batch: one job that writes it; in the same pass its rows are counted (`counts`, by batch) and its times
    found (`Observation`). A batch that another process has written, before a kill, costs a job more, which finds its
    times. Each message is a plan: who uses it reads what was written, once for each time.

    Examples
    --------
    >>> from pointstamp import StreamSource
    >>> source = StreamSource(lambda: session.readStream.table("sales"), "day", "batches", live=True)
    """

    def __init__(
        self,
        frame: DataFrame | Callable[[], DataFrame],
        time: TimeColumn,
        folder: str | os.PathLike[str],
        *,
        to: Callable[[Any], Any] | None = None,
        aside: Sink | None = None,
        complete: Callable[[Any], Iterable[Any]] | None = None,
        live: bool = False,
        every: str = "0 seconds",
    ) -> None:
        self.frame = frame
        self.time = time
        self.folder = folder
        self.to = to
        self.aside = aside
        self.complete = complete
        self.is_live = live
        self.every = every
        self.counts: dict[int, int] = {}

    def items_for(self, engine: str, edge: str, domain: Domain) -> StreamItems:
        """The items of one run."""
        reading = Reading(self.time, edge, domain, self.to, self.aside)
        return StreamItems(self, reading, waits=engine not in ("sim", "asyncio"))


class StreamItems(Positioned):
    """The items of one run. Its position is a pair: the batch, and how many of its times have entered the run."""

    def __init__(self, source: StreamSource, reading: Reading, waits: bool) -> None:
        super().__init__()
        self.done = [0, 0]
        self._source = source
        self._reading = reading
        self._waits = waits
        self._changed = threading.Condition()
        self._folder: Folder
        self._column: Column
        self._times: dict[int, list[Any]] = {}  # what stands in the column of times, by batch
        self._query: StreamingQuery | None = None
        self.aside = source.aside

    def entered(self, key: Any) -> None:
        self.done = list(key)

    def stop(self) -> None:
        """Nobody takes any more: the stream ends."""
        super().stop()
        with self._changed:
            self._changed.notify_all()
        if self._query is not None:
            self._query.stop()

    def write(self, frame: DataFrame, number: int) -> None:
        """What Spark calls for each batch, once or more often. Cost: one pass over the batch."""
        from pyspark.sql import Observation, functions

        name = f"{BATCHES}/{number}"
        if not self._folder.exists(name):
            seen = Observation()
            rows = frame.observe(seen, functions.count(functions.lit(1)).alias("rows"), times_seen(self._column))
            rows.write.mode("overwrite").parquet(self._folder.place(f"{FRESH}/{number}"))
            self._source.counts[number] = seen.get["rows"]
            self._times[number] = found_in(seen.get)
            self._folder.move(f"{FRESH}/{number}", name)
        with self._changed:
            self._changed.notify_all()

    def keyed(self) -> Iterator[Keyed]:
        self._query = query = self._begin()
        try:
            number, skipped = self.done
            while not self.is_stopped:
                is_over = not query.isActive  # before the look at what is there
                if self._folder.exists(f"{BATCHES}/{number}"):
                    yield from self._batch(number, skipped)
                    number, skipped = number + 1, 0
                elif is_over:
                    self._check(query)
                    return
                elif self._waits:
                    with self._changed:
                        self._changed.wait(OFTEN)
                else:
                    yield None, SILENT
        finally:
            query.stop()

    def _begin(self) -> StreamingQuery:
        source = self._source
        frame = frame_of(source.frame, self._reading.edge)
        if is_remote(frame.sparkSession):  # there a batch is handed over at the server, where this run is not
            what = f"the StreamSource of {brief(self._reading.edge)}"
            raise beyond_reach(what, "a classic session; or a FileSource of what the stream writes")
        self._column = time_column(frame, self._reading)
        self._folder = folder = Folder(frame.sparkSession, source.folder)
        there = [int(name) for name in folder.names(BATCHES) if name.isdigit()]
        if there and min(there) > (self.done[0] if self.is_continued else 0):
            stream = f"the stream of {brief(self._reading.edge)}"
            what = f"{stream} has no batch {self.done[0]} in {brief(folder.path)} any more"
            raise PointstampError("PS774", what, "the --state that it was read with; or another folder")
        for number in there:
            if number < self.done[0]:
                folder.delete(f"{BATCHES}/{number}")
        writer = frame.writeStream.foreachBatch(self.write).option("checkpointLocation", folder.place(CHECKPOINT))
        if source.is_live:
            return writer.trigger(processingTime=source.every).start()
        return writer.trigger(availableNow=True).start()

    def _batch(self, number: int, skipped: int) -> Iterator[Keyed]:
        """The messages of a batch, without as many as have entered the run before."""
        from progress.runtime.on_spark.session import start_session

        source, session = self._source, start_session(graphframes=False)
        times, first = self._times.pop(number, None), 1
        if times == []:
            return
        batch = session.read.parquet(as_it_is(self._folder.place(f"{BATCHES}/{number}")))
        if times is None:
            found, aside = rows_by_time(batch, self._reading)
        else:
            found, aside = split(batch, self._column, [(value, 0) for value in times], self._reading)
        if aside is not None:
            if not skipped:
                yield (number, 1), Aside([aside])
            first = 2
        for place, each in enumerate(found, first):
            if place > skipped:
                yield (number, place), Messages(each.time, [each.frame])
            if source.complete is not None:
                yield None, Complete(tuple(source.complete(each.time)))

    def _check(self, query: StreamingQuery) -> None:
        """Raise what ended the stream, if it has failed."""
        error = query.exception()
        if error is not None and not self.is_stopped:
            what = f"the stream of {brief(self._reading.edge)} failed: {said(error)}"
            raise PointstampError("PS776", what, "mend it; the run goes on where it was")
