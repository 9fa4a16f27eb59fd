"""The whole loop on the embedded example: copy, index, check, score, compare, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from focuseval.example.demo.steps import Loop, Section

NEXT = (
    "focuseval topics topics.xml",
    "focuseval validate runs/thorough/careful.xml --task focused --index articles.idx",
    "focuseval score gold/gold.jsonl runs/focused/*.xml --task focused -m nxCG@10 -m MAiP --index articles.idx",
    "focuseval report gold/gold.jsonl runs/focused/*.xml --task focused --index articles.idx -o focused.html",
    "focuseval convert runs/focused/careful.xml careful.jsonl --to run-jsonl --index articles.idx",
)
"""Commands to try in the demonstration's folder."""

OWN = (
    "focuseval index FOLDER -o my.idx",
    "focuseval retrieve my.idx topics.tsv -o elements.xml",
    "focuseval pool elements.xml --depth 20 -o pool.jsonl",
    "focuseval assess judging --index my.idx --topics topics.tsv --pool pool.jsonl",
    "focuseval report judging elements.xml --index my.idx --task focused -o report.html",
)
"""The same with a folder of one's own; docs/howto/first-run.md explains each."""


def run_demo(folder: Path, show: Callable[[Section], None]) -> Path:
    """Put the example into a folder, go through every step, show each section, and return the report's path."""
    from focuseval.collection.build import build_index  # noqa: PLC0415  help must not wait for it
    from focuseval.example import copy_example  # noqa: PLC0415  the same
    from focuseval.example.demo.steps import Loop, walk  # noqa: PLC0415  the same

    copy_example(folder)
    build_index([folder / "articles"], folder / "articles.idx", jobs=1, force=True)
    loop, sections = Loop(folder), []
    for part in walk(loop):
        show(part)
        sections.append(part)
    write_loop(folder / "loop.html", sections)
    return write_report(folder / "report.html", loop)


def write_loop(path: Path, sections: list[Section]) -> None:
    """Write everything that was shown as one plain page."""
    from focuseval.example.demo.page import page  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.output import write_whole  # noqa: PLC0415  the same

    lead = "Seventeen articles on finding one's way at sea, six topics, and three systems of different quality."
    write_whole(path, [page("focuseval: the embedded example", lead, sections).encode()])


def write_report(path: Path, loop: Loop) -> Path:
    """Write the report on the runs in context, whose answers are parts of articles."""
    from focuseval.example.demo.steps import report  # noqa: PLC0415  help must not wait for it
    from focuseval.formats.output import write_whole  # noqa: PLC0415  the same

    write_whole(path, [report(loop).encode()])
    return path
