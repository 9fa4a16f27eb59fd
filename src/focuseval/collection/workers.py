"""Run batches on several processes, results in order.

The first worker is this process; each other is a separate Python started with nothing but this package, so a script
that builds an index needs no ``if __name__ == "__main__"`` and threads of the caller are not copied. A thread per
worker waits for its answers; a worker that sees its input end (because its parent was killed) ends too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from focuseval.collection.worker import Worker, unpacked
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from focuseval.collection.batches import Batch

_START = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = json.loads(sys.stdin.readline())
from focuseval.collection.worker import main
main()
"""
"""A worker's program. Ctrl-C reaches the parent, too, which then ends the worker's input."""

Answer = dict[str, Any]
"""What a worker says of a batch: its row of the table of blocks, its counts, its report."""


class Requests(Protocol):
    """Something that does batches: this process, or another one."""

    def run(self, batch: Batch) -> Answer:
        """Parse and write one batch."""

    def close(self) -> None:
        """Finish the part."""


@contextmanager
def workers(folder: Path, jobs: int, *, keep_going: bool) -> Iterator[Callable[[Iterable[Batch]], Iterator[Answer]]]:
    """Give a function that runs batches on this process and `jobs` − 1 others; leaving ends them."""
    remote = [Remote(folder, part, keep_going=keep_going) for part in range(1, jobs)]
    everyone: list[Requests] = [Worker(folder, 0, keep_going), *remote]
    idle: SimpleQueue[Requests] = SimpleQueue()
    for worker in everyone:
        idle.put(worker)
    try:
        with ThreadPoolExecutor(jobs) as threads:
            yield lambda tasks: _in_order(threads, lambda task: _give(idle, task), tasks, 2 * jobs)
        for worker in remote:
            worker.hang_up()
        for worker in everyone:
            worker.close()
    finally:
        for worker in remote:
            worker.end()


def _give(idle: SimpleQueue[Requests], task: Batch) -> Answer:
    """Give a batch to an idle worker and wait for its answer."""
    worker = idle.get()
    try:
        return worker.run(task)
    finally:
        idle.put(worker)


def _in_order(
    threads: ThreadPoolExecutor, work: Callable[[Batch], Answer], tasks: Iterable[Batch], ahead: int
) -> Iterator[Answer]:
    """Yield results in the order of tasks, never more than `ahead` of them under way."""
    waiting: deque[Future[Answer]] = deque()
    try:
        for task in tasks:
            waiting.append(threads.submit(work, task))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


class Remote:
    """A worker in a process of its own, at the other end of two pipes."""

    def __init__(self, folder: Path, part: int, *, keep_going: bool) -> None:
        """Start the process; it is ready when it answers."""
        self._process = subprocess.Popen(  # noqa: S603  this very Python, with a constant program
            [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self._send(sys.path)
        self._send([str(folder), part, keep_going])

    def run(self, batch: Batch) -> Answer:
        """Send a batch and wait for what became of it."""
        try:
            self._send(batch.to_json())
            line = self._process.stdout.readline() if self._process.stdout else ""
        except OSError:
            line = ""
        if not line:
            what = f"a worker ended before its batch was done (exit status {self._process.wait()})"
            raise CollectionError(what, remedy="is there enough memory? try --jobs 1")
        answer: Answer = json.loads(line)
        if "error" in answer:
            raise unpacked(answer["error"])
        return answer

    def hang_up(self) -> None:
        """Tell the worker that there is no more."""
        with suppress(OSError):  # the other end has gone: nothing is left to say to it
            if self._process.stdin:
                self._process.stdin.close()

    def close(self) -> None:
        """Wait until the part is finished."""
        if self._process.wait():
            raise CollectionError("a worker could not finish its part of the index", remedy="is the disk full?")

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self.hang_up()
        if self._process.stdout:
            self._process.stdout.close()

    def _send(self, message: Any) -> None:
        if self._process.stdin is None:
            raise TypeError("a worker without a pipe")
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
