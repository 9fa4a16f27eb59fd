"""The `dataclass` of this package: Python's own, made quickly, because a small command makes fifty of them.

Python's decorator writes and compiles six functions for every frozen class, which took a tenth of a small `score`.
Here it compiles `__init__` alone; the other five are the same for all classes and are written once.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(made: type | None = None, *, frozen: bool = False, eq: bool = True, **options: Any) -> Any:
        """Return the class with fields, as Python's `dataclass` does it."""
        if made is None:
            return lambda made: dataclass(made, frozen=frozen, eq=eq, **options)
        shared: dict[str, Callable[..., Any] | None] = {"__repr__": _repr}
        if eq:
            shared |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
        if frozen:
            shared |= {"__setattr__": _set, "__delattr__": _delete}
        for name, function in shared.items():
            if name not in vars(made):
                setattr(made, name, function)
        return dataclasses.dataclass(made, eq=False, repr=False, **options)


def _values(made: Any) -> tuple[Any, ...]:
    return tuple(getattr(made, field.name) for field in dataclasses.fields(made) if field.compare)


def _repr(made: Any) -> str:
    fields = (field for field in dataclasses.fields(made) if field.repr)
    return f"{type(made).__qualname__}({', '.join(f'{field.name}={getattr(made, field.name)!r}' for field in fields)})"


def _equal(made: Any, other: object) -> Any:
    return _values(made) == _values(other) if type(other) is type(made) else NotImplemented


def _hash(made: Any) -> int:
    return hash(_values(made))


def _set(made: Any, name: str, value: object) -> None:
    """Set a field while the object is made, once."""
    if name in made.__dict__ or name not in made.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    made.__dict__[name] = value


def _delete(_: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


__all__ = ["dataclass"]
