"""A measure or a profile in words, made from its declaration."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING

from focuseval.data.tables import Table, words
from focuseval.measures import FAMILIES, family
from focuseval.measures.citations import reference
from focuseval.measures.formula import readable
from focuseval.measures.matching.policies import Policies
from focuseval.measures.measure import number
from focuseval.measures.names import named

if TYPE_CHECKING:
    from focuseval.measures.measure import Measure, Parameter
    from focuseval.measures.profiles import Profile

AT = {
    "rank": "@k, a rank: @10",
    "level": "@x, a recall level from 0 to 1: @0.01",
    "characters": "@Nc, a budget of characters: @2000c",
    "words": "@Nw, a budget of words: @500w",
    "tokens": "@Nt, a budget of tokens of --tokenizer: @500t",
}


TITLES = {
    "xcg": "Elements: effort-precision and cumulated gain (INEX 2005–06)",
    "nxcg": "Elements: normalised cumulated gain",
    "fetch_browse": "Elements: fetch and browse",
    "generalised": "Ranked articles: generalised precision",
    "tolerance": "Ranked articles: tolerance to irrelevance",
    "entry_point": "Entry points",
    "eprum": "Entry points with user modelling",
    "prum": "Elements with user modelling",
    "hixeval": "Highlighted text by rank (HiXEval)",
    "characters": "Characters and articles (INEX 2007–10)",
    "i2": "Graded elements: inex_eval (2002–04)",
    "i3": "Graded elements: inex_eval_ng",
    "documents": "Documents (trec_eval)",
    "spans": "Spans for RAG",
    "needs": "Several needed spans: alternatives, multi-hop",
    "ceiling": "What a chunking allows",
}
"""The heading of each family of measures."""


def overview() -> list[Table]:
    """Return a table for each family, with a row for each measure; names stand in columns of one width."""
    found = [(TITLES[module], family(module)) for module, _ in FAMILIES]
    width = max(len(_spelled(measure)) for _, measures in found for measure in measures)
    return [
        Table(title, words("", ""), tuple((_spelled(one).ljust(width), one.summary) for one in measures))
        for title, measures in found
    ]


def as_json() -> list[dict[str, object]]:
    """Return every measure's declaration as plain values."""
    return [declared(measure, module) for module, _ in FAMILIES for measure in family(module)]


def declared(measure: Measure, module: str) -> dict[str, object]:
    """Return what is declared of a measure as plain values."""
    return {
        "name": measure.name,
        "family": TITLES[module],
        "aliases": list(measure.aliases),
        "summary": measure.summary,
        "definition": "\n".join(_definition(measure)).strip(),
        "formula": measure.formula,
        "cut-offs": list(measure.at),
        "parameters": [
            {"name": p.name, "default": p.default, "choices": list(p.choices), "summary": p.summary}
            for p in measure.parameters
        ],
        "bounds": [value if isfinite(value) else None for value in measure.bounds],
        "needs": list(measure.needs),
        "tasks": list(measure.tasks),
        "example": measure.example,
        "cite": measure.cite,
    }


def found_measure(text: str) -> tuple[Measure, str]:
    """Return the measure that a name means, with or without parameters, and the module of its family."""
    measure = _named(text)
    module = next(module for module, names in FAMILIES if measure.name in names)
    return measure, module


def _named(text: str) -> Measure:
    return named(text.split("(", maxsplit=1)[0].split("@", maxsplit=1)[0].strip())


def _spelled(measure: Measure) -> str:
    if not measure.at:
        return measure.name
    sign = {"level": "@x", "characters": "@Nc"}.get(measure.at[0], "@k")
    return measure.name + (sign if measure.at_required else f"[{sign}]")


def explain(text: str) -> str:
    """Return what is declared of a measure, as a page."""
    measure = _named(text)
    lines = [_spelled(measure), "", measure.summary]
    lines += [f"Also called {', '.join(measure.aliases)}."] if measure.aliases else []
    lines += ["", *_definition(measure)]
    lines += ["", f"Formula     {readable(measure.formula)}"] if measure.formula else []
    lines += [f"Cut-off     {AT[kind]}{'' if measure.at_required else ' (may be left out)'}" for kind in measure.at]
    lines += [f"Parameter   {_parameter(p)}" for p in measure.parameters]
    low, high = measure.bounds
    lines.append(f"Bounds      {low:g} to {high:g}{_reached(measure)}")
    lines += [f"Needs       {needed(measure)}"] if measure.needs else []
    lines += [f"Tasks       {', '.join(measure.tasks)}"] if measure.tasks else []
    lines += [f"Example     {measure.example}"] if measure.example else []
    lines += [f"Cite        {reference(measure.cite)}"]
    return "".join(f"{part}\n" for line in lines for part in _folded(line))


LABEL = 12
"""Columns of the label before a line."""


def _folded(line: str, width: int = 80) -> list[str]:
    """Return a line within the width, its continuation under its text."""
    if len(line) <= width:
        return [line]
    label, text = (line[:LABEL], line[LABEL:]) if line[LABEL - 1 : LABEL] == " " and line[LABEL:] else ("", line)
    from textwrap import wrap  # noqa: PLC0415  most lines are short

    parts = wrap(text, width - len(label), break_long_words=False, break_on_hyphens=False)
    return [label + parts[0], *(" " * len(label) + part for part in parts[1:])]


def _reached(measure: Measure) -> str:
    """Say whether a perfect run reaches the upper bound, and what keeps it from it."""
    if not measure.perfect:
        return ""
    budget = ["a budget"] if set(measure.at) & {"characters", "words", "tokens"} else []
    unless = " or ".join([*([measure.perfect_unless] if measure.perfect_unless else []), *budget])
    return "; a perfect run reaches the upper one" + (f", but for {unless}" if unless else "")


def needed(measure: Measure) -> str:
    """Return what gold and run must say, and with which parameters they must say something else."""
    other = (f"{', '.join(needs)} with {name}={value}" for (name, value), needs in measure.needs_if.items())
    return "; ".join((", ".join(measure.needs), *other))


def _definition(measure: Measure) -> list[str]:
    """Return the docstring of the measure's function, without its formula."""
    text = inspect.getdoc(measure.compute) or ""
    return [line for line in text.splitlines() if not line.startswith(".. math::")]


def _parameter(parameter: Parameter) -> str:
    words = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
    source = "the policy of that name, usually " if parameter.policy else ""
    return f"{parameter.name}: {parameter.summary}{words} Default {source}{number(parameter.default)}."


def explain_profile(profile: Profile) -> str:
    """Return a profile's tasks with measures and policies, as a page."""
    lines = [profile.name, "", profile.summary]
    for task, measures in profile.tasks.items():
        policies = Policies().but(**profile.policies_of(task))
        lines += [
            "",
            f"Task        {task}",
            f"Measures    {', '.join(measures)}",
            f"Decides     {profile.deciding(task)}",
            f"Policies    {policies.signature().replace('|', ', ')}",
        ]
    return "".join(f"{part}\n" for line in lines for part in _folded(line))


def profile_as_json(profile: Profile) -> dict[str, object]:
    """Return a profile as plain values."""
    tasks = {
        task: {
            "measures": list(measures),
            "decides": profile.deciding(task),
            "policies": asdict(Policies().but(**profile.policies_of(task))),
        }
        for task, measures in profile.tasks.items()
    }
    return {"name": profile.name, "summary": profile.summary, "tasks": tasks}
