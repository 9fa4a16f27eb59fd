"""Simulated systems over the questions of chunking_evaluation and of XQuAD, scored by focuseval.

A system cuts the documents into windows and returns the best five of some candidates: the windows that hold highlighted
text, and thirty others. What it thinks of a window is 1 or 0 with noise added: less noise makes a better system, larger
windows another kind of system.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import focuseval as fe
from focuseval.formats.frames import run_from_frame
from reproductions.data import folder

RETRIEVED = 5
OTHERS = 30
MEASURES = ("spanR@5", "IoU@5", "hit@5")


class System(NamedTuple):
    """How a simulated system works."""

    name: str
    window: int
    noise: float
    seed: int


BASE = System("base", 400, 0.6, 1)
BETTER = System("better", 400, 0.45, 2)
OTHER = System("other", 800, 0.6, 3)


@cache
def golds() -> dict[str, tuple[fe.Gold, NDArray[np.int64]]]:
    """Return the golds and the lengths of their documents."""
    chroma, xquad = folder("chroma_chunking_evaluation"), folder("xquad") / "xquad.en.json"
    index = fe.open_documents(chroma / "corpora")
    found = {
        "chunking_evaluation": fe.read_gold(chroma / "questions_df.csv", index=index),
        "XQuAD": fe.read_gold(xquad),
    }
    lengths = {"chunking_evaluation": index.lengths[index.find(found["chunking_evaluation"].documents)]}
    lengths["XQuAD"] = _lengths(found["XQuAD"])
    return {name: (gold, lengths[name]) for name, gold in found.items()}


def _lengths(gold: fe.Gold) -> NDArray[np.int64]:
    """Return the lengths of documents as the gold knows them."""
    lengths = np.zeros(len(gold.documents), np.int64)
    lengths[gold.articles.document] = gold.articles.length
    return lengths


def run_of(system: System, gold: fe.Gold, lengths: NDArray[np.int64]) -> fe.Run:
    """Return what a system retrieves for every topic."""
    rng = np.random.default_rng(system.seed)
    windows = [
        (d, start, min(start + system.window, n))
        for d, n in enumerate(lengths.tolist())
        for start in range(0, n, system.window)
    ]
    document, start, end = (np.array(column) for column in zip(*windows, strict=True))
    names, rows = gold.documents.to_pylist(), []
    for number, topic in enumerate(gold.topics):
        own = gold.passages.topic == number
        right = np.zeros(len(start), bool)
        for d, a, b in zip(
            *(column[own].tolist() for column in (gold.passages.document, gold.passages.start, gold.passages.end)),
            strict=True,
        ):
            right |= (document == d) & (start < b) & (end > a)
        candidates = np.concatenate([np.flatnonzero(right), rng.integers(0, len(start), OTHERS)])
        belief = right[candidates] + system.noise * rng.standard_normal(len(candidates))
        best = dict.fromkeys(candidates[np.argsort(-belief, kind="stable")].tolist())
        rows += [(topic, names[document[w]], int(start[w]), int(end[w])) for w in list(best)[:RETRIEVED]]
    columns = dict(zip(("topic", "doc", "start", "end"), map(list, zip(*rows, strict=True)), strict=True))
    return run_from_frame(pa.table(columns), run_id=system.name)


@cache
def differences(first: System, second: System) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Return, for every gold and measure, the difference of two systems on every topic."""
    found = {}
    for name, (gold, lengths) in golds().items():
        scores = fe.evaluate(gold, [run_of(system, gold, lengths) for system in (first, second)], list(MEASURES))
        for column, measure in enumerate(MEASURES):
            found[name, measure] = scores.values[0, :, column] - scores.values[1, :, column]
    return found
