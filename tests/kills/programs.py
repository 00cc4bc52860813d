"""The six pipelines that are killed: each keeps something else that a kill may lose."""

from __future__ import annotations

from tests.kills.of_one_order import Idle, Keyed, TwoInputs
from tests.kills.of_one_result import Loop, Recursion, Sessions
from tests.kills.program import Program

PROGRAMS: tuple[type[Program], ...] = (Loop, TwoInputs, Keyed, Recursion, Sessions, Idle)
