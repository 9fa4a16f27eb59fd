"""The layouts that have no width: Markdown, LaTeX, CSV, HTML, and the lines of trec_eval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.data.tables import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from focuseval.data.tables.table import Table


def _cells(table: Table, escaped: Callable[[str], str], best: str) -> list[list[str]]:
    """Return the rows as readers see them, escaped, the best values in bold."""
    marks = table.marks()
    return [
        [best.format(escaped(cell)) if (number, place) in marks else escaped(cell) for place, cell in enumerate(row)]
        for number, row in enumerate(table.cells())
    ]


def markdown(table: Table) -> str:
    """Return a Markdown table under its title, notes as paragraphs below."""
    rule = ["---" if column.words else "--:" for column in table.columns]
    rows = [map(escape.markdown, table.headings), *_cells(table, escape.markdown, "**{}**")]
    lines = ["| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:])] if table.rows else []
    title = [f"### {escape.markdown(table.title)}"] if table.title else []
    paragraphs = [*title, *(["\n".join(lines)] if lines else []), *map(escape.markdown, table.notes)]
    return "\n\n".join(paragraphs) + "\n"


def latex(table: Table) -> str:
    """Return a LaTeX tabular (packages booktabs and amssymb); a title becomes a caption, notes become comments."""
    notes = "".join(f"% {escape.one_line(note)}\n" for note in table.notes)
    if not table.rows:
        return (f"% {escape.one_line(table.title)}\n" if table.title else "") + notes
    head = _latex_row(map(escape.latex, table.headings))
    body = [_latex_row(row) for row in _cells(table, escape.latex, "\\textbf{{{}}}")]
    sides = "".join("l" if column.words else "r" for column in table.columns)
    grid = f"\\toprule\n{head}\\midrule\n{''.join(body)}\\bottomrule\n"
    tabular = f"\\begin{{tabular}}{{{sides}}}\n{grid}\\end{{tabular}}\n"
    if not table.title:
        return tabular + notes
    return f"\\begin{{table}}\n\\caption{{{escape.latex(table.title)}}}\n{tabular}\\end{{table}}\n{notes}"


def _latex_row(cells: Iterable[str]) -> str:
    r"""Return a row; after the ``\\`` of the row before it, a bracket or a star would be an argument of that."""
    row = " & ".join(cells)
    return ("{}" if row[:1] in {"[", "*"} else "") + row + " \\\\\n"


def csv(table: Table) -> str:
    """Return comma-separated values with all digits; title and notes are comment lines before them."""
    import csv as writing  # noqa: PLC0415  other layouts need not wait for it
    import io  # noqa: PLC0415  as above

    out = io.StringIO()
    out.writelines(f"# {escape.one_line(line)}\n" for line in (table.title, *table.notes) if line)
    writer = writing.writer(out, lineterminator="\n")
    writer.writerow(column.heading for column in table.columns)
    writer.writerows(table.rows)
    return out.getvalue()


def html(table: Table) -> str:
    """Return the element ``table``, without title and notes: empty if there are no rows."""
    from html import escape as safe  # noqa: PLC0415  other layouts need not wait for it

    if not table.rows:
        return ""
    side = ["" if column.words else ' class="number"' for column in table.columns]
    heads = zip(side, table.headings, strict=True)
    head = "".join(f'<th scope="col"{s}>{safe(name)}</th>' if name else f"<td{s}></td>" for s, name in heads)
    lines = []
    for cells in _cells(table, lambda cell: f"<bdi>{safe(cell)}</bdi>", "<b>{}</b>"):
        first = [f'<th scope="row">{cell}</th>' for cell in cells[: table.keys]]
        rest = (f"<td{s}>{cell}</td>" for s, cell in zip(side[table.keys :], cells[table.keys :], strict=True))
        lines.append(f"<tr>{''.join([*first, *rest])}</tr>\n")
    shown = f"<thead><tr>{head}</tr></thead>\n" if any(table.headings) else ""
    return f"<table>\n{shown}<tbody>\n{''.join(lines)}</tbody>\n</table>"


def notebook(table: Table, signature: str = "") -> str:
    """Return a table as a notebook shows it: title above, notes and signature below."""
    from html import escape as safe  # noqa: PLC0415  other layouts need not wait for it

    title = f"<p>{safe(escape.visible(table.title))}</p>" if table.title else ""
    below = (*table.notes, signature) if signature else table.notes
    return title + html(table) + "".join(f"<div><small>{safe(escape.visible(line))}</small></div>" for line in below)


def trec(lines: Iterable[tuple[str, str, object]]) -> str:
    """Return trec_eval's layout: name, topic or ``all``, value; blanks in names are dropped."""
    return "".join(f"{name.replace(' ', ''):<22}\t{topic}\t{value}\n" for name, topic, value in lines)
