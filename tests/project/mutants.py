"""`python -m tests.project.mutants [WORD ...]`: break the algorithms on purpose, one place at a time; the suite must notice.

Each mutant is one replacement in one file. It is made in a copy of the project, where the compiled kernel is built anew
when it is the kernel that is broken, and the tests that judge what is broken run there until the first failure. Exit
code 1 when a mutant survives or does not apply any more. With words, only mutants that have one of them in name or file.
"""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
COPIED = (
    *("pointstamp", "progress", "graphs", "recursion", "benchmarks", "examples", "tests", "scripts", "docs"),
    *("pyproject.toml", "setup.py", "README.md", "LICENSE"),
)
PATIENCE = 5  # times what a suite takes where nothing is broken
STARTING = 10.0  # seconds that are little however short a suite is
LEFT_OUT = ("__pycache__", "*.so", "target", ".peers")
KERNEL = "progress/kernel"
SUITE = (
    "tests/questions/test_coordinate.py",
    "tests/questions/test_component.py",
    "tests/questions/test_known_cases.py",
    "tests/files/test_composition.py",
    "tests/questions/test_propositions.py",
    "tests/reference/test_against_reference.py",
)
ENGINE_SUITE = (
    "tests/project/few_sessions.py",
    "tests/tracking/test_engines.py",
    "tests/tracking/test_vertex_state.py",
    "tests/tracking/test_hierarchy.py",
    "tests/tracking/test_tracker.py",
    "tests/commands/test_track.py",
)

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

SEMANTICS_SUITE = (
    "tests/semantics/test_states.py",
    "tests/semantics/test_guarantee.py",
    "tests/semantics/test_propositions.py",
    "tests/semantics/test_clocks.py",
    "tests/semantics/test_calls.py",
    "tests/semantics/test_buffers.py",
    "tests/semantics/test_counts.py",
    "tests/semantics/test_explorer.py",
    "tests/semantics/test_composition.py",
    "tests/semantics/test_judge.py",
    "tests/semantics/test_interchange.py",
)
NODE_SUITE = (
    "tests/questions/test_behaviour.py",
    "tests/questions/test_escape.py",
    "tests/questions/test_local_history.py",
)


class Mutant(NamedTuple):
    """What is broken, where, how, and the tests that have to notice.

    The twin of the kernel is judged where the kernel is off: half of the sessions and a part of the other tests.
    """

    name: str
    file: str
    old: str
    new: str
    suite: tuple[str, ...] = SUITE


ALGORITHMS = (
    Mutant("no hull below the least time", "progress/normal_form/hull.py", "leaf.low if amount < 0 else None", "None"),
    Mutant("no carry in bounded lex", "progress/normal_form/hull.py", "range(index - 1, -1, -1)", "range(0)"),
    Mutant(
        "a map speaks only for its own times",
        "progress/normal_form/hull.py",
        "(Limit(structure, None, number),)",
        "(Limit(structure, number, number),)",
    ),
    Mutant(
        "one of several least upper bounds",
        "progress/normal_form/hull.py",
        "leaf.order.minimal_upper_bounds(name, names[number])",
        "leaf.order.minimal_upper_bounds(name, names[number])[:1]",
    ),
    Mutant(
        "feedback moves the first coordinate",
        "progress/normal_form/declared.py",
        "(*map(_no_amount, domain.parts[:-1]), self._amount(domain.parts[-1]))",
        "(self._amount(domain.parts[0]), *map(_no_amount, domain.parts[1:]))",
    ),
    Mutant(
        "product compared as lex",
        "progress/order.py",
        "return all(part.less_equal(one, other) for part, one, other in zip(self.parts, earlier, later, strict=True))",
        "return self.sort_key(earlier) <= self.sort_key(later)",
    ),
    Mutant(
        "frontiers not minimal",
        "progress/antichain.py",
        "if kept.insert(time, is_last=True):",
        "if kept.insert(time, is_last=True) or time:",
    ),
    Mutant(
        "a comparison of many coordinates counts as one of two",
        "progress/order.py",
        "return 12 + _coordinates(domain)",
        "return 14",
        ("tests/questions/test_effort.py",),
    ),
    Mutant(
        "the frontier of a tracker has no budget",
        "progress/tracking/running_on_summaries.py",
        "minimal_elements(place.domain, times, effort_of_frontier(known))",
        "minimal_elements(place.domain, times)",
        ("tests/questions/test_effort.py",),
    ),
    Mutant(
        "what mends a cycle is looked for without a budget",
        "graphs/checking/mending.py",
        "budget = Budget(FEW_COMPOSITIONS)",
        "budget = Budget(10**9)",
        ("tests/questions/test_effort.py",),
    ),
    Mutant(
        "a floor is forgotten in composition",
        "progress/normal_form/coordinate.py",
        "if first.floor is not None:\n        lifted",
        "if False:\n        lifted",
    ),
    Mutant(
        "roundings merged that do not divide",
        "progress/normal_form/coordinate.py",
        "while len(kept) > 1 and step % kept[-2] == 0:",
        "while len(kept) > 1:",
    ),
    Mutant(
        "bounds of the second step ignored",
        "progress/normal_form/pieces.py",
        "limits.append(Limit(place, None, greatest_at_most(word, high)))",
        "pass",
    ),
    Mutant(
        "tags ignored in composition",
        "progress/normal_form/pieces.py",
        "if first.target_case != second.source_case:",
        "if len(first.target_case) != len(second.source_case):",
    ),
    Mutant(
        "domination without looking at the boxes",
        "progress/normal_form/pieces.py",
        "for place, low, high in one.box:\n        other_low",
        "for place, low, high in ():\n        other_low",
    ),
    Mutant(
        "incomparable taken for equal",
        "progress/normal_form/pieces.py",
        'return other if one == "=" else "|"',
        'return other if one == "=" else "="',
    ),
    Mutant(
        "only the last of parallel edges",
        "progress/topology.py",
        "if source != NO_NODE:\n                lists[source].append(edge)",
        "if source != NO_NODE:\n                target = self.targets[edge]\n                lists[source] = [other for other in lists[source] if self.targets[other] != target or target < 0] + [edge]",
    ),
    Mutant(
        "iterated instead of distinct locations",
        "progress/could_result_in.py",
        "self._distinct(found, visited)):",
        "True):",
    ),
    Mutant(
        "simple paths may come back", "progress/could_result_in.py", "visited.add(target)\n            found", "found"
    ),
    Mutant(
        "one minimal time a location",
        "progress/antichain.py",
        "self._times = [other for other in self._times if not less_equal(time, other)]",
        "self._times = []",
    ),
    Mutant(
        "stairs keep what lies above",
        "progress/antichain.py",
        "while end < len(stairs) and stairs[end][1] >= time[1]:",
        "while False:",
    ),
    Mutant(
        "falls are not run to their end",
        "progress/closure.py",
        "return None if lowest == numbers else",
        "return None if lowest is not None else",
    ),
    Mutant(
        "messages are not on their own edge",
        "progress/closure.py",
        "closure.given_on_edge.setdefault(edge, []).append(time)",
        "pass",
    ),
    Mutant(
        "inputs do not block",
        "progress/notification.py",
        "for edge in network.incoming[node]:",
        "for edge in (each for each in network.incoming[node] if network.sources[each] >= 0):",
    ),
    Mutant(
        "beside is not an offence",
        "progress/cycles/judging.py",
        'BELOW_OR_BESIDE = frozenset("<|")',
        'BELOW_OR_BESIDE = frozenset("<")',
    ),
    Mutant(
        "standing still is advancing",
        "progress/cycles/judging.py",
        'BELOW_OR_AT = frozenset("<=")',
        'BELOW_OR_AT = frozenset("<")',
    ),
    Mutant(
        "a walk that comes back counts as simple",
        "progress/cycles/judging.py",
        "if is_simple(network, found.walk):\n        return found",
        "if True:\n        return found",
    ),
    Mutant(
        "a constant is taken to keep its coordinate",
        "progress/cycles/drift.py",
        "RESET if high is None or move.floor is None else",
        "0 if high is None or move.floor is None else",
    ),
    Mutant(
        "small negative weights pass for none",
        "progress/cycles/potential.py",
        "if all(weight >= 0 for weight in weights):",
        "if all(weight >= -1 for weight in weights):",
    ),
    Mutant(
        "zero edges across components are kept", "progress/component.py", "if group == component[tail]:", "if True:"
    ),
    Mutant(
        "nodes that never ask are judged",
        "progress/conditions.py",
        "if not network.notifies[node]:\n            continue",
        "if False:\n            continue",
    ),
    Mutant(
        "the past is looked for downwards",
        "progress/conditions.py",
        "if not domain.less_equal(time, result))",
        "if True)",
    ),
)

