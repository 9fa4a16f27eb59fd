"""The demonstration as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.demo.section import Section

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b7285; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; color: var(--accent); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; } .n { text-align: right; } tr:hover td { background: var(--soft); }
.note { font-size: .8rem; opacity: .7; overflow-wrap: anywhere; }
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
<h1>{title}</h1>
<p>{lead}</p>
{parts}
</body>
</html>
"""


def page(title: str, lead: str, parts: Iterable[Section]) -> str:
    """Return a page with every section; whatever comes from a file is escaped."""
    body = "\n".join(_part(part) for part in parts)
    return _PAGE.format(title=escape(title), lead=escape(lead), parts=body, style=_STYLE)


def _part(part: Section) -> str:
    head = "".join(_cell("th", name, part.numeric(i)) for i, name in enumerate(part.columns))
    rows = "\n".join(
        "<tr>" + "".join(_cell("td", value, part.numeric(i)) for i, value in enumerate(row)) + "</tr>"
        for row in part.rows
    )
    command = f"<p><code>{escape(part.command)}</code></p>" if part.command else ""
    head = f"<thead><tr>{head}</tr></thead>" if any(part.columns) else ""
    table = f'<div class="wide"><table>{head}\n<tbody>\n{rows}\n</tbody></table></div>'
    note = f'<p class="note">{escape(part.note)}</p>' if part.note else ""
    return f"<section><h2>{escape(part.title)}</h2>\n<p>{escape(part.text)}</p>\n{command}\n{table}{note}</section>"


def _cell(tag: str, text: str, numeric: bool) -> str:
    css = ' class="n"' if numeric else ""
    return f"<{tag}{css}>{escape(text)}</{tag}>"
