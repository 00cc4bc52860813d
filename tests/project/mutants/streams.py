"""Streams and their loops."""

from __future__ import annotations

from tests.project.mutants.mutant import within

STREAMS_SUITE = tuple(f"tests/streams/test_{name}.py" for name in ("operators", "building", "programs"))
LOOPS_SUITE = ("tests/streams/test_loops.py", "tests/streams/test_collections_kept.py")

OPERATORS = within(
    "graphs/streams",
    STREAMS_SUITE,
    (
        "a message begins a result anew",
        "aggregate.py",
        "elif key in before:\n                found",
        "elif False:\n                found",
    ),
    ("results of complete times are kept", "operator.py", "        del self.open[time]\n", "        pass\n"),
    ("all times so far, in no order", "so_far.py", "if less_equal(at, time)]", "if at <= time]"),
    (
        "a partial order taken for a total one",
        "distinct.py",
        "(FirstEver if wiring.domain.is_total else FirstByTime)",
        "FirstEver",
    ),
    ("what is within goes a tick early", "so_far.py", "if at >= oldest]", "if at > oldest]"),
    ("what is matched leaves alone as well", "join.py", "if key not in rights for left in lefts", "for left in lefts"),
    (
        "a match of a semi join is kept",
        "join.py",
        "            for key in matched:\n                del lefts[key]",
        "            pass",
    ),
    ("what is of this time is not the latest", "asof.py", "now.get(key) or latest.get(key)", "latest.get(key)"),
    (
        "what comes when a session ends is not part of it",
        "session.py",
        "bisect_right(self.times, time)",
        "bisect_right(self.times, time - 1)",
    ),
    ("a session in the order of coming", "session.py", "insort(self.times, time)", "self.times.append(time)"),
    ("a window too many", "windows.py", "time + self.width, self.every", "time + self.width + 1, self.every"),
    ("early speaks twice", "early.py", "key not in said and key not in now", "key not in now"),
    ("corrections of what is confirmed", "early.py", "if not self.test(results[key])]", "if results[key] != said]"),
    ("states are lost between times", "in_order.py", "self.states.update(states)", "pass"),
    ("a step that others read, too, is run in the next one", "building.py", "count[origin] == 1 and origin", "origin"),
    ("an output in the middle of a node", "building.py", "== 1 and origin not in self.leaving:", "== 1:"),
    ("a time that is given up stays", "operator.py", "return self.open.pop(time, None)", "return self.open.get(time)"),
    ("a session forgets where it began", "session.py", "if key not in firsts:", "if True:"),
    (
        "a session that ends before the next look waits for it",
        "session.py",
        "if not self.asked or self.asked[-1] > end:",
        "if not self.asked:",
    ),
    ("what one failure ends goes on", "awaiting.py", "task.cancel()", "pass"),
    (
        "times that are not minimal are kept",
        "distinct.py",
        "for key in new:\n            seen",
        "for key in found:\n            seen",
    ),
    ("keep is given another and the one that was kept", "distinct.py", "keep(known, value)", "keep(value, known)"),
    (
        "a window that has no end",
        "windows.py",
        "            if domain.contains(end):\n                self",
        "            if True:\n                self",
    ),
    (
        "the last window goes on beyond all times",
        "windows.py",
        "self.width - 1, self.latest)",
        "self.width - 1, 10**9)",
    ),
    ("what was said of a time that is given up stays", "early.py", "        self.said.pop(time, None)\n", ""),
)

LOOPS = within(
    "graphs/streams",
    LOOPS_SUITE,
    ("a join asks for rounds when nothing more comes", "loops/join.py", "self.whole[first] = None", "pass"),
    (
        "what is new meets each time that is past alone",
        "collections/history.py",
        "            for each in list(found):\n                found[",
        "            for each in [time]:\n                found[",
    ),
    (
        "what is new meets each other time alone",
        "collections/history.py",
        "            for each in list(found):\n                bounds",
        "            for each in [time]:\n                bounds",
    ),
    (
        "a round fewer than there may be",
        "collections/nodes.py",
        "time[-1] + 1 >= self.most",
        "time[-1] + 2 >= self.most",
    ),
    ("own code leads into a loop without a door", "building.py", "(is_own or leaves)", "leaves"),
)

MUTANTS = (*OPERATORS, *LOOPS)
