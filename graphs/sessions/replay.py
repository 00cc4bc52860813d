"""`pointstamp replay`: a recorded `track` session played again, to the end or to any line (docs/track.md).

A trace has the lines of a session, in one of three forms, which may be mixed: the lines that `track` was fed; each with
its answer, as `track --record` writes {"in": ..., "out": ...}; or each followed by its answer on the next line. Answers
that are there are compared. Whatever else stands in a trace is damage (PS513).

A trace is read line by line: memory does not grow with it. To get to a line, all lines before it are played.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from graphs.files.notation import kind_of
from graphs.graph import Graph
from graphs.sessions.ask import LONGEST_LINE, read_json
from graphs.sessions.torn import is_torn
from graphs.sessions.track import TrackSession, blocker_to_json, encode, frontier_to_json, read_step
from graphs.sessions.waiting import blocker_lines
from graphs.wording import plural, printable, shown_time
from progress.errors import PointstampError
from progress.plain import pairs, write_time
from progress.summary import NoMinimalTimes
from progress.tracker import Tracker
from progress.tracking.refusal import Refusal

LONGEST_TRACE_LINE = 8 * LONGEST_LINE  # text takes up to six characters a byte, and there is the answer
ANSWERS = ("ready", "blocked", "error")
COUNTS = ("line", "steps", "questions", "ready", "compared", "fed")
NO_EARLIEST = "no earliest times"


class Difference(NamedTuple):
    """A line whose answer is not the recorded one."""

    line: int
    recorded: Any
    replayed: Any


class Replay:
    """Plays a trace. What there was until now is counted, and `session` has the state.

    Cost of a line: that of its JSON and of its step, as in the session itself.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.session = TrackSession(graph)
        self.line = 0  # of the trace, the last that was played
        self.is_torn = False  # whether a line came after it that is not whole (`graphs.sessions.torn`)
        self.steps = 0
        self.questions = 0
        self.refused: dict[str, int] = {}  # by code
        self.ready = 0
        self.compared = 0
        self.difference: Difference | None = None  # the first there was
        self.fed = 0  # the last line that was fed to the session
        self.answer: dict[str, Any] = {}  # to that line
        self.taken: Mapping[str, Any] = {}  # that line, if it was taken
        self._text = b""  # of that line
        self._answered = True  # whether its recorded answer was met

    def play(self, trace: BinaryIO, until: int | None = None) -> None:
        """Play a trace to its end, or up to line `until` and its answer; PS513 where it is damaged.

        A last line that is torn is not played.
        """
        while until is None or self.line < until:
            line = trace.readline(LONGEST_TRACE_LINE)
            self.is_torn = is_torn(line, LONGEST_TRACE_LINE)
            if not line or self.is_torn:
                return
            self.play_line(line)
        if not self._answered:  # the answer may stand on the next line
            with suppress(Refusal):
                value = _read(trace.readline(LONGEST_TRACE_LINE), self.line + 1)
                if _is_answer(value):
                    self._compare(value)

    def standing(self) -> dict[str, Any]:
        """All that is needed to go on from here, as plain data. Cost: O(what is outstanding)."""
        return {
            "session": self.session.standing(),
            **{name: getattr(self, name) for name in COUNTS},
            "refused": self.refused,
            "difference": self.difference,
            "answer": self.answer,
            "text": self._text.decode("utf-8", "surrogateescape"),
            "answered": self._answered,
        }

    @classmethod
    def go_on(cls, graph: Graph, standing: dict[str, Any]) -> Replay:
        """A replay that goes on from where another one stood."""
        replay = cls(graph)
        replay.session = TrackSession.go_on(graph, standing["session"])
        for name in COUNTS:
            setattr(replay, name, standing[name])
        replay.refused = {**standing["refused"]}
        replay.difference = None if standing["difference"] is None else Difference(*standing["difference"])
        replay.answer = standing["answer"]
        replay._text = standing["text"].encode("utf-8", "surrogateescape")
        replay._answered = standing["answered"]
        return replay

    def is_of_another_graph(self) -> bool:
        """Whether no line was taken so far, all of them naming what the graph does not have, and no record says so."""
        is_strange = self.refused.keys() <= {"PS502", "PS503", "PS504"} and sum(self.refused.values()) > 0
        return is_strange and not self.steps and (not self.compared or self.difference is not None)

    def given(self) -> Any:
        """The last line that was fed to the session, as JSON data."""
        if not self._text:
            return None
        value = _read(self._text, self.fed)
        return value.get("in", value)

    def play_line(self, line: bytes) -> None:
        """Play the next line of a trace; PS513 where it is damaged."""
        self.line += 1
        if not line.strip():
            return
        value = _read(line, self.line)
        if "in" in value:
            if not value.keys() <= {"in", "out"}:
                raise damaged(self.line, "there is more than a line and its answer")
            self._feed(line, value["in"])
            if "out" in value:
                self._compare(value["out"])
        elif not _is_answer(value):
            self._feed(line, value)
        elif self._answered:
            raise damaged(self.line, "this is an answer, and no line waits for one")
        else:
            self._compare(value)

    def _feed(self, text: bytes, value: Any) -> None:
        if isinstance(value, dict):
            answer = self.session.answer_or_refuse(value)
        else:  # what could not be read: a text, or too long to be kept
            line = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(LONGEST_LINE + 2)
            answer = json.loads(self.session.answer_line(line))
        self.fed, self._text, self.answer, self._answered = self.line, text, answer, False
        self.taken = value if isinstance(value, dict) and "error" not in answer else {}
        if "ready" in answer:
            self.steps += 1
            self.ready += len(answer["ready"])
        elif "error" in answer:
            code = answer["error"]["code"]
            self.refused[code] = self.refused.get(code, 0) + 1
        else:
            self.questions += 1

    def _compare(self, recorded: Any) -> None:
        """Whether the recorded answer says the same; of a refusal only the code counts, words may change."""
        self._answered = True
        self.compared += 1
        if recorded == self.answer or self.difference is not None:
            return
        replayed = json.loads(encode(self.answer))
        code = _code(replayed)
        if recorded != replayed and (code is None or code != _code(recorded)):
            self.difference = Difference(self.fed, recorded, replayed)


