"""What is outstanding in a tree of calls, and what of Clock follows from it (A&I 3.4, 4.2).

A *frame* stands for a stack at which something is outstanding, there or further in. It knows which nodes something may
still reach at this very stack (`reached`, a bit set): from what is outstanding there, along the alternative graph, and
from the return of each call further in which anything is outstanding. It is *open* while something outside of it may
still call into it: while its parent is open, or reaches the `call-c` that leads to it. So (p, f) is in Clock exactly
where f's frame is open or reaches p; a stack without a frame is open or not as its nearest frame tells.

Both only fall as long as steps are legal, because Clock shrinks. So a frame closes once in its life, and a request that
waits at one is looked at when that frame closes or loses what it waits for.

Cost: a change costs O(calls alive at its frame), and the same at the frames that come to life, die or close by it: how
deep the tree is, and what is outstanding elsewhere in it, does not matter. Memory is proportional to the frames alive,
which is at most the sum of the depths of what is outstanding, in a tree of calls its size.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from recursion.call_graph import CallGraph
from recursion.stack import Call, Stack

MOST_SETS = 10_000  # sets of nodes whose reach is remembered
Arrival = tuple[int, Stack, int]  # a node where something is outstanding, its stack, and the change of the count


class Frame:
    """One stack of a tree of calls."""

    __slots__ = ("counts", "inner", "is_open", "parent", "reached", "seeds", "stack", "waiting")

    def __init__(self, stack: Stack, parent: Frame | None) -> None:
        self.stack = stack
        self.parent = parent
        self.counts: dict[int, int] = {}  # by node: how much is outstanding at this stack
        self.inner: dict[Call, Frame] | None = None
        self.seeds = 0  # the nodes with counts, and the returns of the calls in which something is outstanding
        self.reached = 0
        self.is_open = False
        self.waiting: dict[int, list[int]] | None = None  # by node: who waits until it is not reached


class Frames:
    """The frames of one tree of calls."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._reach = graph.reach
        self._reached_from: dict[int, int] = {}  # by set of nodes: what is reached from any of them
        self.root = Frame(graph.stacks.empty, None)
        self._frames: dict[Stack, Frame] = {graph.stacks.empty: self.root}
        self.looked_at = 0  # frames put right: what updates cost, for tests

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[Frame]:
        return iter(self._frames.values())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is outstanding and nobody waits."""
        return len(self._frames) == 1 and not self.root.seeds and not self.root.waiting

    # --- questions ---------------------------------------------------------------------------------------------------

    def covers(self, node: int, stack: Stack) -> bool:
        """Whether something outstanding may still arrive at the node at this stack. Cost: O(calls without a frame)."""
        frame = self._frames.get(stack)
        if frame is not None:
            return frame.is_open or bool(frame.reached >> node & 1)
        return self._opens(stack)

    def _opens(self, stack: Stack) -> bool:
        """Whether the frame of a stack would be open."""
        frame = self._frames.get(stack)
        while frame is None:
            call, stack = stack.call, stack.parent
            assert call is not None
            frame = self._frames.get(stack)
            if frame is not None and frame.reached >> call.call & 1:
                return True
        return frame.is_open

    def levels(self) -> Iterator[tuple[Stack, int, list[Call]]]:
        """The stacks that are not open where something is reached, what is, and the calls that may return to them."""
        for frame in self._frames.values():
            if frame.reached and not frame.is_open:
                inner = frame.inner or {}
                yield frame.stack, frame.reached, [call for call, each in inner.items() if each.seeds]

    # --- changes -----------------------------------------------------------------------------------------------------

    def update(self, changes: Iterable[Arrival]) -> list[int]:
        """Change what is outstanding, all together; the waiters that this releases, each once."""
        frames = self._frames
        touched: dict[Frame, None] = {}
        for node, stack, change in changes:
            frame = frames.get(stack)
            if frame is None:
                frame = self._frame(stack)
            counts = frame.counts
            count = counts.get(node, 0) + change
            if count:
                counts[node] = count
                if count != change:
                    continue
            else:
                del counts[node]
            touched[frame] = None
        if not touched:
            return []
        released: list[int] = []
        pending = list(touched)
        if len(pending) > 1:
            pending.sort(key=_depth)
        around: deque[Frame] = deque()  # parents, which come in the order of the depths of what is in them
        while pending or around:  # innermost first, for what is alive inside counts outside
            if around and not (pending and pending[-1].stack.depth >= around[0].stack.depth):
                frame = around.popleft()
            else:
                frame = pending.pop()
            parent = self._settle(frame, released)
            if parent is not None and parent not in touched:
                touched[parent] = None
                around.append(parent)
        return released

    def wait(self, node: int, stack: Stack, waiter: int) -> bool:
        """Wait as long as something may arrive at the node at this stack; False where nothing can."""
        if not self.covers(node, stack):
            return False
        frame = self._frames.get(stack) or self._frame(stack)
        if frame.waiting is None:
            frame.waiting = {}
        frame.waiting.setdefault(node, []).append(waiter)
        return True

    def _frame(self, stack: Stack) -> Frame:
        """The frame of a stack, made with those around it that are not there. Cost: O(frames made)."""
        missing = []
        frame = self._frames.get(stack)
        while frame is None:
            missing.append(stack)
            stack = stack.parent
            frame = self._frames.get(stack)
        while missing:
            stack = missing.pop()
            call = stack.call
            assert call is not None
            outer, frame = frame, Frame(stack, frame)
            frame.is_open = outer.is_open or bool(outer.reached >> call.call & 1)
            if outer.inner is None:
                outer.inner = {}
            outer.inner[call] = frame
            self._frames[stack] = frame
        return frame

    def _settle(self, frame: Frame, released: list[int]) -> Frame | None:
        """Put a frame right, those further in being so; its parent, where that has to be looked at as well."""
        self.looked_at += 1
        seeds = 0
        for node in frame.counts:
            seeds |= 1 << node
        inner = frame.inner
        if inner:
            for call, each in inner.items():
                if each.seeds:
                    seeds |= 1 << call.returns
        was_alive, frame.seeds = bool(frame.seeds), seeds
        reached = self._reached_from.get(seeds)
        if reached is None:
            reached = self._closure(seeds)
        if frame.reached != reached:
            frame.reached = reached
            self._look_again(frame, released)
        elif not seeds:
            self._forget(frame)
        return frame.parent if was_alive != bool(seeds) else None

    def _forget(self, frame: Frame) -> None:
        """Drop a frame at which nothing is outstanding and nobody waits, and those around it of which that is true."""
        while not (frame.counts or frame.inner or frame.waiting or frame.parent is None):
            if self._frames.get(frame.stack) is not frame:
                return
            del self._frames[frame.stack]
            call, frame = frame.stack.call, frame.parent
            assert call is not None
            assert frame.inner is not None
            del frame.inner[call]

    def _look_again(self, frame: Frame, released: list[int]) -> None:
        """Open or close the frames inside, as far as that changes anything, and release who waits no longer."""
        changed = [frame]
        while changed:
            frame = changed.pop()
            if frame.waiting and not frame.is_open:
                for node in [node for node in frame.waiting if not frame.reached >> node & 1]:
                    released += frame.waiting.pop(node)
            for call, inner in frame.inner.items() if frame.inner else ():
                is_open = frame.is_open or bool(frame.reached >> call.call & 1)
                if is_open != inner.is_open:
                    inner.is_open = is_open
                    self.looked_at += 1
                    changed.append(inner)
            self._forget(frame)

    def _closure(self, seeds: int) -> int:
        """What is reached from any of a set of nodes. Cost: O(nodes of the set), and once for each set."""
        if len(self._reached_from) > MOST_SETS:
            self._reached_from.clear()
        reached, left = 0, seeds
        while left:
            reached |= self._reach[left.bit_length() - 1]
            left ^= 1 << left.bit_length() - 1
        self._reached_from[seeds] = reached
        return reached


def _depth(frame: Frame) -> int:
    return frame.stack.depth
