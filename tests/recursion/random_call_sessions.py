"""Random steps of systems with calls, mostly legal, made by looking at the state that the reference keeps.

A legal step is what A&I 4.2 lets happen: a message is consumed or a request delivered, and what its node then sends
goes one step on in the split graph. About every fourth step has something illegal in it, often nearly legal.
"""

from __future__ import annotations

import random
from typing import Any

from recursion.reference import Graph, Pointstamp
from recursion.reference.session import Session
from tests.recursion.random_calls import random_epoch, usual_depth

Step = dict[str, Any]  # inputs, messages, requests, delivered: what `Tracker.apply` and `Session.step` take


class Player:
    """Makes the steps of one session after the other, all on one graph."""

    def __init__(self, rng: random.Random, graph: Graph) -> None:
        self.rng = rng
        self.graph = graph
        self.deepest = usual_depth(graph, 20)  # of stacks to begin with; calls go one deeper
        self.places = [place for place in graph.locations if graph.stacks_at(place, self.deepest)]
        self.nodes = [node for node in graph.nodes if node in self.places]
        self.edges = [edge for edge in graph.edges if edge in self.places]

    def begin(self) -> Session:
        """A session with a few pending requests, and inputs that are open as usual or where somebody said."""
        rng, graph = self.rng, self.graph
        requests = [self.somewhere(self.nodes) for _ in range(rng.choice([1, 1, 2, 3]))]
        inputs = None
        if rng.random() < 0.5:
            names = [edge for edge in graph.edges if graph.source[edge] is None and edge in self.places]
            inputs = {edge: [self.somewhere([edge])[1] for _ in range(rng.choice([0, 1, 1, 2]))] for edge in names}
        return Session(graph, inputs, requests, self.deepest + 1)

    def somewhere(self, places: list[str]) -> Pointstamp:
        """One of the places, at a time that it has."""
        place = self.rng.choice(places)
        return place, self._time(self.rng.choice(self.graph.stacks_at(place, self.deepest)))

    def _time(self, stack: Any) -> Any:
        return stack if self.graph.epochs is None else (random_epoch(self.rng, self.graph.epochs), stack)

    # Legal steps

    def step(self, session: Session) -> Step:
        """A step that is legal, or has something illegal in it."""
        step: Step = {"inputs": {}, "messages": [], "requests": [], "delivered": []}
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            self._happen(session, step)
        if self.rng.random() < 0.25:
            for _ in range(self.rng.choice([1, 1, 1, 2])):
                self.spoil(session, step)
        elif self.rng.random() < 0.02:
            self._deform(step)
        return step

    def _happen(self, session: Session, step: Step) -> None:
        rng = self.rng
        inputs = [edge for edge, times in session.inputs.items() if times]
        eligible = [request for request in session.eligible() if request not in step["delivered"]]
        queued = [(edge, time) for edge, time in session.messages if (edge, time, -1) not in step["messages"]]
        match rng.choice(["input", "deliver", "deliver", "consume", "consume", "consume"]):
            case "input" if inputs:
                edge = rng.choice(inputs)
                times = session.inputs[edge]
                if rng.random() < 0.6:
                    step["messages"].append((edge, self._later(rng.choice(times)), rng.choice([1, 1, 2])))
                else:
                    step["inputs"][edge] = [self._later(time) for time in times if rng.random() < 0.6]
            case "deliver" if eligible:
                step["delivered"].append(request := rng.choice(eligible))
                self._act(*request, step)
            case _ if queued:
                edge, time = rng.choice(queued)
                step["messages"].append((edge, time, -1))
                node = self.graph.destination[edge]
                if node is not None:
                    self._act(node, time, step)
            case _:
                outstanding = [each for each, _ in session.outstanding()]
                if outstanding:  # what anything outstanding could result in may be added as well
                    self._add(rng.choice(outstanding), step)

    def _later(self, time: Any) -> Any:
        """The time, or one with a later epoch: at an input, stacks are not ordered."""
        epochs = self.graph.epochs
        if epochs is None or self.rng.random() < 0.4:
            return time
        after = (random_epoch(self.rng, epochs, 3), time[1])
        return after if self.graph.could_result_in((self.edges[0], time), (self.edges[0], after)) else time

    def _act(self, node: str, time: Any, step: Step) -> None:
        """What an event at a node may lead to: messages one step on, and requests at its time."""
        rng = self.rng
        epoch, stack = self.graph.split(time)
        for edge, after in self.graph.steps(node, stack):
            if rng.random() < 0.6 and len(after) <= self.deepest + 1:
                step["messages"].append((edge, after if self.graph.epochs is None else (epoch, after), 1))
        if rng.random() < 0.4:
            step["requests"].append((node, time))

    def _add(self, start: Pointstamp, step: Step) -> None:
        epoch, stack = self.graph.split(start[1])
        reached = self.graph.results((start[0], stack), self.deepest + 1)
        place, after = self.rng.choice(sorted(reached) or [(start[0], stack)])
        time = after if self.graph.epochs is None else (epoch, after)
        if place in self.graph.nodes:
            step["requests"].append((place, time))
        else:
            step["messages"].append((place, time, 1))

    # Illegal ones

    def spoil(self, session: Session, step: Step) -> None:
        """Something that is mostly illegal."""
        rng, graph = self.rng, self.graph
        blocked = [request for request in session.requests if not session.complete(*request)]
        inputs = [edge for edge in session.inputs if edge in self.places]
        place, time = self.somewhere(self.places)
        match rng.choice(["place", "place", "count", "outside", "request", "blocked", "back", "back"]):
            case "place":
                self.misplace(step)
            case "count":
                edge, at = rng.choice([*session.messages, self.somewhere(self.edges)])
                step["messages"].append((edge, at, -1 - session.messages.get((edge, at), 0)))
            case "outside":
                if place in graph.nodes:
                    step["requests"].append((place, time))
                else:
                    step["messages"].append((place, time, 1))
            case "request":
                step["delivered"].append(rng.choice([*session.eligible(), self.somewhere(self.nodes)]))
                if rng.random() < 0.5:
                    step["delivered"].append(step["delivered"][0])
            case "blocked" if blocked:
                step["delivered"].append(rng.choice(blocked))
            case "back" if inputs:
                edge = rng.choice(inputs)
                step["inputs"][edge] = [self.somewhere([edge])[1], *session.inputs[edge]]

    def misplace(self, step: Step) -> None:
        """A name that there is not, a time that is none there, or mostly the wrong kind of place."""
        place: Any
        place, time = self.somewhere(self.places)
        match self.rng.choice(["name", "time", "kind"]):
            case "name":
                place = self.rng.choice(["nowhere", "", f"{self.graph.nodes[0]} ", 7, None])
            case "time":
                wrong = [self._time(("nobody",)), 7, (), ((),), (0, ("nobody",)), "a", None, ((), 0)]
                time = self.rng.choice([each for each in wrong if not self.graph.contains(place, each)])
        self._put(step, place, time)

    def _put(self, step: Step, place: Any, time: Any) -> None:
        match self.rng.choice(["inputs", "messages", "requests", "delivered"]):
            case "inputs":
                step["inputs"][place] = [time] if self.rng.random() < 0.8 else []
            case "messages":
                step["messages"].append((place, time, self.rng.choice([1, -1])))
            case kind:
                step[kind].append((place, time))

    def _deform(self, step: Step) -> None:
        """Make something of the step what no step is."""
        place, time = self.somewhere(self.edges)
        kind, item = self.rng.choice(
            [
                ("messages", (place, time)),
                ("messages", (place, time, "1")),
                ("messages", 7),
                ("requests", (place, time, 1)),
                ("delivered", None),
            ]
        )
        step[kind].append(item)
