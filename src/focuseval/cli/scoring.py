"""From the options of ``focuseval score`` to scores, and from scores to what is printed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from focuseval.evaluate import Scores


def score_files(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> Scores:
    """Read what the options name and evaluate it; remarks go to the standard error."""
    from focuseval.formats.run_blocks import ahead  # noqa: PLC0415  help must not wait for it

    sources = ahead(runs, options["run_format"])  # before all that takes a while to load
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.repairing import write_repairs_of  # noqa: PLC0415  as above
    from focuseval.cli.watching import watched  # noqa: PLC0415  as above
    from focuseval.evaluate import evaluate  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    asked = ("task", "profile", "repair", "run_format", "compat", "missing", "cutoff", "cas")
    with watched(runs) as progress:
        scores = evaluate(
            judged,
            sources,
            options["measures"] or None,
            index=index,
            topics=_topics(options["topics"]),
            chunks=_chunks(options["chunks"], index),
            jobs=options["jobs"] or default_jobs(runs),
            progress=progress,
            **{name: options[name] for name in asked},
        )
    for remark in scores.remarks():
        click.echo(remark, err=True)
    write_repairs_of(gold, runs, index, options)
    return scores


HUGE = 1 << 28
"""Bytes of a run from which on one at a time is enough: two would need twice the memory."""


def default_jobs(runs: tuple[str, ...]) -> int:
    """Return how many runs to score at once where nobody says: as many as there are processors for this program."""
    files = [path for run in runs if (path := Path(run)).is_file()]
    if any(path.stat().st_size >= HUGE for path in files):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _topics(path: str | None) -> Any:
    if path is None:
        return None
    from focuseval.topics import read_topics  # noqa: PLC0415  only strict structure needs topics

    return read_topics(path)


def _chunks(path: str | None, index: Any) -> Any:
    if path is None:
        return None
    from focuseval.evaluate.chunking import read_chunks  # noqa: PLC0415  only ceilings need chunks

    return read_chunks(path, index)


def write_scores(scores: Scores, options: dict[str, Any]) -> None:
    """Print scores, or write them to a file that appears whole or not at all."""
    output, chosen = options["output"], {"per_topic": options["per_topic"], "by_tag": options["by_tag"]}
    text = render(scores, options["layout"], **chosen, width=None if output is None else 10_000)
    if output is None:
        click.echo(text, nl=False)
        return
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    write_whole(output, [text.encode()])


def render(scores: Scores, layout: str, *, per_topic: bool, by_tag: bool = False, width: int | None = None) -> str:
    """Return scores as text in one of the layouts."""
    from focuseval.evaluate import tables  # noqa: PLC0415  help must not wait for it

    if layout == "json":
        return json.dumps(scores.to_json(per_topic=per_topic, by_tag=by_tag), ensure_ascii=False, indent=1) + "\n"
    if by_tag and per_topic:
        raise click.UsageError("--per-topic and --by-tag go together in JSON only; give one of them")
    if by_tag:
        return tagged(scores, layout)
    if layout == "table":
        return terminal(scores, per_topic=per_topic, width=width)
    write = {"csv": tables.to_csv, "trec": tables.to_trec, "markdown": tables.to_markdown, "latex": tables.to_latex}
    return write[layout](scores, per_topic=per_topic)


def terminal(scores: Scores, *, per_topic: bool, width: int | None) -> str:
    """Return a table for the terminal: measures as columns, or as rows where they would not fit."""
    from focuseval.evaluate.tables import grid, sideways  # noqa: PLC0415  help must not wait for it
    from focuseval.evaluate.terminal import draw  # noqa: PLC0415  as above

    head, body = grid(scores, per_topic=per_topic)
    if not per_topic and width is None and len(head) > 12:
        head, body = sideways(head, body)
    return draw(head, body) + scores.signature + "\n"


def tagged(scores: Scores, layout: str) -> str:
    """Return the means of every tag as text in one of the layouts."""
    from focuseval.compare.grid import Grid  # noqa: PLC0415  help must not wait for it
    from focuseval.evaluate import tables  # noqa: PLC0415  as above
    from focuseval.evaluate.tagged import tag_grid  # noqa: PLC0415  as above

    if layout == "trec":
        parts = {f"tag:{tag}": part for tag, part in scores.by_tag().items()}
        return "".join(tables.to_trec(part).replace("\tall\t", f"\t{tag}\t") for tag, part in parts.items())
    head, body = tag_grid(scores)
    grid = Grid("", tuple(head), tuple(map(tuple, body)), (scores.signature,))
    return grid.render(layout)


def write_curves(scores: Scores, path: str) -> None:
    """Write the curves of all measures that summarise one."""
    from focuseval.evaluate.curves import curves_csv  # noqa: PLC0415  only asked for by name
    from focuseval.formats.output import write_whole  # noqa: PLC0415  as above

    write_whole(path, [curves_csv(scores)])
