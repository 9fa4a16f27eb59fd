"""What an evaluation returns: runs × topics × measures, with the counts that belong beside every mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from os import fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from focuseval.data.remarks import Remark, folded
from focuseval.data.tables import Column, Framed, Row, Table, notebook, numbers, render, words
from focuseval.errors import MeasureError, MissingDataError, NotComparableError, counted
from focuseval.evaluation.counts import BY_TOPIC, PRINTED, Counts, total
from focuseval.measures import Measure, parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.inference.clusters import By
    from focuseval.inference.comparison import Comparison
    from focuseval.inference.paired_tests import Progress


def told_apart(runs: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return a name for every run: its id; with its file where others have it, too; with a number for the same file.

    >>> told_apart(["a", "b", "b", "b"], ["1", "2", "3", "3"])
    ('a', 'b (2)', 'b (3)', 'b (3 #2)')
    """
    known, before, names = Counter(runs), Counter[tuple[str, str]](), []
    for pair in zip(runs, files, strict=True):
        before[pair] += 1
        which = f" #{before[pair]}" if before[pair] > 1 else ""
        names.append(pair[0] if known[pair[0]] == 1 else f"{pair[0]} ({pair[1]}{which})")
    return tuple(names)


BASES = {
    "forbidden": "Text that must not come back",
    "relevance": "",
    "unanswerable": "Questions without an answer",
    "questions": "Questions without an answer",
}
"""The topics that a measure is a mean of, and the title of their table; in the order in which tables are printed."""


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Framed):
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
    bases: tuple[str, ...] = ()
    """Of every measure, the topics that it is a mean of, as measures declare it; empty where all are of relevance."""
    decides: str = ""
    """The measure by which runs are ordered and judged; empty for the first."""
    geometric: tuple[float, ...] = ()
    """For every measure, 0, or, where its mean over topics is geometric, what smaller values count as in it."""
    lower: tuple[bool, ...] = ()
    """Of every measure, whether less is better; empty where more is under all."""
    trials: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    """System → trials × topics × measures, where runs are means over several trials; counts are then the largest."""
    evaluation: Any = field(default=None, repr=False, compare=False)
    """The `Evaluation` that the values are of: plan, prepared gold and matches. None for a part of the topics."""

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Means over topics, runs × measures; NaN where no topic is left."""
        counted = ~np.isnan(self.values)
        number = counted.sum(axis=1)
        total = np.where(counted, self.averaged, 0.0).sum(axis=1)
        mean: NDArray[np.float64] = np.full(total.shape, np.nan)
        np.divide(total, number, out=mean, where=number > 0)
        if any(self.geometric):
            np.exp(mean, out=mean, where=np.array(self.geometric) > 0)
        return mean

    @cached_property
    def averaged(self) -> NDArray[np.float64]:
        """The values whose means are taken and compared: logarithms where the mean over topics is geometric."""
        if not any(self.geometric):
            return self.values
        least = np.array(self.geometric)
        return np.asarray(np.log(np.maximum(self.values, least), out=self.values.copy(), where=least > 0))

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
        rows = zip(self.names, self.mean.tolist(), strict=True)
        return {name: dict(zip(self.measures, row, strict=True)) for name, row in rows}

    def per_topic(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return run → topic → measure → value, with every topic that is in a mean."""
        return {name: self.topics_of(number) for number, name in enumerate(self.names)}

    def topics_of(self, run: int) -> dict[str, dict[str, float]]:
        """Return topic → measure → value of one run."""
        rows = zip(self.topics, self.values[run].tolist(), strict=True)
        found = {topic: {m: v for m, v in zip(self.measures, row, strict=True) if not isnan(v)} for topic, row in rows}
        return {topic: values for topic, values in found.items() if values}

    def excluded(self, run: int) -> dict[str, int]:
        """Return, per measure, how many topics of the gold are left out of its mean for want of a base."""
        counts = self.counts[run]
        left = np.isnan(self.values[run])
        left[:, [place for place, base in enumerate(self.bases) if base != "relevance"]] = False
        if self.by_topic is not None:
            left &= self.by_topic[run].any(axis=1)[:, None]  # topics without relevance have no counts
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
        """Return, in words, what a reader should know besides the counts; what many runs share stands there once."""
        own = zip(self.names, self.counts, strict=True)
        return folded((*self.noticed, *(remark for name, counts in own for remark in counts.remarks(name))))

    def curve(self, measure: str | Measure) -> pa.Table:
        """Return a measure's curve as a long table: run, topic (or ``mean``), x, y."""
        if self.evaluation is None or self.trials:
            why = "means over trials: score the trials as runs of their own" if self.trials else "of some topics only"
            raise ValueError(f"these scores are {why}; curves are of whole runs")
        curve: pa.Table = self.evaluation.curve(measure)
        return curve

    def compare(
        self, measure: str, *, baseline: str | None = None, clusters: By | None = None,
        progress: Progress | None = None, **settings: Any,
    ) -> Comparison:  # fmt: skip
        """Compare all pairs of runs, or all runs with a baseline (its id or file), in the order of `order_of`.

        Where all pairs times topics are more than 30 million, those of the 24 best runs are compared.

        A topic without a base for the measure is left out, and so is one that only some runs answer where unanswered
        topics are left out of the mean (``missing=skip``): a comparison is over the same topics. A geometric mean is
        compared by its logarithm, ``ln GMAP``, which is a mean over topics: a difference of d is a ratio of exp(d). A
        measure of which less is better is compared with its sign turned, ``−uncited``.

        `clusters` are as in `cluster_topics`: ``"document"``, ``"tag:NAME"``, a field of the gold, or a mapping from
        topics to clusters. Settings as in `focuseval.inference.settings`: ``test``, ``tails``, ``resamples``,
        ``alpha``, ``correction``, ``seed``, ``interval``.
        """
        from focuseval.inference.comparison import (  # noqa: PLC0415  a score needs no test: eight modules less
            MOST_BEST,
            MOST_DIFFERENCES,
            compare,
        )
        from focuseval.inference.settings import settings_of  # noqa: PLC0415  as above

        if measure not in self.measures:
            raise MeasureError(f"{measure} was not scored; there are {', '.join(self.measures)}")
        number = None if baseline is None else find_run(baseline, self, self.names)
        order, column, turned = order_of(self), self.measures.index(measure), oriented(self)
        measure, values = turned.measures[column], turned.averaged[order, :, column]
        if np.isnan(values).all():
            raise NotComparableError(f"{measure}: no topic has a base for it, so there is nothing to compare")
        geometric = any(self.geometric[column : column + 1])
        many = number is None and len(order) * (len(order) - 1) // 2 * len(self.topics) > MOST_DIFFERENCES
        return compare(
            f"ln {measure}" if geometric else measure, tuple(self.names[i] for i in order), self.topics, values,
            settings_of(**settings), baseline=None if number is None else int(np.flatnonzero(order == number)[0]),
            bounds=[(-np.inf, np.inf) if geometric else turned.bounds_of(measure)], progress=progress,
            among=tuple(range(MOST_BEST)) if many else None, **self.clustering(clusters),
        )  # fmt: skip

    def clustering(self, by: By | None) -> dict[str, Any]:
        """Return what `compare_all` is given: the clusters asked for, and if none are, those by document.

        The latter only where most relevant documents are relevant to several topics, as those that questions are about.
        """
        from focuseval.inference.clusters import cluster_topics, shares_documents  # noqa: PLC0415  as in `compare`

        gold: Any = None if self.evaluation is None else self.evaluation.prepared.gold
        if by is None:
            shared = gold is not None and shares_documents(gold)
            return {"shared": cluster_topics(gold, self.topics, "document") if shared else None}
        if gold is None:
            raise NotComparableError("these scores are of some topics only: ask those of all topics for clusters")
        return {"clusters": cluster_topics(gold, self.topics, by)}

    def bounds_of(self, measure: str) -> tuple[float, float]:
        """Return the bounds of a measure; none for a measure of one's own, or if some value is beyond them."""
        low, high = -np.inf, np.inf
        with suppress(MeasureError):
            low, high = parse(measure.removeprefix("−")).measure.bounds
        low, high = (0.0 - high, 0.0 - low) if measure.startswith("−") else (low, high)  # see `oriented`
        values = self.values[:, :, self.measures.index(measure)]
        return (-np.inf, np.inf) if (values < low).any() or (values > high).any() else (low, high)

    def tables(self) -> list[Table]:
        """Return the means; those over other topics than the relevant ones stand in tables of their own."""
        titles, tables = [BASES[base] for base in self.bases] or [""] * len(self.measures), []
        for title in (title for title in dict.fromkeys(BASES.values()) if title in titles):
            kept = [place for place, own in enumerate(titles) if own == title]
            columns = {name: getattr(self, name) for name in ("measures", "geometric", "lower")}
            own: dict[str, Any] = {
                name: tuple(whole[n] for n in kept) if whole else () for name, whole in columns.items()
            }
            part = replace(self, **own, values=self.values[:, :, kept], bases=())
            if not title:
                tables.append(part.table())
                continue
            topics = (~np.isnan(part.values)).sum(axis=1).max(axis=1).tolist()
            rows = tuple((name, *row, n) for name, row, n in zip(self.names, part.mean.tolist(), topics, strict=True))
            tables.append(Table(title, (*words("run"), *numbers(*part.measures, "topics")), rows))
        return tables

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
        less = self.lower or (False,) * len(self.measures)
        measured = tuple(Column(m, best=not per_topic and not low) for m, low in zip(self.measures, less, strict=True))
        return Table("", (*named, *measured, *numbers(*PRINTED)), tuple(rows))

    def row_of_means(self, run: int) -> Row:
        """Return a run's means and counts; a mean that leaves out more topics than the others says how many."""
        counts, apart = self.counts[run], self.excluded_apart(run)
        more = (apart[m] - counts.excluded if m in apart else 0 for m in self.measures)
        means = zip(self.mean[run].tolist(), more, strict=True)
        marked = (f"{Column('').text(mean)} (−{n})" if n else mean for mean, n in means)
        return (*marked, *counts.printed().values())

    def __repr__(self) -> str:
        runs, topics = counted(len(self.runs), "run"), counted(len(self.topics), "topic")
        means = [f"{m} {v:.4f}" for m, v in zip(self.measures, self.mean[0] if self.runs else (), strict=False)]
        first = f": {self.names[0]} has {', '.join(means[:4])}{' …' if means[4:] else ''}" if means else ""
        return f"<Scores of {runs} over {topics}{first}>"

    def __str__(self) -> str:
        """Return the means as a table, with the signature and the remarks below: what ``print`` shows."""
        table = render(self.tables(), "table", signature=self.signature).rstrip("\n")
        return "\n".join((table, *self.remarks()))

    def _repr_html_(self) -> str:
        """Show the means in a notebook."""
        table = self.table()
        return notebook(replace(table, notes=(*table.notes, *self.remarks())), self.signature)


