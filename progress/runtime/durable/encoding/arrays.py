"""Arrays of numpy and tables of pandas as plain data, where these are installed. Nothing imports them before it is met.

An array is its type, its shape and its bytes, one of objects is its list. What pandas has is made of arrays by column.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

from progress.errors import brief
from progress.runtime.durable.encoding.form import NotPlain, NotRead, check_key

KINDS = "biufcSUmM"  # types of numpy whose values are bytes of one size, without references
TYPE = re.compile(rf"[<>|=][{KINDS}][0-9]{{1,10}}(\[[0-9]{{0,10}}[a-zA-Z]{{1,2}}\])?")
FORTRAN, READ_ONLY = "F", "R"  # how the numbers of an array lie, and whether they may be altered
ARRAY, SCALAR, FRAME, SERIES, INDEX = "array", "scalar", "table", "column", "index"
MISSING, MOMENT, SPAN = "missing", "moment of pandas", "span of pandas"
ZONE_NAME = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")
UNITS = frozenset({"s", "ms", "us", "ns"})


def parts(value: Any) -> tuple[str, Any, bool] | None:
    """Its name and what it is made of; None where it is of neither library."""
    library = type(value).__module__.partition(".")[0]
    if library == "numpy" and library in sys.modules:
        return _of_numpy(value)
    if library == "pandas" and library in sys.modules:
        return _of_pandas(value)
    return None


def made(name: str, made_of: Any) -> Any:
    """The inverse of `parts`."""
    if name == MISSING:
        import pandas as pd  # type: ignore[import-untyped]

        return pd.NaT if made_of == "NaT" else pd.NA
    if name not in MAKERS:
        raise NotRead(f"there is no {name}")
    return MAKERS[name](*made_of)


# --- numpy ------------------------------------------------------------------------------------------------------------


def _of_numpy(value: Any) -> tuple[str, Any, bool] | None:
    import numpy as np

    if type(value) is np.ndarray:
        how = FORTRAN * bool(value.flags.fnc) + READ_ONLY * (not value.flags.writeable)
        more = (how,) if how else ()
        if value.dtype.kind == "O":
            return ARRAY, ("O", value.shape, value.ravel("F" if FORTRAN in how else "C").tolist(), *more), False
        return ARRAY, (_dtype(value.dtype), value.shape, value.tobytes("F" if FORTRAN in how else "C"), *more), False
    if isinstance(value, np.generic):
        return SCALAR, (_dtype(value.dtype), (), value.tobytes()), False
    return None


def _dtype(dtype: Any) -> Any:
    """A type as text; one of several fields as a list of them."""
    if dtype.names is not None:
        return [(name, _dtype(dtype[name]), dtype.fields[name][1]) for name in dtype.names] + [dtype.itemsize]
    if dtype.kind not in KINDS or dtype.subdtype is not None:
        raise NotPlain(f"an array of {dtype} is not plain data")
    return str(dtype.str)


def _read_dtype(written: Any) -> Any:
    import numpy as np

    if type(written) is list:
        *fields, size = written
        names, formats, offsets = zip(*fields, strict=True)
        wanted: Any = {
            "names": list(names),
            "formats": [_read_dtype(each) for each in formats],
            "offsets": list(offsets),
        }
        wanted["itemsize"] = size
        return np.dtype(wanted)
    if type(written) is not str or not TYPE.fullmatch(written):
        raise NotRead("an array of no known type")
    return np.dtype(written)


def _array(dtype: Any, shape: Any, content: Any, how: Any = "") -> Any:
    if how not in ("", FORTRAN, READ_ONLY, FORTRAN + READ_ONLY):
        raise NotRead("an array of no known order")
    found = _ordered(dtype, shape, content, "F" if FORTRAN in how else "C")
    if READ_ONLY in how:
        found.flags.writeable = False
    return found


def _ordered(dtype: Any, shape: Any, content: Any, order: Any) -> Any:
    import numpy as np

    if type(shape) is not tuple or not all(type(each) is int and each >= 0 for each in shape):
        raise NotRead("an array without a shape")
    if dtype == "O":
        if type(content) is not list:
            raise NotRead("an array of other objects")
        found = np.empty(len(content), dtype=object)
        for place, each in enumerate(content):
            found[place] = each
        return found.reshape(shape, order=order)
    kind = _read_dtype(dtype)
    if type(content) is not bytes:
        raise NotRead("an array without bytes")
    if not content or not kind.itemsize:
        return np.empty(shape, kind) if 0 in shape or not kind.itemsize else np.frombuffer(content, kind).reshape(shape)
    found = np.empty_like(np.frombuffer(content, kind).reshape(shape, order=order), order=order)
    found.reshape(-1, order=order).view("u1")[:] = np.frombuffer(content, "u1")  # what is between fields, too
    return found


# --- pandas -----------------------------------------------------------------------------------------------------------


def _of_pandas(value: Any) -> tuple[str, Any, bool] | None:
    import pandas as pd

    kind = type(value)
    if kind is pd.DataFrame:
        _check_attrs(value)
        columns = [_values(value.iloc[:, place].array) for place in range(value.shape[1])]
        return FRAME, (value.columns, value.index, columns), False
    if kind is pd.Series:
        _check_attrs(value)
        return SERIES, (value.name, value.index, _values(value.array)), False
    if isinstance(value, pd.Index):
        return INDEX, _index_parts(value), False
    if kind is pd.Timestamp:
        return MOMENT, (value._value, value.unit, _zone(value.tz)), False
    if kind is pd.Timedelta:
        return SPAN, (value._value, value.unit), False
    if value is pd.NaT or value is pd.NA:
        return MISSING, "NaT" if value is pd.NaT else "NA", False
    return None


def _check_attrs(value: Any) -> None:
    if value.attrs:
        raise NotPlain("a table of pandas with attrs is not plain data")


def _zone(zone: Any) -> Any:
    """A time zone, or its name where it is one of pytz, which pandas finds by that."""
    return str(zone) if type(zone).__module__.partition(".")[0] == "pytz" else zone


def _known_zone(zone: Any) -> Any:
    """A time zone as it was written; of other texts, pandas takes some for paths of files to open."""
    if isinstance(zone, str) and (not ZONE_NAME.fullmatch(zone) or zone.startswith(("dateutil", "tzlocal"))):
        raise NotRead(f"{brief(zone)} is not the name of a time zone")
    return zone


def _moment(number: int, unit: str, zone: Any) -> Any:
    import numpy as np
    import pandas as pd

    found = pd.Timestamp(np.datetime64(number, _unit(unit)))
    return found if zone is None else found.tz_localize("UTC").tz_convert(_known_zone(zone))


def _span(number: int, unit: str) -> Any:
    import numpy as np
    import pandas as pd

    return pd.Timedelta(np.timedelta64(number, _unit(unit)))


def _unit(unit: str) -> Any:
    if type(unit) is not str or unit not in UNITS:
        raise NotRead("no unit of time")
    return unit


def _index_parts(value: Any) -> Any:
    import pandas as pd

    if type(value) is pd.RangeIndex:
        return "range", (value.start, value.stop, value.step), value.name
    if type(value) is pd.MultiIndex:
        return (
            "several",
            (list(value.levels), [codes.tolist() for codes in value.codes]),
            list(value.names),
        )
    freq = getattr(value, "freq", None)
    if freq is None:
        return "values", _values(value.array), value.name
    if pd.tseries.frequencies.to_offset(value.freqstr) != freq:
        raise NotPlain(f"an index of pandas of the frequency {brief(freq)} is not plain data")
    return "even", (_values(value.array), value.freqstr), value.name


def _index(form: Any, made_of: Any, name: Any) -> Any:
    import pandas as pd

    check_key(name if type(name) is not list else tuple(name))
    if form == "range":
        if type(made_of) is not tuple or [type(each) for each in made_of] != [int] * 3:
            raise NotRead("a range without its numbers")
        return pd.RangeIndex(*made_of, name=name)
    if form == "even":
        values, freq = made_of
        if type(freq) is not str:
            raise NotRead("an index of no known frequency")
        even = pd.Index(_column(values), name=name)
        if not isinstance(even, pd.DatetimeIndex | pd.TimedeltaIndex):
            raise NotRead("an index without a frequency")
        even.freq = freq
        return even
    if form == "several":
        for level in made_of[0]:
            _check_hashed(level)
        return pd.MultiIndex(made_of[0], made_of[1], names=name, verify_integrity=True)
    column = _column(made_of)
    return pd.Index(column, name=name, dtype=column.dtype)


def _values(values: Any) -> Any:
    """The values of a column, by what kind of column it is."""
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "categories", (dtype.categories, bool(dtype.ordered), values.codes.copy())
    if isinstance(dtype, pd.DatetimeTZDtype):
        return "moments", (values.asi8.copy(), dtype.unit, _zone(dtype.tz))
    if isinstance(dtype, pd.StringDtype):
        return "texts", (
            dtype.storage,
            dtype.na_value is pd.NA,
            [each if type(each) is str else None for each in values],
        )
    if hasattr(values, "_mask") and hasattr(values, "_data"):
        return "masked", (values._data.copy(), values._mask.copy())
    found = values.to_numpy() if hasattr(values, "to_numpy") else values
    if getattr(dtype, "kind", "") in f"{KINDS}O" and str(getattr(found, "dtype", "")) == str(dtype):
        return "numbers", found
    raise NotPlain(f"a column of {dtype} is not plain data")


def _column(written: Any) -> Any:
    import numpy as np
    import pandas as pd

    form, made_of = written
    if form == "categories":
        categories, is_ordered, codes = made_of
        _check_hashed(categories)
        return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(categories, is_ordered))
    if form == "moments":
        numbers, unit, zone = made_of
        found = pd.DatetimeIndex(numbers.view(f"M8[{_unit(unit)}]"))
        return found.tz_localize("UTC").tz_convert(_known_zone(zone)).array
    if form == "texts":
        storage, is_na, texts = made_of
        return pd.array(texts, dtype=pd.StringDtype(storage, na_value=pd.NA if is_na else float("nan")))
    if form == "masked":
        data, mask = made_of
        kinds = {"b": pd.arrays.BooleanArray, "f": pd.arrays.FloatingArray}
        return kinds.get(data.dtype.kind, pd.arrays.IntegerArray)(data, mask)
    if type(made_of) is not np.ndarray:
        raise NotRead("a column without values")
    return made_of if made_of.flags.writeable else made_of.copy()  # pandas shows its own as not to be altered


def _check_index(index: Any) -> None:
    import pandas as pd

    if not isinstance(index, pd.Index):
        raise NotRead("a table without an index")


def _check_hashed(index: Any) -> None:
    """Of an index whose values pandas hashes when it is made: measure them before."""
    import pandas as pd

    _check_index(index)
    if type(index) is pd.MultiIndex:
        raise NotRead("an index within another one")
    if index.dtype == object:
        for each in index:
            check_key(each)


def _series(name: Any, index: Any, values: Any) -> Any:
    import pandas as pd

    check_key(name)
    _check_index(index)
    column = _column(values)
    return pd.Series(column, index=index, name=name, dtype=column.dtype, copy=False)


def _frame(columns: Any, index: Any, values: Any) -> Any:
    import pandas as pd

    _check_index(columns)
    _check_index(index)
    if type(values) is not list:
        raise NotRead("a table without columns")
    found = pd.DataFrame(
        {
            place: pd.Series(column := _column(each), index=index, dtype=column.dtype)
            for place, each in enumerate(values)
        },
        index=index,
    )
    found.columns = columns
    return found


MAKERS: dict[str, Callable[..., Any]] = {
    ARRAY: _array,
    SCALAR: lambda *made_of: _array(*made_of)[()],
    FRAME: _frame,
    SERIES: _series,
    INDEX: _index,
    MOMENT: _moment,
    SPAN: _span,
}
