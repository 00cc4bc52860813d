"""Time policies: sources that say when times are complete, for values that do not say so themselves.

A source of `(time, value)` alone never completes anything before it ends. A policy adds what is missing: by count, by
event time, by what the source itself says, by silence. Each works in all engines, with iterables and async iterables,
and for each input of a graph on its own. What is late nevertheless goes to the side output that the policy names.
"""

from progress.runtime.policies.counting import by_count
from progress.runtime.policies.event_time import by_event_time
from progress.runtime.policies.idleness import with_idleness
from progress.runtime.policies.policy import Policy, explicit
from progress.runtime.policies.seconds import Clock, SystemClock, VirtualClock

__all__ = [
    "Clock",
    "Policy",
    "SystemClock",
    "VirtualClock",
    "by_count",
    "by_event_time",
    "explicit",
    "with_idleness",
]
