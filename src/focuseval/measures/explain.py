"""A measure or a profile in words, made from its declaration."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from focuseval.match.policies import Policies
from focuseval.measures.citations import reference
from focuseval.measures.measure import number
from focuseval.measures.names import named
from focuseval.tables import Table, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.measures.measure import Measure, Parameter
    from focuseval.measures.profiles import Profile

AT = {
    "rank": "@k, a rank: @10",
    "level": "@x, a recall level from 0 to 1: @0.01",
    "characters": "@Nc, a budget of characters: @2000c",
    "words": "@Nw, a budget of words: @500w",
}


def overview(measures: Iterable[Measure]) -> Table:
    """Return a row for each measure."""
    return Table("", words("measure", "summary"), tuple((_spelled(measure), measure.summary) for measure in measures))


def _spelled(measure: Measure) -> str:
    if not measure.at:
        return measure.name
    sign = {"level": "@x", "characters": "@Nc"}.get(measure.at[0], "@k")
    return measure.name + (sign if measure.at_required else f"[{sign}]")


def explain(text: str) -> str:
    """Return what is declared of a measure, as a page."""
    measure = named(text.partition("(")[0].partition("@")[0].strip())
    lines = [_spelled(measure), "", measure.summary]
    lines += [f"Also called {', '.join(measure.aliases)}."] if measure.aliases else []
    lines += ["", *_definition(measure)]
    lines += ["", f"Formula     {measure.formula}"] if measure.formula else []
    lines += [f"Cut-off     {AT[kind]}{'' if measure.at_required else ' (may be left out)'}" for kind in measure.at]
    lines += [f"Parameter   {_parameter(p)}" for p in measure.parameters]
    low, high = measure.bounds
    lines.append(f"Bounds      {low:g} to {high:g}{_reached(measure)}")
    lines += [f"Needs       {needed(measure)}"] if measure.needs else []
    lines += [f"Tasks       {', '.join(measure.tasks)}"] if measure.tasks else []
    lines += [f"Example     {measure.example}"] if measure.example else []
    lines += [f"Cite        {reference(measure.cite)}"]
    return "\n".join(lines) + "\n"


def _reached(measure: Measure) -> str:
    """Say whether a perfect run reaches the upper bound, and what keeps it from it."""
    if not measure.perfect:
        return ""
    budget = ["a budget"] if set(measure.at) & {"characters", "words"} else []
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
            f"Policies    {policies.signature()}",
        ]
    return "\n".join(lines) + "\n"
