"""Values that are computed, and modules that are imported, when somebody asks for them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

if sys.version_info >= (3, 12):
    from functools import cached_property
else:
    import functools
    from typing import TypeVar, overload

    if TYPE_CHECKING:
        from typing import Self

    T = TypeVar("T")

    class cached_property(functools.cached_property[T]):  # noqa: N801  the name it has everywhere
        """As Python has it from 3.12 on: threads that work on different objects do not wait for each other.

        Two that ask the same object at the same time may both compute the value, which is the same.
        """

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type | None = None) -> T: ...
        def __get__(self, instance: object | None, owner: type | None = None) -> Any:
            """Return the value, which from then on is an attribute like any other."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname or ""] = self.func(instance)
            return value


def attributes(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported from their modules when they are first used."""

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


__all__ = ["attributes", "cached_property"]
