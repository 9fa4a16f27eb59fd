"""Golds and runs made by hand: what most tests of measures start from."""

import numpy as np
import pyarrow as pa

from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.run import Run


def gold_of(topics, **attributes):
    """Topic → document → dict(length=, spans=, bep=, grade=); `spans` are (start, end)."""
    names = tuple(topics)
    documents = sorted({document for judged in topics.values() for document in judged})
    code = {document: number for number, document in enumerate(documents)}
    articles, passages = [], []
    for topic, name in enumerate(names):
        for document, judged in topics[name].items():
            spans = judged.get("spans", [])
            size = len({i for s, e in spans for i in range(s, e)})
            articles.append(
                (
                    topic,
                    code[document],
                    judged.get("grade", int(size > 0)),
                    judged.get("length", UNKNOWN),
                    size,
                    judged.get("bep", UNKNOWN),
                )
            )
            passages += [(topic, code[document], s, e) for s, e in spans]
    t, d, g, n, r, b = (
        (np.array(column, np.int64) for column in zip(*articles, strict=True)) if articles else [np.zeros(0, int)] * 6
    )
    pt, pd, ps, pe = (
        (np.array(c, np.int64) for c in zip(*passages, strict=True)) if passages else [np.zeros(0, int)] * 4
    )
    return Gold(
        topics=names,
        documents=pa.array(documents, pa.string()),
        articles=Articles(t.astype(np.int32), d.astype(np.int32), g.astype(np.int32), n, r, b),
        passages=Passages(pt.astype(np.int32), pd.astype(np.int32), ps, pe, pe - ps),
        elements=no_elements(),
        **attributes,
    )


def no_elements():
    nothing = np.zeros(0, np.int64)
    return GradedElements(
        nothing.astype(np.int32),
        nothing.astype(np.int32),
        pa.array([], pa.string()).dictionary_encode(),
        nothing.astype(np.int8),
        nothing.astype(np.int8),
        nothing,
        nothing,
    )


def run_of(topics, run_id="run", **attributes):
    """Topic → list of (document, start, end), of (document, start) or of document ids, in rank order."""
    names = tuple(topics)
    rows = [(topic, *_result(result)) for topic, name in enumerate(names) for result in topics[name]]
    topic, document, start, end = zip(*rows, strict=True) if rows else ((), (), (), ())
    spans = any(s is not None for s in start)
    return Run(
        run_id=run_id,
        topics=names,
        topic=np.array(topic, np.int32),
        document=pa.array(document, pa.string()),
        start=np.array([-1 if s is None else s for s in start], np.int64) if spans else None,
        end=np.array([-1 if e is None else e for e in end], np.int64) if spans else None,
        **attributes,
    )


def _result(result):
    if isinstance(result, str):
        return result, None, None
    return (*result, None, None)[:3]
