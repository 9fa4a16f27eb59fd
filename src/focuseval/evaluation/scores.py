"""What an evaluation returns: runs × topics × measures, with the counts that belong beside every mean."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from os import fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.remarks import folded
from focuseval.data.tables import Column, Table, notebook, numbers, render, trec, words
from focuseval.errors import MeasureError, MissingDataError, NotComparableError, counted
from focuseval.evaluation.counts import BY_TOPIC, PRINTED, Counts, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.data.remarks import Remark
    from focuseval.data.tables import Row
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.settings import Settings
    from focuseval.measures import Measure


def told_apart(runs: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return a name for every run: its id; with its file where others have it, too; with a number for the same file.

    >>> told_apart(["a", "b", "b", "b"], ["1", "2", "3", "3"])
    ('a', 'b (2)', 'b (3)', 'b (3 #2)')
    """
    pairs, names = list(zip(runs, files, strict=True)), []
    for number, (run, file) in enumerate(pairs):
        again = pairs[:number].count((run, file))
        which = f" #{again + 1}" if again else ""
        names.append(run if runs.count(run) == 1 else f"{run} ({file}{which})")
    return tuple(names)


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Every run's value for every topic and measure; NaN where a topic is not in that measure's mean."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    """Names as they were asked for: keys of every output."""
    values: NDArray[np.float64]
    """Runs × topics × measures."""
    counts: tuple[Counts, ...]
    """Of every run: topics, missing, unjudged and whatever else stands beside a mean."""
    signature: str
    """Everything that was decided on the way to the numbers; scores with equal signatures may be compared."""
    profile: str | None = None
    task: str | None = None
    files: tuple[str, ...] = ()
    gold_sha256: str = ""
    docs_sha256: str | None = None
    by_topic: NDArray[np.int64] | None = field(default=None, repr=False)
    """Runs × topics × the counts that add up over topics; see `focuseval.evaluation.counts`."""
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The tags of the gold's topics, also of those in no mean."""
    noticed: tuple[Remark, ...] = ()
    """What the readers of gold and runs noticed, and why another tool would print other numbers."""
    decides: str = ""
    """The measure by which runs are ordered and judged; empty for the first."""
    evaluation: Any = field(default=None, repr=False, compare=False)
    """The `Evaluation` that the values are of: plan, prepared gold and matches. None for a part of the topics."""

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Means over topics, runs × measures; NaN where no topic is left."""
        counted = ~np.isnan(self.values)
        number = counted.sum(axis=1)
        total = np.where(counted, self.values, 0.0).sum(axis=1)
        mean: NDArray[np.float64] = np.full(total.shape, np.nan)
        np.divide(total, number, out=mean, where=number > 0)
        return mean

    @property
    def deciding(self) -> int:
        """Column of the measure by which runs are ordered and judged: the profile's, else the first."""
        return self.measures.index(self.decides) if self.decides else 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Run ids, told apart by their files where two runs have the same id."""
        return told_apart(self.runs, self.files or self.runs)

    def means(self) -> dict[str, dict[str, float]]:
        """Return run → measure → mean over topics."""
        return {
            name: dict(zip(self.measures, row.tolist(), strict=True))
            for name, row in zip(self.names, self.mean, strict=True)
        }

    def per_topic(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return run → topic → measure → value, with every topic that is in a mean."""
        return {name: self.topics_of(number) for number, name in enumerate(self.names)}

    def topics_of(self, run: int) -> dict[str, dict[str, float]]:
        """Return topic → measure → value of one run."""
        kept = ~np.isnan(self.values[run])
        return {
            topic: {m: float(v) for m, v, k in zip(self.measures, values, keep, strict=True) if k}
            for topic, values, keep in zip(self.topics, self.values[run], kept, strict=True)
            if keep.any()
        }

    def excluded(self, run: int) -> dict[str, int]:
        """Return, per measure, how many topics of the gold are left out of its mean for want of a base."""
        counts = self.counts[run]
        left = np.isnan(self.values[run])
        if self.by_topic is not None and counts.topics < len(self.topics):
            left &= self.by_topic[run][:, BY_TOPIC.index("missing"), None] == 0
        return dict(zip(self.measures, (counts.excluded + left.sum(axis=0)).tolist(), strict=True))

    def excluded_apart(self, run: int) -> dict[str, int]:
        """Return `excluded` of the measures that leave out more topics than the gold does."""
        return {m: n for m, n in self.excluded(run).items() if n != self.counts[run].excluded}

    def to_arrow(self) -> pa.Table:
        """Return a long table: run, topic, measure, value; only values that are in a mean."""
        run, topic, measure = np.nonzero(~np.isnan(self.values))
        return pa.table(
            {
                "run": pa.array(self.names).take(pa.array(run)),
                "topic": pa.array(self.topics, pa.string()).take(pa.array(topic)),
                "measure": pa.array(self.measures, pa.string()).take(pa.array(measure)),
                "value": pa.array(self.values[run, topic, measure]),
            }
        )

    def to_pandas(self) -> Any:
        """Return `to_arrow` as a pandas frame."""
        return self.to_arrow().to_pandas()

    def by_tag(self) -> dict[str, Scores]:
        """Return tag → the scores of its topics with their own counts, tags in the order of the gold."""
        names = dict.fromkeys(tag for tags in self.tags.values() for tag in tags)
        if not names:
            raise MissingDataError("no topic of the gold has a tag; our JSONL and LegalBench-RAG say them as 'tags'")
        if self.by_topic is None:
            raise MissingDataError("these scores have no counts of single topics, which tables by tag add up")
        found = {}
        for tag in names:
            mine = {topic for topic, tags in self.tags.items() if tag in tags}
            kept = np.array([i for i, topic in enumerate(self.topics) if topic in mine], np.int64)
            by_topic = self.by_topic[:, kept]
            found[tag] = replace(
                self,
                topics=tuple(self.topics[i] for i in kept),
                values=self.values[:, kept],
                counts=tuple(total(own, excluded=len(mine) - len(kept)) for own in by_topic),
                by_topic=by_topic,
                noticed=(),
                evaluation=None,
            )
        return found

    def to_json(self, *, per_topic: bool = False, by_tag: bool = False) -> dict[str, Any]:
        """Return the document that ``focuseval score --format json`` prints, as plain values."""
        runs = []
        for number, counts in enumerate(self.counts):
            means = zip(self.measures, self.mean[number].tolist(), strict=True)
            run: dict[str, Any] = {
                "run": self.runs[number],
                "file": self.files[number] if self.files else "",
                **counts.printed(),
                "measures": {measure: None if np.isnan(mean) else mean for measure, mean in means},
            }
            if differing := self.excluded_apart(number):
                run["excluded_per_measure"] = differing
            run |= counts.others()
            runs.append(run | ({"per_topic": self.topics_of(number)} if per_topic else {}))
        parts = {tag: part.to_json()["runs"] for tag, part in self.by_tag().items()} if by_tag else {}
        for number, run in enumerate(runs if by_tag else ()):
            own = {tag: part[number] for tag, part in parts.items()}
            left_out = ("run", "file", "excluded_per_measure")
            run["tags"] = {tag: {k: v for k, v in part.items() if k not in left_out} for tag, part in own.items()}
        return {
            "signature": self.signature,
            "profile": self.profile,
            "task": self.task,
            "gold_sha256": self.gold_sha256,
            "docs_sha256": self.docs_sha256,
            "runs": runs,
        }

    def remarks(self) -> list[str]:
        """Return, in words, what a reader of the numbers should know besides the counts.

        A remark that more than three runs share stands there once.
        """
        own = zip(self.names, self.counts, strict=True)
        return folded((*self.noticed, *(remark for name, counts in own for remark in counts.remarks(name))))

    def curve(self, measure: str | Measure) -> pa.Table:
        """Return a measure's curve as a long table: run, topic (or ``mean``), x, y."""
        if self.evaluation is None:
            raise ValueError("these scores are of some topics only: ask those of all topics for their curves")
        curve: pa.Table = self.evaluation.curve(measure)
        return curve

    def compare(self, measure: str, *, baseline: str | None = None, **settings: Any) -> Comparison:
        """Compare all pairs of runs, or all runs with a baseline (its id or file), under one measure.

        Settings as in `focuseval.inference.settings`: ``test``, ``tails``, ``resamples``, ``alpha``, ``correction``,
        ``seed``.
        """
        from focuseval.inference.settings import settings_of  # noqa: PLC0415  a score needs no test: eight modules less

        number = None if baseline is None else find_run(baseline, self, self.names)
        return compare_scores(self, measure, settings_of(**settings), baseline=number)

    def table(self, *, per_topic: bool = False) -> Table:
        """Return one row per run, its means and counts; or one per run and topic, and then the means."""
        rows: list[Row] = []
        for number, name in enumerate(self.names):
            if not per_topic:
                rows.append((name, *self.row_of_means(number)))
                continue
            for topic, values in self.topics_of(number).items():
                rows.append((name, topic, *(values.get(measure) for measure in self.measures), *[""] * len(PRINTED)))
            rows.append((name, "all", *self.row_of_means(number)))
        named = words("run", "topic") if per_topic else words("run")
        measured = tuple(Column(measure, best=not per_topic) for measure in self.measures)
        return Table("", (*named, *measured, *numbers(*PRINTED)), tuple(rows))

    def row_of_means(self, run: int) -> Row:
        """Return a run's means and counts; a mean that leaves out more topics than the others says how many."""
        counts, apart = self.counts[run], self.excluded_apart(run)
        more = (apart[m] - counts.excluded if m in apart else 0 for m in self.measures)
        means = zip(self.mean[run].tolist(), more, strict=True)
        marked = (f"{Column('').text(mean)} (−{n})" if n else mean for mean, n in means)
        return (*marked, *counts.printed().values())

    def __repr__(self) -> str:
        """Return one line: what was scored, and the means of the first run."""
        runs, topics = counted(len(self.runs), "run"), counted(len(self.topics), "topic")
        means = [f"{m} {v:.4f}" for m, v in zip(self.measures, self.mean[0] if self.runs else (), strict=False)]
        first = f": {self.names[0]} has {', '.join(means[:4])}{' …' if means[4:] else ''}" if means else ""
        return f"<Scores of {runs} over {topics}{first}>"

    def __str__(self) -> str:
        """Return the means as a table, with the signature and the remarks below: what ``print`` shows."""
        table = render([self.table()], "table", signature=self.signature).rstrip("\n")
        return "\n".join((table, *self.remarks()))

    def _repr_html_(self) -> str:
        """Show the means in a notebook."""
        table = self.table()
        return notebook(replace(table, notes=(*table.notes, *self.remarks())), self.signature)


