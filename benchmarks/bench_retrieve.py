"""Words, queries and memory of `focuseval retrieve` against bm25s and tantivy on the same units, in one run.

The PLOS articles in FOCUSEVAL_DATA, repeated: 9 times are 2.7 million elements, of which 350,000 hold ten words or
more. Units are these elements; the peers get their terms ready-made, we read the texts. Processor time, one core.

    python benchmarks/bench_retrieve.py [COPIES]
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import focuseval as fe
from focuseval.retrieval.lists import task_list
from focuseval.retrieval.settings import RetrievalSettings
from focuseval.retrieval.store import open_words
from focuseval.retrieval.units import UnitRanker

DATA = Path(os.environ.get("FOCUSEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
QUERIES, TERMS, LIMIT, TOPICS = 100, 4, 1500, 115


def timed(work):
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def copies(folder, many):
    source = folder / "articles"
    source.mkdir()
    for number in range(many):
        for file in (DATA / "plos").glob("*.xml"):
            shutil.copyfile(file, source / f"{number}-{file.name}")
    fe.build_index(source, folder / "a.idx")
    return folder / "a.idx"


def chosen(words, rng):
    """Queries of terms that occur 20 to 20,000 times, the frequent ones more often."""
    names = words.terms
    frequency = np.array([len(words.occurrences(name)) for name in names])
    known = [i for i, name in enumerate(names) if name.isalpha() and len(name) > 3 and 20 < frequency[i] < 20_000]
    share = frequency[known] ** 0.7
    share /= share.sum()
    return [[names[i] for i in rng.choice(known, TERMS, replace=False, p=share)] for _ in range(QUERIES)]


def ours(path):
    index = fe.open_index(path)
    size = sum(block.texts().nbytes for block in index.blocks) / 1e6
    words, build = timed(lambda: open_words(index, "english", 1))
    words = open_words(index, "english")
    _, opening = timed(lambda: [words[name] for name in ("element", "first", "last", "parent", "depth", "tag")])
    print(f"focuseval   build {build:6.2f} s ({size / build:.1f} MB of text a second), peak {peak():,.0f} MB,", end=" ")
    print(f"opening {1000 * opening:.0f} ms, {len(words['first']):,} elements")
    return words, build


def our_queries(words, queries):
    ranker = UnitRanker(words, RetrievalSettings(mix=0.0, task="thorough", idf="units").resolved())
    ranker.score({("warm",): 1})
    rules = ranker.settings.rules

    def all_of_them():
        weights = ({(term,): 1 for term in query} for query in queries)
        return [task_list(ranker.units, *ranker.score(query, LIMIT), rules, LIMIT) for query in weights]

    found, spent = timed(all_of_them)
    print(f"focuseval   {1000 * spent / len(queries):6.2f} ms a query")
    return ranker, found, spent


def units_of(words, ranker):
    """The terms of every unit, by number."""
    term = np.empty(words.counted("kept"), np.int32)
    for number, name in enumerate(words.terms):
        term[words.occurrences(name)] = number
    rows = np.flatnonzero(ranker.units.returnable)
    return rows, [term[a:b] for a, b in zip(words["first"][rows], words["last"][rows], strict=True)]


def bm25s_peer(words, units, queries, found, rows):
    import bm25s  # noqa: PLC0415  a peer may be missing

    names = {name: number for number, name in enumerate(words.terms)}
    tokens = bm25s.tokenization.Tokenized(ids=[unit.tolist() for unit in units], vocab=names)
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    _, build = timed(lambda: peer.index(tokens, show_progress=False))
    asked = [[names[term] for term in query] for query in queries]
    scores, spent = timed(lambda: [peer.get_scores(query) for query in asked])
    _, best = timed(lambda: [np.argpartition(score, -LIMIT)[-LIMIT:] for score in scores])
    differs = max(
        float(np.abs(2.2 * score[np.searchsorted(rows, unit)] - ours).max(initial=0))
        for score, (unit, ours) in zip(scores, found, strict=True)
    )
    print(f"bm25s       build {build:6.2f} s, {1000 * (spent + best) / len(queries):6.2f} ms a query,", end=" ")
    print(f"peak {peak():,.0f} MB, scores differ by {differs:.0e} at most")
    return build, spent + best


def tantivy_peer(words, units, queries, folder):
    import tantivy  # noqa: PLC0415  as above

    names = np.array(words.terms, object)
    schema = tantivy.SchemaBuilder().add_text_field("body", tokenizer_name="whitespace", index_option="freq").build()
    index = tantivy.Index(schema, path=str(folder))
    writer = index.writer(200_000_000, 1)

    def fill():
        for unit in units:
            writer.add_document(tantivy.Document(body=" ".join(names[unit])))
        writer.commit()
        writer.wait_merging_threads()

    _, build = timed(fill)
    index.reload()
    searcher = index.searcher()
    asked = [index.parse_query(" ".join(query), ["body"]) for query in queries]
    _, spent = timed(lambda: [searcher.search(query, LIMIT) for query in asked])
    print(f"tantivy     build {build:6.2f} s, {1000 * spent / len(queries):6.2f} ms a query")


def end_to_end(path, queries, folder):
    topics = folder / "topics.tsv"
    topics.write_text("".join(f"{n}\t{' '.join(queries[n % QUERIES])}\n" for n in range(TOPICS)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "focuseval", "retrieve", path, topics, "-o", folder / "run.xml"]
    subprocess.run(command, check=True, capture_output=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"focuseval   {TOPICS} topics from the shell: {spent:.2f} s of processor time, {wall:.2f} s on the clock")


def main(many):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = copies(folder, many)
        words, build = ours(path)
        queries = chosen(words, np.random.default_rng(0))
        ranker, found, spent = our_queries(words, queries)
        end_to_end(path, queries, folder)
        rows, units = units_of(words, ranker)
        print(f"units: {len(units):,}")
        their_build, their_spent = bm25s_peer(words, units, queries, found, rows)
        faster, share = their_build / build, spent / their_spent
        print(f"            focuseval builds {faster:.1f} × faster, a query takes {share:.2f} of bm25s's time")
        (folder / "tantivy").mkdir()
        tantivy_peer(words, units, queries, folder / "tantivy")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
