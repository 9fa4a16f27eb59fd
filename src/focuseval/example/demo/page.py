"""The demonstration as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from focuseval.data.tables import html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.example.demo.steps import Section

_STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d1c1a; --line: #d9d4c9; --soft: #f1eee8; --note: #5a564e;
  --accent: #0b6273; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #171614; --ink: #ebe7df; --line: #3d3933; --soft: #26241f; --note: #b3ac9f; --accent: #6cc7d8; }
}
body { background: var(--paper); color: var(--ink); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; color: var(--accent); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; } .number { text-align: right; } tr:hover td { background: var(--soft); }
.note { font-size: .8rem; color: var(--note); overflow-wrap: anywhere; }
code { background: var(--soft); padding: .1rem .3rem; border-radius: 3px; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{lead}</p>
{parts}
</main>
</body>
</html>
"""


def page(title: str, lead: str, parts: Iterable[Section]) -> str:
    """Return a page with every section; whatever comes from a file is escaped."""
    body = "\n".join(_part(part) for part in parts)
    return _PAGE.format(title=escape(title), lead=escape(lead), parts=body, style=_STYLE)


def _part(part: Section) -> str:
    command = f"<p><code>{escape(part.command)}</code></p>" if part.command else ""
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in (*part.table.notes, part.signature) if note)
    label = escape(part.title, quote=True)
    table = f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{html(part.table)}</div>{notes}'
    return f"<section><h2>{escape(part.title)}</h2>\n<p>{escape(part.text)}</p>\n{command}\n{table}</section>"
