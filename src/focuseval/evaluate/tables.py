"""Scores as text: CSV, TREC-style lines, Markdown, LaTeX, HTML. Counts stand beside every mean."""

from __future__ import annotations

import csv
import io
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from focuseval.evaluate.counts import PRINTED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.evaluate.scores import Scores


def header(scores: Scores) -> list[str]:
    """Return the column names of a table of means."""
    return ["run", *scores.measures, *PRINTED]


def rows(scores: Scores, digits: int = 4) -> list[list[str]]:
    """Return one row per run: its means, then the counts; a mean over fewer topics says so."""
    return [
        [name, *_means(scores, number, digits), *(str(getattr(scores.counts[number], count)) for count in PRINTED)]
        for number, name in enumerate(scores.names)
    ]


def beside(scores: Scores, run: int) -> dict[str, int]:
    """Return the counts beside a run's means, also of the topics that only some measures leave out."""
    usual = scores.counts[run].excluded
    more = {f"excluded:{measure}": n for measure, n in scores.excluded(run).items() if n != usual}
    return {count: getattr(scores.counts[run], count) for count in PRINTED} | more


def _means(scores: Scores, run: int, digits: int) -> list[str]:
    """Print a run's means; a measure that leaves out more topics than the others is marked with their number."""
    excluded = scores.excluded(run)
    usual = scores.counts[run].excluded
    return [
        ("–" if np.isnan(mean) else f"{mean:.{digits}f}")
        + (f" (−{excluded[measure] - usual})" if excluded[measure] != usual else "")
        for measure, mean in zip(scores.measures, scores.mean[run], strict=True)
    ]


def lines(scores: Scores, *, per_topic: bool) -> Iterable[tuple[str, str, str, float]]:
    """Yield (run, topic, measure, value), topics first, then ``all``."""
    for number, name in enumerate(scores.names):
        if per_topic:
            for topic, values in scores.topics_of(number).items():
                yield from ((name, topic, measure, value) for measure, value in values.items())
        yield from (
            (name, "all", measure, float(mean))
            for measure, mean in zip(scores.measures, scores.mean[number], strict=True)
        )


def to_csv(scores: Scores, *, per_topic: bool = False) -> str:
    """Return comma-separated values: means with counts, or one line per topic and measure, counts among them.

    A measure that leaves out more topics than the others has a count of its own, ``excluded:BEPD``.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if per_topic:
        writer.writerow(["run", "topic", "measure", "value", "signature"])
        writer.writerows(
            (run, topic, measure, repr(value), scores.signature)
            for run, topic, measure, value in lines(scores, per_topic=True)
        )
        for number, name in enumerate(scores.names):
            counts = beside(scores, number).items()
            writer.writerows((name, "all", count, value, scores.signature) for count, value in counts)
        return out.getvalue()
    found = [beside(scores, number) for number in range(len(scores.names))]
    columns = dict.fromkeys((*PRINTED, *(count for counts in found for count in counts)))
    writer.writerow(["run", *scores.measures, *columns, "signature"])
    for number, name in enumerate(scores.names):
        counted = (found[number].get(count, scores.counts[number].excluded) for count in columns)
        writer.writerow([name, *(repr(float(mean)) for mean in scores.mean[number]), *counted, scores.signature])
    return out.getvalue()


def to_trec(scores: Scores, *, per_topic: bool = False) -> str:
    """Return trec_eval's layout: measure, topic or ``all``, value; blanks in names are dropped."""
    out = [f"# {scores.signature}"]
    current = None
    for run, topic, measure, value in lines(scores, per_topic=per_topic):
        if run != current:
            counts = beside(scores, scores.names.index(run)).items()
            out += [f"{'runid':<22}\tall\t{run}"] + [f"{c.replace(' ', ''):<22}\tall\t{n}" for c, n in counts]
            current = run
        out.append(f"{measure.replace(' ', ''):<22}\t{topic}\t{value:.4f}")
    return "\n".join(out) + "\n"


def to_markdown(scores: Scores, *, per_topic: bool = False) -> str:
    """Return a Markdown table and the signature below it."""
    head, body = _grid(scores, per_topic=per_topic)
    numbers = ["---" if name in {"run", "topic"} else "--:" for name in head]
    table = [head, numbers, *body]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table)
        + f"\n\n`{scores.signature}`\n"
    )


def to_latex(scores: Scores, *, per_topic: bool = False) -> str:
    """Return a LaTeX tabular with the signature as a comment."""
    head, body = _grid(scores, per_topic=per_topic)
    words = sum(name in {"run", "topic"} for name in head)
    line = " \\\\\n"
    return (
        f"% {scores.signature}\n\\begin{{tabular}}{{{'l' * words}{'r' * (len(head) - words)}}}\n\\hline\n"
        + " & ".join(_tex(cell) for cell in head)
        + f"{line}\\hline\n"
        + "".join(" & ".join(_tex(cell) for cell in row) + line for row in body)
        + "\\hline\n\\end{tabular}\n"
    )


_TEX = {
    "–": "--",
    "−": "$-$",
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def _tex(text: str) -> str:
    r"""Escape what LaTeX reads as its own.

    >>> print(_tex("run_1 & 50%"))
    run\_1 \& 50\%
    """
    return "".join(f"\\{c}" if c in "&%$#_{}" else _TEX.get(c, c) for c in text)


def html(scores: Scores) -> str:
    """Return an HTML table of the means, for a notebook."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header(scores))
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows(scores))
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><small>{escape(scores.signature)}</small>"
    )


def sideways(head: list[str], body: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Turn a table over: one row per measure or count, one column per run.

    >>> sideways(["run", "AP", "RR"], [["a", "0.5", "1"]])
    (['measure', 'a'], [['AP', '0.5'], ['RR', '1']])
    """
    columns = [list(column) for column in zip(head, *body, strict=True)]
    return ["measure", *columns[0][1:]], columns[1:]


def _grid(scores: Scores, *, per_topic: bool) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table: one row per run, or one per run and topic and then the means."""
    if not per_topic:
        return header(scores), rows(scores)
    means = rows(scores)
    body = []
    for number, name in enumerate(scores.names):
        body += [
            [name, topic, *(f"{values[m]:.4f}" if m in values else "–" for m in scores.measures), *[""] * len(PRINTED)]
            for topic, values in scores.topics_of(number).items()
        ]
        body.append([name, "all", *means[number][1:]])
    return ["run", "topic", *header(scores)[1:]], body


def grid(scores: Scores, *, per_topic: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table that a terminal shows."""
    return _grid(scores, per_topic=per_topic)
