"""Values that are computed when somebody asks for them, and kept."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 12):
    from functools import cached_property
else:
    import functools
    from typing import TYPE_CHECKING, Any, TypeVar, overload

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


__all__ = ["cached_property"]
