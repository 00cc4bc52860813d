"""Graphs that call themselves."""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

from tests.project.mutants.mutant import within

RECURSION_SUITE = (
    "tests/recursion/test_stack_order.py",
    "tests/recursion/test_relation.py",
    "tests/recursion/test_sessions.py",
    "tests/recursion/test_call_closure.py",
    "tests/recursion/test_stacks.py",
    "tests/recursion/test_requirements.py",
    "tests/recursion/test_propositions.py",
    "tests/recursion/test_recursive_programs.py",
    "tests/recursion/test_frames.py",
    "tests/recursion/test_costs.py",
    "tests/recursion/test_walks.py",
)

MUTANTS = within(
    "recursion",
    RECURSION_SUITE,
    (
        "the paper's own rule, without calls that follow themselves",
        "relation.py",
        "        if common.following:\n            return True\n",
        "",
    ),
    (
        "a start is left from the call instead of the return",
        "relation.py",
        "first = start if leaves is None else leaves.returns",
        "first = start if leaves is None else leaves.call",
    ),
    (
        "an end is entered after the call",
        "relation.py",
        "last = end if enters is None else enters.call",
        "last = end if enters is None else enters.returns",
    ),
    (
        "a back edge is left at any stack",
        "relation.py",
        "return (source, stack.parent) if stack.call is pushed else None",
        "return (source, stack.parent)",
    ),
    (
        "a jump too far",
        "stack.py",
        "stack = stack.jump if stack.jump.depth >= depth else stack.parent",
        "stack = stack.jump if stack.jump.depth > depth - 2 and stack.jump.depth else stack.parent",
    ),
    (
        "jumps one call long",
        "stack.py",
        "self.jump = jump.jump if depth - 1 - jump.depth == jump.depth - jump.jump.depth and depth > 1 else parent",
        "self.jump = parent",
    ),
    (
        "the first difference past the same jump",
        "stack.py",
        "        if one.jump is other.jump:\n            one, other = one.parent, other.parent",
        "        if one.jump is other.jump and one.jump.depth:\n            one, other = one.jump, other.jump",
    ),
    (
        "the depth of the last call that follows itself",
        "stack.py",
        "if not self.following and call is not None and call.follows_itself:",
        "if call is not None and call.follows_itself:",
    ),
    (
        "a canonical stack outside of its class",
        "order.py",
        "if candidate is stack or self.equivalent(candidate, stack):",
        "if candidate is stack or self.less_equal(candidate, stack):",
    ),
    (
        "canonical stacks of the first call alone",
        "order.py",
        "cycle = [other for other in self.graph.calls if component[other.call] == component[call.call]]",
        "cycle = [call]",
    ),
    (
        "sort keys that end before they begin",
        "order.py",
        "return -2 * self.graph.component[call.call], call.number + 1",
        "return 2 * self.graph.component[call.call], call.number + 1",
    ),
    (
        "cones that are not looked into",
        "earliest.py",
        "            pending += [push(stack, call) for call in calls]\n",
        "",
    ),
    (
        "a frame that stays open",
        "frames.py",
        "closing = 0 if frame.is_open else frame.opened & ~frame.reached",
        "closing = 0",
    ),
    (
        "a frame that opens by itself",
        "frames.py",
        "frame.is_open = outer.is_open or bool(outer.reached >> call & 1)",
        "frame.is_open = bool(outer.reached >> call & 1)",
    ),
    (
        "what is outstanding further in does not count",
        "frames.py",
        "touched[parent] = outside | 1 << call.returns",
        "touched[parent] = outside",
    ),
    (
        "frames that are never dropped",
        "frames.py",
        "            del self._frames[frame.stack]\n",
        "            return\n",
    ),
    (
        "waiters that are released while the frame is open",
        "frames.py",
        "            if frame.waiting and not frame.is_open:",
        "            if frame.waiting:",
    ),
    (
        "the parent is not told",
        "frames.py",
        "if was_alive == bool(seeds) or parent is None:",
        "if was_alive or parent is None:",
    ),
    (
        "the parent is always told",
        "frames.py",
        "if was_alive == bool(seeds) or parent is None:",
        "if parent is None:",
    ),
    (
        "a message at the return of a call goes with the call",
        "frames.py",
        "touched[parent] = outside if call.returns in parent.counts else outside & ~(1 << call.returns)",
        "touched[parent] = outside & ~(1 << call.returns)",
    ),
    (
        "a call goes with the last message at its return",
        "frames.py",
        "touched[frame] = seeds if self._may_return(frame, node) else seeds & ~(1 << node)",
        "touched[frame] = seeds & ~(1 << node)",
    ),
    (
        "what another seed reaches is lost",
        "frames.py",
        "            if reached_from[node] & seeds:\n                continue\n",
        "",
    ),
    (
        "a stack with much outstanding is looked at as a whole",
        "frames.py",
        "FEW_SEEDS = 8",
        "FEW_SEEDS = 10_000",
    ),
    (
        "a walk that leaves no call that follows itself",
        "steps.py",
        "        if common.following:",
        "        if False:",
    ),
    (
        "the frame of a deep stack is looked for call by call",
        "frames.py",
        "stack = stack.parent if stack.jump in frames else stack.jump",
        "stack = stack.parent",
    ),
    (
        "earlier epochs do not count",
        "in_flight.py",
        "        if self._is_unordered:",
        "        if True:",
    ),
    (
        "later epochs count",
        "in_flight.py",
        "if other != epoch and less_equal(other, epoch))",
        "if other != epoch)",
    ),
    (
        "epochs that were passed are looked at again",
        "in_flight.py",
        "since = key(passed[node]) if node in passed else None",
        "since = None",
    ),
    (
        "epochs that are passed are not noted until all are",
        "in_flight.py",
        "            passed[node] = earlier\n            yield earlier\n",
        "            yield earlier\n",
    ),
    (
        "an epoch that holds something is passed",
        "in_flight.py",
        "            passed[node] = earlier\n            yield earlier\n",
        "            passed[node] = epoch\n            yield earlier\n",
    ),
    (
        "stacks of a later epoch are not minimal",
        "closure.py",
        "            known.update(new)\n            yield from ((epoch, stack) for stack in new)",
        "            yield from ((epoch, stack) for stack in new if not known)\n            known.update(new)",
    ),
    (
        "a request is outstanding at its own node",
        "running_on_frames.py",
        "        return [(target, after) for target, summary in self._ways[node] if summary for after in summary.apply(time)]",
        "        return [(node, time)]",
    ),
    (
        "a pending request does not let its node send",
        "running_on_frames.py",
        "            if before is not None and self._requested(ledger, ledger.node_of(edge.source), before):\n                return True\n",
        "",
    ),
    (
        "a base case with calls",
        "requirements.py",
        "        if found is not None and found.enters in paths:",
        "        if found is not None:",
    ),
    (
        "requirements that forget the way out",
        "requirements.py",
        "searches = (_unreachable, _without_way_out, _endless, _at_the_ends)",
        "searches = (_unreachable, _endless, _at_the_ends)",
    ),
    (
        "a cycle of calls goes unnoticed",
        "network.py",
        "            if len(nodes) < 2:",
        "            if len(nodes) < 3:",
    ),
    (
        "what inner calls return leaves the graph",
        "program.py",
        "if stack.call is None or after != time:",
        "if after is not None:",
    ),
    (
        "what inner calls return is a result",
        "program.py",
        "        if not has_left:",
        "        if stack.depth < 2:",
    ),
)
