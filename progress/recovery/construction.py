"""A failure-free trace that explains a faulty one: the proof of Theorem 6.9 as an algorithm (FT 6.2, Figure 12).

1. Split the trace at recoveries into generations.
2. In each, move the steps of epochs above the greatest common one at its end behind the others: failures, too.
3. Leave them out, and the recovery: it undoes exactly these.
4. Join the generations: each ends in the configuration to which its recovery led.

Every configuration of the faulty execution is explained by the one behind its closest preceding committing border step,
by which the greatest common epoch grew last: nothing else changes the output (Lemma B.6).
"""

from __future__ import annotations

from typing import NamedTuple

from progress.errors import PointstampError
from progress.recovery.configuration import Configuration
from progress.recovery.explanations import explained_monotonically
from progress.recovery.observability import Observability
from progress.recovery.rules import Rule, Step, is_failure
from progress.recovery.snapshots import gce, lcs, out
from progress.recovery.traces import Trace, apply, generations


class Generation(NamedTuple):
    """What the construction makes of the steps up to a recovery, by their places in the trace."""

    split: tuple[int, ...]  # G_i, the recovery at its end
    reordered: tuple[int, ...]  # G'_i
    stripped: tuple[int, ...]  # G''_i


class Explanation(NamedTuple):
    """A failure-free trace, and for each configuration of the faulty execution the one there that shows the same."""

    trace: Trace
    mapping: tuple[int, ...]
    generations: tuple[Generation, ...]


def explain(trace: Trace) -> Explanation:
    """The failure-free trace of Theorem 6.9, from a valid trace; PS633 where the trace is not valid.

    It has to start where nothing can be undone: in an initial configuration, or in any that is its own latest common
    snapshot; PS633 otherwise, since what led there may be undone and is not in the trace. What is answered can be
    verified by `verify`, or without anything of this file. Cost: that of applying the trace.

    Returns
    -------
    The trace, how the configurations are mapped, and the generations of the proof.

    Raises
    ------
    PointstampError
        PS633 where the trace is not valid, or begins where something can be undone.

    Examples
    --------
    >>> from progress.recovery.construction import explain
    >>> from progress.recovery.model import Task, explore
    >>> from progress.recovery.rules import is_failure
    >>> from progress.recovery.traces import Trace
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> found = explore([Task("sum", running_sum, ["numbers"], "sums", 0)], {"numbers": [[1]]}).exploration
    >>> traces = map(Trace.of, map(found.path, range(len(found.states))))
    >>> faulty = next(trace for trace in traces if any(map(is_failure, trace.steps)))
    >>> print(faulty)
    1. F-FAIL sum
    >>> explain(faulty).trace.steps
    ()
    """
    if lcs(trace.start) != trace.start:
        what = "the trace starts in the middle of an epoch, which a recovery may undo"
        raise PointstampError("PS633", what, "a trace from an initial configuration")
    execution = apply(trace)
    made = tuple(_generation(trace.steps, execution, places) for places in generations(trace.steps))
    kept = [place for generation in made for place in generation.stripped]
    behind = {place: number for number, place in enumerate(kept, 1)}
    mapping = [0]
    for place in range(len(trace.steps)):
        commits = trace.steps[place].rule is Rule.BORDER and gce(execution[place]) != gce(execution[place + 1])
        mapping.append(behind[place] if commits else mapping[-1])
    steps = tuple(trace.steps[place] for place in kept)
    return Explanation(Trace(trace.start, steps), tuple(mapping), made)


def _generation(steps: tuple[Step, ...], execution: list[Configuration], places: range) -> Generation:
    ends_in_recovery = len(places) > 0 and steps[places[-1]].rule is Rule.RECOVER
    own = places[:-1] if ends_in_recovery else places
    common = gce(execution[own.stop])
    kept = tuple(place for place in own if _epoch(steps[place]) <= common)
    discarded = tuple(place for place in own if _epoch(steps[place]) > common)
    return Generation(tuple(places), (*kept, *discarded, *places[len(own) :]), kept)


def _epoch(step: Step) -> float:
    """The epoch of a step. A failed task closes no epoch any more, so that a failure is in none that is common."""
    return float("inf") if step.epoch is None else step.epoch


def verify(trace: Trace, explanation: Explanation) -> None:
    """Check by application alone that a trace is failure-free, valid, and explains another one; PS633 otherwise.

    Also that the mapping shows it, and never goes back (Definition 5.6). Nothing of the construction is used.

    Raises
    ------
    PointstampError
        PS633 where it does not, with what is wrong.

    Examples
    --------
    >>> from progress.recovery.construction import explain, verify
    >>> from progress.recovery.model import Task, explore
    >>> from progress.recovery.rules import is_failure
    >>> from progress.recovery.traces import Trace
    >>> def running_sum(total, number):
    ...     return total + number, [total + number]
    >>> found = explore([Task("sum", running_sum, ["numbers"], "sums", 0)], {"numbers": [[1]]}).exploration
    >>> traces = map(Trace.of, map(found.path, range(len(found.states))))
    >>> faulty = next(trace for trace in traces if any(map(is_failure, trace.steps)))
    >>> verify(faulty, explain(faulty))
    """
    faulty, explaining = apply(trace), apply(explanation.trace)
    wrong = "" if trace.start == explanation.trace.start else "the traces do not begin in the same configuration"
    if any(map(is_failure, explanation.trace.steps)):
        wrong = "the explaining trace is not free of failures"
    if explained_monotonically(faulty, explaining, Observability("out", out)) is None:
        wrong = "what is observed of the one is not observed of the other, in this order"
    mapping = explanation.mapping
    if (
        len(mapping) != len(faulty)
        or list(mapping) != sorted(mapping)
        or not set(mapping) <= set(range(len(explaining)))
    ):
        wrong = "the mapping goes back, or does not map every configuration to one"
    elif any(out(c) != out(explaining[place]) for c, place in zip(faulty, mapping, strict=True)):
        wrong = "the mapping joins configurations of which not the same is observed"
    if wrong:
        raise PointstampError("PS633", wrong, "the answer of `explain` for this trace")
