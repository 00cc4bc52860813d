"""All mutants, by subject."""

from __future__ import annotations

from tests.project.mutants import (
    adapters,
    algorithms,
    durable,
    engines,
    kernel,
    nodes,
    operators,
    plain_data,
    recovery,
    recursion,
    semantics,
    streams,
    tracker,
)

SUBJECTS = (
    algorithms,
    engines,
    tracker,
    kernel,
    recursion,
    operators,
    streams,
    durable,
    adapters,
    recovery,
    semantics,
    nodes,
    plain_data,
)
MUTANTS = tuple(mutant for subject in SUBJECTS for mutant in subject.MUTANTS)
