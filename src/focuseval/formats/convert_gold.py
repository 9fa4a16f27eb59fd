"""A gold as another format can say it: pointers become spans with an index, and spans pointers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.gold import UNKNOWN
from focuseval.errors import FormatError
from focuseval.formats.facets import MINOR, gold_facets, named
from focuseval.formats.judgements import empty_elements, empty_passages
from focuseval.placing import place_gold
from focuseval.placing.locate import differing_elements, with_elements, with_pointers

if TYPE_CHECKING:
    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.formats.format import Format

_NEEDS_INDEX = {"pointers": "spans", "bep-path": "bep", "spans": "pointers", "bep": "bep-path"}


def convert_gold(
    gold: Gold, to: Format, index: Collection | None = None, *, lossy: bool = False
) -> tuple[Gold, tuple[str, ...]]:
    """Return the gold as `to` can say it, and remarks on what changed."""
    facets = gold_facets(gold)
    unsaid = facets.keys() - to.says
    translated = {facet for facet in unsaid if _NEEDS_INDEX.get(facet) in to.says}
    if translated or (_wants_lengths(gold, to) and index is not None):
        gold = _translated(gold, to, index, {facet: facets[facet] for facet in facets if facet in translated})
        facets = gold_facets(gold)
        unsaid = facets.keys() - to.says
    if "sizes" in unsaid and index is not None and "spans" in to.says:
        facets["differing"] = differing_elements(gold, index)
        unsaid = (unsaid - {"sizes"}) | ({"differing"} if facets["differing"] else set())
    left = {facet: facets[facet] for facet in facets if facet in unsaid}
    lost = {facet: count for facet, count in left.items() if facet not in MINOR}
    if lost and not lossy:
        raise FormatError(
            f"{to.name} cannot express {named(lost)}", at=gold.file or None, remedy="--lossy leaves them out"
        )
    _refuse_nothing_left(gold, to)
    if _wants_lengths(gold, to):
        raise FormatError(
            f"{to.name} needs the documents' lengths", remedy="give them with --index INDEX or --docs DOCS"
        )
    return _without(gold, to, unsaid), (f"left out: {named(left)}",) if left else ()


def _wants_lengths(gold: Gold, to: Format) -> bool:
    return to.name == "inex-2008" and bool((gold.articles.length < 0).any())


def _translated(gold: Gold, to: Format, index: Collection | None, said: dict[str, int]) -> Gold:
    """Return the gold with spans for pointers or pointers for spans."""
    if index is None:
        raise FormatError(
            f"{to.name} cannot express {named(said)}",
            at=gold.file or None,
            remedy="give the collection with --index INDEX or --docs DOCS to translate them",
        )
    gold = place_gold(gold, index)
    if "pointers" in to.says:
        return with_elements(with_pointers(gold, index), index)
    unplaced = np.flatnonzero(gold.passages.start < 0)
    if len(unplaced):
        raise FormatError(
            f"expected documents of the index, found {len(unplaced)} passages of others",
            at=gold.file or None,
            remedy="give the index of the gold's collection",
        )
    passages = replace(gold.passages, start_path=None, end_path=None)
    return replace(gold, passages=passages, articles=replace(gold.articles, bep_path=None))


def _refuse_nothing_left(gold: Gold, to: Format) -> None:
    """Refuse where not even `lossy` leaves a judgement: elements cannot be made of spans, nor spans of grades."""
    relevant = int((gold.articles.relevance > 0).sum())
    if to.says & {"coverage", "grades"} and not len(gold.elements.topic):
        raise FormatError(
            f"{to.name} says graded elements, of which this gold has none", remedy="choose another format"
        )
    if "spans" in to.says and "relevance" not in to.says and relevant and not len(gold.passages.topic):
        raise FormatError(
            f"{to.name} says highlighted spans, of which this gold has none", remedy="choose another format"
        )
    if to.says & {"coverage", "grades"} and gold.scale not in to.says:
        raise FormatError(f"{to.name} cannot express the scale {gold.scale!r}", remedy="choose another format")


def _without(gold: Gold, to: Format, unsaid: set[str]) -> Gold:
    """Return the gold without what the format cannot express, so that writing and reading it give it back."""
    articles, passages, elements = gold.articles, gold.passages, gold.elements
    if unsaid & {"coverage", "grades", "sizes"} or not to.says & {"coverage", "grades", "sizes"}:
        elements = empty_elements()
    if not to.says & {"spans", "pointers"}:
        passages = empty_passages()
    if "quotes" in unsaid:
        passages = replace(passages, quote=None)
    if "needs" in unsaid:
        passages = replace(passages, need=None)
    if not to.says & {"bep", "bep-path"}:
        articles = replace(articles, bep=np.full(len(articles.bep), UNKNOWN, np.int64), bep_path=None)
    scale = "trec" if to.name == "trec-qrels" else gold.scale
    return replace(gold, articles=articles, passages=passages, elements=elements, scale=scale)
