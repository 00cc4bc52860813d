"""What a run answers with: what left where nobody took it, and the nodes as they are at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from progress.errors import brief, one_of

FEW = 8  # values of an edge that are shown


class Results(dict[str, list[tuple[Any, Any]]]):
    """What had no sink, as pairs (time, value) by output edge; late and dead data by their side outputs.

    An output by which nothing left is not a key, as in a `Counter`, and has an empty list: `run()["out"]`. A name by
    which nothing can leave, or whose values went to a sink, is a `KeyError`.

    Parameters
    ----------
    left : what left
    names : of all that could have left and would be here
    nodes : the nodes of this run, by name, those that were given code; no other run has them

    Examples
    --------
    >>> from pointstamp import Dataflow, from_edges
    >>> results = Dataflow(from_edges([(None, "a"), ("a", None)])).run(sources={"in->a": [(0, "x")]})
    >>> results["a->out"]
    [(0, 'x')]
    """

    def __init__(
        self,
        left: Mapping[str, list[tuple[Any, Any]]] | None = None,
        names: Iterable[str] = (),
        nodes: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(left or {})
        self.names = frozenset(names)
        self.nodes: dict[str, Any] = dict(nodes or {})

    def __missing__(self, name: str) -> list[tuple[Any, Any]]:
        if name in self.names:
            return []
        right = one_of(name, sorted({*self, *self.names}))
        raise KeyError(f"nothing is collected of {brief(name)}; {right}")

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: {_few(values)}" for name, values in self.items()) + "}"


def _few(values: list[tuple[Any, Any]]) -> str:
    if len(values) <= FEW:
        return repr(values)
    return f"[{', '.join(map(repr, values[:FEW]))}, ... {len(values) - FEW:,} more]"
