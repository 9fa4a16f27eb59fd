"""One chunking of a large text, words without stop words, many questions: `focuseval` against bm25s.

    python benchmarks/bench_passages.py [MEGABYTES] [QUESTIONS]

A synthetic text whose words fall off as 1/rank, 20,000 of them, so that questions of frequent words have long
postings. Chunks are 100 words. bm25s gets the terms of every chunk ready-made and indexes the chunking; ours cuts it
out of the index of words, which is made once for all chunkings (its time is printed beside). Processor time.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import focuseval as fe
from focuseval.retrieval.lists import best
from focuseval.retrieval.settings import RetrievalSettings
from focuseval.retrieval.store import open_words
from focuseval.retrieval.units import UnitRanker

WORDS, LIMIT = 20_000, 100


def timed(work):
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin


def main(megabytes, questions):
    rng = np.random.default_rng(0)
    names = np.array(["".join(rng.choice(list("abcdefghijklmnop"), rng.integers(3, 9))) + str(n) for n in range(WORDS)])
    share = 1 / np.arange(1, WORDS + 1)
    share /= share.sum()
    many = int(megabytes * 1e6 / 10)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "docs").mkdir()
        for number, part in enumerate(np.array_split(rng.choice(WORDS, many, p=share), 200)):
            (folder / "docs" / f"{number}.txt").write_text(" ".join(names[part]), encoding="utf-8")
        fe.build_index(folder / "docs", folder / "i.idx")
        index = fe.open_index(folder / "i.idx")
        words, read = timed(lambda: open_words(index, "none", 1))
        size = sum(file.stat().st_size for file in (folder / "i.idx" / "words-none").iterdir()) / 1e6
        print(f"words: {read:.1f} s once, {size:.0f} MB on disk for {megabytes} MB of text")
        asked = [[str(names[n]) for n in rng.choice(WORDS, 6, p=share)] for _ in range(questions)]

        def ours():
            ranker = UnitRanker(words, RetrievalSettings(unit="passage:100", language="none").resolved())
            found = ranker.sums
            return ranker, found, [best(ranker.units, *ranker.score(_weights(query), LIMIT), LIMIT) for query in asked]

        (ranker, _, mine), spent = timed(ours)
        _, again = timed(lambda: [best(ranker.units, *ranker.score(_weights(query), LIMIT), LIMIT) for query in asked])
        print(
            f"focuseval: {spent:.2f} s for a chunking and {questions} questions, {1000 * again / questions:.1f} ms each"
        )
        term = np.empty(words.counted("kept"), np.int32)
        for number, name in enumerate(words.terms):
            term[words.occurrences(name)] = number
        first, last = ranker.units.first, ranker.units.last
        units = [term[a:b] for a, b in zip(first, last, strict=True)]
        known = {name: number for number, name in enumerate(words.terms)}
        import bm25s  # noqa: PLC0415  a peer may be missing

        peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        tokens = bm25s.tokenization.Tokenized(ids=[unit.tolist() for unit in units], vocab=known)
        _, build = timed(lambda: peer.index(tokens, show_progress=False))
        ids = [[known[word] for word in dict.fromkeys(query)] for query in asked]
        scores, theirs = timed(lambda: [np.argpartition(peer.get_scores(query), -LIMIT)[-LIMIT:] for query in ids])
        print(f"bm25s: {build:.2f} s to index, {1000 * theirs / questions:.1f} ms a question", end="; ")
        print(f"ours takes {spent / (build + theirs):.2f} of its time, a question {again / theirs:.2f}")
        once = [np.flatnonzero([len(set(query)) == len(query) for query in asked])[:5]]
        shared = [len(np.intersect1d(mine[n][0], scores[n])) / LIMIT for n in once[0]]
        print(f"{np.mean(shared):.3f} of the best {LIMIT} are the same")


def _weights(query):
    found = {}
    for word in query:
        found[(word,)] = found.get((word,), 0) + 1
    return found


if __name__ == "__main__":
    main(*(int(value) for value in (sys.argv[1:] + ["84", "200"][len(sys.argv) - 1 :])))
