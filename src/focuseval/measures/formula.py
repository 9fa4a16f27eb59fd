"""Formulas of the declarations, which are LaTeX, as plain text that a terminal shows."""

from __future__ import annotations

import re

_SIGNS = {
    "le": "≤", "ge": "≥", "ne": "≠", "cdot": "·", "cap": "∩", "cup": "∪", "emptyset": "∅", "subseteq": "⊆", "in": "∈",
    "ldots": "…", "wedge": "and", "sum": "Σ", "max": "max", "min": "min", "log": "log", ",": " ", ";": " ", "{": "{",
    "}": "}", " ": " ",
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
    made = ""
    while rest and rest[0] != "}":
        if rest[0] in "_^":
            raised, rest = rest[0] == "^", rest[1:]
            part, rest = _argument(rest)
            made = _attached(made, part, raised=raised)
            continue
        if rest[0] == "{":
            part, rest = _argument(rest)
            made += part
            continue
        found = _TOKEN.match(rest)
        name, plain = (found[1], found[2]) if found else ("", "")
        rest = rest[found.end() :] if found else ""
        if name == "frac":
            top, rest = _argument(rest)
            bottom, rest = _argument(rest)
            made += _fraction(top, bottom)
        elif name == "text":
            part, rest = _argument(rest)
            made += part
        else:
            made += _SIGNS[name] if name else plain
    return made, rest


def _argument(rest: str) -> tuple[str, str]:
    """Return one argument: a group in braces, or a single sign."""
    if not rest.startswith("{"):
        found = _TOKEN.match(rest)
        if found is None:
            return "", ""
        return (_SIGNS[found[1]] if found[1] else found[2]), rest[found.end() :]
    text, behind = _read(rest[1:])
    return text, behind[1:]


def _attached(before: str, part: str, *, raised: bool) -> str:
    """Return a text with an index: a range behind a sum, a small number behind a log, else as LaTeX writes it."""
    if before.endswith("Σ"):
        return f"{before}[{part}]"
    if raised and before.endswith("]"):
        return f"{before[:-1]} … {part}]"
    if not raised and part.isdigit():
        return before + part.translate(_SMALL)
    return before + (part if raised else f"_{part}")


def _fraction(top: str, bottom: str) -> str:
    """Return a fraction on one line, in brackets where they are needed."""
    parts = [top.strip(), bottom.strip()]
    if all(re.fullmatch(r"[\w|.]+", part) for part in parts):
        return "/".join(parts)
    return " / ".join(part if re.fullmatch(r"[\w|.()\[\]]+", part) else f"({part})" for part in parts)
