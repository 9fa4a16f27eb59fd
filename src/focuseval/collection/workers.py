"""Run batches on several processes, results in order.

Each worker is a separate Python started with nothing but this package, so a script that builds an index needs no
``if __name__ == "__main__"`` and threads of the caller are not copied. A thread per worker waits for its answers; a
worker that sees its input end (because its parent was killed) ends too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from focuseval.collection.worker import Worker, unpacked
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from focuseval.collection.batches import Batch

_START = """
import json, sys
sys.path[:] = json.loads(sys.stdin.readline())
from focuseval.collection.worker import main
main()
"""


@contextmanager
def one_worker(folder: Path, *, keep_going: bool) -> Iterator[Callable[[Iterable[Batch]], Iterator[dict[str, Any]]]]:
    """Work in this process."""
    worker = Worker(folder, 0, keep_going)
    yield lambda tasks: map(worker.run, tasks)
    worker.close()


@contextmanager
def many_workers(
    folder: Path, jobs: int, *, keep_going: bool
) -> Iterator[Callable[[Iterable[Batch]], Iterator[dict[str, Any]]]]:
    """Work in `jobs` other processes; leaving ends them."""
    processes = [_start(folder, part, keep_going=keep_going) for part in range(jobs)]
    idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
    for process in processes:
        idle.put(process)
    try:
        with ThreadPoolExecutor(jobs) as threads:
            yield lambda tasks: _in_order(threads, lambda task: _ask(idle, task), tasks, 2 * jobs)
        for process in processes:
            _finish(process)
    finally:
        for process in processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                _close(pipe)


def _in_order(
    threads: ThreadPoolExecutor, work: Callable[[Batch], dict[str, Any]], tasks: Iterable[Batch], ahead: int
) -> Iterator[dict[str, Any]]:
    """Yield results in the order of tasks, never more than `ahead` of them under way."""
    waiting: deque[Future[dict[str, Any]]] = deque()
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


def _start(folder: Path, part: int, *, keep_going: bool) -> subprocess.Popen[str]:
    process = subprocess.Popen(  # noqa: S603  this very Python, with a constant program
        [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    _send(process, sys.path)
    _send(process, [str(folder), part, keep_going])
    return process


def _send(process: subprocess.Popen[str], message: Any) -> None:
    if process.stdin is None:
        raise TypeError("a worker without a pipe")
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def _ask(idle: SimpleQueue[subprocess.Popen[str]], task: Batch) -> dict[str, Any]:
    """Give a batch to an idle worker and wait for its answer."""
    process = idle.get()
    try:
        _send(process, task.to_json())
        line = process.stdout.readline() if process.stdout else ""
    except OSError:
        line = ""
    finally:
        idle.put(process)
    if not line:
        what = f"a worker ended before its batch was done (exit status {process.wait()})"
        raise CollectionError(what, remedy="is there enough memory? try --jobs 1")
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        raise unpacked(answer["error"])
    return answer


def _finish(process: subprocess.Popen[str]) -> None:
    """Let a worker finish its part."""
    _close(process.stdin)
    if process.wait():
        raise CollectionError("a worker could not finish its part of the index", remedy="is the disk full?")


def _close(pipe: Any) -> None:
    with suppress(OSError):  # the other end has gone: nothing is left to say to it
        pipe.close()
