"""Draw the graphs of the examples into docs/pictures/examples, and some questions about them.

.venv/bin/python scripts/draw_examples.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures" / "examples"


def pictures() -> dict[str, str]:
    """The name of each file, and the picture that belongs in it."""
    from graphs import load
    from graphs.drawing.draw import Wanted, draw, draw_order

    examples = ROOT / "examples"
    found = {}
    for path in sorted(examples.glob("**/*.yaml")):
        graph = load(path)
        found[f"{'-'.join(path.relative_to(examples).with_suffix('').parts)}.svg"] = draw(
            graph, "svg", graph.name or path.stem
        ).text
    nested = load(examples / "nested_product.yaml")
    closure = Wanted(at=[("input", 0)])
    found["closure.svg"] = draw(nested, "svg", "what may arrive where, after input at 0", closure).text
    way = Wanted(path=(("input", 0), ("inner_back", (1, 2))))
    found["path.svg"] = draw(nested, "svg", "how input at 0 could result in inner_back at [1, 2]", way).text
    at = [("work", (1, 3)), ("work", (3, 1))]
    found["staircase.svg"] = draw_order(nested, "inner_back", at, "what may arrive at inner_back")
    calls = load(examples / "recursion" / "two_calls.yaml")
    for location in ("entry", "merge", "call-left"):
        found[f"stacks-{location}.svg"] = draw_order(calls, location, [], f"the order of stacks at {location}")
    return found


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = pictures()
    for path in PICTURES.glob("*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, picture in drawn.items():
        (PICTURES / name).write_text(picture, encoding="utf-8")
