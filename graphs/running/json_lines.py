"""A file of JSON lines as a source or a sink of a dataflow: `JsonLines("amounts.jsonl")` (docs/running.md).

The lines are those of `pointstamp run`, which treats the files of a pipeline as if they were named on its command line:
with `--state` each line is read once and each value written once. Elsewhere a file that is written to is emptied when
the run begins. It ends with `{"complete": []}` where the edge has come to its end.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from graphs.running.files import open_input, open_output
from graphs.running.line_sink import LineSink
from graphs.running.line_source import Lines
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

    def items_for(self, engine: str, edge: str, domain: Domain) -> Lines:
        """The items of a run. Waits for lines that are still to come where the engine lets a source wait."""
        handle = open_input(str(self.path))
        lines = Lines(str(self.path), handle, edge, domain, waits=engine in ("threads", "spark"))
        weakref.finalize(lines, os.close, handle)
        return lines

    def sink_for(self, name: str) -> Written:
        """The sink of a run."""
        return Written(name, str(self.path))


class Written(LineSink):
    """A file of its own, written by one run."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, open_output(path, keeps=False))
        self.file.cut(0)

    def close(self) -> None:
        """The run is over."""
        self.file.close()
