"""Comparisons and correlations as tables and JSON: what the papers print.

Rankings that should agree are correlated: the same measure over other recall bases, quantisations or ideals, or other
measures. A system that samples (a language model's answers, a random seed) gives another run every time: its mean over
trials is tested, topic by topic, as any run is, and how far trials vary is estimated by a two-way analysis of variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.data.tables import ABSENT, Column, Row, Table, numbers, words
from focuseval.errors import MeasureError
from focuseval.evaluation.scores import Scores
from focuseval.inference.agreement import beyond_chance
from focuseval.inference.comparison import STAR, Comparison
from focuseval.inference.correlation import (
    FEWEST_RUNS,
    SamePairs,
    correlate,
    explain,
    reading,
    same_pairs,
    tau_interval,
)
from focuseval.measures import parse

AXES = ("measures", "recall-bases", "ideals", "quantisations")
"""What `variants` can vary: the measures given, base=full|filtered, ideal=ideal|full|all of nxCG, quant=…"""

MOST_DECIDING = 5
RANKS = "Rank: the best and the worst that the stars leave to a run. Runs that share a letter cannot be told apart."
_PARAMETER = {"recall-bases": "base", "ideals": "ideal", "quantisations": "quant"}
_CHOICES = {"recall-bases": ("full", "filtered"), "ideals": ("ideal", "full", "all")}
_BY_SCALE = {
    "coverage": ("strict", "gen"),
    "grades": ("strict", "gen", "sog"),
    "exhaustivity": ("strict5", "gen5", "genLifted"),
    "highlights": ("spec",),
}


@dataclass(frozen=True, eq=False)
class Correlation:
    """Correlations between the rankings of runs under several variants of one measure, or several measures."""

    title: str
    names: tuple[str, ...]
    runs: int
    matrix: NDArray[np.float64]
    coefficient: str
    remarks: tuple[str, ...] = ()
    starred: tuple[SamePairs, ...] = ()
    """For every pair of names, in the order of `readings`, on how many pairs of runs they agree."""

    def readings(self) -> list[tuple[str, str, float, tuple[float, float], str]]:
        """Return every pair: the two names, the coefficient, its interval (NaN but for τ), what the papers call it."""
        first, second = np.triu_indices(len(self.names), 1)
        values, unknown = self.matrix[first, second].tolist(), (float("nan"),) * 2
        tau = self.coefficient in ("tau-a", "tau-b")
        return [
            (self.names[i], self.names[j], v, tau_interval(v, self.runs) if tau else unknown, reading(v, self.runs))
            for i, j, v in zip(first, second, values, strict=True)
        ]


def variants(axis: str, measures: Sequence[str], scale: str = "highlights") -> list[tuple[str, tuple[str, ...]]]:
    """Return groups of measure names whose rankings are to be compared, each with a title.

    >>> variants("recall-bases", ["nxCG@5", "MAep"])[0]
    ('nxCG@5', ('nxCG(base=full)@5', 'nxCG(base=filtered)@5'))
    """
    if axis not in AXES:
        raise MeasureError(f"expected an axis among {', '.join(AXES)}, found {axis!r}")
    if axis == "measures":
        return [("measures", tuple(measures))]
    choices, groups = _CHOICES.get(axis) or _BY_SCALE.get(scale, ()), []
    if len(choices) < 2:
        one = f"a gold of scale {scale!r} has one quantisation ({', '.join(choices)})"
        raise MeasureError(f"{one}: nothing to correlate")
    for name in measures:
        asked, varied = parse(name), _PARAMETER[axis]
        if not any(p.name == varied for p in asked.measure.parameters):
            raise MeasureError(f"{name} has no parameter {varied}, so {axis} make no difference to it")
        spelt = []
        for choice in choices:  # default or not
            given = {**asked.given, varied: choice}
            inside = ", ".join(f"{p.name}={given[p.name]}" for p in asked.measure.parameters if p.name in given)
            spelt.append(f"{asked.measure.name}({inside})" + (f"@{asked.at}" if asked.at else ""))
        groups.append((name, tuple(spelt)))
    return groups


def correlations(
    scores: Scores, groups: Sequence[tuple[str, tuple[str, ...]]], coefficient: str = "tau-b",
    compare: Callable[[str], Comparison] | None = None,
) -> list[Correlation]:  # fmt: skip
    """Correlate the rankings of the runs within each group of measure names; all of them must have been scored.

    `compare` gives the comparison of the runs under a name: with it, the pairs that differ significantly are counted.
    """
    found = []
    for title, names in groups:
        values = scores.mean[:, [scores.measures.index(name) for name in names]].T
        if np.isnan(values).any():
            raise MeasureError(f"{title}: some mean has no topic, so runs cannot be ranked by it")
        significant = [] if compare is None else [compare(name).significant for name in names]
        starred = tuple(same_pairs(first, second) for first, second in combinations(significant, 2))
        matrix, why = correlate(values, coefficient), explain(values, names)
        found.append(Correlation(title, names, len(scores.runs), matrix, coefficient, why, starred))
    return found


def comparison_tables(comparisons: Sequence[Comparison], *, every_pair: bool = False) -> Iterator[Table]:
    """Yield the means; then for every measure its stars, its pairs if they are few, and for two runs what decides."""
    yield compared_means_table(comparisons)
    for comparison in comparisons:
        runs, few = len(comparison.runs), comparison.baseline is not None
        listed = runs > 1 and (every_pair or few or runs <= 6)
        if runs != 2 and not few:
            stars = star_table(comparison)
            more = [*comparison.limit(), *comparison.remarks()]
            yield stars if listed else replace(stars, notes=(*stars.notes, *more))
        if listed:
            yield comparison.table()
        if runs == 2:
            place = {topic: number for number, topic in enumerate(comparison.topics)}
            rows = tuple(
                (topic, *comparison.values[:, place[topic]].tolist(), difference)
                for topic, difference in comparison.deciding(0, 1, MOST_DECIDING)
            )
            columns = (*words("topic"), *numbers(*comparison.runs), *numbers("difference", form="+.4f"))
            notes = () if rows else ("No topic tells the two runs apart.",)
            yield Table(f"Topics that decide under {comparison.measure}", columns, rows, notes)


def compared_means_table(comparisons: Sequence[Comparison]) -> Table:
    """Return the runs in order, each with its mean, 95 % interval, and interval of its rank under every measure."""
    values: list[list[float] | list[str]] = []
    columns = words("#", "run")
    for c in comparisons:
        values += [c.means.tolist(), [f"[{low:.4f}, {high:.4f}]" for low, high in c.intervals.tolist()]]
        columns += (Column(c.measure, best=True), *numbers(f"{c.measure} interval"))
        if c.ranks is not None:
            values.append([c.standing(run) for run in range(len(c.runs))])
            columns += words(f"{c.measure} rank")
    rows = tuple((str(i + 1), name, *(col[i] for col in values)) for i, name in enumerate(comparisons[0].runs))
    topics = ", ".join(dict.fromkeys(f"{len(c.topics)}" for c in comparisons))
    title = f"Means over {topics} topic{'' if topics == '1' else 's'}, with 95 % confidence intervals"
    return Table(title, columns, rows, (RANKS,) if any(c.ranks is not None for c in comparisons) else ())


def trial_table(comparison: Comparison, scores: Scores) -> Table:
    """Return how much every system's values vary between topics and between trials, and which of them help more."""
    column, kept, rows = scores.measures.index(comparison.measure), np.isin(scores.topics, comparison.topics), []
    values = {name: trials[:, kept, column] for name, trials in scores.trials.items()}
    for name in comparison.runs:
        one = spread(values[name])
        deviations = tuple(None if one.trials < 2 else float(np.sqrt(part)) for part in one[2:])
        rows.append((name, one.trials, float(np.sqrt(one.topics)), *deviations))
    pairs = [comparison.runs[:2]] if len(rows) > 1 and len(comparison.topics) > 1 else []
    notes = [trial_advice(pair, *(values[name] for name in pair)) for pair in pairs]
    notes.append("Tests and intervals are of the mean over these trials: of other topics, not of other trials.")
    heads = numbers("trials", "sd of topics", "sd of a topic's trials", "sd of whole trials")
    return Table(f"Trials under {comparison.measure}", (*words("run"), *heads), tuple(rows), tuple(notes))


