"""What ``focuseval index`` says: how far it is, and what was indexed and what not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from focuseval.cli.watching import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from focuseval.collection.build import Built
    from focuseval.collection.parse import ParseReport


@contextmanager
def shown(sources: Sequence[Path]) -> Iterator[Callable[[ParseReport], None] | None]:
    """Give a function that moves a bar on a terminal; None elsewhere."""
    with watched("indexing", in_bytes=True) as move:
        if move is None:
            yield None
            return
        total = total_bytes(sources)
        yield lambda report: move(report.bytes, total, f"{report.documents:,} documents")


def total_bytes(sources: Sequence[Path]) -> int | None:
    """Return the bytes of all files under directories; None where an archive hides them."""
    if not all(source.is_dir() for source in sources):
        return None
    return sum(path.stat().st_size for source in sources for path in source.rglob("*") if path.is_file())


def summary(built: Built, target: Path) -> str:
    """Return what was indexed and what was not, a line each."""
    report = built.report
    lines = [
        f"{target}: {report.documents:,} documents, {built.elements:,} elements, {report.bytes / 1e6:,.1f} MB",
        *report.failures,
    ]
    if report.failures:
        lines.append(f"warning: {len(report.failures):,} unreadable documents were left out")
    if built.passed_over:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in built.passed_over.most_common(5))
        lines.append(f"passed over {sum(built.passed_over.values()):,} files that are no documents: {kinds}")
    if report.lenient:
        lines.append(f"{report.lenient:,} documents are HTML or no well-formed XML, and were read leniently")
    if report.named:
        lines.append(
            f"{report.named:,} entities of DTDs that were not read were replaced by the characters of that name"
        )
    if report.left_out:
        names = ", ".join(f"&{name}; ({count:,})" for name, count in report.left_out.most_common(5))
        lines.append(f"warning: {report.left_out.total():,} references to unread entities were left out: {names}")
    return "\n".join(lines)
