"""The order of times as SQL text, over structs with the numbers `c0`, `c1`, ... of a time's leaves.

The leaves are those of `progress.normal_form.layout`.

Nothing in it comes from names of a graph: expressions are made of numbers and of what domains are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from progress.normal_form.layout import Case, Leaf, Rows, Structure
from progress.order import Domain, Finite, Lex, Product, Sum, Unit

Next: TypeAlias = Callable[[], str]


def less_equal(rows: Rows, one: str, other: str) -> str:
    """Whether the struct `one` <= `other`, as SQL."""
    return _less_equal(rows, rows.structure, one, other)


def _less_equal(rows: Rows, structure: Structure, one: str, other: str) -> str:
    if isinstance(structure, int):
        return _leaf(rows.leaves[structure], f"{one}.c{structure}", f"{other}.c{structure}")
    word, parts = structure
    if not parts:
        return "true"
    each = [_less_equal(rows, part, one, other) for part in parts]
    if word == "product":
        return f"({' AND '.join(each)})"
    text = each[-1]
    for part, below in zip(reversed(parts[:-1]), reversed(each[:-1]), strict=True):
        equal = " AND ".join(f"{one}.c{leaf} = {other}.c{leaf}" for leaf in _leaves(part)) or "true"
        text = f"(({equal} AND {text}) OR (NOT ({equal}) AND {below}))"
    return text


def _leaves(structure: Structure) -> list[int]:
    if isinstance(structure, int):
        return [structure]
    return [leaf for part in structure[1] for leaf in _leaves(part)]


def _leaf(leaf: Leaf, one: str, other: str) -> str:
    if leaf.numeric:
        return f"{one} <= {other}"
    assert leaf.order is not None
    count = len(leaf.order.elements)
    table = ", ".join(str(leaf.less_equal(first, second)).lower() for first in range(count) for second in range(count))
    return f"element_at(array({table}), cast({one} * {count} + {other} + 1 AS int))"


def minimal_of(rows: Rows, times: str) -> str:
    """The minimal ones of an array of structs, each once.

    Cost: O(n log n) for total orders and pairs of numbers, O(n * n) for others.
    """
    leaves = _leaves(rows.structure)
    numeric = all(leaf.numeric for leaf in rows.leaves)
    if numeric and (len(leaves) < 2 or _is_lexicographic(rows.structure)):
        return f"slice(array_sort({times}), 1, 1)"
    if numeric and rows.structure == ("product", (0, 1)):  # sorted by c0: minimal is what lies below all before in c1
        return (
            f"aggregate(slice(array_sort({times}), 2, size({times})), slice(array_sort({times}), 1, 1), (kept, one) -> "
            "if(one.c1 < element_at(kept, -1).c1, concat(kept, array(one)), kept))"
        )
    below = less_equal(rows, "other", "one")
    return f"filter(array_distinct({times}), one -> NOT exists({times}, other -> other != one AND {below}))"


def _is_lexicographic(structure: Structure) -> bool:
    return isinstance(structure, int) or (
        (structure[0] == "lex" or len(structure[1]) < 2) and all(map(_is_lexicographic, structure[1]))
    )


def json_of(domain: Domain, case: Case) -> list[str]:
    """The parts of a time's JSON text, as `json.dumps` writes it, from the columns `c0`, `c1`, ..."""
    leaves = iter(range(1 << 30))
    return _json(domain, iter(case).__next__, lambda: f"c{next(leaves)}")


def _json(domain: Domain, next_tag: Next, next_leaf: Next) -> list[str]:
    if isinstance(domain, Product | Lex):
        parts = [text("[")]
        for place, part in enumerate(domain.parts):
            parts += [text(", ")] * (place > 0) + _json(part, next_tag, next_leaf)
        return [*parts, text("]")]
    if isinstance(domain, Sum):
        tag = next_tag()
        return [text(f"{{{json.dumps(tag)}: "), *_json(domain.summands[tag], next_tag, next_leaf), text("}")]
    if isinstance(domain, Unit):
        return [text("null")]
    if isinstance(domain, Finite):
        names = ", ".join(text(json.dumps(name)) for name in domain.by_rank)
        return [f"element_at(array({names}), cast({next_leaf()} + 1 AS int))"]
    return [f"cast({next_leaf()} AS string)"]


def text(words: str) -> str:
    """A text as an SQL literal."""
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