ENGINE = (
    # what vertices there are
    Mutant(
        "a pending request blocks its own node",
        "progress/engines/arcs.py",
        "return [(target, after) for target, summary in self.ways_of_request(node) for after in summary.limits(time)]",
        "return [(node, time), *((target, after) for target, summary in self.ways_of_request(node) for after in summary.limits(time))]",
    ),
    Mutant(
        "nodes that lead to the same places by different summaries share an exit",
        "progress/engines/arcs.py",
        "leading = frozenset((targets[edge], id(summaries[edge])) for edge in ways)",
        "leading = frozenset((targets[edge], 0) for edge in ways)",
    ),
    Mutant(
        "components that may hold back themselves are taken to advance",
        "progress/engines/arcs.py",
        "if not doubted:\n            return set()",
        "if True:\n            return set()",
    ),
    Mutant(
        "the exits of components that may hold back themselves are taken to advance",
        "progress/engines/arcs.py",
        "return nodes | {self._exits[node] for node in nodes if node in self._exits}",
        "return nodes",
    ),
    # eager propagation
    Mutant(
        "a component is entered late, with the next change in it",
        "progress/engines/eager.py",
        "if not self._queued[rank]:",
        "if not self._queued[rank] and len(self._members[rank]) == 1:",
    ),
    Mutant(
        "support is looked for at one predecessor only",
        "progress/engines/eager.py",
        "for _, entering in self._entering[vertex]:\n            self._effort.spend(entering.cost)",
        "for _, entering in self._entering[vertex][:1]:\n            self._effort.spend(entering.cost)",
    ),
    Mutant(
        "own times that a lost one covered are forgotten",
        "progress/engines/eager.py",
        "won += place.refill(lost)",
        "pass",
    ),
    Mutant(
        "own times that a lost one covered are forgotten within components",
        "progress/engines/eager.py",
        "come(vertex, place.refill(gone))",
        "pass",
    ),
    Mutant(
        "what a predecessor brings in place of a lost time is forgotten within components",
        "progress/engines/eager.py",
        "come(vertex, [time for time in entering.images(gone) if place.insert(time)])",
        "pass",
    ),
    Mutant(
        "support runs down one arc of a component and no further",
        "progress/engines/eager.py",
        "if places[target].holds(after):",
        "if places[target].holds(after) and turn < 2:",
    ),
    Mutant(
        "a component closed anew keeps its old frontier",
        "progress/engines/eager.py",
        "for time in gone:\n                place.discard(time)",
        "for time in ():\n                place.discard(time)",
    ),
    Mutant(
        "waiters at a component closed anew are not examined",
        "progress/engines/eager.py",
        "new = [time for time in times if place.insert(time)]\n            if gone or new:",
        "new = [time for time in times if place.insert(time)]\n            place.waiting = 0\n            if gone or new:",
    ),
    Mutant(
        "a component is closed anew without what comes from outside",
        "progress/engines/eager.py",
        "if self._rank[source] != rank:",
        "if False:",
    ),
    Mutant(
        "where nothing follows, waiters are not examined",
        "progress/engines/eager.py",
        "if self._leaving[vertex] or place.waiting or vertex in self._watched:",
        "if self._leaving[vertex] or vertex in self._watched:",
    ),
    # places
    Mutant(
        "a waiter is released at the very time for which it waits",
        "progress/engines/vertex_state.py",
        "while waiters and waiters[0][0] < bound:",
        "while waiters and waiters[0][0] <= bound:",
    ),
    Mutant(
        "waiters are examined for the first lost time only",
        "progress/engines/vertex_state.py",
        "for time in lost:\n            if time in self._frontier:",
        "for time in lost[:1]:\n            if time in self._frontier:",
    ),
    Mutant(
        "waiters are not handed on when a lower time comes",
        "progress/engines/vertex_state.py",
        "if other in self._waiters:",
        "if False:",
    ),
    Mutant(
        "only the first region that a lost stair uncovers is looked at",
        "progress/engines/vertex_state.py",
        "start, below = stairs[place]\n            place += 1",
        "return",
    ),
    Mutant(
        "a pair below all others of its chunk is not noticed",
        "progress/engines/pairs.py",
        "if entry[1] < self._lowest[place]:\n            self._lowest[place] = entry[1]",
        "pass",
    ),
    Mutant(
        "a half of a full chunk of pairs keeps the wrong lowest",
        "progress/engines/pairs.py",
        "[_lowest(chunk[:half]), _lowest(chunk[half:])]",
        "[_lowest(chunk[:half]), _lowest(chunk[:half])]",
    ),
    Mutant(
        "the odd one of the trees under a root that goes is lost",
        "progress/engines/forest.py",
        "return kept + trees[len(trees) - len(trees) % 2 :]",
        "return kept + trees[len(trees) :]",
    ),
    Mutant(
        "what hangs under a time in the middle goes with it",
        "progress/engines/forest.py",
        "hanging.update(children)",
        "pass",
    ),
    # the hierarchy
    Mutant(
        "a released waiter is examined too rarely: not at the next latest time of its hub",
        "progress/engines/hierarchical.py",
        "if not self._goes_on(waiter, vertex, time, hub, after + 1):",
        "if not self._goes_on(waiter, vertex, time, hub + 1, 0):",
    ),
    Mutant(
        "a released waiter is examined too rarely: not at the next hub",
        "progress/engines/hierarchical.py",
        "if not self._goes_on(waiter, vertex, time, hub, after + 1):",
        "if True:",
    ),
    Mutant(
        "a vertex is watched at one hub of its label only",
        "progress/engines/hierarchical.py",
        "[vertex] if core else [way.hub for way in self._label(vertex)]:",
        "[vertex] if core else [way.hub for way in self._label(vertex)][:1]:",
    ),
    Mutant("hubs are tried in ascending rank", "progress/engines/hierarchy.py", "hubs.reverse()", "pass"),
    Mutant(
        "a shortcut from a vertex to itself is dropped though it says something",
        "progress/engines/hierarchy.py",
        "if through in wide or (source == target and through != NO_WAY and not algebra.says_nothing(through)):",
        "if through in wide:",
    ),
    Mutant(
        "of two ways down from a hub the first one counts",
        "progress/engines/hierarchy.py",
        "down[source] = algebra.join(down[source], through)",
        "pass",
    ),
    Mutant(
        "a shortcut takes the place of the way that is there",
        "progress/engines/hierarchy.py",
        "through = algebra.join(known, through)",
        "pass",
    ),
    Mutant(
        "the second of two parallel arcs takes the place of the first",
        "progress/engines/hierarchy.py",
        "number = algebra.join(ways[target], number)",
        "pass",
    ),
    # summaries run backwards
    Mutant(
        "backwards, floors are forgotten",
        "progress/normal_form/backwards.py",
        "if move.floor is not None and move.floor > bound:\n        return None",
        "",
    ),
    Mutant(
        "backwards, what is lexicographically below may be equal",
        "progress/normal_form/backwards.py",
        "wanted.append(_at_most(piece.moves[first], goal[first] - 1))",
        "wanted.append(_at_most(piece.moves[first], goal[first]))",
    ),
    Mutant(
        "an arc over pairs forgets the leftmost time that a lost one covered",
        "progress/engines/vertex_state.py",
        "start = bisect_left(stairs, (low,))",
        "start = bisect_left(stairs, (low + 1,))",
    ),
    # steps
    Mutant(
        "count leak: of many messages consumed at once the engine hears of one",
        "progress/tracking/commit.py",
        "changes.append((target, time, change))",
        "changes.append((target, time, max(change, -1)))",
    ),
    Mutant(
        "the changes of one pointstamp are not added up",
        "progress/tracking/commit.py",
        "net[key] = net[key] + change if key in net else change",
        "net[key] = change",
    ),
    Mutant(
        "a delivered request keeps its outstanding time",
        "progress/tracking/commit.py",
        "self.changes += [(vertex, after, -1) for vertex, after in self._workings.of_request(node.number, time)]",
        "pass",
    ),
    Mutant(
        "a request delivered and asked anew in one step is not asked",
        "progress/tracking/commit.py",
        "if (time not in node.requests or request in self.ended) and request not in self.asked:",
        "if time not in node.requests and request not in self.asked:",
    ),
    Mutant(
        "closing an input is ignored",
        "progress/tracking/commit.py",
        "(edge.target, time, -1) for time in edge.open if time not in after]",
        "(edge.target, time, -1) for time in edge.open if after and time not in after]",
    ),
    Mutant(
        "an input may move to incomparable times",
        "progress/tracking/commit.py",
        "if not edge.is_open_at(time):",
        "if not edge.open or any(time != old and edge.domain.less_equal(time, old) for old in edge.open):",
    ),
    Mutant(
        "what follows from the requests of the source is outside of Clock",
        "progress/tracking/running_on_summaries.py",
        "if any(less_equal(after, time) for after in summary.limits(before)):",
        "if False:",
    ),
    Mutant(
        "what lies on an edge in order is not told of a change",
        "progress/tracking/commit.py",
        "if edge.lying is not None:\n                edge.lying.count(time, change)",
        "",
    ),
    Mutant(
        "requests kept in order are not told of a delivery",
        "progress/tracking/commit.py",
        "if node.lying is not None:\n                node.lying.count(time, -1)",
        "",
    ),
    # what a tracker answers
    Mutant(
        "ready twice: what was handed out is handed out again",
        "progress/tracker.py",
        "fresh, self._fresh = self._fresh, {}",
        "fresh = self._fresh",
    ),
    Mutant(
        "ready after delivery: a request that nobody was handed is handed out when it is over",
        "progress/tracker.py",
        "self._fresh.pop(request, None)\n\n    def _leave_kernel",
        "\n    def _leave_kernel",
    ),
    Mutant(
        "ready again after a restore",
        "progress/tracker.py",
        "tracker._fresh.pop(request, None)",
        "pass",
    ),
    Mutant("ready requests are not sorted", "progress/tracker.py", "if len(found) > 1:", "if False:"),
    Mutant(
        "a new engine is not told who waits",
        "progress/tracker.py",
        "self._engine.wait(node.number, time, waiter)\n        for vertex",
        "pass\n        for vertex",
    ),
    Mutant(
        "what a hub in the kernel releases is ready though another hub blocks it",
        "progress/tracker.py",
        "self._wake(self._engine.freed(woken))",
        "self._wake(woken)",
    ),
    Mutant(
        "subscribers are told before the step is entered",
        "progress/tracker.py",
        "        commit.enter()\n",
        "        self._subscriptions.collect(self, [(name,) for name in self.network.numbers])\n        commit.enter()\n",
    ),
    Mutant(
        "the frontier of an edge is taken to stay when a request comes or goes before it",
        "progress/tracking/subscriptions.py",
        "self.places.append(self._source.name)",
        "pass",
    ),
    Mutant(
        "what leaves the source of an edge is told though a message holds it",
        "progress/tracking/subscriptions.py",
        "if move is not None and self._follows and not self._has_own():",
        "if move is not None and self._follows:",
    ),
    Mutant(
        "a snapshot has one message where there are many",
        "progress/tracking/snapshot.py",
        "[[edge, write_time(time), count] for",
        "[[edge, write_time(time), 1] for",
    ),
    # the way to the kernel
    Mutant(
        "the kernel goes on with a location that is kept in order",
        "progress/tracking/usual_steps.py",
        "self.kernel.forget(place.name)",
        "pass",
    ),
    Mutant(
        "a new kernel is not told of what is listened to",
        "progress/tracking/usual_steps.py",
        "if place.name in self._listened:",
        "if False:",
    ),
    Mutant(
        "the kernel is not told the limits of a domain",
        "progress/kernel/__init__.py",
        "return tuple((0, part.maximum) if isinstance(part, Nat) else (None, None) for part in parts)",
        "return tuple((None, None) for part in parts)",
    ),
    # the kernel
    Mutant(
        "count leak: of many messages consumed at once the kernel counts one",
        f"{KERNEL}/steps.h",
        "change_count(self, location->target, item->row, item->change);",
        "change_count(self, location->target, item->row, item->change < 0 ? -1 : item->change);",
    ),
    Mutant(
        "the usual step consumes more than there is",
        f"{KERNEL}/steps.h",
        "item->before + item->change < 0)",
        "(!item->before && item->change < 0))",
    ),
    Mutant(
        "the usual step delivers what is not ready",
        f"{KERNEL}/steps.h",
        "if (there != Py_None) return -1;",
        "if (!there) return -1;",
    ),
    Mutant(
        "the usual step takes what does not follow",
        f"{KERNEL}/steps.h",
        "usual = follows(self, items, count, &items[index]);",
        "usual = 1;",
    ),
    Mutant(
        "the usual step writes a pointstamp twice",
        f"{KERNEL}/steps.h",
        "for (const Item *other = items; other < item; other++)",
        "for (const Item *other = items; other < items; other++)",
    ),
    Mutant(
        "a request that the usual step delivers keeps its outstanding time",
        f"{KERNEL}/steps.h",
        "change_count(self, arc->target, results + result * places, item->change);",
        "if (item->change > 0) change_count(self, arc->target, results + result * places, item->change);",
    ),
    Mutant(
        "a component of total orders in the kernel is not told of what comes",
        f"{KERNEL}/propagation.h",
        "if (target->total && !target->unit) continue;",
        "if (target->total) continue;",
    ),
    Mutant(
        "where little comes, own times are forgotten",
        f"{KERNEL}/propagation.h",
        "if (own) memcpy(kept + places * count++, own->row, size);",
        "if (own && !vertex->entering_count) memcpy(kept + places * count++, own->row, size);",
    ),
    Mutant(
        "refilling ends with the first region",
        f"{KERNEL}/frontiers.h",
        "} else {\n            start = end;\n            below = vertex->frontier.data[2 * place + 1];\n        }",
        "} else {\n            return;\n        }",
    ),
    Mutant(
        "waiters are released in the first region only",
        f"{KERNEL}/waiters.h",
        "regions.start = end;",
        "return;",
    ),
    Mutant(
        "an arc in the kernel forgets the leftmost time that a lost one covered",
        f"{KERNEL}/frontiers.h",
        "from = stair_at(source, left - 1) + 1;",
        "from = stair_at(source, left) + 1;",
    ),
    Mutant(
        "what left a component and came back counts as come",
        f"{KERNEL}/propagation.h",
        "if (holds(vertex, row) && !among(&vertex->lost, row, places))",
        "if (holds(vertex, row))",
    ),
    Mutant(
        "an arc with a floor is run backwards as one without",
        f"{KERNEL}/building.h",
        "&& kind->pieces[0].floor[place] == NONE;",
        ";",
    ),
    Mutant(
        "upper bounds of boxes are forgotten",
        f"{KERNEL}/frontiers.h",
        "inside = row[place] >= piece->low[place] && row[place] <= piece->high[place];",
        "inside = row[place] >= piece->low[place];",
    ),
    Mutant(
        "in three places a time covers what it is not below",
        f"{KERNEL}/frontiers.h",
        "if (!at_or_below(row, other, places)) {",
        "if (row[0] > other[0]) {",
    ),
)

