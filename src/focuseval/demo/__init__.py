"""The whole loop on the embedded example: copy, index, check, score, compare, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from focuseval.demo.section import Section

NEXT = (
    "focuseval topics topics.xml",
    "focuseval validate runs/thorough/careful.xml --task focused --index articles.idx",
    "focuseval score gold/gold.jsonl runs/focused/*.xml --task focused -m nxCG@10 -m MAiP --index articles.idx",
    "focuseval convert runs/focused/careful.xml careful.jsonl --to run-jsonl --index articles.idx",
)
"""Commands to try in the demonstration's folder."""


def run_demo(folder: Path, show: Callable[[Section], None]) -> Path:
    """Put the example into a folder, go through every step, show each section, and return the report's path."""
    from focuseval.collection import build_index  # noqa: PLC0415  help must not wait for it
    from focuseval.demo.steps import Loop, walk  # noqa: PLC0415  the same
    from focuseval.example import copy_example  # noqa: PLC0415  the same

    copy_example(folder)
    build_index([folder / "articles"], folder / "articles.idx", jobs=1, force=True)
    sections = []
    for part in walk(Loop(folder)):
        show(part)
        sections.append(part)
    return write_report(folder / "report.html", sections)


def write_report(path: Path, sections: list[Section]) -> Path:
    """Write the sections as one HTML file; the only place that knows what a report is made by."""
    from focuseval.demo.page import page  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.output import write_whole  # noqa: PLC0415  the same

    lead = "Seventeen articles on finding one's way at sea, six topics, and three systems of different quality."
    write_whole(path, [page("focuseval: the embedded example", lead, sections).encode()])
    return path
