"""Chunks against highlighted text, beside what two chunk evaluators of today do for the same figures.

    python benchmarks/bench_rag.py [queries] [chunks per query]

Times are processor times, so that a busy machine disturbs little. The peers are timed as `rag_peers` says: their own
code where it is at hand, else their algorithms restated; the output says which. Their numbers must be those of our
``--compat``, which the benchmark checks either way.
"""

import sys
import time
from itertools import pairwise

import numpy as np
import pyarrow as pa
from rag_peers import chunking_ceiling, chunking_evaluation, legalbenchrag

from focuseval.collection.chunks import Chunks
from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run
from focuseval.evaluation.evaluation import evaluate

CORPUS, LENGTH = 5, 300_000
"""Documents, and characters in each: five corpora, as chunking_evaluation has."""


def make(queries, chunks, rng):
    """Three references for each query, in one document; chunks of 400 characters every 300, 70 % from there."""
    topic, documents = np.arange(queries, dtype=np.int32), pa.array([f"doc{number}" for number in range(CORPUS)])
    where, first = rng.integers(0, CORPUS, queries).astype(np.int32), rng.integers(0, LENGTH - 6_000, queries)
    start = (first[:, None] + np.arange(3) * 700).reshape(-1)
    unknown, nothing = np.full(queries, UNKNOWN), np.zeros(0, np.int64)
    no_elements = (*(nothing.astype(np.int32),) * 2, pa.array([], pa.string()), *(nothing.astype(np.int8),) * 2)
    gold = Gold(
        tuple(f"q{number}" for number in range(queries)),
        documents,
        Articles(topic, where, np.ones(queries, np.int32), unknown, unknown, unknown),
        Passages(np.repeat(topic, 3), np.repeat(where, 3), start, start + 250, np.full(3 * queries, 250)),
        GradedElements(*no_elements, nothing, nothing),
    )
    near = np.maximum(np.repeat(first // 300, chunks) + rng.integers(-20, 20, queries * chunks), 0) * 300
    same = rng.random(queries * chunks) < 0.7
    returned = np.where(same, np.repeat(where, chunks), rng.integers(0, CORPUS, queries * chunks)).astype(np.int32)
    ids = pa.DictionaryArray.from_arrays(pa.array(returned), documents)
    return gold, Run("chunks", gold.topics, np.repeat(topic, chunks), ids, start=near, end=near + 400)


def best(work, repeats=7):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
    return min(times), found


def rows_of(gold, run):
    """The same data as lists of (document, start, end), one for every query."""
    p, names = gold.passages, gold.documents.to_pylist()
    marks = [(names[d], s, e) for d, s, e in zip(*(c.tolist() for c in (p.document, p.start, p.end)), strict=True)]
    rows = list(zip(run.document.to_pylist(), run.start.tolist(), run.end.tolist(), strict=True))
    found = [rows[low:high] for low, high in pairwise(run.bounds.tolist())]
    return [marks[i : i + 3] for i in range(0, len(marks), 3)], found


def all_chunks():
    """Every chunk of every document: 400 characters every 300."""
    starts = np.tile(np.arange(0, LENGTH, 300), CORPUS)
    documents = pa.array([f"doc{number}" for number in range(CORPUS)])
    codes = np.repeat(np.arange(CORPUS), len(starts) // CORPUS)
    return Chunks(documents.take(pa.array(codes)), starts, starts + 400)


def report(label, peer, theirs, ours):
    print(f"{label:32} {peer:32} {theirs * 1e3:9.1f} ms  focuseval {ours * 1e3:7.2f} ms  {theirs / ours:7.1f} ×")


def main(queries=1_000, chunks=50):
    gold, run = make(queries, chunks, np.random.default_rng(1))
    snippets, found = rows_of(gold, run)
    print(f"{queries} queries × {chunks} chunks")
    ours, _ = best(lambda: evaluate(gold, run, ["spanR", "spanP", "IoU"]), 15)
    name, work = chunking_evaluation(snippets, found)
    theirs, values = best(work, 3)
    assert np.allclose(values, evaluate(gold, run, ["spanR", "spanP", "IoU"], compat="chroma").values[0, :, 1::2])
    report("P, R, IoU", name, theirs, ours)
    name, work = legalbenchrag(snippets, found)
    theirs, values = best(work, 3)
    assert np.allclose(values, evaluate(gold, run, ["spanR", "spanP"], compat="legalbenchrag").values[0, :, 1::2])
    report("P, R", name, theirs, ours)
    every = all_chunks()
    listed = list(zip(every.document.to_pylist(), every.start.tolist(), every.end.tolist(), strict=True))
    ours, _ = best(lambda: evaluate(gold, run, ["ceiling(IoU)", "ceiling(spanR)", "ceiling(spanP)"], chunks=every), 15)
    name, work = chunking_ceiling(snippets, listed)
    theirs, values = best(work, 1)
    assert np.allclose(values, evaluate(gold, run, ["ceiling(IoU)"], compat="chroma", chunks=every).values[0, :, 1])
    report(f"ceiling, {len(listed):,} chunks", name, theirs, ours)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
