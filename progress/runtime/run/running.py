"""One run of a dataflow: its core, what comes in, what goes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any

from progress.antichain import minimal_elements
from progress.errors import brief, said_by
from progress.order import Domain
from progress.runtime.actions.core import Core, WaitsForEver
from progress.runtime.actions.performing import waited_for
from progress.runtime.control import Cancelled, Control, Interrupted, TimedOut
from progress.runtime.durable.checkpoint import State, capture, read_back, resume
from progress.runtime.durable.codec import Codec, NotKept
from progress.runtime.durable.delivery import Log
from progress.runtime.durable.encoding.form import NotPlain
from progress.runtime.durable.mappings.states import States
from progress.runtime.durable.order import Order
from progress.runtime.durable.releasing import why_held
from progress.runtime.durable.replay import Replay, pass_over, remember, since
from progress.runtime.durable.rests import Keeping, Rests, Unfinished
from progress.runtime.engines.choosing import Chooser, InTurn, Seeded
from progress.runtime.engines.simulation import simulate
from progress.runtime.engines.threads import Threads
from progress.runtime.failure import contained, dead_letters
from progress.runtime.inputs.ahead import Ahead
from progress.runtime.out import CopyingOut, copied
from progress.runtime.policies.waiting import PATIENCE
from progress.runtime.run.checks import LATE, check_outputs, late_edges, late_name
from progress.runtime.run.options import RunOptions
from progress.runtime.run.own import Taken, made
from progress.runtime.run.results import Results
from progress.runtime.sink import OFTEN, Sink, Sinks
from progress.runtime.source import Brought, Feed, Source, begun, check_no_file, items_of, opening
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
        self._host = options.host
        self.control = options.control or Control()
        self.keeping = options.keeping
        self.dataflow = dataflow
        self.engine = options.engine
        self.observer = observer = self._host.observed(options.observer)
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
            name: begun(name, partial(self._items_of, source, name, domains[name])) for name, source in own.items()
        }
        asides = {_aside(name): getattr(each, "aside", None) for name, each in items.items()}
        self.sinks = Sinks(
            {**sinks, **{name: sink for name, sink in asides.items() if sink is not None}},
            options.otherwise,
            are_kept=self.keeping is not None,
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
            tables=self._host.tables,
            in_order=dataflow.ordered,
        )
        for bundles in self.sinks.bundles():
            bundles.control = self.control
            self.control.may_stop = True
        if self.control.may_stop:
            self.core.check = self.control.check
            self.sinks.waits = self._wait
        if dataflow.copies:
            for inbox in self.core.inboxes:
                inbox.exits.out = CopyingOut
        self.core.are_kept_apart = self._host.is_alone
        for bundles in self.sinks.bundles() if self.keeping is not None else ():
            bundles.codec = self._codec
        self.rests: Rests | None = None
        self.chance: Random | None = None
        self.replay: Replay | None = None  # of what was done before a kill
        self._has_begun = False  # whether it is where the run before was, and all that it writes to has begun
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
        self.sources = sources
        self.drawn = [0] * len(network.nodes)  # random numbers that nodes have had
        self._luck: int = int.from_bytes(os.urandom(8), "little")
        for number, inbox in enumerate(self.core.inboxes):
            inbox.exits.draw = partial(self._draw, number, inbox.exits.name)
        self.waits_for_cover = False  # whether all that leaves waits for a checkpoint
        self.held: dict[str, str | None] = {}  # by sink that could hold what it has: why it does, if it does
        if self.keeping is not None:
            self._hold(self.keeping)
        late = {feed.edge: feed.late_name for feed in self.feeds}
        check_outputs(network, dataflow.on_error, late, sinks, besides)
        names = {*network.outputs, *late.values(), *filter(None, map(dead_letters, dataflow.on_error.values()))}
        self._collected = () if options.otherwise is not None else tuple(name for name in names if name not in sinks)

    def _draw(self, number: int, name: str) -> int:
        """A random number for a node: the next of its own."""
        self.drawn[number] += 1
        text = f"{self._luck}:{self.drawn[number]}:{name}"
        return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")

    def _items_of(self, source: Source, edge: str, domain: Domain) -> Any:
        """The items of a source; of one that begins at its position by itself, from where it stood."""
        make = getattr(source, "items_from", None)
        if self.keeping is None or make is None:
            make = partial(items_of, source, self.engine, edge, domain)
        else:
            make = partial(make, self.engine, edge, domain, self.keeping.positions.get(edge))
        return self.control.beside(make) if getattr(source, "asks_servers", False) else make()

    def give_up(self) -> None:
        """The run does not begin: let all go that it has."""
        with suppress(Exception):  # what a sink says then, it has said before
            self.sinks.close()
        self._taken.release()

    def look(self) -> Results:
        """The nodes of a run that came to its end before, as they were then."""
        assert self.keeping is not None
        assert self.keeping.begun is not None
        with self._closing():
            resume(self.core, self.feeds, self.keeping.begun, self._codec)
        return self._results()

    def run(self, seed: int | None, workers: int, chooser: Callable[[Chooser], Chooser] | None = None) -> Results:
        """Run to the end. PS739 where something is outstanding then.

        `chooser` makes of who chooses for the engine `sim`, by the seed or in turn, who does so instead.
        """
        self.chance = None if seed is None else Random(seed)
        if self.engine == "sim":
            self._luck = seed or 0
        usual: Chooser | None = None if self.chance is None else Seeded(self.chance)
        who = usual if chooser is None else chooser(usual or InTurn())
        with contained(), self._to_the_end():
            if self.engine == "asyncio":
                import asyncio

                asyncio.run(self._in_a_loop())
            else:
                self._host.begin(self.core, self.sinks)
                if not self._goes_on:
                    self.sinks.are_new()
                    self.core.start()
                rests = self._begin()
                if self.engine == "sim":
                    simulate(self.core, self._open, self.brought, who, self.control.check, rests)
                else:
                    Threads(self.core, self._open, self.brought, workers, self.control, rests, self._host).run()
        return self._results()

    async def run_async(self) -> Results:
        """`run` in the event loop that runs already, with the engine `asyncio`."""
        with contained(), self._to_the_end():
            await self._in_a_loop()
        return self._results()

    def _results(self) -> Results:
        return Results(self.sinks.results, self._collected, self.nodes)

    async def _in_a_loop(self) -> None:
        from progress.runtime.engines.asynchronous import Asynchronous  # which brings asyncio

        if not self._goes_on:
            self.sinks.are_new()
            await self.core.start_async()
        log = None if self.keeping is None else self.keeping.log
        if log is not None and log.contents:  # what is done again is waited for as by engines without an event loop
            rests = await self._begun_beside()
        else:
            rests = self._begin()
        engine = Asynchronous(self.core, self._open, self.brought, self.control, rests)
        self.sinks.waits = engine.leave
        await engine.run()

    async def _begun_beside(self) -> Rests | None:
        """`_begin` in a thread, which has come to its end when this has, also where it is cancelled."""
        import asyncio

        begins = asyncio.ensure_future(asyncio.to_thread(self._begin))
        try:
            return await asyncio.shield(begins)
        except asyncio.CancelledError:
            self.control.fail(Cancelled())
            while not begins.done():
                with suppress(asyncio.CancelledError):  # who is impatient is told when it has
                    await asyncio.wait((begins,))
            if not begins.cancelled():
                begins.exception()  # whatever it raises now is of no account
            raise

    @contextmanager
    def _to_the_end(self) -> Iterator[None]:
        """Whatever happens, sinks are closed, and the observer is told of what the caller gets."""
        failure: BaseException | None = None
        self._taken.begin()
        try:
            with self._closing(), self._stopping():
                self.control.check()  # a short run would be over before anybody looks whether it has to stop
                yield
                try:
                    self.core.check_over()
                    self.sinks.end()
                    if self.rests is not None:
                        self.rests.finish()
                    self._cover()
                except Exception:
                    with suppress(Exception):  # what has failed is the failure of the run
                        self.sinks.wait(self.control.check)
                    raise
                self.sinks.wait(self.control.check)
                if self.keeping is not None:
                    self.keeping.ended()
        except BaseException as error:
            failure = error
            raise
        finally:
            if self.observer is not None:
                self.observer.ended(self.core, failure)

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Where the run fails, or has to stop, its sinks stop. A sink that had failed before it had to is why."""
        try:
            yield
        except BaseException as error:
            has_to = isinstance(error, Cancelled | TimedOut | WaitsForEver)
            if not isinstance(error, Exception):
                self.control.hurry()
            first = self.sinks.failure if has_to else None
            self.sinks.stop()
            if self.keeping is not None and has_to:
                self.keeping.stopped()
            if first is not None:
                raise first from None
            raise

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Close the sinks in the end; what one says then is a note on what had failed before."""
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            try:
                self.sinks.close()
            except Exception as error:
                if failure is None:
                    raise
                if error is not failure:
                    where = " ".join(getattr(error, "__notes__", ())) or "a sink"
                    failure.add_note(f"besides, {where}: {type(error).__name__}: {said_by(error)}")
            finally:
                self._taken.release()

    def _wait(self, result: Any) -> None:
        """Wait for what a sink gives, unless the run has to stop."""
        try:
            waited_for(result, self.control.check)
        except Interrupted as error:
            raise error.reason from error.reason.__cause__

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
        if keeping is None or not (self.waits_for_cover or any(self.held.values())):
            return
        self._beside(partial(self._rested, keeping), "last checkpoint", is_short=True)

    def _beside(
        self,
        do: Callable[[], object],
        name: str,
        leave: Callable[[], None] = lambda: None,
        *,
        is_short: bool = False,
    ) -> None:
        """Do something that may wait in a thread of its own, and look meanwhile whether the run has to stop.

        What `is_short` comes to its end soon once the host has nothing to do any more; it is waited for, even then.
        What else is left behind, as a source or a node may block, touches nothing of the run after `leave`.
        """
        failures: list[BaseException] = []

        def done() -> None:
            try:
                do()
            except BaseException as error:
                failures.append(error)

        thread = self._host.thread(done, name, is_daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(OFTEN)
                self.control.check()
        except BaseException as error:
            self.control.fail(error)
            if not is_short:
                leave()
                thread.join(PATIENCE)
                raise
            self._host.stop()
            while thread.is_alive():
                with suppress(KeyboardInterrupt):  # it writes to what is closed next
                    thread.join()
            raise
        if failures:
            raise failures[0]

    def capture(self) -> State:
        """The state of the run, while it rests."""
        return capture(self.core, self.feeds, self._codec, self.chance, self.sinks, self._states, self.drawn)

    @property
    def _states(self) -> States | None:
        return None if self.keeping is None else self.keeping.states

    @cached_property
    def _codec(self) -> Codec:
        """How the parts of the run are written."""
        beside, with_pickle = (None, False) if self.keeping is None else (self.keeping.beside, self.keeping.with_pickle)
        codec = Codec(self.core.network, beside, with_pickle=with_pickle, states=self._states)
        if self._states is not None:
            within = self._states.within
            self._states.codec = Codec(self.core.network, beside, with_pickle=with_pickle, states=within)
        return codec

    @property
    def _goes_on(self) -> bool:
        """Whether it goes on from a checkpoint."""
        return self.keeping is not None and self.keeping.begun is not None

    def _begin(self) -> Rests | None:
        """Nodes have started, or do what they did at a checkpoint: everything else begins."""
        keeping = self.keeping
        rests = None
        if keeping is not None:
            self.core.is_repeated = keeping.log is not None
            if keeping.begun is None:
                self._note_calls(keeping)
                self._rested(keeping)
            else:
                resume(
                    self.core,
                    self.feeds,
                    keeping.begun,
                    self._codec,
                    self.chance,
                    self.sinks,
                    keeping.restored,
                    self.drawn,
                )
                self._note_calls(keeping)
            take, work = partial(self._rest, keeping), self._host.work
            self.rests = rests = Rests(keeping.seconds, take, self._moves, work=work, may=self._may_rest)
        for feed in self.feeds:
            if feed.ahead is not None:
                feed.ahead.tracker = self.core.tracker
        self._listen()
        if self.observer is not None:
            self.observer.started(self.core)
        if keeping is not None and keeping.log is not None:
            self._follow(keeping, keeping.log)
        if keeping is not None and keeping.rests_first and self._may_rest():
            self._rested(keeping)  # or after a kill outputs would be taken for what a run before has left there
        self._open = [feed for feed in self.feeds if not feed.is_over]
        self._has_begun = True
        return rests

    def _note_calls(self, keeping: Keeping) -> None:
        """Know what was before each call, where calls go on while checkpoints are taken; no `State` is copied."""
        if self.engine != "sim":
            self.core.keep(set() if keeping.states is None else keeping.states.nodes())

    def _follow(self, keeping: Keeping, log: Log) -> None:
        """Do again what was done since the checkpoint, in the order in which it was; from now on write the order."""
        parts = since([self._codec.records(content, is_torn=log.is_torn) for content in log.contents])
        remember(self.core, [*chain.from_iterable(parts)])
        self.core.read_back = partial(read_back, core=self.core, codec=self._codec, states=keeping.states)
        if any(parts) and keeping.logs_all:
            self.replay = Replay(self.core, self.feeds, self.brought)
            self._beside(partial(self.replay.run, parts, self.control.check), "replay", self.replay.stop)
            for inbox in self.core.inboxes:  # who has not asked again did otherwise
                inbox.exits.answers.clear()
            self._rested(keeping)
        elif keeping.begun is not None and any(feed.is_behind for feed in self.feeds):
            self._beside(partial(pass_over, self.feeds, self.control.check), "replay")
        for feed in self.feeds:
            feed.brought_since()
        self.core.order = self._codec.order(log, is_full=keeping.logs_all)

    def _rest(self, keeping: Keeping) -> Unfinished | None:
        """Take a checkpoint, between two actions; what of it is not finished goes on between others."""
        with self._host.checkpoint():
            unfinished = keeping.keep(self.capture())
            self.turn()
            if unfinished is not None:
                unfinished.after = self.sinks.kept
                if self._host.is_alone:
                    return unfinished
                unfinished.finish()
            else:
                self.sinks.kept()
        return None

    def turn(self) -> None:
        """A checkpoint has its border here: what is written of the order from now on follows it.

        What nodes were told, and where they were read back, since it was done so before, is still to come: it stays.
        """
        log = None if self.keeping is None else self.keeping.log
        if log is not None and self.core.order is not None:
            inboxes = [*enumerate(self.core.inboxes)]
            back = {number: inbox.entered for number, inbox in inboxes if inbox.was_read_back}
            again = [(number, entered) for number, inbox in inboxes for entered in inbox.again]
            answers = {number: [*inbox.exits.answers] for number, inbox in inboxes if inbox.exits.answers}
            self.core.order.border(log.turn, [*back.items(), *again], answers)
        elif log is not None:
            log.turn()

    def _rested(self, keeping: Keeping) -> None:
        """Take a checkpoint, and finish it."""
        unfinished = self._rest(keeping)
        if unfinished is not None:
            unfinished.finish()

    @property
    def may_be_last(self) -> bool:
        """Whether a checkpoint may be taken where the run is stopped: nothing is half done, and it has begun.

        Before that it would have of outputs that nothing has left, or not have what is still to be told to nodes.
        Where the method of a sink was cut short, it would have as left what has not.
        """
        return self._has_begun and self.core.rests and self._may_rest() and not self.sinks.awaited

    def _may_rest(self) -> bool:
        """Whether a checkpoint may be taken: not while what has left before a kill comes again without a log, and not
        where an input stands behind something that could not enter.

        Nodes that keep sets would go on with what is read of them at other calls than before.
        """
        order = self.core.order
        is_there = order is None or order.is_full or not self.sinks.are_behind
        return is_there and not any(feed.is_entering for feed in self.feeds)

    def _moves(self) -> int:
        """How much has happened."""
        return self.core.steps + sum(feed.taken for feed in self.feeds)

    def brought(self, feed: Feed, what: Brought) -> None:
        """Enter what a source gave."""
        if self.core.order is not None:
            if feed.is_logged:
                self._write_down(self.core.order, feed, what)
            else:
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
        feed.is_entering = False

    def _write_down(self, order: Order, feed: Feed, what: Brought) -> None:
        """Have what a source has brought outlive the process: it does not bring it again."""
        try:
            order.came(feed.edge, what.written(), feed.stand)
        except NotPlain as error:
            right = "plain data; or a source that brings the same again"
            raise NotKept(f"what comes on {brief(feed.edge)}", error, right) from error

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
