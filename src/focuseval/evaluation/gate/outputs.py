"""A gate's verdicts for people and for CI: text, Markdown, JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from focuseval.data.tables import Table, numbers, render, words
from focuseval.inference.tables import shown_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.evaluation.gate.verdict import GateVerdict


def as_text(verdicts: Sequence[GateVerdict]) -> str:
    """Return a line per measure, and below it the topics that lost most."""
    lines = []
    for verdict in verdicts:
        lines.append(str(verdict))
        lines += [f"  {topic}: {before:.4f} → {after:.4f}" for topic, before, after in verdict.lost]
    return "\n".join(lines) + "\n"


def as_json(verdicts: Sequence[GateVerdict]) -> dict[str, Any]:
    """Return the verdicts as plain values, with the rule behind them."""
    return {
        "verdict": "regression" if any(v.regression for v in verdicts) else "pass",
        "rule": vars(verdicts[0].rule),
        "measures": [
            {
                "measure": v.measure,
                "verdict": v.word,
                "decided_by": "test" if v.few is None else "size",
                "before": v.before,
                "after": v.after,
                "difference": v.difference,
                "interval": [v.low, v.high],
                "p": v.p,
                "p_corrected": v.corrected,
                "topics": v.topics,
                "topics_differing": v.differing,
                "lost": [{"topic": topic, "before": before, "after": after} for topic, before, after in v.lost],
                "sentence": str(v),
            }
            for v in verdicts
        ],
    }


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
            shown_p(v.p, v.rule),
            "REGRESSION" if v.regression else v.word,
        )
        for v in verdicts
    )
    values = (*numbers("baseline", "now"), *numbers("difference", "95 % interval", "p", form="+.4f"))
    columns = (*words("measure"), *values, *words("verdict"))
    notes = tuple(str(v) for v in verdicts if v.few is not None)
    tables = [Table(f"focuseval gate: {'regression' if worse else 'no regression'}", columns, rows, notes)]
    columns = (*words("topic"), *numbers("baseline", "now"))
    tables += [Table(f"Topics that lost most under {v.measure}", columns, v.lost) for v in verdicts if v.lost]
    return render(tables, "markdown")


def no_verdict_markdown(reason: str) -> str:
    """Return what a job summary says when nothing could be compared."""
    return render([Table("focuseval gate: no verdict", notes=(reason,))], "markdown")


def as_junit(verdicts: Sequence[GateVerdict]) -> str:
    """Return JUnit XML: one test case per measure, failed where it regressed."""
    failures, errors = (sum(v.word == word for v in verdicts) for word in ("regression", "no verdict"))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="focuseval" tests="{len(verdicts)}" failures="{failures}" errors="{errors}">',
    ]
    for verdict in verdicts:
        lines.append(f'  <testcase classname="focuseval.gate" name={quoteattr(verdict.measure)}>')
        if verdict.word != "pass":
            kind = "failure" if verdict.regression else "error"
            lines.append(f"    <{kind} message={quoteattr(str(verdict))}>{escape(as_text([verdict]))}</{kind}>")
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
