"""Runs made from the gold itself, in a controlled way: what a measure should prefer is known beforehand.

``full``, ``ideal``, ``reversed`` and ``leaves`` are the recall-base runs of Kazai and Lalmas (2005); ``S-R`` …
``S_ST-R_SI`` the space of Pehcevski and Thom (2007), see `focuseval.studies.space_runs`; ``random`` and ``degraded``
turn a dial from the ideal order to chance: for noise, depth and size. Every element of the judged articles gets the
score

    (1 − noise) · merit + noise · u + depth · z(depth) + size · z(log size),

u uniform on [0, 1), z the standard score within the topic. What an element merits depends on the task, so that without
noise and bias the run is the best one for it; noise 1 gives chance; a positive depth favours small elements deep in
the tree, a positive size large ones. What an element merits:

====================  =============================================================================================
thorough              its gain in the recall base
focused, spans        elements of the ideal recall base before all others, by gain
relevant-in-context   elements of the ideal recall base, articles by the F of what is returned from them; others nothing
fetch-browse          the same
best-in-context       nearness of its start to the best entry point of its article
====================  =============================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.run import Run
from focuseval.errors import MeasureError
from focuseval.measures.matching.prepared import prepare
from focuseval.measures.recall_base.assessed import assessed_elements
from focuseval.studies.space_runs import RANKINGS, SELECTIONS, Listed, build_run, elements_of, space_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Elements
    from focuseval.data.gold import Gold
    from focuseval.measures.matching.prepared import Prepared

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Candidates = tuple[Elements, Integers, Integers]
    """Elements, the article of each, and the rows that may be returned."""


TASKS = {"full": "thorough", "ideal": "focused", "reversed": "focused", "leaves": "focused"}


def recall_base_run(prepared: Prepared, kind: str, quant: str = "auto", without: tuple[str, ...] = ()) -> Run:
    """Return the named run: elements in order of gain, best first (``reversed``: worst first).

    `without` are tags that are not in the recall base.
    """
    assessed = assessed_elements(prepared.gold, prepared.index, prepared.position)
    base = assessed.base(quant, without)
    rows = np.arange(len(base)) if kind == "full" else base.ideal
    if kind == "leaves":
        rows = np.flatnonzero(base.last == np.arange(len(base)) + 1)
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


def merits(prepared: Prepared, candidates: Candidates, task: str, without: tuple[str, ...] = ()) -> Floats:
    """Return what every candidate merits, from 0 to 1; `without` are tags that are not in the recall base."""
    elements, article, rows = candidates
    if task == "best-in-context":
        bep, length = prepared.bep[article[rows]], np.maximum(prepared.length[article[rows]], 1)
        near = 1 - np.abs(elements.start[rows] - bep) / (length + 1)
        return np.where((bep >= 0) & prepared.relevant[article[rows]], np.maximum(near, 0.0), 0.0)
    base = prepared.assessed.base("auto", without)
    code = np.asarray(base.tree.find(elements.path_strings(rows)), np.int64)
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
    task: str = "thorough"
    """The task whose best run noise 0 gives."""

    def run_id(self, kind: str) -> str:
        """Return a name that says how the dial stood."""
        own = {} if kind == "random" else {"noise": self.noise, "depth": self.depth, "size": self.size}
        task = {} if self.task == "thorough" else {"task": self.task}
        said = own | {"results": self.results, "seed": self.seed} | task
        return f"{kind}({','.join(f'{name}={_short(value)}' for name, value in said.items())})"

    def __post_init__(self) -> None:
        """Refuse a noise that is no share and a list without results."""
        if not 0 <= self.noise <= 1:
            raise MeasureError(f"expected a noise between 0 and 1, found {self.noise:g}")
        if self.results < 1:
            raise MeasureError(f"expected at least 1 result a topic, found {self.results}")


def _short(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def degraded_run(prepared: Prepared, kind: str, dial: Dial, without: tuple[str, ...] = ()) -> Run:
    """Return a run of elements of the judged articles, ordered by the dial (``random``: by chance alone).

    `without` are tags that are not in the recall base. Where there is no noise, elements without merit are left out.
    """
    articles = np.flatnonzero(prepared.topic >= 0)
    elements, article = elements_of(prepared, articles)
    size = elements.end - elements.start
    rows = np.flatnonzero(size > 0)
    noise = 1.0 if kind == "random" else dial.noise
    merit = np.zeros(len(rows)) if noise == 1 else merits(prepared, (elements, article, rows), dial.task, without)
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
    listed = Listed(
        topic=topic[kept],
        place=place[place < dial.results],
        start=elements.start[rows[kept]],
        end=elements.end[rows[kept]],
        document=prepared.gold.documents.take(pa.array(prepared.gold.articles.document[article[kept]])),
        path=elements.path_strings(rows[kept]),
    )
    return build_run(prepared, dial.run_id(kind), "thorough", listed)


def _standard(values: NDArray[np.float64], topic: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return standard scores within each topic, 0 where all values agree."""
    count = np.maximum(np.bincount(topic), 1)
    mean = np.bincount(topic, values) / count
    spread = np.sqrt(np.maximum(np.bincount(topic, values**2) / count - mean**2, 0))
    return (values - mean[topic]) / np.where(spread > 1e-9, spread, 1.0)[topic]


RECALL_BASE_KINDS = ("full", "ideal", "reversed", "leaves")
SPACE = tuple(f"{s}-{r}" for s, r in product(SELECTIONS, RANKINGS))
DIAL_KINDS = ("random", "degraded")
KINDS = (*RECALL_BASE_KINDS, *SPACE, *DIAL_KINDS)
"""Everything `simulate` can make."""


def simulate(
    gold: Gold,
    kind: str,
    index: Any = None,
    *,
    dial: Dial | None = None,
    quant: str = "auto",
    without: tuple[str, ...] = (),
) -> Run:
    """Return a simulated run of the named kind; `dial` turns ``random`` and ``degraded``.

    `without` are tags that the recall base leaves out, and with it every run that is made of it; the runs of the S×R
    space are made of the highlighted text, and keep them.

    Runs of elements from a gold of highlights, and every kind of S but ``S`` itself, need the collection's `index`.
    """
    if kind not in KINDS:
        raise MeasureError(f"expected a kind among {', '.join(KINDS)}, found {kind!r}")
    prepared = prepare(gold, index)
    if kind in RECALL_BASE_KINDS:
        return recall_base_run(prepared, kind, quant, without)
    if kind in DIAL_KINDS:
        return degraded_run(prepared, kind, dial or Dial(), without)
    return space_run(prepared, kind)
