"""The film of the README: the walk through the report that `make demo` writes, as an animated WebP.

    make film

Chromium takes every picture as WebP; the container of an animation is written here, so that nothing else is needed.
"""

import base64
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from browser import start_driver
from focuseval.example import ROOT
from focuseval.example.demo import CHUNK_MEASURES, CHUNKINGS, HANDBOOK, Loop
from focuseval.report.page import render_html
from report.walking import walk

FILM = Path(__file__).parents[1] / "docs" / "images" / "report-walk.webp"
SIZE = (1120, 700)
QUALITY = 55
MILLISECONDS = {"verdict": 2600, "topics": 1800, "lists": 2800, "text": 2600, "cut": 2400, "pair": 2600, "again": 2600}
"""How long each step of the walk is shown."""


def chunks(webp: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and content of every chunk of a WebP file."""
    at = 12
    while at < len(webp):
        name, size = webp[at : at + 4], struct.unpack("<I", webp[at + 4 : at + 8])[0]
        yield name, webp[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


def chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk: name, size, content, and a byte of padding where the size is odd."""
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def three(number: int) -> bytes:
    """Return a number in three bytes."""
    return struct.pack("<I", number)[:3]


def animated(pictures: list[tuple[bytes, int]], size: tuple[int, int]) -> bytes:
    """Return an animation without end of WebP pictures, each with its milliseconds."""
    width, height = (three(side - 1) for side in size)
    body = chunk(b"VP8X", bytes([0b10, 0, 0, 0]) + width + height) + chunk(b"ANIM", b"\xff" * 4 + struct.pack("<H", 0))
    for picture, milliseconds in pictures:
        image = b"".join(chunk(name, content) for name, content in chunks(picture) if name in (b"VP8 ", b"VP8L"))
        body += chunk(b"ANMF", three(0) * 2 + width + height + three(milliseconds) + b"\0" + image)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def report_page() -> tuple[str, str]:
    """Return the report that the demo writes, and the name of the last run in it."""
    return render_html(Loop(ROOT).sweep.report(HANDBOOK)), CHUNKINGS[-1]


def film() -> bytes:
    """Walk through a report and return the film of it."""
    page, last = report_page()
    driver = start_driver()
    try:
        browser = driver.browser()
        browser.size(*SIZE)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            path.write_text(page, encoding="utf-8")
            pictures = []
            for step in walk(browser, path.as_uri(), last, CHUNK_MEASURES[-1]):
                browser.run(
                    "return new Promise((done) => setTimeout(done, 700))"
                )  # graphs are drawn when they are in view
                shot = browser.cdp("Page.captureScreenshot", format="webp", quality=QUALITY)["data"]
                pictures.append((base64.b64decode(shot), MILLISECONDS[step]))
        browser.close()
    finally:
        driver.close()
    return animated(pictures, SIZE)


if __name__ == "__main__":
    FILM.write_bytes(film())
    print(f"{FILM}: {FILM.stat().st_size / 1e6:.2f} MB")
