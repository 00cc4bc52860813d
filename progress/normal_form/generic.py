"""Declared summaries over domains of the user's own: by the protocol of `progress.order.Domain` alone.

`identity`, `never`, `constant` and `at_least` need no coordinates, and neither do `any` and `then` of those. All others
are refused with PS401: there the user brings a summary too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from progress.antichain import minimal_elements
from progress.errors import PointstampError
from progress.normal_form.declared import AnyOf, AtLeast, Constant, Identity, Never, Then
from progress.order import Domain


class GenericSummary:
    """A declared summary as a `CustomSummary`: monotone, because every part is."""

    def __init__(self, declared: Any, domain: Domain) -> None:
        if not isinstance(declared, Identity | Never | Constant | AtLeast | AnyOf | Then):
            raise PointstampError(
                "PS401", f"{declared} needs the coordinates of {domain!r}", "a summary of your own with an apply method"
            )
        if isinstance(declared, Constant | AtLeast) and not domain.contains(declared.time):
            raise PointstampError("PS401", f"{declared} does not fit {domain!r}", "a time of that domain")
        self.declared = declared
        self.domain = domain
        parts = declared.parts if isinstance(declared, AnyOf | Then) else ()
        self.parts = [GenericSummary(part, domain) for part in parts]

    def __repr__(self) -> str:
        return str(self.declared)

    def apply(self, time: Any) -> Iterable[Any]:
        """The times that `time` may lead to."""
        if isinstance(self.declared, Identity):
            return (time,)
        if isinstance(self.declared, Constant):
            return (self.declared.time,)
        if isinstance(self.declared, AtLeast):
            return self.domain.minimal_upper_bounds(time, self.declared.time)
        if isinstance(self.declared, AnyOf):
            return [result for part in self.parts for result in part.apply(time)]
        times: Iterable[Any] = (time,) if isinstance(self.declared, Then) else ()
        for part in self.parts:
            times = minimal_elements(self.domain, [result for before in times for result in part.apply(before)])
        return times
