"""What a measure is: a declared value whose printed form parses back.

A measure is a name, what may stand behind its ``@``, its parameters, and one pure function from the matched table to
one number per topic. Help, documentation and the common tests are made from these declarations; a user's own measure
is the same value, passed to `focuseval.evaluate`. `parse` reads ``nxCG(ideal=full)@10``; a family's module is imported
when one of its names is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from focuseval.data.spans import MOST
from focuseval.engine.plugins import offered, plugin
from focuseval.errors import MeasureError, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Budget(NamedTuple):
    """How much text a reader takes: ``2000c`` characters, ``500w`` words or ``500t`` tokens."""

    amount: int
    unit: str  # ``characters``, ``words`` or ``tokens``


MOST_RANK = 10**6
DECIMALS = 9  # of a recall level: then its products with any number of characters stay exact in 64 bits
_LEVEL = re.compile(rf"[01]?\.?[0-9]{{0,{DECIMALS}}}")

TRAITS = ("ideal recall base", "grouped output", "two dimensions")
"""Declared properties: it uses the ideal recall base; it takes results grouped by article; it reads e and s apart."""


@dataclass(frozen=True)
class Parameter:
    """One named parameter of a measure: ``beta`` of ``MAgP(beta=0.25)``."""

    name: str
    default: int | float | str
    summary: str
    choices: tuple[str, ...] = ()
    """Allowed words; empty where any number (or, with a word as default, any word) will do."""
    always: bool = False
    """Whether the canonical name prints it even at its default: ``BEPD(A=0.1)``."""
    only: tuple[str, str] | None = None
    """Another parameter and its value, without which this one means nothing: ``n`` needs ``score=bep``."""
    policy: bool = False
    """Whether the policy of the same name is the default."""
    bare: bool = False
    """Whether it prints without its name: ``ceiling(spanR)``."""
    least: float | None = None
    """The smallest number allowed; the next larger ones where it is open."""


@dataclass(frozen=True)
class Measure:
    """A measure as it is declared: everything that help, documentation and tests say of it."""

    name: str
    compute: Callable[..., NDArray[np.float64]]
    """``compute(matched, at=…, **parameters)`` → one value per topic; NaN where the topic has no base for it."""
    summary: str
    cite: str
    """Key into the bibliography."""
    needs: tuple[str, ...] = ()
    """What must be given: ``documents``, ``spans``, ``entry points``, ``elements``, ``grades``, ``index``, ``answers``,
    ``forbidden text``, ``questions without an answer``."""
    at: tuple[str, ...] = ()
    """What may follow ``@``: any of ``rank``, ``level``, ``characters``, ``words``, ``tokens``; empty for none."""
    at_required: bool = False
    parameters: tuple[Parameter, ...] = ()
    """In the order of MEASURES.md, which is the order in which they print."""
    bounds: tuple[float, float] = (0.0, 1.0)
    formula: str = ""
    """LaTeX."""
    example: str = ""
    """A short worked case in words and numbers."""
    perfect: bool = True
    """Whether a perfect run reaches the upper bound."""
    perfect_unless: str = ""
    """With which parameter it does not: ``ideal=full``."""
    tasks: tuple[str, ...] = ()
    """Tasks that it was made for; empty for any."""
    traits: tuple[str, ...] = ()
    """What cannot be observed by running it, of `TRAITS`."""
    curve: Callable[..., Any] | None = None
    """Where the measure summarises a curve: ``curve(matched, **parameters)`` → (x, y), y with a row per topic."""
    aliases: tuple[str, ...] = ()
    """Other names of the same measure: AgP is MAgP."""
    needs_if: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Parameter and value → what it needs instead: ``EPRUM(nav=contains)`` needs elements."""
    geometric: float = 0.0
    """Where not 0: the mean over topics is geometric, and smaller values count as this."""
    base: str = "relevance"
    """The topics that it is a mean of: those with relevant text (``relevance``), those that nothing answers
    (``unanswerable``), both (``questions``), or those with text that must not come back (``forbidden``)."""
    lower: bool = False
    """Whether less is better."""
    or_sizes: bool = False
    """Whether the sizes of assessed elements are enough where it needs spans and the gold has no passages."""
    topicwise: bool = True
    """Whether a topic's value depends on that topic alone, not on chunks or lengths of the whole collection."""
    origin: str = ""
    """The package that adds it, with its version; set where it was found by its entry point."""


