"""What must always be true of a tracker, judged by the definitions: Close-up of all that is outstanding (A&I 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from progress.closure import close_numbered
from progress.summary import NoMinimalTimes
from progress.tracking.ledger import Ledger

if TYPE_CHECKING:
    from progress.tracker import Tracker


def check_invariants(tracker: Tracker, ledger: Ledger) -> None:
    """Counts are positive, every frontier is Clock's, and exactly the requests that nothing blocks are eligible."""
    network = tracker.network
    state = tracker.snapshot()
    for (edge, time), count in tracker.messages().items():
        assert count > 0, f"{count} messages at {edge!r} at {time!r}\n{state}"
    now = close_numbered(network, [(location, time) for location, time, _ in ledger.every()])
    for location, name in enumerate((*network.nodes, *network.edges)):
        found, wanted = _minimal(tracker.frontier, name), _minimal(now.times, location)
        assert found == wanted, f"the frontier at {name!r} is {found}, by definition {wanted}\n{state}"
    count = len(network.nodes)
    free = {
        request
        for request in tracker.pending()
        if not any(
            now.covers(count + edge, request.time) for edge in network.incoming[network.numbers[request.location]]
        )
    }
    eligible = tracker.eligible()
    assert set(eligible) == free, f"eligible {eligible}, by definition {free}\n{state}"
    places = [network.numbers[request.location] for request in eligible]
    assert places == sorted(places), f"eligible {eligible} are not in node order\n{state}"
    for (place, time), (other, later) in pairwise(eligible):
        before = place == other and network.domains[network.numbers[place]].less_equal(later, time)
        assert not before, f"eligible {eligible} are not in the order of time\n{state}"


def _minimal(times: Callable[[Any], Iterable[Any]], place: Any) -> set[Any] | None:
    """The minimal times at a place; None where they have no finite form."""
    try:
        return set(times(place))
    except NoMinimalTimes:
        return None
