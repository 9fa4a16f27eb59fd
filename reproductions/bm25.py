"""BM25 of ours and of bm25s, like with like: the same words, the same k1 and b, the same order of ties.

Questions and chunks are those of `effectiveness`. Both programs get the words as bm25s cuts them (two characters or
more, Lucene's 33 stop words, Snowball's stemmer) with its k1, and as ours (all words, Snowball's stop words and
stemmer) with ours. So what differs within a pair is the program, and what differs between pairs the words and k1.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import focuseval as fe
from focuseval.collection.boundaries import words as cut_words
from focuseval.data.tables import Table, numbers, words
from focuseval.retrieval.terms import Language
from reproductions.data import package
from reproductions.effectiveness import COLLECTIONS, DEPTH, MEASURES, Questions, Words, words_of_bm25s
from reproductions.published import SAME

B = 0.75  # the default of both


def words_of_ours(texts: Sequence[str]) -> Words:
    """Return the words of texts as `fe.retrieve` cuts, stems and leaves them out; signs and quotes mean nothing."""
    english = Language("english")
    return [[english.terms[n] for n in english.numbers(cut_words(text)) if n >= 0] for text in texts]


def scores_of_bm25s(texts: Words, queries: Words, k1: float) -> list[np.ndarray[Any, Any]]:
    """Return the score of every text for every query as bm25s computes it, in 64 bits, times k1 + 1 as ours."""
    index = package("bm25s").BM25(k1=k1, b=B, dtype="float64")
    index.index(texts, show_progress=False)
    known = [[word for word in query if word in index.vocab_dict] for query in queries]
    return [(k1 + 1) * index.get_scores(query) if query else np.zeros(len(texts)) for query in known]


def scores_of_ours(texts: Words, queries: Words, k1: float) -> list[np.ndarray[Any, Any]]:
    """Return the same by `fe.retrieve`: a text is a document of made-up words, one for each of the words."""
    code: dict[str, str] = {}

    def written(own: Sequence[str]) -> str:
        return " ".join(code.setdefault(word, f"w{len(code)}") for word in own)

    documents = fe.open_documents({str(row): written(own) for row, own in enumerate(texts)})
    asked = {str(row): written(own) for row, own in enumerate(queries) if own}
    settings = {"unit": "document", "task": "spans", "limit": len(texts), "language": "none", "k1": k1, "b": B}
    run = fe.retrieve(documents, asked, **settings)
    found = [np.zeros(len(texts)) for _ in queries]
    for row in run.to_arrow().to_pylist():
        found[int(row["topic"])][int(row["doc"])] = row["score"]
    return found


def best(scores: np.ndarray[Any, Any]) -> list[int]:
    """Return the first texts with a score, in their order where scores are the same to nine digits."""
    order = np.argsort(-np.round(scores, 9), kind="stable")[:DEPTH]
    return [int(row) for row in order if scores[row] > 0]


def alike(name: str, asked: Questions) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of BM25 with the same words and the same k1, by each program."""
    for whose, cut, k1 in (("bm25s", words_of_bm25s, 1.5), ("focuseval", words_of_ours, 1.2)):
        every, queries = cut(asked.texts), cut(list(asked.queries.values()))
        kept = [row for row, own in enumerate(every) if own]  # bm25s counts chunks without words in its mean length
        texts = [every[row] for row in kept]
        made = {"focuseval": scores_of_ours(texts, queries, k1), "bm25s": scores_of_bm25s(texts, queries, k1)}
        apart = max(float(np.abs(a - b).max()) for a, b in zip(*made.values(), strict=True))
        verdict = SAME if apart < 1e-9 else f"differs: scores by up to {apart:.0e}"  # ours are rounded to nine decimals
        for who, scores in made.items():
            rows = ([kept[row] for row in best(own)] for own in scores)
            topics, means = asked.scored(dict(zip(asked.queries, rows, strict=True)))
            yield (name, topics, len(asked.texts), whose, k1, who, *means, verdict)


def tables() -> list[Table]:
    """Return the table of all collections."""
    rows = [row for name, *place in COLLECTIONS for row in alike(name, Questions(*place))]
    columns = (*words("collection"), *numbers("topics", "chunks", form=",.0f"))
    settings = (*words("words by"), *numbers("k1", form=".1f"), *words("scored by"))
    title = f"The same words and k1, chunks of three sentences: {', '.join(MEASURES)}"
    return [Table(title, (*columns, *settings, *numbers(*MEASURES), *words("verdict")), tuple(rows))]
