"""Classes of the pipeline's own that are plain data: dataclasses, named tuples and enums, found by their names.

A value is written with the name of its class and its attributes. When it is read, the class has to be there already,
nothing is imported, and it has to be one of these kinds itself: the name cannot lead to anything else, as `os.system`
in a module that imports `os`. The value is made by `object.__new__` and its attributes are set as they were, so no
`__init__`, `__post_init__`, `__setattr__` or `__setstate__` is run. What is run, where a value is a key, is its hash.

Own is what is neither Python's nor installed beside it. Classes of this project are, too.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum, Flag
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from progress.runtime.durable.encoding.form import NotPlain, NotRead
from progress.runtime.node import slots_of

OURS = frozenset({"progress", "graphs", "recursion"})
HEAP = 1 << 9  # of a class that is written in Python, in `type.__flags__`
_slots = lru_cache(256)(slots_of)


def written_class(kind: type) -> str | None:
    """The name by which a class is found again; None where its values are not plain data."""
    if not _is_data(kind):
        return None
    name = f"{kind.__module__}:{kind.__qualname__}"
    if _found(kind.__module__, kind.__qualname__) is not kind:
        raise NotPlain(f"the class {name} is not found by its name")
    if not is_own(kind.__module__):
        raise NotPlain(f"the class {name} is not the pipeline's own")
    return name


def read_class(name: str) -> type:
    """The class of this name, which is there and whose values are plain data."""
    module, _, qualified = name.partition(":")
    kind = _found(module, qualified)
    if not isinstance(kind, type) or not _is_data(kind) or not is_own(module):
        raise NotRead(f"the pipeline has no dataclass, named tuple or enum {name}")
    if (kind.__module__, kind.__qualname__) != (module, qualified):
        raise NotRead(f"{name} is the class of another module")
    return kind


def _is_data(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum) or is_named_tuple(kind)


def is_named_tuple(kind: type) -> bool:
    """Whether its values are tuples whose parts have names, and nothing else."""
    return issubclass(kind, tuple) and kind is not tuple and hasattr(kind, "_fields") and not kind.__dictoffset__


def _found(module: str, qualified: str) -> Any:
    """What has this name in a module that is there; looked up in dicts, so that no code is run."""
    found: Any = sys.modules.get(module)
    for name in qualified.split("."):
        found = getattr(found, "__dict__", {}).get(name) if isinstance(found, type | type(sys)) else None
    return found


@cache
def is_own(module: str) -> bool:
    """Whether a module is the pipeline's own, or this project's."""
    top = module.partition(".")[0]
    if top in OURS:
        return True
    if top in sys.stdlib_module_names and top != "__main__":
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or not str(Path(file).absolute()).startswith(_installed())


@cache
def _installed() -> tuple[str, ...]:
    return tuple({f"{Path(sysconfig.get_path(name)).absolute()}/" for name in ("stdlib", "purelib", "platlib")})


# --- values -----------------------------------------------------------------------------------------------------------


def member_name(value: Enum) -> str:
    """The name of a member of an enum."""
    name = value._name_
    if type(value).__members__.get(name) is not value:
        what = "several flags together" if isinstance(value, Flag) else "not one of its members"
        raise NotPlain(f"a value of the class {type(value).__qualname__} is {what}")
    return name


def member(kind: type, name: Any) -> Enum:
    """The member of an enum that has this name."""
    if not issubclass(kind, Enum) or type(name) is not str or name not in kind._member_map_:
        raise NotRead(f"{kind.__qualname__} has no member of this name")
    found: Enum = kind._member_map_[name]
    return found


def named_tuple(kind: type, parts: Any) -> Any:
    """A named tuple of these parts, made without its own code."""
    if not is_named_tuple(kind) or type(parts) is not tuple or len(parts) != len(kind._fields):  # type: ignore[attr-defined]
        raise NotRead(f"{kind.__qualname__} has other parts")
    return tuple.__new__(kind, parts)


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of a value of a dataclass, those in `__slots__` too."""
    kind: type = type(value)
    new: Any = kind.__new__
    if new is not object.__new__ or _base(kind) is not object:
        raise NotPlain(f"the dataclass {kind.__qualname__} is made in a way of its own")
    found = {name: slot.__get__(value, kind) for name, slot in _slots(kind).items() if _has(slot, value, kind)}
    return {**found, **getattr(value, "__dict__", {})}


def blank(kind: type) -> tuple[Any, Callable[[Any], None]]:
    """A value of a dataclass without attributes, and what gives it these, without the code of its class."""
    if not is_dataclass(kind) or _base(kind) is not object:
        raise NotRead(f"{kind.__qualname__} is not a dataclass")
    value = object.__new__(kind)
    slots = _slots(kind)

    def fill(parts: Any) -> None:
        if type(parts) is not dict or not all(type(name) is str for name in parts):
            raise NotRead(f"{kind.__qualname__} has other attributes")
        for name, part in parts.items():
            if name in slots:
                slots[name].__set__(value, part)
            elif kind.__dictoffset__:
                value.__dict__[name] = part
            else:
                raise NotRead(f"{kind.__qualname__} has no attribute {name}")

    return value, fill


def _base(kind: type) -> type:
    """The built-in class that its values are made by: `object`, unless it is one of a list, a number, an exception."""
    return next(each for each in kind.__mro__ if not each.__flags__ & HEAP)


def _has(slot: Any, value: Any, kind: type) -> bool:
    try:
        slot.__get__(value, kind)
    except AttributeError:
        return False
    return True
