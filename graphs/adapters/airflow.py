"""Airflow assets with partitions: `pointstamp check --from airflow dags.py`, `complete --from airflow` (3.3).

Airflow accepts every pair of a mapper and a window. Whether the two fit is decided key by key, with the scheduler's own
classes: a key that a partition waits for has to be routed back to it (`to_upstream` and `to_downstream` are inverse);
where the Dag that makes an asset is there, too, its timetable has to make the key; and what is routed to a partition
should be waited for. Keys are those of a spring, an autumn and, where they are rare, two years, days on which clocks
change among them. No database and no scheduler is needed, and no task is run.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

if "AIRFLOW_HOME" not in os.environ and not (Path.home() / "airflow").exists():  # importing it writes a configuration
    os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="pointstamp-airflow-")
    atexit.register(shutil.rmtree, os.environ["AIRFLOW_HOME"], ignore_errors=True)

from airflow.partition_mappers.base import RollupMapper
from airflow.partition_mappers.temporal import FanOutMapper
from airflow.sdk.definitions._internal.contextmanager import DagContext
from airflow.serialization.decoders import decode_partition_mapper, decode_timetable
from airflow.serialization.encoders import encode_partition_mapper, encode_timetable

from graphs.adapters import Finding, Found
from graphs.adapters.airflow_mappers import NONE_AT_ALL, down, judged, sampled
from graphs.adapters.partition_findings import gap_findings, never_complete
from graphs.adapters.partitions import Need, Needs
from graphs.adapters.target import load, load_module
from graphs.graph import Graph
from progress.component import together
from progress.errors import PointstampError, brief

MOST_KEYS = 1500  # of each stretch of time
STRETCHES = (datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 10, 19, tzinfo=UTC))  # clocks change within both
YEARS = timedelta(days=730)
OFFSET = "a producer that writes another offset is never matched"


def read(target: str, have: Mapping[str, Sequence[str | None]] | None = None) -> Found:
    """What `check --from airflow` says of the Dags of a module; `have`, where it is given, is which keys there are."""
    dags = partitions(target)
    return Found(dags.graph(), list(dags.findings(have or {})), dags.unknown(), told=("PS201", "PS202", "PS301"))


def partitions(target: str) -> Dags:
    """The Dags that importing a module, or a file, makes; of `module:dag` that one alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, DagContext.current_autoregister_module_name = DagContext.current_autoregister_module_name, __name__
        DagContext.autoregistered_dags.clear()
        try:
            if ":" in target:
                one = load(target)
                found = {one.dag_id: one} if hasattr(one, "dag_id") else {}
            else:
                module = load_module(target)
                made = {dag.dag_id: dag for dag, _ in DagContext.autoregistered_dags}
                found = _MADE.setdefault(module.__name__, made)
        finally:
            DagContext.current_autoregister_module_name = before
            DagContext.autoregistered_dags.clear()
        if not found:
            raise PointstampError("PS903", f"there is no Dag in {brief(target)}", "file.py, a module, or module:dag")
        return Dags([found[name] for name in sorted(found)])


_MADE: dict[str, dict[str, Any]] = {}  # the Dags that importing a module has made: a second import makes none


