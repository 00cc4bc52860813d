"""A run that waits for a page to say what happens next (`pointstamp run --engine sim --ui PORT --paused`).

The run's thread asks for a choice and waits; a page sees what is possible, and which of it would be next by the seed or
in turn, and makes one choice, or lets the run go on by itself: to its end, or until a notification is next.
"""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

from graphs.live.site import NotAnswered
from graphs.running.order import in_words, to_data
from progress.runtime.engines.choosing import Choice, Chooser, Possible

MOST_CHOICES = 100  # that a page is shown
AT_ONCE = 1.0  # seconds for which a page may be kept waiting for what comes of its choice
OFTEN = 0.05  # seconds between looks at whether the run has to stop, while it waits for the page


class Stepping:
    """Stands between a run and its page: `choose` is called by the run's thread, the rest by those of the page.

    `number` counts what has been done, and is told by the page with what it wants, so that a late click does nothing.
    """

    def __init__(self) -> None:
        self._usual: Chooser
        self._condition = threading.Condition()
        self._number = 0
        self._is_over = False
        self._choices: list[Choice] = []  # while it waits
        self._next: Choice | None = None  # what the usual chooser would do, while it waits
        self._wanted: Choice | None = None
        self._until = "pause"  # or "notification", "end": what it runs to by itself
        self._node = ""  # whose notification it runs to; any where there is none

    def instead_of(self, usual: Chooser) -> Stepping:
        """The page chooses instead of this one, which chooses while the run goes on by itself."""
        self._usual = usual
        return self

    # --- the run's thread ---------------------------------------------------------------------------------------------

    def choose(self, possible: Possible) -> Choice | None:
        """What the page wants, when it has said so."""
        with self._condition:
            if self._next is None:
                self._next = self._usual.choose(possible)
                if self._next is None:
                    return None
            choice = self._next
            if self._wanted is not None:
                choice, self._wanted = self._wanted, None
            elif self._until == "pause" or (self._until == "notification" and self._is_sought(choice)):
                self._stop(possible)
                self._condition.wait(OFTEN)
                return None
            self._number += 1
            self._next, self._choices = None, []
            return choice

    def _is_sought(self, choice: Choice) -> bool:
        return choice.kind == "notify" and self._node in ("", choice.place)

    def _stop(self, possible: Possible) -> None:
        """Let the page choose."""
        self._until = "pause"
        if not self._choices:
            self._choices = list(islice(possible, MOST_CHOICES))
            assert self._next is not None
            if self._next not in self._choices:
                self._choices.insert(0, self._next)
            self._condition.notify_all()

    def over(self) -> None:
        """The run is over."""
        self._usual.over()
        with self._condition:
            self._is_over = True
            self._condition.notify_all()

    @property
    def _is_paused(self) -> bool:
        return bool(self._choices) and self._wanted is None and not self._is_over

    # --- the page -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What the page shows: whether the run waits for it, what is possible, which of it would be next."""
        with self._condition:
            is_paused = self._is_paused
            return {
                "number": self._number,
                "paused": is_paused,
                "over": self._is_over,
                "runs_to": None if self._until == "pause" else self._until,
                "choices": [
                    {**to_data(choice), "says": in_words(choice), "next": choice == self._next}
                    for choice in (self._choices if is_paused else ())
                ],
            }

    def take(self, given: Any) -> Any:
        """Do what a page wants: {"number": n, "do": place among the choices, "many": messages}, "step", "run", "pause".

        Refused is what comes too late, as when two pages choose.
        """
        if not isinstance(given, dict) or type(given.get("number")) is not int:
            raise NotAnswered('{"number": n, "do": place} is taken, or "step", "run", "pause" in its place')
        with self._condition:
            if given.get("pause") is True:
                self._until = "pause"  # before what comes next
            else:
                self._decide(given)
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._is_over or self._is_paused, AT_ONCE)
            return self.state()

    def _decide(self, given: dict[str, Any]) -> None:
        if given["number"] != self._number or not self._is_paused:
            raise NotAnswered("the run has gone on since: look again")
        place, runs_to = given.get("do"), given.get("run")
        if type(place) is int and 0 <= place < len(self._choices):
            choice, many = self._choices[place], given.get("many")
            if many is not None and choice.kind == "take":
                if type(many) is not int or not 1 <= many <= choice.many:
                    raise NotAnswered(f"from 1 to {choice.many} messages can be taken")
                choice = choice._replace(many=many)
            self._wanted = choice
        elif given.get("step") is True or runs_to in ("end", "notification"):
            self._wanted = self._next
            if runs_to is not None:
                self._until, self._node = runs_to, str(given.get("node", ""))
        else:
            raise NotAnswered('"do" is one of the choices; "run" is "end" or "notification"')
