"""`pointstamp complete --from TOOL TARGET --have have.json ASSET=PARTITION`: is what this partition needs all there?

The answer is that of the graph and of a list of what has materialised, not of what exists at this moment: an input that
will exist in two hours is missing now. Exit code 0: complete; 1: not, or nobody can tell.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from graphs.adapters import TOOLS, adapter
from graphs.adapters.partitions import Completeness, Need, Partitioned, completeness
from graphs.arguments import split
from graphs.files.document import read_file
from graphs.wording import first_of, plural, printable
from progress.errors import PointstampError, brief, one_of

MOST_KEYS = 12  # missing partitions of one asset that are shown to people

_RIGHT = 'like {"raw": ["2026-03-01", "2026-03-02"], "dim": true}'


def complete(tool: str, target: str, have: str, question: str) -> Completeness:
    """Whether the inputs of `ASSET=PARTITION`, or of an asset without partitions, have all materialised."""
    adapter(tool)  # says what is missing, if the tool is
    module = import_module(TOOLS[tool].module) if tool in TOOLS else None
    if not hasattr(module, "partitions"):
        able = [name for name, entry in TOOLS.items() if name in WITH_PARTITIONS and entry]
        raise PointstampError("PS901", f"complete does not know the partitions of {brief(tool)}", one_of(tool, able))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph: Partitioned = module.partitions(target)  # type: ignore[union-attr]
        asset, key = split(question, graph.assets())
        given = read_have(have)
        known: Any = getattr(graph, "materialised", None)
        return completeness(graph, known(given) if known else given, asset, key or None)


WITH_PARTITIONS = ("airflow", "dagster", "dbt")


def read_have(file: str) -> dict[str, Sequence[str | None]]:
    """What has materialised: for each asset its partitions; `true` for an asset without partitions. PS927 otherwise."""

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise PointstampError("PS927", f"{brief(file)} has one key twice", _RIGHT)
        return found

    try:
        text = read_file(file)
    except PointstampError as error:
        raise PointstampError("PS927", f"{brief(file)}: {error.message}", error.hint) from None
    try:
        data = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise PointstampError("PS927", f"{brief(file)} is not JSON: {error}", _RIGHT) from None
    if not isinstance(data, Mapping):
        raise PointstampError("PS927", f"{brief(file)} does not hold an object", _RIGHT)
    found: dict[str, Sequence[str | None]] = {}
    for asset, keys in data.items():
        if isinstance(keys, bool):
            found[asset] = [None] if keys else []
        elif isinstance(keys, list) and all(isinstance(key, str) for key in keys):
            found[asset] = keys
        else:
            raise PointstampError("PS927", f"what {brief(file)} says of {brief(asset)} is not a list of texts", _RIGHT)
    return found


def render(answer: Completeness) -> str:
    """The answer for people."""
    target, lines = answer.target, []
    inputs = f"{answer.needed} {plural(answer.needed, 'input')}"
    lacking = len(answer.missing) + len(answer.never)
    if answer.complete:
        lines.append(f"{target}: complete, {inputs} there")
    elif lacking:
        lines.append(f"{target}: not complete, {lacking} of {inputs} missing")
    else:
        lines.append(f"{target}: not known")
    for needs, note in ((answer.missing, ""), (answer.never, "   (will never exist)")):
        for asset in dict.fromkeys(need.asset for need in needs):
            lines.append(f"  {asset}: {_keys([need for need in needs if need.asset == asset])}{note}")
    lines += [f"  {sentence}" for sentence in answer.unknown]
    return "".join(f"{printable(line)}\n" for line in lines)


def _keys(needs: Sequence[Need]) -> str:
    keys = [need.key for need in needs]
    if keys == [None]:
        return "not materialised"
    return first_of(keys, MOST_KEYS)
