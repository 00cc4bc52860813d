"""How a part of a run becomes bytes and is read again: as plain data, or, where somebody asks for that, as a pickle.

Plain data is read without running code. A pickle takes nearly everything and runs code when it is read: who may write
to where it is kept may do as its reader may. Times that belong to one graph, as stacks of calls do, are written as
plain data and read again there. What is too large, or cannot be in either, is kept beside it (`Beside`).
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from progress.errors import PointstampError, brief, said_by
from progress.plain import Written
from progress.runtime.durable.delivery import Log
from progress.runtime.durable.encoding.form import NotPlain, NotRead
from progress.runtime.durable.encoding.kinds import Plain, StatesByName, ValuesByName
from progress.runtime.durable.encoding.reading import decoded
from progress.runtime.durable.encoding.writing import Sets, encoded, put_together
from progress.runtime.durable.order import Altered, Order, Record, records
from progress.runtime.state import State
from progress.topology import Network


class Beside(ValuesByName, Protocol):
    """Keeps parts of a state outside of its bytes, which hold a name for each."""

    def file(self, name: str) -> Path:
        """Where a source may write down what it has to know again: a file of its own, which nobody else has."""
        ...

    def add_source(self, edge: str, make: Callable[[Any], Any]) -> None:
        """The source of an edge makes parts anew of what `is_made_by` says of them."""
        ...

    def is_made_by(self, edge: str, part: Any, of: Any) -> None:
        """A part can be made anew by the source of an edge, of something that can be kept: that is all to keep."""
        ...

    def begin(self) -> None:
        """A checkpoint is taken now."""
        ...

    def belongs_to(self, what: str) -> None:
        """What is written from now on belongs to this."""
        ...

    def finish(self) -> None:
        """Wait until all of it is kept; where it cannot be, what is raised may say in `of` to what it belongs."""
        ...

    def as_kept(self, part: Any) -> Any:
        """A part as the last checkpoint has it."""
        ...

    def settle(self) -> None:
        """The checkpoint is kept, or was read: what is not named in it is of no use any more."""
        ...

    def stop(self) -> None:
        """The run was stopped: from now on nothing is begun that takes its time."""
        ...

    def is_stopped(self, error: BaseException | None) -> bool:
        """Whether this is why a part was not kept."""
        ...


OF_THE_STORE = ("PS738", "PS740")  # it was taken over, it cannot be written: whatever was to be kept


class NotKept(PointstampError):
    """Something that a run consists of cannot be kept."""

    def __init__(self, what: str, error: BaseException, right: str = "") -> None:
        says = said_by(error) or type(error).__name__
        right = right or "what pickle takes; snapshot and restore of a node choose it"
        super().__init__("PS735", f"{what} cannot be kept: {says}", right)


class NotRestored(PointstampError):
    """A checkpoint is none of this pipeline."""

    def __init__(self, what: str, error: BaseException) -> None:
        says = error.message if isinstance(error, PointstampError) else f"{type(error).__name__}: {said_by(error)}"
        super().__init__("PS737", f"{what} cannot be restored: {says}", "the pipeline that the state was written by")


class Codec:
    """Writes and reads the parts of one run.

    Parameters
    ----------
    network : whose times they hold
    beside : keeps what cannot be in them
    with_pickle : whether they are pickles
    states : keeps each `State` by its changes; None: all of it is in the bytes
    """

    def __init__(
        self,
        network: Network,
        beside: Beside | None = None,
        *,
        with_pickle: bool = False,
        states: StatesByName | None = None,
    ) -> None:
        self.with_pickle = with_pickle
        self.beside = beside
        self._states = states
        self._times = _Times(network)
        self._plain = Plain(self._times, beside, states)

    def write(self, what: str, part: Callable[[], Any], sets: Sets | None = None) -> bytes:
        """The bytes of a part; `NotKept` where it cannot be kept. `sets` as in `encoded`."""
        if self.beside is not None:
            self.beside.belongs_to(what)
        value: Any = None
        try:
            value = part()
            if not self.with_pickle:
                return encoded(value, self._plain.parts, sets)
            stream = io.BytesIO()
            _Writer(stream, self.beside, self._states).dump(value)
        except NotPlain as error:
            right = "plain data; snapshot and restore of the node choose what is kept; or --pickle"
            raise NotKept(f"{what}{_way(error, value)}", error, right) from error
        except Exception as error:
            if isinstance(error, PointstampError) and error.code in OF_THE_STORE:
                raise
            raise NotKept(what, error) from error
        return stream.getvalue()

    def put_together(self, sets: Sets) -> None:
        """Let sets be iterated over as what is read of them."""
        put_together(sets, self._plain.parts)

    def finish(self) -> None:
        """All parts are written: wait until what is kept beside them is; `NotKept` where it cannot be."""
        if self.beside is None:
            return
        try:
            self.beside.finish()
        except Exception as error:
            raise NotKept(getattr(error, "of", "what waits"), error) from error

    def order(self, log: Log, *, is_full: bool) -> Order:
        """Who writes the order of the run there."""
        return Order(self._plain.parts, log.write, is_full=is_full)

    def records(self, content: bytes, *, is_torn: bool) -> list[Record]:
        """The order that was written; refused where it was altered (PS736), or is of something else (`NotRestored`)."""
        try:
            return records(content, self._plain, is_torn=is_torn)
        except Altered as error:
            what = f"the state is damaged: of the order in which things happened, {error}"
            raise PointstampError("PS736", what, "the copy that is whole; or another DIR, to begin anew") from None
        except NotRead as error:
            raise NotRestored("the order in which things happened", error) from error

    def read(self, what: str, content: bytes) -> Any:
        """What these bytes hold; `NotRestored` where that is not what was written."""
        try:
            if self.with_pickle:
                return _Reader(io.BytesIO(content), self._times, self.beside, self._states).load()
            return decoded(content, self._plain)
        except Exception as error:
            raise NotRestored(what, error) from error


def _way(error: NotPlain, value: Any) -> str:
    """Where it is: the attribute by its name, what is in there by its keys."""
    way = error.way[::-1]
    if way and type(value) is dict and type(way[0]) is str:
        rest = "".join(f"[{brief(key)}]" for key in way[1:5])
        return f", its attribute {brief(way[0])}" + (f" at {rest}" if rest else "") + ","
    return ""


# --- pickles ----------------------------------------------------------------------------------------------------------


def _time(written: Any) -> Any:
    """Stands in a pickle for the time that is written so; `_Reader` knows whose it is."""
    raise NotImplementedError


def _beside(name: Any) -> Any:
    """Stands in a pickle for what is kept beside it under this name."""
    raise NotImplementedError


def _state(name: Any) -> Any:
    """Stands in a pickle for the `State` that is kept under this name."""
    raise NotImplementedError


class _Writer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, beside: Beside | None, states: StatesByName | None) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._beside = beside
        self._states = states

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Written):
            return _time, (obj.written(),)
        if self._beside is not None and self._beside.takes(obj):
            return _beside, (self._beside.write(obj),)
        if self._states is not None and type(obj) is State:
            return _state, (self._states.name_of(obj),)
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, times: _Times, beside: Beside | None, states: StatesByName | None) -> None:
        super().__init__(stream)
        self._times = times
        self._beside = beside
        self._states = states

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (__name__, _time.__name__):
            return self._times
        if (module, name) == (__name__, _beside.__name__) and self._beside is not None:
            return self._beside.read
        if (module, name) == (__name__, _state.__name__) and self._states is not None:
            return self._states.named
        return super().find_class(module, name)


class _Times:
    """Finds the times of a graph that stand in a state as they are written."""

    def __init__(self, network: Network) -> None:
        domains = (getattr(domain, "stacks", domain) for domain in (*network.domains, *network.edge_domains))
        self._readers = [domain.read for domain in domains if hasattr(domain, "read")]
        self._known: dict[tuple[Any, ...], Any] = {}

    def __call__(self, written: Sequence[Any]) -> Any:
        key = tuple(written)
        if key not in self._known:
            found = (time for read in self._readers if (time := read(key)) is not None)
            self._known[key] = next(found)
        return self._known[key]
