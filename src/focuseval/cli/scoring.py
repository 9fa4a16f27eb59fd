"""From the options of ``focuseval score`` to scores, and from scores to what is printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from focuseval.evaluate import Scores


def score_files(gold: str, runs: tuple[str, ...], options: dict[str, Any]) -> Scores:
    """Read what the options name and evaluate it; remarks go to the standard error."""
    from focuseval.cli.options import open_collection  # noqa: PLC0415  help must not wait for it
    from focuseval.evaluate import evaluate  # noqa: PLC0415  as above
    from focuseval.formats import read_gold  # noqa: PLC0415  as above

    index = open_collection(options)
    judged = read_gold(gold, format=options["gold_format"], index=index)
    scores = evaluate(
        judged,
        list(runs),
        options["measures"] or None,
        task=options["task"],
        profile=options["profile"],
        index=index,
        topics=_topics(options["topics"]),
        chunks=_chunks(options["chunks"], index),
        jobs=options["jobs"],
        repair=options["repair"],
        run_format=options["run_format"],
        **{name: options[name] for name in ("compat", "missing", "cutoff", "cas")},
    )
    for remark in scores.remarks():
        click.echo(remark, err=True)
    return scores


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


def write_scores(scores: Scores, layout: str, output: str | None, *, per_topic: bool) -> None:
    """Print scores, or write them to a file that appears whole or not at all."""
    text = render(scores, layout, per_topic=per_topic, width=None if output is None else 10_000)
    if output is None:
        click.echo(text, nl=False)
        return
    from focuseval.formats.output import write_whole  # noqa: PLC0415  only files need it

    write_whole(output, [text.encode()])


def render(scores: Scores, layout: str, *, per_topic: bool, width: int | None = None) -> str:
    """Return scores as text in one of the layouts."""
    from focuseval.evaluate import tables  # noqa: PLC0415  help must not wait for it

    if layout == "json":
        return json.dumps(scores.to_json(per_topic=per_topic), ensure_ascii=False, indent=1) + "\n"
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


def write_curves(scores: Scores, path: str) -> None:
    """Write the curves of all measures that summarise one."""
    from focuseval.evaluate.curves import curves_csv  # noqa: PLC0415  only asked for by name
    from focuseval.formats.output import write_whole  # noqa: PLC0415  as above

    write_whole(path, [curves_csv(scores)])
