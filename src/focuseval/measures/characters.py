"""Characters and articles in rank order: INEX 2007–10 (iP, charP, artP), HiXEval. Text counts once, where it is new."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from focuseval.measures.documents import recall, relevant_upto
from focuseval.measures.measure import Measure
from focuseval.measures.spans import budgeted
from focuseval.measures.topicwise import ceiling, count, harmonic, once, ratio, running, running_count, total

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from focuseval.measures.matching import Matched
    from focuseval.measures.measure import Budget
    from focuseval.measures.topicwise import Floats, Integers


LEVELS = 101


def points(m: Matched) -> tuple[NDArray[np.int32], Integers, Floats]:
    """Return topic, relevant characters so far and precision, at every rank that adds relevant characters.

    No other rank can hold a maximum: it has the same recall as an earlier one, and no better precision.
    """
    rows = np.flatnonzero(m.new_rsize)
    relevant = running_count(m.new_rsize, m.bounds)[rows]
    retrieved = running_count(m.cost, m.bounds)[rows]
    return m.topic[rows], relevant, relevant / retrieved


@once
def interpolated_curve(m: Matched) -> tuple[Floats, Floats]:
    """Return the 101 recall levels and, for every topic, the best precision at or beyond each of them."""
    topic, relevant, precision = points(m)
    whole = m.prepared.trel_of_topic[topic]
    level = relevant * 100 // whole
    if m.policies.compat == "inex_eval":  # floor(100 · recall) as the official tool computes it
        level = np.floor(100 * (relevant / whole)).astype(np.int64)
    best = np.zeros((m.topics, LEVELS))
    np.maximum.at(best, (topic, level), precision)
    return np.arange(LEVELS) / 100, np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]


def interpolated_precision(m: Matched, at: Fraction) -> Floats:
    """Return the best precision among all ranks whose recall is at least `at`; 0 when there is none."""
    if 100 % at.denominator == 0:
        return interpolated_curve(m)[1][:, int(at * 100)]
    topic, relevant, precision = points(m)
    reached = relevant >= ceiling(m.prepared.trel_of_topic, at)[topic]
    best = np.zeros(m.topics)
    np.maximum.at(best, topic[reached], precision[reached])
    return best


def average_interpolated_precision(m: Matched) -> Floats:
    """Return the mean of iP at the 101 recall levels."""
    return np.cumsum(interpolated_curve(m)[1], axis=1)[:, -1] / LEVELS


def char_precision(m: Matched, at: Budget | None = None) -> Floats:
    """Return the share of the returned characters that is highlighted, in all or in the first `at` of them."""
    size, relevant = (m.cost, m.new_rsize) if at is None else budgeted(m, at)
    return ratio(count(relevant, m.bounds), count(size, m.bounds))


def char_recall(m: Matched, at: Budget | None = None) -> Floats:
    """Return the share of the highlighted characters that is returned, in all or in the first `at` characters."""
    relevant = m.new_rsize if at is None else budgeted(m, at)[1]
    return ratio(count(relevant, m.bounds), m.prepared.trel_of_topic)


def char_f(m: Matched, at: Budget | None = None) -> Floats:
    """Return the harmonic mean of charP and charR."""
    return harmonic(char_precision(m, at), char_recall(m, at))


def art_precision(m: Matched) -> Floats:
    """Return the share of the returned articles that is relevant."""
    return ratio(relevant_upto(m, None), np.diff(m.a_bounds))


def art_recall(m: Matched) -> Floats:
    """Return the share of the relevant articles that is returned."""
    return recall(m)


def art_f(m: Matched) -> Floats:
    """Return the harmonic mean of artP and artR."""
    return harmonic(art_precision(m), art_recall(m))


_characters = partial(Measure, cite="kamps2008inex", needs=("spans",))
_by_recall = partial(_characters, tasks=("focused", "thorough"), curve=interpolated_curve)
_articles = partial(_characters, needs=("documents",))


def purity(m: Matched) -> tuple[Integers, Floats]:
    """Return the rows that add highlighted text, and the share of each that it adds; all other shares are 0."""
    rows = np.flatnonzero(m.new_rsize)
    return rows, m.new_rsize[rows] / m.size[rows]


def hix_precision(m: Matched, at: int) -> Floats:
    """Return the mean share of new highlighted text over the first `at` results."""
    rows, share = purity(m)
    kept = m.rank[rows] <= at
    return total(share[kept], m.topic[rows[kept]], m.topics) / at


def hix_recall(m: Matched, at: int) -> Floats:
    """Return the share of the topic's highlighted text that the first `at` results return."""
    return ratio(count(np.where(m.rank <= at, m.new_rsize, 0), m.bounds), m.prepared.trel_of_topic)


