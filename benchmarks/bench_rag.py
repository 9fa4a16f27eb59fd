"""Chunks against highlighted text, beside what two chunk evaluators of today do for the same figures.

    python benchmarks/bench_rag.py [queries] [chunks per query]

Times are processor times, so that a busy machine disturbs little. The peers are not on PyPI, so their algorithms are
restated here from their descriptions, on the kinds of objects that they use (their own code, with its data frames and
validated models, is slower): LegalBench-RAG compares every chunk with every
snippet; chunking_evaluation keeps lists of ranges, merged after every hit; its ceiling (Precision Ω) does so for every
chunk of the corpus and every question. Both restatements print the numbers of our ``--compat``, which the benchmark
checks. (The tests hold ``--compat`` to figures printed by the peers' own code.)
"""

import sys
import time
from itertools import pairwise

import numpy as np
import pyarrow as pa

from focuseval.evaluate import evaluate
from focuseval.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.measures.ceiling import Chunks
from focuseval.run import Run

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


def objects(lists):
    return [[Snippet(file, (start, end)) for file, start, end in spans] for spans in lists]


def records(spans):
    return [{"start_index": start, "end_index": end, "corpus_id": file} for file, start, end in spans]


# -- LegalBench-RAG: objects with a file and a span, every chunk against every snippet -----------------------------


class Snippet:
    def __init__(self, file, span):
        self.file, self.span = file, span


def every_pair(snippets, chunks):
    """Recall and precision of each query."""
    return np.array([(pair_recall(s, c), pair_precision(s, c)) for s, c in zip(snippets, chunks, strict=True)])


def pair_recall(snippets, chunks):
    relevant = shared = 0
    for snippet in snippets:
        relevant += snippet.span[1] - snippet.span[0]
        for chunk in chunks:
            if chunk.file == snippet.file:
                low, high = max(chunk.span[0], snippet.span[0]), min(chunk.span[1], snippet.span[1])
                if high > low:
                    shared += high - low
    return shared / relevant if relevant else 0


def pair_precision(snippets, chunks):
    size = shared = 0
    for chunk in chunks:
        size += chunk.span[1] - chunk.span[0]
        for snippet in snippets:
            if chunk.file == snippet.file:
                low, high = max(chunk.span[0], snippet.span[0]), min(chunk.span[1], snippet.span[1])
                if high > low:
                    shared += high - low
    return shared / size if size else 0


# -- chunking_evaluation: records with a corpus and two indexes, lists of ranges merged after every hit -------------


def merged(ranges):
    """Unite ranges after sorting them by their start; touching ones too."""
    in_order = sorted(ranges, key=lambda one: one[0])
    found = [in_order[0]]
    for start, end in in_order[1:]:
        last_start, last_end = found[-1]
        if start <= last_end:
            found[-1] = (last_start, max(last_end, end))
        else:
            found.append((start, end))
    return found


def common(one, other):
    """Return what two ranges share; an empty range where they touch, None where they are apart."""
    start, end = max(one[0], other[0]), min(one[1], other[1])
    return (start, end) if start <= end else None


def without(ranges, cut):
    """Cut one range out of others."""
    low, high = cut
    left = []
    for start, end in ranges:
        if end < low or start > high:
            left.append((start, end))
            continue
        if start < low:
            left.append((start, low))
        if end > high:
            left.append((high, end))
    return left


def hits(references, corpus, chunks):
    """Go through chunks and references; return the ranges hit, those of the chunks that hit, and those missed."""
    hit, holding = [], []
    missed = [(reference["start_index"], reference["end_index"]) for reference in references]
    for chunk in chunks:
        start, end, where = chunk["start_index"], chunk["end_index"], chunk["corpus_id"]
        if where != corpus:
            continue
        for reference in references:
            shared = common((start, end), (int(reference["start_index"]), int(reference["end_index"])))
            if shared is not None:
                missed = without(missed, shared)
                hit = merged([shared, *hit])
                holding = merged([(start, end), *holding])
    return hit, holding, missed


def total(ranges):
    return sum(end - start for start, end in ranges)


def lengths(records):
    return total([(record["start_index"], record["end_index"]) for record in records])


def range_lists(questions, retrieved):
    """Recall, precision and IoU of each question."""
    rows = []
    for (corpus, references), chunks in zip(questions, retrieved, strict=True):
        hit, _, missed = hits(references, corpus, chunks)
        found, size = total(hit), lengths(chunks)
        rows.append((found / lengths(references), found / size, found / (size + total(missed))))
    return np.array(rows)


def omega(questions, every):
    """IoU when all chunks that hold or touch a reference are retrieved, one question after the other."""
    rows = []
    for corpus, references in questions:
        hit, holding, missed = hits(references, corpus, every)
        rows.append(total(hit) / total(merged(holding + missed)) if hit else 0.0)
    return np.array(rows)


# -- all together -----------------------------------------------------------------------------------------------


def all_chunks():
    """Every chunk of every document: 400 characters every 300."""
    starts = np.tile(np.arange(0, LENGTH, 300), CORPUS)
    documents = pa.array([f"doc{number}" for number in range(CORPUS)])
    codes = np.repeat(np.arange(CORPUS), len(starts) // CORPUS)
    return Chunks(documents.take(pa.array(codes)), starts, starts + 400)


def report(label, theirs, ours):
    print(f"{label:44} {theirs * 1e3:9.1f} ms  focuseval {ours * 1e3:7.2f} ms  {theirs / ours:7.1f} ×")


def main(queries=1_000, chunks=50):
    gold, run = make(queries, chunks, np.random.default_rng(1))
    snippets, found = rows_of(gold, run)
    questions = [(spans[0][0], records(spans)) for spans in snippets]
    print(f"{queries} queries × {chunks} chunks")
    ours, _ = best(lambda: evaluate(gold, run, ["spanR", "spanP", "IoU"]), 15)
    retrieved = [records(spans) for spans in found]
    theirs, values = best(lambda: range_lists(questions, retrieved), 3)
    assert np.allclose(values, evaluate(gold, run, ["spanR", "spanP", "IoU"], compat="chroma").values[0, :, 1::2])
    report("P, R, IoU: chunking_evaluation", theirs, ours)
    mine, others = objects(snippets), objects(found)
    theirs, values = best(lambda: every_pair(mine, others), 3)
    assert np.allclose(values, evaluate(gold, run, ["spanR", "spanP"], compat="legalbenchrag").values[0, :, 1::2])
    report("P, R: legalbenchrag", theirs, ours)
    every = all_chunks()
    listed = records(zip(every.document.to_pylist(), every.start.tolist(), every.end.tolist(), strict=True))
    ours, _ = best(lambda: evaluate(gold, run, ["ceiling(IoU)", "ceiling(spanR)", "ceiling(spanP)"], chunks=every), 15)
    theirs, values = best(lambda: omega(questions, listed), 1)
    assert np.allclose(values, evaluate(gold, run, ["ceiling(IoU)"], compat="chroma", chunks=every).values[0, :, 1])
    report(f"ceiling, {len(listed):,} chunks: chunking_evaluation", theirs, ours)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
