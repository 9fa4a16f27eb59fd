"""PDFs that somebody made to do harm are refused in one line, or read, within bounds of time and memory."""

import re
import zlib
from functools import partial
from itertools import accumulate

import pytest

from focuseval import build_index, open_index
from focuseval.collection import pdfium
from focuseval.collection.pdf import read_pdf
from focuseval.errors import CollectionError
from pdfs import paragraph, pdf

PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
TEXT = b"BT /F 12 Tf 72 700 Td (Still here.) Tj ET"


def stream(data, more=b""):
    packed = zlib.compress(data, 1)
    head = b"<< /Length %d /Filter /FlateDecode %s >>" % (len(packed), more)
    return head + b"\nstream\n" + packed + b"\nendstream"


def raw(*objects, size=None):
    """Return a PDF of these objects, the first of which is its catalogue."""
    parts = [b"%PDF-1.7\n", *(b"%d 0 obj\n%s\nendobj\n" % numbered for numbered in enumerate(objects, 1))]
    *places, begin = accumulate(map(len, parts))
    count = size or len(objects) + 1
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, begin)
    return b"".join([*parts, head, table, end])


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"


def deep(levels):
    """Return page trees that stand in each other."""
    kids = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 6) for number in range(levels)]
    return raw(CATALOG, b"<< /Type /Pages /Kids [6 0 R] /Count 1 >>", PAGE, stream(TEXT), FONT, *kids, PAGE)


def bomb(size):
    return raw(CATALOG, PAGES, PAGE, stream(b" " * size + TEXT), FONT)


IMAGE = b"/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
RUNNING = b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while(1);) >> /AA 6 0 R /Names 7 0 R >>"
EMBEDDED = b"<< /EmbeddedFiles << /Names [(a.exe) 8 0 R] >> /JavaScript << /Names [(x) 6 0 R] >> >>"
SELF = b" /Resources << /XObject << /X 6 0 R >> >>"
HOSTILE = {
    "deep trees": partial(deep, 20_000),
    "a loop": raw(CATALOG, b"<< /Type /Pages /Kids [2 0 R 3 0 R 2 0 R] /Count 1 >>", PAGE, stream(TEXT), FONT),
    "a page that is its parent": raw(CATALOG, b"<< /Type /Pages /Kids [2 0 R] /Parent 2 0 R /Count 1 >>"),
    "many pages said": raw(CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>", PAGE, stream(TEXT), FONT),
    "a huge image": raw(
        CATALOG,
        PAGES,
        PAGE.replace(b"/Font", b"/XObject << /I 6 0 R >> /Font"),
        stream(b"q 600 0 0 700 0 0 cm /I Do Q " + TEXT),
        FONT,
        stream(b"\0" * 1000, IMAGE),
    ),
    "JavaScript and embedded files": raw(
        RUNNING, PAGES, PAGE, stream(TEXT), FONT, b"<< /S /JavaScript /JS (while(1);) >>", EMBEDDED,
        b"<< /Type /Filespec /EF << /F 4 0 R >> >>",
    ),
    "ten million objects said": raw(CATALOG, PAGES, PAGE, stream(TEXT), FONT, size=10_000_000),
    "a stream of 100 MB": partial(bomb, 100_000_000),
    "a form that draws itself": raw(
        CATALOG,
        PAGES,
        PAGE.replace(b"/Font", b"/XObject << /X 6 0 R >> /Font"),
        stream(b"/X Do " + TEXT),
        FONT,
        stream(b"/X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]" + SELF),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_read_or_refused_and_the_next_is_read(name, monkeypatch):
    monkeypatch.setattr(pdfium, "SECONDS", 2.0)
    try:
        content = HOSTILE[name]
        found = read_pdf(content if isinstance(content, bytes) else content(), "bad.pdf").text
    except CollectionError as error:
        found = str(error)
    assert re.fullmatch(r"(Still here\.)?|bad\.pdf: [^\n]+", found)
    assert read_pdf(pdf(paragraph("A good one.")), "good.pdf").text == "A good one."


def test_a_reader_that_takes_too_long_is_ended_and_the_next_file_is_read(monkeypatch):
    pdfium._end()
    monkeypatch.setattr(pdfium, "SECONDS", 0.2)
    monkeypatch.setattr(pdfium, "_CODE", "import time; time.sleep(600)")
    with pytest.raises(CollectionError, match=r"a\.pdf: refused: it took more than 0 seconds"):
        read_pdf(pdf(paragraph("x")), "a.pdf")
    assert not pdfium._child
    monkeypatch.undo()
    assert read_pdf(pdf(paragraph("A good one.")), "good.pdf").text == "A good one."


def test_a_reader_that_crashes_is_one_line(monkeypatch):
    pdfium._end()
    monkeypatch.setattr(pdfium, "_CODE", "import os; os.abort()")
    with pytest.raises(CollectionError, match="ended the PDF reader"):
        read_pdf(pdf(paragraph("x")), "a.pdf")
    monkeypatch.undo()
    assert read_pdf(pdf(paragraph("A good one.")), "good.pdf").text == "A good one."


def test_a_file_that_needs_too_much_memory_is_refused(monkeypatch):
    pdfium._end()
    monkeypatch.setattr(pdfium, "MEMORY", 1 << 30)
    with pytest.raises(CollectionError, match=r"a\.pdf: refused: .*memory"):
        read_pdf(bomb(500_000_000), "a.pdf")
    pdfium._end()


def test_too_many_pages_or_characters_are_refused(monkeypatch):
    data = pdf(paragraph("one"), paragraph("two"))
    monkeypatch.setattr(pdfium, "MAX_CHARACTERS", 1)
    with pytest.raises(CollectionError, match="more than 1 characters"):
        read_pdf(data, "a.pdf")
    monkeypatch.setattr(pdfium, "MAX_PAGES", 1)
    with pytest.raises(CollectionError, match="2 pages, where up to 1 are read"):
        read_pdf(data, "a.pdf")


def test_a_bad_file_is_left_out_of_an_index_that_keeps_going(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.pdf").write_bytes(b"%PDF-1.7 nothing")
    (tmp_path / "docs/b.pdf").write_bytes(pdf(paragraph("A good one.")))
    built = build_index(tmp_path / "docs", tmp_path / "x.idx", jobs=1, keep_going=True)
    assert len(built.report.failures) == 1
    assert open_index(tmp_path / "x.idx").text(0) == "A good one."
