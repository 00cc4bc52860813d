"""Pipelines whose results follow from what was first: two inputs, keyed state, an input that falls silent.

Their results are judged by doing what they do once more, in the order in which they say that they did it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import count

from tests.commands.pipelines import message_lines
from tests.kills.program import Found, Program, Rows, overtaken


class TwoInputs(Program):
    """A chain over two inputs: each value depends on all before it, and so on which was first, as chance decides."""

    name = "two inputs"
    outputs = ("links", "sums")

    def code(self) -> str:
        return """
import json, random
from functools import partial
from graphs import Graph
from progress.runtime import Complete, Dataflow, Node

def slowly(edge):
    with open(f"{edge}.jsonl") as lines:
        for line in map(json.loads, lines):
            time.sleep(random.random() * 2 * PAUSE)
            yield (line["time"], line["value"]) if "time" in line else Complete(tuple(line["complete"]))

class Chain(Node):
    def __init__(self):
        self.link, self.count, self.seen = 17, 0, set()

    def on_message(self, edge, at, value, out):
        saw(edge, value)
        self.seen.add(value % 7)
        self.link = (self.link * 31 + value + (edge == "right")) % 1_000_003
        self.count += 1
        out.send("links", at, [edge, value, self.count, self.link, sorted(self.seen)])
        out.request(at)

    def on_notify(self, at, out):
        out.send("sums", at, [self.count, self.link])

graph = Graph().node("chain").edge(None, "chain", "left").edge(None, "chain", "right")
graph.edge("chain", None, "links").edge("chain", None, "sums")
sources = {edge: partial(slowly, edge) for edge in ("left", "right")}
dataflow = Dataflow(graph, {"chain": Chain}, sources=sources)
"""

    def begin(self) -> None:
        self._times: dict[str, list[int]] = {}
        for edge in ("left", "right"):
            many = [self.rng.randint(1, 6) for _ in range(self.epochs)]
            self._times[edge] = [epoch for epoch, number in enumerate(many) for _ in range(number)]
            places = iter(range(sum(many)))
            self.files[f"{edge}.jsonl"] = message_lines([[next(places) for _ in range(number)] for number in many])

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        came: dict[str, list[int]] = {"left": [], "right": []}
        disorder, links = [], {0: 17}
        seen: set[int] = set()
        for number, (at, (edge, value, many, link, kinds)) in enumerate(found["links"], 1):
            came[edge].append(value)
            seen.add(value % 7)
            links[number] = (links[number - 1] * 31 + value + (edge == "right")) % 1_000_003
            if not may_repeat and (many, link, kinds) != (number, links[number], sorted(seen)):
                disorder.append(f"value {number} of links follows from something else")
            if at != self._times[edge][value]:
                disorder.append(f"{value} of {edge} has another time")
        there = Counter((edge, value) for edge, values in came.items() for value in values)
        right = Counter((edge, value) for edge, times in self._times.items() for value in range(len(times)))
        sums, ends = Counter(at for at, _ in found["sums"]), Counter(range(self.epochs))
        twice = [] if may_repeat else [*map(str, there - right), *map(str, sums - ends)]
        if not may_repeat:
            disorder += [each for edge in came for each in overtaken(came[edge], self._times[edge])]
            disorder += [f"sum {value} is of no link" for _, value in found["sums"] if links.get(value[0]) != value[1]]
        return Found([*map(str, right - there), *map(str, ends - sums)], twice, disorder)


class Keyed(Program):
    """Words, each with all that came for it, in a `State`: what is there is said in the order of the mapping."""

    name = "keyed state"
    outputs = ("told", "all")

    def code(self) -> str:
        memory = self.rng.choice(("", "in_memory=3"))
        return f"""
from graphs import Graph
from progress.runtime import Dataflow, Node, State
from progress.runtime.durable.mappings import states
states.SMALL = 500  # so that a mapping is written anew, and again

