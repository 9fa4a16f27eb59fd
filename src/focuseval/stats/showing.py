"""A comparison as an HTML table, for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.stats.comparison import Comparison


def html(comparison: Comparison) -> str:
    """Return every pair with its difference, interval, p-value and effect, the sentence above and the test below."""
    c = comparison
    means = c.means
    pairs = (
        (
            f"{c.runs[better]} ({means[better]:.4f})",
            f"{c.runs[worse]} ({means[worse]:.4f})",
            f"{c.difference[k]:+.4f}{' ⋆' if c.significant[k] else ''}",
            f"[{c.low[k]:+.4f}, {c.high[k]:+.4f}]",
            f"{c.p[k]:.3g}",
            f"{c.effect[k]:.2f}",
            " / ".join(map(str, c.wins(better, worse))),
        )
        for k, (better, worse) in enumerate(zip(c.better.tolist(), c.worse.tolist(), strict=True))
    )
    head = ("better", "worse", "difference", "95 % interval", "p", "effect", "wins / ties / losses")
    body = "".join(_row(cells, "td") for cells in pairs)
    table = f"<table><thead>{_row(head, 'th')}</thead><tbody>{body}</tbody></table>" if body else ""
    below = f"{escape(str(c.settings))}; {len(c.topics)} topics"
    return f"<p>{escape(c.sentence())}</p>{table}<small>{below}</small>"


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
