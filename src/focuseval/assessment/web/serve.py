"""The Flask app behind uvicorn: who is let in and who is let go, what is read, and which thread answers.

A socket comes first, because the link and the checks need its port. uvicorn's event loop holds the connections and
parses requests. This module adds

- places: an address gets half of them at most; when all are taken, the address that holds most gives one up;
- deadlines: whoever does not finish a head, a body, or reading an answer, or says nothing, loses the connection;
- limits: a body that its sender may not send is refused when its length is known, before any of it is stored;
- threads: Flask gets a request when it has arrived whole, so that a slow sender holds no thread; a slow reader holds
  none either. Logging in and exporting have threads of their own, and never keep an edit waiting.
"""

from __future__ import annotations

import asyncio
import io
import logging
import math
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import ExitStack, closing, suppress
from queue import SimpleQueue
from typing import Any
from urllib.parse import unquote_to_bytes

import uvicorn
from flask import Flask
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from focuseval.assessment.web.desk import body_limit
from focuseval.errors import AssessError

EVERYWHERE = "0.0.0.0"  # noqa: S104  not bound to unless asked for
CONNECTIONS, SPARE = 4_000, 200  # connections that are open at once, and files that are needed besides
GRACE = 10  # seconds that requests at hand get to be answered when the server ends
IDLE = 30  # seconds that a connection may say nothing between two requests
HEAD = 10  # seconds in which the head of a request must have arrived
PATIENCE, RATE = 10, 8 * 2**10
"""Seconds that a body or reading an answer may take, and the bytes for which each gets one second more."""
LINGER = 5  # seconds for which what was refused is thrown away before the connection is closed
LONGEST_HEAD, PIPELINED = 64 * 2**10, 32  # bytes of a head, and requests that are sent before the first is answered
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
ALWAYS = 64 * 2**10  # bytes of a body for which nobody is asked who sends it: a login form, most edits
IN_MEMORY = 2**20  # bytes of a body or an answer that wait in memory; a larger one waits in a temporary file
PART = 2**18  # bytes of an answer that are taken from Flask, and sent, at a time
THREADS, SLOW_THREADS = 16, 4
SLOW = (
    "/login", "/invited", "/export", "/gold", "/import", "/archive", "/agreement", "/adjudicate", "/dashboard", "/work",
    "/texts", "/quality", "/pool", "/ranking", "/estimate", "/search",
)  # fmt: skip
"""Paths whose answers take long; they have threads of their own."""


