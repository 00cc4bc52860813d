"""The page of `pointstamp replay FILE TRACE --ui PORT`: a recorded session as a film (docs/replay.md).

A thread develops the film and follows a trace that grows; each look goes first (`Film`). Nothing can be changed here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from graphs.graph import Graph
from graphs.live.outstanding import graph_to_json, outstanding, summary_of, told_blockers, told_waits, told_why
from graphs.live.parts import files_of
from graphs.live.site import ADDRESS, Asked, Content, NotAnswered, Site, as_json, request_asked
from graphs.live.told import Told
from graphs.sessions.film import Film
from graphs.sessions.moments import freed_by, next_delivery
from graphs.wording import elided

MODULES = (
    "arrows.js",
    "connection.js",
    "details.js",
    "elements.js",
    "locations.js",
    "moment.js",
    "parts.js",
    "picture.js",
    "search.js",
    "timeline.js",
    "waits.js",
)
AT_ONCE = 500  # lines that are developed before somebody may look
PAUSE = 0.25  # seconds between looks at whether the trace has grown
LONGEST = 4_000  # characters of a line that are shown
AROUND = 4  # lines shown before and after one


class FilmView:
    """Serves the page of a film until it is closed, and develops it. `at` is the line that the page shows first."""

    def __init__(
        self, film: Film, name: str, at: int, port: int, host: str = ADDRESS, token: str | None = None
    ) -> None:
        self.film = film
        self._graph: Graph = film.graph
        self._run = token_hex(8)  # a page that was opened for another one knows that this is not its own
        self._summary = summary_of(self._graph.network())
        shown = graph_to_json(name, self._graph.network(), self._summary) | {"at": at, "run": self._run}
        self._shown = as_json(shown).encode()  # a picture takes time: made once
        self._over = threading.Event()
        self.told = Told(lambda: as_json(self.state()))
        answers: dict[str, Callable[[Asked], Any]] = {
            "/graph": lambda _: self._shown,
            "/state": lambda _: self.state(),
            "/line": lambda asked: self.line(_number(asked, "line")),
            "/why": self._why,
            "/freed": self._freed,
            "/next": self._next,
        }
        if self._summary is not None:
            answers["/parts"] = self._summary.answer
        content = Content(pages=files_of("film", MODULES), answers=answers, events={"/events": self.told})
        self._site = Site(content, port, host, token)
        self.url = self._site.url
        self._thread = threading.Thread(target=self._develop, name="film", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._over.set()
        self._thread.join()
        self._site.close()
        self.film.close()

    def _develop(self) -> None:
        while not self._over.is_set():
            if not self.film.develop(AT_ONCE):
                self._over.wait(PAUSE)

    # --- what is told ---------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """How far the film is known, and what is wrong with it."""
        film, counts = self.film, self.film.counts
        difference = counts.difference
        return {
            "run": self._run,
            "known": film.known,
            "share": film.share,
            "torn": film.is_torn,
            "damage": None if film.damage is None else f"line {film.damage.line}: {film.damage}",
            "difference": None if difference is None else difference.line,
            "steps": counts.steps,
            "refused": sum(counts.refused.values()),
            "ready": counts.ready,
        }

    def line(self, number: int) -> dict[str, Any]:
        """How things stand after a line; only how far the film is known, and whether that is all, where it is not."""
        is_all = self.film.is_all
        if number > self.film.known:
            return {"line": number, "known": self.film.known, "is_all": is_all}
        first = max(1, number - AROUND)
        with self.film.at(number) as replay:
            tracker = replay.session.tracker
            found = {
                "line": number,
                "known": self.film.known,
                "fed": replay.fed,
                "in": _text(replay.given()),
                "out": _text(replay.answer) if replay.fed else "",
                "is_refused": "error" in replay.answer,
                **outstanding(tracker, {}),
                "waits": told_waits(tracker.why(), self._summary),
            }
        return found | {"around": {"first": first, "lines": self.film.lines(first, 2 * AROUND + 1)}}

    def _why(self, asked: Asked) -> Any:
        node, time = self._request(asked)
        with self.film.at(_number(asked, "line")) as replay:
            return told_why(replay.session.tracker, node, time)

    def _freed(self, asked: Asked) -> Any:
        node, time = self._request(asked)
        freed = freed_by(self.film, node, time, _number(asked, "line"))
        if freed is None:
            return {"line": None, "known": self.film.known}
        return {
            "line": freed.line,
            "asked": freed.asked,
            **told_blockers(freed.by),
            "in": self.film.lines(freed.line, 1, LONGEST)[0],
        }

    def _next(self, asked: Asked) -> Any:
        line = next_delivery(self.film, asked.get("node", ""), _number(asked, "line"))
        return {"line": line, "known": self.film.known}

    def _request(self, asked: Asked) -> tuple[str, Any]:
        node, data = request_asked(asked, "line=N&node=NAME&time=JSON")
        if node not in self._graph.network().numbers:
            raise NotAnswered(f"there is no node {node!r}")
        return node, self._graph.time_from_json(node, data)


def _number(asked: Asked, name: str) -> int:
    text = asked.get(name, "")
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise NotAnswered(f"{name}=NUMBER is asked for")
    return int(text)


def _text(data: Any) -> str:
    return elided(json.dumps(data, ensure_ascii=False, default=str), LONGEST)
