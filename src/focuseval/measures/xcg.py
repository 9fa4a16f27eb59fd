"""Extended cumulated gain: effort-precision (thorough), normalised gain (focused), and fetch & browse (2005).

``xG[i]`` is the gain of the i-th result and ``xCG`` its running sum; ``xI`` are the gains of a recall base in
descending order and ``xCI`` their running sum: what an ideal list would have gathered. Effort-precision compares the
ranks at which both reach the same gain, nxCG the gains that both have reached at the same rank. For fetch & browse the
elements of every article are a list of their own, scored by effort-precision against the article's own recall base.

Gains are integers in units of the base (`focuseval.measures.recall_base`), so sums are exact; where a sum is
compared with another, `SLACK` units a summand are allowed for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.measures.matching import Matched
from focuseval.measures.measure import Measure, Parameter
from focuseval.measures.recall_base import SLACK, ElementMatch
from focuseval.measures.topicwise import Floats, Integers, ceiling, once, ratio, total, without_base

LEVELS = tuple(Fraction(i, 100) for i in range(1, 101))  # the gain-recall points of the ep/gr graph


@once
def effort_precision(match: ElementMatch, ideal: str = "rank") -> Floats:
    r"""Return effort-precision at every hit, in rank order over all topics.

    .. math:: ep[i] = i_{ideal} / i, \quad i_{ideal} = \min\{j : xCI[j] \ge xCG[i]\}

    With ``ideal="line"`` the ideal curve is read as straight lines, and ``i_ideal`` may be fractional.
    """
    best, topic = match.base.full_list, match.hit_topic
    nth = np.arange(1, len(topic) + 1) - match.hit_bounds[topic]
    place = np.searchsorted(best.reach, match.hit_reach - SLACK * nth)
    rank = (place - best.bounds[topic]).astype(np.float64)
    if ideal == "line" and len(place):
        rank -= 1 - np.minimum((match.hit_reach - best.reach[place - 1]) / best.gain[place - 1], 1)
    return rank / (match.hits - match.bounds[topic] + 1)


def mean_average_effort_precision(m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "rank") -> Floats:
    """Sum effort-precision over the ranks that gain, and divide by the number of relevant elements.

    At a rank that gains, effort-precision is the rank at which the ideal list has gathered as much, over the rank
    itself. The ideal list holds all relevant elements, best first, overlapping ones too; repeats gain nothing.
    """
    return average_effort(m.elements(quant, base), ideal)


def average_effort(match: ElementMatch, ideal: str) -> Floats:
    """Return the mean effort-precision over each topic's relevant elements; NaN where it has none."""
    effort = total(effort_precision(match, ideal), match.hit_topic, match.base.topics)
    return relevant_ratio(effort, match.base.full_list.length())


def effort_at(
    m: Matched, levels: Sequence[Fraction], quant: str = "auto", base: str = "auto", ideal: str = "rank"
) -> Floats:
    """Return effort-precision at gain-recall levels: topics × levels, straight lines between natural points.

    Before the first natural point its own value holds; past the last one effort-precision is 0. A level is compared
    in integers: the first hit with ``xCG ≥ x · xCI[n]``.
    """
    match = m.elements(quant, base)
    best, ep, reach = match.base.full_list, effort_precision(match, ideal), match.hit_reach
    if not len(ep):
        return without_base(np.zeros((match.base.topics, len(levels))), best.length()[:, None])
    target = np.stack([ceiling(best.total(), level) for level in levels], axis=1)
    start, slack = best.reach[best.bounds[:-1], None], SLACK * best.length()[:, None]
    at = np.searchsorted(reach, start + np.maximum(target - slack, 1))
    lost, first = at >= match.hit_bounds[1:, None], at == match.hit_bounds[:-1, None]
    at = np.minimum(at, len(ep) - 1)
    before = np.where(first, at, at - 1)
    step = np.minimum((start + target - reach[before]) / np.maximum(reach[at] - reach[before], 1), 1)
    return without_base(np.where(lost, 0.0, ep[before] + step * (ep[at] - ep[before])), best.length()[:, None])


def over_levels(values: Callable[..., Floats], m: Matched, *given: Any, **parameters: Any) -> tuple[Floats, Floats]:
    """Return a curve: the recall levels .01 … 1 and, for every topic, what a function of levels says at each."""
    return np.array(LEVELS, np.float64), values(m, LEVELS, *given, **parameters)


effort_curve = partial(over_levels, effort_at)  # the ep/gr graph


def effort_precision_at(
    m: Matched, at: Fraction, quant: str = "auto", base: str = "auto", ideal: str = "rank"
) -> Floats:
    """Return effort-precision at one gain-recall level, read off straight lines between the ranks that gain.

    Before the first of them its own value holds; past the last one effort-precision is 0.
    """
    return effort_at(m, [at], quant, base, ideal)[:, 0]


def interpolated_mean_effort_precision(
    m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "rank"
) -> Floats:
    """Return the mean of effort-precision over the 100 levels .01 … 1."""
    return np.asarray(effort_at(m, LEVELS, quant, base, ideal).mean(axis=1))


