"""Signatures and docstrings of the code as the text of a page."""

import inspect
import re
from collections.abc import Iterator
from typing import Any


def signature(value: Any, skip: int = 0) -> str:
    """The signature on one line, annotations as written in the source; Sphinx breaks it where it is long."""
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    unsaid = inspect.isclass(value) or given.return_annotation is given.empty
    end = "" if unsaid else f" -> {annotation(given.return_annotation)}"
    return f"({', '.join([*_parameters(given)][skip:])}){end}"


def _parameters(given: inspect.Signature) -> Iterator[str]:
    star_seen = False
    for parameter in given.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star_seen:
            star_seen = True
            yield "*"
        star_seen |= parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        kind = "" if parameter.annotation is parameter.empty else f": {annotation(parameter.annotation)}"
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        yield f"{stars}{parameter.name}{kind}{default}"


def annotation(value: object) -> str:
    return value if isinstance(value, str) else inspect.formatannotation(value)


def _default(value: object) -> str:
    """A default as text; what has no short, stable form (a factory, a function) by its name."""
    text = getattr(value, "__name__", None) or repr(value)
    return "..." if " at 0x" in text or text == "<factory>" else text


UNDERLINE = re.compile(r"-{3,}$")


def markdown(doc: str | None) -> list[str]:
    """A docstring as Markdown: sections of parameters as lists, doctests and indented text as blocks."""
    lines, out = inspect.cleandoc(doc or "").splitlines(), []
    paragraphs = [part.splitlines() for part in re.split(r"\n\n+", "\n".join(lines)) if part not in {"", "::"}]
    section = ""
    for part in paragraphs:
        begins = len(part) > 1 and UNDERLINE.match(part[1])
        section = part[0] if begins else section
        out += [f"**{section}**\n"] if begins else []
        out.append(paragraph(part[2:] if begins else part, section))
    return out


def paragraph(lines: list[str], section: str) -> str:
    """One paragraph of a docstring."""
    if lines[0].startswith("==="):  # a table, readable as it is
        return fenced("text", [line.replace("``", "") for line in lines if line[0] != "="])
    if lines[0].startswith(">>> "):
        return fenced("pycon", lines)
    if lines[0].startswith(".. math::"):
        return "\n".join(["$$", lines[0].removeprefix(".. math::").strip(), *lines[1:], "$$\n"])
    if all(line.startswith("    ") for line in lines):
        return fenced("text", [line[4:] for line in lines])
    if section and any(line.startswith("    ") for line in lines):
        return entries(lines)
    return "\n".join(markdown_line(line.removesuffix("::") + ":" * line.endswith("::")) for line in lines) + "\n"


def entries(lines: list[str]) -> str:
    """Names and what they are, as a list of definitions."""
    out: list[str] = []
    for line in lines:
        if line.startswith("    "):
            first = not out[-1].startswith((":", "  "))
            out.append((": " if first else "  ") + markdown_line(line.strip()))
        else:
            out += ["", f"`{line}`"] if out else [f"`{line}`"]
    return "\n".join([*out, ""])


def fenced(language: str, lines: list[str]) -> str:
    return "\n".join([f"```{language}", *lines, "```\n"])


def markdown_line(line: str) -> str:
    """Inline marks of a docstring as those of Markdown."""
    return line.replace("``", "`").replace("$", r"\$")
