"""What is declared of measures and profiles, as pages, tables and plain values; formulas as a terminal shows them."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict
from functools import partial
from math import isfinite
from pathlib import Path
from textwrap import wrap

from focuseval.data.tables import Table, words
from focuseval.measures.measure import AS_OURS, FAMILIES, TREC_EVAL, Measure, named, number
from focuseval.measures.profiles import Policies, Profile

CITATIONS = {
    key: " ".join(said.replace("*", "").replace("`", "").split())
    for key, said in re.findall(
        r"^\((\w+)\)=\n`\w+` · (.+?)(?=\n\n|\Z)",
        (Path(__file__).parent / "bibliography.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
}
"""Key → reference, as the page of the documentation has it, which is a copy of ``bibliography.md``."""


def reference(key: str) -> str:
    """Return a measure's citation with its key; a user's own measure has a key that nobody else knows.

    >>> reference("voorhees2005trec")[:40]
    'voorhees2005trec: E. M. Voorhees, D. K. '
    """
    return f"{key}: {CITATIONS[key]}" if key in CITATIONS else key


_SIGNS = {
    "le": "≤", "ge": "≥", "ne": "≠", "cdot": "·", "cap": "∩", "cup": "∪", "emptyset": "∅", "subseteq": "⊆", "in": "∈",
    "ldots": "…", "wedge": "and", "sum": "Σ", "prod": "Π", "max": "max", "min": "min", "log": "log", "ln": "ln",
    "exp": "exp ", "beta": "β", "epsilon": "ε", ",": " ", ";": " ", "{": "{", "}": "}", " ": " ",
}  # fmt: skip
_TOKEN = re.compile(r"\\([A-Za-z]+|.)|(.)", re.DOTALL)
_SMALL = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def readable(formula: str) -> str:
    r"""Return a formula as plain text; a sum's range stands in brackets behind it.

    >>> readable(r"gP[r] = \frac{1}{r} \sum_{i \le r} S(a_i)")
    'gP[r] = 1/r · Σ[i ≤ r] S(a_i)'
    >>> readable(r"nDCG@k = \frac{\sum_{i \le k} g_i / \log_2(i+1)}{N}")
    'nDCG@k = (Σ[i ≤ k] g_i / log₂(i+1)) / N'
    """
    text, rest = _read(formula)
    assert not rest, f"unbalanced formula: {formula}"
    text = re.sub(r" +", " ", text).strip()
    return re.sub(r"(/\S+|\)) (?=Σ)", r"\1 · ", text)


def _read(rest: str) -> tuple[str, str]:
    """Return the text up to the brace that closes this group, and what stands behind it."""
    text = ""
    while rest and rest[0] != "}":
        if rest[0] in "_^":
            raised, (part, behind) = rest[0] == "^", _argument(rest[1:])
            if text.endswith(("Σ", "Π")):  # a range behind a sum
                text = f"{text}[{part}]"
            elif raised and text.endswith("]"):
                text = f"{text[:-1]} … {part}]"
            elif raised:
                text += f"^({part})" if len(part) > 1 else f"^{part}".replace("^*", "*")
            else:
                text += part.translate(_SMALL) if part.isdigit() else f"_{part}"
        elif rest.startswith("\\frac"):
            top, behind = _argument(rest.removeprefix("\\frac"))
            bottom, behind = _argument(behind)
            parts = [top.strip(), bottom.strip()]
            if all(re.fullmatch(r"[\w|.]+", part) for part in parts):
                text += "/".join(parts)
            else:
                text += " / ".join(part if re.fullmatch(r"[\w|.()\[\]]+", part) else f"({part})" for part in parts)
        else:
            part, behind = _argument(rest.removeprefix("\\text"))
            text += part
        rest = behind
    return text, rest


def _argument(rest: str) -> tuple[str, str]:
    """Return one argument: a group in braces, or a single sign."""
    if rest.startswith("{"):
        text, behind = _read(rest[1:])
        return text, behind[1:]
    found = _TOKEN.match(rest)
    if found is None:
        return "", ""
    return (_SIGNS[found[1]] if found[1] else found[2]), rest[found.end() :]


AT = {
    "rank": "@k, a rank: @10",
    "level": "@x, a recall level from 0 to 1: @0.01",
    "characters": "@Nc, a budget of characters: @2000c",
    "words": "@Nw, a budget of words: @500w",
    "tokens": "@Nt, a budget of tokens of --tokenizer: @500t",
}


def overview() -> list[Table]:
    """Return a table for each family, with a row for each measure; names stand in columns of one width."""
    width = max(len(_spelled(measure)) for family in FAMILIES for measure in family.measures)
    return [
        Table(family.title, words("", ""), tuple((_spelled(one).ljust(width), one.summary) for one in family.measures))
        for family in FAMILIES
    ]


def as_json() -> list[dict[str, object]]:
    """Return every measure's declaration as plain values."""
    return [declared(measure, family.title) for family in FAMILIES for measure in family.measures]


def declared(measure: Measure, family: str) -> dict[str, object]:
    """Return what is declared of a measure as plain values."""
    return {
        "name": measure.name, "family": family, "aliases": list(measure.aliases), "summary": measure.summary,
        "definition": "\n".join(_definition(measure)).strip(),
        "formula": measure.formula, "cut-offs": list(measure.at),
        "parameters": [
            {"name": p.name, "default": p.default, "choices": list(p.choices), "summary": p.summary}
            for p in measure.parameters
        ],
        "bounds": [value if isfinite(value) else None for value in measure.bounds],
        "needs": list(measure.needs), "tasks": list(measure.tasks), "example": measure.example, "cite": measure.cite,
    }  # fmt: skip


