"""``focuseval stats``: tell what a file is, describe it, and show the description."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from focuseval.cli.judged import is_archive, is_project, read_judged, refuse_unknown
from focuseval.data.tables import Table, numbers, words
from focuseval.engine.storage import in_order, location

_SHARES = frozenset(("overlapping", "fully_highlighted_links", "entry_points_at_first_relevant"))
_MOST = 20
"""Tags, depths and targets shown on a terminal; JSON has all."""

_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")
_TOPIC = re.compile(rb"<(?:inex[-_]?topic|topic)\b", re.IGNORECASE)
_NOT_TOPICS = frozenset((b"inex-submission", b"assessments"))


def describe_file(path: str, index: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return what a file or folder is (``index``, ``gold``, ``run`` or ``topics``) and its figures."""
    from focuseval.collection.index import describe  # noqa: PLC0415  as above
    from focuseval.collection.store import is_index, open_index  # noqa: PLC0415  as above
    from focuseval.evaluation import statistics  # noqa: PLC0415  help must not wait for it
    from focuseval.formats import detect, open_source, read_gold, read_run  # noqa: PLC0415  as above

    if is_index(path):
        return {"file": path, "kind": "index", **asdict(describe(open_index(path)))}
    if is_project(path) or is_archive(path):
        judged, own = read_judged(path, options)
        return _told(judged.file, "gold", statistics.describe_gold(judged, own))
    source: Any = path if location(path).is_dir() else open_source(path)  # standard input is there only once
    found: Any
    if are_topics(source):
        kind, found = "topics", statistics.describe_topics(_topics(source))
    elif (known := detect(source)).kind == "run":
        run = read_run(source, index=index if known.located else None)  # others are described as they stand
        kind, found = "run", statistics.describe_run(run, index)
    else:
        gold = read_gold(source, index=index)
        if not options["allow_unknown"]:
            refuse_unknown(gold)
        kind, found = "gold", statistics.describe_gold(gold, index)
    return _told(path, kind, found)


def _told(path: str, kind: str, found: Any) -> dict[str, Any]:
    """Return the figures of a file, and which of them others are over."""
    from focuseval.evaluation.statistics import OVER  # noqa: PLC0415  help must not wait for it

    figures = asdict(found)
    return {"file": path, "kind": kind, **figures, "over": {name: OVER[name] for name in figures if name in OVER}}


def _topics(source: Any) -> Any:
    """Return the topics of a folder, or of a file that is open."""
    from focuseval.data.topics import read_topic_bytes, read_topics  # noqa: PLC0415  help must not wait for it

    return read_topics(source) if isinstance(source, str) else read_topic_bytes(bytes(source.data), source.name)


def are_topics(source: Any) -> bool:
    """Say whether the first bytes of an open file, or of a folder's first file, hold topics."""
    from focuseval.data.topics.topic import topic_format  # noqa: PLC0415  as above
    from focuseval.formats import open_source  # noqa: PLC0415  help must not wait for it

    files = in_order(location(source).rglob("*.[xX][mM][lL]")) if isinstance(source, str) else [source]
    if not files:
        return False
    head = open_source(files[0]).head()
    if topic_format(head.decode("utf-8", "replace")) in {"trec", "indri"}:  # lines and objects may be anything
        return True
    root = _ROOT.search(head)
    return root is not None and root[1] not in _NOT_TOPICS and _TOPIC.search(head) is not None


def statistics_tables(figures: dict[str, Any]) -> list[Table]:
    """Return figures as one table, and one for every list of counts among them."""
    plain = {name: value for name, value in figures.items() if not isinstance(value, tuple) and name not in _TITLE}
    said = plain.pop("description", None)
    single = [(name, value) for name, value in plain.items() if name != "task" or value]
    over = figures.get("over", {})
    rows = [(name.replace("_", " "), _figure(name, value), _over(over.get(name), figures)) for name, value in single]
    title = f"{figures['file']} ({figures['kind']})"
    lists = [(name, value) for name, value in figures.items() if isinstance(value, tuple) and value]
    columns = (*words(""), *numbers("value", form=",.2f"), *words("over"))
    shown = len(columns) if over else len(columns) - 1
    whole = Table(title, columns[:shown], tuple(row[:shown] for row in rows), (said,) if said else ())
    return [whole, *(_counts(*named) for named in lists)]


_TITLE = frozenset(("file", "kind", "over"))


def _over(name: str | None, figures: dict[str, Any]) -> str:
    """Return what a figure is a mean, a share or a sum over."""
    return "" if name is None or figures[name] is None else f"{figures[name]:,} {name.replace('_', ' ')}"


def _figure(name: str, value: Any) -> Any:
    return f"{100 * value:.1f} %" if name in _SHARES and value is not None else value


def _counts(name: str, counts: tuple[tuple[Any, int], ...]) -> Table:
    total = sum(count for _, count in counts)
    rows = tuple((f"{value}", count, f"{100 * count / total:.1f} %") for value, count in counts[:_MOST])
    more = f" ({_MOST} of {len(counts)}; --json has all)" if len(counts) > _MOST else ""
    return Table(name.replace("_", " ") + more, (*words(""), *numbers("count", "share")), rows)
