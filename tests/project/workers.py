"""Which worker gets which tests, where there are several (`--dist loadfile`)."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.project.slowest import TESTS, longest_files

LITTLE = 15  # seconds of a file of Spark that is not among the longest
OF_SPARK = "tests/spark/"


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """The tests of a file go to one worker; the files of Spark are halved between two.

    So two JVMs get warm, and not as many as there are workers: with four, that is a seventh less of the processor for
    all tests of Spark.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._longest = longest_files()
        self._halves: dict[str, str] = {}  # by file
        self._seconds = {"Spark, one half": 0, "Spark, the other": 0}

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if not file.startswith(OF_SPARK):
            return file
        if file not in self._halves:
            half = self._halves[file] = min(self._seconds, key=self._seconds.__getitem__)
            self._seconds[half] += self._longest.get(TESTS.parent / file, LITTLE)
        return self._halves[file]
