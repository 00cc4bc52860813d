"""g over local histories (A&I 2.2), for Proposition 7: computed anew from a node's code, by nothing that actions use.

`progress.local_history.after` is g, too, and shares with the actions how a step is made and what is pending after it. A
fault in what both use would be in both, and the proposition would hold of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from progress.local_history import Event, NodeBehaviour, Received
from progress.order import Domain, as_time


def local_histories(
    node: NodeBehaviour, domain: Domain, events: Iterable[Event]
) -> list[tuple[tuple[Any, set[Any]], tuple[Any, set[Any]]]]:
    """For each history with these events: the state and the requests with which it starts, and those of g after it.

    g(h . t) = (s'', N - {t} u N'), g(h . (d, m)) = (s'', N u N'), where g1 gives (s'', N') from the state before. What
    g1 is given is a copy, so that it changes nothing here. Cost: one step of the node an event.
    """
    events = list(events)
    found = []
    for state, first in node.initial():
        start = copy.deepcopy(state), _times(domain, first)
        requests = set(start[1])
        for event in events:
            state, asked, _ = node.step(copy.deepcopy(state), event)
            if not isinstance(event, Received):
                requests.discard(event.time)
            requests |= _times(domain, asked)
        found.append((start, (state, requests)))
    return found


def _times(domain: Domain, times: Iterable[Any]) -> set[Any]:
    """Times as the domain has them: a node may write a stack as a tuple of names."""
    return {as_time(domain, time) for time in times}