def bind(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; port 0 takes any that is free."""
    try:
        return socket.create_server((host, port), backlog=1024)
    except OSError as error:
        raise AssessError(f"{host}:{port}: {error.strerror}; choose another with --port") from error


def names_of(host: str, port: int, others: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the values of the Host header that a server answers to.

    >>> sorted(names_of("127.0.0.1", 8475, ("judge.example",)))
    ['127.0.0.1:8475', 'judge.example', 'judge.example:8475', 'localhost:8475']
    """
    local = {"127.0.0.1", "localhost"} if host in ("127.0.0.1", "localhost") else {host}
    if host == EVERYWHERE:  # addresses and the machine's own name cannot be pointed here by a stranger
        local = {*own_addresses(), "localhost", socket.gethostname().lower()}
    given = {name.lower() for name in others}
    bare = local | given if port == 80 else given  # browsers leave out the port that goes without saying
    return frozenset({f"{name}:{port}" for name in local | given} | bare)


def links(host: str, port: int, names: tuple[str, ...], path: str) -> list[str]:
    """Return the addresses to print: each one works.

    >>> links("127.0.0.1", 8475, (), "login")
    ['http://127.0.0.1:8475/login']
    """
    hosts = list(names) or (own_addresses() if host == EVERYWHERE else [host])
    return [f"http://{name}:{port}/{path}" for name in hosts]


def own_addresses() -> list[str]:
    """Return the addresses by which other machines, and this one, may reach a server that listens on all of them."""
    found = ["127.0.0.1"]
    with suppress(OSError):
        found += [str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        outward.connect(("192.0.2.1", 9))  # an address of documentation; nothing is sent
        found.append(outward.getsockname()[0])
    return sorted(dict.fromkeys(found), key=lambda address: address.startswith("127."))


def open_files() -> int:
    """Return how many files this process may have open, after asking the system for as many as a server needs."""
    needed = CONNECTIONS + SPARE
    try:
        import resource  # noqa: PLC0415  not on Windows, where sockets are not counted
    except ImportError:
        return needed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    more = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        return more
    return soft


class Connection(HttpToolsProtocol):
    """One connection: which step of a request it is at, and until when its client must have done its part."""

    gateway: Gateway
    step, until = "", math.inf
    in_head, size = False, 0  # whether a head is coming, and its bytes so far
    requests = 0  # that have come and are not answered yet

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, or close the connection where there is none."""
        super().connection_made(transport)
        self.gateway = self.config.app  # type: ignore[assignment]
        if not self.gateway.let_in(self):
            transport.close()
            return
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin("head", HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self.gateway.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come; the first byte of a head starts its time."""
        if self.step == "too long":
            return
        if self.step == "idle":
            self.begin("head", HEAD)
        continues = self.in_head
        super().data_received(data)
        self.size = self.size + len(data) if continues and self.in_head else 0
        if self.size <= LONGEST_HEAD:
            return
        if self.step == "head":
            self.transport.write(TOO_LONG)
            self.begin("too long", LINGER)
        else:  # behind a request that is not answered yet
            self.transport.abort()

    def on_message_begin(self) -> None:
        """Begin a head, which the parser has found."""
        self.in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Take a head that the parser has found; an exception is answered with 400."""
        self.in_head = False
        self.requests += 1
        if self.requests > PIPELINED:
            raise ValueError("too many requests at once")
        if self.step == "head":
            self.begin("body", PATIENCE)
        super().on_headers_complete()

    def begin(self, step: str, seconds: float = math.inf) -> None:
        """Begin a step of a request: head, body, app, answer, refusal, too long, idle. More bytes are no step."""
        self.step, self.until = step, time.monotonic() + seconds
        mine = self.gateway.places.get(self.address, {})
        if self in mine:
            mine[self] = mine.pop(self)  # the dictionary has those that have waited longest first

    @property
    def address(self) -> str:
        """Where it comes from."""
        return self.client[0] if self.client else ""

    def shutdown(self) -> None:
        """End: at once, or when the request at hand is answered."""
        if self.step in ("app", "answer"):
            super().shutdown()
        else:
            self.transport.close()


class Threads:
    """Threads that take what they have to do from one queue; asyncio's way to executors takes longer for a request."""

    def __init__(self, number: int, name: str) -> None:
        self.jobs: SimpleQueue[tuple[asyncio.Future[Any] | None, Callable[[], Any]] | None] = SimpleQueue()
        self.threads = [threading.Thread(target=self._work, name=f"{name} {k}", daemon=True) for k in range(number)]
        for thread in self.threads:
            thread.start()

    def run(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Call a function in one of the threads."""
        future = asyncio.get_running_loop().create_future()
        self.jobs.put((future, function))
        return future

    def close(self) -> None:
        """End the threads, each after what it does now."""
        for _ in self.threads:
            self.jobs.put(None)
        for thread in self.threads:
            thread.join(1)

    def _work(self) -> None:
        while job := self.jobs.get():
            future, function = job
            result, error = None, None
            try:
                result = function()
            except BaseException as raised:  # noqa: BLE001  whoever waits for the result gets it
                error = raised
            if future is not None:
                with suppress(RuntimeError):  # the loop has ended
                    future.get_loop().call_soon_threadsafe(_settle, future, result, error)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if not future.done():  # else it was cancelled
        future.set_result(result) if error is None else future.set_exception(error)


class FlaskAnswer:
    """What Flask answers to a request. `part` and `close` are called in a thread."""

    def __init__(self, app: Flask, environ: dict[str, Any]) -> None:
        self.status, self.headers = 500, [(b"", b"")]
        self.pieces = self._pieces(app, environ)
        self.close, self.ended = self.pieces.close, False

    def start(self, status: str, headers: list[tuple[str, str]], _raised: Any = None) -> Any:
        """Take the head of the answer, as WSGI has it."""
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    def part(self) -> bytes:
        """Return what comes next, some 256 kB."""
        taken, size = [], 0
        for piece in self.pieces:
            taken.append(piece)
            size += len(piece)
            if size >= PART:
                break
        else:
            self.ended = True
        return b"".join(taken)

    def _pieces(self, app: Flask, environ: dict[str, Any]) -> Generator[bytes]:
        """Yield the pieces of the answer; a large one that came whole waits for its reader in a file."""
        with ExitStack() as stack:
            file = None
            with closing(environ["wsgi.input"]), closing(app(environ, self.start)) as body:  # type: ignore[type-var]
                for piece in body:
                    if file is None and len(piece) > IN_MEMORY:
                        file = stack.enter_context(tempfile.TemporaryFile())
                    if file is None:
                        yield piece
                    else:
                        file.write(piece)
            if file is not None:
                del body, piece
                file.seek(0)
                while piece := file.read(PART):
                    yield piece


class Gateway:
    """The application that uvicorn calls: reads a request, has Flask answer it in a thread, sends the answer.

    `number` connections are open at once; `limit` gives the bytes of a body for a path and cookies. `proxies` are
    addresses that may hold all places, whose word on the sender's address and on HTTPS is taken.
    """

    def __init__(
        self, app: Flask, number: int, *, limit: Callable[[str, str], int], proxies: Collection[str] = ()
    ) -> None:
        self.app, self.number, self.limit, self.proxies = app, number, limit, proxies
        self.open: dict[tuple[str, int], Connection] = {}
        self.places: dict[str, dict[Connection, None]] = {}
        self.quick, self.slow = Threads(THREADS, "quick"), Threads(SLOW_THREADS, "slow")

    # --- who is let in, and who is let go

    def let_in(self, one: Connection) -> bool:
        """Give a connection a place: when all are taken, that of who has waited longest at the address with most."""
        if one.client is None or (
            len(self.places.get(one.address, ())) >= self.number // 2 and one.address not in self.proxies
        ):
            return False
        if len(self.open) >= self.number:
            crowded = sorted(self.places.values(), key=len, reverse=True)
            leaves = next((other for mine in crowded for other in mine if other.step != "app"), None)
            if leaves is None:
                return False
            leaves.transport.abort()
            self.forget(leaves)
        self.places.setdefault(one.address, {})[one] = None
        self.open[one.client] = one
        return True

    def forget(self, one: Connection) -> None:
        """Free the place of a connection, if it has one."""
        mine = self.places.get(one.address, {})
        if one in mine:
            del mine[one]
            if not mine:
                del self.places[one.address]
        if one.client is not None and self.open.get(one.client) is one:
            del self.open[one.client]

    async def sweep(self) -> None:
        """Close the connections whose client is late."""
        now = time.monotonic()
        for one in [one for one in self.open.values() if one.until < now]:
            one.transport.abort()

    def close(self) -> None:
        """End the threads."""
        self.quick.close()
        self.slow.close()

    # --- a request

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        """Answer one request."""
        one = self.open.get(scope["client"])
        if one is None:  # it is gone already
            return
        environ = self.environ(scope)
        path, length = environ["PATH_INFO"], int(environ.get("CONTENT_LENGTH", 0))
        chunked = "HTTP_TRANSFER_ENCODING" in environ
        if chunked or (length > ALWAYS and length > self.limit(path, environ.get("HTTP_COOKIE", ""))):
            await _refuse(one, receive, send)
            return
        environ["wsgi.input"] = body = io.BytesIO() if length <= IN_MEMORY else tempfile.TemporaryFile()  # noqa: SIM115  the answer closes it
        if length and not await _read(one, receive, body):
            body.close()
            return
        one.begin("app")
        threads = self.slow if path.startswith(SLOW) else self.quick
        answer = FlaskAnswer(self.app, environ)
        try:
            part, sent, more = await threads.run(answer.part), 0, True
            one.begin("answer", PATIENCE)
            began = one.until
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            while more and self.open.get(scope["client"]) is one:
                for start in range(0, len(part) or 1, PART):
                    piece, more = part[start : start + PART], not answer.ended or start + PART < len(part)
                    await send({"type": "http.response.body", "body": piece, "more_body": more})
                    sent += len(piece)
                    one.until = began + sent / RATE
                part = await threads.run(answer.part) if more else b""
        finally:
            one.requests -= 1
            one.begin("idle", IDLE)
            if not answer.ended:
                threads.jobs.put((None, answer.close))

    def environ(self, scope: Any) -> dict[str, Any]:
        """Return a request's head as WSGI has it; what others than the proxy say of where it came from is left out."""
        environ: dict[str, Any] = {
            "REQUEST_METHOD": scope["method"],
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
            "QUERY_STRING": scope["query_string"].decode("latin-1"),
            "SERVER_NAME": scope["server"][0],
            "SERVER_PORT": str(scope["server"][1]),
            "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
            "REMOTE_ADDR": scope["client"][0],
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in scope["headers"]:
            if b"_" in name:  # "x_forwarded_for" would look like another header
                continue
            key = name.decode("latin-1").upper().replace("-", "_")
            key = key if key in ("CONTENT_LENGTH", "CONTENT_TYPE") else f"HTTP_{key}"
            text = value.decode("latin-1")
            environ[key] = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ', '}{text}" if key in environ else text
        address = environ.pop("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        scheme = environ.pop("HTTP_X_FORWARDED_PROTO", "")
        if scope["client"][0] in self.proxies:
            environ["REMOTE_ADDR"] = address or environ["REMOTE_ADDR"]
            environ["wsgi.url_scheme"] = scheme if scheme in ("http", "https") else "http"
        return environ


async def _read(one: Connection, receive: Callable[[], Awaitable[Any]], body: Any) -> bool:
    """Read a body; whether all of it has come. The sweep closes the connection of who sends too slowly."""
    one.begin("body", PATIENCE)
    began, received, more = one.until, 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return False
        received += body.write(message["body"])
        more = message["more_body"]
        one.until = began + received / RATE
    body.seek(0)
    return True


async def _refuse(one: Connection, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
    """Refuse a body that may be on its way all the same.

    To close at once would reset the connection, and its sender would not hear why; so what still comes is thrown away
    for a while.
    """
    one.begin("refusal", LINGER)
    text = b"413: more than may be sent\n"
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(text)), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": text, "more_body": True})
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class Server:
    """The app, served at a socket of `bind` from a thread of its own until it is closed.

    The word of a `proxy` in front, an address, is taken on the sender's address and on HTTPS. `note` is a line to print
    when fewer connections are possible than a server should hold, else ''.
    """

    def __init__(self, app: Flask, listening: socket.socket, *, proxy: str = "") -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # who speaks no HTTP is no news to an assessor
        self.port = listening.getsockname()[1]
        files = open_files()
        places = max(64, min(CONNECTIONS, files - SPARE))
        self.note = ""
        if places < CONNECTIONS:
            allowed = f"this system allows {files} open files, {CONNECTIONS + SPARE} are needed for {CONNECTIONS}"
            self.note = f"note: at most {places} connections at once: {allowed} (ulimit -n)\n"
        self.gateway = Gateway(app, places, limit=body_limit(app), proxies=(proxy,) if proxy else ())
        self._server = uvicorn.Server(
            uvicorn.Config(
                self.gateway,
                interface="asgi3",
                http=Connection,
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                backlog=1024,
                timeout_keep_alive=IDLE,
                timeout_graceful_shutdown=GRACE,
                callback_notify=self.gateway.sweep,
                timeout_notify=0,
            )
        )
        self._thread = threading.Thread(target=self._server.run, args=([listening],), name="server", daemon=True)

    def start(self) -> None:
        """Serve in the background."""
        self._thread.start()

    def wait(self) -> None:
        """Serve until the user presses Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Stop serving: requests at hand are answered, then connections that browsers keep open are closed."""
        self._server.should_exit = True
        self._thread.join(GRACE + 1)
        self.gateway.close()
