"""`pointstamp track`: the embedded scheduler for other languages, a step a line in, what is ready out (docs/track.md).

A line is taken whole or not at all: everything in it is read and judged before anything changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from graphs.files.document import quoted
from graphs.files.notation import kind_of, shown, suggestion
from graphs.graph import Graph, parts_of
from graphs.sessions.ask import LONGEST_LINE, lines_of, read_line, refuse_constant
from progress.errors import PointstampError
from progress.order import NO_TIME, as_time
from progress.plain import pairs, read_time, write_time
from progress.summary import NoMinimalTimes
from progress.tracker import Tracker
from progress.tracking.blocking import Blocker
from progress.tracking.refusal import Refusal, no_time_there, unknown_place, wrong_form
from progress.way import folds_to_json

KEYS = ("start", "inputs", "messages", "requests", "delivered", "show", "why")
NOTHING_READY: dict[str, Any] = {"ready": []}
SHORT_LINE = 4_000  # bytes; a number in it has fewer digits than Python refuses to read

Show = tuple[Sequence[str] | None, bool]  # the locations whose frontiers are asked for, and whether `eligible` is


class TrackSession:
    """Answers the lines of one session. `tracker` is the state after all lines that were taken."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._network = graph.network()
        self._tracker: Tracker | None = None
        self._begun = False  # whether a line was taken, so that it is too late for a start

    @property
    def tracker(self) -> Tracker:
        """The tracker of the session; before a start it stands where a session without one begins."""
        if self._tracker is None:
            self._tracker = Tracker(self.graph)
        return self._tracker

    def standing(self) -> dict[str, Any]:
        """Where the session stands, as plain data. Cost: O(what is outstanding)."""
        return {"begun": self._begun, "tracker": None if self._tracker is None else self._tracker.snapshot()}

    @classmethod
    def go_on(cls, graph: Graph, standing: Mapping[str, Any]) -> TrackSession:
        """A session that stands where another one stood."""
        session = cls(graph)
        session._begun = standing["begun"]
        if standing["tracker"] is not None:
            session._tracker = Tracker.restore(graph, standing["tracker"])
        return session

    def answer_line(self, line: bytes) -> str:
        """The answer to a line, as JSON in one line; a line that is refused is answered with an error.

        Cost: that of its JSON, of the step, and of what it asks to be shown; it does not grow with the session.
        """
        try:
            value = read_step(line)
        except PointstampError as error:
            return encode(refusal(error))
        return encode(self.answer_or_refuse(value))

    def answer_or_refuse(self, line: Any) -> dict[str, Any]:
        """The answer to a line of JSON data, whose lists it may change; an error where the line is refused."""
        try:
            return self.answer(line)
        except PointstampError as error:
            return refusal(error)
        except RecursionError:
            return refusal(wrong_form("lists and mappings are nested too deeply", "a line as docs/track.md shows them"))

    def answer(self, line: Any) -> dict[str, Any]:
        """The answer to a line of JSON data; raises why the line is refused."""
        try:
            return self._answer(line)
        except (PointstampError, TypeError, ValueError, LookupError, AttributeError) as error:
            _check_form(line)
            if not isinstance(error, PointstampError) or error.code == "PS503":
                self._check_times(line)
            elif error.code == "PS502" and self.graph.recursion is not None:
                self._check_parts_of_calls(line)
            raise

    def _answer(self, line: Any) -> dict[str, Any]:
        if "why" in line:
            return self._why(line)
        if "start" in line:
            return self._start(line)
        answer = self._step(self.tracker if self._tracker is None else self._tracker, line)
        self._begun = True
        return answer

    def _start(self, line: dict[str, Any]) -> dict[str, Any]:
        if self._begun:
            raise Refusal("PS510", "the session has begun, and start belongs before everything else", "a new session")
        _check_form(line)
        start = line["start"]
        tracker = Tracker(
            self.graph, inputs=_inputs(start.get("inputs", {})), requests=_items(start.get("requests", []))
        )
        answer = self._step(tracker, line)
        self._tracker, self._begun = tracker, True
        return answer

    def _step(self, tracker: Tracker, line: dict[str, Any]) -> dict[str, Any]:
        step: dict[str, Any] = {}
        show: Show | None = None
        for key, value in line.items():
            if key == "messages" or key == "requests" or key == "delivered":
                step[key] = _items(value)
            elif key == "inputs":
                step[key] = _inputs(value)
            elif key == "show":
                show = self._show(value)
            elif key != "start":
                raise KeyError(key)
        if step:
            tracker.apply(**step)
        ready = tracker.get_ready()
        if show is None and not ready:
            return NOTHING_READY
        answer: dict[str, Any] = {"ready": pairs(ready)}
        if show is not None:
            locations, eligible = show
            if locations is not None:
                answer["frontiers"] = {name: frontier_to_json(tracker, name) for name in locations}
            if eligible:
                answer["eligible"] = pairs(tracker.eligible())
        return answer

    def _show(self, show: Mapping[str, Any]) -> Show:
        """What is to be shown; all of it is there, so that showing it does not fail after the step."""
        eligible = show.get("eligible", False)
        locations = show.get("frontiers")
        if type(eligible) is not bool or len(show) != ("eligible" in show) + ("frontiers" in show):
            raise TypeError
        if "frontiers" in show and type(locations) is not list:
            raise TypeError
        for name in locations or ():
            if name not in self._network.numbers:
                raise unknown_place(name, self._network.numbers)
        return locations, eligible

    def _why(self, line: dict[str, Any]) -> dict[str, Any]:
        _check_form(line)
        node, time = line["why"]
        found = self.tracker.why(node, read_time(time))
        self._begun = True
        return {"blocked": found.blocked, "by": [blocker_to_json(blocker) for blocker in found.by]}

    def _check_times(self, line: dict[str, Any]) -> None:
        """Refuse the first time that is none of its location's domain, as it stands in the line."""
        for name, time in _pointstamps(line):
            number = self._network.numbers.get(name)
            if number is not None and as_time(self._network.domain(number), read_time(time)) is NO_TIME:
                raise no_time_there(name, time, self._network.domain(number))

    def _check_parts_of_calls(self, line: dict[str, Any]) -> None:
        """Refuse the first call that stands for a location: its parts do."""
        for name in (*(name for name, _ in _pointstamps(line)), *line.get("show", {}).get("frontiers", ())):
            if name in self.graph.nodes and name not in self._network.numbers:
                raise Refusal("PS502", f"there is no location {quoted(name)}", parts_of(name))


