"""Waitress for many people: thousands of open connections, of which only those with something to do cost time.

Waitress asks every open connection, before every wait, whether it wants to read or write, so that a thousand idle
browsers slow each edit down, and it stops listening when a hundred are open. Here its channels, its parser and its
threads stay; what changes is

- who is asked: the kernel's epoll remembers what each connection waits for, and only those that something happened to
  are asked again (elsewhere than on Linux waitress's own loop is used);
- who is let go: connections that say nothing, requests that do not get finished, and, when all places are taken,
  whoever has been idle longest; and nobody gets more than half of the places;
- what is read: a body that its sender may not send is refused when its length is known, before any of it is stored;
- who waits: logging in and exporting have threads of their own, so that they never keep an edit waiting.
"""

from __future__ import annotations

import select
import threading
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.wasyncore import readwrite

from focuseval.assessment.web.channel import Channel, Parser

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Collection, Mapping

IDLE = 30
"""Seconds that a connection may say nothing between two requests."""
HEAD = 10
"""Seconds in which the head of a request must have arrived."""
SLOW = (
    "/login", "/invited", "/export", "/gold", "/import", "/archive", "/agreement", "/adjudicate", "/dashboard", "/work",
    "/texts", "/quality", "/pool", "/ranking",
)  # fmt: skip
"""Paths whose answers take long; they have threads of their own."""


class ManyConnections(TcpWSGIServer):  # type: ignore[misc]
    """A waitress server whose loop costs time only for connections that something happens to.

    Parameters
    ----------
    app, listening
        The application and the socket.
    limit
        (path, headers) → bytes of a body that may be sent.
    proxies
        Addresses that may hold all places: a proxy's connections are many people's.
    """

    next_channel_cleanup: float

    def __init__(
        self,
        app: Any,
        listening: socket.socket,
        *,
        limit: Callable[[str, Mapping[str, str]], int],
        proxies: Collection[str] = (),
        **settings: Any,
    ) -> None:
        self.touched: deque[Any] = deque()
        self.at_work = threading.local()
        self.places: Counter[str] = Counter()
        self.proxies = proxies
        self._poller = select.epoll() if hasattr(select, "epoll") else None
        self._asked: dict[int, int] = {}
        parser = type("LimitedParser", (Parser,), {"limit": staticmethod(limit)})
        self.channel_class: Any = type("LimitedChannel", (Channel,), {"parser_class": parser})
        sockinfo = (listening.family, listening.type, listening.proto, listening.getsockname())
        super().__init__(app, _sock=listening, bind_socket=False, sockinfo=sockinfo, **settings)
        self.slow_dispatcher = ThreadedTaskDispatcher()
        self.slow_dispatcher.set_thread_count(4)

    def add_task(self, task: Channel) -> None:
        """Queue a request: edits and pages here, what takes long there."""
        slow = not task.requests[0].error and task.requests[0].path.startswith(SLOW)
        (self.slow_dispatcher if slow else self.task_dispatcher).add_task(task)

    # --- who is let in, and who is let go

    def handle_accept(self) -> None:
        """Take in whoever waits at the door, a few at a time; an address that holds half of all places waits."""
        for _ in range(64):
            try:
                taken = self.accept()
            except OSError:  # it is gone again, or there are no file descriptors left
                return
            if taken is None:
                return
            connection, address = taken
            if self.places[address[0]] >= self.adj.connection_limit // 2 and address[0] not in self.proxies:
                connection.close()
                continue
            self.set_socket_options(connection)
            self.places[address[0]] += 1
            self.touched.append(self.channel_class(self, connection, address, self.adj, map=self._map))

    def forget(self, channel: Channel) -> None:
        """Stop watching a connection."""
        self.places[channel.addr[0]] -= 1
        if not self.places[channel.addr[0]]:
            del self.places[channel.addr[0]]
        fd = channel._fileno  # noqa: SLF001  waitress has no other name for it
        if self._asked.pop(fd, 0) and self._poller is not None:
            self._poller.unregister(fd)

    def readable(self) -> bool:
        """Look after idle connections from time to time; the door is always open."""
        now = time.time()
        if now >= self.next_channel_cleanup:
            self.next_channel_cleanup = now + self.adj.cleanup_interval
            self.maintenance(now)
        self._make_room()
        return bool(self.accepting)

    def maintenance(self, now: float) -> None:
        """Close connections that say nothing, and requests that do not get finished."""
        super().maintenance(now)
        late = time.monotonic() - HEAD
        for channel in self.active_channels.values():
            if not channel.requests and channel.began is not None and channel.began < late:
                channel.will_close = True
        self.touched.extend(channel for channel in self.active_channels.values() if channel.will_close)

    def _make_room(self) -> None:
        """Close who has been idle longest while all places are taken."""
        excess = len(self.active_channels) - self.adj.connection_limit
        if excess < 0:
            return
        idle = sorted((c for c in self.active_channels.values() if c.is_idle), key=lambda c: c.last_activity)
        for channel in idle[: excess + 1]:
            channel.handle_close()

    # --- the loop

    def pull_trigger(self) -> None:
        """Wake the loop up, for the connection that this thread works for."""
        channel = getattr(self.at_work, "channel", None)
        if channel is not None:
            self.touched.append(channel)
        super().pull_trigger()

    def run(self) -> None:
        """Serve until the last socket is closed."""
        if self._poller is None:  # pragma: no cover  not on Linux
            super().run()
            return
        self.touched.extend(self._map.values())
        try:
            while self._map:
                self._turn()
        except (SystemExit, KeyboardInterrupt):
            self.task_dispatcher.shutdown()
        finally:
            self._poller.close()

    def _turn(self) -> None:
        """Ask those that something happened to what they wait for; wait; let them do it."""
        if self.accepting:
            self.touched.append(self)
        while self.touched:
            self._ask(self.touched.popleft())
        for fd, flags in self._poller.poll(1.0):  # type: ignore[union-attr]
            found = self._map.get(fd)
            if found is not None:
                readwrite(found, flags)
                self.touched.append(found)

    def _ask(self, one: Any) -> None:
        """Tell the kernel what one socket waits for; what can be written is written at once."""
        if self._map.get(one._fileno) is not one or self._poller is None:  # noqa: SLF001  as above
            return
        if one.writable() and not one.accepting:
            readwrite(one, select.POLLOUT)
        fd = one._fileno  # noqa: SLF001  as above
        if fd is None:
            return
        wanted = select.POLLIN | select.POLLPRI if one.readable() else 0
        wanted |= select.POLLOUT if one.writable() and not one.accepting else 0
        known = self._asked.get(fd, 0)
        if wanted == known:
            return
        if not known:
            self._poller.register(fd, wanted)
        elif wanted:
            self._poller.modify(fd, wanted)
        else:
            self._poller.unregister(fd)
        self._asked[fd] = wanted
