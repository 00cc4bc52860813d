"""Word count, in batch and in streaming mode on the same graph: the input decides.

In batch.jsonl all lines are of one time, so that words are counted once, at the end. In stream.jsonl every two lines
are a time, completed by the input, and what changed by them is told as soon as it is certain. The last that is told of
each word is the same.

    python examples/pipelines/word_count/pipeline.py batch
    python examples/pipelines/word_count/pipeline.py stream
"""

import sys
from collections import Counter
from pathlib import Path

from pointstamp import Dataflow, Mapped, Node, load, main

HERE = Path(__file__).resolve().parent
TOO_COMMON = {"a", "and", "in", "is", "it", "of", "that", "the", "to"}


class Count(Node):
    """How often each word has come so far; at the end of a time, those that have come at it."""

    def __init__(self):
        self.counts = Counter()
        self.new = {}  # by time

    def on_messages(self, edge, time, words, out):
        if time not in self.new:
            self.new[time] = Counter()
            out.request(time)
        self.new[time].update(words)

    def on_notify(self, time, out):
        new = self.new.pop(time)
        self.counts.update(new)
        changed = [(word, self.counts[word]) for word in sorted(new)]
        out.send_all("counts", time, changed)
        out.send_all("ranked", time, changed)


class Total(Node):
    """How many words there were so far."""

    def __init__(self):
        self.total = 0
        self.new = Counter()

    def on_messages(self, edge, time, words, out):
        self.new[time] += len(words)
        out.request(time)

    def on_notify(self, time, out):
        self.total += self.new.pop(time)
        out.send("sums", time, self.total)


class Rank(Node):
    """The three words that have come most often so far."""

    def __init__(self):
        self.counts = {}
        self.new = {}

    def on_messages(self, edge, time, counts, out):
        self.new.setdefault(time, []).extend(counts)
        out.request(time)

    def on_notify(self, time, out):
        self.counts.update(self.new.pop(time))
        first = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:3]
        out.send("first", time, first)


class Report(Node):
    """Puts together what two nodes say of a time, in whatever order they say it."""

    def __init__(self):
        self.parts = {}

    def on_message(self, edge, time, part, out):
        self.parts.setdefault(time, {})[edge] = part
        out.request(time)

    def on_notify(self, time, out):
        parts = self.parts.pop(time)
        out.send("reports", time, {"words": parts["sums"], "first": parts["first"]})


NODES = {
    "split": Mapped(str.split, flat=True),
    "clean": lambda word: word.strip(".,;:!?\"'()").lower(),
    "keep": Mapped(lambda word: [word] if word and word not in TOO_COMMON else [], flat=True),
    "count": Count,
    "total": Total,
    "rank": Rank,
    "report": Report,
}
dataflow = Dataflow(load(HERE / "graph.yaml"), NODES)

if __name__ == "__main__":
    mode = sys.argv[1] if sys.argv[1:] in (["batch"], ["stream"]) else sys.exit("pipeline.py batch | stream")
    sys.exit(main(["run", __file__, "--input", f"lines={HERE / mode}.jsonl"]))
