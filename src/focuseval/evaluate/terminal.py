"""A table of text for a terminal, drawn without any library: start-up is what a small run waits for."""

from __future__ import annotations

from unicodedata import east_asian_width


def draw(head: list[str], body: list[list[str]]) -> str:
    """Return a table: words to the left, numbers to the right.

    >>> print(draw(["run", "AP"], [["a", "0.5000"], ["long-name", "1.0000"]]), end="")
    run            AP
    ─────────  ──────
    a          0.5000
    long-name  1.0000
    """
    widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
    words = [not any(_number(row[column]) for row in body) for column in range(len(head))]
    lines = [_line(head, widths, words), "  ".join("─" * width for width in widths)]
    return "".join(f"{line.rstrip()}\n" for line in [*lines, *(_line(row, widths, words) for row in body)])


def _line(cells: list[str], widths: list[int], words: list[bool]) -> str:
    padded = []
    for cell, width, word in zip(cells, widths, words, strict=True):
        blanks = " " * (width - _width(cell))
        padded.append(cell + blanks if word else blanks + cell)
    return "  ".join(padded)


def _number(cell: str) -> bool:
    return cell[:1].isdigit() and cell.replace(".", "", 1).split(" ")[0].isdigit()


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
