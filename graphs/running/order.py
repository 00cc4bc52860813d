"""Orders of a run as files: every choice of the engine `sim`, one a line, so that the run can be made again.

The first line is {"pointstamp_order": 1}; the others are {"read": input, "items": n}, {"take": edge, "time": t,
"messages": n} and {"notify": node, "time": t}, where n is 1 and all that wait at `t`, if it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphs.arguments import InFile
from graphs.files.document import quoted
from graphs.files.notation import kind_of, shown
from graphs.files.standard_input import cannot_read
from graphs.running.line_sink import LineFile
from graphs.sessions.ask import LONGEST_LINE, read_json
from graphs.sessions.torn import is_torn, said_of_torn
from graphs.terminal import complain
from progress.errors import PointstampError
from progress.order import NO_TIME, as_time
from progress.plain import read_time, write_time
from progress.runtime.engines.choosing import Choice, Chooser, Possible
from progress.topology import Network

VERSION = 1
FIRST = {"pointstamp_order": VERSION}
ALL = 0  # messages, in a choice that was read
HOW_MANY = {"read": "items", "take": "messages", "notify": None}
FORMS = '{"read": input, "items": n}, {"take": edge, "time": t, "messages": n} or {"notify": node, "time": t}'


class Ordered:
    """Makes the choices of a file, one after the other; after the last one, somebody else chooses."""

    def __init__(self, path: str, choices: Sequence[tuple[int, Choice]], after: Chooser) -> None:
        self._path = path
        self._choices = choices
        self._done = 0
        self._after = after

    def choose(self, possible: Possible) -> Choice | None:
        """The next choice of the file; PS746 where it is not possible now."""
        if self._done == len(self._choices):
            return self._after.choose(possible)
        line, choice = self._choices[self._done]
        if choice.kind == "take" and choice.many == ALL:
            choice = choice._replace(many=possible.how_many(choice))
        if choice not in possible:
            raise self._misfit(line, f"{in_words(choice)} is not possible here", _right(possible))
        self._done += 1
        return choice

    def over(self) -> None:
        """The run is over; PS746 where the order goes on."""
        if self._done < len(self._choices):
            line, choice = self._choices[self._done]
            raise self._misfit(line, f"the run is over, and {in_words(choice)} is still to come", "the run's own order")
        self._after.over()

    def _misfit(self, line: int, what: str, right: str) -> PointstampError:
        return InFile(f"{self._path}:{line}", PointstampError("PS746", what, right))


class Noted:
    """Writes each choice of another chooser to a file, before it is made."""

    def __init__(self, file: LineFile, chooser: Chooser) -> None:
        self._file = file
        self._chooser = chooser
        self._write(FIRST)

    def choose(self, possible: Possible) -> Choice | None:
        """What the other one chooses."""
        choice = self._chooser.choose(possible)
        if choice is not None:
            self._write(to_data(choice))
        return choice

    def over(self) -> None:
        """The run is over."""
        self._chooser.over()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write((json.dumps(line) + "\n").encode())


def to_data(choice: Choice) -> dict[str, Any]:
    """A choice as a line of an order."""
    many = HOW_MANY[choice.kind]
    time = {} if choice.kind == "read" else {"time": write_time(choice.time)}
    return {choice.kind: choice.place, **time, **({} if many is None else {many: choice.many})}


def in_words(choice: Choice) -> str:
    """A choice as a sentence begins with it."""
    if choice.kind == "read":
        return f"reading {choice.many} of {quoted(choice.place)}"
    at = shown(choice.time)
    if choice.kind == "notify":
        return f"notifying {quoted(choice.place)} of {at}"
    return f"taking {choice.many} of {quoted(choice.place)} at {at}"


def read_order(path: str, network: Network) -> list[tuple[int, Choice]]:
    """The choices of a file with their lines; PS746 where one has not the form, or names what there is not.

    A last line that is torn, as where the run was killed that wrote it, is not a choice; that is said on stderr.
    """
    found = []
    try:
        with Path(path).open("rb") as file:
            for number, line in _lines(path, file):
                try:
                    data = read_json(line.decode())
                    if number > 1:
                        found.append((number, _choice(data, network)))
                    elif data != FIRST:
                        raise _bad("it does not begin as an order does", json.dumps(FIRST))
                except (PointstampError, UnicodeDecodeError) as error:
                    if isinstance(error, UnicodeDecodeError):
                        error = _bad("it is not UTF-8", "JSON in UTF-8")
                    elif error.code == "PS501":
                        error = _bad(error.message, "one JSON object a line")
                    raise InFile(f"{path}:{number}", error) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from None
    return found


def _lines(path: str, file: Any) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if number > 1 and is_torn(line, LONGEST_LINE):
            complain(f"pointstamp: {said_of_torn(path, number)}")
            return
        yield number, line
    if not number:
        raise InFile(path, _bad("it is empty", f"an order, which begins with {json.dumps(FIRST)}"))


def _choice(data: Any, network: Network) -> Choice:
    if not isinstance(data, dict):
        raise _bad(f"a choice is {kind_of(data)}", FORMS)
    kind: Any = next((key for key in HOW_MANY if key in data), None)
    many = HOW_MANY.get(kind)
    known = {kind, "time"} if kind == "notify" else {kind, many} if kind == "read" else {kind, "time", many}
    if kind is None or not data.keys() <= known or (kind != "read" and "time" not in data):
        raise _bad(f"this is not a choice: {shown(data)}", FORMS)
    place, count = data[kind], data.get(many, 1 if kind == "read" else ALL) if many else 1
    if not isinstance(place, str) or type(count) is not int or (many in data and count < 1):
        raise _bad(f"this is not a choice: {shown(data)}", FORMS)
    number = network.numbers.get(place)
    is_edge = number is not None and number >= len(network.nodes)
    if number is None or is_edge != (kind != "notify") or (kind == "read" and place not in network.inputs):
        what = {"read": "input", "take": "edge", "notify": "node"}[kind]
        raise _bad(f"there is no {what} {quoted(place)}", "an order of a run of this pipeline")
    if kind == "read":
        return Choice("read", place, None, count)
    time = as_time(network.domain(number), read_time(data["time"]))
    if time is NO_TIME:
        raise _bad(f"{shown(data['time'])} is not a time of {quoted(place)}", "an order of a run of this pipeline")
    return Choice(kind, place, time, count)


def _right(possible: Possible) -> str:
    some = [in_words(choice) for _, choice in zip(range(3), possible, strict=False)]
    return f"possible here: {', '.join(some) or 'nothing'}"


def _bad(what: str, right: str) -> PointstampError:
    return PointstampError("PS746", what, right)
