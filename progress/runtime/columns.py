"""The columns of `out.table`, written as Spark writes them, and what may stand in each: the same for every engine.

What does not fit is refused in one line (PS745), before a library sees it: libraries differ in what they round, wrap,
cut off or take as it is. A whole number in a column of fractions, and 2.0 in one of whole numbers, fit.

    tinyint, smallint, int, bigint, float, double, decimal(p, s), boolean, string, binary, date, timestamp,
    timestamp_ntz, array<T>, map<K, V>, struct<name: T, ...>
"""

from __future__ import annotations

import datetime
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any, NamedTuple

from progress.errors import PointstampError, brief

BITS = {"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}
MOST_DIGITS = 38
RIGHT = "road string, minutes double, with a value of the type, or None, in each column"
NO_VALUE = object()


class Kind(NamedTuple):
    """The type of a column: how it is written, and what a value becomes there, or NO_VALUE."""

    name: str
    fit: Callable[[Any], Any]


def kinds_of(columns: str) -> dict[str, Kind]:
    """Column -> type, of `road string, minutes double`; a colon may stand after a name."""
    found: dict[str, Kind] = {}
    for part in _parts(columns):
        name, kind = _named(part, columns)
        if name.lower() in map(str.lower, found):
            raise PointstampError("PS745", f"the columns {brief(columns)} have {brief(name)} twice", RIGHT)
        found[name] = kind
    return found


def fitted(rows: Iterable[Any], kinds: Mapping[str, Kind]) -> list[dict[str, Any]]:
    """Rows, mappings or sequences, as mappings of what fits the columns. Cost: O(rows times columns)."""
    found = []
    for row in rows:
        if isinstance(row, Mapping):
            values = [row.get(name) for name in kinds]
        elif isinstance(row, Sequence) and not isinstance(row, str | bytes):
            values = list(row)
        else:
            raise PointstampError("PS745", f"{brief(row)} is not a row", RIGHT)
        if len(values) != len(kinds):
            what = f"the row {brief(row)} has {len(values)} of {len(kinds)} columns"
            raise PointstampError("PS745", what, ", ".join(kinds))
        found.append({name: _fit(value, name, kind) for value, (name, kind) in zip(values, kinds.items(), strict=True)})
    return found


def _fit(value: Any, name: str, kind: Kind) -> Any:
    plain = _of_python(value)
    if plain is None:
        return None
    found = kind.fit(plain)
    if found is NO_VALUE:
        raise PointstampError("PS745", f"{brief(plain)} does not fit the column {brief(name)}", f"{kind.name}, or None")
    return found


def _of_python(value: Any) -> Any:
    """What numpy and pandas have for values of Python."""
    kind = type(value)
    if kind.__name__ in ("NAType", "NaTType"):
        return None
    if kind.__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return value.item()
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


# --- types -----------------------------------------------------------------------------------------------------------


def _parts(written: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    depth, parts = 0, [""]
    for letter in written:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _named(part: str, columns: str) -> tuple[str, Kind]:
    found = re.fullmatch(r"\s*(?:`([^`]+)`|([^\s:`]+))\s*(?::|\s)\s*(\S.*?)\s*", part, re.DOTALL)
    if found is None:
        raise PointstampError("PS745", f"{brief(columns)} are no columns", RIGHT)
    return found[1] or found[2], kind_of(found[3])


def kind_of(written: str) -> Kind:
    """A type, as Spark writes it."""
    text = re.sub(r"\s+", " ", written.strip())
    plain = text.lower()
    if plain in BITS:
        return Kind(plain, _whole(BITS[plain]))
    if plain in _PLAIN:
        return Kind(plain, _PLAIN[plain])
    digits = re.fullmatch(r"(?:decimal|dec|numeric)(?: ?\( ?(\d+) ?(?:, ?(\d+) ?)?\))?", plain)
    if digits is not None and int(digits[2] or 0) <= int(digits[1] or 10) <= MOST_DIGITS:
        return Kind(plain, _decimal(int(digits[1] or 10), int(digits[2] or 0)))
    of = re.fullmatch(r"(array|map|struct) ?<(.*)>", text, re.IGNORECASE | re.DOTALL)
    if of is not None:
        return Kind(plain, _nested(of[1].lower(), of[2], written))
    raise _no_kind(written)


def _no_kind(written: str) -> PointstampError:
    return PointstampError(
        "PS745", f"there is no type {brief(written)}", "bigint, double, string, date, decimal(9, 2)..."
    )


def _whole(bits: int) -> Callable[[Any], Any]:
    def fit(value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        is_one = type(value) is int and -(1 << bits - 1) <= value < 1 << bits - 1
        return value if is_one else NO_VALUE

    return fit


def _decimal(digits: int, scale: int) -> Callable[[Any], Any]:
    unit = Decimal(1).scaleb(-scale)

    def fit(value: Any) -> Any:
        if type(value) is not int and not isinstance(value, Decimal):
            return NO_VALUE
        with localcontext() as context:
            context.prec = MOST_DIGITS
            try:
                found = Decimal(value).quantize(unit)
            except InvalidOperation:
                return NO_VALUE
        return found if found == value and len(found.as_tuple().digits) <= max(digits, 1) else NO_VALUE

    return fit


def _double(value: Any) -> Any:
    try:
        return float(value) if type(value) in (int, float) else NO_VALUE
    except OverflowError:
        return NO_VALUE


def _float(value: Any) -> Any:
    """A number of 32 bits, rounded as there."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0] if type(value) in (int, float) else NO_VALUE
    except (OverflowError, struct.error):
        return NO_VALUE


def _of(*types: type) -> Callable[[Any], Any]:
    return lambda value: value if type(value) in types else NO_VALUE


def _timestamp(value: Any) -> Any:
    """A date with a time of day; one with a zone as it is in UTC, which tables of both libraries are then without."""
    if not isinstance(value, datetime.datetime):
        return NO_VALUE
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


_PLAIN: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("float", "real"), _float),
    "double": _double,
    "boolean": _of(bool),
    "string": _of(str),
    "binary": _of(bytes),
    "date": _of(datetime.date),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), _timestamp),
}


def _nested(kind: str, inner: str, written: str) -> Callable[[Any], Any]:
    if kind == "struct":
        fields = kinds_of(inner)

        def fit_struct(value: Any) -> Any:
            if not isinstance(value, Mapping | tuple):
                return NO_VALUE
            return fitted([value], fields)[0]

        return fit_struct
    parts = [kind_of(part) for part in _parts(inner)]
    if len(parts) != (1 if kind == "array" else 2):
        raise _no_kind(written)

    def each(values: Iterable[Any], of: Kind) -> list[Any]:
        return [_fit(value, kind, of) for value in values]

    if kind == "array":
        return lambda value: each(value, parts[0]) if isinstance(value, list | tuple) else NO_VALUE
    return lambda value: (
        dict(zip(each(value, parts[0]), each(value.values(), parts[1]), strict=True))
        if isinstance(value, Mapping)
        else NO_VALUE
    )
