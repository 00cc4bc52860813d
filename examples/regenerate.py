"""A scheduler for a build with a cycle: two modules that regenerate each other until nothing changes.

A book begins with its table of contents, and the table lists the pages on which chapters begin. So each is generated
from the other. A time is (build, round). A module acts when the tracker says that all of a round has arrived.

    python examples/regenerate.py
"""

from collections import deque

from pointstamp import Tracker, load

LINES = 4  # on a page


class Book:
    """Chapters arrive once a build, in any order; the table of contents arrives in every round but the first."""

    def __init__(self):
        self.chapters, self.contents, self.pages = {}, {}, {}  # by build

    def receive(self, edge, time, value, out):
        if edge == "chapters":
            self.chapters.setdefault(time[0], {}).update([value])
        else:
            self.contents[time[0]] = value
        out.request(time)

    def complete(self, time, out):
        pages = split(self.contents.get(time[0], []))
        for chapter, lines in sorted(self.chapters[time[0]].items()):
            out.send("pages", time, (chapter, len(pages) + 1))
            pages += split(lines)
        self.pages[time[0]] = pages
        print(f"build {time[0]}, round {time[1]}: a book of {len(pages)} pages")


class Contents:
    """The page on which a chapter begins arrives for each chapter in every round."""

    def __init__(self):
        self.arrived, self.written = {}, {}  # by time, by build

    def receive(self, edge, time, value, out):
        self.arrived.setdefault(time, []).append(value)
        out.request(time)

    def complete(self, time, out):
        build, round_ = time
        table = [f"{chapter} {page}" for chapter, page in sorted(self.arrived.pop(time))]
        if table != self.written.get(build):  # else nothing is sent, and nothing is left of the build
            self.written[build] = table
            out.send("table", (build, round_ + 1), table)


def split(lines):
    return [lines[start : start + LINES] for start in range(0, len(lines), LINES)]


class Scheduler:
    """Hands messages to modules, and notifications as soon as the tracker allows them."""

    def __init__(self, graph, modules, targets):
        self.tracker, self.modules, self.targets = Tracker(graph), modules, targets
        self.queue = deque()

    def feed(self, edge, values, time, next_times):
        with self.tracker.step() as step:
            for _ in values:
                step.message(edge, time)
            step.input(edge, next_times)
        self.queue.extend((edge, time, value) for value in values)

    def run(self):
        while True:
            if self.queue:
                edge, time, value = self.queue.popleft()
                self.act(self.targets[edge], "consumed", edge, time, value)
            elif ready := self.tracker.get_ready():
                for name, time in ready:
                    self.act(name, "delivered", name, time)
            else:
                return

    def act(self, name, event, place, time, *value):
        with self.tracker.step() as step:  # one step: what is handled, and what comes of it
            getattr(step, event)(place, time)
            out = Out(step, name)
            if value:
                self.modules[name].receive(place, time, *value, out)
            else:
                self.modules[name].complete(time, out)
        self.queue.extend(out.sent)


class Out:
    """What a module may do while it acts."""

    def __init__(self, step, name):
        self.step, self.name, self.sent = step, name, []

    def send(self, edge, time, value):
        self.step.message(edge, time)
        self.sent.append((edge, time, value))

    def request(self, time):
        self.step.request(self.name, time)


def main():
    modules = {"book": Book(), "contents": Contents()}
    targets = {"chapters": "book", "pages": "contents", "table": "book"}
    scheduler = Scheduler(load("examples/regenerate.yaml"), modules, targets)

    def printed(location, before, after):  # the frontier of the edge `printed`: the builds that may still change
        for build in range(before[0], after[0] if after else 2):
            print(f"build {build} is complete: {', '.join(modules['contents'].written[build])}")

    scheduler.tracker.subscribe("printed", printed)
    chapters = {name: [f"{name} {line}" for line in range(lines)] for name, lines in (("dawn", 3), ("noon", 6))}
    scheduler.feed("chapters", list(chapters.items()), (0, 0), [(1, 0)])
    scheduler.run()
    chapters |= {"dusk": ["dusk"] * 9, "eve": ["eve"], "night": ["night"]}  # the table no longer fits on one page
    scheduler.feed("chapters", list(chapters.items()), (1, 0), [])
    scheduler.run()


if __name__ == "__main__":
    main()
