"""What a chunking allows: the scores when exactly the chunks that hold relevant text are retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.spans import overlapping, union
from focuseval.measures.matching.documents import document_codes
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.spans import Read
from focuseval.measures.topicwise import count_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched

    Integers = NDArray[np.int64]


def ceiling(m: Matched, M: str) -> NDArray[np.float64]:
    """Return `M` of the union of all chunks that hold highlighted text; touching is not holding."""
    seen = best_read(m)
    return {"spanP": seen.precision, "spanR": seen.recall, "spanF": seen.f, "IoU": seen.iou}[M]()


def best_read(m: Matched, near: int = 0) -> Read:
    """Return what is read when exactly the chunks that hold highlighted text are retrieved.

    With ``near=1`` the chunks that only touch highlighted text are retrieved, too.
    """
    name = f"best read, near {near}"
    if name not in m.made:
        m.made[name] = _best_read(m, near)
    found: Read = m.made[name]
    return found


def _best_read(m: Matched, near: int) -> Read:
    prepared, chunks = m.prepared, chunks_of(m)
    highlights = prepared.highlights
    document = prepared.same[prepared.gold.articles.document[highlights.group]]
    mark, chunk = overlapping((document, np.maximum(highlights.start - near, 0), highlights.end + near), chunks)
    shown = union(highlights.group[mark], chunks[1][chunk], chunks[2][chunk])
    topic, relevant = prepared.topic[shown.group], highlights.covered(shown.group, shown.start, shown.end)
    size = count_by(shown.end - shown.start, topic, m.topics)
    return Read(size, count_by(relevant, topic, m.topics), prepared.trel_of_topic)


def chunks_of(m: Matched) -> tuple[Integers, Integers, Integers]:
    """Return document codes and spans of the chunks: the chunker's when they are given, else those of the run."""
    if m.chunks is not None:
        ids, start, end = m.chunks.document, m.chunks.start, m.chunks.end
    elif m.run.start is not None and m.run.end is not None:
        ids, start, end = m.run.document, m.run.start, m.run.end  # of all topics, counted or not
    else:
        ids, start, end = m.column(m.run.document), m.start, m.end
    codes = document_codes(ids, m.prepared)
    known = codes >= 0
    return codes[known], start[known], end[known]


MEASURES = (
    Measure(
        "ceiling",
        ceiling,
        "What the chunking allows: a measure of exactly the chunks that hold highlighted text.",
        "focuseval",
        needs=("spans",),
        parameters=(
            Parameter(
                "M", "spanF", "Which measure of spans.", ("spanP", "spanR", "spanF", "IoU"), always=True, bare=True
            ),
        ),
        formula=r"ceiling(M) = M(\{c : c \cap H \ne \emptyset\})",
        example="Gold [90,110), chunks [0,100) and [100,200): both are retrieved, ceiling(spanP) = 20/200 = 0.1.",
        perfect=False,
        tasks=("spans",),
        topicwise=False,
    ),
)
"""The chunking's own limits: a reference, not a bound."""
