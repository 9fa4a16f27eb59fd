"""A value is computed once, and threads with different objects do not wait for each other."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Event

import pytest

from focuseval.engine.lazy import cached_property

LONG = 10


@dataclass(frozen=True)
class Thing:
    """An object with a value that takes a while."""

    both: Barrier

    @cached_property
    def value(self):
        """Wait until another thread is here, too."""
        return self.both.wait(LONG)


def test_two_threads_compute_the_values_of_two_objects_at_once():
    both = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda thing: thing.value, [Thing(both), Thing(both)])) == [0, 1]


def test_two_threads_that_ask_for_one_value_compute_it_once():
    started, go_on, times = Event(), Event(), []

    class Slow:
        @cached_property
        def value(self):
            times.append(started.set())
            go_on.wait(LONG)
            return object()

    slow = Slow()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: slow.value)
        started.wait(LONG)
        second = pool.submit(lambda: slow.value)
        go_on.set()
        assert first.result(LONG) is second.result(LONG)
    assert len(times) == 1
    assert list(vars(slow)) == ["value"]


def test_a_value_that_failed_is_computed_again():
    outcomes = iter([1 / 2, 0])

    class Unlucky:
        @cached_property
        def value(self):
            return 1 / next(outcomes)

    assert Unlucky().value == 2
    unlucky = Unlucky()
    with pytest.raises(ZeroDivisionError):
        _ = unlucky.value
    with pytest.raises(StopIteration):
        _ = unlucky.value
    assert vars(unlucky) == {}


def test_a_value_is_computed_once_and_its_description_kept():
    thing = Thing(Barrier(1))
    assert thing.value is thing.value
    assert "another thread" in Thing.value.__doc__
