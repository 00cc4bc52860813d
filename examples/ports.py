"""An operator whose outputs depend on some of its inputs only.

What comes in at `left` goes out at `early` with its time unchanged; what comes in at `right` goes out at `late`, one
later. Each output is wired to the other input. Only one cycle exists: left -> early -> right -> late -> left, and on it
times rise. A view without ports sees another one, left -> early -> left, on which nothing rises.
"""

from pointstamp import Graph, add_operator, check_conditions


def with_ports() -> Graph:
    graph = Graph(name="by port")
    summaries = {("left", "early"): "identity", ("right", "late"): {"advance": 1}}
    add_operator(graph, "operator", ["left", "right"], ["early", "late"], summaries)
    graph.edge("operator.early", "operator.right")
    graph.edge("operator.late", "operator.left")
    graph.edge(None, "operator.left", id="input")
    return graph


def without_ports() -> Graph:
    graph = Graph(name="without ports")
    graph.node("operator", emits={"early": "identity", "late": {"advance": 1}})
    graph.node("wire1", notify=False).node("wire2", notify=False)  # an edge joins two distinct nodes
    graph.edge("operator", "wire1", id="early").edge("wire1", "operator")
    graph.edge("operator", "wire2", id="late").edge("wire2", "operator")
    graph.edge(None, "operator", id="input")
    return graph


for graph in (with_ports(), without_ports()):
    advancing = check_conditions(graph).advancing
    print(f"{graph.name}: {'every cycle advances' if advancing.holds else 'a cycle stands still'}")
    if advancing.cycle:
        print("  " + " -> ".join(advancing.cycle))
