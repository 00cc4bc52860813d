"""What answers about graphs follow from: normal forms, conditions, could-result-in, Close-up."""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

from tests.project.mutants.mutant import Mutant, within

SUITE = (
    "tests/questions/test_coordinate.py",
    "tests/questions/test_component.py",
    "tests/questions/test_known_cases.py",
    "tests/files/test_composition.py",
    "tests/questions/test_propositions.py",
    "tests/reference/test_against_reference.py",
)

ALGORITHMS = within(
    "progress",
    SUITE,
    ("no hull below the least time", "normal_form/hull.py", "leaf.low if amount < 0 else None", "None"),
    ("no carry in bounded lex", "normal_form/hull.py", "range(index - 1, -1, -1)", "range(0)"),
    (
        "a map speaks only for its own times",
        "normal_form/hull.py",
        "(Limit(structure, None, number),)",
        "(Limit(structure, number, number),)",
    ),
    (
        "one of several least upper bounds",
        "normal_form/hull.py",
        "leaf.order.minimal_upper_bounds(name, names[number])",
        "leaf.order.minimal_upper_bounds(name, names[number])[:1]",
    ),
    (
        "feedback moves the first coordinate",
        "normal_form/declared.py",
        "(*map(_no_amount, domain.parts[:-1]), self._amount(domain.parts[-1]))",
        "(self._amount(domain.parts[0]), *map(_no_amount, domain.parts[1:]))",
    ),
    (
        "product compared as lex",
        "order.py",
        "return all(part.less_equal(one, other) for part, one, other in zip(self.parts, earlier, later, strict=True))",
        "return self.sort_key(earlier) <= self.sort_key(later)",
    ),
    (
        "frontiers not minimal",
        "antichain.py",
        "if kept.insert(time, is_last=True):",
        "if kept.insert(time, is_last=True) or time:",
    ),
    (
        "a floor is forgotten in composition",
        "normal_form/coordinate.py",
        "if first.floor is not None:\n        lifted",
        "if False:\n        lifted",
    ),
    (
        "roundings merged that do not divide",
        "normal_form/coordinate.py",
        "while len(kept) > 1 and step % kept[-2] == 0:",
        "while len(kept) > 1:",
    ),
    (
        "bounds of the second step ignored",
        "normal_form/pieces.py",
        "limits.append(Limit(place, None, greatest_at_most(word, high)))",
        "pass",
    ),
    (
        "tags ignored in composition",
        "normal_form/pieces.py",
        "if first.target_case != second.source_case:",
        "if len(first.target_case) != len(second.source_case):",
    ),
    (
        "domination without looking at the boxes",
        "normal_form/pieces.py",
        "for place, low, high in one.box:\n        other_low",
        "for place, low, high in ():\n        other_low",
    ),
    (
        "incomparable taken for equal",
        "normal_form/pieces.py",
        'return other if one == "=" else "|"',
        'return other if one == "=" else "="',
    ),
    (
        "only the last of parallel edges",
        "topology.py",
        "if source != NO_NODE:\n                lists[source].append(edge)",
        "if source != NO_NODE:\n                target = self.targets[edge]\n                lists[source] = [other for other in lists[source] if self.targets[other] != target or target < 0] + [edge]",
    ),
    ("iterated instead of distinct locations", "could_result_in.py", "self._distinct(found, visited)):", "True):"),
    ("simple paths may come back", "could_result_in.py", "visited.add(target)\n            found", "found"),
    (
        "one minimal time a location",
        "antichain.py",
        "self._times = [other for other in self._times if not less_equal(time, other)]",
        "self._times = []",
    ),
    (
        "stairs keep what lies above",
        "antichain.py",
        "while end < len(stairs) and stairs[end][1] >= time[1]:",
        "while False:",
    ),
    (
        "falls are not run to their end",
        "closure.py",
        "return None if lowest == numbers else",
        "return None if lowest is not None else",
    ),
    (
        "messages are not on their own edge",
        "closure.py",
        "closure.given_on_edge.setdefault(edge, []).append(time)",
        "pass",
    ),
    (
        "inputs do not block",
        "notification.py",
        "for edge in network.incoming[node]:",
        "for edge in (each for each in network.incoming[node] if network.sources[each] >= 0):",
    ),
    (
        "beside is not an offence",
        "cycles/judging.py",
        'BELOW_OR_BESIDE = frozenset("<|")',
        'BELOW_OR_BESIDE = frozenset("<")',
    ),
    (
        "standing still is advancing",
        "cycles/judging.py",
        'BELOW_OR_AT = frozenset("<=")',
        'BELOW_OR_AT = frozenset("<")',
    ),
    (
        "a walk that comes back counts as simple",
        "cycles/judging.py",
        "if is_simple(network, found.walk):\n        return found",
        "if True:\n        return found",
    ),
    (
        "a constant is taken to keep its coordinate",
        "cycles/drift.py",
        "RESET if high is None or move.floor is None else",
        "0 if high is None or move.floor is None else",
    ),
    (
        "small negative weights pass for none",
        "cycles/potential.py",
        "if all(weight >= 0 for weight in weights):",
        "if all(weight >= -1 for weight in weights):",
    ),
    ("zero edges across components are kept", "component.py", "if group == component[tail]:", "if True:"),
    (
        "nodes that never ask are judged",
        "conditions.py",
        "if not network.notifies[node]:\n            continue",
        "if False:\n            continue",
    ),
    ("the past is looked for downwards", "conditions.py", "if not domain.less_equal(time, result))", "if True)"),
)

BUDGETS = (
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
)

MUTANTS = (*ALGORITHMS, *BUDGETS)
