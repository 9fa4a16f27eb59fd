"""Element runs against a gold of 2006's size: thorough and focused measures in memory, results a second.

The floor is one stable sort of a run's 64-bit keys by NumPy: what any method that sorts its results pays at least.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from focuseval.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.match import Policies, match, prepare
from focuseval.measures import parse
from focuseval.run import Run

TOPICS, RESULTS, RUNS, RELEVANT, DOCUMENTS = 114, 1500, 10, 50, 4000
THOROUGH = ("MAep", "iMAep", *(f"ep@0.{d}" for d in range(1, 10)), "ep@1")
FOCUSED = ("nxCG@5", "nxCG@10", "nxCG@25", "nxCG@50")


def all_paths() -> list[str]:
    """About 200 paths of an article: sections, paragraphs, links."""
    found = ["/article[1]", "/article[1]/body[1]"]
    for s in range(1, 13):
        section = f"/article[1]/body[1]/section[{s}]"
        found.append(section)
        for p in range(1, 9):
            found += [f"{section}/p[{p}]", f"{section}/p[{p}]/collectionlink[1]"]
    return found


def synthetic_gold(random: np.random.Generator, paths: list[str]) -> Gold:
    topic = np.repeat(np.arange(TOPICS, dtype=np.int32), RELEVANT)
    document = np.concatenate([random.choice(DOCUMENTS, RELEVANT, replace=False) for _ in range(TOPICS)]).astype(
        np.int32
    )
    per = 90
    code = np.concatenate([np.sort(random.choice(len(paths), per, replace=False)) for _ in topic])
    size = random.integers(20, 5000, len(code))
    rsize = np.minimum(size, random.integers(1, 5000, len(code)))
    empty = np.zeros(0, np.int64)
    none = np.full(len(topic), UNKNOWN, np.int64)
    return Gold(
        tuple(str(t) for t in range(TOPICS)),
        pa.array([f"d{i}" for i in range(DOCUMENTS)]),
        Articles(topic, document, np.ones(len(topic), np.int32), none, none, none),
        Passages(empty.astype(np.int32), empty.astype(np.int32), empty, empty, empty),
        GradedElements(
            np.repeat(topic, per),
            np.repeat(document, per),
            pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(paths)),
            np.full(len(code), 2, np.int8),
            np.full(len(code), UNKNOWN, np.int8),
            size,
            rsize,
        ),
    )


def synthetic_run(random: np.random.Generator, gold: Gold, paths: list[str], number: int) -> Run:
    """A third of the results come from relevant articles."""
    topic = np.repeat(np.arange(TOPICS, dtype=np.int32), RESULTS)
    document = random.integers(0, DOCUMENTS, len(topic))
    lucky = random.random(len(topic)) < 1 / 3
    document[lucky] = gold.articles.document[(topic * RELEVANT + random.integers(0, RELEVANT, len(topic)))[lucky]]
    return Run(
        f"run{number}",
        gold.topics,
        topic,
        pa.DictionaryArray.from_arrays(pa.array(document, pa.int32()), gold.documents),
        path=pa.DictionaryArray.from_arrays(
            pa.array(random.integers(0, len(paths), len(topic)), pa.int32()), pa.array(paths)
        ),
    )


def score(prepared, run: Run, names: tuple[str, ...]) -> None:
    m = match(run, prepared, Policies(base="filtered", cutoff=1500))
    for name in names:
        asked = parse(name)
        asked.measure.compute(m, **asked.arguments(m.policies))


def best(call, repeats: int = 3) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    random, paths = np.random.default_rng(2006), all_paths()
    gold = synthetic_gold(random, paths)
    runs = [synthetic_run(random, gold, paths, i) for i in range(RUNS)]
    start = time.perf_counter()
    prepared = prepare(gold)
    score(prepared, runs[0], THOROUGH + FOCUSED)
    print(f"gold side, {len(gold.elements.topic):,} elements, once: {time.perf_counter() - start:.2f} s")
    results = RUNS * TOPICS * RESULTS
    keys = [random.integers(0, 2**62, TOPICS * RESULTS) for _ in runs]
    floor = best(lambda: [np.sort(k, kind="stable") for k in keys])
    for label, names in (("thorough", THOROUGH), ("focused", FOCUSED)):
        taken = best(lambda names=names: [score(prepared, run, names) for run in runs])
        print(f"{label}: {results / taken / 1e6:.1f} million results/s, {taken / floor:.2f} × one sort of the keys")


if __name__ == "__main__":
    main()
