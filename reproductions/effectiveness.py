"""BM25, vectors and both, on real questions, beside bm25s and sentence-transformers by themselves.

Documents are cut into chunks of three sentences, the same for everybody; a chunk is relevant where it holds a character
of an answer. Everybody has its own defaults: bm25s its English stop words, a Snowball stemmer and k1 = 1.5 (`bm25`
gives both programs the same), sentence-transformers its own search; ours are ``retrieve`` with ``bm25``, ``dense`` and
``hybrid``. Needs torch: ``python -m pip install --group embed``.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import focuseval as fe
from focuseval.data.tables import Table, numbers, words
from reproductions.data import folder, package

MEASURES = ("nDCG@10", "R@10")
DEPTH = 10
CHUNKS = "sentences:3"
COLLECTIONS = (
    ("XQuAD, English", "xquad", "xquad.en.json", "xquad.en.json"),
    ("chunking_evaluation", "chroma_chunking_evaluation", "questions_df.csv", "corpora"),
    ("Qasper, one paper", "qasper_sample", "qasper_sample_small.json", "qasper_sample_small.json"),
)
"""Name, folder, gold and documents. The sample of Qasper is one paper of four chunks, of which nothing follows."""

Lists = Mapping[str, Sequence[int]]
"""Topic → chunks, best first."""
Words = Sequence[Sequence[str]]
"""The words of texts."""


class Questions:
    """A collection in chunks, with its questions and what answers them."""

    def __init__(self, place: str, gold_file: str, docs: str) -> None:
        data = folder(place)
        self.collection = fe.open_documents(data / docs)
        self.gold = fe.read_gold(data / gold_file, docs=self.collection)
        self.chunks = fe.chunk(self.collection, CHUNKS)
        self.texts = list(self.chunks.texts(self.collection))
        self.queries = {topic: self.gold.queries[topic] for topic in self.gold.topics}

    def qrels(self) -> Iterator[str]:
        """Yield a line for every chunk that holds a character of an answer."""
        names, marked = self.gold.documents.to_pylist(), self.gold.passages
        by_document: dict[str, list[int]] = {}
        for row, name in enumerate(self.chunks.document.to_pylist()):
            by_document.setdefault(name, []).append(row)
        columns = (marked.topic, marked.document, marked.start, marked.end)
        found = {
            (self.gold.topics[topic], row)
            for topic, document, start, end in zip(*(column.tolist() for column in columns), strict=True)
            for row in by_document.get(names[document], ())
            if self.chunks.start[row] < end and start < self.chunks.end[row]
        }
        yield from (f"{topic.replace(' ', '_')} 0 {row} 1\n" for topic, row in sorted(found))

    def retrieve(self, way: str, **more: Any) -> Lists:
        """Return what focuseval finds at its defaults."""
        run = fe.retrieve(self.collection, self.queries, chunks=self.chunks, retriever=way, limit=DEPTH, **more)
        columns = (self.chunks.document.to_pylist(), self.chunks.start.tolist(), self.chunks.end.tolist())
        number = {span: row for row, span in enumerate(zip(*columns, strict=True))}
        found: dict[str, list[int]] = {}
        for row in run.to_arrow().to_pylist():
            found.setdefault(row["topic"], []).append(number[row["doc"], row["start"], row["end"]])
        return found

    def scored(self, lists: Lists) -> tuple[int, list[float]]:
        """Return the number of topics, and the means of the measures."""
        with tempfile.TemporaryDirectory() as scratch:
            judged, run = Path(scratch) / "qrels", Path(scratch) / "run"
            judged.write_text("".join(self.qrels()), encoding="utf-8")
            lines = (
                f"{topic.replace(' ', '_')} Q0 {row} {rank} {-rank} run\n"
                for topic, own in lists.items()
                for rank, row in enumerate(own, 1)
            )
            run.write_text("".join(lines), encoding="utf-8")
            scores = fe.evaluate(judged, run, MEASURES)
        return len(scores.topics), np.asarray(scores.mean[0]).tolist()


def words_of_bm25s(texts: Sequence[str]) -> Words:
    """Return the words of texts as bm25s's tokenizer cuts, stems and leaves them out."""
    stemmer = package("Stemmer").Stemmer("english")
    tokenize = package("bm25s").tokenize
    found: Words = tokenize(list(texts), stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    return found


def lists_of_bm25s(asked: Questions) -> Lists:
    """Return what bm25s finds with its own tokenizer and order, at its defaults."""
    index = package("bm25s").BM25()
    index.index(words_of_bm25s(asked.texts), show_progress=False)
    queries = words_of_bm25s(list(asked.queries.values()))
    rows, scores = index.retrieve(queries, k=min(DEPTH, len(asked.texts)), show_progress=False)
    kept = ([int(row) for row, s in zip(*one, strict=True) if s > 0] for one in zip(rows, scores, strict=True))
    return dict(zip(asked.queries, kept, strict=True))


def near_lists(model: Any, asked: Questions) -> Lists:
    """Return what sentence-transformers' own search finds."""
    search = package("sentence_transformers.util").semantic_search
    encoded = (model.encode(list(some), convert_to_tensor=True) for some in (asked.queries.values(), asked.texts))
    found = search(*encoded, top_k=DEPTH)
    return {topic: [one["corpus_id"] for one in own] for topic, own in zip(asked.queries, found, strict=True)}


def compared(name: str, asked: Questions, place: str, model: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a collection: by what, who, and the two measures."""
    embedder = f"sentence-transformers:{place}"
    made = {
        ("bm25", "focuseval"): asked.retrieve("bm25"),
        ("bm25", "bm25s"): lists_of_bm25s(asked),
        ("dense", "focuseval"): asked.retrieve("dense", embedder=embedder),
        ("dense", "sentence-transformers"): near_lists(model, asked),
        ("hybrid", "focuseval"): asked.retrieve("hybrid", embedder=embedder),
    }
    for (way, who), lists in made.items():
        topics, means = asked.scored(lists)
        yield (name, topics, len(asked.texts), way, who, *means)


def tables() -> list[Table]:
    """Return the table of all collections."""
    transformers = package("sentence_transformers")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        where = str(package("all_minilm_l6_v2").extract_model(scratch))
        model = transformers.SentenceTransformer(where, device="cpu")
        for name, *place in COLLECTIONS:
            rows += list(compared(name, Questions(*place), where, model))
    columns = (*words("collection"), *numbers("topics", "chunks", form=",.0f"), *words("retriever", "by"))
    title = f"Chunks of three sentences, all-MiniLM-L6-v2: {', '.join(MEASURES)}"
    return [Table(title, (*columns, *numbers(*MEASURES)), tuple(rows))]
