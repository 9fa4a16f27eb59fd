"""Work for several cores, behind the interface of `concurrent.futures`: here and now, in threads, or in processes.

`focuseval.engine.cluster` adds those of other machines.

No algorithm knows where it runs: it gives tasks to an executor and takes results in order. Processes are loky's: they
start quickly, a script needs no ``if __name__ == "__main__"``, and a worker that dies is an error, not a wait without
end. What all tasks need is sent once (`focuseval.engine.shared`).
"""

from __future__ import annotations

import os
import re
from collections import deque
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from focuseval.engine.shared import Shared, in_files
from focuseval.errors import FocusevalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

T = TypeVar("T")
R = TypeVar("R")

_LOOK = 0.5
"""Seconds after which a worker looks again whether its parent lives."""


class WorkerError(FocusevalError):
    """A worker process ended before its work was done."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Here(Executor):
    """Does every task at once, in the process and thread that gives it."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Do a task."""
        done: Future[R] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  as every executor: whoever asks for the result gets it
            done.set_exception(error)
        return done


@dataclass(frozen=True, eq=False)
class Workers:
    """An executor, and how it is used: results in order, values that all tasks share."""

    executor: Executor
    ahead: int = 1
    """Tasks that are given out and not done: enough to keep everybody busy, few enough to end together."""
    most: int = 1
    """Tasks whose results wait to be taken, at most."""
    helps: bool = False
    """Whether this process does tasks, too, instead of waiting for others."""
    at_once: int = 1
    """Tasks that can be done at the same time."""
    sharing: Callable[[Any], AbstractContextManager[Shared[Any]]] | None = None
    """How a value is given to all workers; None where they are this process."""
    abandon: Callable[[], None] | None = None
    """Cancels what is left and waits for what runs, for workers that live longer than the work."""

    def in_order(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Yield what became of tasks, in their order; only so many of them are under way or wait to be taken.

        >>> list(Workers(Here()).in_order(abs, [-3, 2]))
        [3, 2]
        """
        stream, here = iter(tasks), Here()
        waiting: deque[Future[R]] = deque()
        try:
            while True:
                free = self.ahead - sum(not future.done() for future in waiting)
                if free > 0 and len(waiting) < self.most:
                    waiting.extend(self.executor.submit(work, task) for task in islice(stream, free))
                if not waiting:
                    return
                if self.helps and not waiting[0].done() and len(waiting) < self.most:
                    mine = [here.submit(work, task) for task in islice(stream, 1)]
                    waiting.extend(mine)
                    if mine:
                        continue
                yield waiting.popleft().result()
        except BaseException as stop:
            if self.abandon is not None:
                self.abandon()
            elif isinstance(stop, GeneratorExit):  # after an error the whole pool ends, and loky cancels nothing
                for future in waiting:
                    future.cancel()
            raise

    @contextmanager
    def share(self, value: T) -> Iterator[Shared[T]]:
        """Lay a value down for the workers, while they need it."""
        if self.sharing is None:
            yield Shared("", value)
            return
        with self.sharing(value) as shared:
            yield shared


@contextmanager
def given(jobs: int | None, workers: Workers | None = None) -> Iterator[Workers]:
    """Give the workers that the caller has, or else processes: so many, or one for every core."""
    if workers is not None:
        yield workers
        return
    with processes(jobs or cores()) as made:
        yield made


@contextmanager
def processes(jobs: int) -> Iterator[Workers]:
    """Give workers for so many cores: this process, and others where more than one is asked for.

    Leaving ends them and their work. Ctrl-C reaches this process alone, and a worker whose parent is killed ends by
    itself.
    """
    if jobs <= 1:
        yield Workers(Here())
        return
    from loky import ProcessPoolExecutor  # noqa: PLC0415  a small job needs no process

    pool, done = ProcessPoolExecutor(jobs - 1, initializer=_begin, initargs=(os.getpid(),)), False
    try:
        with interrupts_held():  # the processes inherit it: Ctrl-C does not meet one that is about to begin
            pool.submit(os.getpid)
        yield Workers(pool, 2 * (jobs - 1), 32 * jobs, helps=True, at_once=jobs, sharing=in_files)
        done = True
    except _broken() as error:
        what = f"a worker process ended before its work was done ({_reason(error)})"
        raise WorkerError(f"{what}; is there enough memory? try --jobs 1") from None
    finally:
        pool.shutdown(wait=True, kill_workers=not done)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C pass by for a moment; only a program's main thread can, and processes that begin then inherit it."""
    import signal  # noqa: PLC0415  only processes need it
    import threading  # noqa: PLC0415  as above

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def in_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return what becomes of items, done at once by threads; for work that Python's lock does not hold up.

    >>> in_threads(abs, [-3, 2])
    [3, 2]
    """
    if len(items) < 2 or cores() < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  small input needs none

    with ThreadPoolExecutor(min(cores(), len(items))) as pool:
        return list(pool.map(work, items))


def _broken() -> type[Exception]:
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  only where there are processes

    return BrokenProcessPool


def _reason(error: Exception) -> str:
    """Return how a worker ended, as far as loky says it: ``SIGKILL(-9)``, ``EXIT(3)``."""
    found = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
    return found[1] if found else type(error).__name__


def _begin(parent: int) -> None:
    """Prepare a worker process."""
    import signal  # noqa: PLC0415  only a worker needs it
    import threading  # noqa: PLC0415  as above

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent has ended."""
    from time import sleep  # noqa: PLC0415  only a worker needs it

    while os.getppid() == parent:
        sleep(_LOOK)
    os._exit(1)
