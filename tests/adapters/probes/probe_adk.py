"""What Google ADK does with each workflow, and what `check --from adk` says of it; one JSON document."""

import asyncio
import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")
logging.disable(logging.ERROR)
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from tests.adapters.graphs import adk_faults as faults  # noqa: E402
from tests.adapters.tools import checked  # noqa: E402

FAULTS = str(ROOT / "tests/adapters/graphs/adk_faults.py")
RUN = [
    "unequal",
    "unequal_mended",
    "untaken",
    "untaken_mended",
    "overtaken",
    "silent_once",
    "only_once",
    "overtaken_mended",
]


async def run(name: str) -> list[Any]:
    faults.LOG.clear()
    runner = InMemoryRunner(node=getattr(faults, name), app_name="t")
    session = await runner.session_service.create_session(app_name="t", user_id="u")

    async def go() -> None:
        message = types.UserContent(parts=[types.Part(text="1")])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            pass

    await asyncio.wait_for(go(), 20)
    return list(faults.LOG)


async def runs() -> dict[str, Any]:
    return {name: await run(name) for name in RUN}


def main() -> None:
    ran = asyncio.run(runs())
    said = {name: checked("adk", f"{FAULTS}:{name}") for name in [*RUN, "NOT_A_GRAPH"]}
    examples = {name: checked("adk", f"{FAULTS}:{name}") for name in faults.EXAMPLES}
    print(json.dumps({"runs": ran, "said": said, "examples": examples}))


main()
