"""How domains, times and summaries are written as plain data, in files and in code (docs/graph-files.md).

Reading is strict: what is not understood is refused with the place in the data (`path`), what is wrong there, and what
would be right. Writing is the inverse.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graphs.files.document import nearest, quoted
from progress.errors import PointstampError
from progress.normal_form.declared import (
    Advance,
    AnyOf,
    AtLeast,
    Constant,
    Declared,
    Enter,
    Feedback,
    Identity,
    Leave,
    Never,
    RoundUp,
    Table,
    Tag,
    Then,
    Untag,
)
from progress.order import Domain, Finite, Int, Lex, Nat, Product, Sum, Tagged, Unit, is_integer
from progress.plain import write_time

Path = tuple[str | int, ...]

DOMAIN_WORDS = ("nat", "int", "unit", "product", "lex", "finite", "sum", "stack")
SUMMARY_WORDS = (
    "identity",
    "never",
    "advance",
    "enter",
    "leave",
    "feedback",
    "at_least",
    "constant",
    "round_up",
    "map",
    "tag",
    "untag",
    "then",
    "any",
)
LARGEST_NUMBER_OF_COORDINATES = 64
LARGEST_NUMBER_OF_SUMMARIES = 128
LARGEST_NUMBER_OF_ELEMENTS = 1024
LARGEST_NUMBER_OF_ROWS = 4096
DEEPEST_NESTING = 64


class NotationError(PointstampError):
    """A complaint about plain data, with the path of keys and positions that leads to it."""

    def __init__(self, code: str, message: str, hint: str, path: Path) -> None:
        super().__init__(code, message, hint)
        self.path = path


def suggestion(word: object, known: Iterable[str]) -> str:
    """A hint: the known word that `word` was probably meant to be, or all of them."""
    known = list(known)
    close = nearest(str(word), known)
    return f"did you mean {close}?" if close else f"one of {', '.join(known[:20])}"


def kind_of(data: object) -> str:
    """What a piece of data is, in words."""
    if data is None:
        return "null"
    for types, word in (
        (bool, "true or false"),
        (int, "a number"),
        (float, "a fraction"),
        (str, "text"),
        (Mapping, "a mapping"),
        ((list, tuple), "a list"),
    ):
        if isinstance(data, types):
            return word
    return type(data).__name__


def only_key(data: Mapping[Any, Any], path: Path, code: str, what: str, known: tuple[str, ...]) -> tuple[str, Any]:
    """The one key of a one-key mapping and its value."""
    if len(data) != 1:
        raise NotationError(code, f"{what} is a mapping of {len(data)} keys", f"one key of {', '.join(known)}", path)
    word, value = next(iter(data.items()))
    if word not in known:
        raise NotationError(code, f"unknown {what} {quoted(str(word))}", suggestion(word, known), path)
    return word, value


def _list(data: Any, path: Path, code: str, what: str) -> list[Any]:
    if not isinstance(data, list | tuple):
        raise NotationError(code, f"{what} is {kind_of(data)}", "a list", path)
    return list(data)


# --- domains ---------------------------------------------------------------------------------------------------------


def read_domain(data: Any, path: Path = ()) -> Domain:
    """The domain that `data` names; a `Domain` is taken as it is."""
    if isinstance(data, Domain) and not isinstance(data, str | Mapping):
        return data
    try:
        return _domain(data, path, DEEPEST_NESTING)
    except NotationError:
        raise
    except PointstampError as error:
        raise NotationError(error.code, error.message, error.hint, path) from None


def _domain(data: Any, path: Path, depth: int) -> Domain:
    if depth == 0:
        raise NotationError("PS004", "domains are nested too deeply", f"at most {DEEPEST_NESTING} levels", path)
    if isinstance(data, str):
        if data in ("nat", "int", "unit"):
            return Nat() if data == "nat" else Int() if data == "int" else Unit()
        if data == "stack":
            raise NotationError(
                "PS012", "the domain stack belongs to graphs with calls", "say what calls with the key recursion", path
            )
        if data in DOMAIN_WORDS:
            raise NotationError("PS012", f"the domain {data} needs its parts", f"{{{data}: ...}}", path)
        raise NotationError("PS012", f"unknown domain {quoted(data)}", suggestion(data, DOMAIN_WORDS), path)
    if not isinstance(data, Mapping):
        raise NotationError(
            "PS012", f"a domain is {kind_of(data)}", "a word like nat, or a mapping like {lex: [...]}", path
        )
    word, value = only_key(data, path, "PS012", "domain", DOMAIN_WORDS)
    inner = (*path, word)
    if word in ("product", "lex"):
        parts = _list(value, inner, "PS012", word)
        if not 1 <= len(parts) <= LARGEST_NUMBER_OF_COORDINATES:
            raise NotationError(
                "PS012", f"{word} has {len(parts)} coordinates", f"1 to {LARGEST_NUMBER_OF_COORDINATES}", inner
            )
        domains = [_domain(part, (*inner, position), depth - 1) for position, part in enumerate(parts)]
        return _refused_at(inner, lambda: (Product if word == "product" else Lex)(domains))
    if word == "nat":
        return _bounded(value, inner)
    if word == "finite":
        return _finite(value, inner)
    if word == "sum":
        if not isinstance(value, Mapping):
            raise NotationError("PS012", f"sum is {kind_of(value)}", "a mapping like {left: nat, right: int}", inner)
        for tag in value:
            if not isinstance(tag, str):
                raise NotationError("PS012", f"the tag {tag!r} is {kind_of(tag)}", "text", inner)
        return _refused_at(
            inner, lambda: Sum({tag: _domain(part, (*inner, tag), depth - 1) for tag, part in value.items()})
        )
    raise NotationError("PS012", f"{word} takes no parts", f"just {word}", path)


def _refused_at(path: Path, build: Callable[[], Domain]) -> Domain:
    try:
        return build()
    except NotationError:
        raise
    except PointstampError as error:
        raise NotationError(error.code, error.message, error.hint, path) from None


def _bounded(value: Any, path: Path) -> Domain:
    if not isinstance(value, Mapping) or set(value) != {"max"}:
        raise NotationError("PS012", "nat has no key but max", "{nat: {max: 255}}", path)
    return _refused_at((*path, "max"), lambda: Nat(value["max"] if value["max"] is not None else -1))


def _finite(value: Any, path: Path) -> Domain:
    if not isinstance(value, Mapping):
        raise NotationError("PS012", f"finite is {kind_of(value)}", "{elements: [a, b], below: [[a, b]]}", path)
    for key in value:
        if key not in ("elements", "below"):
            raise NotationError(
                "PS006", f"unknown key {quoted(str(key))}", suggestion(key, ("elements", "below")), (*path, key)
            )
    if "elements" not in value:
        raise NotationError("PS012", "finite has no elements", "{elements: [a, b], below: [[a, b]]}", path)
    elements = _list(value["elements"], (*path, "elements"), "PS012", "elements")
    for position, element in enumerate(elements):
        if not isinstance(element, str):
            raise NotationError(
                "PS012", f"an element is {kind_of(element)}", "text, in quotes", (*path, "elements", position)
            )
    pairs = _list(value.get("below", []), (*path, "below"), "PS012", "below")
    for position, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(item, str) for item in pair):
            raise NotationError(
                "PS012", "below lists something that is not a pair", "[a, b]", (*path, "below", position)
            )
    if len(elements) > LARGEST_NUMBER_OF_ELEMENTS:
        raise NotationError(
            "PS004", f"finite has {len(elements)} elements", f"at most {LARGEST_NUMBER_OF_ELEMENTS}", path
        )
    return _refused_at(path, lambda: Finite(elements, pairs))


def write_domain(domain: Domain) -> Any:
    """The inverse of `read_domain`, for the built-in domains."""
    if isinstance(domain, Nat):
        return "nat" if domain.maximum is None else {"nat": {"max": domain.maximum}}
    if isinstance(domain, Int):
        return "int"
    if isinstance(domain, Unit):
        return "unit"
    if isinstance(domain, Product | Lex):
        return {"lex" if isinstance(domain, Lex) else "product": [write_domain(part) for part in domain.parts]}
    if isinstance(domain, Finite):
        return {"finite": {"elements": list(domain.elements), "below": [list(pair) for pair in domain.below]}}
    if isinstance(domain, Sum):
        return {"sum": {tag: write_domain(part) for tag, part in domain.summands.items()}}
    raise PointstampError("PS012", f"{domain!r} is a domain of your own", "graph files know the built-in ones only")


# --- times -----------------------------------------------------------------------------------------------------------


def shown(time: Any) -> str:
    """A time as JSON, for messages; cut short."""
    text = json.dumps(write_time(time), default=str)
    return text if len(text) <= 80 else text[:77] + "..."


# --- summaries -------------------------------------------------------------------------------------------------------


def read_summary(data: Any, path: Path = ()) -> Any:
    """The summary that `data` names; an object with `apply` or `pieces` is taken as it is."""
    if hasattr(data, "apply") or hasattr(data, "pieces"):
        return data
    return _summary(data, path, DEEPEST_NESTING)


def _summary(data: Any, path: Path, depth: int) -> Declared:
    if depth == 0:
        raise NotationError("PS004", "summaries are nested too deeply", f"at most {DEEPEST_NESTING} levels", path)
    if isinstance(data, str):
        simple: dict[str, Declared] = {
            "identity": Identity(),
            "never": Never(),
            "enter": Enter(),
            "leave": Leave(),
            "feedback": Feedback(),
        }
        if data in simple:
            return simple[data]
        if data in SUMMARY_WORDS:
            raise NotationError("PS013", f"the summary {data} needs a value", f"{{{data}: ...}}", path)
        raise NotationError("PS013", f"unknown summary {quoted(data)}", suggestion(data, SUMMARY_WORDS), path)
    if not isinstance(data, Mapping):
        raise NotationError("PS013", f"a summary is {kind_of(data)}", "identity, {advance: 1}, ...", path)
    word, value = only_key(data, path, "PS013", "summary", SUMMARY_WORDS)
    inner = (*path, word)
    if word in ("then", "any"):
        parts = _list(value, inner, "PS013", word)
        if not parts:
            raise NotationError("PS013", f"{word} lists no summary", "at least one; identity or never for none", inner)
        if len(parts) > LARGEST_NUMBER_OF_SUMMARIES:
            raise NotationError(
                "PS004", f"{word} lists {len(parts)} summaries", f"at most {LARGEST_NUMBER_OF_SUMMARIES}", inner
            )
        summaries = tuple(_summary(part, (*inner, position), depth - 1) for position, part in enumerate(parts))
        return Then(summaries) if word == "then" else AnyOf(summaries)
    if word == "advance":
        return Advance(_amount(value, inner))
    if word == "round_up":
        if not is_integer(value) or value < 1:
            raise NotationError("PS013", f"round_up is {value!r}", "a whole number from 1 on", inner)
        return RoundUp(value)
    if word == "map":
        return _table(value, inner)
    if word in ("tag", "untag"):
        if not isinstance(value, str):
            raise NotationError("PS013", f"{word} is {kind_of(value)}", "the name of a summand", inner)
        return Tag(value) if word == "tag" else Untag(value)
    if word in ("enter", "constant", "at_least"):
        time = _time(value, inner)
        return Enter(time) if word == "enter" else Constant(time) if word == "constant" else AtLeast(time)
    raise NotationError("PS013", f"{word} takes no value", f"just {word}", path)


def _time(data: Any, path: Path) -> Any:
    if isinstance(data, float | bool):
        raise NotationError(
            "PS014", f"{data!r} is not a time", "a whole number, text, null, a list or {tag: time}", path
        )
    if isinstance(data, Tagged):
        return Tagged(data.tag, _time(data.value, path))
    if isinstance(data, list | tuple):
        return tuple(_time(item, (*path, position)) for position, item in enumerate(data))
    if isinstance(data, Mapping):
        if len(data) != 1:
            raise NotationError("PS014", "a mapping of several keys is not a time", "{left: 3}", path)
        tag, value = next(iter(data.items()))
        return Tagged(tag, _time(value, (*path, tag)))
    return data


def _amount(data: Any, path: Path) -> Any:
    if is_integer(data):
        return data
    if isinstance(data, list | tuple):
        return tuple(_amount(item, (*path, position)) for position, item in enumerate(data))
    raise NotationError("PS013", f"advance has {kind_of(data)}", "a whole number, or one for each coordinate", path)


def _table(data: Any, path: Path) -> Declared:
    rows = []
    pairs = _list(data, path, "PS013", "map")
    if len(pairs) > LARGEST_NUMBER_OF_ROWS:
        raise NotationError("PS004", f"map lists {len(pairs)} pairs", f"at most {LARGEST_NUMBER_OF_ROWS}", path)
    for position, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise NotationError("PS013", "map lists something that is not a pair", "[from, to]", (*path, position))
        rows.append((_time(pair[0], (*path, position, 0)), _time(pair[1], (*path, position, 1))))
    return Table(tuple(rows))


def write_summary(summary: Any) -> Any:
    """The inverse of `read_summary`, for the declared summaries."""
    if isinstance(summary, Identity | Never | Leave | Feedback):
        return str(summary)
    if isinstance(summary, Enter):
        return "enter" if summary.value == 0 else {"enter": write_time(summary.value)}
    if isinstance(summary, Then | AnyOf):
        return {"then" if isinstance(summary, Then) else "any": [write_summary(part) for part in summary.parts]}
    if isinstance(summary, Table):
        return {"map": [[write_time(time), write_time(result)] for time, result in summary.rows]}
    words = {
        Advance: "advance",
        AtLeast: "at_least",
        Constant: "constant",
        RoundUp: "round_up",
        Tag: "tag",
        Untag: "untag",
    }
    if type(summary) not in words:
        raise PointstampError(
            "PS013", f"{summary!r} is a summary of your own", "graph files know the declared ones only"
        )
    return {words[type(summary)]: write_time(summary[0])}
