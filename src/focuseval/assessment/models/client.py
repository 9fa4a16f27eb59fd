"""The server of a language model: one request to its endpoint and nowhere else, and a question until it is answered.

No proxy, no redirection, and a time limit for all of a request. The standard library's `http.client` follows nothing
and asks no environment variable. A time limit on its socket would only bound each single wait, so that a server that
sends one byte a second would keep us for ever: here a timer ends the connection.

Questions are asked again after growing pauses, and without parameters that a server refuses. Every request and every
reply is in the project's database: what was asked is never paid for twice.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import threading
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from focuseval.assessment.models.prompt import SCHEMA, complaint, read_answer
from focuseval.assessment.store import Key, Store, now
from focuseval.errors import AnswerError, ModelError, UnansweredError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_PATH = "/chat/completions"
_NAME = re.compile(r"[^\s,\x00-\x1f\x7f]{1,120}")


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


def endpoint_of(url: str) -> Endpoint:
    """Return the address of a server's chat completions, from that address or from its beginning.

    >>> str(endpoint_of("http://localhost:11434")), str(endpoint_of("https://llm.example.org/v1/"))
    ('http://localhost:11434/v1/chat/completions', 'https://llm.example.org:443/v1/chat/completions')
    """
    wanted = "expected --endpoint http://HOST:PORT/v1 or https://…"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{wanted}, found: {error}") from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(f"{wanted}, found a user, a password or a query in it; give a key with --api-key-env")
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isascii() or not url.isprintable():
        raise UsageError(f"{wanted}, found {url!r}")
    path = parts.path.rstrip("/").removesuffix(_PATH) or "/v1"
    return Endpoint(parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80), path + _PATH)


@dataclass(frozen=True)
class ModelSettings:
    """How a model is asked."""

    endpoint: str
    model: str
    key: str = field(default="", repr=False)
    """Sent as a bearer token, and never written anywhere."""
    assessor: str = ""
    """The name in the assessor's label; the model's where it is empty."""
    window: int = 12_000
    """Characters of a document in one request."""
    max_tokens: int = 2_000
    """The longest answer."""
    timeout: float = 120.0
    """Seconds from the beginning of a request to the end of its answer."""
    retries: int = 5
    """How often a request is sent again after 429, 5xx, a time-out or a broken connection."""
    jobs: int = 1
    """Requests at once."""
    exclude_tags: tuple[str, ...] = ()
    """Elements that are not asked about, such as lists of references."""
    sections: tuple[str, ...] = ()
    """Elements that alone are asked about; all of a document without them."""

    def __post_init__(self) -> None:
        """Refuse what could not be sent or stored."""
        endpoint_of(self.endpoint)
        for what, name in (("--model", self.model), ("--assessor", self.assessor or self.model)):
            if not _NAME.fullmatch(name):
                raise UsageError(f"expected {what} without blanks and commas, found {name!r}")
        if not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            raise UsageError("expected a key of printable ASCII characters without blanks, found something else")
        if self.window < 200:
            raise UsageError(f"expected a window of 200 characters or more, found {self.window}")

    def label(self, prompt_hash: str) -> str:
        """Return the name that the assessor has in every view and export.

        >>> ModelSettings("http://localhost:11434", "llama3.1:8b").label("1f00ba12")
        'model:llama3.1:8b@1f00ba12'
        """
        return f"model:{self.assessor or self.model}@{prompt_hash}"


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
        scheme, host, port, path = self.endpoint
        if scheme == "https":
            connection = _Connection(HTTPSConnection(host, port, timeout=self._timeout, context=self._tls))
        else:
            connection = _Connection(HTTPConnection(host, port, timeout=self._timeout))
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "focuseval"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._open.add(connection)
        timer = threading.Timer(self._timeout, connection.end)
        timer.start()
        try:
            reply = _exchange(connection, path, body, headers)
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


class WindowRequest(NamedTuple):
    """One window of a document, as one request."""

    key: Key
    start: int
    end: int
    digest: str
    """Stands for model, messages and the longest answer: the same question has the same digest."""
    body: dict[str, Any]


def kept_reply(store: Store, one: WindowRequest) -> str | None:
    """Return the answer that the same question got before; None where it got none."""
    rows = store.database.read().execute(
        "SELECT reply FROM model_exchanges WHERE assessor = ? AND topic = ? AND document = ? AND digest = ?"
        " AND problem = '' ORDER BY id DESC LIMIT 1",
        (*one.key, one.digest),
    )
    return next((str(reply) for (reply,) in rows.fetchall()), None)


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 120.0
"""Seconds before the second try, doubled for each one after it; what a server asks for is obeyed up to the longest."""
AGAIN = frozenset((0, 408, 409, 425, 429))
USELESS = {
    401: "the key is refused; check the variable that --api-key-env names",
    403: "the key may not do this; check the variable that --api-key-env names",
    404: "there is no such model or address; check --model and --endpoint",
}
OPTIONAL = ("response_format", "temperature", "max_tokens")
"""Parameters that some servers refuse by name."""


class Asker:
    """Asks one server; what it learns of the server's ways is kept for the questions that follow."""

    def __init__(
        self, client: Client, store: Store, *, retries: int, read: Callable[[str], Any] = read_answer,
        schema: dict[str, Any] = SCHEMA,
    ) -> None:  # fmt: skip
        self._client, self._store, self._retries, self._read = client, store, retries, read
        self._format = {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": schema}}
        self._refused: set[str] = set()
        self._answered = False
        self._counting = Lock()
        self.requests = 0

    def ask(self, one: WindowRequest) -> Any:
        """Return the answer to a question, the one that was kept if it was asked before."""
        kept = kept_reply(self._store, one)
        if kept is not None:
            return self._read(kept)  # it was one when it was kept
        problem, tries, bad = "", 0, 0
        while tries <= self._retries and bad < 2 and not self._client.stopped.is_set():
            sent = {**one.body, "response_format": self._format, "stream": False}
            if "max_tokens" in self._refused:
                sent["max_completion_tokens"] = sent["max_tokens"]
            sent = {name: value for name, value in sent.items() if name not in self._refused}
            answer, reply, problem = self._send(one, sent)
            if answer is not None:
                return answer
            if self._learns(reply, sent):
                continue
            self._refuse_useless(reply, problem)
            bad += reply.status == 200
            tries += 1
            if reply.status != 200 and tries <= self._retries:
                self._client.stopped.wait(pause(tries, reply.wait))
        raise UnansweredError(problem or "interrupted")

    def _send(self, one: WindowRequest, sent: dict[str, Any]) -> tuple[Any, Reply, str]:
        """Send a question once, and keep what came of it."""
        reply, hide = self._client.post(sent), self._client.scrubbed
        with self._counting:
            self.requests += 1
        answer, problem = None, reply.problem
        if reply.status == 200:
            self._answered = True
            try:
                answer = self._read(reply.body)
            except AnswerError as error:
                problem = str(error)
        elif not problem:
            problem = f"HTTP {reply.status}: {complaint(reply.body)}"
        problem, answered = hide(problem), (reply.status, hide(reply.body))
        with self._store.database.write() as connection:
            connection.execute(
                'INSERT INTO model_exchanges (at, assessor, topic, document, start, "end", digest, request, status,'
                " reply, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (now(), *one.key, one.start, one.end, one.digest, json.dumps(sent), *answered, problem),
            )
        return answer, reply, problem

    def _learns(self, reply: Reply, sent: dict[str, Any]) -> bool:
        """Whether a request was refused for a parameter that can be left out, or has another name."""
        if reply.status not in (400, 422, 501):
            return False
        text = reply.body.lower()
        named = [name for name in OPTIONAL if name in sent and (name in text or name.replace("_", " ") in text)]
        if "response_format" in sent and ("json_schema" in text or "grammar" in text):
            named.append("response_format")
        self._refused.update(named)
        return bool(named)

    def _refuse_useless(self, reply: Reply, problem: str) -> None:
        """End everything where no question will ever be answered; retry or go on elsewhere."""
        where = str(self._client.endpoint)
        if reply.refused and not self._answered:
            raise ModelError(f"{where}: {problem}; is the server running, and is this its address?")
        if 300 <= reply.status < 400:
            raise ModelError(f"{where}: {problem}; requests go to --endpoint alone: name that one if you trust it")
        if reply.status in USELESS:
            raise ModelError(f"{where}: {problem}; {USELESS[reply.status]}")
        if reply.status not in AGAIN and reply.status < 500 and reply.status != 200:
            raise UnansweredError(problem)


def pause(tries: int, asked_for: float) -> float:
    """Return the seconds before the next try.

    >>> pause(1, 0.0), pause(3, 0.0), pause(1, 20.0), pause(1, 9999.0)
    (1.0, 4.0, 20.0, 120.0)
    """
    return min(LONGEST_PAUSE, max(asked_for, FIRST_PAUSE * 2.0 ** (tries - 1)))
