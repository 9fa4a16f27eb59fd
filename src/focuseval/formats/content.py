"""Files as bytes: opened, decompressed and hashed without their byte-order mark, and written whole or not at all.

Files are read, not mapped: another program may rewrite or cut off a file while it is parsed. Large ones are hashed by a
second thread meanwhile.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from focuseval.engine.lazy import cached_property
from focuseval.engine.storage import Location, in_order, is_url, local_path, location, unpacked, unpacked_blocks
from focuseval.errors import FormatError, Place

BOM = b"\xef\xbb\xbf"
PARQUET, ZIP = b"PAR1", b"PK\x03\x04"  # how files of Parquet and of Excel begin
_PANDAS = re.compile(
    rb'\s*\{\s*"(?:columns"\s*:\s*\[|schema"\s*:\s*\{\s*"fields"|0"\s*:\s*\{|(?:[^"\\]|\\.)*"\s*:\s*\{\s*"0"\s*:)'
)
"""How JSON of pandas begins, and other JSON may."""
_METADATA = re.compile(rb"#[ \t]*ir_metadata\.start\s*\n(?:#.*\n)*?#[ \t]*ir_metadata\.end[ \t\r]*\n")
_LOOK, _HEAD = 1 << 10, 1 << 16
_LARGE = 1 << 24
_LONG_LINE = 1 << 24
"""Bytes that no line of a run or gold in lines has: to cut it into fields takes fifty times as much memory."""
_EXISTS = "choose another name, or replace it with force=True"


class Source:
    """The content of one file, by the name that the user gave it; a file is read when somebody needs it.

    `data` is all of it, and `blocks` yields it without keeping it: decompressed, without byte-order mark, and as JSON
    lines where it is a table of another program.
    """

    def __init__(self, name: str, raw: bytes = b"", *, path: Location | None = None, hashed: bool = True) -> None:
        """Take the bytes of a file; or its path, by which they are read later."""
        self.name, self._path, self._sha256 = name, path, None if hashed else ""
        self._state, self._thread = hashlib.sha256(), threading.Thread()
        if path is None:
            self.data = self._content(raw)

    @cached_property
    def data(self) -> bytes:
        """The whole content."""
        with _readable(self.name):
            raw = b"" if self._path is None else self._path.read_bytes()
        return self._content(raw)

    def _content(self, raw: bytes) -> bytes:
        """Return what the bytes of a file hold; they are hashed, many of them by a second thread meanwhile."""
        data = unpacked(raw, self.name)
        if self._sha256 is None:
            self._thread = threading.Thread(target=self._state.update, args=(data,))
            (self._thread.run if len(data) < _LARGE else self._thread.start)()
        data = without_preamble(data)
        if not _is_table(data):
            return data
        from focuseval.formats import sheets  # noqa: PLC0415  few files are such tables

        return sheets.as_lines(bytes(data), self.name) if data[:1] == b"P" else sheets.pandas_lines(bytes(data))

    def blocks(self) -> Iterator[bytes]:
        """Yield the content, some of it at a time; tables in Excel, and those of pandas, at once."""
        if self._path is None or "data" in vars(self):
            yield self.data
            return
        with _readable(self.name), self._path.open("rb") as file:
            if file.read(4) == PARQUET:
                from focuseval.formats import sheets  # noqa: PLC0415  few files are such tables

                yield from sheets.parquet_blocks(file, self.name)
                return
            file.seek(0)
            state = hashlib.sha256()
            for number, block in enumerate(unpacked_blocks(file, self._path.stat().st_size, self.name)):
                text = block if number else without_preamble(block)
                if not number and _is_table(text):
                    yield self.data
                    return
                yield text
                state.update(block)
            self._sha256 = state.hexdigest() if self._sha256 is None else self._sha256

    def digest(self) -> str:
        """Return the content's SHA-256, waiting for it if need be; nothing where nobody asked for it."""
        if self._sha256 is None:
            if self._path is not None and "data" not in vars(self):  # read in blocks, as far as it was read
                with _readable(self.name), self._path.open("rb") as file:
                    for block in unpacked_blocks(file, self._path.stat().st_size, self.name):
                        self._state.update(block)
            elif self._thread.is_alive():
                self._thread.join()
            self._sha256 = self._state.hexdigest()
        return self._sha256

    @property
    def stem(self) -> str:
        """The file's name without folder and endings: the name of a run that has none of its own."""
        return location(self.name).name.split(".")[0]

    def at(self, line: int | None = None, column: int | None = None) -> Place:
        """Return a place in this file."""
        return Place(self.name, line, column)

    def line_of(self, offset: int) -> int:
        """Return the line (from 1) that holds the byte at `offset`."""
        return self.data[:offset].count(b"\n") + 1

    def head(self) -> bytes:
        """Return the first bytes, enough to tell formats apart."""
        head = b""
        for block in self.blocks():
            head += block[:_HEAD]
            if len(head) >= _HEAD:
                break
        return head[:_HEAD]


