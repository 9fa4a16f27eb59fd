"""One HTTP request to the endpoint and nowhere else: no proxy, no redirection, a time limit for all of it.

The standard library's `http.client` follows nothing and asks no environment variable. A time limit on its socket would
only bound each single wait, so that a server that sends one byte a second would keep us for ever: here a timer ends the
connection.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.assessment.models.settings import endpoint_of

if TYPE_CHECKING:
    from focuseval.assessment.models.settings import ModelSettings

LIMIT = 4_000_000
"""Bytes of a reply; a longer one is no answer to a bounded question."""
HIDDEN = "[the key]"


class Reply(NamedTuple):
    """What came back: the status and the body, or status 0 and what went wrong."""

    status: int
    body: str
    problem: str = ""
    wait: float = 0.0
    """Seconds that the server asks us to wait."""
    refused: bool = False
    """Whether there is no server at all: the connection was refused, the name unknown, the certificate invalid."""


class Client:
    """Sends requests to one endpoint; safe to use from several threads."""

    def __init__(self, settings: ModelSettings) -> None:
        self.endpoint = endpoint_of(settings.endpoint)
        self.stopped = threading.Event()
        self._key, self._timeout = settings.key, settings.timeout
        self._open: set[_Connection] = set()
        self._tls = ssl.create_default_context() if self.endpoint.scheme == "https" else None

    def post(self, body: dict[str, Any]) -> Reply:
        """Send one request and return the reply as it came; `scrubbed` takes the key out of its texts."""
        connection = _Connection(self._connection())
        self._open.add(connection)
        timer = threading.Timer(self._timeout, connection.end)
        timer.start()
        try:
            reply = _exchange(connection, self.endpoint.path, body, self._headers())
        finally:
            timer.cancel()
            self._open.discard(connection)
            connection.http.close()
        if connection.ended:  # also where the rest seems whole: a body without a length ends when the connection does
            why = "interrupted" if self.stopped.is_set() else f"no answer within {self._timeout:g} seconds"
            reply = Reply(0, reply.body, why)
        return reply

    def stop(self) -> None:
        """End every request at once; those that wait for another try give up."""
        self.stopped.set()
        for connection in list(self._open):
            connection.end()

    def _connection(self) -> HTTPConnection:
        scheme, host, port, _ = self.endpoint
        if scheme == "https":
            return HTTPSConnection(host, port, timeout=self._timeout, context=self._tls)
        return HTTPConnection(host, port, timeout=self._timeout)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "focuseval"}
        return {**headers, "Authorization": f"Bearer {self._key}"} if self._key else headers

    def scrubbed(self, text: str) -> str:
        """Return a text without the key, for everything that is shown or kept: some servers repeat it."""
        return text.replace(self._key, HIDDEN) if self._key else text


class _Connection:
    """A connection that another thread can end."""

    def __init__(self, http: HTTPConnection) -> None:
        self.http, self.ended = http, False

    def end(self) -> None:
        """Break the connection, whatever it waits for."""
        self.ended = True
        if self.http.sock is not None:
            with contextlib.suppress(OSError):
                self.http.sock.shutdown(socket.SHUT_RDWR)


def _exchange(connection: _Connection, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
    http = connection.http
    try:
        http.connect()
        if connection.ended:  # before there was anything to end
            return Reply(0, "")
        http.request("POST", path, json.dumps(body).encode("ascii"), headers)
        reply = http.getresponse()
        return _read(reply, reply.read(LIMIT + 1))
    except TimeoutError:  # of a single wait, a moment before the timer
        connection.ended = True
        return Reply(0, "")
    except (ConnectionRefusedError, socket.gaierror, ssl.SSLError) as error:
        return Reply(0, "", str(error.strerror or error), refused=True)
    except (OSError, HTTPException) as error:
        return Reply(0, "", f"the connection broke: {error or type(error).__name__}")


def _read(reply: HTTPResponse, data: bytes) -> Reply:
    """Return a reply whose body was read as far as it goes."""
    text = data.decode("utf-8", "replace")
    if len(data) > LIMIT:
        return Reply(0, text[:1000], f"more than {LIMIT:,} bytes in one reply")
    if reply.length:
        return Reply(0, text, f"the reply was cut off: {reply.length:,} bytes are missing")
    if 300 <= reply.status < 400:
        return Reply(reply.status, text, f"a redirection to {reply.getheader('Location', '?')[:200]}")
    return Reply(reply.status, text, wait=_seconds(reply.getheader("Retry-After", "")))


def _seconds(told: str) -> float:
    """Return the seconds of a Retry-After, which is a number or a date; 0 where it is neither.

    >>> _seconds("7"), _seconds("soon"), _seconds("Sat, 01 Jan 2000 00:00:00 GMT")
    (7.0, 0.0, 0.0)
    """
    if told.strip().isdecimal():
        return float(told)
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - time())
    except (ValueError, TypeError):
        return 0.0
