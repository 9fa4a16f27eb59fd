"""What a page says of one run and one topic in words: why it scores 0, and what its answer cites and leaves out."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.data.spans import union
from focuseval.errors import FocusevalError, MissingDataError, counted
from focuseval.evaluation.counts import results_read
from focuseval.measures import MeasureCall
from focuseval.measures.matching import Matched
from focuseval.report.texts import shortened

Integers = NDArray[np.int64]

NEED = 60  # characters of a needed passage that has no name


def explain_zeros(matched: Matched, values: NDArray[np.float64], asked: MeasureCall, run: str) -> dict[int, str]:
    """Return topic → one sentence for every topic that scores 0: where the answer is, and what the run did with it."""
    prepared, bounds = matched.prepared, matched.bounds
    hits, found, sizes = matched.hits, matched.hits, None
    with suppress(MissingDataError):  # of judged documents or elements there are no characters
        found, sizes = np.flatnonzero(matched.rsize > 0), prepared.trel_of_topic
    firsts = np.full((2, matched.topics), -1, np.int64)
    for rows, own in zip((hits, found), firsts, strict=True):
        own[matched.topic[rows[::-1]]] = rows[::-1]
    unread, reach = ~results_read(matched, [asked]), "the end of the list"
    if asked.cut is not None:
        amount, unit = asked.cut
        first = f"the first {amount:,} {unit}" if amount > 1 else f"the first {unit[:-1]}"
        reach = first if unit in {"results", "articles"} else f"the budget of {amount:,} {unit}"
    relevant = np.flatnonzero(prepared.relevant & (prepared.topic >= 0))
    relevant = relevant[np.argsort(prepared.topic[relevant], kind="stable")]
    edges = np.searchsorted(prepared.topic[relevant], np.arange(matched.topics + 1))
    documents, codes = prepared.gold.documents, prepared.gold.articles.document
    said = {}
    for topic in np.flatnonzero(values == 0).tolist():
        names = [str(documents[int(codes[i])]) for i in relevant[edges[topic] : edges[topic + 1]][:3]]
        more = int(edges[topic + 1] - edges[topic]) - 1
        where = names[0] + (f" and {counted(more, 'more document')}" if more else "") if names else "no document"
        size = "" if sizes is None else f" ({counted(int(sizes[topic]), 'character')})"
        hit, part = firsts[:, topic].tolist()
        if bounds[topic] == bounds[topic + 1]:
            said[topic] = f"{run} returned nothing."
        elif hit < 0:
            said[topic] = f"The answer{size} is in {where}, which {run} never returned."
        elif part < 0:
            other = str(documents[int(codes[matched.known[hit]])])
            said[topic] = (
                f"{run} returned {other} at rank {matched.rank[hit]:,}, but another part than the answer{size}."
            )
        elif unread[part]:
            said[topic] = (
                f"{run} returned the answer{size}, in {documents[int(codes[matched.known[part]])]!s}, at rank "
                f"{matched.rank[part]:,}, below {reach}."
            )
        else:
            said[topic] = (
                f"{run} returned some of the answer{size} at rank {matched.rank[part]:,}; {asked.key} asks for more."
            )
    return said


def answers_of(matched: Matched) -> dict[int, dict[str, Any]]:
    """Return topic → its answer: sentences with citations and needs, citations to nowhere, and needs that none covers.

    ``sentences``: text, ranks of what it cites, and for every needed item that it covers its name and the share of its
    best alternative, in percent. ``nowhere``: ranks of citations without a known place. ``open``: names of needs.
    """
    if not matched.run.answers:
        return {}
    names, owners = needs_of(matched)
    nowhere = (matched.document_row < 0) | (matched.start < 0)
    found = {}
    for topic, name in enumerate(matched.prepared.topics):
        answer = matched.run.answers.get(name)
        if answer is None:
            continue
        low, high = matched.bounds[topic : topic + 2].tolist()
        items = np.flatnonzero(owners == topic)
        best = np.zeros(len(names))
        sentences: list[list[Any]] = []
        for statement in answer.statements:
            rows = np.array([low + number for number in statement.cites if low + number < high], np.int64)
            shares = _shares(matched, rows, len(names)) if len(items) else best
            best = np.maximum(best, shares)
            covered = [[names[item], round(100 * shares[item])] for item in items.tolist() if shares[item] > 0]
            sentences.append([statement.text.strip(), matched.rank[rows].tolist(), covered])
        found[topic] = {
            "abstains": answer.abstains,
            "sentences": sentences,
            "nowhere": matched.rank[low:high][nowhere[low:high]].tolist(),
            "open": [names[item] for item in items.tolist() if best[item] == 0],
        }
    return found


def _shares(matched: Matched, rows: Integers, items: int) -> NDArray[np.float64]:
    """Return how much of every needed item's best alternative lies in some results."""
    needs, best = matched.prepared.needs, np.zeros(items)
    rows = rows[matched.article[rows] < len(matched.prepared.topic)]
    cited = union(matched.article[rows], matched.start[rows], matched.end[rows])
    covered = cited.covered(needs.article, needs.start, needs.end)
    np.maximum.at(best, needs.item, covered / (needs.end - needs.start))
    return best


def needs_of(matched: Matched) -> tuple[list[str], Integers]:
    """Return the name of every needed item, else the beginning of its text, and its topic."""
    try:
        needs = matched.prepared.needs
    except FocusevalError:  # the gold has no characters
        return [], np.zeros(0, np.int64)
    names, index = [""] * len(needs.topic), matched.prepared.index
    given = matched.prepared.gold.passages.need
    documents = matched.prepared.document_rows[matched.prepared.gold.articles.document]
    for row, item in enumerate(needs.item.tolist()):
        named = None if given is None else given[int(needs.passage[row])].as_py()
        if named is None and index is not None and documents[needs.article[row]] >= 0:
            text = index.text(int(documents[needs.article[row]]))[needs.start[row] : needs.end[row]]
            named = f"“{shortened(' '.join(text.split()), NEED)}”"
        names[item] = names[item] or named or f"need {item + 1}"
    return names, needs.topic
