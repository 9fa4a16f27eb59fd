"""What an evaluation returns: runs × topics × measures, with the counts that belong beside every mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.evaluation.counts import Counts, column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.evaluation.evaluation import Evaluation
    from focuseval.inference.comparison import Comparison
    from focuseval.measures.measure import Measure


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


@dataclass(frozen=True, eq=False)
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
    noticed: tuple[str, ...] = ()
    """What the readers of gold and runs noticed, and why another tool would print other numbers."""
    decides: str = ""
    """The measure by which runs are ordered and judged; empty for the first."""
    evaluation: Evaluation | None = field(default=None, repr=False, compare=False)
    """What the values were computed from: plan, prepared gold and matches. None for a part of the topics."""

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
            left &= self.by_topic[run][:, column("missing"), None] == 0
        return dict(zip(self.measures, (counts.excluded + left.sum(axis=0)).tolist(), strict=True))

    def to_arrow(self) -> pa.Table:
        """Return a long table: run, topic, measure, value; only values that are in a mean."""
        import pyarrow as pa  # noqa: PLC0415  only this method needs it

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
        """Return tag → the scores of its topics, for a gold whose topics have tags."""
        from focuseval.evaluation.tagged import by_tag  # noqa: PLC0415  it knows scores, not the other way round

        return by_tag(self)

    def to_json(self, *, per_topic: bool = False, by_tag: bool = False) -> dict[str, Any]:
        """Return the document that ``focuseval score --format json`` prints, as plain values."""
        runs = [self._run_json(number, per_topic=per_topic) for number in range(len(self.runs))]
        if by_tag:
            from focuseval.evaluation.tagged import tags_json  # noqa: PLC0415  as above

            runs = [run | {"tags": tags} for run, tags in zip(runs, tags_json(self), strict=True)]
        return {
            "signature": self.signature,
            "profile": self.profile,
            "task": self.task,
            "gold_sha256": self.gold_sha256,
            "docs_sha256": self.docs_sha256,
            "runs": runs,
        }

    def _run_json(self, number: int, *, per_topic: bool) -> dict[str, Any]:
        counts = self.counts[number]
        found: dict[str, Any] = {
            "run": self.runs[number],
            "file": self.files[number] if self.files else "",
            **counts.printed(),
            "measures": {
                m: None if np.isnan(v) else float(v) for m, v in zip(self.measures, self.mean[number], strict=True)
            },
        }
        differing = {m: n for m, n in self.excluded(number).items() if n != counts.excluded}
        found |= {"excluded_per_measure": differing} if differing else {}
        found |= counts.others()
        return found | ({"per_topic": self.topics_of(number)} if per_topic else {})

    def remarks(self) -> list[str]:
        """Return, in words, what a reader of the numbers should know besides the counts.

        A remark that more than three runs share stands there once.
        """
        from focuseval.evaluation.noticed import folded  # noqa: PLC0415  only words need it

        said = list(self.noticed)
        for name, counts in zip(self.names, self.counts, strict=True):
            said += [f"{name}: {sentence}" for sentence in counts.sentences()]
        return folded(said)

    def curve(self, measure: str | Measure) -> pa.Table:
        """Return a measure's curve as a long table: run, topic (or ``mean``), x, y."""
        if self.evaluation is None:
            raise ValueError("these scores are of some topics only: ask those of all topics for their curves")
        return self.evaluation.curve(measure)

    def compare(self, measure: str, *, baseline: str | None = None, **settings: Any) -> Comparison:
        """Compare all pairs of runs, or all runs with a baseline (its id or file), under one measure.

        Settings as in `focuseval.inference.settings`: ``test``, ``tails``, ``resamples``, ``alpha``, ``correction``,
        ``seed``.
        """
        from focuseval.evaluation.comparing import compare_scores, find_run  # noqa: PLC0415  it knows scores, not the other way round
        from focuseval.inference.settings import settings_of  # noqa: PLC0415  only comparisons need statistics

        number = None if baseline is None else find_run(baseline, self, self.names)
        return compare_scores(self, measure, settings_of(**settings), baseline=number)

    def __str__(self) -> str:
        """Return the means as a table, with the signature below: what ``print`` shows."""
        from focuseval.data.tables import render  # noqa: PLC0415  as above
        from focuseval.evaluation.tables import means_table  # noqa: PLC0415  tables know scores, not the other way round

        return render([means_table(self)], "table", signature=self.signature).rstrip("\n")

    def _repr_html_(self) -> str:
        """Show the means in a notebook."""
        from focuseval.data.tables.layouts import notebook  # noqa: PLC0415  as above
        from focuseval.evaluation.tables import means_table  # noqa: PLC0415  tables know scores, not the other way round

        return notebook(means_table(self), self.signature)
