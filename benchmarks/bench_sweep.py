"""How long a sweep takes: twelve chunkings of chroma's five corpora for its 472 questions, cut, retrieved and scored.

    python benchmarks/bench_sweep.py [--page]

FOCUSEVAL_DATA names the folder with `chroma_chunking_evaluation`. Processor time; the peer is bm25s, which indexes the
texts of every chunking anew and ranks the same questions (stems and stop words as ours). With ``--page`` the report is
made as well.
"""

import os
import sys
import time
from pathlib import Path

import bm25s
import Stemmer

import focuseval as fe
from focuseval.report.page import render_html

DATA = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
SPECS = (
    "characters:200", "characters:400", "characters:400/200", "characters:800", "characters:800/400", "words:50",
    "words:100", "words:100/50", "words:200/100", "sentences:1", "sentences:3", "sentences:5/3",
)  # fmt: skip
RESULTS = 100


def timed(work):
    start, clock = time.process_time(), time.perf_counter()
    found = work()
    return found, time.process_time() - start, time.perf_counter() - clock


def judged(found):
    """Make the whole table, tests and all; return what it says."""
    return found.table().notes[0]


def peer(index, queries):
    """Index and rank every chunking by bm25s."""
    stemmer = Stemmer.Stemmer("english")
    asked = bm25s.tokenize(list(queries), stopwords="en", stemmer=stemmer, show_progress=False)
    for spec in SPECS:
        texts = list(fe.chunk(index, spec).texts(index))
        ranker = bm25s.BM25(k1=1.2, b=0.75)
        tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
        ranker.index(tokens, show_progress=False)
        ranker.retrieve(asked, k=min(RESULTS, len(texts)), show_progress=False)


def main(*, page):
    folder = DATA / "chroma_chunking_evaluation"
    index = fe.open_documents(folder / "corpora")
    gold = fe.read_gold(folder / "questions_df.csv", index=index)
    _, cut, _ = timed(lambda: [fe.chunk(index, spec) for spec in SPECS])
    characters = int(index.lengths.sum())
    print(f"cut            {cut:6.2f} s CPU  {len(SPECS) * characters / cut / 1e6:.0f} million characters a second")
    found, work, wall = timed(lambda: judged(fe.sweep(gold, index, SPECS, limit=RESULTS)))
    print(f"sweep          {work:6.2f} s CPU  {wall:.1f} s: {len(gold.topics)} questions × {len(SPECS)} chunkings")
    _, theirs, _ = timed(lambda: peer(index, gold.queries.values()))
    print(f"bm25s, ranking {theirs:6.2f} s CPU  {theirs / work:.1f} × the whole sweep")
    if page:
        made, more, wall = timed(lambda: render_html(fe.sweep(gold, index, SPECS).report()))
        print(f"sweep and page {more:6.2f} s CPU  {wall:.1f} s, {len(made.encode()) / 1e6:.1f} MB")
    print(found)


if __name__ == "__main__":
    main(page="--page" in sys.argv)
