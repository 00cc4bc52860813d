"""The minimal stacks of a closed set at one location, or that no finite set holds them (A&I 3.3, 3.4).

The stacks of a region make a tree, each call a branch. Where no call so far can follow itself, two stacks of different
branches are related by the two calls in which they differ alone, whatever comes behind: one branch as a whole comes
before another one, or does not. So what is minimal is found branch by branch, from the root: of the branches of a
stack, and the stack itself, those that no other comes before are needed. A branch that begins with a call that can
follow itself is one class of equivalent stacks. And of a cone, what is needed in it depends on its last call alone; so
if the same call comes again on the way to what is needed, there is no end of it.

Cost: O(stacks with which points and cones begin, and minimal stacks found, each with the calls of its procedure).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from progress.summary import NoMinimalTimes
from progress.topology import NO_NODE
from recursion.stack import Call, Procedure, Stack, shortest_chain

if TYPE_CHECKING:
    from recursion.region import Region

MOST_STACKS = 10_000  # looked at in cones
HINT = "ask whether single stacks are there: contains"


class _Branch:
    """A stack with which points and cones of a region begin, and how they go on."""

    __slots__ = ("inner", "is_cone", "is_point")

    def __init__(self) -> None:
        self.inner: dict[Call, Stack] = {}
        self.is_point = False
        self.is_cone = False


class Earliest:
    """The search of one region. `stacks` finds each class of minimal stacks at least once."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._graph = region.relation.graph
        self._leads = region.relation.leads
        self._location = region.location
        self._name = self._graph.name(region.location)
        self._looked_at = 0
        edge = region.location - len(self._graph.nodes)
        self._pushed = self._graph.pushes.get(edge)
        self._popped = self._graph.pops.get(edge)
        self._wanted = self._graph.procedure_of(region.location) if self._pushed is None else self._pushed.within
        self._is_related = edge < 0 or NO_NODE not in (self._graph.sources[edge], self._graph.targets[edge])
        self._ways: dict[Procedure, list[Call] | None] = {}
        self._branches: dict[Stack, _Branch] = {}
        self._apart = [point for point in region.points if not region.fits(point)]  # after nothing else
        for point in region.points:
            if region.fits(point):
                self._branch(point).is_point = True
        for cone in region.cones:
            if self._shortest(cone) is not None:
                self._branch(cone).is_cone = True

    def _branch(self, stack: Stack) -> _Branch:
        """The branch of a stack, made with those that lead to it."""
        found = self._branches.get(stack)
        if found is not None:
            return found
        made = self._branches[stack] = _Branch()
        while stack.call is not None:
            inner, stack = stack, stack.parent
            assert inner.call is not None
            outer = self._branches.get(stack)
            if outer is not None:
                outer.inner[inner.call] = inner
                break
            outer = self._branches[stack] = _Branch()
            outer.inner[inner.call] = inner
        return made

    def stacks(self) -> Iterator[Stack]:
        """The minimal stacks; `NoMinimalTimes` where no finite set of them is enough."""
        yield from self._apart
        for stack in self._fitting():
            if not self._is_after_one_apart(self._location, stack):
                yield stack

    def _is_after_one_apart(self, location: int, stack: Stack) -> bool:
        return any(self._leads(self._location, point, location, stack) for point in self._apart)

    def _is_entered(self, stack: Stack) -> bool:
        """Whether all that begins with a stack comes after a point that comes after nothing itself."""
        return self._is_after_one_apart(stack.procedure.entrance, stack)

    def _fitting(self) -> Iterator[Stack]:
        pending = [self._graph.stacks.empty] if self._branches else []
        while pending:
            stack = pending.pop()
            branch = self._branches[stack]
            if stack.following and self._is_related:
                yield self._any(stack)
            elif branch.is_cone:
                yield from self._of_cone(stack)
            else:
                calls, is_needed = self._needed(stack, branch.inner, branch.is_point)
                if is_needed:
                    yield stack
                pending += [branch.inner[call] for call in calls]

    def _any(self, stack: Stack) -> Stack:
        """One of the region's stacks that begin with this one."""
        while True:
            branch = self._branches[stack]
            if branch.is_point:
                return stack
            if branch.is_cone:
                shortest = self._shortest(stack)
                assert shortest is not None
                return shortest
            stack = next(iter(branch.inner.values()))

    def _of_cone(self, cone: Stack) -> Iterator[Stack]:
        pending = [cone]
        push = self._graph.stacks.push
        while pending:
            stack = pending.pop()
            self._looked_at += 1
            if self._looked_at > MOST_STACKS:
                raise NoMinimalTimes(f"there are more than {MOST_STACKS:,} earliest stacks at {self._name!r}", HINT)
            if stack.following and self._is_related:
                shortest = self._shortest(stack)
                assert shortest is not None
                yield shortest
                continue
            self._refuse_without_end(cone, stack)
            inner = [call for call in stack.procedure.calls.values() if self._shortest(push(stack, call)) is not None]
            calls, is_needed = self._needed(stack, inner, self._region.fits(stack))
            if is_needed:
                yield stack
            pending += [push(stack, call) for call in calls]

    def _needed(self, stack: Stack, inner: Iterable[Call], is_there: bool) -> tuple[list[Call], bool]:
        """Which branches of a stack no other comes before, and whether that is true of the stack itself, if there."""
        if not self._is_related:
            return list(inner), is_there
        graph, location, leads = self._graph, self._location, self._leads
        calls: list[Call] = []
        reached = before = 0  # from what returns from the calls so far, and from those on earlier cycles
        cycle = NO_NODE
        for call in sorted(inner, key=lambda call: -graph.component[call.call]):
            if graph.component[call.call] != cycle:
                cycle, before = graph.component[call.call], reached
            reached |= graph.reach[call.returns]
            if before >> call.call & 1 or self._is_entered(graph.stacks.push(stack, call)):
                continue
            if is_there and leads(location, stack, call.call, stack) and not self._returns(stack, call):
                continue
            calls.append(call)
        is_needed = is_there and not any(
            self._returns(stack, call) and not leads(location, stack, call.call, stack) for call in inner
        )
        return calls, is_needed

    def _returns(self, stack: Stack, call: Call) -> bool:
        """Whether what is in a branch comes before the stack itself; on `out->ret-c`, all in the branch c does."""
        return call is self._popped or self._leads(
            self._location, self._graph.stacks.push(stack, call), self._location, stack
        )

    def _shortest(self, stack: Stack) -> Stack | None:
        """The shortest stack of the location that begins with this one; None where there is none."""
        if self._region.fits(stack):
            return stack
        if stack.procedure not in self._ways:
            self._ways[stack.procedure] = shortest_chain(stack.procedure, self._wanted)
        way = self._ways[stack.procedure]
        if way is None:
            return None
        for call in way if self._pushed is None else [*way, self._pushed]:
            stack = self._graph.stacks.push(stack, call)
        return stack

    def _refuse_without_end(self, cone: Stack, stack: Stack) -> None:
        """Refuse a stack of a cone whose last call was passed before: what is needed there has no end."""
        outer = stack
        while outer.depth > max(cone.depth, 1):
            outer = outer.parent
            if outer.call is stack.call:
                raise self._refusal(outer, stack)

    def _refusal(self, outer: Stack, inner: Stack) -> NoMinimalTimes:
        one, two = self._shortest(outer), self._shortest(inner)
        assert one is not None
        assert two is not None
        if self._leads(self._location, two, self._location, one):
            what = f"{two!r} comes before {one!r}, and so on without end"
        else:
            what = f"{one!r}, {two!r} and so on without end come neither before nor after each other"
        return NoMinimalTimes(f"there are no earliest stacks at {self._name!r}: {what}", HINT)
