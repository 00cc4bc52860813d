"""LlamaIndex Workflows: a join of a typed stream is complete when nothing of it can come any more, round by round."""

import json

from tests.adapters.tools import ROOT, run_with_tools


def test_typed_streams_keep_rounds_apart_and_wait_for_nobody_who_is_silent() -> None:
    run = run_with_tools(str(ROOT / "tests" / "adapters" / "probes" / "probe_llama_index.py"))
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [[[1, 0], [1, 2]], [], [[3, 0], [3, 1], [3, 2]]]