@dataclass(frozen=True)
class MeasureCall:
    """A measure with its parameters and its cut-off: ``nxCG(ideal=full)@10``.

    ``str()`` prints the canonical form: parameters that differ from their defaults, in declared order.
    """

    measure: Measure
    at: str = ""
    """As written behind ``@``: ``10``, ``0.01``, ``2000c``, ``500w``, ``500t``; empty where nothing was."""
    given: Mapping[str, int | float | str] = field(default_factory=dict)
    written: str = ""
    """The name as the user wrote it, which is the key of every output; empty for a profile's own."""

    def __str__(self) -> str:
        """Return the canonical name.

        >>> beta = Parameter("beta", 1, "weight of recall")
        >>> str(MeasureCall(Measure("MAgP", abs, "", "", parameters=(beta,)), given={"beta": 0.25}))
        'MAgP(beta=0.25)'
        """
        values = self.arguments()
        shown = [
            number(values[p.name]) if p.bare else f"{p.name}={number(values[p.name])}"
            for p in self.measure.parameters
            if p.always or values[p.name] != p.default or (p.only and values[p.only[0]] == p.only[1])
        ]
        inside = ", ".join(shown)
        return self.measure.name + (f"({inside})" if inside else "") + (f"@{self.at}" if self.at else "")

    @property
    def key(self) -> str:
        """The name in every output: as written, else canonical."""
        return self.written or str(self)

    @property
    def counts_tokens(self) -> bool:
        """Whether its cut-off is a budget of tokens."""
        return self.at.endswith("t") and "tokens" in self.measure.at

    @property
    def cut(self) -> tuple[int, str] | None:
        """How much of a list it reads: so many results, articles, characters, words or tokens; None for all of it.

        A budget of each article by itself leaves no article out.
        """
        at, grouped = parse_at(self.at, self.measure) if self.at else None, "grouped output" in self.measure.traits
        if isinstance(at, Budget):
            return None if grouped else (at.amount, at.unit)
        articles = grouped or "documents" in self.measure.needs
        return (at, "articles" if articles else "results") if isinstance(at, int) else None

    @property
    def needs(self) -> tuple[str, ...]:
        """What gold and run must say for it, with the parameters given."""
        values, instead = self.arguments(), self.measure.needs_if.items()
        return next((needs for (name, value), needs in instead if values.get(name) == value), self.measure.needs)

    def arguments(self, policies: Any = None) -> dict[str, Any]:
        """Return what `compute` is called with: given values, else policies, else defaults; and `at`, parsed.

        A rank is an int, a recall level a `Fraction` (levels are never floats), a budget a `Budget`.
        """
        arguments: dict[str, Any] = {
            p.name: self.given.get(p.name, getattr(policies, p.name, p.default) if p.policy else p.default)
            for p in self.measure.parameters
        }
        if self.measure.at:
            arguments["at"] = parse_at(self.at, self.measure) if self.at else None
        return arguments


def parse_at(text: str, measure: Measure) -> int | Fraction | Budget:
    """Read what stands behind ``@``.

    >>> parse_at("2000c", Measure("spanR", abs, "", "", at=("rank", "characters")))
    Budget(amount=2000, unit='characters')
    >>> parse_at("0.01", Measure("iP", abs, "", "", at=("level",)))
    Fraction(1, 100)
    """
    unit = {"c": "characters", "w": "words", "t": "tokens"}.get(text[-1:], "rank")
    digits = text if unit == "rank" else text[:-1]
    most = MOST_RANK if unit == "rank" else MOST
    if unit in measure.at and digits.isascii() and digits.isdigit() and 0 < int(digits[:12]) <= most:
        return int(digits[:12]) if unit == "rank" else Budget(int(digits[:12]), unit)
    if "level" in measure.at and _LEVEL.fullmatch(text) and text.strip(".") and Fraction(text) <= 1:
        return Fraction(text)
    kinds = {
        "rank": f"a rank such as 10 ({MOST_RANK} at most)",
        "level": f"a recall level from 0 to 1 such as 0.01 ({DECIMALS} decimals at most)",
        "characters": "a budget of characters such as 2000c",
        "words": "a budget of words such as 500w",
        "tokens": "a budget of tokens such as 500t",
    }
    expected = " or ".join(kinds[kind] for kind in measure.at)
    raise MeasureError(f"{measure.name}@{text}: expected {expected} after '@', found {text!r}")


