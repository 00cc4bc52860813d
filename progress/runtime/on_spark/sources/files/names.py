"""What the names of files say: which of them count, their times, and what a marker completes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.order import NO_TIME, Domain, as_time, is_number, times_of
from progress.runtime.on_spark.folders import TEMPORARY
from progress.runtime.on_spark.sources.positions import in_order

if TYPE_CHECKING:
    from progress.runtime.on_spark.sources.files.source import FileSource


def by_pattern(pattern: str) -> Callable[[str], Any]:
    """Finds the time in a name: the group of the pattern, a number if it has digits only."""

    def time_of(name: str) -> Any:
        found = re.search(pattern, name)
        if found is None:
            return NO_TIME
        text = found[1] if found.re.groups else found[0]
        return int(text) if text.isdecimal() else text

    return time_of


class FileNames:
    """The names of the files of one source in one run."""

    def __init__(self, source: FileSource, edge: str, domain: Domain) -> None:
        self._source = source
        self._edge = edge
        self._domain = domain

    def is_marker(self, name: str) -> bool:
        """Whether it says that its time is complete."""
        return self._source.marker is not None and name.rpartition("/")[2] == self._source.marker

    def is_message(self, name: str) -> bool:
        """Whether it is a file that is read."""
        return name != self._source.end and not any(part.startswith(TEMPORARY) for part in name.split("/"))

    def by_time(self, names: Iterable[str]) -> dict[Any, list[str]]:
        """Names by their times, earlier times first."""
        found: dict[Any, list[str]] = {}
        for name in names:
            found.setdefault(self.time(name), []).append(name)
        return {time: found[time] for time in in_order(self._domain, found)}

    def time(self, name: str) -> Any:
        """The time in a name; refused (PS772) is one that has none of the edge."""
        time = self._source.time(name)
        found = NO_TIME if time is NO_TIME else as_time(self._domain, time)
        if found is NO_TIME:
            has = "no time in its name" if time is NO_TIME else f"{brief(time)} in its name, which is not a time there"
            what = f"the source of {brief(self._edge)} has a file {brief(name)} with {has}"
            raise PointstampError("PS772", what, f"{times_of(self._domain)}; `time=` finds it")
        return found

    def after(self, time: Any) -> Iterable[Any]:
        """The least times that are not at or before one that a marker completes."""
        if self._source.after is not None:
            return self._source.after(time)
        if is_number(self._domain):
            return [time + 1]
        what = f"the marker of {brief(self._edge)} completes {brief(time)}, and which times come after it is not known"
        raise PointstampError("PS774", what, "`after=`, a function that says so")
