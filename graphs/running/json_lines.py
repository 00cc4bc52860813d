"""A file of JSON lines as a source or a sink of a dataflow: `JsonLines("amounts.jsonl")` (docs/running.md).

The lines are those of `pointstamp run`, which treats the files of a pipeline as if they were named on its command line:
with `--state` each line is read once and each value written once. Elsewhere a file that is written to is emptied when
the run begins. It ends with `{"complete": []}` where the edge has come to its end.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any

from graphs.running.files import STANDARD, open_input, open_output, place_of
from graphs.running.line_sink import LineSink
from graphs.running.line_source import Lines, Position
from progress.order import Domain


class JsonLines:
    """A file; each run reads it from its beginning, or writes it anew.

    Examples
    --------
    >>> from pointstamp import JsonLines
    >>> JsonLines("amounts.jsonl").path.name
    'amounts.jsonl'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def items_for(
        self, engine: str, edge: str, domain: Domain, *, keeps: bool = False, start: Position | None = None
    ) -> Lines:
        """The items of a run. Waits for lines that are still to come where the engine lets a source wait."""
        handle = open_input(str(self.path))
        waits = engine in ("threads", "spark")
        lines = Lines(str(self.path), handle, edge, domain, waits=waits, keeps=keeps, start=start)
        lines.named = place_of(str(self.path))
        weakref.finalize(lines, os.close, handle)
        return lines

    def items_from(self, engine: str, edge: str, domain: Domain, position: Any) -> Lines:
        """The items of a run that is kept, behind the position at which it was."""
        start = None if position is None else Position(*position)
        return self.items_for(engine, edge, domain, keeps=True, start=start)

    def has_more(self, edge: str, domain: Domain, position: Any) -> bool:
        """Whether the file has more than a run that has read it to its end, which was at this position.

        A pipe is not opened for this; a file that is done with may be gone.
        """
        is_there = str(self.path) == STANDARD or self.path.is_file()
        return is_there and self.items_from("sim", edge, domain, position).has_more

    def sink_for(self, name: str) -> Written:
        """The sink of a run."""
        written = Written(name, open_output(str(self.path), keeps=False))
        written.file.cut(0)
        return written

    def kept_sink_for(self, name: str) -> Written:
        """The sink of a run that is kept."""
        written = Written(name, open_output(str(self.path), keeps=True))
        written.file.named = place_of(str(self.path))
        return written


class Written(LineSink):
    """A file of its own, written by one run."""

    def close(self) -> None:
        """The run is over."""
        self.file.close()
