"""dbt models with microbatch: `pointstamp check --from dbt target/manifest.json`, `complete --from dbt` (dbt 1.12).

A manifest is plain JSON, and dbt need not be installed to read it. A run at some moment builds the batch that is open
then, and `lookback` batches before it: a batch is whole when a run comes after its end and before it is out of reach.
When runs took place is not in a manifest: it is given, `--have` a file with `{"runs": ["2026-03-01T12:00", ...]}`; then
batches that were left out, and those that were built for the last time before they were over, are named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphs.adapters import Finding, Found
from graphs.adapters.microbatch import FORMATS, Batches, moved, truncated
from graphs.adapters.partition_findings import gap, never_complete
from graphs.adapters.partitions import MOST_SHOWN, Need, Needs
from graphs.graph import Graph
from graphs.wording import first_of
from progress.errors import PointstampError, brief, one_of, reason_of

MOST_LOOKBACK = 100  # that is looked for as a mending
TIME = "%Y-%m-%dT%H:%M"
RUNS = "runs"  # the key of a list of what has materialised under which the moments of runs stand
YEARS = range(1000, 9000)  # of moments
RIGHT = "the target/manifest.json that dbt parse or dbt build writes"


def read(target: str, have: Mapping[str, Sequence[str | None]] | None = None) -> Found:
    """What `check --from dbt` says of a manifest; `have`, where it is given, is when runs took place."""
    models = partitions(target)
    return Found(models.graph(), list(models.findings(have or {})), models.unknown(), told=("PS201", "PS202", "PS301"))


def partitions(target: str) -> Models:
    """The models of a manifest."""
    try:
        data = json.loads(Path(target).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        what = f"{brief(target)} cannot be read as a manifest: {reason_of(error)}"
        raise PointstampError("PS903", what, RIGHT) from None
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), dict):
        raise PointstampError("PS903", f"{brief(target)} is not a manifest: it has no nodes", RIGHT)
    try:
        return Models(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PointstampError("PS903", f"{brief(target)} is not a manifest of dbt: {error}", RIGHT) from None


class Models:
    """Models by name, or by `package.name` where two packages have one; batches of those that have any."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        nodes = {**manifest["nodes"], **(manifest.get("sources") or {})}
        kinds = ("model", "seed", "snapshot", "source")
        nodes = {place: node for place, node in nodes.items() if node.get("resource_type") in kinds}
        names = [_name(node) for node in nodes.values()]
        self._names = {
            place: _name(node) if names.count(_name(node)) == 1 else f"{node['package_name']}.{_name(node)}"
            for place, node in nodes.items()
        }
        self._batches: dict[str, Batches] = {}
        self._inputs: dict[str, list[str]] = {}
        self._whole: set[tuple[str, str]] = set()  # inputs that are read whole, whatever the batch
        self._sources = {
            self._names[place] for place, node in nodes.items() if node["resource_type"] in ("source", "seed")
        }
        for place, node in nodes.items():
            name, config = self._names[place], node["config"]
            parents = (node.get("depends_on") or {}).get("nodes") or ()
            self._inputs[name] = [self._names[each] for each in dict.fromkeys(parents) if each in self._names]
            micro = config.get("incremental_strategy") == "microbatch" and config.get("batch_size") in FORMATS
            if micro and config.get("begin"):
                begin = truncated(moment(config["begin"]), config["batch_size"])
                self._batches[name] = Batches(config["batch_size"], begin, config.get("lookback") or 0)
            for each in parents:
                timed = each in nodes and nodes[each]["config"].get("event_time")
                if each in nodes and (not micro or not timed or ".render()" in (node.get("raw_code") or "")):
                    self._whole.add((self._names[each], name))

    def assets(self) -> Sequence[str]:
        return list(self._inputs)

    def check_key(self, asset: str, key: str | None) -> None:
        if asset not in self._batches:
            if key is not None:
                raise PointstampError("PS926", f"{brief(asset)} has no batches", asset)
            return
        self._start(asset, key)

    def _start(self, asset: str, key: str | None) -> datetime:
        batches = self._batches[asset]
        try:
            found = in_years(datetime.strptime(key or "", FORMATS[batches.size]))
            start = truncated(found.replace(tzinfo=UTC), batches.size)
        except ValueError:
            start = datetime.min.replace(tzinfo=UTC)
        if start < batches.begin:
            said = f"has no batch {brief(key)}" if key is not None else "has batches"
            first = batches.key(batches.begin)
            raise PointstampError("PS926", f"{brief(asset)} {said}", f"like {brief(first)}, which is its first")
        return start

    def needs(self, asset: str, key: str | None) -> Needs:
        """Of a batch: the batches of its inputs that overlap it, and all of those inputs that are read whole."""
        exist: list[Need] = []
        never: list[Need] = []
        unknown: list[str] = []
        for parent in self._inputs[asset]:
            batches = self._batches.get(parent)
            if parent in self._sources:
                continue  # what others fill: dbt does not know when it is complete
            if batches is None:
                exist.append(Need(parent, None))
            elif key is None or asset not in self._batches or (parent, asset) in self._whole:
                unknown.append(f"{Need(asset, key)} reads all of {parent}, whose batches have no end")
            else:
                start = self._start(asset, key)
                end = moved(start, self._batches[asset].size, 1)
                each = truncated(start, batches.size)
                while each < end:
                    (exist if each >= batches.begin else never).append(Need(parent, batches.key(each)))
                    each = moved(each, batches.size, 1)
        return Needs(exist, never, unknown)

    # --- runs --------------------------------------------------------------------------------------------------------

    def materialised(self, have: Mapping[str, Sequence[str | None]]) -> dict[str, Sequence[str | None]]:
        """With the moments of runs, all that these have made whole is there, too."""
        found = dict(have)
        runs = moments(found.pop(RUNS, ()))
        if runs:
            for name in self._inputs:
                if name in self._batches:
                    built = self._batches[name].built(runs)
                    batches = self._batches[name]
                    whole = [
                        batches.key(start) for start, until in built.items() if until >= moved(start, batches.size, 1)
                    ]
                    found[name] = [*found.get(name, ()), *whole]
                elif name not in found:
                    found[name] = [None]
        return found

    # --- what is said ------------------------------------------------------------------------------------------------

    def findings(self, have: Mapping[str, Sequence[str | None]]) -> Iterator[Finding]:
        for name in have:
            if name != RUNS and name not in self._inputs:
                raise PointstampError("PS926", f"there is no model {brief(name)}", one_of(name, [RUNS, *self._inputs]))
        runs = moments(have.get(RUNS, ()))
        for name, batches in self._batches.items():
            if runs:
                yield from self._of_runs(name, runs)
            elif batches.lookback == 0:
                yield self._never_whole(name)
            for parent in self._inputs[name]:
                if parent in self._batches and (parent, name) not in self._whole:
                    yield from self._of_input(parent, name)

    def _never_whole(self, name: str) -> Finding:
        batches = self._batches[name]
        size = batches.size
        told = f"with lookback=0 a run builds only the {size} of {name} that is open then: none is built after its end"
        key = batches.key(batches.begin)
        steps = [
            [name, key, f"built before the {size} is over"],
            [name, batches.key(moved(batches.begin, size, 1)), "built next"],
        ]
        witness = {"partition": [name, key], "walks": [steps]}
        return Finding("PS923", told, f"lookback=1 on {name}, which is dbt's default", witness, "warning")

    def _of_runs(self, name: str, runs: Sequence[datetime]) -> Iterator[Finding]:
        """What runs at these moments have left out, or built for the last time before it was over."""
        batches = self._batches[name]
        left = list(batches.left(runs))
        gaps = [Need(name, batches.key(start)) for start, until in left if until is None]
        halves = [(Need(name, batches.key(start)), until) for start, until in left if until is not None]
        if gaps:
            start, last = (self._start(*need) for need in (gaps[0], gaps[-1]))
            between = f"--event-time-start {start:{TIME}} --event-time-end {moved(last, batches.size, 1):{TIME}}"
            hint = f"dbt run --select {name} {between}; a greater lookback bridges runs that fail"
            yield gap(gaps, batches.key(truncated(runs[-1], batches.size)), hint)
        if halves:
            shown = first_of([f"{need} (until {until:%H:%M})" for need, until in halves], MOST_SHOWN)
            were = "was" if len(halves) == 1 else "were"
            told = f"{shown} {were} built for the last time before the {batches.size} was over"
            wider = (more for more in range(1, MOST_LOOKBACK) if not any(batches._replace(lookback=more).left(runs)))
            wanted = next(wider, None)
            hint = f"lookback={wanted} on {name}" if wanted else f"run {name} at least once in each {batches.size}"
            steps = [[need.asset, need.key, f"built until {until:%H:%M}"] for need, until in halves[:MOST_SHOWN]]
            yield Finding("PS923", told, hint, {"missing": [list(need) for need, _ in halves], "walks": [steps]})

    def _of_input(self, parent: str, name: str) -> Iterator[Finding]:
        """A model whose input begins later, or goes on changing what the model does not build again."""
        up, down = self._batches[parent], self._batches[name]
        if truncated(up.begin, down.size) > down.begin:
            count, start = 0, down.begin
            while moved(start, down.size, 1) <= up.begin:
                count, start = count + 1, moved(start, down.size, 1)
            first = down.key(down.begin)
            missing = self.needs(name, first).never
            hint = f"begin='{up.begin:%Y-%m-%d}' on {name}, or an earlier begin on {parent}"
            what, says = f"from before the begin of {parent}", f"{count} of its batches can never be complete"
            yield never_complete(Need(name, first), list(missing), says, False, what, hint)
        if down.lookback == 0:
            return  # that is said already
        wanted = next((more for more in range(down.lookback, 20_000) if down._replace(lookback=more).reaches(up)), None)
        if wanted is not None and wanted > down.lookback:
            theirs, ours = (f"{each.lookback} {each.size}{'s' * (each.lookback != 1)}" for each in (up, down))
            told = (
                f"a run builds {parent} anew for {theirs} back, and {name} for {ours}: what lies between stays as it is"
            )
            key = down.key(down.begin)
            steps = [[parent, up.key(up.begin), "built again"], [name, key, "not built again"]]
            hint = f"lookback={wanted} on {name}"
            yield Finding("PS923", told, hint, {"partition": [name, key], "walks": [steps]}, "warning")

    def unknown(self) -> list[str]:
        return []

    def graph(self) -> Graph:
        """Models as nodes; where a model reads one batch its time is the batch's hour, elsewhere there is one time."""
        graph = Graph(time="unit")
        emits: dict[str, dict[str, Any]] = {}
        for name, parents in self._inputs.items():
            for parent in parents:
                summary: Any = "identity"
                if name in self._batches:
                    summary = {"constant": 0}  # a batch may change with any of what is read whole
                    if parent in self._batches and (parent, name) not in self._whole:
                        summary = _ToBatch(self._batches[name])
                elif parent in self._batches:
                    summary = {"constant": None}
                emits.setdefault(parent, {})[f"{parent}->{name}"] = summary
        for name in self._inputs:
            graph.node(name, time="nat" if name in self._batches else "unit", emits=emits.get(name))
        for name, parents in self._inputs.items():
            for parent in parents:
                graph.edge(parent, name)
        return graph