class Dags:
    """Dags and assets; where both have one name, as what `@asset` makes, the asset has it."""

    def __init__(self, dags: Sequence[Any]) -> None:
        self._inputs: dict[str, dict[str, Any]] = {}  # each Dag: its assets with their mappers; None: not to be read
        self._all: dict[str, bool] = {}  # each Dag: whether it waits for all of its assets
        self._makers: dict[str, list[str]] = {}  # each asset: the Dags that make it
        self._timetables: dict[str, Any] = {}
        self._known: dict[str, list[str] | None] = {}
        for dag in dags:
            name, timetable = dag.dag_id, dag.timetable
            self._timetables[name] = timetable
            condition = getattr(timetable, "asset_condition", None)
            leaves = list(_leaves(condition)) if condition is not None else []
            self._all[name] = not _has_any(condition)
            self._inputs[name] = {asset: _mapper(timetable, leaf) for asset, leaf in leaves}
            for task in dag.tasks:
                for outlet in task.outlets:
                    self._makers.setdefault(_name(outlet), []).append(name)

    def assets(self) -> Sequence[str]:
        names = [*self._makers, *(asset for inputs in self._inputs.values() for asset in inputs), *self._inputs]
        return list(dict.fromkeys(names))

    def check_key(self, asset: str, key: str | None) -> None:
        inputs = self._inputs.get(asset, {})
        for mapper in inputs.values():
            if isinstance(mapper, RollupMapper) and key is not None:
                try:
                    mapper.to_upstream(key)
                except ValueError:
                    like = next(iter(self._keys_at(asset) or ()), "a key as its mapper writes it")
                    said = f"{brief(asset)} has no partition {brief(key)}"
                    raise PointstampError("PS926", said, f"like {brief(like)}") from None
        if key is None and inputs and self._partitioned(asset):
            raise PointstampError("PS926", f"{brief(asset)} has partitions", f"{asset}=PARTITION")

    def _partitioned(self, dag: str) -> bool:
        return hasattr(self._timetables[dag], "partition_mapper_config")

    def needs(self, asset: str, key: str | None) -> Needs:
        """Of a Dag: the keys of its assets that a run for this key waits for."""
        exist: list[Need] = []
        never: list[Need] = []
        unknown: list[str] = []
        for parent, mapper in self._inputs.get(asset, {}).items():
            if key is None or mapper is None or not self._all[asset]:
                unknown.append(f"which partitions of {parent} {Need(asset, key)} needs is decided by Airflow in a run")
                continue
            if isinstance(mapper, RollupMapper):
                wanted = sorted(mapper.to_upstream(key))
            else:
                known = self._keys_of(parent)
                wanted = [each for each in dict.fromkeys(known or ()) if key in down(mapper, each)]
                if type(mapper).__name__ == "IdentityMapper":
                    wanted = [key]
                if not wanted:
                    unknown.append(f"which partition of {parent} becomes {Need(asset, key)} depends on who makes it")
            for each in wanted:
                (exist if key in down(mapper, each) else never).append(Need(parent, each))
        return Needs(exist, never, unknown)

    # --- keys --------------------------------------------------------------------------------------------------------

    def _keys_of(self, asset: str) -> list[str] | None:
        """The keys that the makers of an asset write, in the order of time; None where they are decided in a run."""
        found: list[str] = []
        for dag in self._makers.get(asset, ()):
            keys = self._keys_at(dag)
            if keys is None:
                return None
            found += keys
        return found or None

    def _keys_at(self, dag: str) -> list[str] | None:
        """The partitions for which a Dag runs."""
        if dag not in self._known:
            self._known[dag] = None  # where Dags wait for each other
            self._known[dag] = self._find_keys(dag)
        return self._known[dag]

    def _find_keys(self, dag: str) -> list[str] | None:
        timetable = self._timetables[dag]
        if type(timetable).__name__ == "CronPartitionTimetable":
            return _ticks(decode_timetable(encode_timetable(timetable)))
        if not self._partitioned(dag):
            return None
        found: list[str] | None = None
        for asset, mapper in self._inputs[dag].items():
            keys = sampled(mapper, self._keys_of(asset)) if mapper is not None else None
            if keys is None:
                return None
            if found is None or not self._all[dag]:
                found = (found or []) + keys
            else:
                found = [key for key in found if key in set(keys)]
        return None if found is None else list(dict.fromkeys(found))

    # --- what is said ------------------------------------------------------------------------------------------------

    def findings(self, have: Mapping[str, Sequence[str | None]]) -> Iterator[Finding]:
        yield from self._cycles()
        for dag, inputs in self._inputs.items():
            if not self._partitioned(dag):
                continue
            said = False
            for asset, mapper in inputs.items():
                if mapper is None:
                    continue
                known = self._keys_of(asset)
                for finding in judged(dag, asset, mapper, known):
                    said = True
                    yield finding
            if not said and self._all[dag] and len(inputs) > 1:
                yield from self._apart(dag)
        yield from gap_findings(self, have, lambda asset, _: self._keys_of(asset) or self._keys_at_if(asset) or ())

    def _keys_at_if(self, name: str) -> list[str] | None:
        return self._keys_at(name) if name in self._inputs else None

    def _apart(self, dag: str) -> Iterator[Finding]:
        """Assets whose keys are mapped to partitions that have none in common, while a Dag waits for all of them."""
        keys = {
            asset: sampled(mapper, self._keys_of(asset)) if mapper is not None else None
            for asset, mapper in self._inputs[dag].items()
        }
        known = {asset: found for asset, found in keys.items() if found}
        first = next(iter(known), None)
        for asset, found in known.items():
            if first is not None and set(found).isdisjoint(known[first]):
                told = f"partitions like {brief(found[0])}, where {first} gives such as {brief(known[first][0])}"
                hint = f"let the mappers of {first} and {asset} write the same keys (output_format)"
                target = Need(dag, known[first][0])
                yield never_complete(
                    target, [Need(asset, "(none)")], NONE_AT_ALL, True, f"since {asset} gives {told}", hint
                )
                return

    def _cycles(self) -> Iterator[Finding]:
        """Dags that wait for what each other makes: no mapper but a fan-out goes back in time."""
        names = dict.fromkeys([*(f"Dag {dag}" for dag in self._inputs), *self._makers])
        ways = [(f"Dag {dag}", asset) for asset, dags in self._makers.items() for dag in dags]
        for dag, inputs in self._inputs.items():
            if self._partitioned(dag):
                ways += [(asset, f"Dag {dag}") for asset, mapper in inputs.items() if _stays(mapper) and asset in names]
        for group in together(names, ways):
            if len(group) > 1:
                walk = _round(group, ways)
                told = (
                    f"{walk[0]} needs "
                    + ", which needs ".join(walk[1:])
                    + ", all at the same partition: it waits for itself"
                )
                hint = f"let {walk[0]} not be scheduled by {walk[1]}, or begin elsewhere: no mapper moves back in time"
                steps = [[name, "the same partition"] for name in walk]
                yield Finding("PS921", told, hint, {"assets": walk, "walks": [steps]})

    def unknown(self) -> list[str]:
        found = []
        for dag, inputs in self._inputs.items():
            for asset, mapper in inputs.items():
                if mapper is None and self._partitioned(dag):
                    found.append(f"which partitions of {asset} Dag {dag} waits for: its mapper is your own code")
                elif isinstance(mapper, RollupMapper) and self._keys_of(asset) is None:
                    upstream = mapper.upstream_mapper
                    if "%z" in getattr(upstream, "input_format", "") and str(upstream._timezone) != "UTC":
                        found.append(
                            f"Dag {dag} waits for keys of {asset} with the offset of {upstream._timezone}: {OFFSET}"
                        )
        return found

    def graph(self) -> Graph:
        """Assets and Dags; a partition stays what it is on every way, so that there is one time."""
        graph = Graph(time="unit")
        ways = [(f"Dag {dag}", asset) for asset, dags in self._makers.items() for dag in dict.fromkeys(dags)]
        ways += [(asset, f"Dag {dag}") for dag, inputs in self._inputs.items() for asset in inputs]
        for name in dict.fromkeys([*(f"Dag {dag}" for dag in self._inputs), *(name for way in ways for name in way)]):
            graph.node(name)
        for head, tail in ways:
            graph.edge(head, tail)
        return graph


