"""What a program of streams is refused for, in the line that writes it: one line, with a code and the place."""

from __future__ import annotations

import sys
from pathlib import Path

from progress.errors import PointstampError, brief

PACKAGE = str(Path(__file__).parent / "_")[:-1]


def place() -> str:
    """The line of the user's program that is being run, as file:line; empty where there is none."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith((PACKAGE, "<frozen ")):
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


class NotThere(PointstampError, AttributeError):
    """What a stream does not have, refused in words: to `hasattr` and the like it is not there."""


def refused(code: str, what: str, right: str, kind: type[PointstampError] = PointstampError) -> PointstampError:
    """A refusal that says which line of the program it is about."""
    at = place()
    return kind(code, f"{at}: {what}" if at else what, right)


def bad_step(step: str, what: str, right: str) -> PointstampError:
    """A step that was given something that it cannot work with."""
    return refused("PS814", f"{step}: {what}", right)


def check_name(step: str, name: object) -> None:
    """Refuse what is not a name."""
    if not isinstance(name, str) or not name:
        raise bad_step(step, f"its name is {brief(name)}", "text of at least a character")


def check_function(step: str, function: object, word: str = "f") -> None:
    """Refuse what cannot be called where a function belongs."""
    if not callable(function):
        raise bad_step(step, f"{word} is {brief(function)}", "a function")


def check_given(step: str, **functions: object) -> None:
    """Refuse what cannot be called where one of these functions is given."""
    for word, function in functions.items():
        if function is not None:
            check_function(step, function, word)


def check_number(step: str, number: object, word: str, least: int = 1) -> None:
    """Refuse what is not a whole number, or a smaller one."""
    if type(number) is not int or number < least:
        raise bad_step(step, f"{word} is {brief(number)}", f"a whole number from {least} on")
