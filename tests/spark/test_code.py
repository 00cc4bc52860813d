"""Functions of a pipeline's own module, and of those beside it, run at workers (also in test_cluster.py)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphs.command import main
from tests.spark.shipped_code import check_told, write_pipeline
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark


def run(folder: Path) -> None:
    """As the command does, in this process and on the session of the tests."""
    command = ["run", str(folder / "pipe.py"), "--engine", "spark", "--input", f"in={folder / 'in.jsonl'}"]
    assert main([*command, "--output", f"out={folder / 'out.jsonl'}"]) == 0


def test_functions_of_the_pipeline_and_of_what_is_beside_it_run_at_workers(tmp_path: Path) -> None:
    """Another pipeline whose modules have the same names is run in the same session between two runs of this one."""
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
        write_pipeline(folder)
    (here / "shop" / "again").symlink_to(here, target_is_directory=True)  # a way round
    (other / "later.py").write_text("def late():\n    return 'another'\n", "utf-8")
    files = spark_session().sparkContext.listFiles
    for count, folder in enumerate((here, other, here)):
        run(folder)
        if folder is here:
            check_told(here)
            (here / "loaded").unlink()
        else:
            lines = map(json.loads, (other / "out.jsonl").read_text("utf-8").splitlines())
            assert {line["value"]["told"].split()[-1] for line in lines if "value" in line} == {"2", "10", "another"}
        shipped = [file for file in spark_session().sparkContext.listFiles if file not in files]
        assert len(shipped) == min(2, 1 + count), shipped
