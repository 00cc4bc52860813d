"""How names, values and numbers stand in messages, short and safe.

In texts of strangers nothing may move a cursor, change a colour or turn a line around.
"""

from __future__ import annotations

from collections.abc import Iterable

MOST_COMPARED = 10_000  # names among which the one that was meant is looked for
MANY = 20  # names that are listed in a complaint


def printable(text: str) -> str:
    """`text` with every character that does not print escaped, line ends included."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def elided(text: str, limit: int) -> str:
    """`text`, its middle left out beyond `limit` characters: long names often differ at their ends."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def reason_of(error: BaseException) -> str:
    """Why a system refuses something, in small letters: the end of a sentence."""
    return str(getattr(error, "strerror", None) or error).lower()


def plural(number: int, word: str) -> str:
    """The word for so many of it: `step`, or `steps`."""
    return word if number == 1 else f"{word}s"


def one_of(name: object, names: Iterable[object], none: str = "there is none") -> str:
    """What would be right instead of a name that is not there: the one that was meant, or all that there are."""
    known = [each for each in names if isinstance(each, str)]
    if isinstance(name, str) and len(known) <= MOST_COMPARED:
        from difflib import get_close_matches  # costs 8 ms, needed only in a complaint

        for near in get_close_matches(name, known, n=1):
            return f"did you mean {brief(near)}?"
    shown = ", ".join(map(brief, known[:MANY])) + (", ..." if len(known) > MANY else "")
    return f"one of {shown}" if known else none


def one_of_the_graph(name: object, names: Iterable[str]) -> str:
    """What would be right instead of a name that no location has: the one that was meant, if it is clear."""
    found = one_of(name, names)
    return found if found.startswith("did you mean") else "name a node or an edge of the graph"


def said_by(error: BaseException) -> str:
    """What an exception says, which it may fail to."""
    try:
        return str(error)
    except Exception:
        return "it does not say what"


def brief(value: object) -> str:
    """A value for a message: as Python writes it, cut short."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, a number of thousands of digits, or a `__repr__` that fails
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
