"""Assessed elements in one order, and every recall base that can be made of them.

What an assessor said is sorted once per gold; a recall base is then a selection of these rows with their gains. Bases
are built when they are first asked for, and kept.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.spans import pack
from focuseval.engine.lazy import cached_property
from focuseval.errors import InputError
from focuseval.measures.quantise import quantisation, quantise
from focuseval.measures.recall_base.base import RecallBase, row_keys
from focuseval.measures.recall_base.highlighted import highlighted_elements
from focuseval.measures.recall_base.tree import PathTree, path_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.data.gold import Gold, GradedElements

_ONE_AT_A_TIME = threading.Lock()
"""Runs that are scored at once ask for the same base; it is large, so one thread builds it and the others wait."""


@dataclass(frozen=True, eq=False)
class Assessed:
    """The assessed elements of a gold by topic, article and path, and the bases already built from them."""

    gold: Gold
    elements: GradedElements
    tree: PathTree
    topics: int
    topic_of_article: NDArray[np.int64]
    order: NDArray[np.int32]
    """Rows of `elements` by topic, article and path, each element once."""
    article: NDArray[np.int32]
    """The article of every row of `elements`: a row of ``gold.articles``."""
    code: NDArray[np.int32]
    """The path of every row of `elements`, as a code of `tree`."""
    _made: dict[tuple[str, tuple[str, ...]], RecallBase] = field(default_factory=dict, compare=False)

    def base(self, quant: str = "auto", without: tuple[str, ...] = ()) -> RecallBase:
        """Return the recall base under a quantisation: the full one, or `without` elements of some tag names."""
        wanted = (quantisation(quant, self.gold.scale), without)
        with _ONE_AT_A_TIME:
            if wanted not in self._made:
                self._made[wanted] = self._build(*wanted)
        return self._made[wanted]

    @cached_property
    def graded(self) -> RecallBase:
        """The base of all elements with any grade, each with a gain of 1, whatever a quantisation makes of it."""
        checked = self.base("gen")  # refuses pairs outside the scale; its gain is 0 exactly for (0, 0)
        return self._select(checked.source, np.ones(len(checked)))

    def _build(self, quant: str, without: tuple[str, ...]) -> RecallBase:
        gain = quantise(self.gold, self.elements, quant)
        kept = (gain > 0)[self.order] & ~self.tree.tagged(without)[self.code[self.order]]
        rows = self.order[kept]
        return self._select(rows, gain[rows])

    def _select(self, rows: NDArray[np.int32], gain: NDArray[np.float64]) -> RecallBase:
        """Return the base of some rows of `elements` (taken from `order`, in its order) with their gains."""
        article = self.article[rows]
        topic = self.topic_of_article[article]
        return RecallBase(self.tree, self.topics, self.topic_of_article, topic, article, self.code[rows], gain, rows)


def assessed_elements(gold: Gold, index: Any = None, number: NDArray[np.integer] | None = None) -> Assessed:
    """Return the assessed elements of a gold, ready to become recall bases.

    Elements come from the gold's own assessments, sizes included; a gold of highlights alone needs an `index`.
    `number` gives every topic of the gold its number in the bases, −1 to leave it out; by default its own code.
    """
    elements = gold.elements if len(gold.elements.topic) else highlighted_elements(gold, index)
    number = np.arange(len(gold.topics)) if number is None else np.asarray(number, np.int64)
    topic_of_article = number[gold.articles.topic].astype(np.int64)
    article = _articles(gold, elements)
    tree = path_tree(_dictionary(elements.path))
    code = tree.find(elements.path).astype(np.int32)
    counted = np.flatnonzero(topic_of_article[article] >= 0).astype(np.int32)
    key = row_keys(tree, topic_of_article, article[counted], code[counted])
    order = counted[np.argsort(key, kind="stable")]
    order = order[_first_of_equals(gold, elements, article, code, order)]
    topics = int(number.max(initial=-1)) + 1
    return Assessed(gold, elements, tree, topics, topic_of_article, order, article, code)


def _articles(gold: Gold, elements: GradedElements) -> NDArray[np.int32]:
    """Find the judged article of every element."""
    known = pack(gold.articles.topic, gold.articles.document)
    wanted = pack(elements.topic, elements.document)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, wanted, sorter=order), max(len(known) - 1, 0))
    if len(wanted) and (not len(known) or (known[order[place]] != wanted).any()):
        raise IndexError("an assessed element in an article that the gold does not list as judged")
    return (order[place] if len(wanted) else place).astype(np.int32)


def _first_of_equals(
    gold: Gold, elements: GradedElements, article: NDArray[np.int32], code: NDArray[np.int32], order: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Keep one of several rows for the same element; refuse them if they contradict each other."""
    before, after = order[:-1], order[1:]
    again = (article[before] == article[after]) & (code[before] == code[after])
    said = (elements.exhaustivity, elements.specificity, elements.size, elements.rsize)
    wrong = np.flatnonzero(again & ~np.logical_and.reduce([column[before] == column[after] for column in said]))
    if len(wrong):
        row = int(after[wrong[0]])
        topic, document = gold.topics[elements.topic[row]], gold.documents[int(elements.document[row])]
        what = f"topic {topic}, document {document}, {elements.path[row]}: expected one assessment"
        raise InputError(f"{what}, found two that differ", at=gold.file or None, remedy="keep one of them")
    kept = np.ones(len(order), np.bool_)
    kept[1:] = ~again
    return kept


def _dictionary(paths: Any) -> Any:
    """Return the distinct strings of a dictionary-encoded column, or the column itself."""
    return paths.dictionary if hasattr(paths, "dictionary") else paths
