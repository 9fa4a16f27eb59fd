"""From what was read to what a format can say: exact where it can be, with an index where that helps, else refused.

`lossy` turns a refusal into a conversion that leaves things out, and the remarks say what and how many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import FormatError
from focuseval.formats.facets import MINOR, named, places, run_facets
from focuseval.formats.ranking import by_score_and_document, rows_of
from focuseval.placing import place_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.placement import Placement
    from focuseval.data.run import Run
    from focuseval.formats.format import Format

_TRANSLATED = frozenset({"element", "range", "passage", "text", "document"})
"""Places whose offsets the collection tells."""
_PLACED = frozenset({"element", "range", "passage", "span", "point", "text", "unknown"})


def convert_run(
    run: Run, to: Format, index: Collection | None = None, *, lossy: bool = False
) -> tuple[Run, tuple[str, ...]]:
    """Return the run as `to` can say it, and remarks on what changed."""
    remarks: list[str] = []
    run = _with_documents(run, index, remarks, lossy=lossy)
    facets = run_facets(run)
    unsaid = facets.keys() - to.says
    if unsaid & _TRANSLATED and "span" in to.says:
        run = _as_spans(run, to, index, remarks)
        facets = run_facets(run)
        unsaid = facets.keys() - to.says
    if unsaid & _PLACED and "document" in to.says and lossy:
        run = _as_documents(run, remarks)
        unsaid = run_facets(run).keys() - to.says
    if unsaid - MINOR:
        raise _unsayable(run, to, {facet: facets[facet] for facet in facets if facet in unsaid - MINOR}, lossy=lossy)
    if unsaid & MINOR:
        remarks.append(f"left out: {named({facet: facets[facet] for facet in facets if facet in unsaid})}")
    run = _ranked_by_score(run, remarks, lossy=lossy) if to.name == "trec-run" else _ranked_by_rank(run, remarks)
    return run, tuple(remarks)


def _with_documents(run: Run, index: Collection | None, remarks: list[str], *, lossy: bool) -> Run:
    """Return the run with the documents of texts that came without one; those that have none cannot be written."""
    if run.text is None or index is None or not len(run.nameless):
        return run
    run = place_run(run, index)
    lost = run.nameless
    if len(lost) and not lossy:
        raise FormatError(
            f"expected texts of one document each, found {len(lost)} in none or in several",
            at=run.at(int(lost[0])),
            remedy="--lossy leaves them out",
        )
    if len(lost):
        remarks.append(f"left out: {len(lost)} texts that are in none of the documents or in several")
    return run.take(np.setdiff1d(np.arange(len(run)), lost))


def _as_spans(run: Run, to: Format, index: Collection | None, remarks: list[str]) -> Run:
    """Return the run with spans in place of paths, texts and whole documents; every one of them must be found."""
    if index is None:
        raise FormatError(
            f"expected offsets, found {named({k: v for k, v in run_facets(run).items() if k in _TRANSLATED})}",
            at=run.file or None,
            remedy=f"{to.name} says offsets: give the collection with --index INDEX or --docs DOCS",
        )
    kinds = places(run)
    run = place_run(run, index)
    if run.placement is not None and run.placement.alignment is not None:
        remarks.append(run.placement.alignment.summary())
    run = _whole(run, run.placement) if run.whole_documents and run.placement is not None else run
    lost = np.flatnonzero((_start(run) < 0) & (kinds != "unknown"))
    if len(lost):
        row = int(lost[0])
        path = None if run.path is None else run.path[row].as_py()
        what = f"{path!r} of " if path is not None else "the text of a chunk of " if run.text is not None else ""
        raise FormatError(
            f"expected a place in the index, found {what}document {run.document[row].as_py()!r}"
            f" ({len(lost)} results have none)",
            at=run.at(row),
            remedy="is it the same collection?",
        )
    return replace(run, path=None, end_path=None, text=None)


def _whole(run: Run, placement: Placement) -> Run:
    """Return a run of whole documents with the span of each, none where the index does not have it."""
    return replace(run, start=np.where(placement.document < 0, -1, 0), end=placement.length)


def _start(run: Run) -> NDArray[np.int64]:
    return np.full(len(run), -1, np.int64) if run.start is None else run.start


def _as_documents(run: Run, remarks: list[str]) -> Run:
    """Return the run of the documents alone, each at its first rank."""
    code = _codes(run.document)
    pair = run.topic * (code.max(initial=0) + 1) + code
    first = np.sort(np.unique(pair, return_index=True)[1])
    dropped = {facet: count for facet, count in run_facets(run).items() if facet in _PLACED}
    remarks.append(f"left out: {named(dropped)}; {len(run) - len(first)} results of documents returned before")
    kept = {name: rows_of(getattr(run, name), first) for name in ("topic", "document", "rank", "score")}
    line = first + 1 if run.line is None else run.line[first]
    nothing: dict[str, Any] = dict.fromkeys(("start", "end", "path", "end_path", "text", "chunk"))
    return replace(run, **kept, **nothing, line=line)


def _codes(documents: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """Return a number for every id, equal for equal ids."""
    encoded = pc.dictionary_encode(documents)
    chunks = encoded.unify_dictionaries().chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    codes = [chunk.indices.to_numpy(zero_copy_only=False).astype(np.int64) for chunk in chunks]
    return np.concatenate([np.zeros(0, np.int64), *codes])


def _ranked_by_score(run: Run, remarks: list[str], *, lossy: bool) -> Run:
    """Return the run with scores that put it in its own order under trec_eval's rule."""
    column = run.document if isinstance(run.document, pa.ChunkedArray) else pa.chunked_array([run.document])
    if run.score is None:
        remarks.append("the run has no scores: 1/rank is written")
    elif by_score_and_document(run.topic, run.score, column.cast(pa.string())) is not None:
        if not lossy:
            raise FormatError(
                "expected scores that agree with the ranking, as TREC runs are ranked by score alone",
                at=run.file or None,
                remedy="--lossy writes 1/rank in their place",
            )
        remarks.append("left out: scores that contradict the ranking; 1/rank is written")
        run = replace(run, score=None)
    return run


def _ranked_by_rank(run: Run, remarks: list[str]) -> Run:
    """Return the run with ranks that keep its order where ranks decide."""
    if run.rank is None or len(run) < 2:
        return run
    falls = (run.topic[1:] == run.topic[:-1]) & (run.rank[1:] < run.rank[:-1])
    if not falls.any():
        return run
    remarks.append("the ranks contradict the order by score: the results are numbered again")
    return replace(run, rank=(np.arange(len(run)) - run.bounds[run.topic] + 1).astype(np.int32))


def _unsayable(run: Run, to: Format, unsaid: dict[str, int], *, lossy: bool) -> FormatError:
    """Return the refusal: what the target cannot express, and what can be done about it."""
    remedy = "--lossy leaves them out" if "document" in to.says and not lossy else "choose another format"
    return FormatError(f"{to.name} cannot express {named(unsaid)}", at=run.file or None, remedy=remedy)