class Spread(NamedTuple):
    """Variances of a system's values: between topics, between a topic's trials, and between trials as a whole."""

    trials: int
    topics: float
    """Without what trials add."""
    within: float  # beyond what a trial adds to all topics
    shift: float


def spread(values: NDArray[np.float64]) -> Spread:
    """Return the variances of a system's values, trials × topics; those of a single trial are of its topics alone.

    >>> spread(np.array([[0.0, 1.0], [0.5, 1.0]]))
    Spread(trials=2, topics=0.25, within=0.0625, shift=0.0)
    """
    trials, topics = values.shape
    by_topic, by_trial = values.mean(axis=0), values.mean(axis=1)
    if trials < 2 or topics < 2:
        return Spread(trials, float(by_topic.var(ddof=1)) if topics > 1 else 0.0, 0.0, 0.0)
    rest = values - by_topic - by_trial[:, None] + values.mean()
    within = float((rest**2).sum()) / ((trials - 1) * (topics - 1))
    own, shift = (float(means.var(ddof=1)) - within / n for means, n in ((by_topic, trials), (by_trial, topics)))
    return Spread(trials, max(0.0, own), within, max(0.0, shift))


def trial_advice(names: Sequence[str], first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    """Say whether more topics or more trials would make the difference of two systems (trials × topics) surer."""
    topics = first.shape[1]
    difference = float((first.mean(axis=0) - second.mean(axis=0)).var(ddof=1)) / topics
    both = spread(first), spread(second)
    within, shift = sum(one.within / one.trials for one in both) / topics, sum(one.shift / one.trials for one in both)
    squares = difference + shift, difference / 2 + shift, max(difference - within, 0.0) + within / 2 + shift / 2
    now, wider, longer = map(np.sqrt, squares)
    return (
        f"{names[0]} less {names[1]}: the standard error over other topics and other trials is {now:.4f}; with twice "
        f"as many topics it would be {wider:.4f}, with twice as many trials {longer:.4f}: more "
        f"{'topics' if wider <= longer else 'trials'} help more."
    )


def star_table(comparison: Comparison) -> Table:
    """Return the significance matrix: a star where the row improves significantly on the column."""
    runs = np.arange(len(comparison.runs)) if comparison.among is None else np.sort(comparison.among)
    names = [str(run + 1) for run in runs.tolist()]
    marks = np.where(comparison.stars()[np.ix_(runs, runs)], STAR, np.where(np.eye(len(runs)), "·", "")).tolist()
    rows = tuple((name, *row) for name, row in zip(names, marks, strict=True))
    power = "" if np.isnan(comparison.power) else f" Discriminative power {comparison.power:.1%}."
    notes = [comparison.sentence() + power]
    if comparison.family:
        notes.append(f"{STAR}: the row's run improves on the column's ({comparison.method}).")
    known = comparison.detectable[~np.isnan(comparison.detectable)]
    if len(known):
        notes.append(f"Detectable with probability .8, after the correction: {known.min():.4f} to {known.max():.4f}.")
    title = f"Significant improvements under {comparison.measure}"
    return Table(title, (*words(""), *numbers(*names)), rows if len(names) > 1 else (), tuple(notes))


def correlation_table(correlation: Correlation) -> Table:
    """Return a matrix of correlations, or for two names one line with its reading."""
    sign = {"tau-b": "τ_b", "tau-a": "τ_a", "tau-ap": "τ_AP", "spearman": "ρ"}[correlation.coefficient]
    title = f"Correlation ({sign}) of the rankings of {correlation.runs} runs: {correlation.title}"
    words_of = f"≥ .9: equivalent; < .8: noticeable differences (Voorhees 2001), of {FEWEST_RUNS} runs or more."
    notes = (*correlation.remarks, words_of)
    if len(correlation.names) == 2:
        ((a, b, tau, (low, high), said),) = correlation.readings()
        interval = ABSENT if np.isnan(low) else f"[{low:.4f}, {high:.4f}]"
        columns = (*words("between"), *numbers(sign, "95 % interval over runs"), *words("reading"))
        return Table(title, columns, ((f"{a} – {b}", tau, interval, said),), notes)
    rows = tuple((name, *row) for name, row in zip(correlation.names, correlation.matrix.tolist(), strict=True))
    return Table(title, (*words(""), *numbers(*correlation.names)), rows, notes)


def starred_table(correlation: Correlation) -> Table:
    """Return on how many pairs of runs two names find a significant difference, both, one of them or neither; and κ."""
    pairs = zip(correlation.readings(), correlation.starred, strict=True)
    rows: tuple[Row, ...] = tuple((f"{a} – {b}", *map(str, same), _kappa(same)) for (a, b, *_), same in pairs)
    columns = (*words("between"), *numbers("both", "first only", "second only", "neither", "κ"))
    return Table(f"Pairs of runs that differ significantly: {correlation.title}", columns, rows)


def comparisons_json(comparisons: Sequence[Comparison], correlations: Sequence[Correlation] = ()) -> dict[str, Any]:
    """Return everything the tables show, as plain values; an infinite effect is null."""
    return {
        "comparisons": [
            {
                "measure": c.measure,
                "settings": vars(c.settings),
                "family": {"pairs": c.family, "of": c.members}
                | {"baseline": None if c.baseline is None else c.runs[c.baseline]},
                "method": c.method,
                "topics": list(c.topics),
                "left_out": c.left_out,
                "clusters": None if c.clusters is None else {"by": c.clusters.by, "number": c.clusters.number},
                "runs": [
                    {"run": name, "mean": float(c.means[i]), "interval": c.intervals[i].tolist()}
                    | {"rank": None if c.ranks is None else c.ranks[i].tolist()}
                    | {"letters": None if c.ranks is None else c.letters[i]}
                    for i, name in enumerate(c.runs)
                ],
                "significant": int(c.significant.sum()),
                "power": plain(c.power),
                "sentence": c.sentence(),
                "remarks": [*c.limit(), *c.remarks()],
                "pairs": [pair_json(c, k) for k in range(c.family)],
            }
            for c in comparisons
        ],
        "correlations": [
            {
                "title": c.title,
                "coefficient": c.coefficient,
                "runs": c.runs,
                "pairs": [
                    {"a": a, "b": b, "value": plain(v), "interval": [*map(plain, ends)], "reading": r}
                    for a, b, v, ends, r in c.readings()
                ],
                "significant": [same._asdict() | {"kappa": _kappa(same)} for same in c.starred],
                "remarks": list(c.remarks),
            }
            for c in correlations
        ],
    }


def pair_json(c: Comparison, k: int) -> dict[str, Any]:
    """Return everything that is known of a pair, as plain values; what is not finite is null."""
    pair, by, own = c.against(int(c.better[k]), int(c.worse[k])), c.by_document, {}
    if by is not None:
        own = {"p": float(by.p[k]), "p_corrected": float(by.corrected[k]), "significant": bool(by.significant[k])}
    return {
        "better": c.runs[pair.a],
        "worse": c.runs[pair.b],
        "difference": pair.difference,
        "interval": [pair.low, pair.high],
        "interval_corrected": False,
        "p": plain(pair.p),
        "p_corrected": plain(pair.corrected),
        "effect": plain(c.effect[k]),
        "detectable": pair.detectable,
        "topics_needed": pair.needed,
        "topics_needed_interval": [pair.fewest, pair.most],
        "topics_differing": int(c.differing[k]),
        "ties": pair.tied,
        "won_tied_lost": [pair.won, pair.tied, pair.lost],
        "significant": bool(c.significant[k]),
        "verdict": c.verdict(k),
        **({"by_document": own} if own else {}),
    }


def _kappa(same: SamePairs) -> float | None:
    """Return Cohen's κ of two ways of scoring about which pairs differ; None where nothing could disagree."""
    return plain(float(beyond_chance(*same.shares)))


def plain(value: float) -> float | None:
    """Return a value for JSON; what is not finite is null."""
    return float(value) if np.isfinite(value) else None
