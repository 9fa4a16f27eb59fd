"""A limit on guessing passwords that keeps guessers out, and nobody else.

Tries are counted before a password is looked at, so that forty at once are forty tries. They are counted for an
address and a name together, and for an address: a stranger's guesses never lock a named person out who sits elsewhere.
A browser in which somebody has logged in before has a count of its own, so that not even guesses from the same address
keep its owner out.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BY_NAME, BY_ADDRESS = 5, 30
"""Failures in a minute: of one name from one address or browser, and of one address under all names."""
KNOWN = 100_000
"""Keys that are remembered at once."""


class Attempts:
    """Failures in the last `window` seconds, by key."""

    def __init__(self, window: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._window, self._clock = window, clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, limits: Mapping[str, int]) -> float:
        """Count a try under all keys, as a failure until it succeeds; or return how many seconds to wait instead.

        Parameters
        ----------
        limits
            Key → failures that are allowed.
        """
        with self._lock:
            now = self._clock()
            waits = [self._wait(key, limit, now) for key, limit in limits.items()]
            if max(waits) > 0:
                return max(waits)
            for key in limits:
                self._failures.setdefault(key, deque()).append(now)
                self._failures.move_to_end(key)
            while len(self._failures) > KNOWN:  # a flood must not fill the memory, nor free those who made it
                self._failures.popitem(last=False)
            return 0.0

    def succeeded(self, limits: Mapping[str, int]) -> None:
        """Take a try back that was none of a guesser's; the name's own count begins anew."""
        with self._lock:
            for key in limits:
                failures = self._failures.get(key)
                if failures and key.startswith("address "):
                    failures.pop()
                else:
                    self._failures.pop(key, None)

    def _wait(self, key: str, limit: int, now: float) -> float:
        failures = self._failures.get(key)
        if failures is None:
            return 0.0
        while failures and now - failures[0] >= self._window:
            failures.popleft()
        return self._window - (now - failures[0]) if len(failures) >= limit else 0.0


def limits_of(address: str, name: str, *, browser: str = "") -> dict[str, int]:
    """Return the keys under which a try counts: the known browser's, or the address with and without the name.

    >>> sorted(limits_of("2001:db8::1", "ann"))
    ['address 2001:db8::/64', 'name 2001:db8::/64 ann']
    >>> limits_of("192.0.2.7", "ann", browser="b1")
    {'browser b1': 5}
    """
    if browser:
        return {f"browser {browser}": BY_NAME}
    place = _network(address)
    return {f"name {place} {name}": BY_NAME, f"address {place}": BY_ADDRESS}


def _network(address: str) -> str:
    """Return an address, or of version 6 the network that one customer has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)
