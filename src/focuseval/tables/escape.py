"""One escaper for each layout: names from files are shown as they are, and never read as commands."""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: object) -> str:
    r"""Return a text in which characters that change the direction of others, or control a terminal, are spelt out.

    >>> visible("run\u202e1")
    'run⟨U+202E⟩1'
    """
    return _CONTROLS.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text or ""))


def one_line(text: str) -> str:
    r"""Return a text without line breaks and tabs, which would end a row.

    >>> one_line("a\nb\tc")
    'a b c'
    """
    return re.sub("[\t\n\u2028\u2029]", " ", visible(text))


_MARKDOWN = re.compile(r"[\\`*|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])|<|&(?=#?\w+;)")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def markdown(text: str) -> str:
    r"""Return a text for a cell or a paragraph of Markdown; an underscore inside a word is none of its signs.

    >>> print(markdown("run_1 | <0.001 *"))
    run_1 \| &lt;0.001 \*
    """
    return _MARKDOWN.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), one_line(text))


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"${sign}$" for sign in "<>|"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "−": "$-$",
    "⋆": r"$\star$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    "→": r"$\rightarrow$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "β": r"$\beta$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
}
_LATEX_SIGNS = str.maketrans(_LATEX)


def latex(text: str) -> str:
    r"""Return a text for LaTeX, its own signs and those that it does not know spelt as commands.

    >>> print(latex(r"run_1 ⋆ 50% a\b^c~d"))
    run\_1 $\star$ 50\% a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d
    """
    return one_line(text).translate(_LATEX_SIGNS)
