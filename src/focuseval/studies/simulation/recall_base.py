"""Runs made of the recall base: all of it, its ideal part, the ideal part upside down, its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.data.run import Run
from focuseval.measures.recall_base import assessed_elements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.measures.matching.prepared import Prepared
    from focuseval.measures.recall_base import RecallBase

TASKS = {"full": "thorough", "ideal": "focused", "reversed": "focused", "leaves": "focused"}


def recall_base_run(prepared: Prepared, kind: str, quant: str = "auto", without: tuple[str, ...] = ()) -> Run:
    """Return the named run: elements in order of gain, best first (``reversed``: worst first).

    `without` are tags that are not in the recall base.
    """
    assessed = assessed_elements(prepared.gold, prepared.index, prepared.position)
    base = assessed.base(quant, without)
    rows = _chosen(base, kind)
    gain = base.gain[rows] * (-1 if kind == "reversed" else 1)
    rows = rows[np.lexsort((rows, -gain, base.topic[rows]))]
    topic = base.topic[rows]
    rank = (np.arange(len(rows)) - np.searchsorted(topic, topic) + 1).astype(np.int32)
    document = prepared.gold.articles.document[base.article[rows]]
    path = assessed.elements.path.take(pa.array(base.source[rows]))
    return Run(
        run_id=kind,
        topics=prepared.topics,
        topic=topic.astype(np.int32),
        document=prepared.gold.documents.take(pa.array(document)),
        rank=rank,
        score=1.0 / rank,
        path=path,
        task=TASKS[kind],
    )


def _chosen(base: RecallBase, kind: str) -> NDArray[np.int64]:
    if kind == "full":
        return np.arange(len(base))
    if kind == "leaves":
        return np.flatnonzero(base.last == np.arange(len(base)) + 1)
    return base.ideal
