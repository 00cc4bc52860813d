"""A session at any line of its trace: from the mark before it, and played on from there."""

from __future__ import annotations

from collections.abc import Callable

from graphs.graph import Graph
from graphs.sessions.marks import Mark, Marks
from graphs.sessions.replay import Replay
from graphs.sessions.trace import Lines, cut
from progress.errors import PointstampError


class Cursor:
    """Stands at one line, where `replay` has the session; `played` counts the lines played to get anywhere."""

    def __init__(self, graph: Graph, path: str, marks: Marks) -> None:
        self.replay = Replay(graph)
        self.played = 0
        self._graph = graph
        self._marks = marks
        self._lines = Lines(path)
        self.close = self._lines.close

    def seek(self, line: int) -> Replay:
        """Go to a line. Plays the lines from the mark before it, or from where it stands if that is nearer."""
        mark = self._marks.before(line)
        if not mark.line <= self.replay.line <= line:
            self._go_to(mark)
        self.play_to(line)
        return self.replay

    def _go_to(self, mark: Mark) -> None:
        self.replay = Replay.go_on(self._graph, mark.standing())
        self._lines.go_to(mark.end)

    def play_to(self, line: int, seen: Callable[[Replay], bool] = lambda replay: False) -> bool:
        """Play on to a line, or up to the first that is sought; whether there was one."""
        replay = self.replay
        try:
            while replay.line < line:
                text = self._lines.next()
                if not text:
                    raise cut(replay.line + 1)
                replay.play_line(text)
                self.played += 1
                if replay.fed == replay.line and seen(replay):
                    return True
        except PointstampError:  # the file is not what it was
            self._go_to(self._marks[0])
            raise
        return False

    def lines(self, first: int, count: int, most: int) -> list[str]:
        """The text of some lines, each cut to so many characters, without moving."""
        mark = self._marks.before(first - 1)
        place = self._lines.end
        try:
            self._lines.go_to(mark.end)
            for _ in range(mark.line + 1, first):
                self._lines.next()
            found = [self._lines.next() for _ in range(count)]
        finally:
            self._lines.go_to(place)
        return [line[: 4 * most].decode("utf-8", "replace").strip()[:most] for line in found]
