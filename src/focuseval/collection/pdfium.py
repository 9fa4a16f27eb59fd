"""PDFium, in a process of its own that can be ended: characters with boxes, pictures of pages, highlight annotations.

A PDF may come from anybody, and PDFium is a large program in C++. So it never runs in the process that indexes or
serves: a child is started once, is sent a file and a question, and answers in messages of JSON and arrays, never in
objects. It may use `MEMORY` bytes, and `SECONDS` for a file and `SECONDS_PER_MB` more for its size; then it is ended,
and the next file gets a new one. JavaScript, embedded files, links and forms are never looked at.

Coordinates are those that a reader sees: points from the upper left corner of the page as it is shown, after its crop
box and its rotation; x to the right, y downwards.
"""

from __future__ import annotations

import atexit
import ctypes
import io
import json
import os
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.engine import native
from focuseval.errors import CollectionError

Box = tuple[float, float, float, float]
MEMORY = 4 << 30  # bytes that the process may use, its program included
SECONDS = 60.0
SECONDS_PER_MB = 3.0  # time for one question about a file: a thousand pages of a megabyte take a few seconds
MAX_PAGES = 20_000
MAX_CHARACTERS = 50_000_000  # a file with more is refused
MAX_PIXELS = 16_000_000  # of a page's picture; a larger one is made smaller

_LENGTHS = struct.Struct("<QQ")
_REMEDY = "mend the file, or index the others with keep_going=True"


@dataclass(frozen=True, eq=False)
class PageCharacters:
    """A page as it was drawn: its size as it is seen, and its characters in PDFium's order."""

    width: float
    height: float
    rotation: int  # degrees clockwise by which the file says to turn it; boxes are of the turned page
    code: NDArray[np.uint32]  # code points; 2 is a hyphen at the end of a line
    box: NDArray[np.float32]  # a row per character: left, top, right, bottom
    flags: NDArray[np.uint8]
    """1 where PDFium put the character in (a space, a line end), 2 for a hyphen at the end of a line."""


@dataclass(frozen=True)
class Highlight:
    """A highlight annotation: its page (counted from 1), its boxes, what was noted, and by whom."""

    page: int
    boxes: tuple[Box, ...]
    note: str = ""
    author: str = ""


def read_characters(data: bytes, file: str) -> Iterator[PageCharacters]:
    """Yield the pages of a file, one after the other."""
    for header, payload in _ask(file, data, do="read"):
        count = header["count"]
        code = np.frombuffer(payload, np.uint32, count)
        box = np.frombuffer(payload, np.float32, 4 * count, 4 * count).reshape(-1, 4)
        flags = np.frombuffer(payload, np.uint8, count, 20 * count)
        yield PageCharacters(header["width"], header["height"], header["rotation"], code, box, flags)


def draw_page(data: bytes, file: str, page: int, scale: float) -> bytes:
    """Return the picture of a page (counted from 1) as PNG, `scale` pixels a point."""
    ((_, payload),) = _ask(file, data, do="draw", page=page, scale=scale)
    return payload


def read_highlights(data: bytes, file: str) -> list[Highlight]:
    """Return the highlight annotations of a file, in the order of its pages."""
    found = (header for header, _ in _ask(file, data, do="highlights"))
    return [Highlight(**header | {"boxes": tuple(map(tuple, header["boxes"]))}) for header in found]


def write_highlights(data: bytes, file: str, marks: Sequence[Highlight]) -> bytes:
    """Return a copy of a file with highlight annotations added to it."""
    ((_, payload),) = _ask(file, data, do="annotate", marks=[vars(mark) for mark in marks])
    return payload


# In the process that asks.

_CODE = ""  # what a test wants the process to do first
_lock = threading.Lock()
_child: list[subprocess.Popen[bytes]] = []


def _started() -> subprocess.Popen[bytes]:
    if not _child or _child[0].poll() is not None:
        paths = os.pathsep.join(path for path in sys.path if path)
        command = [sys.executable, "-W", "ignore", "-c", f"{_CODE}\nfrom {__name__} import answer; answer()"]
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": paths}
        _child[:] = [subprocess.Popen(command, env=os.environ | one, pipesize=1 << 20, **streams)]  # noqa: S603  our own
    return _child[0]


