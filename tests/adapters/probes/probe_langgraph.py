"""What LangGraph does with each graph, and what `pointstamp check --from langgraph` says of it; one JSON document."""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.adapters.graphs import langgraph_faults as faults  # noqa: E402
from tests.adapters.tools import checked  # noqa: E402

FAULTS = str(ROOT / "tests/adapters/graphs/langgraph_faults.py")
EXAMPLES = str(ROOT / "tests/adapters/graphs/langgraph_examples.py")


def log(graph: Any, n: int = 0, config: Any = None) -> list[str]:
    found: list[str] = graph.invoke({"log": [], "n": n}, {"recursion_limit": 30, **(config or {})})["log"]
    return found


def limit(graph: Any) -> str:
    try:
        return str(log(graph))
    except Exception as error:
        return type(error).__name__


def main() -> None:
    thread = {"configurable": {"thread_id": "t"}}
    runs: dict[str, Any] = {
        name: log(getattr(faults, name))
        for name in (
            "unequal", "unequal_mended", "unequal_deferred", "equal", "untaken", "untaken_mended", "unrelated",
            "unrelated_mended", "mixed", "mixed_mended", "overtaken", "overtaken_mended", "endless_mended",
        )
    }  # fmt: skip
    runs["kept"] = [log(faults.kept, 0, thread), log(faults.kept, 1, thread)]
    runs["kept_mended"] = [log(faults.kept_mended, 0, thread), log(faults.kept_mended, 1, thread)]
    runs["endless"] = limit(faults.endless)
    names = [*runs, "uncompiled", "nested_graph", "NOT_A_GRAPH"]
    said = {name: checked("langgraph", f"{FAULTS}:{name}") for name in names}
    first = checked("langgraph", f"{EXAMPLES}:EXAMPLES")
    examples = sys.modules["langgraph_examples"].EXAMPLES
    print(
        json.dumps(
            {
                "runs": runs,
                "said": said,
                "examples": {name: checked("langgraph", f"{EXAMPLES}:{name}") for name in examples},
                "refused": first,
            }
        )
    )


main()
