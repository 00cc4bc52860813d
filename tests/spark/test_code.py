"""Functions of a pipeline's own module, and of those beside it, run at workers (also in test_cluster.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graphs.command import main
from tests.spark.shipped_code import check_told, write_pipeline
from tests.spark.spark import spark_session

pytestmark = pytest.mark.spark


def test_functions_of_the_pipeline_and_of_what_is_beside_it_run_at_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pipeline(tmp_path)
    (tmp_path / "shop" / "again").symlink_to(tmp_path, target_is_directory=True)  # a way round
    monkeypatch.setattr(sys, "path", list(sys.path))
    files = spark_session().sparkContext.listFiles
    command = ["run", str(tmp_path / "pipe.py"), "--engine", "spark", "--input", f"in={tmp_path / 'in.jsonl'}"]
    for number in range(2):
        assert main([*command, "--output", f"out={tmp_path / 'out.jsonl'}"]) == 0
        check_told(tmp_path)
        (tmp_path / "loaded").unlink()
        shipped = [file for file in spark_session().sparkContext.listFiles if file not in files]
        assert len(shipped) == 1, (number, shipped)
    for name in ("pipe", "helper", "shop", "shop.words", "shop.loud"):
        sys.modules.pop(name, None)
