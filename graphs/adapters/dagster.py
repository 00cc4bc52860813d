"""Dagster assets with partitions: `pointstamp check --from dagster module:defs`, `complete --from dagster` (1.13).

Which partitions of an input a partition needs is asked of Dagster's own mappings, at a moment so late that all of them
exist: what can never exist then, never will. Edges that have the same two definitions of partitions and the same
mapping are asked once. Nothing of a user's assets is run, and no instance is needed; partitions that live in one
(`DynamicPartitionsDefinition`) and mappings of a user's own that need one are said to be unknown.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

import dagster
from dagster._core.definitions.partitions.context import partition_loading_context

from graphs.adapters import Finding, Found
from graphs.adapters.dagster_partitions import (
    as_key,
    asked,
    calendar,
    ends,
    exists_from,
    far,
    key_at,
    keys_from,
    late,
    length,
    looks_for_missing,
    same,
    span,
    step,
    turning_point,
)
from graphs.adapters.partition_findings import cycle_findings, gap_findings, never_complete, runs_early
from graphs.adapters.partitions import Need, Needs
from graphs.adapters.target import load, users_code
from graphs.graph import Graph
from progress.errors import PointstampError, brief

MOST_SAMPLES = 400  # partitions of each asset on a cycle that joins different calendars


def read(target: str, have: Any = None) -> Found:
    """What `check --from dagster` says of `module:defs`; `have`, where it is given, is what has materialised."""
    assets = partitions(target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Found(
            assets.graph(), list(assets.findings(have or {})), assets.unknown(), told=("PS201", "PS202", "PS301")
        )


def partitions(target: str) -> Assets:
    """The assets of a `Definitions`, or of a function that gives one."""
    given = load(target)
    with users_code(target), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dagster says on each start which of its parts are in beta
        if callable(given) and not isinstance(given, dagster.AssetsDefinition):
            given = given()
        if isinstance(given, (dagster.AssetsDefinition, dagster.AssetSpec)):
            given = [given]
        if type(given) in (list, tuple):  # much that Dagster has is a tuple as well
            given = dagster.Definitions(assets=given)
        if not hasattr(given, "resolve_asset_graph"):
            said = f"{brief(target)} is {type(given).__name__}"
            raise PointstampError("PS903", said, "a Definitions, a function that gives one, or a list of assets")
        return Assets(given.resolve_asset_graph())


class Assets:
    """An asset graph of Dagster; names are those that Dagster shows (`prefix/name`)."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._keys = {key.to_user_string(): key for key in sorted(graph.get_all_asset_keys())}
        self._nodes = {name: graph.get(key) for name, key in self._keys.items()}
        self._mapping: dict[tuple[str, str], Any] = {}
        self._shared: dict[Any, Any] = {}
        for name, node in self._nodes.items():
            for key in sorted(node.parent_keys):
                self._mapping[key.to_user_string(), name] = graph.get_partition_mapping(node.key, key)

    def assets(self) -> Sequence[str]:
        return list(self._keys)

    def ways(self) -> Iterable[tuple[str, str]]:
        return self._mapping

    @cached_property
    def _inputs(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self._keys}
        for head, tail in self._mapping:
            found[tail].append(head)
        return found

    # --- partitions --------------------------------------------------------------------------------------------------

    def definition(self, asset: str) -> Any:
        return self._nodes[asset].partitions_def

    def check_key(self, asset: str, key: str | None) -> None:
        definition = self.definition(asset)
        if definition is None or key is None:
            if definition is not None or key is not None:
                has = "has partitions" if key is None else "has no partitions"
                right = f"{asset}={self._example(definition)}" if key is None else asset
                raise PointstampError("PS926", f"{brief(asset)} {has}", right)
        elif not isinstance(definition, dagster.DynamicPartitionsDefinition):
            with partition_loading_context(late(definition, key), None):
                if not definition.has_partition_key(as_key(definition, key)):
                    said = f"{brief(asset)} has no partition {brief(key)}"
                    raise PointstampError("PS926", said, f"like {brief(self._example(definition))}")

    @staticmethod
    def _example(definition: Any) -> str:
        if isinstance(definition, dagster.DynamicPartitionsDefinition):
            return "PARTITION"
        keys = definition.get_partition_keys(current_time=far(definition))
        return str(keys[0]) if keys else "(it has none)"

    def needs(self, asset: str, key: str | None) -> Needs:
        exist: list[Need] = []
        never: list[Need] = []
        unknown: list[str] = []
        for parent in self._inputs[asset]:
            keys, missing = self._upstream(parent, asset, key)
            if keys is None:
                unknown.append(f"which partitions of {parent} {Need(asset, key)} needs is known to Dagster alone")
                continue
            exist += [Need(parent, each) for each in keys]
            never += [Need(parent, each) for each in missing]
        return Needs(exist, never, unknown)

    def _upstream(
        self, parent: str, asset: str, key: str | None, now: datetime | None = None
    ) -> tuple[list[str | None] | None, list[str]]:
        """The partitions of an input that one partition needs, and those of them that can never exist."""
        up, down, mapping = self.definition(parent), self.definition(asset), self._mapping[parent, asset]
        if up is None:
            return [None], []
        place = (same(up), same(down), same(mapping), key, now)
        if place not in self._shared:
            self._shared[place] = asked(mapping, up, down, key, now)
        found: tuple[list[str | None] | None, list[str]] = self._shared[place]
        return found

    # --- cycles ------------------------------------------------------------------------------------------------------

    def samples(self, component: Sequence[str]) -> Iterable[Need]:
        """Where all assets share one calendar one partition is like the other; else many are looked at."""
        calendars = {calendar(self.definition(asset)) for asset in component}
        for asset in component:
            definition = self.definition(asset)
            if definition is None or isinstance(definition, dagster.DynamicPartitionsDefinition):
                yield Need(asset, None if definition is None else "any")
                continue
            keys = self._some_keys(definition)
            begin = min(len(keys) // 3, 60)  # away from the first ones, which nothing comes before
            count = 2 if len(calendars) == 1 and isinstance(definition, dagster.TimeWindowPartitionsDefinition) else 0
            yield from (Need(asset, key) for key in keys[begin : begin + (count or MOST_SAMPLES)])

    def moment(self, need: Need) -> Any:
        definition = self.definition(need.asset)
        if isinstance(definition, dagster.TimeWindowPartitionsDefinition) and need.key is not None:
            return definition.time_window_for_partition_key(need.key).end.timestamp()
        if isinstance(definition, dagster.MultiPartitionsDefinition) and need.key is not None:
            parts = dict(definition.get_partition_key_from_str(need.key).keys_by_dimension)
            for dimension in definition.partitions_defs:
                if isinstance(dimension.partitions_def, dagster.TimeWindowPartitionsDefinition):
                    window = dimension.partitions_def.time_window_for_partition_key(parts.pop(dimension.name))
                    return window.end.timestamp(), tuple(sorted(parts.items()))
        return 0, need.key

    # --- what is said ------------------------------------------------------------------------------------------------

    def findings(self, have: dict[str, Sequence[str | None]]) -> Iterator[Finding]:
        yield from cycle_findings(self, refuses="Dagster", hint=lambda walk: _later(self, walk))
        said: set[Any] = set()
        for (parent, asset), mapping in self._mapping.items():
            up, down = self.definition(parent), self.definition(asset)
            if not isinstance(down, dagster.TimeWindowPartitionsDefinition) or up is None:
                continue
            place = (same(up), same(down), same(mapping))
            waits = looks_for_missing(self._nodes[asset].automation_condition)
            if (place, waits) in said:
                continue
            finding = self._never(parent, asset) or (self._early(parent, asset) if waits else None)
            if finding is None:
                said.add((place, waits))  # nothing is to be said of those that are like it
            else:
                yield finding
        yield from gap_findings(self, have, self._between)

    def _some_keys(self, definition: Any) -> list[str]:
        if not isinstance(definition, dagster.TimeWindowPartitionsDefinition):
            return [str(key) for key in definition.get_partition_keys(current_time=far(definition))]
        until = definition.start + (MOST_SAMPLES + 60) * step(definition)
        return keys_from(definition, definition.start, min(until, definition.end or until))

    def _between(self, asset: str, keys: Sequence[str | None]) -> Sequence[str]:
        """The partitions of an asset from the first of these keys to the last, in the order of time."""
        definition = self.definition(asset)
        if not isinstance(definition, dagster.TimeWindowPartitionsDefinition):
            return ()
        windows = [definition.time_window_for_partition_key(key) for key in keys if key]
        return keys_from(definition, min(each.start for each in windows), max(each.end for each in windows))

    def _never(self, parent: str, asset: str) -> Finding | None:
        """Partitions that need some that can never exist: before the input begins, or after it ends."""
        up, down = self.definition(parent), self.definition(asset)
        starts = [each.start for each in (up, down) if hasattr(each, "start")]
        limits = [each.end for each in (up, down) if getattr(each, "end", None)]
        found = ends(down, max([*starts, *limits]) + 60 * step(down))
        if found is None:
            return None
        first, last = found

        def lacks(moment: datetime) -> list[str]:
            return self._upstream(parent, asset, key_at(down, moment))[1]

        if not lacks(first) and not lacks(last):
            return None
        overlap = max([first, *(each for each in starts if each <= last)]), min([last, *limits])
        middle = overlap[0] + (overlap[1] - overlap[0]) / 2 if overlap[0] <= overlap[1] else first
        hint = "or say allow_nonexistent_upstream_partitions=True in the mapping"
        shown = key_at(down, first)
        if whole := bool(lacks(first) and lacks(last) and lacks(middle)):
            says = "no partition of it can ever be complete"
            hint = f"let the partitions of {parent} ({span(up)}) cover those of {asset} ({span(down)}), {hint}"
        elif lacks(first):
            key = key_at(down, turning_point(lambda moment: not lacks(moment), first, middle))
            says, hint = f"its partitions before {key} can never be complete", f"let {asset} start at {key}, {hint}"
        else:
            shown = key_at(down, turning_point(lambda moment: bool(lacks(moment)), middle, last))
            says = f"its partitions from {shown} on can never be complete"
            hint = f"let {asset} end at {shown}, as {parent} does, {hint}"
        missing = [Need(parent, each) for each in self._upstream(parent, asset, shown)[1]]
        return never_complete(Need(asset, shown), missing, says, whole, "partitions that will never exist", hint)

    def _early(self, parent: str, asset: str) -> Finding | None:
        """A partition that exists, and is run for, before partitions of its input that it needs exist."""
        up, down = self.definition(parent), self.definition(asset)
        if not isinstance(up, dagster.TimeWindowPartitionsDefinition):
            return None
        begin = max(up.start, down.start)
        found = ends(down, begin + 60 * step(down))
        if found is None or begin > found[1]:
            return None
        middle = begin + (found[1] - begin) / 2
        for key in keys_from(down, middle, middle + 4 * step(down))[:3]:
            now = exists_from(down, key)
            there, never = self._upstream(parent, asset, key)
            early, not_yet = self._upstream(parent, asset, key, now)
            if there is None or early is None or never:
                return None
            missing = [Need(parent, each) for each in there if each not in early]
            if missing and not_yet:
                label = self._nodes[asset].automation_condition.get_label() or "its automation condition"
                offset = _enough(self, parent, asset, key)
                hint = f"let the partitions of {asset} exist as late as their inputs"
                hint += f": end_offset={offset}" if offset is not None else ""
                last = max(exists_from(up, str(need.key)) for need in missing)
                return runs_early(Need(asset, key), missing, label, _said(now), _said(last), hint)
        return None

    def unknown(self) -> list[str]:
        dynamic = [n for n in self._keys if isinstance(self.definition(n), dagster.DynamicPartitionsDefinition)]
        return [f"which partitions {name} has: they are added while Dagster runs" for name in dynamic]

    def graph(self) -> Graph:
        """Assets as nodes; times are the numbers of partitions in their calendar; elsewhere there is one time."""
        graph = Graph(time="nat")
        emits: dict[str, dict[str, Any]] = {}
        for (parent, asset), mapping in self._mapping.items():
            if parent != asset:
                emits.setdefault(parent, {})[f"{parent}->{asset}"] = _summary(self, parent, asset, mapping)
        for name in self._keys:
            time = "nat" if calendar(self.definition(name)) else "unit"
            graph.node(name, time=time, emits=emits.get(name))
        for parent, asset in self._mapping:
            if parent != asset:
                graph.edge(parent, asset)
        return graph


def _enough(assets: Assets, parent: str, asset: str, key: str) -> int | None:
    """The greatest `end_offset` of the asset with which this partition exists as late as all that it needs."""
    down, up = assets.definition(asset), assets.definition(parent)
    keys, _ = assets._upstream(parent, asset, key)
    wanted = max(exists_from(up, str(each)) for each in keys or ())
    moment = exists_from(down, key)
    for more in range(1, 32):
        window = down.get_next_partition_window(moment - timedelta(minutes=1), respect_bounds=False)
        moment = window.end + timedelta(minutes=1)
        if moment >= wanted:
            return int(down.end_offset - more)
    return None


def _said(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _later(assets: Assets, walk: Sequence[Need]) -> str:
    """The smallest change: one dependency of the cycle goes back as far as the others do not."""
    steps = list(pairwise(walk))
    mappings = [assets._mapping[needed.asset, need.asset] for need, needed in steps]
    offsets = [
        mapping.end_offset if isinstance(mapping, dagster.TimeWindowPartitionMapping) else 0 for mapping in mappings
    ]
    lengths = [length(assets.definition(need.asset), need.key) for need, _ in steps]
    place = max(range(len(steps)), key=lambda number: (lengths[number], offsets[number]))  # the coarsest one's offsets
    back = -1 - (sum(offsets) - offsets[place] if len(set(lengths)) == 1 else 0)
    need, needed = steps[place]
    if not lengths[place]:
        return (
            f"let {need.asset} not need {needed.asset}, or give both partitions in time and let it need an earlier one"
        )
    mending = f"TimeWindowPartitionMapping(start_offset={min(back, -1)}, end_offset={min(back, -1)})"
    return f"let {need.asset} need an earlier partition of {needed.asset}: {mending}"


def _summary(assets: Assets, parent: str, asset: str, mapping: Any) -> Any:
    up, down = assets.definition(parent), assets.definition(asset)
    if not calendar(down):
        return {"constant": None} if calendar(up) else "identity"
    if not calendar(up):
        return {"constant": 0}
    if calendar(up) == calendar(down) and up.start == down.start:
        if isinstance(mapping, dagster.TimeWindowPartitionMapping):
            return {"advance": -mapping.end_offset}
        if isinstance(mapping, dagster.IdentityPartitionMapping):
            return "identity"
    return _ByMapping(assets, parent, asset)


class _ByMapping:
    """A summary between calendars that differ: the first partition that needs this one, by Dagster's own mapping."""

    def __init__(self, assets: Assets, parent: str, asset: str) -> None:
        self._assets, self._parent, self._asset = assets, parent, asset

    def apply(self, time: Any) -> tuple[int, ...]:
        up, down = self._assets.definition(self._parent), self._assets.definition(self._asset)
        end = up.start + (min(time, 100_000) + 1) * step(up)  # the last moment that lies in this partition
        until = max(end, down.start) + 100 * step(down)

        def needed(moment: datetime) -> bool:
            keys, _ = self._assets._upstream(self._parent, self._asset, key_at(down, moment))
            latest = [up.time_window_for_partition_key(str(key)).end for key in keys or ()]
            return keys is None or (bool(latest) and max(latest) >= end)

        if needed(down.start):
            return (0,)
        first = turning_point(needed, down.start, until)
        return (len(keys_from(down, down.start, first)),)