RECURSION = tuple(
    Mutant(name, f"recursion/{file}", old, new, RECURSION_SUITE)
    for name, file, old, new in (
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
)

OPERATORS_SUITE = ("tests/operators/test_operators.py", "tests/operators/test_laws.py", "tests/operators/test_costs.py")
BROKEN_OPERATORS = (
    Mutant(
        "the watermark before the batch",
        "progress/operators/batch.py",
        "[DT(event.time, completed), event] if",
        "[event, DT(event.time, completed)] if",
    ),
    Mutant(
        "an exit at minimal times",
        "progress/operators/times.py",
        "if any(less_equal(time, other) for other in kept):",
        "if any(less_equal(other, time) for other in kept):",
    ),
    Mutant(
        "the first of equals is kept",
        "progress/operators/times.py",
        "list(dict.fromkeys(reversed([*items])))[::-1]",
        "list(dict.fromkeys(items))",
    ),
    Mutant(
        "what was taken stays",
        "progress/operators/open_times.py",
        "                    going.append((time, self._items.pop(time)))",
        "                    going.append((time, self._items[time]))",
    ),
    Mutant(
        "what hangs under a time that goes is not looked at",
        "progress/operators/open_times.py",
        "                    candidates += forest.hanging(time)\n",
        "",
    ),
    Mutant(
        "the exit of the first is forgotten",
        "progress/operators/compose.py",
        "return produce(self._second, self._first.exit())",
        "return produce(self._second, ())",
    ),
    Mutant(
        "a watermark leaves though the other side is behind",
        "progress/operators/union.py",
        "            producible.append(numbered)\n        else:",
        "            producible.append(numbered)\n        elif less_equal(watermark.value, watermark.value):\n            producible.append(numbered)\n        else:",
    ),
    Mutant(
        "watermarks leave oldest first",
        "progress/operators/union.py",
        "key=lambda numbered: numbered[0], reverse=True)",
        "key=lambda numbered: numbered[0])",
    ),
    Mutant(
        "groups that can still be told apart are merged",
        "progress/operators/complete.py",
        "for low in self.frontier)\n            group",
        "for low in self.frontier[:1])\n            group",
    ),
    Mutant(
        "a late time is added to a group",
        "progress/operators/complete.py",
        "        if self.frontier is not None and not any(less_equal(low, time) for low in self.frontier):\n            self._groups = None\n",
        "",
    ),
    Mutant(
        "groups are never merged",
        "progress/operators/complete.py",
        "        if frontier != self.frontier:",
        "        if not frontier:",
    ),
    Mutant(
        "a histogram forgets the last one",
        "progress/operators/total_histogram.py",
        "found[time] = Counter(self._counts)",
        "found[time] = count(data for _, (_, data) in items)",
    ),
    Mutant(
        "the next time of a lex order has no carry",
        "progress/operators/frontier.py",
        "range(len(time) - 1, -1, -1)",
        "range(len(time) - 1, len(time) - 2, -1)",
    ),
    Mutant(
        "a join meets what is not of one time",
        "progress/operators/join.py",
        "self._meetings.setdefault(time.value, Meeting())",
        "self._meetings.setdefault(None, Meeting())",
    ),
)
OPERATORS = tuple(mutant._replace(suite=OPERATORS_SUITE) for mutant in BROKEN_OPERATORS)

STREAMS_SUITE = tuple(f"tests/streams/test_{name}.py" for name in ("operators", "building", "programs"))
BROKEN_STREAMS = (
    ("a message begins a result anew", "aggregate", "elif key in before:\n                found", "elif False:\n                found"),
    ("results of complete times are kept", "aggregate", "        del self.open[time]\n", "        pass\n"),
    ("all times so far, in no order", "so_far", "if less_equal(at, time)]", "if at <= time]"),
    ("a partial order taken for a total one", "distinct", "(FirstEver if wiring.domain.is_total else FirstByTime)", "FirstEver"),
    ("what is within goes a tick early", "so_far", "if at >= oldest]", "if at > oldest]"),
    ("what is matched leaves alone as well", "join", "if key not in rights for left in lefts", "for left in lefts"),
    ("a match of a semi join is kept", "join", "            for key in matched:\n                del lefts[key]", "            pass"),
    ("what is of this time is not the latest", "asof", "now.get(key) or latest.get(key)", "latest.get(key)"),
    ("what comes when a session ends is not part of it", "session", "bisect_right(self.times, time)", "bisect_right(self.times, time - 1)"),
    ("a session in the order of coming", "session", "insort(self.times, time)", "self.times.append(time)"),
    ("a window too many", "windows", "time + self.width, self.every", "time + self.width + 1, self.every"),
    ("early speaks twice", "early", "key not in said and key not in now", "key not in now"),
    ("corrections of what is confirmed", "early", "if not self.test(results[key])]", "if results[key] != said]"),
    ("states are lost between times", "in_order", "self.states.update(states)", "pass"),
    ("a step that others read, too, is run in the next one", "building", "count[origin] == 1 and origin", "origin"),
    ("an output in the middle of a node", "building", "== 1 and origin not in self.leaving:", "== 1:"),
    ("a time that is given up stays", "aggregate", "return self.open.pop(time, None)", "return self.open.get(time)"),
    ("a session forgets where it began", "session", "if key not in firsts:", "if True:"),
    ("a session that ends before the next look waits for it", "session", "if not self.asked or self.asked[-1] > end:", "if not self.asked:"),
    ("what one failure ends goes on", "awaiting", "task.cancel()", "pass"),
    ("times that are not minimal are kept", "distinct", "for key in new:\n            seen", "for key in found:\n            seen"),
    ("keep is given another and the one that was kept", "distinct", "keep(known, value)", "keep(value, known)"),
    ("a window that has no end", "windows", "            if domain.contains(end):\n                self", "            if True:\n                self"),
    ("the last window goes on beyond all times", "windows", "self.width - 1, self.latest)", "self.width - 1, 10**9)"),
    ("what was said of a time that is given up stays", "early", "        self.said.pop(time, None)\n", ""),
)  # fmt: skip
STREAMS = tuple(
    Mutant(what, f"graphs/streams/{file}.py", right, wrong, STREAMS_SUITE)
    for what, file, right, wrong in BROKEN_STREAMS
)

LOOPS_SUITE = ("tests/streams/test_loops.py", "tests/streams/test_collections_kept.py")
BROKEN_LOOPS = (
    ("a join asks for rounds when nothing more comes", "loops/join", "self.whole[first] = None", "pass"),
    ("what is new meets each time that is past alone", "collections/history", "            for each in list(found):\n                found[", "            for each in [time]:\n                found["),
    ("what is new meets each other time alone", "collections/history", "            for each in list(found):\n                bounds", "            for each in [time]:\n                bounds"),
    ("a round fewer than there may be", "collections/nodes", "time[-1] + 1 >= self.most", "time[-1] + 2 >= self.most"),
    ("own code leads into a loop without a door", "building", "(is_own or leaves)", "leaves"),
)  # fmt: skip
LOOPS = tuple(
    Mutant(what, f"graphs/streams/{file}.py", right, wrong, LOOPS_SUITE) for what, file, right, wrong in BROKEN_LOOPS
)

BROKEN_ADAPTERS = (
    ("a source without a way where ways are unknown", "joins", "for name in joins if not rounds.agents.is_open else ():", "for name in joins:"),
    ("a join that may be left out never fires", "joins", "(hanging is not None and left.sends.id in hanging)", "hanging == 0"),
    ("one of several decisions is all of them", "joins", "any(count == of for", "any(count >= 1 for"),
    ("to wait for what is taken is a fault", "meetings", "name in found or name in related[loop.head]", "name in found"),
    ("ways that exclude each other meet", "meetings", "return joins <= rounds.live(dropped)", "return True"),
    ("one way out of many is no way out", "endings", "len(inward) == len(exit.targets)", "True"),
    ("a failure has sent", "sending", "(tried and all(every))", "tried"),
    ("what is unknown within is not said", "agent_findings", "unknown += (", "_ = ("),
)  # fmt: skip
ADAPTERS = tuple(
    Mutant(what, f"graphs/adapters/{file}.py", right, wrong, ("tests/adapters/test_agent_graphs.py",))
    for what, file, right, wrong in BROKEN_ADAPTERS
)

CLAIMS = ("tests/recovery/test_claims.py",)  # what is broken is found by what it breaks, not by counting
EXPLAINABILITY = ("tests/recovery/test_explainability.py",)
TRACES = ("tests/recovery/test_traces.py",)
FAIRNESS = ("tests/semantics/test_fairness.py",)
SNAPSHOTS = "progress/recovery/snapshots.py"

RECOVERY = (
    Mutant(
        "offsets are not reset",
        SNAPSHOTS,
        "    numbers = tuple(tuple(length[stream] for stream in used) for used in c.program.used)",
        "    numbers = c.numbers",
        CLAIMS,
    ),
    Mutant(
        "the greatest common epoch as a maximum",
        SNAPSHOTS,
        "return min(len(state.archive) - 1 for state in c.states)",
        "return max(len(state.archive) - 1 for state in c.states)",
        CLAIMS,
    ),
    Mutant(
        "borders are not aligned",
        "progress/recovery/rules.py",
        "(*(consumption(stream, epoch, BORDER) for stream in inputs), ",
        "(*(consumption(stream, epoch, BORDER) for stream in inputs[:1]), ",
        CLAIMS,
    ),
    Mutant(
        "the greatest common epoch is always 0",
        SNAPSHOTS,
        "return min(len(state.archive) - 1 for state in c.states)",
        "return 0",
        CLAIMS,
    ),
    Mutant(
        "recovery to a torn snapshot",
        SNAPSHOTS,
        "Normal(greatest + 1, state.archive[greatest])",
        "Normal(len(state.archive), state.archive[-1])",
        CLAIMS,
    ),
    Mutant(
        "output is released before its epoch is common",
        SNAPSHOTS,
        "if message.epoch <= epoch)",
        "if message.epoch <= epoch + 1)",
        CLAIMS,
    ),
    Mutant(
        "what was put on streams after the snapshot stays",
        SNAPSHOTS,
        "messages = tuple(first | (stream & kept) for",
        "messages = tuple(first | stream for",
        CLAIMS,
    ),
    Mutant(
        "snapshots after the common one stay",
        SNAPSHOTS,
        "TaskState(state.archive[: greatest + 1],",
        "TaskState(state.archive,",
        CLAIMS,
    ),
    Mutant(
        "the specification begins anew with each observation",
        "progress/recovery/explainability.py",
        "reached = set(self.members[beside])",
        "reached = set(range(len(self.there)))",
        EXPLAINABILITY,
    ),
    Mutant(
        "one execution of the specification stands for all",
        "progress/recovery/explainability.py",
        "found = {seen: self._set(frozenset(states)) for seen, states in by_observation.items()}",
        "found = {seen: self._set(frozenset(states[:1])) for seen, states in by_observation.items()}",
        EXPLAINABILITY,
    ),
    Mutant(
        "what is observed may come back",
        "progress/recovery/observability.py",
        "if below is None and together[one] != together[other]:",
        "if below is None:",
        EXPLAINABILITY,
    ),
    Mutant(
        "explanations that do not meet are joined",
        "progress/recovery/explainability.py",
        "if further.implementation is not self.specification or",
        "if",
        EXPLAINABILITY,
    ),
    Mutant(
        "a mapping may go back",
        "progress/recovery/explanations.py",
        "        place = at\n",
        "        place = 0\n",
        EXPLAINABILITY,
    ),
    Mutant(
        "who produced a message does not come first",
        "progress/recovery/causality.py",
        "direct += [producer[message] for message in consumed if message in producer]",
        "direct += []",
        TRACES,
    ),
    Mutant(
        "the causal order is not transitive",
        "progress/recovery/causality.py",
        "found |= before[one] | 1 << one",
        "found |= 1 << one",
        TRACES,
    ),
    Mutant(
        "steps of an epoch that is not common are kept",
        "progress/recovery/construction.py",
        "if _epoch(steps[place]) <= common)",
        "if _epoch(steps[place]) <= common + 1)",
        TRACES,
    ),
    Mutant(
        "every border commits",
        "progress/recovery/construction.py",
        "commits = trace.steps[place].rule is Rule.BORDER and gce(execution[place]) != gce(execution[place + 1])",
        "commits = trace.steps[place].rule is Rule.BORDER and place in behind",
        TRACES,
    ),
    Mutant(
        "a step is applied whatever its numbers",
        "progress/recovery/traces.py",
        "if possible == step), None)",
        "if possible.rule == step.rule), None)",
        TRACES,
    ),
    Mutant(
        "what has to happen may stop",
        "progress/semantics/fairness.py",
        "            if self._may_stay(group):",
        "            if len(group) > 1 and self._may_stay(group):",
        FAIRNESS,
    ),
    Mutant(
        "what is possible now and then has to happen",
        "progress/semantics/fairness.py",
        "return set.intersection(*possible) <= done",
        "return set.union(*possible) <= done",
        FAIRNESS,
    ),
    Mutant(
        "failures have to happen",
        "progress/semantics/fairness.py",
        "if (with_rare or rare is None or not rare(action)) and",
        "if (with_rare or rare is None or rare) and",
        FAIRNESS,
    ),
)


# of what explores nodes and systems; some are for one file of tests alone, which has to notice by itself
SEMANTICS = (
    *(
        Mutant(name, f"progress/semantics/{file}", old, new, SEMANTICS_SUITE)
        for name, file, old, new in (
            (
                "a request stays pending after its delivery",
                "actions.py",
                "requests[node] = still_pending(requests[node], event, reaction.requested)",
                "requests[node] = requests[node] | reaction.requested",
            ),
            (
                "a node's state is not changed by a notification",
                "actions.py",
                "local[node] = reaction.local",
                "local[node] = reaction.local if isinstance(event, Received) else local[node]",
            ),
            (
                "what is sent goes to the head of the queue",
                "actions.py",
                "        queues[edge] += queue\n",
                "        queues[edge] = queue + queues[edge]\n",
            ),
            (
                "a message is read and not taken",
                "actions.py",
                "{edge: without(queue, place)}",
                "{}",
            ),
            (
                "one incoming edge alone holds up a notification",
                "actions.py",
                "for edge in network.incoming[node]):\n                event = Notification(time)",
                "for edge in network.incoming[node][:1]):\n                event = Notification(time)",
            ),
            (
                "reordering takes what has an earlier one ahead",
                "queues.py",
                "if not any(below(ahead.time, message.time) for ahead in queue[:place])",
                "if not any(ahead.time == message.time for ahead in queue[:place])",
            ),
            (
                "comparable neighbours are one pomset",
                "queues.py",
                "below(ahead.time, message.time) or below(message.time, ahead.time)",
                "below(ahead.time, message.time)",
            ),
            (
                "the outside puts messages at the end alone",
                "queues.py",
                "    for place in range(len(queue) + 1):\n",
                "    for place in range(len(queue), len(queue) + 1):\n",
            ),
            (
                "inputs look the same from outside in any order",
                "specification.py",
                "edge not in self.system.inputs and edge not in self.system.outputs",
                "edge not in self.system.outputs",
            ),
            (
                "what is announced is not in Clock",
                "specification.py",
                "for queues in (state.queues, state.coming) if announced else (state.queues,):",
                "for queues in (state.queues,):",
            ),
            (
                "constrained inputs are free",
                "specification.py",
                "is not Inputs.CONSTRAINED or is_within(self.clock(after), self.clock(state)):",
                "is not Inputs.CONSTRAINED or after:",
            ),
            (
                "buffers forget that stacks decide",
                "buffers.py",
                "edge_domains, summaries, relation)",
                "edge_domains, summaries)",
            ),
            (
                "a buffer lets a message go before the others",
                "asynchronous.py",
                "after = here.state.with_queues({edge: (*here.state.queues[edge], queue[place])})",
                "after = here.state.with_queues({edge: (queue[place], *here.state.queues[edge])})",
            ),
            (
                "what lies before a buffer is not at the buffer",
                "buffered_relation.py",
                "for behind in relation.places[edge][rank:]:",
                "for behind in relation.places[edge][rank : rank + 1]:",
            ),
            (
                "what lies at a buffer goes nowhere",
                "buffered_relation.py",
                "                moved.append((relation.onwards(location), time))\n",
                "                pass\n",
            ),
            (
                "a way within one edge against its direction",
                "buffered_relation.py",
                "here[0] == there[0] and here[1] <= there[1]:",
                "here[0] == there[0]:",
            ),
            (
                "stacks once, and no further",
                "clocks.py",
                "return any(self._could(start, end) for start in self.generators)",
                "return end in self.generators",
            ),
            (
                "one application of the first of several results",
                "clocks.py",
                "for result in (time,) if summary is None else summary.apply(time):",
                "for result in (time,) if summary is None else summary.apply(time)[:1]:",
            ),
            (
                "local Clocks cross the border once",
                "local_clocks.py",
                "            new = [pair for part, edge, time in crossing for pair in _pairs(part.passes(edge, time))]\n",
                "            new = []\n",
            ),
            (
                "two graphs are visible at once by what they send",
                "composition.py",
                "        return any(_is_proper(new.queues[edge], old.queues[edge]) for edge in self.system.inputs) or any(\n            _is_proper(old.queues[edge], new.queues[edge]) for edge in self.system.outputs\n        )",
                "        return any(_is_proper(new.queues[edge], old.queues[edge]) for edge in self.system.inputs)",
            ),
            (
                "two graphs are visible at once by what they take",
                "composition.py",
                "        return any(_is_proper(new.queues[edge], old.queues[edge]) for edge in self.system.inputs) or any(\n",
                "        return any(\n",
            ),
            (
                "Proposition 8 of messages alone",
                "propositions.py",
                "return not inputs_do_not_grow(specification.system, before, then) or is_within",
                "return not inputs_do_not_grow(specification.system, before, then) or isinstance(action, Not) or is_within",
            ),
            (
                "Proposition 9 of the first edge alone",
                "propositions.py",
                "return ((edge, time) for edge in edges for time in frontiers.get(edge, ()))",
                "return ((edge, time) for edge in edges[:1] for time in frontiers.get(edge, ()))",
            ),
            (
                "Theorem 2 of the first edge alone",
                "propositions.py",
                "return {(edge, message.time) for edge, q in zip(names.edges, state.queues, strict=True) for message in q}",
                "return {(edge, message.time) for edge, q in [*zip(names.edges, state.queues, strict=True)][:1] for message in q}",
            ),
            (
                "Proposition 7 of the start alone",
                "propositions.py",
                "(begins, ends) == (at_first, at_last)",
                "begins == at_first",
            ),
            (
                "g keeps what was delivered",
                "histories.py",
                "                requests.discard(event.time)\n",
                "                pass\n",
            ),
            (
                "what is late at another node counts",
                "guarantee.py",
                "return node != target or not",
                "return not",
            ),
            (
                "late is what is at the very time",
                "guarantee.py",
                "not network.edge_domains[edge].less_equal(when, time)",
                "when != time",
            ),
            (
                "a request is to be delivered that is held up",
                "guarantee.py",
                "if not any((edge, time) in clock for edge in entering[node])",
                "if True",
            ),
            (
                "a delivery of any time will do",
                "guarantee.py",
                "    return request in _notified(action)",
                "    return bool(_notified(action))",
            ),
            (
                "fairness tells apart what a node sends",
                "guarantee.py",
                "    return tuple((each.node, each.time if isinstance(each, Not) else each.edge, type(each)) for each in acts)",
                "    return (action, tuple((each.node, each.time if isinstance(each, Not) else each.edge, type(each)) for each in acts))",
            ),
            (
                "what reaches the goal is not owed",
                "fairness.py",
                "self._steps(number, with_goal=True)} for number in group]",
                "self._steps(number)} for number in group]",
            ),
            (
                "what comes later is looked for before the step",
                "states_after.py",
                "_Mark(thing, after, depth + 1, before, action)",
                "_Mark(thing, before, depth, before)",
            ),
            (
                "a state that is met again is new",
                "explorer.py",
                "number = self._numbers.setdefault(key, len(self.states))",
                "number = self._numbers.setdefault(key, len(self.states)) if len(self.states) < 9 else len(self.states)",
            ),
            (
                "behaviours end at what is hidden",
                "visible.py",
                "        return self.unseen(after for state in states for after in self.shown[state] if self.seen[after] == seen)",
                "        return frozenset(after for state in states for after in self.shown[state] if self.seen[after] == seen)",
            ),
            (
                "the judge lets a notification come early",
                "judge.py",
                "if (network.edges[edge], time) in clock:",
                "if (network.edges[edge], time) in clock and False:",
            ),
            (
                "the judge lets a node send without an event",
                "waiting.py",
                "return queues if all(done[edge] == len(sent) for edge, sent in self.sent.items()) else None",
                "return queues",
            ),
            (
                "contracts without what is inside",
                "interfaces.py",
                "        if enters and leaves:\n",
                "        if False:\n",
            ),
            (
                "contracts of one way each",
                "interfaces.py",
                "after = way if before is None else _least(before, way)",
                "after = way if before is None else before",
            ),
            (
                "a context does not see what may still leave",
                "interchange.py",
                "frozenset(frontiers.get(names[edge], ()) if edge in outputs else ()),",
                "frozenset(),",
            ),
            (
                "a context brings all that it promised",
                "interchange.py",
                "return chain(super().successors(state), self._withdrawals(state))",
                "return super().successors(state)",
            ),
            (
                "a node that is not a function is taken for one",
                "system.py",
                "if not alike(outcome, step(self.nodes[name], state, event, before, name)):",
                "if False:",
            ),
        )
    ),
    Mutant(
        "every pending notification is delivered whatever Clock says",
        "progress/semantics/actions.py",
        "if not any((state.names.edges[edge], time) in clock for edge in network.incoming[node]):",
        "if True:",
        ("tests/semantics/test_guarantee.py::test_the_guarantee_holds_of_sound_systems",),
    ),
    *(
        Mutant(name, f"progress/{file}", old, new, NODE_SUITE)
        for name, file, old, new in (
            (
                "early requests that are strictly before alone",
                "escape.py",
                "not domain.contains(result) or not domain.less_equal(time, result)",
                "not domain.contains(result) or (domain.less_equal(result, time) and result != time)",
            ),
            (
                "a summary covers what it allows later",
                "escape.py",
                "if any(summary.target.less_equal(least, result) for least in allowed):",
                "if any(summary.target.less_equal(result, least) for least in allowed):",
            ),
            (
                "one edge's escapes are those of another",
                "escape.py",
                'problem = _problem(summary, time, result) if via == edge else ""',
                "problem = _problem(summary, time, result)",
            ),
            (
                "requests from the start are not looked at",
                "escape.py",
                "            escapes.extend(_first_request(network, number, beginnings(behaviours[name], name)))\n",
                "",
            ),
            (
                "edges without samples are not named",
                "escape.py",
                "lacking = tuple(edge for edge in arriving if not given.get(edge))",
                "lacking = ()",
            ),
            (
                "a node that was not explored to the end is complete",
                "escape.py",
                "return self.extent is Extent.ALL and not self.without_samples",
                "return not self.without_samples",
            ),
            (
                "what is pending already counts as requested",
                "behaviour.py",
                "for requested in _in_order(outcome.requests - here.pending):",
                "for requested in _in_order(outcome.requests):",
            ),
            (
                "a state is continued with the first requests alone",
                "behaviour.py",
                "return is_less and over <= reached.over",
                "return True",
            ),
            (
                "late messages whatever was said",
                "behaviour.py",
                "if isinstance(event, Notification) or event.time not in here.over]",
                "if event]",
            ),
            (
                "a state where something is over shows what others do",
                "behaviour.py",
                "return is_less and over <= reached.over",
                "return is_less",
            ),
            (
                "steps are not made again",
                "behaviour.py",
                "            if not alike(outcome, again):\n",
                "            if False:\n",
            ),
            (
                "a short history for a long one",
                "behaviour.py",
                "                if here.length == depth:\n",
                "                if here.length + 1 == depth:\n",
            ),
            (
                "a notification is pending after it came",
                "local_history.py",
                "return (pending - {event.time} if isinstance(event, Notification) else pending) | requests",
                "return pending | requests",
            ),
            (
                "what is asked for again at a notification is lost",
                "local_history.py",
                "return (pending - {event.time} if isinstance(event, Notification) else pending) | requests",
                "return (pending | requests) - ({event.time} if isinstance(event, Notification) else set())",
            ),
            (
                "messages in the order of their edges' last ones",
                "local_history.py",
                "sent.setdefault(edge, []).extend(messages)",
                "sent.setdefault(edge, [])[:0] = messages",
            ),
            (
                "a state that cannot be hashed is not copied",
                "local_history.py",
                "state if is_fixed else copy.deepcopy(state), event)",
                "state, event)",
            ),
            (
                "states by identity are taken",
                "purity.py",
                "return (value,) if lives and kind.__eq__ is object.__eq__ and not is_one else None",
                "return None",
            ),
            (
                "states that were changed are taken",
                "purity.py",
                "if self.before is not self.state and not alike(self.before, self.state):",
                "if False:",
            ),
        )
    ),
    *(
        Mutant(
            name,
            "progress/universal.py",
            old,
            new,
            ("tests/questions/test_known_cases.py", "tests/semantics/test_calls.py"),
        )
        for name, old, new in (
            (
                "universal time the other way",
                "return other._pointstamp in self._closure",
                "return self._pointstamp in other._closure",
            ),
            ("universal times are equal one way", "and self <= other <= self", "and self <= other"),
            ("universal times of any graph", "            and self._closure.network is other._closure.network\n", ""),
        )
    ),
)

DELIVERY = (
    Mutant(
        "what was lost counts as part of the input",
        "progress/recovery/delivery.py",
        "output in expected and fits(other, entered)",
        "output in expected",
    ),
    Mutant(
        "a reference that does not end explains nothing",
        "progress/recovery/delivery.py",
        "return judged if judged.holds or are_all else",
        "return judged if True else",
    ),
    Mutant(
        "failures lose nothing",
        "progress/recovery/protocols.py",
        "return now._replace(live=now.saved, left=left",
        "return now._replace(live=now.live, left=left",
    ),
    Mutant(
        "the last bundle is not looked at",
        "progress/recovery/protocols.py",
        "if self.protocol.filters and now.left",
        "if False and now.left",
    ),
    Mutant(
        "the end is never seen",
        "progress/recovery/protocols.py",
        "if all_read and not ready and now.live.holds is None:",
        "if False:",
    ),
    Mutant(
        "outputs leave before what covers them",
        "progress/recovery/protocols.py",
        "return now.live.ready[0][0] <= sum(now.saved.read)",
        "return True",
    ),
    Mutant(
        "a known order is not kept",
        "progress/recovery/protocols.py",
        "if self.protocol.order is Order.RACES:",
        "if True:",
    ),
)

ROLLBACK = (
    Mutant(
        "what is computed anew may stay",
        "progress/recovery/rollback.py",
        "if edge.target == NO_NODE or self.keeps[edge.source].repeats:",
        "if True:",
    ),
    Mutant(
        "messages in flight are forgotten",
        "progress/recovery/rollback.py",
        "for message in edge.unconsumed()]",
        "for message in ()]",
    ),
    Mutant(
        "what the target loses is not asked for again",
        "progress/recovery/rollback.py",
        "            for number in network.incoming[node]:\n                self._keep_rule_d(self.edges[number])\n",
        "",
    ),
    Mutant(
        "a node that has fallen is not looked at again",
        "progress/recovery/rollback.py",
        "            self.waiting.append(node)\n",
        "            pass\n",
    ),
    Mutant(
        "kept sets in the wrong order",
        "progress/recovery/kept_sets.py",
        "for time in frontier)), (1,))",
        "for time in frontier)), (-1,))",
    ),
    Mutant(
        "sets that are apart are taken for a chain",
        "progress/recovery/kept_sets.py",
        "if all(is_subset(domain, one, other) for one, other in pairwise(found)):",
        "if True:",
    ),
    Mutant("not closed under union, and not refused", "progress/recovery/kept_sets.py", "not in known:", "in ():"),
)

MUTANTS = (
    *ALGORITHMS,
    *(mutant._replace(suite=ENGINE_SUITE) for mutant in ENGINE),
    *RECURSION,
    *OPERATORS,
    *STREAMS,
    *LOOPS,
    *ADAPTERS,
    *RECOVERY,
    *SEMANTICS,
    *(mutant._replace(suite=("tests/recovery/test_rollback.py",)) for mutant in ROLLBACK),
    *(mutant._replace(suite=("tests/recovery/test_delivery.py",)) for mutant in DELIVERY),
)


class Spent(NamedTuple):
    """What a run took, in seconds: of the processor, with all that it started, and by the clock."""

    processor: float
    clock: float


class Verdict(NamedTuple):
    """Whether a copy of the project is found to be broken, and by what; or why that cannot be said."""

    killed: bool
    reason: str
    spent: Spent | None = None


def prepare(folder: Path) -> str:
    """Copy the project, without anything that was built, and build its kernel; what went wrong, if anything."""
    for name in COPIED:
        origin = PROJECT / name
        if origin.is_dir():
            shutil.copytree(origin, folder / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(origin, folder)
    return build(folder)


def build(folder: Path) -> str:
    """Compile the kernel of a copy in place of the one that is there; what went wrong, if anything."""
    for built in (folder / "progress").glob("*.so"):
        built.unlink()
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    shutil.rmtree(folder / "build", ignore_errors=True)
    return "" if any((folder / "progress").glob("*.so")) else f"the kernel cannot be built: {run.stderr[-500:]}"


def judge(folder: Path, suite: tuple[str, ...], usual: Spent | None = None) -> Verdict:
    """Run a suite on a copy of the project; `usual` is what it takes where nothing is broken."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not soak", "-p", "no:cacheprovider", *suite]
    code, said, spent = run_within(command, folder, usual)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Verdict(True, "by not coming to an end", spent)
    if code != 1:
        return Verdict(False, f"pytest ended with {code}", spent)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", said, re.MULTILINE)
    return Verdict(True, f"by {failed[1] if failed else '?'}", spent)


def run_within(command: list[str], folder: Path, usual: Spent | None) -> tuple[int, str, Spent]:
    """The exit code of a command, what it says, and what it took; ended where it takes many times what is usual.

    What goes round and round is ended by the time of the processor, which does not depend on who else is there. What
    waits for ever takes none: it is ended by the clock, beside other work as slow as the usual run was beside it.
    """
    within = ""
    if usual is not None:
        within = f"ulimit -t {PATIENCE * (usual.processor + STARTING):.0f}; "
    environment = {**os.environ, "PYTHONPATH": str(folder)}  # what the tests start runs there, too
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            ["sh", "-c", f'{within}exec "$@"', "sh", *command],
            cwd=folder,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ended = threading.Event()
        if usual is not None:
            until = 2 * PATIENCE * (usual.clock + STARTING)
            threading.Thread(target=_end, args=(process, ended, until), daemon=True).start()
        _, status, used = os.wait4(process.pid, 0)
        ended.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return process.returncode, text, Spent(used.ru_utime + used.ru_stime, time.monotonic() - begin)


def _end(process: subprocess.Popen[bytes], ended: threading.Event, until: float) -> None:
    if not ended.wait(until):
        os.killpg(process.pid, signal.SIGKILL)


def try_out(mutant: Mutant, template: Path, usual: Spent | None) -> Verdict:
    """Make the mutant in a copy of its own, and judge it."""
    source = (template / mutant.file).read_text()
    if source.count(mutant.old) != 1:
        return Verdict(False, f"does not apply: the text occurs {source.count(mutant.old)} times")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "mutant"
        shutil.copytree(template, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / mutant.file).write_text(source.replace(mutant.old, mutant.new))
        broken = build(folder) if mutant.file.startswith(KERNEL) else ""
        return Verdict(False, broken) if broken else judge(folder, mutant.suite, usual)


def main(words: list[str]) -> int:
    """Try the mutants, two at a time, and print what became of them; first of all, what is not broken must pass."""
    mutants = [each for each in MUTANTS if not words or any(word in f"{each.name} {each.file}" for word in words)]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        template = Path(name)
        broken = prepare(template)
        if broken:
            print(f"{broken}; what it does cannot be judged")
        suites = list(dict.fromkeys(mutant.suite for mutant in mutants))
        usual: dict[tuple[str, ...], Spent | None] = {}
        for suite, (killed, reason, spent) in zip(
            suites, pool.map(lambda each: judge(template, each), suites), strict=True
        ):
            if killed or reason != "pytest ended with 0":
                print(f"what is not broken fails in {' '.join(suite)}: {reason}")
                return 1
            usual[suite] = spent
        survivors = 0
        for mutant, (killed, reason, _) in zip(
            mutants, pool.map(lambda each: try_out(each, template, usual[each.suite]), mutants), strict=True
        ):
            survivors += not killed
            print(f"{'killed  ' if killed else 'SURVIVED'}  {mutant.name}  ({mutant.file})  {reason}", flush=True)
    print(f"{len(mutants) - survivors} of {len(mutants)} mutants killed in {time.perf_counter() - started:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
