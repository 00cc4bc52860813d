"""The examples of the codes that are found in graphs of other tools: each script prints its code."""

from pathlib import Path

import pytest

from graphs.codes import CODES
from graphs.codes.of_adapters import ADAPTERS
from tests.adapters.tools import run_script


@pytest.mark.parametrize("number", [number for number in ADAPTERS if number > "PS904"])
def test_a_script_prints_its_code(number: str, tmp_path: Path) -> None:
    said = run_script(CODES[number].example.text, tmp_path)
    assert f" {number} " in said or f" {number}: " in said