def frontier_to_json(tracker: Tracker, location: str) -> list[Any] | None:
    """A frontier as JSON data; None where it has no minimal times, for the step stands all the same."""
    try:
        return [write_time(time) for time in tracker.frontier(location)]
    except NoMinimalTimes:
        return None


# --- lines ------------------------------------------------------------------------------------------------------------


def read_step(line: bytes) -> Any:
    """The JSON value of a line, as strictly as `graphs.sessions.ask.read_line` reads it; PS501 when it is none.

    A short line is read by the decoder of the standard library without hooks, which is three times as fast. What it
    does not notice is noticed here: a key that appears twice leaves fewer keys than there are colons.
    """
    if len(line) <= SHORT_LINE:
        try:
            text = line.decode()
            value, end = _decode(text, 0)
            if (text[end:] in ("\n", "", "\r\n")) and type(value) is dict:
                colons = line.count(b":")
                if colons == len(value) or colons == _keys_in(value):
                    return value
        except (ValueError, RecursionError, StopIteration):  # the last where there is no value at all
            pass
    try:
        return read_line(line)
    except PointstampError as error:
        raise wrong_form(error.message, "one JSON object a line, as docs/track.md shows them") from None


def _keys_in(mapping: dict[str, Any]) -> int:
    return len(mapping) + sum([_keys_in(part) for part in mapping.values() if type(part) is dict])


_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(parse_constant=refuse_constant).scan_once  # type: ignore[attr-defined]


def _encoder() -> Callable[[Any], str]:
    """`json.dumps` with everything made once, where the standard library has its usual form."""
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    try:
        pieces = make(None, None, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, False)
        pieces({"a": [1]}, 0)
        return lambda data: "".join(pieces(data, 0))
    except TypeError:
        return json.JSONEncoder(check_circular=False).encode


_encode = _encoder()
_NOTHING_READY_TEXT = _encode(NOTHING_READY)


def encode(answer: dict[str, Any]) -> str:
    """An answer as JSON in one line."""
    return _NOTHING_READY_TEXT if answer is NOTHING_READY else _encode(answer)


def refusal(error: PointstampError) -> dict[str, Any]:
    """The answer to a line that is refused, its times as JSON has them."""
    message, hint = error.said(shown) if isinstance(error, Refusal) else (error.message, error.hint)
    return {"error": {"code": error.code, "message": message, "hint": hint}}


def blocker_to_json(blocker: Blocker) -> dict[str, Any]:
    """An outstanding pointstamp that holds something back, as JSON data."""
    pointstamp, kind, proof, folds = blocker
    return {"pointstamp": pairs([pointstamp])[0], "kind": kind, "proof": pairs(proof), **folds_to_json(folds)}


# --- from JSON data to what the tracker takes -------------------------------------------------------------------------
#
# These take what is well formed, quickly. What is not makes them raise something, and then `_check_form` says what.


def _items(items: Any) -> list[Any]:
    """Messages, requests or deliveries as the tracker and its kernel take them: tuples, with their times."""
    if type(items) is not list:
        raise TypeError
    found = []
    for item in items:
        if type(item) is not list:
            raise TypeError
        time = item[1]
        if type(time) is not int:
            item[1] = _time(time)
        found.append(tuple(item))
    return found


def _inputs(inputs: Any) -> dict[str, list[Any]]:
    """Inputs with their times as the tracker has them."""
    for name, times in inputs.items():
        if type(times) is not list:
            raise TypeError
        inputs[name] = [_time(time) for time in times]
    return inputs  # type: ignore[no-any-return]


