"""Recovery from failures."""

from __future__ import annotations

from tests.project.mutants.mutant import Mutant, within

CLAIMS = ("tests/recovery/test_claims.py",)  # what is broken is found by what it breaks, not by counting
EXPLAINABILITY = ("tests/recovery/test_explainability.py",)
TRACES = ("tests/recovery/test_traces.py",)
FAIRNESS = ("tests/semantics/test_fairness.py",)
SNAPSHOTS = "progress/recovery/snapshots.py"

MODELS = (
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
        "for state in reached(self.members[beside], ",
        "for state in reached(range(len(self.there)), ",
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

DELIVERY = within(
    "progress/recovery",
    ("tests/recovery/test_delivery.py",),
    (
        "what was lost counts as part of the input",
        "delivery.py",
        "output in expected and fits(other, entered)",
        "output in expected",
    ),
    (
        "a reference that does not end explains nothing",
        "delivery.py",
        "return judged if judged.holds or are_all else",
        "return judged if True else",
    ),
    (
        "failures lose nothing",
        "protocols.py",
        "return now._replace(live=now.saved, left=left",
        "return now._replace(live=now.live, left=left",
    ),
    (
        "the last bundle is not looked at",
        "protocols.py",
        "if self.protocol.filters and now.left",
        "if False and now.left",
    ),
    ("the end is never seen", "protocols.py", "if all_read and not ready and now.live.holds is None:", "if False:"),
    (
        "outputs leave before what covers them",
        "protocols.py",
        "return now.live.ready[0][0] <= sum(now.saved.read)",
        "return True",
    ),
    ("a known order is not kept", "protocols.py", "if self.protocol.order is Order.RACES:", "if True:"),
)

ROLLBACK = within(
    "progress/recovery",
    ("tests/recovery/test_rollback.py",),
    (
        "what is computed anew may stay",
        "rollback.py",
        "if edge.target == NO_NODE or self.keeps[edge.source].repeats:",
        "if True:",
    ),
    ("messages in flight are forgotten", "rollback.py", "for message in edge.unconsumed()]", "for message in ()]"),
    (
        "what the target loses is not asked for again",
        "rollback.py",
        "            for number in network.incoming[node]:\n                self._keep_rule_d(self.edges[number])\n",
        "",
    ),
    (
        "a node that has fallen is not looked at again",
        "rollback.py",
        "            self.waiting.append(node)\n",
        "            pass\n",
    ),
    ("kept sets in the wrong order", "kept_sets.py", "for time in frontier)), (1,))", "for time in frontier)), (-1,))"),
    (
        "sets that are apart are taken for a chain",
        "kept_sets.py",
        "if all(is_subset(domain, one, other) for one, other in pairwise(found)):",
        "if True:",
    ),
    ("not closed under union, and not refused", "kept_sets.py", "not in known:", "in ():"),
)

MUTANTS = (*MODELS, *ROLLBACK, *DELIVERY)
