"""Documents, or their segments, as JSON lines: one object a line, in one file or in several, compressed or not."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.collection.kinds import kind_of
from focuseval.errors import CollectionError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

JSONL = (".jsonl", ".ndjson", ".json")
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}
"""How compressed files begin."""


def json_files(place: Path) -> list[Path]:
    """Return the files of JSON lines at a place: itself, or all that a folder holds if it holds nothing else."""
    if place.is_file():
        return [place] if _named(place) else []
    if not place.is_dir():
        return []
    held = sorted(path for path in place.iterdir() if not path.name.startswith("."))
    return held if all(path.is_file() and _named(path) for path in held) else []


def _named(path: Path) -> bool:
    """Say whether a file is called one of JSON lines, whatever compresses it."""
    return kind_of(path.name)[1] in JSONL


def records(files: Sequence[Path], expected: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every object with its place; `expected` is what a line should have been, for the message."""
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            if line.strip():
                at = Place(str(path), number)
                yield at, _parsed(line, at, expected)


def _parsed(line: bytes | str, at: Place, expected: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CollectionError(f"{expected}, found no JSON ({error})", at=at, remedy="one object per line") from None
    if not isinstance(record, dict):
        raise CollectionError(f"{expected}, found a {type(record).__name__}", at=at, remedy="one object per line")
    return record


def json_documents(files: Sequence[Path]) -> Iterator[tuple[Place, str, str]]:
    """Yield place, id and text of every document; the id is called ``id`` or ``_id``."""
    expected = 'expected {"id": "…", "text": "…"}'
    for at, record in records(files, expected):
        name, text = record.get("id", record.get("_id")), record.get("text")
        if not isinstance(name, str) or not name or not isinstance(text, str):
            raise CollectionError(f"{expected}, found keys {sorted(record)}", at=at, remedy="both must be strings")
        yield at, whole_characters(name, at, expected), whole_characters(text, at, expected)


def whole_characters(text: str, at: Place, expected: str) -> str:
    """Return a text that UTF-8 can say; half a surrogate pair, which JSON can write, is refused."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise CollectionError(
            f"{expected}, found half a surrogate pair", at=at, remedy="write real characters"
        ) from None
    return text


def _lines(path: Path) -> Iterator[str]:
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="\n") as stream:
            yield from stream
    except UnicodeDecodeError as error:
        raise CollectionError(f"expected UTF-8, found: {error.reason}", at=str(path), remedy="convert it") from None
    except OSError as error:
        raise CollectionError(
            f"cannot read: {error.strerror or error}", at=str(path), remedy="check the name and the permissions"
        ) from None


def opened(path: Path) -> Any:
    """Return a file's bytes as a stream; those of a compressed one, unpacked as they are read."""
    with path.open("rb") as file:
        packed = _PACKED.get(file.read(2))
    return pa.input_stream(str(path), compression=packed) if packed else path.open("rb")
