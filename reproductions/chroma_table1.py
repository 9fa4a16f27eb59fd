"""Table 1 of chunking_evaluation's report: the mean and deviation of Precision_Ω for eight chunkings.

Precision_Ω is the IoU of exactly the chunks that hold highlighted text: what a chunking allows, without a retriever.
focuseval calls it ``ceiling(IoU)``, and ``compat="chroma"`` adds the report's own version, which also counts chunks
that touch highlighted text without sharing a character with it.
"""

from functools import cache

import numpy as np
import pyarrow as pa

import focuseval as fe
from focuseval.collection.chunks import Chunks as EveryChunk
from focuseval.data.tables import Table
from reproductions.chunkers import Chunks, at_first_occurrence, chunks_of, documents
from reproductions.data import folder
from reproductions.published import compared, verdict

SOURCE = "Smith and Troynikov (2024), Evaluating chunking strategies for retrieval, table 1"
URL = "https://research.trychroma.com/evaluating-chunking"
PUBLISHED = {
    ("Recursive", 800, 400): "6.7 ± 5.2",
    ("TokenText", 800, 400): "4.7 ± 3.1",
    ("Recursive", 400, 200): "13.9 ± 10.4",
    ("TokenText", 400, 200): "8.4 ± 5.1",
    ("Recursive", 400, 0): "17.7 ± 14.0",
    ("TokenText", 400, 0): "12.5 ± 8.1",
    ("Recursive", 200, 0): "29.9 ± 18.4",
    ("TokenText", 200, 0): "21.0 ± 11.9",
}


@cache
def gold() -> fe.Gold:
    """Return the 472 questions with their highlighted text."""
    place = folder("chroma_chunking_evaluation")
    return fe.read_gold(place / "questions_df.csv", index=fe.open_documents(place / "corpora"))


def percent(values: np.ndarray) -> str:
    """Return mean and (population) deviation over the questions, as the report prints them."""
    return f"{100 * values.mean():.1f} ± {100 * values.std():.1f}"


def precision_omega(chunks: Chunks) -> str:
    """Return the mean and deviation of Precision_Ω; the run is not looked at, but there has to be one."""
    anywhere = [{"topic": topic, "doc": next(iter(documents())), "start": 0, "end": 1} for topic in gold().topics]
    every = EveryChunk(pa.array(chunks.document), chunks.start, chunks.end)
    scores = fe.evaluate(gold(), anywhere, ["ceiling(IoU)"], compat="chroma", chunks=every)
    return percent(scores.values[0, :, scores.measures.index("chroma:precision_omega")])


def row(chunker: str, size: int, overlap: int, published: str) -> tuple[str, ...]:
    """Return one chunking: published, with the report's places and with the true ones, how many chunks they move."""
    true = chunks_of(chunker, "cl100k", size, overlap)
    first = at_first_occurrence(true)
    ours = precision_omega(first)
    moved = f"{(first.start != true.start).sum()} of {len(true.start)}"
    return f"{chunker} {size}/{overlap}", published, ours, precision_omega(true), moved, verdict(published, ours)


def tables() -> list[Table]:
    """Return the eight rows."""
    rows = [row(*key, published) for key, published in PUBLISHED.items()]
    heads = ("chunker", "published", "ours, its places", "ours, true places", "chunks elsewhere", "verdict")
    note = (
        "chunking_evaluation looks for every chunk from the beginning of its document, without a final full stop: a "
        "text that occurs twice is put at its first occurrence. 'Chunks elsewhere' counts those."
    )
    return [compared(SOURCE, heads, rows, (note,))]
