"""Every choice that changes a score and is not part of a measure's formula, in one frozen value.

The papers leave these open or contradict each other. They are decided here, named, and printed in the signature of
every output, so that two numbers with the same signature were computed in the same way.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from focuseval.data.spans import MOST
from focuseval.errors import MeasureError

CHOICES = {
    "overlap": ("once", "inex_eval", "inex_eval_thorough"),
    "missing": ("zero", "skip"),
    "short": ("pad", "last"),
    "base": ("full", "filtered"),
    "cas": ("none", "strict", "vague"),
    "compat": ("none", "inex_eval", "legalbenchrag", "chroma"),
}
"""The words that each policy knows; the first is the default."""

LINK_TYPES = (
    "collectionlink",
    "wikipedialink",
    "redirectlink",
    "unknownlink",
    "outsidelink",
    "weblink",
    "languagelink",
)
"""Tag names that the filtered recall base of INEX 2006 leaves out."""


@dataclass(frozen=True)
class Policies:
    """How overlap, gaps and cut-offs are treated.

    What is no choice is no policy: results stand in the order that their format defines (TREC: score, then document id
    descending), a result that comes back gains nothing, an unjudged document is not relevant, text is counted in
    characters.

    >>> Policies(cutoff=1500).signature()
    'overlap:once|missing:zero|short:pad|cutoff:1500|base:full|beta:1|cas:none|compat:none'
    """

    overlap: str = "once"
    """Text counts at the first rank that returns it; ``inex_eval`` charges it again in articles without relevance.

    A place that the run declares unknown costs nothing; ``inex_eval`` charges 18 characters, ``inex_eval_thorough``
    only where the article is not relevant.
    """
    missing: str = "zero"
    """A topic that the run does not answer scores 0, or is left out of the mean (``skip``)."""
    short: str = "pad"
    """gP past the last article: zeros are added, or the last value repeated (``last``)."""
    cutoff: int | None = None
    """Results per topic that are looked at; None for all."""
    base: str = "full"
    """Recall base of the element measures: with or without `filtered_tags`."""
    beta: float = 1
    """Weight of recall in an article's F."""
    cas: str = "none"
    """``strict``: only elements that match the topic's target count, in the run and in the recall base."""
    compat: str = "none"
    """``inex_eval``: the habits of the official tool; ``legalbenchrag``, ``chroma``: their numbers beside ours."""
    filtered_tags: tuple[str, ...] = LINK_TYPES
    drop_tags: tuple[str, ...] = ()
    """Tag names that are left out of the recall base, besides those that a filtered base leaves out."""

    def left_out(self, base: str = "auto") -> tuple[str, ...]:
        """Return the tag names that are not in a recall base: ``full``, ``filtered``, or what the policies say.

        >>> Policies(drop_tags=("xref",)).left_out(), "weblink" in Policies(base="filtered").left_out()
        (('xref',), True)
        """
        kind = self.base if base == "auto" else base
        return (*(self.filtered_tags if kind == "filtered" else ()), *self.drop_tags)

    def __post_init__(self) -> None:
        """Refuse a word that a policy does not know."""
        for name, words in CHOICES.items():
            if getattr(self, name) not in words:
                raise MeasureError(
                    f"policy {name}={getattr(self, name)!r} does not exist; use one of {', '.join(words)}"
                )
        if self.cutoff is not None and not 1 <= self.cutoff <= MOST:
            raise MeasureError(f"policy cutoff={self.cutoff} is not a number of results; use 1 to {MOST}")
        if not 0 <= self.beta <= MOST:
            raise MeasureError(f"policy beta={self.beta} is out of range; use 0 to {MOST}")

    def signature(self) -> str:
        """Return every policy as ``name:value``, in declared order."""
        hidden = {"filtered_tags"} if self.drop_tags else {"filtered_tags", "drop_tags"}
        shown = {name: value for name, value in asdict(self).items() if name not in hidden}
        return "|".join(f"{name}:{_word(value)}" for name, value in shown.items())

    def but(self, **changes: Any) -> Policies:
        """Return a copy with some policies changed; unknown names are refused.

        >>> Policies().but(short="last").short
        'last'
        """
        known = {field.name for field in fields(self)}
        for name in changes:
            if name not in known:
                raise MeasureError(f"policy {name!r} does not exist; there are {', '.join(sorted(known))}")
        return replace(self, **changes)


def inex_eval(policies: Policies, *, thorough: bool = False) -> Policies:
    """Return the policies as the official 2008–10 tool has them: file order, answered topics, no cut-off."""
    overlap = "inex_eval_thorough" if thorough else "inex_eval"
    return policies.but(missing="skip", short="last", overlap=overlap, cutoff=None, compat="inex_eval")


def _word(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
