"""``focuseval pool``: which documents to judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from focuseval.assessment.pool import PoolStatistics, build_pool, describe_pool, project_pool, read_pool, write_pool
from focuseval.assessment.project import open_judgements
from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, progress_bar, say_written, write_results
from focuseval.data.tables import Table, numbers, words
from focuseval.errors import FormatError, counted
from focuseval.formats.embedded import read_questions
from focuseval.formats.files import read_run
from focuseval.measures.matching import by_topic_id

ORDERS = ("runs", "shuffled")
MATRIX = 12  # up to so many runs every pair's overlap is printed, beyond them the smallest and the largest


@click.command(cls=Command, opens=READS, phases=("reading runs",))
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, metavar="POOL", help="Where to write the pool.")
@click.option("--depth", type=click.IntRange(1), help="Every document down to this rank.  [default: 100]")
@click.option("--size", type=click.IntRange(1), help="Rank by rank, until a topic has this many documents.")
@click.option("--order", type=click.Choice(ORDERS), default=ORDERS[0], help="Those of more runs first, or random.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed of --order shuffled.")
@click.option("--top-up", metavar="POOL", help="Add to this pool (a file or a project); what is in it keeps its place.")
@click.option("--topics", metavar="FILE", help="Pool these topics alone, by their ids or their questions.")
@shared.run_format_option
@click.option("--lower-is-better", "ranking", flag_value="lower", help=shared.LOWER)
@shared.layout_option("table", "json", what="How what each run brought is printed.")
@shared.collection_options
def pool(runs: tuple[str, ...], output: str, **options: Any) -> None:
    r"""Pool RUNs: the documents that assessors are to judge, those that more runs returned first.

    \b
    Examples:
      focuseval pool run1.xml run2.xml -o pool.jsonl
      focuseval pool run*.txt --size 500 --order shuffled -o pool.jsonl
      focuseval pool new.txt --depth 50 --top-up pool.jsonl -o pool-2.jsonl
      focuseval pool traces/ bm25.jsonl --topics topics.jsonl --docs articles/ -o pool.jsonl
      focuseval pool run1.xml run2.jsonl --index wiki.idx -o pool.jsonl     ids as the collection has them
    """
    depth, size = options["depth"], options["size"]
    if depth is not None and size is not None:
        raise click.UsageError("--depth and --size are two ways to pool; give one of them")
    collection = shared.open_collection(options)
    how = {"format": options["run_format"], "index": collection, "order": options["ranking"]}
    with progress_bar() as move:
        read = [read_run(path, **how) for path in move.through(runs, "reading runs")]
    if options["topics"]:
        asked = {topic.id: topic.title for topic in read_questions(options["topics"])}
        read = [by_topic_id(run, asked, asked) for run in read]
        read = [run.take(np.flatnonzero(np.isin(run.topics, list(asked))[run.topic])) for run in read]
    base = None
    if options["top_up"] and shared.is_project(options["top_up"]):
        with open_judgements(Path(options["top_up"])) as store:
            base = project_pool(store)
    elif options["top_up"]:
        base = read_pool(options["top_up"])
    if not any(map(len, read)):
        raise FormatError("expected results to pool, found none for any topic", at=runs[0], remedy="check the runs")
    depth = 100 if depth is None and size is None else depth
    pooled = build_pool(read, depth=depth, size=size, order=options["order"], seed=options["seed"], base=base)
    write_pool(pooled, output)
    documents, topics = len(pooled.entries), len({entry.topic for entry in pooled.entries})
    say_written(output, f"{counted(documents, 'document')} to judge for {counted(topics, 'topic')}")
    figures = describe_pool(pooled)
    values: dict[str, object] = {"topics": figures.topics, "documents": figures.documents}
    values["per_topic"] = dict(zip(("least", "mean", "most"), figures.per_topic, strict=True))
    brought = zip(figures.runs, figures.brought, figures.alone, strict=True)
    values["runs"] = [{"run": run, "documents": documents, "alone": alone} for run, documents, alone in brought]
    values["overlap"] = figures.overlap.tolist()  # in the order of the runs
    write_results({"layout": options["layout"]}, lambda: values, lambda: [_table(figures)])


def _table(figures: PoolStatistics) -> Table:
    """Return what every run brought, what it brought alone, and its overlap with the others."""
    fewest, mean, most = figures.per_topic
    spread = f"{fewest} each" if fewest == most else f"{fewest}–{most}, on average {mean:.1f}"
    title = f"{counted(figures.documents, 'document')} for {counted(figures.topics, 'topic')}: {spread}"
    named = [str(number) for number in range(1, len(figures.runs) + 1)]
    small = len(named) <= MATRIX
    rows = []
    for row, run in enumerate(figures.runs):
        overlap = [float(share) if other != row else None for other, share in enumerate(figures.overlap[row])]
        others = [share for share in overlap if share is not None]
        shares = overlap if small else [f"{min(others):.2f} … {max(others):.2f}"]
        rows.append((named[row], run, int(figures.brought[row]), int(figures.alone[row]), *shares))
    what = "Columns with numbers" if small else "overlap"
    note = f"{what}: documents that both runs brought, as a share of those that either did."
    overlaps = numbers(*(named if small else ["overlap"]), form=".2f")
    columns = (*words("", "run"), *numbers("documents", "alone"), *overlaps)
    return Table(title, columns, tuple(rows), (note,) if len(rows) > 1 else ())
