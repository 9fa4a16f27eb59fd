"""One escaper for each layout: names from files are shown as they are, and never read as commands."""

from __future__ import annotations

_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_HIDDEN = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *map(ord, _CONTROLS)]
_SPELT = {code: f"⟨U+{code:04X}⟩" for code in _HIDDEN}
_BREAKS = dict.fromkeys(map(ord, "\t\n\u2028\u2029"), " ")


def visible(text: object) -> str:
    r"""Return a text in which characters that change the direction of others, or control a terminal, are spelt out.

    >>> visible("run\u202e1")
    'run⟨U+202E⟩1'
    """
    return str(text or "").translate(_SPELT)


def one_line(text: str) -> str:
    r"""Return a text without line breaks and tabs, which would end a row.

    >>> one_line("a\nb\tc")
    'a b c'
    """
    return visible(text).translate(_BREAKS)


_MARKDOWN = r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])|<|&(?=#?\w+;)"
_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def markdown(text: str) -> str:
    r"""Return a text for a cell or a paragraph of Markdown; an underscore inside a word is none of its signs.

    >>> print(markdown("run_1 | <0.001 *"))
    run_1 \| &lt;0.001 \*
    """
    import re  # noqa: PLC0415  other layouts need not wait for it

    return re.sub(_MARKDOWN, lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), one_line(text))


_LATEX_TEXT = "\\textbackslash ^textasciicircum ~textasciitilde …ldots"
_LATEX_MATHS = "⋆star ·cdot ×times ✗times ✓checkmark →rightarrow ≥geq ≤leq βbeta ρrho τtau ⟨langle ⟩rangle"
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {sign: f"${sign}$" for sign in "<>|"}
    | {word[0]: f"\\{word[1:]}{{}}" for word in _LATEX_TEXT.split()}
    | {word[0]: f"$\\{word[1:]}$" for word in _LATEX_MATHS.split()}
    | {"–": "--", "—": "---", "−": "$-$"}
)
"""A sign and the command that prints it; ✓ needs the package amssymb."""


def latex(text: str) -> str:
    r"""Return a text for LaTeX, its own signs and those that it does not know spelt as commands.

    >>> print(latex(r"run_1 ⋆ 50% a\b^c~d"))
    run\_1 $\star$ 50\% a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d
    """
    return one_line(text).translate(_LATEX)
