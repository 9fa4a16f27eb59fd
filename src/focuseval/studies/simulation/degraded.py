"""Runs between the ideal order and chance: a dial for noise, depth and size.

Every element of the judged articles gets the score

    (1 − noise) · merit + noise · u + depth · z(depth) + size · z(log size),

u uniform on [0, 1), z the standard score within the topic. What an element merits depends on the task, so that without
noise and bias the run is the best one for it (`focuseval.studies.simulation.merits`); noise 1 gives chance; a positive
depth favours small elements deep in the tree, a positive size large ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.errors import MeasureError
from focuseval.studies.simulation.merits import merits
from focuseval.studies.simulation.parts import elements_of
from focuseval.studies.simulation.space import Listed, build_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.data.run import Run
    from focuseval.measures.matching.prepared import Prepared


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
