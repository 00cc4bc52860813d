"""Stacks of calls, outermost first: hash-consed, so that equality is identity (A&I 3.4).

There is one object for each stack in use, made from its parent and its innermost call, so push, pop and top take
constant time however deep it is. Each stack also keeps a *jump* to an ancestor some way up: lengths of jumps follow the
skew-binary numbers (E. Myers, "An applicative random-access stack", 1983), so that any ancestor, and the first call in
which two stacks differ, is found in O(log depth). A stack that nobody holds any more is freed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import ref

from progress.errors import PointstampError
from progress.garbage import without_cycle_search
from progress.plain import Written


class Procedure:
    """A graph that can be called: its entrance `in`, its exit `out`, and the calls in it, by number of node."""

    __slots__ = ("calls", "entrance", "exit", "name", "nodes")

    def __init__(self, name: str, entrance: int, exit: int) -> None:
        self.name = name
        self.entrance = entrance
        self.exit = exit
        self.nodes: list[int] = []
        self.calls: dict[str, Call] = {}

    def __repr__(self) -> str:
        return f"Procedure({self.name!r})"


class Call:
    """A call node c: its two parts `call-c` and `ret-c`, what it stands in, and what it enters.

    `follows_itself`: a path leads from `ret-c` to `call-c`, so that a second call of c can come after the first.
    """

    __slots__ = ("call", "enters", "follows_itself", "name", "number", "returns", "within")

    def __init__(self, name: str, number: int, call: int, returns: int, within: Procedure, enters: Procedure) -> None:
        self.name = name
        self.number = number
        self.call = call
        self.returns = returns
        self.within = within
        self.enters = enters
        self.follows_itself = False

    def __repr__(self) -> str:
        return f"Call({self.name!r})"


class Stack(Written):
    """A finite sequence of calls; made by `Stacks`, compared by identity.

    `following`: the depth of the first call in it that can follow itself, 0 where there is none.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> graph.stack("again", "again").depth
    2
    """

    __slots__ = ("__weakref__", "_above", "call", "depth", "following", "jump", "parent", "procedure")

    def __init__(self, parent: Stack | None, call: Call | None, procedure: Procedure) -> None:
        self.call = call
        self.procedure = procedure  # what runs at this stack
        self._above: Any = None  # the stacks with one call more: None, a reference to one, or references by call
        if parent is None:
            self.parent = self.jump = self
            self.depth = self.following = 0
            return
        self.parent = parent
        self.depth = depth = parent.depth + 1
        jump = parent.jump
        self.jump = jump.jump if depth - 1 - jump.depth == jump.depth - jump.jump.depth and depth > 1 else parent
        self.following = parent.following
        if not self.following and call is not None and call.follows_itself:
            self.following = depth

    def __copy__(self) -> Stack:
        """The stack itself: a second one would be equal to none."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Stack:
        """The stack itself."""
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Refused: only with its graph does a stack know which object it is (checkpoints of runs write its calls)."""
        what = f"the stack {self!r} cannot be pickled: it is one object of its graph"
        raise PointstampError("PS735", what, "pickle its calls, and make the stack again from them")

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of the calls, outermost first. Cost: O(depth)."""
        return tuple(self)

    def __iter__(self) -> Iterator[str]:
        names = []
        stack = self
        while stack.call is not None:
            names.append(stack.call.name)
            stack = stack.parent
        return reversed(names)

    def __len__(self) -> int:
        return self.depth

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        if self.depth <= 8:
            return f"[{', '.join(self)}]"
        stack: Stack = self
        last: list[str] = []
        while len(last) < 3 and stack.call is not None:
            last.append(stack.call.name)
            stack = stack.parent
        first = [each.name for level in range(1, 4) if (each := self.ancestor(level).call)]
        return f"[{', '.join(first)}, ... {self.depth - 6} more ..., {', '.join(reversed(last))}]"

    def written(self) -> list[str]:
        """As plain data: the names of the calls."""
        return list(self)

    def ancestor(self, depth: int) -> Stack:
        """The outermost `depth` calls of this stack. Cost: O(log depth)."""
        stack = self
        while stack.depth > depth:
            stack = stack.jump if stack.jump.depth >= depth else stack.parent
        return stack


def first_difference(one: Stack, other: Stack) -> tuple[Stack, Call | None, Call | None]:
    """The longest stack with which both begin, and the call that each has next; None where it has no more.

    Cost: O(log depth).

    Returns
    -------
    The common stack, and the next call of each.

    Examples
    --------
    >>> from recursion import Body, CallEdge, CallGraph, first_difference
    >>> edges = [CallEdge("down", "begin", "again"), CallEdge("up", "again", "end")]
    >>> bodies = {"main": Body("begin", "end", {"again": "main"})}
    >>> graph = CallGraph(dict.fromkeys(["begin", "again", "end"], True), edges, bodies, "main")
    >>> first_difference(graph.stack("again", "again"), graph.stack("again"))
    ([again], Call('again'), None)
    """
    if one is other:
        return one, None, None
    if one.depth > other.depth:
        next_one = one.ancestor(other.depth + 1)
        one = next_one.parent
        if one is other:
            return other, next_one.call, None
    elif other.depth > one.depth:
        next_other = other.ancestor(one.depth + 1)
        other = next_other.parent
        if one is other:
            return one, None, next_other.call
    while one.parent is not other.parent:
        if one.jump is other.jump:
            one, other = one.parent, other.parent
        else:
            one, other = one.jump, other.jump
    return one.parent, one.call, other.call


class Stacks:
    """The stacks of one call graph, each once. May be used from any thread."""

    def __init__(self, main: Procedure) -> None:
        self.empty = Stack(None, None, main)
        self._lock = threading.Lock()

    def push(self, stack: Stack, call: Call) -> Stack:
        """The stack with one call more. Cost: O(1)."""
        known = stack._above
        if type(known) is ref:
            found: Stack | None = known()
            if found is not None and found.call is call:
                return found
        elif known is not None and call in known:
            found = known[call]()
            if found is not None:
                return found
        return self._make(stack, call)

    def _make(self, stack: Stack, call: Call) -> Stack:
        with self._lock:
            known = stack._above
            if type(known) is ref:
                other: Stack | None = known()
                if other is None:
                    known = None
                elif other.call is call:
                    return other
                else:
                    known = {other.call: known}
            elif known is not None and call in known:
                found: Stack | None = known[call]()
                if found is not None:
                    return found
            made = Stack(stack, call, call.enters)
            if known is None:
                stack._above = ref(made)
            else:
                known[call] = ref(made)
                stack._above = known
            return made

    def of(self, names: Iterable[object]) -> Stack | None:
        """The stack of the calls of these names, outermost first; None where there is no such stack.

        A call has to stand in what the call before it enters. Cost: O(depth).
        """
        stack = self.empty
        with without_cycle_search():
            for name in names:
                call = stack.procedure.calls.get(name) if isinstance(name, str) else None
                if call is None:
                    return None
                stack = self.push(stack, call)
        return stack


def shortest_chain(start: Procedure, end: Procedure) -> list[Call] | None:
    """A shortest chain of calls from one procedure to another; None where there is none. Cost: O(calls)."""
    if start is end:
        return []
    before: dict[Procedure, Call] = {}
    pending = [start]
    for procedure in pending:
        for call in procedure.calls.values():
            if call.enters is not start and call.enters not in before:
                before[call.enters] = call
                pending.append(call.enters)
    chain: list[Call] = []
    while end is not start:
        if end not in before:
            return None
        chain.append(before[end])
        end = before[end].within
    return chain[::-1]
