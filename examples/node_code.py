"""Does the code do what the graph says? A node's own code, run over sample messages, against what was declared for it.

The graph says that `total` sends each sum at the time it belongs to. The code also sends corrections: when a number
comes in late, it sends the new sum at the time before. Nobody who trusts the graph expects that.
"""

from collections.abc import Iterable, Mapping

from pointstamp import Event, Message, Received, check_behaviours, from_data

GRAPH = from_data(
    {
        "pointstamp": 1,
        "nodes": {"total": {"summary": "identity"}},
        "edges": [{"id": "numbers", "to": "total"}, {"id": "sums", "from": "total"}],
    }
)

State = tuple[tuple[int, int], ...]  # (time, sum), sorted


class Total:
    """A node as A&I 2.2 defines it: where it may start, and what one event makes it do."""

    def initial(self) -> Iterable[tuple[State, Iterable[int]]]:
        return [((), ())]

    def step(self, state: State, event: Event) -> tuple[State, Iterable[int], Mapping[str, Iterable[Message]]]:
        sums = dict(state)
        if isinstance(event, Received):
            sums[event.time] = sums.get(event.time, 0) + event.message.value
            late = [time for time in sums if time == event.time - 1]
            corrections = [Message(time, sums[time]) for time in late]
            return tuple(sorted(sums.items())), [event.time], {"sums": corrections}
        done = sums.pop(event.time, 0)
        return tuple(sorted(sums.items())), [], {"sums": [Message(event.time, done)]}


checked = check_behaviours(
    GRAPH,
    {"total": Total()},
    {"numbers": [Message(0, 5), Message(1, 7)]},
    depth=3,
)
print(checked)
