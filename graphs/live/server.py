"""The live view of one run: a page, what it shows as JSON, each change as an event, and what the page may give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from graphs.live.parts import files_of
from graphs.live.site import ADDRESS, Asked, Content, NotAnswered, Site, as_json, request_asked
from graphs.live.told import SELDOM, Told
from graphs.live.watch import Watch

MODULES = (
    "arrows.js",
    "connection.js",
    "delivered.js",
    "details.js",
    "elements.js",
    "figures.js",
    "give.js",
    "letters.js",
    "locations.js",
    "parts.js",
    "picture.js",
    "plots.js",
    "search.js",
    "step.js",
    "waits.js",
)


class Takes(Protocol):
    """An input that takes what a page gives."""

    def give(self, line: Any) -> None:
        """Take a line, as data; raises what is wrong with it."""

    def flush(self) -> None:
        """Called again and again."""

    def close(self) -> None:
        """Nothing is given any more."""


class Steps(Protocol):
    """A run that waits for a page to say what happens next."""

    def state(self) -> dict[str, Any]:
        """What the page shows of it."""

    def take(self, given: Any) -> Any:
        """Do what a page wants; raises what is wrong with that. What it shows then."""


class LiveView:
    """The page of one run, until it is closed; `given`: the inputs to which it gives, by edge; `stepping`: of a run
    that waits for it.

    `port` 0 takes any that is free; `url` tells which. With a token, nobody is answered who does not have it.
    """

    def __init__(
        self,
        watch: Watch,
        port: int,
        host: str = ADDRESS,
        token: str | None = None,
        given: Mapping[str, Takes] | None = None,
        stepping: Steps | None = None,
    ) -> None:
        self.watch = watch
        self.given = given or {}
        self.stepping = stepping
        self.waits = Told(lambda: as_json(watch.waits()))
        self.told = Told(self._state)
        self._series = Told(lambda: as_json(watch.series.told()), SELDOM)
        self._delivered = Told(lambda: as_json(watch.delivered()), SELDOM)
        has = {"gives": [*self.given], "steps": stepping is not None}
        self._graph = as_json(watch.graph() | has).encode()  # a picture takes time: before the run
        summary = watch.summary
        content = Content(
            pages=files_of("page", MODULES),
            answers={
                "/graph": lambda _: self._graph,
                "/state": lambda _: self.told.text(),
                "/waits": lambda _: self.waits.text(),
                "/why": self._why,
                "/series": lambda _: self._series.text(),
                "/delivered": lambda _: self._delivered.text(),
                **({} if summary is None else {"/parts": summary.answer}),
            },
            events={"/events": self.told},
            takes={"/give": self._give, **({} if stepping is None else {"/step": stepping.take})},
            tick=self._tick,
        )
        self._site = Site(content, port, host, token)
        self.url = self._site.url

    def close(self) -> None:
        """Tell readers how it ended, and answer no more."""
        for told in (self.waits, self._series, self._delivered):
            told.end()
        for given in self.given.values():
            given.close()
        self._site.close()

    def _state(self) -> str:
        """The state, and in it what waits, which is looked for less often where that takes longer."""
        state = self.watch.state()
        if self.stepping is not None:
            state["stepping"] = self.stepping.state()
        return f'{as_json(state)[:-1]},"waits":{self.waits.text().decode()}}}'

    def _tick(self) -> None:
        self.watch.sample()
        for given in self.given.values():
            given.flush()

    def _why(self, asked: Asked) -> Any:
        return self.watch.why(*request_asked(asked, "node=NAME&time=JSON"))

    def _give(self, given: Any) -> Any:
        if not isinstance(given, dict) or given.keys() != {"edge", "line"} or not isinstance(given["edge"], str):
            raise NotAnswered('{"edge": EDGE, "line": {"time": t, "value": v}} is taken')
        if given["edge"] not in self.given:
            raise NotAnswered("nothing is given there by a page: --input EDGE=ui")
        self.given[given["edge"]].give(given["line"])
        return {"taken": True}
