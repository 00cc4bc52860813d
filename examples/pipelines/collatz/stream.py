"""Collatz's steps as a program of streams: the graph, its times and what is kept for a batch are the builder's.

pointstamp run examples/pipelines/collatz/stream.py --input numbers=examples/pipelines/collatz/numbers.jsonl
"""

from pointstamp import Flow


def step(going):
    """A round: what is done leaves with the number of rounds, the rest goes again."""
    done, rest = going.map_at(lambda time, v: (v[0], v[1], time[-1])).branch(lambda v: v[1] == 1)
    halved = rest.map(lambda v: (v[0], v[1] // 2 if v[1] % 2 == 0 else 3 * v[1] + 1))
    return halved, done.map(lambda v: {"number": v[0], "steps": v[2]})


flow = Flow(name="collatz")
steps = flow.input("numbers", int).map(lambda number: (number, number)).loop(step)
steps.output("steps")
best = steps.whole(lambda batch, found: [max(found, key=lambda each: (each["steps"], -each["number"]))])
best.output("record")