class Words(Node):
    def __init__(self):
        self.places, self.counts = State({memory}), State()

    def on_message(self, edge, at, value, out):
        place, word = value
        saw(place)
        if place % 11 == 5:
            self.places.pop(word, None)
        else:
            self.places[word] = [*self.places.get(word, ()), place]
        self.counts[word] = self.counts.get(word, 0) + 1
        out.send("told", at, [place, word, self.places.get(word), self.counts[word]])
        out.request(at)

    def on_notify(self, at, out):
        out.send("all", at, [[*map(list, self.places.items())], [*map(list, self.counts.items())]])

graph = Graph().node("index").edge(None, "index", "words").edge("index", None, "told").edge("index", None, "all")
dataflow = Dataflow(graph, {{"index": Words}})
"""

    def begin(self) -> None:
        epochs = [[self.rng.choice("abcdefgh") for _ in range(self.rng.randint(2, 8))] for _ in range(self.epochs)]
        places = count()
        self._words = [word for words in epochs for word in words]
        self._times = [epoch for epoch, words in enumerate(epochs) for _ in words]
        self._input("words", [[[next(places), word] for word in words] for words in epochs])

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        came = [value[0] for _, value in found["told"]]
        there, right = Counter(came), Counter(range(len(self._words)))
        ends, sums = Counter(range(self.epochs)), Counter(at for at, _ in found["all"])
        lost = [*map(str, (right - there) + (ends - sums))]
        if may_repeat:
            return Found(lost, [], [])
        disorder = overtaken(came, self._times)
        places: dict[str, list[int]] = {}
        counts: dict[str, int] = {}
        moments = [json.dumps([[], []])]
        for number, (_, (place, word, said, many)) in enumerate(found["told"]):
            if place % 11 == 5:
                places.pop(word, None)
            else:
                places.setdefault(word, []).append(place)
            counts[word] = counts.get(word, 0) + 1
            if (said, many) != (places.get(word), counts[word]):
                disorder.append(f"value {number} follows from something else")
            moments.append(json.dumps([[[*each] for each in places.items()], [[*each] for each in counts.items()]]))
        disorder += [
            f"what there was at {at} is of no moment" for at, all_ in found["all"] if json.dumps(all_) not in moments
        ]
        return Found(lost, [*map(str, (there - right) + (sums - ends))], disorder)


class Idle(Program):
    """An input that falls silent: what comes after the silence is late, and in each life that may be something else."""

    name = "policy with idleness"
    outputs = ("seen", "totals", "late")
    many = 40

    def code(self) -> str:
        return f"""
from graphs import Graph
from progress.runtime import SILENT, Dataflow, Node
from progress.runtime.policies import with_idleness

def readings():
    for number in range({self.many}):
        if number % 10 == 8:
            for _ in range(6):
                time.sleep(0.002)
                yield SILENT
        yield number // 10, number

class Total(Node):
    def __init__(self):
        self.sums = {{}}

    def on_message(self, edge, at, value, out):
        saw(value)
        self.sums[at] = self.sums.get(at, 0) + value
        out.send("seen", at, value)
        out.request(at)

    def on_notify(self, at, out):
        out.send("totals", at, self.sums.pop(at))

graph = Graph().node("total").edge(None, "total", "readings")
graph.edge("total", None, "seen").edge("total", None, "totals")
sources = {{"readings": with_idleness(readings, after=0.005)}}
dataflow = Dataflow(graph, {{"total": Total}}, sources=sources)
"""

    def begin(self) -> None:
        pass

    def judge(self, found: Rows, *, may_repeat: bool) -> Found:
        came = [value for _, value in found["seen"]]
        late = [value for _, value in found["late"]]
        there, right = Counter([*came, *late]), Counter(range(self.many))
        sums: Counter[int] = Counter()
        for at, value in found["seen"]:
            sums[at] += value
        totals: dict[int, list[int]] = defaultdict(list)
        for at, total in found["totals"]:
            totals[at].append(total)
        lost = [*map(str, right - there), *(f"the total of {at}" for at in sums if at not in totals)]
        if may_repeat:
            return Found(lost, [], [])
        disorder = [f"the totals of {at} are {each}" for at, each in totals.items() if each != [sums[at]]]
        times = [value // 10 for value in range(self.many)]
        return Found(lost, [*map(str, there - right)], disorder + overtaken(came, times))