@atexit.register
def _end() -> None:
    """End the process; the next question starts another one."""
    while _child:
        child = _child.pop()
        child.kill()
        for stream in (child.stdin, child.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # both are pipes
        child.wait()


def _ask(file: str, data: bytes, **question: Any) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Send a file and a question, and yield the answers; whatever goes wrong is one line, and ends the process."""
    with _lock:
        child, begun = _started(), monotonic()
        seconds = SECONDS + SECONDS_PER_MB * len(data) / 1e6
        timer = threading.Timer(seconds, child.kill)
        timer.daemon = True
        timer.start()
        whole = False
        try:
            _send(child.stdin, question | {"limits": [MAX_PAGES, MAX_CHARACTERS, MEMORY]}, data)
            while "done" not in (answer := _received(child.stdout))[0]:
                if "error" in answer[0]:
                    whole = True
                    raise CollectionError(answer[0]["error"], at=file, remedy=_REMEDY)
                yield answer
            whole = True
        except (OSError, EOFError, ValueError):
            late = monotonic() >= begun + seconds
            why = f"it took more than {seconds:.0f} seconds" if late else "reading it ended the PDF reader"
            what = f"refused: {why}, which may use {MEMORY >> 30} GB of memory"
            raise CollectionError(what, at=file, remedy=_REMEDY) from None
        finally:
            timer.cancel()
            if not whole:
                _end()


def _send(stream: Any, header: dict[str, Any], payload: bytes = b"") -> None:
    content = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(content), len(payload)) + content)
    stream.write(payload)
    stream.flush()


def _received(stream: Any) -> tuple[dict[str, Any], bytes]:
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        raise EOFError
    header, payload = _LENGTHS.unpack(lengths)
    content = stream.read(header + payload)
    if len(content) < header + payload:
        raise EOFError
    return json.loads(content[:header]), content[header:]


# In the process that can be ended.


def answer() -> None:
    """Answer questions from the standard input until it ends."""
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    import pypdfium2 as pdfium  # noqa: PLC0415  only this process reads PDFs

    answers: dict[str, Callable[..., Iterator[Any]]]
    answers = {"read": _pages, "draw": _drawn, "highlights": _highlights, "annotate": _annotated}
    while True:
        try:
            question, data = _received(source)
        except EOFError:
            return
        most_pages, most_characters, memory = question.pop("limits")
        with suppress(ImportError, ValueError, OSError):  # not on every system, and no limit can be raised again
            import resource  # noqa: PLC0415  as above

            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        try:
            document = pdfium.PdfDocument(data)
            if not 0 < len(document) <= most_pages:
                what = f"refused: {len(document):,} pages, where up to {most_pages:,} are read"
                raise ValueError(what)  # noqa: TRY301  one handler for what PDFium and we refuse
            for header, payload in answers[question.pop("do")](pdfium.raw, document, most_characters, **question):
                _send(target, header, payload)
            _send(target, {"done": True})
            document.close()
        except pdfium.PdfiumError as error:
            locked = "password" in str(error).lower()
            found = "one that needs a password" if locked else f"a broken one ({str(error).rstrip('.')})"
            _send(target, {"error": f"expected a PDF, found {found}"})
        except (ValueError, MemoryError) as error:
            _send(target, {"error": str(error) or "refused: not enough memory"})


@contextmanager
def _opened(raw: Any, document: Any, number: int) -> Iterator[tuple[Any, Callable[..., NDArray[np.float32]]]]:
    """Give a page and a function from boxes of the file (left, bottom, right, top) to those that are seen."""
    page = document[number]
    rect = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, rect)
    frame = rect.left, rect.bottom, rect.right, rect.top
    try:
        yield page, partial(seen, frame=frame, turns=page.get_rotation() // 90)
    finally:
        page.close()


def seen(box: NDArray[np.float32], frame: Box, turns: int, *, back: bool = False) -> NDArray[np.float32]:
    """Turn boxes (left, bottom, right, top) of a file into those of the page in view, from the top, or back.

    >>> seen(np.array([[10, 20, 30, 25]]), (0, 0, 100, 200), 0).tolist()
    [[10.0, 175.0, 30.0, 180.0]]
    """
    left, bottom, right, top = frame
    sides, signs, origin = (  # which side becomes the left, the top …, whether it counts backwards, and from where
        ([0, 3, 2, 1], [1, -1], [-left, top]),
        ([1, 0, 3, 2], [1, 1], [-bottom, -left]),
        ([2, 1, 0, 3], [-1, 1], [right, -bottom]),
        ([3, 2, 1, 0], [-1, -1], [top, right]),
    )[turns % 4]
    sign, begin = np.array(2 * signs, np.float32), np.array(2 * origin, np.float32)
    return ((box - begin) * sign)[:, sides] if back else box[:, sides] * sign + begin


def _pages(raw: Any, document: Any, most: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    names = ("FPDFText_GetUnicode", "FPDFText_GetLooseCharBox", "FPDFText_IsGenerated", "FPDFText_IsHyphen")
    functions = np.array([ctypes.cast(getattr(raw, name), ctypes.c_void_p).value for name in names], np.uint64)
    library, total = native.library(), 0
    for number in range(len(document)):
        with _opened(raw, document, number) as (page, view):
            text = page.get_textpage()
            count = max(0, raw.FPDFText_CountChars(text))
            total += count
            if total > most:
                raise ValueError(f"refused: more than {most:,} characters")
            code, box, flags = np.empty(count, np.uint32), np.empty((count, 4), np.float32), np.empty(count, np.uint8)
            if library is not None:
                where = (functions.ctypes.data, code.ctypes.data, box.ctypes.data, flags.ctypes.data)
                library.pdf_characters(ctypes.cast(text.raw, ctypes.c_void_p).value, count, *where)
            else:
                rect = raw.FS_RECTF()
                for i in range(count):
                    code[i] = raw.FPDFText_GetUnicode(text, i)
                    found = raw.FPDFText_GetLooseCharBox(text, i, rect)
                    box[i] = (rect.left, rect.top, rect.right, rect.bottom) if found else 0
                    flags[i] = (raw.FPDFText_IsGenerated(text, i) == 1) + 2 * (raw.FPDFText_IsHyphen(text, i) == 1)
            text.close()
            width, height = page.get_size()
            header = {"count": count, "width": width, "height": height, "rotation": page.get_rotation()}
            boxes = np.ascontiguousarray(view(box[:, [0, 3, 2, 1]]), np.float32)
            yield header, code.tobytes() + boxes.tobytes() + flags.tobytes()


def _drawn(raw: Any, document: Any, _: int, page: int, scale: float) -> Iterator[tuple[dict[str, Any], bytes]]:
    with _opened(raw, document, page - 1) as (opened, _view):
        width, height = opened.get_size()
        scale = min(scale, (MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        picture = opened.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=False).to_numpy()
        yield {}, png(picture[..., :3])


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a picture (rows × columns × red, green, blue) as PNG."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", body) + part(b"IEND", b"")


def _highlights(raw: Any, document: Any, _: int) -> Iterator[tuple[dict[str, Any], bytes]]:
    for number in range(len(document)):
        with _opened(raw, document, number) as (page, view):
            for which in range(raw.FPDFPage_GetAnnotCount(page)):
                mark = raw.FPDFPage_GetAnnot(page, which)
                if mark and raw.FPDFAnnot_GetSubtype(mark) == raw.FPDF_ANNOT_HIGHLIGHT:
                    quads, quad = [], raw.FS_QUADPOINTSF()
                    for place in range(raw.FPDFAnnot_CountAttachmentPoints(mark)):
                        raw.FPDFAnnot_GetAttachmentPoints(mark, place, quad)
                        xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
                        quads.append((min(xs), min(ys), max(xs), max(ys)))
                    if not quads:
                        rect = raw.FS_RECTF()
                        raw.FPDFAnnot_GetRect(mark, rect)
                        quads = [(rect.left, rect.bottom, rect.right, rect.top)]
                    boxes = view(np.array(quads, np.float32)).tolist()
                    words = {name: _string(raw, mark, key) for name, key in (("note", b"Contents"), ("author", b"T"))}
                    yield {"page": number + 1, "boxes": boxes, **words}, b""
                raw.FPDFPage_CloseAnnot(mark)


def _string(raw: Any, mark: Any, key: bytes) -> str:
    size = raw.FPDFAnnot_GetStringValue(mark, key, None, 0)
    room = ctypes.create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(mark, key, ctypes.cast(room, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return room.raw.decode("utf-16-le", "replace").rstrip("\0")


def _annotated(raw: Any, document: Any, _: int, marks: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bytes]]:
    for mark in marks:
        if not 1 <= mark["page"] <= len(document):
            raise ValueError(f"expected a page from 1 to {len(document)}, found {mark['page']}")
        with _opened(raw, document, mark["page"] - 1) as (page, view):
            boxes = view(np.array(mark["boxes"], np.float32).reshape(-1, 4), back=True)
            made = raw.FPDFPage_CreateAnnot(page, raw.FPDF_ANNOT_HIGHLIGHT)
            around = raw.FS_RECTF(boxes[:, 0].min(), boxes[:, 3].max(), boxes[:, 2].max(), boxes[:, 1].min())
            raw.FPDFAnnot_SetRect(made, around)
            raw.FPDFAnnot_SetColor(made, raw.FPDFANNOT_COLORTYPE_Color, 255, 221, 0, 255)
            for left, bottom, right, top in boxes.tolist():
                quad = raw.FS_QUADPOINTSF(left, top, right, top, left, bottom, right, bottom)
                raw.FPDFAnnot_AppendAttachmentPoints(made, quad)
            for key, text in ((b"Contents", mark["note"]), (b"T", mark["author"])):
                content = (text + "\0").encode("utf-16-le")
                buffer = ctypes.create_string_buffer(content, len(content))
                raw.FPDFAnnot_SetStringValue(made, key, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)))
            raw.FPDFPage_CloseAnnot(made)
    saved = io.BytesIO()
    document.save(saved)
    yield {}, saved.getvalue()
