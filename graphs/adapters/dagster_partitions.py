"""What Dagster's own definitions and mappings say: which partitions there are, when they exist, which need which."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster
from dagster._core.definitions.partitions.context import partition_loading_context

from progress.errors import PointstampError
from progress.local_history import is_hashable

YEAR = timedelta(days=366)


def asked(
    mapping: Any, up: Any, down: Any, key: str | None, now: datetime | None
) -> tuple[list[str | None] | None, list[str]]:
    if isinstance(down, dagster.DynamicPartitionsDefinition) or isinstance(up, dagster.DynamicPartitionsDefinition):
        same = (
            isinstance(mapping, dagster.IdentityPartitionMapping) or type(mapping).__name__ == "DefaultPartitionMapping"
        )
        return ([key], []) if same else (None, [])
    moving = isinstance(mapping, (dagster.LastPartitionMapping, dagster.AllPartitionMapping))
    moment = now or (datetime.now(UTC) if moving else max(late(down, key), far(up)))
    try:
        with partition_loading_context(moment, None):
            subset = None if down is None else down.subset_with_partition_keys([as_key(down, key)])
            result = mapping.get_upstream_mapped_partitions_result_for_partitions(
                downstream_partitions_subset=subset,
                downstream_partitions_def=down,
                upstream_partitions_def=up,
                current_time=moment,
            )
            keys = list(result.partitions_subset.get_partition_keys())
            missing = set(result.required_but_nonexistent_subset.get_partition_keys()) - set(keys)
    except PointstampError:
        raise
    except Exception:  # a mapping of the user's own, which may ask an instance that is not here
        return None, []
    return [str(each) for each in keys], sorted(map(str, missing))


def as_key(definition: Any, key: str | None) -> Any:
    if isinstance(definition, dagster.MultiPartitionsDefinition) and key is not None:
        try:
            return definition.get_partition_key_from_str(key)
        except Exception:
            return key
    return key


def late(definition: Any, key: str | None) -> datetime:
    """So late that this partition, and all that it may need, would exist."""
    if isinstance(definition, dagster.TimeWindowPartitionsDefinition) and key is not None:
        try:
            end: datetime = definition.time_window_for_partition_key(key).end
            return max(end + 3 * YEAR, far(definition))
        except Exception:  # not a key of it at all
            return far(definition)
    return far(definition)


def far(definition: Any) -> datetime:
    """So late that there are the first few hundred of its partitions, and all of one that ends."""
    if isinstance(definition, dagster.MultiPartitionsDefinition):
        return max((far(each.partitions_def) for each in definition.partitions_defs), default=datetime.now(UTC))
    if isinstance(definition, dagster.TimeWindowPartitionsDefinition):
        start: datetime = definition.start
        return max(start + 3 * YEAR, definition.end or start)
    return datetime.now(UTC)


def ends(definition: Any, until: datetime) -> tuple[datetime, datetime] | None:
    """The starts of the first partition, and of the last one, or of the last one until then; None where it has none."""
    with partition_loading_context(definition.end or until, None):
        first, last = definition.get_first_partition_window(), definition.get_last_partition_window()
    return None if first is None or last is None else (first.start, last.start)


def key_at(definition: Any, moment: datetime) -> str:
    """The partition in whose window a moment lies."""
    return str(definition.get_partition_key_for_timestamp(moment.timestamp()))


def keys_from(definition: Any, begin: datetime, end: datetime) -> list[str]:
    """The partitions between two moments, in the order of time."""
    with partition_loading_context(max(end, far(definition)), None):
        return [str(key) for key in definition.get_partition_keys_in_time_window(dagster.TimeWindow(begin, end))]


def step(definition: Any) -> timedelta:
    """How long the first of its windows is."""
    window = definition.get_next_partition_window(definition.start, respect_bounds=False)
    found: timedelta = window.end - window.start
    return found


def turning_point(holds: Callable[[datetime], bool], begin: datetime, end: datetime) -> datetime:
    """A moment, to the second, from which on something holds that does not hold at `begin` and does at `end`."""
    low, high = int(begin.timestamp()), int(end.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        if holds(datetime.fromtimestamp(middle, UTC)):
            high = middle
        else:
            low = middle
    return datetime.fromtimestamp(high, UTC)


def looks_for_missing(condition: Any) -> bool:
    """Whether a condition waits until nothing that it needs is missing, as eager and on_missing do, at any moment.

    A condition with a schedule of its own may come late enough; one that does not look for what is missing says so.
    """
    parts = [] if condition is None else [condition]
    for part in parts:
        parts += getattr(part, "children", None) or ()
    cron = any(type(part).__name__ == "CronTickPassedCondition" for part in parts)
    return not cron and any(part.get_label() == "any_deps_missing" for part in parts)


def exists_from(definition: Any, key: str) -> datetime:
    """The moment from which a partition exists: the end of its window, `end_offset` windows earlier."""
    window = definition.time_window_for_partition_key(key)
    moment: datetime = window.end
    for _ in range(abs(definition.end_offset)):
        if definition.end_offset > 0:
            moment = definition.get_prev_partition_window(moment, respect_bounds=False).start
        else:
            moment = definition.get_next_partition_window(moment, respect_bounds=False).end
    return moment + timedelta(minutes=1)


def span(definition: Any) -> str:
    if isinstance(definition, dagster.TimeWindowPartitionsDefinition):
        end = f" to {definition.end:%Y-%m-%d}" if definition.end else " on"
        return f"from {definition.start:%Y-%m-%d}{end}"
    return type(definition).__name__


def calendar(definition: Any) -> Any:
    if isinstance(definition, dagster.TimeWindowPartitionsDefinition):
        return definition.cron_schedule, definition.timezone
    return None


def same(part: Any) -> Any:
    """What is the same of a definition, or a mapping, and of another one only where they are."""
    return part if is_hashable(part) else id(part)


def length(definition: Any, key: str | None) -> float:
    if not isinstance(definition, dagster.TimeWindowPartitionsDefinition) or key is None:
        return 0
    window = definition.time_window_for_partition_key(key)
    return float((window.end - window.start).days or (window.end - window.start).total_seconds() / 86_400)
