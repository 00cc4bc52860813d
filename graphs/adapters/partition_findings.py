"""What is said of assets with partitions: a finding for each fault, with partitions in the tool's words.

PS921: following what a partition needs leads back to it, or to a later one. PS922: it needs some that will never be
there. PS923: it is run for before what it needs is complete. PS924: it was left out, and nothing comes back to it.
PS925: there is no fault, but the tool will not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from graphs.adapters import Finding
from graphs.adapters.partitions import MOST_SHOWN, MOST_WALKS, Need, Partitioned, Timeline, check_asset, cycles, listed


def cycle_findings(graph: Timeline, refuses: str, hint: Callable[[Sequence[Need]], str]) -> Iterator[Finding]:
    """A finding for each cycle that does not go back in time; of one that does, that the tool refuses it.

    `refuses`: the tool, where it refuses all cycles of several assets. `hint`: what would mend a walk.

    Returns
    -------
    The findings, as they are read.

    Examples
    --------
    >>> from graphs.adapters.partition_findings import cycle_findings
    >>> from graphs.adapters.partitions import Need, Needs
    >>> class Days:
    ...     def assets(self):
    ...         return ["raw", "total"]
    ...
    ...     def check_key(self, asset, key):
    ...         pass
    ...
    ...     def needs(self, asset, key):
    ...         before = [Need("total", key)]
    ...         return Needs([Need("raw", key), *before] if asset == "total" else [])
    ...
    ...     def ways(self):
    ...         return [("raw", "total"), ("total", "total")]
    ...
    ...     def samples(self, component):
    ...         return [Need(asset, "2") for asset in component]
    ...
    ...     def moment(self, need):
    ...         return int(need.key)
    >>> [finding.message for finding in cycle_findings(Days(), "", lambda walk: "")]
    ['total[2] needs total[2]: it waits for itself']
    """
    for cycle in cycles(graph):
        names = " and ".join(cycle.assets) if len(cycle.assets) < 3 else f"{len(cycle.assets)} assets"
        if cycle.walk:
            walk = cycle.walk
            begin, end = walk[0], walk[-1]
            after = "which needs itself" if begin.key == end.key else f"a later partition of {end.asset}, without end"
            chain = ", which needs ".join(map(str, walk[1:5])) + (", ..." if len(walk) > 5 else "")
            told = f"{begin} needs {chain}: {'it waits for itself' if begin.key == end.key else after}"
            steps = [[need.asset, need.key, "" if number == 0 else "needed"] for number, need in enumerate(walk)]
            witness = {"assets": list(cycle.assets), "walks": [steps]}
            yield Finding("PS921", told, hint(walk), witness)
        elif not cycle.judged:
            told = f"{names} need each other; the first {MOST_WALKS:,} mappings of partitions move back in time"
            yield Finding("PS921", f"{told}, and more were not looked at", "", {"assets": list(cycle.assets)}, "note")
        elif refuses and len(cycle.assets) > 1:
            told = (
                f"{names} need each other's earlier partitions: each cycle goes back in time, yet {refuses} refuses it"
            )
            right = (
                "make them outputs of one asset definition that depends on itself, or read the earlier one from storage"
            )
            yield Finding("PS925", told, right, {"assets": list(cycle.assets)})


def never_complete(target: Need, missing: Sequence[Need], says: str, whole: bool, what: str, hint: str) -> Finding:
    """`target` needs partitions that will never be there; `says` of which others this is so, `whole`: of all."""
    told = f"{target} needs {listed(missing)}, {what}: {says}"
    steps = [[target.asset, target.key], *([need.asset, need.key, "never comes"] for need in missing[:MOST_SHOWN])]
    witness = {"partition": [target.asset, target.key], "never": [list(need) for need in missing], "walks": [steps]}
    return Finding("PS922", told, hint, witness, None if whole else "warning")


def runs_early(target: Need, missing: Sequence[Need], who: str, now: str, then: str, hint: str) -> Finding:
    """`who` asks for `target` at `now`, and some of what it needs is not there before `then`."""
    do = "does" if len(missing) == 1 else "do"
    told = f"{who} runs {target} from {now} on, when {listed(missing)} {do} not exist yet; the last comes at {then}"
    steps = [[target.asset, target.key, f"runs from {now} on"]]
    steps += [[need.asset, need.key, "does not exist yet"] for need in missing[:MOST_SHOWN]]
    witness = {"partition": [target.asset, target.key], "missing": [list(need) for need in missing], "walks": [steps]}
    return Finding("PS923", told, hint, witness)


def gap_findings(
    graph: Partitioned,
    have: Mapping[str, Sequence[str | None]],
    order: Callable[[str, Sequence[str | None]], Sequence[str]],
) -> Iterator[Finding]:
    """For each asset the partitions that have not materialised between ones that have. `order`: the keys of
    an asset in the order of time, as far as the last of these."""
    for asset, keys in have.items():
        check_asset(graph, asset)
        for key in keys:
            graph.check_key(asset, key)
        there = set(keys)
        known = order(asset, keys) if there else ()
        places = [place for place, key in enumerate(known) if key in there]
        if not places:
            continue
        gaps = [Need(asset, key) for key in known[places[0] : places[-1]] if key not in there]
        if gaps:
            yield gap(gaps, known[places[-1]], "materialise them: a backfill of these partitions")


def gap(gaps: Sequence[Need], later: str, hint: str) -> Finding:
    """Partitions that were left out, although `later` has been made."""
    told = f"{listed(gaps)} {'was' if len(gaps) == 1 else 'were'} left out, and {gaps[0].asset} goes on at {later}"
    steps = [[need.asset, need.key, "left out"] for need in gaps[:MOST_SHOWN]]
    witness = {"missing": [list(need) for need in gaps], "walks": [[*steps, [gaps[0].asset, later, "materialised"]]]}
    return Finding("PS924", told, hint, witness)
