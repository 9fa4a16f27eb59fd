"""Reading runs and golds from whole files, whatever their format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from focuseval.errors import FormatError
from focuseval.formats import detection
from focuseval.formats.catalogue import detect_source, find_format
from focuseval.formats.source import open_source, open_sources
from focuseval.placing.golds import place_gold, refuse_past_end
from focuseval.placing.runs import place_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from focuseval.collection.index import Collection
    from focuseval.data.gold import Gold
    from focuseval.data.run import Run
    from focuseval.formats.catalogue import Faults, Format
    from focuseval.formats.source import Source

    Documents = Collection | str | Path | Mapping[str, str]
    """What may be given as documents: an index, a folder or a file of documents, or a mapping from ids to texts."""


def read_run(
    path: str | Path | Source,
    format: str | None = None,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    docs: Documents | None = None,
    hashed: bool = True,
    faults: Faults = "refuse",
) -> Run:
    """Return the run in a file (``-``: standard input).

    Documents (`docs`: a folder, a file, an index, a mapping from ids to texts; or an open `index`) resolve its paths
    and texts to spans. With ``hashed=False`` its `sha256` stays empty. With ``faults="keep"`` scores that are no finite
    numbers, and documents that a TREC run repeats, are not refused: the run's `faults` say why no measure can be
    computed, and a score that is no finite number ranks last.
    """
    index = index if docs is None else _opened(docs)
    source = open_source(path, hashed=hashed)
    chosen = find_format(format, "run") if format else detect_source(source, "run")
    run: Run = chosen.reader(index, faults)(source)
    return run if index is None else place_run(run, index)


def read_gold(
    path: str | Path | Source,
    format: str | None = None,  # noqa: A002  the field's word
    index: Collection | None = None,
    *,
    docs: Documents | None = None,
) -> Gold:
    """Return the gold in a file, a folder of files, or standard input.

    Documents (`docs`: a folder, a file, an index, a mapping from ids to texts; or an open `index`) resolve its paths
    and check its quotes.
    """
    index = index if docs is None else _opened(docs)
    sources = open_sources(path)
    chosen = find_format(format, "gold") if format else one_format(sources)
    return placed_gold(chosen.reader(index)(sources), index)


def _opened(docs: Documents) -> Collection:
    if hasattr(docs, "lengths"):  # a collection, open already
        return cast("Collection", docs)
    from focuseval.formats.embedded import open_documents  # noqa: PLC0415  loads every kind of collection

    return open_documents(cast("Any", docs))


def placed_gold(gold: Gold, index: Collection | None) -> Gold:
    """Return a gold in its collection; without one a quoted span past its document's end cannot be put right."""
    if index is not None:
        return place_gold(gold, index)
    if gold.passages.quote is not None:
        refuse_past_end(gold)
    return gold


def one_format(sources: Sequence[Source]) -> Format:
    """Return the format that all files of a gold share; assessments without any judged element fit every year."""
    formats = [detect_source(source, "gold") for source in sources]
    unjudged = [detection.unjudged(source.head()) for source in sources]
    judged = [known for known, empty in zip(formats, unjudged, strict=True) if not empty]
    chosen = (judged or formats)[0]
    for source, other, empty in zip(sources, formats, unjudged, strict=True):
        if other != chosen and not (chosen.by_topic and empty):
            raise FormatError(
                f"expected one format in the folder, {chosen.name}, found {other.name}",
                at=source.name,
                remedy="keep golds of different formats in different folders",
            )
    return chosen
