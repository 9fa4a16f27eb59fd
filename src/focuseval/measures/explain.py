"""What is declared of measures and profiles, as pages, tables and plain values; formulas as a terminal shows them."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

from focuseval.data.tables import Table, words
from focuseval.measures.measure import AS_OURS, FAMILIES, TREC_EVAL, named, number
from focuseval.measures.profiles import Policies

if TYPE_CHECKING:
    from focuseval.measures.measure import Measure
    from focuseval.measures.profiles import Profile


CITATIONS = {
    "goevert2002overview": "N. Gövert, G. Kazai. Overview of the INitiative for the Evaluation of XML retrieval (INEX) "
    "2002. Proceedings of the first INEX workshop, 2003, 1–17.",
    "jarvelin2002cumulated": "K. Järvelin, J. Kekäläinen. Cumulated gain-based evaluation of IR techniques. ACM TOIS "
    "20(4), 2002, 422–446.",
    "piwowarski2003expected": "B. Piwowarski, P. Gallinari. Expected ratio of relevant units: a measure for structured "
    "information retrieval. INEX 2003 workshop proceedings.",
    "zhai2003beyond": "C. Zhai, W. W. Cohen, J. Lafferty. Beyond independent relevance: methods and evaluation metrics "
    "for subtopic retrieval. SIGIR 2003, 10–17.",
    "buckley2004retrieval": "C. Buckley, E. M. Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004, "
    "25–32.",
    "goevert2005effectiveness": "N. Gövert, N. Fuhr, M. Lalmas, G. Kazai. Evaluating the effectiveness of "
    "content-oriented XML retrieval methods. Information Retrieval 9(6), 2006, 699–722.",
    "voorhees2005trec": "E. M. Voorhees, D. K. Harman (eds). TREC: Experiment and Evaluation in Information Retrieval. "
    "MIT Press, 2005.",
    "piwowarski2005precision": "B. Piwowarski, P. Gallinari, G. Dupret. Precision recall with user modeling (PRUM): "
    "application to structured information retrieval. ACM TOIS 25(1), 2007.",
    "kazai2006extended": "G. Kazai, M. Lalmas. eXtended cumulated gain measures for the evaluation of content-oriented "
    "XML retrieval. ACM TOIS 24(4), 2006, 503–542.",
    "pehcevski2006hixeval": "J. Pehcevski, J. A. Thom. HiXEval: highlighting XML retrieval evaluation. INEX 2005, LNCS "
    "3977, 2006, 43–57.",
    "piwowarski2006evaluation": "B. Piwowarski, G. Dupret. Evaluation in (XML) information retrieval: expected "
    "precision-recall with user modelling (EPRUM). SIGIR 2006, 260–267.",
    "robertson2006gmap": "S. Robertson. On GMAP – and other transformations. CIKM 2006, 78–83.",
    "yilmaz2006estimating": "E. Yilmaz, J. A. Aslam. Estimating average precision with incomplete and imperfect "
    "judgments. CIKM 2006, 102–111.",
    "kamps2007evaluating": "J. Kamps, M. Lalmas, J. Pehcevski. Evaluating relevant in context: document retrieval with "
    "a twist. SIGIR 2007, 749–750.",
    "lalmas2007inex": "M. Lalmas, G. Kazai, J. Kamps, J. Pehcevski, B. Piwowarski, S. Robertson. INEX 2006 evaluation "
    "measures. INEX 2006, LNCS 4518, 2007, 20–34.",
    "kamps2008inex": "J. Kamps, J. Pehcevski, G. Kazai, M. Lalmas, S. Robertson. INEX 2007 evaluation measures. INEX "
    "2007, LNCS 4862, 2008, 24–33.",
    "moffat2008rank": "A. Moffat, J. Zobel. Rank-biased precision for measurement of retrieval effectiveness. ACM TOIS "
    "27(1), 2008, article 2.",
    "chapelle2009expected": "O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan. Expected reciprocal rank for graded "
    "relevance. CIKM 2009, 621–630.",
    "arvola2011contextualization": "P. Arvola, S. Geva, J. Kamps, R. Schenkel, A. Trotman, J. Vainio. Overview of the "
    "INEX 2010 ad hoc track. INEX 2010, LNCS 6932, 2011, 1–32.",
    "gutierrez2024hipporag": "B. Jiménez Gutiérrez, Y. Shu, Y. Gu, M. Yasunaga, Y. Su. HippoRAG: neurobiologically "
    "inspired long-term memory for large language models. NeurIPS 2024.",
    "focuseval": "Defined by focuseval; see CITATION.cff in the project's root.",
}
"""Key → reference."""


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
            part, behind = _argument(rest[1:])
            text = _attached(text, part, raised=rest[0] == "^")
        elif rest.startswith("\\frac"):
            top, behind = _argument(rest.removeprefix("\\frac"))
            bottom, behind = _argument(behind)
            text += _fraction(top, bottom)
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


def _attached(before: str, part: str, *, raised: bool) -> str:
    """Return a text with an index: a range behind a sum, a small number behind a log, else as LaTeX writes it."""
    if before.endswith(("Σ", "Π")):
        return f"{before}[{part}]"
    if raised and before.endswith("]"):
        return f"{before[:-1]} … {part}]"
    if not raised and part.isdigit():
        return before + part.translate(_SMALL)
    return before + (f"_{part}" if not raised else f"^({part})" if len(part) > 1 else f"^{part}".replace("^*", "*"))


def _fraction(top: str, bottom: str) -> str:
    """Return a fraction on one line, in brackets where they are needed."""
    parts = [top.strip(), bottom.strip()]
    if all(re.fullmatch(r"[\w|.]+", part) for part in parts):
        return "/".join(parts)
    return " / ".join(part if re.fullmatch(r"[\w|.()\[\]]+", part) else f"({part})" for part in parts)


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
        "name": measure.name,
        "family": family,
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
    """Return the measure that a name means, with or without parameters, and the heading of its family."""
    measure = _bare(text)
    return measure, next(family.title for family in FAMILIES if measure.name in family.names.split())


def _bare(text: str) -> Measure:
    return named(TREC_EVAL.sub(AS_OURS, text).split("(", maxsplit=1)[0].split("@", maxsplit=1)[0].strip())


def _spelled(measure: Measure) -> str:
    if not measure.at:
        return measure.name
    sign = {"level": "@x", "characters": "@Nc"}.get(measure.at[0], "@k")
    return measure.name + (sign if measure.at_required else f"[{sign}]")


def explain(text: str) -> str:
    """Return what is declared of a measure, as a page."""
    measure = _bare(text)
    lines = [_spelled(measure), "", measure.summary]
    lines += [f"Also called {', '.join(measure.aliases)}."] if measure.aliases else []
    lines += ["", *_definition(measure)]
    lines += ["", f"Formula     {readable(measure.formula)}"] if measure.formula else []
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
    return "".join(f"{part}\n" for line in lines for part in _folded(line))


LABEL = 12
"""Columns of the label before a line."""


def _folded(line: str) -> list[str]:
    """Return a line within 80 columns, its continuation under its text."""
    if len(line) <= 80:
        return [line]
    label, text = (line[:LABEL], line[LABEL:]) if line[LABEL - 1 : LABEL] == " " and line[LABEL:] else ("", line)
    parts = wrap(text, 80 - len(label), break_long_words=False, break_on_hyphens=False)
    return [label + parts[0], *(" " * len(label) + part for part in parts[1:])]


def needed(measure: Measure) -> str:
    """Return what gold and run must say, and with which parameters they must say something else."""
    other = (f"{', '.join(needs)} with {name}={value}" for (name, value), needs in measure.needs_if.items())
    return "; ".join((", ".join(measure.needs), *other))


def _definition(measure: Measure) -> list[str]:
    """Return the docstring of the measure's function, without its formula."""
    text = inspect.getdoc(measure.compute) or ""
    return [line for line in text.splitlines() if not line.startswith(".. math::")]


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
