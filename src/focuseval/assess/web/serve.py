"""The app behind waitress: a socket first, because the link and the checks need its port."""

from __future__ import annotations

import logging
import socket
import threading
from typing import TYPE_CHECKING, Any

from focuseval.errors import AssessError

if TYPE_CHECKING:
    from flask import Flask

THREADS = 16
LARGEST = 65 * 2**20
"""Bytes of a body that are taken in at all, an upload and its form; the guard knows who may send how much."""


def bind(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a listening socket; port 0 takes any that is free."""
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise AssessError(f"{host}:{port}: {error.strerror}; choose another with --port") from error


def names_of(host: str, port: int, others: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the values of the Host header that a server answers to.

    >>> sorted(names_of("127.0.0.1", 8475, ("judge.example",)))
    ['127.0.0.1:8475', 'judge.example', 'judge.example:8475', 'localhost:8475']
    """
    local = {"127.0.0.1", "localhost"} if host in ("127.0.0.1", "localhost") else {host}
    given = {name.lower() for name in others}
    bare = local | given if port == 80 else given  # browsers leave out the port that goes without saying
    return frozenset({f"{name}:{port}" for name in local | given} | bare)


class Server:
    """The app, served from a thread of its own until it is closed."""

    def __init__(self, app: Flask, listening: socket.socket) -> None:
        import waitress  # noqa: PLC0415  only a server needs it

        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a short queue is no news to an assessor
        self.port = listening.getsockname()[1]
        self._server: Any = waitress.create_server(
            app, sockets=[listening], threads=THREADS, ident="", max_request_body_size=LARGEST
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
        self._server.task_dispatcher.shutdown(cancel_pending=False)
        self._server.trigger.pull_trigger(self._let_go)
        self._thread.join(timeout=5)

    def _let_go(self) -> None:
        """Close all sockets from the thread that watches them."""
        for channel in list(self._server.active_channels.values()):
            channel.close()
        self._server.close()
