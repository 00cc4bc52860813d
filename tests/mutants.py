"""`python -m tests.mutants`: break the algorithms on purpose, one place at a time; the suite must notice each time.

Each mutant is one replacement in one file. It is made in a copy of the project, and the tests that judge algorithms run
there until the first failure. Exit code 1 when a mutant survives or does not apply any more.
"""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
COPIED = ("progress", "graphs", "recursion", "benchmarks", "tests", "pyproject.toml")
SUITE = (
    "tests/test_coordinate.py",
    "tests/test_component.py",
    "tests/test_known_cases.py",
    "tests/test_composition.py",
    "tests/test_propositions.py",
    "tests/test_against_reference.py",
)


class Mutant(NamedTuple):
    """What is broken, where, and how."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = (
    Mutant("no hull below the least time", "progress/hull.py", "leaf.low if amount < 0 else None", "None"),
    Mutant("no carry in bounded lex", "progress/hull.py", "range(index - 1, -1, -1)", "range(0)"),
    Mutant(
        "a map speaks only for its own times",
        "progress/hull.py",
        "(Limit(structure, None, number),)",
        "(Limit(structure, number, number),)",
    ),
    Mutant(
        "one of several least upper bounds",
        "progress/hull.py",
        "leaf.order.minimal_upper_bounds(name, names[number])",
        "leaf.order.minimal_upper_bounds(name, names[number])[:1]",
    ),
    Mutant(
        "feedback moves the first coordinate",
        "progress/declared.py",
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
        "return tuple(time for time in distinct if kept.insert(time))",
        "return tuple(time for time in distinct if kept.insert(time) or time)",
    ),
    Mutant(
        "a floor is forgotten in composition",
        "progress/coordinate.py",
        "if first.floor is not None:\n        lifted",
        "if False:\n        lifted",
    ),
    Mutant(
        "roundings merged that do not divide",
        "progress/coordinate.py",
        "while len(kept) > 1 and step % kept[-2] == 0:",
        "while len(kept) > 1:",
    ),
    Mutant(
        "bounds of the second step ignored",
        "progress/normal_form.py",
        "limits.append(Limit(place, None, greatest_at_most(word, high)))",
        "pass",
    ),
    Mutant(
        "tags ignored in composition",
        "progress/normal_form.py",
        "if first.target_case != second.source_case:",
        "if len(first.target_case) != len(second.source_case):",
    ),
    Mutant(
        "domination without looking at the boxes",
        "progress/normal_form.py",
        "for place, low, high in one.box:\n        other_low",
        "for place, low, high in ():\n        other_low",
    ),
    Mutant(
        "incomparable taken for equal",
        "progress/normal_form.py",
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
        "progress/cycle.py",
        'BELOW_OR_BESIDE = frozenset("<|")',
        'BELOW_OR_BESIDE = frozenset("<")',
    ),
    Mutant(
        "standing still is advancing",
        "progress/cycle.py",
        'BELOW_OR_AT = frozenset("<=")',
        'BELOW_OR_AT = frozenset("<")',
    ),
    Mutant(
        "a walk that comes back counts as simple",
        "progress/cycle.py",
        "if is_simple(network, found.walk):\n        return found",
        "if True:\n        return found",
    ),
    Mutant(
        "a constant is taken to keep its coordinate",
        "progress/drift.py",
        "RESET if high is None or move.floor is None else",
        "0 if high is None or move.floor is None else",
    ),
    Mutant(
        "small negative weights pass for none",
        "progress/potential.py",
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


def survives(mutant: Mutant) -> str:
    """Why the mutant was not killed; empty when it was."""
    source = (PROJECT / mutant.file).read_text()
    if source.count(mutant.old) != 1:
        return f"does not apply: the text occurs {source.count(mutant.old)} times"
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            origin = PROJECT / name
            if origin.is_dir():
                shutil.copytree(origin, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(origin, folder)
        (Path(folder) / mutant.file).write_text(source.replace(mutant.old, mutant.new))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not soak", "-p", "no:cacheprovider", *SUITE]
        try:
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return ""
        return "" if run.returncode == 1 else f"pytest ended with {run.returncode}"


def main() -> int:
    """Try all mutants, two at a time, and print what became of them."""
    survivors = 0
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        for mutant, reason in zip(MUTANTS, pool.map(survives, MUTANTS), strict=True):
            survivors += bool(reason)
            print(f"{'SURVIVED' if reason else 'killed  '}  {mutant.name}  ({mutant.file})  {reason}", flush=True)
    print(f"{len(MUTANTS) - survivors} of {len(MUTANTS)} mutants killed in {time.perf_counter() - started:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
