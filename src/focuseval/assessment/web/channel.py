"""One connection of the assessment server: what of a request is taken in, and how it is refused.

A complete head tells how large its body is; more than its sender may send is refused before any of it is stored.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import RequestEntityTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LINGER = 5
"""Seconds for which a refused body is thrown away before the connection is closed."""
ALWAYS = 64 * 2**10
"""Bytes of a body for which nobody is asked who sends it: a login form, most edits."""


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """A request that is refused with its head when its body is more than its sender may send."""

    limit: Callable[[str, Mapping[str, str]], int]
    content_length: int

    def parse_header(self, header_plus: bytes) -> None:
        """Take the head apart; an unknown or too large length ends the request here."""
        super().parse_header(header_plus)
        if self.chunked or (self.content_length > ALWAYS and self.content_length > self.limit(self.path, self.headers)):
            self.error = RequestEntityTooLarge("more than may be sent")
            self.body_rcv, self.content_length, self.expect_continue = None, 0, False


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection; it tells the server when the loop should look at it again."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self.began: float | None = time.monotonic()  # since when a head is awaited; None while none is
        self.refused = False  # whether a body was refused that may still be coming
        self.leaving = 0.0  # since when that body is thrown away
        super().__init__(*arguments, **settings)

    def del_channel(self, map: dict[int, Any] | None = None) -> None:  # noqa: A002  waitress's name
        """Forget the connection."""
        if self._fileno is not None:
            self.server.forget(self)
        super().del_channel(map)

    def received(self, data: bytes) -> bool:
        """Take in what has arrived, and remember since when a head is incomplete."""
        taken: bool = super().received(data)
        self.refused |= any(isinstance(request.error, RequestEntityTooLarge) for request in self.requests)
        if self.request is None or self.request.headers_finished:
            self.began = None
        elif self.began is None:
            self.began = time.monotonic()
        return taken

    # A body that was refused is on its way all the same. To close at once would reset the connection, and its sender
    # would not hear why; so what still comes is thrown away for a while.

    def writable(self) -> bool:
        """Whether there is something to send, or the end has come."""
        return bool(self.will_close if self.leaving else super().writable())

    def readable(self) -> bool:
        """Whether something may come."""
        return bool(not self.will_close if self.leaving else super().readable())

    def handle_write(self) -> None:
        """Send what there is; after a refusal say no more, and listen on."""
        refused = self.close_when_flushed and self.refused and not self.leaving
        if refused:
            self._flush_exception(self._flush_some)
            if self.total_outbufs_len or self.will_close:
                return
            self.leaving, self.began = time.monotonic(), time.monotonic()
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
            return
        super().handle_write()

    def handle_read(self) -> None:
        """Take in what has come, or throw it away."""
        if not self.leaving:
            super().handle_read()
            return
        try:
            gone = not self.socket.recv(2**18)
        except BlockingIOError:
            return
        except OSError:
            gone = True
        if gone or time.monotonic() - self.leaving > LINGER:
            self.handle_close()

    def service(self) -> None:
        """Answer a request, in a thread of its own."""
        self.server.at_work.channel = self
        super().service()

    @property
    def is_idle(self) -> bool:
        """Whether nobody would miss the connection."""
        return not self.requests and not self.total_outbufs_len and (self.request is None or self.began is not None)