def hix_f(m: Matched, at: int) -> Floats:
    """Return the harmonic mean of hP and hR."""
    return harmonic(hix_precision(m, at), hix_recall(m, at))


def hix_average_precision(m: Matched) -> Floats:
    """Return hP at every rank, weighted by the share of the highlighted text that the rank adds."""
    rows, share = purity(m)
    topic = m.topic[rows]
    bounds = np.searchsorted(topic, np.arange(m.topics + 1))
    precision = running(share, bounds) / m.rank[rows]
    return ratio(total(precision * m.new_rsize[rows], topic, m.topics), m.prepared.trel_of_topic)


_overall = partial(Measure, cite="pehcevski2006hixeval", needs=("spans",))
_at_rank = partial(_overall, at=("rank",), at_required=True, perfect=False)


MEASURES = (
    _by_recall("iP", interpolated_precision, "Interpolated precision of characters at a recall level.", at=("level",),
        at_required=True,
        formula=r"iP[x] = \max \{P[r] : R[r] \ge x\}",
        example="40 of the first 80 characters are highlighted, 100 in all: recall 0.4, so iP@0.01 is at least 0.5."),
    _by_recall("MAiP", average_interpolated_precision, "Mean of iP at the 101 recall levels .00, .01 … 1.",
        aliases=("AiP",),
        formula=r"AiP = \frac{1}{101} \sum_{x = .00, .01 \ldots 1} iP[x]",
        example="iP is 0.75 up to recall 0.6 and 0 beyond: 61 · 0.75 / 101 = 0.4530."),
    _characters("charP", char_precision, "Share of the returned characters that is highlighted.", at=("characters",),
        formula=r"charP = \frac{\text{relevant characters retrieved}}{\text{characters retrieved}}",
        example="150 highlighted of 270 returned characters: 0.5556."),
    _characters("charR", char_recall, "Share of the highlighted characters that is returned.", at=("characters",),
        formula=r"charR = \frac{\text{relevant characters retrieved}}{Trel(t)}",
        example="150 of 200 highlighted characters returned: 0.75."),
    _characters("charF", char_f, "Harmonic mean of charP and charR.", at=("characters",),
        formula=r"charF = 2 \cdot charP \cdot charR / (charP + charR)",
        example="charP 0.5, charR 1: 0.6667."),
    _articles("artP", art_precision, "Share of the returned articles that is relevant.",
        formula=r"artP = \frac{\text{relevant articles retrieved}}{\text{articles retrieved}}",
        example="2 of 3 returned articles are relevant: 0.6667."),
    _articles("artR", art_recall, "Share of the relevant articles that is returned.",
        formula=r"artR = \frac{\text{relevant articles retrieved}}{Numrel}",
        example="2 of 4 relevant articles returned: 0.5."),
    _articles("artF", art_f, "Harmonic mean of artP and artR.",
        formula=r"artF = 2 \cdot artP \cdot artR / (artP + artR)",
        example="artP 0.6667, artR 0.5: 0.5714."),
    _at_rank("hP", hix_precision, "Mean share of new highlighted text in the first results.",
        formula=r"hP@r = \frac{1}{r} \sum_{i \le r} \frac{\text{new } rsize(e_i)}{size(e_i)}",
        example="One fully highlighted section, then two without any: hP@3 = 0.3333."),
    _at_rank("hR", hix_recall, "Share of the highlighted text in the first results.",
        formula=r"hR@r = \frac{1}{Trel(t)} \sum_{i \le r} \text{new } rsize(e_i)",
        example="99 of 198 highlighted characters in the first three results: hR@3 = 0.5."),
    _at_rank("hF", hix_f, "Harmonic mean of hP and hR.",
        formula=r"hF@r = \frac{2\, hP@r\, hR@r}{hP@r + hR@r}",
        example="hP@3 = 1, hR@3 = 0.5: hF@3 = 0.6667."),
    _overall("hAP", hix_average_precision, "Average precision of highlighted text.",
        formula=r"hAP = \sum_r hP@r \cdot \frac{\text{new } rsize(e_r)}{Trel(t)}",
        example="Three highlighted paragraphs, half of the topic's text, at ranks 1 to 3: hAP = 0.5."),
)  # fmt: skip