def without_preamble(data: bytes) -> bytes:
    r"""Return the beginning of a file without byte-order mark, and with empty lines for comments of ir_metadata.

    >>> without_preamble(b"# ir_metadata.start\n# tag: x\n# ir_metadata.end\n301 Q0 d 1 9 r\n")
    b'\n\n\n301 Q0 d 1 9 r\n'
    """
    data = data[len(BOM) :] if data[:3] == BOM else data
    found = _METADATA.match(data)
    return data if found is None else b"\n" * data.count(b"\n", 0, found.end()) + data[found.end() :]


def _is_table(data: bytes) -> bool:
    """Say whether content begins as Parquet, Excel or pandas do."""
    return data[:4] in (PARQUET, ZIP) or _PANDAS.match(data[:_LOOK]) is not None


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn what the system says of a file that cannot be read into one line."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        what = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise FormatError(what, at=name, remedy="check the name and the permissions") from error


def open_source(path: str | Location | Source, *, hashed: bool = True) -> Source:
    """Return the content of one file; ``-`` is standard input, and what was opened before is returned as it is.

    Its hash is left empty where nobody asks for it (`hashed`): a campaign of runs is read a tenth faster.
    """
    if isinstance(path, Source):
        return path
    name = "<stdin>" if str(path) == "-" else shown(path)
    with _readable(name):
        place = None if name == "<stdin>" else location(path)
        if place is not None and place.is_file():
            return Source(name, path=place, hashed=hashed)
        raw = sys.stdin.buffer.read() if place is None else place.read_bytes()
    return source_of(raw, name, hashed=hashed)


def shown(path: str | Location) -> str:
    r"""Return a file's name as it is shown and written: what of it is not UTF-8 is spelt out.

    >>> shown("caf\udce9.txt")
    'caf\\xe9.txt'
    """
    return os.fsencode(str(path)).decode("utf-8", "backslashreplace")


def source_of(raw: bytes, name: str = "<memory>", *, hashed: bool = True) -> Source:
    """Return a source made of given bytes: decompressed, without byte-order mark; a large one is hashed beside."""
    return Source(name, raw, hashed=hashed)


def open_sources(path: str | Path | Source) -> tuple[Source, ...]:
    """Return a file's content, or that of every file in a folder, in the order of their names."""
    if isinstance(path, Source):
        return (path,)
    folder = location(path)
    if str(path) == "-" or not folder.is_dir():
        return (open_source(path),)
    inner = folder / "qrels" if (folder / "qrels").is_dir() else folder  # of BEIR, beside corpus and queries
    files = [file for file in in_order(inner.rglob("*")) if file.is_file() and not file.name.startswith(".")]
    if inner != folder:  # the judgements that are used for testing, or the only ones
        files = [file for file in files if file.name.split(".")[0] == "test"] or files
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise FormatError(f"expected one file of judgements, found {names}", at=str(inner), remedy="name one")
    if not files:
        what = "expected assessment files, found an empty folder"
        raise FormatError(what, at=str(path), remedy="name the folder that holds them")
    return tuple(open_source(file) for file in files)