class _ToBatch:
    """A summary from the hour, counted from 1970, in which a batch begins, to that of the batch in which it lies."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    def apply(self, time: int) -> tuple[int, ...]:
        start = truncated(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=min(time, 50_000_000)), self._batches.size)
        return (int((start - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() // 3600),)


def moment(text: Any) -> datetime:
    """A moment as a manifest or a person writes it; in UTC where it does not say."""
    found = in_years(text if isinstance(text, datetime) else datetime.fromisoformat(str(text)))
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def in_years(found: datetime) -> datetime:
    """A moment with all that is asked of it before the last year that Python knows, and after the first."""
    if found.year not in YEARS:
        raise ValueError(f"the year {found.year} is not from {YEARS[0]} to {YEARS[-1]}")
    return found


def moments(texts: Sequence[str | None]) -> list[datetime]:
    """The moments of runs, in their order; PS927 where one is not a moment."""
    try:
        return sorted(moment(text) for text in texts)
    except ValueError as error:
        raise PointstampError(
            "PS927", f"a run is not a moment: {error}", 'like {"runs": ["2026-03-01T12:00"]}'
        ) from None


def _name(node: Mapping[str, Any]) -> str:
    source = node.get("source_name")
    return f"{source}.{node['name']}" if source else str(node["name"])
