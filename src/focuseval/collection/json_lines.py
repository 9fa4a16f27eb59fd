"""Documents, or their segments, as JSON lines or a JSON list, in one file or in several, compressed or not."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.collection.kinds import kind_of
from focuseval.data.fields import QUESTION_IDS, value
from focuseval.engine.storage import Remote, in_order
from focuseval.errors import CollectionError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.engine.storage import Location

JSONL = (".jsonl", ".ndjson", ".json")
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}
"""How compressed files begin."""


def json_files(place: Location) -> list[Location]:
    """Return the files of JSON lines at a place: itself, a folder's corpus (BEIR), or all that a folder holds.

    The latter if it holds nothing else.
    """
    if place.is_file():
        return [place] if _named(place) else []
    if not place.is_dir():
        return []
    held = in_order(path for path in place.iterdir() if not path.name.startswith("."))
    if corpus := [path for path in held if path.name.startswith("corpus.jsonl") and _named(path)]:
        return corpus[:1]
    return held if all(path.is_file() and _named(path) for path in held) else []


def _named(path: Location) -> bool:
    """Say whether a file is called one of JSON lines, whatever compresses it."""
    return kind_of(path.name)[1] in JSONL


def records(files: Sequence[Location], expected: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every object of lines, or of a list, with its place; `expected` is what one should be, for the message."""
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            at = Place(str(path), number)
            if number == 1 and line.lstrip()[:1] == "[":
                listed = _parsed("".join(_lines(path)), at, expected)
                yield from ((at, _object(one, at, expected)) for one in listed)
                break
            yield at, _object(_parsed(line, at, expected), at, expected)


def _parsed(text: str, at: Place, expected: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CollectionError(f"{expected}, found no JSON ({error})", at=at, remedy="one object per line") from None


def _object(record: Any, at: Place, expected: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise CollectionError(f"{expected}, found a {type(record).__name__}", at=at, remedy="one object per line")
    return record


def json_documents(files: Sequence[Location]) -> Iterator[tuple[Place, str, str]]:
    """Yield place, id and text of every document, by any of their names (`data.fields`); ``id``, ``_id`` first."""
    expected = 'expected {"id": "…", "text": "…"}'
    for at, record in records(files, expected):
        name, text = _id(record, at), value(record, "text", at) if record.get("text") != "" else ""
        if not isinstance(name, str) or not name or not isinstance(text, str):
            raise CollectionError(f"{expected}, found keys {sorted(record)}", at=at, remedy="both must be strings")
        yield at, whole_characters(name, at, expected), whole_characters(text, at, expected)


def _id(record: dict[str, Any], at: Place) -> Any:
    """Return a document's id; a number is taken as it looks."""
    named = next((record[name] for name in QUESTION_IDS if record.get(name) is not None), None)
    named = value(record, "doc", at) if named is None else named
    return str(named) if isinstance(named, int) and not isinstance(named, bool) else named


def whole_characters(text: str, at: Place, expected: str) -> str:
    """Return a text that UTF-8 can say; half a surrogate pair, which JSON can write, is refused."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise CollectionError(
            f"{expected}, found half a surrogate pair", at=at, remedy="write real characters"
        ) from None
    return text


def _lines(path: Location) -> Iterator[str]:
    try:
        with io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="\n") as stream:
            yield from stream
    except UnicodeDecodeError as error:
        raise CollectionError(f"expected UTF-8, found: {error.reason}", at=str(path), remedy="convert it") from None
    except OSError as error:
        raise CollectionError(
            f"cannot read: {error.strerror or error}", at=str(path), remedy="check the name and the permissions"
        ) from None


def opened(path: Location) -> Any:
    """Return a file's bytes as a stream; those of a compressed one, unpacked as they are read."""
    file = path.open("rb")
    packed = _PACKED.get(file.read(2))
    file.seek(0)
    if not packed:
        return file
    if isinstance(path, Remote):
        return pa.CompressedInputStream(pa.PythonFile(file, "r"), packed)
    file.close()
    return pa.input_stream(str(path), compression=packed)
