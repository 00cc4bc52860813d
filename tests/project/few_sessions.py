"""Random sessions that every engine begins, few enough to be played again for each mutant of `tests.project.mutants`.

pytest collects this file only where it is named: `make test` plays many more in `test_sessions_against_reference.py`.
"""

from __future__ import annotations

import pytest

from tests.reference.against_sessions import compare_seeds

GRAPHS = 120
AT_ONCE = 10


@pytest.mark.parametrize("first", range(0, GRAPHS, AT_ONCE))
def test_sessions(first: int) -> None:
    compare_seeds(range(first, first + AT_ONCE))
