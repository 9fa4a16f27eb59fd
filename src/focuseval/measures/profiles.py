"""Policies, and the campaign profiles that bundle measures with them.

A policy is a choice that changes a score and is not part of a measure's formula. The papers leave these open or
contradict each other. They are decided here, named, and printed in the signature of every output, so that two numbers
with the same signature were computed in the same way.

A profile holds the measures and policies that a year of INEX used for each task; one is for RAG. ``-m`` replaces its
measures and keeps its policies; ``--task`` chooses among its tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from focuseval.data.spans import MOST
from focuseval.errors import MeasureError, did_you_mean

CHOICES = {
    "overlap": ("once", "inex_eval", "inex_eval_thorough"),
    "missing": ("zero", "skip"),
    "empty_topics": ("skip", "zero"),
    "short": ("pad", "last"),
    "base": ("full", "filtered"),
    "cas": ("none", "strict", "vague", "SV", "VS"),
    "compat": ("none", "inex_eval", "legalbenchrag", "chroma"),
}
"""The words that each policy knows; the first is the default."""

LINK_TYPES = (
    *("collectionlink", "wikipedialink", "redirectlink", "unknownlink"),
    *("outsidelink", "weblink", "languagelink"),
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
    missing: str = "zero"  # a topic that the run does not answer scores 0, or is left out of the mean (``skip``)
    empty_topics: str = "skip"
    """A topic without anything relevant, to a gold or a measure, is in no mean, or scores 0 (``empty:zero``)."""
    short: str = "pad"  # gP past the last article: zeros are added, or the last value repeated (``last``)
    cutoff: int | None = None  # results per topic that are looked at; None for all
    base: str = "full"  # recall base of the element measures: with or without `filtered_tags`
    beta: float = 1  # weight of recall in an article's F
    cas: str = "none"
    """``strict`` (SS): only elements that match the topic's target count, in the run and in the recall base.

    The second letter, of the support, changes no score: SV counts as strict, VS as vague; they name how runs were made.
    """
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
        object.__setattr__(self, "cas", {"SS": "strict", "VV": "vague"}.get(self.cas, self.cas))
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
        """Return every policy as ``name:value``, in declared order; two of them only where they are not the default."""
        hidden = {"filtered_tags"} if self.drop_tags else {"filtered_tags", "drop_tags"}
        hidden |= {"empty_topics"} if self.empty_topics == "skip" else set()
        shown = {name.removesuffix("_topics"): value for name, value in asdict(self).items() if name not in hidden}
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


RIC, BIC = "relevant-in-context", "best-in-context"
LENGTHS = (1, 3, 5, 10, "1000c", "2000c", "4000c")


@dataclass(frozen=True)
class Profile:
    """One campaign: its tasks with their measures, its policies, and what a task changes in them."""

    name: str
    summary: str
    tasks: Mapping[str, tuple[str, ...]]  # task → measures, the official one first; the first task is the default
    policies: Mapping[str, Any] = field(default_factory=lambda: {"cutoff": 1500})
    by_task: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # task → policies that it changes
    decides: Mapping[str, str] = field(default_factory=dict)
    """Task → the measure by which runs are ordered and judged, where it is not the task's first."""
    quant: str = "auto"
    """The quantisation of runs that are simulated from the recall base; ``auto``: that of the gold's year."""

    def task(self, name: str | None) -> str:
        """Return the task to use: the one asked for, else the profile's first."""
        if name is None:
            return next(iter(self.tasks))
        if name not in self.tasks:
            raise MeasureError(f"profile {self.name} has no task {name!r}; it has {', '.join(self.tasks)}")
        return name

    def deciding(self, task: str) -> str:
        """Return the measure by which a task's runs are ordered and judged."""
        return self.decides.get(task, self.tasks[task][0])

    def policies_of(self, task: str) -> dict[str, Any]:
        """Return the policies under which a task is scored."""
        return {**self.policies, **self.by_task.get(task, {})}


def _quantised(names: tuple[str, ...], quantisations: tuple[str, ...]) -> tuple[str, ...]:
    """Spell each measure with each quantisation: ``nxCG(quant=gen5)@10``."""
    parts = [name.partition("@") for name in names]
    return tuple(f"{head}(quant={quant}){at}{cutoff}" for quant in quantisations for head, at, cutoff in parts)


_EP = (*(f"ep@0.{d}" for d in range(1, 10)), "ep@1")
_XCG_2005 = ("nxCG@10", "nxCG@25", "nxCG@50", "MAnxCG@10", "MAnxCG@25", "MAnxCG@50", "MAep", "iMAep")
_QUANT_2005 = ("strict5", "gen5", "genLifted")
_IP = ("iP@0.01", "iP@0", "iP@0.05", "iP@0.1", "MAiP")
_GP = ("MAgP", "gP@5", "gP@10", "gP@25", "gP@50")
_ENTRY = tuple(f"{name}(A={a})" for name in ("BEPD", "EPRUM") for a in ("0.1", "0.01", "1", "10", "100"))
_SPANS = tuple(f"{name}@{k}" for k in LENGTHS for name in ("spanR", "spanP", "spanF", "IoU", "hit", "full"))


