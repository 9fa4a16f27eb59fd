"""Assessed elements: what an assessment is worth, and every recall base that can be made of a gold.

A *quantisation* turns what an assessor said of an element into the gain of returning it. It is a name (``gen``,
``spec``, ``e3_s32`` …) that means something on one or more *scales*, the ways in which elements were assessed over the
years (`focuseval.data.gold.Gold.scale`). Grades are looked up in a table of 4 × 4 pairs; from 2005 on the gain is
computed from sizes.

Gains are float64, and comparing them decides ties exactly as comparing the fractions would. Each is one correctly
rounded division of two integers. Let ``a/b ≠ c/d`` be two gains below 4 of elements shorter than ``2**25``
characters: they differ by at least ``1/(b·d) > 2**-50``, while doubles below 4 lie at most ``2**-51`` apart, so
rounding cannot bring them together; equal fractions round to the same double.

Assessments are sorted once per gold; a recall base is then a selection of these rows with their gains, built when it is
first asked for, and kept. From 2006 on an element's assessment is nothing but its size and the highlighted characters
in it, so any gold of highlights (a qrels file of 2008–10, spans for RAG over XML) becomes a recall base once an index
says what elements its documents have.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.data.gold import TOO_SMALL, Gold, GradedElements
from focuseval.engine.lazy import cached_property
from focuseval.errors import InputError, MeasureError, MissingDataError
from focuseval.measures.recall_base import PathTree, RecallBase, path_tree, row_keys
from focuseval.measures.topicwise import Floats, Integers
from focuseval.placing.pointers import highlighted_elements

_OFF = np.nan  # marks a pair that the scale does not know


def _table(gains: dict[float, str]) -> Floats:
    """Return the 4 × 4 table of ``{gain: "es es …"}``; coverage N, L, S, E stands for 0, 1, 2, 3."""
    table = np.full((4, 4), _OFF)
    for gain, pairs in gains.items():
        for pair in pairs.split():
            s = pair[1]
            table[int(pair[0]), "NLSE".index(s) if s in "NLSE" else int(s)] = gain
    return table


_GRADES = {
    "gen": _table({1: "33", 0.75: "23 32 31", 0.5: "13 22 21", 0.25: "12 11", 0: "00"}),
    "sog": _table({1: "33", 0.9: "23", 0.75: "13 32", 0.5: "22", 0.25: "12 31", 0.1: "21 11", 0: "00"}),
    "strict": _table({1: "33", 0: "00 11 12 13 21 22 23 31 32"}),
}
_COVERAGE = {
    "gen": _table({1: "3E", 0.75: "2E 3L", 0.5: "1E 2L 2S", 0.25: "1S 1L", 0: "0N"}),
    "strict": _table({1: "3E", 0: "0N 1L 1S 1E 2L 2S 2E 3L"}),
}
_SIZES = ("strict5", "gen5", "genLifted", "spec")
_SUBSETS = tuple("".join(grades) for many in (1, 2, 3) for grades in combinations("321", many))

ONE_SIDED = tuple(f"e{e}_s{s}" for e in _SUBSETS for s in _SUBSETS)
"""``e<grades>_s<grades>``: gain 1 if both grades are listed. INEX 2004 used e3_s321, e3_s32, e32_s3 and e321_s3."""

QUANTISATIONS = ("strict", "gen", "sog", *_SIZES, *ONE_SIDED)  # every name that a measure's ``quant`` takes
BEYOND_ONE = ("gen5", "genLifted")  # quantisations whose gain can exceed 1, which a probability of relevance cannot

QUANT_OF_SCALE = {"coverage": "gen", "grades": "gen", "exhaustivity": "gen5", "highlights": "spec"}
"""What ``quant=auto`` means on each scale: the year's own graded quantisation."""


