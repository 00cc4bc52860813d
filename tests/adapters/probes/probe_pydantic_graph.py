"""What pydantic-graph does with each graph, and what `check --from pydantic-graph` says of it; one JSON document."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.adapters.graphs import pydantic_graph_faults as faults  # noqa: E402
from tests.adapters.tools import checked  # noqa: E402

FAULTS = str(ROOT / "tests/adapters/graphs/pydantic_graph_faults.py")
RUN = ["unequal", "unequal_mended", "first_wins", "enters_again", "enters_again_mended", *faults.EXAMPLES]


async def run(name: str) -> dict[str, Any]:
    faults.LOG.clear()
    result = await asyncio.wait_for(getattr(faults, name).run(inputs=1), 10)
    return {"result": result, "log": list(faults.LOG)}


async def runs() -> dict[str, Any]:
    return {name: await run(name) for name in RUN}


def main() -> None:
    ran = asyncio.run(runs())
    names = [*RUN, "endless", "NOT_A_GRAPH"]
    said = {name: checked("pydantic-graph", f"{FAULTS}:{name}") for name in names}
    print(json.dumps({"runs": ran, "said": said, "examples": {name: said[name] for name in faults.EXAMPLES}}))


main()
