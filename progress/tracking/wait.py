"""One request that waits: since when, who holds it, and what would let it go; and all of that in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from progress.closure import Closure, ClosureTooLarge
from progress.effort import TooMuchWork
from progress.errors import brief
from progress.notebook import InNotebooks, Shown
from progress.notification import Proofs
from progress.pointstamp import Pointstamp
from progress.topology import NO_NODE, Network
from progress.tracking.leading_to import LeadingTo
from progress.way import Way
from progress.wording import plural

if TYPE_CHECKING:
    from progress.tracking.own_relation import Workings
    from progress.tracking.waiting import Lying

Show = Callable[[Any], str]  # how a name or a time is written
MOST_SAID = 10  # waits, one by one


class Holder:
    """An outstanding pointstamp that holds requests: what it is ("input", "message" or "request"), how many it holds.

    `count` says how many messages lie there, `holds` how many requests it holds; None where that was not counted.
    """

    def __init__(self, network: Network, lying: Lying, holds: int | None, closure: Closure | None) -> None:
        self.pointstamp = Pointstamp(network.name(lying.location), lying.time)
        self.kind = lying.kind
        self.count = lying.many
        self.holds = holds
        self._lying = lying
        self._closure = closure

    def __repr__(self) -> str:
        return f"Holder({self.kind} {brief(self.pointstamp.location)} at {brief(self.pointstamp.time)})"


class LetGo(NamedTuple):
    """What has to happen to a holder before it lets a request go.

    `do` is "close": the input `location`, open at `time`, has to be closed, or moved past all of `past`. These are the
    latest times there that lead to the request; None where they are not known, empty where only closing helps.
    "take": the node `node` has to take the messages on the edge `location`. "deliver": the notification that the node
    asked for is ready, and has to be delivered. "mend": the request waits for itself, on a cycle that does not advance.
    """

    do: str
    location: str
    time: Any
    node: str | None = None
    messages: int = 0
    past: tuple[Any, ...] | None = None


class Wait:
    """A request that is blocked.

    `steps` were taken since it was asked for; `since` is the time of day then and `age` the seconds since, where the
    tracker has a clock. `held_by` counts the pointstamps that hold it and that nothing else outstanding could result
    in: when all of them have let it go, and what they result in meanwhile, it is ready.
    """

    def __init__(self, request: Pointstamp, steps: int, since: float | None, age: float | None, about: About) -> None:
        self.request = request
        self.steps = steps
        self.since = since
        self.age = age
        self.held_by: int | None = None
        self._about = about
        self._holder: Holder | None = None

    @property
    def network(self) -> Network:
        """The graph in which it waits."""
        return self._about.network

    def hold(self, holder: Holder, often: int) -> None:
        """Enter who was found to hold it most."""
        self._holder, self.held_by = holder, often

    @property
    def by(self) -> Holder | None:
        """Who, of those that hold it, holds most; None only where finding anyone would take too long (PS604).

        Cost: O(1), or a search backwards where there were too many to be found all at once.
        """
        return self._holder or self._late

    @cached_property
    def _late(self) -> Holder | None:
        about, network = self._about, self._about.network
        try:
            every = [(each.location, each.time, each.kind) for each in about.lying]
            found = about.workings.blockers(about.goals(self.request), self.request.time, every)
        except (TooMuchWork, ClosureTooLarge):
            return None
        if not found:
            return None
        where, kind = found[0].pointstamp, found[0].kind
        number = network.number(where.location)
        lying = next(each for each in about.lying if each[:3] == (number, where.time, kind))
        holder = Holder(network, lying, None, None)
        self._way = Way(found[0].proof, found[0].folds)
        return holder

    @cached_property
    def way(self) -> Way:
        """The way from the holder to an incoming edge of the request's node. Cost: O(its length)."""
        holder = self.by
        if holder is None or holder._closure is None:
            return getattr(self, "_way", Way(()))
        for goal in self._about.goals(self.request):
            found = holder._closure.way(goal, self.request.time)
            if found is not None:
                return self._about.proofs.over_distinct_locations(found)
        raise AssertionError(f"{holder} does not hold {self.request}")

    @property
    def proof(self) -> tuple[Pointstamp, ...]:
        """The pointstamps of `way`."""
        return self.way.proof

    @cached_property
    def let_go(self) -> LetGo | None:
        """What would have to happen. Cost: of an input, a search backwards over the locations that lead there."""
        holder, network = self.by, self._about.network
        if holder is None:
            return None
        location, time = holder.pointstamp
        if holder.kind == "message":
            target = network.targets[network.number(location) - len(network.nodes)]
            node = None if target == NO_NODE else network.nodes[target]
            return LetGo("take", location, time, node, holder.count)
        if holder.kind == "request":
            do = "mend" if holder.pointstamp in self._about.blocked else "deliver"
            return LetGo(do, location, time, location)
        past: tuple[Any, ...] | None = None
        if network.relation is None:
            leading = LeadingTo(network, self._about.goals(self.request), self.request.time)
            if leading.known:
                past = tuple(until for until in leading.latest(network.number(location)) if not _is_endless(until))
        return LetGo("close", location, time, None, 0, past)

    def __repr__(self) -> str:
        return f"Wait({brief(self.request.location)} at {brief(self.request.time)})"

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, show: Show = brief) -> str:
        """All of it in one sentence."""
        node, time = self.request
        waited = f"{self.steps} {plural(self.steps, 'step')}" if self.age is None else for_seconds(self.age)
        holder, let_go = self.by, self.let_go
        begin = f"{show(node)} at {show(time)} has waited {waited}"
        if holder is None or let_go is None:
            return f"{begin}; finding who holds it would take too long"
        holds = "" if (holder.holds or 0) < 2 else f", holding {holder.holds} requests"
        more = (self.held_by or 1) - 1
        others = f"; {more} {'others hold' if more > 1 else 'other holds'} it as well" if more else ""
        return f"{begin} for {_what(let_go, show)}{holds}: {_how(let_go, show)}{others}"


