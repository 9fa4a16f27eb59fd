"""A topic: what somebody wanted to know, in the fields that INEX gave it over the years."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from focuseval.data.topics.parser import parse_nexi
from focuseval.data.topics.syntax import About
from focuseval.data.topics.terms import Term, parse_terms
from focuseval.engine.lazy import cached_property
from focuseval.errors import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from focuseval.data.topics.query import Query

Kind: TypeAlias = Literal["CO", "CAS", "CO+S"]
KINDS: tuple[Kind, ...] = ("CO", "CAS", "CO+S")
"""Content only; content and structure; content only with a structured title beside it."""

Anchor: TypeAlias = tuple[int, int, int]
"""An offset into a field's text, and the line and column (from 0) of the file where that character stands."""

_STATUSES = ("candidate", "selected", "assessed")


@dataclass(frozen=True)
class Topic:
    """One topic with everything its file says of it; an absent field is empty.

    >>> topic = Topic("231", "CO+S", title="markov chains", castitle="//sec[about(., +graphs)]")
    >>> str(topic.query), [str(term) for term in topic.terms]
    ('//sec[about(., +graphs)]', ['markov', 'chains'])
    """

    id: str
    kind: Kind
    title: str = ""
    castitle: str = ""
    phrasetitle: str = ""
    description: str = ""
    narrative: str = ""
    keywords: str = ""
    initial_statement: str = ""
    parent: str = ""
    ct_no: str = ""
    """Number of the candidate topic that it was selected from."""
    parts: tuple[tuple[str, str], ...] = ()
    """The title of 2002 as (tag, text) in file order: ``te`` target element, ``cw`` words, ``ce`` context element."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """The attributes of the topic's element, as written."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Text of children that no field is named after."""
    place: Place = field(default=Place("topic"), compare=False)
    anchors: tuple[Anchor, ...] = field(default=(), compare=False, repr=False)
    """Where the pieces of the structured title stand in the file, so that an error can point there."""

    @property
    def nexi(self) -> str:
        """The structured title: the castitle, or the title of a CAS topic of 2003–04; empty where there is none."""
        return self.castitle or (self.title if self.kind == "CAS" and not self.parts else "")

    @cached_property
    def query(self) -> Query | None:
        """The structured title, parsed; None where there is none. A `NexiError` points into the topic's file."""
        return parse_nexi(self.nexi, self.locate) if self.nexi else None

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the title, or of all ``about`` clauses when the title itself is structured."""
        if self.title and self.title != self.nexi:
            return parse_terms(self.title)
        clauses = [condition.clause for condition in self.query.conditions] if self.query else []
        return tuple(term for clause in clauses if isinstance(clause, About) for term in clause.terms)

    @property
    def target(self) -> str:
        """What the topic asks to return, as a path without predicates; 2002's target element as it stands."""
        if self.query:
            return self.query.location
        return ", ".join(text for tag, text in self.parts if tag == "te")

    @property
    def statuses(self) -> tuple[str, ...]:
        """What the file says of the topic's fate: candidate, selected, assessed.

        Either ``status="assessed"`` (one word or several), or a flag of that name (``selected="yes"``).
        """
        said = {**self.extra, **self.attributes}
        words = said.get("status", "").lower().replace(",", " ").split()
        flagged = [name for name in _STATUSES if said.get(name, "").lower() in {"yes", "true", "1"}]
        return tuple(dict.fromkeys(words + flagged))

    def locate(self, offset: int) -> Place:
        """Return the place in the file of a character of the structured title."""
        known = bisect_right(self.anchors, offset, key=lambda anchor: anchor[0])
        if not known:
            return Place(self.place.file, self.place.line, offset + 1)
        at, line, column = self.anchors[known - 1]
        return Place(self.place.file, line, column + offset - at + 1)

    def as_json(self) -> dict[str, Any]:
        """Return all fields, terms and the syntax tree, ready for JSON; raises `NexiError` like `query`."""
        return {
            **{part.name: getattr(self, part.name) for part in fields(self) if part.type in {"str", "Kind"}},
            "parts": [list(part) for part in self.parts],
            "attributes": dict(self.attributes),
            "extra": dict(self.extra),
            "place": str(self.place),
            "terms": [{"text": t.text, "sign": t.sign, "phrase": t.phrase} for t in self.terms],
            "target": self.target,
            "query": self.query.as_json() if self.query else None,
        }
