"""The tracker: steps, answers, the way to the kernel."""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

from tests.project.mutants.engines import ENGINE_SUITE
from tests.project.mutants.mutant import within

MUTANTS = (
    *within(
        "progress",
        ENGINE_SUITE,
        # steps
        (
            "count leak: of many messages consumed at once the engine hears of one",
            "tracking/commit.py",
            "changes.append((target, time, change))",
            "changes.append((target, time, max(change, -1)))",
        ),
        (
            "the changes of one pointstamp are not added up",
            "tracking/commit.py",
            "net[key] = net[key] + change if key in net else change",
            "net[key] = change",
        ),
        (
            "a delivered request keeps its outstanding time",
            "tracking/commit.py",
            "self.changes += [(vertex, after, -1) for vertex, after in self._workings.of_request(node.number, time)]",
            "pass",
        ),
        (
            "a request delivered and asked anew in one step is not asked",
            "tracking/commit.py",
            "if (time not in node.requests or request in self.ended) and request not in self.asked:",
            "if time not in node.requests and request not in self.asked:",
        ),
        (
            "closing an input is ignored",
            "tracking/commit.py",
            "(edge.target, time, -1) for time in edge.open if time not in after]",
            "(edge.target, time, -1) for time in edge.open if after and time not in after]",
        ),
        (
            "an input may move to incomparable times",
            "tracking/commit.py",
            "if not edge.is_open_at(time):",
            "if not edge.open or any(time != old and edge.domain.less_equal(time, old) for old in edge.open):",
        ),
        (
            "what follows from the requests of the source is outside of Clock",
            "tracking/running_on_summaries.py",
            "if any(less_equal(after, time) for after in summary.limits(before)):",
            "if False:",
        ),
        (
            "what lies on an edge in order is not told of a change",
            "tracking/commit.py",
            "if edge.lying is not None:\n                edge.lying.count(time, change)",
            "",
        ),
        (
            "requests kept in order are not told of a delivery",
            "tracking/commit.py",
            "if node.lying is not None:\n                node.lying.count(time, -1)",
            "",
        ),
        # what a tracker answers
        (
            "ready twice: what was handed out is handed out again",
            "tracker.py",
            "fresh, self._fresh = self._fresh, {}",
            "fresh = self._fresh",
        ),
        (
            "ready after delivery: a request that nobody was handed is handed out when it is over",
            "tracker.py",
            "self._fresh.pop(request, None)\n\n    def _new_engine",
            "\n    def _new_engine",
        ),
        ("ready again after a restore", "tracker.py", "tracker._fresh.pop(request, None)", "pass"),
        ("ready requests are not sorted", "tracker.py", "if len(found) > 1:", "if False:"),
        (
            "a new engine is not told who waits",
            "tracker.py",
            "self._engine.wait(node.number, time, waiter)\n        for vertex",
            "pass\n        for vertex",
        ),
        (
            "what a hub in the kernel releases is ready though another hub blocks it",
            "tracker.py",
            "self._wake(self._engine.freed(woken))",
            "self._wake(woken)",
        ),
        (
            "subscribers are told before the step is entered",
            "tracker.py",
            "        commit.enter()\n",
            "        self._subscriptions.collect(self, [(name,) for name in self.network.numbers])\n        commit.enter()\n",
        ),
        (
            "the frontier of an edge is taken to stay when a request comes or goes before it",
            "tracking/subscriptions.py",
            "self.places.append(self._source.name)",
            "pass",
        ),
        (
            "what leaves the source of an edge is told though a message holds it",
            "tracking/subscriptions.py",
            "if move is not None and self._follows and not self._has_own():",
            "if move is not None and self._follows:",
        ),
        (
            "a snapshot has one message where there are many",
            "tracking/snapshot.py",
            "[[edge, write_time(time), count] for",
            "[[edge, write_time(time), 1] for",
        ),
        (
            "who listens to an input is not told when a usual step moves it",
            "tracker.py",
            "*delivered, *zip(inputs or ()))",
            "*delivered)",
        ),
        # the way to the kernel
        (
            "the kernel goes on with a location that is kept in order",
            "tracking/ledger.py",
            "self.registrar.kernel.forget(place.name)",
            "pass",
        ),
        (
            "the kernel is not told the limits of a domain",
            "kernel/__init__.py",
            "return tuple((0, part.maximum) if isinstance(part, Nat) else (None, None) for part in parts)",
            "return tuple((None, None) for part in parts)",
        ),
    ),
    *within(
        "progress",
        ("tests/tracking/test_kernel.py",),
        (
            "a new kernel is not told of what is listened to",
            "tracking/usual_steps.py",
            "if place.name in self._listened:",
            "if False:",
        ),
    ),
)