def quantisation(name: str, scale: str) -> str:
    """Return the quantisation that `name` means on `scale`, or say what is possible.

    >>> quantisation("auto", "exhaustivity"), quantisation("e3_s23", "grades")
    ('gen5', 'e3_s32')
    """
    if scale not in QUANT_OF_SCALE:
        raise MissingDataError(
            f"this measure needs assessed elements, found a gold of scale {scale!r}; "
            "give a gold with elements or highlights, and with highlights alone index="
        )
    chosen = QUANT_OF_SCALE[scale] if name == "auto" else name
    shape = re.fullmatch(r"e([123]+)_s([123]+)", chosen)
    if shape is not None:  # grades in any order
        chosen = "e{}_s{}".format(*("".join(sorted(set(grades), reverse=True)) for grades in shape.groups()))
    if chosen not in QUANTISATIONS:
        raise MeasureError(
            f"expected a quantisation ({', '.join(QUANTISATIONS[:7])} or e<grades>_s<grades>), found {name!r}"
        )
    if chosen not in possible(scale):
        known = ", ".join(one for one in possible(scale) if one not in ONE_SIDED)
        raise MeasureError(f"quantisation {chosen!r} says nothing of a gold of scale {scale!r}; use one of {known}")
    return chosen


def possible(scale: str) -> tuple[str, ...]:
    """Return the quantisations that a scale's assessments allow.

    >>> possible("coverage")
    ('strict', 'gen')
    """
    if scale == "coverage":
        return ("strict", "gen")
    return ("strict", "gen", "sog", *ONE_SIDED) if scale == "grades" else _SIZES


def quantise(gold: Gold, elements: GradedElements, name: str = "auto") -> Floats:
    """Return the gain of every element of a gold's assessments, 0 where it is not relevant or was not assessed.

    `elements` are the gold's own, or those that an index derives from its highlights.
    """
    chosen = quantisation(name, gold.scale)
    if gold.scale in ("coverage", "grades"):
        table = (_COVERAGE if gold.scale == "coverage" else _GRADES).get(chosen)
        if table is None:  # e<grades>_s<grades>
            e_listed, s_listed = (np.isin(np.arange(4), [int(g) for g in part[1:]]) for part in chosen.split("_"))
            table = np.where(np.isnan(_GRADES["strict"]), _OFF, e_listed[:, None] & s_listed)
        e, s = elements.exhaustivity, elements.specificity
        assessed = (e >= 0) & (s >= 0)
        gain = np.zeros(len(e))
        inside = assessed & (e < 4) & (s < 4)
        gain[inside] = table[e[inside], s[inside]]
        wrong = np.flatnonzero((assessed & ~inside) | np.isnan(gain))
        if len(wrong):
            i = int(wrong[0])
            coverage = gold.scale == "coverage" and s[i] < 4
            raise _refuse(gold, elements, i, f"{e[i]}{'NLSE'[s[i]]}" if coverage else f"the grades ({e[i]}, {s[i]})")
        return gain
    size, rsize = elements.size, elements.rsize
    e = np.where(elements.exhaustivity == TOO_SMALL, 0, elements.exhaustivity).astype(np.int64)
    if gold.scale == "highlights":  # exhaustivity is always 2 from 2006 on, and files may leave it out
        e = np.where(e < 0, 2, e)
    assessed = e >= 0
    wrong = np.flatnonzero(assessed & ((e > 2) | (size < 0) | (rsize < 0)))
    if len(wrong):
        i = int(wrong[0])
        lacking = "; build the collection's index with 'focuseval index': it knows sizes" if e[i] <= 2 else ""
        raise _refuse(gold, elements, i, f"exhaustivity {e[i]}, size {size[i]}, rsize {rsize[i]}", lacking)
    relevant = np.minimum(rsize, size)
    relevant = np.where(size > 0, relevant, rsize > 0).astype(np.int64)  # 0/0 is not relevant, n/0 is capped
    whole = np.maximum(size, 1)
    weight = {"gen5": e, "genLifted": e + 1, "spec": 1, "strict5": (e == 2) & (relevant == whole)}[chosen]
    return np.where(assessed, weight * relevant / whole, 0.0)


def _refuse(gold: Gold, elements: GradedElements, row: int, found: str, more: str = "") -> InputError:
    """Say which element's assessment lies outside the scale."""
    what = f"{_element(gold, elements, row)}: expected a pair of the {gold.scale} scale, found {found}"
    return InputError(what, at=gold.file or None, remedy=f"correct the assessment{more}")


def _element(gold: Gold, elements: GradedElements, row: int) -> str:
    """Name an assessed element in a message."""
    topic, document = gold.topics[elements.topic[row]], gold.documents[int(elements.document[row])]
    return f"topic {topic}, document {document}, {elements.path[row]}"


