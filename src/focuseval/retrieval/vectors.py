"""Retrieval by meaning: units and queries as vectors, and an exact search for the nearest.

All questions are asked at once, a block of vectors at a time: memory holds a block and the best so far, so vectors may
be a file that is mapped, of 32-bit or 16-bit numbers. What the blocks find is scored again in 64 bits and rounded, so
that a list depends neither on the block nor on the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.chunks import Chunks, Embed, span_texts
from focuseval.errors import FormatError, UsageError, counted
from focuseval.measures.tasks import Task
from focuseval.retrieval.embedding import Embedder, Encoded, Matrix, embed, open_embedder
from focuseval.retrieval.lists import Listed, places, task_list
from focuseval.retrieval.units import Integers, UnitSet

BLOCK = 16_384  # vectors that are multiplied at a time
DECIMALS = 9
_NEITHER = (
    "expected an embedder, or vectors and query vectors, found neither; "
    "give --embedder http://HOST:PORT/v1#MODEL, or --vectors and --query-vectors"
)


@dataclass(frozen=True)
class VectorSettings:
    """Where vectors come from, and what is done to them; every field is an option of `focuseval.retrieve`."""

    embedder: Any = None  # a name as `open_embedder` reads it, a function from texts to vectors, or an `Embedder`
    model: str | None = None  # of a server, where the embedder's name does not say it
    key: str = field(default="", repr=False)  # sent to the server, and written nowhere
    query_prefix: str = ""
    passage_prefix: str = ""
    """What stands before the texts: ``query: `` and ``passage: `` for E5, say."""
    normalise: bool = True  # whether the cosine decides; else the inner product
    dimensions: int | None = None
    """The first so many numbers of a vector only, for models that are trained for it (Matryoshka)."""
    vectors: Any = None
    """Vectors that are there already: an array or a ``.npy`` file with a row for each chunk or unit, in their order."""
    query_vectors: Any = None  # the same for the topics, in their order
    vector_cache: str | Path | None = None  # where vectors of an embedder are kept

    @cached_property
    def model_of_texts(self) -> Embedder | None:
        """The embedder, opened."""
        return None if self.embedder is None else open_embedder(self.embedder, self.model, self.key)

    def embed(self, texts: Sequence[str], progress: Callable[..., None] | None = None) -> Encoded:
        """Return the vectors of texts."""
        if self.model_of_texts is None:
            raise UsageError(_NEITHER)
        cache = None if self.vector_cache is None else Path(self.vector_cache)
        return embed(texts, self.model_of_texts, cache, progress)

    def texts_to_vectors(self, progress: Callable[..., None] | None = None) -> Embed | None:
        """Return a function from texts to vectors, for whoever cuts by meaning; None without an embedder."""
        return None if self.model_of_texts is None else lambda texts: self.embed(texts, progress).vectors

    def check(self) -> None:
        """Refuse settings that give no vectors."""
        if self.embedder is None and (self.vectors is None or self.query_vectors is None):
            raise UsageError(_NEITHER)
        if self.dimensions is not None and self.dimensions < 1:
            raise UsageError(f"expected 1 dimension or more, found {self.dimensions}; give another number")
        _ = self.model_of_texts

    def description(self) -> str:
        """Return every setting, as a run names it.

        >>> VectorSettings("model2vec:potion", passage_prefix="passage: ", dimensions=256).description()
        "embedder=model2vec:potion passage_prefix='passage: ' dimensions=256 cosine"
        """
        model = self.model_of_texts
        shown = [f"embedder={model.name or 'a function'}"] if model is not None else []
        for name, value in (("vectors", self.vectors), ("query_vectors", self.query_vectors)):
            if value is not None:
                shown.append(f"{name}={Path(value).name if isinstance(value, (str, Path)) else 'an array'}")
        shown += [f"{name}={value!r}" for name in ("query_prefix", "passage_prefix") if (value := getattr(self, name))]
        shown += [f"dimensions={self.dimensions}"] if self.dimensions else []
        return " ".join([*shown, "cosine" if self.normalise else "inner product"])


VECTOR_OPTIONS = tuple(one.name for one in fields(VectorSettings))


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """Units of a collection as vectors."""

    units: UnitSet
    vectors: NDArray[Any]
    unit: Integers  # the unit of every vector, −1 where there is none to return
    settings: VectorSettings
    made: Encoded | None = None  # what the embedder gave, where the vectors were not there already

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of the topics."""
        how = self.settings
        if how.query_vectors is not None:
            found = _opened(how.query_vectors, "query vectors", len(texts), "topic")
        else:
            found = how.embed([how.query_prefix + text for text in texts]).vectors
        found = _truncated(found, how)
        if len(found) and found.shape[1] != self.vectors.shape[1]:
            sizes = f"{self.vectors.shape[1]} numbers, as the units' have, found {found.shape[1]}"
            raise FormatError(f"expected query vectors of {sizes}", remedy="give vectors of one model")
        return np.asarray(found, np.float32)

    def lists(self, queries: Matrix, task: Task, limit: int) -> list[Listed]:
        """Return the list of every query: the nearest units, as the task wants them."""
        overlaps = task.overlap and not task.one_per_article and not task.grouped
        many, waiting = limit if overlaps else 8 * limit, list(range(len(queries)))
        lists: dict[int, Listed] = {}
        while waiting:
            found = self.nearest(queries[waiting], many)
            for query, (unit, score) in zip(waiting, found, strict=True):
                lists[query] = task_list(self.units, unit, score, task, limit)
            whole = many >= len(self.unit)
            waiting = [] if whole else [query for query in waiting if len(lists[query][0]) < limit]
            many *= 8
        return [lists[query] for query in range(len(queries))]

    def nearest(self, queries: Matrix, many: int) -> list[Listed]:
        """Return so many of the nearest units of every query, by unit, with their scores; those that tie are added."""
        lists = []
        for rows, score in nearest(self.vectors, queries, many, self.unit >= 0, cosine=self.settings.normalise):
            order = np.argsort(self.unit[rows])
            lists.append((self.unit[rows[order]], score[order]))
        return lists

    def description(self) -> str:
        """Return the settings, and how many texts were cut."""
        if self.settings.model_of_texts is None:
            return self.settings.description()
        many, unknown = (0, False) if self.made is None else (self.made.cut_texts, bool((self.made.cut < 0).any()))
        cut = f"{'at least ' if unknown else ''}{counted(many, 'text')} cut"
        return f"{self.settings.description()} ({cut if many or not unknown else 'cut texts not known'})"


