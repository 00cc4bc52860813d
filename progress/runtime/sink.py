"""Where messages go that leave the graph, and whatever else comes out of a run: late data, dead letters.

A sink is a list, a function of (time, value), or an object with any of `write(time, value)`, `write_all(time, values)`,
`complete(times)`, told whenever the edge's frontier moves, `begins(domain)`, told before anything else of the times of
its edge, and `close()`; or one with `deliver(bundle)` and `last()` (`durable/bundles.py`). An object with
`sink_for(name)` gives one for the run that begins. Functions and methods may be `async def`, but for `close`. What an
object with `snapshot()` and `restore(state)` has taken and not written is part of a checkpoint; one that writes in a
thread of its own has `settle()`, which waits for what it may write now, and perhaps `stop()`, which ends that, since
the run has failed or was stopped; `failure` is then what has stopped it, None before. `ended()` is told when a run
comes to its end, and `is_new()` when one begins that continues no other. One that releases what it has taken may be
told to hold it until a checkpoint covers it (`hold(as_kept)`, `kept()`). Two sinks that write each time once, and have
the same `place`, are refused (PS779).

What a sink raises stops the run, and says of which edge it is: a complaint of a sink of tables in its line, any other
exception in a note (`Exception.add_note`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from typing import Any, TypeAlias

from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.runtime.actions.performing import waited_for
from progress.runtime.awaiting import close
from progress.runtime.durable.bundles import IN, Bundles
from progress.runtime.durable.outlets import Outlet
from progress.runtime.failure import leaks, not_to_leak
from progress.runtime.source import is_file
from progress.runtime.thread import Thread

Sink: TypeAlias = Any
OF_TABLES = ("PS754", "PS755", "PS773", "PS777", "PS778", "PS780")  # complaints of sinks that know a place, not an edge
OFTEN = 0.02  # seconds between looks at whether the run has to stop


class Sinks:
    """The sinks of one run by name: output edges and side outputs. What has no sink gets one from `otherwise`, or is
    collected in `results`.
    """

    def __init__(
        self, given: dict[str, Sink], otherwise: Callable[[str], Sink] | None = None, *, are_kept: bool = False
    ) -> None:
        self._given = {name: _made(name, sink, are_kept) for name, sink in given.items()}
        _check_places(self._given)
        self._otherwise = otherwise
        self.waits: Callable[[Any], None] = waited_for  # has what `async def` methods give waited for, in order
        self.before: Callable[[], None] | None = None  # done before something leaves
        self._write: dict[str, Callable[[Any, Sequence[Any]], None]] = {}
        self.awaited = 0  # how many methods of sinks have begun, and not come to their end
        self.results: dict[str, list[tuple[Any, Any]]] = {}
        self.told: dict[str, tuple[Any, ...]] = {}  # where the frontier of an edge stood when its sink was told last

    def deliver(self, name: str, time: Any, values: Sequence[Any]) -> None:
        """Hand values of one time to the sink of this name."""
        if self.before is not None:
            self.before()
        write = self._write.get(name)
        if write is None:
            write = self._write[name] = self._writer(name)
        try:
            write(time, values)
        except BaseException as error:
            _say_whose(error, name, f" at {brief(time)}")
            raise

    def complete(self, name: str, times: tuple[Any, ...]) -> None:
        """Tell the sink that only times at or after these still come."""
        self.told[name] = times
        tell = getattr(self._given.get(name), "complete", None)
        if tell is not None:
            try:
                self._wait_for(name, tell(times))
            except BaseException as error:
                _say_whose(error, name)
                raise

    def listens(self, name: str) -> bool:
        """Whether the sink wants to be told when the frontier moves."""
        return hasattr(self._given.get(name), "complete")

    def collects(self, name: str) -> bool:
        """Whether what leaves there is a value that the caller has when the run is over."""
        sink = self._given.get(name)
        return isinstance(sink, list) or (sink is None and self._otherwise is None)

    def takes_rows(self, name: str) -> bool:
        """Whether the sink writes rows, so that tables are handed to it as their rows (`progress.runtime.tables`)."""
        return bool(getattr(self._given.get(name), "takes_rows", False))

    def begin(self, name: str, domain: Domain) -> None:
        """Tell the sink of an output edge that the run begins, with the times of the edge."""
        tell = getattr(self._given.get(name), "begins", None)
        if tell is not None:
            with _of(name):
                tell(domain)

    def are_new(self) -> None:
        """The run begins, and continues no other."""
        self._tell("is_new")

    def that_hold(self) -> list[str]:
        """The sinks that can hold what they have taken until a checkpoint covers it."""
        return [name for name, sink in self._given.items() if hasattr(sink, "hold")]

    def hold(self, name: str, as_kept: Callable[[Any], Any]) -> None:
        """Let a sink release nothing that no checkpoint covers; `as_kept` is what one has for a value."""
        self._given[name].hold(as_kept)

    def outlets(self) -> dict[str, Outlet]:
        """Where sinks write that can say how far they have, by name."""
        return {name: sink.outlet for name, sink in self._given.items() if hasattr(sink, "outlet")}

    def bundles(self) -> list[Bundles]:
        """Those that get what leaves in bundles."""
        return [sink for sink in self._given.values() if isinstance(sink, Bundles)]

    def closed(self) -> list[str]:
        """The sinks that were told that nothing leaves any more, of those that know."""
        return [name for name, sink in self._given.items() if getattr(sink, "is_closed", False)]

    def were_closed(self, names: Iterable[str]) -> None:
        """The run goes on, and these sinks were told that nothing leaves any more."""
        for name in names:
            if hasattr(self._given.get(name), "is_closed"):
                self._given[name].is_closed = True

    @property
    def are_behind(self) -> bool:
        """Whether something has left before a kill that has not come again."""
        return any(outlet.is_behind for outlet in self.outlets().values())

    def kept(self) -> None:
        """The checkpoint that was taken last is on the disk."""
        for name in self.that_hold():
            with _of(name):
                self._given[name].kept()

    def already(self) -> dict[str, int]:
        """At how many times there were rows of another run already, by sink, of those that know."""
        return {name: sink.already for name, sink in self._given.items() if getattr(sink, "already", 0)}

    def snapshots(self) -> dict[str, Callable[[], Any]]:
        """How to learn what sinks have not written, by name, of those that know."""
        return {name: sink.snapshot for name, sink in self._given.items() if hasattr(sink, "snapshot")}

    def restore(self, name: str, state: Any) -> None:
        """Give a sink what it had not written."""
        with _of(name):
            self._given[name].restore(state)

    def end(self) -> None:
        """Nothing leaves any more, on no edge: tell sinks that may not have been told by a frontier (`ended()`)."""
        self._tell("ended")

    def wait(self, check: Callable[[], None]) -> None:
        """Wait until sinks that write in threads of their own have written all complete times.

        `check` is asked meanwhile whether the run has to stop. What settling raises, closing raises again.
        """
        sinks = [*self._that_have("settle")]
        if not sinks:
            return

        def settle() -> None:
            with suppress(Exception):
                for _, each in sinks:
                    each()

        settling = Thread(target=settle, name="sinks that write", daemon=True)
        settling.start()
        while settling.is_alive():
            settling.join(OFTEN)
            check()

    def stop(self) -> None:
        """The run has failed, or has to stop: let sinks that write in threads of their own begin nothing more."""
        for _, stop in self._that_have("stop"):
            stop()

    @property
    def failure(self) -> BaseException | None:
        """What has stopped a sink that writes in threads of its own, where that is known."""
        found = (getattr(sink, "failure", None) for sink in self._given.values())
        return next((each for each in found if isinstance(each, BaseException)), None)

    def close(self) -> None:
        """Close those that can be closed, all of them whatever one raises."""
        failure: BaseException | None = None
        for name, end in self._that_have("close"):
            try:
                with _of(name):
                    end()
            except BaseException as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _that_have(self, method: str) -> Iterator[tuple[str, Callable[[], object]]]:
        """The sinks that have a method, by name, and it."""
        for name, sink in self._given.items():
            found = getattr(sink, method, None)
            if found is not None:
                yield name, found

    def _tell(self, method: str) -> None:
        for name, tell in self._that_have(method):
            with _of(name):
                tell()

    def _writer(self, name: str) -> Callable[[Any, Sequence[Any]], None]:
        sink = self._given.get(name)
        if sink is None and self._otherwise is not None:
            sink = self._otherwise(name)
        if sink is None:
            sink = self.results.setdefault(name, [])
        if isinstance(sink, list):
            return lambda time, values: sink.extend(zip(repeat(time), values))
        if hasattr(sink, "write_all"):
            return lambda time, values: self._wait_for(name, sink.write_all(time, values))
        write = sink.write if hasattr(sink, "write") else sink
        assert callable(write)

        def one_by_one(time: Any, values: Sequence[Any]) -> None:
            for value in values:
                result = write(time, value)
                if result is not None:
                    self._wait_for(name, result)

        return one_by_one

    def _wait_for(self, name: str, result: Any) -> None:
        if hasattr(result, "__await__"):
            self.awaited += 1
            self.waits(_Awaited(name, result, self._came))

    def _came(self) -> None:
        self.awaited -= 1


class _Awaited:
    """What a sink gave to be waited for, and who is told that it has come; what it raises says of which edge it is."""

    def __init__(self, name: str, result: Any, came: Callable[[], None]) -> None:
        self._name = name
        self._result = result
        self._came = came

    def __await__(self) -> Any:
        try:
            yield from self._result.__await__()
            self._came()
        except Exception as error:  # not what says that whoever waits was cancelled
            _name(error, self._name)
            raise

    def close(self) -> None:
        """Nobody waits for it."""
        close(self._result)


@contextmanager
def _of(name: str) -> Iterator[None]:
    """What is raised within it is of the sink of this edge."""
    try:
        yield
    except BaseException as error:
        _say_whose(error, name)
        raise


def _say_whose(error: BaseException, name: str, at: str = "") -> None:
    """Let what was raised say of which edge the sink is; raised is what says so instead of one that leaks."""
    if isinstance(error, leaks()):
        raise not_to_leak(f"the sink of {brief(name)}", error) from error
    if isinstance(error, Exception):
        _name(error, name, at)


def _name(error: Exception, name: str, at: str = "") -> None:
    """Let an exception say of which edge the sink is that has raised it."""
    if isinstance(error, PointstampError):
        if error.code in OF_TABLES and brief(name) not in error.message:
            error.message = f"at {brief(name)}, {error.message}"
    elif not any(note.startswith(IN) for note in getattr(error, "__notes__", ())):
        error.add_note(f"{IN}{brief(name)}{at}")


def _made(name: str, sink: Sink, is_kept: bool) -> Sink:
    """The sink of one run; of one that is kept, `kept_sink_for` makes it."""
    if is_file(sink):
        what = f"the sink of {brief(name)} is a file, {brief(sink)}"
        right = "pointstamp.JsonLines(path); or a function of (time, value) that writes to it"
        raise PointstampError("PS707", what, right)
    make: Callable[[str], Sink] | None = getattr(sink, "sink_for", None)
    if is_kept:
        make = getattr(sink, "kept_sink_for", make)
    made = sink if make is None else make(name)
    if hasattr(made, "deliver") and hasattr(made, "last"):
        return Bundles(name, made)
    if not (
        made is None or isinstance(made, list) or callable(made) or hasattr(made, "write") or hasattr(made, "write_all")
    ):
        right = "a list, a function of (time, value), `write`, or `deliver` and `last`"
        raise PointstampError("PS707", f"the sink of {brief(name)} is {brief(made)}", right)
    return made


def _check_places(sinks: dict[str, Sink]) -> None:
    """Refuse sinks of which one would take what another has written for its own."""
    owners: dict[object, str] = {}
    for name, sink in sinks.items():
        place = getattr(sink, "place", None)
        if place in owners:
            where = place if isinstance(place, str) else "one object, which can give one stamp"
            what = f"{brief(owners[place])} and {brief(name)} both write to {where}"
            raise PointstampError("PS779", what, "a place of its own for each edge, or an application")
        if place is not None:
            owners[place] = name
