r"""JSON lines as the whole package reads and writes them: one value on a line, and ``\n`` alone ends a line.

A string in JSON may hold U+0085, U+2028 and U+2029 as they are; `str.splitlines` would cut the value in two there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, AnyStr

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.errors import Place


def numbered_lines(text: AnyStr, first: int = 1) -> Iterator[tuple[int, AnyStr]]:
    r"""Yield the lines that are not blank, with their numbers from `first`.

    >>> list(numbered_lines('{"a": 1}\r\n\n"x\u2028y"'))
    [(1, '{"a": 1}\r'), (3, '"x\u2028y"')]
    """
    newline: AnyStr = "\n" if isinstance(text, str) else b"\n"
    return ((number, line) for number, line in enumerate(text.split(newline), first) if line.strip())


def json_line(value: Any, errors: str = "strict") -> bytes:
    r"""Return a value as one line in UTF-8; `errors` says what is done with half a surrogate pair, as in `str.encode`.

    >>> json_line({"topic": "q1", "text": "é\n"}).decode()
    '{"topic": "q1", "text": "é\\n"}\n'
    """
    return f"{json.dumps(value, ensure_ascii=False)}\n".encode("utf-8", errors)


def read_object(line: str | bytes, at: Place, remedy: str = "") -> dict[str, Any]:
    """Return the object on one line; anything else is refused with its place."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected a JSON object, found: {error}", at=at, remedy=remedy) from error
    if not isinstance(value, dict):
        raise FormatError(f"expected a JSON object, found {type(value).__name__}", at=at, remedy=remedy)
    return value
