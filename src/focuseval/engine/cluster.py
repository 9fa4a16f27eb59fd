"""Workers of a Dask cluster, behind the same interface as local processes; needs the extra ``focuseval[cluster]``.

>>> from focuseval import connected
>>> with connected("tcp://scheduler:8786") as workers:  # doctest: +SKIP
...     evaluate(gold, runs, workers=workers)

A script that starts a cluster of its own (``local``) must do so under ``if __name__ == "__main__":``, because its
processes import the script again.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import pickle
import platform
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from threading import Condition
from time import monotonic, sleep
from typing import Any, TypeVar
from uuid import uuid4

from focuseval.engine.workers import Shared, WorkerError, Workers, cores, interrupts_held
from focuseval.errors import UsageError, counted

try:
    import cloudpickle
    import dask
    import distributed
    from distributed.comm.core import CommClosedError
except ImportError:
    what = "a cluster (--cluster) needs Dask's distributed"
    raise UsageError(f"{what}; install it with: pip install 'focuseval[cluster]'") from None

T = TypeVar("T")

_LEAST = 128  # tasks that are given out, at least: a cluster may grow when it sees that there are some
_PATIENCE = 30.0  # seconds in which a scheduler has to answer, and running tasks have to end after Ctrl-C
_AGREE = {"Python": 2, "focuseval": 3, "pyarrow": 1, "numpy": 1}
"""What must agree between client and workers, and in how many numbers of its version."""
_ASK = {name: partial(importlib.metadata.version, name) for name in _AGREE} | {"Python": platform.python_version}
"""What tells these versions, by the standard library alone: a worker may have no focuseval."""

_LOCAL = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.interval": "100ms",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.admin.tick.interval": "200ms",
}
"""What a cluster on this machine changes in Dask's defaults: workers do not give memory back at once, which makes
scores a fifth to a half slower (decision 19), and they are watched less often."""


@contextmanager
def connected(address: str, say: Callable[[str], None] | None = None) -> Iterator[Workers]:
    """Give the workers of a cluster.

    Parameters
    ----------
    address
        ``local`` or ``local:N`` for N processes of this machine, a scheduler (``tcp://host:8786``), or the path of a
        scheduler file.
    say
        Called with a line that names the dashboard.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)  # what matters is an error of ours
    with _client(address) as client:
        _refuse_other_versions(client, address)
        if say is not None and client.dashboard_link:
            say(f"cluster: {counted(len(client.nthreads()), 'worker')}, dashboard at {client.dashboard_link}")
        at_once, executor = max(1, sum(client.nthreads().values())), client.get_executor(pure=False)
        ahead = max(_LEAST, 4 * at_once)
        sharing, abandon = partial(on_every_worker, client), partial(_abandon, client, executor)
        waits = None if say is None else partial(_say_wait, client, address, say, [])
        try:
            limits = {"ahead": ahead, "most": 4 * ahead, "at_once": at_once}
            yield Workers(Agreeing(executor), **limits, sharing=sharing, abandon=abandon, waits=waits)
        except distributed.KilledWorker:
            what = "the same task ended several workers of the cluster"
            raise WorkerError(f"{what}; is there enough memory? give the workers more, or fewer threads") from None
        except (CancelledError, CommClosedError, distributed.client.FutureCancelledError):
            raise WorkerError(f"{address}: lost the scheduler of the cluster; is it still running?") from None


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Connect to a scheduler, or start a cluster for as long as it is needed."""
    if address == "local" or address.startswith("local:"):
        number = address.removeprefix("local").removeprefix(":") or str(cores())
        if not number.isdigit() or int(number) < 1:
            what = f"expected local:N with a number of processes, found {address!r}"
            raise UsageError(f"{what}; give one such as local:4")
        with interrupts_held(), dask.config.set(_LOCAL):  # Ctrl-C reaches this process alone, as with local processes
            cluster = distributed.LocalCluster(
                n_workers=int(number),
                threads_per_worker=1,
                protocol="tcp://",
                dashboard_address=":0",
                silence_logs=logging.CRITICAL + 1,
            )
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield client
        return
    where = {"scheduler_file": address} if Path(address).is_file() else {"address": address}
    if "address" in where and not address.startswith(("tcp://", "tls://", "ws://", "wss://", "ucx://")):
        what = f"expected local, local:N, tcp://HOST:PORT or a scheduler file, found {address!r}"
        raise UsageError(f"{what}; see 'focuseval index --help'")
    try:
        client = distributed.Client(**where, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, CommClosedError):
        what = "expected a Dask scheduler, found none that answers"
        raise WorkerError(f"{address}: {what}; start one with 'dask scheduler'") from None
    with client:
        yield client


def _say_wait(client: Any, address: str, say: Callable[[str], None], said: list[str]) -> None:
    """Say what is waited for, each line once."""
    workers = len(client.nthreads())
    what = f"the next result of {counted(workers, 'worker')}"
    line = f"{address}: waiting for {what if workers else 'workers: none is left; start some, or end with Ctrl-C'}"
    if line not in said:
        said[:] = [line]
        say(line)


def _refuse_other_versions(client: Any, address: str) -> None:
    """Refuse workers that would compute with other code."""
    for name, ask in _ASK.items():
        for worker, there in client.run(ask, on_error="return").items():
            if not isinstance(there, OSError):  # which is one that has just gone; another comes in its place
                found = there if isinstance(there, str) else "none"
                _refuse(name, _versions()[name], found, f"{address}: worker {worker}")


def _refuse(name: str, expected: str, found: str, where: str) -> None:
    numbers = _AGREE[name]
    if found.split(".")[:numbers] != expected.split(".")[:numbers]:
        what = f"expected {name} {expected}, as on the client, found {found}"
        raise WorkerError(f"{where}: {what}; install the same versions everywhere")


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    """Return the versions of this process; a package that runs from its source without being installed has none."""
    found = dict.fromkeys(_AGREE, "none")
    for name, ask in _ASK.items():
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = ask()
    return found


class Agreeing(Executor):
    """Dask's executor; a worker that joined later and has other versions refuses the task."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Give out a task with the versions of this machine."""
        return self._executor.submit(_agreed, _versions(), fn, *args, **kwargs)


