"""An agent whose last step runs once for each question: when everything that can still come for it has come.

Branches are as long as they like, one of them may be silent, another goes round a loop. README.md says what becomes of
such a graph where the last step is started by the steps before it.

    python examples/pipelines/agent/pipeline.py
"""

import asyncio
import sys
from pathlib import Path

from pointstamp import Dataflow, Node, load, main

HERE = Path(__file__).resolve().parent
KNOWN = {"oslo": "Oslo is the capital of Norway", "rome": "Rome was not built in a day"}
PAGES = {"oslo": "717,710 people", "rome": "2,755,309 people", "paris": "2,102,650 people"}
MOST_ATTEMPTS = 3


class Plan(Node):
    """Decides which tools have something to do."""

    async def on_message(self, edge, question, value, out):
        out.send("asked", question, value["text"])
        out.send("memories", question, value["about"])
        out.send("queries", (question, 0), value)
        if "add" in value:
            out.send("sums", question, value["add"])


class Recall(Node):
    """What the agent knows already; it says nothing where it knows nothing."""

    async def on_message(self, edge, question, about, out):
        await asyncio.sleep(0)  # where a database would be asked
        if about in KNOWN:
            out.send("recalled", question, KNOWN[about])


class Calculate(Node):
    async def on_message(self, edge, question, numbers, out):
        out.send("calculated", question, f"the sum is {sum(numbers)}")


class Search(Node):
    """A tool that fails now and then. What fails goes round the loop, which makes it the next attempt."""

    async def on_message(self, edge, time, value, out):
        _, attempt = time
        await asyncio.sleep(0.001 * attempt)  # where a service would be asked, more patiently each time
        if attempt >= value.get("fails", 0):
            out.send("found", time, value["about"])
        elif attempt + 1 < MOST_ATTEMPTS:
            out.send("failed", time, value)


class Read(Node):
    async def on_message(self, edge, time, about, out):
        question, attempt = time
        await asyncio.sleep(0)  # where a page would be loaded
        out.send("notes", question, f"{PAGES.get(about, 'nothing')} (attempt {attempt + 1})")


class Answer(Node):
    """Puts together what has come for a question, when it is certain that nothing more will."""

    def __init__(self):
        self.heard = {}

    async def on_message(self, edge, question, value, out):
        self.heard.setdefault(question, {})[edge] = value
        out.request(question)

    async def on_notify(self, question, out):
        heard = self.heard.pop(question)
        notes = [heard[edge] for edge in ("recalled", "notes", "calculated") if edge in heard]
        out.send("answers", question, {"question": heard["asked"], "notes": notes})


NODES = {
    "plan": Plan,
    "recall": Recall,
    "calculate": Calculate,
    "search": Search,
    "read": Read,
    "answer": Answer,
}
dataflow = Dataflow(load(HERE / "graph.yaml"), NODES)

if __name__ == "__main__":
    files = ["--input", f"questions={HERE / 'questions.jsonl'}"]
    sys.exit(main(["run", __file__, *files, "--engine", "asyncio", *sys.argv[1:]]))
