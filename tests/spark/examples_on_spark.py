"""The pipelines in examples/spark: what they should give, and what they give."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from graphs import JsonLines
from graphs.running.pipeline import load_pipeline
from tests.runtime.tools import GUARD

PIPELINES = Path(__file__).resolve().parents[2] / "examples" / "spark"
INPUTS = {"month": "files", "components": "edges", "road_map": "readings"}


def values(text: str, edge: str) -> Counter[str]:
    """What the lines of an edge say, each row with its columns in order."""
    lines = map(json.loads, text.splitlines())
    return Counter(
        json.dumps([line["time"], line["value"]], sort_keys=True)
        for line in lines
        if "value" in line and line.get("edge", edge) == edge
    )


def expected(folder: str, edge: str) -> Counter[str]:
    """What a pipeline should give on an edge."""
    return values((PIPELINES / folder / "expected.jsonl").read_text("utf-8"), edge)


def found(folder: str, tmp_path: Path, engine: str, **options: Any) -> dict[str, Counter[str]]:
    """What a pipeline gives, by edge."""
    dataflow = load_pipeline(str(PIPELINES / folder / "pipeline.py"))
    edges = [name for name in ("reports", "components", "shortest", "late") if expected(folder, name)]
    name = INPUTS[folder]
    dataflow.run(
        engine=engine,
        sources={name: JsonLines(PIPELINES / folder / f"{name}.jsonl")},
        sinks={edge: JsonLines(tmp_path / edge) for edge in edges},
        timeout=GUARD,
        **options,
    )
    return {edge: values((tmp_path / edge).read_text("utf-8"), edge) for edge in edges}
