"""What adapters of tools with partitions have in common: assets, their partitions, and which of them need which.

A partition is a time of its asset; a mapping of partitions is a summary, read against the direction of the data: which
partitions of an input one partition of an asset needs. So the questions are those of every graph. May anything at or
before this time still arrive, that is: is what this partition needs complete? Does each cycle move, so that no
partition waits for itself?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from graphs.wording import first_of
from progress.component import together
from progress.errors import PointstampError, brief, one_of

MOST_SHOWN = 5  # names of partitions in one sentence
MOST_WALKS = 30_000  # questions to a mapping that judging the cycles of one graph may take


class Need(NamedTuple):
    """A partition of an asset; None as the key of an asset without partitions.

    Examples
    --------
    >>> from graphs.adapters.partitions import Need
    >>> print(Need("raw", "2026-01-01"), Need("settings", None))
    raw[2026-01-01] settings
    """

    asset: str
    key: str | None

    def __str__(self) -> str:
        return self.asset if self.key is None else f"{self.asset}[{self.key}]"


class Needs(NamedTuple):
    """What a partition is made from: `exist` now or later; `never`: asked for, and there can be no such partition.

    `unknown`: inputs of which only the tool can tell, while it runs, which partitions are needed.

    Examples
    --------
    >>> from graphs.adapters.partitions import Need, Needs
    >>> Needs([Need("raw", "1")]).never
    ()
    """

    exist: Sequence[Need]
    never: Sequence[Need] = ()
    unknown: Sequence[str] = ()


class Partitioned(Protocol):
    """The assets of a tool, as far as partitions are concerned."""

    def assets(self) -> Sequence[str]:
        """The names of all assets."""

    def check_key(self, asset: str, key: str | None) -> None:
        """Raise PS926 where the asset has no such partition."""

    def needs(self, asset: str, key: str | None) -> Needs:
        """What this partition is made from, directly."""


# --- complete? --------------------------------------------------------------------------------------------------------


class Completeness(NamedTuple):
    """Whether all that a partition is made from is there. `complete` is None where nothing is missing but unknown."""

    target: Need
    needed: int
    missing: Sequence[Need]
    never: Sequence[Need]
    unknown: Sequence[str]

    @property
    def complete(self) -> bool | None:
        return False if self.missing or self.never else None if self.unknown else True

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as docs/partitions.md shows it."""
        return {
            "format_version": 1,
            "asset": self.target.asset,
            "partition": self.target.key,
            "complete": self.complete,
            "needed": self.needed,
            "missing": [{"asset": need.asset, "partition": need.key} for need in self.missing],
            "never": [{"asset": need.asset, "partition": need.key} for need in self.never],
            "unknown": list(self.unknown),
        }


def completeness(
    graph: Partitioned, have: Mapping[str, Iterable[str | None]], asset: str, key: str | None
) -> Completeness:
    """Whether the inputs of a partition have all materialised. `have`: the partitions of each asset that have.

    Cost: one question to the mapping of each input.

    Returns
    -------
    What is needed, what of it is missing, and what is not known.

    Raises
    ------
    PointstampError
        PS926 where there is no such asset or partition.

    Examples
    --------
    >>> from graphs.adapters.partitions import Need, Needs, completeness
    >>> class Days:
    ...     def assets(self):
    ...         return ["raw", "total"]
    ...
    ...     def check_key(self, asset, key):
    ...         pass
    ...
    ...     def needs(self, asset, key):
    ...         before = [Need("total", str(int(key) - 1))] if int(key) else []
    ...         return Needs([Need("raw", key), *before] if asset == "total" else [])
    >>> completeness(Days(), {"raw": ["1"]}, "total", "1").missing
    [Need(asset='total', key='0')]
    """
    for name in (asset, *have):
        check_asset(graph, name)
    graph.check_key(asset, key)
    there = {name: set(keys) for name, keys in have.items()}
    needs = graph.needs(asset, key)
    for name in dict.fromkeys(need.asset for need in needs.exist):
        for each in sorted(there.get(name, ()), key=str):
            graph.check_key(name, each)
    missing = [need for need in needs.exist if need.key not in there.get(need.asset, ())]
    return Completeness(Need(asset, key), len(needs.exist) + len(needs.never), missing, needs.never, needs.unknown)


