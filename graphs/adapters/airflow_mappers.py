"""How one Dag waits for one asset: the keys that its mapper asks for, and where each key is routed (Airflow 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.partition_mappers.base import RollupMapper

from graphs.adapters import Finding
from graphs.adapters.partition_findings import never_complete
from graphs.adapters.partitions import Need, listed
from progress.errors import brief

NONE_AT_ALL = "no partition of it can ever be complete"


def judged(dag: str, asset: str, mapper: Any, known: list[str] | None) -> Iterator[Finding]:
    """What is wrong with how one Dag waits for one asset. `known`: the keys that are written, where that is known."""
    unread = [key for key in (known or ())[:1] if not down(mapper, key)]
    if unread:
        told = f"keys of {asset} like {brief(unread[0])} cannot be read by its {type(mapper).__name__}"
        hint = "give the mapper the input_format of these keys"
        yield never_complete(Need(dag, None), [Need(asset, unread[0])], NONE_AT_ALL, True, told, hint)
        return
    if not isinstance(mapper, RollupMapper):
        return
    written = Counter(known or ())
    targets = list(dict.fromkeys(sampled(mapper, known) or ()))
    if len(targets) > 4:
        targets = targets[1:-1]  # half of what these wait for lies beyond the keys that were looked at
    never: list[tuple[str, list[str]]] = []
    early: list[tuple[str, list[str]]] = []
    unrouted = False
    routed: dict[str, list[str]] = {}
    for key in written:
        for target in down(mapper, key):
            routed.setdefault(target, []).append(key)
    for target in targets:
        wanted = sorted(mapper.to_upstream(target))
        back = {key for key in wanted if target in down(mapper, key)}
        come = {key for key in back if key in written} if known else back
        if not mapper.wait_policy.is_satisfied_by_keys(matched=come, expected=frozenset(wanted)).satisfied:
            unrouted = unrouted or len(back) < len(wanted)
            never.append((target, [key for key in wanted if key not in come]))
        elif known and _waits_for_all(mapper):
            late = [key for key in routed.get(target, ()) if key not in wanted]
            late += [key for key in wanted if written[key] > 1]
            if late:
                early.append((target, late))
    if never and (len(never) == len(targets) or unrouted):
        target, missing = never[0]
        what = "which are routed to other partitions of it" if unrouted else f"which no Dag that makes {asset} writes"
        hint = _fitting(mapper) if unrouted else _same_keys(mapper, asset, next(iter(written)))
        whole = len(never) == len(targets)
        says = NONE_AT_ALL if whole else f"{len(never)} of its partitions can never be complete"
        yield never_complete(Need(dag, target), [Need(asset, key) for key in missing], says, whole, what, hint)
    zone = getattr(mapper.upstream_mapper, "_timezone", "UTC")
    clocks = len(early) < len(targets) and str(zone) != "UTC"
    for target, late in early[:1]:
        day, missed = Need(dag, target), [Need(asset, key) for key in late]
        told = f"{day} does not wait for {listed(missed)}, which {'is' if len(late) == 1 else 'are'} routed to it: "
        if clocks:
            told += "on this day clocks are set back"
            hint = "let the mapper, and what writes the keys, have timezone UTC: its days have 24 hours"
        else:
            told += f"its window has fewer keys ({len(mapper.to_upstream(target))}) than {asset} writes"
            hint = f"let {asset} have the steps of {type(mapper.window).__name__}, or roll it up to these steps first"
        steps = [[dag, target, "runs without it"], *([asset, key, "not waited for"] for key in late[:3])]
        witness = {"partition": [dag, target], "missing": [list(need) for need in missed], "walks": [steps]}
        yield Finding("PS923", told, hint, witness, "warning")


def _waits_for_all(mapper: Any) -> bool:
    return type(mapper.wait_policy).__name__ == "WaitForAll"


def _format(mapper: Any) -> str:
    return str(getattr(mapper.upstream_mapper, "input_format", ""))


def _fitting(mapper: Any) -> str:
    """The smallest change that makes a window and a mapper fit."""
    window, upstream = type(mapper.window).__name__, type(mapper.upstream_mapper).__name__
    direction = getattr(mapper.window.direction, "value", "")
    if direction == "backward":
        return f"{window}() without direction=BACKWARD: a rollup waits for the window that begins at its partition"
    unit = window.removesuffix("Window")
    return f"StartOf{unit}Mapper for a {window}, or the window of {upstream}"


def _same_keys(mapper: Any, asset: str, written: str) -> str:
    zone = getattr(mapper.upstream_mapper, "_timezone", "UTC")
    if "%z" in _format(mapper):
        keys = f"write the keys of {asset} (such as {brief(written)}) with the offset of {zone}"
        return f"{keys}, or let the mapper have timezone UTC"
    return f"let the schedule of {asset}, which writes {brief(written)}, have the steps and zone ({zone}) of the window"


def down(mapper: Any, key: str) -> Sequence[str]:
    """The partitions to which a key is routed; none where it cannot be read."""
    try:
        found = mapper.to_downstream(key)
    except (ValueError, TypeError, KeyError):
        return ()
    return (found,) if isinstance(found, str) else tuple(found)


def sampled(mapper: Any, known: Sequence[str] | None) -> list[str] | None:
    """Partitions that keys are mapped to; of keys in the mapper's own format where nobody says how they are written."""
    if known is None:
        known = list(_likely(mapper))
    return [each for key in known for each in down(mapper, key)] or None


def _likely(mapper: Any) -> Iterable[str]:
    inner = mapper.upstream_mapper if isinstance(mapper, RollupMapper) else mapper
    if isinstance(mapper, RollupMapper) and not hasattr(inner, "input_format"):
        try:  # segments: a window that is the same whatever the key
            return [str(each) for each in mapper.window.to_upstream("")]
        except Exception:
            return ()
    if not hasattr(inner, "input_format"):
        return ()
    begin = datetime(2026, 1, 1, 12, tzinfo=UTC)
    return (
        (begin + timedelta(days=day)).astimezone(inner._timezone).strftime(inner.input_format) for day in range(730)
    )
