"""Which text is embedded in the page: around what was highlighted and around the first results, under a bound on bytes.

Windows are put in order of what they explain; as many are kept, from the first on, as fit. What is left of the bound
goes to whole documents, those first in which the runs differ most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.data.spans import Spans, union

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focuseval.report.lists import Lists
    from focuseval.report.observe import Retrieved

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

BUDGET = 2_500_000
"""Bytes of compressed text in a report; the graphs' library takes .8 MB of the 5 that a report may have."""
FIRST = 5
"""Results of every list whose text is embedded with the text around it."""
AROUND = 160
"""Characters on either side of what was highlighted or returned."""
SNIPPET = 160
"""Characters of a result further down the list."""
LONGEST = 4_000
"""Characters of one result or passage; of a longer one the beginning is embedded, or the whole document."""
PER_PIECE = 90
"""Bytes that a piece takes beside its text, roughly: its places, its blocks, and its share of the document's names."""


class Windows(NamedTuple):
    """Pieces of documents, the most wanted first."""

    document: Integers
    start: Integers
    end: Integers


def wanted(lists: Lists, weight: Floats, pair: tuple[int, ...], depth: int) -> Windows:
    """Return the windows of all topics in order: highlighted text, the first results of A and B, those of other runs.

    Within each kind topics that decide come first; of results the first ranks do. Results below `FIRST` get a snippet.
    """
    judged = lists.judged
    gold = Windows(judged.span_document, judged.start, judged.end)
    parts = [_part(0, -weight[judged.span_topic], AROUND, gold)]
    for number, run in enumerate(lists.runs):
        if run is not None:
            parts += _results(run, weight, depth, 0 if number in pair else 1)
    kind, order, document, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    place = np.lexsort((order, kind))
    place = place[document[place] < lists.size]
    return Windows(document[place], start[place], end[place])


def _results(run: Retrieved, weight: Floats, depth: int, later: int) -> list[tuple[NDArray[Any], ...]]:
    """Return the windows of a run's first results and the snippets of those behind them."""
    first = np.flatnonzero(run.place <= min(FIRST, depth))
    rest = np.flatnonzero((run.place > FIRST) & (run.place <= depth))
    order = run.place - weight[run.topic] / 2
    end = np.minimum(run.end, run.start + SNIPPET)
    near = Windows(run.document[first], run.start[first], run.end[first])
    below = Windows(run.document[rest], run.start[rest], end[rest])
    return [_part(1 + later, order[first], AROUND // 2, near), _part(3 + later, order[rest], 0, below)]


def _part(kind: int, order: Floats, around: int, windows: Windows) -> tuple[NDArray[Any], ...]:
    """Return kind, order, document, start and end of windows of one kind, with the text around them."""
    document, start, end = windows
    last = np.minimum(end, start + LONGEST) + around
    return np.full(len(order), kind), order, document, np.maximum(start - around, 0), last


def fitting(windows: Windows, lengths: Integers, budget: int) -> tuple[Spans, int]:
    """Return the union of the first windows that fit into about so many bytes, and how many those are."""
    end = np.minimum(windows.end, lengths[windows.document])
    low, high = 0, len(end)
    while low < high:
        middle = (low + high + 1) // 2
        spans = _united(windows, end, middle)
        if spans.before[-1] + PER_PIECE * len(spans) <= budget:
            low = middle
        else:
            high = middle - 1
    return _united(windows, end, low), low


def _united(windows: Windows, end: Integers, number: int) -> Spans:
    return union(windows.document[:number], windows.start[:number], end[:number])


def whole_documents(
    order: list[int], embedded: Integers, lengths: Integers, cost: Callable[[int], int], budget: int
) -> list[int]:
    """Return the documents that fit as a whole; one that would take half of what is left is passed over.

    `embedded` are the characters of each document that are there already, and `cost` gives the bytes of all of it.
    """
    left, chosen = budget, []
    for row in order:
        if 2 * (lengths[row] - embedded[row]) > left:
            continue
        price = cost(row) - int(embedded[row])
        if 2 * price <= left:
            left -= price
            chosen.append(row)
    return chosen


def order_of_documents(lists: Lists, weight: Floats, depth: int) -> list[int]:
    """Return the documents that hold highlighted text or a listed result, those of the deciding topics first."""
    judged = lists.judged
    relevant = judged.relevant & (judged.document < lists.size)
    documents, weights = [judged.document[relevant]], [weight[judged.topic[relevant]] + 1]
    for run in lists.runs:
        if run is not None:
            rows = np.flatnonzero((run.place <= depth) & (run.document < lists.size))
            documents.append(run.document[rows])
            weights.append(weight[run.topic[rows]] / run.place[rows])
    document, value = np.concatenate(documents), np.concatenate(weights)
    rows, code = np.unique(document, return_inverse=True)
    most = np.zeros(len(rows))
    np.maximum.at(most, code, value)
    order: list[int] = rows[np.argsort(-most, kind="stable")].tolist()
    return order
