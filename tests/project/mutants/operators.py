"""Time-aware operators."""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

from tests.project.mutants.mutant import within

OPERATORS_SUITE = ("tests/operators/test_operators.py", "tests/operators/test_laws.py", "tests/operators/test_costs.py")

MUTANTS = within(
    "progress/operators",
    OPERATORS_SUITE,
    (
        "the watermark before the batch",
        "batch.py",
        "[DT(event.time, completed), event] if",
        "[event, DT(event.time, completed)] if",
    ),
    (
        "an exit at minimal times",
        "times.py",
        "if any(less_equal(time, other) for other in kept):",
        "if any(less_equal(other, time) for other in kept):",
    ),
    (
        "the first of equals is kept",
        "times.py",
        "list(dict.fromkeys(reversed([*items])))[::-1]",
        "list(dict.fromkeys(items))",
    ),
    (
        "what was taken stays",
        "open_times.py",
        "                    going.append((time, self._items.pop(time)))",
        "                    going.append((time, self._items[time]))",
    ),
    (
        "what hangs under a time that goes is not looked at",
        "open_times.py",
        "                    candidates += forest.hanging(time)\n",
        "",
    ),
    (
        "the exit of the first is forgotten",
        "compose.py",
        "return produce(self._second, self._first.exit())",
        "return produce(self._second, ())",
    ),
    (
        "a watermark leaves though the other side is behind",
        "union.py",
        "            producible.append(numbered)\n        else:",
        "            producible.append(numbered)\n        elif less_equal(watermark.value, watermark.value):\n            producible.append(numbered)\n        else:",
    ),
    (
        "watermarks leave oldest first",
        "union.py",
        "key=lambda numbered: numbered[0], reverse=True)",
        "key=lambda numbered: numbered[0])",
    ),
    (
        "groups that can still be told apart are merged",
        "complete.py",
        "for low in self.frontier)\n            group",
        "for low in self.frontier[:1])\n            group",
    ),
    (
        "a late time is added to a group",
        "complete.py",
        "        if self.frontier is not None and not any(less_equal(low, time) for low in self.frontier):\n            self._groups = None\n",
        "",
    ),
    ("groups are never merged", "complete.py", "        if frontier != self.frontier:", "        if not frontier:"),
    (
        "a histogram forgets the last one",
        "total_histogram.py",
        "found[time] = Counter(self._counts)",
        "found[time] = count(data for _, (_, data) in items)",
    ),
    (
        "the next time of a lex order has no carry",
        "frontier.py",
        "range(len(time) - 1, -1, -1)",
        "range(len(time) - 1, len(time) - 2, -1)",
    ),
    (
        "a join meets what is not of one time",
        "join.py",
        "self._meetings.setdefault(time.value, Meeting())",
        "self._meetings.setdefault(None, Meeting())",
    ),
)
