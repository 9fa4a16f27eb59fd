"""What a store answers when it refuses: one short line of our own, and whether it is worth asking again.

The libraries' messages can repeat request headers and keys, so nothing of them is shown but the name of the error.
"""

from __future__ import annotations

import errno
import re
from time import sleep
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

PAUSES = (0.2, 1.0)
"""Seconds before each further attempt, after those of the library itself."""

_NAMED = re.compile(r"AWS Error (\w+)(?:\s*\(HTTP status (\d+)\))?", re.ASCII)
_CREDENTIALS = "check AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


class _Kind(NamedTuple):
    number: int
    said: str
    again: bool = False


_KINDS = {
    "NO_SUCH_KEY": _Kind(errno.ENOENT, "no such object"),
    "RESOURCE_NOT_FOUND": _Kind(errno.ENOENT, "no such object"),
    "NO_SUCH_BUCKET": _Kind(errno.ENOENT, "no such bucket"),
    "NO_SUCH_UPLOAD": _Kind(errno.EIO, "the upload was lost", again=True),
    "ACCESS_DENIED": _Kind(errno.EACCES, f"access denied by the store; {_CREDENTIALS}"),
    "INVALID_ACCESS_KEY_ID": _Kind(errno.EACCES, f"the store does not know the access key; {_CREDENTIALS}"),
    "SIGNATURE_DOES_NOT_MATCH": _Kind(errno.EACCES, f"the store does not accept the secret key; {_CREDENTIALS}"),
    "EXPIRED_TOKEN": _Kind(errno.EACCES, "the credentials have expired; fetch new ones"),
    "NETWORK_CONNECTION": _Kind(errno.EIO, "the store cannot be reached, or broke the connection off", again=True),
    "SLOW_DOWN": _Kind(errno.EIO, "the store asks for fewer requests (503)", again=True),
    "SERVICE_UNAVAILABLE": _Kind(errno.EIO, "the store is not available (503)", again=True),
    "INTERNAL_FAILURE": _Kind(errno.EIO, "the store failed (500)", again=True),
    "REQUEST_TIMEOUT": _Kind(errno.EIO, "the store did not answer in time", again=True),
}
_STATUS = {"403": "ACCESS_DENIED", "404": "NO_SUCH_KEY", "500": "INTERNAL_FAILURE", "503": "SERVICE_UNAVAILABLE"}


class RemoteError(OSError):
    """An operation on object storage that failed; `strerror` is a line of our own, `filename` the URL."""

    again: bool = False
    """Whether it may work a moment later."""


class MissingObjectError(RemoteError, FileNotFoundError):
    """An object or a bucket that is not there."""


class DeniedError(RemoteError, PermissionError):
    """An operation that the store does not allow."""


_CLASSES: dict[int, type[RemoteError]] = {errno.ENOENT: MissingObjectError, errno.EACCES: DeniedError}


def attempted(name: str, work: Callable[[], T]) -> T:
    """Return what an operation on a URL gives; what may pass by is tried again, and failure is a `RemoteError`."""
    for pause in (*PAUSES, None):
        try:
            return work()
        except (OSError, ValueError, RuntimeError) as error:  # Arrow's errors are of these
            known = error if isinstance(error, RemoteError) else as_remote(error, name)
            if pause is None or not known.again:
                raise known from None
            sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def as_remote(error: Exception, name: str) -> RemoteError:
    """Return an error of Arrow's as one of ours."""
    if isinstance(error, FileNotFoundError):
        return missing(name)
    found = _NAMED.search(str(error))
    if found is None:
        return remote_error(_Kind(errno.EIO, f"the store failed ({type(error).__name__})"), name)
    code, status = found[1], found[2]
    kind = _KINDS.get(code) or _KINDS.get(_STATUS.get(status or "", ""))
    return remote_error(kind or _Kind(errno.EIO, f"the store refused: {code.lower().replace('_', ' ')}"), name)


def remote_error(kind: _Kind, name: str) -> RemoteError:
    """Return an error of a kind."""
    made = _CLASSES.get(kind.number, RemoteError)(kind.number, kind.said, name)
    made.again = kind.again
    return made


def missing(name: str) -> RemoteError:
    """Return the error of an object that is not there."""
    return remote_error(_KINDS["NO_SUCH_KEY"], name)


def truncated(name: str, found: int, expected: int) -> RemoteError:
    """Return the error of content that ends too early."""
    said = f"expected {expected:,} bytes, found {found:,}: the object or its transfer is cut short"
    return remote_error(_Kind(errno.EIO, said, again=True), name)
