"""A ready list of units for people who bring their own scores: embeddings, a reranker, a language model.

::

    units = fe.units(index, unit="passage:100/50")
    vectors = model.encode(units.texts())
    run = units.run({topic.id: vectors @ model.encode(topic.title) for topic in topics}, task="focused")
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.chunks import span_texts
from focuseval.engine.lazy import cached_property
from focuseval.errors import FormatError
from focuseval.retrieval.lists import Places, as_run, places, task_list
from focuseval.retrieval.retrieving import default_run_id, settings_for
from focuseval.retrieval.settings import asked_unit
from focuseval.retrieval.store import open_words
from focuseval.retrieval.unit_sets import unit_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.index import Index
    from focuseval.data.run import Run
    from focuseval.retrieval.settings import RetrievalSettings
    from focuseval.retrieval.unit_sets import UnitSet


@dataclass(frozen=True, eq=False)
class UnitList:
    """All units of a collection that may be returned, in its order; every column has an entry for each."""

    source: UnitSet
    settings: RetrievalSettings

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self._rows)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.source.returnable)

    @cached_property
    def _places(self) -> Places:
        return places(self.source, self._rows)

    @property
    def document(self) -> pa.Array:
        """Ids of the documents."""
        return self._places.document

    @property
    def path(self) -> pa.Array | None:
        """Paths of elements; None where all are passages or plain texts."""
        return self._places.path

    @property
    def start(self) -> NDArray[np.int64]:
        """First code points in the documents."""
        return self._places.start

    @property
    def end(self) -> NDArray[np.int64]:
        """Past the last code points."""
        return self._places.end

    @property
    def words(self) -> NDArray[np.int64]:
        """How many words count in each."""
        return self.source.length[self._rows].astype(np.int64)

    def texts(self) -> list[str]:
        """Return the texts of all units."""
        index, document = self.source.words.index, self.source.document(self._rows)
        return list(span_texts(index, document, self.start, self.end))

    def run(self, scores: Mapping[str, ArrayLike], run_id: str | None = None, **options: Any) -> Run:
        """Return a run from scores: for every topic a number for each unit, NaN where it must not be returned.

        Parameters
        ----------
        scores
            By topic id. The best units are listed as the task wants them, whatever the scores' signs.
        options
            ``task`` and ``limit``.

        >>> from focuseval import open_documents
        >>> every = units(open_documents({"a": "Tides.", "b": "Ships."}), unit="document")
        >>> every.run({"1": [0.2, 0.9]}).document.to_pylist()
        ['b', 'a']
        """
        settings = replace(self.settings, **options).resolved()
        lists = {}
        for topic, given in scores.items():
            score = np.asarray(given, np.float64)
            if score.shape != (len(self),):
                what = f"expected {len(self):,} scores for topic {topic!r}, found an array of shape {score.shape}"
                raise FormatError(what, remedy="give one for each unit, in their order")
            there = ~np.isnan(score)
            lists[topic] = task_list(self.source, self._rows[there], score[there], settings.rules, settings.limit)
        described = f"own scores {settings.unit} task={settings.rules.name} limit={settings.limit}"
        return as_run(self.source, lists, settings, run_id or default_run_id(settings, "own"), described)


def units(
    index: Index, unit: str | None = None, *, chunks: Chunks | None = None, jobs: int = 1, **options: Any
) -> UnitList:
    """Return the units of a collection: elements, documents, passages or chunks, each with its place and text.

    The options are those of `retrieve` that say what may be returned: ``tags``, ``min_words``, ``language``.
    """
    settings = settings_for(index, {"unit": asked_unit(unit, chunks), **options}).resolved()
    words = open_words(index, settings.language, jobs)
    return UnitList(unit_set(words, settings, chunks), replace(settings, task=options.get("task")))
