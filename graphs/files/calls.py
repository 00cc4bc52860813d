"""The notation of graphs with calls: the key `recursion`, and times that are stacks (docs/recursion.md).

    recursion: {in: entry, out: exit, calls: [left, right]}

    recursion:
      main: even
      graphs:
        even: {in: even_in, out: even_out, calls: {ask_odd: odd}}
        odd: {in: odd_in, out: odd_out, calls: {ask_even: even}}

A time is a stack, `time: stack`, or an epoch and a stack, `time: {product: [nat, stack]}`, where the graph is joined to
the outside by input and output edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphs.files.document import nearest, quoted
from graphs.files.notation import NotationError, Path, kind_of, read_domain, suggestion, write_domain
from progress.order import Domain
from recursion.call_graph import BadCallGraph, Body

if TYPE_CHECKING:
    from graphs.graph import Graph

ONE_GRAPH = ("in", "out", "calls")
SEVERAL_GRAPHS = ("main", "graphs")
MOST_GRAPHS = 64  # in a file
MOST_NODES = 10_000


class StackTimes(NamedTuple):
    """The times of a graph with calls: stacks, or epochs with stacks."""

    epochs: Domain | None

    def written(self) -> Any:
        """As files have it."""
        return "stack" if self.epochs is None else {"product": [write_domain(self.epochs), "stack"]}


def read_stack_times(data: Any, path: Path = ()) -> StackTimes:
    """The times that `time` names in a graph with calls; nothing stands for stacks."""
    if isinstance(data, StackTimes):
        return data
    if data is None or data == "stack":
        return StackTimes(None)
    if isinstance(data, Mapping) and list(data) == ["product"]:
        parts = data["product"]
        if isinstance(parts, list | tuple) and len(parts) == 2 and parts[1] == "stack" and parts[0] != "stack":
            return StackTimes(read_domain(parts[0], (*path, "product", 0)))
    raise NotationError(
        "PS012",
        "the times of a graph with calls are stacks",
        "time: stack; or {product: [nat, stack]}, an epoch before each stack",
        path,
    )


def refuse_own_times(name: str, times: StackTimes, time: Any, summaries: Mapping[str, Any], path: Path = ()) -> None:
    """Refuse (PS017) what a node or an edge says of times: all are of the kind at the top, and only calls change them.

    `summaries`: what is given for the keys that hold summaries; nothing and empty mappings are fine.
    """
    for word, given in summaries.items():
        if given is not None and given != {}:
            raise NotationError(
                "PS017",
                f"{quoted(name)} has {word}, in a graph with calls",
                f"no {word}: stacks change by calls alone",
                (*path, word),
            )
    if time is None:
        return
    try:
        if read_stack_times(time) == times:
            return
    except NotationError:
        pass
    raise NotationError(
        "PS017",
        f"{quoted(name)} has a time of its own, in a graph with calls",
        "one kind of time for all, at the top of the file",
        (*path, "time"),
    )


class Recursion(NamedTuple):
    """Which nodes call which graphs: the bodies by name, and which of them runs first."""

    bodies: Mapping[str, Body]
    main: str
    is_single: bool

    def written(self) -> dict[str, Any]:
        """As files have it."""
        if self.is_single:
            body = self.bodies[self.main]
            return {"in": body.entrance, "out": body.exit, "calls": list(body.calls)}
        graphs = {
            name: {"in": body.entrance, "out": body.exit, "calls": dict(body.calls)}
            for name, body in self.bodies.items()
        }
        return {"main": self.main, "graphs": graphs}


def read_recursion(data: Any) -> Recursion:
    """What the key `recursion` says; names are checked later, against the graph."""
    if isinstance(data, Recursion):
        return data
    path: Path = ("recursion",)
    if not isinstance(data, Mapping):
        raise NotationError("PS007", f"recursion is {kind_of(data)}", "{in: entry, out: exit, calls: [again]}", path)
    if "graphs" not in data and "main" not in data:
        return Recursion({"": _body(data, path, is_single=True)}, "", True)
    _only(data, SEVERAL_GRAPHS, path)
    graphs = data.get("graphs")
    if not isinstance(graphs, Mapping) or not graphs:
        raise NotationError(
            "PS007",
            f"graphs is {kind_of(graphs) if graphs != {} else 'empty'}",
            "a mapping like {first: {in: entry, out: exit, calls: {again: first}}}",
            (*path, "graphs") if "graphs" in data else path,
        )
    bodies = {
        _name(name, "a graph", (*path, "graphs", name)): _body(body, (*path, "graphs", name), is_single=False)
        for name, body in graphs.items()
    }
    main = _name(data.get("main"), "main", (*path, "main") if "main" in data else path)
    if main not in bodies:
        raise NotationError(
            "PS016", f"main is {quoted(main)}, which is not a graph here", suggestion(main, bodies), (*path, "main")
        )
    for name, body in bodies.items():
        for call, callee in body.calls.items():
            if callee not in bodies:
                raise NotationError(
                    "PS016",
                    f"{quoted(call)} calls {quoted(callee)}, which is not a graph here",
                    suggestion(callee, bodies),
                    (*path, "graphs", name, "calls", call),
                )
    return Recursion(bodies, main, False)


def _body(data: Any, path: Path, is_single: bool) -> Body:
    form = f"{{in: entry, out: exit, calls: {'[again]' if is_single else '{again: first}'}}}"
    if not isinstance(data, Mapping):
        raise NotationError("PS007", f"the graph {quoted(str(path[-1]))} is {kind_of(data)}", form, path)
    _only(data, ONE_GRAPH, path)
    entrance = _name(data.get("in"), "in", (*path, "in") if "in" in data else path)
    exit = _name(data.get("out"), "out", (*path, "out") if "out" in data else path)
    calls = data.get("calls", [] if is_single else {})
    place = (*path, "calls")
    if is_single and isinstance(calls, list | tuple):
        names = [_name(call, "a call", (*place, position)) for position, call in enumerate(calls)]
        first: dict[str, int] = {}
        for position, name in enumerate(names):
            if first.setdefault(name, position) != position:
                raise NotationError("PS016", f"{quoted(name)} is listed twice", "each call once", (*place, position))
        return Body(entrance, exit, dict.fromkeys(names, ""))
    if not is_single and isinstance(calls, Mapping):
        named = {
            _name(call, "a call", (*place, call)): _name(callee, "a graph", (*place, call))
            for call, callee in calls.items()
        }
        return Body(entrance, exit, named)
    raise NotationError("PS007", f"calls is {kind_of(calls)}", form, place)


def check_calls(graph: Graph) -> None:
    """Refuse, with its place, what the key `recursion` says and the graph cannot hold (PS004, PS010, PS016).

    Cost: that of `CallGraph`, which is kept.
    """
    assert graph.recursion is not None
    hint = "build a graph of this size through the Python API"
    if len(graph.nodes) > MOST_NODES:
        raise NotationError("PS004", f"a graph with calls has more than {MOST_NODES:,} nodes", hint, ("nodes",))
    if len(graph.recursion.bodies) > MOST_GRAPHS:
        path = ("recursion", "graphs")
        raise NotationError("PS004", f"there are more than {MOST_GRAPHS} graphs in one file", hint, path)
    try:
        graph.call_graph()
    except BadCallGraph as error:
        hint = suggestion(error.unknown, graph.nodes) if error.unknown and graph.nodes else error.hint
        raise NotationError(error.code, error.message, hint, _place(graph, error)) from None


def _place(graph: Graph, error: BadCallGraph) -> Path:
    if error.location is not None:
        position = graph.edges.get(error.location)
        return ("nodes", error.location) if position is None else ("edges", position)
    assert graph.recursion is not None
    path: Path = ("recursion",)
    if not graph.recursion.is_single:
        return (*path, *(error.place if error.place == ("main",) else ("graphs", *error.place)))
    name, *keys = error.place
    if keys[0] == "calls":
        return (*path, "calls", list(graph.recursion.bodies[name].calls).index(keys[1]))
    return (*path, *keys)


def _only(data: Mapping[Any, Any], known: tuple[str, ...], path: Path) -> None:
    for key in data:
        if key not in known:
            if key in ONE_GRAPH or key in SEVERAL_GRAPHS:
                hint = "either in, out and calls, or main and graphs, each of these with in, out and calls"
            else:
                hint = suggestion(key, known if nearest(str(key), known) else (*ONE_GRAPH, *SEVERAL_GRAPHS))
            raise NotationError("PS006", f"unknown key {quoted(str(key))}", hint, (*path, key))


def _name(data: Any, word: str, path: Path) -> str:
    if isinstance(data, str):
        return data
    if type(data) is int:
        return str(data)
    if data is None:
        raise NotationError("PS007", f"recursion has no {word}", f"{word}: the name of a node", path)
    raise NotationError("PS009", f"{word} is {kind_of(data)}", "a name: text, in quotes", path)