def _time(data: Any) -> Any:
    if type(data) is list:
        row = tuple(data)
        try:
            hash(row)
            return row  # nothing in it is a list
        except TypeError:
            pass
    return read_time(data)


# --- what is wrong with a line ----------------------------------------------------------------------------------------


def _check_form(line: Any) -> None:
    """Refuse (PS501) what is not the form of a line, without looking at names and times."""
    if not isinstance(line, dict):
        raise wrong_form(f"the line is {kind_of(line)}", f"a mapping with keys of {', '.join(KEYS)}")
    _check_keys(line, "the line", KEYS)
    if "why" in line:
        if len(line) > 1:
            raise wrong_form("why stands beside other keys", "a line of its own for each")
        _check_item(line["why"], "why", '["node", time]', 2)
    if "start" in line:
        _check_kind(dict, line["start"], "start", '{"inputs": {"input": [0]}, "requests": [["node", 0]]}')
        _check_keys(line["start"], "start", ("inputs", "requests"))
        _check_parts(line["start"])
    if "show" in line:
        show = line["show"]
        _check_kind(dict, show, "show", '{"frontiers": ["location"], "eligible": true}')
        _check_keys(show, "show", ("frontiers", "eligible"))
        locations = show.get("frontiers", [])
        _check_kind(list, locations, "show.frontiers", '["location"]')
        for name in locations:
            if not isinstance(name, str):
                raise wrong_form(f"a location in show.frontiers is {kind_of(name)}", "its name, a text")
        if not isinstance(show.get("eligible", False), bool):
            raise wrong_form(f"show.eligible is {kind_of(show['eligible'])}", "true or false")
    _check_parts(line)


def _check_parts(parts: dict[str, Any]) -> None:
    """The form of what a step and a start have in common."""
    inputs = parts.get("inputs", {})
    _check_kind(dict, inputs, "inputs", '{"input": [0]}, [] to close it')
    for name, times in inputs.items():
        _check_kind(list, times, f"inputs.{quoted(name)}", "a list of times, [] to close it")
    for key, form in (
        ("messages", '["edge", time, change]'),
        ("requests", '["node", time]'),
        ("delivered", '["node", time]'),
    ):
        items = parts.get(key, [])
        _check_kind(list, items, key, f"[{form}]")
        for item in items:
            _check_item(item, key, form, 3 if key == "messages" else 2)
            if key == "messages" and type(item[2]) is not int:
                raise wrong_form(f"a change in messages is {kind_of(item[2])}", "a whole number")


def _check_item(item: Any, key: str, form: str, length: int) -> None:
    if not isinstance(item, list) or len(item) != length:
        what = f"a list of {len(item)}" if isinstance(item, list) else kind_of(item)
        raise wrong_form(f"{what} in {key}" if key != "why" else f"why is {what}", form)
    if not isinstance(item[0], str):
        raise wrong_form(f"a location in {key} is {kind_of(item[0])}", f"its name, a text: {form}")


def _check_kind(kind: type, value: Any, what: str, form: str) -> None:
    if not isinstance(value, kind):
        raise wrong_form(f"{what} is {kind_of(value)}", form)


def _check_keys(mapping: dict[str, Any], what: str, known: tuple[str, ...]) -> None:
    for key in mapping:
        if key not in known:
            raise wrong_form(f"unknown key {quoted(key)} in {what}", suggestion(key, known))


def _pointstamps(line: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """All locations with times that a line of the right form has."""
    if "why" in line:
        yield line["why"]
    for parts in (line.get("start", {}), line):
        for name, times in parts.get("inputs", {}).items():
            yield from ((name, time) for time in times)
        for key in ("messages", "requests", "delivered"):
            yield from ((item[0], item[1]) for item in parts.get(key, ()))


# --- the session ------------------------------------------------------------------------------------------------------


def track(graph: Graph, lines: BinaryIO, answers: BinaryIO, record: BinaryIO | None = None) -> None:
    """Answer line by line, each at once. `record` gets every line with its answer, before the answer is given."""
    session = TrackSession(graph)
    for line in lines_of(lines):
        answer = session.answer_line(line)
        if record is not None:
            record.write(recorded(line, answer))
            record.flush()
        answers.write(answer.encode() + b"\n")
        answers.flush()


def recorded(line: bytes, answer: str) -> bytes:
    """A line with its answer as a line of a trace: {"in": ..., "out": ...}.

    What is not a step (PS501) is kept as text, whatever its bytes are, and what is too long is kept as null.
    """
    if len(line) > LONGEST_LINE:
        kept = "null"
    elif answer.startswith('{"error": {"code": "PS501"'):
        kept = json.dumps(line.decode("utf-8", "surrogateescape"))
    else:
        kept = line.decode("utf-8-sig").strip()
    return f'{{"in": {kept}, "out": {answer}}}\n'.encode()
