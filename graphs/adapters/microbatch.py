"""The batches of a microbatch model of dbt, and which of them a run builds (dbt 1.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

FORMATS = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}


class Batches(NamedTuple):
    """The batches of a microbatch model."""

    size: str
    begin: datetime
    lookback: int

    def key(self, start: datetime) -> str:
        return start.strftime(FORMATS[self.size])

    def window(self, run: datetime) -> tuple[datetime, datetime]:
        """From when to when a run builds (`MicrobatchBuilder.build_start_time`, `build_end_time`)."""
        end = truncated(run, self.size)
        end = end if end == run else moved(end, self.size, 1)
        return max(moved(end, self.size, -1 - self.lookback), self.begin), end

    def built(self, runs: Sequence[datetime]) -> dict[datetime, datetime]:
        """Each batch that these runs have built, and the moment up to which; the first of them builds all."""
        found: dict[datetime, datetime] = {}
        for number, run in enumerate(runs):
            start, end = self.window(run)
            start = start if number else self.begin
            while start < end:
                after = moved(start, self.size, 1)
                found[start] = max(found.get(start, start), min(run, after))
                start = after
        return found

    def left(self, runs: Sequence[datetime]) -> Iterator[tuple[datetime, datetime | None]]:
        """The batches out of reach of the next run that are not whole: until when they were built, None: never."""
        built = self.built(runs)
        start, (reach, _) = self.begin, self.window(runs[-1])
        while start < reach:
            after = moved(start, self.size, 1)
            if built.get(start, start) < after:
                yield start, built.get(start)
            start = after

    def reaches(self, up: Batches) -> bool:
        """Whether each run that builds an input anew also builds what was made of it; a year of runs, every 5 hours."""
        early = datetime(1, 1, 1, tzinfo=UTC)
        down, up = self._replace(begin=early), up._replace(begin=early)
        runs = (datetime(2026, 1, 1, 1, tzinfo=UTC) + timedelta(hours=5 * number) for number in range(1900))
        return all(down.window(run)[0] <= up.window(run)[0] for run in runs)


def truncated(time: datetime, size: str) -> datetime:
    """The beginning of the batch in which a moment lies."""
    month = time.month if size != "year" else 1
    day = time.day if size in ("hour", "day") else 1
    return datetime(time.year, month, day, time.hour if size == "hour" else 0, tzinfo=UTC)


def moved(start: datetime, size: str, count: int) -> datetime:
    """The beginning of the batch that is so many batches later."""
    if size in ("hour", "day"):
        return start + timedelta(**{f"{size}s": count})
    months = start.year * 12 + start.month - 1 + (count if size == "month" else 12 * count)
    return start.replace(year=months // 12, month=months % 12 + 1)
