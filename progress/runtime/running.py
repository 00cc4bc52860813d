"""One run of a dataflow: its core, what comes in, what goes out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING, Any

from progress.antichain import minimal_elements
from progress.runtime.ahead import Ahead
from progress.runtime.asynchronous import Asynchronous
from progress.runtime.checkpoint import State, capture, resume
from progress.runtime.checks import LATE, check_outputs, late_edges, late_name
from progress.runtime.choosing import Chooser, InTurn, Seeded
from progress.runtime.control import Control, Interrupted
from progress.runtime.core import Core
from progress.runtime.durable.codec import Codec
from progress.runtime.durable.delivery import Log
from progress.runtime.durable.replay import Replay, pass_over
from progress.runtime.failure import contained, dead_letters
from progress.runtime.observer import Observers
from progress.runtime.options import RunOptions
from progress.runtime.out import IN_MEMORY, CopyingOut, copied
from progress.runtime.own import Taken, made
from progress.runtime.performing import waited_for
from progress.runtime.releasing import why_held
from progress.runtime.rests import WORK, WORK_BESIDE, Keeping, Rests
from progress.runtime.results import Results
from progress.runtime.simulation import simulate
from progress.runtime.sink import OFTEN, Sink, Sinks
from progress.runtime.source import Brought, Feed, Source, begun, check_no_file, items_of, opening
from progress.runtime.threads import Threads
from progress.summary import NoMinimalTimes

if TYPE_CHECKING:
    from progress.runtime.dataflow import Dataflow


class Running:
    """A run from its start to its end."""

    def __init__(
        self,
        dataflow: Dataflow,
        sources: Mapping[str, Source],
        sinks: Mapping[str, Sink],
        options: RunOptions,
    ) -> None:
        self.on_spark = on_spark = options.on_spark
        self.control = options.control or Control()
        self.keeping = options.keeping
        self.dataflow = dataflow
        self.engine = options.engine
        observer = options.observer
        if on_spark is not None:
            observer = on_spark.counters if observer is None else Observers(observer, on_spark.counters)
        self.observer = observer
        self.limit = options.limit
        self.nodes = made(dataflow.nodes)
        self._taken = Taken(self.nodes, sources, sinks, observer, dataflow.read, dataflow.sources.values())
        try:
            with contained():
                self._set_up(dataflow, sources, sinks, options)
        except BaseException:
            self._taken.release()
            raise

    def _set_up(
        self, dataflow: Dataflow, sources: Mapping[str, Source], sinks: Mapping[str, Sink], options: RunOptions
    ) -> None:
        """Look at all that was given, and open it."""
        network = dataflow.network
        domains = {name: network.edge_domains[edge] for name, edge in network.inputs.items()}
        for name, source in sources.items():
            check_no_file(name, source)
        besides = [source for edge, source in dataflow.sources.items() if sources.get(edge) is not source]
        policies: dict[Any, Any] = {}  # those of this run
        own = {name: _of_this_run(source, policies) for name, source in sources.items()}
        items = {
            name: begun(name, partial(items_of, source, self.engine, name, domains[name]))
            for name, source in own.items()
        }
        asides = {_aside(name): getattr(each, "aside", None) for name, each in items.items()}
        self.sinks = Sinks(
            {**sinks, **{name: sink for name, sink in asides.items() if sink is not None}}, options.otherwise
        )
        for name, edge in network.outputs.items():
            self.sinks.begin(name, network.edge_domains[edge])
        opened = {
            name: begun(name, partial(opening, name, items[name], domain)) if name in items else ()
            for name, domain in domains.items()
        }
        self._late_inside = late_edges(items, domains)
        for name, feeds in self._late_inside.items():
            opened[name] = minimal_elements(domains[name], [time for edge in feeds for time in opened[edge]])
        self.core = Core(
            network,
            self.nodes,
            self.sinks.deliver,
            inputs=opened,
            on_error=dataflow.on_error,
            observer=self.observer,
            record=options.record,
            limit=options.limit,
            pause=options.pause,
            tables=IN_MEMORY if self.on_spark is None else self.on_spark.tables,
        )
        if self.control.may_stop:
            self.core.check = self.control.check
            self.sinks.waits = self._wait
        if dataflow.copies:
            for inbox in self.core.inboxes:
                inbox.exits.out = CopyingOut
        self.chance: Random | None = None
        self.replay: Replay | None = None  # of what was done before a kill
        self._open: list[Feed] = []  # inputs that have not ended when the run begins
        self.feeds = [
            Feed(name, domain, opened[name], items[name]) for name, domain in domains.items() if name in items
        ]

        for feed in self.feeds:
            if feed.edge in dataflow.ahead:
                feed.ahead = Ahead(network, feed.edge, dataflow.ahead[feed.edge])
            if feed.late_name in self._late_inside:
                feed.late_edge, feed.late_name = feed.late_name, LATE
            feed.late_name = late_name(feed.late_name, network)
            policy = dataflow.on_error.get(feed.edge, dataflow.on_error.get("*"))
            feed.dead_letters = "" if policy is None else dead_letters(policy)
            if hasattr(feed.items, "sets_apart"):
                feed.items.sets_apart = bool(feed.dead_letters)
            if self.keeping is not None and self.keeping.beside is not None and hasattr(feed.items, "keep_beside"):
                feed.items.keep_beside(self.keeping.beside, feed.edge)
        self.held: dict[str, str | None] = {}  # by sink that could hold what it has: why it does, if it does
        if self.keeping is not None:
            self._hold(self.keeping)
        late = {feed.edge: feed.late_name for feed in self.feeds}
        check_outputs(network, dataflow.on_error, late, sinks, besides)
        names = {*network.outputs, *late.values(), *filter(None, map(dead_letters, dataflow.on_error.values()))}
        self._collected = () if options.otherwise is not None else tuple(name for name in names if name not in sinks)

    def run(self, seed: int | None, workers: int, chooser: Callable[[Chooser], Chooser] | None = None) -> Results:
        """Run to the end. PS739 where something is outstanding then.

        `chooser` makes of who chooses for the engine `sim`, by the seed or in turn, who does so instead.
        """
        self.chance = None if seed is None else Random(seed)
        usual: Chooser | None = None if self.chance is None else Seeded(self.chance)
        who = usual if chooser is None else chooser(usual or InTurn())
        with contained(), self._to_the_end():
            if self.engine == "asyncio":
                asyncio.run(self._in_a_loop())
            else:
                if self.on_spark is not None:
                    self.on_spark.begin(self.core, self.sinks)
                if not self._goes_on:
                    self.sinks.are_new()
                    self.core.start()
                rests = self._begin()
                if self.engine == "sim":
                    simulate(self.core, self._open, self.brought, who, self.limit, self.control.check, rests)
                else:
                    Threads(self.core, self._open, self.brought, workers, self.control, rests, self.on_spark).run()
        return self._results()

    async def run_async(self) -> Results:
        """`run` in the event loop that runs already, with the engine `asyncio`."""
        with contained(), self._to_the_end():
            await self._in_a_loop()
        return self._results()

    def _results(self) -> Results:
        return Results(self.sinks.results, self._collected, self.nodes)

    async def _in_a_loop(self) -> None:
        if not self._goes_on:
            self.sinks.are_new()
            await self.core.start_async()
        log = None if self.keeping is None else self.keeping.log
        if log is not None and log.content:  # what is done again is waited for as by engines without an event loop
            rests = await asyncio.to_thread(self._begin)
        else:
            rests = self._begin()
        engine = Asynchronous(self.core, self._open, self.brought, self.control, rests)
        self.sinks.waits = engine.leave
        await engine.run()

    @contextmanager
    def _to_the_end(self) -> Iterator[None]:
        """Whatever happens, sinks are closed, and the observer is told."""
        failure: BaseException | None = None
        self._taken.begin()
        try:
            yield
            try:
                self.core.check_over()
                self.sinks.end()
                self._cover()
            finally:
                self.sinks.wait(self.control.check)
        except BaseException as error:
            failure = error
            self.sinks.stop()
            raise
        finally:
            try:
                self.sinks.close()
            finally:
                self._taken.release()
                if self.observer is not None:
                    self.observer.ended(self.core, failure)

    def _wait(self, result: Any) -> None:
        """Wait for what a sink gives, unless the run has to stop."""
        try:
            waited_for(result, self.control.check)
        except Interrupted as error:
            raise error.reason from None

    def _hold(self, keeping: Keeping) -> None:
        """Let sinks release nothing that may come out otherwise after a kill."""
        beside = keeping.beside
        for name in self.sinks.that_hold():
            self.held[name] = why_held(name, self.dataflow.network, self.feeds, self.core.inboxes)
            if self.held[name] is not None:
                self.sinks.hold(name, (lambda value: value) if beside is None else beside.as_kept)

    def _cover(self) -> None:
        """A last checkpoint, so that what is held may leave. In a thread of its own, as it may have jobs."""
        keeping = self.keeping
        if keeping is None or not any(self.held.values()):
            return
        self._beside(partial(self._rest, keeping), "last checkpoint")

    def _beside(self, do: Callable[[], object], name: str) -> None:
        """Do something that may wait in a thread of its own, and look meanwhile whether the run has to stop."""
        failures: list[BaseException] = []

        def done() -> None:
            try:
                do()
            except BaseException as error:
                failures.append(error)

        thread = (
            threading.Thread(target=done, name=name, daemon=True)
            if self.on_spark is None
            else self.on_spark.thread(done, name, is_daemon=True)
        )
        thread.start()
        while thread.is_alive():
            thread.join(OFTEN)
            self.control.check()
        if failures:
            raise failures[0]

    def capture(self) -> State:
        """The state of the run, while it rests."""
        return capture(self.core, self.feeds, self._codec, self.chance, self.sinks)

    @cached_property
    def _codec(self) -> Codec:
        """How the parts of the run are written."""
        beside, with_pickle = (None, False) if self.keeping is None else (self.keeping.beside, self.keeping.with_pickle)
        return Codec(self.core.network, beside, with_pickle=with_pickle)

    @property
    def _goes_on(self) -> bool:
        """Whether it goes on from a checkpoint."""
        return self.keeping is not None and self.keeping.begun is not None

    def _begin(self) -> Rests | None:
        """Nodes have started, or do what they did at a checkpoint: everything else begins."""
        keeping = self.keeping
        rests = None
        if keeping is not None:
            if keeping.begun is None:
                keeping.keep(self.capture())
            else:
                resume(self.core, self.feeds, keeping.begun, self._codec, self.chance, self.sinks, keeping.restored)
            work = WORK if self.on_spark is None else WORK_BESIDE
            rests = Rests(keeping.seconds, partial(self._rest, keeping), self._moves, work=work)
            if self.engine != "sim":
                self.core.keep()
        for feed in self.feeds:
            if feed.ahead is not None:
                feed.ahead.tracker = self.core.tracker
        self._listen()
        if self.observer is not None:
            self.observer.started(self.core)
        if keeping is not None and keeping.log is not None:
            self._follow(keeping, keeping.log)
        self._open = [feed for feed in self.feeds if not feed.is_over]
        return rests

    def _follow(self, keeping: Keeping, log: Log) -> None:
        """Do again what was done since the checkpoint, in the order in which it was; from now on write the order."""
        if log.content:
            self.replay = Replay(self.core, self.feeds, self.brought)
            self._beside(partial(self.replay.run, self._codec.records(log.content), self.control.check), "replay")
            self._rest(keeping)
        elif keeping.begun is not None and any(feed.is_behind for feed in self.feeds):
            self._beside(partial(pass_over, self.feeds, self.control.check), "replay")
        for feed in self.feeds:
            feed.brought_since()
        self.core.order = self._codec.order(log)

    def _rest(self, keeping: Keeping) -> None:
        """Take a checkpoint, between two actions."""
        with nullcontext() if self.on_spark is None else self.on_spark.checkpoint():
            keeping.keep(self.capture())
            if self.core.order is not None:
                self.core.order.begin()
            self.sinks.kept()

    def _moves(self) -> int:
        """How much has happened."""
        return self.core.steps + sum(feed.taken for feed in self.feeds)

    def brought(self, feed: Feed, what: Brought) -> None:
        """Enter what a source gave."""
        if self.core.order is not None:
            self.core.order.brought(feed.edge, *feed.brought_since())
        if self.dataflow.copies:
            what = what._replace(
                batches={time: [copied(value) for value in values] for time, values in what.batches.items()},
                late_inside={time: [copied(each) for each in late] for time, late in what.late_inside.items()},
            )
        if what.late_inside:
            self.core.bring(feed.late_edge, what.late_inside, None)
        if what.batches or what.opened is not None:
            self.core.bring(feed.edge, what.batches, what.opened)
        if feed.late_edge and what.opened is not None:
            self.core.bring(feed.late_edge, {}, self._where_late_data_come(feed.late_edge))
        for time, value in what.late:
            self.sinks.deliver(feed.late_name, time, [value])
        for failure in what.refused:
            self.sinks.deliver(feed.dead_letters, None, [failure])
            if self.observer is not None:
                self.observer.refused(failure)
        if what.aside:
            self.sinks.deliver(_aside(feed.edge), None, what.aside)
        if self.observer is not None and (what.batches or what.late or what.late_inside):
            late = len(what.late) + sum(map(len, what.late_inside.values()))
            self.observer.brought(feed.edge, what.size, late)

    def _where_late_data_come(self, edge: str) -> tuple[Any, ...]:
        """From which times on late data may come in on an edge: those from which on their inputs are open."""
        times = [time for feed in self.feeds if feed.late_edge == edge for time in feed.position[0]]
        return minimal_elements(self.dataflow.network.domain(self.dataflow.network.numbers[edge]), times)

    def _listen(self) -> None:
        """Tell sinks when nothing at or before some time leaves their edges any more."""
        tracker = self.core.tracker
        for name in tracker.network.outputs:
            if self.sinks.listens(name):
                tracker.subscribe(name, self._moved, told=self.sinks.told.get(name, ()))
                self.core.is_listened_to = True

    def _moved(self, name: str, left: tuple[Any, ...], came: tuple[Any, ...]) -> None:
        with suppress(NoMinimalTimes):
            self.sinks.complete(name, self.core.tracker.frontier(name))


def _of_this_run(source: Source, policies: dict[Any, Any]) -> Source:
    """The source as this run reads it: each run has policies of its own."""
    make: Callable[[dict[Any, Any]], Source] | None = getattr(source, "source_for", None)
    return source if make is None else make(policies)


def _aside(edge: str) -> str:
    """The side output of what has no time, of the source that an edge has."""
    return f"aside of {edge}"
