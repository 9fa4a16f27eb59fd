"""A table of text with a title and notes, printed for terminals, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from focuseval.evaluate.terminal import draw

LAYOUTS = ("table", "markdown", "latex", "csv")

_TEX = {"⋆": r"$\star$", "τ": r"$\tau$", "−": "$-$", "–": "--", "≥": r"$\geq$", "→": r"$\rightarrow$", "·": r"$\cdot$"}


@dataclass(frozen=True)
class Grid:
    """A title, column names, rows of cells, and sentences that belong below."""

    title: str
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def render(self, layout: str) -> str:
        """Return the grid in one of the `LAYOUTS`."""
        return {"table": self.terminal, "markdown": self.markdown, "latex": self.latex, "csv": self.csv}[layout]()

    def terminal(self) -> str:
        """Return the grid for a terminal.

        >>> print(Grid("Means", ("run", "AP"), (("a", "0.5"),), ("One run.",)).terminal(), end="")
        Means
        run   AP
        ───  ───
        a    0.5
        One run.
        """
        table = draw(list(self.head), [list(row) for row in self.body]) if self.body else ""
        return "".join(f"{line}\n" for line in (self.title,) if line) + table + "".join(f"{n}\n" for n in self.notes)

    def markdown(self) -> str:
        """Return the grid as a Markdown table under its title."""
        rows = [self.head, ("---",) * len(self.head), *self.body] if self.body else []
        table = "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)
        notes = "".join(f"\n{note}\n" for note in self.notes)
        return f"### {self.title}\n\n{table}{notes}" if self.title else table + notes

    def latex(self) -> str:
        """Return the grid as a LaTeX table (package booktabs), title as caption, notes as comments."""
        line = " \\\\\n"
        head = " & ".join(map(tex, self.head)) + line
        body = "".join(" & ".join(map(tex, row)) + line for row in self.body)
        return (
            f"\\begin{{table}}\n\\caption{{{tex(self.title)}}}\n\\begin{{tabular}}{{l{'r' * (len(self.head) - 1)}}}\n"
            f"\\toprule\n{head}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
            + "".join(f"% {note}\n" for note in self.notes)
        )

    def csv(self) -> str:
        """Return the grid as comma-separated values, title and notes as comment lines."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([self.head, *self.body])
        said = "".join(f"# {line}\n" for line in (self.title, *self.notes) if line)
        return said + out.getvalue()


def tex(text: str) -> str:
    r"""Escape what LaTeX reads as its own.

    >>> print(tex("run_1 ⋆ 50%"))
    run\_1 $\star$ 50\%
    """
    return "".join(f"\\{c}" if c in "&%$#_{}" else _TEX.get(c, c) for c in text)