def gathered_at(m: Matched, ranks: Integers, quant: str = "auto", base: str = "auto", *, best: bool = False) -> Floats:
    """Return the gain gathered at ranks by the run, or by the ideal list: topics × ranks."""
    match = m.elements(quant, base)
    units = match.base.full_list.upto(ranks) if best else match.upto(match.gathered, ranks)
    return without_base(match.base.in_gain(units, ranks), match.base.full_list.length()[:, None])


def cumulated_gain(m: Matched, at: int, quant: str = "auto", base: str = "auto") -> Floats:
    """Return the gain gathered in the first results."""
    return gathered_at(m, np.array([at]), quant, base)[:, 0]


def ideal_gain(m: Matched, at: int, quant: str = "auto", base: str = "auto") -> Floats:
    """Return the gain of the best list possible: what xCG is compared with, whatever the run returns."""
    return gathered_at(m, np.array([at]), quant, base, best=True)[:, 0]


def gain_curve(
    m: Matched, quant: str = "auto", base: str = "auto", *, best: bool = False
) -> tuple[NDArray[Any], Floats]:
    """Return the ranks up to the longest list, the run's or the ideal one, and every topic's gain at each."""
    full = m.elements(quant, base).base.full_list
    ranks = np.arange(1, max(np.diff(m.bounds).max(initial=1), full.length().max(initial=1)) + 1)
    return ranks, gathered_at(m, ranks, quant, base, best=best)


ideal_curve = partial(gain_curve, best=True)


def gain_recall(m: Matched, at: int, quant: str = "auto", base: str = "auto") -> Floats:
    """Return the share of all gain that the first results gather."""
    match = m.elements(quant, base)
    return relevant_ratio(match.upto(match.gathered, np.array([at]))[:, 0], match.base.full_list.total())


