"""What agent-framework does with each workflow, and what `check --from agent-framework` says; one JSON document."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.adapters.graphs import agent_framework_examples as examples  # noqa: E402
from tests.adapters.graphs import agent_framework_faults as faults  # noqa: E402
from tests.adapters.tools import checked  # noqa: E402

FAULTS = str(ROOT / "tests/adapters/graphs/agent_framework_faults.py")
EXAMPLES = str(ROOT / "tests/adapters/graphs/agent_framework_examples.py")


async def run(workflow: Any, *inputs: int) -> dict[str, Any]:
    outputs: list[Any] = []
    state = ""
    for given in inputs:
        try:
            result = await workflow.run(given)
        except Exception as error:
            return {"outputs": outputs, "state": type(error).__name__}
        outputs += result.get_outputs()
        state = result.get_final_state().name
    return {"outputs": outputs, "state": state}


async def runs() -> dict[str, Any]:
    found = {
        name: await run(getattr(faults, name), 1)
        for name in (
            "silent",
            "silent_mended",
            "untaken_mended",
            "unequal",
            "unequal_mended",
            "equal",
            "endless_mended",
        )
    }
    found["untaken"] = await run(faults.untaken, 1)
    found["again"] = await run(faults.untaken, -5)  # the same object: what the first run left is still there
    found["switched"] = await run(faults.switched, 1)
    found["endless"] = await run(faults.endless, 1)
    return found


def main() -> None:
    ran = asyncio.run(runs())
    names = [*(name for name in ran if name != "again"), "named", "NOT_A_GRAPH"]
    print(
        json.dumps(
            {
                "runs": ran,
                "said": {name: checked("agent-framework", f"{FAULTS}:{name}") for name in names},
                "examples": {name: checked("agent-framework", f"{EXAMPLES}:{name}") for name in examples.EXAMPLES},
            }
        )
    )


main()
