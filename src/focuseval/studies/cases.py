"""A little collection with known answers, on which a measure shows what it takes into account.

Article ``d`` has a section that is highlighted from end to end (two paragraphs of 100 characters) and paragraphs of 20
and 2,000 characters without relevance; ``e`` a paragraph of 10 characters, highlighted whole, and one without; ``h``
has 50 highlighted characters of 100, ``q`` 50 of 200; ``n`` is not relevant.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.collection.documents import in_memory
from focuseval.collection.parse import Raw, parse_documents
from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run

if TYPE_CHECKING:
    from focuseval.collection.index import Index

DOCUMENTS = {
    "d": f"<a><s><p>{'r' * 100}</p><p>{'r' * 100}</p></s><s><p>{'n' * 20}</p><p>{'n' * 2000}</p></s></a>",
    "e": f"<a><p>{'r' * 10}</p><p>{'n' * 300}</p></a>",
    "h": f"<a>{'r' * 50}{'n' * 50}</a>",
    "q": f"<a>{'r' * 50}{'n' * 150}</a>",
    "n": f"<a><p>{'n' * 20}</p><p>{'n' * 2000}</p></a>",
}
SECTION, ARTICLE = ("d", "/a[1]/s[1]"), ("d", "/a[1]")
PARAGRAPHS = (("d", "/a[1]/s[1]/p[1]"), ("d", "/a[1]/s[1]/p[2]"))
WRONG_BESIDE = (("d", "/a[1]/s[2]/p[1]"), ("d", "/a[1]/s[2]/p[2]"))
"""A small and a large paragraph without relevance in a relevant article."""
WRONG_ELSEWHERE = (("n", "/a[1]/p[1]"), ("n", "/a[1]/p[2]"))
"""The same in an article without relevance."""
WRONG_ARTICLE = ("n", "/a[1]")
SHORT, HALF, QUARTER = ("e", "/a[1]/p[1]"), ("h", "/a[1]"), ("q", "/a[1]")

_SPANS = ((0, 0, 200), (1, 0, 10), (2, 0, 50), (3, 0, 50))
_GRADES = {
    SECTION: (3, 3), PARAGRAPHS[0]: (3, 3), PARAGRAPHS[1]: (3, 3), ARTICLE: (3, 1),
    SHORT: (1, 3), ("e", "/a[1]"): (1, 1), HALF: (2, 2), QUARTER: (2, 1),
}  # fmt: skip


@cache
def collection() -> Index:
    """Return the articles as an index in memory."""
    block, _ = parse_documents([Raw(name, f"{name}.xml", source.encode()) for name, source in DOCUMENTS.items()])
    return in_memory([block] if block is not None else [], "the constructed cases")


def run_of(*results: tuple[str, str]) -> Run:
    """Return a run for the one topic, results as (document, path)."""
    documents, paths = ([r[i] for r in results] for i in range(2))
    rank = np.arange(1, len(results) + 1, dtype=np.int32)
    return Run(
        run_id="case",
        topics=("1",),
        topic=np.zeros(len(results), np.int32),
        document=pa.array(documents, pa.string()),
        rank=rank,
        path=pa.array(paths, pa.string()),
        task="thorough",
    )


@cache
def gold(*, grades: bool) -> Gold:
    """Return what is relevant: as highlights with entry points, or as grades of elements (with the same highlights)."""
    document, start, end = (np.array(column) for column in zip(*_SPANS, strict=True))
    zeros = np.zeros(len(_SPANS), np.int32)
    return Gold(
        topics=("1",),
        documents=pa.array(list(DOCUMENTS)),
        articles=Articles(
            topic=np.zeros(5, np.int32),
            document=np.arange(5, dtype=np.int32),
            relevance=np.array([1, 1, 1, 1, 0], np.int32),
            length=np.asarray(collection().lengths),
            rsize=np.array([200, 10, 50, 50, 0]),
            bep=np.array([0, 0, 0, 0, UNKNOWN]),
        ),
        passages=Passages(zeros, document.astype(np.int32), start, end, end - start),
        elements=_elements(_GRADES if grades else {}),
        scale="grades" if grades else "highlights",
        file="the constructed cases",
    )


def _elements(grades: dict[tuple[str, str], tuple[int, int]]) -> GradedElements:
    unknown = np.full(len(grades), UNKNOWN, np.int64)
    e, s = (np.array([pair[i] for pair in grades.values()], np.int8) for i in range(2))
    return GradedElements(
        topic=np.zeros(len(grades), np.int32),
        document=np.array([list(DOCUMENTS).index(name) for name, _ in grades], np.int32),
        path=pa.array([path for _, path in grades], pa.string()).dictionary_encode(),
        exhaustivity=e,
        specificity=s,
        size=unknown,
        rsize=unknown,
    )
