"""A gate's verdicts for people and for CI: text, Markdown, JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from focuseval.tables import Table, numbers, render, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.gate.verdict import GateVerdict


def as_text(verdicts: Sequence[GateVerdict]) -> str:
    """Return a line per measure, and below it the topics that lost most."""
    lines = []
    for verdict in verdicts:
        lines.append(str(verdict))
        lines += [f"  {topic}: {before:.4f} → {after:.4f}" for topic, before, after in verdict.lost]
    return "\n".join(lines) + "\n"


def as_markdown(verdicts: Sequence[GateVerdict]) -> str:
    """Return a table of verdicts and one of the topics that lost most, for a pull request or a job summary."""
    worse = any(v.regression for v in verdicts)
    rows = tuple(
        (
            v.measure,
            v.before,
            v.after,
            v.difference,
            f"[{v.low:+.4f}, {v.high:+.4f}]",
            v.shown_p,
            "REGRESSION" if v.regression else "pass",
        )
        for v in verdicts
    )
    values = (*numbers("baseline", "now"), *numbers("difference", "95 % interval", "p", form="+.4f"))
    columns = (*words("measure"), *values, *words("verdict"))
    tables = [Table(f"focuseval gate: {'regression' if worse else 'no regression'}", columns, rows)]
    columns = (*words("topic"), *numbers("baseline", "now"))
    tables += [Table(f"Topics that lost most under {v.measure}", columns, v.lost) for v in verdicts if v.lost]
    return render(tables, "markdown")


def no_verdict_markdown(reason: str) -> str:
    """Return what a job summary says when nothing could be compared."""
    return render([Table("focuseval gate: no verdict", notes=(reason,))], "markdown")


def as_junit(verdicts: Sequence[GateVerdict]) -> str:
    """Return JUnit XML: one test case per measure, failed where it regressed."""
    failures = sum(v.regression for v in verdicts)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="focuseval" tests="{len(verdicts)}" failures="{failures}" errors="0">',
    ]
    for verdict in verdicts:
        lines.append(f'  <testcase classname="focuseval.gate" name={quoteattr(verdict.measure)}>')
        if verdict.regression:
            lines.append(f"    <failure message={quoteattr(str(verdict))}>{escape(as_text([verdict]))}</failure>")
        else:
            lines.append(f"    <system-out>{escape(str(verdict))}</system-out>")
        lines.append("  </testcase>")
    return "\n".join([*lines, "</testsuite>"]) + "\n"


def no_verdict_junit(reason: str, measures: Sequence[str]) -> str:
    """Return JUnit XML in which no measure could be judged: errors, which are not failures."""
    cases = [
        f'  <testcase classname="focuseval.gate" name={quoteattr(measure)}>\n'
        f"    <error message={quoteattr(reason)}>{escape(reason)}</error>\n  </testcase>"
        for measure in measures
    ]
    head = f'<testsuite name="focuseval" tests="{len(cases)}" failures="0" errors="{len(cases)}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"]) + "\n"
