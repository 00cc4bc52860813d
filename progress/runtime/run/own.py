"""What a run has of its own, so that two runs of one dataflow share nothing: its nodes, and what it alone may use.

A node that was given as an object is copied for each run, one that was given as a factory is made for it. A function is
called as it is: what it keeps, as a method of an object may, is the user's. Whatever cannot be two runs' at once, an
iterator, a sink that is told how a run goes, an observer that counts, is one run's at a time, and a second run is
refused (PS723).
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from types import AsyncGeneratorType, GeneratorType
from typing import Any, TypeAlias, cast
from weakref import WeakSet, finalize

from progress.errors import PointstampError, brief, said_by
from progress.runtime.awaiting import close
from progress.runtime.failure import MADE, NodeFailed, failures
from progress.runtime.node import Mapped, Node
from progress.runtime.observer import of_one_run

Code: TypeAlias = Node | Callable[[], Node] | Callable[[Any], Any]
TOLD = ("sink_for", "begins", "complete", "close", "ended", "settle", "stop", "snapshot", "deliver")  # how a run goes

# --- nodes -----------------------------------------------------------------------------------------------------------


def check_code(name: str, code: Any) -> None:
    """Refuse what is not the code of a node (PS708). Nothing is made."""
    if isinstance(code, type) and issubclass(code, Node):
        if not _takes(code):
            what = f"{code.__name__}, given for {brief(name)}, cannot be made without arguments"
            raise PointstampError("PS708", what, f"lambda: {code.__name__}(...); or a {code.__name__}, made")
    elif isinstance(code, type) or not (isinstance(code, Node) or callable(code)):
        right = "a Node; a class of them, or a function that makes one; or a function of a value"
        if isinstance(code, type):
            right = f"a class of nodes; or a function of a value, lambda value: {code.__name__}(value)"
        raise PointstampError("PS708", f"{brief(code)} is not code for {brief(name)}", right)


def kind_of(code: Code) -> str:
    """What kind of node it is, by its name, without making one."""
    if isinstance(code, Node):
        return type(code).__qualname__
    if not _is_factory(code):
        return Mapped.__qualname__
    return str(getattr(code.func if isinstance(code, partial) else code, "__qualname__", type(code).__qualname__))


def made(codes: Mapping[str, Code]) -> dict[str, Node]:
    """The nodes of one run. Cost: that of copying what nodes hold (`copy.deepcopy`), and of the factories."""
    found: dict[str, Node] = {}
    names: dict[int, str] = {}
    for name, code in codes.items():
        node = found[name] = _made(name, code)
        other = names.setdefault(id(node), name)
        if other != name:
            what = f"the factories of {brief(other)} and {brief(name)} give one object, {brief(node)}"
            raise shared(what, "an object for each node of the graph")
    return found


def _made(name: str, code: Code) -> Node:
    if isinstance(code, Node):
        return _copied(name, code)
    if not _is_factory(code):
        return Mapped(cast("Callable[[Any], Any]", code))
    try:
        node: Any = code()  # type: ignore[call-arg]
    except failures() as error:
        raise NodeFailed(name, None, MADE, None, error) from error
    if not isinstance(node, Node):
        close(node)
        what = f"what was to make a node for {brief(name)} gave {brief(node)}"
        raise PointstampError("PS708", what, "a function without arguments gives a Node; one of a value is a node")
    return node


def _copied(name: str, node: Node) -> Node:
    kept = getattr(node, "function", None)  # of a Mapped or a Stage, which call it as it is
    memo = {id(kept): kept} if callable(kept) and not isinstance(kept, Node) else {}
    try:
        return deepcopy(node, memo)
    except failures() as error:
        kind = type(node).__name__
        what = f"the node {brief(name)}, a {kind}, cannot be copied for a run: {type(error).__name__}: {said_by(error)}"
        raise PointstampError("PS722", what, f"a factory, which makes one for each run: lambda: {kind}(...)") from error


def _is_factory(code: Any) -> bool:
    """Whether it makes nodes: a class of them, that class with arguments, or anything that takes no value."""
    made_of = code.func if isinstance(code, partial) else code
    return (isinstance(made_of, type) and issubclass(made_of, Node)) or not _takes(code, None)


def _takes(code: Callable[..., Any], *values: Any) -> bool:
    """Whether it can be called with these, as far as that can be known."""
    try:
        signature = inspect.signature(code)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*values)
    except TypeError:
        return False
    return True


# --- one run's at a time ---------------------------------------------------------------------------------------------


def shared(what: str, right: str) -> PointstampError:
    """Something that two runs, or two nodes of one, would share."""
    return PointstampError("PS723", what, right)


_LOCK = threading.Lock()
_TAKEN: dict[int, Any] = {}  # what runs that go on have taken, by identity
_READ: WeakSet[Any] = WeakSet()  # generators that a run has read
_ANEW = "a function that gives the items anew, lambda: ...; or a list"


class Taken:
    """What one run has taken for itself, until `release`, or until nobody has this any more.

    Parameters
    ----------
    nodes : of the run
    sources, sinks : as they were given
    observer : who is told of the run; one that keeps what is of a run (`Observer.of_one_run`) is this run's alone
    read : iterators that runs of the dataflow have read, by identity; those of this run are added when it begins
    lasting : the sources of the dataflow itself, which it would give to the next run
    """

    def __init__(
        self,
        nodes: Mapping[str, Node],
        sources: Mapping[str, Any],
        sinks: Mapping[str, Any],
        observer: Any,
        read: dict[int, Any],
        lasting: Iterable[Any],
    ) -> None:
        iterators = [(name, each) for name, source in sources.items() for each in _iterators(source)]
        wanted: list[tuple[Any, str, str]] = [
            (node, f"the node {brief(name)}", "a factory that makes a node each time") for name, node in nodes.items()
        ]
        wanted += [(each, f"the source of {brief(name)}", _ANEW) for name, each in iterators]
        wanted += [
            (sink, f"the sink of {brief(name)}", "a sink for each run; or a list, or a function")
            for name, sink in sinks.items()
            if any(hasattr(sink, word) for word in TOLD)
        ]
        wanted += [
            (each, "the observer", "an observer for each run: observer=Display()") for each in of_one_run(observer)
        ]
        self._iterators = [each for _, each in iterators if type(each).__module__ in USED_UP]
        self._read = read
        self._lasting = {id(each) for source in lasting for each in _iterators(source)}
        mine = {id(each): each for each, _, _ in wanted}
        with _LOCK:
            for each, what, right in wanted:
                if id(each) in _TAKEN:
                    raise shared(f"{what}, {brief(each)}, is used by another run that goes on", right)
            for name, each in iterators:
                if id(each) in read or (type(each) in GENERATORS and each in _READ):
                    raise shared(f"the source of {brief(name)}, {brief(each)}, was read by another run", _ANEW)
            _TAKEN.update(mine)
        self.release = finalize(self, _let_go, mine)

    def begin(self) -> None:
        """The run begins: from now on its iterators are read."""
        with _LOCK:
            for each in self._iterators:
                if type(each) in GENERATORS:
                    _READ.add(each)
                elif id(each) in self._lasting:
                    self._read[id(each)] = each


GENERATORS = (GeneratorType, AsyncGeneratorType)
USED_UP = ("builtins", "itertools")  # modules whose iterators give nothing any more once they have ended


def _let_go(things: Mapping[int, Any]) -> None:
    with _LOCK:
        for key in things:
            _TAKEN.pop(key, None)


def _iterators(source: Any) -> tuple[Any, ...]:
    """What a source reads that can be read once only: it, or what a policy is around."""
    if hasattr(source, "items_for") and hasattr(source, "within"):
        return _iterators(source.within)
    is_one = isinstance(source, Iterator | AsyncIterator) and not hasattr(source, "items_for")
    return (source,) if is_one else ()
