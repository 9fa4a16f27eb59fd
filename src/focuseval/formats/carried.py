"""Golds that carry their documents, and the check of every quote against them.

SQuAD, Qasper and Natural Questions hold the texts that their answers point into, and so does KILT's knowledge source.
`carried_documents` gives them, for checking or for another file; `documents_at` opens them, for ``--docs``;
`check_quotes` says of every span whether it is where it was said to be.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.align import SIMILARITY, align_gold, align_run, as_documents
from focuseval.collection import open_documents
from focuseval.collection.json_lines import json_files
from focuseval.errors import FormatError
from focuseval.formats import detect_source, find_format, sniff_spans
from focuseval.formats.output import write_whole
from focuseval.formats.source import open_source, open_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from focuseval.align import Alignment, Documents
    from focuseval.collection import Index
    from focuseval.formats.format import Format
    from focuseval.gold import Gold
    from focuseval.run import Run


def carried_documents(path: str | Path, format: str | None = None) -> dict[str, str]:  # noqa: A002  the field's word
    """Return the texts that a gold file (or KILT's knowledge source) carries, by document id."""
    sources = open_sources(path)
    chosen = _format(path, format)
    carried = getattr(import_module(chosen.module), "carried", None)
    if carried is None:
        raise FormatError(f"expected a format that carries its documents, found {chosen.name}", at=str(path))
    return dict(carried(sources))


def documents_at(path: str | Path | Mapping[str, str]) -> Index:
    """Open documents as `focuseval.open_documents` does; a file that carries documents of its own will do, too."""
    place = None if isinstance(path, Mapping) else Path(path)
    if place is not None and place.is_file() and json_files(place):
        source = open_source(place)
        chosen = next((name for name, sniff in _CARRIERS.items() if sniff(source.head())), None)
        if chosen is not None:
            return open_documents(carried_documents(place, chosen))
    return open_documents(path)


_CARRIERS = {
    "squad": sniff_spans.squad,
    "qasper": sniff_spans.qasper,
    "kilt": sniff_spans.knowledge_source,
    "natural-questions": sniff_spans.natural_questions,
}
"""Formats of files that carry documents, and how such a file is told."""


def write_documents(documents: Mapping[str, str], path: str | Path) -> None:
    """Write texts as JSON lines of ``{"id", "text"}``, which ``--docs`` takes; whole or not at all."""
    lines = (json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n" for name, text in documents.items())
    write_whole(path, (line.encode("utf-8", "replace") for line in lines))


def check_quotes(
    path: str | Path,
    documents: Documents | Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  the field's word
    similarity: float = SIMILARITY,
) -> tuple[Gold, Alignment]:
    """Return a gold with every quote verified or repaired, and what was found.

    Without `documents` the file must carry its own.
    """
    sources, chosen = open_sources(path), _format(path, format)
    module = import_module(chosen.module)
    texts = carried_documents(path, chosen.name) if documents is None else documents
    read = getattr(module, "read_quotes", None)
    gold: Gold = read(sources) if read else chosen.reader(as_documents(texts))(sources)
    return align_gold(gold, texts, similarity=similarity)


def all_repairs(
    gold: str | Path,
    runs: Sequence[str | Path],
    documents: Documents | Mapping[str, str] | None,
    *,
    gold_format: str | None = None,
    run_format: str | None = None,
) -> pa.Table:
    """Return one table of every span that was moved, respelt, ambiguous or lost, in the gold and in the runs."""
    import pyarrow as pa  # noqa: PLC0415  only those who ask for the table wait for Arrow

    quotes = check_quotes(gold, documents, format=gold_format)[1].repairs()
    texts = carried_documents(gold, gold_format) if documents is None else documents
    return pa.concat_tables([quotes, *(run_repairs(path, texts, format=run_format) for path in runs)])


def run_repairs(
    path: str | Path,
    documents: Documents | Mapping[str, str],
    *,
    format: str | None = None,  # noqa: A002  the field's word
) -> pa.Table:
    """Return the chunks of a run whose texts are not word for word where they were said to be."""
    source = open_source(path)
    chosen = find_format(format, "run") if format else detect_source(source, "run")
    run: Run = chosen.reader(as_documents(documents))(source)
    found = align_run(run, documents)[1].repairs()
    return found if run.text is not None else found.slice(0, 0)


def write_repairs(table: pa.Table, path: str | Path) -> None:
    """Write a table of repairs as CSV, or as JSON lines where the name ends in ``.jsonl``; whole or not at all."""
    write_whole(path, _json_lines(table) if str(path).endswith(".jsonl") else _csv(table))


def _json_lines(table: pa.Table) -> Iterator[bytes]:
    for row in table.to_pylist():
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _csv(table: pa.Table) -> Iterator[bytes]:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    yield out.getvalue().encode("utf-8", "replace")


def _format(path: str | Path, name: str | None) -> Format:
    return find_format(name, "gold") if name else detect_source(open_sources(path)[0], "gold")
