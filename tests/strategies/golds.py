"""Random golds of every scale, as a reader would return them."""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from focuseval.data.gold import NOT_ASSESSED, TOO_SMALL, UNKNOWN
from focuseval.formats.content import source_of
from focuseval.formats.judgements import Judgements
from strategies.runs import PATH, POINTER, WORD

SCALES = ("trec", "coverage", "grades", "exhaustivity", "spans")
NOWHERE = (source_of(b""),)


@st.composite
def golds(draw, scale):
    """Return a gold of a few topics; ``exhaustivity`` is 2005–07, ``spans`` what our JSONL and 2008–10 say."""
    rows = Judgements()
    for topic in draw(st.lists(WORD, min_size=1, max_size=4, unique=True)):
        if scale in {"coverage", "grades", "exhaustivity"}:
            rows.attributes[topic] = draw(st.dictionaries(st.sampled_from(["pool", "version"]), WORD))
        for document in draw(st.lists(WORD, min_size=1, max_size=4, unique=True)):
            pair = rows.judge(topic, document, NOWHERE[0].at())
            rows.articles.append((*pair, *draw(MAKERS[scale])(rows, pair)))
    grades = {row[3] for row in rows.elements}
    named = {"spans": "highlights", "exhaustivity": "exhaustivity" if grades - {2} else "highlights"}
    return rows.gold(NOWHERE, named.get(scale, scale if rows.elements or scale == "trec" else "grades"))


@st.composite
def trec(draw):
    grade = draw(st.integers(-1, 4))
    return lambda *_: (grade, UNKNOWN, UNKNOWN, UNKNOWN, None, None, None)


@st.composite
def spans(draw):
    ends = sorted(draw(st.lists(st.integers(0, 5000), max_size=6, unique=True)))
    pairs = list(zip(ends[::2], ends[1::2], strict=False))
    length = draw(st.integers(5000, 9000))
    bep = draw(st.integers(0, 5000)) if pairs else UNKNOWN

    def make(rows, pair):
        rows.passages.extend((*pair, start, end, end - start, None, None, None, None, None) for start, end in pairs)
        return int(bool(pairs)), length, sum(end - start for start, end in pairs), bep, None, None, None

    return make


@st.composite
def graded(draw):
    grade = st.sampled_from([0, 1, 2, 3, NOT_ASSESSED])
    elements = draw(st.lists(st.tuples(PATH, grade, grade), min_size=1, max_size=4))
    flags = draw(st.sampled_from([(None, None), (True, False), (False, True)]))

    def make(rows, pair):
        rows.elements.extend((*pair, path, e, s, UNKNOWN, UNKNOWN, *flags) for path, e, s in elements)
        return int(any(e > 0 for _, e, _ in elements)), UNKNOWN, UNKNOWN, UNKNOWN, None, None, None

    return make


@st.composite
def pointed(draw):
    passages = draw(st.lists(st.tuples(st.integers(1, 900), POINTER, POINTER), max_size=3))
    paths = [f"{path}/x[1]" for path in draw(st.lists(PATH, max_size=3))]
    grade = st.sampled_from([1, 2, TOO_SMALL])
    elements = [(path, draw(grade), draw(st.integers(0, 99)), draw(st.integers(0, 99))) for path in paths]
    bep = draw(st.none() | PATH)

    def make(rows, pair):
        rows.passages.extend((*pair, UNKNOWN, UNKNOWN, size, a, b, None, None, None) for size, a, b in passages)
        rows.elements.extend((*pair, p, e, UNKNOWN, size, rsize, None, None) for p, e, size, rsize in elements)
        relevant = bool(passages) or any(rsize for *_, rsize in elements)
        return int(relevant), UNKNOWN, UNKNOWN, UNKNOWN, bep, None, None

    return make


MAKERS = {
    "trec": trec(), "spans": spans(), "coverage": graded(), "grades": graded(), "exhaustivity": pointed(),
}  # fmt: skip


def judged(gold):
    """What a gold says, as plain values without the places in its files: what a round trip must keep."""

    def plain(values):
        return None if values is None else values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()

    tables = {
        f"{name}.{f.name}": plain(getattr(getattr(gold, name), f.name))
        for name in ("articles", "passages", "elements")
        for f in dataclasses.fields(getattr(gold, name))
        if f.name not in {"line", "source"}
    }
    facts = {topic: dict(value) for topic, value in gold.attributes.items() if value}
    return tables | {
        "topics": gold.topics,
        "scale": gold.scale,
        "facts": facts,
        "documents": gold.documents.to_pylist(),
    }
