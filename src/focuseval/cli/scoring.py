"""From the options of ``focuseval score`` to scores, and from scores to what is printed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from focuseval.cli.options import cluster_workers
from focuseval.engine.storage import is_url, local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.evaluation.scores import Scores


def score_files(
    gold: str, runs: tuple[str, ...], options: dict[str, Any], also: Callable[[Evaluation], Evaluation] | None = None
) -> Scores:
    """Read what the options name and evaluate it; remarks go to the standard error.

    `also` may change what is planned, before anything is scored; options that a command does not have are not set.
    """
    from focuseval.formats.run_blocks import ahead  # noqa: PLC0415  help must not wait for it

    here = options.get("cluster") is None
    sources = ahead(runs, options["run_format"]) if here else list(runs)  # before all that takes a while to load
    from focuseval.cli.judged import read_judged  # noqa: PLC0415  help must not wait for it
    from focuseval.cli.repairing import write_repairs_of  # noqa: PLC0415  as above
    from focuseval.evaluation.planning import plan_evaluation  # noqa: PLC0415  as above

    judged, index = read_judged(gold, options)
    asked = ("task", "profile", "repair", "run_format", "compat", "missing", "cutoff", "cas", "drop_tags", "tokenizer")
    with cluster_workers(options.get("cluster")) as workers, _watched(runs) as progress:
        planned = plan_evaluation(
            judged,
            sources,
            options["measures"] or None,
            index=index,
            topics=_topics(options["topics"]),
            chunks=_chunks(options.get("chunks"), index, options.get("tokenizer")),
            jobs=options.get("jobs") or default_jobs(runs),
            workers=workers,
            progress=progress,
            **{name: options.get(name) for name in asked},
        )
        scores = (also(planned) if also else planned).scores
    for remark in scores.remarks():
        click.echo(remark, err=True)
    write_repairs_of(scores, options)
    return scores


SMALL = 1 << 26
"""Bytes of runs up to which starting other processes does not pay, and nobody wonders whether anything happens."""


def default_jobs(runs: tuple[str, ...]) -> int:
    """Return how many processes score runs where nobody says: one for every core where there is much to do."""
    if len(runs) < 2 or (_size(runs) < SMALL and not any(map(is_url, runs))):
        return 1
    from focuseval.engine.workers import cores  # noqa: PLC0415  only large campaigns need it

    return cores()


@contextmanager
def _watched(runs: tuple[str, ...]) -> Iterator[Callable[[float], None] | None]:
    """Give a function that moves a bar by the share that is done; None for small runs, and where nobody looks."""
    size = _size(runs)
    if size < SMALL:
        yield None
        return
    from focuseval.cli.watching import watched  # noqa: PLC0415  only large runs need it

    with watched("scoring", in_bytes=True) as move:
        yield None if move is None else lambda share: move(share * size, size)


def _size(runs: tuple[str, ...]) -> int:
    """Return the bytes of all runs; those of object storage are not asked for."""
    paths = (local_path(run) for run in runs if not is_url(run))
    return sum(path.stat().st_size for path in paths if path.is_file())


def _topics(path: str | None) -> Any:
    if path is None:
        return None
    from focuseval.formats.questions import read_questions  # noqa: PLC0415  only strict structure needs topics

    return read_questions(path)


def _chunks(how: str | None, index: Any, tokenizer: str | None) -> Any:
    """Return the chunks of a file, or documents cut as they were."""
    if how is None:
        return None
    from focuseval.formats.chunks import chunk, read_chunks  # noqa: PLC0415  only ceilings need chunks

    return read_chunks(how) if index is None else chunk(index, how, tokenizer=tokenizer)


def write_scores(scores: Scores, options: dict[str, Any]) -> None:
    """Print scores in the layout asked for, or write them to a file."""
    from focuseval.cli.printing import json_text, tables_text, write_text  # noqa: PLC0415  help must not wait for it
    from focuseval.evaluation import scores as tables  # noqa: PLC0415  as above

    layout, per_topic, by_tag = options["layout"], options["per_topic"], options["by_tag"]
    if by_tag and per_topic and layout != "json":
        raise click.UsageError("--per-topic and --by-tag go together in JSON only; give one of them")
    merged = _merged(scores)
    if layout == "json":
        told = scores.to_json(per_topic=per_topic, by_tag=by_tag)
        text = json_text(told | ({"judged": merged} if merged else {}))
    elif layout == "trec":
        text = tables.to_trec(scores, per_topic=per_topic, by_tag=by_tag)
    elif layout == "csv":
        text = tables_text([tables.table_for_programs(scores, per_topic=per_topic, by_tag=by_tag)], options)
    else:
        table = tables.tag_table(scores) if by_tag else scores.table(per_topic=per_topic)
        text = tables_text([replace(table, notes=(*table.notes, *_notes(merged)))], options, scores.signature)
    write_text(text, options["output"])


def _merged(scores: Scores) -> dict[str, int]:
    """Return how the judgements of a merged project came about; {} for another gold."""
    gold = scores.evaluation.prepared.gold if scores.evaluation is not None else None
    if gold is None or not any("merged" in said for said in gold.attributes.values()):
        return {}
    from focuseval.assessment.merge import merged_counts  # noqa: PLC0415  only a project needs it

    return merged_counts(gold)


def _notes(merged: dict[str, int]) -> tuple[str, ...]:
    if not merged:
        return ()
    from focuseval.assessment.merge import counts_text  # noqa: PLC0415  only a project needs it

    return (counts_text(merged),)


def write_curves(scores: Scores, path: str) -> None:
    """Write the curves of all measures that summarise one."""
    from focuseval.evaluation.curves import curves_csv  # noqa: PLC0415  only asked for by name
    from focuseval.formats.output import write_whole  # noqa: PLC0415  as above

    write_whole(path, [curves_csv(scores)])