def relevant_ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide; NaN, a topic that the measure leaves out, where the base is empty."""
    return without_base(ratio(part, whole), whole)


QUANT = Parameter("quant", "auto", "Quantisation: what an assessment is worth; auto: as in the gold's year.")
BASE = Parameter("base", "full", "Recall base, with or without link elements.", ("full", "filtered"), policy=True)
IDEAL = Parameter("ideal", "rank", "Ranks of the ideal list: whole, or read off straight lines.", ("rank", "line"))

_gain = partial(Measure, cite="kazai2006extended", needs=("elements",), tasks=("thorough",))
_effort = partial(_gain, parameters=(QUANT, BASE, IDEAL), curve=effort_curve)
_at_rank = partial(_gain, at=("rank",), at_required=True, parameters=(QUANT, BASE), perfect=False)


def normalised_at(match: ElementMatch, ranks: Integers, ideal: str = "ideal") -> Floats:
    r"""Return normalised cumulated gain at ranks: topics × ranks.

    .. math:: nxCG[k] = \sum_{j \le k} xG_{norm}[j] \;/\; xCI[\min(k, |ideal|)]

    ``full`` takes xCI from the full base; ``all`` takes xG from it as well, without normalising it (Lalmas et al. 2007,
    section 8.2: "all relevant elements in the full recall-base are considered ideal").
    """
    best = match.base.ideal_list if ideal == "ideal" else match.base.full_list
    gathered = match.gathered if ideal == "all" else match.normalised
    return relevant_ratio(match.upto(gathered, ranks), best.upto(ranks))


def normalised_cumulated_gain(
    m: Matched, at: int, quant: str = "auto", base: str = "auto", ideal: str = "ideal"
) -> Floats:
    """Return what the first `at` results gain, over what the ideal list gains by then.

    A result gains no more than the ideal element on its path (itself, its ancestor or its descendant) still leaves:
    ``max(0, min(xG[j], xG[ideal] − gains of earlier results that overlap it))``. A result that contains several ideal
    elements takes the one that leaves it most, and overlaps each of them for later results. With ``ideal=full`` the
    list that is divided by holds all relevant elements; with ``ideal=all`` every relevant element gains in full, too.
    """
    return normalised_at(m.elements(quant, base), np.array([at]), ideal)[:, 0]


def mean_normalised_cumulated_gain(
    m: Matched, at: int, quant: str = "auto", base: str = "auto", ideal: str = "ideal"
) -> Floats:
    """Return the mean of nxCG over the ranks 1 … `at`, past the end of the list too."""
    return np.asarray(normalised_at(m.elements(quant, base), np.arange(1, at + 1), ideal).mean(axis=1))


def normalised_curve(m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "ideal") -> tuple[Any, Floats]:
    """Return the ranks up to the longest list and, for every topic, nxCG at each."""
    ranks = np.arange(1, np.diff(m.bounds).max(initial=1) + 1)
    return ranks, normalised_at(m.elements(quant, base), ranks, ideal)


NORMALISED_BY = Parameter("ideal", "ideal",
    "What the ideal list holds; all: every relevant element gains in full, too.", ("ideal", "full", "all"))  # fmt: skip
_normalised = partial(_at_rank, traits=("ideal recall base", "two dimensions"), tasks=("focused",), perfect=True,
    parameters=(QUANT, BASE, NORMALISED_BY), perfect_unless="ideal=full or all", curve=normalised_curve)  # fmt: skip


def browse(m: Matched, quant: str = "auto", base: str = "auto") -> ElementMatch:
    """Return the results article by article: the match of `m`, with every judged article in place of a topic."""
    match = m.elements(quant, base)
    whole, articles = match.base, len(match.base.topic_of_article)
    by_article = np.lexsort((whole.code, whole.article))
    columns: dict[str, Any] = {name: getattr(whole, name)[by_article] for name in ("article", "code", "gain", "source")}
    apart = replace(whole, topics=articles, topic_of_article=np.arange(articles), topic=columns["article"], **columns)
    judged = np.flatnonzero(match.article >= 0)
    order = judged[np.argsort(match.article[judged], kind="stable")]
    article, code = match.article[order], match.code[order]
    bounds = np.searchsorted(article, np.arange(articles + 1)).astype(np.int64)
    return apart.match(bounds, article, code)


def browse_scores(m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "rank") -> Floats:
    """Return MAep of every judged article (a row of ``gold.articles``), NaN where it has no relevant element."""
    return average_effort(browse(m, quant, base), ideal)


def browse_effort_precision(m: Matched, quant: str = "auto", base: str = "auto", ideal: str = "rank") -> Floats:
    """Return the mean, over a topic's relevant articles, of the MAep of each article's elements; 0 if not returned.

    Every article is a list of its own: its elements as the run ranks them, against the article's own recall base.
    """
    scores = browse_scores(m, quant, base, ideal)
    here = np.flatnonzero(~np.isnan(scores))
    topic = m.prepared.assessed.topic_of_article[here]
    return relevant_ratio(total(scores[here], topic, m.topics), np.bincount(topic, minlength=m.topics))


MEASURES = (
    _effort("MAep", mean_average_effort_precision,
        "Mean average effort-precision: ep at every relevant element returned, 0 for the others.",
        formula=r"MAep = \frac{1}{n} \sum_{i: xG[i] > 0} \frac{i_{ideal}}{i}",
        example="Gains 1 and .5 in the base; the run returns nothing, then both: (1/2 + 2/3) / 2 = 0.5833."),
    _effort("iMAep", interpolated_mean_effort_precision,
        "Mean of effort-precision at the 100 gain-recall levels .01 … 1.",
        formula=r"iMAep = \frac{1}{100} \sum_{x = .01 \ldots 1} ep@x",
        example="One relevant element, returned at rank 2: ep is 1/2 at every level, iMAep 0.5."),
    _effort("ep", effort_precision_at, "Effort-precision at a gain-recall level: ideal rank over actual rank.",
        at=("level",), at_required=True,
        formula=r"ep[i] = i_{ideal} / i",
        example="Half of all gain is reached at rank 4, by the ideal list at rank 1: ep@0.5 = 0.25."),
    _at_rank("gr", gain_recall, "Gain-recall: the share of all gain that the first results gather.",
        formula=r"gr[i] = xCG[i] / xCI[n]", example="Gains 1, .5, .5 in the base, 1 returned first: gr@1 = 0.5."),
    _at_rank("xCG", cumulated_gain, "Cumulated gain of the first results.", bounds=(0.0, float("inf")),
        curve=gain_curve,
        formula=r"xCG[i] = \sum_{j \le i} xG[j]", example="Results with gains 1, 0, .5: xCG@3 = 1.5."),
    _at_rank("xCI", ideal_gain, "Cumulated gain of the ideal list: a reference for xCG, the same for every run.",
        bounds=(0.0, float("inf")), curve=ideal_curve,
        formula=r"xCI[i] = \sum_{j \le i} xI[j]", example="Gains 1, .5, .5 in the base: xCI@2 = 1.5."),
    _normalised("nxCG", normalised_cumulated_gain,
        "Normalised cumulated gain at a rank: what was gained over what the ideal list would have gained.",
        formula=r"nxCG[k] = \frac{\sum_{j \le k} xG_{norm}[j]}{xCI[\min(k, |ideal|)]}",
        example="Ideal gains 1 and .5 returned in reverse: nxCG@1 = 0.5, nxCG@2 = 1."),
    _normalised("MAnxCG", mean_normalised_cumulated_gain, "Mean of nxCG over the ranks 1 … k.",
        formula=r"MAnxCG[k] = \frac{1}{k} \sum_{j=1}^{k} nxCG[j]",
        example="Ideal gains 1 and .5 returned in reverse: MAnxCG@2 = (0.5 + 1) / 2 = 0.75."),
    _gain("browseMAep", browse_effort_precision,
        "MAep of the elements inside each relevant article, averaged over the topic's relevant articles.",
        traits=("grouped output", "two dimensions"), parameters=(QUANT, BASE, IDEAL), tasks=("fetch-browse",),
        formula=r"\frac{1}{|A|} \sum_{a \in A} MAep(a)",
        example="Two relevant articles, one not returned, the other's elements in ideal order: (1 + 0) / 2 = 0.5."),
)  # fmt: skip
