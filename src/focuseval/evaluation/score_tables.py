"""Scores as tables for programs, by tag, and as trec_eval's lines. Counts stand beside every mean."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from focuseval.data.tables import Table, numbers, trec, words
from focuseval.evaluation.counts import PRINTED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from focuseval.data.tables import Row
    from focuseval.evaluation.scores import Scores


def tag_table(scores: Scores) -> Table:
    """Return every run's means for each tag, and then over all topics."""
    parts = [*scores.by_tag().items(), ("all", scores)]
    rows = tuple(
        (name, tag, *part.row_of_means(number)) for number, name in enumerate(scores.names) for tag, part in parts
    )
    return Table("", (*words("run", "tag"), *numbers(*scores.measures, *PRINTED)), rows)


def table_for_programs(scores: Scores, *, per_topic: bool = False, by_tag: bool = False) -> Table:
    """Return what CSV holds: means with counts, or one row per topic and measure, counts among them; or means by tag.

    A measure that leaves out more topics than the others has a count of its own, ``excluded:BEPD``.
    """
    if by_tag:
        return replace(tag_table(scores).printed(), notes=(scores.signature,))
    counts = [beside(scores, number) for number in range(len(scores.names))]
    rows: list[Row]
    if per_topic:
        rows = [(name, *line) for run, name in enumerate(scores.names) for line in _lines(scores, run, per_topic=True)]
        rows += [(name, "all", *count) for name, own in zip(scores.names, counts, strict=True) for count in own.items()]
        headings: tuple[str, ...] = ("run", "topic", "measure", "value")
    else:
        found = tuple(dict.fromkeys(name for own in counts for name in own))
        rows = [
            (name, *means, *(own.get(count, own["excluded"]) for count in found))
            for name, means, own in zip(scores.names, scores.mean.tolist(), counts, strict=True)
        ]
        headings = ("run", *scores.measures, *found)
    return Table("", words(*headings, "signature"), tuple((*row, scores.signature) for row in rows))


def beside(scores: Scores, run: int) -> dict[str, int]:
    """Return the counts beside a run's means, also of the topics that only some measures leave out."""
    usual = scores.counts[run].excluded
    more = {f"excluded:{measure}": n for measure, n in scores.excluded(run).items() if n != usual}
    return scores.counts[run].printed() | more


def _lines(scores: Scores, run: int, *, per_topic: bool) -> Iterable[tuple[str, str, float]]:
    """Yield (topic, measure, value) of a run, topics first, then ``all``."""
    for topic, values in scores.topics_of(run).items() if per_topic else ():
        yield from ((topic, measure, value) for measure, value in values.items())
    means = zip(scores.measures, scores.mean[run].tolist(), strict=True)
    yield from (("all", measure, mean) for measure, mean in means)


def to_trec(scores: Scores, *, per_topic: bool = False, by_tag: bool = False) -> str:
    """Return trec_eval's layout, the signature first; by tag, a tag stands where ``all`` or a topic would."""
    if by_tag:
        return "".join(_trec(part, f"tag:{tag}", per_topic=False) for tag, part in scores.by_tag().items())
    return _trec(scores, "all", per_topic=per_topic)


def _trec(scores: Scores, together: str, *, per_topic: bool) -> str:
    lines: list[tuple[str, str, object]] = []
    for number, name in enumerate(scores.names):
        lines.append(("runid", together, name))
        lines += [(count, together, value) for count, value in beside(scores, number).items()]
        found = _lines(scores, number, per_topic=per_topic)
        lines += [(m, together if topic == "all" else topic, f"{value:.4f}") for topic, m, value in found]
    return f"# {scores.signature}\n{trec(lines)}"
