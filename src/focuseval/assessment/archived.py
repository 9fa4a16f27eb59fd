"""Read an archive: its gold, to score runs with, and everything, to make its project again.

Nothing is unpacked by the names that an archive gives: members are looked up by names that we know, are as large as the
manifest says, and have the hash that it says.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.assessment.archive import KIND, MANIFEST, VERSION
from focuseval.collection.rendering import Document
from focuseval.errors import AssessError, FormatError, NotComparableError
from focuseval.formats import read_gold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection.index import Index
    from focuseval.data.gold import Gold

LARGEST = 2**31
"""Bytes of all files of an archive, unpacked."""
DENSEST, SMALL = 200, 2**24
"""How many times larger than packed a file of more than `SMALL` bytes may be: judgements are some twenty times."""


@dataclass(frozen=True)
class Archive:
    """An archive whose manifest was read."""

    path: Path
    manifest: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its files."""
        return tuple(self.manifest["files"])

    def read(self, name: str) -> bytes:
        """Return one file, after its size and hash were found to be as the manifest says."""
        told = self.manifest["files"].get(name)
        if told is None:
            raise FormatError(f"expected {name} in the archive, found none", at=str(self.path))
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(name) as file:
                if told["bytes"] > max(SMALL, DENSEST * archive.getinfo(name).compress_size):
                    what = f"expected {name} as an archive has it, found {DENSEST} times its size when unpacked"
                    raise FormatError(what, at=str(self.path))
                data = file.read(told["bytes"] + 1)
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, EOFError, NotImplementedError) as error:
            raise FormatError(f"expected {name} in the archive, found: {error}", at=str(self.path)) from error
        if hashlib.sha256(data).hexdigest() != told["sha256"]:
            what = f"expected {name} as the manifest describes it, found other bytes"
            raise FormatError(what, at=str(self.path), remedy="get the archive again")
        return data

    def lines(self, name: str) -> list[str]:
        """Return the lines of one file."""
        try:
            return self.read(name).decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise FormatError(f"expected {name} in UTF-8, found: {error}", at=str(self.path)) from error

    def hashes(self) -> dict[str, str]:
        """Return document → SHA-256 of its text, as it was judged."""
        try:
            found = {str(line["doc"]): str(line["sha256"]) for line in map(json.loads, self.lines("documents.jsonl"))}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"expected documents.jsonl with 'doc' and 'sha256' in every line, found: {error}"
            raise FormatError(what, at=str(self.path)) from error
        return found


def open_archive(path: str | Path) -> Archive:
    """Return an archive, after its manifest was read."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(MANIFEST) as file:
            manifest = json.loads(file.read(2**26))
        known = manifest["focuseval"] == KIND and _is_list_of_files(manifest["files"])
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile, RuntimeError, EOFError) as error:
        raise FormatError(f"expected an archive of a collection, found: {error}", at=str(path)) from error
    if not known or manifest.get("version") != VERSION:
        raise FormatError(
            "expected an archive of a collection, found another kind, a newer version, or no list of its files",
            at=str(path),
        )
    return Archive(Path(path), manifest)


def _is_list_of_files(files: object) -> bool:
    """Whether a manifest's list is one: names with sizes and hashes, and together no more than we unpack."""
    if not isinstance(files, dict) or not all(isinstance(told, dict) for told in files.values()):
        return False
    sizes = [told.get("bytes") for told in files.values()]
    whole = all(type(size) is int and size >= 0 for size in sizes) and sum(sizes) <= LARGEST
    return whole and all(isinstance(told.get("sha256"), str) for told in files.values())


def archive_gold(path: str | Path, *, index: Index | None = None) -> Gold:
    """Return the gold of an archive; with a collection, after its texts were found to be those that were judged."""
    archive = open_archive(path)
    if index is not None:
        _refuse_other_texts(archive, index)
    graded = bool(archive.manifest.get("exhaustivity"))
    wanted, inside = ("inex-2005", "gold/inex-2005/") if graded else ("gold-jsonl", "gold/gold.jsonl")
    with tempfile.TemporaryDirectory() as scratch:
        members = [name for name in archive.names if name.startswith(inside)]
        for name in members:
            (Path(scratch) / _plain(name)).write_bytes(archive.read(name))
        source = Path(scratch) if graded else Path(scratch) / "gold.jsonl"
        with named_after(archive, scratch):
            gold = read_gold(source, format=wanted, index=index)
        return replace(gold, file=str(path))


@contextmanager
def named_after(archive: Archive, scratch: str) -> Iterator[None]:
    """Let errors in the block name the archive, not the folder into which a part of it was written."""
    try:
        yield
    except FormatError as error:
        raise FormatError(str(error).replace(f"{scratch}/", f"{archive.path}: ")) from error


def changed_documents(archive: Archive, index: Index) -> list[str]:
    """Return the documents whose text in a collection is not the one of the archive, or that it does not have."""
    told = archive.hashes()
    rows = index.find(list(told))
    found = {name: int(row) for name, row in zip(told, rows.tolist(), strict=True) if row >= 0}
    return [name for name in told if name not in found or _sha256(index.text(found[name])) != told[name]]


def topics_of(archive: Archive, folder: Path) -> Path:
    """Write the topics of an archive into a folder, and return where."""
    names = [name for name in archive.names if name.startswith("topics")]
    if not names:
        raise AssessError(f"{archive.path}: expected topics in the archive, found none")
    if len(names) == 1 and "/" not in names[0]:
        target = folder / f"topics{Path(names[0]).suffix}"
        target.write_bytes(archive.read(names[0]))
        return target
    target = folder / "topics"
    target.mkdir()
    for name in names:
        (target / _plain(name)).write_bytes(archive.read(name))
    return target


def _plain(name: str) -> str:
    """Return the last part of a member's name, which is a file's and never a path."""
    last = name.rpartition("/")[2]
    if not re.fullmatch(r"\w[\w.-]*", last):
        raise FormatError(f"expected a plain file name in the archive, found {name!r}")
    return last


def _refuse_other_texts(archive: Archive, index: Index) -> None:
    other = changed_documents(archive, index)
    if other:
        more = f" ({len(other)} documents differ)" if len(other) > 1 else ""
        what = f"{archive.path}: expected the texts that were judged, found another one of {other[0]!r}{more}"
        raise NotComparableError(f"{what}; give the collection of the archive")


def _sha256(text: str) -> str:
    return Document("", text).sha256
