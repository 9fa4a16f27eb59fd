"""The app behind waitress: a socket first, because the link and the checks need its port."""

from __future__ import annotations

import logging
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from focuseval.assessment.web.guard import UPLOAD_LIMIT, body_limit
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from flask import Flask

EVERYWHERE = "0.0.0.0"  # noqa: S104  not bound to unless asked for
THREADS = 16
CONNECTIONS, SPARE = 4_000, 200
"""Connections that are open at once, and files that are needed besides."""
LARGEST = UPLOAD_LIMIT + 2**20
"""Bytes of a body that are taken in at all, an upload and its form; the guard knows who may send how much."""


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


_FORWARDED = {
    "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
    "clear_untrusted_proxy_headers": True,
    "log_untrusted_proxy_headers": True,
}
"""What is taken from a proxy, and from nobody else."""


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
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return 512
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = CONNECTIONS + SPARE if hard == unlimited else min(CONNECTIONS + SPARE, hard)
    if soft != unlimited and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return CONNECTIONS + SPARE if soft == unlimited else soft


class Server:
    """The app, served from a thread of its own until it is closed.

    Parameters
    ----------
    app, listening
        The app, and the socket that `bind` gave.
    proxy
        Address of a proxy in front, whose word on the sender's address and on HTTPS is taken.
    """

    def __init__(self, app: Flask, listening: socket.socket, *, proxy: str = "") -> None:
        from focuseval.assessment.web.connections import IDLE, ManyConnections  # noqa: PLC0415  only a server needs it

        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short queue is no news to an assessor
        self.port = listening.getsockname()[1]
        self._server = ManyConnections(
            app,
            listening,
            limit=body_limit(app),
            proxies=(proxy,) if proxy else (),
            **(_FORWARDED | {"trusted_proxy": proxy} if proxy else {}),
            threads=THREADS,
            ident="",
            max_request_body_size=LARGEST,
            connection_limit=max(64, min(CONNECTIONS, open_files() - SPARE)),
            channel_timeout=IDLE,
            cleanup_interval=5,
            asyncore_use_poll=True,
            backlog=1024,
        )
        self._thread = threading.Thread(target=self._server.run, name="server", daemon=True)

    def start(self) -> None:
        """Serve in the background."""
        self._thread.start()

    def wait(self) -> None:
        """Serve until the user presses Ctrl-C."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Stop serving: requests at hand are answered, then connections that browsers keep open are closed."""
        for dispatcher in (self._server.task_dispatcher, self._server.slow_dispatcher):
            dispatcher.shutdown(cancel_pending=False)
        self._server.trigger.pull_trigger(self._let_go)
        self._thread.join(timeout=5)

    def _let_go(self) -> None:
        """Close all sockets from the thread that watches them."""
        for channel in list(self._server.active_channels.values()):
            channel.handle_close()
        self._server.close()
