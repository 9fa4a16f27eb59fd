"""Answers: what they cite, when they are silent, and what must not be in them.

The results of a run of answers are the texts that its answers cite, so every measure of spans is one of citations:
``citeP`` and ``citeR`` are spanP and spanR of all of them, whatever their order and however they are cut. Questions
that nothing answers, and text that must not come back, are other bases than relevance: topics in means of their own.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from focuseval.data.spans import union
from focuseval.measures.matching import Matched, match
from focuseval.measures.measure import Measure
from focuseval.measures.spans import At, Read, read, read_text
from focuseval.measures.topicwise import Flags, Floats, count_by, once


def uncited(m: Matched) -> Floats:
    """Return the share of an answer's sentences that cite nothing; NaN where there is no answer."""
    if not m.run.answers:
        raise m.lacking("results without answers; give answers with citations")
    values = np.full(m.topics, np.nan)
    for topic, name in enumerate(m.prepared.topics):
        statements = m.run.answers[name].statements if name in m.run.answers else ()
        if statements:
            values[topic] = sum(not one.cites for one in statements) / len(statements)
    return values


@once
def silent(m: Matched) -> Flags:
    """Return for every topic whether nothing was returned, or the answer abstains; an answer without words does."""
    if not m.run.answers:
        return np.asarray(np.diff(m.bounds) == 0)
    answers = [m.run.answers.get(name) for name in m.prepared.topics]
    return np.array([one is None or one.abstains or not one.statements for one in answers], np.bool_)


def silence(m: Matched) -> Floats:
    """Return 1 where nothing is returned, or the answer abstains, else 0."""
    return silent(m).astype(np.float64)


def refusal_precision(m: Matched) -> Floats:
    """Return 1 where a question without a reply has no answer, 0 where it has one; a reply is not counted."""
    unanswerable = m.prepared.gold.unanswerable[m.prepared.counted]
    return np.where(silent(m), unanswerable.astype(np.float64), np.nan)


def waste(m: Matched, at: int) -> Floats:
    """Return the characters of the first results, each counted once."""
    rows = np.flatnonzero(m.rank <= at)
    shown = union(m.article[rows], m.start[rows], m.end[rows])
    return count_by(shown.end - shown.start, m.topic[rows][shown.source], m.topics).astype(np.float64)


@once
def forbidden_text(m: Matched, at: At) -> Read:
    """Return how much forbidden text the first results hold, for every topic; nothing where none is forbidden."""
    other = m.prepared.forbidden
    seen = read(match(m.run, other, m.policies, tokenizer=m.tokenizer), at)
    number = {name: topic for topic, name in enumerate(m.prepared.topics)}
    columns = np.zeros((3, m.topics + 1), np.int64)  # the last is for topics that do not count
    columns[:, [number.get(name, -1) for name in other.topics]] = np.stack(seen)
    return Read(*columns[:, :-1])


def leak(m: Matched, at: At = None) -> Floats:
    """Return 1 where a character of forbidden text is returned."""
    return (forbidden_text(m, at).relevant > 0).astype(np.float64)


def leaked(m: Matched, at: At = None) -> Floats:
    """Return how many characters of forbidden text are returned."""
    return forbidden_text(m, at).relevant.astype(np.float64)


_answers = partial(Measure, cite="focuseval", tasks=("spans",), perfect=False)
_cited = partial(_answers, needs=("spans",))
_silent = partial(_answers, base="unanswerable", needs=("questions without an answer",))
_forbidden = partial(
    _answers, base="forbidden", lower=True, needs=("forbidden text",), at=("rank", "characters", "words", "tokens")
)

MEASURES = (
    _cited("citeP", partial(read_text, what="spanP"), "Share of the cited text that is highlighted.",
        formula=r"citeP = |C \cap H| / |C|",
        example="[0,60) and [40,100) are cited, [0,50) is highlighted: 50 of 100 characters, 0.5."),
    _cited("citeR", partial(read_text, what="spanR"), "Share of the highlighted text that is cited.",
        formula=r"citeR = |C \cap H| / |H|",
        example="[0,60) is cited twice, [0,80) is highlighted: 60 of 80 characters, 0.75."),
    _answers("uncited", uncited, "Share of an answer's sentences without a citation.", needs=("answers",), lower=True,
        formula=r"uncited = |\{s : cites(s) = \emptyset\}| / |S|",
        example="One of four sentences cites nothing: 0.25."),
    _silent("silence", silence, "Whether a question that has no answer gets none.",
        aliases=("refuseR",),
        formula=r"silence = [\text{nothing is returned, or the answer abstains}]",
        example="Of two questions that have no answer one gets no result: 0.5, the recall of refusing."),
    _answers("refuseP", refusal_precision, "Share of the questions left without a reply that have no answer.",
        base="questions", needs=("questions without an answer",),
        formula=r"refuseP = |\text{silent} \cap \text{unanswerable}| / |\text{silent}|",
        example="Three questions get no reply, two of them have no answer: 0.6667."),
    _silent("waste", waste, "Characters that are returned for a question that has no answer.", at=("rank",),
        at_required=True, lower=True, bounds=(0.0, float("inf")),
        formula=r"waste@k = |U_k|", example="[0,60) and [40,100) are returned: 100."),
    _forbidden("leak", leak, "Whether the results hold a character of forbidden text.",
        formula=r"leak = [U \cap F \ne \emptyset]",
        example="1 or 0; the mean is the share of the topics with forbidden text in which some is returned."),
    _forbidden("leaked", leaked, "Characters of forbidden text that are returned.", bounds=(0.0, float("inf")),
        formula=r"leaked = |U \cap F|", example="[0,60) is returned, [50,90) is forbidden: 10."),
)  # fmt: skip
