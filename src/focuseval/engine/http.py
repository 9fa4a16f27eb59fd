"""Requests to a server that speaks OpenAI's HTTP: sent from several threads, given up in time, tried again when asked.

No proxy, no redirection, and a time limit for all of a request. The standard library's `http.client` follows nothing
and asks no environment variable. A time limit on its socket would only bound each single wait, so that a server that
sends one byte a second would keep us for ever: here a timer ends the connection.

The key goes to the one address that the user named, and into no message or file:
`Client.scrubbed` takes it out of what a server repeats.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from time import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from focuseval.errors import ModelError, UnansweredError, UsageError

CHAT, EMBEDDINGS = "/chat/completions", "/embeddings"
LIMIT = 4_000_000  # bytes of a reply, unless more are expected; a longer one is no answer to a bounded question
HIDDEN = "[the key]"


class Endpoint(NamedTuple):
    """The one address that requests go to."""

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @property
    def is_open_to_listeners(self) -> bool:
        """Whether a key would go over a network unencrypted."""
        return self.scheme == "http" and self.host not in ("localhost", "127.0.0.1", "::1")


def endpoint_of(url: str, service: str = CHAT, option: str = "--endpoint") -> Endpoint:
    """Return the address of a server's chat completions (or another service), from it or from its beginning.

    >>> str(endpoint_of("http://localhost:11434")), str(endpoint_of("https://llm.example.org/v1/", EMBEDDINGS))
    ('http://localhost:11434/v1/chat/completions', 'https://llm.example.org:443/v1/embeddings')
    """
    wanted = f"expected {option} http://HOST:PORT/v1 or https://…"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{wanted}, found: {error}") from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(f"{wanted}, found a user, a password or a query in it; give a key with --api-key-env")
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isascii() or not url.isprintable():
        raise UsageError(f"{wanted}, found {url!r}")
    path = parts.path.rstrip("/").removesuffix(service) or "/v1"
    return Endpoint(parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80), path + service)


class Reply(NamedTuple):
    """What came back: the status and the body, or status 0 and what went wrong."""

    status: int
    body: str
    problem: str = ""
    wait: float = 0.0  # seconds that the server asks us to wait
    refused: bool = False
    """Whether there is no server at all: the connection was refused, the name unknown, the certificate invalid."""


def complaint(body: str) -> str:
    """Return what a server says is wrong, in one line."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return " ".join(body.split())[:300] or "nothing"
    message = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(message, dict):
        message = message.get("message") or message.get("detail") or message
    return " ".join(str(message).split())[:300]


class Client:
    """Sends requests to one endpoint; safe to use from several threads."""

    def __init__(self, endpoint: Endpoint, key: str = "", timeout: float = 120.0, limit: int = LIMIT) -> None:
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise UsageError("expected a key of printable ASCII characters without blanks, found something else")
        self.endpoint = endpoint
        self.stopped = threading.Event()
        self._key, self._timeout, self._limit = key, timeout, limit
        self._open: set[_Connection] = set()
        self._tls = ssl.create_default_context() if self.endpoint.scheme == "https" else None

    def post(self, body: dict[str, Any]) -> Reply:
        """Send one request and return the reply as it came; `scrubbed` takes the key out of its texts."""
        scheme, host, port, path = self.endpoint
        secure = partial(HTTPSConnection, context=self._tls) if scheme == "https" else HTTPConnection
        connection = _Connection(http := secure(host, port, timeout=self._timeout))
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "focuseval"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._open.add(connection)
        timer = threading.Timer(self._timeout, connection.end)
        timer.start()
        reply = Reply(0, "")
        try:
            http.connect()
            if not connection.ended:  # before there was anything to end
                http.request("POST", path, json.dumps(body).encode("ascii"), headers)
                reply = _read(http.getresponse(), self._limit)
        except TimeoutError:  # of a single wait, a moment before the timer
            connection.ended = True
        except (ConnectionRefusedError, socket.gaierror, ssl.SSLError) as error:
            reply = Reply(0, "", str(error.strerror or error), refused=True)
        except (OSError, HTTPException) as error:
            reply = Reply(0, "", f"the connection broke: {error or type(error).__name__}")
        finally:
            timer.cancel()
            self._open.discard(connection)
            http.close()
        if connection.ended:  # also where the rest seems whole: a body without a length ends when the connection does
            why = "interrupted" if self.stopped.is_set() else f"no answer within {self._timeout:g} seconds"
            reply = Reply(0, reply.body, why)
        return reply

    def stop(self) -> None:
        """End every request at once; those that wait for another try give up."""
        self.stopped.set()
        for connection in list(self._open):
            connection.end()

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


def _read(reply: HTTPResponse, limit: int) -> Reply:
    """Return a reply with its body, read as far as it goes."""
    data = reply.read(limit + 1)
    text = data.decode("utf-8", "replace")
    if len(data) > limit:
        return Reply(0, text[:1000], f"more than {limit:,} bytes in one reply")
    if reply.length:
        return Reply(0, text, f"the reply was cut off: {reply.length:,} bytes are missing")
    if 300 <= reply.status < 400:
        return Reply(reply.status, text, f"a redirection to {reply.getheader('Location', '?')[:200]}")
    return Reply(reply.status, text, wait=_seconds(reply.getheader("Retry-After", "")))


def _seconds(value: str) -> float:
    """Return the seconds of a Retry-After, which is a number or a date; 0 where it is neither.

    >>> _seconds("7"), _seconds("soon"), _seconds("Sat, 01 Jan 2000 00:00:00 GMT")
    (7.0, 0.0, 0.0)
    """
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError):
        return 0.0


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 120.0
"""Seconds before the second try, doubled for each one after it; what a server asks for is obeyed up to the longest."""
AGAIN = frozenset((0, 408, 409, 425, 429))
USELESS = {
    401: "the key is refused; check the variable that --api-key-env names",
    403: "the key may not do this; check the variable that --api-key-env names",
    404: "there is no such model or address; check --model and {option}",
}


def refuse_useless(client: Client, reply: Reply, problem: str, *, answered: bool, option: str = "--endpoint") -> None:
    """Raise where no request will ever be answered, or this one will not; else it may be sent again.

    A server that is not there is given up at once, unless it has `answered` before.
    """
    where = str(client.endpoint)
    if reply.refused and not answered:
        raise ModelError(f"{where}: {problem}; is the server running, and is this its address?")
    if 300 <= reply.status < 400:
        raise ModelError(f"{where}: {problem}; requests go to {option} alone: name that one if you trust it")
    if reply.status in USELESS:
        raise ModelError(f"{where}: {problem}; {USELESS[reply.status].format(option=option)}")
    if reply.status not in AGAIN and reply.status < 500 and reply.status != 200:
        raise UnansweredError(problem)


def pause(tries: int, asked_for: float) -> float:
    """Return the seconds before the next try.

    >>> pause(1, 0.0), pause(3, 0.0), pause(1, 20.0), pause(1, 9999.0)
    (1.0, 4.0, 20.0, 120.0)
    """
    return min(LONGEST_PAUSE, max(asked_for, FIRST_PAUSE * 2.0 ** (tries - 1)))
