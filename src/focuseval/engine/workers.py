"""Work for several cores, behind the interface of `concurrent.futures`: here and now, in threads, or in processes.

`focuseval.engine.cluster` adds those of other machines.

No algorithm knows where it runs: it gives tasks to an executor and takes results in order. Processes are loky's: they
start quickly, a script needs no ``if __name__ == "__main__"``, and a worker that dies is an error, not a wait without
end. A value that all tasks need is sent once: in a file that every process of this machine maps into its memory.
"""

from __future__ import annotations

import mmap
import os
import pickle
import re
import shutil
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from glob import escape
from itertools import islice
from pathlib import Path
from socket import gethostname
from typing import Any, Generic, TypeVar

from focuseval.errors import FocusevalError

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 10.0  # seconds of waiting for a result, before somebody says for what
_LOOK = 0.5  # seconds after which a worker looks again whether its parent lives


@dataclass(frozen=True, eq=False)
class Shared(Generic[T]):
    """A value that travels by its address: a worker finds it there once, whatever the number of tasks."""

    address: str
    _value: T | None = None
    load: Callable[[str], Any] | None = None  # how a worker finds it; None where the value itself is there

    def get(self) -> T:
        """Return the value."""
        value: T = self.load(self.address) if self._value is None and self.load else self._value  # type: ignore[assignment]  # one of both is there
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the value."""
        return Shared, (self.address, None, self.load)


@contextmanager
def in_files(value: T) -> Iterator[Shared[T]]:
    """Write a value to a folder while the processes of this machine need it; they map its arrays."""
    import cloudpickle  # noqa: PLC0415  only where there are processes: measures of users may be functions without a name

    own = f"focuseval-{gethostname()}."
    sweep(Path(tempfile.gettempdir()), own, ".shared")
    folder = Path(tempfile.mkdtemp(f".{os.getpid()}.shared", own))
    try:
        buffers: list[pickle.PickleBuffer] = []
        head = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        bounds = [0]
        with (folder / "arrays").open("wb") as file:
            for buffer in buffers:
                file.write(buffer.raw())
                end = file.tell()
                file.write(bytes(-end % 64))  # arrays are aligned as NumPy and Arrow like it
                bounds += [end, file.tell()]
            file.write(b"\0")  # an empty file cannot be mapped
        (folder / "value").write_bytes(pickle.dumps((head, bounds)))
        yield Shared(str(folder), value, _loaded)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=1)
def _loaded(path: str) -> Any:
    """Return the value of a folder, in a worker."""
    folder = Path(path)
    head, bounds = pickle.loads((folder / "value").read_bytes())  # noqa: S301  written by this very program
    with (folder / "arrays").open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return pickle.loads(head, buffers=[whole[a:b] for a, b in zip(bounds[0::2], bounds[1::2], strict=False)])  # noqa: S301  as above


def sweep(place: Path, prefix: str, suffix: str) -> None:
    """Remove the folders that programs on this machine left behind when they were killed: ``prefix….PIDsuffix``."""
    for folder in place.glob(f"{escape(prefix)}*{suffix}"):
        if not is_alive(folder.name.removesuffix(suffix).rpartition(".")[2]):
            shutil.rmtree(folder, ignore_errors=True)


def is_alive(number: str) -> bool:
    """Say whether a process of this machine lives; one of which nothing is known does."""
    if os.name != "posix":  # elsewhere a process cannot be asked without harming it
        return True
    try:
        os.kill(int(number), 0)
    except (ValueError, OSError) as error:
        return not isinstance(error, ProcessLookupError)
    return True


class WorkerError(FocusevalError):
    """A worker process ended before its work was done."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    ahead: int = 1  # tasks that are given out and not done: enough to keep everybody busy, few enough to end together
    most: int = 1  # tasks whose results wait to be taken, at most
    helps: bool = False  # whether this process does tasks, too, instead of waiting for others
    at_once: int = 1  # tasks that can be done at the same time
    sharing: Callable[[Any], AbstractContextManager[Shared[Any]]] | None = None
    """How a value is given to all workers; None where they are this process."""
    abandon: Callable[[], None] | None = None
    """Cancels what is left and waits for what runs, for workers that live longer than the work."""
    waits: Callable[[], None] | None = None  # called after every `PATIENCE` seconds for which a result is waited for

    def in_order(self, work: Callable[[T], R], tasks: Iterable[T]) -> Generator[R, None, None]:
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
                yield self._result(waiting.popleft())
        except BaseException as stop:
            if self.abandon is not None:
                self.abandon()
            elif isinstance(stop, GeneratorExit):  # after an error the whole pool ends, and loky cancels nothing
                for future in waiting:
                    future.cancel()
            raise

    def _result(self, future: Future[R]) -> R:
        while self.waits is not None and not wait([future], PATIENCE).done:
            self.waits()
        return future.result()

    def share(self, value: T) -> AbstractContextManager[Shared[T]]:
        """Lay a value down for the workers, while they need it."""
        return nullcontext(Shared("", value)) if self.sharing is None else self.sharing(value)


def given(jobs: int | None, workers: Workers | None = None) -> AbstractContextManager[Workers]:
    """Give the workers that the caller has, or else processes: so many, or one for every core."""
    return processes(jobs or cores()) if workers is None else nullcontext(workers)


@contextmanager
def processes(jobs: int) -> Iterator[Workers]:
    """Give workers for so many cores: this process, and others, which end with the block or with their parent."""
    if jobs <= 1:
        yield Workers(Here())
        return
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  a small job needs no process

    from loky import ProcessPoolExecutor  # noqa: PLC0415  as above

    pool, done = ProcessPoolExecutor(jobs - 1, initializer=_begin, initargs=(os.getpid(),)), False
    try:
        with interrupts_held():  # the processes inherit it: Ctrl-C does not meet one that is about to begin
            pool.submit(os.getpid)
        yield Workers(pool, 2 * (jobs - 1), 32 * jobs, helps=True, at_once=jobs, sharing=in_files)
        done = True
    except BrokenProcessPool as error:  # loky names how it ended: ``SIGKILL(-9)``, ``EXIT(3)``
        found = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
        what = f"a worker process ended before its work was done ({found[1] if found else type(error).__name__})"
        raise WorkerError(f"{what}; is there enough memory? try with one job (--jobs 1)") from None
    finally:
        pool.shutdown(wait=True, kill_workers=not done)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C pass by for a moment; only a program's main thread can, and processes that begin then inherit it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def in_threads(work: Callable[[T], R], items: Sequence[T], least: int = 2) -> list[R]:
    """Return what becomes of items, done by threads if they are so many; for work that Python's lock does not hold up.

    >>> in_threads(abs, [-3, 2])
    [3, 2]
    """
    if len(items) < least or cores() < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(cores(), len(items))) as pool:
        return list(pool.map(work, items))


def _begin(parent: int) -> None:
    """Prepare a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=end_with_parent, daemon=True).start()