def over_trials(scores: Scores) -> Scores:
    """Return the scores of systems: runs of the same name are trials, of which the mean is taken."""
    rows = {name: np.flatnonzero(np.array(scores.runs) == name) for name in dict.fromkeys(scores.runs)}
    several, first = list(rows.values()), [int(own[0]) for own in rows.values()]
    by_topic = np.array([np.asarray(scores.by_topic)[own].max(axis=0) for own in several])
    known = [(scores.counts[run].excluded, scores.counts[run].unknown) for run in first]
    counts = [total(own, excluded=n, unknown=other) for own, (n, other) in zip(by_topic, known, strict=True)]
    more = [f" and {len(own) - 1} more" if len(own) > 1 else "" for own in several]
    return replace(
        scores, runs=tuple(rows), values=np.array([scores.values[own].mean(axis=0) for own in several]),
        counts=tuple(counts), files=tuple(scores.files[run] + said for run, said in zip(first, more, strict=True)),
        by_topic=by_topic, trials={name: scores.values[own] for name, own in rows.items()},
    )  # fmt: skip


def oriented(scores: Scores) -> Scores:
    """Return the scores with every measure of which less is better turned round: ``uncited`` is ``−uncited`` then."""
    if not any(scores.lower):
        return scores
    sign = np.where(scores.lower, -1.0, 1.0)
    names = {m: f"−{m}" if low else m for m, low in zip(scores.measures, scores.lower, strict=True)}
    return replace(
        scores, measures=tuple(names.values()), values=scores.values * sign + 0.0, lower=(),
        decides=names.get(scores.decides, ""), trials={name: own * sign for name, own in scores.trials.items()},
    )  # fmt: skip


def order_of(scores: Scores) -> NDArray[np.int64]:
    """Return the runs by the mean of the measure that decides, best first; ties stay in the order given."""
    from focuseval.inference.paired_tests import ranked  # noqa: PLC0415  as in `Scores.compare`

    scores = oriented(scores)
    values = scores.averaged[:, :, scores.deciding]
    kept = ~np.isnan(values).any(axis=0)
    return np.array(ranked(values[:, kept] if kept.any() else scores.mean[:, [scores.deciding]])[0], np.int64)


def refuse_geometric(scores: Scores, what: str) -> None:
    """Refuse a measure whose mean over topics is geometric: `what` adds up the values of topics."""
    if any(scores.geometric):
        name = scores.measures[int(np.argmax(scores.geometric))]
        raise MeasureError(f"{name} is a geometric mean over topics, which {what} does not know; score or compare it")


def find_run(name: str, scores: Scores, labels: Sequence[str]) -> int:
    """Return the number of the run with this id, label or file."""
    for names in (labels, scores.runs, scores.files):
        found = [number for number, known in enumerate(names) if known == fspath(name)]
        if len(found) == 1:
            return found[0]
    raise NotComparableError(f"baseline {name!r} is none of the runs; there are {', '.join(labels[:10])}")
