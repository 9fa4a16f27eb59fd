"""Span measures in memory: set measures and rank-sensitive novelty, in million spans a second.

    python benchmarks/bench_spans.py [queries] [chunks per query]

The peer is the obvious Python of today's chunk evaluators (sorted intervals, one query at a time), measured in the
same run on the same data; chunking_evaluation itself needs its own corpus and reaches about the same speed. Times are
processor times, so that a busy machine disturbs little.
"""

import sys
import time

import numpy as np
import pyarrow as pa

from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run
from focuseval.data.spans import unseen
from focuseval.evaluation.evaluation import evaluate

SET = ("spanP", "spanR", "IoU")
RANKED = ("hAP", "MAiP", "spanNDCG@10")


def make(queries, chunks, rng):
    """Chunks of 400 characters every 300: neighbours overlap by a quarter."""
    documents = pa.array([f"doc{number}" for number in range(100)])
    gold_document = rng.integers(0, 100, queries).astype(np.int32)
    start = rng.integers(0, 50_000, queries)
    topic = np.arange(queries, dtype=np.int32)
    unknown, nothing = np.full(queries, UNKNOWN), np.zeros(0, np.int64)
    gold = Gold(
        tuple(f"q{number}" for number in range(queries)),
        documents,
        Articles(topic, gold_document, np.ones(queries, np.int32), unknown, np.full(queries, 500), unknown),
        Passages(topic, gold_document, start, start + 500, np.full(queries, 500)),
        GradedElements(
            *(nothing.astype(np.int32),) * 2,
            pa.array([], pa.string()),
            *(nothing.astype(np.int8),) * 2,
            nothing,
            nothing,
        ),
    )
    near = np.repeat(start // 300 * 300, chunks) + rng.integers(-20, 20, queries * chunks) * 300
    begin = np.maximum(near, 0)
    same = rng.random(queries * chunks) < 0.7
    document = np.where(same, np.repeat(gold_document, chunks), rng.integers(0, 100, queries * chunks))
    run = Run(
        "chunks",
        gold.topics,
        np.repeat(topic, chunks),
        pa.DictionaryArray.from_arrays(pa.array(document.astype(np.int32)), documents),
        start=begin,
        end=begin + 400,
    )
    return gold, run


def plain_python(gold, run):
    """Precision, recall and IoU of the chunks of each query, one query at a time."""
    document, start, end, bounds = run.document.indices.to_pylist(), run.start.tolist(), run.end.tolist(), run.bounds
    marks = list(
        zip(gold.passages.document.tolist(), gold.passages.start.tolist(), gold.passages.end.tolist(), strict=True)
    )
    found = []
    for query, (where, first, last) in enumerate(marks):
        rows = range(bounds[query], bounds[query + 1])
        size = hit = 0
        reach = {}
        for d, begin, e in sorted((document[row], start[row], end[row]) for row in rows):
            s = max(begin, reach.get(d, 0))
            if e > s:
                size += e - s
                hit += max(0, min(e, last) - max(s, first)) if d == where else 0
                reach[d] = e
        found.append((hit / size, hit / (last - first), hit / (size + last - first - hit)))
    return np.array(found)


def best_and_median(work, repeats=15):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times), float(np.median(times))


def main(queries=1_000, chunks=50):
    gold, run = make(queries, chunks, np.random.default_rng(1))
    spans = len(run)
    peer = plain_python(gold, run)
    ours = evaluate(gold, run, SET).values[0]
    assert np.allclose(peer, ours), "the peer disagrees"
    plain, _ = best_and_median(lambda: plain_python(gold, run), 3)
    print(f"{queries} queries × {chunks} chunks = {spans:,} spans")
    for label, work in (
        ("set measures (P, R, IoU)", lambda: evaluate(gold, run, SET)),
        ("rank-sensitive (hAP, MAiP, nDCG)", lambda: evaluate(gold, run, RANKED)),
        (
            "novelty alone (spans.unseen)",
            lambda: unseen(run.topic * 100 + run.document.indices.to_numpy(), run.start, run.end),
        ),
        ("ceiling of the chunking", lambda: evaluate(gold, run, ["ceiling(spanP)", "ceiling(spanR)", "ceiling(IoU)"])),
    ):
        seconds, median = best_and_median(work)
        rate = f"{spans / seconds / 1e6:6.2f} M spans/s (median {spans / median / 1e6:6.2f})"
        print(f"{label:32} {seconds * 1e3:7.1f} ms {rate} {plain / seconds:6.1f} × plain Python")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
