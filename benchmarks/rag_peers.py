"""What two chunk evaluators of today do: their own code where it can be imported, else their algorithms, restated.

Neither peer is on PyPI. With their repositories on ``PYTHONPATH`` (and what they import installed) the very functions
that print their numbers are timed: ``BaseEvaluation._scores_from_dataset_and_retrievals`` and ``_full_precision_score``
of chunking_evaluation, ``QAResult.recall`` and ``precision`` of legalbenchrag, on objects made beforehand. Without them
the restatements below are, on the kinds of objects that they use: LegalBench-RAG compares every chunk with every
snippet; chunking_evaluation keeps lists of ranges, merged after every hit; its ceiling (Precision Ω) does so for every
chunk of the corpus and every question.

Each function takes lists of ``(document, start, end)``, one for every query, and returns how to time the peer: a name,
and a function without arguments that returns the peer's numbers.
"""

import warnings
from importlib import import_module

import numpy as np


def imported(module):
    """Return a peer's module, or None where it is not at hand."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError:
        return None


def records(spans):
    return [{"start_index": start, "end_index": end, "corpus_id": file} for file, start, end in spans]


def chunking_evaluation(gold, found):
    """Recall, precision and IoU of each question."""
    retrieved = [records(spans) for spans in found]
    if (real := _real_evaluation(gold)) is not None:
        shown = [len(chunks) for chunks in retrieved]

        def rows():
            iou, recall, precision = real._scores_from_dataset_and_retrievals(retrieved, shown)  # noqa: SLF001  no other
            return np.array([recall, precision, iou]).T

        return "chunking_evaluation's own code", rows
    questions = [(spans[0][0], records(spans)) for spans in gold]
    return "chunking_evaluation, restated", lambda: range_lists(questions, retrieved)


def chunking_ceiling(gold, every):
    """IoU of each question when all chunks that hold or touch a reference are retrieved."""
    listed = records(every)
    if (real := _real_evaluation(gold)) is not None:
        return "chunking_evaluation's own code", lambda: np.array(real._full_precision_score(listed)[0])  # noqa: SLF001
    questions = [(spans[0][0], records(spans)) for spans in gold]
    return "chunking_evaluation, restated", lambda: omega(questions, listed)


def _real_evaluation(gold):
    """Return chunking_evaluation's own object with these questions, and without its vector store."""
    module = imported("chunking_evaluation.evaluation_framework.base_evaluation")
    if module is None:
        return None
    rows = [
        {"question": str(n), "corpus_id": spans[0][0], "references": _quoted(spans)} for n, spans in enumerate(gold)
    ]
    evaluation = object.__new__(module.BaseEvaluation)
    evaluation.questions_df = module.pd.DataFrame(rows)
    return evaluation


def _quoted(spans):
    return [record | {"content": ""} for record in records(spans)]


def legalbenchrag(gold, found):
    """Recall and precision of each query."""
    types, bench = imported("legalbenchrag.benchmark_types"), imported("legalbenchrag.run_benchmark")
    if types is None or bench is None:
        mine, theirs = objects(gold), objects(found)
        return "legalbenchrag, restated", lambda: every_pair(mine, theirs)
    results = [
        bench.QAResult.model_construct(  # its check refuses references that touch, and takes no part in the numbers
            qa_gt=types.QAGroundTruth.model_construct(
                query="", tags=[], snippets=[types.Snippet(file_path=f, span=(s, e)) for f, s, e in snippets]
            ),
            retrieved_snippets=[types.RetrievedSnippet(file_path=f, span=(s, e), score=1.0) for f, s, e in chunks],
        )
        for snippets, chunks in zip(gold, found, strict=True)
    ]
    return "legalbenchrag's own code", lambda: np.array([(result.recall, result.precision) for result in results])


def objects(lists):
    return [[Snippet(file, (start, end)) for file, start, end in spans] for spans in lists]


# -- LegalBench-RAG: objects with a file and a span, every chunk against every snippet -----------------------------


class Snippet:
    def __init__(self, file, span):
        self.file, self.span = file, span


def every_pair(snippets, chunks):
    """Recall and precision of each query."""
    return np.array([(pair_recall(s, c), pair_precision(s, c)) for s, c in zip(snippets, chunks, strict=True)])


def pair_recall(snippets, chunks):
    relevant = shared = 0
    for snippet in snippets:
        relevant += snippet.span[1] - snippet.span[0]
        for chunk in chunks:
            if chunk.file == snippet.file:
                low, high = max(chunk.span[0], snippet.span[0]), min(chunk.span[1], snippet.span[1])
                if high > low:
                    shared += high - low
    return shared / relevant if relevant else 0


def pair_precision(snippets, chunks):
    size = shared = 0
    for chunk in chunks:
        size += chunk.span[1] - chunk.span[0]
        for snippet in snippets:
            if chunk.file == snippet.file:
                low, high = max(chunk.span[0], snippet.span[0]), min(chunk.span[1], snippet.span[1])
                if high > low:
                    shared += high - low
    return shared / size if size else 0


# -- chunking_evaluation: records with a corpus and two indexes, lists of ranges merged after every hit -------------


def merged(ranges):
    """Unite ranges after sorting them by their start; touching ones too."""
    in_order = sorted(ranges, key=lambda one: one[0])
    found = [in_order[0]]
    for start, end in in_order[1:]:
        last_start, last_end = found[-1]
        if start <= last_end:
            found[-1] = (last_start, max(last_end, end))
        else:
            found.append((start, end))
    return found


def common(one, other):
    """Return what two ranges share; an empty range where they touch, None where they are apart."""
    start, end = max(one[0], other[0]), min(one[1], other[1])
    return (start, end) if start <= end else None


def without(ranges, cut):
    """Cut one range out of others."""
    low, high = cut
    left = []
    for start, end in ranges:
        if end < low or start > high:
            left.append((start, end))
            continue
        if start < low:
            left.append((start, low))
        if end > high:
            left.append((high, end))
    return left


def hits(references, corpus, chunks):
    """Go through chunks and references; return the ranges hit, those of the chunks that hit, and those missed."""
    hit, holding = [], []
    missed = [(reference["start_index"], reference["end_index"]) for reference in references]
    for chunk in chunks:
        start, end, where = chunk["start_index"], chunk["end_index"], chunk["corpus_id"]
        if where != corpus:
            continue
        for reference in references:
            shared = common((start, end), (int(reference["start_index"]), int(reference["end_index"])))
            if shared is not None:
                missed = without(missed, shared)
                hit = merged([shared, *hit])
                holding = merged([(start, end), *holding])
    return hit, holding, missed


def total(ranges):
    return sum(end - start for start, end in ranges)


def lengths(records):
    return total([(record["start_index"], record["end_index"]) for record in records])


def range_lists(questions, retrieved):
    """Recall, precision and IoU of each question."""
    rows = []
    for (corpus, references), chunks in zip(questions, retrieved, strict=True):
        hit, _, missed = hits(references, corpus, chunks)
        found, size = total(hit), lengths(chunks)
        rows.append((found / lengths(references), found / size, found / (size + total(missed))))
    return np.array(rows)


def omega(questions, every):
    """IoU when all chunks that hold or touch a reference are retrieved, one question after the other."""
    rows = []
    for corpus, references in questions:
        hit, holding, missed = hits(references, corpus, every)
        rows.append(total(hit) / total(merged(holding + missed)) if hit else 0.0)
    return np.array(rows)
