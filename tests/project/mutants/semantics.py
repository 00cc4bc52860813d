"""Section 4 as a machine; some are for one file of tests alone, which has to notice by itself."""

# ruff: noqa: E501 - the texts that are replaced are as long as they are

from __future__ import annotations

from tests.project.mutants.mutant import Mutant

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

MUTANTS = (
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
)
