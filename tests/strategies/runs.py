"""Random runs: each kind of place, in ranking order, as a reader would return them."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from focuseval.data.run import Run

WORD = st.text("abcdefgXYZ0123456789-_.é語", min_size=1, max_size=9)
"""A topic, document or run id that every format can hold."""

STEP = st.builds("/{}[{}]".format, st.sampled_from(["article", "bdy", "sec", "p", "ss1"]), st.integers(1, 12))
PATH = st.lists(STEP, min_size=1, max_size=4).map("".join)
POINTER = st.builds("{}/text()[{}].{}".format, PATH, st.integers(1, 5), st.integers(0, 500))
SCORE = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x + 0.0)

KINDS = ("document", "element", "range", "passage", "span", "point", "mixed")


@st.composite
def runs(draw, kinds=KINDS, ranks=True, scores=True, header=False):
    """Return a run of one kind of place; `mixed` mixes elements, spans, points and unknown places."""
    topics = tuple(draw(st.lists(WORD, min_size=1, max_size=4, unique=True)))
    sizes = [draw(st.integers(1, 5)) for _ in topics]
    size = sum(sizes)
    topic = np.repeat(np.arange(len(topics), dtype=np.int32), sizes)
    documents = [d for n in sizes for d in draw(st.lists(WORD, min_size=n, max_size=n, unique=True))]
    rank = np.concatenate([np.arange(1, n + 1, dtype=np.int32) for n in sizes]) if ranks else None
    score = np.concatenate([descending(draw, n) for n in sizes]) if scores else None
    kind = draw(st.sampled_from(kinds))
    rows = [draw(places(kind)) for _ in range(size)]
    columns = {name: column(name, [row.get(name) for row in rows]) for name in ("start", "end", "path", "end_path")}
    facts = (
        draw(st.dictionaries(st.sampled_from(["query", "description", "topic-fields.title"]), WORD)) if header else {}
    )
    return Run(
        draw(WORD), topics, topic, pa.chunked_array([documents], pa.string()), rank=rank, score=score, **columns,
        task=draw(WORD) if header else "", participant=draw(WORD) if header else "", attributes=facts,
    )  # fmt: skip


def descending(draw, size):
    """Scores that fall strictly even in single precision, so that no tie rule is needed."""
    return (
        np.array(sorted(draw(st.lists(st.integers(-9999, 9999), min_size=size, max_size=size, unique=True)))[::-1]) / 8
    )


@st.composite
def places(draw, kind):
    if kind == "mixed":
        kind = draw(st.sampled_from(["element", "span", "point", "unknown"]))
    if kind == "element":
        return {"path": draw(PATH)}
    if kind in {"range", "passage"}:
        end = draw(PATH if kind == "range" else POINTER)
        return {"path": draw(PATH if kind == "range" else POINTER), "end_path": end}
    if kind in {"span", "point"}:
        start = draw(st.integers(0, 10_000))
        return {"start": start, "end": start + draw(st.integers(0, 900)) if kind == "span" else -1}
    return {"start": -1, "end": -1} if kind == "unknown" else {}


def column(name, values):
    if all(value is None for value in values):
        return None
    if name in {"start", "end"}:
        return np.array([-1 if value is None else value for value in values], np.int64)
    return pa.chunked_array([values], pa.string())


def said(run):
    """What a run says, as plain values: what a round trip must keep."""

    def plain(values):
        return None if values is None else values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()

    names = ("topic", "document", "rank", "score", "start", "end", "path", "end_path", "text", "chunk")
    header = {"run_id": run.run_id, "task": run.task, "participant": run.participant, **run.attributes}
    return {"topics": run.topics, **header} | {name: plain(getattr(run, name)) for name in names}
