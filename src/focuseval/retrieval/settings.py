"""What to return and how to score it: the options of ``focuseval retrieve`` as one value, with its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from focuseval.collection.chunks import SPLITTERS, Chunks, Spec, parse_spec
from focuseval.collection.index import Index
from focuseval.data.topics.syntax import READINGS
from focuseval.errors import UsageError, did_you_mean
from focuseval.measures.tasks import MOST_RESULTS, Task, find_task
from focuseval.retrieval.terms import check_language

RETRIEVERS = ("bm25", "dense", "hybrid")
_UNREAD = {"bm25": ("depth",), "dense": ("k1", "b", "mix", "idf", "cas", "depth")}
"""Parameters that say nothing of a retriever."""

_PASSAGE = "passage:100/50"
_GIVEN = "chunks:"  # what a unit is called that the caller cut; the rest of it is their name


@dataclass(frozen=True)
class RetrievalSettings:
    """Parameters of a retrieval; None takes the default of the unit, `resolved` fills it in.

    >>> RetrievalSettings(unit="passage:80").resolved().description()
    'BM25 passage:80 task=spans k1=1.2 b=0.75 mix=0 idf=units language=english limit=1500'
    """

    unit: str = "element"
    """``element``, ``document``, ``passage:WORDS/STEP``, or a SPEC of `focuseval.chunk`: ``characters:400``."""
    task: str | None = None
    tags: tuple[str, ...] = ()  # elements with one of these tags only
    min_words: int | None = None  # elements with so many words at least
    k1: float = 1.2
    b: float = 0.75
    mix: float | None = None  # share of the document's score
    idf: str | None = None  # what is counted: ``documents`` or ``units``
    language: str = "english"
    cas: str = "ignore"  # how structured titles are read: ``strict`` (SS), ``SV``, ``VS``, ``vague`` (VV) or ``ignore``
    limit: int = MOST_RESULTS
    retriever: str = "bm25"  # ``bm25``, by words; ``dense``, by vectors; ``hybrid``, both, fused by their ranks
    depth: int = 1000  # how many units of each ranking ``hybrid`` fuses

    @property
    def kind(self) -> Literal["element", "document", "passage"]:
        """``element``, ``document`` or ``passage``, which is every span."""
        _ = self.spec  # refuses what is none
        return "element" if self.unit == "element" else "document" if self.unit == "document" else "passage"

    @property
    def spec(self) -> Spec | None:
        """How spans are cut; None for elements and documents, and for chunks that are given."""
        if self.unit in {"element", "document"} or self.unit.startswith(_GIVEN):
            return None
        name, _, window = self.unit.partition(":")
        try:
            found = parse_spec(f"words:{window or _PASSAGE.partition(':')[2]}" if name == "passage" else self.unit)
        except UsageError:
            found = None
        if found is None or found.kind in {"tokens", "semantic", *SPLITTERS} or found.origin:
            what = f"expected a unit (element, document or passage:WORDS/STEP), found {self.unit!r}"
            raise UsageError(f"{what}; passage:100/50, characters:400 or sentences:5, for instance")
        return found

    @property
    def rules(self) -> Task:
        """The task that the lists are made for."""
        return find_task(self.task or {"element": "focused", "document": "thorough", "passage": "spans"}[self.kind])

    def resolved(self) -> RetrievalSettings:
        """Return the settings with every default filled in; what is out of range or does not exist is refused."""
        elements, unit = self.kind == "element", self.unit if self.spec is None else str(self.spec)
        full = replace(
            self,
            unit=unit.replace("words:", "passage:") if self.unit.startswith("passage") else unit,
            task=self.rules.name,
            min_words=(10 if self.min_words is None else self.min_words) if elements else 0,
            tags=self.tags if elements else (),
            mix=(0.5 if elements else 0.0) if self.mix is None else self.mix,
            idf=self.idf or ("units" if self.kind == "passage" else "documents"),
        )
        for name, value, most in (("k1", self.k1, np.inf), ("b", self.b, 1), ("mix", full.mix or 0.0, 1)):
            if not 0 <= value <= most or not np.isfinite(value):
                upto = "" if most == np.inf else f" up to {most}"
                raise UsageError(f"expected {name} from 0{upto}, found {value}; give another number")
        readings, counted = ("strict", "vague", "ignore", *READINGS), ("documents", "units")
        choices = (("idf", full.idf, counted), ("cas", self.cas, readings), ("retriever", self.retriever, RETRIEVERS))
        for name, choice, known in choices:
            if choice not in known:
                what = f"expected {name} among {', '.join(known)}, found {choice!r}"
                raise UsageError(f"{what}; name one of these")
        needs = (("elements", "unit", full.unit, "element"), ("bm25", "retriever", self.retriever, "bm25"))
        for things, name, found, needed in needs:
            if self.cas != "ignore" and found != needed:
                what = f'expected {things} for structured titles, found {name}="{found}"'
                raise UsageError(f'{what}; use {name}="{needed}", or cas="ignore"')
        check_language(self.language)
        for name, number in (("limit", self.limit), ("depth", self.depth)):
            if number < 1:
                raise UsageError(f"expected a {name} of 1 or more, found {number}; give another number")
        largest = self.rules.limit
        if largest is not None and self.limit > largest:
            what = f"expected at most {largest:,} results for the {self.rules.name} task, found limit {self.limit:,}"
            raise UsageError(f'{what}; lower the limit, or use task="spans"')
        return full

    def description(self, formula: str = "BM25", *, brief: bool = False) -> str:
        """Return every parameter that the retriever reads, as a run names it; a brief one is of any unit and length."""
        shown = [formula] if brief else [formula, self.unit]
        left_out = {"tags=", "min_words=0", *(() if self.kind == "element" else ("cas=ignore",))}
        unread = {"unit", "retriever", *(("task", "limit") if brief else ()), *_UNREAD.get(self.retriever, ())}
        for name, value in vars(self).items():
            text = ",".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else value
            shown += [] if name in unread or f"{name}={text}" in left_out else [f"{name}={text}"]
        return " ".join(shown)


def default_unit(index: Index) -> str:
    """Return the unit of a collection: elements where at least half of the documents have inner ones, else passages."""
    return "element" if 2 * with_elements(index) >= max(len(index), 1) else _PASSAGE


def with_elements(index: Index) -> int:
    """Return how many documents have inner elements."""
    return int(np.count_nonzero(np.diff(index.element_bounds) > 1))


def settings_for(index: Index, options: Mapping[str, Any], chunks: Chunks | None = None) -> RetrievalSettings:
    """Return settings from options by name, None where one was not given; chunks that the caller cut are the unit."""
    given = {name: value for name, value in options.items() if value is not None}
    if chunks is not None and "unit" in given:
        what = f"expected a unit or chunks, found unit {given['unit']!r} and chunks {chunks.name!r}"
        raise UsageError(f"{what}; give one of them")
    known = RetrievalSettings.__dataclass_fields__
    for name in options:
        if name not in known:
            remedy = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise UsageError(f"expected an option of retrieval, found {name!r}; {remedy}")
    tags = given.pop("tags", ())
    given["tags"] = tuple(tags.split(",") if isinstance(tags, str) else tags)
    unit = default_unit(index) if chunks is None else f"{_GIVEN}{chunks.name}"
    return RetrievalSettings(**{"unit": unit, **given})