def check_asset(graph: Partitioned, name: str) -> None:
    """Raise PS926 where there is no such asset."""
    if name not in graph.assets():
        raise PointstampError("PS926", f"there is no asset {brief(name)}", one_of(name, graph.assets()))


def listed(needs: Sequence[Need]) -> str:
    """`raw[a], raw[b] and 3 more`."""
    return first_of(needs, MOST_SHOWN)


# --- cycles -----------------------------------------------------------------------------------------------------------


class Timeline(Partitioned, Protocol):
    """A graph of assets whose partitions have an order in time."""

    def ways(self) -> Iterable[tuple[str, str]]:
        """The edges: an input, and an asset that is made from it."""

    def samples(self, component: Sequence[str]) -> Iterable[Need]:
        """Partitions of these assets from which the walks of a cycle begin; enough of them to see all there are."""

    def moment(self, need: Need) -> Any:
        """When a partition ends, to compare with others of its asset; the key itself where it is not a time."""


class Cycle(NamedTuple):
    """Assets that need each other. `walk`: from a partition to one of the same asset that is not earlier, if any.

    `judged`: whether all samples were looked at.
    """

    assets: Sequence[str]
    walk: Sequence[Need]
    judged: bool


def cycles(graph: Timeline) -> Iterator[Cycle]:
    """Each set of assets that need each other, with a walk that does not go back in time.

    Law: following what a partition needs, each return to an asset has to be at an earlier partition of it; else the
    partition waits for itself, or for ever later ones. Mappings keep the order of time, so the latest need at each
    asset is the one to follow. Cost: for each sample at most its component's edges, twice.
    """
    ways = list(graph.ways())
    alone = {head for head, tail in ways if head == tail}
    asked: dict[Need, Sequence[Need]] = {}

    def needs(need: Need) -> Sequence[Need]:
        if need not in asked:
            asked[need] = graph.needs(*need).exist
        return asked[need]

    for component in together(graph.assets(), ways):
        if len(component) == 1 and component[0] not in alone:
            continue
        walk: Sequence[Need] = ()
        judged = True
        for start in graph.samples(component):
            if len(asked) > MOST_WALKS:
                judged = False
                break
            walk = _return(graph, needs, frozenset(component), start)
            if walk:
                break
        yield Cycle(component, walk, judged)


def _return(graph: Timeline, needs: Any, component: frozenset[str], start: Need) -> Sequence[Need]:
    """A walk from a partition to one of its asset at or after it."""
    began = graph.moment(start)
    latest: dict[Any, Any] = {}
    before: dict[Need, Need] = {}
    waiting = [start]
    for _ in range(2 * len(component)):
        following: list[Need] = []
        for need in waiting:
            for each in needs(need):
                if each.asset not in component:
                    continue
                moment = graph.moment(each)
                if each.asset == start.asset and _at_or_after(moment, began):
                    before_start = [each, need]
                    while before_start[-1] != start:
                        before_start.append(before[before_start[-1]])
                    return before_start[::-1]
                place = (each.asset, moment[1]) if isinstance(moment, tuple) else each.asset
                if place not in latest or (latest[place] != moment and _at_or_after(moment, latest[place])):
                    latest[place] = moment
                    before.setdefault(each, need)
                    following.append(each)
        if not following:
            break
        waiting = following
    return ()


def _at_or_after(moment: Any, other: Any) -> bool:
    """Moments are numbers, or pairs of a number and of what is not time; only equal ones of these compare."""
    if isinstance(moment, tuple) and isinstance(other, tuple):
        return moment[1] == other[1] and bool(moment[0] >= other[0])
    return bool(moment >= other) if type(moment) is type(other) else False
