"""Minimum spanning trees as a program of streams: a loop in a loop, each until nothing changes.

pointstamp run examples/pipelines/spanning_tree/stream.py --input graphs=examples/pipelines/spanning_tree/graphs.jsonl
"""

from pointstamp import Flow

flow = Flow(name="spanning_tree")
edges = flow.input("graphs").flat_map(lambda graph: [(weight, one, other) for one, other, weight in graph])


def grow(parts, tree):
    """A round: each part chooses its cheapest edge out of it, and the parts that these join take one name."""
    began = edges.key_on(lambda edge: edge[1]).join(parts.keyed(), lambda vertex, edge, part: (edge, part))
    ended = began.key_on(lambda each: each[0][2]).join(parts.keyed(), lambda vertex, each, part: (*each, part))
    leaving = ended.filter(lambda each: each[1] != each[2])
    chosen = leaving.flat_map(lambda each: [(each[1], each), (each[2], each)]).keyed().min().map(lambda best: best[1])
    chosen = chosen.distinct()
    joined = chosen.flat_map(lambda each: [(each[1], each[2]), (each[2], each[1])]).keyed()

    def spread(names):
        told = names.keyed().join(joined, lambda part, name, other: (other, name))
        return names.merge(told).keyed().min()

    names = parts.map(lambda each: (each[1], each[1])).distinct().iterate(spread, name="names")
    renamed = parts.key_on(lambda each: each[1], lambda each: each[0])
    parts = renamed.join(names.keyed(), lambda part, vertex, name: (vertex, name))
    return parts, tree.merge(chosen.map_at(lambda time, each: (*each[0], time[-1])))


def told(graph, tree):
    """How many rounds it took, and the tree."""
    found = sorted(sorted(ends) for _, *ends, _ in tree)
    return [{"rounds": max(edge[3] for edge in tree) + 1, "weight": sum(edge[0] for edge in tree), "edges": found}]


parts = edges.flat_map(lambda edge: [(vertex, vertex) for vertex in edge[1:]]).distinct()
_, tree = flow.iterate((parts, edges.filter(lambda edge: False)), grow, name="grow")
tree.whole(told).output("tree")
