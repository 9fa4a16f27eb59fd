"""Values that are computed when somebody asks for them, whatever the number of threads, and kept."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801  the name it has everywhere
    """Python's `functools.cached_property` with a lock for every value of every object.

    Python 3.11's own holds one lock for all objects of a class: threads that work on different objects wait for each
    other. From 3.12 on it holds none: two threads that ask for the same value both compute it. Here a thread waits only
    while another one computes the same value of the same object. Runs that are scored at the same time share large
    columns of one gold, so both would cost time and memory.
    """

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        """Return the value, which from then on is an attribute like any other."""
        if instance is None:
            return self
        name, values = self.attrname or "", instance.__dict__
        lock = f"{name} is being computed"
        with values.setdefault(lock, RLock()):
            try:
                if name not in values:
                    values[name] = self.func(instance)
                return values[name]
            finally:
                values.pop(lock, None)


class Kept(Generic[T]):
    """The values that were asked for last, as far as there is room; nobody waits for a value that others compute."""

    def __init__(self, most: int, size: Callable[[T], int] = lambda _: 1) -> None:
        self._most, self._size = most, size
        self._lock, self._values, self._held = Lock(), OrderedDict[Any, T](), 0

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return a value, computed if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = compute()
        with self._lock:
            self._held += self._size(value) if key not in self._values else 0  # others may have been faster
            self._values[key] = value
            while self._held > self._most and len(self._values) > 1:
                self._held -= self._size(self._values.popitem(last=False)[1])
        return value