def _bep(n: int) -> tuple[str, ...]:
    return (f"MAgP(score=bep, n={n})", *(f"gP(score=bep, n={n})@{k}" for k in (5, 10, 25, 50)))


_YEARS_2008 = {"focused": _IP, RIC: _GP, BIC: _bep(500), "thorough": ("MAiP", "iP@0", "iP@0.01", "iP@0.05", "iP@0.1")}

PROFILES = (
    Profile("inex2002",
        "INEX 2002: inex_eval under the strict and generalised quantisations (CO; strict CAS, where topics are given).",
        {"thorough": _quantised(("i2AP",), ("strict", "gen"))},
        {"cutoff": 1500, "cas": "strict"}),
    Profile("inex2003", "INEX 2003: inex_eval and inex_eval_ng, strict and generalised (CO, SCAS, VCAS).",
        {"thorough": (*_quantised(("i2AP",), ("strict", "gen")), *_quantised(("i3AP",), ("strict", "gen")))}),
    Profile("inex2004", "INEX 2004: inex_eval under seven quantisations (CO, VCAS).",
        {"thorough": _quantised(("i2AP",), ("strict", "gen", "sog", "e3_s321", "e3_s32", "e321_s3", "e32_s3"))},
        quant="sog"),  # as the runs of Kazai and Lalmas (2005)
    Profile("inex2005", "INEX 2005: XCG under three quantisations; thorough, focused, fetch & browse.",
        {"thorough": _quantised(("MAep", "iMAep", *_EP, *_XCG_2005[:6]), _QUANT_2005),
         "focused": _quantised(_XCG_2005, _QUANT_2005),
         "fetch-browse": ("MAgP", *_quantised(("browseMAep",), _QUANT_2005))}),
    Profile("inex2006",
        "INEX 2006: MAep (thorough), nxCG (focused), MAgP (relevant in context), BEPD and EPRUM (best in context).",
        {"thorough": ("MAep", "iMAep", *_EP),
         "focused": ("nxCG@5", "nxCG@10", "nxCG@25", "nxCG@50"), RIC: _GP, BIC: _ENTRY},
        by_task={"thorough": {"base": "filtered"}, "focused": {"base": "filtered"}}),
    Profile("inex2007",
        "INEX 2007: iP@0.01 and MAiP (focused), MAgP (relevant in context), MAgP with n=1000 (best in context).",
        {"focused": _IP, RIC: _GP, BIC: _bep(1000)}),
    Profile("inex2008", "INEX 2008: as 2007, with β = 1/4 and n = 500.", _YEARS_2008, {"cutoff": 1500, "beta": 0.25}),
    Profile("inex2009", "INEX 2009: as 2008; thorough by MAiP.", _YEARS_2008, {"cutoff": 1500, "beta": 0.25}),
    Profile("inex2010",
        "INEX 2010: charP of the first 1000 characters (focused), MAgP with T2I(300) (relevant in context), n = 500.",
        {"focused": ("charP@1000c", "charR@1000c", "charF@1000c", "charP", *_IP),
         RIC: ("MAgP(score=t2i, irr=300)", "MAgP(score=t2i, irr=300)@500c",
               *(f"gP(score=t2i, irr=300)@{k}" for k in (5, 10, 25, 50))),
         BIC: _bep(500)},
        {"cutoff": 1500, "beta": 0.25}),
    Profile("rag", "Chunks against highlighted text: recall, precision, F, IoU at ranks and budgets, MAgP, hAP.",
        {"spans": (*_SPANS, "MAgP", "hAP")}, {},
        decides={"spans": "spanR@2000c"}),  # at a rank the longest chunk wins; a budget costs every chunker the same
)  # fmt: skip
"""Every profile, in the order of the campaigns."""

DEFAULTS = {
    "documents": ("AP", "P@5", "P@10", "R", "RR", "nDCG@10", "Rprec"),
    "grades": ("i2AP(quant=strict)", "i2AP(quant=gen)"),
    "thorough": ("MAiP", "iP@0.01"),
    "thorough elements": ("MAep", "iMAep"),
    "focused": ("iP@0.01", "MAiP", "charP", "charR"),
    "focused elements": ("nxCG@5", "nxCG@10", "nxCG@25", "nxCG@50"),
    RIC: _GP,
    BIC: ("MAgP(score=bep, n=500)", "BEPD(A=0.1)", "EPRUM(A=0.1)"),
    "fetch-browse": ("MAgP", "browseMAep"),
    "spans": ("spanR@5", "spanP@5", "spanF@5", "IoU@5", "hit@5", "full@5", "spanNDCG@5", "MAgP", "hAP"),
    "answers": ("citeR", "citeP", "needR", "uncited"),
}
"""What is computed when neither measures nor a profile are named."""


def profile_named(name: str) -> Profile:
    """Return a profile; an unknown name is refused and the nearest offered."""
    known = {profile.name: profile for profile in PROFILES}
    if name not in known:
        raise MeasureError(f"unknown profile {name!r}; {did_you_mean(name, known, 'there are ' + ', '.join(known))}")
    return known[name]
