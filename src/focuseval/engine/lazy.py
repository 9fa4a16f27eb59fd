"""Values that are computed, and modules that are imported, when somebody asks for them."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801  the name it has everywhere
    """Python's own, computed once: a thread that asks for a value that another one is computing waits for it.

    Runs that are scored at once share large columns of one gold, which would otherwise be made once for each of them.
    Threads that work on different objects, or on different values, do not wait for each other.
    """

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        """Return the value, which from then on is an attribute like any other."""
        if instance is None:
            return self
        name, made = self.attrname or "", instance.__dict__
        lock = f"{name} is being computed"
        with made.setdefault(lock, RLock()):
            try:
                if name not in made:
                    made[name] = self.func(instance)
                return made[name]
            finally:
                made.pop(lock, None)


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