def unit_vectors(
    units: UnitSet, settings: VectorSettings, chunks: Chunks | None = None, progress: Callable[..., None] | None = None
) -> UnitVectors:
    """Return the units that may be returned as vectors: given ones, or those that the embedder makes of their texts."""
    settings.check()
    index, own, made = units.words.index, np.flatnonzero(units.returnable), None
    if settings.vectors is None:
        where = places(units, own)
        texts = span_texts(index, units.document(own), where.start, where.end)
        made = settings.embed([settings.passage_prefix + text for text in texts], progress)
        found = made.vectors
    elif chunks is None:
        found = _opened(settings.vectors, "vectors", len(own), "unit")
    else:  # the units are the chunks by document, start and end, each once
        found = _opened(settings.vectors, "vectors", len(chunks), "chunk")
        rows = np.stack([chunks.rows(index), chunks.start, chunks.end])
        there, at = np.unique(rows, axis=1, return_index=True)
        own = np.full(len(chunks), -1)
        own[at[there[2] > there[1]]] = np.where(units.returnable, np.arange(len(units.returnable)), -1)
    return UnitVectors(units, _truncated(found, settings), own, settings, made)


def _opened(source: Any, what: str, many: int, one: str) -> NDArray[Any]:
    """Return vectors, of a file mapped into memory; others than a row of numbers for each thing are refused."""
    where = str(source) if isinstance(source, (str, Path)) else None
    try:
        found = np.load(source, mmap_mode="r") if where else np.asarray(source)
    except (OSError, ValueError) as error:
        problem = f"expected {what} as NumPy writes them (.npy), found: {error}"
        raise FormatError(problem, at=where, remedy="numpy.save") from None
    if found.ndim != 2 or found.dtype not in (np.float16, np.float32, np.float64) or len(found) != many:
        kind = f"an array of {found.dtype} of shape {found.shape}"
        problem = f"expected {counted(many, 'row')} of {what}, one for each {one}, found {kind}"
        raise FormatError(problem, at=where, remedy="give them in that order")
    return found


