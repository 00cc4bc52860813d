"""How much work an answer may be: counted in steps, so that the same question is refused everywhere, and soon.

Graphs whose cycles trade one coordinate for another have answers with a thousand million minimal times, written in one
short line. Whoever works through times spends steps here, one for what takes about a microsecond, and says by name when
none are left. What had changed by then is put back (`progress.tracker`).
"""

from __future__ import annotations

from progress.errors import PointstampError

MOST_STEPS = 1_000_000
STEPS_A_PLACE = 100  # for each vertex and arc of the graph
STEPS_A_CHANGE = 5_000  # for each pointstamp that comes or goes
STEPS_AN_INSERT = 4  # for a unit of `Antichain.cost`


class TooMuchWork(PointstampError):
    """A step after which too many times would have to be looked at."""

    def __init__(self) -> None:
        super().__init__(
            "PS604",
            "too many times follow from this: they are more than can be looked at in a second or two",
            "mend the cycle that `pointstamp check` shows, or begin with fewer or earlier times",
        )


class Effort:
    """Steps that are left."""

    __slots__ = ("left",)

    def __init__(self, steps: float = MOST_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Count steps; `TooMuchWork` when none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork


def effort_of_frontier(times: int) -> Effort:
    """What finding the frontier of one place may take, where so many times, known to be minimal, lead there."""
    return Effort(MOST_STEPS + STEPS_AN_INSERT * allowance(times))


def allowance(times: int) -> int:
    """Units of `Antichain.cost` for so many times that are there already, each of which is compared to the others."""
    return times * (100 + times // 16)