class About:
    """What the waits of one moment have in common."""

    def __init__(self, network: Network, workings: Workings, lying: Sequence[Lying]) -> None:
        self.network = network
        self.workings = workings
        self.lying = lying
        self.blocked: frozenset[Pointstamp] = frozenset()

    @cached_property
    def proofs(self) -> Proofs:
        """What makes proofs of ways, within one budget."""
        return Proofs(self.network)

    def goals(self, request: Pointstamp) -> list[int]:
        """The incoming edges of a request's node."""
        network = self.network
        return [len(network.nodes) + edge for edge in network.incoming[network.number(request.location)]]


class Waits(InNotebooks):
    """All requests that wait, oldest first: a sequence of `Wait`.

    `ready` counts the requests that wait for nothing but their delivery, `steps` all steps that were taken. `is_whole`
    says whether all that each holder holds was counted.
    """

    def __init__(self, waits: Sequence[Wait], ready: int, steps: int, is_whole: bool) -> None:
        self._waits = waits
        self.ready = ready
        self.steps = steps
        self.is_whole = is_whole

    def __len__(self) -> int:
        return len(self._waits)

    def __iter__(self) -> Iterator[Wait]:
        return iter(self._waits)

    def __getitem__(self, place: int) -> Wait:
        return self._waits[place]

    def of(self, node: str, time: Any) -> Wait | None:
        """The wait of one request; None where it does not wait."""
        return next((wait for wait in self._waits if wait.request == (node, time)), None)

    def __repr__(self) -> str:
        return f"Waits({len(self)} blocked, {self.ready} ready)"

    def __str__(self) -> str:
        return "\n".join(self.sentences()) or "nothing waits"

    def _shown(self) -> Shown:
        title = f"requests that wait: {len(self)}; that are ready: {self.ready}"
        rows = [(each,) for each in self.sentences()]
        if not self._waits:
            return Shown(title)
        oldest = self._waits[0]
        return Shown(title, ("the oldest first",), rows, oldest.network, way=[place for place, _ in oldest.proof])

    def sentences(self) -> list[str]:
        """The oldest ones, each in one sentence, and how many more there are."""
        found = [wait.sentence() for wait in self._waits[:MOST_SAID]]
        return [*found, f"and {len(self) - MOST_SAID} more"] if len(self) > MOST_SAID else found


# --- words ------------------------------------------------------------------------------------------------------------


def for_seconds(seconds: float) -> str:
    """How long something takes, as people say it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 86400 else f"{seconds / 86400:.1f} days"


def _what(let_go: LetGo, show: Show) -> str:
    place, time = show(let_go.location), show(let_go.time)
    if let_go.do == "close":
        return f"the input {place}, open at {time}"
    if let_go.do == "take":
        return f"{let_go.messages} {plural(let_go.messages, 'message')} at {time} on {place}"
    if let_go.do == "deliver":
        return f"the notification of {place} at {time}, now ready"
    return f"the request of {place} at {time}, waiting for itself"


def _how(let_go: LetGo, show: Show) -> str:
    if let_go.do == "close":
        if let_go.past is None:
            return "moving it on or closing it lets go"
        if not let_go.past:
            return "closing it lets go"
        return f"moving it past {' and '.join(map(show, let_go.past))} or closing it lets go"
    if let_go.do == "take":
        return f"taking {'it' if let_go.messages == 1 else 'them'} at {show(let_go.node)} lets go"
    if let_go.do == "deliver":
        return "delivering it lets go"
    return "nothing lets go until the cycle advances, see `pointstamp check`"


def _is_endless(time: Any) -> bool:
    """Whether every coordinate is unbounded, so that all times lead there."""
    return all(map(_is_endless, time)) if isinstance(time, tuple) else time == inf
