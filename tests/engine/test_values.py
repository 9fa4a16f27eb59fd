"""The package's `dataclass` does what Python's own does."""

import copy
import dataclasses
import pickle

import pytest

from focuseval.engine.values import dataclass
from focuseval.errors import Place


def classes(decorator):
    @decorator(frozen=True)
    class Frozen:
        """Fields."""

        name: str
        size: int = 3
        hidden: list = dataclasses.field(default_factory=list, repr=False, compare=False)

    @decorator
    class Open:
        """Fields that may change."""

        name: str
        size: int = 3

    @decorator(frozen=True, eq=False)
    class Columns:
        """Fields that cannot be compared."""

        name: str

    @decorator(frozen=True, kw_only=True)
    class Derived(Frozen):
        """One more field, and an own text."""

        more: int = 0

        def __repr__(self):
            return "own"

    return Frozen, Open, Columns, Derived


def said(work):
    try:
        return work()
    except (AttributeError, TypeError) as error:
        return type(error).__name__, str(error)


def behaviour(decorator):
    frozen, open_, columns, derived = classes(decorator)
    a, b, c = frozen("x"), frozen("x", 3, [1]), frozen("y")
    d, e = open_("x"), columns("x")
    yield a == b, a == c, hash(a) == hash(b), len({a, b, c}), a == "x", a != b
    yield repr(a).partition(".<locals>.")[2], repr(d).partition(".<locals>.")[2], repr(derived("x", more=1))
    yield d == open_("x"), d == open_("y"), open_.__hash__, e == columns("x"), len({e, columns("x")})
    yield derived("x", more=2) == derived("x", more=2), derived("x") == frozen("x")
    yield said(lambda: setattr(a, "name", "z")), said(lambda: setattr(a, "other", 1)), said(lambda: delattr(a, "name"))
    yield said(lambda: setattr(e, "name", "z")), said(lambda: setattr(derived("x"), "more", 1))
    yield dataclasses.asdict(dataclasses.replace(a, size=9)), [f.name for f in dataclasses.fields(derived)]
    yield copy.copy(a) == a, copy.deepcopy(b) == a, frozen.__match_args__
    d.size = 8
    yield d.size, dataclasses.is_dataclass(d)


def test_equality_text_freezing_and_copies_are_those_of_python():
    assert list(behaviour(dataclass)) == list(behaviour(dataclasses.dataclass))


def test_a_value_travels_to_another_process():
    place = Place("a.txt", 3)
    assert pickle.loads(pickle.dumps(place)) == place
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.line = 4
