"""`pointstamp check --from langgraph`: its time beyond what importing LangGraph takes, on graphs of several sizes.

Each figure is the median of several processes in the tools' environment (`make setup-adapters`): one imports LangGraph
and builds the graph, the other one also checks it. Claimed: less than 1.0 s beyond the tool's own import.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-adapters" / "bin" / "python"
TIMES = 5
CLAIM = 1.0

# A crew: a supervisor's loop around a fork of workers with a list join, and a report after it.
PROGRAM = """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

g = StateGraph(TypedDict("State", {{"x": int}}))
workers = [f"w{{number}}" for number in range({workers})]
for name in ["supervisor", "join", "report", *workers]:
    g.add_node(name, lambda state: {{}})
g.add_edge(START, "supervisor")
for name in workers:
    g.add_edge("supervisor", name)
g.add_edge(workers, "join")
g.add_conditional_edges("join", lambda state: END, ["supervisor", "report"])
g.add_edge("report", END)
"""


def seconds(arguments: list[str], folder: Path) -> float:
    """The median time of a process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        subprocess.run([str(PYTHON), *arguments], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - began)
    return median(taken)


def main() -> None:
    """Print a row for each size."""
    if not PYTHON.exists():
        sys.exit("the tools are not there: make setup-adapters")
    print(f"check --from langgraph, beyond importing it (claimed: below {CLAIM} s)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for workers in (3, 30, 300):
            (folder / "app.py").write_text(PROGRAM.format(workers=workers), encoding="utf-8")
            alone = seconds(["-c", "import app"], folder)
            checked = seconds(["-m", "graphs", "check", "--from", "langgraph", "app:g"], folder)
            print(f"  {workers + 3:4} nodes: {checked - alone:5.2f} s beyond {alone:5.2f} s")


if __name__ == "__main__":
    main()