def found_measure(text: str) -> tuple[Measure, str]:
    """Return the measure that a name means, with or without parameters, and the heading of its family."""
    measure = named(TREC_EVAL.sub(AS_OURS, text).split("(", maxsplit=1)[0].split("@", maxsplit=1)[0].strip())
    return measure, next((family.title for family in FAMILIES if measure.name in family.names.split()), measure.origin)


def _spelled(measure: Measure) -> str:
    if not measure.at:
        return measure.name
    sign = {"level": "@x", "characters": "@Nc"}.get(measure.at[0], "@k")
    return measure.name + (sign if measure.at_required else f"[{sign}]")


def explain(text: str) -> str:
    """Return what is declared of a measure, as a page."""
    measure, _ = found_measure(text)
    lines = [_spelled(measure), "", measure.summary]
    lines += [f"Also called {', '.join(measure.aliases)}."] if measure.aliases else []
    lines += ["", *definition] if (definition := _definition(measure)) else []
    lines += ["", *([f"Formula     {readable(measure.formula)}"] if measure.formula else [])]
    lines += [f"Cut-off     {AT[kind]}{'' if measure.at_required else ' (may be left out)'}" for kind in measure.at]
    for p in measure.parameters:
        choices = f" ({', '.join(p.choices)})" if p.choices else ""
        source = "the policy of that name, usually " if p.policy else ""
        lines.append(f"Parameter   {p.name}: {p.summary}{choices} Default {source}{number(p.default)}.")
    bounds = "Bounds      {:g} to {:g}".format(*measure.bounds)
    if measure.perfect:
        budget = ["a budget"] if set(measure.at) & {"characters", "words", "tokens"} else []
        unless = " or ".join([*([measure.perfect_unless] if measure.perfect_unless else []), *budget])
        bounds += "; a perfect run reaches the upper one" + (f", but for {unless}" if unless else "")
    lines.append(bounds)
    floor = measure.geometric
    lines += [f"Mean        geometric over topics; a value below {floor:g} counts as {floor:g} in it"] if floor else []
    lines += [f"Needs       {needed(measure)}"] if measure.needs else []
    lines += [f"Tasks       {', '.join(measure.tasks)}"] if measure.tasks else []
    lines += [f"Example     {measure.example}"] if measure.example else []
    lines += [f"Cite        {reference(measure.cite)}"]
    lines += [f"Package     {measure.origin}"] if measure.origin else []
    return "".join(f"{part}\n" for line in lines for part in _folded(line))


LABEL = 12  # columns of the label before a line


def _folded(line: str) -> list[str]:
    """Return a line within 80 columns, its continuation under its text."""
    if len(line) <= 80:
        return [line]
    label = found[0] if (found := re.match(r"\S+ {2,}", line)) and found.end() == LABEL else ""
    parts = wrap(line.removeprefix(label), 80 - len(label), break_long_words=False, break_on_hyphens=False)
    return [label + parts[0], *(" " * len(label) + part for part in parts[1:])]


def needed(measure: Measure) -> str:
    """Return what gold and run must say, and with which parameters they must say something else."""
    other = (f"{', '.join(needs)} with {name}={value}" for (name, value), needs in measure.needs_if.items())
    return "; ".join((", ".join(measure.needs), *other))


def _definition(measure: Measure) -> list[str]:
    """Return the docstring of the measure's function, a line for each paragraph; nothing where the summary says it all.

    Its formula is declared beside it, and its argument `at` is what stands behind the ``@``.
    """
    text = "" if isinstance(measure.compute, partial) else inspect.getdoc(measure.compute) or ""
    if "`at`" in text and not measure.at:  # of a function that other measures share
        return []
    text = text.replace("`at`", {"rank": "k", "level": "x"}.get((*measure.at, "")[0], "N"))
    text = re.sub("[`*]", "", text).removeprefix("Return ")
    parts = [" ".join(part.split()) for part in text.split("\n\n") if "math::" not in part]
    parts[0] = parts[0][:1].upper() + parts[0][1:]
    return [line for part in filter(None, parts) for line in (part, "")][:-1]


def explain_profile(profile: Profile) -> str:
    """Return a profile's tasks with measures and policies, as a page."""
    lines = [profile.name, "", profile.summary]
    for task, measures in profile.tasks.items():
        policies = Policies().but(**profile.policies_of(task))
        lines += ["", f"Task        {task}", f"Measures    {', '.join(measures)}"]
        lines += [f"Decides     {profile.deciding(task)}", f"Policies    {policies.signature().replace('|', ', ')}"]
    return "".join(f"{part}\n" for line in lines for part in _folded(line))


def profile_as_json(profile: Profile) -> dict[str, object]:
    """Return a profile as plain values."""
    tasks = {
        task: {
            "measures": list(measures), "decides": profile.deciding(task),
            "policies": asdict(Policies().but(**profile.policies_of(task))),
        }
        for task, measures in profile.tasks.items()
    }  # fmt: skip
    return {"name": profile.name, "summary": profile.summary, "tasks": tasks}