_ONE_AT_A_TIME = threading.Lock()
"""Runs that are scored at once ask for the same base; it is large, so one thread builds it and the others wait."""


@dataclass(frozen=True, eq=False)
class Assessed:
    """The assessed elements of a gold by topic, article and path, and the bases already built from them."""

    gold: Gold
    elements: GradedElements
    tree: PathTree
    topics: int
    topic_of_article: Integers
    order: NDArray[np.int32]  # rows of `elements` by topic, article and path, each element once
    article: NDArray[np.int32]  # the article of every row of `elements`: a row of ``gold.articles``
    code: NDArray[np.int32]  # the path of every row of `elements`, as a code of `tree`
    _made: dict[tuple[str, tuple[str, ...]], RecallBase] = field(default_factory=dict, compare=False)

    def base(self, quant: str = "auto", without: tuple[str, ...] = ()) -> RecallBase:
        """Return the recall base under a quantisation: the full one, or `without` elements of some tag names."""
        wanted = (quantisation(quant, self.gold.scale), without)
        with _ONE_AT_A_TIME:
            if wanted not in self._made:
                gain = quantise(self.gold, self.elements, wanted[0])
                kept = (gain > 0)[self.order] & ~self.tree.tagged(without)[self.code[self.order]]
                self._made[wanted] = self._select(self.order[kept], gain[self.order[kept]])
        return self._made[wanted]

    @cached_property
    def graded(self) -> RecallBase:
        """The base of all elements with any grade, each with a gain of 1, whatever a quantisation makes of it."""
        checked = self.base("gen")  # refuses pairs outside the scale; its gain is 0 exactly for (0, 0)
        return self._select(checked.source, np.ones(len(checked)))

    def _select(self, rows: NDArray[np.int32], gain: Floats) -> RecallBase:
        """Return the base of some rows of `elements` (taken from `order`, in its order) with their gains."""
        article = self.article[rows]
        topic = self.topic_of_article[article]
        return RecallBase(self.tree, self.topics, self.topic_of_article, topic, article, self.code[rows], gain, rows)


def assessed_elements(gold: Gold, index: Any = None, number: NDArray[np.integer] | None = None) -> Assessed:
    """Return the assessed elements of a gold, ready to become recall bases.

    Elements come from the gold's own assessments, sizes included; a gold of highlights alone needs an `index`.
    `number` gives every topic of the gold its number in the bases, −1 to leave it out; by default its own code.
    """
    if not len(gold.elements.topic) and not len(gold.passages.topic):
        what = "no assessed elements and no highlighted passages, so no recall base of elements"
        raise MissingDataError(f"{gold.file or 'the gold'}: {what}")
    elements = gold.elements if len(gold.elements.topic) else highlighted_elements(gold, index)
    number = np.arange(len(gold.topics)) if number is None else np.asarray(number, np.int64)
    topic_of_article = number[gold.articles.topic].astype(np.int64)
    article = gold.article_of(elements).astype(np.int32)
    if (article < 0).any():
        raise IndexError("an assessed element in an article that the gold does not list as judged")
    tree = path_tree(elements.path.dictionary if hasattr(elements.path, "dictionary") else elements.path)
    code = tree.find(elements.path).astype(np.int32)
    counted = np.flatnonzero(topic_of_article[article] >= 0).astype(np.int32)
    key = row_keys(tree, topic_of_article, article[counted], code[counted])
    order = counted[np.argsort(key, kind="stable")]
    before, after = order[:-1], order[1:]  # of several rows for the same element one is kept
    again = (article[before] == article[after]) & (code[before] == code[after])
    columns = (elements.exhaustivity, elements.specificity, elements.size, elements.rsize)
    wrong = np.flatnonzero(again & ~np.logical_and.reduce([column[before] == column[after] for column in columns]))
    if len(wrong):
        what = f"{_element(gold, elements, int(after[wrong[0]]))}: expected one assessment"
        raise InputError(f"{what}, found two that differ", at=gold.file or None, remedy="keep one of them")
    order = order[np.append(True, ~again)[: len(order)]]
    topics = int(number.max(initial=-1)) + 1
    return Assessed(gold, elements, tree, topics, topic_of_article, order, article, code)
