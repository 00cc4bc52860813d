"""Day files that feed a report for the month, which is written once: when all of its files have come (README.md).

python examples/pipelines/month/pipeline.py
"""

import sys
from pathlib import Path

from pointstamp import Dataflow, Node, load, main

HERE = Path(__file__).resolve().parent


class Day(Node):
    """Adds up a file as soon as it is there."""

    def on_message(self, edge, time, content, out):
        month, _ = time
        total = sum(content["amounts"])
        out.send("totals", time, total)
        out.send("days", month, (content["file"], total))


class Month(Node):
    def __init__(self):
        self.files = {}

    def on_message(self, edge, month, file, out):
        self.files.setdefault(month, []).append(file)
        out.request(month)

    def on_notify(self, month, out):
        files = sorted(self.files.pop(month))
        total = sum(total for _, total in files)
        out.send("reports", month, {"files": len(files), "from": files[0][0], "to": files[-1][0], "total": total})


def missing(tracker, month):
    """The files that the report of a month waits for: the times at which `files` is still open and that lead there."""
    blockers = [blocker for blocker in tracker.why("month", month).by if blocker.kind == "input"]
    times = sorted(blocker.pointstamp[1] for blocker in blockers)
    return [f"2024-{month:02}-{day}.csv" for month, day in times]


dataflow = Dataflow(load(HERE / "graph.yaml"), {"day": Day, "month": Month})

if __name__ == "__main__":
    sys.exit(main(["run", __file__, "--input", f"files={HERE / 'files.jsonl'}", *sys.argv[1:]]))
