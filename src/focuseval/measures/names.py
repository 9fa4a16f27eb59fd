"""Read the name of a measure: ``nxCG(ideal=full)@10`` → what was asked of which measure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from focuseval.data.limits import MOST
from focuseval.errors import MeasureError, did_you_mean
from focuseval.measures.measure import Asked, Measure, Parameter, parse_at

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<inside>[^()]*)\))?\s*(?:@\s*(?P<at>\S+))?\s*")


_ASKING_A_MODEL = {
    "context_recall": "spanR@k",
    "contextual_recall": "spanR@k",
    "context_precision": "spanP@k, or by rank spanNDCG@k",
    "contextual_precision": "spanP@k, or by rank spanNDCG@k",
    "context_relevance": "spanP@k",
    "contextual_relevancy": "spanP@k",
}
"""Names that other tools give to what a language model says, and what measures it here."""


def parse(text: str, measures: Iterable[Measure] | None = None) -> Asked:
    """Return the measure that a name stands for; an unknown name is refused and the nearest ones offered.

    >>> str(parse("MAgP( beta = 0.25 )"))
    'MAgP(beta=0.25)'
    """
    shape = _NAME.fullmatch(text)
    if shape is None:
        raise MeasureError(f"{text!r} is not a measure's name; expected NAME, NAME(parameter=value) or NAME@k")
    measure = named(shape["name"], measures)
    given = _parameters(shape["inside"] or "", measure)
    at = shape["at"] or ""
    _check_at(at, measure)
    return Asked(measure, at, given, written=text)


def named(name: str, measures: Iterable[Measure] | None = None) -> Measure:
    """Return the measure of a bare name, or of one of its other names.

    >>> named("AgP").name
    'MAgP'
    """
    declared = _family_of(name) if measures is None else measures
    known = {other: measure for measure in declared for other in (measure.name, *measure.aliases)}
    if name not in known:
        raise MeasureError(_unknown(name, tuple(known)))
    return known[name]


def _family_of(name: str) -> tuple[Measure, ...]:
    """Return the measures of the family that a name belongs to; all of them for a name that nobody has."""
    from focuseval import measures  # noqa: PLC0415  the package imports this module

    for module, names in measures.FAMILIES:
        if name in names:
            return measures.family(module)
    return measures.MEASURES


def _check_at(at: str, measure: Measure) -> None:
    if at and not measure.at:
        raise MeasureError(f"{measure.name}@{at}: {measure.name} takes no '@'; write {measure.name}")
    if at:
        parse_at(at, measure)
    elif measure.at_required:
        example = {"rank": "@10", "level": "@0.1"}[measure.at[0]]
        raise MeasureError(f"{measure.name}: expected a cut-off, as in {measure.name}{example}")


def _parameters(inside: str, measure: Measure) -> dict[str, int | float | str]:
    given: dict[str, int | float | str] = {}
    known = {p.name: p for p in measure.parameters}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and measure.parameters and not given:
            name, value = measure.parameters[0].name, part
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise MeasureError(f"{measure.name} has no parameter {name!r}; {there}")
        if name in given:
            raise MeasureError(f"{measure.name}: parameter {name!r} is given twice; keep one")
        given[name] = _value(value, known[name], measure)
    return given


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


def _unknown(name: str, known: tuple[str, ...]) -> str:
    """Offer the nearest names; of those that differ only in case, the first."""
    if name in _ASKING_A_MODEL:
        ours = f"on highlighted text it is {_ASKING_A_MODEL[name]}"
        return f"unknown measure {name!r}: RAGAS and DeepEval ask a language model for it; {ours}"
    offer = did_you_mean(name, known[::-1])
    return f"unknown measure {name!r}{'; ' if offer else ''}{offer} ('focuseval measures' lists all)"
