"""Engines: entrances, eager propagation, places, the hierarchy, summaries run backwards."""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

from tests.project.mutants.mutant import within

ENGINE_SUITE = (
    "tests/project/few_sessions.py",
    "tests/tracking/test_engines.py",
    "tests/tracking/test_vertex_state.py",
    "tests/tracking/test_hierarchy.py",
    "tests/tracking/test_tracker.py",
    "tests/commands/test_track.py",
)

MUTANTS = within(
    "progress",
    ENGINE_SUITE,
    # what vertices there are
    (
        "a pending request blocks its own node",
        "engines/arcs.py",
        "return [(target, after) for target, summary in self.ways_of_request(node) for after in summary.limits(time)]",
        "return [(node, time), *((target, after) for target, summary in self.ways_of_request(node) for after in summary.limits(time))]",
    ),
    (
        "nodes that lead to the same places by different summaries share an exit",
        "engines/arcs.py",
        "leading = frozenset((targets[edge], id(summaries[edge])) for edge in ways)",
        "leading = frozenset((targets[edge], 0) for edge in ways)",
    ),
    (
        "components that may hold back themselves are taken to advance",
        "engines/arcs.py",
        "if not doubted:\n            return set()",
        "if True:\n            return set()",
    ),
    (
        "the exits of components that may hold back themselves are taken to advance",
        "engines/arcs.py",
        "return nodes | {self._exits[node] for node in nodes if node in self._exits}",
        "return nodes",
    ),
    # eager propagation
    (
        "a component is entered late, with the next change in it",
        "engines/eager.py",
        "if not self._queued[rank]:",
        "if not self._queued[rank] and len(self._members[rank]) == 1:",
    ),
    (
        "support is looked for at one predecessor only",
        "engines/eager.py",
        "for _, entering in self._entering[vertex]:\n            self._effort.spend(entering.cost)",
        "for _, entering in self._entering[vertex][:1]:\n            self._effort.spend(entering.cost)",
    ),
    ("own times that a lost one covered are forgotten", "engines/eager.py", "won += place.refill(lost)", "pass"),
    (
        "own times that a lost one covered are forgotten within components",
        "engines/eager.py",
        "come(vertex, place.refill(gone))",
        "pass",
    ),
    (
        "what a predecessor brings in place of a lost time is forgotten within components",
        "engines/eager.py",
        "come(vertex, [time for time in entering.images(gone) if place.insert(time)])",
        "pass",
    ),
    (
        "support runs down one arc of a component and no further",
        "engines/eager.py",
        "if places[target].holds(after):",
        "if places[target].holds(after) and turn < 2:",
    ),
    (
        "a component closed anew keeps its old frontier",
        "engines/eager.py",
        "for time in gone:\n                place.discard(time)",
        "for time in ():\n                place.discard(time)",
    ),
    (
        "waiters at a component closed anew are not examined",
        "engines/eager.py",
        "new = [time for time in times if place.insert(time)]\n            if gone or new:",
        "new = [time for time in times if place.insert(time)]\n            place.waiting = 0\n            if gone or new:",
    ),
    (
        "a component is closed anew without what comes from outside",
        "engines/eager.py",
        "if self._rank[source] != rank:",
        "if False:",
    ),
    (
        "where nothing follows, waiters are not examined",
        "engines/eager.py",
        "if self._leaving[vertex] or place.waiting or vertex in self._watched:",
        "if self._leaving[vertex] or vertex in self._watched:",
    ),
    # places
    (
        "a waiter is released at the very time for which it waits",
        "engines/vertex_state.py",
        "while waiters and waiters[0][0] < bound:",
        "while waiters and waiters[0][0] <= bound:",
    ),
    (
        "waiters are examined for the first lost time only",
        "engines/vertex_state.py",
        "for time in lost:\n            if time in self._frontier:",
        "for time in lost[:1]:\n            if time in self._frontier:",
    ),
    (
        "waiters are not handed on when a lower time comes",
        "engines/vertex_state.py",
        "if other in self._waiters:",
        "if False:",
    ),
    (
        "only the first region that a lost stair uncovers is looked at",
        "engines/vertex_state.py",
        "start, below = stairs[place]\n            place += 1",
        "return",
    ),
    (
        "a pair below all others of its chunk is not noticed",
        "engines/pairs.py",
        "if entry[1] < self._lowest[place]:\n            self._lowest[place] = entry[1]",
        "pass",
    ),
    (
        "a half of a full chunk of pairs keeps the wrong lowest",
        "engines/pairs.py",
        "[_lowest(chunk[:half]), _lowest(chunk[half:])]",
        "[_lowest(chunk[:half]), _lowest(chunk[:half])]",
    ),
    (
        "the odd one of the trees under a root that goes is lost",
        "engines/forest.py",
        "return kept + trees[len(trees) - len(trees) % 2 :]",
        "return kept + trees[len(trees) :]",
    ),
    ("what hangs under a time in the middle goes with it", "engines/forest.py", "hanging.update(children)", "pass"),
    # the hierarchy
    (
        "a released waiter is examined too rarely: not at the next latest time of its hub",
        "engines/hierarchical.py",
        "if not self._goes_on(waiter, vertex, time, hub, after + 1):",
        "if not self._goes_on(waiter, vertex, time, hub + 1, 0):",
    ),
    (
        "a released waiter is examined too rarely: not at the next hub",
        "engines/hierarchical.py",
        "if not self._goes_on(waiter, vertex, time, hub, after + 1):",
        "if True:",
    ),
    (
        "a vertex is watched at one hub of its label only",
        "engines/hierarchical.py",
        "[vertex] if core else [way.hub for way in self._label(vertex)]:",
        "[vertex] if core else [way.hub for way in self._label(vertex)][:1]:",
    ),
    ("hubs are tried in ascending rank", "engines/hierarchy.py", "hubs.reverse()", "pass"),
    (
        "a shortcut from a vertex to itself is dropped though it says something",
        "engines/hierarchy.py",
        "if through in wide or (source == target and through != NO_WAY and not algebra.says_nothing(through)):",
        "if through in wide:",
    ),
    (
        "of two ways down from a hub the first one counts",
        "engines/hierarchy.py",
        "down[source] = algebra.join(down[source], through)",
        "pass",
    ),
    (
        "a shortcut takes the place of the way that is there",
        "engines/hierarchy.py",
        "through = algebra.join(known, through)",
        "pass",
    ),
    (
        "the second of two parallel arcs takes the place of the first",
        "engines/hierarchy.py",
        "number = algebra.join(ways[target], number)",
        "pass",
    ),
    # summaries run backwards
    (
        "backwards, floors are forgotten",
        "normal_form/backwards.py",
        "if move.floor is not None and move.floor > bound:\n        return None",
        "",
    ),
    (
        "backwards, what is lexicographically below may be equal",
        "normal_form/backwards.py",
        "wanted.append(_at_most(piece.moves[first], goal[first] - 1))",
        "wanted.append(_at_most(piece.moves[first], goal[first]))",
    ),
    (
        "an arc over pairs forgets the leftmost time that a lost one covered",
        "engines/vertex_state.py",
        "start = bisect_left(stairs, (low,))",
        "start = bisect_left(stairs, (low + 1,))",
    ),
)
