"""`pointstamp ask`: one query a line, one answer a line (docs/ask.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from graphs.files.document import quoted
from graphs.files.notation import kind_of, suggestion
from graphs.graph import Graph
from progress.clock import of_kind
from progress.closure import close_numbered
from progress.could_result_in import CouldResultIn
from progress.errors import PointstampError
from progress.notification import eligible_numbered
from progress.plain import pairs, times_by_place, write_time
from progress.way import folds_to_json

LONGEST_LINE = 16 * 1024 * 1024
MOST_WALK = 10_000  # pairs of a walk that are written, fewer where stacks are so deep that these are longer than a line
MOST_DIGITS = 4_200  # Python refuses to write numbers of more than 4,300


class Asker:
    """Answers queries about one graph; what a query costs is what the engine's function of that name costs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._network = graph.network()
        self.could_result_in = CouldResultIn(graph)
        self.queries: dict[str, Callable[[Any], dict[str, Any]]] = {
            "could_result_in": self._could_result_in,
            "close": self._close,
            "contains": self._contains,
            "eligible": self._eligible,
            "equivalent": self._equivalent,
            "canonical": self._canonical,
        }

    def answer_line(self, line: bytes) -> str:
        """The answer to a line, as JSON in one line; a bad line is answered with an error."""
        try:
            return json.dumps(self.answer(read_line(line)))
        except PointstampError as error:
            return json.dumps(refusal(error))
        except RecursionError:
            return json.dumps(refusal(nested_too_deeply()))

    def answer(self, query: Any) -> dict[str, Any]:
        """The answer to a query; raises what is wrong with it."""
        if isinstance(query, Mapping) and "walk" in query:
            return self._with_walk(dict(query))
        word, body = self._only_key(query)
        return self.queries[word](body)

    def _only_key(self, query: Any) -> tuple[str, Any]:
        known = ", ".join(self.queries)
        if not isinstance(query, Mapping) or len(query) != 1:
            what = f"a mapping of {len(query)} keys" if isinstance(query, Mapping) else kind_of(query)
            raise PointstampError("PS501", f"the query is {what}", f"a mapping with one key of {known}")
        word, body = next(iter(query.items()))
        if word not in self.queries:
            raise PointstampError("PS501", f"unknown query {quoted(str(word))}", suggestion(word, self.queries))
        return word, body

    def _could_result_in(self, body: Any) -> dict[str, Any]:
        return self._proved(*self._ends(body))

    def _ends(self, body: Any) -> tuple[tuple[int, Any], tuple[int, Any]]:
        if not isinstance(body, list) or len(body) != 2:
            raise PointstampError("PS501", "could_result_in needs two pointstamps", '[["x", t], ["y", u]]')
        return self._pointstamp(body[0]), self._pointstamp(body[1])

    def _proved(self, start: tuple[int, Any], end: tuple[int, Any]) -> dict[str, Any]:
        proof = self.could_result_in.proof_numbered(start, end)
        return {"result": False} if proof is None else {"result": True, "proof": pairs(proof)}

    def _with_walk(self, query: dict[str, Any]) -> dict[str, Any]:
        """The answer to could_result_in, with the way step by step."""
        wanted = query.pop("walk")
        word, body = self._only_key(query)
        if word != "could_result_in" or not isinstance(wanted, bool):
            raise PointstampError("PS501", f"walk is {kind_of(wanted)}, beside {word}", "true, beside could_result_in")
        start, end = self._ends(body)
        answer = self._proved(start, end)
        if not wanted or not answer["result"]:
            return answer
        walk = self.could_result_in.walk_numbered(start, end)
        assert walk is not None
        written: list[Any] = []
        room = LONGEST_LINE
        for step in walk:
            if len(written) == MOST_WALK or room < 0:
                answer["goes_on"] = True
                break
            written += pairs([step])
            room -= len(json.dumps(written[-1]))
        answer["walk"] = written
        return answer

    def _close(self, body: Any) -> dict[str, Any]:
        closure = close_numbered(self._network, self._pointstamps(body, "close"))
        return {"frontiers": times_by_place(closure.frontiers)}

    def _contains(self, body: Any) -> dict[str, Any]:
        self._check_keys(body, "contains", ("close", "pointstamp"), ("close", "pointstamp"))
        starts = self._pointstamps(body["close"], "close")
        location, time = self._pointstamp(body["pointstamp"])
        return {"result": close_numbered(self._network, starts).covers(location, time)}

    def _eligible(self, body: Any) -> dict[str, Any]:
        self._check_keys(body, "eligible", ("messages", "requests"), ())
        messages = self._pointstamps(body.get("messages", []), "messages")
        requests = self._pointstamps(body.get("requests", []), "requests")
        network = self._network
        answer = eligible_numbered(network, of_kind(network, messages, "edge"), of_kind(network, requests, "node"))
        return {
            "eligible": pairs(answer.eligible),
            "blocked": [
                {"request": pairs([request])[0], "by": pairs([by])[0], "proof": pairs(proof), **folds_to_json(folds)}
                for request, by, proof, folds in answer.blocked
            ],
        }

    def _equivalent(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, list) or len(body) != 3 or not isinstance(body[0], str):
            raise PointstampError("PS501", "equivalent needs a location and two stacks", '["p", ["c"], ["d"]]')
        order = self._stacks(body[0])
        one, other = (self.graph.time_from_json(body[0], time) for time in body[1:])
        return {"result": order.less_equal(one, other) and order.less_equal(other, one)}

    def _canonical(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, list) or len(body) != 2 or not isinstance(body[0], str):
            raise PointstampError("PS501", "canonical needs a location and a stack", '["p", ["c", "d"]]')
        order = self._stacks(body[0])
        return {"result": write_time(order.canonical(self.graph.time_from_json(*body)))}

    def _stacks(self, location: str) -> Any:
        """The order of stacks at a location."""
        if self.graph.recursion is None:
            raise PointstampError(
                "PS501", "the graph has no calls, so its times are not stacks", "a graph with recursion"
            )
        return self.graph.domain_of(location)

    def _check_keys(self, body: Any, word: str, known: tuple[str, ...], needed: tuple[str, ...]) -> None:
        if not isinstance(body, Mapping):
            raise PointstampError("PS501", f"{word} is {kind_of(body)}", f"a mapping with {' and '.join(known)}")
        for key in body:
            if key not in known:
                raise PointstampError("PS501", f"unknown key {quoted(str(key))} in {word}", suggestion(key, known))
        for key in needed:
            if key not in body:
                raise PointstampError("PS501", f"{word} has no {key}", f"a mapping with {' and '.join(needed)}")

    def _pointstamps(self, body: Any, word: str) -> list[tuple[int, Any]]:
        if not isinstance(body, list):
            raise PointstampError("PS501", f"{word} is {kind_of(body)}", 'a list like [["x", t], ["y", u]]')
        return [self._pointstamp(item) for item in body]

    def _pointstamp(self, item: Any) -> tuple[int, Any]:
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
            raise PointstampError("PS501", "a pointstamp is a location and a time", '["x", t]')
        return self.graph.pointstamp_from_json(item[0], item[1])


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream as they come. Of one that is too long only the beginning, which is too long as well."""
    while line := stream.readline(LONGEST_LINE + 2):
        rest = line
        while len(line) > LONGEST_LINE and rest and not rest.endswith(b"\n"):
            rest = stream.readline(1 << 20)
        yield line


def read_line(line: bytes) -> Any:
    """The JSON value of a line; PS501 when it is none."""
    if len(line) > LONGEST_LINE:
        raise PointstampError("PS501", f"the line is longer than {LONGEST_LINE} bytes", "ask in smaller parts")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PointstampError("PS501", "the line is not UTF-8", "JSON in UTF-8") from None
    if not text or text.isspace():
        raise PointstampError("PS501", "the line is empty", "one JSON object a line")
    return read_json(text)


def read_json(text: str) -> Any:
    """The value of a JSON text, strictly: no key twice, no NaN, no number of more than `MOST_DIGITS` digits."""
    try:
        return json.loads(text, parse_constant=refuse_constant, parse_int=_integer, object_pairs_hook=_distinct)
    except RecursionError:
        raise nested_too_deeply() from None
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.pos + 1}"
        raise PointstampError("PS501", message, "one JSON object a line") from None
    except ValueError as error:
        raise PointstampError("PS501", f"this is not JSON: {error}", "one JSON object a line") from None


def nested_too_deeply() -> PointstampError:
    """The complaint about lists in lists without end."""
    return PointstampError("PS501", "lists and mappings are nested too deeply", "a query as docs/ask.md lists them")


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits")
    return int(digits)


def refuse_constant(word: str) -> Any:
    """JSON has no NaN and no infinity, whatever Python reads."""
    raise ValueError(f"{word} is not a number")


def _distinct(pairs_: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs_)
    if len(found) < len(pairs_):
        raise ValueError("a key appears twice")
    return found


def refusal(error: PointstampError) -> dict[str, Any]:
    """An error as the answer to a line."""
    message = f"{error.message} ({error.hint})" if error.hint else error.message
    return {"error": {"code": error.code, "message": message}}
