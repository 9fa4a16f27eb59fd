"""BM25, vectors and both, on real questions, beside bm25s and sentence-transformers by themselves.

Documents are cut into chunks of three sentences, the same for everybody; a chunk is relevant where it holds a character
of an answer. bm25s has its own English stop words and a Snowball stemmer, sentence-transformers its own search; ours
are ``retrieve`` with ``bm25``, ``dense`` and ``hybrid``. Needs torch: ``python -m pip install --group embed``.
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
)
"""Name, folder, gold and documents. The sample of Qasper is one paper: too small."""

Lists = Mapping[str, Sequence[tuple[int, float]]]
"""Topic → chunk and score, best first."""


def qrels(gold: Any, chunks: Any) -> Iterator[str]:
    """Yield a line for every chunk that holds a character of an answer."""
    names, marked = gold.documents.to_pylist(), gold.passages
    by_document: dict[str, list[int]] = {}
    for row, name in enumerate(chunks.document.to_pylist()):
        by_document.setdefault(name, []).append(row)
    columns = (marked.topic, marked.document, marked.start, marked.end)
    found = {
        (gold.topics[topic], row)
        for topic, document, start, end in zip(*(column.tolist() for column in columns), strict=True)
        for row in by_document.get(names[document], ())
        if chunks.start[row] < end and start < chunks.end[row]
    }
    yield from (f"{topic.replace(' ', '_')} 0 {row} 1\n" for topic, row in sorted(found))


def lists_of(run: Any, chunks: Any) -> Lists:
    """Return a run of chunks by their numbers."""
    spans = zip(chunks.document.to_pylist(), chunks.start.tolist(), chunks.end.tolist(), strict=True)
    number = {span: row for row, span in enumerate(spans)}
    table, found = run.to_arrow().to_pylist(), dict[str, list[tuple[int, float]]]()
    for row in table:
        own = found.setdefault(row["topic"], [])
        own.append((number[row["doc"], row["start"], row["end"]], -float(len(own))))
    return found


def bm25s_lists(texts: Sequence[str], queries: Mapping[str, str]) -> Lists:
    """Return what bm25s finds with its own tokenizer, at its defaults."""
    bm25s, stemmer = package("bm25s"), package("Stemmer").Stemmer("english")
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    asked = bm25s.tokenize(list(queries.values()), stopwords="en", stemmer=stemmer, show_progress=False)
    rows, scores = index.retrieve(asked, k=DEPTH, show_progress=False)
    kept = ([(int(r), float(s)) for r, s in zip(*one, strict=True) if s > 0] for one in zip(rows, scores, strict=True))
    return dict(zip(queries, kept, strict=True))


def near_lists(model: Any, texts: Sequence[str], queries: Mapping[str, str]) -> Lists:
    """Return what sentence-transformers' own search finds."""
    search = package("sentence_transformers.util").semantic_search
    encoded = (model.encode(list(some), convert_to_tensor=True) for some in (queries.values(), texts))
    found = search(*encoded, top_k=DEPTH)
    return {topic: [(one["corpus_id"], one["score"]) for one in own] for topic, own in zip(queries, found, strict=True)}


def compared(name: str, gold_file: Path, docs: Path, place: str, model: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a collection: who, by what, and the two measures."""
    collection = fe.open_documents(docs)
    gold = fe.read_gold(gold_file, docs=collection)
    chunks = fe.chunk(collection, CHUNKS)
    texts = list(chunks.texts(collection))
    queries = {topic: gold.queries[topic] for topic in gold.topics}
    embedder = f"sentence-transformers:{place}"
    made = {
        ("focuseval", way): lists_of(
            fe.retrieve(collection, queries, chunks=chunks, retriever=way, limit=DEPTH, **more), chunks
        )
        for way, more in (("bm25", {}), ("dense", {"embedder": embedder}), ("hybrid", {"embedder": embedder}))
    }
    made["bm25s", "bm25"] = bm25s_lists(texts, queries)
    made["sentence-transformers", "dense"] = near_lists(model, texts, queries)
    with tempfile.TemporaryDirectory() as scratch:
        judged = Path(scratch) / "qrels"
        judged.write_text("".join(qrels(gold, chunks)), encoding="utf-8")
        for (who, way), lists in made.items():
            run = Path(scratch) / f"{who}-{way}"
            lines = (
                f"{topic.replace(' ', '_')} Q0 {row} {rank} {-rank} {who}\n"
                for topic, own in lists.items()
                for rank, (row, _) in enumerate(own, 1)
            )
            run.write_text("".join(lines), encoding="utf-8")
            scores = fe.evaluate(judged, run, MEASURES)
            yield (name, len(scores.topics), len(texts), way, who, *np.asarray(scores.mean[0]).tolist())


def tables() -> list[Table]:
    """Return the table of all collections."""
    transformers = package("sentence_transformers")
    rows = []
    with tempfile.TemporaryDirectory() as place:
        where = str(package("all_minilm_l6_v2").extract_model(place))
        model = transformers.SentenceTransformer(where, device="cpu")
        for name, place_of, gold, docs in COLLECTIONS:
            data = folder(place_of)
            rows += list(compared(name, data / gold, data / docs, where, model))
    columns = (*words("collection"), *numbers("topics", "chunks", form=",.0f"), *words("retriever", "by"))
    title = f"Chunks of three sentences, all-MiniLM-L6-v2: {', '.join(MEASURES)}"
    return [Table(title, (*columns, *numbers(*MEASURES)), tuple(rows))]