def order_of(scores: Scores) -> NDArray[np.int64]:
    """Return the runs by the mean of the measure that decides, best first; ties stay in the order given.

    The means are over the topics that are compared: those for which every run has a value, where there are any.
    """
    from focuseval.inference.paired_tests import ranked  # noqa: PLC0415  as in `Scores.compare`

    values = scores.values[:, :, scores.deciding]
    kept = ~np.isnan(values).any(axis=0)
    return np.array(ranked(values[:, kept] if kept.any() else scores.mean[:, [scores.deciding]])[0], np.int64)


def compare_scores(
    scores: Scores, measure: str, settings: Settings | None = None, *, baseline: int | None = None
) -> Comparison:
    """Compare all runs, or all with the run of number `baseline`, under one measure, in the order of `order_of`.

    A topic without a base for the measure is left out, and so is one that only some runs answer where unanswered topics
    are left out of the mean (``missing=skip``): a comparison is over the same topics.
    """
    from focuseval.inference.comparison import compare  # noqa: PLC0415  as in `Scores.compare`

    if measure not in scores.measures:
        raise MeasureError(f"{measure} was not scored; there are {', '.join(scores.measures)}")
    order = order_of(scores)
    values = scores.values[order, :, scores.measures.index(measure)]
    if np.isnan(values).all():
        raise NotComparableError(f"{measure}: no topic has a base for it, so there is nothing to compare")
    place = None if baseline is None else int(np.flatnonzero(order == baseline)[0])
    names = tuple(scores.names[i] for i in order)
    return compare(measure, names, scores.topics, values, settings, baseline=place)


