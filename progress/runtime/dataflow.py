"""A dataflow: a graph with the code of its nodes, ready to be run (A&I 2.2, 4.2)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from os import PathLike, fspath
from typing import Any

from progress.errors import PointstampError, brief, one_of
from progress.notebook import InNotebooks, Shown
from progress.runtime.actions.core import Step
from progress.runtime.actions.performing import is_in_a_loop
from progress.runtime.control import Control
from progress.runtime.engines.host import HERE, Host
from progress.runtime.failure import OnError, in_a_loop
from progress.runtime.observer import Observer
from progress.runtime.run.checks import (
    by_edge,
    check_control,
    check_inputs,
    check_keeping,
    check_numbers,
    check_told,
    policies,
    times_ahead,
)
from progress.runtime.run.options import RunOptions
from progress.runtime.run.own import Code, check_code, kind_of
from progress.runtime.run.results import Results
from progress.runtime.run.running import Running
from progress.runtime.sink import Sink
from progress.runtime.source import Source
from progress.topology import Topology, network_of

FEW = 8  # nodes whose code is shown
ENGINES = ("sim", "threads", "asyncio", "spark")


class Dataflow(InNotebooks):
    """A graph and its nodes, from which any number of runs can be made, also at once: no two share anything of it.

    Parameters
    ----------
    graph : any graph with `network()`
    nodes : the code of each node: a `Node`, which each run copies; a class of them, or a function without arguments,
        which makes one for each run and is where to say what runs share; or a function of a value, whose results are
        sent on. Nodes without code send messages on as the graph's summaries say
    sources : what comes in on each input edge (`progress.runtime.source`); an input without one is closed
    sinks : where goes what leaves on each output edge, and what is late or dead (`progress.runtime.sink`)
    on_error : what is done when a node raises, by node or `"*"` for all (`progress.runtime.failure`)
    copies : whether each message is a deep copy of what was sent, or came in; otherwise it is that object itself, and
        one that leaves a node by two edges is the same at both ends
    ahead : how many times of an input may be in flight, by input edge, or of each (`inputs/ahead.py`); None: any
    ordered : whether every node takes its messages in order (`Node.ordered`): then what leaves is the same on every
        engine, in its order too

    Raises
    ------
    PointstampError
        PS708, PS709, PS715, PS718 where what is given does not fit the graph.

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> flow = Dataflow(from_edges([(None, "double"), ("double", None)]), {"double": lambda value: 2 * value})
    >>> flow.run(sources={"in->double": [(0, 3), (1, 4)]})
    {'double->out': [(0, 6), (1, 8)]}
    """

    def __init__(
        self,
        graph: Topology,
        nodes: Mapping[str, Code] | None = None,
        *,
        sources: Mapping[str, Source] | None = None,
        sinks: Mapping[str, Sink] | None = None,
        on_error: OnError | Mapping[str, OnError] | None = None,
        copies: bool = False,
        ahead: Mapping[str, int] | int | None = None,
        ordered: bool = False,
    ) -> None:
        self.graph = graph
        self.copies = copies
        self.ordered = ordered
        self.network = network_of(graph)
        given: object = nodes
        if not (given is None or isinstance(given, Mapping)):
            raise PointstampError("PS708", f"the nodes are {brief(given)}", 'the code by node: {"total": Total}')
        self.nodes: dict[str, Code] = dict(nodes or {})
        for name, code in self.nodes.items():
            self._check_node(name)
            check_code(name, code)
        self.sources: dict[str, Source] = by_edge("sources", sources)
        self.sinks: dict[str, Sink] = by_edge("sinks", sinks)
        self.on_error: dict[str, OnError] = policies(on_error, self.network)
        check_inputs(self.sources, self.network)
        self.ahead: dict[str, int] = times_ahead(ahead, self.network)
        self.read: dict[int, Any] = {}  # iterators among the sources that a run has read

    def __repr__(self) -> str:
        network = self.network
        code = ", ".join(f"{name!r}: {kind_of(code)}" for name, code in [*self.nodes.items()][:FEW])
        more = f", and {len(self.nodes) - FEW:,} more" if len(self.nodes) > FEW else ""
        return f"Dataflow({len(network.nodes):,} nodes, {len(network.edges):,} edges; {code or 'no code'}{more})"

    def _shown(self) -> Shown:
        rows = [(brief(name), kind_of(code)) for name, code in self.nodes.items()]
        rows += [(f"into {brief(name)}", brief(source)) for name, source in self.sources.items()]
        rows += [(f"out of {brief(name)}", brief(sink)) for name, sink in self.sinks.items()]
        return Shown(f"dataflow of {self.network!r}", ("at", "there is"), rows, self.network)

    def _check_node(self, name: str) -> None:
        if self.network.numbers.get(name, len(self.network.nodes)) >= len(self.network.nodes):
            raise PointstampError("PS708", f"the graph has no node {brief(name)}", one_of(name, self.network.nodes))

    def run(
        self,
        *,
        engine: str = "sim",
        seed: int | None = None,
        workers: int = 4,
        sources: Mapping[str, Source] | None = None,
        sinks: Mapping[str, Sink] | None = None,
        observer: Observer | None = None,
        record: Callable[[Step], None] | None = None,
        limit: int = 10_000,
        timeout: float | None = None,
        cancel: threading.Event | None = None,
        pause: Callable[[float], object] | None = None,
        session: Any = None,
        folder: str | None = None,
        state: str | PathLike[str] | None = None,
        every: float = 1.0,
        delivery: str | None = None,
        synced: bool = False,
        with_pickle: bool = False,
    ) -> Results:
        """Run to the end; the answer has what had no sink, and the nodes of this run (`Results`).

        PS739 where messages or requests are outstanding at the end. With `state` the run is kept there: begun again
        after whatever has ended it, it goes on; a run that came to its end answers with its nodes alone.

        engine : "sim", "threads", "asyncio" or "spark"
        seed : what decides every choice of `sim`; None: nodes take turns
        workers : of `threads` and `spark`
        observer : told of what happens
        record : told of each step, as `Tracker.apply` takes it
        limit : how many messages may wait at a node before those that send to it are held
        timeout : the seconds after which the run stops with PS713
        cancel : stops the run with PS712 when it is set; what runs comes to its end first, but for what is awaited, and
            jobs of `spark`, which are cancelled, and sinks that keep bundles, which are not waited for at length
        pause : waits the seconds between two attempts (`Retry`); by default `sim` does not wait, the others do
        session : of `spark`; by default the active one, or a new one on this machine, which stays active
        folder : of `spark`, for tables that are kept with a name (`Out.keep`)
        state : a folder of its own in which the run is kept
        every : the seconds between two checkpoints of a run that is kept
        delivery : how what leaves goes with them: "deterministic", "barrier" or "at-least-once"; None: as can be
        synced : whether what is written down to repeat the run outlives power cuts, too, before anything leaves
        with_pickle : whether what is kept are pickles, which hold nearly everything and run code when they are read
        """
        if engine not in ENGINES:
            raise PointstampError("PS711", f"there is no engine {brief(engine)}", one_of(engine, ENGINES))
        check_numbers(engine, seed, workers, limit)
        check_control(timeout, cancel)
        if engine == "asyncio" and is_in_a_loop():
            raise in_a_loop("run() would begin")
        host: Host = HERE
        if engine == "spark":
            from progress.runtime.on_spark.engine import OnSpark

            host = OnSpark(session, folder)
        elif session is not None or folder is not None:
            given = "session" if session is not None else "folder"
            raise PointstampError("PS741", f"{given}= is of no use to the engine {engine}", 'engine="spark"')
        control = Control(timeout, cancel)
        options = RunOptions(engine, observer, record, limit, control, pause=pause, host=host)
        check_keeping(state, every, delivery, synced, with_pickle)
        how = (every, delivery, synced, with_pickle)
        with host, self._running(sources, sinks, options, seed, state, *how) as (running, is_over):
            return running.look() if is_over else running.run(seed, workers)

    async def run_async(
        self,
        *,
        sources: Mapping[str, Source] | None = None,
        sinks: Mapping[str, Sink] | None = None,
        observer: Observer | None = None,
        record: Callable[[Step], None] | None = None,
        limit: int = 10_000,
        timeout: float | None = None,
        cancel: threading.Event | None = None,
        pause: Callable[[float], object] | None = None,
        state: str | PathLike[str] | None = None,
        every: float = 1.0,
        delivery: str | None = None,
        synced: bool = False,
        with_pickle: bool = False,
    ) -> Results:
        """`run` with the engine `asyncio` in the event loop that runs already, as in a notebook or a service.

        Whoever cancels the task that awaits it cancels the run: its nodes, sources and sinks are cancelled and have
        ended when `CancelledError` is raised.
        """
        check_numbers("asyncio", None, 1, limit)
        check_control(timeout, cancel)
        check_keeping(state, every, delivery, synced, with_pickle)
        options = RunOptions("asyncio", observer, record, limit, Control(timeout, cancel), pause=pause)
        how = (every, delivery, synced, with_pickle)
        with self._running(sources, sinks, options, None, state, *how) as (running, is_over):
            return running.look() if is_over else await running.run_async()

    @contextmanager
    def _running(
        self,
        sources: Mapping[str, Source] | None,
        sinks: Mapping[str, Sink] | None,
        options: RunOptions,
        seed: int | None,
        state: str | PathLike[str] | None,
        every: float,
        delivery: str | None,
        synced: bool,
        with_pickle: bool,
    ) -> Iterator[tuple[Running, bool]]:
        """A run that is to begin, and whether it has come to its end before; nobody else may have its folder."""
        if state is None:
            yield self._set_up(sources, sinks, options), False
            return
        from progress.runtime.durable.kept_run import KeptRun

        more = by_edge("sources", sources)
        command = {
            "pipeline": "a program",
            "--engine": options.engine,
            "--seed": seed,
            "--pickle": True if with_pickle else None,
            "inputs": sorted({*self.sources, *more}),
        }
        with closing(KeptRun(fspath(state), self, command, options.host, synced=synced)) as kept:
            kept.check_ended({**self.sources, **more}, options.control or Control())
            running = self._set_up(sources, sinks, options._replace(keeping=kept.keeping(every, with_pickle)))
            kept.choose(running, delivery)
            yield running, kept.is_finished

    def _set_up(
        self, sources: Mapping[str, Source] | None, sinks: Mapping[str, Sink] | None, options: RunOptions
    ) -> Running:
        check_told(options.observer, options.record, options.pause)
        more = by_edge("sources", sources)
        check_inputs(more, self.network)
        return Running(self, {**self.sources, **more}, {**self.sinks, **by_edge("sinks", sinks)}, options)
