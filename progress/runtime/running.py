"""One run of a dataflow: its core, what comes in, what goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

from progress.runtime.asynchronous import Asynchronous
from progress.runtime.checkpoint import State, capture, resume
from progress.runtime.control import Control
from progress.runtime.core import Core, Step
from progress.runtime.observer import Observer
from progress.runtime.out import IN_MEMORY
from progress.runtime.rest import Keeping, Rests
from progress.runtime.simulation import simulate
from progress.runtime.sink import Sink, Sinks
from progress.runtime.source import Brought, Feed, Source, items_of, opening
from progress.runtime.threads import Threads
from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE

if TYPE_CHECKING:
    from progress.runtime.dataflow import Dataflow
    from progress.runtime.on_spark.engine import OnSpark


class Running:
    """A run from its start to its end."""

    def __init__(
        self,
        dataflow: Dataflow,
        sources: Mapping[str, Source],
        sinks: Mapping[str, Sink],
        engine: str,
        observer: Observer | None = None,
        record: Callable[[Step], None] | None = None,
        limit: int = 10_000,
        control: Control | None = None,
        otherwise: Callable[[str], Sink] | None = None,
        keeping: Keeping | None = None,
        pause: Callable[[float], object] | None = None,
        on_spark: OnSpark | None = None,
    ) -> None:
        self.on_spark = on_spark
        self.control = control or Control()
        self.keeping = keeping
        self.dataflow = dataflow
        self.engine = engine
        self.observer = observer
        self.limit = limit
        network = dataflow.network
        self.sinks = Sinks(dict(sinks), otherwise)
        for edge, target in enumerate(network.targets):
            if target == NO_NODE:
                self.sinks.begin(network.edges[edge], network.edge_domains[edge])
        domains = {
            name: network.edge_domains[edge]
            for edge, name in enumerate(network.edges)
            if network.sources[edge] == NO_NODE
        }
        items = {name: items_of(source, engine, name, domains[name]) for name, source in sources.items()}
        opened = {name: opening(name, items[name], domain) if name in items else () for name, domain in domains.items()}
        self.core = Core(
            network,
            dataflow.nodes,
            self.sinks.deliver,
            inputs=opened,
            on_error=dataflow.on_error,
            observer=observer,
            record=record,
            limit=limit,
            pause=pause,
            tables=IN_MEMORY if on_spark is None else on_spark.tables,
        )
        self.feeds = [
            Feed(name, domain, opened[name], items[name]) for name, domain in domains.items() if name in items
        ]

    def run(self, seed: int | None, workers: int) -> Mapping[str, list[tuple[Any, Any]]]:
        """Run to the end; what had no sink, by output edge."""
        failure: BaseException | None = None
        self.chance = None if seed is None else Random(seed)
        try:
            if self.on_spark is not None:
                self.on_spark.begin(self.core, self.sinks)
            rests = self._begin()
            self._listen()
            if self.observer is not None:
                self.observer.started(self.core)
            feeds = [feed for feed in self.feeds if not feed.is_over]
            if self.engine == "sim":
                simulate(self.core, feeds, self.brought, self.chance, self.limit, self.control.check, rests)
            elif self.engine in ("threads", "spark"):
                Threads(self.core, feeds, self.brought, workers, self.control, rests, self.on_spark).run()
            else:
                engine = Asynchronous(self.core, feeds, self.brought, self.control, rests)
                self.sinks.waits = engine.leave
                asyncio.run(engine.run())
            if not self.core.tracker.pending():
                self.sinks.end()
        except BaseException as error:
            failure = error
            raise
        finally:
            try:
                self.sinks.close()
            finally:
                if self.observer is not None:
                    self.observer.ended(self.core, failure)
        return self.sinks.results

    def capture(self) -> State:
        """The state of the run, while it rests."""
        beside = None if self.keeping is None else self.keeping.beside
        return capture(self.core, self.feeds, self.chance, self.sinks, beside)

    def _begin(self) -> Rests | None:
        """Begin, or go on from a checkpoint."""
        keeping = self.keeping
        if keeping is None:
            self.core.start()
            return None
        if keeping.begun is None:
            self.core.start()
            keeping.keep(self.capture())
        else:
            resume(self.core, self.feeds, keeping.begun, self.chance, self.sinks, keeping.beside)
        return Rests(keeping.seconds, lambda: keeping.keep(self.capture()), self._moves)

    def _moves(self) -> int:
        """How much has happened."""
        return self.core.steps + sum(feed.taken for feed in self.feeds)

    def brought(self, feed: Feed, what: Brought) -> None:
        """Enter what a source gave."""
        if what.batches or what.opened is not None:
            self.core.bring(feed.edge, what.batches, what.opened)
        for time, value in what.late:
            self.sinks.deliver(feed.late_name, time, [value])
        if self.observer is not None and (what.batches or what.late):
            self.observer.brought(feed.edge, what.size, len(what.late))

    def _listen(self) -> None:
        """Tell sinks when nothing at or before some time leaves their edges any more."""
        tracker = self.core.tracker
        for edge, target in enumerate(tracker.network.targets):
            name = tracker.network.edges[edge]
            if target == NO_NODE and self.sinks.listens(name):
                with suppress(NoMinimalTimes):  # there is no saying where it stands
                    tracker.subscribe(name, self._moved)
                    self.core.is_listened_to = True

    def _moved(self, name: str, left: tuple[Any, ...], came: tuple[Any, ...]) -> None:
        with suppress(NoMinimalTimes):
            self.sinks.complete(name, self.core.tracker.frontier(name))