def _ticks(timetable: Any) -> list[str]:
    """The keys that a timetable writes: within the stretches, or of two years where these have few."""
    found: list[str] = []
    for begin in STRETCHES:
        stretch = []
        for info in timetable.iter_partition_dagrun_infos(earliest=begin, latest=begin + timedelta(days=62)):
            stretch.append(str(info.partition_key))
            if len(stretch) == MOST_KEYS:
                break
        found += stretch
        if len(stretch) < 100:
            infos = timetable.iter_partition_dagrun_infos(earliest=begin, latest=begin + YEARS)
            return [str(info.partition_key) for info in infos]
    return found


def _mapper(timetable: Any, leaf: Any) -> Any:
    """The scheduler's mapper for an asset; None where it is code of the user's."""
    config = getattr(timetable, "partition_mapper_config", None)
    if config is None:
        return None
    given = next((mapper for key, mapper in config.items() if key == leaf or _name(key) == _name(leaf)), None)
    try:
        return decode_partition_mapper(encode_partition_mapper(given or timetable.default_partition_mapper))
    except Exception:
        return None


def _stays(mapper: Any) -> bool:
    return mapper is not None and not isinstance(mapper, FanOutMapper)


def _name(asset: Any) -> str:
    return str(getattr(asset, "name", None) or getattr(asset, "uri", asset))


def _leaves(condition: Any) -> Iterator[tuple[str, Any]]:
    for part in getattr(condition, "objects", None) or ():
        yield from _leaves(part)
    if not hasattr(condition, "objects"):
        yield _name(condition), condition


def _has_any(condition: Any) -> bool:
    return type(condition).__name__ == "AssetAny" or any(map(_has_any, getattr(condition, "objects", None) or ()))


def _round(group: Sequence[str], ways: Iterable[tuple[str, str]]) -> list[str]:
    """A shortest way round within a component, backwards from what needs to what is needed."""
    inside = set(group)
    before: dict[str, list[str]] = {}
    for head, tail in ways:
        if head in inside and tail in inside:
            before.setdefault(tail, []).append(head)
    start = next(name for name in group if name.startswith("Dag "))
    paths, seen = [[start]], {start}
    for path in paths:
        for each in before[path[-1]]:
            if each == start:
                return [*path, start]
            if each not in seen:
                seen.add(each)
                paths.append([*path, each])
    return [start, start]
