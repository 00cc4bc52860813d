"""What is outstanding in a tree of calls, and what of Clock follows from it (A&I 3.4, 4.2).

A *frame* stands for a stack at which something is outstanding, there or further in. It knows which nodes something may
still reach at this very stack (`reached`, a bit set): from what is outstanding there, along the alternative graph, and
from the return of each call further in which anything is outstanding. It is *open* while something outside of it may
still call into it: while its parent is open, or reaches the `call-c` that leads to it. So (p, f) is in Clock exactly
where f's frame is open or reaches p; a stack without a frame is open or not as its nearest frame tells.

Both only fall as long as steps are legal, because Clock shrinks. So a frame closes once in its life, and a request that
waits at one is looked at when that frame closes or loses what it waits for.

Cost: a step costs O(changes, and calls alive that it opens or closes), and at a stack where much is outstanding O(nodes
that it makes unreached and those next to them). How many calls are alive, at its frame or elsewhere in the tree, does
not matter, and neither does how deep it is. Memory is proportional to the frames alive. These are the stacks of what is
outstanding with all that they begin with, empty ones too: a message that is alone at a depth of a million has a million
frames around it, made when it comes and dropped when it goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from recursion.call_graph import CallGraph
from recursion.stack import Call, Stack

FEW_SEEDS = 8
Arrival = tuple[int, Stack, int]  # a node where something is outstanding, its stack, and the change of the count


class Frame:
    """One stack of a tree of calls. Sets of nodes are bit sets; a call inside stands in them as its node `call-c`."""

    __slots__ = (
        *("awaited", "counts", "inner", "is_open", "opened", "parent", "reached", "seeds", "shut", "stack"),
        "waiting",
    )

    def __init__(self, stack: Stack, parent: Frame | None) -> None:
        self.stack = stack
        self.parent = parent
        self.counts: dict[int, int] = {}  # by node: how much is outstanding at this stack
        self.inner: dict[int, Frame] | None = None  # by `call-c`
        self.opened = 0  # the calls inside whose frames are open
        self.shut = 0  # and those whose frames are not
        self.seeds = 0  # the nodes with counts, and the returns of the calls in which something is outstanding
        self.reached = 0
        self.is_open = False
        self.waiting: dict[int, list[int]] | None = None  # by node: who waits until it is not reached
        self.awaited = 0  # the nodes that somebody waits for


class Frames:
    """The frames of one tree of calls."""

    def __init__(self, graph: CallGraph) -> None:
        self._reach = graph.reach
        self._reached_from = graph.reached_from
        self._following = graph.following
        self._returning = {call.returns: call.call for call in graph.calls}
        self._empty = graph.stacks.empty
        self.root = Frame(self._empty, None)
        self._frames: dict[Stack, Frame] = {self._empty: self.root}
        self.moved = 0  # the nodes that some stack came to reach, or not to; the `out` of calls that began or ended
        self.looked_at = 0  # frames put right or opened or closed, nodes looked at in doing so: what updates cost

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
        """Whether something outstanding may still arrive at the node at this stack.

        Cost: O(1) where the stack has a frame, else O(log depth).
        """
        frame = self._frames.get(stack)
        if frame is not None:
            return frame.is_open or bool(frame.reached >> node & 1)
        return self._opens(stack)

    def _opens(self, stack: Stack) -> bool:
        """Whether the frame of a stack that has none would be open: as its nearest frame tells."""
        frames = self._frames
        while stack.parent not in frames:  # what a frame's stack begins with has frames, too
            stack = stack.parent if stack.jump in frames else stack.jump
        call = stack.call
        assert call is not None
        frame = frames[stack.parent]
        return frame.is_open or bool(frame.reached >> call.call & 1)

    def levels(self) -> Iterator[tuple[Stack, int, list[Call]]]:
        """The stacks that are not open where something is reached, what is, and the calls that may return to them."""
        for frame in self._frames.values():
            if frame.reached and not frame.is_open:
                inner = frame.inner.values() if frame.inner else ()
                yield frame.stack, frame.reached, [each.stack.call for each in inner if each.seeds and each.stack.call]

    # --- changes -----------------------------------------------------------------------------------------------------

    def update(self, changes: Iterable[Arrival]) -> list[int]:
        """Change what is outstanding, all together; the waiters that this releases, each once."""
        frames = self._frames
        touched: dict[Frame, int] = {}  # the seeds that frames are going to have
        for node, stack, change in changes:
            frame = frames.get(stack)
            if frame is None:
                frame = self._frame(stack)
            counts = frame.counts
            count = counts.get(node, 0) + change
            if count:
                counts[node] = count
                if count == change:
                    touched[frame] = touched.get(frame, frame.seeds) | 1 << node
            else:
                del counts[node]
                seeds = touched.get(frame, frame.seeds)
                touched[frame] = seeds if self._may_return(frame, node) else seeds & ~(1 << node)
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
            was_alive, seeds = bool(frame.seeds), touched[frame]
            self._settle(frame, seeds, released)
            parent, call = frame.parent, frame.stack.call
            if was_alive == bool(seeds) or parent is None:
                continue
            assert call is not None
            self.moved |= 1 << call.enters.exit
            if parent not in touched:
                around.append(parent)
            outside = touched.get(parent, parent.seeds)
            if seeds:
                touched[parent] = outside | 1 << call.returns
            else:
                touched[parent] = outside if call.returns in parent.counts else outside & ~(1 << call.returns)
        return released

    def _may_return(self, frame: Frame, node: int) -> bool:
        """Whether the node is the return of a call in which something is outstanding."""
        call = self._returning.get(node)
        inner = frame.inner.get(call) if frame.inner and call is not None else None
        return inner is not None and bool(inner.seeds)

    def wait(self, node: int, stack: Stack, waiter: int) -> bool:
        """Wait as long as something may arrive at the node at this stack; False where nothing can."""
        if not self.covers(node, stack):
            return False
        frame = self._frames.get(stack) or self._frame(stack)
        if frame.waiting is None:
            frame.waiting = {}
        frame.waiting.setdefault(node, []).append(waiter)
        frame.awaited |= 1 << node
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
            assert stack.call is not None
            call = stack.call.call
            outer, frame = frame, Frame(stack, frame)
            frame.is_open = outer.is_open or bool(outer.reached >> call & 1)
            if frame.is_open:
                outer.opened |= 1 << call
            else:
                outer.shut |= 1 << call
            if outer.inner is None:
                outer.inner = {}
            outer.inner[call] = frame
            self._frames[stack] = frame
        return frame

    def _settle(self, frame: Frame, seeds: int, released: list[int]) -> None:
        """Put a frame right, those further in being so."""
        self.looked_at += 1
        before = frame.reached
        if seeds != frame.seeds:
            frame.reached = self._reached(frame, seeds)
            frame.seeds = seeds
        if frame.reached != before:
            if not frame.is_open:
                self.moved |= frame.reached ^ before
            self._look_again(frame, released)
        elif not seeds:
            self._forget(frame)

    def _reached(self, frame: Frame, seeds: int) -> int:
        """What a frame reaches with other seeds: what few seeds reach, together; else what changes is found.

        What new seeds reach is added. What none reaches any more is reached from an old seed over nodes of which that
        is true as well, so the search for it ends at other nodes. Cost: O(1) with few seeds, else O(seeds that change,
        nodes that are lost and those that edges lead to from them).
        """
        if seeds.bit_count() <= FEW_SEEDS:
            reached = 0
            while seeds:
                node = seeds.bit_length() - 1
                seeds ^= 1 << node
                reached |= self._reach[node]
                self.looked_at += 1
            return reached
        reached, reached_from = frame.reached, self._reached_from
        doubtful: list[int] = []
        changed = seen = frame.seeds ^ seeds
        while changed:
            node = changed.bit_length() - 1
            changed ^= 1 << node
            if seeds >> node & 1:
                reached |= self._reach[node]
                self.looked_at += 1
            else:
                doubtful.append(node)
        for node in doubtful:
            if reached_from[node] & seeds:
                continue
            reached &= ~(1 << node)
            for after in self._following[node]:
                if not seen >> after & 1:
                    seen |= 1 << after
                    doubtful.append(after)
        self.looked_at += len(doubtful)
        return reached

    def _forget(self, frame: Frame) -> None:
        """Drop a frame at which nothing is outstanding and nobody waits, and those around it of which that is true."""
        while not (frame.counts or frame.inner or frame.waiting or frame.parent is None):
            if self._frames.get(frame.stack) is not frame:
                return
            del self._frames[frame.stack]
            assert frame.stack.call is not None
            call, frame = frame.stack.call.call, frame.parent
            assert frame.inner is not None
            del frame.inner[call]
            frame.opened &= ~(1 << call)
            frame.shut &= ~(1 << call)

    def _look_again(self, frame: Frame, released: list[int]) -> None:
        """Open or close the frames inside, as far as that changes anything, and release who waits no longer."""
        changed = [frame]
        while changed:
            frame = changed.pop()
            if frame.waiting and not frame.is_open:
                for node in _members(frame.awaited & ~frame.reached):
                    released += frame.waiting.pop(node)
                frame.awaited &= frame.reached
            closing = 0 if frame.is_open else frame.opened & ~frame.reached
            opening = frame.shut if frame.is_open else frame.shut & frame.reached
            if closing or opening:
                assert frame.inner is not None
                frame.opened ^= closing | opening
                frame.shut ^= closing | opening
                for call in _members(closing | opening):
                    inner = frame.inner[call]
                    inner.is_open = not inner.is_open
                    self.looked_at += 1
                    changed.append(inner)
            self._forget(frame)


def _members(bits: int) -> Iterator[int]:
    """The numbers in a bit set. Cost: O(numbers in it), each O(largest / word)."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _depth(frame: Frame) -> int:
    return frame.stack.depth
