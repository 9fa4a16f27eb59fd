"""Small runs full of clashes, as lists of results and as a `Run`."""

import math

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from focuseval.data.run import Run

docs = st.sampled_from(["d1", "d2", "d3"])
scores = st.one_of(st.integers(0, 9).map(float), st.just(math.nan))
steps = st.tuples(st.sampled_from(["a", "sec", "p"]), st.sampled_from([1, 2, 10])).map(lambda s: f"/{s[0]}[{s[1]}]")
paths = st.lists(steps, min_size=1, max_size=3).map("".join)
spans = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda s: (s[0], s[0] + s[1]))


def result(doc, score, path=None, span=(None, None)):
    return {"doc": doc, "score": score, "path": path, "start": span[0], "end": span[1]}


def topics_of(results):
    return st.lists(st.lists(results, max_size=9), min_size=1, max_size=3)


elements = topics_of(st.builds(result, docs, scores, paths))
passages = topics_of(st.builds(result, docs, scores, st.none(), spans))
documents = topics_of(st.builds(result, docs, scores))
lists = st.one_of(elements, passages, documents)


def as_run(topics, *, ranks=True):
    rows = [(code, row) for code, results in enumerate(topics) for row in results]
    column = {name: [row[name] for _, row in rows] for name in ("doc", "score", "path", "start", "end")}
    number = [rank for results in topics for rank, _ in enumerate(results, 1)]
    has_spans = any(start is not None for start in column["start"])
    return Run(
        run_id="r",
        topics=tuple(f"t{code}" for code, _ in enumerate(topics)),
        topic=np.array([code for code, _ in rows], np.int32),
        document=pa.array(column["doc"], pa.string()),
        rank=np.array(number, np.int32) if ranks else None,
        score=np.array(column["score"], np.float64),
        start=np.array(column["start"], np.int64) if has_spans else None,
        end=np.array(column["end"], np.int64) if has_spans else None,
        path=pa.array(column["path"], pa.string()) if any(column["path"]) else None,
        file="run.txt",
    )
