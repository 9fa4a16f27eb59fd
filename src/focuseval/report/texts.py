"""The text in a page: which pieces are embedded under a bound on bytes, and how a document is stored in few bytes.

Windows around what was highlighted and around the first results are put in order of what they explain; as many are
kept, from the first on, as fit. What is left of the bound goes to whole documents, those first in which the runs
differ most.
"""

from __future__ import annotations

import base64
import json
import zlib
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.collection.rendering import Document, DocumentCache, layout, title_of
from focuseval.data.spans import Spans, union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.report.lists import Lists

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

FIRST_LINE = 400
"""Characters in which a first line is looked for."""
BLOCK = 100_000
"""Characters of JSON that are compressed together: a page opens so many in a few milliseconds."""
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


def reader(index: Any) -> Callable[[int], dict[str, Any]]:
    """Return a function from a row of the index to the document's view; the last ones asked for are kept."""
    documents = DocumentCache(index)
    ids = index.ids

    @lru_cache(maxsize=2048)
    def read(row: int) -> dict[str, Any]:
        return document_view(documents.get(ids[row].as_py()))

    return read


def document_view(document: Document) -> dict[str, Any]:
    """Return text, blocks and elements as plain values; numbers in flat lists, names once.

    >>> from focuseval.collection.rendering import Document
    >>> document_view(Document("d", "One."))["blocks"]
    [4, 0, 0]
    """
    steps: dict[str, int] = {}
    elements = []
    depth: list[int] = []
    for element in document.elements:
        depth.append(depth[element.parent] + 1 if element.parent >= 0 else 0)
        code = steps.setdefault(element.path.rsplit("/", 1)[-1], len(steps))
        elements += [element.start, element.end - element.start, depth[-1], code]
    whole = [0, len(document.text)]
    view = {"title": shortened(title_of(document)), "text": document.text, "length": whole[1], "pieces": whole}
    return view | _blocks([document]) | {"steps": list(steps), "elements": elements}


def excerpt_view(text: str, pieces: Sequence[tuple[int, int]], title: str = "") -> dict[str, Any]:
    """Return some pieces of a text, one after the other, with where they stand in the document.

    Without a title the text's first line is one.

    >>> view = excerpt_view("One two three", [(0, 3), (8, 13)])
    >>> view["text"], view["pieces"], view["length"]
    ('Onethree', [0, 3, 8, 13], 13)
    """
    shown = [Document("", text[start:end]) for start, end in pieces]
    places = [n for piece in pieces for n in piece]
    title = title or shortened(title_of(Document("", text[:FIRST_LINE])))
    view = {"title": title, "text": "".join(piece.text for piece in shown)}
    return view | {"length": len(text), "pieces": places} | _blocks(shown) | {"steps": [], "elements": []}


def _blocks(documents: Sequence[Document]) -> dict[str, Any]:
    """Return length, kind and depth of all blocks, one after the other, and the names of the kinds."""
    kinds: dict[str, int] = {}
    blocks = [
        number
        for document in documents
        for b in layout(document)
        for number in (b.end - b.start, kinds.setdefault(b.kind, len(kinds)), b.level)
    ]
    return {"kinds": list(kinds), "blocks": blocks}


def shortened(title: str, most: int = 70) -> str:
    r"""Return a title that fits into a line.

    >>> shortened("Tides and " * 9, 16)
    'Tides and Tides…'
    """
    return title if len(title) <= most else title[: most - 1].rstrip() + "…"


def as_json(value: Any) -> str:
    r"""Return JSON that may stand inside of a script element: nothing in it can end the element or begin a comment.

    >>> as_json({"text": "</script>"})
    '{"text":"\\u003c/script>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def packed(texts: Mapping[str, dict[str, Any]]) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Return texts in blocks, each compressed and in base64, and for every document its block and its place in it.

    >>> blocks, places = packed({"a": {"text": "One."}, "b": {"text": "Two."}})
    >>> json.loads(zlib.decompress(base64.b64decode(blocks[0]))), places
    ([{'text': 'One.'}, {'text': 'Two.'}], {'a': (0, 0), 'b': (0, 1)})
    """
    blocks: list[list[str]] = []
    places, size = {}, BLOCK
    for name, view in texts.items():
        if size >= BLOCK:
            blocks.append([])
            size = 0
        places[name] = (len(blocks) - 1, len(blocks[-1]))
        blocks[-1].append(as_json(view))
        size += len(blocks[-1][-1])
    packets = (zlib.compress(f"[{','.join(block)}]".encode(), 6) for block in blocks)
    return [base64.b64encode(packet).decode() for packet in packets], places


def size_of(texts: Mapping[str, dict[str, Any]]) -> int:
    """Return the bytes that texts take in a page."""
    return sum(map(len, packed(texts)[0]))


class Windows(NamedTuple):
    """Pieces of documents, the most wanted first."""

    document: Integers
    start: Integers
    end: Integers


def wanted(lists: Lists, weight: Floats, pair: Sequence[int], depth: int) -> Windows:
    """Return the windows of all topics in order: highlighted text, the first results of A and B, those of other runs.

    Within each kind topics that decide come first; of results the first ranks do. Results below `FIRST` get a snippet.
    """
    parts: list[tuple[NDArray[Any], ...]] = []

    def add(kind: int, order: Floats, around: int, windows: Windows) -> None:
        last = np.minimum(windows.end, windows.start + LONGEST) + around
        first = np.maximum(windows.start - around, 0)
        parts.append((np.full(len(order), kind), order, windows.document, first, last))

    judged = lists.judged
    gold = Windows(judged.span_document, judged.start, judged.end)
    add(0, -weight[judged.span_topic], AROUND, gold)
    for number, run in enumerate(lists.runs):
        if run is None:
            continue
        later = 0 if number in pair else 1
        order = run.place - weight[run.topic] / 2
        first = np.flatnonzero(run.place <= min(FIRST, depth))
        add(1 + later, order[first], AROUND // 2, Windows(run.document[first], run.start[first], run.end[first]))
        rest = np.flatnonzero((run.place > FIRST) & (run.place <= depth))
        end = np.minimum(run.end, run.start + SNIPPET)
        add(3 + later, order[rest], 0, Windows(run.document[rest], run.start[rest], end[rest]))
    kind, order, document, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    place = np.lexsort((order, kind))
    place = place[document[place] < lists.size]
    return Windows(document[place], start[place], end[place])


def fitting(windows: Windows, lengths: Integers, budget: int) -> tuple[Spans, int]:
    """Return the union of the first windows that fit into about so many bytes, and how many those are."""
    end = np.minimum(windows.end, lengths[windows.document])

    def united(number: int) -> Spans:
        return union(windows.document[:number], windows.start[:number], end[:number])

    def too_large(number: int) -> bool:
        spans = united(number)
        return bool(spans.before[-1] + PER_PIECE * len(spans) > budget)

    kept = bisect_left(range(1, len(end) + 1), True, key=too_large)
    return united(kept), kept


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
