"""What ``focuseval index`` says: how far it is, and what was indexed and what not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from focuseval.cli.watching import watched
from focuseval.engine.storage import location
from focuseval.errors import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from focuseval.collection.build import Built
    from focuseval.collection.parse import ParseReport


@contextmanager
def shown(sources: Sequence[str]) -> Iterator[Callable[[ParseReport], None] | None]:
    """Give a function that moves a bar on a terminal; None elsewhere."""
    with watched("indexing", in_bytes=True) as move:
        if move is None:
            yield None
            return
        total = total_bytes(sources)
        yield lambda report: move(report.bytes, total, f"{report.documents:,} documents")


def total_bytes(sources: Sequence[str]) -> int | None:
    """Return the bytes of all files under directories; None where an archive hides them."""
    folders = [location(source) for source in sources]
    if not all(folder.is_dir() for folder in folders):
        return None
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def summary(built: Built, target: str) -> str:
    """Return what was indexed and what was not, a line each."""
    report = built.report
    held = f"{counted(report.documents, 'document')}, {counted(built.elements, 'element')}"
    lines = [
        f"{target}: {held}, {report.bytes / 1e6:,.1f} MB",
        *report.failures,
    ]
    if built.reused:
        lines.append(f"kept from the interrupted build: {counted(built.reused, 'document')}")
    if report.failures:
        lines.append(f"warning: left out {counted(len(report.failures), 'unreadable document')}")
    if built.passed_over:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in built.passed_over.most_common(5))
        lines.append(f"skipped, not documents: {counted(built.passed_over.total(), 'file')} ({kinds})")
    if report.lenient:
        lines.append(f"read leniently, being HTML or no well-formed XML: {counted(report.lenient, 'document')}")
    if report.named:
        lines.append(
            "replaced by the character of that name, of DTDs that were not read: "
            + counted(report.named, "entity", "entities")
        )
    if report.left_out:
        names = ", ".join(f"&{name}; ({count:,})" for name, count in report.left_out.most_common(5))
        lines.append(f"warning: left out {counted(report.left_out.total(), 'reference')} to unread entities: {names}")
    return "\n".join(lines)