def refuse_binary(source: Source) -> None:
    """Raise at the first NUL byte, and at a line that is longer than any text format has one."""
    for start in range(0, len(source.data) - _LONG_LINE + 1, _LONG_LINE):  # a line of twice the length fills one
        if source.data.find(b"\n", start, start + _LONG_LINE) < 0:
            what = f"expected lines, found {_LONG_LINE >> 20} MB without an end of line"
            raise FormatError(what, at=source.at(source.line_of(start)), remedy="the file is damaged or binary")
    at = source.data.find(b"\0")
    if at >= 0:
        utf16 = source.data[:2] in {b"\xff\xfe", b"\xfe\xff"}
        remedy = "save it as UTF-8" if utf16 else "the file is damaged or binary"
        raise FormatError("expected text, found a NUL byte", at=source.at(source.line_of(at)), remedy=remedy)


def write_whole(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write pieces to a temporary sibling and move it into place; ``-`` is standard output.

    Everything is produced before standard output sees its first byte, so that a refusal leaves it empty too.
    """
    if str(path) == "-":
        sys.stdout.buffer.write(b"".join(pieces))
        sys.stdout.buffer.flush()
        return
    if is_url(path):
        _write_remote(str(path), {"": pieces})
        return
    with _written(path, "make room, or choose another place"):
        _write(local_path(path), pieces)


def write_folder(path: str | Path, files: Mapping[str, Iterable[bytes]], *, replace: bool = False) -> None:
    """Write several files into a new folder that appears whole, or not at all; an empty folder may be there.

    With `replace` it takes the place of a folder that holds nothing but XML files, or PDFs.
    """
    if is_url(path):
        _write_remote(str(path), files, replace=replace)
        return
    target = local_path(path)
    if target.is_dir() and any(target.iterdir()):
        held = target.iterdir()
        other = next((file for file in held if file.suffix not in {".xml", ".pdf"} or not file.is_file()), None)
        if not replace:
            raise FormatError("exists already", at=str(target), remedy=_EXISTS)
        if other is not None:
            what = f"expected a folder of assessments, found {other.name!r} in it"
            raise FormatError(what, at=str(target), remedy="choose another name")
    with (
        _written(path, "name a folder that does not exist or is empty, where there is room"),
        tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch,
    ):
        fresh = Path(scratch) / target.name
        fresh.mkdir()
        for name, pieces in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            _write(fresh / name, pieces)
        if target.is_dir():
            target.rename(Path(scratch) / "before")  # it goes with the scratch
        fresh.replace(target)


def _write_remote(url: str, files: Mapping[str, Iterable[bytes]], *, replace: bool = True) -> None:
    """Write a file, or the files of a folder, to object storage; the content of all is made before the first."""
    target = location(url)
    if not replace and target.is_dir():
        raise FormatError("exists already", at=url, remedy=_EXISTS)
    contents = {name: b"".join(pieces) for name, pieces in files.items()}
    with _written(url, "choose another place, or try again"):
        for name, content in contents.items():
            (target / name if name else target).write_bytes(content)


@contextmanager
def _written(path: str | Path, remedy: str) -> Iterator[None]:
    """Turn what the system says of a failed write into one line that names what the user named."""
    try:
        yield
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", at=str(path), remedy=remedy) from error


def _write(target: Path, pieces: Iterable[bytes]) -> None:
    """Write one file, by way of a sibling; a device or a pipe, which nothing may take the place of, directly.

    A link stays one: the file that it leads to is written.
    """
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as file:
            file.writelines(pieces)
        return
    if target.is_symlink():
        target = Path(os.path.realpath(target))
        if target.is_symlink():  # it leads back to itself
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)  # it can only be read by setting it
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
