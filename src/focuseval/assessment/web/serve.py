"""The app behind uvicorn: a socket first, because the link and the checks need its port."""

from __future__ import annotations

import logging
import socket
import threading
from contextlib import suppress

import uvicorn
from flask import Flask

from focuseval.assessment.web.connections import IDLE, Connection, Gateway
from focuseval.assessment.web.desk import body_limit
from focuseval.errors import AssessError

EVERYWHERE = "0.0.0.0"  # noqa: S104  not bound to unless asked for
CONNECTIONS, SPARE = 4_000, 200  # connections that are open at once, and files that are needed besides
GRACE = 10  # seconds that requests at hand get to be answered when the server ends


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
