"""``focuseval stats``: what the papers' tables say of a collection, judgements, a run, topics."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

import click

from focuseval.cli import options as shared
from focuseval.cli.output import READS, Command, echo_lines, progress_bar
from focuseval.collection.index import describe
from focuseval.collection.store import is_index, open_index
from focuseval.data.tables import Table, numbers, render, words
from focuseval.data.topics.reader import read_topic_bytes, read_topics
from focuseval.data.topics.topic import topic_format
from focuseval.engine.storage import in_order, location
from focuseval.evaluation import statistics
from focuseval.formats.catalogue import detect
from focuseval.formats.content import open_source
from focuseval.formats.files import read_gold, read_run

SHARES = frozenset(("overlapping", "fully_highlighted_links", "entry_points_at_first_relevant"))
"""Figures that are shares, printed as percent."""

HEAD = ("file", "kind", "over", "description")  # what the title, the columns and the note say

MOST = 20  # tags, depths and targets shown on a terminal; JSON has all

ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")
TOPIC = re.compile(rb"<(?:inex[-_]?topic|topic)\b", re.IGNORECASE)
NOT_TOPICS = frozenset((b"inex-submission", b"assessments"))


@click.command(cls=Command, opens=READS, phases=("reading",))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@shared.collection_options
@shared.whose_options()
@shared.unknown_option
@shared.layout_option("table", "json", what="How the figures are printed; JSON has one object for a file.")
def stats(files: tuple[str, ...], layout: str, **options: Any) -> None:
    r"""Describe an index, a gold, a run or topics.

    The format of each FILE is detected from its content; - is standard input.

    An assessment project counts as gold.

    \b
    Examples:
      focuseval stats wiki.idx
      focuseval stats assessments/ run.xml topics.xml --index wiki.idx
      focuseval stats judging/ --adjudicated
      focuseval stats run.xml --json | jq .overlapping
    """
    if not any(map(shared.is_project, files)):
        shared.refuse_assessor(files[0], options)
    index = shared.open_collection(options)
    for file in files:
        with progress_bar():
            figures = _describe(file, index, options)
        click.echo(json.dumps(figures, ensure_ascii=False) if layout == "json" else render(_tables(figures)))


def _describe(path: str, index: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return what a file or folder is (``index``, ``gold``, ``run`` or ``topics``) and its figures."""
    if is_index(path):
        return {"file": path, "kind": "index", **asdict(describe(open_index(path)))}
    figures: dict[str, Any]
    if shared.is_project(path) or shared.is_archive(path):
        judged, own = shared.read_judged(path, options)
        path, kind, figures = judged.file, "gold", statistics.describe_gold(judged, own)
    else:
        source: Any = path if location(path).is_dir() else open_source(path)  # standard input is there only once
        if are_topics(source):
            folder = isinstance(source, str)
            topics = read_topics(source) if folder else read_topic_bytes(bytes(source.data), source.name)
            kind, figures = "topics", statistics.describe_topics(topics)
        elif (known := detect(source)).kind == "run":
            run = read_run(source, index=index if known.located else None)  # others are described as they stand
            kind, figures = "run", statistics.describe_run(run, index)
            echo_lines(f"{run.file}: {remark}" for remark in run.remarks)
        else:
            gold = read_gold(source, index=index)
            if not options["allow_unknown"]:
                shared.refuse_unknown(gold)
            kind, figures = "gold", statistics.describe_gold(gold, index)
            echo_lines(f"{path}: {remark}" for remark in gold.remarks)
    over = {name: statistics.OVER[name] for name in figures if name in statistics.OVER}
    return {"file": path, "kind": kind, **figures, "over": over}


def are_topics(source: Any) -> bool:
    """Say whether the first bytes of an open file, or of a folder's first file, hold topics."""
    files = in_order(location(source).rglob("*.[xX][mM][lL]")) if isinstance(source, str) else [source]
    if not files:
        return False
    head = open_source(files[0]).head()
    if topic_format(head.decode("utf-8", "replace")) in {"trec", "indri"}:  # lines and objects may be anything
        return True
    root = ROOT.search(head)
    return root is not None and root[1] not in NOT_TOPICS and TOPIC.search(head) is not None


def _tables(figures: dict[str, Any]) -> list[Table]:
    """Return figures as one table, and one for every list of counts among them."""
    over, title = figures.get("over", {}), f"{figures['file']} ({figures['kind']})"
    note = figures.get("description")
    lists = {name: value for name, value in figures.items() if isinstance(value, tuple) and value}
    rows = []
    for name, value in figures.items():
        if isinstance(value, tuple) or name in HEAD or (name == "task" and not value):
            continue
        whole = over.get(name)
        unit = "" if whole is None or figures[whole] is None else f"{figures[whole]:,} {whole.replace('_', ' ')}"
        unit = re.sub(r"s\b", "", unit, count=1) if unit.startswith("1 ") else unit
        shown = f"{100 * value:.1f} %" if name in SHARES and value is not None else value
        rows.append((name.replace("_", " "), shown, unit)[: 3 if over else 2])
    columns = (*words(""), *numbers("value", form=",.2f"), *words(*["over"] if over else []))
    tables = [Table(title, columns, tuple(rows), (note,) if note else ())]
    for name, counts in lists.items():
        total = sum(count for _, count in counts)
        more = f" ({MOST} of {len(counts)}; --json has all)" if len(counts) > MOST else ""
        lines = tuple((f"{value}", count, f"{100 * count / total:.1f} %") for value, count in counts[:MOST])
        tables.append(Table(name.replace("_", " ") + more, (*words(""), *numbers("count", "share")), lines))
    return tables
