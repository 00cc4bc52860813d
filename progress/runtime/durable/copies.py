"""A value as it was, although it has changed since: a pickle, in which what never changes stands by itself.

Times of graphs and DataFrames of Spark are the same objects in what is made of a copy: a DataFrame is a plan, and
nothing is computed for it. So are functions, classes and modules, also those that a pickle could not hold.
"""

from __future__ import annotations

import datetime
import decimal
import io
import pickle
import types
from operator import is_
from typing import Any

from progress.plain import Written
from progress.runtime.tables import is_of_spark

BY_THEMSELVES = frozenset({type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType})
PLAIN = BY_THEMSELVES | {
    int, float, complex, str, bytes, bool, type(None), type(Ellipsis), range,
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, decimal.Decimal,
}  # fmt: skip


def is_plain(value: Any) -> bool:
    """Whether a value is the same as long as it is the same object."""
    kind = type(value)
    if kind in PLAIN:
        return True
    if kind in (tuple, frozenset):
        return all(map(is_plain, value))
    return is_of_spark(value)


class Copy:
    """What a value was when this was made. Cost: that of pickling it, each time it is made or compared.

    What cannot be pickled raises what pickle raises.
    """

    __slots__ = ("_by_themselves", "_pickle")

    def __init__(self, value: Any) -> None:
        stream = io.BytesIO()
        writer = _Writer(stream)
        writer.dump(value)
        self._pickle = stream.getvalue()
        self._by_themselves = writer.by_themselves

    def made(self) -> Any:
        """The value, made anew."""
        return _Reader(io.BytesIO(self._pickle), self._by_themselves).load()

    def is_still(self, value: Any) -> bool:
        """Whether a value is what it was. One that is equal but was put together otherwise may be another."""
        try:
            now = Copy(value)
        except Exception:  # it changes meanwhile, or can be pickled no more
            return False
        return now._pickle == self._pickle and all(map(is_, now._by_themselves, self._by_themselves))


class _Writer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.by_themselves: list[Any] = []

    def persistent_id(self, obj: Any) -> int | None:
        if type(obj) in BY_THEMSELVES or isinstance(obj, Written) or is_of_spark(obj):
            self.by_themselves.append(obj)
            return len(self.by_themselves) - 1
        return None


class _Reader(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, by_themselves: list[Any]) -> None:
        super().__init__(stream)
        self._by_themselves = by_themselves

    def persistent_load(self, pid: int) -> Any:
        return self._by_themselves[pid]
