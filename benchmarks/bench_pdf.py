"""Pages a second of an index of PDFs, as a ratio to bare pypdfium2 text extraction of the same file.

Both read a file of PAGES pages that reportlab sets in two columns (1,000 by default). The floor opens every page, asks
PDFium for its text and closes it; ours starts its process, has it read the same pages, asks for the box of every
character, finds lines, blocks and running heads, and returns the columns of an index.

Then 1, 4 and 16 copies of a file of a fifth of the pages are indexed, each time by a new process with one job: the
ratio of the memory that it and the process of PDFium need at most to that of one copy (Linux). It grows up to a batch.
"""

import argparse
import io
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pypdfium2
from reportlab.pdfgen.canvas import Canvas

from focuseval.collection.parse import Raw, parse_documents


def article(pages: int) -> bytes:
    chance, target = random.Random(7), io.BytesIO()
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 10))) for _ in range(5000)]
    canvas = Canvas(target)
    for page in range(pages):
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(72, 815, f"A report on tides, page {page}")
        for column in (60, 310):
            for line in range(56):
                canvas.drawString(column, 780 - 13 * line, " ".join(chance.choices(words, k=7)))
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def bare(data: bytes) -> int:
    document, characters = pypdfium2.PdfDocument(data), 0
    for page in document:
        text = page.get_textpage()
        characters += len(text.get_text_range())
        text.close()
        page.close()
    return characters


def ours(data: bytes) -> int:
    block, _ = parse_documents([Raw("a", "a.pdf", data, ".pdf")])
    return int(block.batch.column("length")[0].as_py())


MEASURED = """
import re, sys
from pathlib import Path
from focuseval import build_index
from focuseval.collection import pdfium
build_index(sys.argv[1], sys.argv[2], jobs=1)
of = ("self", pdfium._child[0].pid)
print(sum(int(re.search(r"VmHWM:\\s*(\\d+)", Path(f"/proc/{one}/status").read_text())[1]) for one in of) // 1024)
"""


def memory(data: bytes, copies: int) -> tuple[int, int]:
    """Return the megabytes that indexing so many copies takes at most, and the size of the index."""
    with tempfile.TemporaryDirectory() as folder:
        docs, target = Path(folder) / "docs", Path(folder) / "docs.idx"
        docs.mkdir()
        for number in range(copies):
            (docs / f"{number}.pdf").write_bytes(data)
        command = [sys.executable, "-c", MEASURED, str(docs), str(target)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return int(printed), sum(file.stat().st_size for file in target.iterdir())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="?", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    data = article(given.pages)
    print(f"{given.pages:,} pages, {len(data) / 1e6:.1f} MB; the best of {given.rounds}, taken in turns")
    best = {}
    for _ in range(given.rounds):
        for name, reads in (("bare pypdfium2", bare), ("an index", ours)):
            begin = time.perf_counter()
            characters = reads(data)
            best[name] = min(best.get(name, (9e9, 0)), (time.perf_counter() - begin, characters))
    for name, (seconds, characters) in best.items():
        print(f"{name:15} {seconds:6.2f} s  {given.pages / seconds:6.0f} pages/s  {characters:,} characters")
    print(f"ratio {best['bare pypdfium2'][0] / best['an index'][0]:.2f}")
    data, first = article(max(1, given.pages // 5)), 0
    for copies in (1, 4, 16):
        most, size = memory(data, copies)
        first = first or most
        files = f"{copies:2} files of {len(data) / 1e6:.1f} MB"
        times = f"index {size / copies / len(data):.1f} × the PDFs"
        print(f"{files}: memory {most} MB, ratio to one file {most / first:.2f}; {times}")


if __name__ == "__main__":
    main()
