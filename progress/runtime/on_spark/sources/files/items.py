"""The items of a FileSource: look after look at its folder, each written down before it is handed on."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from progress.errors import PointstampError, brief
from progress.order import Domain
from progress.runtime.durable.codec import Beside
from progress.runtime.inputs.read_of import FILES, TIMES, ReadOf
from progress.runtime.on_spark.sources.files.looks import Look, Looks
from progress.runtime.on_spark.sources.files.names import FileNames
from progress.runtime.on_spark.sources.files.tables import FileTables
from progress.runtime.on_spark.sources.positions import Keyed, Positioned, still_to_come
from progress.runtime.source import SILENT, Aside, Complete, Messages
from progress.runtime.source_failure import Refused

if TYPE_CHECKING:
    from progress.runtime.on_spark.sources.files.source import FileSource


class FileItems(Positioned):
    """The items of one run: look after look, each written down before it is handed on (`looks.py`).

    The position: how many looks are behind the run, and how many items of the next one.
    """

    def __init__(
        self, source: FileSource, edge: str, domain: Domain, names: FileNames, tables: FileTables, waits: bool
    ) -> None:
        super().__init__()
        self.done = [0, 0]
        self.aside = source.aside
        self._source = source
        self._edge = edge
        self._domain = domain
        self._waits = waits
        self._before: list[Look] = []  # of the processes before this one
        self._names = names
        self._tables = tables
        self._stopped = threading.Event()
        self._looks = Looks(None, edge)
        self._beside: Beside | None = None
        self._unit = FILES if source.column is None else TIMES
        self._found = self._refused = 0  # files; times where they stand in the rows
        self._came: list[tuple[Any, int]] = []  # the times that have entered the run, and how many of these they are
        self._many: dict[Any, tuple[Any, int]] = {}  # the same of messages that were handed on and are on their way
        self._is_all = False  # nothing more will be found

    @property
    def read_of(self) -> ReadOf | None:
        """How many files, or times in their rows, were found; those that have entered the run."""
        if not self._looks.count:
            return None
        return ReadOf(self._refused, self._found, self._unit, self._is_all, self._came)

    def keep_beside(self, beside: Beside, edge: str) -> None:
        self._looks = Looks(beside.file(edge), edge)
        if self._tables.makes_anew:
            self._beside = beside
            beside.add_source(edge, self._tables.made_of)

    def entered(self, key: Any) -> None:
        self.done = list(key)
        if key in self._many:
            self._came.append(self._many.pop(key))

    def go_to(self, position: Any) -> None:
        super().go_to(position)
        begun, skipped = self.done
        self._before = self._looks.written(begun + (skipped > 0))
        for look in self._before:  # what waits in the run may be made of files that were found first
            self._tables.take_columns(look)

    def stop(self) -> None:
        """Nobody takes any more: do not wait."""
        super().stop()
        self._stopped.set()

    def keyed(self) -> Iterator[Keyed]:
        source, folder = self._source, self._tables.folder
        if not folder.exists():
            raise PointstampError("PS774", f"there is no folder {brief(str(source.folder))}", "one that exists")
        seen: set[str] = set()  # files and markers
        if not self.is_continued:
            self._looks.begin()
        begun, skipped = self.done
        for number, look in enumerate(self._before):
            seen.update(look.all)
            if number >= begun:
                yield from self._numbered(number, look, skipped if number == begun else 0)
            elif self._unit == FILES:
                self._found += len(look.names) + len(look.refused)
                self._refused += len(look.refused)
                self._came += [(time, len(names)) for time, names in self._names.by_time(look.names).items()]
            if look.is_last:
                return
        while not self.is_stopped:
            found = self._look(seen)
            if found is not None:
                seen.update(found.all)
                yield from self._numbered(self._looks.add(found), found)
                if found.is_last:
                    return
            if self._waits:
                self._stopped.wait(source.every)
            elif found is None:
                yield None, SILENT

    def _look(self, seen: Collection[str]) -> Look | None:
        """What is new; None where nothing is. Cost: that of listing, twice where a marker or the end is new."""
        source = self._source
        found = self._tables.folder.files()
        markers = [name for name in found if self._names.is_marker(name) and name not in seen]
        is_last = not source.is_live or (source.end is not None and source.end in found)
        if source.is_live and (markers or is_last):
            found = self._tables.folder.files()  # all that were there before the marker: some may have been missed
        names = [name for name in found if name not in seen and self._names.is_message(name)]
        if not (names or markers or is_last):
            return None
        refused: dict[str, list[str]] = {}
        if self.sets_apart:
            refused = self._tables.refused(names)
            names = [name for name in names if name not in refused]
        else:
            self._tables.check(names)
        return Look(tuple(names), tuple(markers), is_last, self._tables.columns, refused)

    def _numbered(self, number: int, look: Look, skipped: int = 0) -> Iterator[Keyed]:
        """The items of a look, the same each time: each is known by its look and by how many go before it."""
        for place, (many, item) in enumerate(self._items_of(look), 1):
            if isinstance(item, Messages):
                self._many[number, place] = (item.time, many)
            if place > skipped:
                yield (number, place), item
            elif (number, place) in self._many:
                self._came.append(self._many.pop((number, place)))

    def _items_of(self, look: Look) -> Iterator[tuple[int, Any]]:
        """The items, each with how many files or times it is."""
        by_file = self._unit == FILES
        self._found += len(look.names) + len(look.refused) if by_file else 0
        self._refused += len(look.refused) if by_file else 0
        for name, (code, says, right) in look.refused.items():
            yield 0, Refused(name, PointstampError(code, says, right))
        new, aside = self._tables.found(look.names)
        self._found += 0 if by_file else len(new)
        self._is_all = look.is_last
        if aside is not None:
            yield 0, Aside([aside])
        rule = self._source.complete
        left = still_to_come(self._domain, [found.time for found in new])
        for found, rest in zip(new, left, strict=False):
            if self._beside is not None:
                self._beside.is_made_by(self._edge, found.frame, found.of)
            yield len(found.of[0]) if by_file else 1, Messages(found.time, [found.frame])
            if look.is_last:
                yield 0, rest
            elif rule is not None:
                yield 0, Complete(tuple(rule(found.time)))
        for name in look.markers:
            yield 0, Complete(tuple(self._names.after(self._names.time(name))))
