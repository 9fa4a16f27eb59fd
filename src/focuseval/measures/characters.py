"""Characters and articles in rank order: INEX 2007–10 (iP, charP, artP), HiXEval. Text counts once, where it is new."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.measures.documents import recall, set_precision
from focuseval.measures.matching import Matched
from focuseval.measures.measure import Budget, Measure
from focuseval.measures.recall_base import ElementMatch
from focuseval.measures.spans import budgeted
from focuseval.measures.topicwise import (
    Flags,
    Floats,
    Integers,
    ceiling,
    count,
    count_by,
    harmonic_of,
    once,
    ratio,
    running,
    running_count,
    total,
)

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


_characters = partial(Measure, cite="kamps2008inex", needs=("spans",))
_by_recall = partial(_characters, tasks=("focused", "thorough"), curve=interpolated_curve)
_articles = partial(_characters, needs=("documents",))


class NewText(NamedTuple):
    """The results that add highlighted text, in rank order."""

    rows: Integers
    new: Integers  # characters that each of them adds
    size: Integers  # characters of each of them
    whole: Integers  # for every topic, its highlighted characters


@once
def new_text(m: Matched) -> NewText:
    """Return what every result adds; from the sizes of assessed elements where the gold has them and no passages.

    So appendix B of Pehcevski and Thom (2007) can be computed as it stands there. The gold's elements are taken for all
    that hold highlighted text: an element that it does not name holds none, and is refused where it must hold some.
    """
    gold = m.prepared.gold
    if not gold.sizes_only:
        rows = np.flatnonzero(m.new_rsize)
        return NewText(rows, m.new_rsize[rows], m.size[rows], m.prepared.trel_of_topic)
    base, elements = m.prepared.assessed.base("spec"), m.prepared.assessed.elements
    match, size = m.match_base(base), elements.size[base.source]
    rsize = np.minimum(elements.rsize[base.source], size)
    refuse_unknown_text(m, match, rsize == size)
    outermost = np.arange(len(base)) >= np.append(0, np.maximum.accumulate(base.last))[:-1]
    new = match.newly(rsize)
    rows = match.hits[new > 0]
    whole = count_by(rsize[outermost], base.topic[outermost], m.topics)
    return NewText(rows, new[new > 0], size[match.row[rows]], whole)


def refuse_unknown_text(m: Matched, match: ElementMatch, highlighted: Flags) -> None:
    """Refuse results outside the base that stand around one of its elements, or inside one `highlighted` whole."""
    base, rows = match.base, np.flatnonzero((match.article >= 0) & (match.row < 0))
    article, code = match.article[rows], match.code[rows]
    first, last = base.within(article, np.maximum(code, 0))
    fresh = base.lookup.find(base.key_of(article, np.maximum(code, 0))) < 0  # else it was returned before
    unknown = (code >= 0) & (last > first) & fresh
    paths = pa.array([], pa.string()) if m.path is None else m.path.take(rows).cast(pa.string())
    while len(paths) and pc.max(pc.binary_length(paths)).as_py():
        paths = pc.replace_substring_regex(paths, "/[^/]*$", "")
        above = base.tree.find(paths)
        around = base.lookup.find(base.key_of(article, np.maximum(above, 0)))
        unknown |= (above >= 0) & (around >= 0) & highlighted[around] & fresh
    if unknown.any():
        at, gold = int(np.argmax(unknown)), m.prepared.gold
        document = gold.documents[int(gold.articles.document[article[at]])]
        place = "the whole document" if m.path is None else m.path[int(rows[at])]
        what = f"{document}, {place} holds highlighted text, and the gold does not say how much"
        raise m.lacking(f"{what}; give a gold with passages, and index=")


def hix_precision(m: Matched, at: int) -> Floats:
    """Return the mean share of new highlighted text over the first `at` results."""
    rows, new, size, _ = new_text(m)
    kept = m.rank[rows] <= at
    return total((new / size)[kept], m.topic[rows[kept]], m.topics) / at


def hix_recall(m: Matched, at: int) -> Floats:
    """Return the share of the topic's highlighted text that the first `at` results return."""
    rows, new, _, whole = new_text(m)
    return ratio(count_by(np.where(m.rank[rows] <= at, new, 0), m.topic[rows], m.topics), whole)


hix_f = partial(harmonic_of, hix_precision, hix_recall)


def hix_average_precision(m: Matched) -> Floats:
    """Return hP at every rank, weighted by the share of the highlighted text that the rank adds."""
    rows, new, size, whole = new_text(m)
    topic = m.topic[rows]
    bounds = np.searchsorted(topic, np.arange(m.topics + 1))
    precision = running(new / size, bounds) / m.rank[rows]
    return ratio(total(precision * new, topic, m.topics), whole)


_overall = partial(Measure, cite="pehcevski2006hixeval", needs=("spans",), or_sizes=True)
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
    _characters("charF", partial(harmonic_of, char_precision, char_recall), "Harmonic mean of charP and charR.",
        at=("characters",),
        formula=r"charF = 2 \cdot charP \cdot charR / (charP + charR)", example="charP 0.5, charR 1: 0.6667."),
    _articles("artP", set_precision, "Share of the returned articles that is relevant.",
        formula=r"artP = \frac{\text{relevant articles retrieved}}{\text{articles retrieved}}",
        example="2 of 3 returned articles are relevant: 0.6667."),
    _articles("artR", recall, "Share of the relevant articles that is returned.",
        formula=r"artR = \frac{\text{relevant articles retrieved}}{Numrel}",
        example="2 of 4 relevant articles returned: 0.5."),
    _articles("artF", partial(harmonic_of, set_precision, recall), "Harmonic mean of artP and artR.",
        formula=r"artF = 2 \cdot artP \cdot artR / (artP + artR)", example="artP 0.6667, artR 0.5: 0.5714."),
    _at_rank("hP", hix_precision, "Mean share of new highlighted text in the first results.",
        formula=r"hP@r = \frac{1}{r} \sum_{i \le r} \frac{\text{new } rsize(e_i)}{size(e_i)}",
        example="One fully highlighted section, then two without any: hP@3 = 0.3333."),
    _at_rank("hR", hix_recall, "Share of the highlighted text in the first results.",
        formula=r"hR@r = \frac{1}{Trel(t)} \sum_{i \le r} \text{new } rsize(e_i)",
        example="99 of 198 highlighted characters in the first three results: hR@3 = 0.5."),
    _at_rank("hF", hix_f, "Harmonic mean of hP and hR.",
        formula=r"hF@r = \frac{2\, hP@r\, hR@r}{hP@r + hR@r}", example="hP@3 = 1, hR@3 = 0.5: hF@3 = 0.6667."),
    _overall("hAP", hix_average_precision, "Average precision of highlighted text.",
        formula=r"hAP = \sum_r hP@r \cdot \frac{\text{new } rsize(e_r)}{Trel(t)}",
        example="Three highlighted paragraphs, half of the topic's text, at ranks 1 to 3: hAP = 0.5."),
)  # fmt: skip