def _agreed(expected: dict[str, str], work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Do a task in a worker of the same versions."""
    found = _versions()
    for name, version in expected.items() if found != expected else ():
        _refuse(name, version, found[name], f"worker {platform.node()}:{os.getpid()}")
    return work(*args, **kwargs)


def _abandon(client: Any, executor: Any) -> None:
    """Cancel all tasks and wait for those that run, so that nothing is written after this program has cleaned up."""
    with suppress(Exception):  # the scheduler may be gone
        left = list(executor._futures)  # noqa: SLF001  Dask's executor has no other name for them
        client.cancel(left)
        keys, end = {future.key for future in left}, monotonic() + _PATIENCE
        busy = lambda dask_worker: not keys.isdisjoint(dask_worker.active_threads.values())  # noqa: E731  sent to workers
        while any(client.run(busy).values()) and monotonic() < end:
            sleep(0.1)


_HELD: dict[str, bytes | list[Any]] = {}
"""Shared values that have arrived: pickled until the first task asks for one, then the only item of a list."""
_ARRIVED = Condition()


class SharedValue(distributed.WorkerPlugin):
    """Brings a value to every worker of a cluster, also to those that join later or replace one that died."""

    def __init__(self, key: str, content: bytes) -> None:
        self.name = self.key = key
        self.content = content

    def setup(self, worker: Any) -> None:  # noqa: ARG002  Dask's signature
        """Keep the value for the tasks of this process."""
        with _ARRIVED:
            _HELD[self.key] = self.content
            _ARRIVED.notify_all()

    def teardown(self, worker: Any) -> None:  # noqa: ARG002  as above
        """Let the value go."""
        with _ARRIVED:
            _HELD.pop(self.key, None)


def held(key: str) -> Any:
    """Return a shared value in a worker; one that has just joined may get its first task before it."""
    with _ARRIVED:
        if not _ARRIVED.wait_for(lambda: key in _HELD, timeout=300):
            raise WorkerError(f"worker {platform.node()}:{os.getpid()}: a value that all tasks share did not arrive")
        value = _HELD[key]
        if isinstance(value, bytes):
            value = _HELD[key] = [pickle.loads(value)]  # noqa: S301  sent by the client of this cluster
        return value[0]


@contextmanager
def on_every_worker(client: Any, value: T) -> Iterator[Shared[T]]:
    """Send a value to every worker once, while it is needed."""
    plugin = SharedValue(f"focuseval-{uuid4().hex}", cloudpickle.dumps(value, protocol=5))
    client.register_plugin(plugin)
    try:
        yield Shared(plugin.key, value, held)
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.unregister_worker_plugin(plugin.key)
