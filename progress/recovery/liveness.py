"""Liveness (FT 6.3, Theorem 6.10): every epoch of the input is in the output at last, on every fair execution.

Fair (Definition B.12) is an execution that is maximal, in which failures come to an end, and in which each step that is
possible from some configuration on for ever is taken. Failing is always possible, so that in the words of the paper no
execution that ends is maximal; meant, and taken here, is that no other step is possible where it ends.
"""

from __future__ import annotations

from progress.recovery.configuration import Configuration, Program
from progress.recovery.observability import Observability
from progress.recovery.rules import Rule, Step
from progress.semantics.properties import Leads, eventually


def theorem_6_10(program: Program, observe: Observability) -> Leads:
    """From every configuration on: one comes in whose output has all epochs that are closed on every input."""
    epochs = range(1, program.epochs + 1)

    def has_all(c: Configuration) -> bool:
        seen = {message.epoch for message in observe.of(c)}
        return seen.issuperset(epochs)

    return eventually("Theorem 6.10: every epoch is in the output at last", has_all, rare=_is_failing)


def _is_failing(step: Step) -> bool:
    return step.rule is Rule.FAIL
