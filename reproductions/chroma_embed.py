"""Retrieve five chunks for every question by all-MiniLM-L6-v2, as in table 2 of chunking_evaluation's report.

The runs in ``reproductions/runs`` were made by this script, once, on a CPU; ``chroma_table2`` scores them. It needs
torch and sentence-transformers, which ``make reproduce`` does not install::

    python -m pip install --group embed
    python -m reproductions.chroma_embed
"""

import csv
import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproductions.chunkers import Chunks, chunks_of, documents
from reproductions.data import RUNS, folder, package

RETRIEVED = 5
ROWS = (
    ("Recursive", "minilm", 200, 0),
    ("TokenText", "cl100k", 200, 0),
    ("Recursive", "minilm", 250, 0),
    ("TokenText", "cl100k", 250, 0),
    ("Recursive", "minilm", 250, 125),
    ("TokenText", "cl100k", 250, 125),
)


def run_file(chunker: str, tokenizer: str, size: int, overlap: int) -> Path:
    """Return where the run of a row is stored."""
    return RUNS / f"minilm-{chunker.lower()}-{tokenizer}-{size}-{overlap}.jsonl.gz"


def questions() -> list[str]:
    """Return the questions in the order of the gold's topics, ``q1``, ``q2`` …."""
    with (folder("chroma_chunking_evaluation") / "questions_df.csv").open(encoding="utf-8", newline="") as lines:
        return [line["question"] for line in csv.DictReader(lines)]


def nearest(queries: NDArray[np.float32], chunks: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the rows of the nearest chunks of every query, nearest first; vectors have length 1."""
    return np.argsort(-(queries @ chunks.T), axis=1, kind="stable")[:, :RETRIEVED]


def write(path: Path, chunks: Chunks, found: NDArray[np.int64]) -> None:
    """Write a run: JSON lines of topic, document, start, end and rank."""
    lines = [
        json.dumps(
            {
                "topic": f"q{topic}",
                "doc": chunks.document[row],
                "start": int(chunks.start[row]),
                "end": int(chunks.end[row]),
                "rank": rank,
            }
        )
        for topic, rows in enumerate(found.tolist(), 1)
        for rank, row in enumerate(rows, 1)
    ]
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


def main() -> None:
    """Write the runs that are not there yet."""
    with tempfile.TemporaryDirectory() as place:
        where = package("all_minilm_l6_v2").extract_model(place)
        model = package("sentence_transformers").SentenceTransformer(str(where), device="cpu")
    asked = model.encode(questions(), normalize_embeddings=True)
    for row in ROWS:
        if run_file(*row).exists():
            continue
        chunks = chunks_of(*row)
        spans = zip(chunks.document, chunks.start.tolist(), chunks.end.tolist(), strict=True)
        texts = [documents()[name][start:end] for name, start, end in spans]
        write(run_file(*row), chunks, nearest(asked, model.encode(texts, normalize_embeddings=True)))
        print(run_file(*row).name, len(texts), "chunks", flush=True)


if __name__ == "__main__":
    main()