def of_another_graph() -> PointstampError:
    """What is said of a trace of which nothing fits the graph (PS513)."""
    what = "no line of it is a step of this graph: they name locations and times that it does not have"
    return PointstampError("PS513", what, "the graph of which it was recorded")


def damaged(line: int, what: str) -> Refusal:
    """The complaint about a line that belongs to no trace."""
    error = Refusal("PS513", what, "a line of a session, as it was fed to `track` or as `track --record` wrote it")
    error.line = line
    return error


def _read(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = read_step(line) if len(line) <= LONGEST_LINE else read_json(line.decode())
    except (PointstampError, UnicodeDecodeError) as error:
        raise damaged(number, error.message if isinstance(error, PointstampError) else "it is not UTF-8") from None
    if not isinstance(value, dict):
        raise damaged(number, f"it is {kind_of(value)}")
    return value


def _is_answer(value: dict[str, Any]) -> bool:
    return any(key in value for key in ANSWERS)


def _code(answer: Any) -> Any:
    error = answer.get("error") if isinstance(answer, dict) else None
    return error.get("code") if isinstance(error, dict) else None


# --- what is shown ----------------------------------------------------------------------------------------------------


def report(replay: Replay, at: bool, why: Iterable[tuple[str, Any]], holding: Iterable[str]) -> dict[str, Any]:
    """What a replay found, as JSON data; `at`: with the line where it stopped."""
    tracker = replay.session.tracker
    found: dict[str, Any] = {
        "format_version": 1,
        "line": replay.line,
        "torn": replay.is_torn,
        "steps": replay.steps,
        "questions": replay.questions,
        "refused": dict(sorted(replay.refused.items())),
        "ready": replay.ready,
        "compared": replay.compared,
        "difference": None if replay.difference is None else replay.difference._asdict(),
    }
    if at:
        found |= {"in": replay.given(), "out": replay.answer}
    found["state"] = {
        "frontiers": {name: frontier_to_json(tracker, name) for name in replay.graph.locations()},
        "inputs": {name: list(map(write_time, times)) for name, times in tracker.inputs().items()},
        "messages": [[edge, write_time(time), count] for (edge, time), count in tracker.messages().items()],
        "requests": pairs(tracker.pending()),
        "eligible": pairs(tracker.eligible()),
    }
    found["why"] = []
    for node, time in why:
        answer = tracker.why(node, time)
        by = [blocker_to_json(blocker) for blocker in answer.by]
        found["why"].append({"request": [node, write_time(time)], "blocked": answer.blocked, "by": by})
    found["holding"] = [{"location": name, "held": _held(tracker, name)} for name in holding]
    return found


def _held(tracker: Tracker, location: str) -> list[dict[str, Any]] | None:
    """Who holds each minimal time of a location; None where it has no minimal times."""
    try:
        holdings = tracker.holding(location)
    except NoMinimalTimes:
        return None
    return [{"time": write_time(time), "by": [blocker_to_json(blocker) for blocker in by]} for time, by in holdings]


def render(found: dict[str, Any]) -> str:
    """A report for the terminal."""
    refused = sum(found["refused"].values())
    codes = ", ".join(f"{code} {count}" for code, count in found["refused"].items())
    lines = [
        f"{_count(found['line'], 'line')} played: {_count(found['steps'], 'step')}, "
        f"{_count(found['questions'], 'question')}, {refused} refused{f' ({codes})' if codes else ''}; "
        f"{_count(found['ready'], 'request')} became ready.",
    ]
    if found["difference"] is not None:
        difference = found["difference"]
        lines += [
            f"Line {difference['line']} is answered differently.",
            f"  recorded  {_shown(difference['recorded'])}",
            f"  replayed  {_shown(difference['replayed'])}",
        ]
    elif found["compared"]:
        lines.append(f"{_count(found['compared'], 'recorded answer')} compared: all the same.")
    if "in" in found:
        lines += ["", "The last of them", f"  in   {_shown(found['in'])}", f"  out  {_shown(found['out'])}"]
    state = found["state"]
    lines += ["", "Frontiers", *_table((name, _list(times)) for name, times in state["frontiers"].items())]
    lines += ["", "Inputs", *_table((name, _list(times, "closed")) for name, times in state["inputs"].items())]
    lines += ["", "Messages", *_table((f"{edge} {_shown(time)}", str(n)) for edge, time, n in state["messages"])]
    eligible = {(node, json.dumps(time)) for node, time in state["eligible"]}
    marks = ((node, time, (node, json.dumps(time)) in eligible) for node, time in state["requests"])
    lines += ["", "Requests"]
    lines += _table((f"{node} {_shown(time)}", "may be delivered" if free else "waits") for node, time, free in marks)
    for answer in found["why"]:
        node, time = answer["request"]
        lines += ["", f"Why {printable(node)} {_shown(time)} {'waits' if answer['blocked'] else 'does not wait'}"]
        lines += blocker_lines(answer["by"], "  ")
    for answer in found["holding"]:
        nobody = ": nobody" if answer["held"] == [] else f": {NO_EARLIEST}" if answer["held"] is None else ""
        lines += ["", f"Who holds {printable(answer['location'])}{nobody}"]
        for held in answer["held"] or ():
            lines += [f"  at {_shown(held['time'])}", *blocker_lines(held["by"], "    ")]
    return "\n".join(lines) + "\n"


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    safe = [(printable(name), text) for name, text in rows]
    width = max((len(name) for name, _ in safe), default=0)
    return [f"  {name:{width}}  {text}" for name, text in safe] or ["  none"]


def _list(times: Sequence[Any] | None, nothing: str = "complete") -> str:
    if times is None:
        return NO_EARLIEST
    return ", ".join(map(_shown, times)) or nothing


def _count(number: int, word: str) -> str:
    return f"{number:,} {plural(number, word)}"


def _shown(value: Any) -> str:
    return shown_time(value, 1_000)