def number(value: float | str) -> str:
    """Print a parameter: integers without ``.0``, words as they are.

    >>> number(1.0), number(0.25), number("gen")
    ('1', '0.25', 'gen')
    """
    short = f"{value:.12g}" if isinstance(value, float) else str(value)
    return short if isinstance(value, str) or float(short) == value else repr(value)


_NAME = re.compile(r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<inside>[^()]*)\))?\s*(?:@\s*(?P<at>\S+))?\s*")


TREC_EVAL = re.compile(r"\A\s*(P|recall|map_cut|ndcg_cut|success|iprec_at_recall)[_.](\d[\d.]*)\s*\Z")
AS_OURS = r"\1@\2"
"""Names of trec_eval that end in a cut-off (``P_10`` as it prints them, ``P.10`` behind its ``-m``), and ours."""

_ASKING_A_MODEL = {
    **dict.fromkeys(("context_recall", "contextual_recall"), "spanR@k"),
    **dict.fromkeys(("context_precision", "contextual_precision"), "spanP@k, or by rank spanNDCG@k"),
    **dict.fromkeys(("context_relevance", "contextual_relevancy"), "spanP@k"),
}
"""Names that other tools give to what a language model says, and what measures it here."""


class Family(NamedTuple):
    """A family of measures: its heading, the module that declares it, and all names of its measures."""

    title: str
    module: str
    names: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the family."""
        return tuple(measure for measure in declared_in(self.module) if measure.name in self.names.split())


FAMILIES = (
    Family("Elements: effort-precision and cumulated gain (INEX 2005–06)", "xcg", "MAep iMAep ep gr xCG xCI"),
    Family("Elements: normalised cumulated gain", "xcg", "nxCG MAnxCG"),
    Family("Elements: fetch and browse", "xcg", "browseMAep"),
    Family("Ranked articles: generalised precision", "generalised", "gP gR MAgP AgP"),
    Family("Ranked articles: tolerance to irrelevance", "generalised", "T2I"),
    Family("Entry points", "entry_points", "BEPD"),
    Family("Entry points with user modelling", "entry_points", "EPRUM EPRUM-P"),
    Family("Elements with user modelling", "entry_points", "PRUM ERRel"),
    Family("Highlighted text by rank (HiXEval)", "characters", "hP hR hF hAP"),
    Family("Characters and articles (INEX 2007–10)", "characters", "iP MAiP AiP charP charR charF artP artR artF"),
    Family("Graded elements: inex_eval (2002–04)", "graded", "i2AP"),
    Family("Graded elements: inex_eval_ng", "graded", "i3AP"),
    Family("Documents (trec_eval)", "documents",
        "P Precision precision R Recall recall SetR set_recall AP MAP map map_cut GMAP gm_map RR MRR mrr recip_rank "
        "nDCG NDCG ndcg ndcg_cut Rprec RPrec Success HitRate hit_rate success IPrec iprec_at_recall Bpref BPref bpref "
        "infAP SetP set_P SetF set_F SetAP set_map RBP ERR Judged"),
    Family("Spans for RAG", "spans", "spanP spanR spanF IoU hit full spanRR spanNDCG"),
    Family("Several needed spans: alternatives, multi-hop", "spans",
        "needR S-recall SRecall all-recall AllRecall AllFound"),
    Family("What a chunking allows", "spans", "ceiling"),
    Family("Answers and what they cite", "answers", "citeP citeR uncited"),
    Family("Questions without an answer", "answers", "silence refuseR refuseP waste"),
    Family("Text that must not come back", "answers", "leak leaked"),
)  # fmt: skip
"""Every family, in the order of the documentation; a test compares the names with the declarations."""


def declared_in(module: str) -> tuple[Measure, ...]:
    """Return the measures that a module declares; it is imported when one of them is first needed."""
    declared: tuple[Measure, ...] = import_module(f"focuseval.measures.{module}").MEASURES
    return declared


def every_measure() -> tuple[Measure, ...]:
    """Return every measure, in the order of the documentation."""
    return tuple(measure for family in FAMILIES for measure in family.measures)


def parse(text: str, measures: Iterable[Measure] | None = None) -> MeasureCall:
    """Return the measure that a name stands for; an unknown name is refused and the nearest ones offered.

    >>> str(parse("MAgP( beta = 0.25 )")), str(parse("P_10"))
    ('MAgP(beta=0.25)', 'P@10')
    """
    shape = _NAME.fullmatch(TREC_EVAL.sub(AS_OURS, text))
    if shape is None:
        raise MeasureError(f"{text!r} is not a measure's name; expected NAME, NAME(parameter=value) or NAME@k")
    measure = named(shape["name"], measures)
    given: dict[str, int | float | str] = {}
    known = {p.name: p for p in measure.parameters}
    for part in filter(None, (piece.strip() for piece in (shape["inside"] or "").split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and measure.parameters and not given:
            name, value = measure.parameters[0].name, part
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise MeasureError(f"{measure.name} has no parameter {name!r}; {there}")
        if name in given:
            raise MeasureError(f"{measure.name}: parameter {name!r} is given twice; keep one")
        given[name] = _value(value, known[name], measure)
    at = shape["at"] or ""
    if at and not measure.at:
        raise MeasureError(f"{measure.name}@{at}: {measure.name} takes no '@'; write {measure.name}")
    if at:
        parse_at(at, measure)
    elif measure.at_required:
        example = {"rank": "@10", "level": "@0.1"}[measure.at[0]]
        raise MeasureError(f"{measure.name}: expected a cut-off, as in {measure.name}{example}")
    return MeasureCall(measure, at, given, written=text)


def named(name: str, measures: Iterable[Measure] | None = None) -> Measure:
    """Return the measure of a bare name, or of one of its other names.

    >>> named("AgP").name
    'MAgP'
    """
    if measures is None:
        module = next((family.module for family in FAMILIES if name in family.names.split()), None)
        if module is None and (added := plugin("measures", name, Measure)):
            own: Measure = replace(added.value, origin=added.origin)
            return own
        measures = every_measure() if module is None else declared_in(module)
    known = {other: measure for measure in measures for other in (measure.name, *measure.aliases)}
    if name not in known and name in _ASKING_A_MODEL:
        ours = f"on highlighted text it is {_ASKING_A_MODEL[name]}"
        raise MeasureError(f"unknown measure {name!r}: RAGAS and DeepEval ask a language model for it; {ours}")
    if name not in known:  # of names that differ only in case, the first is offered
        offer = did_you_mean(name, (*tuple(known)[::-1], *offered("measures")))
        raise MeasureError(f"unknown measure {name!r}{'; ' if offer else ''}{offer} ('focuseval measures' lists all)")
    return known[name]


def _value(text: str, parameter: Parameter, measure: Measure) -> int | float | str:
    """Read one value: a word that is allowed, or a number in range."""
    where = f"{measure.name}({parameter.name}={text})"
    if parameter.choices:
        if text not in parameter.choices:
            raise MeasureError(f"{where}: expected one of {', '.join(parameter.choices)}")
        return text
    if isinstance(parameter.default, str):
        return text
    try:
        value = float(text) if "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if not abs(value) <= MOST:  # nor is NaN
        raise MeasureError(f"{where}: expected a number up to {MOST}, found {text!r}")
    if parameter.least is not None and value < parameter.least:
        raise MeasureError(f"{where}: expected {parameter.least:g} or more")
    return int(value) if value == int(value) else value
