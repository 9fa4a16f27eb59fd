"""One small collection that every measure can be computed on: articles of sections, highlighted and graded."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from building import gold_of, run_of
from focuseval.data.gold import UNKNOWN, GradedElements

ARTICLE = {"/a[1]": (0, 60), "/a[1]/s[1]": (0, 20), "/a[1]/s[2]": (20, 40), "/a[1]/s[3]": (40, 60)}
"""Every article has three sections of 20 characters."""

GOLD = {
    "t1": {
        "d1": {"length": 60, "bep": 20, "spans": [(20, 40)]},
        "d2": {"length": 60, "bep": 0, "spans": [(0, 20)]},
        "d3": {"length": 60},
    },
    "t2": {"d1": {"length": 60, "bep": 40, "spans": [(40, 60)]}, "d4": {"length": 60}},
    "t3": {"d2": {"length": 60, "bep": 20, "spans": [(20, 40)]}, "d5": {"length": 60, "bep": 0, "spans": [(0, 60)]}},
}
WITHOUT_RELEVANCE = {"t4": {"d1": {"length": 60}, "d6": {"length": 60}}}
_S1, _S2, _S3, _A = "/a[1]/s[1]", "/a[1]/s[2]", "/a[1]/s[3]", "/a[1]"
IDEAL = {"t1": [("d1", _S2), ("d2", _S1)], "t2": [("d1", _S3)], "t3": [("d2", _S2), ("d5", _A)]}
EVERYTHING = {
    "t1": [("d1", _S2), ("d2", _S1), ("d1", _A), ("d2", _A)],
    "t2": [("d1", _S3), ("d1", _A)],
    "t3": [("d2", _S2), ("d5", _A), ("d5", _S1), ("d5", _S2), ("d5", _S3), ("d2", _A)],
}
RUNS = {
    "ideal": IDEAL,
    "everything": EVERYTHING,
    "mixed": {
        "t1": [("d3", _S1), ("d1", _A), ("u", _S2), ("d1", _S2), ("d1", _S2), ("d2", _S2)],
        "t3": [("d5", _S2), ("d2", _A), ("u", _A)],
        "t2": [("d4", _A), ("d1", _S3), ("d1", _A)],
    },
    "one topic": {"t2": [("d1", _S1), ("d4", _S1)]},
}
PERFECT = {"documents": IDEAL, "spans": IDEAL, "entry points": IDEAL, "elements": EVERYTHING, "grades": EVERYTHING}


def element_gold(scale, topics=None):
    """The gold with its elements' sizes (``highlights``) or grades (``grades``)."""
    chosen = {name: (GOLD | WITHOUT_RELEVANCE)[name] for name in topics or GOLD}
    gold = gold_of(chosen, scale=scale)
    documents = gold.documents.to_pylist()
    rows = [
        (number, documents.index(document), path, *_sizes(judged.get("spans", []), span))
        for number, name in enumerate(chosen)
        for document, judged in chosen[name].items()
        for path, span in ARTICLE.items()
    ]
    rows = [row for row in rows if row[4]]
    topic, document, path, size, rsize = zip(*rows, strict=True)
    full = np.array(size) == np.array(rsize)
    graded = scale == "grades"
    elements = GradedElements(
        np.array(topic, np.int32),
        np.array(document, np.int32),
        pa.array(path).dictionary_encode(),
        np.array([3 if graded else 2] * len(rows), np.int8),
        np.where(full, 3, 1).astype(np.int8) if graded else np.full(len(rows), UNKNOWN, np.int8),
        np.array(size, np.int64),
        np.array(rsize, np.int64),
    )
    return replace(gold, elements=elements)


def _sizes(spans, span):
    inside = {i for s, e in spans for i in range(s, e)}
    return span[1] - span[0], len(inside & set(range(*span)))


def element_run(topics):
    """A run with paths and the spans that they stand for."""
    run = run_of({name: [(d, *ARTICLE[path]) for d, path in results] for name, results in topics.items()})
    paths = [path for results in topics.values() for _, path in results]
    return replace(run, path=pa.array(paths, pa.string()).dictionary_encode())
