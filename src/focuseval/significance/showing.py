"""A comparison as it shows itself: a table of HTML in a notebook, one of text when it is printed."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from focuseval.significance.comparison import Comparison, Settings

HEAD = ("better", "worse", "difference", "95 % interval", "p", "effect", "wins / ties / losses")


def html(comparison: Comparison) -> str:
    """Return every pair with its difference, interval, p-value and effect, the sentence above and the test below."""
    c = comparison
    body = "".join(_row(cells, "td") for cells in _pairs(c))
    table = f"<table><thead>{_row(HEAD, 'th')}</thead><tbody>{body}</tbody></table>" if body else ""
    below = f"{escape(str(c.settings))}; {len(c.topics)} topics"
    return f"<p>{escape(c.sentence())}</p>{table}<small>{below}</small>"


def text(comparison: Comparison) -> str:
    """Return the same as lines of text, its columns as wide as they need to be."""
    c = comparison
    rows = [HEAD, *_pairs(c)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    table = lines if len(rows) > 1 else []
    return "\n".join([c.sentence(), *table, f"{c.settings}; {len(c.topics)} topics"])


def shown_p(value: float, settings: Settings) -> str:
    """Print a p-value; a resampling test that never met a contrary draw knows no more than 1 / resamples."""
    if value == 0 and settings.test == "bootstrap":
        return f"<{1 / settings.resamples:.2g}"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _pairs(c: Comparison) -> Iterator[tuple[str, ...]]:
    """Yield the cells of every pair."""
    means = c.means
    for k, (better, worse) in enumerate(zip(c.better.tolist(), c.worse.tolist(), strict=True)):
        yield (
            f"{c.runs[better]} ({means[better]:.4f})",
            f"{c.runs[worse]} ({means[worse]:.4f})",
            f"{c.difference[k]:+.4f}{' ⋆' if c.significant[k] else ''}",
            f"[{c.low[k]:+.4f}, {c.high[k]:+.4f}]",
            shown_p(float(c.p[k]), c.settings),
            f"{c.effect[k]:.2f}",
            " / ".join(map(str, c.wins(better, worse))),
        )


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
