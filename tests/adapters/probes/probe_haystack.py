"""What Haystack does with each pipeline, and what `check --from haystack` says of it; one JSON document."""

import json
import logging
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.adapters.graphs import haystack_faults as faults  # noqa: E402
from tests.adapters.tools import checked  # noqa: E402

FAULTS = str(ROOT / "tests/adapters/graphs/haystack_faults.py")
WARNINGS: list[str] = []


class Keep(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            WARNINGS.append(record.getMessage())


def run(name: str, **data: Any) -> dict[str, Any]:
    faults.LOG.clear()
    WARNINGS.clear()
    try:
        result = getattr(faults, name).run(data)
    except Exception as error:
        result = type(error).__name__
    return {"result": result, "log": list(faults.LOG), "warnings": [text for text in WARNINGS if "blocked" in text]}


def main() -> None:
    logging.getLogger("haystack").addHandler(Keep())
    ran = {
        "blocked": run("blocked", route={"x": 1}),
        "blocked_mended": run("blocked_mended", route={"x": 1}),
        "blocked_optional": run("blocked_optional", route={"x": 1}),
        "exclusive": run("exclusive", route={"x": 1}),
        "mixed": run("mixed", j={"value": 1}),
        "mixed_mended": run("mixed_mended", j={"value": 1}),
        "endless": run("endless", j={"value": 1}),
    }
    names = [*ran, "NOT_A_GRAPH"]
    said = {name: checked("haystack", f"{FAULTS}:{name}") for name in names}
    examples = {name: checked("haystack", f"{FAULTS}:{name}") for name in faults.EXAMPLES}
    print(json.dumps({"runs": ran, "said": said, "examples": examples}))


main()