def _truncated(vectors: NDArray[Any], settings: VectorSettings) -> NDArray[Any]:
    if settings.dimensions is None or not len(vectors):
        return vectors
    if vectors.shape[1] < settings.dimensions:
        what = f"expected vectors of {settings.dimensions} dimensions or more, found {vectors.shape[1]}"
        raise UsageError(f"{what}; lower --dimensions")
    return vectors[:, : settings.dimensions]


def nearest(
    vectors: NDArray[Any], queries: Matrix, many: int, allowed: NDArray[np.bool_] | None = None, *, cosine: bool = True
) -> list[Listed]:
    """Return for every query the rows of the nearest vectors, nearest first, and their exact scores, rounded.

    What ties with the last one is there, too, so that whoever breaks ties sees all of them.

    >>> rows, scores = nearest(np.eye(3, dtype=np.float32), np.array([[0, 2, 1]], np.float32), 2)[0]
    >>> rows.tolist(), scores.round(3).tolist()
    ([1, 2], [0.894, 0.447])
    """
    asked = np.asarray(queries, np.float32)
    scale = np.linalg.norm(asked, axis=1)
    asked = np.asarray(asked / np.where(scale > 0, scale, 1)[:, None], np.float32)  # its length changes no order
    least = np.full(len(asked), -np.inf, np.float32)
    rows: list[list[Integers]] = [[] for _ in asked]
    scores: list[list[Matrix]] = [[] for _ in asked]
    longest = 1.0
    for first in range(0, len(vectors), BLOCK):
        part = np.asarray(vectors[first : first + BLOCK], np.float32)
        found = asked @ part.T
        length = np.sqrt(np.einsum("ij,ij->i", part, part))
        if cosine:
            found *= np.divide(1, length, out=np.zeros_like(length), where=length > 0)
        else:
            longest = max(longest, float(length.max(initial=0)))
        if allowed is not None:
            found[:, ~allowed[first : first + BLOCK]] = np.nan  # compares with nothing
        for query, own in enumerate(found):
            here = np.flatnonzero(own >= least[query])
            if not len(here):
                continue
            rows[query].append(here + first)
            scores[query].append(own[here])
            if sum(map(len, scores[query])) > 2 * many:
                row, score = np.concatenate(rows[query]), np.concatenate(scores[query])
                edge = np.partition(score, len(score) - many)[len(score) - many] - _SLACK * longest
                kept = score >= edge
                rows[query], scores[query], least[query] = [row[kept]], [score[kept]], edge
    return [
        _exact(vectors, np.concatenate([np.zeros(0, np.int64), *row]), query, many, cosine=cosine)
        for row, query in zip(rows, queries, strict=True)
    ]


_SLACK = 1e-5  # how much a sum of 32-bit products may be off, for vectors of length 1 and some thousand numbers


def _exact(vectors: NDArray[Any], rows: Integers, query: Matrix, many: int, *, cosine: bool) -> Listed:
    """Score some rows in 64 bits; return the best of them, and what ties with the last."""
    own, asked = np.asarray(vectors[rows], np.float64), np.asarray(query, np.float64)
    score = np.einsum("ij,j->i", own, asked)
    if cosine:
        length = np.sqrt(np.einsum("ij,ij->i", own, own) * float(asked @ asked))
        score = np.divide(score, length, out=np.zeros_like(score), where=length > 0)
    score = np.round(score, DECIMALS)
    order = np.lexsort((rows, -score))
    kept = order[score[order] >= score[order[min(many, len(order)) - 1]]] if len(order) else order
    return rows[kept], score[kept]
