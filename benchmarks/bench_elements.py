"""Element runs against a gold of 2006's size: the official measures of all four tasks in memory, results a second.

    python benchmarks/bench_elements.py [runs] [repeats]

Each task's runs obey its rules: thorough returns any elements, focused none that contain one another, relevant in
context whole articles one after another, best in context one entry point an article. Thorough and focused runs are
paths, as their gold carries sizes; the others have their characters too, as a run that was read with an index.
The floor is one stable sort of a run's 64-bit keys by NumPy: what any method that sorts its results pays at least.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

from focuseval.data.gold import Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run
from focuseval.evaluation.evaluation import evaluate

TOPICS, RESULTS, RELEVANT, DOCUMENTS = 114, 1500, 50, 4000
SECTIONS, PARAGRAPHS, SIZE, LINK = 12, 8, 400, 25
LENGTH = SECTIONS * PARAGRAPHS * SIZE
TASKS = ("thorough", "focused", "relevant-in-context", "best-in-context")


def all_elements() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Paths and spans of an article's 206 elements: sections, paragraphs and links in document order."""
    found = [("/article[1]", 0, LENGTH), ("/article[1]/body[1]", 0, LENGTH)]
    for s in range(SECTIONS):
        section, begin = f"/article[1]/body[1]/section[{s + 1}]", s * PARAGRAPHS * SIZE
        found.append((section, begin, begin + PARAGRAPHS * SIZE))
        for p in range(PARAGRAPHS):
            at = begin + p * SIZE
            found.append((f"{section}/p[{p + 1}]", at, at + SIZE))
            found.append((f"{section}/p[{p + 1}]/collectionlink[1]", at + 100, at + 100 + LINK))
    paths, start, end = zip(*found, strict=True)
    return list(paths), np.array(start), np.array(end)


def synthetic_gold(random: np.random.Generator, topics: int = TOPICS) -> Gold:
    """Fifty relevant articles a topic, each with one passage of one to thirty paragraphs."""
    paths, first, last = all_elements()
    topic = np.repeat(np.arange(topics, dtype=np.int32), RELEVANT)
    document = np.concatenate([random.choice(DOCUMENTS, RELEVANT, replace=False) for _ in range(topics)])
    document = document.astype(np.int32)
    start = random.integers(0, LENGTH - 31 * SIZE, len(topic))
    end = start + random.integers(SIZE, 30 * SIZE, len(topic))
    shared = np.maximum(0, np.minimum(end[:, None], last) - np.maximum(start[:, None], first))
    article, code = np.nonzero(shared)
    return Gold(
        tuple(str(t) for t in range(topics)),
        pa.array([f"d{i}" for i in range(DOCUMENTS)]),
        Articles(topic, document, np.ones(len(topic), np.int32), np.full(len(topic), LENGTH), end - start, start),
        Passages(topic, document, start, end, end - start),
        GradedElements(
            topic[article],
            document[article],
            pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(paths)),
            np.full(len(code), 2, np.int8),
            np.full(len(code), -1, np.int8),
            (last - first)[code],
            shared[article, code],
        ),
    )


def synthetic_run(random: np.random.Generator, gold: Gold, task: str, number: int) -> Run:
    """Every relevant article is returned, among many others, by one result or five."""
    paths, first, last = all_elements()
    topics = len(gold.topics)
    topic = np.repeat(np.arange(topics, dtype=np.int32), RESULTS)
    each = {"thorough": 5, "focused": 1, "relevant-in-context": 5, "best-in-context": 1}[task]
    document = np.concatenate([some_articles(random, gold, t, RESULTS // each) for t in range(topics)])
    document = np.repeat(document, each).astype(np.int32)
    if task == "thorough":
        document = random.permuted(document.reshape(topics, RESULTS), axis=1).ravel()
    code = random.integers(0, len(paths), len(topic))
    if task != "thorough":  # paragraphs, the links left out; the next one for the next result of an article
        code = 3 + (code // 24 % SECTIONS) * (1 + 2 * PARAGRAPHS) + 2 * (np.arange(len(topic)) % each)
    spans = {} if task in TASKS[:2] else {"start": first[code], "end": last[code]}
    return Run(
        f"run{number}",
        gold.topics,
        topic,
        pa.DictionaryArray.from_arrays(pa.array(document), gold.documents),
        path=pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(paths)),
        **spans,
    )


def some_articles(random: np.random.Generator, gold: Gold, topic: int, number: int) -> np.ndarray:
    """Different articles of one topic, the relevant ones rather at the top."""
    relevant = gold.articles.document[topic * RELEVANT : (topic + 1) * RELEVANT]
    others = np.setdiff1d(np.arange(DOCUMENTS), relevant)
    chosen = np.concatenate((relevant, random.choice(others, number - RELEVANT, replace=False)))
    return chosen[np.argsort(random.random(number) - 0.5 * (np.arange(number) < RELEVANT))]


def times(call, repeats: int) -> np.ndarray:
    """Return wall and processor seconds of every repeat."""
    taken = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - wall, time.process_time() - processor))
    return np.array(taken)


def main(runs: int = 20, repeats: int = 5) -> None:
    random = np.random.default_rng(2006)
    gold = synthetic_gold(random)
    results = runs * TOPICS * RESULTS
    keys = random.integers(0, 2**62, TOPICS * RESULTS)
    floor = runs * times(lambda: np.sort(keys, kind="stable"), 9)[:, 0].min()
    print(f"{runs} runs × {TOPICS} topics × {RESULTS}, {len(gold.elements.topic):,} assessed elements; M results/s")
    total = np.zeros((repeats, 2))
    for task in TASKS:
        made = [synthetic_run(random, gold, task, i) for i in range(runs)]
        taken = times(lambda task=task, made=made: evaluate(gold, made, task=task, profile="inex2006"), repeats)
        total += np.sort(taken, axis=0)
        show(task, results, taken, floor)
    show("all four", len(TASKS) * results, total, len(TASKS) * floor)


def show(label: str, results: int, taken: np.ndarray, floor: float) -> None:
    best, median, processor = taken[:, 0].min(), np.median(taken[:, 0]), taken[:, 1].min()
    rates = f"best {results / best / 1e6:5.1f}, median {results / median / 1e6:5.1f}"
    print(f"{label:20} {rates}, by processor time {results / processor / 1e6:5.1f}; {best / floor:.2f} × one sort")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
