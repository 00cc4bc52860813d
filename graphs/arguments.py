"""What commands are given: a graph in a file, a pointstamp as LOCATION=TIME, a setting of Spark."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any

from graphs.terminal import bad_usage
from progress.errors import PointstampError

if TYPE_CHECKING:
    from graphs.graph import Graph


def read_graph(file: str, resolved: bool = True) -> Graph:
    """The graph in a file, whose parts fit together where it is to be `resolved`; errors name the file."""
    from graphs.files.reading import load

    try:
        graph = load(file)
        if resolved:
            graph.network()
        return graph
    except PointstampError as error:
        place = ":".join(str(part) for part in (file, error.line, error.column) if part is not None)
        raise InFile(place, error) from None


class InFile(PointstampError):
    """An error that names its file."""

    def __init__(self, place: str, error: PointstampError) -> None:
        super().__init__(error.code, error.message, error.hint)
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {super().__str__()}"


def check_of_use(options: Namespace, names: Iterable[str], where: str, right: str) -> None:
    """Refuse options that are given, of those that are of no use there."""
    for name in names:
        if getattr(options, name):
            raise bad_usage(f"--{name.replace('_', '-')} is of no use {where}", right)


def split(text: str, names: Container[str]) -> tuple[str, str | None]:
    """NAME=VALUE in two, the name maybe with a = itself, where it is one of these; no value where there is no =."""
    places = [place for place, character in enumerate(text) if character == "="]
    if not places:
        return text, None
    place = next((place for place in places if text[:place] in names), places[0])
    return text[:place], text[place + 1 :]


def pointstamp_in(graph: Graph, text: str, option: str | None = "at") -> tuple[str, Any]:
    """LOCATION=TIME, of an option or as an argument; a time that is not JSON is text."""
    from graphs.files.notation import shown
    from graphs.sessions.ask import read_json

    location, written = split(text, graph.network().numbers)
    given = shown(text) if option is None else f"--{option} {shown(text)}"
    if written is None:
        like = "body=3" if option is None else f"--{option} input=0"
        raise bad_usage(f"{given}: no time", f"LOCATION=TIME, like {like}")
    try:
        data = read_json(written)
    except PointstampError:
        data = written
    try:
        return location, graph.time_from_json(location, data)
    except PointstampError as error:
        raise bad_usage(f"{given}: {error.message}", error.hint) from None
    except RecursionError:
        raise bad_usage(f"{given}: the time is nested too deeply", "a time of the location") from None


def settings_of(given: Iterable[str]) -> dict[str, str]:
    """Settings of Spark, each as NAME=VALUE; refused is what has no name or no value."""
    found = {}
    for setting in given:
        name, value = split(setting, ())
        if not name or value is None:
            raise bad_usage(f"--conf {setting} is not a setting", "--conf spark.executor.memory=2g")
        found[name] = value
    return found
