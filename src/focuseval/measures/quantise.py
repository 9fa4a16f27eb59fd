"""Quantisations: from what an assessor said of an element to the gain of returning it.

A quantisation is a name (``gen``, ``spec``, ``e3_s32`` …) that means something on one or more *scales*, the ways in
which elements were assessed over the years (`focuseval.data.gold.Gold.scale`). Grades are looked up in a table of 4 × 4
pairs; from 2005 on the gain is computed from sizes.

Gains are float64, and comparing them decides ties exactly as comparing the fractions would. Each is one correctly
rounded division of two integers. Let ``a/b ≠ c/d`` be two gains below 4 of elements shorter than ``2**25``
characters: they differ by at least ``1/(b·d) > 2**-50``, while doubles below 4 lie at most ``2**-51`` apart, so
rounding cannot bring them together; equal fractions round to the same double.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.gold import TOO_SMALL
from focuseval.errors import InputError, MeasureError, MissingDataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.data.gold import Gold, GradedElements

_OFF = np.nan
"""Marks a pair that the scale does not know."""


def _table(gains: dict[float, str]) -> NDArray[np.float64]:
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

QUANTISATIONS = ("strict", "gen", "sog", *_SIZES, *ONE_SIDED)
"""Every name that a measure's ``quant`` takes."""

BEYOND_ONE = ("gen5", "genLifted")
"""Quantisations whose gain can exceed 1, which a probability of relevance cannot."""

DEFAULTS = {"coverage": "gen", "grades": "gen", "exhaustivity": "gen5", "highlights": "spec"}
"""What ``quant=auto`` means on each scale: the year's own graded quantisation."""


def quantisation(name: str, scale: str) -> str:
    """Return the quantisation that `name` means on `scale`, or say what is possible.

    >>> quantisation("auto", "exhaustivity"), quantisation("e3_s23", "grades")
    ('gen5', 'e3_s32')
    """
    if scale not in DEFAULTS:
        raise MissingDataError(
            f"this measure needs assessed elements, found a gold of scale {scale!r}; "
            "give a gold with elements or highlights, and with highlights alone an --index"
        )
    chosen = DEFAULTS[scale] if name == "auto" else name
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


def quantise(gold: Gold, elements: GradedElements, name: str = "auto") -> NDArray[np.float64]:
    """Return the gain of every element of a gold's assessments, 0 where it is not relevant or was not assessed.

    `elements` are the gold's own, or those that an index derives from its highlights.
    """
    chosen = quantisation(name, gold.scale)
    if gold.scale in ("coverage", "grades"):
        table = _lookup(chosen, gold.scale)
        e, s = elements.exhaustivity, elements.specificity
        assessed = (e >= 0) & (s >= 0)
        gain = np.zeros(len(e))
        inside = assessed & (e < 4) & (s < 4)
        gain[inside] = table[e[inside], s[inside]]
        wrong = np.flatnonzero((assessed & ~inside) | np.isnan(gain))
        if len(wrong):
            raise _refuse(gold, elements, int(wrong[0]), _pair(gold.scale, int(e[wrong[0]]), int(s[wrong[0]])))
        return gain
    return _from_sizes(gold, elements, chosen)


def _lookup(name: str, scale: str) -> NDArray[np.float64]:
    if scale == "coverage":
        return _COVERAGE[name]
    if name in _GRADES:
        return _GRADES[name]
    e, s = re.fullmatch(r"e(\d+)_s(\d+)", name).groups()  # type: ignore[union-attr]  # quantisation() let it through
    listed = np.isin(np.arange(4), [int(g) for g in e])[:, None] & np.isin(np.arange(4), [int(g) for g in s])
    return np.where(np.isnan(_GRADES["strict"]), _OFF, listed.astype(np.float64))


def _from_sizes(gold: Gold, elements: GradedElements, name: str) -> NDArray[np.float64]:
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
    weight = {"gen5": e, "genLifted": e + 1, "spec": 1, "strict5": (e == 2) & (relevant == whole)}[name]
    return np.where(assessed, weight * relevant / whole, 0.0)


def _pair(scale: str, first: int, second: int) -> str:
    """Print two grades as the files of their year do.

    >>> _pair("coverage", 3, 2), _pair("grades", 0, 3)
    ('3S', 'the grades (0, 3)')
    """
    return f"{first}{'NLSE'[second]}" if scale == "coverage" and second < 4 else f"the grades ({first}, {second})"


def _refuse(gold: Gold, elements: GradedElements, row: int, found: str, more: str = "") -> InputError:
    """Say which element's assessment lies outside the scale."""
    topic, document = gold.topics[elements.topic[row]], gold.documents[int(elements.document[row])]
    what = f"topic {topic}, document {document}, {elements.path[row]}: expected a pair of the {gold.scale} scale"
    return InputError(f"{what}, found {found}", at=gold.file or None, remedy=f"correct the assessment{more}")
