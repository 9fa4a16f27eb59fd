"""A value that many tasks need, sent once: in a file that every process of this machine maps into its memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from glob import escape
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_ALIGNED = 64
"""Arrays begin at multiples of so many bytes, as NumPy and Arrow like it."""


@dataclass(frozen=True, eq=False)
class Shared(Generic[T]):
    """A value that travels by its address: a worker finds it there once, whatever the number of tasks."""

    address: str
    _value: T | None = None
    load: Callable[[str], Any] | None = None
    """How a worker finds it; None where the value itself is there."""

    def get(self) -> T:
        """Return the value."""
        value: T = self.load(self.address) if self._value is None and self.load else self._value  # type: ignore[assignment]  # one of both is there
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the value."""
        return Shared, (self.address, None, self.load)


@contextmanager
def in_files(value: T) -> Iterator[Shared[T]]:
    """Lay a value down in a folder while the processes of this machine need it; they map its arrays."""
    own = f"focuseval-{gethostname()}."
    sweep(Path(tempfile.gettempdir()), own, ".shared")
    folder = tempfile.mkdtemp(f".{os.getpid()}.shared", own)
    try:
        _lay_down(value, Path(folder))
        yield Shared(folder, value, _loaded)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        return True
    return True


def _lay_down(value: object, folder: Path) -> None:
    import pickle  # noqa: PLC0415  only where there are processes

    import cloudpickle  # noqa: PLC0415  as above: measures of the user's own may be functions without a name

    buffers: list[pickle.PickleBuffer] = []
    head = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    bounds = [0]
    with (folder / "arrays").open("wb") as file:
        for buffer in buffers:
            file.write(buffer.raw())
            end = file.tell()
            file.write(bytes(-end % _ALIGNED))
            bounds += [end, file.tell()]
        file.write(b"\0")  # an empty file cannot be mapped
    (folder / "value").write_bytes(pickle.dumps((head, bounds)))


@lru_cache(maxsize=1)
def _loaded(path: str) -> Any:
    import mmap  # noqa: PLC0415  only a worker needs it
    import pickle  # noqa: PLC0415  as above

    folder = Path(path)
    head, bounds = pickle.loads((folder / "value").read_bytes())  # noqa: S301  written by this very program
    with (folder / "arrays").open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return pickle.loads(head, buffers=[whole[a:b] for a, b in zip(bounds[0::2], bounds[1::2], strict=False)])  # noqa: S301  as above
