"""Nodes as code, and universal time."""

from __future__ import annotations

from tests.project.mutants.mutant import Mutant

NODE_SUITE = (
    "tests/questions/test_behaviour.py",
    "tests/questions/test_escape.py",
    "tests/questions/test_local_history.py",
)

MUTANTS = (
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
