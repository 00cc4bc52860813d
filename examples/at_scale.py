"""A graph of a million edges checked for Condition 2: may a message ever come back to a node before it left?

Ninety thousand shops sell goods on to each other, and ten thousand depots take returns. A sale keeps its time, (day,
round); what goes back through a depot comes at the next round. One depot of ten thousand has its clock wrong and books
returns a day early: the one mistake among a million edges is found, with the way on which it shows.

    python examples/at_scale.py [EDGES] [local|spark|auto]
"""

import random
import sys
import tempfile
from pathlib import Path

import pyarrow
from pyarrow import parquet

from graphs.at_scale import Tables, check_conditions, open_in_spark

TIME = '{"lex": ["nat", "nat"]}'


def write(folder: Path, edges: int) -> Tables:
    """The graph as two Parquet files; its columns are the keys of graph files."""
    rng = random.Random(2015)
    shops, depots = max(4, edges * 9 // 100), max(2, edges // 100)
    wrong = rng.randrange(depots)
    nodes = {
        "id": [f"shop {number}" for number in range(shops)] + [f"depot {number}" for number in range(depots)],
        "summary": [None] * shops
        + ['{"advance": [-1, 0]}' if number == wrong else "feedback" for number in range(depots)],
        "notify": [True] * shops + [False] * depots,
    }
    nodes["time"] = [TIME] * len(nodes["id"])
    sources, targets = [], []
    for _ in range(edges - 2 * depots):  # sales go from lower to higher numbers: only returns make a cycle
        first, second = sorted(rng.sample(range(shops), 2))
        sources.append(f"shop {first}")
        targets.append(f"shop {second}")
    for number in range(depots):
        back = rng.randrange(shops // 2)
        sources += [f"shop {rng.randrange(shops // 2, shops)}", f"depot {number}"]
        targets += [f"depot {number}", f"shop {back}"]
    listed = {"id": [f"e{number}" for number in range(len(sources))], "from": sources, "to": targets}
    tables = Tables(folder / "nodes.parquet", folder / "edges.parquet")
    parquet.write_table(pyarrow.table(nodes), tables.nodes)
    parquet.write_table(pyarrow.table(listed), tables.edges)
    return tables


def main(edges: int = 1_000_000, engine: str = "auto") -> None:
    with tempfile.TemporaryDirectory() as folder:
        tables = write(Path(folder), edges)
        graph = open_in_spark(tables) if engine == "spark" else tables
        report = check_conditions(graph, engine, say=print)
    print(f"{edges} edges; Condition 2 holds: {report.condition_2.holds}")
    offence = report.condition_2.witness
    if offence is not None:
        depots = sorted({location for location, _ in offence.path if location.startswith("depot")})
        print(f"it comes back a day early through {', '.join(depots)}: {offence.time} becomes {offence.arrives}")


if __name__ == "__main__":
    main(*[int(word) if word.isdigit() else word for word in sys.argv[1:]])
