"""A value is computed once, and threads with different objects do not wait for each other."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

from focuseval.lazy import cached_property

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


def test_a_value_is_computed_once_and_its_description_kept():
    thing = Thing(Barrier(1))
    assert thing.value is thing.value
    assert "another thread" in Thing.value.__doc__