def find_run(name: str, scores: Scores, labels: Sequence[str]) -> int:
    """Return the number of the run with this id, label or file."""
    for names in (labels, scores.runs, scores.files):
        found = [number for number, known in enumerate(names) if known == fspath(name)]
        if len(found) == 1:
            return found[0]
    raise NotComparableError(f"baseline {name!r} is none of the runs; there are {', '.join(labels[:10])}")


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
    more = {f"excluded:{measure}": n for measure, n in scores.excluded_apart(run).items()}
    return scores.counts[run].printed() | more


def _lines(scores: Scores, run: int, *, per_topic: bool) -> Iterable[tuple[str, str, float]]:
    """Yield (topic, measure, value) of a run, topics first, then ``all``."""
    for topic, values in scores.topics_of(run).items() if per_topic else ():
        yield from ((topic, measure, value) for measure, value in values.items())
    means = zip(scores.measures, scores.mean[run].tolist(), strict=True)
    yield from (("all", measure, mean) for measure, mean in means)


def to_trec(scores: Scores, *, per_topic: bool = False, by_tag: bool = False) -> str:
    """Return trec_eval's layout, the signature first; by tag, a tag stands where ``all`` or a topic would."""
    parts = {f"tag:{tag}": part for tag, part in scores.by_tag().items()} if by_tag else {"all": scores}
    text = ""
    for together, part in parts.items():
        lines: list[tuple[str, str, object]] = []
        for number, name in enumerate(part.names):
            lines.append(("runid", together, name))
            lines += [(count, together, value) for count, value in beside(part, number).items()]
            values = _lines(part, number, per_topic=per_topic and not by_tag)
            lines += [(m, together if topic == "all" else topic, f"{value:.4f}") for topic, m, value in values]
        text += f"# {scores.signature}\n{trec(lines)}"
    return text
