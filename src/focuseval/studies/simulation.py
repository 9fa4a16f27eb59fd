"""Runs made from the gold itself, in a controlled way: what a measure should prefer is known beforehand.

``full``, ``ideal``, ``reversed`` and ``leaves`` are the recall-base runs of Kazai and Lalmas (2005).

``S-R`` … ``S_ST-R_SI`` are the S×R space of Pehcevski and Thom (2007): S says which parts of every relevant article a
run returns, R in which order it returns the articles of a topic.

====== ==========================================================================================================
S      the highlighted passages themselves: perfect retrieval
S_L    the smallest element that contains each passage; of nested picks the outermost stays
S_LD   the whole document
S_S    the largest elements inside each passage
S_ST   the smallest elements inside each passage
R      relevant articles by decreasing amount of highlighted text
R_S    the first two swapped
R_I    a document that is not relevant inserted on top: one judged so, else one that nobody judged
R_SI   both: the inserted document above the swapped pair
====== ==========================================================================================================

An article without any element inside its passages returns its smallest overlapping element under S_S and S_ST. Of
elements with the same text the outermost is taken, under S_ST the innermost. Elements without text are never returned.

``random`` and ``degraded`` turn a dial from the ideal order to chance: for noise, depth and size. Every element of the
judged articles gets the score

    (1 − noise) · merit + noise · u + depth · z(depth) + size · z(log size),

u uniform on [0, 1), z the standard score within the topic. Noise 1 gives chance; a positive depth favours small
elements deep in the tree, a positive size large ones. Without noise and bias the run is the best one for the task,
which decides what an element merits:

====================  =============================================================================================
thorough              its gain in the recall base
focused, spans        elements of the ideal recall base before all others, by gain
relevant-in-context   elements of the ideal recall base, articles by the F of what is returned from them; others nothing
fetch-browse          the same
best-in-context       nearness of its start to the best entry point of its article
====================  =============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.collection.index import Elements
from focuseval.data.gold import Gold
from focuseval.data.placement import Placement
from focuseval.data.run import Run
from focuseval.data.spans import pack
from focuseval.errors import MeasureError, MissingDataError
from focuseval.measures.prepared import Prepared, prepare
from focuseval.measures.topicwise import Floats, Integers, first_row

SELECTIONS = ("S", "S_L", "S_LD", "S_S", "S_ST")


def select(selection: str, prepared: Prepared) -> tuple[Integers, Integers, Integers, Any]:
    """Return what a selection takes from every relevant article: article, start, end, and paths or None, as columns."""
    if selection == "S":
        spans = prepared.highlights
        return spans.group, spans.start, spans.end, None
    articles = np.flatnonzero(prepared.relevant & (prepared.topic >= 0) & (prepared.trel > 0))
    elements, article = elements_of(prepared, articles)
    if selection == "S_LD":
        rows = np.flatnonzero(elements.parent < 0)
    elif selection == "S_L":
        rows = _containing(prepared, elements, article)  # in document order: of nested ones the outermost begins first
        ends = np.maximum.accumulate(pack(article[rows], elements.end[rows]))
        rows = rows[np.append(True, pack(article[rows], elements.start[rows])[1:] >= ends[:-1])[: len(rows)]]
    else:
        rows = _inside(prepared, elements, article, largest=selection == "S_S")
    return article[rows], elements.start[rows], elements.end[rows], elements.path_strings(rows)


def elements_of(prepared: Prepared, articles: Integers) -> tuple[Elements, Integers]:
    """Return the elements of some articles, one article after the other, and the article of every element."""
    if prepared.index is None:
        needed = "simulated runs of elements need the collection's elements"
        raise prepared.lacking(f"{needed}; build its index with 'focuseval index' and give index=")
    rows = prepared.document_rows[prepared.gold.articles.document[articles]]
    if (rows < 0).any():
        lost = prepared.gold.documents[int(prepared.gold.articles.document[articles[np.argmin(rows)]])]
        raise MissingDataError(f"document {lost} is not in the index; index the collection that the gold was made from")
    elements = prepared.index.elements_of(rows)
    counts = np.diff(prepared.index.element_bounds)[rows]
    return elements, np.repeat(articles, counts)


def _containing(prepared: Prepared, elements: Elements, article: Integers) -> Integers:
    """Return, for every passage, the row of the smallest element that contains it."""
    # All that contain a passage are around the last element that begins at or before it: climb from there.
    spans = prepared.highlights
    row = np.searchsorted(pack(article, elements.start), pack(spans.group, spans.start), "right") - 1
    short = np.flatnonzero(elements.end[row] < spans.end)
    while len(short):
        row[short] = elements.parent[row[short]]
        short = short[elements.end[row[short]] < spans.end[short]]
    # Climb from every row to the outermost element with the same text.
    rows = np.unique(row)
    climbing = np.arange(len(rows))
    while len(climbing):
        here, above = rows[climbing], elements.parent[rows[climbing]]
        same = (elements.start[above] == elements.start[here]) & (elements.end[above] == elements.end[here])
        climbing, above = climbing[same & (above >= 0)], above[same & (above >= 0)]
        rows[climbing] = above
    return np.unique(rows)


def _inside(prepared: Prepared, elements: Elements, article: Integers, *, largest: bool) -> Integers:
    """Return the rows of the largest (or the smallest) elements that are highlighted from end to end."""
    size = elements.end - elements.start
    held = prepared.highlights.covered(article, elements.start, elements.end)
    whole = (size > 0) & (held == size)
    if largest:
        kept = whole & ~np.where(elements.parent >= 0, whole[np.maximum(elements.parent, 0)], False)
    else:
        above = np.zeros(len(size), np.bool_)
        above[elements.parent[np.flatnonzero((size > 0) & (elements.parent >= 0))]] = True
        kept = whole & ~above
    rows = np.flatnonzero(kept)
    lonely = np.setdiff1d(article, article[rows])
    # Of an article without such an element, its smallest element with highlighted text, the first of equals.
    others = np.flatnonzero(np.isin(article, lonely) & (held > 0))
    others = others[np.lexsort((others, size[others], article[others]))]
    _, first = np.unique(article[others], return_index=True)
    return np.sort(np.concatenate([rows, others[first]]))


RANKINGS = ("R", "R_S", "R_I", "R_SI")


def article_ranks(ranking: str, prepared: Prepared) -> Integers:
    """Return, for every article of the gold, its rank among the relevant ones of its topic (from 1), 0 for others."""
    articles = np.flatnonzero(prepared.relevant & (prepared.topic >= 0) & (prepared.trel > 0))
    order = articles[np.lexsort((articles, -prepared.trel[articles], prepared.topic[articles]))]
    topic = prepared.topic[order]
    first = np.searchsorted(topic, topic)
    ranks = np.zeros(len(prepared.topic), np.int64)
    ranks[order] = np.arange(len(order)) - first + 1
    if ranking in ("R_S", "R_SI"):
        several = np.bincount(topic, minlength=len(prepared.topics))[np.maximum(prepared.topic, 0)] > 1
        top = (ranks > 0) & (ranks <= 2) & several
        ranks[top] = 3 - ranks[top]
    return ranks


def intruders(prepared: Prepared) -> tuple[Integers, tuple[str, ...]]:
    """Return, for every counted topic, the length and the id of a document that is not relevant to it."""
    articles, index = prepared.gold.articles, prepared.index
    chosen: list[tuple[int, str]] = []
    for topic, name in enumerate(prepared.topics):
        judged = np.flatnonzero(prepared.topic == topic)
        taken = np.unique(articles.document[judged])
        rows = judged[~prepared.relevant[judged]]
        if not len(rows) and index is not None:  # one that nobody judged, from the index or another topic's pool
            free = np.setdiff1d(np.arange(len(index)), prepared.document_rows[taken])
            if len(free):
                chosen.append((int(index.lengths[free[0]]), str(index.ids[int(free[0])])))
                continue
        if not len(rows):
            rows = np.flatnonzero(~np.isin(articles.document, taken) & (prepared.length >= 0))
        if not len(rows):
            raise MissingDataError(f"topic {name}: every known document is relevant, so none can be inserted on top")
        row = int(rows[0])
        chosen.append((int(prepared.length[row]), prepared.gold.documents[int(articles.document[row])].as_py()))
    return np.array([length for length, _ in chosen], np.int64), tuple(document for _, document in chosen)


def documents_of(prepared: Prepared, article: NDArray[np.integer]) -> pa.Array:
    """Return the document ids of rows of ``gold.articles``."""
    return prepared.gold.documents.take(pa.array(prepared.gold.articles.document[article]))


def space_runs(prepared: Prepared, *kinds: str) -> Iterator[Run]:
    """Yield runs ``selection-ranking``: parts of each article in document order, articles in rank order.

    Neighbours with the same selection, which takes longest, share it.
    """
    for selection, own in groupby(kinds, lambda kind: kind.partition("-")[0]):
        selected = select(selection, prepared)
        for kind in own:
            ranking, (article, start, end, path) = kind.partition("-")[2], selected
            topic, place = prepared.topic[article].astype(np.int64), article_ranks(ranking, prepared)[article]
            document = documents_of(prepared, article)
            if "I" in ranking:  # one whole document that is not relevant, before all others of its topic
                length, names = intruders(prepared)
                zeros = np.zeros(len(length), np.int64)
                topic, place = np.append(topic, np.arange(len(length))), np.append(place, zeros)
                start, end = np.append(start, zeros), np.append(end, np.maximum(length, 1))
                document = pa.concat_arrays([document, pa.array(names, pa.string())])
                path = None if path is None else pa.concat_arrays([path, root_paths(prepared, names)])
            where = topic, place
            yield build_run(prepared, kind, "relevant-in-context", where, document, path=path, spans=(start, end))


def root_paths(prepared: Prepared, documents: tuple[str, ...]) -> pa.Array:
    """Return the path of the root element of every document, null where the index does not know it."""
    if prepared.index is None:
        return pa.nulls(len(documents), pa.string())
    rows = Placement(prepared.index, pa.array(documents, pa.string())).document
    known = np.unique(rows[rows >= 0])
    elements = prepared.index.elements_of(known)
    roots = elements.path_strings(np.flatnonzero(elements.parent < 0)).to_pylist()
    paths = dict(zip(known.tolist(), roots, strict=True))
    return pa.array([paths.get(int(row)) for row in rows], pa.string())


def build_run(
    prepared: Prepared, name: str, task: str, where: tuple[Integers, Integers], document: pa.Array, *,
    path: pa.Array | None, spans: tuple[Integers, Integers] | None = None,
) -> Run:  # fmt: skip
    """Return a run of parts in any order, sorted by topic, place (`where`) and start; ranks from 1, scores falling."""
    order = np.lexsort((*(() if spans is None else spans[:1]), where[1], where[0]))
    topic = where[0][order]
    rank = (np.arange(len(order)) - np.searchsorted(topic, topic) + 1).astype(np.int32)
    return Run(
        name, prepared.topics, topic.astype(np.int32), document.take(pa.array(order)), rank, 1.0 / rank, task=task,
        start=None if spans is None else spans[0][order], end=None if spans is None else spans[1][order],
        path=None if path is None else path.take(pa.array(order)),
    )  # fmt: skip


TASKS = {"full": "thorough", "ideal": "focused", "reversed": "focused", "leaves": "focused"}


def recall_base_run(prepared: Prepared, kind: str, quant: str = "auto", without: tuple[str, ...] = ()) -> Run:
    """Return the named run of a recall base without some tags: elements by gain, best first (``reversed``: last)."""
    base = prepared.assessed.base(quant, without)
    rows = np.arange(len(base)) if kind == "full" else base.ideal
    if kind == "leaves":
        rows = np.flatnonzero(base.last == np.arange(len(base)) + 1)
    gain = base.gain[rows] * (-1 if kind == "reversed" else 1)
    rows = rows[np.lexsort((rows, -gain, base.topic[rows]))]
    path = prepared.assessed.elements.path.take(pa.array(base.source[rows]))
    place, document = np.arange(len(rows)), documents_of(prepared, base.article[rows])
    return build_run(prepared, kind, TASKS[kind], (base.topic[rows], place), document, path=path)


def merits(
    prepared: Prepared, candidates: tuple[Elements, Integers, Integers], task: str,
    quant: str = "auto", without: tuple[str, ...] = (),
) -> Floats:  # fmt: skip
    """Return what every candidate merits, from 0 to 1; `without` are tags that are not in the recall base.

    Candidates are elements, the article of each, and the rows that may be returned.
    """
    elements, article, rows = candidates
    if task == "best-in-context":
        bep, length = prepared.bep[article[rows]], np.maximum(prepared.length[article[rows]], 1)
        near = 1 - np.abs(elements.start[rows] - bep) / (length + 1)
        return np.where((bep >= 0) & prepared.relevant[article[rows]], np.maximum(near, 0.0), 0.0)
    base = prepared.assessed.base(quant, without)
    first = first_row(elements.row[rows])  # topics judge the same documents: the path of each element is made once
    distinct = np.flatnonzero(first == np.arange(len(rows)))
    code = base.tree.find(elements.path_strings(rows[distinct]))[np.searchsorted(distinct, first)]
    known = np.flatnonzero(code >= 0)
    found = np.full(len(rows), -1, np.int64)
    found[known] = base.lookup.find(base.key_of(article[rows[known]], code[known]))
    gain = np.append(base.gain / max(float(base.gain.max(initial=0)), 1.0), 0.0)[found]
    if task == "thorough":
        return gain
    ideal = np.append(np.isin(np.arange(len(base)), base.ideal), values=False)[found]
    if task in {"focused", "spans"}:
        return np.where(ideal, (1 + gain) / 2, gain / 2)
    # Ideal elements: the F that all of them in their article reach together; all others nothing.
    mine = rows[ideal]
    start, end, number = elements.start[mine], elements.end[mine], len(prepared.topic)
    held = np.bincount(article[mine], prepared.highlights.covered(article[mine], start, end), number)
    size = np.bincount(article[mine], end - start, number)
    f = 2 * held / np.maximum(size + prepared.trel, 1)  # of P = held / size and R = held / Trel
    return np.where(ideal, f[article[rows]], 0.0)


@dataclass(frozen=True)
class Dial:
    """How far a run is from the ideal order, and which way it leans."""

    noise: float = 0.3
    depth: float = 0.0
    size: float = 0.0
    results: int = 1500
    seed: int = 0
    task: str = "thorough"  # the task whose best run noise 0 gives

    def run_id(self, kind: str) -> str:
        """Return a name that says how the dial stood."""
        own = {} if kind == "random" else {"noise": self.noise, "depth": self.depth, "size": self.size}
        task = {} if self.task == "thorough" else {"task": self.task}
        shown: dict[str, Any] = own | {"results": self.results, "seed": self.seed} | task
        values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in shown.items()}
        return f"{kind}({','.join(f'{name}={value}' for name, value in values.items())})"

    def __post_init__(self) -> None:
        """Refuse a noise that is no share and a list without results."""
        if not 0 <= self.noise <= 1:
            raise MeasureError(f"expected a noise between 0 and 1, found {self.noise:g}")
        if self.results < 1:
            raise MeasureError(f"expected at least 1 result a topic, found {self.results}")


def degraded_run(prepared: Prepared, kind: str, dial: Dial, quant: str = "auto", without: tuple[str, ...] = ()) -> Run:
    """Return a run of elements of the judged articles, ordered by the dial (``random``: by chance alone).

    `without` are tags that are not in the recall base. Where there is no noise, elements without merit are left out.
    """
    articles = np.flatnonzero(prepared.topic >= 0)
    elements, article = elements_of(prepared, articles)
    size = elements.end - elements.start
    rows = np.flatnonzero(size > 0)
    noise = 1.0 if kind == "random" else dial.noise
    candidates = elements, article, rows
    merit = np.zeros(len(rows)) if noise == 1 else merits(prepared, candidates, dial.task, quant, without)
    if noise == 0:
        rows, merit = rows[merit > 0], merit[merit > 0]
    article, size = article[rows], size[rows]
    topic = prepared.topic[article].astype(np.int64)
    score = (1 - noise) * merit + noise * np.random.default_rng(dial.seed).random(len(rows))
    if kind == "degraded":
        score += dial.depth * _standard(elements.depth[rows].astype(np.float64), topic)
        score += dial.size * _standard(np.log(size), topic)
    order = np.lexsort((-score, topic))
    place = np.arange(len(order)) - np.searchsorted(topic[order], topic[order])
    kept = order[place < dial.results]
    where, documents = (topic[kept], place[place < dial.results]), documents_of(prepared, article[kept])
    rows = rows[kept]
    spans, paths = (elements.start[rows], elements.end[rows]), elements.path_strings(rows)
    return build_run(prepared, dial.run_id(kind), "thorough", where, documents, path=paths, spans=spans)


def _standard(values: Floats, topic: Integers) -> Floats:
    """Return standard scores within each topic, 0 where all values agree."""
    count = np.maximum(np.bincount(topic), 1)
    mean = np.bincount(topic, values) / count
    spread = np.sqrt(np.maximum(np.bincount(topic, values**2) / count - mean**2, 0))
    return (values - mean[topic]) / np.where(spread > 1e-9, spread, 1.0)[topic]


RECALL_BASE_KINDS = ("full", "ideal", "reversed", "leaves")
SPACE = tuple(f"{s}-{r}" for s, r in product(SELECTIONS, RANKINGS))
DIAL_KINDS = ("random", "degraded")
KINDS = (*RECALL_BASE_KINDS, *SPACE, *DIAL_KINDS)  # everything `simulate` can make


def simulate(
    gold: Gold, kind: str, index: Any = None, *,
    dial: Dial | None = None, quant: str = "auto", without: tuple[str, ...] = (),
) -> Run:  # fmt: skip
    """Return a simulated run of the named kind; `dial` turns ``random`` and ``degraded``.

    `quant` says what the elements of the recall base are worth (Kazai and Lalmas, 2005: "runs (using SOG)"), and
    `without` are tags that it leaves out, and with it every run that is made of it; the runs of the S×R space are made
    of the highlighted text, and keep them.

    Runs of elements from a gold of highlights, and every kind of S but ``S`` itself, need the collection's `index`.
    """
    if kind not in KINDS:
        raise MeasureError(f"expected a kind among {', '.join(KINDS)}, found {kind!r}")
    prepared = prepare(gold, index)
    if kind in RECALL_BASE_KINDS:
        return recall_base_run(prepared, kind, quant, without)
    if kind in DIAL_KINDS:
        return degraded_run(prepared, kind, dial or Dial(), quant, without)
    return next(space_runs(prepared, kind))
