"""SIGKILL at any instant, over pipes and files: nothing is lost, nothing is there twice (`killer.py` beside it).

The forty kills are of children that fork, the five hundred of `make soak` of the installed command.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.commands.forked import Forked
from tests.commands.killer import killed

# Ways to break what is kept, as code that stands before that of the pipeline.
WHAT_IS_THERE_IS_WRITTEN_AGAIN = """
import os
from graphs.running.line_sink import LineFile
LineFile.go_on = lambda file, size: file.cut(os.fstat(file.handle).st_size)
"""
PIPES_STAND_AT_THEIR_BEGINNING = """
import hashlib
from graphs.running.line_source import Lines, Position
position = Lines.position
def stands(lines):
    known = position.fget(lines)
    return known if lines._passing is None else Position(0, 0, hashlib.sha256().hexdigest())
Lines.position = property(stands)
"""
ONE_MESSAGE_TOO_MANY_IS_PASSED_OVER = """
from progress.runtime.source import Feed
resume = Feed.resume
def resumed(feed, *position):
    resume(feed, *position)
    feed._skip += feed._skip > 0
Feed.resume = resumed
"""


def kinds_of(histories: list[dict[str, Any]]) -> Counter[str]:
    """How many kills there were of each kind; each history has lost nothing, and has nothing twice."""
    found: Counter[str] = Counter()
    for history in histories:
        assert (history["lost"], history["twice"]) == ([], []), history["history"]
        found.update(history["kills"])
    return found


@pytest.mark.slow
def test_nothing_is_lost_or_there_twice_after_40_kills() -> None:
    """When a kill comes depends on the machine: where a kind is missing, forty more are tried."""
    kinds: Counter[str] = Counter()
    for seed in range(2, 10):
        kinds += kinds_of([*killed(40, seed=seed, start=Forked)])
        assert kinds.total() >= 40
        if kinds["again"] + kinds["again, kept"] >= 5 and kinds["recovery"] and kinds["working"] >= 5:
            return
    raise AssertionError(f"kills of some kinds do not happen: {kinds}")


@pytest.mark.soak
def test_nothing_is_lost_or_there_twice_after_500_kills() -> None:
    kinds = kinds_of([*killed(500, seed=1)])
    assert kinds.total() >= 500
    assert kinds["again, kept"] >= 30
    assert kinds["recovery"] >= 30
    assert kinds["starting"]
    assert kinds["ending"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "engine", "inputs"),
    [
        (WHAT_IS_THERE_IS_WRITTEN_AGAIN, "sim", "files"),
        (PIPES_STAND_AT_THEIR_BEGINNING, "asyncio", "two pipes"),
        (ONE_MESSAGE_TOO_MANY_IS_PASSED_OVER, "threads", "generator"),
    ],
)
def test_the_killer_finds_what_is_wrong(spoil: str, engine: str, inputs: str) -> None:
    """By values that are lost or there twice, or by a run that hangs or says that it came out otherwise (PS748).

    Where all kills come before anything was kept, as on a slow machine, more are tried.
    """
    try:
        for seed in range(3, 13):
            for history in killed(10, seed, [engine], [inputs], spoil, start=Forked):
                if history["lost"] or history["twice"]:
                    return
    except AssertionError:
        return
    raise AssertionError("the killer has found nothing")
